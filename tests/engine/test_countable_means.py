"""Means over countable outcomes: sums in mpmath at 60 digits, far beyond where they matter.

The truths know S, I and f_Y, the supremum and infimum of f(m|x) over the secrets and its mean, at
each outcome; nothing of them comes from borel. Enclosures hold with no tolerance.
"""

import math
from dataclasses import dataclass
from functools import cache

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

import borel as bl
from borel.engine import engine_for
from borel.engine.countable.means_beyond_head import beyond
from borel.numerics.germs.forward_difference import enclosed, unit_step, without_common
from borel.numerics.germs.interpreter import ray, slack
from borel.numerics.germs.values import UndecidedRule
from borel.numerics.graphs.trace import trace
from borel.numerics.intervals import interpreter

N0, N1, Z = bl.Integers(0, None), bl.Integers(1, None), bl.Integers()
LOG2 = math.log(2)
FIGURES = [(kind, what) for kind in ("pml", "pmc") for what in ("mean", "exp")]
DIGITS = 60


@dataclass
class Case:
    """A joint, and the truth about its outcomes: ``at(m)`` gives S, I and f_Y."""

    joint: object
    at: object
    first: int = 0
    last: int = 700
    infinite: tuple = ()
    rough: tuple = ()

    def term(self, kind, what, m):
        top, bottom, mass = self.at(m)
        ratio = top / mass if kind == "pml" else mass / bottom
        return mass * (ratio if what == "exp" else mp.log(ratio))

    def total(self, kind, what, outcomes=None):
        """Sum over outcomes; what is beyond the last one is far below the digits."""
        with mp.workdps(DIGITS):
            outcomes = range(self.first, self.last) if outcomes is None else outcomes
            return mp.fsum(self.term(kind, what, m) for m in outcomes)


def of_finite(f, xs, ps):
    """Return S, I and f_Y for secrets that are floats, and mean their binary values."""

    @cache
    def at(m):
        with mp.workdps(DIGITS):
            values = [f(m, mp.mpf(x)) for x in xs]
            mass = mp.fsum(mp.mpf(p) * v for p, v in zip(ps, values, strict=True))
            return max(values), min(values), mass

    return at


def of_uniform(f, a, b, peak, mass):
    """Return them for a uniform secret on (a, b), f having one peak there."""

    @cache
    def at(m):
        with mp.workdps(DIGITS):
            ends = [f(m, mp.mpf(x)) for x in (a, b)]
            inside = f(m, peak(m)) if a < peak(m) < b else ends[0]
            return max(*ends, inside), min(ends), mass(m)

    return at


def joint_of(density, xs, ps, outcome=N0, **options):
    secret = bl.Finite(xs)
    return bl.pmf(ps, on=secret) * bl.Mechanism(density, secret=secret, outcome=outcome, **options)


def on_interval(density, a, b, outcome=N0, **options):
    secret = bl.Interval(a, b)
    mech = bl.Mechanism(density, secret=secret, outcome=outcome, **options)
    return bl.uniform(secret) * mech


def poisson_log(y, x):
    return y * np.log(x) - x - special.gammaln(y + 1)


def poisson(m, x):
    return x**m * mp.exp(-x) / mp.factorial(m)


def geometric(m, x):
    return (1 - x) * x**m


def negative_binomial(m, x):
    return mp.mpf((m + 1) * (m + 2)) / 2 * (1 - x) ** 3 * x**m


def two_sided(m, x):
    return (1 - x) / (1 + x) * x ** abs(m)


def folded(m):
    """Number the integers 0, -1, 1, -2, 2, ..."""
    return 2 * m if m >= 0 else -2 * m - 1


def power_mean(n, a, b):
    """Return the mean of x^n for a uniform x."""
    a, b = mp.mpf(a), mp.mpf(b)
    return (b ** (n + 1) - a ** (n + 1)) / ((n + 1) * (b - a))


RATES, WEIGHTS = [0.5, 1.0, 2.0], [0.25, 0.25, 0.5]
SHARES, HALVES = [0.25, 0.375], [0.25, 0.75]
EQUAL = [0.25, 0.5]  # 0.5^2 = 0.25: E e^PMC is infinite


def mixed(m, x):
    return x * mp.mpf(0.5) ** (m + 1) + (1 - x) * mp.mpf(3) * mp.mpf(0.25) ** (m + 1)


def cases():
    third = [0.3, 0.45, 0.4], [0.25, 0.25, 0.5]
    out = {
        "poisson": Case(
            joint_of(poisson_log, RATES, WEIGHTS, log=True), of_finite(poisson, RATES, WEIGHTS)
        ),
        "poisson, linear": Case(
            joint_of(lambda y, x: x**y * np.exp(-x) / special.gamma(y + 1), RATES, WEIGHTS),
            of_finite(poisson, RATES, WEIGHTS),
        ),
        "geometric": Case(
            joint_of(lambda y, x: (1 - x) * x**y, EQUAL, HALVES),
            of_finite(geometric, EQUAL, HALVES),
            infinite=(("pmc", "exp"),),
        ),
        "geometric, three": Case(
            joint_of(lambda y, x: (1 - x) * x**y, *third), of_finite(geometric, *third)
        ),
        "negative binomial": Case(
            joint_of(lambda y, x: special.binom(y + 2, 2) * (1 - x) ** 3 * x**y, SHARES, HALVES),
            of_finite(negative_binomial, SHARES, HALVES),
        ),
        "mixture": Case(
            joint_of(
                lambda y, x: x * 0.5 ** (y + 1) + (1 - x) * 3 * 0.25 ** (y + 1), SHARES, HALVES
            ),
            of_finite(mixed, SHARES, HALVES),
            rough=(("pmc", "exp"),),  # which summand of the mixture falls slower is not used
        ),
        "two-sided": Case(
            joint_of(lambda y, x: (1 - x) / (1 + x) * x ** np.abs(y), SHARES, HALVES, Z),
            of_finite(two_sided, SHARES, HALVES),
            first=-700,
        ),
        "uniform, poisson": Case(
            on_interval(poisson_log, 0.5, 2, log=True),
            of_uniform(
                poisson,
                0.5,
                2,
                lambda m: mp.mpf(m),
                lambda m: mp.gammainc(m + 1, 0.5, 2) / mp.factorial(m) / mp.mpf(1.5),
            ),
        ),
        "uniform, geometric": Case(
            on_interval(lambda y, x: (1 - x) * x**y, 0.25, 0.375),
            of_uniform(
                geometric,
                0.25,
                0.375,
                lambda m: mp.mpf(m) / (m + 1),
                lambda m: power_mean(m, 0.25, 0.375) - power_mean(m + 1, 0.25, 0.375),
            ),
        ),
        "uniform, two-sided": Case(
            on_interval(
                lambda y, x: (1 - x) * x ** np.where(y < 0, -2 * y - 1, 2 * y), 0.25, 0.375, Z
            ),
            of_uniform(
                lambda m, x: geometric(folded(m), x),
                0.25,
                0.375,
                lambda m: mp.mpf(folded(m)) / (folded(m) + 1),
                lambda m: (
                    power_mean(folded(m), 0.25, 0.375) - power_mean(folded(m) + 1, 0.25, 0.375)
                ),
            ),
            first=-700,
        ),
    }
    return out


CASES = cases()


def holds(bound, truth, width=1e-8):
    """Say whether an enclosure holds, and is narrow."""
    with mp.workdps(DIGITS):
        inside = mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)
    return bool(inside) and bound.upper - bound.lower <= width and bound.proved


def figure(joint, kind, what):
    leak = getattr(bl, kind)(joint)
    return leak.mean() if what == "mean" else leak.exp_mean()


@pytest.mark.few(4)
@pytest.mark.parametrize(("kind", "what"), FIGURES)
@pytest.mark.parametrize("name", CASES)
def test_a_mean_is_enclosed(name, kind, what):
    case = CASES[name]
    found = figure(case.joint, kind, what)
    if (kind, what) in case.infinite:
        assert found.upper == math.inf
        return
    assert holds(found, case.total(kind, what)), found


@pytest.mark.few(6)
@pytest.mark.parametrize(("kind", "what"), FIGURES)
@pytest.mark.parametrize("name", CASES)
def test_what_is_beyond_a_run_of_outcomes_is_bounded(name, kind, what):
    """A run of a few outcomes leaves something to bound: the bound is no less, and not far off."""
    case = CASES[name]
    engine = engine_for(case.joint)
    if (kind, what) in case.infinite + case.rough:
        assert beyond(engine, kind, what, np.arange(0, 6)) == math.inf
        return
    for last in (5, 9, 30):
        run = range(0 if case.first == 0 else -last + 1, last + 1)
        rest = [m for m in range(case.first, case.last) if m not in run]
        truth = case.total(kind, what, rest)
        found = beyond(engine, kind, what, np.array(run))
        assert truth <= mp.mpf(found), (last, found, truth)
        # from a few outcomes on, terms may rise at first, and bounds of the steps are rough
        assert last < 30 or mp.mpf(found) <= 1000 * truth, (last, found, truth)


@pytest.mark.few(3)
@pytest.mark.parametrize("what", ["mean", "exp"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_bound_behind_a_run_is_sharp(mirrored, what):
    """One secret has nearly all of the mass: f_Y is nearly S, and each step of S / I counts."""
    xs, ps = [0.25, 0.375], [2.0**-20, 1 - 2.0**-20]

    def density(y, x):  # mirrored, the first of the sorted secrets has the heavier tail
        return x * (1 - x) ** y if mirrored else (1 - x) * x**y

    labels = [1 - x for x in xs] if mirrored else xs
    joint = joint_of(density, labels, ps)
    case = Case(joint, of_finite(lambda m, x: density(m, x), labels, ps))
    for last in (5, 30):
        truth = case.total("pmc", what, range(last + 1, 700))
        found = beyond(engine_for(joint), "pmc", what, np.arange(last + 1))
        assert truth <= mp.mpf(found) <= mp.mpf(1.00001) * truth


@pytest.mark.parametrize("name", ["poisson", "geometric, three"])
def test_pml_of_few_secrets_is_bounded_where_densities_underflow(name):
    case = CASES[name]
    least = -math.log(0.25)
    sup = bl.pml(case.joint).sup()
    assert sup.upper <= least * (1 + 1e-14) and sup.proved
    for m in (250, 2000) if name == "poisson" else (250,):
        top, bottom, mass = case.at(m)
        for kind, truth in (("pml", top / mass), ("pmc", mass / bottom)):
            with mp.workdps(DIGITS):
                assert holds(getattr(bl, kind)(case.joint)(m), mp.log(truth)), (m, kind)


def test_example_8():
    """f_Y(m) = 3^-m, sup f(m|n) = (1 + 3^-m)/2 for m >= 1, and PMC is log 2 everywhere."""
    prior = bl.Measure(
        lambda n: np.where(n == 0, 0.5, 3.0**-n), on=N0, tail=lambda n: 3.0 ** -min(n, 600)
    )

    def density(m, n):
        zero = np.where(m == 0, 0.75, 3.0**-m / 2)
        rest = np.where(m == 0, 0.25, np.where(m == n, 0.5, 0.0) + 3.0**-m / 2)
        return np.where(n == 0, zero, rest)

    joint = prior * bl.Mechanism(density, secret=N0, outcome=N0)
    with mp.workdps(DIGITS):
        three = mp.mpf(3)
        rest = mp.fsum(three**-m * mp.log((three**m + 1) / 2) for m in range(1, 200))
        mean = mp.log(mp.mpf(1.5)) / 2 + rest
        assert holds(bl.pml(joint).mean(), mean)
        assert holds(bl.pmc(joint).mean(), mp.log(2))
        assert holds(bl.pmc(joint).exp_mean(), mp.mpf(2))
        for last in (30, 60):  # what is beyond: f_Y log S/f_Y
            truth = mp.fsum(
                three**-m * mp.log((three**m + 1) / 2) for m in range(last + 1, last + 200)
            )
            found = beyond(engine_for(joint), "pml", "mean", np.arange(last + 1))
            assert truth <= mp.mpf(found) <= 40 * truth
    for infinite in (bl.pml(joint).exp_mean(), bl.maximal_leakage(joint)):
        assert infinite.lower == math.inf and infinite.proved


# -- kernels as libraries write them ---------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.cases("truths", "scipy nbinom")
@pytest.mark.parametrize("make", ["scipy poisson", "scipy nbinom", "scipy geom", "pymc poisson"])
def test_kernels_of_libraries(make):
    library, law = make.split()
    xs, ps = (RATES, WEIGHTS) if law == "poisson" else ([0.75, 0.625], HALVES)
    secret = bl.Finite(xs)
    if library == "pymc":
        import pymc as pm

        mech = bl.Mechanism.from_pymc(lambda x: pm.Poisson.dist(x), secret=secret, outcome=N0)
    else:
        build = {
            "poisson": lambda x: stats.poisson(x),
            "geom": lambda x: stats.geom(x),
            "nbinom": lambda x: stats.nbinom(3, x),
        }[law]
        outcome = N1 if law == "geom" else N0
        mech = bl.Mechanism.from_scipy(build, secret=secret, outcome=outcome)
    truth = {
        "poisson": poisson,
        "geom": lambda m, x: x * (1 - x) ** (m - 1),
        "nbinom": lambda m, x: negative_binomial(m, 1 - x),
    }[law]
    joint = bl.pmf(ps, on=secret) * mech
    case = Case(joint, of_finite(truth, xs, ps), first=int(law == "geom"))
    for kind, what in FIGURES:
        assert holds(figure(joint, kind, what), case.total(kind, what)), (kind, what)


@pytest.mark.truths
def test_a_shape_that_is_a_secret():
    """Gamma functions of y + x: log Gamma(y + 1 + x) - log Gamma(y + x) = log(y + x)."""
    xs, ps = [1.0, 1.5, 2.0], [0.25, 0.25, 0.5]

    def density(y, x):
        ends = special.gammaln(y + x) - special.gammaln(x) - special.gammaln(y + 1)
        return ends + (y + x) * np.log(0.5)

    def truth(m, x):
        return mp.gamma(m + x) / mp.gamma(x) / mp.factorial(m) * mp.mpf(0.5) ** (m + x)

    joint = joint_of(density, xs, ps, log=True)
    case = Case(joint, of_finite(truth, xs, ps))
    for kind, what in FIGURES:
        assert holds(figure(joint, kind, what), case.total(kind, what)), (kind, what)
        rest = case.total(kind, what, range(31, 700))
        assert rest <= mp.mpf(beyond(engine_for(joint), kind, what, np.arange(31)))


@pytest.mark.truths
def test_rates_down_to_zero():
    """X uniform on (0, 2): inf_x f(m|x) = 0 for m >= 1; PML has means."""
    joint = on_interval(poisson_log, 0, 2, log=True)
    at = of_uniform(
        poisson,
        0,
        2,
        lambda m: mp.mpf(m),
        lambda m: mp.gammainc(m + 1, 0, 2) / mp.factorial(m) / 2,
    )
    case = Case(joint, at)
    for what in ("mean", "exp"):
        assert holds(figure(joint, "pml", what), case.total("pml", what))
        assert figure(joint, "pmc", what).upper == math.inf


# -- where a bound would be false ------------------------------------------------------------------


@pytest.mark.truths
def test_tails_like_a_power_have_no_geometric_bound():
    """f(m|x) = m^-x - (m + 1)^-x: f_Y^2 / I is of order 1/m for x = 1, 2."""
    xs, ps = [1.0, 2.0], [0.5, 0.5]
    joint = joint_of(lambda m, x: 1.0 * m**-x - (m + 1.0) ** -x, xs, ps, N1)
    assert bl.pmc(joint).exp_mean().upper == math.inf
    at = of_finite(lambda m, x: m**-x - (m + 1) ** -x, xs, ps)
    part = Case(joint, at, first=1, last=20000)
    mean, power = bl.pml(joint).mean(), bl.pml(joint).exp_mean()
    assert mp.mpf(mean.upper) >= part.total("pml", "mean") >= mp.mpf(mean.lower) - 1e-3
    assert mp.mpf(power.upper) >= part.total("pml", "exp")
    cost = bl.pmc(joint).mean()  # finite, though PMC itself is unbounded
    assert mp.mpf(cost.lower) - 1e-3 <= part.total("pmc", "mean") <= mp.mpf(cost.upper)


def test_a_mean_may_be_finite_where_the_leakage_is_unbounded():
    """f(m|x) = b/2 + 1{b < x <= 2b}/2, b = 2^-(m+1), X uniform: f_Y = b, S = b/2 + 1/2."""

    def density(m, x):
        b = 0.5 ** (m + 1)
        return b / 2 + np.where(x > b, np.where(x <= 2 * b, 0.5, 0.0), 0.0)

    joint = on_interval(density, 0, 1)
    with mp.workdps(DIGITS):
        b = [mp.mpf(2) ** -(m + 1) for m in range(300)]
        mean = mp.fsum(v * mp.log((v + 1) / (2 * v)) for v in b)
        found = bl.pml(joint).mean()
        assert mp.mpf(found.lower) <= mean <= mp.mpf(found.upper)
    assert bl.pml(joint).sup().upper == math.inf
    assert bl.pml(joint).exp_mean().upper == math.inf


@pytest.mark.few(2)
@pytest.mark.parametrize("place", [300, 9973])
@pytest.mark.parametrize("secret", [bl.Finite([0.25, 1.0]), bl.Interval(0, 1)])
def test_a_bump_far_out_counts(place, secret):
    """With probability x / 10 the outcome is one far out: ess sup f is at least 1/10 there."""

    def density(y, x):
        return (1 - 0.1 * x) * 0.5 ** (y + 1) + np.where(y == place, 0.1 * x, 0.0)

    continuous = isinstance(secret, bl.Interval)
    prior = bl.uniform(secret) if continuous else bl.pmf([0.5, 0.5], on=secret)
    joint = prior * bl.Mechanism(density, secret=secret, outcome=N0)
    with mp.workdps(DIGITS):
        tenth = mp.mpf(0.1)
        mean = mp.mpf(0.5) if continuous else mp.mpf(0.625)
        least = mp.mpf(0) if continuous else mp.mpf(0.25)
        head = 1 - tenth * least  # the sum of S over all other outcomes, but for 2^-place
        power = head + tenth
        bump = tenth * mean * mp.log(1 / mean)
        plain = (1 - tenth * mean) * mp.log(head / (1 - tenth * mean))
    assert mp.mpf(bl.pml(joint).exp_mean().upper) >= power * (1 - mp.mpf(2) ** -50)
    assert mp.mpf(bl.pml(joint).mean().upper) >= (bump + plain) * (1 - mp.mpf(2) ** -50)
    engine = engine_for(joint)
    for kind, what in FIGURES:
        assert beyond(engine, kind, what, np.arange(64)) == math.inf


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_one_secret_with_a_far_heavier_tail(kind):
    """x = 0.25 or 0.9999: beyond 4096 outcomes two thirds of one of them are left."""
    xs, ps = [0.25, 0.9999], [0.5, 0.5]
    joint = joint_of(lambda y, x: (1 - x) * x**y, xs, ps)
    y = np.arange(400_000)
    low, high = (np.log1p(-x) + y * np.log(x) for x in xs)
    mass = np.logaddexp(low, high) - LOG2
    top, bottom = np.maximum(low, high), np.minimum(low, high)
    truth = math.fsum(np.exp(mass) * ((top - mass) if kind == "pml" else (mass - bottom)))
    found = figure(joint, kind, "mean")
    assert found.lower <= truth <= found.upper
    assert beyond(engine_for(joint), kind, "mean", np.arange(4096)) >= math.fsum(
        (np.exp(mass) * ((top - mass) if kind == "pml" else (mass - bottom)))[4096:]
    )


def test_a_kernel_that_rises_again_on_one_side():
    """Two-sided: on the left the kernel is a bump at -9973 that no head of 4096 outcomes has."""

    def density(y, x):
        left = np.where(y == -9973, 0.5 * x, 0.0)
        return left + np.where(y >= 0, (1 - 0.5 * x) * 0.5 ** (np.maximum(y, 0) + 1), 0.0)

    joint = joint_of(density, [0.25, 1.0], [0.5, 0.5], Z)
    assert bl.pml(joint).exp_mean().upper >= 1 - 0.5 * 0.25 + 0.5


def test_a_secret_that_some_outcomes_exclude():
    """f(m|x) is 0 for m >= 5 at one of the secrets: PMC is infinite there."""

    def density(y, x):
        return np.where(x == 1, np.where(y < 5, 0.2, 0.0), 0.5 ** (y + 1))

    joint = joint_of(density, [0.0, 1.0], [0.5, 0.5])
    for what in ("mean", "exp"):
        assert figure(joint, "pmc", what).upper == math.inf
    truth = sum(max(0.2, 0.5 ** (m + 1)) for m in range(5)) + 0.5**5
    found = bl.pml(joint).exp_mean()
    assert found.lower - 1e-15 <= truth <= found.upper + 1e-15 and found.upper - found.lower < 1e-8


# -- steps -----------------------------------------------------------------------------------------


STEPS = [
    (lambda y, x: y * np.log(x) - special.gammaln(y + 1), lambda m, x: x**m / mp.factorial(m)),
    (
        lambda y, x: np.log(special.binom(y + 3, 3)) + y * np.log(x),
        lambda m, x: mp.binomial(m + 3, 3) * x**m,
    ),
    (
        lambda y, x: np.log(special.gamma(2 * y + x)) - 2 * special.gammaln(y + 1),
        lambda m, x: mp.gamma(2 * m + x) / mp.factorial(m) ** 2,
    ),
    (
        lambda y, x: -special.gammaln(y + 7) + special.gammaln(y - 3),
        lambda m, x: mp.gamma(m - 3) / mp.gamma(m + 7),
    ),
    (
        lambda y, x: -x * (y - 3) ** 2 + np.log1p(y) - np.log(y * x + 2),
        lambda m, x: mp.exp(-x * (m - 3) ** 2) * (1 + m) / (m * x + 2),
    ),
    (
        lambda y, x: -np.exp(-x * y) - np.abs(y + x),
        lambda m, x: mp.exp(-mp.exp(-x * m) - abs(m + x)),
    ),
    (
        lambda y, x: np.logaddexp(-y * x, -y / 2 - 3),
        lambda m, x: mp.exp(-m * x) + mp.exp(-mp.mpf(m) / 2 - 3),
    ),
    (lambda y, x: special.xlogy(y, x) + special.xlog1py(y, x), lambda m, x: (x * (1 + x)) ** m),
    (
        lambda y, x: np.logaddexp(np.log(x) - y, np.log1p(x) - 2 * y),
        lambda m, x: x * mp.exp(-m) + (1 + x) * mp.exp(-2 * m),
    ),
]


@pytest.mark.parametrize("number", range(len(STEPS)))
def test_steps_enclose_differences(number):
    """At many outcomes and secrets of boxes, exactly; and not much more than them."""
    density, truth = STEPS[number]
    graph = trace(density, ("y", "x"), ())
    for start, box in ((20.0, (0.25, 0.5)), (300.0, (0.25, 0.25)), (50.0, (0.25, 1.5))):
        t0 = math.nextafter(1 / start, 1.0)
        named = {"y": ray(0.0, -1.0, 1.0, 1.0), "x": slack(*box)}
        step = unit_step(graph, named, t0)
        low, high = enclosed(step, named, t0)
        for m in (int(start), 137 + int(start)):
            for x in box:
                at = {"y": (float(m),) * 2, "x": (x, x), "either": (0.0, 1.0)}
                at = {k: tuple(map(np.float64, at[k])) for k in step.inputs}
                own = interpreter.evaluate(step, at)
                with mp.workdps(DIGITS):
                    exact = mp.log(truth(m + 1, mp.mpf(x)) / truth(m, mp.mpf(x)))
                    assert mp.mpf(float(own[0])) <= exact + mp.mpf(10) ** -50
                    assert mp.mpf(float(own[1])) >= exact - mp.mpf(10) ** -50
        with mp.workdps(DIGITS):
            seen = [
                mp.log(truth(m + 1, mp.mpf(x)) / truth(m, mp.mpf(x)))
                for m in (int(start), int(start) + 1, 2 * int(start), 1000)
                for x in np.linspace(*box, 5)
            ]
            rounding = mp.mpf(10) ** -50  # of the truth
            assert mp.mpf(low) - rounding <= min(seen) and max(seen) <= mp.mpf(high) + rounding
            assert number == 5 or mp.mpf(high) <= max(seen) + mp.mpf(0.5)
        one = {**named, "x": slack(box[1], box[1])}
        reference = unit_step(graph, one, t0).bind({"x": box[1]})
        least, most = enclosed(without_common(step, reference), named, t0)
        with mp.workdps(DIGITS):
            for m in (int(start), int(start) + 3, 777):
                last = mp.log(truth(m + 1, mp.mpf(box[1])) / truth(m, mp.mpf(box[1])))
                for x in np.linspace(*box, 5):
                    own = mp.log(truth(m + 1, mp.mpf(x)) / truth(m, mp.mpf(x)))
                    assert mp.mpf(least) - rounding <= own - last
                    assert own - last <= mp.mpf(most) + rounding


@pytest.mark.parametrize(
    "density",
    [
        lambda y, x: np.sin(np.pi * y) - x * y,
        lambda y, x: np.where(y == 1000, 0.0, -x * y),
        lambda y, x: -x * y + np.floor(y / 2),
        lambda y, x: special.gammaln(2000 - y) - x * y,
        lambda y, x: np.log(y - 50) - x * y,
        lambda y, x: -np.log(np.abs(y - 1000.5)) - x * y,
    ],
)
def test_no_step_is_known_of(density):
    """Waves, single outcomes, jumps, poles further out."""
    graph = trace(density, ("y", "x"), ())
    t0 = math.nextafter(1 / 20, 1.0)
    named = {"y": ray(0.0, -1.0, 1.0, 1.0), "x": slack(0.25, 0.5)}
    try:
        assert enclosed(unit_step(graph, named, t0), named, t0)[1] == math.inf
    except UndecidedRule:
        pass
