"""The shelf of models: functions, one idea a file, that return a `pymc.Model` or exact draws.

The files lie in the repository's folder ``models/``, which a wheel carries as ``borel/_models``.
This module makes either a place to import from, so that
``from borel.models.categorical import dirichlet_multinomial`` works in a checkout and in an
installation alike. Importing it does not import PyMC, and no model runs at import.
"""

# pyright: reportMissingImports=false
# (the files below are found through __path__, which a type checker does not run)

from pathlib import Path

_INSTALLED = Path(__file__).with_name("_models")
__path__ = [str(_INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[1] / "models")]

from borel.models.beta_binomial import (  # noqa: E402
    beta_posterior,
    exchangeable_records_prior,
    grouped_proportions,
)
from borel.models.categorical import (  # noqa: E402
    dirichlet_multinomial,
    dirichlet_posterior,
)
from borel.models.copula import (  # noqa: E402
    clayton_logdensity,
    clayton_pairs,
    clayton_prior,
    pseudo_observations,
)
from borel.models.counts import (  # noqa: E402
    negative_binomial_counts,
    negative_binomial_prior,
    poisson_counts,
    poisson_posterior,
    poisson_prior,
)
from borel.models.logistic import (  # noqa: E402
    logistic_prior,
    logistic_regression,
)
from borel.models.normal_mixture import (  # noqa: E402
    normal_mixture,
    normal_mixture_prior,
)
from borel.models.random_effects import (  # noqa: E402
    correlated_records_prior,
    random_effects,
)
from borel.models.randomised_response import (  # noqa: E402
    privatised_multinomial,
)
from borel.models.rating import (  # noqa: E402
    binned_beta,
    scaled_beta,
    scaled_beta_prior,
)
from borel.models.stick_breaking import (  # noqa: E402
    stick_breaking,
    stick_breaking_posterior,
    stick_breaking_prior,
    top_coded_prior,
    truncation_error,
)
from borel.models.survey_designs import (  # noqa: E402
    k_ary_response,
    proportion_prior,
    unrelated_question,
    warner,
)
from borel.models.truncated_normal import (  # noqa: E402
    truncated_normal,
    truncated_normal_prior,
)

__all__ = [
    "beta_posterior",
    "binned_beta",
    "clayton_logdensity",
    "clayton_pairs",
    "clayton_prior",
    "correlated_records_prior",
    "dirichlet_multinomial",
    "dirichlet_posterior",
    "exchangeable_records_prior",
    "grouped_proportions",
    "k_ary_response",
    "logistic_prior",
    "logistic_regression",
    "negative_binomial_counts",
    "negative_binomial_prior",
    "normal_mixture",
    "normal_mixture_prior",
    "poisson_counts",
    "poisson_posterior",
    "poisson_prior",
    "privatised_multinomial",
    "proportion_prior",
    "pseudo_observations",
    "random_effects",
    "scaled_beta",
    "scaled_beta_prior",
    "stick_breaking",
    "stick_breaking_posterior",
    "stick_breaking_prior",
    "top_coded_prior",
    "truncated_normal",
    "truncated_normal_prior",
    "truncation_error",
    "unrelated_question",
    "warner",
]
