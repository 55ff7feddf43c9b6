"""Interval Taylor jets: the interpreter of graphs that also encloses derivatives, lane by lane.

A jet is an interval with one more axis in front: entry k encloses ``f^(k) / k!`` over the box. A
jet of length 1 does not depend on the variable; a shorter one than asked for ends in exact zeros.
Order 0 is plain interval arithmetic.

Statements hold *almost everywhere*: a comparison whose two sides differ by a function with a
derivative that excludes 0 is an equality on a null set only, so that ``x == c`` is false and
touching ends decide nothing. What a box decided is recorded, and evaluations inside that box
(nodes of a quadrature) take the same branches: a value altered at one point is never seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.intervals import interval, lanes
from borel.errors import NotEnclosed

if TYPE_CHECKING:
    from borel.engine.graphs.trace import Graph
    from borel.engine.intervals.lanes import Box

NAN = float("nan")
_BRANCHING = frozenset(
    "absolute maximum minimum fmax fmin sign where less less_equal greater greater_equal".split()
)


class Outcome(NamedTuple):
    """A jet over boxes, the branches that were decided there, and where a branch may change."""

    jet: Box
    decisions: dict[int, Box]
    kink: np.ndarray | None


class Program:
    """A graph made ready: constants are folded once.

    Parameters
    ----------
    graph : Graph
        The expression.

    Raises
    ------
    NotEnclosed
        An operation that interval arithmetic does not know, by name.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        unknown = sorted(graph.operations - set(interval.TABLE))
        if unknown:
            raise NotEnclosed(f"interval arithmetic for {', '.join(unknown)} is not known")
        self.constants: dict[int, Box] = {}
        last = {len(graph.nodes) - 1: len(graph.nodes)}
        for k, (op, args) in enumerate(graph.nodes):
            if op == "const":
                self.constants[k] = lanes.point(args[0])
            elif op != "input":
                for a in args:
                    last[a] = k
                if all(a in self.constants for a in args):
                    with np.errstate(all="ignore"):
                        value = interval.TABLE[op](*(self.constants[a] for a in args))
                    self.constants[k] = lanes.settled(value)
        self._last = last
        self.branches = bool(_BRANCHING & graph.operations)
        """Whether it has kinks or jumps, or may have."""

    def run(
        self,
        inputs: dict[str, Box],
        order: int = 0,
        *,
        decisions: dict[int, Box] | None = None,
        start: np.ndarray | None = None,
    ) -> Outcome:
        """Evaluate the graph on jets.

        Parameters
        ----------
        inputs : dict
            Jets by name, arrays ``(length, *lanes)``, all of one number of axes.
        order : int
            Highest derivative.
        decisions : dict, optional
            What the enclosing box decided, by node: those branches are taken here.
        start : ndarray, optional
            The left ends of the boxes; asks where a branch may change inside them.

        Returns
        -------
        Outcome
            The jet of the last node, of length at most ``order + 1``.
        """
        work = _Work(order, decisions, start)
        ndim = next(iter(inputs.values()))[0].ndim
        values: dict[int, Box] = {}
        with np.errstate(all="ignore"):
            for k, (op, args) in enumerate(self.graph.nodes):
                if op == "input":
                    values[k] = inputs[args[0]]
                elif k in self.constants:
                    low, high = self.constants[k]
                    shaped = np.reshape(low, (1,) * ndim)
                    values[k] = (shaped, shaped if low is high else np.reshape(high, (1,) * ndim))
                else:
                    work.node = k
                    values[k] = work.apply(op, [values[a] for a in args])
                    for a in args:
                        if self._last[a] == k:
                            values.pop(a, None)
        return Outcome(values[len(self.graph.nodes) - 1], work.made, work.kink)


def variable(low: np.ndarray, high: np.ndarray, order: int) -> Box:
    """Return the jet of the variable itself over boxes [low, high]."""
    if order == 0:
        return low[None], high[None]
    one = np.ones_like(low)
    return np.stack([low, one]), np.stack([high, one])


def constant(low: np.ndarray, high: np.ndarray) -> Box:
    """Return the jet of an input that is not the variable."""
    return low[None], (low[None] if low is high else high[None])


def value(jet: Box) -> Box:
    """Return the range, entry 0."""
    return lanes.settled((jet[0][0], jet[1][0]))


def entry(jet: Box, k: int) -> Box:
    """Return entry k of a jet; the zeros behind its end too."""
    if k < len(jet[0]):
        return lanes.settled((jet[0][k], jet[1][k]))
    zero = np.zeros(jet[0].shape[1:])
    return zero, zero


def _part(a: Box, what) -> Box:
    low = a[0][what]
    return low, (low if a[0] is a[1] else a[1][what])


def joined(first: Box, rest: Box) -> Box:
    """Put entry 0 before the other entries."""
    shape = np.broadcast_shapes(first[0].shape[1:], rest[0].shape[1:])
    low = [np.broadcast_to(p, (len(p), *shape)) for p in (first[0], rest[0])]
    high = [np.broadcast_to(p, (len(p), *shape)) for p in (first[1], rest[1])]
    return np.concatenate(low), np.concatenate(high)


def add(a: Box, b: Box) -> Box:
    """Add two jets."""
    if len(a[0]) < len(b[0]):
        a, b = b, a
    n = len(b[0])
    common = lanes.add(_part(a, slice(n)), b)
    return common if n == len(a[0]) else joined(common, _part(a, slice(n, None)))


def negative(a: Box) -> Box:
    """Negate a jet."""
    return lanes.negative(a)


def multiply(a: Box, b: Box, order: int) -> Box:
    """Multiply two jets."""
    if len(a[0]) > len(b[0]):
        a, b = b, a
    if len(a[0]) == 1:
        return lanes.multiply(a, b)
    length = min(len(a[0]) + len(b[0]) - 1, order + 1)
    shape = np.broadcast_shapes(a[0].shape[1:], b[0].shape[1:])
    low, high = np.zeros((length, *shape)), np.zeros((length, *shape))
    for i in range(min(len(a[0]), length)):
        term = lanes.multiply(_part(a, slice(i, i + 1)), _part(b, slice(length - i)))
        where = slice(i, i + len(term[0]))
        low[where], high[where] = lanes.add((low[where], high[where]), term)
    return low, high


def logarithm(a: Box, order: int) -> Box:
    """Take the logarithm of a jet."""
    with np.errstate(all="ignore"):
        return _Work(order, None, None)._log(a)


def exponential(a: Box, order: int) -> Box:
    """Take the exponential of a jet."""
    with np.errstate(all="ignore"):
        return _Work(order, None, None)._exp(a)


class _Work:
    """The operations on jets, up to an order."""

    def __init__(self, order: int, decisions: dict[int, Box] | None, start: np.ndarray | None):
        self.order = order
        self.given = decisions
        self.made: dict[int, Box] = {}
        self.start = start
        self.kink: np.ndarray | None = None
        self.node = -1

    def apply(self, op: str, args: list[Box]) -> Box:
        rule = getattr(self, "_" + op.replace(".", "_"), None)
        if rule is not None:
            return rule(*args)
        heads = [_part(a, slice(1)) for a in args]
        found = interval.TABLE[op](*heads)
        return found if all(len(a[0]) == 1 for a in args) else self._unknown(found, heads)

    def _unknown(self, head: Box, around: list[Box]) -> Box:
        """Return a jet of which only the range is known."""
        shape = np.broadcast_shapes(head[0].shape[1:], *(a[0].shape[1:] for a in around))
        nothing = np.full((self.order, *shape), NAN)
        return joined(head, (nothing, nothing)) if self.order else head

    def _steps(self, head: Box, step) -> Box:
        """Build a jet entry by entry: ``step(k, so far)`` gives entry k, shape (1, ...)."""
        parts_low, parts_high = [head[0]], [head[1]]
        for k in range(1, self.order + 1):
            low, high = step(k, parts_low, parts_high)
            parts_low.append(low)
            parts_high.append(high)
        shape = np.broadcast_shapes(*(p.shape[1:] for p in parts_low))
        return (
            np.concatenate([np.broadcast_to(p, (1, *shape)) for p in parts_low]),
            np.concatenate([np.broadcast_to(p, (1, *shape)) for p in parts_high]),
        )

    def _chain(self, head: Box, a: Box, w) -> Box:
        """Solve u' = a' w for u with u_0 = head: k u_k = sum of j a_j w_(k-j), j = 1..k.

        ``w(n, low, high)`` gives entry n of w from the entries of u below it.
        """
        seen: list[Box] = []

        def step(k, low, high):
            seen.append(w(k - 1, low, high))
            out: Any = None
            for j in range(1, min(k, len(a[0]) - 1) + 1):
                term = lanes.multiply(_part(a, slice(j, j + 1)), seen[k - j])
                term = lanes.multiply(term, lanes.point(np.array(float(j)))) if j > 1 else term
                out = term if out is None else lanes.add(out, term)
            return lanes.divide(out, lanes.point(np.array(float(k)))) if k > 1 else out

        return self._steps(head, step)

    def _of_table(self, op: str, a: Box) -> Box:
        return interval.TABLE[op](_part(a, slice(1)))

    # -- arithmetic -------------------------------------------------------------------------

    def _add(self, a: Box, b: Box) -> Box:
        return add(a, b)

    def _subtract(self, a: Box, b: Box) -> Box:
        return add(a, lanes.negative(b))

    def _negative(self, a: Box) -> Box:
        return lanes.negative(a)

    def _positive(self, a: Box) -> Box:
        return a

    def _multiply(self, a: Box, b: Box) -> Box:
        return multiply(a, b, self.order)

    def _square(self, a: Box) -> Box:
        head = lanes.square(_part(a, slice(1)))
        if len(a[0]) == 1:
            return head
        return joined(head, _part(multiply(a, a, self.order), slice(1, None)))

    def _divide(self, a: Box, b: Box) -> Box:
        if len(b[0]) == 1:
            return lanes.divide(a, b)
        by_b0 = lanes.reciprocal(_part(b, slice(1)))

        def step(k, low, high):
            out: Any = _part(a, slice(k, k + 1)) if k < len(a[0]) else None
            for j in range(1, min(k, len(b[0]) - 1) + 1):
                term = lanes.multiply(_part(b, slice(j, j + 1)), (low[k - j], high[k - j]))
                out = lanes.negative(term) if out is None else lanes.subtract(out, term)
            return lanes.multiply(out, by_b0)

        return self._steps(lanes.multiply(_part(a, slice(1)), by_b0), step)

    def _reciprocal(self, a: Box) -> Box:
        return self._divide(_one(a), a)

    def _power(self, a: Box, b: Box) -> Box:
        if len(a[0]) == 1 and len(b[0]) == 1:
            return interval.TABLE["power"](a, b)
        if len(b[0]) > 1:
            head = interval.TABLE["power"](_part(a, slice(1)), _part(b, slice(1)))
            rest = self._exp(multiply(b, self._log(a), self.order))
            return joined(head, _part(rest, slice(1, None))) if self.order else head
        n = float(b[0].flat[0])
        whole = b[0].size == 1 and n == float(b[1].flat[0]) and n == np.floor(n)
        if whole and n == 2:
            return self._square(a)
        if whole and 0 <= n <= 16:
            out = _one(a)
            for _ in range(int(n)):
                out = multiply(out, a, self.order)
            head = interval.TABLE["power"](_part(a, slice(1)), b)
            return joined(head, _part(out, slice(1, None))) if len(out[0]) > 1 else head
        if whole and n < 0:
            return self._reciprocal(self._power(a, lanes.negative(b)))
        head = interval.TABLE["power"](_part(a, slice(1)), b)
        return self._power_steps(head, a, b)

    def _power_steps(self, head: Box, a: Box, p: Box) -> Box:
        """Take a real power p: k a_0 c_k = sum of (p j - (k - j)) a_j c_(k-j)."""
        a0 = _part(a, slice(1))

        def step(k, low, high):
            out: Any = None
            for j in range(1, min(k, len(a[0]) - 1) + 1):
                factor = lanes.subtract(
                    lanes.multiply(p, lanes.point(np.array(float(j)))),
                    lanes.point(np.array(float(k - j))),
                )
                term = lanes.multiply(_part(a, slice(j, j + 1)), (low[k - j], high[k - j]))
                term = lanes.multiply(term, factor)
                out = term if out is None else lanes.add(out, term)
            return lanes.divide(out, lanes.multiply(a0, lanes.point(np.array(float(k)))))

        return self._steps(head, step)

    def _sqrt(self, a: Box) -> Box:
        a = _in_domain(a)
        head = self._of_table("sqrt", a)
        return head if len(a[0]) == 1 else self._power_steps(head, a, _like(a, 0.5))

    def _cbrt(self, a: Box) -> Box:
        head = self._of_table("cbrt", a)
        third = _like(a, 1 / 3)
        third = third[0] - 1e-16, third[1] + 1e-16
        return head if len(a[0]) == 1 else self._power_steps(head, a, third)

    # -- exponentials and their kin ---------------------------------------------------------

    def _exp(self, a: Box) -> Box:
        head = lanes.exp(_part(a, slice(1)))
        if len(a[0]) == 1:
            return head
        return self._chain(head, a, lambda n, low, high: (low[n], high[n]))

    def _expm1(self, a: Box) -> Box:
        head = self._of_table("expm1", a)
        return head if len(a[0]) == 1 else joined(head, _part(self._exp(a), slice(1, None)))

    def _exp2(self, a: Box) -> Box:
        head = self._of_table("exp2", a)
        if len(a[0]) == 1:
            return head
        scaled = lanes.multiply(a, _log_two(a))
        return joined(head, _part(self._exp(scaled), slice(1, None)))

    def _log(self, a: Box) -> Box:
        a = _in_domain(a)
        head = self._of_table("log", a)
        if len(a[0]) == 1:
            return head
        by_a0 = lanes.reciprocal(_part(a, slice(1)))

        def step(k, low, high):
            out: Any = None
            for j in range(max(1, k - len(a[0]) + 1), k):
                term = lanes.multiply((low[j], high[j]), _part(a, slice(k - j, k - j + 1)))
                term = lanes.multiply(term, lanes.point(np.array(float(j))))
                out = term if out is None else lanes.add(out, term)
            if out is not None:
                out = lanes.negative(lanes.divide(out, lanes.point(np.array(float(k)))))
            if k < len(a[0]):
                own = _part(a, slice(k, k + 1))
                out = own if out is None else lanes.add(own, out)
            if out is None:
                out = lanes.point(np.zeros((1,) * a[0].ndim))
            return lanes.multiply(out, by_a0)

        return self._steps(head, step)

    def _log1p(self, a: Box) -> Box:
        head = self._of_table("log1p", a)
        if len(a[0]) == 1:
            return head
        return joined(head, _part(self._log(add(a, _one(a))), slice(1, None)))

    def _log2(self, a: Box) -> Box:
        return self._scaled_log("log2", a, _log_two(a))

    def _log10(self, a: Box) -> Box:
        ten = interval.TABLE["log"](_like(a, 10.0))
        return self._scaled_log("log10", a, ten)

    def _scaled_log(self, op: str, a: Box, scale: Box) -> Box:
        head = self._of_table(op, a)
        if len(a[0]) == 1:
            return head
        return joined(head, _part(lanes.divide(self._log(a), scale), slice(1, None)))

    def _special_expit(self, a: Box) -> Box:
        head = self._of_table("special.expit", a)
        if len(a[0]) == 1:
            return head

        def slope(n, low, high):  # entry n of s (1 - s)
            out = lanes.point(np.zeros((1,) * a[0].ndim))
            for i in range(n + 1):
                other = (low[n - i], high[n - i])
                if n == i:
                    other = lanes.subtract(_like(a, 1.0), other)
                else:
                    other = lanes.negative(other)
                out = lanes.add(out, lanes.multiply((low[i], high[i]), other))
            return out

        return self._chain(head, a, slope)

    def _softplus(self, a: Box) -> Box:
        """Log(1 + e^a): its derivative is expit(a)."""
        head = interval.TABLE["logaddexp"](_like(a, 0.0), _part(a, slice(1)))
        if len(a[0]) == 1:
            return head
        s = self._special_expit(a)
        return self._chain(head, a, lambda n, low, high: _part(s, slice(n, n + 1)))

    def _logaddexp(self, a: Box, b: Box) -> Box:
        head = interval.TABLE["logaddexp"](_part(a, slice(1)), _part(b, slice(1)))
        if len(a[0]) == 1 and len(b[0]) == 1:
            return head
        if len(a[0]) > len(b[0]):
            a, b = b, a
        out = add(a, self._softplus(add(b, lanes.negative(a))))
        return joined(head, _part(out, slice(1, None))) if len(out[0]) > 1 else head

    def _special_log_expit(self, a: Box) -> Box:
        head = self._of_table("special.log_expit", a)
        if len(a[0]) == 1:
            return head
        out = lanes.negative(self._softplus(lanes.negative(a)))
        return joined(head, _part(out, slice(1, None)))

    def _tanh(self, a: Box) -> Box:
        head = self._of_table("tanh", a)
        if len(a[0]) == 1:
            return head

        def slope(n, low, high):  # entry n of 1 - t**2
            out = _like(a, 1.0 if n == 0 else 0.0)
            for i in range(n + 1):
                term = lanes.multiply((low[i], high[i]), (low[n - i], high[n - i]))
                out = lanes.subtract(out, term)
            return out

        return self._chain(head, a, slope)

    def _pair(self, first: str, second: str, sign: float, a: Box) -> tuple[Box, Box]:
        """Return jets of (sin, cos) or (sinh, cosh): f' = g, g' = sign f."""
        heads = self._of_table(first, a), self._of_table(second, a)
        f, g = [heads[0]], [heads[1]]
        for k in range(1, self.order + 1):
            new = []
            for other, s in ((g, 1.0), (f, sign)):
                out: Any = None
                for j in range(1, min(k, len(a[0]) - 1) + 1):
                    term = lanes.multiply(_part(a, slice(j, j + 1)), other[k - j])
                    term = lanes.multiply(term, lanes.point(np.array(s * j)))
                    out = term if out is None else lanes.add(out, term)
                new.append(lanes.divide(out, lanes.point(np.array(float(k)))))
            f.append(new[0])
            g.append(new[1])
        return _stacked(f), _stacked(g)

    def _sin(self, a: Box) -> Box:
        return self._of_table("sin", a) if len(a[0]) == 1 else self._pair("sin", "cos", -1.0, a)[0]

    def _cos(self, a: Box) -> Box:
        return self._of_table("cos", a) if len(a[0]) == 1 else self._pair("sin", "cos", -1.0, a)[1]

    def _sinh(self, a: Box) -> Box:
        if len(a[0]) == 1:
            return self._of_table("sinh", a)
        return self._pair("sinh", "cosh", 1.0, a)[0]

    def _cosh(self, a: Box) -> Box:
        if len(a[0]) == 1:
            return self._of_table("cosh", a)
        return self._pair("sinh", "cosh", 1.0, a)[1]

    def _primitive(self, op: str, a: Box, slope) -> Box:
        """Build a function from the jet of its derivative at a."""
        head = self._of_table(op, a)
        if len(a[0]) == 1:
            return head
        w = slope()
        return self._chain(
            head,
            a,
            lambda n, low, high: (
                _part(w, slice(n, n + 1))
                if n < len(w[0])
                else lanes.point(np.zeros((1,) * w[0].ndim))
            ),
        )

    def _arctan(self, a: Box) -> Box:
        return self._primitive("arctan", a, lambda: self._reciprocal(add(_one(a), self._square(a))))

    def _arctanh(self, a: Box) -> Box:
        return self._primitive(
            "arctanh", a, lambda: self._reciprocal(add(_one(a), lanes.negative(self._square(a))))
        )

    def _arcsinh(self, a: Box) -> Box:
        return self._primitive(
            "arcsinh", a, lambda: self._reciprocal(self._sqrt(add(_one(a), self._square(a))))
        )

    def _arcsin(self, a: Box) -> Box:
        def slope() -> Box:
            inner = add(_one(a), lanes.negative(self._square(a)))
            return self._reciprocal(self._sqrt(inner))

        return self._primitive("arcsin", a, slope)

    def _bell(self, a: Box, scale: float, level: Box) -> Box:
        """Return level * exp(-scale a**2)."""
        return lanes.multiply(level, self._exp(lanes.multiply(_like(a, -scale), self._square(a))))

    def _special_erf(self, a: Box) -> Box:
        return self._primitive("special.erf", a, lambda: self._bell(a, 1.0, _TWO_BY_ROOT_PI))

    def _special_erfc(self, a: Box) -> Box:
        return self._primitive(
            "special.erfc", a, lambda: lanes.negative(self._bell(a, 1.0, _TWO_BY_ROOT_PI))
        )

    def _special_ndtr(self, a: Box) -> Box:
        return self._primitive("special.ndtr", a, lambda: self._bell(a, 0.5, _ONE_BY_ROOT_TAU))

    def _special_xlogy(self, a: Box, b: Box) -> Box:
        return self._by_product("special.xlogy", a, b, lambda: self._log(b))

    def _special_xlog1py(self, a: Box, b: Box) -> Box:
        return self._by_product("special.xlog1py", a, b, lambda: self._log1p(b))

    def _by_product(self, op: str, a: Box, b: Box, factor) -> Box:
        head = interval.TABLE[op](_part(a, slice(1)), _part(b, slice(1)))
        if len(a[0]) == 1 and len(b[0]) == 1:
            return head
        out = multiply(a, factor(), self.order)
        if len(a[0]) == 1:  # x log y is 0 for x = 0, whatever y is
            zero = (a[0] == 0) & (a[1] == 0)
            out = np.where(zero, 0.0, out[0]), np.where(zero, 0.0, out[1])
        return joined(head, _part(out, slice(1, None))) if len(out[0]) > 1 else head

    # -- kinks and branches -----------------------------------------------------------------

    def _decide(self, no: np.ndarray, yes: np.ndarray, gap: Box | None) -> tuple:
        """Record a branch: (no, yes) as arrays; what the enclosing box decided comes first."""
        if self.given is not None and self.node in self.given:
            given_no, given_yes = self.given[self.node]
            no, yes = no & ~given_yes | given_no, yes & ~given_no | given_yes
        no, yes = np.asarray(no), np.asarray(yes)
        self.made[self.node] = no, yes
        if self.start is not None and gap is not None and len(gap[0]) > 1:
            self._find_kink(~(no | yes), gap)
        return no, yes

    def _find_kink(self, open_: np.ndarray, gap: Box) -> None:
        """Note where a monotone gap changes sign, to split there."""
        slope = 0.5 * (gap[0][1] + gap[1][1])
        end = np.where(slope > 0, gap[0][0], gap[1][0])
        # one step of Newton's from the left end, where the gap is nearly linear
        straight = gap[1][1] - gap[0][1] <= 0.02 * np.abs(slope)
        place = np.where(straight, self.start - end / slope, NAN)
        place = np.where(open_ & np.isfinite(place), place, NAN)
        known = self.kink if self.kink is not None else np.full(np.shape(place), NAN)
        self.kink = np.where(np.isnan(place), known, place)

    def _gap(self, a: Box, b: Box) -> tuple[Box, np.ndarray]:
        """Return a - b, and whether it can be 0 on a null set only."""
        gap = add(a, lanes.negative(b))
        if len(gap[0]) == 1:
            return gap, np.zeros(gap[0].shape[1:], bool)
        return gap, (gap[0][1] > 0) | (gap[1][1] < 0)

    def _compare(self, a: Box, b: Box, closed: bool) -> Box:
        """Decide a < b or a <= b; ends that touch on a null set only do not matter."""
        gap, null = self._gap(a, b)
        low, high = gap[0][0], gap[1][0]
        sure_low, sure_high = a[0][0] - b[1][0], a[1][0] - b[0][0]  # signs are exact
        yes = (sure_high < 0) | (sure_high <= 0) & (null | closed)
        no = (sure_low > 0) | (sure_low >= 0) & (null | (not closed))
        yes, no = yes | (high < 0), no | (low > 0)
        no, yes = self._decide(no, yes & ~no, gap)
        return self._truth(no, yes, (a, b))

    def _less(self, a: Box, b: Box) -> Box:
        return self._compare(a, b, False)

    def _less_equal(self, a: Box, b: Box) -> Box:
        return self._compare(a, b, True)

    def _greater(self, a: Box, b: Box) -> Box:
        return self._compare(b, a, False)

    def _greater_equal(self, a: Box, b: Box) -> Box:
        return self._compare(b, a, True)

    def _equal(self, a: Box, b: Box) -> Box:
        gap, null = self._gap(a, b)
        if self.given is None:
            same = (a[0][0] == a[1][0]) & (b[0][0] == b[1][0]) & (a[0][0] == b[0][0])
        else:  # inside a box: a point of it decides nothing by itself
            same = np.zeros(gap[0].shape[1:], bool)
            if len(a[0]) == 1 and len(b[0]) == 1 and self.node not in self.given:
                same = (a[0][0] == a[1][0]) & (b[0][0] == b[1][0]) & (a[0][0] == b[0][0])
        different = (a[1][0] < b[0][0]) | (b[1][0] < a[0][0])
        # what is equal on a null set only is different, also at a point of that set
        no, yes = self._decide(different | null, same & ~null, None)
        return self._truth(no, yes & ~no, (a, b))

    def _truth(self, no: np.ndarray, yes: np.ndarray, args: tuple[Box, ...]) -> Box:
        """Return a truth value as a number: one that jumps where it is not decided."""
        return self._jumping((np.where(yes, 1.0, 0.0)[None], np.where(no, 0.0, 1.0)[None]), args)

    def _jumping(self, head: Box, args: tuple[Box, ...]) -> Box:
        """Give a function that is constant between jumps its derivatives: 0, or unknown."""
        if not self.order or all(len(a[0]) == 1 for a in args):
            return head
        flat = head[0] == head[1]
        rest = np.broadcast_to(np.where(flat, 0.0, NAN), (self.order, *flat.shape[1:]))
        return joined(head, (rest, rest))

    def _not_equal(self, a: Box, b: Box) -> Box:
        return self._logical_not(self._equal(a, b))

    def _logical(self, op: str, *args: Box) -> Box:
        return self._jumping(interval.TABLE[op](*(_part(a, slice(1)) for a in args)), args)

    def _logical_and(self, a: Box, b: Box) -> Box:
        return self._logical("logical_and", a, b)

    def _logical_or(self, a: Box, b: Box) -> Box:
        return self._logical("logical_or", a, b)

    def _logical_not(self, a: Box) -> Box:
        return self._logical("logical_not", a)

    def _logical_xor(self, a: Box, b: Box) -> Box:
        return self._logical("logical_xor", a, b)

    def _choose(self, no: np.ndarray, yes: np.ndarray, a: Box, b: Box, slopes: bool) -> Box:
        """Take a where ``yes``, b where ``no``, and what holds both elsewhere."""
        length = max(len(a[0]), len(b[0]))
        if not (no | yes).all():
            length = max(length, self.order + 1)
        shape = np.broadcast_shapes(a[0].shape[1:], b[0].shape[1:], no.shape)
        a, b = _padded(a, length, shape), _padded(b, length, shape)
        low, high = lanes.hull(a, b)
        # beyond a kink the first derivative lies between the two, beyond a jump nothing is known
        low[2 if slopes else 1 :] = NAN
        high[2 if slopes else 1 :] = NAN
        return (
            np.where(yes, a[0], np.where(no, b[0], low)),
            np.where(yes, a[1], np.where(no, b[1], high)),
        )

    def _where(self, c: Box, a: Box, b: Box) -> Box:
        # a number is true where it is not 0
        yes, no = (c[0][0] > 0) | (c[1][0] < 0), (c[0][0] == 0) & (c[1][0] == 0)
        return self._choose(no, yes, a, b, False)

    def _maximum(self, a: Box, b: Box) -> Box:
        gap, _ = self._gap(a, b)
        sure_low, sure_high = a[0][0] - b[1][0], a[1][0] - b[0][0]
        no, yes = self._decide(
            (sure_high <= 0) | (gap[1][0] <= 0), (sure_low >= 0) | (gap[0][0] >= 0), gap
        )
        yes = yes & ~no
        out = self._choose(no, yes, a, b, True)
        head = np.maximum(a[0][:1], b[0][:1]), np.maximum(a[1][:1], b[1][:1])
        open_ = ~(no | yes)
        low, high = np.array(out[0]), np.array(out[1])
        low[:1] = np.where(open_, head[0], low[:1])
        high[:1] = np.where(open_, head[1], high[:1])
        return low, high

    def _minimum(self, a: Box, b: Box) -> Box:
        return lanes.negative(self._maximum(lanes.negative(a), lanes.negative(b)))

    def _fmax(self, a: Box, b: Box) -> Box:
        return self._maximum(a, b)

    def _fmin(self, a: Box, b: Box) -> Box:
        return self._minimum(a, b)

    def _absolute(self, a: Box) -> Box:
        no, yes = self._decide(a[1][0] <= 0, a[0][0] >= 0, a)
        yes = yes & ~no
        out = self._choose(no, yes, a, lanes.negative(a), True)
        low = np.array(out[0])
        low[:1] = np.where(~(no | yes), np.maximum(low[:1], 0.0), low[:1])
        return low, out[1]

    def _step(self, op: str, a: Box) -> Box:
        """Take a function that is constant between jumps."""
        return self._jumping(self._of_table(op, a), (a,))

    def _floor(self, a: Box) -> Box:
        return self._step("floor", a)

    def _ceil(self, a: Box) -> Box:
        return self._step("ceil", a)

    def _sign(self, a: Box) -> Box:
        no, yes = self._decide(a[1][0] <= 0, a[0][0] >= 0, a)
        null = (a[0][1] > 0) | (a[1][1] < 0) if len(a[0]) > 1 else np.zeros(no.shape, bool)
        head = self._of_table("sign", a)
        head = np.where(yes & null, 1.0, head[0]), np.where(no & null, -1.0, head[1])
        return self._jumping(head, (a,))


def _in_domain(a: Box) -> Box:
    """Leave out the negative numbers of a box that is partly negative.

    A density takes no logarithm or root of a negative number, except where it does not use it.
    """
    low = a[0].copy()
    low[0] = np.where(a[1][0] >= 0, np.maximum(low[0], 0.0), low[0])
    return low, a[1]


def _one(a: Box) -> Box:
    return _like(a, 1.0)


def _like(a: Box, number: float) -> Box:
    """Return a constant jet with as many axes as another."""
    array = np.full((1,) * a[0].ndim, number)
    return array, array


def _log_two(a: Box) -> Box:
    return interval.TABLE["log"](_like(a, 2.0))


def _stacked(parts: list[Box]) -> Box:
    shape = np.broadcast_shapes(*(p[0].shape[1:] for p in parts))
    return (
        np.concatenate([np.broadcast_to(p[0], (1, *shape)) for p in parts]),
        np.concatenate([np.broadcast_to(p[1], (1, *shape)) for p in parts]),
    )


def _padded(a: Box, length: int, shape: tuple[int, ...]) -> Box:
    """Append exact zeros up to a length."""
    out = np.zeros((2, length, *shape))
    out[0, : len(a[0])], out[1, : len(a[0])] = a
    return out[0], out[1]


_TWO_BY_ROOT_PI = (np.array(1.1283791670955125), np.array(1.1283791670955128))
_ONE_BY_ROOT_TAU = (np.array(0.39894228040143265), np.array(0.39894228040143270))
