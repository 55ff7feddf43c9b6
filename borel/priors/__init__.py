"""Uncertain priors: posteriors over priors today; sets of priors are named and not yet there."""

from __future__ import annotations

from typing import Any

from borel.errors import NotYet
from borel.priors.posterior import PosteriorPriors, from_posterior

_SETS = (
    "bernoulli",
    "box",
    "contamination",
    "family",
    "from_counts",
    "full_support",
    "hull",
    "interior",
    "l1_ball",
    "moment",
    "polytope",
    "tv_ball",
)

__all__ = ["PosteriorPriors", "from_posterior", *_SETS]


def __getattr__(name: str) -> Any:
    if name not in _SETS:
        raise AttributeError(f"module 'borel.priors' has no attribute {name!r}")

    def not_yet(*args: Any, **kwargs: Any) -> Any:
        raise NotYet(
            f"bl.priors.{name}",
            missing="sets of priors",
            instead="bl.priors.from_posterior, a posterior over priors.",
        )

    return not_yet
