"""PyMC's laws with atoms among floats: the density beside the atoms, and the mass of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import NotTraceable, NotYet
from borel.numerics.graphs import float64, from_pytensor
from borel.numerics.graphs.foreign_density import either

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from borel.numerics.graphs.graph import Graph


def parts(
    what: str, law: Any, atoms: Sequence[float], secret: int = 0, whole: Sequence[bool] = (False,)
) -> tuple[Callable, dict[float, Callable]]:
    """Return the log-density of a law beside its atoms, and the logarithms of their masses.

    Parameters
    ----------
    what : str
        What makes it, for errors.
    law : pytensor variable, or callable
        A PyMC distribution, or a function of a secret that returns one.
    atoms : sequence of float
        All of its atoms.
    secret : int
        Of how many numbers the secret is; 0 for a law without one.
    whole : sequence of bool
        Whether the value, and the secret, are integers.

    Raises
    ------
    NotYet
        A law that is not traced, or one with other atoms.
    """

    def pieces(names: Any, whole: Any = ()) -> list[Graph]:
        graph = from_pytensor.graph_of(law, names, whole)
        beside, at_atoms = from_pytensor.apart(graph, names[0], atoms)
        return [beside, *at_atoms]

    x = tuple(f"x{i}" for i in range(secret))
    points = {0: (), 1: ("x",)}.get(secret, (x,))
    flat = {0: (), 1: ("x",)}.get(secret, x)
    try:
        known = pieces(("y", *points))
    except NotTraceable as error:
        raise NotYet(
            what,
            missing=f"this law with atoms ({error})",
            instead="the density beside the atoms, with masses={atom: ...}.",
        ) from None

    def piece(k: int) -> Callable:
        names = flat if k else ("y", *flat)

        def numeric(*arrays: Any) -> np.ndarray:
            values = [v for a in arrays for v in (a if isinstance(a, tuple) else (a,))]
            named = {n: np.asarray(v, float) for n, v in zip(names, values, strict=True)}
            return float64.evaluate(known[k], named)

        def graph(names: Any, whole: Any) -> Graph:
            return pieces(("y", *names) if k else names, whole)[k]

        return either(graph, numeric, whole[1:] if k else whole)

    return piece(0), {atom: piece(k + 1) for k, atom in enumerate(atoms)}
