"""The noisy count of one entry and of the database: against enumeration of {0, 1}^n and mpmath."""

import math
from fractions import Fraction as F
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from statuses import certainly

import borel as bl
from borel.mechanisms.counting_entry import EntryForms, curve, leakage
from borel.mechanisms.noisy_count import Ends, NoisyCount

CASES = [
    (1, 0.7, "count", F(1, 3)),
    (2, 0.25, "fraction", F(1, 2)),
    (3, 1.5, "count", F(9, 10)),
    (5, 0.05, "fraction", F(1, 5)),
    (8, 0.3, "fraction", F(1, 50)),
    (8, 0.4, "count", F(3, 4)),
]


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(60):
        yield


def exact(value):
    value = F(value)
    return mp.mpf(value.numerator) / value.denominator


def truth(case, y):
    """f(y|0), f(y|1), f_Y(y), and the extremes over databases: every database in turn."""
    n, b, of, p = case
    unit = n if of == "fraction" else 1
    sums = {0: mp.mpf(0), 1: mp.mpf(0)}
    kernels = []
    for others in product((0, 1), repeat=n - 1):
        weight = math.prod((p if d else 1 - p for d in others), start=F(1))
        for d in (0, 1):
            f = mp.exp(-abs(exact(y) - mp.mpf(d + sum(others)) / unit) / exact(b)) / (2 * exact(b))
            sums[d] += exact(weight) * f
            kernels.append(f)
    whole = exact(1 - p) * sums[0] + exact(p) * sums[1]
    return sums[0], sums[1], whole, max(kernels), min(kernels)


def outcomes(case, count=9):
    n, _, of, _ = case
    top = 1.0 if of == "fraction" else float(n)
    inside = np.random.default_rng(n).uniform(-0.3 * top, 1.3 * top, count).tolist()
    return [*inside, 0.0, top, top / 2, -5.0 * top, 7.0 * top]


def joint(case):
    n, b, of, p = case
    query = bl.mechanisms.counting_query(n=n, b=b, of=of)
    return bl.iid(bl.pmf([1 - p, p]), n) * query


def holds(bound, value, slack=0):
    """At both ends of the counts the truth is a float exactly: mpmath's last digits are not."""
    return mp.mpf(bound.lower) - slack <= value <= mp.mpf(bound.upper) + slack


TINY = mp.mpf(10) ** -55


@pytest.mark.few(2)
@pytest.mark.parametrize("case", CASES)
def test_an_entry_at_outcomes(case):
    one = bl.entry(joint(case))
    pml, pmc = bl.pml(one), bl.pmc(one)
    ys = outcomes(case)
    for y in ys:
        zero, counts, whole, _, _ = truth(case, y)
        for ell, value in (
            (pml, mp.log(max(zero, counts) / whole)),
            (pmc, mp.log(whole / min(zero, counts))),
        ):
            found = ell(y)
            assert found.status == "exact" and holds(found, value, TINY)
            assert found.width <= 4e-16 + 4e-16 * found.upper
    for ell, kind in ((pml, "pml"), (pmc, "pmc")):
        curve = ell(ys)
        assert set(curve.status.values) == {"certified"}
        assert float((curve.upper - curve.lower).max()) < 1e-12
        for i, y in enumerate(ys):
            zero, counts, whole, _, _ = truth(case, y)
            ends = (max(zero, counts), whole) if kind == "pml" else (whole, min(zero, counts))
            value = mp.log(ends[0] / ends[1])
            assert float(curve.lower[i]) - TINY <= value <= float(curve.upper[i]) + TINY


@pytest.mark.few(5)
@pytest.mark.parametrize("case", CASES)
def test_the_database_at_outcomes(case):
    database = joint(case)
    for y in outcomes(case):
        _, _, whole, most, least = truth(case, y)
        found = bl.pml(database)(y), bl.pmc(database)(y)
        assert all(f.status == "exact" for f in found)
        assert holds(found[0], mp.log(most / whole), TINY)
        assert holds(found[1], mp.log(whole / least), TINY)


def closed_form(kind, case, times=1):
    n, b, of, p = case
    a = 1 / (exact(b) * (n if of == "fraction" else 1))
    if kind == "pml":
        return times * (a - mp.log(exact(1 - min(p, 1 - p)) + exact(min(p, 1 - p)) * mp.exp(a)))
    return times * mp.log(exact(1 - max(p, 1 - p)) + exact(max(p, 1 - p)) * mp.exp(a))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_suprema(case, kind):
    n = case[0]
    database = joint(case)
    one = bl.entry(database)
    leakage = getattr(bl, kind)
    for j, times in ((one, 1), (database, n)):
        found = leakage(j).sup()
        assert found.status == "exact" and found.attained
        assert holds(found, closed_form(kind, case, times), TINY)
        assert found.width <= 1e-15 * max(found.upper, 1)
        # it is taken at the witness, and nowhere exceeded
        at = leakage(j)(float(found.witness["y"]))
        assert abs(at.upper - found.upper) <= 1e-14 * max(1, found.upper)
        assert max(leakage(j)(y).lower for y in outcomes(case, 40)) <= found.upper
    zero, counts, *_ = truth(case, found.witness["y"])
    told = leakage(one).sup().witness["x"]
    assert told == (int(counts > zero) if kind == "pml" else int(counts < zero))


def test_the_number_of_the_paper():
    one = bl.entry(joint((5, 0.05, "fraction", F(1, 5))))
    assert round(bl.pml(one).sup().value, 3) == 1.539


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [CASES[1], *(pytest.param(c, marks=pytest.mark.slow) for c in CASES if c != CASES[1])]
)
def test_law(case):
    """Tails and quantiles against a fine grid of outcomes, which brackets them."""
    n, b, of, p = case
    one = bl.entry(joint(case))
    unit = n if of == "fraction" else 1
    edges = np.linspace(-1e-9, n + 1e-9, 40_001) / unit
    weights = [math.comb(n, s) * p**s * (1 - p) ** (n - s) for s in range(n + 1)]

    def cdf(y):
        z = (y[:, None] - np.arange(n + 1) / unit) / b
        below = np.where(z < 0, np.exp(-abs(z)) / 2, 1 - np.exp(-abs(z)) / 2)
        return below @ np.array([float(w) for w in weights])

    masses = np.diff(cdf(edges))
    ends = cdf(edges[[0, -1]])
    masses = np.concatenate([[ends[0]], masses, [1 - ends[1]]])
    middle = np.concatenate([[-1.0], (edges[1:] + edges[:-1]) / 2, [2.0 * n]])
    for kind in ("pml", "pmc"):
        ell = getattr(bl, kind)(one)
        values = ell(middle).upper.values
        for t in (0.02, 0.3 * ell.sup().upper, 0.9 * ell.sup().upper):
            found = ell.tail(t)
            assert certainly(found) and found.width < 1e-9
            assert abs(found.value - masses[values > t].sum()) < 3e-4
        for s in (F(1, 2), F(9, 10)):
            found = ell.quantile(s)
            assert found.width < 1e-9
            # the law at either side of it
            assert ell.cdf(found.upper + 1e-9).upper >= s
            assert ell.cdf(max(found.lower - 1e-9, -1)).lower <= s
        assert ell.tail(ell.sup().upper + 1e-9).upper == 0
        assert ell.tail(-1.0).lower == 1 and ell.tail(math.inf).upper == 0
        assert ell.quantile(1).upper <= ell.sup().upper
    leak = bl.maximal_leakage(one)
    values = np.exp(bl.pml(one)(middle).upper.values)
    assert certainly(leak) and leak.width < 1e-12
    assert abs(leak.value - math.log((values * masses).sum())) < 3e-4
    assert bl.pml(one).exp_mean().lower <= math.exp(leak.upper) * (1 + 1e-15)
    assert bl.ldp(one).lower <= 1 / (unit * b) * (1 + 1e-15) and bl.ldp(one).width < 1e-14


@pytest.mark.few(1)
@pytest.mark.cases("slow", "case3")
@pytest.mark.parametrize("case", CASES[:4])
def test_means(case):
    """Against quadrature at 25 digits, split at the counts and where r = 1."""
    n, b, of, p = case
    unit = n if of == "fraction" else 1
    one = bl.entry(joint(case))
    w = exact(p)
    weights = [mp.binomial(n - 1, m) * w**m * (1 - w) ** (n - 1 - m) for m in range(n)]

    def f(y, d):
        terms = (v * mp.exp(-abs(y - mp.mpf(d + m) / unit) / b) for m, v in enumerate(weights))
        return mp.fsum(terms) / (2 * exact(b))

    with mp.workdps(25):
        root = mp.findroot(lambda y: f(y, 1) - f(y, 0), (0, mp.mpf(n) / unit), solver="anderson")
        kinks = [mp.mpf(k) / unit for k in range(n + 1)]
        edges = sorted([kinks[0] - 60 * mp.mpf(b), *kinks, root, kinks[-1] + 60 * mp.mpf(b)])

        def mean(of_ratio):
            def value(y):
                zero, counts = f(y, 0), f(y, 1)
                return of_ratio(zero, counts, (1 - w) * zero + w * counts)

            return mp.quad(value, edges)

        truths = [
            (bl.pml(one).mean(), mean(lambda z, c, m: m * mp.log(max(z, c) / m))),
            (bl.pmc(one).mean(), mean(lambda z, c, m: m * mp.log(m / min(z, c)))),
            (
                bl.mutual_information(one),
                mean(lambda z, c, m: (1 - w) * z * mp.log(z / m) + w * c * mp.log(c / m)),
            ),
            (bl.total_variation(one), mean(lambda z, c, m: w * (1 - w) * abs(z - c))),
        ]
        for found, truth in truths:
            assert certainly(found) and found.width < 1e-13
            assert holds(found, truth, mp.mpf(10) ** -17)  # the quadrature's own error
    assert bl.f_information(one, "kl") == bl.mutual_information(one)
    assert bl.pml(one).mean().upper <= bl.maximal_leakage(one).upper  # Jensen


def test_means_of_many_entries():
    one = bl.entry(joint((400, 2.0, "count", F(1, 4))))
    found = bl.pml(one).mean()
    assert certainly(found) and found.width < 1e-14
    draws = one.mechanism.sample(
        (np.random.default_rng(1).random(5_000) < 0.25).astype(float), rng=2
    )
    values = bl.pml(one)(draws).upper.values
    assert abs(values.mean() - found.value) < 5 * values.std() / math.sqrt(len(values))


def test_enclosures_of_p_hold_every_p():
    """A wide enclosure of the laws: every figure at every p, and every prior, within it."""
    ends = Ends(F(1, 5), F(2, 5))
    for unit, rate in ((6, F(3)),):
        wide = EntryForms(NoisyCount(5, rate, ends), unit, (False, True))
        for p in ends:
            noise = NoisyCount(5, rate, Ends(p, p))
            for w in ends:
                narrow = EntryForms(noise, unit, (False, True))
                whole, part = wide._exp_mean(ends), narrow._exp_mean(Ends(w, w))
                assert whole[0] <= part[1] and part[0] <= whole[1]
                for kind in ("pml", "pmc"):
                    for side in (1, -1):
                        low, high = narrow._beyond(ends, F(5, 2), side)
                        inner = narrow._beyond(Ends(w, w), F(5, 2), side)
                        assert low <= inner[0] <= inner[1] <= high
                    # above 0.85 PML has mass for some of the priors only
                    for s in (0.1, 0.4, 1.0):
                        low, high = wide._tail(kind, ends, s)
                        inner = narrow._tail(kind, Ends(w, w), s)
                        assert low <= inner[1] and inner[0] <= high
                        assert inner[1] - inner[0] < 1e-9
                        low, high = narrow._tail(kind, ends, s)  # only the prior is wide
                        assert low <= inner[1] and inner[0] <= high
                    for t in (-1, F(1, 2), 2, F(13, 4), 5, 7):
                        low, high = leakage(kind, wide.noise.log_ratio(F(t)), ends)
                        inner = leakage(kind, noise.log_ratio(F(t)), Ends(w, w))
                        assert low <= inner[1] and inner[0] <= high
                    ys = np.array([-1.0, 0.5, 2.0, 3.25, 5.0, 7.0]) / unit
                    low, high = curve(kind, wide.noise, unit, ys, ends, math.inf)
                    inner = curve(kind, noise, unit, ys, Ends(w, w), math.inf)
                    assert (low <= inner[1]).all() and (inner[0] <= high).all()


def test_atoms_of_the_law():
    """P(T >= n) = (p + (1 - p) e^-a)^n / 2 is the mass at the supremum of PML for p < 1/2."""
    case = (4, 0.5, "count", F(1, 3))
    one = bl.entry(joint(case))
    top = bl.pml(one).sup()
    mass = (exact(F(1, 3)) + exact(F(2, 3)) * mp.exp(-2)) ** 4 / 2
    assert holds(bl.pml(one).tail(top.lower - 1e-6), mass, 1e-5)
    assert bl.pml(one).tail(top.lower - 1e-12).lower > float(mass) * 0.999
    assert bl.pml(one).tail(top.upper + 1e-12).upper == 0
    assert bl.pml(one).quantile(1 - F(float(mass)) / 2).upper >= top.lower
    assert bl.pml(one).quantile(1 - F(float(mass)) * 2).upper < top.lower


def test_the_other_engine_agrees():
    """The traced mixture by the certified engine: conditional, and it meets the closed form."""
    one = bl.entry(joint((4, 0.5, "count", F(1, 3))))
    closed = bl.pml(one)
    ys = (-1.0, 0.3, 1.7, 4.5)
    with bl.options(closed_forms=False):
        engine = bl.pml(one)
        for y in ys:
            found = engine(y)
            assert found.status == "conditional" and found.width < 1e-8
            assert found.lower - 1e-14 <= closed(y).upper and closed(y).lower <= found.upper + 1e-14


def test_the_density_is_that_of_an_entry():
    for case in CASES:
        kernel = bl.entry(joint(case)).mechanism
        for y in outcomes(case, 4):
            zero, counts, *_ = truth(case, y)
            assert np.allclose(
                kernel.logpdf(y, np.array([0, 1])), [float(mp.log(v)) for v in (zero, counts)]
            )
    big = bl.entry(joint((60, 2.0, "count", F(1, 3)))).mechanism
    assert "mixture" in big.opaque
    w = [math.comb(59, m) * F(1, 3) ** m * F(2, 3) ** (59 - m) for m in range(60)]
    for y in (-30.0, 11.3, 80.0):
        f = [
            sum(exact(w[m]) * mp.exp(-abs(mp.mpf(y) - d - m) / 2) / 4 for m in range(60))
            for d in (0, 1)
        ]
        assert np.allclose(big.logpdf(y, np.array([0, 1])), [float(mp.log(v)) for v in f])
    draws = big.sample(np.ones(20_000), rng=1)
    assert abs(draws.mean() - (1 + 59 / 3)) < 0.1


def test_lanes_and_balls_enclose_the_ratio():
    rng = np.random.default_rng(3)
    for _ in range(150):
        n = int(rng.integers(0, 25))
        a = F(float(np.exp(rng.uniform(-9, 4))))
        p = F(float(rng.uniform(0.01, 0.99)))
        t = float(rng.uniform(0, n + 1)) if rng.random() < 0.7 else float(rng.integers(1, n + 2))
        noise = NoisyCount(n, a, Ends(p, p))
        w = [mp.binomial(n, m) * exact(p) ** m * exact(1 - p) ** (n - m) for m in range(n + 1)]

        def g(t, w=w, a=a):
            return mp.fsum(v * mp.exp(-exact(a) * abs(t - m)) for m, v in enumerate(w))

        value = g(mp.mpf(t) - 1) / g(mp.mpf(t))
        low, high = noise.log_ratio(F(t))
        assert low - TINY <= mp.log(value) <= high + TINY
        least, most = noise.excesses(np.array([t]), np.array([t]))
        slack = TINY * (1 + value)
        assert float(least.over[0]) - slack <= value - 1 <= float(most.over[0]) + slack
        slack = TINY * (1 + 1 / value)
        assert float(most.under[0]) - slack <= 1 / value - 1 <= float(least.under[0]) + slack


def test_the_ratio_is_monotone():
    """Facts 2 and 3 of the module, on a grid: r grows with t and falls with p."""
    grid = np.linspace(-0.5, 9.5, 400)
    last = None
    for p in (F(1, 10), F(1, 2), F(9, 10)):
        noise = NoisyCount(8, F(7, 5), Ends(p, p))
        least, most = noise.excesses(grid, grid)
        assert (least.over[:-1] <= most.over[1:]).all()
        assert (np.diff(most.over) >= -1e-12).all()
        if last is not None:
            assert (least.over <= last).all()
        last = most.over


@pytest.mark.cases("slow", "3.0-1000000")
@pytest.mark.slow
@pytest.mark.parametrize("n", [10**3, 10**6])
@pytest.mark.parametrize("rate", [0.01, 3.0])
def test_many_entries(n, rate):
    """Two computations with nothing in common: incomplete beta functions and sums of ratios."""
    query = bl.mechanisms.counting_query(n=n, b=1 / rate, of="count")
    one = bl.entry(bl.iid(bl.pmf([F(2, 3), F(1, 3)]), n) * query)
    ell = bl.pml(one)
    a = mp.mpf(float(1 / rate)) ** -1
    assert holds(ell.sup(), a - mp.log(mp.mpf(2) / 3 + mp.exp(a) / 3), TINY)
    ys = n / 3 + np.array([-3.0, -0.5, 0.0, 0.25, 4.0]) * np.sqrt(n)
    curve = ell(ys)
    assert float((curve.upper - curve.lower).max()) < 1e-11
    for i, y in enumerate(ys):
        point = ell(float(y))
        assert float(curve.lower[i]) <= point.upper and point.lower <= float(curve.upper[i])
        assert point.width < 1e-15
    assert ell.tail(ell.sup().lower / 2).width < 1e-9


def test_floats_cover_the_laws_they_mean():
    for q, p in ((0.9, 0.1), (0.7, 0.3), (0.3, 0.7)):
        meant = F(str(p))
        one = bl.entry(bl.iid(bl.pmf([q, p]), 6) * bl.mechanisms.counting_query(n=6, b=0.25))
        case = (6, 0.25, "fraction", meant)
        assert holds(bl.pml(one).sup(), closed_form("pml", case))
        for y in (0.21, 0.5, 0.77):
            zero, counts, whole, *_ = truth(case, y)
            assert holds(bl.pml(one)(y), mp.log(max(zero, counts) / whole))
            assert bl.pml(one)(y).width < 1e-14


def test_certain_entries_leak_nothing():
    for p in (0, 1):
        one = bl.entry(bl.iid(bl.pmf([1 - p, p]), 3) * bl.mechanisms.counting_query(n=3, b=1.0))
        for figure in (bl.pml(one).sup(), bl.pmc(one).sup(), bl.pml(one)(0.3), bl.ldp(one)):
            assert figure.lower == figure.upper == 0


def test_a_predicate_on_any_labels():
    ages = bl.pmf([F(1, 4), F(1, 2), F(1, 4)], on=bl.Finite(["young", "middle", "old"]))
    query = bl.mechanisms.counting_query(n=4, b=0.5, predicate=lambda d: d != "middle")
    one = bl.entry(bl.iid(ages, 4) * query)
    coin = bl.entry(
        bl.iid(bl.pmf([F(1, 2), F(1, 2)]), 4) * bl.mechanisms.counting_query(n=4, b=0.5)
    )
    assert bl.pml(one).sup().upper == bl.pml(coin).sup().upper
    assert bl.pml(one)(0.4) == bl.pml(coin)(0.4)
    assert bl.pml(one).sup().witness["x"] in ("young", "old", "middle")
    numbers = bl.pmf([F(1, 4), F(1, 2), F(1, 4)], on=bl.Finite([10, 40, 70]))
    query = bl.mechanisms.counting_query(n=4, b=0.5, predicate=lambda d: d > 30)
    one = bl.entry(bl.iid(numbers, 4) * query)
    coin = bl.entry(
        bl.iid(bl.pmf([F(1, 4), F(3, 4)]), 4) * bl.mechanisms.counting_query(n=4, b=0.5)
    )
    assert bl.pml(one)(0.4) == bl.pml(coin)(0.4)
    kernel = one.mechanism.pdf(0.3, np.array([10, 40, 70]))
    assert kernel[1] == kernel[2] != kernel[0]


def test_extreme_scales():
    for b in (1e-300, 1e-12, 1e12, 1e300):
        one = bl.entry(
            bl.iid(bl.pmf([F(3, 4), F(1, 4)]), 7)
            * bl.mechanisms.counting_query(n=7, b=b, of="count")
        )
        for ell in (bl.pml(one), bl.pmc(one)):
            found = ell.sup()
            assert 0 < found.lower <= found.upper < math.inf
            assert found.width <= 1e-15 * found.upper
            assert ell(3.5).upper <= found.upper
    assert abs(bl.pml(one).sup().value * 1e300 - 0.75) < 1e-12


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0, "b": 1.0},
        {"n": 2.0, "b": 1.0},
        {"n": True, "b": 1.0},
        {"n": 3, "b": 0.0},
        {"n": 3, "b": -1.0},
        {"n": 3, "b": math.nan},
        {"n": 3, "b": 1.0, "of": "sum"},
        {"n": 3, "b": 1.0, "predicate": 1},
    ],
)
def test_bad_queries(wrong):
    with pytest.raises(bl.InvalidInput):
        bl.mechanisms.counting_query(**wrong)


def test_bad_joints():
    query = bl.mechanisms.counting_query(n=3, b=1.0)
    with pytest.raises(bl.InvalidInput, match="on 4 entries"):
        bl.iid(bl.pmf([0.5, 0.5]), 4) * query
    with pytest.raises(bl.InvalidInput, match="predicate"):
        bl.iid(bl.pmf([0.5, 0.5], on=bl.Finite(["a", "b"])), 3) * query
    with pytest.raises(bl.InvalidInput, match="predicate"):
        bl.iid(bl.pmf([0.5, 0.25, 0.25]), 3) * query
