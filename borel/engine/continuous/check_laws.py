"""Check certificates of the law of a leakage over continuous outcomes: a part to trust.

P{leakage > t} comes from boxes of outcomes: on some the leakage is proved to be above t, on some
not to be, and f_Y, a Taylor model, is integrated over each. What is not known of a box (its side,
its mass) counts against the claim; boxes are halved until it holds. A quantile is two such
statements.
Taken on trust: the same as for suprema (`check_outcomes`).
"""

from __future__ import annotations

import math
from itertools import pairwise

from flint import arb, fmpq

from borel.engine.continuous.check import INF, Report, Z, _middle, check
from borel.engine.continuous.check_models import Model, integral, model, run
from borel.engine.continuous.check_outcomes import _Outcomes

BOXES = 6000


def _mass(v, a, b):
    """Integrate f_Y, a model in u alone, over a box of outcomes."""
    if any(i for i, _ in v.terms):
        raise ValueError("it varies with the secret")
    turned = integral(Model({(j, i): c for (i, j), c in v.terms.items()}), a, b).start
    width = arb(b) - arb(a)
    low, high = turned.lower().max(v.low.max(Z) * width), turned.upper().min(v.high * width)
    return (low.max(Z), high) if low.is_finite() and high.is_finite() else (Z, INF)


class _Law(_Outcomes):
    """A certificate of a tail, of a value of the distribution function, or of a quantile."""

    def prove(self, cover):
        """Prove the claim."""
        claim = self.claim
        low, high, figure = arb(self.data["lower"]), arb(self.data["upper"]), claim["figure"]
        self.hints, self.certain = claim["places"], False
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
            for (side, low, high, *_), out in zip(boxes, far, strict=True):
                if out:
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
        found = [0, Z, INF if math.isinf(b - a) else arb(1)]
        candidates = self.candidates(a, b)

        def proof(y, f, at, low, high):
            if math.isfinite(b - a):
                masses = _mass(low, a, b)[0], _mass(high, a, b)[1]
                found[1:] = found[1].max(masses[0]), found[2].min(masses[1])
            missing = self.exceeds(y, f, at, low, high, candidates)
            found[0] = 0 if missing else 1
            if missing:
                other = self.above(y, f, at, low, high)
                found[0] = 0 if other else -1
                missing = min(missing, other, key=lambda m: max(map(float, m.values()), default=0))
            doubt = (high.start - low.start).upper() + high.start.rad()
            if not missing and math.isfinite(b - a) and doubt > high.start * arb(2) ** -36:
                missing = {None: doubt}
            return missing

        self.settled(a, b, proof)
        return found

    def candidates(self, a, b):
        """Return where the extreme over the secrets may be, for a box of outcomes."""
        if not math.isfinite(b - a) or not self.p:
            return []
        middle = a + (b - a) / 2
        near = sorted(self.hints, key=lambda pair: abs(pair[0] - middle))[:4]
        (y, x), places = near[0], [x for _, x in near] + [*self.ends]
        at = {x: run(self.f, False, x=model(x), y=model(middle)).start for x in {*places}}
        known = [x for x, v in at.items() if v.is_finite() and math.isfinite(x)]
        sign = 1 if self.data["quantity"] == "pml" else -1
        best = sorted(known, key=lambda x: -sign * float(at[x]))[:1]
        return [(x, None) for x in {x, *best}] + [(x, y)]

    def exceeds(self, y, f, at, low, high, candidates):
        """Return what is missing from leakage > the level, at secrets of prior mass."""
        some = {x: at[x] for x, w in self.atoms.items() if w > 0}
        if math.isfinite(float(y.high - y.low)):
            for pair in candidates:
                drift = None if pair[1] is None else y - pair[1]
                some |= {(pair, k): v for k, v in enumerate(self.near(y, pair[0], drift))}
        elif self.p:
            some |= {cell: v for cell, v in f.items() if self.priors[cell][1].low > 0}
        if self.data["quantity"] == "pml":
            margins = {k: (v - high * self.bottom).low for k, v in some.items()}
        else:
            margins = {k: (low * (1 / self.bottom) - v).low for k, v in some.items()}
        best = max(margins, key=lambda k: float(margins[k]), default=None)
        if best is not None and margins[best] > 0:
            return {}
        return {best if best in f else None: INF if best is None else -margins[best]}


def check_laws(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Law)
