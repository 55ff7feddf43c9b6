"""Certificates of envelopes of a finite secret: they hold the truth, and what is false is refused.

For two equally likely secrets the best post-processing is known: outcomes beyond c tell of one
secret, those on the other side of the other, by the lemma of Neyman and Pearson.
"""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

import borel as bl

REALS, UNIT = bl.Reals(), bl.Interval(0, 1)

BIT, X = bl.Finite([0.0, 1.0]), bl.Finite([0.0, 1.0, 3.0])

KERNELS = {
    "laplace": lambda y, x: np.exp(-abs(y - x)) / 2,
    "normal": lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
}


def tail(kernel, c, x):
    """P(Y > c | x), for c beyond the middle of 0 and 1."""
    if kernel == "normal":
        return mp.erfc((mp.mpf(c) - x) / mp.sqrt(2)) / 2
    c = mp.mpf(c)
    return mp.exp(x - c) / 2 if c >= x else 1 - mp.exp(c - x) / 2


def pair(kernel, of, c):
    """The level and the mass of the bad outcomes y > c and y < 1 - c."""
    one, other = tail(kernel, c, 1), tail(kernel, c, 0)
    mass = one + other
    return mp.log(2 * one / mass if of == "pml" else mass / (2 * other)), mass


def joint(kernel, secret=BIT, masses=(0.5, 0.5)):
    mechanism = bl.Mechanism(KERNELS[kernel], secret=secret, outcome=REALS)
    return bl.pmf(list(masses), on=secret) * mechanism


CASES = [(k, of, c) for k in KERNELS for of in ("pml", "pmc") for c in (0.625, 0.9375)]


@pytest.mark.few(1)
@pytest.mark.cases("slow", "laplace-pmc-0.9375")
@pytest.mark.cases("truths", "normal-pml-0.625", "normal-pmc-0.625")
@pytest.mark.parametrize(("kernel", "of", "c"), CASES)
def test_the_level_of_a_mass(kernel, of, c):
    with mp.workdps(40):
        level, mass = pair(kernel, of, c)
        delta = float(mass)
        # the level of the float: the mass falls with c
        exact = mp.findroot(lambda v: pair(kernel, of, v)[1] - mp.mpf(delta), c)
        level = pair(kernel, of, exact)[0]
    bound = bl.envelope(joint(kernel), of=of)(delta)
    assert bound.lower <= level <= bound.upper


@pytest.mark.truths
@pytest.mark.parametrize(("kernel", "of", "c"), CASES)
def test_the_mass_at_a_level(kernel, of, c):
    with mp.workdps(40):
        t = float(pair(kernel, of, c)[0])
        exact = mp.findroot(lambda v: pair(kernel, of, v)[0] - mp.mpf(t), c)
        mass = pair(kernel, of, exact)[1]
    bound = bl.envelope(joint(kernel), of=of).delta(t)
    assert bound.lower <= mass <= bound.upper and bound.width < 1e-6


EDGES = 0.0, 0.125, 0.25, 0.5, 0.75, 1.0

ROWS = (  # masses of the cells, in sixteenths
    (2, 2, 4, 4, 4),
    (8, 2, 2, 2, 2),
    (1, 3, 8, 2, 2),
)

WEIGHTS = F(1, 8), F(3, 8), F(1, 2)


def steps(y, x):
    rows = []
    for row in ROWS:
        height = row[-1] / 16 / (EDGES[-1] - EDGES[-2]) + 0 * y
        for k in (3, 2, 1, 0):
            height = np.where(y < EDGES[k + 1], row[k] / 16 / (EDGES[k + 1] - EDGES[k]), height)
        rows.append(height)
    return np.where(x < 0.5, rows[0], np.where(x < 2, rows[1], rows[2]))


@pytest.mark.few(1)
@pytest.mark.cases(
    "slow", "delta0-pml", "delta3-pmc", "delta1-pml", "delta0-pmc", "delta3-pml", "delta2-pmc"
)
@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("delta", [F(1, 20), F(1, 5), F(1, 2), F(9, 10)])
def test_densities_that_are_steps_are_a_finite_mechanism(of, delta):
    prior = bl.pmf(list(WEIGHTS), on=X)
    on_line = prior * bl.Mechanism(steps, secret=X, outcome=UNIT, breaks=EDGES[1:-1])
    rows = [[F(v, 16) for v in row] for row in ROWS]
    exact = bl.envelope(prior * bl.Mechanism.from_matrix(rows, secret=X), of=of)(delta)
    bound = bl.envelope(on_line, of=of)(delta)
    assert bound.lower <= exact.lower <= exact.upper <= bound.upper and bound.width < 1e-8


@pytest.mark.slow
@pytest.mark.cases("truths", "laplace-pml", "normal-pml", "normal-pmc")
@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_three_secrets_are_as_sharp_as_two(kernel, of):
    """No closed form: both ends are proved from prices and shares."""
    bound = bl.envelope(joint(kernel, X, (0.2, 0.3, 0.5)), of=of)(F(1, 5))
    assert bound.proved and bound.width < 1e-9
    if of == "pml":  # an event is a post-processing
        event = bl.event_maximal_leakage(joint(kernel, X, (0.2, 0.3, 0.5)), delta=F(1, 5))
        assert bound.upper >= event.lower


def test_atoms_of_the_outcome_have_shares_of_their_own():
    """Laplace noise that is clipped to the unit interval."""
    mechanism = bl.mechanisms.laplace(b=1.0, secret=BIT).clip(0, 1)
    envelope = bl.envelope(bl.pmf([0.5, 0.5], on=BIT) * mechanism)
    with mp.workdps(40):  # clipped, the tails beyond 0 and 1 have one ratio each as before
        mass = tail("laplace", 1, 1) + tail("laplace", 1, 0)
        top = float(mp.log(2 * tail("laplace", 1, 1) / mass)) - 1e-6
    bound = envelope.delta(top)
    assert bound.upper >= float(mass)  # that of the ends alone


def up(y, x):
    return np.where(x > 0.5, 0.5 + y, 1.5 - y)


@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_one_secret_alone_tells_nothing(of):
    mechanism = bl.Mechanism(up, secret=BIT, outcome=UNIT)
    envelope = bl.envelope(bl.pmf([1.0, 0.0], on=BIT) * mechanism, of=of)
    assert envelope(F(1, 5)) == envelope(1) == bl.Bound.exact(0.0, 0.0)
    masses = {-math.inf: 1, -1.0: 1, -1e-320: 1, 0.0: 1, 1e-320: 0, 1.0: 0, math.inf: 0}
    for t, mass in masses.items():
        found = envelope.delta(t)
        assert found.lower == found.upper == mass and found.status == "exact"
    assert envelope.delta(0.0, closed=False).upper == 0 == envelope.delta(ratio=2).upper


@pytest.mark.cases("slow", "3-0.1")
@pytest.mark.cases("truths", "3-0.01", "5-0.05", "8-0.05", "16-0.1")
@pytest.mark.parametrize(("count", "delta"), [(3, 0.1), (3, 0.01), (5, 0.05), (8, 0.05), (16, 0.1)])
def test_equally_likely_secrets_of_which_the_first_and_the_last_are_told(count, delta):
    """Gaussian noise: outcomes below -c tell of the first secret, those above of the last one.

    That is a post-processing; prices, at which the secrets between them are not worth telling, show
    that no other one has more.
    """
    places = [mp.mpf(k) if count < 8 else mp.mpf(k) * 4 / count for k in range(count)]
    secret = bl.Finite([float(x) for x in places])
    bound = bl.envelope(bl.uniform(secret) * bl.mechanisms.gaussian(sigma=1.0, secret=secret))(
        delta
    )
    with mp.workdps(40):
        law = lambda c: sum(mp.ncdf(c - x) for x in places) / count  # noqa: E731
        c = mp.findroot(lambda c: 2 * law(c) - mp.mpf(delta), -1)
        truth = mp.log(mp.ncdf(c) / law(c))
        assert bound.lower <= truth <= bound.upper and bound.width < 1e-6
        # the price at which the mass vanishes at c, for all secrets or for less
        theta = mp.exp(truth)
        ratio = lambda x, y: mp.npdf(y - x) * count / sum(mp.npdf(y - z) for z in places)  # noqa: E731
        price = -1 / (ratio(0, c) - theta)
        worth = lambda y: 1 + price * (ratio(0, y) - theta)  # noqa: E731
        others = [c + (places[-1] / 2 - c) * mp.mpf(k) / 40 for k in range(41)]
        for x in places[1:-1]:
            # some price of it leaves nothing to tell where nothing is told, and less where it is
            least = max([0, *(1 / (theta - ratio(x, y)) for y in others if ratio(x, y) < theta)])
            below = [c - mp.mpf(k) / 4 for k in range(40)]
            assert all(ratio(x, y) < theta for y in others)
            assert all(1 + least * (ratio(x, y) - theta) <= worth(y) + 1e-9 for y in below)


def test_what_is_cut_from_an_outcome_that_is_used_up_stays_cut():
    """Just above the level at which all outcomes can be bad, a mass of 1 is too much."""
    p = [F(2035210404057539, 4637294997453245), F(2602084593395706, 4637294997453245)]
    K = [
        [
            F(8689272654066817, 27310457095889692),
            F(666949686765174, 6827614273972423),
            F(8813314523196535, 27310457095889692),
            F(1785017792891411, 6827614273972423),
        ],
        [
            F(332039146669075, 2939694767205912),
            F(6591777618550589, 20577863370441384),
            F(378428063508709, 1143214631691188),
            F(9399431360563, 39879580175274),
        ],
    ]
    env = bl.envelope(bl.pmf(p) * bl.Mechanism.from_matrix(K))
    # by a simplex in Fractions, at 60 digits of e^t: 1 - 9.383536526699e-15
    t, truth = 0.20550128063927137, 1 - F(9383536526699, 10**27)
    found = env.delta(t)
    assert F(found.lower) <= truth <= F(found.upper) and found.width < 1e-12
