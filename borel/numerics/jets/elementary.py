"""Elementary functions on interval Taylor jets: entry after entry, by their differential equations.

An operation without a rule here is differentiated as the table of operations says; if it does not
say, the range is kept and derivatives are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.numerics.graphs.formulas import formula, function_of, reads_once
from borel.numerics.graphs.operations import OPERATIONS, STEPS, TRUTHS
from borel.numerics.intervals import batched, interpreter
from borel.numerics.intervals.special import polygamma
from borel.numerics.jets.arithmetic import NAN, add, joined, like, multiply, part, stacked

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.intervals.batched import Box

_TWO_BY_ROOT_PI = (np.array(1.1283791670955125), np.array(1.1283791670955128))
_ONE_BY_ROOT_TAU = (np.array(0.39894228040143265), np.array(0.39894228040143270))


def logarithm(a: Box, order: int) -> Box:
    """Take the logarithm of a jet."""
    with np.errstate(all="ignore"):
        return Functions(order)._log(a)


def exponential(a: Box, order: int) -> Box:
    """Take the exponential of a jet."""
    with np.errstate(all="ignore"):
        return Functions(order)._exp(a)


class Functions:
    """The operations on jets, up to an order: a rule ``_name`` for each that has one."""

    def __init__(self, order: int):
        self.order = order

    def apply(self, op: str, args: list[Box]) -> Box:
        """Return the jet of an operation of the graph."""
        rule = getattr(self, "_" + op.replace(".", "_"), None)
        if rule is not None:
            return rule(*args)
        heads = [part(a, slice(1)) for a in args]
        found = interpreter.TABLE[op](*heads)
        if all(len(a[0]) == 1 for a in args):
            return found
        if op in MEANINGS and self.order:
            return joined(found, part(MEANINGS[op](self, *args), slice(1, None)))
        if op in SLOPES:
            return self._of_slope(found, args[0], lambda: SLOPES[op](self, args[0]))
        return self._unknown(found, heads)

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
                term = batched.multiply(part(a, slice(j, j + 1)), seen[k - j])
                term = batched.multiply(term, batched.point(np.array(float(j)))) if j > 1 else term
                out = term if out is None else batched.add(out, term)
            return batched.divide(out, batched.point(np.array(float(k)))) if k > 1 else out

        return self._steps(head, step)

    def _of_table(self, op: str, a: Box) -> Box:
        return interpreter.TABLE[op](part(a, slice(1)))

    # -- arithmetic -------------------------------------------------------------------------

    def _add(self, a: Box, b: Box) -> Box:
        return add(a, b)

    def _subtract(self, a: Box, b: Box) -> Box:
        return add(a, batched.negative(b))

    def _negative(self, a: Box) -> Box:
        return batched.negative(a)

    def _positive(self, a: Box) -> Box:
        return a

    def _multiply(self, a: Box, b: Box) -> Box:
        return multiply(a, b, self.order)

    def _square(self, a: Box) -> Box:
        head = batched.square(part(a, slice(1)))
        if len(a[0]) == 1:
            return head
        return joined(head, part(multiply(a, a, self.order), slice(1, None)))

    def _divide(self, a: Box, b: Box) -> Box:
        if len(b[0]) == 1:
            return batched.divide(a, b)
        by_b0 = batched.reciprocal(part(b, slice(1)))

        def step(k, low, high):
            out: Any = part(a, slice(k, k + 1)) if k < len(a[0]) else None
            for j in range(1, min(k, len(b[0]) - 1) + 1):
                term = batched.multiply(part(b, slice(j, j + 1)), (low[k - j], high[k - j]))
                out = batched.negative(term) if out is None else batched.subtract(out, term)
            return batched.multiply(out, by_b0)

        return self._steps(batched.multiply(part(a, slice(1)), by_b0), step)

    def _reciprocal(self, a: Box) -> Box:
        return self._divide(_one(a), a)

    def _power(self, a: Box, b: Box) -> Box:
        if len(a[0]) == 1 and len(b[0]) == 1:
            return interpreter.TABLE["power"](a, b)
        if len(b[0]) > 1:
            head = interpreter.TABLE["power"](part(a, slice(1)), part(b, slice(1)))
            rest = self._exp(multiply(b, self._log(a), self.order))
            return joined(head, part(rest, slice(1, None))) if self.order else head
        n = float(b[0].flat[0])
        whole = b[0].size == 1 and n == float(b[1].flat[0]) and n == np.floor(n)
        if whole and n == 2:
            return self._square(a)
        if whole and 0 <= n <= 16:
            out = _one(a)
            for _ in range(int(n)):
                out = multiply(out, a, self.order)
            head = interpreter.TABLE["power"](part(a, slice(1)), b)
            return joined(head, part(out, slice(1, None))) if len(out[0]) > 1 else head
        if whole and n < 0:
            return self._reciprocal(self._power(a, batched.negative(b)))
        head = interpreter.TABLE["power"](part(a, slice(1)), b)
        return self._power_steps(head, a, b)

    def _power_steps(self, head: Box, a: Box, p: Box) -> Box:
        """Take a real power p: k a_0 c_k = sum of (p j - (k - j)) a_j c_(k-j)."""
        a0 = part(a, slice(1))

        def step(k, low, high):
            out: Any = None
            for j in range(1, min(k, len(a[0]) - 1) + 1):
                factor = batched.subtract(
                    batched.multiply(p, batched.point(np.array(float(j)))),
                    batched.point(np.array(float(k - j))),
                )
                term = batched.multiply(part(a, slice(j, j + 1)), (low[k - j], high[k - j]))
                term = batched.multiply(term, factor)
                out = term if out is None else batched.add(out, term)
            return batched.divide(out, batched.multiply(a0, batched.point(np.array(float(k)))))

        return self._steps(head, step)

    def _sqrt(self, a: Box) -> Box:
        a = _in_domain(a)
        head = self._of_table("sqrt", a)
        return head if len(a[0]) == 1 else self._power_steps(head, a, like(a, 0.5))

    def _cbrt(self, a: Box) -> Box:
        head = self._of_table("cbrt", a)
        third = like(a, 1 / 3)
        third = third[0] - 1e-16, third[1] + 1e-16
        return head if len(a[0]) == 1 else self._power_steps(head, a, third)

    # -- exponentials and their kin ---------------------------------------------------------

    def _exp(self, a: Box) -> Box:
        head = batched.exp(part(a, slice(1)))
        if len(a[0]) == 1:
            return head
        return self._chain(head, a, lambda n, low, high: (low[n], high[n]))

    def _log(self, a: Box) -> Box:
        a = _in_domain(a)
        head = self._of_table("log", a)
        if len(a[0]) == 1:
            return head
        by_a0 = batched.reciprocal(part(a, slice(1)))

        def step(k, low, high):
            out: Any = None
            for j in range(max(1, k - len(a[0]) + 1), k):
                term = batched.multiply((low[j], high[j]), part(a, slice(k - j, k - j + 1)))
                term = batched.multiply(term, batched.point(np.array(float(j))))
                out = term if out is None else batched.add(out, term)
            if out is not None:
                out = batched.negative(batched.divide(out, batched.point(np.array(float(k)))))
            if k < len(a[0]):
                own = part(a, slice(k, k + 1))
                out = own if out is None else batched.add(own, out)
            if out is None:
                out = batched.point(np.zeros((1,) * a[0].ndim))
            return batched.multiply(out, by_a0)

        return self._steps(head, step)

    def _special_expit(self, a: Box) -> Box:
        head = self._of_table("special.expit", a)
        if len(a[0]) == 1:
            return head

        def slope(n, low, high):  # entry n of s (1 - s)
            out = batched.point(np.zeros((1,) * a[0].ndim))
            for i in range(n + 1):
                other = (low[n - i], high[n - i])
                if n == i:
                    other = batched.subtract(like(a, 1.0), other)
                else:
                    other = batched.negative(other)
                out = batched.add(out, batched.multiply((low[i], high[i]), other))
            return out

        return self._chain(head, a, slope)

    def _softplus(self, a: Box) -> Box:
        """Log(1 + e^a): its derivative is expit(a)."""
        head = interpreter.TABLE["logaddexp"](like(a, 0.0), part(a, slice(1)))
        if len(a[0]) == 1:
            return head
        s = self._special_expit(a)
        return self._chain(head, a, lambda n, low, high: part(s, slice(n, n + 1)))

    def _logaddexp(self, a: Box, b: Box) -> Box:
        head = interpreter.TABLE["logaddexp"](part(a, slice(1)), part(b, slice(1)))
        if len(a[0]) == 1 and len(b[0]) == 1:
            return head
        if len(a[0]) > len(b[0]):
            a, b = b, a
        out = add(a, self._softplus(add(b, batched.negative(a))))
        return joined(head, part(out, slice(1, None))) if len(out[0]) > 1 else head

    def _special_log_expit(self, a: Box) -> Box:
        head = self._of_table("special.log_expit", a)
        if len(a[0]) == 1:
            return head
        out = batched.negative(self._softplus(batched.negative(a)))
        return joined(head, part(out, slice(1, None)))

    def _tanh(self, a: Box) -> Box:
        head = self._of_table("tanh", a)
        if len(a[0]) == 1:
            return head

        def slope(n, low, high):  # entry n of 1 - t**2
            out = like(a, 1.0 if n == 0 else 0.0)
            for i in range(n + 1):
                term = batched.multiply((low[i], high[i]), (low[n - i], high[n - i]))
                out = batched.subtract(out, term)
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
                    term = batched.multiply(part(a, slice(j, j + 1)), other[k - j])
                    term = batched.multiply(term, batched.point(np.array(s * j)))
                    out = term if out is None else batched.add(out, term)
                new.append(batched.divide(out, batched.point(np.array(float(k)))))
            f.append(new[0])
            g.append(new[1])
        return stacked(f), stacked(g)

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
        return self._of_slope(self._of_table(op, a), a, slope)

    def _of_slope(self, head: Box, a: Box, slope) -> Box:
        if len(a[0]) == 1 or not self.order:
            return head
        w = slope()
        return self._chain(
            head,
            a,
            lambda n, low, high: (
                part(w, slice(n, n + 1))
                if n < len(w[0])
                else batched.point(np.zeros((1,) * w[0].ndim))
            ),
        )

    def _bell(self, a: Box, scale: float, level: Box) -> Box:
        """Return level * exp(-scale a**2)."""
        return batched.multiply(
            level, self._exp(batched.multiply(like(a, -scale), self._square(a)))
        )

    def _special_erf(self, a: Box) -> Box:
        return self._primitive("special.erf", a, lambda: self._bell(a, 1.0, _TWO_BY_ROOT_PI))

    def _special_erfc(self, a: Box) -> Box:
        return self._primitive(
            "special.erfc", a, lambda: batched.negative(self._bell(a, 1.0, _TWO_BY_ROOT_PI))
        )

    def _special_ndtr(self, a: Box) -> Box:
        return self._primitive("special.ndtr", a, lambda: self._bell(a, 0.5, _ONE_BY_ROOT_TAU))

    def _special_gammaln(self, a: Box) -> Box:
        return self._primitive("special.gammaln", a, lambda: self._polygamma_below(0, a))

    def _special_digamma(self, a: Box) -> Box:
        return self._polygamma(0, a)

    def _polygamma(self, k: int, a: Box) -> Box:
        """Return the derivative of order k of digamma: its own slope is the next one."""
        of = polygamma(k) if k else interpreter.TABLE["special.digamma"]
        return self._of_slope(of(part(a, slice(1))), a, lambda: self._polygamma_below(k + 1, a))

    def _polygamma_below(self, k: int, a: Box) -> Box:
        """Return it up to one order less, which is what a slope is asked for."""
        return Functions(self.order - 1)._polygamma(k, part(a, slice(self.order)))

    def _special_xlogy(self, a: Box, b: Box) -> Box:
        return self._by_product("special.xlogy", a, b, lambda: self._log(b))

    def _special_xlog1py(self, a: Box, b: Box) -> Box:
        return self._by_product("special.xlog1py", a, b, lambda: self.apply("log1p", [b]))

    def _by_product(self, op: str, a: Box, b: Box, factor) -> Box:
        head = interpreter.TABLE[op](part(a, slice(1)), part(b, slice(1)))
        if len(a[0]) == 1 and len(b[0]) == 1:
            return head
        out = multiply(a, factor(), self.order)
        if len(a[0]) == 1:  # x log y is 0 for x = 0, whatever y is
            zero = (a[0] == 0) & (a[1] == 0)
            out = np.where(zero, 0.0, out[0]), np.where(zero, 0.0, out[1])
        return joined(head, part(out, slice(1, None))) if len(out[0]) > 1 else head


def _in_domain(a: Box) -> Box:
    """Leave out the negative numbers of a box that is partly negative.

    A density takes no logarithm or root of a negative number, except where it does not use it.
    """
    low = a[0].copy()
    low[0] = np.where(a[1][0] >= 0, np.maximum(low[0], 0.0), low[0])
    return low, a[1]


def _one(a: Box) -> Box:
    return like(a, 1.0)


def _rule(op: str) -> Callable[..., Box]:
    return lambda functions, *args: functions.apply(op, list(args))


def _number(value: float) -> Box:
    array = np.array([value])
    return array, array


_BRANCHES = TRUTHS | STEPS | {"where"}
MEANINGS = {
    op: function_of(of.means, ("u", "v")[: of.arguments], _rule, _number, context=1)
    for op, of in OPERATIONS.items()
    if of.means and reads_once(of.means) and not formula(of.means).operations & _BRANCHES
}
"""Functions written out in others: derivatives of what has no rule of its own."""
SLOPES = {
    op: function_of(of.derivative[0], ("u",), _rule, _number, context=1)
    for op, of in OPERATIONS.items()
    if of.arguments == 1 and of.derivative and formula(of.derivative[0]).inputs == ("u",)
}
"""Derivatives of functions of one argument, as functions of it: what has no rule of its own."""
