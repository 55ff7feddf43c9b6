"""Copulas as mechanisms on the unit interval: FGM, Frank, Gumbel and Gaussian."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import figure, infinite, number, proved, proved_kernel
from borel.mechanisms.copula import UNIT, CopulaForms, uniform_on_unit
from borel.mechanisms.noise import GaussianForms
from borel.mechanisms.parameter_arrays import over_arrays
from borel.numerics.balls.arithmetic import ball
from borel.probability.closed_forms import ClosedForms
from borel.probability.families import uniform
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism


@over_arrays
@explained
def fgm(*, theta: Any) -> Mechanism:
    r"""Make the Farlie-Gumbel-Morgenstern copula: weak dependence on the unit square.

    .. math:: f(y|x) = 1 + \theta (1 - 2x)(1 - 2y)

    Parameters
    ----------
    theta : float or DataArray
        In [-1, 1]; a float means its binary64 value.

    Returns
    -------
    Mechanism
        From (0, 1) to (0, 1), with ``reference_prior``, the uniform one, and a sampler.

    Raises
    ------
    InvalidInput
        ``theta`` outside [-1, 1], NaN.

    Notes
    -----
    Closed forms for the uniform prior, proved in `FgmForms`: with h = \|theta (1 - 2y)\|, PML(y) is
    log(1 + h) and PMC(y) -log(1 - h); their suprema are those of h = \|theta\|, and LDP is the sum
    of the suprema; maximal leakage is log(1 + \|theta\| / 2).

    References
    ----------
    Nelsen, "An Introduction to Copulas" (2006), Section 3.2.5.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.fgm(theta=0.5)
    >>> bl.ldp(mech.reference_prior * mech)  # log 3
    Bound(1.098612289, exact)
    """
    theta = number("fgm", "theta", theta)
    if not -1 <= theta <= 1:
        raise InvalidInput("fgm", expected="theta in [-1, 1]", got=repr(theta))

    def log_density(y: Any, x: Any) -> Any:
        return np.log1p(theta * (1 - 2 * x) * (1 - 2 * y))

    return _copula(f"fgm(theta={theta:g})", log_density, FgmForms(theta), partial(_draw_fgm, theta))


@over_arrays
@explained
def frank(*, theta: Any) -> Mechanism:
    r"""Make Frank's copula, of which both PML and PMC are bounded.

    .. math:: f(y|x) = \frac{\theta (1 - e^{-\theta}) e^{-\theta (x + y)}}
              {\big(1 - e^{-\theta} - (1 - e^{-\theta x})(1 - e^{-\theta y})\big)^2}

    Parameters
    ----------
    theta : float or DataArray
        Not 0; a float means its binary64 value. 1 - y in place of y is -theta in place of theta.

    Returns
    -------
    Mechanism
        From (0, 1) to (0, 1), with ``reference_prior``, the uniform one, and a sampler.

    Raises
    ------
    InvalidInput
        ``theta`` 0, beyond 600 in modulus, or NaN.

    Notes
    -----
    Closed forms for the uniform prior, proved in `FrankForms`: with t = \|theta\|, LDP is t,
    sup PML = log(t / (1 - e^-t)) and sup PMC = log((e^t - 1) / t), as for Laplace noise.

    References
    ----------
    Nelsen, "An Introduction to Copulas" (2006), (4.2.5); Genest, "Frank's Family of Bivariate
    Distributions" (1987).

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.frank(theta=1.0)
    >>> joint = mech.reference_prior * mech
    >>> bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)
    (Bound(0.4586751454, exact), Bound(0.5413248546, exact), Bound(1, exact))
    """
    theta = number("frank", "theta", theta)
    if not 0 < abs(theta) <= 600:
        raise InvalidInput("frank", expected="theta != 0, 600 at most in modulus", got=repr(theta))
    t = abs(theta)
    top = math.log(t) + math.log(-math.expm1(-t))

    def log_density(y: Any, x: Any) -> Any:
        v = y if theta > 0 else 1 - y
        # 1 - e^-t - (1 - e^-tx)(1 - e^-tv) = e^-tv (1 - e^-tx) + e^-tx (1 - e^-t(1 - x)): no loss
        below = -np.exp(-t * v) * np.expm1(-t * x) - np.exp(-t * x) * np.expm1(-t * (1 - x))
        return top - t * (x + v) - 2 * np.log(below)

    forms = FrankForms(theta)
    return _copula(f"frank(theta={theta:g})", log_density, forms, partial(_draw_frank, theta))


@over_arrays
@explained
def gumbel(*, theta: Any) -> Mechanism:
    r"""Make Gumbel's copula, of which PML is unbounded and PMC infinite.

    .. math:: f(y|x) = \frac{C}{x y} \frac{(a b)^{\theta - 1}}{A^{2 - 1/\theta}}
              (A^{1/\theta} + \theta - 1), \qquad C = e^{-A^{1/\theta}}, \quad
              A = a^\theta + b^\theta

    with a = -log x and b = -log y.

    Parameters
    ----------
    theta : float or DataArray
        Greater than 1; a float means its binary64 value.

    Returns
    -------
    Mechanism
        From (0, 1) to (0, 1), with ``reference_prior``, the uniform one.

    Raises
    ------
    InvalidInput
        ``theta`` <= 1, NaN.

    Notes
    -----
    Closed forms for the uniform prior, proved in `GumbelForms`: sup PML, PMC at every outcome, and
    LDP are infinite. PML at one outcome is finite, without a closed form; the engine finds no bound
    from above for it today, and says so.

    References
    ----------
    Nelsen, "An Introduction to Copulas" (2006), (4.2.4).

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.gumbel(theta=2.0)
    >>> bl.pml(mech.reference_prior * mech).sup()
    Bound(inf, exact)
    """
    theta = number("gumbel", "theta", theta)
    if not theta > 1:
        raise InvalidInput("gumbel", expected="theta > 1", got=repr(theta))

    def log_density(y: Any, x: Any) -> Any:
        a, b = -np.log(x), -np.log(y)
        most, least = np.maximum(a, b), np.minimum(a, b)
        ratio = np.log1p((least / most) ** theta) / theta  # log A^(1/theta) - log most
        root = most * np.exp(ratio)
        out = least - most * np.expm1(ratio)  # a + b - A^(1/theta): nothing cancels
        out = out + (theta - 1) * (np.log(a) + np.log(b))
        out = out - (2 * theta - 1) * (np.log(most) + ratio) + np.log(root + (theta - 1))
        inside = (np.minimum(x, y) > 0) & (np.maximum(x, y) < 1)
        return np.where(inside, out, 0.0)  # the border is a null set

    return _copula(f"gumbel(theta={theta:g})", log_density, GumbelForms())


@over_arrays
@explained
def gaussian_copula(*, rho: Any) -> Mechanism:
    r"""Make the Gaussian copula: Gaussian noise, with secret and outcome put on the unit interval.

    .. math:: f(y|x) = \frac{1}{\sqrt{1 - \rho^2}}
              \exp\Big(-\frac{\rho^2 (s^2 + t^2) - 2 \rho s t}{2 (1 - \rho^2)}\Big),
              \qquad s = \Phi^{-1}(x), \quad t = \Phi^{-1}(y)

    Parameters
    ----------
    rho : float or DataArray
        The correlation of s and t, inside (-1, 1) and not 0; a float means its binary64 value.

    Returns
    -------
    Mechanism
        From (0, 1) to (0, 1), with ``reference_prior``, the uniform one, and a sampler.

    Raises
    ------
    InvalidInput
        ``rho`` 0 or outside (-1, 1), NaN.

    Notes
    -----
    Closed forms for the uniform prior, proved in `GaussianCopulaForms`:
    PML(y) = t^2 / 2 - log(1 - rho^2) / 2, so that PML(Y) is a constant plus chi^2_1 / 2 in law, its
    supremum infinite, and PMC is infinite at every y: those of `gaussian` with s^2 / sigma^2 =
    rho^2 / (1 - rho^2).

    References
    ----------
    Nelsen, "An Introduction to Copulas" (2006), (2.3.6).

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.gaussian_copula(rho=0.5)
    >>> bl.pml(mech.reference_prior * mech)(0.5)  # log(4/3) / 2
    Bound(0.1438410362, exact)
    """
    import scipy.special  # so that its ufuncs are known to the tracer

    rho = number("gaussian_copula", "rho", rho)
    if not 0 < abs(rho) < 1:
        raise InvalidInput("gaussian_copula", expected="rho inside (-1, 1), not 0", got=repr(rho))
    rest = (1 - rho) * (1 + rho)
    ndtri = scipy.special.ndtri

    def log_density(y: Any, x: Any) -> Any:
        s, t = ndtri(x), ndtri(y)
        out = (t**2 - (t - rho * s) ** 2 / rest) / 2 - math.log(rest) / 2
        inside = (np.minimum(x, y) > 0) & (np.maximum(x, y) < 1)
        return np.where(inside, out, 0.0)  # the border is a null set

    name = f"gaussian_copula(rho={rho:g})"
    return _copula(name, log_density, GaussianCopulaForms(rho), partial(_draw_gaussian, rho))


def _copula(
    name: str, log_density: Callable, forms: ClosedForms, sampler: Callable | None = None
) -> Mechanism:
    out = proved_kernel(
        log_density,
        secret=UNIT,
        outcome=UNIT,
        name=name,
        normalisation="a copula density has uniform marginals",
    )
    out.reference_prior = uniform(UNIT)
    out.closed_forms = forms
    out.sampler = sampler
    return out


def _draw_fgm(theta: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Solve y + s y (1 - y) = u with s = theta (1 - 2x)."""
    u, s = rng.uniform(size=np.shape(x)), theta * (1 - 2 * x)
    return 2 * u / (1 + s + np.sqrt((1 + s) ** 2 - 4 * s * u))


def _draw_frank(theta: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Solve P{Y <= y | x} = u, of theta > 0; for theta < 0 take 1 - y."""
    t, u = abs(theta), rng.uniform(size=np.shape(x))
    if t < 1:
        y = -np.log1p(u * np.expm1(-t) / (u + (1 - u) * np.exp(-t * x))) / t
    else:  # the same, where 1 and the quotient would cancel
        u = np.clip(u, np.finfo(float).tiny, None)
        a, b = np.log(u), np.log1p(-u) - t * x
        y = (np.logaddexp(a, b) - np.logaddexp(a - t, b)) / t
    return np.clip(y if theta > 0 else 1 - y, 0.0, 1.0)


def _draw_gaussian(rho: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    from scipy.special import ndtr, ndtri

    rest = math.sqrt((1 - rho) * (1 + rho))
    return ndtr(rho * ndtri(x) + rest * rng.normal(size=np.shape(x)))


@dataclass(frozen=True)
class FgmForms(CopulaForms):
    r"""The Farlie-Gumbel-Morgenstern copula and the uniform prior on (0, 1).

    Notes
    -----
    Proof. f_Y = 1. f(y|x) is linear in x: over (0, 1) its supremum is 1 + h and its infimum 1 - h,
    h = \|theta (1 - 2y)\|, approached at the ends. h goes to \|theta\| as y goes to 0 or 1, and its
    mean is \|theta\| / 2. Tested in ``tests/mechanisms/test_copulas.py``.
    """

    theta: float
    theorem = "a density that is linear in the secret (proof in FgmForms)"

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome."""
        if not self._applies(joint):
            return None
        h = abs(Fraction(self.theta) * (1 - 2 * Fraction(float(y))))
        return self._leakage(kind, h, attained=None)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, approached at the ends."""
        return self._leakage(kind, Fraction(abs(self.theta))) if self._applies(joint) else None

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy."""
        if not self._applies(joint):
            return None
        if abs(self.theta) == 1:
            return infinite(self.theorem, attained=False)
        h = Fraction(abs(self.theta))
        level = lambda: (ball((1 + h) / (1 - h))).log()  # noqa: E731
        return figure(level, self.theorem, attained=h == 0)

    def maximal_leakage(self, joint: Joint) -> Bound | None:
        """Return maximal leakage."""
        if not self._applies(joint):
            return None
        return figure(lambda: (abs(ball(self.theta)) / 2).log1p(), self.theorem)

    def _leakage(self, kind: str, h: Fraction, attained: bool | None = False) -> Bound:
        if h == 0:
            return proved(0.0, 0.0, self.theorem, attained=None if attained is None else True)
        if kind == "pml":
            return figure(lambda: ball(h).log1p(), self.theorem, attained=attained)
        if h == 1:
            return infinite(self.theorem, attained=False).about(attained=attained)
        return figure(lambda: -ball(-h).log1p(), self.theorem, attained=attained)


@dataclass(frozen=True)
class FrankForms(CopulaForms):
    r"""Frank's copula and the uniform prior on (0, 1).

    Notes
    -----
    Proof. f_Y = 1, and theta > 0 is enough: 1 - y for y gives -theta. With e = e^-theta,
    a = e^(-theta x) and b = e^(-theta y), both in (e, 1), f(y|x) is theta (1 - e) b times
    a / (A + B a)^2, A = b - e and B = 1 - b. In a this rises up to a = A / B and falls beyond, so
    that its infimum is at an end: f(y|0) = theta b / (1 - e), or f(y|1) = theta e / (b (1 - e)).
    The smaller of them, PMC(y) = -log(theta min(b, e / b) / (1 - e)), is least for y at an end,
    theta e / (1 - e).

    The supremum is f(y|0) if A / B >= 1, that is b >= (1 + e) / 2; f(y|1) if A / B <= e, that is
    b <= 2e / (1 + e); and theta (1 - e) b / (4 A B) between. The first two are at most
    theta / (1 - e), approached at an end; the third is, by its derivative in b, largest at an end
    of its range, where it is one of the first two. So sup PML = log(theta / (1 - e)).

    No ratio exceeds that of the supremum and the infimum of all, 1 / e, which f(y|0) / f(y|1)
    approaches as y goes to 0: LDP is theta. Tested in ``tests/mechanisms/test_copulas.py``.
    """

    theta: float
    theorem = "the largest and the smallest density of Frank's copula (proof in FrankForms)"

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome."""
        if not self._applies(joint):
            return None
        place = float(y)

        def leakage() -> Any:
            t = abs(ball(self.theta))
            v = ball(place) if self.theta > 0 else 1 - ball(place)
            e, b = (-t).exp(), (-t * v).exp()
            first, last = t * b / (1 - e), t * e / (b * (1 - e))
            if kind == "pmc":
                return -first.min(last).log()
            if 2 * b > 1 + e:
                return first.log()
            if b * (1 + e) < 2 * e:
                return last.log()
            middle = t * (1 - e) * b / (4 * (b - e) * (1 - b))
            inside = 2 * b < 1 + e and b * (1 + e) > 2 * e
            return (middle if inside else middle.union(first.max(last))).log()

        return figure(leakage, self.theorem)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, approached at the ends."""
        if not self._applies(joint):
            return None

        def leakage() -> Any:
            t = abs(ball(self.theta))
            level = (t / -(-t).expm1()).log()
            return level if kind == "pml" else t - level

        return figure(leakage, self.theorem, attained=False)

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy."""
        if not self._applies(joint):
            return None
        return figure(lambda: abs(ball(self.theta)), self.theorem, attained=False)


@dataclass(frozen=True)
class GumbelForms(CopulaForms):
    r"""Gumbel's copula with theta > 1 and the uniform prior on (0, 1).

    Notes
    -----
    Proof. f_Y = 1. As x goes to 1, a goes to 0 and all but :math:`(a b)^{\theta - 1}` has a finite
    limit, so that f(y|x) goes to 0 at every y: PMC is infinite. Along x = y, as a = b goes to 0,
    A^{1/theta} goes to 0 like a and f(y|x) to infinity like
    :math:`(\theta - 1) a^{2\theta - 2} (2 a^\theta)^{1/\theta - 2}`, a constant over a: so, as f is
    continuous, does PML on sets of positive probability. LDP is at least PML.
    Tested in ``tests/mechanisms/test_copulas.py``.
    """

    theorem = "the corner and the border of Gumbel's copula (proof in GumbelForms)"

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return PMC at one outcome inside (0, 1), infinite."""
        if kind == "pml" or not (self._applies(joint) and 0 < float(y) < 1):
            return None
        return infinite(self.theorem, attained=False).about(attained=None)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, infinite: approached by PML, attained by PMC."""
        return infinite(self.theorem, attained=kind == "pmc") if self._applies(joint) else None

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy, infinite."""
        return self.sup(joint, "pmc")


@dataclass(frozen=True)
class GaussianCopulaForms(GaussianForms):
    r"""The Gaussian copula and the uniform prior on (0, 1).

    Notes
    -----
    Proof. s = Phi^-1(X) is standard normal, t = Phi^-1(Y) given s is normal with mean rho s and
    variance 1 - rho^2, and leakage does not change when secrets and outcomes are renamed one to
    one. So this is normal noise of deviation sqrt(1 - rho^2) on a normal secret rho s:
    `GaussianForms` with m = 0, s^2 / sigma^2 = rho^2 / (1 - rho^2), thus
    a = -log(1 - rho^2) / 2, and s^2 + sigma^2 = 1. Tested in ``tests/mechanisms/test_copulas.py``.
    """

    def _prior(self, joint: Joint) -> tuple[float, float] | None:
        return (0.0, 1.0) if uniform_on_unit(joint) else None

    def _least(self, s: float) -> Any:
        rho = ball(self.sigma)  # what the noise is known by
        return -((1 - rho) * (1 + rho)).log() / 2

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome inside (0, 1)."""
        place = float(y)
        if self._prior(joint) is None or not 0 < place < 1:
            return None
        if kind == "pmc":
            return self.sup(joint, kind).about(attained=None)  # type: ignore[union-attr]
        theorem = "normal noise on a normal secret (proof in GaussianCopulaForms)"
        return figure(lambda: self._least(1.0) + (2 * ball(place) - 1).erfinv() ** 2, theorem)

    def tail_leakage(self, joint: Joint, kind: str, delta: Fraction) -> Bound | None:
        """Return the tail leakage, infinite."""
        return None if self._prior(joint) is None else super().tail_leakage(joint, kind, delta)
