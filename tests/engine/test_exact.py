"""Finite joints against the definitions in Fractions: every figure, with zero tolerance."""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest

import borel as bl

PRIORS = ("plain", "zeros", "ties", "onehot", "uniform", "fine", "skewed")
COUNT = 32  # mechanisms for each pair of a style of mechanism and a style of prior


def joint_of(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def draws(style, prior_style, count=COUNT):
    seed = [o.STYLES.index(style) if style in o.STYLES else 99, len(prior_style), count]
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, m = (int(v) for v in rng.integers(1, 7, 2))
        yield o.law(rng, n, prior_style), o.mechanism(rng, n, m, style), rng


def thresholds(kind, p, K, rng):
    """Thresholds in nats that tie with no value: middles of gaps, below and above everything."""
    values = sorted({o.nearly_log(r) for r in o.curve(kind, p, K) if r != o.INF})
    gaps = [(a + b) / 2 for a, b in itertools.pairwise(values) if b - a > 1e-9]
    return [-0.5, *gaps[:3], (values or [0.0])[-1] + 0.25]


def check_figures(p, K, joint, rng, *, sums=True):
    """Compare every figure with its definition: containment only."""
    mass = o.marginal(p, K)
    figures = {}
    for kind in ("pml", "pmc"):
        leak = getattr(bl, kind)(joint)
        truth = o.curve(kind, p, K)
        for y, r in enumerate(truth):
            bound = leak(y)
            figures[kind, y] = bound, r
            assert bound.status == "exact"
            assert o.encloses(bound, r), (kind, y, bound.lower, bound.upper)
            assert o.ratio_encloses(bound, r), (kind, y, bound.ratio)
            assert any("outside the support" in a for a in bound.assumptions) == (mass[y] == 0)
        data = leak(list(range(len(mass))))
        for y, r in enumerate(truth):
            if r == o.INF:
                assert data.lower[y] == np.inf
            else:
                ends = float(data.lower[y]), float(data.upper[y])
                assert o.between(ends[0], lambda r=r: o.log(r), ends[1])
        worst = o.sup(kind, p, K)
        figures[kind, "sup"] = leak.sup(), worst
        assert o.encloses(leak.sup(), worst) and o.ratio_encloses(leak.sup(), worst)
        for t in thresholds(kind, p, K, rng):
            probability = o.tail(kind, p, K, lambda r, t=t: o.nearly_log(r) > t)
            for closed in (False, True):
                found = leak.tail(t, closed=closed)
                assert o.contains(found.lower, probability, found.upper), (kind, t, found)
            found = leak.cdf(t)
            assert o.contains(found.lower, 1 - probability, found.upper), (kind, t, found)
        for s in (F(1, 7), F(1, 2), F(97, 101), F(1)):
            assert quantile_encloses(leak.quantile(s), kind, p, K, s, "left")
        for s in (F(0), F(1, 7), F(97, 101)):
            assert quantile_encloses(leak.quantile(s, side="right"), kind, p, K, s, "right")
        found = leak.exp_mean()
        assert o.contains(found.lower, o.exp_mean(kind, p, K), found.upper), (kind, found)
        if sums:
            found = leak.mean()
            truth_mean = o.mean(kind, p, K)
            if truth_mean == o.INF:
                # an outcome too rare for floats may carry the infinity: then it is not proved
                rare = joint.rational is False and min(v for v in mass if v) < F(1, 10**307)
                assert found.upper == o.INF and (rare or found.lower == o.INF)
            else:
                assert o.between(found.lower, lambda kind=kind: o.mean(kind, p, K), found.upper), (
                    kind,
                    found.lower,
                    found.upper,
                )

    density = bl.information_density(joint)
    for y in range(len(mass)):
        for x in range(len(p)):
            if mass[y] == 0:
                continue
            bound, r = density(x, y), o.density(p, K, x, y)
            if r == 0:
                assert bound.lower == bound.upper == -np.inf
            else:
                assert o.encloses(bound, r)
    figures["ldp"] = bl.ldp(joint), o.ldp(p, K)
    figures["ml"] = bl.maximal_leakage(joint), o.maximal_leakage(p, K)
    for name in ("ldp", "ml"):
        bound, r = figures[name]
        assert o.encloses(bound, r) and o.ratio_encloses(bound, r), (name, bound.lower, bound.ratio)
    sides = bl.alip(joint)
    assert o.encloses(sides.lower, o.sup("pmc", p, K))
    assert o.encloses(sides.upper, o.sup("pml", p, K))
    assert o.encloses(bl.lip(joint), max(o.sup("pmc", p, K), o.sup("pml", p, K)))
    if sums:
        found = bl.mutual_information(joint)
        assert o.between(found.lower, lambda: o.mutual_information(p, K), found.upper)
    return figures


def quantile_encloses(bound, kind, p, K, s, side):
    truth = o.quantile(kind, p, K, s, side)
    if truth == o.INF:
        return bound.upper == o.INF
    return o.between(bound.lower, lambda: o.log(truth), bound.upper)


@pytest.mark.few(1)
@pytest.mark.cases(
    "slow", "plain-skewed", "plain-fine", "plain-ties", "fine-plain", "plain-uniform", "plain-plain"
)
@pytest.mark.parametrize("prior_style", PRIORS)
@pytest.mark.parametrize("style", o.STYLES)
def test_floats_enclose_the_rationals_they_were_rounded_from(style, prior_style):
    for p, K, rng in draws(style, prior_style):
        figures = check_figures(p, K, joint_of(o.floats(p), o.floats(K)), rng)
        for key, (bound, r) in figures.items():
            if r == o.INF or key == "ml":
                continue
            assert o.width_in_ulps(*bound.ratio, r) <= 8, (key, bound.ratio)
            assert o.width_in_ulps(bound.lower, bound.upper, o.nearly_log(r), 0.5) <= 8, (
                key,
                bound,
            )


@pytest.mark.few(3)
@pytest.mark.parametrize("prior_style", PRIORS)
@pytest.mark.parametrize("style", o.STYLES)
def test_fractions_give_exact_ratios(style, prior_style):
    for p, K, rng in draws(style, prior_style, 10):
        figures = check_figures(p, K, joint_of(p, K), rng)
        for key, (bound, r) in figures.items():
            assert bound.ratio == (r, r), (key, bound.ratio, r)
            if r == o.INF:
                assert bound.lower == bound.upper == o.INF
            elif r == 1:
                assert bound.lower == bound.upper == 0
            else:
                assert o.width_in_ulps(bound.lower, bound.upper, o.nearly_log(r)) <= 2, (key, bound)


def test_fractions_decide_ties():
    """At an atom the two tails differ by its mass, whichever side the float of log falls."""
    third = F(1, 3)
    p, K = [F(1, 4)] * 4, [[third, third, third]] * 3 + [[F(1), F(0), F(0)]]
    leak = bl.pml(joint_of(p, K))
    for r in set(o.curve("pml", p, K)):
        t = math.log(r)
        for closed in (False, True):
            with o.precision():
                above = [
                    v
                    for v in o.curve("pml", p, K)
                    if o.log(v) > o.ball(t) or (closed and v == 1 and t == 0)
                ]
            truth = o.tail("pml", p, K, lambda v, above=above: v in above)
            found = leak.tail(t, closed=closed)
            assert o.contains(found.lower, truth, found.upper)
            assert F(found.upper) - F(found.lower) <= F(1, 2**52)
    assert leak.tail(0, closed=True).lower == 1
    jumps = bl.pml(joint_of([F(1, 2), F(1, 2)], [[F(9, 10), F(1, 10)], [F(1), F(0)]]))
    level = F(95, 100)
    assert o.encloses(jumps.quantile(level), F(20, 19))
    assert o.encloses(jumps.quantile(level, side="right"), F(2))


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [(40, 30), (200, 3), (2, 300)])
def test_larger_matrices(size):
    rng = np.random.default_rng(size)
    for style, prior_style in (("fine", "fine"), ("zeros", "plain"), ("skewed", "skewed")):
        p, K = o.law(rng, size[0], prior_style), o.mechanism(rng, *size, style)
        joint = joint_of(o.floats(p), o.floats(K))
        mass = o.marginal(p, K)
        rows = o.support(p)
        columns = [[K[x][y] for x in rows] for y in range(size[1])]
        truth = {
            "pml": [max(c) / f if f else F(1) for c, f in zip(columns, mass, strict=True)],
            "pmc": [
                F(1) if not f else o.INF if min(c) == 0 else f / min(c)
                for c, f in zip(columns, mass, strict=True)
            ],
        }
        for kind, ratios in truth.items():
            leak = getattr(bl, kind)(joint)
            for y, r in enumerate(ratios):
                assert o.encloses(leak(y), r) and o.ratio_encloses(leak(y), r)
                if r != o.INF:
                    assert o.width_in_ulps(*leak(y).ratio, r) <= 8
        assert o.encloses(bl.maximal_leakage(joint), sum(max(c) for c in columns))


@pytest.mark.few(1)
@pytest.mark.cases("slow", "floats-subnormal-skewed")
@pytest.mark.parametrize("prior_style", ["plain", "uniform", "skewed", "subnormal"])
@pytest.mark.parametrize("style", ["subnormal", "skewed"])
@pytest.mark.parametrize("exact", [False, True], ids=["floats", "fractions"])
def test_subnormal_entries_are_covered(style, prior_style, exact):
    for p, K, rng in draws(style, prior_style, 30):
        joint = joint_of(p, K) if exact else joint_of(o.floats(p), o.floats(K))
        for bound, _ in check_figures(p, K, joint, rng).values():
            assert not math.isnan(bound.lower) and not math.isnan(bound.upper)


def test_a_supremum_covers_an_outcome_that_is_known_less_well():
    # log 2 at outcome 1, where the entry carries a tenth of itself; beside it log 1.9, to the ulp
    kernel = bl.Mechanism.from_matrix([[0.95, 2.5e-323, 0.05], [0.05, 0.0, 0.95]])
    leakage = bl.pml(bl.pmf([0.5, 0.5]) * kernel)
    found, at = leakage.sup(), leakage([0, 1, 2])
    assert found.lower == at.lower.max() and found.upper == at.upper.max()
    assert found.lower < math.log(2) < found.upper < math.inf
    assert found.ratio.lower <= 2 <= found.ratio.upper


def test_an_outcome_too_rare_for_floats_still_has_its_leakage():
    """P(y) = 1e-600 underflows, the leakage log 1e300 does not: no quantile at 1 may lose it."""
    p = [F(1, 10**300), 1 - F(1, 10**300)]
    K = [[F(1, 10**300), 1 - F(1, 10**300)], [F(0), F(1)]]
    leak = bl.pml(joint_of(o.floats(p), o.floats(K)))
    assert o.encloses(leak(0), F(10**300)) and o.encloses(leak.sup(), F(10**300))
    assert leak.tail(1.0).upper > 0
    found = leak.quantile(1)
    assert o.between(found.lower, lambda: o.log(F(10**300)), found.upper)


TINY = F(1, 10**200)
SMALL = [[TINY, 1 - TINY], [F(1, 2), F(1, 2)]]


@pytest.mark.parametrize(
    "build",
    [
        lambda mech, p: mech & mech,
        lambda mech, p: mech @ p,
        lambda mech, p: bl.Mechanism.from_matrix(o.floats(SMALL)) @ mech,
        lambda mech, p: p * p,
        lambda mech, p: mech.then(lambda y: mech),
        lambda mech, p: (p * mech).posterior(0),
    ],
    ids=["a & b", "mech @ prior", "post @ mech", "p * p", "then", "posterior"],
)
def test_an_underflow_in_composition_raises(build):
    rows = o.floats(SMALL)
    with pytest.raises(bl.InvalidInput, match="Fractions"):
        build(bl.Mechanism.from_matrix(rows), bl.pmf(rows[0]))


def test_the_same_composition_of_fractions_is_exact():
    mech, p = bl.Mechanism.from_matrix(SMALL), bl.pmf(SMALL[0])
    assert (mech & mech).matrix[0, 0] == TINY**2
    assert (mech @ p).probabilities[0] == o.marginal(SMALL[0], SMALL)[0]
    assert (p * p).probabilities[0] == TINY**2


@pytest.mark.few(1)
@pytest.mark.cases("slow", "fine")
@pytest.mark.parametrize("style", ["plain", "zeros", "fine", "ties"])
def test_composed_floats_enclose_the_composed_rationals(style):
    rng = np.random.default_rng(len(style))
    for _ in range(60):
        n, m, k = (int(v) for v in rng.integers(1, 5, 3))
        p = o.law(rng, n, "plain")
        A, B = o.mechanism(rng, n, m, style), o.mechanism(rng, m, k, style)
        C = o.mechanism(rng, n, k, style)
        a, b, c = (bl.Mechanism.from_matrix(o.floats(v)) for v in (A, B, C))
        merged = [[r[0], sum(r[1:], F(0))] if m > 1 else r for r in A]
        cases = {
            "post": (o.compose(A, B), b @ a),
            "both": (o.both(A, C), a & c),
            "then": (o.both(A, C), a.then(lambda y, c=c: c)),
            "push": (merged, a.push(lambda y: min(y, 1))),
        }
        for name, (truth, mech) in cases.items():
            joint = bl.pmf(o.floats(p)) * mech
            for kind in ("pml", "pmc"):
                leak = getattr(bl, kind)(joint)
                for label, r in zip(mech.outcome.labels, o.curve(kind, p, truth), strict=True):
                    assert o.encloses(leak(label), r), (name, kind, label)
            assert o.encloses(bl.ldp(joint), o.ldp(p, truth))
            assert o.encloses(bl.maximal_leakage(joint), o.maximal_leakage(p, truth))
        keep = [r[: max(1, m - 1)] for r in A]
        if all(sum(r) > 0 for r in keep):
            truth = [[v / sum(r) for v in r] for r in keep]
            joint = bl.pmf(o.floats(p)) * a.restrict(lambda y, m=m: y < max(1, m - 1))
            assert o.encloses(bl.pml(joint).sup(), o.sup("pml", p, truth))
        y = next(j for j, mass in enumerate(o.marginal(p, A)) if mass > 0)
        learnt = (bl.pmf(o.floats(p)) * a).posterior(y)
        truth_p = o.posterior(p, A, y)
        assert o.encloses(bl.pml(learnt * c).sup(), o.sup("pml", truth_p, C))
        marginal = a @ bl.pmf(o.floats(p))
        truth_m = o.marginal(p, A)
        assert o.encloses(bl.pmc(marginal * b).sup(), o.sup("pmc", truth_m, B))


def test_push_covers_the_rounding_of_every_subnormal_it_adds():
    """300 entries of 1.49 * 2**-1074, each rounded to 2**-1074, add up to 447, not to 300."""
    tiny = F(1, 2**1074)
    many, few = [F(149, 100) * tiny] * 300, [tiny] * 300
    K = [[*many, 1 - sum(many)], [*few, 1 - sum(few)]]
    truth = [[sum(r[:-1]), r[-1]] for r in K]
    try:
        mech = bl.Mechanism.from_matrix(o.floats(K)).push(lambda y: y == 300)
    except bl.InvalidInput:  # a refusal is as good
        return
    p = [F(1, 2)] * 2
    assert o.encloses(bl.pml(bl.pmf([0.5, 0.5]) * mech)(False), o.pml(p, truth, 0))


def test_restrict_covers_the_rounding_of_a_subnormal_that_it_makes_normal():
    tiny, small = F(7, 10**319), F(1, 10**15)
    K = [[tiny, small, 1 - tiny - small], [small, small, 1 - 2 * small]]
    try:
        mech = bl.Mechanism.from_matrix(o.floats(K)).restrict(lambda y: y < 2)
    except bl.InvalidInput:  # a refusal is as good
        return
    truth = [[v / sum(r[:2]) for v in r[:2]] for r in K]
    assert o.encloses(bl.ldp(bl.pmf([0.5, 0.5]) * mech), o.ldp([F(1, 2)] * 2, truth))


@pytest.mark.slow
def test_a_prior_of_fractions_and_a_matrix_of_floats():
    rng = np.random.default_rng(5)
    for _ in range(50):
        p, K = o.law(rng, 4, "fine"), o.mechanism(rng, 4, 3, "fine")
        for joint in (joint_of(p, o.floats(K)), joint_of(o.floats(p), K)):
            check_figures(p, K, joint, rng)


HUGE = F(1, 10**400)


def test_a_fraction_lost_beside_floats_is_an_error_not_a_zero():
    p, K = [HUGE, 1 - HUGE], [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(bl.InvalidInput, match="Fractions"):
        bl.pml(joint_of(p, K)).sup()
    with pytest.raises(bl.InvalidInput, match="Fractions"):
        bl.pml(joint_of([0.5, 0.5], [[HUGE, 1 - HUGE], [F(1), F(0)]])).sup()


@pytest.mark.parametrize(
    "build",
    [
        lambda exact, mech: exact @ mech,
        lambda exact, mech: mech @ exact,
        lambda exact, mech: exact & mech,
        lambda exact, mech: mech @ bl.pmf([HUGE, 1 - HUGE]),
        lambda exact, mech: exact @ bl.pmf([0.5, 0.5]),
        lambda exact, mech: (bl.pmf([0.5, 0.5]) * exact).posterior(0),
        lambda exact, mech: bl.pmf([HUGE, 1 - HUGE]) * bl.pmf([0.5, 0.5]),
        lambda exact, mech: bl.mixture(
            [bl.pmf([HUGE, 1 - HUGE]), bl.pmf([0.5, 0.5])], weights=[0.5, 0.5]
        ),
    ],
    ids=[
        "exact @ mech",
        "mech @ exact",
        "exact & mech",
        "mech @ prior",
        "exact @ prior",
        "posterior",
        "p * q",
        "mixture",
    ],
)
def test_a_fraction_lost_in_a_mixed_composition_raises(build):
    exact = bl.Mechanism.from_matrix([[HUGE, 1 - HUGE], [F(1), F(0)]])
    mech = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    with pytest.raises(bl.InvalidInput, match="Fractions"):
        found = build(exact, mech)
        values = found.matrix if isinstance(found, bl.Mechanism) else found.probabilities
        # an entry that stayed positive was not lost
        assert (np.asarray(values) > 0).all(), "a positive entry became 0"
        raise bl.InvalidInput("nothing was lost", expected="Fractions", got="Fractions")


@pytest.mark.parametrize("fractions_in", ["a", "b"])
def test_mixed_compositions_enclose_the_rationals(fractions_in):
    rng = np.random.default_rng(8)
    for _ in range(60):
        n, m = (int(v) for v in rng.integers(2, 5, 2))
        p = o.law(rng, n, "fine")
        A, B, C = (o.mechanism(rng, *s, "fine") for s in ((n, m), (m, 3), (n, 2)))
        a, b, c = (
            bl.Mechanism.from_matrix(v if (fractions_in == "a") == (i == 0) else o.floats(v))
            for i, v in enumerate((A, B, C))
        )
        for prior in (bl.pmf(p), bl.pmf(o.floats(p))):
            for truth, mech in ((o.compose(A, B), b @ a), (o.both(A, C), a & c)):
                joint = prior * mech
                assert o.encloses(bl.ldp(joint), o.ldp(p, truth))
                for kind in ("pml", "pmc"):
                    assert o.encloses(getattr(bl, kind)(joint).sup(), o.sup(kind, p, truth))
            assert o.encloses(bl.pmc((a @ prior) * b).sup(), o.sup("pmc", o.marginal(p, A), B))
            learnt = (prior * a).posterior(0)
            assert o.encloses(bl.pml(learnt * c).sup(), o.sup("pml", o.posterior(p, A, 0), C))


qif_measures = pytest.importorskip("qif").measure


@pytest.mark.parametrize("style", ["plain", "zeros", "ties", "fine"])
def test_qif_agrees_on_rational_channels(style):
    """Multiplicative Bayes capacity is e^maximal leakage; Bayes vulnerability is max_x P(x|y)."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        n, m = (int(v) for v in rng.integers(2, 6, 2))
        K = o.mechanism(rng, n, m, style)
        channel = np.array(K, dtype=object)
        p = o.law(rng, n, "plain")
        prior = np.array(p, dtype=object)
        joint = joint_of(p, K)
        capacity = qif_measures.bayes_vuln.mult_capacity(channel)
        assert bl.maximal_leakage(joint).ratio == (capacity, capacity)
        # from posteriors: vulnerability after the release, and its multiplicative leakage
        marginal = (bl.Mechanism.from_matrix(K) @ bl.pmf(p)).probabilities
        after = sum(
            (
                mass * max(joint.posterior(y).probabilities)
                for y, mass in enumerate(marginal)
                if mass
            ),
            F(0),
        )
        assert after == qif_measures.bayes_vuln.posterior(prior, channel)
        uniform = joint_of([F(1, n)] * n, K)
        leaked = qif_measures.bayes_vuln.mult_leakage(
            np.array([F(1, n)] * n, dtype=object), channel
        )
        found = bl.pml(uniform).exp_mean()
        assert o.contains(found.lower, leaked, found.upper)


def test_qif_agrees_on_local_differential_privacy():
    rng = np.random.default_rng(12)
    for _ in range(40):
        n, m = (int(v) for v in rng.integers(2, 6, 2))
        K = o.mechanism(rng, n, m, "plain")
        found = qif_measures.d_privacy.smallest_epsilon(np.array(o.floats(K)), lambda a, b: 1.0)
        bound = bl.ldp(joint_of([F(1, n)] * n, K))
        assert abs(found - bound.value) <= 1e-12


def test_a_quotient_of_subnormals_warns_of_nothing():
    # the mean of the first column is 3 / 2 times the least positive float
    least = 2.0**-1074
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[least, 1.0], [2 * least, 1.0]])
    found = bl.pml(joint)(0)
    assert found.lower <= math.log(4 / 3) <= found.upper
