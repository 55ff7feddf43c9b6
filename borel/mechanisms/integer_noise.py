"""Noise of whole numbers: two-sided geometric, or discrete Laplace, and discrete Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.mechanisms.closed_forms import (
    family_of,
    infinite,
    number,
    positive,
    proved,
    proved_kernel,
)
from borel.mechanisms.levels import near_floats, require_few
from borel.mechanisms.noise import BY_EPSILON
from borel.mechanisms.parameter_arrays import over_arrays
from borel.mechanisms.scales import scale
from borel.numerics.balls.arithmetic import ball, enclose
from borel.probability.alphabets import Alphabet, Integers
from borel.probability.closed_forms import ClosedForms
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

_INTEGERS = Integers()


@over_arrays
@explained
def geometric(
    *,
    alpha: Any = None,
    epsilon: Any = None,
    sensitivity: Any = None,
    secret: Alphabet = _INTEGERS,
    outcome: Alphabet = _INTEGERS,
) -> Mechanism:
    r"""Make the geometric mechanism, Y = X + two-sided geometric noise.

    .. math:: P_{Y|X=x}(y) = \frac{1 - \alpha}{1 + \alpha}\, \alpha^{|y - x|}

    Parameters
    ----------
    alpha : float, Fraction or DataArray
        The ratio of neighbours, inside (0, 1). A float means its binary64 value; a Fraction makes a
        matrix of Fractions where secret and outcome are finite.
    epsilon, sensitivity : float or DataArray
        Instead of ``alpha``: a level in nats, and the distance of two secrets up to which it holds.
        alpha is e^(-epsilon / sensitivity), rounded up.
    secret : Alphabet
        Whole numbers: `Integers`, or finite labels.
    outcome : Integers
        All integers; or, with both ends and a finite secret, those between: noisy numbers beyond an
        end are released as that end (the range-restricted mechanism). Ends that hold all secrets
        lose no information, and the matrix makes every figure exact.

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when a parameter is a DataArray.

    Raises
    ------
    InvalidInput
        ``alpha`` outside (0, 1), neither it nor a level, secrets or outcomes that are no integers.
    NotYet
        An outcome with ends, and infinitely many secrets.

    Notes
    -----
    Closed forms, proved in `GeometricForms`, where the outcome is all integers: LDP is
    (hi - lo) log(1 / alpha), lo and hi the smallest and the largest secret that the prior charges;
    for ``bl.uniform`` on n integers in a row sup PML is log(n (1 - alpha) / (1 - alpha^n)) and
    sup PMC log((alpha^-n - 1) alpha / (n (1 - alpha))). The samples are exact in law, but for the
    rounding of the uniform numbers that NumPy makes them of.

    References
    ----------
    Ghosh, Roughgarden, Sundararajan, "Universally Utility-Maximizing Privacy Mechanisms" (2012).

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> counts = bl.Integers(0, 2)
    >>> noise = bl.mechanisms.geometric(alpha=F(1, 2), secret=counts, outcome=counts)
    >>> [str(p) for p in noise.matrix[0]]
    ['2/3', '1/6', '1/6']
    >>> bl.pml(bl.uniform(counts) * bl.mechanisms.geometric(alpha=0.5)).sup()  # log(12/7)
    Bound(0.5389965007, exact)
    """
    what = "geometric"
    if alpha is None or not (epsilon is None and sensitivity is None):
        words = "alpha = e^(-epsilon / sensitivity)"
        noise = LaplaceOfIntegers(scale(what, "alpha", alpha, epsilon, sensitivity, words), None)
        return _on_integers(what, f"(alpha={math.exp(-noise.slope):g})", noise, secret, outcome)
    exact = alpha if isinstance(alpha, Fraction) else number(what, "alpha", alpha)
    if not 0 < exact < 1:
        raise InvalidInput(what, expected="alpha inside (0, 1)", got=repr(alpha))
    return _on_integers(what, f"(alpha={exact})", LaplaceOfIntegers(None, exact), secret, outcome)


@over_arrays
@explained
def discrete_laplace(
    *,
    b: Any = None,
    epsilon: Any = None,
    sensitivity: Any = None,
    secret: Alphabet = _INTEGERS,
    outcome: Alphabet = _INTEGERS,
) -> Mechanism:
    r"""Make discrete Laplace noise (scipy: ``dlaplace(1 / b, loc=x)``).

    .. math:: P_{Y|X=x}(y) = \tanh\Big(\frac{1}{2b}\Big) e^{-|y - x| / b}

    Parameters
    ----------
    b : float or DataArray
        The scale, > 0; a float means its binary64 value.
    epsilon, sensitivity : float or DataArray
        Instead of ``b``: a level in nats, and the distance of two secrets up to which it holds.
        The scale is sensitivity / epsilon, rounded up.
    secret : Alphabet
        Whole numbers: `Integers`, or finite labels.
    outcome : Integers
        As for `geometric`, which is the same noise with alpha = e^(-1 / b).

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when a parameter is a DataArray.

    Raises
    ------
    InvalidInput
        ``b`` <= 0 or NaN, neither it nor a level, secrets or outcomes that are no integers.
    NotYet
        An outcome with ends, and infinitely many secrets.

    Notes
    -----
    Closed forms: those of `geometric`, proved in `GeometricForms`.

    References
    ----------
    Inusah, Kozubowski, "A Discrete Analogue of the Laplace Distribution" (2006).

    Examples
    --------
    >>> import borel as bl
    >>> counts = bl.uniform(bl.Integers(0, 3))
    >>> bl.ldp(counts * bl.mechanisms.discrete_laplace(epsilon=0.5, sensitivity=1))
    Bound(1.5, exact)
    """
    b = scale("discrete_laplace", "b", b, epsilon, sensitivity, BY_EPSILON)
    noise = LaplaceOfIntegers(b, None)
    return _on_integers("discrete_laplace", f"(b={b:g})", noise, secret, outcome)


@over_arrays
@explained
def discrete_gaussian(*, sigma: Any, secret: Alphabet = _INTEGERS) -> Mechanism:
    r"""Make the discrete Gaussian mechanism, Y = X + noise.

    .. math:: P_{Y|X=x}(y) = \frac{e^{-(y - x)^2 / (2 \sigma^2)}}
              {\sum_{z \in \mathbb{Z}} e^{-z^2 / (2 \sigma^2)}}

    Parameters
    ----------
    sigma : float or DataArray
        The scale, > 0; a float means its binary64 value. The standard deviation is a little less.
    secret : Alphabet
        Whole numbers: `Integers`, or finite labels.

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when ``sigma`` is a DataArray.

    Raises
    ------
    InvalidInput
        ``sigma`` <= 0 or NaN, secrets that are no integers.

    Notes
    -----
    Closed form, proved in `DiscreteGaussianForms`: for a prior that charges two secrets or more LDP
    and sup PMC are infinite, both approached. Samples have the law of the formula, but for the
    rounding of the uniform numbers that they are made of.

    References
    ----------
    Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020), whose
    Algorithm 3 draws the samples.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.uniform(bl.Integers(0, 3)) * bl.mechanisms.discrete_gaussian(sigma=1.0)
    >>> bl.pml(joint).sup(), bl.ldp(joint)
    (Bound(1.386294361, exact), Bound(inf, exact))
    """
    what = "discrete_gaussian"
    sigma = positive(what, "sigma", sigma)
    _require_integers(what, "secret", secret)
    log_total = enclose(lambda: _theta(ball(sigma)).log())[0]

    def log_density(y: Any, x: Any) -> Any:
        return -(((y - x) / sigma) ** 2) / 2 - log_total

    out = proved_kernel(
        log_density,
        secret=secret,
        outcome=_INTEGERS,
        name=f"{what}(sigma={sigma:g})",
        normalisation="the discrete_gaussian masses sum to 1 at every integer",
    )
    out.sampler = partial(_draw_gaussian, sigma)
    out.closed_forms = DiscreteGaussianForms(sigma)
    return out


def _theta(sigma: Any) -> Any:
    r"""Return the sum of e^(-z^2 / (2 sigma^2)) over all integers as a ball.

    For sigma >= 1 by Poisson's formula, sigma sqrt(2 pi) times the sum of e^(-2 pi^2 sigma^2 z^2);
    the terms beyond the n-th are less than a geometric series, twice q^(n^2) / (1 - q).
    """
    import flint

    pi = flint.arb.pi()
    large = sigma >= 1
    rate = -2 * (pi * sigma) ** 2 if large else -1 / (2 * sigma**2)

    def term(z: int) -> Any:  # no power of e^rate, which may be too small for an exponent
        return 2 * (rate * z * z).exp()

    n = 1
    total = 1 + term(1)
    while not term(n) < ball(2) ** -flint.ctx.prec:
        n += 1
        total += term(n)
    total += (term(n + 1) / -rate.expm1()).union(ball(0))
    return total * sigma * (2 * pi).sqrt() if large else total


# -- the discrete Laplace law ----------------------------------------------------------------------


@dataclass(frozen=True)
class LaplaceOfIntegers:
    """Two-sided geometric noise, by its scale b = 1 / log(1 / alpha), or else by alpha."""

    b: float | None
    alpha: Fraction | float | None

    def meant(self) -> Any:
        """Return log(1 / alpha) as a ball."""
        return 1 / ball(self.b) if self.alpha is None else -ball(self.alpha).log()

    @cached_property
    def slope(self) -> float:
        """The same as the density has it: a float that is not above it."""
        return enclose(self.meant)[0]

    def figure(self, formula: Callable[[Any], Any]) -> Bound:
        """Return what a formula that increases with log(1 / alpha) encloses, between these two."""
        low = enclose(lambda: formula(ball(self.slope)))[0]
        high = enclose(lambda: formula(self.meant()))[1]
        return proved(max(low, 0.0), max(high, 0.0), _RATIO, attained=True)

    def table(self, what: str, secrets: Any, low: int, high: int) -> tuple[np.ndarray, float]:
        """Return the matrix of the noisy number, moved to the nearer end if it is beyond one."""
        steps = [[(y - x, y == low, y == high) for y in range(low, high + 1)] for x in secrets]

        def entries(alpha: Any) -> list:
            return [_mass(alpha, *step) for row in steps for step in row]

        if isinstance(self.alpha, Fraction):
            values, rounding = np.array(entries(self.alpha), dtype=object), 0.0
        else:
            given = f"alpha = {self.alpha!r}" if self.alpha is not None else f"b = {self.b!r}"
            values, rounding = near_floats(what, lambda: entries(self._alpha()), given)
        return values.reshape(len(steps), -1), rounding

    def _alpha(self) -> Any:
        return (-self.meant()).exp() if self.alpha is None else ball(self.alpha)


def _mass(alpha: Any, step: int, lowest: bool, highest: bool) -> Any:
    """Return the mass of a step, and of all that are beyond it if it leads to an end."""
    if lowest and highest:
        return Fraction(1)
    if not (lowest or highest):
        return (1 - alpha) / (1 + alpha) * alpha ** abs(step)
    outwards = -step if lowest else step
    if outwards >= 0:
        return alpha**outwards / (1 + alpha)
    return 1 - alpha ** (1 - outwards) / (1 + alpha)


def _on_integers(
    what: str, shown: str, noise: LaplaceOfIntegers, secret: Any, outcome: Any
) -> Mechanism:
    _require_integers(what, "secret", secret)
    if not isinstance(outcome, Integers):
        raise InvalidInput(what, expected="outcome = Integers(...)", got=repr(outcome))
    if outcome == _INTEGERS:
        slope = noise.slope
        top = enclose(lambda: (ball(slope) / 2).tanh().log())[0]
        out = proved_kernel(
            lambda y, x: -slope * np.abs(y - x) + top,
            secret=secret,
            outcome=outcome,
            name=what + shown,
            normalisation=f"the {what} masses sum to 1 at every integer",
        )
        out.sampler = partial(_draw_laplace, slope)
        out.closed_forms = GeometricForms(noise)
        return out
    if outcome.kind != "finite" or secret.kind != "finite":
        raise NotYet(
            what,
            missing=f"{secret!r} to {outcome!r}",
            instead="all integers as the outcome, or finite ones of a finite secret.",
        )
    require_few(what, secret.size, outcome.size)
    labels = [int(x) for x in secret.labels]
    values, rounding = noise.table(what, labels, outcome.labels[0], outcome.labels[-1])
    return Mechanism._from_matrix(values, secret, outcome, what + shown, rounding)


def _require_integers(what: str, role: str, alphabet: Any) -> None:
    whole = isinstance(alphabet, Integers) or (
        getattr(alphabet, "kind", "") == "finite"
        and alphabet.dim == 1
        and alphabet.numeric
        and all(float(v).is_integer() for v in alphabet.labels)
    )
    if not whole:
        raise InvalidInput(what, expected=f"{role} = whole numbers", got=repr(alphabet))


def _draw_laplace(slope: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the difference of two geometric numbers."""
    first, second = (np.floor(rng.standard_exponential(np.shape(x)) / slope) for _ in range(2))
    return x + (first - second)  # floats, as whole numbers of 64 bits would be cut off


def _draw_gaussian(sigma: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw discrete Laplace numbers, and keep them with the ratio of the two laws."""
    t = math.floor(sigma) + 1
    noise = np.zeros(np.size(x))
    left = np.arange(noise.size)
    while left.size:
        z = np.abs(drawn := _draw_laplace(1 / t, np.zeros(left.size), rng))
        kept = rng.random(left.size) < np.exp(-((z - sigma**2 / t) ** 2) / (2 * sigma**2))
        noise[left[kept]] = drawn[kept]
        left = left[~kept]
    return x + noise.reshape(np.shape(x))


_RATIO = "the largest ratio of two geometric masses (proof in GeometricForms)"


def _ends(joint: Joint) -> tuple[int, int] | None:
    """Return the smallest and the largest secret of positive mass, of finitely many."""
    prior = joint.prior
    if prior.on.kind != "finite" or prior.unproved:
        return None
    charged = [x for x, p in zip(prior.on.labels, prior.probabilities, strict=True) if p != 0]
    return int(min(charged)), int(max(charged))


@dataclass(frozen=True)
class GeometricForms(ClosedForms):
    r"""Two-sided geometric noise on finitely many integers.

    Notes
    -----
    Proof. With lo and hi the smallest and the largest secret that is charged,
    :math:`f(y|x) / f(y|x') = \alpha^{|y-x| - |y-x'|} \le \alpha^{-|x - x'|}` by the triangle
    inequality, with equality for y >= hi (or y <= lo): LDP is (hi - lo) log(1 / alpha).

    For a uniform secret on n integers in a row, g(y) the mean of :math:`\alpha^{|y - x|}`. For
    y >= hi PML is that of y = hi, as f(y|x) is a constant times :math:`\alpha^{-x}`; likewise
    below lo. For y between, the maximum of :math:`\alpha^{|y-x|}` is 1, at x = y, and
    n g(y) = 1 + the sum of i + j geometric terms, i and j up to y - lo and hi - y, is smallest at
    the ends, as :math:`\alpha^i + \alpha^j` is with i + j fixed largest where these differ most:
    PML is largest there, :math:`-\log g(hi)`, n g(hi) = :math:`(1 - \alpha^n)/(1 - \alpha)`. PMC(y)
    is, for y at or right of the middle, the logarithm of the mean of
    :math:`\alpha^{|y - x| - |y - lo|}`, and for each x the exponent falls with y up to
    y = hi: it is largest for y >= hi, the mean of :math:`\alpha^{-(x - lo)}`. All of them increase
    with log(1 / alpha).
    Tested in ``tests/mechanisms/test_integer_noise.py``.
    """

    noise: LaplaceOfIntegers

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy, for every prior on finitely many."""
        ends = _ends(joint)
        if ends is None:
            return None
        return self.noise.figure(lambda rate: (ends[1] - ends[0]) * rate)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, for a uniform secret on integers in a row."""
        ends = _ends(joint)
        if ends is None or family_of(joint.prior)[0] != "uniform":
            return None
        n = joint.prior.on.size
        if ends[1] - ends[0] != n - 1:
            return None
        if n == 1:
            return proved(0.0, 0.0, _RATIO, attained=True)

        def leakage(rate: Any) -> Any:  # by the mean of alpha^(hi - x)
            level = ((-n * rate).expm1() / (-rate).expm1() / n).log()
            return -level if kind == "pml" else level + (n - 1) * rate

        return self.noise.figure(leakage)


@dataclass(frozen=True)
class DiscreteGaussianForms(ClosedForms):
    r"""Discrete Gaussian noise on finitely many integers.

    Notes
    -----
    Proof. The ratio of two charged secrets x < x' is e to the power of
    :math:`(x' - x)(2y - x - x') / (2\sigma^2)` at y, and every integer has positive probability: it
    has no bound as y grows. Nor has :math:`f_Y(y) / f(y|x) \ge p(x') f(y|x') / f(y|x)`. No outcome
    has an infinite one. Tested in ``tests/mechanisms/test_integer_noise.py``.
    """

    sigma: float

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy: infinite, or 0 for one secret."""
        ends = _ends(joint)
        if ends is None:
            return None
        if ends[0] == ends[1]:
            return proved(0.0, 0.0, "one secret alone")
        return infinite("two Gaussian masses have ratios without bound", attained=False)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum of PMC, or 0 for one secret."""
        found = self.ldp(joint)
        return found if kind == "pmc" or (found is not None and found.upper == 0) else None
