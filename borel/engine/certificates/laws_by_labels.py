"""Certificates of the law of a leakage over the outcomes: tails, cdf, quantiles."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from borel.checker.figures import Part, is_above, labelled, margin, mass
from borel.checker.models import CONSTANT, number
from borel.checker.polynomials import NOTHING, most
from borel.checker.reading import Refused
from borel.engine.certificates.data import missing, text
from borel.engine.certificates.outcomes import Box, OutcomeSearch
from borel.engine.certificates.points import best_secrets, heights, witnesses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from borel.checker.joints import Joint as Checked
    from borel.checker.joints import Row
    from borel.engine.certificates.covers import Work
    from borel.probability.joint import Joint

_SHARES = (4, 8, 12, 16)
"""What may stay unknown of the mass of a box: 2^-k of the width of the claim, for the first k."""
_SMALLEST = 2.0**-52
_ROUNDS = 3
_STEP = 2.0**-40


def tail(
    joint: Joint,
    checked: Checked,
    kind: str,
    name: str,
    arguments: dict[str, Any],
    ends: tuple[Any, Any],
    work: Work,
) -> dict[str, Any]:
    """Return the proof of a tail, or of a value of the distribution function."""
    closed = name == "tail" and arguments["closed"]
    level = number(Fraction(arguments["t"])).exp()
    least, largest = map(number, ends)
    if name == "cdf":
        least, largest = 1 - largest, 1 - least

    def enough(low: arb, high: arb) -> bool:
        return bool(low >= least or least <= 0) and bool(high <= largest or largest >= 1)

    figure, width = f"{kind}.{name}", float(largest - least)
    return {
        "labels": _labels(joint, checked, figure, level, enough, work, closed=closed, width=width)
    }


def quantile(
    joint: Joint,
    checked: Checked,
    kind: str,
    arguments: dict[str, Any],
    ends: tuple[Any, Any],
    work: Work,
) -> dict[str, Any]:
    """Return the proof of a quantile: of a tail at either end."""
    rest, left = 1 - number(Fraction(arguments["s"])), arguments["side"] == "left"
    lower, upper = map(number, ends)
    figure = f"{kind}.quantile"
    proof: dict[str, Any] = {"lower": None, "upper": None}
    width = float(upper - lower) if upper.is_finite() else 1.0

    def few(_: arb, high: arb) -> bool:
        return bool(high <= rest if left else high < rest)

    def many(low: arb, _: arb) -> bool:
        return bool(low > rest if left else low >= rest)

    if upper.is_finite():
        proof["upper"] = _labels(
            joint, checked, figure, upper.exp(), few, work, closed=False, width=width
        )
    if lower > 0:
        proof["lower"] = _labels(
            joint, checked, figure, lower.exp(), many, work, closed=True, width=width
        )
    return proof


def _labels(
    joint: Joint,
    checked: Checked,
    figure: str,
    level: arb,
    enough: Callable[[arb, arb], bool],
    work: Work,
    *,
    closed: bool,
    width: float,
) -> dict[str, Any]:
    """Return labels of outcomes by which the probability above a level is known well enough."""
    kind = figure.split(".")[0]
    for bits in _SHARES:
        share = max(math.ldexp(min(1.0, width), -bits), _SMALLEST)
        search = OutcomeSearch(joint, checked, figure, work)
        labels = _Labels(search, kind, level, arb(share), closed)
        outcomes, atoms = search.boxes(labels.settle)
        proof = {"covers": search.covers, "outcomes": outcomes, "atoms": atoms}
        low, high, _ = labelled(checked, kind, level, proof, closed=closed)
        if enough(low, high):
            return proof
    raise missing(figure, f"it so well (the mass above is within [{low.str(12)}, {high.str(12)}])")


class _Labels:
    """The labels of boxes of outcomes, for a level of the leakage."""

    def __init__(self, search: OutcomeSearch, kind: str, level: arb, share: arb, closed: bool):
        self.search, self.kind, self.share, self.closed = search, kind, share, closed
        self.level = level
        self.below = level * (1 - arb(2) ** -59) if closed else level

    def settle(self, box: Box) -> list[Any] | None:
        """Return the label of a box of outcomes, None where it is to be halved."""
        if box.ratio:
            return None  # of ratios no mass is known
        part = Part(*box[:3], box.kernel, False, None, "a box")

        def unknown(row: Row) -> list[arb]:
            low, high = mass(part, row)
            return [high - low - self.share] * len(row.kernel)

        found = self.search.cover(box, unknown, by_values=False)
        if found is None:
            return None
        for _ in range(_ROUNDS):
            gap, doubt = self._gap(found[1], box), _doubt(found[1])
            if (
                doubt is None
                or not abs(gap) < 4 * doubt
                or not mass(part, found[1])[1] > self.share
            ):
                break

            def sharper(row: Row, least: float = doubt / 64) -> list[arb]:
                return [most(v, (_doubt(row) or 0) - arb(least)) for v in unknown(row)]

            found = self.search.cover(box, sharper, by_values=False) or found
        data, row = found
        gap = self._gap(row, box)
        if gap > 0:
            for witness in self._witnesses(box):
                try:
                    is_above(
                        self.search.checked, self.kind, part, row, self.level, witness,
                        strictly=not self.closed,
                    )  # fmt: skip
                except Refused:
                    continue
                return ["above", self.search.index(data), witness]
        if gap <= 0 or math.isinf(gap):

            def lacking(row: Row) -> list[arb]:
                short = [-margin(self.kind, row, f, self.below).least() for f in row.kernel]
                return [most(v, w) for v, w in zip(short, unknown(row), strict=True)]

            better = self.search.cover(box, lacking)
            if better is not None:
                return ["below", self.search.index(better[0])]
        if not mass(part, row)[1] > self.share:
            return ["open", self.search.index(data)]
        return None if box.speed is not None else ["open", self.search.index(data)]

    def _gap(self, row: Row, box: Box) -> float:
        """Return about how far the leakage is above the level in the middle of a box: a hint."""
        f_y = row.marginal.terms.get(CONSTANT, NOTHING).constant()
        a, b = box.ends
        if not (f_y > 0 and math.isfinite(b - a)):
            return math.inf
        y, checked, sign = a + (b - a) / 2, self.search.checked, 1.0 if self.kind == "pml" else -1.0
        places = [atom.place for atom in checked.atoms]
        if checked.density is not None:
            places += best_secrets(self.search.joint, checked, y, sign)
        best = float(max(sign * heights(self.search.joint, y, np.array(places))))
        return best - sign * math.log(float(f_y)) - math.log(float(self.level))

    def _witnesses(self, box: Box) -> Iterable[dict[str, Any]]:
        """Yield secrets that may show it: those that move with the outcomes, or stay."""
        a, b = box.ends
        checked, y = self.search.checked, a + (b - a) / 2
        if not math.isfinite(y):
            y = 2 * (a if math.isfinite(a) else b)
        lower, upper = checked.ends
        if lower <= a and b <= upper and math.isfinite(b - a) and a < b:
            if b + _STEP <= upper:
                yield {"box": [["y", text(0.0)], ["y", text(_STEP)]]}
            if a - _STEP >= lower:
                yield {"box": [["y", text(-_STEP)], ["y", text(0.0)]]}
        yield from witnesses(self.search.joint, checked, self.kind, y)


def _doubt(row: Row) -> float | None:
    """Return how little is known of f_Y, relative to it, None if nothing is."""
    f_y, (power, rest) = row.marginal, row.marginal.rest
    if power != 0 or not (rest.is_finite() and f_y.low > 0):
        return None
    return float((rest.rad() / f_y.low).upper())
