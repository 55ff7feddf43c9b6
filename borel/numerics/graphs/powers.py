"""Sums of products of powers: the algebra of kernels such as Clayton's copula, in exact numbers.

A node is read as a sum of terms, each a number times powers of *bases*: inputs that are positive,
sums of such terms, or the results of other operations.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel.numerics.graphs.graph import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from borel.numerics.graphs.graph import Graph

_MOST = 32


class NotAlgebraic(Exception):
    """A number that is no float64, or a sum of too many terms."""


class Sum(tuple):
    """A sum of terms as a base: pairs of a term and its number.

    A term is a tuple of pairs, in a fixed order: a base, which is the name of an input, the place
    of a node, or a `Sum`; and its exponent, a Fraction other than 0.
    """


Term = tuple[tuple[Any, Fraction], ...]
Terms = dict[Term, Fraction]
ONE: Term = ()


def term_of(pairs: Iterable[tuple[Any, Fraction]]) -> Term:
    """Return the product of powers.

    Raises
    ------
    NotAlgebraic
        Powers of a base that need not be positive, whose product is defined where they are not:
        S^(1/2) S^(1/2) is S only where that is not negative, and S / S is 1 only where it is not 0.
    """
    out: dict[Any, Fraction] = {}
    for base, exponent in pairs:
        if base in out and not isinstance(base, str):
            both = out[base], exponent
            if any(e.denominator != 1 for e in both) or (both[0] < 0) != (both[1] < 0):
                raise NotAlgebraic
        out[base] = out.get(base, Fraction(0)) + exponent
    kept = [(base, exponent) for base, exponent in out.items() if exponent]
    return tuple(sorted(kept, key=lambda pair: (type(pair[0]).__name__, repr(pair[0]))))


def read(graph: Graph, positive: Collection[str]) -> Terms:
    """Return the result of a graph as a sum of terms.

    Parameters
    ----------
    graph : Graph
        Any graph.
    positive : collection of str
        The inputs that are positive; others are bases as nodes.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: 3 * x / y**2 - 1, ("y", "x"), ())
    >>> [(dict(term), number) for term, number in read(graph, "xy").items()][0]
    ({'x': Fraction(1, 1), 'y': Fraction(-2, 1)}, Fraction(3, 1))
    """
    known: list[Terms] = []
    for k, (op, args) in enumerate(graph.nodes):
        found = _read(op, args, known, positive)
        known.append({((k, Fraction(1)),): Fraction(1)} if found is None else found)
    return known[-1]


def _read(op: str, args: tuple, known: list[Terms], positive: Collection[str]) -> Terms | None:
    """Return what an operation gives; None if that is a base of its own."""
    if op == "const":
        return {ONE: Fraction(args[0])} if abs(args[0]) < float("inf") else None
    if op == "input":
        return {((args[0], Fraction(1)),): Fraction(1)} if args[0] in positive else None
    if op in ("add", "subtract", "negative"):
        return _total([known[a] for a in args], -1 if op != "add" else 1)
    if op == "multiply":
        (u, c), (v, d) = (_single(known[a]) for a in args)
        return {term_of(u + v): c * d}
    if op in _POWERS:
        return _power(known[args[0]], _POWERS[op])
    if op == "divide" and (below := _power(known[args[1]], Fraction(-1))) is not None:
        (u, c), (v, d) = _single(known[args[0]]), _single(below)
        return {term_of(u + v): c * d}
    if op == "power":
        exponent, number = _single(known[args[1]])
        return _power(known[args[0]], number) if exponent == ONE else None
    return None


_POWERS = {"square": Fraction(2), "sqrt": Fraction(1, 2), "reciprocal": Fraction(-1)}


def _total(parts: list[Terms], sign: int) -> Terms:
    """Return the sum of two, their difference, or one with the other sign."""
    signs = (1, sign) if len(parts) == 2 else (sign,)
    both = zip(parts, signs, strict=True)
    out = summed((term, factor * c) for part, factor in both for term, c in part.items())
    if len(out) > _MOST:
        raise NotAlgebraic
    return out or {ONE: Fraction(0)}


def summed(pairs: Iterable[tuple[Term, Fraction]]) -> Terms:
    """Return the sum of terms times numbers, without those that vanish.

    Raises
    ------
    NotAlgebraic
        One vanishes that need not be a number everywhere: S^(1/2) - S^(1/2) is not 0 where S < 0.
    """
    out: Terms = {}
    for term, number in pairs:
        out[term] = out.get(term, Fraction(0)) + number
    if not all(number or _is_number(term) for term, number in out.items()):
        raise NotAlgebraic
    return {term: number for term, number in out.items() if number}


def _is_number(term: Term) -> bool:
    """Return whether a term is a number wherever its inputs are positive."""
    return all(
        isinstance(base, str)
        or (
            isinstance(base, Sum)
            and exponent > 0
            and exponent.denominator == 1
            and all(_is_number(part) for part, _ in base)
        )
        for base, exponent in term
    )


def _single(part: Terms) -> tuple[Term, Fraction]:
    """Return a sum as one term: one of several terms is the base of it."""
    if len(part) == 1:
        return next(iter(part.items()))
    return ((Sum(part.items()), Fraction(1)),), Fraction(1)


def _power(part: Terms, p: Fraction) -> Terms | None:
    """Return a power of a sum; None where it is not the product of the powers of its bases."""
    term, number = _single(part)
    signed = [exponent for base, exponent in term if not isinstance(base, str)]
    if p.denominator != 1 and (number != 1 or signed not in ([], [1])):
        return None
    if any(e.denominator != 1 or (e < 0 and p < 0) for e in signed):
        return None
    if number == 0 or p == 0:
        return None
    return {powered(term, p): exact_power(number, p)}


def powered(term: Term, p: Fraction) -> Term:
    """Return a power of a term, other than its 0th."""
    return tuple((base, exponent * p) for base, exponent in term)


def exact_power(number: Fraction, p: Fraction) -> Fraction:
    """Return a power of a positive number, or a whole power of another.

    Raises
    ------
    NotAlgebraic
        One that is not rational, as far as is easily seen.
    """
    if number == 1:
        return number
    if p.denominator != 1 or abs(p) > 64:
        raise NotAlgebraic
    return number ** int(p)


def float64_of(number: Fraction) -> float | None:
    """Return the float64 that a number is, if it is one."""
    try:
        value = float(number)
    except OverflowError:
        return None
    return value if Fraction(value) == number else None


def cleared(graph: Graph, positive: Collection[str]) -> Graph:
    """Return a graph whose sums have no negative powers of positive inputs: they are factors.

    Where x goes to 0, intervals lose (1/x + 1/y - 1)^-3 / x^2, but not x y^3 (x + y - x y)^-3. It
    is the same number wherever the inputs are positive. A graph without such sums is returned as
    it is.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: (1 / x + 1 / y) * x, ("y", "x"), ())
    >>> [op for op, _ in cleared(graph, "xy").nodes if op != "input"]
    ['const', 'multiply', 'add', 'reciprocal', 'multiply']
    """
    try:
        writer = _Writer(graph)
        common, node = writer.sum(read(graph, positive).items())
        if not writer.changed:
            return graph
        return writer.graph(
            writer.product(Fraction(1), [*common, (node, Fraction(1))]), graph.inputs
        )
    except NotAlgebraic:
        return graph


def regular(graph: Graph, positive: Collection[str], name: str) -> tuple[Graph, int] | None:
    """Return a graph without its singular factor at 0 of an input, which is t^n of another t.

    The result times a function of the input alone is the graph with t^n in place of the input,
    and has no roots of t. None if there is no such factor.

    Examples
    --------
    >>> import numpy as np
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: 1 - x + x / (2 * np.sqrt(y)), ("y", "x"), ())
    >>> found, n = regular(graph, "xy", "y")
    >>> n, [op for op, _ in found.nodes if op not in ("input", "const")]
    (2, ['multiply', 'negative', 'add', 'multiply', 'add'])
    """
    try:
        root = math.lcm(*_denominators(read(graph, positive).items(), name))
        if root > _MOST:
            return None
        b = GraphBuilder()
        t = b.add("input", name)
        power = t if root == 1 else b.add("power", t, b.constant(root))
        graph = b.graph(b.append(graph, inputs={name: power})[-1], graph.inputs)
        writer = _Writer(graph)
        common, node = writer.sum(read(graph, positive).items())
        if name not in dict(common):
            return None
        kept = [pair for pair in common if pair[0] != name]
        whole = writer.product(Fraction(1), [*kept, (node, Fraction(1))])
        return writer.graph(whole, graph.inputs), root
    except NotAlgebraic:
        return None


def _denominators(terms: Iterable[tuple[Term, Fraction]], name: str) -> list[int]:
    """Return the denominators of the exponents of an input."""
    out = []
    for term, _ in terms:
        for base, exponent in term:
            if base == name:
                out.append(exponent.denominator)
            elif isinstance(base, Sum):
                out += _denominators(base, name)
    return out


class _Writer(GraphBuilder):
    def __init__(self, graph: Graph):
        super().__init__()
        self.place = self.append(graph)
        self.changed = False

    def sum(self, terms: Iterable[tuple[Term, Fraction]]) -> tuple[Term, int]:
        """Add a sum, without the powers that all of its terms are given as a factor."""
        read = [(self._factors(term), number) for term, number in terms]
        common = {}
        for base in sorted({b for term, _ in read for b, _ in term if isinstance(b, str)}):
            least = min(dict(term).get(base, Fraction(0)) for term, _ in read)
            if least < 0:
                common[base] = least
        if common and len(read) > 1:
            self.changed = True
        outside = tuple((base, -exponent) for base, exponent in common.items())
        read = [(term_of(term + outside), number) for term, number in read]
        return tuple(common.items()), self._by_powers(read, sorted(common, reverse=True))

    def _by_powers(self, terms: list[tuple[Term, Fraction]], bases: list[str]) -> int:
        """Add a sum as one of the powers of its first base: x + y (1 - x), not x + y - x y."""
        if len(terms) == 1 or not bases:
            return self._added([self.product(number, term) for term, number in terms])
        groups: dict[Fraction, list[tuple[Term, Fraction]]] = {}
        for term, number in terms:
            exponent = dict(term).get(bases[0], Fraction(0))
            rest = tuple(pair for pair in term if pair[0] != bases[0])
            groups.setdefault(exponent, []).append((rest, number))
        parts = []
        for exponent, group in sorted(groups.items()):
            inner = self._by_powers(group, bases[1:])
            power = [(bases[0], exponent)] if exponent else []
            parts.append(self.product(Fraction(1), [*power, (inner, Fraction(1))]))
        return self._added(parts)

    def _added(self, parts: list[int]) -> int:
        out = parts[0]
        for part in parts[1:]:
            out = self.add("add", out, part)
        return out

    def _factors(self, term: Term) -> Term:
        """Return a term with nodes in place of sums."""
        out: list[tuple[Any, Fraction]] = []
        for base, exponent in term:
            if isinstance(base, Sum):
                outside, base = self.sum(base)
                out += [(name, power * exponent) for name, power in outside]
            elif not isinstance(base, str):
                base = self.place[base]
            out.append((base, exponent))
        return term_of(out)

    def product(self, number: Fraction, term: Iterable[tuple[Any, Fraction]]) -> int:
        """Add a number times powers of inputs and nodes."""
        factors = []
        for base, exponent in term:
            node = self.add("input", base) if isinstance(base, str) else base
            if exponent == -1:
                node = self.add("reciprocal", node)
            elif exponent != 1:
                node = self.add("power", node, self.exact(exponent))
            factors.append(node)
        if number == -1 and factors:
            factors[0] = self.add("negative", factors[0])
        elif number != 1 or not factors:
            factors.insert(0, self.exact(number))
        out = factors[0]
        for factor in factors[1:]:
            out = self.add("multiply", out, factor)
        return out

    def exact(self, number: Fraction) -> int:
        """Add a number that is a float64, or the quotient of two."""
        if (value := float64_of(number)) is not None:
            return self.constant(value)
        parts = [float64_of(Fraction(part)) for part in (number.numerator, number.denominator)]
        if None in parts:
            raise NotAlgebraic
        return self.add("divide", *(self.constant(part) for part in parts if part is not None))
