"""Whether a prior's density is positive almost everywhere on its box: log p is finite there.

A sum of finite numbers is finite; log u is so where u > 0. A weighted sum of secrets that varies is
0 on a null set only, so it is positive almost everywhere where it is not negative: as x and 1 - x
on (0, 1). What is not seen to be finite is not said to be.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.errors import InvalidInput, NotEnclosed
from borel.numerics.graphs import float64
from borel.numerics.graphs.graph import Graph, GraphBuilder
from borel.numerics.graphs.operations import ON_A_PART, OPERATIONS, TOTAL
from borel.numerics.intervals import interpreter
from borel.numerics.reduction.linear_forms import Form, forms_of
from borel.probability.density import ranges_of
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from borel.probability.density import Density

Ends = tuple[float, float]
ROUNDING = 2e-11
"""What floats may miss: a mass further from 1, or a density further below 0, is an error."""
_SWEEPS, _BOXES, _LABELS = 48, 256, 8
_SECONDS = 0.2
"""How much work, by the clock of budgets, a search for NaN may be; no figure's budget pays it."""
_TWICE = frozenset(("absolute", "exp", "expm1", "log", "log1p", "negative", "sqrt", "square"))
"""Operations that take no value at more than two numbers."""

_LESS, _GREATER = frozenset(("less", "less_equal")), frozenset(("greater", "greater_equal"))


def positive_on(
    log_density: Graph,
    names: tuple[str, ...],
    lower: np.ndarray,
    upper: np.ndarray,
    breaks: tuple,
    fixed: dict[str, Ends] | None = None,
) -> bool:
    """Return whether a log-density is seen to be finite almost everywhere on a box.

    ``fixed`` are inputs that are one number each, between these ends: it is so for all of them.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda x: np.log(6 * x) + np.log(1 - x), ("x",), ())
    >>> ends = np.array([0.0]), np.array([1.0])
    >>> positive_on(graph, ("x",), *ends, ())
    True
    >>> graph = trace(lambda x: np.log(np.where(x < 0.5, 2.0, 0.0)), ("x",), ())
    >>> positive_on(graph, ("x",), *ends, (0.5,))
    False
    """
    boxes = [list(zip(lower.tolist(), upper.tolist(), strict=True))]
    if len(names) == 1:
        (a, b), inner = boxes[0][0], [v for v in breaks if lower[0] < v < upper[0]]
        boxes = [[piece] for piece in pairwise([a, *sorted(inner), b])]
    try:
        pieces = [
            _Piece(log_density, dict(zip(names, box, strict=True)), fixed or {}) for box in boxes
        ]
        return all(piece.finite(len(log_density.nodes) - 1) for piece in pieces)
    except NotEnclosed:
        return False


class _Piece:
    """A graph on a box of secrets."""

    def __init__(self, graph: Graph, box: dict[str, Ends], fixed: dict[str, Ends]):
        self.graph, self.forms = graph, forms_of(graph)
        self.box, self.fixed = {**box, **fixed}, fixed

    def ends(self, k: int) -> tuple[Fraction | float, Fraction | float]:
        """Return bounds of a node: exact ones of a weighted sum."""
        form = self.forms[k]
        if form is not None:
            both = [self._sum(form, side) for side in (0, 1)]
            return both[0], both[1]
        named = {n: (np.array(a), np.array(b)) for n, (a, b) in self.box.items()}
        graph = Graph(self.graph.nodes[: k + 1], self.graph.inputs)
        low, high = interpreter.evaluate(graph, named)
        return float(low), float(high)

    def _sum(self, form: Form, side: int) -> Fraction | float:
        """Return the least or the largest value of a weighted sum."""
        total = form.get("", Fraction(0))
        for name in (n for n in form if n):
            end = self.box[name][side if form[name] > 0 else 1 - side]
            if math.isinf(end):
                return math.inf if side else -math.inf
            total += form[name] * Fraction(end)
        return total

    def varies(self, k: int) -> bool:
        """Return whether a node takes each of its values on a null set only.

        A weighted sum that varies does, and what takes no value more than twice of such a node.
        """
        op, args = self.graph.nodes[k]
        if op in _TWICE:
            return self.varies(args[0])
        return any(name and name not in self.fixed for name in self.forms[k] or ())

    def finite(self, k: int) -> bool:
        """Return whether a node is finite almost everywhere."""
        op, args = self.graph.nodes[k]
        if op in ("input", "const"):
            return op == "input" or math.isfinite(args[0])
        if op == "where":
            return any(self.finite(a) for a in self.taken(args))
        if op in TOTAL:
            return all(map(self.finite, args))
        first = args[0]
        if op == "log":
            return self.finite(first) and self.above_zero(first)
        if op == "log1p":
            low, _ = self.ends(first)
            return self.finite(first) and (low > -1 or (low >= -1 and self.varies(first)))
        if op == "sqrt":
            return self.finite(first) and self.ends(first)[0] >= 0
        if op in ("divide", "reciprocal"):
            return all(map(self.finite, args)) and self.not_zero(args[-1])
        if op == "power":
            whole = self.whole(args[1])
            return all(map(self.finite, args)) and (whole or self.above_zero(first))
        low, high = self.ends(k)
        return math.isfinite(low) and math.isfinite(high)

    def above_zero(self, k: int) -> bool:
        """Return whether a node is positive almost everywhere."""
        op, args = self.graph.nodes[k]
        if op == "where":
            return any(self.above_zero(a) for a in self.taken(args))
        if op in ("multiply", "divide", "sqrt") and all(map(self.above_zero, args)):
            return True
        low, _ = self.ends(k)
        if op == "square" and self.not_zero(args[0]):
            return True
        varies = self.varies(k) or (op == "multiply" and all(map(self.not_zero, args)))
        return low > 0 or (low >= 0 and varies)

    def not_zero(self, k: int) -> bool:
        """Return whether a node is not 0 almost everywhere."""
        low, high = self.ends(k)
        return self.varies(k) or low > 0 or high < 0

    def whole(self, k: int) -> bool:
        """Return whether a node is a number 0, 1, 2, ..."""
        op, args = self.graph.nodes[k]
        return op == "const" and args[0] >= 0 and args[0] % 1 == 0

    def taken(self, args: tuple) -> tuple:
        """Return the branch of a condition that holds almost everywhere, if it is known."""
        test, yes, no = args
        op, sides = self.graph.nodes[test]
        if op in _LESS | _GREATER and all(self.forms[a] is not None for a in sides):
            nodes = (*self.graph.nodes[: test + 1], ("subtract", (sides[1], sides[0])))
            gap = _Piece(Graph(nodes, self.graph.inputs), self.box, self.fixed)
            (low, high), varies = gap.ends(test + 1), gap.varies(test + 1)
            if low > 0 or (low >= 0 and varies):
                return (yes,) if op in _LESS else (no,)
            if high < 0 or (high <= 0 and varies):
                return (no,) if op in _LESS else (yes,)
            return ()
        low, high = self.ends(test)
        return () if low != high else (yes,) if low else (no,)


def require_nonnegative(density: Density, what: str, expected: str = "a density >= 0") -> bool:
    """Raise for a density that is negative on a box, or NaN, as far as halving boxes finds one.

    Intervals prove that it is negative. Return whether they prove that it is not, anywhere.
    """
    ranges, graph = ranges_of(density), density.graph
    if graph is None or any(a.kind != "continuous" for a in density.alphabets.values()):
        return False
    whole = True
    names = list(graph.inputs)
    low, high = (np.array([[ranges[name][end]] for name in names]) for end in (0, 1))
    for sweep in range(_SWEEPS * len(names)):
        boxes = {name: (low[k], high[k]) for k, name in enumerate(names)}
        try:
            least, most = interpreter.evaluate(graph, boxes)
        except NotEnclosed:
            return False
        if density.log:  # any sign will do, but a number it must be
            unknown = np.isinf(least) & np.isinf(most) & (least < most)
            least, most = np.where(unknown, -np.inf, 0.0), np.where(unknown, np.inf, 0.0)
        none = _nowhere_a_number(graph, names, low, high, np.isinf(least) & np.isinf(most))
        if (most < -ROUNDING).any() or none.any():
            k = int(np.argmin(np.where(none, -np.inf, most)))
            raise InvalidInput(
                what,
                expected="a log-density" if density.log else expected,
                got="nan" if none[k] else f"less than {float(most[k]):.6g}, proved",
                where=_box(names, low[:, k], high[:, k]),
                mend="correct the function there, or shrink the alphabet.",
            )
        open_ = np.flatnonzero(~(least >= 0))
        whole = whole and len(open_) <= _BOXES
        low, high, wide = _halves(low, high, open_, least, sweep % len(names))
        whole = whole and wide
        if not low.size:
            return whole
    return False


def _halves(
    low: np.ndarray, high: np.ndarray, open_: np.ndarray, worst: np.ndarray, axis: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Halve boxes along an axis, the worst ones if there are many; say if all could be halved."""
    open_ = open_[np.argsort(worst[open_], kind="stable")][:_BOXES]
    low, high = low[:, open_], high[:, open_]
    middle = _middle(low[axis], high[axis])
    left, right = high.copy(), low.copy()
    left[axis], right[axis] = middle, middle
    low, high = np.hstack([low, right]), np.hstack([left, high])
    wide = low[axis] < high[axis]
    return low[:, wide], high[:, wide], bool(wide.all())


def require_numbers(density: Density, what: str) -> None:
    """Raise for a density that is NaN on a box, as far as halving boxes finds one.

    Proofs do not see that where it cancels: 0 log(x - 1) is 0 to them. Of labels a few are tried.
    """
    graph = density.graph
    names = [name for argument in density.alphabets for name in density.graph_names(argument)]
    if graph is None or not {*graph.inputs} <= {*names}:
        return
    factors = [factor for alphabet in density.alphabets.values() for factor in alphabet.factors]
    lines = [k for k, factor in enumerate(factors) if factor.kind in ("continuous", "mixed")]
    ranges = ranges_of(density)
    places = [
        [ranges[name]] if k in lines else _few_labels(factors[k]) for k, name in enumerate(names)
    ]
    starts = np.array([*islice(product(*places), _BOXES)], float)
    sides = [*_outside_domains(graph)]
    with settings.apart():
        for done, (node, excess) in enumerate(sides):
            until = settings.now() + (_SECONDS - settings.now()) / min(4, len(sides) - done)
            low, high = starts[:, :, 0].T, starts[:, :, 1].T
            for sweep in range(_SWEEPS * max(len(lines), 1)):
                boxes = {name: (low[k], high[k]) for k, name in enumerate(names)}
                try:
                    ends = interpreter.evaluate(excess, {n: boxes[n] for n in excess.inputs})
                except NotEnclosed:
                    break
                least, most = (np.broadcast_to(end, low.shape[1:]) for end in ends)
                settled = (least > 0) & np.isfinite(high - low).all(axis=0)
                if settled.any():
                    _require_numbers_in(graph, node, names, low[:, settled], high[:, settled], what)
                open_ = np.flatnonzero((most > 0) & ~settled)
                if settings.late(until) or not (lines and open_.size):
                    break
                low, high, _ = _halves(low, high, open_, -most, lines[sweep % len(lines)])


def _outside_domains(graph: Graph) -> Iterator[tuple[int, Graph]]:
    """Read the nodes that are numbers for some numbers only: each, and what is > 0 for others."""
    for node, (op, args) in enumerate(graph.nodes):
        ends = OPERATIONS[op].domain if op in ON_A_PART else None
        if op == "power" and (exponent := graph.nodes[args[1]])[0] == "const":
            ends = None if float(exponent[1][0]).is_integer() else (0.0, math.inf)
        for side, end in zip((1, -1), ends or (), strict=False):
            if math.isfinite(end):
                build = GraphBuilder(graph)
                gap = (build.constant(end), args[0])[::side]
                yield node, build.graph(build.add("subtract", *gap), graph.inputs)


def _few_labels(alphabet: Any) -> list[Ends]:
    """Return some labels, each as its own range."""
    if alphabet.kind == "finite":
        labels = np.unique(alphabet.array)[:: max(1, alphabet.size // _LABELS)]
    else:
        labels = head_of(alphabet, _LABELS)
        labels = labels[alphabet.contains(labels)]
    return [(float(v), float(v)) for v in labels]


def _require_numbers_in(
    graph: Graph, node: int, names: list[str], low: np.ndarray, high: np.ndarray, what: str
) -> None:
    """Raise for a box, of some where a node is NaN, in which the root is NaN for that reason."""
    t = np.array([0.13, 0.31, 0.52, 0.71, 0.89])
    low_, gap = low[..., None], (high - low)[..., None]
    points = {name: low_[k] + gap[k] * np.roll(t, k) for k, name in enumerate(names)}
    nodes = (*graph.nodes[:node], ("const", (1.0,)), *graph.nodes[node + 1 :])
    found = [float64.evaluate(g, points) for g in (graph, Graph(nodes, graph.inputs))]
    none = (np.isnan(found[0]) & ~np.isnan(found[1])).all(axis=-1)
    if none.any():
        k = int(np.argmax(none))
        raise InvalidInput(
            what,
            expected="a density that is a number",
            got="nan",
            where=_box(names, low[:, k], high[:, k]),
            mend="correct the function there, or shrink the alphabet.",
        )


def _box(names: list[str], low: np.ndarray, high: np.ndarray) -> str:
    sides = zip(names, low.tolist(), high.tolist(), strict=True)
    return ", ".join(
        f"{n} in [{a:.17g}, {b:.17g}]" if a < b else f"{n} = {a:.17g}" for n, a, b in sides
    )


def _nowhere_a_number(
    graph: Graph, names: list[str], low: np.ndarray, high: np.ndarray, open_: np.ndarray
) -> np.ndarray:
    """Return which boxes, of those that are open, hold NaN at every place of a few."""
    out = np.zeros(open_.shape, bool)
    if open_.any() and np.isfinite(high - low).all():
        t = np.array([0.13, 0.31, 0.52, 0.71, 0.89])
        a, b = low[:, open_, None], high[:, open_, None]
        named = {name: a[k] + (b[k] - a[k]) * np.roll(t, k) for k, name in enumerate(names)}
        out[open_] = np.isnan(float64.evaluate(graph, named)).all(axis=1)
    return out


def _middle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a number between two, which may be infinite."""
    with np.errstate(invalid="ignore"):
        inner = a + (b - a) / 2
    inner = np.where(np.isinf(b), np.where(np.isinf(a), 0.0, np.maximum(2 * np.abs(a), 1.0)), inner)
    return np.where(np.isinf(a) & ~np.isinf(b), np.minimum(-2 * np.abs(b), -1.0), inner)


def prover(density: Density) -> Callable[[Graph], bool]:
    """Return what proves that a function of the same inputs is >= 0 on the alphabets."""
    ranges = ranges_of(density)

    def nonnegative(graph: Graph) -> bool:
        try:
            low, _ = interpreter.evaluate(graph, {name: ranges[name] for name in graph.inputs})
        except NotEnclosed:
            return False
        return bool(low >= 0)

    return nonnegative
