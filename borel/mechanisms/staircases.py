"""Staircase noise: a density of steps, each e^-epsilon times the last, with its closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import family_of, figure, number, positive
from borel.mechanisms.noise import additive
from borel.mechanisms.parameter_arrays import over_arrays
from borel.probability.alphabets import Alphabet, Interval, Reals
from borel.probability.closed_forms import ClosedForms
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism

_LINE = Reals()
_PAPER = "Geng, Viswanath, The Optimal Mechanism in Differential Privacy (2014)"


@over_arrays
@explained
def staircase(
    *, epsilon: Any, sensitivity: Any, gamma: Any = None, secret: Alphabet = _LINE
) -> Mechanism:
    r"""Make the staircase mechanism, Y = X + noise whose density falls in steps.

    .. math:: f(y|x) = a\, e^{-n \epsilon}, \qquad
              n = \Big\lfloor \frac{|y - x|}{D} - \gamma \Big\rfloor + 1, \qquad
              a = \frac{1 - e^{-\epsilon}}{2 D (\gamma + e^{-\epsilon} (1 - \gamma))}

    with the sensitivity D: a on [0, gamma D), then a step of width D for each factor e^-epsilon.

    Parameters
    ----------
    epsilon : float or DataArray
        The logarithm of the ratio of two steps, > 0; a float means its binary64 value.
    sensitivity : float or DataArray
        D > 0: the distance of two secrets up to which their densities differ by e^epsilon at most.
    gamma : float or DataArray, optional
        The step fraction, in (0, 1); if not given 1 / (1 + e^(epsilon / 2)), as a float, which
        makes the mean of \|y - x\| smallest among all noises of that level.
    secret : Alphabet
        Numbers: the alphabet of x.

    Returns
    -------
    Mechanism
        With a sampler; a `MechanismFamily` when a parameter is a DataArray.

    Raises
    ------
    InvalidInput
        ``epsilon`` or ``sensitivity`` <= 0, ``gamma`` outside (0, 1), a secret that is no number.

    Notes
    -----
    Closed forms, proved in `StaircaseForms`. On an interval of secrets no longer than D, however
    short, LDP, sup PML and sup PMC are epsilon, whatever the density of the prior. For a uniform
    secret on an interval of length in ((m - 1) D, m D] LDP is m epsilon. Samples are floats: do not
    release them where the last bits matter.

    References
    ----------
    Geng, Viswanath, "The Optimal Mechanism in Differential Privacy" (2014).

    Examples
    --------
    >>> import borel as bl
    >>> noise = staircase(epsilon=0.5, sensitivity=1.0)
    >>> bl.ldp(bl.uniform(bl.Interval(0, 0.25)) * noise)
    Bound(0.5, exact)
    >>> bl.ldp(bl.uniform(bl.Interval(0, 3)) * noise)
    Bound(1.5, exact)
    """
    epsilon = positive("staircase", "epsilon", epsilon)
    width = positive("staircase", "sensitivity", sensitivity)
    if gamma is None:
        half = math.exp(-epsilon / 2)
        gamma = half / (1 + half)
        mend = f"e^(-epsilon / 2) is no float for epsilon={epsilon:g}: give gamma."
    else:
        gamma, mend = number("staircase", "gamma", gamma), ""
    if not 0 < gamma < 1:
        raise InvalidInput("staircase", expected="gamma inside (0, 1)", got=repr(gamma), mend=mend)
    total = gamma + math.exp(-epsilon) * (1 - gamma)
    log_top = math.log(-math.expm1(-epsilon)) - math.log(2) - math.log(width) - math.log(total)

    def log_density(y: Any, x: Any) -> Any:
        return log_top - epsilon * (np.floor(np.abs(y - x) / width - gamma) + 1)

    shown = f"(epsilon={epsilon:g}, sensitivity={width:g}, gamma={gamma:g})"
    out = additive("staircase", shown, log_density, secret)
    out.sampler = partial(_draw, epsilon, width, gamma)
    out.closed_forms = StaircaseForms(epsilon, width)
    return out


def _draw(
    epsilon: float, width: float, gamma: float, x: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw as the paper does: a sign, a period, and the upper or the lower part of it."""
    size, fall = np.shape(x), math.exp(-epsilon)
    period = rng.geometric(-math.expm1(-epsilon), size=size) - 1
    upper = rng.uniform(size=size) < gamma / (gamma + fall * (1 - gamma))
    place = rng.uniform(size=size)
    within = np.where(upper, gamma * place, gamma + (1 - gamma) * place)
    return x + width * rng.choice([-1, 1], size=size) * (period + within)


_THEOREM = f"the number of steps between two secrets; {_PAPER}"


@dataclass(frozen=True)
class StaircaseForms(ClosedForms):
    r"""Staircase noise with steps of width D, and secrets with a density on [c, d]; L = d - c.

    Notes
    -----
    Proof. f(y|x) = a e^(-n(y - x) epsilon) with n(z) = floor(\|z\|/D - gamma) + 1, so that LDP is
    epsilon times the largest number of steps n(y - x) - n(y - x'). Let m = ceil(L / D).

    *LDP is at most m epsilon.* \|y - x\| and \|y - x'\| differ by L <= m D at most, and
    floor(s + t) is at most floor(s) + m for t <= m.

    *At least.* Let x < x' be (m - 1 + r) D apart, 0 < r <= 1, and y = x' + (gamma - h) D with
    0 < h < min(r, gamma). Then n(y - x') = 0, as \|y - x'\| < gamma D, and n(y - x) =
    floor(m - 1 + r - h) + 1 = m. These y are an interval, no null set. For m = 1 every pair of two
    secrets is such a pair, whatever the density of the prior; for m > 1 a uniform prior charges
    them. So a shorter interval does not lower the level: there are fewer outcomes with a step
    between two secrets, but the step is as high.

    *The suprema for m = 1.* PML and PMC are at most LDP. Let c' and d' be the ends of the
    prior's support, and y = (k + gamma) D + c' + h with 0 < h small and a whole k >= 1: then
    y - x > 0 for every x, and n(y - x) is k + 1 for x < c' + h and k for x above, as L <= D. With
    p = P{X < c' + h} > 0 this gives PMC(y) = epsilon + log(1 - p + p e^-epsilon), which tends to
    epsilon as h, and so p, goes to 0. For y = (k + gamma) D + d' - h it is k for x > d' - h and
    k + 1 below: PML(y) = -log(p + (1 - p) e^-epsilon) with p = P{X > d' - h} tends to epsilon. No
    outcome attains them: one density of the two would be the prior's mean of both.

    Lengths are compared in Fractions, as a length above D may be rounded to D.
    Tested in ``tests/mechanisms/test_staircases.py``.
    """

    epsilon: float
    width: float

    def _steps(self, joint: Joint) -> int | None:
        """Return the largest number of steps between two secrets; None if it is not known."""
        on = joint.prior.on
        if not isinstance(on, Interval) or not math.isfinite(on.upper - on.lower):
            return None
        steps = math.ceil((Fraction(on.upper) - Fraction(on.lower)) / Fraction(self.width))
        return steps if steps == 1 or family_of(joint.prior)[0] == "uniform" else None

    def ldp(self, joint: Joint) -> Bound | None:
        """Return the level of local differential privacy: epsilon for each D of length begun."""
        steps = self._steps(joint)
        return None if steps is None else self._times(steps, attained=True)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum, for secrets in an interval no longer than D; it is approached."""
        return self._times(1, attained=False) if self._steps(joint) == 1 else None

    def _times(self, steps: int, *, attained: bool) -> Bound:
        from borel.numerics.balls.arithmetic import ball

        return figure(lambda: steps * ball(self.epsilon), _THEOREM, attained=attained)
