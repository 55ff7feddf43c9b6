"""Information densities at a pair, against closed forms."""

import math

import numpy as np
import pytest
from engine.certified_cases import kernel
from flint import arb, ctx

import borel as bl

UNIT, REALS = bl.Interval(0, 1), bl.Reals()

NORMAL = bl.normal(mu=0, sigma=1) * bl.mechanisms.gaussian(sigma=1.0)

FINITE = bl.pmf([0.25, 0.25, 0.5], on=bl.Finite([0.0, 1.0, 2.0])) * bl.mechanisms.laplace(b=1.0)

COUNTS = bl.poisson(mu=3.0) * bl.mechanisms.laplace(b=1.0)


def bump(y, x):
    """Noise on a weighted sum of two secrets."""
    return np.exp(-0.5 * (y - (x[0] + 3 * x[1]) / 4) ** 2) / np.sqrt(2 * np.pi)


def curved(y, x):
    """Noise on a product of two secrets, which is no sum."""
    return np.exp(-0.5 * (y - x[0] * x[1]) ** 2) / np.sqrt(2 * np.pi)


SUM = bl.uniform(UNIT * UNIT) * kernel(bump, secret=UNIT * UNIT)

PRODUCT = bl.uniform(UNIT * UNIT) * kernel(curved, secret=UNIT * UNIT)

WINDOW = bl.uniform(UNIT) * kernel(
    lambda y, x: np.where(np.abs(y - x) < 1, 0.5, 0.0), outcome=bl.Interval(-1, 2)
)


def density_of(joint, x, y):
    bound = bl.information_density(joint)(x, y)
    assert bound.status in ("certified", "conditional")
    return bound


def holds(bound, truth):
    """Return whether the truth is enclosed, tightly."""
    return bound.lower <= truth <= bound.upper and not bound.width > 1e-8


@pytest.mark.parametrize(("x", "y"), [(0.25, 2.0), (-3.0, 0.5), (0.0, 0.0), (2.0, -7.5)])
def test_normal_noise_on_a_normal_secret(x, y):
    with ctx.workprec(300):
        truth = arb(2).log() / 2 - (arb(y) - x) ** 2 / 2 + arb(y) ** 2 / 4
    assert holds(density_of(NORMAL, x, y), truth)


@pytest.mark.parametrize("x", [0.0, 1.0, 2.0])
def test_finitely_many_secrets(x):
    y = 0.75
    with ctx.workprec(300):
        f = {u: (-abs(arb(y) - u)).exp() / 2 for u in (0, 1, 2)}
        truth = (f[x] / (f[0] / 4 + f[1] / 4 + f[2] / 2)).log()
    assert holds(density_of(FINITE, x, y), truth)


@pytest.mark.parametrize("n", [0, 3, 11])
def test_counts(n):
    y = 0.5
    with ctx.workprec(300):
        terms = ((-abs(arb(y) - k)).exp() * arb(3) ** k / arb(k).fac() for k in range(200))
        f_y = sum(terms, arb(0)) * arb(-3).exp() / 2 + arb(0, 1e-60)
        truth = ((-abs(arb(y) - n)).exp() / 2 / f_y).log()
    assert holds(density_of(COUNTS, n, y), truth)


def test_a_sum_of_two_secrets():
    """By the law of the sum, worked out by hand: f_Y is an integral of differences of ndtr."""
    x, y = (0.25, 0.75), 0.5
    with ctx.workprec(300):
        root = arb(2).sqrt()

        def ndtr(v):
            return (-v / root).erfc() / 2

        def inner(t, _):  # the other secret integrated out: 4/3 of a difference
            return (ndtr(y - t / 4) - ndtr(y - t / 4 - arb(3) / 4)) * 4 / 3

        from flint import acb

        f_y = acb.integral(inner, 0, 1).real
        sum_of = (arb(x[0]) + 3 * arb(x[1])) / 4
        f = (-((y - sum_of) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
        truth = (f / f_y).log()
    bound = density_of(SUM, x, y)
    assert holds(bound, truth)


def test_secrets_that_are_no_sum():
    bound = density_of(PRODUCT, (0.25, 0.5), 0.5)
    with ctx.workprec(200):
        from flint import acb

        # -log of the product of two uniform numbers has the density u e^-u
        f_y = acb.integral(
            lambda u, _: (-((0.5 - u) ** 2) / 2).exp() * -u.log(), arb(2) ** -200, 1
        ).real + arb(0, 1e-50)
        truth = ((-((arb(0.5) - 0.125) ** 2) / 2).exp() / f_y).log()
    assert holds(bound, truth)


def test_a_kernel_that_is_0_there():
    bound = density_of(WINDOW, 0.25, 1.75)
    assert bound.lower == bound.upper == -math.inf


def test_a_pair_on_a_jump_is_of_the_kernel_given():
    """At |y - x| = 1 exactly the kernel given is 0; rounding of y - x may not decide it."""
    bound = bl.information_density(WINDOW)(0.25, 1.25)
    assert bound.lower == -math.inf
