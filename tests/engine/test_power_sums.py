"""Sums of t^e (log t)^j hold their values for every t, however many terms they have."""

import math

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx, fmpq

from borel.numerics.balls.power_sums import (
    FUNCTIONS,
    ORDER,
    PowerSum,
    Z,
    from_ends,
    log_of,
    moment,
    power_sum,
    run,
)
from borel.numerics.graphs.trace import trace

BITS = 128


def at(found, t):
    """Return a ball: what a sum says that it is at t."""
    t = arb(t)
    return sum((b * t ** arb(fmpq(e)) * t.log() ** j for (e, j), b in found.terms.items()), Z)


def value(terms, t):
    """Return the sum at t, of the middles of the balls, by mpmath."""
    return sum(
        mp.mpf(str(b.mid().str(40, radius=False))) * t ** mp.mpf(str(e)) * mp.log(t) ** j
        for (e, j), b in terms.items()
    )


def enclosure(found, t):
    with ctx.workprec(200):
        ball = at(found, t)
        return [mp.mpf(end.str(40, radius=False)) for end in (ball.lower(), ball.upper())]


def misses(seed):
    """Return where a random sum with many terms, and its square, are not within what is said."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(ORDER + 1, 3 * ORDER))
    keys = {(int(e), int(j)) for e, j in zip(*rng.integers(0, [[9], [4]], (2, count)), strict=True)}
    terms = {key: arb(float(v)) for key, v in zip(keys, rng.normal(size=len(keys)), strict=True)}
    if seed % 3 == 0:
        terms = {(fmpq(e, 2), j): b for (e, j), b in terms.items()}
    with ctx.workprec(BITS):
        found = PowerSum(dict(terms))
        square = found * found
    assert len(found.terms) <= max(ORDER, len({j for _, j in keys}) + ORDER)
    assert all(b.is_finite() for b in found.terms.values())
    missed = []
    for t in (1.0, 0.75, 0.25, 1e-3, 1e-9):
        with mp.workdps(40):
            truth = value(terms, mp.mpf(t))
            slack = mp.mpf(10) ** -30 * (1 + abs(truth))
            for one, true in ((found, truth), (square, truth**2)):
                low, high = enclosure(one, t)
                room = slack * (1 + abs(truth))
                missed += [] if low - room <= true <= high + room else [(t, true)]
    return missed


@pytest.mark.parametrize("seed", range(40))
def test_a_remainder_holds_what_it_stands_for(seed):
    assert not misses(seed)


def test_a_remainder_that_is_forgotten_is_seen(monkeypatch):
    monkeypatch.setattr(PowerSum, "fold", lambda self, a=None: (a or 0, Z, Z))
    assert any(misses(seed) for seed in range(6))


@pytest.mark.parametrize("name", ["lgamma", "atan", "sin", "cos", "gamma", "erf", "erfc"])
def test_functions_hold_at_every_t(name):
    rng = np.random.default_rng(5)
    with ctx.workprec(BITS):
        for _ in range(10):
            c, d, e = rng.uniform(1, 3), *rng.uniform(-0.08, 0.08, 2)
            power = int(rng.choice([1, 2]))
            made = PowerSum({(0, 0): arb(c), (power, 0): arb(d), (fmpq(5, 2), 0): arb(e)})
            found, widths = made.call(name), []
            for t in (1.0, 0.5, 0.125, 2.0**-20):
                u = arb(c) + arb(d) * arb(t) ** power + arb(e) * arb(t) ** arb(2.5)
                truth, ball = getattr(u, name)(), at(found, t)
                assert ball.lower() <= truth.upper() and truth.lower() <= ball.upper()
                widths.append(float(ball.rad()))
            assert widths[2] < 1e-2 and widths[3] < 1e-20


@pytest.mark.parametrize(
    ("terms", "signs"),
    [
        ({(0, 0): arb(0), (1, 0): arb(2)}, (1,)),
        ({(0, 0): arb(-1), (1, 0): arb(-1)}, (-1,)),
        ({(1, 0): arb(1), (2, 0): arb(0)}, (1,)),
    ],
)
def test_sums_of_powers_of_one_sign(terms, signs):
    assert PowerSum(terms).signs() == signs


def test_signs_that_are_not_known():
    near = arb(0).union(arb(1))
    assert set(PowerSum({(1, 0): near}).signs()) >= {0, 1}
    assert len(PowerSum({(0, 0): arb(1), (1, 0): arb(-2)}).signs()) > 1
    # log t is not positive
    assert PowerSum({(1, 1): arb(1)}).signs() != (1,)


def test_a_function_of_an_infinity_is_not_known():
    for name in ("sin", "cos", "atan"):
        unbounded = PowerSum({(-1, 0): arb(1)}).call(name)  # a number for each t
        low, high = unbounded.bounds()
        assert -2 < low and high < 2
        infinite = PowerSum({(0, 0): arb.pos_inf()}).call(name)
        assert not all(b.is_finite() for b in infinite.terms.values())


def test_zero_times_what_is_not_known_is_not_known():
    for unknown in (arb("nan"), arb("inf"), -arb("inf")):
        for one in (PowerSum({(0, 0): unknown}), PowerSum({(1, 0): unknown})):
            for product in (one * 0, one * power_sum(0), power_sum(0) * one):
                assert not all(b.is_finite() for b in product.terms.values())
    assert not (PowerSum({(1, 1): arb(2)}) * 0).terms
    assert not FUNCTIONS["xlogy"](power_sum(0), power_sum(0)).terms  # a Poisson rate of 0
    assert FUNCTIONS["xlogy"](power_sum(0), power_sum(arb("nan"))).terms


def test_binom_is_that_of_numbers():
    for n, k in ((5, 0), (5, 2), (7, 7), (2.5, 1.25)):
        with ctx.workprec(BITS), mp.workdps(30):
            low, high = FUNCTIONS["binom"](power_sum(n), power_sum(k)).bounds()
            truth = arb(str(mp.binomial(n, k)), 1e-25)
            assert low <= truth.upper() and truth.lower() <= high and high - low < 1e-20
    for n, k in ((2, 4), (2, -1)):  # there it is 0, by a limit that gamma functions do not give
        with pytest.raises(ValueError, match="binom"):
            FUNCTIONS["binom"](power_sum(n), power_sum(k))


@pytest.mark.parametrize("u", [-6.0, -1.25, 0.0, 0.5, 3.0])
def test_the_normal_distribution_function(u):
    with ctx.workprec(BITS), mp.workdps(30):
        truth = mp.ncdf(mp.mpf(u))
        low, high = FUNCTIONS["ndtr"](power_sum(u)).bounds()
        assert abs(float(low) - truth) <= 1e-15 * truth and high - low < 1e-30


@pytest.mark.parametrize(
    "density",
    [
        lambda t: np.exp(-3 * t) * (1 + t**2),
        lambda t: np.log1p(t) / (2 + t),
        lambda t: np.where(t < 0.4, np.sqrt(1 + t), 2 - t),
        lambda t: np.logaddexp(t, -2 * t) - np.abs(t - 0.25),
        lambda t: np.maximum(t, 1 - t) ** 1.5,
        lambda t: np.sin(5 * t) + np.cos(t) * np.arctan(t),
        lambda t: t**0.5 * np.exp(-t),
    ],
)
def test_a_density_is_enclosed_at_every_t(density):
    graph = trace(density, ("x",), ())
    known = 0
    for a, b in ((0.0, 1.0), (0.125, 0.25), (0.5, 0.53125)):
        for k, x in enumerate(from_ends(a, b)):
            found = run((graph, False), False, x, None)
            low, high = (float(end) for end in found.bounds())
            if math.isnan(low):  # not known: nothing is said
                continue
            known += 1
            t = np.linspace(0.001, 1, 50)
            x = a + (b - a) * t if k == 0 else b + (a - b) * t
            for point, u in zip(density(x), t, strict=True):
                assert low - 1e-12 <= point <= high + 1e-12
                ball = at(found, u)
                assert float(ball.lower()) - 1e-12 <= point <= float(ball.upper()) + 1e-12
    assert known >= 2


def test_a_half_line_is_seen_from_infinity():
    """On (1, inf), x = 1 / t: e^-x (1 + x^2), its logarithm, and 1 / (1 + x)."""
    [x] = from_ends(1.0, math.inf)
    for density, log in (
        (lambda x: np.exp(-x) * (1 + x**2), False),
        (lambda x: 1 / (1 + x), False),
        (lambda x: np.exp(-x) / (2 + x), True),
    ):
        graph = trace(density, ("x",), ())
        with ctx.workprec(BITS):
            found = (log_of if log else run)((graph, False), *(() if log else (False,)), x, None)
            for t in (1.0, 0.5, 0.125, 2.0**-6):
                exact = density(1 / t)
                ball = at(found, t)
                truth = math.log(exact) if log else exact
                room = 1e-13 * max(1.0, abs(truth))
                assert float(ball.lower()) - room <= truth <= float(ball.upper()) + room


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("j", [0, 1, 2])
def test_moments(k, j):
    with mp.workdps(30):
        truth = mp.quad(lambda t: t ** (k - 1) * mp.log(t) ** j, [0, 0.01, 1])
        assert abs(float(moment(k, j)) - truth) < 1e-12


def test_a_broken_rule_is_seen(monkeypatch):
    """Of log (a + w) the logarithm of a is left out, or the sign of a power of w is wrong."""
    made = PowerSum({(0, 0): arb(2), (1, 0): arb(0.5)})
    truth = arb(2.25).log()
    assert at(made.log(), 0.5).overlaps(truth)
    monkeypatch.setattr(
        PowerSum, "taylor", lambda self, factors, last: PowerSum({(0, 0): factors[0]})
    )
    assert not at(made.log(), 0.5).overlaps(truth)
