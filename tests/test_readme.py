"""The README's program prints what the README says, and its commands name things that exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def block(marker):
    found = re.search(rf"<!-- {marker} -->\n```\w*\n(.*?)```", TEXT, re.DOTALL)
    assert found, marker
    return found.group(1)


@pytest.mark.cases("slow", "")
@pytest.mark.parametrize(
    "part", ["", ": measures", ": adversaries", ": guarantees", ": envelopes", ": sets"]
)
def test_the_programs_print_what_the_readme_shows(tmp_path, part):
    program = block("program" + part)
    assert len([line for line in program.splitlines() if line.strip()]) <= 12
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env=_environment(),
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == block("output" + part)


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
    audit = block("command: audit")
    assert (ROOT / re.search(r"borel audit (\S+)", audit).group(1)).is_file()
    assert "[test]" in block("command: test")
