"""What engines of sets of priors are asked: suprema over the members."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

from borel import settings
from borel.engine.problem.engine import Figures
from borel.errors import NotEnclosed, NotYet
from borel.numerics.intervals.rounding import log_fraction
from borel.probability.bound import Bound, largest, weakest
from borel.probability.joint import Joint

_OPEN = "neither the supremum of the leakage nor maximal leakage bounds it"
DRAWN = "every secret was drawn, so that the true prior charges all of them"


class SetEngine(Figures[Bound]):
    """An engine of suprema over a set of priors.

    Attributes
    ----------
    set : PriorSet
        The set.
    """

    joint: Joint
    set: Any
    engine_of_one: Any = None
    """What gives the engine of a joint of one prior; whoever makes this one says so."""

    @property
    def charge_together(self) -> bool:
        """Whether as close as one likes to any member others charge all the sure secrets."""
        return self.set.convex or self.set.name == "family"

    def not_yet(self, name: str) -> NotYet:
        """Return the error that says that a measure has no supremum over the set here."""
        return NotYet(
            f"bl.{name} over a set of priors",
            missing="its supremum over the members",
            instead="bl.pml, bl.pmc, bl.ldp, bl.lip, bl.maximal_leakage, bl.mutual_information, "
            "or one prior at a time.",
        )

    def lip(self) -> Bound:
        """Enclose the larger of the suprema of PML and PMC."""
        return self.set.largest(settings.each(self.sup, ("pmc", "pml")))

    def tail_leakage(self, kind: str, delta: Fraction) -> Bound:
        r"""Enclose the largest tail leakage of the members by other figures, and by some members.

        Notes
        -----
        Under one prior :math:`\log V(\delta)` is at most PML's supremum, and for PML at most
        :math:`\log(1 + (e^{L} - 1) / \delta)` with L maximal leakage (docs/tail_leakage.md,
        Theorem 4): so are the suprema over the set. `_by_centres` has more.
        """
        of_members, notes = [], self._charging()
        centres = [] if notes is None else self._by_centres(kind, delta)
        for prior in self._members():
            with suppress(NotYet, NotEnclosed):
                of_members.append((self._one(prior, kind, delta), prior))
        ceilings = [(b, notes or ()) for b in centres] or [(self.sup(kind), ())]
        if kind == "pml":
            with suppress(NotYet):
                whole = self.maximal_leakage()
                share = max(float(delta) * (1 - 2.0**-52), 2.0**-1000)  # of a smaller one: no bound
                high = math.log1p(math.expm1(min(whole.upper, 300.0)) / share) * (1 + 2.0**-48)
                high = high if whole.upper <= 300 and share < delta else math.inf
                ceilings.append((whole.within(0.0, high), ()))
        proved = [pair for pair in ceilings if pair[0].proved or pair[0].status == "statistical"]
        upper, more = min(proved, key=lambda pair: pair[0].upper, default=(None, ()))
        known = [pair for pair in of_members if pair[0].proved]
        best, prior = max(known, key=lambda pair: pair[0].lower, default=(None, None))
        used = [b for b in (best, upper) if b is not None]
        about: dict[str, Any] = {
            "assumptions": (*more, *(note for b in used for note in b.assumptions)),
            "witness": None if prior is None else {"prior": prior},
        }
        about["assumptions"] = tuple(dict.fromkeys(about["assumptions"]))
        low = 0.0 if best is None else best.lower
        high = math.inf if upper is None else max(upper.upper, low)
        if math.isinf(high) and not math.isinf(low):
            return Bound.undecided(low, reason=ceilings[0][0].reason or _OPEN, **about)
        assumed = not set(more) <= set(self.set.assumptions)
        status = weakest([b.status for b in used] + ["conditional"] * assumed)
        return self.set.bound(
            low, high, status="certified" if status == "exact" else status, **about
        )

    def _one(self, prior: Any, kind: str, delta: Fraction) -> Bound:
        joint = Joint(prior, self.joint.mechanism)
        return self.engine_of_one(joint).figure("tail_leakage", kind, delta)

    def _members(self) -> list[Any]:
        """Return some members of the set, which prove lower ends, if the kernel is the joint's."""
        return []

    def _charging(self) -> tuple[str, ...] | None:
        """Return on what it rests that centres charge every secret; None if they may not."""
        return None

    def _by_centres(self, kind: str, delta: Fraction) -> list[Bound]:
        r"""Bound it by the tail leakage of priors that charge what every member does.

        Notes
        -----
        In a hull it is largest at the corners (Theorem 7). With
        :math:`\delta V(P) = \max\{T \cdot W : P_Y \cdot W \le \delta\}` over shares W, and T
        of all members: :math:`Q_Y \cdot W \ge P_Y \cdot W - r` for Q within r of P in total
        variation, so that :math:`\delta V(Q) \le (\delta + r) V_P(\delta + r)`; and
        :math:`Q_Y \cdot W \ge (1 - w) P_Y \cdot W` for contamination, with
        :math:`\delta / (1 - w)` in place of it. For PMC, :math:`\delta U` is what the shares of
        the other :math:`1 - \delta` leave of a sum: at least :math:`\delta' U_P(\delta')`, where
        :math:`\delta' = \delta - r`, or :math:`(\delta - w) / (1 - w)`.
        """
        if self.set.corners:
            return [largest([self._one(c, kind, delta) for c in self.set.corners])]
        out = [self.sup(kind)]
        if getattr(self.set, "kind", "") not in ("tv", "contamination"):
            return out
        size = Fraction(self.set.size)
        level = delta + size if kind == "pml" else delta - size
        if self.set.kind == "contamination" and size < 1:
            level = (delta if kind == "pml" else delta - size) / (1 - size)
        if 0 < level < 1:
            with suppress(NotYet, NotEnclosed):
                found = self._one(self.set.centre, kind, level)
                move = log_fraction(level / delta)[1 if kind == "pml" else 0]
                move = move if kind == "pml" else -move
                high = found.upper + move
                out.append(found.within(0.0, high + 2.0**-48 * (1 + abs(high) + abs(move))))
        return [min((b for b in out if b.proved), key=lambda b: b.upper, default=out[0])]
