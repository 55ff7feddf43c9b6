"""Draws of a mechanism's outcomes under a posterior over priors, to compare with those released."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotYet
from borel.figures.leakage_curves import names_of
from borel.priors.datatrees import attrs_of_a_tree
from borel.priors.posteriors import PosteriorPriors
from borel.probability.arrays import as_floats
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    import xarray as xr

    from borel.probability.alphabets import Alphabet
    from borel.probability.joint import Joint
    from borel.probability.measure import Measure

_TOGETHER = 1_000_000
"""Probabilities that are summed at a time."""

_SAMPLERS: dict[str, Callable[..., np.ndarray]] = {
    "beta": lambda rng, size, alpha, beta: rng.beta(alpha, beta, size),
    "cauchy": lambda rng, size, alpha, beta: alpha + beta * rng.standard_cauchy(size),
    "exponential": lambda rng, size, lam: rng.exponential(1 / lam, size),
    "gamma": lambda rng, size, alpha, beta: rng.gamma(alpha, 1 / beta, size),
    "geometric": lambda rng, size, p: rng.geometric(p, size),
    "laplace": lambda rng, size, mu, b: rng.laplace(mu, b, size),
    "negative_binomial": lambda rng, size, mu, alpha: rng.negative_binomial(
        alpha, alpha / (alpha + mu), size
    ),
    "normal": lambda rng, size, mu, sigma: rng.normal(mu, sigma, size),
    "poisson": lambda rng, size, mu: rng.poisson(mu, size),
}
"""NumPy's samplers in PyMC's parameters, by the name of a family of `borel`."""


@explained
def predictive(
    joint: Joint,
    *,
    observed: Any = None,
    size: int | None = None,
    secrets: Any = None,
    name: str = "y",
    random_seed: Any = None,
) -> xr.DataTree:
    """Draw outcomes of a mechanism from their posterior predictive, for a check of the model.

    Under each draw of the prior secrets are drawn from it, independently, and an outcome for each
    by ``Mechanism.sample``. Where released outcomes look unlike these draws
    (``arviz_plots.plot_ppc_dist``, ``plot_ppc_tstat``), the model of the prior, or the mechanism,
    is not what made them. That they look alike proves nothing, and no figure rests on it.

    Parameters
    ----------
    joint : Joint
        ``learnt * mech``.
    observed : array of outcomes, optional
        What was released, an outcome for each person.
    size : int, optional
        How many outcomes a draw, if none were observed; 1 if not given.
    secrets : DataArray, dims (chain, draw, ...), optional
        Secrets that were drawn already, with one more dim: ``idata.posterior_predictive["x"]``. For
        priors that are neither finite nor of a named family.
    name : str
        Of the outcome.
    random_seed : int or Generator, optional
        Passed to ``numpy.random.default_rng``.

    Returns
    -------
    DataTree
        ``posterior_predictive``, dims (chain, draw, release), and ``observed_data``; labels that
        are no numbers are positions, with ``attrs["labels"]``. ``tree.update(...)`` puts the groups
        beside those of `borel.leakage_tree`.

    Raises
    ------
    InvalidInput
        No posterior over priors; secrets or outcomes of another shape.
    NotYet
        A mechanism without a sampler; a prior that cannot be drawn from.

    Examples
    --------
    >>> import borel as bl
    >>> data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    >>> learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    >>> mech = bl.mechanisms.randomized_response(k=2, epsilon=1.0)
    >>> found = bl.priors.predictive(learnt * mech, observed=[0, 1, 1, 0, 1], random_seed=1)
    >>> dict(found["posterior_predictive"].sizes)
    {'chain': 4, 'draw': 100, 'release': 5}
    """
    import xarray as xr

    learnt, mechanism = getattr(joint, "prior", None), getattr(joint, "mechanism", None)
    if not isinstance(learnt, PosteriorPriors) or mechanism is None:
        raise InvalidInput(
            "bl.priors.predictive",
            expected="learnt * mech, a posterior over priors and a mechanism",
            got=repr(joint)[:80],
        )
    rng = np.random.default_rng(random_seed)
    if observed is not None:
        observed = mechanism.outcome.positions(observed) if _coded(mechanism) else observed
        observed = np.asarray(observed)
        if not _coded(mechanism):
            mechanism.outcome.check(observed)
        if observed.ndim != 1 or size not in (None, observed.size):
            raise InvalidInput(
                "bl.priors.predictive",
                expected="a list of outcomes, and no other size",
                got=f"outcomes of shape {observed.shape}, size {size}",
            )
        size = observed.size
    if secrets is None:
        count = 1 if size is None else size
        parts = [
            mechanism.sample(_drawn(prior, count, rng), rng=rng)
            for _, prior in learnt.blocks(max(1, _TOGETHER // (count * _width(learnt.on))))
        ]
        drawn = np.concatenate(parts).reshape(*learnt.shape, count)
    else:
        drawn = mechanism.sample(_given(secrets, learnt.shape, size), rng=rng)
    about = {}
    if _coded(mechanism):
        drawn = mechanism.outcome.positions(drawn)
        about["labels"] = names_of(mechanism.outcome.labels)
    coords = {d: learnt.posterior[d].values for d in ("chain", "draw") if d in learnt.posterior}
    coords["release"] = np.arange(drawn.shape[-1])
    attrs = attrs_of_a_tree()
    found = xr.Dataset({name: (("chain", "draw", "release"), drawn, about)}, coords, attrs)
    groups = {"posterior_predictive": found}
    if observed is not None:
        release = {"release": coords["release"]}
        groups["observed_data"] = xr.Dataset({name: ("release", observed, about)}, release, attrs)
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=attrs), **groups})


def _coded(mechanism: Mechanism) -> bool:
    """Return whether outcomes are labels that are no numbers."""
    return not getattr(mechanism.outcome, "numeric", True)


def _width(on: Alphabet) -> int:
    return on.size if on.kind == "finite" else 1  # type: ignore[attr-defined]


def _drawn(priors: Measure, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return secrets, a row for each of a batch of priors."""
    if priors._probabilities is not None:
        law = as_floats(priors.probabilities, "bl.priors.predictive")
        rows = np.repeat(np.arange(len(law))[:, None], count, axis=1)
        return Mechanism.from_matrix(law, outcome=priors.on).sample(rows, rng=rng)
    name, values = priors.family or ("", {})
    if name not in _SAMPLERS:
        raise NotYet(
            "bl.priors.predictive",
            missing=f"a sampler of {priors!r}",
            instead='secrets=idata.posterior_predictive["x"], drawn by PyMC.',
        )
    size = priors.batch[0], count
    columns = {k: np.broadcast_to(np.ravel(v)[:, None], size) for k, v in values.items()}
    return _SAMPLERS[name](rng, size, **columns)


def _given(secrets: Any, shape: tuple[int, int], size: int | None) -> np.ndarray:
    """Return secrets that were drawn elsewhere, over (chain, draw, release)."""
    dims = getattr(secrets, "dims", ())
    if {"chain", "draw"} <= {*dims} and len(dims) == 3:
        secrets = secrets.transpose("chain", "draw", ...)
        if secrets.shape[:2] == shape and size in (None, secrets.shape[2]):
            return secrets.values
    raise InvalidInput(
        "bl.priors.predictive",
        expected=f"secrets over (chain, draw, one more dim), of the shape "
        f"{(*shape, '...' if size is None else size)}",
        got=f"dims {dims}, shape {np.shape(secrets)}",
    )
