r"""Ratios of kernels on unbounded boxes of outcomes: polynomials of y that cancel exactly.

log f(y|x) - log f(y|x') is the difference of two numbers that both go to -infinity, and intervals
lose it. But most log-kernels are a polynomial in y (with |y - x| of a known sign far out) plus
terms that the two share. Terms are kept apart as rational multiples of y^k times a constant node,
or of a node that depends on y; equal ones cancel, and what is left is bounded.

Gamma functions of arguments that differ by numbers cancel as well: with u = s y + b > 0 and d >= 0

.. math:: \log\Gamma(u + d) - \log\Gamma(u) = d \log u + \frac{d (d - 1)}{2 u} + \frac{e}{u^2},
    \qquad -\frac{d^3}{6} - \frac{d}{12} \le e \le \frac{d^2}{4},

which is the integral of :math:`-1/(12 z^2) \le \psi(z) - \log z + 1/(2 z) \le 0` over
:math:`u \le z \le u + d`. And a logarithm that is left grows less than a multiple of y:
:math:`0 \le \log u - \log u_0 \le (u - u_0) / u_0` for :math:`u \ge u_0`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.numerics.graphs.graph import LEAVES, GraphBuilder
from borel.numerics.graphs.operations import TOTAL, TRUTHS
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box

_DEGREE = 6
_LOG_GAMMAS = ("special.gammaln", "special.loggamma")
Terms = dict[tuple[int, Any], Fraction]
"""Rational factors by (power of y, node): node None is 1; a negative power marks a node of y."""
_OPAQUE = -1
_LONGEST = 1000
SOME = "some"
"""An input that is between 0 and 1, another number for each outcome."""


class TailRatios:
    """The log-kernels of several secrets, as functions of the outcome.

    Parameters
    ----------
    graphs : list of Graph
        log f(y|x) for each secret, with the one input ``y``.
    ranges : dict, optional
        Intervals of further inputs, for what is asked of all their values at once.
    """

    def __init__(self, graphs: list[Graph], ranges: dict[str, tuple[float, float]] | None = None):
        self._ranges = {
            name: (np.array([[a]]), np.array([[b]]))
            for name, (a, b) in {SOME: (0.0, 1.0), **(ranges or {})}.items()
        }
        self.joined = GraphBuilder(*graphs)
        self.nodes = self.joined.nodes
        self.moves: list[bool] = []
        self._mark()
        self._programs: dict[int, Any] = {}
        self._known: dict[tuple[int, float, float], Terms] = {}

    def _mark(self) -> None:
        """Say of every new node whether it depends on an input: y, or one that has a range.

        `finite` asks only those that do. Over ranges every input has to count, the secret too: a
        pole in the secret alone would be passed over otherwise.
        """
        for op, args in self.nodes[len(self.moves) :]:
            leaf = op in LEAVES
            self.moves.append(op == "input" if leaf else any(self.moves[a] for a in args))

    def difference(self, i: int, k: int, low: float, high: float) -> tuple[float, float]:
        """Enclose log f(y|x_i) - log f(y|x_k) for y in [low, high], one end of it infinite.

        It holds for the outcomes at which both are finite.
        """
        return self._bounds(self._left(i, k, low, high), low, high)

    def growth(self, i: int, k: int, low: float, high: float) -> list[float]:
        """Bound log f(y|x_i) - log f(y|x_k) by a polynomial in the distance to the finite end.

        Its coefficients, the constant first; inf where nothing is known. It holds for the outcomes
        of [low, high] at which both are finite.
        """
        found = self._polynomial(self._left(i, k, low, high), low, high)
        return [float(batched.settled(c)[1]) for c in found]

    def _polynomial(self, left: Terms, low: float, high: float) -> list[Any]:
        """Enclose a sum of terms over a box: coefficients of the distance to its finite end."""
        start = low if math.isfinite(low) else high
        logs = {}
        for (power, node), factor in left.items():
            slope = self._slope_of_log(node, low, high) if power == _OPAQUE else None
            if slope is not None:
                logs[node] = factor, slope
        others = {key: factor for key, factor in left.items() if key[1] not in logs}
        powers, rest = self._parts(others, low, high)
        total, *more = _shifted(powers, start, 1 if math.isfinite(low) else -1)
        for part in rest:
            total = batched.add(total, part)
        for node, (factor, slope) in logs.items():
            more = more or [batched.point(np.zeros(()))]
            at_start = batched.multiply(_interval(factor), self._value(node, start, start))
            total = batched.add(total, at_start)
            grown = _interval(factor * slope)
            more[0] = batched.add(more[0], (np.minimum(grown[0], 0), np.maximum(grown[1], 0)))
        return [total, *more]

    def _slope_of_log(self, node: Any, low: float, high: float) -> Fraction | None:
        """Return the largest slope of log(s y + b), away from the finite end, where it rises."""
        if node is None or self.nodes[node][0] != "log":
            return None
        form = _rising(self._terms(self.nodes[node][1][0], low, high), low, high)
        return None if form is None else abs(form[0]) / form[1]

    def _bounds(self, left: Terms, low: float, high: float) -> tuple[float, float]:
        """Enclose a sum of terms over a box."""
        total, *more = self._polynomial(left, low, high)
        least, most = (float(v) for v in batched.settled(total))
        if any(not c[0] >= 0 for c in more):
            least = -math.inf
        if any(not c[1] <= 0 for c in more):
            most = math.inf
        return least, most

    def grows(self, i: int, k: int, low: float, high: float) -> bool:
        """Return whether log f(y|x_i) - log f(y|x_k) certainly tends to infinity far out."""
        powers, rest = self._parts(self._left(i, k, low, high), low, high)
        if not powers or not all(np.isfinite(end) for part in rest for end in part):
            return False
        top = max(powers)
        side = 1 if math.isfinite(low) or top % 2 == 0 else -1
        lead = powers[top]
        return top > 0 and bool(lead[0] > 0 if side > 0 else lead[1] < 0)

    def finite(self, low: float, high: float) -> bool:
        """Return whether every log-kernel is finite and continuous at every finite outcome.

        Then no density is 0; with ranges of further inputs, for all their values.
        """
        asked, seen = list(self.joined.roots), set()
        while asked:
            node = asked.pop()
            if node in seen:
                continue
            seen.add(node)
            op, args = self.nodes[node]
            if not self.moves[node]:
                value = self._value(node, 0.0, 0.0)
                if not (np.isfinite(value[0]) and np.isfinite(value[1])):
                    return False
                continue
            if op in ("divide", "reciprocal"):
                divisor = self._value(args[-1], low, high)
                if not (divisor[0] > 0 or divisor[1] < 0):
                    return False
            elif op in ("log", "log1p", "special.xlogy", "special.xlog1py", *_LOG_GAMMAS):
                inner = self._value(args[-1], low, high)
                if not inner[0] > (-1 if op in ("log1p", "special.xlog1py") else 0):
                    return False
            elif op in TRUTHS:
                if self._decided(node, low, high) is None:
                    return False
            elif op == "where":
                yes = self._decided(args[0], low, high)
                if yes is None:
                    return False
                args = args[:2] if yes else args[::2]  # the other one is nowhere taken
            elif op != "input" and op not in TOTAL:
                return False
            asked += args if op not in LEAVES else ()
        return True

    def remainder(
        self, i: int, k: int, low: float, high: float
    ) -> tuple[Graph, list[Graph]] | None:
        """Return log f(y|x_i) - log f(y|x_k) as a graph without what cancels, and all its parts.

        The two are equal wherever every part has a finite value; with gamma functions for some
        values of the input `SOME`.
        """
        left = self._left(i, k, low, high)
        add, total = self.joined.add, -1
        for (power, node), factor in left.items():
            if max(map(int.bit_length, factor.as_integer_ratio())) > _LONGEST:
                return None
            term = self._whole(factor.numerator)
            if factor.denominator != 1:
                term = add("divide", term, self._whole(factor.denominator))
            if node is not None:
                term = add("multiply", term, node)
            for _ in range(max(power, 0)):
                term = add("multiply", term, add("input", "y"))
            total = term if total < 0 else add("add", total, term)
        if total < 0:
            return None
        both = [self._terms(self.joined.roots[j], low, high) for j in (i, k)]
        nodes = {node for terms in both for _, node in terms if node is not None}
        return self.joined.graph(total), [self.joined.graph(node) for node in sorted(nodes)]

    def _whole(self, n: int) -> int:
        """Add a whole number, as a sum of floats if it is longer than one."""
        digits, left, total = 0, abs(n), -1
        while left or total < 0:
            part = self.joined.add("const", math.ldexp(float(left % 2**53), digits))
            total = part if total < 0 else self.joined.add("add", total, part)
            digits, left = digits + 53, left >> 53
        return total if n >= 0 else self.joined.add("negative", total)

    def _left(self, i: int, k: int, low: float, high: float) -> Terms:
        """Return the terms of the difference that do not cancel."""
        first, second = (self._terms(self.joined.roots[j], low, high) for j in (i, k))
        return self._without_gammas(_minus(first, second), low, high)

    def _without_gammas(self, left: Terms, low: float, high: float) -> Terms:
        """Write sums of log Gamma(s y + b), with one slope and factors of sum 0, without them."""
        gammas: dict[Fraction, list[tuple[Fraction, int, Fraction]]] = {}
        for (power, node), factor in left.items():
            if power != _OPAQUE or self.nodes[node][0] not in _LOG_GAMMAS:
                continue
            inner = self._terms(self.nodes[node][1][0], low, high)
            if _rising(inner, low, high) is not None:
                own = inner.get((0, None), Fraction(0)), node, factor
                gammas.setdefault(inner[1, None], []).append(own)
        out = dict(left)
        for group in gammas.values():
            if sum(factor for _, _, factor in group) != 0:
                continue
            least, first, _ = min(group)
            for _, node, _ in group:
                del out[_OPAQUE, node]
            steps = [(b - least, factor) for b, _, factor in group]
            add, u = self.joined.add, self.nodes[first][1][0]
            square = add("square", add("reciprocal", u))
            ends = _ends_of_rest(steps)
            new = {
                add("log", u): sum(c * d for d, c in steps),
                add("reciprocal", u): sum(c * d * (d - 1) / 2 for d, c in steps),
                square: ends[0],
                add("multiply", add("input", SOME), square): ends[1] - ends[0],
            }
            self._mark()
            for node, factor in new.items():
                out[_OPAQUE, node] = out.get((_OPAQUE, node), Fraction(0)) + factor
        return {key: factor for key, factor in out.items() if factor}

    def _parts(self, left: Terms, low: float, high: float) -> tuple[dict[int, Any], list]:
        """Enclose coefficients of powers of y, and other terms."""
        powers: dict[int, Any] = {}
        rest: list[Any] = []
        for (power, node), factor in left.items():
            value = batched.point(np.ones(())) if node is None else self._value(node, low, high)
            part = batched.multiply(_interval(factor), value)
            if power == _OPAQUE:
                rest.append(part)
            else:
                powers[power] = part if power not in powers else batched.add(powers[power], part)
        return powers, rest

    def _value(self, node: int, low: float, high: float, everywhere: bool = False) -> Box:
        """Enclose a node over the box."""
        if node not in self._programs:
            self._programs[node] = Program(self.joined.graph(node))
        named = {**self._ranges, "y": (np.array([[low]]), np.array([[high]]))}
        jet = self._programs[node].run(named, 0, everywhere=everywhere).jet
        found = batched.settled(arithmetic.entry(jet, 0))
        return found[0].reshape(()), found[1].reshape(())

    def _decided(self, node: int, low: float, high: float) -> bool | None:
        """Return what a condition is on the box, if it is one of both, single points too."""
        least, most = self._value(node, low, high, everywhere=True)
        return bool(least > 0) if least == most and least in (0, 1) else None

    def _taken(self, op: str, args: tuple, low: float, high: float) -> int | None:
        """Return which of two a choice takes on the box, if it is one of them throughout."""
        if op == "where":
            yes = self._decided(args[0], low, high)
            return None if yes is None else args[1 if yes else 2]
        terms = _minus(*(self._terms(a, low, high) for a in args))
        sign = _sign(terms, low, high) * (1 if op == "maximum" else -1)
        return args[sign < 0] if sign else None

    def _terms(self, node: int, low: float, high: float) -> Terms:
        """Return a node as terms; once, as choices of choices ask for it many times."""
        key = node, low, high
        if key not in self._known:
            self._known[key] = self._read(node, low, high)
        return self._known[key]

    def _read(self, node: int, low: float, high: float) -> Terms:
        op, args = self.nodes[node]
        opaque: Terms = {(_OPAQUE if self.moves[node] else 0, node): Fraction(1)}
        if op == "const":
            return {(0, None): Fraction(args[0])} if math.isfinite(args[0]) else opaque
        if op == "input":
            return {(1, None): Fraction(1)}
        if op == "logaddexp":
            return self._sum(args[0], args[1], low, high) or opaque
        if op in ("where", "maximum", "minimum"):
            taken = self._taken(op, args, low, high)
            return opaque if taken is None else self._terms(taken, low, high)
        if op not in ("add", "subtract", "negative", "multiply", "divide", "square", "absolute"):
            return opaque
        parts = [self._terms(a, low, high) for a in args]
        if op in ("add", "subtract"):
            sign = 1 if op == "add" else -1
            out = dict(parts[0])
            for key, factor in parts[1].items():
                out[key] = out.get(key, Fraction(0)) + sign * factor
            return {key: factor for key, factor in out.items() if factor}
        if op == "negative":
            return {key: -factor for key, factor in parts[0].items()}
        if op == "divide":
            number = _number(parts[1])
            if not number:
                return opaque
            return {key: factor / number for key, factor in parts[0].items()}
        if op == "absolute":
            sign = _sign(parts[0], low, high)
            return opaque if not sign else {k: sign * f for k, f in parts[0].items()}
        return _product(parts[0], parts[-1]) or opaque

    def _sum(self, u: int, v: int, low: float, high: float) -> Terms | None:
        """Return log(e^u + e^v) as the larger one of u and v and something in [0, log 2]."""
        first, second = (self._terms(node, low, high) for node in (u, v))
        least, most = self._bounds(_minus(first, second), low, high)
        if not (least >= 0 or most <= 0):
            return None
        larger, gap = (first, (v, u)) if least >= 0 else (second, (u, v))
        add = self.joined.add
        zero = add("const", 0.0)
        rest = add("logaddexp", zero, add("minimum", add("subtract", *gap), zero))
        self._mark()
        out = dict(larger)
        out[_OPAQUE, rest] = out.get((_OPAQUE, rest), Fraction(0)) + 1
        return out


def _minus(first: Terms, second: Terms) -> Terms:
    left: Terms = dict(first)
    for key, factor in second.items():
        left[key] = left.get(key, Fraction(0)) - factor
    return {key: factor for key, factor in left.items() if factor}


def _rising(terms: Terms, low: float, high: float) -> tuple[Fraction, Fraction] | None:
    """Return s, and s y + b at the finite end, if it is positive there and rises away from it."""
    if not set(terms) <= {(0, None), (1, None)} or math.isfinite(low) == math.isfinite(high):
        return None
    slope, level = (terms.get((k, None), Fraction(0)) for k in (1, 0))
    start = slope * Fraction(low if math.isfinite(low) else high) + level
    outward = slope if math.isfinite(low) else -slope
    return (slope, start) if outward > 0 and start > 0 else None


def _ends_of_rest(steps: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """Enclose the sum of c e over pairs (d, c), e between -d^3 / 6 - d / 12 and d^2 / 4."""
    low = high = Fraction(0)
    for d, c in steps:
        ends = sorted((c * (-(d**3) / 6 - d / 12), c * d * d / 4))
        low, high = low + ends[0], high + ends[1]
    return low, high


def _number(terms: Terms) -> Fraction | None:
    return terms.get((0, None)) if set(terms) <= {(0, None)} else None


def _product(first: Terms, second: Terms) -> Terms | None:
    out: Terms = {}
    for (power, node), factor in first.items():
        for (more, other), scale in second.items():
            number = _number(second) is not None or _number(first) is not None
            if not number and (
                _OPAQUE in (power, more) or (node is not None and other is not None)
            ):
                return None
            if number:
                key = (power, node) if _number(second) is not None else (more, other)
            else:
                key = (power + more, other if node is None else node)
            if key[0] > _DEGREE:
                return None
            out[key] = out.get(key, Fraction(0)) + factor * scale
    return {key: factor for key, factor in out.items() if factor} or {(0, None): Fraction(0)}


def _sign(terms: Terms, low: float, high: float) -> int:
    """Return the sign of c0 + c1 y on the box, or 0."""
    if not set(terms) <= {(0, None), (1, None)}:
        return 0
    slope = terms.get((1, None), Fraction(0))
    end = Fraction(low if math.isfinite(low) else high)
    at_end = terms.get((0, None), Fraction(0)) + slope * end
    outward = slope if math.isfinite(low) else -slope
    if at_end >= 0 and outward >= 0:
        return 1
    return -1 if at_end <= 0 and outward <= 0 else 0


def _interval(value: Fraction) -> Box:
    from borel.numerics.intervals.rounding import fraction_down, fraction_up

    return np.array(fraction_down(value)), np.array(fraction_up(value))


def _shifted(powers: dict[int, Any], start: float, side: int) -> list[Any]:
    """Return the coefficients in s of a polynomial in y = start + side * s."""
    out = []
    for k in range(max(powers, default=0) + 1):
        total: Any = batched.point(np.zeros(()))
        for j, c in powers.items():
            if j >= k:
                weight = Fraction(math.comb(j, k)) * Fraction(start) ** (j - k) * side**k
                total = batched.add(total, batched.multiply(c, _interval(weight)))
        out.append(total)
    return out
