"""The average of several models of the prior, with weights such as those of stacking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from borel.errors import InvalidInput
from borel.priors.posteriors import PosteriorPriors
from borel.probability.measure import Measure
from borel.probability.mixtures import mixture
from borel.probability.wrong_calls import explained

_NOISE = 1e-6
"""How far below 0 an optimiser may leave a weight that is 0."""


@explained
def stack(models: Mapping[Any, Any] | Sequence[Any], *, weights: Any) -> Measure:
    r"""Return the average prior of several models: **no guarantee for the worst of them**.

    It is the law of a secret drawn under a model that is drawn by its weight, and under a draw of
    that model's posterior: one prior,

    .. math:: \sum_k w_k\, E[\,P_{X|\theta_k} \mid \text{data}\,],

    the posterior predictive of stacking. A figure under it holds for that one prior. The leakage
    under a single model may be larger, whatever its weight; the worst case over models is
    ``bl.priors.union([first.region("ellipsoid"), second.region("ellipsoid")])``.

    Parameters
    ----------
    models : mapping from names to models, or sequence of models
        Each a posterior over priors, of which `PosteriorPriors.mean_prior` is taken, or a Measure;
        all on one alphabet.
    weights : DataFrame, Series, mapping or sequence
        What ``arviz_stats.compare(trees, method="stacking")`` returned, of which the column
        ``weight`` is read by the names of the models; or weights by name, or in the order of the
        models. They are divided by their sum, as ArviZ rounds them.

    Returns
    -------
    Measure
        Their mixture. Models of weight 0 are left out.

    Raises
    ------
    InvalidInput
        Weights that are negative, all 0, or of other names than the models.

    References
    ----------
    Yao, Vehtari, Simpson, Gelman, "Using stacking to average Bayesian predictive distributions",
    *Bayesian Analysis* 13(3), 2018.

    Examples
    --------
    >>> import borel as bl
    >>> models = {"even": bl.pmf([0.5, 0.5]), "skewed": bl.pmf([0.9, 0.1])}
    >>> bl.priors.stack(models, weights={"skewed": 0.25, "even": 0.75})
    Measure([0.6, 0.4] on Finite(2))
    """
    given = _by_model(models, weights)
    values = list(models.values()) if isinstance(models, Mapping) else list(models)
    for model in values:
        if not isinstance(model, Measure | PosteriorPriors):
            raise InvalidInput(
                "bl.priors.stack",
                expected="posteriors over priors, or Measures",
                got=type(model).__name__,
                mend="the worst case over sets of priors is bl.priors.union([...]).",
            )
    total = float(given.sum())
    if not (np.isfinite(total) and total > 0 and (given >= -_NOISE).all()):
        raise InvalidInput(
            "bl.priors.stack",
            expected="weights that are not negative, and not all 0",
            got=f"{given.tolist()}",
        )
    shares = np.clip(given, 0.0, None)
    kept = [(_prior_of(m), w) for m, w in zip(values, shares, strict=True) if w > 0]
    return mixture([m for m, _ in kept], weights=[w / shares.sum() for _, w in kept])


def _prior_of(model: Measure | PosteriorPriors) -> Measure:
    return model if isinstance(model, Measure) else model.mean_prior()


def _by_model(models: Any, weights: Any) -> np.ndarray:
    """Return the weights in the order of the models."""
    if hasattr(weights, "columns"):  # a DataFrame of ArviZ's compare, the best model first
        weights = weights["weight"]
    if not hasattr(weights, "items"):
        found = np.asarray(weights, float)
        if found.shape != (len(models),):
            raise InvalidInput(
                "bl.priors.stack", expected=f"{len(models)} weights", got=f"shape {found.shape}"
            )
        return found
    named = dict(weights.items())
    if not isinstance(models, Mapping) or {*models} != {*named}:
        raise InvalidInput(
            "bl.priors.stack",
            expected=f"models by the names of their weights, {list(named)}",
            got=f"{list(models)}" if isinstance(models, Mapping) else "models without names",
        )
    return np.array([float(named[name]) for name in models])
