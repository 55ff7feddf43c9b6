"""The prior on cells of secrets, as checkers of certificates see it, against exact integrals."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from engine.test_check import lines_of_code, modules_of_borel
from flint import arb, ctx

import borel as bl
from borel.engine.certificates.checks import prior_weights as code
from borel.engine.certificates.checks.prior_weights import Weight, Weights
from borel.engine.certificates.checks.taylor_models import DEGREE, Model, axis, model
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.trace import trace

pytestmark = pytest.mark.proofs


@pytest.fixture(autouse=True)
def bits_of_the_checker():
    ctx.prec, before = 128, ctx.prec
    yield
    ctx.prec = before


def weights(prior):
    density = prior.density
    return Weights((Graph.from_json(density.graph.to_json()), density.log))


def encloses(ball, truth, *, within=1e-15):
    """Compare with a Fraction, or with a number of 60 digits."""
    with mpmath.workdps(60):
        if isinstance(truth, Fraction):
            truth = mpmath.mpf(truth.numerator) / truth.denominator
        low, high = (mpmath.mpf(v.str(50, radius=False)) for v in (ball.lower(), ball.upper()))
        slack = mpmath.mpf(10) ** -40
        return low - slack <= truth <= high + slack and high - low <= within


def beta_2_5(i, a, b):
    """Integrate s^i 30 x (1 - x)^4 over (a, b) as a polynomial, s in [-1, 1] along it."""
    a, b = Fraction(a), Fraction(b)
    p = [0, 30, -120, 180, -120, 30]
    mean, half = (a + b) / 2, (b - a) / 2
    # x = mean + half s
    total = Fraction(0)
    for n, c in enumerate(p):
        for k in range(n + 1):
            if (k + i) % 2 == 0:
                term = math.comb(n, k) * mean ** (n - k) * half**k
                total += c * term * half * Fraction(2, k + i + 1)
    return total


CELLS = [(0.0, 1.0), (0.0, 0.1), (0.3, 0.7), (0.9, 1.0), (0.1234, 0.1235), (0.0, 2.0**-70)]


@pytest.mark.parametrize(("a", "b"), CELLS)
@pytest.mark.parametrize("i", [0, 1, 2, 5, DEGREE])
def test_moments_of_a_polynomial_are_those_of_its_exact_integral(a, b, i):
    found = weights(bl.beta(alpha=2, beta=5)).on(a, b)
    assert found.known and found.positive
    assert encloses(found.moments[i], beta_2_5(i, a, b))


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (0.0, 1e-3), (0.25, 1.0), (0.5, 0.75)])
def test_the_mass_where_the_density_is_steep_at_both_ends(a, b):
    found = weights(bl.beta(alpha=1.5, beta=1.25)).on(a, b)
    with mpmath.workdps(60):
        truth = mpmath.betainc(mpmath.mpf("1.5"), mpmath.mpf("1.25"), a, b, regularized=True)
        assert encloses(found.mass, truth)
    assert found.mass > 0


def test_moments_of_a_bell_on_a_bounded_cell():
    found = Weights((trace(lambda x: np.exp(-x * x / 2), ("x",), ()), False)).on(-0.5, 2.0)
    with mpmath.workdps(60):
        for i in range(DEGREE + 1):
            truth = mpmath.quad(
                lambda s, i=i: s**i * mpmath.exp(-((0.75 + 1.25 * s) ** 2) / 2) * 1.25, [-1, 0, 1]
            )
            assert encloses(found.moments[i], truth)


def test_parts_are_as_much_as_the_whole():
    prior = weights(bl.beta(alpha=1.5, beta=3))
    places = [0.0, 0.017, 0.3, 0.31, 0.94, 1.0]
    parts = [prior.on(a, b).mass for a, b in pairwise(places)]
    assert sum(parts, arb(0)).overlaps(arb(1))
    assert sum(parts, arb(0)).rad() < 1e-14


def test_cells_share_what_is_known():
    """A cell that ends elsewhere costs a few pieces more, not all of those towards the end."""
    prior = weights(bl.beta(alpha=1.5, beta=3))
    start = prior.left
    prior.on(0.0, 0.7)
    first = start - prior.left
    prior.on(0.0, 0.6)
    assert 0 < start - first - prior.left < first / 2


def test_a_half_line_and_a_pole_without_an_integral_are_not_known():
    assert not weights(bl.normal()).on(1.0, math.inf).known
    assert weights(bl.beta(alpha=0.5, beta=0.5)).on(0.25, 0.5).known
    for power in (-1, -1.5, -2):
        density = trace(lambda x, k=power: x**k, ("x",), ()), False
        assert not Weights(density).on(0.0, 0.5).known
        assert Weights(density).on(0.25, 0.5).known


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (0.25, 4.0), (0.75, 0.25), (0.1, 1.0)])
@pytest.mark.parametrize("cell", [(0.0, 0.5), (0.5, 1.0), (0.0, 2.0**-30), (1 - 2.0**-20, 1.0)])
def test_moments_beside_a_pole(a, b, cell):
    found, (u, v) = weights(bl.beta(alpha=a, beta=b)).on(*cell), cell
    assert found.known and found.positive
    for k in range(DEGREE + 1):
        with mpmath.workdps(120):
            s, c = 2 / mpmath.mpf(v - u), -mpmath.mpf(u + v) / mpmath.mpf(v - u)
            truth = sum(
                mpmath.binomial(k, i) * s**i * c ** (k - i)
                * mpmath.betainc(mpmath.mpf(a) + i, b, u, v)
                for i in range(k + 1)
            ) / mpmath.beta(a, b)  # fmt: skip
        assert encloses(found.moments[k], truth, within=1e-12)


def test_a_density_that_oscillates_is_known_less_well_when_the_pieces_are_spent(monkeypatch):
    monkeypatch.setattr(code, "PIECES", 3)
    loose = weights(bl.beta(alpha=1.5, beta=3)).on(0.0, 1.0)
    monkeypatch.undo()
    tight = weights(bl.beta(alpha=1.5, beta=3)).on(0.0, 1.0)
    assert loose.mass.contains(1) and loose.mass.rad() > 1e-6 > tight.mass.rad()
    assert all(v.overlaps(w) for v, w in zip(loose.moments, tight.moments, strict=True))


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_few_cuts_are_sound(monkeypatch, depth):
    monkeypatch.setattr(code, "DEPTH", depth)
    found = weights(bl.beta(alpha=2, beta=5)).on(0.0, 0.5)
    for i in range(DEGREE + 1):
        assert encloses(found.moments[i], beta_2_5(i, 0, 0.5), within=math.inf)


def test_an_integral_with_a_coefficient_that_varies():
    """f = c(s) s for any c between 1 and 3, under the prior 30 x (1 - x)^4 on (0, 1/2)."""
    weight = weights(bl.beta(alpha=2, beta=5)).on(0.0, 0.5)
    found = weight.integral(Model({(1, 0): arb(2, 1), (0, 1): arb(1)})).terms
    odd, mass = beta_2_5(1, 0, 0.5), beta_2_5(0, 0, 0.5)
    assert encloses(found[0, 1], mass)
    # c = 3 where s > 0, and 1 elsewhere; and the other way round
    right = beta_2_5(0, 0.25, 0.5) / 2 + beta_2_5(1, 0.25, 0.5) / 2  # of s over (1/4, 1/2)
    for truth in (3 * right + (odd - right), right + 3 * (odd - right)):
        assert encloses(found[0, 0], truth, within=math.inf)
    assert found[0, 0].rad() <= float(mass) * 1.001


def test_an_integral_of_a_range_alone():
    weight = weights(bl.beta(alpha=2, beta=5)).on(0.0, 0.5)
    found = weight.integral(Model({(0, 0): arb("nan")}, arb(1), arb(2)))
    mass = float(beta_2_5(0, 0, 0.5))
    assert mass * (1 - 1e-12) < found.low < mass and 2 * mass < found.high < 2 * mass * (1 + 1e-12)
    assert not found.start.is_finite()


def test_a_density_that_may_be_negative_bounds_no_range():
    """What is claimed to be a density may not be one: p = s has no mass, but |p| has 1."""
    moments = [arb(2) / (i + 2) if i % 2 else arb(0) for i in range(DEGREE + 1)]
    weight = Weight(moments, arb(1), False)
    found = weight.integral(Model({(0, 0): arb(2, 1)}))  # 1 or 3, as it wants
    assert found.start.contains(1) and found.start.contains(-1)
    found = weight.integral(Model({(0, 0): arb("nan")}, arb(1), arb(3)))
    assert not found.low > -math.inf


def test_a_claimed_density_with_both_signs_is_none():
    found = Weights((trace(lambda x: 2 * x, ("x",), ()), False)).on(-1.0, 1.0)
    assert not found.positive and found.whole >= 1 and found.mass.contains(0)


@pytest.mark.parametrize("turn", [1, -1])
def test_the_density_beside_a_kink_is_that_at_its_places(turn):
    prior = weights(bl.beta(alpha=2.5, beta=1.5))
    found = prior.beside(arb(0.5), arb(1) / 64, turn)
    for s, u in ((-1.0, 0.5), (0.25, -0.75), (1.0, 1.0), (-0.5, 0.0)):
        place = arb(0.5 + (u + turn * s) / 64)
        truth = prior.over(place, place).start
        value = sum((b * s**i * u**j for (i, j), b in found.terms.items()), arb(0))
        assert value.overlaps(truth) and value.rad() < 1e-6


def test_the_range_over_a_piece_is_that_of_the_density():
    found = weights(bl.beta(alpha=2, beta=5)).over(0.5, 1.0)
    assert found.low <= 0 and 30 / 32 <= found.high < 2


def test_it_is_short_and_shares_nothing_with_the_kernels():
    assert lines_of_code(code) <= 90
    known = {
        f"borel.engine.certificates.checks.{part}" for part in ("verifier", "taylor_models", "rays")
    }
    assert modules_of_borel(code) == known


def test_a_cell_of_an_atom_is_no_cell():
    """Where both ends are the same there is no mass, whatever the density."""
    assert weights(bl.normal()).on(0.5, 0.5).mass == 0
    assert model(1) is not None and axis(0.5, 0.5, 1, 0).terms.keys() == {(0, 0)}
