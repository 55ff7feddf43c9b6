"""Each leaf of a checker alone: a false claim in which nothing else is wrong."""

import copy
import json
import math

import numpy as np
import pytest
from engine.test_check_dimensions import ABOUT_1, BOX, INTEGRALS, claimed, constant, limited
from engine.test_check_discrete_laws import left, made
from flint import arb, ctx
from scipy import special

import borel as bl
from borel.engine.certificates.checks.box_integrals import Integral
from borel.engine.certificates.checks.counts import check_counts
from borel.engine.certificates.checks.discrete_laws import check_discrete_laws, ends_of
from borel.engine.certificates.checks.in_logs import check_in_logs
from borel.engine.certificates.checks.ranges import extremes, ranges, values
from borel.engine.certificates.checks.several_points import check_dimensions
from borel.engine.certificates.checks.verifier import BITS
from borel.engine.certificates.encoding import without_infinities
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates", "no_sums")]

INF = math.inf
NEXT = {"base": "y", "sign": 1, "power": 0.0, "s": [-0.5, 0.5]}
FAR = {"base": 0.0, "sign": 1, "power": -1.0, "s": [1.0, 2.0]}
TO_INFINITY = {"base": 0.0, "sign": 1, "power": -1.0, "s": [1.0, 1.0]}


def graph(f, *names):
    return {"graph": trace(f, names, ()).to_json(), "log": False}


def poisson(n):
    return np.exp(n * np.log(2.0) - 2.0 - special.gammaln(n + 1))


def halves(n):
    """Mass 1/2 at 0 and at 1, exactly."""
    return np.where(n < 1.5, 0.5, 0.0)


def of_counts(kernel, claim, *, masses=poisson, quantity="pml", ends=(INF, INF), **about):
    prior = {"graph": None, "log": False, "points": "integers", "masses": graph(masses, "x"),
             "lower": 0.0, "upper": INF, "atoms": [], **about.pop("prior", {})}  # fmt: skip
    line = {"lower": 0.0, "upper": 1.0, "points": None, **about.pop("outcome", {})}
    whole = {"format": 4, "quantity": quantity, "lower": ends[0], "upper": ends[1],
             "kernel": graph(kernel, "y", "x"), "prior": prior, "outcome": line}  # fmt: skip
    return without_infinities({**whole, "claim": claim, **about})


def point(place, beyond, head=(0.0, 34.0), y=0.75):
    beyond = [math.log(v) for v in beyond]
    return {"type": "count_point", "y": y, "head": [*head], "place": place, "beyond": beyond}


def infinite(**proof):
    about = {"t0": 2.0**-10, "exponent": 0.0, "weight": -2.0, "secret": 0.0, **proof}
    return {"type": "count_infinite", "proof": about}


def only(report, *leaves):
    assert not report.ok
    assert {line.split(":")[0].split(" ")[0] for line in report.failures} == {*leaves}, report


# -- counts ---------------------------------------------------------------------------------


def test_both_or_either_is_decided_at_every_integer():
    """The count 50 alone leaks, log 1.5 less nothing: 1e-50 of the secrets."""
    for both in (
        lambda x: (x >= 49.5) & (x <= 50.5),
        lambda x: np.logical_not((x < 49.5) | (x > 50.5)),
        lambda x: np.logical_not(x - 50),
        lambda x: np.logical_and(np.logical_not(x - 50), x),
    ):
        made_ = of_counts(
            lambda y, x, both=both: np.where(both(x), 2 * y, 1 + 0 * y),
            point(0.0, (1 - 1e-12, 1 + 1e-12)),
            ends=(0.0, 1e-9),
        )
        assert not check_counts(made_).ok


def settles(y, x):
    return 1 + (2 * y - 1) / (x + 2)


def test_the_mass_beyond_a_head_is_part_of_f_y():
    """With a head of 0, 1 and 2 two thirds of f_Y are known, and PMC looks like nothing."""
    claim = point(2.0**40, (1 - 1e-12, 1.1), head=(0.0, 2.0))
    assert not check_counts(of_counts(settles, claim, quantity="pmc", ends=(0.0, 0.01))).ok
    assert check_counts(of_counts(settles, claim, quantity="pmc", ends=(0.0, 0.2))).ok


def bumps(y, x):
    """What leaks is between the integers."""
    return 1 + (2 * y - 1) * np.sin(np.pi * x) ** 2


def test_a_place_is_an_integer_of_positive_mass():
    claims = [point(place, (1 - 1e-9, 1.5 + 1e-9), head=(0.0, 5.0)) for place in (3.0, 2.5)]
    even = {"masses": lambda n: 1 / 6 + 0 * n, "prior": {"upper": 5.0}}
    assert check_counts(of_counts(bumps, claims[0], ends=(0.0, 0.5), **even)).ok
    assert not check_counts(of_counts(bumps, claims[1], ends=(0.3, 0.5), **even)).ok
    only(check_counts(of_counts(bumps, claims[1], ends=(0.0, 0.5), **even)), "place")

    def third(y, x):
        return 1 + (2 * y - 1) * np.where(x == 3, 0.5, 0.0)

    claim = point(3.0, (1 - 1e-9, 1.5), head=(0.0, 5.0))
    about = {"masses": halves, "prior": {"upper": 5.0}}
    only(check_counts(of_counts(third, claim, ends=(0.2, 0.5), **about)), "place")


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


@pytest.mark.parametrize(
    "masses",
    [
        lambda n: np.exp(np.log(5.0 - n)),
        lambda n: (5.0 - n) ** 0.5,
        lambda n: np.where(n < 4.5, 0.2, 0.0),
    ],
)
def test_masses_that_are_none_far_out(masses):
    claim, line = infinite(y=TO_INFINITY, x=NEXT), {"lower": -INF, "upper": INF}
    assert check_counts(of_counts(laplace, claim, outcome=line)).ok
    only(check_counts(of_counts(laplace, claim, outcome=line, masses=masses)), "prior")


def test_logarithms_of_masses_that_are_none_far_out():
    made_ = of_counts(
        laplace, infinite(y=TO_INFINITY, x=NEXT), outcome={"lower": -INF, "upper": INF}
    )
    for log in (lambda n: (5.0 - n) ** 0.5 - n, lambda n: np.log(5.0 - n), lambda n: 1 / (n - n)):
        made_["prior"]["masses"] = {**graph(log, "x"), "log": True}
        only(check_counts(made_), "prior")


def test_an_infinity_of_pml_runs_along_1_over_t():
    line = {"outcome": {"lower": -INF, "upper": INF}}
    for y in ({**TO_INFINITY, "s": [1.0, 2.0]}, {**TO_INFINITY, "s": [1.0, 1.5]}):
        claim = infinite(y=y, x=NEXT, weight=-2.0)
        only(check_counts(of_counts(laplace, claim, **line)), "argument")
    for half in (0.5, 1.5):  # at integers y no secret is y + 1/2
        beside = {**NEXT, "s": [half, half]}
        whole = {"outcome": {"lower": 0.0, "upper": INF, "points": "integers"}}
        claim = infinite(y=TO_INFINITY, x=beside, weight=-4.0)
        only(check_counts(of_counts(laplace, claim, **whole)), "argument")


def test_an_infinity_of_pmc_is_at_one_outcome_with_secrets_that_leave():
    line = {"outcome": {"lower": -INF, "upper": INF}, "quantity": "pmc"}
    box, steep = {"box": [3.0, 3.0]}, {"exponent": 64.0, "weight": 257.0}

    def gauss(y, x):
        return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)

    assert check_counts(of_counts(gauss, infinite(y=box, x=FAR, **steep), **line)).ok
    slim = {**FAR, "s": [1.0, 1.0 + 2.0**-11]}
    only(check_counts(of_counts(gauss, infinite(y=box, x=slim, **steep), **line)), "secrets")

    def alone(y, x):  # the secret is not in it: PMC is 0
        return 0.5 ** (y + 1) + 0 * x

    whole = {**line, "outcome": {"lower": 0.0, "upper": INF, "points": "integers"}}
    for moving in (TO_INFINITY, {"box": [2.0, 2.0]}):
        claim = infinite(y=moving, x=FAR, exponent=1.0, weight=8.0)
        assert not check_counts(of_counts(alone, claim, **whole)).ok
    claim = infinite(y=TO_INFINITY, x=FAR, exponent=1.0, weight=8.0)
    report = check_counts(of_counts(alone, claim, **whole))
    assert any(line_.startswith("growth") for line_ in report.failures)
    claim = infinite(y={"box": [0.75, 0.75]}, x=FAR, exponent=0.0, weight=1.0)
    only(check_counts(of_counts(settles, claim, quantity="pmc")), "growth")


def test_an_infinity_of_pmc_needs_an_outcome_of_positive_density():
    def none(y, x):  # the outcome 2 has no mass, whatever the secret
        return np.where(y == 2, 0.0 * x, np.where(y < 2, 0.5, 0.0))

    line = {"outcome": {"lower": 0.0, "upper": INF, "points": "integers"}, "quantity": "pmc"}
    claim = infinite(y={"box": [2.0, 2.0]}, x=FAR, exponent=1.0, weight=0.0)
    only(check_counts(of_counts(none, claim, **line)), "f_Y")


def test_an_outcome_of_counts_has_no_atoms():
    claim = point(3.0, (1 - 1e-9, 1.5 + 1e-9))
    made_ = of_counts(bumps, claim, ends=(0.0, 0.5))
    made_["outcome"]["atoms"] = [[0.75, graph(lambda x: 0.5 + 0 * x, "x")]]
    only(check_counts(made_), "outcome")


# -- logarithms far out ---------------------------------------------------------------------


def test_a_supremum_far_out_is_not_that_of_a_bounded_part():
    """Up to a cut the answer is below e^level; it tends to 1 beyond."""
    prior = bl.gamma(alpha=1.0)

    def answer(y, x):
        return np.where(y == 1, 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(x)))

    joint = prior * bl.Mechanism(answer, secret=prior.on, outcome=bl.Finite([0, 1]))
    data = json.loads(json.dumps(bl.pml(joint)(1.0).certificate))
    assert check_in_logs(data).ok
    cut = max(a for a, *_ in data["claim"]["cells"])
    level = -math.log1p(math.exp(-cut)) + 1e-12
    data["claim"]["top"] = [level - 1e-3, level, cut - 1e-3]
    report = check_in_logs({**data, "lower": 0.0})
    assert [line.split(":")[0] for line in report.failures] == [f"top on ({cut}, inf)"]


# -- laws -----------------------------------------------------------------------------------


def exact(side, ends, s=(3, 4)):
    """A law whose masses are floats: PML is log 4/3 with mass 3/4, and log 2 with mass 1/4."""

    def half(y, x):
        return np.where(y == 1, np.where(x < 0.5, 0.5, 1.0), np.where(x < 0.5, 0.5, 0.0))

    parts = [point(place, (0.5, 1.0), (0.0, 1.0), y) for y, place in ((0.0, 0.0), (1.0, 1.0))]
    claim = {"type": "discrete_law", "figure": "quantile", "side": side, "s": [*s], "parts": parts}
    about = {"masses": halves, "prior": {"upper": 1.0}, "outcome": {"points": [0.0, 1.0]}}
    return of_counts(half, claim, ends=ends, **about)


def test_a_quantile_at_a_step_is_that_of_its_side():
    low, high = (0.28, 0.29), (0.69, 0.7)  # log 4/3 and log 2
    for side, true, false in (("left", low, high), ("right", high, low)):
        report = check_discrete_laws(exact(side, true))
        assert report.ok, report.failures
        assert not check_discrete_laws(exact(side, false)).ok


@pytest.mark.parametrize(
    ("side", "s"), [("left", (0, 1)), ("left", (-1, 2)), ("right", (1, 1)), ("right", (2, 1)),
                    ("left", (2, 1)), ("middle", (1, 2))]
)  # fmt: skip
def test_a_level_is_that_of_a_quantile(side, s):
    report = check_discrete_laws(exact(side, (0.0, 100.0), s))
    assert any(line.startswith("level") for line in report.failures)


def test_the_distribution_function_counts_its_threshold():
    data = made("two tosses", "pml", "cdf")
    report = check_discrete_laws({**data, "claim": {**data["claim"], "closed": True}})
    only(report, "closed")


@pytest.mark.parametrize("t", ["0.25", None, True, [0.25]])
def test_a_threshold_is_a_number(t):
    for figure in ("tail", "cdf"):
        data = made("two tosses", "pml", figure)
        data["claim"]["t"] = t
        assert not check_discrete_laws(data).ok


def test_the_rarest_secret_weighs_as_little_as_it_may():
    with ctx.workprec(BITS):
        some = left("counts", "pml", range(5))
        some.atoms = [[1.0, 0.125, 0.25], [2.0, 0.5, 0.75]]
        most = float(some.rest(lambda v: v, lambda: arb.pos_inf()))
        assert most >= float(some.left) * 8


def test_what_an_outcome_of_boxes_says_is_proved():
    """f_Y of both outcomes is changed so that they still sum to 1, and the law with it."""
    data = made("in a square", "pml", "mean")
    parts = data["claim"]["parts"]
    small = min(parts, key=lambda part: part["f_y"][0])
    large = max(parts, key=lambda part: part["f_y"][0])
    moved = 1e-3
    for part, more in ((small, moved), (large, -moved)):
        part["f_y"] = [math.log(math.exp(v) + more) for v in part["f_y"]]
    low, high = ends_of(data)
    report = check_discrete_laws({**data, "lower": low, "upper": high}, 300_000)
    assert all("f_Y" in line for line in report.failures) and not report.ok


def test_beyond_a_head_of_boxes_nothing_is_known():
    square = bl.Interval(0, 1) ** 2

    def waits(y, x):
        rate = 0.5 + x[0] / 8 + x[1] / 8
        return (1 - rate) * rate**y

    joint = bl.uniform(square) * bl.Mechanism(waits, secret=square, outcome=bl.Integers(0))
    ell = bl.pml(joint)
    whole = [json.loads(json.dumps(ell(y).certificate)) for y in range(2)]
    claim = {"type": "discrete_law", "figure": "mean", "parts": [one["claim"] for one in whole]}
    data = {**whole[0], "lower": 0.0, "claim": claim}
    assert not check_discrete_laws({**data, "upper": 50.0}, 300_000).ok
    tail = {**claim, "figure": "tail", "t": 0.0, "closed": True}
    assert check_discrete_laws({**data, "upper": 1.0, "claim": tail}, 300_000).ok


# -- boxes of secrets -----------------------------------------------------------------------

SOME = 300_000


def test_a_prior_has_the_mass_1():
    heavy = claimed(constant, lambda x: 1.0005 + 0 * x[0] * x[1], f_y=(1.0004, 1.0006),
                    extreme=ABOUT_1["extreme"], place=[0.5, 0.5])  # fmt: skip
    only(check_dimensions(heavy, SOME), "prior")


def rising(y, x):
    """Between 1/2 and 3/2, with mean 1."""
    return 0.5 + x[0] + 0 * x[1] * y


def test_an_extreme_is_one_on_every_piece():
    cuts = [[0.0, 0.5, 1.0], [0.0, 1.0]]
    about = {"f_y": (1 - 1e-6, 1 + 1e-6), "cuts": cuts}
    true = claimed(rising, extreme=(1.4999, 1.5001), place=[1 - 1e-6, 0.5], **about)
    assert check_dimensions(true, SOME).ok
    false = claimed(rising, extreme=(0.99, 1.001), place=[0.499, 0.5], **about)
    report = check_dimensions(false, SOME)
    assert [line.split(":")[0] for line in report.failures] == ["extreme on (0.5, 1.0), (0.0, 1.0)"]


def test_secrets_of_little_density_are_not_absent():
    """p = 2 x0 is 0 at an end, where the kernel is largest."""

    def falling(y, x):
        return 5 / 3 - x[0] + 0 * x[1] * y

    about = {"p": lambda x: 2 * x[0] + 0 * x[1], "f_y": (1 - 1e-6, 1 + 1e-6)}
    true = claimed(falling, extreme=(1.6, 1.67), place=[0.01, 0.5], **about)
    assert check_dimensions(true, SOME).ok
    false = claimed(falling, extreme=(1.1, 1.17), place=[0.5, 0.5], **about)
    assert not check_dimensions(false, SOME).ok


def test_a_place_is_inside_the_box():
    about = {"f_y": (1 - 1e-6, 1 + 1e-6)}
    inside = claimed(rising, extreme=(1.49, 2.1), place=[0.999, 0.5], **about)
    assert check_dimensions(inside, SOME).ok
    outside = claimed(rising, extreme=(1.9, 2.1), place=[1.5, 0.5], **about)
    assert not check_dimensions({**outside, "lower": 0.6}, SOME).ok


@pytest.mark.parametrize("room", [1e-1, 1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("k", range(len(INTEGRALS)))
def test_an_integral_of_few_nodes_is_as_wide_as_it_errs(k, room):
    f, truth, least = INTEGRALS[k]
    if room < least:
        pytest.skip("it takes too long")
    one = trace(lambda y, x: f(x), ("y", ("x0", "x1")), ())
    with ctx.workprec(BITS):
        found = Integral(one.nodes, [BOX], arb(0), arb(room), limited()).value
    assert float(found.lower()) - 1e-15 <= truth <= float(found.upper()) + 1e-15


# -- ranges ---------------------------------------------------------------------------------

FORMS = [
    lambda y, x: special.gammaln(x[0] + 0.5) + 0 * x[1],  # least at 1.46
    lambda y, x: np.sin(4 * x[0]) * x[1],
    lambda y, x: np.cos(4 * x[0] - 2) + x[1],
    lambda y, x: special.betaln(x[0] + 0.25, 2.25 - x[0] - x[1]),
    lambda y, x: (0.25 + x[0]) ** (2 * x[1] - 1),
    lambda y, x: (0.25 + x[0]) ** (x[0] - x[1]),
    lambda y, x: np.where(x[0] < 0.5, x[0] + x[1], 3 - x[0]),
    lambda y, x: np.where(x[1] < 0.3, 1 - x[0], 0.5 - x[0]),
    lambda y, x: np.where(x[0] - x[1] < 0, -x[1], 2 + x[1]),
]


@pytest.mark.parametrize("form", range(len(FORMS)))
@pytest.mark.parametrize("seed", range(6))
def test_more_ranges_and_slopes_enclose_the_values(form, seed):
    f, rng = FORMS[form], np.random.default_rng(seed)
    a = rng.random(2) * 0.5 * (seed > 1)
    b = a + (1 - a) * (1.0 if seed < 2 else rng.random(2))
    points = a[:, None] + (b - a)[:, None] * rng.random((2, 400))
    box = tuple((arb(u), arb(v)) for u, v in zip(a, b, strict=True))
    one, known = trace(f, ("y", ("x0", "x1")), ()), f(0.5, points)
    with ctx.workprec(BITS):
        for enclose in (values, extremes):
            low, high = enclose(one.nodes, box, arb(0.5))
            assert float(low) - 1e-12 <= known.min() and known.max() <= float(high) + 1e-12


def test_one_input_under_two_numbers_is_equal_to_itself():
    nodes = [("input", ("x0",)), ("input", ("x0",)), ("equal", (0, 1))]
    with ctx.workprec(BITS):
        found = ranges(nodes, ((arb(0), arb(1)),), arb(0))[-1]
    assert found is None or found[1] == 1


def test_the_helpers_of_these_tests_are_right():
    assert np.isclose(sum(poisson(np.arange(40.0))), 1)
    assert halves(np.arange(4.0)).sum() == 1
    assert copy.deepcopy(point(1.0, (0.5, 1.0)))["beyond"] == [math.log(0.5), 0.0]
