"""Enclosures of PML and PMC for every draw of a prior with a density, or on integers.

The extremes of the kernel over the secrets depend on the null sets of the prior alone, which all
draws share: their densities are positive almost everywhere on one interval, beside which they
charge the same atoms, or they have mass at every integer, or at the same labels. They are those of
one law there. f_Y of all draws is one product of matrices (`kernel_integrals`). Over outcomes,
boxes are cut that may hold the supremum of some draw.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.countable.infinity_proofs import prove_countable
from borel.engine.countable.means_beyond_head import _by_steps, steps
from borel.engine.draws.count_masses import (
    CountMasses,
    PointMasses,
    require_everywhere,
    typical,
)
from borel.engine.draws.density_cells import DensityCells, line_of, positive_densities
from borel.engine.draws.far_integrals import far_leakage, finite_for_numbers
from borel.engine.draws.information import OutcomeInformation, at_points, widened
from borel.engine.draws.kernel_integrals import integrals, marginals
from borel.engine.draws.line_laws import LineLaws
from borel.engine.draws.narrow_draws import groups_of, some_of
from borel.engine.draws.outcome_boxes import OutcomeBoxes
from borel.engine.draws.outcome_laws import OutcomeLaw, far_means
from borel.engine.draws.outcome_lines import Lines
from borel.engine.draws.parts import PerDraw
from borel.engine.infinite.proofs import prove_at
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.engine.kernels.tail_entropy import largest_mean
from borel.engine.problem.binary_constants import rounded
from borel.engine.problem.secret_and_kernel import Secret, Surface, jumps_of, log_graph
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import precision
from borel.numerics.germs.values import BITS, UndecidedRule
from borel.numerics.intervals import batched
from borel.numerics.jets.elementary import logarithm
from borel.probability.alphabets import Interval, Mixed
from borel.probability.families import normal, uniform
from borel.probability.joint import Joint
from borel.probability.measure import Measure, pmf
from borel.probability.memo import Memo
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from borel.engine.continuous.engine import CertifiedEngine
    from borel.numerics.intervals.batched import Box
    from borel.probability.bound import Bound

Draws = DensityCells | CountMasses


class _Block(NamedTuple):
    """Some draws that share their cells, which are None where they are not enclosed."""

    key: tuple[int, int]
    rows: np.ndarray
    cells: Draws | None

    @property
    def size(self) -> int:
        return len(self.rows)


_HEAD, _LONGEST, _LITTLE = 64, 4096, 1e-9
"""How many outcomes of countably many are looked at one by one, and the mass that is left then."""
_PROOFS = 128
"""Outcomes at which an infinity is proved one by one, at most."""
WIDTH = 1e-6
"""Width, in nats, at which a supremum is not looked at more closely, whatever the tolerance."""
_OPEN = "no bound from above was found for some of the draws within the budget"


class EnclosedDraws(LineLaws):
    """Figures for every draw of a prior with a traced density, of a family on integers, or finite.

    Nothing here is an estimate: what is not enclosed has infinite ends.

    Raises
    ------
    NotEnclosed
        Something that is not traced, or that intervals do not know; draws that are not seen to
        have the same null sets.
    """

    def __init__(self, joint: Joint, certified: Callable[[Joint], CertifiedEngine]):
        self.joint, self.mechanism = joint, joint.mechanism
        prior, mechanism = joint.prior, joint.mechanism
        if mechanism.density is None:
            raise NotEnclosed("a matrix with a prior that is not finite has no density to enclose")
        if mechanism.density.graph is None:
            raise NotEnclosed(f"the kernel could not be traced ({mechanism.density.opaque})")
        first = next(iter(prior.blocks()))[1]
        charged = charged_by(first)
        self._charged: Any = None if charged is None else charged[0]
        for _, block in prior.blocks():  # what is said of all draws at once is said of these too
            self._require_null_sets(block)
        law = self._law(prior, first)
        # of the secrets themselves: the draws have their own laws of a function of them
        self.shared: Any = certified(Joint(law, mechanism)).of_secrets
        if self.shared is None:
            raise NotEnclosed("a kernel of these secrets")
        # all that is said here is widened by the slack, as the extremes of the kernel are
        self.status, self.reason = self.shared.status_covering, ""
        own = rounded(mechanism.density, prior._template.density)
        kept = [a for a in self.shared.assumptions if not a.startswith("numbers mean")]
        self.assumptions = (*kept, *own)
        self._enclosed_blocks: list[list[_Block]] = []
        self._add(first, [(np.arange(first.batch[0]), self._enclose(first))])
        self._laws = Memo(most=4)  # they are large
        self._supports = Memo()

    def _require_null_sets(self, priors: Measure) -> None:
        charged = charged_by(priors)
        if charged is not None and (charged != self._charged).any():
            raise NotEnclosed("the draws do not all charge the same secrets")
        if line_of(priors.on) is not None:
            positive_densities(priors)
        elif charged is None:
            require_everywhere(priors)

    def _law(self, prior: Any, first: Measure) -> Measure:
        """Return a law under which a kernel has the extremes that it has under all draws."""
        if (line := line_of(prior.on)) is not None:
            return _of_interval(line, prior.on, [] if self._continuous else self._atoms)
        if self._charged is None:  # of the family of the draws, with mass at every integer
            return prior.one(typical(first))
        each = Fraction(1, int(self._charged.sum()))
        return pmf([each if c else Fraction(0) for c in self._charged], on=prior.on)

    @cached_property
    def _continuous(self) -> bool:
        """Whether the kernel is seen to be at an atom what it tends to beside that."""
        kernels = self.mechanism.density, *self.mechanism.masses.values()
        return all(finite_for_numbers(log_graph(kernel)) for kernel in kernels)

    @property
    def _atoms(self) -> list[float]:
        """The points of an interval that all draws charge."""
        atoms = getattr(self.joint.prior.on, "atoms", ())
        return [a for a, c in zip(atoms, self._charged, strict=True) if c] if atoms else []

    def _enclose(self, priors: Measure) -> Draws:
        if line_of(priors.on) is not None:
            return DensityCells(priors, jumps_of(self.mechanism), self._atoms)
        if self._charged is not None:
            return PointMasses(priors, self._charged)
        return CountMasses(priors)

    def support(self, kind: str) -> Any:
        """Return the kernel and the support of all draws: what proofs of infinities may read.

        PMC is infinite if it is without the atoms, which add to f_Y: they are left out where the
        kernel is continuous.
        """
        bare = kind == "pmc" and bool(self._atoms) and self._continuous
        return self._supports.fact(bare, lambda: self._support([] if bare else self._atoms))

    def _support(self, points: list[float]) -> Any:
        on, shared = line_of(self.joint.prior.on), self.shared
        if on is None:  # a proof reads which integers have mass, and no more
            return shared
        ends = np.array([on.lower], float), np.array([on.upper], float)
        secret = Secret(("x",), *ends, jumps_of(self.mechanism))
        atoms = np.array(points, float)
        # of each draw a number between these
        secret.atoms, secret.weight_high = atoms[:, None], np.ones(len(atoms))
        secret.weight_low = np.full(len(atoms), 2.0**-1074)
        return SimpleNamespace(
            joint=shared.joint,
            given=shared.joint,
            bands=None,
            secret=secret,
            surface=Surface(self.mechanism.density, secret),
            line=shared.line,
            at_atoms={a: Surface(m, secret) for a, m in self.mechanism.masses.items()},
            atoms=np.array([*self.mechanism.masses], float),
            log_marginal_graph=None,
        )

    def _add(self, priors: Measure, found: list[tuple[np.ndarray, Draws | None]]) -> None:
        """Keep a block of draws: in groups of their own cells, if they are too narrow for one."""
        cells = found[0][1]
        if isinstance(cells, DensityCells) and cells.rough.any() and cells.size > 1:
            groups = groups_of(priors)
            if len(groups) > 1:
                found = [(rows, self._try(some_of(priors, rows))) for rows in groups]
        k = len(self._enclosed_blocks)
        start = sum(part.size for block in self._enclosed_blocks for part in block)
        parts = [_Block((k, g), rows + start, one) for g, (rows, one) in enumerate(found)]
        self._enclosed_blocks.append(parts)

    def _try(self, priors: Measure) -> Draws | None:
        try:
            return self._enclose(priors)
        except NotEnclosed:
            return None

    def blocks(self) -> Iterator[_Block]:
        """Yield the draws, some of the same cells at a time."""
        for k, (_, priors) in enumerate(self.joint.prior.blocks()):
            if len(self._enclosed_blocks) <= k:
                with settings.apart():  # they outlive the figure that needs them first
                    self._add(priors, [(np.arange(priors.batch[0]), self._try(priors))])
            yield from self._enclosed_blocks[k]

    def over_draws(self, compute: Callable[[_Block], tuple]) -> Any:
        """Return what is computed of some draws at a time, in the order of all of them."""
        rows, found = [], []
        for block in self.blocks():
            rows.append(block.rows)
            found.append(compute(block))
        order = np.argsort(np.concatenate(rows))
        return tuple(np.concatenate(parts)[order] for parts in zip(*found, strict=True))

    def over_blocks(self, compute: Callable[[Draws], tuple], shape: tuple = ()) -> Any:
        """Return what is computed of the cells of each block; nothing is known without cells."""

        def known(block: _Block) -> tuple:
            if block.cells is None:
                size = (block.size, *shape)
                return np.zeros(size), np.full(size, np.inf)
            return compute(block.cells)

        return self.over_draws(known)

    def _enclosed(self, ends: tuple[np.ndarray, np.ndarray]) -> PerDraw:
        open_ = np.isinf(ends[1]) & np.isfinite(ends[0])
        return PerDraw(*ends, status=self.status, reason=_OPEN if open_.any() else "")

    # -- at outcomes ------------------------------------------------------------------------

    def at(self, kind: str, y: Any) -> PerDraw:
        """Enclose the leakage at one outcome for every draw."""
        low, high = (v[:, 0] for v in self.at_many(kind, np.array([float(y)])))
        if np.isinf(high).any() and self._infinite_at(kind, float(y)):
            low = high = np.full(len(low), np.inf)
        return self._enclosed((low, high))

    def at_many(self, kind: str, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the leakage at outcomes for every draw, shape (draws, outcomes) each."""
        ys = np.asarray(ys, float)
        return self.over_blocks(self._at_points(kind, ys), (len(ys),))

    def _at_points(self, kind: str, ys: np.ndarray) -> Callable[[Draws], tuple]:
        """Return what encloses the leakage at outcomes for the draws of a block."""
        top = self.shared.extreme(ys, 1.0)
        size = np.where(np.isfinite(top.upper), top.upper, top.lower)
        shift = np.where(np.isfinite(size), size, 0.0)
        extreme = top if kind == "pml" else self.shared.extreme(ys, -1.0)
        own = extreme.lower, extreme.upper
        dead, possible = np.isneginf(top.upper), np.isneginf(top.lower)

        def compute(cells: Draws) -> tuple[np.ndarray, np.ndarray]:
            logs = self.log_marginals(cells, ys, shift)
            pair = (own, logs) if kind == "pml" else (logs, own)
            with np.errstate(invalid="ignore"):
                low, high = batched.settled(batched.subtract(*pair))
                endless = np.isneginf(pair[1][1]) & (pair[0][0] > -np.inf)
            low, high = np.where(endless, np.inf, low), np.where(endless, np.inf, high)
            low = np.where(dead | possible, 0.0, np.maximum(low, 0.0))
            return low, np.where(dead, 0.0, np.maximum(high, 0.0))

        return compute

    def log_marginals(self, cells: Draws, ys: np.ndarray, shift: np.ndarray) -> Box:
        """Enclose log f_Y at outcomes for the draws of a block."""
        shape = cells.size, len(ys)
        low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
        for sheet in self.shared._sheets(ys):
            where = sheet.where
            at = Outcomes(sheet.y, sheet.y, sheet.y, 0, shift[where])
            value = marginals(cells, integrals(sheet.surface, at, cells))
            value = np.maximum(value[0], 0.0), value[1]
            logs = logarithm(value, 0)
            part = batched.add((logs[0][0], logs[1][0]), batched.point(shift[where]))
            part = batched.subtract(part, cells.log_total)
            low[:, where], high[:, where] = batched.settled(part)
        return low - self.shared.slack, high + self.shared.slack

    # -- over outcomes ----------------------------------------------------------------------

    def lines(self, part: _Block, kind: str) -> Lines:
        """Return the law of the leakage for the draws of a block: it has a budget of its own."""
        now = settings.current()
        key = kind, part.key, now.tol, now.budget
        return self._laws.apart(key, lambda: self._lines(part, kind))

    def _lines(self, part: _Block, kind: str) -> Lines:
        cells, outcome = part.cells, self.joint.outcome
        if cells is None:
            none = np.zeros((part.size, 1))
            return Lines.flat(0.0, math.inf, none, none + 1.0)
        if outcome.kind == "finite":
            return self._points(kind, outcome.array.astype(float), cells)
        if outcome.kind == "countable":
            return self._counts(kind, cells)
        law = (
            OutcomeInformation(self.shared, self.support("pml"))
            if kind == "information"
            else OutcomeLaw(self.shared, self.support(kind), kind)
        )
        if not len(self.shared.atoms):
            return law.lines(cells)
        atoms = self._points(kind, self.shared.atoms, cells)
        return Lines.joined([atoms, law.lines(cells, atoms.mass_low.sum(axis=1) * (1 - 1e-13))])

    def _counts(self, kind: str, cells: Draws) -> Lines:
        """Return a head of countably many outcomes, and those beyond it together."""
        count, outcome = _HEAD, self.joint.outcome
        while True:
            ys = np.asarray(head_of(outcome, count), float)
            head = self._points(kind, ys, cells)
            left = 1.0 - head.mass_low.sum(axis=1) * (1 - (len(ys) + 8) * 2.0**-52) + 2.0**-50
            enough = left[~cells.lost].max(initial=0.0) <= _LITTLE
            if enough or count >= _LONGEST or settings.spent():
                break
            count *= 4
        name = "pml" if kind == "information" else kind
        low, high = self._beyond(name, ys, cells)
        low = low if kind == name else np.zeros_like(low)
        left = np.clip(left, 0.0, 1.0)[:, None]
        mean, power = (self._mean_beyond(name, what, ys) for what in ("mean", "exp"))
        if math.isinf(mean) and name == "pml":
            mean = sum(
                far_means(self.shared, cells, *side, left[:, 0], counts=True)
                for side, end in (
                    ((float(ys.max()), math.inf), outcome.upper),
                    ((-math.inf, float(ys.min())), outcome.lower),
                )
                if end is None
            )
            mean = (mean * (1 + 2 * self.shared.slack) + 3 * self.shared.slack)[:, None]
        rest = Lines.flat(low[:, None], high[:, None], 0 * left, left, (0.0, mean), power)
        return Lines.joined([head, rest])

    def _mean_beyond(self, kind: str, what: str, ys: np.ndarray) -> float:
        """Bound what outcomes beyond a head add to a mean, by the kernel alone."""
        outcome, total = self.joint.outcome, 0.0
        for end, last, side in ((outcome.upper, ys.max(), 1.0), (outcome.lower, ys.min(), -1.0)):
            if end is None:
                part = math.inf
                with suppress(UndecidedRule), precision(BITS):
                    found = steps(self.shared.surface.graph, self.shared.secret, float(last), side)
                    part = _by_steps(self.shared, kind, what, float(last), found)
                total += part
        return total * (1 + 2.0**-50)

    def _beyond(self, kind: str, ys: np.ndarray, cells: Draws) -> Box:
        """Enclose the leakage at all outcomes beyond a head of countably many, together."""
        outcome: Any = self.joint.outcome
        rest = [] if outcome.upper is not None else [(float(ys.max()) + 1, math.inf)]
        rest += [] if outcome.lower is not None else [(-math.inf, float(ys.min()) - 1)]
        found = [far_leakage(self.shared.surface, kind, *ends, cells) for ends in rest]
        off = 2 * self.shared.slack
        low, high = (np.array(v) for v in zip(*found, strict=True))
        return np.maximum(low.min(axis=0) - off, 0.0), high.max(axis=0) + off

    def _over_counts(self, kind: str) -> PerDraw:
        """Enclose the supremum over countably many outcomes, or prove that it is infinite."""
        head = np.asarray(head_of(self.joint.outcome, 4 * _HEAD), float)

        def compute(cells: Draws) -> tuple[np.ndarray, np.ndarray]:
            found = self._points(kind, head, cells)
            high = np.maximum(found.high_at.max(axis=1), self._beyond(kind, head, cells)[1])
            return found.low_at.max(axis=1), high

        low, high = self.over_blocks(compute)
        if (np.isinf(high) & ~np.isinf(low)).any() and prove_countable(
            self.support(kind), kind
        ) is not None:
            low = high = np.full(len(low), np.inf)
        return self._enclosed((low, high))

    def _points(self, kind: str, ys: np.ndarray, cells: Draws) -> Lines:
        """Return outcomes that have mass."""
        top = self.shared.extreme(ys, 1.0)
        shift = np.where(np.isfinite(top.upper), top.upper, 0.0)
        mass = batched.exp(self.log_marginals(cells, ys, shift))
        most = largest_mean(np.minimum(mass[1], 1.0), top.upper + 2 * self.shared.slack)
        if kind == "information":
            mean = np.zeros((cells.size, len(ys))), np.zeros((cells.size, len(ys)))
            for sheet in self.shared._sheets(ys):
                found = at_points(sheet.surface, sheet.y, shift[sheet.where], cells)
                found = widened(*found, self.shared.slack)
                # without a bound of the kernel it may exceed 1
                lost = np.isposinf(top.upper[sheet.where])
                found = np.where(lost, 0.0, found[0]), np.where(lost, np.inf, found[1])
                mean[0][:, sheet.where], mean[1][:, sheet.where] = found
            mean = mean[0], np.fmin(mean[1], most)
            return Lines.flat(0.0, math.inf, mass[0], np.minimum(mass[1], 1.0), mean)
        low, high = self._at_points(kind, ys)(cells)
        for k in np.flatnonzero(np.isinf(high).any(axis=0) & ~np.isinf(low).all(axis=0))[:_PROOFS]:
            if not self._infinite_at(kind, float(ys[k])):
                break
            low[:, k] = high[:, k] = np.inf
        mean = (0.0, most) if kind == "pml" else (0.0, math.inf)
        return Lines.flat(low, high, mass[0], np.minimum(mass[1], 1.0), mean)

    def _infinite_at(self, kind: str, y: float) -> bool:
        """Return whether the leakage of every draw is proved to be infinite at an outcome."""
        return prove_at(self.support(kind), kind, y, y) is not None

    def mutual_information(self) -> PerDraw:
        """Enclose the mutual information for every draw."""
        return super().mean("information")

    def exp_mean(self, kind: str) -> PerDraw:
        """Enclose the mean of e^leakage for every draw: of PML it depends on the kernel alone."""
        shared = self.of_support("maximal_leakage") if kind == "pml" else None
        if shared is None or shared.status not in ("certified", "conditional"):
            return super().exp_mean(kind)
        none = np.zeros((1, self.joint.prior.size))
        low, high = batched.exp((none + shared.lower, none + shared.upper))
        return PerDraw(low[0], high[0], "ratio", 1.0, status=shared.status)

    def sup(self, kind: str) -> PerDraw:
        """Enclose the supremum over the outcomes for every draw, or prove that it is infinite."""
        outcome = self.joint.outcome
        if outcome.kind == "finite":
            found = [self.at(kind, y) for y in outcome.array.astype(float)]
            low = np.max([one.lower for one in found], axis=0)
            high = np.max([one.upper for one in found], axis=0)
            return self._enclosed((low, high))
        if outcome.kind == "countable":
            return self._over_counts(kind)
        tol = max(settings.current().tol, WIDTH)
        search = OutcomeBoxes(self.shared, self.support(kind), kind, tol)
        low, high = self.over_blocks(search.supremum)
        off = 2 * self.shared.slack  # boxes are of the kernel as it is written
        low, high = np.maximum(low - off, 0.0), high + off
        if len(self.shared.atoms):
            more = self.at_many(kind, self.shared.atoms)
            low, high = (
                np.maximum(a, b.max(axis=1)) for a, b in zip((low, high), more, strict=True)
            )
        return self._enclosed((low, high))

    # -- what depends on the kernel and the support alone -----------------------------------

    def of_support(self, name: str) -> Bound | None:
        """Return a figure of the kernel and the support alone, the same for all draws."""
        return self.shared.figure(name) if name in ("ldp", "maximal_leakage") else None

    def ldp(self) -> PerDraw:
        """Enclose the LDP level, which is the same for all draws."""
        return self._same(self.shared.ldp())

    def maximal_leakage(self) -> PerDraw:
        """Enclose maximal leakage, which is the same for all draws."""
        return self._same(self.shared.maximal_leakage())

    def _same(self, bound: Bound) -> PerDraw:
        low, high = (np.full(self.joint.prior.size, v) for v in (bound.lower, bound.upper))
        return PerDraw(low, high, status=bound.status, reason=bound.reason)


def charged_by(priors: Measure) -> np.ndarray | None:
    """Return which labels, or atoms, each of some draws charges; None if there are none."""
    if priors.on.kind == "finite":
        return np.asarray(priors.probabilities) > 0  # a Fraction may be 0 as a float
    if not priors.masses:
        return None
    masses = [np.broadcast_to(priors.masses[a], priors.batch) for a in priors.on.atoms]  # type: ignore[attr-defined]
    return np.stack(masses, axis=-1) > 0


def _of_interval(line: Interval, on: Interval | Mixed, atoms: list[float]) -> Measure:
    """Return a law whose null sets are those of Lebesgue's measure on an interval, and atoms."""
    low, high = float(line.lower), float(line.upper)
    if math.isfinite(low) and math.isfinite(high):
        out = uniform(line)
    elif math.isinf(low) and math.isinf(high):
        out = normal()
    else:
        out = Measure(
            (lambda x: low - x) if math.isinf(high) else (lambda x: x - high),
            line,
            log=True,
            _check=False,
        )
    if isinstance(on, Interval):
        return out
    masses = {a: 0.5 / len(atoms) if a in atoms else 0.0 for a in on.atoms}
    share = math.log(2) if atoms else 0.0
    return Measure(lambda x: out._logpdf(x) - share, on, log=True, masses=masses, _check=False)
