r"""The share of a sensitive answer, seen through a survey design that protects every respondent.

:math:`\theta` is the probability that a respondent's true answer is yes; each design says how a
true answer becomes a given one. All three are randomised responses with a known kernel
:math:`P(y \mid x)`, so `privatised_multinomial` would do; these functions know the kernels, and
speak of one proportion.
"""

import numpy as np

from borel.models import _checks
from borel.models.randomised_response import privatised_multinomial

__all__ = ["k_ary_response", "proportion_prior", "unrelated_question", "warner"]


def warner(yes, trials, *, p, theta_prior=(1.0, 1.0)):
    r"""Model a proportion seen through Warner's design: the question, or its negation.

    A respondent is asked "are you A?" with probability p, else "are you not A?", and nobody but the
    respondent knows which:

    .. math:: \theta \sim \mathrm{Beta}(a, b), \qquad \lambda = p \theta + (1 - p)(1 - \theta),
        \qquad k \mid \theta \sim \mathrm{Binomial}(n, \lambda).

    Parameters
    ----------
    yes, trials : int
        How many said yes, among how many.
    p : float
        The probability of the direct question, in [0, 1]; not 1/2, where answers say nothing.
    theta_prior : (float, float)
        The Beta parameters (a, b) of theta.

    Returns
    -------
    pymc.Model
        With ``theta``, the deterministic ``lam`` and the observed ``yes``.

    Raises
    ------
    TypeError, ValueError
        If the counts are not whole numbers >= 0, or p is 1/2 or no probability.

    Notes
    -----
    As a mechanism the design is binary randomised response with the rows (p, 1 - p) and
    (1 - p, p): its LDP level is abs(log(p / (1 - p))).

    References
    ----------
    .. [1] S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer
       bias", *Journal of the American Statistical Association* 60(309), 1965, pp. 63-69.

    Examples
    --------
    >>> model = warner(38, 100, p=0.7)
    >>> [v.name for v in model.free_RVs]
    ['theta']
    """
    import pymc as pm

    k, n = _one_sample(yes, trials)
    p = _checks.probability(p, "p")
    if p == 0.5:
        raise ValueError("p must not be 1/2: answers would say nothing about the secret, got 0.5")
    a, b = _checks.positive_pair(theta_prior, "theta_prior", "the Beta parameters of theta")
    with pm.Model() as model:
        theta = pm.Beta("theta", a, b)
        lam = pm.Deterministic("lam", p * theta + (1 - p) * (1 - theta))
        pm.Binomial("yes", n=n, p=lam, observed=k)
    return model


def k_ary_response(counts, *, epsilon, alpha=1.0, categories=None):
    r"""Model the distribution of a secret of k labels, seen through k-ary randomised response.

    The given answer is the true one with a likelihood e^epsilon times that of any one lie:

    .. math:: p \sim \mathrm{Dirichlet}(\alpha), \qquad
        q_j = \frac{1 + (e^\varepsilon - 1) p_j}{k - 1 + e^\varepsilon}, \qquad
        n \mid p \sim \mathrm{Multinomial}(N, q).

    Parameters
    ----------
    counts : array_like of int, pandas.Series or xarray.DataArray, shape (k,)
        How often each answer was given, k >= 2.
    epsilon : float
        The LDP level of the design in nats, > 0.
    alpha : float or array_like, shape (k,)
        Concentration of the Dirichlet prior.
    categories : sequence, optional
        Labels, and their order: labelled `counts` are aligned to them.

    Returns
    -------
    pymc.Model
        With ``p`` (dim ``x``), the deterministic ``q`` (dim ``y``), the observed ``counts`` (dim
        ``y``).

    Raises
    ------
    TypeError, ValueError
        As `privatised_multinomial`; or if epsilon is not positive.

    See Also
    --------
    borel.mechanisms.randomized_response : The mechanism, with its closed forms.

    References
    ----------
    .. [1] P. Kairouz, S. Oh and P. Viswanath, "Extremal mechanisms for local differential privacy",
       *Journal of Machine Learning Research* 17, 2016, pp. 1-51.

    Examples
    --------
    >>> model = k_ary_response([40, 25, 35], epsilon=1.0, categories=["none", "some", "many"])
    >>> list(model.coords["x"])
    ['none', 'some', 'many']
    """
    from borel.mechanisms import randomized_response

    n, own = _checks.tally(counts, "counts", categories, at_least=2)
    n, labels = _checks.aligned(n, own, categories, "counts", "categories")
    epsilon = _checks.positive(epsilon, "epsilon", "at 0 answers would say nothing")
    kernel = randomized_response(k=len(n), epsilon=epsilon).matrix
    return privatised_multinomial(n, kernel, alpha=alpha, secrets=labels, outcomes=labels)


def unrelated_question(yes, trials, *, p, innocuous=None, theta_prior=(1.0, 1.0)):
    r"""Model a proportion seen through the unrelated-question design.

    A respondent answers the sensitive question with probability p, else an innocuous one, to which
    a share :math:`\varphi` says yes:

    .. math:: \theta \sim \mathrm{Beta}(a, b), \qquad
        \lambda_s = p_s \theta + (1 - p_s) \varphi, \qquad
        k_s \mid \theta, \varphi \sim \mathrm{Binomial}(n_s, \lambda_s).

    With :math:`\varphi` known one sample is enough. With :math:`\varphi` unknown,
    :math:`\varphi \sim \mathrm{Uniform}(0, 1)`, and two samples s with different :math:`p_s` tell
    it from :math:`\theta`.

    Parameters
    ----------
    yes, trials : int, or array_like of int, shape (s,)
        How many said yes in each sample, among how many.
    p : float or array_like, shape (s,)
        The probability of the sensitive question in each sample, in (0, 1].
    innocuous : float, optional
        The share :math:`\varphi` in [0, 1], where it is known (a birthday, say).
    theta_prior : (float, float)
        The Beta parameters (a, b) of theta.

    Returns
    -------
    pymc.Model
        With ``theta``, ``phi`` where it is unknown, the deterministic ``lam`` and the observed
        ``yes`` (dim ``survey``).

    Raises
    ------
    TypeError, ValueError
        If the counts are not whole numbers >= 0, a p is no probability or is 0, or `innocuous` is
        not given and all p are the same.

    Notes
    -----
    As a mechanism a sample has P(yes | no) = (1 - p) phi and P(yes | yes) = p + (1 - p) phi. With
    phi = 1 it is the forced-yes design, where a no is the truth: PML of a no is -log P(no).

    References
    ----------
    .. [1] B. G. Greenberg et al., "The unrelated question randomized response model: theoretical
       framework", *Journal of the American Statistical Association* 64(326), 1969, pp. 520-539.

    Examples
    --------
    >>> model = unrelated_question([60, 45], 150, p=[0.7, 0.3])
    >>> [v.name for v in model.free_RVs]
    ['theta', 'phi']
    """
    import pymc as pm

    k, _ = _checks.counts(np.atleast_1d(_checks.labelled(yes, "yes")[0]), "yes")
    n, _ = _checks.counts(np.atleast_1d(_checks.labelled(trials, "trials")[0]), "trials")
    p = np.array([_checks.probability(value, "p") for value in np.atleast_1d(p)])
    if len(n) not in (1, len(k)) or len(p) not in (1, len(k)):
        raise ValueError(
            f"trials and p must have one entry for each of the {len(k)} samples, "
            f"got {len(n)} and {len(p)}"
        )
    n, p = np.broadcast_to(n, k.shape), np.broadcast_to(p, k.shape)
    _not_above(k, n)
    if not (p > 0).all():
        raise ValueError("p must be positive: at 0 nobody gets the sensitive question, got 0.0")
    a, b = _checks.positive_pair(theta_prior, "theta_prior", "the Beta parameters of theta")
    if innocuous is not None:
        innocuous = _checks.probability(innocuous, "innocuous")
    elif np.ptp(p) == 0:
        raise ValueError(
            f"two samples with different p are needed to learn the innocuous share, got p = "
            f"{p.tolist()}; give innocuous=<the share>, or a second sample"
        )
    with pm.Model(coords={"survey": np.arange(len(k))}) as model:
        theta = pm.Beta("theta", a, b)
        phi = pm.Uniform("phi", 0, 1) if innocuous is None else innocuous
        lam = pm.Deterministic("lam", p * theta + (1 - p) * phi, dims="survey")
        pm.Binomial("yes", n=n, p=lam, observed=k, dims="survey")
    return model


def proportion_prior(draw, *, labels=("no", "yes"), name="theta"):
    """Return the prior of one yes-or-no secret for each draw of a proportion.

    Parameters
    ----------
    draw : mapping
        What `borel.priors.from_posterior` gives to ``build``, or numbers by name.
    labels : (label, label)
        The labels of no and of yes.
    name : str
        The variable that is the probability of yes: draws alone, no further dims.

    Returns
    -------
    borel.Measure
        On ``bl.Finite(labels)``, with the leading axis of the draws.

    Examples
    --------
    >>> proportion_prior({"theta": 0.25})
    Measure([0.75, 0.25] on Finite(['no', 'yes']))
    """
    import borel as bl

    theta = _checks.of_draw(draw, name)
    return bl.pmf(np.stack([1 - theta, theta], axis=-1), on=bl.Finite(list(labels)))


def _one_sample(yes, trials):
    k, _ = _checks.counts(yes, "yes", scalar=True)
    n, _ = _checks.counts(trials, "trials", scalar=True)
    if k.ndim or n.ndim:
        raise ValueError(f"yes and trials must be one number each, got shapes {k.shape}, {n.shape}")
    _not_above(k, n)
    return int(k), int(n)


def _not_above(k, n):
    if (k > n).any():
        i = int(np.argmax(np.atleast_1d(k > n)))
        raise ValueError(
            f"yes must not exceed trials, got {np.ravel(k)[i]} of {np.ravel(n)[i]}; "
            f"the order is (yes, trials)"
        )
