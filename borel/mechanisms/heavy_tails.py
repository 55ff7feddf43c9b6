"""Cauchy and Student-t noise: heavy tails, so that far outcomes tell little."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import family_of, figure, positive
from borel.mechanisms.noise import additive
from borel.mechanisms.parameter_arrays import over_arrays
from borel.mechanisms.scales import scale
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.intervals.rounding import NORMAL
from borel.probability.alphabets import Alphabet, Interval, Reals
from borel.probability.closed_forms import ClosedForms
from borel.probability.density import Density
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism

_LINE = Reals()


@over_arrays
@explained
def cauchy(
    *, b: Any = None, epsilon: Any = None, sensitivity: Any = None, secret: Alphabet = _LINE
) -> Mechanism:
    r"""Make the Cauchy mechanism, Y = X + Cauchy noise (scipy: ``cauchy(loc=x, scale=b)``).

    .. math:: f(y|x) = \frac{1}{\pi b (1 + (y - x)^2 / b^2)}

    Parameters
    ----------
    b : float or DataArray
        The scale, > 0; a float means its binary64 value.
    epsilon, sensitivity : float or DataArray
        Instead of ``b``: a level in nats, and the distance D of two secrets up to which it holds.
        The scale is D / (2 sinh(epsilon / 2)), rounded up.
    secret : Alphabet
        Numbers: the alphabet of x.

    Returns
    -------
    Mechanism
        With distribution function and sampler; a `MechanismFamily` when a parameter is a
        DataArray.

    Raises
    ------
    InvalidInput
        ``b`` <= 0 or NaN, neither it nor a level, a secret that is no number.

    Notes
    -----
    Closed form for ``bl.uniform`` on an interval of length L, proved in `StudentForms`: LDP is
    2 asinh(L / (2 b)). Samples are floats: do not release them where the last bits matter.

    References
    ----------
    Nissim, Raskhodnikova, Smith, "Smooth Sensitivity and Sampling in Private Data Analysis" (2007),
    who use it for its tails.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.uniform(bl.Interval(0, 1.5)) * bl.mechanisms.cauchy(b=1.0)
    >>> bl.ldp(joint)  # 2 asinh(3/4) = 2 log 2
    Bound(1.386294361, exact)
    """
    words = "b = sensitivity / (2 sinh(epsilon / 2))"
    b = scale("cauchy", "b", b, epsilon, sensitivity, words, lambda e, d: d / (2 * (e / 2).sinh()))
    out = _student("cauchy", f"(b={b:g})", 1.0, b, secret)

    def below(z: Any) -> Any:
        """Return P{noise <= z b}; arctan2 keeps the digits of the tail."""
        return np.arctan2(1.0, -z) / math.pi

    out.cdf = Density(lambda y, x: below((y - x) / b), {"y": _LINE, "x": secret})
    out.survival = Density(lambda y, x: below((x - y) / b), {"y": _LINE, "x": secret})
    return out


@over_arrays
@explained
def student_t(
    *,
    nu: Any,
    sigma: Any = None,
    epsilon: Any = None,
    sensitivity: Any = None,
    secret: Alphabet = _LINE,
) -> Mechanism:
    r"""Make Student-t noise, Y = X + noise (scipy: ``t(df=nu, loc=x, scale=sigma)``).

    .. math:: f(y|x) = \frac{\Gamma((\nu + 1)/2)}{\Gamma(\nu/2) \sqrt{\pi \nu}\, \sigma}
              \Big(1 + \frac{(y - x)^2}{\nu \sigma^2}\Big)^{-(\nu + 1)/2}

    Parameters
    ----------
    nu : float or DataArray
        The degrees of freedom, > 0; 1 is Cauchy noise.
    sigma : float or DataArray
        The scale, > 0; floats mean their binary64 values.
    epsilon, sensitivity : float or DataArray
        Instead of ``sigma``: a level in nats, and the distance D of two secrets up to which it
        holds. The scale is D / (2 sqrt(nu) sinh(epsilon / (nu + 1))), rounded up.
    secret : Alphabet
        Numbers: the alphabet of x.

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when a parameter is a DataArray.

    Raises
    ------
    InvalidInput
        ``nu`` or ``sigma`` <= 0 or NaN, neither ``sigma`` nor a level, a secret that is no number.

    Notes
    -----
    Closed form for ``bl.uniform`` on an interval of length L, proved in `StudentForms`: LDP is
    (nu + 1) asinh(L / (2 sqrt(nu) sigma)). Samples are floats: do not release them where the last
    bits matter.

    References
    ----------
    Bun, Steinke, "Average-Case Averages: Private Algorithms for Smooth Sensitivity and Mean
    Estimation" (2019), Section 3.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.uniform(bl.Interval(0, 3)) * bl.mechanisms.student_t(nu=4, sigma=1.0)
    >>> bl.ldp(joint)  # 5 asinh(3/4) = 5 log 2
    Bound(3.465735903, exact)
    """
    nu = positive("student_t", "nu", nu)

    def of(level: Any, reach: Any) -> Any:
        return reach / (2 * ball(nu).sqrt() * (level / (ball(nu) + 1)).sinh())

    words = "sigma = sensitivity / (2 sqrt(nu) sinh(epsilon / (nu + 1)))"
    sigma = scale("student_t", "sigma", sigma, epsilon, sensitivity, words, of)
    return _student("student_t", f"(nu={nu:g}, sigma={sigma:g})", nu, sigma, secret)


def _student(name: str, shown: str, nu: float, sigma: float, secret: Alphabet) -> Mechanism:
    from flint import arb

    def constant() -> Any:  # the logarithm of the density at 0
        half = ball(nu) / 2
        gammas = (half + ball(Fraction(1, 2))).lgamma() - half.lgamma()
        return gammas - (arb.pi() * ball(nu)).log() / 2 - ball(sigma).log()

    top = enclose(constant)[0]
    width = sigma * math.sqrt(nu)
    if not NORMAL <= width < math.inf:
        raise InvalidInput(
            name,
            expected="sigma sqrt(nu), the width of the noise, as a normal number of float64",
            got=f"nu={nu!r}, sigma={sigma!r}",
        )

    def log_density(y: Any, x: Any) -> Any:
        return -(nu + 1) / 2 * np.log1p(((y - x) / width) ** 2) + top

    out = additive(name, shown, log_density, secret)
    out.sampler = partial(_draw, nu, sigma)
    out.closed_forms = StudentForms(nu, sigma)
    return out


def _draw(nu: float, sigma: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + sigma * rng.standard_t(nu, np.shape(x))


@dataclass(frozen=True)
class StudentForms(ClosedForms):
    r"""Student-t noise and a secret that is uniform on an interval of length L.

    Notes
    -----
    Proof. In units of :math:`\sqrt\nu \sigma`, with :math:`l = L / (\sqrt\nu \sigma)`: f(y|x) is a
    constant times :math:`(1 + (y - x)^2)^{-(\nu+1)/2}`, which falls with \|y - x\|. For an outcome
    z beyond the interval the largest ratio of two secrets is that of the ends,
    :math:`((1 + (z + l)^2)/(1 + z^2))^{(\nu+1)/2}`. The quotient, whose derivative has the sign of
    1 - z l - z^2, is largest at :math:`z = (\sqrt{l^2 + 4} - l)/2`, where it is
    (z + l)/z = (z + l)^2, as z (z + l) = 1; and z + l = :math:`e^{\mathrm{asinh}(l/2)}`. For an
    outcome inside, the nearest secret is at distance 0, the farthest at l at most: no more than for
    z = 0. One outcome on either side has the largest ratio, a null set. A uniform secret charges
    all neighbourhoods of the ends. Tested in ``tests/mechanisms/test_heavy_tails.py``.
    """

    nu: float
    sigma: float

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy."""
        on = joint.prior.on
        if family_of(joint.prior)[0] != "uniform" or not isinstance(on, Interval):
            return None
        length = Fraction(on.upper) - Fraction(on.lower)

        def level() -> Any:
            half = ball(length) / (2 * ball(self.nu).sqrt() * ball(self.sigma))
            return (ball(self.nu) + 1) * half.asinh()

        return figure(level, "the largest ratio of two Student-t densities", attained=False)
