r"""The truth behind privatised answers, each passed through a known mechanism.

.. math:: p \sim \mathrm{Dirichlet}(\alpha), \qquad q = p K, \qquad
    n \mid p \sim \mathrm{Multinomial}(N, q),

where :math:`K_{xy} = P(y \mid x)` is the mechanism, :math:`p` the distribution of the secrets and
:math:`q` that of the answers.
"""

import numpy as np

from borel.models import _checks

__all__ = ["privatised_multinomial"]


def privatised_multinomial(counts, kernel, *, alpha=1.0, secrets=None, outcomes=None):
    r"""Model the distribution of secrets, seen through counts of privatised answers.

    .. math:: p \sim \mathrm{Dirichlet}(\alpha), \qquad n \mid p \sim \mathrm{Multinomial}(N, p K),
        \qquad K_{xy} = P(y \mid x)

    Parameters
    ----------
    counts : array_like of int, pandas.Series or xarray.DataArray, shape (m,)
        How often each privatised answer y was seen.
    kernel : array_like or xarray.DataArray, shape (k, m)
        The mechanism, ``kernel[x, y]`` = P(y | x): a row a secret (k >= 2), a column an outcome.
        Rows sum to 1.
    alpha : float or array_like, shape (k,)
        Concentration of the prior of p.
    secrets, outcomes : sequence, optional
        Labels, and their order: a labelled kernel and labelled counts are aligned to them. Default:
        the labels of the kernel, for the outcomes else those of the counts, else 0, 1, ...

    Returns
    -------
    pymc.Model
        With ``p`` (dim ``x``), the deterministic ``q`` (dim ``y``) and the observed ``counts`` (dim
        ``y``).

    Raises
    ------
    TypeError, ValueError
        If the counts are not whole numbers >= 0, the kernel is no row-stochastic matrix, its
        columns do not match the counts, or an outcome has probability 0 under every secret.

    Notes
    -----
    Where the kernel is nearly singular the answers say little about p: directions with ``p K = 0``
    keep the prior. The posterior is proper all the same, but the sampler mixes more slowly; look at
    R-hat and ESS.

    References
    ----------
    .. [1] S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer
       bias", *Journal of the American Statistical Association* 60(309), 1965, pp. 63-69.

    Examples
    --------
    >>> model = privatised_multinomial([70, 30], [[0.8, 0.2], [0.3, 0.7]], secrets=["no", "yes"])
    >>> list(model.coords["x"]), list(model.coords["y"])
    (['no', 'yes'], [0, 1])
    """
    import pymc as pm

    k, own_x, own_y = _checks.stochastic(kernel, "kernel")
    n, own_n = _checks.tally(counts, "counts", kernel)
    if len(k) < 2:
        raise ValueError(
            "kernel must have at least 2 rows, one a secret, got 1: "
            "there is nothing to learn about it"
        )
    if k.shape[1] != len(n):
        raise ValueError(
            f"kernel must have a column for each of the {len(n)} counts, got {k.shape[1]} columns; "
            f"an answer never seen has count 0"
        )
    asked = next((y for y in (outcomes, own_y, own_n) if y is not None), None)
    k, x = _checks.aligned(k, own_x, secrets, "kernel", "secrets", axis=0)
    k, y = _checks.aligned(k, own_y, asked, "kernel", "outcomes", axis=1)
    n, y = _checks.aligned(n, own_n, asked, "counts", "outcomes")
    impossible = ~(k > 0).any(axis=0)
    if impossible.any():
        raise ValueError(
            f"every outcome must be possible under some secret, got probability 0 everywhere for "
            f"{y[int(np.argmax(impossible))]!r}; drop its column and its count"
        )
    alpha = _checks.concentration(alpha, len(k), "alpha")
    with pm.Model(coords=_checks.coords(x=x, y=y)) as model:
        p = pm.Dirichlet("p", alpha, dims="x")
        q = pm.Deterministic("q", p @ k, dims="y")
        pm.Multinomial("counts", n=int(n.sum()), p=q, observed=n, dims="y")
    return model
