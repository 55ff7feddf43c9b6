"""Joints for the certified engine beside their truths: closed forms as floats around Arb balls.

Parameters are short dyadic numbers, so that the floats of a density mean what the truth means; a
constant factor of a kernel (a rounded sqrt(2 pi), a binomial coefficient) cancels in a leakage.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

import numpy as np
import scipy.special
import xarray as xr
from engine import truths
from engine.truths import ball, enclosed
from flint import arb

import borel as bl
from borel import settings

UNIT, HALF_LINE, REALS = bl.Interval(0, 1), bl.Interval(0, None), bl.Reals()


@dataclass(frozen=True)
class Joint:
    """A joint, its truths, and the outcomes at which they are compared.

    Attributes
    ----------
    build : callable
        Returns the joint.
    truth : truths.Case
        The truths.
    ys : tuple of float
        Single outcomes.
    grid : ndarray or None
        Two hundred outcomes.
    widths : dict
        The widths asked for, in nats, by kind; 1e-8 if it is not there.
    """

    build: Callable[[], Any]
    truth: truths.Case
    ys: tuple
    grid: Any = None
    widths: Any = None

    def width(self, kind):
        return (self.widths or {}).get(kind, 1e-8)


def encloses(low, high, pair):
    """Say if an enclosure and the floats around a truth leave room for it, with no tolerance."""
    return low <= pair[1] and pair[0] <= high


def violations(joint, case, ys, kinds=("pml", "pmc")):
    """Return the outcomes, of many at once, at which a truth lies outside of its enclosure."""
    out = []
    for kind in kinds:
        found = getattr(bl, kind)(joint)(np.asarray(ys))
        ends = found["lower"].values, found["upper"].values
        for y, low, high in zip(ys, *ends, strict=True):
            pair = getattr(case, kind)(y.item() if isinstance(y, np.generic) else y)
            if not encloses(low, high, pair):
                out.append((kind, y, (low, high), pair))
    return out


def band_violations(joint, case, kind, *, reach=1e6):
    """Return the outcomes at which a truth lies outside of what is said of their band.

    Leakages here are continuous in y, so that what holds almost everywhere on a band holds at its
    ends and at its middle.
    """
    from borel.engine import engine_for  # here, so that the cases need public names only

    part = engine_for(joint).partition(kind)
    for _ in range(2):
        part.split(np.ones(len(part.low), bool), settings.now() + 10)
    rows = [v[np.argsort(part.low)] for v in (part.low, part.high, part.lower, part.upper)]
    out = []
    for a, b, low, high in zip(*(row.tolist() for row in rows), strict=True):
        a, b = max(a, -reach), min(b, reach)
        if not a < b:
            continue
        for y in {a, b, a + (b - a) / 2}:
            if y in (joint.outcome.lower, joint.outcome.upper):
                continue  # truths are for outcomes inside
            pair = getattr(case, kind)(y)
            if not encloses(low, high, pair):
                out.append((kind, y, (low, high), pair))
    return out


# -- truths that are only here -------------------------------------------------------------------


@dataclass(frozen=True)
class LiteralClayton(truths.Case):
    """The density ``share + rest * c_1(x, y)``, whose floats need not add up to 1."""

    share: float
    rest: float

    def _density(self, y):
        return ball(self.share) + ball(self.rest)

    def _largest(self, y):
        return ball(self.share) + ball(self.rest) * truths.Clayton(1, 0)._largest(y)

    def _smallest(self, y):
        return ball(self.share)


@dataclass(frozen=True)
class Tilt(truths.Case):
    """The density 1 + (2x - 1)(1 - 2y)/2 on the unit square under the uniform prior: f_Y = 1."""

    def _density(self, y):
        return arb(1)

    def _largest(self, y):
        return 1 + abs(1 - 2 * y) / 2

    def _smallest(self, y):
        return 1 - abs(1 - 2 * y) / 2

    @enclosed
    def pml_sup(self):
        return ball(F(3, 2)).log()

    @enclosed
    def pmc_sup(self):
        return arb(2).log()

    @enclosed
    def pml_quantile(self, s):
        return (1 + ball(s) / 2).log()

    @enclosed
    def pmc_quantile(self, s):
        return -(1 - ball(s) / 2).log()


@dataclass(frozen=True)
class Cancelling(truths.Case):
    """The density 1 + (2x - 1)(1 - 3y^2)/2, where y^2 is what is left of squares of 1000."""

    def build(self):
        def density(y, x):
            square = (y + 1000) * (y - 1000) + 1e6
            return 1 + 0.5 * (2 * x - 1) * (1 - 3 * square)

        return bl.uniform(UNIT) * kernel(density, outcome=UNIT)

    def _density(self, y):
        return arb(1)

    def _largest(self, y):
        return 1 + abs(1 - 3 * y**2) / 2

    def _smallest(self, y):
        return 1 - abs(1 - 3 * y**2) / 2


@dataclass(frozen=True)
class TiltWithAtom(truths.Case):
    """The tilt under 3/4 of the uniform prior and an atom at 1/2, whose outcome has density 2y."""

    def _density(self, y):
        return ball(F(3, 4)) + y / 2

    def _largest(self, y):
        return (1 + abs(1 - 2 * y) / 2).max(2 * y)

    def _smallest(self, y):
        return (1 - abs(1 - 2 * y) / 2).min(2 * y)


@dataclass(frozen=True)
class Polynomial(truths.Case):
    """The density 1 + slope x (y - 1/2) for the secrets -1/2, 1/4, 1 of masses 1/2, 1/4, 1/4."""

    slope: float
    secrets = (F(-1, 2), F(1, 4), F(1))
    masses = (F(1, 2), F(1, 4), F(1, 4))

    def build(self):
        prior = bl.pmf(
            [float(p) for p in self.masses], on=bl.Finite([float(x) for x in self.secrets])
        )
        density = kernel(lambda y, x: 1 + self.slope * x * (y - 0.5), secret=prior.on, outcome=UNIT)
        return prior * density

    def _all(self, y):
        slope, half = ball(self.slope), ball(F(1, 2))
        return [1 + slope * ball(x) * (y - half) for x in self.secrets]

    def _density(self, y):
        pairs = zip(self.masses, self._all(y), strict=True)
        return sum((ball(p) * f for p, f in pairs), arb(0))

    def _largest(self, y):
        a, b, c = self._all(y)
        return a.max(b).max(c)

    def _smallest(self, y):
        a, b, c = self._all(y)
        return a.min(b).min(c)


@dataclass(frozen=True)
class Kinks(truths.Case):
    """The density 1 + (2y - 1)(h(x) - 1/2) for a mean of h, whose values fill [0, top].

    Attributes
    ----------
    h : callable
        The function, whose graph has kinks.
    mean, top : callable
        Return its mean under the uniform prior, and the largest value, as balls.
    """

    h: Callable
    mean: Callable
    top: Callable

    def build(self):
        return bl.uniform(UNIT) * kernel(
            lambda y, x: 1 + (2 * y - 1) * (self.h(x) - 0.5), outcome=UNIT
        )

    def _at(self, y, h):
        return 1 + (2 * y - 1) * (h - ball(F(1, 2)))

    def _density(self, y):
        return self._at(y, self.mean())

    def _largest(self, y):
        return self._at(y, arb(0)).max(self._at(y, self.top()))

    def _smallest(self, y):
        return self._at(y, arb(0)).min(self._at(y, self.top()))


def waves(n):
    """Return |sin(n pi x)|; the float n pi is what the density and the truth mean."""
    rate = np.pi * n

    def mean():
        c, pi = ball(rate), arb.pi()
        k = (c / pi).floor().unique_fmpz()
        return (2 * k + 1 - (c - k * pi).cos()) / c

    return Kinks(lambda x: abs(np.sin(rate * x)), mean, lambda: arb(1))


def flat(place):
    """Return (x - place)^4 for a place below 1/2: every derivative is small at its minimum."""

    def mean():
        c = ball(place)
        return (c**5 + (1 - c) ** 5) / 5

    return Kinks(lambda x: (x - place) ** 4, mean, lambda: (1 - ball(place)) ** 4)


def corner(place):
    """Return |x - place| for a place below 1/2."""

    def mean():
        c = ball(place)
        return (c**2 + (1 - c) ** 2) / 2

    return Kinks(lambda x: abs(x - place), mean, lambda: 1 - ball(place))


# -- kernels -------------------------------------------------------------------------------------


def learnt_slopes(slopes):
    """Draws of densities a e^(a x) / (e^a - 1) on [0, 1], slopes of shape (chain, draw)."""
    draws = xr.Dataset({"a": (("chain", "draw"), slopes)}, attrs={"borel_draws": "exact"})
    return bl.priors.from_posterior(
        draws,
        lambda d: bl.Measure(
            lambda x, a: a * np.exp(a * x) / np.expm1(a),
            on=bl.Interval(0, 1),
            params={"a": d["a"].values},
        ),
    )


def tilt(y, x):
    return 1 + 0.5 * (2 * x - 1) * (1 - 2 * y)


def clayton(y, x):
    return 0.1 + 0.9 * 2 * x * y / (x + y - x * y) ** 3


def log_gauss(sigma):
    return lambda y, x: -(((y - x) / sigma) ** 2) / 2 - np.log(sigma * np.sqrt(2 * np.pi))


def log_gauss_of_mean(d, sigma):
    def density(y, x):
        mean = sum(x) / d if d > 1 else x
        return -(((y - mean) / sigma) ** 2) / 2 - np.log(sigma * np.sqrt(2 * np.pi))

    return density


def log_student(nu):
    def density(y, x):
        size = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - math.log(nu * math.pi) / 2
        return size - (nu + 1) / 2 * np.log1p((y - x) ** 2 / nu)

    return density


def log_binomial(n):
    def density(y, x):
        gammaln = scipy.special.gammaln
        choose = gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)
        return choose + y * np.log(x) + (n - y) * np.log1p(-x)

    return density


def binomial_of_four(y, x):
    middle = np.where(y == 2, 6.0, 4.0)
    return np.where((y == 0) | (y == 4), 1.0, middle) * x**y * (1 - x) ** (4 - y)


def kernel(density, secret=UNIT, outcome=REALS, **rest):
    return bl.Mechanism(density, secret=secret, outcome=outcome, **rest)


def logs(density, secret=UNIT, outcome=REALS):
    return bl.Mechanism(density, secret=secret, outcome=outcome, log=True)


# -- the cases of the notes ----------------------------------------------------------------------

CASES: dict[str, Joint] = {}


def case(name, build, truth, ys, grid=None, **widths):
    CASES[name] = Joint(build, truth, ys, grid, widths)


def reference(mechanism):
    return mechanism.reference_prior * mechanism


NARROW, WIDE = bl.Interval(0.125, 0.875), bl.Interval(-1, 1)
IN_UNIT = np.linspace(0.002, 0.998, 200)

for theta in (0.25, 0.5, 1.0, 2.0, 5.0):
    case(
        f"Clayton, theta = {theta:g}",
        lambda theta=theta: reference(bl.mechanisms.clayton(eta=0.125, theta=theta)),
        truths.Clayton(theta, 0.125),
        (1e-6, 0.03, 0.5, 0.7, 0.999),
        IN_UNIT if theta in (1.0, 2.0) else None,
        # x^theta falls slowly as x -> 0, where the infimum is approached
        **({"pmc": 0.5} if theta < 0.5 else {}),
    )
case(
    "Clayton, a user's",
    lambda: bl.uniform(UNIT) * kernel(clayton, outcome=UNIT),
    LiteralClayton(0.1, 0.9),
    (1e-6, 0.03, 0.5, 0.7, 0.999),
    IN_UNIT,
)
case(
    "Laplace on a uniform",
    lambda: bl.uniform(UNIT) * bl.mechanisms.laplace(b=0.5, secret=UNIT),
    truths.LaplaceUniform(0.5, 0, 1),
    (-50.0, -1.0, 0.0, 0.3, 0.5, 1.0, 7.0, 600.0),
    np.linspace(-3, 4, 200),
)
case(
    "Laplace on a uniform, a user's",
    lambda: bl.uniform(UNIT) * kernel(lambda y, x: np.exp(-abs(y - x) / 0.25) / (2 * 0.25)),
    truths.LaplaceUniform(0.25, 0, 1),
    (-50.0, -1.0, 0.0, 0.3, 0.5, 1.0, 7.0),
    np.linspace(-3, 4, 200),
)
case(
    "Gaussian on a uniform",
    lambda: bl.uniform(WIDE) * bl.mechanisms.gaussian(sigma=1.0, secret=WIDE),
    truths.GaussianUniform(1.0, -1, 1),
    (-60.0, -45.0, -1.0, 0.0, 0.3, 6.0, 60.0),
    np.linspace(-60, 60, 200),
)
case(
    "Gaussian on a uniform, a user's",
    lambda: (
        bl.uniform(WIDE)
        * kernel(lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi), secret=WIDE)
    ),
    truths.GaussianUniform(1.0, -1, 1),
    (-60.0, -45.0, -1.0, 0.0, 0.3, 6.0, 60.0),
    np.linspace(-60, 60, 200),
)
case(
    "Gaussian on a normal",
    lambda: bl.normal(mu=0.5, sigma=2.0) * bl.mechanisms.gaussian(sigma=1.0),
    truths.GaussianNormal(1.0, 0.5, 2.0),
    (-30.0, -1.0, 0.0, 0.3, 6.0, 40.0),
    np.linspace(-10, 10, 200),
)
for alpha, beta in ((2.0, 5.0), (0.5, 0.5)):
    case(
        f"binomial of 10 on a Beta({alpha:g}, {beta:g})",
        lambda alpha=alpha, beta=beta: (
            bl.beta(alpha=alpha, beta=beta) * logs(log_binomial(10), outcome=bl.Finite(11))
        ),
        truths.BetaBinomial(10, alpha, beta),
        tuple(range(11)),
    )
case(
    "binomial of 4 on a Beta(2, 5), with its coefficients",
    lambda: bl.beta(alpha=2, beta=5) * kernel(binomial_of_four, outcome=bl.Finite(5)),
    truths.BetaBinomial(4, 2, 5),
    tuple(range(5)),
)
case(
    "binomial of 10 on a part of the unit interval",
    lambda: bl.uniform(NARROW) * logs(log_binomial(10), NARROW, bl.Finite(11)),
    truths.UniformBinomial(10, 0.125, 0.875),
    tuple(range(11)),
)
for d in range(1, 6):
    case(
        f"mean of {d}",
        lambda d=d: bl.uniform(WIDE**d) * logs(log_gauss_of_mean(d, 1.0), WIDE**d),
        truths.GaussianMean(d, 1.0),
        (-3.0, 0.0, 0.7),
        np.linspace(-4, 4, 200) if d <= 2 else None,
    )
case(
    "exponential on a uniform",
    lambda: (
        bl.uniform(UNIT)
        * kernel(lambda y, x: np.where(y > x, 2 * np.exp(-2 * (y - x)), 0.0), outcome=HALF_LINE)
    ),
    truths.ExponentialUniform(2.0),
    (1e-6, 0.03, 0.5, 1.0, 1.5, 30.0, 300.0),
    np.linspace(0.01, 4, 200),
)
case(
    "Cauchy on a uniform",
    lambda: bl.uniform(UNIT) * kernel(lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2))),
    truths.CauchyUniform(1.0, 0, 1),
    (-1e6, -3.0, 0.0, 0.3, 0.5, 1.0, 60.0),
    np.linspace(-30, 30, 200),
)
for nu in (2.5, 3.0):
    case(
        f"Student of {nu:g} on a uniform",
        lambda nu=nu: bl.uniform(UNIT) * logs(log_student(nu)),
        truths.StudentUniform(nu),
        (-1e3, -3.0, 0.0, 0.3, 0.5, 1.0, 60.0),
        np.linspace(-30, 30, 200),
    )
case(
    "Gaussian on a Beta",
    lambda: bl.beta(alpha=2, beta=5) * logs(log_gauss(0.5)),
    truths.GaussianBeta(0.5, 2, 5),
    (-10.0, 0.0, 0.3, 0.5, 1.0, 10.0),
    np.linspace(-10, 10, 200),
)
case(
    "Gaussian on a Gamma",
    lambda: bl.gamma(alpha=3, beta=2) * logs(log_gauss(0.5), HALF_LINE),
    truths.GaussianGamma(0.5, 3, 2),
    (-5.0, 0.0, 0.3, 0.5, 1.0, 10.0),
    np.linspace(-5, 10, 200),
)
case(
    "Gaussian on an exponential",
    lambda: bl.exponential(lam=1.5) * logs(log_gauss(0.5), HALF_LINE),
    truths.GaussianExponential(0.5, 1.5),
    (-5.0, 0.0, 0.3, 0.5, 1.0, 10.0),
    np.linspace(-5, 10, 200),
)
case(
    "Gaussian on a Laplace",
    lambda: bl.laplace(mu=0.25, b=0.5) * logs(log_gauss(0.5), REALS),
    truths.GaussianLaplace(0.5, 0.25, 0.5),
    (-10.0, 0.0, 0.3, 0.5, 1.0, 10.0),
    np.linspace(-10, 10, 200),
)
case(
    "Gaussian on a Cauchy",
    lambda: bl.cauchy(alpha=0.25, beta=0.5) * logs(log_gauss(0.5), REALS),
    truths.GaussianCauchy(0.5, 0.25, 0.5),
    (-10.0, 0.0, 0.3, 0.5, 1.0, 100.0),
    np.linspace(-10, 10, 200),
)
