"""The figures of an audit, read from its tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from borel.audits.store import random_bound, unpacked
from borel.probability.bound import Bound

if TYPE_CHECKING:
    import xarray as xr

    from borel.priors.random_bound import RandomBound


class AuditFigures(Mapping):
    """The figures of an audit by name, each a Bound.

    Names are paths in the tree: ``"pml"``, ``"pml/law/quantile-0.95"``, ``"guarantees/..."``; over
    a set of priors also ``"pml/nominal"`` and ``"pml/cost"`` (see `borel.audit`).

    Attributes
    ----------
    tree : DataTree
        Everything: figures, curves, laws, draws.
    """

    def __init__(self, tree: xr.DataTree):
        self.tree = tree
        nodes = {node.path.strip("/"): node for node in tree.subtree}
        self._bounds = {
            name: unpacked(name, node.to_dataset(inherit=False))
            for name, node in nodes.items()
            if "bound" in node.attrs
        }

    def __getitem__(self, name: str) -> Bound:
        """Return a figure.

        Raises
        ------
        KeyError
            No such figure; the message lists those there are, or why this one is missing.
        """
        if name in self._bounds:
            return self._bounds[name]
        why = self.missing.get(name)
        raise KeyError(
            f"{name}: {why}" if why else f"no figure {name!r}; there are {', '.join(self._bounds)}"
        )

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._bounds)

    def __len__(self) -> int:
        """Count the figures."""
        return len(self._bounds)

    @property
    def complete(self) -> bool:
        """Whether the audit was finished."""
        return bool(self.tree.attrs["complete"])

    @property
    def missing(self) -> dict[str, str]:
        """The figures that this version could not compute, and why."""
        nodes = {node.path.strip("/"): node.attrs.get("not_yet") for node in self.tree.subtree}
        return {name: str(why) for name, why in nodes.items() if why}

    @property
    def without_certificate(self) -> dict[str, str]:
        """The figures without a certificate, and why; empty where none was asked for."""
        if not self.tree.attrs.get("certificates"):
            return {}
        none = [name for name, bound in self.items() if bound.certificate is None]
        return {name: str(self.tree[name].attrs.get("no_certificate", "none")) for name in none}

    def random(self, name: str) -> RandomBound:
        """Return the figure over posterior draws: ``random("pml").cdf(0.5)``.

        Raises
        ------
        KeyError
            The audit was of one prior, or holds no such figure.
        """
        found = self.dataset(f"{name}/draws")
        if found is None:
            raise KeyError(f"no posterior draws of {name!r} in this audit")
        return random_bound(found)

    def dataset(self, path: str) -> xr.Dataset | None:
        """Return a curve, a law or draws, as in ``dataset("pml/curve")``; None if there is none."""
        nodes = {node.path.strip("/"): node for node in self.tree.subtree}
        if path not in nodes or not nodes[path].data_vars:
            return None
        return nodes[path].to_dataset(inherit=False)
