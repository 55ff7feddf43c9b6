r"""Events {L > epsilon} of the privacy loss within named families, in closed form, through Arb.

Of two normal measures of one deviation the event is a half-line, of two deviations a quadratic
inequality; of Laplace measures of one scale, exponential, Poisson and geometric measures L is
monotone. The excess is P(S) - e^epsilon Q(S), evaluated with more bits until two neighbouring
floats enclose it, however small it is. Parameters mean their binary64 values.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.engine.problem.thresholds import Threshold
    from borel.probability.measure import Measure

Masses = list[tuple[Any, Any]]
"""P(S) and Q(S); twice, with and without an outcome whose loss is epsilon up to rounding: it adds
nothing to the excess. Empty where these bits do not decide what S is."""
_BITS = (128, 256, 512, 1024, 2048, 4096, 8192)


def closed_form(p: Measure, q: Measure, threshold: Threshold, what: str) -> Bound | None:
    """Return the excess of p over q, or P{L > epsilon}; None outside the families."""
    if p.family is None or q.family is None or p.family[0] != q.family[0] or p.on != q.on:
        return None
    name = p.family[0]
    if name not in _FORMS:
        return None
    a, b = ({k: Fraction(float(v)) for k, v in m.family[1].items()} for m in (p, q))  # type: ignore[index]
    if a == b:
        return exact(0.0, 0.0, name)
    return of_family(name, a, b, threshold, what)


def of_family(name: str, a: dict, b: dict, threshold: Threshold, what: str) -> Bound | None:
    """Return a figure of two members of a family, by their parameters as Fractions."""
    event, _ = _FORMS[name]
    low, high = 0.0, 1.0
    for bits in _BITS:
        with precision(bits):
            found = event(a, b, threshold)
            if not found:
                continue  # a comparison that these bits do not decide
            if what == "excess":
                values = [mass - threshold.factor() * other for mass, other in found]
            elif len(found) > 1:
                continue
            else:
                values = [found[0][0]]
            value = values[0] if len(values) == 1 else values[0].union(values[1])
            if not value.is_finite():
                continue
            pair = ends(value)
        low, high = max(low, pair[0]), min(high, pair[1])
        if high <= math.nextafter(low, math.inf):
            return exact(low, high, name)
    # an exact 0 stays a ball around it; what is left is a true enclosure
    return exact(low, high, name) if high < 1.0 else None


def exact(low: float, high: float, name: str) -> Bound:
    """Make the exact Bound of a probability, with its theorem."""
    theorem = f"closed form: {_FORMS[name][1]}"
    return Bound.exact(low, high, units="probability", assumptions=(theorem,))


def _ndtr(z: Any) -> Any:
    """Return the normal distribution function."""
    return (-z / ball(2).sqrt()).erfc() / 2


def _normal(a: dict, b: dict, threshold: Threshold) -> Masses:
    """Return P(S) and Q(S): a half-line, or where a quadratic is positive."""
    m, s, n, t = a["mu"], a["sigma"], b["mu"], b["sigma"]
    level = threshold.nats()
    if s == t:
        gap = ball(abs(m - n) / s)
        return [(_ndtr(gap / 2 - level / gap), _ndtr(-gap / 2 - level / gap))]
    two, one = 1 / (2 * t * t) - 1 / (2 * s * s), m / (s * s) - n / (t * t)
    none = ball(n * n / (2 * t * t) - m * m / (2 * s * s)) + ball(t / s).log() - level
    under = ball(one) * ball(one) - 4 * ball(two) * none
    if under < 0:
        whole = ball(int(two > 0))
        return [(whole, whole)]
    if not under > 0:
        return []
    root = under.sqrt()
    ends_of = [(-ball(one) + sign * root) / (2 * ball(two)) for sign in (-1, 1)]
    low, high = ends_of if two > 0 else ends_of[::-1]

    def mass(mean: Fraction, deviation: Fraction) -> Any:
        u, v = ((e - ball(mean)) / ball(deviation) for e in (low, high))
        if two > 0:  # outside the roots
            return _ndtr(u) + _ndtr(-v)
        return _ndtr(v) - _ndtr(u) if v < 0 else _ndtr(-u) - _ndtr(-v)

    return [(mass(m, s), mass(n, t))]


def _laplace(a: dict, b: dict, threshold: Threshold) -> Masses:
    """Return P(S) and Q(S) for one scale: S is a half-line that ends between the two centres.

    With r the distance in scales, L is r - 2 t at a distance t from the centre of P towards that of
    Q, r on the far side: S ends at t = (r - epsilon) / 2, and is empty for epsilon >= r.
    """
    if a["b"] != b["b"]:
        return []
    r = ball(abs(a["mu"] - b["mu"]) / a["b"])
    if threshold.ratio is None:
        inside = threshold.epsilon < abs(a["mu"] - b["mu"]) / a["b"]
    else:
        gap = r - threshold.nats()
        if not (gap > 0 or gap < 0):
            return []
        inside = bool(gap > 0)
    if not inside:
        return [(ball(0), ball(0))]
    level = threshold.nats()
    return [(1 - ((level - r) / 2).exp() / 2, (-(r + level) / 2).exp() / 2)]


def _exponential(a: dict, b: dict, threshold: Threshold) -> Masses:
    """Return P(S) and Q(S): L = log(lam / mu) - (lam - mu) x is monotone."""
    lam, mu = a["lam"], b["lam"]
    place = (ball(lam / mu).log() - threshold.nats()) / ball(lam - mu)
    if lam > mu:  # S = {x < place}
        if place < 0:
            return [(ball(0), ball(0))]
        return [(-(-ball(lam) * place).expm1(), -(-ball(mu) * place).expm1())] if place > 0 else []
    if place < 0:
        return [(ball(1), ball(1))]
    return [((-ball(lam) * place).exp(), (-ball(mu) * place).exp())] if place > 0 else []


def _firsts(place: Any) -> list[int]:
    """Return the least integer above a ball: one, or two where an integer lies in it, or none."""
    low, high = (int(end.floor().unique_fmpz()) for end in (place.lower(), place.upper()))
    return list(range(low + 1, high + 2)) if high - low <= 1 else []


def _lasts(place: Any) -> list[int]:
    """Return the largest integer below a ball: one, or two, or none."""
    return [-n for n in _firsts(-place)]


def _poisson(a: dict, b: dict, threshold: Threshold) -> Masses:
    """Return P(S) and Q(S): L(n) = n log(lam / mu) - (lam - mu) is monotone."""
    lam, mu = a["mu"], b["mu"]
    place = (ball(lam - mu) + threshold.nats()) / ball(lam / mu).log()
    if lam > mu:  # S = {n > place}
        return [(_poisson_from(lam, n), _poisson_from(mu, n)) for n in _firsts(place)]
    return [(_poisson_to(lam, n), _poisson_to(mu, n)) for n in _lasts(place)]


def _poisson_from(mu: Fraction, first: int) -> Any:
    """Return P{N >= first}."""
    return ball(1) if first <= 0 else ball(mu).gamma_lower(ball(first), regularized=1)


def _poisson_to(mu: Fraction, last: int) -> Any:
    """Return P{N <= last}."""
    return ball(0) if last < 0 else ball(mu).gamma_upper(ball(last + 1), regularized=1)


def _geometric(a: dict, b: dict, threshold: Threshold) -> Masses:
    """Return P(S) and Q(S) on 1, 2, ...: L(n) = log(u / v) + (n - 1) log((1 - u) / (1 - v))."""
    u, v = a["p"], b["p"]
    slope = ball((1 - u) / (1 - v)).log()
    place = 1 + (threshold.nats() - ball(u / v).log()) / slope
    if u < v:  # S = {n > place}
        counts = [max(n, 1) - 1 for n in _firsts(place)]
        return [(ball(1 - u) ** n, ball(1 - v) ** n) for n in counts]
    counts = [max(n, 0) for n in _lasts(place)]
    return [(1 - ball(1 - u) ** n, 1 - ball(1 - v) ** n) for n in counts]


_BALLE = "Balle and Wang (2018), Theorem 8"
_FORMS: dict[str, tuple[Callable[[dict, dict, Threshold], Masses], str]] = {
    "normal": (_normal, f"the loss of two normal measures; of one deviation {_BALLE}"),
    "laplace": (_laplace, "the loss of two Laplace measures of one scale"),
    "exponential": (_exponential, "the loss of two exponential measures is monotone"),
    "poisson": (_poisson, "the loss of two Poisson measures is monotone"),
    "geometric": (_geometric, "the loss of two geometric measures is monotone"),
}
