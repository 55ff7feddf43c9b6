"""Half-lines of outcomes on which log f falls at one rate: their masses and means, of each draw."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from engine.certified_cases import learnt_slopes

import borel as bl
from borel.engine.draws import outcome_laws
from borel.engine.draws.information import OutcomeInformation
from borel.engine.draws.outcome_laws import OutcomeLaw
from borel.engine.kernels.means_far_out import FarMeans
from borel.engine.problem.secret_and_kernel import Surface, secret_of
from borel.probability.density import Density

mp = mpmath.mp
UNIT, LINE = bl.Interval(0, 1), bl.Reals()
SLOPES = np.array([[0.25, 1.0, 6.0]])
ENDS = [(1.0, math.inf), (-math.inf, 0.0), (1.75, math.inf)]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(40):
        yield


def noise(more):
    """Two-sided exponential noise; its rate is 2, and more for larger secrets."""
    return bl.Mechanism(
        lambda y, x: np.log(1 + more * x / 2) - (2 + more * x) * np.abs(y - x),
        secret=UNIT,
        outcome=LINE,
        log=True,
        breaks=(0.0, 1.0),
    )


def law_of(mechanism, kind):
    engine = bl.pml(learnt_slopes(SLOPES) * mechanism)._engine()
    cells = next(engine.blocks()).cells
    law = (
        OutcomeInformation(engine.shared, engine.support("pml"))
        if kind == "information"
        else OutcomeLaw(engine.shared, engine.support(kind), kind)
    )
    law.sides = {}
    return law, cells


def truths(a, rate, low, high):
    """Return the mass, the two leakages at the end and the information, for one rate."""
    a, rate = mpmath.mpf(float(a)), mpmath.mpf(rate)
    y = mpmath.mpf(low if math.isfinite(low) else high)
    p = lambda x: a * mp.exp(a * x) / mp.expm1(a)  # noqa: E731
    f = lambda x: rate / 2 * mp.exp(-rate * abs(y - x))  # noqa: E731
    density = mp.quad(lambda x: p(x) * f(x), [0, 1])
    there = mp.quad(lambda x: p(x) * f(x) * mp.log(f(x) / density), [0, 1])
    top, bottom = max(f(0), f(1)), min(f(0), f(1))
    return density / rate, mp.log(top / density), mp.log(density / bottom), there / rate


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("kind", ["pml", "pmc", "information"])
def test_laplace_noise(kind, ends):
    law, cells = law_of(bl.mechanisms.laplace(b=0.5, secret=UNIT), kind)
    found = law._falling(cells, *ends)
    means = found.means()
    for d, a in enumerate(SLOPES[0]):
        mass, pml, pmc, information = truths(a, 2, *ends)
        value = {"pml": pml * mass, "pmc": pmc * mass, "information": information}[kind]
        assert found.mass_low[d, 0] <= mass <= found.mass_high[d, 0]
        assert found.mass_high[d, 0] - found.mass_low[d, 0] <= 1e-9
        assert means[0][d, 0] <= value <= means[1][d, 0]
        assert means[1][d, 0] - means[0][d, 0] <= 1e-8
        if kind != "information":
            leakage = pml if kind == "pml" else pmc
            assert found.low_at[d, 0] <= leakage <= found.high_at[d, 0]


@pytest.mark.parametrize("kind", ["pml", "information"])
def test_kernels_that_miss_one(kind):
    """What is said of the kernel meant is as much wider as it may be off that which is written."""
    law, cells = law_of(bl.mechanisms.laplace(b=0.5, secret=UNIT), kind)
    law.slack = slack = 1e-8
    found = law._falling(cells, 1.0, math.inf)
    for d, a in enumerate(SLOPES[0]):
        mass, _, _, information = truths(a, 2, 1.0, math.inf)
        assert found.mass_low[d, 0] <= mass * (1 - slack)
        assert mass * (1 + slack) <= found.mass_high[d, 0]
        if kind == "information":  # its density is off by as much
            low, high = found.means()
            assert low[d, 0] <= information - slack * mass
            assert information + slack * mass <= high[d, 0]


def test_information_that_is_none_at_the_end():
    """At 1 the kernel does not depend on the secret, but its rate does, and so what is beyond."""
    mechanism = bl.Mechanism(
        lambda y, x: -np.maximum((2 + x) * (y - 1), (2 + x) / (1 + x) * (1 - y)),
        secret=UNIT,
        outcome=LINE,
        log=True,
        breaks=(1.0,),
    )
    law, cells = law_of(mechanism, "information")
    at, one = np.ones(1), np.ones((3, 1))
    low, high = law._mean_falling(cells, at, np.zeros(1), (2.0, 3.0), (one, one))
    node, weight = np.polynomial.legendre.leggauss(120)
    x, w = (node + 1) / 2, weight / 2
    for d, a in enumerate(SLOPES[0]):
        p, truth = w * a * np.exp(a * x) / np.expm1(a), 0.0
        for start in range(24):
            f = np.exp(-(2 + x) * (start + x[:, None]))
            density = f @ p
            truth += w @ ((f * np.log(f / density[:, None])) @ p)
        assert low[d, 0] <= truth <= high[d, 0] and truth > 1e-4


@pytest.mark.parametrize("more", [1e-6, 0.25])
def test_rates_that_differ(more, monkeypatch):
    """Between them f_Y is not known: what is said holds, and is less close."""
    law, cells = law_of(noise(more), "information")
    assert more < 0.1 or law._falling(cells, 1.0, math.inf) is None  # it is cut instead
    monkeypatch.setattr(outcome_laws, "_GOOD", 1.0)
    monkeypatch.setattr(OutcomeInformation, "_good", lambda self, draws: 10.0)
    found = law._falling(cells, 1.0, math.inf)
    node, weight = np.polynomial.legendre.leggauss(120)
    x, w = (node + 1) / 2, weight / 2
    cuts = np.linspace(0, 24, 49)
    for d, a in enumerate(SLOPES[0]):
        p, mass, information = w * a * np.exp(a * x) / np.expm1(a), 0.0, 0.0
        for start, end in itertools.pairwise(cuts):
            t = start + (end - start) * x[:, None]
            rate = 2 + more * x
            f = rate / 2 * np.exp(-rate * (1 + t - x))
            density = f @ p
            each = (f * np.log(f / density[:, None])) @ p
            mass, information = (
                mass + (end - start) * w @ density,
                information + (end - start) * w @ each,
            )
        low, high = (v[d, 0] for v in found.means())
        # float64, and what is beyond 24
        assert found.mass_low[d, 0] <= mass * (1 + 1e-12) and mass <= found.mass_high[d, 0]
        assert low <= information * (1 + 1e-12) and information <= high
        width = found.mass_high[d, 0] - found.mass_low[d, 0]
        assert width <= more * mass and high - low <= 2 * more * (mass + information)


@pytest.mark.parametrize(
    ("log", "rates"),
    [
        (lambda y, x: -2 * np.abs(y - x), (2.0, 2.0)),
        (lambda y, x: -np.abs(y - x) - np.maximum(y - 3, 0.0), (1.0, 2.0)),
        (lambda y, x: -2 * np.abs(y - x) - np.log1p(np.abs(y)), (2.0, 2.5)),
        (lambda y, x: -((y - x) ** 2), None),
        (lambda y, x: -2 * np.abs(y - x) + np.where(y > 3, 0.5, 0.0), None),
        (lambda y, x: -2 * np.abs(y - x) + np.where(y > 1, 0.5, 0.0), None),
        (lambda y, x: -2 * np.abs(y - x) + np.where(y <= 1, 0.5, 0.0), None),
        (lambda y, x: -2 * np.abs(y - x) + np.where(y == 1, 0.5, 0.0), None),
        (lambda y, x: -2 * np.abs(y - x) + np.where(y > x + 0.5, 0.5, 0.0), None),
        (lambda y, x: -2 * np.abs(y - x) + np.sign(y - 1) / 4, None),
        (lambda y, x: -2 * np.abs(y - x) + np.minimum(np.floor(y), 2.0) / 4, None),
        (lambda y, x: -2 * np.abs(y - x) + np.log(np.abs(y - 1)), None),
        (lambda y, x: -2 * np.abs(y - x) + 1 / (y - 5), None),
    ],
)
def test_rates(log, rates):
    """No rate where log f jumps, or has a pole, on the half-line or at its end."""
    density = Density(log, {"y": LINE, "x": UNIT}, log=True)
    surface = Surface(density, secret_of(bl.uniform(UNIT), ()))
    least, most = FarMeans(surface).rates(1.0, math.inf)
    if rates is None:
        assert not (least > 0 and most < math.inf)
    else:
        assert least <= rates[0] <= rates[1] <= most <= rates[1] + 1e-12
        assert least >= rates[0] - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pml", "pmc", "information"])
def test_the_whole_law_is_known_better(kind):
    """Beyond the secrets nothing is lost: what is left is that of the boxes between them."""
    law, cells = law_of(bl.mechanisms.laplace(b=0.5, secret=UNIT), kind)
    lines = law.lines(cells)
    low, high = lines.mass_low.sum(axis=1), lines.mass_high.sum(axis=1)
    assert (low <= 1).all() and (high >= 1).all() and (high - low <= 1e-5).all()
