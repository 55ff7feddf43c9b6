"""Means of kernels that are singular at an end of the outcomes."""

import math

import mpmath
import numpy as np
import pytest
from engine.certified_cases import kernel

import borel as bl
from borel.engine import engine_for
from borel.numerics.germs.interpreter import ray
from borel.numerics.germs.order_bounds import Ray

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


@pytest.mark.few(4)
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


@pytest.mark.slow
def test_secrets_on_an_unbounded_line_are_not_all_seen():
    mechanism = kernel(
        lambda y, x: (0.75 - 0.5 / (1 + x**2)) * y ** (-0.25 - 0.5 / (1 + x**2)),
        secret=bl.Reals(),
        outcome=UNIT,
    )
    ends = engine_for(bl.normal(mu=0, sigma=1) * mechanism).end_means
    assert ends.bounds("pml", 0.0, 2.0**-10) == (math.inf,) * 3


@pytest.mark.truths
@pytest.mark.parametrize(
    ("power", "truth", "tol"),
    # sup_x f = max(1, y^-p (1 - p)): with c = (1 - p)^(1/p), 1 - c + c^(1 - p)
    [(0.5, 1.25, 1e-2), (0.25, 1 - 0.75**4 + 0.75**3, 1e-3)],
)
def test_maximal_leakage_of_a_density_of_secrets(power, truth, tol):
    with bl.options(tol=tol):
        found = bl.pml(bl.uniform(UNIT) * kernel(mixed(power), outcome=UNIT)).exp_mean()
    assert found.proved and found.lower <= truth <= found.upper and found.width <= tol * 1.3


@pytest.mark.cases("slow", "both", "powers", "mixture, 1/4")
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


def clayton(y, x):
    return 0.1 + 0.9 * 2 * x * y / (x + y - x * y) ** 3


def skewed(y, x):
    """f_Y is not constant under a prior of density 2 x."""
    return 0.5 + 0.5 * 2 * x * y / (x + y - x * y) ** 3


def of_clayton(y):
    """Return PML of `clayton`: f_Y = 1, the supremum is at x = y / 2 (1 - y), or 1."""
    y = mpmath.mpf(y)
    top = 8 / (27 * y * (1 - y)) if y <= mpmath.mpf(2) / 3 else 2 * y
    return mpmath.log((1 + 9 * top) / 10)


@pytest.mark.few(1)
@pytest.mark.parametrize("reach", [2.0**-3, 2.0**-10, 2.0**-30, 2.0**-60])
def test_a_kernel_that_is_steep_in_a_corner(reach):
    """The supremum of Clayton's kernel grows as 1/y, its mean over the secrets is 1."""
    ends = engine_for(bl.uniform(UNIT) * kernel(clayton, outcome=UNIT)).end_means
    mean = mpmath.quad(lambda v: of_clayton(v**4) * 4 * v**3, [0, mpmath.mpf(reach) ** 0.25])
    found = ends.bounds("pml", 0.0, reach)
    assert reach <= found[0] < math.inf and mean <= found[1] < math.inf and found[2] == math.inf
    found = ends.bounds("pmc", 0.0, reach)
    assert reach <= found[0] and reach * mpmath.log(10) <= found[1] < math.inf
    assert 10 * reach <= found[2] < math.inf
    if reach < 1e-12:  # they tend to 0
        assert found[1] < reach**0.25 and ends.bounds("pml", 0.0, reach)[1] < reach**0.25


@pytest.mark.cases("slow", "0.0625")
@pytest.mark.slow
@pytest.mark.parametrize("reach", [2.0**-4, 2.0**-20])
def test_a_corner_under_a_prior_that_is_not_uniform(reach):
    prior = bl.Measure(lambda x: 2 * x, on=UNIT)
    ends = engine_for(prior * kernel(skewed, outcome=UNIT)).end_means

    def parts_at(y):
        f_y = 0.5 + mpmath.quad(lambda x: x * 2 * x * y / (x + y - x * y) ** 3, [0, y, 4 * y, 1])
        top = (1 + 8 / (27 * y * (1 - y))) / 2
        return f_y, f_y * mpmath.log(top / f_y), f_y * mpmath.log(2 * f_y), 2 * f_y**2

    with mpmath.workdps(15):
        truths = [
            mpmath.quad(lambda v, k=k: parts_at(v**4)[k] * 4 * v**3, [0, mpmath.mpf(reach) ** 0.25])
            for k in range(4)
        ]
    of_pml, of_pmc = ends.bounds("pml", 0.0, reach), ends.bounds("pmc", 0.0, reach)
    assert truths[0] <= of_pml[0] and truths[1] <= of_pml[1] < math.inf
    assert truths[2] <= of_pmc[1] < math.inf and truths[3] <= of_pmc[2]


@pytest.mark.truths
def test_means_of_a_kernel_of_the_users_own():
    joint = bl.uniform(UNIT) * kernel(clayton, outcome=UNIT)
    turn = mpmath.mpf(2) / 3
    truth = mpmath.quad(lambda v: of_clayton(v**4) * 4 * v**3, [0, 0.25, turn**0.25, 1])
    with bl.options(tol=1e-2, budget=30):
        pml, pmc = bl.pml(joint), bl.pmc(joint)
        found, cost = pml.mean(), pmc.mean()
        assert pml.exp_mean().lower == math.inf
    assert found.proved and found.lower <= truth <= found.upper and found.width <= 2e-2
    assert cost.proved and cost.lower <= mpmath.log(10) <= cost.upper and cost.width <= 2e-2


STEEP = {  # kernels that are steep at x = y = 0, and densities of secrets
    "clayton": (lambda y, x, root: clayton(y, x), lambda x, root: 1 + 0 * x),
    "clayton, 2 x": (lambda y, x, root: skewed(y, x), lambda x, root: 2 * x),
    "a ratio": (lambda y, x, root: x * (1 + x) / (x + y) ** 2, lambda x, root: 1 + 0 * x),
    "a root": (
        lambda y, x, root: 1 / (2 * root(x * x + y) * (root(x * x + 1) - x)),
        lambda x, root: 1.5 * root(x),
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("reach", [2.0**-2, 2.0**-12])
@pytest.mark.parametrize(("f", "p"), STEEP.values(), ids=STEEP)
def test_a_bound_of_f_y_holds_with_its_constant(f, p, reach):
    """f_Y <= e^W t^B at each t in (0, T], against quadrature."""
    prior = bl.Measure(lambda x: p(x, np.sqrt), on=UNIT)
    mechanism = kernel(lambda y, x: f(y, x, np.sqrt), outcome=UNIT)
    ends = engine_for(prior * mechanism).end_means
    y = Ray(ray(0.0, 1.0, 1, 1), "", {"base": 0.0, "sign": 1})
    found = ends._marginal(y, reach)
    assert found is not None and found[0] > -1
    for k in range(0, 40, 4):
        t = mpmath.mpf(reach) / 2**k
        cuts = sorted({v for v in (t**2, t / 4, t, 4 * t, mpmath.sqrt(t)) if v < 1})
        with mpmath.workdps(20):
            f_y = mpmath.quad(
                lambda x, t=t: f(t, x, mpmath.sqrt) * p(x, mpmath.sqrt), [0, *cuts, 1]
            )
        assert f_y <= mpmath.exp(found[1]) * t ** found[0]
