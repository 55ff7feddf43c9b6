"""Bands of outcomes that cover the line, cut where little is known of a leakage."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.kernels import leakage_far_out, unbounded_secrets
from borel.engine.kernels.essential_supremum import halves
from borel.engine.kernels.leakage_on_boxes import Band
from borel.engine.kernels.outcome_strips import strips_of
from borel.engine.kernels.settling_counts import settling
from borel.numerics.intervals.batched import LARGEST
from borel.numerics.intervals.rounding import TINY
from borel.probability.countable_law import Values
from borel.probability.tail_means import BandedLaw, worst_mean

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.engine.continuous.protocols import OutcomeEngine
    from borel.engine.kernels.leakage_on_boxes import Bands
    from borel.engine.problem.proof import Proof

BANDS = 20_000
_FIRST = 16
_ROUND = 256
_BLOCK = 512
_FRUITLESS = 8
_ROUNDING = 4e-13


class Partition:
    """Bands that cover the line of outcomes, with what is known of the leakage on them.

    Bands are finite boxes, or *far* ones (unbounded, or where the kernel is singular), whose mass
    is what the others leave.
    """

    def __init__(self, engine: OutcomeEngine, kind: str):
        self.engine, self.kind = engine, kind
        self.forms = self._forms()
        self._tol = min(settings.current().tol / 8, 1e-9)
        self.infinite: Proof | None = None  # on some of the bands
        self._fruitless = 0
        self._limits = unbounded_secrets.limits(engine.surface.graph, engine.secret)
        self._sides = self._beyond_limits()
        self.low, self.high = self._first()
        self.most = len(self.low) + BANDS
        self.data = np.zeros((len(Band._fields) - 2, 0))
        self.data = self._evaluate(self.low, self.high, engine.deadline())
        if len(engine.atoms):
            self.at_atoms = engine.values_at(kind, engine.atoms) if kind != "ldp" else self._atoms()
        else:
            none = np.zeros(0)
            self.at_atoms = Values(none, none, none, none, none, none, np.zeros(0, bool))

    def _forms(self) -> tuple[Bands | None, Bands | None]:
        """Return what evaluates boxes of outcomes, and those far out."""
        return self.engine.bands, self.engine.far_bands

    def _atoms(self) -> Values:
        (low, high), dead = self.engine.enclosed("ldp", self.engine.atoms)
        zero = np.zeros(len(low))
        return Values(low, high, low, high, zero, zero, dead)

    def _beyond_limits(self) -> list[tuple[float, ...]]:
        """Enclose the leakage on all outcomes on one side of what the secrets lead to."""
        line, out = self.engine.line, []
        if self._limits and len(self._limits) == 2:
            for side in ((line.lower, self._limits[0]), (self._limits[1], line.upper)):
                if side[0] < side[1]:
                    out.append(
                        (*side, *leakage_far_out.leakage(self.engine.surface, self.kind, *side))
                    )
        return out

    def _first(self) -> tuple[np.ndarray, np.ndarray]:
        """Cut the line at declared breaks, at the ends of the secret, and into a few pieces."""
        line, engine = self.engine.line, self.engine
        secret = engine.secret
        marks = [b for b in engine.joint.mechanism.breaks]
        if secret.dim == 1 and secret.continuous:
            marks += [float(secret.lower[0]), float(secret.upper[0]), *secret.breaks]
            marks += self._limits or _ends_of_mass(secret)
            strips = strips_of(engine.surface)
            exact = [] if strips is None else strips.marks(line.lower, line.upper)
            about = [m for m in engine.surface.turns if not _among(m, exact)]
            marks = [m for m in marks if not _among(m, exact)] + about + exact
        elif secret.dim > 1 and engine.bands.cover.secret.dim == 1:
            one = engine.bands.cover.secret  # the ends of a summary
            marks += [float(one.lower[0]), float(one.upper[0])]
        if len(secret.atoms) and len(secret.atoms) <= 1024:
            found = settling(engine.surface)
            marks += list(secret.atoms[:, 0]) if found is None else found.marks()
        marks = sorted(
            {float(m) for m in marks if line.lower < m < line.upper and math.isfinite(m)}
        )
        ends = [e for e in (line.lower, line.upper) if math.isfinite(e)]
        inner = sorted({*marks, *ends}) or [0.0]
        reach = max(1.0, inner[-1] - inner[0])
        far = inner[0] > reach or inner[-1] < -reach
        self._centre = inner[0] + (inner[-1] - inner[0]) / 2 if far else 0.0
        if math.isinf(line.lower):
            inner = [inner[0] - reach, *inner]
        if math.isinf(line.upper):
            inner = [*inner, inner[-1] + reach]
        cuts: list[float] = []
        for a, b in pairwise(inner):
            pieces = max(2, math.ceil(_FIRST * (b - a) / (inner[-1] - inner[0])))
            cuts += list(np.linspace(a, b, pieces + 1)[:-1])
        cuts = sorted({*cuts, inner[-1]})
        low, high = [*cuts[:-1]], [*cuts[1:]]
        if math.isinf(line.lower):
            low, high = [-math.inf, *low], [cuts[0], *high]
        if math.isinf(line.upper):
            low, high = [*low, cuts[-1]], [*high, math.inf]
        return np.array(low), np.array(high)

    def _evaluate(self, low: np.ndarray, high: np.ndarray, deadline: float) -> np.ndarray:
        """Return the fields of the bands, one row each, for boxes of outcomes."""
        out = np.empty((len(Band._fields) - 2, len(low)))
        out[:] = np.array([0, math.inf, 0, 1, 0, math.inf, 0, math.inf, 0, 1])[:, None]
        strips = strips_of(self.engine.surface)
        if strips is not None:  # no outcome there has a density above 0: their leakage is 0
            out[:, strips.dead(low, high)] = 0.0
        finite = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & (out[1] > 0))
        for start in range(0, len(finite), _BLOCK):
            rows = finite[start : start + _BLOCK]
            tiny = self.engine.surface.underflows(low[rows] / 2 + high[rows] / 2)
            for bands, chosen in zip(self.forms, (~tiny, tiny), strict=True):
                if bands is not None and chosen.any():
                    k = rows[chosen]
                    band = bands.evaluate(self.kind, low[k], high[k], self._tol, deadline)
                    out[:, k] = np.array(band[2:])
            if settings.late(deadline):
                break  # what is not looked at stays unknown
        for a, b, least, most in self._sides:
            rows = (a <= low) & (high <= b)
            out[0, rows] = np.maximum(out[0, rows], least)
            out[1, rows] = np.minimum(out[1, rows], most)
        # a posterior probability is at most 1: PML is at most log 1 / p_min
        out[1] = np.minimum(out[1], self.engine.ceiling(self.kind))
        lost = ~np.isfinite(out[1])
        if self.kind != "ldp":  # of its bands no mass is known
            lost |= out[3] >= 1
        for k in np.flatnonzero(lost):
            if settings.late(deadline):
                break
            if self.kind != "ldp":
                for one in self._rests(low[k], high[k]):
                    more = one.bounds(self.kind, float(low[k]), float(high[k]))
                    out[[3, 5, 7], k] = np.minimum(out[[3, 5, 7], k], more)
            for found in (
                self._far(float(low[k]), float(high[k])),
                self._near_zero(low[k], high[k]),
            ):
                off = self.engine.secret.miss
                out[0, k] = max(out[0, k], found[0] - off)
                out[1, k] = min(out[1, k], found[1] + off)
            if math.isfinite(out[1, k]):
                factor = math.exp(min(out[1, k], 700.0)) * (1 + 1e-14)
                out[5, k] = min(out[5, k], out[1, k] * out[3, k] * (1 + 1e-15))
                out[7, k] = min(out[7, k], factor * out[3, k] if out[1, k] < 700 else math.inf)
        if self.engine.slack:
            self._widen(out, self.engine.slack)
        if self.kind != "ldp":
            self._prove_infinite(low, high, out)
        return out

    def _widen(self, out: np.ndarray, slack: float) -> None:
        """Let the fields of bands cover every kernel whose logarithm is off by a slack at most.

        Then log f_Y is off by no more than that, a leakage by twice as much.
        """
        up = 1 + 2 * slack  # e^slack is less
        out[0], out[1] = np.maximum(out[0] - 2 * slack, 0.0), out[1] + 2 * slack
        out[4] = np.maximum(out[4] - 2 * slack * out[3], 0.0) / up
        out[5] = (out[5] + 2 * slack * out[3]) * up
        out[2], out[3] = out[2] / up, out[3] * up
        with np.errstate(over="ignore"):
            out[6::2], out[7::2] = out[6::2] / up**3, out[7::2] * up**3

    def _far(self, low: float, high: float) -> tuple[float, float]:
        """Enclose the leakage on a box of outcomes that may be unbounded."""
        engine = self.engine
        one = None if engine.secret.dim == 1 else engine.over_one
        if one is None:
            return leakage_far_out.leakage(engine.surface, self.kind, low, high)
        # f_Y is between the extremes of f(y|x): no leakage is more than their ratio
        return 0.0, leakage_far_out.leakage(one.surface, "ldp", low, high)[1]

    def _near_zero(self, low: float, high: float) -> tuple[float, float]:
        """Enclose the leakage on a box of outcomes near 0 where the kernel is singular."""
        if self.engine.near_zero is None or not 0 <= 4 * low < high < math.inf:
            return 0.0, math.inf
        bands, root = self.engine.near_zero
        low, high = low ** (1 / root) * (1 - 2.0**-40), high ** (1 / root) * (1 + 2.0**-40)
        at = np.array([low]), np.array([high])
        found = bands.evaluate(self.kind, *at, tol=self._tol, deadline=self.engine.deadline())
        return max(float(found.lower[0]), 0.0), float(found.upper[0])

    def _rests(self, low: float, high: float) -> list[Any]:
        """Return what bounds the means over a box at an end of the outcomes."""
        finite, line = np.isfinite([low, high]), self.engine.line
        if not finite.all():
            return self.engine.far_means if finite.any() else []
        at_end = (low == line.lower or high == line.upper) and not self.engine.secret.rest
        return [self.engine.end_means] if at_end and self.engine.secret.dim == 1 else []

    def _prove_infinite(self, low: np.ndarray, high: np.ndarray, out: np.ndarray) -> None:
        """Set the leakage to infinity on bands where it is infinite for almost every outcome."""
        from borel.engine.infinite.proofs import prove_at

        open_ = np.isinf(out[1]) & np.isfinite(out[0]) & np.isfinite(low) & np.isfinite(high)
        rows = np.flatnonzero(open_)
        for some in (rows, *rows[:, None]):  # all of them at once, if that can be proved
            if not len(some) or np.isinf(out[0, some]).all() or self._fruitless >= _FRUITLESS:
                continue
            ends = float(low[some].min()), float(high[some].max())
            proof = prove_at(self.engine, self.kind, *ends)
            self._fruitless += proof is None
            if proof is not None:
                self.infinite = proof
                out[0, some] = math.inf
                sure = some[out[2, some] > 0]
                out[4, sure] = out[6, sure] = math.inf

    @property
    def lower(self) -> np.ndarray:
        """Return what the leakage is at least, on each band."""
        return self.data[0]

    @property
    def upper(self) -> np.ndarray:
        """Return what it is at most."""
        return self.data[1]

    def weight(self) -> np.ndarray:
        """Return the largest mass each band may have."""
        return self._masses()[1]

    def _masses(self) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the masses; a far band has at most what the others leave of 1."""
        low, high = self.data[2], self.data[3]
        known = float(low.sum()) * (1 - 1e-13) + float(self.at_atoms.mass_lower.sum()) * (1 - 1e-13)
        left = max(0.0, 1.0 - known + 2.0**-50)
        return low, np.minimum(high, low + left)

    def sharpen(self, open_: np.ndarray, tol: float, deadline: float) -> bool:
        """Cut the bands that leave a probability most uncertain; return whether it was possible.

        A band whose leakage is undecided counts with all its mass, any other with the width of it.
        """
        low, high = self._masses()
        far_out = np.isinf(self.low) | np.isinf(self.high)
        loose = float((high - low)[~far_out].sum())
        own = np.maximum(high - low - loose, 0.0)  # what the looseness of the others leaves of it
        doubt = np.where(far_out, own, np.where(open_, high, high - low))
        worst = float(doubt.max(initial=0.0))
        if not worst > 0:
            return False
        # a round costs as much as some hundreds of bands: cut that many
        order = np.argsort(doubt)[::-1][:_ROUND]
        chosen = np.zeros(len(doubt), bool)
        chosen[order[doubt[order] >= max(1e-4 * worst, 0.1 * tol / len(doubt))]] = True
        return self.split(chosen, deadline)

    def split(self, which: np.ndarray, deadline: float) -> bool:
        """Cut some bands; return whether that was possible."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        with np.errstate(invalid="ignore"):
            wide = ~((self.high - self.low) <= 2.0**-44 * size) | np.isinf(size)
        far_out = np.isinf(self.high) & (self.low > 1e15) | np.isinf(self.low) & (self.high < -1e15)
        chosen = np.flatnonzero(which & wide & ~far_out)[:4096]
        if not len(chosen) or len(self.low) + len(chosen) > self.most:
            return False
        whole, pieces = np.ones(len(self.low), bool), []
        for start in range(0, len(chosen), _BLOCK // 4):
            parents = chosen[start : start + _BLOCK // 4]
            low, high, parent, fresh = self._parts(parents, deadline)
            late = settings.late(deadline)
            if late:
                parents = self._told_more(parents, parent, fresh)
                kept = np.isin(parent, parents)
                low, high, fresh = low[kept], high[kept], fresh[:, kept]
            whole[parents] = False
            pieces.append((low, high, fresh))
            if late:
                break
        lows, highs, data = zip(*pieces, strict=True)
        self.low = np.concatenate([self.low[whole], *lows])
        self.high = np.concatenate([self.high[whole], *highs])
        self.data = np.concatenate([self.data[:, whole], *data], axis=1)
        return True

    def _told_more(self, parents: np.ndarray, parent: np.ndarray, fresh: np.ndarray) -> np.ndarray:
        """Return the bands whose parts say as much as they do: some were not looked at in time."""
        sums = np.array([np.bincount(parent, row, len(self.low))[parents] for row in fresh[2:]])
        own = self.data[2:, parents]
        low, high = sums[0::2] >= own[0::2] * (1 - 1e-9), sums[1::2] * (1 - 1e-9) <= own[1::2]
        return parents[(low & high).all(axis=0)]

    def _parts(self, chosen: np.ndarray, deadline: float) -> tuple[np.ndarray, ...]:
        """Cut bands in four or in two: ends of the parts, the bands they are of, and their data."""
        cuts = self._cuts(chosen)
        low = np.concatenate([self.low[chosen], *cuts])
        high = np.concatenate([*cuts, self.high[chosen]])
        parent = np.tile(chosen, 4)
        some = low < high
        low, high, parent = low[some], high[some], parent[some]
        fresh = self._evaluate(low, high, deadline)
        # what held on a band holds on its parts
        fresh[0] = np.maximum(fresh[0], self.data[0, parent])
        fresh[1] = np.maximum(np.minimum(fresh[1], self.data[1, parent]), fresh[0])
        return low, high, parent, fresh

    def _middle(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return where to cut boxes: by the distance to an end of the line where that varies.

        Half-lines are cut at twice the distance to 0, or to the middle of marks far from it.
        """
        out = halves(a[:, None], b[:, None], self._centre)[:, 0]
        for end, near, far_off in ((self.engine.line.lower, a, b), (self.engine.line.upper, b, a)):
            if math.isfinite(end):
                u, v = np.abs(near - end), np.abs(far_off - end)
                with np.errstate(invalid="ignore"):
                    place = end + np.sign(far_off - end) * np.sqrt(u * v)
                    many = np.isfinite(v) & (v > 4 * u) & (a < place) & (place < b)
                out = np.where(many, place, out)
        return out

    def _cuts(self, chosen: np.ndarray) -> np.ndarray:
        """Return where to cut bands in four, so that rounds are few; in two where an end recurs."""
        a, b, line = self.low[chosen], self.high[chosen], self.engine.line
        middle = self._middle(a, b)
        cuts = np.array([self._middle(a, middle), middle, self._middle(middle, b)])
        finite = np.isfinite(a) & np.isfinite(b)
        cuts[0, ~finite], cuts[2, ~finite] = a[~finite], b[~finite]
        # towards an end of the alphabet where nothing bounds the leakage, geometrically; and
        # faster where the mass beside it is known to be small
        lost, sure = finite & np.isinf(self.data[1, chosen]), self.data[3, chosen] < 1
        steps = np.where(sure, 2.0 ** np.array([[-12], [-8], [-4]]), np.array([[0], [0], [1 / 16]]))
        for end, other, at_end in ((a, b, a == line.lower), (b, a, b == line.upper)):
            rows = lost & at_end
            cuts[:, rows] = end[rows] + steps[:, rows] * (other - end)[rows]
        return np.clip(np.sort(cuts, axis=0), a, b)  # rounding leads beyond no end

    def stuck(self) -> bool:
        """Return whether what is not bounded is at the ends of the line only."""
        lost = np.isinf(self.upper)
        return int(lost.sum()) <= 4

    def open_ends(self) -> list[tuple[float, float]]:
        """Return the bands without a bound from above, the outermost first."""
        lost = np.flatnonzero(np.isinf(self.upper))
        pairs = [(float(self.low[k]), float(self.high[k])) for k in lost]
        return sorted(pairs, key=lambda p: -abs(p[0]) - abs(p[1]))

    def values(self) -> Values:
        """Return the bands and the atoms as values with masses."""
        low, high = self._masses()
        atoms = self.at_atoms
        with np.errstate(over="ignore"):
            ratio = np.exp(self.lower) * (1 - 1e-14), np.exp(self.upper) * (1 + 1e-14)
        pairs = zip(
            (self.lower, self.upper, *ratio, low, high, np.zeros(len(low), bool)),
            (
                atoms.lower,
                atoms.upper,
                atoms.ratio_lower,
                atoms.ratio_upper,
                atoms.mass_lower,
                atoms.mass_upper,
                atoms.outside,
            ),
            strict=True,
        )
        joined: list[Any] = [np.concatenate(p) for p in pairs]
        return Values(*joined)

    def expectation(self, what: str) -> tuple[tuple[float, float], np.ndarray]:
        """Enclose the mean of the leakage or of its exponential, and say where it is loose."""
        row = {"mean": 4, "exp": 6}[what]
        _, mass = self._masses()
        low = self.data[row]
        with np.errstate(invalid="ignore", over="ignore"):
            factor = self.upper if what == "mean" else np.exp(self.upper) * (1 + 1e-14)
            by_range = np.where(mass > 0, mass * factor, 0.0) * (1 + 1e-15)
            high = np.fmin(self.data[row + 1], by_range)
            near = self.engine.slack < _ROUNDING  # as the law of the kernel as it is written
            if what == "mean" and self.kind == "pml" and np.isinf(high).any() and near:
                high = np.fmin(high, self.engine.far_entropy.mean(self.low, self.high, mass))
            total_low, total_high = float(low.sum()), float(high.sum())
        atoms, endless = self.at_atoms, bool((np.isinf(self.lower) & (self._masses()[0] > 0)).any())
        if len(atoms.lower):
            parts = atoms.mean() if what == "mean" else atoms.exp_mean()
            total_low, total_high = total_low + float(parts[0]), total_high + float(parts[1])
            endless |= bool((np.isinf(atoms.lower) & (atoms.mass_lower > 0)).any())
        if not endless:  # it may be a number that floats do not hold
            total_low = min(total_low, LARGEST)
        slack = 1e-13
        with np.errstate(invalid="ignore"):
            gaps = np.where(np.isinf(high), math.inf, high - low)
            gaps = self._shared(gaps, np.where(high < by_range, 0.0, factor))
        return (total_low * (1 - slack), total_high * (1 + slack)), gaps

    def banded(self) -> BandedLaw:
        """Return e^PML, or e^-PMC, on the bands, and then at the atoms."""
        pml, masses = self.kind == "pml", self._masses()
        inner, outer = (self.lower, self.upper) if pml else (-self.upper, -self.lower)
        with np.errstate(all="ignore"):
            values = np.exp(inner) * (1 - 1e-14) - TINY, np.exp(outer) * (1 + 1e-14) + TINY
            # 0 where it is that
            values = np.maximum(values[0], 0.0), np.where(np.isneginf(outer), 0.0, values[1])
            least, most = (m * v for m, v in zip(masses, values, strict=True))
            low, high = self.data[6 if pml else 8], self.data[7 if pml else 9]
            most = np.where(values[1] > 0, most * (1 + 1e-15) + TINY, 0.0)
            sums = np.fmax(low, least * (1 - 1e-15) - TINY), np.fmin(high, most)
        sums = sums[0], np.maximum(sums[1], sums[0])
        return BandedLaw(values, masses, sums).joined(self.at_atoms.banded(self.kind))

    def worst_mean(self, delta: Fraction) -> tuple[tuple[float, float], np.ndarray]:
        """Enclose the mean of e^PML, or e^-PMC, over the worst delta; and say where it is loose."""
        law, count = self.banded(), len(self.low)
        found = worst_mean(law, delta, largest=self.kind == "pml")
        if math.isinf(found.upper):  # as that over all outcomes is: it says where
            return found[:2], self.expectation("exp")[1]
        with np.errstate(all="ignore"):
            each = found.gaps / law.masses[1]  # where nothing but the mass bounds the integral
            each = np.where(law.sums[1] < law.masses[1] * law.values[1], 0.0, each)
        return found[:2], self._shared(found.gaps[:count], each[:count])

    def _shared(self, gaps: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """Lay the doubt of far bands, of what the others leave, on those whose mass is loose."""
        far_out = np.isinf(self.low) | np.isinf(self.high)
        own = np.where(far_out & np.isfinite(gaps), factor, 0.0)
        if not (np.isfinite(own).all() and own.any()):
            return gaps
        low, high = self._masses()
        loose = np.where(far_out, 0.0, high - low)
        lighter = np.maximum(gaps - own * float(loose.sum()), 0.0)
        return np.where(own > 0, lighter, gaps + loose * float(own.sum()))

    def witness(self) -> dict:
        """Return an outcome near which the largest value was found."""
        if len(self.at_atoms.lower) and self.at_atoms.lower.max() >= self.lower.max(initial=0.0):
            return {"y": float(self.engine.atoms[int(np.argmax(self.at_atoms.lower))])}
        k = int(np.argmax(self.lower))
        a, b = self.low[k], self.high[k]
        return {"y": float(b if np.isinf(a) else a if np.isinf(b) else a + (b - a) / 2)}


def _among(place: float, exact: list[float]) -> bool:
    """Return whether a mark is one that is known better, but for rounding."""
    return any(abs(place - mark) <= 2.0**-45 * abs(mark) for mark in exact)


def _ends_of_mass(secret: Any) -> list[float]:
    """Return where an unbounded prior leaves next to nothing, as marks for a first partition."""
    out: list[float] = []
    if secret.mass is None:
        return out
    about = unbounded_secrets.middle(secret)
    for sign, end in ((-1.0, secret.lower[0]), (1.0, secret.upper[0])):
        if math.isinf(end):
            for power in range(8):
                place = about + sign * 2.0**power
                tail = secret.mass(*sorted((place, sign * math.inf)))
                if tail[1] < 1e-9:
                    out.append(place)
                    break
    return out
