"""Kinks and branches on interval Taylor jets: what a box decides, and where a branch may change.

Statements hold *almost everywhere*: a comparison whose two sides differ by a function with a
derivative that excludes 0 is an equality on a null set only, so that ``x == c`` is false and
touching ends decide nothing. What a box decided is recorded, and evaluations inside that box
(nodes of a quadrature) take the same branches: a value altered at one point is never seen.
Where single points matter, as for a parameter, they are asked to hold *everywhere* instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from borel.numerics.graphs.operations import COMPARISONS
from borel.numerics.intervals import batched, interpreter
from borel.numerics.jets.arithmetic import NAN, add, joined, padded, part
from borel.numerics.jets.elementary import Functions

if TYPE_CHECKING:
    from borel.numerics.intervals.batched import Box

BRANCHING = frozenset("absolute maximum minimum fmax fmin sign where".split()) | COMPARISONS - {
    "equal",
    "not_equal",
}
"""Operations whose derivatives may be unknown although those of their arguments are known."""


class Branches(Functions):
    """The operations on jets, with branches: decided by the box, or as a larger box decided."""

    def __init__(
        self,
        order: int,
        decisions: dict[int, Box] | None,
        start: np.ndarray | None,
        everywhere: bool = False,
    ):
        super().__init__(order)
        self.everywhere = everywhere
        self.given = decisions
        self.made: dict[int, Box] = {}
        self.start = start
        self.kink: np.ndarray | None = None
        self.node = -1
        self.threshold = False  # whether the node compares an input that varies with a constant

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
        gap = add(a, batched.negative(b))
        null = np.zeros(gap[0].shape[1:], bool)
        if self.everywhere:
            return gap, null
        if self.threshold:
            null = null | (a[0][0] < a[1][0]) | (b[0][0] < b[1][0])
        if len(gap[0]) == 1:
            return gap, null
        return gap, null | (gap[0][1] > 0) | (gap[1][1] < 0)

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
        return self._jumping(interpreter.TABLE[op](*(part(a, slice(1)) for a in args)), args)

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
        a, b = padded(a, length, shape), padded(b, length, shape)
        low, high = batched.hull(a, b)
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
        return batched.negative(self._maximum(batched.negative(a), batched.negative(b)))

    def _fmax(self, a: Box, b: Box) -> Box:
        return self._maximum(a, b)

    def _fmin(self, a: Box, b: Box) -> Box:
        return self._minimum(a, b)

    def _absolute(self, a: Box) -> Box:
        no, yes = self._decide(a[1][0] <= 0, a[0][0] >= 0, a)
        yes = yes & ~no
        out = self._choose(no, yes, a, batched.negative(a), True)
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
        # 0 on a null set does not count; where it may be more than that, only the range is known
        null = np.zeros(a[0].shape[1:], bool)
        if len(a[0]) > 1 and not self.everywhere:
            null = (a[0][1] > 0) | (a[1][1] < 0)
        no, yes = self._decide(
            (a[1][0] < 0) | (a[1][0] <= 0) & null, (a[0][0] > 0) | (a[0][0] >= 0) & null, a
        )
        low, high = self._of_table("sign", a)
        low, high = np.where(no, -1.0, low), np.where(no, -1.0, high)
        return self._jumping((np.where(yes, 1.0, low), np.where(yes, 1.0, high)), (a,))
