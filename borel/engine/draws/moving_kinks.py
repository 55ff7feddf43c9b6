r"""Integrals of a kernel with a kink or a jump at x = y, over the secrets of a box of outcomes.

For outcomes of a box [a, b] and secrets between the same ends,

.. math:: \int_a^b f(y|x) u(x)^j \, dx
    = \int_a^y f(y|x) u(x)^j \, dx + \int_y^b f(y|x) u(x)^j \, dx .

With x = y - q (y - a) on the left, x = y + q (b - y) on the right, 0 < q < 1, what turns at x = y
does so at the end q = 0, whatever y is: by Gauss's rule in q, both are smooth functions of y.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.draws.density_cells import DEGREE, DensityCells, middle_and_radius
from borel.engine.kernels.quadrature_rules import Outcomes, power, rule, wide
from borel.numerics.graphs import rewrite
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.intervals.batched import Box

_HALF, _ONE = batched.point(np.array(0.5)), batched.point(np.array(1.0))


def across(
    surface: Surface,
    ys: Outcomes,
    index: np.ndarray,
    cells: DensityCells,
    cell: np.ndarray,
    largest_product: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Enclose the integrals over the secrets of some boxes, which are parts of cells.

    Returns
    -------
    tuple of ndarray
        Middles and radii of the coefficients (boxes, rows, powers of u), and errors of the kernel
        (boxes,), as for pieces of which all secrets are on one side of y.
    """
    low, high, centre, shift = (v[index] for v in (ys.low, ys.high, ys.centre, ys.shift))
    named = {"shift": (shift[None], shift[None])}
    program, order = _along(surface, ys.shift), DEGREE  # as many nodes
    width = batched.subtract(batched.point(high), batched.point(low))[1]
    scale = power(batched.multiply(batched.point(width), _HALF), order)[1] * largest_product
    none, total, error = np.zeros_like(width), None, np.zeros(len(low))
    for sign in (1.0, -1.0):
        offsets = (-width, none) if sign > 0 else (none, width)
        y, offset = arithmetic.constant(low, high), arithmetic.variable(*offsets, order)
        found = program.run({"y": y, "offset": offset, **named}, order)
        most = wide(arithmetic.entry(found.jet, order), len(low))
        own = np.maximum(np.abs(most[0]), np.abs(most[1])) * scale
        error = np.maximum(error, np.where(np.isnan(own), np.inf, own + 2.0**-1060))
        rows = _rows(program, found.decisions, sign, (low, high, centre), shift, cells, cell)
        total = rows if total is None else batched.add(total, rows)
    return *middle_and_radius(total), error


def _along(surface: Surface, shift: np.ndarray) -> Program:
    """Return the function of the kernel that is integrated at y and y + offset."""
    program = surface.programs(shift)[0]
    key = "along", program is surface.plain[0]
    return surface.memo.fact(
        key, lambda: Program(rewrite.diagonal(program.graph)[0], surface.varies)
    )


def _rows(program: Program, decided: Any, sign: float, box, shift, cells, cell) -> Box:
    """Enclose the coefficients (boxes, rows, powers) of the integrals on one side of y."""
    low, high, centre = box
    node_low, node_high, weight_low, weight_high, _ = rule(DEGREE)
    q = batched.multiply(batched.add((node_low[:, None], node_high[:, None]), _ONE), _HALF)
    q = np.maximum(q[0], 0.0), np.minimum(q[1], 1.0)
    rest = batched.subtract(_ONE, q)
    rest = np.maximum(rest[0], 0.0), rest[1]
    weight = batched.multiply((weight_low[:, None], weight_high[:, None]), _HALF)
    end, unit = (low if sign > 0 else high), batched.point(cells.half[cell])
    out = np.zeros((2, len(low), 3, DEGREE + 1))
    for a, b, order, places in ((centre, centre, 1, (0, 1)), (low, high, 2, (2,))):
        far = batched.subtract((a, b), batched.point(end))
        far = far if sign > 0 else batched.negative(far)
        far = np.maximum(far[0], 0.0)[None], far[1][None]
        slope = np.full_like(far[0], sign)
        length = np.stack([far[0], slope]), np.stack([far[1], slope])
        moved = batched.multiply(q, far)
        offset = batched.negative(moved) if sign > 0 else moved
        tilt = batched.negative(q)
        shape = offset[0].shape
        offset = arithmetic.stacked([(v[0][None], v[1][None]) for v in (offset, tilt)])
        y = arithmetic.variable(a[None], b[None], order)
        about = {"y": y, "offset": offset, "shift": (shift[None, None], shift[None, None])}
        value = program.run(about, order, decisions=decided).jet
        x = batched.multiply(rest, far)
        x = batched.add(batched.point(end), x if sign > 0 else batched.negative(x))
        u = batched.divide(batched.subtract(x, batched.point(cells.centre[cell])), unit)
        bend = batched.divide(rest, unit)
        u = arithmetic.stacked([(v[0][None], v[1][None]) for v in (u, bend)])
        term = arithmetic.multiply(arithmetic.padded(value, order + 1, shape), length, order)
        term = batched.multiply(term, (weight[0][None], weight[1][None]))
        for j in range(DEGREE + 1):
            sums = batched.total(term, axis=1)
            for k in places:
                out[0, :, k, j], out[1, :, k, j] = sums[0][k], sums[1][k]
            if j < DEGREE:
                term = arithmetic.multiply(term, u, order)
    return out[0], out[1]
