r"""A distribution on a finite alphabet, learnt from counts.

.. math:: p \sim \mathrm{Dirichlet}(\alpha), \qquad n \mid p \sim \mathrm{Multinomial}(N, p).

The Dirichlet is conjugate, so the posterior is known, :math:`p \mid n \sim
\mathrm{Dirichlet}(\alpha + n)`: `dirichlet_posterior` draws from it directly.
`dirichlet_multinomial` is the same model for those who will extend it.
"""

import numpy as np

from borel.models import _checks

__all__ = ["dirichlet_multinomial", "dirichlet_posterior"]


def dirichlet_multinomial(counts, *, alpha=1.0, categories=None):
    r"""Model a distribution on a finite alphabet, seen through counts.

    .. math:: p \sim \mathrm{Dirichlet}(\alpha), \qquad n \mid p \sim \mathrm{Multinomial}(N, p)

    Parameters
    ----------
    counts : array_like of int, pandas.Series or xarray.DataArray, shape (k,)
        How often each category was seen, k >= 2.
    alpha : float or array_like, shape (k,)
        Concentration; 1 is the uniform distribution on the simplex, 1/2 is Jeffreys' prior.
    categories : sequence, optional
        The labels of the alphabet, and their order: labelled `counts` are aligned to it. Default:
        the labels of `counts`, else 0, ..., k - 1.

    Returns
    -------
    pymc.Model
        With the variable ``p`` (dim ``x``) and the observed ``counts`` (dim ``x``).

    Raises
    ------
    TypeError, ValueError
        If the counts are not whole numbers >= 0, or the labels or `alpha` do not match them.

    See Also
    --------
    dirichlet_posterior : Draw the posterior of this model exactly, with no sampler.

    References
    ----------
    .. [1] A. Gelman et al., *Bayesian Data Analysis*, 3rd ed., 2013, section 3.4.

    Examples
    --------
    >>> model = dirichlet_multinomial([3, 5, 2], categories=["a", "b", "c"])
    >>> list(model.coords["x"])
    ['a', 'b', 'c']
    """
    import pymc as pm

    n, alpha, x = _data(counts, alpha, categories)
    with pm.Model(coords=_checks.coords(x=x)) as model:
        p = pm.Dirichlet("p", alpha, dims="x")
        pm.Multinomial("counts", n=int(n.sum()), p=p, observed=n, dims="x")
    return model


def dirichlet_posterior(
    counts, *, alpha=1.0, draws=4000, chains=4, random_seed=None, categories=None
):
    r"""Draw the posterior of a distribution on a finite alphabet exactly, given counts.

    .. math:: p \mid n \sim \mathrm{Dirichlet}(\alpha + n)

    The draws are independent and come from the posterior itself: there is no chain to converge. The
    posterior group says so with the attribute ``borel_draws = "exact"``; `chains` only shapes the
    array, as other tools expect it.

    Parameters
    ----------
    counts, alpha, categories
        As in `dirichlet_multinomial`.
    draws, chains : int
        The shape of the result; ``draws * chains`` independent draws.
    random_seed : int, sequence of int or numpy.random.Generator, optional
        Seed.

    Returns
    -------
    xarray.DataTree
        Group ``posterior`` with ``p`` (dims chain, draw, x), group ``observed_data`` with
        ``counts`` (dim x).

    Raises
    ------
    TypeError, ValueError
        As `dirichlet_multinomial`; or if `draws` or `chains` is not a positive integer.

    Notes
    -----
    Every category has a positive probability in almost every draw. A draw too small for a float is
    lifted to the smallest normal one (2.2e-308) rather than 0, so that a prior never loses a secret
    to underflow.

    References
    ----------
    .. [1] A. Gelman et al., *Bayesian Data Analysis*, 3rd ed., 2013, section 3.4.

    Examples
    --------
    >>> tree = dirichlet_posterior([3, 5, 2], draws=100, random_seed=1, categories=["a", "b", "c"])
    >>> tree["posterior"]["p"].dims, tree["posterior"].attrs["borel_draws"]
    (('chain', 'draw', 'x'), 'exact')
    """
    n, alpha, x = _data(counts, alpha, categories)
    shape = _checks.draw_shape(draws, chains)
    p = np.random.default_rng(random_seed).dirichlet(alpha + n, size=shape)
    p = np.maximum(p, np.finfo(float).tiny)
    return _checks.exact_draws({"p": (("x",), p)}, {"counts": (("x",), n)}, {"x": x})


def _data(counts, alpha, categories):
    n, own = _checks.tally(counts, "counts", categories, at_least=2)
    n, x = _checks.aligned(n, own, categories, "counts", "categories")
    return n, _checks.concentration(alpha, len(n), "alpha"), x
