r"""Closed forms of Renyi divergences within the named families, enclosed by Arb.

For an exponential family with parameters p and q the integral of :math:`p^\alpha q^{1-\alpha}` is
that of a member with the parameters :math:`\alpha p + (1-\alpha) q`, where there is one, and
infinite otherwise (van Erven, Harremoes 2014, Section II-C; Gil, Alajaji, Linder 2013, Table 2).
Orders 1 and infinity are the limits; that of infinity is the supremum of log p / q. Parameters
mean their binary64 values.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.numerics.balls.arithmetic import ball, enclose

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.measure import Measure

INFINITE = (math.inf, math.inf)
_THEOREM = "closed form of the Renyi divergence within the family (Gil, Alajaji, Linder 2013)"


def closed_form(p: Measure, q: Measure, order: Any) -> tuple[tuple[float, float], str] | None:
    """Enclose a Renyi divergence of a positive order, and name the theorem; None if there is none.

    Parameters
    ----------
    p, q : Measure
        Of one family, on one alphabet; for uniform ones on any two intervals.
    order : Fraction or inf
        Above 0.
    """
    if p.family is None or q.family is None or p.family[0] != q.family[0]:
        return None
    name = p.family[0]
    if name == "uniform" and p.on.kind == q.on.kind == "continuous" and p.on.dim == 1:
        return _enclosed(_uniform(p.on, q.on, order)), _THEOREM
    if name not in _FORMS or p.on != q.on:
        return None
    a, b = ({k: Fraction(float(v)) for k, v in m.family[1].items()} for m in (p, q))  # type: ignore[index]
    if a == b:
        return (0.0, 0.0), _THEOREM
    found = _FORMS[name](a, b, order)
    return None if found is None else (_enclosed(found), _THEOREM)


def _enclosed(found: Any) -> tuple[float, float]:
    if found is INFINITE or isinstance(found, tuple):
        return found
    low, high = enclose(found)
    return max(low, 0.0), max(high, 0.0)


def _log(value: Fraction) -> Any:
    return ball(value).log()


def _normal(p: dict, q: dict, order: Any) -> Any:
    m, s, n, t = p["mu"], p["sigma"], q["mu"], q["sigma"]
    gap = (m - n) ** 2
    if order == 1:
        return lambda: _log(t / s) + ball((s * s + gap) / (2 * t * t) - Fraction(1, 2))
    if order == math.inf:
        if s > t or (s == t and gap):
            return INFINITE
        return lambda: _log(t / s) + ball(gap / (2 * (t * t - s * s)))
    mixed = (1 - order) * s * s + order * t * t
    if mixed <= 0:
        return INFINITE
    return lambda: (
        ball(order * gap / (2 * mixed))
        + (_log(mixed) / 2 - ball(1 - order) * _log(s) - ball(order) * _log(t)) / ball(1 - order)
    )


def _laplace(p: dict, q: dict, order: Any) -> Any:
    b, c = p["b"], q["b"]
    gap = abs(p["mu"] - q["mu"])
    if order == math.inf:
        # -|x - mu| / b + |x - nu| / c is largest at x = mu if b <= c
        return INFINITE if b > c else (lambda: _log(c / b) + ball(gap / c))
    if order == 1:
        # E|X - nu| = gap + b e^(-gap/b)
        return lambda: _log(c / b) - 1 + (ball(gap) + ball(b) * (ball(-gap / b)).exp()) / ball(c)
    return None if b != c else _laplace_shift(gap / b, order)


def _laplace_shift(r: Fraction, order: Fraction) -> Any:
    """Two Laplace measures of one scale, r scales apart (Mironov 2017, Proposition 6)."""
    if order == Fraction(1, 2):
        return lambda: 2 * (ball(r / 2) - (1 + ball(r / 2)).log())

    def formula() -> Any:
        a = ball(order)
        first = a / (2 * a - 1) * ((a - 1) * ball(r)).exp()
        second = (a - 1) / (2 * a - 1) * (-a * ball(r)).exp()
        return (first + second).log() / (a - 1)

    return formula


def _exponential(p: dict, q: dict, order: Any) -> Any:
    a, b = p["lam"], q["lam"]
    if order == 1:
        return lambda: _log(a / b) + ball(b / a - 1)
    if order == math.inf:
        return INFINITE if a < b else (lambda: _log(a / b))
    mixed = order * a + (1 - order) * b
    if mixed <= 0:
        return INFINITE
    return lambda: _weighted(order, _log(a), _log(b), -_log(mixed))


def _weighted(order: Fraction, first: Any, second: Any, rest: Any) -> Any:
    """Return (order first + (1 - order) second + rest) / (order - 1)."""
    a = ball(order)
    return (a * first + (1 - a) * second + rest) / (a - 1)


def _gamma(p: dict, q: dict, order: Any) -> Any:
    a, b, c, d = p["alpha"], p["beta"], q["alpha"], q["beta"]

    def log_one(shape: Fraction, rate: Fraction) -> Any:
        return ball(shape) * _log(rate) - ball(shape).lgamma()

    if order == 1:
        return lambda: (
            log_one(a, b)
            - log_one(c, d)
            + ball(a - c) * (ball(a).digamma() - _log(b))
            - ball((b - d) * a / b)
        )
    if order == math.inf:
        return _peak(lambda: log_one(a, b) - log_one(c, d), a - c, b - d)
    shape, rate = order * a + (1 - order) * c, order * b + (1 - order) * d
    if shape <= 0 or rate <= 0:
        return INFINITE
    return lambda: _weighted(order, log_one(a, b), log_one(c, d), -log_one(shape, rate))


def _peak(base: Callable[[], Any], power: Fraction, rate: Fraction) -> Any:
    """Return base + sup over x > 0 of power log x - rate x."""
    if power < 0 or rate < 0 or (rate == 0 and power > 0):
        return INFINITE
    if power == 0:
        return base
    return lambda: base() + ball(power) * _log(power / rate) - ball(power)


def _beta(p: dict, q: dict, order: Any) -> Any:
    a, b, c, d = p["alpha"], p["beta"], q["alpha"], q["beta"]

    def log_one(x: Fraction, y: Fraction) -> Any:
        return ball(x + y).lgamma() - ball(x).lgamma() - ball(y).lgamma()

    if order == 1:
        return lambda: (
            log_one(a, b)
            - log_one(c, d)
            + ball(a - c) * ball(a).digamma()
            + ball(b - d) * ball(b).digamma()
            - ball(a + b - c - d) * ball(a + b).digamma()
        )
    if order == math.inf:
        u, v = a - c, b - d
        if u < 0 or v < 0:
            return INFINITE
        return lambda: (
            log_one(a, b)
            - log_one(c, d)
            + sum((ball(w) * _log(w / (u + v)) for w in (u, v) if w), ball(0))
        )
    x, y = order * a + (1 - order) * c, order * b + (1 - order) * d
    if x <= 0 or y <= 0:
        return INFINITE
    return lambda: _weighted(order, log_one(a, b), log_one(c, d), -log_one(x, y))


def _poisson(p: dict, q: dict, order: Any) -> Any:
    a, b = p["mu"], q["mu"]
    if order == 1:
        return lambda: ball(a) * _log(a / b) + ball(b - a)
    if order == math.inf:
        return INFINITE if a > b else (lambda: ball(b - a))

    def formula() -> Any:
        t = ball(order)
        power = (t * _log(a) + (1 - t) * _log(b)).exp()
        return (power - t * ball(a) - (1 - t) * ball(b)) / (t - 1)

    return formula


def _geometric(p: dict, q: dict, order: Any) -> Any:
    a, b = p["p"], q["p"]
    if order == 1:
        return lambda: _log(a / b) + ball((1 - a) / a) * _log((1 - a) / (1 - b))
    if order == math.inf:
        return INFINITE if a < b else (lambda: _log(a / b))

    def base() -> Any:
        t = ball(order)
        return t * _log(1 - a) + (1 - t) * _log(1 - b)

    if order > 1:
        low, high = enclose(base)
        if low > 0:
            return INFINITE
        if high >= 0:
            return None  # too close to call
    return lambda: _weighted(order, _log(a), _log(b), -(-base().expm1()).log())


def _uniform(on: Any, other: Any, order: Any) -> Any:
    a, b, c, d = (Fraction(float(e)) for e in (on.lower, on.upper, other.lower, other.upper))
    shared = min(b, d) - max(a, c)
    if shared <= 0 or (order >= 1 and not (c <= a and b <= d)):
        return INFINITE
    ratio = (d - c) / (b - a)
    if on == other:
        return (0.0, 0.0)
    if order >= 1:
        return (0.0, 0.0) if ratio == 1 else (lambda: _log(ratio))
    # the integral is (b - a)^-order (d - c)^(order - 1) times the common length
    return lambda: _weighted(order, -_log(b - a), -_log(d - c), _log(shared))


_FORMS: dict[str, Callable[[dict, dict, Any], Any]] = {
    "normal": _normal,
    "laplace": _laplace,
    "exponential": _exponential,
    "gamma": _gamma,
    "beta": _beta,
    "poisson": _poisson,
    "geometric": _geometric,
}
