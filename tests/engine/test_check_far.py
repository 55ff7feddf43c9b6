"""The checker of means far out: its bounds against closed forms at 30 digits, and certificates."""

import copy
import json
import math
from functools import cache

import mpmath
import numpy as np
import pytest
from engine.certified_cases import kernel
from engine.test_check import lines_of_code, modules_of_borel
from flint import arb

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import far_means, means, tails
from borel.engine.certificates.checks.count_laws import check_count_laws as check_counts
from borel.engine.certificates.checks.far_means import Far, height, noise_of
from borel.engine.certificates.checks.means import check_means as check_densities
from borel.engine.certificates.checks.tails import in_y, tail

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

MP = mpmath.mp.clone()
MP.dps = 30
INF, ROOT = math.inf, 2.5066282746310002


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / ROOT


def student(y, x):
    return 0.375 / (1 + (x - y) ** 2 / 4) ** 2.5


def traced(f):
    """Return a density as checkers take it, through a joint that has it as the kernel."""
    found = kernel(f, secret=bl.Reals(), outcome=bl.Reals()).density
    return found.graph, found.log


def prior(measure):
    return in_y((measure.density.graph, measure.density.log))


def beyond(f, r):
    """Return P{X > r} and E (X - r)^+ of a density on the positive numbers."""
    cuts = [r, *(r + k for k in (1, 2, 4, 8, 16, 32, 64)), MP.inf]
    return MP.quad(f, cuts), MP.quad(lambda x: (x - r) * f(x), cuts)


DENSITIES = {
    "normal": (bl.normal(), MP.npdf),
    "laplace": (bl.laplace(), lambda x: MP.exp(-x) / 2),
    "exponential": (bl.exponential(lam=0.25), lambda x: MP.exp(-x / 4) / 4),
    "gamma": (bl.gamma(alpha=2.5), lambda x: x**1.5 * MP.exp(-x) / MP.gamma(2.5)),
}
MASSES = {
    "poisson": (bl.poisson(mu=2.0), lambda n: MP.exp(-2) * MP.mpf(2) ** n / MP.factorial(n)),
    "geometric": (bl.geometric(p=0.125), lambda n: MP.mpf(7) ** (n - 1) / MP.mpf(8) ** n),
}


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("r", [4.0, 7.0, 20.0])
def test_tails_of_densities(name, r):
    measure, f = DENSITIES[name]
    q, m = tail(prior(measure), 1, arb(r))
    mass, distance = beyond(f, r)
    assert mass <= float(q.upper()) and distance <= float(m.upper())
    if r == 20:  # before that some have hardly fallen
        assert float(q.upper()) <= 16 * mass and float(m.upper()) <= 32 * distance


def test_tails_on_either_side():
    for sign in (1, -1):
        q, m = tail(prior(bl.normal()), sign, arb(5.0))
        mass, distance = beyond(MP.npdf, 5)
        assert mass <= float(q.upper()) <= 3 * mass and distance <= float(m.upper())


@pytest.mark.parametrize("name", MASSES)
@pytest.mark.parametrize("r", [8, 30, 90])
def test_tails_of_masses(name, r):
    measure, p = MASSES[name]
    q, m = tail(prior(measure), 1, arb(r), "masses")
    ns = range(r + 1, r + 900)
    mass, distance = MP.fsum(p(n) for n in ns), MP.fsum((n - r) * p(n) for n in ns)
    found = [math.nextafter(float(v.upper()), INF) for v in (q, m)]
    assert mass <= found[0] and distance <= found[1]
    if name == "poisson" or r > 30:
        assert found[0] <= 32 * r * p(r)  # of no use if it were much wider


def test_a_heavy_tail_has_no_mean_distance_and_no_bound():
    assert tail(prior(bl.cauchy()), 1, arb(10.0)) == (INF, INF)


@pytest.mark.parametrize(
    ("f", "most"),
    [(laplace, 0.5), (gauss, 1 / ROOT), (student, 0.375)],
    ids=["laplace", "gauss", "student"],
)
def test_the_height_of_noise(f, most):
    top = height(noise_of(traced(f)))
    assert math.log(most) <= float(top.upper()) <= math.log(most) + 0.13


@pytest.mark.parametrize(
    "f",
    [
        lambda y, x: np.exp(-abs(y - x) / (1 + x * x)) / (2 + 2 * x * x),
        lambda y, x: np.exp(-abs(y - 2 * x)) / 2,
        lambda y, x: np.exp(-abs(y - x)) / 2 * (1 + 0 * y),
        lambda y, x: np.exp(-abs(y)) / 2 + 0 * x,
    ],
)
def test_what_is_not_seen_to_be_noise_is_refused(f):
    with pytest.raises(ValueError):
        noise_of(traced(f))


@pytest.mark.parametrize("a", [1.0, 3.0, 6.0, 12.0])
def test_the_part_of_a_half_line(a):
    """Gaussian noise on a normal secret: f_Y is N(0, 2), and PML log sqrt 2 + y^2 / 4."""
    far = Far(traced(gauss), (-INF, INF), {}, lambda sign, r: tail(prior(bl.normal()), sign, r))
    f = lambda y: MP.exp(-(y**2) / 4) / MP.sqrt(4 * MP.pi)  # noqa: E731
    cuts = [a, *(a + k for k in (1, 2, 4, 8, 16)), 80]
    truth = MP.quad(lambda y: f(y) * (MP.log(2) / 2 + y**2 / 4), cuts)
    for box in ((a, INF), (-INF, -a)):
        found = float(far.share(*box).upper())
        assert truth <= found
    assert far.share(-a, a) == INF
    assert a < 6 or found < {6.0: 0.05, 12.0: 1e-7}[a]


@pytest.mark.parametrize("x", [0.0, 20.0])
def test_the_part_of_a_half_line_with_secrets_at_atoms(x):
    """With atoms alone the secrets have an end: all that is beyond it is noise, of mass 1/2."""
    far = Far(
        traced(laplace),
        (-INF, INF),
        {x: arb(0.5)},
        lambda sign, r: tail(prior(bl.laplace()), sign, r),
    )
    own = lambda y: MP.exp(-abs(y - x)) / 4  # noqa: E731
    rest = lambda y: MP.exp(-y) * (1 + y) / 8  # noqa: E731
    truth = MP.quad(
        lambda y: (own(y) + rest(y)) * MP.log(0.5 / (own(y) + rest(y))),
        [10, 20, 21, 22, 25, 40, 90],
    )
    assert truth <= float(far.share(10.0, INF).upper())


CASES = {
    "normal and gauss": (bl.normal(), gauss, check_densities),
    "poisson and laplace": (bl.poisson(mu=2.0), laplace, check_counts),
}


@cache
def figure(name):
    measure, f, _ = CASES[name]
    with bl.options(closed_forms=False, tol=1e-2):
        return bl.pml(measure * kernel(f, secret=measure.on, outcome=bl.Reals())).mean()


def altered(bound, **changes):
    made = copy.deepcopy(bound.certificate)
    for name, value in changes.items():
        (made if name in made else made["claim"])[name] = value
    return made


@pytest.fixture
def few(monkeypatch):
    """Let checkers give up soon: what is false is never proved."""
    monkeypatch.setattr(means._Means, "most_boxes", 120)


@pytest.mark.parametrize("name", CASES)
def test_means_are_verified_and_others_are_not(name, few):
    bound, checker = figure(name), CASES[name][2]
    assert bound.status in ("certified", "conditional")
    made = json.loads(json.dumps(bound.certificate))
    assert checker(made).ok and verified("pml/law/mean", bound).outcome == "verified"
    width = bound.upper - bound.lower
    for lower, upper in (
        (bound.upper, bound.upper + width),
        (bound.lower - width, bound.lower - width / 2),
    ):
        assert not checker(altered(bound, lower=lower, upper=upper)).ok


def test_the_mean_of_a_normal_secret_under_gaussian_noise():
    bound = figure("normal and gauss")
    truth = MP.log(2) / 2 + MP.mpf(1) / 2
    assert bound.lower <= truth <= bound.upper <= bound.lower + 1e-2


def test_alterations_are_refused(monkeypatch):
    monkeypatch.setattr(means._Means, "most_boxes", 24)  # not proved is refused
    bound = figure("normal and gauss")
    cover = bound.certificate["claim"]["cover"]
    for change in (
        {"cover": cover[:-1]},
        {"cover": cover[1:]},
        {"figure": "exp_mean"},
        {"quantity": "pmc"},
        {"upper": bound.lower - 0.01, "lower": 0.0},
    ):
        assert not check_densities(altered(bound, **change)).ok, change


def test_a_prior_that_falls_too_slowly_is_refused(monkeypatch):
    """The certificate of a normal secret, with a Cauchy prior put in its place."""
    monkeypatch.setattr(means._Means, "most_boxes", 24)
    made = copy.deepcopy(figure("normal and gauss").certificate)
    assert check_densities({**made, "lower": 0.0, "upper": 1e300}).ok
    heavy = bl.cauchy() * kernel(gauss, secret=bl.Reals(), outcome=bl.Reals())
    made["prior"]["graph"] = heavy.prior.density.graph.to_json()
    made["prior"]["log"] = heavy.prior.density.log
    assert not check_densities({**made, "lower": 0.0, "upper": 1e300}).ok


def test_its_parts_have_few_lines_of_code_and_share_nothing_with_the_kernels():
    for module, most in ((far_means, 100), (tails, 100)):
        assert lines_of_code(module) <= most
        own = modules_of_borel(module)
        assert all("check" in name or name == "borel.numerics.graphs.trace" for name in own), own
