"""The search over outcomes: boxes on which a statement about a joint holds, with their covers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import arb

from borel.checker.joints import Ratios, along
from borel.checker.models import Model, constant, coordinate
from borel.checker.polynomials import INFINITY, U
from borel.checker.reading import Refused
from borel.engine.certificates.covers import Cover, Layout, Work, layout
from borel.engine.certificates.data import missing, text
from borel.engine.certificates.points import breaks

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.checker.graph import Density
    from borel.checker.joints import Joint as Checked
    from borel.checker.joints import Row
    from borel.probability.joint import Joint

_KINKS = frozenset(
    "absolute maximum minimum where less less_equal greater greater_equal equal not_equal".split()
)
_CELLS, _DEPTH, _PATIENCE = 96, 48, 3
_REACHES = [2.0**k for k in range(0, 15, 2)]


class Box(NamedTuple):
    """Outcomes: their model and speed, the box (a, b), and how the kernel is known there."""

    y: Model
    speed: Model | None
    unit: int | None
    ends: tuple[float, float]
    kernel: Density
    ratio: bool = False


@dataclass
class OutcomeSearch:
    """A search over all outcomes of a joint.

    Attributes
    ----------
    joint, checked : Joint
        The joint, and as the checker reads it.
    figure : str
        What is to be proved, for messages.
    covers : list
        Those of the certificate, as data, each once.
    """

    joint: Joint
    checked: Checked
    figure: str
    work: Work
    covers: list[Any] = field(default_factory=list)
    _known: dict[str, int] = field(default_factory=dict)

    def index(self, cover: Any) -> int:
        """Return the place of a cover among those of the certificate."""
        key = json.dumps(cover)
        if key not in self._known:
            self._known[key] = len(self.covers)
            self.covers.append(cover)
        return self._known[key]

    def edges(self) -> list[float]:
        """Return where outcomes are divided first: the line's ends, and places of the secrets."""
        assert self.checked.line is not None
        lower, upper = self.checked.line
        inner = {*self.checked.ends, *(atom.place for atom in self.checked.atoms)}
        inner |= set(breaks(self.joint))
        return sorted({v for v in inner if lower < v < upper and math.isfinite(v)} | {lower, upper})

    def layout(self, a: float, b: float, *, reach: float = 8.0) -> Layout:
        """Return edges of the secrets for outcomes in (a, b); one moves with them, at a kink."""
        lower, upper = self.checked.ends
        density = self.joint.mechanism.density
        assert density is not None and density.graph is not None
        far = not math.isfinite(b - a)
        kinked = bool(density.graph.operations & _KINKS)
        moving = [0.0] if kinked and lower <= a and b <= upper and not far else []
        inner = [v for v in breaks(self.joint) if not (moving and a < v < b)]
        middle = 0.0 if far else a + (b - a) / 2
        # no part that runs as a power of t may reach into the outcomes, or run beside theirs
        room = (0.0, 0.0) if far else (a - lower, upper - b) if moving else (math.inf, math.inf)
        return layout(self.checked, inner, moving=moving, middle=middle, reach=reach, room=room)

    def boxes(self, settle: Callable[[Box], Any]) -> tuple[Any, list[Any]]:
        """Return parts of the outcomes as data, and the leaves of atoms.

        ``settle`` returns the leaf of a box, or None where it is to be halved.
        """
        atoms = [self._atom(settle, place, kernel) for place, kernel in self.checked.masses]
        if self.checked.line is None:
            return None, atoms
        edges, parts = self.edges(), {}
        for side in (0, -1):
            if math.isinf(edges[side]):
                edges, leaf = self._far(settle, edges, side)
                parts[edges[side]] = leaf
        data = []
        for a, b in pairwise(edges):
            if math.isinf(a) or math.isinf(b):
                data.append(parts[a if math.isinf(a) else b])
            else:
                data.append(self._tree(settle, a, b))
        return {"edges": [text(v) for v in edges], "parts": data}, atoms

    def _atom(self, settle: Callable[[Box], Any], place: float, kernel: Density) -> Any:
        leaf = settle(Box(constant(place), None, None, (place, place), kernel))
        if leaf is None:
            raise missing(self.figure, f"it at the atom {place} of the outcome")
        return leaf

    def _far(
        self, settle: Callable[[Box], Any], edges: list[float], side: int
    ) -> tuple[list[float], Any]:
        """Return edges with one from which a part to infinity is settled, and that part."""
        sign, last = (-1.0, edges[1]) if side == 0 else (1.0, edges[-2])
        name = "lower" if side == 0 else "upper"
        for reach in _REACHES:
            edge = sign * reach if math.isinf(last) else sign * max(reach, sign * last)
            ends = (-math.inf, edge) if side == 0 else (edge, math.inf)
            about = {"germ": name, "power": "1/1"}
            y, speed = along(*ends, about, "outcomes")
            for ratio in (True, False):
                leaf = settle(Box(y, speed, None, ends, self.checked.kernel, ratio))
                if leaf is not None:
                    new = sorted({*edges, edge})
                    return new, {**about, "ratio": ratio, "leaf": leaf}
        raise missing(self.figure, f"it for outcomes towards {sign * math.inf}")

    def _tree(self, settle: Callable[[Box], Any], a: float, b: float) -> dict[str, Any]:
        bits, leaves = [], []
        todo = [(constant(a), constant(b), a, b, 0)]
        while todo:
            low, high, a, b, depth = todo.pop()
            y, speed = coordinate(U, low, high), (high - low).times(arb(0.5))
            leaf = settle(Box(y, speed, U, (a, b), self.checked.kernel))
            if leaf is not None:
                bits.append("0")
                leaves.append(leaf)
                continue
            if depth >= _DEPTH:
                raise missing(self.figure, f"it for outcomes near {a}")
            bits.append("1")
            middle = (low + high).times(arb(0.5))
            m = a + (b - a) / 2
            todo += [(middle, high, m, b, depth + 1), (low, middle, a, m, depth + 1)]
        return {"tree": "".join(bits), "leaves": leaves}

    # -- one box --------------------------------------------------------------------------------

    def cover(
        self,
        box: Box,
        lacking: Callable[[Row], list[arb]],
        *,
        cells: int = _CELLS,
        by_values: bool = True,
    ) -> tuple[Any, Row] | None:
        """Return a cover, as data, by which nothing is lacking on a box, and what is known by it.

        ``lacking`` returns for each cell and atom how much is missing, not more than 0 if nothing.
        Cells are halved as long as that helps; else None: the box of outcomes is to be halved.
        """
        found, kernel = self.layout(*box.ends), box.kernel
        if box.unit is None and box.speed is not None and found.germs:
            return None  # secrets and outcomes do not both run as a power of t
        if box.ratio:
            try:
                kernel = Ratios(self.checked, box.y, "ratios")
            except Refused:
                return None
        cover = Cover(self.checked, kernel, box.y, found, found.start(), self.work)
        before, patience = INFINITY, _PATIENCE
        while True:
            row, keys = cover.row, list(cover.on_cells)
            lacks = dict(zip(keys, lacking(row), strict=True))
            short = {key: v for key, v in lacks.items() if not v <= 0}
            if not short:
                return cover.as_data(), row
            worst = max((v if v.is_finite() else INFINITY for v in short.values()), key=_upper)
            patience = _PATIENCE if worst < before * arb(0.8) else patience - 1
            if not patience:
                return None
            doubts = cover.doubts()
            total = sum(doubts.values(), arb(0)) / (8 * len(doubts))
            cut = {key for key, v in doubts.items() if not v < total and not v * 64 < worst}
            of = dict(zip(keys, row.kernel, strict=True))
            if by_values:
                cut |= {key for key in short if not _doubt_of_values(of[key]) * 8 < worst}
            cut &= set(cover.leaves)
            if not cut or len(cover.leaves) + len(cut) > cells:
                return None
            before, cover = min(worst, before), cover.divided(cut)


def _doubt_of_values(f: Model) -> arb:
    """Return how much a kernel varies on a cell beyond its constant, roughly."""
    _, low, high = f.folded()
    found = (high - low).upper()
    return found if found.is_finite() else INFINITY


def _upper(v: arb) -> arb:
    return v.upper()
