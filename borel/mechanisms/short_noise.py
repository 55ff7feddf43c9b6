"""Noise that ends: uniform noise and one-sided exponential noise, which rule secrets out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.mechanisms.closed_forms import family_of, figure, infinite, positive, proved
from borel.mechanisms.noise import additive
from borel.mechanisms.parameter_arrays import over_arrays
from borel.numerics.balls.arithmetic import ball, enclose
from borel.probability.alphabets import Alphabet, Interval, Reals
from borel.probability.closed_forms import ClosedForms
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism

_LINE = Reals()


@over_arrays
@explained
def uniform_noise(*, width: Any, secret: Alphabet = _LINE) -> Mechanism:
    r"""Make uniform noise, Y = X + U (scipy: ``uniform(loc=x - width / 2, scale=width)``).

    .. math:: f(y|x) = \frac{1}{w} \text{ if } |y - x| < w / 2, \quad 0 \text{ otherwise}

    Parameters
    ----------
    width : float or DataArray
        w > 0; a float means its binary64 value.
    secret : Alphabet
        Numbers: the alphabet of x.

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when ``width`` is a DataArray. It is not differentially
        private at any level.

    Raises
    ------
    InvalidInput
        ``width`` <= 0 or NaN, a secret that is no number.

    Notes
    -----
    Closed forms for ``bl.uniform`` on an interval of length L, proved in `UniformNoiseForms`: with
    v(y) the length of the secrets within w / 2 of y, PML(y) = log(L / v(y)); its supremum is
    infinite, its mean, which is the mutual information, log(L / m) + m / (2 M) with m and M the
    smaller and the larger one of L and w, and maximal leakage is log(1 + L / w). Samples are
    floats: do not release them where the last bits matter.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.uniform_noise(width=1.0)
    >>> bl.mutual_information(joint), bl.maximal_leakage(joint), bl.ldp(joint)
    (Bound(0.5, exact), Bound(0.6931471806, exact), Bound(inf, exact))
    """
    width = positive("uniform_noise", "width", width)

    def log_density(y: Any, x: Any) -> Any:
        return np.where(2 * np.abs(y - x) < width, -math.log(width), -math.inf)

    out = additive("uniform_noise", f"(width={width:g})", log_density, secret)
    out.sampler = partial(_draw_uniform, width)
    out.closed_forms = UniformNoiseForms(width)
    return out


@over_arrays
@explained
def exponential_noise(*, b: Any, secret: Alphabet = _LINE) -> Mechanism:
    r"""Make one-sided noise, Y = X + exponential noise (scipy: ``expon(loc=x, scale=b)``).

    .. math:: f(y|x) = \frac1b e^{-(y - x) / b} \text{ if } y > x, \quad 0 \text{ otherwise}

    Parameters
    ----------
    b : float or DataArray
        The scale, > 0; a float means its binary64 value.
    secret : Alphabet
        Numbers: the alphabet of x.

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when ``b`` is a DataArray. It is not differentially
        private at any level: an outcome rules out all secrets above it.

    Raises
    ------
    InvalidInput
        ``b`` <= 0 or NaN, a secret that is no number.

    Notes
    -----
    Closed forms for ``bl.uniform`` on an interval [c, d], proved in `ExponentialNoiseForms`: with
    l = (d - c) / b, PML(y) = log(l / (1 - e^-u)), u the smaller one of (y - c) / b and l; its
    supremum is infinite, and maximal leakage is log(1 + l). Samples are floats: do not release them
    where the last bits matter.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.exponential_noise(b=1.0)
    >>> bl.pml(joint)(2.0), bl.maximal_leakage(joint)
    (Bound(0.4586751454, exact), Bound(0.6931471806, exact))
    """
    b = positive("exponential_noise", "b", b)

    def log_density(y: Any, x: Any) -> Any:
        return np.where(y > x, -(y - x) / b - math.log(b), -math.inf)

    out = additive("exponential_noise", f"(b={b:g})", log_density, secret)
    out.sampler = partial(_draw_exponential, b)
    out.closed_forms = ExponentialNoiseForms(b)
    return out


def _draw_uniform(width: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + width * (rng.uniform(size=np.shape(x)) - 0.5)


def _draw_exponential(b: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + rng.exponential(b, np.shape(x))


class _EndingNoise(ClosedForms):
    """Noise under which an outcome may rule secrets out, of a secret uniform on [c, d]."""

    theorem: str
    scale: float

    def _interval(self, joint: Joint) -> Interval | None:
        on = joint.prior.on
        return on if family_of(joint.prior)[0] == "uniform" and isinstance(on, Interval) else None

    def _of(self, joint: Joint, formula: Callable[[Any], Any]) -> Bound | None:
        """Return the figure of a formula of the length of the interval over the scale."""
        on = self._interval(joint)
        if on is None:
            return None
        return figure(
            lambda: formula((ball(on.upper) - ball(on.lower)) / ball(self.scale)), self.theorem
        )

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, infinite: approached by PML, attained by PMC."""
        if self._interval(joint) is None:
            return None
        return infinite(self.theorem, attained=kind == "pmc")

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy, infinite."""
        return self.sup(joint, "pmc")

    def maximal_leakage(self, joint: Joint) -> Bound | None:
        """Return maximal leakage, the logarithm of the integral of the kernel's supremum."""
        return self._of(joint, lambda length: length.log1p())

    def exp_mean(self, joint: Joint, kind: str) -> Bound | None:
        """Return the mean of e^leakage; of PMC it is infinite."""
        on = self._interval(joint)
        if on is None:
            return None
        if kind == "pmc":
            return infinite(self.theorem, attained=True).about(attained=None, units="ratio")
        low, high = enclose(lambda: 1 + (ball(on.upper) - ball(on.lower)) / ball(self.scale))
        return proved(low, high, self.theorem, units="ratio")


@dataclass(frozen=True)
class UniformNoiseForms(_EndingNoise):
    r"""Uniform noise of width w, and a secret that is uniform on [c, d]; L = d - c.

    Notes
    -----
    Proof. Let v(y) be the length of [c, d] within w / 2 of y: f_Y(y) = v(y) / (L w), and f(y|x) is
    1 / w for some x where v(y) > 0, so that PML(y) = log(L / v(y)), which goes to infinity as y
    goes to c - w / 2. As f(y|x) is 1 / w or 0, the information density is PML(y) wherever it is
    finite, and mutual information the mean of PML. v is a trapezium: the smaller one m of L and w
    in the middle, for a length M - m, M the larger one, with two slopes of length m. So the mean is

    .. math:: \frac{(M - m) m}{L w} \log\frac{L}{m} + \frac{2}{L w} \int_0^m u \log\frac{L}{u}\, du
              = \log\frac{L}{m} + \frac{m}{2 M}.

    Of PMC: the infimum of the kernel is 1 / w, and PMC(y) = 0, where v(y) = L; else it is 0 and PMC
    infinite, as are the ratios of two secrets. Such y are an interval, for L > 0. The integral of
    the kernel's supremum is (L + w) / w = E e^PML. Tested in
    ``tests/mechanisms/test_short_noise.py``.
    """

    scale: float
    theorem = "uniform noise on a uniform secret (proof in UniformNoiseForms)"

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome that is within the reach of the secrets."""
        on = self._interval(joint)
        if on is None:
            return None

        def length() -> Any:  # v(y) / L
            half = ball(self.scale) / 2
            top = (ball(float(y)) + half).min(ball(on.upper))
            return (top - (ball(float(y)) - half).max(ball(on.lower))) / (
                ball(on.upper) - ball(on.lower)
            )

        low, high = enclose(length)
        if low <= 0:
            return None
        if kind == "pml":
            return figure(lambda: -length().log(), self.theorem)
        if low == high == 1:
            return proved(0.0, 0.0, self.theorem)
        return infinite(self.theorem, attained=True).about(attained=None) if high < 1 else None

    def mean(self, joint: Joint, kind: str) -> Bound | None:
        """Return the mean: log(L / m) + m / (2 M) of PML; of PMC that of the engine."""
        return self.mutual_information(joint) if kind == "pml" else None

    def mutual_information(self, joint: Joint) -> Bound | None:
        """Return the mutual information, which is the mean of PML."""
        return self._of(joint, lambda r: r.max(ball(1)).log() + r.min(1 / r) / 2)


@dataclass(frozen=True)
class ExponentialNoiseForms(_EndingNoise):
    r"""Exponential noise of scale b, and a secret that is uniform on [c, d]; l = (d - c) / b.

    Notes
    -----
    Proof, in units of b. For y in (c, d), f_Y(y) = (1 - e^-(y - c)) / l, and the kernel has
    supremum 1, as x goes to y from below, and infimum 0. For y > d, f_Y(y) =
    e^-(y - d) (1 - e^-l) / l, and f(y|x) is largest at x = d, e^-(y - d), and smallest at x = c,
    e^-(y - c). So PML(y) = log(l / (1 - e^-u)) with u = min(y - c, l), which goes to infinity as y
    goes to c, and PMC(y) = infinity for y < d, a set of positive probability, and
    log((e^l - 1) / l) for y > d. There are y for which one of two secrets is ruled out: LDP is
    infinite. The integral of the kernel's supremum is l + 1 = E e^PML.
    Tested in ``tests/mechanisms/test_short_noise.py``.
    """

    scale: float
    theorem = "exponential noise on a uniform secret (proof in ExponentialNoiseForms)"

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome that is within the reach of the secrets."""
        on = self._interval(joint)
        y = float(y)
        if on is None or y <= on.lower or y == on.upper:
            return None
        if kind == "pmc":
            if y < on.upper:
                return infinite(self.theorem, attained=True).about(attained=None)
            return self._of(joint, lambda length: (length.expm1() / length).log())

        def leakage(length: Any) -> Any:
            u = (ball(min(y, on.upper)) - ball(on.lower)) / ball(self.scale)
            return (length / -(-u).expm1()).log()

        return self._of(joint, leakage)
