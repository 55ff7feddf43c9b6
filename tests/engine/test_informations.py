"""f-information of a finite secret over continuous outcomes.

The truths are integrals by mpmath, between the kinks of what is integrated.
"""

from fractions import Fraction as F
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

import borel as bl

SECRETS, MASSES = (-0.5, 0.0, 2.0), (0.25, 0.25, 0.5)

PRIOR = bl.pmf(MASSES, on=bl.Finite(list(SECRETS)))

REALS, HALF, UNIT = bl.Reals(), bl.Interval(0, None), bl.Interval(0, 1)


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def normal(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def cauchy(y, x):
    return 1 / (1 + (y - x) ** 2) / np.pi


def rate(y, x):
    return (1 + x) * np.exp(-(1 + x) * y)


def power(y, x):
    return (1 + x) * y**x


def box(y, x):
    return np.where((y >= x) & (y <= x + 1), 1.0, 0.0)


def late(y, x):
    return np.where(y >= x, np.exp(-(y - x)), 0.0)


KERNELS = {
    "laplace": (laplace, REALS, lambda y, x: mp.exp(-abs(y - x)) / 2),
    "normal": (normal, REALS, lambda y, x: mp.npdf(y, x, 1)),
    "cauchy": (cauchy, REALS, lambda y, x: 1 / (1 + (y - x) ** 2) / mp.pi),
    "rate": (rate, HALF, lambda y, x: (1 + x) * mp.exp(-(1 + x) * y)),
    "power": (power, UNIT, lambda y, x: (1 + x) * mp.mpf(y) ** x),
    "box": (box, REALS, lambda y, x: mp.mpf(x <= y <= x + 1)),
    "late": (late, REALS, lambda y, x: mp.exp(x - y) if y >= x else mp.mpf(0)),
}

PARTS = {
    "kl": (lambda k, f: k * mp.log(k / f) if k else mp.mpf(0), lambda s: s),
    "chi_square": (lambda k, f: k * k / f if k else mp.mpf(0), lambda s: s - 1),
    "total_variation": (min, lambda s: 1 - s),
    "squared_hellinger": (lambda k, f: mp.sqrt(k * f), lambda s: 1 - s),
}

NOT_CERTIFIED = {("cauchy", "total_variation")}

"""Left to an estimate: far out Arb does not tell the two sides of the minimum apart."""

CASES = [(k, f) for k in KERNELS for f in PARTS if (k, f) not in NOT_CERTIFIED]


def joint(name):
    density, outcome, _ = KERNELS[name]
    return PRIOR * bl.Mechanism(density, secret=PRIOR.on, outcome=outcome)


def truth(figure, k, marks, atoms=()):
    """Integrate between marks, by mpmath, and sum over atoms of the outcome: masses given x.

    The integrand has kinks, or jumps, at marks only; a minimum also where its sides cross.
    """
    part, of = PARTS[figure]

    def summed(ks):
        law = mp.fsum(p * v for p, v in zip(MASSES, ks, strict=True))
        return mp.fsum(p * part(v, law) for p, v in zip(MASSES, ks, strict=True))

    def apart(y, i):
        ks = [k(y, x) for x in SECRETS]
        return ks[i] - mp.fsum(p * v for p, v in zip(MASSES, ks, strict=True))

    cuts = sorted({mp.mpf(m) for m in marks})
    for a, b in pairwise(cuts) if part is min else ():
        low, high = max(a, -60), min(b, 60)
        grid = [low + (high - low) * mp.mpf(j + 0.37) / 600 for j in range(600)]
        for i in range(len(SECRETS)):
            values = [apart(y, i) for y in grid]
            cuts += [
                mp.findroot(lambda y, i=i: apart(y, i), pair, solver="anderson")
                for pair, ends in zip(pairwise(grid), pairwise(values), strict=True)
                if ends[0] * ends[1] < 0
            ]
    whole = mp.quad(lambda y: summed([k(y, x) for x in SECRETS]), sorted(cuts))
    return of(whole + mp.fsum(summed(masses) for masses in atoms))


def marks_of(name):
    """Return the ends of the outcomes, and where densities have kinks, jumps or poles."""
    outcome = KERNELS[name][1]
    lower = -mp.inf if outcome.lower is None else mp.mpf(outcome.lower)
    upper = mp.inf if outcome.upper is None else mp.mpf(outcome.upper)
    near_0 = [mp.mpf(2) ** -k for k in range(1, 150, 3)] if name == "power" else []
    inner = (m for x in SECRETS for m in (x, x + 1))
    return {lower, upper, *near_0, *(m for m in inner if lower < m < upper)}


@pytest.mark.few(1)
@pytest.mark.cases("slow", "rate-total_variation", "laplace-total_variation")
@pytest.mark.cases("truths", "normal-total_variation", "power-total_variation")
@pytest.mark.parametrize(("name", "figure"), CASES)
def test_it_encloses_the_truth(name, figure):
    bound = bl.f_information(joint(name), figure)
    with mp.workdps(25):
        value = truth(figure, KERNELS[name][2], marks_of(name))
    assert bound.lower <= value <= bound.upper and bound.width <= 1e-8


@pytest.mark.cases("truths", "total_variation")
@pytest.mark.parametrize("figure", PARTS)
def test_outcomes_with_atoms(figure):
    """Clipped noise: masses at both ends, and a density between."""
    made = PRIOR * bl.mechanisms.gaussian(sigma=1.0, secret=PRIOR.on).clip(0.0, 1.5)
    bound = bl.f_information(made, figure)
    with mp.workdps(25):
        below = [mp.ncdf(0, x, 1) for x in SECRETS]
        above = [mp.ncdf(-1.5, -x, 1) for x in SECRETS]
        marks = [mp.mpf(j) / 4 for j in range(7)]
        value = truth(figure, KERNELS["normal"][2], marks, (below, above))
    assert bound.lower <= value <= bound.upper and bound.width <= 1e-9


CONDITIONS = {
    "at most": lambda x: x <= 0,
    "less": lambda x: x < 1,
    "more": lambda x: np.logical_not(x > 0),
    "equal": lambda x: x == 0,
    "not equal": lambda x: x != 1,
    "a number": np.logical_not,
}


@pytest.mark.few(7)
@pytest.mark.parametrize("figure", PARTS)
@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_at_a_secret_are_about_it_alone(name, figure):
    """A secret of positive mass is no null set: what the kernel is beside it does not matter."""
    is_0 = CONDITIONS[name]
    prior = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))
    atom = bl.Mechanism(
        lambda y, x: np.where(is_0(x), 0.25, 0.75) + 0 * y,
        masses={0.5: lambda x: np.where(is_0(x), 0.75, 0.25)},
        secret=prior.on,
        outcome=bl.Mixed(UNIT, atoms=[0.5]),
    )
    steps = bl.Mechanism(
        lambda y, x: np.where(is_0(x), np.where(y < 0.5, 1.5, 0.5), np.where(y < 0.5, 0.5, 1.5)),
        secret=prior.on,
        outcome=UNIT,
    )
    logs = bl.Mechanism(
        lambda y, x: np.where(is_0(x), np.log(np.where(y < 0.5, 1.5, 0.5)),
                              np.log(np.where(y < 0.5, 0.5, 1.5))),
        secret=prior.on, outcome=UNIT, log=True)  # fmt: skip
    matrix = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    exact = bl.f_information(bl.pmf([F(1, 2), F(1, 2)]) * matrix, figure)
    for mechanism in (atom, steps, logs):
        bound = bl.f_information(prior * mechanism, figure)
        assert bound.lower <= exact.lower and exact.upper <= bound.upper
        assert bound.proved and bound.width <= 1e-9


@pytest.mark.cases("truths", "16", "24")
@pytest.mark.parametrize("secrets", [2, 16, 24])
def test_many_secrets(secrets):
    """The outer ones are as good as one on the line: 1 - TV from sums of exponentials."""
    on = bl.Finite(secrets)
    made = bl.uniform(on) * bl.Mechanism(laplace, secret=on, outcome=REALS)
    bound = bl.mutual_information(made)
    assert bound.status == "certified" and bound.width <= 1e-8
    with mp.workdps(20):

        def law(y):
            return sum(mp.exp(-abs(y - x)) / 2 for x in range(secrets)) / secrets

        # h(Y) - h(Y|X), the latter 1 + log 2
        marks = [-mp.inf, *range(secrets), mp.inf]
        value = -mp.quad(lambda y: law(y) * mp.log(law(y)), marks) - 1 - mp.log(2)
    assert bound.lower <= value <= bound.upper


def test_a_secret_that_is_impossible_changes_nothing():
    on = bl.Finite([-0.5, 0.0, 1.0, 2.0])
    made = bl.pmf([0.25, 0.25, 0.0, 0.5], on=on) * bl.Mechanism(laplace, secret=on, outcome=REALS)
    bound, other = bl.mutual_information(made), bl.mutual_information(joint("laplace"))
    assert max(bound.lower, other.lower) <= min(bound.upper, other.upper)


@pytest.mark.parametrize("figure", ["total_variation", "squared_hellinger"])
def test_an_outcome_that_tells_nothing(figure):
    """That it is not negative needs no proof: as floats the density integrates to more than 1."""
    same = bl.Mechanism(
        lambda y, x: np.log(0.5) + 0 * (y + x),
        secret=PRIOR.on,
        outcome=bl.Interval(-2, 0),
        log=True,
    )
    found = bl.f_information(PRIOR * same, figure)
    assert found.lower == 0 and found.upper < 1e-9
