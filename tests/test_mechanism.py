"""Mechanisms: argument order y, x; labels; matrices, densities, atoms; other libraries; samples."""

import math
import pickle
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

import borel as bl

ANSWERS, SHOWN = bl.Finite(["no", "yes"]), bl.Finite(["n", "y", "?"])
UNIT, LINE = bl.Interval(0, 1), bl.Reals()
MATRIX = [[0.5, 0.25, 0.25], [0.125, 0.625, 0.25]]
SURVEY = bl.Mechanism.from_matrix(MATRIX, secret=ANSWERS, outcome=SHOWN)


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


# -- matrices ------------------------------------------------------------------------------------


def test_rows_are_secrets_and_pdf_takes_y_first():
    assert SURVEY.pdf("y", "no") == 0.25 and SURVEY.pdf("y", "yes") == 0.625
    assert SURVEY.logpdf("n", "yes") == math.log(0.125)
    np.testing.assert_array_equal(SURVEY.pdf(["n", "y"], ["no", "yes"]), [0.5, 0.625])
    np.testing.assert_array_equal(SURVEY.pdf(["n", "?"], "no"), [0.5, 0.25])


@pytest.mark.parametrize(("y", "x"), [(0, "no"), ("n", 0), ("no", "n"), ("n", None), (2, 1)])
def test_positions_are_not_labels(y, x):
    with pytest.raises(bl.OutsideAlphabet):
        SURVEY.pdf(y, x)
    with pytest.raises(bl.OutsideAlphabet):
        SURVEY.logpdf(y, x)


def test_sequences_and_counts_make_alphabets():
    assert bl.Mechanism.from_matrix(MATRIX).secret == bl.Finite(2)
    assert bl.Mechanism.from_matrix(MATRIX, secret=["no", "yes"], outcome=3).secret == ANSWERS
    square = bl.Mechanism.from_matrix(MATRIX, outcome=bl.Integers(1, 3))
    assert square.pdf(3, 0) == 0.25
    on_pairs = bl.Mechanism.from_matrix([[F(1, 4)] * 4] * 2, outcome=bl.Finite(2) ** 2)
    assert on_pairs.pdf((1, 0), 0) == F(1, 4)


def test_a_dataarray_brings_its_labels():
    import xarray as xr

    K = xr.DataArray(MATRIX, dims=("x", "y"), coords={"x": ["no", "yes"], "y": ["n", "y", "?"]})
    mech = bl.Mechanism.from_matrix(K)
    assert (mech.secret, mech.outcome) == (ANSWERS, SHOWN)
    turned = bl.Mechanism.from_matrix(K, secret=["yes", "no"], outcome=["?", "n", "y"])
    for y in SHOWN.labels:
        for x in ANSWERS.labels:
            assert turned.pdf(y, x) == SURVEY.pdf(y, x), "labels are matched, never positions"
    assert bl.Mechanism.from_matrix(K.drop_vars(["x", "y"])).secret == bl.Finite(2)


def test_fractions_and_integers_stay_exact():
    exact = bl.Mechanism.from_matrix([[F(1, 3), F(2, 3)], [1, 0]])
    assert exact.rational and exact.rounding == 0 and exact.pdf(1, 0) == F(2, 3)
    assert not bl.Mechanism.from_matrix([[F(1, 2), 0.5]]).rational


def test_the_matrix_is_a_copy_and_read_only():
    given = np.array(MATRIX)
    mech = bl.Mechanism.from_matrix(given)
    given[0, 0] = 9
    assert mech.pdf(0, 0) == 0.5
    with pytest.raises(ValueError):
        mech.matrix[0, 0] = 9


def test_a_density_on_finite_alphabets_becomes_a_matrix():
    mech = bl.Mechanism(
        lambda y, x: np.where(y == x, 0.75, 0.25), secret=bl.Finite(2), outcome=bl.Finite(2)
    )
    np.testing.assert_array_equal(mech.matrix, [[0.75, 0.25], [0.25, 0.75]])
    assert mech.finite and mech.unproved == ""


def test_a_density_whose_secret_is_a_pair():
    mech = bl.Mechanism(
        lambda y, x: np.where(y == (x[0] + x[1]) % 2, 0.75, 0.25),
        secret=bl.Finite(2) ** 2,
        outcome=bl.Finite(2),
    )
    assert mech.pdf(1, (1, 0)) == 0.75 and mech.pdf(1, (1, 1)) == 0.25


# -- densities -----------------------------------------------------------------------------------


def test_argument_order_is_y_then_x():
    mech = bl.Mechanism(lambda y, x: peaked(y, x), secret=bl.Interval(1, 2), outcome=LINE)
    assert float(mech.pdf(0.5, 2.0)) == pytest.approx(2 * math.exp(-2))
    assert mech.pdf(np.zeros((3, 1)), np.array([1.0, 2.0])).shape == (3, 2)


def peaked(y, x):
    return x * np.exp(-2 * abs(y) * x)


def test_log_and_linear_are_one_mechanism():
    logs = bl.Mechanism(lambda y, x: -abs(y - x) - np.log(2), secret=UNIT, outcome=LINE, log=True)
    linear = bl.Mechanism(laplace, secret=UNIT, outcome=LINE)
    y, x = np.linspace(-3, 3, 5)[:, None], np.array([0.1, 0.9])
    np.testing.assert_allclose(logs.pdf(y, x), linear.pdf(y, x), rtol=1e-14)
    np.testing.assert_allclose(logs.logpdf(y, x), linear.logpdf(y, x), rtol=1e-14, atol=1e-15)
    assert str(linear.normalisation) == "checked at 5 points"


@pytest.mark.parametrize("ask", ["pdf", "logpdf"])
@pytest.mark.parametrize(
    ("y", "x"), [(math.inf, 0.5), ("a", 0.5), (math.nan, 0.5), (0.0, 1.5), (0.0, "a"), (0.0, None)]
)
def test_a_density_answers_for_its_alphabets_only(ask, y, x):
    with pytest.raises(bl.OutsideAlphabet):
        getattr(bl.Mechanism(laplace, secret=UNIT, outcome=LINE), ask)(y, x)


def test_params():
    import xarray as xr

    def noise(y, x, b):
        return np.exp(-abs(y - x) / b) / (2 * b)

    mech = bl.Mechanism(noise, secret=UNIT, outcome=LINE, params={"b": 0.5})
    assert float(mech.pdf(0.0, 0.0)) == 1.0
    assert bl.Mechanism(noise, secret=UNIT, outcome=LINE, params={"b": F(1, 2)}).pdf(0.0, 0.0) == 1
    b = xr.DataArray([0.5, 1.0], dims="b", coords={"b": [0.5, 1.0]})
    family = bl.Mechanism(noise, secret=UNIT, outcome=LINE, params={"b": b})
    assert type(family).__name__ == "MechanismFamily"
    found = bl.pml(bl.uniform(UNIT) * family)(0.3)
    assert dict(found.sizes) == {"b": 2}


def test_masses_of_atoms():
    mixed = bl.Mixed(UNIT, atoms=[0, 1])
    mech = bl.Mechanism(
        lambda y, x: 0.5 + 0 * y * x,
        secret=UNIT,
        outcome=mixed,
        masses={0: lambda x: 0.5 * x, 1: lambda x: 0.5 * (1 - x)},
    )
    np.testing.assert_allclose(mech.pdf([0.0, 0.5, 1.0], 0.25), [0.125, 0.5, 0.375])
    np.testing.assert_allclose(mech.logpdf([0.0, 0.5, 1.0], 0.25), np.log([0.125, 0.5, 0.375]))


def test_a_countable_outcome():
    mech = bl.Mechanism(
        lambda y, x: (1 - x) * x**y, secret=bl.Finite([0.25, 0.5]), outcome=bl.Integers(0, None)
    )
    assert float(mech.pdf(2, 0.5)) == 0.125


# -- other libraries -----------------------------------------------------------------------------


def test_from_scipy_old_and_new():
    old = bl.Mechanism.from_scipy(lambda x: stats.norm(x, 2), secret=UNIT, outcome=LINE)
    new = bl.Mechanism.from_scipy(
        lambda x: stats.Normal(mu=x, sigma=2.0), secret=UNIT, outcome=LINE
    )
    y, x = np.linspace(-3, 3, 4)[:, None], np.array([0.1, 0.9])
    for mech in (old, new):
        np.testing.assert_allclose(mech.logpdf(y, x), stats.norm(x, 2).logpdf(y), rtol=1e-12)
        assert mech.opaque == "" and mech.name.startswith("scipy")


def test_from_scipy_counts_and_pairs():
    counts = bl.Mechanism.from_scipy(
        lambda x: stats.poisson(x + 1), secret=bl.Finite(3), outcome=bl.Integers(0, None)
    )
    assert float(counts.pdf(2, 1)) == pytest.approx(stats.poisson(2).pmf(2))
    pairs = bl.Mechanism.from_scipy(
        lambda x: stats.norm(x[0] + x[1], 1), secret=UNIT * UNIT, outcome=LINE
    )
    assert float(pairs.pdf(0.5, (0.25, 0.25))) == pytest.approx(stats.norm.pdf(0))


# -- samples -------------------------------------------------------------------------------------


def test_samples_are_labels_with_the_right_frequencies():
    drawn = SURVEY.sample(["yes"] * 4000 + ["no"] * 4000, rng=1)
    assert set(drawn) <= set(SHOWN.labels)
    for label, p in zip(SHOWN.labels, MATRIX[1], strict=True):
        assert abs(np.mean(drawn[:4000] == label) - p) < 5 * math.sqrt(p * (1 - p) / 4000)
    np.testing.assert_array_equal(
        SURVEY.sample(["yes", "no"], rng=3), SURVEY.sample(["yes", "no"], rng=3)
    )
    assert SURVEY.sample("yes", rng=np.random.default_rng(0)) in SHOWN.labels
    assert SURVEY.sample([], rng=0).shape == (0,)
    with pytest.raises(bl.OutsideAlphabet):
        SURVEY.sample([0, 1])


def test_samples_of_probability_zero_never_come():
    sure = bl.Mechanism.from_matrix([[0, 1, 0], [F(1, 2), 0, F(1, 2)]])
    assert set(sure.sample([0] * 500, rng=0).tolist()) == {1}
    assert set(sure.sample([1] * 500, rng=0).tolist()) == {0, 2}


def test_samples_of_noise_and_of_clipped_noise():
    noise = bl.mechanisms.laplace(b=1.0)
    drawn = noise.sample(np.full(4000, 0.5), rng=0)
    assert stats.kstest(drawn, stats.laplace(0.5, 1).cdf).pvalue > 1e-3
    clipped = noise.clip(0, 1).sample(np.full(4000, 0.5), rng=0)
    np.testing.assert_array_equal(clipped, np.clip(drawn, 0, 1))
    with pytest.raises(bl.NotYet, match="sampler"):
        bl.Mechanism(laplace, secret=UNIT, outcome=LINE).sample(0.5)


# -- operators -----------------------------------------------------------------------------------


def test_wrong_orders_raise_with_the_hint():
    prior = bl.pmf([0.5, 0.5], on=ANSWERS)
    with pytest.raises(TypeError, match=r"prior \* mech for the joint, mech @ prior for P_Y"):
        SURVEY * prior
    with pytest.raises(TypeError, match=r"mech @ prior for the law of Y, or prior \* mech"):
        prior @ SURVEY


@pytest.mark.parametrize(
    "use",
    [
        lambda: np.ones(2) * SURVEY,
        lambda: SURVEY * np.ones(2),
        lambda: np.ones(2) @ SURVEY,
        lambda: SURVEY @ np.ones(3),
        lambda: np.ones(2) * bl.pmf([0.5, 0.5]),
        lambda: [0.5, 0.5] * SURVEY,
        lambda: SURVEY @ [0.5, 0.5],
        lambda: 2 * SURVEY,
        lambda: SURVEY & bl.pmf([0.5, 0.5]),
        lambda: bl.pmf([0.5, 0.5]) & SURVEY,
        lambda: np.ones(2) * (bl.pmf([0.5, 0.5], on=ANSWERS) * SURVEY),
        lambda: np.exp(SURVEY),
    ],
)
def test_arrays_and_numbers_do_not_mix_with_the_algebra(use):
    with pytest.raises(TypeError):
        use()


# -- showing and keeping -------------------------------------------------------------------------


def test_reprs():
    assert repr(SURVEY) == (
        "Mechanism(2 x 3 matrix: Finite(['no', 'yes']) -> Finite(['n', 'y', '?']))"
    )
    named = bl.Mechanism.from_matrix(MATRIX, name="survey")
    assert repr(named) == "Mechanism(survey: Finite(2) -> Finite(3))"
    opaque = bl.Mechanism(
        lambda y, x: laplace(np.asarray(y), np.asarray(x)), secret=UNIT, outcome=LINE
    )
    assert "opaque: conversion to an array" in repr(opaque) and opaque.opaque
    html = SURVEY._repr_html_()
    assert "proved: the rows sum to 1" in html and "next: prior * mech" in html


def test_html_is_escaped():
    shown = bl.Mechanism.from_matrix([[1]], secret=["<i>"], outcome=["&"], name="<b>")._repr_html_()
    assert "<b>" not in shown and "<i>next" in shown and "&lt;i&gt;" in shown


@pytest.mark.parametrize(
    "mech",
    [
        SURVEY,
        bl.Mechanism.from_matrix([[F(1, 3), F(2, 3)]]),
        bl.Mechanism(laplace, secret=UNIT, outcome=LINE),
        bl.mechanisms.laplace(b=1.0),
        bl.mechanisms.gaussian(sigma=1.0),
        bl.mechanisms.laplace(b=1.0).clip(0, 1),
        bl.mechanisms.laplace(b=1.0) & bl.mechanisms.laplace(b=2.0),
        bl.mechanisms.randomized_response(k=3, epsilon=1.0),
    ],
)
def test_a_traced_mechanism_survives_pickling(mech):
    again = pickle.loads(pickle.dumps(mech))
    assert repr(again) == repr(mech)
    assert (again.secret, again.outcome) == (mech.secret, mech.outcome)
    if mech.finite:
        np.testing.assert_array_equal(again.matrix, mech.matrix)
    elif mech.outcome.dim == 1:
        assert again.pdf(0.25, 0.75) == mech.pdf(0.25, 0.75)
    else:
        assert again.pdf((0.25, 1.5), 0.75) == mech.pdf((0.25, 1.5), 0.75)


def test_what_is_not_there_yet_says_so():
    noise = bl.mechanisms.laplace(b=1.0)
    for use in (
        lambda: noise.matrix,
        lambda: noise.push(lambda y: y),
        lambda: noise.restrict(lambda y: np.sin(y) > 0),
        lambda: noise.then(lambda y: noise),
        lambda: SURVEY.clip(0, 1),
        lambda: noise.clip(0, 1).clip(0, 0.5),
        lambda: noise.clip(0, 1) @ bl.uniform(UNIT),
        lambda: noise.clip(0, 1) & noise,
    ):
        with pytest.raises(bl.NotYet, match="not yet in this version"):
            use()


def test_pandas_brings_its_labels():
    import pandas as pd

    table = pd.DataFrame([[0.75, 0.25], [0.5, 0.5]], index=["b", "a"], columns=["no", "yes"])
    mech = bl.Mechanism.from_matrix(table)
    assert mech.secret == bl.Finite(["b", "a"]) and mech.outcome == bl.Finite(["no", "yes"])
    prior = bl.pmf(pd.Series([0.9, 0.1], index=["a", "b"]))
    assert prior.on == bl.Finite(["a", "b"])
    by_label = bl.pmf([0.1, 0.9], on=bl.Finite(["b", "a"]))
    assert bl.pml(prior * mech)("no") == bl.pml(by_label * mech)("no")
