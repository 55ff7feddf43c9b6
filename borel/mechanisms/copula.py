"""The Clayton copula mixed with independence: bounded PMC, unbounded PML."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput
from borel.mechanisms.closed_forms import (
    JOURNAL,
    family_of,
    figure,
    infinite,
    positive,
    proved_kernel,
)
from borel.mechanisms.parameter_arrays import over_arrays
from borel.numerics.graphs.graph import Graph
from borel.probability.alphabets import Interval
from borel.probability.closed_forms import ClosedForms
from borel.probability.families import uniform
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint
    from borel.probability.mechanism import Mechanism

UNIT = Interval(0, 1)


@over_arrays
@explained
def clayton(*, eta: Any, theta: Any = 1.0) -> Mechanism:
    r"""Make the mechanism of Example 9: an outcome with a Clayton copula, or an independent one.

    .. math:: f(y|x) = \eta + (1 - \eta)\, c_\theta(x, y), \qquad
              c_\theta(x, y) = (1 + \theta)(x y)^{-\theta - 1}
              (x^{-\theta} + y^{-\theta} - 1)^{-2 - 1/\theta}

    on the unit square: with probability eta the outcome is uniform and independent of x.

    Parameters
    ----------
    eta : float or DataArray
        The weight of independence, inside (0, 1).
    theta : float or DataArray
        The copula's parameter, > 0. The paper has theta = 1.

    Returns
    -------
    Mechanism
        From (0, 1) to (0, 1), with ``reference_prior``, the uniform one; a `MechanismFamily`
        when a parameter is a DataArray.

    Raises
    ------
    InvalidInput
        ``eta`` outside (0, 1), ``theta`` <= 0, NaN.

    Notes
    -----
    Closed forms for the uniform prior, proved in `ClaytonForms`: PMC is log(1 / eta) at every y;
    PML(y) is log(eta + (1 - eta) c*(y)) with the largest c*(y) of c_theta(., y); sup PML is
    infinite. The density is evaluated in logarithms, stable down to the ends of the square.

    References
    ----------
    "Information Density Bounds for Privacy", Example 9.

    Examples
    --------
    >>> import borel as bl
    >>> mech = clayton(eta=0.1)
    >>> joint = mech.reference_prior * mech
    >>> bl.pmc(joint).sup(), bl.pml(joint).sup()
    (Bound(2.302585093, exact), Bound(inf, exact))
    """
    eta, theta = positive("clayton", "eta", eta), positive("clayton", "theta", theta)
    if not eta < 1:
        raise InvalidInput("clayton", expected="eta inside (0, 1)", got=repr(eta))

    def log_density(y: Any, x: Any) -> Any:
        # with u = theta log x and v = theta log y, the sum in the copula is
        # x^-theta + y^-theta - 1 = e^(-u-v) (e^u + e^v - e^(u+v)); the last factor is smooth in
        # both forms below, and nothing cancels in them: u and v are > -0.75 for a small theta
        u, v = theta * np.log(x), theta * np.log(y)
        if theta < 1e-3:
            log_sum = np.log1p(-np.expm1(u) * np.expm1(v))
        else:
            s = np.logaddexp(u, v)
            log_sum = s + np.log1p(-np.exp(u + v - s))
        log_copula = math.log1p(theta) + u + v - (2 + 1 / theta) * log_sum
        mixed = np.logaddexp(math.log(eta), math.log1p(-eta) + log_copula)
        # at the corner, a null set, there is no limit: any number will do
        return np.where(np.maximum(x, y) > 0, mixed, math.log(eta))

    out = proved_kernel(
        log_density,
        secret=UNIT,
        outcome=UNIT,
        name=f"clayton(eta={eta:g}, theta={theta:g})",
        normalisation="a copula density has uniform marginals, and so has the mixture",
    )
    out.reference_prior = uniform(UNIT)
    out.closed_forms = ClaytonForms(eta, theta)
    return out


def uniform_on_unit(joint: Joint) -> bool:
    """Return whether the prior is the uniform one on (0, 1)."""
    return family_of(joint.prior)[0] == "uniform" and joint.prior.on == UNIT


class CopulaForms(ClosedForms):
    """A copula density, whose marginals are uniform, and the uniform prior on (0, 1)."""

    theorem: str

    def _applies(self, joint: Joint) -> bool:
        return uniform_on_unit(joint)

    def log_marginal(self, joint: Joint) -> tuple[Graph, str] | None:
        """Return log f_Y = 0: the marginals of a copula are uniform."""
        if not self._applies(joint):
            return None
        return Graph(
            (("const", (0.0,)),), ("y",)
        ), f"f_Y = 1, as a copula has uniform marginals ({self.theorem})"


@dataclass(frozen=True)
class ClaytonForms(CopulaForms):
    r"""Example 9 for the uniform prior on (0, 1) and any theta > 0.

    Notes
    -----
    Proof. The marginals of a copula are uniform, so f_Y = 1.

    *PMC.* As x goes to 0, c(x, y) is equivalent to :math:`(1+\theta) x^\theta y^{-\theta-1}` and
    goes to 0; so the essential infimum of f(y|x) is eta, approached and not attained, and
    :math:`\Lambda(y) = \log(1/\eta)` at every y (the paper: at most).

    *PML.* With w = x^-theta and A = y^-theta - 1, x d/dx log c(x, y) has the sign of
    theta w - (1 + theta) A, which decreases in x: c(., y) has one mode, at
    w = A (1 + theta) / theta if that is above 1, that is if
    :math:`y^\theta < (1+\theta)/(1+2\theta)`, and there

    .. math:: c^*(y) = \theta \Big(\frac{1+\theta}{1+2\theta}\Big)^{2 + 1/\theta}
              \frac{1}{y (1 - y^\theta)};

    otherwise c(., y) increases, up to its limit at x = 1, :math:`c^*(y) = (1+\theta) y^\theta`.
    For theta = 1: 8 / (27 y (1 - y)) below y = 2/3, and 2 y above. The first form goes to
    infinity as y goes to 0, on sets of positive probability, and so does PML.
    Tested in ``tests/mechanisms/test_copula.py``.
    """

    eta: float
    theta: float
    theorem = f"{JOURNAL}, Example 9"

    def at(self, joint: Joint, kind: str, y: Any) -> Bound | None:
        """Return the leakage at one outcome inside (0, 1); at 0 the theorem says nothing."""
        y = float(y)
        if not (self._applies(joint) and 0 < y <= 1):
            return None
        if kind == "pmc":
            return self._cost()
        from borel.numerics.balls.arithmetic import ball

        def leakage() -> Any:
            return (ball(self.eta) + (1 - ball(self.eta)) * self._largest(ball(y))).log()

        return figure(leakage, self.theorem)

    def _largest(self, y: Any) -> Any:
        """Return the essential supremum over x of c(x, y); both forms where they cannot be told."""
        from borel.numerics.balls.arithmetic import ball

        theta = ball(self.theta)
        power = y**theta
        edge = (1 + theta) / (1 + 2 * theta)
        limit = (1 + theta) * power
        if power > edge:
            return limit
        mode = theta * edge ** (2 + 1 / theta) / (y * (1 - power))
        return mode if power < edge else mode.union(limit)

    def sup(self, joint: Joint, kind: str) -> Bound | None:
        """Return the supremum: log(1 / eta) of PMC, infinity of PML."""
        if not self._applies(joint):
            return None
        if kind == "pmc":
            return self._cost(attained=True)
        return infinite(self.theorem, attained=False)

    def _cost(self, **about: Any) -> Bound:
        from borel.numerics.balls.arithmetic import ball

        return figure(lambda: -ball(self.eta).log(), self.theorem, **about)
