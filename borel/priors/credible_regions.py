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
from borel.constants import inside
from borel.errors import InvalidInput, NotYet, Undecided
from borel.priors.ellipsoids import Ellipsoid, ellipsoid_distance
from borel.priors.parametric_families import family_of
from borel.priors.probability_intervals import ProbabilityIntervals
from borel.priors.random_bound import ASYMPTOTIC, EXACT_DRAWS
from borel.probability.alphabets import Interval
from borel.probability.pickling import HoldsFunctions

if TYPE_CHECKING:
    from borel.priors.prior_draws import PriorDraws
    from borel.priors.sets import PriorSet
    from borel.probability.alphabets import Alphabet

KINDS = ("hdi", "box", "ellipsoid")
_SLACK = 1e-9
"""How much a region is widened, relatively, beyond the rounding of scores and ends."""


def region_of(
    learnt: PriorDraws,
    kind: str,
    prob: float,
    confidence: float,
    var_names: Any = None,
    build: Any = None,
) -> PriorSet:
    """Make a credible region; see `PosteriorPriors.region`."""
    if kind not in KINDS:
        raise InvalidInput("learnt.region", expected=f"kind one of {KINDS}", got=repr(kind))
    prob = inside("learnt.region", "prob", prob)
    confidence = inside("learnt.region", "confidence", confidence)
    _claimable(learnt.trouble)
    if var_names is None:
        shape, draws, words = _of_probabilities(learnt, kind)
    else:
        shape, draws, words = _of_parameters(learnt, kind, var_names, build)
    half = learnt.shape[1] // 2
    first, second = draws[:, :half].reshape(-1, draws.shape[2]), draws[:, half:]
    make, score = shape(first, prob)
    scores = score(second.reshape(-1, draws.shape[2])).reshape(second.shape[:2])
    radius, worth = _radius(scores, prob, confidence, learnt.exact)
    out = make(radius * (1 + _SLACK))
    out.name = f"{100 * prob:g} % credible {words}"
    out.confidence = confidence
    out.assumptions = (
        *out.assumptions,
        f"the {words} holds posterior mass {prob:g} with confidence {confidence:g}: an order "
        f"statistic of {worth:.0f} draws beside those that shaped it",
        EXACT_DRAWS if learnt.exact else ASYMPTOTIC,
    )
    return out


def _claimable(trouble: str) -> None:
    if trouble:
        raise Undecided(f"no region of these draws: {trouble}")


def _of_probabilities(learnt: PriorDraws, kind: str) -> tuple[Any, np.ndarray, str]:
    """Return shape, draws and name of a region of the probabilities of a finite prior."""
    if learnt.on.kind != "finite":
        raise NotYet(
            "learnt.region",
            missing=f"regions of priors on {learnt.on!r}",
            instead="regions of parameters, var_names=[...]; or "
            "bl.pml(learnt * mech).sup().smallest(alpha), the smallest over all regions.",
        )
    n = learnt.on.size
    if kind == "hdi" and n != 2:
        raise InvalidInput(
            "learnt.region",
            expected='kind="hdi" for two secrets, or one parameter: one number',
            got=f"{n} secrets",
            mend='kind="box" or kind="ellipsoid".',
        )
    rounding, parts = 0.0, []
    for _, prior in learnt.blocks():
        rounding = max(rounding, prior.rounding)
        parts.append(np.asarray(prior.probabilities, float))
    draws = np.concatenate(parts).reshape(*learnt.shape, n)
    on = learnt.on
    if kind == "ellipsoid":
        words = "ellipsoid of the probabilities"
        return lambda first, prob: _ellipsoid(first, on, rounding), draws, words
    if kind == "box":
        return (
            lambda first, prob: _box(
                first, lambda low, high: ProbabilityIntervals(*_outward(low, high, rounding), on)
            ),
            draws,
            ("box of the probabilities"),
        )

    def interval(first: np.ndarray, prob: float) -> tuple[Any, Any]:
        def make(low: np.ndarray, high: np.ndarray) -> ProbabilityIntervals:
            low, high = _outward(low, high, rounding)
            ends = _outward(np.append(1 - high, low), np.append(1 - low, high), 0.0)
            return ProbabilityIntervals(*ends, on)

        return _hdi(first, prob, make)

    words = f"interval, shaped by its HDI, of the probability of {on.labels[1]!r}"
    return interval, draws[:, :, 1:], words


def _of_parameters(
    learnt: PriorDraws, kind: str, var_names: Any, build: Any
) -> tuple[Any, np.ndarray, str]:
    """Return shape, draws and name of a region of the parameters: a family of priors."""
    names = [var_names] if isinstance(var_names, str) else list(var_names)
    variables = learnt._chains.variables
    for name in names:
        if name not in variables or variables[name].ndim != 2:
            raise InvalidInput(
                "learnt.region",
                expected=f"var_names of numbers, among {sorted(variables)}",
                got=repr(name),
                mend="choose one component: give the posterior a variable of its own for it.",
            )
    if kind == "ellipsoid" or not names:
        raise NotYet("learnt.region", missing="ellipsoids of parameters", instead='kind="box".')
    if kind == "hdi" and len(names) > 1:
        raise InvalidInput(
            "learnt.region",
            expected='kind="hdi" for one parameter',
            got=", ".join(names),
            mend='kind="box".',
        )
    _claimable(learnt._trouble_of(names))  # build may read others
    draws = np.stack([variables[name].values.astype(float) for name in names], axis=-1)

    prior = _PriorOf(names, learnt.build, build)

    def make(low: np.ndarray, high: np.ndarray) -> PriorSet:
        slack = _SLACK * np.maximum(np.abs(low), np.abs(high))
        box: Any = None
        for a, b in zip(low - slack, high + slack, strict=True):
            side = Interval(float(a), float(b))
            box = side if box is None else box * side
        return family_of(prior, box)

    words = f"{'interval, shaped by its HDI,' if kind == 'hdi' else 'box'} of {', '.join(names)}"
    if kind == "hdi":
        return lambda first, prob: _hdi(first, prob, make), draws, words
    return lambda first, prob: _box(first, make), draws, words


class _PriorOf(HoldsFunctions):
    """The prior of given parameters, by the build of a posterior or one of named parameters."""

    _functions = ("of_draw", "build")

    def __init__(self, names: list[str], of_draw: Any, build: Any):
        self.names, self.of_draw, self.build = names, of_draw, build

    def __call__(self, theta: Any) -> Any:
        values = theta if len(self.names) > 1 else (theta,)
        given = dict(zip(self.names, values, strict=True))
        if self.build is not None:
            return self.build(**given)
        return self.of_draw(_Named(given))


class _Named(dict):
    """Parameters by name; another one that build asks for is an error that says so."""

    def __missing__(self, name: Any) -> Any:
        raise InvalidInput(
            "learnt.region",
            expected=f"a build of {sorted(self)} only",
            got=repr(name),
            mend="name every variable that build uses: var_names=[...].",
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


def _box(p: np.ndarray, made: Any) -> tuple[Any, Any]:
    """Return a box around the medians, its sides in the proportion of equal-tailed intervals."""
    low, centre, high = np.quantile(p, [0.025, 0.5, 0.975], axis=0)
    least = 1e-6 * np.maximum(high - low, 1e-6)
    below, above = np.maximum(centre - low, least), np.maximum(high - centre, least)

    def make(radius: float) -> Any:
        return made(centre - radius * below, centre + radius * above)

    def score(q: np.ndarray) -> np.ndarray:
        return np.maximum((centre - q) / below, (q - centre) / above).max(axis=1)

    return make, score


def _hdi(p: np.ndarray, prob: float, made: Any) -> tuple[Any, Any]:
    """Return an interval around the middle of the HDI of a number."""
    import xarray as xr

    low, high = (float(e) for e in _compat.hdi(xr.DataArray(p.T, dims=("chain", "draw")), prob))
    centre, half = (low + high) / 2, max((high - low) / 2, 1e-12)

    def make(radius: float) -> Any:
        return made(np.array([centre - radius * half]), np.array([centre + radius * half]))

    return make, lambda q: np.abs(q[:, 0] - centre) / half


def _outward(low: np.ndarray, high: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of a box, moved outwards past the rounding of the draws, a relative one."""
    slack = _SLACK + rounding
    low = np.clip(low * (1 - slack) - 1e-15, 0.0, 1.0)
    return low, np.clip(high * (1 + slack) + 1e-15, 0.0, 1.0)


def _ellipsoid(p: np.ndarray, on: Alphabet, rounding: float) -> tuple[Any, Any]:
    """Return an ellipsoid around the mean, in the shape of the covariance.

    Its radius grows by as far as the rounding of the draws, a relative one, moves probabilities.
    """
    centre = p.mean(axis=0)
    centre = centre / centre.sum()
    spread = np.atleast_2d(np.cov(p[:, :-1], rowvar=False))
    # a floor far below the spread keeps the scores accurate
    floor = 1e-10 * max(float(np.trace(spread)), 1e-12)
    shape = np.linalg.cholesky(spread + floor * np.eye(len(spread)))
    moved = 1.01 * rounding * float(np.linalg.norm(np.abs(np.linalg.inv(shape)).sum(axis=1)))

    def make(radius: float) -> Ellipsoid:
        return Ellipsoid(centre, shape, radius + moved, on)

    return make, lambda q: ellipsoid_distance(q, centre, shape)
