r"""What the outcomes beside an end of their alphabet add to means, where the kernel is singular.

Let c t^a <= f(y|x) <= C t^A for every secret, and f_Y <= D t^B, for all t in (0, T]: t is the
distance to the end, B > -1 and T <= 1. If A > -1, D t^B may be C t^A. Then, with S and I the
essential supremum and infimum of the kernel over the secrets,

.. math::

    \int f_Y \le \frac{D T^{B+1}}{B+1}, \quad
    \int S \le \frac{C T^{A+1}}{A+1}, \quad
    f_Y \log \frac S{f_Y} \le \frac S{\mathrm{e}}, \quad
    f_Y \log \frac S{f_Y} \le
        D t^B \Bigl((\log C)^+ + (-A)^+ \log \frac1t\Bigr) + \frac1{\mathrm{e}},

    f_Y \log \frac{f_Y}{I} \le D t^B \Bigl(\log \frac Dc + (a - B)^+ \log \frac1t\Bigr), \quad
    \frac{f_Y^2}{I} \le \frac{D^2}{c} t^{2B-a}.

The powers are read off power-scaled enclosures (`order_bounds`; that of f_Y, `marginal_order`,
unless a theorem gives it).
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.germs.interpreter import PowerProgram, ray
from borel.numerics.germs.order_bounds import NOTHING, Ray, of_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.problem.protocols import WithMasses
    from borel.numerics.germs.order_bounds import Orders

_LOST = math.inf, math.inf, math.inf
Order = tuple[float, float]


class EndMeans:
    """Bounds from above, for boxes of outcomes beside an end of their alphabet.

    Parameters
    ----------
    engine : WithMasses
        The joint, of a secret of one coordinate.
    """

    def __init__(self, engine: WithMasses):
        from borel.engine.infinite.proofs import Search

        self.line, secret = engine.line, engine.secret
        self.search = Search(engine)
        known = engine.log_marginal_graph
        self.theorem = None if known is None else PowerProgram(known)
        self.places = [(float(a), float(a)) for a in secret.atoms[:, 0]]
        if secret.continuous:
            self.places += self.search.boxes()
            if not np.isfinite([secret.lower, secret.upper]).all():
                self.places = []  # the boxes are not all of the secrets

    def bounds(self, kind: str, low: float, high: float) -> tuple[float, float, float]:
        """Bound P_Y, and the integrals of the leakage and of its exponential under it, from above.

        Parameters
        ----------
        kind : {"pml", "pmc"}
            Which leakage.
        low, high : float
            The ends of the box; one of them is an end of the alphabet.
        """
        base, sign = (low, 1) if low == self.line.lower else (high, -1)
        reach = math.nextafter(high - low, math.inf)
        if base not in (self.line.lower, self.line.upper) or not reach <= 1 or not self.places:
            return _LOST
        y = Ray(ray(base, 1.0, sign, sign), "", {"base": base, "sign": sign})
        found = [order for a, b in self.places for order in self._orders(y, a, b, reach)]
        top = _all([order.most for order in found], 1, reach)
        level = self._marginal(y, reach)
        tops = [order for order in (top,) if order is not None and order[0] > -1]
        levels = tops + ([] if level is None else [level])
        if not levels:
            return _LOST
        own = min(levels, key=lambda order: _above(partial(_power, 1, order, reach)))
        whole = _above(partial(_power, 1, own, reach))
        if kind == "pml":
            power = _above(partial(_power, 1, tops[0], reach)) if tops else math.inf
            means = [_above(lambda: ball(power) * (-ball(1)).exp())] if tops else []
            if top is not None:
                gap, steeper = ball(max(0.0, top[1])), ball(max(0.0, -top[0]))
                rest = ball(reach) * (-ball(1)).exp()
                means.append(_above(lambda: _in_logs(own, reach, gap, steeper) + rest))
            return whole, min(means, default=math.inf), power
        bottom = _all([order.least for order in found], -1, reach)
        if bottom is None:
            return whole, math.inf, math.inf
        gap = ball(own[1]) - ball(bottom[1])
        steeper = ball(max(0.0, math.nextafter(bottom[0] - own[0], math.inf)))
        mean = _above(lambda: _in_logs(own, reach, gap, steeper))
        square = math.nextafter(2 * own[0] - bottom[0], -math.inf)
        if not square > -1:
            return whole, mean, math.inf
        power = _above(lambda: _power(gap.exp(), (square, own[1]), reach))
        return whole, mean, power

    def _orders(self, y: Ray, a: float, b: float, reach: float) -> list[Orders]:
        """Bound the kernel on a box of secrets, or on the pieces of one at its end."""
        whole = self.search.orders(y, a, b, reach)
        if None not in whole or self.search.marginal is None:
            return [whole]
        known = {end: bound for end, bound in whole._asdict().items() if bound is not None}
        parts = self.search.marginal.apart(a, b, y, reach)
        return [part._replace(**known) for part in parts] or [whole]

    def _marginal(self, y: Ray, reach: float) -> Order | None:
        """Bound f_Y by an order above -1: by a theorem, or boxes of secrets taken apart."""
        if self.theorem is not None:
            order = of_log(self.theorem.run({"y": y.value}, reach), reach).most
            if order is not None and -1 < order[0] < math.inf:
                return order
        marginal = self.search.marginal
        found = None if marginal is None else marginal.at_most(y, reach, -1.0)
        return None if found is None else (found.exponent, found.weight)


def _all(orders: list[Order | None], sign: int, reach: float) -> Order | None:
    """Return one bound e^w t^A that holds where each of them does: from above, or below for -1.

    With t <= T, t^(A_i) is at most T^(A_i - A) t^A for the least A of them.
    """
    known = [order for order in orders if order is not None and order != NOTHING]
    if None in orders or not known:
        return None
    power = min(sign * a for a, _ in known) * sign
    scale = math.log(reach)
    weights = [sign * (w + (a - power) * scale) for a, w in known]
    room = 1e-13 * (1 + max(abs(w) + abs(a * scale) + abs(power * scale) for a, w in known))
    return power, sign * (max(weights) + room)


def _power(factor: Any, order: Order, reach: float) -> Any:
    """Return the integral of a factor times e^w t^A over (0, reach)."""
    rise = ball(order[0]) + 1
    return factor * ball(order[1]).exp() * ball(reach) ** rise / rise


def _in_logs(order: Order, reach: float, gap: Any, steeper: Any) -> Any:
    """Return the integral of e^w t^A (gap + steeper log 1/t) over (0, reach)."""
    slope = ball(order[0]) + 1
    return _power(1, order, reach) * (gap + steeper * (1 / slope - ball(reach).log()))


def _above(formula: Callable[[], Any]) -> float:
    """Bound a formula from above; inf where it is not known."""
    found = enclose(formula)[1]
    return found if found >= 0 else math.inf
