"""The checker of laws: it verifies tails, cdfs and quantiles that hold, and refuses the rest."""

import copy
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from engine.certified_cases import kernel, tilt
from engine.test_check import lines_of_code, modules_of_borel
from engine.test_check_outcomes import FINITE, UNIT, laplace, steps
from flint import arb, ctx, fmpq

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates import encoding
from borel.engine.certificates.checks import laws as checker
from borel.engine.certificates.checks.laws import check_laws
from borel.engine.certificates.checks.prior_weights import Weights
from borel.engine.certificates.checks.taylor_models import DEGREE, Model, axis, integral_to_u
from borel.numerics.graphs.graph import Graph

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

POLYNOMIAL = FINITE * kernel(lambda y, x: 1 + (x - 1) * (y - 0.5), secret=FINITE.on, outcome=UNIT)
STEPS = bl.uniform(UNIT) * kernel(steps, outcome=UNIT, breaks=[0.25, 0.5])
LAPLACE = FINITE * kernel(laplace, secret=FINITE.on)
NORMAL = FINITE * bl.mechanisms.gaussian(sigma=1.0)


def held(bound):
    assert bound.certificate is not None
    return check_laws(bound.certificate)


def false(bound, **changes):
    """Change a certificate: ends, or what is claimed."""
    made = copy.deepcopy(bound.certificate)
    for name, value in changes.items():
        (made if name in made else made["claim"])[name] = value
    return check_laws(made)


@pytest.mark.parametrize("joint", [POLYNOMIAL, STEPS, LAPLACE, NORMAL], ids=str)
def test_figures_of_a_law_are_verified(joint):
    law = bl.pml(joint)
    for bound in (
        law.tail(0.1),
        law.tail(0.1, closed=True),
        law.cdf(0.1),
        law.quantile(Fraction(1, 3)),
        law.quantile(0.9, side="right"),
    ):
        report = held(bound)
        assert report.ok, report.failures


def test_the_law_of_a_polynomial():
    """PML is log(1 + |y - 1/2|): P{PML > t} = 1 - 2 (e^t - 1), its s-quantile log(1 + s / 2)."""
    law = bl.pml(POLYNOMIAL)
    for bound, truth in (
        (law.tail(0.2), 1 - 2 * math.expm1(0.2)),
        (law.cdf(0.2), 2 * math.expm1(0.2)),
        (law.quantile(0.5), math.log(1.25)),
    ):
        assert bound.lower <= truth <= bound.upper <= bound.lower + 1.1e-8
        assert held(bound).ok
        step = 4 * (bound.upper - bound.lower)
        for lower, upper in (
            (bound.upper, bound.upper + step),
            (bound.lower - step, bound.lower),
            (truth + 1e-10, bound.upper),
            (bound.lower, truth - 1e-10),
        ):
            report = false(bound, lower=lower, upper=upper)
            assert not report.ok


def test_a_secret_with_a_density():
    joint = bl.uniform(UNIT) * kernel(tilt, outcome=UNIT)
    bound = bl.pmc(joint).tail(0.3)
    assert held(bound).ok
    assert not false(bound, upper=bound.lower - 1e-9, lower=0.0).ok


def test_a_kink_on_the_diagonal_and_outcomes_far_out():
    """Beyond the secrets PMC is constant: its quantiles there are on a plateau."""
    joint = bl.uniform(UNIT) * kernel(lambda y, x: np.exp(-abs(y - x)) / 2)
    with bl.options(tol=1e-4):
        law = bl.pmc(joint)
        plateau = math.log(math.e - 1)
        bounds = law.quantile(0.2), law.quantile(0.9)
    assert bounds[1].lower <= plateau <= bounds[1].upper
    for bound in bounds:
        report = held(bound)
        assert report.ok, report.failures


# -- what does not hold ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"t": 0.2},
        {"t": "Infinity"},
        {"closed": 1},
        {"figure": "cdf"},
        {"figure": "mean"},
        {"figure": "quantile"},
        {"type": "outcomes"},
        {"cover": [0.0, 0.5]},
        {"cover": [0.0, 0.75, 0.5, 1.0]},
        {"quantity": "pmc"},
        {"quantity": "ldp"},
        {"format": 2},
        {"lower": "nan"},
        {"upper": 0.5},
    ],
    ids=str,
)
def test_a_changed_tail_is_refused(changes):
    bound = bl.pml(POLYNOMIAL).tail(0.1)
    assert not false(bound, **changes).ok


@pytest.mark.parametrize("s", [[1, 4], [-1, 2], [3, 2], [1, 0], [0.5, 1]], ids=str)
def test_a_changed_level_is_refused(s):
    bound = bl.pml(POLYNOMIAL).quantile(0.5)
    assert not false(bound, s=s).ok


def test_a_changed_kernel_or_prior_is_refused():
    bound = bl.pml(POLYNOMIAL).tail(0.1)
    for atoms in ([[0.0, 0.25, 0.25], [2.0, 0.75, 0.75]], [[0.0, 0.5, 0.5], [1.0, 0.5, 0.5]]):
        made = copy.deepcopy(bound.certificate)
        made["prior"]["atoms"] = atoms
        assert not check_laws(made).ok


def test_ties_at_a_plateau():
    """PML of the steps is log 1.5 with probability 1/4: a tie at t is not decided by rounding."""
    law, level = bl.pml(STEPS), math.log(1.5)
    for closed in (True, False):
        bound = law.tail(level, closed=closed)
        for lower, upper in ((0.49, 0.51), (0.24, 0.26), (0.0, 0.01)):
            made = copy.deepcopy(law.tail(0.1, closed=closed).certificate)
            made["claim"]["t"], made["lower"], made["upper"] = level, lower, upper
            if not (lower <= bound.lower and bound.upper <= upper):
                assert not check_laws(made).ok


def test_a_name_belongs_to_what_is_certified():
    law = bl.pml(POLYNOMIAL)
    half, most = law.quantile(0.5), law.sup()
    assert verified("pml/law/quantile-0.5", half).outcome == "verified"
    assert verified("pml/law/quantile-0.95", half).outcome == "refused"
    assert verified("pml", half).outcome == "refused"
    assert verified("pml", most).outcome == "verified"
    assert verified("pml/law/quantile-0.5", most).outcome == "refused"


def test_it_goes_through_json(tmp_path):
    from borel.audits.verification import verify

    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(bl.pml(POLYNOMIAL).quantile(0.5).certificate))
    (found,) = verify(path)
    assert found.outcome == "verified" and "the quantile of the law at 0.5" in found.words


def test_the_larger_of_two_suprema():
    bound = bl.lip(POLYNOMIAL)
    assert verified("lip", bound).outcome == "verified"
    for change in (
        {"sides": []},
        {"sides": [None]},
        {"sides": bound.certificate["sides"][:1]},
        {"lower": 0.7},
    ):
        changed = bound.about(certificate={**bound.certificate, **change})
        assert verified("lip", changed).outcome == "refused"
    half, most = bl.pml(POLYNOMIAL).quantile(0.5).certificate, bound.certificate["sides"]
    other = bl.pmc(LAPLACE).sup().certificate
    for sides in ([half, most[1]], [most[0], most[0]], [most[0], other]):
        changed = bound.about(certificate={**bound.certificate, "sides": sides})
        assert verified("lip", changed).outcome == "refused"


# -- what it is ----------------------------------------------------------------------------------


def test_it_is_small_and_shares_nothing_with_the_kernels():
    assert modules_of_borel(checker) == {
        "borel.engine.certificates.checks.verifier",
        "borel.engine.certificates.checks.reading",
        "borel.engine.certificates.checks.taylor_models",
        "borel.engine.certificates.checks.suprema",
        "borel.engine.certificates.checks.rays",
    }
    assert lines_of_code(checker) <= 190


@pytest.mark.parametrize("prior", [bl.uniform(UNIT), bl.beta(alpha=0.5, beta=0.5)])
def test_laws_under_priors_with_a_density_too(prior):
    bound = bl.pml(prior * kernel(laplace)).quantile(0.5)
    assert bound.status == "certified"
    assert held(bound).ok


def test_a_checker_that_takes_too_long_ends_the_trial(monkeypatch):
    """Nothing is handed out then that a checker might not verify: the figure stays as it is."""
    monkeypatch.setattr(encoding, "_PATIENCE", 0.0)
    with bl.options(budget=1e-3):
        bound = bl.pml(bl.uniform(UNIT) * kernel(laplace)).sup()
    assert bound.certificate is None


@pytest.mark.parametrize("seed", range(40))
def test_ranges_and_integrals_of_models(seed):
    """Random polynomials whose coefficients vary within balls, against values and exact sums."""
    rng = np.random.default_rng(seed)
    degree, radius = int(rng.integers(1, DEGREE + 1)), float(rng.choice([0.0, 1e-9, 1e-2]))
    keys = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i)]
    chosen = [keys[k] for k in rng.permutation(len(keys))[: rng.integers(1, 7)]]
    middles = [Fraction(int(rng.integers(-64, 65)), 2 ** int(rng.integers(0, 12))) for _ in chosen]
    points = [Fraction(k, 32) for k in range(-32, 33, 4)]
    with ctx.workprec(300):
        made = Model({k: arb(float(c), radius) for k, c in zip(chosen, middles, strict=True)})
        least, wholes = made.least(), {sign: integral_to_u(made, sign) for sign in (1, -1)}
        for _ in range(10):
            off = [Fraction(radius) * Fraction(int(rng.integers(-8, 9)), 8) for _ in chosen]
            c = {k: m + d for k, m, d in zip(chosen, middles, off, strict=True)}
            values = [
                sum(v * s**i * u**j for (i, j), v in c.items()) for s in points for u in points
            ]
            assert least <= exactly(min(values))
            for (sign, whole), u in itertools.product(wholes.items(), points):
                parts = {(i, j): (sign * u) ** (i + 1) - (-1) ** (i + 1) for i, j in c}
                truth = sum(v * u**j * parts[i, j] / (i + 1) for (i, j), v in c.items())
                found = sum((b * exactly(u) ** k[1] for k, b in whole.terms.items()), arb(0))
                assert (found - exactly(truth)).contains(0)


def exactly(number):
    return fmpq(number.numerator, number.denominator)


def test_the_least_value_of_monotone_and_bent_models():
    one = Model({(0, 0): arb(1), (1, 0): arb(3), (1, 1): arb(1), (0, 1): arb(1)})
    assert abs(one.least() - (-2)) < 1e-20  # at s = -1: 1 - 3 - u + u
    bent = Model({(0, 0): arb(1), (1, 0): arb(1), (2, 0): arb(1)})
    assert abs(bent.least() - 0.75) < 1e-20  # at s = -1/2


@pytest.mark.parametrize(("place", "side"), [(0.5, 1), (0.0, 0)])
def test_cells_beside_the_path_that_was_looked_at_count(monkeypatch, place, side):
    """PML of Gaussian noise on a uniform secret is above 0.03: x = y is the top, not an end."""
    joint = bl.uniform(UNIT) * bl.mechanisms.gaussian(sigma=1.0)
    certificate = bl.pml(joint).tail(0.03).certificate
    found = []

    def prove(work, cover):
        work.hints, work.certain = [[0.5, place]], False
        work.bottom = work.top = arb(0.03).exp()
        found.append(work.share(0.46875, 0.53125)[0])

    monkeypatch.setattr(checker._Law, "prove", prove)
    check_laws(certificate)
    assert found == [side]


def test_a_kink_whose_sides_differ():
    def lopsided(y, x):
        return np.exp(-2 * abs(y - x) - (y - x)) * 0.75

    bound = bl.pml(bl.uniform(UNIT) * kernel(lopsided)).quantile(Fraction(1, 2))
    report = held(bound)
    assert report.ok, report.failures


def test_the_part_of_the_marginal_beside_a_kink():
    """On a box that is the cell it is the integral over both sides of x = y."""
    certificate = bl.pml(bl.uniform(UNIT) * kernel(laplace)).tail(0.5).certificate
    work, cell = object.__new__(checker._Law), (0.25, 0.375)
    work.f = Graph.from_json(certificate["kernel"]["graph"]), certificate["kernel"]["log"]
    work.p = Graph.from_json(certificate["prior"]["graph"]), certificate["prior"]["log"]
    work.weights = Weights(work.p)
    with ctx.workprec(128):
        found = work.part(axis(*cell, 0, 1), cell, Model({(0, 0): arb(0, 9)}))
        for t in (-1, -0.5, 0, 0.75, 1):
            y = arb(0.3125) + t * arb(0.0625)
            left, right = (1 - (-4 * abs(y - end)).exp() for end in cell)
            value = sum((b * arb(t) ** k[1] for k, b in found.terms.items()), arb(0))
            assert value.overlaps((left + right) / 2) and value.rad() < 1e-10


def test_hints_are_good_where_the_engine_stopped_early():
    # the checker compares the kernel with the level along the hints: without good ones it halves
    # boxes of outcomes for hours
    joint = bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.1, theta=1.0)
    with bl.options(closed_forms=False, tol=0.1):
        bound = bl.pml(joint).quantile(0.5)
    assert bound.width > 1e-3
    secrets, log = np.linspace(0, 1, 10_001)[1:-1], joint.mechanism.density.logarithm
    places = [(y, x) for y, x in bound.certificate["claim"]["places"] if 0.01 < y < 1]
    assert len(places) >= 10
    for y, x in places:
        assert log(y, min(x, 1 - 1e-12)) >= log(y, secrets).max() - 1e-9
    assert held(bound).ok
