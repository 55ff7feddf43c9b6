"""Certificates of kernels with a factor without bound, as 1 / (1 + e^-x): verified, or refused."""

import copy
import json
import math

import mpmath
import numpy as np
import pytest
from engine.test_check import altered, lines_of_code
from flint import arb, ctx

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import in_logs as code
from borel.engine.certificates.checks.in_logs import _InLogs, check_in_logs
from borel.engine.certificates.checks.rays import _Ray
from borel.engine.certificates.checks.reading import parsed
from borel.engine.certificates.checks.verifier import BITS, check
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

MP = mpmath.mp.clone()
MP.dps = 60


def logistic(y, x):
    return np.where(y == 1, 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x)))


def bounded(y, x):
    return np.where(y == 1, 0.25 + 0.5 / (1 + np.exp(-x)), 0.75 - 0.5 / (1 + np.exp(-x)))


def joint(kernel, prior=None):
    prior = bl.normal(mu=0, sigma=1) if prior is None else prior
    return prior * bl.Mechanism(kernel, secret=prior.on, outcome=bl.Finite([0, 1]))


@pytest.fixture(scope="module")
def endless():
    return json.loads(json.dumps(bl.pmc(joint(logistic))(1.0).certificate))


def test_an_answer_that_is_nearly_sure_far_out():
    """PMC is infinite at each outcome: 1 / (1 + e^-x) tends to 0 as x falls."""
    pmc = bl.pmc(joint(logistic))
    for name, bound in (
        ("pmc/one outcome", pmc(1.0)),
        ("pmc", pmc.sup()),
        ("pmc/law/mean", pmc.mean()),
    ):
        assert bound.lower == math.inf
        assert verified(name, bound).outcome == "verified"


def test_by_values_alone_it_is_not_verified(endless):
    assert check_in_logs(endless).ok and not check(endless).ok


@pytest.mark.parametrize(
    ("words", "path", "to"),
    [
        ("the other way", ("claim", "proof", "x", "sign"), 1),
        ("at the other outcome", ("claim", "proof", "y", "box"), [0.0, 0.0]),
        ("not so small", ("claim", "proof", "weight"), -2000.0),
        ("another kernel", ("kernel", "graph"), trace(bounded, ("y", "x"), ()).to_json()),
        ("an end", ("prior", "lower"), -1000.0),
        ("no growth", ("claim", "proof", "exponent"), 0.0),
    ],
)
def test_an_altered_infinity_is_refused(endless, words, path, to):
    assert not check_in_logs(altered(endless, *path, to=to)).ok, words


def test_a_bounded_answer_is_not_infinite(endless):
    bound = bl.pmc(joint(bounded))(1.0)
    assert bound.lower <= math.log(2) <= bound.upper < 0.7
    assert endless["claim"]["proof"]["kind"] == "ratio"


@pytest.fixture(scope="module")
def one():
    """PML of the answer 1: its supremum is 1, which is approached as x grows."""
    bound = bl.pml(joint(logistic, bl.gamma(alpha=1.0)))(1.0)
    return bound, json.loads(json.dumps(bound.certificate))


def test_a_supremum_that_is_approached_far_out(one):
    bound, made = one
    # E 1 / (1 + e^-X) for a standard exponential X is log 2
    truth = -MP.log(MP.log(2))
    assert bound.lower <= truth <= bound.upper and bound.width <= 1e-8
    report = check_in_logs(made)
    assert report.ok, report.failures


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("a lower supremum", lambda claim: claim["top"].__setitem__(1, -1e-6)),
        ("a higher one", lambda claim: claim["top"].__setitem__(0, 1e-6)),
        ("less mass", lambda claim: claim["cells"][0].__setitem__(3, claim["cells"][0][2] * 0.999)),
        ("none far out", lambda claim: claim["cells"][-1].__setitem__(3, 0.0)),
    ],
)
def test_an_altered_figure_is_refused(one, words, change, monkeypatch):
    monkeypatch.setattr("borel.engine.certificates.checks.verifier.BOXES", 100)
    made = copy.deepcopy(one[1])
    change(made["claim"])
    assert not check_in_logs(made).ok, words


@pytest.mark.parametrize("y", [0.0, 1.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_logarithms_enclose_the_kernel_far_out(y, sign, endless):
    """Along x = sign 300 / t, at many t, against 60 digits."""
    with ctx.workprec(BITS):
        checker = _InLogs(parsed(endless))
        ray = _Ray({(-1, 0): arb(300 * sign)})
        terms = checker.along(True, ray, _Ray({(0, 0): arb(y)})).terms
        for t in (1.0, 0.75, 0.5, 0.25, 0.125):
            found = sum((b * arb(t) ** int(e) * arb(t).log() ** j for (e, j), b in terms.items()))
            x = MP.mpf(300 * sign) / MP.mpf(t)
            truth = arb(MP.nstr(-MP.log1p(MP.exp(-x if y == 1 else x)), 50))
            assert found.lower() <= truth.upper() and truth.lower() <= found.upper()
            assert not found.rad() > abs(truth) * 0.1 + 1e-20


def test_it_is_short():
    assert lines_of_code(code) < 40
