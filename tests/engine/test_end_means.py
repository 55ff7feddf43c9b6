"""Means of kernels that are singular at an end of the outcomes."""

import math

import mpmath
import numpy as np
import pytest
from engine.certified_cases import kernel

import borel as bl
from borel.engine import engine_for

UNIT = bl.Interval(0, 1)
TWO = bl.pmf([0.25, 0.75], on=bl.Finite([0.0, 1.0]))


def mixed(power):
    return lambda y, x: (1 - x) + x * (1 - power) * y**-power


def powers(y, x):
    return (1 - x / 2) * y ** (-x / 2)


@pytest.fixture(autouse=True)
def thirty_digits():
    with mpmath.workdps(30), bl.options(closed_forms=False):
        yield


def parts(f, turn, reach):
    """Return the mass, E PML, E e^PML, E PMC, E e^PMC over (0, reach) of two secrets.

    The other one of them is the likelier one beyond the turn.
    """
    weights = [mpmath.mpf(1) / 4, mpmath.mpf(3) / 4]
    cuts = [0, *(v for v in (reach / 2**16, turn) if v < reach), reach]

    def of(what):
        def at(v):  # y = v^4: the integrands are smooth enough then
            y = v**4
            rows = [f(y, mpmath.mpf(x)) for x in (0, 1)]
            f_y = mpmath.fdot(weights, rows)
            return what(f_y, max(rows), min(rows)) * 4 * v**3

        return mpmath.quad(at, [mpmath.mpf(cut) ** 0.25 for cut in cuts])

    return (
        of(lambda f_y, top, least: f_y),
        of(lambda f_y, top, least: f_y * mpmath.log(top / f_y)),
        of(lambda f_y, top, least: top),
        of(lambda f_y, top, least: f_y * mpmath.log(f_y / least)),
        of(lambda f_y, top, least: f_y**2 / least),
    )


KERNELS = {  # and where the densities of both secrets are the same
    "mixture, 1/4": (mixed(0.25), 0.75**4),
    "mixture, 3/4": (mixed(0.75), 0.25 ** (4 / 3)),
    "powers": (powers, 0.25),
    "vanishing": (lambda y, x: (1 + x) * y**x, 0.5),
    "constants": (lambda y, x: (1 + (x - 0.5) * (1 - 2 * y**0.5)) / (2 * y**0.5), 0.25),
    "both": (lambda y, x: (0.75 + x / 2) * y ** (x / 2 - 0.25), 0.36),
}


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("reach", [2.0**-3, 2.0**-10, 2.0**-30])
@pytest.mark.parametrize(("f", "turn"), KERNELS.values(), ids=KERNELS)
def test_bounds_of_a_box_at_an_end(f, turn, reach, mirrored):
    def density(y, x):
        return f(1 - y, x) if mirrored else f(y, x)

    ends = engine_for(TWO * kernel(density, secret=TWO.on, outcome=UNIT)).end_means
    box = (1 - reach, 1.0) if mirrored else (0.0, reach)
    mass, mean, power, cost, ratio = parts(f, turn, reach)
    found = ends.bounds("pml", *box)
    assert mass <= found[0] and mean <= found[1] and power <= found[2] <= 1.2 * power
    found = ends.bounds("pmc", *box)
    assert mass <= found[0] and cost <= found[1] and (ratio <= found[2] or ratio > 1e9)
    assert found[1] < math.inf


def test_boxes_that_are_not_at_an_end_or_too_long():
    ends = engine_for(TWO * kernel(powers, secret=TWO.on, outcome=UNIT)).end_means
    for box in ((0.25, 0.5), (0.0, math.inf), (0.5, 0.75)):
        assert ends.bounds("pml", *box) == (math.inf,) * 3


def test_secrets_on_an_unbounded_line_are_not_all_seen():
    mechanism = kernel(
        lambda y, x: (0.75 - 0.5 / (1 + x**2)) * y ** (-0.25 - 0.5 / (1 + x**2)),
        secret=bl.Reals(),
        outcome=UNIT,
    )
    ends = engine_for(bl.normal(mu=0, sigma=1) * mechanism).end_means
    assert ends.bounds("pml", 0.0, 2.0**-10) == (math.inf,) * 3


@pytest.mark.parametrize(
    ("power", "truth", "tol"),
    # sup_x f = max(1, y^-p (1 - p)): with c = (1 - p)^(1/p), 1 - c + c^(1 - p)
    [(0.5, 1.25, 1e-2), (0.25, 1 - 0.75**4 + 0.75**3, 1e-3)],
)
def test_maximal_leakage_of_a_density_of_secrets(power, truth, tol):
    with bl.options(tol=tol):
        found = bl.pml(bl.uniform(UNIT) * kernel(mixed(power), outcome=UNIT)).exp_mean()
    assert found.proved and found.lower <= truth <= found.upper and found.width <= tol * 1.3


@pytest.mark.parametrize("name", ["mixture, 1/4", "powers", "vanishing", "both"])
def test_means_over_two_secrets(name):
    f, turn = KERNELS[name]
    joint = TWO * kernel(f, secret=TWO.on, outcome=UNIT)
    _, *truths = parts(f, turn, 1)
    pml, pmc = bl.pml(joint), bl.pmc(joint)
    with bl.options(tol=1e-5):
        found = pml.mean(), pml.exp_mean(), pmc.mean()
    for bound, truth in zip(found, truths, strict=False):
        assert bound.proved and bound.width <= 1e-4
        assert bound.lower <= truth <= bound.upper


@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.1, 0.7), (-0.3, 0.1)])
def test_parts_of_bands_follow_each_other(ends):
    """Wherever they are cut, and however that is rounded: no gap, and nothing counted twice."""
    low, high = ends
    flat = kernel(
        lambda y, x: (1 + 0 * x * y) / (high - low), secret=TWO.on, outcome=bl.Interval(low, high)
    )
    part = engine_for(TWO * flat).partition("pml")
    places = np.random.default_rng(0).uniform(low, high, (2, 5000))
    places[:, :50] = low + (high - low) * 2.0 ** -np.arange(1.0, 51.0)
    inside = np.sort(places, axis=0)
    for bands in ((np.full(5000, low), places[0]), (places[0], np.full(5000, high)), inside):
        for upper, mass in ((math.inf, 1.0), (math.inf, 0.5), (1.0, 0.5)):
            part.low, part.high = bands
            part.data = np.zeros((len(part.data), 5000))
            part.data[1], part.data[3] = upper, mass
            cuts = part._cuts(np.arange(5000))
            assert (np.diff([part.low, *cuts, part.high], axis=0) >= 0).all()
