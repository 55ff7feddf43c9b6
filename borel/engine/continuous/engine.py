"""The certified engine: figures of a joint with a continuous secret or outcome, with proofs.

At outcomes, the leakage is the quotient of an essential supremum (`essential_supremum`) and an
integral (`marginal_integral`), both enclosed. Over continuous outcomes see `outcome_engine`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, wraps
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.countable.law_measures import LawMeasures
from borel.engine.countable.means_beyond_head import beyond
from borel.engine.kernels import marginal_integral
from borel.engine.kernels.essential_supremum import Extremes, extremes
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.engine.kernels.starting_points import guess
from borel.engine.problem import reduced_joint
from borel.engine.problem.binary_constants import rounded
from borel.engine.problem.kernel_normalisation import statement
from borel.engine.problem.secret_and_kernel import Secret, Surface, jumps_of, secret_of
from borel.errors import BudgetSpent, NotEnclosed
from borel.numerics.balls.arithmetic import log_ends
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import Enclosure
from borel.numerics.jets.elementary import logarithm
from borel.probability.alphabets import Finite, Integers, Interval, Mixed
from borel.probability.bound import Bound
from borel.probability.countable_law import Values
from borel.probability.generators import NAMED
from borel.probability.memo import Memo
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from borel.engine.kernels.ball_figures import ArbPoints
    from borel.numerics.intervals.batched import Box
    from borel.probability.generators import Generator
    from borel.probability.joint import Joint

Estimates = Callable[["Joint", str], Any]
_TOP, _BOTTOM = 1.0, -1.0
_WIDE = 1e-3
"""Information known no better than this, relative to it above 1, is estimated instead."""


def covering(figure: Any) -> Any:
    """Make a figure certified that is widened by how far the kernel may be from a law."""

    @wraps(figure)
    def covered(self: CertifiedEngine, *args: Any, **about: Any) -> Bound:
        found = figure(self, *args, **about)
        if found.status != self.status or found.status == self.status_covering:
            return found
        return Bound.of(
            self.status_covering,
            found.lower,
            found.upper,
            assumptions=found.assumptions,
            witness=found.witness,
            attained=found.attained,
            units=found.units,
        )

    return covered


class _Points(NamedTuple):
    """Outcomes on one sheet: the density, or the mass of an atom."""

    surface: Surface
    where: np.ndarray
    y: np.ndarray


class CertifiedEngine(LawMeasures):
    """Enclosures of the leakage of a traced kernel under a traced prior.

    Parameters
    ----------
    joint : Joint
        With densities; secrets of 1 to 5 dimensions, outcomes of 1.
    reduced : bool
        Whether a kernel of a sum of secrets, a step function or a clipped count is one of that.
    many : bool
        Whether to look at hundreds of counts one by one (`secret_of`).
    estimates : callable, optional
        Makes the engine of a joint that ``engine="auto"`` may ask for what is not certified.
    information : callable, optional
        Encloses the mutual information of a joint.

    Attributes
    ----------
    given : Joint
        The joint.
    joint : Joint
        The same, or one of a simpler secret (`reduced_joint`).
    slack : float
        Suprema of log f(y|x), log f_Y, and masses as factors, are widened by it.
    covers : bool
        Whether figures would be certified but for a slack of more than rounding. Those that cover
        it are (`covering`).

    Raises
    ------
    NotEnclosed
        A density that could not be traced, or something that intervals do not know.
    """

    def __init__(
        self,
        joint: Joint,
        *,
        reduced: bool = True,
        many: bool = False,
        estimates: Estimates | None = None,
        information: Callable[[Joint], Bound] | None = None,
    ):
        mechanism, outcome = joint.mechanism, joint.outcome
        self._estimates, self._information = estimates, information
        if mechanism.density is None:
            raise NotEnclosed("a matrix with a prior that is not finite has no density to enclose")
        if outcome.dim > 1 or not isinstance(outcome, (Interval, Mixed, Finite, Integers)):
            raise NotEnclosed(f"certified figures for outcomes on {outcome!r} are not there")
        if mechanism.density.graph is None:
            raise NotEnclosed(f"the kernel could not be traced ({mechanism.density.opaque})")
        normalised = statement(mechanism, joint.prior)
        self.given = self.joint = joint
        if reduced:
            simpler = (
                reduced_joint.on_a_line(joint)
                or reduced_joint.on_steps(joint)
                or reduced_joint.on_clipped_counts(joint)
            )
            self.joint = simpler or joint
        mechanism = self.joint.mechanism
        self.many = many
        self.secret = secret_of(self.joint.prior, jumps_of(mechanism), many)
        graphs = joint._memo.apart(("graphs", reduced), self._surfaces)  # the same in each figure
        self.surface, *of_atoms = (one.anew(self.secret) for one in graphs)
        self.at_atoms = dict(zip(mechanism.masses, of_atoms, strict=True))
        self.reason = ""
        conditions = list(self.secret.assumptions)
        self.slack = -math.log1p(-normalised.miss) * (1 + 1e-12)
        if not normalised.proved:
            conditions.append(f"kernel normalised: {normalised}")
        self.covers = normalised.status == "within" and len(conditions) == 1
        self.status = "conditional" if conditions else "certified"
        self.assumptions = (*conditions, *rounded(joint.mechanism.density, joint.prior.density))
        self._memo, self._at_outcomes = Memo(), Memo(most=65)

    def _surfaces(self) -> list[Surface]:
        """Return the kernel and then the masses of atoms, for `Surface.anew`: ask them nothing."""
        mechanism = self.joint.mechanism
        densities = mechanism.density, *mechanism.masses.values()
        return [Surface(one, self.secret) for one in densities]

    @property
    def status_covering(self) -> str:
        """The status of enclosures that are widened by the slack (`covering`)."""
        return "certified" if self.covers else self.status

    @cached_property
    def of_secrets(self) -> CertifiedEngine | None:
        """The engine with all secrets, where this one is about a sum; None for too many of them."""
        try:
            return self if self.joint is self.given else self._same_of(self.given, reduced=False)
        except NotEnclosed:
            return None

    def _same_of(self, joint: Joint, **about: Any) -> Any:
        """Return an engine like this one of another joint."""
        about |= {"estimates": self._estimates, "information": self._information}
        return type(self)(joint, **about)

    def ceiling(self, kind: str = "pml") -> float:
        """Bound PML by log 1 / p_min for finitely many secrets; of a single one nothing leaks."""
        weights = self.secret.weight_low
        endless = self.secret.continuous or bool(self.secret.rest)
        if endless or not len(weights) or not weights.min() > 0:
            return math.inf
        if len(weights) == 1:
            return 0.0
        if kind != "pml":
            return math.inf
        return -math.log(float(weights.min())) * (1 + 1e-14) + 1e-15

    # -- at outcomes ------------------------------------------------------------------------

    def _tolerance(self) -> float:
        return settings.current().tol / 8

    def deadline(self) -> float:
        """Return when a figure must be ready."""
        return settings.search_deadline()

    def _sheets(self, ys: np.ndarray) -> list[_Points]:
        """Group outcomes by the function that gives their density or mass."""
        atoms = np.isin(ys, list(self.at_atoms)) if self.at_atoms else np.zeros(len(ys), bool)
        out = []
        if not atoms.all():
            given = self.surface.as_given
            zero = ~atoms & (ys == 0) & (given is not self.surface)
            far = ~atoms & ~zero & self.surface.underflows(ys)
            near = ~atoms & ~zero & ~far
            for surface, on in ((self.surface, near), (self.surface.spread, far), (given, zero)):
                if surface is not None and on.any():
                    where = np.flatnonzero(on)
                    out.append(_Points(surface, where, ys[where]))
        for atom, surface in self.at_atoms.items():
            where = np.flatnonzero(ys == atom)
            if len(where):
                out.append(_Points(surface, where, ys[where]))
        return out

    def _remembered(self, key: tuple, compute: Any) -> Any:
        return self._at_outcomes.in_figure((*key, settings.current().tol), compute)

    def extreme(self, ys: np.ndarray, sign: float) -> Extremes:
        """Enclose ess sup (or inf) of log f(y|x) over the secret at outcomes."""

        def compute() -> Extremes:
            lower, upper = np.zeros(len(ys)), np.zeros(len(ys))
            place = np.zeros((len(ys), self.secret.dim))
            corner: list = []
            for sheet in self._sheets(ys):
                n = len(sheet.y)
                y = batched.point(sheet.y)
                found = self._extreme_by_arb(sheet, sign)
                if found is None:
                    found = extremes(
                        sheet.surface,
                        y,
                        n,
                        sign=sign,
                        tol=self._tolerance(),
                        seeds=self._seeds(sheet.y, sign),
                        deadline=self.deadline(),
                    )
                lower[sheet.where], upper[sheet.where] = found.lower, found.upper
                place[sheet.where] = found.place
                corner += [(int(sheet.where[k]), a, b) for k, a, b in found.corner]
            return Extremes(lower - self.slack, upper + self.slack, place, corner)

        return self._remembered(("extreme", sign, ys.tobytes()), compute)

    def _arb(self, sheet: _Points) -> ArbPoints | None:
        """Return Arb's kernels for a sheet, if they are the better ones for its outcomes."""
        from borel.engine.kernels.ball_figures import FEW, ArbPoints

        if len(sheet.y) > FEW and settings.current().tol >= 1e-11:
            return None

        def points() -> ArbPoints | None:
            try:
                return ArbPoints(sheet.surface)
            except NotEnclosed:
                return None

        return sheet.surface.memo.fact("points in balls", points)

    def _extreme_by_arb(self, sheet: _Points, sign: float) -> Extremes | None:
        arb = self._arb(sheet)
        if arb is None:
            return None
        tol = self._tolerance()
        found = [arb.extreme(float(y), sign, tol) for y in sheet.y]
        low, high, place = (np.array(v) for v in zip(*found, strict=True))
        with np.errstate(invalid="ignore"):
            tight = high - low <= 2 * tol + 1e-15 * np.abs(low)
        if not tight.all():
            return None  # an infinite end, or a form that suits intervals better
        return Extremes(low, high, place[:, None], [])

    def _marginal_by_arb(self, sheet: _Points, shift: np.ndarray) -> Box | None:
        arb = self._arb(sheet)
        if arb is None:
            return None
        rtol = self._tolerance()
        pairs = [
            arb.marginal(float(y), float(s), rtol) for y, s in zip(sheet.y, shift, strict=True)
        ]
        low, high = (np.array(v) for v in zip(*pairs, strict=True))
        return (low, high) if (high - low <= 2 * rtol * low).all() else None

    def _seeds(self, ys: np.ndarray, sign: float) -> np.ndarray | None:
        """Guess where the extreme is, for a secret of several dimensions in a bounded box."""
        secret = self.secret
        if secret.dim == 1 or not secret.continuous or len(ys) > 64:
            return None
        if not np.isfinite([secret.lower, secret.upper]).all():
            return None
        return np.array([guess(self.surface.graph, secret, sign, y=float(y)) for y in ys])

    def log_marginal_box(self, ys: np.ndarray) -> Box:
        """Enclose log f_Y at outcomes."""

        def compute() -> Box:
            low, high = np.full(len(ys), -np.inf), np.full(len(ys), np.inf)
            top = self.extreme(ys, _TOP)
            size = np.where(np.isfinite(top.upper), top.upper, top.lower)
            shift = np.where(np.isfinite(size), size, 0.0)
            for sheet in self._sheets(ys):
                at = Outcomes(sheet.y, sheet.y, sheet.y, 0, shift[sheet.where])
                total = self._marginal_by_arb(sheet, at.shift)
                if total is None:
                    model, _ = marginal_integral.marginal(
                        sheet.surface, at, rtol=self._tolerance(), deadline=self.deadline()
                    )
                    total = model.total()
                logs = logarithm((total[0][None], total[1][None]), 0)
                part = batched.add((logs[0][0], logs[1][0]), batched.point(at.shift))
                low[sheet.where], high[sheet.where] = batched.settled(part)
            off = self.secret.miss + self.slack
            return low - off, high + off

        return self._remembered(("marginal", ys.tobytes()), compute)

    @cached_property
    def line(self) -> Any:
        """The ends of the outcomes, for the search of rays."""
        outcome = self.joint.outcome
        ends = (
            (float(outcome.array.min()), float(outcome.array.max()))
            if isinstance(outcome, Finite)
            else (getattr(outcome, "lower", None), getattr(outcome, "upper", None))
        )
        lower, upper = (
            o if end is None else float(end)
            for end, o in zip(ends, (-math.inf, math.inf), strict=True)
        )
        return SimpleNamespace(lower=lower, upper=upper)

    def infinite_at(self, kind: str, y: float) -> Bound | None:
        """Prove an infinite leakage at an outcome, if it can be."""
        from borel.engine.infinite.proofs import prove_at

        return self.infinite_bound(prove_at(self, kind, y, y))

    def enclosed(self, kind: str, ys: np.ndarray) -> tuple[Box, np.ndarray]:
        """Enclose PML, PMC or the LDP ratio at outcomes; and which are outside the support."""
        top = self.extreme(ys, _TOP)
        dead = np.isneginf(top.upper)
        high: Box = (top.lower, top.upper)
        if kind == "ldp":
            bottom = self.extreme(ys, _BOTTOM)
            pair = high, (bottom.lower, bottom.upper)
        elif kind == "pml":
            pair = high, self.log_marginal_box(ys)
        else:
            bottom = self.extreme(ys, _BOTTOM)
            pair = self.log_marginal_box(ys), (bottom.lower, bottom.upper)
        with np.errstate(invalid="ignore"):
            low, upper = batched.settled(batched.subtract(*pair))
            # log 0 below: infinite if the density above is proved to be positive
            endless = np.isneginf(pair[1][1]) & (pair[0][0] > -np.inf)
            low = np.where(endless, np.inf, low)
            upper = np.where(endless, np.inf, upper)
        # an outcome not proved to have positive density may be outside the support: 0
        possible = np.isneginf(top.lower)
        low = np.where(dead | possible, 0.0, np.maximum(low, 0.0))
        upper = np.where(dead, 0.0, np.maximum(upper, 0.0))
        return (low, upper), dead

    def values_at(self, kind: str, y: Any) -> Values:
        """Enclose PML or PMC at outcomes, with their masses (densities)."""
        ys = np.atleast_1d(np.asarray(y, float)).ravel()
        (low, high), dead = self.enclosed(kind, ys)
        mass = self.log_marginal_box(ys)
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = batched.exp((low, high))
            p = batched.exp(mass)
        p = np.where(dead, 0.0, p[0]), np.where(dead, 0.0, p[1])
        return Values(low, high, ratio[0], ratio[1], p[0], p[1], dead)

    def log_marginal(self, y: Any) -> np.ndarray:
        """Return log f_Y(y) in float64, for plots and posteriors."""
        low, high = self.log_marginal_box(np.asarray(y, float).ravel())
        with np.errstate(invalid="ignore"):
            middle = np.where(np.isfinite(low), low + (high - low) / 2, high)
        return middle.reshape(np.shape(y))

    def information_density_at(self, x: Any, y: Any) -> Enclosure:
        """Enclose log f(y|x) / f_Y(y) at equally shaped labels."""
        ys = np.asarray(y, float)
        xs = [np.asarray(c, float) for c in (x if isinstance(x, tuple) else (x,))]
        shape = np.broadcast_shapes(ys.shape, *(c.shape for c in xs))
        flat = np.broadcast_to(ys, shape).ravel()
        points = [np.broadcast_to(c, shape).ravel() for c in xs]
        low, high = np.zeros(len(flat)), np.zeros(len(flat))
        for sheet in self._sheets(flat):
            kernel = self._of_all(sheet)
            jets = [batched.point(c[sheet.where][None]) for c in points]
            named = kernel.inputs(jets, batched.point(sheet.y[None]))
            found = batched.settled(kernel.log.run(named, 0).jet)
            low[sheet.where] = found[0][0] - self.slack
            high[sheet.where] = found[1][0] + self.slack
        marginal = self.log_marginal_box(flat)
        with np.errstate(invalid="ignore"):
            gap = batched.settled(batched.subtract((low, high), marginal))
        outside = np.isneginf(marginal[1])
        low = np.where(outside, 0.0, gap[0])
        high = np.where(outside, 0.0, gap[1])
        return Enclosure(low.reshape(shape), high.reshape(shape))

    def _of_all(self, sheet: _Points) -> Surface:
        """Return the kernel of a sheet as one of the secrets that were given."""
        if self.given is self.joint:
            return sheet.surface
        mechanism, none = self.given.mechanism, np.zeros(0)
        density: Any = mechanism.masses.get(float(sheet.y[0]), mechanism.density)
        dim = self.given.prior.on.dim
        names = ("x",) if dim == 1 else tuple(f"x{j}" for j in range(dim))
        whole = Surface(density, Secret(names, none, none))
        far = sheet.surface is self.surface.spread
        return (whole.spread or whole) if far else whole

    @covering
    def maximal_leakage(self) -> Bound:
        """Enclose log E e^PML."""
        mean = self.exp_mean("pml")
        if math.isinf(mean.lower):
            return mean.about(units="nats")
        low, high = log_ends(mean.lower, mean.upper)
        return self.bound(max(low, 0.0), max(high, 0.0))

    def _ldp(self) -> Bound:
        """Enclose the local differential privacy level by the outcomes of a head."""
        ys, whole = self.head_of_outcomes()
        (low, high), _ = self.enclosed("ldp", np.asarray(ys, float))
        return self.bound(float(low.max()), float(high.max()) if whole else math.inf)

    @property
    def may_estimate(self) -> bool:
        """Whether an estimate may stand in for what is not certified."""
        return self._estimates is not None and settings.current().engine == "auto"

    @cached_property
    def estimates(self) -> Any:
        """The engine for what is not certified in this version, if it may be asked."""
        assert self._estimates is not None
        return self._estimates(self.joint, "this measure is not certified on continuous alphabets")

    def mutual_information(self) -> Bound:
        """Enclose, or estimate, the mutual information."""
        if (found := self.enclosed_information()) is not None:
            return found
        if not self.may_estimate:
            raise self.not_yet("mutual_information")
        return self.estimates.mutual_information()

    def enclosed_information(self) -> Bound | None:
        """Enclose the mutual information; None where that is wide and an estimate may stand in."""
        if self._information is None:
            return None
        with suppress(NotEnclosed, BudgetSpent), settings.part(4):
            found = self._information(self.given)
            if self.good_enough(found.lower, found.upper) or not self.may_estimate:
                return found
        return None

    @staticmethod
    def good_enough(low: float, high: float) -> bool:
        """Return whether an enclosure of information is preferred to an estimate."""
        return high < math.inf and high - low <= _WIDE * max(1.0, high)

    def f_information(self, f: Generator) -> Bound:
        """Estimate an f-information, where an estimate may stand in; enclose that of t log t."""
        if f is NAMED["kl"]:
            return self.mutual_information()
        if not self.may_estimate:
            raise self.not_yet("f_information")
        return self.estimates.f_information(f)

    # -- laws over finite and countable outcomes ----------------------------------------------

    @property
    def in_logs(self) -> CertifiedEngine:
        """The engine that computes with logarithms of densities: this one."""
        return self

    @cached_property
    def _heads(self) -> dict[str, int]:
        return {"count": 64}

    def head_of_outcomes(self) -> tuple[Any, bool]:
        """Return the outcomes of the law, and whether they are all."""
        outcome = self.joint.outcome
        if outcome.kind == "finite":
            return outcome.array, True
        return head_of(outcome, self._heads["count"]), False

    def law(self, kind: str) -> Values:
        """Enclose the leakage at the outcomes of a head, and the mass left over."""

        def compute() -> Values:
            while True:
                ys, whole = self.head_of_outcomes()
                values = self.with_infinities(kind, ys, self.values_at(kind, ys))
                if whole:
                    return values
                left = max(0.0, 1.0 - float(values.mass_lower.sum()) * (1 - 1e-13) + 1e-15)
                # the sum of ess sup_x f(y|x), which is E e^PML, bounds that of f_Y
                left = min(left, beyond(self, "pml", "exp", np.asarray(ys)))
                tol, loose = settings.current().tol, values.mass_upper - values.mass_lower
                # more outcomes tell little where most of what is left is how far these are enclosed
                enough = left <= max(tol * 1e-3, 2 * min(float(loose.sum()), tol))
                if enough or self._heads["count"] >= 4096:
                    return Values(**{**values.__dict__, "leftover": left})
                self._heads["count"] *= 4

        return self._remembered(("law", kind), compute)
