r"""Bounds on what a prior, or noise, has far out, from its formula: a part to trust.

A density that is at most K t^k along r / t, so K (r / x)^k at x, has the mass K r / (k - 1) beyond
r, and there the mean distance from r is K r^2 / (k - 1) (k - 2). Masses of integers have one term
more than the integral; of them every comparison is decided by its bounds.
"""

from __future__ import annotations

from contextlib import suppress

from flint import arb

from borel.engine.certificates.checks.counts import _run as run_at_integers
from borel.engine.certificates.checks.counts import decided
from borel.engine.certificates.checks.rays import FUNCTIONS as RAYS
from borel.engine.certificates.checks.rays import INF, Q1, Z, _gap, _power, _Ray, _ray, _run
from borel.numerics.graphs.trace import Graph


def _gammaln(u):
    """Return log Gamma; for u > 0 without bound by Stirling's formula, its error in [0, 1/12u]."""
    low, high = u.bounds()
    if not low > 0 or high.is_finite():
        return u.call("lgamma")
    error = _power(u, -1) * Z.union(arb(1) / 12)
    return (u + -0.5) * u.log() + u * -1 + error + (2 * arb.pi()).log() / 2


def _decided(name, function):
    """Return a function that refuses a comparison which is not decided at every number."""

    def of(*u):
        decided(name, u)
        return function(*u)

    return of


DENSITY = {
    **RAYS,
    "gammaln": _gammaln,
    "betaln": lambda u, v: _gap(_gammaln(u) + _gammaln(v), _gammaln(u + v)),
}
MASSES = {name: _decided(name, function) for name, function in DENSITY.items()}
KINDS = {"density": (DENSITY, _run), "masses": (MASSES, run_at_integers)}


def log_along(density, x, y=None, functions=RAYS):
    """Return log f(y|x) along a ray, that of a product through those of its factors."""
    (graph, logged), values = density, {}

    def value(k):
        if k not in values:
            op, args = graph.nodes[k]
            if op in ("input", "const"):
                values[k] = {"x": x, "y": y}[args[0]] if op == "input" else _ray(args[0])
            elif op == "log":
                values[k] = logarithm(*args)
            else:
                values[k] = functions[op.removeprefix("special.")](*map(value, args))
        return values[k]

    def positive(k):  # or 0
        op, args = graph.nodes[k]
        split = op in ("multiply", "divide", "add", "reciprocal") and all(map(positive, args))
        split = split or (op == "power" and positive(args[0]))
        split = split or (op == "where" and all(map(positive, args[1:])))
        return op in ("exp", "square") or split or value(k).bounds()[0] >= 0

    def logarithm(k):
        op, args = graph.nodes[k]
        if op == "exp":
            return value(*args)
        if op in ("multiply", "divide", "add") and all(map(positive, args)):
            named = {"multiply": "add", "divide": "subtract", "add": "logaddexp"}[op]
            return functions[named](*map(logarithm, args))
        if op == "where":
            return functions[op](value(args[0]), *map(logarithm, args[1:]))
        if op in ("square", "power", "reciprocal") and positive(args[0]):
            by = {"square": _ray(2), "reciprocal": _ray(-1)}.get(op) or value(args[-1])
            return logarithm(args[0]) * by
        return value(k).log()

    last = len(graph.nodes) - 1
    return value(last) if logged else logarithm(last)


def in_y(prior):
    """Return a prior as a density in y, as `tail` takes it."""
    (graph, log), y = prior, ("input", ("y",))
    return Graph(tuple(y if op == "input" else (op, args) for op, args in graph.nodes), ("y",)), log


def ray(sign, r):
    """Return the numbers beyond r, or -r, as sign r / t for t in (0, 1]."""
    return _Ray({(-Q1, 0): sign * arb(r)})


def _along(density, u, kind):
    """Return enclosures of a density along a ray, made in two ways; some may fail."""
    functions, direct = KINDS[kind]
    for way in (
        lambda x: log_along(density, x, u, functions).exp(),
        lambda x: direct(density, False, x, u),
    ):
        with suppress(ValueError, ZeroDivisionError, KeyError):  # an operation not known
            yield way(u * -1)


def beyond(value, r, kind="density"):
    """Bound the mass beyond r, and the mean distance from r, of a density along a ray."""
    k, _, high = value.fold()
    scale = high.max(Z)
    if not r > 0:
        return INF, INF
    if not (scale == 0 or (scale.is_finite() and k > 2)):
        return INF, INF
    if scale == 0:
        return Z, Z
    q, m = scale * r / arb(k - 1), scale * r * r / arb((k - 1) * (k - 2))
    q, m = (q + scale, m + q) if kind == "masses" else (q, m)
    return q.upper(), m.upper()


def tail(density, sign, r, kind="density"):
    """Bound P{sign U > r}, r > 0, and E (sign U - r)^+ from above, for a density in y = -x."""
    best = INF, INF
    for value in _along(density, ray(sign, r), kind):
        q, m = beyond(value, r, kind)
        best = best[0].min(q), best[1].min(m)
    return best
