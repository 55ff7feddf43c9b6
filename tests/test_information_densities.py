"""The information density in law, and means of functions of a leakage, against brute force."""

import math
from fractions import Fraction as F
from functools import cache

import mpmath
import numpy as np
import pytest

import borel as bl
from borel.engine.continuous.function_means import growth
from borel.numerics.graphs.trace import trace

LAWS = ("joint", "product")


def log(ratio):
    return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator) if ratio else -mpmath.inf


def law(prior, rows, under):
    """Return the pairs (e^i, mass) of positive P_X x P_Y."""
    columns = range(len(rows[0]))
    q = [sum(p * row[j] for p, row in zip(prior, rows, strict=True)) for j in columns]
    return [
        (row[j] / q[j], p * (row[j] if under == "joint" else q[j]))
        for p, row in zip(prior, rows, strict=True)
        for j in columns
        if p and q[j]
    ]


def cases(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 5, 2)
    counts = rng.integers(0, 4, (n, m)) + (rng.integers(0, m, n)[:, None] == np.arange(m))
    rows = [[F(int(v), int(sum(row))) for v in row] for row in counts]
    weights = rng.integers(0, 4, n) + (np.arange(n) == 0)
    prior = [F(int(w), int(weights.sum())) for w in weights]
    return prior, rows


def made(prior, rows, number):
    kernel = bl.Mechanism.from_matrix([[number(v) for v in row] for row in rows])
    return bl.information_density(bl.pmf([number(p) for p in prior]) * kernel)


def holds(bound, truth):
    """Say if a Bound encloses a Fraction, or a number of mpmath."""
    if isinstance(truth, F):
        return F(bound.lower) <= truth <= F(bound.upper)
    return mpmath.mpf(bound.lower) <= truth <= mpmath.mpf(bound.upper)


@pytest.mark.few(9)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("number", [F, float], ids=["fractions", "floats"])
def test_the_law_is_that_of_the_table(seed, number):
    prior, rows = cases(seed)
    density = made(prior, rows, number)
    for under in LAWS:
        pairs = law(prior, rows, under)
        for ratio in sorted({r for r, _ in pairs if r} | {F(1), F(5, 4)}):
            above = sum((w for r, w in pairs if r > ratio), F(0))
            with_it = sum((w for r, w in pairs if r >= ratio), F(0))
            found = density.tail(ratio=ratio, under=under)
            closed = density.tail(ratio=ratio, under=under, closed=True)
            below = density.cdf(ratio=ratio, under=under)
            assert holds(found, above) and holds(closed, with_it) and holds(below, 1 - above)
            near = density.tail(float(log(ratio)) - 1e-9, under=under)
            assert holds(near, with_it) and near.width < 1e-14
            if number is F:
                assert max(found.width, closed.width) < 1e-15 and found.status == "exact"
        none = sum((w for r, w in pairs if not r), F(0))
        assert holds(density.cdf(-math.inf, under=under), none)
        assert none == 0 or under == "product"
        assert holds(density.tail(-math.inf, under=under, closed=True), F(1))


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_are_those_of_the_table(seed):
    prior, rows = cases(seed)
    density = made(prior, rows, F)
    for under in LAWS:
        pairs = sorted(law(prior, rows, under))
        for level in (F(1, 10), F(1, 2), F(9, 10), F(1)):
            ratio = next(r for r, _ in pairs if sum((w for s, w in pairs if s <= r), F(0)) >= level)
            with mpmath.workdps(40):
                assert holds(density.quantile(level, under=under), log(ratio))
                rough = made(prior, rows, float).quantile(level - F(1, 10**6), under=under)
                if level - F(1, 10**6) > sum((w for s, w in pairs if s < ratio), F(0)):
                    assert holds(rough, log(ratio))


FUNCTIONS = {
    "t": (lambda t: t, lambda t: t),
    "t^2": (lambda t: t**2, lambda t: t**2),
    "t^3": (lambda t: t**3, lambda t: t**3),
    "1 - e^-t": (lambda t: 1 - np.exp(-t), lambda t: 1 - mpmath.exp(-t)),
    "sqrt(1 + t^2)": (lambda t: np.sqrt(1 + t**2), lambda t: mpmath.sqrt(1 + t**2)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_means_of_functions_are_those_of_the_table(name, seed):
    h, truth_of = FUNCTIONS[name]
    prior, rows = cases(seed)
    with mpmath.workdps(40):
        for number in (F, float):
            density = made(prior, rows, number)
            for under in LAWS:
                pairs = [(r, w) for r, w in law(prior, rows, under) if w]
                truth = sum(
                    mpmath.mpf(w.numerator) / w.denominator * truth_of(log(r)) for r, w in pairs
                )
                found = density.expectation(h, under=under)
                assert holds(found, truth)
                assert found.width < 1e-13 or math.isinf(found.lower)
        mean = made(prior, rows, F).mean(under="product")
        pairs = law(prior, rows, "product")
        assert holds(mean, sum(mpmath.mpf(w.numerator) / w.denominator * log(r) for r, w in pairs))


@pytest.mark.parametrize("seed", range(4))
def test_functions_of_leakages_are_those_of_the_table(seed):
    prior, rows = cases(seed)
    for number in (F, float):
        density = made(prior, rows, number)
        for leak, pick in ((bl.pml(density.joint), max), (bl.pmc(density.joint), min)):
            columns = range(len(rows[0]))
            q = [sum(p * row[j] for p, row in zip(prior, rows, strict=True)) for j in columns]
            value = F(0)
            for j in columns:
                best = pick(row[j] for p, row in zip(prior, rows, strict=True) if p)
                if q[j]:  # 1 - e^-leakage
                    value += q[j] * (1 - (q[j] / best if pick is max else best / q[j]))
            assert holds(leak.expectation(lambda t: 1 - np.exp(-t)), value)


def test_what_counts_at_infinity():
    rows = [[F(3, 4), F(1, 4)], [F(0), F(1)]]
    density = made([F(1, 3), F(2, 3)], rows, F)
    cost = bl.pmc(density.joint)
    assert holds(cost.expectation(lambda t: t * np.exp(-t), at_infinity=0).about(), F(0)) is False
    assert cost.expectation(lambda t: t).lower == math.inf
    with pytest.raises(bl.InvalidInput, match="at_infinity"):
        cost.expectation(lambda t: t * np.exp(-t))
    with pytest.raises(bl.InvalidInput, match="at_minus_infinity"):
        density.expectation(lambda t: t * np.exp(t), under="product")
    # E_product e^i i is E_joint i
    found = density.expectation(lambda t: t * np.exp(t), under="product", at_minus_infinity=0)
    mean = density.mean()
    assert max(found.lower, mean.lower) <= min(found.upper, mean.upper) and found.width < 1e-14
    assert cost.tail(math.inf).upper == 0 and cost.tail(math.inf, closed=True).lower == 0.25


def test_a_release_of_nothing_and_of_all():
    one = made([F(1)], [[F(1, 3), F(2, 3)]], float)
    assert one.moment(2).upper < 1e-300 and one.quantile(0.5) == one.quantile(0.25)
    uniform = [F(1, 4)] * 4
    identity = made(uniform, [[F(int(i == j)) for j in range(4)] for i in range(4)], F)
    assert holds(identity.cdf(-math.inf, under="product"), F(3, 4))
    assert identity.moment(2, under="product").lower == math.inf
    assert identity.mean(under="product").upper == -math.inf


@pytest.mark.parametrize("under", LAWS)
def test_countable_outcomes(under):
    """Two-sided geometric noise on a bit: e^i is between 2/3 and 4/3."""
    bit = bl.Finite([0, 1])
    density = bl.information_density(
        bl.pmf([0.5, 0.5], on=bit) * bl.mechanisms.geometric(alpha=0.5, secret=bit)
    )
    with mpmath.workdps(40):
        half = mpmath.mpf(1) / 2
        rows = {x: {y: half ** abs(y - x) / 3 for y in range(-200, 200)} for x in (0, 1)}
        truth, above = mpmath.mpf(0), mpmath.mpf(0)
        for x in (0, 1):
            for y in range(-200, 200):
                q = (rows[0][y] + rows[1][y]) / 2
                mass, value = half * (rows[x][y] if under == "joint" else q), rows[x][y] / q
                truth += mass * mpmath.log(value) ** 2
                above += mass * (value > 1)
        assert holds(density.tail(0.1, under=under), above)
        found = density.moment(2, under=under)
        assert found.lower <= truth <= found.upper and found.width < 1e-12
        assert holds(density.mean(under=under), density.mean(under=under).value)


@pytest.mark.parametrize("kind", [bl.pml, bl.pmc])
def test_moments_of_leakages_of_countable_outcomes(kind):
    bit = bl.Finite([0, 1])
    joint = bl.pmf([0.5, 0.5], on=bit) * bl.mechanisms.geometric(alpha=0.5, secret=bit)
    with mpmath.workdps(40):
        value = mpmath.log(mpmath.mpf(4) / 3) if kind is bl.pml else mpmath.log(mpmath.mpf(3) / 2)
        found = kind(joint).expectation(lambda t: t**2)
        assert found.lower <= value**2 <= found.upper and found.width < 1e-12


def test_given_side_information():
    """i(x; y | z) is the information density under the prior given z."""
    prior, rows = (
        [F(1, 2), F(1, 4), F(1, 4)],
        [[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)], [F(0), F(1)]],
    )
    side = [[F(1), F(0)], [F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)]]
    joint = bl.pmf(prior) * bl.Mechanism.from_matrix(rows)
    density = bl.information_density(joint, given=bl.Mechanism.from_matrix(side))
    for z in (0, 1):
        mass = [p * s[z] for p, s in zip(prior, side, strict=True)]
        of = [m / sum(mass) for m in mass]
        pairs = law(of, rows, "joint")
        assert holds(density[z].tail(0), sum((w for r, w in pairs if r > 1), F(0)))
        for x in range(3):
            for y in (0, 1):
                q = sum(p * row[y] for p, row in zip(of, rows, strict=True))
                if of[x] and rows[x][y]:
                    with mpmath.workdps(40):
                        assert holds(density(x, y, z), log(rows[x][y] / q))


@pytest.mark.parametrize(
    "ask",
    [
        lambda d: d.tail(0, under="xy"),
        lambda d: d.tail(),
        lambda d: d.moment(0),
        lambda d: d.moment(1.5),
        lambda d: d.expectation(3),
        lambda d: d.expectation(lambda t: t if t > 0 else -t),
        lambda d: d.quantile(0),
        lambda d: d.quantile(2),
        lambda d: bl.pml(d.joint).expectation(math.exp),
    ],
)
def test_bad_questions_are_refused(ask):
    with pytest.raises(bl.InvalidInput):
        ask(made([F(1, 2), F(1, 2)], [[F(1, 2), F(1, 2)], [F(1), F(0)]], F))


# -- a finite secret, outcomes with a density -----------------------------------------------------

NOISES = {
    "laplace": (lambda s: bl.mechanisms.laplace(b=1.0, secret=s), lambda u: -abs(u), 2),
    "gaussian": (
        lambda s: bl.mechanisms.gaussian(sigma=1.0, secret=s),
        lambda u: -(u**2) / 2,
        mpmath.sqrt(2 * mpmath.pi),
    ),
}


@pytest.mark.cases("slow", "laplace-joint", "gaussian-product")
@pytest.mark.parametrize("under", LAWS)
@pytest.mark.parametrize("noise", NOISES)
def test_tails_of_noise_on_a_bit(noise, under):
    """i(x; y) is monotone in y, so that a tail is a half-line for each secret."""
    make, log_kernel, total = NOISES[noise]
    bit = bl.Finite([0.0, 1.0])
    density = bl.information_density(bl.pmf([F(1, 4), F(3, 4)], on=bit) * make(bit))
    with mpmath.workdps(40):
        prior = [mpmath.mpf(1) / 4, mpmath.mpf(3) / 4]
        row = [lambda y, x=x: mpmath.exp(log_kernel(y - x)) / total for x in (0, 1)]
        marginal = lambda y: prior[0] * row[0](y) + prior[1] * row[1](y)  # noqa: E731
        for t in (0.25, -0.25):
            truth = mpmath.mpf(0)
            for x in (0, 1):
                gap = lambda y, x=x, t=t: mpmath.log(row[x](y) / marginal(y)) - t  # noqa: E731
                ends = (mpmath.mpf(-12), mpmath.mpf(12))
                if (gap(ends[0]) > 0) == (gap(ends[1]) > 0):
                    truth += prior[x] * (gap(ends[0]) > 0)
                    continue
                low, high = ends
                for _ in range(140):
                    middle = (low + high) / 2
                    low, high = (
                        (middle, high) if (gap(middle) > 0) == (gap(low) > 0) else (low, middle)
                    )
                of = row[x] if under == "joint" else marginal
                side = [-mpmath.inf, low] if gap(ends[0]) > 0 else [low, mpmath.inf]
                marks = sorted({side[0], *(m for m in (0, 1) if side[0] < m < side[1]), side[1]})
                truth += prior[x] * mpmath.quad(of, marks)
            found = density.tail(t, under=under)
            slack = mpmath.mpf(10) ** -25  # of the quadrature
            assert found.lower <= truth + slack and truth - slack <= found.upper
            assert found.width < 1e-7 and found.status in ("certified", "conditional")


def test_what_is_not_computed_says_so():
    unit = bl.Interval(0, 1)
    density = bl.information_density(bl.uniform(unit) * bl.mechanisms.laplace(b=1.0, secret=unit))
    for ask in (lambda: density.tail(0), lambda: density.quantile(0.5), lambda: density.moment(2)):
        with pytest.raises(bl.NotYet):
            ask()


ENDS = (-mpmath.inf, -5, -1, 0, 0.5, 1, 2, 6, mpmath.inf)
QUADRATURE = 1e-12
"""How far from the truth a quadrature of mpmath with these ends may be."""


@cache
def on_a_bit(noise):
    make, log_kernel, total = NOISES[noise]
    bit = bl.Finite([0.0, 1.0])
    row = [lambda y, x=x: mpmath.exp(log_kernel(y - x)) / total for x in (0, 1)]
    return bl.pmf([F(1, 4), F(3, 4)], on=bit) * make(bit), row


@pytest.mark.few(2)
@pytest.mark.cases("slow", "laplace-*", "*-itself-*", "gaussian-size-product")
@pytest.mark.parametrize("under", LAWS)
@pytest.mark.parametrize("name", ["square", "size", "itself"])
@pytest.mark.parametrize("noise", NOISES)
def test_means_of_functions_of_noise_on_a_bit(noise, name, under):
    h, truth_of = {
        "square": (lambda t: t**2, lambda t: t**2),
        "size": (np.abs, abs),
        "itself": (lambda t: t, lambda t: t),
    }[name]
    joint, row = on_a_bit(noise)
    found = bl.information_density(joint).expectation(h, under=under)
    with mpmath.workdps(20):
        marginal = lambda y: row[0](y) / 4 + 3 * row[1](y) / 4  # noqa: E731
        truth = mpmath.mpf(0)
        for x, p in ((0, mpmath.mpf(1) / 4), (1, mpmath.mpf(3) / 4)):
            of = row[x] if under == "joint" else marginal
            level = lambda y, x=x: mpmath.log(row[x](y) / marginal(y))  # noqa: E731
            truth += p * mpmath.quad(lambda y, f=of, i=level: f(y) * truth_of(i(y)), ENDS)
    assert found.lower - QUADRATURE <= truth <= found.upper + QUADRATURE
    assert found.width < 1e-5 and found.status in ("certified", "conditional")


@pytest.mark.slow
@pytest.mark.parametrize("under", LAWS)
def test_quantiles_are_between_tails(under):
    """P{i <= t} >= s above the quantile, < s below it; at s = 1 the supremum of PML."""
    joint, row = on_a_bit("gaussian")
    density = bl.information_density(joint)
    with mpmath.workdps(25):
        found = density.quantile(F(1, 2), under=under)
        assert found.width <= 1e-8 and found.status in ("certified", "conditional")
        marginal = lambda y: row[0](y) / 4 + 3 * row[1](y) / 4  # noqa: E731
        below = []
        for t in (mpmath.mpf(found.lower), mpmath.mpf(found.upper)):
            total = mpmath.mpf(0)
            for x, p in ((0, mpmath.mpf(1) / 4), (1, mpmath.mpf(3) / 4)):
                gap = lambda y, x=x, t=t: mpmath.log(row[x](y) / marginal(y)) - t  # noqa: E731
                place = mpmath.findroot(gap, (-8, 9), solver="anderson", tol=1e-30)
                upto = [(1 + mpmath.erf((place - z) / mpmath.sqrt(2))) / 2 for z in (0, 1)]
                share = upto[x] if under == "joint" else upto[0] / 4 + 3 * upto[1] / 4
                total += p * (share if x else 1 - share)  # i(1; y) grows with y
            below.append(total)
        assert below[0] <= mpmath.mpf(1) / 2 <= below[1]
    assert density.quantile(1, under=under) == bl.pml(joint).sup()


@pytest.mark.slow
def test_a_quantile_at_a_jump():
    """i(1; y) = log(4 / (3 + e)) for all y < 0: a jump of 3 / (8 e) under P_XY."""
    joint, _ = on_a_bit("laplace")
    with bl.options(budget=3):
        found = bl.information_density(joint).quantile(F(1, 10))
    with mpmath.workdps(30):
        assert found.lower <= mpmath.log(4 / (3 + mpmath.e)) <= found.upper
    assert found.width < 1e-2


@pytest.mark.cases("slow", "laplace-*", "*-root-*", "*-falling-*", "*-square-pmc")
@pytest.mark.parametrize("kind", [bl.pml, bl.pmc])
@pytest.mark.parametrize("name", ["square", "falling", "root"])
@pytest.mark.parametrize("noise", NOISES)
def test_means_of_functions_of_leakages_on_a_bit(noise, name, kind):
    h, truth_of = {
        "square": (lambda t: t**2, lambda t: t**2),
        "falling": (lambda t: np.exp(-t), lambda t: mpmath.exp(-t)),
        "root": (np.sqrt, mpmath.sqrt),
    }[name]
    joint, row = on_a_bit(noise)
    with bl.options(tol=1e-6):
        found = kind(joint).expectation(h)
    with mpmath.workdps(20):

        def value(y):
            rows = row[0](y), row[1](y)
            law = rows[0] / 4 + 3 * rows[1] / 4
            ratio = max(rows) / law if kind is bl.pml else law / min(rows)
            return law * truth_of(mpmath.log(max(ratio, 1)))

        truth = mpmath.quad(value, ENDS)
    assert found.lower - QUADRATURE <= truth <= found.upper + QUADRATURE
    assert found.width < 2e-5 and found.status in ("certified", "conditional")


def test_means_of_leakages_of_a_mean_and_of_what_has_atoms():
    """E h of PML and PMC is their mean for h(t) = t; e^-PML of clipped noise is a sum."""
    bit = bl.Finite([0.0, 1.0])
    clipped = bl.mechanisms.laplace(b=1.0, secret=bit).clip(0, 1)
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bit) * clipped
    for kind in (bl.pml, bl.pmc):
        found, mean = kind(joint).expectation(lambda t: t), kind(joint).mean()
        assert max(found.lower, mean.lower) <= min(found.upper, mean.upper) and found.width < 1e-7
    # f_Y e^-PML is f_Y^2 / max f; with u = e^(1 - 2 y) on (0, 1), and u = e, 1 / e at the atoms
    with mpmath.workdps(25):

        def part(u):  # of f(y|0) = c u, f(y|1) = c
            return (u + 3) ** 2 / 16 / max(u, 1)

        atoms = part(mpmath.e) / (2 * mpmath.e) + part(1 / mpmath.e) / 2
        middle = mpmath.quad(
            lambda y: part(mpmath.exp(1 - 2 * y)) * mpmath.exp(y - 1) / 2, [0, 0.5, 1]
        )
        found = bl.pml(joint).expectation(lambda t: np.exp(-t))
        assert found.lower <= atoms + middle <= found.upper and found.width < 1e-7
    density = bl.information_density(joint)
    whole = density.expectation(np.exp, under="product")  # E_product e^i is 1
    assert whole.lower <= 1 <= whole.upper and whole.width < 1e-7
    found, mean = density.expectation(lambda t: t), density.mean()
    assert max(found.lower, mean.lower) <= min(found.upper, mean.upper) and found.width < 1e-7


@pytest.mark.slow
def test_what_is_not_bounded_far_out_is_open_or_infinite():
    """The PMC of Gaussian noise on a Gaussian secret is infinite at every outcome."""
    line = bl.Reals()
    joint = bl.normal(mu=0, sigma=1) * bl.mechanisms.gaussian(sigma=1.0, secret=line)
    with bl.options(budget=2):
        assert bl.pmc(joint).expectation(lambda t: t).lower == math.inf
        found = bl.pml(joint).expectation(lambda t: t)
    mean = bl.pml(joint).mean()
    assert found.lower <= mean.upper and found.upper >= mean.lower
    assert found.status == "undecided" and "not bounded" in found.reason


def steps(y, x):
    """Three steps; x = 0 at 1/4, 1/2 and x = 1: e^i is 4/5 for x = 1 on all of the last one."""
    first = np.where(y < 0.25, 2.0, np.where(y < 0.75, 0.5, 1.0))
    last = np.where(y < 0.25, 0.5, np.where(y < 0.75, 1.5, 0.5))
    return np.where(x == 1, last, first)


def test_a_condition_on_no_number_is_not_read_otherwise_than_numpy_does():
    """sqrt(y - 1/2) >= 0 is false below 1/2, where e^i is 1/2 or 3/2: not i = 0 everywhere."""
    bit, unit = bl.Finite([0.0, 1.0]), bl.Interval(0, 1)

    def kernel(y, x):
        side = np.where(y < 0.25, 0.5, -0.5)
        return np.where(np.sqrt(y - 0.5) >= 0, 1.0, 1 + (2 * x - 1) * side)

    joint = bl.pmf([F(1, 2)] * 2, on=bit) * bl.Mechanism(kernel, secret=bit, outcome=unit)
    with pytest.raises(bl.NotYet, match="no number"):  # it was [0, 0]; the truth is 3/8
        bl.information_density(joint).tail(0.1)


def test_a_level_that_the_density_has_on_a_whole_piece():
    """It is never decided there, which must not take all of the time."""
    bit = bl.Finite([0.0, 1.0])
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bit) * bl.Mechanism(
        steps, secret=bit, outcome=bl.Interval(0, 1)
    )
    with bl.options(budget=5):
        found = bl.information_density(joint).tail(ratio=F(4, 5))
    assert F(found.lower) <= F(3, 4) <= F(found.upper) and found.lower > 0.7499
    assert found.upper < 0.844  # and P{i >= log 4/5} is 27/32


def test_a_tail_that_a_tie_leaves_open_is_not_called_exact():
    density = made([F(1, 2)] * 2, [[F(7, 10), F(3, 10)], [F(3, 10), F(7, 10)]], float)
    for found in (density.tail(ratio=F(7, 5)), bl.pml(density.joint).tail(ratio=F(7, 5))):
        assert found.width > 0.5 and found.status == "certified"


def test_sets_and_posteriors_refuse_means_of_functions():
    over = bl.priors.bernoulli(F(1, 4), F(3, 4)) * bl.Mechanism.from_matrix(
        [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    )
    with pytest.raises(bl.NotYet):
        bl.pml(over).expectation(lambda t: t)
    with pytest.raises(bl.NotYet):
        bl.guarantees.f_information_bound(over, "kl")


def test_outcomes_that_nothing_reaches_and_a_single_secret():
    """A piece on which every density is 0 is no work; one secret has i = 0, ties decided."""
    bit, unit = bl.Finite([0.0, 1.0]), bl.Interval(0, 1)
    kernel = lambda y, x: np.where(y < 0.3125, 0.0, 1 / 0.6875) * (1 + 0 * x)  # noqa: E731
    joint = bl.pmf([F(1, 3), F(2, 3)], on=bit) * bl.Mechanism(kernel, secret=bit, outcome=unit)
    with bl.options(budget=5):
        found = bl.information_density(joint).tail(0.25)
    assert found.upper < 1e-9 and found.status in ("certified", "conditional")
    one = bl.Finite([0.0])
    density = bl.information_density(
        bl.pmf([F(1)], on=one) * bl.mechanisms.laplace(b=1.0, secret=one)
    )
    assert [density.tail(0, closed=c).lower for c in (False, True)] == [0.0, 1.0]
    assert density.tail(ratio=F(6, 5)).upper == 0 and density.tail(-0.1).lower == 1


@pytest.mark.parametrize("start", [-3.0, 0.0, 1.5, 7.0, 40.0])
@pytest.mark.parametrize(
    "h",
    [
        lambda t: t**2,
        lambda t: np.exp(-t),
        lambda t: t**3 - 10 * t,
        lambda t: np.where(t > 3, t**2, -100.0),
        lambda t: np.exp(t),
        lambda t: np.sin(t) * t,
        lambda t: abs(t - 50) ** 3,
    ],
)
def test_what_bounds_a_function_far_out(h, start):
    """abs(h(t)) is at most B e^t from the start on: t = 2 counts, and what is far beyond it."""
    t = np.unique(np.concatenate([start + np.linspace(0, 60, 2001), np.geomspace(41, 600, 501)]))
    most = growth(trace(h, ("t",), ()), start)
    assert most >= float((np.abs(h(t)) * np.exp(-t)).max()) * (1 - 1e-12)


def test_a_function_is_bounded_closely_far_out():
    """The largest of t^2 e^-t from 2 on is 4 e^-2; from 7 on it falls."""
    square = trace(lambda t: t**2, ("t",), ())
    assert growth(square, 2.0) < 4 * math.exp(-2) * (1 + 1e-9)
    assert growth(square, 7.0) < 49 * math.exp(-7) * (1 + 1e-9)


def test_a_slack_of_the_kernel_counts_where_terms_cancel():
    """E h(i) = 0 as a sum of terms of 4e8: a row that is off by 2e-12 moves it by 1e-4."""
    bit, unit = bl.Finite([0.0, 1.0]), bl.Interval(0, 1)
    row = lambda y: np.where(y < 0.5, 0.5, 1.5) * (1 + 2e-12)  # noqa: E731
    mech = bl.Mechanism(
        lambda y, x: np.where(x == 0, 1.0, row(y)), secret=bit, outcome=unit, breaks=[0.5]
    )
    density = bl.information_density(bl.pmf([F(1, 2)] * 2, on=bit) * mech)
    # rows (1/2, 1/2) and (1/4, 3/4): i > 0 has the probability (1/2 + 3/4) / 2
    found = density.expectation(lambda t: np.where(t > 0, 3.75e8, -6.25e8))
    assert found.lower <= 0 <= found.upper and found.width < 0.1
    assert found.status == "certified"


def test_a_mean_is_between_the_values_of_its_function():
    """Masses of bands that are known roughly sum to more than 1, a mean of 1 does not."""
    unit = bl.Interval(0, 1)
    mech = bl.Mechanism(
        lambda y, x: np.where(abs(y - x) < 0.5, 1.0, 0.0),
        secret=unit,
        outcome=bl.Interval(-0.5, 1.5),
    )
    with bl.options(budget=0.5):
        found = bl.pmc(bl.uniform(unit) * mech).expectation(lambda t: np.where(t > 1, 1.0, 0.0))
    assert found.lower <= 1 == found.upper
    sure = bl.pml(bl.uniform(unit) * bl.mechanisms.laplace(b=1.0, secret=unit))
    constant = sure.expectation(lambda t: 3 + 0 * t)
    assert constant.lower <= 3 <= constant.upper and constant.width < 1e-14
