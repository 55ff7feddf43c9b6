"""The checker of information densities: it verifies those that hold, and refuses the rest."""

import copy
import json
import math

import numpy as np
import pytest
from engine.certified_cases import changed, kernel
from engine.test_check import lines_of_code, modules_of_borel
from flint import arb, ctx

import borel as bl
from borel.audits.verification import verify
from borel.engine.certificates import making
from borel.engine.certificates.checks import pairs as checker
from borel.engine.certificates.checks.pairs import check_pairs

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT, REALS = bl.Interval(0, 1), bl.Reals()
NORMAL = bl.normal(mu=0, sigma=1) * bl.mechanisms.gaussian(sigma=1.0)
FINITE = bl.pmf([0.25, 0.25, 0.5], on=bl.Finite([0.0, 1.0, 2.0])) * bl.mechanisms.laplace(b=1.0)
COUNTS = bl.poisson(mu=3.0) * bl.mechanisms.laplace(b=1.0)


def bump(y, x):
    """Noise on a weighted sum of two secrets."""
    return np.exp(-0.5 * (y - (x[0] + 3 * x[1]) / 4) ** 2) / np.sqrt(2 * np.pi)


def curved(y, x):
    """Noise on a product of two secrets, which is no sum."""
    return np.exp(-0.5 * (y - x[0] * x[1]) ** 2) / np.sqrt(2 * np.pi)


SUM = bl.uniform(UNIT * UNIT) * kernel(bump, secret=UNIT * UNIT)
PRODUCT = bl.uniform(UNIT * UNIT) * kernel(curved, secret=UNIT * UNIT)
WINDOW = bl.uniform(UNIT) * kernel(
    lambda y, x: np.where(np.abs(y - x) < 1, 0.5, 0.0), outcome=bl.Interval(-1, 2)
)


def density_of(joint, x, y):
    bound = bl.information_density(joint)(x, y)
    assert bound.status in ("certified", "conditional")
    assert bound.certificate is not None
    return bound


def holds(bound, truth):
    """The truth is enclosed, tightly, and the certificate is verified: as data, and as JSON."""
    assert bound.lower <= truth <= bound.upper and not bound.width > 1e-8
    text = json.dumps(bound.certificate)
    return check_pairs(bound.certificate).ok and check_pairs(text).ok


@pytest.mark.parametrize(("x", "y"), [(0.25, 2.0), (-3.0, 0.5), (0.0, 0.0), (2.0, -7.5)])
def test_normal_noise_on_a_normal_secret(x, y):
    with ctx.workprec(300):
        truth = arb(2).log() / 2 - (arb(y) - x) ** 2 / 2 + arb(y) ** 2 / 4
    assert holds(density_of(NORMAL, x, y), truth)


@pytest.mark.parametrize("x", [0.0, 1.0, 2.0])
def test_finitely_many_secrets(x):
    y = 0.75
    with ctx.workprec(300):
        f = {u: (-abs(arb(y) - u)).exp() / 2 for u in (0, 1, 2)}
        truth = (f[x] / (f[0] / 4 + f[1] / 4 + f[2] / 2)).log()
    assert holds(density_of(FINITE, x, y), truth)


@pytest.mark.parametrize("n", [0, 3, 11])
def test_counts(n):
    y = 0.5
    with ctx.workprec(300):
        terms = ((-abs(arb(y) - k)).exp() * arb(3) ** k / arb(k).fac() for k in range(200))
        f_y = sum(terms, arb(0)) * arb(-3).exp() / 2 + arb(0, 1e-60)
        truth = ((-abs(arb(y) - n)).exp() / 2 / f_y).log()
    assert holds(density_of(COUNTS, n, y), truth)


def test_a_sum_of_two_secrets():
    """By the law of the sum, worked out by hand: f_Y is an integral of differences of ndtr."""
    x, y = (0.25, 0.75), 0.5
    with ctx.workprec(300):
        root = arb(2).sqrt()

        def ndtr(v):
            return (-v / root).erfc() / 2

        def inner(t, _):  # the other secret integrated out: 4/3 of a difference
            return (ndtr(y - t / 4) - ndtr(y - t / 4 - arb(3) / 4)) * 4 / 3

        from flint import acb

        f_y = acb.integral(inner, 0, 1).real
        sum_of = (arb(x[0]) + 3 * arb(x[1])) / 4
        f = (-((y - sum_of) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
        truth = (f / f_y).log()
    bound = density_of(SUM, x, y)
    assert bound.certificate["claim"]["at"]["sum"] is True
    assert holds(bound, truth)


def test_secrets_that_are_no_sum():
    bound = density_of(PRODUCT, (0.25, 0.5), 0.5)
    assert bound.certificate["claim"]["at"]["claim"]["type"] == "box_point"
    with ctx.workprec(200):
        from flint import acb

        # -log of the product of two uniform numbers has the density u e^-u
        f_y = acb.integral(
            lambda u, _: (-((0.5 - u) ** 2) / 2).exp() * -u.log(), arb(2) ** -200, 1
        ).real + arb(0, 1e-50)
        truth = ((-((arb(0.5) - 0.125) ** 2) / 2).exp() / f_y).log()
    assert holds(bound, truth)


def test_a_kernel_that_is_0_there():
    bound = density_of(WINDOW, 0.25, 1.75)
    assert bound.lower == bound.upper == -math.inf
    assert check_pairs(bound.certificate).ok


def test_a_pair_on_a_jump_is_of_the_kernel_given():
    """At |y - x| = 1 exactly the kernel given is 0; rounding of y - x may not decide it."""
    bound = bl.information_density(WINDOW)(0.25, 1.25)
    assert bound.lower == -math.inf


def test_none_is_made_where_none_is_wanted():
    with making(False):
        bound = bl.information_density(NORMAL)(0.25, 0.125)
    assert bound.status == "certified" and bound.certificate is None


AT = ("claim", "at")


@pytest.mark.parametrize(
    ("path", "value", "leaf"),
    [
        (("lower",), 1.0, "bound"),
        (("lower",), "-9.0", "ends"),
        (("upper",), -0.1, "bound"),
        (("lower",), math.nan, "bound"),
        (("upper",), math.nan, "bound"),
        (("format",), 2, "format"),
        (("quantity",), "pml", "format"),
        (("claim", "x"), [0.5], "bound"),
        (("claim", "x"), [math.nan], "x"),
        (("claim", "x"), [math.inf], ""),
        (("claim", "x"), [0.25, 0.25], ""),
        (("claim", "x"), ["0.25"], ""),
        ((*AT, "claim", "y"), 1.0, "f_Y"),
        ((*AT, "outcome", "lower"), 1.0, "f_Y"),
        ((*AT, "claim", "shift"), 1.0, "f_Y"),
        ((*AT, "lower"), 9.0, "f_Y"),
        ((*AT, "claim", "type"), "law", "certificate"),
        ((*AT, "claim"), {}, "certificate"),
    ],
)
def test_changed_ones_are_refused(path, value, leaf):
    bound = density_of(NORMAL, 0.25, 0.125)
    found = check_pairs(changed(bound, path, value))
    assert not found.ok
    assert any(line.startswith(leaf) for line in found.failures)


def test_a_secret_outside_its_alphabet_is_refused():
    joint = bl.uniform(UNIT) * kernel(lambda y, x: 1 + (x - 0.5) * (2 * y - 1), outcome=UNIT)
    made = copy.deepcopy(density_of(joint, 0.25, 0.25).certificate)
    made["lower"], made["upper"] = -9.0, 9.0
    for x, failures in ((0.75, []), (1.5, ["x: it does not hold"])):
        made["claim"]["x"] = [x]
        assert check_pairs(made).failures == failures


def test_a_secret_of_a_finite_alphabet_is_one_of_its_points():
    bound = density_of(FINITE, 1.0, 0.75)
    made = changed(bound, ("claim", "x"), [0.5])
    made["lower"], made["upper"] = -9.0, 9.0
    assert check_pairs(made).failures == ["x: it does not hold"]


def test_a_count_is_an_integer():
    bound = density_of(COUNTS, 3, 0.5)
    made = changed(bound, ("claim", "x"), [2.5])
    made["lower"], made["upper"] = -9.0, 9.0
    assert check_pairs(made).failures == ["x: it does not hold"]


def test_the_kernel_of_the_pair_is_that_of_its_f_y():
    """Another kernel changes f_Y as well: nothing of it is taken from elsewhere."""
    bound, other = density_of(NORMAL, 0.25, 0.125), density_of(FINITE, 1.0, 0.75)
    made = changed(bound, (*AT, "kernel"), other.certificate["claim"]["at"]["kernel"])
    assert not check_pairs(made).ok


def test_borel_check_verifies_one_as_a_file(tmp_path):
    bound = density_of(SUM, (0.25, 0.75), 0.5)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(bound.certificate), encoding="utf-8")
    (found,) = verify(path)
    assert found.outcome == "verified"
    assert found.words.endswith("information_density, at y = 0.5, x = [0.25, 0.75]")


def test_it_stands_for_no_leakage():
    """A leakage is no information density, even where the numbers would do."""
    from borel.audits.verification import verified

    pair, leakage = density_of(NORMAL, 0.25, 0.125), bl.pml(NORMAL)(0.125)
    given = copy.deepcopy(pair.certificate)
    given["lower"], given["upper"] = leakage.lower, leakage.upper
    from dataclasses import replace

    assert verified("pml/one outcome", replace(leakage, certificate=given)).outcome == "refused"


def test_it_is_small_and_shares_nothing_with_the_kernels():
    allowed = {
        "borel.engine.certificates.checks.verifier",
        "borel.engine.certificates.checks.reading",
        "borel.engine.certificates.checks.counts",
        "borel.engine.certificates.checks.several_points",
        "borel.engine.certificates.checks.in_logs",
        "borel.engine.certificates.checks.rays",
        "borel.engine.certificates.checks.reduced_secrets",
    }
    assert modules_of_borel(checker) == allowed
    assert lines_of_code(checker) <= 60
