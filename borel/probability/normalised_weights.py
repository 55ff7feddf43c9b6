"""Kernels given up to a factor of the secret: weights w(y|x) divided by their total over y.

Over finitely many outcomes the total is a sum, a formula of the secret. Otherwise it is integrated
at Chebyshev points of the secrets, and the polynomials through these values stand for it: to
rounding, as the proof of the kernel that is made so shows (`borel.engine`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import chebyshev

from borel import settings
from borel.errors import InvalidInput, NotEnclosed, NotYet
from borel.numerics.balls.parametric_integral import plans, values
from borel.numerics.graphs.graph import Graph, GraphBuilder
from borel.probability.kernel_totals import plain, summed, totals_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.numerics.balls.parametric_integral import Plan
    from borel.probability.alphabets import Alphabet
    from borel.probability.density import Density

_RADII = 8.0, 5.0
"""Polynomials in powers of x lose no digits if the total is analytic that far around a box."""
_SHARE = 0.25
_MOST_OUTCOMES = 4096


def divided(
    kernels: Sequence[Density], outcome: Alphabet, breaks: Sequence[float], what: str
) -> list[Graph]:
    """Return the graphs of a weight, and of the weights of atoms, divided by their total.

    Raises
    ------
    InvalidInput
        A total that is 0 or infinite somewhere.
    NotYet
        A total that cannot be enclosed for all secrets.
    """
    opaque = next((d.opaque for d in kernels if d.graph is None), "")
    if opaque:
        raise NotYet(
            f"{what}: normalise=True",
            missing=f"a weight that could not be traced ({opaque})",
            instead="divide it by its total yourself.",
        )
    weight, *masses = [plain(d) for d in kernels]
    if outcome.kind == "finite" and outcome.dim == 1 and outcome.size <= _MOST_OUTCOMES:
        total = summed(weight, outcome.array)
    else:
        total = _interpolated(kernels, outcome, breaks, what)
    return [_quotient(g, total) for g in (weight, *masses)]


def _quotient(weight: Graph, total: Graph) -> Graph:
    build = GraphBuilder(weight, total)
    inputs = tuple(dict.fromkeys((*weight.inputs, *total.inputs)))
    return build.graph(build.add("divide", *build.roots), inputs)


def _interpolated(
    kernels: Sequence[Density], outcome: Alphabet, breaks: Sequence[float], what: str
) -> Graph:
    """Return polynomials through values of the total."""
    with settings.apart():
        until = settings.deadline(_SHARE)
        try:
            totals = totals_of(kernels, outcome, breaks)
            boxes = None if totals is None else plans(totals.parts, totals.cuts, until, _RADII)
        except NotEnclosed as error:
            raise NotYet(f"{what}: normalise=True", missing=f"its total: {error}") from None
        if totals is None or boxes is None:
            raise NotYet(
                f"{what}: normalise=True",
                missing="the integral of this weight over y, for all secrets: it may be infinite, "
                "or not analytic in x",
                instead="a weight that falls off, on secrets with ends where it has no pole; or "
                "divide it by its total yourself.",
            )
        boxes = sorted(box for box in boxes if box.certain)
        polynomials = [_polynomial(box, until, what) for box in boxes]
        if not all(map(math.isfinite, totals.cuts)):  # one and the same for all secrets
            polynomials = [(0.0, 1.0, polynomials[0][2][:1])]
    build = GraphBuilder()
    x = build.append(totals.number)[-1]
    *others, out = [_horner(build, x, *of) for of in polynomials]
    for box, node in zip(reversed(boxes[:-1]), reversed(others), strict=True):
        out = build.add("where", build.add("less", x, build.constant(box.high)), node, out)
    return build.graph(out)


def _polynomial(box: Plan, until: float, what: str) -> tuple[float, float, list[float]]:
    """Return the centre and half of the width of a box, and the coefficients on it."""
    found = values(box, until)
    if found is None:
        raise NotYet(f"{what}: normalise=True", missing="time for its total: options(budget=...)")
    for x, (low, high) in zip(*found, strict=True):
        if not (low > 0 and math.isfinite(high)):
            raise InvalidInput(
                what,
                expected="a weight whose total over y is positive and finite for every x",
                got=f"between {low:.6g} and {high:.6g}",
                where=f"x = {x:.17g}",
                mend="shrink the secrets, or correct the weight there.",
            )
    g = np.array([low / 2 + high / 2 for low, high in found[1]])
    n = len(g)
    angles = np.pi * (2 * np.arange(n) + 1) / (2 * n)
    c = np.array([2 / n * math.fsum(np.cos(k * angles) * g) for k in range(n)])
    c[0] /= 2
    c[np.abs(c) < 2.0**-52 * np.abs(c).max()] = 0.0  # rounding, which powers of x would enlarge
    centre = box.low / 2 + box.high / 2
    return centre, box.high - centre, chebyshev.cheb2poly(c).tolist()


def _horner(build: GraphBuilder, x: int, centre: float, half: float, c: list[float]) -> int:
    """Add a polynomial in (x - centre) / half."""
    t: Any = build.add("subtract", x, build.constant(centre))
    t = build.add("divide", t, build.constant(half))
    out = build.constant(c[-1])
    for one in reversed(c[:-1]):
        out = build.add("add", build.add("multiply", out, t), build.constant(one))
    return out
