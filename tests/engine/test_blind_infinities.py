"""The blind list of suprema against a brute force of its own: NumPy only, no engine of borel.

It proves nothing about the suprema (the proofs stand in the list); it catches a density, a prior
or a bound that was written down wrongly.
"""

from itertools import pairwise

import numpy as np
import pytest
from engine.blind_infinities import DECOYS, HALF_LINE, INFINITIES, REALS, UNIT
from engine.near_misses import NEAR_MISSES

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
# Panels shrink by halves towards every end and kink; the last of 2**-200 is far below any corner.
SHRINK = 2.0 ** -np.arange(1.0, 200.0)
GROW = 2.0 ** np.arange(-30.0, 60.0)
CORNER = 4.0 ** -np.arange(2, 25)


def panels(lower, upper):
    """Edges of panels graded towards both ends, towards infinity where an end is infinite."""
    if np.isinf(lower) and np.isinf(upper):
        return np.concatenate([-GROW[::-1], [0.0], GROW])
    if np.isinf(upper):
        return np.concatenate([lower + SHRINK[::-1], lower + GROW[GROW >= 1]])
    if np.isinf(lower):
        return -panels(-upper, np.inf)[::-1]
    half = (upper - lower) / 2
    return np.concatenate([lower + half * SHRINK[::-1], upper - half * SHRINK])


def points(prior, kinks):
    """Return secrets and their weights: the atoms, or Gauss-Legendre between ends and kinks."""
    if prior.atoms is not None:
        x, w = prior.atoms()
        return x[w > 0], w[w > 0]
    lower, upper = prior.ends
    cuts = sorted({lower, upper, *(k for k in kinks if lower < k < upper)})
    edges = np.concatenate([panels(a, b) for a, b in pairwise(cuts)])
    edges = np.unique(np.concatenate([edges, [c for c in cuts if np.isfinite(c)]]))
    middle, radius = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    x = (middle[:, None] + radius[:, None] * NODES).ravel()
    w = (radius[:, None] * WEIGHTS).ravel()
    inside = (x > lower) & (x < upper)  # panels of a few ulps round onto the ends
    x, w = x[inside], w[inside]
    w = w * prior.pdf(x)
    return x[w > 0], w[w > 0]


def leakage(case, y):
    """Return PML or PMC at one outcome, over the points: blind to null sets, as it should be."""
    x, w = points(case.prior, case.near(y))
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        if case.masses and y in case.masses:
            logs = np.log(case.masses[y](x))
        elif case.log_density is not None:
            logs = case.log_density(y, x)
        else:
            logs = np.log(case.density(y, x, **(case.params or {})))
        top = logs.max()
        if top == -np.inf:
            return 0.0  # outside the support
        marginal = top + np.log(np.sum(w * np.exp(logs - top)))
    return top - marginal if case.kind == "pml" else marginal - logs.min()


def grid(case):
    if case.at is not None:
        return np.array([case.at])
    if case.ys is not None:
        return case.ys
    if case.outcome == UNIT:
        # Never exactly a point where a density was altered.
        return np.concatenate([CORNER, np.linspace(0.0137, 0.9871, 25), 1 - CORNER])
    if case.outcome == HALF_LINE:
        return np.concatenate([CORNER, np.geomspace(0.01, 1e6, 40)])
    if case.outcome == REALS:
        return np.linspace(-30.03, 30.01, 75)
    return np.arange(0.0, 40.0)  # integers


def named(cases):
    return [pytest.param(case, id=case.name) for case in cases]


def test_the_lists_are_what_they_should_be():
    names = [case.name for case in DECOYS + INFINITIES]
    assert len(set(names)) == len(names)
    assert len(DECOYS) >= 20 and len(INFINITIES) >= 8
    assert 2 <= sum(case.hard for case in INFINITIES) < len(INFINITIES) / 2
    for cases in (DECOYS, INFINITIES):
        assert {case.kind for case in cases} == {"pml", "pmc"}
    assert all(0 <= case.truth[0] <= case.truth[1] < np.inf for case in DECOYS)


@pytest.mark.few(33)
@pytest.mark.parametrize("case", named(DECOYS + NEAR_MISSES + INFINITIES))
def test_builds(case):
    joint = case.build()
    # An opaque density would keep an engine from seeing what tempts.
    assert not joint.mechanism.opaque and case.proof


@pytest.mark.few(49)
@pytest.mark.cases("attacks", "phase_of_one_over_x_pmc", "phase_of_one_over_x_pml")
@pytest.mark.parametrize("case", named(DECOYS + NEAR_MISSES))
def test_decoys_stay_below_their_bound_and_come_near_it(case):
    lower, upper = case.truth
    values = [leakage(case, y) for y in grid(case)]
    assert max(values) <= upper + 2e-8 * (1 + upper)
    assert max(values) >= lower - 0.02 * (1 + lower)


@pytest.mark.parametrize("case", named(INFINITIES))
def test_infinities_exceed_their_growing_floor(case):
    outcomes = grid(case)
    values = np.array([leakage(case, y) for y in outcomes])
    floors = np.array([case.floor(y) for y in outcomes])
    if np.isinf(floors).all():
        assert (values >= case.seen).all()
        return
    assert (np.diff(floors) > 0).all()
    assert (values >= floors - 1e-6 * (1 + abs(floors))).all()
    assert case.hard or floors[-1] > floors[0] + 2
