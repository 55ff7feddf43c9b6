"""Laws under Beta priors, whose log p is steep at both ends: closed forms."""

import math

import pytest
from engine.certified_cases import kernel

import borel as bl

UNIT = bl.Interval(0, 1)


def answer(y, x):
    return 1 + (2 * x - 1) * (2 * y - 1) / 2


TRUTHS = {
    ("pml", "tail"): 1 - 2 * math.expm1(0.2),
    ("pml", "cdf"): 2 * math.expm1(0.2),
    ("pml", "quantile"): math.log(1.25),
    ("pml", "mean"): 3 * math.log(1.5) - 1,
    ("pml", "exp_mean"): 1.25,
    ("pmc", "tail"): 1 + 2 * math.expm1(-0.2),
    ("pmc", "cdf"): -2 * math.expm1(-0.2),
    ("pmc", "quantile"): -math.log(0.75),
    ("pmc", "mean"): 1 - math.log(2),
    ("pmc", "exp_mean"): 2 * math.log(2),
}

AT = {"tail": (0.2,), "cdf": (0.2,), "quantile": (0.5,)}


@pytest.fixture(scope="module")
def laws():
    joint = bl.beta(alpha=2, beta=2) * kernel(answer, outcome=UNIT)
    return {"pml": bl.pml(joint), "pmc": bl.pmc(joint)}


@pytest.mark.cases(
    "slow",
    "pmc-cdf",
    "pmc-exp_mean",
    "pmc-mean",
    "pmc-quantile",
    "pmc-tail",
    "pml-cdf",
    "pml-mean",
    "pml-quantile",
    "pml-tail",
)
@pytest.mark.parametrize(("kind", "figure"), list(TRUTHS))
def test_figures_of_a_law_enclose_the_truth(laws, kind, figure):
    bound, truth = getattr(laws[kind], figure)(*AT.get(figure, ())), TRUTHS[kind, figure]
    assert bound.lower <= truth <= bound.upper <= bound.lower + 1.1e-8


@pytest.mark.cases("slow", "Gaussian")
@pytest.mark.parametrize(
    ("mechanism", "truth"),
    [
        (bl.mechanisms.laplace(b=1.0, secret=UNIT), 1.5),
        (bl.mechanisms.gaussian(sigma=1.0, secret=UNIT), 1 + 1 / math.sqrt(2 * math.pi)),
    ],
    ids=["Laplace", "Gaussian"],
)
def test_noise_on_a_beta_prior(mechanism, truth):
    bound = bl.pml(bl.beta(alpha=2, beta=5) * mechanism).exp_mean()
    assert bound.status == "certified"
    assert bound.lower <= truth <= bound.upper <= bound.lower + 1.1e-8


def test_a_tail_of_noise_on_a_beta_prior():
    """P{PML > 0.2} by mpmath: quadrature for f_Y, and roots of sup f / f_Y = e^0.2."""
    joint = bl.beta(alpha=2, beta=5) * bl.mechanisms.gaussian(sigma=1.0, secret=UNIT)
    with bl.options(tol=1e-5):
        bound = bl.pml(joint).tail(0.2)
    assert bound.lower < 0.47629239 < 0.47629241 < bound.upper < bound.lower + 1.1e-5


@pytest.mark.cases("slow", "laplace")
@pytest.mark.parametrize("mechanism", [bl.mechanisms.laplace, bl.mechanisms.gaussian])
def test_an_unbounded_density(mechanism):
    """E e^PML is the integral of the largest kernel."""
    laplace = mechanism is bl.mechanisms.laplace
    noise = mechanism(secret=UNIT, **({"b": 1.0} if laplace else {"sigma": 1.0}))
    bound = bl.pml(bl.beta(alpha=0.5, beta=0.5) * noise).exp_mean()
    truth = 1.5 if laplace else 1 + 1 / math.sqrt(2 * math.pi)
    assert bound.lower <= truth <= bound.upper <= bound.lower + 1.1e-8
