"""What is no law is refused, however small the part of the alphabet that shows it.

Every mass here is known by hand: a spike of height 1/w on a width w adds 1, a kernel that is 7 has
mass 7, P(Poisson(1) = 0) = e^-1, the sum of 3 / (pi n)^2 is 1/2.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

import borel as bl
from borel.numerics.graphs.branch_points import MOST, branch_points
from borel.numerics.graphs.trace import trace

UNIT, LINE, COUNTS = bl.Interval(0, 1), bl.Reals(), bl.Integers(0, None)
FLAT = bl.uniform(UNIT)


def measure(density, on=UNIT, **more):
    return bl.Measure(density, on=on, **more)


def kernel(density, secret=UNIT, outcome=UNIT, **more):
    return bl.Mechanism(density, secret=secret, outcome=outcome, **more)


def tilted():
    return kernel(lambda y, x: 1 + (2 * y - 1) * x)


def leak(prior=FLAT, mechanism=None):
    return bl.pml(prior * (mechanism or tilted()))(0.25)


def near(x, width, at=0.3):
    return abs(x - at) < width


# what is done; what the message must hold, in order; each is refused where it is made
MADE = {
    "a prior of mass 2 with a spike": (
        lambda: measure(lambda x: 1 + np.where(near(x, 1e-9), 5e8, 0.0)),
        ["integrates to 1", "got about 2", "normalise it"],
    ),
    "a spike in a square": (
        lambda: measure(lambda x: 1 + np.where((x - 0.3) ** 2 < 1e-18, 5e8, 0.0)),
        ["got about 2"],
    ),
    "a spike in a log-density": (
        lambda: measure(lambda x: np.log1p(np.where(near(x, 1e-9), 5e8, 0.0)), log=True),
        ["got about 2"],
    ),
    "a prior that is negative on a sliver": (
        lambda: measure(lambda x: np.where(near(x, 1e-8), -1.0, 1.0)),
        [">= 0", "got -1.0", "at x = 0.29999999"],
    ),
    "a prior that is NaN on a sliver": (
        lambda: measure(lambda x: np.where(near(x, 1e-8), np.nan, 1.0)),
        ["got nan", "at x = 0.29999999"],
    ),
    "a prior with atoms and a spike": (
        lambda: measure(
            lambda x: 0.5 + np.where(near(x, 1e-9), 5e8, 0.0),
            bl.Mixed(UNIT, atoms=[0]),
            masses={0: 0.5},
        ),
        ["got about 2"],
    ),
    "a kernel of mass 7 on some secrets": (
        lambda: kernel(lambda y, x: np.where(near(x, 1e-4), 7.0, 1.0) + 0 * y),
        ["for every x", "got about 7", "at x = 0.2999", "normalise it in y"],
    ),
    "a kernel of mass 7 on some pairs of secrets": (
        lambda: kernel(
            lambda y, x: np.where(near(x[0], 1e-4), 7.0, 1.0) + 0 * y + 0 * x[1], UNIT * UNIT
        ),
        ["got about 7", "at x = (0.2999"],
    ),
    "a kernel that is negative on some secrets": (
        lambda: kernel(lambda y, x: np.where(near(x, 1e-8), 1 + 3 * (2 * y - 1), 1.0)),
        [">= 0", "got -", "x = 0.29999999"],
    ),
    "a kernel with a spike at an outcome": (
        lambda: kernel(lambda y, x: 1 + np.where(near(y, 1e-9), 5e8, 0.0) + 0 * x),
        ["got about 1.9999999", "at x = "],
    ),
    "a kernel with a spike at the secret": (
        lambda: kernel(
            lambda y, x: 1 + np.where(near(y, 1e-9, x), 5e8, 0.0), bl.Interval(0.2, 0.8)
        ),
        ["got about 1.9999999", "at x = "],
    ),
    "noise that has more mass far out": (
        lambda: kernel(
            lambda y, x: np.exp(-abs(y - x)) / 2 * (1 + 0.1 * (abs(x) > 50)), LINE, LINE
        ),
        ["got about 1.1", "at x = -"],
    ),
    "an atom of an outcome that is heavy on some secrets": (
        lambda: kernel(
            lambda y, x: 0.5 + 0 * y + 0 * x,
            outcome=bl.Mixed(UNIT, atoms=[0]),
            masses={0: lambda x: np.where(near(x, 1e-4), 0.9, 0.5)},
        ),
        ["got about 1.4", "at x = 0.2999"],
    ),
    "rows of two outcomes": (
        lambda: kernel(
            lambda y, x: np.where(near(x, 1e-6), 0.6, 0.5) + 0 * y, outcome=bl.Finite(2)
        ),
        ["got about 1.2", "at x = 0.299999"],
    ),
    "the last of many labels": (
        lambda: kernel(lambda y, x: np.where(x == 39, 2.0, 1.0) + 0 * y, bl.Finite(40)),
        ["got about 2", "at x = 39"],
    ),
    "one count of many": (
        lambda: kernel(lambda y, x: np.where(x == 4711, 2.0, 1.0) + 0 * y, COUNTS),
        ["got about 2", "at x = 4711"],
    ),
    "counts of mass 1/10": (
        lambda: kernel(
            lambda y, x: 0.1 * np.where(x == 0, 0.5 ** (y + 1), 2 / 3 * (1 / 3) ** y),
            bl.Finite(2),
            COUNTS,
        ),
        ["got about 0.1", "at x = 0", "holds all of its mass"],
    ),
    "heavy counts of mass 1/2": (
        lambda: kernel(lambda y, x: 3 / np.pi**2 / (y + 1) ** 2 + 0 * x, UNIT, COUNTS),
        ["got about 0.49992"],
    ),
    "counts on both sides of mass 1/2": (
        lambda: kernel(
            lambda y, x: np.tanh(0.005) / 2 * np.exp(-0.01 * abs(y)) + 0 * x, UNIT, bl.Integers()
        ),
        ["got about 0.49999"],
    ),
    "Poisson counts from 1, many secrets": (
        lambda: bl.Mechanism.from_scipy(
            lambda x: stats.poisson(x + 1), secret=COUNTS, outcome=bl.Integers(1, None)
        ),
        ["got about 0.6321205588", "at x = 0", "holds all of its mass"],
    ),
    "Poisson counts from 1, few secrets": (
        lambda: bl.Mechanism.from_scipy(
            lambda x: stats.poisson(x + 1), secret=bl.Finite(3), outcome=bl.Integers(1, None)
        ),
        ["got about 0.6321205588", "at x = 0"],
    ),
    "a density on integers": (
        lambda: bl.Mechanism.from_scipy(
            lambda x: stats.norm(x, 1), secret=bl.Finite(3), outcome=bl.Integers()
        ),
        ["Mechanism.from_scipy", "a law with probabilities", "one with a density", "bl.Reals()"],
    ),
    "counts on a line": (
        lambda: bl.Mechanism.from_scipy(
            lambda x: stats.poisson(x + 1), secret=bl.Finite(3), outcome=LINE
        ),
        ["a law with a density", "one with probabilities", "bl.Integers(0, None)"],
    ),
    "a prior with a density on integers": (
        lambda: bl.from_scipy(stats.norm(), on=bl.Integers()),
        ["from_scipy", "a law with probabilities", "one with a density"],
    ),
    "a declared tail that is false": (
        lambda: measure(lambda k: 3 / np.pi**2 / (k + 1) ** 2, COUNTS, tail=lambda n: 1 / (n + 1)),
        ["a tail of at least 0.500", "got 0.00024", "at n = 4095", "P(X > n)"],
    ),
}


@pytest.mark.parametrize("case", MADE)
def test_refused_where_it_is_made(case):
    make, parts = MADE[case]
    with pytest.raises(bl.InvalidInput) as caught:
        make()
    message = str(caught.value)
    places = [message.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), message


# what no probe of the constructor sees is refused where a figure needs the proof
NEEDED = {
    "a prior of mass 1 + 5e-7": (
        lambda: leak(measure(lambda x: 1 + 5e-7 + 0 * x)),
        ["integrates to 1", "rounding of floats", "miss 1 by 5e-07", "renormalised silently"],
    ),
    "a prior of mass 1 + 9e-7": (
        lambda: leak(measure(lambda x: 1 + 9e-7 + 0 * x)),
        ["miss 1 by 9e-07"],
    ),
    "a prior of mass 1 - 1e-9": (
        lambda: leak(measure(lambda x: 1 - 1e-9 + 0 * x)),
        ["miss 1 by 1e-09"],
    ),
    "a prior with atoms": (
        lambda: leak(
            measure(lambda x: 0.5 + 0 * x, bl.Mixed(UNIT, atoms=[0]), masses={0: 0.5 + 1e-8})
        ),
        ["miss 1 by 1e-08"],
    ),
    "a spike that no branch point shows": (
        lambda: leak(measure(lambda x: 1 + np.where(np.sin(10 * x) > 1 - 1e-9, 5e4, 0.0))),
        ["proved to miss 1 by"],
    ),
    "negative values that no branch point shows": (
        lambda: leak(measure(lambda x: np.where(np.sin(10 * x) > 1 - 1e-9, -1.0, 1.0))),
        [">= 0", "less than -1, proved", "x in [0."],
    ),
    "NaN that no branch point shows": (
        lambda: leak(measure(lambda x: np.where(np.sin(10 * x) > 1 - 1e-9, np.nan, 1.0))),
        ["got nan", "x in [0."],
    ),
    "a kernel whose mass grows with the secret": (
        lambda: leak(mechanism=kernel(lambda y, x: 1 + 1e-7 * x + 0 * y)),
        ["proved to miss 1 by", "at x = 0."],
    ),
    "noise of mass 1 + 1e-8": (
        lambda: leak(
            mechanism=kernel(lambda y, x: np.exp(-abs(y - x)) / 2 * (1 + 1e-8), UNIT, LINE)
        ),
        ["miss 1 by 1e-08", "at every x"],
    ),
    "few secrets": (
        lambda: leak(bl.pmf([0.5, 0.5]), kernel(lambda y, x: 1 + 1e-8 * x + 0 * y, bl.Finite(2))),
        ["miss 1 by 1e-08", "at x = 1"],
    ),
    "two outcomes": (
        lambda: bl.pml(FLAT * kernel(lambda y, x: 0.5 + 1e-8 * x + 0 * y, outcome=bl.Finite(2)))(1),
        ["miss 1 by", "at x = 0."],
    ),
    "an atom of the outcome": (
        lambda: leak(
            mechanism=kernel(
                lambda y, x: 0.5 + 0 * y + 0 * x,
                outcome=bl.Mixed(UNIT, atoms=[0]),
                masses={0: lambda x: 0.5 + 1e-8 * x},
            )
        ),
        ["miss 1 by", "at x = 0."],
    ),
    "a kernel that is negative where no branch point shows it": (
        lambda: leak(
            mechanism=kernel(
                lambda y, x: np.where(np.sin(10 * x) > 1 - 1e-9, 1 + 3 * (2 * y - 1), 1.0)
            )
        ),
        [">= 0", "less than -", "y in [0, ", "x in [0."],
    ),
}


@pytest.mark.few(10)
@pytest.mark.parametrize("case", NEEDED)
def test_refused_where_it_is_needed(case):
    make, parts = NEEDED[case]
    with pytest.raises(bl.InvalidInput) as caught:
        make()
    message = str(caught.value)
    places = [message.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), message


# laws that the checks must leave alone, and what is known of their mass then
LAWS = {
    "a spike that is all there is": (
        lambda: measure(lambda x: np.where(near(x, 2.0**-28, 0.25), 2.0**27, 0.0)),
        None,
    ),
    "the rounding of floats": (lambda: measure(lambda x: 1 + 2e-14 + 0 * x), None),
    "heavy counts": (
        lambda: kernel(lambda y, x: 6 / np.pi**2 / (y + 1) ** 2 + 0 * x, UNIT, COUNTS),
        "declared",
    ),
    "heavy counts with their tail": (
        lambda: measure(lambda k: 6 / np.pi**2 / (k + 1) ** 2, COUNTS, tail=lambda n: 1 / (n + 1)),
        None,
    ),
    "every third count": (
        lambda: kernel(
            lambda y, x: np.where(y % 3 == 0, 0.5 ** (y / 3 + 1), 0.0) + 0 * x, UNIT, COUNTS
        ),
        "checked",
    ),
    "every third count, slowly": (
        lambda: kernel(
            lambda y, x: np.where(y % 3 == 0, 1e-4 * 0.9999 ** (y / 3), 0.0) + 0 * x, UNIT, COUNTS
        ),
        "declared",
    ),
    "counts far beyond the head": (
        lambda: kernel(
            lambda y, x: y * np.log(x) - x - gammaln(y + 1),
            bl.Interval(1e5, 1e6),
            COUNTS,
            log=True,
        ),
        "declared",
    ),
    "opaque counts far beyond the head": (
        lambda: bl.Mechanism.from_scipy(
            lambda x: stats.poisson(x), secret=bl.Interval(1e5, 1e6), outcome=COUNTS
        ),
        "declared",
    ),
    "two heaps, one far out": (
        lambda: kernel(
            lambda y, x: np.logaddexp(
                np.log(0.1) + (y + 1) * np.log(0.5),
                np.log(0.9) + y * np.log(1e5) - 1e5 - gammaln(y + 1) + 0 * x,
            ),
            UNIT,
            COUNTS,
            log=True,
        ),
        "declared",
    ),
    "two heaps, one narrow beside a far branch point": (  # sum of e^-|k|: 1 / tanh(1 / 2)
        lambda: kernel(
            lambda y, x: (
                0.25 * 0.5 ** np.minimum(y, 2000.0)
                + 0.5 * np.tanh(0.5) * np.exp(-abs(y - 1e5))
                + 0 * x
            ),
            UNIT,
            COUNTS,
        ),
        "declared",
    ),
    "a Zipf law with hardly a mean of log y": (
        lambda: bl.Mechanism.from_scipy(
            lambda x: stats.zipf(1.05 + x), secret=bl.Finite(3), outcome=bl.Integers(1, None)
        ),
        "declared",
    ),
}


@pytest.mark.parametrize("case", LAWS)
def test_laws_are_left_alone(case):
    make, known = LAWS[case]
    made = make()
    assert known is None or str(made.normalisation).startswith((known, "proved: SciPy's"))


def test_a_mass_that_is_not_settled_is_an_assumption():
    # the sum of 1 / (n log(n)^2) from 2 on, which no slope of a logarithm bounds
    heavier = kernel(
        lambda y, x: 1 / (y + 2) / np.log(y + 2) ** 2 / 2.109742801236892 + 0 * x,
        bl.Finite(2),
        COUNTS,
    )
    heavy = kernel(lambda y, x: 6 / np.pi**2 / (y + 1) ** 2 + 0 * x, bl.Finite(2), COUNTS)
    for mechanism, word in ((heavier, "declared"), (heavy, "proved within")):
        found = bl.pml(bl.pmf([0.5, 0.5]) * mechanism)(1)
        assert found.status == "conditional" and found.lower <= 0 <= found.upper
        assert any(word in note for note in found.assumptions)


def test_a_prior_that_was_never_checked_does_not_say_so():
    prior = measure(lambda x: 8 * x[0] * x[1] * x[2], UNIT * UNIT * UNIT)
    mean = kernel(lambda y, x: 1 + (2 * y - 1) * (x[0] + x[1] + x[2]) / 3, UNIT * UNIT * UNIT)
    with bl.options(budget=1):
        found = bl.pml(prior * mean)(0.75)
    assert "prior normalised: declared" in found.assumptions


@pytest.mark.parametrize(
    ("function", "points"),
    [
        (lambda x: np.where(abs(x - 0.5) < 0.25, 1.0, 0.0), [0.25, 0.5, 0.75]),
        (lambda x: np.where((x > 0.125) & (x < 0.5), 1.0, 0.0), [0.125, 0.5]),
        (lambda x: np.where((x - 0.5) ** 2 <= 0.0625, 1.0, 0.0), [0.25, 0.75]),
        (lambda x: np.maximum(x, 1 - x), [0.5]),
        (lambda x: np.where(np.exp(-2 * x) > 0.25, 1.0, 0.0), [math.log(2)]),
        (lambda x: np.where(1 / x < 4, 1.0, 0.0), [0.25]),
        (lambda x: np.where(np.sqrt(abs(2 * x)) < 0.5, 1.0, 0.0), [-0.125, 0.0, 0.125]),
        (lambda x: np.where(np.sin(x) > 0.5, 1.0, 0.0), []),
        (lambda x: np.exp(-x), []),
    ],
)
def test_branch_points(function, points):
    found = branch_points(trace(function, ("x",), ()), "x")
    np.testing.assert_allclose(found, points, atol=1e-15)


def test_branch_points_are_few():
    def function(x):
        for k in range(500):
            x = np.where(x > k / 500, x, x + 1e-9)
        return x

    def nested(x):
        for k in range(60):
            x = abs(abs(x) - 0.5**k)
        return np.where(x < 0.1, 1.0, 0.0)

    for one in (function, nested):
        assert len(branch_points(trace(one, ("x",), ()), "x")) <= MOST


def test_branch_points_in_y_at_a_secret():
    graph = trace(lambda y, x: np.where(abs(y - x) < 1, 0.5, 0.0), ("y", "x"), ())
    assert branch_points(graph, "y").size == 0
    np.testing.assert_allclose(branch_points(graph, "y", x=3.0), [2.0, 3.0, 4.0])


def _noise(secret):
    return bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=secret, outcome=bl.Reals())


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.1, 0.4)])
def test_a_law_that_is_restricted_integrates_to_one(low, high):
    """Of a Laplace law on (a, b), 0 <= a: f_Y(y) = (b - a) e^-y / (2 (e^-a - e^-b)), y >= b."""
    law = bl.laplace().restrict(lambda x: (x > low) & (x < high))
    found = bl.pml(law * _noise(bl.Reals()))(4.0)
    truth = mp.log(mp.exp(high) * (mp.exp(-low) - mp.exp(-high)) / (high - low))
    assert found.status == "certified"
    assert found.lower <= truth <= found.upper


def test_restricted_laws_are_components_of_mixtures():
    """Of 3/10 of U(0, 2/5) and 7/10 of U(0, 1): P{X <= 2/5} = 29/50, and f_Y(1) by hand."""
    unit = bl.Interval(0, 1)
    short = bl.uniform(unit).restrict(lambda x: x < 0.4)
    law = bl.mixture([short, bl.uniform(unit)], weights=[0.3, 0.7])
    found = bl.pml(law * _noise(unit))(1.0)
    of_y = mp.mpf("0.3") / mp.mpf("0.4") * mp.expm1(mp.mpf("0.4")) + mp.mpf("0.7") * mp.expm1(1)
    assert found.lower <= mp.log(mp.e / of_y) <= found.upper
    assert found.width < 1e-8
