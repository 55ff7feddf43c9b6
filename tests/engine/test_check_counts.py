"""Certificates of joints whose secret is an integer: verified, and refused when altered."""

import copy
import math
from functools import cache

import numpy as np
import pytest
from engine.test_check import lines_of_code, modules_of_borel

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import counts as checker
from borel.engine.certificates.checks.counts import check_counts
from borel.engine.certificates.checks.laws import check_laws
from borel.engine.certificates.checks.means import check_means
from borel.engine.certificates.checks.poles import check_poles
from borel.engine.certificates.checks.slopes import check_slopes
from borel.engine.certificates.checks.suprema import check_outcomes
from borel.engine.certificates.checks.verifier import check
from borel.engine.certificates.encoding import header, without_infinities
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

LINE, UNIT, COUNTS = bl.Reals(), bl.Interval(0, 1), bl.Integers(0, None)
ROOT = 2.5066282746310002


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / ROOT


def settles(y, x):
    return 1 + (2 * y - 1) / (x + 2)


def spike(y, x):
    """The count 50 alone leaks: real numbers beside it do not."""
    return np.where(x == 50, 2 * y, 1 + 0 * y)


def example_8(m, n):
    rest = np.where(m == 0, 0.25, np.where(m == n, 0.5, 0.0) + 3.0**-m / 2)
    return np.where(n == 0, np.where(m == 0, 0.75, 3.0**-m / 2), rest)


@cache
def joint(name):
    prior = bl.poisson(mu=2.0)
    if name == "example 8":
        masses = lambda n: np.where(n == 0, 0.5, 3.0**-n)  # noqa: E731
        prior = bl.Measure(masses, on=COUNTS, tail=lambda n: 3.0 ** -min(n, 600))
        return prior * bl.Mechanism(example_8, secret=COUNTS, outcome=COUNTS)
    if name == "few counts":
        masses = lambda n: np.where(n < 6, 1 / 6, 0.0)  # noqa: E731
        prior = bl.Measure(masses, on=COUNTS, tail=lambda n: 1.0 * (n < 5))
    kernels = {"laplace": laplace, "gauss": gauss, "settles": settles, "spike": spike}
    outcome = UNIT if name in ("settles", "spike") else LINE
    return prior * bl.Mechanism(kernels.get(name, laplace), secret=prior.on, outcome=outcome)


@cache
def figure(name, kind, y=None):
    found = getattr(bl, kind)(joint(name))
    return found.sup() if y is None else found(y)


POINTS = [
    ("laplace", "pml", 3.25),
    ("laplace", "pml", -5.0),
    ("gauss", "pml", 3.25),
    ("settles", "pml", 0.75),
    ("settles", "pmc", 0.75),
    ("settles", "pmc", 0.25),
]
ENDLESS = [
    ("laplace", "pml", None),
    ("laplace", "pmc", None),
    ("laplace", "pmc", 3.25),
    ("gauss", "pml", None),
    ("gauss", "pmc", None),
    ("example 8", "pml", None),
]


@pytest.mark.parametrize("about", POINTS + ENDLESS)
def test_it_is_verified(about):
    bound = figure(*about)
    name = about[1] if about[2] is None else f"{about[1]}/one outcome"
    assert verified(name, bound).outcome == "verified"


def altered(about, **changes):
    """Return a certificate with parts changed: ``claim__head`` is that of the claim."""
    made = copy.deepcopy(figure(*about).certificate)
    for path, value in changes.items():
        *way, last = path.split("__")
        part = made
        for step in way:
            part = part[step]
        part[last] = value(part[last]) if callable(value) else value
    return made


@pytest.mark.parametrize("about", POINTS)
@pytest.mark.parametrize(
    "change",
    [
        {"lower": lambda v: v + 1e-6},
        {"upper": lambda v: v - 1e-6},
        {"claim__y": lambda y: y + 0.0625},
        {"claim__place": 2.0**20 + 7},
        {"claim__place": -1.0},
        {"claim__place": 2.5},
        {"claim__head": lambda h: [h[0] + 3, h[1]]},
        {"claim__head": lambda h: [h[0], h[0] + 1]},
        {"claim__head": lambda h: [h[0] - 1, h[1]]},
        {"claim__head": lambda h: [h[0] + 0.5, h[1]]},
        {"claim__head": lambda h: [h[0], 1e6]},
        {"claim__beyond": [-1e-9, -1e9]},
        {"claim__beyond": ["Infinity", "-Infinity"]},
        {"quantity": lambda q: {"pml": "pmc", "pmc": "pml"}[q]},
        {"format": 2},
        {"prior__lower": lambda v: v - 1},
        {"prior__points": None},
        {"prior__graph": {"nodes": [], "inputs": []}},
        {"claim__head": None},
        {"claim__beyond": "x"},
        {"claim__y": "Infinity"},
    ],
)
def test_an_altered_point_is_refused(about, change):
    assert not check_counts(altered(about, **change)).ok


def graph(f, names):
    return {"graph": trace(f, tuple(names), ()).to_json(), "log": False}


def test_integers_are_numbers_that_floats_tell_apart():
    """The float beside 2^53 + 2 is no neighbour; the secret between them leaks the most, 0.5."""
    large = 2.0**53
    odd = graph(lambda y, x: 1 + (2 * y - 1) * np.where((x - large) == 1, 0.875, 0.125), "yx")
    masses = graph(lambda x: 63 * 64.0 ** -abs(x - (large + 2)) / 65, "x")
    usual = 0.11778303565638346  # log 1.125
    claim = {"type": "count_point", "y": 1.0, "head": [large + 2] * 2, "place": large + 2}
    claim["beyond"] = [usual - 1e-9, usual + 1e-9]
    base = figure("settles", "pml", 1.0).certificate
    ends = {"lower": "-Infinity", "upper": "Infinity", "masses": masses}
    made = {**base, "kernel": odd, "prior": {**base["prior"], **ends}, "claim": claim}
    report = check_counts({**made, "lower": 0.0, "upper": 0.4})
    assert report.failures[0].startswith("head")


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_a_head_that_is_all_has_all_mass(share):
    base = copy.deepcopy(figure("settles", "pml", 1.0).certificate)
    base["prior"]["upper"] = 8.0
    base["prior"]["masses"] = graph(lambda x: share * 2.0**-x * 256 / 511, "x")
    base["claim"] |= {"head": [0.0, 8.0], "place": 1.0}
    report = check_counts({**base, "lower": 0.0, "upper": 9.0})
    assert "masses: it does not hold" in report.failures


@pytest.mark.parametrize("about", ENDLESS)
@pytest.mark.parametrize(
    "change",
    [
        {"claim__proof__weight": lambda w: w + 400.0, "quantity": "pml"},
        {"claim__proof__exponent": lambda a: 2.0 - a},
        {"claim__proof__t0": -1.0},
        {"claim__proof__t0": 1e12},
        {"claim__proof__x__base": 1.5},
        {"claim__proof__x__power": 0.5},
        {"claim__proof__x__sign": -1},
        {"claim__proof__x__s": [0.25, 0.26]},
        {"quantity": lambda q: {"pml": "pmc", "pmc": "pml"}[q]},
        {"prior__upper": 1e9},
        {"claim__proof__exponent": "Infinity"},
        {"claim__proof": None},
    ],
)
def test_an_altered_infinity_is_refused(about, change):
    if about[0] == "example 8" and change.get("claim__proof__x__s"):
        change = {"claim__proof__x__s": [0.25, 0.25]}  # one number that is no integer
    made = altered(about, **change)
    if "claim__proof__x__s" in change and about[1] == "pmc":
        made["claim"]["proof"]["t0"] = 0.5  # (b - a) / t0 < 1: it may hold no integer
    assert not check_counts(made).ok


def claimed(name, quantity, ends, claim):
    from borel.engine import engine_for

    made = header(engine_for(joint(name)), quantity, *ends)
    return without_infinities({**made, "format": 4, "claim": claim})


def count_infinite(name, quantity, **proof):
    about = {"t0": 2.0**-10, "exponent": 0.0, "weight": -2.0, "secret": 0.0, **proof}
    claim = {"type": "count_infinite", "proof": about}
    return claimed(name, quantity, (math.inf, math.inf), claim)


NEXT = {"base": "y", "sign": 1, "power": 0.0, "s": [-0.5, 0.5]}
FAR = {"base": 0.0, "sign": 1, "power": -1.0, "s": [1.0, 2.0]}
TO_INFINITY = {"base": 0.0, "sign": 1, "power": -1.0, "s": [1.0, 1.0]}


class TestFalseClaims:
    def test_the_claims_hold_where_they_are_true(self):
        assert check_counts(count_infinite("laplace", "pml", y=TO_INFINITY, x=NEXT)).ok
        steep = {"exponent": 64.0, "weight": 257.0}
        assert check_counts(count_infinite("gauss", "pmc", y={"box": [3, 3]}, x=FAR, **steep)).ok

    def test_counts_that_end(self):
        """A Poisson law cut at 5 charges no count next to a large outcome."""
        assert not check_counts(count_infinite("few counts", "pml", y=TO_INFINITY, x=NEXT)).ok
        steep = {"exponent": 64.0, "weight": 257.0}
        made = count_infinite("few counts", "pmc", y={"box": [3, 3]}, x=FAR, **steep)
        assert not check_counts(made).ok

    def test_a_kernel_that_settles_down(self):
        for A, W in ((0.5, 0.0), (0.5, 100.0), (1e-3, 10.0)):
            made = count_infinite(
                "settles", "pmc", y={"box": [0.75, 0.75]}, x=FAR, exponent=A, weight=W
            )
            assert not check_counts(made).ok

    def test_outcomes_that_do_not_run_to_infinity(self):
        for y in (
            {"box": [3.0, 4.0]},
            {**TO_INFINITY, "power": -0.5},
            {**TO_INFINITY, "power": 1.0},
        ):
            assert not check_counts(count_infinite("laplace", "pml", y=y, x=NEXT)).ok

    def test_one_count_among_real_numbers(self):
        """At 50 alone f = 2y: no formula of real numbers may overlook it."""
        low, high = math.log(1.0), math.log(1.0) + 1e-12
        claim = {
            "type": "count_point",
            "y": 0.875,
            "head": [0, 34],
            "place": 3,
            "beyond": [low, high],
        }
        assert not check_counts(claimed("spike", "pml", (0.0, 1e-9), claim)).ok
        claim = {**claim, "head": [0, 60]}
        found = check_counts(claimed("spike", "pml", (0.0, 0.6), claim))
        assert found.ok, found.failures
        assert not check_counts(claimed("spike", "pml", (0.0, 0.5), claim)).ok

    def test_the_engine_sees_that_count(self):
        truth = math.log(1.75)  # P{X = 50} is 1e-50
        for found in (bl.pml(joint("spike"))(0.875), bl.pml(joint("spike")).sup()):
            assert found.lower <= math.log(2.0)
            assert truth <= found.upper


def test_no_other_checker_takes_one():
    for about in [*POINTS, *ENDLESS]:
        made = figure(*about).certificate
        for other in (check, check_laws, check_means, check_outcomes, check_poles, check_slopes):
            assert not other(made).ok
            renamed = {**made, "format": 2, "claim": {**made["claim"], "type": "point"}}
            assert not other(renamed).ok


def test_it_takes_no_certificate_of_another_kind():
    unit = bl.uniform(UNIT) * bl.Mechanism(laplace, secret=UNIT, outcome=LINE)
    for found in (bl.pml(unit)(0.25), bl.pml(unit).sup()):
        assert found.certificate is not None
        assert not check_counts(found.certificate).ok


def test_it_is_short_and_shares_nothing_with_the_kernels():
    assert lines_of_code(checker) <= 190
    allowed = {
        f"borel.engine.certificates.checks.{part}" for part in ("verifier", "reading", "rays")
    }
    assert modules_of_borel(checker) <= {*allowed, "borel.numerics.graphs.trace"}
