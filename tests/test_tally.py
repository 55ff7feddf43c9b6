"""Counts of letters from the containers that hold them, and answers that nobody has counted."""

import math
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import borel as bl
from borel import _compat
from borel.audits.store import write
from borel.models import (
    binned_beta,
    dirichlet_multinomial,
    dirichlet_posterior,
    k_ary_response,
    privatised_multinomial,
)

SEEN = pd.DataFrame(
    {"sex": list("fffmmmmm"), "party": list("ddrrrrdd"), "age": [3, 3, 1] + [2] * 5}
)
KEYS = [("f", "d"), ("f", "r"), ("m", "d"), ("m", "r")]
COUNTS = [2, 1, 2, 3]  # of KEYS, by hand


def from_counts(counts, **about):
    return bl.priors.from_counts(counts, confidence=0.95, **about)


def law(known):
    return dict(zip(known.on.labels, known.nominal.probabilities, strict=True))


TABLES = {
    "groupby": lambda: SEEN.groupby(["sex", "party"]).size(),
    "crosstab": lambda: pd.crosstab(SEEN.sex, SEEN.party),
    "value_counts": lambda: SEEN[["sex", "party"]].value_counts(),
    "unstacked": lambda: SEEN.groupby(["sex", "party"]).size().unstack(),
    "dict": lambda: dict(zip(KEYS, COUNTS, strict=True)),
    "Counter": lambda: Counter(zip(SEEN.sex, SEEN.party, strict=True)),
}


@pytest.mark.parametrize("name", TABLES)
def test_counts_of_two_keys_have_tuples_as_labels(name):
    known = law(from_counts(TABLES[name]()))
    assert known == {key: F(n, 8) for key, n in zip(KEYS, COUNTS, strict=True)}


def test_a_cross_table_keeps_what_was_never_seen():
    table = pd.crosstab(pd.Series(list("aab"), name="x"), pd.Series(list("uvv"), name="y"))
    assert law(from_counts(table)) == {
        ("a", "u"): F(1, 3),
        ("a", "v"): F(1, 3),
        ("b", "u"): 0,
        ("b", "v"): F(1, 3),
    }


@pytest.mark.parametrize("name", ["groupby", "crosstab", "value_counts"])
def test_an_exact_posterior_of_two_keys(name, tmp_path):
    draws = dirichlet_posterior(TABLES[name](), draws=4000, chains=2, random_seed=1)
    p = draws["posterior"]["p"]
    order = list(p["x"].values)
    assert sorted(order) == KEYS
    means = dict(zip(order, p.mean(("chain", "draw")).values, strict=True))
    for key, n in zip(KEYS, COUNTS, strict=True):  # the mean of a Dirichlet, five deviations wide
        mean = (n + 1) / 12
        assert means[key] == pytest.approx(mean, abs=5 * math.sqrt(mean / 13 / 8000))
    write(draws, tmp_path / "prior.nc")  # as an audit keeps them
    kept = _compat.as_datatree(tmp_path / "prior.nc")
    xr.testing.assert_identical(kept, draws)
    learnt = bl.priors.from_posterior(kept, lambda draw: bl.pmf(draw["p"]))
    assert list(learnt.on.labels) == order


def test_a_sampler_that_keeps_no_tuples_says_so_before_it_runs():
    for make in (dirichlet_multinomial, lambda c: k_ary_response(c, epsilon=1.0)):
        with pytest.raises(ValueError, match=r"PyMC keeps no tuples.*'f / d'"):
            make(TABLES["groupby"]())


NAMED = SEEN.age  # a column: its name is its own, and its index only numbers the people
ANSWERS = {
    "a column of integers": NAMED,
    "a part of it": NAMED[NAMED > 1],
    "a shuffled one": NAMED.sample(frac=1, random_state=1),
    "a column of strings": SEEN.sex,
    "a column of floats": SEEN.age / 2,
    "a column of whole floats": SEEN.age.astype(float),
    "nullable integers": SEEN.age.astype("Int64"),
    "categories": SEEN.sex.astype("category"),
    "truth values": SEEN.age > 1,
    "a table": SEEN[["age"]],
    "a table of several": SEEN,
    "codes from 0": [0, 1, 1, 0, 0, 1, 0, 1],
    "codes from 1": np.array([3, 1, 2, 2, 1, 3, 3, 1, 1, 2, 2, 3]),
    "codes in a Series": pd.Series([0, 1] * 10),
    "codes as floats": [0.0, 1.0] * 4,
    "a list of strings": ["yes", "no", "yes"],
    "a list of truth values": [True, False, True],
    "proportions": [0.25, 0.75],
    "what is missing": pd.Series([3, pd.NA], dtype="Int64"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_that_nobody_counted_are_refused_with_the_remedy(name):
    with pytest.raises(bl.InvalidInput, match=r"expected counts.*\.value_counts\(\)"):
        from_counts(ANSWERS[name])
    with pytest.raises((TypeError, ValueError), match=r"count"):
        dirichlet_posterior(ANSWERS[name], draws=2)


def test_the_remedy_works():
    counted = pd.Series(NAMED).value_counts()
    assert law(from_counts(counted)) == {2: F(5, 8), 3: F(2, 8), 1: F(1, 8)}
    two = pd.Series([0, 1] * 10).value_counts()
    assert law(from_counts(two)) == {0: F(1, 2), 1: F(1, 2)}


COUNTED = {
    "a short list": [1, 0, 2],
    "any list with its letters": ([0, 1, 1, 0, 0, 1, 0, 1], bl.Finite(8)),
    "an unnamed Series": pd.Series([30, 70]),
    "letters never seen": SEEN.age.value_counts().reindex(range(5), fill_value=0),
    "sizes of groups": SEEN.groupby("age").size(),
    "a column of a table of counts": SEEN.groupby("age")
    .size()
    .reset_index(name="n")
    .set_index("age")["n"],
    "a table of one column": SEEN.age.value_counts().to_frame(),
    "nullable": pd.Series([3, 4], dtype="Int64"),
    "labelled": xr.DataArray([3, 4], dims="x", coords={"x": ["a", "b"]}),
    "equal": [10] * 50,
    "large": [10**18, 10**18],
}


@pytest.mark.parametrize("name", COUNTED)
def test_counts_are_taken_as_such(name):
    given = COUNTED[name]
    counts, on = given if isinstance(given, tuple) else (given, None)
    values = [int(v) for v in np.ravel(counts)]
    known = from_counts(counts, on=on)
    assert list(known.nominal.probabilities) == [F(v, sum(values)) for v in values]
    letters = None if on is None else on.labels
    draws = dirichlet_posterior(counts, draws=2, categories=letters)
    assert draws["observed_data"]["counts"].values.tolist() == values


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, math.nan])
def test_a_missing_label_is_refused_with_the_remedy(missing):
    for labels in ([missing, "a"], [("a", missing), ("b", 1)]):
        with pytest.raises(bl.InvalidInput, match=r"equal themselves.*fillna\('missing'\)"):
            bl.Finite(labels)
        with pytest.raises(ValueError, match=r"missing label.*fillna\('missing'\)"):
            dirichlet_posterior([1, 2], draws=2, categories=labels)
    column = pd.Series(["a", missing, "a"], dtype=object)
    with pytest.raises(bl.InvalidInput, match="fillna"):
        from_counts(column.value_counts(dropna=False))
    with pytest.raises(ValueError, match="fillna"):
        dirichlet_posterior(column.value_counts(dropna=False), draws=2)
    known = from_counts(column.fillna("missing").value_counts())
    assert law(known) == {"a": F(2, 3), "missing": F(1, 3)}
    assert bl.Finite([None, "a"]).labels == (None, "a")  # None is a label like others


def test_other_shelves_ask_the_same():
    answers = [0, 1] * 4
    with pytest.raises(ValueError, match=r"value_counts\(\)"):
        k_ary_response(answers, epsilon=1.0)
    with pytest.raises(ValueError, match=r"value_counts\(\)"):
        privatised_multinomial(SEEN.age, np.eye(8))
    with pytest.raises(ValueError, match=r"value_counts\(\)"):
        binned_beta(SEEN.age, range(9))


@pytest.mark.parametrize("on", [["a", "b"], 2, "ab", bl.Integers(0, None)])
def test_the_letters_are_an_alphabet(on):
    with pytest.raises(bl.InvalidInput, match=r"finite alphabet.*on=bl\.Finite"):
        from_counts([3, 4], on=on)


@pytest.mark.parametrize("given", [xr.Dataset({"p": ("x", [0.5, 0.5])}), xr.DataArray(1.0), None])
def test_what_holds_no_row_of_numbers_is_refused(given):
    with pytest.raises(bl.InvalidInput):
        bl.pmf(given)
    with pytest.raises(bl.InvalidInput, match="expected counts"):
        from_counts(given)


@pytest.mark.parametrize("given", [[pd.NA, 1.0], pd.Series([pd.NA, 1.0], dtype="Float64")])
def test_a_missing_probability_is_refused(given):
    with pytest.raises(bl.InvalidInput):
        bl.pmf(given)
    with pytest.raises(bl.InvalidInput):
        bl.Mechanism.from_matrix([given, given])


def test_what_holds_under_every_prior_needs_no_confidence():
    learnt = bl.priors.from_counts({"a": 20, "b": 3, "c": 0}, confidence=0.95)
    joint = learnt * bl.mechanisms.randomized_response(secret=learnt.on, ratio=8)
    g = bl.guarantees
    for guarantee in (g.LDP(2.1), g.LDP(ratio=8), g.PML(2.1), g.PMC(ratio=8), g.LIP(2.1)):
        verdict = joint.satisfies(guarantee)
        assert verdict.holds is True and verdict.bound.confidence is None
        assert verdict.bound.lower <= 0 and math.log(8) <= verdict.bound.upper < 2.08
    for guarantee in (g.LDP(2.07), g.PML(2.07), g.LIP(2.07)):
        assert joint.satisfies(guarantee).holds is None


def test_a_threshold_inside_an_enclosure_is_said_so_at_once():
    bound = bl.Bound.statistical(0.5, 0.75, confidence=0.95)
    verdict = bound <= 0.6
    assert verdict.holds is None and "lies inside the enclosure [0.5, 0.75]" in verdict.reason
    assert ".at(" not in verdict.reason and verdict.at(confidence=0.95).holds is None
    assert "ask .at(confidence=...)" in (bound <= 0.8).reason
