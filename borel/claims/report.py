"""The verdicts on the papers' statements, as tables for the command line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from borel.claims.judging import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from borel.claims.drawings import Drawing
    from borel.claims.judging import Judgement, Statement


def counts(found: Sequence[tuple[Statement, Judgement]]) -> dict[str, Counter[str]]:
    """Return how many statements of each paper have each verdict; all papers under "all"."""
    out: dict[str, Counter[str]] = {}
    for statement, judgement in found:
        out.setdefault(statement.paper, Counter())[judgement.verdict] += 1
    if len(out) > 1:
        out["all"] = sum(out.values(), Counter())
    return out


def table(found: Sequence[tuple[Statement, Judgement]]) -> Any:
    """Return a rich table: a line for each statement."""
    from rich.table import Table
    from rich.text import Text

    out = Table(title="What the papers state, computed", expand=True)
    for heading, share in (("statement", 4), ("says", 8), ("verdict", 2), ("searched", 4)):
        out.add_column(heading, ratio=share, overflow="fold")
    paper = None
    for statement, judgement in found:
        if statement.paper != paper:
            out.add_section()
            paper = statement.paper
        said = statement.says
        if judgement.evidence:
            said += f"\n-> {judgement.evidence}"
        out.add_row(*map(Text, (statement.id, said, judgement.verdict, searched(judgement))))
    return out


def comparisons(judgement: Judgement) -> str:
    """Return how many comparisons were made, of what status, and how many are not settled."""
    left = f", {judgement.unsettled} of them not settled" if judgement.unsettled else ""
    return f"{judgement.facts} comparison{'s' * (judgement.facts != 1)}{left}, {judgement.status}"


def searched(judgement: Judgement) -> str:
    """Return how far a statement was searched, and by what comparisons; "" where by none."""
    return f"{judgement.scope}; {comparisons(judgement)}" if judgement.facts else ""


def summary(found: Sequence[tuple[Statement, Judgement]]) -> Any:
    """Return a rich table: how many of each verdict, of how many, and the time."""
    from rich.table import Table

    seconds = sum(judgement.seconds for _, judgement in found)
    number = f"{len(found)} statement{'s' * (len(found) != 1)}"
    out = Table(title=f"{number} in {seconds:.0f} s", title_justify="left")
    for heading in ("paper", *VERDICTS, "of"):
        out.add_column(heading)
    for paper, of in counts(found).items():
        out.add_row(paper, *(str(of[v]) for v in VERDICTS), str(of.total()))
    return out


def errata(found: Sequence[tuple[Statement, Judgement]]) -> str:
    """Return a Markdown table of the statements that are wrong as printed, by row of the errata."""
    rows = [
        (
            ", ".join(map(str, s.errata)),
            f"`{s.id}`",
            s.says,
            s.reads,
            f"{s.computed} *{j.verdict}*: {j.evidence.partition('; it should read')[0]}",
        )
        for s, j in sorted(found, key=lambda pair: pair[0].errata)
        if s.reads
    ]
    return _markdown(("row", "statement", "as printed", "it should read", "evidence"), rows)


def sharper(found: Sequence[tuple[Statement, Judgement]]) -> str:
    """Return a Markdown table of the statements of which more is true than is stated."""
    rows = [(f"`{s.id}`", s.says, j.evidence) for s, j in found if j.verdict == "sharper"]
    return _markdown(("statement", "says", "sharper"), rows)


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def page(found: Sequence[tuple[Statement, Judgement]], drawn: Iterable[Drawing]) -> str:
    """Return an HTML page that needs nothing else: counts, the papers' figures, every verdict."""
    from importlib import resources

    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    from borel._version import __version__
    from borel.audits.plots.svg import inline
    from borel.audits.report import style

    figures = [
        {"svg": inline(d.axes, d.caption, f"drawing-{i}"), "caption": d.caption}
        for i, d in enumerate(drawn)
    ]
    source = resources.files("borel.claims").joinpath("reproduction.html.j2").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(source).render(
        style=Markup(style()),
        version=__version__,
        found=found,
        seconds=round(sum(j.seconds for _, j in found)),
        verdicts=VERDICTS,
        counts=counts(found),
        searched=searched,
        figures=figures,
    )
