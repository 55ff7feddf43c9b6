r"""Moments of priors over a piece of the line, enclosed through Arb.

With t from -1 to 1 along a piece (a, b), the moments are :math:`\int_a^b t^k p(x) dx`. A beta's
come from :math:`x^k p_{\alpha,\beta} = (\alpha)_k / (\alpha + \beta)_k p_{\alpha+k,\beta}` and its
distribution function, a gamma's from :math:`x^k p_\alpha = (\alpha)_k \beta^{-k} p_{\alpha+k}`. So
an integral against the prior is found beside an end where its density has no Taylor series.
Moments of other densities come from their graphs (`prior_singular_moments`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.problem.prior_singular_moments import EndMoments, singular_ends
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import ball, ends, precision

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.measure import Measure

_BITS = 128


class Moments(NamedTuple):
    """Moments of a prior beside the ends of its support.

    Attributes
    ----------
    ends : tuple of float
        The ends beside which they are needed.
    about : callable
        ``(end, a, b, n)``: balls of the integrals of (x - end)^k p over (a, b), k < n.
    """

    ends: tuple[float, ...]
    about: Callable[[float, float, float, int], list[Any]]

    def along(self, end: float, a: float, b: float, n: int) -> np.ndarray:
        """Enclose the moments of (2 x - a - b) / (b - a) over (a, b), as floats (2, n)."""
        # a piece far narrower than its distance from the end loses bits in the differences
        lost = 8 * n * max(1, math.ceil(math.log2(1 + max(abs(a - end), abs(b - end)) / (b - a))))
        with precision(_BITS + lost):
            half = (ball(b) - ball(a)) / 2
            scale, centre = 1 / half, (ball(end) - (ball(a) + ball(b)) / 2) / half
            of_end = self.about(end, a, b, n)
            out = []
            for k in range(n):
                terms = (
                    math.comb(k, i) * centre ** (k - i) * scale**i * of_end[i] for i in range(k + 1)
                )
                out.append(ends(sum(terms, ball(0))))
        return np.array(out).T


def moments_of(prior: Measure) -> Moments | None:
    """Return the moments of a prior on a line that is singular at an end, else None.

    Those of a beta and of a gamma have a formula; others come from the graph of the density.

    Examples
    --------
    >>> import borel as bl
    >>> low, high = moments_of(bl.beta(alpha=0.5, beta=0.5)).along(0.0, 0.0, 1.0, 3)
    >>> bool(low[2] <= 0.5 <= high[2]) and float(high[2] - low[2]) < 1e-15
    True
    """
    name, values = prior.family or ("", {})
    if name == "beta":
        return Moments((0.0, 1.0), _beta(**values))
    if name == "gamma":
        return Moments((0.0,), _gamma(**values))
    line: Any = getattr(prior.on, "interval", prior.on)
    density = prior.density
    if line.kind != "continuous" or density is None or density.graph is None:
        return None
    if not {*density.graph.inputs} <= {"x"}:
        return None
    graph, log = density.simplified(), density.log
    try:
        ends_ = singular_ends(graph, line.lower, line.upper, log=log)
    except NotEnclosed:  # an operation that is not there in Arb
        return None
    return Moments(ends_, EndMoments(graph, log=log, ends=ends_)) if ends_ else None


def _beta(alpha: Any, beta: Any) -> Callable[[float, float, float, int], list[Any]]:
    def about(end: float, a: float, b: float, n: int) -> list[Any]:
        p, q, low, high = ball(alpha), ball(beta), ball(a), ball(b)
        if end == 1:  # 1 - X is a beta too
            p, q, low, high = q, p, 1 - high, 1 - low
        out, factor = [], ball(1)
        for k in range(n):
            share = high.beta_lower(p + k, q, 1) - low.beta_lower(p + k, q, 1)
            out.append(factor * share * (-1) ** (k if end == 1 else 0))
            factor *= (p + k) / (p + q + k)
        return out

    return about


def _gamma(alpha: Any, beta: Any) -> Callable[[float, float, float, int], list[Any]]:
    def about(_: float, a: float, b: float, n: int) -> list[Any]:
        p, rate = ball(alpha), ball(beta)
        out, factor = [], ball(1)
        for k in range(n):
            share = (rate * a).gamma_lower(p + k, 1) - (rate * b).gamma_lower(p + k, 1)
            out.append(factor * -share)
            factor *= (p + k) / rate
        return out

    return about
