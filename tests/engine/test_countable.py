"""Countable alphabets against series summed in rationals, or in Arb with the tail bounded."""

import math
from fractions import Fraction as F

import flint
import numpy as np
import oracles as o
import pytest

import borel as bl
from borel.engine.countable.engine import CountableEngine

N0, N1 = bl.Integers(0, None), bl.Integers(1, None)
BIT = bl.Finite(2)


def step(at, high=0.75, secret=N0):
    """Y = 1 with probability ``high`` from ``at`` on, and 1 - ``high`` before."""

    def density(y, x):
        return np.where(
            y == 1, np.where(x >= at, high, 1 - high), np.where(x >= at, 1 - high, high)
        )

    return bl.Mechanism(density, secret=secret, outcome=BIT)


def halves(secret=N1):
    """Y = 1 with probability 2**-(x + 1)."""
    return bl.Mechanism(
        lambda y, x: np.where(y == 1, 0.5 ** (x + 1), 1 - 0.5 ** (x + 1)),
        secret=secret,
        outcome=BIT,
    )


def poisson_below(mu, n):
    """P(X < n) as a ball."""
    m = o.ball(mu)
    terms = (m**k / flint.fmpz(math.factorial(k)) for k in range(n))
    return (-m).exp() * sum(terms, flint.arb(0))


def inside(bound, truth):
    """Say if a Bound encloses the logarithm of a ratio, given as a Fraction or a ball."""
    if isinstance(truth, F):
        return o.between(bound.lower, lambda: o.log(truth), bound.upper)
    return o.between(bound.lower, lambda: truth().log(), bound.upper)


@pytest.mark.few(7)
@pytest.mark.parametrize("mu", [0.25, 2.5, 30.0])
@pytest.mark.parametrize("at", [1, 3, 40])
@pytest.mark.parametrize("high", [0.75, 0.5625, 1.0])
def test_a_poisson_prior_and_a_step(mu, at, high):
    joint = bl.poisson(mu=mu) * step(at, high)
    for y, f in ((1, high), (0, 1 - high)):

        def marginal(f=f):
            return o.ball(1 - f) * poisson_below(mu, at) + o.ball(f) * (1 - poisson_below(mu, at))

        top, bottom = max(f, 1 - f), min(f, 1 - f)
        assert inside(bl.pml(joint)(y), lambda m=marginal, t=top: o.ball(t) / m())
        cost = bl.pmc(joint)(y)
        if bottom == 0:
            assert cost.lower == math.inf
        else:
            assert inside(cost, lambda m=marginal, b=bottom: m() / o.ball(b))
        found = bl.information_density(joint)(at, y)
        if f > 0:
            assert inside(found, lambda m=marginal, f=f: o.ball(f) / m())
        else:
            assert found.lower == found.upper == -math.inf


@pytest.mark.few(2)
@pytest.mark.parametrize("p", [0.25, 0.5, 0.9375, 0.01])
def test_a_geometric_prior_and_halves(p):
    """Sum of p q**(x-1) 2**-(x+1) is p / (4 - 2 q); the infimum 0 is approached, not attained."""
    joint = bl.geometric(p=p) * halves()
    one = F(p) / (4 - 2 * (1 - F(p)))
    assert inside(bl.pml(joint)(1), F(1, 4) / one)
    assert inside(bl.pml(joint)(0), 1 / (1 - one))
    assert inside(bl.pmc(joint)(0), (1 - one) / F(3, 4))
    assert bl.pmc(joint)(1).upper == math.inf
    assert inside(bl.pml(joint).sup(), max(F(1, 4) / one, 1 / (1 - one)))
    mean = bl.pml(joint).exp_mean()
    assert o.contains(mean.lower, F(5, 4), mean.upper)
    for t in (0.0, 0.05, 0.5, 2.0):
        truth = sum(
            m for m, r in ((one, F(1, 4) / one), (1 - one, 1 / (1 - one))) if o.nearly_log(r) > t
        )
        found = bl.pml(joint).tail(t)
        assert o.contains(found.lower, F(truth), found.upper)


def test_enclosures_are_tight_where_the_tail_is_negligible():
    joint = bl.geometric(p=0.25) * halves()
    for bound in (bl.pml(joint)(0), bl.pml(joint)(1), bl.pmc(joint)(0)):
        assert bound.width < 1e-13


@pytest.mark.parametrize("rate", [1e-3, 1e-5])
def test_a_heavy_tail_is_paid_for_in_width_not_in_truth(rate):
    joint = bl.geometric(p=rate) * step(3, secret=N1)
    beyond = (1 - F(rate)) ** 2  # P(X >= 3)
    marginal = F(1, 4) + beyond / 2
    assert inside(bl.pml(joint)(1), F(3, 4) / marginal)
    assert inside(bl.pmc(joint)(0), (1 - marginal) / F(1, 4))


def test_countable_outcomes_under_a_finite_prior():
    """f(y|x) = (1 - x) x**y for x = 1/4, 1/2: every figure is rational."""
    secrets = bl.Finite([0.25, 0.5])
    mech = bl.Mechanism(lambda y, x: (1 - x) * x**y, secret=secrets, outcome=N0)
    joint = bl.pmf([F(1, 4), F(3, 4)], on=secrets) * mech
    p, xs = [F(1, 4), F(3, 4)], [F(1, 4), F(1, 2)]

    def column(y):
        return [(1 - x) * x**y for x in xs]

    for y in (0, 1, 2, 7, 40, 200):
        K = [[v] for v in column(y)]
        mass = sum(a * v for a, v in zip(p, column(y), strict=True))
        assert inside(bl.pml(joint)(y), max(column(y)) / mass), y
        assert inside(bl.pmc(joint)(y), mass / min(column(y))), y
        assert o.maximal_leakage(p, K) == max(column(y))
    sup = bl.pml(joint).sup()  # log 4/3, approached as y grows, below PML(0)? the larger of them
    mass = p[0] * column(0)[0] + p[1] * column(0)[1]
    truth = max(column(0)[0] / mass, F(4, 3))
    assert sup.lower <= o.nearly_log(truth) * (1 + 1e-15) and sup.upper >= o.nearly_log(truth)
    # the law: 600 outcomes settle every tail to 2**-500
    head = [(sum(a * v for a, v in zip(p, column(y), strict=True)), column(y)) for y in range(600)]
    for kind in ("pml", "pmc"):
        values = [(m, max(c) / m if kind == "pml" else m / min(c)) for m, c in head]
        leak = getattr(bl, kind)(joint)
        for t in (0.05, 0.11, 0.2, 0.5, 1.0, 3.0):
            truth = sum((m for m, r in values if o.nearly_log(r) > t), F(0))
            found = leak.tail(t)
            assert found.lower <= truth + F(1, 2**500) and truth <= F(found.upper), (kind, t)
            found = leak.cdf(t)
            assert o.contains(found.lower, 1 - truth, found.upper) or (
                abs(1 - truth - F(found.upper)) < F(1, 2**500)
            )
        for s in (0.3, 0.7, 0.95):
            total, truth = F(0), None
            for m, r in sorted(values, key=lambda v: v[1]):
                total += m
                if total >= F(s):
                    truth = r
                    break
            assert inside(leak.quantile(s), truth), (kind, s)
        with o.precision():
            mean = sum((o.ball(m) * o.log(r) for m, r in values), flint.arb(0))
            assert o.ball(leak.mean().lower) <= mean


def test_countable_secrets_and_outcomes():
    """Y - X geometric on 0, 1, ...: f_Y(y) is a finite sum, every x > y makes y impossible."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y >= x, 0.5 ** (y - x + 1), 0.0), secret=N1, outcome=N1
    )
    joint = bl.geometric(p=0.25) * mech
    for y in (1, 2, 5, 30):
        mass = sum(
            (F(1, 4) * F(3, 4) ** (x - 1) * F(1, 2 ** (y - x + 1)) for x in range(1, y + 1)), F(0)
        )
        assert inside(bl.pml(joint)(y), F(1, 2) / mass), y
        assert bl.pmc(joint)(y).lower == math.inf
    assert bl.pmc(joint).sup().lower == math.inf
    assert bl.pml(joint).sup().upper == math.inf  # it grows without end: never a finite ceiling


def test_integers_without_ends():
    """X two-sided geometric, Y whether X >= 0: both tails carry mass."""
    line = bl.Integers()
    prior = bl.Measure(lambda x: 0.5 ** abs(x) / 3, on=line, tail=lambda n: 2 * 0.5**n / 3)
    mech = bl.Mechanism(
        lambda y, x: np.where((x >= 0) == (y == 1), 0.75, 0.25), secret=line, outcome=BIT
    )
    joint = prior * mech
    mass = F(2, 3) * F(3, 4) + F(1, 3) * F(1, 4)
    assert inside(bl.pml(joint)(1), F(3, 4) / mass)
    assert inside(bl.pmc(joint)(0), (1 - mass) / F(1, 4))
    assert bl.pml(joint)(1).status == "exact"  # the sum is proved, and no tail is read


# -- statuses ------------------------------------------------------------------------------------


def tails_among(bound):
    return [a for a in bound.assumptions if "tail" in a]


def test_a_declared_tail_is_an_assumption_and_a_proved_one_is_not():
    # its sum is not proved, as it does not fall from anywhere on: 13/12 of it, and 11/96 from 3 on
    wave = lambda x: 0.5 ** (x + 1) * (1 + 0.25 * np.cos(np.pi * x)) * (12 / 13)  # noqa: E731
    declared = bl.Measure(wave, on=N0, tail=lambda n: 0.75 ** (n + 1))
    unknown = bl.Measure(wave, on=N0)
    for prior in (declared, unknown):
        for bound in (bl.pml(prior * step(3))(1), bl.pml(prior * step(3)).sup()):
            assert bound.status == "conditional" and tails_among(bound)
            assert inside(bound, F(3, 4) / (F(1, 4) + F(1, 2) * F(11, 104)))
    for prior, secret in ((bl.poisson(mu=2.0), N0), (bl.geometric(p=0.5), N1)):
        assert not tails_among(bl.pml(prior * step(3, secret=secret))(1))


@pytest.mark.parametrize("tail", [None, lambda n: 0.5 ** (n + 1), lambda n: 1e-300])
def test_a_written_prior_whose_sum_is_proved_needs_no_tail(tail):
    """Nor is a declared one read, which may be wrong beyond what was looked at."""
    prior = bl.Measure(lambda x: 0.5 ** (x + 1), on=N0, tail=tail)
    for bound in (bl.pml(prior * step(3))(1), bl.pml(prior * step(3)).sup()):
        assert bound.status == "exact" and not tails_among(bound)
        assert inside(bound, F(3, 4) / (F(1, 4) + F(1, 2) * F(1, 8)))
        assert bound.width < 1e-13


SUMS = {  # written priors and whether their sums are proved, with P{X >= 3} by hand
    "inflated": (lambda x: np.where(x == 0, 0.25, 0.0) + 0.75 * 0.5 ** (x + 1), N0, True,
                 F(3, 32)),
    "a mixture": (lambda x: 0.25 * 0.5 ** (x + 1) + 0.75 * 0.25 * 0.75**x, N0, True,
                  F(1, 32) + F(81, 256)),
    "shifted": (lambda x: np.where(x < 2, 0.0, 0.5 ** (x - 1)), N0, True, F(1, 2)),
    "from above": (lambda x: 0.5 ** (6 - x), bl.Integers(None, 5), True, F(7, 8)),
    "misses 1": (lambda x: 0.5 ** (x + 1) * (1 + 1e-11), N0, False, F(1, 8)),
    "misses 1, as floats may": (lambda x: 0.5 ** (x + 1) * (1 - 5e-10), N0, False, F(1, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_written_priors(name):
    density, on, proved, beyond = SUMS[name]
    joint = bl.Measure(density, on=on) * step(3, secret=on)
    bound = bl.pml(joint)(1)
    assert bound.status == ("exact" if proved else "conditional")
    assert inside(bound, F(3, 4) / (F(1, 4) + F(1, 2) * beyond)) or not proved


OUTSIDE = {  # conditions that NumPy answers for NaN: they hold up to x = 5000 and for no x beyond
    "a root": lambda x: np.sqrt(5000.5 - x) >= 0,
    "a logarithm": lambda x: np.log(5000.5 - x) < np.inf,
    "fmax": lambda x: np.fmax(np.sqrt(5000.5 - x), -1.0) >= 0,
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_nan_decides_far_out_is_part_of_the_sum(name):
    """Of a mass of 1/100 beyond 5000, which no head shows, nothing may be proved."""
    holds, far = OUTSIDE[name], lambda x: 0.01 * 0.5 ** (x - 5000)
    density = lambda x: np.where(holds(x), 0.5 ** (x + 1), far(x))  # noqa: E731
    joint = bl.Measure(density, on=N0, tail=lambda n: 1.0) * step(3)
    assert bl.pml(joint)(1).status == "conditional"


@pytest.mark.parametrize("off", [-4e-14, 4e-14])
def test_a_sum_that_misses_1_a_little_widens_figures(off):
    """The prior meant is the one written over its sum, which is 1 + off."""
    joint = bl.Measure(lambda x: 0.5 ** (x + 1) * (1 + off), on=N0) * step(3)
    bound = bl.pml(joint)(1)
    assert bound.status == "exact" and bound.width < 1e-12
    assert inside(bound, F(3, 4) / (F(1, 4) + F(1, 2) * F(1, 8)))


def test_a_density_that_cannot_be_enclosed_gives_estimates():
    from scipy import special  # no interval arithmetic for Bessel functions

    mech = bl.Mechanism(
        lambda y, x: np.where(y == 1, special.j0(x) ** 2, 1 - special.j0(x) ** 2),
        secret=N0,
        outcome=BIT,
    )
    bound = bl.pml(bl.poisson(mu=2.0) * mech)(1)
    assert bound.status in ("estimate", "undecided") and bound.reason
    with pytest.raises(bl.Undecided):
        bool(bound <= 100)


def test_a_lost_tail_is_caught(monkeypatch):
    """The same check fails once the mass beyond the head is forgotten."""

    def check():
        joint = bl.geometric(p=1e-5) * step(60_000, secret=N1)
        mass = F(1, 4) + (1 - F(1e-5)) ** 59_999 / 2
        with o.precision():
            truth = F(3, 4) / mass
        assert inside(bl.pml(joint)(1), truth)

    check()
    head = CountableEngine._head
    monkeypatch.setattr(CountableEngine, "_head", lambda self, n: head(self, n)._replace(tail=0.0))
    with pytest.raises(AssertionError):
        check()


def test_a_lost_tail_of_outcomes_is_caught(monkeypatch):
    def check():
        secrets = bl.Finite([0.25, 0.9999])
        mech = bl.Mechanism(lambda y, x: (1 - x) * x**y, secret=secrets, outcome=N0)
        found = bl.pml(bl.pmf([0.5, 0.5], on=secrets) * mech).tail(-1.0)
        assert o.contains(found.lower, F(1), found.upper)
        found = bl.pml(bl.pmf([0.5, 0.5], on=secrets) * mech).tail(0.69)
        x = F(0.9999)
        head = [(F(3, 4) * F(1, 4) ** y, (1 - x) * x**y) for y in range(40)]
        truth = 1 - sum(
            (a + b) / 2 for a, b in head if o.nearly_log(2 * max(a, b) / (a + b)) <= 0.69
        )
        assert o.contains(found.lower, truth, found.upper)

    check()
    from borel.probability.countable_law import Values

    law = CountableEngine.law
    monkeypatch.setattr(
        CountableEngine,
        "law",
        lambda self, kind: Values(**{**law(self, kind).__dict__, "leftover": 0.0}),
    )
    with pytest.raises(AssertionError):
        check()


# -- found by attack -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "test",
    [
        lambda x: x - 1000,
        lambda x: np.logical_not(x == 1000),
        lambda x: np.logical_not(np.logical_not(x - 1000)),
        lambda x: np.logical_and(x - 1000, 1),
    ],
    ids=["number", "comparison", "not not", "and"],
)
def test_one_secret_far_out_in_the_tail_counts(test):
    """f(1|1000) = 7/8, f(1|x) = 1/8 elsewhere: PML(1) is about log 7, not 0."""
    mech = bl.Mechanism(
        lambda y, x: np.where(
            y == 1, np.where(test(x), 0.125, 0.875), np.where(test(x), 0.875, 0.125)
        ),
        secret=N1,
        outcome=BIT,
    )
    joint = bl.geometric(p=0.25) * mech
    mass = F(1, 8) + F(3, 4) * F(1, 4) * F(3, 4) ** 999
    bound = bl.pml(joint)(1)
    assert inside(bound, F(7, 8) / mass), bound


def test_truth_values_add_as_numpy_adds_them():
    """In NumPy True + True is True: the enclosure must be of that function, or refuse it."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y == 1, ((x == 2) + (x < 5)) * 0.5, 1 - ((x == 2) + (x < 5)) * 0.5),
        secret=N1,
        outcome=BIT,
    )
    joint = bl.geometric(p=0.5) * mech
    mass = F(1, 2) * (1 - F(1, 16))
    bound = bl.pml(joint)(1)
    assert bound.status == "estimate" or inside(bound, F(1, 2) / mass), bound
