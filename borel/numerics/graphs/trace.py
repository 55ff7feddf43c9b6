"""Tracing: a density written with NumPy becomes an expression graph, once, in the constructor.

The graph is a list of instructions in order of evaluation; every engine reads it. An operation
that is not in the tables raises `NotTraceable`, naming it: each new function is opt-in.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from borel.constants import exactly
from borel.errors import NotTraceable
from borel.numerics.graphs.graph import Graph, GraphBuilder
from borel.numerics.graphs.operations import OPERATIONS, TRUTHS

_TRUTH, _WHOLE, _NARROW, _REAL = range(4)
"""What kinds of numbers NumPy computes with; of several, the last one."""
_LARGE = 2**15
"""A whole number that is larger may lead beyond 64 bits, of which NumPy says nothing."""
_KEPT = frozenset(op for op, of in OPERATIONS.items() if of.whole) - {"rint"} | {"where", "power"}
"""Operations that give numbers of the kind that they are given."""
_SHORT = frozenset("remainder floor_divide square power".split())
"""Those of them that take truth values for whole numbers of 8 bits."""
_LOGICAL = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "invert": "logical_not"}
_SYNONYMS = {other: op for op, of in OPERATIONS.items() for other in of.synonyms.split()}
UFUNCS = frozenset(
    op for op in (*OPERATIONS, *_SYNONYMS, *_LOGICAL) if op != "where" and "." not in op
)
"""NumPy ufuncs that a density may use."""


def lifted(graph: GraphBuilder, value: Any, where: str) -> Tracer:
    """Bring an argument into a graph: a tracer as it is, a number as a constant."""
    if isinstance(value, Tracer):
        if value._graph is not graph:
            raise NotTraceable(f"{where}: a value of another density leaked into this one")
        return value
    if isinstance(value, Fraction):
        value = exactly(value)  # NumPy's integers in a Fraction overflow
    if isinstance(value, Fraction) and Fraction(float(value)) != value:
        # a declared constant such as 1/10 is no float: it stays a quotient in the graph
        parts = [float(value.numerator), float(value.denominator)]
        if [Fraction(p) for p in parts] != [value.numerator, value.denominator]:
            raise NotTraceable(f"{where}: a Fraction with parts beyond float64, {value}")
        return Tracer(graph, graph.add("divide", *map(graph.constant, parts)))
    if isinstance(value, Fraction):
        value = float(value)
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise NotTraceable(f"{where}: an argument of type {type(value).__name__}")
    if array.ndim:
        raise NotTraceable(
            f"{where}: a captured array of shape {array.shape}; a traced density is "
            "elementwise in y and x, with numbers as constants"
        )
    kind = _TRUTH if array.dtype.kind == "b" else _WHOLE if array.dtype.kind in "iu" else _REAL
    if kind != _TRUTH and array.dtype.itemsize < 8:
        kind = _NARROW
    return Tracer(graph, graph.constant(float(array)), kind)


class Tracer(np.lib.mixins.NDArrayOperatorsMixin):
    """Stand in for y or x while a density is traced; records what is done to it."""

    __slots__ = ("_graph", "_index", "_kind")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, graph: GraphBuilder, index: int, kind: int = _REAL):
        self._graph = graph
        self._index = index
        # of this value, not of its node: 1 and True are one node
        self._kind = kind

    def _apply(self, name: str, arguments: tuple) -> Tracer:
        values = [lifted(self._graph, a, name) for a in arguments]
        kinds = [a._kind for a in values]
        if why := _refused(name, kinds, arguments):
            raise NotTraceable(f"np.{name} of {why}")
        name = _LOGICAL.get(name, name)
        if name == "add" and max(kinds) == _TRUTH:
            name = "logical_or"  # what NumPy does: True + True is True
        kind = _TRUTH if name in TRUTHS else _REAL
        if name in _KEPT:
            kind = max(kinds[1:] if name == "where" else kinds)
        return Tracer(self._graph, self._graph.add(name, *(a._index for a in values)), kind)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Tracer:
        name = ufunc.__name__
        if method != "__call__" or ufunc.nout != 1:
            raise NotTraceable(f"np.{name}.{method} is not elementwise with one result")
        if kwargs:
            raise NotTraceable(f"np.{name} with the arguments {sorted(kwargs)}")
        name = _SYNONYMS.get(name, name)
        if name in UFUNCS:
            return self._apply(name, inputs)
        if _is_special(ufunc):
            return self._apply(f"special.{name}", inputs)
        raise NotTraceable(f"the function {name} is not one that the graph knows")

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Tracer:
        name = getattr(func, "__name__", str(func))
        if name == "where" and len(args) == 3 and not kwargs:
            return self._apply("where", args)
        if name == "clip":
            values = list(args) + [None] * (3 - len(args))
            low = kwargs.pop("a_min", kwargs.pop("min", values[1]))
            high = kwargs.pop("a_max", kwargs.pop("max", values[2]))
            if not kwargs:
                out = values[0]
                out = out if low is None else np.maximum(out, low)
                return out if high is None else np.minimum(out, high)
        if name in ("round", "around") and 1 <= len(args) <= 2:
            number: Any = args[0]
            places = kwargs.pop("decimals", args[1] if len(args) == 2 else 0)
            if not kwargs and isinstance(number, Tracer) and places in range(16):
                unit = 10.0**places  # as NumPy rounds
                out: Any = np.rint(number * unit) / unit if places else np.rint(number)
                return out
        if name in ("ones_like", "zeros_like") and len(args) == 1 and not kwargs:
            return self._of_kind(float(name == "ones_like"), args[0]._kind)
        if name == "full_like" and len(args) == 2 and not kwargs:
            return self._of_kind(args[1], lifted(self._graph, args[0], name)._kind)
        if name == "select" and len(args) >= 2 and not kwargs:
            out: Any = args[2] if len(args) > 2 else 0.0
            for condition, choice in zip(reversed(args[0]), reversed(args[1]), strict=True):
                out = np.where(lifted(self._graph, condition, name), choice, out)
            return lifted(self._graph, out, name)
        if name == "searchsorted" and len(args) == 2 and isinstance(args[1], Tracer):
            side = kwargs.pop("side", "left")
            if not kwargs and side in ("left", "right"):
                return args[1]._count(args[0], np.less if side == "left" else np.less_equal)
        if name == "digitize" and len(args) == 2 and isinstance(args[0], Tracer):
            edges, right = np.asarray(args[1], float), kwargs.pop("right", False)
            falling = len(edges) > 1 and edges[0] > edges[-1]
            if not kwargs and not falling:
                return args[0]._count(edges, np.less if right else np.less_equal)
        raise NotTraceable(f"np.{name} is not one of the functions that the graph knows")

    def _count(self, edges: Any, below: Any) -> Tracer:
        """Return how many edges, in order, are below a value."""
        edges = np.asarray(edges, float)
        if edges.ndim != 1 or not len(edges) or not (np.diff(edges) >= 0).all():
            raise NotTraceable("edges of bins that are no numbers in rising order")
        out: Any = 0
        for edge in edges.tolist():
            out = np.where(below(edge, self), 1, 0) + out
        return out

    def astype(self, dtype: Any, **_: Any) -> Tracer:
        """Return the same number as a float64; anything else would round."""
        if np.dtype(dtype) != np.float64:
            raise NotTraceable(f"astype({dtype!r})")
        return Tracer(self._graph, self._index)

    def _of_kind(self, value: Any, kind: int) -> Tracer:
        """Bring a value into the graph as a number of a kind, to which NumPy rounds it."""
        if kind != _REAL and isinstance(value, Tracer):
            raise NotTraceable("np.full_like of truth values or whole numbers, by values of y or x")
        if kind != _REAL:
            value = bool(value) if kind == _TRUTH else int(value)
        return Tracer(self._graph, lifted(self._graph, value, "full_like")._index, kind)

    def __abs__(self) -> Tracer:
        """Record an absolute value."""
        return self._apply("absolute", (self,))

    def _refuse(self, what: str) -> Any:
        raise NotTraceable(
            f"{what} of y or x: a density must stay elementwise array code "
            "(np.where instead of if, np.exp instead of math.exp, scipy.special or from_scipy "
            "instead of scipy.stats, no indexing by y or x)"
        )

    def __bool__(self) -> bool:
        return self._refuse("the truth value")

    def __float__(self) -> float:
        return self._refuse("float(...)")

    def __int__(self) -> int:
        return self._refuse("int(...)")

    def __index__(self) -> int:
        return self._refuse("indexing by the value")

    def __len__(self) -> int:
        return self._refuse("len(...)")

    def __iter__(self) -> Any:
        return self._refuse("iteration")

    def __getitem__(self, key: Any) -> Any:
        return self._refuse("indexing")

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return self._refuse("conversion to an array")

    def __repr__(self) -> str:
        """Show the position in the graph."""
        return f"<traced value {self._index}>"


def _refused(name: str, kinds: list[int], arguments: tuple) -> str:
    """Say of what an operation is not the one of real numbers, as NumPy computes it."""
    used = max(kinds[1:] if name == "where" else kinds)
    if name in _LOGICAL and max(kinds) > _TRUTH:
        return "numbers: the bits of y or x"
    if used == _TRUTH and name in ("subtract", "negative", "positive", "sign"):
        return "truth values, which NumPy refuses"
    if used == _TRUTH and name in ("floor", "ceil", "trunc"):
        return "truth values, which depends on NumPy's version"
    if used == _TRUTH and name in _SHORT:
        return "truth values, which NumPy computes in 8 bits"
    known = name in TRUTHS or name in _LOGICAL or name in _KEPT or name == "divide"
    if used == _TRUTH and not known:
        return "truth values, which NumPy computes in half precision: write .astype(float)"
    if used == _NARROW:
        return "numbers of less than 64 bits, which NumPy rounds"
    if used == _WHOLE and not _small(name, arguments):
        return "whole numbers, which may leave 64 bits or be rounded: write floats, 2.0 for 2"
    return ""


def _small(name: str, arguments: tuple) -> bool:
    """Return whether an operation of whole numbers gives the number that is meant."""
    if name in ("floor_divide", "remainder", "reciprocal"):
        return False
    numbers = [a for a in arguments if not isinstance(a, Tracer)]
    if name == "power" and (isinstance(arguments[1], Tracer) or arguments[1] not in range(5)):
        return False
    return name not in _KEPT or all(abs(number) <= _LARGE for number in numbers)


def _is_special(ufunc: np.ufunc) -> bool:
    import sys

    special = sys.modules.get("scipy.special")  # if it is not loaded, the ufunc is not its own
    return special is not None and getattr(special, ufunc.__name__, None) is ufunc


def trace(
    function: Any, arguments: tuple[str | tuple[str, ...], ...], parameters: tuple[str, ...]
) -> Graph:
    """Run a density once on tracers and return its graph.

    Parameters
    ----------
    function : callable
        The density.
    arguments : tuple
        Names of its positional arguments; a tuple of names for a point of a product.
    parameters : tuple of str
        Names of its keyword arguments that stay open in the graph.

    Raises
    ------
    NotTraceable
        The density does something that the graph does not know; the message names it.
    """
    graph = GraphBuilder()

    def open_input(name: str | tuple[str, ...]) -> Any:
        if isinstance(name, tuple):
            return tuple(map(open_input, name))
        return Tracer(graph, graph.add("input", name))

    traced = [open_input(name) for name in arguments]
    keywords = {name: open_input(name) for name in parameters}
    try:
        result = lifted(graph, function(*traced, **keywords), "the result")
    except NotTraceable:
        raise
    except Exception as error:
        raise NotTraceable(f"{type(error).__name__}: {error}") from error
    names = [n for name in arguments for n in (name if isinstance(name, tuple) else (name,))]
    if result._index == len(graph.nodes) - 1:
        return Graph(tuple(graph.nodes), (*names, *parameters))
    # the result must stand last: drop what it does not need
    return graph.graph(result._index, (*names, *parameters))


def replay(graph: Graph, inputs: dict[str, Any]) -> Any:
    """Record a graph again inside another trace, on tracers (or numbers) as inputs."""
    outer = next(v._graph for v in inputs.values() if isinstance(v, Tracer))
    names = [args[0] for op, args in graph.nodes if op == "input"]
    nodes = {n: lifted(outer, inputs[n], "an inner density")._index for n in names}
    return Tracer(outer, outer.append(graph, inputs=nodes)[-1])
