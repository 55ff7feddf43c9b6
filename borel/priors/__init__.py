"""What is known of the prior: sets of priors, and posteriors over priors."""

from borel.priors.constructors import (
    bernoulli,
    box,
    chi_square_ball,
    contamination,
    family,
    from_counts,
    full_support,
    hull,
    interior,
    intersection,
    kl_ball,
    l1_ball,
    moment,
    polytope,
    product,
    tv_ball,
    union,
)
from borel.priors.hyperpriors import power_scaling, sensitivity
from borel.priors.posteriors import PosteriorPriors, each_group, from_posterior
from borel.priors.random_bound import RandomBound
from borel.priors.sets import PriorSet

__all__ = [
    "PosteriorPriors",
    "PriorSet",
    "RandomBound",
    "bernoulli",
    "box",
    "chi_square_ball",
    "contamination",
    "each_group",
    "family",
    "from_counts",
    "from_posterior",
    "full_support",
    "hull",
    "interior",
    "intersection",
    "kl_ball",
    "l1_ball",
    "moment",
    "polytope",
    "power_scaling",
    "product",
    "sensitivity",
    "tv_ball",
    "union",
]
