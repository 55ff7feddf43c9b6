"""Laws of independent entries: their product, the chance of an event, the number of ones."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

import numpy as np

from borel.constants import exactly
from borel.mechanisms.noisy_count import Ends, NoisyCount
from borel.numerics.intervals.rounding import NORMAL, U, compounded, rounding_of
from borel.probability.alphabets import Alphabet
from borel.probability.arrays import require_no_underflow
from borel.probability.measure import Measure

_BITS = 20_000


def product_law(prior: Measure, n: int, on: Alphabet) -> Measure:
    """Return the product of n equal laws as a Measure on D**n."""
    p = prior.probabilities
    if p.dtype != object:
        require_no_underflow("iid(prior, n)", *[p] * n)
    law = reduce(lambda a, b: np.multiply.outer(a, b).ravel(), [p] * n)
    error = 0.0 if prior.rational else compounded(n * (max(prior.rounding, U) + U))
    return Measure(law, on, rounding=error, unproved=prior.unproved)


def chance(prior: Measure, alphabet: Alphabet, mask: tuple[bool, ...]) -> Ends:
    """Enclose the probability of a set of labels, exact for Fractions and for 0 and 1.

    Floats mean every normalised law within their relative rounding.
    """
    p = prior.at(alphabet)
    masses = [exactly(v) for v in p.tolist()]
    parts = [[i for i, m in enumerate(mask) if m is side and masses[i]] for side in (True, False)]
    if not all(parts):
        return Ends(Fraction(bool(parts[0])), Fraction(bool(parts[0])))
    if prior.rational:
        inside = sum((masses[i] for i in parts[0]), Fraction(0))
        return Ends(inside, inside)
    errors = np.broadcast_to(rounding_of(np.asarray(p, float), prior.rounding), p.shape)
    inside, outside = (_total(masses, errors, part) for part in parts)
    return Ends(max(inside.lower, 1 - outside.upper), min(inside.upper, 1 - outside.lower))


def _total(masses: list[Fraction], errors: np.ndarray, part: list[int]) -> Ends:
    """Enclose a sum of masses, each known to its own relative error."""
    low = high = Fraction(0)
    for error in np.unique(errors[part]).tolist():  # of all but subnormal masses it is the same
        some = sum((masses[i] for i in part if errors[i] == error), Fraction(0))
        low, high = low + some * (1 - exactly(error)), high + some / (1 - exactly(error))
    return Ends(low, high)


def binomial_law(n: int, p: Ends, on: Alphabet) -> Measure | None:
    """Return Binomial(n, p) on 0, ..., n: Fractions where they are short, else floats.

    None if float64 would lose some of the probabilities: a lost mass is not a zero.
    """
    x, y = p.lower.numerator, p.lower.denominator
    if p.lower == p.upper and n * y.bit_length() <= _BITS:
        law = np.empty(n + 1, dtype=object)
        law[:] = [Fraction(math.comb(n, k) * x**k * (y - x) ** (n - k), y**n) for k in range(n + 1)]
        return Measure(law, on)
    from borel.numerics.balls.arithmetic import ball, precision

    middle = (p.lower + p.upper) / 2
    if middle in (0, 1):
        return Measure(np.array([float(k == n * middle) for k in range(n + 1)]), on)
    count = NoisyCount(n, Fraction(1), Ends(middle, middle))
    with precision(128):
        law = np.array([float(count.weight(k, ball(middle)).mid()) for k in range(n + 1)])
    if law.min() < NORMAL:
        return None
    half = (p.upper - p.lower) / 2
    error = float(n * half / min(middle, 1 - middle)) * 1.01 + 8 * U
    return Measure(law, on, rounding=error)
