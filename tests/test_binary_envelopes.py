"""The binary envelope against its definition: brute force over binary post-processings."""

import itertools
import math
from fractions import Fraction as F

import measure_oracles as m
import mpmath
import numpy as np
import oracles as o
import pytest

import borel as bl
from borel.engine import engine_for
from borel.engine.finite.event_curves import floats_of, largest_shares

HALF = F(1, 2)
mpmath.mp.dps = 60


# -- oracles: nothing here calls borel ------------------------------------------------------------


def leakage(p, K, a):
    """e^leakage of a fuzzy event; None if it has probability 0."""
    mass = sum((w * v for w, v in zip(a, o.marginal(p, K), strict=True)), F(0))
    if mass == 0:
        return None
    return (
        max(sum((w * v for w, v in zip(a, K[x], strict=True)), F(0)) for x in o.support(p)) / mass
    )


def quantile(p, K, a, delta):
    """e^ of the upper quantile of a binary Z, from its definition over sets A of its values."""
    law = o.marginal(p, K)
    mass = sum((w * v for w, v in zip(a, law, strict=True)), F(0))
    values = {1: (mass, leakage(p, K, a)), 0: (1 - mass, leakage(p, K, [1 - w for w in a]))}
    values = {z: v for z, v in values.items() if v[1] is not None}
    best = F(0)
    for size in range(1, len(values) + 1):
        for chosen in itertools.combinations(values, size):
            if sum(values[z][0] for z in chosen) >= delta:
                best = max(best, min(values[z][1] for z in chosen))
    return best


def both(p, K):
    """The largest min of e^leakage of an event and of its complement, an mpmath number.

    For given secrets and multiplier the optimal events share ties out along one equation, so
    that one outcome at most is split; its share makes both ratios equal, or is 0 or 1.
    """
    law = o.marginal(p, K)
    live = [y for y in range(len(law)) if law[y] > 0]
    best = mpmath.mpf(1)
    for inside in m.subsets(live):
        outside = [y for y in live if y not in inside]
        for split in [None, *outside]:
            rest = [y for y in outside if y != split]
            for x, other in itertools.permutations(o.support(p), 2):
                k1, q1 = sum((K[x][y] for y in inside), F(0)), sum((law[y] for y in inside), F(0))
                k2, q2 = sum((K[other][y] for y in rest), F(0)), sum((law[y] for y in rest), F(0))
                a, b, q = (
                    (K[x][split], K[other][split], law[split]) if split is not None else (0,) * 3
                )
                for share in shares(k1, q1, k2, q2, a, b, q):
                    masses = q1 + share * q, q2 + (1 - share) * q
                    if 0 <= share <= 1 and min(masses) > 0:
                        ratios = (k1 + share * a) / masses[0], (k2 + (1 - share) * b) / masses[1]
                        best = max(best, min(ratios))
    return best


def number(v):
    return mpmath.mpf(v.numerator) / v.denominator if isinstance(v, F) else mpmath.mpf(v)


def shares(k1, q1, k2, q2, a, b, q):
    """Where (k1 + s a) / (q1 + s q) = (k2 + (1 - s) b) / (q2 + (1 - s) q), and both ends."""
    out = [mpmath.mpf(0), mpmath.mpf(1)]
    coefficients = [
        number(c)
        for c in (
            q * (b - a),
            a * (q2 + q) - k1 * q - (k2 + b) * q + b * q1,
            k1 * (q2 + q) - (k2 + b) * q1,
        )
    ]
    if coefficients[0] != 0:
        under = coefficients[1] ** 2 - 4 * coefficients[0] * coefficients[2]
        if under >= 0:
            out += [
                (-coefficients[1] + s * mpmath.sqrt(under)) / (2 * coefficients[0]) for s in (-1, 1)
            ]
    elif coefficients[1] != 0:
        out.append(-coefficients[2] / coefficients[1])
    return out


def random_joint(rng, n=None, size=None, top=6):
    """A small random joint of Fractions, with zeros and ties."""
    n, size = n or int(rng.integers(2, 5)), size or int(rng.integers(2, 5))

    def law(k):
        while True:
            v = rng.integers(0, top, size=k).tolist()
            if sum(v):
                return [F(x, sum(v)) for x in v]

    return law(n), [law(size) for _ in range(n)]


def build(p, K, exact=True):
    if not exact:
        p, K = [float(v) for v in p], [[float(v) for v in row] for row in K]
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def log_within(bound, ratio):
    """Whether exp of an mpmath number of 60 digits lies in the enclosure."""
    value = mpmath.log(ratio)
    slack = mpmath.mpf(10) ** -50  # of the oracle itself, at 60 digits
    return mpmath.mpf(bound.lower) <= value + slack and value - slack <= mpmath.mpf(bound.upper)


# -- the definition -------------------------------------------------------------------------------


def test_a_uniform_bit_released():
    """Errata: Algorithm 1 gives log 1/0.9, the definition (13) log 2."""
    joint = build([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]])
    found = bl.binary_envelope(joint)(F(9, 10))
    assert found.ratio == (F(2), F(2)) and found.status == "exact"
    assert bl.event_maximal_leakage(joint, delta=F(9, 10)).ratio == (F(10, 9), F(10, 9))
    assert quantile([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]], [F(1), F(0)], F(9, 10)) == 2
    floats = bl.binary_envelope(build([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]], False))(0.9)
    assert floats.lower <= math.log(2) <= floats.upper and floats.width < 1e-13


COUNTS = pytest.mark.parametrize(
    "count", [120, pytest.param(2000, marks=pytest.mark.fuzz)], ids=["some", "thousands"]
)


@pytest.mark.truths
@COUNTS
def test_small_mechanisms(count):
    """Both terms, exactly: at every level the larger of EML and of the two halves."""
    rng = np.random.default_rng(count)
    levels = [F(1, 20), F(1, 4), HALF, F(3, 5), F(3, 4), F(9, 10), F(99, 100)]
    for _ in range(count):
        p, K = random_joint(rng)
        envelope, halves = bl.binary_envelope(build(p, K)), both(p, K)
        assert log_within(envelope.both(), halves)
        assert envelope.both().width < 1e-15 * 8
        for delta in levels:
            events = m.event_maximal_leakage(p, K, delta)
            found = envelope(delta)
            if events >= halves or delta <= HALF:
                # the algorithm is right up to 1/2
                assert found.ratio == (events, events) or log_within(
                    found, max(halves, number(events))
                )
                assert number(events) >= halves - mpmath.mpf(10) ** -50
            assert log_within(found, max(halves, number(events)))


@pytest.mark.truths
@COUNTS
def test_small_mechanisms_in_floats(count):
    rng = np.random.default_rng(count + 1)
    levels = [0.05, 0.25, 0.5, 0.6, 0.75, 0.9, 0.99]
    for _ in range(count):
        p, K = random_joint(rng)
        joint = build(p, K, exact=False)
        envelope, halves = bl.binary_envelope(joint), both(p, K)
        curve = envelope(levels)
        for k, delta in enumerate(levels):
            truth = max(halves, number(m.event_maximal_leakage(p, K, F(delta))))
            if delta <= 0.5:
                truth = number(m.event_maximal_leakage(p, K, F(delta)))
            one = envelope(delta)
            assert log_within(one, truth) and one.width < 1e-12
            many = bl.Bound.exact(float(curve.lower[k]), float(curve.upper[k]))
            assert log_within(many, truth) and many.width < 1e-12


def test_no_random_bit_of_the_outcome_beats_it():
    """A check from the outside: 20 000 random binary post-processings."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        n, size = (int(v) for v in rng.integers(2, 6, size=2))
        p, K = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(size) / 2, size=n)
        envelope = bl.binary_envelope(bl.pmf(p) * bl.Mechanism.from_matrix(K))
        a = np.where(
            rng.random((500, size)) < 0.3, rng.random((500, size)), rng.random((500, size)) < 0.5
        )
        law = p @ K
        mass = a @ law
        with np.errstate(all="ignore"):
            one = np.where(mass > 1e-9, (a @ K.T).max(axis=1) / mass, 1.0)
            two = np.where(1 - mass > 1e-9, ((1 - a) @ K.T).max(axis=1) / (1 - mass), 1.0)
        for delta in (0.1, 0.5, 0.7, 0.95):
            best = np.minimum(one, two)
            best = np.where(mass >= delta, np.maximum(best, one), best)
            best = np.where(1 - mass >= delta, np.maximum(best, two), best)
            assert np.log(best.max()) <= envelope(delta).upper + 1e-12


def test_the_witness_attains_it():
    rng = np.random.default_rng(4)
    for _ in range(150):
        p, K = random_joint(rng, top=9)
        envelope = bl.binary_envelope(build(p, K))
        for delta in (F(1, 3), F(4, 5)):
            found = envelope(delta)
            shares_of = dict(found.witness["event"])
            a = [F(shares_of.get(y, 0)) for y in range(len(K[0]))]
            # shares are shown as floats: they attain it up to their rounding
            reached = quantile(p, K, a, delta - F(1, 10**9))
            assert math.log(reached) >= found.lower - 1e-9


def test_falls_in_delta_and_stays_between_its_neighbours():
    rng = np.random.default_rng(5)
    p, K = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(7), size=6)
    joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
    levels = np.linspace(0.01, 0.99, 99)
    curve = bl.binary_envelope(joint)(levels)
    assert curve.sizes == {"delta": 99} and set(curve.status.values) == {"exact"}
    assert (np.diff(curve.lower) <= 1e-13).all() and (curve.upper - curve.lower).max() < 1e-12
    assert curve.upper[0] <= bl.pml(joint).sup().upper + 1e-12
    halves = bl.binary_envelope(joint).both()
    assert (curve.upper >= halves.lower).all()
    assert curve.upper[-1] == pytest.approx(halves.upper, abs=1e-12)


# -- its parts ------------------------------------------------------------------------------------


def test_curves_of_many_levels_enclose_the_exact_shares():
    """Shares of every secret in float64 against Fractions of the same floats."""
    from borel.engine.problem.discretised_pair import share

    rng = np.random.default_rng(6)
    levels = np.array([1e-12, 1e-3, 0.1, 0.5, 0.9, 1.0])
    for n, size in ((2, 3), (5, 40), (3, 200)):
        K = rng.dirichlet(np.ones(size) / 3, size=n)
        K[:, 1] = K[:, 0]  # a tie
        K = K / K.sum(axis=1, keepdims=True)
        joint = bl.pmf(rng.dirichlet(np.ones(n))) * bl.Mechanism.from_matrix(K)
        values = floats_of(engine_for(joint))
        low, high = largest_shares(values, levels, levels)
        law = [F(float(v)) for v in values.marginal]
        for x, row in enumerate(values.kernel):
            for k, delta in enumerate(levels):
                truth = share([F(float(v)) for v in row], law, F(float(delta)))[0] / F(float(delta))
                assert (F(low[x, k]) <= max(truth, 1) and truth <= F(high[x, k])) or delta == 1.0
                assert high[x, k] / low[x, k] - 1 < 1e-12


def test_a_released_secret_of_many_values():
    """Y = X uniform on n: an event leaks log 1/P, two halves log n (floats: thousands of ties)."""
    n = 60
    joint = bl.pmf([1 / n] * n) * bl.Mechanism.from_matrix(np.eye(n))
    envelope = bl.binary_envelope(joint)
    halves = envelope.both()
    # a half has n/2 values, and leaks log 2
    assert halves.lower <= math.log(2) <= halves.upper and halves.width < 1e-9
    for delta in (0.3, 0.6, 0.999):
        truth = math.log(1 / delta) if delta < 0.5 else math.log(2)
        assert envelope(delta).lower - 1e-15 <= truth <= envelope(delta).upper + 1e-15
    small = build([F(1, 5)] * 5, [[F(int(i == j)) for j in range(5)] for i in range(5)])
    assert bl.binary_envelope(small).both().ratio == (2, 2)


def test_nothing_leaks_of_one_secret_or_of_independent_outcomes():
    one = build([F(1), F(0)], [[HALF, HALF], [F(1), F(0)]])
    assert bl.binary_envelope(one)(F(3, 4)).ratio == (1, 1)
    assert bl.binary_envelope(one)([0.2, 0.7]).upper.max() == 0
    same = build([HALF, HALF], [[F(1, 3), F(2, 3)]] * 2)
    assert bl.binary_envelope(same)(F(3, 4)).ratio == (1, 1)
    assert bl.binary_envelope(same).both().ratio == (1, 1)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, math.nan, "0.5", None])
def test_what_a_delta_is_not(delta):
    joint = build([HALF, HALF], [[F(1), F(0)], [F(0), F(1)]])
    with pytest.raises(bl.InvalidInput, match="delta"):
        bl.binary_envelope(joint)(delta)
    with pytest.raises(bl.InvalidInput, match="delta"):
        bl.binary_envelope(joint)([0.5, delta])


def test_what_a_joint_is_not():
    with pytest.raises(bl.InvalidInput, match=r"prior \* mech"):
        bl.binary_envelope(bl.pmf([HALF, HALF]))


# -- outcomes that are not finite -----------------------------------------------------------------


def slopes():
    """A uniform bit with the densities 2 - 2y and 2y."""
    mech = bl.Mechanism(
        lambda y, x: 2 * y * x + (2 - 2 * y) * (1 - x),
        secret=bl.Finite([0, 1]),
        outcome=bl.Interval(0, 1),
    )
    return bl.pmf([HALF, HALF], on=bl.Finite([0, 1])) * mech


@pytest.mark.few(1)
@pytest.mark.cases("slow", "delta4", "delta3")
@pytest.mark.parametrize("delta", [F(1, 100), F(1, 10), HALF, F(3, 5), F(99, 100)])
def test_densities_on_an_interval(delta):
    """The worst event is y > 1 - delta, with 2 - delta; halves are y > 1/2 and y < 1/2."""
    joint, truth = slopes(), number(2 - delta)
    event = bl.event_maximal_leakage(joint, delta=delta)
    assert mpmath.mpf(event.lower) <= mpmath.log(truth) <= mpmath.mpf(event.upper)
    assert event.status == "certified" and event.width < 1e-7
    envelope = bl.binary_envelope(joint)(delta)
    truth = mpmath.log(max(truth, mpmath.mpf(3) / 2))
    assert mpmath.mpf(envelope.lower) <= truth <= mpmath.mpf(envelope.upper)
    assert envelope.status == "certified" and envelope.width < 1e-7


@pytest.mark.truths
@pytest.mark.parametrize("delta", [0.125, 0.5, 0.75])
def test_gaussian_noise_on_a_biased_bit(delta):
    """Events are half-lines: their end by bisection at 60 digits."""
    mech = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Finite([0.0, 1.0]))
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite([0.0, 1.0])) * mech

    mpmath.mp.dps = 30  # two nested bisections

    def below(z):
        return mpmath.erfc(-z / mpmath.sqrt(2)) / 2

    def shares_of(x, mass):
        """H_x(mass) / mass: secret 1 has its events on the right, 0 on the left."""
        sign = 1 if x else -1

        def row(c, mean):
            return below(sign * (mean - c))

        low, high = mpmath.mpf(-60), mpmath.mpf(60)
        for _ in range(100):
            c = (low + high) / 2
            more = row(c, 0) / 4 + 3 * row(c, 1) / 4 > mass
            low, high = (c, high) if more == (x == 1) else (low, c)
        return row(c, x) / mass

    truth = max(shares_of(0, mpmath.mpf(delta)), shares_of(1, mpmath.mpf(delta)))
    # the two halves: where both leak the same
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    for _ in range(70):
        p = (low + high) / 2
        low, high = (p, high) if shares_of(0, p) > shares_of(1, 1 - p) else (low, p)
    envelope = bl.binary_envelope(joint)
    both_halves = envelope.both()
    value = mpmath.log(shares_of(0, p))
    assert both_halves.lower - 1e-14 <= value <= both_halves.upper + 1e-14
    assert both_halves.width < 1e-7
    if delta > 0.5:
        truth = max(truth, shares_of(0, p))
    mpmath.mp.dps = 60
    found = envelope(delta)
    # the density is traced with log 2 pi in floats: 1e-15 of the truth
    assert found.lower - 1e-14 <= mpmath.log(truth) <= found.upper + 1e-14
    assert found.width < 1e-6


@pytest.mark.truths
def test_three_secrets_on_a_line_are_honest_about_halves():
    """Above delta = 1/2 only 1 + TV bounds the halves of three secrets: a wide, true answer."""
    mech = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Finite([0.0, 1.0, 2.0]))
    joint = bl.pmf([F(1, 3)] * 3, on=bl.Finite([0.0, 1.0, 2.0])) * mech
    found = bl.binary_envelope(joint)(F(9, 10))
    # merging outcomes by y < 1 or y > 1: a bit of two secrets far apart
    one = mpmath.erfc(-1 / mpmath.sqrt(2)) / 2
    assert found.lower <= mpmath.log(one / HALF) <= found.upper
    assert found.upper <= mpmath.log(1 + (2 * one - 1)) + 1e-9


@pytest.mark.few(3)
@pytest.mark.parametrize("delta", [F(1, 50), F(1, 4), HALF, F(9, 10)])
def test_counts(delta):
    """Poisson counts of a bit, 120 outcomes at 60 digits."""
    from scipy import special

    rates = [1.0, 4.0]
    mech = bl.Mechanism(
        lambda y, x: y * np.log(x) - x - special.gammaln(y + 1),
        secret=bl.Finite(rates),
        outcome=bl.Integers(0, None),
        log=True,
    )
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite(rates)) * mech
    rows = [
        [
            mpmath.e ** (-mpmath.mpf(r)) * mpmath.mpf(r) ** y / mpmath.factorial(y)
            for y in range(120)
        ]
        for r in rates
    ]
    law = [a / 4 + 3 * b / 4 for a, b in zip(*rows, strict=True)]
    truth = mpmath.mpf(1)
    for row in rows:
        total, left = mpmath.mpf(0), number(delta)
        for k, q in sorted(zip(row, law, strict=True), key=lambda c: -c[0] / c[1]):
            part = min(left / q, 1)
            total, left = total + part * k, left - part * q
        truth = max(truth, total / number(delta))
    found = bl.binary_envelope(joint)(delta)
    assert found.lower <= mpmath.log(truth) <= found.upper or delta > HALF
    event = bl.event_maximal_leakage(joint, delta=delta)
    assert mpmath.mpf(event.lower) <= mpmath.log(truth) <= mpmath.mpf(event.upper)
    assert event.width < 1e-8 and event.status in ("exact", "conditional")
    if delta > HALF:
        assert found.lower <= mpmath.log(truth) and found.upper >= mpmath.log(truth)
        assert found.status in ("certified", "conditional")


def test_what_is_not_there_yet():
    with pytest.raises(bl.NotYet, match="a proof"):
        bl.binary_envelope(bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0))(0.5)


@pytest.mark.cases("slow", "1.001", "0.9")
@pytest.mark.parametrize("wrong", [0.9, 1 + 2.0**-16, 1.001, 1.1])
def test_a_wrong_guess_of_the_level_costs_width_only(monkeypatch, wrong):
    """G at three points bounds its minimum wherever they are, and halves at any probability."""
    from borel.engine.continuous.event_figures import Excesses

    honest = Excesses.ratios

    def skewed(self):
        ratio, mass = honest(self)
        return ratio * np.array([[wrong], [1 / wrong]]), mass

    monkeypatch.setattr(Excesses, "ratios", skewed)
    rows = Excesses(engine_for(slopes()))
    for delta in (F(1, 10), HALF, F(9, 10)):
        low, high = rows.event(delta)
        assert low <= 2 - delta <= high
    low, high = rows.halves()
    assert low <= F(3, 2) <= high
