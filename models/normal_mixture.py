r"""A measurement of several kinds of people: a mixture of normals.

.. math:: f(x) = \sum_{j=1}^{k} w_j\, \mathrm{Normal}(x; \mu_j, \sigma_j), \qquad
    w \sim \mathrm{Dirichlet}(\alpha), \quad \mu_j \sim \mathrm{Normal}(m, s), \quad
    \sigma_j \sim \mathrm{Gamma}(2, 2 / t), \qquad \mu_1 < \dots < \mu_k .

The components are summed over, so no record is assigned to one. Ordered means name the components:
without that the chains would swap them, and no draw could be checked for convergence.
"""

import math

import numpy as np

from borel.models import _checks

__all__ = ["normal_mixture", "normal_mixture_prior"]


def normal_mixture(values, *, k, mu_prior, sigma_prior, alpha=1.0):
    r"""Model a mixture of k normals, seen through exact values.

    Parameters
    ----------
    values : array_like of float, pandas.Series or xarray.DataArray, shape (n,)
        What was recorded.
    k : int
        The number of components, at least 2.
    mu_prior : (float, float)
        Mean m and deviation s of the normal prior of the component means, in the units of the data.
    sigma_prior : float
        The mean t of the Gamma prior of the component deviations. The Gamma (shape 2) vanishes at
        0, where the likelihood of a mixture is unbounded.
    alpha : float
        Concentration of the symmetric Dirichlet prior of the weights.

    Returns
    -------
    pymc.Model
        With ``w``, ``mu``, ``sigma`` (dim ``component``) and the observed ``values`` (dim
        ``record``).

    Raises
    ------
    TypeError, ValueError
        If a value is missing, k < 2, or a prior is not what it should be.

    Notes
    -----
    Components that the data do not need follow their priors; the density of X stays identified. The
    prior of mu is the ordered one: k! times the product of normals on the ordered region. Forward
    draws (``pm.sample_prior_predictive``) leave mu unordered, which changes the names of the
    components and nothing else: all priors are symmetric.

    References
    ----------
    .. [1] M. Stephens, "Dealing with label switching in mixture models", *Journal of the Royal
       Statistical Society B* 62(4), 2000, pp. 795-809.
    .. [2] Y. Chung et al., "A nondegenerate penalized likelihood estimator for variance parameters
       in multilevel models", *Psychometrika* 78(4), 2013, pp. 685-709 (why a Gamma of shape 2).

    Examples
    --------
    >>> model = normal_mixture([1.1, 3.9, 4.2], k=2, mu_prior=(2.5, 2), sigma_prior=1)
    >>> [v.name for v in model.free_RVs]
    ['w', 'mu', 'sigma']
    """
    import pymc as pm

    x, record = _checks.reals(values, "values")
    k = _checks.at_least(k, 2, "k")
    mean, deviation = _checks.mean_and_deviation(mu_prior, "mu_prior")
    scale = _checks.positive(sigma_prior, "sigma_prior", "it is the mean of a Gamma")
    alpha = _checks.positive(alpha, "alpha", "1 is the uniform prior")
    start = mean + deviation * np.linspace(-1, 1, k)
    with pm.Model(coords=_checks.coords(component=np.arange(k), record=record)) as model:
        w = pm.Dirichlet("w", np.full(k, alpha), dims="component")
        mu = pm.Normal(
            "mu",
            mean,
            deviation,
            dims="component",
            transform=pm.distributions.transforms.ordered,
            initval=start,
        )
        sigma = pm.Gamma("sigma", 2, 2 / scale, dims="component")
        pm.NormalMixture("values", w=w, mu=mu, sigma=sigma, observed=x, dims="record")
    return model


def normal_mixture_prior(draw):
    """Return the mixture of normals for each draw of its parameters.

    Parameters
    ----------
    draw : mapping
        With ``w``, ``mu`` and ``sigma``, whose last dim is the components: what
        `borel.priors.from_posterior` gives to ``build``, or arrays by name.

    Returns
    -------
    borel.Measure
        On the reals, with the leading axis of the draws.

    Examples
    --------
    >>> prior = normal_mixture_prior({"w": [0.5, 0.5], "mu": [-1.0, 1.0], "sigma": [1.0, 1.0]})
    >>> float(prior.pdf(0.0).round(4))
    0.242
    """
    import borel as bl

    arrays = {name: _checks.of_draw(draw, name) for name in ("w", "mu", "sigma")}
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) > 1 or not shapes["w"]:
        raise ValueError(f"w, mu and sigma must have one entry a component, got shapes {shapes}")
    k = shapes["w"][-1]
    arrays["w"] = np.maximum(arrays["w"], np.finfo(float).tiny)  # a weight that underflowed

    def density(x, **params):
        terms = []
        for j in range(k):
            w, mu, sigma = (params[f"{name}{j}"] for name in ("w", "mu", "sigma"))
            terms.append(np.log(w) - np.log(sigma) - ((x - mu) / sigma) ** 2 / 2)
        out = terms[0]
        for term in terms[1:]:
            out = np.logaddexp(out, term)
        return out - math.log(2 * math.pi) / 2

    params = {f"{name}{j}": array[..., j] for name, array in arrays.items() for j in range(k)}
    return bl.Measure(density, bl.Reals(), log=True, params=params, name=f"mixture of {k} normals")
