"""The command line: what it writes, what it says, and its exit codes."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import borel as bl
from borel.cli import app

ROOT = Path(__file__).parents[1]
STUDY = """
import borel as bl
study = bl.Study(
    title="A [bold] study",
    mechanism=bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]]),
    prior=bl.pmf([0.5, 0.5]),
)
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "one.py"
    path.write_text(STUDY)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def borel(*arguments, **kwargs):
    """Run it as a user does, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "borel.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        **kwargs,
    )


def test_the_version():
    assert run("--version").output == f"borel {bl.__version__}\n"


def test_audit_writes_a_table_a_result_and_a_report(study):
    done = run("audit", study)
    assert done.exit_code == 0, done.output
    folder = study.with_name("one-audit")
    assert sorted(p.name for p in folder.iterdir()) == ["report.html", "result.nc"]
    mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    assert bl.load(folder)["pml"] == bl.pml(bl.pmf([0.5, 0.5]) * mech).sup()
    for words in ("A [bold] study", "0.4054651081", "exact", "No event about the"):
        assert words in " ".join(done.output.split())


def test_quiet_and_output(study, tmp_path):
    done = run("audit", study, "--output", tmp_path / "there", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "there" / "report.html").exists()


def test_several_studies(study):
    study.write_text(STUDY + "studies = {'first': study, 'second': study}")
    assert run("audit", study, "--quiet").exit_code == 0
    folder = study.with_name("one-audit")
    assert sorted(p.name for p in folder.iterdir()) == ["first", "second"]
    assert bl.load(folder / "second").complete


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "one.py, line 1, `1 / 0`, raised ZeroDivisionError: division by zero"),
        ("x = (", "is not Python: line 1"),
        ("", "no study in"),
    ],
)
def test_a_study_that_is_wrong(study, text, message):
    study.write_text(text)
    done = run("audit", study)
    assert done.exit_code == 2
    assert done.stderr.startswith("borel: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not study.with_name("one-audit").exists()


def test_no_study_file(tmp_path):
    done = run("audit", tmp_path / "none.py")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "none.py cannot be read: no such file" in done.stderr
    done = run("audit", tmp_path)
    assert "cannot be read: it is not a file" in done.stderr


def test_the_output_folder_is_checked_before_the_study_runs(study, tmp_path):
    study.write_text("open('ran', 'w')" + STUDY)
    (tmp_path / "file").write_text("")
    done = borel("audit", study, "--output", tmp_path / "file", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("borel: the output folder: expected a folder that can be written")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "ran").exists()


SLOW = """
import os, signal, time
import borel as bl

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a job in the background

def prior(seed):
    open("calls", "a").write("x")
    return bl.models.dirichlet_posterior([30, 70], draws=50, random_seed=seed)


study = bl.Study(
    title="Slow", mechanism=bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]]),
    prior=prior, build=lambda draw: bl.pmf(draw["p"]),
)

if not os.path.exists("second"):
    import borel.figures.levels
    def interrupted(joint):
        open("second", "w").close()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    borel.figures.levels.lip = interrupted
"""


@pytest.mark.slow
def test_ctrl_c_keeps_what_there_is_and_resume_goes_on(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    first = borel("audit", "slow.py", cwd=tmp_path)
    assert first.returncode == 130, first.stderr
    assert "interrupted after 3 of 9 steps, kept in slow-audit/result.nc" in first.stderr
    assert "--resume" in first.stderr
    assert "Traceback" not in first.stderr
    assert not bl.load(tmp_path / "slow-audit").complete
    plain = borel("audit", "slow.py", cwd=tmp_path)
    assert plain.returncode == 2
    assert "no unfinished audit" in plain.stderr
    second = borel("audit", "slow.py", "--resume", cwd=tmp_path)
    assert second.returncode == 0, second.stderr
    assert bl.load(tmp_path / "slow-audit").complete
    assert (tmp_path / "calls").read_text() == "x"


def test_resume_says_what_changed(study):
    run("audit", study, "--quiet")
    study.write_text(STUDY.replace("[0.5, 0.5]", "[0.25, 0.75]"))
    done = run("audit", study, "--resume", "--quiet")
    assert done.exit_code == 0
    assert done.stderr == "borel: resuming: the prior changed; every figure is computed again\n"


@pytest.mark.few(1)
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("with progress_bar(3) as bar: time.sleep(0.5); bar.tell(1, 'a slow figure')", True),
        ("with figure(): spend()", True),
        (
            "with figure(): pass\n"
            "with bl.options(progress=False), figure(): spend()\n"
            "with progress_bar(3, name='around'), figure(): spend()\n"
            "os.environ['BOREL_PROGRESS'] = '0'\n"
            "with figure(): spend()",
            False,
        ),
    ],
    ids=["steps", "figure", "hidden"],
)
def test_a_bar_appears_in_a_terminal_after_a_while(lines, shown):
    import pty

    code = (
        "import os, time, borel as bl; from borel import progress, settings\n"
        "from borel.settings import progress_bar\n"
        "progress.PATIENCE = 0.3\n"
        "figure = lambda: settings.one_figure('a slow figure')\n"
        "def spend():\n"
        "    end = time.monotonic() + 0.6\n"
        "    while time.monotonic() < end: settings.late(1e9); time.sleep(0.01)\n"
        f"{lines}\n"
    )
    leader, follower = pty.openpty()
    kept = {name: os.environ[name] for name in os.environ if name != "BOREL_PROGRESS"}
    kept |= {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"}
    started = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=follower,
        stdout=subprocess.DEVNULL,
        env=kept,
    )
    os.close(follower)
    written = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # the other end was closed
            break
        if not piece:
            break
        written += piece
    os.close(leader)
    assert started.wait() == 0
    assert (b"a slow figure" in written) is shown


def test_no_bar_when_not_a_terminal(study):
    assert run("audit", study).stderr == ""


@pytest.mark.slow
def test_init_writes_a_study_that_runs(tmp_path):
    path = tmp_path / "mine.py"
    done = run("init", path)
    assert done.exit_code == 0
    assert f"borel audit {path}" in done.output
    audited = borel("audit", path, cwd=tmp_path)
    assert audited.returncode == 0, audited.stderr
    assert audited.stderr == ""
    assert "PML(0.75) holds" in audited.stdout
    before = path.read_text()
    again = run("init", path)
    assert again.exit_code == 2
    assert "is there already, and is left as it is" in again.stderr
    assert path.read_text() == before
    assert run("init", tmp_path / "no folder" / "study.py").exit_code == 2


def test_check_says_which_figures_carry_a_certificate(study):
    run("audit", study, "--quiet")
    done = run("check", study.with_name("one-audit"))
    assert done.exit_code == 0, done.output
    assert "0 verified, 0 refused" in done.output
    assert "exact: a closed form or rational arithmetic" in done.output
    assert "unfinished" not in done.stderr


def test_check_says_that_an_audit_is_unfinished(study):
    import h5py

    run("audit", study, "--quiet")
    with h5py.File(study.with_name("one-audit") / "result.nc", "a") as file:
        file.attrs["complete"] = 0
    done = run("check", study.with_name("one-audit"))
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("borel: this audit is unfinished: only the figures that it has")
    assert "--resume" in done.stderr


NOISY = """
import numpy as np
import borel as bl
unit = bl.Interval(0, 1)
study = bl.Study(
    title="Noisy",
    mechanism=bl.Mechanism(
        lambda y, x: np.where(y > 0.5, 0.5 + 0.25 * x, 0.5 - 0.25 * x),
        secret=unit,
        outcome=bl.Finite([0, 1]),
    ),
    prior=bl.uniform(unit),
    report=["pml", "mutual_information"],
    guarantees=[bl.guarantees.PML(0.5)],
)
"""
HOW = "the command borel audit --certificates makes them"


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A study, audited without certificates and with them, and what was said."""
    path = tmp_path_factory.mktemp("noisy") / "noisy.py"
    path.write_text(NOISY)
    plain = run("audit", path)
    assert plain.exit_code == 0 and HOW in " ".join(plain.output.split())
    folder = path.with_name("noisy-audit")
    before = bl.load(folder)
    assert all(bound.certificate is None for bound in before.values())
    assert HOW in (folder / "report.html").read_text()
    checked = run("check", folder)
    assert checked.exit_code == 0 and HOW in checked.output
    assert "0 verified, 0 refused, 7 without one" in checked.output
    with_them = run("audit", path, "--certificates", "--resume")
    return before, folder, with_them


def test_an_audit_makes_certificates_where_it_is_asked_to(noisy):
    before, folder, done = noisy
    assert done.exit_code == 0, done.output
    assert "whether certificates are made changed" in done.stderr  # so that none is missing
    after = bl.load(folder)
    said, report = " ".join(done.output.split()), (folder / "report.html").read_text()
    for text in (said, report):
        assert "borel check` verifies, of pml, guarantees/PML-epsilon-0.5" in text
        assert (
            "No certificate of mutual_information; missing: a rule for mutual_information" in text
        )
        assert HOW not in text
    assert list(after) == list(before)
    for name, bound in after.items():
        assert bound.status == before[name].status
        assert bound.lower <= before[name].upper and before[name].lower <= bound.upper
        assert (bound.certificate is None) == (name in after.without_certificate)
    assert list(after.without_certificate) == ["mutual_information"]


def test_check_verifies_what_an_audit_certified(noisy):
    _, folder, _ = noisy
    done = run("check", folder)
    assert done.exit_code == 0
    assert "6 verified, 0 refused, 1 without one" in done.output
    lines = done.output.splitlines()
    assert lines[0].startswith("pml  Bound(") and lines[1].startswith(
        "    verified: pml.sup is within"
    )
    assert "on trust: that f(.|x) has total mass 1 for every secret x" in lines[1]
    (at,) = (k for k, line in enumerate(lines) if line.startswith("mutual_information  "))
    assert lines[at + 1].startswith("    no certificate: none; missing: a rule for mutual_info")
    assert HOW not in done.output


def test_check_says_each_verdict_as_it_comes(monkeypatch, capsys, study):
    from borel import cli
    from borel.audits import verification

    def rows(_):
        yield verification.Verified("first", "Bound(1)", "verified", "3 leaves hold")
        assert capsys.readouterr().out == "first  Bound(1)\n    verified: 3 leaves hold\n"
        yield verification.Verified("second", "Bound(2)", "refused", "another kernel")

    monkeypatch.setattr(verification, "verdicts", rows)
    with pytest.raises(cli.typer.Exit) as ended:
        cli.check(study)
    assert ended.value.exit_code == 1
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == ["    refused: another kernel", "1 verified, 1 refused, 0 without one"]


def test_check_needs_a_result():
    done = run("check", "no such file.nc")
    assert done.exit_code == 2
    assert "no file no such file.nc" in done.stderr


def test_reproduce_lists_the_claims_it_knows():
    from borel.claims import CLAIMS

    done = run("reproduce", "nothing")
    assert done.exit_code == 2
    assert "no claim nothing; there are: " in done.stderr
    assert all(name in done.stderr for name in CLAIMS)


def test_reproduce_computes_and_fails_when_a_claim_does_not_agree(monkeypatch):
    from borel import claims

    def rows(name, agrees):
        exact = bl.Bound.exact(1.0, 1.0)
        return [claims.Claim("id-1", "source", "statement", "q", exact, exact, agrees)]

    monkeypatch.setattr("borel.claims.reproduce", lambda name: rows(name, True))
    done = run("reproduce", "counterexamples")
    assert done.exit_code == 0
    assert "source" in done.output
    monkeypatch.setattr("borel.claims.reproduce", lambda name: rows(name, False))
    done = run("reproduce", "counterexamples")
    assert done.exit_code == 1
    assert "do not agree with the paper: id-1" in done.stderr


def test_reproduce_judges_one_statement_at_a_time():
    done = run("reproduce", "pmc:Remark-3", "pmc:Corollary-2-chain")
    assert done.exit_code == 0
    words = " ".join(done.output.split())
    assert re.search(r"2 statements in \d+ s", words) and "confirmed" in words
    assert "not 1 = 3/2" in words, "the error is shown with its figures"


def test_reproduce_fails_when_a_verdict_is_not_what_is_known(monkeypatch):
    from borel.claims.judging import Statement

    monkeypatch.setattr(Statement, "expects", lambda self, verdict: False)
    done = run("reproduce", "pmc:Remark-3")
    assert done.exit_code == 1
    assert "not those of the page of errata: pmc:Remark-3" in done.stderr


def test_reproduce_lists_every_statement_as_one_json_array():
    from borel.claims import statements

    done = run("reproduce", "--list", "--json")
    records = json.loads(done.stdout)
    assert [r["id"] for r in records] == [s.id for s in statements()]
    assert all(r["says"] and r["computed"] and "verdict" not in r for r in records)
    plain = run("reproduce", "--list", "pml:Lemma-1").output.splitlines()
    assert len(plain) == 7 and plain[0].startswith("pml:Lemma-1-1  ")


def test_reproduce_prints_verdicts_as_json():
    (record,) = json.loads(run("reproduce", "pml:Example-6", "--json").stdout)
    assert record["verdict"] == "confirmed" and record["facts"] == 3
    assert record["paper"] == "pml" and record["seconds"] < 10


def test_reproduce_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr("borel.claims.drawings.drawings", lambda: iter(()))
    page = tmp_path / "reproduction.html"
    assert run("reproduce", "pmc:Remark-3", "--html", page).exit_code == 0
    assert "pmc:Remark-3" in page.read_text(encoding="utf-8")


def test_reproduce_makes_the_folder_of_a_page_and_refuses_one_before_computing(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("borel.claims.drawings.drawings", lambda: iter(()))
    page = tmp_path / "new" / "folder" / "reproduction.html"
    assert run("reproduce", "pmc:Remark-3", "--html", page).exit_code == 0
    assert "pmc:Remark-3" in page.read_text(encoding="utf-8")

    def computed(*args):
        raise AssertionError("computed in vain")

    monkeypatch.setattr("borel.cli._computed", computed)
    for place in (tmp_path, page / "inside.html"):
        done = run("reproduce", "pmc:Remark-3", "--html", place)
        assert done.exit_code == 2 and "cannot be written" in done.stderr
    done = run("reproduce", "counterexamples", "--html", page)
    assert done.exit_code == 2 and "name some, such as pmc:Example-8" in done.stderr


def test_reproduce_prints_tables_as_json_too(monkeypatch):
    from borel import claims

    exact = bl.Bound.exact(1.0, 1.0)
    row = claims.Claim("id-1", "source", "statement", "q", exact, exact, False, "a note")
    monkeypatch.setattr("borel.claims.reproduce", lambda name: [row])
    done = run("reproduce", "counterexamples", "--json")
    (record,) = json.loads(done.stdout)
    assert done.exit_code == 1 and record["id"] == "id-1" and record["agrees"] is False
    assert record["closed_form"] == record["engine"] == "1 (exact)"
    (listed,) = json.loads(run("reproduce", "counterexamples", "--list", "--json").stdout)
    assert listed == {"id": "counterexamples", "says": claims.CLAIMS["counterexamples"]}
    plain = run("reproduce", "counterexamples", "--list").output
    assert plain.startswith("counterexamples  Examples 8 and 9")


def test_errors_of_borel_itself_are_told_apart(study, monkeypatch):
    def broken(joint):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("borel.figures.levels.lip", broken)
    done = run("audit", study)
    assert done.exit_code == 1
    assert "ZeroDivisionError: a bug. What was computed is kept" in done.stderr
    monkeypatch.setenv("BOREL_TRACEBACK", "1")
    assert isinstance(run("audit", study, "--resume").exception, ZeroDivisionError)


def test_importing_borel_is_light():
    code = (
        "import sys, borel; heavy = ('pymc', 'arviz', 'scipy.stats', 'pandas', 'matplotlib', "
        "'xarray', 'numpy', 'rich', 'typer'); print([m for m in heavy if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_shell_can_complete():
    found = run("--help").output
    assert "--install-completion" in found and "--show-completion" in found
