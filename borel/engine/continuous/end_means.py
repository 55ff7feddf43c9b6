r"""What the outcomes beside an end of their alphabet add to means, where the kernel is singular.

Let c t^a <= f(y|x) <= C t^A for every secret and all t in (0, T], t the distance to the end, A > -1
and T <= 1. Then, with I the essential infimum of the kernel over the secrets,

.. math::

    \int f_Y \le \int \sup_x f \le \frac{C T^{A+1}}{A+1}, \quad
    f_Y \log \frac{\sup_x f}{f_Y} \le \frac{\sup_x f}{\mathrm{e}}, \quad
    f_Y \log \frac{f_Y}{I} \le C t^A \Bigl(\log \frac Cc + (a - A)^+ \log \frac1t\Bigr), \quad
    \frac{f_Y^2}{I} \le \frac{C^2}{c} t^{2A-a}.

The powers are read off power-scaled enclosures (`orders`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.balls.arb import ball, enclose
from borel.engine.infinities.orders import NOTHING, Ray
from borel.engine.infinities.power import ray

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.continuous.certified_laws import CertifiedOutcomes

_LOST = math.inf, math.inf, math.inf
Order = tuple[float, float]


class EndMeans:
    """Bounds from above, for boxes of outcomes beside an end of their alphabet.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint, of a secret of one coordinate.
    """

    def __init__(self, engine: CertifiedOutcomes):
        from borel.engine.infinities.infinity import Search

        self.line, secret = engine.line, engine.secret
        self.search = Search(engine, certify=False)
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
        found = [self.search.orders(y, a, b, reach) for a, b in self.places]
        top = _all([order.most for order in found], 1, reach)
        if top is None or not top[0] > -1:
            return _LOST
        whole = _above(partial(_power, 1, top, reach))
        if kind == "pml":
            return whole, _above(lambda: ball(whole) * (-ball(1)).exp()), whole
        bottom = _all([order.least for order in found], -1, reach)
        if bottom is None:
            return whole, math.inf, math.inf
        gap = ball(top[1]) - ball(bottom[1])
        steeper = ball(max(0.0, math.nextafter(bottom[0] - top[0], math.inf)))

        def mean() -> Any:
            slope = ball(top[0]) + 1
            return _power(1, top, reach) * (gap + steeper * (1 / slope - ball(reach).log()))

        square = math.nextafter(2 * top[0] - bottom[0], -math.inf)
        if not square > -1:
            return whole, _above(mean), math.inf
        power = _above(lambda: _power(gap.exp(), (square, top[1]), reach))
        return whole, _above(mean), power


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


def _above(formula: Callable[[], Any]) -> float:
    """Bound a formula from above; inf where it is not known."""
    found = enclose(formula)[1]
    return found if found >= 0 else math.inf
