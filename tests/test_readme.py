"""Programs of the README and of the tour print what is shown there; commands name what exists."""

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README, TOUR = "README.md", "docs/tour.md"
PARTS = ["", ": measures", ": adversaries", ": guarantees", ": envelopes", ": sets"]


def block(marker, page=TOUR):
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)```", text, re.DOTALL)
    assert found, marker
    return found.group(1)


def printed_by(program, tmp_path, *options):
    assert len([line for line in program.splitlines() if line.strip()]) <= 12
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, *options, str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env=_environment(),
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.few(1)
@pytest.mark.cases("slow", "")
@pytest.mark.parametrize("part", PARTS)
def test_the_programs_print_what_the_tour_shows(tmp_path, part):
    found = printed_by(block("program" + part), tmp_path, "-W", "error")
    assert found == block("output" + part)


def test_the_program_with_a_model_prints_what_the_readme_shows(tmp_path):
    """Draws differ from one version of PyMC, and one processor, to the next: by a third digit."""
    number = re.compile(r"\d+\.\d+")
    found, shown = printed_by(block("program", README), tmp_path), block("output", README)
    assert number.sub("", found) == number.sub("", shown)
    for mine, its in zip(number.findall(found), number.findall(shown), strict=True):
        assert abs(Fraction(mine) - Fraction(its)) <= Fraction(1, 100)


@pytest.mark.proofs
@pytest.mark.parametrize(
    ("part", "least"),
    [
        ("", 3),
        (": measures", 4),
        (": adversaries", 1),
        (": guarantees", 1),
        (": envelopes", 6),
        (": sets", 10),
    ],
)
def test_certificates_of_its_figures_are_verified(monkeypatch, capsys, part, least):
    """Of every figure that a program asks for: where there is a rule, the checker follows it."""
    from borel.checker import verify
    from borel.errors import NotYet
    from borel.probability.bound import Bound

    asked, answering = [], Bound.answering

    def recorded(bound, question):
        found = answering(bound, question)
        asked.append(found)
        return found

    with monkeypatch.context() as recording:
        recording.setattr(Bound, "answering", recorded)
        exec(compile(block("program" + part), "README", "exec"), {})
    made = []
    for found in {id(bound): bound for bound in asked}.values():
        try:
            made.append(found.certify())
        except NotYet as error:
            assert "rule" in error.missing or "anything to verify" in error.missing
            assert "that the checker takes" not in error.missing
    for bound in made:
        assert bound.proved or bound.status == "statistical"
        assert verify(bound.certificate).figure == bound.certificate["figure"]
    assert len(made) >= least
    capsys.readouterr()


def _environment():
    import os

    import borel

    # a checkout that is not installed is found through the path this process found it on
    return os.environ | {"PYTHONPATH": str(Path(borel.__file__).resolve().parent.parent)}


def test_the_commands_name_what_exists():
    audit = block("command: audit", README)
    assert (ROOT / re.search(r"borel audit (\S+)", audit).group(1)).is_file()
    assert "[test]" in block("command: test", README)
