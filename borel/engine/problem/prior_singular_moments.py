r"""Moments of any density beside an end where it has no Taylor series, enclosed through Arb.

With t the distance from the end, the integrals of t^k p over (2^(j-1), 2^j) come from Gauss's rule
with n nodes. If |p| is at most M on the ellipse around that with semi-axes (r + 1/r) / 2 and
(r - 1/r) / 2, in units of half its length, the rule errs by at most

.. math:: \frac{64}{15} \frac{M r^{-2n}}{1 - r^{-2}}

times that half: the coefficients of Chebyshev's polynomials are at most 2 M r^-k, those of degree
below 2n have no error, odd ones none, others at most 32 / 15 (Trefethen, *Approximation Theory and
Approximation Practice*, Theorem 19.3). Pieces on which p is not seen to be analytic are halved.
What is left at the end, (0, 2^-j), has a mass by the slope of log p in log t (`improper_integral`),
and all of its t^k are at most 2^-jk.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

from flint import acb, arb

from borel.numerics.balls.arithmetic import ball, precision
from borel.numerics.balls.expansion import product
from borel.numerics.balls.improper_integral import tail
from borel.numerics.balls.interpreter import Prepared

if TYPE_CHECKING:
    from borel.numerics.balls.integrand import Branch
    from borel.numerics.graphs.graph import Graph

_BITS = 192
_NODES = 28
_RATIO = 4  # r
_CLOSE = -30  # how near to an end p is looked at
_DEEP, _DEEPEST = 64, -400
_LITTLE = 2.0**-70  # of what is known so far, the mass at the end may be left in doubt
_HALVINGS = 60
_PIECES = 400


def singular_ends(graph: Graph, lower: float, upper: float, *, log: bool) -> tuple[float, ...]:
    """Return the finite ends of an interval beside which a density has no Taylor series.

    Parameters
    ----------
    graph : Graph
        The density, a function of ``x``; or its logarithm.
    lower, upper : float
        The interval.
    log : bool
        Whether it is the logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> singular_ends(trace(lambda x: -np.log(x), ("x",), ()), 0.0, 1.0, log=False)
    (0.0,)
    """
    out = []
    with precision(_BITS):
        f = Prepared(product([(graph, log)])).at({"shift": 0})
        for end, sign in ((lower, 1), (upper, -1)):
            if not math.isfinite(end):
                continue
            scale = upper - lower if math.isfinite(upper - lower) else max(1.0, abs(end))
            beside = arb(end) + sign * arb(scale) * arb(2) ** _CLOSE
            branch, undecided = f.branch(f.run(*sorted((arb(end), beside)), slope=False)[0])
            size = abs(beside - end).upper()
            if not undecided and not _bound(branch, acb(arb(end, size), arb(0, size))).is_finite():
                out.append(end)
    return tuple(out)


def _bound(branch: Branch, z: Any) -> Any:
    """Bound a branch on a complex ball, if it is analytic there."""
    branch.error = None
    value = branch(z, True)
    if branch.error is not None:
        raise branch.error
    return abs(value).upper()


class EndMoments:
    """Integrals of powers of the distance from an end, with a density.

    Parameters
    ----------
    graph : Graph
        The density, a function of ``x``; or its logarithm.
    log : bool
        Whether it is the logarithm.
    ends : tuple of float
        The ends of interest.
    """

    def __init__(self, graph: Graph, *, log: bool, ends: tuple[float, ...]):
        self.ends = ends
        with precision(_BITS):
            self.f = Prepared(product([(graph, log)])).at({"shift": 0})
        self._known: dict[tuple[float, int, int], list[Any]] = {}

    def __call__(self, end: float, a: float, b: float, n: int) -> list[Any]:
        """Enclose the integrals of (x - end)^k p over (a, b), k < n, where a or b is that end.

        They are not known, NaN, where the other end is singular too.
        """
        other, sign = (b, 1) if a == end else (a, -1)
        if other in self.ends:
            return [ball(math.nan)] * n
        with precision(_BITS):
            whole = abs(ball(other) - ball(end))
            j = math.frexp(float(whole.lower()))[1] - 1  # 2^j is at most the whole
            parts = self._up_to(end, sign, j, n)
            if whole > arb(2) ** j:
                more = self._piece(end, sign, arb(2) ** j, whole, n)
                parts = [u + v for u, v in zip(parts, more, strict=True)]
            return [v * sign**k for k, v in enumerate(parts)]

    def _up_to(self, end: float, sign: int, j: int, n: int) -> list[Any]:
        """Enclose the integrals of t^k p over (0, 2^j)."""
        if (end, j, n) in self._known:
            return self._known[end, j, n]
        total, k = [arb(0)] * n, j
        while True:
            rest = self._at_end(end, sign, k, n)
            near = k <= j - _DEEP and rest[0].rad() <= total[0].mid() * _LITTLE
            if near or k <= _DEEPEST:
                break
            more = self._piece(end, sign, arb(2) ** (k - 1), arb(2) ** k, n)
            total, k = [u + v for u, v in zip(total, more, strict=True)], k - 1
            if not total[0].is_finite():
                break
        found = [u + v for u, v in zip(total, rest, strict=True)]
        self._known[end, j, n] = found
        return found

    def _at_end(self, end: float, sign: int, j: int, n: int) -> list[Any]:
        """Bound the integrals of t^k p over (0, 2^j) by the mass there."""
        edge = ball(end) + sign * arb(2) ** j
        low, high = tail(self.f, edge, ball(end)) or (arb(0), arb.pos_inf())
        if not (high.is_finite() and high > 0):
            return [arb.nan()] * n
        mass = low.max(arb(0)).union(high)
        return [(arb(0).union(mass) if k else mass) * arb(2) ** (j * k) for k in range(n)]

    def _piece(self, end: float, sign: int, low: Any, high: Any, n: int) -> list[Any]:
        """Enclose the integrals of t^k p over (low, high)."""
        total, todo, left = [arb(0)] * n, [(low, high)], _PIECES
        while todo:
            a, b = todo.pop()
            found = self._by_rule(end, sign, a, b, n)
            if found is not None:
                total = [u + v for u, v in zip(total, found, strict=True)]
                continue
            middle, left = (a + b) / 2, left - 1
            if left < 0 or b - a < (high - low) * arb(2) ** -_HALVINGS:
                return [arb.nan()] * n
            todo += [(a, middle), (middle, b)]
        return total

    def _by_rule(self, end: float, sign: int, a: Any, b: Any, n: int) -> list[Any] | None:
        """Enclose them by Gauss's rule; None where p is not seen to be analytic."""
        start = ball(end)
        v, _ = self.f.run(*sorted((start + sign * a, start + sign * b)), slope=False)
        branch, undecided = self.f.branch(v)
        if undecided:
            return None
        half, middle = (b - a) / 2, (a + b) / 2
        across, up = ((_RATIO + s / arb(_RATIO)) / 2 * half for s in (1, -1))
        ellipse = acb(middle + arb(0, across), arb(0, up))
        most = _bound(branch, start + sign * ellipse)
        if not most.is_finite():
            return None
        error = arb(64) / 15 * most * half * arb(_RATIO) ** (-2 * _NODES) / (1 - arb(_RATIO) ** -2)
        reach = abs(ellipse).upper()
        out = [arb(0, (error * reach**k).upper()) for k in range(n)]
        for x, weight in _rule():
            t = middle + half * x
            term = weight * half * branch.real(start + sign * t)
            for k in range(n):
                out[k] += term
                term *= t
        return out


@cache
def _rule() -> list[tuple[Any, Any]]:
    """Return the nodes and the weights of Gauss's rule."""
    with precision(_BITS):
        return [arb.legendre_p_root(_NODES, k, weight=True) for k in range(_NODES)]
