"""Families of priors on a few secrets under outcomes that are not finite, against mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import borel as bl
from borel import mechanisms as noise


def hardy_weinberg(p):
    return [(1 - p) ** 2, 2 * p * (1 - p), p**2]


def two_shares(theta):
    return [theta[0], theta[1] * (1 - theta[0]), (1 - theta[1]) * (1 - theta[0])]


FAMILIES = {  # the probabilities, and thetas
    "share": (lambda p: [1 - p, p], bl.Interval(0.125, 0.375)),
    "share from 0": (lambda p: [1 - p, p], bl.Interval(0, 0.375)),
    "turns": (lambda p: [p * (1 - p), 1 - p * (1 - p)], bl.Interval(0.125, 0.875)),
    "alleles": (hardy_weinberg, bl.Interval(0.25, 0.5)),
    "alleles from 0": (hardy_weinberg, bl.Interval(0, 1)),
    "two thetas": (two_shares, bl.Interval(0.125, 0.75) * bl.Interval(0.25, 0.5)),
}
NOISE = {  # a mechanism, and log f(y|x) but for what all x share
    "Laplace": (
        lambda on: noise.laplace(b=0.5, secret=on),
        lambda y, x: -2 * abs(y - x),
    ),
    "Gaussian": (
        lambda on: noise.gaussian(sigma=0.75, secret=on),
        lambda y, x: -((y - x) ** 2) * 8 / 9,
    ),
    "Poisson": (
        lambda on: bl.Mechanism(
            lambda y, x: np.exp(y * np.log1p(x) - 1 - x - special.gammaln(y + 1)),
            secret=on,
            outcome=bl.Integers(0, None),
        ),
        lambda y, x: y * mp.log(1 + x) - x,
    ),
}


def thetas(over, n):
    """Return a grid of thetas; the ends are among them, and what is close to an end."""
    axes = over.factors if len(over.factors) > 1 else [over]
    shares = [*(mp.mpf(k) / n for k in range(n + 1)), mp.mpf(2) ** -60, 1 - mp.mpf(2) ** -60]
    grids = [[a.lower + (a.upper - a.lower) * share for share in shares] for a in axes]
    return grids[0] if len(axes) == 1 else [(s, t) for s in grids[0] for t in grids[1]]


def secrets_of(name):
    law, over = FAMILIES[name]
    return [*range(len(law(thetas(over, 2)[1])))]


def joint_of(name, channel):
    law, over = FAMILIES[name]
    secrets = bl.Finite(secrets_of(name))
    return bl.priors.family(lambda t: bl.pmf(law(t)), over) * NOISE[channel][0](secrets)


def leakage(kind, law, f):
    """Return PML or PMC at an outcome for one prior that charges every secret, by mpmath."""
    mean = mp.fsum(p * v for p, v in zip(law, f, strict=True))
    return mp.log(max(f) / mean) if kind == "pml" else mp.log(mean / min(f))


@pytest.mark.cases("slow", *(f"{n}-{c}" for n in [*FAMILIES][2:] for c in NOISE))
@pytest.mark.parametrize(("name", "channel"), [(n, c) for n in FAMILIES for c in NOISE])
def test_no_theta_leaks_more(name, channel):
    law, over = FAMILIES[name]
    joint, log = joint_of(name, channel), NOISE[channel][1]
    laws = [law(t) for t in thetas(over, 16 if name == "two thetas" else 256)]
    for kind, of in (("pml", bl.pml), ("pmc", bl.pmc)):
        highest = of(joint).sup()
        for y in (0, 1, 3):
            found = of(joint)(float(y))
            f = [mp.exp(log(mp.mpf(y), mp.mpf(x))) for x in secrets_of(name)]
            most = max(leakage(kind, p, f) for p in laws if min(p) > 0)
            assert most <= found.upper and most <= highest.upper
            assert found.lower <= most + 0.05, "the grid is that fine"
            assert found.status == "certified" and found.width <= 1e-9


LIMITS = {  # the supremum over theta and outcomes, in closed form
    ("share", "Laplace", "pml"): 2 - mp.log(mp.mpf(7) / 8 + mp.exp(2) / 8),
    ("share", "Gaussian", "pml"): mp.log(8),
    ("share", "Poisson", "pml"): mp.log(8),
    ("share from 0", "Laplace", "pml"): mp.mpf(2),
    ("share from 0", "Gaussian", "pml"): mp.inf,
    ("share from 0", "Poisson", "pml"): mp.inf,
    ("share", "Laplace", "pmc"): mp.log(mp.mpf(1) / 8 + 7 * mp.exp(2) / 8),
    ("share", "Gaussian", "pmc"): mp.inf,
    ("turns", "Laplace", "pmc"): mp.log(mp.mpf(7) / 64 + 57 * mp.exp(2) / 64),
    ("alleles", "Gaussian", "pml"): mp.log(16),
    ("alleles", "Poisson", "pml"): mp.log(16),
    ("alleles from 0", "Laplace", "pml"): mp.mpf(4),
    ("two thetas", "Gaussian", "pml"): mp.log(8),
}


@pytest.mark.cases("slow", "two thetas-Gaussian-pml", "alleles-Gaussian-pml")
@pytest.mark.parametrize("case", LIMITS, ids="-".join)
def test_suprema_in_closed_form(case):
    name, channel, kind = case
    found = getattr(bl, kind)(joint_of(name, channel)).sup()
    assert found.lower <= LIMITS[case] <= found.upper and found.status == "certified"
    assert math.isinf(found.lower) or found.width <= 1e-8


def test_each_integer_outcome_counts():
    """Sharp noise on counts: one of two neighbouring outcomes leaks far more than the other."""
    mech = bl.Mechanism(
        lambda y, x: np.exp(-3 * abs(y - 3 * x - 5)) * np.tanh(1.5),
        secret=bl.Finite(3),
        outcome=bl.Integers(None, None),
    )
    family = bl.priors.family(
        lambda t: bl.pmf([(1 - t) / 2, t, (1 - t) / 2]), bl.Interval(0.015625, 0.03125)
    )
    t = mp.mpf(1) / 64
    leakages = {  # at y = 8, and from y = 11 on, where f(y|2) is the largest
        bl.pml: -mp.log(t + (1 - t) * mp.exp(-9)),
        bl.pmc: mp.log((1 - t) / 2 * (mp.exp(18) + 1) + t * mp.exp(9)),
    }
    for of, truth in leakages.items():
        found = of(family * mech).sup()
        assert found.lower <= truth <= found.upper and found.width <= 1e-8


def test_what_is_not_enclosed_is_searched_for():
    joint = joint_of("share", "Laplace")
    found = bl.mutual_information(joint)
    assert found.status == "estimate" and "proves nothing" in found.reason
    one = bl.mutual_information(bl.pmf([0.625, 0.375]) * joint.mechanism)
    assert abs(found.value - one.value) <= 1e-4
