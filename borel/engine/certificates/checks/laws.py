"""Check certificates of the law of a leakage over continuous outcomes: a part to trust.

P{leakage > t} comes from boxes of outcomes: on some the leakage is proved to be above t, on some
not to be, and f_Y, a Taylor model, is integrated over each. What is not known of a box (its side,
its mass) counts against the claim; boxes are halved until it holds. A quantile is two such
statements.
Taken on trust: the same as for suprema (`check_outcomes`).
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise

from flint import arb, fmpq

from borel.engine.certificates.checks.rays import INF, Z
from borel.engine.certificates.checks.reading import size
from borel.engine.certificates.checks.suprema import _Outcomes, mass_of
from borel.engine.certificates.checks.taylor_models import ONE, Model, axis, model
from borel.engine.certificates.checks.verifier import Report, _middle, check

BOXES, SLACK = 6000, arb(2) ** -40


class _Law(_Outcomes):
    """A certificate of a tail, of a value of the distribution function, or of a quantile."""

    found: list
    hints: list

    def prove(self, cover):
        """Prove the claim."""
        claim = self.claim
        low, high, figure = arb(self.data["lower"]), arb(self.data["upper"]), claim["figure"]
        self.hints, self.certain = self.places(), False
        self.leaf("type", lambda: claim["type"] == "law" and self.data["quantity"] != "ldp")
        if self.failures:
            return
        if figure == "quantile":
            rest, left = 1 - arb(fmpq(*claim["s"])), claim["side"] == "left"
            self.scope = f"the quantile of the law at {claim['s'][0] / claim['s'][1]}"
            side = "left" if left else "right"
            inside = 0 <= rest < 1 if left else 0 < rest <= 1  # else it is infinite
            self.leaf("level", lambda: claim["side"] == side and inside)
            if not low <= 0:  # leakage is not negative; at least that much is above the lower end
                enough = (lambda p, q: p > rest, lambda p, q: q < rest)
                also = (lambda p, q: p >= rest, enough[1])
                self.leaf("lower", self.probability, cover, low, True, *(enough if left else also))
            few = (lambda p, q: q <= rest, lambda p, q: p > rest)
            fewer = (lambda p, q: q < rest, few[1])
            self.leaf("upper", self.probability, cover, high, False, *(few if left else fewer))
        else:
            t, closed = arb(claim["t"]), claim["closed"]
            self.scope = f"the {figure} of the law at {claim['t']}"
            least, most = {"tail": (low, high), "cdf": (1 - high, 1 - low)}[figure]
            self.leaf("closed", lambda: closed is False or (closed is True and figure == "tail"))
            known = (lambda p, q: least <= p and q <= most, lambda p, q: p > most or q < least)
            self.leaf(figure, self.probability, cover, t, closed, *known)

    def places(self, *at):
        """Return hints: secrets where the kernel may be extreme, on the line or at an atom."""
        pairs = self.claim["places"]
        return [pair for pair in pairs if (pair[0] in at if at else pair[0] not in self.masses)]

    def at(self, a, b):
        """Return what checks a box of outcomes, or an atom, with hints of its own."""
        out = super().at(a, b)
        if out is not self:
            out.hints = self.places(a)
        return out

    def probability(self, cover, t, closed, shown, hopeless):
        """Prove a statement about bounds of P{leakage > t}, or of P{leakage >= t}."""
        level = t.exp()
        if not level.is_finite():
            raise ValueError(f"a threshold {t}")
        # at most a little less than t is less than t
        self.bottom, self.top = level, level * (1 - arb(2) ** -90) if closed else level
        boxes = [(*self.share(a, b), a, b) for a, b in cover]
        while len(boxes) < BOXES:
            sums = {side: [Z, Z] for side in (1, 0, -1)}
            for side, *masses, _, _ in boxes:
                sums[side] = [u + v for u, v in zip(sums[side], masses, strict=True)]
            # what is not on one side is on the other, or not known: all are 1
            least = sums[1][0].max(1 - sums[-1][1] - sums[0][1])
            most = (sums[1][1] + sums[0][1]).min(1 - sums[-1][0])
            least, most = least.max(Z), most.min(arb(1))
            if shown(least, most):
                return True
            if hopeless(least, most):
                break
            # far out a box has what the others leave, but for what is not known of them
            rest = 1 - sum((v[0] for v in sums.values()), Z)
            far = [not math.isfinite(b - a) for *_, a, b in boxes]
            loose = sum((v[2] - v[1] for v, w in zip(boxes, far, strict=True) if not w), Z)
            both = len({v[0] for v, w in zip(boxes, far, strict=True) if w}) > 1
            worth = []
            for (side, low, high, a, b), out in zip(boxes, far, strict=True):
                if a == b:
                    worth.append(Z)  # an atom has no parts
                elif out:
                    worth.append((rest - loose).upper().max(Z) if both or not side else Z)
                else:
                    worth.append((high - low).min(rest.upper()) + (Z if side else low))
            worst = max(worth)
            if not worst > 0:
                break
            cut = [box for box, w in zip(boxes, worth, strict=True) if w * 4 >= worst]
            boxes = [box for box, w in zip(boxes, worth, strict=True) if not w * 4 >= worst]
            for *_, a, b in cut:
                boxes += [(*self.share(u, v), u, v) for u, v in pairwise((a, _middle(a, b), b))]
        raise ValueError(f"not proved with {len(boxes)} boxes of outcomes")

    def share(self, a, b):
        """Return on which side of the level the leakage is on a box, and the mass of the box."""
        work = self.at(a, b)
        work.found = [0, Z, INF if math.isinf(b - a) else arb(1)]
        with suppress(ValueError):
            work.look(a, b)
        return work.found

    def look(self, a, b):
        """Enclose f_Y on a box and take sides, with cells of secrets as fine as it takes."""
        y, known, finite = axis(a, b, 0, 1), {}, math.isfinite(b - a)
        worst, stalled = INF, 0
        cells, likely = self.cells(a, b, kink=True), self.likely(y, a, b)
        scale, before = self.top if self.data["quantity"] == "pml" else arb(1), INF
        while len(cells) <= self.most_cells:
            f, at = self.rows(y, cells, known)
            low, high, doubts = self.density(y, f, at, known)  # high: from below as well
            doubt, share = (high.start - low.start).upper() + high.start.rad(), Z
            if finite:
                masses = mass_of(low, a, b)[0], mass_of(high, a, b)[1]
                self.found[1:] = self.found[1].max(masses[0]), self.found[2].min(masses[1])
                share = self.found[2] - self.found[1]
            paths = likely + self.paths(y, f, at)
            over = max([self.margin(v, high, self.bottom) for v in paths], default=-INF)
            missing = {} if over > 0 else self.above(y, f, at, low, high)
            under = min([self.margin(v, high, self.top, -1) for v in paths], default=-INF)
            if finite and under >= 0:
                missing = {c: v for c, v in missing.items() if not self.beside(y, c, high)}
            self.found[0] = 1 if over > 0 else 0 if missing else -1
            # with f_Y known better, might it be on one side?
            hope = not finite or max(over, under) > -2 * doubt * scale
            cut = {*f} & {*missing} if not finite or under >= 0 else set()
            # finer cells bring nothing where the box of outcomes is what is too wide
            last, worst = worst, max(missing.values(), default=Z)
            stalled = stalled + 1 if last < INF and worst * 8 > last * 7 else 0
            cut = cut if stalled < 3 else set()
            # what varies with the outcome is the rest of the doubt: then its box is to be halved
            loss = doubt * size(a, b) if finite else INF
            if (hope if missing else share > SLACK and loss * 4 > share) and doubt * 2 < before:
                # half of a kink is no kink: rather another box of outcomes
                loose = {c: v for c, v in doubts.items() if c != (a, b)}
                if sum(loose.values(), Z) * 4 > doubt:
                    cut |= {c for c, v in loose.items() if v * (8 * len(cells)) > doubt}
                before = doubt
            if not cut:
                break
            cells = [c for c in cells if c not in cut]
            for u, v in cut:  # faster towards an end at which the prior may be singular
                steep = math.isfinite(v - u) and doubts.get((u, v), Z) * 4 > doubt
                ends = [x for x in (u, v) if steep and x in self.ends]
                more = {x + (u + v - 2 * x) / k for x in ends for k in (4, 8, 16)}
                cells += pairwise(sorted({u, _middle(u, v), v, *more}))
            cells.sort()

    def beside(self, y, cell, f_y):
        """Return whether the leakage is below the level at a cell, as one that moves with y."""
        v = self.carried(y, cell) if isinstance(cell, tuple) else None
        return v is not None and bool(self.margin(v, f_y, self.top, -1) >= 0)

    def carried(self, y, cell):
        """Return f(y|x) at the secrets of a cell, as places x = y + c + reach s; None without c."""
        if not self.hints:
            return None
        place = min(self.hints, key=lambda pair: abs(pair[0] - float(y.start.mid())))
        centre = arb(place[1]) - arb(place[0])
        ends = (arb(cell[0]) - y.high - centre, arb(cell[1]) - y.low - centre)
        reach = max(abs(end).upper() for end in ends)
        x = y + Model({ONE: centre, (1, 0): reach}, centre - reach, centre + reach)
        return self.kernel(False, x, y)

    def margin(self, v, marginal, level, sign=1):
        """Return at least by how much the leakage at a secret is above a level, or below it."""
        pml = self.data["quantity"] == "pml"
        gap = v - marginal * level if pml else marginal * (1 / level) - v
        return (gap * sign).least()

    def candidates(self, a, b):
        """Return where the extreme over the secrets may be, for a box of outcomes."""
        if not math.isfinite(b - a) or not self.p:
            return []
        middle = a + (b - a) / 2
        near = sorted(self.hints, key=lambda pair: abs(pair[0] - middle))[:2]
        (_, x), places = near[0], [x for _, x in near] + [*self.ends]
        at = {x: self.kernel(False, model(x), model(middle)).start for x in {*places}}
        known = [x for x, v in at.items() if v.is_finite() and math.isfinite(x)]
        sign = 1 if self.data["quantity"] == "pml" else -1
        best = sorted(known, key=lambda x: -sign * float(at[x]))[:1]
        return [(x, None) for x in {x, *best}] + [(x, y) for y, x in near]

    def likely(self, y, a, b):
        """Return f at secrets of prior mass where it may be extreme, along a box of outcomes."""
        drifts = ((x, None if start is None else y - start) for x, start in self.candidates(a, b))
        return [v for x, drift in drifts for v in self.near(y, x, drift)]

    def paths(self, y, f, at):
        """Return f at atoms of the prior; and on cells that it charges, of a half-line."""
        far = self.p and not math.isfinite(float(y.high - y.low))
        cells = [v for cell, v in f.items() if self.weight_of(cell).mass > 0] if far else []
        return [at[x] for x in self.singles] + cells


def check_laws(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Law)
