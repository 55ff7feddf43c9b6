"""What a report says first: a verdict never says more than its figure does."""

import json
import math
import re
from decimal import Decimal
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import borel as bl
from borel.audits.headline import ceiling, in_a_sentence, places, verdict, verdicts
from borel.audits.report import render
from borel.audits.sampling import SAMPLING, diagnostics_of, sampling
from borel.audits.table import Row, in_bits, printed, rows, sentence, short
from borel.probability.bound import Bound

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], outcome=["no", "yes"])
G = bl.guarantees


def audited(prior=None, **changes):
    given = {"title": "T", "mechanism": MECH, "prior": prior or bl.pmf([0.25, 0.75])}
    return bl.load(bl.audit(bl.Study(**{**given, **changes})))


def learnt(**changes):
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1, **changes)
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def said(audit):
    return verdicts(audit, [row for row in rows(audit) if row.name.startswith("guarantees/")])


# -- verdicts -------------------------------------------------------------------------------------


def test_verdicts_under_one_prior():
    """P(y = no) = 3/8: PML = log 2 (secret 0), PMC = log 3/2."""
    yes, no = said(audited(guarantees=[G.PML(0.7), G.PML(0.6)]))
    assert (yes.answer, yes.text) == ("holds", "PML(0.7) holds.")
    assert (no.answer, no.text) == ("does not hold", "PML(0.6) does not hold.")
    assert yes.asks == (
        "PML is pointwise maximal leakage; asked is that no event about the secret becomes more "
        "than 2.014 times as probable once the outcome is seen."
    )


def test_verdicts_under_a_posterior():
    """p = 0.3 about: PML is log(3 / (1 + 2 p)) about 0.63, so 1.2 surely holds, 0.1 never does."""
    found = said(audited(learnt(), guarantees=[G.PML(1.2), G.PML(0.1), G.PML(0.63)]))
    assert [v.answer for v in found] == ["holds", "does not hold", "is not decided"]
    assert re.fullmatch(
        r"PML\(1.2\) holds: with posterior probability at least 0\.99\d* \(confidence 95 %\)\.",
        found[0].text,
    )
    assert "the posterior probability that it holds is 0.00" in found[1].text
    assert "at most (confidence 95 %)" in found[1].text
    assert "which does not settle it at 95 %." in found[2].text


@pytest.mark.few(2)
@pytest.mark.parametrize("level", [0.55, 0.6, 0.63, 0.66, 0.7])
def test_the_verdict_of_a_posterior_is_that_of_the_library(level):
    prior = learnt()
    (one,) = said(audited(prior, guarantees=[G.PML(level)]))
    answer = (prior * MECH).satisfies(G.PML(level)).at(confidence=0.95).holds
    assert one.answer == {True: "holds", False: "does not hold", None: "is not decided"}[answer]


def test_verdicts_over_a_set():
    counted = bl.priors.from_counts([30, 70], confidence=0.95)
    yes, no = said(audited(counted, guarantees=[G.PML(1.05), G.PML(0.5)]))
    assert yes.answer == "holds" and "(confidence 95 % over the sample)" in yes.text
    # a prior of the set fails, and the true one may be another
    assert (
        no.answer == "is not decided" and "not shown to hold for every prior of the set" in no.text
    )
    (ball,) = said(audited(bl.priors.tv_ball(bl.pmf([0.3, 0.7]), 0.1), guarantees=[G.PML(0.5)]))
    assert ball.answer == "does not hold" and "for every prior of the set" in ball.text


BOUNDS = st.sampled_from(
    [
        Bound.estimate(0.5, 0.1),
        Bound.estimate(0.999, 1e-9),
        Bound.undecided(0.0, 1.0, reason="R-hat 1.2 > 1.01. Remedy: more draws"),
        None,
    ]
)
CONTEXTS = [
    {"guarantee": "PML(0.5)", "holds": "yes"},
    {"guarantee": "PML(0.5)", "holds": "undecided"},
    {"probability_of": "PML(0.5)", "at": 0.95, "holds": "yes"},
    {"probability_of": "PML(0.5)"},
    {},
]


@given(BOUNDS, st.sampled_from(CONTEXTS))
def test_what_is_no_proof_is_not_decided(bound, context):
    text = "no tails yet" if bound is None else sentence("guarantees/x", bound, context or GUESSED)
    one = verdict(Row("guarantees/x", "PML(0.5)", bound, text), context)
    assert one.answer == "is not decided"
    assert one.text.startswith("PML(0.5) is not decided: ")
    assert not re.search(r"at least|at most|PML\(0.5\) holds\b(?! (nor|with))", one.text)
    if bound is not None and bound.status == "estimate":
        assert "estimate" in one.text


GUESSED = {"guarantee": "PML(0.5)", "holds": "undecided"}


def test_a_probability_without_an_answer_is_not_decided():
    """So is that of an audit kept by a version that stored none."""
    bound = Bound.statistical(0.99, 1.0, confidence=0.95, units="probability")
    one = verdict(Row("guarantees/x", "P(PML(1) holds)", bound, "-"), {"probability_of": "PML(1)"})
    assert one.answer == "is not decided" and "between 0.9899 and 1 (confidence 95 %)" in one.text


def test_conditions_are_said():
    bound = Bound.conditional(0.1, 0.2, assumptions=("a tail",))
    context = {"guarantee": "PML(0.5)", "holds": "yes"}
    one = verdict(Row("g", "PML(0.5)", bound, sentence("g", bound, context)), context)
    assert one.text == "If the assumptions listed hold, PML(0.5) holds."


def test_draws_that_allow_no_claim_decide_nothing():
    tree = bl.models.dirichlet_posterior([30, 70], draws=100, chains=1, random_seed=1)
    tree["posterior"].attrs.clear()
    prior = bl.priors.from_posterior(tree, lambda draw: bl.pmf(draw["p"]))
    found = audited(prior, guarantees=[G.PML(0.9)])  # below LDP, which needs no draws
    (one,) = said(found)
    assert one.answer == "is not decided" and "one chain only" in one.text
    # what multiplies a chance by 3 at most under every prior does so under these
    said_of_it = "e^epsilon = 3.000000001 at most (epsilon = 1.099 nats, 1.585 bits)"
    assert said_of_it in in_a_sentence(found)


# -- the leakage in words, where, and the ceiling -------------------------------------------------


def test_the_leakage_in_words():
    found = audited(mechanism=bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]),
                    prior=bl.pmf([F(1, 4), F(3, 4)]))  # fmt: skip
    assert in_a_sentence(found) == (
        "Whatever anyone wants to know about the secret, the release multiplies their chance of "
        "guessing it right by e^epsilon = 2 at most (epsilon = 0.6931471806 nats, 1 bits)."
    )
    pml, pmc = places(found)
    assert pml.text == (
        "PML is largest at the outcome 0, which makes the secret 0 up to 2 times as probable."
    )
    # P(x=0 | y=1) = 1/16 / (10/16) = 1/10, from 1/4
    assert pmc.text.endswith("at the outcome 1, which makes the secret 0 up to 2.5 times less "
                             "probable.")  # fmt: skip
    assert "more than 3 times as probable, or as improbable" in ceiling(found)
    assert "Whatever anyone wants to know" in render(found)


@pytest.mark.slow
def test_an_estimate_is_one_in_every_sentence():
    line = {"secret": bl.Interval(0, 1), "outcome": bl.Reals()}
    noise = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, **line)
    uniform = bl.uniform(bl.Interval(0, 1))
    found = audited(uniform, mechanism=noise, options={"engine": "estimate"}, report=["pml", "ldp"])
    for text in (in_a_sentence(found), ceiling(found), *(place.text for place in places(found))):
        assert "estimate" in text
        assert not re.search("at most|up to|no event", text)


def test_where_a_posterior_leaks_most():
    """Outcome yes is the likelier one: no leaks most, about secret 0, under every draw."""
    found = audited(learnt())
    pml, pmc = places(found)
    assert (pml.outcome, pml.secret, pmc.outcome, pmc.secret) == ("“no”", "0", "“yes”", "0")
    assert "more than 3 times as probable" in ceiling(found)
    assert "posterior probability" not in ceiling(found)


def test_no_ceiling_where_draws_rule_out_different_secrets():
    """Secrets 0 and 1, or 1 and 2: LDP log 3 of each, and log 9 of a prior on all three."""
    rows = [[0.9, 0.1], [0.7, 0.3], [0.1, 0.9]]
    mech = bl.Mechanism.from_matrix(rows)
    p = np.zeros((2, 200, 3))
    p[:, ::2, :2], p[:, 1::2, 1:] = 0.5, 0.5
    draws = xr.Dataset({"p": (("chain", "draw", "x"), p)}, attrs={"exact_draws": 1})
    known = bl.priors.from_posterior(draws, lambda draw: bl.pmf(draw["p"], on=bl.Finite(3)))
    found = audited(known, mechanism=mech, report=["ldp"])
    assert found.tree[SAMPLING].attrs["same_secrets"] == 0 and ceiling(found) == ""
    assert audited(learnt(), report=["ldp"]).tree[SAMPLING].attrs["same_secrets"] == 1


def test_a_table_and_a_report_are_in_nats_whatever_is_printed():
    with bl.options(unit="bits"):
        found = audited()
        shown = found.table().loc["LDP", "bound"]
        assert shown == "1.098612289 nats" == found.table().loc["LDP", "bound"]
        assert "[1.5849625, 1.584962501] bits" in render(found)


def test_no_ceiling_is_said():
    found = audited(mechanism=bl.Mechanism.from_matrix([[0.5, 0.5], [0.0, 1.0]]))
    assert "There is no ceiling that holds for every prior" in ceiling(found)
    assert ceiling(audited(report=["pml"])) == ""


# -- digits ---------------------------------------------------------------------------------------

SIZES = st.floats(1e-9, 1e9)


@given(SIZES, st.floats(0, 1), st.sampled_from(["nats", "bits"]))
def test_printed_ends_are_outside(low, spread, unit):
    bound = Bound.certified(low, low * (1 + spread))
    text = printed(bound) if unit == "nats" else in_bits(bound)
    ends = text.strip("[]").split(", ")
    if len(ends) == 1:  # a number of ten digits in the enclosure, to which both ends round
        assert text == f"{float(text):.10g}"
    with mpmath.workdps(40):
        scale = mpmath.mpf(1) if unit == "nats" else mpmath.log(2)
        first, last = (mpmath.mpf(end) * scale for end in (ends[0], ends[-1]))
        if len(ends) == 1:
            room = mpmath.mpf("1e-30") * last  # of the product with log 2
            assert bound.lower <= first + room and last - room <= bound.upper
            return
        assert first <= bound.lower and bound.upper <= last
        moved = (last - first) - (bound.upper - bound.lower)
        assert moved <= max((bound.upper - bound.lower) / 5, mpmath.mpf("2.1e-9") * last)


@given(st.floats(-1e3, 1e3), st.floats(1e-14, 10))
def test_the_interval_of_a_printed_estimate_holds_the_estimate(value, error):
    bound = Bound.estimate(value, error)
    shown, half = (Decimal(part.strip("~")) for part in printed(bound).split(" +- "))
    slack = Decimal("1e-11") * (abs(shown) + half)
    assert shown - half <= Decimal(bound.lower) + slack
    assert shown + half >= Decimal(bound.upper) - slack


def test_printed_infinities():
    assert printed(Bound.exact(math.inf, math.inf)) == "inf"
    assert printed(Bound.undecided(1.23456, math.inf, reason="r")) == "[1.234, inf]"
    assert printed(Bound.estimate(math.inf, 0.0)) == "~inf"
    assert in_bits(Bound.exact(0.5, 0.5, units="probability")) == "-"
    assert printed(Bound.exact(0, 0)) == "0"
    assert short(-1.00001, "down") == "-1.001" and short(-1.00001, "up") == "-1"


# -- how the prior was learnt, and how the audit was made -----------------------------------------


def test_diagnostics_are_arvizs():
    import arviz_stats as azs

    draws = np.random.default_rng(1).normal(size=(4, 200, 2)) + np.arange(4)[:, None, None] / 4
    values = xr.DataArray(draws, dims=("chain", "draw", "k"))
    rhat, bulk, tail = diagnostics_of(values)
    ends = [azs.rhat(draws[..., k], chain_axis=0, draw_axis=1) for k in (0, 1)]
    assert rhat == pytest.approx(max(ends), rel=1e-9)
    sizes = [azs.ess(draws[..., k], chain_axis=0, draw_axis=1, method="bulk") for k in (0, 1)]
    assert bulk == pytest.approx(min(sizes), rel=1e-9) and 0 < tail < 800
    assert np.isnan(diagnostics_of(values[:1])).all() and np.isnan(diagnostics_of(values * 0)).all()


def test_the_report_says_how_the_prior_was_learnt():
    tree = bl.models.dirichlet_posterior([30, 70], draws=500, random_seed=1)
    tree["posterior"].attrs.clear()  # as if sampled
    stats = xr.Dataset({"diverging": (("chain", "draw"), np.arange(2000).reshape(4, 500) < 3)})
    tree["sample_stats"] = xr.DataTree(stats)
    study = bl.Study(
        title="T",
        mechanism=MECH,
        prior=lambda seed: tree,
        build=lambda draw: bl.pmf(draw["p"]),
        report=["pml"],
    )
    html = render(bl.load(bl.audit(study)))
    for words in ("2000 (4 chains of 500)", "2 values, 100 in total", "Worst R-hat", "<dd>3</dd>"):
        assert words in html, words
    exact = sampling(learnt())
    assert exact.attrs["exact"] and exact.attrs["divergences"] == -1
    assert "no chain to diagnose" in render(audited(learnt(), report=["pml"]))
    assert SAMPLING not in audited().tree.children


STUDY = """
import borel as bl
study = bl.Study(title="T", prior=bl.pmf([0.5, 0.5]), report=["pml"],
                 mechanism=bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]]))
"""


def test_the_date_is_that_of_the_figures(tmp_path, monkeypatch):
    from borel.audits.study import load_study

    path = tmp_path / "a study.py"
    path.write_text(STUDY)
    study = load_study(path)["study"]
    first = bl.audit(study, output=tmp_path / "out")
    attrs = first.attrs
    assert attrs["study_file"] == str(path) and attrs["command"] == f"borel audit '{path}'"
    assert {"borel", "Python", "numpy", "pymc", "arviz"} <= set(json.loads(attrs["versions"]))
    later = {**{n: attrs[n] for n in ("study_file", "command", "versions")}, "created_at": "later"}
    monkeypatch.setattr("borel.audits.audit.provenance", lambda *_, **__: later)
    again = bl.audit(study, output=tmp_path / "out", resume=True)
    assert again.attrs["created_at"] == attrs["created_at"]
    assert render(bl.load(again)) == render(bl.load(first)) == render(bl.load(tmp_path / "out"))
    anew = bl.audit(study, output=tmp_path / "out")
    assert anew.attrs["created_at"] == "later"
    assert bl.load(anew)["pml"] == bl.load(first)["pml"]


def test_a_level_that_is_met_is_not_printed_as_one_that_is_missed():
    """A mechanism of LDP log 3, and one of LDP 2: neither is reported as more in four digits."""
    reported = {}
    for size in ({"ratio": 3}, {"epsilon": 2}):
        mech = bl.mechanisms.randomized_response(k=2, **size)
        found = audited(mechanism=mech, report=["ldp"])
        (row,) = rows(found)
        reported[next(iter(size))] = row.rounded
        assert "3.001" not in render(found)
    assert reported == {"ratio": "[1.098612288, 1.098612289] nats", "epsilon": "2 nats"}
    assert "epsilon = 2.001" not in render(found) and "1.999" not in render(found)
