"""Figures of a kernel that misses 1 a little are those of the law meant, f(y|x) over its integral.

The kernels are f(y|x) (1 + e(x)) for an f whose figures are known by hand, and an e so large that
an enclosure which does not cover it leaves them out. They are refused as a rule; here they are not.
"""

import math

import numpy as np
import pytest

import borel as bl
from borel.engine.problem import kernel_normalisation
from borel.engine.problem.kernel_normalisation import statement

UNIT = bl.Interval(0, 1)
FLAT = bl.uniform(UNIT)
OFF = 1e-7
FACTORS = {
    "more": lambda x: 1 + OFF + 0 * x,
    "less": lambda x: 1 - OFF + 0 * x,
    "tilted": lambda x: 1 + OFF * (2 * x - 1),
    "other way": lambda x: 1 - OFF * (2 * x - 1),
}


@pytest.fixture(autouse=True)
def let_in(monkeypatch):
    """Let in what is proved to miss 1, to 1e-6."""
    monkeypatch.setattr(kernel_normalisation, "require_one", lambda *_: None)


def joint(factor, f, **about):
    kernel = bl.Mechanism(
        lambda y, x: f(y, x) * FACTORS[factor](x), secret=UNIT, outcome=UNIT, **about
    )
    assert statement(kernel, FLAT).status == "within"
    return FLAT * kernel


def tilted(y, x):
    """f_Y = y + 1/2; the largest f(y|x) is max(1, 2 y), the least min(1, 2 y)."""
    return 1 + x * (2 * y - 1)


def two_sizes(y, x):
    """f_Y = 2 for y < 1/8 and 6/7 beyond: PML is log 2 there, with probability 1/4, or log 4/3."""
    return np.where(y < 0.125, 4 * x, (8 - 4 * x) / 7)


def median():
    """PML is log 2y/(y + 1/2) for y > 1/2 and -log(y + 1/2) before; it falls, then rises."""
    # {PML <= t}: e^-t - 1/2 <= y <= e^t / (2 (2 - e^t)), of mass (y^2 + y) / 2
    low, high = 0.0, math.log(2)
    for _ in range(200):
        t = (low + high) / 2
        a, b = math.exp(-t) - 0.5, math.exp(t) / (2 * (2 - math.exp(t)))
        low, high = (t, high) if (b * b + b - a * a - a) / 2 < 0.5 else (low, t)
    return low


TRUTHS = {
    "pml at 1/4": (lambda j: bl.pml(j)(0.25), math.log(4 / 3)),
    "pmc at 1/4": (lambda j: bl.pmc(j)(0.25), math.log(3 / 2)),
    "pml sup": (lambda j: bl.pml(j).sup(), math.log(2)),
    "information density": (lambda j: bl.information_density(j)(0.5, 0.25), 0.0),
    "maximal leakage": (bl.maximal_leakage, math.log(5 / 4)),
    "maximal cost leakage": (bl.maximal_cost_leakage, -math.log(3 / 4)),
    "mean of e^pml": (lambda j: bl.pml(j).exp_mean(), 5 / 4),
    "median of pml": (lambda j: bl.pml(j).quantile(0.5), median()),
}


@pytest.mark.cases(
    "truths", *(f"{factor}-{figure}" for factor in ("less", "other way") for figure in TRUTHS)
)
@pytest.mark.parametrize("figure", TRUTHS)
@pytest.mark.parametrize("factor", FACTORS)
def test_a_figure_covers_the_law_meant(factor, figure):
    compute, truth = TRUTHS[figure]
    with bl.options(tol=1e-7, budget=5):
        found = compute(joint(factor, tilted))
    assert found.status == "certified"
    assert found.lower <= truth <= found.upper <= found.lower + 4e-5
    (note,) = (a for a in found.assumptions if a.startswith("kernel normalised"))
    assert OFF <= float(note.removeprefix("kernel normalised: proved within ")) <= 1e-6


@pytest.mark.parametrize("factor", FACTORS)
def test_laws_move_in_probability_too(factor):
    leak = bl.pml(joint(factor, two_sizes, breaks=[0.125]))
    with bl.options(budget=1):
        tail, ends = leak.tail(0.5), leak.quantile(0.75)
    assert tail.lower <= 1 / 4 <= tail.upper and ends.lower <= math.log(4 / 3) <= ends.upper
    assert tail.width < 1e-5 and ends.status == tail.status == "certified"
    assert leak.quantile(0.74).upper < 0.288 and leak.quantile(0.76).lower > 0.693


@pytest.mark.parametrize("factor", FACTORS)
def test_ldp_covers_both_secrets(factor):
    found = bl.ldp(joint(factor, lambda y, x: 1 + x * (2 * y - 1) / 2))
    assert found.status == "certified" and found.lower <= math.log(2) <= found.upper
    assert found.width < 1e-5


def test_what_is_not_known_to_be_covered_is_conditional():
    with bl.options(tol=1e-3, budget=5):
        found = bl.envelope(joint("more", tilted))(0.1)
    assert found.status == "conditional"
