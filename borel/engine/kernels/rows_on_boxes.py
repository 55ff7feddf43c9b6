"""Rows of a kernel on boxes of outcomes: their masses, and their ratios to the law of the outcome.

A row is that of one secret, or of all secrets in a box at once. As a function of the outcome it is
a polynomial whose coefficients are intervals (`leakage_on_boxes`): what is said of a box of secrets
holds if another one of them is chosen at each outcome, and so for the largest density.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from borel.engine.kernels.leakage_on_boxes import integral, offsets
from borel.engine.kernels.marginal_on_boxes import ORDER, geometry, poly_range
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic, elementary

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.intervals.batched import Box

_LANES = 8_000


def rows_on_boxes(
    surface: Surface,
    x: Box,
    y: tuple[np.ndarray, np.ndarray],
    shift: np.ndarray,
    log_law: tuple[Box, Box],
) -> tuple[Box, Box]:
    """Enclose P(box|x) and f(y|x) / f_Y(y), of secrets or of boxes of them (first axis).

    Of a box of secrets the one is the integral of any choice of them, and so may be above 1.

    Parameters
    ----------
    surface : Surface
        The kernel, of a secret of one dimension.
    x : Box, arrays (n,)
        Secrets, or boxes of them.
    y : pair of arrays (m,)
        Ends of bounded boxes of outcomes.
    shift : ndarray (m,)
        log of a typical size of f there.
    log_law : pair of Box
        log f_Y as polynomials: coefficients at the centre, and over the box.
    """
    size = max(1, _LANES // max(1, len(y[0])))
    parts = [
        _rows(surface, (x[0][k : k + size], x[1][k : k + size]), y, shift, log_law)
        for k in range(0, len(x[0]), size)
    ]
    masses, ratios = zip(*parts, strict=True)
    mass, ratio = (
        tuple(np.concatenate([p[end] for p in part]) for end in (0, 1)) for part in (masses, ratios)
    )
    return (mass[0], mass[1]), (ratio[0], ratio[1])


def _rows(surface: Surface, x: Box, y, shift, log_law) -> tuple[Box, Box]:
    low, high = y
    shape = len(x[0]), len(low)
    centre, half = geometry(low, high)
    at = [(x[0][None, :, None], x[1][None, :, None])]
    with np.errstate(all="ignore"):
        box = arithmetic.variable(low[None], high[None], ORDER)
        around = surface.log.run(surface.inputs(at, box), ORDER)
        outer = arithmetic.padded(around.jet, ORDER + 1, shape)
        box = arithmetic.variable(centre[None], centre[None], ORDER - 1)
        inner = surface.log.run(surface.inputs(at, box), ORDER - 1, decisions=around.decisions)
        inner = arithmetic.padded(inner.jet, ORDER, shape)
        law = [(part[0][:, None], part[1][:, None]) for part in log_law]
        gaps = [batched.subtract(f, q) for f, q in zip((inner, outer), law, strict=True)]
        ratio = batched.exp(poly_range(gaps[0], gaps[1], half))
        # f <= e^top: what the polynomials do not tell, the range does
        scale, width = batched.exp(batched.point(shift)), batched.point(high)
        width = batched.subtract(width, batched.point(low))
        plain = batched.multiply(batched.exp(poly_range(inner, outer, half)), width)
        off = np.concatenate([shift[None, None], np.zeros((ORDER, 1, len(shift)))])
        lifted = [
            elementary.exponential(batched.subtract(part, batched.point(off[: order + 1])), order)
            for part, order in ((inner, ORDER - 1), (outer, ORDER))
        ]
        mass = batched.settled(
            batched.multiply(integral(lifted[0], lifted[1], offsets(low, high)), scale)
        )
    mass = np.fmax(mass[0], np.nan_to_num(plain[0])), np.fmin(mass[1], plain[1])
    return (np.maximum(mass[0], 0.0), batched.settled(mass)[1]), batched.settled(ratio)


def slopes_on_boxes(surface: Surface, x: Box, y: tuple[np.ndarray, np.ndarray]) -> tuple[Box, Box]:
    """Enclose log f, and its slope in the secret, on boxes of secrets (first axis) and outcomes."""
    shape = len(x[0]), len(y[0])
    secrets = arithmetic.variable(x[0][:, None], x[1][:, None], 1)
    with np.errstate(all="ignore"):
        named = surface.inputs([secrets], (y[0][None, None], y[1][None, None]))
        jet = arithmetic.padded(surface.log.run(named, 1).jet, 2, shape)
    return arithmetic.entry(jet, 0), arithmetic.entry(jet, 1)


__all__ = ["rows_on_boxes", "slopes_on_boxes"]
