"""The laws of maxima, minima, distances and sums of independent secrets, and leakages by them.

Moments of the densities, in rational arithmetic, are compared with those that binomial formulas and
order statistics give.
"""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from engine.certified_cases import kernel
from flint import arb, ctx, fmpq, fmpq_poly

import borel as bl
from borel.engine.problem.reduced_joint import on_a_line
from borel.numerics.graphs.trace import trace
from borel.numerics.reduction import order_statistic_density
from borel.numerics.reduction.order_statistic_density import PieceLaws, _at, extreme, turned
from borel.numerics.reduction.sum_density import MOST

UNIT = bl.Interval(0, 1)
FLAT, RISING = fmpq_poly([1]), fmpq_poly([0, 1])
BETA = fmpq_poly([0, 1]) * fmpq_poly([1, -1]) ** 2  # Beta(2, 3), but for its scale


def pieces_of(query, densities, ends=None):
    names = tuple(f"x{j}" for j in range(len(densities)))
    graph = trace(lambda *x: query(x), names, ())
    of = dict(zip(names, densities, strict=True))
    return PieceLaws(graph, of, ends or [(0.0, 1.0)] * len(densities)).last()


def moment(pieces, n):
    """Return the integral of t^n p(t)."""
    total = fmpq(0)
    for low, high, of in pieces:
        whole = (of * fmpq_poly([0, 1]) ** n).integral()
        total += whole(fmpq(high.numerator, high.denominator))
        total -= whole(fmpq(low.numerator, low.denominator))
    return F(int(total.p), int(total.q))


def uniform(n):
    return F(1, n + 1)


def beta(n):  # E x^n under Beta(2, 3): B(2 + n, 3) / B(2, 3)
    return F(math.factorial(n + 1) * 24, math.factorial(n + 4))


def larger(n):  # of two uniform ones
    return F(2, n + 2)


def smaller(n):
    return F(2, (n + 1) * (n + 2))


def plus(first, second, scale=F(1)):
    """Return the moments of u + scale v."""
    return lambda n: sum(
        math.comb(n, k) * first(n - k) * scale**k * second(k) for k in range(n + 1)
    )


CASES = {
    "maximum": (lambda x: np.maximum(x[0], x[1]), [FLAT] * 2, larger),
    "minimum": (lambda x: np.minimum(x[0], x[1]), [FLAT] * 2, smaller),
    "distance": (lambda x: np.abs(x[0] - x[1]), [FLAT] * 2, smaller),
    "of three": (
        lambda x: np.maximum(x[0], np.maximum(x[1], x[2])),
        [FLAT] * 3,
        lambda n: F(3, n + 3),
    ),
    "of 2x and 1": (
        lambda x: np.maximum(x[0], x[1]),
        [RISING, FLAT],  # F = t^3
        lambda n: F(3, n + 3),
    ),
    "turned": (lambda x: 1 - np.minimum(x[0], x[1]), [FLAT] * 2, larger),
    "scaled": (lambda x: np.maximum(x[0], x[1]) / 4, [FLAT] * 2, lambda n: larger(n) / 4**n),
    "negative": (lambda x: -np.maximum(-x[0], -x[1]), [FLAT] * 2, smaller),
    "a sum with a maximum": (
        lambda x: x[0] + 0.5 * np.maximum(x[1], x[2]),
        [BETA, FLAT, FLAT],
        plus(beta, larger, F(1, 2)),
    ),
    "a difference": (
        lambda x: x[0] - np.minimum(x[1], x[2]),
        [BETA, FLAT, FLAT],
        plus(beta, smaller, F(-1)),
    ),
    "of sums": (
        lambda x: np.maximum(x[0], x[1]) + np.minimum(x[2], x[3]),
        [FLAT] * 4,
        plus(larger, smaller),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_moments(name):
    query, densities, truth = CASES[name]
    pieces = pieces_of(query, densities)
    for n in range(8):
        assert moment(pieces, n) == truth(n)


def test_the_density_of_a_maximum_of_unequal_ones():
    """Below where both may be the density is 0: no piece is there."""
    pieces = pieces_of(lambda x: np.maximum(x[0], x[1]), [FLAT] * 2, [(0.0, 1.0), (0.5, 2.0)])
    assert [p[:2] for p in pieces] == [(F(1, 2), F(1)), (F(1), F(2))]
    # max: for t in (1/2, 1) F G = t (t - 1/2) 2/3, then G
    assert pieces[0].of == fmpq_poly([fmpq(-1, 3), fmpq(4, 3)])
    assert pieces[1].of == fmpq_poly([fmpq(2, 3)])


def without_what_is_before(pieces, low, high):
    """Return a density, and a distribution function that starts from 0 on each piece."""
    of, whole = _at(pieces, low, high)
    return of, whole - whole(fmpq(low.numerator, low.denominator))


MUTATIONS = {
    "the wrong extreme": ("extreme", lambda u, v, sign: extreme(u, v, -sign), "maximum"),
    "one of two": ("extreme", lambda u, v, sign: u, "minimum"),
    "nothing before": ("_at", without_what_is_before, "unequal ones"),
    "half of it": ("folded", lambda pieces: [p for p in pieces if p.low >= 0], "distance"),
    "no scale": ("turned", lambda pieces, c, plus: turned(pieces, c / abs(c), plus), "scaled"),
    "no start": ("turned", lambda pieces, c, plus: turned(pieces, c, F(0)), "turned"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_law_is_caught(name, monkeypatch):
    attribute, wrong, case = MUTATIONS[name]
    monkeypatch.setattr(order_statistic_density, attribute, wrong)
    with pytest.raises((AssertionError, ValueError)):
        if case in CASES:
            test_moments(case)
        else:
            test_the_density_of_a_maximum_of_unequal_ones()


NOT = {
    "shared": lambda x: np.maximum(x[0], x[0] + x[1]),
    "shared in a sum": lambda x: x[0] + np.maximum(x[0], x[1]),
    "a clipped one, with an atom": lambda x: np.maximum(x[0] + x[1], 0.5),
    "a product": lambda x: x[0] * x[1],
    "a square": lambda x: np.maximum(x[0], x[1]) ** 2,
    "a quotient": lambda x: 1 / (1 + np.maximum(x[0], x[1])),
    "times 0": lambda x: 0 * np.maximum(x[0], x[1]),
}


@pytest.mark.parametrize("name", NOT)
def test_what_is_not_followed(name):
    assert pieces_of(NOT[name], [FLAT] * 2) is None


def test_too_many_pieces_are_not_followed():
    def query(x):
        low = [np.maximum(x[2 * k], x[2 * k + 1] + 0.1 * k) for k in range(6)]
        return sum(low[1:], low[0])

    pieces = pieces_of(query, [FLAT] * 12)
    assert pieces is None or len(pieces) <= MOST


def laplace_of(query, dim=2, prior=None):
    box = UNIT**dim
    noise = kernel(lambda y, x: np.exp(-np.abs(y - query(x))) / 2, secret=box)
    return (prior or bl.uniform(box)) * noise


def test_kernels_of_one_are_on_a_line():
    assert on_a_line(laplace_of(lambda x: np.maximum(x[0], x[1]))).prior.on == UNIT
    both = bl.uniform(UNIT * UNIT) * kernel(
        lambda y, x: np.exp(-np.abs(y - np.maximum(x[0], x[1]) - x[0])) / 2, secret=UNIT * UNIT
    )
    assert on_a_line(both) is None


def certified(bound):
    assert bound.status == "certified"
    return bound


@pytest.mark.truths
def test_leakage_of_laplace_noise_on_a_maximum():
    """At y < 0 the kernel is largest at 0, and f_Y is e^y E e^-w / 2; above 1 likewise.

    The law of w = max(x0, x1) is 2 w dw.
    """
    joint = laplace_of(lambda x: np.maximum(x[0], x[1]))
    with ctx.workprec(200):
        falling, rising = 2 - 4 / arb(1).exp(), arb(2)  # E e^-w, E e^w
        pml, pmc = -falling.log(), rising.log()
        for bound, truth in ((bl.pml(joint).sup(), pml), (bl.pmc(joint).sup(), pmc)):
            assert bound.lower <= truth <= bound.upper and bound.width <= 1e-8
        at = bl.pml(joint)(-1.0)
        assert at.lower <= pml <= at.upper and at.width <= 1e-8
        means = certified(bl.pml(joint).exp_mean()), certified(bl.maximal_cost_leakage(joint))
        for bound, truth in zip(means, (1.5, 0.5), strict=True):
            assert bound.lower <= truth <= bound.upper and bound.width <= 2e-8
    certified(bl.pml(joint).sup())


@pytest.mark.truths
def test_a_distance_is_the_mirror_image_of_a_maximum():
    """|x0 - x1| has the law of 1 - max(x0, x1)."""
    distance = laplace_of(lambda x: np.abs(x[0] - x[1]))
    maximum = laplace_of(lambda x: np.maximum(x[0], x[1]))
    for leakage in (bl.pml, bl.pmc):
        first, second = leakage(distance).quantile(0.5), leakage(maximum).quantile(0.5)
        assert first.lower <= second.upper and second.lower <= first.upper
        assert max(first.width, second.width) <= 1e-8


def test_of_a_single_secret_that_counts():
    """The other one does not: a density of one piece, 0 at both ends."""
    prior = bl.beta(alpha=2, beta=5) * bl.uniform(UNIT)
    joint = laplace_of(lambda x: x[0] + 0 * x[1], prior=prior)
    alone = bl.beta(alpha=2, beta=5) * kernel(lambda y, x: np.exp(-np.abs(y - x)) / 2)
    first, second = bl.pml(joint).sup(), bl.pml(alone).sup()
    assert first.lower <= second.upper and second.lower <= first.upper
    assert max(first.width, second.width) <= 1e-8
