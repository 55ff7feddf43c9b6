"""Tubes around the most revealing secret: against values in 50 digits, with no tolerance."""

import time

import mpmath
import numpy as np
import pytest

import borel as bl
from borel.density import Density
from borel.engine.continuous import bands, tubes
from borel.engine.continuous.surface import Surface, secret_of

MP = mpmath.mp.clone()
MP.dps = 50
UNIT, LONG = bl.Interval(0, 1), bl.Interval(0.5, 4)
# alphabets, the kernel (of any mass), log f in mpmath, outcomes whose extreme moves, top or bottom
CASES = {
    "Clayton": (
        (UNIT, UNIT, lambda y, x: 0.125 + 0.875 * 2 * x * y / (x + y - x * y) ** 3),
        lambda y, x: MP.log((1 + 14 * x * y / (x + y - x * y) ** 3) / 8),
        (0.01, 0.2, 0.4),
        1.0,
    ),
    "Clayton in logarithms": (
        (
            UNIT,
            UNIT,
            lambda y, x: np.exp(np.logaddexp(0.0, np.log(14 * x * y) - 3 * np.log(x + y - x * y))),
        ),
        lambda y, x: MP.log(1 + 14 * x * y / (x + y - x * y) ** 3),
        (0.01, 0.2, 0.4),
        1.0,
    ),
    "a bent mean": (
        (LONG, bl.Reals(), lambda y, x: np.exp(-((y - x**2 / 2) ** 2) / 2)),
        lambda y, x: -((y - x**2 / 2) ** 2) / 2,
        (0.5, 1.0, 5.0),
        1.0,
    ),
    "waiting": (
        (LONG, bl.Interval(0, None), lambda y, x: x * np.exp(-x * y)),
        lambda y, x: MP.log(x) - x * y,
        (0.3, 0.5, 1.5),
        1.0,
    ),
    "a valley": (
        (UNIT, UNIT, lambda y, x: 1 + (x - 0.25 - y / 2) ** 2 + (x - 0.5) ** 4 * y),
        lambda y, x: MP.log(1 + (x - MP.mpf(1) / 4 - y / 2) ** 2 + (x - MP.mpf(1) / 2) ** 4 * y),
        (0.125, 0.25, 0.75),
        -1.0,
    ),
}


def surface(name):
    secret, outcome, f = CASES[name][0]
    return Surface(Density(f, {"y": outcome, "x": secret}), secret_of(bl.uniform(secret), ()))


def found(name, width):
    """Return tubes on boxes of a relative width."""
    _, _, middles, sign = CASES[name]
    kernel, c = surface(name), np.array(middles)
    low, high = c - c * width, c + c * width
    centre, half = bands._geometry(low, high)
    at = centre, centre
    seen = bands.extremes(kernel, at, len(c), sign=sign, tol=1e-9, deadline=time.monotonic() + 60)
    return (low, high, centre), tubes.tubes(kernel, low, high, centre, half, seen.place[:, 0], sign)


def violations(name, width):
    """Return by how much L(y, x) exceeds L(y, p(y)) and the excess, where it does."""
    (low, high, centre), tube = found(name, width)
    _, log, middles, sign = CASES[name]
    rng, out = np.random.default_rng(7), []
    known = np.flatnonzero(np.isfinite(tube.excess))
    assert len(known) == len(middles) or (width > 1e-2 and len(known) > 0)
    for k in known:
        x0, v, excess = (MP.mpf(float(u[k])) for u in (tube.place, tube.speed, tube.excess))
        ys = [low[k], high[k], *rng.uniform(low[k], high[k], 20)]
        for y in map(float, ys):
            on_path = x0 + v * (MP.mpf(y) - MP.mpf(float(centre[k])))
            level = sign * log(MP.mpf(y), on_path)
            # near the true extreme, where it is closest, and anywhere in the tube
            near = float(on_path) + rng.normal(size=20) * float(high[k] - low[k]) ** 2
            for x in np.clip([*near, *rng.uniform(tube.low[k], tube.high[k], 20)],
                             tube.low[k], tube.high[k]):  # fmt: skip
                over = sign * log(MP.mpf(y), MP.mpf(float(x))) - level - excess
                if over > 0:
                    out.append(over)
    return out


@pytest.mark.parametrize("width", [3e-2, 1e-2, 1e-3])
@pytest.mark.parametrize("name", CASES)
def test_no_secret_of_a_tube_exceeds_its_path_by_more(name, width):
    assert not violations(name, width)


@pytest.mark.parametrize("name", CASES)
def test_the_excess_is_of_fourth_order(name):
    wide, narrow = found(name, 4e-3)[1].excess, found(name, 1e-3)[1].excess
    assert (narrow < wide / 128).all() and (wide < 1e-8).all()


def test_the_path_follows_the_mode():
    """Of Clayton's copula with theta = 1 the mode is at x = y / (2 (1 - y)) for y < 2/3."""
    (_, _, y), tube = found("Clayton", 1e-2)
    assert np.abs(tube.place - y / (2 * (1 - y))).max() < 1e-12
    assert np.abs(tube.speed * 2 * (1 - y) ** 2 - 1).max() < 1e-5


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "broken",
    [
        ("_curved", lambda right: lambda *a: right(*a) / 64),
        ("_hollow", lambda right: lambda *a: right(*a) * 4096),
        ("_mixed", lambda right: lambda *a: tuple(v * 0.5 for v in right(*a))),
    ],
    ids=lambda pair: pair[0],
)
def test_a_broken_bound_is_caught(name, broken, monkeypatch):
    """The extreme bends: a path with less excess than it takes is exceeded."""
    attribute, change = broken
    monkeypatch.setattr(tubes, attribute, change(getattr(tubes, attribute)))
    assert violations(name, 1e-2)


def followed(f, y, place, secret=UNIT, outcome=UNIT):
    kernel = Surface(Density(f, {"y": outcome, "x": secret}), secret_of(bl.uniform(secret), ()))
    low, high = np.array([y - 1e-3]), np.array([y + 1e-3])
    return tubes.tubes(kernel, low, high, *bands._geometry(low, high), np.array([place]), 1.0)


@pytest.mark.parametrize(
    ("f", "place"),
    [
        (lambda y, x: np.exp(-abs(y - x)), 0.5),  # a kink
        (lambda y, x: np.where(x < y, 1 + x, 2 - x), 0.5),  # a jump
        (lambda y, x: 1 + x * y, 1.0),  # the end
        (lambda y, x: np.exp((x - y) ** 2), 0.5),  # a valley is no top
        (lambda y, x: 1 + 0 * x * y, 0.5),  # level
    ],
)
def test_there_is_no_tube_without_a_smooth_top(f, place):
    tube = followed(f, 0.5, place)
    assert np.isinf(tube.excess).all() and tube.speed[0] == 0 and tube.low[0] > tube.high[0]


def test_a_kink_beside_the_top_is_left_out():
    """The tube ends before the kink, behind which the kernel is larger."""
    tube = followed(lambda y, x: 2 - (x - y) ** 2 + np.maximum(x - y - 0.125, 0) * 9, 0.5, 0.5)
    assert tube.high[0] < 0.625 - 1e-3 and np.isfinite(tube.excess[0])
