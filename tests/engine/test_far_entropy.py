"""The mean of PML far out: bounds by mass and mean distance, against integrals at 30 digits."""

import math

import mpmath
import numpy as np
import pytest

import borel as bl
from borel.engine import engine_for
from borel.engine.kernels.tail_entropy import first_moment
from borel.engine.problem.secret_and_kernel import log_graph

MP = mpmath.mp.clone()
MP.dps = 30
INF, LINE, ROOT = math.inf, bl.Reals(), 2.5066282746310002


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / ROOT


def joint(prior, kernel):
    return prior * bl.Mechanism(kernel, secret=prior.on, outcome=LINE)


@pytest.mark.parametrize(
    ("prior", "truth"),
    [
        (bl.normal(), lambda: MP.sqrt(2 / MP.pi)),
        (bl.normal(mu=3.0, sigma=0.5), lambda: MP.mpf(3)),
        (bl.laplace(b=2.0), lambda: MP.mpf(2)),
        (bl.exponential(lam=0.25), lambda: MP.mpf(4)),
        (bl.gamma(alpha=2.5), lambda: MP.mpf(2.5)),
        (bl.poisson(mu=2.0), lambda: MP.mpf(2)),
        (bl.poisson(mu=100.0), lambda: MP.mpf(100)),
        (bl.geometric(p=0.125), lambda: MP.mpf(8)),
    ],
)
def test_a_mean_distance_is_bounded(prior, truth):
    ends = (-INF if prior.on.lower is None else prior.on.lower, INF)
    found = first_moment(log_graph(prior.density), "x", *ends)
    assert truth() <= found <= 16 * truth() + 16


def test_no_mean_distance_is_claimed_where_there_is_none():
    assert first_moment(log_graph(bl.cauchy().density), "x", -INF, INF) == INF


@pytest.mark.few(4)
@pytest.mark.parametrize("a", [0.0, 1.0, 3.0, 6.0, 12.0])
@pytest.mark.parametrize("wide", [0.25, 2.0, INF])
def test_the_bound_on_a_box_of_known_mass(a, wide):
    """Gaussian noise on a normal secret: f_Y is N(0, 2), and sup f = 1 / sqrt(2 pi)."""
    bound = engine_for(joint(bl.normal(), gauss)).far_entropy
    f = lambda y: MP.exp(-(y**2) / 4) / MP.sqrt(4 * MP.pi)  # noqa: E731
    pml = lambda y: MP.log(MP.sqrt(2)) + y**2 / 4  # noqa: E731
    b = a + wide
    cuts = [a, *(a + k for k in (1, 2, 4, 8, 16)), 60] if math.isinf(b) else [a, b]
    mass = MP.quad(f, cuts)
    truth = MP.quad(lambda y: f(y) * pml(y), cuts)
    found = bound.mean(np.array([a]), np.array([b]), np.array([float(mass) * (1 + 1e-15)]))
    assert truth <= found[0] <= 40 * truth + 1e-6


@pytest.mark.truths
@pytest.mark.parametrize("kernel", [gauss])
def test_the_mean_of_pml_of_an_unbounded_secret(kernel):
    """Gaussian noise on a normal secret: PML = log sqrt 2 + Y^2 / 4, Y ~ N(0, 2)."""
    with bl.options(closed_forms=False):
        found = bl.pml(joint(bl.normal(), kernel)).mean()
    truth = MP.log(2) / 2 + MP.mpf(1) / 2
    assert found.lower <= truth <= found.upper
    assert found.width <= 1e-8


def test_the_bound_rises_with_the_mass():
    """A mass is known from above only: a bound that fell with it would be none."""
    bound = engine_for(joint(bl.normal(), gauss)).far_entropy
    q = np.concatenate([[0.0], np.geomspace(1e-300, 1.0, 400)])
    for low, high in ((3.0, INF), (-INF, -200.0), (0.0, 1e-3), (5.0, 500.0)):
        found = bound.mean(np.full(len(q), low), np.full(len(q), high), q)
        assert found[0] == 0
        assert (np.diff(found) >= -1e-12 * found[1:]).all()


@pytest.mark.parametrize(
    "made",
    [
        lambda: joint(bl.cauchy(), gauss),  # no mean distance
        lambda: joint(
            bl.normal(), lambda y, x: gauss(y / (1 + x * x), x / (1 + x * x)) / (1 + x * x)
        ),
    ],
)
def test_nothing_is_claimed_of_half_lines_elsewhere(made):
    bound = engine_for(made()).far_entropy
    found = bound.mean(np.array([1.0, -INF]), np.array([INF, INF]), np.array([1e-9, 1.0]))
    assert (found == INF).all()
