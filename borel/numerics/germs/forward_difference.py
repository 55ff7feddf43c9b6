r"""Differences log f(y + 1|x) - log f(y|x), enclosed for all outcomes beyond one at once.

The difference is written down by exact rules, node by node, before it is enclosed, as

.. math:: \log\Gamma(u + 1) - \log\Gamma(u) = \log u, \qquad
    \log(u + d) - \log u = \log(1 + d / u),

so that what grows in both cancels; so do common factors of rational functions of y, and of those
under a logarithm (`rational_steps`), and log(y + b) - log(y + c) is log(1 + (b - c) / (y + c)). No
derivative is taken and no null set left out: a statement about all real y >= T holds for each
integer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.numerics.germs.interpreter import PowerProgram, range_of
from borel.numerics.germs.specialisation import settled
from borel.numerics.germs.values import UndecidedRule, slack
from borel.numerics.graphs.graph import LEAVES, GraphBuilder
from borel.numerics.graphs.rational_steps import applied, difference, gap_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.numerics.germs.values import Value
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.graphs.rational_steps import Rational

_MIX = "either"
"""An input that is between 0 and 1."""
_MOST = 8
_OF_LOGS = {
    "add": "multiply", "subtract": "divide", "negative": "reciprocal", "logaddexp": "add",
}  # fmt: skip
"""What an operation on logarithms does under them."""


def unit_step(graph: Graph, named: dict[str, Any], t0: float) -> Graph:
    """Return the graph of g(y + 1) - g(y).

    Parameters
    ----------
    graph : Graph
        g, a function of ``y`` and of other inputs.
    named : dict
        The outcomes y = 1/t (y = -1/t, for g(y - 1) - g(y)), and slacks for the other inputs.
    t0 : float
        The difference is right wherever both are finite, for -y or y >= 1/t0.

    Raises
    ------
    Undecided
        An operation without a rule.
    """
    sign = 1 if named["y"].w[0] > 0 else -1
    return _Steps(settled(graph, named, t0), sign).graph()


def enclosed(
    graph: Graph, named: dict[str, Any], t0: float, *, almost: bool = False
) -> tuple[float, float]:
    """Return floats around all values of a graph; infinite ones where nothing is known.

    With ``almost`` a logarithm of what may be 0 is still bounded from above.
    """
    return range_of(along(graph, named, t0, almost=almost), t0)


def along(graph: Graph, named: dict[str, Any], t0: float, *, almost: bool = False) -> Value:
    """Enclose a difference as a function of t; the parameters are those of `enclosed`."""
    inputs = {**named, _MIX: slack(0.0, 1.0)}
    inputs = {name: inputs[name] for name in graph.inputs}
    return PowerProgram(graph).run(inputs, t0, almost=almost)


def without_common(first: Graph, second: Graph) -> Graph:
    """Return the difference of two graphs, without the terms that both have.

    An unknown choice may be one in the first graph and another one in the second: it stays.
    """
    b = GraphBuilder(first, second)
    left: dict[int, int] = {}
    total = b.add("const", 0.0)
    for root, sign in zip(b.roots, (1, -1), strict=True):
        for node, factor in _terms(b, root, sign):
            if _MIX in b.graph(node).inputs:
                total = b.add("add" if factor > 0 else "subtract", total, node)
            else:
                left[node] = left.get(node, 0) + factor
    for node, factor in left.items():
        for _ in range(abs(factor)):
            total = b.add("add" if factor > 0 else "subtract", total, node)
    return b.graph(total)


def _terms(b: GraphBuilder, node: int, sign: int) -> Iterator[tuple[int, int]]:
    """Return the terms of a sum, and their signs."""
    op, args = b.nodes[node]
    if op in ("add", "subtract"):
        yield from _terms(b, args[0], sign)
        yield from _terms(b, args[1], sign if op == "add" else -sign)
    elif op == "negative":
        yield from _terms(b, args[0], -sign)
    else:
        yield node, sign


class _Steps:
    """A graph, and the difference of each of its nodes: None for one without y."""

    def __init__(self, graph: Graph, sign: int):
        self.made, self.sign = GraphBuilder(), sign
        self.step: dict[int, int | None] = {}
        self.rational: dict[int, Rational | None] = {}
        self.exponential: dict[int, Rational | None] = {}
        self.scaled: set[int] = set()
        place: list[int] = []
        for op, args in graph.nodes:
            if op in LEAVES:
                node = self.made.add(op, *args)
                moves = (op, *args) == ("input", "y")
                self.step[node] = self._const(float(sign)) if moves else None
                self.rational[node] = applied(op, args, {})
            else:
                nodes = tuple(place[a] for a in args)
                node = self.made.add(op, *nodes)
                self.rational[node] = applied(op, nodes, self.rational)
                self.exponential[node] = self._exponential(op, nodes)
                if self._is_scaled(op, nodes):
                    self.scaled.add(node)
                # where no rule is known, nobody may ask
                self.step[node] = self._of(op, node, nodes)
            place.append(node)
        self.root = place[-1]

    def graph(self) -> Graph:
        step = self._asked(self.root)
        return self.made.graph(self._const(0.0) if step is None else self._paired(step))

    def _paired(self, step: int) -> int:
        """Write log u - log v in a sum as log(1 + (u - v) / v) where u - v is a number."""
        made, known = self.made, {}
        for k, (op, args) in enumerate(made.nodes):
            known[k] = applied(op, args, known)
        terms, total = list(_terms(made, step, 1)), made.constant(0.0)
        while terms:
            node, sign = terms.pop()
            for other in terms if made.arguments(node, "log") else ():
                if other[1] != -sign or not made.arguments(other[0], "log"):
                    continue
                up, down = (node, other[0]) if sign > 0 else (other[0], node)
                (u,), (v,) = made.nodes[up][1], made.nodes[down][1]
                gap = gap_of(known[u], known[v])
                if gap is not None:
                    terms.remove(other)
                    quotient = made.add("divide", made.constant(gap), v)
                    node, sign = made.add("log1p", quotient), 1
                    break
            total = made.add("add" if sign > 0 else "subtract", total, node)
        return total

    def _const(self, value: float) -> int:
        return self.made.add("const", value)

    def _asked(self, node: int) -> int | None:
        step = self.step[node]
        if step is not None and step < 0:
            raise UndecidedRule("an operation without a rule for differences")
        return step

    def _exponential(self, op: str, nodes: tuple[int, ...]) -> Rational | None:
        """Return what a node is the logarithm of, if that is a quotient of polynomials.

        Of a sum it may be so up to a factor that does not depend on y.
        """
        one = applied("const", (1.0,), {})
        if op in ("log", "log1p"):
            inner = self.rational[nodes[0]]
            return inner if op == "log" else applied("add", (0, 1), (one, inner))
        if op == "multiply":
            for k, other in (nodes, nodes[::-1]):
                times, inner = self.made.number(k), self.exponential.get(other)
                if times and inner is not None and times.is_integer() and abs(times) <= _MOST:
                    out = one
                    for _ in range(abs(int(times))):
                        turn = "multiply" if times > 0 else "divide"
                        out = applied(turn, (0, 1), (out, inner))
                    return out
            return None
        if op not in _OF_LOGS:
            return None
        parts = [self.exponential.get(k) for k in nodes]
        if op in ("add", "subtract"):
            still = [self.step[k] is None for k in nodes]
            parts = [one if s and p is None else p for s, p in zip(still, parts, strict=True)]
        elif op == "logaddexp" and any(k in self.scaled for k in nodes):
            return None
        return applied(_OF_LOGS[op], range(len(parts)), parts)

    def _is_scaled(self, op: str, nodes: tuple[int, ...]) -> bool:
        """Return whether what a node is the logarithm of may be known up to a factor only."""
        if op in ("log", "log1p"):  # of a number, and that is known
            return False
        unknown = op in ("add", "subtract") and any(self.exponential.get(k) is None for k in nodes)
        return unknown or any(k in self.scaled for k in nodes)

    def _of(self, op: str, node: int, nodes: tuple[int, ...]) -> int | None:
        """Return the difference of an operation; -1 where no rule is known."""
        if all(self.step[k] is None for k in nodes):
            return None
        grown = self._growth(self.exponential[node], always=op == "logaddexp")
        if grown is not None:
            return self.made.add("log1p", grown)
        rule = getattr(self, "_" + op.replace("special.", ""), None)
        try:
            return -1 if rule is None else rule(*nodes)
        except UndecidedRule:
            return -1

    # -- rules ------------------------------------------------------------------------------

    def _plus(self, *terms: tuple[int, int | None]) -> int | None:
        """Add signed differences; what is None is 0."""
        total: int | None = None
        for sign, term in terms:
            if term is None:
                continue
            if total is None:
                total = term if sign > 0 else self.made.add("negative", term)
            else:
                total = self.made.add("add" if sign > 0 else "subtract", total, term)
        return total

    def _times(self, u: int | None, v: int | None) -> int | None:
        if u is None or v is None:
            return None
        one = self._const(1.0)
        return u if v == one else v if u == one else self.made.add("multiply", u, v)

    def _add(self, u: int, v: int) -> int | None:
        return self._plus((1, self._asked(u)), (1, self._asked(v)))

    def _subtract(self, u: int, v: int) -> int | None:
        return self._plus((1, self._asked(u)), (-1, self._asked(v)))

    def _negative(self, u: int) -> int | None:
        return self._plus((-1, self._asked(u)))

    def _multiply(self, u: int, v: int) -> int | None:
        a, b = self._asked(u), self._asked(v)
        return self._plus((1, self._times(a, v)), (1, self._times(u, b)), (1, self._times(a, b)))

    def _square(self, u: int) -> int | None:
        return self._multiply(u, u)

    def _divide(self, u: int, v: int) -> int | None:
        step, under = self._asked(u), self._asked(v)
        if under is None:
            return None if step is None else self.made.add("divide", step, v)
        whole = applied("divide", (u, v), self.rational)
        if whole is not None and (node := difference(self.made, whole, self.sign)) is not None:
            return node
        less = self.made.add("multiply", self.made.add("divide", u, v), under)
        step = self._plus((1, step), (-1, less))
        return self.made.add("divide", step, self.made.add("add", v, under))

    def _reciprocal(self, v: int) -> int | None:
        one = self._const(1.0)
        self.step[one], self.rational[one] = None, applied("const", (1.0,), {})
        return self._divide(one, v)

    def _exp(self, u: int) -> int | None:
        step = self._asked(u)
        if step is None:
            return None
        return self.made.add("multiply", self.made.add("exp", u), self.made.add("expm1", step))

    def _log(self, u: int) -> int | None:
        op, args = self.made.nodes[u]
        if op == "special.gamma":
            return self._gammaln(args[0])
        if op == "special.binom":
            return self._log_binom(*args)
        if self.step[u] is None:
            return None
        if op == "power":
            return self._with_log(args[1], "log", args[0])
        grown = self._growth(self.rational[u])
        if grown is not None:
            return self.made.add("log1p", grown)
        if op == "divide":
            return self._plus((1, self._log(args[0])), (-1, self._log(args[1])))
        return self.made.add("log1p", self.made.add("divide", self._asked(u), u))

    def _log1p(self, u: int) -> int | None:
        step = self._asked(u)
        if step is None:
            return None
        one = self._const(1.0)
        self.rational[one] = applied("const", (1.0,), {})
        grown = self._growth(applied("add", (one, u), self.rational))
        if grown is None:
            grown = self.made.add("divide", step, self.made.add("add", one, u))
        return self.made.add("log1p", grown)

    def _growth(self, whole: Rational | None, always: bool = False) -> int | None:
        """Return r(y + 1) / r(y) - 1 for a quotient of polynomials; for a sum if ``always``."""
        if whole is None or not (always or whole.under.degree() > 0):
            return None
        return difference(self.made, whole, self.sign, relative=True)

    def _with_log(self, u: int, op: str, v: int) -> int | None:
        """Return the difference of u log v, or u log1p v."""
        log = self.made.add(op, v)
        self.step[log] = self._log(v) if op == "log" else self._log1p(v)
        return self._multiply(u, log)

    def _xlogy(self, u: int, v: int) -> int | None:
        return self._with_log(u, "log", v)

    def _xlog1py(self, u: int, v: int) -> int | None:
        return self._with_log(u, "log1p", v)

    def _where(self, c: int, u: int, v: int) -> int | None:
        if self._asked(c) is not None:
            raise UndecidedRule("a condition on y")
        a, b = (self._const(0.0) if k is None else k for k in (self._asked(u), self._asked(v)))
        return self.made.add("where", c, a, b)

    def _logaddexp(self, u: int, v: int) -> int | None:
        """Take some number between the two differences: which one depends on all of u and v."""
        some = self.made.add("greater", self.made.add("input", _MIX), self._const(0.5))
        a, b = (self._const(0.0) if k is None else k for k in (self._asked(u), self._asked(v)))
        return self.made.add("where", some, a, b)

    def _gammaln(self, u: int, moved: int = 0) -> int | None:
        """Write log Gamma(u + k + moved) - log Gamma(u + moved) as a sum of k logarithms."""
        count = self._whole(u)
        sign = 1 if count > 0 else -1
        places = range(moved, moved + count) if count > 0 else range(moved + count, moved)
        logs = [self.made.add("log", self._moved(u, j)) for j in places]
        return self._plus(*((sign, log) for log in logs))

    def _loggamma(self, u: int) -> int | None:
        return self._gammaln(u)

    def _log_binom(self, n: int, k: int) -> int | None:
        """Take the logarithm of Gamma(n + 1) / (Gamma(k + 1) Gamma(n - k + 1))."""
        gap = self.made.add("subtract", n, k)
        self.step[gap] = self._subtract(n, k)
        parts = (1, n), (-1, k), (-1, gap)
        return self._plus(*((sign, self._gammaln(u, 1)) for sign, u in parts))

    def _moved(self, u: int, j: int) -> int:
        return u if j == 0 else self.made.add("add", u, self._const(float(j)))

    def _whole(self, u: int) -> int:
        """Return a difference that is a small whole number."""
        step, sign = self._asked(u), 1
        if step is None:
            return 0
        while inner := self.made.arguments(step, "negative"):
            step, sign = inner[0], -sign
        value = self.made.number(step)
        if value is None or value != int(value) or abs(value) > _MOST:
            raise UndecidedRule("a step within a gamma function")
        return sign * int(value)
