r"""How a pair hangs together, apart from its margins: the Clayton copula, learnt from pairs.

.. math:: c_\theta(x, y) = (1 + \theta)(x y)^{-\theta - 1}
    (x^{-\theta} + y^{-\theta} - 1)^{-2 - 1/\theta}, \qquad
    f(y|x) = \eta + (1 - \eta)\, c_\theta(x, y), \qquad x, y \in (0, 1),

the parametrisation of `borel.mechanisms.clayton`, :math:`\theta > 0`; Kendall's tau of the copula
is :math:`\theta / (\theta + 2)`. Given x, the density of y is the mechanism's, so a posterior of
(eta, theta) is one over mechanisms: ``bl.mechanisms.clayton(eta=0.1, theta=draws["theta"])``.
"""

import numpy as np

from borel.models import _checks

__all__ = ["clayton_logdensity", "clayton_pairs", "clayton_prior", "pseudo_observations"]


def clayton_pairs(x, y, *, theta_prior=(2.0, 1.0), eta_prior=None):
    r"""Model pairs on the unit square by a Clayton copula, perhaps mixed with independence.

    .. math:: \theta \sim \mathrm{Gamma}(s, r), \qquad \eta \sim \mathrm{Beta}(a, b) \text{ or } 0,
        \qquad y_i \mid x_i \sim \eta + (1 - \eta)\, c_\theta(x_i, \cdot)

    Parameters
    ----------
    x, y : array_like of float, shape (n,)
        The pairs, each coordinate uniform on (0, 1): through its distribution function where that
        is known, else `pseudo_observations`.
    theta_prior : (float, float)
        Shape s and rate r of the Gamma prior of theta; the default has mean 2 (tau = 1/2).
    eta_prior : (float, float), optional
        The Beta parameters of the weight of independence; without it eta is 0.

    Returns
    -------
    pymc.Model
        With ``theta``, ``eta`` where it is learnt, and the observed ``y`` (dim ``pair``).

    Raises
    ------
    TypeError, ValueError
        If a coordinate is not inside (0, 1), or x and y are not of one length.

    Notes
    -----
    The likelihood is that of y given x; x is uniform whatever theta, so nothing is lost. With
    pseudo-observations it is a pseudo-likelihood: the margins are taken as known.

    References
    ----------
    .. [1] D. G. Clayton, "A model for association in bivariate life tables", *Biometrika* 65(1),
       1978, pp. 141-151.
    .. [2] C. Genest, K. Ghoudi and L.-P. Rivest, "A semiparametric estimation procedure of
       dependence parameters in multivariate families of distributions", *Biometrika* 82(3), 1995,
       pp. 543-552.

    Examples
    --------
    >>> model = clayton_pairs([0.1, 0.5, 0.9], [0.2, 0.4, 0.7])
    >>> [v.name for v in model.free_RVs]
    ['theta']
    """
    import pymc as pm
    import pytensor.tensor as pt

    x, pair = _inside(x, "x")
    y, _ = _inside(y, "y")
    if len(x) != len(y):
        raise ValueError(f"x and y must have one length, got {len(x)} and {len(y)}")
    shape, rate = _checks.positive_pair(theta_prior, "theta_prior", "shape and rate of a Gamma")
    if eta_prior is not None:
        eta_prior = _checks.positive_pair(eta_prior, "eta_prior", "the Beta parameters of eta")

    def logp(value, x, theta, *eta):
        inside = pt.and_(value > 0, value < 1)
        safe = pt.where(inside, value, 0.5)
        return pt.where(inside, _log_density(safe, x, theta, *eta, m=pt), -np.inf)

    with pm.Model(coords={"pair": pair}) as model:
        parameters = [pm.Gamma("theta", shape, rate)]
        if eta_prior is not None:
            parameters.append(pm.Beta("eta", *eta_prior))
        pm.CustomDist("y", x, *parameters, logp=logp, random=_draw, observed=y, dims="pair")
    return model


def clayton_logdensity(y, x, *, theta, eta=0.0):
    r"""Return log f(y|x) of the Clayton copula, mixed with independence where eta > 0.

    Parameters
    ----------
    y, x : array_like of float
        Inside (0, 1).
    theta : float or array_like
        The parameter, > 0.
    eta : float or array_like
        The weight of independence, in [0, 1).

    Returns
    -------
    numpy.ndarray
        The log-density, with respect to Lebesgue measure; symmetric in x and y.

    Notes
    -----
    With u = theta log x and v = theta log y, the sum in the copula is
    e^(-u-v) S, S = e^u + e^v - e^(u+v) = 1 - (1 - e^u)(1 - e^v). The last form keeps all digits
    where u or v is above -1, and the first one, with the larger exponential taken out, elsewhere.

    Examples
    --------
    >>> float(clayton_logdensity(0.5, 0.5, theta=1.0).round(4))  # c = 2 * 16 / 27
    0.1699
    """
    theta, eta = np.asarray(theta, float), np.asarray(eta, float)
    if not (theta > 0).all() or not ((eta >= 0) & (eta < 1)).all():
        raise ValueError(f"theta must be > 0 and eta in [0, 1), got {theta} and {eta}")
    parameters = (theta, eta) if (eta > 0).any() else (theta,)
    with np.errstate(divide="ignore"):  # log(0) where some eta are 0
        return np.asarray(_log_density(np.asarray(y, float), np.asarray(x, float), *parameters))


def clayton_prior(draw):
    """Return the law of a pair of secrets on the unit square for each draw of theta.

    Parameters
    ----------
    draw : mapping
        With ``theta``, and perhaps ``eta``: what `borel.priors.from_posterior` gives to ``build``,
        or numbers by name.

    Returns
    -------
    borel.Measure
        On ``bl.Interval(0, 1) ** 2``, with the leading axis of the draws; both margins are uniform.

    Examples
    --------
    >>> prior = clayton_prior({"theta": 1.0})
    >>> float(prior.pdf((0.5, 0.5)).round(4))
    1.1852
    """
    import borel as bl

    params = {name: _checks.of_draw(draw, name) for name in ("theta", "eta") if name in draw}

    def density(point, theta, eta=None):
        x, y = point
        return _log_density(y, x, theta, *([] if eta is None else [eta]))

    return bl.Measure(
        density, bl.Interval(0, 1) ** 2, log=True, params=params, name="Clayton copula"
    )


def pseudo_observations(values):
    """Return ranks / (n + 1): a sample taken to the scale of its distribution function.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        A sample; ties share their mean rank.

    Returns
    -------
    numpy.ndarray of float, shape (n,)
        Numbers inside (0, 1).

    Examples
    --------
    >>> pseudo_observations([30.0, 10.0, 20.0])
    array([0.75, 0.25, 0.5 ])
    """
    from scipy.stats import rankdata

    x, _ = _checks.reals(values, "values")
    return rankdata(x) / (len(x) + 1)


def _log_density(y, x, theta, eta=None, *, m=np):
    """Return log f(y|x), in the arithmetic of the module m: NumPy or PyTensor."""
    u, v = theta * m.log(x), theta * m.log(y)
    large, small = m.maximum(u, v), m.minimum(u, v)
    # both forms are finite everywhere, so that the gradient of the one not chosen is no NaN
    near = m.log1p(-m.expm1(m.maximum(large, -1.0)) * m.expm1(small))
    far = large + m.log1p(m.exp(small - large) - m.exp(small))
    log_copula = m.log1p(theta) + u + v - (2 + 1 / theta) * m.where(large > -1.0, near, far)
    if eta is None:
        return log_copula
    return m.logaddexp(m.log(eta), m.log1p(-eta) + log_copula)


def _draw(x, theta, eta=0.0, rng=None, size=None):
    """Draw y given x by inverting its distribution function; independent with probability eta."""
    w, independent, coin = (rng.uniform(size=size) for _ in range(3))
    power = np.log(np.expm1(-theta / (1 + theta) * np.log(w)))
    y = np.exp(-np.logaddexp(0.0, power - theta * np.log(x)) / theta)
    y = np.where(coin < eta, independent, y)
    return np.clip(y, np.finfo(float).tiny, np.nextafter(1.0, 0.0))


def _inside(values, name):
    array, labels = _checks.reals(values, name)
    bad = ~((array > 0) & (array < 1))
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(
            f"{name} must lie inside (0, 1), got {array[i]} at position {i}; "
            f"take it through its distribution function, or use pseudo_observations({name})"
        )
    return array, labels
