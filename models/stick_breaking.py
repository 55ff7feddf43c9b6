r"""A distribution on 0, 1, 2, ... of no given shape, learnt from counts: sticks broken one by one.

.. math:: p_x = v_x \prod_{w < x} (1 - v_w), \qquad v_x \sim \mathrm{Beta}(a_x, b_x)
    \text{ independent,}

either with :math:`a_x = 1, b_x = \alpha` (the GEM law), or with :math:`a_x = \alpha H(x)`,
:math:`b_x = \alpha H(\{x + 1, \dots\})`, which is the Dirichlet process of concentration
:math:`\alpha` around a base measure H on the integers. Given how often each value was seen, the
sticks stay independent, :math:`v_x \mid n \sim \mathrm{Beta}(a_x + n_x, b_x + \sum_{w > x} n_w)`:
`stick_breaking_posterior` draws them directly.

The first K sticks are kept. **Truncation error.** The mass beyond them, ``rest``, is the law of "K
or more" exactly; only how it is spread over K, K + 1, ... is left out. The distance in total
variation between P and P cut to 0, ..., K - 1 is ``rest`` itself, a variable of every draw; its
posterior mean is a closed form, `truncation_error`. For leakage, let P' be P given X < K, S(y) the
supremum of f(y|x) over all secrets, and l'(y) = log(S(y) / f_{P'}(y)); as
:math:`f_P = (1 - R) f_{P'} + R f_{\mathrm{tail}}` with R = ``rest`` and
:math:`0 \le f_{\mathrm{tail}} \le S`,

.. math:: (1 - R) e^{-\ell'(y)} \le e^{-\ell_P(y)} \le (1 - R) e^{-\ell'(y)} + R .

A mechanism that clips its secret at K or below depends on min(x, K) alone: for it
`top_coded_prior` is exact, and nothing is truncated at all.
"""

from functools import partial

import numpy as np

from borel.models import _checks

__all__ = [
    "stick_breaking",
    "stick_breaking_posterior",
    "stick_breaking_prior",
    "top_coded_prior",
    "truncation_error",
]


def stick_breaking(counts, *, beyond=0, alpha_prior=(2.0, 1.0)):
    r"""Model a distribution on 0, 1, 2, ... by stick-breaking with a learnt concentration.

    .. math:: \alpha \sim \mathrm{Gamma}(s, r), \qquad v_x \mid \alpha \sim
        \mathrm{Beta}(1, \alpha), \qquad
        n \mid p \sim \mathrm{Multinomial}(N, (p_0, \dots, p_{K-1}, \mathrm{rest}))

    Parameters
    ----------
    counts : array_like of int, shape (K,)
        How often 0, 1, ..., K - 1 were seen.
    beyond : int
        How often K or more was seen.
    alpha_prior : (float, float)
        Shape s and rate r of the Gamma prior of the concentration; the default has mean 2. A large
        alpha spreads the mass over many values.

    Returns
    -------
    pymc.Model
        With ``alpha``, ``v`` (dim ``x``), the deterministics ``p`` (dim ``x``) and ``rest``, and
        the observed ``counts`` (the last entry is `beyond`).

    Raises
    ------
    TypeError, ValueError
        If the counts are not whole numbers >= 0.

    See Also
    --------
    stick_breaking_posterior : The posterior for a given alpha, exactly, with no sampler.

    References
    ----------
    .. [1] H. Ishwaran and L. F. James, "Gibbs sampling methods for stick-breaking priors", *Journal
       of the American Statistical Association* 96(453), 2001, pp. 161-173.

    Examples
    --------
    >>> model = stick_breaking([31, 18, 9, 4], beyond=2)
    >>> [v.name for v in model.free_RVs]
    ['alpha', 'v']
    """
    import pymc as pm
    import pytensor.tensor as pt

    n, more = _data(counts, beyond)
    shape, rate = _checks.positive_pair(alpha_prior, "alpha_prior", "shape and rate of a Gamma")
    with pm.Model(coords={"x": np.arange(len(n))}) as model:
        alpha = pm.Gamma("alpha", shape, rate)
        v = pm.Beta("v", 1, alpha, dims="x")
        left = pt.concatenate([[1.0], pt.cumprod(1 - v)])
        p = pm.Deterministic("p", v * left[:-1], dims="x")
        rest = pm.Deterministic("rest", left[-1])
        seen = np.append(n, more)
        pm.Multinomial(
            "counts", n=int(seen.sum()), p=pt.concatenate([p, rest[None]]), observed=seen
        )
    return model


def stick_breaking_posterior(
    counts, *, alpha=1.0, base=None, beyond=0, draws=4000, chains=4, random_seed=None
):
    r"""Draw the posterior of a distribution on 0, 1, 2, ... exactly, given counts.

    .. math:: v_x \mid n \sim \mathrm{Beta}\Big(a_x + n_x,\; b_x + \sum_{w > x} n_w\Big)
        \text{ independent,}

    with the a and b of this module's head. The draws are independent and come from the posterior
    itself; the posterior group says so with the attribute ``borel_draws = "exact"``.

    Parameters
    ----------
    counts : array_like of int, shape (K,)
        How often 0, 1, ..., K - 1 were seen.
    alpha : float
        The concentration, > 0.
    base : borel.Measure, optional
        The base measure H, on the non-negative integers: a Dirichlet process. Default: the GEM law.
    beyond : int
        How often K or more was seen.
    draws, chains : int
        The shape of the result; ``draws * chains`` independent draws.
    random_seed : int, sequence of int or numpy.random.Generator, optional
        Seed.

    Returns
    -------
    xarray.DataTree
        Group ``posterior`` with ``p`` (dims chain, draw, x), ``rest`` (chain, draw) and ``alpha``,
        group ``observed_data``. ``p`` and ``rest`` sum to 1.

    Raises
    ------
    TypeError, ValueError
        If the counts are not whole numbers >= 0, or `base` has no mass that floats can see at K and
        beyond.

    Notes
    -----
    A mass too small for a float is lifted to the smallest normal one (2.2e-308) rather than 0, so
    that a prior never loses a secret to underflow.

    References
    ----------
    .. [1] T. S. Ferguson, "A Bayesian analysis of some nonparametric problems", *Annals of
       Statistics* 1(2), 1973, pp. 209-230.
    .. [2] H. Ishwaran and L. F. James, "Gibbs sampling methods for stick-breaking priors", *Journal
       of the American Statistical Association* 96(453), 2001, pp. 161-173.

    Examples
    --------
    >>> tree = stick_breaking_posterior([31, 18, 9, 4], beyond=2, draws=100, random_seed=1)
    >>> tree["posterior"]["p"].dims, tree["posterior"].attrs["borel_draws"]
    (('chain', 'draw', 'x'), 'exact')
    """
    n, more = _data(counts, beyond)
    a, b = _sticks(n, more, alpha, base)
    size = _checks.draw_shape(draws, chains)
    v = np.random.default_rng(random_seed).beta(a, b, size=(*size, len(n)))
    left = np.cumprod(1 - v, axis=-1)
    whole = np.concatenate([v[..., :1], v[..., 1:] * left[..., :-1], left[..., -1:]], axis=-1)
    whole = np.maximum(whole / whole.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    return _checks.exact_draws(
        {
            "p": (("x",), whole[..., :-1]),
            "rest": ((), whole[..., -1]),
            "alpha": ((), np.full(size, float(alpha))),
        },
        {"counts": (("x",), n), "beyond": ((), np.asarray(more))},
        {"x": np.arange(len(n))},
    )


def truncation_error(counts, *, alpha=1.0, base=None, beyond=0):
    r"""Return the posterior mean of the mass beyond the K sticks that are kept.

    .. math:: \mathrm{E}[\mathrm{rest} \mid n] = \prod_{x < K}
        \frac{b_x + \sum_{w > x} n_w}{a_x + b_x + \sum_{w \ge x} n_w}

    Parameters
    ----------
    counts, alpha, base, beyond
        As in `stick_breaking_posterior`. With counts of 0 it is the prior mean,
        :math:`(\alpha / (1 + \alpha))^K` for the GEM law.

    Returns
    -------
    float
        The mean, to the rounding of floats; by Markov, P(rest > t) is at most this over t.

    Notes
    -----
    Proof: rest is the product of 1 - v_x, the sticks are independent, and a Beta(a, b) stick has
    E[1 - v] = b / (a + b). Tested in ``tests/models/test_stick_breaking.py``.

    Examples
    --------
    >>> truncation_error([0] * 10)  # the prior: a half to the tenth power
    0.0009765625
    """
    a, b = _sticks(*_data(counts, beyond), alpha, base)
    return float(np.prod(b / (a + b)))


def top_coded_prior(draw):
    """Return the prior of min(X, K) for each draw: 0, ..., K - 1, and K for "K or more".

    Parameters
    ----------
    draw : mapping
        With ``p`` and ``rest``: what `borel.priors.from_posterior` gives to ``build``, or arrays by
        name.

    Returns
    -------
    borel.Measure
        On ``bl.Finite(K + 1)``, with the leading axis of the draws. Nothing is truncated: for a
        mechanism that depends on min(x, K) alone its leakage is that about X.

    Examples
    --------
    >>> top_coded_prior({"p": [0.5, 0.25], "rest": 0.25})
    Measure([0.5, 0.25, 0.25] on Finite(3))
    """
    import borel as bl

    p, rest = _checks.of_draw(draw, "p"), _checks.of_draw(draw, "rest")
    return bl.pmf(np.concatenate([p, rest[..., None]], axis=-1), on=bl.Finite(p.shape[-1] + 1))


def stick_breaking_prior(draw, *, base=None):
    r"""Return a prior on 0, 1, 2, ... for each draw, its end continued by the mean of the sticks.

    .. math:: p(x) = p_x \text{ for } x < K, \qquad
        p(x) = \mathrm{rest} \cdot \frac{1}{1 + \alpha}
        \Big(\frac{\alpha}{1 + \alpha}\Big)^{x - K} \text{ for } x \ge K,

    or ``rest`` times H given {K, K + 1, ...} with a base measure H.

    Parameters
    ----------
    draw : mapping
        With ``p``, ``rest`` and ``alpha``.
    base : borel.Measure, optional
        The base measure of the posterior, if it had one.

    Returns
    -------
    borel.Measure
        On the non-negative integers, with the leading axis of the draws. It differs from the draw
        of P only at K and beyond, in total variation by at most ``rest``.

    Examples
    --------
    >>> prior = stick_breaking_prior({"p": [0.5, 0.25], "rest": 0.25, "alpha": 1.0})
    >>> prior.pdf([0, 1, 2, 3])
    array([0.5   , 0.25  , 0.125 , 0.0625])
    """
    import borel as bl

    p, rest = _checks.of_draw(draw, "p"), _checks.of_draw(draw, "rest")
    count = p.shape[-1]
    params = {f"p{x}": p[..., x] for x in range(count)} | {"rest": rest}
    tail = None
    if base is None:
        params["alpha"] = alpha = _checks.of_draw(draw, "alpha")
        if rest.ndim == alpha.ndim == 0:
            bound = partial(_geometric_end, float(rest), float(alpha), count)
            tail = bl.Tail(bound, "geometric series beyond the sticks")
    beyond = None if base is None else _beyond(base, count)[1]

    def density(x, rest, alpha=1.0, **sticks):
        if base is None:
            end = (alpha / (1 + alpha)) ** (x - count) / (1 + alpha)
        else:
            end = base._pdf(x) / beyond
        out = rest * end
        for label in range(count):
            out = np.where(x == label, sticks[f"p{label}"], out)
        return out

    return bl.Measure(
        density, bl.Integers(0, None), params=params, tail=tail, name="stick-breaking"
    )


def _geometric_end(rest, alpha, count, n):
    """Bound P(X > n) = rest (alpha / (1 + alpha))^(n + 1 - K) from above."""
    from borel.numerics.balls.arithmetic import ball, enclose

    if n < count - 1:
        return 1.0
    formula = ball(rest), ball(alpha), n + 1 - count
    return min(enclose(lambda: formula[0] * (formula[1] / (1 + formula[1])) ** formula[2])[1], 1.0)


def _data(counts, beyond):
    n, own = _checks.tally(counts, "counts")
    if own is not None and list(own) != list(range(len(n))):
        raise ValueError(
            f"counts must say how often 0, 1, 2, ... were seen, in this order, got the labels "
            f"{list(own)}; add the values never seen with a count of 0"
        )
    more, _ = _checks.counts(beyond, "beyond", scalar=True)
    if more.ndim:
        raise ValueError(f"beyond must be one count, got shape {more.shape}")
    return n, int(more)


def _sticks(n, beyond, alpha, base):
    """Return the Beta parameters of the K sticks, given the data."""
    alpha = _checks.positive(alpha, "alpha", "it is the concentration of the prior")
    above = np.append(np.cumsum(n[:0:-1])[::-1], 0) + beyond
    if base is None:
        return 1.0 + n, alpha + above
    masses, rest = _beyond(base, len(n))
    tails = np.append(np.cumsum(masses[:0:-1])[::-1], 0.0) + rest
    if not (masses > 0).all():
        raise ValueError(
            f"base must have mass at each of 0, ..., {len(n) - 1}, got 0 at {int(masses.argmin())}"
        )
    return alpha * masses + n, alpha * tails + above


def _beyond(base, count):
    """Return the masses of a base measure at 0, ..., count - 1, and all that lies beyond."""
    import borel as bl

    if not isinstance(base, bl.Measure) or base.batch or base.on != bl.Integers(0, None):
        raise TypeError(
            f"base must be one Measure on Integers(0, None), such as bl.poisson(mu=3), got {base!r}"
        )
    masses = np.asarray(base.pdf(np.arange(count)), float)
    rest = 1.0 - float(masses.sum())
    if not rest > 1e-9:
        raise ValueError(
            f"base must have mass beyond {count - 1} that floats can see, got {rest!r}; "
            f"give fewer counts and put the others into beyond"
        )
    return masses, rest
