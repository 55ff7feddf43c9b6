"""Rewrite rules: a graph as its logarithm, and forms in which a variable occurs once.

Interval arithmetic overestimates a function in which a variable occurs twice, x / (1 + x) say.
Every rule is an identity of real functions wherever its left side is defined.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from borel.numerics.graphs.affine_nodes import affine
from borel.numerics.graphs.constant_folding import folded
from borel.numerics.graphs.formulas import formula
from borel.numerics.graphs.graph import LEAVES, GraphBuilder, needed
from borel.numerics.graphs.nan_conditions import gives_numbers, of_conditions
from borel.numerics.graphs.operations import COMPARISONS, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph


class _Builder(GraphBuilder):
    """A graph in the making that knows what is nonnegative, and what is a number."""

    def __init__(
        self,
        nonnegative: Callable[[Graph], bool] | None = None,
        numbers: Callable[[Graph], bool] | None = None,
    ):
        super().__init__()
        self._proves, self._numbers = nonnegative, numbers
        self._nonnegative: dict[int, bool] = {}

    def nonnegative(self, k: int) -> bool:
        """Return whether a node is known to be >= 0, by its operations or over the alphabets."""
        if k not in self._nonnegative:
            proved = self._by_operations(k) or (
                self._proves is not None and self._proves(self.graph(k))
            )
            self._nonnegative[k] = proved
        return self._nonnegative[k]

    def is_number(self, k: int) -> bool:
        """Return whether a node is a number, by its operations or over the alphabets."""
        return all(
            math.isfinite(args[0])
            if op == "const"
            else op == "input" or gives_numbers(self.nodes, op, args)
            for op, args in (self.nodes[j] for j in needed(self.nodes, k))
        ) or (self._numbers is not None and self._numbers(self.graph(k)))

    def _by_operations(self, k: int) -> bool:
        op, args = self.nodes[k]
        if op == "const":
            return args[0] >= 0
        if op == "maximum":
            return any(self.nonnegative(a) for a in args)
        if op == "where":
            return self.nonnegative(args[1]) and self.nonnegative(args[2])
        if op == "power" and (_even(self, args[1]) or self.nonnegative(args[0])):
            return True
        known = OPERATIONS[op].nonnegative if op in OPERATIONS else ""
        return known == "always" or (known == "kept" and all(map(self.nonnegative, args)))


def _rebuilt(
    graph: Graph,
    rule: Callable[[_Builder, str, tuple], int],
    nonnegative: Callable[[Graph], bool] | None = None,
    numbers: Callable[[Graph], bool] | None = None,
) -> tuple[_Builder, int]:
    out, kept = _Builder(nonnegative, numbers), of_conditions(graph)
    place: list[int] = []
    for k, (op, args) in enumerate(graph.nodes):
        if op in LEAVES:
            place.append(out.add(op, *args))
        elif k in kept:
            place.append(out.add(op, *(place[a] for a in args)))
        else:
            place.append(rule(out, op, tuple(place[a] for a in args)))
    return out, place[-1]


def simplified(graph: Graph, numbers: Callable[[Graph], bool] | None = None) -> Graph:
    """Return a graph without the common dependency traps.

    ``numbers`` proves that a function is a number all over the alphabets.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: 1 / (1 + np.exp(-x)), ("y", "x"), ())
    >>> [op for op, _ in simplified(graph).nodes]
    ['input', 'special.expit']
    """
    out, last = _rebuilt(graph, _simple, numbers=numbers)
    return out.graph(last, graph.inputs)


def _simple(b: _Builder, op: str, args: tuple) -> int:
    """Add a node in its simplest form."""
    if op == "multiply":
        return _product(b, *args)
    if op == "power" and b.number(args[1]) in (1.0, 2.0, -1.0, 0.5):
        p = b.number(args[1])
        if p == 1:
            return args[0]
        inner = _below(b, args[0]) if p == -1 else args[0]
        return b.add({2.0: "square", -1.0: "reciprocal", 0.5: "sqrt"}[p], inner)  # type: ignore[index]
    if op == "power" and (b.number(args[1]) or 0.0) < 0:
        return b.add("power", _below(b, args[0]), args[1])
    if op == "divide":
        return _quotient(b, *args)
    if op == "reciprocal":
        return _quotient(b, b.add("const", 1.0), args[0])
    if op == "sqrt" and (inner := b.arguments(args[0], "square")):
        return b.add("absolute", *inner)
    if op == "square" and (
        inner := b.arguments(args[0], "absolute") or b.arguments(args[0], "negative")
    ):
        return b.add("square", *inner)
    if op == "absolute" and (inner := b.arguments(args[0], "negative")):
        return b.add("absolute", *inner)
    if op == "negative" and (inner := b.arguments(args[0], "negative")):
        return inner[0]
    if op == "add":
        return _sum(b, *args)
    if op == "subtract":
        return args[0] if b.number(args[1]) == 0.0 else _difference(b, *args)
    if op == "log":
        return _log(b, args[0])
    if op == "log1p" and (inner := b.arguments(args[0], "exp")):
        return b.add("logaddexp", b.add("const", 0.0), *inner)
    if op == "exp" and (inner := b.arguments(args[0], "log")) and b.nonnegative(inner[0]):
        return inner[0]
    return b.add(op, *args)


def _sum(b: _Builder, u: int, v: int) -> int:
    for one, other in ((u, v), (v, u)):
        if b.number(one) == 0.0:
            return other
    return b.add("add", u, v)


def _difference(b: _Builder, u: int, v: int) -> int:
    """Add u - v; of u and u + w only w remains, of u and u w the factor 1 - w, beside v or not.

    Where u is a number: infinity - infinity is none.
    """
    for whole, part in ((u, v), (v, u)):
        inner = b.arguments(whole, "add")
        if part in inner and b.is_number(part):
            rest = inner[1] if inner[0] == part else inner[0]
            return rest if whole == u else b.add("negative", rest)
    for product, part in ((v, u), (u, v)):
        inner = [*(b.arguments(product, "multiply") or 2 * b.arguments(product, "square"))]
        if part in inner and b.is_number(part):
            rest, one = inner[inner[0] == part], b.add("const", 1.0)
            gap = (one, rest) if part == u else (rest, one)
            return b.add("multiply", part, b.add("subtract", *gap))
    terms, factors = b.arguments(u, "add"), b.arguments(v, "multiply")
    shared = [part for part in factors if part in terms and b.is_number(part)]
    if shared:  # x + y - x y, of a copula
        part = shared[0]
        other, rest = terms[terms[0] == part], factors[factors[0] == part]
        gap = b.add("subtract", b.add("const", 1.0), rest)
        return _sum(b, other, b.add("multiply", part, gap))
    return b.add("subtract", u, v)


def _product(b: _Builder, u: int, v: int) -> int:
    if u == v:
        return b.add("square", u)
    for one, other in ((u, v), (v, u)):
        if b.number(one) == 1.0 or (b.number(one) == 0.0 and b.is_number(other)):
            return other if b.number(one) else one
        if b.number(one) == -1.0:
            return b.add("negative", other)
    return b.add("multiply", u, v)


def _one_plus(b: _Builder, k: int) -> int | None:
    """Return v if a node is 1 + v."""
    inner = b.arguments(k, "add")
    for one, other in zip(inner, inner[::-1], strict=True):
        if b.number(one) == 1.0:
            return other
    return None


def _below(b: _Builder, k: int) -> int:
    """Add a denominator; of 1 - (1 - x) (1 - y), x + y (1 - x), which is seen to be 0 at 0 only.

    Elsewhere it stays: x and y occur once in it.
    """
    op, args = b.nodes[k]
    if op == "square" or (op == "power" and b.number(args[1]) is not None):
        return b.add(op, _below(b, args[0]), *args[1:])
    if op == "subtract" and b.number(args[0]) == 1.0:
        factors = b.arguments(args[1], "multiply")
        gaps = [b.arguments(factor, "subtract") for factor in factors]
        if factors and all(gap and b.number(gap[0]) == 1.0 for gap in gaps):
            (_, x), (_, y) = gaps
            if b.is_number(x) and b.is_number(y):  # infinity - infinity is new
                return b.add("add", x, b.add("multiply", y, factors[0]))
    return k


def _quotient(b: _Builder, u: int, v: int) -> int:
    v = _below(b, v)
    rest = _one_plus(b, v)
    if rest is not None:
        power = b.arguments(rest, "exp")
        if power and b.number(u) == 1.0:  # 1 / (1 + e^w)
            return b.add("special.expit", _simple(b, "negative", power))
        if u == rest and not b.is_number(u):  # infinity / infinity
            return b.add("divide", u, v)
        if power and u == rest:  # e^w / (1 + e^w)
            return b.add("special.expit", *power)
        if u == rest:  # w / (1 + w)
            gap = b.add("reciprocal", v)
            return b.add("subtract", b.add("const", 1.0), gap)
    squared = b.arguments(v, "square")
    if squared and (rest := _one_plus(b, squared[0])) is not None:
        power = b.arguments(rest, "exp")
        if power and u == rest and b.is_number(u):  # e^w / (1 + e^w)^2
            mirrored = b.add("special.expit", _simple(b, "negative", power))
            return b.add("multiply", b.add("special.expit", *power), mirrored)
    if b.number(u) == 1.0:
        return b.add("reciprocal", v)
    return b.add("divide", u, v)


def _log(b: _Builder, k: int) -> int:
    """Add the logarithm of a node."""
    if inner := b.arguments(k, "exp"):
        return inner[0]
    if inner := b.arguments(k, "add"):
        powers = [b.arguments(a, "exp") for a in inner]
        if all(powers):
            return b.add("logaddexp", powers[0][0], powers[1][0])
        if (rest := _one_plus(b, k)) is not None and (power := b.arguments(rest, "exp")):
            return b.add("logaddexp", b.add("const", 0.0), *power)
    if inner := b.arguments(k, "special.expit"):
        return b.add("special.log_expit", *inner)
    return b.add("log", k)


def log_of(
    graph: Graph,
    nonnegative: Callable[[Graph], bool] | None = None,
    numbers: Callable[[Graph], bool] | None = None,
) -> Graph:
    """Return the graph of the logarithm of a density, in logarithms as far as products allow.

    Parameters
    ----------
    graph : Graph
        The density.
    nonnegative : callable, optional
        ``graph -> bool``: whether it is proved to be never negative, wherever it is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: 2 * np.exp(-x) / 3, ("y", "x"), ())
    >>> [op for op, _ in log_of(graph).nodes if op not in ("const", "input")]
    ['negative', 'log', 'add', 'log', 'subtract']
    """
    b, last = _rebuilt(
        simplified(graph, numbers), lambda b, op, args: b.add(op, *args), nonnegative
    )
    return simplified(b.graph(_logarithm(b, last), graph.inputs), numbers)


def far_log(log_graph: Graph, nonnegative: Callable[[Graph], bool] | None = None) -> Graph:
    """Return a logarithm whose sums are sums of exponentials of logarithms.

    Where a term grows without bound, log(1 + w^2) loses its slope to intervals, 2 w / (1 + w^2);
    that of logaddexp(0, 2 log|w|) is a share of 2 / w.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: -np.log1p((y - x) ** 2), ("y", "x"), ())
    >>> [op for op, _ in far_log(graph).nodes if op not in ("const", "input")]
    ['subtract', 'absolute', 'log', 'multiply', 'logaddexp', 'negative']
    """

    def rule(b: _Builder, op: str, args: tuple) -> int:
        if op in ("log", "log1p") and b.nonnegative(args[0]):
            inner = _logarithm(b, args[0], spread=True)
            return inner if op == "log" else b.add("logaddexp", b.add("const", 0.0), inner)
        return _simple(b, op, args)

    b, last = _rebuilt(simplified(log_graph), rule, nonnegative)
    return b.graph(last, log_graph.inputs)


def _logarithm(b: _Builder, k: int, *, spread: bool = False) -> int:
    op, args = b.nodes[k]
    if op == "exp":
        return args[0]
    if op == "where":
        return b.add("where", args[0], *(_logarithm(b, a, spread=spread) for a in args[1:]))
    if op in ("maximum", "minimum") and all(b.nonnegative(a) for a in args):
        return b.add(op, *(_logarithm(b, a, spread=spread) for a in args))
    if op == "add" and all(b.nonnegative(a) for a in args):
        logs = [_logarithm(b, a, spread=spread) for a in args]
        if spread or any(_is_exponential(b, m) for m in logs):  # a sum that underflows without it
            return b.add("logaddexp", *logs)
    elif op == "const" and args[0] == 0:
        return b.add("const", -math.inf)
    elif op in OPERATIONS and (rule := OPERATIONS[op].log) and (sizes := _sizes(b, op, args)):
        logs = [_logarithm(b, size, spread=spread) for size in sizes]
        inputs = {"lu": logs[0], "lv": logs[-1], "v": args[-1]}
        return b.append(formula(rule), inputs=inputs)[-1]
    return b.add("log", k)


def _sizes(b: _Builder, op: str, args: tuple) -> tuple[int, ...]:
    """Return the nonnegative numbers that a product or power is one of, or its size is."""
    if op == "square":
        return args if b.nonnegative(args[0]) else (b.add("absolute", args[0]),)
    if op == "power":
        fixed = b.number(args[1]) not in (None, 0.0)
        if (fixed and b.nonnegative(args[0])) or (b.number(args[0]) or 0.0) > 0:
            return args[:1]
        return (b.add("absolute", args[0]),) if _even(b, args[1]) else ()
    return args if op == "sqrt" or all(map(b.nonnegative, args)) else ()


def _is_exponential(b: _Builder, k: int) -> bool:
    """Return whether e^node is an exponential, which may underflow, of what is no constant."""
    op, args = b.nodes[k]
    known = op == "const" or (op == "log" and b.number(args[0]) is not None)
    return not known and not _is_logarithm(b, k)


def _even(b: _Builder, k: int) -> bool:
    """Return whether a node is an even number, but 0."""
    n = b.number(k)
    return n is not None and n != 0 and math.isfinite(n) and n % 2 == 0


def linear_of(graph: Graph) -> Graph:
    """Return the graph of e^graph: a sum where the logarithm was one of a sum.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: np.logaddexp(-1.0, x), ("y", "x"), ())
    >>> [op for op, _ in linear_of(graph).nodes if op not in ("const", "input")]
    ['exp', 'exp', 'add']
    """
    b, last = _rebuilt(simplified(graph), lambda b, op, args: b.add(op, *args))
    return simplified(b.graph(_exponential(b, last), graph.inputs))


def _exponential(b: _Builder, k: int) -> int:
    """Add e^node. What is the logarithm of something is that: a logarithm is of numbers >= 0."""
    op, args = b.nodes[k]
    if op == "log":
        return args[0]
    if op == "logaddexp":
        return b.add("add", *(_exponential(b, a) for a in args))
    if op == "where":
        return b.add("where", args[0], *(_exponential(b, a) for a in args[1:]))
    if op == "multiply" and b.number(args[0]) is not None and b.nodes[args[1]][0] == "log":
        return b.add("power", b.nodes[args[1]][1][0], args[0])
    if op in ("add", "subtract") and any(_is_logarithm(b, a) for a in args):
        parts = (_exponential(b, a) for a in args)
        return b.add("multiply" if op == "add" else "divide", *parts)
    if op == "negative" and _is_logarithm(b, args[0]):
        return b.add("reciprocal", _exponential(b, args[0]))
    return b.add("exp", k)


def _is_logarithm(b: _Builder, k: int) -> bool:
    """Return whether e^node is no exponential: it ends in logarithms of what is no constant."""
    op, args = b.nodes[k]
    if op == "log":
        return b.number(args[0]) is None
    if op in ("logaddexp", "where"):
        return True
    if op == "multiply" and b.number(args[0]) is not None:
        return b.nodes[args[1]][0] == "log" and _is_logarithm(b, args[1])
    if op in ("add", "subtract", "negative"):
        return any(_is_logarithm(b, a) for a in args)
    return False


def is_logarithm(log_kernel: Graph) -> bool:
    """Return whether a density is no exponential, but a sum, a power or a choice.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> is_logarithm(trace(lambda y, x: np.log(1 + x * y), ("y", "x"), ()))
    True
    >>> is_logarithm(trace(lambda y, x: -x * y, ("y", "x"), ()))
    False
    """
    b = _Builder()
    return _is_logarithm(b, b.append(log_kernel)[-1])


def integrand(log_kernel: Graph, log_prior: Graph | None, *, far: bool = False) -> Graph:
    """Return the graph of f(y|x) p(x) e^-shift from the two logarithms; ``shift`` is an input.

    What is no exponential (a sum, a power) is written as it is, without logarithms, which are
    singular where it vanishes. With ``far`` everything is one exponential, as it must be where
    e^shift leaves the range of floats.
    """
    b = _Builder()
    f = b.append(log_kernel)[-1]
    weight = b.add("negative", b.add("input", "shift"))
    plain = []
    if log_prior is not None:
        whole = _in_whole_logarithms(log_prior)
        p = b.append(log_prior if far else whole)[-1]
        if not far and _is_plain(b, p):
            plain.append(_exponential(b, p))
        else:
            weight = b.add("add", b.append(log_prior)[-1], weight)
    if not far and _is_logarithm(b, f):
        last = b.add("multiply", _exponential(b, f), b.add("exp", weight))
    else:
        last = b.add("exp", b.add("add", f, weight))
    for factor in plain:
        last = b.add("multiply", factor, last)
    return simplified(b.graph(last, (*log_kernel.inputs, "shift")))


def _in_whole_logarithms(graph: Graph) -> Graph:
    """Return a log-density with log1p u as log (1 + u), and its numbers as such."""

    def rule(b: _Builder, op: str, args: tuple) -> int:
        if op != "log1p":
            return b.add(op, *args)
        return b.add("log", b.add("add", b.add("const", 1.0), args[0]))

    b, last = _rebuilt(folded(graph), rule)
    return b.graph(last, graph.inputs)


def _is_plain(b: _Builder, k: int) -> bool:
    """Return whether e^node is a product of what has no logarithm: a polynomial, say."""
    op, args = b.nodes[k]
    if op in ("add", "where"):
        return all(_is_plain(b, a) for a in args[-2:])
    if op == "subtract":
        return _is_plain(b, args[0]) and _still(b, args[1])
    if op == "multiply" and b.nodes[args[1]][0] == "log":
        n = b.number(args[0])
        return n is not None and n.is_integer() and n > 0
    return op == "log" or _still(b, k)


def _still(b: _Builder, k: int) -> bool:
    """Return whether a node does not vary."""
    op, args = b.nodes[k]
    return op == "const" or (op != "input" and all(_still(b, a) for a in args))


def diagonal(graph: Graph) -> tuple[Graph, dict[int, list[int]]]:
    """Return the graph with x = y + offset, and the nodes that each new node stands for.

    Along such a path y - x is constant, which intervals would not see; nor would they see how y
    and x compare.
    """
    b = _Builder()
    y, offset, zero = b.add("input", "y"), b.add("input", "offset"), b.constant(0.0)
    x = b.add("add", y, offset)

    def rule(op: str, *args: int) -> int:
        if op in COMPARISONS and {*args} == {y, x}:
            return b.add(op, *(offset if a == x else zero for a in args))
        if op in COMPARISONS:
            one, other = (affine(b.graph(a), ("y", "offset"))[-1] for a in args)
            if one is not None and other is not None and one[1] == other[1]:
                # y cancels, and the ends of the offset are told exactly
                slope, level = one[2] - other[2], other[0] - one[0]
                if abs(slope) == 1 and abs(level) < 1e300 and float(level) == level:
                    number = b.constant(float(slope * level))
                    return b.add(op, *((offset, number) if slope > 0 else (number, offset)))
        return _simple(b, op, args)

    place = b.append(graph, rule, {"y": y, "x": x})
    moved = {k: i for i, k in enumerate(needed(b.nodes, place[-1]))}
    origin: dict[int, list[int]] = {}
    for old, new in enumerate(place):
        if new in moved:
            origin.setdefault(moved[new], []).append(old)
    return b.graph(place[-1], ("y", "offset")), origin
