"""A count of events whose mean is the secret: the Poisson mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import (
    family_of,
    figure,
    infinite,
    number,
    positive,
    proved_kernel,
)
from borel.mechanisms.parameter_arrays import over_arrays
from borel.numerics.balls.arithmetic import ball
from borel.probability.alphabets import Alphabet, Integers, Interval
from borel.probability.closed_forms import ClosedForms
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism

_RATES = Interval(0, None)


@over_arrays
@explained
def poisson(*, exposure: Any = 1.0, background: Any = 0.0, secret: Alphabet = _RATES) -> Mechanism:
    r"""Make the Poisson mechanism: a count of events, of a mean that rises with the secret.

    .. math:: P_{Y|X=x}(y) = e^{-\lambda} \frac{\lambda^y}{y!}, \qquad \lambda = a x + b

    Parameters
    ----------
    exposure : float or DataArray
        a > 0: how many events a unit of the secret gives in the mean; a float means its binary64
        value.
    background : float or DataArray
        b >= 0: the mean number of other events.
    secret : Alphabet
        Numbers >= 0: the alphabet of x.

    Returns
    -------
    Mechanism
        To 0, 1, 2, ..., with a sampler; a `MechanismFamily` when a parameter is a DataArray.

    Raises
    ------
    InvalidInput
        ``exposure`` <= 0, ``background`` < 0, NaN, secrets that are no numbers >= 0.

    Notes
    -----
    Closed forms for ``bl.uniform`` on an interval [c, d], proved in `PoissonForms`: the leakage at
    a count, by incomplete gamma functions; LDP and the suprema of PML and PMC are infinite. Samples
    have the law of the formula, but for NumPy's rounding.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.poisson(exposure=1.0)
    >>> bl.pml(joint)(0)  # log of 1 over 1 - e^-1
    Bound(0.4586751454, exact)
    """
    import scipy.special  # so that its ufuncs are known to the tracer

    what = "poisson"
    a, b = positive(what, "exposure", exposure), number(what, "background", background)
    if b < 0:
        raise InvalidInput(what, expected="background >= 0", got=repr(background))
    if not (isinstance(secret, Alphabet) and secret.numeric and secret.dim == 1):
        raise InvalidInput(what, expected="secret = an alphabet of numbers >= 0", got=repr(secret))
    least = min(secret.labels) if secret.kind == "finite" else getattr(secret, "lower", None)
    if least is None or least < 0:
        raise InvalidInput(what, expected="secrets >= 0", got=repr(secret))
    gammaln, xlogy = scipy.special.gammaln, scipy.special.xlogy

    def log_density(y: Any, x: Any) -> Any:
        mean = a * x + b
        return xlogy(y, mean) - mean - gammaln(y + 1)

    out = proved_kernel(
        log_density,
        secret=secret,
        outcome=Integers(0, None),
        name=f"{what}(exposure={a:g}, background={b:g})",
        normalisation="the Poisson masses sum to 1 for every mean",
    )
    out.sampler = partial(_draw, a, b)
    out.closed_forms = PoissonForms(a, b)
    return out


def _draw(a: float, b: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.poisson(a * x + b).astype(float)


@dataclass(frozen=True)
class PoissonForms(ClosedForms):
    r"""A Poisson count, of a secret that is uniform on [c, d]: its mean is so on [l, m].

    Notes
    -----
    Proof. With l = a c + b < m = a d + b, f_Y(y) is the mean of :math:`e^{-t} t^y / y!` over
    [l, m], (Q(y + 1, l) - Q(y + 1, m)) / (m - l), Q the regularised upper incomplete gamma
    function, whose derivative in t is the mass, negated. The mass rises in t up to y and falls
    beyond: its supremum over [l, m] is at y, or at the end nearest to it, its infimum at an end.

    The ratio of the masses of two means s < t is :math:`(t / s)^y e^{s - t}`, without bound in y
    (s > 0 but for a null set): LDP is infinite. For y >= m the infimum is at l, and
    f_Y(y) over it is the mean of such ratios: so is sup PMC. The supremum is then at m, and f_Y(y)
    over it the mean of :math:`(t / m)^y e^{m - t}`, which goes to 0: so is sup PML.
    Tested in ``tests/mechanisms/test_poisson_counts.py``.
    """

    exposure: float
    background: float

    def _ends(self, joint: Joint) -> tuple[Fraction, Fraction] | None:
        on = joint.prior.on
        if family_of(joint.prior)[0] != "uniform" or not isinstance(on, Interval):
            return None
        low, high = (
            Fraction(self.exposure) * Fraction(x) + Fraction(self.background)
            for x in (on.lower, on.upper)
        )
        return low, high

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one count."""
        ends = self._ends(joint)
        if ends is None:
            return None
        low, high = ends
        count = int(y)
        if kind == "pmc" and low == 0 and count > 0:  # no events at all have the mean 0
            return infinite(_THEOREM, attained=True).about(attained=None)

        def mass(t: Fraction) -> Any:
            return ball(t) ** count * (-ball(t)).exp() / (ball(count) + 1).gamma()

        def leakage() -> Any:
            if count > high:  # upper ones are near 1, and would cancel
                first, last = (ball(t).gamma_lower(ball(count + 1), regularized=1) for t in ends)
            else:
                last, first = (ball(t).gamma_upper(ball(count + 1), regularized=1) for t in ends)
            mean = (last - first) / ball(high - low)
            if kind == "pml":
                return (mass(min(max(Fraction(count), low), high)) / mean).log()
            return (mean / mass(low).min(mass(high))).log()

        return figure(leakage, _THEOREM)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, infinite."""
        ends = self._ends(joint)
        if ends is None:
            return None
        return infinite(_THEOREM, attained=kind == "pmc" and ends[0] == 0)

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy, infinite."""
        return self.sup(joint, "pmc")


_THEOREM = "a Poisson count of a uniform mean (proof in PoissonForms)"
