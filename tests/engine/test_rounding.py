"""Outward rounding against exact rationals and 400-bit Arb; deliberately broken versions fail.

Every check is a function of nothing but the module, so that the tests at the end can break the
module and see the same check object.
"""

import math
from fractions import Fraction as F
from operator import mul

import flint
import numpy as np
import oracles as o
import pytest

from borel.numerics.balls import arithmetic
from borel.numerics.intervals import rounding

TINY = F(1, 2**1074)


def floats(rng, n, low=-300, high=300, *, signed=False):
    """Floats of all magnitudes: full mantissas, short ones, neighbours of powers of two."""
    mantissa = rng.uniform(1, 2, n)
    short = rng.integers(1, 9, n).astype(float)
    near = 1 + rng.integers(-3, 4, n) * 2.0**-52
    values = np.select([rng.random(n) < 0.3, rng.random(n) < 0.3], [short, near], mantissa)
    values = np.ldexp(values, rng.integers(int(low * 3.32), int(high * 3.32), n))
    return values * rng.choice([-1.0, 1.0], n) if signed else values


def near_one(rng, n):
    """Ratios where a logarithm cancels: 1 up to a few ulps, and up to 1e-3."""
    tiny = 1 + rng.integers(-40, 41, n) * 2.0**-53
    return np.where(rng.random(n) < 0.5, tiny, 1 + rng.uniform(-1e-3, 1e-3, n))


def exact(hi, lo=0.0, exponent=0):
    return (F(float(hi)) + F(float(lo))) * F(2) ** int(exponent)


def holds(lower, truth, upper):
    """``o.between`` at 400 bits."""
    with o.precision(400):
        ball = truth()
        low, high = o.ball(float(lower)), o.ball(float(upper))
        if low <= ball and ball <= high:
            return True
        if ball < low or high < ball:
            return False
    return o.between(float(lower), truth, float(upper))


# -- the oracle itself ---------------------------------------------------------------------------


def test_the_oracle_runs_at_400_bits():
    before = flint.ctx.prec
    with o.precision(400):
        assert flint.ctx.prec == 400
        assert flint.arb(2).log().rel_accuracy_bits() >= 390
        rounding.log_fraction(F(7, 3))
        arithmetic.enclose(lambda: arithmetic.ball(5.5).lgamma(), bits=80)
        assert flint.ctx.prec == 400  # nothing in borel leaves it lowered
    assert flint.ctx.prec == before
    with pytest.raises(AssertionError, match="precision"):
        with o.precision(400):
            flint.ctx.prec = 53
    flint.ctx.prec = before


# -- checks --------------------------------------------------------------------------------------


def check_two_sum(n=15_000):
    rng = np.random.default_rng(1)
    a, b = floats(rng, n, signed=True), floats(rng, n, signed=True)
    b[: n // 3] = a[: n // 3] * near_one(rng, n // 3) * -1
    s, e = rounding.two_sum(a, b)
    for row in zip(a, b, s, e, strict=True):
        x, y, total, error = map(F, map(float, row))
        assert total + error == x + y, row
        assert float(x + y) == float(total), row


def check_two_prod(n=15_000):
    rng = np.random.default_rng(2)
    a, b = floats(rng, n, -140, 140, signed=True), floats(rng, n, -140, 140, signed=True)
    p, e = rounding.two_prod(a, b)
    for row in zip(a, b, p, e, strict=True):
        x, y, product, error = map(F, map(float, row))
        assert product + error == x * y, row
        assert float(x * y) == float(product), row


def check_floor_and_ceil(n=5_000):
    rng = np.random.default_rng(3)
    hi = floats(rng, n, signed=True)
    lo = hi * rng.uniform(-1, 1, n) * 2.0**-53
    low, high = rounding.floor_sum(hi, lo), rounding.ceil_sum(hi, lo)
    for h, r, a, b in zip(hi, lo, low, high, strict=True):
        truth = exact(h, r)
        assert F(float(a)) <= truth <= F(float(b)), (h, r)
        assert b <= np.nextafter(a, np.inf), (h, r)


def weighted_cases(count=250):
    """Priors and matrices: plain, with zeros, of all magnitudes, subnormal, a narrow column."""
    rng = np.random.default_rng(4)
    for i in range(count):
        n, m = int(rng.integers(1, 40)), int(rng.integers(1, 12))
        style = i % 5
        p, k = rng.random(n), rng.random((n, m))
        if style == 1:
            p, k = np.where(rng.random(n) < 0.4, 0, p), np.where(rng.random((n, m)) < 0.5, 0, k)
            p[0] = p[0] or 0.5
        elif style == 2:
            p, k = floats(rng, n, -300, 0), floats(rng, n * m, -300, 0).reshape(n, m)
        elif style == 3:
            p, k = floats(rng, n, -322, -290), floats(rng, n * m, -322, 0).reshape(n, m)
        elif style == 4:
            k[:, 0] = floats(rng, n, -20, 0)
            p[rng.integers(n)] = 1e-18
        yield p, k, [0.0, 2.0**-53, 3e-16][i % 3]


def check_weighted_sum():
    for p, k, error in weighted_cases():
        s = rounding.weighted_sum(p, k, error)
        for y in range(k.shape[1]):
            truth = sum((F(float(a)) * F(float(b)) for a, b in zip(p, k[:, y], strict=True)), F(0))
            if truth == 0:
                assert s.hi[y] == 0
                continue
            value = exact(s.hi[y], s.lo[y], s.exponent[y])
            assert 0.25 <= s.hi[y] < 4 and value > 0
            allowed = F(float(s.error[y]))
            # products may each be off by ``error``, and subnormal floats by half of 2**-1074
            for sign in (-1, 1):
                moved = sum(
                    (
                        max(F(float(a)) + sign * loose(a), 0)
                        * max(F(float(b)) + sign * loose(b), 0)
                        for a, b in zip(p, k[:, y], strict=True)
                    ),
                    F(0),
                ) * (1 + sign * F(error))
                if allowed < 1 or sign > 0:
                    assert abs(moved / value - 1) <= allowed, (p, k[:, y], error)
            if p.min() > 2.0**-1000 and k.min() > 2.0**-1000:
                assert allowed <= F(error) * F(1001, 1000) + F(1, 2**54)


def check_weighted_sum_of_thousands():
    """Few columns leave the fast way, as a sum may be off by some ulp if it is long."""
    rng = np.random.default_rng(12)
    for n in (2000, 4000):
        p, k = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n), 2).T
        s = rounding.weighted_sum(p, k, 0.0)
        for y in range(2):
            truth = sum(map(mul, map(F, p.tolist()), map(F, k[:, y].tolist())))
            value = exact(s.hi[y], s.lo[y], s.exponent[y])
            assert abs(truth / value - 1) <= F(float(s.error[y])) <= F(n // 1024 + 1) / 2**53


def check_weighted_sum_of_a_large_matrix():
    """Beyond `LARGE` entries sums are taken in blocks: within some ulp, whatever their number."""
    rng = np.random.default_rng(13)
    for n in (2100, 23, 48):
        m = rounding.LARGE // n + 2
        p, k = rng.random(n), rng.random((n, m))
        # and a column with one product in each block, each rounded by 1 u, and all to one side
        p[:: rounding.CHAIN], k[:, 0] = 1 + 2.0**-27, 0.0
        k[:: rounding.CHAIN, 0] = 1 + 2.0**-26 + 2.0**-40
        s = rounding.weighted_sum(p, k, 0.0)
        units = [int(v * 2.0**60) for v in p]
        for y in range(0, m, 1 + m // 400):
            truth = sum(map(mul, units, (int(v * 2.0**60) for v in k[:, y])))
            value = exact(s.hi[y], s.lo[y], s.exponent[y])
            assert abs(F(truth, 2**120) / value - 1) <= F(float(s.error[y])) <= F(34, 2**53)
    # each block adds numbers to 1 that are lost, one by one or four at a time
    k = np.full((48, rounding.LARGE // 40), 0.22 * 2.0**-53)
    k[:: rounding.CHAIN] = 1.0
    s = rounding.weighted_sum(np.ones(48), k, 0.0)
    truth = 2 + 46 * F(float(k[1, 0]))
    for y in range(0, k.shape[1], 100):
        off = abs(truth / exact(s.hi[y], s.lo[y], s.exponent[y]) - 1)
        assert F(4, 2**53) < off <= F(float(s.error[y])) <= F(27, 2**53)


def loose(x):
    """How far a subnormal float may be from the number it was rounded from."""
    return TINY / 2 if 0 < x < 2.0**-1022 else F(0)


def ratio_cases(n=6_000):
    rng = np.random.default_rng(5)
    num = floats(rng, n, -322, 0)
    den = floats(rng, n, -322, 0)
    close = rng.random(n) < 0.4
    den = np.where(close & (num > 1e-290), num * near_one(rng, n), den)
    errors = rng.choice([0.0, 2.0**-53, 4e-16, 1e-9, 0.3, 0.75], (2, n))
    return num, den, errors


def check_ratio_bounds():
    num, den, errors = ratio_cases()
    found = rounding.ratio_bounds(rounding.scaled(num, errors[0]), rounding.scaled(den, errors[1]))
    assert not np.isnan(found.lower).any() and not np.isnan(found.upper).any()
    for a, b, e, f, low, high in zip(num, den, *errors, *found, strict=True):
        ratio = F(float(a)) / F(float(b))
        least, most = ratio * (1 - F(e)) / (1 + F(f)), ratio * (1 + F(e)) / (1 - F(f))
        assert F(float(low)) <= least, (a, b, e, f)
        assert math.isinf(high) or most <= F(float(high)), (a, b, e, f)
        if e == f == 0 and 1e-290 < ratio < F(10) ** 290:
            assert o.width_in_ulps(float(low), float(high), ratio) <= 2, (a, b)


def check_log_ratio_bounds():
    num, den, errors = ratio_cases()
    found = rounding.log_ratio_bounds(
        rounding.scaled(num, errors[0]), rounding.scaled(den, errors[1])
    )
    for a, b, e, f, low, high in zip(num, den, *errors, *found, strict=True):
        ratio = F(float(a)) / F(float(b))
        least, most = ratio * (1 - F(e)) / (1 + F(f)), ratio * (1 + F(e)) / (1 - F(f))
        assert holds(low, lambda r=least: o.log(r), high), (a, b, e, f)
        assert holds(low, lambda r=most: o.log(r), high), (a, b, e, f)


def check_bounds(n=5_000):
    rng = np.random.default_rng(10)
    hi = rng.uniform(0.25, 3.99, n)
    lo = hi * rng.uniform(-1, 1, n) * 2.0**-53
    error = rng.choice([0.0, 1e-16, 1e-3, 0.5, 1.0], n)
    exponent = np.where(rng.random(n) < 0.6, 0, rng.integers(-1080, 1022, n))
    found = rounding.bounds(rounding.Scaled(hi, lo, exponent, error))
    for row in zip(hi, lo, exponent, error, *found, strict=True):
        value, off, (low, high) = exact(*row[:3]), F(float(row[3])), row[4:]
        assert F(float(low)) <= value * (1 - off), row
        assert high == math.inf or value * (1 + off) <= F(float(high)), row
        if not off and row[2] > -1000:
            assert high <= np.nextafter(np.nextafter(low, np.inf), np.inf), row


def check_log_scaled(n=15_000):
    rng = np.random.default_rng(6)
    den = np.where(rng.random(n) < 0.3, 1.0, rng.uniform(0.25, 3.99, n))
    near = den * np.where(rng.random(n) < 0.8, 1.0, math.sqrt(2)) * near_one(rng, n)
    pair = np.where(rng.random(n) < 0.5, near, rng.uniform(0.25, 3.99, n)), den
    lows = [hi * rng.uniform(-1, 1, n) * 2.0**-53 for hi in pair]
    powers = [np.where(rng.random(n) < 0.6, 0, rng.integers(-2100, 2100, n)) for _ in pair]
    pair = [rounding.Scaled(*parts, np.zeros(n)) for parts in zip(pair, lows, powers, strict=True)]
    a, b, error = rounding.log_scaled(*pair)
    for row in zip(*pair[0][:3], *pair[1][:3], a, b, error, strict=True):
        ratio, value = exact(*row[:3]) / exact(*row[3:6]), exact(row[6], row[7])
        with o.precision(400):
            off = abs(o.log(ratio) - o.ball(value))
            assert off <= o.ball(float(row[8])), row


def check_sum_outward(count=400):
    rng = np.random.default_rng(7)
    for i in range(count):
        n = int(rng.integers(1, 60))
        low = floats(rng, n, -30 if i % 2 else -320, 0, signed=True)
        high = low + np.abs(low) * rng.choice([0.0, 1e-16, 0.5])
        a, b = rounding.sum_outward(low, high)
        below, above = (sum(map(F, map(float, v)), F(0)) for v in (low, high))
        assert F(float(a)) <= below and above <= F(float(b)), (low, high)
        size = sum(map(abs, map(F, map(float, low))), F(0))
        assert below - F(float(a)) <= abs(below) * F(1, 2**51) + size * F(1, 2**90) + TINY
    low, high = np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([[1.0, np.inf], [1.0, 2.0]])
    a, b = rounding.sum_outward(low, high)
    assert (a <= 3).all() and (a >= 3 - 1e-15).all() and b[0] == np.inf and 3 <= b[1] < 3 + 1e-15


def check_fractions(count=4_000):
    rng = np.random.default_rng(8)
    for i in range(count):
        a, b = (int(v) for v in rng.integers(1, 2**62, 2))
        value = [
            F(a, b),
            F(a, 10 ** int(rng.integers(0, 600))),
            F(a * 10**400, b),
            1 + F(a, 2**62 * 10 ** int(rng.integers(0, 80))),
        ][i % 4]
        for sign in (1, -1):
            low, high = rounding.fraction_down(sign * value), rounding.fraction_up(sign * value)
            assert low == -math.inf or F(low) <= sign * value
            assert high == math.inf or F(high) >= sign * value
            assert high <= math.nextafter(low, math.inf)
        low, high = rounding.log_fraction(value)
        assert holds(low, lambda v=value: o.log(v), high), value
        with o.precision(1000):
            size = float(abs(o.log(value)).mid())
        assert o.width_in_ulps(low, high, size) <= 2, value


CHECKS = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}


@pytest.mark.few(2)
@pytest.mark.cases("slow", "weighted_sum")
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_outward(check):
    check()


def test_log_of_one_is_exactly_zero():
    assert rounding.log_fraction(F(1)) == (0.0, 0.0)


def test_arb_ends_are_outward():
    rng = np.random.default_rng(9)
    for x in rng.uniform(1, 200, 500):
        for bits in (30, 80, 128):
            with arithmetic.precision(bits):
                low, high = arithmetic.ends(arithmetic.ball(float(x)).lgamma())
            assert holds(low, lambda x=x: o.ball(float(x)).lgamma(), high)
        low, high = arithmetic.enclose(lambda x=x: arithmetic.ball(float(x)).lgamma(), bits=80)
        assert holds(low, lambda x=x: o.ball(float(x)).lgamma(), high)
        assert high <= math.nextafter(low, math.inf)


# -- broken on purpose ---------------------------------------------------------------------------


def plain_sum(a, b):
    return a + b, np.zeros_like(a * 1.0)


def plain_product(a, b):
    return a * b, np.zeros_like(a * 1.0)


def nearest(hi, lo):
    return hi + lo


def naive_weighted_sum(p, k, error):
    return rounding.scaled(p @ k, error)


BROKEN = {
    "two_sum without its error": ("two_sum", plain_sum, "two_sum"),
    "two_prod without its error": ("two_prod", plain_product, "two_prod"),
    "floor to nearest": ("floor_sum", nearest, "floor_and_ceil"),
    "ceil to nearest": ("ceil_sum", nearest, "floor_and_ceil"),
    "ratios: floor for ceil": ("ceil_sum", rounding.floor_sum, "ratio_bounds"),
    "ratios: ceil for floor": ("floor_sum", rounding.ceil_sum, "ratio_bounds"),
    "logs: floor for ceil": ("ceil_sum", rounding.floor_sum, "log_ratio_bounds"),
    "logs: nearest": ("floor_sum", nearest, "log_ratio_bounds"),
    "ln 2 to 22 bits": ("_LN2_LO", 0.0, "log_scaled"),
    "a short series": ("_LOG_TERMS", rounding._LOG_TERMS[4:], "log_scaled"),
    "no widening": ("_LOG_ERRORS", (0.0, 2.0**-71, 0.0), "log_scaled"),
    "ends to nearest": ("ceil_sum", nearest, "bounds"),
    "quotients without two_prod": ("two_prod", plain_product, "ratio_bounds"),
    "a plain weighted sum": ("weighted_sum", naive_weighted_sum, "weighted_sum"),
    "a weighted sum that claims no rounding": ("U", 0.0, "weighted_sum"),
    "blocks that claim no rounding": ("U", 0.0, "weighted_sum_of_a_large_matrix"),
    "subnormals taken as exact": ("_subnormal_share", lambda p, k, *_: 0.0, "weighted_sum"),
    "a plain sum": ("_sum_dd", lambda terms, rounded: terms.sum(axis=0), "sum_outward"),
    "down to nearest": ("fraction_down", rounding._to_float, "fractions"),
    "up to nearest": ("fraction_up", rounding._to_float, "fractions"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_version_is_caught(what, monkeypatch):
    name, broken, check = BROKEN[what]
    monkeypatch.setattr(rounding, name, broken)
    with pytest.raises(AssertionError):
        CHECKS[check]()
