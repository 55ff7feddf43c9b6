"""The estimate engine: quadrature and maximisation in log-space, with error estimates, no proof.

At an outcome y: the essential supremum and infimum of log f(y|x) over the support of the prior
(multi-start maximisation, one-sided limits at ends and breaks), and log f_Y(y) (adaptive
quadrature split at the maximisers). Atoms of the prior are added point by point.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel import settings
from borel.engine.countable.law_measures import LawMeasures
from borel.engine.estimates.secret_points import SecretPoints
from borel.engine.estimates.zeros import FAR, overflown, zero_at, zero_everywhere
from borel.engine.finite.law_engine import LOST, OUTSIDE
from borel.errors import BudgetSpent, NotYet
from borel.numerics.float64.maximisation import maximise
from borel.numerics.float64.quadrature import log_integral
from borel.numerics.intervals.rounding import NORMAL, Enclosure
from borel.probability.bound import Bound
from borel.probability.countable_law import Values
from borel.probability.memo import Memo
from borel.probability.normalisation import head_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.probability.generators import Generator
    from borel.probability.joint import Joint

_EPS = 2.0**-52
_BLOCKS = (1 << 16, 256, 32, 4)  # outcomes at first, for secrets of so many dimensions
BRINK = math.log(NORMAL) + 30
"""Log-densities below this are so near to underflow that a zero beside them is one."""
REASON = "quadrature and maximisation in float64: an estimate, not a proof"


class Pieces(NamedTuple):
    """log sup, log inf and log marginal at outcomes, with error estimates (nats).

    A supremum of -inf with an error is a density that is proved to be 0; with an error of NaN, one
    that float64 lost.
    """

    top: np.ndarray
    top_error: np.ndarray
    bottom: np.ndarray
    bottom_error: np.ndarray
    marginal: np.ndarray
    marginal_error: np.ndarray

    @property
    def outside(self) -> np.ndarray:
        """The outcomes proved to be outside the support."""
        return (self.top == -np.inf) & ~np.isnan(self.top_error)

    @property
    def lost(self) -> np.ndarray:
        """The outcomes at which float64 holds no density for any secret."""
        return (self.top == -np.inf) & np.isnan(self.top_error)

    def leakage(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Return PML, PMC or the LDP ratio at the outcomes, with error estimates.

        An error of inf is a leakage that looks infinite, one of NaN a failure to evaluate.
        """
        first, first_error, second, second_error = {
            "pml": (self.top, self.top_error, self.marginal, self.marginal_error),
            "pmc": (self.marginal, self.marginal_error, self.bottom, self.bottom_error),
            "ldp": (self.top, self.top_error, self.bottom, self.bottom_error),
        }[kind]
        with np.errstate(invalid="ignore"):
            value = first - second
            # the difference of two large logarithms keeps only what their last bits hold
            cancelled = 4 * _EPS * (1 + np.abs(first) + np.abs(second))
            error = first_error + second_error + cancelled
        dead = self.outside
        failed = np.isnan(first_error + second_error) | np.isnan(value)
        error = np.where(dead, 0.0, np.where(np.isinf(value), np.inf, error))
        # a divergence is >= 0: what lies below is error
        value = np.where(dead | failed, 0.0, np.maximum(value, 0.0))
        return value, np.where(failed & ~dead, np.nan, error)


def _blocks(n: int, dim: int) -> Iterator[slice]:
    """Yield blocks of n outcomes until the deadline, larger ones while they take little time."""
    deadline, start, size = settings.deadline(), 0, _BLOCKS[dim]
    while start < max(n, 1):
        begun = settings.now()
        if start and settings.late(deadline):
            return
        yield slice(start, min(start + size, n))
        start += size
        if settings.now() - begun < settings.current().budget / 8:
            size *= 2


class Pointwise(SecretPoints):
    """Pieces of the leakage at outcomes, for any prior: a density, atoms, or both."""

    def __init__(self, joint: Joint):
        super().__init__(joint)
        self._memo = Memo(most=65)

    def pieces(self, ys: Any) -> Pieces:
        """Return the pieces at outcomes ys, an array (n,) or a tuple of arrays."""
        key = tuple(c.tobytes() for c in ys) if isinstance(ys, tuple) else ys.tobytes()
        whole = True

        def compute() -> Pieces:
            nonlocal whole
            found, whole = self._in_blocks(ys)
            return found

        return self._memo.fact(key, compute, cut_short=lambda: not whole)

    def _in_blocks(self, ys: Any) -> tuple[Pieces, bool]:
        """Return the pieces, and whether all outcomes were evaluated before the deadline."""
        n = len(ys[0]) if isinstance(ys, tuple) else len(ys)
        parts = []
        for part in _blocks(n, len(self.axes)):
            try:
                parts.append(self._compute(self._take(ys, part)))
            except BudgetSpent:
                if not parts:
                    raise
                break
        rest = n - sum(len(p.top) for p in parts)
        if rest:
            unknown, failed = np.zeros(rest), np.full(rest, np.nan)
            nothing = np.full(rest, -np.inf)
            parts.append(Pieces(unknown, failed, unknown, failed, nothing, failed))
        return Pieces(*(np.concatenate(v) for v in zip(*parts, strict=True))), not rest

    def _compute(self, ys: Any) -> Pieces:
        n = len(ys[0]) if isinstance(ys, tuple) else len(ys)
        top = np.full(n, -np.inf)
        bottom = np.full(n, np.inf)
        marginal = np.full(n, -np.inf)
        errors = np.zeros((3, n))
        if self.axes:
            density = self.prior.density

            def kernel(i: np.ndarray, x: tuple) -> np.ndarray:
                return self.log_kernel(self._take(ys, i), self._x(x))

            def minus(i: np.ndarray, x: tuple) -> np.ndarray:
                return -kernel(i, x)

            def supported(sign: float):
                def masked(i: np.ndarray, x: tuple) -> np.ndarray:
                    values = sign * kernel(i, x)
                    return np.where(density.resolved(self._x(x)) > -np.inf, values, -np.inf)

                return masked

            def weighted(i: np.ndarray, x: tuple) -> np.ndarray:
                with np.errstate(invalid="ignore"):
                    value = kernel(i, x) + density.resolved(self._x(x))
                # 0 * inf at a single point: a null set
                return np.where(np.isnan(value), -np.inf, value)

            high = maximise(supported(1.0), n, self.axes)
            low = maximise(supported(-1.0), n, self.axes)
            top = np.where(high.diverges, np.inf, high.value)
            bottom = np.where(low.diverges, -np.inf, -low.value)
            errors[0], errors[1] = high.error, low.error
            start = maximise(weighted, n, self.axes, rounds=1)
            # in a plane the kernel may be largest along a ridge that leaves the prior's mass
            points = start.candidates
            if len(self.axes) == 1:
                points = np.concatenate([high.candidates, points], axis=1)
            lost = high.undefined | low.undefined
            rtol = min(1e-10, settings.current().tol) if len(self.axes) == 1 else 1e-8
            # a log-density of size L is known to eps L only: asking for more is asking for noise
            known = 64 * _EPS * np.abs(np.where(np.isfinite(top), top, 0.0))
            level = np.ceil(np.log10(np.clip(known / rtol, 1.0, 1e8))).astype(int)
            for step in np.unique(level):
                mine = np.flatnonzero(level == step)

                def part(i: np.ndarray, x: tuple, mine: np.ndarray = mine) -> np.ndarray:
                    return weighted(mine[i], x)

                total = log_integral(
                    part, len(mine), self.axes, points=points[mine], rtol=rtol * 10.0**step
                )
                marginal[mine], errors[2, mine] = total.log_value, total.relative_error
                lost[mine] |= total.undefined | (total.relative_error > 0.1)
            # f_Y lies between the extremes of f: where float64 says otherwise, it has failed
            with np.errstate(invalid="ignore"):
                slack = 1e-6 + 1e-12 * np.where(np.isfinite(top), np.abs(top), 0.0)
                lost |= ~(marginal <= top + slack) | ~(marginal >= bottom - slack)
            errors[:, lost] = np.nan
            if density.underflows:
                # where it is 0 in float64 the prior may have mass: extremes of the kernel there
                everywhere = maximise(kernel, n, self.axes), maximise(minus, n, self.axes)
                found = (high, low), everywhere
                for own, (masked, free) in enumerate(zip(*found, strict=True)):
                    errors[own, free.value > masked.value + masked.error + 1e-9] = np.nan
                errors[2] += _underflow(everywhere[0].value, marginal)
        if self.atoms is not None:
            top, bottom, marginal = self._with_atoms(ys, n, top, bottom, marginal)
        if self.mechanism.density.underflows:
            none = bottom == -np.inf
            errors[2] += np.where(none, _underflow(0.0, marginal), 0.0)
            # a zero beside values that nearly underflow is one of them
            errors[1, none & (marginal < BRINK)] = np.nan
        errors[2, errors[2] > 0.1] = np.nan
        far = np.flatnonzero((bottom == -np.inf) & (top > -np.inf) & (marginal < FAR))
        if far.size:
            where = low.argument[far] if self.axes else None
            errors[:, far[overflown(self, self._take(ys, far), where)]] = np.nan
        zero = np.flatnonzero(top == -np.inf)
        if zero.size:
            errors[:, zero[~zero_everywhere(self, self._take(ys, zero))]] = np.nan
        return Pieces(top, errors[0], bottom, errors[1], marginal, errors[2])

    def _with_atoms(self, ys: Any, n: int, top: np.ndarray, bottom: np.ndarray, marginal: Any):
        charged = self.atom_mass > 0
        points = (
            tuple(c[charged] for c in self.atoms)
            if isinstance(self.atoms, tuple)
            else (self.atoms[charged])
        )
        log_mass = np.log(self.atom_mass[charged])
        block = max(1, 1_000_000 // max(1, len(log_mass)))
        out = top.copy(), bottom.copy(), marginal.copy()
        for start in range(0, n, block):
            i = np.arange(start, min(start + block, n))
            values = self.log_kernel(
                tuple(c[i][:, None] for c in ys) if isinstance(ys, tuple) else ys[i][:, None],
                points,
            )
            out[0][i] = np.maximum(out[0][i], values.max(axis=1))
            out[1][i] = np.minimum(out[1][i], values.min(axis=1))
            with np.errstate(invalid="ignore"):
                sums = np.logaddexp.reduce(values + log_mass, axis=1)
                out[2][i] = np.logaddexp(out[2][i], sums)
        return out

    def divergence(self, ys: np.ndarray, log_phi: Any = None) -> np.ndarray:
        """Return log of an f-divergence of P_{X|Y=y} from P_X at outcomes.

        With i = log f(y|x) / f_Y(y): the mean under the prior of phi(e^i) >= 0, whose logarithm is
        given as a function of i; of e^i i - e^i + 1, for relative entropy, if it is not.
        """
        log_phi = log_phi or _log_phi
        n = len(ys)
        if not n:
            return np.zeros(0)
        marginal = self.pieces(ys).marginal
        total = np.full(n, -np.inf)
        if self.axes:
            density = self.prior.density

            def integrand(i: np.ndarray, x: tuple) -> np.ndarray:
                gap = self.log_kernel(self._take(ys, i), self._x(x)) - marginal[i]
                with np.errstate(invalid="ignore"):
                    out = density.logarithm(self._x(x)) + log_phi(gap)
                return np.where(np.isnan(out), -np.inf, out)

            total = np.full(n, np.nan)  # unknown, where there is no time
            for block in _blocks(n, len(self.axes)):
                mine = np.arange(n)[block]

                def part(i: np.ndarray, x: tuple, mine: np.ndarray = mine) -> np.ndarray:
                    return integrand(mine[i], x)

                with suppress(BudgetSpent):
                    total[mine] = log_integral(part, len(mine), self.axes, rtol=1e-9).log_value
        if self.atoms is not None:
            charged = self.atom_mass > 0
            points = self.atoms[charged]  # type: ignore[index]
            gap = self.log_kernel(ys[:, None], points) - marginal[:, None]
            sums = np.logaddexp.reduce(log_phi(gap) + np.log(self.atom_mass[charged]), axis=1)
            total = np.logaddexp(total, sums)
        return total


def _underflow(factor: Any, marginal: np.ndarray) -> np.ndarray:
    """Return what densities too small for float64, times e^factor, may add to f_Y, relatively."""
    with np.errstate(invalid="ignore"):
        found = np.exp(np.minimum(np.log(NORMAL) + factor - marginal, 100.0))
    return np.where(np.isfinite(marginal), found, 0.0)


def _log_phi(i: np.ndarray) -> np.ndarray:
    """Return log(e^i i - e^i + 1), stably: i**2 / 2 near 0, 0 at -inf, i + log i at large i."""
    with np.errstate(all="ignore"):
        small = i * i * (0.5 + i * (1 / 3 + i * (1 / 8 + i * (1 / 30 + i / 144))))
        middle = i * np.exp(np.minimum(i, 30.0)) - np.expm1(np.minimum(i, 30.0))
        out = np.log(np.where(np.abs(i) < 1e-2, small, middle))
        out = np.where(i > 30, i + np.log(np.maximum(i - 1, 1e-9)), out)
    return np.where(i == -np.inf, 0.0, out)


def log_phi_of(f: Generator) -> Any:
    """Return i -> log phi(e^i) for a generator, in float64."""
    if f.name == "kl" and f.graph is None:
        return _log_phi
    with np.errstate(all="ignore"):
        around = f.at(np.array([1 - 1e-6, 1 + 1e-6]))
    # any slope between the two one-sided ones at 1 makes phi non-negative
    slope = float(around[1] - around[0]) / 2e-6 if not f.named else 0.0

    def log_phi(i: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            t = np.exp(i)
            values = np.where(t > 0, f.at(np.where(t > 0, t, 1.0)) - slope * (t - 1), 0.0)
            zero = f.at_zero if f.at_zero is not None else float(f.at(np.zeros(1))[0])
            values = np.where(t > 0, values, float(zero) + (0.0 if f.named else slope))
            return np.log(np.maximum(values, 0.0))

    return log_phi


class EstimateEngine(LawMeasures):
    """Figures of a joint with a continuous secret or outcome, all of them estimates.

    Parameters
    ----------
    joint : Joint
        With densities; secrets of 1 to 3 dimensions.
    why : str
        Why nothing is certified, if that was tried.
    """

    status = "estimate"

    def __init__(self, joint: Joint, why: str = ""):
        self.given = self.joint = joint
        if joint.mechanism.density is None:
            raise NotYet("the estimate engine", missing="a matrix with a prior that is not finite")
        opaque = joint.mechanism.opaque or (joint.prior.density and joint.prior.density.opaque)
        why = f"opaque density: {opaque}" if opaque else f"not certified: {why}" if why else ""
        self.reason = REASON + (f" ({why})" if why else "")
        self.assumptions = (f"kernel normalised: {joint.mechanism.normalisation}",)
        self.point = Pointwise(joint)
        self._memo = Memo()

    def _points(self, y: Any) -> Any:
        if isinstance(y, tuple):
            return tuple(np.atleast_1d(np.asarray(c, float)) for c in y)
        return np.atleast_1d(np.asarray(y, float)).ravel()

    def values_at(self, kind: str, y: Any) -> Values:
        """Estimate PML or PMC at outcomes, with their masses, as value -/+ error."""
        pieces = self.point.pieces(self._points(y))
        low, high, _ = self._ends(kind, pieces)
        with np.errstate(invalid="ignore", over="ignore"):
            mass = np.exp(pieces.marginal)
            error = np.nan_to_num(pieces.marginal_error, nan=1.0) + 4 * _EPS
            slack = np.where(pieces.lost, NORMAL, mass * np.minimum(error, 1.0))
            ratio = np.exp(low), np.exp(high)
        ends = np.maximum(mass - slack, 0.0), mass + slack
        return Values(low, high, *ratio, *ends, pieces.outside)

    @staticmethod
    def _ends(kind: str, pieces: Pieces) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value -/+ error at outcomes, and where it is known; 0 outside the support."""
        value, error = pieces.leakage(kind)
        known = np.isfinite(error)
        with np.errstate(invalid="ignore"):
            low, high = value - error, value + error
        return np.where(known, low, 0.0), np.where(known, high, np.inf), known

    def _infinite(self, kind: str, seen: float, where: str) -> Bound:
        cause = "the density grows" if kind == "pml" else "it is 0 in float64 for some secrets"
        if kind != "pml" and self.joint.mechanism.density.underflows:
            cause += ", which its logarithm, log=True, need not be"
        return Bound.undecided(
            reason=f"it looks infinite {where} ({cause}; largest value seen {seen:.4g}), and only "
            "the certified engine can prove an infinity",
            assumptions=self.assumptions,
        )

    def _estimate(self, value: float, error: float, **about: Any) -> Bound:
        about = {"assumptions": self.assumptions, "reason": self.reason, **about}
        return Bound.estimate(value, error, **about)

    def at(self, kind: str, y: Any) -> Bound:
        """Estimate the leakage at one outcome."""
        pieces = self.point.pieces(self._points(y))
        if pieces.outside[0]:
            return Bound.certified(0.0, 0.0, assumptions=(*self.assumptions, OUTSIDE))
        value, error = (float(a[0]) for a in pieces.leakage(kind))
        if math.isnan(error):
            return Bound.undecided(reason=self._why(pieces, y), assumptions=self.assumptions)
        if math.isinf(error):
            return self._infinite(kind, value, f"at y = {y!r}")
        return self._estimate(value, error)

    def _why(self, pieces: Pieces, y: Any) -> str:
        """Say why nothing is known at an outcome."""
        if pieces.lost[0]:
            return LOST.format(where=f"at y = {y!r} for every secret")
        return (
            f"quadrature or maximisation failed at y = {y!r}: NaN, or float64 lost the density "
            "there; return its logarithm (log=True), kept finite by np.logaddexp"
        )

    def head_of_outcomes(self) -> tuple[Any, bool]:
        """Return the outcomes of the law, and whether they are all."""
        outcome = self.joint.outcome
        if outcome.kind == "finite":
            return outcome.array, True
        return head_of(outcome, 512), False

    def law(self, kind: str) -> Values:
        """Estimate the leakage at every outcome of the head."""

        def compute() -> Values:
            ys, whole = self.head_of_outcomes()
            values = self.values_at(kind, ys)
            if whole:
                return values
            return replace(values, leftover=max(0.0, 1.0 - float(values.mass_lower.sum())))

        return self._memo.fact(("law", kind), compute)

    def f_information(self, f: Generator) -> Bound:
        """Estimate the mean over Y of an f-divergence of the posterior from the prior."""
        ys, whole = self.head_of_outcomes()
        points = self._points(ys)
        marginal = np.exp(self.point.pieces(points).marginal)
        found = np.exp(self.point.divergence(points, log_phi_of(f)))
        found = np.where(marginal > 0, found, 0.0)
        total = float(np.sum(marginal * found))
        left = 0.0 if whole else max(0.0, 1.0 - float(marginal.sum()))
        # beyond the head a divergence may go on growing as slowly as a logarithm
        error = 1e-9 * (1 + abs(total)) + 2 * left * float(np.max(found, initial=1.0))
        about: dict[str, Any] = {"units": f.units, "assumptions": self.assumptions}
        if not np.isfinite(total):
            return Bound.undecided(reason=f"it looks infinite; {self.reason}", **about)
        return Bound.estimate(total, error, reason=self.reason, **about)

    def log_marginal(self, y: Any) -> np.ndarray:
        """Return log f_Y(y)."""
        points = self._points(y)
        shape = np.shape(y[0] if isinstance(y, tuple) else y)
        return self.point.pieces(points).marginal.reshape(shape)

    def information_density_at(self, x: Any, y: Any) -> Enclosure:
        """Estimate i(x;y) at equally shaped labels, as value -/+ error."""
        ys = np.asarray(y, float) if not isinstance(y, tuple) else y
        flat = self._points(y)
        pieces = self.point.pieces(flat)
        kernel = self.point.log_kernel(ys, np.asarray(x, float) if not isinstance(x, tuple) else x)
        marginal = pieces.marginal.reshape(np.shape(kernel))
        error = pieces.marginal_error.reshape(np.shape(kernel))
        with np.errstate(invalid="ignore"):
            value = kernel - marginal
            error = error + 4 * _EPS * (1 + np.abs(kernel) + np.abs(marginal))
            low, high = value - error, value + error
        # a density of 0 in float64 may be one, or an underflow: then nothing is known
        lost = ~np.isfinite(value) | ~np.isfinite(error)
        zero = lost & np.isfinite(marginal) & zero_at(self.point, ys, x)
        high = np.where(lost, np.inf, high)
        return Enclosure(np.where(lost, -np.inf, low), np.where(zero, -np.inf, high))
