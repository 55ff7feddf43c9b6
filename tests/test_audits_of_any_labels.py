"""Audits end with a result and a report, whatever the labels, the file and the terminal."""

import dataclasses
import datetime
import enum
import math
import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from typer.testing import CliRunner

import borel as bl
from borel.audits.serialisation import from_plain, to_plain
from borel.audits.store import read, write
from borel.cli import app
from borel.figures.leakage_plots import blank_axes, draw_curve

ROOT = Path(__file__).parents[1]


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Shade(enum.IntEnum):
    LIGHT = 1
    DARK = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Answer(enum.StrEnum):
    YES = "y"
    NO = "n"


@dataclasses.dataclass(frozen=True)
class Cell:
    row: int


ZONE = "Europe/Paris"
LABELS = {
    "intervals": [pd.Interval(0, 1), pd.Interval(1, 2.5, closed="left")],
    "timestamps": [pd.Timestamp("2020-01-01", tz=ZONE), pd.Timestamp("2020-07-02", tz=ZONE)],
    "nanoseconds": [pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.Timestamp("2020-01-02")],
    "dates": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
    "datetimes": [datetime.datetime(2020, 1, 1, 5), datetime.datetime(2020, 1, 1, 6)],
    "times": [datetime.time(1), datetime.time(2)],
    "spans": [datetime.timedelta(days=-1, microseconds=3), pd.Timedelta("1ns")],
    "periods": [pd.Period("2020-01", "M"), pd.Period("2020-02", "M")],
    "decimals": [Decimal("0.1"), Decimal("0.2")],
    "bytes": [b"a\x00", b"\xff"],
    "complex": [1j, 2 + 0.1j],
    "NULs": ["c", "a\x00b"],
    "surrogates": ["b", "\udc80"],
    "tuples": [(datetime.date(2020, 1, 1), "a"), (datetime.date(2020, 1, 2), b"b")],
    "dollars": ["$100_$", "$25k^"],
    "markup": ["<b>", "[red]"],
    "members of an Enum": list(Colour),
    "members of an IntEnum": [Shade.LIGHT, Shade.DARK],
    "Flags": [Rights.READ, Rights.READ | Rights.WRITE],
    "members of a StrEnum": list(Answer),
    "frozensets": [frozenset({1}), frozenset({Colour.RED})],
}


def release(labels):
    """Truth 2/3, the second label has probability 1/4: PML is log of (2/3) / (5/12) = 8/5."""
    on = bl.Finite(labels)
    matrix = [[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]]
    return bl.pmf([F(3, 4), F(1, 4)], on=on) * bl.Mechanism.from_matrix(
        matrix, secret=on, outcome=on
    )


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_come_back_as_they_were(labels):
    found = from_plain(to_plain(labels))
    assert found == labels
    assert [type(a) for a in found] == [type(a) for a in labels]
    assert [str(a) for a in found] == [str(a) for a in labels]


@pytest.mark.few(1)
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_an_audit_has_its_result_and_its_report(labels, tmp_path):
    joint = release(labels)
    study = bl.Study(
        title="T \udc80\x00 $x^", mechanism=joint.mechanism, prior=joint.prior, report=["pml"]
    )
    bl.audit(study, output=tmp_path)
    audit = bl.load(tmp_path)
    assert audit["pml"].ratio.upper == F(8, 5)
    assert audit["pml"].witness["y"] == labels[1]
    text = audit.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "could not be drawn" not in text and text.count("<svg") == 2


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", [Colour, Shade, Answer])
def test_the_worst_prior_over_members_of_an_enum_comes_back(kind, tmp_path):
    labels = list(kind)
    mech = release(labels).mechanism
    centre = bl.pmf([F(1, 2), F(1, 2)], on=bl.Finite(labels))
    bound = bl.pml(bl.priors.tv_ball(centre, F(1, 4)) * mech).sup()
    bl.audit(bl.priors.tv_ball(centre, F(1, 4)) * mech, output=tmp_path)
    back = bl.load(tmp_path)["pml"]
    assert back == bound
    worst = back.witness["prior"].on.labels
    assert list(worst) == labels and [type(a) for a in worst] == [kind, kind]


@pytest.mark.parametrize("kind", [Colour, Answer])
def test_coordinates_of_members_of_an_enum_come_back(kind, tmp_path):
    names = np.empty(2, dtype=object)
    names[:] = list(kind)
    write(xr.DataTree(xr.Dataset({"p": ("x", [0.5, 0.5])}, {"x": names})), tmp_path / "a.nc")
    assert [type(a) for a in read(tmp_path / "a.nc")["x"].values] == [kind, kind]


def test_members_of_an_enum_that_is_not_imported_come_back_as_text(tmp_path, monkeypatch):
    bl.audit(release(list(Colour)), output=tmp_path)
    monkeypatch.delitem(sys.modules, __name__)
    with pytest.warns(UserWarning, match=f"import {__name__} before the file is read"):
        assert bl.load(tmp_path)["pml"].witness["y"] == f"{__name__}.Colour.BLUE"


def test_it_is_said_that_labels_will_come_back_as_text(tmp_path):
    joint = release([(Cell(1), "a"), (Cell(2), "a")])
    with pytest.warns(UserWarning, match="come back from an audit as their text: take text"):
        bl.audit(joint, output=tmp_path)
    assert bl.load(tmp_path)["pml"].witness["y"] == ("Cell(row=2)", "a")
    plain = to_plain(joint.prior)
    assert plain == repr(joint.prior)  # no law on other labels


def test_labels_that_no_file_can_hold_are_refused_before_any_work(monkeypatch):
    joint = release([object(), object()])
    monkeypatch.setattr("borel.audits.audit.units", None)
    with pytest.raises(bl.InvalidInput, match=r"plain data, got object.*str\(label\)"):
        bl.audit(joint)


@pytest.mark.parametrize("label", ["$100_$", r"$\frac$", "$x^$", "$5 to $10"])
def test_a_dollar_on_a_plot_is_a_dollar(label):
    curve = bl.load(bl.audit(release([label, "other"]))).dataset("pml/curve")
    ax = draw_curve(curve, blank_axes())
    ax.figure.canvas.draw()
    ticks = [t for t in ax.get_xticklabels() if t.get_text() == label]
    assert len(ticks) == 1 and not ticks[0].get_parse_math()


def test_a_dollar_on_a_plot_of_priors_is_a_dollar():
    on = bl.Finite(["$x^$", "b"])
    centre = bl.pmf([F(1, 4), F(3, 4)], on=on)
    mech = bl.mechanisms.randomized_response(secret=on, epsilon=1.0)
    worst = bl.pml(bl.priors.tv_ball(centre, F(1, 20)) * mech).sup()
    plot = bl.plot_worst_prior(worst, centre, backend="matplotlib")
    figure = plot.viz["figure"].item()
    figure.canvas.draw()  # as mathematics it would raise
    ticks = [t.get_text() for ax in figure.axes for t in ax.get_xticklabels()]
    assert r"\$x^\$" in ticks  # which Matplotlib shows as $x^$


def test_a_plot_that_fails_does_not_lose_the_report(tmp_path, monkeypatch):
    def broken(curve, ax):
        raise RuntimeError("no ink")

    monkeypatch.setattr("borel.audits.report.draw_law", broken)
    audit = bl.load(bl.audit(release(["a", "b"])))
    text = audit.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "could not be drawn (RuntimeError: no ink)" in text
    assert text.count("<svg") == 2 and "1.6 times" in text


# -- draws ----------------------------------------------------------------------------------


class Calls:
    n = 0


def ragged():
    beta = np.empty(2, dtype=object)
    beta[:] = [[0.1, 1.0], np.array([0.1, 0.5, 1.0])]
    return beta


def test_the_draws_of_any_sampler_are_kept_and_resumed(tmp_path):
    calls = Calls()
    bins = list(pd.cut(pd.Series([1, 2, 3]), [0, 1, 2, 3]).cat.categories)

    def prior(seed):
        calls.n += 1
        p = np.random.default_rng(seed).dirichlet([6, 3, 1], size=(2, 100))
        posterior = xr.Dataset(
            {"p": (("chain", "draw", "x"), p)}, {"x": bins}, {"borel_draws": "exact"}
        )
        stats = xr.Dataset({"beta": ("chain", ragged())}, attrs={"tuned": True, "left": None})
        return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})

    study = bl.Study(
        title="T",
        mechanism=bl.mechanisms.randomized_response(secret=bins, epsilon=1.0),
        prior=prior,
        build=lambda draw: bl.pmf(draw["p"]),
        report=["ldp"],
    )
    first = bl.audit(study, output=tmp_path)
    kept = read(tmp_path / "prior.nc")
    assert kept["posterior"]["x"].values.tolist() == bins
    assert kept["sample_stats"]["beta"].values[0] == [0.1, 1.0]
    assert kept["sample_stats"]["beta"].values[1].tolist() == [0.1, 0.5, 1.0]
    second = bl.audit(study, output=tmp_path, resume=True)
    assert calls.n == 1
    assert dict(bl.load(first)) == dict(bl.load(second)) and bl.load(second)["ldp"].lower <= 1


def test_coordinates_of_every_sort_come_back(tmp_path):
    index = pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["u", "v"])
    data = xr.Dataset({"p": ("cell", [0.5, 0.5])}).assign_coords(
        xr.Coordinates.from_pandas_multiindex(index, "cell")
    )
    words = xr.Dataset({"w": ("i", ["a", "b\x00c"])}, {"i": pd.Categorical(["m", "n"])})
    write(xr.DataTree.from_dict({"/data": data, "/words": words}), tmp_path / "a.nc")
    back = read(tmp_path / "a.nc")
    assert back["data"]["cell"].values.tolist() == [("x", 1), ("y", 2)]
    assert back["words"]["w"].values.tolist() == ["a", "b\x00c"]
    assert back["words"]["i"].values.tolist() == ["m", "n"]


# -- the options that are said ---------------------------------------------------------------


def test_the_options_of_a_study_are_said_and_resumed(tmp_path):
    joint = release(["a", "b"])
    study = bl.Study(
        title="T",
        mechanism=joint.mechanism,
        prior=joint.prior,
        options={"tol": 1e-5, "budget": 7.0},
        seed=3,
        report=["pml"],
    )
    with bl.options(**study.settings) as used:
        pass
    tree = bl.audit(study, output=tmp_path)
    for audit in (bl.load(tree), bl.load(tmp_path)):
        assert audit.tree.attrs["options"] == repr(used)
        text = audit.report(tmp_path / "report.html").read_text(encoding="utf-8")
        assert "tol=1e-05, budget=7.0" in text and "seed=3" in text
    with pytest.raises(bl.InvalidInput, match=r"seed on its own.*write seed=5 beside"):
        bl.Study(title="T", mechanism=joint.mechanism, prior=joint.prior, options={"seed": 5})


# -- the command line -----------------------------------------------------------------------

STUDY = """
import borel as bl
on = bl.Finite(["a", "b"])
mech = bl.mechanisms.randomized_response(secret=on, epsilon=1.0)
study = bl.Study(title="{title}", mechanism=mech, prior=bl.pmf([0.5, 0.5], on=on), report=["pml"])
"""


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_a_byte_order_mark(tmp_path):
    (tmp_path / "bom.py").write_text(STUDY.format(title="T"), encoding="utf-8-sig")
    done = run("audit", tmp_path / "bom.py", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "bom-audit" / "report.html").exists()


def test_a_folder_is_no_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (".", "..", "/"):
        done = run("audit", name)
        assert done.exit_code == 2
        assert f"the study {name} cannot be read: it is not a file" in done.stderr


@pytest.mark.slow
def test_an_old_encoding_and_neighbours_named_as_modules_are(tmp_path):
    (tmp_path / "html.py").write_text("1 / 0")
    (tmp_path / "rich.py").write_text("1 / 0")
    (tmp_path / "beside.py").write_text("TITLE = 'A title with \N{GREEK SMALL LETTER EPSILON}'")
    text = "import beside\n" + STUDY.format(title="T").replace('"T"', "beside.TITLE")
    (tmp_path / "study.py").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        [sys.executable, "-m", "borel.cli", "audit", str(tmp_path / "study.py")],
        capture_output=True,
        env=environment,
        cwd=ROOT,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode("cp1252")
    # log of 2 e / (1 + e)
    level = 1 + math.log(2 / (1 + math.e))
    shown = done.stdout.decode("cp1252")
    assert r"A title with \u03b5" in shown and f"{level:.9f}"[:9] in shown
    assert (tmp_path / "study-audit" / "report.html").exists()


def test_the_table_is_shown_though_the_report_cannot_be_written(tmp_path, monkeypatch):
    def full(audit, path):
        raise OSError("the disk is full")

    monkeypatch.setattr("borel.audits.report.write_report", full)
    (tmp_path / "one.py").write_text(STUDY.format(title="T"))
    done = run("audit", tmp_path / "one.py")
    assert done.exit_code == 1 and "the disk is full" in done.stderr
    assert "exact" in done.output and "result.nc" in done.output
    assert "pml" in bl.load(tmp_path / "one-audit")
