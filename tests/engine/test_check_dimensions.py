"""Certificates at one outcome of secrets in R^d: verified, and refused when altered."""

import copy
import json
import math
from functools import cache

import mpmath
import numpy as np
import pytest
from engine.test_check import altered, lines_of_code, modules_of_borel, shift
from flint import arb, ctx
from scipy.special import ndtr

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import box_integrals
from borel.engine.certificates.checks import ranges as check_ranges
from borel.engine.certificates.checks import several_points as checker
from borel.engine.certificates.checks.box_integrals import Formula, Integral
from borel.engine.certificates.checks.counts import check_counts
from borel.engine.certificates.checks.laws import check_laws
from borel.engine.certificates.checks.means import check_means
from borel.engine.certificates.checks.ranges import Doubt, extremes, ranges
from borel.engine.certificates.checks.several_points import check_dimensions
from borel.engine.certificates.checks.suprema import check_outcomes
from borel.engine.certificates.checks.verifier import check
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates", "no_sums")]

UNIT, LINE = bl.Interval(0, 1), bl.Reals()
ROOT = 2.5066282746310002
ONE = arb(1)
SOME = 4_000_000  # of work


def gauss(u):
    return np.exp(-(u**2) / 2) / ROOT


def scaled(y, x):
    return np.exp(-abs(y - x[0]) / (1 + x[1])) / (2 + 2 * x[1])


def half(x):
    return np.where(x[0] < 0.5, 2.0, 0.0) + 0 * x[1]


def clipped(y, x):
    return gauss(y - x[0] * x[1])


PRIORS = {
    "half": lambda: bl.Measure(half, on=UNIT**2),
    "beta": lambda: bl.beta(alpha=2, beta=3) * bl.uniform(UNIT) * bl.beta(alpha=3, beta=1),
    "tilted": lambda: bl.Measure(lambda x: 0.5 + x[0] * x[1] * 2, on=UNIT**2),
}
KERNELS = {
    "gauss, sum of 2": (2, lambda y, x: gauss(y - x[0] - x[1])),
    "gauss, sum of 3": (3, lambda y, x: gauss(y - x[0] - x[1] - x[2])),
    "gauss, sum of 5": (5, lambda y, x: gauss(y - sum(x[1:], x[0]))),
    "laplace, scaled": (2, scaled),
    "laplace, sum of 3": (3, lambda y, x: np.exp(-abs(y - x[0] - x[1] - x[2])) / 2),
    "product": (2, lambda y, x: gauss(y - x[0] * x[1])),
    "product of 3": (3, lambda y, x: gauss(y - x[0] * x[1] * x[2])),
    "norm": (2, lambda y, x: gauss(y - np.sqrt(1 + x[0] ** 2 + x[1] ** 2))),
    "window": (2, lambda y, x: np.where(x[0] < 0.25, gauss(y - x[1]), gauss(y - 2 * x[1]))),
    "half": ("half", lambda y, x: gauss(y - x[0] - x[1])),
    "beta": ("beta", lambda y, x: gauss(y - x[0] - x[1] - x[2])),
    "tilted": ("tilted", lambda y, x: gauss(y - x[0] - x[1])),
}


@cache
def joint(name):
    prior, kernel = KERNELS[name]
    prior = bl.uniform(UNIT**prior) if isinstance(prior, int) else PRIORS[prior]()
    return prior * bl.Mechanism(kernel, secret=prior.on, outcome=LINE)


@cache
def figure(name, kind="pml", y=0.5):
    with bl.options(budget=20):
        return getattr(bl, kind)(joint(name))(y)


# -- truths, in 30 digits -------------------------------------------------------------------

mpf, quad = mpmath.mpf, mpmath.quad


def phi(u):
    return mpmath.exp(-(u**2) / 2) / mpf(ROOT)


def sum_density(s, d):
    """Return the density of a sum of d uniforms."""
    terms = [
        (-1) ** k * mpmath.binomial(d, k) * (s - k) ** (d - 1)
        for k in range(int(mpmath.floor(s)) + 1)
    ]
    return mpmath.fsum(terms) / mpmath.factorial(d - 1)


def of_sum(d, y):
    f_y = quad(lambda s: phi(y - s) * sum_density(s, d), range(d + 1))
    return f_y, phi(min(max(y, 0), d) - y), phi(max(abs(y), abs(y - d)))


def of_product(d, y):
    def density(t):
        return (-mpmath.log(t)) ** (d - 1) / mpmath.factorial(d - 1)

    f_y = quad(lambda t: phi(y - t) * density(t), [0, 0.001, 0.1, 1])
    return f_y, phi(min(max(y, 0), 1) - y), phi(max(abs(y), abs(y - 1)))


def of_scaled(y):
    """Return those of Laplace noise, its scale uniform on (1, 2)."""
    e = mpmath.exp
    if y < 0:
        f_y = quad(lambda s: (e(y / s) - e((y - 1) / s)) / 2, [1, 2])
    else:
        f_y = quad(lambda s: (2 - e(-y / s) - e((y - 1) / s)) / 2, [1, 2])
    far, near = max(abs(y), abs(1 - y)), max(-y, 0)
    best = min(max(near, mpf(1)), mpf(2))  # e^(-t/s) / s is greatest at s = t
    return f_y, e(-near / best) / (2 * best), min(e(-far / s) / (2 * s) for s in (1, 2))


def of_norm(y):
    def f(a, b):
        return phi(y - mpmath.sqrt(1 + a * a + b * b))

    f_y = quad(f, [0, 1], [0, 1])
    root = mpmath.sqrt(3)
    return f_y, phi(min(max(y, 1), root) - y), phi(max(abs(y - 1), abs(y - root)))


def of_window(y):
    f_y = quad(lambda x: phi(y - x) / 4 + 3 * phi(y - 2 * x) / 4, [0, 1])
    return f_y, phi(min(max(y, 0), 2) - y), phi(max(abs(y), abs(y - 2)))


def of_half(y):
    f_y = quad(lambda a: 2 * quad(lambda b: phi(y - a - b), [0, 1]), [0, 0.5])
    return f_y, phi(min(max(y, 0), mpf(1.5)) - y), phi(max(abs(y), abs(y - 1.5)))


def of_beta(y):
    def f(a, b, c):
        return 12 * a * (1 - a) ** 2 * 3 * c**2 * phi(y - a - b - c)

    f_y = quad(f, [0, 1], [0, 1], [0, 1], method="gauss-legendre", maxdegree=3)
    return f_y, phi(min(max(y, 0), 3) - y), phi(max(abs(y), abs(y - 3)))


def of_tilted(y):
    f_y = quad(lambda a, b: (0.5 + 2 * a * b) * phi(y - a - b), [0, 1], [0, 1])
    return f_y, phi(min(max(y, 0), 2) - y), phi(max(abs(y), abs(y - 2)))


def of_laplace_sum(y):
    """Return those of Laplace noise on a sum of 3, below it."""
    e = mpmath.exp
    return e(y) * (1 - e(-1)) ** 3 / 2, e(y) / 2, e(y - 3) / 2


TRUTHS = {
    ("gauss, sum of 2", 0.5): lambda y: of_sum(2, y),
    ("gauss, sum of 2", -2.0): lambda y: of_sum(2, y),
    ("gauss, sum of 3", 0.3): lambda y: of_sum(3, y),
    ("gauss, sum of 5", 0.3): lambda y: of_sum(5, y),
    ("laplace, scaled", 0.5): of_scaled,
    ("laplace, scaled", -2.0): of_scaled,
    ("laplace, sum of 3", -1.0): of_laplace_sum,
    ("product", 0.3): lambda y: of_product(2, y),
    ("product of 3", -2.0): lambda y: of_product(3, y),
    ("norm", 0.3): of_norm,
    ("window", 0.3): of_window,
    ("half", 1.75): of_half,
    ("tilted", 0.5): of_tilted,
}


@pytest.mark.parametrize("name, y", TRUTHS)
@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_figures_at_outcomes_are_verified_and_true(name, y, kind):
    bound = figure(name, kind, y)
    assert bound.status in ("certified", "conditional")
    report = check_dimensions(json.loads(json.dumps(bound.certificate)))
    assert report.ok, report.failures
    assert report.scope == f"at y = {y}"
    row = verified(f"{kind}/one outcome", bound)
    assert row.outcome == "verified" and row.words.endswith(f"{kind}, at y = {y}")
    assert verified(kind, bound).outcome == "refused"  # the supremum is another figure
    with mpmath.workdps(30):
        f_y, most, least = TRUTHS[name, y](mpf(y))
        extreme = mpmath.log(most if kind == "pml" else least)
        truth = abs(extreme - mpmath.log(f_y))
    claim, data = bound.certificate["claim"], bound.certificate
    assert data["lower"] == bound.lower <= truth <= bound.upper == data["upper"]
    assert claim["f_y"][0] <= mpmath.log(f_y) <= claim["f_y"][1]
    assert claim["extreme"][0] <= extreme <= claim["extreme"][1]


def test_a_beta_prior_is_a_product_of_powers():
    bound = figure("beta", "pml", 0.3)
    with mpmath.workdps(20):
        f_y, most, _ = of_beta(mpf(0.3))
    assert bound.lower <= mpmath.log(most / f_y) <= bound.upper
    assert check_dimensions(bound.certificate).ok


def test_the_supremum_over_finitely_many_outcomes_has_a_part_for_each():
    bits = bl.Mechanism(
        lambda y, x: np.where(y > 0, x[0] * x[1] / 2 + 0.25, 0.75 - x[0] * x[1] / 2),
        secret=UNIT**2,
        outcome=bl.Finite([0, 1]),
    )
    bound = bl.pml(bl.uniform(UNIT**2) * bits).sup()
    assert verified("pml", bound).outcome == "verified"
    assert bound.lower <= math.log(2) <= bound.upper  # 0.75 / 0.375
    parts = bound.certificate["parts"]
    wrong = bound.about(certificate={**bound.certificate, "parts": parts[:1]})
    assert verified("pml", wrong).outcome == "refused"


def test_an_atom_of_the_outcome_has_a_mass():
    mech = bl.Mechanism(
        clipped,
        masses={0.0: lambda x: ndtr(-x[0] * x[1])},
        secret=UNIT**2,
        outcome=bl.Mixed(bl.Interval(0, None), atoms=[0.0]),
    )
    bound = bl.pml(bl.uniform(UNIT**2) * mech)(0.0)
    with mpmath.workdps(30):
        f_y = quad(lambda t: -mpmath.log(t) * mpmath.ncdf(-t), [0, 0.001, 0.1, 1])
        assert bound.lower <= mpmath.log(0.5 / f_y) <= bound.upper
    assert verified("pml/one outcome", bound).outcome == "verified"
    data = altered(bound.certificate, "outcome", to=lambda v: {**v, "atoms": []})
    assert not check_dimensions(data).ok  # then f is a density at 0


# -- what was altered -----------------------------------------------------------------------

CHANGES = {
    "the bound, lower": (("lower",), shift(1e-7), "bound"),
    "the bound, upper": (("upper",), shift(-1e-7), "bound"),
    "f_Y, from below": (("claim", "f_y", 0), shift(1e-7), "f_Y"),
    "f_Y, from above": (("claim", "f_y", 1), shift(-1e-7), "f_Y"),
    "a cut dropped at an end": (("claim", "cuts", 0), lambda c: c[1:], "cover"),
    "a cut dropped at the other end": (("claim", "cuts", 1), lambda c: c[:-1], "cover"),
    "a cut twice": (("claim", "cuts", 0), lambda c: [*c, c[-1]], "cover"),
    "cuts out of order": (("claim", "cuts", 0), lambda c: [0.0, 0.75, 0.5, 1.0], "cover"),
    "a coordinate less": (("claim", "cuts"), lambda c: c[:1], "cover"),
    "a coordinate more": (("claim", "cuts"), lambda c: [*c, [0.0, 1.0]], "cover"),
    "the extreme, upper": (("claim", "extreme", 1), shift(-1e-7), "extreme on"),
    "the extreme, lower": (("claim", "extreme", 0), shift(1e-7), "extreme near"),
    "where it is": (("claim", "place"), [0.9, 0.9], "extreme near"),
    "a place outside": (("claim", "place"), [-0.5, 0.0], "extreme near"),
    "a place of one coordinate": (("claim", "place"), [0.5], "header"),
    "the outcome": (("claim", "y"), 0.51, ""),
    "the quantity": (("quantity",), "pmc", ""),
    "an unknown quantity": (("quantity",), "ldp", "quantity"),
    "the format": (("format",), 2, "format"),
    "the type": (("claim", "type"), "point", "format"),
    "the alphabet": (("outcome", "upper"), -1.0, "y"),
    "the kernel": (("kernel", "graph", "nodes", 10, 1, 0), (0.5).hex(), ""),
    "the kernel is no logarithm": (("kernel", "log"), True, ""),
    "the kernel's logarithm in doubt": (("kernel", "log"), None, "header"),
    "another secret": (("kernel", "graph", "nodes", 1, 1, 0), "x7", "header"),
    "the prior's density": (("prior", "graph", "nodes", 2, 1, 0), (2.0).hex(), "prior"),
    "a prior of the outcome": (("prior", "graph", "nodes", 0, 1, 0), "y", "header"),
    "the prior's box": (("prior", "upper", 0), 2.0, "cover"),
    "atoms of the prior": (("prior", "atoms"), [[0.0, 0.5, 0.5]], "header"),
    "NaN": (("claim", "f_y", 0), math.nan, "header"),
    "a decimal": (("claim", "extreme", 1), "-0.9", "header"),
    "an infinite bound": (("upper",), "Infinity", "header"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_altered_certificate_is_refused_by_its_leaf(name):
    path, to, leaf = CHANGES[name]
    certificate = figure("gauss, sum of 2").certificate
    assert check_dimensions(certificate, SOME).ok
    report = check_dimensions(altered(certificate, *path, to=to), SOME)
    assert not report.ok
    assert any(line.startswith(leaf) for line in report.failures), report.failures


def test_the_box_of_secrets_and_the_cuts_altered_together():
    for end, leaf in ((2.0, "prior"), (0.5, "prior")):
        data = copy.deepcopy(figure("gauss, sum of 2").certificate)
        data["prior"]["upper"][0] = data["claim"]["cuts"][0][-1] = end
        assert any(line.startswith(leaf) for line in check_dimensions(data, SOME).failures)


@pytest.mark.parametrize("nonsense", [{}, {"format": 5}, "not JSON", "[]", "null", 7, None])
def test_nonsense_is_refused(nonsense):
    assert not check_dimensions(nonsense).ok


def test_no_other_checker_takes_one_and_it_takes_no_other():
    data = figure("gauss, sum of 2").certificate
    for other in (check, check_counts, check_outcomes, check_laws, check_means):
        assert not other(data).ok
        for kind in ("point", "outcomes", "mean", "law", "infinite"):
            assert not other(altered(data, "claim", "type", to=kind)).ok
    with bl.options(closed_forms=False):
        line = bl.pml(bl.uniform(UNIT) * bl.mechanisms.gaussian(sigma=1.0))(0.3)
    assert not check_dimensions(line.certificate).ok
    assert not check_dimensions(altered(line.certificate, "claim", "type", to="box_point")).ok


# -- claims that are false ------------------------------------------------------------------


def claimed(f, p=lambda x: 1.0 + 0 * x[0], *, f_y, extreme, place, cuts=None, **about):
    """Write a certificate of a kernel on the unit square, at y = 0.5."""
    kernel, prior = trace(f, ("y", ("x0", "x1")), ()), trace(p, (("x0", "x1"),), ())
    made = {
        "format": 5, "quantity": "pml", "lower": 0.0, "upper": 99.0,
        "kernel": {"graph": kernel.to_json(), "log": False},
        "prior": {"graph": prior.to_json(), "log": False, "lower": [0.0, 0.0],
                  "upper": [1.0, 1.0], "atoms": []},
        "outcome": {"lower": -9.0, "upper": 9.0, "points": None},
        "claim": {"type": "box_point", "y": 0.5, "cuts": cuts or [[0.0, 1.0], [0.0, 1.0]],
                  "f_y": [math.log(v) for v in f_y],
                  "extreme": [math.log(v) for v in extreme], "place": place},
    }  # fmt: skip
    return {**made, **about}


def constant(y, x):
    return 1.0 + 0 * x[0] * x[1] * y


LITTLE = 1e-6
ABOUT_1 = {"f_y": (1 - LITTLE, 1 + LITTLE), "extreme": (1 - LITTLE, 1 + LITTLE)}


def refused(report, leaf):
    assert not report.ok
    assert any(line.startswith(leaf) for line in report.failures), report.failures


def test_the_claims_hold_where_they_are_true():
    assert check_dimensions(claimed(constant, **ABOUT_1, place=[0.5, 0.5])).ok


def test_a_spike_on_a_null_set_is_no_supremum():
    for at in (
        lambda x: x[0] == 0.5,
        lambda x: (x[0] >= 0.5) & (x[0] <= 0.5),
        lambda x: x[0] == x[1],
        lambda x: x[0] - 0.5 == 0,
    ):
        f = lambda y, x, at=at: np.where(at(x), 9.0, 1.0) + 0 * y * x[1]  # noqa: E731
        false = {**ABOUT_1, "extreme": (8.9, 9.1), "place": [0.5, 0.5]}
        refused(check_dimensions(claimed(f, **false), work=10**6), "extreme near")


def test_what_is_large_at_secrets_without_mass_is_no_supremum():
    def f(y, x):
        return np.where(x[0] < 0.5, 1.0, 9.0) + 0 * y * x[1]

    halved = [[0.0, 0.5, 1.0], [0.0, 1.0]]
    about = {"p": half, "cuts": halved, "place": [0.75, 0.5]}
    false = {"f_y": ABOUT_1["f_y"], "extreme": (8.9, 9.1)}
    refused(check_dimensions(claimed(f, **false, **about)), "extreme near")
    true = claimed(f, **ABOUT_1, **{**about, "place": [0.25, 0.5]})
    assert check_dimensions(true).ok  # and where there is no mass it does not count
    # nor is f_Y the integral of f alone
    refused(check_dimensions(claimed(f, **{**about, "place": [0.25, 0.5]}, f_y=(4.9, 5.1),
                                     extreme=ABOUT_1["extreme"])), "f_Y")  # fmt: skip


def test_a_narrow_peak_is_not_overlooked():
    """Nodes far from it see nothing of it: neither f_Y nor the supremum."""

    def f(y, x):
        return 1 + 8 * np.exp(-(((x[0] - 0.3217) / 1e-3) ** 2)) + 0 * y * x[1]

    report = check_dimensions(claimed(f, **ABOUT_1, place=[0.9, 0.5]))
    refused(report, "f_Y")
    refused(report, "extreme on")


@pytest.mark.parametrize(
    "f",
    [
        lambda y, x: 1 + abs(x[0] - 0.3217) - 0.2685,
        lambda y, x: 1 + np.sqrt((x[0] - 0.3217) ** 2) - 0.2685,
        lambda y, x: 1 + np.maximum(x[0], x[1]) - 0.666,
        lambda y, x: 1 + np.where(x[0] < 0.3217, 1.0, 0.0) - 0.321,
        lambda y, x: 1 + 1e-4 / (1e-6 + (x[0] - 0.3217) ** 2) - 0.313,
        lambda y, x: 1 + np.sqrt(x[0]) - 0.666,
    ],
)
def test_f_y_is_not_what_a_few_nodes_say(f):
    """The integral is a little larger than 1: no rule on the whole square sees by how much."""

    def whole(y, x):
        return f(y, x) + 0 * y * x[0] * x[1]

    wrong = {"f_y": (0.999, 1 + 1e-9), "extreme": (1e-6, 99.0), "place": [0.9, 0.9]}
    refused(check_dimensions(claimed(whole, **wrong), work=10**7), "f_Y")


def test_a_density_that_is_not_one_is_refused():
    about = {**ABOUT_1, "place": [0.5, 0.5]}
    for f in (
        lambda y, x: np.sqrt(x[0] - 2) + 0 * y * x[1],  # NaN
        lambda y, x: np.where(x[0] < 0.5, 1.0, np.log(x[1] - 2)) + 0 * y,
        lambda y, x: 1 / (x[0] - x[1]) + 0 * y,
    ):
        assert not check_dimensions(claimed(f, **about), work=10**6).ok
    for p in (
        lambda x: 2.0 + 0 * x[0] * x[1],
        lambda x: np.where(x[0] < 0.5, 1.0, np.nan) + 0 * x[1],
        lambda x: 0.0 * x[0] * x[1],
    ):
        refused(check_dimensions(claimed(constant, p, **about), work=10**6), "prior")


# -- ranges, formulas and integrals ---------------------------------------------------------

BOX = ((arb(0), ONE), (arb(0), ONE))
INTEGRALS = [
    (lambda x: abs(x[0] - 0.3) + 0 * x[1], (0.3**2 + 0.7**2) / 2, 1e-4),
    (lambda x: np.maximum(x[0], x[1]), 2 / 3, 1e-3),
    (lambda x: np.where(x[0] < x[1], x[0], 0.0), 1 / 6, 1e-3),
    (lambda x: np.sqrt(x[0]) * x[1], 1 / 3, 1e-3),
    (lambda x: np.log(0.5 + x[0]) * x[1], (3 * math.log(3) / 2 - math.log(2) - 1) / 2, 1e-12),
    (lambda x: np.exp(2 * np.log(x[0]) + np.log1p(-x[1])), 1 / 6, 1e-12),
    (lambda x: 1 / (0.01 + (x[0] - 0.5) ** 2) + 0 * x[1], 20 * math.atan(5), 1e-9),
    (lambda x: np.tanh(20 * (x[0] - x[1])), 0.0, 1e-6),
    (lambda x: np.sin(3 * x[0]) * np.cos(x[1]), (1 - math.cos(3)) / 3 * math.sin(1), 1e-12),
    (lambda x: np.minimum(x[0], 0.25) * x[1] ** 3, (0.25 - 0.25**2 / 2) / 4, 1e-12),
    (lambda x: np.exp(-3 * x[0]) ** 2 / (1 + x[1]), (1 - math.exp(-6)) / 6 * math.log(2), 1e-12),
    (lambda x: (x[0] < 0.25) * x[1], 1 / 8, 1e-12),
]


def limited():
    """Return what stops work that does not end."""
    left = [SOME]

    def spend(cost):
        left[0] -= cost
        if left[0] < 0:
            raise ValueError("it takes too long")

    return spend


def test_what_has_no_bounds_is_given_up():
    graph = trace(lambda y, x: np.log(x[0] + x[1]), ("y", ("x0", "x1")), ())
    with ctx.workprec(128), pytest.raises(ValueError, match="too long"):
        Integral(graph.nodes, [BOX], arb(0), arb(1e-3), limited())


@pytest.mark.parametrize("k", range(len(INTEGRALS)))
def test_integrals_enclose_the_truth(k):
    f, truth, room = INTEGRALS[k]
    graph = trace(lambda y, x: f(x), ("y", ("x0", "x1")), ())
    with ctx.workprec(128):
        found = Integral(graph.nodes, [BOX], arb(0), arb(room), limited()).value
    low, high = float(found.lower()), float(found.upper())
    assert low - 1e-15 <= truth <= high + 1e-15
    assert high - low <= room


def test_nodes_too_few_are_told_by_the_remainder():
    """For each number of nodes the rule is off by no more than it says."""
    graph = trace(lambda y, x: np.exp(-4 * (x[0] - x[1] / 2) ** 2), ("y", ("x0", "x1")), ())
    with mpmath.workdps(30), ctx.workprec(128):
        truth = quad(lambda a, b: mpmath.exp(-4 * (a - b / 2) ** 2), [0, 1], [0, 1])
        formula = Formula(graph.nodes, ranges(graph.nodes, BOX, arb(0)))
        errors = formula.errors(BOX)
        off = []
        for n in range(2, 14):
            miss = abs(mpf(str(formula.gauss(BOX, n).mid().str(30, radius=False))) - truth)
            assert miss <= float(sum((e(n) for e in errors.values()), arb(0)))
            off.append(miss)
    assert off[0] > 1e-4 and off[-1] < 1e-12


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sqrt(x[0] + 0.01) + 0 * x[1],
        lambda x: np.log(x[0] + 0.01) + 0 * x[1],
        lambda x: 1 / (x[0] + 0.01) + 0 * x[1],
        lambda x: (x[0] + 0.01) ** 1.5 + 0 * x[1],
        lambda x: np.tanh(100 * (x[0] - x[1])),
        lambda x: np.logaddexp(100 * x[0], 100 * x[1]),
    ],
)
def test_no_ellipse_reaches_a_pole_or_a_cut(f):
    graph = trace(lambda y, x: f(x), ("y", ("x0", "x1")), ())
    with ctx.workprec(128):
        formula = Formula(graph.nodes, ranges(graph.nodes, BOX, arb(0)))
        with pytest.raises(Doubt):
            formula.bound(BOX, 0, arb(9))
        assert not all(formula.errors(BOX)[0](n) < 1e-6 for n in (2, 9))


@pytest.mark.parametrize("seed", range(40))
def test_ranges_and_slopes_enclose_the_values(seed):
    rng = np.random.default_rng(seed)
    forms = [
        lambda y, x: np.exp(-abs(y - x[0]) / (1 + x[1])) / (1 + x[1]),
        lambda y, x: np.exp(-(((y - x[0]) / (0.2 + x[1])) ** 2)) * np.sqrt(0.1 + x[0] * x[1]),
        lambda y, x: np.maximum(x[0] - x[1], y) ** 3 - np.log1p(x[0]) / (1.5 - x[1]),
        lambda y, x: np.where(y < 0.5, x[0] ** -2.0 * x[1], np.sin(x[0] * x[1]) - np.cos(4 * x[0])),
        lambda y, x: np.where(x[0] + x[1] > y, x[0], 2 - x[1]) * (x[0] > 0.5),
        lambda y, x: np.minimum(x[0], 0.5) - (x[0] - x[1]) ** 2 + np.reciprocal(1 + x[0]),
        lambda y, x: np.logaddexp(x[0], x[1]) + np.tanh(x[0]) * np.expm1(-x[1]),
    ]
    y = float(rng.random())
    a = rng.random(2) * 0.9 + 0.01
    b = a + rng.random(2) * (1 - a) * rng.choice([1.0, 0.1, 0.01])
    points = a[:, None] + (b - a)[:, None] * rng.random((2, 500))
    points = np.concatenate([points, np.array([a, b, [a[0], b[1]], [b[0], a[1]]]).T], axis=1)
    box = tuple((arb(u), arb(v)) for u, v in zip(a, b, strict=True))
    for f in forms:
        graph = trace(f, ("y", ("x0", "x1")), ())
        values = f(y, points)
        with ctx.workprec(128):
            for low, high in (
                check_ranges.values(graph.nodes, box, arb(y)),
                extremes(graph.nodes, box, arb(y)),
            ):
                slack = 1e-12 * (1 + abs(values))
                assert (float(low) - slack <= values).all() and (
                    values <= float(high) + slack
                ).all()


# -- the checker itself ---------------------------------------------------------------------


def test_it_is_short_and_shares_nothing_with_the_kernels():
    assert lines_of_code(checker) <= 150
    assert lines_of_code(box_integrals) <= 210
    assert lines_of_code(check_ranges) <= 210
    name = "borel.engine.certificates.checks."
    assert modules_of_borel(check_ranges) == set()
    assert modules_of_borel(box_integrals) == {name + "ranges"}
    used = ("verifier", "reading", "box_integrals", "ranges", "rays")
    of_checkers = {name + other for other in used}
    assert modules_of_borel(checker) == of_checkers


def test_borel_check_says_which_leaf_fails(tmp_path):
    from typer.testing import CliRunner

    from borel.cli import app

    data, path = figure("gauss, sum of 2").certificate, tmp_path / "certificate.json"
    path.write_text(json.dumps(data))
    assert CliRunner().invoke(app, ["check", str(path)]).exit_code == 0
    path.write_text(json.dumps({**data, "lower": data["lower"] + 1e-6}))
    done = CliRunner().invoke(app, ["check", str(path)])
    assert done.exit_code == 1 and "bound: " in done.output
