r"""Sums of kernels over the outcomes 0, 1, 2, ... in closed form, for all secrets at once.

A kernel is read as sums and multiples of terms e^a q^y, where a and q are functions of the secret,
beside gamma functions of y, and of choices at one outcome, ``where(y == x, ...)``. With m, q, r > 0
and n a whole number >= 0 the series are

* q^y: 1 / (1 - q) for q < 1;
* q^y / y!: e^q;
* q^y Gamma(y + r) / y!: Gamma(r) (1 - q)^-r for q < 1;
* q^y / (y! (n - y)!): (1 + q)^n / n!.

That the total is 1 is then an identity of functions of the secret (`constant_sum`): nothing is
rounded, but numbers that no secret moves are enclosed.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from borel import settings
from borel.errors import NotEnclosed
from borel.numerics.graphs.affine_nodes import affine
from borel.numerics.graphs.formulas import formula
from borel.numerics.graphs.graph import LEAVES, GraphBuilder
from borel.numerics.graphs.operations import OPERATIONS
from borel.numerics.graphs.rational_functions import constant_sum
from borel.numerics.intervals import interpreter
from borel.numerics.intervals.domains import has_values, is_positive

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from borel.numerics.graphs.graph import Graph

_MOST, _LITTLE = 64, 1e-6
LARGEST = 256
"""Nodes of a kernel that are worth reading: it takes the cube of them, and their depth in calls."""
_MEANS = {
    "log1p": "log(1 + u)",
    "special.xlog1py": "special.xlogy(u, 1 + v)",
    "greater_equal": "v <= u",
    **{op: OPERATIONS[op].means for op in ("special.loggamma", "special.betaln")},
}
_LOGS = {
    "special.gamma": "special.gammaln(u)",
    "special.rgamma": "-special.gammaln(u)",
    "special.binom": "special.gammaln(u + 1) - special.gammaln(v + 1) - special.gammaln(u - v + 1)",
}
"""Logarithms of what gamma functions of y are written with; 1 / 0 where such a function is 0."""

Terms = list[tuple[int, int]]
"""A sum: of each term the sign, and the node."""


class _NoSeries(Exception):
    """A kernel that is none of these series, or not seen to be one."""


class _Line(NamedTuple):
    """The function a + b y + sum of n log Gamma(c +- y) + y log(product of bases).

    The nodes a, b, c and bases do not depend on y.
    """

    shift: int
    slope: int
    gammas: dict[tuple[int, int], int]
    """By c and the sign of y, n."""
    bases: tuple[int, ...] = ()
    """Numbers >= 0: where one is 0, the power 0^0 is 1."""


def total(
    kernel: Graph,
    nonnegative: Callable[[], bool],
    box: Mapping[str, tuple[float, float]],
    first: int = 0,
    *,
    whole: bool,
    above: Collection[str] = (),
    until: float = math.inf,
) -> tuple[float, float] | None:
    """Enclose the sum of a kernel over all y >= first if it is one number for all secrets.

    Parameters
    ----------
    kernel : Graph
        f(y|x).
    nonnegative : callable
        Whether that is proved to be >= 0. It is not asked where the kernel is one such term.
    box : mapping
        The least and the greatest value of every input but y.
    first : int
        The first outcome.
    whole : bool
        Whether the secrets are whole numbers.
    above : collection of str
        The inputs that are never 0 though that is their least value.
    until : float
        By `settings.now`, when to give up.

    Examples
    --------
    >>> import math
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: (x / (1 + x)) ** y / (1 + x), ("y", "x"), ())
    >>> total(graph, lambda: False, {"x": (1.0, math.inf)}, whole=False)
    (1.0, 1.0)
    """
    reader = _Reader(kernel, box, first, whole, above, until)
    try:
        graph = reader.graph(reader.total(reader.root, alone=True))
        number = constant_sum([graph]) if reader.has_values(graph) else None
    except (_NoSeries, NotEnclosed):
        return None
    if number is None or not (reader.one_term or nonnegative()):
        return None
    low, high = float(number) * (1 - reader.miss), float(number) * (1 + reader.miss)
    return math.nextafter(low, -math.inf) if low != number else low, (
        math.nextafter(high, math.inf) if high != number else high
    )


class _Reader(GraphBuilder):
    """A kernel in parts, none of whose nodes is left out unseen."""

    def __init__(
        self,
        kernel: Graph,
        box: Mapping[str, tuple[float, float]],
        first: int,
        whole: bool,
        above: Collection[str],
        until: float,
    ):
        super().__init__()
        self.box, self.whole, self.above, self.until = box, whole, above, until
        self.miss, self.one_term = 0.0, False
        self.zero, self.one, y = self.constant(0.0), self.constant(1.0), self.add("input", "y")
        here = self.add("add", y, self.constant(first)) if first else y
        self.root = self.append(kernel, self.plainly, {"y": here})[-1]

    def plainly(self, op: str, *args: int) -> int:
        """Add an operation by what it means."""
        if op not in _MEANS:
            return self.add(op, *args)
        return self.append(formula(_MEANS[op]), self.plainly, {"u": args[0], "v": args[-1]})[-1]

    # -- what is known of nodes ------------------------------------------------------------------

    def moves(self, k: int) -> bool:
        """Return whether a node depends on y."""
        return "y" in self.graph(k).inputs

    def has_values(self, graph: Graph) -> bool:
        """Return whether a graph is a number for every secret; raise if it is too late to ask."""
        if settings.late(self.until):
            raise _NoSeries
        return has_values(graph, {n: self.box[n] for n in graph.inputs}, self.above)

    def positive(self, k: int) -> bool:
        """Return whether a node is a positive number for every secret."""
        if settings.late(self.until):
            raise _NoSeries
        graph = self.graph(k)
        return is_positive(graph, {n: self.box[n] for n in graph.inputs}, self.above)

    def require_numbers(self, *nodes: int) -> None:
        """Raise unless nodes are numbers for every secret."""
        if not all(self.has_values(self.graph(k)) for k in nodes):
            raise _NoSeries

    def is_number(self, k: int, value: int) -> bool:
        """Return whether a node is that number for every secret, exactly."""
        graph = self.graph(k)
        return constant_sum([graph]) == value and self.has_values(graph)

    # -- sums and products of nodes --------------------------------------------------------------

    def plus(self, a: int, b: int, sign: int = 1) -> int:
        """Return a + b, or a - b."""
        if b == self.zero:
            return a
        if a == self.zero:
            number = self.number(b)
            if number is not None:
                return self.constant(sign * number)
            return b if sign > 0 else self.add("negative", b)
        return self.add("add" if sign > 0 else "subtract", a, b)

    def times(self, a: int, b: int) -> int:
        """Return a b."""
        if self.zero in (a, b):  # 0 log 0 is no number
            self.require_numbers(a, b)
            return self.zero
        if self.one in (a, b):
            return b if a == self.one else a
        return self.add("multiply", a, b)

    def added(self, terms: Terms) -> int:
        """Return a sum as a node."""
        out = self.zero
        for sign, k in terms:
            out = self.plus(out, k, sign)
        return out

    def terms(self, k: int, sign: int = 1) -> Terms:
        """Return a node as a sum of others."""
        op, args = self.nodes[k]
        if op in ("add", "subtract"):
            other = sign if op == "add" else -sign
            return self.terms(args[0], sign) + self.terms(args[1], other)
        if op == "negative":
            return self.terms(args[0], -sign)
        return [] if k == self.zero else [(sign, k)]

    def exponential(self, terms: Terms, alone: bool = False) -> int:
        """Return e^sum: a number if it is one for all secrets, else without logarithms.

        With ``alone`` a number that is 1 but for rounding is 1.
        """
        fixed = [(sign, k) for sign, k in terms if not self.graph(k).inputs]
        moving = self.graph(self.added([term for term in terms if term not in fixed]))
        number = constant_sum([moving]) if self.has_values(moving) else None
        if number is not None and float(number) == number:
            terms = [*fixed, (1, self.constant(float(number)))]
            ends = interpreter.evaluate(self.graph(self.added(terms)), {})
            off = max(abs(float(end)) for end in ends)
            if alone and off <= _LITTLE:
                self.miss = 2 * off
                return self.one
        out, rest = self.one, []
        for sign, k in terms:
            times, inner = self.one, self.arguments(k, "log")
            for one, other in [args, args[::-1]] if (args := self.arguments(k, "multiply")) else []:
                if self.number(one) is not None and not inner:
                    times, inner = one, self.arguments(other, "log")
            count = self.number(times) or 0.0
            if inner and count.is_integer() and abs(count) <= _MOST:
                power = self.add("power", *inner, self.constant(abs(count)))
                up = count * sign > 0
                out = self.times(out, power) if up else self.add("divide", out, power)
            else:
                rest.append((sign, k))
        last = self.added(rest)
        return out if self.is_number(last, 0) else self.times(out, self.add("exp", last))

    def logarithm(self, k: int) -> Terms:
        """Return log of a node, by a node of the kernel that it is equal to, or 1 over it."""
        self.require_numbers(k)
        for n in range(k):
            if self.moves(n):
                continue
            if self.is_number(self.add("subtract", n, k), 0) and self.positive(n):
                return [(1, self.add("log", n))]
            if self.is_number(self.add("multiply", n, k), 1) and self.positive(n):
                return [(-1, self.add("log", n))]
        if not self.positive(k):
            raise _NoSeries
        return [(1, self.add("log", k))]

    # -- reading ---------------------------------------------------------------------------------

    def combined(self, a: _Line, b: _Line, sign: int) -> _Line:
        """Return the sum or difference of two functions."""
        gammas = dict(a.gammas)
        for (c, side), n in b.gammas.items():
            before = gammas.get((c, side), 0)
            if before * sign * n < 0 and (side < 0 or not self.positive(c)):
                raise _NoSeries  # what cancels, even in part, is to be a number
            gammas[c, side] = before + sign * n
        if b.bases and sign < 0:
            raise _NoSeries
        return _Line(
            self.plus(a.shift, b.shift, sign),
            self.plus(a.slope, b.slope, sign),
            {key: n for key, n in gammas.items() if n},
            a.bases + b.bases,
        )

    def scaled(self, line: _Line, k: int) -> _Line:
        """Return a function times a node that does not depend on y."""
        if line.gammas or line.bases:
            raise _NoSeries
        return _Line(self.times(line.shift, k), self.times(line.slope, k), {})

    def exponent(self, base: int, line: _Line) -> _Line:
        """Return the logarithm of a power whose exponent is a function of y."""
        if self.moves(base):
            raise _NoSeries
        if self.positive(base):
            return self.scaled(line, self.added(self.logarithm(base)))
        if line != _Line(self.zero, self.one, {}):
            raise _NoSeries
        return _Line(self.zero, self.zero, {}, (base,))

    def line(self, k: int) -> _Line:
        """Read a node as a function of y."""
        op, args = self.nodes[k]
        if op == "special.xlogy":
            return self.exponent(args[1], self.line(args[0]))
        if op == "log":
            return self.log(args[0])
        if not self.moves(k):
            return _Line(k, self.zero, {})
        if op == "input":
            return _Line(self.zero, self.one, {})
        if op in ("add", "subtract"):
            first, second = map(self.line, args)
            return self.combined(first, second, 1 if op == "add" else -1)
        if op == "negative":
            return self.combined(_Line(self.zero, self.zero, {}), self.line(*args), -1)
        if op == "multiply":
            still, other = args if self.moves(args[1]) else args[::-1]
            if not self.moves(still):
                return self.scaled(self.line(other), still)
        if op == "divide" and not self.moves(args[1]):
            return self.scaled(self.line(args[0]), self.add("reciprocal", args[1]))
        if op == "special.gammaln":
            inner = self.line(*args)
            for sign in () if inner.gammas or inner.bases else (1, -1):
                if self.is_number(inner.slope, sign):
                    return _Line(self.zero, self.zero, {(inner.shift, sign): 1})
            if self.is_number(inner.slope, 0):  # (y + 2) - y + 1
                return self.line(self.add(op, inner.shift))
        raise _NoSeries

    def log(self, k: int) -> _Line:
        """Read the logarithm of a node as a function of y."""
        op, args = self.nodes[k]
        if op == "exp":
            return self.line(*args)
        if op in ("multiply", "divide"):
            first, second = map(self.log, args)
            return self.combined(first, second, 1 if op == "multiply" else -1)
        if op == "reciprocal":
            return self.combined(_Line(self.zero, self.zero, {}), self.log(*args), -1)
        if op == "power":
            return self.exponent(args[0], self.line(args[1]))
        if op in _LOGS and self.moves(k):
            inputs = {"u": args[0], "v": args[-1]}
            return self.line(self.append(formula(_LOGS[op]), inputs=inputs)[-1])
        if not self.moves(k):
            return _Line(self.added(self.logarithm(k)), self.zero, {})
        raise _NoSeries

    # -- totals ----------------------------------------------------------------------------------

    def total(self, k: int, alone: bool = False) -> int:
        """Return the sum of a node over y = 0, 1, ...; ``alone`` if it is the kernel itself."""
        if k == self.zero:
            return k
        with suppress(_NoSeries):
            found = self.exponential(self.series(self.log(k)), alone)
            self.one_term = alone
            return found
        op, args = self.nodes[k]
        if op in LEAVES:  # the sum of a number, or of y
            raise _NoSeries
        still = [not self.moves(a) for a in args]
        if op in ("add", "subtract"):
            return self.add(op, *map(self.total, args))
        if op == "negative":
            return self.add(op, self.total(*args))
        if op == "multiply" and any(still):
            a, b = args if still[0] else args[::-1]
            return self.times(a, self.total(b))
        if op == "divide" and still[1]:
            return self.add(op, self.total(args[0]), args[1])
        test, yes, no = args if op == "where" else (k, self.one, self.zero)
        if sides := self.arguments(test, "equal"):
            at = self.place(self.line(self.add("subtract", *sides)))
            more = self.add("subtract", self.value(yes, at), self.value(no, at))
            return self.add("add", self.total(no), more)
        if (sides := self.arguments(test, "less_equal")) and no == self.zero:
            gap = self.line(self.add("subtract", *sides[::-1]))
            last = [
                self.add("subtract", r, gap.shift) for r, side in self.log(yes).gammas if side < 0
            ]
            if self.is_number(gap.slope, -1) and any(self.is_number(r, 1) for r in last):
                return self.total(yes, alone)  # 1 / (n - y)! is 0 beyond
        raise _NoSeries

    def series(self, line: _Line) -> Terms:
        """Return the logarithm of the sum of e^line."""
        self.require_numbers(line.shift, line.slope, *line.bases)
        q = self.exponential(self.terms(line.slope))
        for base in line.bases:
            box: Any = {n: self.box[n] for n in self.graph(base).inputs}
            low, _ = interpreter.evaluate(self.graph(base), box)
            if not low >= 0:
                raise _NoSeries
            q = self.times(q, base)
        out, gammas = self.terms(line.shift), dict(line.gammas)
        if not gammas:
            gap = self.logarithm(self.add("subtract", self.one, q))
            return out + [(-sign, k) for sign, k in gap]
        for key in [key for key in gammas if self.is_number(key[0], 1)]:
            if key[1] > 0 and gammas.pop(key) != -1:
                raise _NoSeries
        if not gammas and len(line.gammas) == 1:
            return [*out, (1, q)]
        if len(gammas) != 1 or len(line.gammas) != 2:
            raise _NoSeries
        ((r, side), count), *_ = gammas.items()
        if side == count == 1 and self.positive(r):
            gap = self.logarithm(self.add("subtract", self.one, q))
            out.append((1, self.add("special.gammaln", r)))
            return out + [(-sign, self.times(r, k)) for sign, k in gap]
        n = self.add("subtract", r, self.one)
        if side == count == -1 and self.least_whole(n) >= 0:
            out.append((-1, self.add("special.gammaln", r)))
            more = self.logarithm(self.add("add", self.one, q))
            return out + [(sign, self.times(n, k)) for sign, k in more]
        raise _NoSeries

    def least_whole(self, k: int) -> Fraction | float:
        """Return the least value of a node that is a whole number for all secrets; else -inf."""
        names = tuple(self.box)
        form = affine(self.graph(k), names)[-1]
        if form is None or any(c.denominator != 1 for c in form) or (any(form[1:]) > self.whole):
            return -math.inf
        out: Fraction | float = form[0]
        for c, name in zip(form[1:], names, strict=True):
            end = self.box[name][c < 0]
            if c:
                out = out + c * Fraction(end) if math.isfinite(end) else -math.inf
        return out

    def place(self, gap: _Line) -> int:
        """Return at which outcome, one for each secret, a difference is 0."""
        for sign in (1, -1):
            if not gap.gammas and not gap.bases and self.is_number(gap.slope, sign):
                at = self.plus(self.zero, gap.shift, -sign)
                if self.least_whole(at) >= 0:
                    return at
        raise _NoSeries

    def value(self, k: int, at: int) -> int:
        """Return a node at one outcome."""
        if not self.moves(k):
            return k
        with suppress(_NoSeries):
            line = self.log(k)
            if at == self.zero or not line.bases:
                self.require_numbers(line.shift, line.slope)
                out = self.terms(self.plus(line.shift, self.times(line.slope, at)))
                for (c, side), count in line.gammas.items():
                    inner = self.plus(c, at, side)
                    if not (self.is_number(inner, 1) or self.is_number(inner, 2)):
                        gamma = self.add("special.gammaln", inner)
                        out.append((1, self.times(self.constant(count), gamma)))
                return self.exponential(out)
        op, args = self.nodes[k]
        if op in ("add", "subtract", "multiply", "divide"):
            return self.add(op, *(self.value(a, at) for a in args))
        return self.append(self.graph(k), inputs={"y": at})[-1]
