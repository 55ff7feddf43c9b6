r"""A proportion, or one a group: how often yes, among how many.

.. math:: \theta_g \sim \mathrm{Beta}(\mu \kappa, (1 - \mu) \kappa), \qquad
    k_g \mid \theta_g \sim \mathrm{Binomial}(n_g, \theta_g).

With :math:`\mu` and :math:`\kappa` learnt, the groups share what they say of each other (partial
pooling): `grouped_proportions`. With a fixed Beta prior the posterior is known, and
`beta_posterior` draws it directly.
"""

import numpy as np

from borel.models import _checks

__all__ = ["beta_posterior", "exchangeable_records_prior", "grouped_proportions"]


def grouped_proportions(
    successes, trials, *, groups=None, mu_prior=(1.0, 1.0), kappa_prior=(2.0, 0.1)
):
    r"""Model a proportion by groups, partially pooled.

    .. math:: \mu \sim \mathrm{Beta}(a, b), \qquad \kappa \sim \mathrm{Gamma}(s, r), \qquad
        \theta_g \mid \mu, \kappa \sim \mathrm{Beta}(\mu \kappa, (1 - \mu) \kappa), \qquad
        k_g \mid \theta_g \sim \mathrm{Binomial}(n_g, \theta_g)

    Parameters
    ----------
    successes : array_like of int, pandas.Series or xarray.DataArray, shape (g,)
        How many said yes in each group, g >= 2.
    trials : int, or array_like like `successes`
        How many were asked in each group.
    groups : sequence, optional
        Labels, and their order: labelled data are aligned to them. Default: the labels of
        `successes`, else those of `trials`, else 0, ..., g - 1.
    mu_prior : (float, float)
        The Beta parameters (a, b) of the mean of the groups.
    kappa_prior : (float, float)
        Shape s and rate r of the Gamma prior of the concentration: the number of answers the other
        groups are worth. The default has mean 20.

    Returns
    -------
    pymc.Model
        With ``mu``, ``kappa``, ``theta`` (dim ``group``) and the observed ``successes`` (dim
        ``group``).

    Raises
    ------
    TypeError, ValueError
        If the data are not whole numbers >= 0, successes exceed trials, or labels do not match.

    References
    ----------
    .. [1] A. Gelman et al., *Bayesian Data Analysis*, 3rd ed., 2013, section 5.3.

    Examples
    --------
    >>> model = grouped_proportions([3, 8], [10, 12], groups=["north", "south"])
    >>> [v.name for v in model.free_RVs]
    ['mu', 'kappa', 'theta']
    """
    import pymc as pm

    k, n, group = _checks.proportions(successes, trials, groups)
    if k.ndim == 0 or len(k) < 2:
        raise ValueError(
            f"successes must hold at least 2 groups to pool, got {k.size}; "
            f"for one, use beta_posterior"
        )
    a, b = _checks.positive_pair(mu_prior, "mu_prior", "the Beta parameters of the mean")
    shape, rate = _checks.positive_pair(kappa_prior, "kappa_prior", "shape and rate of a Gamma")
    with pm.Model(coords=_checks.coords(group=group)) as model:
        mu = pm.Beta("mu", a, b)
        kappa = pm.Gamma("kappa", shape, rate)
        theta = pm.Beta("theta", mu * kappa, (1 - mu) * kappa, dims="group")
        pm.Binomial("successes", n=n, p=theta, observed=k, dims="group")
    return model


def beta_posterior(
    successes, trials, *, alpha=1.0, beta=1.0, draws=4000, chains=4, random_seed=None, groups=None
):
    r"""Draw the posterior of one proportion, or of several independent ones, exactly.

    .. math:: \theta \mid k \sim \mathrm{Beta}(\alpha + k, \beta + n - k)

    The draws are independent and come from the posterior itself; the posterior group says so with
    the attribute ``borel_draws = "exact"``.

    Parameters
    ----------
    successes, trials : int, or array_like of int, pandas.Series or xarray.DataArray, shape (g,)
        How many said yes, among how many. One number for one proportion; arrays for several, with
        no pooling.
    alpha, beta : float or array_like, shape (g,)
        The Beta prior; (1, 1) is uniform, (1/2, 1/2) is Jeffreys' prior.
    draws, chains : int
        The shape of the result; ``draws * chains`` independent draws.
    random_seed : int, sequence of int or numpy.random.Generator, optional
        Seed.
    groups : sequence, optional
        As in `grouped_proportions`.

    Returns
    -------
    xarray.DataTree
        Group ``posterior`` with ``theta`` (dims chain, draw, and group if there are several), group
        ``observed_data``.

    Raises
    ------
    TypeError, ValueError
        As `grouped_proportions`; or if `draws` or `chains` is not a positive integer.

    Notes
    -----
    A draw that rounds to 0 or 1 is moved to the nearest float inside (0, 1), where it lies with
    probability 1.

    References
    ----------
    .. [1] A. Gelman et al., *Bayesian Data Analysis*, 3rd ed., 2013, section 2.4.

    Examples
    --------
    >>> tree = beta_posterior(7, 10, draws=100, random_seed=1)
    >>> tree["posterior"]["theta"].dims, tree["posterior"].attrs["borel_draws"]
    (('chain', 'draw'), 'exact')
    """
    k, n, group = _checks.proportions(successes, trials, groups)
    a = _checks.concentration(alpha, k.size, "alpha").reshape(k.shape)
    b = _checks.concentration(beta, k.size, "beta").reshape(k.shape)
    chains, draws = _checks.draw_shape(draws, chains)
    theta = np.random.default_rng(random_seed).beta(
        a + k, b + n - k, size=(chains, draws, *k.shape)
    )
    theta = np.clip(theta, np.finfo(float).tiny, np.nextafter(1.0, 0.0))
    dims = ("group",) * k.ndim
    return _checks.exact_draws(
        {"theta": (dims, theta)},
        {"successes": (dims, k), "trials": (dims, n)},
        {"group": group} if dims else {},
    )


def exchangeable_records_prior(draw, *, size):
    r"""Return the law of the records of a new group, all together, for each draw.

    With a = mu kappa and b = (1 - mu) kappa, the probability of m records of which k say yes, in
    one given order, is

    .. math:: P(x_1, \dots, x_m) = \frac{B(a + k, b + m - k)}{B(a, b)} =
        \frac{a (a + 1) \cdots (a + k - 1) \cdot b (b + 1) \cdots (b + m - k - 1)}
        {(a + b)(a + b + 1) \cdots (a + b + m - 1)} .

    Parameters
    ----------
    draw : mapping
        With ``mu`` and ``kappa``: what `borel.priors.from_posterior` gives to ``build``, or numbers
        by name.
    size : int
        The number m of records, 1 to 16.

    Returns
    -------
    borel.Measure
        On ``bl.Finite(2) ** size``, whose labels are tuples of 0 and 1, with the leading axis of
        the draws. The records are exchangeable, with correlation 1 / (kappa + 1).

    References
    ----------
    .. [1] A. Gelman et al., *Bayesian Data Analysis*, 3rd ed., 2013, section 5.2.

    Examples
    --------
    >>> prior = exchangeable_records_prior({"mu": 0.5, "kappa": 2.0}, size=2)
    >>> prior.pdf([(0, 0), (0, 1), (1, 0), (1, 1)]).round(4)
    array([0.3333, 0.1667, 0.1667, 0.3333])
    """
    size = _checks.at_least(size, 1, "size")
    mu, kappa = _checks.of_draw(draw, "mu"), _checks.of_draw(draw, "kappa")
    a, b = (mu * kappa)[..., None], ((1 - mu) * kappa)[..., None]
    steps = np.arange(size)
    one = np.ones((*np.shape(mu), 1))
    yes = np.concatenate([one, np.cumprod(a + steps, axis=-1)], axis=-1)
    no = np.concatenate([one, np.cumprod(b + steps, axis=-1)], axis=-1)
    both = np.prod(a + b + steps, axis=-1)[..., None]
    return _checks.of_counts(yes * no[..., ::-1] / both, size)
