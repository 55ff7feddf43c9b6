"""Certificates are made when they are asked for, and a status is what the engine proves."""

import copy
import json
import pickle
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel import adversaries as adv
from borel.audits.set_audit import cost
from borel.audits.store import pack, unpack
from borel.checker import Refused, verify
from borel.checker.reading import extended, parse
from borel.engine.certificates import Question, asked
from borel.figures import envelope_bounds
from borel.numerics.intervals.rounding import fraction_down, fraction_up
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
AROUND = bl.priors.tv_ball(bl.pmf([0.25, 0.75]), 0.1)
DIVERGENCE = bl.priors.kl_ball(bl.pmf([0.25, 0.75]), 0.1, direction="to_centre")
FAMILY = bl.priors.family(lambda t: bl.beta(alpha=2.0, beta=t), bl.Interval(2, 3))
COUNTS = bl.priors.from_counts([30, 70], confidence=0.95)
NOISE = bl.mechanisms.laplace(b=1.0, secret=UNIT)
P, Q = bl.beta(alpha=2, beta=5), bl.beta(alpha=2.5, beta=5)

RATIONAL = bl.pmf([F(1, 4), F(3, 4)]) * bl.Mechanism.from_matrix(
    [[F(7, 10), F(3, 10)], [F(2, 5), F(3, 5)]]
)
RESPONSE = bl.pmf([0.25, 0.75]) * bl.mechanisms.randomized_response(k=2, epsilon=1.0)
MASSES = bl.uniform(UNIT) * bl.Mechanism(
    lambda y, x: np.where(y > 0, x, 1 - x), secret=UNIT, outcome=BIT
)

WITH = {
    "an outcome": lambda: bl.pml(CONTINUOUS)(0.25),
    "an atom of the outcome": lambda: bl.pml(MASSES)(1.0),
    "a supremum": lambda: bl.pmc(CONTINUOUS).sup(),
    "a supremum of two": lambda: bl.pml(ON_A_LINE).sup(),
    "a tail": lambda: bl.pml(ON_A_LINE).tail(0.1),
    "a cdf": lambda: bl.pml(ON_A_LINE).cdf(0.1),
    "a quantile": lambda: bl.pml(ON_A_LINE).quantile(0.9),
    "a table at an outcome": lambda: bl.pml(TABLE)(1),
    "a table": lambda: bl.pmc(TABLE).sup(),
    "a table of Fractions": lambda: bl.pml(RATIONAL).sup(),
    "a tail of a table": lambda: bl.pml(TABLE).tail(F(1, 10), closed=True),
    "a quantile of a table": lambda: bl.pml(TABLE).quantile(0.5, side="right"),
    "a mean of a table": lambda: bl.pml(TABLE).mean(),
    "an exponential mean of a table": lambda: bl.pml(TABLE).exp_mean(),
    "LDP of a table": lambda: bl.ldp(RESPONSE),
    "LIP of a table": lambda: bl.lip(TABLE),
    "maximal leakage of a table": lambda: bl.maximal_leakage(TABLE),
    "mutual information of a table": lambda: bl.mutual_information(TABLE),
    "f-information of a table": lambda: bl.f_information(TABLE, "chi_square"),
    "an information density of a table": lambda: bl.information_density(TABLE)(0, 1),
    "the envelope of a table": lambda: bl.envelope(TABLE)(F(1, 5)),
    "a mass of it": lambda: bl.envelope(TABLE, of="pmc").delta(0.1),
    "a mass at a ratio": lambda: bl.envelope(TABLE).delta(ratio=F(11, 10)),
    "a set on a table": lambda: bl.pml(AROUND * TABLE.mechanism).sup(),
    "a set on a table at an outcome": lambda: bl.pmc(AROUND * TABLE.mechanism)(1),
    "a lower expectation": lambda: AROUND.lower([0.0, 1.0]),
    "an upper expectation": lambda: AROUND.upper([0.0, 1.0]),
    "a set that counts give": lambda: bl.pml(COUNTS * TABLE.mechanism).sup(),
}
FIGURES = {
    "a mean": lambda: bl.pml(CONTINUOUS).mean(),
    "an information density": lambda: bl.information_density(CONTINUOUS)(0.5, 0.25),
    "LIP": lambda: bl.lip(CONTINUOUS),
    "mutual information": lambda: bl.mutual_information(ON_A_LINE),
    "an envelope": lambda: bl.envelope(ON_A_LINE)(F(1, 5)),
    "an envelope of a continuous secret": lambda: bl.envelope(CONTINUOUS)(F(1, 5)),
    "an event": lambda: bl.event_maximal_leakage(ON_A_LINE, delta=F(1, 5)),
    "an infinite quantile": lambda: bl.pmc(COUNTED).quantile(0.5),
    "a set": lambda: bl.pml(BALL * ON_UNIT).sup(),
    "a closed form": lambda: bl.pml(bl.uniform(UNIT) * NOISE).sup(),
    "an open level": lambda: bl.envelope(TABLE).delta(0.1, closed=False),
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
    "a privacy profile": lambda: bl.privacy_profile(TABLE)(0.25),
    "a ball of a divergence": lambda: bl.pml(DIVERGENCE * TABLE.mechanism).sup(),
    "an expectation over it": lambda: DIVERGENCE.lower([0.0, 1.0]),
    "what a region tells": lambda: adv.witness(CONTINUOUS, 0.25, epsilon=0.1).leakage(),
}
WITHOUT = {
    "a mean": ("certified", "a rule for pml.mean of a joint that is no table"),
    "an information density": ("certified", "a rule for information_density"),
    "LIP": ("certified", "a rule for lip"),
    "mutual information": ("certified", "a rule for mutual_information"),
    "an envelope": ("certified", "a rule for pml.envelope"),
    "an envelope of a continuous secret": ("certified", "a rule for pml.envelope"),
    "an event": ("certified", "a rule for event_maximal_leakage"),
    "an infinite quantile": ("certified", "countable alphabets"),
    "a set": ("certified", "a rule for pml.sup over PriorSet"),
    "a closed form": ("exact", "a closed form to its last digit"),
    "an open level": ("certified", "at an open level"),
    "an envelope that bins bound": ("certified", "envelope"),
    "all of the mass of an envelope": ("certified", "envelope"),
    "a family of priors": ("estimate", "proves nothing"),
    "the divergence of two measures": ("exact", "a rule for renyi"),
    "another one": ("certified", "f_divergence"),
    "a hockey stick": ("certified", "hockey_stick"),
    "a bound of an envelope": ("certified", "made from others"),
    "the price of a set": ("certified", "made from others"),
    "a privacy profile": ("exact", "a rule for profile_excess"),
    "a ball of a divergence": ("certified", "a rule for PriorSet.kl_ball"),
    "an expectation over it": ("certified", "a rule for PriorSet.kl_ball"),
    "what a region tells": ("certified", "made from others"),
}


def joints():
    """Return a joint anew: nothing of it has been asked."""
    noise = bl.Mechanism(laplace, secret=UNIT, outcome=REALS)
    return bl.beta(alpha=2, beta=5) * noise


@pytest.mark.cases("proofs", "an outcome", "a supremum", "a quantile", "a tail", "a cdf")
@pytest.mark.parametrize("name", WITH)
def test_a_certificate_is_made_when_it_is_asked_for(name):
    with bl.options(budget=120):
        found = WITH[name]()
    assert found.certificate is None and (found.proved or name == "a set that counts give")
    made = found.certify()  # under the options of the figure
    claim = parse(json.dumps(made.certificate))
    assert verify(claim).figure == claim["figure"]
    assert made.certify() is made and found.certificate is None
    assert replace(made, certificate=None) == found  # its ends and its status are as they were
    ends = [extended(claim[end], end) for end in ("lower", "upper")]
    assert (found.lower, found.upper) == (fraction_down(F(ends[0])), fraction_up(F(ends[1])))
    half = {**claim, "lower": (found.lower / 4).hex(), "upper": (found.lower / 2).hex()}
    with pytest.raises(Refused):
        verify(half)


@pytest.mark.few(2)
@pytest.mark.cases("slow", "all of the mass of an envelope", "an envelope", "a mean")
@pytest.mark.cases(
    "slow", "a bound of an envelope", "a family of priors", "an envelope that bins bound"
)
@pytest.mark.parametrize("name", WITHOUT)
def test_what_no_checker_verifies_keeps_its_status(name):
    status, why = WITHOUT[name]
    with bl.options(budget=30 if "family" in name else 10):  # it looks at five members at least
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


@pytest.mark.slow
def test_what_is_missing_is_named():
    with pytest.raises(
        bl.NotYet, match=r"rule for pml\.mean .*the figure is certified without a certificate"
    ):
        bl.pml(CONTINUOUS).mean().certify()
    with bl.options(engine="estimate"):
        found = bl.pml(CONTINUOUS)(0.25)
    with pytest.raises(bl.NotYet, match="an estimate proves nothing"):
        found.certify()
    assert bl.pml(CONTINUOUS)(0.25).status == "certified"
    undecided = Bound.undecided(reason="late").answering(found.question)
    with pytest.raises(bl.NotYet, match="undecided"):
        undecided.certify()


def test_what_the_checker_refuses_has_no_certificate():
    """A false claim: PML of the table is log 1.47 at most, at the outcome 0."""
    found = bl.pml(TABLE).sup()
    false = Bound.exact(0.0, found.lower / 2).answering(found.question)
    with pytest.raises(bl.NotYet, match=r"a proof of sup\(pml\).*the checker takes.*above"):
        false.certify()


def test_a_certificate_is_made_under_the_options_of_its_figure(monkeypatch):
    seen, make = [], asked.certificate

    def recorded(*question):
        seen.append(current())
        return make(*question)

    monkeypatch.setattr(asked, "certificate", recorded)
    with bl.options(tol=1e-4, seed=3, budget=5) as chosen:
        question = Question(TABLE, "sup", ("pml",), chosen)
        found = bl.pml(TABLE).sup()
    with bl.options(budget=120):
        made = Bound.exact(found.lower, found.upper).answering(question).certify()
    assert seen == [chosen]
    assert made.certificate is not None and made.question is question


def test_a_certified_figure_knows_what_was_asked():
    with bl.options(tol=1e-4):
        found = bl.pml(joints())(0.25)
    with bl.options(tol=1e-8):
        made = found.certify()
    assert made.question.options.tol == 1e-4 and made.question.figure == "at"
    assert made.question.arguments == ("pml", 0.25)


@pytest.mark.proofs
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


@pytest.mark.proofs
def test_no_certificate_is_tried_where_none_is_asked_for(monkeypatch):
    """Not even begun: nothing of what makes them is called."""

    def refuse(*_, **__):
        raise AssertionError("a certificate was tried")

    monkeypatch.setattr(asked, "certificate", refuse)
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
