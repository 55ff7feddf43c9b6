"""Sibson's mutual information: against its definition and its variational form in mpmath."""

import math
from fractions import Fraction as F
from functools import partial
from itertools import pairwise

import mpmath as mp
import numpy as np
import oracles as o
import pytest
import xarray as xr

import borel as bl

ORDERS = [F(1, 8), 0.5, F(3, 4), 1 + 2.0**-40, F(4, 3), 2, 3.5, 40]
STYLES = ["plain", "zeros", "ties", "fine"]
BUILDS = pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def number(v):
    return mp.mpf(F(v).numerator) / F(v).denominator


def definition(p, K, order):
    a = number(order)
    if all(row == K[0] for row in K):
        return mp.mpf(0)
    columns = ([number(q) * number(v) ** a for q, v in zip(p, c, strict=True)] for c in zip(*K))  # noqa: B905
    return a / (a - 1) * mp.log(sum(sum(c) ** (1 / a) for c in columns))


def joint(p, K):
    return bl.pmf(p) * bl.Mechanism.from_matrix(K)


def encloses(bound, truth):
    return bound.status == "exact" and mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


@BUILDS
@pytest.mark.parametrize("style", STYLES)
def test_it_is_the_definition(style, build):
    rng = np.random.default_rng(3)
    for _ in range(4):
        n, k = (int(v) for v in rng.integers(2, 5, 2))
        p, K = o.law(rng, n, "plain"), o.mechanism(rng, n, k, style)
        for order in ORDERS:
            found = bl.sibson_information(joint(build(p), build(K)), order)
            assert encloses(found, definition(p, K, order))
            rounding = 2.0**-51 if build is o.floats else 0.0
            assert found.width <= 2.0**-52 * found.upper + rounding * (order + 1) / abs(order - 1)


def test_values_known_by_hand():
    half = [F(1, 2), F(1, 2)]
    symmetric = joint(half, [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    assert encloses(bl.sibson_information(symmetric, 2), mp.log(mp.mpf(5) / 4))
    # order 1/2: -log sum_y (sum_x p sqrt f)^2 = -log((1 + sqrt(3/4)) / 2)
    assert encloses(bl.sibson_information(symmetric, F(1, 2)), -mp.log((1 + mp.sqrt(3) / 2) / 2))
    erasure = joint(half, [[F(3, 4), 0, F(1, 4)], [0, F(3, 4), F(1, 4)]])
    for order in (F(1, 3), 2, 7):  # a / (a - 1) log(1/4 + 3/4 2^((a - 1) / a))
        a = number(order)
        truth = a / (a - 1) * mp.log(mp.mpf(1) / 4 + mp.mpf(3) / 4 * 2 ** ((a - 1) / a))
        assert encloses(bl.sibson_information(erasure, order), truth)


def test_of_the_secret_itself_it_is_the_renyi_entropy_of_the_inverse_order():
    p = [F(1, 2), F(1, 3), F(1, 6)]
    itself = joint(p, [[int(x == y) for y in range(3)] for x in range(3)])
    assert encloses(bl.sibson_information(itself, F(1, 2)), -mp.log(number(sum(v * v for v in p))))
    entropy = 2 * mp.log(sum(mp.sqrt(number(v)) for v in p))  # of order 1/2
    assert encloses(bl.sibson_information(itself, 2), entropy)


@pytest.mark.parametrize("order", [F(1, 2), 3])
def test_it_is_the_least_divergence_from_a_product(order):
    rng = np.random.default_rng(5)
    p, K = o.law(rng, 3, "plain"), o.mechanism(rng, 3, 3, "plain")
    found, a = bl.sibson_information(joint(p, K), order), number(order)
    tilted = [
        sum(number(q) * number(v) ** a for q, v in zip(p, column, strict=True)) ** (1 / a)
        for column in zip(*K, strict=True)
    ]

    def divergence(law):
        cells = ((number(p[x]), number(K[x][y]), law[y]) for x in range(3) for y in range(3))
        return mp.log(sum(q * f**a * g ** (1 - a) for q, f, g in cells)) / (a - 1)

    assert encloses(found, divergence([t / sum(tilted) for t in tilted]))
    for law in rng.dirichlet(np.ones(3), 50):
        assert divergence([mp.mpf(float(v)) for v in law]) > found.lower


def test_orders_one_and_infinity_are_the_limits_and_it_increases_between():
    rng = np.random.default_rng(7)
    p, K = o.law(rng, 3, "plain"), o.mechanism(rng, 3, 4, "plain")
    made = joint(p, K)
    ordered = [0.01, 0.5, 1 - 2.0**-30, 1, 1 + 2.0**-30, 2, 30, 1e6, math.inf]
    found = [bl.sibson_information(made, a) for a in ordered]
    assert found[3] == bl.mutual_information(made) and found[-1] == bl.maximal_leakage(made)
    assert all(a.upper < b.lower for a, b in pairwise(found))
    assert found[4].upper - found[2].lower < 1e-8 and found[-1].upper - found[-2].lower < 1e-5


@pytest.mark.parametrize("order", [1e300, 10**400, F(1, 1000), 1 + 2.0**-52])
def test_extreme_orders(order):
    p, K = [F(1, 4), F(3, 4)], [[F(2, 3), F(1, 3)], [F(1, 5), F(4, 5)]]
    found = bl.sibson_information(joint(p, K), order)
    if order > 2:  # between (1/4)^(1 / order) e^(maximal leakage) and that, which is 22/15
        assert found.width < 1e-15 and encloses(found, mp.log(mp.mpf(22) / 15))
    else:
        assert encloses(found, definition(p, K, order)) and found.width < 1e-15


def test_conventions_hold():
    for order in (F(1, 2), 1, 2, 7.5, math.inf):
        bl.testing.check_measure_record(partial(bl.sibson_information, order=order))


def test_a_family_of_joints_gets_a_figure_each():
    level = xr.DataArray([0.5, 1.0], dims="level")
    mech = bl.mechanisms.randomized_response(k=2, epsilon=level)
    found = bl.sibson_information(bl.pmf([0.5, 0.5]) * mech, 2)
    assert found["lower"].dims == ("level",)


@pytest.mark.parametrize("order", [0, -1, math.nan, "2", None, True, [2]])
def test_bad_orders_are_named(order):
    made = joint([F(1)], [[F(1)]])
    with pytest.raises(bl.InvalidInput, match=r"bl.sibson_information: expected an order > 0"):
        bl.sibson_information(made, order)


def test_what_is_not_there_says_so():
    line = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    over = bl.priors.tv_ball(bl.pmf([F(1, 2), F(1, 2)]), F(1, 8)) * bl.Mechanism.from_matrix(
        [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]
    )
    for made in (line, over):
        with pytest.raises(bl.NotYet):
            bl.sibson_information(made, 2)
    assert bl.sibson_information(line, math.inf) == bl.maximal_leakage(line)
    with pytest.raises(bl.InvalidInput, match="a joint"):
        bl.sibson_information(3, 2)
