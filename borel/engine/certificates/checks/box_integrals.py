"""Integrals over boxes of several coordinates, for certificates: a part to trust, and to read.

Where the ranges of a box decide every branch, the function is one analytic formula there, with
complex values beyond the box, and Gauss's rule integrates it with a remainder.

For n >= 2 nodes on (-1, 1) and f = sum a_k T_k, |f| <= M on the ellipse with semi-axes
(r + 1/r) / 2 and (r - 1/r) / 2: |a_k| <= 2 M / r^k; the rule is exact below degree 2n and for odd
k, else it errs by at most 2 + 2 / (4 n^2 - 1) <= 32/15; in sum by 64/15 M r^-2n / (1 - r^-2)
(Trefethen 2013, theorem 19.3). The weights are positive: those of several coordinates add up, each
with the other coordinates anywhere in the real box.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cache, partial
from typing import Any

from flint import acb, arb, fmpq

from borel.engine.certificates.checks.ranges import (
    INF,
    ONE,
    Doubt,
    Z,
    betaln,
    logaddexp,
    ndtr,
    ranges,
    right,
    truth,
    whole,
)

MOST = {0: 0, 1: 40, 2: 28, 3: 18, 4: 13, 5: 10}  # nodes for each coordinate
ELLIPSES = [arb(r) for r in (1.5, 2, 3, 5, 9, 17)]


def _square(v):  # the square of a real number is not negative, which balls do not see
    if not isinstance(v, acb):
        return v * v
    a, b = ((x.abs_lower() ** 2).union(x.abs_upper() ** 2) for x in (v.real, v.imag))
    return acb(a - b, 2 * v.real * v.imag)


# fmt: off
ANALYTIC = {
    "add": lambda u, v: u + v, "subtract": lambda u, v: u - v, "multiply": lambda u, v: u * v,
    "divide": lambda u, v: u / v, "reciprocal": lambda u: 1 / u, "negative": lambda u: -u,
    "square": _square, "sqrt": lambda u: right(u).sqrt(), "exp": lambda u: u.exp(),
    "expm1": lambda u: u.exp() - 1, "log": lambda u: right(u).log(), "sin": lambda u: u.sin(),
    "log1p": lambda u: right(1 + u).log(), "xlogy": lambda u, v: u * right(v).log(),
    "power": lambda u, v: (right(u).log() * v).exp(), "cos": lambda u: u.cos(),
    "expit": lambda u: 1 / (1 + (-u).exp()), "tanh": lambda u: 1 - 2 / (1 + (2 * u).exp()),
    "erf": lambda u: u.erf(), "ndtr": ndtr, "gammaln": lambda u: right(u).lgamma(),
    "betaln": betaln, "logaddexp": logaddexp,
}
# fmt: on


@cache
def rule(n):
    """Return the nodes and weights of Gauss's rule on (-1, 1)."""
    return [arb.legendre_p_root(n, k, weight=True) for k in range(n)]


class Formula:
    """The formula of the last node on a box, where the ranges decide every branch of it."""

    def __init__(self, nodes, known):
        self.nodes, self.known, self.memo = nodes, known, {}
        # function, arguments, the last coordinate in it
        self.steps: list[tuple[Any, tuple, int]] = []
        self.inputs: dict[int, int] = {}
        self.last = self.of(len(nodes) - 1)

    def step(self, function, *args):
        """Add a step, and return its number."""
        self.steps.append((function, args, max((self.steps[i][2] for i in args), default=-1)))
        return len(self.steps) - 1

    def of(self, k):
        """Return the step that gives a node."""
        if k not in self.memo:
            op, args = self.nodes[k]
            self.memo[k] = self.made(op, args, self.known[k])
        return self.memo[k]

    def made(self, op, args, known):
        """Return the step that gives a node of some operation and range."""
        if known and known[0] == known[1] and known[0].is_finite():
            return self.step(lambda: known[0])
        if op == "input":
            level = int(args[0][1:])
            if level not in self.inputs:
                self.inputs[level] = len(self.steps)
                self.steps.append((None, (), level))
            return self.inputs[level]
        if op in ("absolute", "maximum", "minimum", "where"):
            return self.branch(op, args)
        if op == "exp":
            return self.exponential(args[0], fmpq(1))
        k = whole(self.known[args[1]]) if op == "power" else None
        if k == 2:
            return self.step(_square, self.of(args[0]))
        if k is not None:
            return self.step(lambda u: u**k if k >= 0 else 1 / u**-k, self.of(args[0]))
        return self.step(ANALYTIC[op.removeprefix("special.")], *(self.of(i) for i in args))

    def branch(self, op, args):
        """Return the branch that is taken at almost every point of the box."""
        u, v = self.known[args[0]], (Z, Z) if op == "absolute" else self.known[args[1]]
        if op == "where" and u and truth(u)[0] == truth(u)[1]:
            return self.of(args[1] if truth(u)[0] == 1 else args[2])
        if op == "where" or not (u and v) or not (u[0] >= v[1] or u[1] <= v[0]):
            raise Doubt(f"{op} is not decided")
        first = (u[0] >= v[1]) == (op != "minimum")
        if op == "absolute":
            step = self.of(args[0])
            return step if first else self.step(ANALYTIC["negative"], step)
        return self.of(args[0] if first else args[1])

    def exponential(self, k, c):
        """Return e^(c node): of logarithms it is a product of powers, analytic at their ends."""
        (op, args), times = self.nodes[k], ANALYTIC["multiply"]
        if c == 0:
            return self.step(lambda: ONE)
        if op == "negative":
            return self.exponential(args[0], -c)
        if op in ("add", "subtract"):
            other = self.exponential(args[1], c if op == "add" else -c)
            return self.step(times, self.exponential(args[0], c), other)
        for i, j in (args, args[::-1]) if op == "multiply" else ():
            if whole(self.known[i]) is not None:
                return self.exponential(j, c * whole(self.known[i]))
        n = int(c.p) if c.q == 1 and 0 < c.p <= 64 and self.known[k] else None
        if n and op in ("log", "log1p"):  # its argument is not negative: the range is known
            start = 0 if op == "log" else 1
            return self.step(lambda u: (u + start) ** n, self.of(args[0]))
        return self.step(lambda u: (u * c).exp(), self.of(k))

    def at(self, x):
        """Evaluate it at values of the coordinates; wherever it is one, it is analytic."""
        values: list = []
        for function, args, level in self.steps:
            values.append(x[level] if function is None else function(*(values[i] for i in args)))
            if not values[-1].is_finite():
                raise Doubt("not analytic")
        return values[self.last]

    def bound(self, box, j, r):
        """Bound it with one coordinate in an ellipse, and the others real."""
        x = [acb(low.union(high)) for low, high in box]
        half = (box[j][1] - box[j][0]) / 2
        across, up = (half * arb(0, (r + s / r) / 2) for s in (1, -1))
        x[j] = acb(box[j][0] + half + across, up)
        return abs(self.at(x)).upper()

    def errors(self, box):
        """Return for each coordinate the error of the rule with n nodes, a function of n."""
        found = {}
        for j in self.inputs:
            known = []
            with suppress(ValueError):
                for r in ELLIPSES:
                    known.append((self.bound(box, j, r) / (1 - r**-2), r))
            found[j] = known
        scale = volume(box) * 32 / 15

        def error(known, n):
            return min(((scale * m / r ** (2 * n)).upper() for m, r in known), default=INF)

        return {j: partial(error, known) for j, known in found.items()}

    def gauss(self, box, n, first: Any = None) -> Any:
        """Apply the rule to it; or to all but the first coordinate, at some values of that."""
        among = range(len(box)) if first is None else range(1, len(box))
        rest = sorted({*among} & {*self.inputs})
        free = math.prod([box[j][1] - box[j][0] for j in among if j not in rest], start=ONE)
        by_level: dict = {j: [] for j in (-1, *self.inputs)}
        for k, (function, args, level) in enumerate(self.steps):
            if function is not None:
                by_level[level].append((k, function, args))
        values: list = [None] * len(self.steps)

        def run(level):
            for k, function, args in by_level[level]:
                values[k] = function(*[values[i] for i in args])

        def total(levels):
            if not levels:
                return values[self.last]
            j, out = levels[0], Z
            low, high = box[j]
            half = (high - low) / 2
            for x, weight in rule(n):
                values[self.inputs[j]] = half * (1 + x) + low
                run(j)
                out += weight * total(levels[1:])
            return out * half

        def along(value):
            if 0 in self.inputs:
                values[self.inputs[0]] = value
                run(0)
            return total(rest) * free

        run(-1)
        return total(rest) * free if first is None else [*map(along, first)]


def volume(box):
    """Return the volume of a box."""
    return math.prod([b - a for a, b in box], start=ONE)


def halves(box, j):
    """Cut a box in two along a coordinate."""
    low, high = box[j]
    middle = ((low + high) / 2).mid()
    if not low < middle < high:
        raise ValueError("a box too small to cut")
    return [(*box[:j], side, *box[j + 1 :]) for side in ((low, middle), (middle, high))]


class Integral:
    """The integral of the last node over boxes, about as tightly as the room; it may cost much."""

    def __init__(self, nodes, boxes, y, room, spend):
        self.nodes, self.y, self.spend = nodes, y, spend
        self.whole = [(min(box[j][0] for box in boxes), max(box[j][1] for box in boxes))
                      for j in range(len(boxes[0]))]  # fmt: skip
        self.unit, self.sure, rough = room / volume(self.whole) / 2, Z, []
        todo = boxes
        while todo:
            rough += [part for box in todo if (part := self.part(box))]
            worst, total = max((w for w, *_ in rough), default=Z), sum((w for w, *_ in rough), Z)
            least = INF if total <= room / 2 else worst / 8
            todo = [half for w, box, j, _ in rough if w >= least for half in halves(box, j)]
            rough = [part for part in rough if not part[0] >= least]
        self.value = sum((value for *_, value in rough), self.sure)

    def part(self, box):
        """Add what a box contributes; or return how wide its range is, and where to cut."""
        known, size = ranges(self.nodes, box, self.y), volume(box)
        self.spend(10 * len(self.nodes))
        low, high = known[-1] or (-INF, INF)
        rough, errors, most = ((high - low) * size).upper(), {}, 0
        if not rough <= self.unit * size:
            with suppress(ValueError, KeyError):  # a branch, an operation that it does not know
                formula = Formula(self.nodes, known)
                errors, most = formula.errors(box), MOST[len(formula.inputs)]
        for n in range(2, most + 1):
            error = sum((e(n) for e in errors.values()), Z)
            if error <= self.unit * size:
                self.spend(n ** len(errors) * len(self.nodes))
                self.sure += formula.gauss(box, n) + arb(0, error)
                return None
        sizes = {j: errors[j](most) for j in errors} or dict.fromkeys(range(len(box)), INF)
        among = [j for j, error in sizes.items() if error == max(sizes.values())]
        spans = {
            j: (b - a) / (w - v)
            for j, ((a, b), (v, w)) in enumerate(zip(box, self.whole, strict=True))
        }
        return rough, box, max(among, key=spans.__getitem__), low.union(high) * size
