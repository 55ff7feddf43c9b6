"""The report: one file that needs nothing else, escaped, complete."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.audits.report import _envelope, plots, render
from borel.audits.table import rows

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])


def audit(**changes):
    given = {"title": "A study", "mechanism": MECH, "prior": bl.pmf([0.25, 0.75])}
    return bl.load(bl.audit(bl.Study(**{**given, **changes})))


def posterior(**changes):
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    return audit(prior=learnt, guarantees=[bl.guarantees.PML(0.6)], **changes)


class Parsed(HTMLParser):
    """Elements with their attributes, whether they nest, and the text."""

    VOID = ("meta", "img", "br", "link")

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def continuous(**options):
    mech = bl.Mechanism(
        lambda y, x: np.exp(-2 * abs(y - x)), secret=bl.Interval(0, 1), outcome=bl.Reals()
    )
    return audit(
        mechanism=mech, prior=bl.uniform(bl.Interval(0, 1)), options={"budget": 5.0, **options}
    )


@pytest.mark.cases("slow", "continuous")
@pytest.mark.parametrize("make", [audit, posterior, continuous])
def test_the_report_is_self_contained(make):
    html = render(make())
    page = Parsed(html)
    assert page.open == []
    images = [attrs for tag, attrs in page.elements if tag == "svg"]
    assert len(images) >= 4
    for image in images:
        assert image["role"] == "img" and len(image["aria-label"]) > 20
    tags = {tag for tag, _ in page.elements}
    assert not {"script", "link", "iframe", "object", "img", "image"} & tags
    assert not re.search(r"https?:|//www|@import|url\((?!#)|xmlns", html)
    assert html.count("<style>") == 1  # a figure's own would rule the page
    assert len(html.encode()) < 2_000_000


@pytest.mark.parametrize("make", [audit, posterior])
def test_ids_are_unique_and_all_that_is_referred_to_is_there(make):
    html = render(make(report=["pml", "pmc", "envelope"]))
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids)) > 10
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', html))
    assert used == set(ids)


def test_plots_take_their_colours_from_the_page():
    """So that they can be read in dark mode, and in print: no ink of their own."""
    html = render(posterior())
    style, body = html.split("</style>")
    assert not re.search(
        r"#[0-9a-fA-F]{3,6}\b(?![^<]*url)", re.sub(r"(url\(|href=\")#[^\")]+", "", body)
    )
    for name in set(re.findall(r"var\((--[a-z]+)\)", body)):
        assert style.count(f"{name}:") == 2, name  # light and dark
    assert "font-family" not in body
    assert "@media screen and (prefers-color-scheme: dark)" in style  # paper stays light


def test_the_report_says_all_that_the_table_says():
    found = posterior()
    text = " ".join(" ".join(Parsed(render(found)).text).split())
    for _, row in found.table().iterrows():
        assert row["meaning"] in text
    for row in rows(found):
        assert row.rounded in text
        assert row.bits in ("-", "inf") or f"{row.bits} bits" in text
    for words in ("floats mean the normalised laws", "independent exact posterior draws"):
        assert words in text
    for words in (
        "A study",
        bl.__version__,
        "Options(",
        "95 % HDI, upper end",
        "P(PML(0.6) holds)",
    ):
        assert words in text


def test_reasons_and_unfinished_audits_are_shown():
    tree = bl.models.dirichlet_posterior([30, 70], draws=100, chains=1, random_seed=1)
    tree["posterior"].attrs.clear()
    learnt = bl.priors.from_posterior(tree, lambda draw: bl.pmf(draw["p"]))
    found = audit(prior=learnt)
    found.tree.attrs["complete"] = 0
    text = " ".join(Parsed(render(found)).text)
    assert "This audit is unfinished." in text
    assert "Why some figures are not proved" in text
    assert "one chain only, R-hat needs two or more" in text
    assert "nothing may be claimed" in text


def test_texts_of_the_study_are_escaped():
    evil = "<script>alert(1)</script>"
    mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], outcome=[evil, "b"], name=evil)
    page = Parsed(render(audit(title=evil, about=evil, mechanism=mech)))
    assert "script" not in {tag for tag, _ in page.elements}
    assert evil in " ".join(page.text)


def test_writing_the_report(tmp_path):
    path = audit().report(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(bl.InvalidInput, match=r"the report: expected a file that can be written"):
        audit().report(tmp_path / "no folder" / "report.html")
    for name in ("r.pdf", "r.tex", "r.html.gz"):
        with pytest.raises(bl.InvalidInput, match="a browser prints it as a PDF"):
            audit().report(tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.slow
def test_captions_of_estimates_say_that_they_prove_nothing():
    text = " ".join(Parsed(render(continuous(engine="estimate"))).text)
    assert "The band is an error estimate; it proves nothing." in text
    assert "a value with an error estimate; it proves nothing" in text


@pytest.mark.slow
def test_a_posterior_is_shown_with_epsilon_against_alpha():
    found = posterior()
    alts = [p.alt for p in plots(found)]
    captions = [p.caption for p in plots(found)]
    assert any("epsilon of PML against alpha (statistical)" in alt for alt in alts)
    assert any("leaves out the posterior probability alpha" in c for c in captions)
    assert any("Posterior of the epsilon of PML" in c for c in captions)


def test_a_report_over_a_posterior_starts_with_the_verdict():
    text = " ".join(" ".join(Parsed(render(posterior())).text).split())
    first, *rest = (
        text.index(w)
        for w in ("PML(0.6) ", "Whatever anyone", "What leaks most", "What it leaks")
        if w in text
    )
    assert [first, *rest] == sorted([first, *rest])
    assert "PML is pointwise maximal leakage" in text


def test_the_envelope_has_a_section():
    """Uniform bit, flipped with 1/4: one outcome leaks 3/2, and so does any delta."""
    found = audit(prior=bl.pmf([0.5, 0.5]), report=["envelope"])
    page = Parsed(render(found))
    text = " ".join(" ".join(page.text).split())
    assert "After any post-processing" in text
    ends = "[0.4054651081, 0.4054651082] [0.5849625007, 0.5849625008]"
    assert f"0.01 {ends} certified 0.05 [0.4054651081" in text
    (image,) = [attrs for tag, attrs in page.elements if tag == "svg"]
    assert image["aria-label"] == "Plot: Envelope of PML (certified); delta against epsilon (nats)."
    assert "After any post-processing" not in " ".join(Parsed(render(audit())).text)


def test_an_envelope_that_is_an_estimate_is_printed_as_one_in_nats_and_bits():
    found = audit(prior=bl.pmf([0.5, 0.5]), report=["envelope"])
    curve = found.dataset("envelope/curve").load()
    for name, value in {"lower": 0.49, "upper": 0.51, "status": "estimate"}.items():
        curve[name] = curve[name].copy(data=np.full(curve[name].shape, value))
    found.tree["envelope/curve"] = xr.DataTree(curve)
    rows = _envelope(found).rows
    assert {row[1:] for row in rows} == {("~0.5 +- 0.01", "~0.72 +- 0.02", "estimate")}


@pytest.mark.slow
def test_what_the_envelope_leaves_out_is_said():
    two = bl.Finite([0, 1])
    found = audit(
        mechanism=bl.mechanisms.laplace(b=1.0, secret=two),
        prior=bl.pmf([0.5, 0.5], on=two),
        report=["envelope"],
    )
    curve = found.dataset("envelope/curve")
    assert curve.curve.values.tolist() == ["envelope"] and curve.sizes["delta"] == 5
    found.tree["envelope/curve"].attrs["left_out"] = "binary: <slow>"
    assert "Not drawn: binary: <slow>" in " ".join(Parsed(render(bl.load(found.tree))).text)
