"""Joints: marginals and posteriors against Fractions, matched by label; refusals."""

import math
import pickle
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest
from scipy import stats

import borel as bl

ANSWERS, SHOWN = bl.Finite(["no", "yes"]), bl.Finite(["n", "y", "?"])
UNIT, LINE = bl.Interval(0, 1), bl.Reals()
P = [F(2, 3), F(1, 3)]
K = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(5, 8), F(1, 4)]]
PRIOR = bl.pmf(P, on=ANSWERS)
MECH = bl.Mechanism.from_matrix(K, secret=ANSWERS, outcome=SHOWN)


def off_by(values, truth):
    pairs = zip(np.ravel(values).tolist(), truth, strict=True)
    return max(F(0) if v == t == 0 else abs(t / F(v) - 1) for v, t in pairs)


# -- finite --------------------------------------------------------------------------------------


def test_the_marginal_and_the_posteriors_are_fractions():
    joint = PRIOR * MECH
    marginal = MECH @ PRIOR
    assert isinstance(joint, bl.Joint) and joint.rational and marginal.rational
    assert list(marginal.probabilities) == o.marginal(P, K) and marginal.on == SHOWN
    assert list(joint.marginal.probabilities) == list(marginal.probabilities)
    for y, label in enumerate(SHOWN.labels):
        posterior = joint.posterior(label)
        assert posterior.rational and posterior.on == ANSWERS
        assert list(posterior.probabilities) == o.posterior(P, K, y)
    assert joint.posterior("?").probabilities.tolist() == P


def test_labels_are_matched_never_positions():
    turned = bl.pmf(P[::-1], on=bl.Finite(["yes", "no"]))
    assert list((MECH @ turned).probabilities) == o.marginal(P, K)
    assert (turned * MECH).posterior("n").pdf("yes") == o.posterior(P, K, 0)[1]


def test_a_prior_on_some_of_the_secrets():
    sure = bl.pmf([1], on=bl.Finite(["yes"]))
    assert list((MECH @ sure).probabilities) == K[1]
    idle = bl.pmf([*P, 0], on=bl.Finite(["no", "yes", "absent"]))
    assert list((MECH @ idle).probabilities) == o.marginal(P, K)


def test_a_product_prior_and_outcome():
    prior = bl.pmf(P) * bl.pmf([F(1, 2), F(1, 2)])
    mech = bl.Mechanism.from_matrix(
        [[1, 0], [0, 1], [0, 1], [1, 0]], secret=bl.Finite(2) ** 2, outcome=["even", "odd"]
    )
    assert (mech @ prior).pdf("odd") == F(1, 2)
    posterior = (prior * mech).posterior("odd")
    assert posterior.pdf((1, 0)) == F(1, 3) and posterior.pdf((1, 1)) == 0
    both = PRIOR * (MECH & MECH)
    expected = P[0] * K[0][0] * K[0][1] / sum(p * r[0] * r[1] for p, r in zip(P, K, strict=True))
    assert both.posterior(("n", "y")).pdf("no") == expected


@pytest.mark.parametrize("seed", range(25))
def test_rounding_covers_the_truth(seed):
    """Fractions first, floats fed: every entry is within the rounding the measure states."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 9)), int(rng.integers(2, 7))
    p, k = o.law(rng, n, "fine"), o.mechanism(rng, n, m, ["fine", "plain"][seed % 2])
    p_float, k_float = o.floats(p), o.floats(k)
    for prior, matrix in ((p_float, k_float), (p, k_float), (p_float, k)):
        joint = bl.pmf(prior) * bl.Mechanism.from_matrix(matrix)
        assert off_by(joint.marginal.probabilities, o.marginal(p, k)) <= joint.marginal.rounding
        for y in range(m):
            found = joint.posterior(y)
            assert off_by(found.probabilities, o.posterior(p, k, y)) <= found.rounding < 1e-14


def test_a_fraction_lost_beside_floats_is_an_error_not_a_zero():
    lost = bl.pmf([F(1, 10**400), 1 - F(1, 10**400)])
    mech = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    for use in (
        lambda: mech @ lost,
        lambda: (lost * mech).posterior(0),
        lambda: lost * bl.pmf([0.5, 0.5]),
        lambda: bl.mixture([lost, bl.pmf([0.5, 0.5])], weights=[0.5, 0.5]),
    ):
        with pytest.raises(bl.InvalidInput, match=r"beside floats.*all of them as Fractions"):
            use()


# -- densities -----------------------------------------------------------------------------------


def test_a_posterior_under_noise():
    """Uniform prior, Laplace noise: exp(-|y - x| / b) on (0, 1), normalised."""
    posterior = (bl.uniform(UNIT) * bl.mechanisms.laplace(b=0.5)).posterior(0.25)
    x = np.array([0.0, 0.25, 1.0])
    total = 0.5 * (2 - math.exp(-0.5) - math.exp(-1.5))
    np.testing.assert_allclose(posterior.pdf(x), np.exp(-abs(0.25 - x) / 0.5) / total, rtol=1e-7)
    assert posterior.on == UNIT and not posterior.density.opaque


def test_a_marginal_under_noise():
    marginal = bl.mechanisms.gaussian(sigma=1.0) @ bl.normal(mu=1, sigma=2)
    y = np.array([-3.0, 0.0, 2.5])
    np.testing.assert_allclose(marginal.pdf(y), stats.norm(1, math.sqrt(5)).pdf(y), rtol=1e-6)


def test_a_finite_secret_under_noise():
    joint = bl.pmf([0.5, 0.5]) * bl.mechanisms.laplace(b=1.0)
    assert joint.secret == bl.Finite(2) and joint.outcome == LINE and not joint.finite
    found = joint.posterior(0.0)
    np.testing.assert_allclose(found.pdf([0, 1]), [1 / (1 + 1 / math.e), 1 / (1 + math.e)])
    assert not found.unproved and found.rounding < 1e-12, "enclosed, up to that"


def test_a_posterior_given_an_atom():
    clipped = bl.mechanisms.laplace(b=1.0).clip(0, 1)
    posterior = (bl.uniform(UNIT) * clipped).posterior(0.0)
    x = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(posterior.pdf(x), np.exp(-x) / (1 - math.exp(-1)), rtol=1e-6)


# -- refusals ------------------------------------------------------------------------------------


def test_what_a_joint_is_made_of():
    for use in (
        lambda: bl.Joint([0.5, 0.5], MECH),
        lambda: bl.Joint(PRIOR, None),
        lambda: bl.Joint(None, MECH),
    ):
        with pytest.raises(bl.InvalidInput, match=r"a Measure.*and a Mechanism"):
            use()


@pytest.mark.parametrize("y", [["n", "y"], np.array(["n"])])
def test_one_posterior_at_a_time(y):
    with pytest.raises(bl.InvalidInput, match="one outcome"):
        (PRIOR * MECH).posterior(y)
    with pytest.raises(bl.InvalidInput, match="one outcome"):
        (bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0)).posterior([0.1, 0.2])


def test_no_posterior_given_an_outcome_of_density_zero():
    joint = bl.pmf([1, 0]) * bl.Mechanism.from_matrix([[1, 0], [0, 1]])
    with pytest.raises(bl.InvalidInput, match=r"positive density.*y = 1"):
        joint.posterior(1)


def test_satisfies_wants_a_guarantee():
    joint = PRIOR * MECH
    assert joint.satisfies(bl.guarantees.PML(10.0)).holds is True
    for wrong in (None, 0.5, "PML"):
        with pytest.raises(bl.InvalidInput, match=r"bl.guarantees.PML"):
            joint.satisfies(wrong)


# -- showing -------------------------------------------------------------------------------------


def test_reprs():
    joint = PRIOR * MECH
    assert repr(joint) == f"Joint({PRIOR!r} * {MECH!r})"
    html = bl.pmf([1], on=bl.Finite(["<b>"])) * bl.Mechanism.from_matrix([[1]], secret=["<b>"])
    assert "<b>" not in html._repr_html_() and "next: bl.pml(joint)" in html._repr_html_()
    again = pickle.loads(pickle.dumps(joint))
    assert repr(again) == repr(joint) and again.posterior("n").pdf("no") == joint.posterior(
        "n"
    ).pdf("no")
