"""The checker of poles of the kernel: it verifies those that hold, and refuses the rest."""

import dataclasses
import math

import numpy as np
import pytest
from engine.blind_infinities import shrinking
from engine.test_check import altered, lines_of_code, modules_of_borel
from flint import arb, ctx

import borel as bl
from borel.audits.verification import verified
from borel.engine import engine_for
from borel.engine.certificates import encoding
from borel.engine.certificates.checks import poles as checker
from borel.engine.certificates.checks.poles import check_poles
from borel.engine.certificates.checks.rays import _Ray, _ray
from borel.engine.certificates.checks.verifier import BITS
from borel.engine.infinite.proofs import prove_at
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT = bl.Interval(0, 1)
SUPREMUM = "the supremum over the outcomes"
TO_0 = {"base": 0.0, "sign": 1, "power": 1.0, "s": [1.0, 1.0]}
BOX, POINT = {"box": [0.25, 0.5]}, {"box": [0.25, 0.25]}
ABOVE = {"base": "y", "sign": 1, "power": 1.0, "s": [0.25, 0.5]}
NEAR_0 = {"base": 0.0, "sign": 1, "power": 1.0, "s": [1.25, 1.5]}


def singular(y, x):
    gap = np.where(y == x, 1.0, np.abs(y - x))
    return 1 / np.sqrt(gap) / (2 * (np.sqrt(x) + np.sqrt(1 - x)))


def plain(y, x):
    return 1.0 + 0 * x * y


def claim(density, y, x, exponent, *, prior=None, log=False, quantity="pml", **more):
    """Claim that a kernel has a pole, as an attacker would: the kernel need not be a density."""
    prior = prior or bl.uniform(UNIT)
    flat = bl.Mechanism(plain, secret=prior.on, outcome=UNIT)
    made = encoding.header(engine_for(prior * flat), quantity, math.inf, math.inf)
    made["kernel"] = {"graph": trace(density, ("y", "x"), ()).to_json(), "log": log}
    boxes = [[0.0, 0.25], [0.25, 0.5], [0.5, 1.0]]
    proof = {"t0": 2.0**-10, "y": y, "x": x, "exponent": exponent, "weight": -9.0, "boxes": boxes}
    made["claim"] = {"type": "pole", "proof": {**proof, **more}}
    return encoding.without_infinities(made)


def no_x(y, x):
    return np.exp(-0.5 * np.log(y)) / 2 + 0 * x


POLES = {
    "at every outcome": (singular, BOX, ABOVE, -0.5),
    "at every outcome, from below": (singular, BOX, {**ABOVE, "sign": -1}, -0.5),
    "at one": (singular, POINT, ABOVE, -0.5),
    "at one, named": (singular, POINT, {**ABOVE, "base": 0.25}, -0.5),
    "towards an end": (lambda y, x: shrinking(y, x, 0.7), TO_0, NEAR_0, -0.3),
    "by a little": (lambda y, x: shrinking(y, x, 0.7), TO_0, NEAR_0, -0.01),
}


@pytest.mark.parametrize("name", POLES)
def test_poles_are_verified(name):
    density, y, *_ = POLES[name]
    for log in (False, True)[: 2 if density is singular else 1]:
        kernel = (lambda y, x: np.log(density(y, x))) if log else density
        report = check_poles(claim(kernel, *POLES[name][1:], log=log))
        assert report.ok, report.failures
        assert report.scope == ("at y = 0.25" if y is POINT else SUPREMUM)


FALSE = {
    "bounded": (lambda y, x: np.exp(-abs(y - x)), BOX, ABOVE, -0.5, "pole"),
    "only as a logarithm": (lambda y, x: -np.log(abs(y - x)) + 0 * x, BOX, ABOVE, -0.01, "pole"),
    "at a single secret": (lambda y, x: np.where(y == x, 1e9, 1.0), BOX, ABOVE, -0.5, "pole"),
    "elsewhere": (lambda y, x: singular(y + 0.125, x), BOX, ABOVE, -0.5, "pole"),
    "on the other side": (
        lambda y, x: np.where(x < y, singular(y, x), 1.0),
        BOX,
        ABOVE,
        -0.5,
        "pole",
    ),
    "of a higher order": (singular, BOX, ABOVE, -0.75, "pole"),
    "the same for all secrets": (no_x, TO_0, NEAR_0, -0.5, "f_Y"),
    "of f_Y too": (lambda y, x: np.where(y < x, 1 / x, 0.0), TO_0, NEAR_0, -1.0, "f_Y"),
    "of f_Y too, at one outcome": (lambda y, x: 1 / abs(y - x), POINT, ABOVE, -1.0, "f_Y"),
    "no order": (singular, BOX, ABOVE, 0.0, "argument"),
    "a zero": (lambda y, x: abs(y - x), BOX, ABOVE, 1.5, "argument"),
    "no pole, of a rising order": (plain, BOX, ABOVE, 0.5, "argument"),
    "outcomes that stand still": (
        singular,
        {**TO_0, "base": -0.75, "power": 0.0},
        ABOVE,
        -0.5,
        "argument",
    ),
    "secrets outside": (singular, {"box": [1.0, 1.25]}, ABOVE, -0.5, "secrets"),
    "outcomes outside": (singular, {"box": [-0.25, -0.125]}, {**ABOVE, "s": [0.25, 0.5]}, -0.5, ""),
    "outcomes in another order": (singular, {"box": [0.5, 0.25]}, ABOVE, -0.5, "y"),
    "a single secret": (singular, BOX, {**ABOVE, "s": [0.25, 0.25]}, -0.5, "secrets"),
    "secrets in another order": (singular, BOX, {**ABOVE, "s": [0.5, 0.25]}, -0.5, ""),
    "the outcome itself": (singular, BOX, {**ABOVE, "s": [0.0, 0.25]}, -2.0, "pole"),
    "no direction": (singular, BOX, {**ABOVE, "sign": 0}, -0.5, ""),
    "from infinity": (singular, BOX, {**ABOVE, "base": math.inf}, -0.5, ""),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_no_pole_is_refused(name):
    *about, leaf = FALSE[name]
    report = check_poles(claim(*about))
    assert not report.ok
    assert any(line.startswith(leaf) for line in report.failures), report.failures


ALTERED = {
    "quantity": (("quantity",), "pmc", "argument"),
    "both": (("quantity",), "ldp", "format"),
    "format": (("format",), 3, "format"),
    "lower": (("lower",), 0.0, None),
    "upper": (("upper",), 7.0, "bound"),
    "weight": (("claim", "proof", "weight"), 9.0, "pole"),
    "weight, none": (("claim", "proof", "weight"), "-Infinity", "argument"),
    "weight, no number": (("claim", "proof", "weight"), math.nan, ""),
    "exponent, none": (("claim", "proof", "exponent"), "-Infinity", ""),
    "exponent, no number": (("claim", "proof", "exponent"), math.nan, ""),
    "exponent, a word": (("claim", "proof", "exponent"), "-0.5", ""),
    "t0, 0": (("claim", "proof", "t0"), 0.0, ""),
    "t0, negative": (("claim", "proof", "t0"), -1.0, ""),
    "t0, infinite": (("claim", "proof", "t0"), "Infinity", ""),
    "t0, none": (("claim", "proof", "t0"), math.nan, ""),
    "t0, large": (("claim", "proof", "t0"), 8.0, ""),
    "countable outcomes": (("outcome", "points"), "integers", "y"),
    "points": (("outcome", "points"), [0.25], ""),
    "other outcomes": (("outcome", "lower"), 0.5, "y"),
    "no prior": (("prior", "graph"), None, ""),
    "an atom": (("prior", "atoms"), [[0.5, 0.5, 0.5]], "argument"),
    "other secrets": (("prior", "upper"), 0.125, ""),
    "a word": (("claim", "proof", "x"), "y", ""),
    "no proof": (("claim", "proof"), {}, ""),
    "no kernel": (("kernel", "graph"), {}, ""),
}


@pytest.mark.parametrize("key", ALTERED)
@pytest.mark.parametrize("name", ["at every outcome", "towards an end"])
def test_an_altered_certificate_is_refused(name, key):
    made, (path, to, leaf) = claim(*POLES[name]), ALTERED[key]
    if leaf is None:  # a weaker claim
        assert check_poles(altered(made, *path, to=to)).ok
        return
    report = check_poles(altered(made, *path, to=to))
    some = any(line.startswith(leaf) for line in report.failures)
    assert not report.ok and (some or name != "at every outcome"), report.failures


@pytest.mark.parametrize(
    "boxes",
    [
        [],
        [[0.0, 0.5]],
        [[0.0, 0.25], [0.5, 1.0]],
        [[0.5, 1.0], [0.0, 0.5]],
        [[0.0, 0.25], [0.25, 0.25], [0.25, 1.0]],
        [[0.25, 1.0], [0.0, 0.25]],
        [[0.0, 1.5]],
        [["0", "1"]],
        None,
    ],
    ids=str,
)
def test_the_boxes_of_secrets_are_all_of_them(boxes):
    made = claim(*POLES["towards an end"])
    assert not check_poles(altered(made, "claim", "proof", "boxes", to=boxes)).ok


def test_secrets_without_mass_do_not_count():
    prior = bl.Measure(lambda x: np.where(x < 0.125, 8.0, 0.0), on=UNIT, breaks=(0.125,))
    report = check_poles(claim(*POLES["at every outcome"], prior=prior))
    assert [line.partition(":")[0] for line in report.failures] == ["secrets"]


def test_figures_with_a_pole_are_verified():
    joint = bl.uniform(UNIT) * bl.Mechanism(singular, secret=UNIT, outcome=UNIT)
    with bl.options(closed_forms=False):
        one = bl.pml(joint)(0.25)
        proof = prove_at(engine_for(joint), "pml", 0.25, 0.5)
    assert one.lower == math.inf and one.certificate["claim"]["type"] == "pole"
    everywhere = bl.Bound.certified(math.inf, math.inf, certificate=proof.certificate)
    assert verified("pml", everywhere).outcome == "verified"
    assert verified("lip", everywhere).outcome == "verified"
    for name in ("pml/law/mean", "pml/law/exp_mean", "maximal_leakage"):
        units = "ratio" if name.endswith("exp_mean") else "nats"
        in_units = dataclasses.replace(everywhere, units=units)
        assert verified(name, in_units).outcome == "verified"
        assert verified(name, one).outcome == "refused"
    assert verified("pml/one outcome", one).outcome == "verified"
    for name in ("pml", "pmc/one outcome", "pml/law/quantile-0.5"):
        assert verified(name, one).outcome == "refused"
    for name in ("pmc", "pml/one outcome", "pml/law/quantile-0.5", "pmc/law/mean"):
        assert verified(name, everywhere).outcome == "refused"
    finite = dataclasses.replace(everywhere, lower=1.0, upper=2.0)
    assert verified("pml", finite).outcome == "refused"


def test_a_pole_at_the_end_says_nothing_of_the_mean():
    made = claim(*POLES["towards an end"])
    bound = bl.Bound.certified(math.inf, math.inf, certificate=made)
    assert verified("pml", bound).outcome == "verified"
    for name in ("pml/law/mean", "pml/law/exp_mean", "maximal_leakage"):
        assert verified(name, bound).outcome == "refused"


# -- the gap between the secret and the outcome ---------------------------------------------------

COMPARED = {
    "y - x": lambda y, x: np.abs(y - x) + x,
    "x - y": lambda y, x: np.abs(x - y) + y * x,
    "y < x": lambda y, x: np.where(y < x, x, 2.0) + np.where(x < y, 3.0, y),
    "y <= x": lambda y, x: np.where(y <= x, x, 2.0) + np.where(x <= y, 3.0, y),
    "y > x": lambda y, x: np.where(y > x, x, 2.0) + np.where(x > y, 3.0, y),
    "y >= x": lambda y, x: np.where(y >= x, x, 2.0) + np.where(x >= y, 3.0, y),
    "y == x": lambda y, x: np.where(y == x, x, 2.0) + np.where(x != y, 3.0, y),
    "neither": lambda y, x: (2 * y - x) + np.where(2 * y < x, 1.0, 0.0) + (x - 3) * (3 - y),
}


@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize("sign", [1, -1])
def test_densities_beside_the_outcome_are_enclosed(name, sign):
    density = COMPARED[name]
    graph = trace(density, ("y", "x"), ())
    with ctx.workprec(BITS):
        y = _ray(arb(0.25).union(arb(0.5)))
        gap = _Ray({(1, 0): sign * arb(0.125).union(arb(0.25))})
        value = checker._run((graph, False), False, y + gap, y, gap)
        for t in (1.0, 0.5, 2.0**-6):
            total = sum(
                (b * arb(t) ** arb(e) * arb(t).log() ** j for (e, j), b in value.terms.items()),
                arb(0),
            )
            for at in np.linspace(0.25, 0.5, 5):
                for s in (0.125, 0.1875, 0.25):
                    true = float(density(at, at + sign * s * t))
                    assert float(total.lower()) - 1e-12 <= true <= float(total.upper()) + 1e-12
        assert float(total.rad()) < 8


def test_it_is_small_and_shares_nothing_with_the_kernels():
    assert lines_of_code(checker) <= 90
    assert modules_of_borel(checker) == {
        "borel.engine.certificates.checks.verifier",
        "borel.engine.certificates.checks.rays",
    }
