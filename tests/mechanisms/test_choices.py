"""Private choices: tables against their definitions, in Fractions, by integrals, by enumeration."""

import itertools
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import borel as bl

exponential, flip, noisy_max = (
    bl.mechanisms.exponential,
    bl.mechanisms.permute_and_flip,
    bl.mechanisms.noisy_max,
)
QUALITY = [[0, 1, 2, 1], [2, 0, 1, 0], [1, 1, 1, 1]]  # it changes by 2 at most
FLOATS = [[0.3, -1.25, 0.3], [2.0, 0.0, 0.75], [1.0, 1.0, 1.0]]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def by_weights(row, r, twice):
    weights = [r ** (q / twice) for q in row]
    return [w / sum(weights) for w in weights]


def by_orders(row, r, twice):
    """Permute and flip as it is told: all orders, one candidate after the other."""
    w = [r ** ((q - max(row)) / twice) for q in row]
    out = [0 * w[0]] * len(row)
    for order in itertools.permutations(range(len(row))):
        left = w[0] / w[0]
        for y in order:
            out[y] += left * w[y] / math.factorial(len(row))
            left *= 1 - w[y]
    return out


def by_integral(row, epsilon, twice, density, cdf):
    """P{candidate y has the largest sum of score and noise}."""
    scores = [epsilon * mp.mpf(q) / twice for q in row]
    cuts = [min(scores) - 60, *sorted({*scores}), max(scores) + 60]
    cuts = [c + d for c in cuts for d in ((0,) if c in (cuts[0], cuts[-1]) else (0, 3))]
    return [
        mp.quad(
            lambda z, y=y: (
                density(z - scores[y])
                * mp.fprod(cdf(z - s) for v, s in enumerate(scores) if v != y)
            ),
            sorted(cuts),
        )
        for y in range(len(row))
    ]


LAPLACE = (
    lambda z: mp.exp(-abs(z)) / 2,
    lambda z: mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2,
)


def powers(r, t):
    """R^t for a square r = s^2 and a half integer t, in Fractions."""
    return F(math.isqrt(r)) ** int(2 * t)


@pytest.mark.parametrize("r", [1, 4, 9, 400])
def test_tables_of_fractions(r):
    for row, weights, flips in zip(
        QUALITY,
        exponential(quality=QUALITY, ratio=r, sensitivity=1).matrix.tolist(),
        flip(quality=QUALITY, ratio=r, sensitivity=1).matrix.tolist(),
        strict=True,
    ):
        total = sum(powers(r, F(q, 2)) for q in row)
        assert weights == [powers(r, F(q, 2)) / total for q in row]
        w = [powers(r, F(q - max(row), 2)) for q in row]
        truth = [F(0)] * len(w)
        for order in itertools.permutations(range(len(w))):
            left = F(1, math.factorial(len(w)))
            for y in order:
                truth[y] += left * w[y]
                left *= 1 - w[y]
        assert flips == truth


def close(mech, truth):
    """Whether every entry is within the rounding that the mechanism states."""
    return all(
        abs(mp.mpf(float(value)) / t - 1) <= mech.rounding + mp.mpf("1e-25")
        for value, t in zip(mech.matrix.ravel(), itertools.chain(*truth), strict=True)
    )


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.7, 30.0])
def test_tables_of_floats(epsilon):
    twice, r = mp.mpf(4), mp.exp(mp.mpf(epsilon))
    for mech in (
        exponential(quality=FLOATS, epsilon=epsilon, sensitivity=2),
        noisy_max(quality=FLOATS, epsilon=epsilon, sensitivity=2, noise="gumbel"),
    ):
        assert close(mech, [by_weights(list(map(mp.mpf, row)), r, twice) for row in FLOATS])
    for mech in (
        flip(quality=FLOATS, epsilon=epsilon, sensitivity=2),
        noisy_max(quality=FLOATS, epsilon=epsilon, sensitivity=2, noise="exponential"),
    ):
        assert close(mech, [by_orders(list(map(mp.mpf, row)), r, twice) for row in FLOATS])
        assert mech.rounding < 1e-15


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 6.0])
def test_the_largest_of_laplace_sums(epsilon):
    mech = noisy_max(quality=FLOATS, epsilon=epsilon, sensitivity=2)
    assert mech.rounding < 1e-15
    assert close(mech, [by_integral(row, epsilon, 4, *LAPLACE) for row in FLOATS])


def test_the_largest_of_other_sums_is_what_the_theorems_say():
    """Exponential noise is permute and flip, Gumbel noise the exponential mechanism."""
    one = (lambda z: mp.exp(-z) * (z >= 0), lambda z: -mp.expm1(-z) if z > 0 else mp.mpf(0))
    gumbel = (lambda z: mp.exp(-z - mp.exp(-z)), lambda z: mp.exp(-mp.exp(-z)))
    row = FLOATS[1]
    for noise, (density, cdf) in (("exponential", one), ("gumbel", gumbel)):
        mech = noisy_max(quality=FLOATS, epsilon=3.0, sensitivity=2, noise=noise)
        truth = by_integral(row, 3.0, 4, density, cdf)
        assert [float(t) for t in truth] == pytest.approx(mech.matrix[1].tolist(), abs=1e-12)


@pytest.mark.few(2)
@pytest.mark.parametrize("make", [exponential, flip, noisy_max])
def test_no_level_exceeds_epsilon_and_leakage_is_that_of_the_table(make):
    mech = make(quality=FLOATS, epsilon=0.7)  # the sensitivity is that of all pairs
    joint = bl.pmf([0.5, 0.25, 0.25]) * mech
    assert bl.ldp(joint).upper <= 0.7
    with mp.workdps(30):
        table = {
            exponential: lambda row: by_weights(
                list(map(mp.mpf, row)), mp.exp(mp.mpf(0.7)), mp.mpf(4.5)
            ),
            flip: lambda row: by_orders(list(map(mp.mpf, row)), mp.exp(mp.mpf(0.7)), mp.mpf(4.5)),
            noisy_max: lambda row: by_integral(row, mp.mpf(0.7), mp.mpf(4.5), *LAPLACE),
        }[make]
        rows = [table(row) for row in FLOATS]
        columns = [*zip(*rows, strict=True)]
        means = [sum(p * f for p, f in zip((0.5, 0.25, 0.25), c, strict=True)) for c in columns]
        top = max(mp.log(max(c) / m) for c, m in zip(columns, means, strict=True))
    assert bl.pml(joint).sup().lower <= top <= bl.pml(joint).sup().upper
    bl.testing.check_mechanism(mech, bl.uniform(mech.secret))


def test_the_default_sensitivity_is_that_of_any_two_secrets():
    found = exponential(quality=QUALITY, ratio=16)
    assert (
        found.matrix.tolist()
        == exponential(quality=QUALITY, ratio=16, sensitivity=2).matrix.tolist()
    )
    assert found.matrix[0].tolist() == [F(w, 9) for w in (1, 2, 4, 2)]


def test_tables_bring_their_labels():
    rows, columns = ["low", "high"], ["x", "y", "z"]
    table = [[0, 1, 2], [2, 1, 0]]
    frame = pd.DataFrame(table, index=rows, columns=columns)
    array = xr.DataArray(
        np.transpose(table), {"outcome": columns, "secret": rows}, ("outcome", "secret")
    )
    for quality in (frame, array):
        mech = exponential(quality=quality, ratio=16)
        assert mech.secret.labels == ("low", "high") and mech.outcome.labels == ("x", "y", "z")
        assert mech.pdf("z", "low") == F(4, 7)
    of = {"low": [0, 1, 2], "high": [2, 1, 0]}
    mech = exponential(
        quality=lambda y, x: of[x]["xyz".index(y)], ratio=16, secret=rows, outcome=columns
    )
    assert mech.pdf("z", "low") == F(4, 7)


def test_a_density_is_divided_by_its_integral():
    unit = bl.Interval(0, 1)
    mech = exponential(
        quality=lambda y, x: -((y - x) ** 2),
        epsilon=2.0,
        sensitivity=0.5,
        secret=unit,
        outcome=unit,
    )
    for x, y in ((0.0, 1.0), (0.3, 0.3), (0.75, 0.1)):
        weight = lambda v, x=x: mp.exp(-2 * (v - mp.mpf(x)) ** 2)  # noqa: E731
        assert float(weight(y) / mp.quad(weight, [0, 1])) == pytest.approx(
            mech.pdf(y, x), rel=1e-12
        )


def test_a_finite_secret_may_have_an_interval_of_outcomes():
    mech = exponential(
        quality=lambda y, x: x * y,
        epsilon=2.0,
        sensitivity=1,
        secret=bl.Finite([0, 1]),
        outcome=bl.Interval(0, 1),
    )
    found = bl.pml(
        bl.uniform(mech.secret) * mech
    ).sup()  # at y = 0 or 1: densities 1, e^y / (e - 1)
    truth = max(2 / (1 + mp.exp(y) / (mp.e - 1)) * max(1, mp.exp(y) / (mp.e - 1)) for y in (0, 1))
    assert found.lower <= mp.log(truth) <= found.upper and found.status == "certified"


def test_arrays_of_levels_make_a_family():
    levels = xr.DataArray([0.5, 1.0], dims="level")
    found = bl.ldp(bl.uniform(bl.Finite(2)) * flip(quality=[[0, 1], [1, 0]], epsilon=levels))
    truth = [2 * math.exp(e / 2) - 1 for e in (0.5, 1.0)]  # (1 - w/2) / (w/2), w = e^(-epsilon/2)
    assert np.exp(found["upper"].values) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exponential(quality=[[1, 2], [1, 2]], epsilon=1.0), "the same for all secrets"),
        (lambda: exponential(quality=[[1, 2]], epsilon=1.0, sensitivity=0), "sensitivity > 0"),
        (lambda: exponential(quality=[[1, math.nan]], epsilon=1.0), "got nan"),
        (lambda: exponential(quality=[[1, math.inf]], epsilon=1.0), "finite numbers, got inf"),
        (lambda: exponential(quality=[1, 2], epsilon=1.0), "a table of qualities"),
        (lambda: exponential(quality=[[1, "a"]], epsilon=1.0), "qualities that are finite numbers"),
        (lambda: exponential(quality=QUALITY, ratio=3), "root is a Fraction"),
        (lambda: exponential(quality=QUALITY, epsilon=1.0, secret=["a"]), "of 3 labels"),
        (lambda: exponential(quality=QUALITY, epsilon=4000.0), "float64 can hold"),
        (lambda: flip(quality=QUALITY), "permute_and_flip: expected epsilon"),
        (lambda: flip(quality=lambda y, x: x, epsilon=1.0), "secret and outcome, for a function"),
        (lambda: noisy_max(quality=QUALITY, epsilon=1.0, noise="normal"), "noise = laplace or"),
        (lambda: noisy_max(quality=QUALITY, ratio=3), "epsilon=... for Laplace noise"),
        (
            lambda: exponential(
                quality=lambda y, x: x, epsilon=1.0, secret=bl.Interval(0, 1), outcome=bl.Finite(2)
            ),
            "sensitivity=..., for a function",
        ),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(bl.InvalidInput) as caught:
        call()
    assert message in str(caught.value)
