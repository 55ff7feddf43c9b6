"""Sentences keep the promise: an estimate is called one, and nothing is claimed that is not so."""

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from borel.audits.table import Row, html_table, sentence, short
from borel.engine.figures import in_reports
from borel.probability.bound import Bound, Ratio

LEVELS = st.floats(0, 2000)
CONTEXTS = st.sampled_from(
    [
        {},
        {"quantile": 0.95},
        {"under": "Under the mean prior"},
        {"guarantee": "PML(0.5)", "holds": "undecided"},
        {"probability_of": "PML(0.5)"},
    ]
)


@given(st.sampled_from(sorted(in_reports())), LEVELS, st.floats(0, 1), CONTEXTS)
def test_the_sentence_of_an_estimate_says_estimate(name, value, error, context):
    said = sentence(name, Bound.estimate(value, error), context)
    assert "estimate" in said
    assert not re.search(r"at most|no more than|no event|no outcome|or less", said)


@pytest.mark.parametrize("name", sorted(in_reports()))
def test_an_infinite_estimate_is_still_an_estimate(name):
    assert "estimate" in sentence(name, Bound.estimate(math.inf, 0.0))


@given(st.sampled_from(sorted(in_reports())), LEVELS, CONTEXTS)
def test_undecided_gives_its_reason_and_the_remedy(name, low, context):
    bound = Bound.undecided(low, math.inf, reason="R-hat 1.2 > 1.01. Remedy: more draws")
    said = sentence(name, bound, context)
    assert said.startswith("Not decided: R-hat 1.2 > 1.01. Remedy: more draws.")
    assert "no event" not in said


@given(st.sampled_from(sorted(in_reports())), LEVELS)
def test_statistical_says_its_confidence(name, value):
    bound = Bound.statistical(value, value + 0.1, confidence=0.9)
    said = sentence(name, bound, {"quantile": 0.95})
    assert "confidence 90 %" in said
    assert "posterior probability 95 %" in said


def test_conditional_says_if():
    bound = Bound.conditional(0.0, 1.0, assumptions=("the tail as declared",))
    assert sentence("pml", bound).startswith("If the assumptions listed hold, no event")


def test_what_the_sentences_say():
    exact = Bound.exact(math.log(3), math.log(3), exact_ratio=Ratio(Fraction(3), Fraction(3)))
    assert sentence("pml", exact) == (
        "No event about the secret becomes more than 3 times as probable once the outcome is seen."
    )
    assert sentence("ldp", exact) == (
        "No outcome is more than 3 times as likely under one secret as under another."
    )
    infinite = Bound.exact(math.inf, math.inf)
    assert "by more than any factor" in sentence("pmc", infinite)
    assert sentence("pml", Bound.exact(0, 0)) == "The outcome tells nothing about the secret."
    ignorant = Bound.conditional(1.0, math.inf, assumptions=("a",))
    assert "1 nats or more, and no bound from above is known" in sentence("pml", ignorant)
    posterior = Bound.statistical(math.inf, math.inf, confidence=0.95)
    assert sentence("pml", posterior, {"quantile": 0.95}).startswith(
        "With posterior probability more than 5 %, some outcomes"
    )


def test_guarantees():
    exact = Bound.exact(0.4, 0.4)
    holds = {"guarantee": "PML(0.5)", "holds": "yes"}
    assert sentence("guarantees/a", exact, holds) == "PML(0.5) holds."
    fails = {"guarantee": "PML(0.3)", "holds": "no"}
    assert sentence("guarantees/a", exact, fails) == "PML(0.3) does not hold."
    open_ = {"guarantee": "PML(0.4)", "holds": "undecided"}
    wide = Bound.exact(0.39, 0.41)
    assert "inside the enclosure" in sentence("guarantees/a", wide, open_)
    share = Bound.statistical(0.99989, 1.0, confidence=0.95, units="probability")
    said = sentence("guarantees/a", share, {"probability_of": "PML(0.5)"})
    assert said.startswith("The posterior probability that PML(0.5) holds is 0.9998 or more")


@given(st.one_of(st.floats(1e-300, 1e300), st.fractions(min_value=Fraction(1, 10**9))))
def test_short_rounds_the_way_it_says(value):
    exact = Fraction(value)
    up, down = Fraction(short(value, "up")), Fraction(short(value, "down"))
    slack = Fraction(1, 10**11)
    assert up >= exact * (1 - slack)
    assert down <= exact * (1 + slack)
    assert up <= exact * Fraction(1002, 1000)
    assert down >= exact * Fraction(998, 1000)


def test_rows_name_their_units():
    row = Row("p", "P", Bound.exact(0.25, 0.25, units="probability"), "")
    assert row.figure == "probability 0.25"
    assert Row("p", "P", Bound.estimate(0.25, 0.01), "").figure == "~0.25 +- 0.01 nats"
    assert Row("p", "P", None, "").status == "not in this version"
    assert "&lt;b&gt;" in html_table([Row("p", "<b>", None, "<script>")])
    assert "<script>" not in html_table([Row("p", "<b>", None, "<script>")])
