"""Measures: probabilities by label, densities, mixtures, restrictions, products, roundings."""

import math
import pickle
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest
from scipy import stats

import borel as bl

ANSWERS = bl.Finite(["no", "yes"])
UNIT, LINE = bl.Interval(0, 1), bl.Reals()
THIRDS = [F(1, 3), F(2, 3)]


def off_by(values, truth):
    """The largest relative error of floats against Fractions (an exact 0 must stay 0)."""
    pairs = zip(np.ravel(values).tolist(), truth, strict=True)
    errors = [F(0) if v == t == 0 else abs(t / F(v) - 1) for v, t in pairs]
    return max(errors)


# -- probabilities -------------------------------------------------------------------------------


def test_pmf_takes_labels():
    prior = bl.pmf([0.25, 0.75], on=ANSWERS)
    assert prior.pdf("yes") == 0.75 and prior.logpdf("no") == math.log(0.25)
    np.testing.assert_array_equal(prior.pdf(["yes", "no", "yes"]), [0.75, 0.25, 0.75])
    for wrong in (0, 1, "maybe", None):
        with pytest.raises(bl.OutsideAlphabet):
            prior.pdf(wrong)


def test_a_dataarray_brings_its_labels():
    import xarray as xr

    p = xr.DataArray([0.25, 0.75], dims="x", coords={"x": ["no", "yes"]})
    assert bl.pmf(p).on == ANSWERS
    assert bl.pmf(xr.DataArray([0.25, 0.75], dims="x")).on == bl.Finite(2)
    swapped = bl.pmf(p, on=bl.Finite(["yes", "no"]))
    assert swapped.pdf("yes") == 0.75, "labels are matched, never positions"
    draws = xr.DataArray(
        [[0.25, 0.75], [0.5, 0.5]], dims=("draw", "x"), coords={"x": ["no", "yes"]}
    )
    np.testing.assert_array_equal(
        bl.pmf(draws, on=bl.Finite(["yes", "no"])).pdf("yes"), [0.75, 0.5]
    )


def test_the_labels_that_arviz_writes_for_want_of_others_are_none():
    import xarray as xr

    p = xr.DataArray([0.25, 0.75], dims="x", coords={"x": [0, 1]})
    assert bl.pmf(p, on=ANSWERS).pdf("yes") == 0.75
    assert bl.pmf(p, on=bl.Finite([1, 0])).pdf(1) == 0.75


def test_fractions_and_integers_stay_exact():
    for prior in (bl.pmf(THIRDS), bl.pmf([0, 1]), bl.pmf([F(1, 3), F(2, 3), 0])):
        assert prior.rational and prior.rounding == 0
        assert all(isinstance(p, F) for p in prior.probabilities)
    assert not bl.pmf([F(1, 2), 0.5]).rational


def test_draws_are_leading_axes():
    prior = bl.pmf(np.array([[[0.5, 0.5], [0.25, 0.75]]]), on=ANSWERS)
    assert prior.batch == (1, 2) and "batch (1, 2)" in repr(prior)
    np.testing.assert_array_equal(prior.pdf("yes"), [[0.5, 0.75]])
    exact = bl.pmf([[F(1, 2), F(1, 2)], THIRDS])
    assert exact.rational and exact.batch == (2,)


def test_the_given_array_is_copied_and_the_probabilities_are_read_only():
    given = np.array([0.25, 0.75])
    prior = bl.pmf(given)
    given[0] = 9
    assert prior.pdf(0) == 0.25
    with pytest.raises(ValueError):
        prior.probabilities[0] = 9


def test_floats_may_miss_one_by_their_rounding_and_say_by_how_much():
    tenth = bl.pmf([0.1] * 10)
    assert o.F(1, 2**53) <= tenth.rounding <= 18 * 2.0**-53
    assert off_by(tenth.probabilities, [F(1, 10)] * 10) <= tenth.rounding
    high = np.full(8, 0.125 + 2.0**-54)  # 1 + 4 u in sum
    given = (
        bl.pmf(high),
        bl.Measure(high, bl.Finite(8)),
        bl.Measure(lambda x: high[0], bl.Finite(8)),
    )
    for prior in given:
        assert F(3, 2**53) < off_by(prior.probabilities, [F(1, 8)] * 8) <= prior.rounding


def test_at_another_alphabet():
    prior = bl.pmf([0.25, 0.75, 0.0], on=bl.Finite(["a", "b", "c"]))
    np.testing.assert_array_equal(prior.at(bl.Finite(["b", "z", "a"])), [0.75, 0, 0.25])
    with pytest.raises(bl.OutsideAlphabet, match="'b'"):
        prior.at(bl.Finite(["a", "c"]))
    assert list(bl.pmf(THIRDS).at(bl.Finite(3))) == [*THIRDS, F(0)]


# -- densities -----------------------------------------------------------------------------------


def test_a_density_and_its_logarithm():
    linear = bl.Measure(lambda x: 2 * x, on=UNIT)
    logs = bl.Measure(lambda x: np.log(2 * x), on=UNIT, log=True)
    x = np.array([0.1, 0.5, 1.0])
    np.testing.assert_allclose(linear.pdf(x), 2 * x)
    np.testing.assert_allclose(logs.pdf(x), 2 * x)
    np.testing.assert_allclose(linear.logpdf(x), logs.logpdf(x), rtol=1e-15)
    assert linear.logpdf(0.0) == -math.inf


@pytest.mark.parametrize("wrong", [-0.1, 2, math.nan, math.inf, "0.5", None, [0.5, 7.0]])
def test_a_density_answers_for_its_alphabet_only(wrong):
    for ask in (bl.uniform(UNIT).pdf, bl.uniform(UNIT).logpdf, bl.beta(alpha=2).pdf):
        with pytest.raises(bl.OutsideAlphabet, match=r"x: expected a point of Interval\(0, 1\)"):
            ask(wrong)


def test_a_countable_density_answers_for_integers_only():
    for wrong in (-1, 0.5):
        with pytest.raises(bl.OutsideAlphabet):
            bl.poisson(mu=1).pdf(wrong)


def test_params_are_passed_by_name_and_arrays_make_a_batch():
    def power(x, a):
        return a * x ** (a - 1)

    assert bl.Measure(power, on=UNIT, params={"a": 2}).pdf(0.25) == 0.5
    assert bl.Measure(power, on=UNIT, params={"a": F(2)}).pdf(0.25) == 0.5
    batch = bl.Measure(power, on=UNIT, params={"a": np.array([1.0, 2.0])})
    assert batch.batch == (2,)
    np.testing.assert_allclose(batch.pdf(0.25), [1, 0.5])


def test_declared_breaks_settle_a_jump():
    jump = bl.Measure(lambda x: np.where(x < 0.1234, 1 / 0.1234, 0.0), on=UNIT, breaks=[0.1234])
    assert jump.breaks == (0.1234,)


def test_atoms_have_masses():
    mixed = bl.Measure(
        lambda x: 0.5 + 0 * x, on=bl.Mixed(UNIT, atoms=[0, 1]), masses={0: 0.3, 1: 0.2}
    )
    np.testing.assert_array_equal(mixed.pdf([0.0, 0.25, 1.0]), [0.3, 0.5, 0.2])
    np.testing.assert_allclose(mixed.logpdf([0.0, 0.25]), np.log([0.3, 0.5]))


def test_a_density_on_a_finite_alphabet_is_tabulated_with_its_rounding():
    prior = bl.Measure(lambda x: (x + 1) / 6, on=bl.Finite(3))
    assert off_by(prior.probabilities, [F(1, 6), F(2, 6), F(3, 6)]) <= prior.rounding < 1e-14
    assert prior.unproved == ""

    def cancelled(x):
        d = (0 * x + 1e4 + 0.1) - 1e4
        return np.where(x == 0, d, 1 - d)

    lost = bl.Measure(cancelled, on=bl.Finite(2))
    assert off_by(lost.probabilities, [F(1, 10), F(9, 10)]) <= lost.rounding
    assert lost.rounding > 1e-12, "digits that a difference loses are counted"
    opaque = bl.from_scipy(stats.boltzmann(0.5, 3))
    assert "the prior is known in float64 only" in opaque.unproved
    assert bl.from_scipy(stats.bernoulli(0.3)).unproved == ""


def test_a_density_on_a_product():
    both = bl.Measure(lambda x: 4 * x[0] * x[1], on=UNIT * UNIT)
    assert both.pdf((0.5, 0.25)) == 0.5
    with pytest.raises(bl.OutsideAlphabet):
        both.pdf(0.5)


# -- products ------------------------------------------------------------------------------------


def test_product_measures_keep_fractions_and_labels():
    both = bl.pmf(THIRDS, on=ANSWERS) * bl.pmf([F(1, 4), F(3, 4)])
    assert both.on == ANSWERS * bl.Finite(2) and both.rational
    assert both.pdf(("yes", 0)) == F(1, 6) and sum(both.probabilities) == 1
    assert len((both * both).parts) == 4


def test_a_product_of_densities():
    both = bl.beta(alpha=2, beta=1) * bl.normal(mu=1)
    assert both.on == UNIT * LINE and not both.density.opaque
    expected = 2 * 0.25 * stats.norm(1).pdf(0.5)
    assert float(both.pdf((0.25, 0.5))) == pytest.approx(expected, rel=1e-14)
    three = both * bl.exponential(lam=2.0)
    assert three.on.dim == 3
    assert float(three.pdf((0.25, 0.5, 1.0))) == pytest.approx(expected * 2 * math.exp(-2))


def test_a_product_of_a_pmf_and_a_density():
    both = bl.pmf([0.25, 0.75]) * bl.uniform(bl.Interval(0, 2))
    assert float(both.pdf((1, 0.5))) == pytest.approx(0.375)
    with pytest.raises(bl.OutsideAlphabet):
        both.pdf((2, 0.5))


# -- mixtures ------------------------------------------------------------------------------------


def test_mixtures_of_fractions_are_fractions():
    mixed = bl.mixture([bl.pmf(THIRDS), bl.pmf([F(1), F(0)])], weights=[F(1, 4), F(3, 4)])
    assert mixed.rational and list(mixed.probabilities) == [F(5, 6), F(1, 6)]


@pytest.mark.parametrize(
    ("laws", "weights"),
    [
        ([THIRDS, [0.5, 0.5]], [F(1, 4), F(3, 4)]),
        ([THIRDS, THIRDS], [0.25, 0.75]),
        ([[0.5, 0.5], [0.5, 0.5]], [F(1, 4), F(3, 4)]),
    ],
)
def test_a_mixture_with_a_float_anywhere_is_of_floats(laws, weights):
    """An object array of floats would pass for Fractions, with no rounding at all."""
    mixed = bl.mixture([bl.pmf(p) for p in laws], weights=weights)
    assert mixed.probabilities.dtype == float and not mixed.rational and mixed.rounding > 0


def test_a_mixture_of_draws():
    draws = bl.pmf([[0.5, 0.5], [1.0, 0.0]])
    mixed = bl.mixture([draws, bl.pmf([0.0, 1.0])], weights=[0.5, 0.5])
    np.testing.assert_array_equal(mixed.probabilities, [[0.25, 0.75], [0.5, 0.5]])


def test_a_mixture_of_densities_is_traced():
    mixed = bl.mixture([bl.normal(), bl.normal(mu=3)], weights=[F(1, 4), F(3, 4)])
    x = np.array([-1.0, 0.0, 2.0])
    expected = 0.25 * stats.norm(0).pdf(x) + 0.75 * stats.norm(3).pdf(x)
    np.testing.assert_allclose(mixed.pdf(x), expected, rtol=1e-13)
    assert not mixed.density.opaque


# -- restrictions --------------------------------------------------------------------------------


def test_restriction_conditions_in_fractions():
    prior = bl.pmf([F(1, 2), F(1, 3), F(1, 6)], on=bl.Finite(["a", "b", "c"]))
    assert list(prior.restrict(lambda x: x != "a").probabilities) == [0, F(2, 3), F(1, 3)]


def test_every_draw_is_conditioned_by_itself():
    draws = bl.pmf([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])
    found = draws.restrict(lambda x: x > 0).probabilities
    np.testing.assert_allclose(found, [[0, 0.5, 0.5], [0, 1 / 3, 2 / 3]])


def test_restriction_of_a_density():
    half = bl.normal().restrict(lambda x: x > 0)
    np.testing.assert_allclose(half.pdf([-1.0, 0.5]), [0, 2 * stats.norm.pdf(0.5)], rtol=1e-7)


def test_restriction_of_a_product_sees_labels_as_tuples():
    both = bl.pmf(THIRDS, on=ANSWERS) * bl.pmf(THIRDS)
    kept = both.restrict(lambda x: x[0] == "yes")
    assert kept.pdf(("yes", 1)) == F(2, 3) and kept.pdf(("no", 1)) == 0


# -- rounding ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_rounding_covers_the_truth_of_every_composition(seed):
    """Fractions first, floats fed: every entry is within the rounding the measure states."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    p, q = o.law(rng, n, "fine"), o.law(rng, n, rng.choice(["fine", "zeros", "plain"]))
    w = o.law(rng, 2, "fine")
    a, b = bl.pmf(o.floats(p)), bl.pmf(o.floats(q))
    product = a * b
    assert off_by(product.probabilities, [x * y for x in p for y in q]) <= product.rounding
    mixed = bl.mixture([a, b], weights=o.floats(w))
    truth = [w[0] * x + w[1] * y for x, y in zip(p, q, strict=True)]
    assert off_by(mixed.probabilities, truth) <= mixed.rounding
    part = a.restrict(lambda x: x > 0)
    truth = [F(0), *(x / (1 - p[0]) for x in p[1:])]
    assert off_by(part.probabilities, truth) <= part.rounding
    beside = bl.pmf(p) * b  # Fractions beside floats
    assert off_by(beside.probabilities, [x * y for x in p for y in q]) <= beside.rounding
    assert max(m.rounding for m in (product, mixed, part, beside)) < 1e-14


def test_the_rounding_of_the_weights_counts():
    """Weights that miss 1 by 8 roundings are accepted: the mixture must own up to them."""
    w = [F(1, 2), F(1, 2) - 8 * F(1, 2**53)]
    mixed = bl.mixture([bl.pmf([1.0, 0.0]), bl.pmf([0.0, 1.0])], weights=o.floats(w))
    assert mixed.rounding >= 8 * 2.0**-53


def test_a_restricted_subnormal_owns_up_to_its_rounding():
    p = [F(7, 10**319), F(5, 10**319)]
    p.append(1 - sum(p))
    part = bl.pmf(o.floats(p)).restrict(lambda x: x < 2)
    truth = [p[0] / sum(p[:2]), p[1] / sum(p[:2]), F(0)]
    assert off_by(part.probabilities, truth) <= part.rounding


# -- other libraries -----------------------------------------------------------------------------


def test_scipys_new_infrastructure():
    measure = bl.from_scipy(stats.Normal(mu=1.0, sigma=2.0))
    assert measure.on == LINE and measure.density.opaque == ""
    np.testing.assert_allclose(measure.pdf([0.0, 3.0]), stats.norm(1, 2).pdf([0.0, 3.0]))
    if hasattr(stats, "Binomial"):
        law = bl.from_scipy(stats.Binomial(n=2, p=0.5))
        assert law.on == bl.Integers(0, 2)
        np.testing.assert_allclose(law.probabilities, [0.25, 0.5, 0.25])


def test_scipys_old_style():
    law = bl.from_scipy(stats.binom(2, 0.5))
    assert law.on == bl.Integers(0, 2)
    np.testing.assert_allclose(law.probabilities, [0.25, 0.5, 0.25])
    assert bl.from_scipy(stats.poisson(2)).on == bl.Integers(0, None)
    assert bl.from_scipy(stats.uniform(-1, 3)).on == bl.Interval(-1, 2)
    narrow = bl.from_scipy(stats.truncnorm(0, 1), on=UNIT)
    assert narrow.on == UNIT


def test_uniform():
    assert list(bl.uniform(bl.Finite(4)).probabilities) == [0.25] * 4
    assert bl.uniform(ANSWERS * ANSWERS).pdf(("no", "yes")) == 0.25
    assert bl.uniform(bl.Interval(1, 5)).pdf(2.0) == 0.25
    assert bl.uniform(UNIT * bl.Interval(0, 2)).pdf((0.5, 0.5)) == 0.5
    assert bl.uniform(bl.Integers(1, 4)).pdf(2) == 0.25


# -- showing and keeping -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "shown"),
    [
        (bl.pmf([0.25, 0.75], on=ANSWERS), "Measure([0.25, 0.75] on Finite(['no', 'yes']))"),
        (bl.pmf(THIRDS), "Measure([1/3, 2/3] on Finite(2))"),
        (bl.uniform(bl.Finite(9)), "Measure(uniform on Finite(9))"),
        (bl.Measure(lambda x: 2 * x, on=UNIT), "Measure(density on Interval(0, 1))"),
        (bl.poisson(mu=2.5), "Measure(poisson(mu=2.5) on Integers(0, None))"),
    ],
)
def test_reprs(measure, shown):
    assert repr(measure) == shown
    again = pickle.loads(pickle.dumps(measure))
    assert repr(again) == shown
    point = measure.on.labels[0] if measure.on.kind == "finite" else 1
    assert again.pdf(point) == measure.pdf(point)


def test_an_opaque_measure_says_why():
    opaque = bl.Measure(lambda x: 2 * np.asarray(x), on=UNIT)
    assert "opaque: conversion to an array" in repr(opaque)


def test_html_is_escaped():
    shown = bl.pmf([0.5, 0.5], on=bl.Finite(["<b>", "&"]))._repr_html_()
    assert "<b>" not in shown and "&lt;b&gt;" in shown


def test_what_is_not_there_yet_says_so():
    with pytest.raises(bl.NotYet, match=r"not a finite alphabet.*pdf"):
        _ = bl.normal().probabilities
    atoms = bl.Measure(lambda x: 0.5 + 0 * x, on=bl.Mixed(UNIT, atoms=[0]), masses={0: 0.5})
    for use in (
        lambda: bl.poisson(mu=1).restrict(lambda x: x > 0),
        lambda: bl.normal(mu=[0.0, 1.0]).restrict(lambda x: x > 0),
        lambda: atoms * bl.normal(),
        lambda: bl.pmf([[0.5, 0.5]]) * bl.pmf([0.5, 0.5]),
    ):
        with pytest.raises(bl.NotYet):
            use()
