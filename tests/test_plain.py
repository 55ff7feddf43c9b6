"""Measures in the notes of Bounds: equal as laws, and back from files and pickles as they were."""

import json
import pickle
from dataclasses import dataclass
from fractions import Fraction as F

import numpy as np
import pytest
import scipy.stats

import borel as bl
from borel.audits.result import load
from borel.audits.serialisation import from_plain, to_plain
from borel.audits.store import pack, unpack, write

MECH = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
FLOATS = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
EXACT = bl.pmf([F(1, 3), F(2, 3)])


def through_json(value):
    return from_plain(json.loads(json.dumps(to_plain(value))))


MEASURES = {
    "Fractions": EXACT,
    "floats": bl.pmf([0.1, 0.9]),
    "named labels": bl.pmf([0.5, 0.25, 0.25], on=bl.Finite(["no", "yes", ("a", 1)])),
    "integers": bl.pmf([F(1, 2), F(1, 2)], on=bl.Integers(3, 4)),
    "a product": bl.pmf([0.5, 0.5]) * bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite(["a", "b"])),
    "tabulated": bl.Measure(lambda x: (1 + x) / 6, on=bl.Finite(3)),
    "normal": bl.normal(mu=0.5, sigma=2.0),
    "poisson": bl.poisson(mu=1.5),
    "a density": bl.Measure(lambda x: 2 * x, on=bl.Interval(0, 1)),
    "a product of densities": bl.normal() * bl.beta(alpha=2, beta=5),
    "atoms": bl.Measure(
        lambda x: 0.5 + 0 * x,
        on=bl.Mixed(bl.Interval(0, 1), atoms=[0.0, 1.0]),
        masses={0.0: 0.25, 1.0: 0.25},
    ),
    "a mixture": bl.mixture([bl.normal(), bl.normal(mu=1)], weights=[0.5, 0.5]),
    "from scipy": bl.from_scipy(scipy.stats.beta(2, 5)),
}


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_comes_back_as_the_law_it_was(name):
    measure = MEASURES[name]
    for back in (through_json(measure), pickle.loads(pickle.dumps(measure))):
        assert back == measure and hash(back) == hash(measure)
        assert (back.on, back.name, back.rational) == (measure.on, measure.name, measure.rational)
        if measure._probabilities is not None:
            assert back.probabilities.tolist() == measure.probabilities.tolist()
            assert [type(p) for p in back.probabilities] == [type(p) for p in measure.probabilities]
            assert back.rounding == measure.rounding
        else:
            x = np.array([0.25, 0.5]) if measure.on.kind != "countable" else np.array([0, 3])
            x = (x, x) if measure.on.dim > 1 else x
            assert back.logpdf(x).tolist() == measure.logpdf(x).tolist()
            assert back.breaks == measure.breaks


def test_a_measure_that_came_back_can_be_used():
    back = through_json(EXACT)
    assert bl.pml(back * MECH).sup() == bl.pml(EXACT * MECH).sup()
    mech = bl.mechanisms.laplace(b=1.0, secret=bl.Interval(0, 1))
    density = MEASURES["a density"]
    found, truth = (bl.pml(p * mech)(0.5) for p in (through_json(density), density))
    assert (found.lower, found.upper) == (truth.lower, truth.upper)


def test_measures_of_other_laws_are_not_equal():
    two = [
        *MEASURES.values(),
        bl.pmf([0.9, 0.1]),
        bl.pmf([1 / 3, 2 / 3]),  # floats mean another law than Fractions
        bl.pmf([F(1, 3), F(2, 3)], on=bl.Finite(["a", "b"])),
        bl.Measure(np.array([0.1, 0.9]), bl.Finite(2), rounding=1e-9),
        bl.normal(mu=0.5, sigma=2.5),
        bl.Measure(lambda x: 2 * (1 - x), on=bl.Interval(0, 1)),
        bl.Measure(lambda x: 2 * (x - 1), on=bl.Interval(1, 2)),
    ]
    for i, first in enumerate(two):
        for j, second in enumerate(two):
            assert (first == second) == (i == j), (i, j)
    assert EXACT != "a law" and EXACT != np.array([1.0])
    draws = np.array([[0.5, 0.5], [0.25, 0.75]])
    assert bl.pmf(draws) == bl.pmf(draws.copy()) != bl.pmf(draws[::-1].copy())


@dataclass(frozen=True)
class Odd:
    label: str


def untraced(x):
    return 2.0 * float(x) if np.ndim(x) == 0 else np.array([2.0 * float(v) for v in x])


def test_an_untraced_density_is_equal_by_identity_and_kept_as_words():
    one, same = (bl.Measure(untraced, on=bl.Interval(0, 1), _check=False) for _ in range(2))
    other = bl.Measure(lambda x: untraced(x), on=bl.Interval(0, 1), _check=False)
    assert one == same == pickle.loads(pickle.dumps(one)) and one != other
    assert through_json(one) == repr(one)
    assert through_json(bl.pmf([[0.5, 0.5], [0.25, 0.75]])).startswith("Measure(probabilities on")
    odd = bl.pmf([0.5, 0.5], on=bl.Finite([Odd("a"), "b"]))
    assert through_json(odd) == repr(odd)


# -- the worst prior of a set ---------------------------------------------------------------------


CENTRE = bl.pmf([F(1, 2), F(1, 2)])
SETS = {
    "Fractions": (bl.priors.tv_ball(CENTRE, F(1, 4)), MECH),
    "floats": (bl.priors.kl_ball(bl.pmf([0.3, 0.7]), 0.1, direction="to_centre"), FLOATS),
    "counts": (bl.priors.from_counts({"a": 30, "b": 70}, confidence=0.95), None),
    "a family": (
        bl.priors.family(lambda p: bl.pmf([1 - p, p]), bl.Interval(0.25, 0.5)),
        FLOATS,
    ),
    "a hull of densities": (
        bl.priors.hull([bl.uniform(bl.Interval(0, 1)), bl.beta(alpha=2, beta=2)]),
        bl.mechanisms.laplace(b=1.0, secret=bl.Interval(0, 1)),
    ),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SETS)
def test_a_bound_over_a_set_is_itself_after_pickling_and_saving(name, tmp_path):
    import xarray as xr

    prior_set, mech = SETS[name]
    if mech is None:
        mech = bl.mechanisms.randomized_response(secret=["a", "b"], epsilon=1.0)
    bound = bl.pml(prior_set * mech).sup()
    assert isinstance(bound.witness["prior"], bl.Measure)
    assert pickle.loads(pickle.dumps(bound)) == bound
    assert unpack(pack(bound)) == bound
    path = tmp_path / "result.nc"
    tree = {"/": xr.Dataset(attrs={"creation_library": "borel"}), "/pml": pack(bound)}
    write(xr.DataTree.from_dict(tree), path)
    back = load(path)["pml"]
    assert back == bound
    assert back.witness["prior"].rational == bound.witness["prior"].rational
    assert back != bound.about(witness={**bound.witness, "prior": bl.pmf([0.5, 0.5])})


def test_a_long_prior_fits_a_file(tmp_path):
    import xarray as xr

    n = 5000  # more than HDF5 keeps in an attribute of the compact kind
    prior = bl.pmf(np.full(n, 1 / n))
    path = tmp_path / "result.nc"
    bound = bl.Bound.exact(0, 1, witness={"prior": prior})
    tree = {"/": xr.Dataset(attrs={"creation_library": "borel"}), "/pml": pack(bound)}
    write(xr.DataTree.from_dict(tree), path)
    assert load(path)["pml"] == bound
