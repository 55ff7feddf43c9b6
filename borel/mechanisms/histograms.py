r"""A histogram of a database released with noise in each bin, and what it tells.

Entries are independent with values in k bins, C_j of the n entries in bin j, and the outcome is
y_j = C_j + Z_j with independent noise of mass or density proportional to :math:`e^{-a c(z)}`,
c(z) = abs(z) (Laplace, geometric) or z^2 (Gaussian). With M the counts of the other entries,
:math:`f(y|d) = E \prod_j e^{-a c(y_j - M_j - 1\{j = d\})}`, but for a constant. Facts used:

1. *One entry, c(z) = abs(z).* For any M, d and d' only two bins differ, each by 1: by the triangle
   inequality :math:`f(y|d') \ge e^{-2a} f(y|d)`. So :math:`e^{-\ell(y)}`, the smallest
   :math:`\sum_{d'} p_{d'} f(y|d') / f(y|d)`, is at least p_d + (1 - p_d) e^(-2a), and e^PMC is at
   most p_d + (1 - p_d) e^(2a), each for some d: extreme for the rarest value. They are equal where
   y_d >= n and all other y_j <= 0 (PML; PMC the other way round), as no abs() changes its sign
   whatever M is; these outcomes have positive probability. No property of the law of M was used.
2. *The database.* Databases that differ in h entries have histograms at a distance of at most 2h.
   So :math:`E e^{\mp a \|C - c\|_1}` is at least (at most) that of
   :math:`e^{\mp 2 a h}`, a product over the independent entries: the suprema are n times those of
   one entry, with equality at the same outcomes, for the database of which all entries are rarest.
3. *Gaussian noise.* :math:`f(y|d') / f(y|d)` is at most :math:`e^{-2a (y_d - y_{d'} - n)}`, M by M:
   as y_d grows it tends to 0 for all d' at once. PML comes near to -log p_d, which nothing exceeds,
   and PMC and LDP have no bound; of the database likewise, n times.
4. *At y.* With :math:`w_j(m) = e^{-a (c(y_j - m) - c(y_j))}` and
   :math:`A_j = \sum_m w_j(m) (p_j x)^m / m!`, the expectation over a multinomial law of N entries
   of :math:`\prod_j w_j(C_j)` is N! times the coefficient of x^N in the product of the A_j; for
   f(y|d), N = n - 1 and A_d has w_d(m + 1) for w_d(m). Of the database, the likeliest counts are
   found bin by bin, as c is convex (each step takes the smallest next increment), and the least
   likely have all entries in one bin, where a convex function on a simplex is largest.

Tested in ``tests/mechanisms/test_histograms.py``.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.constants import exactly
from borel.errors import InvalidInput, NotYet
from borel.mechanisms.closed_forms import figure, infinite, proved
from borel.mechanisms.counting import entries
from borel.mechanisms.independent_entries import chance
from borel.mechanisms.integer_noise import DiscreteGaussianForms, GeometricForms
from borel.mechanisms.noise import GaussianForms, LaplaceForms
from borel.numerics.balls.arithmetic import ball, enclose
from borel.probability.alphabets import Integers, Reals
from borel.probability.bound import Bound
from borel.probability.closed_forms import ClosedForms
from borel.probability.density import Density
from borel.probability.mechanism import Mechanism
from borel.probability.normalisation import Normalisation
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.mechanisms.noisy_count import Ends
    from borel.probability.alphabets import Alphabet
    from borel.probability.joint import Joint
    from borel.probability.measure import Measure

_LINE, _INTEGERS = Reals(), Integers()
_WHY = "noise in each bin of a histogram (proof in borel.mechanisms.histograms)"
_TERMS = 1_000_000
"""The leakage at an outcome sums over the counts of all bins: up to so many terms."""


@explained
def histogram(*, n: int, k: int, noise: Mechanism) -> Histogram:
    r"""Release how many of n entries have each of k values, with independent noise in each bin.

    .. math:: Y_j = |\{i : D_i = j\}| + Z_j, \qquad j = 1, \dots, k

    Parameters
    ----------
    n : int
        Number of entries of the database, at least 1.
    k : int
        Number of bins, at least 2: one for each label of the entries' alphabet, in its order.
    noise : Mechanism
        The noise of a bin, on all of the line or all integers: `laplace`, `gaussian`, `geometric`,
        `discrete_laplace` or `discrete_gaussian`.

    Returns
    -------
    Histogram
        A mechanism about the counts, with secret ``bl.Integers(0, n)**k`` and an outcome for each
        bin; ``bl.iid(prior, n) * mech`` is the joint over databases, `bl.entry` of it that of one
        entry.

    Raises
    ------
    InvalidInput
        ``n`` not an integer >= 1, ``k`` not one >= 2, another mechanism as the noise.

    Notes
    -----
    Laplace noise of scale b, a = 1/b, or geometric noise, a = log(1/alpha); p the probability of
    the rarest value of an entry. Then for any n

    .. math:: \sup_y \ell(D \to y) = -\log(p + (1 - p) e^{-2a}), \quad
              \sup_y \Lambda(D, y) = \log(p + (1 - p) e^{2a}), \quad \mathrm{LDP} = 2a,

    and about the whole database n times that. Gaussian noise, continuous or discrete: sup PML is
    log(1/p), approached and not attained; PMC and LDP are infinite. These, and PML and PMC at any
    outcome (a tuple with a number for each bin, n k up to 10^6), are exact; what else may
    be asked of one entry raises `NotYet`. Proofs in `borel.mechanisms.histograms`.

    References
    ----------
    Dwork, McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity in Private Data Analysis"
    (2006), Example 1; the leakage after Saeidian, Cervia, Oechtering, Skoglund, "Rethinking
    Disclosure Prevention with Pointwise Maximal Leakage", Proposition 4.6.

    Examples
    --------
    >>> import borel as bl
    >>> ages = bl.pmf([0.5, 0.3, 0.2], on=bl.Finite(["young", "middle", "old"]))
    >>> noise = bl.mechanisms.geometric(alpha=0.5)
    >>> database = bl.iid(ages, 100) * bl.mechanisms.histogram(n=100, k=3, noise=noise)
    >>> leak = bl.pml(bl.entry(database))
    >>> leak.sup(), leak((48, 33, 20))  # 0.916 = log(5/2)
    (Bound(0.9162907319, exact), Bound(0.07991196295, exact))
    """
    return Histogram(n, k, noise)


class _Noise(NamedTuple):
    """Noise proportional to exp(-rate times abs(z) or z squared)."""

    mechanism: Mechanism
    square: bool

    def rate(self) -> Any:
        """Return a as a ball."""
        forms: Any = self.mechanism.closed_forms
        if isinstance(forms, GeometricForms):
            return forms.noise.meant()
        return 1 / (2 * ball(forms.sigma) ** 2) if self.square else 1 / ball(forms.b)

    def cost(self, z: Fraction) -> Fraction:
        """Return what the rate is multiplied by at a distance z."""
        return z * z if self.square else abs(z)

    def step(self, y: Fraction, m: int) -> Fraction:
        """Return c(y - m - 1) - c(y - m)."""
        return self.cost(y - m - 1) - self.cost(y - m)


class Histogram(Mechanism):
    """Noise in each bin of a histogram; made by `histogram`.

    Attributes
    ----------
    n : int
        Number of entries.
    k : int
        Number of bins.
    noise : Mechanism
        The noise of a bin.
    """

    def __init__(self, n: Any, k: Any, noise: Any):
        what = "histogram"
        n = entries(what, n)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 2:
            raise InvalidInput(what, expected="k = an integer >= 2, the bins", got=repr(k))
        forms = getattr(noise, "closed_forms", None)
        square = isinstance(forms, (GaussianForms, DiscreteGaussianForms))
        known = square or isinstance(forms, (LaplaceForms, GeometricForms))
        if not known or noise.outcome not in (_LINE, _INTEGERS):
            raise InvalidInput(
                what,
                expected="noise = bl.mechanisms.laplace, gaussian, geometric, discrete_laplace or "
                "discrete_gaussian, one mechanism",
                got=repr(noise),
            )
        if noise.secret not in (_LINE, _INTEGERS, Integers(0, n)):
            raise InvalidInput(
                what,
                expected=f"noise about all counts from 0 to {n}",
                got=repr(noise),
                mend="leave secret= out.",
            )
        k = int(k)
        super().__init__(
            None,
            secret=Integers(0, n) ** k,
            outcome=noise.outcome**k,
            name=f"histogram(n={n}, k={k}, noise={noise.name})",
        )
        self.n, self.k, self.noise = n, k, noise
        self.density = Density(
            partial(_log_density, noise.density), {"y": self.outcome, "x": self.secret}, log=True
        )
        self.normalisation = Normalisation.by("a product of laws, one for each bin")
        self.law_of_noise = _Noise(noise, square)
        self.closed_forms = HistogramForms(self)

    def require_bins(self, on: Alphabet) -> None:
        """Refuse entries that have not one label for each bin."""
        if on.kind != "finite" or on.size != self.k:
            raise InvalidInput(
                "iid(prior, n) * histogram",
                expected=f"entries with k = {self.k} labels, one for each bin",
                got=repr(on),
            )

    def level(self, times: int) -> Bound:
        """Return the largest log-ratio of databases of which ``times`` entries differ."""
        if self.law_of_noise.square:
            return infinite(_WHY, attained=False)
        return figure(lambda: 2 * times * self.law_of_noise.rate(), _WHY, attained=True)

    def entry(self, prior: Measure) -> Mechanism:
        """Return the kernel of one entry, the others integrated out."""
        out = Mechanism(None, secret=prior.on, outcome=self.outcome, name=f"entry of {self.name}")
        others = masses(prior)
        about = self.n, self.noise.density, others  # a study's key reads them
        spaces = {"y": self.outcome, "x": prior.on}
        why = "the other entries are integrated out in closed forms only"
        out.density = Density(partial(_no_density, about), spaces, log=True, opaque=why)
        out.normalisation = Normalisation.by("a mean of kernels that integrate to 1")
        out.closed_forms = HistogramForms(self, others)
        return out


def masses(prior: Measure) -> tuple[Ends, ...]:
    """Enclose the probability of each label."""
    labels = range(prior.on.size)
    return tuple(chance(prior, prior.on, tuple(i == j for i in labels)) for j in labels)


def _log_density(one: Density, y: Any, x: Any) -> Any:
    terms = [one.logarithm(a, b) for a, b in zip(y, x, strict=True)]
    return sum(terms[1:], terms[0])


def _no_density(about: tuple, y: Any, x: Any) -> Any:
    raise NotYet(
        "one entry of a noisy histogram",
        missing=f"its density, the other {about[0] - 1} entries integrated out",
        instead=f"the suprema of PML and PMC, bl.ldp, and, with n k up to {_TERMS}, the "
        "leakage at an outcome, a tuple with a number for each bin.",
    )


@dataclass(frozen=True)
class HistogramForms(ClosedForms):
    """What a noisy histogram leaks about one entry, or, without ``others``, about the database.

    Proofs: see the top of `borel.mechanisms.histograms`.
    """

    query: Histogram
    others: tuple[Ends, ...] | None = None

    def _prior(self, joint: Joint) -> tuple[Ends, ...] | None:
        """Enclose the law of an entry."""
        if self.others is not None:
            return masses(joint.prior)
        database = getattr(joint, "database", None)
        return None if database is None else masses(database.prior)

    @property
    def _times(self) -> int:
        return self.query.n if self.others is None else 1

    # -- suprema --------------------------------------------------------------------------------

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum over the outcomes."""
        p = self._prior(joint)
        if p is None:
            return None
        live = [j for j, mass in enumerate(p) if mass.upper > 0]
        if len(live) < 2:
            return proved(0.0, 0.0, _WHY, attained=True)
        rarest = min(live, key=lambda j: (p[j].lower, p[j].upper))
        least, most = p[rarest].lower, min(p[j].upper for j in live)
        noise, n = self.query.law_of_noise, self.query.n
        if noise.square and kind == "pmc":
            return infinite(_WHY, attained=False)

        def value(q: Fraction) -> Any:  # falls as q rises
            if noise.square:
                return -self._times * ball(q).log()
            rate = noise.rate() * (-2 if kind == "pml" else 2)
            level = (ball(1 - q) * rate.expm1()).log1p()
            return self._times * (-level if kind == "pml" else level)

        high = enclose(lambda: value(least))[1] if least or not noise.square else math.inf
        low = enclose(lambda: value(most))[0]
        if noise.square:
            return proved(max(low, 0.0), high, _WHY, attained=False)
        own, rest = (n, 0) if kind == "pml" else (0, n)
        labels = (joint.prior if self.others is not None else joint.database.prior).on.labels  # type: ignore[attr-defined]
        told = live[0] if live[0] != rarest else live[1]
        x = labels[rarest if kind == "pml" else told]
        y = tuple(own if j == rarest else rest for j in range(self.query.k))
        witness = {"x": x if self.others is not None else (x,) * n, "y": y}
        return proved(max(low, 0.0), max(high, 0.0), _WHY, attained=True, witness=witness)

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the LDP level, on the support of the prior."""
        p = self._prior(joint)
        if p is None:
            return None
        if sum(mass.upper > 0 for mass in p) < 2:
            return proved(0.0, 0.0, _WHY)
        return self.query.level(self._times)

    # -- at outcomes ----------------------------------------------------------------------------

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome, a tuple with a number for each bin."""
        p, query = self._prior(joint), self.query
        if p is None or query.k * query.n > _TERMS:
            return None
        live = [j for j, mass in enumerate(p) if mass.upper > 0]
        if len(live) < 2:
            return proved(0.0, 0.0, _WHY)
        ys = [exactly(v) for v in y]
        value = self._of_database if self.others is None else self._of_entry
        low, high = enclose(lambda: value(kind, p, live, ys))
        top = self.sup(joint, kind)
        assert top is not None
        found = proved(max(low, 0.0), max(high, 0.0), _WHY)
        low, high = found.lower, min(found.upper, top.upper)
        if found.status == "exact":
            return Bound.exact(low, high, assumptions=found.assumptions)
        return Bound.undecided(low, high, reason=found.reason, assumptions=found.assumptions)

    def _of_entry(self, kind: str, p: tuple[Ends, ...], live: list[int], ys: list) -> Any:
        assert self.others is not None
        n, chances = self.query.n, list(map(_hull, self.others))
        sums = _Sums(self.query.law_of_noise, n, chances, ys, own=1)
        fixed = [sums.bin(j) for j in range(len(ys))]
        before = list(accumulate(fixed, _times, initial=_one()))
        after = list(accumulate(fixed[::-1], _times, initial=_one()))
        given = [
            _coefficient(n - 1, _times(before[d], after[-d - 2]), sums.bin(d, own=1)) for d in live
        ]
        total = sum(_hull(p[d]) * f for d, f in zip(live, given, strict=True))
        if kind == "pml":
            return (reduce(lambda a, b: a.max(b), given) / total).log()
        return (total / reduce(lambda a, b: a.min(b), given)).log()

    def _of_database(self, kind: str, p: tuple[Ends, ...], live: list[int], ys: list) -> Any:
        noise, n = self.query.law_of_noise, self.query.n
        sums = _Sums(noise, n, list(map(_hull, p)), ys)
        first, *rest = (sums.bin(j) for j in range(len(ys)))
        level = _coefficient(n, reduce(_times, rest), first).log()
        level += ball(n + 1).lgamma() - n * sums.tilt
        if kind == "pmc":
            most = max(noise.cost(ys[j] - n) - noise.cost(ys[j]) for j in live)
            return level + noise.rate() * ball(most)
        return -level - noise.rate() * ball(_least(noise, [ys[j] for j in live], n))


def _hull(p: Ends) -> Any:
    return ball(p.lower).union(ball(p.upper))


def _least(noise: _Noise, ys: list[Fraction], n: int) -> Fraction:
    """Return the least sum of c(y_j - m_j) - c(y_j) with m_j that sum to n, as c is convex."""
    steps = [(noise.step(y, 0), j, 0) for j, y in enumerate(ys)]
    heapq.heapify(steps)
    total = Fraction(0)
    for _ in range(n):
        step, j, m = steps[0]
        total += step
        heapq.heapreplace(steps, (noise.step(ys[j], m + 1), j, m + 1))
    return total


class _Series(NamedTuple):
    """Terms of a power series of numbers >= 0, those that count, and bounds of all of them."""

    first: int  # the power of the first term
    terms: Any  # a polynomial on balls
    mass: Any  # the sum of the terms
    rest: Any  # the sum of those left out is at most this


def _one() -> _Series:
    import flint

    return _Series(0, flint.arb_poly([1]), ball(1), ball(0))


def _little() -> Any:
    """Return which part of a sum is left out, and bounded instead."""
    import flint

    return ball(2) ** -flint.ctx.prec


def _kept(first: int, terms: list, rest: Any) -> _Series:
    """Make a series of terms, of which those at both ends that add next to nothing are left out."""
    import flint

    mass = sum(terms, ball(0))
    little = mass * _little()
    start, stop, out = 0, len(terms), ball(0)
    while start < stop - 1 and out + terms[start] < little:
        out += terms[start]
        start += 1
    while start < stop - 1 and out + terms[stop - 1] < 2 * little:
        out += terms[stop - 1]
        stop -= 1
    return _Series(first + start, flint.arb_poly(terms[start:stop]), mass, rest + out)


def _times(a: _Series, b: _Series) -> _Series:
    rest = a.mass * b.rest + a.rest * (b.mass + b.rest)
    return _kept(a.first + b.first, (a.terms * b.terms).coeffs(), rest)


def _coefficient(n: int, a: _Series, b: _Series) -> Any:
    """Return the coefficient of x^n in the product of two series."""
    import flint

    front, back, shift = a.terms.coeffs(), b.terms.coeffs(), n - a.first - b.first
    places = (i for i in range(len(front)) if 0 <= shift - i < len(back))
    found = sum((front[i] * back[shift - i] for i in places), ball(0))
    return found + (a.mass * b.rest + a.rest * (b.mass + b.rest)) * flint.arb(0.5, 0.5)


class _Sums:
    r"""The series A_j of each bin, in e^tilt x so that the terms that count are near their modes.

    The terms are log-concave, as c is convex: past a mode each is below a geometric series. The
    modes sum to n, and n - 1 are as near: w(m + 1) for w(m) makes a mode one less.
    """

    def __init__(self, noise: _Noise, n: int, chances: list, ys: list[Fraction], own: int = 0):
        self.most = n - own  # the highest power that is asked for
        self.noise, self.n, self.chances, self.ys = noise, n, chances, ys
        self.rate = noise.rate()
        # roughly, for modes: beyond the counts abs() has the same steps everywhere
        reach = Fraction(10**300) if noise.square else Fraction(n + 1)
        self.near = [float(min(max(y, -reach), reach)) for y in ys]
        self.live = [j for j, p in enumerate(chances) if not p == 0]
        self.logs = {j: float(chances[j].upper().log().mid()) for j in self.live}
        self.tilt = ball(self._tilt())

    def _ratio(self, j: int, m: int, own: int) -> Any:
        """Return the term of m + 1 by that of m."""
        step = (-self.rate * ball(self.noise.step(self.ys[j], m + own))).exp()
        return self.tilt.exp() * self.chances[j] * step / (m + 1)

    def _mode(self, j: int, tilt: float) -> int:
        """Return where the terms of a bin are largest, roughly: a wrong one costs digits only."""
        low, high = 0, self.n
        rate, y, log = float(self.rate), self.near[j], self.logs[j] + tilt
        while low < high:
            m = (low + high) // 2
            step = 2 * (m - y) + 1 if self.noise.square else abs(y - m - 1) - abs(y - m)
            low, high = (m + 1, high) if log - math.log(m + 1) > rate * step else (low, m)
        return low

    def _tilt(self) -> float:
        """Return for which tilt the modes of all bins sum to n, roughly."""
        reach = max(map(abs, self.near)) + self.n
        most = float(self.rate) * (2 * reach + 1 if self.noise.square else 1.0)
        most += math.log(self.n + 1) - min(self.logs.values())
        low, high = -most, most
        if not math.isfinite(most):
            return 0.0
        for _ in range(64):
            tilt = (low + high) / 2
            few = sum(self._mode(j, tilt) for j in self.live) < self.n
            low, high = (tilt, high) if few else (low, tilt)
        return high

    def bin(self, j: int, own: int = 0) -> _Series:
        """Return the series of bin j, with w(m + own) for w(m)."""
        import flint

        noise, y, little = self.noise, self.ys[j], _little()
        if j not in self.live:
            start = (-self.rate * ball(noise.cost(y - own) - noise.cost(y))).exp()
            return _Series(0, flint.arb_poly([start]), start, ball(0))
        mode = min(max(self._mode(j, float(self.tilt.mid())) - own, 0), self.most)
        top = (-self.rate * ball(noise.cost(y - mode - own) - noise.cost(y))).exp()
        top *= (self.tilt.exp() * self.chances[j]) ** mode / ball(mode + 1).gamma()
        terms, rest = [top], ball(0)
        for m in range(mode, self.most):
            ratio = self._ratio(j, m, own)
            term = terms[-1] * ratio
            if ratio < 1 and term < top * little * (1 - ratio):
                rest += term / (1 - ratio)
                break
            terms.append(term)
        below, term = [], top
        for m in range(mode, 0, -1):
            ratio = 1 / self._ratio(j, m - 1, own)
            term *= ratio
            if ratio < 1 and term < top * little * (1 - ratio):
                rest += term / (1 - ratio)
                break
            below.append(term)
        return _kept(mode - len(below), below[::-1] + terms, rest)
