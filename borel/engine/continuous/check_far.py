r"""Bounds on the mean of PML far out, for noise on a secret without an end: a part to trust.

Let f(y|x) = h(y - x) <= s, so that Y = X + U. With f_Y on (a, oo) of mass q at most, and a mean
distance :math:`m \ge E (Y - a)^+`, for every mu > 0

.. math:: \int f_Y \log(s / f_Y) \le q (\log s + \log \mu - \log q) + m / \mu:

by Gibbs' inequality :math:`-f_Y \log f_Y` has at most the integral of :math:`-f_Y \log(q g)`, for
g the exponential density of mean mu. The bound rises with q up to log q = log s + log mu - 1.

For r + u = a, Y > a needs X > r or U > u, and (Y - a)^+ <= (X - r)^+ + (U - u)^+. A density that
is at most K t^k along r / t, K (r / x)^k at x, has the mass K r / (k - 1) beyond r, and there
the mean distance K r^2 / (k - 1) (k - 2). Masses of integers have one term more than the
integral; of them every comparison is decided by its bounds. Taken on trust: that f(.|x) and p
integrate, or sum, to 1.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from itertools import pairwise

from flint import arb

from borel.engine.continuous.check import FUNCTIONS as RAYS
from borel.engine.continuous.check import (
    INF,
    Q1,
    Z,
    _balls,
    _gap,
    _middle,
    _power,
    _Ray,
    _ray,
    _rays,
    _run,
)
from borel.engine.continuous.check_counts import _run as run_at_integers
from borel.engine.continuous.check_counts import decided
from borel.engine.graphs.trace import Graph

SHARES, LOOKS, LOOSE = (0.5, 0.25, 0.75, 0.125, 0.875), 100, 0.125


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
        return op in ("exp", "square") or split or value(k).bounds()[0] >= 0

    def logarithm(k):
        op, args = graph.nodes[k]
        if op == "exp":
            return value(*args)
        if op in ("multiply", "divide", "add") and all(map(positive, args)):
            named = {"multiply": "add", "divide": "subtract", "add": "logaddexp"}[op]
            return functions[named](*map(logarithm, args))
        if op in ("square", "power", "reciprocal") and positive(args[0]):
            by = {"square": _ray(2), "reciprocal": _ray(-1)}.get(op) or value(args[-1])
            return logarithm(args[0]) * by
        return value(k).log()

    last = len(graph.nodes) - 1
    return value(last) if logged else logarithm(last)


def noise_of(density):
    """Return f(y|x) = h(y - x) as h(y), with x = -y, if inputs are used in y - x and x - y only."""
    (graph, logged), nodes = density, []
    named = [args[0] if op == "input" else None for op, args in graph.nodes]
    for op, args in graph.nodes:
        if op not in ("input", "const"):
            used = [named[k] for k in args]
            if op == "subtract" and used in (["y", "x"], ["x", "y"]):
                op, args = "input", (used[0],)
            elif any(used):
                raise ValueError(f"{op} of an input, and not y - x alone")
        nodes.append((op, args))
    if named[-1]:
        raise ValueError("no more than an input")
    return Graph(tuple(nodes), ("y", "x")), logged


def _along(density, u, kind):
    """Return enclosures of a density along a ray, made in two ways; some may fail."""
    functions, direct = KINDS[kind]
    for way in (
        lambda x: log_along(density, x, u, functions).exp(),
        lambda x: direct(density, False, x, u),
    ):
        with suppress(ValueError, ZeroDivisionError):
            yield way(u * -1)


def tail(density, sign, r, kind="density"):
    """Bound P{sign U > r}, r > 0, and E (sign U - r)^+ from above, for a density in y = -x."""
    best = INF, INF
    for value in _along(density, _Ray({(-Q1, 0): sign * arb(r)}), kind):
        k, _, high = value.fold()
        scale = high.max(Z)
        if scale == 0:
            return Z, Z
        if scale.is_finite() and k > 2:
            q, m = scale * r / arb(k - 1), scale * r * r / arb((k - 1) * (k - 2))
            q, m = (q + scale, m + q) if kind == "masses" else (q, m)
            best = best[0].min(q.upper()), best[1].min(m.upper())
    return best


def _most(density, a, b):
    """Bound the logarithm of a density in y = -x from above on a box."""
    found = INF
    for u in [*_rays(a, b), *(_balls(a, b) if math.isfinite(b - a) else ())]:
        with suppress(ValueError, ZeroDivisionError):
            high = log_along(density, u * -1, u, DENSITY).bounds()[1]
            found = found if high.is_nan() else found.min(high.upper())
    return found


def height(density):
    """Bound the logarithm of a density in y = -x from above, where that can be to about LOOSE."""
    ends, known = (-math.inf, -1.0, 0.0, 1.0, math.inf), -INF
    boxes = [(_most(density, *box), *box) for box in pairwise(ends)]
    with suppress(ValueError, ZeroDivisionError):
        for _ in range(LOOKS):
            worst = max(boxes, key=lambda box: box[0])
            top, a, b = worst
            middle = _middle(a, b)
            at = _ray(middle)
            low = log_along(density, at * -1, at, DENSITY).bounds()[0]
            known = known if low.is_nan() else known.max(low)
            if top <= known + LOOSE:
                break
            halves = [(_most(density, *box), *box) for box in pairwise((a, middle, b))]
            boxes = [*(box for box in boxes if box is not worst), *halves]
    return max(top for top, *_ in boxes)


class Far:
    """Noise on a secret of a prior with a density, or of masses, and with atoms."""

    def __init__(self, kernel, prior, ends, atoms, kind="density"):
        self.kernel, self.prior, self.ends = kernel, prior, ends
        self.atoms, self.kind = atoms, kind

    @cached_property
    def noise(self):
        """Return the density of the noise, and a bound on its logarithm."""
        found = noise_of(self.kernel)
        return found, height(found)

    @cached_property
    def of_x(self):
        """Return the prior, as a density in y."""
        graph, log = self.prior
        named = {("input", ("x",)): ("input", ("y",))}
        return Graph(tuple(named.get(node, node) for node in graph.nodes), ("y",)), log

    def secrets(self, sign, r):
        """Bound P{sign X > r} and E (sign X - r)^+ from above."""
        end = sign * (self.ends[1] if sign > 0 else self.ends[0])
        q, m = (Z, Z) if end <= r else tail(self.of_x, sign, r, self.kind)
        beyond = [(sign * x - r, w) for x, w in self.atoms.items() if sign * x > r]
        return q + sum((w for _, w in beyond), Z), m + sum((w * v for v, w in beyond), Z)

    def share(self, a, b):
        """Bound the part of a box of outcomes, by that of a half-line which it is on."""
        if not (a > 0 or b < 0):
            return INF
        sign, a = (1, arb(a)) if a > 0 else (-1, -arb(b))
        end, best = arb(sign * (self.ends[1] if sign > 0 else self.ends[0])), INF
        for r in [end] if end < INF else [a * share for share in SHARES]:
            with suppress(ValueError, ZeroDivisionError):
                if a - r > 0:
                    best = best.min(self.beyond(sign, r, a - r))
        return best

    def beyond(self, sign, r, u):
        """Bound the part of the outcomes beyond r + u."""
        noise, top = self.noise
        pairs = self.secrets(sign, r), tail(noise, sign, u)
        q, m = (sum(pair, Z).upper() for pair in zip(*pairs, strict=True))
        q = q.min(arb(1))
        if q == 0:
            return Z
        rest = top + (m / q).log()  # mu is m / q
        mass = q.min((rest - 1).exp())
        found = (mass * (rest - mass.log()) + q).upper()
        return found if found.is_finite() else INF
