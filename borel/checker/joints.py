"""Joints in certificates: a prior and a kernel, and what they are on boxes of outcomes.

A `Row` is what is known of a joint on a box of outcomes: the density f_Y of the outcome there, and
f(y|x) on cells of secrets that make up all of them, and at the atoms of the prior. Cells are
between edges, which are numbers, or move with the outcome (``["y", c]`` is y + c: where a kernel
has a kink at x = y + c it is smooth on each cell). Towards an end at which a density is singular,
or infinity, a cell runs as a power of t.

Densities are taken to be nonnegative; that is on trust.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

from flint import arb, arb_poly

from borel.checker import reading as read
from borel.checker.graph import Density
from borel.checker.models import CONSTANT, Model, constant, coordinate, everywhere, monomial, number
from borel.checker.operations import exponential
from borel.checker.polynomials import INFINITY, NOTHING, ZERO, S, most
from borel.checker.reading import require

_LARGEST_POWER, _LARGEST_ROOT = 16, 4
MOST_CELLS = 10**5
"""Cells of secrets in a cover, or of outcomes in a part: all of them are held at a time."""
_ENDS = ("lower", "upper")
_SLACK = arb(2) ** -40
"""How far the mass of a prior, by its formula, may be off 1: its constants are rounded."""
_ATOMS = arb(2) ** -48
"""How far the masses of atoms may be off 1, together."""


class Cell(NamedTuple):
    """Secrets as a function of s in [-1, 1], or of t in (0, 1] (unit None), and the speed."""

    x: Model
    speed: Model
    unit: int | None


class Row(NamedTuple):
    """A joint on a box of outcomes.

    Attributes
    ----------
    marginal : Model
        f_Y, a function of the outcome alone.
    kernel : list of Model
        f(y|x), on each cell of secrets and at each atom.
    """

    marginal: Model
    kernel: list[Model]


class Atom(NamedTuple):
    """A secret of positive mass, and a ball of the mass."""

    place: float
    mass: arb


class Joint:
    """A prior and a kernel, as a certificate names them."""

    def __init__(self, data: Any):
        data = read.record(data, "joint", ("kernel", "prior", "outcome"))
        prior = read.record(data["prior"], "prior", ("density", "atoms"))
        self.kernel = Density(data["kernel"], ("y", "x"), "kernel")
        self.density, self.ends = None, (math.inf, -math.inf)
        if prior["density"] is not None:
            line = read.record(prior["density"], "prior", ("formula", *_ENDS))
            self.density = Density(line["formula"], ("x",), "prior")
            self.ends = _line(line, "prior")
        self.atoms = [_atom(atom) for atom in read.items(prior["atoms"], "prior, atoms")]
        _increasing([atom.place for atom in self.atoms], "prior, atoms")
        self.mass_of_atoms = sum((atom.mass for atom in self.atoms), ZERO)
        alone = self.density is not None or (self.mass_of_atoms - 1).overlaps(arb(0, _ATOMS))
        require(alone, "prior, atoms", f"their mass is {self.mass_of_atoms}, not 1")
        outcome = read.record(data["outcome"], "outcome", ("line", "atoms"))
        line = outcome["line"]
        self.line = None if line is None else _line(read.record(line, "outcome", _ENDS), "outcome")
        self.masses = [self._mass(atom) for atom in read.items(outcome["atoms"], "outcome, atoms")]
        _increasing([place for place, _ in self.masses], "outcome, atoms")
        require(line is not None or len(self.masses) > 0, "outcome", "there are none")

    def _mass(self, data: Any) -> tuple[float, Density]:
        """Read an atom of the outcome and its mass, as a kernel; without a line, by the kernel."""
        place, mass = read.items(data, "outcome, atoms", 2, 2)
        place = read.number(place, "outcome, atoms")
        if self.line is None:
            require(mass is None, f"the atom {place}", "its mass is given by the kernel")
            return place, self.kernel
        require(self.line[0] <= place <= self.line[1], f"the atom {place}", "not on the line")
        return place, Density(mass, ("y", "x"), f"the atom {place}")

    def at(self, y: float) -> Density:
        """Return the kernel at one outcome: the mass of it, if it is an atom."""
        known = dict(self.masses)
        on_line = self.line is not None and self.line[0] <= y <= self.line[1]
        require(y in known or on_line, "y", f"{y} is no outcome")
        return known.get(y, self.kernel)

    def check_mass(self, cover: Any) -> str:
        """Verify that the prior has mass 1, and return what is left to trust."""
        if self.density is None:
            require(cover is None, "prior", "cells of secrets, for a prior without a density")
            return "that the masses of the prior, known by intervals, are those of a law"
        total, y = constant(self.mass_of_atoms), constant(0)
        for cell in self.cells(cover, y, "prior"):
            p = nonnegative(self.density.value(x=cell.x))
            total = total + (p * cell.speed).integral(cell.unit)
        one = total.low >= 1 - _SLACK and total.high <= 1 + _SLACK
        require(bool(one), "prior", f"its mass is within [{total.low}, {total.high}], not 1")
        return "that the prior's formula, of mass 1 within 2^-40, is a density of mass 1"

    def cells(self, cover: Any, y: Model, where: str) -> list[Cell]:
        """Read cells of secrets, for a box of outcomes, and verify that they make up all."""
        if self.density is None:
            require(cover is None, where, "cells of secrets, for a prior without a density")
            return []
        cover = read.record(cover, where, ("edges", "parts"))
        edges = read.items(cover["edges"], where, 2)
        parts = read.items(cover["parts"], where, len(edges) - 1, len(edges) - 1)
        whole = (read.end(edges[0], where), read.end(edges[-1], where)) == self.ends
        require(whole, where, f"the first and the last edge are not {self.ends}")
        out: list[Cell] = []
        for (left, right), part in zip(pairwise(edges), parts, strict=True):
            if type(part) is str:
                low, high = place(left, y, where), place(right, y, where)
                require(bool((high - low).low >= 0), where, "edges are not in order")
                out += divided(low, high, part, S, where)
            else:
                still = set(y.terms) <= {CONSTANT}
                require(still, where, "outcomes and secrets both run as powers of t")
                out.append(
                    Cell(*along(read.end(left, where), read.end(right, where), part, where), None)
                )
            require(len(out) <= MOST_CELLS, where, f"more than {MOST_CELLS} cells of secrets")
        return out

    def charges(self, x: Model) -> bool:
        """Return whether the prior has a density > 0 at almost all of some secrets.

        They are among those of the prior, and the logarithm of the density is a real number.
        """
        inside = self.ends[0] <= x.low and x.high <= self.ends[1]
        return bool(inside) and self.density is not None and self.density.logarithm(x=x).real

    def row(self, kernel: Density | Ratios, y: Model, cover: Any, where: str) -> Row:
        """Return f_Y and f(y|x) on a box of outcomes, with the cells of a cover."""
        known = [self.on_cell(kernel, y, cell) for cell in self.cells(cover, y, where)]
        return self.sum_of([*known, *(self.at_atom(kernel, y, atom) for atom in self.atoms)])

    def on_cell(self, kernel: Density | Ratios, y: Model, cell: Cell) -> tuple[Model, Model]:
        """Return f(y|x) on a cell of secrets, and what the cell contributes to f_Y."""
        assert self.density is not None
        f = nonnegative(kernel.value(y=y, x=cell.x))
        p = nonnegative(self.density.value(x=cell.x))
        return f, (f * p * cell.speed).integral(cell.unit)

    def at_atom(self, kernel: Density | Ratios, y: Model, atom: Atom) -> tuple[Model, Model]:
        """Return f(y|x) at an atom of the prior, and what it contributes to f_Y."""
        f = nonnegative(kernel.value(y=y, x=constant(atom.place)))
        return f, f.times(atom.mass)

    def sum_of(self, known: list[tuple[Model, Model]]) -> Row:
        """Return f_Y and f(y|x), where they are known on all cells and at all atoms."""
        total = constant(0)
        for _, part in known:
            total = total + part
        return Row(nonnegative(total), [f for f, _ in known])


class Ratios:
    """A kernel in units of a positive function of the outcome, on outcomes that run to infinity.

    log f(y|x) = P(s, y) + r is one Taylor model over all secrets, at every point; the unit is the
    exponential of P(-1, y). So terms that do not vary with the secret, and may grow without bound
    with the outcome, are left out.
    """

    def __init__(self, joint: Joint, y: Model, where: str):
        places = [atom.place for atom in joint.atoms]
        places += joint.ends if joint.density is not None else ()
        lower, upper = arb(min(places)), arb(max(places))
        bounded = lower.is_finite() and upper.is_finite() and bool(lower < upper)
        require(bounded, where, "the secrets are not in a bounded interval")
        self.middle, self.half = (lower + upper) / 2, (upper - lower) / 2
        with everywhere():
            x = coordinate(S, constant(lower), constant(upper))
            log_f = joint.kernel.logarithm(y=y, x=x)
        require(log_f.real, where, "the kernel may be 0")
        self.terms, self.rest = log_f.varying(S), Model({}, log_f.rest)
        self.where = where

    def value(self, *, y: Model, x: Model) -> Model:
        """Return the kernel in that unit, on a cell of secrets that does not move, or at one."""
        del y  # known already
        p = x.terms.get(CONSTANT, NOTHING)
        still = x.is_exact() and set(x.terms) <= {CONSTANT} and set(p.rows) <= {0}
        row = p.rows.get(0, arb_poly([]))
        require(still and row.length() <= 2, self.where, "a cell of secrets that moves")
        place = (row[0] - self.middle) / self.half
        moved = self.terms.moved(place, row[1] / self.half)
        return exponential(moved - self.terms.at_end(S, -1) + self.rest)


def nonnegative(v: Model) -> Model:
    """Return a model of what is known not to be negative."""
    return Model(v.terms, v.rest, most(v.low, ZERO), v.high)


def _line(data: dict, where: str) -> tuple[float, float]:
    lower, upper = read.end(data["lower"], where), read.end(data["upper"], where)
    require(lower < upper, where, f"expected lower < upper, got {lower} and {upper}")
    return lower, upper


def _atom(data: Any) -> Atom:
    place, low, high = read.items(data, "prior, atoms", 3, 3)
    low, high = (number(read.extended(v, "prior, atoms")) for v in (low, high))
    require(bool(low >= 0) and bool(low <= high) and high.is_finite(), "prior, atoms", "no mass")
    return Atom(read.number(place, "prior, atoms"), low.union(high))


def _increasing(places: list[float], where: str) -> None:
    require(all(a < b for a, b in pairwise(places)), where, "they are not in order, each once")


def place(data: Any, y: Model, where: str) -> Model:
    """Return an edge: a number, or ["y", c], the outcome and c."""
    if type(data) is str:
        return constant(read.number(data, where))
    of, shift = read.items(data, where, 2, 2)
    read.text(of, where, ("y",))
    return y + constant(read.number(shift, where))


def divided(low: Model, high: Model, tree: str, unit: int, where: str) -> list[Cell]:
    """Return the leaves of a tree of halves: 1 divides a cell in the middle, 0 does not."""
    require(len(tree) <= 2 * MOST_CELLS, where, f"a tree of more than {2 * MOST_CELLS} bits")
    out, todo, bits = [], [(low, high)], iter(tree)
    while todo:
        low, high = todo.pop()
        bit = next(bits, "")
        require(bit in ("0", "1"), where, "the tree of halves does not end as a tree does")
        if bit == "1":
            middle = (low + high).times(arb(0.5))
            todo += [(middle, high), (low, middle)]
        else:
            out.append(Cell(coordinate(unit, low, high), (high - low).times(arb(0.5)), unit))
    require(next(bits, "") == "", where, "the tree of halves goes on beyond its end")
    return out


def along(left: float, right: float, data: Any, where: str) -> tuple[Model, Model]:
    """Return what runs between two edges as a power of t, and its speed.

    t is 0 at the end that ``germ`` names. Beside a number a that is a +- width t^power, and towards
    infinity an edge beside it, of the same sign, times t^-power.
    """
    data = read.record(data, where, ("germ", "power"))
    side = read.text(data["germ"], where, ("lower", "upper"))
    power = read.fraction(data["power"], where)
    simple = 0 < power <= _LARGEST_POWER and power.denominator <= _LARGEST_ROOT
    require(simple, where, f"the power {power} of t")
    base, other = (left, right) if side == "lower" else (right, left)
    require(math.isfinite(other) and left < right, where, "no edges of a part towards an end")
    low, high = arb(left), arb(right)
    if math.isinf(base):
        require(base * other > 0, where, "an edge beside infinity has not its sign")
        x, factor, power = monomial(arb(other), -power, low, high), arb(other), -power
    else:
        factor = arb(other) - arb(base)
        x = constant(arb(base)) + monomial(factor, power, ZERO - abs(factor), abs(factor))
        x = Model(x.terms, x.rest, low, high)
    return x, monomial(abs(factor * number(power)), power - 1, ZERO, INFINITY)
