"""Gains, costs and guesses straight from their definitions, in Fractions. Nothing calls borel.

A law is a list of Fractions, a mechanism or a table of gains a list of rows (row = secret).
Figures come as ratios, a Fraction or `math.inf`.
"""

import itertools
import math
from fractions import Fraction as F

import flint

INF = math.inf


def posterior(p, K, y):
    """P(x | y), or None at an outcome of probability 0."""
    weights = [a * row[y] for a, row in zip(p, K, strict=True)]
    total = sum(weights, F(0))
    return None if total == 0 else [w / total for w in weights]


def expectations(law, table):
    """E table(X, w) for every action w; an infinite entry counts where the law charges it."""
    out = []
    for w in range(len(table[0])):
        total = F(0)
        for mass, row in zip(law, table, strict=True):
            if mass and total != INF:
                total = INF if row[w] == INF else total + mass * row[w]
        out.append(total)
    return out


def quotient(a, b):
    """a / b with 0/0 = 1."""
    if a == b == 0:
        return F(1)
    return INF if b == 0 else a / b


def g_ratio(p, K, y, g):
    """e^g-leakage at an outcome."""
    q = posterior(p, K, y)
    return F(1) if q is None else quotient(max(expectations(q, g)), max(expectations(p, g)))


def c_ratio(p, K, y, c):
    """e^cost leakage at an outcome."""
    q = posterior(p, K, y)
    return F(1) if q is None else quotient(min(expectations(p, c)), min(expectations(q, c)))


def average(p, K, table, best):
    """The sum over y of P(y) max_w (or min_w) E[table(X, w) | y]."""
    total = F(0)
    for y in range(len(K[0])):
        q = posterior(p, K, y)
        if q is not None:
            mass = sum((a * row[y] for a, row in zip(p, K, strict=True)), F(0))
            total += mass * best(expectations(q, table))
    return total


def u_law(law, P):
    """The law of U, for a kernel P(u|x)."""
    return [
        sum((m * row[u] for m, row in zip(law, P, strict=True)), F(0)) for u in range(len(P[0]))
    ]


def u_ratio(of, p, K, y, P):
    """e^leakage of a randomised function at an outcome: right guesses, or wrong ones."""
    q = posterior(p, K, y)
    if q is None:
        return F(1)
    before, after = max(u_law(p, P)), max(u_law(q, P))
    return after / before if of == "pml" else quotient(1 - before, 1 - after)


def tries(n, k):
    """The k-tries gain, all sets of at most k secrets listed."""
    sets = [s for size in range(1, k + 1) for s in itertools.combinations(range(n), size)]
    return [[F(int(x in s)) for s in sets] for x in range(n)]


def members(inside, rewards):
    """The group membership gain, all 2^k guesses listed; inside[j][x] is a truth value."""
    guesses = list(itertools.product([False, True], repeat=len(inside)))
    return [
        [
            sum((r * (e[x] == g) for e, r, g in zip(inside, rewards, guess, strict=True)), F(0))
            for guess in guesses
        ]
        for x in range(len(inside[0]))
    ]


def ball(value):
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def alpha_cost(law, alpha):
    """Least expected alpha-loss, an Arb ball at the working precision; entropy for alpha = 1."""
    law = [v for v in law if v]
    if alpha == 1:
        return sum((-ball(v) * ball(v).log() for v in law), flint.arb(0))
    a = ball(F(alpha))
    norm = sum((ball(v) ** a for v in law), flint.arb(0)) ** (1 / a)
    return a / (a - 1) * (1 - norm)
