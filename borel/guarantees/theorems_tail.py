r"""Implications of tail leakage, the mean of e^PML over the worst delta of outcomes: our proofs.

With S = e^l(Y), over all 0 <= W <= 1 that are functions of the outcome (or of it and a coin),

.. math:: V(\delta) = \frac1\delta \max_{E W = \delta} E[W S] = \min_c c + E(S - c)_+ / \delta,

V(0) is the supremum of S, and V(1) the exponential of maximal leakage. Two facts are used
throughout: S >= 1, as the mean of f(y|x) / f_Y(y) over the prior is 1; and V does not increase,
while delta V(delta) is concave and grows at least as delta does. What has to do with the envelope,
with sets of priors and with the meaning of V is in docs/tail_leakage.md, with all proofs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from borel.guarantees import extremal_examples as ex
from borel.guarantees.base import probability_up
from borel.guarantees.dp import ApproximateDP
from borel.guarantees.facts import Facts
from borel.guarantees.kinds import EML, LDP, PML, AveragePML, TailLeakage
from borel.guarantees.rounded_levels import log_of, times
from borel.guarantees.theorem import Theorem, needs

SOURCE = "Tail leakage (docs/tail_leakage.md)"


def _asked(ratio: Any, about: Facts) -> TailLeakage:
    """Return tail leakage at the delta that is asked for."""
    assert about.delta is not None
    return TailLeakage.at(log_of(ratio), delta=probability_up(about.delta))


def _supremum(g: PML, about: Facts) -> TailLeakage | None:
    return None if g.delta else TailLeakage.at(g.levels[0])


def _tail(g: TailLeakage, about: Facts) -> PML | None:
    return PML.at(g.levels[0], delta=g.delta) if g.delta < 1 else None


def _of_tail(usual: PML, top: PML, about: Facts) -> TailLeakage | None:
    assert about.delta is not None
    if top.delta or not usual.delta:
        return None
    rare, high = min(Fraction(usual.delta) / about.delta, Fraction(1)), top.levels[0].up
    low = min(usual.levels[0].up, high)
    return _asked(high if high == low else times(1 - rare, low) + rare * high, about)


def _event(g: TailLeakage, about: Facts) -> EML | None:
    return EML.at(g.levels[0], delta=g.delta) if g.delta < 1 else None


def _events(g: EML, about: Facts) -> TailLeakage | None:
    assert about.size is not None
    return TailLeakage.at(log_of(times(about.size, g.levels[0].up)), delta=g.delta)


def _at_another(g: TailLeakage, about: Facts) -> TailLeakage:
    assert about.delta is not None
    grown = max(Fraction(g.delta) / about.delta, Fraction(1))
    return _asked(1 + grown * (g.levels[0].up - 1), about)


def _response(g: LDP, about: Facts) -> AveragePML:
    assert about.size is not None
    r, k = g.levels[0].up, about.size
    return AveragePML.at(log_of(k if r == float("inf") else k * r / (r + k - 1)))


def _approximate(g: ApproximateDP, about: Facts) -> TailLeakage:
    assert about.size is not None and about.delta is not None
    return _asked(g.levels[0].up + (about.size - 1) * Fraction(g.delta) / about.delta, about)


def _theorem(name: str, number: int, *rest: Any, **more: Any) -> Theorem:
    return Theorem(
        f"tail leakage: {name}", f"{SOURCE}, Theorem {number}", *rest, origin="here", **more
    )


THEOREMS = [
    _theorem(
        "to PML",
        2,
        (TailLeakage,),
        PML,
        _tail,
        "V(delta) <= e^epsilon implies (epsilon, delta)-PML, on every alphabet; as it is "
        "post-processed too, so does whatever is made of the outcome",
        condition="delta < 1",
        proof="were P{S > V(delta)} >= delta, a W of mean delta would live there, and E[W S] be "
        "more than delta V(delta). At delta = 0, S <= V(0).",
        tight="attained where e^l is constant on the worst outcomes",
        not_invertible=ex.pml_without_tail_leakage,
    ),
    _theorem(
        "from PML (delta = 0)",
        2,
        (PML,),
        TailLeakage,
        _supremum,
        "epsilon-PML is V(0) <= e^epsilon, hence V(delta) <= e^epsilon for every delta",
        condition="delta = 0",
        proof="S <= e^epsilon.",
        tight="an equivalence",
    ),
    _theorem(
        "from PML and its supremum",
        2,
        (PML, PML),
        TailLeakage,
        _of_tail,
        "(epsilon, d)-PML and m-PML, m >= epsilon, imply V(delta) <= e^epsilon + min(d/delta, 1) "
        "(e^m - e^epsilon), on every alphabet",
        needs("delta"),
        "delta > 0 of the first, delta = 0 of the second",
        proof="S is at most e^m with probability d, and e^epsilon on the rest of the worst delta.",
        tight="attained by an erasure channel under the uniform prior",
    ),
    _theorem(
        "at another delta",
        4,
        (TailLeakage,),
        TailLeakage,
        _at_another,
        "V(d) <= v implies V(delta) <= 1 + max(d/delta, 1) (v - 1); for d = 1, 1 + (e^L - 1)/delta",
        needs("delta"),
        proof="for delta < d a W of mean delta may grow to one of mean d, by outcomes with S >= 1: "
        "delta V(delta) + d - delta <= d V(d). For delta >= d, V(delta) <= V(d).",
        tight="attained by an erasure channel that shows the secret with probability delta or less",
    ),
    _theorem(
        "to average PML",
        4,
        (TailLeakage,),
        AveragePML,
        lambda g, about: AveragePML.at(g.levels[0]),
        "V(delta) <= e^epsilon implies maximal leakage at most epsilon, on every alphabet",
        proof="E S = V(1) <= V(delta).",
        tight="attained where the leakage is the same at every outcome",
        not_invertible=ex.average_without_tail_leakage,
    ),
    _theorem(
        "from average PML",
        4,
        (AveragePML,),
        TailLeakage,
        lambda g, about: TailLeakage.at(g.levels[0], delta=1),
        "maximal leakage is tail leakage at delta = 1",
        proof="E S = V(1).",
        tight="an equivalence",
    ),
    _theorem(
        "to EML",
        8,
        (TailLeakage,),
        EML,
        _event,
        "V(delta) <= e^epsilon implies (epsilon, delta)-EML, on every alphabet",
        condition="delta < 1",
        proof="an outcome of a post-processing, of probability b >= delta, leaks at most "
        "V_Z(b) <= V(b) <= V(delta).",
        tight="attained where one secret attains the leakage of all of the worst outcomes",
        not_invertible=ex.eml_without_tail_leakage,
    ),
    _theorem(
        "from EML",
        8,
        (EML,),
        TailLeakage,
        _events,
        "(epsilon, delta)-EML implies V(delta) <= n e^epsilon, n secrets in the support",
        needs("finite", "size"),
        proof="W is a sum over x of parts on which x attains S. Each part has mass delta or less "
        "and grows to an event of mass delta, on which the ratio of x is e^epsilon at most.",
        tight="attained at delta = 1 by Y = X",
    ),
    _theorem(
        "LDP to average PML",
        8,
        (LDP,),
        AveragePML,
        _response,
        "epsilon-LDP implies maximal leakage at most log(n e^epsilon / (e^epsilon + n - 1)), n "
        "secrets in the support",
        needs("finite", "size"),
        proof="with m the largest f(y|x) over x, the sum over x is at least m (1 + (n - 1) / "
        "e^epsilon); summed over y it is n.",
        tight="attained by randomised response, whatever the prior",
        attained_by=ex.response,
    ),
    _theorem(
        "from approximate DP",
        8,
        (ApproximateDP,),
        TailLeakage,
        _approximate,
        "(epsilon, d)-DP implies V(delta) <= e^epsilon + (n - 1) d / delta, n secrets in the "
        "support",
        needs("finite", "size", "delta"),
        proof="with c = e^epsilon, E(S - c)_+ is at most the sum over x of the integral of "
        "(f(y|x) - c f_Y(y))_+, which for each x is at most the mean over x' of d, and 0 for x' = "
        "x: (1 - P_X(x)) d. These sum to (n - 1) d.",
        tight="attained by an erasure channel under the uniform prior",
    ),
]
