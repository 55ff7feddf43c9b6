"""The papers' claims as data, each with the code that computes it: ``borel reproduce``.

Nothing here holds a result: every figure is computed when it is asked for, and every verdict is
read from figures. `statements` are what the papers state, a file for each paper; `reproduce` gives
the figures of their examples, by theorem and by the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from borel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.claims.judging import Paper, Statement
    from borel.probability.bound import Bound

CLAIMS = {
    "counterexamples": "Examples 8 and 9: bounded PMC, unbounded PML",
    "envelopes": "Information Leakage Envelopes: its examples, Theorems 4 and 5 on Figure 2",
}
"""Names of the tables of figures, each a module of this package, with what they say."""

PAPERS = {
    "pmc": "pmc_paper",
    "pml": "pml_paper",
    "preprint": "preprint",
    "disclosure": "disclosure_paper",
    "envelopes": "envelope_paper",
    "readings": "readings",
}
"""Keys of the papers, each with the module of this package that judges its statements."""


@dataclass(frozen=True)
class Claim:
    """One figure of a paper, by theorem and by computation.

    Attributes
    ----------
    id : str
        A name, unique among the rows.
    source : str
        Paper and number.
    statement : str
        What the paper says.
    quantity : str
        The figure compared.
    closed_form : Bound
        The figure by the theorem, evaluated in Arb.
    engine : Bound
        What the engine makes of it with closed forms switched off.
    agrees : bool or None
        Whether the two enclosures meet; None when the engine does not settle the figure. An
        estimate may agree or not: it proves nothing.
    note : str
        The comparison, or the conclusion, in words.
    """

    id: str
    source: str
    statement: str
    quantity: str
    closed_form: Bound
    engine: Bound
    agrees: bool | None
    note: str = ""

    def record(self) -> dict[str, Any]:
        """Return the row as plain data, its figures as they are shown."""
        about = {k: getattr(self, k) for k in ("id", "source", "statement", "quantity")}
        figures = {"closed_form": _shown(self.closed_form), "engine": _shown(self.engine)}
        return about | figures | {"agrees": self.agrees, "note": self.note}


def agreement(theorem: Bound, engine: Bound) -> bool | None:
    """Return whether two enclosures meet; None if they do but the engine's is undecided."""
    meet = engine.lower <= theorem.upper and theorem.lower <= engine.upper
    return None if meet and engine.status == "undecided" else meet


def reproduce(name: str) -> list[Claim]:
    """Compute the rows of a claim.

    Raises
    ------
    InvalidInput
        A name that is not in `CLAIMS`.
    """
    if name not in CLAIMS:
        raise InvalidInput("reproduce", expected=f"one of {sorted(CLAIMS)}", got=repr(name))
    return import_module(f"borel.claims.{name}").rows()


def papers() -> list[Paper]:
    """Return the papers, each with its statements."""
    return [import_module(f"borel.claims.{module}").PAPER for module in PAPERS.values()]


def statements(*names: str) -> list[Statement]:
    """Return what the papers state.

    Parameters
    ----------
    *names : str
        Keys of papers ("pmc"), statements ("pmc:Theorem-6") or parts of them
        ("pmc:Theorem-6-ii"); none for everything.

    Returns
    -------
    list of Statement
        In the order of the papers; ``.judge()`` computes the verdict.

    Raises
    ------
    InvalidInput
        A name of nothing.

    Examples
    --------
    >>> [s.id for s in statements("pmc:Theorem-6")]
    ['pmc:Theorem-6-i', 'pmc:Theorem-6-ii']
    """
    every = [one for paper in papers() for one in paper.statements]
    for name in names:
        if not any(one.named(name) for one in every):
            raise InvalidInput(
                "statements",
                expected=f"a paper ({', '.join(PAPERS)}) or a statement such as 'pmc:Theorem-6'",
                got=repr(name),
            )
    return [one for one in every if not names or any(one.named(name) for name in names)]


def render(rows: Sequence[Claim]) -> Any:
    """Return a rich table of claims, for the command line.

    Parameters
    ----------
    rows : sequence of Claim
        What `reproduce` returned.

    Returns
    -------
    rich renderable
        One line a figure: theorem and engine, each with its status, and the comparison.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Claims, computed")
    for heading in ("source", "quantity", "by theorem", "by the engine", "agrees", "note"):
        table.add_column(heading, overflow="fold")
    words = {True: "yes", False: "NO", None: "undecided"}
    source = None
    for row in rows:
        if row.source != source:
            table.add_section()
        shown, source = row.source if row.source != source else "", row.source
        cells = (
            shown,
            row.quantity,
            _shown(row.closed_form),
            _shown(row.engine),
            words[row.agrees],
            row.note,
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _shown(bound: Bound) -> str:
    return f"{bound.enclosure} ({bound.status})"
