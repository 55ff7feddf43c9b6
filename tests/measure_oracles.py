"""Measures of a joint straight from their definitions, by brute force over Fractions.

Events are subsets, post-processings extreme points, guesses sorted lists: nothing is as clever as
the code it checks. Logarithms and powers are Arb balls (see `oracles`).
"""

import itertools
import math
from fractions import Fraction as F

import flint
import oracles as o

INF = math.inf


def subsets(cells):
    return itertools.chain.from_iterable(
        itertools.combinations(cells, k) for k in range(len(cells) + 1)
    )


def maximal_cost_leakage(p, K):
    """e^maximal cost leakage: one over the sum of column minima on the support."""
    total = sum((min(K[x][y] for x in o.support(p)) for y in range(len(K[0]))), F(0))
    return INF if total == 0 else 1 / total


def ldi(p, K):
    """e^LDI: the largest ratio of two posterior probabilities."""
    worst = F(1)
    for y, mass in enumerate(o.marginal(p, K)):
        if mass > 0:
            posterior = [p[x] * K[x][y] / mass for x in o.support(p)]
            for a in posterior:
                for b in posterior:
                    if a > 0:
                        worst = max(worst, INF if b == 0 else a / b)
    return worst


def min_entropy_leakage(p, K):
    """Bayes vulnerability after, over before."""
    after = sum((max(p[x] * K[x][y] for x in range(len(p))) for y in range(len(K[0]))), F(0))
    return after / max(p)


def dynamic(p, K, y):
    """Bayes vulnerability after y, over before."""
    return max(o.posterior(p, K, y)) / max(p)


def pairs(p, K):
    """P_XY and P_X x P_Y, cell by cell."""
    law = o.marginal(p, K)
    cells = [(x, y) for x in range(len(p)) for y in range(len(law))]
    return [p[x] * K[x][y] for x, y in cells], [p[x] * law[y] for x, y in cells]


def max_divergence(P, Q, delta):
    """e^approximate max-divergence: over all events; those of P = delta and Q = 0 do not count."""
    best = F(0)
    for event in subsets(range(len(P))):
        a, b = sum((P[k] for k in event), F(0)), sum((Q[k] for k in event), F(0))
        if a >= delta and b > 0:
            best = max(best, (a - delta) / b)
        elif a > delta:
            return INF
    return best


def event_leakage(p, K, event):
    """e^leakage of an event of outcomes."""
    mass = sum((o.marginal(p, K)[y] for y in event), F(0))
    if mass == 0:
        return F(1)
    return max(sum((K[x][y] for y in event), F(0)) for x in o.support(p)) / mass


def event_maximal_leakage(p, K, delta):
    """e^epsilon of (epsilon, delta)-EML: over the outcomes z of all post-processings.

    The objective is linear-fractional in P(z|y), so that an extreme point of
    {0 <= a <= 1, sum a P_Y >= delta} does: all but one of the a are 0 or 1.
    """
    law = o.marginal(p, K)
    live = [y for y in range(len(law)) if law[y] > 0]
    best = F(0)
    for event in subsets(live):
        mass = sum((law[y] for y in event), F(0))
        points = [dict.fromkeys(event, F(1))] if mass >= delta and event else []
        for y in set(live) - set(event):
            part = (delta - mass) / law[y]
            if 0 < part <= 1:
                points.append({**dict.fromkeys(event, F(1)), y: part})
        for a in points:
            under = sum((w * law[y] for y, w in a.items()), F(0))
            for x in o.support(p):
                best = max(best, sum((w * K[x][y] for y, w in a.items()), F(0)) / under)
    return best


def total_variation(p, K):
    """The mean distance of posterior and prior."""
    P, Q = pairs(p, K)
    return sum((abs(a - b) for a, b in zip(P, Q, strict=True)), F(0)) / 2


def chi_square(P, Q):
    """The chi-square divergence."""
    if any(b == 0 < a for a, b in zip(P, Q, strict=True)):
        return INF
    return sum((a * a / b for a, b in zip(P, Q, strict=True) if b > 0), F(0)) - 1


def squared_hellinger(P, Q):
    """Half the squared distance of the square roots, a ball."""
    alone = sum((a + b for a, b in zip(P, Q, strict=True) if a == 0 or b == 0), F(0)) / 2
    both = [(a, b) for a, b in zip(P, Q, strict=True) if a > 0 and b > 0 and a != b]
    gaps = (o.ball(a).sqrt() - o.ball(b).sqrt() for a, b in both)
    return sum((gap**2 / 2 for gap in gaps), o.ball(alone) if alone != 1 else flint.arb(1))


def relative_entropy(P, Q):
    """The sum of P log P / Q, a ball."""
    if any(b == 0 < a for a, b in zip(P, Q, strict=True)):
        return INF
    return sum((o.ball(a) * o.log(a / b) for a, b in zip(P, Q, strict=True) if a), flint.arb(0))


def renyi(P, Q, order):
    """The Renyi divergence by its definition, a ball; INF if it is infinite."""
    if order >= 1 and any(b == 0 < a for a, b in zip(P, Q, strict=True)):
        return INF
    if P == Q:
        return flint.arb(0)
    if order == 1:
        return relative_entropy(P, Q)
    if order == INF:
        return o.log(max(a / b for a, b in zip(P, Q, strict=True) if a > 0))
    both = [(a, b) for a, b in zip(P, Q, strict=True) if a > 0 and b > 0]
    if not both:
        return INF
    if order == 0:
        return -o.log(sum((b for _, b in both), F(0)))
    alpha = o.ball(F(order))
    total = sum((o.ball(a) ** alpha * o.ball(b) ** (1 - alpha) for a, b in both), flint.arb(0))
    return total.log() / (alpha - 1)


def guesswork(law):
    """The least mean number of guesses."""
    return sum((k * v for k, v in enumerate(sorted(law, reverse=True), 1)), F(0))


def guesswork_leakage(p, K, kernel):
    """E G(U) over E G(U | Y) for a randomised function U of X, given as rows."""
    values = range(len(kernel[0]))
    before = guesswork([sum((p[x] * kernel[x][u] for x in range(len(p))), F(0)) for u in values])
    after = F(0)
    for y in range(len(K[0])):
        law = [sum((p[x] * K[x][y] * kernel[x][u] for x in range(len(p))), F(0)) for u in values]
        after += guesswork(law)
    return before / after


def encloses_number(bound, truth):
    """Say if a Bound of a number encloses a Fraction, a ball's function, or infinity.

    Figures of nearly independent laws cancel: the balls get more bits until they settle it.
    """
    if not callable(truth):
        return bound.lower == INF if truth == INF else o.contains(bound.lower, truth, bound.upper)
    for bits in (400, 4000, 40000):
        with o.precision(bits):
            value, low, high = truth(), o.ball(bound.lower), o.ball(bound.upper)
            if isinstance(value, float):
                return bound.lower == value
            if value.is_finite() and low <= value and value <= high:
                return True
            if value.is_finite() and (value < low or high < value):
                return False
    raise AssertionError(f"not settled: {value} against {bound!r}")
