"""What a kernel integrates or sums to over the outcomes, read as a function of one number.

That number is the secret, or a function of it through which alone the kernel depends on it: the
range of such a function may be short where the secrets have no end.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from borel.numerics.balls.moving_pieces import MovingPieces
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.affine_nodes import affine
from borel.numerics.graphs.constant_folding import folded
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

_MOST_LABELS, _MOST_POWERS = 256, 16
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
    kernels: Sequence[Density],
    outcome: Alphabet,
    breaks: Sequence[float],
    *,
    almost_all: bool = False,
) -> Totals | None:
    """Read a density and the masses of atoms; None if they depend on more than one number.

    With ``almost_all`` the totals are those of almost all secrets, by Lebesgue measure.

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
        between = (low, high) if almost_all and whole else None
        graphs, ends = [summed(graphs[0], outcome.array, between)], []
    else:
        return None
    ends += [(0.0, 1.0)] * (len(graphs) - len(ends))  # a mass is its integral over (0, 1)
    turns = (*density.turns("x")[0], *breaks) if whole else ()
    cuts = [low, *sorted({float(v) for v in turns if low < v < high}), high]
    parts = [MovingPieces(g, *e, breaks) for g, e in zip(graphs, ends, strict=True)]
    return Totals(parts, cuts, number, whole, "integral" if isinstance(line, Interval) else "sum")


def plain(density: Density) -> Graph:
    """Return the graph of a density itself, with the inputs ``y`` and those of x."""
    build = GraphBuilder(density.simplified())
    return build.graph(build.add("exp", *build.roots) if density.log else build.roots[0])


def summed(graph: Graph, labels: Any, secrets: tuple[float, float] | None = None) -> Graph:
    """Return the sum of a kernel over finitely many outcomes.

    Between two ``secrets``, if these are given, it is that of almost all of them.
    """
    build = GraphBuilder()
    kernels = [folded(graph.bind({"y": float(y)})) for y in labels]
    if secrets is not None:
        kernels = [_without_logs(kernel, *secrets) for kernel in kernels]
    total, *others = (build.append(kernel)[-1] for kernel in kernels)
    for part in others:
        total = build.add("add", total, part)
    return build.graph(total)


def _without_logs(graph: Graph, low: float, high: float) -> Graph:
    """Return a kernel with u^k for e^(k log u), where u is affine in x and k is 0, 1, 2, ...

    If u > 0 at almost all secrets the two are the same there, and the power is analytic beside
    them, also where u is 0; at u = 0 itself 0 log u is no number.
    """
    (root, args), forms = graph.nodes[-1], affine(graph, ("x",))
    if root != "exp":
        return graph
    build = GraphBuilder()
    place = build.append(graph)
    # of each node what stays a logarithm, and the powers that e^node is a product of with e^that
    parts: list[tuple[int, tuple[int, ...]]] = []
    for k, (op, of) in enumerate(graph.nodes):
        found = _log_of_power(graph, k)
        if found is not None and _positive(forms[found[1]], found[2], low, high):
            times, base, more = found
            node = build.add("add", place[base], build.constant(1.0)) if more else place[base]
            powers = (build.add("power", node, build.constant(times)),) if times else ()
            parts.append((build.constant(0.0), powers))
            continue
        parts.append((place[k], ()))
        if op in ("add", "subtract"):
            (left, one), (right, other) = (parts[a] for a in of)
            if op == "subtract":  # nothing is divided by a power
                right, other = place[of[1]], ()
            if len(one + other) <= _MOST_POWERS:
                parts[-1] = build.add(op, left, right), one + other
    rest, powers = parts[args[0]]
    total = build.add("exp", rest)
    for power in powers:
        total = build.add("multiply", total, power)
    return rewrite.simplified(build.graph(total, graph.inputs))


def _log_of_power(graph: Graph, k: int) -> tuple[float, int, int] | None:
    """Read a node as k log u or k log(1 + u): k, the node u, and 0 or 1; None if it is neither."""
    (op, args), times = graph.nodes[k], 1.0
    if op == "multiply":
        for one, other in (args, args[::-1]):
            if graph.nodes[one][0] == "const" and graph.nodes[other][0] in ("log", "log1p"):
                times, (op, args) = graph.nodes[one][1][0], graph.nodes[other]
                break
    elif op in ("special.xlogy", "special.xlog1py") and graph.nodes[args[0]][0] == "const":
        times, op = graph.nodes[args[0]][1][0], "log1p" if op.endswith("1py") else "log"
    if op not in ("log", "log1p") or not (times >= 0 and times == times // 1 < math.inf):
        return None
    return times, args[-1], int(op == "log1p")


def _positive(form: tuple[Fraction, ...] | None, more: int, low: float, high: float) -> bool:
    """Return whether a + more + b x is positive almost everywhere between two numbers."""
    if form is None or form[1] == 0:
        return False
    return all(form[0] + more + form[1] * Fraction(x) >= 0 for x in (low, high))


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
