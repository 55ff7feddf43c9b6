"""Differential and free-lunch privacy of noise on statistics and of densities on D**n."""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl

D = bl.Finite(2)


def encloses(bound, truth, width=1e-12):
    assert bound.lower <= truth <= bound.upper
    assert bound.width <= width


@pytest.mark.parametrize(
    ("entries", "ends"),
    [
        (bl.Interval(-1, 2.5), (-1.0, 2.5)),
        (bl.Finite([0.1, 0.7, 0.3]), (0.1, 0.7)),
        (bl.Finite([F(1, 3), F(-1, 7), 0]), (F(-1, 7), F(1, 3))),
    ],
)
@pytest.mark.parametrize("of", ["mean", "sum"])
def test_noise_on_a_mean(entries, ends, of):
    n, b = 7, 0.3
    reach = (F(ends[1]) - F(ends[0])) / ((n if of == "mean" else 1) * F(b))
    mean = bl.mechanisms.laplace_mean(n=n, b=b, of=of)
    with mp.workdps(40):
        encloses(
            bl.differential_privacy(mean, entries=entries),
            mp.mpf(reach.numerator) / reach.denominator,
        )
        whole = n * reach
        encloses(
            bl.free_lunch_privacy(mean, entries=entries),
            mp.mpf(whole.numerator) / whole.denominator,
        )
    gauss = bl.mechanisms.gaussian_mean(n=n, sigma=b, of=of)
    assert bl.differential_privacy(gauss, entries=entries).lower == math.inf
    assert bl.free_lunch_privacy(gauss, entries=entries).lower == math.inf
    assert bl.differential_privacy(gauss, entries=bl.Finite([3])).upper == 0


def test_one_entry_under_priors_near_points_reaches_the_level():
    """Theorem 4.2(3), from below: i.i.d. entries of probability 1 - 1e-9 at an end."""
    mean = bl.mechanisms.laplace_mean(n=4, b=0.25)
    near = bl.pmf([F(1, 10**9), 1 - F(1, 10**9)], on=D)
    leak = bl.pml(bl.entry(bl.iid(near, 4) * mean)).sup()
    level = bl.differential_privacy(mean, entries=D)
    assert leak.lower <= level.upper == 1 < leak.upper + 1e-7


def test_noise_on_a_number_of_ones():
    counts = bl.Integers(0, 40)
    alpha = F(9, 10)
    with mp.workdps(40):
        rate = -mp.log(mp.mpf(9) / 10)
        geometric = bl.mechanisms.geometric(alpha=alpha, secret=counts)
        encloses(bl.differential_privacy(geometric, entries=D), rate)
        encloses(bl.free_lunch_privacy(geometric), 40 * rate, 1e-11)
    laplace = bl.mechanisms.laplace(b=2.0, secret=counts)
    encloses(bl.differential_privacy(laplace, entries=D), 0.5)
    gauss = bl.mechanisms.gaussian(sigma=2.0, secret=bl.Integers(0, 3))
    assert bl.differential_privacy(gauss, entries=D).lower == math.inf
    rows = [[F(k + 1, 6), 1 - F(k + 1, 6)] for k in range(4)]
    table = bl.Mechanism.from_matrix(rows, secret=bl.Integers(0, 3))
    found = bl.differential_privacy(table, entries=D)
    assert found.ratio.lower == found.ratio.upper == 2  # from 1/6 to 2/6
    assert bl.free_lunch_privacy(table).ratio.lower == 4


@pytest.mark.cases("slow", "False")
@pytest.mark.parametrize("log", [True, False])
def test_densities_on_databases(log):
    def weighted(y, x):
        value = -abs(y - x[0] - 2 * x[1]) / 2
        return value - np.log(4) if log else np.exp(value) / 4

    laplace = bl.Mechanism(weighted, secret=D**2, outcome=bl.Reals(), log=log)
    encloses(bl.differential_privacy(laplace), 1, 1e-7)
    encloses(bl.free_lunch_privacy(laplace), 1.5, 1e-7)
    assert bl.differential_privacy(laplace).status == "certified"


@pytest.mark.slow
def test_gaussian_densities_on_databases():
    gauss = bl.Mechanism(
        lambda y, x: np.exp(-((y - x[0] - x[1]) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=D**2,
        outcome=bl.Reals(),
    )
    for level in (bl.differential_privacy(gauss), bl.free_lunch_privacy(gauss)):
        assert level.lower == math.inf and level.status == "certified"


def test_a_density_that_ignores_one_entry():
    ignores = bl.Mechanism(lambda y, x: np.exp(-abs(y - x[0])) / 2, secret=D**2, outcome=bl.Reals())
    encloses(bl.differential_privacy(ignores), 1, 1e-7)
    encloses(bl.free_lunch_privacy(ignores), 1, 1e-7)


def test_what_is_refused():
    mean = bl.mechanisms.laplace_mean(n=3, b=1.0)
    for entries in (None, bl.Reals(), bl.Finite(["a", "b"]), 2, bl.Finite(2) ** 2):
        for level in (bl.differential_privacy, bl.free_lunch_privacy):
            with pytest.raises(bl.InvalidInput, match="entries="):
                level(mean, entries=entries)
    noise = bl.mechanisms.laplace(b=1.0, secret=bl.Integers(0, 3))
    with pytest.raises(bl.InvalidInput, match=r"entries=bl.Finite\(2\)"):
        bl.differential_privacy(noise)
    for entries in (bl.Finite(3), bl.Interval(0, 1)):
        with pytest.raises(bl.InvalidInput, match="number of ones"):
            bl.differential_privacy(noise, entries=entries)
    with pytest.raises(bl.InvalidInput, match="number of ones"):
        bl.differential_privacy(bl.mechanisms.laplace(b=1.0), entries=D)
    query = bl.mechanisms.counting_query(n=3, b=1.0)
    with pytest.raises(bl.InvalidInput, match="no entries="):
        bl.differential_privacy(query, entries=D)
    with pytest.raises(bl.NotYet, match="slices"):
        bl.differential_privacy(
            bl.Mechanism(lambda y, x: np.exp(-abs(y - sum(x))) / 2, secret=D**7, outcome=bl.Reals())
        )
