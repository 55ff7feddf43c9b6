r"""Implications proved here, which the papers leave open or imply without saying so.

Each carries its proof; ``implied(..., sharpened=False)`` leaves them out.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from borel.guarantees import extremal_examples as ex
from borel.guarantees.base import probability_up
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
]
