"""Check certificates of suprema over continuous outcomes: a part to trust, and to read.

f(y|x) and f_Y are Taylor models on boxes of outcomes and cells of secrets (`check_models`). On an
unbounded box of outcomes f(y|x) is known through the increments of log f in x only, in units of
f(y|x0). Boxes are halved until the claim is proved on each; what is in doubt is refused. An
atom of the outcome is a box of its own (`check_atoms`).
Taken on trust: Arb, the tracer of densities, that f(.|x), with the masses of atoms, and p integrate
to 1 (what is seen not to be a law is refused), and the theorem for f_Y, if the certificate has one
(what 16 cells of bounded secrets, away from poles, see not to be f_Y is refused).
"""

from __future__ import annotations

import math
from contextlib import suppress
from copy import copy
from itertools import pairwise

from flint import arb, ctx

from borel.engine.certificates.checks.prior_weights import Weights
from borel.engine.certificates.checks.rays import INF, Z
from borel.engine.certificates.checks.reading import masses, size
from borel.engine.certificates.checks.tails import in_y, tail
from borel.engine.certificates.checks.taylor_models import (
    DEGREE,
    ONE,
    Model,
    axis,
    between,
    exponential,
    integral,
    integral_to_u,
    model,
    run,
)
from borel.engine.certificates.checks.verifier import Report, _Checker, _middle, check
from borel.numerics.graphs.trace import Graph

BOXES, CELLS, SOME, SEEN, LITTLE = 20_000, 200, 40, 16, arb(2) ** -10


def along(v):
    """Return a model as one of the outcome alone: what varies with s is not known."""
    terms = {}
    for (i, j), b in v.terms.items():
        terms[0, j] = terms.get((0, j), Z) + (arb(0, abs(b).upper()) if i else b)
    return Model(terms, v.low, v.high)


def mass_of(v, a, b):
    """Integrate f_Y, a model in u alone, over a box of outcomes; at an atom it is the mass."""
    if any(i for i, _ in v.terms):
        raise ValueError("it varies with the secret")
    low, high = v.low.max(Z) * size(a, b), v.high * size(a, b)
    if a < b:
        turned = integral(Model({(j, i): c for (i, j), c in v.terms.items()}), a, b).start
        low, high = turned.lower().max(low), turned.upper().min(high)
    return (low.max(Z), high) if low.is_finite() and high.is_finite() else (Z, INF)


class _Outcomes(_Checker):
    """A certificate under check: its densities, and what came of its leaves."""

    most_cells, quantities = CELLS, ("pml", "pmc", "ldp")

    def __init__(self, data):
        self.data, self.claim, prior = data, data["claim"], data["prior"]
        self.f = Graph.from_json(data["kernel"]["graph"]), data["kernel"]["log"]
        self.masses = masses(data["outcome"])
        self.marginal = self.claim["marginal"] and (Graph.from_json(self.claim["marginal"]), True)
        self.tails = {}
        self.failures, self.checked, self.scope = [], 0, "the supremum over the outcomes"
        self.leaf("quantity", lambda: data["quantity"] in self.quantities)
        # flint cuts series off, without a word, where ctx.cap says
        logs = isinstance(self.f[1], bool) and isinstance(prior["log"], bool) and ctx.cap > DEGREE
        self.leaf("header", lambda: logs)
        self.read(prior)
        if self.failures:  # not even of this kind
            return
        # strings would be numbers to Arb, not the same as floats
        numbers = all(float(data[end]) == data[end] for end in ("lower", "upper"))
        self.leaf("bound", lambda: numbers)
        line, cover = data["outcome"], self.claim["cover"]
        whole = [line["lower"], line["upper"]] == [cover[0], cover[-1]] and line["points"] is None
        self.leaf("cover", lambda: whole and all(a < b for a, b in pairwise(cover)))
        self.leaf("prior", self.charges_all)
        boxes = [*pairwise(cover), *((y, y) for y in self.masses)]
        places = sorted({*self.atoms, *self.edges})
        for x in places[:: 1 + len(places) // 8]:
            self.leaf(f"outcomes at {x}", self.normalised, x, boxes)
        self.prove(boxes)

    def read(self, prior):
        """Read the prior: a density between ends, and atoms; and where secrets are cut first."""
        self.p = prior["graph"] and (Graph.from_json(prior["graph"]), prior["log"])
        self.weights = Weights(self.p)
        self.atoms = {x: arb(p).union(arb(q)) for x, p, q in prior["atoms"] if 0 <= p <= q}
        self.singles = [x for x, w in self.atoms.items() if w > 0]
        self.ends: tuple = (prior["lower"], prior["upper"]) if self.p else ()
        self.span = self.ends
        self.edges = {*self.ends, *self.atoms, *self.claim["edges"]}
        for k in range(1, SEEN) if self.marginal and self.p else ():  # they see much of what f_Y is
            self.edges.add(self.ends[0] + (self.ends[1] - self.ends[0]) * k / SEEN)
        if self.p:
            self.edges = {x for x in self.edges if self.ends[0] <= x <= self.ends[1]}
        every = len(self.atoms) == len(prior["atoms"])
        self.leaf("format", lambda: self.data["format"] == 3 and every)
        some = self.ends[0] < self.ends[1] if self.p else len(self.atoms) > 0
        self.leaf("secrets", lambda: some)
        one = arb(0 if self.p else 1).union(arb(1))  # a density has the rest
        self.leaf("atoms", lambda: bool(sum(self.atoms.values(), Z).overlaps(one)))

    def cells(self, a, b, *, kink=False):
        """Return cells of secrets, cut at the ends of a box of outcomes, where kinks often are.

        If a kink at x = y is followed on a cell that is the box, there is no cut within it.
        """
        own = {c for c in (a, b) if self.ends and self.ends[0] < c < self.ends[1]}
        edges = {c for c in self.edges if not (kink and len(own) == 2 and a < c < b)}
        return [*pairwise(sorted(edges | own))]

    def kernel(self, log, x, y):
        """Return f(y|x), or its logarithm, for almost all secrets and outcomes of models."""
        return run(self.f, log, x=x, y=y)

    def weight_of(self, cell):
        """Return what the prior weighs on a cell of secrets."""
        return self.weights.on(*cell)

    def charges_all(self):
        """Return whether the prior may have the mass 1: with all secrets, and no more."""
        low = high = sum(self.atoms.values(), Z)
        for cell in self.cells(math.inf, math.inf) if self.p else ():
            own = self.weight_of(cell).mass
            far = not math.isfinite(cell[1] - cell[0])
            own = own if own.is_finite() else Z.union(self.far_mass(cell)) if far else Z.union(INF)
            low, high = low + own.lower().max(Z), high + own.upper()
        return not (low > 1 + LITTLE or high < 1 - LITTLE)

    def far_mass(self, cell):
        """Bound the mass of a cell of secrets that is a half-line, by how the prior falls."""
        if cell not in self.tails:
            sign = 1 if cell[0] > 0 else -1
            r = sign * cell[0 if sign > 0 else 1]
            self.tails[cell] = self.tail_of_secrets(sign, arb(r))[0] if r > 0 else INF
        return self.tails[cell]

    def tail_of_secrets(self, sign, r):
        """Bound P{sign X > r} and E (sign X - r)^+ from above, but for atoms."""
        return tail(in_y(self.p), sign, r)

    def normalised(self, x, boxes):
        """Return whether the kernel beside a secret may be a law: with all atoms, and no more."""
        low, high, todo = Z, Z, boxes
        while todo:
            parts = [(*self.weight(x, a, b), a, b) for a, b in todo]
            wide = [box for box in parts if box[2] < box[3] and LITTLE < box[1] - box[0] < INF]
            wide = wide if len(wide) <= SOME else []
            done = [box for box in parts if box not in wide]
            low, high = (sum((box[i] for box in done), v) for i, v in enumerate((low, high)))
            todo = [cut for *_, a, b in wide for cut in pairwise((a, _middle(a, b), b))]
        return not (low > 1 + LITTLE or high < 1 - LITTLE)

    def weight(self, x, a, b):
        """Enclose the mass of a box of outcomes, or of an atom, given a secret beside x."""
        some = self.at(a, b).near(axis(a, b, 0, 1), x) if math.isfinite(b - a) else ()
        return next((mass_of(along(f), a, b) for f in some), (Z, INF))

    def at(self, a, b):
        """Return what checks a box of outcomes; an atom is one, with its mass as the kernel."""
        if a != b:
            return self
        out = copy(self)
        out.f, out.marginal = self.masses[a], None
        return out

    def prove(self, cover):
        """Prove the claim, leaf by leaf, from boxes and atoms that make up the outcomes."""
        data = self.data
        self.top, self.bottom = (arb(data[end]).exp() for end in ("upper", "lower"))
        # a posterior probability is at most 1: PML is at most log 1 / p_min
        rare = all(w * self.top >= 1 for w in self.atoms.values()) and not self.p
        self.certain = data["upper"] == math.inf or (rare and data["quantity"] == "pml")
        self.leaf("type", lambda: self.claim["type"] == "outcomes")
        self.leaf("peak", self.peak, *self.claim["peak"]["y"])
        for a, b in cover:
            self.leaf(f"outcomes ({a}, {b})", self.everywhere, a, b)

    def everywhere(self, a, b):
        """Prove the bound from above on boxes of outcomes that make up (a, b)."""
        work, todo, boxes = self.at(a, b), [(a, b)], 0
        while todo:
            a, b = todo.pop()
            if not (work.certain or work.settled(a, b, work.above)):
                boxes, middle = boxes + 1, _middle(a, b)
                todo += pairwise((a, middle, b))
            if boxes > BOXES:
                raise ValueError(f"not proved near {a}")

    def peak(self, a, b):
        """Prove the bound from below on a box of outcomes."""
        line, known = self.data["outcome"], self.data["lower"] <= 0  # leakage is not negative
        inside = line["lower"] <= a <= b <= line["upper"] and math.isfinite(b - a)
        work = self.at(a, b)
        return inside and (known or work.settled(a, b, work.below))

    def settled(self, a, b, proof):
        """Prove a statement about a box of outcomes, with cells of secrets as fine as it takes."""
        y, known, cells = axis(a, b, 0, 1), {}, self.cells(a, b)
        with suppress(ValueError):
            while len(cells) < self.most_cells * (3 if proof == self.below else 1):
                f, at = self.rows(y, cells, known)
                low, high, doubts = self.density(y, f, at, known)
                missing = proof(y, f, at, low, high)
                if not missing:
                    return True
                # finer cells help if what is not known of them is what is missing
                worst = max(missing, key=lambda c: missing[c].mid())
                least = missing[worst] / (8 * self.bottom.max(arb(1)))
                some = doubts if sum(doubts.values(), Z) > least else {}
                cut = {c for c, v in some.items() if v * len(cells) > least}
                own = {c for c, v in missing.items() if c in f and f[c].doubt(True) * 4 > v}
                if not cut and worst not in own:
                    break
                halves = [box for u, v in cut | own for box in pairwise((u, _middle(u, v), v))]
                cells = sorted([*(c for c in cells if c not in cut | own), *halves])
        return False

    def rows(self, y, cells, known):
        """Return f(y|x) on each cell of secrets and at some; far out, its ratio to that at one."""
        if math.isfinite(float(y.high - y.low)):
            for cell in cells if self.p else ():
                known[cell] = known.get(cell) or self.kernel(False, axis(*cell, 1, 0), y)
            edges = sum(cells, ()) if self.data["quantity"] == "ldp" else ()
            for x in {*self.atoms, *self.singles, *edges}:
                known[x] = known.get(x) or self.kernel(False, model(x), y)
            return {c: known[c] for c in cells if c in known}, known
        f, at, start = {}, {}, Z  # log f, less that at the first edge
        for cell in cells:
            if cell not in known:
                v = self.kernel(True, axis(*cell, 1, 0), y)
                step = Model({k: b for k, b in v.terms.items() if k != ONE})
                sides = (-1, 1) if math.isfinite(cell[1] - cell[0]) else (1, 1)
                ends = [sum((b * t ** k[0] for k, b in step.terms.items()), Z) for t in sides]
                if not (v.steady and all(b.is_finite() for b in step.terms.values())):
                    raise ValueError(f"log f is not smooth for secrets in {cell}")
                known[cell] = step, *ends
            step, left, right = known[cell]
            f[cell], at[cell[0]] = exponential(step + (start - left)), exponential(model(start))
            start = start - left + right
            at[cell[1]] = exponential(model(start))
        return f, at

    def density(self, y, f, at, known):
        """Enclose f_Y from below and from above; and what is not known of each cell's part."""
        total, mass, lost, doubts = model(0), Z, {}, {}
        for x, weight in self.atoms.items():
            total, mass = total + at[x] * weight, mass + weight
        for cell, v in f.items() if self.p else ():
            own = self.weight_of(cell)
            if known.get((cell, 0), (None,))[0] is not v:
                known[cell, 0] = v, self.part(y, cell, own.integral(v))
            part = known[cell, 0][1]
            if all(b.is_finite() for b in (own.mass, *part.terms.values())):
                total, mass = total + part, mass + own.mass
                doubts[cell] = part.doubt() + own.mass.rad() * v.high  # it also tells what is left
            else:  # its share of the prior is what the others leave
                lost[cell] = v.high, self.far_mass(cell)
        # the prior meant sums to 1: what its floats miss may all be there
        left, most = abs(1 - mass), max((v for v, _ in lost.values()), default=Z)
        parts = {cell: v * w.min(left.upper()) for cell, (v, w) in lost.items()}
        parts = {cell: v if v.is_finite() else INF for cell, v in parts.items()}
        doubts |= parts
        more = min(sum(parts.values(), Z), left.upper() * most if most.is_finite() else INF)
        high = total + between(Z, more.upper()) if lost else total
        # of secrets on a half-line that no cell integrates nothing is known to compare it with
        seen = all(math.isfinite(v - u) for u, v in lost)
        if self.marginal and seen and math.isfinite(float(y.high - y.low)):
            found = run(self.marginal, False, y=y)
            apart = found.high < total.low or found.low > high.high  # somewhere, or in the middle
            if apart or any(gap.start > 0 for gap in (total - found, found - high)):
                raise RuntimeError("f_Y is not the one that is given")  # no finer boxes help
            return found, found, {}
        return total, high, doubts

    def part(self, y, cell, found):
        """Return a cell's part of f_Y, better if the cell is the box of outcomes, cut at x = y."""
        if not (y.low == cell[0] and y.high == cell[1] and (0, 1) in y.terms):
            return found
        total, half = model(0), (arb(cell[1]) - arb(cell[0])) / 2
        for turn in (1, -1):  # x = y + turn (1 + s) half, up to the end of the cell: s = -turn u
            x = y + (axis(-1.0, 1.0, 1, 0) + 1) * (half * turn)
            inside = self.kernel(False, x, y) * self.weights.beside(
                y.start + half * turn, half, turn
            )
            total = total + integral_to_u(inside, -turn) * half
        known = all(b.is_finite() for b in total.terms.values())
        better = total.doubt() < found.doubt() or not found.start.is_finite()
        return total if known and better else found

    def above(self, y, f, at, low, high):
        """Return what is missing, cell by cell, from leakage <= the bound."""
        kind, rows = self.data["quantity"], dict(f) if self.p else {}
        rows |= {x: at[x] for x in self.atoms}
        if kind == "pml":
            margins = {c: (low - v * (1 / self.top)).least() for c, v in rows.items()}
        elif kind == "pmc":
            margins = {c: (v * self.top - high).least() for c, v in rows.items()}
        else:  # all values are between those at two places, but for a factor
            points = [v for x, v in at.items() if isinstance(x, float) and v.start.is_finite()]
            least, *_, most = sorted(points, key=lambda v: v.start.mid())
            slack = (self.top * least.start.mid() / most.start.mid()) ** 0.4  # of the room
            margins = {None: (least * self.top - most * slack**2).least()}
            for c, v in rows.items():
                margins[c] = (most * slack - v).least().min((v * slack - least).least())
        return {c: -m for c, m in margins.items() if not m >= 0}

    def below(self, y, f, at, low, high):
        """Return what is missing from leakage >= the bound, at secrets of positive prior mass."""
        top, bottom = (self.near(y, x) for x in self.claim["peak"]["x"])
        of = {"pml": (top, [high]), "pmc": ([low], bottom), "ldp": (top, bottom)}
        first, second = of[self.data["quantity"]]
        best = max((u - v * self.bottom).least() for u in first for v in second)
        return {} if best > 0 else {None: -best}  # not 0 against 0: f_Y > 0

    def near(self, y, x, drift=None, log=False):
        """Return f at an atom of the prior, or on boxes of secrets beside x that it charges.

        They are boxes beside x + drift, with a model that varies with the outcome. Or log f.
        """
        if x is None or (drift is None and x in self.singles):
            return [] if x is None else [self.kernel(log, model(x), y)]
        out, step = [], arb(2) ** -60 * max(1.0, abs(x))
        for middle in (x + step, x - step) if self.p else ():
            place = Model({ONE: middle, (1, 0): step / 2}, middle - step / 2, middle + step / 2)
            out.append(place if drift is None else place + drift)
        return [self.kernel(log, v, y) for v in out if self.weighs(v.low, v.high)]

    def weighs(self, low, high):
        """Return whether the prior has mass on each part of a small box of secrets."""
        return self.ends[0] <= low and high <= self.ends[1] and self.weights.over(low, high).low > 0


def check_outcomes(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Outcomes)
