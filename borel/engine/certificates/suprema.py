"""Certificates of essential suprema over the outcomes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flint import arb

from borel.checker.figures import Part, is_above, margin, mass
from borel.checker.models import constant, coordinate, number
from borel.checker.polynomials import U
from borel.checker.reading import Refused
from borel.engine.certificates.covers import Cover, Work, accurate
from borel.engine.certificates.data import missing, text
from borel.engine.certificates.outcomes import Box, OutcomeSearch
from borel.engine.certificates.points import breaks, witnesses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from borel.checker.joints import Joint as Checked
    from borel.checker.joints import Row
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

_BOXES = (40, 30, 20)
"""Boxes of outcomes of a size of 2^-k are tried as witnesses."""


def supremum(joint: Joint, checked: Checked, kind: str, bound: Bound, work: Work) -> dict[str, Any]:
    """Return the proof of a supremum over the outcomes; see `certificate`."""
    figure = f"{kind}.sup"
    search = OutcomeSearch(joint, checked, figure, work)
    lower, upper = map(number, bound.ends)
    outcomes, atoms, peaks = None, [], []
    if upper.is_finite():
        level = upper.exp()

        def lacking(row: Row) -> list[arb]:
            return [-margin(kind, row, f, level).least() for f in row.kernel]

        def settle(box: Box) -> int | None:
            found = search.cover(box, lacking)
            if found is None:
                return None
            data, row = found
            peaks.append((_height(kind, row), box.ends))
            return search.index(data)

        outcomes, atoms = search.boxes(settle)
    witness = None
    if lower > 0:
        witness = _witness(search, kind, lower.exp(), _places(bound, peaks))
        if witness is None:
            raise missing(figure, "its lower end")
    return {"covers": search.covers, "outcomes": outcomes, "atoms": atoms, "witness": witness}


def _height(kind: str, row: Row) -> float:
    """Return about how large the leakage is on a box of outcomes."""
    middles = [(f.low.union(f.high)).mid() if f.high.is_finite() else f.low for f in row.kernel]
    values = [float(v) for v in middles if v.is_finite()]
    of = row.marginal.low.union(row.marginal.high)
    if not values or not of.is_finite() or not of.mid() > 0:
        return -math.inf
    f_y = float(of.mid())
    if kind == "pml":
        return max(values) / f_y
    return f_y / min(values) if min(values) > 0 else math.inf


def _places(bound: Bound, peaks: list[tuple[float, tuple[float, float]]]) -> Iterable[float]:
    """Yield outcomes at which the leakage may be largest: hints."""
    y = (bound.witness or {}).get("y")
    if isinstance(y, (int, float)) and math.isfinite(y):
        yield float(y)
    for _, (a, b) in sorted(peaks, key=lambda peak: -peak[0])[:6]:
        if math.isfinite(b - a):
            yield a + (b - a) / 2
            yield a
            yield b
        else:
            yield 2 * (a if math.isfinite(a) else b)


def _witness(
    search: OutcomeSearch, kind: str, level: arb, places: Iterable[float]
) -> dict[str, Any] | None:
    """Return outcomes and secrets that show a leakage of at least a level."""
    checked = search.checked
    atoms = [place for place, _ in checked.masses]
    for y in places:
        for data, part in _boxes(checked, y, atoms):
            found = _cover(search, part, y)
            if found is None:
                continue
            if not mass(part, found.row)[0] > 0:
                continue
            for secrets in witnesses(search.joint, checked, kind, y):
                try:
                    is_above(checked, kind, part, found.row, level, secrets, strictly=False)
                except Refused:
                    continue
                return {"y": data, "cover": search.index(found.as_data()), "x": secrets}
    return None


def _boxes(checked: Checked, y: float, atoms: list[float]) -> Iterable[tuple[Any, Part]]:
    """Yield an atom, or small boxes of outcomes beside a place."""
    if y in atoms:
        k = atoms.index(y)
        yield k, Part(constant(y), None, None, checked.masses[k][1], False, None, "witness")
    if checked.line is None:
        return
    for bits in _BOXES:
        step = 2.0**-bits * max(1.0, abs(y))
        for a, b in ((y - step, y), (y, y + step)):
            a, b = max(a, checked.line[0]), min(b, checked.line[1])
            if a < b:
                low, high = constant(a), constant(b)
                speed = (high - low).times(arb(0.5))
                part = Part(coordinate(U, low, high), speed, U, checked.kernel, False, None, "")
                yield [text(a), text(b)], part


def _cover(search: OutcomeSearch, part: Part, y: float) -> Cover | None:
    """Return a cover by which f_Y is known as well as floats are, on a small box of outcomes."""
    inner = {y, *breaks(search.joint)}
    rough = accurate(search.checked, part.kernel, part.y, inner, arb(2) ** -10, search.work)
    if rough is None:
        return None
    goal = rough.row.marginal.high * arb(2) ** -38
    return accurate(search.checked, part.kernel, part.y, inner, goal, search.work) or rough
