"""The statements of the first preprint of "Information Density Bounds for Privacy", judged.

Its formulas were lost when its text was extracted. What it shares with the journal version is
judged by the same check; its Theorems 5 and 6 are its own, and false.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import borel as bl
from borel.claims import pmc_paper
from borel.claims.judging import Paper
from borel.claims.spans import below

if TYPE_CHECKING:
    from collections.abc import Iterator

PAPER = Paper("preprint", "Information Density Bounds for Privacy (first preprint)")

IN_THE_JOURNAL = {
    **{f"Remark {n}": f"Remark {n}" for n in range(1, 6)},
    "Remark 6": "Figure 2 regions",
    **{f"Corollary {n}": f"Corollary {n}" for n in range(1, 6)},
    **{f"Proposition {n}": f"Proposition {n}" for n in range(1, 4)},
    **{f"Example {n}": f"Example {n + 1}" for n in range(1, 7)},
    "Lemma 1": "Lemma 1",
    "Lemma 2": "Lemma 2",
    "Theorem 1": "Theorem 2",
    "Theorem 2": "Theorem 3",
    "Theorem 3": "Theorem 4",
    "Theorem 4": "Theorem 6",
    "Figure 1": "Figure 2",
    "Footnote 5": "Footnote 5",
    "Equation 24": "Equation 9",
    "Definition 8": "Definition 8",
    **{f"Section {n}": f"Section {n}" for n in ("II-D", "III-C", "III-D", "VI")},
}
"""What each statement, or a part of one, is called in the journal version."""


LOST = (
    "its formula was lost when the text was extracted: the journal's is wrong, "
    "and whether this one was cannot be read"
)


ONLY_THERE = {"threshold", "gaussian", "regions", "boundary"}
"""Parts that the journal version adds to a statement, or has in another place."""

READABLE = {"strict"}
"""Parts that are wrong in words, which are not lost."""


def _shared() -> None:
    for here, there in IN_THE_JOURNAL.items():
        kind, number = here.split(" ")
        for one in pmc_paper.PAPER.statements:
            whole = f"{one.kind} {one.number}"
            alone = f"{whole} {one.part}" == there
            if alone or (whole == there and one.part not in ONLY_THERE):
                computed = f"By the formula of the journal version, {there}: {one.computed}"
                about = {"paper": PAPER.key, "kind": kind, "number": number, "computed": computed}
                if alone:
                    about["part"] = ""
                if one.reads and one.part not in READABLE:  # formulas, which are lost here
                    about |= {"check": lambda: (), "cases": None, "reads": "", "errata": ()}
                    about |= {"computed": "nothing", "why": LOST}
                PAPER.statements.append(replace(one, **about))


_shared()


@PAPER.says(
    "Theorem 5",
    "If PMC is essentially bounded, so is PML, on general alphabets.",
    scope="proved by the engine",
    errata=(1,),
    reads="on finite alphabets; Examples 8 and 9 of the journal version refute it",
)
def theorem_5() -> Iterator[Any]:
    """Compute the suprema of PMC and PML of the two counterexamples, by their theorems."""
    for joint in _counterexamples():
        assert below(bl.pmc(joint).sup(), math.inf).holds
        yield below(bl.pml(joint).sup(), math.inf)


@PAPER.says(
    "Theorem 6",
    "PMC is essentially bounded if and only if the mechanism is LDP, on general alphabets.",
    scope="proved by the engine",
    errata=(1,),
    reads="on finite alphabets; in general LDP is bounded PMC and bounded PML together",
)
def theorem_6() -> Iterator[Any]:
    """LDP is infinite where PMC is bounded."""
    for joint in _counterexamples():
        assert below(bl.pmc(joint).sup(), math.inf).holds
        yield below(bl.ldp(joint), math.inf)


def _counterexamples() -> Iterator[Any]:
    countable = bl.mechanisms.countable()
    yield countable.reference_prior * countable  # type: ignore[operator]
    mixture = bl.mechanisms.clayton(eta=0.1, theta=1.0)
    yield mixture.reference_prior * mixture
