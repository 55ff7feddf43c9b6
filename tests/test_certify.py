"""Certificates are made when they are asked for, and a status is what the engine proves."""

import copy
import pickle
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel import adversaries as adv
from borel.audits.set_audit import cost
from borel.audits.store import pack, unpack
from borel.engine.certificates import (
    Question,
    at_outcomes,
    encoding,
    infinities,
    laws,
    several_secrets,
    wanted,
)
from borel.engine.certificates.checks.composition import examined
from borel.figures import envelope_bounds
from borel.probability.bound import Bound
from borel.settings import current

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
DIVERGENCE = bl.priors.kl_ball(bl.pmf([0.25, 0.75]), 0.1, direction="to_centre")
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
    "a set on a table": lambda: bl.pml(DIVERGENCE * TABLE.mechanism).sup(),
    "a set": lambda: bl.pml(BALL * ON_UNIT).sup(),
}
FIGURES = {
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
WITHOUT = {
    "an envelope that bins bound": ("certified", "envelope"),
    "all of the mass of an envelope": ("certified", "envelope"),
    "a family of priors": ("estimate", "proves nothing"),
    "the divergence of two measures": ("exact", "closed forms"),
    "another one": ("certified", "f_divergence"),
    "a hockey stick": ("certified", "hockey_stick"),
    "a bound of an envelope": ("certified", "made from others"),
    "the price of a set": ("certified", "made from others"),
    "what a region tells": ("certified", "made from others"),
}


def joints():
    """Return a joint anew: nothing of it has been asked."""
    noise = bl.Mechanism(laplace, secret=UNIT, outcome=REALS)
    return bl.beta(alpha=2, beta=5) * noise


@pytest.mark.cases(
    "proofs",
    "a supremum",
    "a mean",
    "LIP",
    "a quantile",
    "mutual information",
    "an envelope",
    "a mass of that",
    "an envelope of a continuous secret",
    "an event",
    "an infinite quantile",
    "a set",
)
@pytest.mark.parametrize("name", WITH)
def test_a_certificate_is_made_when_it_is_asked_for(name):
    with bl.options(budget=120):
        found = WITH[name]()
    assert found.status == "certified" and found.certificate is None
    made = found.certify()  # under the options of the figure
    assert examined(made.certificate)[0] == []
    assert made.certify() is made and found.certificate is None
    assert made.status == "certified" and made.assumptions == found.assumptions
    # it may be a little wider
    assert made.lower <= found.upper and found.lower <= made.upper
    assert made.width <= found.width + 1e-8


@pytest.mark.cases("slow", "a bound of an envelope", "a family of priors")
@pytest.mark.parametrize("name", WITHOUT)
def test_what_no_checker_verifies_keeps_its_status(name):
    status, why = WITHOUT[name]
    with bl.options(budget=10):
        found = FIGURES[name]()
    assert found.status == status and found.certificate is None
    error = bl.InvalidInput if "made from others" in why else bl.NotYet
    with pytest.raises(error, match=why):
        found.certify()


def test_a_bound_that_was_not_asked_of_a_joint_says_what_to_do():
    exact = bl.pml(TABLE).sup()
    made = [
        Bound.certified(0.25, 0.5),
        pickle.loads(pickle.dumps(exact)),
        exact.about(reason="a note"),
        replace(exact, upper=exact.upper + 1.0),
        unpack(pack(exact)),
    ]
    for bound in made:
        with pytest.raises(bl.InvalidInput, match="ask the figure of the joint again"):
            bound.certify()
    assert pickle.loads(pickle.dumps(exact)) == copy.copy(exact) == exact
    assert "question" not in repr(exact)


def test_what_is_missing_is_named():
    with pytest.raises(bl.NotYet, match=r"rule for closed forms.*its status, exact, stands"):
        bl.pml(TABLE).sup().certify()
    with bl.options(engine="estimate"):
        found = bl.pml(CONTINUOUS)(0.25)
    with pytest.raises(bl.NotYet, match="an estimate proves nothing"):
        found.certify()
    assert bl.pml(CONTINUOUS)(0.25).status == "certified"
    undecided = Bound.undecided(reason="late").answering(found.question)
    with pytest.raises(bl.NotYet, match="undecided"):
        undecided.certify()


def test_a_certificate_is_computed_under_the_options_of_its_figure():
    """But for the budget: the larger one."""
    seen = []

    def again():
        seen.append((current(), wanted()))
        return Bound.certified(0.25, 0.5, certificate={"claim": {}})

    with bl.options(tol=1e-4, seed=3, budget=5) as asked:
        question = Question(TABLE, "sup", ("pml",), asked, again)
    for budget, larger in ((2, 5), (120, 120)):
        with bl.options(budget=budget):
            made = Bound.certified(0.25, 0.5).answering(question).certify()
        assert seen.pop() == (replace(asked, budget=larger), True) and not wanted()
        assert made.certificate is not None and made.question is question


def test_a_certified_figure_knows_what_was_asked():
    with bl.options(tol=1e-4):
        found = bl.pml(joints())(0.25)
    with bl.options(tol=1e-8, budget=120):  # more time than the figure had
        made = found.certify()
    assert made.question.options.tol == 1e-4 and made.question.figure == "at"
    assert made.question.arguments == ("pml", 0.25)


@pytest.mark.parametrize("first", [True, False])
def test_the_order_of_asking_changes_no_figure(first):
    """Neither a figure nor its certificate depends on which others were asked before."""
    figures = {"at": lambda ell: ell(0.25), "sup": lambda ell: ell.sup()}
    with bl.options(tol=1e-4, budget=120):
        ell, names = bl.pml(joints()), [*figures] if first else [*figures][::-1]
        for name in names:
            figure = figures[name]
            alone = figure(bl.pml(joints()))
            assert figure(ell) == alone and alone.certificate is None
            assert figure(ell).certify() == alone.certify()
            assert figure(ell) == alone


def test_no_certificate_is_tried_where_none_is_asked_for(monkeypatch):
    """Not even begun: nothing of what makes them, or checks them, is called."""

    def refuse(*_, **__):
        raise AssertionError("a certificate was tried")

    for module in (laws, at_outcomes, several_secrets, infinities):
        monkeypatch.setattr(module, "followed", refuse)
    monkeypatch.setattr(laws, "tried", refuse)
    monkeypatch.setattr(encoding, "header", refuse)
    ell = bl.pml(joints())
    for figure in (ell(0.25), ell.sup(), ell.tail(0.25), ell.quantile(0.5), ell.mean()):
        assert figure.status == "certified" and figure.certificate is None
    assert bl.mutual_information(ON_A_LINE).status == "certified"
    with pytest.raises(AssertionError, match="was tried"):
        ell(0.25).certify()


@pytest.mark.parametrize("value", [True, False])
def test_the_option_does_nothing_and_says_what_to_write_instead(value):
    with pytest.warns(DeprecationWarning, match=r"bound\.certify\(\)") as said:
        with bl.options(certificates=value, tol=1e-6) as chosen:
            found = bl.pml(joints())(0.25)
    assert len(said) == 1 and said[0].filename == __file__
    assert chosen.tol == 1e-6 and not hasattr(chosen, "certificates")
    assert found.certificate is None and found.status == "certified"
    with bl.options(tol=1e-6):
        assert found == bl.pml(joints())(0.25)
