r"""A quantity on a bounded scale, such as a rating: a Beta distribution stretched to an interval.

.. math:: X = l + (u - l) B, \qquad B \sim \mathrm{Beta}(\alpha, \beta), \qquad
    \alpha = \mu \kappa, \quad \beta = (1 - \mu) \kappa, \qquad
    \mu \sim \mathrm{Beta}(a, b), \quad \kappa \sim \mathrm{Gamma}(s, r).

`scaled_beta` is for X itself, recorded to many digits. A rating of 1 to 5 is not X: it says only in
which interval X lies. `binned_beta` takes how many fell into each interval; the density of X is
then learnt from what was really seen, and a rating at the end of the scale is no trouble.
"""

import numpy as np

from borel.models import _checks

__all__ = ["binned_beta", "scaled_beta", "scaled_beta_prior"]


def binned_beta(counts, edges, *, mu_prior=(1.0, 1.0), kappa_prior=(2.0, 0.1)):
    r"""Model a Beta on an interval, seen only through counts per bin (interval-censored).

    With :math:`F` the distribution function of :math:`\mathrm{Beta}(\alpha, \beta)` on the unit
    scale and :math:`u_0 = 0 < u_1 < \dots < u_m = 1` the edges on that scale,

    .. math:: n \mid \alpha, \beta \sim \mathrm{Multinomial}(N, p), \qquad
        p_k = F(u_{k+1}) - F(u_k),

    with the priors of this module's head. Ratings 1, ..., 5, taken as rounded, have the edges 0.5,
    1.5, ..., 5.5.

    Parameters
    ----------
    counts : array_like of int, pandas.Series or xarray.DataArray, shape (m,)
        How many fell into each bin, from the lowest to the highest, m >= 2. Labels it carries name
        the bins.
    edges : array_like of float, shape (m + 1,)
        The ends of the bins, strictly increasing; the first and the last are the ends of the scale.
    mu_prior : (float, float)
        The Beta parameters (a, b) of the mean on the unit scale.
    kappa_prior : (float, float)
        Shape s and rate r of the Gamma prior of the concentration.

    Returns
    -------
    pymc.Model
        With ``mu`` (mean on the unit scale), ``kappa``, the deterministics ``alpha``, ``beta`` and
        ``p`` (dim ``bin``), and the observed ``counts`` (dim ``bin``).

    Raises
    ------
    TypeError, ValueError
        If the counts are not whole numbers >= 0, or the edges are not m + 1 increasing finite
        numbers.

    Notes
    -----
    At least three bins are needed to learn both parameters; with two, the prior of kappa decides.
    Differences of F are computed in floats: bins of probability below about 1e-16 count as 0, far
    from any posterior that has data there. The gradient of the incomplete beta function is
    available to NUTS on both PyMC 5 and 6.

    References
    ----------
    .. [1] S. L. P. Ferrari and F. Cribari-Neto, "Beta regression for modelling rates and
       proportions", *Journal of Applied Statistics* 31(7), 2004, pp. 799-815.
    .. [2] D. F. Heitjan, "Inference from grouped continuous data: a review", *Statistical
       Science* 4(2), 1989, pp. 164-179.

    Examples
    --------
    >>> model = binned_beta([2, 5, 9, 20, 14], [0.5, 1.5, 2.5, 3.5, 4.5, 5.5])
    >>> [v.name for v in model.deterministics]
    ['alpha', 'beta', 'p']
    """
    import pymc as pm
    import pytensor.tensor as pt

    n, own = _checks.tally(counts, "counts", edges, at_least=2)
    n, bins = _checks.aligned(n, own, None, "counts", "counts")
    inner = _unit_edges(edges, len(n))[1:-1]
    with pm.Model(coords=_checks.coords(bin=bins)) as model:
        alpha, beta = _mean_and_concentration(mu_prior, kappa_prior)
        cdf = pt.concatenate([[0.0], pt.betainc(alpha, beta, inner), [1.0]])
        p = pm.Deterministic("p", pt.diff(cdf), dims="bin")
        pm.Multinomial("counts", n=int(n.sum()), p=p, observed=n, dims="bin")
    return model


def scaled_beta(values, *, lower, upper, mu_prior=(1.0, 1.0), kappa_prior=(2.0, 0.1)):
    r"""Model a Beta on an interval, seen through exact values inside it.

    .. math:: (x_i - l) / (u - l) \mid \alpha, \beta \sim \mathrm{Beta}(\alpha, \beta), \qquad
        i = 1, \dots, n

    with the priors of this module's head.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        What was recorded, strictly between `lower` and `upper`.
    lower, upper : float
        The ends of the scale.
    mu_prior, kappa_prior : (float, float)
        As in `binned_beta`.

    Returns
    -------
    pymc.Model
        With ``mu``, ``kappa``, the deterministics ``alpha`` and ``beta``, and the observed
        ``unit``, the values on the unit scale.

    Raises
    ------
    ValueError
        If a value is missing, or at an end of the scale or outside it. A value at an end has been
        rounded, and a Beta density there is 0 or infinite, so that one such value would decide the
        whole fit: use `binned_beta`.

    References
    ----------
    .. [1] S. L. P. Ferrari and F. Cribari-Neto, "Beta regression for modelling rates and
       proportions", *Journal of Applied Statistics* 31(7), 2004, pp. 799-815.

    Examples
    --------
    >>> model = scaled_beta([2.31, 4.02, 3.77], lower=1, upper=5)
    >>> [v.name for v in model.free_RVs]
    ['mu', 'kappa']
    """
    import pymc as pm

    if not (np.isfinite(lower) and np.isfinite(upper) and lower < upper):
        raise ValueError(
            f"lower and upper must be finite with lower < upper, got {lower!r} and {upper!r}"
        )
    x = np.asarray(values, dtype=float)
    if x.ndim != 1 or not len(x):
        raise ValueError(
            f"values must have one dimension and at least one value, got shape {x.shape}"
        )
    unit = (x - lower) / (upper - lower)
    bad = ~((unit > 0) & (unit < 1))
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(
            f"values must lie strictly between {lower} and {upper}, got {x[i]} at position {i}; "
            f"drop missing values; values at the ends, or ratings, are rounded: "
            f"count them and use binned_beta(counts, edges)"
        )
    with pm.Model() as model:
        alpha, beta = _mean_and_concentration(mu_prior, kappa_prior)
        pm.Beta("unit", alpha, beta, observed=unit)
    return model


def scaled_beta_prior(draw, *, lower, upper):
    """Return the Beta prior on an interval for each draw of its parameters.

    Parameters
    ----------
    draw : mapping
        With ``alpha`` and ``beta``: what `borel.priors.from_posterior` gives to ``build``, or
        numbers by name.
    lower, upper : float
        The ends of the scale.

    Returns
    -------
    borel.Measure
        On ``bl.Interval(lower, upper)``, with the leading axis of the draws.

    Examples
    --------
    >>> prior = scaled_beta_prior({"alpha": 2.0, "beta": 1.0}, lower=1, upper=5)
    >>> float(prior.pdf(3.0))
    0.25
    """
    from scipy.special import betaln

    import borel as bl

    low, high = _checks.interval(lower, upper)
    params = {"alpha": _checks.of_draw(draw, "alpha"), "beta": _checks.of_draw(draw, "beta")}
    if (low, high) == (0.0, 1.0):
        return bl.beta(**params)

    def density(x, alpha, beta):
        u = (x - low) / (high - low)
        shape = (alpha - 1) * np.log(u) + (beta - 1) * np.log1p(-u)
        return shape - betaln(alpha, beta) - np.log(high - low)

    return bl.Measure(
        density,
        bl.Interval(low, high),
        log=True,
        params=params,
        name="scaled beta",
    )


def _mean_and_concentration(mu_prior, kappa_prior):
    """Put mu, kappa, alpha = mu kappa and beta = (1 - mu) kappa into the model at hand."""
    import pymc as pm

    a, b = _checks.positive_pair(mu_prior, "mu_prior", "the Beta parameters of the mean")
    shape, rate = _checks.positive_pair(kappa_prior, "kappa_prior", "shape and rate of a Gamma")
    mu = pm.Beta("mu", a, b)
    kappa = pm.Gamma("kappa", shape, rate)
    return pm.Deterministic("alpha", mu * kappa), pm.Deterministic("beta", (1 - mu) * kappa)


def _unit_edges(edges, bins):
    """Check the edges of the bins and put them on the unit scale."""
    edges = np.asarray(edges, dtype=float)
    if edges.shape != (bins + 1,):
        raise ValueError(
            f"edges must be {bins + 1} numbers, the ends of {bins} bins, got shape {edges.shape}"
        )
    bad = ~np.isfinite(edges) | np.concatenate([[False], ~(np.diff(edges) > 0)])
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(
            f"edges must be finite and strictly increasing, got {edges[i]} at position {i}"
        )
    return (edges - edges[0]) / (edges[-1] - edges[0])
