"""Taylor models: a function on a box, or towards an end or infinity, with a bound on what is left.

A coordinate of a box runs as s or u in [-1, 1]. Towards an end of an alphabet, or to infinity, a
coordinate runs as a power of t in (0, 1]; at most one does at a time (a *germ*). A `Model` says

    value = sum over (e, k) of t^e (log t)^k P(s, u)  +  t^a r,   r in a ball that may vary,
    low <= value <= high,

at almost every point of the box, with polynomials P whose coefficients are numbers that do not
vary, known by balls. Without a germ there is only t^0. Values are real numbers at almost every
point; what may not be is `Refused`, with one exception: the logarithm of a density may be -infinity
where the density is 0, and then ``real`` is False.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import factorial
from typing import TYPE_CHECKING, Any

from flint import arb, arb_series, ctx

from borel.checker.polynomials import (
    INFINITY,
    NOTHING,
    ONE,
    ZERO,
    Polynomial,
    S,
    least,
    most,
)
from borel.checker.polynomials import number as polynomial
from borel.checker.reading import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONSTANT = (0, 0)
"""The key of what does not depend on t: t^0 (log t)^0."""
_HALF = arb(0, 1)
"""The ball [-1, 1]."""


_PRODUCTS, _POWERS = 10**8, 256
"""Products that a verification may take; powers of t, and of log t, that a model may have."""


class _Setting:
    degree = 8
    everywhere = False
    left = 0


@contextmanager
def working(bits: int, degree: int) -> Iterator[None]:
    """Work with balls of so many bits and polynomials of so high a degree."""
    before, cap = (_Setting.degree, _Setting.left), ctx.cap
    _Setting.degree, _Setting.left = degree, _PRODUCTS
    ctx.cap = degree + 2  # flint cuts series off there
    try:
        with ctx.workprec(bits):
            yield
    finally:
        (_Setting.degree, _Setting.left), ctx.cap = before, cap


@contextmanager
def everywhere() -> Iterator[None]:
    """Let models hold at every point: no comparison is decided almost everywhere only."""
    before, _Setting.everywhere = _Setting.everywhere, True
    try:
        yield
    finally:
        _Setting.everywhere = before


def _decreasing(power: Any, logs: int) -> arb:
    """Bound t^power |log t|^logs on (0, 1], for power > 0: it is largest at e^(-logs / power)."""
    return (logs / (arb(1).exp() * number(power))) ** logs if logs else ONE


def number(value: Any) -> arb:
    """Return an int, a Fraction or a float as a ball."""
    return arb(value.numerator) / value.denominator if hasattr(value, "numerator") else arb(value)


class Model:
    """A function of the coordinates; see the file.

    Parameters
    ----------
    terms : dict {(e, k): Polynomial}
        What is multiplied by t^e (log t)^k.
    rest : (a, ball)
        What is left, t^a times a number in the ball at each point.
    low, high : arb
        Bounds of the values that are known beside this.
    real : bool
        False for the logarithm of a density that may be 0 on a set of positive measure.
    """

    __slots__ = ("_ends", "_folded", "_known", "real", "rest", "terms")

    def __init__(
        self,
        terms: dict[tuple, Polynomial],
        rest: tuple[Any, arb] = (0, ZERO),
        low: arb = -INFINITY,
        high: arb = INFINITY,
        *,
        real: bool = True,
    ):
        self.terms = {key: p for key, p in terms.items() if p.rows}
        self.rest, self.real, self._known = rest, real, (low, high)
        self._folded = self._ends = None

    @property
    def low(self) -> arb:
        """A lower bound of the values."""
        return self.ends()[0]

    @property
    def high(self) -> arb:
        """An upper bound of the values."""
        return self.ends()[1]

    def ends(self) -> tuple[arb, arb]:
        """Return bounds of the values: those that are known, or those of the terms."""
        if self._ends is None:
            power, low, high = self.folded()
            if power > 0:
                low, high = least(low, ZERO), most(high, ZERO)
            elif power < 0:
                low = low if low >= 0 else -INFINITY
                high = high if high <= 0 else INFINITY
            known = self._known
            low = _tighter(known[0], low, -INFINITY, most)
            self._ends = low, _tighter(known[1], high, INFINITY, least)
        return self._ends

    def folded(self) -> tuple[Any, arb, arb]:
        """Return (a, low, high): the value is t^a times a number in [low, high] at each point."""
        if self._folded is None:
            powers = [e for e, _ in self.terms]
            powers += [] if self.rest[1].is_zero() else [self.rest[0]]
            power = min(powers, default=0)
            low = high = ZERO
            for (e, logs), p in self.terms.items():
                p_low, p_high = p.range()
                if e == power and logs:  # (log t)^k alone has no bound
                    p_low, p_high = -INFINITY, INFINITY
                elif e > power:
                    factor = _decreasing(e - power, logs)
                    factor *= (-1) ** logs
                    products = p_low * factor, p_high * factor
                    p_low, p_high = least(*products, ZERO), most(*products, ZERO)
                low, high = low + p_low.lower(), high + p_high.upper()
            rest = self.rest[1]
            if self.rest[0] > power:
                rest = rest.union(ZERO)
            low, high = (low + rest.lower()).lower(), (high + rest.upper()).upper()
            known = not (low.is_nan() or high.is_nan())
            self._folded = (power, low, high) if known else (power, -INFINITY, INFINITY)
        return self._folded

    def is_exact(self) -> bool:
        """Return whether nothing is left beside the terms."""
        return self.rest[1].is_zero()

    def varies(self) -> bool:
        """Return whether it surely is not constant, and so equals 0 on a null set only.

        The functions t^e (log t)^k s^i u^j are analytic and linearly independent: a combination
        with a coefficient that is not 0, beside the constant, vanishes on a null set.
        """
        return self.is_exact() and any(
            p.varies() or (key != CONSTANT and not p.constant().contains(0))
            for key, p in self.terms.items()
        )

    def signs(self) -> set[int]:
        """Return the signs that it may have on a set of positive measure, or `everywhere`."""
        if self.low > 0 or self.high < 0:
            return {1} if self.low > 0 else {-1}
        out = {1} if not self.high <= 0 else set()
        out |= {-1} if not self.low >= 0 else set()
        null = self.varies() and not _Setting.everywhere
        return out if null else out | {0}

    def constant(self) -> arb | None:
        """Return the number that it is, if it is one."""
        if self.is_exact() and set(self.terms) <= {CONSTANT} and self.real:
            p = self.terms.get(CONSTANT, NOTHING)
            if p.is_constant():
                return p.constant()
        return None

    def least(self) -> arb:
        """Bound the factor of the smallest power of t from below; without a germ, the values."""
        power, low, _ = self.folded()
        if low.is_finite() and (power, 0) in self.terms:
            leading = self.terms[power, 0]
            low = most(low, (low - leading.range()[0] + leading.least()).lower())
        return most(low, self.low) if power == 0 else low

    def __add__(self, other: Model) -> Model:
        terms = dict(self.terms)
        for key, p in other.terms.items():
            terms[key] = terms[key] + p if key in terms else p
        rest = joined(self.rest, other.rest)
        real = self.real and other.real
        return Model(terms, rest, self.low + other.low, self.high + other.high, real=real)

    def plus(self, value: arb) -> Model:
        """Return it and a number, without what is known of its range."""
        p = self.terms.get(CONSTANT, NOTHING) + polynomial(value)
        return Model({**self.terms, CONSTANT: p}, self.rest)

    def __neg__(self) -> Model:
        return self.times(arb(-1))

    def __sub__(self, other: Model) -> Model:
        return self + (-other)

    def times(self, factor: arb) -> Model:
        """Return it times a number."""
        terms = {key: p.times(factor) for key, p in self.terms.items()}
        low, high = range_of_product(self.low, self.high, factor, factor)
        known = self.real or bool(factor > 0)
        require(known, "a density", "its logarithm, which may be -infinity, times no number > 0")
        return Model(terms, (self.rest[0], self.rest[1] * factor), low, high, real=self.real)

    def __mul__(self, other: Model) -> Model:
        return self.product(other, _Setting.degree)

    def product(self, other: Model, degree: int, *, known: bool = True) -> Model:
        """Return a product, with terms up to a degree; with what is known of its range, or not."""
        for one, two in ((self, other), (other, self)):
            if (factor := one.constant()) is not None:
                return two.times(factor)
        real = self.real and other.real
        require(real, "a density", "its logarithm, which may be -infinity, in a product")
        terms, rest = {}, (0, ZERO)
        _Setting.left -= len(self.terms) * len(other.terms)
        few = _Setting.left >= 0 and max(len(self.terms), len(other.terms)) <= _POWERS
        require(few, "a density", "it takes too many products, or powers of t")
        first, second = (min((e for e, _ in v.terms), default=0) for v in (self, other))
        for (e, k), p in self.terms.items():
            for (f, m), q in other.terms.items():
                beyond = (e - first) + (f - second)
                found, lost = p.product(q, degree - int(beyond))
                key = e + f, k + m
                require(key[1] <= _POWERS, "a density", "it takes too high powers of log t")
                terms[key] = terms[key] + found if key in terms else found
                # a logarithm costs one power of t
                less = key[0] - 1 if key[1] else key[0]
                bound = lost * _decreasing(1, key[1])
                rest = joined(rest, (less, bound * _HALF))
        # (p + r) (q + t) = p q + r (q + t) + p t
        if not self.is_exact():
            power, *ends = other.folded()
            rest = joined(rest, (self.rest[0] + power, self.rest[1] * hull(*ends)))
        if not other.is_exact():
            power, *ends = Model(self.terms).folded()
            rest = joined(rest, (power + other.rest[0], other.rest[1] * hull(*ends)))
        if not known:
            return Model(terms, rest)
        low, high = range_of_product(self.low, self.high, other.low, other.high)
        return _worthwhile(terms, rest, low, high)

    def without_constant(self) -> Model:
        """Return it less the constant term."""
        p = self.terms.get(CONSTANT, NOTHING)
        return Model({**self.terms, CONSTANT: p.without_constant()}, self.rest)

    def apply(self, name: str, low: arb, high: arb) -> Model:
        """Return an analytic function of it by Taylor's formula.

        With the constant term c and the rest w, f(c + w) is the sum of f_k w^k for k < n, with the
        Taylor coefficients f_k at c, and f_n w^n, with f_n that of a point between c and c + w.
        ``low`` and ``high`` are bounds of the values of f.
        """
        function, n = getattr(arb_series, name), _Setting.degree + 1
        start = self.terms.get(CONSTANT, NOTHING).constant()
        if (value := self.constant()) is not None:
            return constant(1 / value if name == "inv" else getattr(value, name)())
        w = self.without_constant()
        power, least_factor, most_factor = w.folded()
        reach = hull(least_factor, most_factor).union(ZERO)
        if power < 0 or not reach.is_finite():
            return unknown(low, high)
        whole = (start + reach).union(start).intersection(hull(self.low, self.high).union(start))
        try:
            parts = function(arb_series([start, 1], n))
            last = function(arb_series([whole, 1], n + 1))[n]
        except (ValueError, ZeroDivisionError):
            return unknown(low, high)
        if not (last.is_finite() and all(parts[k].is_finite() for k in range(n))):
            return unknown(low, high)
        out = constant(parts[n - 1])
        for k in reversed(range(n - 1)):
            # k more factors w follow
            out = out.product(w, n - 1 - k, known=False).plus(parts[k])
        rest = last * most(least_factor.abs_upper(), most_factor.abs_upper()) ** n * _HALF
        return _worthwhile(out.terms, joined(out.rest, (power * n, rest)), low, high)

    def varying(self, unit: int) -> Model:
        """Return the terms that vary with a coordinate."""
        return Model({key: p.varying(unit) for key, p in self.terms.items()})

    def at_end(self, unit: int, place: int) -> Model:
        """Return it where a coordinate is 1 or -1."""
        terms = {key: p.at(unit, place) for key, p in self.terms.items()}
        return Model(terms, self.rest, self.low, self.high, real=self.real)

    def moved(self, centre: arb, half: arb) -> Model:
        """Return it with centre + half s in place of s, on a part of the box."""
        terms = {key: p.moved(centre, half) for key, p in self.terms.items()}
        return Model(terms, self.rest, self.low, self.high, real=self.real)

    def integral(self, unit: int | None) -> Model:
        """Integrate over s or u in [-1, 1], or over t in (0, 1] (unit None).

        The integral of t^e (log t)^k is (-1)^k k! / (e + 1)^(k + 1) for e > -1.
        """
        if unit is not None:
            terms = {key: p.integral(unit) for key, p in self.terms.items()}
            rest, ends = (self.rest[0], self.rest[1] * 2), (self.low * 2, self.high * 2)
            return Model(terms, rest, *ends)
        total, (a, ball) = NOTHING, self.rest
        if any(e <= -1 for e, _ in self.terms) or (a <= -1 and not ball.is_zero()):
            return unknown(ZERO if self.low >= 0 else -INFINITY, INFINITY)
        for (e, k), p in self.terms.items():
            total = total + p.times((-1) ** k * arb(factorial(k)) / number(e + 1) ** (k + 1))
        rest = ZERO if ball.is_zero() else ball / number(a + 1)
        return Model({CONSTANT: total}, (0, rest), self.low, self.high)


def _worthwhile(terms: dict, rest: tuple[Any, arb], low: arb, high: arb) -> Model:
    """Return a model, or its range alone where what is left of it is larger than that."""
    if not rest[1].is_finite() or (rest[0] == 0 and rest[1].rad() > high - low):
        return unknown(low, high)
    return Model(terms, rest, low, high)


def joined(first: tuple[Any, arb], second: tuple[Any, arb]) -> tuple[Any, arb]:
    """Return the sum of two rests."""
    if first[1].is_zero() or second[1].is_zero():
        return second if first[1].is_zero() else first
    power, x, y = in_one_unit(first, second)
    return power, x + y


def in_one_unit(first: tuple[Any, arb], second: tuple[Any, arb]) -> tuple[Any, arb, arb]:
    """Return a power of t, and of two multiples of powers the balls in units of that one.

    t^b is between 0 and t^a for b >= a.
    """
    (a, x), (b, y) = first, second
    if a == b:
        return a, x, y
    return (a, x, y.union(ZERO)) if a < b else (b, x.union(ZERO), y)


def _tighter(known: arb, found: arb, otherwise: arb, better: Callable[..., arb]) -> arb:
    """Return the better of two bounds, of which each may be NaN: it tells nothing."""
    values = [v for v in (known, found) if not v.is_nan()] or [otherwise]
    return better(*values).lower() if better is most else better(*values).upper()


def hull(low: arb, high: arb) -> arb:
    """Return the ball of what is between two bounds."""
    return low.union(high) if low.is_finite() and high.is_finite() else arb(0, INFINITY)


def range_of_product(a: arb, b: arb, c: arb, d: arb) -> tuple[arb, arb]:
    """Bound the products of real numbers in [a, b] and [c, d], of which ends may be infinite."""
    products = [ZERO if p.is_zero() or q.is_zero() else p * q for p in (a, b) for q in (c, d)]
    return least(*products).lower(), most(*products).upper()


def constant(value: Any) -> Model:
    """Return the model of a number; -infinity is the logarithm of 0."""
    ball = value if isinstance(value, arb) else number(value)
    known = not ball.is_nan() and bool(ball.is_finite() or ball < 0)
    require(known, "a density", "a value that is no real number")
    real = ball.is_finite()
    bounded = real or bool(ball.is_exact() or ball.upper() < 0)
    require(bounded, "a density", "a number without bounds")
    return Model({CONSTANT: polynomial(ball)}, (0, ZERO), ball.lower(), ball.upper(), real=real)


def unknown(low: arb, high: arb, *, real: bool = True) -> Model:
    """Return the model of which nothing is known but a range."""
    low, high = (-INFINITY if low.is_nan() else low), (INFINITY if high.is_nan() else high)
    finite = low.is_finite() and high.is_finite()
    return Model({}, (0, low.union(high) if finite else arb(0, INFINITY)), low, high, real=real)


def coordinate(unit: int, low: Model, high: Model) -> Model:
    """Return what runs from one model to another as s or u runs from -1 to 1."""
    half = arb(0.5)
    axis = Model({CONSTANT: Polynomial.of([(1, 0, ONE) if unit == S else (0, 1, ONE)])})
    out = (low + high).times(half) + (high - low).times(half) * axis
    return Model(out.terms, out.rest, low.low, high.high)


def monomial(factor: arb, power: Any, low: arb, high: arb) -> Model:
    """Return factor t^power."""
    return Model({(power, 0): polynomial(factor)}, (0, ZERO), low, high)
