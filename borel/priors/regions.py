r"""Credible regions as sets of priors: regions that hold a stated share of the posterior.

The draws are split in two. The first half gives the region its shape; the second its size. With
scores :math:`S_1, \dots, S_n` of the second half (how far the shape must grow to hold a draw), the
k-th smallest bounds a region of posterior mass at least ``prob`` with probability
:math:`P\{\mathrm{Bin}(n, prob) < k\}` (Wilks: the mass below an order statistic has a Beta law),
whatever the posterior is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import _compat
from borel.errors import InvalidInput, NotYet, Undecided
from borel.priors.balls import Band
from borel.priors.ellipsoids import Ellipsoid, ellipsoid_distance
from borel.priors.random_bound import ASYMPTOTIC, EXACT_DRAWS

if TYPE_CHECKING:
    from borel.priors.posterior import PosteriorPriors
    from borel.priors.sets import PriorSet

KINDS = ("hdi", "box", "ellipsoid")
_SLACK = 1e-9
"""How much a region is widened, relatively, beyond the rounding of scores and ends."""


def region_of(learnt: PosteriorPriors, kind: str, prob: float, confidence: float) -> PriorSet:
    """Make a credible region of the prior probabilities; see `PosteriorPriors.region`."""
    _check(learnt, kind, prob, confidence)
    p = np.concatenate([np.asarray(prior.probabilities, float) for _, prior in learnt.blocks()])
    draws = p.reshape(*learnt.shape, -1)
    half = learnt.shape[1] // 2
    first, second = draws[:, :half].reshape(-1, p.shape[1]), draws[:, half:]
    make, score = _SHAPES[kind](first, learnt)
    scores = score(second.reshape(-1, p.shape[1])).reshape(second.shape[:2])
    radius, worth = _radius(scores, prob, confidence, learnt.exact)
    out = make(radius * (1 + _SLACK))
    words = {"hdi": "interval of the probability of the second secret, shaped by its HDI"}
    out.name = f"{100 * prob:g} % credible {words.get(kind, kind + ' of the probabilities')}"
    out.confidence = confidence
    out.assumptions = (
        *out.assumptions,
        f"the region holds posterior mass {prob:g} with confidence {confidence:g}: an order "
        f"statistic of {worth:.0f} draws beside those that shaped it",
        EXACT_DRAWS if learnt.exact else ASYMPTOTIC,
    )
    return out


def _check(learnt: PosteriorPriors, kind: str, prob: float, confidence: float) -> None:
    what = "learnt.region"
    if kind not in KINDS:
        raise InvalidInput(what, expected=f"kind one of {KINDS}", got=repr(kind))
    for name, value in (("prob", prob), ("confidence", confidence)):
        if not (isinstance(value, (int, float)) and 0 < value < 1):
            raise InvalidInput(what, expected=f"0 < {name} < 1", got=repr(value))
    if learnt.trouble:
        raise Undecided(f"no region of these draws: {learnt.trouble}")
    if learnt.on.kind != "finite":
        raise NotYet(
            what,
            missing=f"regions of priors on {learnt.on!r}",
            instead="bl.pml(learnt * mech).sup().smallest(alpha), the smallest over all regions.",
        )
    if kind == "hdi" and learnt.on.size != 2:
        raise InvalidInput(
            what,
            expected='kind="hdi" for two secrets: one number',
            got=f"{learnt.on.size} secrets",
            mend='kind="box" or kind="ellipsoid".',
        )


def _radius(scores: np.ndarray, prob: float, confidence: float, exact: bool) -> tuple[float, float]:
    """Return the order statistic that bounds mass ``prob`` with the confidence stated."""
    import xarray as xr
    from scipy.stats import binom

    size = scores.size
    worth = float(size)
    if not exact:
        worth = float(_compat.ess_quantile(xr.DataArray(scores, dims=("chain", "draw")), prob))
        worth = min(max(worth if math.isfinite(worth) else 1.0, 1.0), float(size))
    whole = max(1, math.floor(worth))
    rank = int(binom.ppf(confidence, whole, prob)) + 1
    if rank > whole:
        needed = math.ceil(math.log(1 - confidence) / math.log(prob))
        raise InvalidInput(
            "learnt.region",
            expected=f"at least {2 * needed} draws for mass {prob:g} at confidence {confidence:g}",
            got=f"the worth of {2 * whole}",
            mend="take more draws, a smaller prob or a smaller confidence.",
        )
    place = min(math.ceil(rank * size / whole), size)
    return float(np.sort(scores, axis=None)[place - 1]), worth


def _box(p: np.ndarray, learnt: PosteriorPriors) -> tuple[Any, Any]:
    """Return a box around the medians, its sides in the proportion of equal-tailed intervals."""
    low, centre, high = np.quantile(p, [0.025, 0.5, 0.975], axis=0)
    least = 1e-6 * np.maximum(high - low, 1e-6)
    below, above = np.maximum(centre - low, least), np.maximum(high - centre, least)

    def make(radius: float) -> Band:
        return _band(centre - radius * below, centre + radius * above, learnt)

    def score(q: np.ndarray) -> np.ndarray:
        return np.maximum((centre - q) / below, (q - centre) / above).max(axis=1)

    return make, score


def _hdi(p: np.ndarray, learnt: PosteriorPriors) -> tuple[Any, Any]:
    """Return an interval around the middle of the HDI of the second probability."""
    import xarray as xr

    draws = xr.DataArray(p[None, :, 1], dims=("chain", "draw"))
    low, high = (float(end) for end in _compat.hdi(draws, 0.9))
    centre, half = (low + high) / 2, max((high - low) / 2, 1e-12)

    def make(radius: float) -> Band:
        ends = np.array([centre - radius * half, centre + radius * half])
        return _band(np.array([1 - ends[1], ends[0]]), np.array([1 - ends[0], ends[1]]), learnt)

    return make, lambda q: np.abs(q[:, 1] - centre) / half


def _band(low: np.ndarray, high: np.ndarray, learnt: PosteriorPriors) -> Band:
    """Return a box, its ends rounded outwards past the rounding of the draws."""
    low = np.clip(low * (1 - _SLACK) - 1e-15, 0.0, 1.0)
    return Band(low, np.clip(high * (1 + _SLACK) + 1e-15, 0.0, 1.0), learnt.on)


def _ellipsoid(p: np.ndarray, learnt: PosteriorPriors) -> tuple[Any, Any]:
    """Return an ellipsoid around the mean, in the shape of the covariance."""
    centre = p.mean(axis=0)
    centre = centre / centre.sum()
    spread = np.atleast_2d(np.cov(p[:, :-1], rowvar=False))
    # a floor far below the spread keeps the scores accurate
    floor = 1e-10 * max(float(np.trace(spread)), 1e-12)
    shape = np.linalg.cholesky(spread + floor * np.eye(len(spread)))

    def make(radius: float) -> Ellipsoid:
        return Ellipsoid(centre, shape, radius, learnt.on)

    return make, lambda q: ellipsoid_distance(q, centre, shape)


_SHAPES = {"hdi": _hdi, "box": _box, "ellipsoid": _ellipsoid}
