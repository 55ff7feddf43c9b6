"""Functions of several secrets that enter a graph through one weighted sum of them.

``exp(-|y - (x0 + x1) / 2|)`` depends on the secrets through ``x = x0 / 2 + x1 / 2`` alone, and is
``exp(-|y - x|)`` in it. The coefficients are Fractions: nothing is rounded.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from borel.numerics.graphs.graph import LEAVES, Graph, GraphBuilder

Form = dict[str, Fraction]
"""A weighted sum: the coefficient of each input; that of "" is what is added."""

_ONE = ""
_NAME = "x"
_BITS = 53
_NONE = Fraction(0)


class Line(NamedTuple):
    """Graphs that depend on some inputs through one weighted sum of them.

    Attributes
    ----------
    form : dict
        The sum.
    graphs : list of Graph
        The graphs, in which the input ``x`` is the sum.
    """

    form: Form
    graphs: list[Graph]


def through_a_sum(graphs: list[Graph], names: tuple[str, ...]) -> Line | None:
    """Return graphs as ones of a weighted sum of some inputs, if they are.

    Where they depend on y - (a weighted sum), the sum is that one: what bends at y = (the sum)
    bends at y = x.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: abs(2 * y - x[0] - 3 * x[1]), ("y", ("x0", "x1")), ())
    >>> line = through_a_sum([graph], ("x0", "x1"))
    >>> {name: str(c) for name, c in line.form.items()}
    {'x0': '1/2', 'x1': '3/2'}
    >>> sorted(line.graphs[0].operations)
    ['absolute', 'multiply', 'subtract']
    """
    found = [_Read(graph, names) for graph in graphs]
    sums = [read.forms[k] for read in found for k in read.used]
    if not sums:
        return None
    chosen = next((s for s in sums if "y" in s), sums[0])
    scale = -1 / chosen["y"] if "y" in chosen else Fraction(1)
    form = {name: c * scale for name, c in chosen.items() if name != "y"}
    made = [read.along(form) for read in found]
    return None if None in made else Line(form, [graph for graph in made if graph is not None])


def forms_of(graph: Graph) -> list[Form | None]:
    """Return each node as a weighted sum of inputs, if it is one."""
    forms: list[Form | None] = []
    for op, args in graph.nodes:
        forms.append(_form(op, args, forms))
    return forms


class _Read:
    """A graph, with its nodes that are weighted sums of inputs, and the last ones of those."""

    def __init__(self, graph: Graph, names: tuple[str, ...]):
        self.graph, self.names = graph, names
        self.forms = forms_of(graph)
        last = len(graph.nodes) - 1
        inner = [*enumerate(graph.nodes), (None, ("", (last,)))]
        users = [args for k, (op, args) in inner if op not in LEAVES
                 and (k is None or self.forms[k] is None)]  # fmt: skip
        self.used = [k for k in sorted({a for args in users for a in args}) if self._secret(k)]

    def _secret(self, k: int) -> bool:
        form = self.forms[k]
        return form is not None and not {*form}.isdisjoint(self.names)

    def along(self, form: Form) -> Graph | None:
        """Return the graph in terms of a weighted sum ``x``, if what it uses are such."""
        made = FormBuilder()
        place: dict[int, int] = {}
        for k, (op, args) in enumerate(self.graph.nodes):
            own = self.forms[k]
            plain = op in LEAVES
            if k in self.used:
                assert own is not None
                times = _multiple(own, form, self.names)
                if times is None:
                    return None
                rest = own.get(_ONE, _NONE) - times * form.get(_ONE, _NONE)
                place[k] = made.sum(own.get("y", _NONE), times, rest)
            elif self._secret(k):
                continue  # a part of one of those
            elif plain or all(a in place for a in args):
                place[k] = made.add(op, *(args if plain else (place[a] for a in args)))
            else:  # the secrets in it cancel each other
                assert own is not None
                place[k] = made.sum(own.get("y", _NONE), _NONE, own.get(_ONE, _NONE))
        names = tuple(n for n in self.graph.inputs if n not in self.names)
        root = place[len(self.graph.nodes) - 1]
        return made.graph(root, (*names, _NAME))


def _form(op: str, args: tuple, forms: list[Form | None]) -> Form | None:
    """Return a node as a weighted sum of inputs, if it is one."""
    if op == "input":
        return {args[0]: Fraction(1)}
    if op == "const":
        return {_ONE: Fraction(args[0])} if math.isfinite(args[0]) else None
    parts = [forms[a] for a in args]
    if any(part is None for part in parts):
        return None
    first, *others = [part for part in parts if part is not None]
    number = _number(others[0]) if len(others) == 1 else None
    if op in ("positive", "negative") and not others:
        return first if op == "positive" else _times(first, Fraction(-1))
    if op in ("add", "subtract") and len(others) == 1:
        second = others[0] if op == "add" else _times(others[0], Fraction(-1))
        names = [*first, *(n for n in second if n not in first)]
        both = {n: first.get(n, _NONE) + second.get(n, _NONE) for n in names}
        return {n: c for n, c in both.items() if c}
    if op == "multiply" and number is not None:
        return _times(first, number)
    if op == "multiply" and len(others) == 1 and (number := _number(first)) is not None:
        return _times(others[0], number)
    if op == "divide" and number:
        return _times(first, 1 / number)
    return None


def _number(form: Form) -> Fraction | None:
    """Return the number that a form without inputs is."""
    return form.get(_ONE, _NONE) if {*form} <= {_ONE} else None


def _times(form: Form, number: Fraction) -> Form:
    return {name: c * number for name, c in form.items()} if number else {}


def _multiple(form: Form, other: Form, names: tuple[str, ...]) -> Fraction | None:
    """Return the number that a weighted sum of secrets is of another, if it is one."""
    own, of = ({n: f[n] for n in names if n in f} for f in (form, other))
    if {*own} != {*of}:
        return None
    ratios = {own[n] / of[n] for n in own}
    return ratios.pop() if len(ratios) == 1 else None


class FormBuilder(GraphBuilder):
    """A graph in the making, of exact numbers and weighted sums."""

    def exact(self, value: Fraction) -> int:
        """Add a number: a float, and where it is none, floats that give it without rounding."""
        if Fraction(float(value)) == value:
            return self.add("const", float(value))
        top = self._whole(value.numerator)
        if value.denominator == 1:
            return top
        return self.add("divide", top, self._whole(value.denominator))

    def _whole(self, value: int) -> int:
        size, parts = abs(value), []
        while size:
            over = max(size.bit_length() - _BITS, 0)
            parts.append(math.copysign(float(size >> over << over), value))
            size -= size >> over << over
        k = self.add("const", parts[0] if parts else 0.0)
        for part in parts[1:]:
            k = self.add("add", k, self.add("const", part))
        return k

    def sum(self, of_y: Fraction, of_x: Fraction, rest: Fraction) -> int:
        """Add a multiple of y, one of x and a number."""
        terms = []
        if of_y and of_y == -of_x:
            terms.append(self._scaled(self.add("subtract", self._y(), self._x()), of_y))
        else:
            terms += [self._scaled(self._y(), of_y)] if of_y else []
            terms += [self._scaled(self._x(), of_x)] if of_x else []
        terms += [self.exact(rest)] if rest or not terms else []
        total, *others = terms
        for term in others:
            total = self.add("add", total, term)
        return total

    def _y(self) -> int:
        return self.add("input", "y")

    def _x(self) -> int:
        return self.add("input", _NAME)

    def _scaled(self, k: int, times: Fraction) -> int:
        if times == 1:
            return k
        if times == -1:
            return self.add("negative", k)
        return self.add("multiply", k, self.exact(times))
