"""Figures at one outcome of secrets in R^d, all of whose coordinates are kept."""

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

import borel as bl

pytestmark = pytest.mark.usefixtures("no_sums")

UNIT, LINE = bl.Interval(0, 1), bl.Reals()

ROOT = 2.5066282746310002


def gauss(u):
    return np.exp(-(u**2) / 2) / ROOT


def scaled(y, x):
    return np.exp(-abs(y - x[0]) / (1 + x[1])) / (2 + 2 * x[1])


def half(x):
    return np.where(x[0] < 0.5, 2.0, 0.0) + 0 * x[1]


def clipped(y, x):
    return gauss(y - x[0] * x[1])


PRIORS = {
    "half": lambda: bl.Measure(half, on=UNIT**2),
    "beta": lambda: bl.beta(alpha=2, beta=3) * bl.uniform(UNIT) * bl.beta(alpha=3, beta=1),
    "tilted": lambda: bl.Measure(lambda x: 0.5 + x[0] * x[1] * 2, on=UNIT**2),
}

KERNELS = {
    "gauss, sum of 2": (2, lambda y, x: gauss(y - x[0] - x[1])),
    "gauss, sum of 3": (3, lambda y, x: gauss(y - x[0] - x[1] - x[2])),
    "gauss, sum of 5": (5, lambda y, x: gauss(y - sum(x[1:], x[0]))),
    "laplace, scaled": (2, scaled),
    "laplace, sum of 3": (3, lambda y, x: np.exp(-abs(y - x[0] - x[1] - x[2])) / 2),
    "product": (2, lambda y, x: gauss(y - x[0] * x[1])),
    "product of 3": (3, lambda y, x: gauss(y - x[0] * x[1] * x[2])),
    "norm": (2, lambda y, x: gauss(y - np.sqrt(1 + x[0] ** 2 + x[1] ** 2))),
    "window": (2, lambda y, x: np.where(x[0] < 0.25, gauss(y - x[1]), gauss(y - 2 * x[1]))),
    "half": ("half", lambda y, x: gauss(y - x[0] - x[1])),
    "beta": ("beta", lambda y, x: gauss(y - x[0] - x[1] - x[2])),
    "tilted": ("tilted", lambda y, x: gauss(y - x[0] - x[1])),
}


@cache
def joint(name):
    prior, kernel = KERNELS[name]
    prior = bl.uniform(UNIT**prior) if isinstance(prior, int) else PRIORS[prior]()
    return prior * bl.Mechanism(kernel, secret=prior.on, outcome=LINE)


@cache
def figure(name, kind="pml", y=0.5):
    with bl.options(budget=20):
        return getattr(bl, kind)(joint(name))(y)


mpf, quad = mpmath.mpf, mpmath.quad


def phi(u):
    return mpmath.exp(-(u**2) / 2) / mpf(ROOT)


def sum_density(s, d):
    """Return the density of a sum of d uniforms."""
    terms = [
        (-1) ** k * mpmath.binomial(d, k) * (s - k) ** (d - 1)
        for k in range(int(mpmath.floor(s)) + 1)
    ]
    return mpmath.fsum(terms) / mpmath.factorial(d - 1)


def of_sum(d, y):
    f_y = quad(lambda s: phi(y - s) * sum_density(s, d), range(d + 1))
    return f_y, phi(min(max(y, 0), d) - y), phi(max(abs(y), abs(y - d)))


def of_product(d, y):
    def density(t):
        return (-mpmath.log(t)) ** (d - 1) / mpmath.factorial(d - 1)

    f_y = quad(lambda t: phi(y - t) * density(t), [0, 0.001, 0.1, 1])
    return f_y, phi(min(max(y, 0), 1) - y), phi(max(abs(y), abs(y - 1)))


def of_scaled(y):
    """Return those of Laplace noise, its scale uniform on (1, 2)."""
    e = mpmath.exp
    if y < 0:
        f_y = quad(lambda s: (e(y / s) - e((y - 1) / s)) / 2, [1, 2])
    else:
        f_y = quad(lambda s: (2 - e(-y / s) - e((y - 1) / s)) / 2, [1, 2])
    far, near = max(abs(y), abs(1 - y)), max(-y, 0)
    best = min(max(near, mpf(1)), mpf(2))  # e^(-t/s) / s is greatest at s = t
    return f_y, e(-near / best) / (2 * best), min(e(-far / s) / (2 * s) for s in (1, 2))


def of_norm(y):
    def f(a, b):
        return phi(y - mpmath.sqrt(1 + a * a + b * b))

    f_y = quad(f, [0, 1], [0, 1])
    root = mpmath.sqrt(3)
    return f_y, phi(min(max(y, 1), root) - y), phi(max(abs(y - 1), abs(y - root)))


def of_window(y):
    f_y = quad(lambda x: phi(y - x) / 4 + 3 * phi(y - 2 * x) / 4, [0, 1])
    return f_y, phi(min(max(y, 0), 2) - y), phi(max(abs(y), abs(y - 2)))


def of_half(y):
    f_y = quad(lambda a: 2 * quad(lambda b: phi(y - a - b), [0, 1]), [0, 0.5])
    return f_y, phi(min(max(y, 0), mpf(1.5)) - y), phi(max(abs(y), abs(y - 1.5)))


def of_beta(y):
    def f(a, b, c):
        return 12 * a * (1 - a) ** 2 * 3 * c**2 * phi(y - a - b - c)

    f_y = quad(f, [0, 1], [0, 1], [0, 1], method="gauss-legendre", maxdegree=3)
    return f_y, phi(min(max(y, 0), 3) - y), phi(max(abs(y), abs(y - 3)))


def of_tilted(y):
    f_y = quad(lambda a, b: (0.5 + 2 * a * b) * phi(y - a - b), [0, 1], [0, 1])
    return f_y, phi(min(max(y, 0), 2) - y), phi(max(abs(y), abs(y - 2)))


def of_laplace_sum(y):
    """Return those of Laplace noise on a sum of 3, below it."""
    e = mpmath.exp
    return e(y) * (1 - e(-1)) ** 3 / 2, e(y) / 2, e(y - 3) / 2


TRUTHS = {
    ("gauss, sum of 2", 0.5): lambda y: of_sum(2, y),
    ("gauss, sum of 2", -2.0): lambda y: of_sum(2, y),
    ("gauss, sum of 3", 0.3): lambda y: of_sum(3, y),
    ("gauss, sum of 5", 0.3): lambda y: of_sum(5, y),
    ("laplace, scaled", 0.5): of_scaled,
    ("laplace, scaled", -2.0): of_scaled,
    ("laplace, sum of 3", -1.0): of_laplace_sum,
    ("product", 0.3): lambda y: of_product(2, y),
    ("product of 3", -2.0): lambda y: of_product(3, y),
    ("norm", 0.3): of_norm,
    ("window", 0.3): of_window,
    ("half", 1.75): of_half,
    ("tilted", 0.5): of_tilted,
}


@pytest.mark.few(2)
@pytest.mark.cases("slow", "pml-window-0.3")
@pytest.mark.cases(
    "truths", "pml-half-1.75", "pmc-gauss, sum of 5-0.3", "pmc-window-0.3", "pmc-half-1.75"
)
@pytest.mark.parametrize("name, y", TRUTHS)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_figures_at_outcomes_enclose_the_truth(name, y, kind):
    bound = figure(name, kind, y)
    assert bound.status in ("certified", "conditional")
    with mpmath.workdps(30):
        f_y, most, least = TRUTHS[name, y](mpf(y))
        extreme = mpmath.log(most if kind == "pml" else least)
        truth = abs(extreme - mpmath.log(f_y))
    assert bound.lower <= truth <= bound.upper


@pytest.mark.truths
def test_a_beta_prior_is_a_product_of_powers():
    bound = figure("beta", "pml", 0.3)
    with mpmath.workdps(20):
        f_y, most, _ = of_beta(mpf(0.3))
    assert bound.lower <= mpmath.log(most / f_y) <= bound.upper


def test_the_supremum_over_finitely_many_outcomes_has_a_part_for_each():
    bits = bl.Mechanism(
        lambda y, x: np.where(y > 0, x[0] * x[1] / 2 + 0.25, 0.75 - x[0] * x[1] / 2),
        secret=UNIT**2,
        outcome=bl.Finite([0, 1]),
    )
    bound = bl.pml(bl.uniform(UNIT**2) * bits).sup()
    assert bound.lower <= math.log(2) <= bound.upper  # 0.75 / 0.375


def test_an_atom_of_the_outcome_has_a_mass():
    mech = bl.Mechanism(
        clipped,
        masses={0.0: lambda x: ndtr(-x[0] * x[1])},
        secret=UNIT**2,
        outcome=bl.Mixed(bl.Interval(0, None), atoms=[0.0]),
    )
    bound = bl.pml(bl.uniform(UNIT**2) * mech)(0.0)
    with mpmath.workdps(30):
        f_y = quad(lambda t: -mpmath.log(t) * mpmath.ncdf(-t), [0, 0.001, 0.1, 1])
        assert bound.lower <= mpmath.log(0.5 / f_y) <= bound.upper
