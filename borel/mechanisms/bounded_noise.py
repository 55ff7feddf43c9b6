"""Laplace and Gaussian noise whose outcome stays within bounds: truncated, or censored at them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import family_of, figure, number, positive, proved_kernel
from borel.mechanisms.noise import BY_EPSILON, LaplaceForms, gaussian, laplace
from borel.mechanisms.parameter_arrays import over_arrays
from borel.mechanisms.scales import scale
from borel.numerics.balls.arithmetic import ball
from borel.probability.alphabets import Alphabet, Interval
from borel.probability.closed_forms import ClosedForms
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism


@over_arrays
@explained
def truncated_laplace(
    *, lower: Any, upper: Any, b: Any, secret: Alphabet | None = None
) -> Mechanism:
    r"""Make Laplace noise conditioned on an outcome within bounds, by drawing until it is.

    .. math:: f(y|x) = \frac{e^{-|y - x| / b}}{b (2 - e^{-(x - c)/b} - e^{-(d - x)/b})},
              \qquad c < y < d

    Parameters
    ----------
    lower, upper : float
        The bounds c < d.
    b : float or DataArray
        The scale, > 0; floats mean their binary64 values.
    secret : Alphabet
        Numbers within the bounds; the interval between them if not given.

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when a parameter is a DataArray.

    Raises
    ------
    InvalidInput
        ``b`` <= 0 or NaN, bounds that are not finite or not in order, secrets beyond them.

    Notes
    -----
    Closed form for ``bl.uniform`` on [p, q] within the bounds, proved in `TruncatedForms`: LDP is
    (q - p) / b plus \|log C(p) - log C(q)\|, C(x) the probability that x plus noise is within the
    bounds. So b = (q - p) / epsilon does not give epsilon-DP, unless the bounds are p and q, or as
    far from them. Samples are floats: do not release them where the last bits matter.

    References
    ----------
    Holohan, Antonatos, Braghin, Mac Aonghusa, "The Bounded Laplace Mechanism in Differential
    Privacy" (2020).

    Examples
    --------
    >>> import borel as bl
    >>> noise = bl.mechanisms.truncated_laplace(lower=0, upper=1, b=0.5)
    >>> bl.ldp(bl.uniform(bl.Interval(0, 1)) * noise)
    Bound(2, exact)
    """
    what = "truncated_laplace"
    b = positive(what, "b", b)
    c, d, secret = _within(what, lower, upper, secret)

    def log_density(y: Any, x: Any) -> Any:
        room = -np.expm1(-(x - c) / b) - np.expm1(-(d - x) / b)
        return -np.abs(y - x) / b - np.log(room) - math.log(b)

    out = proved_kernel(
        log_density,
        secret=secret,
        outcome=Interval(c, d),
        name=f"{what}(b={b:g}, lower={c:g}, upper={d:g})",
        normalisation="the laplace density, divided by its integral between the bounds",
    )
    out.sampler = partial(_draw_laplace, b, c, d)
    out.closed_forms = TruncatedForms(LaplaceLaw(b), c, d)
    return out


@over_arrays
@explained
def truncated_gaussian(
    *, lower: Any, upper: Any, sigma: Any, secret: Alphabet | None = None
) -> Mechanism:
    r"""Make normal noise conditioned on an outcome within bounds, by drawing until it is.

    .. math:: f(y|x) = \frac{\phi((y - x) / \sigma)}
              {\sigma (\Phi((d - x)/\sigma) - \Phi((c - x)/\sigma))}, \qquad c < y < d

    Parameters
    ----------
    lower, upper : float
        The bounds c < d.
    sigma : float or DataArray
        The standard deviation of the noise, > 0; floats mean their binary64 values.
    secret : Alphabet
        Numbers within the bounds; the interval between them if not given.

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when a parameter is a DataArray.

    Raises
    ------
    InvalidInput
        ``sigma`` <= 0 or NaN, bounds that are not finite or not in order, secrets beyond them.

    Notes
    -----
    Closed form for ``bl.uniform`` on [p, q] within the bounds, proved in `TruncatedForms`: LDP is
    the larger one of \|log f(y|p) - log f(y|q)\| at the two bounds, and finite. Samples are floats:
    do not release them where the last bits matter.

    References
    ----------
    Chen, Hale, "The Bounded Gaussian Mechanism for Differential Privacy" (2024).

    Examples
    --------
    >>> import borel as bl
    >>> noise = bl.mechanisms.truncated_gaussian(lower=0, upper=1, sigma=1.0)
    >>> bl.ldp(bl.uniform(bl.Interval(0, 1)) * noise)
    Bound(0.5, exact)
    """
    import scipy.special  # so that its ufuncs are known to the tracer

    what = "truncated_gaussian"
    sigma = positive(what, "sigma", sigma)
    c, d, secret = _within(what, lower, upper, secret)
    erf, width = scipy.special.erf, sigma * math.sqrt(2)

    def log_density(y: Any, x: Any) -> Any:
        room = erf((d - x) / width) + erf((x - c) / width)  # twice the probability, none cancels
        return -(((y - x) / sigma) ** 2) / 2 - np.log(room) - math.log(sigma * _HALF_ROOT)

    out = proved_kernel(
        log_density,
        secret=secret,
        outcome=Interval(c, d),
        name=f"{what}(sigma={sigma:g}, lower={c:g}, upper={d:g})",
        normalisation="the gaussian density, divided by its integral between the bounds",
    )
    out.sampler = partial(_draw_gaussian, sigma, c, d)
    out.closed_forms = TruncatedForms(GaussianLaw(sigma), c, d)
    return out


@over_arrays
@explained
def censored_laplace(
    *,
    lower: Any,
    upper: Any,
    b: Any = None,
    epsilon: Any = None,
    sensitivity: Any = None,
    secret: Alphabet | None = None,
) -> Mechanism:
    r"""Make Laplace noise with an outcome that is clipped to bounds, which get mass (censored).

    .. math:: Y = \min(\max(X + \text{Laplace noise}, c), d)

    Parameters
    ----------
    lower, upper : float
        The bounds c < d, which are atoms of the outcome.
    b : float or DataArray
        The scale of the noise, > 0; floats mean their binary64 values.
    epsilon, sensitivity : float or DataArray
        Instead of ``b``: a level in nats, and the distance of two secrets up to which it holds.
        The scale is sensitivity / epsilon, rounded up.
    secret : Alphabet
        Numbers; the interval between the bounds if not given.

    Returns
    -------
    Mechanism
        To a `Mixed` outcome; ``laplace(b=b).clip(lower, upper)`` with closed forms.

    Raises
    ------
    InvalidInput
        ``b`` <= 0 or NaN, neither it nor a level, bounds that are not finite or not in order.

    Notes
    -----
    Closed forms for ``bl.uniform`` on an interval within the bounds, proved in
    `CensoredLaplaceForms`: those of `laplace`, as clipping beyond the secrets loses nothing.

    References
    ----------
    Liu, "Statistical Properties of Sanitized Results from Differentially Private Laplace Mechanism
    with Univariate Bounding Constraints" (2019).

    Examples
    --------
    >>> import borel as bl
    >>> noise = bl.mechanisms.censored_laplace(lower=0, upper=1, b=1.0)
    >>> joint = bl.uniform(bl.Interval(0, 1)) * noise
    >>> bl.pml(joint).sup(), bl.ldp(joint)
    (Bound(0.4586751454, exact), Bound(1, exact))
    """
    what = "censored_laplace"
    b = scale(what, "b", b, epsilon, sensitivity, BY_EPSILON)
    c, d, secret = _within(what, lower, upper, secret, or_beyond=True)
    out = laplace(b=b, secret=secret).clip(c, d)
    out.name = f"{what}(b={b:g}, lower={c:g}, upper={d:g})"
    out.closed_forms = CensoredLaplaceForms(b, c, d)
    return out


@over_arrays
@explained
def censored_gaussian(
    *, lower: Any, upper: Any, sigma: Any, secret: Alphabet | None = None
) -> Mechanism:
    r"""Make normal noise with an outcome that is clipped to bounds, which get mass (censored).

    .. math:: Y = \min(\max(X + \text{normal noise}, c), d)

    Parameters
    ----------
    lower, upper : float
        The bounds c < d, which are atoms of the outcome.
    sigma : float or DataArray
        The standard deviation of the noise, > 0; floats mean their binary64 values.
    secret : Alphabet
        Numbers; the interval between the bounds if not given.

    Returns
    -------
    Mechanism
        To a `Mixed` outcome; ``gaussian(sigma=sigma).clip(lower, upper)`` with closed forms.

    Raises
    ------
    InvalidInput
        ``sigma`` <= 0 or NaN, bounds that are not finite or not in order.

    Notes
    -----
    Closed forms for ``bl.uniform`` on an interval within the bounds, proved in
    `CensoredGaussianForms`: LDP and the suprema of PML and PMC are the larger ones of those of the
    two atoms. All are finite, as far outcomes are not told apart.

    References
    ----------
    Liu, "Statistical Properties of Sanitized Results from Differentially Private Laplace Mechanism
    with Univariate Bounding Constraints" (2019), for Laplace noise.

    Examples
    --------
    >>> import borel as bl
    >>> noise = bl.mechanisms.censored_gaussian(lower=0, upper=1, sigma=1.0)
    >>> bl.ldp(bl.uniform(bl.Interval(0, 1)) * noise)  # log of 1/2 over P(Z > 1)
    Bound(1.147874464, exact)
    """
    what = "censored_gaussian"
    sigma = positive(what, "sigma", sigma)
    c, d, secret = _within(what, lower, upper, secret, or_beyond=True)
    out = gaussian(sigma=sigma, secret=secret).clip(c, d)
    out.name = f"{what}(sigma={sigma:g}, lower={c:g}, upper={d:g})"
    out.closed_forms = CensoredGaussianForms(sigma, c, d)
    return out


_HALF_ROOT = math.sqrt(math.pi / 2)


def _within(
    what: str, lower: Any, upper: Any, secret: Any, *, or_beyond: bool = False
) -> tuple[float, float, Alphabet]:
    c, d = number(what, "lower", lower), number(what, "upper", upper)
    if not c < d:
        raise InvalidInput(what, expected="lower < upper", got=f"({lower}, {upper})")
    if secret is None:
        return c, d, Interval(c, d)
    numbers = isinstance(secret, Alphabet) and secret.numeric and secret.dim == 1
    if not numbers:
        raise InvalidInput(what, expected="secret = an alphabet of numbers", got=repr(secret))
    if or_beyond:
        return c, d, secret
    labels = secret.labels if secret.kind == "finite" else ()
    ends = (min(labels), max(labels)) if labels else (_end(secret, "lower"), _end(secret, "upper"))
    if not (c <= ends[0] and ends[1] <= d):
        raise InvalidInput(
            what,
            expected=f"secrets within the bounds, [{c:g}, {d:g}]",
            got=repr(secret),
            mend="widen the bounds, or censor: censored_laplace, censored_gaussian.",
        )
    return c, d, secret


def _end(secret: Any, side: str) -> float:
    found = getattr(getattr(secret, "interval", secret), side, None)
    return (-math.inf if side == "lower" else math.inf) if found is None else float(found)


def _draw_laplace(
    b: float, c: float, d: float, x: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw a side by its mass, and then the distance on it."""
    left, right = -np.expm1(-(x - c) / b), -np.expm1(-(d - x) / b)
    sign = np.where(rng.uniform(size=np.shape(x)) * (left + right) < left, -1.0, 1.0)
    room = np.where(sign < 0, left, right)
    return np.clip(x - sign * b * np.log1p(-room * rng.uniform(size=np.shape(x))), c, d)


def _draw_gaussian(
    sigma: float, c: float, d: float, x: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    from scipy.special import erf, erfinv  # odd, so that wide noise keeps its digits

    width = sigma * math.sqrt(2)
    low, high = erf((c - x) / width), erf((d - x) / width)
    u = rng.uniform(size=np.shape(x))
    return np.clip(x + width * erfinv((1 - u) * low + u * high), c, d)


# -- closed forms ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class LaplaceLaw:
    """Laplace noise of scale b: its log-density, but for a constant, and its room."""

    b: float

    def exponent(self, z: Any) -> Any:
        """Return log f(z) but for a constant."""
        return -abs(z) / ball(self.b)

    def below(self, z: Any) -> Any:
        """Return twice P{0 < noise < z}, z >= 0."""
        return -(-z / ball(self.b)).expm1()


@dataclass(frozen=True)
class GaussianLaw:
    """Normal noise of deviation sigma: its log-density, but for a constant, and its room."""

    sigma: float

    def exponent(self, z: Any) -> Any:
        """Return log f(z) but for a constant."""
        return -((z / ball(self.sigma)) ** 2) / 2

    def below(self, z: Any) -> Any:
        """Return twice P{0 < noise < z}, z >= 0."""
        return (z / (ball(self.sigma) * ball(2).sqrt())).erf()


def _uniform_within(joint: Joint, lower: float, upper: float) -> Interval | None:
    """Return the interval of a uniform prior that lies within bounds."""
    on = joint.prior.on
    if family_of(joint.prior)[0] != "uniform" or not isinstance(on, Interval):
        return None
    return on if lower <= on.lower and on.upper <= upper else None


@dataclass(frozen=True)
class TruncatedForms(ClosedForms):
    r"""Noise conditioned on an outcome in (c, d), of a secret uniform on [p, q] within [c, d].

    Notes
    -----
    Proof. Let g be the density of the noise, C(x) the integral of g(y - x) over (c, d) and
    f(y|x) = g(y - x) / C(x).

    *How f rises with x.* C'(x) is the integral of g(y - x) h(y, x), where h(y, x) is the derivative
    of log g(y - x) in x: (y - x) / sigma^2, or the sign of y - x over b. So C'(x) / C(x) is the
    mean of h(Y, x) under f(.|x). The derivative of log f(y|x) in x is h(y, x) less this mean. For
    normal noise it increases with y, is at most 0 at y = c and at least 0 at y = d. For Laplace
    noise it is at least 0 for y > x, where h is largest, and at most 0 for y < x.

    *Normal noise.* log f(y|x) - log f(y|x') is linear in y, so that its modulus is largest at y = c
    or at y = d; there f is monotone in x, so that the largest ratio is that of x = p and x' = q.

    *Laplace noise.* For y in [p, q], f(y|x) is largest at x = y and smallest at p or q; the ratio
    f(y|y) / f(y|p) = e^((y - p)/b) C(p) / C(y) increases with y, as \|C'/C\| is at most 1/b, up
    to that of y >= q, and f(y|y) / f(y|q) likewise to that of y <= p. For y >= q, f(y|x) increases
    with x: the ratio is e^((q - p)/b) C(p) / C(q); for y <= p it is e^((q - p)/b) C(q) / C(p).

    In both cases LDP is the larger one of log f(d|q) - log f(d|p) and log f(c|p) - log f(c|q), with
    f at the bounds as limits from within; near them the ratio is close to it on a set of positive
    probability. Tested in ``tests/mechanisms/test_bounded_noise.py``.
    """

    law: LaplaceLaw | GaussianLaw
    lower: float
    upper: float

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy."""
        on = _uniform_within(joint, self.lower, self.upper)
        if on is None:
            return None
        c, d, p, q = self.lower, self.upper, on.lower, on.upper

        def level() -> Any:
            rooms = [
                self.law.below(ball(x) - ball(c)) + self.law.below(ball(d) - ball(x))
                for x in (p, q)
            ]
            more = (rooms[0] / rooms[1]).log()

            def rise(y: float) -> Any:
                z = [self.law.exponent(ball(y) - ball(x)) for x in (p, q)]
                return z[1] - z[0]

            return (rise(d) + more).max(-rise(c) - more)

        return figure(level, "the worst secrets are the two ends (proof in TruncatedForms)")


@dataclass(frozen=True)
class CensoredLaplaceForms(LaplaceForms):
    r"""Laplace noise clipped to [c, d], of a secret uniform on [p, q] within [c, d].

    Notes
    -----
    Proof. For y >= q, f(y|x) is e^(x/b) times a function of y, and for y <= p it is e^(-x/b) times
    one: so is its integral over y >= d, and over y <= c. Of all that the outcome says about the
    secret, clipping loses nothing: leakage at an atom is that at every outcome beyond q, or p, and
    it has the same law, the same suprema, means and LDP as without clipping; see `LaplaceForms`.
    Tested in ``tests/mechanisms/test_bounded_noise.py``.
    """

    lower: float
    upper: float

    def _interval(self, joint: Joint) -> Interval | None:
        return _uniform_within(joint, self.lower, self.upper)


@dataclass(frozen=True)
class CensoredGaussianForms(ClosedForms):
    r"""Normal noise clipped to [c, d], of a secret uniform on [p, q] within [c, d].

    Notes
    -----
    Proof. For x > x' the ratio f(y|x) / f(y|x') increases with y, so that at the atom d, its mean
    over y >= d with the weights f(y|x'), it is no less than at any y <= d; likewise at c, with
    smaller secrets on top. P{Y = d|x} = Phi((x - d) / sigma) increases with x. Hence:

    *LDP* is the larger one of the logarithms of the ratios of the two ends at the two atoms.

    *PMC.* For y at or right of the middle of [p, q] the infimum of f(y|x) is that of p, and
    f_Y(y) / f(y|p) = E[f(y|X) / f(y|p)] increases with y, up to that at the atom d; likewise left.

    *PML.* For y >= q the supremum is that of q, and f_Y(y) / f(y|q) falls with y. For y in [p, q]
    it is a constant, at x = y, and f_Y(y) proportional to Phi((q - y)/sigma) - Phi((p - y)/sigma),
    which is smallest at p and q. So PML is largest at an atom.

    At the atom d the mean of Phi((X - d) / sigma) is sigma / (q - p) times the difference of
    G((q - d) / sigma) and G((p - d) / sigma), G(u) = u Phi(u) + phi(u). The atom c is that of the
    mirror image. Tested in ``tests/mechanisms/test_bounded_noise.py``.
    """

    sigma: float
    lower: float
    upper: float

    def _atoms(self, joint: Joint) -> list[tuple[Any, Any, Any]] | None:
        """Return P{Y = atom|x} for the near and the far end, and its mean, at both atoms."""
        on = _uniform_within(joint, self.lower, self.upper)
        if on is None:
            return None
        from flint import arb

        def below(u: Any) -> Any:
            return (-u / ball(2).sqrt()).erfc() / 2

        def area(u: Any) -> Any:
            return u * below(u) + (-u * u / 2).exp() / (2 * arb.pi()).sqrt()

        p, q, sigma = ball(on.lower), ball(on.upper), ball(self.sigma)
        found = []
        for near, far in (
            (q - ball(self.upper), p - ball(self.upper)),
            (ball(self.lower) - p, ball(self.lower) - q),
        ):
            u, v = near / sigma, far / sigma
            found.append((below(u), below(v), (area(u) - area(v)) / (u - v)))
        return found

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy; one of the atoms has it."""
        return self._largest(joint, lambda near, far, mean: near / far)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum; one of the atoms has it."""
        if kind == "pml":
            return self._largest(joint, lambda near, far, mean: near / mean)
        return self._largest(joint, lambda near, far, mean: mean / far)

    def _largest(self, joint: Joint, ratio: Any) -> Bound | None:
        if self._atoms(joint) is None:
            return None

        def level() -> Any:
            first, second = (ratio(*atom).log() for atom in self._atoms(joint) or ())
            return first.max(second)

        theorem = "the atoms are the worst outcomes (proof in CensoredGaussianForms)"
        return figure(level, theorem, attained=True)
