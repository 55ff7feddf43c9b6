r"""Implications of "Information Density Bounds for Privacy" (PMC paper): Table II and Section V.

With r = e^epsilon and p = p_min the maps are rational: each increases in r and decreases in p, so
an upper end of r and a lower end of p give a true conclusion. Every proof fixes one outcome y; the
maps between PML and PMC therefore carry a probability delta of exceptional outcomes along.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from borel.guarantees import extremal_examples as ex
from borel.guarantees.facts import Facts
from borel.guarantees.kinds import (
    ALIP,
    LDP,
    LIP,
    PMC,
    PML,
    lip_of,
)
from borel.guarantees.rounded_levels import Level, log_of, times
from borel.guarantees.theorem import PMC_PAPER, PML_PAPER, Theorem, needs
from borel.guarantees.universal import UniversalPMC, UniversalPML

FINITE = needs("finite", "p_min")
HIGH_PRIVACY = "epsilon < log 1/(1 - p_min), the high-privacy regime"


# -- the maps, in r = e^epsilon ---------------------------------------------------------------


def pml_of_ldp(r: Any, p: Fraction) -> Level:
    """Proposition 1: r' = 1 / (p + (1 - p)/r)."""
    return log_of(1 / p if r == math.inf else r / (p * r + 1 - p))


def pmc_of_ldp(r: Any, p: Fraction) -> Level:
    """Propositions 1 and 3: r' = p + r (1 - p)."""
    return log_of(p + r * (1 - p) if p < 1 else 1)  # r may be inf


def pmc_of_pml(r: Any, p: Fraction) -> Level | None:
    """Theorem 6 (i): r' = p / (1 - r (1 - p)), where r (1 - p) < 1."""
    lost = times(r, 1 - p) if p < 1 else 0
    return log_of(p / (1 - lost)) if lost < 1 else None


def pml_of_pmc(r: Any, p: Fraction) -> Level:
    """Theorem 6 (ii): r' = (1 - (1 - p)/r) / p."""
    return log_of((1 - (Fraction(0) if r == math.inf else (1 - p) / r)) / p)


# -- as functions of guarantees ---------------------------------------------------------------


def _ldp_pml(g: LDP, about: Facts) -> PML:
    assert about.p_min is not None
    return PML.at(pml_of_ldp(g.levels[0].up, about.p_min))


def _ldp_pmc(g: LDP, about: Facts) -> PMC:
    assert about.p_min is not None
    return PMC.at(pmc_of_ldp(g.levels[0].up, about.p_min))


def _ldp_alip(g: LDP, about: Facts) -> ALIP:
    return ALIP.at(_ldp_pmc(g, about).levels[0], _ldp_pml(g, about).levels[0])


def _pml_pmc(g: PML, about: Facts) -> PMC | None:
    assert about.p_min is not None
    level = pmc_of_pml(g.levels[0].up, about.p_min)
    return None if level is None else PMC.at(level, delta=g.delta)


def _pmc_pml(g: PMC, about: Facts) -> PML:
    assert about.p_min is not None
    return PML.at(pml_of_pmc(g.levels[0].up, about.p_min), delta=g.delta)


def _sides_of_pml(g: PML, about: Facts) -> tuple[Level, Level] | None:
    """Return (epsilon_l*, epsilon_u), where there is no exceptional outcome."""
    cost = _pml_pmc(g, about)
    return None if cost is None or g.delta else (cost.levels[0], g.levels[0])


def _sides_of_pmc(g: PMC, about: Facts) -> tuple[Level, Level] | None:
    """Return (epsilon_l, epsilon_u*), where there is no exceptional outcome."""
    return None if g.delta else (g.levels[0], _pmc_pml(g, about).levels[0])


def _both(sides: Any, make: Any) -> Any:
    """Turn a map to both sides into a map to ALIP, LIP or LDP."""

    def mapped(g: Any, about: Facts) -> Any:
        found = sides(g, about)
        return None if found is None else make(*found)

    return mapped


def _ldp_of(lower: Level, upper: Level) -> LDP:
    return LDP.at(lower + upper)


_MAKERS = (("ALIP", ALIP, ALIP.at), ("LIP", LIP, lip_of), ("LDP", LDP, _ldp_of))


def _no_exceptions(make: Any) -> Any:
    """Turn a function of both levels into a map of an epsilon-PMC and an epsilon-PML."""
    return lambda c, u, about: None if c.delta or u.delta else make(c.levels[0], u.levels[0])


def _corollary_3() -> list[Theorem]:
    found = []
    for n, premise, sides, condition, attained in (
        ("i", PML, _sides_of_pml, f"delta = 0 and {HIGH_PRIVACY}", ex.pml_extremal),
        ("ii", PMC, _sides_of_pmc, "delta = 0", ex.pmc_extreme),
    ):
        lower, upper = ("epsilon_l*", "epsilon_u") if n == "i" else ("epsilon_l", "epsilon_u*")
        for word, kind, make in _MAKERS:
            said = {
                "ALIP": f"({lower}, {upper})-ALIP",
                "LIP": f"max({lower}, {upper})-LIP",
                "LDP": f"({lower} + {upper})-LDP",
            }[word]
            found.append(
                Theorem(
                    f"PMC paper, Corollary 3({n}) to {word}",
                    f"{PMC_PAPER}, Corollary 3({n})",
                    (premise,),
                    kind,
                    _both(sides, make),
                    f"epsilon-{premise.symbol} implies {said}",
                    FINITE,
                    condition,
                    tight="attained for every prior with two secrets or more",
                    attained_by=attained,
                )
            )
    return found


_FROM_BOTH = [
    Theorem(
        f"PMC paper, {what}",
        f"{PMC_PAPER}, {what}",
        (PMC, PML),
        kind,
        _no_exceptions(make),
        statement,
        condition="delta = 0",
    )
    for what, kind, make, statement in (
        ("Table II (ALIP)", ALIP, ALIP.at, "epsilon_l-PMC and epsilon_u-PML are ALIP"),
        ("Table II (LIP)", LIP, lip_of, "epsilon-PMC and epsilon-PML are epsilon-LIP"),
        ("Theorem 7 (from PMC and PML)", LDP, _ldp_of, "their sum is an LDP level"),
    )
]

_SIDES = [
    Theorem(
        f"PMC paper, Table II ({word} to {kind.symbol})",
        f"{PMC_PAPER}, Table II, Definitions 4 and 5, Theorem 2",
        (premise,),
        kind,
        (lambda g, about, kind=kind, side=side: kind.at(g.levels[side])),
        f"{word} bounds {kind.symbol}",
        tight="the definition",
    )
    for word, premise, sides in (("LIP", LIP, (0, 0)), ("ALIP", ALIP, (0, 1)))
    for kind, side in zip((PMC, PML), sides, strict=True)
]

THEOREMS = [
    Theorem(
        "PMC paper, Proposition 1 to PML",
        f"{PMC_PAPER}, Proposition 1; {PML_PAPER}, Proposition 6",
        (LDP,),
        PML,
        _ldp_pml,
        "epsilon-LDP implies -log(p_min + e^-epsilon (1 - p_min))-PML",
        FINITE,
        tight="attained for every prior with two secrets or more",
        attained_by=ex.ldp_high,
        not_invertible=ex.pml_without_ldp,
    ),
    Theorem(
        "PMC paper, Proposition 3",
        f"{PMC_PAPER}, Proposition 3",
        (LDP,),
        PMC,
        _ldp_pmc,
        "epsilon-LDP implies log(e^epsilon - p_min (e^epsilon - 1))-PMC",
        FINITE,
        tight="attained for every prior with two secrets or more",
        attained_by=ex.ldp_low,
    ),
    Theorem(
        "PMC paper, Proposition 1 to ALIP",
        f"{PMC_PAPER}, Proposition 1",
        (LDP,),
        ALIP,
        _ldp_alip,
        "epsilon-LDP implies (epsilon_1, epsilon_2)-ALIP, the levels of Propositions 3 and 1",
        FINITE,
    ),
    Theorem(
        "PMC paper, Proposition 1 to LIP",
        f"{PMC_PAPER}, Proposition 1",
        (LDP,),
        LIP,
        lambda g, about: LIP.at(_ldp_pmc(g, about).levels[0]),
        "epsilon-LDP implies log(p_min + e^epsilon (1 - p_min))-LIP",
        FINITE,
        tight="attained for every prior with two secrets or more",
        attained_by=ex.ldp_low,
    ),
    Theorem(
        "PMC paper, Theorem 6(i)",
        f"{PMC_PAPER}, Theorem 6(i), Remark 6",
        (PML,),
        PMC,
        _pml_pmc,
        "epsilon-PML implies log p_min / (1 - e^epsilon (1 - p_min))-PMC",
        FINITE,
        HIGH_PRIVACY,
        tight="attained by the PML-extremal mechanism (Remark 6)",
        attained_by=ex.pml_extremal,
        not_invertible=ex.pmc_without_pml,  # beyond finite alphabets
        correction="with delta: the proof fixes one outcome, so delta is carried along",
    ),
    Theorem(
        "PMC paper, Theorem 6(ii)",
        f"{PMC_PAPER}, Theorem 6(ii)",
        (PMC,),
        PML,
        _pmc_pml,
        "epsilon-PMC implies log (1 - e^-epsilon (1 - p_min)) / p_min-PML",
        FINITE,
        tight="attained for every prior with two secrets or more",
        attained_by=ex.pmc_extreme,
        not_invertible=ex.pml_without_pmc,
        correction="finite alphabets only: Theorem 5 of the first preprint claimed some finite PML "
        "on all alphabets, which Examples 8 and 9 refute",
    ),
    *_corollary_3(),
    *_SIDES,
    Theorem(
        "PMC paper, ALIP to LIP",
        f"{PMC_PAPER}, Definitions 4 and 5",
        (ALIP,),
        LIP,
        lambda g, about: lip_of(*g.levels),
        "(epsilon_l, epsilon_u)-ALIP implies max(epsilon_l, epsilon_u)-LIP",
        tight="the definition",
    ),
    Theorem(
        "PMC paper, ALIP to LDP",
        f"{PMC_PAPER}, Section II-D (its reference [19], Proposition 1)",
        (ALIP,),
        LDP,
        lambda g, about: LDP.at(g.levels[0] + g.levels[1]),
        "(epsilon_l, epsilon_u)-ALIP implies (epsilon_l + epsilon_u)-LDP",
        tight="attained, for a prior that depends on the levels",
    ),
    Theorem(
        "PMC paper, LIP to LDP",
        f"{PMC_PAPER}, Section II-D (its reference [18], Proposition 1)",
        (LIP,),
        LDP,
        lambda g, about: LDP.at(g.levels[0] + g.levels[0]),
        "epsilon-LIP implies 2 epsilon-LDP",
        tight="attained, for a prior that depends on epsilon",
        attained_by=ex.two_sided,
    ),
    *_FROM_BOTH,
    Theorem(
        "PMC paper, Theorem 7 to PMC",
        f"{PMC_PAPER}, Theorem 7",
        (LDP,),
        PMC,
        lambda g, about: PMC.at(g.levels[0]),
        "epsilon-LDP implies epsilon-PMC, on every alphabet",
        tight="the limit of Proposition 3 as p_min goes to 0",
    ),
    Theorem(
        "PMC paper, Theorem 7 to PML",
        f"{PMC_PAPER}, Theorem 7",
        (LDP,),
        PML,
        lambda g, about: PML.at(g.levels[0]),
        "epsilon-LDP implies epsilon-PML, on every alphabet",
        tight="the limit of Proposition 1 as p_min goes to 0",
        not_invertible=ex.one_prior_without_all,
    ),
    *(
        Theorem(
            f"PMC paper, Theorem {n} ({way})",
            f"{PMC_PAPER}, Theorem {n}" + (", Theorem 7" if way == "from LDP" else ""),
            (premise,),
            conclusion,
            (lambda g, about, conclusion=conclusion: conclusion.at(g.levels[0])),
            f"epsilon-{premise.symbol} implies epsilon-{conclusion.symbol}",
            facts,
            tight="an equivalence, on finite alphabets",
        )
        for n, kind in ((1, UniversalPML), (5, UniversalPMC))
        for way, premise, conclusion, facts in (
            # LDP depends on the prior through its null sets only, so Theorem 7 holds for each
            ("from LDP", LDP, kind, needs()),
            ("to LDP", kind, LDP, needs("finite")),
        )
    ),
    *(
        Theorem(
            f"this prior is one of them ({conclusion.symbol})",
            f"{PMC_PAPER}, Theorems 1 and 5",
            (premise,),
            conclusion,
            (lambda g, about, conclusion=conclusion: conclusion.at(g.levels[0])),
            f"epsilon-{conclusion.symbol} for all priors is epsilon-{conclusion.symbol} for this",
            tight="the definition",
        )
        for premise, conclusion in ((UniversalPML, PML), (UniversalPMC, PMC))
    ),
]
"""Corollaries 4 and 5 follow: at p_min = 1/2 the maps of Theorem 6 are inverse to each other, and
(epsilon_l, epsilon_u)-ALIP is epsilon_u-PML where epsilon_l is at least that of Corollary 3."""
