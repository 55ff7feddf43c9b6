"""Relaxations of differential privacy: approximate and probabilistic DP, of a joint's support."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from borel.engine import engine_for
from borel.engine.problem.thresholds import Threshold
from borel.figures.profiles import privacy_profile
from borel.guarantees.base import TailGuarantee
from borel.probability.bound import Verdict

if TYPE_CHECKING:
    from borel.probability.joint import Joint


class _Loss(TailGuarantee):
    """A bound by delta on a figure of the privacy loss at epsilon."""

    what: ClassVar[str] = ""

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee; ties are decided for Fractions."""
        (level,), delta = self.levels, Fraction(self.delta)
        if level.ratio is not None and getattr(joint, "rational", False):
            from borel.engine.divergences.worst_pairs import worst_pair_ends

            bound, low, high = worst_pair_ends(
                engine_for(joint), Threshold(ratio=level.ratio), self.what
            )
            return Verdict._compare(
                bound, float(delta), lambda *_: high <= delta, lambda *_: low > delta
            )
        profile = privacy_profile(joint)
        asked: dict[str, Any] = {"epsilon": level.nats}
        if level.ratio is not None:
            asked = {"ratio": level.ratio}
        found = profile(**asked) if self.what == "excess" else profile.beyond(**asked)
        return found <= delta  # type: ignore[operator]


class ApproximateDP(_Loss):
    r"""(epsilon, delta)-DP between any two secrets of the support.

    .. math:: P_{Y|X=x}(E) \le e^\varepsilon P_{Y|X=x'}(E) + \delta

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    delta : float or Fraction
        0 <= delta < 1.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level or a delta out of range.

    References
    ----------
    "Information Leakage Envelopes", Definition 2.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Finite([0.0, 1.0]))
    >>> joint = bl.pmf([0.5, 0.5], on=mech.secret) * mech
    >>> joint.satisfies(ApproximateDP(1.0, delta=0.13)).holds
    True
    """

    symbol = "ADP"
    what = "excess"


class ProbabilisticDP(_Loss):
    r"""(epsilon, delta)-probabilistic DP: the privacy loss exceeds epsilon with probability delta.

    .. math:: P_{Y|X=x}\{L_{x,x'}(Y) > \varepsilon\} \le \delta

    Parameters and errors are those of `ApproximateDP`, which it implies.

    References
    ----------
    "Information Leakage Envelopes", Definition 3 and Example 1.

    Examples
    --------
    >>> import borel as bl
    >>> mech = bl.mechanisms.gaussian(sigma=1.0, secret=bl.Finite([0.0, 1.0]))
    >>> joint = bl.pmf([0.5, 0.5], on=mech.secret) * mech
    >>> joint.satisfies(ProbabilisticDP(1.0, delta=0.13)).holds
    False
    """

    symbol = "PDP"
    what = "beyond"
