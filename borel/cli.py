"""The command line: ``borel audit``, ``borel init``, ``borel reproduce``, ``borel check``.

A user's error is one message on the error stream and exit code 2; Ctrl-C is 130.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from borel.errors import BorelError

if TYPE_CHECKING:
    from borel.audits.table import Row

app = typer.Typer(
    help="How much does a privacy mechanism leak?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
REPORT = "report.html"


def _version(wanted: bool) -> None:
    if wanted:
        from borel._version import __version__

        print(f"borel {__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Tell how much a privacy mechanism leaks: PML, PMC and other measures, with their status."""


@app.command()
def audit(
    study: Annotated[Path, typer.Argument(help="A Python file with `study = bl.Study(...)`.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for the results; default STUDY-audit beside it."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an audit, without sampling again.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No progress bar, no table; errors only.")
    ] = False,
    certificates: Annotated[
        bool,
        typer.Option("--certificates", help="Make certificates, which `borel check` verifies."),
    ] = False,
) -> None:
    """Audit a study: a table, result.nc with every figure, and report.html."""
    gc.set_threshold(20_000)  # imports make objects that stay: looking for garbage was a tenth
    with _errors():
        for one, place in _studies(study, output):
            _audit(one, place, quiet=quiet, resume=resume, certificates=certificates)


@app.command()
def init(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("study.py"),
) -> None:
    """Write a commented study to start from."""
    with _errors():
        text = (
            resources.files("borel.audits")
            .joinpath("study_template.py")
            .read_text(encoding="utf-8")
        )
        try:
            with path.open("x", encoding="utf-8") as file:  # never over another file
                file.write(text)
        except FileExistsError:
            raise BorelError(
                f"{path} is there already, and is left as it is; name another file: borel init PATH"
            ) from None
        except OSError as error:
            raise BorelError(f"{path} cannot be written: {error.strerror or error}") from error
        print(f"wrote {path}; next: borel audit {path}")


@app.command()
def reproduce(
    claims: Annotated[
        list[str] | None,
        typer.Argument(
            help="Papers (pmc), statements (pmc:Theorem-6) or tables of figures "
            "(counterexamples); default every statement."
        ),
    ] = None,
    only_list: Annotated[
        bool, typer.Option("--list", help="List the statements, and compute nothing.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON array, a record for each statement.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write the verdicts and the papers' figures to an HTML page."),
    ] = None,
) -> None:
    """Compute what the papers claim: confirmed, sharper, refuted or not computable."""
    with _errors():
        from borel.claims import CLAIMS, PAPERS, statements

        names = claims or []
        if unknown := [
            name
            for name in names
            if name not in CLAIMS and not any(s.named(name) for s in statements())
        ]:
            known = "; ".join(f"{name} ({words})" for name, words in CLAIMS.items())
            raise BorelError(
                f"no claim {', '.join(unknown)}; there are: {known}; the papers "
                f"{', '.join(PAPERS)}; and statements such as pmc:Theorem-6: see --list"
            )
        tables = [name for name in names if name in CLAIMS]
        chosen = [s for s in statements() if not names or any(s.named(n) for n in names)]
        if only_list:
            _listed(tables, chosen, as_json)
        else:
            if html is not None:
                _make_room(html, chosen)
            _computed(tables, chosen, as_json, html)


@app.command()
def check(
    result: Annotated[
        Path, typer.Argument(help="The result.nc of an audit, its folder, or a certificate.json.")
    ],
) -> None:
    """Verify the certificates of a result again, and say what they take on trust."""
    with _errors():
        from borel.audits.table import HOW_TO_CERTIFY
        from borel.audits.verification import verdicts

        _say_if_unfinished(result)
        counts: dict[str, int] = dict.fromkeys(("verified", "refused", "none"), 0)
        asked = False
        for row in verdicts(result):
            counts[row.outcome] += 1
            asked |= row.words.startswith("none; missing")
            outcome = "no certificate" if row.outcome == "none" else row.outcome
            said = row.words if row.words.startswith(outcome) else f"{outcome}: {row.words}"
            print(f"{row.name}  {row.bound}\n    {said}", flush=True)
        print("{verified} verified, {refused} refused, {none} without one".format(**counts))
        if not asked and counts["verified"] == counts["refused"] == 0:
            print(HOW_TO_CERTIFY)
        if counts["refused"]:
            raise typer.Exit(1)


def _say_if_unfinished(result: Path) -> None:
    """Say that an audit holds only some of its figures: what is not there is not verified."""
    from borel.audits.store import attributes

    if (result.is_dir() or result.suffix == ".nc") and not attributes(result).get("complete", 1):
        _say(
            "this audit is unfinished: only the figures that it has are verified; "
            "`borel audit STUDY.py --resume` computes the others"
        )


# -- claims --------------------------------------------------------------------------------


def _listed(tables: list[str], statements: list[Any], as_json: bool) -> None:
    """Print tables and statements, uncomputed."""
    from borel.claims import CLAIMS

    if as_json:
        records = [{"id": name, "says": CLAIMS[name]} for name in tables]
        print(json.dumps([*records, *(s.record() for s in statements)], indent=1))
        return
    for name in tables:
        print(f"{name}  {CLAIMS[name]}")
    for s in statements:
        print(f"{s.id}  {s.says}")


def _make_room(html: Path, statements: list[Any]) -> None:
    """Make the folder of a page, and refuse a place where none can be, before it is computed."""
    if not statements:
        raise BorelError("--html writes verdicts on statements; name some, such as pmc:Example-8")
    try:
        html.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BorelError(f"{html} cannot be written: {error.strerror or error}") from error
    if html.is_dir() or not os.access(html if html.exists() else html.parent, os.W_OK):
        why = "it is a folder" if html.is_dir() else "permission denied"
        raise BorelError(f"{html} cannot be written: {why}; name a file, as reproduction.html")


def _computed(
    tables: list[str], statements: list[Any], as_json: bool, html: Path | None = None
) -> None:
    """Print figures and verdicts; fail if one is not what the paper or the page of errata says."""
    from rich.console import Console

    from borel import settings
    from borel.claims import render
    from borel.claims import reproduce as compute
    from borel.claims.report import page, summary, table

    rows, found = [], []
    for name in tables:
        some = compute(name)
        rows += some
        if not as_json:
            _console(Console).print(render(some))
    if statements:
        with settings.progress_bar(len(statements)) as bar:
            for done, s in enumerate(statements):
                bar.tell(done, s.id)
                found.append((s, s.judge()))
    if html is not None:
        from borel.claims.drawings import drawings

        html.write_text(page(found, drawings()), encoding="utf-8")
    if as_json:
        records = [*(row.record() for row in rows), *(s.record(j) for s, j in found)]
        print(json.dumps(records, indent=1))
    elif found:
        console = _console(Console)
        console.print(table(found))
        console.print(summary(found))
    failed = [row.id for row in rows if row.agrees is False]
    wrong = [s.id for s, j in found if not s.expects(j.verdict)]
    if failed:
        _say(f"these do not agree with the paper: {', '.join(failed)}")
    if wrong:
        _say(f"these verdicts are not those of the page of errata: {', '.join(wrong)}")
    if failed or wrong:
        raise typer.Exit(1)


# -- the steps of an audit ------------------------------------------------------------------


def _studies(path: Path, output: Path | None) -> Iterator[tuple[Any, Path]]:
    """Yield the studies of a file with their folders; those are checked before anything runs."""
    from borel.audits.store import writable
    from borel.audits.study import StudyError, load_study

    if not path.is_file():
        why = "it is not a file" if path.exists() else "no such file"
        raise StudyError(f"the study {path} cannot be read: {why}")
    folder = output if output is not None else path.with_name(f"{path.stem}-audit")
    there = folder.exists()
    writable(folder)
    try:
        found = load_study(path)
    except BorelError:
        if not there:
            folder.rmdir()
        raise
    for name, one in found.items():
        yield one, folder if len(found) == 1 else writable(folder / name)


def _audit(study: Any, folder: Path, *, quiet: bool, **how: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from borel.audits.audit import ResumeWarning
    from borel.audits.audit import audit as run
    from borel.audits.result import load
    from borel.audits.table import about_certificates, rows

    with warnings.catch_warnings():
        warnings.simplefilter("always", ResumeWarning)
        warnings.showwarning = _show(warnings.showwarning)
        tree = run(study, output=folder, progress=False if quiet else None, **how)
    result = load(tree)
    if not quiet:
        console = _console(Console)
        console.print(
            _table(f"{study.title} (weakest status: {tree.attrs['status']})", rows(result))
        )
        for line in about_certificates(result):
            console.print(Text(line))
        print(f"figures: {folder / 'result.nc'}", flush=True)
    report = result.report(folder / REPORT)
    if not quiet:
        print(f"report:  {report}")


def _show(before: Callable[..., Any]) -> Callable[..., Any]:
    """Show a warning of ours as one line, and any other as before."""
    from borel.audits.audit import ResumeWarning

    def show(message: Any, category: Any, *args: Any, **kwargs: Any) -> None:
        if issubclass(category, ResumeWarning):
            _say(str(message))
        else:
            before(message, category, *args, **kwargs)

    return show


def _table(title: str, rows: list[Row]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left", show_lines=True, expand=True)
    table.add_column("measure", ratio=3)
    table.add_column("bound", ratio=4, overflow="fold")
    table.add_column("status", ratio=2, min_width=11)
    table.add_column("what it means", ratio=8)
    for row in rows:
        table.add_row(*map(Text, (row.label, row.figure, row.status, row.sentence)))
    return table


def _console(make: Any) -> Any:
    """Return the console of the output; a wide one when it is not a terminal."""
    console = make()
    return console if console.is_terminal else make(width=120)


# -- errors ---------------------------------------------------------------------------------


@contextmanager
def _errors() -> Iterator[None]:
    """Turn errors into one message and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what its encoding lacks is shown escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
    except BorelError as error:
        if os.environ.get("BOREL_TRACEBACK"):
            raise
        _say(str(error))
        raise typer.Exit(2) from None
    except KeyboardInterrupt as error:
        _say(str(error) or "interrupted")
        raise typer.Exit(130) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if os.environ.get("BOREL_TRACEBACK"):
            raise
        _say(
            f"an error of borel itself, or of the mechanism's own code: {type(error).__name__}: "
            f"{error}. What was computed is kept; BOREL_TRACEBACK=1 shows where it happened."
        )
        raise typer.Exit(1) from None


def _say(message: str) -> None:
    print(f"borel: {message}", file=sys.stderr)


if __name__ == "__main__":
    app()
