"""Probabilities of intervals under priors on a line, enclosed through Arb.

Named families have distribution functions; other densities are integrated from their graphs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.probability.normalisation import integral_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.measure import Measure

Ends = tuple[float, float]
_NARROW_BETA = 200
SUM_OF_NORMALS = "sum of normals"
"""The family of a weighted sum of normal numbers: its variance is a Fraction."""


def mass_function(prior: Measure) -> Callable[[float, float], Ends] | None:
    """Return ``(a, b) -> enclosure of P{a < X < b}`` for a density on the line, else None.

    Of a prior with atoms it is the probability beside them.

    Examples
    --------
    >>> import borel as bl
    >>> low, high = mass_function(bl.normal())(0.0, math.inf)
    >>> low <= 0.5 <= high < 0.5000001
    True
    """
    name, values = prior.family or ("", {})
    values = {key: value for key, value in values.items() if key != "miss"}
    if name not in _BELOW and name != "uniform":
        return integral_of(prior.density, prior.breaks, most=1.0)
    if name == "uniform":
        ends = getattr(prior.on, "lower", None), getattr(prior.on, "upper", None)
        if None in ends or prior.on.kind != "continuous":
            return None
        values = {"lower": ends[0], "upper": ends[1]}
    below, above = _BELOW[name], _ABOVE[name]

    def mass(a: float, b: float) -> Ends:
        from borel.numerics.balls.arithmetic import ball, enclose

        balls = {key: ball(v) for key, v in values.items()}
        # the incomplete beta function takes long where the prior is narrow
        narrow = name == "beta" and balls["alpha"].max(balls["beta"]) > _NARROW_BETA
        settings.work("masses", 1, narrow)

        def part(tail: Any, end: float, at_inf: int, at_minus: int) -> Any:
            if math.isinf(end):
                return ball(at_inf if end > 0 else at_minus)
            return tail(ball(end), **balls)

        def from_left() -> Any:
            return part(below, b, 1, 0) - part(below, a, 1, 0)

        def from_right() -> Any:
            return part(above, a, 0, 1) - part(above, b, 0, 1)

        first, second = enclose(from_left), enclose(from_right)
        low, high = max(first[0], second[0], 0.0), min(first[1], second[1], 1.0)
        assert low <= high, "two enclosures of one probability do not meet"
        return low, high

    return mass


def _half(z: Any) -> Any:
    """Return P{N > z sqrt 2} for a standard normal N."""
    return z.erfc() / 2


def _normal(z: Any, mu: Any, sigma: Any) -> Any:
    return (z - mu) / (sigma * (sigma * 0 + 2).sqrt())


def _of_sum(z: Any, mu: Any, variance: Any) -> Any:
    return (z - mu) / (2 * variance).sqrt()


def _laplace_below(z: Any, mu: Any, b: Any) -> Any:
    t = (z - mu) / b
    if t < 0:
        return t.exp() / 2
    if t >= 0:
        return 1 - (-t).exp() / 2
    return (t.exp() / 2).union(1 - (-t).exp() / 2)


def _cauchy_above(z: Any, alpha: Any, beta: Any) -> Any:
    from borel.numerics.balls.arithmetic import ball

    pi = type(z).pi()
    t = (z - alpha) / beta
    if t > 0:
        return (1 / t).atan() / pi
    return ball(1) / 2 - t.atan() / pi


def _positive_part(z: Any) -> Any:
    return z.max(z * 0)


_BELOW: dict[str, Callable] = {
    "normal": lambda z, mu, sigma: _half(-_normal(z, mu, sigma)),
    SUM_OF_NORMALS: lambda z, mu, variance: _half(-_of_sum(z, mu, variance)),
    "laplace": _laplace_below,
    "cauchy": lambda z, alpha, beta: _cauchy_above(2 * alpha - z, alpha, beta),
    "exponential": lambda z, lam: -(-lam * _positive_part(z)).expm1(),
    "gamma": lambda z, alpha, beta: 1 - (beta * _positive_part(z)).gamma_upper(alpha, 1),
    "beta": lambda z, alpha, beta: z.beta_lower(alpha, beta, 1),
    "uniform": lambda z, lower, upper: (z - lower) / (upper - lower),
}
_ABOVE: dict[str, Callable] = {
    "normal": lambda z, mu, sigma: _half(_normal(z, mu, sigma)),
    SUM_OF_NORMALS: lambda z, mu, variance: _half(_of_sum(z, mu, variance)),
    "laplace": lambda z, mu, b: _laplace_below(2 * mu - z, mu, b),
    "cauchy": _cauchy_above,
    "exponential": lambda z, lam: (-lam * _positive_part(z)).exp(),
    "gamma": lambda z, alpha, beta: (beta * _positive_part(z)).gamma_upper(alpha, 1),
    "beta": lambda z, alpha, beta: (1 - z).beta_lower(beta, alpha, 1),
    "uniform": lambda z, lower, upper: (upper - z) / (upper - lower),
}
