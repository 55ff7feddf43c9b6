r"""Suprema over sets of priors on continuous and countable secrets.

Their members have densities, beside atoms of the centre (`sets`), so that M, m and L are essential.
At an outcome the figures follow from those of single priors on the same support. With e the mean
of f(y|X) under the centre P, M its supremum and m its infimum over the secrets,

* contamination: the lower expectation is (1 - w) e + w m, so that
  :math:`e^{-\mathrm{PML}} = (1 - w) e^{-\ell_P} + w e^{-L}` with L = log M / m, the LDP ratio at y,
  and :math:`e^{\mathrm{PMC}} = (1 - w) e^{\Lambda_P} + w e^{L}`;
* full support: both are L; a hull: the largest of the corners';
* balls of total variation, over all outcomes: mass r moves, from values of at most M to values of
  at least m, so that the lower expectation lies between max(e - r (M - m), m) and (1 - r) e + r m,
  the mean of a member; the upper one between (1 - r) e + r M and min(e + r (M - m), M).

Where a centre's density is 0 on a part of the secrets, which other members may charge, its figures
are those of one member, and L of all secrets bounds the figures from above.

At an outcome the balls of total variation, KL and chi-square divergence around a continuous secret
are also solved on cells of it (`secret_cells`). Over all outcomes the suprema of the centre's
figure and of L are combined; for balls of a divergence only L bounds the figure from above.
"""

from __future__ import annotations

import math
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine import engine_for
from borel.engine.kernels.continuity import continuous_at
from borel.engine.prior_sets.engine import SetEngine
from borel.errors import NotYet
from borel.probability.alphabets import Interval
from borel.probability.bound import Bound, weakest

if TYPE_CHECKING:
    from borel.engine.prior_sets.secret_cells import SecretCells
    from borel.probability.joint import Joint
    from borel.probability.measure import Measure

_CHARGES = ("normal", "laplace", "cauchy", "beta", "gamma", "exponential", "uniform", "poisson")
_CHARGES += ("geometric",)
"""Families that charge every set of positive measure of their alphabet."""
_ROOM = 2.0**-36
_WIDE = 1e-9
_OPEN = "what is known of single priors, and of cells of the secret, leaves it open"
_NAMELESS = "it is the LDP level, of a closed form that names no outcome and no prior"
_PROVED = ("exact", "certified", "conditional")
_MIXED = ("contamination", "tv", "hull", "full_support")
_DIVERGENCES = ("kl_to_centre", "kl_from_centre", "chi_square_to_centre", "chi_square_from_centre")
"""The kinds of sets that there are figures of: those, and balls of a divergence."""
_WITHIN = ("kl_to_centre", "chi_square_to_centre")
"""The balls whose members charge what the centre does, and nothing else."""


class SetLines(SetEngine):
    """Figures over a set around one prior (or the hull of some) on any alphabet.

    Parameters
    ----------
    joint : Joint
        ``prior_set * mech``.

    Raises
    ------
    NotYet
        A set of another kind.
    """

    def __init__(self, joint: Joint):
        self.joint, self.set = joint, joint.prior
        kind = self.set.kind
        if kind not in _MIXED + _DIVERGENCES:
            raise NotYet(
                "prior_set * mech",
                missing=f"sets of the kind {self.set.name} on {self.set.on!r}",
                instead="full_support, contamination, hull, and balls.",
            )
        self.kind = kind
        if kind == "hull":
            self.centres = list(self.set.corners)
        elif kind == "full_support":
            self.centres = [_reference(joint)]
        else:
            self.centres = [self.set.centre]
        self.joints = [centre * joint.mechanism for centre in self.centres]
        self.size = getattr(self.set, "size", 0)
        self.notes = self.set.assumptions
        unsure = [
            j
            for c, j in zip(self.centres, self.joints, strict=True)
            if (c.family or ("",))[0] not in _CHARGES
        ]
        self.all_secrets: Joint | None = None
        """A joint whose prior charges every secret, where a centre is known not to."""
        if unsure and (self.size > 0 or len(self.centres) > 1) and kind != "full_support":
            if kind not in _WITHIN and any(map(_has_gaps, unsure)):
                self.all_secrets = _reference(joint) * joint.mechanism
            else:
                self.notes += ("every centre charges every set of secrets of positive measure",)

    def _charging(self) -> tuple[str, ...] | None:
        return self.notes if self.all_secrets is None else None

    def _members(self) -> list[Measure]:
        return self.centres

    # -- at an outcome ------------------------------------------------------------------------

    @cached_property
    def cells(self) -> SecretCells | None:
        """The cells of a continuous secret of one dimension, for balls around its prior."""
        from borel.engine.prior_sets.secret_cells import SecretCells

        if self.kind not in ("tv", *_DIVERGENCES) or self.all_secrets is not None:
            return None
        engine = engine_for(self.joints[0]).of_secrets
        if engine is None or engine.at_atoms:
            return None
        secret = engine.secret
        if not secret.continuous or secret.dim > 1 or len(secret.atoms) or secret.mass is None:
            return None
        return SecretCells(engine)

    def _by_cells(self, kind: str, ys: np.ndarray, low: Any, high: Any) -> tuple[Any, Any]:
        """Meet what is known with what cells of the secret prove, for a ball."""
        if self.cells is None:
            if self.kind in _DIVERGENCES and self.all_secrets is None:
                raise NotYet(
                    "prior_set * mech",
                    missing=f"balls of a divergence on {self.set.on!r}",
                    instead="full_support, contamination, tv_ball, l1_ball and hull.",
                )
            return low, high
        least = self.cells.lower_expectations(self.set)
        found = self.cells.enclosed(least, kind, ys)
        return np.maximum(low, found[0]), np.minimum(high, np.maximum(found[1], found[0]))

    def _combined(self, kind: str, own: Any, ldp: Any) -> tuple[np.ndarray, np.ndarray]:
        """Combine enclosures of the centre's leakage and of the LDP ratio: arrays of ends."""
        if self.kind == "full_support":
            return ldp
        if self.kind == "hull" or self.size == 0:
            return own
        if self.kind in _DIVERGENCES:  # every member leaks at most as much as LDP allows
            return own[0], ldp[1]
        return _mixed(kind, own, ldp, self.set.size, moves=self.kind == "tv")

    def at(self, kind: str, y: Any) -> Bound:
        """Enclose the supremum over the set at one outcome."""
        from borel.figures.leakage import pmc, pml

        of = pml if kind == "pml" else pmc
        each = [of(j)(y) for j in self.joints]
        if self.kind == "hull":
            best = max(each, key=lambda b: (b.lower, b.upper))
            high = max(b.upper for b in each)
            if self.all_secrets is not None:
                each.append(self._ratio_at(self.all_secrets, y))
                high = each[-1].upper
            witness = {"y": y, "prior": self._of(best, each)}
            return self._make(best.lower, high, each, witness)
        ratio = self._ratio_at(self.joints[0], y)
        low, high = self._combined(
            kind,
            (np.array([each[0].lower]), np.array([each[0].upper])),
            (np.array([ratio.lower]), np.array([ratio.upper])),
        )
        if self.all_secrets is not None:
            each.append(self._ratio_at(self.all_secrets, y))
            high = np.array([each[-1].upper])
        low, high = self._by_cells(kind, np.array([float(y)]), low, high)
        return self._make(float(low[0]), float(high[0]), [*each, ratio], self._witness(kind, y))

    def _of(self, best: Bound, each: list[Bound]) -> Measure:
        return self.centres[each.index(best)]

    def _ratio_at(self, joint: Joint, y: Any) -> Bound:
        """Enclose the LDP ratio at one outcome: PML and PMC of one prior, added."""
        from borel.figures.leakage import pmc, pml

        first, second = pml(joint)(y), pmc(joint)(y)
        status = weakest([first.status, second.status])
        low = max(first.lower + second.lower, 0.0)
        low, high = np.nextafter(low, 0.0), np.nextafter(first.upper + second.upper, math.inf)
        notes = tuple(dict.fromkeys(first.assumptions + second.assumptions))
        return _bound(status, float(low), float(high), notes, first.reason or second.reason)

    def curve(self, kind: str, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, upper ends and the status at many outcomes."""
        from borel.figures.leakage import pmc, pml

        of = pml if kind == "pml" else pmc
        tables = [of(j)(y) for j in self.joints]
        low = np.max([t.lower.values for t in tables], axis=0)
        high = np.max([t.upper.values for t in tables], axis=0)
        statuses = [t.status.values for t in tables]
        if self.kind != "hull":
            both = [f(self.joints[0])(y) for f in (pml, pmc)]
            ratio = [
                np.maximum(both[0][e].values + both[1][e].values, 0.0) for e in ("lower", "upper")
            ]
            ratio = np.nextafter(ratio[0], 0.0), np.nextafter(ratio[1], np.inf)
            low, high = self._combined(kind, (low, high), ratio)
            if self.kind in ("tv", *_DIVERGENCES):
                low, high = self._by_cells(kind, np.asarray(y, float), low, high)
            statuses += [t.status.values for t in both]
        if self.all_secrets is not None:
            both = [f(self.all_secrets)(y) for f in (pml, pmc)]
            high = np.nextafter(both[0].upper.values + both[1].upper.values, np.inf)
            statuses += [t.status.values for t in both]
        status = np.array([weakest(found) for found in zip(*statuses, strict=True)], dtype=object)
        proved = "certified" if len(self.notes) == len(self.set.assumptions) else "conditional"
        status = np.where(np.isin(status, ("exact", "certified")), proved, status)
        open_ = np.isinf(high) & ~np.isinf(low) & np.isin(status, _PROVED)
        status = np.where(open_, "undecided", status)
        if self.set.confidence is not None:
            status = np.where(np.isin(status, _PROVED), "statistical", status)
        return low, high, status

    # -- over all outcomes --------------------------------------------------------------------

    def sup(self, kind: str) -> Bound:
        """Enclose the supremum over the set and the outcomes."""
        from borel.figures.leakage import pmc, pml
        from borel.figures.levels import ldp

        of = pml if kind == "pml" else pmc
        if self.kind == "full_support":
            ratio = ldp(self.joints[0])
            y = self._place(ratio)
            found = self._make(ratio.lower, ratio.upper, [ratio], self._witness(kind, y))
            return found if found.witness or found.reason else found.about(reason=_NAMELESS)
        with settings.part(1 if self.kind == "hull" else 2):
            each = settings.each(lambda j: of(j).sup(), self.joints)
        if self.kind == "hull":
            best = max(each, key=lambda b: (b.lower, b.upper))
            high = max(b.upper for b in each)
            if self.all_secrets is not None:
                each.append(ldp(self.all_secrets))
                high = each[-1].upper
            witness = {**(best.witness or {}), "prior": self._of(best, each)}
            return self._raised(kind, best.lower, high, each, witness)
        ratio = ldp(self.joints[0])
        own = np.array([each[0].lower]), np.array([each[0].upper])
        over = np.array([ratio.lower]), np.array([ratio.upper])
        # the two suprema may be at different outcomes: together they bound it from above, and the
        # centre (a member) and the outcomes found bound it from below
        high = float(self._combined(kind, own, over)[1][0])
        if self.all_secrets is not None:
            each.append(ldp(self.all_secrets))
            high = each[-1].upper
        low = float(each[0].lower)
        if math.isinf(low):
            return self._make(low, low, each, None)
        places = {self._place(b) for b in (each[0], ratio)} - {None}
        beside = [(self._beside(kind, y), y) for y in places]
        if isinstance(self.joint.outcome, Interval) and self.cells is not None:
            found = self.cells.over_outcomes(self.cells.lower_expectations(self.set), kind)
            high = min(high, found[1])
            beside += [(found[0], found[2])] * (found[2] is not None)
        best, y = max(beside, default=(low, None))
        y = y if best >= low and y is not None else self._place(each[0])
        witness = self._witness(kind, y)
        return self._raised(kind, max(low, best), high, [*each, ratio], witness)

    def _witness(self, kind: str, y: Any) -> dict | None:
        """Return an outcome, and about where the worst priors move mass to, if they do."""
        if y is None:
            return None
        witness: dict[str, Any] = {"y": y}
        engine = engine_for(self.joints[0]).of_secrets
        if engine is not None and self.kind != "hull":
            moves = self.kind == "full_support" or self.size > 0
            place = engine.extreme(np.array([float(y)]), -1.0 if kind == "pml" else 1.0).place[0]
            if moves and np.isfinite(place).all():
                witness["towards"] = place.tolist() if len(place) > 1 else float(place[0])
        return witness

    def _raised(
        self, kind: str, low: float, high: float, parts: list[Bound], witness: Any
    ) -> Bound:
        """Make the Bound of a supremum that is not below what is said at some outcomes.

        At the one that was found, and at the ends of the secrets, beside which many kernels have
        their largest leakage: figures of outcomes close by are as large.
        """
        engine = engine_for(self.joints[0])
        secret = engine.secret
        ends = () if secret is None or secret.dim > 1 else (*secret.lower, *secret.upper)
        for y in dict.fromkeys([(witness or {}).get("y"), *map(float, ends)]):
            if not isinstance(y, Real) or not continuous_at(engine, float(y)):
                continue
            there = self.at(kind, float(y))
            if there.proved and there.lower > low:
                low, parts, witness = there.lower, [*parts, there], there.witness
        return self._make(min(low, high), high, parts, witness)

    def _place(self, found: Bound) -> Any:
        """Return the outcome of a supremum, if it is one: an infinity may lie along a ray."""
        y = (found.witness or {}).get("y")
        return y if isinstance(y, Real) else None

    def _beside(self, kind: str, y: Any) -> float:
        """Bound the leakage from below on a box of outcomes of positive measure around y."""
        engine = engine_for(self.joints[0])
        bands = engine.bands
        if bands is None:
            countable = self.joint.outcome.kind == "countable"
            return self.at(kind, y).lower if countable else 0.0
        step = max(abs(float(y)), 1.0) * 2.0**-30
        line = engine.line
        low, high = max(float(y) - step, line.lower), min(float(y) + step, line.upper)
        if not low < high:
            return 0.0
        deadline, ends = settings.search_deadline(), []
        for of in (kind, "ldp"):
            found = bands.evaluate(of, np.array([low]), np.array([high]), 1e-10, deadline)
            if of == kind and not found.mass_low[0] > 0:
                return 0.0
            # bands are of the kernel as it is written
            least = max(float(found.lower[0]) - _ROOM - 2 * engine.slack, 0.0)
            ends.append((np.array([least]), np.array([math.inf])))
        return float(self._combined(kind, *ends)[0][0])

    def _make(self, low: float, high: float, parts: list[Bound], witness: Any) -> Bound:
        status = weakest([b.status for b in parts])
        reason = next((b.reason for b in parts if b.reason), "")
        notes = tuple(dict.fromkeys((*self.notes, *(a for b in parts for a in b.assumptions))))
        low = max(low, 0.0)
        if status == "undecided" and any(b.status == "estimate" for b in parts):
            low, high = 0.0, math.inf  # the ends of an estimate prove nothing
        elif status == "undecided" and (math.isfinite(high) or low == math.inf):
            status = "conditional" if any(b.status == "conditional" for b in parts) else "certified"
        if status in ("exact", "certified") and len(self.notes) > len(self.set.assumptions):
            status = "conditional"
        if status in ("exact", "certified", "conditional"):
            if math.isinf(high) and not math.isinf(low):
                status, reason = "undecided", reason or "no bound from above was found"
            elif self.set.confidence is not None:
                return Bound.statistical(
                    low,
                    high,
                    confidence=self.set.confidence,
                    truth_ends=("upper",),
                    assumptions=notes,
                    witness=witness,
                )
        made = _bound(status, low, high, notes, reason, witness)
        if made.reason or not made.proved or not made.width > _WIDE:
            return made
        return made.about(reason=_OPEN)

    def ldp(self) -> Bound:
        """Enclose the LDP level, of any prior that charges every secret."""
        from borel.figures.levels import ldp

        if self.all_secrets is not None:
            whole = ldp(self.all_secrets)
            if self.kind != "hull":
                return self._make(whole.lower, whole.upper, [whole], whole.witness)
            each = settings.each(ldp, self.joints)
            return self._make(max(b.lower for b in each), whole.upper, [*each, whole], None)
        found = ldp(self.joints[0])
        if len(self.notes) == len(self.set.assumptions):
            return found  # its support is the union of the supports
        made = self._make(found.lower, found.upper, [found], found.witness)
        return made if found.attained is None else made.about(attained=found.attained)


def _has_gaps(joint: Joint) -> bool:
    """Return whether the prior's density is seen to be 0 on a part of the secrets."""
    engine = engine_for(joint).of_secrets
    return engine is not None and engine.secret.gaps


def _reference(joint: Joint) -> Measure:
    """Return some prior that charges every set of secrets of positive measure."""
    from borel.figures.levels import full_support_prior

    # of the set's own secrets: a mechanism may have more
    return full_support_prior(joint.prior.on)


def _bound(
    status: str, low: float, high: float, notes: Any, reason: str, witness: Any = None
) -> Bound:
    about: dict[str, Any] = {"assumptions": tuple(notes), "witness": witness}
    status = "certified" if status == "exact" else status
    return Bound.of(status, low, high, reason=reason, **about)


def _mixed(
    kind: str, own: Any, ldp: Any, size: Any, *, moves: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Combine ends of the centre's leakage and of the LDP ratio L; both figures rise with both.

    In units of M (for PML, sign -1) or of m (for PMC, sign 1), the centre's mean is e^(sign leak),
    and what lies at the other end of the values is e^(sign L).
    """
    from borel.numerics.balls.arithmetic import ball, enclose

    sign = -1 if kind == "pml" else 1

    def mixture(leak: float, ratio: float) -> Any:
        mean = (1 - ball(size)) * _power(sign * leak) + ball(size) * _power(sign * ratio)
        return mean.log() * sign

    def moved(leak: float, ratio: float) -> Any:
        mean, far = _power(sign * leak), _power(sign * ratio)
        found = mean + ball(size) * (far - 1)
        return (found.max(far) if sign < 0 else found.min(far)).log() * sign

    def end(formula: Any, leak: float, ratio: float) -> tuple[float, float]:
        if math.isinf(leak) or (math.isinf(ratio) and (sign > 0 and size > 0)):
            return math.inf, math.inf
        return enclose(lambda: formula(leak, ratio))

    low, high = [], []
    for a, b, c, d in zip(own[0], own[1], ldp[0], ldp[1], strict=True):
        near = max(end(mixture, float(a), max(float(c), 0.0))[0], 0.0)
        far = end(moved if moves else mixture, float(b), max(float(d), 0.0))[1]
        low.append(near)
        high.append(max(far, near))
    return np.array(low), np.array(high)


def _power(exponent: float) -> Any:
    """Return e^exponent as a ball; 0 at -inf."""
    from borel.numerics.balls.arithmetic import ball

    return ball(0) if exponent == -math.inf else ball(exponent).exp()
