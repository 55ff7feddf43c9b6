"""Certificates of envelopes of a finite secret: they hold the truth, and what is false is refused.

For two equally likely secrets the best post-processing is known: outcomes beyond c tell of one
secret, those on the other side of the other, by the lemma of Neyman and Pearson.
"""

import copy
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from engine.test_check import lines_of_code, modules_of_borel

import borel as bl
from borel.audits.store import write
from borel.audits.verification import verified, verify
from borel.engine.certificates import making
from borel.engine.certificates.checks import envelopes
from borel.engine.certificates.checks.composition import checked

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

REALS, UNIT = bl.Reals(), bl.Interval(0, 1)
BIT, X = bl.Finite([0.0, 1.0]), bl.Finite([0.0, 1.0, 3.0])
KERNELS = {
    "laplace": lambda y, x: np.exp(-abs(y - x)) / 2,
    "normal": lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
}


def tail(kernel, c, x):
    """P(Y > c | x), for c beyond the middle of 0 and 1."""
    if kernel == "normal":
        return mp.erfc((mp.mpf(c) - x) / mp.sqrt(2)) / 2
    c = mp.mpf(c)
    return mp.exp(x - c) / 2 if c >= x else 1 - mp.exp(c - x) / 2


def pair(kernel, of, c):
    """The level and the mass of the bad outcomes y > c and y < 1 - c."""
    one, other = tail(kernel, c, 1), tail(kernel, c, 0)
    mass = one + other
    return mp.log(2 * one / mass if of == "pml" else mass / (2 * other)), mass


def joint(kernel, secret=BIT, masses=(0.5, 0.5)):
    mechanism = bl.Mechanism(KERNELS[kernel], secret=secret, outcome=REALS)
    return bl.pmf(list(masses), on=secret) * mechanism


CASES = [(k, of, c) for k in KERNELS for of in ("pml", "pmc") for c in (0.625, 0.9375)]


@pytest.fixture(autouse=True)
def enough():
    """Let searches and trials end by their own counts, on a busy machine too."""
    with bl.options(budget=600):
        yield


@pytest.fixture
def few(monkeypatch):
    """Let the checker give up early: what is false is not proved with more boxes either."""
    return lambda: monkeypatch.setattr(envelopes._Envelope, "most_boxes", 1500)


@pytest.mark.parametrize(("kernel", "of", "c"), CASES)
def test_the_level_of_a_mass(kernel, of, c, few):
    with mp.workdps(40):
        level, mass = pair(kernel, of, c)
        delta = float(mass)
        # the level of the float: the mass falls with c
        exact = mp.findroot(lambda v: pair(kernel, of, v)[1] - mp.mpf(delta), c)
        level = pair(kernel, of, exact)[0]
    bound = bl.envelope(joint(kernel), of=of)(delta)
    assert bound.lower <= level <= bound.upper
    assert not checked(bound.certificate).failures
    few()
    low = {**bound.certificate, "lower": 0.0, "upper": float(level) - 1e-6}
    high = {**bound.certificate, "lower": float(level) + 1e-7, "upper": "Infinity"}
    assert checked(low).failures and checked(high).failures


@pytest.mark.parametrize(("kernel", "of", "c"), CASES)
def test_the_mass_at_a_level(kernel, of, c, few):
    with mp.workdps(40):
        t = float(pair(kernel, of, c)[0])
        exact = mp.findroot(lambda v: pair(kernel, of, v)[0] - mp.mpf(t), c)
        mass = pair(kernel, of, exact)[1]
    bound = bl.envelope(joint(kernel), of=of).delta(t)
    assert bound.lower <= mass <= bound.upper and bound.width < 1e-6
    assert not checked(bound.certificate).failures
    few()
    low = {**bound.certificate, "lower": 0.0, "upper": float(mass) - 1e-7}
    high = {**bound.certificate, "lower": float(mass) + 1e-7, "upper": 1.0}
    assert checked(low).failures and checked(high).failures


EDGES = 0.0, 0.125, 0.25, 0.5, 0.75, 1.0
ROWS = (  # masses of the cells, in sixteenths
    (2, 2, 4, 4, 4),
    (8, 2, 2, 2, 2),
    (1, 3, 8, 2, 2),
)
WEIGHTS = F(1, 8), F(3, 8), F(1, 2)


def steps(y, x):
    rows = []
    for row in ROWS:
        height = row[-1] / 16 / (EDGES[-1] - EDGES[-2]) + 0 * y
        for k in (3, 2, 1, 0):
            height = np.where(y < EDGES[k + 1], row[k] / 16 / (EDGES[k + 1] - EDGES[k]), height)
        rows.append(height)
    return np.where(x < 0.5, rows[0], np.where(x < 2, rows[1], rows[2]))


@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("delta", [F(1, 20), F(1, 5), F(1, 2), F(9, 10)])
def test_densities_that_are_steps_are_a_finite_mechanism(of, delta):
    prior = bl.pmf(list(WEIGHTS), on=X)
    on_line = prior * bl.Mechanism(steps, secret=X, outcome=UNIT, breaks=EDGES[1:-1])
    rows = [[F(v, 16) for v in row] for row in ROWS]
    exact = bl.envelope(prior * bl.Mechanism.from_matrix(rows, secret=X), of=of)(delta)
    bound = bl.envelope(on_line, of=of)(delta)
    assert bound.lower <= exact.lower <= exact.upper <= bound.upper and bound.width < 1e-8
    assert not checked(bound.certificate).failures


@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_three_secrets_are_as_sharp_as_two(kernel, of):
    """No closed form: it is the checker that proves both ends."""
    bound = bl.envelope(joint(kernel, X, (0.2, 0.3, 0.5)), of=of)(F(1, 5))
    assert bound.proved and bound.width < 1e-9
    assert not checked(bound.certificate).failures
    if of == "pml":  # an event is a post-processing
        event = bl.event_maximal_leakage(joint(kernel, X, (0.2, 0.3, 0.5)), delta=F(1, 5))
        assert bound.upper >= event.lower


@pytest.fixture(scope="module")
def three():
    with bl.options(budget=10):
        envelope = bl.envelope(joint("laplace", X, (0.2, 0.3, 0.5)))
        return {"epsilon": envelope(0.6), "delta": envelope.delta(0.7)}


def put(*path, value):
    def of(data):
        data = place = copy.deepcopy(data)
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        return data

    return of


def changed(change):
    def of(data):
        data = copy.deepcopy(data)
        change(data["claim"])
        return data

    return of


def doubled(claim):
    claim["cells"] += [claim["cells"][0]]


def wider(claim):
    claim["cells"][0][1] += 0.01


def heavier(claim):
    claim["cells"] = [[a, b, [2 * v for v in w]] for a, b, w in claim["cells"]]


def lighter(claim):
    claim["cells"] = [[a, b, [v / 2 for v in w]] for a, b, w in claim["cells"]]


def turned(claim):
    claim["cells"] = [[a, b, w[::-1]] for a, b, w in claim["cells"]]


def negative(claim):
    claim["cells"][0][2] = [-1.0, 1.0, 1.0]


FORGERIES = {
    "cells that overlap": changed(doubled),
    "a cell too wide": changed(wider),
    "shares above 1": changed(heavier),
    "half of the shares": changed(lighter),
    "shares of other secrets": changed(turned),
    "a negative share": changed(negative),
    "no cells": put("claim", "cells", value=[]),
    "an atom that is none": put("claim", "cells", value=[[0.0, 0.0, [1.0, 0.0, 0.0]]]),
    "no prices": put("claim", "prices", value=[0.0, 0.0, 0.0]),
    "a negative price": put("claim", "prices", value=[-1.0, 1.0, 1.0]),
    "too few prices": put("claim", "prices", value=[1.0, 1.0]),
    "another figure": put("claim", "figure", value="kl"),
    "another leakage": put("quantity", value="pmc_envelope"),
    "no envelope": put("quantity", value="pml"),
    "another prior": put(
        "prior", "atoms", value=[[0.0, 0.5, 0.5], [1.0, 0.3, 0.3], [3.0, 0.2, 0.2]]
    ),
    "half of the outcomes": put("outcome", "lower", value=0.0),
    "outcomes left out": put("claim", "cover", value=[0.0, "Infinity"]),
    "a larger bound": put("lower", value=0.9),
    "a smaller bound": put("upper", value=0.1),
    "words": put("upper", value="0.9"),
    "not a number": put("upper", value=math.nan),
}


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.parametrize("figure", ["epsilon", "delta"])
def test_forgeries_are_refused(three, figure, name, few):
    made = three[figure].certificate
    assert not checked(made).failures
    few()
    assert checked(FORGERIES[name](made)).failures


def test_another_mass_and_another_level_are_refused(three):
    more = put("claim", "delta", value=[61, 100])(three["epsilon"].certificate)
    less = put("claim", "delta", value=[59, 100])(three["epsilon"].certificate)
    assert checked(more).failures and checked(less).failures
    more = put("claim", "t", value=0.71)(three["delta"].certificate)
    less = put("claim", "t", value=0.69)(three["delta"].certificate)
    assert checked(more).failures and checked(less).failures
    for delta in ([1, 1], [0, 1], [-1, 2], [3, 2]):
        wrong = put("claim", "delta", value=delta)(three["epsilon"].certificate)
        assert checked(wrong).failures


def test_atoms_of_the_outcome_have_shares_of_their_own():
    """Laplace noise that is clipped to the unit interval."""
    mechanism = bl.mechanisms.laplace(b=1.0, secret=BIT).clip(0, 1)
    envelope = bl.envelope(bl.pmf([0.5, 0.5], on=BIT) * mechanism)
    with mp.workdps(40):  # clipped, the tails beyond 0 and 1 have one ratio each as before
        mass = tail("laplace", 1, 1) + tail("laplace", 1, 0)
        top = float(mp.log(2 * tail("laplace", 1, 1) / mass)) - 1e-6
    bound = envelope.delta(top)
    assert bound.upper >= float(mass)  # that of the ends alone
    assert not checked(bound.certificate).failures
    assert any(a == b for a, b, _ in bound.certificate["claim"]["cells"])


def test_a_level_is_no_supremum_and_no_other_figure(three):
    for name in ("pml", "pmc", "mutual_information", "pml/law/mean", "envelope"):
        assert verified(name, three["epsilon"]).outcome in ("refused", "none")


def test_borel_check_knows_that_of_an_audit(tmp_path):
    study = bl.Study(
        title="Noise",
        mechanism=bl.mechanisms.laplace(b=1.0, secret=BIT),
        prior=bl.pmf([0.5, 0.5], on=BIT),
        report=("pml", "envelope"),
    )
    write(bl.audit(study), tmp_path / "result.nc")
    found = {one.name: one for one in verify(tmp_path / "result.nc")}
    assert found["envelope"].outcome == "verified"
    other = bl.envelope(joint("laplace"))(F(1, 50))
    assert verified("envelope", other).outcome == "refused"
    other = bl.envelope(joint("laplace"), of="pmc")(F(1, 100))
    assert verified("envelope", other).outcome == "refused"


def test_no_certificates_are_made_where_none_are_wanted():
    with making(False):
        assert bl.envelope(joint("laplace")).delta(0.35).certificate is None


def test_the_checker_shares_nothing_with_the_engine():
    for name in modules_of_borel(envelopes):
        assert name.startswith("borel.engine.certificates.checks.")
    assert lines_of_code(envelopes) <= 300


def up(y, x):
    return np.where(x > 0.5, 0.5 + y, 1.5 - y)


@pytest.fixture(scope="module")
def rising():
    mechanism = bl.Mechanism(up, secret=BIT, outcome=UNIT)
    return bl.pmf([0.5, 0.5], on=BIT) * mechanism


def test_a_secret_without_mass_makes_no_outcome_bad(rising):
    """Nothing was known of its kernel, which is as good as 0 for PMC."""
    made = copy.deepcopy(bl.envelope(rising, of="pmc")(F(9, 10)).certificate)
    made["prior"]["atoms"] += [[2.0, 0.0, 0.0]]
    made |= {"lower": "Infinity", "upper": "Infinity"}
    made["claim"].update(delta=[999, 1000], cells=[[0.0, 1.0, [0.0, 0.0, 1.0]]])
    assert any("without mass" in line for line in checked(made).failures)


def test_a_secret_that_may_have_no_mass_is_no_witness(rising):
    made = copy.deepcopy(bl.envelope(rising)(F(1, 100)).certificate)
    made["prior"]["atoms"] = [[0.0, 1.0, 1.0], [1.0, 0.0, 5e-324]]
    made |= {"lower": 1.0, "upper": "Infinity"}
    made["claim"]["cells"] = [[0.9375, 1.0, [0.0, 1.0]]]
    assert checked(made).failures
    mass = copy.deepcopy(bl.envelope(rising).delta(0.25).certificate)
    mass["prior"]["atoms"] = [[0.0, 1.0, 1.0], [1.0, 0.0, 1e-300]]
    mass |= {"lower": 0.05, "upper": 1.0}
    mass["claim"]["cells"] = [[0.9375, 1.0, [0.0, 1.0]]]
    assert checked(mass).failures


def test_prices_are_numbers(rising):
    made = bl.envelope(rising)(F(1, 5)).certificate
    for price in ("Infinity", math.nan, "1"):
        assert checked(put("claim", "prices", value=[price, 1.0])(made)).failures


@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_one_secret_alone_tells_nothing(of):
    mechanism = bl.Mechanism(up, secret=BIT, outcome=UNIT)
    envelope = bl.envelope(bl.pmf([1.0, 0.0], on=BIT) * mechanism, of=of)
    assert envelope(F(1, 5)) == envelope(1) == bl.Bound.exact(0.0, 0.0)
    masses = {-math.inf: 1, -1.0: 1, -1e-320: 1, 0.0: 1, 1e-320: 0, 1.0: 0, math.inf: 0}
    for t, mass in masses.items():
        found = envelope.delta(t)
        assert found.lower == found.upper == mass and found.status == "exact"
    assert envelope.delta(0.0, closed=False).upper == 0 == envelope.delta(ratio=2).upper
