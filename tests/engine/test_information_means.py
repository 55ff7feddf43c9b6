"""Mutual information of a secret with a density, by integrals of the entropy of the kernel.

The truths are closed forms, or h(Y) - h(Y|X) with h(Y) integrated by mpmath.
"""

import mpmath as mp
import numpy as np
import pytest

import borel as bl
from borel.engine.kernels.information_on_boxes import Entropy
from borel.engine.kernels.unbounded_secrets import middle
from borel.engine.problem.secret_and_kernel import Secret, boxes, secret_of
from borel.numerics.graphs.trace import trace
from borel.numerics.jets import arithmetic

UNIT, REALS = bl.Interval(0, 1), bl.Reals()


def box(y, x):
    return np.where((y >= x) & (y <= x + 1), 1.0, 0.0)


def normal(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def entropy(density, *ends):
    """Return the differential entropy of a density, by mpmath."""

    def at(y):
        u = density(y)
        return -u * mp.log(u) if u > 0 else mp.mpf(0)

    return mp.quad(at, ends)


CASES = {
    "a box that moves": (bl.uniform(UNIT), box, bl.Interval(0, 2), lambda: mp.mpf(1) / 2),
    # f_Y fades inside the alphabet, where no PML is bounded
    "a part of the secrets": (
        bl.uniform(UNIT).restrict(lambda x: (x > 0.25) & (x < 0.75)),
        box,
        bl.Interval(0, 2),
        lambda: mp.mpf(1) / 4,
    ),
    "a secret without a bound": (bl.normal(mu=0, sigma=1), normal, REALS, lambda: mp.log(2) / 2),
    # the kernel is larger, and above its bound, where there is no secret
    "no prior where the kernel is large": (
        bl.Measure(lambda x: np.where(x < 0.5, 2.0, 0.0), on=UNIT),
        lambda y, x: np.where(x < 0.5, 2 * y, 5 * y**4),
        UNIT,
        lambda: mp.mpf(0),
    ),
    # an atom at 0 beside a density: no noise is smooth at its ends
    "an atom beside a density": (
        bl.Measure(lambda x: 0.5 + 0 * x, on=bl.Mixed(UNIT, atoms=[0.0]), masses={0.0: 0.5}),
        normal,
        REALS,
        lambda: (
            entropy(lambda y: (mp.npdf(y) + mp.ncdf(y) - mp.ncdf(y - 1)) / 2, -12, -3, 0, 1, 3, 13)
            - mp.log(2 * mp.pi * mp.e) / 2
        ),
    ),
}


@pytest.mark.cases("truths", "a secret*", "an atom*")
@pytest.mark.parametrize("name", CASES)
def test_it_encloses_the_truth_narrowly(name):
    prior, kernel, outcome, truth = CASES[name]
    joint = prior * bl.Mechanism(kernel, secret=prior.on, outcome=outcome)
    with mp.workdps(25):
        found, value = bl.mutual_information(joint), truth()
        assert found.status in ("certified", "conditional")
        assert found.lower <= value <= found.upper
    assert found.width <= 1e-7


NOISES = {
    "laplace": (
        lambda on: bl.mechanisms.laplace(b=0.5, secret=on),
        # outside of the secrets, on both sides; then between them
        lambda: (
            2 * entropy(lambda y: mp.exp(-2 * y) * (1 - mp.exp(-2)) / 2, 0, 1, 4, 16, 40)
            + entropy(lambda y: 1 - (mp.exp(-2 * y) + mp.exp(2 * y - 2)) / 2, 0, 1)
            - 1
        ),
    ),
    "gaussian": (
        lambda on: bl.mechanisms.gaussian(sigma=1, secret=on),
        lambda: (
            entropy(lambda y: mp.ncdf(y) - mp.ncdf(y - 1), -14, -4, 0, 1, 5, 9)
            - mp.log(2 * mp.pi * mp.e) / 2
        ),
    ),
}


@pytest.mark.parametrize("start", [-40, 1000])
@pytest.mark.parametrize("name", NOISES)
def test_it_is_as_narrow_wherever_the_secrets_lie(name, start):
    noise, truth = NOISES[name]
    secrets = bl.Interval(start, start + 1)
    with mp.workdps(30):
        found, value = bl.mutual_information(bl.uniform(secrets) * noise(secrets)), truth()
        assert found.status == "certified"
        assert found.lower <= value <= found.upper
    assert found.width <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("mu", [-40, 1000])
def test_it_is_as_narrow_wherever_an_unbounded_secret_lies(mu):
    joint = bl.normal(mu=mu, sigma=1) * bl.mechanisms.gaussian(sigma=1, secret=REALS)
    found = bl.mutual_information(joint)
    with mp.workdps(30):
        assert found.lower <= mp.log(2) / 2 <= found.upper
    assert found.width <= 1e-8


@pytest.mark.truths
def test_a_head_of_secrets_is_no_bound_of_the_entropy_of_the_others():
    secret = bl.Integers(0, None)
    joint = bl.poisson(mu=3) * bl.Mechanism(normal, secret=secret, outcome=REALS)
    with mp.workdps(20):
        weights = [mp.exp(-3) * mp.mpf(3) ** k / mp.factorial(k) for k in range(40)]

        def density(y):
            return sum(w * mp.npdf(y - k) for k, w in enumerate(weights))

        value = entropy(density, -12, -4, 0, 2, 4, 8, 16, 30) - mp.log(2 * mp.pi * mp.e) / 2
        found = bl.mutual_information(joint)
        assert found.lower <= value <= found.upper


def test_the_entropy_at_a_point_takes_the_branch_of_its_box():
    graph = trace(lambda y, x: -2 * np.where(y > 0.5, 0.5, 1.0), ("y", "x"), ())
    program = Entropy(graph, frozenset("y"), far=False)
    zero, half = np.zeros((1, 1)), np.full((1, 1), 0.5)
    shift = zero[None, :, 0], zero[None, :, 0]
    y = arithmetic.variable(half[0], half[0] + 0.5, 1)
    x = boxes(zero, half, 0, 1)[0]
    around = program.run({"x": x, "y": y, "shift": shift}, 1)
    point = arithmetic.constant(half[0], half[0])
    at = {"x": point, "y": point, "shift": shift}
    low, high = arithmetic.entry(program.run(at, 1, decisions=around.decisions).jet, 0)
    assert np.isfinite([low, high]).all()
    assert low <= np.exp(-1) <= high


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        (bl.normal(mu=0, sigma=1), 0.0),
        (bl.normal(mu=-40, sigma=1), -40.0),
        (bl.Measure(lambda x: np.exp(-np.abs(x - 7)) / 2, on=REALS), 7.0),
        (bl.Measure(lambda x: np.exp(3 - x), on=bl.Interval(3, None)), 3.0),
    ],
    ids=["normal", "far from 0", "written", "a half-line"],
)
def test_half_lines_of_secrets_are_cut_from_their_middle(prior, expected):
    assert middle(secret_of(prior, ())) == expected


def test_no_middle_is_sought_of_many_priors():
    line = Secret(("x",), np.array([-np.inf]), np.array([np.inf]))
    assert middle(line) == 0.0
