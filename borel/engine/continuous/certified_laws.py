"""Certified suprema and laws over continuous outcomes: bands of outcomes, refined where needed."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.alphabets import Interval, Mixed
from borel.bound import Bound
from borel.engine.continuous import certificates, far
from borel.engine.continuous.bands import Band, Bands
from borel.engine.continuous.certified import CertifiedEngine
from borel.engine.continuous.certified_excess import figure
from borel.engine.continuous.essential import halves
from borel.engine.continuous.far_means import FarMeans
from borel.engine.continuous.surface import boxes
from borel.engine.discrete.discrete_figures import OUTSIDE
from borel.engine.divergences.generators import NAMED
from borel.engine.intervals import jet, lanes
from borel.errors import NotEnclosed, NotYet
from borel.laws import Values, check_level

if TYPE_CHECKING:
    from borel.engine.divergences.generators import Generator
    from borel.engine.divergences.hockey_sticks import Threshold
    from borel.joint import Joint

_OPEN = (
    "no bound from above was found within the budget, nor a proof that it is infinite; "
    'options(engine="estimate") gives a value that proves nothing'
)
_BANDS = 20_000
_ROOM = 0.01
_SPACE = 0.05
_FIRST = 16
_ROUND = 256
_BLOCK = 512


class CertifiedOutcomes(CertifiedEngine):
    """Figures of a joint whose outcome has a density, and perhaps atoms."""

    def __init__(self, joint: Joint):
        super().__init__(joint)
        outcome = joint.outcome
        line = outcome.interval if isinstance(outcome, Mixed) else outcome
        if not isinstance(line, Interval):
            raise NotEnclosed(f"certified figures for outcomes on {outcome!r} are not there")
        self.line = line
        self.atoms = np.array(outcome.atoms if isinstance(outcome, Mixed) else (), float)
        forms = joint.mechanism.closed_forms
        known = None if forms is None else forms.log_marginal(joint)
        self.theorem = () if known is None else (known[1],)
        self.log_marginal_graph = None if known is None else known[0]
        self.bands = Bands(self.surface, self.log_marginal_graph)
        spread = self.surface.spread
        self.far_bands = None if spread is None else Bands(spread, self.log_marginal_graph)
        self._partitions: dict[str, _Partition] = {}

    @cached_property
    def far_means(self) -> list[FarMeans]:
        """Bounds for outcomes far out, of means of a leakage that is not bounded there."""
        forms = [s for s in (self.surface, self.surface.spread) if s is not None]
        return [FarMeans(form, self.log_marginal_graph) for form in forms]

    def bound(self, low: float, high: float, **about: Any) -> Bound:
        """Make a Bound; figures over outcomes also rest on the theorem for f_Y, if one is used."""
        about = {"assumptions": (*self.assumptions, *self.theorem), **about}
        if math.isinf(high) and not math.isinf(low):
            about.pop("certificate", None)
            return Bound.undecided(low, high, reason=_OPEN, **about)
        return super().bound(low, high, **about)

    # -- at outcomes ------------------------------------------------------------------------

    def at(self, kind: str, y: Any) -> Bound:
        """Enclose the leakage at one outcome."""
        ys = np.atleast_1d(np.asarray(y, float))
        (low, high), dead = self.enclosed(kind, ys)
        notes = self.assumptions + ((OUTSIDE,) if dead[0] else ())
        if math.isinf(high[0]) and float(ys[0]) not in self.at_atoms:
            found = self.infinite_at(kind, float(ys[0]))
            if found is not None:
                return found
        ends = float(low[0]), float(high[0])
        about = (
            {}
            if dead[0] or math.isinf(ends[1])
            else {"certificate": self.certificate_at(kind, ys, ends)}
        )
        return self.bound(*ends, assumptions=notes, **about)

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        (low, high), _ = self.enclosed(kind, np.atleast_1d(np.asarray(y, float)).ravel())
        return low, high, self.statuses(low, high)

    # -- over outcomes ----------------------------------------------------------------------

    def partition(self, kind: str) -> _Partition:
        """Return the bands of outcomes of a leakage, shared by all figures of its law."""
        if kind not in self._partitions:
            self._partitions[kind] = _Partition(self, kind)
        part = self._partitions[kind]
        part.most = len(part.low) + _BANDS  # each figure may cut as many more
        return part

    def sup(self, kind: str) -> Bound:
        """Enclose the essential supremum over the outcomes, or prove that it is infinite."""
        from borel.engine.infinities.infinity import prove

        deadline, tol = self.deadline(), settings.current().tol
        part = self.partition(kind)
        asked = 0
        for turn in range(60):
            best = max(part.lower.max(initial=0.0), part.at_atoms.lower.max(initial=0.0))
            high = max(part.upper.max(initial=0.0), part.at_atoms.upper.max(initial=0.0), best)
            if high <= best + (1 - 2 * _ROOM) * tol or time.monotonic() > deadline:
                break
            if math.isinf(high) and (turn == 1 or (turn >= 4 and asked < 2)):
                asked = turn
                proved = self.infinite_bound(prove(self, kind, part.open_ends()))
                if proved is not None:
                    return proved
            if turn >= 12 and math.isinf(high) and part.stuck():
                break
            if not part.split(part.upper > best + (1 - 2 * _ROOM) * tol, deadline):
                break
        if math.isinf(best):
            found = self.infinite_bound(prove(self, kind, part.open_ends()))
            return found or self.bound(math.inf, math.inf, attained=True)
        if math.isinf(high) and not asked:  # the first bands took all of the time
            proved = self.infinite_bound(prove(self, kind, part.open_ends()))
            if proved is not None:
                return proved
        ends = float(best), float(high)
        about: dict[str, Any] = {"witness": part.witness()}
        if math.isfinite(high):  # some room, as the checker has to prove the same on other boxes
            wide = max(0.0, ends[0] - _ROOM * tol), ends[1] + _ROOM * tol
            about["certificate"] = certificates.outcomes(self, kind, wide, part)
            ends = ends if about["certificate"] is None else wide
        return self.bound(*ends, **about)

    def ldp(self) -> Bound:
        """Enclose the local differential privacy level on the support of the prior."""
        return self.sup("ldp")

    def maximal_cost_leakage(self) -> Bound:
        """Enclose -log of the integral of ess inf_x f(y|x)."""
        from borel.engine.continuous.certified_measures import maximal_cost_leakage

        return maximal_cost_leakage(self)

    def mutual_information(self) -> Bound:
        """Enclose, or estimate, the f-information of t log t."""
        return self.f_information(NAMED["kl"])

    def f_information(self, f: Generator) -> Bound:
        """Enclose the f-information of a finite secret; else estimate it, if that is allowed."""
        from borel.engine.continuous.certified_measures import f_information

        try:
            low, high = f_information(self, f)
            if high - low > 1e-3 * max(1.0, high) and settings.current().engine == "auto":
                raise NotEnclosed("the integral is enclosed too widely to be of use")
            return self.bound(low, high, units=f.units)
        except NotEnclosed as error:
            if settings.current().engine == "auto":
                return self.estimates.f_information(f)
            raise NotYet("bl.f_information", missing=f"a proof: {error}") from None

    def psi_1(self, level: Threshold) -> Bound:
        """Enclose the mean penalty of outcomes whose leakage exceeds a level."""
        return figure(self, "psi_1", level)

    def psi_2(self, level: Threshold) -> Bound:
        """Enclose the largest excess of a row over a multiple of the marginal."""
        return figure(self, "psi_2", level)

    def event_maximal_leakage(self, delta: Fraction) -> Bound:
        """Enclose the largest leakage of an event of a probability."""
        return figure(self, "event_maximal_leakage", delta)

    def binary_envelope(self, delta: Fraction) -> Bound:
        """Enclose the binary envelope at a level."""
        return figure(self, "binary_envelope", delta)

    def both_halves(self) -> Bound:
        """Enclose the largest leakage that an event and its complement both have."""
        return figure(self, "both_halves")

    def binary_envelope_curve(self, levels: list[Fraction]) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the binary envelope at many levels."""
        found = [self.binary_envelope(d) for d in levels]
        return np.array([b.lower for b in found]), np.array([b.upper for b in found])

    def _whole(self, kind: str) -> Values:
        return self.partition(kind).values()

    def tail(self, kind: str, t: Any, *, closed: bool) -> Bound:
        """Enclose P{leakage > t}, or P{leakage >= t} if closed."""
        deadline, tol = self.deadline(), settings.current().tol
        part, t = self.partition(kind), float(t)
        low, high = 0.0, 1.0
        for _ in range(200):
            now = part.values().tail(t, closed=closed)
            low, high = max(low, now[0]), min(high, now[1])
            if high - low <= tol or time.monotonic() > deadline:
                break
            if not part.sharpen((part.lower <= t) & (part.upper >= t), tol, deadline):
                break
        wide = max(0.0, low - _ROOM * tol), min(1.0, high + _ROOM * tol)
        claim = {"figure": "tail", "t": t, "closed": bool(closed)}
        return self._of_law(kind, (low, high), wide, (t, t), "probability", claim)

    @cached_property
    def quick_to_check(self) -> bool:
        """Whether the checker of laws takes seconds; it takes minutes where a density is steep.

        With a density of secrets the slopes of log p, and of log f at an outcome, are bounded then
        on the whole interval.
        """
        if not self.secret.continuous:
            return True
        if self.secret.dim > 1:
            return False
        low, high = self.line.lower, self.line.upper  # an outcome away from both of them
        y = low + (high - low) / 2 if math.isfinite(high - low) else np.clip(0.0, low + 1, high - 1)
        x = boxes(self.secret.lower[None], self.secret.upper[None], 0, 1)
        at = lanes.point(np.array([[float(y)]]))
        runs = [(self.surface.log, self.surface.inputs(x, at))]
        if self.secret.program is not None:
            runs.append((self.secret.program, {self.secret.names[0]: x[0]}))
        slopes = [jet.entry(program.run(named, 1).jet, 1) for program, named in runs]
        return bool(np.isfinite(slopes).all())

    def _of_law(self, kind, ends, wide, level, units: str, claim: dict) -> Bound:
        """Make a Bound of a figure of the law: a little wider if it has a certificate."""
        made = None
        if self.quick_to_check:
            made = certificates.law(self, kind, wide, self.partition(kind), level, **claim)
        return self.bound(*(ends if made is None else wide), units=units, certificate=made)

    def quantile(self, kind: str, s: Any, *, side: str) -> Bound:
        """Enclose the quantile of the leakage at level s."""
        check_level(s, side)
        if s == 1:
            return self.sup(kind)
        deadline, tol = self.deadline(), settings.current().tol
        part = self.partition(kind)
        low, high = 0.0, math.inf
        for _ in range(200):
            now = part.values().quantile(s, side=side)
            low, high = max(low, now[0]), min(high, now[1])
            if high - low <= tol or time.monotonic() > deadline:
                break
            # a tie within the tolerance is as good as decided
            open_ = (part.lower < high) & (part.upper > low) & (part.upper - part.lower > tol / 4)
            if not part.sharpen(open_, 0.1 * tol, deadline):
                break
        if math.isinf(high):
            return self.sup(kind) if math.isinf(low) else self.bound(low, high)
        wide = max(0.0, low - _ROOM * tol), high + _ROOM * tol
        claim = {"figure": "quantile", "s": Fraction(s).as_integer_ratio(), "side": side}
        return self._of_law(kind, (low, high), wide, wide, "nats", claim)

    def _expectation(self, kind: str, what: str, units: str) -> Bound:
        deadline, tol = self.deadline(), settings.current().tol
        part = self.partition(kind)
        low, high = 0.0, math.inf
        for turn in range(200):
            now, gaps = part.expectation(what)
            low, high = max(low, now[0]), min(high, now[1])
            with np.errstate(over="ignore"):
                known = float(gaps[np.isfinite(gaps)].sum())
            if math.isinf(high) and turn > 8 and known <= 1e-4 * max(1.0, low):
                break  # it is unbounded far out: more bands do not change that
            if high - low <= (1 - 2 * _SPACE) * tol * max(1.0, low):
                break
            if time.monotonic() > deadline:
                break
            finite = gaps[np.isfinite(gaps)]
            worst = float(finite.max(initial=0.0))
            limit = max(1e-3 * worst, 0.1 * tol / len(gaps))
            if not part.split((gaps >= limit) & (gaps > 0), deadline):
                break
        if not (self.quick_to_check and math.isfinite(high)):
            return self.bound(low, high, units=units)
        room = _SPACE * tol * max(1.0, low)  # as the checker has to prove the same on other boxes
        wide = max(1.0 if what == "exp" else 0.0, low - room), high + room
        figure = {"mean": "mean", "exp": "exp_mean"}[what]
        made = certificates.mean(self, kind, wide, part, figure)
        return self.bound(*((low, high) if made is None else wide), units=units, certificate=made)

    def mean(self, kind: str) -> Bound:
        """Enclose the mean of the leakage."""
        return self._expectation(kind, "mean", "nats")

    def exp_mean(self, kind: str) -> Bound:
        """Enclose the mean of e^leakage."""
        return self._expectation(kind, "exp", "ratio")


class _Partition:
    """Bands that cover the line of outcomes, with what is known of the leakage on them.

    Bands are finite boxes, or *far* ones (unbounded, or where the kernel is singular), whose mass
    is what the others leave.
    """

    def __init__(self, engine: CertifiedOutcomes, kind: str):
        self.engine, self.kind = engine, kind
        self._tol = min(settings.current().tol / 8, 1e-9)
        self.most = _BANDS
        self.low, self.high = self._first()
        self.data = np.zeros((len(Band._fields) - 2, 0))
        self.data = self._evaluate(self.low, self.high, engine.deadline())
        if len(engine.atoms):
            self.at_atoms = engine.values_at(kind, engine.atoms) if kind != "ldp" else self._atoms()
        else:
            none = np.zeros(0)
            self.at_atoms = Values(none, none, none, none, none, none, np.zeros(0, bool))

    def _atoms(self) -> Values:
        (low, high), dead = self.engine.enclosed("ldp", self.engine.atoms)
        zero = np.zeros(len(low))
        return Values(low, high, low, high, zero, zero, dead)

    def _first(self) -> tuple[np.ndarray, np.ndarray]:
        """Cut the line at declared breaks, at the ends of the secret, and into a few pieces."""
        line, engine = self.engine.line, self.engine
        secret = engine.secret
        marks = [b for b in engine.joint.mechanism.breaks]
        if secret.dim == 1 and secret.continuous:
            marks += [float(secret.lower[0]), float(secret.upper[0]), *secret.breaks]
            marks += _ends_of_mass(secret)
        if len(secret.atoms) and len(secret.atoms) <= 64:
            marks += [float(a) for a in secret.atoms[:, 0]]
        marks = sorted({m for m in marks if line.lower < m < line.upper and math.isfinite(m)})
        ends = [e for e in (line.lower, line.upper) if math.isfinite(e)]
        inner = sorted({*marks, *ends}) or [0.0]
        reach = max(1.0, inner[-1] - inner[0])
        if math.isinf(line.lower):
            inner = [inner[0] - reach, *inner]
        if math.isinf(line.upper):
            inner = [*inner, inner[-1] + reach]
        cuts: list[float] = []
        for a, b in pairwise(inner):
            pieces = max(2, math.ceil(_FIRST * (b - a) / (inner[-1] - inner[0])))
            cuts += list(np.linspace(a, b, pieces + 1)[:-1])
        cuts.append(inner[-1])
        low, high = [*cuts[:-1]], [*cuts[1:]]
        if math.isinf(line.lower):
            low, high = [-math.inf, *low], [cuts[0], *high]
        if math.isinf(line.upper):
            low, high = [*low, cuts[-1]], [*high, math.inf]
        return np.array(low), np.array(high)

    def _evaluate(self, low: np.ndarray, high: np.ndarray, deadline: float) -> np.ndarray:
        """Return the fields of the bands, one row each, for boxes of outcomes."""
        out = np.empty((len(Band._fields) - 2, len(low)))
        out[:] = np.array([0, math.inf, 0, 1, 0, math.inf, 0, math.inf])[:, None]
        finite = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
        for start in range(0, len(finite), _BLOCK):
            rows = finite[start : start + _BLOCK]
            tiny = self.engine.surface.underflows(low[rows] / 2 + high[rows] / 2)
            for bands, chosen in ((self.engine.bands, ~tiny), (self.engine.far_bands, tiny)):
                if bands is not None and chosen.any():
                    k = rows[chosen]
                    band = bands.evaluate(self.kind, low[k], high[k], self._tol, deadline)
                    out[:, k] = np.array(band[2:])
            if time.monotonic() > deadline:
                break  # what is not looked at stays unknown
        if self.kind == "pml":
            # a posterior probability is at most 1: PML is at most log 1 / p_min
            out[1] = np.minimum(out[1], self.engine.ceiling())
        lost = ~np.isfinite(out[1])
        if self.kind != "ldp":  # of its bands no mass is known
            lost |= out[3] >= 1
        for k in np.flatnonzero(lost):
            if time.monotonic() > deadline:
                break
            found = far.leakage(self.engine.surface, self.kind, float(low[k]), float(high[k]))
            out[0, k], out[1, k] = max(out[0, k], found[0]), min(out[1, k], found[1])
            if math.isfinite(out[1, k]):
                factor = math.exp(min(out[1, k], 700.0)) * (1 + 1e-14)
                out[5, k] = min(out[5, k], out[1, k] * out[3, k] * (1 + 1e-15))
                out[7, k] = min(out[7, k], factor * out[3, k] if out[1, k] < 700 else math.inf)
            elif self.kind != "ldp" and math.isfinite(low[k]) != math.isfinite(high[k]):
                for one in self.engine.far_means:
                    more = one.means(self.kind, float(low[k]), float(high[k]))
                    out[5, k], out[7, k] = min(out[5, k], more[0]), min(out[7, k], more[1])
        return out

    @property
    def lower(self) -> np.ndarray:
        return self.data[0]

    @property
    def upper(self) -> np.ndarray:
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
            late = time.monotonic() > deadline
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
        a, b = self.low[chosen], self.high[chosen]
        middle = halves(a[:, None], b[:, None])[:, 0]
        # towards an end of the alphabet where nothing bounds the leakage, cut geometrically
        lost = np.isinf(self.data[1, chosen])
        line = self.engine.line
        at_low = lost & (a == line.lower) & np.isfinite(a) & np.isfinite(b)
        at_high = lost & (b == line.upper) & np.isfinite(a) & np.isfinite(b)
        with np.errstate(invalid="ignore"):
            middle = np.where(at_low, a + (b - a) / 16, middle)
            middle = np.where(at_high, b - (b - a) / 16, middle)
        # a finite band becomes four, so that there are half as many rounds; the others two
        quarter = np.isfinite(a) & np.isfinite(b) & ~at_low & ~at_high
        first = np.where(quarter, halves(a[:, None], middle[:, None])[:, 0], a)
        third = np.where(quarter, halves(middle[:, None], b[:, None])[:, 0], b)
        low = np.concatenate([a, first, middle, third])
        high = np.concatenate([first, middle, third, b])
        parent = np.tile(chosen, 4)
        some = low < high
        low, high, parent = low[some], high[some], parent[some]
        fresh = self._evaluate(low, high, deadline)
        # what held on a band holds on its parts
        fresh[0] = np.maximum(fresh[0], self.data[0, parent])
        fresh[1] = np.maximum(np.minimum(fresh[1], self.data[1, parent]), fresh[0])
        return low, high, parent, fresh

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
            total_low, total_high = float(low.sum()), float(high.sum())
        atoms = self.at_atoms
        if len(atoms.lower):
            parts = atoms.mean() if what == "mean" else atoms.exp_mean()
            total_low, total_high = total_low + float(parts[0]), total_high + float(parts[1])
        slack = 1e-13
        with np.errstate(invalid="ignore"):
            gaps = np.where(np.isinf(high), math.inf, high - low)
        return (total_low * (1 - slack), total_high * (1 + slack)), gaps

    def witness(self) -> dict:
        """Return an outcome near which the largest value was found."""
        if len(self.at_atoms.lower) and self.at_atoms.lower.max() >= self.lower.max(initial=0.0):
            return {"y": float(self.engine.atoms[int(np.argmax(self.at_atoms.lower))])}
        k = int(np.argmax(self.lower))
        a, b = self.low[k], self.high[k]
        return {"y": float(b if np.isinf(a) else a if np.isinf(b) else a + (b - a) / 2)}


def _ends_of_mass(secret: Any) -> list[float]:
    """Return where an unbounded prior leaves next to nothing, as marks for a first partition."""
    out: list[float] = []
    if secret.mass is None:
        return out
    for sign, end in ((-1.0, secret.lower[0]), (1.0, secret.upper[0])):
        if math.isinf(end):
            for power in range(8):
                place = sign * 2.0**power
                tail = secret.mass(*sorted((place, sign * math.inf)))
                if tail[1] < 1e-9:
                    out.append(place)
                    break
    return out
