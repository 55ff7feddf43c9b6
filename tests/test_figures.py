"""No figure moves unseen: those of the list are compared with the record in ``data``.

`figures` says how to record them anew; ``data/figures_changes.txt`` lists what may change, and why.
"""

import copy
import math
from functools import cache

import figures
import pytest

RECORD = figures.HERE / "data" / "figures.json"
PARTS = 12

SAMPLE = (
    "Clayton, theta = 0.5: pml at 0.03",
    "Clayton, theta = 5: pmc sup",
    "Clayton: information density",
    "Countable(): pml quantile 0.5",
    "Fractions: privacy profile, beyond",
    "Fractions: ratio of the supremum",
    "Fractions, satisfies: chi-square",
    "floats: psi_1",
    "floats: lip",
    "floats, satisfies: max-information",
    "DataArray: guesswork at",
    "DataArray: envelope, upper bound",
    "randomised response: envelope, quantiles",
    "randomised response, no closed forms: pml sup",
    "post-processed: alip",
    "two releases: maximal leakage",
    "extremal: pmc sup",
    "Laplace on a uniform: pml at -1.0",
    "LaplaceUniform(b=0.5, c=-1, d=1): pmc at -1.0",
    "GaussianNormal(sigma=1, m=0, s=1): pml exp_mean",
    "GaussianUniform(sigma=2.5, c=0.1, d=3.0): pmc at 30.0",
    "StudentUniform(nu=25.5, scale=0.2, c=0, d=1): pml at 0.1",
    "Cauchy on a uniform: pmc at 0.0",
    "Gaussian on a Beta: pml at 0.0",
    "UniformBinomial(n=9, lower=0.1, upper=0.9): pml at 4",
    "UniformBinomial(n=4, lower=0.3, upper=0.35): pmc mean",
    "mean of 3: pml at 0.0",
    "Laplace on a bit: pml tail 0.25",
    "Laplace on a bit, satisfies: PML",
    "Cauchy on three: pml at 0.5",
    "toss: pmc at 1",
    "Poisson of a part: pmc at 0",
    "mixed secrets: pml at 0.5",
    "family of Laplace",
    "curve of Laplace",
    "over l1 ball: largest mean",
    "over kl ball, from: least mean",
    "over hull: mutual information",
    "over counts: largest mean",
    "over tv ball: noise, pml at 0.5",
    "over union: pml at 1",
    "over family: pml at 1",
    "over densities, band: pml at 0.5",
    "learnt: pml sup: quantile",
    "learnt: mean prior",
    "learnt, normal: pml",
    "a million: pmc sup",
    "five entries: pmc cdf 1",
    "parity: differential privacy",
    "divergence of normals: renyi 2",
    "divergence of Laplace: max",
    "divergence of floats: renyi 1",
    "divergence of Gamma: max, delta",
    "profile of Gauss: delta at 0",
    "profile of response: delta",
    "adversaries: function leakage, pml",
    "adversaries: witness of pmc, Laplace: verdict",
    "gain, metric: leakage at 0",
    "cost, reciprocal: posterior",
    "guarantees, post-processed",
    "guarantees, LDP",
    "envelope bounds: loss tail",
    "claims, envelopes, example_2",
    "example, party: guarantees",
    "example, Figure 2(b): bounds",
)
"""Figures of every kind that take milliseconds."""


@cache
def recorded():
    return figures.read(RECORD)


@cache
def listed():
    from figure_list import FIGURES

    return list(FIGURES)


@cache
def recorded_lines():
    """Return the recorded lines of each figure: one for each part of what it returns."""
    lines = {name: {} for name in listed()}
    for key, line in recorded()["figures"].items():
        name = key
        while name and name not in lines:
            name = name.rpartition(" [")[0]
        lines.setdefault(name or key, {})[key] = line
    return lines


def changes(names, budget=figures.BUDGET):
    """Compute some figures, and return what is not as recorded."""
    was, now, truths = {}, {}, {}
    for name in names:
        lines, truth, _ = figures.computed(name, budget=budget)
        was |= recorded_lines()[name]
        now |= lines
        truths |= truth
    rules = figures.accepted()
    found = figures.compare({"figures": was, "truths": {}}, {"figures": now, "truths": truths})
    return [change for change in found if not figures.allowed(change, rules)]


def test_a_sample_of_the_figures_is_as_recorded():
    found = changes(SAMPLE, budget=60)  # they take none of it, unless the machine is busy
    assert not found, figures.report(found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_every_figure_is_as_recorded(part):
    found = changes(figures.chosen(listed(), f"{part}/{PARTS}", "*"))
    assert not found, figures.report(found)


def test_the_record_holds_the_list_and_no_more():
    lines = recorded_lines()
    assert list(lines) == listed()
    assert [name for name, own in lines.items() if not own] == []


def test_every_truth_lies_in_what_is_recorded():
    made = recorded()
    lines, truths = made["figures"], made["truths"]
    assert len(truths) > 300
    assert [n for n in truths if figures.untrue(lines[n], truths[n])] == []


# -- how two records are compared ------------------------------------------------------------------

ONE = [(0.5).hex(), (0.75).hex(), "certified", "nats"]


def kinds(new, old=ONE, truth=None):
    truths = {"a": [truth.hex(), truth.hex()]} if truth is not None else {}
    was = {"figures": {"a": old} if old else {}, "truths": {}}
    now = {"figures": {"a": new} if new else {}, "truths": truths}
    return [kind for kind, *_ in figures.compare(was, now)]


def line(low, high, *rest):
    return [low.hex(), high.hex(), *(rest or ONE[2:])]


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (ONE, []),
        (line(0.75, 1.0), []),  # they touch
        (line(0.76, 0.8), [figures.FALSE]),
        (line(0.25, 0.49), [figures.FALSE]),
        (line(math.inf, math.inf), [figures.FALSE]),
        (line(0.76, 0.8, "estimate", "nats"), [figures.KINDS[2], "status"]),
        (line(0.5, 0.7525), []),
        (line(0.5, 0.7526), ["wider"]),
        (line(0.5, math.inf), ["wider"]),
        (line(0.5, 0.8, "certified", "nats", "cut"), []),
        (line(0.76, 0.8, "certified", "nats", "cut"), [figures.FALSE]),
        (line(0.5, 0.75, "exact", "nats"), ["status"]),
        (line(0.5, 0.75, "certified", "ratio"), ["units"]),
        (["", "", "error: NotYet: gone", "text"], ["status"]),
        (["", "", "error: TimeoutError: late", "text", "cut"], ["status"]),
        (None, ["gone"]),
    ],
)
def test_a_change_is_seen(new, expected):
    assert kinds(new) == expected


def test_a_rounding_is_no_change_and_a_truth_outside_is_one():
    point = line(0.5, 0.5)
    assert kinds(line(0.5, math.nextafter(0.5, 1)), point) == []
    assert kinds(line(0.5, 0.5 + 2**-40), point) == ["wider"]
    assert kinds(ONE, truth=0.6) == [] and kinds(ONE, truth=0.8) == [figures.UNTRUE]
    assert kinds(ONE, old=None) == ["new"]
    assert kinds(line(math.inf, math.inf), line(math.inf, math.inf)) == []
    assert kinds(line(5.0, math.inf), line(math.inf, math.inf)) == ["wider"]
    words = ["", "", "error: NotYet: in other words", "text"]
    assert kinds(words, ["", "", "error: NotYet: in words", "text"]) == []


def test_what_is_listed_with_a_reason_may_change_but_nothing_false(tmp_path):
    path = tmp_path / "changes.txt"
    path.write_text(
        "# why\nstatus | a* | certified -> exact | a closed form\ngone | b | | retired\n"
    )
    rules = figures.accepted(path)
    exact = line(0.5, 0.75, "exact", "nats")
    assert figures.allowed(("status", "a: sup", ONE, exact), rules)
    assert not figures.allowed(("status", "a: sup", exact, ONE), rules)
    assert not figures.allowed(("status", "b", ONE, exact), rules)
    assert figures.allowed(("gone", "b", ONE, None), rules)
    for wrong in ("gone | b | |", f"{figures.FALSE} | a | | never", "gone, b"):
        path.write_text(wrong)
        with pytest.raises(ValueError, match="line 1: expected"):
            figures.accepted(path)


def test_a_wrong_record_is_found(monkeypatch):
    name = SAMPLE[0]
    (wrong,) = copy.deepcopy(recorded_lines()[name]).values()
    high = float.fromhex(wrong[1])
    wrong[:2] = [(high + 1e-9).hex(), (high + 2e-9).hex()]
    monkeypatch.setitem(recorded_lines(), name, {name: wrong})
    assert [change[:2] for change in changes([name])] == [(figures.FALSE, name)]
