"""What is said where the pointer rests on a curve: enclosures, at the places that are drawn."""

from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.audits.hover import alpha_points, curve_points, law_points, leakage_points
from borel.audits.plots.posterior_curves import alpha_curve
from borel.audits.plots.svg import inline
from borel.audits.report import render
from borel.figures.leakage_curves import law_curve, leakage_curve
from borel.figures.leakage_plots import blank_axes, draw_curve, draw_law

MECH = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], outcome=["a<b & $c$", "é\n"])
JOINT = bl.pmf([0.25, 0.75]) * MECH


class Points(HTMLParser):
    """The circles of a page: centre, and title."""

    def __init__(self, html):
        super().__init__()
        self.circles, self.reading = [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "circle":
            at = dict(attrs)
            self.circles.append([float(at["cx"]), float(at["cy"]), ""])
        self.reading = tag == "title" and bool(self.circles)

    def handle_endtag(self, tag):
        self.reading = False

    def handle_data(self, data):
        if self.reading:
            self.circles[-1][2] += data


def test_a_point_says_its_label_its_enclosure_and_its_status():
    curve = leakage_curve(bl.pml(JOINT))
    said = [text for *_, text in leakage_points(curve)]
    assert said[0].startswith("y = a<b & $c$: PML ") and said[0].endswith("(exact)")
    ax = draw_curve(curve, blank_axes())
    shown = Points(inline(ax, "alt", "p", leakage_points(curve)))
    assert [text for *_, text in shown.circles] == said


def test_circles_lie_on_the_markers_that_are_drawn():
    curve = leakage_curve(bl.pml(JOINT))
    ax = draw_curve(curve, blank_axes())
    svg = inline(ax, "alt", "p", leakage_points(curve))
    circles = Points(svg).circles
    (markers,) = [line for line in ax.lines if line.get_marker() == "o"]
    drawn = ax.transData.transform(np.column_stack(markers.get_data()))
    height = 72 * ax.figure.get_figheight()
    for (x, y, _), (across, up) in zip(circles, drawn * 72 / ax.figure.dpi, strict=True):
        assert x == pytest.approx(across, abs=0.06) and y == pytest.approx(height - up, abs=0.06)
        assert f'x="{x:.0f}' in svg or f'x="{int(x)}' in svg  # where Matplotlib put its marker


def test_ends_that_are_said_are_outside_those_that_are_known():
    rng = np.random.default_rng(1)
    for _ in range(200):
        low = float(rng.exponential() * 10.0 ** rng.integers(-12, 6))
        high = low + float(rng.choice([0.0, 1e-16, 1e-9, 1e-3, 2.0, np.inf])) * low
        ends = {"lower": ("t", [low]), "upper": ("t", [high]), "status": ("t", ["certified"])}
        ((_, y, text),) = curve_points(xr.Dataset(ends, {"t": [0.1 + 0.2]}), "t", "PML")
        assert text.startswith("t near 0.3: PML ")
        said = text.removeprefix("t near 0.3: PML ").removesuffix(" (certified)")
        if said.startswith("="):
            assert said == f"= {low:.10g}" == f"= {high:.10g}"
            continue
        first, last = (float(s) for s in said.removeprefix("in [").removesuffix("]").split(","))
        assert first <= low and high <= last and low <= y <= high


def test_estimates_and_quantiles_are_never_called_enclosures():
    ends = {"lower": ("y", [0.25]), "upper": ("y", [0.5]), "status": ("y", ["estimate"])}
    ((*_, text),) = curve_points(xr.Dataset(ends, {"y": [1.0]}), "y", "PML")
    assert "~" in text and "in [" not in text and text.endswith("(estimate)")
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    for *_, text in leakage_points(leakage_curve(bl.pml(learnt * MECH), prob=0.9)):
        assert "PML ~" in text and "90 % of the draws in ~[" in text
        assert text.endswith("(quantiles over the posterior draws)")
    curve = alpha_curve(bl.pml(learnt * MECH).sup())
    for (x, y, text), a, high in zip(
        alpha_points(curve), curve["alpha"].values, curve["upper"].values, strict=True
    ):
        assert (x, y) == (a, high) and text.endswith("(statistical)")


def test_infinite_values_are_said_at_their_arrow_and_rows_are_turned():
    labels = [f"an outcome with a long name, number {i}" for i in range(4)]
    matrix = [[0.4, 0.3, 0.2, 0.1], [0.0, 0.3, 0.3, 0.4]]
    curve = leakage_curve(
        bl.pmc(bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(matrix, outcome=labels))
    )
    found = leakage_points(curve)
    assert [y for _, y, _ in found] == [0, 1, 2, 3] and found[0][0] == np.inf
    assert found[0][2] == f"y = {labels[0]}: PMC = inf (exact)"
    assert len(Points(inline(draw_curve(curve, blank_axes()), "alt", "p", found)).circles) == 4
    law = law_curve(bl.pmc(bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(matrix)))
    circles = Points(inline(draw_law(law, blank_axes()), "alt", "p", law_points(law))).circles
    assert len(circles) == law.sizes["t"]


def test_every_curve_of_a_report_has_points():
    found = bl.load(
        bl.audit(
            bl.Study(
                title="t", mechanism=MECH, prior=bl.pmf([0.25, 0.75]), report=["pml", "envelope"]
            )
        )
    )
    said = [text for *_, text in Points(render(found)).circles]
    for start in ("y = ", "t = 0: P{PML <= t}", "delta = 0.1: envelope"):
        assert any(text.startswith(start) for text in said), start
    assert all("(" in text for text in said)
