"""Covers of the secrets that are found by halving: cells on which a joint is known well enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import arb

from borel.checker.graph import Density
from borel.checker.joints import Cell, Joint, Ratios, Row, along, nonnegative, place
from borel.checker.models import Model, constant, coordinate
from borel.checker.polynomials import INFINITY, S
from borel.checker.reading import Refused
from borel.engine.certificates.data import text

if TYPE_CHECKING:
    from collections.abc import Iterable

Key = tuple[int, str]
"""A part between two edges, and the halves that lead to a cell of it: 0 lower, 1 upper."""
_NOT_SMOOTH = arb(2) ** -10


class Spent(Exception):
    """The search took more work than it may."""


@dataclass
class Work:
    """Evaluations of a joint on a cell that are left."""

    left: int

    def count(self) -> None:
        """Count one evaluation."""
        self.left -= 1
        if self.left < 0:
            raise Spent


@dataclass(frozen=True)
class Layout:
    """Edges of the secrets as data, and the parts that run as a power of t."""

    edges: tuple[Any, ...] = ()  # strings, or lists ["y", c]
    germs: tuple[tuple[int, str], ...] = ()

    def start(self) -> tuple[Key, ...]:
        """Return a cell for each part that is no germ."""
        germs = dict(self.germs)
        return tuple((k, "") for k in range(len(self.edges) - 1) if k not in germs)


@dataclass
class Cover:
    """Cells of the secrets for a box of outcomes, and the joint on them."""

    joint: Joint
    kernel: Density | Ratios
    y: Model
    layout: Layout
    leaves: tuple[Key, ...]
    work: Work
    known: dict[Any, tuple[Model, Model]] = field(default_factory=dict)

    def as_data(self) -> Any:
        """Return the cover as certificates write it."""
        if self.joint.density is None:
            return None
        germs, parts = dict(self.layout.germs), []
        for k in range(len(self.layout.edges) - 1):
            if k in germs:
                parts.append({"germ": germs[k], "power": "1/1"})
            else:
                parts.append(_tree({path for n, path in self.leaves if n == k}))
        return {"edges": list(self.layout.edges), "parts": parts}

    def cell(self, key: Key) -> Cell:
        """Return a cell of the cover."""
        low, high = (place(e, self.y, "edges") for e in self.layout.edges[key[0] : key[0] + 2])
        for half in key[1]:
            middle = (low + high).times(arb(0.5))
            low, high = (low, middle) if half == "0" else (middle, high)
        return Cell(coordinate(S, low, high), (high - low).times(arb(0.5)), S)

    def _germ(self, k: int, side: str) -> Cell:
        left, right = (float.fromhex(e) for e in self.layout.edges[k : k + 2])
        return Cell(*along(left, right, {"germ": side, "power": "1/1"}, "a germ"), None)

    @cached_property
    def on_cells(self) -> dict[Any, tuple[Model, Model]]:
        """f(y|x) and its part of f_Y, on each cell and at each atom."""
        wanted: list[tuple[Any, Any]] = [(key, None) for key in self.leaves]
        wanted += [((k, side), self._germ) for k, side in self.layout.germs]
        out = {}
        for key, germ in wanted if self.joint.density is not None else []:
            if key not in self.known:
                self.work.count()
                cell = germ(*key) if germ else self.cell(key)
                try:
                    self.known[key] = self.joint.on_cell(self.kernel, self.y, cell)
                except Refused:  # smaller cells may do
                    nothing = Model({}, (0, arb(0, INFINITY)))
                    self.known[key] = nonnegative(nothing), nonnegative(nothing)
            out[key] = self.known[key]
        for atom in self.joint.atoms:
            key = "atom", atom.place
            if key not in self.known:
                self.known[key] = self.joint.at_atom(self.kernel, self.y, atom)
            out[key] = self.known[key]
        return out

    @cached_property
    def row(self) -> Row:
        """The joint on the box of outcomes."""
        return self.joint.sum_of(list(self.on_cells.values()))

    def doubts(self) -> dict[Any, arb]:
        """Return for each cell how much is not known of what it contributes to f_Y."""
        return {key: doubt(part) for key, (_, part) in self.on_cells.items()}

    def divided(self, keys: Iterable[Key]) -> Cover:
        """Return the cover with some cells halved."""
        cut = set(keys)
        halves = [(k, path + half) for k, path in cut for half in "01"]
        leaves = tuple(sorted([key for key in self.leaves if key not in cut] + halves))
        return Cover(self.joint, self.kernel, self.y, self.layout, leaves, self.work, self.known)


def doubt(v: Model) -> arb:
    """Return a bound of how little is known of a model."""
    found = v.rest[1].rad() + abs(v.rest[1].mid()).upper() if not v.is_exact() else arb(0)
    for p in v.terms.values():
        for _, _, ball in p.terms():
            found = found + ball.rad()
    return found.upper() if found.is_finite() else INFINITY


def _tree(paths: set[str]) -> str:
    """Return the tree of halves with these leaves."""
    if paths == {""}:
        return "0"
    halves = ({path[1:] for path in paths if path[0] == half} for half in "01")
    return "1" + "".join(map(_tree, halves))


def layout(
    joint: Joint,
    inner: Iterable[float],
    *,
    moving: Iterable[float] = (),
    middle: float = 0.0,
    reach: float = 8.0,
    room: tuple[float, float] = (math.inf, math.inf),
) -> Layout:
    """Return edges of the secrets.

    Parameters
    ----------
    joint : borel.checker.joints.Joint
        The joint.
    inner : iterable of float
        Edges among the secrets.
    moving : iterable of float
        Edges y + c, by c; that they are where they are for ``middle`` is not looked at.
    middle : float
        An outcome.
    reach : float
        Where parts towards infinity begin; those beside a singular end are the smaller.
    room : tuple of float
        How wide parts beside a finite end may be, that run as a power of t where the prior is not
        smooth.
    """
    if joint.density is None:
        return Layout()
    lower, upper = joint.ends
    ends, edges = [], {v for v in inner if lower < v < upper} | {lower, upper}
    width = min(upper - lower, 8.0) / 2 / reach
    if lower == -math.inf:
        ends.append(("lower", min(-reach, 2 * upper if upper < 0 else -reach)))
    elif room[0] > 0 and not _is_smooth(joint, lower, width / 4):
        ends.append(("lower", lower + min(width, room[0])))
    if upper == math.inf:
        ends.append(("upper", max(reach, 2 * lower if lower > 0 else reach)))
    elif room[1] > 0 and not _is_smooth(joint, upper, -width / 4):
        ends.append(("upper", upper - min(width, room[1])))
    for side, cut in ends:
        beyond = {v for v in edges if (v < cut if side == "lower" else v > cut)}
        edges = (edges - beyond) | {cut, lower, upper}
    placed: list[tuple[float, Any]] = [(v, text(v)) for v in edges]
    placed += [(middle + c, ["y", text(c)]) for c in moving]
    data = tuple(edge for _, edge in sorted(placed, key=lambda pair: pair[0]))
    where = {"lower": 0, "upper": len(data) - 2}
    return Layout(data, tuple((where[side], side) for side, _ in ends))


def _is_smooth(joint: Joint, end: float, step: float) -> bool:
    """Return whether the prior's density is well known on a small box beside an end."""
    assert joint.density is not None
    low, high = sorted((end, end + step))
    try:
        p = joint.density.value(x=coordinate(S, constant(low), constant(high)))
    except Refused:
        return False
    return bool(p.high.is_finite() and p.rest[1].rad() <= _NOT_SMOOTH * p.high)


_REACHES = [8.0, 16.0, 32.0, 64.0, 256.0, 1024.0, 2.0**14, 2.0**20]


def accurate(
    joint: Joint,
    kernel: Density,
    y: Model,
    inner: Iterable[float],
    goal: arb,
    work: Work,
    *,
    most: int = 400,
) -> Cover | None:
    """Return a cover by which f_Y is known within a goal, at one outcome; None if none is found."""
    inner, best = tuple(inner), None
    for reach in _REACHES:
        found = layout(joint, inner, reach=reach)
        cover = Cover(joint, kernel, y, found, found.start(), work)
        while True:
            doubts = cover.doubts()
            far = sum((doubts[key] for key in found.germs), arb(0))
            near = {key: v for key, v in doubts.items() if key in cover.leaves}
            total = sum(near.values(), arb(0))
            if not far <= goal / 2 or total <= goal / 2:
                break
            worst = max(near.values(), key=lambda v: v.upper())
            cut = [key for key, v in near.items() if not v * 8 < worst]
            if len(near) + len(cut) > most:
                break
            cover = cover.divided(cut)
        best = cover if far <= goal / 2 and total <= goal / 2 else None
        if best is not None or not found.germs:
            return best
    return None


def of_prior(joint: Joint, inner: Iterable[float], work: Work) -> Any:
    """Return a cover by which the prior is seen to have mass 1, as data; None if none is found."""
    if joint.density is None:
        return None
    one = {"nodes": [["const", [text(1.0)]]], "inputs": []}
    kernel = Density({"graph": one, "log": False}, ("y", "x"), "1")
    cover = accurate(joint, kernel, constant(0), inner, arb(2) ** -42, work)
    return None if cover is None else cover.as_data()
