r"""What noise on the mean or sum of n entries tells about one of them, the others integrated out.

Entries D are independent with one law on [c, d]. In units of the sum the outcome is
T = D + S + noise, S the sum of the other m = n - 1 entries; the noise has the scale nb, and with
:math:`h(t) = E\,k(t - S)`, k the noise's density, f(t|x) is h(t - x). Facts used, with proofs:

1. *Laplace, a = 1/(nb).* :math:`e^{-a|x - x'|} \le h(t - x) / h(t - x') \le e^{a|x - x'|}`, by the
   triangle inequality for every value of S; equality for t >= nd and, the other way round, t <= nc,
   where the factor :math:`e^{\pm a x}` leaves the expectation.
2. *Supremum of PMC.* Where the infimum over x is taken or approached at x*, e^PMC is at most
   :math:`E e^{a|D - x^*|}`, which is convex in x* and so at most its larger value at c and d. By 1.
   it is that for t >= nd (x* = c) or t <= nc (x* = d): outcomes of positive probability. This is
   (13) and (14) of the paper without its monotony in y, for other entries of any law.
3. *Supremum of PML.* Likewise e^-PML is at least :math:`\varphi(x^*) = E e^{-a|D - x^*|}`, x* in
   the support, which at d and c is taken for t >= nd and t <= nc. Where phi is smallest at an end
   the supremum is the larger of these two values: for a log-concave law, as phi is a convolution
   of log-concave functions; and where phi is concave, :math:`\varphi'' = a^2 \varphi - 2 a f \le 0`
   for a density f >= a/2.
4. Nothing here depends on n but through nb: outside [nc, nd] an entry of n leaks as one alone with
   noise of scale nb. Of laws without a closed form that single entry is asked, and 3. leaves the
   supremum of PML between its limits outside and the supremum of that single entry.
5. *Gaussian.* f(t|x) / f(t|c) >= exp(t (x - c)/s^2 - C) with a constant C, s the deviation in units
   of the sum: as t grows it passes every bound for x > c, so that PMC does; and
   :math:`E f(t|D) / f(t|d)` tends to at most :math:`e^C P(D = d)`, 0 for a law without atoms. Of
   finitely many labels E f(t|D) / f(t|d) tends to P(D = d) for the largest label d, and on the
   other side for the smallest: sup PML is at least minus the logarithm of either, and, as
   E f(t|D) >= P(D = d) f(t|d), at most that of the least probability.
6. *Between the ends.* h from the Fourier coefficients of the law: `borel.databases.sum_series`. If
   the law is log-concave so is h (Prekopa), and its infimum over [t - d, t - c] is at an end; of a
   symmetric law its supremum is at the point nearest to the middle of S. Other extremes are
   searched for by cells, with bounds that the curvature of log h gives.

Tested in ``tests/test_mean_entries.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from borel.databases.sum_series import DEEPEST, SumSeries, UnitLaw
from borel.errors import InvalidInput, NotYet
from borel.figures.leakage import pmc, pml
from borel.figures.levels import ldp
from borel.mechanisms.closed_forms import JOURNAL, family_of, figure, infinite
from borel.mechanisms.independent_entries import chance
from borel.mechanisms.noise import gaussian, laplace
from borel.numerics.balls.arithmetic import ball, enclose, ends, precision
from borel.numerics.intervals.rounding import fraction_down, fraction_up
from borel.probability.alphabets import Interval, Reals
from borel.probability.bound import Bound, weakest
from borel.probability.closed_forms import ClosedForms
from borel.probability.density import Density
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.mechanisms.noisy_means import NoisyMean
    from borel.probability.joint import Joint
    from borel.probability.measure import Measure

PRECISION = 200
SIX = f"{JOURNAL}, Example 6"
SEVEN = f"{JOURNAL}, Example 7, on n entries"
_SERIES = "the Fourier series of the noisy sum, its remainder bounded; log-concavity of the entries"


def require_numbers(prior: Measure) -> None:
    """Refuse entries whose mean is not one of numbers in a bounded interval."""
    on = prior.on
    bounded = isinstance(on, Interval) and math.isfinite(on.lower) and math.isfinite(on.upper)
    if not bounded and not (on.kind == "finite" and on.numeric and on.dim == 1):
        raise InvalidInput(
            "iid(prior, n) * mech",
            expected="entries that are numbers, for their mean or sum",
            got=repr(on),
        )


def mean_kernel(prior: Measure, query: NoisyMean) -> Mechanism:
    """Return the kernel of one entry for noise on the mean or the sum, with its closed forms."""
    laplacian = query.noise == "laplace"
    law = unit_law(prior)
    if query.n == 1:
        if not laplacian:
            return gaussian(sigma=query.scale, secret=prior.on)
        out = laplace(b=query.scale, secret=prior.on)
        if law is not None and not law.uniform:
            out.closed_forms = MeanForms(query, prior)
        return out
    out = Mechanism(None, secret=prior.on, outcome=Reals(), name=f"one entry of {query.name}")
    why = "the other entries are integrated out in closed forms only"
    spaces = {"y": out.outcome, "x": prior.on}
    about = query.noise, query.n, query.scale, query.unit  # a study's key reads them
    out.density = Density(partial(_no_density, about), spaces, log=True, opaque=why)
    out.normalisation = Normalisation.by("a mean of kernels that integrate to 1")
    out.closed_forms = MeanForms(query, prior)
    return out


def _no_density(about: tuple, y: Any, x: Any) -> Any:
    raise NotYet(
        "one entry of a noisy mean",
        missing="its density, the other entries integrated out",
        instead="the suprema of PML and PMC, bl.ldp, and the leakage at an outcome outside the "
        "range of the mean; inside it for uniform entries, beta ones with both parameters >= 1 "
        "and, for Laplace noise, Beta(1/2, 1/2).",
    )


def unit_law(prior: Measure) -> UnitLaw | None:
    """Return the law of an entry where it is uniform on an interval, or beta; else None."""
    name, values = family_of(prior)
    on = prior.on
    if not isinstance(on, Interval):
        return None
    lower = Fraction(on.lower)
    if name == "uniform":
        return UnitLaw(1.0, 1.0, lower, Fraction(on.upper) - lower)
    if name == "beta" and (on.lower, on.upper) == (0, 1):
        return UnitLaw(values["alpha"], values["beta"], Fraction(0), Fraction(1))
    return None


@dataclass(frozen=True)
class MeanForms(ClosedForms):
    """What noise on the mean or the sum of n entries leaks about one of them.

    Of an entry with the law of the others, ``prior``: of another law they say nothing. Proofs: see
    the top of `borel.databases.entry_means`.
    """

    query: NoisyMean
    prior: Measure

    @cached_property
    def law(self) -> UnitLaw | None:
        """The law of an entry, where it is a uniform or a beta one."""
        return unit_law(self.prior)

    @property
    def _laplace(self) -> bool:
        return self.query.noise == "laplace"

    # -- at outcomes ----------------------------------------------------------------------------

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome."""
        if joint.prior != self.prior:
            return None
        query, law = self.query, self.law
        total = Fraction(float(y)) * query.unit
        low, high = _ends(joint.prior)
        if self._laplace and not query.n * low < total < query.n * high:
            return self._outside(joint, kind, right=total >= query.n * high)
        if law is None or query.n == 1:
            return None
        if not (law.log_concave or (law.arcsine and self._laplace)):
            return None
        t, scale = (total - query.n * law.lower) / law.width, query.sum_scale / law.width
        series = SumSeries(law, query.n, not self._laplace, scale)
        found = series.log_means(t, "max" if kind == "pml" else "min")
        known = not self._laplace or kind == "pmc" or self._at_ends  # else the engine would search
        top = self.sup(joint, kind) if known else self.ldp(joint)
        assert top is not None
        if found is None:
            reason = f"its density may be below e^-{DEEPEST:g}, or its series has too many terms."
            return Bound.undecided(0.0, top.upper, reason=reason)
        own, given = found
        with precision(PRECISION):
            value = given - own if kind == "pml" else own - given
        least, most = ends(value)
        return Bound.certified(
            min(max(least, 0.0), top.upper),
            max(min(most, top.upper), 0.0),
            assumptions=(_SERIES,),
        )

    def _outside(self, joint: Joint, kind: str, *, right: bool) -> Bound:
        """Return the leakage at every outcome beyond one end, for Laplace noise."""
        law = self.law
        if law is None:
            low, high = _ends(joint.prior)
            reach = high - low
            beyond = fraction_up(high + reach) if right else fraction_down(low - reach)
            return self._alone(joint, lambda one: (pml if kind == "pml" else pmc)(one)(beyond))
        rate = law.width / self.query.sum_scale

        def value() -> Any:
            level = (law.above if right else law.below)(ball(rate)).log()
            return -level if kind == "pml" else ball(rate) + level

        return figure(value, SIX)

    def _alone(self, joint: Joint, ask: Callable[[Joint], Bound]) -> Bound:
        """Bound a figure that grows as the noise shrinks, of one entry with noise of scale nb."""
        scale = self.query.sum_scale
        wide, narrow = fraction_up(scale), fraction_down(scale)
        found = ask(joint.prior * laplace(b=wide, secret=joint.prior.on))
        if wide == narrow:
            return found.about(witness=None)
        other = ask(joint.prior * laplace(b=narrow, secret=joint.prior.on))
        return spanned(found, other)

    # -- suprema --------------------------------------------------------------------------------

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum over the outcomes."""
        if joint.prior != self.prior:
            return None
        if not self._laplace:
            if isinstance(joint.prior.on, Interval) or kind == "pmc":
                return infinite(SEVEN, attained=False) if _several(joint.prior) else None
            return self._atoms(joint.prior) if self.query.n > 1 else None
        sides = [self._outside(joint, kind, right=side) for side in (True, False)]
        best = max(sides, key=lambda b: (b.lower, b.upper))
        low, high = best.lower, max(b.upper for b in sides)
        if self.law is not None and (kind == "pmc" or self._at_ends):
            return Bound.exact(low, high, assumptions=(f"closed form: {SIX}",), attained=True)
        if kind == "pml" and self.query.n == 1:
            return None
        whole = self._alone(joint, lambda one: (pml if kind == "pml" else pmc)(one).sup())
        if kind == "pmc":
            return whole
        return spanned(best, whole)

    def _atoms(self, prior: Measure) -> Bound:
        """Bound the supremum of PML for Gaussian noise on entries of a finite alphabet."""
        labels = prior.on.labels
        masses = {v: chance(prior, prior.on, tuple(u == v for u in labels)) for v in labels}
        live = {v: p for v, p in masses.items() if p.upper > 0}
        least = min(live[v].upper for v in (min(live), max(live)))
        rarest = min(p.lower for p in live.values())
        low = enclose(lambda: -ball(least).log())[0]
        high = enclose(lambda: -ball(rarest).log())[1]
        return Bound.certified(max(low, 0.0), max(high, 0.0), assumptions=(SEVEN,), attained=None)

    @property
    def _at_ends(self) -> bool:
        """Whether E e^(-a abs(x - D)) is known to be smallest at an end of the interval."""
        law = self.law
        assert law is not None
        if law.log_concave:
            return True
        rate = law.width / self.query.sum_scale
        return law.alpha < 1 and law.beta < 1 and bool(ball(rate) <= 2 * law.highest)

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy, a (d - c) for Laplace noise."""
        if joint.prior != self.prior:
            return None
        if not self._laplace:
            return infinite(SEVEN, attained=False) if _several(joint.prior) else None
        if self.law is None:
            return self._alone(joint, ldp)
        rate = self.law.width / self.query.sum_scale
        return figure(lambda: ball(rate), "the triangle inequality", attained=True)


def spanned(least: Bound, most: Bound) -> Bound:
    """Return a Bound from the lower end of one to the upper end of another."""
    about = tuple(dict.fromkeys((*least.assumptions, *most.assumptions)))
    status = weakest([least.status, most.status])
    if status == "exact" and least.upper != most.upper:
        status = "certified"
    reason = least.reason or most.reason
    return Bound.of(status, least.lower, most.upper, assumptions=about, reason=reason)


def _ends(prior: Measure) -> tuple[Fraction, Fraction]:
    """Return the ends of the interval, or the least and the largest label of positive mass."""
    on = prior.on
    if isinstance(on, Interval):
        return Fraction(on.lower), Fraction(on.upper)
    live = [Fraction(v) for v, p in zip(on.labels, prior.probabilities, strict=True) if p > 0]
    return min(live), max(live)


def _several(prior: Measure) -> bool:
    """Whether the law is not that of one point."""
    low, high = _ends(prior)
    return low < high
