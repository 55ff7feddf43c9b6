"""Kernels given up to a factor of the secret: weights w(y|x) divided by their total over y.

Over finitely many outcomes the total is a sum, a formula of the secret. Otherwise it is integrated:
at each of a few secrets that have a mass of their own, and at Chebyshev points of an interval of
them, where the polynomials through these values stand for it: to rounding, as the proof of the
kernel that is made so shows (`borel.engine`).
"""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import chebyshev

from borel import settings
from borel.errors import InvalidInput, NotEnclosed, NotYet
from borel.numerics.balls.integral import integrate
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.balls.parametric_integral import plans, values
from borel.numerics.graphs.graph import Graph, GraphBuilder
from borel.numerics.intervals import interpreter
from borel.probability.alphabets import Integers, Interval, Mixed
from borel.probability.kernel_totals import plain, summed, totals_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.numerics.balls.parametric_integral import Plan
    from borel.probability.alphabets import Alphabet
    from borel.probability.density import Density

_RADII = 8.0, 5.0
"""Polynomials in powers of x lose no digits if the total is analytic that far around a box."""
_SHARE = 0.25
_MOST_OUTCOMES, _FEW, _MOST_SECRETS = 4096, 64, 512
_NARROW, _BITS = 1e-9, 96


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
        total = _total(kernels, outcome, breaks, what)
    return [_quotient(g, total) for g in (weight, *masses)]


def _quotient(weight: Graph, total: Graph) -> Graph:
    build = GraphBuilder(weight, total)
    inputs = tuple(dict.fromkeys((*weight.inputs, *total.inputs)))
    return build.graph(build.add("divide", *build.roots), inputs)


def _total(
    kernels: Sequence[Density], outcome: Alphabet, breaks: Sequence[float], what: str
) -> Graph:
    """Return the total as a function of the secret: at points of a mass one by one."""
    secret = kernels[0].alphabets["x"]
    points, counted = _points(secret), secret.kind in ("finite", "countable")
    if counted and 0 < len(points) <= _FEW:
        return _at_points(kernels, outcome, breaks, what, points)
    between, jumps = _interpolated(kernels, outcome, breaks, what)
    if not counted:
        return _at_points(kernels, outcome, breaks, what, points, between) if points else between
    if jumps and not points:
        raise NotYet(
            f"{what}: normalise=True",
            missing="the integral of this weight over y, for all secrets: it may jump at some of "
            "them, and they are too many to look at each",
            instead=f"a finite secret, of {_MOST_SECRETS} labels at most; or divide the weight by "
            "its total yourself.",
        )
    return _at_points(kernels, outcome, breaks, what, points) if jumps else between


def _points(secret: Alphabet) -> list[tuple[float, ...]]:
    """Return the secrets that have a mass of their own; none if they are too many."""
    found: Sequence[Any] = ()
    if secret.kind == "finite" and secret.size <= _MOST_SECRETS:
        found = secret.labels
    elif isinstance(secret, Integers) and None not in (secret.lower, secret.upper):
        if secret.upper - secret.lower < _MOST_SECRETS:  # type: ignore[operator]
            found = range(secret.lower, secret.upper + 1)  # type: ignore[arg-type, operator]
    elif isinstance(secret, Mixed):
        found = secret.atoms
    return [tuple(map(float, x if isinstance(x, tuple) else (x,))) for x in found]


def _at_points(
    kernels: Sequence[Density],
    outcome: Alphabet,
    breaks: Sequence[float],
    what: str,
    points: list[tuple[float, ...]],
    between: Graph | None = None,
) -> Graph:
    """Return a total that is a number at each of some secrets, and a function at all others."""
    names, build = kernels[0].graph_names("x"), GraphBuilder()
    out = None if between is None else build.append(between)[-1]
    for point in points:
        at = dict(zip(names, point, strict=True))
        value = build.constant(_value(kernels, outcome, breaks, at, what))
        same = (build.add("equal", build.add("input", n), build.constant(v)) for n, v in at.items())
        here = reduce(lambda a, b: build.add("logical_and", a, b), same)
        out = value if out is None else build.add("where", here, value, out)
    assert out is not None
    return build.graph(out)


def _value(
    kernels: Sequence[Density],
    outcome: Alphabet,
    breaks: Sequence[float],
    at: dict[str, float],
    what: str,
) -> float:
    """Return the total at one secret, to the digits that floats have."""
    line = getattr(outcome, "interval", outcome)
    where = ", ".join(f"{name} = {v:.17g}" for name, v in at.items())
    if not isinstance(line, Interval):
        raise NotYet(f"{what}: normalise=True", missing=f"the total of a weight on {outcome!r}")
    ends, density = (float(line.lower), float(line.upper)), kernels[0]
    marks = {*breaks, *at.values(), *density.turns("y", **at)[0].tolist()}
    try:
        low, high = integrate(
            Prepared(plain(density).bind(at), "y"),
            {},
            *ends,
            breaks=sorted(m for m in marks if ends[0] < m < ends[1]),
            rel_tol=2.0**-52,
            bits=_BITS,
        ).floats
        for mass in kernels[1:]:
            own = interpreter.evaluate(plain(mass).bind(at), {})
            low, high = low + float(own[0]), high + float(own[1])
    except NotEnclosed as error:
        raise NotYet(f"{what}: normalise=True", missing=f"its total: {error}") from None
    if not math.isfinite(high):
        raise NotYet(
            f"{what}: normalise=True",
            missing=f"the integral of this weight over y at {where}: it may be infinite",
            instead="a weight that falls off; or divide it by its total yourself.",
        )
    _require_positive(what, low, high, where)
    if high - low > _NARROW * high:
        raise NotYet(f"{what}: normalise=True", missing=f"digits of its total at {where}")
    return low / 2 + high / 2


def _require_positive(what: str, low: float, high: float, where: str) -> None:
    # an integral of 0 is enclosed by the floats next to 0
    if low <= 0 and math.ulp(0.0) < high < math.inf:
        raise NotYet(
            f"{what}: normalise=True",
            missing=f"the integral of this weight over y at {where}: it may be 0, as far as is "
            f"known; it is {high:.6g} at most",
            instead="write it otherwise where it is no number (x / abs(x) at 0); or divide it by "
            "its total yourself.",
        )
    if not (low > 0 and math.isfinite(high)):
        raise InvalidInput(
            what,
            expected="a weight whose total over y is positive and finite for every x",
            got=f"between {low:.6g} and {high:.6g}",
            where=where,
            mend="shrink the secrets, or correct the weight there.",
        )


def _interpolated(
    kernels: Sequence[Density], outcome: Alphabet, breaks: Sequence[float], what: str
) -> tuple[Graph, bool]:
    """Return polynomials through values of the total; and whether it may jump at a null set."""
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
    return build.graph(out), any(part.jumps for part in totals.parts)


def _polynomial(box: Plan, until: float, what: str) -> tuple[float, float, list[float]]:
    """Return the centre and half of the width of a box, and the coefficients on it."""
    found = values(box, until)
    if found is None:
        raise NotYet(f"{what}: normalise=True", missing="time for its total: options(budget=...)")
    for x, (low, high) in zip(*found, strict=True):
        _require_positive(what, low, high, f"x = {x:.17g}")
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
