"""Noisy histograms of one entry and of the database: against enumeration of all databases."""

import math
import pickle
from collections import Counter
from fractions import Fraction as F
from itertools import product

import mpmath as mp
import numpy as np
import pytest

import borel as bl
from borel.audits import study_key
from borel.mechanisms import histograms
from borel.numerics.balls.arithmetic import ball

noise = bl.mechanisms
LAWS = {
    "coin": [F(1, 3), F(2, 3)],
    "three": [F(1, 2), F(3, 10), F(1, 5)],
    "even": [F(1, 3)] * 3,
    "with a zero": [F(1, 4), F(0), F(3, 4)],
    "rare": [F(1, 10**6), F(1, 2), F(1, 2) - F(1, 10**6)],
}
KINDS = {  # the noise, and e^-rate with the cost of a distance
    "geometric": (noise.geometric(alpha=F(1, 3)), lambda: mp.mpf(1) / 3, abs),
    "steep": (noise.geometric(alpha=F(1, 100)), lambda: mp.mpf("0.01"), abs),
    "laplace": (noise.laplace(b=0.75), lambda: mp.exp(-1 / mp.mpf(0.75)), abs),
    "discrete laplace": (noise.discrete_laplace(b=4.0), lambda: mp.exp(mp.mpf(-0.25)), abs),
    "gaussian": (noise.gaussian(sigma=0.9), lambda: mp.exp(-1 / (2 * mp.mpf(0.9) ** 2)), None),
    "discrete": (noise.discrete_gaussian(sigma=2.0), lambda: mp.exp(mp.mpf(-0.125)), None),
}


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def number(v):
    v = F(v)
    return mp.mpf(v.numerator) / v.denominator


def truth(p, n, kind, y):
    """e^PML and e^PMC of the first entry and of the database: every database in turn."""
    _, step, cost = KINDS[kind]
    step, cost = step(), cost or (lambda z: z * z)
    given, whole, all_f = [mp.mpf(0)] * len(p), mp.mpf(0), []
    for x in product([j for j, q in enumerate(p) if q], repeat=n):
        count = Counter(x)
        f = step ** sum(cost(number(v) - count[j]) for j, v in enumerate(y))
        weight = number(math.prod(p[j] for j in x))
        whole, given[x[0]] = whole + weight * f, given[x[0]] + weight * f
        all_f.append(f)
    given = [g / number(q) for g, q in zip(given, p, strict=True) if q]
    return {
        ("pml", True): max(given) / whole,
        ("pmc", True): whole / min(given),
        ("pml", False): max(all_f) / whole,
        ("pmc", False): whole / min(all_f),
    }


def joint(p, n, kind):
    return bl.iid(bl.pmf(p), n) * noise.histogram(n=n, k=len(p), noise=KINDS[kind][0])


def of(database, kind, own):
    return getattr(bl, kind)(bl.entry(database) if own else database)


def encloses(bound, ratio, digits=1e-13):
    log = mp.log(ratio)
    assert bound.lower <= log + mp.mpf(10) ** -40 and log - mp.mpf(10) ** -40 <= bound.upper
    assert bound.width <= digits * max(1, log) and bound.status == "exact"


@pytest.mark.few(13)
@pytest.mark.cases("slow", "even-*", "rare-*", "three-discrete laplace")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAWS)
def test_leakage_at_outcomes_is_that_of_all_databases(name, kind):
    p, rng = LAWS[name], np.random.default_rng(len(name + kind))
    real = kind in ("laplace", "gaussian")
    for n in (1, 2, 4):
        database = joint(p, n, kind)
        for _ in range(2):
            y = rng.uniform(-2, n + 2, len(p)) if real else rng.integers(-2, n + 3, len(p))
            y = tuple(y.tolist())
            for (what, own), ratio in truth(p, n, kind, y).items():
                encloses(of(database, what, own)(y), ratio)


@pytest.mark.cases("slow", "three-*", "with a zero-*")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["coin", "three", "with a zero"])
def test_suprema_over_all_integers_near_the_counts(name, kind):
    """No outcome of a grid beyond the counts is above; where one is attained it is the largest."""
    p, n = LAWS[name], 2
    database = joint(p, n, kind)
    tops = {(k, own): of(database, k, own).sup() for k in ("pml", "pmc") for own in (True, False)}
    largest = dict.fromkeys(tops, mp.mpf(0))
    for y in product(range(-1, n + 2), repeat=len(p)):
        for key, ratio in truth(p, n, kind, y).items():
            largest[key] = max(largest[key], ratio)
    for (what, own), top in tops.items():
        if kind in ("gaussian", "discrete"):
            far = tuple(1e4 if j == 0 else 0 for j in range(len(p)))
            assert top.attained is False and mp.log(largest[what, own]) < top.upper
            if what == "pmc":
                assert top.lower == math.inf
            else:
                rarest = min(q for q in p if q)
                encloses(top, number(1 / rarest) ** (1 if own else n))
                assert name != "coin" or of(database, what, own)(far).upper >= top.lower - 1e-9
            continue
        encloses(top, largest[what, own])
        assert top.attained is True
        encloses(of(database, what, own)(top.witness["y"]), largest[what, own])
        x = top.witness["x"]
        assert (x if own else x[0]) in (0, 1, 2) and (own or len(x) == n)


@pytest.mark.parametrize("n", [1, 7, 10**6])
def test_levels_and_closed_forms_of_any_size(n):
    p, alpha = LAWS["three"], F(1, 3)
    database = joint(p, n, "geometric")
    one = bl.entry(database)
    low, high = F(1, 5) + F(4, 5) * alpha**2, F(1, 5) + F(4, 5) / alpha**2
    encloses(bl.pml(one).sup(), number(1 / low))
    encloses(bl.pmc(one).sup(), number(high))
    encloses(bl.ldp(one), number(9))
    encloses(bl.ldp(database), number(9) ** n, 1e-12)
    encloses(bl.differential_privacy(database.mechanism), number(9))
    encloses(bl.free_lunch_privacy(database.mechanism), number(9) ** n, 1e-12)
    gauss = joint(p, n, "gaussian")
    assert bl.ldp(bl.entry(gauss)).lower == math.inf
    assert bl.differential_privacy(gauss.mechanism).lower == math.inf


def test_two_bins_are_a_count_of_twice_the_noise_rate_far_out():
    """Of a coin the two bins tell, far out, what a count with half the scale tells."""
    p = bl.pmf([F(1, 3), F(2, 3)])
    two = bl.entry(bl.iid(p, 9) * noise.histogram(n=9, k=2, noise=noise.laplace(b=1.0)))
    count = bl.entry(bl.iid(p, 9) * noise.counting_query(n=9, b=0.5, of="count"))
    for measure in (bl.pml, bl.pmc):
        a, b = measure(two).sup(), measure(count).sup()
        assert (a.lower, a.upper) == (b.lower, b.upper)


def truth_by_counts(p, n, kind, y):
    """The same by the multinomial law: P(D = j | y) is E[C_j | y] / n."""
    _, step, cost = KINDS[kind]
    step, cost = step(), cost or (lambda z: z * z)
    whole, mean, all_f = mp.mpf(0), [mp.mpf(0)] * len(p), []
    for count in product(range(n + 1), repeat=len(p)):
        if sum(count) != n:
            continue
        f = step ** sum(cost(number(v) - c) for c, v in zip(count, y, strict=True))
        ways = math.factorial(n) // math.prod(map(math.factorial, count))
        weight = f * ways * number(math.prod(q**c for q, c in zip(p, count, strict=True)))
        whole, mean = whole + weight, [m + c * weight for m, c in zip(mean, count, strict=True)]
        all_f.append(f)
    lift = [m / whole / n / number(q) for m, q in zip(mean, p, strict=True)]
    return {
        ("pml", True): max(lift),
        ("pmc", True): 1 / min(lift),
        ("pml", False): max(all_f) / whole,
        ("pmc", False): whole / min(all_f),
    }


def test_terms_that_are_left_out_are_bounded(monkeypatch):
    """With coarse sums, of which a sixteenth is left out, figures are wide and true."""
    p, n = LAWS["three"], 16
    law = joint(p, n, "geometric").mechanism.law_of_noise
    sums = histograms._Sums(law, n, [ball(q) for q in p], [F(9), F(7), F(1)])
    whole = [sums.bin(j).mass for j in range(3)]
    monkeypatch.setattr(histograms, "_little", lambda: ball(F(1, 16)))
    for j, mass in enumerate(whole):
        coarse = sums.bin(j)
        assert coarse.mass < mass < coarse.mass + coarse.rest < mass * 1.5
    for kind, y in (
        ("geometric", (9, 7, 1)),
        ("gaussian", (6.5, 3.0, 4.5)),
        ("laplace", (16, 0, 0)),
    ):
        for (what, own), ratio in truth_by_counts(p, n, kind, y).items():
            found = of(joint(p, n, kind), what, own)(y)
            assert found.lower <= mp.log(ratio) <= found.upper and found.width > 1e-6


@pytest.mark.slow
def test_a_large_histogram_against_the_two_moments_of_its_posterior():
    """n = 3000: posteriors sum to 1, and each is E C_j / n given y, by a chain over the bins."""
    p, n, y = LAWS["three"], 3000, (1480, 930, 588)
    one = bl.entry(joint(p, n, "geometric"))
    leak = bl.pml(one)(y)

    def table(j, bins):  # the masses of the count of one bin, of so many entries in `bins` bins
        k = np.arange(n + 1)
        return -abs(y[j] - k) * math.log(3) + k * math.log(p[j]) - LOG_FACTORIAL[: n + 1]

    LOG_FACTORIAL = np.concatenate([[0], np.cumsum(np.log(np.arange(1, n + 1)))])
    a, b, c = (table(j, 3) for j in range(3))
    ab = np.array([np.logaddexp.reduce(a[: m + 1] + b[m::-1]) for m in range(n + 1)])
    last = ab + c[::-1]
    share = np.exp(last - np.logaddexp.reduce(last)) @ (n - np.arange(n + 1)) / n
    found = math.exp(leak.lower)
    assert abs(found - max(share / 0.2, *others(a, b, c, n, p))) < 1e-9


def others(a, b, c, n, p):
    """Return P(D = j | y) / p_j of the first two bins, likewise."""
    for own, rest, q in ((a, b, p[0]), (b, a, p[1])):
        both = np.array([np.logaddexp.reduce(rest[: m + 1] + c[m::-1]) for m in range(n + 1)])
        last = both + own[::-1]
        yield np.exp(last - np.logaddexp.reduce(last)) @ (n - np.arange(n + 1)) / n / float(q)


def test_far_outcomes_floats_and_labels_of_any_kind():
    labels = bl.Finite(["young", "middle", "old"])
    database = bl.iid(bl.pmf([0.5, 0.3, 0.2], on=labels), 50) * noise.histogram(
        n=50, k=3, noise=noise.laplace(b=2.0)
    )
    one = bl.entry(database)
    for measure in (bl.pml, bl.pmc):
        top = measure(one).sup()
        assert top.witness["x"] in labels.labels
        for y in ((1e300, -1e300, 1e-300), (0.1, 1e17, 7.0), (5e-324, 0.0, -0.0)):
            found = measure(one)(y)
            assert 0 <= found.lower <= found.upper <= top.upper and found.width < 1e-9
        at = measure(one)(top.witness["y"])
        assert at.lower <= top.upper and top.lower <= at.upper
    gauss = bl.entry(
        bl.iid(bl.pmf([0.5, 0.5]), 3) * noise.histogram(n=3, k=2, noise=noise.gaussian(sigma=1e-3))
    )
    assert bl.pml(gauss)((3.0, 0.0)).upper <= math.log(2) * (1 + 1e-15)
    assert bl.pmc(gauss)((1e100, 0.0)).lower > 1e100


def test_outcomes_that_no_float_holds_and_steep_noise_between_two_modes():
    laws = {
        v: bl.entry(
            bl.iid(bl.pmf([F(2, 9), F(3, 9), F(4, 9)]), 4) * noise.histogram(n=4, k=3, noise=v)
        )
        for v in (noise.discrete_gaussian(sigma=1e8), noise.geometric(alpha=0.5))
    }
    square, steps = laws.values()
    far = 2**53  # squares of all bins moved by the same differ by what all databases share
    for measure in (bl.pml, bl.pmc):
        for y in ((far + 1, 5, 6), (5, far + 3, 6)):
            there, here = measure(square)(y), measure(square)(tuple(v - far for v in y))
            assert (there.lower, there.upper) == (here.lower, here.upper)
        there, here = measure(steps)((10**400, 2, -(10**400))), measure(steps)((4, 2, 0))
        assert (there.lower, there.upper) == (here.lower, here.upper)
    two = bl.pmf([F(1, 2), F(1, 2)])
    steep = noise.histogram(n=5, k=2, noise=noise.gaussian(sigma=0.01))
    # in units of the rate: f(y|0) / f(y|1) is least where all others are in the second bin
    encloses(bl.pml(bl.entry(bl.iid(two, 5) * steep))((-6.0, 8.0)), mp.mpf(2), 1e-14)
    steepest = noise.histogram(n=5, k=2, noise=noise.gaussian(sigma=1e-300))
    unknown = bl.pml(bl.entry(bl.iid(two, 5) * steepest))((1.0, 1.0))
    assert unknown.status == "undecided" and unknown.upper < 0.6932


def test_one_value_tells_nothing_and_what_is_not_known_is_refused():
    sure = bl.iid(bl.pmf([F(1), F(0)]), 4) * noise.histogram(
        n=4, k=2, noise=noise.gaussian(sigma=1)
    )
    for joint_ in (sure, bl.entry(sure)):
        assert bl.pml(joint_).sup().upper == bl.pmc(joint_).sup().upper == 0
        assert bl.pml(joint_)((2.0, 5.0)).upper == bl.ldp(joint_).upper == 0
    with pytest.raises(bl.NotYet, match="law over outcomes"):
        bl.pml(bl.entry(joint(LAWS["three"], 3, "laplace"))).mean()
    with pytest.raises(bl.NotYet):
        bl.pml(joint(LAWS["three"], 3, "laplace")).mean()
    with pytest.raises(bl.NotYet, match="n k up to"):
        bl.pml(bl.entry(joint(LAWS["three"], 10**6, "laplace")))((0.0, 0.0, 0.0))


def test_wrong_histograms_are_refused():
    lap = noise.laplace(b=1.0)
    for n, k, own, match in (
        (0, 2, lap, "n = an integer"),
        (3, 1, lap, "k = an integer >= 2"),
        (3, True, lap, "k = an integer >= 2"),
        (3, 2, noise.uniform_noise(width=1.0), "noise = bl.mechanisms.laplace"),
        (3, 2, 1.0, "noise = bl.mechanisms.laplace"),
        (3, 2, noise.laplace(b=1.0, secret=bl.Interval(0, 1)), "all counts from 0 to 3"),
        (
            3,
            2,
            noise.geometric(alpha=0.5, secret=bl.Integers(0, 3), outcome=bl.Integers(0, 3)),
            "noise =",
        ),
    ):
        with pytest.raises(bl.InvalidInput, match=match):
            noise.histogram(n=n, k=k, noise=own)
    three = noise.histogram(n=3, k=2, noise=lap)
    with pytest.raises(bl.InvalidInput, match="a histogram on 4 entries"):
        bl.iid(bl.pmf([0.5, 0.5]), 4) * three
    for prior in (bl.pmf([0.5, 0.25, 0.25]), bl.uniform(bl.Interval(0, 1))):
        with pytest.raises(bl.InvalidInput, match="k = 2 labels"):
            bl.iid(prior, 3) * three
    with pytest.raises(bl.OutsideAlphabet):
        bl.pml(bl.entry(bl.iid(bl.pmf([0.5, 0.5]), 3) * three))((1.0, 2.0, 3.0))


def joint_key(prior, n, own):
    histogram = noise.histogram(n=n, k=3, noise=own)
    return study_key._mechanism(bl.entry(bl.iid(prior, n) * histogram).mechanism)


def test_pickles_and_the_keys_of_studies_tell_histograms_apart():
    a, b = (bl.entry(joint(LAWS["coin"], n, "laplace")) for n in (3, 4))
    assert pickle.loads(pickle.dumps(bl.pml(a)))((1.0, 2.0)) == bl.pml(a)((1.0, 2.0))
    keys = {study_key._mechanism(m.mechanism) for m in (a, b)}
    for n, scale in ((3, 0.25), (3, 0.5), (4, 0.25)):
        mean = noise.laplace_mean(n=n, b=scale)
        keys.add(
            study_key._mechanism(
                bl.entry(bl.iid(bl.uniform(bl.Interval(0, 1)), n) * mean).mechanism
            )
        )
        query = noise.counting_query(n=n, b=scale, predicate=lambda d: d == "u")
        named = bl.iid(bl.pmf([0.5, 0.5], on=bl.Finite(["u", "v"])), n) * query
        keys.add(study_key._mechanism(bl.entry(named).mechanism))
    assert len(keys) == 8
    noises = [make for make, _, _ in KINDS.values()] + [noise.laplace(b=1.0)]
    made = [
        joint_key(bl.pmf(p), n, own)
        for p in (LAWS["three"], LAWS["even"])
        for n in (3, 4)
        for own in noises
    ]
    assert len(set(made)) == len(made)
