"""Sentences keep the promise: an estimate is called one, and nothing is claimed that is not so."""

import math
import random
import re
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from operator import mul

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import borel as bl
from borel.audits.headline import verdict
from borel.audits.table import Row, _at_most, factor, html_table, sentence, short
from borel.engine.figures import DELTA, FIGURES, LEAKAGES, in_reports
from borel.probability.bound import Bound, Ratio

F = Fraction
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


# -- what the sentences say is so, by the meaning of each, on a joint of Fractions ----------------

P = [F(1, 2), F(1, 3), F(1, 6)]
ROWS = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(5, 8), F(1, 8)], [F(1, 8), F(1, 8), F(3, 4)]]
SECRETS = OUTCOMES = range(3)
JOINT = bl.pmf(P) * bl.Mechanism.from_matrix(ROWS)
PXY = [[P[x] * ROWS[x][y] for y in OUTCOMES] for x in SECRETS]
PY = [sum(PXY[x][y] for x in SECRETS) for y in OUTCOMES]


def test_what_min_entropy_leakage_says():
    before, after = max(P), sum(max(PXY[x][y] for x in SECRETS) for y in OUTCOMES)
    said = sentence("min_entropy_leakage", bl.min_entropy_leakage(JOINT))
    assert said == (
        f"The best guess of the secret, in one try, succeeds no more than "
        f"{short(after / before, 'up')} times as often once the outcome is seen."
    )


def test_what_ldi_says():
    posteriors = [[PXY[x][y] / PY[y] for x in SECRETS] for y in OUTCOMES]
    largest = max(max(row) / min(row) for row in posteriors)
    assert sentence("ldi", bl.ldi(JOINT)) == (
        f"Once the outcome is seen, no possible secret is more than {short(largest, 'up')} times "
        f"as probable as another one."
    )
    revealed = bl.pmf(P) * bl.Mechanism.from_matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert "one possible secret is more probable" in sentence("ldi", bl.ldi(revealed))


def test_what_total_variation_says():
    events = [e for n in range(4) for e in combinations(SECRETS, n)]
    change = sum(
        max(abs(sum(PXY[x][y] - P[x] * PY[y] for x in event)) for event in events) for y in OUTCOMES
    )
    found = bl.total_variation(JOINT)
    assert sentence("total_variation", found) == (
        f"On average over the outcomes, seeing the outcome changes the probability of any event "
        f"about the secret by {short(change, 'up')} or less."
    )


def cheaper(cost):
    """By what factor the outcome lowers the least mean cost; a column is a guess."""

    def least(weights):
        return min(sum(map(mul, weights, column)) for column in zip(*cost, strict=True))

    before = least(P)
    after = sum(least([PXY[x][y] for x in SECRETS]) for y in OUTCOMES)
    return before / after


def test_what_maximal_cost_leakage_says():
    factor = 1 / sum(min(ROWS[x][y] for x in SECRETS) for y in OUTCOMES)
    said = sentence("maximal_cost_leakage", bl.maximal_cost_leakage(JOINT))
    assert said == (
        f"Whatever wrong guesses cost, guessing any function of the secret becomes no more than "
        f"{short(factor, 'up')} times cheaper on average once the outcome is seen."
    )
    worst = [[1 / P[x] if x == w else F(0) for w in SECRETS] for x in SECRETS]
    assert cheaper(worst) == factor
    rng = random.Random(1)
    for _ in range(100):
        assert cheaper([[F(rng.randrange(1, 99)) for _ in range(4)] for _ in SECRETS]) <= factor


def guesses(weights):
    """The least mean number of guesses: the most probable value first."""
    return sum(n * p for n, p in enumerate(sorted(weights, reverse=True), start=1))


def test_what_maximal_guesswork_leakage_says():
    """Of the secret itself, of its functions, and of finer ones: U is uniform on 6 p(x) values."""
    found = bl.maximal_guesswork_leakage(JOINT)
    proved = Bound.certified(found.lower, found.upper)  # by itself it leaves open how much it is
    said = sentence("maximal_guesswork_leakage", proved)
    assert said.startswith("Finding out any function of the secret, guess by guess, takes no more")
    assert f"more than {short(found.ratio.upper, 'up')} times fewer guesses" in said
    assert sentence("maximal_guesswork_leakage", found).startswith("Not decided: ")
    merged = [[[0], [1], [2]], [[0, 1], [2]], [[0, 2], [1]], [[1, 2], [0]]]
    for blocks in merged:
        before = guesses([sum(P[x] for x in b) for b in blocks])
        after = sum(guesses([sum(PXY[x][y] for x in b) for b in blocks]) for y in OUTCOMES)
        assert before / after <= found.ratio.upper
    for n in (6, 60):
        parts = [int(n * p) for p in P]
        before = guesses([F(1, n)] * n)
        after = sum(
            guesses([PXY[x][y] / parts[x] for x in SECRETS for _ in range(parts[x])])
            for y in OUTCOMES
        )
        assert before / after <= found.ratio.upper


@pytest.mark.parametrize("name", sorted(in_reports()))
def test_that_the_outcome_tells_nothing_is_said_of_worst_cases_only(name):
    """A rare outcome that gives the secret away makes averages tiny, and no worst case is."""
    rare = F(1, 10**15)
    rows = [[1 - rare, 0, rare], [1 - rare, rare, 0]]
    joint = bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix(rows)
    record = FIGURES[name]
    at = (DELTA,) if name == "tail_leakage" else ()
    found = getattr(import_module(f"borel.figures.{record.module}"), name)(joint, *at)
    found = found.sup() if name in LEAKAGES else found(DELTA) if name == "envelope" else found
    assert "tells nothing" not in sentence(name, found)
    if not record.words.worst_case:
        assert found.lower < 1e-12


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
    assert down <= exact <= up
    assert up <= exact * Fraction(1002, 1000)
    assert down >= exact * Fraction(998, 1000)


def test_a_probability_of_which_nothing_is_known_is_said_so():
    def said(low, high):
        bound = Bound.statistical(low, high, confidence=0.9, units="probability")
        return sentence("guarantees/a", bound, {"probability_of": "PML(1)"})

    nothing = "Nothing is proved of the posterior probability that PML(1) holds."
    assert said(0, 1) == nothing
    assert "is 0.25 or less (confidence 90 %" in said(0, 0.25)
    assert "is 0.08255 to 0.1251 (confidence 90 %" in said(0.082559, 0.12501)
    assert "is 0.5 or more (confidence 90 %" in said(0.5, 1) and "holds is 1 (conf" in said(1, 1)


def test_short_rounds_by_less_than_any_float_shows():
    tiny = Fraction(1, 10**80)
    assert short(F(3, 2) + tiny, "up") == "1.501" and short(F(3, 2) - tiny, "down") == "1.499"
    assert short(math.nextafter(3.0, 4), "up") == "3.001"


@pytest.mark.parametrize("low", [0.0, 0.5, 1.0986])
def test_a_factor_that_is_a_round_number_but_for_rounding_has_more_digits(low):
    """It is never below the end that is proved, and 3 is not said to be 3.001."""
    top = math.nextafter(math.log(3), 2)
    assert factor(Bound.certified(low, top)) == "3.000000001"
    assert factor(Bound.certified(low, top + 1e-11)) == "3.000000001"
    assert factor(Bound.certified(low, top + 1e-9)) == "3.001"
    said = sentence("pml", Bound.certified(low, top))
    assert "more than 3.000000001 times" in said and "1.1 nats" not in said


ENDS = st.one_of(
    st.floats(0, 700),
    st.integers(1, 9999).map(lambda n: math.nextafter(math.log(n), math.inf)),
    st.integers(1, 9999).map(lambda n: math.log2(n) * math.log(2)),
    st.integers(1, 9999).map(lambda n: math.nextafter(n / 1000, math.inf)),
)
"""Levels of any size, and some such that they, their factor or bits are nearly of four digits."""


@given(ENDS, st.floats(0, 0.999))
@example(2.457898277592827e-39, 0.0)
@example(2.457898277592827e-39, 0.9)
@example(1e-16, 0.9)
def test_what_a_sentence_says_is_no_less_than_what_is_proved(top, share):
    """One number stands only for an enclosure that holds it and is as wide as rounding."""
    bound = Bound.certified(top * share, top)
    shown = {key: mpmath.mpf(text) for key, text in _at_most(bound).items()}
    with mpmath.workdps(60):
        top = mpmath.mpf(top)
        for key, above in {"f": mpmath.exp(top), "v": top, "b": top / mpmath.log(2)}.items():
            assert above <= shown[key] <= max(above, mpmath.mpf("1e-300")) * mpmath.mpf("1.00101")


def test_a_confidence_is_never_rounded_up():
    bound = Bound.statistical(0.5, 0.75, confidence=0.99999999)
    assert str(bound) == "[0.5, 0.75] nats (statistical, confidence 0.999999)"
    assert "confidence=0.999999)" in repr(bound)
    assert "confidence 99.9999 %" in sentence("pml", bound)
    assert "confidence 0.999999 only" in (bound <= 1).reason
    row = Row("guarantees/x", "P(PML(1) holds)", bound, "-")
    assert "(confidence 99.9999 %)" in verdict(row, {"probability_of": "PML(1)"}).text


def test_a_wrong_format_of_an_estimate_is_explained():
    with pytest.raises(bl.InvalidInput, match="a format like"):
        format(Bound.estimate(0.5, 1e-3), "abc")


def test_rows_name_their_units():
    row = Row("p", "P", Bound.exact(0.25, 0.25, units="probability"), "")
    assert row.figure == "probability 0.25"
    assert Row("p", "P", Bound.estimate(0.25, 0.01), "").figure == "~0.25 +- 0.01 nats"
    assert Row("p", "P", None, "").status == "not in this version"
    assert "&lt;b&gt;" in html_table([Row("p", "<b>", None, "<script>")])
    assert "<script>" not in html_table([Row("p", "<b>", None, "<script>")])
