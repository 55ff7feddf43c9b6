"""Kernels from secrets to counts are summed in closed form for all secrets at once.

The truths are sums of the kernels, written again for mpmath, to 30 digits.
"""

import math
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import borel as bl
from borel.engine.problem.kernel_normalisation import statement
from borel.engine.problem.prior_normalisation import MISS
from borel.engine.problem.series_totals import total
from borel.errors import InvalidInput
from borel.numerics.graphs.graph import GraphBuilder
from borel.numerics.graphs.trace import trace
from borel.numerics.intervals.domains import has_values, is_positive

COUNTS, HALF = bl.Integers(0, None), bl.Interval(0, None)
NUMPY = SimpleNamespace(
    exp=np.exp, log=np.log, log1p=np.log1p, where=np.where, gammaln=special.gammaln,
    gamma=special.gamma, binom=special.binom, xlogy=special.xlogy,
)  # fmt: skip
EXACT = SimpleNamespace(
    exp=mp.exp, log=mp.log, log1p=mp.log1p, where=lambda c, a, b: a if c else b,
    gammaln=mp.loggamma, gamma=mp.gamma, binom=mp.binomial,
    xlogy=lambda u, v: u * mp.log(v) if u else mp.mpf(0),
)  # fmt: skip


def poisson(m, y, mean):
    return m.exp(y * m.log(mean) - mean - m.gammaln(y + 1))


def negative_binomial(m, y, r, p):
    log = m.gammaln(y + r) - m.gammaln(y + 1) - m.gammaln(r)
    return m.exp(log + r * m.log(p) + y * m.log1p(-p))


def example_8(m, y, x):
    return m.where(y == x, 0.5, 0.0) + m.where(y == 0, 0.25, 3.0 ** (-y) / 2)


LAWS = {
    "Poisson": lambda m, y, x: poisson(m, y, x + 1),
    "Poisson, of mean 0 too": lambda m, y, x: m.exp(m.xlogy(y, x) - x - m.gammaln(y + 1)),
    "Poisson by powers": lambda m, y, x: x**y * m.exp(-x) / m.gamma(y + 1),
    "Poisson of another mean": lambda m, y, x: m.exp(-y * x - m.exp(-x) - m.gammaln(y + 1)),
    "geometric": lambda m, y, x: (1 - 1 / (x + 2)) ** y / (x + 2),
    "geometric by powers": lambda m, y, x: (x + 1) ** y / (x + 2) ** (y + 1.0),
    "geometric in logarithms": lambda m, y, x: (1 - m.exp(-x - 1)) * m.exp(-y * (x + 1)),
    "negative binomial": lambda m, y, x: negative_binomial(m, y, 3, 3 / (4 + x)),
    "of moving r": lambda m, y, x: negative_binomial(m, y, x + 1, 3 / (4 + x)),
    "of broken r": lambda m, y, x: negative_binomial(m, y, 2.5, 2.5 / (3.5 + x)),
    "with binom": lambda m, y, x: (
        m.binom(y + 2, y) * (1 / (2 + x)) ** 3 * (1 - 1 / (2 + x)) ** y
    ),
    "thinned": lambda m, y, x: m.binom(x, y) * 0.25**y * 0.75 ** (x - y),
    "thinned by where": lambda m, y, x: m.where(
        y <= x, m.binom(x, y) * 0.25**y * 0.75 ** (x - y), 0
    ),
    "Example 8": example_8,
    "Example 8, in one": lambda m, y, x: 0.5 * (y == x) + m.where(y == 0, 0.25, 3.0 ** (-y) / 2),
    "more zeros": lambda m, y, x: m.where(
        y == 0, 1 / (x + 1) + x / (x + 1) * m.exp(-x - 1), x / (x + 1) * poisson(m, y, x + 1)
    ),
    "mixture": lambda m, y, x: 0.5 * poisson(m, y, x + 1) + 0.5 * poisson(m, y, x + 3),
}  # fmt: skip


def mechanism(f, secret=COUNTS, outcome=COUNTS):
    return bl.Mechanism(lambda y, x: f(NUMPY, y, x), secret=secret, outcome=outcome)


@pytest.mark.parametrize("name", LAWS)
def test_series_are_proved_for_all_counts(name):
    found = statement(mechanism(LAWS[name]), bl.poisson(mu=3.0))
    assert found.proved and "series" in str(found) and found.miss <= MISS
    with mp.workdps(30):
        for x in (0, 1, 7):
            masses = (LAWS[name](EXACT, mp.mpf(y), mp.mpf(x)) for y in range(400))
            assert abs(mp.fsum(masses) - 1) <= found.miss + 1e-20


def test_other_alphabets():
    law, shifted = LAWS["Poisson"], lambda m, y, x: LAWS["geometric"](m, y - 1, x)
    assert statement(mechanism(law, HALF), bl.exponential(lam=1.0)).proved
    zero = lambda m, y, x: poisson(m, y, x)  # noqa: E731
    assert statement(mechanism(zero, HALF), bl.exponential(lam=1.0)).proved  # almost all secrets
    assert statement(mechanism(shifted, COUNTS, bl.Integers(1, None)), bl.poisson(mu=3.0)).proved


def test_a_total_that_is_not_1_is_told():
    off = mechanism(lambda m, y, x: m.exp(y * m.log(x + 1) - (x + 1.0000001) - m.gammaln(y + 1)))
    found = statement(off, bl.poisson(mu=3.0))
    assert found.status == "within" and found.miss >= 1e-7
    with pytest.raises(InvalidInput, match="proved to miss 1"):
        kernel = lambda y, x: 0.5000000001 * (y == x) + np.where(y == 0, 0.25, 3.0**-y / 2)  # noqa: E731
        statement(bl.Mechanism(kernel, secret=COUNTS, outcome=COUNTS), bl.poisson(mu=3.0))


BOX = {"x": (0.0, math.inf)}
NONE = {
    "q is 1 at x = 2": lambda y, x: (1 - x / 2) * (x / 2) ** y,
    "q goes beyond 1": lambda y, x: -x * (1 + x) ** y,
    "q is negative": lambda y, x: (1 + x / (1 + x)) * (-x / (1 + x)) ** y,
    "the mean is negative": lambda y, x: np.exp(x) * (-x) ** y / special.gamma(y + 1),
    "no number at x = 0": lambda y, x: np.exp(y * np.log(x) - x - special.gammaln(y + 1)),
    "nor what cancels": lambda y, x: np.where(y == 0, np.log(x), 0) - np.where(y == 1, np.log(x), 0)
    + 2.0 ** (-y - 1),
    "r is 0 at x = 0": lambda y, x: np.exp(
        special.gammaln(y + x) - special.gammaln(y + 1) - special.gammaln(x) - (x + y) * np.log(2.0)
    ),
    "a place of no outcome": lambda y, x: np.where(y == x - 1, 0.5, 0) + 2.0 ** (-y - 2),
    "a place between": lambda y, x: np.where(y == x / 2, 0.5, 0) + 2.0 ** (-y - 2),
    "n is -1 at x = 0": lambda y, x: special.binom(x - 1, y) * 0.25**y * 0.75 ** (x - 1 - y),
    "n is broken": lambda y, x: special.binom(x / 2, y) * 0.25**y * 0.75 ** (x / 2 - y),
    "ends before n": lambda y, x: np.where(
        y <= x - 1, special.binom(x, y) * 0.25**y * 0.75 ** (x - y), 0
    ),
    "1 but for rounding": lambda y, x: special.binom(x, y) * 0.3**y * 0.7 ** (x - y),
    "no factorial": lambda y, x: np.exp(y * np.log(x + 1) - x - 1 - special.gammaln(y + 2)),
    "two of them": lambda y, x: np.exp(
        y * np.log(x + 1) - x - 1 - special.gammaln(y + 1) - special.gammaln(y + 1)
    ),
    "r without a factorial": lambda y, x: np.exp(
        special.gammaln(y + 2) - 2 * np.log(x + 2) + y * np.log1p(-1 / (x + 2))
    ),
    "gamma functions cancel": lambda y, x: 2.0 ** (-y - 1) * np.exp(
        special.gammaln(y + x) - special.gammaln(y + x)
    ),
    "gamma functions cancel in part": lambda y, x: 0.5**x * np.exp(
        special.gammaln(x + 1) - special.gammaln(y + 1) - (
            special.gammaln(x - y + 1) + special.gammaln(x - y + 1)
        ) + special.gammaln(x - y + 1)
    ),
    "0 log 0 at x = 777": lambda y, x: 2.0 ** (-y - 1) * np.exp(
        0 * (y * np.log(x * x - 1554 * x + 603729))
    ),
    "0 log 0 in a part": lambda y, x: 2.0 ** (-y - 1) + 0 * np.where(
        y == 0, np.log(x * x - 1554 * x + 603729), 0
    ),
    "quotients cancel": lambda y, x: np.exp(
        y * np.log(x + 1) - x - 1 - special.gammaln(y * (x / x) + 1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_such_law_is_not_proved(name):
    graph = trace(NONE[name], ("y", "x"), ())
    assert total(graph, lambda: True, BOX, whole=True) is None


@pytest.mark.parametrize(
    "kernel",
    [
        lambda y, x: (1 - (x / (1 + x)) ** (y + 1)) - (1 - (x / (1 + x)) ** y),
        lambda y, x: 1 - np.where(y == x, 0.0, 1.0),
        lambda y, x: np.where(y == x, 1.0, -0.0),
    ],
    ids=["differences of a distribution function", "1 - what is not", "-0"],
)
def test_parts_without_a_sum_are_no_fault(kernel):
    mechanism = bl.Mechanism(kernel, secret=COUNTS, outcome=COUNTS)
    assert statement(mechanism, bl.poisson(mu=3.0)).status == "checked"


def test_what_cancels_at_a_secret_is_seen():
    hole = lambda x: np.log(x * x - 1554 * x + 603729)  # noqa: E731, no number at x = 777
    kernel = lambda y, x: LAWS["Poisson"](NUMPY, y, x) + hole(x) - hole(x)  # noqa: E731
    mechanism = bl.Mechanism(kernel, secret=COUNTS, outcome=COUNTS)
    assert not statement(mechanism, bl.poisson(mu=3.0)).proved


def test_infinite_constants_are_no_numbers():
    builder = GraphBuilder()
    for op in ("exp", "reciprocal"):
        for end in (-math.inf, math.inf, math.nan):
            graph = builder.graph(builder.add(op, builder.constant(end)))
            assert not has_values(graph, {}) and not is_positive(graph, {})


def test_long_kernels_are_given_up():
    def long(y, x, terms=300):
        log = special.xlogy(y, x) - x - special.gammaln(y + 1)
        for k in range(2 * terms):
            log = log + (1 if k < terms else -1) * np.log(1 + x + k % terms)
        return log

    mechanism = bl.Mechanism(long, secret=HALF, outcome=COUNTS, log=True)
    assert statement(mechanism, bl.exponential(lam=1.0)).status == "checked"
    graph = trace(lambda y, x: LAWS["Poisson"](NUMPY, y, x), ("y", "x"), ())
    assert total(graph, lambda: True, BOX, whole=True, until=-math.inf) is None


def test_places_and_binomials_need_whole_secrets():
    for name in ("Example 8", "thinned"):
        graph = trace(lambda y, x, f=LAWS[name]: f(NUMPY, y, x), ("y", "x"), ())
        assert total(graph, lambda: True, BOX, whole=True) == (1.0, 1.0)
        assert total(graph, lambda: True, BOX, whole=False) is None
        assert (name == "thinned") == (total(graph, lambda: False, BOX, whole=True) is not None)


@pytest.mark.slow
def test_figures_are_sharp_and_exact():
    """sup over x of f(1|x) is 1/e, at x = 0, and f_Y(1) a series that mpmath sums."""
    joint = bl.poisson(mu=3.0) * mechanism(LAWS["Poisson"])
    found = bl.pml(joint)(1)
    with mp.workdps(30):
        mean = mp.nsum(
            lambda x: mp.exp(-3) * mp.mpf(3) ** x / mp.factorial(x) * (x + 1) * mp.exp(-x - 1),
            [0, mp.inf],
        )
        truth = -1 - mp.log(mean)
        assert found.lower <= truth <= found.upper and found.width <= 1e-12
    assert found.status == "exact"
    prior = bl.Measure(lambda x: np.where(x == 0, 0.5, 3.0 ** (-x)), on=COUNTS)
    joint = prior * mechanism(example_8)
    pml, pmc = bl.pml(joint), bl.pmc(joint)
    with mp.workdps(30):
        for y, truth in ((0, mp.log(1.5)), (3, mp.log(14))):
            assert pml(y).lower <= truth <= pml(y).upper and pml(y).width <= 1e-12
            assert pmc(y).lower <= mp.log(2) <= pmc(y).upper and pmc(y).width <= 1e-12
    assert {pml(3).status, pmc(3).status} == {"exact"}
