"""The rules of figures of a joint that is given by a kernel.

With C = e^t, the leakage at an outcome y is at most t if, for almost every secret x of the prior,

    pml   C f_Y(y) - f(y|x) >= 0        pmc   C f(y|x) - f_Y(y) >= 0,

and at least t if the opposite holds for secrets of positive mass. A supremum is at most t if that
holds for almost every outcome, on boxes that make up the alphabet, and at each of its atoms; it is
at least t if the opposite holds on outcomes of positive mass. The law of a leakage is found by
labels: boxes of outcomes on which it is above a level, boxes on which it is below, and masses.
A leakage is never negative, as f_Y is a mean of f(y|x); at outcomes of density 0 it is 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import arb

from borel.checker import reading as read
from borel.checker.divergence import diverges
from borel.checker.joints import Joint, Ratios, Row, along, divided, place
from borel.checker.models import Model, constant, coordinate, number, working
from borel.checker.polynomials import INFINITY, ZERO, S, U, least, most
from borel.checker.reading import Verified, require, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.checker.graph import Density

FIGURES = {
    "at": ("y",),
    "sup": (),
    "tail": ("t", "closed"),
    "cdf": ("t",),
    "quantile": ("s", "side"),
}
"""The figures of PML and PMC, and their arguments."""
LITTLE = arb(2) ** -40
"""How far the masses of all outcomes may be off 1."""
_TRUST = (
    "that f(.|x) has total mass 1 for every secret x",
    "that the densities are nowhere negative",
)


class Part(NamedTuple):
    """Outcomes: a box, a part towards an end, or an atom (speed None); with a leaf of the proof."""

    y: Model
    speed: Model | None
    unit: int | None
    kernel: Density
    ratio: bool
    leaf: Any
    where: str


def verify(data: dict) -> Verified:
    """Verify a certificate whose joint has a kernel."""
    names = tuple(f"{kind}.{name}" for kind in ("pml", "pmc") for name in FIGURES)
    kind, name = read.text(data["figure"], "figure", names).split(".")
    arguments = read.record(data["arguments"], "arguments", FIGURES[name])
    proof = data["proof"]
    known = type(proof) is dict and {"rule", "bits", "degree"} <= set(proof)
    require(known, "proof", "expected a record with the keys rule, bits, degree, ...")
    bits, degree = (
        read.whole(proof["bits"], "bits", 53, 1024),
        read.whole(proof["degree"], "degree", 1, 30),
    )
    with working(bits, degree):
        joint = Joint(data["joint"])
        claim = read.extended(data["lower"], "lower"), read.extended(data["upper"], "upper")
        rule = read.text(proof["rule"], "rule", ("bounds", "labels", "diverge"))
        inner = {key: v for key, v in proof.items() if key not in ("rule", "bits", "degree")}
        law = name not in ("at", "sup")
        require(law == (rule == "labels"), "rule", f"{rule!r} is not for {data['figure']}")
        if rule == "diverge":
            require(claim == (math.inf, math.inf), "lower and upper", "a proof of infinity alone")
            words = diverges(joint, kind, name, arguments, inner)
        elif name == "at":
            words = _at(joint, kind, arguments, claim, inner)
        elif name == "sup":
            words = _supremum(joint, kind, claim, inner)
        elif name == "quantile":
            words = _quantile(joint, kind, arguments, claim, inner)
        else:
            words = _tail(joint, kind, name, arguments, claim, inner)
        prior = joint.check_mass(inner["prior"])
    about = f"{data['figure']} is within [{', '.join(shown(*claim))}]"
    return Verified(data["figure"], f"{about}: {words}", (*_TRUST, prior))


# -- the inequalities ------------------------------------------------------------------------------


def margin(kind: str, row: Row, f: Model, level: arb) -> Model:
    """Return what is >= 0 where the leakage by a secret is at most the logarithm of ``level``."""
    return row.marginal.times(level) - f if kind == "pml" else f.times(level) - row.marginal


def is_below(kind: str, row: Row, level: arb, where: str) -> None:
    """Verify that the leakage is at most log ``level``, by every secret."""
    for k, f in enumerate(row.kernel):
        found = margin(kind, row, f, level).least()
        require(bool(found >= 0), where, f"cell {k} of the secrets: not at most {level.log()}")


def is_above(
    joint: Joint, kind: str, part: Part, row: Row, level: arb, witness: Any, *, strictly: bool
) -> None:
    """Verify that the leakage is at least log ``level``, by secrets of positive mass."""
    witness = read.record(witness, part.where, (), ("atom", "box"))
    require(len(witness) == 1, part.where, "a witness is an atom or a box")
    if "atom" in witness:
        k = read.whole(witness["atom"], part.where, 0, len(joint.atoms) - 1)
        require(bool(joint.atoms[k].mass > 0), part.where, "an atom that may have no mass")
        f = row.kernel[len(row.kernel) - len(joint.atoms) + k]
    else:
        require(not part.ratio, part.where, "a box of secrets where ratios are known")
        ends = [place(e, part.y, part.where) for e in read.items(witness["box"], part.where, 2, 2)]
        require(bool((ends[1] - ends[0]).low > 0), part.where, "the witness is no box")
        x = coordinate(S, *ends)
        require(joint.charges(x), part.where, "the prior may not charge the witness")
        f = part.kernel.value(y=part.y, x=x)
    found = (-margin(kind, row, f, level)).least()
    held = bool(found > 0 if strictly else found >= 0)
    require(held, part.where, f"the witness does not show more than {level.log()}")


# -- parts of the outcomes -------------------------------------------------------------------------


def _parts(joint: Joint, data: dict) -> Iterator[Part]:
    """Yield parts that make up the outcomes, and the atoms; verify that they do."""
    yield from _parts_of_the_line(joint, data["outcomes"])
    atoms = read.items(data["atoms"], "atoms", len(joint.masses), len(joint.masses))
    for (y, mass), leaf in zip(joint.masses, atoms, strict=True):
        yield Part(constant(y), None, None, mass, False, leaf, f"the atom {y}")


def _parts_of_the_line(joint: Joint, data: Any) -> Iterator[Part]:
    if joint.line is None:
        require(data is None, "outcomes", "there is no line of them")
        return
    cover = read.record(data, "outcomes", ("edges", "parts"))
    edges = [
        read.end(v, "outcomes, edges") for v in read.items(cover["edges"], "outcomes, edges", 2)
    ]
    parts = read.items(cover["parts"], "outcomes, parts", len(edges) - 1, len(edges) - 1)
    ends = (edges[0], edges[-1]) == joint.line
    require(ends, "outcomes", f"the first and the last edge are not {joint.line}")
    for k, part in enumerate(parts):
        where, left, right = f"outcomes, part {k}", edges[k], edges[k + 1]
        require(left < right, where, "its edges are not in order")
        if type(part) is dict and "tree" in part:
            part = read.record(part, where, ("tree", "leaves"))
            low, high = (constant(read.number(v, where)) for v in cover["edges"][k : k + 2])
            cells = divided(low, high, read.text(part["tree"], where), U, where)
            leaves = read.items(part["leaves"], where, len(cells), len(cells))
            for n, (cell, leaf) in enumerate(zip(cells, leaves, strict=True)):
                yield Part(*cell, joint.kernel, False, leaf, f"{where}, leaf {n}")
        else:
            part = read.record(part, where, ("germ", "power", "ratio", "leaf"))
            ratio = read.flag(part["ratio"], where)
            y, speed = along(left, right, {k: part[k] for k in ("germ", "power")}, where)
            yield Part(y, speed, None, joint.kernel, ratio, part["leaf"], where)


def _row(joint: Joint, part: Part, covers: list, index: Any) -> Row:
    """Return the joint on a part of the outcomes, by one of some covers of the secrets."""
    cover = covers[read.whole(index, part.where, 0, len(covers) - 1)]
    kernel = Ratios(joint, part.y, part.where) if part.ratio else part.kernel
    return joint.row(kernel, part.y, cover, part.where)


def mass(part: Part, row: Row) -> tuple[arb, arb]:
    """Return bounds of the probability of a part of the outcomes; of ratios nothing is known."""
    if part.ratio:
        return ZERO, INFINITY
    if part.speed is None:
        return row.marginal.low, row.marginal.high
    found = (row.marginal * part.speed).integral(part.unit)
    return most(found.low, ZERO).lower(), found.high


# -- the figures -----------------------------------------------------------------------------------


def _at(joint: Joint, kind: str, arguments: dict, claim: tuple, proof: dict) -> str:
    """Verify a leakage at one outcome."""
    read.record(proof, "proof", ("prior", "cover", "witness"))
    y = read.number(arguments["y"], "y")
    part = Part(constant(y), None, None, joint.at(y), False, None, f"the outcome {y}")
    row = joint.row(part.kernel, part.y, proof["cover"], "cover")
    lower, upper = map(number, claim)
    require(bool(upper >= 0), "upper", "a leakage is not negative")
    if upper.is_finite():
        is_below(kind, row, upper.exp(), part.where)
    if lower > 0:
        require(bool(row.marginal.low > 0), part.where, "f_Y may be 0")
        is_above(joint, kind, part, row, lower.exp(), proof["witness"], strictly=False)
    else:
        require(proof["witness"] is None, "witness", "it is not needed")
    return f"by {len(row.kernel)} cells and atoms of the secrets"


def _supremum(joint: Joint, kind: str, claim: tuple, proof: dict) -> str:
    """Verify the essential supremum of a leakage over the outcomes."""
    read.record(proof, "proof", ("prior", "covers", "outcomes", "atoms", "witness"))
    covers, count = read.items(proof["covers"], "covers"), 0
    lower, upper = map(number, claim)
    require(bool(upper >= 0), "upper", "a leakage is not negative")
    if upper.is_finite():
        for part in _parts(joint, proof):
            row = _row(joint, part, covers, part.leaf)
            is_below(kind, row, upper.exp(), part.where)
            count += 1
    else:
        require(proof["outcomes"] is None and proof["atoms"] == [], "outcomes", "not needed")
    if lower > 0:
        witness = read.record(proof["witness"], "witness", ("y", "cover", "x"))
        part = _outcomes_of_witness(joint, witness["y"])
        row = _row(joint, part, covers, witness["cover"])
        require(bool(mass(part, row)[0] > 0), "witness", "its outcomes may have no mass")
        is_above(joint, kind, part, row, lower.exp(), witness["x"], strictly=False)
    else:
        require(proof["witness"] is None, "witness", "it is not needed")
    return f"by {count} parts of the outcomes"


def _outcomes_of_witness(joint: Joint, data: Any) -> Part:
    """Read the outcomes of a witness: a box, or an atom by its place among the atoms."""
    if type(data) is int:
        y, mass = joint.masses[read.whole(data, "witness", 0, len(joint.masses) - 1)]
        return Part(constant(y), None, None, mass, False, None, "witness")
    low, high = (read.number(v, "witness") for v in read.items(data, "witness", 2, 2))
    inside = joint.line is not None and joint.line[0] <= low < high <= joint.line[1]
    require(inside, "witness", "no box of outcomes")
    cell = divided(constant(low), constant(high), "0", U, "witness")[0]
    return Part(*cell, joint.kernel, False, None, "witness")


def labelled(
    joint: Joint, kind: str, level: arb, proof: dict, *, closed: bool
) -> tuple[arb, arb, int]:
    """Return bounds of P{leakage > level}, or >= if closed, by labels of parts of the outcomes.

    Each part is ``["above", cover, witness]``, ``["below", cover]``, or of the others
    ``["open", cover]``, or ``["open"]`` if nothing is known of its mass. All masses sum to 1: so
    what is not above has at most the mass that the parts above leave, and the other way round.
    """
    read.record(proof, "proof", ("covers", "outcomes", "atoms"))
    covers, count = read.items(proof["covers"], "covers"), 0
    sums = dict.fromkeys(("above", "below", "open"), (ZERO, ZERO))
    for part in _parts(joint, proof):
        count += 1
        label, *rest = read.items(part.leaf, part.where, 1, 3)
        wanted = {"above": (2, 2), "below": (1, 1), "open": (0, 1)}
        read.text(label, part.where, tuple(wanted))
        read.items(rest, part.where, *wanted[label])
        low, high = ZERO, INFINITY
        if rest:
            row = _row(joint, part, covers, rest[0])
            low, high = mass(part, row)
            if label == "above":
                is_above(joint, kind, part, row, level, rest[1], strictly=not closed)
            elif label == "below":
                # if closed a smaller level: f_Y > 0, so that the leakage is less
                below = level * (1 - arb(2) ** -60) if closed else level
                is_below(kind, row, below, part.where)
        sums[label] = sums[label][0] + low, sums[label][1] + high
    above, below, others = sums.values()
    total = above[0] + below[0] + others[0]
    require(not total > 1 + LITTLE, "outcomes", "they have a mass of more than 1")
    total = above[1] + below[1] + others[1]
    require(not total < 1 - LITTLE, "outcomes", "they have a mass of less than 1")
    least_above = most(above[0], 1 - below[1] - others[1])
    most_above = least(1 - below[0], above[1] + others[1])
    return least_above.lower(), most_above.upper(), count


def _tail(joint: Joint, kind: str, name: str, arguments: dict, claim: tuple, proof: dict) -> str:
    """Verify P{leakage > t} or P{leakage >= t}, or P{leakage <= t}."""
    read.record(proof, "proof", ("prior", "labels"))
    closed = name == "tail" and read.flag(arguments["closed"], "closed")
    t = read.rational(arguments["t"], "t")
    low, high, count = labelled(joint, kind, number(t).exp(), proof["labels"], closed=closed)
    low, high = (low, high) if name == "tail" else (1 - high, 1 - low)
    lower, upper = map(number, claim)
    require(bool(lower <= most(low, ZERO)), "lower", f"not proved, only {low.str(20)}")
    require(bool(upper >= least(high, arb(1))), "upper", f"not proved, only {high.str(20)}")
    return f"by {count} parts of the outcomes"


def _quantile(joint: Joint, kind: str, arguments: dict, claim: tuple, proof: dict) -> str:
    """Verify inf{t : P{leakage <= t} >= s}, or > s for the right one.

    It is at most t if P{leakage > t} <= 1 - s, and at least t if P{leakage >= t} > 1 - s, as then
    P{leakage <= v} < s for each v < t. For the right quantile with < 1 - s and >= 1 - s.
    """
    read.record(proof, "proof", ("prior", "lower", "upper"))
    left = read.text(arguments["side"], "side", ("left", "right")) == "left"
    rest, count = 1 - number(read.rational(arguments["s"], "s")), 0
    require(bool(rest >= 0 if left else rest > 0), "s", "the quantile is infinite")
    require(bool(rest < 1 if left else rest <= 1), "s", "the quantile is -infinity")
    lower, upper = map(number, claim)
    require(bool(upper >= 0), "upper", "a leakage is not negative")
    if upper.is_finite():
        _, high, more = labelled(joint, kind, upper.exp(), proof["upper"], closed=False)
        held = high <= rest if left else high < rest
        require(bool(held), "upper", f"a mass of {high.str(20)} may be above it")
        count += more
    else:
        require(proof["upper"] is None, "upper", "a proof that is not needed")
    if lower > 0:
        low, _, more = labelled(joint, kind, lower.exp(), proof["lower"], closed=True)
        held = low > rest if left else low >= rest
        require(bool(held), "lower", f"a mass of only {low.str(20)} is not below it")
        count += more
    else:
        require(proof["lower"] is None, "lower", "a proof that is not needed")
    return f"by {count} parts of the outcomes"


__all__ = ["FIGURES", "verify"]
