"""Compositions against Fractions by hand: what is exact stays exact, floats say how far off."""

from fractions import Fraction as F

import mpmath
import numpy as np
import oracles as o
import pytest
from scipy import stats

import borel as bl

ANSWERS, SHOWN = bl.Finite(["no", "yes"]), bl.Finite(["n", "y", "?"])
A = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(5, 8), F(1, 4)]]
FIRST = bl.Mechanism.from_matrix(A, secret=ANSWERS, outcome=SHOWN)
B = [[F(2, 3), F(1, 3)], [F(1, 5), F(4, 5)]]
SECOND = bl.Mechanism.from_matrix(B, secret=ANSWERS, outcome=["u", "v"])


def rows(mechanism):
    return [list(row) for row in mechanism.matrix]


def off_by(values, truth):
    """The largest relative error of floats against Fractions (an exact 0 must stay 0)."""
    flat = [t for row in truth for t in row]
    pairs = zip(np.ravel(values).tolist(), flat, strict=True)
    return max(F(0) if v == t == 0 else abs(t / F(v) - 1) for v, t in pairs)


# -- & -------------------------------------------------------------------------------------------


def test_two_releases_about_one_secret():
    both = FIRST & SECOND
    assert both.rational and both.outcome == SHOWN * SECOND.outcome
    assert both.pdf(("y", "v"), "yes") == F(5, 8) * F(4, 5)
    assert rows(both) == o.both(A, B)


def test_three_releases_flatten():
    left, right = (FIRST & SECOND) & FIRST, FIRST & (SECOND & FIRST)
    assert left.outcome == right.outcome and left.outcome.dim == 3
    assert rows(left) == rows(right)


def test_two_densities():
    one, two = bl.mechanisms.laplace(b=1.0), bl.mechanisms.gaussian(sigma=2.0)
    both = one & two
    assert both.outcome == bl.Reals() ** 2 and not both.opaque
    expected = stats.laplace(0.5, 1).pdf(0.25) * stats.norm(0.5, 2).pdf(-1)
    assert float(both.pdf((0.25, -1.0), 0.5)) == pytest.approx(expected, rel=1e-13)
    three = both & one
    expected *= stats.laplace(0.5, 1).pdf(3)
    assert float(three.pdf((0.25, -1.0, 3.0), 0.5)) == pytest.approx(expected, rel=1e-13)
    again = one & both
    assert float(again.pdf((3.0, 0.25, -1.0), 0.5)) == pytest.approx(expected, rel=1e-13)


# -- post @ mech ---------------------------------------------------------------------------------

POST = [[F(1), F(0)], [F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)]]


def test_post_processing():
    post = bl.Mechanism.from_matrix(POST, secret=SHOWN, outcome=["low", "high"])
    released = post @ FIRST
    assert released.rational and (released.secret, released.outcome) == (ANSWERS, post.outcome)
    assert rows(released) == o.compose(A, POST)


def test_post_processing_matches_labels():
    turned = bl.Mechanism.from_matrix(POST[::-1], secret=SHOWN.labels[::-1], outcome=2)
    assert rows(turned @ FIRST) == o.compose(A, POST)
    wider = bl.Mechanism.from_matrix([[F(0), F(1)], *POST], secret=["never", *SHOWN.labels])
    assert rows(wider @ FIRST) == o.compose(A, POST)


def test_post_processing_of_a_product():
    post = bl.Mechanism.from_matrix([[1, 0], [0, 1], [0, 1]] * 2, secret=ANSWERS * SHOWN)
    mech = bl.Mechanism.from_matrix(B, secret=ANSWERS, outcome=ANSWERS) & FIRST
    assert (post @ mech).pdf(0, "yes") == F(1, 8)


# -- then ----------------------------------------------------------------------------------------


def test_the_second_mechanism_may_depend_on_the_first_outcome():
    swapped = bl.Mechanism.from_matrix(B[::-1], secret=ANSWERS, outcome=SECOND.outcome)
    chosen = {"n": SECOND, "y": swapped, "?": SECOND}
    adaptive = FIRST.then(chosen.__getitem__)
    assert adaptive.rational and adaptive.outcome == SHOWN * SECOND.outcome
    for y1 in SHOWN.labels:
        for y2 in ("u", "v"):
            for x in ANSWERS.labels:
                expected = FIRST.pdf(y1, x) * chosen[y1].pdf(y2, x)
                assert adaptive.pdf((y1, y2), x) == expected


def test_then_a_constant_choice_is_and():
    assert rows(FIRST.then(lambda y: SECOND)) == rows(FIRST & SECOND)


def test_fractions_and_floats_chosen_by_turns_are_floats():
    """An object array of floats would pass for Fractions, with no rounding at all."""
    floats = bl.Mechanism.from_matrix(o.floats(B), secret=ANSWERS, outcome=SECOND.outcome)
    for choose in (
        lambda y: SECOND if y == "n" else floats,
        lambda y: floats if y == "n" else SECOND,
    ):
        adaptive = FIRST.then(choose)
        assert adaptive.matrix.dtype == float and not adaptive.rational
        truth = [[a * b for a in r for b in s] for r, s in zip(A, B, strict=True)]
        assert 0 < off_by(adaptive.matrix, truth) <= adaptive.rounding < 1e-14


# -- push and restrict ---------------------------------------------------------------------------


def test_push_adds_what_meets():
    known = FIRST.push(lambda y: y != "?")
    assert known.rational and known.outcome == bl.Finite([True, False])
    assert rows(known) == [[F(3, 4), F(1, 4)], [F(3, 4), F(1, 4)]]
    ordered = FIRST.push(lambda y: "?" if y == "?" else "answer", outcome=["?", "answer", "never"])
    assert rows(ordered) == [[F(1, 4), F(3, 4), F(0)]] * 2


def test_push_of_a_product_and_onto_a_product():
    total = (SECOND & SECOND).push(lambda y: (y[0] == "u") + (y[1] == "u"))
    assert total.pdf(1, "no") == 2 * F(2, 3) * F(1, 3)
    pairs = SECOND.push(lambda y: (y, y), outcome=SECOND.outcome**2)
    assert pairs.pdf(("u", "u"), "yes") == F(1, 5) and pairs.pdf(("u", "v"), "yes") == 0


def test_restrict_conditions_every_row():
    answered = FIRST.restrict(lambda y: y != "?")
    assert answered.rational and answered.outcome == bl.Finite(["n", "y"])
    assert rows(answered) == [[F(2, 3), F(1, 3)], [F(1, 6), F(5, 6)]]


# -- clip ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mech", "law"),
    [
        (bl.mechanisms.laplace(b=0.5), lambda x: stats.laplace(x, 0.5)),
        (bl.mechanisms.gaussian(sigma=0.5), lambda x: stats.norm(x, 0.5)),
    ],
)
def test_clipping_puts_the_tails_on_atoms(mech, law):
    clipped = mech.clip(-1, 2)
    assert clipped.outcome == bl.Mixed(bl.Interval(-1, 2), atoms=[-1, 2])
    for x in (-3.0, 0.0, 0.7, 10.0):
        found = clipped.pdf([-1.0, 0.25, 2.0], x)
        np.testing.assert_allclose(
            found, [law(x).cdf(-1), law(x).pdf(0.25), law(x).sf(2)], rtol=1e-12, atol=1e-300
        )
    with pytest.raises(bl.OutsideAlphabet):
        clipped.pdf(2.5, 0.0)


# -- rounding ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_rounding_covers_the_truth_of_every_composition(seed):
    """Fractions first, floats fed: every entry is within the rounding the mechanism states."""
    rng = np.random.default_rng(seed)
    n, m, k = (int(v) for v in rng.integers(2, 7, 3))
    style = ["fine", "zeros", "plain", "ties"][seed % 4]
    a, b, c = (
        o.mechanism(rng, n, m, "fine"),
        o.mechanism(rng, n, k, style),
        o.mechanism(rng, m, k, style),
    )
    one, two, post = (bl.Mechanism.from_matrix(o.floats(K)) for K in (a, b, c))
    exact = bl.Mechanism.from_matrix(b)
    last = [[*r[:-2], r[-2] + r[-1]] for r in a]
    kept = [[v / sum(r[1:]) for v in r[1:]] for r in a]
    for found, truth in (
        (one & two, o.both(a, b)),
        (one & exact, o.both(a, b)),
        (one & two & one, o.both(o.both(a, b), a)),
        (post @ one, o.compose(a, c)),
        (bl.Mechanism.from_matrix(c) @ one, o.compose(a, c)),
        (one.then(lambda y: exact if y else two), o.both(a, b)),
        (one.push(lambda y: min(y, m - 2)), last),
        (one.restrict(lambda y: y > 0), kept),
        ((one & two).push(lambda y: y[0]), a),
    ):
        assert found.matrix.dtype == float
        assert off_by(found.matrix, truth) <= found.rounding < 1e-13


def test_a_sum_of_subnormals_owns_up_to_their_rounding():
    tiny = F(149, 10**319)
    K = [[tiny, tiny, tiny, 1 - 3 * tiny]]
    pushed = bl.Mechanism.from_matrix(o.floats(K)).push(lambda y: y == 3)
    assert off_by(pushed.matrix, [[3 * tiny, 1 - 3 * tiny]]) <= pushed.rounding
    alone = bl.Mechanism.from_matrix([[5e-324, 0.5, 0.5]]).push(lambda y: y > 0)
    assert alone.rounding < 1e-14, "a lone subnormal is the engine's to cover"


BIT, LINE = bl.Finite([0.0, 1.0]), bl.Reals()


def wider(y, x):
    """Log of Laplace noise whose scale is 1 + y1^2."""
    return -abs(y - x[0]) / (1 + x[1] ** 2) - np.log(2 * (1 + x[1] ** 2))


def of_pair(pair, x):
    scale = 1 + mpmath.mpf(pair[0]) ** 2
    first, second = (mpmath.mpf(abs(mpmath.mpf(y) - x)) for y in pair)
    return mpmath.exp(-first - second / scale) / (4 * scale)


@pytest.mark.cases("slow", "pair1", "pair2")
@pytest.mark.parametrize("pair", [(0.5, 0.75), (-3.0, 2.5), (0.0, 1.0), (40.0, -800.0)])
def test_a_second_release_whose_noise_depends_on_a_real_first_one(pair):
    """PML and PMC at a pair, and the posterior there, by f1(y1|x) f2(y2|x, y1)."""
    prior = bl.pmf([F(1, 4), F(3, 4)], on=BIT)
    second = bl.Mechanism(wider, secret=BIT * LINE, outcome=LINE, log=True)
    joint = prior * bl.mechanisms.laplace(b=1.0, secret=BIT).then(second)
    with mpmath.workdps(40):
        rows = [of_pair(pair, x) for x in (0, 1)]
        law = rows[0] / 4 + 3 * rows[1] / 4
        for found, truth in (
            (bl.pml(joint)(pair), mpmath.log(max(rows) / law)),
            (bl.pmc(joint)(pair), mpmath.log(law / min(rows))),
        ):
            assert found.lower <= truth <= found.upper and found.width < 1e-9
            assert found.status == "conditional"  # the second kernel is seen to be a law only
        after = joint.posterior(pair).probabilities
        assert abs(after[0] - rows[0] / 4 / law) < 1e-12


@pytest.mark.slow
def test_a_real_second_release_of_a_continuous_secret():
    """f_Y(y1, y2) is an integral over the secret."""
    unit = bl.Interval(0, 1)
    second = bl.Mechanism(wider, secret=unit * LINE, outcome=LINE, log=True)
    joint = bl.uniform(unit) * bl.mechanisms.laplace(b=1.0, secret=unit).then(second)
    pair = (0.5, 0.75)
    found = bl.pml(joint)(pair)
    with mpmath.workdps(30):
        law = mpmath.quad(lambda x: of_pair(pair, x), [0, 0.5, 0.75, 1])
        truth = mpmath.log(of_pair(pair, mpmath.mpf(0.5)) / law)  # 1 / 1 > 1 / scale
        assert found.lower <= truth <= found.upper and found.width < 1e-7


def test_a_second_release_that_does_not_look_at_the_first_is_that_of_both():
    first = bl.mechanisms.laplace(b=1.0, secret=BIT)
    plain = bl.Mechanism(
        lambda y, x: -abs(y - x[0]) - np.log(2) + 0 * x[1],
        secret=BIT * LINE,
        outcome=LINE,
        log=True,
    )
    prior = bl.pmf([F(1, 4), F(3, 4)], on=BIT)
    one, other = (bl.pml(prior * m)((0.25, 2.0)) for m in (first.then(plain), first & first))
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    # (0.25, 0.75) tells nothing: the exponents are -1 for both secrets
    assert np.allclose(
        (prior * (first & first)).posterior((0.25, 0.75)).probabilities, [1 / 4, 3 / 4]
    )


@pytest.mark.parametrize(
    "second, error, match",
    [
        (bl.mechanisms.laplace(b=1.0, secret=BIT), bl.InvalidInput, "pair"),
        (lambda y: bl.mechanisms.laplace(b=1.0, secret=BIT), bl.NotYet, "x, y1"),
        (
            bl.Mechanism(lambda y, x: 0.5 + 0 * x[1], secret=BIT * LINE, outcome=bl.Finite([0, 1])),
            bl.NotYet,
            "second outcome",
        ),
    ],
)
def test_second_releases_that_are_refused(second, error, match):
    with pytest.raises(error, match=match):
        bl.mechanisms.laplace(b=1.0, secret=BIT).then(second)


def test_a_second_release_of_densities_far_apart_is_a_law_as_both_are():
    """An integral over the pairs misses these peaks: each kernel was looked at by itself."""
    secret = bl.Finite([-3.0, 0.001, 7.0])
    second = bl.Mechanism(
        lambda y, x: np.exp(-((y - x[0] - x[1]) ** 2) * 8) * 4 / np.sqrt(2 * np.pi),
        secret=secret * LINE,
        outcome=LINE,
    )
    both = bl.mechanisms.laplace(b=5.0, secret=secret).then(second)
    assert both.normalisation.status == "checked"
    with pytest.raises(bl.InvalidInput, match="a function of a label"):
        bl.mechanisms.laplace(b=1.0, secret=BIT).then(3)
