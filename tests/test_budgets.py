"""What a user sees as certified has a certificate; what only the engine proves says so."""

from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel import adversaries as adv
from borel.audits.set_audit import cost
from borel.engine.problem.budget import ENGINE, vouched
from borel.figures import envelope_bounds
from borel.probability.bound import Bound

UNIT, REALS, BIT = bl.Interval(0, 1), bl.Reals(), bl.Finite([0.0, 1.0])


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


CONTINUOUS = bl.beta(alpha=2, beta=5) * bl.Mechanism(laplace, secret=UNIT, outcome=REALS)
ON_A_LINE = bl.pmf([0.25, 0.75], on=BIT) * bl.Mechanism(laplace, secret=BIT, outcome=REALS)
TABLE = bl.pmf([0.25, 0.75]) * bl.Mechanism.from_matrix(np.array([[0.7, 0.3], [0.4, 0.6]]))
NOISY = bl.uniform(UNIT) * bl.mechanisms.gaussian(sigma=0.5)
COUNTED = bl.poisson(mu=3) * bl.Mechanism(laplace, secret=bl.Integers(0, None), outcome=REALS)
BALL = bl.priors.tv_ball(bl.uniform(UNIT), 0.1)
ON_UNIT = bl.Mechanism(laplace, secret=UNIT, outcome=REALS)
FAMILY = bl.priors.family(lambda t: bl.beta(alpha=2.0, beta=t), bl.Interval(2, 3))
P, Q = bl.beta(alpha=2, beta=5), bl.beta(alpha=2.5, beta=5)

WITH = {
    "an outcome": lambda: bl.pml(CONTINUOUS)(0.25),
    "a supremum": lambda: bl.pmc(CONTINUOUS).sup(),
    "a quantile": lambda: bl.pml(CONTINUOUS).quantile(0.9),
    "a mean": lambda: bl.pml(CONTINUOUS).mean(),
    "an information density": lambda: bl.information_density(CONTINUOUS)(0.5, 0.25),
    "LIP": lambda: bl.lip(CONTINUOUS),
    "mutual information": lambda: bl.mutual_information(ON_A_LINE),
    "an envelope": lambda: bl.envelope(ON_A_LINE)(F(1, 5)),
    "the envelope of a table": lambda: bl.envelope(TABLE)(F(1, 5)),
    "a mass of it": lambda: bl.envelope(TABLE, of="pmc").delta(0.1),
    "an envelope of a continuous secret": lambda: bl.envelope(CONTINUOUS)(F(1, 5)),
    "a mass of that": lambda: bl.envelope(CONTINUOUS).delta(0.3),
    "an event": lambda: bl.event_maximal_leakage(ON_A_LINE, delta=F(1, 5)),
    "an infinite quantile": lambda: bl.pmc(COUNTED).quantile(0.5),
    "a set": lambda: bl.pml(BALL * ON_UNIT).sup(),
}
WITHOUT = {
    "an envelope that bins bound": lambda: bl.envelope(NOISY)(F(1, 5)),
    "all of the mass of an envelope": lambda: bl.envelope(ON_A_LINE)(1),
    "a family of priors": lambda: bl.pml(FAMILY * ON_UNIT).sup(),
    "the divergence of two measures": lambda: bl.renyi(P, Q, 2.5),
    "another one": lambda: bl.f_divergence(P, Q, "total_variation"),
    "a hockey stick": lambda: bl.hockey_stick(P, Q, 0.1),
    "a bound of an envelope": lambda: envelope_bounds.upper_bound(CONTINUOUS, F(1, 5)),
    "the price of a set": lambda: cost(
        bl.pml(BALL * ON_UNIT).sup(), bl.pml(bl.uniform(UNIT) * ON_UNIT).sup()
    ),
    "what a region tells": lambda: adv.witness(CONTINUOUS, 0.25, epsilon=0.1).leakage(),
}


@pytest.mark.cases("slow", "a mean", "an envelope of a continuous secret")
@pytest.mark.parametrize("name", WITH)
def test_certified_figures_have_a_certificate(name):
    with bl.options(budget=20):
        found = WITH[name]()
    assert found.status == "certified" and found.certificate is not None
    assert ENGINE not in found.assumptions


@pytest.mark.cases("slow", "a bound of an envelope", "a family of priors")
@pytest.mark.parametrize("name", WITHOUT)
def test_others_are_conditional_on_the_engine(name):
    with bl.options(budget=10):
        found = WITHOUT[name]()
        assert found.certificate is None
        if found.status == "conditional":
            assert ENGINE in found.assumptions
        with bl.options(certificates=False):
            bare = WITHOUT[name]()
    assert found.status in ("conditional", "exact", "undecided", "estimate"), found
    assert bare.status in (found.status, "certified") and ENGINE not in bare.assumptions
    assert bare.certificate is None


def test_only_certified_figures_without_a_certificate_are_changed():
    ends, proof = (0.25, 0.5), {"claim": {}}
    assert vouched(Bound.exact(*ends)) == Bound.exact(*ends)
    assert vouched(Bound.certified(*ends, certificate=proof)).status == "certified"
    assert vouched(Bound.certified(*ends, assumptions=("a",))).assumptions == ("a", ENGINE)
    for other in (Bound.estimate(0.25, 0.5), Bound.undecided(reason="late")):
        assert vouched(other) == other
    with bl.options(certificates=False):
        assert vouched(Bound.certified(*ends)).status == "certified"


def test_it_is_said_once_however_many_figures_it_came_through():
    found = bl.envelope(ON_A_LINE)(1)
    assert vouched(vouched(found)).assumptions.count(ENGINE) == 1
    assert (found <= 2).holds and repr(found <= 2).endswith("conditional)")
