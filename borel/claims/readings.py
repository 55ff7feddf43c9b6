"""Conditions that the papers leave to the reader, each with a reading that fails.

They are rows 11 to 15 and 19 of the page of errata. What is judged is the tempting reading: a
verdict "refuted" says that the condition is needed.
"""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import TYPE_CHECKING, Any

import borel as bl
from borel.claims.envelope_paper import Response
from borel.claims.judging import Paper
from borel.claims.pmc_paper import response
from borel.claims.spans import at_most, below, same, value

if TYPE_CHECKING:
    from collections.abc import Iterator

PAPER = Paper("readings", "Conditions to state")
says = PAPER.says
HALF = F(1, 2)


@says(
    "Reading 11",
    "h_delta(theta) of Theorem 5(iii) of the envelope draft is the envelope, whatever the prior.",
    errata=(11,),
    reads="where the condition of (iii) holds; elsewhere the envelope may be larger",
)
def response_bound() -> Iterator[Any]:
    """Randomised response under a skewed prior at delta = 7/10, theta < theta_1: alpha/q_3."""
    delta, level = F(7, 10), F(5, 2)
    p = [F(1, 64), F(3, 64), F(15, 32), F(15, 32)]
    made = Response(p, level)
    assert made.lower(delta) is None and made.index(delta)[0] == 4
    yield same(made.alpha / made.q[2], bl.envelope(response(p, level))(delta))


@says(
    "Reading 12",
    "PML is unbounded if sup_x f(m|x) stays above a constant while f_Y(m) -> 0.",
    errata=(12,),
    reads="ess sup_x: one x of probability 0 for each m is a decoy",
)
def null_sets() -> Iterator[Any]:
    """Build a secret with geometric outcomes and, of probability 0, one that shows each outcome."""
    n = 7
    geometric = [HALF ** min(m + 1, n - 1) for m in range(n)]
    shown = [[F(m == k) for m in range(n)] for k in range(n)]
    joint = bl.pmf([F(1)] + [F(0)] * n) * bl.Mechanism.from_matrix([geometric, *shown])
    assert same(bl.pml(joint).sup(), 1).holds
    yield at_most(1 / geometric[-1], bl.pml(joint).sup())


@says(
    "Reading 13",
    "PML of binary randomised response rises with the probability of one secret.",
    errata=(13,),
    reads="with max(p, 1 - p)",
)
def not_monotone() -> Iterator[Any]:
    """Its supremum at p = 1/10, 1/2 and 9/10."""
    found = [bl.pml(response([p, 1 - p], F(3))).sup() for p in (F(1, 10), HALF, F(9, 10))]
    assert same(found[0], found[2]).holds
    yield at_most(found[0], found[1])


@says(
    "Reading 14",
    "Total variation balls and L1 balls of one radius are the same set.",
    errata=(14,),
    reads="an L1 ball of radius 2r is the total variation ball of radius r",
)
def balls() -> Iterator[Any]:
    """PML over both, with one radius; with the radius doubled it is the same."""
    centre = bl.pmf([HALF, F(1, 4), F(1, 4)])
    joint = response([F(1, 3)] * 3, F(3))
    by_mass = bl.pml(bl.priors.tv_ball(centre, 0.125) * joint.mechanism).sup()
    by_sum = bl.pml(bl.priors.l1_ball(centre, 0.125) * joint.mechanism).sup()
    twice = bl.pml(bl.priors.l1_ball(centre, 0.25) * joint.mechanism).sup()
    assert same(by_mass, twice).holds
    yield same(by_mass, by_sum)


@says(
    "Reading 14",
    "A Kullback-Leibler ball is the same set in both directions.",
    part="direction",
    errata=(14,),
    reads="the direction must be said; likewise of chi-square balls",
)
def directions() -> Iterator[Any]:
    """PML over both, with one radius."""
    mech, centre = response([HALF] * 2, F(3)).mechanism, bl.pmf([F(3, 4), F(1, 4)])
    one, other = (
        bl.pml(bl.priors.kl_ball(centre, 0.125, direction=d) * mech).sup()
        for d in ("to_centre", "from_centre")
    )
    yield same(one, other)


@says(
    "Reading 14",
    "The c-interior, of priors that charge each of n secrets with c, is defined for c in [0, 1].",
    part="interior",
    errata=(14,),
    reads="for c in [0, 1/n]; it is empty beyond",
)
def interior() -> Iterator[Any]:
    """Two secrets: c = 1/2 leaves the uniform prior alone; at c = 3/5 they would weigh 6/5."""
    joint = response([HALF] * 2, F(3))
    half = bl.pml(bl.priors.interior(0.5, on=bl.Finite(2)) * joint.mechanism).sup()
    assert same(half, bl.pml(joint).sup()).holds
    yield from (at_most(2 * c, 1) for c in (HALF, F(3, 5)))


@says(
    "Reading 15",
    "The confidence of a set of priors learnt from counts is the delta of (eps, delta)-PML.",
    errata=(15,),
    reads="it is over the sample; delta is over the outcome",
)
def confidence() -> Iterator[Any]:
    """Randomised response under a learnt set: PML holds with confidence 19/20, its tail with 0."""
    learnt = bl.priors.from_counts([60, 40], confidence=0.95)
    joint = learnt * response([HALF, HALF], F(3)).mechanism
    level = bl.pml(joint).sup()
    assert level.confidence is not None
    inside = bl.pml(bl.pmf([F(3, 5), F(2, 5)]) * response([HALF, HALF], F(3)).mechanism)
    yield same(value(inside.tail(level.upper)), 1 - F(level.confidence))


@says(
    "Reading 19",
    "An abstract: the envelope of Gaussian noise on a Gaussian secret has a finite closed form.",
    errata=(19,),
    reads="infinite, by the draft's definition, as maximal leakage is",
)
def gaussian_envelope() -> Iterator[Any]:
    """Tail leakage, which the envelope is within log 2 of, at 1/10."""
    joint = bl.normal() * bl.mechanisms.gaussian(sigma=1.0)
    yield below(bl.tail_leakage(joint, 0.1), math.inf)
