"""The operations on functions of t that are enclosed for all t in (0, t0] at once.

Powers of t add by their least exponent, since t**(b - a) lies in [0, t0**(b - a)] for b >= a:
this one inequality is what makes a statement about all t out of one about intervals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flint import arb

from borel.numerics.balls.arithmetic import precision
from borel.numerics.germs.values import (
    BITS,
    FAST,
    INF,
    NAUGHT,
    ONE,
    SHARE,
    ZERO,
    Ends,
    Log,
    Power,
    Pure,
    Real,
    absolute,
    box,
    chord,
    constant,
    exponential,
    hull,
    logarithm,
    minus,
    outer,
    over,
    plus,
    times,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_ZERO, _ONE = NAUGHT[0], SHARE[1]
_HALF = (arb(0.5), arb(0.5))


class Rules:
    """The operations on values, for all t in (0, t0].

    Parameters
    ----------
    t0 : float
        Inside (0, 1).
    almost : bool
        Whether statements are about almost all slacks; if not, about every one.
    """

    def __init__(self, t0: float, *, almost: bool = False):
        self.almost = almost
        if not 0 < t0 < 1:
            raise ValueError(f"t0 must be inside (0, 1), not {t0}")
        with precision(BITS):
            self._log_t0 = arb(float(t0)).log()

    def span(self, a: Ends) -> Ends:
        """Enclose t**a: it runs from t0**a to 0 or to infinity."""
        low = (a[1] * self._log_t0).exp() if a[1] <= 0 else _ZERO
        high = (a[0] * self._log_t0).exp() if a[0] >= 0 else INF
        return outer(low, high)

    def range(self, v: Real) -> Ends:
        """Enclose the values for all t."""
        if isinstance(v, Log):
            return plus(times(v.a, (-INF, self._log_t0.upper())), v.w)
        return plus((v.base, v.base), times(self.span(v.a), v.w))

    def signs(self, v: Real) -> Ends:
        """Return an interval whose ends have the signs that the value can have."""
        return v.w if isinstance(v, Power) and v.base == 0 else self.range(v)

    def _folded(self, v: Power) -> Pure:
        """Return the exponent and w of a value with its base taken into w."""
        return (v.a, v.w) if v.base == 0 and not v.constant else (NAUGHT, self.range(v))

    def _power(self, base: Any, pure: Pure) -> Power:
        a, w = pure
        if w == NAUGHT:
            return constant(base)
        if base != 0 and not a[0] > 0:
            a, w = self._sum((NAUGHT, (base, base)), pure)
            base = _ZERO
        return Power(base, a, w)

    def _common(self, p: Pure, q: Pure) -> tuple[Ends, Ends, Ends]:
        """Write two powers of t with one exponent, the smaller one."""
        (a, u), (b, v) = p, q
        if u == NAUGHT or v == NAUGHT:
            return (b if u == NAUGHT else a), u, v
        gap = plus(b, minus(a))
        if gap[0] >= 0:  # t**b = t**a t**(b - a), and t < 1
            return a, u, times(v, self.span(gap))
        if gap[1] <= 0:
            return b, times(u, self.span(minus(gap))), v
        return _least(a, b), times(u, SHARE), times(v, SHARE)

    # -- sums ------------------------------------------------------------------------------------

    def _sum(self, p: Pure, q: Pure) -> Pure:
        least, x, y = self._common(p, q)
        if least is p[0] or least is q[0]:
            return least, plus(x, y)
        # the order is open, but one of the two does have the least exponent
        return least, hull(plus(p[1], y), plus(x, q[1]))

    def add(self, u: Real, v: Real) -> Real:
        """Enclose a sum; bases that cancel do so exactly."""
        if isinstance(u, Log) and isinstance(v, Log):
            return self._log(plus(u.a, v.a), plus(u.w, v.w))
        if isinstance(u, Log):
            return self._log_plus(u, v)  # type: ignore[arg-type]
        if isinstance(v, Log):
            return self._log_plus(v, u)
        base = u.base + v.base
        if base.is_exact():
            return self._power(base, self._sum((u.a, u.w), (v.a, v.w)))
        return self._power(_ZERO, self._sum(self._folded(u), self._folded(v)))

    def _log(self, a: Ends, w: Ends) -> Real:
        return box(w) if a == NAUGHT else Log(a, w)

    def _log_plus(self, u: Log, v: Power) -> Real:
        if v.base != 0 or v.constant or v.a[0] >= 0:
            return self._log(u.a, plus(u.w, self.range(v)))
        if not v.a[1] < 0:
            return box(plus(self.range(u), self.range(v)))
        return self._power(_ZERO, (v.a, plus(v.w, self._times_power(u, minus(v.a)))))

    def _times_power(self, u: Log, c: Ends) -> Ends:
        """Enclose t**c times a Log, for c > 0."""
        damped = minus((_ZERO, self.log_bound(c[0])))
        return plus(times(u.a, damped), times(u.w, self.span(c)))

    def log_bound(self, c: Any) -> Any:
        """Bound t**c |log t|, which grows until log t = -1/c and is 1/(e c) there."""
        inside = self._log_t0 * c <= -1
        bound = -self._log_t0 * (c * self._log_t0).exp() if inside else (-_ONE).exp() / c
        return bound.upper()

    def negative(self, v: Real) -> Real:
        """Enclose -v."""
        if isinstance(v, Log):
            return Log(minus(v.a), minus(v.w))
        return Power(-v.base, v.a, minus(v.w), v.still)

    def subtract(self, u: Real, v: Real) -> Real:
        """Enclose u - v."""
        return self.add(u, self.negative(v))

    # -- products --------------------------------------------------------------------------------

    @staticmethod
    def _product(p: Pure, q: Pure) -> Pure:
        return plus(p[0], q[0]), times(p[1], q[1])

    def multiply(self, u: Real, v: Real) -> Real:
        """Enclose a product."""
        if isinstance(u, Log) and isinstance(v, Log):
            return box(times(self.range(u), self.range(v)))
        if isinstance(u, Log):
            return self._log_times(u, v)  # type: ignore[arg-type]
        if isinstance(v, Log):
            return self._log_times(v, u)
        base = u.base * v.base
        if base == 0 or not base.is_exact():
            return self._power(_ZERO, self._product(self._folded(u), self._folded(v)))
        cross = self._sum((u.a, times(u.w, (v.base, v.base))), (v.a, times(v.w, (u.base, u.base))))
        return self._power(base, self._sum(cross, self._product((u.a, u.w), (v.a, v.w))))

    def _log_times(self, u: Log, v: Power) -> Real:
        if v.still:
            factor = self.range(v)
            return self._log(times(u.a, factor), times(u.w, factor))
        if v.base != 0:
            rest = self._log_times(u, Power(_ZERO, v.a, v.w))
            return self.add(self._log_times(u, constant(v.base)), rest)
        if v.a[0] > 0:  # t**a log t vanishes like t**(a - c), whatever c > 0
            c = min((v.a[0] / 2).lower(), arb(0.125))
            damped = self._times_power(u, (c, c))
            return self._power(_ZERO, (plus(v.a, (-c, -c)), times(v.w, damped)))
        return self._power(_ZERO, (v.a, times(v.w, self.range(u))))

    def reciprocal(self, v: Real) -> Real:
        """Enclose 1 / v."""
        if isinstance(v, Log):
            return box(over(self.range(v)))
        if v.base == 0:
            return Power(_ZERO, minus(v.a), over(v.w), v.still)
        inverse, base = over(self.range(v)), 1 / v.base
        if not base.is_exact():
            return box(inverse, still=v.still)
        # 1 / (b + z) = 1 / b - z / (b (b + z))
        change = times(v.w, minus(times(inverse, (base, base))))
        return self._power(base, (v.a, change))

    def divide(self, u: Real, v: Real) -> Real:
        """Enclose u / v; by a number, exactly if that can be."""
        if isinstance(u, Power) and isinstance(v, Power) and v.constant:
            scale, base = over((v.base, v.base)), u.base / v.base
            if base.is_exact():
                return self._power(base, (u.a, times(u.w, scale)))
        return self.multiply(u, self.reciprocal(v))

    def square(self, v: Real) -> Real:
        """Enclose v**2."""
        size = absolute(self.range(v)) if isinstance(v, Log) else absolute(v.w)
        if isinstance(v, Log):
            return box(times(size, size))
        if v.base == 0:
            return self._power(_ZERO, (plus(v.a, v.a), times(size, size)))
        base = v.base * v.base
        if not base.is_exact():
            size = absolute(self.range(v))
            return box(times(size, size))
        # (b + z)**2 = b**2 + z (2 b + z)
        twice = plus((2 * v.base, 2 * v.base), times(v.w, self.span(v.a)))
        return self._power(base, (v.a, times(v.w, twice)))

    def whole(self, v: Real, n: int) -> Real:
        """Enclose v**n for n >= 1 by squares and products."""
        if n == 1:
            return v
        half = self.whole(self.square(v), n // 2)
        return self.multiply(half, v) if n % 2 else half

    def raised(self, v: Real, p: Ends) -> Real:
        """Enclose v**p for v >= 0 and one real p in an interval."""
        if isinstance(v, Power) and v.constant and v.base > 0 and p == _HALF:
            root = v.base.sqrt()
            return box(outer(root, root), still=True)
        if isinstance(v, Power) and v.constant and v.base == 0 and p[0] > 0:
            return ZERO
        if isinstance(v, Power) and v.base == 0 and not v.constant:
            if v.w[0] > 0:
                return self._power(_ZERO, (times(v.a, p), exponential(times(p, logarithm(v.w)))))
            if v.w[0] >= 0 and p[0] > 0:
                high = exponential(times(p, logarithm((v.w[1], v.w[1]))))[1]
                return self._power(_ZERO, (times(v.a, p), (_ZERO, high)))
        return self.exp(self.multiply(box(p, still=True), self.log(v)))

    # -- exponentials and logarithms --------------------------------------------------------------

    def exp(self, v: Real) -> Real:
        """Enclose e**v."""
        if isinstance(v, Log):
            return self._power(_ZERO, (v.a, exponential(v.w)))
        if v.base == 0 and not v.constant:
            if v.a[0] > 0:  # z times a slope of exp's chords, which rises with z
                z = hull(NAUGHT, self.range(v))
                slopes = outer(chord(arb.expm1, z[0], _ZERO), chord(arb.expm1, z[1], INF))
                return self._power(_ONE, (v.a, times(v.w, slopes)))
            if v.a[1] < 0 and v.w[1] < 0:
                return self._power(_ZERO, ((FAST, FAST), (_ZERO, self._decay(v.a[1], -v.w[1]))))
            if v.a[1] < 0 and v.w[0] > 0:
                least = (1 / self._decay(v.a[1], v.w[0])).lower()
                return self._power(_ZERO, ((-FAST, -FAST), (least, INF)))
        if v.constant and v.base == 0:
            return ONE
        return box(exponential(self.range(v)), still=v.still)

    def _decay(self, a: Any, c: Any) -> Any:
        """Bound exp(-c t**a) / t**FAST for a < 0 < c.

        With b = -a its logarithm, -c t**-b - N log t, grows while t**b < b c / N: the bound is
        its value at t0, or at the peak.
        """
        b, log_t0 = -a, self._log_t0
        pull = c * (-b * log_t0).exp()
        if b * pull >= FAST:
            return (-pull - FAST * log_t0).exp().upper()
        ratio = FAST / b
        return (ratio * ((ratio / c).log() - 1)).exp().upper()

    def log(self, v: Real) -> Real:
        """Enclose log v for v > 0; for almost all slacks also where v may be 0, from above."""
        if isinstance(v, Power) and v.base == 0:
            if self.almost and v.w[0] == 0 < v.w[1]:
                return self._log(v.a, (-INF, logarithm((v.w[1], v.w[1]))[1]))
            return self._log(v.a, logarithm(v.w))
        inside = logarithm(self.range(v))
        if isinstance(v, Power) and v.base == 1:
            z = hull(NAUGHT, times(self.span(v.a), v.w))
            if z[0] > -1:  # z times a slope of log1p's chords, which falls with z
                slopes = outer(chord(arb.log1p, z[1], _ZERO), chord(arb.log1p, z[0], INF))
                return self._power(_ZERO, (v.a, times(v.w, slopes)))
        return box(inside, still=isinstance(v, Power) and v.still)

    def logaddexp(self, u: Real, v: Real) -> Real:
        """Enclose log(e**u + e**v)."""
        if all(isinstance(p, Log) or p.base != 0 or p.a[0] >= 0 for p in (u, v)):
            return self.log(self.add(self.exp(u), self.exp(v)))
        gap = self.subtract(u, v)
        low, high = self.signs(gap)
        if low < 0 < high:
            two = logarithm((arb(2), arb(2)))
            return self.add(self.maximum(u, v), box(times(SHARE, two)))
        top, gap = (u, gap) if low >= 0 else (v, self.negative(gap))
        return self.add(top, self.log(self.add(ONE, self.exp(self.negative(gap)))))

    # -- order ------------------------------------------------------------------------------------

    def absolute(self, v: Real) -> Real:
        """Enclose |v|."""
        low, high = self.signs(v)
        if low >= 0:
            return v
        if high <= 0:
            return self.negative(v)
        if isinstance(v, Power) and v.base == 0:
            return Power(_ZERO, v.a, absolute(v.w), v.still)
        return box(absolute(self.range(v)))

    def joined(self, u: Real, v: Real, choose: Callable[[Ends, Ends], Ends] = hull) -> Real:
        """Enclose a function that is u at some t and v at others."""
        if u is v:
            return u
        if isinstance(u, Power) and isinstance(v, Power):
            if u.base == v.base:
                least, x, y = self._common((u.a, u.w), (v.a, v.w))
                return self._power(u.base, (least, choose(x, y)))
            least, x, y = self._common(self._folded(u), self._folded(v))
            return self._power(_ZERO, (least, choose(x, y)))
        if isinstance(u, Log) and isinstance(v, Log) and u.a == v.a and u.a[0] == u.a[1]:
            return Log(u.a, choose(u.w, v.w))
        return box(choose(self.range(u), self.range(v)))

    def maximum(self, u: Real, v: Real) -> Real:
        """Enclose the larger one."""
        low, high = self.signs(self.subtract(u, v))
        if low >= 0 or high <= 0:
            return u if low >= 0 else v
        return self.joined(u, v, lambda p, q: (max(p[0], q[0]), max(p[1], q[1])))

    def minimum(self, u: Real, v: Real) -> Real:
        """Enclose the smaller one."""
        return self.negative(self.maximum(self.negative(u), self.negative(v)))


def _least(a: Ends, b: Ends) -> Ends:
    """Enclose the smaller one of two numbers."""
    return min(a[0], b[0]), min(a[1], b[1])
