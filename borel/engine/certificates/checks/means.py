"""Check certificates of means of a leakage over continuous outcomes: a part to trust.

With top and least the essential extremes of f(y|x) over the secrets, the means of PML and PMC are
the integrals of f_Y log(top / f_Y) and f_Y log(f_Y / least), those of their exponentials the
integrals of top and f_Y^2 / least; that of e^-PMC, whose logarithm is maximal cost leakage, is the
integral of least. On a box of outcomes an extreme is the kernel along a path of secrets, and what
cells of secrets exceed that by. On (p, oo), y = p / t: the kernel at one secret is proved to be the
largest for all t in (0, 1], and a bound of the integrand is integrated over t. Boxes are halved
until the claim is proved. Taken on trust: the same as for suprema.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import reduce
from itertools import pairwise

from flint import arb

from borel.engine.certificates.checks.far_means import Far
from borel.engine.certificates.checks.laws import _Law
from borel.engine.certificates.checks.rays import INF, Q0, Z, _balls, _gap, _Ray, _ray, _rays, _run
from borel.engine.certificates.checks.reading import size
from borel.engine.certificates.checks.suprema import CELLS, along, mass_of
from borel.engine.certificates.checks.tails import log_along
from borel.engine.certificates.checks.taylor_models import (
    _SIGNS,
    FUNCTIONS,
    ONE,
    Model,
    axis,
    model,
    run,
)
from borel.engine.certificates.checks.verifier import Report, _middle, _moment, check

BOXES, LITTLE, NARROW = 4000, arb(2) ** -44, 2.0**-40


def _unknown(v):
    """Return how little is known of a model, on the whole."""
    total = sum((b.rad() for b in v.terms.values() if not b.is_nan()), Z)
    return INF if any(b.is_nan() for b in v.terms.values()) else total


def _about(along, cell):
    """Return the secrets of a cell as those beside a path: along + reach s; and by its sides."""
    reach = max(abs(arb(cell[0]) - along.high).upper(), abs(arb(cell[1]) - along.low).upper())
    half = reach / 2
    both = along + Model({(1, 0): reach}, -reach, reach)
    return both, [along + Model({ONE: v, (1, 0): half}) for v in (-half, half)]


def _straight(v):
    """Return the logarithm of a model of the outcome; for densities it is nearly straight."""
    slope = v.terms.get((0, 1), Z).mid() / v.start.mid()
    if not (v.low > 0 and slope.is_finite()):
        return FUNCTIONS["log"](v)
    line = Model({(0, 1): slope}, -abs(slope), abs(slope))
    return FUNCTIONS["log"](v * FUNCTIONS["exp"](line * -1)) + line


class _Means(_Law):
    """A certificate of a mean, of the mean of an exponential, or of its logarithm."""

    most_boxes = BOXES

    def prove(self, cover):
        """Prove the claim."""
        claim, kind, figure = self.claim, self.data["quantity"], self.claim["figure"]
        self.hints, self.pml, self.power = self.places(), kind == "pml", figure != "mean"
        self.cost = figure == "maximal_cost_leakage"
        self.floor = 1 if self.power and not self.cost else 0  # leakage is not negative
        self.scope = f"the {figure.replace('_', ' ')} of the law"
        of_kind = {"maximal_leakage": "pml", "maximal_cost_leakage": "pmc"}
        known = figure in ("mean", "exp_mean") or of_kind.get(figure) == kind
        self.endless = not all(map(math.isfinite, self.span))
        mean_of_pml = self.endless and self.pml and not self.power
        self.jumps = not {"where", *_SIGNS}.isdisjoint(self.f[0].operations)
        far = (self.f, self.span, self.atoms, self.tail_of_secrets)
        self.far = Far(*far) if mean_of_pml else None
        self.leaf("type", lambda: claim["type"] == "mean" and kind in ("pml", "pmc") and known)
        low, high = arb(self.data["lower"]), arb(self.data["upper"])
        if figure == "maximal_leakage":
            low, high = low.exp(), high.exp()
        if self.cost:
            low, high = (-high).exp(), (-low).exp()
        self.leaf(figure, self.total, cover, low, high)

    def total(self, cover, low, high):
        """Prove that the sum over boxes and atoms of outcomes is within [low, high]."""
        boxes = [(*self.share(a, b), a, b) for a, b in cover]
        while len(boxes) < self.most_boxes:
            least, most = (sum((box[i] for box in boxes), Z) for i in (0, 1))
            if (low <= self.floor or low <= least) and most <= high:
                return True
            gaps = [w - v if a < b else Z for v, w, a, b in boxes]  # an atom has no parts
            worst, rest = max(gaps), sum(gaps, Z)
            # with all of the line known, would it hold?
            lost = most - rest > high or (low > self.floor and least + rest < low)
            if (lost and rest < INF) or not (least <= high and low <= most and worst > 0):
                break
            cut = [box for box, gap in zip(boxes, gaps, strict=True) if gap * 8 >= worst]
            boxes = [box for box, gap in zip(boxes, gaps, strict=True) if not gap * 8 >= worst]
            for *_, a, b in cut:
                boxes += [(*self.share(u, v), u, v) for u, v in pairwise((a, _middle(a, b), b))]
        raise ValueError(f"not proved with {len(boxes)} boxes of outcomes")

    def share(self, a, b):
        """Enclose the part of a box of outcomes."""
        work = self.at(a, b)
        work.found = [Z, INF]
        with suppress(ValueError, ZeroDivisionError):
            if math.isfinite(b - a):
                work.look(a, b)
            elif not self.endless:
                work.found[1] = min((work.beyond(y) for y in _rays(a, b)), default=INF)
        if self.far and a < b:
            work.found[1] = work.found[1].min(self.far.share(a, b))
        return work.found

    def look(self, a, b):
        """Enclose the part of a bounded box, with cells of secrets as fine as it takes."""
        y, known, candidates, before = axis(a, b, 0, 1), {}, self.candidates(a, b), INF
        cells, slow = self.cells(a, b, kink=True), 0
        while len(cells) <= self.most_cells:
            f, at = self.rows(y, cells, known)
            # the integrals of top and least do not need f_Y
            bare = (self.pml and self.power) or self.cost
            _, f_y, doubts = (None, None, {}) if bare else self.density(y, f, at, known)
            rows = {**(f if self.p else {}), **{x: at[x] for x in self.atoms}}
            self.crude(a, b, f_y, rows)
            cut, least = set(), INF
            for track in self.tracks(y, candidates):
                log, path, *_ = track
                over, wanting = self.excess(y, track, rows)
                with suppress(ValueError, ZeroDivisionError):
                    own = self.meet(a, b, self.integrand(log, path, f_y), over, path, f_y)
                    if over < least:
                        least, cut = over, wanting if own else set()
                if not over > LITTLE * path.high:
                    break
            cut.discard((a, b))  # half of a kink is no kink
            gap = self.found[1] - self.found[0]
            slow = slow + 1 if gap < INF and not gap * 2 < before else 0
            before, doubt = gap, sum(doubts.values(), Z)
            if doubt * size(a, b) * 64 > gap or not doubt.is_finite():
                cut |= {c for c, v in doubts.items() if v * (8 * len(cells)) > doubt}
            if not cut or slow > 2 or gap < LITTLE * size(a, b):
                break
            cells = [c for c in cells if c not in cut]
            cells += [box for u, v in cut for box in pairwise((u, _middle(u, v), v))]
            cells.sort()

    def tracks(self, y, candidates):
        """Return log f and f along paths of secrets of prior mass, likely ones first.

        And whether log f is known better than f, and the secrets that the path goes along.
        """
        paths = [(x, start, 1.0) for x, start in candidates]
        paths += [(x, None, 0.0) for x in self.singles]
        if candidates and len(self.hints) > 1:  # a secret that moves otherwise
            middle = float(y.start.mid())
            (u, v), (w, z) = sorted(self.hints, key=lambda pair: abs(pair[0] - middle))[:2]
            paths += [(z, w, 1.0), (v, u, (z - v) / (w - u))] if u != w else []
        out, sides = [], 2 if self.jumps else 1
        for x, start, slope in paths:
            drift = None if start is None else (y - start) * slope
            both = [self.near(y, x, drift, log)[:sides] for log in (False, True)]
            for value, log in zip(*(map(along, vs) for vs in both), strict=True):
                first, second = (_straight(value), log), (value, FUNCTIONS["exp"](log))
                logged = bool(_unknown(log) < _unknown(first[0]))
                best = (min(pair, key=_unknown) for pair in (first, second))
                out.append((*best, logged, model(x) if start is None else drift + x))
        sign, known = -1 if self.pml else 1, [track for track in out if track[1].start.is_finite()]
        return sorted(known, key=lambda track: track[1].start.mid() * sign)

    def integrand(self, log, path, f_y):
        """Return what is integrated, with an extreme of the kernel along a path."""
        if (self.power and self.pml) or self.cost:
            return path
        total = _straight(f_y)
        if self.power:
            return FUNCTIONS["exp"](total * 2 - log)
        return f_y * (log - total if self.pml else total - log)

    def meet(self, a, b, v, over, path, f_y):
        """Improve the enclosure: the extreme is beyond a path by ``over`` at most.

        Return whether that is most of what is not known.
        """
        low, high = mass_of(v, a, b)
        without = high - low
        if self.power and self.pml:
            high = high + over * size(a, b)
        elif self.cost:
            low = low - over * size(a, b)
        elif not over <= 0:
            share = over / path.low.max(Z)  # of the path
            room = (1 - share).max(Z) if not self.pml else 1 + share
            mass = mass_of(f_y, a, b)[1].min(arb(1))
            high = high / room if self.power else high + mass * abs(room.log())
        self.found[0] = self.found[0].max(low.lower())
        if high.is_finite():
            self.found[1] = self.found[1].min(high.upper())
        return not (high - low) < 2 * without

    def crude(self, a, b, f_y, rows):
        """Bound the part by the ranges of the densities: t log(m / t) rises up to t = m / e."""
        width = size(a, b)
        if self.cost:
            least = min((v.low for v in rows.values()), default=Z)
            self.found[0] = self.found[0].max((least * width).lower())
            return
        if self.pml:
            most = max((v.high for v in rows.values()), default=INF)
            if not self.power:
                t = f_y.high.min(most / arb(1).exp()).upper()
                most = Z if t == 0 else t * (most / t).log()
            most = most * width
        else:
            high, least = f_y.high, min((v.low for v in rows.values()), default=Z).max(Z)
            most = high * high / least if self.power else high * (high / least).log().max(Z)
            most = most * width
        if most.is_finite():
            self.found[1] = self.found[1].min(most.upper())

    def excess(self, y, track, rows):
        """Bound what the kernel is beyond a path by; say which cells are too wide for that."""
        (_, path, logged, along), over, wanting = track, Z, set()
        for cell, v in rows.items():
            if (path.low - v.high if self.pml else v.low - path.high) >= 0:
                continue
            more, middle, whole = INF, INF, isinstance(cell, tuple)
            for xs in self.secrets(cell, along) if whole else ([model(cell)],):
                if more > LITTLE * path.high:
                    first = more is INF and not logged
                    others = [v] if first else [self.kernel(logged, x, y) for x in xs]
                    gaps = zip(*(self.short(track, other) for other in others), strict=True)
                    whole_box, at_middle = (reduce(arb.max, ends) for ends in gaps)
                    more, middle = more.min(whole_box), middle.min(at_middle)
            # else it is the box of outcomes that is too wide
            if more > LITTLE * path.high and whole and middle * 8 > more:
                wanting.add(cell)
            over = over.max(more)
        return over.upper(), wanting

    def secrets(self, cell, along):
        """Return the secrets of a cell; as those beside a path; and on either side of a jump."""
        about, sides = _about(along, cell)
        return [[axis(*cell, 1, 0)], [about], *([sides] if self.jumps else [])]

    def short(self, track, other):
        """Bound the excess of a model over a path; and that at the middle outcome, or so.

        By logarithms it is e^d f - f, or f - e^-d f.
        """
        log, path, logged, _ = track
        gap = ((log if logged else path) - other) * (1 if self.pml else -1)
        out = []
        for v in (gap, Model({k: b for k, b in gap.terms.items() if not k[1]})):
            more = (-v.least()).max(Z)
            if logged:
                more = path.high * (more.exp() - 1 if self.pml else more)
            out.append(more.upper() if more.is_finite() else INF)
        return out

    def beyond(self, y):
        """Bound the part of a box from above along a ray, y = p / t or p + q t for t in (0, 1]."""
        power, p = next((e, v) for (e, _), v in y.terms.items() if e != 0)
        best = INF
        if self.impossible(y):
            return Z
        for extremes in (self.extremes, self.orders):
            with suppress(ValueError, ZeroDivisionError):
                # |dy| = |p| t^-2 dt, or |q| dt
                share = self.far_share(*extremes(y)) * _Ray({(power - 1, 0): abs(p)})
                if all(e + 1 > 0 for e, _ in share.terms):
                    total = sum((v * _moment(e + 1, j) for (e, j), v in share.terms.items()), Z)
                    best = best.min(total.upper().max(Z) if total.is_finite() else INF)
        return best

    def impossible(self, y):
        """Return whether f(y|x) is 0 for all secrets, along a half-line."""
        cells = [*pairwise(sorted(self.edges))] if self.p else []
        secrets = [x for a, b in [*cells, *((x, x) for x in self.atoms)] for x in _balls(a, b)]
        return all(_run(self.f, False, x, y).bounds()[1] <= 0 for x in secrets)

    def far_share(self, most, ratio):
        """Bound the integrand by log sup f, and how much of it log inf f is below that."""
        if self.cost or (self.pml and self.power):
            return most.exp()
        if self.power:
            return (most + ratio).exp()
        # t log(m / t) is at most m / e, too
        return most.exp() * (1 / arb(1).exp() if self.pml and ratio is None else ratio)

    def extremes(self, y):
        """Return log f at two secrets that are proved to be extreme, but for a little."""
        # the formula a little beyond the secrets: at an end itself it is no larger than beside it
        beyond = (self.ends[1] - self.ends[0]) * 2.0**-24 if self.p else 0.0
        places = [self.ends[0] - beyond, self.ends[1] + beyond] if self.p else [*self.atoms]
        at = model(2 * next(iter(y.terms.values())))
        height = {x: float(run(self.f, True, x=model(x), y=at).start.mid()) for x in places}
        top, bottom = (
            log_along(self.f, _ray(pick(places, key=height.__getitem__)), y) for pick in (max, min)
        )
        self.extreme(y, top, 1)
        if self.pml or self.cost:
            return top + LITTLE, None
        self.extreme(y, bottom, -1)
        return top + LITTLE, _gap(top, bottom) + 2 * LITTLE

    def orders(self, y):
        """Return bounds C t^a of f and of what log f varies by, from cells of secrets."""
        cells = [*pairwise(sorted(self.edges))] if self.p else []
        logs = [log_along(self.f, x, y) for a, b in [*cells, *((x, x) for x in self.atoms)]
                for x in _balls(a, b)]  # fmt: skip
        folds, varies = [log.exp().fold() for log in logs], {}
        for (e, j), b in (item for log in logs for item in _gap(log, logs[0]).terms.items()):
            varies[e, j] = varies.get((e, j), Z).max(2 * abs(b).upper())  # NaN stays NaN
        most, power = reduce(arb.max, (high for *_, high in folds)), min(a for a, *_ in folds)
        # log t is not positive
        ratio = _Ray({(e, j): v * (-1) ** j for (e, j), v in varies.items()})
        return _Ray({(Q0, 0): most.log(), (Q0, 1): arb(power)}), ratio

    def extreme(self, y, log, sign):
        """Prove that log f(y|x) is the largest (the least, for -1), but for a little."""
        todo = [(x, x) for x in self.atoms]
        todo += pairwise(sorted(self.edges)) if self.p else ()
        for _ in range(CELLS + len(todo)):
            a, b = todo.pop()
            (x,) = _balls(a, b)
            gap = _gap(log, log_along(self.f, x, y)) * sign
            if not (gap + LITTLE).bounds()[0] >= 0:
                if b - a < NARROW * (self.ends[1] - self.ends[0] if self.p else 1):
                    break
                todo += pairwise((a, _middle(a, b), b))
            if not todo:
                return
        raise ValueError("not proved to be the extreme")


def check_means(certificate: dict | str) -> Report:
    """Verify a certificate: every leaf, and that the bound follows from them."""
    return check(certificate, _Means)
