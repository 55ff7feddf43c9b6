r"""Implications of "Pointwise Maximal Leakage": Lemmas 2 and 3, Propositions 4 to 9, Table I.

p_min enters through epsilon_max = log 1/p_min, the largest leakage there is. Where the proof of
the paper gives more than its statement, that is a second theorem, marked ``sharpened``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from borel.guarantees import extremal_examples as ex
from borel.guarantees.facts import Facts
from borel.guarantees.informations import (
    DIVERGENCES,
    FInformation,
    MaxInformation,
    MutualInformation,
    TotalVariation,
)
from borel.guarantees.kinds import EML, LDI, PMC, PML, AveragePML
from borel.guarantees.rounded_levels import log_of, nats_of
from borel.guarantees.theorem import PML_PAPER, Theorem, needs
from borel.probability.generators import NAMED

FINITE = needs("finite", "p_min")


def _top(about: Facts) -> Fraction:
    """Return e^epsilon_max, at or above 1 / p_min."""
    assert about.p_min is not None
    return 1 / about.p_min


def _delta(g: Any) -> Fraction:
    return Fraction(g.delta)


def _average(g: PML, about: Facts) -> AveragePML | None:
    if not g.delta:
        return None
    return AveragePML.at(log_of(g.levels[0].up + _delta(g) * _top(about)))


def _average_sharp(g: PML, about: Facts) -> AveragePML | None:
    if not g.delta:
        return None
    common = min(g.levels[0].up, _top(about))
    return AveragePML.at(log_of((1 - _delta(g)) * common + _delta(g) * _top(about)))


def _information(g: PML, about: Facts, *, sharp: bool) -> MutualInformation | None:
    if not g.delta:
        return None
    top = Fraction(log_of(_top(about)).nats)
    own = min(g.levels[0].nats_up, top) if sharp else g.levels[0].nats_up
    if own == math.inf:
        return None
    share = 1 - _delta(g) if sharp else 1
    return MutualInformation.at(nats_of(share * Fraction(own) + _delta(g) * top))


def _tv_cases(r: Any) -> Any:
    """Return the three cases of Proposition 9: e^l - 1, then 1/2, then (e^l - 1)/2."""
    return min(r - 1, max((r - 1) / 2, Fraction(1, 2)))


def _variation(value: Any) -> TotalVariation:
    return TotalVariation(nats_of(min(value, Fraction(1))).nats)


def _tv_tail(g: PML, about: Facts) -> TotalVariation | None:
    if not g.delta:
        return None
    return _variation(_tv_cases(g.levels[0].up) + _delta(g) / 2 * (_top(about) - 1))


def _f_information(g: PML, about: Facts, f: str) -> FInformation | None:
    """E max{f(e^l), f(0)}, with e^l at most e^epsilon, or 1/p_min with probability delta.

    A convex f with f(1) = 0 is at most max{f(0), f(t)} on [0, t], and that is never below 0.
    """
    function = NAMED[f]
    usual, rare = g.levels[0].up, None
    if g.delta:
        if about.p_min is None:
            return None
        rare = _top(about)
        usual = min(usual, rare)
    if usual == math.inf:
        return None
    ends = [max(function.above(Fraction(t)), function.at_zero) for t in (usual, rare) if t]
    value = ends[0] if rare is None else (1 - _delta(g)) * ends[0] + _delta(g) * ends[1]
    return FInformation(nats_of(value).nats, f)


def _ldi(g: LDI, about: Facts) -> PML:
    assert about.p_min is not None and about.size is not None
    r = g.levels[0].up
    others = Fraction(0) if r == math.inf else (about.size - 1) / r
    return PML.at(log_of(1 / (about.p_min * (1 + others))))


def _proposition_4(g: EML, about: Facts) -> PML | None:
    return PML.at(g.levels[0], delta=g.delta) if g.delta < 1 else None


def _same(kind: Any) -> Any:
    """Return a map that keeps the level of guarantees without exceptions."""

    def keep(g: Any, about: Facts) -> Any:
        return None if getattr(g, "delta", 0) else kind.at(g.levels[0])

    return keep


def _zero(kind: Any) -> Any:
    """Lemma 2(2): a level of 0 is independence, outcome by outcome."""

    def zero(g: Any, about: Facts) -> Any:
        return kind(0, delta=g.delta) if g.levels[0].nats == 0 else None

    return zero


def _statement(number: str, *rest: Any, **more: Any) -> Theorem:
    return Theorem(
        f"PML paper, {number}", f"{PML_PAPER}, {number.partition(' to ')[0]}", *rest, **more
    )


THEOREMS = [
    _statement(
        "Lemma 2(1)",
        (),
        PML,
        lambda about: PML.at(log_of(_top(about))),
        "every mechanism is log 1/p_min-PML",
        FINITE,
        tight="attained by Y = X",
        attained_by=ex.identity,
        correction="the paper's epsilon_max >= log 2 fails for a one-point prior; not used here",
    ),
    _statement(
        "Lemma 2(2) to PMC",
        (PML,),
        PMC,
        _zero(PMC),
        "0-PML is independence, hence 0-PMC; on every alphabet",
        condition="epsilon = 0",
        correction="with delta: at an outcome of leakage 0 the posterior is the prior",
    ),
    _statement(
        "Lemma 2(2) to PML",
        (PMC,),
        PML,
        _zero(PML),
        "0-PMC is independence, hence 0-PML; on every alphabet",
        condition="epsilon = 0",
        correction="with delta: at an outcome of cost 0 the posterior is the prior",
    ),
    _statement(
        "Lemma 3(1)",
        (PML,),
        AveragePML,
        _same(AveragePML),
        "epsilon-PML implies maximal leakage at most epsilon, on every alphabet",
        condition="delta = 0",
        tight="attained where the leakage is the same at every outcome",
        attained_by=ex.uniform_response,
        not_invertible=ex.average_without_pml,
    ),
    _statement(
        "Lemma 3(2)",
        (PML,),
        AveragePML,
        _average,
        "(epsilon, delta)-PML implies maximal leakage at most log(e^epsilon + delta / p_min)",
        FINITE,
        "delta > 0",
        tight="not attained: the sharpened form is smaller",
        not_invertible=ex.average_without_pml,
    ),
    _statement(
        "Lemma 3(2) to average PML, sharpened",
        (PML,),
        AveragePML,
        _average_sharp,
        "maximal leakage at most log((1 - delta) e^epsilon + delta / p_min)",
        FINITE,
        "delta > 0",
        origin="sharpened",
        proof="e^l is at most e^epsilon on outcomes of probability 1 - q >= 1 - delta and at most "
        "1/p_min on the others: (1 - q) e^epsilon + q / p_min increases in q, up to q = delta.",
        tight="attained by an erasure channel under the uniform prior",
    ),
    _statement(
        "Definition 11 (delta = 0) to EML",
        (PML,),
        EML,
        _same(EML),
        "epsilon-PML is (epsilon, 0)-EML, hence (epsilon, delta)-EML for every delta",
        condition="delta = 0",
        tight="an equivalence",
        not_invertible=ex.eml_without_pml,
    ),
    _statement(
        "Definition 11 (delta = 0) to PML",
        (EML,),
        PML,
        _same(PML),
        "(epsilon, 0)-EML is epsilon-PML",
        condition="delta = 0",
        tight="an equivalence",
        not_invertible=ex.pml_without_eml,
    ),
    _statement(
        "Proposition 4",
        (EML,),
        PML,
        _proposition_4,
        "(epsilon, delta)-EML implies (epsilon, delta)-PML where one secret attains the leakage of "
        "every outcome above epsilon",
        needs("discrete", "common_maximiser"),
        "one secret attains the leakage of every outcome above epsilon",
        not_invertible=ex.pml_without_eml,
    ),
    _statement(
        "Definition 13 to max-information",
        (PML,),
        MaxInformation,
        _same(MaxInformation),
        "epsilon-PML is max-information at most epsilon",
        condition="delta = 0",
        tight="an equivalence",
    ),
    _statement(
        "Definition 13 to PML",
        (MaxInformation,),
        PML,
        _same(PML),
        "max-information at most epsilon is epsilon-PML",
        condition="delta = 0",
        tight="an equivalence",
    ),
    _statement(
        "Proposition 5",
        (PML,),
        MaxInformation,
        lambda g, about: MaxInformation.at(g.levels[0], delta=g.delta) if g.delta else None,
        "(epsilon, delta)-PML implies delta-approximate max-information at most epsilon",
        condition="delta > 0",
        not_invertible=ex.approximate_information_without_pml,
    ),
    _statement(
        "Proposition 6 to PML",
        (LDI,),
        PML,
        _ldi,
        "epsilon-LDI implies log 1/(p_min (1 + e^-epsilon (n - 1)))-PML, n secrets in the support",
        needs("finite", "p_min", "size"),
        tight="attained under the uniform prior",
        attained_by=ex.uniform_ldp,
        not_invertible=ex.pml_without_ldi,
    ),
    _statement(
        "Proposition 7(1)",
        (PML,),
        MutualInformation,
        _same(MutualInformation),
        "epsilon-PML implies I(X;Y) <= epsilon, on every alphabet",
        condition="delta = 0",
        tight="attained by Y = X under the uniform prior",
        attained_by=ex.uniform_identity,
        not_invertible=ex.information_without_pml,
    ),
    _statement(
        "Proposition 7(2)",
        (PML,),
        MutualInformation,
        lambda g, about: _information(g, about, sharp=False),
        "(epsilon, delta)-PML implies I(X;Y) <= epsilon + delta log 1/p_min",
        FINITE,
        "delta > 0",
        tight="attained at epsilon = 0 by an erasure channel under the uniform prior",
    ),
    _statement(
        "Proposition 7(2) to mutual information, sharpened",
        (PML,),
        MutualInformation,
        lambda g, about: _information(g, about, sharp=True),
        "(epsilon, delta)-PML implies I(X;Y) <= (1 - delta) epsilon + delta log 1/p_min",
        FINITE,
        "delta > 0",
        origin="sharpened",
        proof="I <= E l, and l <= epsilon <= log 1/p_min up to probability delta.",
        tight="attained by an erasure channel under the uniform prior",
    ),
    *(
        _statement(
            f"Proposition 8 ({f}) to f-information",
            (PML,),
            FInformation,
            (lambda g, about, f=f: _f_information(g, about, f)),
            f"I_f <= E max(f(e^l), f(0)) for f of {f}; finite alphabets where delta > 0",
        )
        for f in DIVERGENCES
    ),
    _statement(
        "Proposition 9 (from maximal leakage)",
        (AveragePML,),
        TotalVariation,
        lambda g, about: _variation(g.levels[0].up - 1),
        "T(X;Y) <= e^L - 1, on every alphabet",
        tight="not attained: the sharpened form 1 - e^-L is smaller",
    ),
    _statement(
        "Proposition 9 (delta = 0)",
        (PML,),
        TotalVariation,
        lambda g, about: None if g.delta else _variation(_tv_cases(g.levels[0].up)),
        "T(X;Y) <= min(e^epsilon - 1, max(e^epsilon - 1, 1)/2), on every alphabet",
        condition="delta = 0",
        tight="not attained: the sharpened form 1 - e^-epsilon is smaller",
    ),
    _statement(
        "Proposition 9 (delta > 0)",
        (PML,),
        TotalVariation,
        _tv_tail,
        "T(X;Y) <= the bound at delta = 0, plus delta/2 (1/p_min - 1)",
        FINITE,
        "delta > 0",
        correction="its proof uses epsilon_max >= log 2, which fails for a one-point prior; there "
        "T = 0 and the bound holds all the same",
    ),
    _statement(
        "Section IV-C to mutual information",
        (AveragePML,),
        MutualInformation,
        lambda g, about: MutualInformation.at(g.levels[0]),
        "maximal leakage bounds mutual information, on every alphabet",
        proof="I <= E l <= log E e^l = L, by Proposition 7 and Jensen.",
        tight="attained by Y = X under the uniform prior",
        attained_by=ex.uniform_identity,
        not_invertible=ex.information_without_average,
    ),
]
