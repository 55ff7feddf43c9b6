"""Certificates of one-sided noise: an f_Y that fades, and kernels that jump at x = y."""

import copy
import math

import mpmath
import numpy as np
import pytest
from engine.test_check import lines_of_code, modules_of_borel
from flint import arb, ctx, fmpq

import borel as bl
from borel.engine.certificates.checks import fading as checker
from borel.engine.certificates.checks import means as check_means_code
from borel.engine.certificates.checks.fading import check_fading
from borel.engine.certificates.checks.means import check_means
from borel.engine.certificates.checks.rays import _Ray
from borel.engine.certificates.checks.verifier import BITS
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT = bl.Interval(0, 1)


def delay(y, x):
    return np.where(y >= x, np.exp(-(y - x)), 0)


def joint(kernel=delay, prior=None):
    return (prior or bl.uniform(UNIT)) * bl.Mechanism(kernel, secret=UNIT, outcome=bl.Reals())


@pytest.fixture(scope="module")
def certificate():
    found = bl.pml(joint()).sup()
    assert found.lower == math.inf and found.status == "certified"
    assert found.certificate["claim"]["type"] == "fading"
    return found.certificate


def test_it_is_verified(certificate, outcome):
    assert outcome(certificate) == "verified"


@pytest.mark.parametrize(
    ("kernel", "prior"),
    [(delay, bl.beta(alpha=2, beta=3)), (delay, bl.beta(alpha=0.5, beta=0.5))],
    ids=["a density that vanishes", "one without bound"],
)
def test_others_are_verified(kernel, prior, outcome):
    found = bl.pml(joint(kernel, prior)).sup()
    assert found.lower == math.inf and outcome(found.certificate) == "verified"


CHANGES = {
    "a support that is wider": {"reach": 0.5},
    "no support": {"reach": 0.0},
    "another end": {"end": 1.0},
    "a secret inside": {"end": 0.5},
    "an order that f_Y does not have": {"exponent": 1.5},
    "no smaller order": {"exponent": 0.0},
    "a reach that is no number": {"reach": math.nan},
}


@pytest.mark.parametrize("words", CHANGES)
def test_an_altered_certificate_is_refused(certificate, words):
    made = copy.deepcopy(certificate)
    made["claim"]["proof"]["marginal"] |= CHANGES[words]
    assert not check_fading(made).ok


@pytest.mark.parametrize(
    "kernel",
    [
        lambda y, x: np.where(y >= x, np.exp(-(y - x)), 0.001),
        lambda y, x: np.where((y >= x) | (x > 0.5), np.exp(-abs(y - x)), 0),
        lambda y, x: np.exp(-abs(y - x)) / 2,
        lambda y, x: np.where(y >= x, 1 / (1 + x), 0) * y,  # f fades as well: PML is bounded
    ],
    ids=["not 0 beyond", "secrets far off", "both sides", "of the order of f_Y"],
)
def test_a_finite_leakage_is_refused(certificate, kernel):
    made = copy.deepcopy(certificate)
    made["kernel"] = {"graph": trace(kernel, ("y", "x"), ()).to_json(), "log": False}
    assert not check_fading(made).ok


def test_it_is_short_and_shares_nothing_with_the_kernels():
    assert lines_of_code(checker) <= 60
    known = {f"borel.engine.certificates.checks.{part}" for part in ("verifier", "rays", "in_logs")}
    assert modules_of_borel(checker) == known


# -- means: E PML = int_0^1 -(1 - e^-y) log(1 - e^-y) dy + int_1^oo ... -------------------------


def truths():
    def f_y(y):
        return mpmath.exp(-y) * (mpmath.exp(min(y, 1)) - 1)

    def top(y):
        return mpmath.exp(-max(y - 1, 0))

    cuts = [0, 1, 2, 4, 8, 16, 32, 80]
    mean = mpmath.quad(lambda y: f_y(y) * mpmath.log(top(y) / f_y(y)), cuts)
    return {"mean": mean, "exp_mean": mpmath.mpf(2)}


@pytest.mark.parametrize("what", ["mean", "exp_mean"])
def test_means_of_one_sided_noise(what, monkeypatch):
    found = getattr(bl.pml(joint()), what)()
    truth = truths()[what]
    assert found.status == "certified" and found.width <= 2e-8
    assert found.lower <= truth <= found.upper
    # the checker follows, and not beyond the truth
    made = {**found.certificate, "lower": float(truth) - 1e-3, "upper": float(truth) + 1e-3}
    assert check_means(made).ok
    monkeypatch.setattr(check_means_code._Means, "most_boxes", 12)  # not proved is refused
    end = {"mean": {"upper": float(truth) - 1e-6}, "exp_mean": {"lower": float(truth) + 1e-6}}
    assert not check_means({**made, **end[what]}).ok


def test_pmc_is_infinite_and_verified(outcome):
    for found in (bl.pmc(joint()).sup(), bl.pmc(joint())(0.3), bl.ldp(joint())):
        assert found.lower == math.inf and outcome(found.certificate) == "verified"


# -- rays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lgamma", "atan", "sin", "cos", "gamma", "erf", "erfc"])
def test_functions_of_rays_hold_at_every_t(name):
    rng = np.random.default_rng(5)
    with ctx.workprec(BITS):
        for _ in range(20):
            c, d, e = rng.uniform(1, 3), *rng.uniform(-0.08, 0.08, 2)
            power = int(rng.choice([1, 2]))
            ray = _Ray({(0, 0): arb(c), (power, 0): arb(d), (fmpq(5, 2), 0): arb(e)})
            value, widths = ray.call(name), []
            for t in (1.0, 0.5, 0.125, 2.0**-20):
                at = arb(c) + arb(d) * arb(t) ** power + arb(e) * arb(t) ** arb(2.5)
                truth = getattr(at, name)()
                terms = value.terms.items()
                parts = [b * arb(t) ** arb(fmpq(k)) * arb(t).log() ** j for (k, j), b in terms]
                found = sum(parts, arb(0))
                assert found.lower() <= truth.upper() and truth.lower() <= found.upper()
                widths.append(float(found.rad()))
            assert widths[2] < 1e-2 and widths[3] < 1e-20


@pytest.mark.parametrize(
    ("terms", "signs"),
    [
        ({(0, 0): arb(0), (1, 0): arb(2)}, (1,)),
        ({(0, 0): arb(-1), (1, 0): arb(-1)}, (-1,)),
        ({(1, 0): arb(1), (2, 0): arb(0)}, (1,)),
    ],
)
def test_sums_of_powers_of_one_sign(terms, signs):
    assert _Ray(terms).signs() == signs


def test_a_function_of_an_infinity_is_not_known():
    for name in ("sin", "cos", "atan"):
        unbounded = _Ray({(-1, 0): arb(1)}).call(name)  # a number for each t
        low, high = unbounded.bounds()
        assert -2 < low and high < 2
        infinite = _Ray({(0, 0): arb.pos_inf()}).call(name)
        assert not all(b.is_finite() for b in infinite.terms.values())


def test_signs_that_are_not_known():
    near = arb(0).union(arb(1))
    assert set(_Ray({(1, 0): near}).signs()) >= {0, 1}
    assert len(_Ray({(0, 0): arb(1), (1, 0): arb(-2)}).signs()) > 1
    # log t is not positive
    assert _Ray({(1, 1): arb(1)}).signs() != (1,)


def test_binom_is_that_of_numbers():
    from borel.engine.certificates.checks.rays import FUNCTIONS, _ray

    for n, k in ((5, 0), (5, 2), (7, 7), (2.5, 1.25)):
        low, high = FUNCTIONS["binom"](_ray(n), _ray(k)).bounds()
        assert low <= arb(str(mpmath.binomial(n, k))) <= high or high - low < 1e-20
    for n, k in ((2, 4), (2, -1)):  # there it is 0, by a limit that gamma functions do not give
        with pytest.raises(ValueError, match="binom"):
            FUNCTIONS["binom"](_ray(n), _ray(k))


def test_maximal_cost_leakage_of_one_sided_noise():
    """The infimum over the secrets is 0 below 1, and e^-y beyond: its integral is 1/e."""
    found = bl.maximal_cost_leakage(joint())
    assert found.lower <= 1 <= found.upper and found.width <= 1e-8
    made = {**found.certificate, "lower": 1 - 1e-2, "upper": 1 + 1e-2}
    assert check_means(made).ok
