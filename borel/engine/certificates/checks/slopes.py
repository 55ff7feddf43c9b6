"""Check certificates of infinities by slopes: a part to trust, and to read.

Along outcomes y(t), t in (0, 1], let log f(y|x) be differentiable in x (or have kinks) between two
secrets, with a slope of one sign and of size at least s(t) = c t^a, a < 0, or c log 1/t + c'. Then
log f(y|x) at one of them exceeds that at the other by s times their distance: with mass on both of
them PMC is unbounded. If a prior without atoms lives between them, f_Y / ess sup_x f is at most
E e^(-s |b - X|) -> 0, b where its support ends: PML is unbounded, and so is PMC.

The slope is found by the rules of calculus, on closed boxes of secrets that follow each other, with
the `_Ray` arithmetic of `check`; a rule that meets a value at which its function jumps or is not
known gives NaN, which proves nothing.
Taken on trust: Arb, the tracer of densities, and that f(.|x) and p integrate to 1.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from borel.engine.certificates.checks.rays import (
    _SIGNS,
    _UP,
    INF,
    Q0,
    Z,
    _gap,
    _number,
    _pick,
    _power,
    _Ray,
    _ray,
)
from borel.engine.certificates.checks.tails import DENSITY
from borel.engine.certificates.checks.verifier import Report, _Checker, _everywhere, check

_NONE, _LOST = _ray(0), _ray(arb("nan"))


def _over(u, v):
    return u * _power(v, -1)


def _of_power(u, v, du, dv):
    if _still(dv):
        n = _number(v)
        return _power(u, arb(n) - 1) * n * du if n is not None else _power(u, _gap(v, 1)) * v * du
    return _power(u, v) * (dv * u.log() + _over(v * du, u))


def _sigma(u):
    return _power((u * -1).exp() + 1, -1)


def _digamma(u):
    return u.call("digamma")


def _still(du):
    return not du.terms


# fmt: off
# By name: the slope of a function of u (and v), whose slopes are du (and dv).
SLOPES: dict[str, Any] = {
    "add": lambda u, v, du, dv: du + dv, "subtract": lambda u, v, du, dv: _gap(du, dv),
    "multiply": lambda u, v, du, dv: du * v + u * dv, "power": _of_power,
    "divide": lambda u, v, du, dv: _over(_gap(du, _over(u, v) * dv), v),
    "reciprocal": lambda u, du: _over(du * -1, u * u), "square": lambda u, du: u * du * 2,
    "sqrt": lambda u, du: _over(du, _power(u, 0.5) * 2), "exp": lambda u, du: u.exp() * du,
    "expm1": lambda u, du: u.exp() * du, "negative": lambda u, du: du * -1,
    "log": lambda u, du: _over(du, u), "log1p": lambda u, du: _over(du, u + 1),
    "logaddexp": lambda u, v, du, dv: dv + _sigma(_gap(u, v)) * _gap(du, dv),
    "expit": lambda u, du: _sigma(u) * _sigma(u * -1) * du,
    "xlogy": lambda u, v, du, dv: du * v.log() + _over(u * dv, v),
    "betaln": lambda u, v, du, dv: _gap(
        _digamma(u) * du + _digamma(v) * dv, _digamma(u + v) * (du + dv)),
    "binom": lambda u, v, du, dv: DENSITY["binom"](u, v) * (
        _digamma(u + 1) * du + _digamma(v + 1) * dv * -1 + _digamma(_gap(u, v) + 1) * _gap(dv, du)),
    "absolute": lambda u, du: _pick(u, _UP, du, du * -1),
    "maximum": lambda u, v, du, dv: _pick(_gap(u, v), _UP, du, dv),
    "minimum": lambda u, v, du, dv: _pick(_gap(u, v), _UP, dv, du),
    "gammaln": lambda u, du: _digamma(u) * du,
    "gamma": lambda u, du: u.call("gamma") * _digamma(u) * du,
    "arctan": lambda u, du: _over(du, u * u + 1), "sin": lambda u, du: u.call("cos") * du,
    "cos": lambda u, du: u.call("sin") * du * -1,
    "tanh": lambda u, du: _gap(_ray(1), u.call("tanh") * u.call("tanh")) * du,
    "erf": lambda u, du: (u * u * -1).exp() * du * (2 / arb.pi().sqrt()),
    "ndtr": lambda u, du: (u * u * -0.5).exp() * du * (1 / (2 * arb.pi()).sqrt()),
}
# fmt: on


def _chosen(name, values, slopes):
    """Return the slope of a function that may jump: known only where it does not."""
    if name == "where":
        test = values[0].signs()
        if len(test) == 1 or set(test) == {-1, 1}:
            return slopes[2] if test == (0,) else slopes[1]
        return _LOST
    if name in _SIGNS:
        return _NONE if len({s in _SIGNS[name] for s in _gap(*values).signs()}) == 1 else _LOST
    return _LOST  # logical functions of secrets


def slope_of_log(density, x, y):
    """Return the slope of log f(y|x) in x along a ray, for all x of a ball, and log f there."""
    (graph, logged), values, slopes = density, [], []
    for op, args in graph.nodes:
        name = op.removeprefix("special.")
        if op in ("input", "const"):
            values.append({"x": x, "y": y}[args[0]] if op == "input" else _ray(args[0]))
            slopes.append(_ray(1 if op == "input" and args[0] == "x" else 0))
            continue
        u, du = [values[i] for i in args], [slopes[i] for i in args]
        values.append(DENSITY[name](*u))
        if all(map(_still, du)):
            slopes.append(_NONE)
        else:
            slopes.append(SLOPES[name](*u, *du) if name in SLOPES else _chosen(name, u, du))
    if logged:
        return slopes[-1], values[-1]
    return _in_logs(graph.nodes, values, slopes, len(values) - 1)


def _in_logs(nodes, values, slopes, k):
    """Return the slope of the logarithm of a node, and that logarithm: products are sums."""
    op, args = nodes[k]
    if op == "exp":
        return slopes[args[0]], values[args[0]]
    if op == "power":
        (u, v), (du, dv) = ([of[i] for i in args] for of in (values, slopes))
        return dv * u.log() + _over(v * du, u), v * u.log()
    if op in ("multiply", "divide"):
        (du, u), (dv, v) = (_in_logs(nodes, values, slopes, i) for i in args)
        return (du + dv, u + v) if op == "multiply" else (_gap(du, dv), _gap(u, v))
    value, slope = values[k], slopes[k]
    return (_NONE if _still(slope) else _over(slope, value)), value.log()


class _Slopes(_Checker):
    """A certificate under check: two secrets, and outcomes along which log f is steep."""

    def is_slope(self):
        proof, pml = self.claim["proof"], self.data["quantity"] == "pml"
        t0, spec, sign, (a, b) = proof["t0"], proof["y"], proof["sign"], proof["x"]
        y = self.path(spec, t0, _ray(0))[0](1.0, 1.0)[0]

        def steep(low, high):
            slope, log = slope_of_log(self.f, _ray(arb(low).union(arb(high))), y)
            known = all(ball.is_finite() for ball in (*slope.terms.values(), *log.terms.values()))
            power, least, _ = (slope * sign).fold()
            rest = _Ray({k: ball for k, ball in slope.terms.items() if k != (Q0, 1)}).bounds()
            grows = slope.terms.get((Q0, 1), Z) * -sign > 0 and all(v.is_finite() for v in rest)
            return known and (grows or (power < Q0 and least > Z))

        self.leaf("slope", _everywhere, steep, a, b, 12)
        charged = {x for x, p, _ in self.atoms if p > 0}
        pair = not pml and {a, b} <= charged
        whole = bool(self.p) and not self.atoms and [a, b] == [*self.ends]
        fits = sign in (1, -1) and a < b and b - a < INF and t0 > 0 and "box" not in spec
        self.leaf("argument", lambda: fits and spec["power"] != 0 and (pair or whole))
        return spec, y.bounds(), INF, INF


def check_slopes(certificate: dict | str) -> Report:
    """Verify a certificate of an infinity by slopes."""
    return check(certificate, _Slopes)
