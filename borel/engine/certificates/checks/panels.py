"""f_Y of several secrets as polynomials in the outcome, for certificates: a part to trust.

A panel is a box of outcomes. Over pieces of the box of secrets, where every branch is decided,
Gauss's rule makes of f_Y a sum S(y) of values of f(y|x) p(x) with positive weights; what that errs
by is bounded as at one outcome (`check_boxes`), for all outcomes of the panel at once.

S is interpolated at the n zeros of T_n, a Chebyshev polynomial along the panel. If S = sum a_k T_k
is at most M in size on the ellipse with semi-axes (r + 1/r) / 2 and (r - 1/r) / 2, then
|a_k| <= 2 M / r^k; at these zeros T_k, for k >= n, is 0 or one of +-T_0 .. T_(n - 1). So what that
errs by is at most the sum of 2 |a_k| over k >= n: 4 M r^(1 - n) / (r - 1).
"""

from __future__ import annotations

from collections import namedtuple
from contextlib import suppress

from flint import arb, arb_poly

from borel.engine.certificates.checks.box_integrals import ELLIPSES, MOST, Formula, halves, volume
from borel.engine.certificates.checks.ranges import INF, Doubt, Z, ranges
from borel.engine.certificates.checks.taylor_models import ONE, Model, _cut

NODES, PARTS, PANELS, FINE = range(3, 25), 128, 400, arb(2) ** -40

Panel = namedtuple("Panel", "a b polynomial error")
Part = namedtuple("Part", "formula box n nodes error")


def _first(nodes):
    """Return nodes with the outcome as the first coordinate."""
    names = {("y",): ("x0",)}
    return [
        (op, names.get(args) or (f"x{int(args[0][1:]) + 1}",)) if op == "input" else (op, args)
        for op, args in nodes
    ]


class Panels:
    """f_Y on boxes of outcomes, each within one of the panels that are known already."""

    def __init__(self, nodes, pieces, spend):
        self.nodes, self.pieces, self.spend = _first(nodes), pieces, spend
        self.whole, self.known = sum(map(volume, pieces), Z), []

    def over(self, a, b):
        """Return f_Y on a bounded box of outcomes, as a model in u."""
        found = next((p for p in self.known if p.a <= a and b <= p.b), None)
        if found is None:
            if len(self.known) == PANELS:
                raise ValueError(f"f_Y is not known with {PANELS} panels")
            found = Panel(a, b, *self.made((arb(a), arb(b))))
            self.known.append(found)
        wide = arb(found.b) - found.a
        places = arb_poly([(arb(a) + b - found.a - found.b) / wide, (arb(b) - a) / wide])
        terms = {(0, j): c for j, c in enumerate(found.polynomial(places).coeffs())}
        terms[ONE] = terms.get(ONE, Z) + found.error
        return Model(_cut(terms)).positive()

    def made(self, y):
        """Return a polynomial on [-1, 1], and its error; refuse a panel that is too wide."""
        room = self.about(y) * FINE
        todo, parts = [(y, *piece) for piece in self.pieces], []
        while todo:
            part, box = None, todo.pop()
            with suppress(Doubt):
                part = self.part(box, room * volume(box[1:]) / self.whole)
            if part is None or isinstance(part, int):
                sizes = [
                    (b - a) / (v - u) for (a, b), (u, v) in zip(box[1:], self.ends(), strict=True)
                ]
                todo += halves(box, part or 1 + max(range(len(sizes)), key=sizes.__getitem__))
            else:
                parts.append(part)
            if len(todo) + len(parts) > PARTS:
                raise ValueError("f_Y takes too many pieces")
        count = max(part.nodes for part in parts)
        zeros = [(arb.pi() * (2 * k + 1) / (2 * count)).cos() for k in range(count)]
        at = [y[0] + (y[1] - y[0]) * (1 + t) / 2 for t in zeros]
        sums = [Z] * count
        for part in parts:
            self.spend(count * part.n ** len(part.formula.inputs) * len(part.formula.steps))
            own = part.formula.gauss(part.box, part.n, at)
            sums = [u + v for u, v in zip(sums, own, strict=True)]
        error = sum((part.error for part in parts), Z)
        return arb_poly.interpolate(zeros, sums, "barycentric"), arb(0, error.upper())

    def ends(self):
        """Return the ends of the secrets in each coordinate."""
        sides = zip(*self.pieces, strict=True)
        return [(min(a for a, _ in of), max(b for _, b in of)) for of in map(list, sides)]

    def about(self, y):
        """Return about how large f_Y is in the middle of a panel: no more than a guess."""
        middle, total = (y[0] + y[1]) / 2, Z
        for piece in self.pieces:
            box = ((middle, middle), *piece)
            known = ranges(self.nodes, box, None)
            with suppress(Doubt):
                total += abs(Formula(self.nodes, known).gauss(box, 6, [middle])[0])
        return total.mid()

    def part(self, box, room):
        """Return how a piece is integrated; or along which coordinate it is to be halved."""
        self.spend(1000 * len(self.nodes))
        formula, size = Formula(self.nodes, ranges(self.nodes, box, None)), volume(box[1:])
        among, most = sorted({0, *formula.inputs}), MOST[len({*formula.inputs} - {0})]

        def bounds(j):
            found = []
            with suppress(ValueError):
                for r in ELLIPSES if j in formula.inputs else ():
                    found.append((formula.bound(box, j, r), r))
            return found

        known = {j: bounds(j) for j in among}

        def error(j, n):
            if j not in formula.inputs:
                return Z
            if j == 0:
                errors = (4 * m * r ** (1 - n) / (r - 1) for m, r in known[j])
            else:
                errors = (arb(32) / 15 * m * r ** (-2 * n) / (1 - r**-2) for m, r in known[j])
            return min(((size * e).upper() for e in errors), default=INF)

        nodes = next((k for k in NODES if error(0, k) <= room / 2), None)
        if nodes is None:
            raise ValueError("f_Y is not known on so wide a box of outcomes")
        for n in range(2, max(most, 2) + 1):
            total = sum((error(j, n) for j in among if j), Z)
            if total <= room / 2:
                return Part(formula, box, n, nodes, error(0, nodes) + total)
        return max((j for j in among if j), key=lambda j: error(j, most))


__all__ = ["Panels"]
