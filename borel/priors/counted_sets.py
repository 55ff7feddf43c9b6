r"""Sets of priors learnt from counts, with a confidence over the sample and no assumption on P.

With m independent draws from P on n letters and the empirical law P^:

``l1``
    Weissman, Ordentlich, Seroussi, Verdu, Weinberger, "Inequalities for the L1 deviation of the
    empirical distribution" (2003): P{ \|P^ - P\|_1 >= e } <= (2^n - 2) exp(-m e^2 / 2).
``kl``
    Agrawal, "Finite-sample concentration of the multinomial in relative entropy" (2020), Theorem
    1.2: P{ KL(P^ || P) >= e } <= e^(-m e) (e m e / (n - 1))^(n - 1) for e > (n - 1) / m (in the
    last factor the first e is Euler's number).
``box``
    Clopper and Pearson (1934) for each letter at level alpha / n (Bonferroni).

The confidence is over the sample. It is not the delta of (epsilon, delta)-PML, which is over Y.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from borel.constants import inside
from borel.errors import InvalidInput
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals.rounding import fraction_down
from borel.priors.balls import DivergenceBall, TotalVariationBall, number
from borel.priors.probability_intervals import ProbabilityIntervals
from borel.priors.sets import PriorSet
from borel.priors.tally import COUNT_THEM, flattened, require_counted
from borel.probability.alphabets import Alphabet
from borel.probability.arrays import as_numbers, own_labels, shown
from borel.probability.measure import pmf

_WORDS = {
    "l1": "L1 ball of Weissman et al. (2003)",
    "kl": "KL ball of Agrawal (2020), Theorem 1.2",
    "box": "Clopper-Pearson intervals (1934) with Bonferroni's correction",
}


def set_from_counts(counts: Any, confidence: Any, on: Alphabet | None, method: str) -> PriorSet:
    """Make the set around the empirical law; see `borel.priors.from_counts`."""
    what = "bl.priors.from_counts"
    values, labels = _counted(counts, on, what)
    as_drawn = on is None
    if on is None:
        on = own_labels(labels, len(values))
    inside(what, "confidence", confidence)
    level = number(what, "confidence", confidence, 0, 1)
    if not isinstance(method, str) or method not in _WORDS:
        raise InvalidInput(what, expected=f"a method of {sorted(_WORDS)}", got=repr(method))
    total, n, alpha = int(sum(values)), len(values), 1 - level
    centre = pmf([Fraction(v, total) for v in values], on=on)
    if n == 1:
        found: PriorSet = TotalVariationBall(centre, 0)
    elif method == "l1":
        found = TotalVariationBall(centre, _l1_radius(total, n, alpha) / 2)
        found.what = "total variation"
    elif method == "kl":
        found = DivergenceBall(centre, _kl_radius(total, n, alpha), "kl", "from_centre")
    else:
        found = ProbabilityIntervals(*_clopper_pearson(values, total, alpha / n), on)
        found.nominal = centre
    found.confidence = fraction_down(level)
    found.name, found.as_drawn = f"from_counts, {method}", as_drawn
    found.all_drawn = min(values) > 0
    found.assumptions = (
        f"{_WORDS[method]}: confidence over the sample of {total} independent draws",
    )
    return found


def _counted(counts: Any, on: Alphabet | None, what: str) -> tuple[list[int], list | None]:
    require_counted(counts, what, letters=on)
    labels, given = None, counts
    if isinstance(counts, dict):
        labels, given = list(counts), list(counts.values())
    try:
        values, own, _ = as_numbers(flattened(given))
        whole = [int(v) for v in values.ravel()]  # of NaN and infinity there is none
        counted = values.ndim == 1 and whole and min(whole) >= 0 and (values == whole).all()
    except (InvalidInput, OverflowError, ValueError):
        counted, whole = False, []
    if not counted or np.asarray(given).dtype.kind == "b":
        raise InvalidInput(
            what, expected="counts: whole numbers >= 0", got=shown(counts), mend=COUNT_THEM
        )
    labels = labels or own
    if not sum(whole) > 0:
        raise InvalidInput(what, expected="at least one observation", got="counts of 0")
    if on is None:
        return whole, labels
    if not isinstance(on, Alphabet) or on.kind != "finite":
        raise InvalidInput(
            what, expected="on=<a finite alphabet>", got=repr(on), mend="on=bl.Finite(labels)."
        )
    if on.size != len(whole):
        raise InvalidInput(what, expected=f"a count for each label of {on!r}", got=shown(counts))
    if labels is not None:
        if set(labels) != set(on.labels):
            raise InvalidInput(what, expected=f"the labels of {on!r}", got=shown(labels))
        whole = [whole[labels.index(a)] for a in on.labels]
    return whole, None


def _l1_radius(total: int, n: int, alpha: Fraction) -> Fraction:
    """Return e with (2^n - 2) exp(-m e^2 / 2) <= alpha, rounded up."""
    up = enclose(lambda: ((ball(2) ** n - 2) / ball(alpha)).log() * 2 / total)[1]
    return min(Fraction(math.nextafter(math.sqrt(max(up, 0.0)), math.inf)), Fraction(2))


def _kl_radius(total: int, n: int, alpha: Fraction) -> Fraction:
    """Return e with e^(-m e) (e m e / (n - 1))^(n - 1) <= alpha: bisection in s = m e > n - 1."""
    k = n - 1

    def risk(s: float) -> float:  # the logarithm of the bound, from above
        return enclose(lambda: -ball(s) + (1 + (ball(s) / k).log()) * k - ball(alpha).log())[1]

    low, high = float(k), 2.0 * k + 1
    while risk(high) > 0:
        high *= 2
    for _ in range(80):
        middle = low + (high - low) / 2
        low, high = (middle, high) if risk(middle) > 0 else (low, middle)
    return Fraction(high) / total


def _clopper_pearson(values: list[int], total: int, alpha: Fraction) -> tuple[list, list]:
    """Return intervals of level 1 - alpha each, their ends moved outwards until Arb agrees."""
    from scipy.stats import beta

    half = fraction_down(alpha / 2)
    low = [0.0 if v == 0 else float(beta.ppf(half, v, total - v + 1)) for v in values]
    high = [1.0 if v == total else float(beta.isf(half, v + 1, total - v)) for v in values]

    def settled(p: float, v: int, step: float, side: int) -> float:
        """Move p outwards until the tail probability at v is certainly at most alpha / 2."""
        for _ in range(60):
            a, b = (v, total - v + 1) if side < 0 else (total - v, v + 1)
            tail = enclose(lambda a=a, b=b, p=p: _beta_cdf(ball(p), a, b, side))[1]
            if tail <= half:
                return p
            p, step = p + side * step, 2 * step
            if not 0 < p < 1:
                break
        return 0.0 if side < 0 else 1.0

    for k, v in enumerate(values):
        if v > 0:
            low[k] = settled(low[k], v, low[k] * 1e-13, -1)
        if v < total:
            high[k] = settled(high[k], v, high[k] * 1e-13, 1)
    return low, high


def _beta_cdf(p: Any, a: int, b: int, side: int) -> Any:
    """Return the regularised incomplete beta function at p, or at 1 - p, as a ball."""
    return (p if side < 0 else 1 - p).beta_lower(a, b, regularized=1)
