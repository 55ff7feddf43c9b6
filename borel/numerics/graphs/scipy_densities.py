"""SciPy's distributions by name: their log-densities, written so that graphs can be traced of them.

A continuous law is given at z = (y - loc) / scale, a discrete one at k = y - loc. Shapes, ``loc``
and ``scale`` are always traced values, numbers too, so that ``log(scale)`` is an operation of the
graph and not a rounded number. Where a product with a logarithm is 0 times infinity it counts 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from borel.numerics.graphs.trace import lifted

_LOG_2PI = math.log(2 * math.pi)
"""log(2 pi), the one number that is rounded here; the same as in `borel.probability.families`."""


@dataclass(frozen=True)
class Law:
    """A log-density, where it is finite, and for which parameters it is one.

    Attributes
    ----------
    log : callable
        Of z, the scale and the shapes; of k and the shapes if the law is discrete.
    low, high : float or callable
        Ends of the support before shift and scale, or functions of the shapes that give them.
    valid : callable
        Conditions on the shapes; that the scale is positive is not among them.
    open : bool
        Whether the density is 0 at the lower end too.
    integers : tuple of int
        Which shapes must be integers.
    """

    log: Callable[..., Any]
    low: Any = -math.inf
    high: Any = math.inf
    valid: Callable[..., tuple] = lambda *shapes: ()
    open: bool = False
    integers: tuple[int, ...] = ()


def number(value: Any) -> float | None:
    """Return the number that a traced value is, if it is a constant."""
    sign, (op, args) = 1.0, value._graph.nodes[value._index]
    while op == "negative":
        sign, (op, args) = -sign, value._graph.nodes[args[0]]
    return sign * args[0] if op == "const" else None


def _constant(value: float, like: Any) -> Any:
    """Return a number as a traced value beside another."""
    return lifted(like._graph, value, "a formula")


def _xlogy(a: Any, b: Any) -> Any:
    known = number(b)
    product = a * np.log(b)
    return product if known is not None and known > 0 else np.where(a == 0, 0.0, product)


def _xlog1py(a: Any, b: Any) -> Any:
    known = number(b)
    product = a * np.log1p(b)
    return product if known is not None and known > -1 else np.where(a == 0, 0.0, product)


def _positive(*shapes: Any) -> tuple:
    return tuple(a > 0 for a in shapes)


# -- continuous ----------------------------------------------------------------------------------


def _beta(z: Any, scale: Any, a: Any, b: Any) -> Any:
    kernel = _xlogy(a - 1, z) + _xlog1py(b - 1, -z)
    return kernel - special.betaln(a, b) - np.log(scale)


def _gamma(z: Any, scale: Any, a: Any) -> Any:
    return _xlogy(a - 1, z) - z - special.gammaln(a) - np.log(scale)


def _chi2(z: Any, scale: Any, df: Any) -> Any:
    return _gamma(z / 2, 2 * scale, df / 2)


def _t(z: Any, scale: Any, df: Any) -> Any:
    constant = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(df * np.pi) / 2
    return constant - (df + 1) / 2 * np.log1p(z**2 / df) - np.log(scale)


def _lognorm(z: Any, scale: Any, s: Any) -> Any:
    return -((np.log(z) / s) ** 2) / 2 - np.log(z) - np.log(s) - np.log(scale) - _LOG_2PI / 2


def _logistic(z: Any, scale: Any) -> Any:
    size = np.abs(z)
    return -size - 2 * np.log1p(np.exp(-size)) - np.log(scale)


def _weibull_min(z: Any, scale: Any, c: Any) -> Any:
    # intervals know no power of a number that may be negative, as z is outside the support
    return np.log(c) + _xlogy(c - 1, z) - np.maximum(z, 0) ** c - np.log(scale)


def _invgamma(z: Any, scale: Any, a: Any) -> Any:
    return -(a + 1) * np.log(z) - special.gammaln(a) - 1 / z - np.log(scale)


def _truncnorm(z: Any, scale: Any, a: Any, b: Any) -> Any:
    return -(z**2) / 2 - _LOG_2PI / 2 - log_normal_mass(a, b) - np.log(scale)


def log_normal_mass(a: Any, b: Any) -> Any:
    """Return log P(a < Z < b) for a standard normal Z, from the nearer tail."""
    if number(a) == -math.inf and number(b) == math.inf:
        return _constant(0.0, a)
    if number(a) == -math.inf:
        a, b = -b, _constant(math.inf, a)
    root = np.sqrt(_constant(2.0, a))
    u, v = a / root, b / root
    if number(b) == math.inf:
        right = np.log(special.erfcx(u) / 2) - u**2
        return np.where(a > 0, right, np.log1p(-special.erfc(-u) / 2))

    def tail(u: Any, v: Any) -> Any:
        """Return the logarithm for 0 <= u < v, where both tails are small."""
        ratio = np.exp((u - v) * (u + v))
        return np.log((special.erfcx(u) - ratio * special.erfcx(v)) / 2) - u**2

    middle = np.log1p(-(special.erfc(-u) + special.erfc(v)) / 2)
    return np.where(a > 0, tail(u, v), np.where(b < 0, tail(-v, -u), middle))


CONTINUOUS: dict[str, Law] = {
    "norm": Law(lambda z, scale: -(z**2) / 2 - np.log(scale) - _LOG_2PI / 2),
    "laplace": Law(lambda z, scale: -np.abs(z) - np.log(2 * scale)),
    "cauchy": Law(lambda z, scale: -np.log(np.pi * scale) - np.log1p(z**2)),
    "logistic": Law(_logistic),
    "gumbel_r": Law(lambda z, scale: -z - np.exp(-z) - np.log(scale)),
    "gumbel_l": Law(lambda z, scale: z - np.exp(z) - np.log(scale)),
    "t": Law(_t, valid=_positive),
    "uniform": Law(lambda z, scale: -np.log(scale), 0, 1),
    "beta": Law(_beta, 0, 1, _positive),
    "gamma": Law(_gamma, 0, valid=_positive),
    "chi2": Law(_chi2, 0, valid=_positive),
    "expon": Law(lambda z, scale: -z - np.log(scale), 0),
    "rayleigh": Law(lambda z, scale: np.log(z) - z**2 / 2 - np.log(scale), 0),
    "halfnorm": Law(lambda z, scale: -(z**2) / 2 - np.log(scale / 2) - _LOG_2PI / 2, 0),
    "halfcauchy": Law(lambda z, scale: -np.log(np.pi * scale / 2) - np.log1p(z**2), 0),
    "weibull_min": Law(_weibull_min, 0, valid=_positive),
    "lognorm": Law(_lognorm, 0, valid=_positive, open=True),
    "invgamma": Law(_invgamma, 0, valid=_positive, open=True),
    "pareto": Law(lambda z, scale, b: np.log(b / scale) - (b + 1) * np.log(z), 1, valid=_positive),
    "truncnorm": Law(_truncnorm, lambda a, b: a, lambda a, b: b, lambda a, b: (a < b,)),
}


# -- discrete ------------------------------------------------------------------------------------


def _binom(k: Any, n: Any, p: Any) -> Any:
    # the rest is kept >= 0 where the probability is 0: the gamma function has poles below
    rest = np.maximum(n - k, 0)
    ways = (
        special.gammaln(n + 1) - special.gammaln(np.maximum(k, 0) + 1) - special.gammaln(rest + 1)
    )
    return ways + _xlogy(k, p) + _xlog1py(n - k, -p)


def _poisson(k: Any, mu: Any) -> Any:
    return _xlogy(k, mu) - mu - special.gammaln(np.maximum(k, 0) + 1)


def _nbinom(k: Any, n: Any, p: Any) -> Any:
    count = np.maximum(k, 0)
    ways = special.gammaln(count + n) - special.gammaln(count + 1) - special.gammaln(n)
    return ways + n * np.log(p) + _xlog1py(k, -p)


def _dlaplace(k: Any, a: Any) -> Any:
    """Return log(tanh(a / 2)) - a |k|."""
    return np.log(-np.expm1(-a)) - np.log1p(np.exp(-a)) - a * np.abs(k)


def _proper(p: Any) -> tuple:
    return p > 0, p <= 1


DISCRETE: dict[str, Law] = {
    "bernoulli": Law(
        lambda k, p: np.where(k > 0, np.log(p), np.log1p(-p)), 0, 1, lambda p: (p >= 0, p <= 1)
    ),
    "binom": Law(_binom, 0, lambda n, p: n, lambda n, p: (n >= 0, p >= 0, p <= 1), integers=(0,)),
    "poisson": Law(_poisson, 0, valid=lambda mu: (mu >= 0,)),
    "geom": Law(lambda k, p: _xlog1py(k - 1, -p) + np.log(p), 1, valid=_proper),
    "nbinom": Law(_nbinom, 0, valid=lambda n, p: (n > 0, *_proper(p))),
    "randint": Law(
        lambda k, low, high: -np.log(high - low),
        lambda low, high: low,
        lambda low, high: high - 1,
        lambda low, high: (low < high,),
        integers=(0, 1),
    ),
    "dlaplace": Law(_dlaplace, valid=_positive),
    "planck": Law(lambda k, lam: np.log(-np.expm1(-lam)) - lam * k, 0, valid=_positive),
}
