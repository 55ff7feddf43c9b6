r"""Differences log f(y + 1|x) - log f(y|x), enclosed for all outcomes beyond one at once.

The difference is written down by exact rules, node by node, before it is enclosed, as

.. math:: \log\Gamma(u + 1) - \log\Gamma(u) = \log u, \qquad
    \log(u + d) - \log u = \log(1 + d / u),

so that what grows in both cancels. No derivative is taken and no null set left out: a statement
about all real y >= T holds for each integer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.numerics.germs.interpreter import PowerProgram, range_of
from borel.numerics.germs.specialisation import settled
from borel.numerics.germs.values import UndecidedRule, slack
from borel.numerics.graphs.graph import LEAVES, GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.numerics.graphs.graph import Graph

_MIX = "either"
"""An input that is between 0 and 1."""
_MOST = 8


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
    sign = 1.0 if named["y"].w[0] > 0 else -1.0
    return _Steps(settled(graph, named, t0), sign).graph()


def enclosed(
    graph: Graph, named: dict[str, Any], t0: float, *, almost: bool = False
) -> tuple[float, float]:
    """Return floats around all values of a graph; infinite ones where nothing is known.

    With ``almost`` a logarithm of what may be 0 is still bounded from above.
    """
    inputs = {**named, _MIX: slack(0.0, 1.0)}
    inputs = {name: inputs[name] for name in graph.inputs}
    return range_of(PowerProgram(graph).run(inputs, t0, almost=almost), t0)


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

    def __init__(self, graph: Graph, sign: float):
        self.made = GraphBuilder()
        self.step: dict[int, int | None] = {}
        place: list[int] = []
        for op, args in graph.nodes:
            if op in LEAVES:
                node = self.made.add(op, *args)
                self.step[node] = self._const(sign) if (op, *args) == ("input", "y") else None
            else:
                nodes = [place[a] for a in args]
                node = self.made.add(op, *nodes)
                # where no rule is known, nobody may ask
                self.step[node] = self._of(op, nodes)
            place.append(node)
        self.root = place[-1]

    def graph(self) -> Graph:
        step = self._asked(self.root)
        return self.made.graph(self._const(0.0) if step is None else step)

    def _const(self, value: float) -> int:
        return self.made.add("const", value)

    def _asked(self, node: int) -> int | None:
        step = self.step[node]
        if step is not None and step < 0:
            raise UndecidedRule("an operation without a rule for differences")
        return step

    def _of(self, op: str, nodes: list[int]) -> int | None:
        """Return the difference of an operation; -1 where no rule is known."""
        if all(self.step[k] is None for k in nodes):
            return None
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
        if self._asked(v) is not None:
            raise UndecidedRule("a quotient by a function of y")
        step = self._asked(u)
        return None if step is None else self.made.add("divide", step, v)

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
        step = self._asked(u)
        if step is None:
            return None
        return self.made.add("log1p", self.made.add("divide", step, u))

    def _log1p(self, u: int) -> int | None:
        step = self._asked(u)
        if step is None:
            return None
        whole = self.made.add("add", self._const(1.0), u)
        return self.made.add("log1p", self.made.add("divide", step, whole))

    def _xlogy(self, u: int, v: int) -> int | None:
        if self._asked(v) is not None:
            raise UndecidedRule("the logarithm of a function of y")
        return self._times(self._asked(u), self.made.add("log", v))

    def _xlog1py(self, u: int, v: int) -> int | None:
        if self._asked(v) is not None:
            raise UndecidedRule("the logarithm of a function of y")
        return self._times(self._asked(u), self.made.add("log1p", v))

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
