r"""Implications proved here, which the papers leave open or imply without saying so.

Each carries its proof; ``implied(..., sharpened=False)`` leaves them out.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from borel.guarantees import extremal_examples as ex
from borel.guarantees.base import probability_up
from borel.guarantees.dp import ApproximateDP, ProbabilisticDP
from borel.guarantees.facts import Facts
from borel.guarantees.informations import FInformation, TotalVariation
from borel.guarantees.kinds import EML, LDI, LDP, PMC, PML, AveragePML
from borel.guarantees.rounded_levels import log_of, nats_of, times
from borel.guarantees.theorem import Theorem, needs

SPREAD = needs("finite", "p_min", "p_max")


def _spread(about: Facts) -> Fraction:
    assert about.p_min is not None and about.p_max is not None
    return about.p_max / about.p_min


def _eml_pml(g: EML, about: Facts) -> PML | None:
    assert about.size is not None
    delta = about.size * Fraction(g.delta)
    return PML.at(g.levels[0], delta=probability_up(delta)) if 0 < delta < 1 else None


def _variation(g: Any, about: Facts) -> TotalVariation | None:
    if getattr(g, "delta", 0):
        return None
    r = g.levels[0].up
    return TotalVariation(1.0 if r == math.inf else nats_of(1 - 1 / r).nats)


def _chi_square(g: AveragePML, about: Facts) -> FInformation | None:
    r = g.levels[0].up
    return None if r == math.inf else FInformation(nats_of(r - 1).nats, "chi_square")


def _rassouli(g: AveragePML, about: Facts) -> TotalVariation | None:
    assert about.size is not None and about.p_max is not None
    r = g.levels[0].up
    if r == math.inf:
        return None
    value = (about.size - 1) * about.p_max * (r - 1)
    return TotalVariation(nats_of(min(value, Fraction(1))).nats)


_TV = (
    "the posterior is at most e^l times the prior, so the total variation at y, the sum of "
    "(P_X|y - P_X)^+, is at most the sum of P_X|y (1 - e^-l), which is 1 - e^-l."
)

THEOREMS = [
    Theorem(
        "here: LDI to LDP",
        "the definitions",
        (LDI,),
        LDP,
        lambda g, about: LDP.at(log_of(times(g.levels[0].up, _spread(about)))),
        "epsilon-LDI implies (epsilon + log p_max/p_min)-LDP",
        SPREAD,
        origin="here",
        proof="f(y|x) / f(y|x') is the posterior ratio times P_X(x') / P_X(x).",
        tight="attained under the uniform prior",
        attained_by=ex.uniform_ldp,
    ),
    Theorem(
        "here: LDP to LDI",
        "the definitions",
        (LDP,),
        LDI,
        lambda g, about: LDI.at(log_of(times(g.levels[0].up, _spread(about)))),
        "epsilon-LDP implies (epsilon + log p_max/p_min)-LDI",
        SPREAD,
        origin="here",
        proof="the posterior ratio is f(y|x) / f(y|x') times P_X(x) / P_X(x').",
        tight="attained under the uniform prior",
        attained_by=ex.uniform_ldp,
    ),
    Theorem(
        "here: EML to PML",
        "a union bound",
        (EML,),
        PML,
        _eml_pml,
        "(epsilon, delta)-EML implies (epsilon, n delta)-PML, n secrets in the support",
        needs("finite", "size"),
        "0 < n delta < 1",
        origin="here",
        proof="for each x the event {y : i(x;y) > epsilon} has P(E|x)/P(E) > e^epsilon if it has "
        "mass at all, so by EML its probability is below delta; outcomes above epsilon lie in one "
        "of the n events.",
    ),
    *(
        Theorem(
            f"here: {kind.symbol} to total variation",
            "the definitions",
            (kind,),
            TotalVariation,
            _variation,
            f"epsilon-{kind.symbol} implies T(X;Y) <= 1 - e^-epsilon, on every alphabet",
            condition="" if kind is AveragePML else "delta = 0",
            origin="here",
            proof=proof,
            tight="attained by Y = X under the uniform prior" if kind is not PMC else "",
            attained_by=ex.uniform_identity if kind is not PMC else None,
        )
        for kind, proof in (
            (PML, _TV),
            (PMC, "the posterior is at least e^-Λ times the prior: sum (P_X - P_X|y)^+."),
            (AveragePML, _TV + " Then 1 - E e^-l <= 1 - 1/E e^l by Jensen."),
        )
    ),
    Theorem(
        "here: average PML to chi-square",
        "the definitions",
        (AveragePML,),
        FInformation,
        _chi_square,
        "chi-square information is at most e^L - 1, on every alphabet",
        origin="here",
        proof="it is E e^i - 1 under P_XY, and i <= l.",
        tight="attained by Y = X under the uniform prior",
        attained_by=ex.uniform_identity,
    ),
    Theorem(
        "here: probabilistic DP to approximate DP",
        "the definitions",
        (ProbabilisticDP,),
        ApproximateDP,
        lambda g, about: ApproximateDP.at(g.levels[0], delta=g.delta),
        "(epsilon, delta)-probabilistic DP implies (epsilon, delta)-DP, on every alphabet",
        origin="here",
        proof="with B = {L > epsilon}, P_x(E) <= P_x(B) + P_x(E outside B), which is at most delta "
        "+ e^epsilon P_x'(E).",
        tight="attained where the outcomes of B are impossible under x'",
    ),
    Theorem(
        "here: approximate DP (delta = 0) to LDP",
        "the definitions",
        (ApproximateDP,),
        LDP,
        lambda g, about: None if g.delta else LDP.at(g.levels[0]),
        "(epsilon, 0)-DP of any two secrets is epsilon-LDP, on every alphabet",
        condition="delta = 0",
        origin="here",
        proof="the event {f(y|x) > e^epsilon f(y|x')} has P_x <= e^epsilon P_x' and, where it has "
        "mass, more than that: it has none, for any two secrets, hence almost surely.",
        tight="an equivalence where the secrets are countable",
    ),
    Theorem(
        "here: LDP to probabilistic DP",
        "the definitions",
        (LDP,),
        ProbabilisticDP,
        lambda g, about: ProbabilisticDP.at(g.levels[0]),
        "epsilon-LDP is (epsilon, 0)-probabilistic DP where the secrets are countable",
        needs("discrete"),
        origin="here",
        proof="every pair of secrets has positive probability, so that no outcome that one of them "
        "allows has a loss above epsilon.",
        tight="an equivalence",
    ),
    Theorem(
        "PML paper, (25)",
        "Pointwise Maximal Leakage, equation (25); Rassouli, Gunduz (2019)",
        (AveragePML,),
        TotalVariation,
        _rassouli,
        "T(X;Y) <= (n - 1) p_max (e^L - 1), n secrets in the support",
        needs("finite", "size", "p_max"),
        proof="T is the sum of P_X(x) (f(y|x) - f_Y(y))^+, in which at each y at most n - 1 "
        "secrets are positive, each of them at most p_max (max_x f(y|x) - f_Y(y)).",
        tight="attained by an erasure channel of a uniform bit",
    ),
]
