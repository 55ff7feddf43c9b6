r"""How often: a count without an upper end, such as the visits to a doctor in a year.

.. math:: x_i \mid \mu \sim \mathrm{Poisson}(\mu), \qquad \text{or} \qquad
    x_i \mid \mu, \alpha \sim \mathrm{NegativeBinomial}(\mu, \alpha), \qquad
    \mu \sim \mathrm{Gamma}(s, r).

The Gamma is conjugate to the Poisson, so `poisson_posterior` draws that posterior directly. Where
people differ, counts spread more than a Poisson: the negative binomial has variance
:math:`\mu + \mu^2 / \alpha`.
"""

import numpy as np

from borel.models import _checks

__all__ = [
    "negative_binomial_counts",
    "negative_binomial_prior",
    "poisson_counts",
    "poisson_posterior",
    "poisson_prior",
]


def poisson_counts(values, *, mu_prior=(1.0, 0.1)):
    r"""Model a Poisson count, seen in n people.

    .. math:: \mu \sim \mathrm{Gamma}(s, r), \qquad x_i \mid \mu \sim \mathrm{Poisson}(\mu)

    Parameters
    ----------
    values : array_like of int, pandas.Series or xarray.DataArray, shape (n,)
        The count of each person.
    mu_prior : (float, float)
        Shape s and rate r of the Gamma prior of the mean; the default has mean 10.

    Returns
    -------
    pymc.Model
        With ``mu`` and the observed ``values`` (dim ``person``).

    Raises
    ------
    TypeError, ValueError
        If the values are not whole numbers >= 0.

    See Also
    --------
    poisson_posterior : Draw the posterior of this model exactly, with no sampler.

    References
    ----------
    .. [1] A. Gelman et al., *Bayesian Data Analysis*, 3rd ed., 2013, section 2.6.

    Examples
    --------
    >>> [v.name for v in poisson_counts([0, 2, 1]).free_RVs]
    ['mu']
    """
    import pymc as pm

    x, person = _data(values)
    shape, rate = _checks.positive_pair(mu_prior, "mu_prior", "shape and rate of a Gamma")
    with pm.Model(coords=_checks.coords(person=person)) as model:
        mu = pm.Gamma("mu", shape, rate)
        pm.Poisson("values", mu, observed=x, dims="person")
    return model


def poisson_posterior(values, *, mu_prior=(1.0, 0.1), draws=4000, chains=4, random_seed=None):
    r"""Draw the posterior of the mean of a Poisson count exactly.

    .. math:: \mu \mid x \sim \mathrm{Gamma}\Big(s + \sum_i x_i,\; r + n\Big)

    The draws are independent and come from the posterior itself; the posterior group says so with
    the attribute ``borel_draws = "exact"``.

    Parameters
    ----------
    values, mu_prior
        As in `poisson_counts`.
    draws, chains : int
        The shape of the result; ``draws * chains`` independent draws.
    random_seed : int, sequence of int or numpy.random.Generator, optional
        Seed.

    Returns
    -------
    xarray.DataTree
        Group ``posterior`` with ``mu`` (dims chain, draw), group ``observed_data``.

    Raises
    ------
    TypeError, ValueError
        As `poisson_counts`; or if `draws` or `chains` is not a positive integer.

    Notes
    -----
    A draw too small for a float is lifted to the smallest normal one (2.2e-308).

    References
    ----------
    .. [1] A. Gelman et al., *Bayesian Data Analysis*, 3rd ed., 2013, section 2.6.

    Examples
    --------
    >>> tree = poisson_posterior([0, 2, 1], draws=100, random_seed=1)
    >>> tree["posterior"]["mu"].dims, tree["posterior"].attrs["borel_draws"]
    (('chain', 'draw'), 'exact')
    """
    x, person = _data(values)
    shape, rate = _checks.positive_pair(mu_prior, "mu_prior", "shape and rate of a Gamma")
    size = _checks.draw_shape(draws, chains)
    mu = np.random.default_rng(random_seed).gamma(shape + x.sum(), 1 / (rate + len(x)), size)
    return _checks.exact_draws(
        {"mu": ((), np.maximum(mu, np.finfo(float).tiny))},
        {"values": (("person",), x)},
        {"person": person},
    )


def negative_binomial_counts(values, *, mu_prior=(1.0, 0.1), alpha_prior=(2.0, 0.5)):
    r"""Model a count that spreads more than a Poisson, seen in n people.

    .. math:: \mu \sim \mathrm{Gamma}(s, r), \qquad \alpha \sim \mathrm{Gamma}(s', r'), \qquad
        x_i \mid \mu, \alpha \sim \mathrm{NegativeBinomial}(\mu, \alpha)

    Parameters
    ----------
    values : array_like of int, pandas.Series or xarray.DataArray, shape (n,)
        The count of each person.
    mu_prior : (float, float)
        Shape and rate of the Gamma prior of the mean; the default has mean 10.
    alpha_prior : (float, float)
        Shape and rate of the Gamma prior of the shape alpha; the default has mean 4. Large alpha is
        a Poisson.

    Returns
    -------
    pymc.Model
        With ``mu``, ``alpha`` and the observed ``values`` (dim ``person``).

    Raises
    ------
    TypeError, ValueError
        If the values are not whole numbers >= 0.

    References
    ----------
    .. [1] A. C. Cameron and P. K. Trivedi, *Regression Analysis of Count Data*, 2nd ed., 2013,
       section 3.3.

    Examples
    --------
    >>> [v.name for v in negative_binomial_counts([0, 9, 1]).free_RVs]
    ['mu', 'alpha']
    """
    import pymc as pm

    x, person = _data(values)
    shape, rate = _checks.positive_pair(mu_prior, "mu_prior", "shape and rate of a Gamma")
    of_alpha = _checks.positive_pair(alpha_prior, "alpha_prior", "shape and rate of a Gamma")
    with pm.Model(coords=_checks.coords(person=person)) as model:
        mu = pm.Gamma("mu", shape, rate)
        alpha = pm.Gamma("alpha", *of_alpha)
        pm.NegativeBinomial("values", mu=mu, alpha=alpha, observed=x, dims="person")
    return model


def poisson_prior(draw):
    """Return the Poisson prior of a count for each draw of its mean.

    Parameters
    ----------
    draw : mapping
        With ``mu``: what `borel.priors.from_posterior` gives to ``build``, or numbers by name.

    Returns
    -------
    borel.Measure
        On the non-negative integers, with the leading axis of the draws.

    Examples
    --------
    >>> poisson_prior({"mu": 2.5})
    Measure(poisson(mu=2.5) on Integers(0, None))
    """
    import borel as bl

    return bl.poisson(mu=_checks.of_draw(draw, "mu"))


def negative_binomial_prior(draw):
    """Return the negative binomial prior of a count for each draw of its parameters.

    Parameters
    ----------
    draw : mapping
        With ``mu`` and ``alpha``, as in `poisson_prior`.

    Returns
    -------
    borel.Measure
        On the non-negative integers, with the leading axis of the draws.

    Examples
    --------
    >>> negative_binomial_prior({"mu": 2.5, "alpha": 0.5})
    Measure(negative_binomial(mu=2.5, alpha=0.5) on Integers(0, None))
    """
    import borel as bl

    return bl.negative_binomial(
        mu=_checks.of_draw(draw, "mu"), alpha=_checks.of_draw(draw, "alpha")
    )


def _data(values):
    x, own = _checks.counts(values, "values", tallied=False)
    return _checks.aligned(x, own, None, "values", "values")
