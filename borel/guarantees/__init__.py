"""Guarantees as objects, what they imply, how they compose and how they are processed.

``joint.satisfies(g)`` decides a guarantee, `implied` derives others from it, `compose` adds
those of two releases, and `post_processed` says what is left after post-processing.
"""

from borel.guarantees.calculus import Implication, Implied, implied, theorems
from borel.guarantees.kinds import (
    ALIP,
    EML,
    LDI,
    LDP,
    LIP,
    PMC,
    PML,
    AveragePML,
    FInformation,
    Guarantee,
    MaxInformation,
    MutualInformation,
    TotalVariation,
    UniversalPMC,
    UniversalPML,
)
from borel.guarantees.theorem import Theorem

__all__ = [
    "ALIP",
    "EML",
    "LDI",
    "LDP",
    "LIP",
    "PMC",
    "PML",
    "AveragePML",
    "FInformation",
    "Guarantee",
    "Implication",
    "Implied",
    "MaxInformation",
    "MutualInformation",
    "Theorem",
    "TotalVariation",
    "UniversalPMC",
    "UniversalPML",
    "implied",
    "theorems",
]
