r"""A yes-or-no secret given what is known of a person: logistic regression.

.. math:: z_i \mid \beta \sim \mathrm{Bernoulli}(\pi(c_i)), \qquad
    \pi(c) = \frac{1}{1 + e^{-\beta_0 - c \cdot \beta}}, \qquad
    \beta_0 \sim \mathrm{Normal}(m, s), \quad \beta_j \sim \mathrm{Normal}(0, t).

What an adversary knows of a person is part of the prior: the leakage about the secret of somebody
with covariates c is that under the prior :math:`(1 - \pi(c), \pi(c))`.
"""

import numpy as np

from borel.models import _checks

__all__ = ["logistic_prior", "logistic_regression"]


def logistic_regression(
    secret, covariates, *, names=None, intercept_prior=(0.0, 2.5), beta_prior=2.5
):
    r"""Model a yes-or-no secret given covariates.

    Parameters
    ----------
    secret : array_like of 0 and 1 (or bool), shape (n,)
        The secret of each person.
    covariates : array_like, pandas.DataFrame or xarray.DataArray, shape (n, d)
        What is known of each person. The priors are for covariates of deviation about 1:
        standardise them.
    names : sequence, optional
        Names of the covariates. Default: those of the columns, else 0, ..., d - 1.
    intercept_prior : (float, float)
        Mean m and deviation s of the normal prior of the intercept.
    beta_prior : float
        The deviation t of the normal priors of the slopes.

    Returns
    -------
    pymc.Model
        With ``intercept``, ``beta`` (dim ``covariate``) and the observed ``secret`` (dim
        ``person``).

    Raises
    ------
    TypeError, ValueError
        If the secret is not 0 or 1, shapes do not match, or a covariate is missing.

    References
    ----------
    .. [1] A. Gelman, A. Jakulin, M. G. Pittau and Y.-S. Su, "A weakly informative default prior
       distribution for logistic and other regression models", *Annals of Applied Statistics* 2(4),
       2008, pp. 1360-1383.

    Examples
    --------
    >>> model = logistic_regression([0, 1, 1], [[-1.0], [0.5], [0.5]], names=["age"])
    >>> list(model.coords["covariate"])
    ['age']
    """
    import pymc as pm

    z, person = _yes_or_no(secret)
    c, names = _matrix(covariates, len(z), names)
    mean, deviation = _checks.mean_and_deviation(intercept_prior, "intercept_prior")
    scale = _checks.positive(beta_prior, "beta_prior", "it is the deviation of a normal")
    with pm.Model(coords=_checks.coords(covariate=names, person=person)) as model:
        intercept = pm.Normal("intercept", mean, deviation)
        beta = pm.Normal("beta", 0, scale, dims="covariate")
        pm.Bernoulli("secret", logit_p=intercept + c @ beta, observed=z, dims="person")
    return model


def logistic_prior(draw, *, at, labels=("no", "yes")):
    """Return the prior of the secret of a person with given covariates, for each draw.

    Parameters
    ----------
    draw : mapping
        With ``intercept`` and ``beta``, whose last dim is the covariates: what
        `borel.priors.from_posterior` gives to ``build``, or arrays by name.
    at : array_like, shape (d,), or mapping
        The covariates of the person, in the order of the model's, or by name.
    labels : (label, label)
        The labels of no (0) and of yes (1).

    Returns
    -------
    borel.Measure
        On ``bl.Finite(labels)``, with the leading axis of the draws.

    Raises
    ------
    TypeError, ValueError
        If `at` does not give each covariate one finite number.

    Notes
    -----
    A probability too small for a float is lifted to the smallest normal one (2.2e-308) rather than
    0: the model gives every secret some.

    Examples
    --------
    >>> logistic_prior({"intercept": 0.0, "beta": [1.0, -2.0]}, at=[2.0, 1.0])
    Measure([0.5, 0.5] on Finite(['no', 'yes']))
    """
    from scipy.special import expit

    import borel as bl

    intercept, beta = _checks.of_draw(draw, "intercept"), _checks.of_draw(draw, "beta")
    point = _point(at, draw["beta"], beta.shape[-1])
    logit = intercept + beta @ point
    p = np.stack([expit(-logit), expit(logit)], axis=-1)
    return bl.pmf(np.maximum(p, np.finfo(float).tiny), on=bl.Finite(list(labels)))


def _point(at, beta, size):
    """Return the covariates of one person in the order of the slopes."""
    if hasattr(at, "keys"):
        dims = getattr(beta, "dims", ())
        known = beta.coords[dims[-1]].values.tolist() if dims and dims[-1] in beta.coords else None
        if known is None:
            raise ValueError("at must be numbers in the model's order: these draws name none")
        if set(at.keys()) != set(known):
            raise ValueError(f"at must give the covariates {known}, got {sorted(at.keys())}")
        at = [at[name] for name in known]
    point, _ = _checks.reals(at, "at")
    if len(point) != size:
        raise ValueError(f"at must give {size} covariates, got {len(point)}")
    return point


def _yes_or_no(secret):
    from borel.probability.alphabets import is_missing

    array, own = _checks.labelled(secret, "secret")
    if array.ndim != 1 or not len(array):
        raise ValueError(
            f"secret must have one dimension and a value for each person, got shape {array.shape}"
        )
    bad = np.array([not (_is_number(v) and v in (0, 1)) for v in array.tolist()])
    if bad.any():
        got = array[np.argmax(bad)]
        kind, mend = ValueError, "for more labels, split them into yes-or-no questions"
        if got is None or is_missing(got):
            mend = "drop the people whose secret is missing, and their covariates"
        elif not _is_number(got):
            kind, mend = (
                TypeError,
                f"write secret == {str(got)!r}, if that is the answer 1 stands for",
            )
        raise kind(f"secret must be 0 or 1, got {_checks.first(array, bad, own[0])}; {mend}")
    return array.astype(int), list(range(len(array))) if own[0] is None else own[0]


def _is_number(value):
    return isinstance(value, (bool, int, float, np.number, np.bool_))


def _matrix(covariates, size, names):
    own = None
    if hasattr(covariates, "columns"):  # a pandas.DataFrame
        own, array = list(covariates.columns), np.asarray(covariates)
    else:
        array, labels = _checks.labelled(covariates, "covariates")
        own = labels[1] if len(labels) == 2 else None
    if array.ndim != 2 or array.shape[0] != size or not array.shape[1]:
        raise ValueError(
            f"covariates must have a row for each of the {size} people and a column each, "
            f"got shape {array.shape}"
        )
    columns = [_checks.reals(column, "covariates")[0] for column in array.T]
    if names is not None and len(names) != array.shape[1]:
        raise ValueError(f"names must hold {array.shape[1]} names, got {len(names)}")
    names = next((n for n in (names, own) if n is not None), range(array.shape[1]))
    return np.stack(columns, axis=1), list(names)
