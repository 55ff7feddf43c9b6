"""Pickles and copies: made of the definition, after figures were computed as before."""

import copy
import multiprocessing
import operator
import pickle
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import borel as bl

UNIT = bl.Interval(0, 1)


def through_pickle(value):
    return pickle.loads(pickle.dumps(value))


MOVES = [through_pickle, copy.deepcopy, copy.copy]


def untraced(y, x):
    return np.exp(-np.abs(np.asarray(y) - np.asarray(x))) / 2


def build(draw):
    return bl.pmf(draw["p"])


def at_zero():
    """PML at 0 of Laplace noise over a uniform secret: log((1/2) / ((1 - 1/e) / 2))."""
    return -mpmath.log(1 - mpmath.exp(-1))


@pytest.mark.parametrize("move", MOVES)
def test_a_continuous_joint_after_figures(move):
    joint = bl.uniform(UNIT) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=bl.Reals()
    )
    variable = bl.pml(joint)
    before = variable(0.0)
    assert joint.marginal is not None  # kept by the joint
    for again in (bl.pml(move(joint)), move(variable)):
        found = again(0.0)
        assert found.lower <= at_zero() <= found.upper and found.width < 1e-6
        assert found == before


@pytest.mark.parametrize("move", MOVES)
def test_curves_over_levels(move):
    joint = bl.pmf([F(1, 4), F(3, 4)]) * bl.Mechanism.from_matrix(
        [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    )
    envelope = bl.envelope(joint)
    assert envelope(0).ratio.upper == move(envelope)(0).ratio.upper == 2
    noise = bl.mechanisms.laplace(b=1, secret=bl.Finite([0, 1]))
    profile = bl.privacy_profile(noise)
    # two Laplace laws one apart: 1 - e^((epsilon - 1) / 2)
    truth = -mpmath.expm1(mpmath.mpf(-1) / 4)
    for one in (profile, move(profile)):
        assert one(0.5).lower <= truth <= one(0.5).upper


def test_a_pickle_holds_no_engine():
    joint = bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0, secret=UNIT)
    before = len(pickle.dumps(joint))
    with bl.options(closed_forms=False):
        bl.pml(joint)(0.25), joint.marginal
    assert len(pickle.dumps(joint)) <= before + 100


@pytest.mark.parametrize("move", MOVES)
def test_an_untraced_density_marginals_and_posteriors(move):
    joint = bl.uniform(UNIT) * bl.Mechanism(untraced, secret=UNIT, outcome=bl.Reals())
    assert joint.mechanism.opaque
    with bl.options(engine="estimate"):
        assert bl.pml(joint)(0.0).status == "estimate"
        assert move(bl.pml(joint))(0.0).value == pytest.approx(float(at_zero()), abs=1e-6)
        # f_Y(0) = (1 - 1/e) / 2, and f(x|0) = e^-x / (1 - 1/e)
        assert move(joint.marginal).pdf(0.0) == pytest.approx((1 - np.exp(-1)) / 2, rel=1e-6)
        given = move(joint.posterior(0.0)).pdf(0.5)
        assert given == pytest.approx(np.exp(-0.5) / (1 - np.exp(-1)), rel=1e-6)


@pytest.mark.parametrize("move", MOVES)
def test_discrete_joints_families_and_databases(move):
    rational = bl.pmf([F(1, 4), F(3, 4)]) * bl.Mechanism.from_matrix(
        [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    )
    bl.pml(rational).sup(), bl.pml(rational).mean(), rational.marginal
    # max_x P(0|x) / P(0) = (3/4) / (1/4 * 3/4 + 3/4 * 1/4)
    assert move(bl.pml(rational)).sup().ratio.upper == 2
    geometric = bl.uniform(bl.Integers(0, 1)) * bl.Mechanism(
        lambda y, x: 0.6 * 0.25 ** abs(y - x), secret=bl.Integers(0, 1), outcome=bl.Integers()
    )
    bl.pml(geometric)(0)
    # (1 + 1/4) / 2 of the largest mass
    assert move(geometric).marginal.pdf(0) == pytest.approx(0.375)
    found = bl.pml(move(geometric))(0)
    assert found.lower <= mpmath.log(mpmath.mpf(8) / 5) <= found.upper
    database = bl.iid(bl.pmf([F(1, 2), F(1, 2)]), 2) * bl.Mechanism.from_matrix(
        np.eye(4, dtype=int).astype(object) * F(1), secret=bl.Finite(2) ** 2
    )
    bl.pml(database).sup()
    assert bl.pml(move(database)).sup().ratio.upper == 4
    assert bl.pml(bl.entry(move(database))).sup().ratio.upper == 2
    over = bl.iid(bl.priors.bernoulli(F(1, 4), F(1, 2)), 2) * bl.mechanisms.counting_query(
        n=2, b=1.0, of="count"
    )
    one = bl.entry(over)
    bound = bl.pml(one).sup()
    assert move(one).i == 0 and bl.pml(move(one)).sup() == bound


@pytest.mark.parametrize("move", MOVES)
def test_leakage_given_what_is_known_stays_an_estimate(move):
    joint = bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0, secret=UNIT)
    given = bl.pml(joint, given=bl.Mechanism(untraced, secret=UNIT, outcome=bl.Reals()))[0.5]
    found = given(0.0)
    assert found.status == "estimate"  # the posterior given z is known in float64 only
    assert move(given)(0.0) == found
    for wanted in ("certified", "exact"):
        with bl.options(engine=wanted), pytest.raises(bl.NotYet, match="normalised in float64"):
            move(given)(0.0)


@pytest.mark.parametrize("move", MOVES)
def test_random_bounds_and_posteriors_over_priors(move):
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    learnt = bl.priors.from_posterior(data, build)
    joint = learnt * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    variable = bl.pml(joint)
    epsilon = variable.sup()
    p = np.asarray(data["posterior"]["p"].values, float)
    y = p @ [[0.75, 0.25], [0.25, 0.75]]
    truth = np.log(0.75 / y.min(axis=-1))
    for again in (move(epsilon), move(variable).sup(), bl.pml(move(joint)).sup()):
        np.testing.assert_allclose(again.draws["upper"], truth, rtol=1e-12)
        assert again.quantile(0.9) == epsilon.quantile(0.9)
        assert again.name == epsilon.name and again.exact_draws
    used = bl.pml(joint).by_draw.tail(0.5)
    assert move(used).mean() == used.mean()
    assert move(joint.satisfies(bl.guarantees.PML(0.6))).bound == epsilon.cdf(0.6)


def test_a_figure_that_is_random_needs_nothing_of_its_build():
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    epsilon = bl.pml(learnt * bl.mechanisms.randomized_response(k=2, epsilon=1.0)).sup()
    assert through_pickle(epsilon).cdf(0.5) == epsilon.cdf(0.5)


def test_there_and_back_from_another_process():
    joint = bl.uniform(UNIT) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=bl.Reals()
    )
    variable = bl.pml(joint)
    variable(0.25)
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    learnt = bl.priors.from_posterior(data, build)
    epsilon = bl.pml(learnt * bl.mechanisms.randomized_response(k=2, epsilon=1.0)).sup()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(operator.methodcaller("__call__", 0.0), variable)
        back = pool.submit(copy.copy, epsilon)
        found, random = there.result(60), back.result(60)
    assert found.lower <= at_zero() <= found.upper
    assert random.quantile(0.9) == epsilon.quantile(0.9)
