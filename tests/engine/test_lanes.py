"""The fast interval arithmetic against exact rational arithmetic: no end may be inside the truth.

Batches are mixed on purpose: most lanes plain, a few with zeros, subnormals, huge or infinite ends,
since products look at the odd lanes alone, or at all of them, by how many there are.
"""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb, ctx

from borel.numerics.intervals import batched

ODD = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-310,
    -3e-300,
    1e-160,
    -1e-160,
    1e160,
    -1e300,
    1.7e308,
    -1.7e308,
]


def boxes(rng, count, odd):
    """Draw intervals, a share of them with odd ends; some are points."""
    middle = rng.normal(size=count) * 10.0 ** rng.integers(-8, 9, count)
    a, b = middle, middle + rng.exponential(size=count) * np.abs(middle)
    for end in (a, b):
        where = rng.random(count) < odd
        end[where] = rng.choice(ODD, where.sum())
    a, b = np.minimum(a, b), np.maximum(a, b)
    b = np.where(rng.random(count) < 0.2, a, b)
    return a, b


def exactly(value):
    return F(value) if math.isfinite(value) else value


def corners(operation, a, b):
    return [operation(F(p), F(q)) for p in a for q in b]


OPERATIONS = {
    "add": (batched.add, lambda p, q: p + q),
    "subtract": (batched.subtract, lambda p, q: p - q),
    "multiply": (batched.multiply, lambda p, q: p * q),
    "divide": (batched.divide, lambda p, q: p / q),
}


def violations(name, a, b):
    """Return the lanes in which an end is inside the exact range."""
    enclose, operation = OPERATIONS[name]
    with np.errstate(all="ignore"):
        low, high = batched.settled(enclose(a, b))
    low, high, *shaped = np.broadcast_arrays(low, high, *a, *b)
    out = []
    for k in range(low.size):
        p, q, r, s = (float(v.flat[k]) for v in shaped)
        if name == "divide" and r <= 0 <= s:
            continue
        values = corners(operation, (p, q), (r, s))
        ends = exactly(float(low.flat[k])), exactly(float(high.flat[k]))
        if not (ends[0] <= min(values) and max(values) <= ends[1]):
            out.append((p, q, r, s, *ends))
    return out


@pytest.mark.few(13)
@pytest.mark.parametrize("odd", [0.0, 0.01, 0.4])
@pytest.mark.parametrize("count", [40, 3000])
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_end_is_inside_the_range(name, count, odd):
    rng = np.random.default_rng(7)
    assert violations(name, boxes(rng, count, odd), boxes(rng, count, odd)) == []


@pytest.mark.parametrize("name", OPERATIONS)
def test_shapes_are_broadcast_with_odd_lanes_too(name):
    rng = np.random.default_rng(8)
    a = tuple(v.reshape(40, 1) for v in boxes(rng, 40, 0.02))
    b = tuple(v.reshape(1, 50) for v in boxes(rng, 50, 0.02))
    assert violations(name, a, b) == []


@pytest.mark.parametrize("scale", [3.0, -7.0, 1e-300, 1e300])
@pytest.mark.parametrize("name", ["multiply", "divide"])
def test_a_number_scales_every_lane(name, scale):
    a = boxes(np.random.default_rng(9), 500, 0.05)
    assert violations(name, a, batched.point(np.array(scale))) == []


def test_zeros_stay_exact_and_signs_are_kept():
    """What is exactly 0, or of one sign, stays so: densities are not negative."""
    count = 2000
    a = np.zeros(count), np.linspace(0, 1, count)
    b = np.full(count, 0.25), np.full(count, 0.5)
    for low, high in (
        batched.multiply(a, b),
        batched.multiply(batched.negative(a), batched.negative(b)),
    ):
        assert (low == 0).all()
        assert high[0] == 0
    tiny = np.full(count, 1e-200), np.full(count, 1e-190)
    low, high = batched.multiply(tiny, tiny)
    assert (low == 0).all() and (high > 0).all()


def test_unknown_and_infinite_ends_prove_nothing():
    count = 2000
    a = np.full(count, 1.0), np.full(count, 2.0)
    a[0][3], a[1][5], a[0][7] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        low, high = batched.settled(batched.multiply(a, a))
    assert low[3] == -np.inf and high[5] == np.inf and low[7] == -np.inf and high[7] == np.inf
    keep = np.ones(count, bool)
    keep[[3, 5, 7]] = False
    assert (low[keep] <= 1).all() and (high[keep] >= 4).all() and (high[keep] < 4.1).all()


@pytest.mark.parametrize("odd", [0.0, 0.01, 0.4])
def test_squares(odd):
    a = boxes(np.random.default_rng(10), 3000, odd)
    with np.errstate(all="ignore"):
        low, high = batched.settled(batched.square(a))
    for p, q, least, most in zip(*a, low, high, strict=True):
        values = [F(p) ** 2, F(q) ** 2] + ([F(0)] if p <= 0 <= q else [])
        assert exactly(float(least)) <= min(values)
        assert max(values) <= exactly(float(most))


@pytest.mark.parametrize("far", [600.0, 760.0])
def test_exponentials(far):
    """All in the plain range, and with underflow and overflow."""
    a = np.linspace(-far, far, 2001)
    with np.errstate(all="ignore"):
        low, high = batched.settled(batched.exp((a, a)))
    before, ctx.prec = ctx.prec, 200
    try:
        for x, least, most in zip(a.tolist(), low.tolist(), high.tolist(), strict=True):
            truth = arb(x).exp()
            assert least == -math.inf or arb(least) <= truth
            assert most == math.inf or truth <= arb(most)
    finally:
        ctx.prec = before


def test_an_arithmetic_that_does_not_widen_is_caught(monkeypatch):
    monkeypatch.setattr(batched, "EPS", 0.0)
    rng = np.random.default_rng(7)
    a, b = boxes(rng, 3000, 0.01), boxes(rng, 3000, 0.01)
    assert all(violations(name, a, b) for name in OPERATIONS)


def test_a_plain_range_that_is_too_large_is_caught(monkeypatch):
    """Underflow needs more than one ulp."""
    monkeypatch.setattr(batched, "_SMALL", -1.0)
    rng = np.random.default_rng(7)
    assert violations("multiply", boxes(rng, 9000, 0.03), boxes(rng, 9000, 0.03))


def test_many_factors_that_are_exactly_0():
    """Their products with numbers are 0, with ends that are infinite as well; with NaN unknown."""
    rng = np.random.default_rng(17)
    a, b = boxes(rng, 2000, 0.0), boxes(rng, 2000, 0.0)
    none = rng.random(2000) < 0.9
    for end in a:
        end[none] = rng.choice([0.0, -0.0], none.sum())
    b[0][:40], b[1][20:60] = -math.inf, math.inf
    b[0][60:80] = b[1][60:80] = math.nan
    for end, value in zip((*a, *b), (0.0, 1e-200, 0.0, 1e-200), strict=True):
        end[80:99], none[80:99] = value, False  # products that underflow are not 0
    with np.errstate(invalid="ignore"):
        low, high = batched.multiply(a, b)
    zero, unknown = none & ~np.isnan(b[0]), none & np.isnan(b[0])
    assert zero.any() and unknown.any() and np.isnan(low[unknown] + high[unknown]).all()
    assert (
        not np.array([low[zero], high[zero]]).any()
        and not np.signbit([low[zero], high[zero]]).any()
    )
    for k in np.flatnonzero(~none & np.isfinite(b[0]) & np.isfinite(b[1])):
        ends = corners(lambda p, q: p * q, *((float(v[0][k]), float(v[1][k])) for v in (a, b)))
        assert F(low[k]) <= min(ends) and max(ends) <= F(high[k])
