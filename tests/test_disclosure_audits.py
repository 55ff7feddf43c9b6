"""Attributes in audits: the verdict, the table, the section of the report, what is resumed."""

import math
import warnings
from fractions import Fraction as F
from html.parser import HTMLParser

import numpy as np
import pytest

import borel as bl
from borel.audits.audit import ResumeWarning
from borel.audits.report import render
from borel.audits.verification import verify

ROWS = {"smokes": ["yes", "no", "no", "no", "yes", "no"], "ill": list("nnyynn")}
PERSON = bl.table(ROWS, ["smokes", "ill"])
TELLS = bl.Mechanism.from_matrix(
    [[F(int(x[0] == v)) for v in ("no", "yes")] for x in PERSON.on.labels],
    secret=PERSON.on,
    outcome=["no", "yes"],
)
ATTRIBUTES = {
    "smokes": "smokes",
    "ill": lambda x: x[1],
    "the <b>person</b>": None,
    "a constant": lambda x: 1,
    "a coin": bl.Mechanism.from_matrix([[F(1, 2), F(1, 2)]] * 4, secret=PERSON.on),
}


def study(**changes):
    given = {"title": "T", "mechanism": TELLS, "prior": PERSON, "report": ["pml"]}
    return bl.Study(**{**given, "attributes": ATTRIBUTES, **changes})


def text_of(html):
    """The words of a page."""
    found = []
    parser = HTMLParser()
    parser.handle_data = found.append
    parser.feed(html)
    return " ".join(" ".join(found).split())


def meanings(audit):
    table = audit.table()
    return {name.removeprefix("attribute "): said for name, said in table["meaning"].items()}


def test_the_table_says_the_verdict_first(tmp_path):
    audit = bl.load(bl.audit(study()))
    said = meanings(audit)
    assert said["“smokes”"] == "Disclosed: the outcome “no” leaves no doubt that it is “no”."
    # of the four who do not smoke two are ill; before, two of six are
    assert said["“ill”"] == "Disclosed: the outcome “yes” leaves no doubt that it is “n”."
    # two of six are ("no", "n"), and two of the four who do not smoke
    assert (
        said["“the <b>person</b>”"]
        == "Disclosed: the outcome “yes” leaves no doubt that it is ('yes', 'n')."
    )
    assert said["“a constant”"] == "Disclosed: it is the same whatever the secret."
    assert audit["disclosure/smokes"].upper == 0
    assert audit["disclosure/smokes/entropy"].ratio == (F(3, 2),) * 2
    assert audit["disclosure/smokes/line"].ratio == (3, 3)


def test_the_best_guess_before_and_after():
    prior = bl.pmf([F(1, 2), F(1, 4), F(1, 4)])
    mech = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]])
    audit = bl.load(bl.audit(study(mechanism=mech, prior=prior, attributes={"zero": {0}})))
    # P(0 | 0) = (3/8) / (9/16) = 2/3, P(not 0 | 1) = (5/16) / (7/16) = 5/7
    assert audit["disclosure/zero"].ratio == (F(7, 5),) * 2
    assert meanings(audit)["“zero”"] == (
        "Not disclosed: after no outcome is the best guess of it right with probability above "
        "0.7143 (before: 0.5)."
    )


def test_the_report_has_a_section_and_the_verdict_at_its_head():
    html = render(bl.load(bl.audit(study())))
    assert "the &lt;b&gt;person&lt;/b&gt;" in html and "<b>person" not in html
    words = text_of(html)
    head, _, section = words.partition("What this release can disclose")
    disclosed = "Disclosed: “smokes”, “ill”, “the <b>person</b>”, “a constant”."
    assert f"{disclosed} Not disclosed: “a coin”." in head
    assert "the outcome “no” leaves no doubt that it is “no”" in section
    assert "The largest PML is [1.098612288, 1.098612289] (exact)" in section
    assert "What this release can disclose" not in text_of(
        render(bl.load(bl.audit(study(attributes={}))))
    )


def test_over_a_set_of_priors_with_confidence():
    noisy = bl.mechanisms.randomized_response(secret=["no", "yes"], ratio=2) @ TELLS
    learnt = bl.table(ROWS, ["smokes", "ill"], confidence=0.9)
    audit = bl.load(bl.audit(study(prior=learnt, mechanism=noisy)))
    row = audit.table().loc["attribute “smokes”"]
    assert row["status"] == "statistical"
    assert row["meaning"].startswith("Not disclosed: whatever the prior of the set, after no")
    assert row["meaning"].endswith("(confidence 90 % over the sample).")
    words = text_of(render(audit))
    assert "Not disclosed, with confidence 90 %: “smokes”, “ill”" in words
    assert "Disclosed: “a constant”." in words, "whatever the sample"


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_no_certificate_of_an_audit_with_attributes_is_refused(confidence, tmp_path):
    noisy = bl.mechanisms.randomized_response(secret=["no", "yes"], ratio=2) @ TELLS
    learnt = bl.table(ROWS, ["smokes", "ill"], confidence=confidence)
    ratios = [bl.guarantees.PML(ratio=2), bl.guarantees.LDP(ratio=2)]
    asked = study(prior=learnt, mechanism=noisy, guarantees=ratios)
    bl.audit(asked, output=tmp_path, certificates=True)
    found = {row.name: row.outcome for row in verify(tmp_path)}
    assert "refused" not in found.values()
    lines = [name for name in found if name.endswith("/line") or name.startswith("guarantees/")]
    # over a set that was learnt, LDP over all secrets proves both: it is not the set's own figure
    others = {"none"} if confidence else {"verified"}
    assert len(lines) == 7
    assert {found[name] for name in lines if name.endswith("/line")} == {"verified"}
    assert {found[name] for name in lines if name.startswith("guarantees/")} == others


@pytest.mark.slow
def test_secrets_on_a_line_and_what_is_not_decided():
    on = bl.Interval(0, 1)
    attributes = {"high": lambda x: x > 0.75, "x": None, "none": lambda x: x > 2}
    given = {"prior": bl.uniform(on), "attributes": attributes}
    audit = bl.load(bl.audit(study(mechanism=bl.mechanisms.laplace(b=1.0, secret=on), **given)))
    found = audit["disclosure/high"]
    # P(X > 3/4 | y) is largest far out: (e - e^(3/4)) / (e - 1) = 0.3499, of the others 0.8546
    far = (math.exp(0.75) - 1) / (math.e - 1), (1 - math.exp(-0.75)) / (1 - math.exp(-1))
    assert found.status == "certified" and 0 < found.lower <= -math.log(max(far)) <= found.upper
    said = meanings(audit)
    assert said["“high”"].startswith("Not disclosed: after no outcome")
    assert said["“x”"].startswith("Not disclosed: ") and audit["disclosure/x"].lower == math.inf
    assert said["“none”"].startswith("Not decided: whether the attribute is constant")
    assert "Not decided: “none”" in text_of(render(audit))


@pytest.mark.slow
def test_under_a_posterior_it_is_not_in_this_version():
    draws = bl.models.dirichlet_posterior([30, 70], draws=50, random_seed=1)
    learnt = bl.priors.from_posterior(draws, lambda draw: bl.pmf(draw["p"]))
    coin = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    audit = bl.load(bl.audit(study(prior=learnt, mechanism=coin, attributes={"one": {1}})))
    assert audit.table().loc["attribute “one”", "status"] == "not in this version"
    assert "a posterior over priors" in audit.missing["disclosure/one"]
    assert "Not decided: attribute “one”." in text_of(render(audit))


def test_a_saved_result_is_resumed_unless_an_attribute_changed(tmp_path):
    given = {"attributes": {"smokes": "smokes", "ill": {("no", "n"), ("yes", "n")}}}
    first = bl.audit(study(**given), output=tmp_path, certificates=True)
    outcomes = {found.name: found.outcome for found in verify(tmp_path / "result.nc")}
    assert outcomes["pml"] == "verified" and outcomes["disclosure/smokes"] == "none"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = bl.audit(study(**given), output=tmp_path, resume=True, certificates=True)
    assert same.attrs["created_at"] == first.attrs["created_at"]
    assert bl.load(same)["disclosure/ill"] == bl.load(first)["disclosure/ill"]
    other = {"attributes": {"smokes": "smokes", "ill": lambda x: x}}
    with pytest.warns(ResumeWarning, match="the attributes changed"):
        changed = bl.audit(study(**other), output=tmp_path, resume=True, certificates=True)
    assert bl.load(first)["disclosure/ill/entropy"].ratio == (F(3, 2),) * 2
    assert bl.load(changed)["disclosure/ill/entropy"].ratio == (F(3),) * 2


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        (["smokes"], "attributes={name: attribute"),
        ({1: "smokes"}, "attributes={name: attribute"),
        ({"a b": None, "a-b": "ill"}, "differ in them"),
        ({"?": None}, "have letters"),
        ({"..": None}, "have letters"),
    ],
)
def test_bad_attributes_are_refused_by_the_study(attributes, says):
    with pytest.raises(bl.InvalidInput, match=says):
        study(attributes=attributes)


def test_names_in_any_script():
    audit = bl.load(bl.audit(study(attributes={"fume?": "smokes", "πνεύμα": "ill"})))
    assert {"disclosure/fume", "disclosure/πνεύμα"} <= set(audit)
    assert np.isfinite(audit["disclosure/πνεύμα/entropy"].upper)
