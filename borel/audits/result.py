"""`bl.load` and what it returns: the figures of an audit with their table and their report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from borel.audits.audit_figures import AuditFigures
from borel.audits.store import read
from borel.audits.table import html_table, rows
from borel.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd


class Audit(AuditFigures):
    """The figures of an audit by name, each a Bound, with their table and report; made by `load`.

    Names are paths in the tree: ``"pml"``, ``"pml/law/quantile-0.95"``, ``"guarantees/..."``; over
    a set of priors also ``"pml/nominal"`` and ``"pml/cost"`` (see `borel.audit`).

    Attributes
    ----------
    tree : DataTree
        Everything: figures, curves, laws, draws.
    """

    def table(self) -> pd.DataFrame:
        """Return the table of the report, a row for each figure.

        Returns
        -------
        DataFrame
            ``bound`` as text; ``lower``, ``upper``, ``unit`` and ``status``, of which the numbers
            are missing where this version cannot compute the figure; ``meaning``, a sentence.
            ``.to_csv`` writes it with all digits; ``.to_markdown``, ``.to_latex`` and ``.to_html``
            round ends outwards and escape labels.
        """
        import pandas as pd

        from borel.audits.text_table import TextTable

        found = rows(self)
        bounds = [r.bound for r in found]
        return TextTable(
            {
                "bound": [r.figure for r in found],
                "lower": [float("nan") if b is None else b.lower for b in bounds],
                "upper": [float("nan") if b is None else b.upper for b in bounds],
                "unit": ["" if b is None else b.units for b in bounds],
                "status": [r.status for r in found],
                "meaning": [r.sentence for r in found],
            },
            index=pd.Index([r.label for r in found], name="measure"),
        )

    def report(self, path: str | os.PathLike) -> Path:
        """Write the report, one self-contained HTML file, and return its path.

        A PDF is made of it by a browser's print.
        """
        from borel.audits.report import write_report

        return write_report(self, path)

    def __repr__(self) -> str:
        """Show the table as text."""
        lines = [f"Audit: {self.tree.attrs['title']} (weakest status: {self.tree.attrs['status']})"]
        lines += [f"  {r.label}: {r.figure} ({r.status})" for r in rows(self)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_table(rows(self))


def load(source: Any) -> Audit:
    """Read an audit: its figures are Bounds again, equal to those that were computed.

    Parameters
    ----------
    source : path or DataTree
        The ``result.nc`` of an audit, its folder, or what `borel.audit` returned.

    Returns
    -------
    Audit
        A mapping from names to Bounds, with ``.tree``, ``.table()`` and ``.report(path)``.

    Raises
    ------
    InvalidInput
        No such file, a file that cannot be read, or one that is not an audit.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> bl.load(bl.audit(joint))["pml"]
    Bound(0.4054651081, exact)
    """
    import xarray as xr

    tree = source if isinstance(source, xr.DataTree) else read(source)
    if tree.attrs.get("creation_library") != "borel":
        raise InvalidInput(
            "bl.load", expected="the result of bl.audit", got="a file that is not one"
        )
    return Audit(tree)
