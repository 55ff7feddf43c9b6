"""What tests of models share: draws of the prior predictive, and a posterior on a grid."""

import logging

import numpy as np

from borel import _compat


def prior_predictive(model, draws=4000, seed=1):
    """Draw the prior and the prior predictive of a model, the same way on PyMC 5 and 6."""
    import pymc as pm

    logger = logging.getLogger("pymc")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        drawn = pm.sample_prior_predictive(
            draws=draws, model=model, random_seed=seed, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    finally:
        logger.setLevel(level)
    tree = _compat.as_datatree(drawn)
    flat = {}
    for group in ("prior", "prior_predictive"):
        for name, values in tree[group].to_dataset().data_vars.items():
            flat[name] = values.values.reshape(-1, *values.shape[2:])
    return flat


def sampled(model, *, draws=1000, tune=1000, seed=1):
    """Sample a model with two chains in this process; no warnings, converged."""
    tree = _compat.sample(
        model, draws=draws, tune=tune, chains=2, cores=1, random_seed=seed, progressbar=False
    )
    assert int(tree["sample_stats"]["diverging"].sum()) == 0
    for name, values in tree["posterior"].to_dataset().data_vars.items():
        spread = values.max(("chain", "draw")) - values.min(("chain", "draw"))
        rhat = _compat.rhat(values).where(spread > 0, 1.0)
        assert bool((rhat < 1.03).all()), name
    return tree


def on_a_grid(log_density, *axes):
    """Return the means and deviations of a posterior known up to a factor, by sums on a grid.

    ``log_density`` takes broadcast arrays, one for each axis.
    """
    points = np.meshgrid(*axes, indexing="ij")
    log = np.asarray(log_density(*points), float)
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    means = [float((weights * p).sum()) for p in points]
    deviations = [
        float(np.sqrt((weights * (p - m) ** 2).sum())) for p, m in zip(points, means, strict=True)
    ]
    return means, deviations


def agrees(draws, mean, deviation, errors=5):
    """Assert that draws have this mean within their Monte Carlo error, and this deviation."""
    ess = float(_compat.ess_mean(draws))
    assert abs(float(draws.mean()) - mean) < errors * deviation / np.sqrt(ess)
    assert abs(float(draws.std()) / deviation - 1) < errors / np.sqrt(ess)
