"""Disclosure prevention as a guarantee, and the theorems that give it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.figures.leakage import pmc, pml
from borel.guarantees import extremal_examples as ex
from borel.guarantees.base import OneLevel, at_most
from borel.guarantees.facts import Facts
from borel.guarantees.kinds import LDP, PMC, PML
from borel.guarantees.theorem import Theorem
from borel.numerics.intervals.rounding import U, log_fraction, rounding_of
from borel.priors.random_verdict import RandomVerdict
from borel.probability.arrays import carried
from borel.probability.bound import Bound, Ratio, Verdict

if TYPE_CHECKING:
    from borel.probability.joint import Joint

PAPER = "Rethinking Disclosure Prevention with Pointwise Maximal Leakage"


class DisclosurePrevention(OneLevel):
    r"""No attribute of the secret with min-entropy above epsilon is disclosed.

    An attribute U, U - X - Y a Markov chain, is disclosed if
    :math:`\inf_y H_\infty(P_{U|Y=y}) = 0`. On finite alphabets it is then disclosed under every
    prior of the same support (Theorem 3.4 of the paper): the guarantee is one against all
    adversaries, with entropies under the true prior. At epsilon = 0 nothing that is not constant is
    disclosed.

    Parameters
    ----------
    epsilon : float or Fraction
        Nats, >= 0; a float means its binary64 value.
    ratio : int or Fraction
        :math:`e^\varepsilon` exactly, >= 1, instead of ``epsilon``: ties are then decided.

    Raises
    ------
    InvalidInput
        A level that is negative or NaN, or given twice.

    Notes
    -----
    Of finite joints the least epsilon is :math:`\max_y \log 1 / P_X\{x : f(y|x) > 0\}`, the largest
    Renyi divergence of order 0 of a posterior from the prior, which is never above PML. An outcome
    y gives away U if and only if U is one value u on the secrets S that y leaves; then
    max P_U is at least P_X(S), so that H(U) is at most log 1/P_X(S), and an attribute that is
    spread over many values outside of S attains it.

    References
    ----------
    Saeidian, Cervia, Oechtering, Skoglund, "Rethinking Disclosure Prevention with Pointwise
    Maximal Leakage", Definition 3.3 and Theorem 3.5.

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    >>> joint.satisfies(DisclosurePrevention(0)).holds
    True
    """

    symbol = "disclosure prevention"

    def holds_for(self, joint: Joint) -> Verdict:
        """Return whether the joint satisfies the guarantee."""
        (level,) = self.levels
        if joint.prior.over == "one prior" and joint.finite:
            return at_most(_of_supports(joint), level)
        answer = at_most(pml(joint).sup(), level)
        if isinstance(answer, RandomVerdict):
            return answer.implied()
        if answer.holds is not False:
            return answer
        if joint.prior.over == "one prior":
            cost = pmc(joint).sup()
            if cost.proved and cost.upper < math.inf:
                return Verdict(True, cost.within(0.0, 0.0), cost.witness)
        why = "PML is above the level, which refutes no disclosure prevention on these alphabets"
        return Verdict(None, answer.bound, answer.witness, why)


def _of_supports(joint: Joint) -> Bound:
    """Return the largest log 1/P_X{x : f(y|x) > 0} of the outcomes of a finite joint."""
    p, rows = joint.prior.at(joint.mechanism.secret), joint.mechanism.matrix
    charged = np.asarray(p != 0, bool)
    possible = np.asarray(rows != 0, bool)[charged]
    masses = [Fraction(v) for v in p[charged].tolist()]
    off = [Fraction(0)] * len(masses)
    if not joint.prior.rational:
        floats = np.asarray(p[charged], float)
        off = [Fraction(e) for e in rounding_of(floats, max(joint.prior.rounding, U)).tolist()]
    low, high, where = Fraction(1), Fraction(1), None
    for column, label in enumerate(joint.outcome.labels):
        left = possible[:, column]
        if not left.any() or left.all():
            continue
        inside, others = (
            [
                sum(
                    (m * (1 + s * e) for m, e, k in zip(masses, off, kept, strict=True) if k),
                    Fraction(0),
                )
                for s in (-1, 1)
            ]
            for kept in (left, ~left)
        )
        high = max(high, 1 + others[1] / inside[0])
        if 1 + others[0] / inside[1] > low or where is None:
            low, where = max(low, 1 + others[0] / inside[1]), label
    about: dict[str, Any] = {"witness": {"y": where}, "attained": True}
    if low == high:
        about["exact_ratio"] = Ratio(low, high)
    why = carried(joint.prior, joint.mechanism)
    return Bound.of(
        "estimate" if why else "exact",
        log_fraction(low)[0],
        log_fraction(high)[1],
        reason=why,
        **about,
    )


def _no_exceptions(g: PML, about: Facts) -> DisclosurePrevention | None:
    return None if g.delta else DisclosurePrevention.at(g.levels[0])


def _finite_level(g: LDP | PMC, about: Facts) -> DisclosurePrevention | None:
    exceptions = getattr(g, "delta", 0)
    return None if exceptions or g.levels[0].nats == math.inf else DisclosurePrevention(0)


THEOREMS = [
    Theorem(
        "disclosure paper, Theorem 3.5",
        f"{PAPER}, Theorem 3.5",
        (PML,),
        DisclosurePrevention,
        _no_exceptions,
        "under epsilon-PML no attribute of min-entropy above epsilon is disclosed",
        condition="delta = 0",
        tight="attained by Y = X under the uniform prior",
        attained_by=ex.uniform_identity,
    ),
    Theorem(
        "disclosure paper, Theorem 3.7",
        f"{PAPER}, Theorem 3.7",
        (LDP,),
        DisclosurePrevention,
        _finite_level,
        "under epsilon-LDP with any finite epsilon nothing is disclosed that is not constant",
        condition="epsilon < inf",
        correction="the first sentence of the paper's fails for constants, which Definition 3.3 "
        "counts as disclosed",
    ),
    Theorem(
        "here: PMC to disclosure prevention",
        "the definitions",
        (PMC,),
        DisclosurePrevention,
        _finite_level,
        "under epsilon-PMC with any finite epsilon nothing is disclosed that is not constant, on "
        "every alphabet",
        condition="delta = 0",
        origin="here",
        proof="P(U is not u|y) is at least e^-epsilon P(U is not u) for every value u and almost "
        "every y, as an attribute costs no more than the secret: what is left of U is at least "
        "-log(1 - (1 - max P_U) e^-epsilon), which is 0 for constants only.",
    ),
]
