"""The checker of means: it verifies those that hold, and refuses the rest."""

import copy
import dataclasses
import json
import math
import re

import numpy as np
import pytest
from engine.certified_cases import kernel, tilt
from engine.test_check import lines_of_code, modules_of_borel
from engine.test_check_outcomes import FINITE, UNIT, laplace
from flint import ctx

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import means as checker
from borel.engine.certificates.checks.means import check_means
from borel.engine.certificates.checks.rays import _ray, _rays
from borel.engine.certificates.checks.tails import log_along
from borel.engine.certificates.checks.verifier import check

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

POLYNOMIAL = FINITE * kernel(lambda y, x: 1 + (x - 1) * (y - 0.5), secret=FINITE.on, outcome=UNIT)
LAPLACE = FINITE * kernel(laplace, secret=FINITE.on)
NORMAL = FINITE * bl.mechanisms.gaussian(sigma=1.0)
TILT = bl.uniform(UNIT) * kernel(tilt, outcome=UNIT)
FIGURES = [(kind, what) for kind in ("pml", "pmc") for what in ("mean", "exp_mean")]


def figure(joint, kind, what):
    return getattr(getattr(bl, kind)(joint), what)()


def false(bound, **changes):
    """Change a certificate: ends, or what is claimed."""
    made = copy.deepcopy(bound.certificate)
    for name, value in changes.items():
        (made if name in made else made["claim"])[name] = value
    return check_means(made)


@pytest.mark.cases(
    "slow",
    "*density*-pmc-exp_mean",
    "*density*-pmc-mean",
    "*density*-pml-mean",
    "*gaussian*-pmc-exp_mean",
    "*gaussian*-pmc-mean",
    "*gaussian*-pml-exp_mean",
    "*gaussian*-pml-mean",
)
@pytest.mark.parametrize(("kind", "what"), FIGURES)
@pytest.mark.parametrize("joint", [POLYNOMIAL, LAPLACE, NORMAL], ids=str)
def test_means_are_verified_and_others_are_not(joint, kind, what):
    bound = figure(joint, kind, what)
    assert check_means(bound.certificate).ok
    width = bound.upper - bound.lower
    for lower, upper in (
        (bound.upper, bound.upper + width),
        (bound.lower - width, bound.lower),
    ):
        report = false(bound, lower=lower, upper=upper)
        assert not report.ok and report.failures[0].startswith(what)


def wide(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def soft(y, x):
    return np.exp(-(y - x)) / (1 + np.exp(-(y - x))) ** 2


DENSITIES = {
    "tilt": (tilt, UNIT, 2e-8),
    "laplace": (laplace, bl.Reals(), 1e-6),
    "gauss": (wide, bl.Reals(), 1e-6),
}


@pytest.mark.cases(
    "slow",
    "gauss-pmc-exp_mean",
    "gauss-pml-exp_mean",
    "gauss-pml-mean",
    "laplace-pmc-exp_mean",
    "laplace-pmc-mean",
    "laplace-pml-exp_mean",
    "laplace-pml-mean",
)
@pytest.mark.parametrize(("kind", "what"), FIGURES)
@pytest.mark.parametrize("name", DENSITIES)
def test_means_under_a_density_are_verified_and_others_are_not(name, kind, what):
    f, outcome, tol = DENSITIES[name]
    joint = bl.uniform(UNIT) * kernel(f, outcome=outcome)
    with bl.options(tol=tol):
        bound = figure(joint, kind, what)
    report = check_means(bound.certificate)
    assert report.ok, report.failures
    width = bound.upper - bound.lower
    for lower, upper in (
        (bound.upper, bound.upper + width),
        (bound.lower - width, bound.lower),
    ):
        assert not false(bound, lower=lower, upper=upper).ok


def test_maximal_leakage_of_logistic_noise():
    """The largest density is 1/4 between the secrets, and integrates to 1/2 on either side."""
    joint = bl.uniform(UNIT) * kernel(soft)
    with bl.options(tol=1e-2):
        bound = bl.pml(joint).exp_mean()
    assert bound.lower <= 1.25 <= bound.upper
    assert check_means(bound.certificate).ok
    assert not false(bound, lower=1.26, upper=1.3).ok


def test_the_means_of_a_polynomial():
    """With z = |y - 1/2|: PML is log(1 + z), the largest density 1 + z, and z is uniform."""
    low = 2 * (1.5 * math.log(1.5) - 0.5)
    for bound, truth in (
        (bl.pml(POLYNOMIAL).mean(), low),
        (bl.pml(POLYNOMIAL).exp_mean(), 1.25),
        (bl.pmc(POLYNOMIAL).exp_mean(), math.log(4)),
        (bl.maximal_leakage(POLYNOMIAL), math.log(1.25)),
    ):
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-8
        assert check_means(bound.certificate).ok
        for lower, upper in ((truth + 1e-10, bound.upper), (bound.lower, truth - 1e-10)):
            assert not false(bound, lower=lower, upper=upper).ok


def test_maximal_leakage_under_a_density():
    joint = bl.uniform(UNIT) * bl.mechanisms.gaussian(sigma=1.0)
    with bl.options(tol=1e-3):
        bound = bl.maximal_leakage(joint)
    truth = math.log1p(1 / math.sqrt(2 * math.pi))
    assert bound.lower <= truth <= bound.upper
    row = verified("maximal_leakage", bound)
    assert row.outcome == "verified" and row.words.endswith("the maximal leakage of the law")
    assert not false(bound, upper=truth - 1e-4).ok
    assert not false(bound, lower=truth + 1e-4).ok
    # a prior does not matter to the integral of the largest density, its support does
    assert check_means(bl.pml(TILT).exp_mean().certificate).ok


@pytest.mark.parametrize(
    "changes",
    [
        {"figure": "exp_mean"},
        {"figure": "maximal_leakage"},
        {"figure": "tail"},
        {"type": "law"},
        {"quantity": "pmc"},
        {"quantity": "ldp"},
        {"cover": [0.0, 0.5]},
        {"cover": [0.0, 0.75, 0.5, 1.0]},
        {"lower": "nan"},
        {"upper": "-Infinity"},
        {"format": 2},
        {"prior": {"graph": None, "log": False, "lower": None, "upper": None, "atoms": []}},
    ],
    ids=str,
)
def test_a_changed_mean_is_refused(changes):
    assert not false(bl.pml(POLYNOMIAL).mean(), **changes).ok


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_weights_that_are_no_prior_are_refused(factor):
    bound = bl.pml(POLYNOMIAL).mean()
    atoms = [[x, p * factor, q * factor] for x, p, q in bound.certificate["prior"]["atoms"]]
    prior = {**bound.certificate["prior"], "atoms": atoms}
    report = false(bound, prior=prior, lower=0.0, upper=2.0)
    assert report.failures == ["atoms: it does not hold"]
    sup = bl.pml(POLYNOMIAL)(0.25)
    report = check({**sup.certificate, "prior": prior, "lower": 0.0, "upper": math.inf})
    assert "atoms: it does not hold" in report.failures


def test_no_certificate_of_another_figure_will_do():
    """Each holds, but is about something else than what the figure is."""
    pml, pmc = bl.pml(POLYNOMIAL), bl.pmc(POLYNOMIAL)
    sup = pml.sup()
    both = {"quantity": "pml", "sides": [sup.certificate, pmc.sup().certificate]}
    renamed = copy.deepcopy(sup.certificate)
    renamed["claim"]["figure"] = "maximal_leakage"
    level = copy.deepcopy(sup.certificate)
    level["claim"] |= {"figure": "quantile", "side": "left", "s": [1, 2]}
    wrong = [
        ("maximal_leakage", renamed, sup),
        ("pml/law/quantile-0.5", level, sup),
        ("pml", both, pmc.sup()),
        ("ldp", {**both, "quantity": "ldp"}, pmc.sup()),
        ("lip", pml.mean().certificate, pml.mean()),
        ("lip", sup.certificate, sup),
        ("mutual_information", pml.mean().certificate, pml.mean()),
        ("envelope", pml.mean().certificate, pml.mean()),
        ("pml/law/exp_mean", pml.mean().certificate, pml.mean()),
        ("pml/law/mean", pml.exp_mean().certificate, pml.exp_mean()),
        ("pml/law/mean", sup.certificate, sup),
    ]
    for name, made, ends in wrong:
        made = {**made, "lower": ends.lower, "upper": ends.upper}
        changed = dataclasses.replace(sup, lower=ends.lower, upper=ends.upper, certificate=made)
        row = verified(name, changed)
        about = "its certificate is about", f"sides: {made['quantity']} is no larger of two"
        assert row.outcome == "refused" and any(words in row.words for words in about), name
    assert verified("pml/law/mean", pml.mean()).outcome == "verified"
    assert verified("pml/law/exp_mean", pml.exp_mean()).outcome == "verified"
    assert verified("lip", bl.lip(POLYNOMIAL)).outcome == "verified"


def test_the_claim_is_that_of_what_was_verified():
    """What stands beside parts or sides is no claim: nobody proved it."""
    bits = kernel(
        lambda y, x: np.where(y > 0, 0.25 + 0.5 * x, 0.75 - 0.5 * x), outcome=bl.Finite([0, 1])
    )
    parts = bl.pml(bl.uniform(UNIT) * bits).sup()
    assert verified("pml", parts).outcome == "verified"
    assert verified("pml/law/quantile-1.0", parts).outcome == "verified"
    for bound in (parts, bl.lip(POLYNOMIAL)):
        for figure in ("mean", "exp_mean"):
            claim = {"type": "mean", "figure": figure}
            made = {**bound.certificate, "quantity": "pml", "claim": claim}
            changed = dataclasses.replace(bound, certificate=made)
            row = verified(f"pml/law/{figure}", changed)
            assert row.outcome == "refused", row


@pytest.mark.parametrize("name", ["pml/law/mean", "pml/law/quantile-0.5", "maximal_leakage"])
@pytest.mark.parametrize(
    "claim",
    [None, 1, [], {}, {"type": "infinite"}, {"type": "law", "figure": "quantile", "side": "left"}],
    ids=str,
)
def test_a_claim_that_is_none_is_refused(name, claim):
    bound = bl.pml(POLYNOMIAL).mean()
    for ends in ((bound.lower, bound.upper), (math.inf, math.inf)):
        made = {**bound.certificate, "claim": claim, "lower": ends[0], "upper": ends[1]}
        changed = dataclasses.replace(bound, lower=ends[0], upper=ends[1], certificate=made)
        assert verified(name, changed).outcome == "refused"


def test_changed_weights_or_kernels_are_refused():
    bound = bl.pml(POLYNOMIAL).mean()
    prior = bound.certificate["prior"]
    for atoms in ([[0.0, 0.25, 0.25], [2.0, 0.75, 0.75]], [[0.0, 0.5, 0.5], [1.0, 0.5, 0.5]]):
        assert not false(bound, prior={**prior, "atoms": atoms}).ok
    other = bl.pml(NORMAL).mean().certificate["kernel"]
    assert not false(bound, kernel=other).ok


def test_a_certificate_is_about_its_figure():
    mean, power = bl.pml(NORMAL).mean(), bl.pml(NORMAL).exp_mean()
    leakage = bl.maximal_leakage(NORMAL)
    assert verified("maximal_leakage", leakage).outcome == "verified"
    for name, bound in (("maximal_leakage", power), ("pml", mean), ("pmc/x", mean)):
        assert verified(name, bound).outcome == "refused"
    assert verified("pml/law/quantile-0.5", mean).outcome == "refused"


def far(joint, kind, what, edge):
    """Return what the checker charges beyond an edge."""
    found = []

    class Beyond(checker._Means):
        def total(self, cover, low, high):
            found.extend(self.share(*box) for box in ((edge, math.inf), (-math.inf, -edge)))
            return True

    certificate = figure(joint, kind, what).certificate
    with ctx.workprec(128):
        Beyond(json.loads(plain(certificate)))
    return [float(high) for _, high in found]


def plain(certificate):
    return re.sub(r'"(-?Infinity)"', r"\1", json.dumps(certificate))


@pytest.mark.parametrize("edge", [4.0, 8.0, 16.0])
def test_far_out_the_integral_is_covered(edge):
    """FINITE: the secrets 0, 1, 2. Laplace noise has the ratio of two of them, and the tail."""
    weights = np.array([p for _, p, _ in bl.pml(LAPLACE).mean().certificate["prior"]["atoms"]])
    places = np.array([x for x, *_ in bl.pml(LAPLACE).mean().certificate["prior"]["atoms"]])
    step = 2.0**-10
    y = edge + (np.arange(60_000) + 0.5) * step
    for side in (0, 1):
        f = laplace((1 - 2 * side) * y[:, None], places[None])
        f_y, top, least = f @ weights, f.max(1), f.min(1)
        truths = {
            ("pml", "mean"): f_y * np.log(top / f_y),
            ("pml", "exp_mean"): top,
            ("pmc", "mean"): f_y * np.log(f_y / least),
            ("pmc", "exp_mean"): f_y**2 / least,
        }
        for (kind, what), truth in truths.items():
            charged = far(LAPLACE, kind, what, edge)[side]
            assert truth.sum() * step * (1 - 1e-4) <= charged
            assert charged < math.inf or edge < 8


def test_the_least_and_the_largest_far_out_are_proved():
    """A secret that is not the extreme is refused, whatever the candidates look like."""

    class Wrong(checker._Means):
        def total(self, cover, low, high):
            (y,) = _rays(8.0, math.inf)
            for x in self.atoms:
                for sign in (1, -1):
                    try:
                        self.extreme(y, log_along(self.f, _ray(x), y), sign)
                        proved.append((x, sign))
                    except ValueError:
                        pass
            return True

    proved: list = []
    with ctx.workprec(128):
        Wrong(json.loads(plain(bl.pml(NORMAL).mean().certificate)))
    places = sorted(x for x, *_ in bl.pml(NORMAL).mean().certificate["prior"]["atoms"])
    assert sorted(proved) == [(places[0], -1), (places[-1], 1)]


def test_it_shares_nothing_with_the_kernels_but_the_graph():
    parts = "verifier reading far_means laws taylor_models suprema rays tails".split()
    assert modules_of_borel(checker) <= {
        f"borel.engine.certificates.checks.{part}" for part in parts
    }
    assert lines_of_code(checker) <= 260
