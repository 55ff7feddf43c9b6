"""False claims about laws of leakages, made by hand: the checkers refuse them all."""

import copy
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from engine.certified_cases import UNIT, kernel, tilt
from engine.test_check_laws import POLYNOMIAL, STEPS
from engine.test_check_outcomes_attack import claim, tilted
from flint import arb

import borel as bl
from borel.audits.verification import verified, verify
from borel.engine.certificates.checks.laws import check_laws
from borel.engine.certificates.checks.means import check_means
from borel.engine.certificates.checks.suprema import check_outcomes
from borel.engine.certificates.checks.taylor_models import ONE, Model, axis, integral, run
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.attacks, pytest.mark.usefixtures("with_certificates")]

LAW = bl.pml(POLYNOMIAL)  # log(1 + |y - 1/2|)


def altered(bound, **changes):
    """Change a certificate: its ends, its prior, or what is claimed."""
    made = copy.deepcopy(bound.certificate)
    for name, value in changes.items():
        (made if name in made else made["claim"])[name] = value
    return made


# -- a figure by another name --------------------------------------------------------------------


@pytest.mark.parametrize("figure", ["tail", "cdf"])
def test_a_probability_is_no_quantile(figure):
    """P{PML > 0.2} is 0.56, the quantile at 0.2 is log 1.1 = 0.095."""
    assert verified("pml/law/quantile-0.2", getattr(LAW, figure)(0.2)).outcome == "refused"
    assert verified("pml/law/quantile-0.2", LAW.quantile(0.2)).outcome == "verified"


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_other_end_of_a_plateau(side):
    """PML of the steps is 0 with probability 1/2, log(4/3) with 3/8: the quantile at 1/2 is 0."""
    level, s = math.log(4 / 3), Fraction(1, 2) + (side == "left") * Fraction(1, 10**18)
    ends = {"lower": level - 1e-6, "upper": level + 1e-6}
    law = bl.pml(STEPS)
    made = altered(law.quantile(0.75), **ends, s=list(s.as_integer_ratio()), side=side)
    bound = replace(law.quantile(0.75), **ends, certificate=made)
    assert verified("pml/law/quantile-0.75", law.quantile(0.75)).outcome == "verified"
    assert verified("pml/law/quantile-0.5", bound).outcome == "refused"


# -- levels at which a quantile is infinite ------------------------------------------------------


@pytest.mark.parametrize(("s", "side"), [([0, 1], "left"), ([1, 1], "right")], ids=str)
@pytest.mark.parametrize("ends", [(-5.0, -5.0), (0.0, 0.0), (0.0, 0.5)], ids=str)
def test_an_infinite_quantile(s, side, ends):
    made = altered(LAW.quantile(0.5), s=s, side=side, lower=ends[0], upper=ends[1])
    assert not check_laws(made).ok


# -- no prior at all -----------------------------------------------------------------------------


def test_no_secrets():
    """Of no secrets anything is true: the leakage would be at most 0."""
    made = altered(LAW.tail(0.2), t=0.0, lower=0.0, upper=1e-9)
    made["prior"]["atoms"] = []
    assert not check_laws(made).ok
    assert not check_outcomes(claim("pml", (0.0, 0.001), tilted)).ok


# -- numbers that are none -----------------------------------------------------------------------


@pytest.mark.parametrize("end", ["lower", "upper"])
@pytest.mark.parametrize("value", ["0.5", "0.5 +/- 0.1", None, [0.5], 2**53 + 1], ids=str)
def test_ends_that_are_no_floats(end, value):
    """Arb reads "0.1" as a tenth, which is not the float; integers may have no float."""
    made = altered(LAW.tail(0.2), lower=0.0, upper=1.0)
    assert check_laws(made).ok
    made[end] = -value if end == "lower" and isinstance(value, int) else value
    assert not check_laws(made).ok


# -- models --------------------------------------------------------------------------------------


def test_the_logarithm_of_a_product_of_negative_factors():
    """log((-1)(y)) on y < -16 is above 2.7: it is not -inf."""
    density = trace(lambda y, x: (0 * x - 1) * y, ("y", "x"), ()), False
    found = run(density, True, x=axis(0.0, 1.0, 1, 0), y=axis(-math.inf, -16.0, 0, 1))
    assert not found.high < 3


def test_the_integral_of_what_is_not_a_number():
    """The radius of NaN is 0: an odd power of it does not vanish."""
    for nan in (arb(math.nan), arb.pos_inf() - arb.pos_inf(), arb.pos_inf()):
        found = integral(Model({ONE: arb(1), (1, 0): nan}), 0.0, 1.0)
        assert not found.start.is_finite()


def test_a_marginal_that_is_not_that_of_the_joint_is_refused():
    """f_Y may be given, by a theorem: it is trusted only as far as it is not seen to be wrong."""
    bound = bl.pml(POLYNOMIAL).sup()
    made = copy.deepcopy(bound.certificate)
    graph = trace(lambda y: np.log(2.0) + 0 * y, ("y",), ()).to_json()
    made["claim"]["marginal"], made["lower"], made["upper"] = graph, 0.0, 0.01
    assert not check_outcomes(made).ok
    made = copy.deepcopy(bl.pml(POLYNOMIAL).tail(0.2).certificate)
    made["claim"]["marginal"], made["lower"], made["upper"] = graph, 0.0, 1e-6
    assert not check_laws(made).ok


def test_a_marginal_that_is_off_only_here_and_there_is_refused():
    """f_Y is 1; what is given has the same integral, and on each box a range that meets it."""
    bound = bl.pml(bl.uniform(UNIT) * kernel(tilt, outcome=UNIT)).mean()
    for size in (0.3, 0.9):
        made = copy.deepcopy(bound.certificate)
        made["claim"]["marginal"] = trace(
            lambda y, e=size: np.log(1 - e * (1 / 6 - 2 * (y - 0.5) ** 2)), ("y",), ()
        ).to_json()
        made["claim"]["cover"], made["lower"], made["upper"] = [0.0, 0.5, 1.0], 0.0, 1.0
        assert not check_means(made).ok


@pytest.mark.parametrize(
    "wrong",
    [
        {"lower": "abc"},
        {"lower": None},
        {"upper": [1]},
        {"upper": 10**400},
        {"parts": [{}]},
        {"parts": [{}, {}]},
        {"sides": []},
        {"sides": [{}]},
        {"sides": [{"quantity": "pml"}, {"quantity": "pmc"}]},
        {"sides": [{"parts": {"a": 1}}]},
        {"claim": 1, "prior": None},
    ],
    ids=str,
)
def test_what_is_no_certificate_is_refused_not_a_crash(wrong, tmp_path):
    bound = bl.pml(POLYNOMIAL).sup()
    changed = bound.about(certificate={**bound.certificate, **wrong})
    for name in ("pml", "lip", "pml/law/mean"):
        assert verified(name, changed).outcome == "refused"
    path = tmp_path / "wrong.json"
    for made in (wrong, {**bound.certificate, **wrong}):
        path.write_text(json.dumps(made))
        if "lower" not in wrong and "upper" not in wrong:  # alone it claims nothing of a figure
            assert verify(path)[0].outcome == "refused"
        else:
            verify(path)


def test_parts_that_are_none_are_refused():
    bound = bl.pml(POLYNOMIAL).sup()
    for parts in ([], [None], "", 3):
        changed = bound.about(certificate={**bound.certificate, "parts": parts})
        assert verified("pml", changed).outcome == "refused"


@pytest.mark.parametrize(
    "name",
    [
        *("alip", "psi_1", "maximal_cost", "pml/median", "pml/cost", "pml/law", "capacity"),
        *("guarantees/ALIP-epsilon-0.5", "guarantees/PML-epsilon-0.5-delta-", "a name"),
    ],
)
def test_nothing_is_verified_by_a_name_of_which_that_is_not_known(name):
    row = verified(name, bl.pml(POLYNOMIAL).sup())
    assert row.outcome == "none" and "it is about" in row.words


def test_certificates_of_guarantees():
    """Of a supremum where delta is 0, else of the tail at epsilon."""
    sup, tail = bl.pml(POLYNOMIAL).sup(), bl.pml(POLYNOMIAL).tail(0.25)
    for name in ("PML-epsilon-0.25", "PML-epsilon-0.25-delta-0", "PML-epsilon-1.0-delta-0.0"):
        assert verified(f"guarantees/{name}", sup).outcome == "verified"
        assert verified(f"guarantees/{name}", tail).outcome == "refused"
    name = "guarantees/PML-epsilon-0.25-delta-0.125"
    assert verified(name, tail).outcome == "verified"
    assert verified(name, sup).outcome == "refused"
    assert verified(name.replace("0.25", "0.5"), tail).outcome == "refused"
    assert verified(name.replace("PML", "PMC"), tail).outcome == "refused"
    for kind in ("PMC", "LIP", "LDP"):
        assert verified(f"guarantees/{kind}-epsilon-0.25", sup).outcome == "refused"
