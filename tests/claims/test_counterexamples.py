"""The counterexamples of the journal version, by theorem and by the engine."""

import io
import math
from dataclasses import replace

import mpmath as mp
import pytest
from rich.console import Console

import borel as bl
from borel.claims import CLAIMS, Claim, agreement, render, reproduce
from borel.claims.counterexamples import example_8, example_9


@pytest.fixture(scope="module")
def countable():
    return example_8()


@pytest.fixture(scope="module")
def continuous():
    return example_9(eta=0.1, theta=1.0)


def named(rows, quantity):
    (row,) = [r for r in rows if r.quantity == quantity]
    return row


def test_example_8_agrees_wherever_the_engine_settles_it(countable):
    figures = [r for r in countable if " at " in r.quantity]
    assert len(figures) == 10
    for row in figures:
        assert row.agrees is True and row.closed_form.status == row.engine.status == "exact"
        assert row.engine.width < 1e-12
    for m in (1, 2, 5, 20):
        bound = named(countable, f"PML at {m}").closed_form
        assert bound.ratio == ((3**m + 1) // 2, (3**m + 1) // 2)
    assert named(countable, "PML at 0").closed_form.ratio == (1.5, 1.5)


@pytest.mark.truths
def test_example_9_is_certified_and_meets_the_theorem(continuous):
    figures = [r for r in continuous if " at " in r.quantity]
    assert len(figures) == 6
    with mp.workdps(30):
        e = mp.mpf(0.1)
        for row in figures:
            assert row.closed_form.status == "exact" and row.engine.status == "certified"
            assert row.agrees is True and row.engine.width <= 1e-8
            y = mp.mpf(float(row.quantity.split()[2]))
            top = 8 / (27 * y * (1 - y)) if y <= mp.mpf(2) / 3 else 2 * y
            truth = -mp.log(e) if row.quantity.startswith("PMC") else mp.log(e + (1 - e) * top)
            assert mp.mpf(row.closed_form.lower) <= truth <= mp.mpf(row.closed_form.upper)


@pytest.mark.cases("truths", "continuous")
@pytest.mark.parametrize("example", ["countable", "continuous"])
def test_the_infinity_is_by_theorem_and_the_engine_proves_it_too(example, request):
    rows = request.getfixturevalue(example)
    pml, pmc = named(rows, "ess sup PML"), named(rows, "ess sup PMC")
    assert pml.closed_form.lower == math.inf and pml.closed_form.status == "exact"
    assert pmc.closed_form.upper < math.inf and pmc.closed_form.status == "exact"
    assert pml.engine.lower == math.inf and pml.engine.proved and pml.agrees is True
    assert "PML is unbounded" in pml.engine.assumptions[-1]


@pytest.mark.cases("truths", "continuous")
@pytest.mark.parametrize("example", ["countable", "continuous"])
def test_both_theorems_of_the_preprint_are_refuted(example, request):
    rows = request.getfixturevalue(example)
    verdicts = [r for r in rows if "preprint" in r.source]
    assert [r.source[-9:] for r in verdicts] == ["Theorem 5", "Theorem 6"]
    assert all(r.note.startswith("refuted:") for r in verdicts)


def test_the_engine_alone_refutes_both_theorems_too(countable):
    with bl.options(closed_forms=False):
        rows = example_8(outcomes=[1])
    assert [r.note[:8] for r in rows if "preprint" in r.source] == ["refuted:"] * 2
    pmc = named(countable, "ess sup PMC").engine
    assert pmc.status == "exact" and pmc.width <= 1e-8
    assert mp.mpf(pmc.lower) <= mp.log(2) <= mp.mpf(pmc.upper)


def test_where_the_engine_does_not_settle_it_nothing_is_refuted(monkeypatch):
    from borel.engine.countable.engine import CountableEngine

    monkeypatch.setattr(CountableEngine, "beyond_head", lambda self, kind: math.inf)
    with bl.options(closed_forms=False):
        rows = example_8(outcomes=[1])
    # the engine proves that PML is unbounded, and not that PMC is bounded over countable Y
    assert [r.note[:12] for r in rows if "preprint" in r.source] == ["not refuted:"] * 2


def test_agreement():
    one, two = bl.Bound.exact(1, 1), bl.Bound.exact(2, 2)
    assert agreement(one, one) is True and agreement(one, two) is False
    assert agreement(one, bl.Bound.undecided(0, 3, reason="r")) is None
    assert agreement(one, bl.Bound.undecided(2, 3, reason="r")) is False


@pytest.mark.truths
def test_ids_are_unique_and_rows_are_claims(countable, continuous):
    rows = [*countable, *continuous]
    assert all(isinstance(r, Claim) for r in rows)
    assert len({r.id for r in rows}) == len(rows)


def test_render_says_undecided_and_shows_statuses(countable):
    out = io.StringIO()
    open_ = replace(countable[0], engine=bl.Bound.undecided(0, 3, reason="r"))
    Console(file=out, width=200).print(render([*countable, open_]))
    text = out.getvalue()
    assert "undecided" in text and "(exact)" in text and "refuted" in text


def test_an_unknown_claim_is_named():
    assert "counterexamples" in CLAIMS
    with pytest.raises(bl.InvalidInput, match="counterexamples"):
        reproduce("nothing")


@pytest.mark.slow
def test_every_row():
    rows = reproduce("counterexamples")
    assert not [r.id for r in rows if r.agrees is False]
    assert len({r.id for r in rows}) == len(rows)
    assert sum(r.note.startswith("refuted:") for r in rows) == 8
