"""Forged certificates and results: each says something false, and is refused."""

import copy
import json
import math
import warnings
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest
import xarray as xr
from engine.test_check_dimensions import SOME, claimed
from engine.test_check_poles import NEAR_0, TO_0, claim, shrinking
from flint import arb

import borel as bl
from borel.audits.serialisation import to_plain
from borel.audits.store import pack, write
from borel.audits.verification import verified, verify
from borel.engine.certificates.checks.composition import checked
from borel.engine.certificates.checks.counts import check_counts
from borel.engine.certificates.checks.in_logs import check_in_logs
from borel.engine.certificates.checks.poles import check_poles
from borel.engine.certificates.checks.rays import FUNCTIONS, _Ray, _ray
from borel.engine.certificates.checks.several_points import check_dimensions
from borel.engine.certificates.checks.verifier import check
from borel.engine.certificates.encoding import without_infinities
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.trace import trace
from borel.probability.bound import Bound, Ratio

pytestmark = [pytest.mark.attacks, pytest.mark.usefixtures("with_certificates", "no_sums")]

INF, UNIT = math.inf, bl.Interval(0, 1)
INFINITE = ("pml", "pmc", "lip", "maximal_leakage", "pml/law/mean", "pml/law/exp_mean")


def graph(f, *names):
    return {"graph": trace(f, names, ()).to_json(), "log": False}


def forged(f, p, proof, quantity, type_, **parts):
    prior = {**graph(p, "x"), "lower": 0.0, "upper": 1.0, "atoms": []} if p else None
    made = {
        "format": 2,
        "quantity": quantity,
        "lower": INF,
        "upper": INF,
        "kernel": graph(f, "y", "x"),
        "prior": prior,
        "outcome": {"lower": 0.0, "upper": 1.0, "points": None},
        "claim": {"type": type_, "proof": proof},
        **parts,
    }
    return without_infinities(made)


def late(x):
    """A density of secrets that has no mass below 1/2."""
    return np.where(x < 0.5, 0.0, 2.0)


def singular(y, x):
    return np.where(np.abs(y - x) < 1, 0.25 / np.sqrt(np.abs(y - x)), 0.0)


def refused(certificate, checker, names=INFINITE):
    assert not checker(certificate).ok
    bound = Bound.certified(INF, INF, certificate=certificate)
    return all(verified(name, bound).outcome == "refused" for name in names)


# -- infinities -----------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.0, 0.5])
def test_a_kernel_that_vanishes_where_no_secrets_are(start):
    """2x tends to 0 with x, but the secrets are above 1/2: PMC is log 1.5 at outcomes below 1/2."""
    f = lambda y, x: np.where(y < 0.5, 2 * x, 2 - 2 * x)  # noqa: E731
    proof = {
        "kind": "ratio",
        "t0": 1.0,
        "y": {"box": [0.125, 0.25]},
        "x": {"box": [start, 1.0]},
        "exponent": 1.0,
        "weight": math.log(3),
        "marginal": {"exponent": 0.0, "weight": -1.0, "boxes": [[0.5, 1.0]]},
    }
    assert refused(forged(f, late, proof, "pmc", "infinite"), check)


def test_a_pole_where_no_secrets_are():
    """The pole is at x = y, the outcome 1/4, the secrets above 1/2."""
    boxes = [[0.0, 0.125], [0.125, 0.25], [0.25, 0.5], [0.5, 1.0]]
    proof = {"t0": 1.0, "exponent": -0.5, "weight": -9.0, "boxes": boxes}
    wide = {"lower": -1.0, "upper": 2.0, "points": None}
    one = {**proof, "y": {"box": [0.25, 0.25]}, "x": {"box": [0.25, 0.75]}}
    made = forged(singular, late, one, "pml", "pole", outcome=wide)
    assert refused(made, check_poles, [*INFINITE, "pml/one outcome"])
    some = {**proof, "y": {"box": [0.125, 0.25]}, "x": {"box": [0.0, 0.5], "base": "y"}}
    assert refused(forged(singular, late, some, "pml", "pole", outcome=wide), check_poles)


def test_a_pole_along_a_curve_of_secrets_without_mass():
    """Where x = 2y the kernel grows, and nowhere else: PML is 0."""
    f = lambda y, x: np.where(x == 2 * y, 1 / np.sqrt(x), 1.0)  # noqa: E731
    path = {"base": 0.0, "sign": 1, "power": 1.0, "s": [1.0, 1.0]}
    for x in ({"box": [0.0, 2.0**-10], "base": "y"}, {"box": [0.0, 2.0**-10]}):
        made = claim(f, path, x, -0.5, weight=-9.0)
        assert refused(made, check_poles, INFINITE)


def test_a_pole_towards_an_end_says_nothing_of_means():
    """PML is infinite as y tends to 0, but E e^PML is 1.84, whatever the certificate is called."""
    made = claim(lambda y, x: shrinking(y, x, 0.7), TO_0, NEAR_0, -0.3, kind="mass")
    assert check_poles(made).ok
    for name, units in (("maximal_leakage", "nats"), ("pml/law/exp_mean", "ratio")):
        bound = Bound.certified(INF, INF, certificate=made, units=units)
        assert verified(name, bound).outcome == "refused"


def test_a_count_is_no_real_number_near_it():
    """The kernel vanishes at x = 2.5 only, which is no secret: PMC is below 1.7."""
    w = lambda x: (x - 2.5) ** 2 / (2 * (1 + (x - 2.5) ** 2))  # noqa: E731
    f = lambda y, x: np.where(y < 0.5, 2 * w(x), 2 - 2 * w(x))  # noqa: E731
    path = {"base": 0, "sign": 1, "power": -1, "s": [1, 3]}
    proof = {"t0": 1.0, "y": {"box": [0.125, 0.25]}, "exponent": 1.0, "weight": 3.0, "secret": 0}
    masses = graph(lambda x: np.exp(-(x + 1) * np.log(2.0)), "x")
    prior = {"graph": None, "masses": masses, "points": "integers", "lower": 0.0, "upper": INF}
    about = {"prior": {**prior, "atoms": []}, "format": 4}
    for x in ({"box": [2.5, 3.5], **path}, {"box": [2.5, 3.5]}):
        made = forged(f, None, {**proof, "x": x}, "pmc", "count_infinite", **about)
        assert refused(made, check_counts)


@pytest.mark.parametrize(
    "x",
    [
        {},
        {"box": [0.0, 1.0], "s": [0.0, 1.0]},
        {"base": 0.0, "sign": 1, "power": 1.0},
        {**NEAR_0, "more": 1},
    ],
)
def test_a_path_has_one_form(x):
    made = claim(lambda y, x: shrinking(y, x, 0.7), TO_0, x, -0.3)
    assert not check_poles(made).ok


# -- secrets of several dimensions ----------------------------------------------------------


@pytest.mark.parametrize("node", [["x0", "again"], []])
def test_an_input_has_one_name(node):
    """x0 == x0 would be taken for two coordinates, which are equal almost nowhere."""

    def f(y, x):
        return np.where(x[0] == x[1], 1.0, np.where(y < 0.75, 2 * x[0], 2 - 2 * x[0])) + 0 * y

    near = 1 - 1e-6, 1 + 1e-6
    ends = {"lower": math.log(2) - 1e-5, "upper": math.log(2) + 1e-5}
    made = claimed(f, f_y=near, extreme=(2 - 1e-6, 2 + 1e-6), place=[1.0, 0.5], **ends)
    for one in made["kernel"]["graph"]["nodes"]:
        if one == ["input", ["x1"]]:
            one[1] = node
    assert not check_dimensions(made, SOME).ok
    with pytest.raises(ValueError, match="cannot have the arguments"):
        Graph.from_json(made["kernel"]["graph"])


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_divided_by_a_zero_of_some_sign_is_not_known(sign):
    """10 / -0.0 is -inf for half of the secrets: PML is log 1.5, and f_Y no 1.5."""
    expit = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731

    def half(x):
        least = np.minimum(x[0] - 0.5, 0.0)
        return 0.5 * (2 * expit(10 / -least if sign > 0 else -10 / least) - 1)

    def f(y, x):
        return np.where(y < 0.75, 1 + half(x), 1 - half(x)) + 0 * x[1]

    near = 1.4999, 1.5001
    made = claimed(f, f_y=near, extreme=near, place=[0.5, 0.5], lower=0.0, upper=0.01)
    made["outcome"] = {"lower": 0.25, "upper": 1.25, "points": None}
    assert not check_dimensions(made, SOME).ok


# -- results --------------------------------------------------------------------------------


@cache
def figures():
    joint = bl.uniform(UNIT) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=bl.Reals()
    )
    with bl.options(closed_forms=False):
        ell = bl.pml(joint)
        return {"pml": ell.sup(), "median": ell.quantile(0.5), "lip": bl.lip(joint)}


def test_a_figure_is_the_one_of_its_name():
    median = figures()["median"]
    assert verified("pml/law/quantile-0.5", median).outcome == "verified"
    for name in ("lip", "maximal_leakage", "pml/cost", "ldp", "pmc"):
        assert verified(f"{name}/law/quantile-0.5", median).outcome != "verified"
    assert verified("pml/cost/law/mean", median).outcome != "verified"
    assert verified("quantile-0.5", median).outcome != "verified"


@pytest.mark.parametrize("quantity", ["pml", "pmc", "ldp", "envelope"])
def test_a_larger_of_two_is_lip(quantity, tmp_path):
    made = copy.deepcopy(figures()["lip"].certificate)
    path = tmp_path / "lip.json"
    path.write_text(json.dumps(made))
    assert verify(path)[0].outcome == "verified"
    path.write_text(json.dumps({**made, "quantity": quantity}))
    assert verify(path)[0].outcome == "refused"


@pytest.mark.parametrize("units", ["ratio", "bits", "probability"])
def test_a_figure_is_in_the_units_of_its_certificate(units):
    """A bound of 1.1 nats is none of the ratio 1.58."""
    found = figures()["pml"]
    other = Bound.certified(found.lower, 1.1, certificate=found.certificate, units=units)
    assert verified("pml", other).outcome == "refused"


def test_a_ratio_is_about_the_same_figure():
    found = figures()["pml"]
    ends = found.lower, found.upper
    true = Ratio(math.exp(found.lower), math.exp(found.upper))
    for ratio, outcome in ((true, "verified"), (Ratio(1.0, 1.01), "refused")):
        bound = Bound.certified(*ends, certificate=found.certificate, exact_ratio=ratio)
        assert verified("pml", bound).outcome == outcome


def test_a_certificate_about_one_prior_is_none_about_a_set_of_them(tmp_path):
    answers = bl.Finite([0.0, 1.0])
    mechanism = bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=answers,
        outcome=bl.Reals(),
    )
    nominal = bl.pmf([F(1, 2), F(1, 2)], on=answers)
    priors = bl.priors.tv_ball(nominal, F(1, 4))
    study = bl.Study(title="some", mechanism=mechanism, prior=priors, report=("pml",))
    with warnings.catch_warnings(), bl.options(closed_forms=False):
        warnings.simplefilter("ignore")
        tree = bl.audit(study)
        one = bl.pml(nominal * mechanism).sup()
    assert one.certificate is not None
    about = {key: value for key, value in tree["pml"].attrs.items() if key != "bound"}
    tree["pml"] = xr.DataTree(pack(one, **about))
    write(tree, tmp_path / "result.nc")
    found = {figure.name: figure for figure in verify(tmp_path / "result.nc")}
    assert found["pml"].outcome == "refused" and "set of priors" in found["pml"].words


def half_line(p):
    return {**graph(p, "x"), "log": True, "lower": 1.0, "upper": INF, "atoms": []}


def of_order(x, marginal):
    """Return what says that f is of order y^2 along secrets x, and f_Y of order y."""
    of_f_y = {"exponent": 1.0, "weight": -1.0, "boxes": [marginal]}
    return {"kind": "ratio", "t0": 0.0625, "y": TO_0, "x": x, "exponent": 2.0, "weight": 1.0,
            "marginal": of_f_y}  # fmt: skip


def test_a_sum_keeps_a_term_beside_an_exact_zero():
    """Of b + (0 + a) a product by e^-inf = 0 lost a, of which nothing was known."""

    def answer(y, x):
        one = 0.05 / x + (0.0 + 0.9 / x)
        return np.where(y == 1, one, 1 - one)

    claim = {"type": "point", "y": 1.0, "shift": 0.0, "cells": [[1.0, INF, 0.55, 0.58]],
             "top": [math.log(0.04), math.log(0.06), 1.0], "bottom": None}  # fmt: skip
    about = {"claim": claim, "prior": half_line(lambda x: 1 - x), "lower": 0.0, "upper": 0.0}
    outcome = {"lower": 0.0, "upper": 1.0, "points": [0.0, 1.0]}
    made = forged(answer, None, None, "pml", "point", **about, outcome=outcome)  # truth: 0.5169
    assert not check_in_logs(made).ok and not check(made).ok


def test_an_infinity_is_refused_whose_terms_beside_an_exact_zero_were_lost():
    """The outcome does not depend on the secret: PMC is 0."""

    def plain(y, x):
        return 1.5 * y**2 + (0.0 + y) + 0 * x

    proof = of_order({"base": 0.0, "sign": 1, "power": -1, "s": [1.0, 2.0]}, [2.0, 3.0])
    made = forged(plain, None, proof, "pmc", "infinite", prior=half_line(lambda x: 1 - x))
    refused(made, check_in_logs)

    def log_twice(y, x):
        start = math.log(1.5) + 2 * np.log(y)
        other = np.logaddexp(start, np.logaddexp(np.log(0 * x), np.log(y)))
        return np.where(x < 0.5, np.logaddexp(start, np.log(y)), other)

    beside = {"base": 0.5, "sign": 1, "power": 1, "s": [1.0, 2.0]}
    made = forged(
        log_twice, lambda x: 1 + 0 * x, of_order(beside, [0.125, 0.25]), "pmc", "infinite"
    )
    made["kernel"]["log"] = True
    refused(made, check)
    refused(made, check_in_logs)


def test_zero_times_what_is_not_known_is_not_known():
    for unknown in (arb("nan"), arb("inf"), -arb("inf")):
        for ray in (_Ray({(0, 0): unknown}), _Ray({(1, 0): unknown})):
            for product in (ray * 0, ray * _ray(0), _ray(0) * ray):
                assert not all(b.is_finite() for b in product.terms.values())
    assert not (_Ray({(1, 1): arb(2)}) * 0).terms
    assert not FUNCTIONS["xlogy"](_ray(0), _ray(0)).terms  # as scipy has it: a Poisson rate of 0
    assert FUNCTIONS["xlogy"](_ray(0), _ray(arb("nan"))).terms


def test_counts_are_no_points_of_a_line():
    """A claim about densities would integrate the masses of the integers."""
    counted = {"graph": None, "log": False, "points": "integers", "lower": 0.0, "upper": 4.0,
               "masses": graph(lambda x: 2.0**-x / 2, "x"), "atoms": []}  # fmt: skip
    claim = {"type": "point", "y": 0.75, "shift": 0.0, "cells": [[0.0, 4.0, 0.79, 0.8]],
             "top": [0.2231, 0.2232, 0.0], "bottom": None}  # fmt: skip
    about = {"format": 4, "prior": counted, "claim": claim, "lower": 0.45, "upper": 3.0}
    made = forged(lambda y, x: 1 + (2 * y - 1) / (x + 2), None, None, "pml", "point", **about)
    report = check_counts(made)
    assert not report.ok and any(line.startswith("type") for line in report.failures)


# -- what a checker must not pass over ----------------------------------------------------------


@pytest.mark.parametrize(
    "figure, ends",
    [("mean", (0.0, 0.3466)), ("exp_mean", (1.0, 1.001)), ("maximal_leakage", (0.0, 1e-6))],
)
def test_outcomes_that_only_integers_beyond_the_head_have(figure, ends):
    """The supports of 0 and 1 are disjoint, PML is log 2; a head of 0 alone sees none of y > 2."""

    def kernel(y, x):
        first, second = np.where(y < 1, 1.0, 0.0), np.where(y < 2, 0.0, np.exp(2 - y))
        return np.where(x < 0.5, first, second)

    made = {
        "format": 4,
        "quantity": "pml",
        "lower": ends[0],
        "upper": ends[1],
        "kernel": graph(kernel, "y", "x"),
        "prior": {
            "graph": None,
            "log": False,
            "points": "integers",
            "masses": graph(lambda x: 0.5 + 0 * x, "x"),
            "lower": 0,
            "upper": 1,
            "atoms": [],
        },
        "outcome": {"lower": 0.0, "upper": INF, "points": None},
        "claim": {
            "type": "mean",
            "figure": figure,
            "cover": [0.0, 1.0, 2.0, INF],
            "marginal": None,
            "edges": [],
            "places": [],
            "head": [0, 0],
            "far": [],
        },
    }
    bound = Bound.certified(*ends, certificate=without_infinities(made))
    assert verified("pml", bound).outcome == "refused"


def test_outcomes_left_out_of_a_finite_alphabet():
    """An alphabet of 0, 1, 2 whose ends are said to be 0 and 1: the part of 2 is not lost."""
    on = bl.Finite([0, 1, 2])
    mech = bl.Mechanism(
        lambda y, x: np.where(y == 0, 1 - np.exp(-x), np.exp(-x) / 2),
        secret=bl.Integers(0),
        outcome=on,
    )
    bound = bl.pml(bl.poisson(mu=3.0) * mech).mean()
    assert verified("pml/law/mean", bound).outcome == "verified"
    altered = copy.deepcopy(bound.certificate)
    parts = altered["claim"]["parts"]
    altered["claim"]["parts"] = [part for part in parts if part["y"] < 2]
    altered["outcome"].update(lower=0.0, upper=1.0)
    m = math.exp(3 * (math.exp(-1) - 1))
    part = -(1 - m) * math.log(1 - m) - m / 2 * math.log(m)
    for ends in ((part - 1e-7, part + 1e-7), (0.0, part + 1e-7)):
        altered.update(lower=ends[0], upper=ends[1])
        false = Bound.certified(*ends, certificate=altered)
        assert verified("pml/law/mean", false).outcome == "refused"


@pytest.mark.parametrize("more", [0.5, 0.1, 0.01])
def test_a_marginal_that_coarse_cells_do_not_tell_from_the_true_one(more):
    """f_Y is 1; the kernel varies much with the secret, so that one cell sees little of that."""
    kernel = graph(lambda y, x: 1 + (2 * abs(x - 0.37) - 0.5338) * (2 * y - 1), "y", "x")
    wrong = graph(lambda y: np.log(1 + more * abs(2 * y - 1)), "y")["graph"]
    upper = math.log(1.7262 / (1 + more)) + 1e-3
    made = {
        "format": 3,
        "quantity": "pml",
        "lower": 0.0,
        "upper": upper,
        "kernel": kernel,
        "prior": {**graph(lambda x: 1 + 0 * x, "x"), "lower": 0.0, "upper": 1.0, "atoms": []},
        "outcome": {"lower": 0.0, "upper": 1.0, "points": None},
        "claim": {
            "type": "outcomes",
            "cover": [0.0, 1.0],
            "marginal": wrong,
            "edges": [],
            "peak": {"y": [0.0, 1.0], "x": [None, None]},
        },
    }
    found = verified("pml", Bound.certified(0.0, upper, certificate=made))
    assert found.outcome == "refused" and "f_Y is not the one" in found.words


# -- what is true is not refused -----------------------------------------------------------------


def test_a_proof_along_outcomes_that_a_mean_diverges():
    """E e^PML of counts with Laplace noise: f(y|y + s) does not fall, along y = 1/t."""
    mech = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Integers(0), outcome=bl.Reals()
    )
    joint = bl.poisson(mu=3.0) * mech
    for name, bound in (
        ("maximal_leakage", bl.maximal_leakage(joint)),
        ("pml/law/exp_mean", bl.pml(joint).exp_mean()),
    ):
        assert bound.lower == INF and verified(name, bound).outcome == "verified"
        # the mean itself is finite
        mean = Bound.certified(INF, INF, certificate=bound.certificate)
        assert verified("pml/law/mean", mean).outcome == "refused"


NONE_AT_ALL = {
    "a claim alone": {"claim": {}},
    "a type alone": {"claim": {"type": "finite_envelope"}, "prior": {}},
    "parts alone": {"parts": [{"claim": {}, "prior": {}}]},
    "sides alone": {"sides": [{"claim": {}, "prior": {}}]},
    "sides that are no list": {"sides": 5},
    "sides that are numbers": {"sides": [1]},
    "nothing over": {"over": {}},
    "no prior": {"prior": None, "claim": {}},
    "a list": [1, 2],
    "a word": "pml",
    "a number": 5,
    "nothing": None,
}


@pytest.mark.parametrize("made", NONE_AT_ALL.values(), ids=NONE_AT_ALL)
def test_what_is_no_certificate_is_refused_in_words(made):
    assert checked(made).failures


@cache
def audited():
    """An audit of Laplace noise on a bit."""
    bit = bl.Finite([0.0, 1.0])
    noise = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=bit, outcome=bl.Reals())
    prior = bl.pmf([0.5, 0.5], on=bit)
    study = bl.Study(title="a bit", mechanism=noise, prior=prior, report=("pml", "pmc"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bl.audit(study)


@pytest.mark.parametrize("made", [v for v in NONE_AT_ALL.values() if v is not None], ids=repr)
def test_it_does_not_lose_the_figures_beside_it(made, tmp_path):
    tree = audited().copy(deep=True)
    notes = json.loads(tree["pml"].attrs["bound"])
    tree["pml"].attrs["bound"] = json.dumps({**notes, "certificate": to_plain(made)})
    write(tree, tmp_path / "result.nc")
    found = {figure.name: figure for figure in verify(tmp_path / "result.nc")}
    assert found["pmc"].outcome == "verified" and found["pml"].outcome == "refused"


def test_notes_that_are_not_as_they_were_saved_are_an_error_in_words(tmp_path):
    tree = audited().copy(deep=True)
    for notes in ("{}", "[]", "5", '{"certificate": {"sides": 5}}', "{"):
        tree["pml"].attrs["bound"] = notes
        write(tree, tmp_path / "result.nc")
        with pytest.raises(bl.InvalidInput, match="notes of 'pml'"):
            verify(tmp_path / "result.nc")


def test_a_file_that_is_nested_too_deep_is_an_error_in_words(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(bl.InvalidInput):
        verify(tmp_path / "deep.json")
