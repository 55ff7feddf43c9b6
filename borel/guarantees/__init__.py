"""Guarantees as objects, what they imply, how they compose and how they are processed.

``joint.satisfies(g)`` decides a guarantee, `implied` derives others from it, `compose` adds
those of two releases, and `post_processed` says what is left after post-processing.
"""

from borel.errors import no_attribute
from borel.guarantees.base import Guarantee
from borel.guarantees.calculus import implied, theorems
from borel.guarantees.composition import SlicedEML, compose, prior_is_not_posterior
from borel.guarantees.disclosure_prevention import DisclosurePrevention
from borel.guarantees.dp import ApproximateDP, ProbabilisticDP
from borel.guarantees.implied_guarantees import Implication, Implied, plot_implications
from borel.guarantees.informations import (
    FInformation,
    MaxInformation,
    MutualInformation,
    TotalVariation,
    f_information_bound,
)
from borel.guarantees.kinds import (
    ALIP,
    EML,
    LDI,
    LDP,
    LIP,
    PMC,
    PML,
    AveragePML,
    TailLeakage,
)
from borel.guarantees.maximisers import common_maximiser
from borel.guarantees.processing import (
    Closedness,
    closedness,
    post_processed,
    pre_processed,
    reduced,
    similar_outcomes,
)
from borel.guarantees.theorem import Theorem
from borel.guarantees.universal import UniversalPMC, UniversalPML

__all__ = [
    "ALIP",
    "EML",
    "LDI",
    "LDP",
    "LIP",
    "PMC",
    "PML",
    "ApproximateDP",
    "AveragePML",
    "Closedness",
    "DisclosurePrevention",
    "FInformation",
    "Guarantee",
    "Implication",
    "Implied",
    "MaxInformation",
    "MutualInformation",
    "ProbabilisticDP",
    "SlicedEML",
    "TailLeakage",
    "Theorem",
    "TotalVariation",
    "UniversalPMC",
    "UniversalPML",
    "closedness",
    "common_maximiser",
    "compose",
    "f_information_bound",
    "implied",
    "plot_implications",
    "post_processed",
    "pre_processed",
    "prior_is_not_posterior",
    "reduced",
    "similar_outcomes",
    "theorems",
]


def __getattr__(name: str):
    raise no_attribute(__name__, name, __all__)
