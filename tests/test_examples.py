"""The examples run, warn of nothing, and reach the end of their checked statements."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import borel as bl
from borel.audits.study import load_study

pytest.importorskip("statsmodels")

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(p.stem for p in (ROOT / "examples").glob("*.py"))
# does it sample a posterior?
SLOW = {
    "affairs_survey": False,
    "doctor_visits": False,
    "envelopes": False,
    "food_share": True,
    "marriage_survey": False,
    "party_1996": False,
    "tv_news": False,
    "votes_1996": False,
}


def run(name):
    # a checkout that is not installed is found through the path this process found it on
    home = str(Path(bl.__file__).resolve().parent.parent)
    return subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{name}.py")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": home},
        check=False,
    )


def test_every_example_is_run():
    assert set(SLOW) == set(EXAMPLES)


@pytest.mark.parametrize(
    "name",
    ["affairs_survey", "doctor_visits", "food_share", "marriage_survey", "party_1996", "tv_news"],
)
def test_an_example_is_a_study_file(name):
    for study in load_study(ROOT / "examples" / f"{name}.py").values():
        assert study.about and study.guarantees


def test_the_prior_of_the_food_share_is_normalised():
    import numpy as np

    study = load_study(ROOT / "examples" / "food_share.py")["study"]
    prior = study.build({"mu": np.array([0.6, 0.7]), "sigma": np.array([0.1, 0.2])})
    x = (np.arange(20000) + 0.5) / 20000
    np.testing.assert_allclose(prior.density.linear(x).mean(axis=-1), 1, atol=1e-6)
    kernel = np.exp(study.mechanism.density.logarithm(x[:, None], np.array([0.0, 0.3, 1.0])))
    np.testing.assert_allclose(kernel.mean(axis=0), 1, atol=1e-6)


def rows(table):
    """The rows of the record, by the file they are about: figure, value with status, and why."""
    found = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| examples/"):
            found.setdefault(cells[0], []).append(cells[1:])
    return found


def test_the_record_has_no_estimate_and_says_why():
    table = rows((ROOT / "examples" / "figures.md").read_text(encoding="utf-8"))
    assert set(table) == {f"examples/{name}.py" for name in EXAMPLES}
    for name, figures in table.items():
        for figure, value, *why in figures:
            assert figure and "(estimate)" not in value, name
            proved = value.endswith(("(exact)", "(certified)"))
            assert proved or (why and why[0].strip(" |")), (name, figure)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, samples in SLOW.items() if not samples])
def test_the_record_is_what_the_examples_print(name):
    import example_figures

    table = (ROOT / "examples" / "figures.md").read_text(encoding="utf-8")
    for row in example_figures.rows(name, example_figures.run(name)):
        assert row in table


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if samples else ()) for n, samples in SLOW.items()],
)
def test_an_example_ends_well(name):
    done = run(name)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    table = (ROOT / "examples" / "figures.md").read_text(encoding="utf-8")
    assert f"examples/{name}.py" in table
    statuses = ("exact", "certified", "conditional", "statistical", "estimate", "undecided")
    said = [line for line in done.stdout.splitlines() if "nats" in line or "~" in line]
    assert said and all(any(f"({s}" in line for s in statuses) for line in said)
