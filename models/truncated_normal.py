r"""A measurement on an interval: a normal distribution cut to it.

.. math:: x_i \mid \mu, \sigma \sim \mathrm{Normal}(\mu, \sigma) \text{ given } [l, u], \qquad
    \mu \sim \mathrm{Normal}(m, s), \quad \sigma \sim \mathrm{HalfNormal}(t).

The mean of the normal before the cut, :math:`\mu`, may lie outside the interval.
"""

import math

import numpy as np

from borel.models import _checks

__all__ = ["truncated_normal", "truncated_normal_prior"]


def truncated_normal(values, *, lower, upper, mu_prior=None, sigma_prior=None):
    r"""Model a normal on an interval, seen through exact values.

    .. math:: f(x) = \frac{1}{\sigma}\,
        \frac{\varphi((x - \mu) / \sigma)}{\Phi((u - \mu) / \sigma) - \Phi((l - \mu) / \sigma)},
        \qquad l \le x \le u

    Parameters
    ----------
    values : array_like of float, pandas.Series or xarray.DataArray, shape (n,)
        What was recorded, inside [lower, upper].
    lower, upper : float
        The ends of the interval, known before the data.
    mu_prior : (float, float), optional
        Mean m and deviation s of the normal prior of mu. Default: the middle of the interval and
        its length.
    sigma_prior : float, optional
        The scale t of the half-normal prior of sigma. Default: the length of the interval.

    Returns
    -------
    pymc.Model
        With ``mu``, ``sigma`` and the observed ``values`` (dim ``record``).

    Raises
    ------
    TypeError, ValueError
        If a value is missing or outside the interval, or a prior is not what it should be.

    Notes
    -----
    Data that are flat or steep on the interval say little about mu and sigma apart: they then
    follow their priors along a ridge, which the sampler walks slowly. Look at R-hat and ESS.

    References
    ----------
    .. [1] A. C. Cohen, *Truncated and Censored Samples*, 1991, chapter 2.

    Examples
    --------
    >>> model = truncated_normal([0.62, 0.71, 0.55], lower=0, upper=1)
    >>> [v.name for v in model.free_RVs]
    ['mu', 'sigma']
    """
    import pymc as pm

    low, high = _checks.interval(lower, upper)
    x, record = _checks.reals(values, "values")
    outside = ~((low <= x) & (x <= high))
    if outside.any():
        i = int(np.argmax(outside))
        raise ValueError(
            f"values must lie in [{lower}, {upper}], got {x[i]} at position {i}; "
            f"the interval is what a value can be, not what was seen"
        )
    if mu_prior is None:
        mu_prior = ((low + high) / 2, high - low)
    mean, deviation = _checks.mean_and_deviation(mu_prior, "mu_prior")
    scale = high - low if sigma_prior is None else sigma_prior
    scale = _checks.positive(scale, "sigma_prior", "it is the scale of a half-normal")
    with pm.Model(coords=_checks.coords(record=record)) as model:
        mu = pm.Normal("mu", mean, deviation)
        sigma = pm.HalfNormal("sigma", scale)
        pm.TruncatedNormal(
            "values", mu=mu, sigma=sigma, lower=low, upper=high, observed=x, dims="record"
        )
    return model


def truncated_normal_prior(draw, *, lower, upper):
    """Return the truncated normal prior for each draw of its parameters.

    Parameters
    ----------
    draw : mapping
        With ``mu`` and ``sigma``: what `borel.priors.from_posterior` gives to ``build``, or numbers
        by name.
    lower, upper : float
        The ends of the interval.

    Returns
    -------
    borel.Measure
        On ``bl.Interval(lower, upper)``, with the leading axis of the draws.

    Examples
    --------
    >>> prior = truncated_normal_prior({"mu": 0.0, "sigma": 1.0}, lower=-1, upper=1)
    >>> float(prior.pdf(0.0).round(4))  # 0.3989 / 0.6827
    0.5844
    """
    import borel as bl

    low, high = _checks.interval(lower, upper)

    def density(x, mu, sigma):
        return -(((x - mu) / sigma) ** 2) / 2 - np.log(sigma) - _log_mass(low, high, mu, sigma)

    return bl.Measure(
        density,
        bl.Interval(low, high),
        log=True,
        params={"mu": _checks.of_draw(draw, "mu"), "sigma": _checks.of_draw(draw, "sigma")},
        name="truncated normal",
    )


def _log_mass(low, high, mu, sigma):
    """Return log(sqrt(2 pi) (Phi(b) - Phi(a))): both ends are put to the side where Phi is small.

    There log Phi is accurate however far the interval lies in a tail of the normal.
    """
    from scipy.special import log_ndtr

    a, b = (low - mu) / sigma, (high - mu) / sigma
    right = a + b > 0
    least, most = log_ndtr(np.where(right, -b, a)), log_ndtr(np.where(right, -a, b))
    return math.log(2 * math.pi) / 2 + most + np.log(-np.expm1(least - most))
