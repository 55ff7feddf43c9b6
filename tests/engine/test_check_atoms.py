"""Outcomes with atoms: what the checkers verify of them, and what they refuse."""

import copy
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from engine.certified_cases import kernel
from engine.test_check import lines_of_code
from engine.test_check_outcomes import UNIT
from engine.test_check_outcomes_attack import arcsine, claim
from flint import arb, ctx

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import rays, reading, taylor_models, verifier
from borel.engine.certificates.checks.laws import _Law, check_laws
from borel.engine.certificates.checks.means import check_means
from borel.engine.certificates.checks.suprema import check_outcomes
from borel.numerics.graphs.trace import trace

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

BIT = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))
CHECKERS = {"outcomes": check_outcomes, "law": check_laws, "mean": check_means}


def odd(prior):
    """Return a joint with an atom inside the line: of mass 1/8 + x/2, and f = 7/8 - x/2."""
    return prior * kernel(
        lambda y, x: 0.875 - 0.5 * x + 0 * y,
        secret=prior.on,
        outcome=bl.Mixed(UNIT, atoms=[0.25]),
        masses={0.25: lambda x: 0.125 + 0.5 * x},
    )


ODD, EVEN = odd(BIT), odd(bl.uniform(UNIT))  # the atom has mass 3/8, under either
NOISY = BIT * bl.mechanisms.gaussian(sigma=0.5).clip(0, 1)
LAPLACE = bl.uniform(UNIT) * bl.mechanisms.laplace(b=0.5).clip(0, 1)


def run(made):
    if "parts" in made or made["claim"]["type"] not in CHECKERS:
        return verifier.check(made)
    return CHECKERS[made["claim"]["type"]](made)


def false(bound, path=(), to=None, **ends):
    """Change a certificate: its ends, or what a path leads to."""
    made = copy.deepcopy(bound.certificate) | ends
    place = made
    for key in path[:-1]:
        place = place[key]
    if path:
        place[path[-1]] = to
    return run(made)


FIGURES = {
    "pml": (lambda j: bl.pml(j).sup(), math.log(5 / 3)),
    "pmc": (lambda j: bl.pmc(j).sup(), math.log(3)),
    "ldp": (bl.ldp, math.log(5)),
    "pml/one outcome": (lambda j: bl.pml(j)(0.25), math.log(5 / 3)),
    "pmc/one outcome": (lambda j: bl.pmc(j)(0.25), math.log(3)),
    "guarantees/PML-epsilon-0.4-delta-0.5": (lambda j: bl.pml(j).tail(0.4), 3 / 8),
    "guarantees/PMC-epsilon-1-delta-0.5": (lambda j: bl.pmc(j).tail(1.0), 3 / 8),
    "pml/law/quantile-0.5": (lambda j: bl.pml(j).quantile(0.5), math.log(7 / 5)),
    "pml/law/quantile-0.75": (lambda j: bl.pml(j).quantile(0.75), math.log(5 / 3)),
    "pml/law/mean": (
        lambda j: bl.pml(j).mean(),
        3 / 8 * math.log(5 / 3) + 5 / 8 * math.log(7 / 5),
    ),
    "pml/law/exp_mean": (lambda j: bl.pml(j).exp_mean(), 1.5),
    "pmc/law/exp_mean": (lambda j: bl.pmc(j).exp_mean(), 13 / 6),
    "maximal_leakage": (bl.maximal_leakage, math.log(1.5)),
}


@pytest.mark.parametrize("joint", [ODD, EVEN], ids=["two secrets", "a density"])
@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_verified_and_others_are_not(name, joint):
    make, truth = FIGURES[name]
    bound = make(joint)
    row = verified(name, bound)
    assert row.outcome == "verified", row.words
    assert bound.lower - 1e-12 <= truth <= bound.upper + 1e-12 and bound.width < 1e-6
    step = max(2 * bound.width, 1e-9)
    for ends in ((bound.upper + step, bound.upper + 2 * step), (0.0, bound.lower - step)):
        assert not false(bound, lower=ends[0], upper=ends[1]).ok
    # beside the atom, on the line
    if name in ("pml", "pmc", "ldp"):
        line = {"pml": 7 / 5, "pmc": 5 / 3, "ldp": 7 / 3}[name]
        assert not false(bound, lower=0.0, upper=math.log(line) + 1e-6).ok


def test_a_closed_tail_and_a_cdf():
    law = bl.pml(ODD)
    for bound, truth in ((law.cdf(0.4), 5 / 8), (law.tail(0.4, closed=True), 3 / 8)):
        assert bound.lower <= truth <= bound.upper and run(bound.certificate).ok
        assert not false(bound, lower=0.0, upper=truth - 1e-9).ok
        assert not false(bound, lower=truth + 1e-9, upper=1.0).ok


def clipped(power):
    """Return the mean of log (or of itself) of e^PML of clipped Gaussian noise on a bit."""
    with mpmath.workdps(30):
        s = mpmath.mpf(1) / 2

        def part(f, g):
            top, mean = max(f, g), (f + g) / 2
            return top if power else mean * mpmath.log(top / mean)

        def line(y):
            return part(*(mpmath.npdf(y, m, s) for m in (0, 1)))

        atom = part(mpmath.mpf(1) / 2, mpmath.ncdf(-2))
        return float(2 * atom + mpmath.quad(line, [0, 0.5, 1]))


def test_clipped_gaussian_noise():
    """The atoms leak more than any outcome between: log 1 / (1/2 + Phi(-2))."""
    sup, mean, power = bl.pml(NOISY).sup(), bl.pml(NOISY).mean(), bl.pml(NOISY).exp_mean()
    atom = -math.log(0.5 + float(mpmath.ncdf(-2)))
    mass = 0.5 + float(mpmath.ncdf(-2))  # of both
    for bound, truth in (
        (sup, atom),
        (bl.pml(NOISY)(1.0), atom),
        (mean, clipped(False)),
        (power, clipped(True)),
        (bl.pml(NOISY).tail(atom - 0.01), mass),
        (bl.pml(NOISY).quantile(Fraction(9, 10)), atom),
    ):
        assert bound.lower - 1e-12 <= truth <= bound.upper + 1e-12
        assert run(bound.certificate).ok
        assert not false(bound, lower=0.0, upper=bound.lower - 1e-7).ok
        assert not false(bound, lower=bound.upper + 1e-7, upper=9.0).ok
    assert sup.certificate["claim"]["peak"]["y"] in ([0.0, 0.0], [1.0, 1.0])


def test_clipped_laplace_noise_on_a_density():
    with bl.options(tol=1e-5):
        atom = math.log(2 / (1 - math.exp(-2)))
        for bound, truth in (
            (bl.pml(LAPLACE).sup(), atom),
            (bl.pml(LAPLACE)(0.0), atom),
            (bl.pml(LAPLACE).exp_mean(), 2.0),
            (bl.pml(LAPLACE).tail(atom - 1e-3), None),
        ):
            assert truth is None or bound.lower - 1e-9 <= truth <= bound.upper + 1e-9
            assert run(bound.certificate).ok
            assert not false(bound, lower=0.0, upper=bound.lower - 1e-4).ok


# -- what was altered ----------------------------------------------------------------------------


def some(joint):
    law = bl.pml(joint)
    return law.sup(), law.tail(0.4), law.quantile(0.9), law.mean(), law.exp_mean(), law(0.25)


MASS = {"graph": trace(lambda x: 0.125 + 0.5 * x, ("x",), ()).to_json(), "log": False}
OTHER = {"graph": trace(lambda x: 0.25 + 0.25 * x, ("x",), ()).to_json(), "log": False}
WRONG = {
    "none": [],
    "no list": None,
    "elsewhere on the line": [[0.5, OTHER]],
    "another mass": [[0.25, OTHER]],
    "a logarithm": [[0.25, {**MASS, "log": True}]],
    "perhaps a logarithm": [[0.25, {**MASS, "log": 0}]],
    "twice": [[0.25, MASS], [0.25, MASS]],
    "one more": [[0.25, MASS], [0.5, MASS]],
    "not in order": [[0.25, MASS], [0.125, MASS]],
    "outside": [[1.25, MASS]],
    "one more outside": [[0.25, MASS], [1.25, MASS]],
    "no number": [["0.25", MASS]],
    "nan": [[math.nan, MASS]],
    "far out": [["Infinity", MASS]],
    "the same zero twice": [[-0.0, MASS], [0.0, MASS], [0.25, MASS]],
    "no mass": [[0.25]],
}


@pytest.mark.parametrize("wrong", WRONG)
def test_other_atoms_are_refused(wrong):
    # a figure at one outcome does not rest on other atoms
    for bound in some(ODD)[: -1 if wrong == "one more" else None]:
        assert run(bound.certificate).ok
        assert not false(bound, ("outcome", "atoms"), WRONG[wrong]).ok


def test_without_its_atom_a_figure_is_not_verified():
    """The kernel beside it is no law: what it has is less than 1, or more."""
    for bound in some(ODD):
        for atoms in ([], [[0.5, OTHER]]):
            assert not false(bound, ("outcome", "atoms"), atoms).ok
        made = copy.deepcopy(bound.certificate)
        del made["outcome"]["atoms"]
        assert not run(made).ok
    tail = bl.pml(ODD).tail(0.4)  # nothing is above 0.4 beside the atom, of mass 5/8
    assert not false(tail, ("outcome", "atoms"), [], lower=0.0, upper=0.1).ok
    assert not false(tail, ("outcome", "atoms"), [[0.25, MASS], [0.5, MASS]], upper=1.0).ok


def test_other_ends_lines_and_points_are_refused():
    for bound in some(ODD):
        assert not false(bound, ("outcome", "points"), [0.25]).ok
        assert not false(bound, ("outcome", "points"), "integers").ok
        assert not false(bound, ("outcome", "lower"), 0.5).ok
    for peak in ([0.5, 0.5], [0.25, 0.2], [0.0, 0.0], [0.25, 0.26]):
        assert not false(bl.pml(ODD).sup(), ("claim", "peak", "y"), peak).ok


def test_a_mean_of_the_line_alone_is_refused():
    """5/8 log 7/5 and 7/8 are what the line has, 3/8 log 5/3 and 5/8 the atom."""
    law = bl.pml(ODD)
    for bound, parts in (
        (law.mean(), (5 / 8 * math.log(7 / 5), 3 / 8 * math.log(5 / 3))),
        (law.exp_mean(), (7 / 8, 5 / 8)),
    ):
        for part in parts:
            assert not false(bound, lower=part - 1e-6, upper=part + 1e-6).ok


def test_probabilities_of_the_line_alone_are_refused():
    tail = bl.pml(ODD).tail(0.4)
    assert not false(tail, lower=0.0, upper=1e-6).ok  # the line has none of it
    low = bl.pml(ODD).tail(0.3)
    assert low.lower <= 1 <= low.upper and not false(low, upper=5 / 8 + 1e-6).ok
    assert not false(low, lower=5 / 8 - 1e-6, upper=5 / 8 + 1e-6).ok


def test_a_mass_between_the_secrets_of_the_certificate():
    """The atom has 1/2 - (x - 1/2)^2, the line the rest: the largest are 1/2 and 3/4."""
    joint = bl.uniform(UNIT) * kernel(
        lambda y, x: 0.5 + (x - 0.5) ** 2 + 0 * y,
        outcome=bl.Mixed(UNIT, atoms=[0.25]),
        masses={0.25: lambda x: 0.5 - (x - 0.5) ** 2},
    )
    bound = bl.pml(joint).exp_mean()
    assert bound.lower <= 1.25 <= bound.upper and run(bound.certificate).ok
    places = [[y, x if y != 0.25 else 0.46875] for y, x in bound.certificate["claim"]["places"]]
    for lower, upper, ok in ((1.2, 1.26, True), (1.2, 1.2495, False), (1.2505, 1.3, False)):
        assert false(bound, ("claim", "places"), places, lower=lower, upper=upper).ok == ok


def test_an_outcome_is_the_atom_where_there_is_one():
    """log 7/5 is PML beside 1/4, log 5/3 at it."""
    at, beside = bl.pml(ODD)(0.25), bl.pml(ODD)(0.5)
    assert run(at.certificate).ok and run(beside.certificate).ok
    assert not false(beside, ("claim", "y"), 0.25).ok
    assert not false(at, ("claim", "y"), 0.5).ok
    for y in (0, "0.25", [0.25], "nan"):
        assert not false(at, ("claim", "y"), y).ok


def test_the_sides_of_the_larger_of_two_have_the_same_atoms():
    bound = bl.lip(ODD)
    assert verified("lip", bound).outcome == "verified"
    made = copy.deepcopy(bound.certificate)
    made["sides"][1] = bl.pmc(odd(bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 0.5])))).sup().certificate
    assert verified("lip", bound.about(certificate=made)).outcome == "refused"
    for side in made["sides"]:
        side["outcome"] = dict(side["outcome"])
    made = copy.deepcopy(bound.certificate)
    made["sides"][0]["outcome"]["atoms"] = [[0.25, MASS], [0.5, MASS]]
    assert "same joint" in verified("lip", bound.about(certificate=made)).words


# -- what is exact -------------------------------------------------------------------------------


def at_zero(figures, mass, f=lambda y, x: 0.875 - 0.5 * x + 0 * y, **more):
    """Return a claim about an outcome on the unit interval, with an atom at 0."""
    about = {"atoms": [(0.0, 0.5, 0.5), (1.0, 0.5, 0.5)], "peak": (0.0, 0.0), "x": (1.0, None)}
    made = claim("pml", figures, f, **{**about, **more})
    graph = trace(mass, ("y", "x"), ()).to_json()
    made["outcome"]["atoms"] = [[0.0, {"graph": graph, "log": False}]]
    return check_outcomes(made)


def test_at_an_atom_equal_is_equal():
    """Masses 1/8 and 5/8: PML is log 5/3. The other half of each choice says 3/8, and 0."""
    log = math.log(5 / 3)
    for test in (
        lambda y: y == 0.0,
        lambda y: np.logical_not(y != 0.0),
        lambda y: y <= 0.0,
        lambda y: np.logical_not(y > 0.0),
        lambda y: np.maximum(y, -y) == 0.0,
    ):
        mass = lambda y, x, t=test: np.where(t(y), 0.125 + 0.5 * x, 0.375 + 0 * x)  # noqa: E731
        assert at_zero((log - 1e-9, log + 1e-9), mass).ok
        assert not at_zero((0.0, log - 1e-9), mass).ok
        assert not at_zero((log + 1e-9, math.inf), mass).ok


def test_on_the_line_an_atom_is_a_null_set():
    flat = lambda y, x: 0.5 + 0 * x  # noqa: E731
    spike = lambda y, x: np.where(y == 0.0, x, 0.5)  # noqa: E731
    assert at_zero((0.0, 1e-9), flat, spike).ok
    assert not at_zero((0.1, 1.0), flat, spike).ok


def test_secrets_are_met_almost_everywhere_at_an_atom_too():
    """A mass of 1 at one secret is that of no secret, under a density."""
    flat = {"p": lambda x: 1 + 0 * x, "ends": (0.0, 1.0), "atoms": (), "edges": (0.0, 1.0)}
    log = math.log(5 / 3)
    speck = lambda y, x: np.where(x == 0.5, 1.0, 0.125 + 0.5 * x)  # noqa: E731
    for ends, ok in (((log - 1e-9, log + 1e-6), True), ((0.52, 1.0), False), ((0.0, 0.4), False)):
        assert at_zero(ends, speck, **flat).ok == ok
    # under a prior with an atom there it is 1 / (13/16), and beside the atom 2
    tilted = {"atoms": [(0.5, 0.5, 0.5), (1.0, 0.5, 0.5)], "x": (0.5, None)}
    rest = lambda y, x: np.where(x == 0.5, 0.0, 0.875 - 0.5 * x) + 0 * y  # noqa: E731
    log = math.log(16 / 13)
    assert at_zero((log - 1e-9, math.log(2) + 1e-9), speck, rest, **tilted).ok
    assert not at_zero((log + 1e-9, math.log(2) + 1e-9), speck, rest, **tilted).ok


def test_a_marginal_that_is_given_is_that_of_the_line():
    given = copy.deepcopy(bl.pml(ODD).sup().certificate)
    graph = trace(lambda y: np.log(5 / 8) + 0 * y, ("y",), ()).to_json()
    given["claim"]["marginal"] = graph
    assert run(given).ok
    assert not run({**given, "lower": 0.0, "upper": math.log(5 / 3) - 1e-6}).ok


@pytest.mark.parametrize("u", [-6.0, -1.25, 0.0, 0.5, 3.0])
def test_the_normal_distribution_function(u):
    truth = mpmath.ncdf(mpmath.mpf(u))
    with ctx.workprec(128):
        (low, high) = rays.FUNCTIONS["ndtr"](rays._ray(u)).bounds()
        assert abs(float(low) - truth) <= 1e-15 * truth and high - low < 1e-30
        near = taylor_models.axis(u - 0.25, u + 0.25, 1, 0)
        found = taylor_models.FUNCTIONS["ndtr"](near)
        for s in (-1, -0.5, 0, 1):
            exact = float(mpmath.ncdf(u + s / 4))
            value = sum((b * arb(s) ** k[0] for k, b in found.terms.items()), arb(0))
            assert abs(float(value) - exact) < 1e-2 * exact
            assert value.overlaps(arb(exact, 1e-14))
            assert found.low <= exact * (1 + 1e-14) and exact * (1 - 1e-14) <= found.high


# -- a marginal that is known in part ------------------------------------------------------------


@pytest.mark.parametrize(
    ("t", "places"), [(0.1, [[0.25, 0.75], [0.75, 0.25]]), (0.45, [[0.25, 0.25], [0.75, 0.75]])]
)
def test_a_prior_that_is_singular_at_its_ends_bounds_no_marginal_by_nothing(t, places):
    """PMC is log f_Y - log 1/2 > 0.5, always; of f_Y the cells at 0 and 1 are not known at once."""
    made = claim(
        "pmc",
        (0.0, 0.25),
        lambda y, x: 1 + 0.5 * np.cos(2 * np.pi * (y - x)),
        p=arcsine,
        ends=(0.0, 1.0),
        edges=(0.0, 1.0),
        cover=(0.0, 0.5, 1.0),
    )
    made["claim"] |= {"type": "law", "figure": "tail", "t": t, "closed": False}
    made["claim"]["places"] = places
    assert not check_laws(made).ok


# -- what it is ----------------------------------------------------------------------------------


def test_it_is_small():
    assert lines_of_code(reading) <= 40


def test_one_checker_does_not_change_another():
    made = json.loads(json.dumps(bl.pml(ODD).tail(0.4).certificate))
    with ctx.workprec(128):
        work = _Law(made)
        line, atom = work.at(0.0, 0.25), work.at(0.25, 0.25)
        assert line is work and atom is not work and atom.f is not work.f
        with pytest.raises(KeyError):
            work.at(0.5, 0.5)
