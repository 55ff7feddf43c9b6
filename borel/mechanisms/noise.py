"""Additive noise on the real line: Laplace and Gaussian, with their closed forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import (
    JOURNAL,
    MOST,
    WorstOutcomes,
    family_of,
    figure,
    infinite,
    positive,
    probability,
    proved,
    proved_kernel,
)
from borel.mechanisms.parameter_arrays import over_arrays
from borel.mechanisms.scales import scale
from borel.probability.alphabets import Alphabet, Interval, Reals
from borel.probability.closed_forms import ClosedForms
from borel.probability.density import Density
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism
    from borel.probability.real_functions import RealFunction

_LOG_2PI = math.log(2 * math.pi)
_LINE = Reals()
BY_EPSILON = "b = sensitivity / epsilon: laplace(b=1.0 / 0.5)"


@over_arrays
@explained(scale="b is the scale: laplace(b=...).")
def laplace(
    *,
    b: Any = None,
    epsilon: Any = None,
    sensitivity: Any = None,
    secret: Alphabet = _LINE,
    outcome: Alphabet = _LINE,
) -> Mechanism:
    r"""Make the Laplace mechanism, Y = X + Laplace noise (scipy: ``laplace(loc=x, scale=b)``).

    .. math:: f(y|x) = \frac{1}{2b} e^{-|y - x| / b}

    Parameters
    ----------
    b : float or DataArray
        The scale, > 0; a float means its binary64 value.
    epsilon, sensitivity : float or DataArray
        Instead of ``b``: a level in nats, and the distance of two secrets up to which it holds.
        The scale is sensitivity / epsilon, rounded up.
    secret : Alphabet
        Numbers: the alphabet of x.
    outcome : Alphabet
        The real line; ``mech.clip(lower, upper)`` releases a clipped outcome.

    Returns
    -------
    Mechanism
        With distribution function and sampler; a `MechanismFamily` when a parameter is a
        DataArray.

    Raises
    ------
    InvalidInput
        ``b`` <= 0 or NaN, neither it nor a level, a secret that is no number, an outcome other
        than the real line.

    Notes
    -----
    Closed forms for ``bl.uniform`` on a bounded interval [c, d], proved in `LaplaceForms`: with
    L = (d - c) / b, sup PML = log(L / (1 - e^-L)) and sup PMC = log((e^L - 1) / L), both taken at
    every y outside (c, d). Samples are floats: do not release them where the last bits matter.

    References
    ----------
    "Information Density Bounds for Privacy", Example 6 with n = 1.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.uniform(bl.Interval(0, 1)) * laplace(b=1.0)
    >>> bl.pml(joint).sup(), bl.pmc(joint).sup()
    (Bound(0.4586751454, exact), Bound(0.5413248546, exact))
    """
    b = scale("laplace", "b", b, epsilon, sensitivity, BY_EPSILON)

    def log_density(y: Any, x: Any) -> Any:
        return -np.abs(y - x) / b - (math.log(2) + math.log(b))

    def tail(z: Any) -> Any:
        """Return P{noise <= z b} for any sign of z, without overflow."""
        half = np.exp(-np.abs(z)) / 2
        return np.where(z < 0, half, 1 - half)

    out = additive("laplace", f"(b={b:g})", log_density, secret, outcome)
    out.cdf = Density(lambda y, x: tail((y - x) / b), {"y": outcome, "x": secret})
    out.survival = Density(lambda y, x: tail((x - y) / b), {"y": outcome, "x": secret})
    out.sampler = partial(_draw_laplace, b)
    out.closed_forms = LaplaceForms(b)
    return out


@over_arrays
@explained
def gaussian(*, sigma: Any, secret: Alphabet = _LINE, outcome: Alphabet = _LINE) -> Mechanism:
    r"""Make the Gaussian mechanism, Y = X + normal noise (scipy: ``norm(loc=x, scale=sigma)``).

    .. math:: f(y|x) = \frac{1}{\sigma \sqrt{2\pi}} e^{-(y - x)^2 / (2 \sigma^2)}

    Parameters
    ----------
    sigma : float or DataArray
        The standard deviation of the noise, > 0; a float means its binary64 value.
    secret : Alphabet
        Numbers: the alphabet of x.
    outcome : Alphabet
        The real line; ``mech.clip(lower, upper)`` releases a clipped outcome.

    Returns
    -------
    Mechanism
        With distribution function and sampler; a `MechanismFamily` when ``sigma`` is a DataArray.

    Raises
    ------
    InvalidInput
        ``sigma`` <= 0 or NaN, a secret that is no number, an outcome other than the real line.

    Notes
    -----
    Closed forms for the prior ``bl.normal(mu=m, sigma=s)``, proved in `GaussianForms`:
    PML(y) = 1/2 log(1 + s^2 / sigma^2) + (y - m)^2 / (2 (s^2 + sigma^2)), so that PML(Y) is
    1/2 log(1 + s^2 / sigma^2) + chi^2_1 / 2 in law, its supremum infinite; PMC is infinite at
    every y. Samples are floats: do not release them where the last bits matter.

    References
    ----------
    "Information Density Bounds for Privacy", Section VI and Theorem 4. The paper calls PMC
    undefined here; by its Theorem 4 it is infinite.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.normal(mu=0, sigma=1) * gaussian(sigma=1.0)
    >>> bl.pml(joint)(0.0), bl.pmc(joint).sup()
    (Bound(0.3465735903, exact), Bound(inf, exact))
    """
    import scipy.special  # so that its ufuncs are known to the tracer

    sigma = positive("gaussian", "sigma", sigma)

    def log_density(y: Any, x: Any) -> Any:
        return -(((y - x) / sigma) ** 2) / 2 - (np.log(sigma) + _LOG_2PI / 2)

    out = additive("gaussian", f"(sigma={sigma:g})", log_density, secret, outcome)
    ndtr = scipy.special.ndtr
    out.cdf = Density(lambda y, x: ndtr((y - x) / sigma), {"y": outcome, "x": secret})
    out.survival = Density(lambda y, x: ndtr((x - y) / sigma), {"y": outcome, "x": secret})
    out.sampler = partial(_draw_normal, sigma)
    out.closed_forms = GaussianForms(sigma)
    return out


def additive(
    name: str, shown: str, log_density: Callable, secret: Any, outcome: Any = _LINE
) -> Mechanism:
    """Make additive noise on the line from a log-density that integrates to 1 at every location."""
    if not (isinstance(secret, Alphabet) and secret.numeric and secret.dim == 1):
        raise InvalidInput(name, expected="secret = an alphabet of numbers", got=repr(secret))
    if outcome != _LINE:
        raise InvalidInput(
            name,
            expected="outcome = Reals(), where the noise lives",
            got=repr(outcome),
            mend="clip it: mech.clip(lower, upper).",
        )
    return proved_kernel(
        log_density,
        secret=secret,
        outcome=outcome,
        name=name + shown,
        normalisation=f"the {name} density integrates to 1 at every location",
    )


def _draw_laplace(b: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + rng.laplace(scale=b, size=np.shape(x))


def _draw_normal(sigma: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + rng.normal(scale=sigma, size=np.shape(x))


_TAIL = "tail leakage (docs/tail_leakage.md, closed forms)"
_LAPLACE = f"{JOURNAL}, Example 6 with n = 1"


@dataclass(frozen=True)
class LaplaceForms(ClosedForms):
    r"""Laplace noise of scale b on a secret that is uniform on [c, d]; L = (d - c) / b.

    Notes
    -----
    Proof, in units of b. By direct integration, with u = (y - c)/b and v = (d - y)/b,
    f_Y(y) is 1/(2L b) times 2 - e^-u - e^-v for y in [c, d], and e^v - e^-u for y >= d (v <= 0).
    Over x the kernel, times 2b, has supremum 1 inside and e^v for y >= d, and infimum
    e^-max(u, v) inside and e^-u for y >= d. Hence, inside,

    .. math:: \ell(y) = \log\frac{L}{2 - e^{-u} - e^{-v}}, \qquad
              \Lambda(y) = \max(u, v) + \log\frac{2 - e^{-u} - e^{-v}}{L},

    and outside, on both sides, l = log(L / (1 - e^-L)) and Lambda = log((e^L - 1) / L): (13) and
    (14) of the paper with the uniform K. 2 - e^-u - e^-v is concave in y, so smallest at the
    ends, where it is 1 - e^-L: the suprema are the values outside, which have positive
    probability. For u >= v the exponential of Lambda is (2 e^u - 1 - e^(2u - L)) / L, which
    increases in u <= L up to (e^L - 1) / L. LDP is L: no ratio of two secrets exceeds e^L, by the
    triangle inequality, and that of the ends is e^L at every outcome outside.
    Tested in ``tests/mechanisms/test_noise.py``.
    """

    b: float

    def _interval(self, joint: Joint) -> Interval | None:
        on = joint.prior.on
        if family_of(joint.prior)[0] != "uniform" or not isinstance(on, Interval):
            return None
        return on

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome, for a uniform prior on an interval."""
        on = self._interval(joint)
        if on is None:
            return None
        y = float(y)
        if not on.lower <= y <= on.upper:
            return self.sup(joint, kind).about(attained=None)  # type: ignore[union-attr]
        from borel.numerics.balls.arithmetic import ball

        def inside() -> Any:
            u = (ball(y) - ball(on.lower)) / ball(self.b)
            v = (ball(on.upper) - ball(y)) / ball(self.b)
            level = (-(-u).expm1() - (-v).expm1()).log() - (u + v).log()
            return -level if kind == "pml" else level + u.max(v)

        return figure(inside, _LAPLACE)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, taken at every outcome outside the interval."""
        on = self._interval(joint)
        if on is None:
            return None
        from borel.numerics.balls.arithmetic import ball

        def outside() -> Any:
            length = (ball(on.upper) - ball(on.lower)) / ball(self.b)
            level = (-(-length).expm1()).log() - length.log()
            return -level if kind == "pml" else level + length

        return figure(outside, _LAPLACE, attained=True)

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy, taken outside the interval."""
        on = self._interval(joint)
        if on is None:
            return None
        from borel.numerics.balls.arithmetic import ball

        return figure(
            lambda: (ball(on.upper) - ball(on.lower)) / ball(self.b),
            "the triangle inequality (proof in LaplaceForms)",
            attained=True,
        )

    def tail_leakage(self, joint: Joint, kind: str, delta: Fraction) -> Bound | None:
        """Return the tail leakage of PML: the worst outcomes are those outside, then near the ends.

        Outside the mean of e^PML is 1 / d, d = (1 - e^-L) / L their probability; with those within
        s of an end, in units of b, the kernel's supremum has the integral 1 + s.
        """
        on = self._interval(joint)
        if on is None or kind != "pml":
            return None
        from borel.numerics.balls.arithmetic import ball

        def mean() -> Any:
            length = (ball(on.upper) - ball(on.lower)) / ball(self.b)
            outside = -(-length).expm1() / length
            if ball(delta) <= outside:
                return -outside.log()
            worst = WorstOutcomes(
                lambda s: (2 * s + (-s).exp() - (s - length).exp()) / length,
                lambda s: 1 + s,
                lambda s: length / (2 - (-s).exp() - (s - length).exp()),
            )
            return worst.mean(delta, 0, (length / 2).mid()).log()

        return figure(mean, _TAIL)


_PML = f"direct integration of a normal secret with normal noise ({JOURNAL}, Section VI)"
_PMC = f"{JOURNAL}, Theorem 4: the kernel has infimum 0 over an unbounded secret"


@dataclass(frozen=True)
class GaussianForms(ClosedForms):
    r"""Gaussian noise of deviation sigma on a secret that is normal(m, s), or uniform on [c, d].

    Notes
    -----
    Proof. Y is normal with mean m and variance :math:`t^2 = s^2 + \sigma^2`; the supremum over x
    of f(y|x) is :math:`1 / (\sigma \sqrt{2\pi})`, at x = y, and the infimum is 0, approached as x
    goes to infinity. So :math:`\ell(y) = a + (y - m)^2 / (2 t^2)` with
    :math:`a = \tfrac12 \log(1 + s^2 / \sigma^2)`, and :math:`\Lambda(y) = \infty`. As
    :math:`(Y - m)^2 / t^2` is chi-square with one degree of freedom,
    P{l(Y) > a + r} = erfc(sqrt r) for r >= 0; its mean is a + 1/2, and E e^l is infinite.
    Of a uniform secret see `tail_leakage`.
    Tested in ``tests/mechanisms/test_noise.py``.
    """

    sigma: float

    def _prior(self, joint: Joint) -> tuple[float, float] | None:
        name, values = family_of(joint.prior)
        return (values["mu"], values["sigma"]) if name == "normal" else None

    def _least(self, s: float) -> Any:
        from borel.numerics.balls.arithmetic import ball

        return ((ball(s) / ball(self.sigma)) ** 2).log1p() / 2

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome, for a normal prior."""
        prior = self._prior(joint)
        if prior is None:
            return None
        if kind == "pmc":
            return infinite(_PMC, attained=False).about(attained=None)
        from borel.numerics.balls.arithmetic import ball

        m, s = prior
        return figure(
            lambda: (
                self._least(s)
                + (ball(float(y)) - ball(m)) ** 2 / (2 * (ball(s) ** 2 + ball(self.sigma) ** 2))
            ),
            _PML,
        )

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, infinite: approached by PML, attained by PMC."""
        if self._prior(joint) is None:
            return None
        return infinite(_PML if kind == "pml" else _PMC, attained=kind == "pmc")

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy: PMC, and so LDP, is infinite."""
        return self.sup(joint, "pmc")

    def tail(self, joint: Joint, kind: str, t: Any, closed: bool) -> Bound | None:
        """Return P{leakage > t}; the law of PML has no atoms, PMC is infinite."""
        prior = self._prior(joint)
        if prior is None:
            return None
        if t in (math.inf, -math.inf):
            above = float(t < 0 or (closed and kind == "pmc"))
            return proved(above, above, _PML, units="probability")
        if kind == "pmc":
            return proved(1.0, 1.0, _PMC, units="probability")
        from borel.numerics.balls.arithmetic import ball

        def chance() -> Any:
            excess = ball(t) - self._least(prior[1])
            return excess.max(0).sqrt().erfc()

        return probability(chance, _PML)

    def quantile(self, joint: Joint, kind: str, s: Any, side: str) -> Bound | None:
        """Return the quantile at level s: a + erfinv(s)^2 for PML; the left one at 1 is inf."""
        prior = self._prior(joint)
        inside = {"left": 0 < s <= 1, "right": 0 <= s < 1}.get(side, False)
        if prior is None or not inside:
            return None
        if kind == "pmc":
            return infinite(_PMC, attained=True).about(attained=None)
        if s == 1:
            return infinite(_PML, attained=False).about(attained=None)
        from borel.numerics.balls.arithmetic import ball

        return figure(lambda: self._least(prior[1]) + ball(s).erfinv() ** 2, _PML)

    def mean(self, joint: Joint, kind: str) -> Bound | None:
        """Return the mean: a + 1/2 for PML, infinite for PMC."""
        prior = self._prior(joint)
        if prior is None:
            return None
        if kind == "pmc":
            return infinite(_PMC, attained=True).about(attained=None)
        from borel.numerics.balls.arithmetic import ball

        return figure(lambda: self._least(prior[1]) + ball(1) / 2, _PML)

    def exp_mean(self, joint: Joint, kind: str) -> Bound | None:
        """Return E e^leakage, which is infinite: the kernel's supremum is not integrable."""
        if self._prior(joint) is None:
            return None
        return infinite(_PML if kind == "pml" else _PMC, attained=False).about(
            attained=None, units="ratio"
        )

    def expectation(self, joint: Joint, kind: str, h: RealFunction) -> Bound | None:
        """Return E h(PMC) = h(inf) for a normal prior."""
        if kind != "pmc" or self._prior(joint) is None:
            return None
        low, high = (float(end[0]) for end in h.over(np.array([math.inf]), np.array([math.inf])))
        return proved(low, high, _PMC, units="number") if high - low < MOST or low == high else None

    def tail_leakage(self, joint: Joint, kind: str, delta: Fraction) -> Bound | None:
        r"""Return the tail leakage: infinite for a normal prior, as E e^PML is, and as PMC is.

        Of PML with a uniform secret, in units of sigma, L = (d - c) / sigma: the worst outcomes are
        those up to s from c, and as many at d. The integral of f_Y up to s is (G(s) - G(s - L)) /
        L, G(u) = u Phi(u) + phi(u), that of the kernel's supremum Phi(s), and beyond c, where it is
        phi(0), 1/2 + s phi(0). The ratio of f_Y to it grows with s, up to the middle of [c, d].
        """
        if self._prior(joint) is not None:
            return infinite(_PML if kind == "pml" else _PMC, attained=False).about(attained=None)
        on = joint.prior.on
        if family_of(joint.prior)[0] != "uniform" or not isinstance(on, Interval) or kind == "pmc":
            return None
        from flint import arb

        from borel.numerics.balls.arithmetic import ball

        def below(u: Any) -> Any:
            return (-u / ball(2).sqrt()).erfc() / 2

        def density(u: Any) -> Any:
            return (-u * u / 2).exp() / (2 * arb.pi()).sqrt()

        def mean() -> Any:
            length = (ball(on.upper) - ball(on.lower)) / ball(self.sigma)
            far = lambda u: u * below(u) + density(u)  # noqa: E731
            inside = lambda s: s.max(ball(0))  # noqa: E731
            worst = WorstOutcomes(
                lambda s: 2 * (far(s) - far(s - length)) / length,
                lambda s: 2 * (below(s.min(ball(0))) + inside(s) * density(ball(0))),
                lambda s: length * density(s.min(ball(0))) / (below(s) - below(s - length)),
            )
            least = ball(-1)
            while not worst.mass(least) < ball(delta):
                least = 2 * least
            return worst.mean(delta, least, (length / 2).mid()).log()

        return figure(mean, _TAIL)
