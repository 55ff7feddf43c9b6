"""The checker of laws of several secrets: it verifies those that hold, and refuses the rest.

The kernels read one number of the secrets, which is no weighted sum of them.
"""

import copy
import json
import math

import numpy as np
import pytest
from engine.certified_cases import changed, kernel
from engine.test_check import lines_of_code, modules_of_borel
from flint import acb, arb, ctx

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates import making
from borel.engine.certificates.checks import several_laws as checker
from borel.engine.certificates.checks.several_laws import check_several

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

UNIT, REALS = bl.Interval(0, 1), bl.Reals()
SQUARE = UNIT * UNIT


def tilted(y, x):
    """1 + (w - 1/2) t with w = x0 x1 and t = 2 y - 1, so that f_Y = 1 - t / 4."""
    return 1 + (x[0] * x[1] - 0.5) * (2 * y - 1)


def bell(y, x):
    return np.exp(-0.5 * (y - x[0] * x[1]) ** 2) / np.sqrt(2 * np.pi)


def heavy(y, x):
    return 1 / (np.pi * (1 + (y - x[0] * x[1]) ** 2))


TILTED = bl.uniform(SQUARE) * kernel(tilted, secret=SQUARE, outcome=UNIT)
BELL = bl.uniform(SQUARE) * kernel(bell, secret=SQUARE)
HEAVY = bl.uniform(SQUARE) * kernel(heavy, secret=SQUARE)


def certified(bound):
    """Return a figure that has a certificate, which a checker verifies."""
    assert bound.status in ("certified", "conditional")
    assert bound.certificate is not None and bound.certificate["format"] == 7
    found = check_several(json.dumps(bound.certificate))
    assert found.ok, found.failures
    return bound


def encloses(bound, truth, width=2e-8):
    """Whether the truth is within the ends, with no tolerance, and these are close."""
    with ctx.workprec(300):
        assert bound.lower <= truth <= bound.upper
    assert bound.width <= width
    return True


def top(t):
    """Return sup_x f(y|x) of the tilted kernel."""
    return 1 + abs(t) / 2


def at(t):
    """Return f_Y of the tilted kernel."""
    return 1 - t / 4


# PML is log (1 + |t|/2) / (1 - t/4), largest at t = 1, and PMC log (1 - t/4) / (1 - |t|/2)
SUPREMA = {"pml": (bl.pml, 2), "pmc": (bl.pmc, arb(5) / 2), "ldp": (None, 3)}


@pytest.mark.parametrize("kind", SUPREMA)
def test_suprema(kind):
    leakage, ratio = SUPREMA[kind]
    bound = bl.ldp(TILTED) if leakage is None else leakage(TILTED).sup()
    with ctx.workprec(300):
        assert encloses(certified(bound), arb(ratio).log())


@pytest.mark.parametrize("level", [0.1, 0.25, 0.5])
def test_tails(level):
    with ctx.workprec(300):
        e = arb(level).exp()
        # PML exceeds the level for t beyond (e - 1) / (1/2 + e/4), and below (1 - e) / (1/2 - e/4)
        right, left = (e - 1) / (arb(1) / 2 + e / 4), (1 - e) / (arb(1) / 2 - e / 4)

        def mass(a, b):  # of t in (a, b), by dy = dt / 2
            return ((b - a) - (b * b - a * a) / 8) / 2

        truth = mass(right, arb(1)) + (mass(arb(-1), left) if left > -1 else 0)
    bound = bl.pml(TILTED).tail(level)
    assert encloses(certified(bound), truth)
    assert encloses(certified(bl.pml(TILTED).cdf(level)), 1 - truth)


@pytest.mark.parametrize("level", [0.25, 0.75])
def test_quantiles(level):
    """The probability that PMC exceeds its quantile, in closed form, is 1 - s."""
    bound = certified(bl.pmc(TILTED).quantile(level))
    assert bound.width <= 2e-8

    def below(leakage):  # P{PMC <= leakage}, by the ratio (1 - t/4) / (1 - |t|/2) = e
        e = arb(leakage).exp()
        right = min((e - 1) / (e / 2 - arb(1) / 4), arb(1), key=float)
        left = max((1 - e) / (e / 2 + arb(1) / 4), arb(-1), key=float)
        return ((right - left) - (right**2 - left**2) / 8) / 2

    with ctx.workprec(300):
        assert below(bound.lower) <= level <= below(bound.upper)


def test_means():
    with ctx.workprec(300):

        def over(function):  # the integral over y, by t on both sides of the kink at 0
            left = acb.integral(lambda t, _: function(t, -1), -1, 0).real
            return (left + acb.integral(lambda t, _: function(t, 1), 0, 1).real) / 2

        def pml(t, s):
            return at(t) * ((1 + t * s / 2) / at(t)).log()

        def pmc(t, s):
            return at(t) * (at(t) / (1 - t * s / 2)).log()

        def exp_pmc(t, s):
            return at(t) ** 2 / (1 - t * s / 2)

        truths = [over(pml), over(pmc), arb(5) / 4, over(exp_pmc)]
    figures = [
        *(leakage(TILTED).mean() for leakage in (bl.pml, bl.pmc)),
        *(leakage(TILTED).exp_mean() for leakage in (bl.pml, bl.pmc)),
    ]
    for bound, truth in zip(figures, truths, strict=True):
        assert encloses(certified(bound), truth)
    with ctx.workprec(300):
        assert encloses(certified(bl.maximal_leakage(TILTED)), (arb(5) / 4).log())
        assert encloses(certified(bl.maximal_cost_leakage(TILTED)), -(arb(3) / 4).log())


def test_noise_on_a_product():
    """E e^PML of noise is the integral of sup f: 1 and the height times the length of g."""
    with ctx.workprec(300):
        height = 1 / (2 * arb.pi()).sqrt()
        assert encloses(certified(bl.pml(BELL).exp_mean()), 1 + height)
        assert encloses(certified(bl.pml(HEAVY).exp_mean()), 1 + 1 / arb.pi(), 2e-8 * 2)


def test_infinite_suprema_are_proved_with_certificates():
    for bound in (bl.pml(BELL).sup(), bl.pmc(BELL).sup(), bl.ldp(BELL)):
        assert certified(bound).lower == math.inf


def test_heavy_noise_has_finite_suprema():
    """Far out the leakage is at most the ratio of the extremes of f, which tends to 1."""
    places = np.linspace(-4, 5, 20_001)
    # f_Y by the law of w = x0 x1, of density -log w
    nodes, weights = np.polynomial.legendre.leggauss(400)
    w, p = ((nodes + 1) / 2) ** 4, 2 * ((nodes + 1) / 2) ** 3  # dw = 4 v^3 dv
    f = 1 / (np.pi * (1 + (places[:, None] - w) ** 2))
    f_y = (f * (-np.log(w) * p * weights)).sum(1)
    nearest = np.clip(places, 0, 1)
    top = 1 / (np.pi * (1 + (places - nearest) ** 2))
    bound = certified(bl.pml(HEAVY).sup())
    assert abs(np.log(top / f_y).max() - bound.upper) < 1e-6 and bound.width <= 1e-8


def test_three_secrets_and_a_prior_that_is_not_flat():
    cube = UNIT**3
    prior = bl.beta(alpha=2, beta=3) * bl.beta(alpha=2, beta=3) * bl.beta(alpha=2, beta=3)

    def slanted(y, x):
        return 1 + (x[0] * x[1] * x[2] - 0.5) * (2 * y - 1)

    joint = prior * kernel(slanted, secret=cube, outcome=UNIT)
    # E w = (2/5)^3; sup_x f as above: at t = 1 it is 3/2 against 1/2 + 8/125
    with ctx.workprec(300):
        truth = (arb(3) / 2 / (arb(1) / 2 + arb(8) / 125)).log()
        assert encloses(certified(bl.pml(joint).sup()), truth)


CHANGES = [
    (("lower",), 0.7),
    (("upper",), 0.69),
    (("lower",), math.nan),
    (("upper",), "Infinity"),
    (("format",), 3),
    (("claim", "type"), "point"),
    (("claim", "type"), "law"),
    (("quantity",), "pmc"),
    (("number", "at"), [[0.0, 0.0], [0.5, 0.5]]),
    (("number", "at"), [[0.0, 0.0]]),
    (("number", "at"), [[0.0, 0.0], [math.nan, 1.0]]),
    (("number", "at"), [[1.0, 1.0], [0.0, 0.0]]),
    (("number", "cuts"), [[0.0, 1.0], [0.0, 0.5]]),
    (("number", "cuts"), [[0.0, 1.0]]),
    (("number", "cuts"), [["0.0", "1.0"], ["0.0", "1.0"]]),
    (("number",), {}),
    (("prior", "lower"), [0.0, 0.5]),
    (("prior", "upper"), [2.0, 1.0]),
    (("prior", "atoms"), [[0.0, 0.5, 0.5]]),
    (("claim", "marginal"), {"nodes": [["const", ["0x1p+0"]]], "inputs": ["y"]}),
    (("outcome", "atoms"), [[0.5, {"graph": {"nodes": [], "inputs": []}, "log": False}]]),
]


@pytest.mark.parametrize(("path", "value"), CHANGES)
def test_changed_ones_are_refused(path, value):
    bound = certified(bl.pml(TILTED).sup())
    made = changed(bound, path, value) if path != ("outcome", "atoms") else bound.certificate
    if path == ("outcome", "atoms"):
        made = copy.deepcopy(made)
        made["outcome"]["atoms"] = value
    if value == "Infinity":  # it is true, and looser
        assert check_several(made).ok
        return
    assert not check_several(made).ok


def replaced(bound, **parts):
    """Put other densities into a certificate, with ends so far apart that no bound fails."""
    made = copy.deepcopy(bound.certificate)
    made["lower"], made["upper"] = 0.0, math.inf
    for name, (density, inputs) in parts.items():
        from borel.numerics.graphs.trace import trace

        made[name] = {**made[name], "graph": trace(density, inputs, ()).to_json(), "log": False}
    return made


@pytest.mark.parametrize(
    ("what", "parts"),
    [
        ("a prior that is no law", {"prior": lambda x: 0.5 + 0 * x[0]}),
        ("a prior that is 0 on a half", {"prior": lambda x: np.where(x[0] < 0.5, 2.0, 0.0)}),
        ("two numbers", {"kernel": lambda y, x: 1 + (x[0] - np.sin(y) * x[1]) * (2 * y - 1)}),
        (
            "a number with an atom",
            {"kernel": lambda y, x: 1 + np.maximum(x[0] * x[1] - 0.5, 0) * (2 * y - 1)},
        ),
        (
            "a number that jumps",
            {"kernel": lambda y, x: 1 + np.where(x[0] > x[1], 0.2, x[0]) * (2 * y - 1)},
        ),
        ("a number that is one", {"kernel": lambda y, x: 1 + (x[0] * 0) * (2 * y - 1)}),
    ],
)
def test_what_is_not_as_it_has_to_be_is_refused(what, parts):
    bound = certified(bl.pml(TILTED).sup())
    named = {
        "prior": lambda f: (lambda x0, x1: f((x0, x1)), ("x0", "x1")),
        "kernel": lambda f: (lambda y, x0, x1: f(y, (x0, x1)), ("y", "x0", "x1")),
    }
    made = replaced(bound, **{name: named[name](f) for name, f in parts.items()})
    assert not check_several(made).ok, what


READING = [["const", [(1.0).hex()]], ["input", ["y"]], ["input", ["x0"]], ["const", [(0.5).hex()]],
           ["subtract", [2, 3]], ["multiply", [1, 4]], ["add", [0, 5]]]  # fmt: skip


@pytest.mark.parametrize("name", ["y", "x-1", "x2", "w0"])
def test_a_prior_reads_its_secrets_alone(name):
    """1 + y (x0 - 1/2) integrates to 1 at each y: it is no prior."""
    nodes = [[op, [name] if args == ["y"] else args] for op, args in READING]
    for bound in (bl.pml(TILTED).mean(), bl.pml(BELL).sup()):
        made = copy.deepcopy(certified(bound).certificate)
        made["prior"] |= {"graph": {"nodes": nodes, "inputs": [name, "x0", "x1"]}, "log": False}
        if bound.upper < math.inf:
            made["lower"], made["upper"] = 0.0, 1.0
        assert not check_several(made).ok


@pytest.mark.parametrize(
    "law",
    [
        {"graph": {"nodes": [["const", [(5.0).hex()]]], "inputs": ["x0", "x1"]}, "log": False},
        {"graph": {"nodes": [["const", ["inf"]]], "inputs": ["x0", "x1"]}, "log": True},
        {"graph": {"nodes": [["const", ["nan"]]], "inputs": ["x0", "x1"]}, "log": False},
        {"log": "no"},
        {"log": None},
        {"atoms": [[0.5, 0.5, 0.5]]},
    ],
)
def test_an_infinity_is_about_a_prior_too(law):
    made = copy.deepcopy(certified(bl.pml(BELL).sup()).certificate)
    made["prior"] |= law
    assert not check_several(made).ok


def test_a_claim_that_is_none_is_refused():
    made = copy.deepcopy(certified(bl.pml(TILTED).sup()).certificate)
    for kind in ([], {}, None, "pair", "fading"):
        made["claim"]["type"] = kind
        assert not check_several(made).ok


def test_a_prior_that_is_singular_at_a_face():
    """Its mass takes a checker long: then there is no certificate (`benchmarks/test_budgets`)."""
    prior = bl.Measure(lambda x: 6 * x[0] * (1 - x[0]) / np.sqrt(4 * x[1]), on=SQUARE)
    joint = prior * kernel(tilted, secret=SQUARE, outcome=UNIT)
    with bl.options(budget=2):
        bound = bl.pml(joint).sup()
    # E w = 1/2 1/3; at t = 1 sup f is 3/2 and f_Y = 1/2 + 1/6
    with ctx.workprec(200):
        assert bound.lower <= (arb(9) / 4).log() <= bound.upper


def test_numbers_that_are_not_monotone():
    """E e^PML of noise on x0 x1 in (-1, 1): 1 and the height times the length 2."""
    square = bl.Interval(-1, 1) ** 2
    joint = bl.uniform(square) * kernel(bell, secret=square)
    with ctx.workprec(300):
        truth = 1 + 2 / (2 * arb.pi()).sqrt()
        assert encloses(certified(bl.pml(joint).exp_mean()), truth)
        assert encloses(certified(bl.maximal_leakage(joint)), truth.log())
    assert certified(bl.pml(joint).sup()).lower == math.inf
    assert certified(bl.pmc(joint).quantile(0.5)).width <= 1e-8


def test_an_infinity_that_rests_on_a_checker_needs_no_certificate_to_be_wanted():
    """Where the ends of a number are searched for its checker says where there is mass."""

    def around(y, x):
        distance = (x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2
        return np.exp(-0.5 * (y - distance) ** 2) / np.sqrt(2 * np.pi)

    joint = bl.uniform(SQUARE) * kernel(around, secret=SQUARE)
    with making(False):
        bound = bl.pml(joint).sup()
    assert bound.lower == math.inf and bound.certificate is None
    assert certified(bl.pml(joint).sup()).lower == math.inf


def test_it_stands_for_no_other_figure():
    tail, supremum = bl.pml(TILTED).tail(0.25), bl.pml(TILTED).sup()
    assert verified("pml", certified(supremum)).outcome == "verified"
    assert verified("pml", tail).outcome == "refused"
    assert verified("pmc", supremum).outcome == "refused"


def test_noise_with_a_kink_has_figures_as_before_and_no_certificate():
    """Where a branch moves across the box no polynomial is f_Y: nothing is handed out."""

    def kinked(y, x):
        return np.exp(-np.abs(y - np.sin(x[0] + x[1] * x[1]))) / 2

    joint = bl.uniform(SQUARE) * kernel(kinked, secret=SQUARE)
    with bl.options(budget=2):
        bound = bl.pml(joint).tail(0.25)
    assert bound.certificate is None and bound.width > 1e-8


def test_its_parts_are_small_and_share_nothing_with_the_kernels():
    from borel.engine.certificates.checks import panels

    graphs = {"borel.numerics.graphs.dependence", "borel.numerics.graphs.trace"}
    for module in (checker, panels):
        used = modules_of_borel(module) - graphs
        assert all(name.startswith("borel.engine.certificates.checks.") for name in used)
    assert lines_of_code(checker) <= 260 and lines_of_code(panels) <= 130
