"""No figure moves unseen: those of the list are compared with the record in ``data``.

`figures` says how to record them anew; what may change, and why, is in ``data/figures_changes.txt``.
"""

import copy
import math
from functools import cache

import figures
import pytest

RECORD = figures.HERE / "data" / "figures.json"
PARTS = 12


@cache
def recorded():
    return figures.read(RECORD)


@cache
def listed():
    from figure_list import FIGURES

    return list(FIGURES)


def lines_of(name, record):
    """Return the lines of one figure: one, or one for each part of what it returns."""
    return {k: v for k, v in record.items() if k == name or k.startswith(f"{name} [")}


def changes(names):
    """Compute some figures, and return what is not as recorded."""
    was, now, truths = {}, {}, {}
    for name in names:
        lines, truth, _ = figures.computed(name)
        was |= lines_of(name, recorded()["figures"])
        now |= lines
        truths |= truth
    rules = figures.accepted()
    found = figures.compare({"figures": was, "truths": {}}, {"figures": now, "truths": truths})
    return [change for change in found if not figures.allowed(change, rules)]


def test_a_sample_of_the_figures_is_as_recorded():
    found = changes(SAMPLE)
    assert not found, figures.report(found)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_every_figure_is_as_recorded(part):
    found = changes(figures.chosen(listed(), f"{part}/{PARTS}", "*"))
    assert not found, figures.report(found)


def test_the_record_holds_the_list_and_no_more():
    lines = recorded()["figures"]
    missing = [name for name in listed() if not lines_of(name, lines)]
    names = set(listed())
    extra = [k for k in lines if k not in names and k.rpartition(" [")[0] not in names]
    extra = [k for k in extra if not any(k.startswith(f"{name} [") for name in names)]
    assert (missing, extra) == ([], [])


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
        (["", "", "error: NotYet: gone", "text"], ["status", "units"]),
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
    made = copy.deepcopy(recorded())
    name = SAMPLE[0]
    high = float.fromhex(made["figures"][name][1])
    made["figures"][name][:2] = [(high + 1e-9).hex(), (high + 2e-9).hex()]
    monkeypatch.setitem(globals(), "recorded", lambda: made)
    assert [change[:2] for change in changes([name])] == [(figures.FALSE, name)]
