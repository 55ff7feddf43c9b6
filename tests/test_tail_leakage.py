"""Tail leakage: against both definitions in Fractions, closed forms in mpmath, the envelope."""

import math
from fractions import Fraction as F
from itertools import pairwise

import mpmath as mp
import numpy as np
import oracles as o
import pytest
import xarray as xr
from vertices import vertices

import borel as bl
from borel.engine.prior_sets import worst_outcomes
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.probability.tail_means import BandedLaw, absorbing_level, worst_mean

STYLES = ["plain", "zeros", "ties", "fine"]
DELTAS = [F(1, 1000), F(1, 10), F(2, 5), F(9, 10), F(1)]
HALF = F(1, 2)


def made(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def laws(kind, p, K):
    """(S, mass) at the outcomes of positive probability; for PMC (I, mass)."""
    mass = o.marginal(p, K)
    rows = o.support(p)
    best = max if kind == "pml" else min
    return [(best(K[x][y] for x in rows) / m, m) for y, m in enumerate(mass) if m > 0]


def dual(kind, p, K, delta):
    """V by min over c of c + E(S - c)_+ / delta; U by max over c of c - E(c - I)_+ / delta."""
    law = laws(kind, p, K)
    ends = [F(0), *(s for s, _ in law)]
    if kind == "pml":
        return min(c + sum(m * max(s - c, 0) for s, m in law) / delta for c in ends)
    return max(c - sum(m * max(c - s, 0) for s, m in law) / delta for c in ends)


def event(law, delta, *, largest=True):
    """The mean over the largest (or the smallest) of a law, outcome after outcome."""
    total, left = F(0), F(delta)
    for s, m in sorted(law, reverse=largest):
        part = min(m, left)
        total, left = total + part * s, left - part
    return total / delta


def ratio_of(kind, value):
    return value if kind == "pml" else (math.inf if value == 0 else 1 / value)


def random_joint(rng, style, least=2, most=5):
    n, k = (int(v) for v in rng.integers(least, most, 2))
    return o.law(rng, n, "plain"), o.mechanism(rng, n, k, style)


# -- finite joints --------------------------------------------------------------------------------


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("style", STYLES)
def test_it_is_the_definition(style, kind):
    rng = np.random.default_rng(11)
    for _ in range(8):
        p, K = random_joint(rng, style)
        exact, floats = made(p, K), made(o.floats(p), o.floats(K))
        for delta in DELTAS:
            truth = dual(kind, p, K, delta)
            assert event(laws(kind, p, K), delta, largest=kind == "pml") == truth
            ratio = ratio_of(kind, truth)
            found = bl.tail_leakage(exact, delta, of=kind)
            assert found.status == "exact" and found.ratio == (ratio, ratio)
            near = bl.tail_leakage(floats, delta, of=kind)
            if near.status != "undecided":  # at the mass of what some secret makes impossible
                assert near.status == "exact" and (near.width < 1e-11 or ratio == math.inf)
            assert near.lower <= bl.tail_leakage(exact, delta, of=kind).upper
            assert near.upper >= bl.tail_leakage(exact, delta, of=kind).lower


def test_values_known_by_hand():
    joint = made([HALF, HALF], [[F(9, 10), F(1, 10)], [F(1), F(0)]])
    # outcome 1 of probability 1/20 rules out secret 1; of the other 1/20 e^l is 20/19
    assert bl.tail_leakage(joint, F(1, 20)).ratio.lower == 2
    assert bl.tail_leakage(joint, F(1, 10)).ratio.lower == (2 + F(20, 19)) / 2
    assert bl.tail_leakage(joint, F(1, 10)).witness == {"event": [(1, 1.0), (0, float(F(1, 19)))]}
    assert bl.tail_leakage(joint, F(1, 20), of="pmc").lower == math.inf
    assert bl.tail_leakage(joint, F(1, 10), of="pmc").ratio.upper == 2 / F(18, 19)
    erased = made(
        [F(1, 4)] * 4, [[F(1, 5) * (x == y) for y in range(4)] + [F(4, 5)] for x in range(4)]
    )
    for delta in (F(1, 10), F(1, 5), HALF, F(1)):
        assert bl.tail_leakage(erased, delta).ratio.lower == 1 + 3 * min(F(1, 5) / delta, 1)


def test_the_ends_are_the_supremum_and_the_mean():
    rng = np.random.default_rng(12)
    p, K = random_joint(rng, "plain")
    joint = made(p, K)
    assert bl.tail_leakage(joint, 0) == bl.pml(joint).sup()
    assert bl.tail_leakage(joint, 0, of="pmc") == bl.pmc(joint).sup()
    assert bl.tail_leakage(joint, 1) == bl.maximal_leakage(joint)
    assert bl.tail_leakage(joint, 1, of="pmc") == bl.maximal_cost_leakage(joint)
    assert bl.tail_leakage(joint, 1 - F(1, 10**30)).width < 1e-15
    certain = made([F(1), F(0)], K[:2])
    assert bl.tail_leakage(certain, HALF) == bl.tail_leakage(certain, HALF, of="pmc")
    assert bl.tail_leakage(certain, HALF).ratio == (1, 1)


def test_it_falls_and_is_lipschitz_in_log_delta():
    rng = np.random.default_rng(13)
    deltas = [F(k, 60) for k in range(1, 61)]
    for style in STYLES:
        p, K = random_joint(rng, style)
        found = [bl.tail_leakage(made(p, K), d).ratio.lower for d in deltas]
        sums = [d * v for d, v in zip(deltas, found, strict=True)]
        assert all(a >= b for a, b in pairwise(found))
        rises = [b - a for a, b in pairwise([F(0), *sums])]  # of delta V, which is concave
        assert all(a >= b for a, b in pairwise(rises)) and rises[-1] >= F(1, 60)


def response(p, r, delta):
    """Theorem 5's N and theta: outcomes in the order of their secrets' probabilities."""
    k, left = len(p), F(delta)
    for n, q in enumerate(sorted(p), 1):
        mass = (1 + q * (r - 1)) / (k - 1 + r)
        if left <= mass:
            return r / (k - 1 + r) * (n - 1 + left / mass) / delta
        left -= mass
    raise AssertionError


def test_of_randomized_response_it_is_the_closed_form():
    rng = np.random.default_rng(14)
    for r in (F(1), F(3, 2), F(20)):
        p = o.law(rng, 4, "plain")
        for delta in DELTAS:
            mech = bl.mechanisms.randomized_response(k=4, ratio=r)
            found = bl.tail_leakage(bl.pmf(p) * mech, delta)
            assert found.ratio.lower == response(p, r, delta)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.nan, "1/2", None])
def test_bad_input(wrong):
    joint = made([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]])
    with pytest.raises(bl.InvalidInput, match="delta"):
        bl.tail_leakage(joint, wrong)
    with pytest.raises(bl.InvalidInput, match='of="pml" or of="pmc"'):
        bl.tail_leakage(joint, HALF, of="ldp")
    with pytest.raises(bl.InvalidInput, match="a joint"):
        bl.tail_leakage(3, HALF)


# -- the envelope ---------------------------------------------------------------------------------


def beside_the_envelope(count, seed):
    """Compare exact envelopes with V: how often they are equal, and their gaps in nats."""
    rng = np.random.default_rng(seed)
    equal, gaps = 0, []
    for k in range(count):
        p, K = random_joint(rng, STYLES[k % len(STYLES)], most=4)
        joint, delta = made(p, K), F(int(rng.integers(1, 20)), 20)
        v = dual("pml", p, K, delta)
        found = bl.envelope(joint)(delta)
        assert found.ratio.upper >= v / 2 and found.ratio.lower <= v, (p, K, delta)
        equal += found.ratio.upper >= v
        gaps.append(math.log(v) - found.lower)
    return equal, sum(gaps) / len(gaps)


def test_the_envelope_is_within_log_2_below():
    equal, gap = beside_the_envelope(20, seed=15)
    assert equal >= 5 and 0 <= gap < 0.2


@pytest.mark.truths
def test_the_envelope_is_within_log_2_below_in_many_joints():
    equal, gap = beside_the_envelope(1000, seed=16)
    print(f"log V is the envelope in {equal} of 1000 joints; mean gap {gap:.4f} nats")
    assert equal >= 300 and gap < 0.1


# -- draws and sets of priors ---------------------------------------------------------------------


@pytest.mark.few(5)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("style", STYLES)
def test_of_a_posterior_it_is_that_of_every_draw(style, kind):
    rng = np.random.default_rng(17)
    draws = rng.dirichlet(np.ones(4), size=(1, 20))
    draws[0, :4] = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.25, 0.75, 0], [1e-300, 0.5, 0.5, 0]]
    data = xr.Dataset({"p": (("chain", "draw", "x"), draws)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    K = o.floats(o.mechanism(rng, 4, 5, style))
    mech = bl.Mechanism.from_matrix(K)
    for delta in (F(1, 100), 0.25, F(9, 10)):
        found = bl.tail_leakage(learnt * mech, delta, of=kind)
        low, high = (found.draws[end].values.ravel() for end in ("lower", "upper"))
        for k, p in enumerate(draws[0]):
            one = bl.tail_leakage(bl.pmf(p) * mech, delta, of=kind)
            assert low[k] <= one.upper and one.lower <= high[k]
            assert high[k] == math.inf or high[k] - low[k] < 1e-11
            assert high[k] < math.inf or one.upper == math.inf


def over_union(kind, corners, K, delta):
    """The largest V over corners, with S over the union of supports: min over c, by hand."""
    rows = sorted({x for p in corners for x in o.support(p)})
    best = max if kind == "pml" else min
    T = [best(K[x][y] for x in rows) for y in range(len(K[0]))]
    out = []
    for p in corners:
        law = list(zip(T, o.marginal(p, K), strict=True))
        bends = [F(0), *(t / q for t, q in law if q)]
        if kind == "pml":
            out.append(min(c + sum(max(t - c * q, 0) for t, q in law) / delta for c in bends))
        else:
            out.append(max(c - sum(max(c * q - t, 0) for t, q in law) / delta for c in bends))
    return max(ratio_of(kind, v) for v in out)


@pytest.mark.few(5)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize("style", STYLES)
def test_over_a_hull_it_is_largest_at_a_corner(style, kind):
    rng = np.random.default_rng(18)
    for _ in range(5):
        K = o.mechanism(rng, 3, 4, style)
        corners = [o.law(rng, 3, "plain"), [F(1, 3), F(2, 3), F(0)], [F(0), F(0), F(1)]]
        hull = bl.priors.hull([bl.pmf(p) for p in corners])
        for delta in (F(1, 20), F(1, 3), F(9, 10)):
            found = bl.tail_leakage(hull * bl.Mechanism.from_matrix(K), delta, of=kind)
            truth = over_union(kind, corners, K, delta)
            assert found.ratio == (truth, truth) and found.status == "exact"
            for w in ([F(1, 3)] * 3, [F(1, 50), F(1, 50), F(24, 25)], [F(9, 10), F(1, 10), F(0)]):
                member = [sum(a * p[x] for a, p in zip(w, corners, strict=True)) for x in range(3)]
                assert ratio_of(kind, dual(kind, member, K, delta)) <= truth
            near = bl.priors.hull([bl.pmf(o.floats(p)) for p in corners])
            loose = bl.tail_leakage(near * bl.Mechanism.from_matrix(o.floats(K)), delta, of=kind)
            assert loose.lower <= found.upper and found.lower <= loose.upper


def sets_of(p, q):
    """Sets of priors, and their rules rows q <= ends, in Fractions."""
    n, r = len(p), F(1, 8)
    eye = [[F(int(a == b)) for b in range(n)] for a in range(n)]
    events = [[F(k >> a & 1) for a in range(n)] for k in range(1, 2**n - 1)]
    minus = [[-v for v in row] for row in eye]
    low, high = [[f(a, b) for a, b in zip(p, q, strict=True)] for f in (min, max)]
    prior = bl.pmf(p)
    return {
        "tv": (
            bl.priors.tv_ball(prior, r),
            (events, [sum(a * b for a, b in zip(e, p, strict=True)) + r for e in events]),
        ),
        "contamination": (
            bl.priors.contamination(prior, r),
            (minus, [-(1 - r) * a for a in p]),
        ),
        "box": (
            bl.priors.box(low, high, on=bl.Finite(n)),
            (eye + minus, [*high, *(-a for a in low)]),
        ),
        "polytope": (
            bl.priors.polytope([eye[0], minus[1]], [F(3, 4), F(-1, 16)], on=bl.Finite(n)),
            ([eye[0], minus[1], *minus], [F(3, 4), F(-1, 16), *[F(0)] * n]),
        ),
        "full_support": (bl.priors.full_support(bl.Finite(n)), (minus, [F(0)] * n)),
    }


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.cases(
    "slow", "fine-pml", "fine-pmc", "ties-pml", "ties-pmc", "zeros-pml", "zeros-pmc", "plain-pmc"
)
@pytest.mark.parametrize("style", STYLES)
def test_over_sets_by_the_shares_of_outcomes(style, kind):
    """Against all extreme points, by elimination, and the definition at each."""
    rng = np.random.default_rng(28)
    for _ in range(1):
        K = o.mechanism(rng, 3, 3, style)
        p, q = (o.law(rng, 3, "plain") for _ in range(2))
        for name, (priors, rules) in sets_of(p, q).items():
            corners = vertices(*rules)
            for delta in (F(1, 20), F(1, 3)):
                found = bl.tail_leakage(priors * bl.Mechanism.from_matrix(K), delta, of=kind)
                low, high = log_ends(over_union(kind, corners, K, delta))
                assert found.lower <= high and low <= found.upper, (name, delta)
                assert found.upper == math.inf or found.upper - found.lower < 1e-6
                assert (found.upper == math.inf) == (low == math.inf), (name, delta)
                assert found.status in ("exact", "certified", "undecided")


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_over_sets_at_levels_that_floats_do_not_hold(kind):
    """Subnormal levels, those below all floats, and those next to 1."""
    p, q = [HALF, F(3, 10), F(1, 5)], [F(1, 5), F(2, 5), F(2, 5)]
    K = [[HALF, F(3, 10), F(1, 5)], [F(1, 5), HALF, F(3, 10)], [F(1, 10), F(1, 5), F(7, 10)]]
    known = sets_of(p, q)
    learnt = bl.priors.from_counts([5, 3, 2], confidence=0.95) * bl.Mechanism.from_matrix(K)
    tiny = bl.tail_leakage(learnt, F(1, 10**320), of=kind)
    sup = (bl.pml if kind == "pml" else bl.pmc)(learnt).sup()
    assert tiny.status == sup.status == "statistical" and tiny.upper == sup.upper
    for name in ("tv", "contamination"):
        priors, rules = known[name]
        corners, joint = vertices(*rules), priors * bl.Mechanism.from_matrix(K)
        for delta in (F(1, 10**20), F(1, 10**320), F(1, 10**400), 1 - F(1, 10**30)):
            found = bl.tail_leakage(joint, delta, of=kind)
            low, high = log_ends(over_union(kind, corners, K, delta))
            assert found.lower <= high and low <= found.upper, (name, delta)
            assert found.upper - found.lower < (1e-6 if kind == "pml" else 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("level", [F(1, 10**320), F(1, 10**400)])
def test_over_densities_at_levels_that_floats_do_not_hold(level):
    joint = bl.priors.tv_ball(bl.pmf([HALF, HALF], on=bl.Finite([0.0, 1.0])), F(1, 8))
    joint = joint * bl.mechanisms.laplace(b=1.0, secret=bl.Finite([0.0, 1.0]))
    for kind, whole in (("pml", bl.pml), ("pmc", bl.pmc)):
        found, most = bl.tail_leakage(joint, level, of=kind), whole(joint).sup()
        assert found.lower <= most.upper and most.lower <= found.upper <= most.upper


def log_ends(ratio):
    value = math.log(ratio) if ratio < math.inf else math.inf
    return value * (1 - 1e-15), value * (1 + 1e-15)


def test_shares_that_are_pruned_too_early_are_seen(monkeypatch):
    """With what an event takes of delta doubled, the truth is missed."""
    put = worst_outcomes.OutcomeShares._least

    def twice(self, shares):
        low, high, prior = put(self, shares)
        return 2 * low, high, prior

    p, K = [HALF, F(3, 10), F(1, 5)], [[F(3, 5), F(3, 10), F(1, 10)], [F(1, 5), HALF, F(3, 10)]]
    K.append([F(1, 10), F(1, 5), F(7, 10)])
    joint = bl.priors.tv_ball(bl.pmf(p), F(1, 10)) * bl.Mechanism.from_matrix(K)
    bound = bl.tail_leakage(joint, HALF)
    assert bound.upper - bound.lower < 1e-7
    matrix = np.array(o.floats(K))
    monkeypatch.setattr(worst_outcomes.OutcomeShares, "_least", twice)
    search = worst_outcomes.OutcomeShares(joint.prior, matrix, 2.0**-53)
    assert math.log(search._bound(matrix.max(axis=0), 0.5, 0.0) / 0.5) < bound.lower


def test_over_a_union_and_a_family():
    K = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    mech = bl.Mechanism.from_matrix(K)
    parts = [bl.priors.tv_ball(bl.pmf([HALF, HALF]), F(1, k)) for k in (8, 16)]
    assert bl.tail_leakage((parts[0] | parts[1]) * mech, HALF).upper == pytest.approx(
        bl.tail_leakage(parts[0] * mech, HALF).upper, abs=1e-15
    )
    family = bl.priors.family(lambda t: bl.pmf([1 - t, t]), bl.Interval(0.125, 0.25))
    found = bl.tail_leakage(family * mech, HALF)
    truth = math.log(dual("pml", [F(7, 8), F(1, 8)], K, HALF))
    assert found.lower <= truth <= found.upper < found.lower + 1e-6
    assert found.lower <= truth + 1e-15


@pytest.mark.slow
def test_over_sets_of_densities():
    """Above by the centre's at another level, below by members; hulls by their corners."""
    unit = bl.Interval(0, 1)
    centre, mech = bl.uniform(unit), bl.mechanisms.laplace(b=0.5, secret=unit)
    for kind in ("pml", "pmc"):
        whole = bl.pml if kind == "pml" else bl.pmc
        for priors in (bl.priors.tv_ball(centre, 0.0625), bl.priors.contamination(centre, 0.0625)):
            found = bl.tail_leakage(priors * mech, HALF, of=kind)
            own = bl.tail_leakage(centre * mech, HALF, of=kind)
            assert found.status == "certified" and found.lower <= own.upper
            # a mixture with a member near a point, whose leakage the ball holds
            near = bl.mixture([centre, bl.beta(alpha=64.0, beta=2.0)], weights=[15 / 16, 1 / 16])
            assert bl.tail_leakage(near * mech, HALF, of=kind).lower <= found.upper
            assert found.upper <= whole(priors * mech).sup().upper
    hull = bl.priors.hull([centre, bl.beta(alpha=2, beta=5)]) * mech
    found = bl.tail_leakage(hull, HALF)
    each = [bl.tail_leakage(c * mech, HALF) for c in (centre, bl.beta(alpha=2, beta=5))]
    assert found.upper - found.lower < 1e-7
    assert max(b.lower for b in each) <= found.upper and found.lower <= max(b.upper for b in each)


# -- the mean of the worst part of a law in bands -------------------------------------------------


@pytest.mark.parametrize("largest", [True, False])
def test_bands_enclose_the_mean_of_the_worst_part(largest):
    """A law of points, joined into bands: ranges, masses and sums are what is known of it."""
    rng = np.random.default_rng(19)
    for _ in range(60):
        count, groups = int(rng.integers(3, 12)), int(rng.integers(1, 5))
        mass = o.law(rng, count, "plain")
        points = [F(int(rng.integers(0, 40)), 10) for _ in range(count)]
        value = [1 + s if largest else 1 / (1 + s) for s in points]
        order = sorted(range(count), key=lambda k: (value[k], rng.integers(9)))
        parts = [part for part in np.array_split(order, groups) if len(part)]
        exact = [
            (
                min(value[k] for k in part),
                max(value[k] for k in part),
                sum(mass[k] for k in part),
                sum(mass[k] * value[k] for k in part),
            )
            for part in parts
        ]
        wide = F(int(rng.integers(0, 3)), 1000)  # what is known of masses and sums only roughly
        low, high, m, s = np.array([[float(v) for v in row] for row in exact]).T
        a, b = (1 - float(wide)) * (1 - 1e-15), (1 + float(wide)) * (1 + 1e-15)
        law = BandedLaw((low * (1 - 1e-15), high * (1 + 1e-15)), (m * a, m * b), (s * a, s * b))
        for delta in (F(1, 50), F(1, 3), F(7, 8), F(1)):
            truth = event(list(zip(value, mass, strict=True)), delta, largest=largest)
            found = worst_mean(law, delta, largest=largest)
            assert found.lower <= truth <= found.upper
            alone = all(x == y for x, y, *_ in exact) and not wide
            assert not alone or found.upper - found.lower < 1e-13 * found.upper
            if delta < 1:  # else masses that are loose do not add up to it
                assert found.gaps.sum() >= (found.upper - found.lower) * (1 - 1e-9) - 1e-12
            if largest:
                rest = [(s, m) for s, m in zip(value, mass, strict=True)]
                level = max(  # sup of s with E[S; S >= s] >= delta s
                    min(u, sum(m * t for t, m in rest if t >= u) / delta) for u in value
                )
                ends = absorbing_level(law, delta)
                assert ends[0] <= max(level, 1) <= ends[1]


def test_bands_without_an_upper_end():
    """S of density 2 / s^3 on (1, oo): P{S > s} = 1 / s^2, the mean beyond s is 2 s."""
    ends = np.array([1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 100.0, math.inf])
    low, high = ends[:-1], ends[1:]
    mass, total = 1 / low**2 - 1 / high**2, 2 / low - 2 / high
    law = BandedLaw((low, high), (mass, mass * (1 + 1e-15)), (total, total * (1 + 1e-15)))
    for delta in (F(1, 10**6), F(1, 20), F(1, 4), F(1)):
        found, truth = worst_mean(law, delta, largest=True), 2 / math.sqrt(delta)
        assert found.lower <= truth * (1 + 1e-15) and truth <= found.upper < 1.15 * truth + 1e5 * (
            delta < F(1, 10**4)
        )
    assert worst_mean(law, F(1, 10**400), largest=True)[:2] == (1.0, math.inf)


def test_numbers_that_are_0_are_told_apart_from_small_ones():
    zero, tiny = np.zeros(2), np.full(2, 1e-320)
    one, half = np.array([1e-320, 1.0]), np.array([0.5, 0.5])
    law = BandedLaw((tiny, one), (half, half), (half * 1e-320, half * one))
    assert worst_mean(law, F(1, 2), largest=False).upper > 0
    law = BandedLaw((zero, np.array([0.0, 1.0])), (half, half), (zero, np.array([0.0, 0.5])))
    assert worst_mean(law, F(2, 5), largest=False)[:2] == (0.0, 0.0)


# -- continuous and countable alphabets -----------------------------------------------------------

UNIT = bl.Interval(0, 1)
NOISE = bl.mechanisms


def laplace_mean(b, delta):
    """V of a uniform secret on [0, 1] and Laplace noise, from the density of Y by hand."""
    b, delta = mp.mpf(b), mp.mpf(delta.numerator) / delta.denominator
    outside = b * (1 - mp.exp(-1 / b))
    if delta <= outside:
        return 1 / outside
    mass = lambda c: 2 * c + b * (mp.exp(-c / b) - mp.exp(-(1 - c) / b))  # noqa: E731
    c = mp.findroot(lambda c: mass(c) - delta, (0, 0.5), solver="anderson", tol=1e-45)
    return (1 + c / b) / delta


def gauss_mean(sigma, delta):
    """The same for Gaussian noise, with the number s from the left end by bisection."""
    sigma, delta = mp.mpf(sigma), mp.mpf(delta.numerator) / delta.denominator
    G = lambda u: u * mp.ncdf(u) + mp.npdf(u)  # noqa: E731
    mass = lambda s: 2 * sigma * (G(s / sigma) - G((s - 1) / sigma))  # noqa: E731
    low, high = mp.mpf(-60) * sigma - 60, mp.mpf(1) / 2
    for _ in range(180):
        middle = (low + high) / 2
        low, high = (middle, high) if mass(middle) < delta else (low, middle)
    if high <= 0:
        return 2 * mp.ncdf(high / sigma) / delta
    return (1 + 2 * high / (sigma * mp.sqrt(2 * mp.pi))) / delta


CLOSED = [
    (NOISE.laplace, {"b": 1.0}, laplace_mean),
    (NOISE.laplace, {"b": 0.0625}, laplace_mean),
    (NOISE.gaussian, {"sigma": 1.0}, gauss_mean),
    (NOISE.gaussian, {"sigma": 0.25}, gauss_mean),
]


@pytest.mark.parametrize(("noise", "scale", "mean"), CLOSED)
def test_closed_forms_of_noise_on_a_uniform_secret(noise, scale, mean):
    (size,) = scale.values()
    for delta in (F(1, 1000), F(1, 10), HALF, F(97, 100)):
        truth = mp.log(mean(size, delta))
        found = bl.tail_leakage(bl.uniform(UNIT) * noise(**scale), delta)
        assert found.lower <= truth <= found.upper and found.width < 1e-15 * (1 + found.upper)
        assert found.status == "exact"
        # the same in other units
        wide = {name: 4 * value for name, value in scale.items()}
        other = bl.tail_leakage(bl.uniform(bl.Interval(-1, 3)) * noise(**wide), delta)
        assert other.lower <= truth <= other.upper


@pytest.mark.parametrize(
    ("sigma", "delta", "shown"),
    [
        (1, F(1, 100), 1.078496),
        (1, F(1, 10), 0.812985),
        (1, HALF, 0.518142),
        (0.25, F(1, 10), 1.827921),
    ],
)
def test_the_numbers_of_the_note(sigma, delta, shown):
    joint = bl.uniform(UNIT) * NOISE.gaussian(sigma=float(sigma))
    assert abs(bl.tail_leakage(joint, delta).value - shown) < 6e-7


@pytest.mark.cases("truths", "laplace-*", "gaussian-delta1")
@pytest.mark.parametrize("delta", [F(1, 100), F(9, 10)])
@pytest.mark.parametrize(("noise", "scale", "mean"), CLOSED[::2], ids=["laplace", "gaussian"])
def test_the_engine_encloses_the_closed_forms(noise, scale, mean, delta):
    (size,) = scale.values()
    with bl.options(closed_forms=False):
        found = bl.tail_leakage(bl.uniform(UNIT) * noise(**scale), delta)
    truth = mp.log(mean(size, delta))
    assert found.lower <= truth <= found.upper and found.width <= 1e-8
    assert found.status == "certified"


def least_mean(delta, b=1):
    """U of Laplace noise: e^-PMC is f at the further end over f_Y, smallest outside [0, 1]."""
    b, delta = mp.mpf(b), mp.mpf(delta.numerator) / delta.denominator
    law = lambda y: (2 - mp.exp(-y / b) - mp.exp((y - 1) / b)) / 2  # noqa: E731
    outside = b * (1 - mp.exp(-1 / b))
    low = mp.exp(-1 / b)  # the integral of the infimum outside
    if delta <= outside:
        return low / outside
    c = mp.findroot(lambda c: outside + 2 * mp.quad(law, [0, c]) - delta, 0.2)
    return (low + b * (mp.exp(-(1 - c) / b) - mp.exp(-1 / b)) / b) / delta


@pytest.mark.cases("truths", "delta1")
@pytest.mark.parametrize("delta", [F(1, 10), F(9, 10)])
def test_of_pmc_over_continuous_outcomes(delta):
    found = bl.tail_leakage(bl.uniform(UNIT) * NOISE.laplace(b=1.0), delta, of="pmc")
    truth = -mp.log(least_mean(delta))
    assert found.lower <= truth <= found.upper and found.width < 1e-8
    assert found.status == "certified"


def test_finite_secrets_with_continuous_outcomes():
    """X uniform on 0, 1, 2 and Gaussian noise: S is 3 / (1 + e^-a + e^-b) at y, worst far out."""
    secret = bl.Finite([0.0, 1.0, 2.0])
    joint = bl.uniform(secret) * NOISE.gaussian(sigma=1.0, secret=secret)
    below = lambda y: sum(mp.ncdf(y - x) for x in range(3)) / 3  # noqa: E731
    for delta in (F(1, 100), F(1, 10)):
        size = mp.mpf(delta.numerator) / delta.denominator
        edge = mp.findroot(lambda y, size=size: 2 * below(y) - size, -1)
        truth = mp.log(2 * mp.ncdf(edge) / size)
        found = bl.tail_leakage(joint, delta)
        assert found.lower <= truth <= found.upper and found.width < 1e-8


def test_atoms_count():
    """Laplace noise clipped to [0, 1]: the two atoms have the supremum, 1/2 (1 - 1/e) each."""
    joint = bl.uniform(UNIT) * NOISE.laplace(b=1.0).clip(0.0, 1.0)
    for delta in (HALF, F(9, 10)):
        truth = mp.log(laplace_mean(1, delta))
        found = bl.tail_leakage(joint, delta)
        assert found.lower <= truth <= found.upper and found.width < 1e-8


LINE = bl.normal()


@pytest.mark.few(2)
@pytest.mark.cases("truths", "*-truth")
@pytest.mark.parametrize(
    ("make", "of"),
    [
        pytest.param(lambda: LINE * NOISE.laplace(b=1.0), "pml", id="laplace"),
        pytest.param(lambda: LINE * NOISE.gaussian(sigma=1.0), "pml", id="gaussian"),
        pytest.param(lambda: LINE * NOISE.gaussian(sigma=1.0), "pmc", id="gaussian-pmc"),
        pytest.param(lambda: LINE * NOISE.laplace(b=1.0), "pmc", id="laplace-pmc-truth"),
        pytest.param(
            lambda: bl.uniform(UNIT) * NOISE.clayton(eta=0.1, theta=1), "pml", id="clayton-truth"
        ),
    ],
)
def test_it_is_infinite_for_every_delta_or_none(make, of):
    found = bl.tail_leakage(make(), HALF, of=of)
    assert found.proved and found.lower == math.inf


def test_countable_outcomes():
    """Two secrets and two-sided geometric noise: S is 4/3 below 0 and above 1, and 1 nowhere."""
    secret = bl.Finite([0, 1])
    mech = bl.Mechanism(
        lambda y, x: np.log(1 / 3) + np.log(0.5) * np.abs(y - x),
        secret=secret,
        outcome=bl.Integers(),
        log=True,
    )
    joint = bl.pmf([HALF, HALF], on=secret) * mech
    for delta in (F(1, 10), F(9, 10)):
        found = bl.tail_leakage(joint, delta)
        assert found.lower <= mp.log(mp.mpf(4) / 3) <= found.upper and found.width < 1e-11
        cost = bl.tail_leakage(joint, delta, of="pmc")
        assert cost.lower <= mp.log(mp.mpf(3) / 2) <= cost.upper and cost.width < 1e-11


@pytest.mark.truths
def test_an_estimate_says_so():
    with bl.options(engine="estimate", closed_forms=False):
        joint = bl.uniform(UNIT) * NOISE.laplace(b=1.0)
        found = bl.tail_leakage(joint, F(9, 10))
        cost = bl.tail_leakage(joint, F(9, 10), of="pmc")
    assert found.status == cost.status == "estimate"
    assert found.lower <= mp.log(laplace_mean(1, F(9, 10))) <= found.upper
    assert cost.lower <= -mp.log(least_mean(F(9, 10))) <= cost.upper


# -- numbers that floats lose ---------------------------------------------------------------------


@pytest.mark.parametrize("delta", [F(1, 10), F(9, 10)])
def test_ratios_below_floats_prove_no_infinite_tail_leakage(delta):
    """Laplace noise is 1/b-LDP, so PMC is 2000 at most; it is least at 1/2, where it is 993."""
    secrets = bl.Interval(0, 1)
    joint = bl.uniform(secrets) * bl.mechanisms.laplace(b=0.0005, secret=secrets)
    with bl.options(budget=0.5):
        found = bl.tail_leakage(joint, delta, of="pmc")
    assert found.lower <= 2000 and found.upper > 993


def test_bands_of_little_mass_keep_it_beside_large_ones():
    """S = 10 of probability 1e-12, and 1: W takes all of it, and as much again of the rest."""
    rare, half = F(1, 10**12), F(1, 2)
    law, delta = [(F(10), rare), (F(2), half), (F(1), half - rare)], 2 * rare
    masses = np.array([float(m) for _, m in law])
    values = np.array([float(s) for s, _ in law])
    spread = np.array([1 - 2.0**-52, 1 + 2.0**-52])
    bands = BandedLaw(*(tuple(v * spread[:, None]) for v in (values, masses, values * masses)))
    found = worst_mean(bands, delta, largest=True)
    assert found.lower <= event(law, delta) == 6 <= found.upper
    assert found.upper - found.lower < 1e-12


@pytest.mark.parametrize("small", [F(1, 10**317), F(1, 10**322)])
def test_smallest_numbers_of_bands_stay_inside(small):
    """Products below the normal floats round by more than their relative error."""
    law = [(small * 7, F(1, 7)), (small * 5, F(2, 7)), (small * 11, F(4, 7))]
    ends = [
        tuple(np.array([way(v) for v in column]) for way in (fraction_down, fraction_up))
        for column in ([s for s, _ in law], [m for _, m in law], [s * m for s, m in law])
    ]
    for delta in (F(1, 5), F(184, 1000), F(9, 10)):
        found = worst_mean(BandedLaw(*ends), delta, largest=False)
        assert F(found.lower) <= event(law, delta, largest=False) <= F(found.upper)


def test_absorption_at_deltas_below_floats_needs_mass():
    """A band of unknown mass absorbs nothing, however small the mass asked for is."""
    ends = np.array([1.0, 9.0]), np.array([1.0, 9.0])
    law = BandedLaw(ends, (np.array([0.9, 0.0]), np.array([1.0, 0.1])), (np.array([0.9, 0.0]),) * 2)
    assert absorbing_level(law, F(1, 10**400))[0] == 1


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_draws_of_tiny_entries_and_deltas(kind):
    tiny = 2.0**-1013
    K = [[0.5, 0.5 - 2.0**-40, 2.0**-40], [tiny, 0.5, 0.5]]
    draws = np.array([[[0.5, 0.5], [0.25, 0.75]]])
    data = xr.Dataset({"p": (("chain", "draw", "x"), draws)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    exact = [[F(v) for v in row] for row in K]
    exact[1] = [v / sum(exact[1]) for v in exact[1]]
    for delta in (F(1, 10**12), F(1, 10**40), F(1, 10**312), F(1, 10**400)):
        found = bl.tail_leakage(learnt * bl.Mechanism.from_matrix(K), delta, of=kind).draws
        low, high = (found[end].values.ravel() for end in ("lower", "upper"))
        for k, p in enumerate(draws[0]):
            value = dual(kind, [F(v) for v in p], exact, delta)
            truth = abs(mp.log(mp.mpf(value.numerator) / value.denominator))
            assert low[k] <= truth <= high[k]
