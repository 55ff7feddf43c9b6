r"""Check certificates of envelopes of a finite secret, outcomes on a line: a part to trust.

With q the density of Y, g_x = f(.|x) and theta = e^t for PML, g_x = -f(.|x) and theta = -e^-t for
PMC, prices :math:`\lambda_x \ge 0` prove that no post-processing has a leakage of t or more with a
probability above

.. math:: \int \max(0, \max_x (1 - \lambda_x \theta) q + \lambda_x g_x) \, dy,

and shares w_x of the outcomes that one has it with :math:`\int \sum_x w_x q`, if for each x they
have :math:`\int w_x (g_x - \theta q) \ge 0` (`borel.figures.envelopes`: the dual, and the
post-processing).
Shares are given on cells of outcomes. The densities are Taylor models (`check_informations`), and
boxes are halved until the claim is proved. Taken on trust: the same as for suprema.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import reduce
from itertools import pairwise
from typing import Any

from flint import arb, fmpq

from borel.engine.certificates.checks.informations import _Information
from borel.engine.certificates.checks.rays import INF, Z, _rays
from borel.engine.certificates.checks.suprema import mass_of
from borel.engine.certificates.checks.taylor_models import FUNCTIONS, axis, model
from borel.engine.certificates.checks.verifier import Report, _middle, check

QUANTITIES = {"pml_envelope": 1, "pmc_envelope": -1}
STRICT, LEAST_GAP = arb(2) ** -100, arb(2) ** -110


class _Envelope(_Information):
    """A certificate of a level of the envelope, or of the mass at a level."""

    quantities = tuple(QUANTITIES)

    def prove(self, cover):
        """Prove the claim."""
        claim, self.sign = self.claim, QUANTITIES[self.data["quantity"]]
        self.figure, self.floor, self.cost = claim["figure"], 0, False
        self.pml = self.power = True  # far out it is the largest of the densities that counts
        self.leaf("type", lambda: claim["type"] == "envelope" and not (self.p or self.marginal))
        low, high = self.ends_of_claim()
        if self.figure == "epsilon":
            self.scope = f"the level of {claim['delta'][0] / claim['delta'][1]}"
            mass = arb(fmpq(*claim["delta"]))
            least, most, levels = mass, mass - STRICT, (low, high)
            self.leaf("delta", lambda: 0 < mass < 1)
        else:
            self.scope, levels = f"the mass at {claim['t']}", (claim["t"], claim["t"])
            least, most = arb(low), arb(high)
            self.leaf("t", lambda: type(claim["t"]) is float and self.figure == "delta")
        self.leaf("levels", lambda: all(t >= 0 for t in levels))
        if self.failures:
            return
        # a leakage is never below 0, and a probability never above 1
        if not (levels[0] == 0 if self.figure == "epsilon" else low <= 0):
            self.theta = self.sign * (self.sign * arb(levels[0])).exp()
            self.leaf("shares", self.shares, least)
        if not (levels[1] == math.inf if self.figure == "epsilon" else high >= 1):
            self.theta = self.sign * (self.sign * arb(levels[1])).exp()
            self.prices = dict(zip(self.atoms, map(arb, claim["prices"]), strict=True))
            self.leaf("prices", lambda: all(0 <= v < math.inf for v in claim["prices"]))
            self.leaf("dual", self.total, cover, -INF, most)

    def ends_of_claim(self):
        """Return the ends, and note which secrets have a mass: that is to be known of each."""
        low, high = self.data["lower"], self.data["upper"]
        self.some = {x: w for x, w in self.atoms.items() if not w == 0}
        self.leaf("masses", lambda: all(w > 0 for w in self.some.values()))
        self.leaf("bound", lambda: float(low) == low <= high == float(high) and high >= 0)
        return low, high

    def at_most(self, mass):
        """Bound what is integrated over outcomes by that of the largest density."""
        factors = [(1 - v * self.theta).max(Z) + v.max(Z) * (self.sign > 0)
                   for x, v in self.prices.items() if x in self.some]  # fmt: skip
        most = mass * reduce(arb.max, factors)
        return most.upper() if most.is_finite() else INF

    def integrand(self, y, f):
        """Return the dual's."""
        law, total = self.law(f), model(0)
        for x, v in f.items():
            price = self.prices[x]
            term = law * (1 - price * self.theta) + v * (price * self.sign)
            total = FUNCTIONS["maximum"](total, term)
        return total

    def law(self, f):
        """Return the density of the outcome."""
        return sum((v * self.some[x] for x, v in f.items()), model(0))

    # -- shares of the outcomes -------------------------------------------------------------------

    def shares(self, least):
        """Prove that shares of cells of outcomes make enough bad outcomes."""
        cells = [(a, b, [arb(v) for v in w]) for a, b, w in self.claim["cells"]]
        line = self.data["outcome"]
        inner = [(a, b) for a, b, _ in cells if a < b]
        atoms = [(a, b) for a, b, _ in cells if not a < b]
        apart = all(u[1] <= v[0] for u, v in pairwise(sorted(inner)))
        inside = all(line["lower"] <= a and b <= line["upper"] for a, b in inner)
        whole = len({*atoms}) == len(atoms) and all(a == b and a in self.masses for a, b in atoms)
        if not (apart and inside and whole):
            raise ValueError("not cells of outcomes, each once")
        if not all(len(w) == len(self.atoms) and sum(w, Z) <= 1 and all(v >= 0 for v in w)
                   for *_, w in cells):  # fmt: skip
            raise ValueError("shares are not at most 1 in sum")
        self.used = [k for k in range(len(self.atoms)) if any(w[k] > 0 for *_, w in cells)]
        places = [*self.atoms]
        if not all(places[k] in self.some for k in self.used):
            raise ValueError("shares of a secret without mass")
        boxes: list[Any] = [
            (a, b, w, *self.gains(a, b, w)) for a, b, w in cells if any(v > 0 for v in w)
        ]
        while len(boxes) < self.most_boxes + len(cells):
            sums = [sum((box[3][j] for box in boxes), Z) for j in range(len(self.used) + 1)]
            if all(v >= 0 for v in sums[:-1]) and sums[-1] >= least:
                return True
            worst = max(box[4] for box in boxes)
            if not worst > LEAST_GAP:
                break
            cut = [box for box in boxes if box[0] < box[1] and box[4] * 8 >= worst]
            kept = [box for box in boxes if not (box[0] < box[1] and box[4] * 8 >= worst)]
            if not cut:
                break
            boxes = kept + [(u, v, w, *self.gains(u, v, w)) for a, b, w, *_ in cut
                            for u, v in pairwise((a, _middle(a, b), b))]  # fmt: skip
        raise ValueError(f"not proved with {len(boxes)} boxes of outcomes")

    def gains(self, a, b, w) -> Any:
        """Bound from below what a box adds, for each secret and to the mass; and say the doubt."""
        work, lows, doubt = self.at(a, b), [], Z
        places = [*self.atoms]
        with suppress(ValueError, ZeroDivisionError):
            if math.isfinite(b - a):
                y = axis(a, b, 0, 1)
                f = {x: work.kernel(False, model(x), y) for x in self.some}
                law = self.law(f)
                for k in self.used:
                    own = f.get(places[k], model(0)) * self.sign - law * self.theta
                    low, high = bounds_of(own, a, b)
                    lows.append((low * w[k]).lower())
                    doubt += (high - low) * w[k]
                low, high = mass_of(law, a, b)
                total = sum(w, Z)
                if all(v.is_finite() for v in lows):
                    return [*lows, (low * total).lower()], (doubt + (high - low) * total).upper()
        mass = min((self.beyond(y) for y in _rays(a, b)), default=INF) if a < b else INF
        rate = abs(self.theta).max(arb(1))
        return [*((-mass * rate * w[k]).lower() if w[k] > 0 else Z for k in self.used), Z], mass


def bounds_of(v, a, b):
    """Enclose the integral of a model in u alone, of either sign, over a box; or at an atom."""
    shift = (-v.low).max(Z)
    low, high = mass_of(v + shift, a, b)
    size = (arb(b) - arb(a) if a < b else 1) * shift
    return low - size, high - size


def check_envelopes(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Envelope)
