r"""A proportion, or one a group: how often yes, among how many.

.. math:: \theta_g \sim \mathrm{Beta}(\mu \kappa, (1 - \mu) \kappa), \qquad
    k_g \mid \theta_g \sim \mathrm{Binomial}(n_g, \theta_g).

With :math:`\mu` and :math:`\kappa` learnt, the groups share what they say of each other (partial
pooling): `grouped_proportions`. With a fixed Beta prior the posterior is known, and
`beta_posterior` draws it directly.
"""

import numpy as np

from borel.models import _checks

__all__ = ["beta_posterior", "grouped_proportions"]


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

    k, n, group = _data(successes, trials, groups)
    if k.ndim == 0 or len(k) < 2:
        raise ValueError(
            f"successes must hold at least 2 groups to pool, got {k.size}; "
            f"for one, use beta_posterior"
        )
    a, b = _checks.positive_pair(mu_prior, "mu_prior", "the Beta parameters of the mean")
    shape, rate = _checks.positive_pair(kappa_prior, "kappa_prior", "shape and rate of a Gamma")
    with pm.Model(coords={"group": group}) as model:
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
    k, n, group = _data(successes, trials, groups)
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


def _data(successes, trials, groups):
    k, own_k = _checks.counts(successes, "successes", scalar=True)
    n, own_n = _checks.counts(trials, "trials", scalar=True)
    if k.ndim == 0:
        if n.ndim or groups is not None:
            raise ValueError(
                "successes must have one count a group, got a single number; "
                "pass one for each group"
            )
        group = None
    else:
        if n.ndim and len(n) != len(k):
            raise ValueError(
                f"trials must have one count for each of the {len(k)} successes, got {len(n)}"
            )
        n = np.broadcast_to(n, k.shape)
        asked = next((labels for labels in (groups, own_k, own_n) if labels is not None), None)
        k, group = _checks.aligned(k, own_k, asked, "successes", "groups")
        n, group = _checks.aligned(n, own_n, asked, "trials", "groups")
    if (k > n).any():
        i = int(np.argmax(k > n))
        where = "" if group is None else f" in group {group[i]!r}"
        raise ValueError(
            f"successes must not exceed trials, got {k.flat[i]} of {n.flat[i]}{where}; "
            f"the order is (successes, trials), not (yes, no)"
        )
    return k, n, group
