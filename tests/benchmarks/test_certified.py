"""The certified engine against the estimates that people would write: ratios in one process.

Run with ``pytest -m benchmark -s tests/benchmarks/test_certified.py`` on a quiet machine; the table
is printed. Ratios are asserted with room for a busy machine; times are printed, never asserted.
"""

import time

import numpy as np
import pytest
import xarray  # noqa: F401  # its import (seconds, the first time) is not what is timed
from scipy import integrate
from scipy.optimize import elementwise

import borel as bl
from borel.engine.kernels import marginal_integral
from borel.engine.kernels.essential_supremum import extremes
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.engine.problem.secret_and_kernel import Surface, secret_of
from borel.numerics.intervals import batched

pytestmark = pytest.mark.benchmark

UNIT, SYMMETRIC = bl.Interval(0, 1), bl.Interval(-1, 1)
ROWS: list[str] = []


def clayton(y, x):
    return 0.1 + 0.9 * 2 * x * y / (x + y - x * y) ** 3


def gauss_density(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def laplace_density(y, x):
    return np.exp(-np.abs(y - x) / 0.5)


CASES = {
    "(i) Clayton": (clayton, UNIT, UNIT, np.linspace(0.05, 0.999, 1000)),
    "(iii) Laplace": (laplace_density, UNIT, bl.Reals(), np.linspace(-1, 2, 1000)),
    "(iv) Gaussian": (gauss_density, SYMMETRIC, bl.Reals(), np.linspace(-3, 3, 1000)),
}


def median_time(function, times=5):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def surface_of(name):
    density, secret, outcome, ys = CASES[name]
    prior = bl.uniform(secret)
    mechanism = bl.Mechanism(density, secret=secret, outcome=outcome)
    found = secret_of(prior, ())
    return Surface(mechanism.density, found), density, secret, ys


def row(what, certified, baseline, target, width):
    ratio = certified / baseline
    ROWS.append(
        f"{what:<44}{1e3 * certified:>10.1f}{1e3 * baseline:>11.1f}"
        f"{ratio:>8.2f}{target:>8}{width:>11.1e}"
    )
    return ratio


@pytest.mark.parametrize("name", ["(i) Clayton", "(iv) Gaussian"])
def test_the_essential_supremum(name):
    surface, density, secret, ys = surface_of(name)

    def certified():
        return extremes(surface, batched.point(ys), len(ys), sign=1.0, tol=1e-9)

    def estimate():
        grid = np.linspace(secret.lower, secret.upper, 1001)[1:-1]
        values = density(ys[:, None], grid[None, :])
        k = np.clip(values.argmax(axis=1), 1, len(grid) - 2)
        bracket = grid[k - 1], grid[k], grid[k + 1]
        return elementwise.find_minimum(lambda x, y: -density(y, x), bracket, args=(ys,)).f_x

    found = certified()
    ratio = row(
        f"ess sup, 1000 y, {name}",
        median_time(certified),
        median_time(estimate),
        "10",
        float(np.max(found.upper - found.lower)),
    )
    assert ratio <= 20


@pytest.mark.parametrize(
    ("name", "target"), [("(i) Clayton", 4), ("(iv) Gaussian", 4), ("(iii) Laplace", 2)]
)
def test_the_marginal(name, target):
    surface, density, secret, ys = surface_of(name)
    level = 1 / (secret.upper - secret.lower)
    top = extremes(surface, batched.point(ys), len(ys), sign=1.0, tol=1e-3).upper
    at = Outcomes(ys, ys, ys, 0, top)

    def certified():
        return marginal_integral.marginal(surface, at, rtol=1e-9)

    def loop():
        # a user knows where the kink is, and says so
        marks = [None if not secret.lower < y < secret.upper else [y] for y in ys]
        return [
            integrate.quad(
                lambda x, y=y: density(y, x) * level, secret.lower, secret.upper, points=m
            )[0]
            for y, m in zip(ys, marks, strict=True)
        ]

    low, high = certified()[0].total()
    ratio = row(
        f"f_Y, 1000 y, {name} / quad loop",
        median_time(certified),
        median_time(loop, 3),
        str(target),
        float(np.max((high - low) / low)),
    )
    vec = median_time(
        lambda: integrate.quad_vec(
            lambda x: density(ys, x) * level, secret.lower, secret.upper, epsrel=1e-9
        ),
        3,
    )
    row(f"f_Y, 1000 y, {name} / quad_vec", median_time(certified), vec, "-", 0.0)
    assert ratio <= 3 * target


def test_curves_and_single_outcomes():
    density, secret, outcome, ys = CASES["(iv) Gaussian"]
    joint = bl.uniform(secret) * bl.Mechanism(density, secret=secret, outcome=outcome)
    start = time.perf_counter()
    curves = bl.pml(joint)(ys), bl.pmc(joint)(ys)
    whole = time.perf_counter() - start
    width = max(float((c.upper - c.lower).max()) for c in curves)
    assert width <= 1e-8
    ROWS.append(
        f"PML and PMC curves, 1000 y, (iv): {1e3 * whole:.0f} ms (target 500), width {width:.1e}"
    )
    ell = bl.pml(joint)
    ell(0.1)
    single = []
    for y in (0.2, 0.31, 0.47, 0.9):
        start = time.perf_counter()
        bound = ell(y)
        single.append(time.perf_counter() - start)
    assert bound.width <= 1e-8
    ROWS.append(f"one outcome, (iv): {1e3 * np.median(single):.1f} ms (target 5)")


@pytest.mark.parametrize(("d", "target"), [(3, 1.0), (5, 10.0)])
@pytest.mark.parametrize("of", ["a mean", "a mean of squares"])
def test_several_dimensions(of, d, target):
    """A mean is noise on one number; of squares f_Y is an integral over all coordinates."""
    secret, power = SYMMETRIC**d, 1 if of == "a mean" else 2
    joint = bl.uniform(secret) * bl.Mechanism(
        lambda y, x: np.exp(-((y - sum(v**power for v in x) / d) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=secret,
        outcome=bl.Reals(),
    )
    start = time.perf_counter()
    bound = bl.pml(joint)(0.3)
    taken = time.perf_counter() - start
    assert bound.width <= 1e-8
    ROWS.append(
        f"d = {d}, {of}, one outcome: {taken:.2f} s (target {target:g} s), width {bound.width:.1e}"
    )


def test_print_the_table():
    print()
    print(f"{'figure':<44}{'certified':>10}{'baseline':>11}{'ratio':>8}{'target':>8}{'width':>11}")
    print("\n".join(ROWS))
