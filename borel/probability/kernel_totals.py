"""What a kernel integrates or sums to over the outcomes, read as a function of one number.

That number is the secret, or a function of it through which alone the kernel depends on it: the
range of such a function may be short where the secrets have no end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.numerics.balls.moving_pieces import MovingPieces
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.dependence import through_one
from borel.numerics.graphs.graph import Graph, GraphBuilder
from borel.numerics.intervals import interpreter
from borel.numerics.intervals.domains import has_values
from borel.probability.alphabets import Interval
from borel.probability.density import ranges_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from borel.probability.alphabets import Alphabet
    from borel.probability.density import Density

_MOST_LABELS = 256
_X = Graph((("input", ("x",)),), ("x",))


class Totals(NamedTuple):
    """What the totals of the secrets are sums of, as functions of one number ``x``.

    Attributes
    ----------
    parts : list of MovingPieces
        The density, and the masses of atoms.
    cuts : list of float
        The range of that number, cut where the kernel may jump.
    number : Graph
        The number, as a function of the secret.
    secrets : bool
        Whether it is the secret, with a density; else it may have values of no secret.
    what : str
        Integral or sum.
    """

    parts: list[MovingPieces]
    cuts: list[float]
    number: Graph
    secrets: bool
    what: str


def totals_of(
    kernels: Sequence[Density], outcome: Alphabet, breaks: Sequence[float]
) -> Totals | None:
    """Read a density and the masses of atoms; None if they depend on more than one number.

    Raises
    ------
    NotEnclosed
        An operation that Arb does not have.
    """
    density, line = kernels[0], getattr(outcome, "interval", outcome)
    secret, names = density.alphabets["x"], density.graph_names("x")
    graphs = [plain(d) for d in kernels]
    if any(not {*g.inputs} <= {"y", *names} for g in graphs):
        return None
    low, high = ranges_of(density)["x"] if secret.dim == 1 else (0.0, math.inf)
    whole, number = isinstance(secret, Interval), _X
    if not (math.isfinite(low) and math.isfinite(high)):
        one = _of_one_number(graphs[0], density) if len(graphs) == 1 else None
        if one is None and secret.dim > 1:
            return None
        if one is not None:
            graphs, number, (low, high) = [one[0]], one[1], one[2]
        whole = False
    if not low < high:
        return None
    if isinstance(line, Interval):
        ends: list[tuple[float, float]] = [(float(line.lower), float(line.upper))]
    elif outcome.kind == "finite" and outcome.dim == 1 and outcome.size <= _MOST_LABELS:
        graphs, ends = [summed(graphs[0], outcome.array)], []
    else:
        return None
    ends += [(0.0, 1.0)] * (len(graphs) - len(ends))  # a mass is its integral over (0, 1)
    turns = (*density.turns("x")[0], *breaks) if whole else ()
    cuts = [low, *sorted({float(v) for v in turns if low < v < high}), high]
    parts = [MovingPieces(g, *e, breaks) for g, e in zip(graphs, ends, strict=True)]
    return Totals(parts, cuts, number, whole, "integral" if isinstance(line, Interval) else "sum")


def plain(density: Density) -> Graph:
    """Return the graph of a density itself, with the inputs ``y`` and those of x."""
    build = GraphBuilder(rewrite.simplified(density.graph))  # type: ignore[arg-type]
    return build.graph(build.add("exp", *build.roots) if density.log else build.roots[0])


def summed(graph: Graph, labels: Any) -> Graph:
    """Return the sum of a kernel over finitely many outcomes."""
    build = GraphBuilder()
    parts = [build.append(graph.bind({"y": float(y)}))[-1] for y in labels]
    total, *others = parts
    for part in others:
        total = build.add("add", total, part)
    return build.graph(total)


def _of_one_number(
    graph: Graph, density: Density
) -> tuple[Graph, Graph, tuple[float, float]] | None:
    """Return a kernel of one function of the secret, that function, and its range."""
    names, ranges = density.graph_names("x"), ranges_of(density)
    if {*names}.isdisjoint(graph.inputs):
        return graph, _X, (0.0, 1.0)
    found = through_one(graph, names)
    if found is None:
        return None
    outer, inner = found
    box = {n: ranges[n] for n in inner.inputs}
    if not has_values(inner, box):  # the range is that of the secrets at which it has one
        return None
    low, high = interpreter.evaluate(inner, box)
    nodes = tuple(("input", ("x",)) if node == ("input", ("w0",)) else node for node in outer.nodes)
    return Graph(nodes, ("y", "x")), inner, (float(low), float(high))
