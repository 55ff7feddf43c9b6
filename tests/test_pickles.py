"""Pickles and copies: made of the definition, after figures were computed as before."""

import copy
import multiprocessing
import operator
import pickle
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction as F

import cloudpickle
import mpmath
import numpy as np
import pytest
import xarray as xr

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


def learnt_by(function):
    return bl.priors.from_posterior(
        bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1), function
    )


def of_yes(draw):
    return bl.pmf({0: 1 - draw["p"], 1: draw["p"]})


def bits(p):
    return bl.pmf([1 - p, p])


def half(n):
    return 0.5 ** (n + 1)


def kernel(y, x):
    return untraced(y, x)


HOLD_A_FUNCTION = {
    "learnt": (learnt_by, "build of PosteriorPriors", build),
    "a family": (lambda f: bl.priors.family(f, bl.Interval(0.25, 0.5)), "build of Family", bits),
    "a kernel": (
        lambda f: bl.Mechanism(f, secret=UNIT, outcome=bl.Reals()),
        "function of Density",
        kernel,
    ),
    "a tail": (
        lambda f: bl.Measure(lambda k: 0.5 ** (k + 1), on=bl.Integers(0, None), tail=f),
        "bound of Tail",
        half,
    ),
}


@pytest.mark.parametrize("name", HOLD_A_FUNCTION)
def test_a_function_that_no_pickle_holds_is_named(name):
    make, role, function = HOLD_A_FUNCTION[name]
    made, same = make(lambda *points: function(*points)), make(function)
    expected = f"{role}, a function.*got <function .*lambda.*def at the top"
    with pytest.raises(pickle.PicklingError, match=expected):
        pickle.dumps(made)
    if name in ("learnt", "a family"):
        joint = made * bl.mechanisms.randomized_response(k=2, epsilon=1.0)
        for held in (joint, bl.pml(joint)):
            with pytest.raises(bl.InvalidInput, match=expected):
                pickle.dumps(held)
    assert type(copy.copy(made)) is type(copy.deepcopy(made)) is type(made)  # the function shared
    assert type(pickle.loads(cloudpickle.dumps(made))) is type(made)  # by value
    assert type(through_pickle(same)) is type(made)


def test_a_region_goes_with_the_function_that_built_it():
    p = np.random.default_rng(1).beta(3, 5, size=(2, 500))
    draws = xr.Dataset({"p": (("chain", "draw"), p)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(draws, of_yes)
    region = learnt.region("hdi", prob=0.5, var_names="p")
    again = through_pickle(region)
    assert (again.confidence, again.assumptions) == (region.confidence, region.assumptions)
    assert again.member(0.25) == bl.pmf([0.75, 0.25])
    for own in (lambda p: bits(p), bits):
        region = learnt.region("hdi", prob=0.5, var_names="p", build=own)
        if own is bits:
            assert through_pickle(region).member(0.25) == bl.pmf([0.75, 0.25])
            continue
        with pytest.raises(bl.InvalidInput, match="build of _PriorOf"):
            pickle.dumps(region)


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
