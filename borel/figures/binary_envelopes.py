"""The binary envelope: what leaks, with probability delta or more, through one bit of the outcome.

The object is called with delta; many deltas give a curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from borel.engine.finite.law_engine import WIDE
from borel.errors import NotYet
from borel.figures.dispatch import figure, require_joint
from borel.probability.arrays import inner_probability
from borel.probability.mechanism_families import JointFamily

if TYPE_CHECKING:
    import xarray as xr

    from borel.probability.bound import Bound
    from borel.probability.joint import Joint


class BinaryEnvelope:
    """The binary envelope of a joint, a function of delta; made by `binary_envelope`.

    Parameters
    ----------
    joint : Joint
        The joint law.
    """

    __array_ufunc__ = None

    def __init__(self, joint: Joint):
        self.joint = joint

    def __call__(self, delta: Any) -> Bound | xr.Dataset:
        """Return the envelope at one delta, a Bound in nats, or at many, a Dataset.

        Parameters
        ----------
        delta : number or array of numbers
            In (0, 1). A float means its binary64 value; Fractions are exact.

        Returns
        -------
        Bound or Dataset
            A Bound with the secret and the event that attain it (outcomes with their shares), or
            for many deltas ``lower``, ``upper`` and ``status`` over ``delta``.

        Raises
        ------
        InvalidInput
            A delta outside (0, 1).
        NotYet
            Alphabets on which no engine computes it.
        """
        values = getattr(delta, "values", delta)
        if np.ndim(values) == 0:
            level = inner_probability("bl.binary_envelope", "delta", delta)
            return figure(self.joint, "binary_envelope", level)
        if isinstance(self.joint, JointFamily):
            raise NotYet(
                "bl.binary_envelope", missing="curves of families", instead="one delta at a time."
            )
        import xarray as xr

        points = np.ravel(np.asarray(values, dtype=object)).tolist()
        levels = [inner_probability("bl.binary_envelope", "delta", d) for d in points]
        low, high, status = figure(self.joint, "binary_envelope_curve", levels)
        status = np.asarray(status).astype(str)
        wide = (status == "exact") & (high - low > WIDE)
        status = np.where(wide, "certified", status)
        data = {
            "lower": ("delta", low, {"units": "nats"}),
            "upper": ("delta", high, {"units": "nats"}),
            "status": ("delta", status),
        }
        about = {"quantity": "binary envelope of pointwise maximal leakage", "units": "nats"}
        return xr.Dataset(data, {"delta": [float(d) for d in levels]}, about)

    def both(self) -> Bound:
        """Return the largest leakage that both outcomes of a binary Z have, the limit at delta = 1.

        Returns
        -------
        Bound
            In nats; the witness is the two secrets, and the event of the first.
        """
        return figure(self.joint, "both_halves")

    def __repr__(self) -> str:
        """Show of what."""
        return f"BinaryEnvelope({self.joint!r})"


def binary_envelope(joint: Joint) -> BinaryEnvelope:
    r"""Return the binary envelope of pointwise maximal leakage, a function of delta.

    .. math:: \varepsilon_b(\delta) = \sup_{Z \in \{0, 1\}, X - Y - Z} \bar\varepsilon_Z(\delta),
              \quad \bar\varepsilon_Z(\delta) = \max_{P_Z(A) \ge \delta} \min_{z \in A} \ell(z)

    A lower bound on the PML envelope: the adversary may only keep one bit of Y.

    Parameters
    ----------
    joint : Joint
        ``prior * mech``.

    Returns
    -------
    BinaryEnvelope
        Called with delta in (0, 1) it gives Bounds in nats, or for many deltas a Dataset. Exact on
        finite alphabets: Fractions give exact ratios, unless both halves of an event decide and
        their common value is irrational, which is enclosed.

    Notes
    -----
    **Reduction.** Z is a fuzzy event :math:`a(y) = P\{Z = 1 | Y = y\}`. A set A of its outcomes is
    {1}, {0} or both, so that with l(a) the leakage of the event,

    .. math:: \varepsilon_b(\delta) = \max\Big\{\max_{P_Y(a) \ge \delta} \ell(a),\
              \max_a \min\{\ell(a), \ell(1 - a)\}\Big\},

    where {0} is covered by 1 - a, and the second term, of A = {0, 1}, holds at any delta. The
    first is event maximal leakage (`event_maximal_leakage`), equation (22) of the paper, which is
    what its Algorithm 1 computes. For delta <= 1/2 one of a and 1 - a has probability at least
    delta, and leaks at least the smaller of the two: the first term is the larger one, and the
    algorithm is right. For delta > 1/2 it need not be: of a uniform bit that is released, all of
    Z = Y leaks log 2, while events of probability 0.9 leak log 1/0.9 at most.

    **The second term.** Its e^ is the largest t for which an event a and secrets x, x' have
    :math:`K_x(a) \ge t P_Y(a)` and :math:`K_{x'}(1 - a) \ge t P_Y(1 - a)`. For given secrets these
    are two linear inequalities in a, solvable (Farkas, over the box of all a) if and only if
    :math:`\sum_y \max\{\lambda (K_x - t P_Y), (1 - \lambda)(K_{x'} - t P_Y)\} \ge 0` for all
    lambda in [0, 1]. An event proves a lower bound, a lambda an upper one; lambda = 1/2 gives
    1 + TV(K_x, K_x'). The tests compare it with all vertices of the set of events.

    References
    ----------
    "Information Leakage Envelopes", equations (13) and (22), Algorithm 1 (which is (22), not (13),
    for delta > 1/2); "Pointwise Maximal Leakage", Theorem 3.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel as bl
    >>> bit = bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix([[F(1), F(0)], [F(0), F(1)]])
    >>> binary_envelope(bit)(F(9, 10)).ratio.lower
    Fraction(2, 1)
    >>> bl.event_maximal_leakage(bit, delta=F(9, 10)).ratio.lower
    Fraction(10, 9)
    """
    if not isinstance(joint, JointFamily):
        require_joint(joint, "binary_envelope")
    return BinaryEnvelope(joint)
