"""Certificates of envelopes of tables: they hold the truth, and what is false is refused."""

import copy
import math
from fractions import Fraction as F

import numpy as np
import pytest
from engine.test_check import lines_of_code, modules_of_borel

import borel as bl
from borel.audits.verification import verified
from borel.engine.certificates.checks import finite_envelopes
from borel.engine.certificates.checks.composition import checked

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

ROWS = [[F(1, 8), F(1, 8), F(1, 4), F(1, 2)], [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]]
ROWS += [[F(1, 4), F(1, 2), F(1, 4), 0]]
PRIOR = [F(1, 8), F(3, 8), F(1, 2)]
"""Floats hold all of them: the envelope in Fractions is the truth."""


def joints():
    """The same joint in Fractions and in floats."""
    floats = np.array(ROWS, float)
    return (
        bl.pmf(PRIOR) * bl.Mechanism.from_matrix(ROWS),
        bl.pmf(np.array(PRIOR, float)) * bl.Mechanism.from_matrix(floats),
    )


@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("delta", [F(1, 100), F(1, 8), F(1, 3), F(3, 4), 1])
def test_a_level_of_floats_holds_that_of_fractions(of, delta):
    truth, bound = (bl.envelope(joint, of=of)(delta) for joint in joints())
    assert truth.status == "exact" or truth.width < 1e-12
    assert bound.status == "certified"
    assert bound.lower <= truth.lower and truth.upper <= bound.upper and bound.width < 1e-9
    assert verified("envelope of it", bound).outcome != "refused"
    assert not checked(bound.certificate).failures


@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("ratio", [F(11, 10), F(4, 3), F(2)])
def test_a_mass_of_floats_holds_that_of_fractions(of, ratio):
    truth, bound = (bl.envelope(joint, of=of).delta(ratio=ratio) for joint in joints())
    assert truth.status == "exact"
    assert bound.lower <= truth.lower and truth.upper <= bound.upper and bound.width < 1e-9
    assert bound.status == "exact" or not checked(bound.certificate).failures
    at = bl.envelope(joints()[1], of=of).delta(math.log(ratio) - 1e-3)
    assert at.lower >= bound.lower - 1e-9 and not checked(at.certificate).failures


def test_a_leakage_of_0_has_every_outcome_exactly():
    assert repr(bl.envelope(joints()[1]).delta(0.0)) == "Bound(1 probability, exact)"


def test_outcomes_that_a_secret_makes_impossible_prove_an_infinite_level():
    bound = bl.envelope(joints()[1], of="pmc")(F(1, 10))  # the last outcome has 7/64
    assert bound.lower == math.inf and bound.status == "certified"
    assert not checked(bound.certificate).failures
    more = copy.deepcopy(bound.certificate)
    more["claim"]["delta"] = [1, 5]
    assert checked(more).failures


@pytest.fixture
def level():
    return bl.envelope(joints()[1])(F(1, 3)).certificate


@pytest.fixture
def mass():
    return bl.envelope(joints()[1]).delta(0.5).certificate


def test_other_ends_are_refused(level, mass):
    for made, room in ((level, 1e-7), (mass, 1e-7)):
        for ends in ((made["lower"] + room, math.inf), (0.0, made["upper"] - room)):
            wrong = {**made, "lower": ends[0], "upper": ends[1]}
            assert checked(wrong).failures, ends
        assert checked({**made, "lower": made["upper"], "upper": made["lower"]}).failures
        assert checked({**made, "lower": math.nan}).failures


def edits():
    """Alterations of a certificate that are not about a smaller claim."""

    def set_(*path, to):
        def edit(made):
            for step in path[:-1]:
                made = made[step]
            made[path[-1]] = to(made[path[-1]]) if callable(to) else to

        return edit

    parts = "claim", "shares", "parts"
    return {
        "a negative share": set_(*parts, 0, 0, to=-1),
        "a share that is no integer": set_(*parts, 0, 0, to=lambda w: w + 0.5),
        "more than all of an outcome": set_(*parts, 0, to=lambda row: [2**52 for _ in row]),
        "a smaller whole": set_("claim", "shares", "of", to=2**50),
        "no whole": set_("claim", "shares", "of", to=0),
        "a secret without shares": set_(*parts, to=lambda rows: rows[:2]),
        "an outcome without shares": set_(*parts, to=lambda rows: [row[:3] for row in rows]),
        "a negative price": set_("claim", "prices", 0, to=-1.0),
        "no price": set_("claim", "prices", to=lambda v: v[:2]),
        "a price that is no number": set_("claim", "prices", 0, to=math.nan),
        "prices of 0": set_("claim", "prices", to=[0.0, 0.0, 0.0]),
        "another prior": set_("prior", "masses", to=[[0.5, 0.5], [0.25, 0.25], [0.25, 0.25]]),
        "masses that are no law": set_("prior", "masses", 0, to=[0.5, 0.5]),
        "a secret of no mass": set_("prior", "masses", 0, to=[0.0, 0.125]),
        "an entry out of order": set_("kernel", "table", 0, 0, to=[0.25, 0.125]),
        "a row that is no law": set_("kernel", "table", 0, 0, to=[0.5, 0.5]),
        "a row of another length": set_("kernel", "table", 0, to=lambda row: row[:3]),
        "an outcome more": set_("outcome", "points", to=[0, 1, 2, 3, 4]),
        "a key that nobody reads": set_("prior", "set", to={}),
        "another leakage": set_("quantity", to="pmc_envelope"),
        "no leakage": set_("quantity", to="pml"),
        "another form": set_("format", to=3),
        "another figure": set_("claim", "figure", to="quantile"),
    }


@pytest.mark.parametrize("name", edits())
def test_an_altered_certificate_is_refused(name, level, mass):
    for made in (level, mass):
        assert not checked(made).failures
        wrong = copy.deepcopy(made)
        edits()[name](wrong)
        assert checked(wrong).failures


@pytest.mark.parametrize("delta", [[0, 1], [-1, 3], [4, 3], [1, 0]])
def test_a_mass_that_is_no_probability_is_refused(delta, level):
    level["claim"]["delta"] = delta
    assert checked(level).failures


def test_a_level_below_0_is_refused(mass):
    mass["claim"].update(level=[-1, 4])
    assert checked(mass).failures
    mass["claim"].update(level=[3, 4], nats=False)  # e^t itself
    assert checked(mass).failures


def test_random_tables_hold_what_their_fractions_say():
    rng = np.random.default_rng(11)
    for _ in range(25):
        n, m = rng.integers(2, 5), rng.integers(2, 6)
        rows = rng.multinomial(64, rng.dirichlet(np.ones(m)), size=n)
        prior = [F(int(v) + 1, 64) for v in rng.multinomial(64 - n, np.ones(n) / n)]
        table = [[F(int(v), 64) for v in row] for row in rows]
        exact = bl.pmf(prior) * bl.Mechanism.from_matrix(table)
        floats = bl.pmf(np.array(prior, float)) * bl.Mechanism.from_matrix(rows / 64)
        for of in ("pml", "pmc"):
            for delta in (F(1, 10), F(1, 2)):
                truth, bound = (bl.envelope(joint, of=of)(delta) for joint in (exact, floats))
                assert bound.lower <= truth.upper and truth.lower <= bound.upper
                assert truth.status != "exact" or truth.upper <= bound.upper
                if bound.status != "certified":
                    continue
                made = bound.certificate
                assert not checked(made).failures
                if made["lower"] < math.inf == float(made["upper"]):
                    continue
                low, high = truth.lower - 1e-6, truth.upper + 1e-6
                if low > 0:
                    assert checked({**made, "lower": 0.0, "upper": low}).failures
                if high < math.inf:
                    assert checked({**made, "lower": high, "upper": math.inf}).failures


def test_it_is_short_and_shares_nothing_with_what_finds_them():
    assert lines_of_code(finite_envelopes) <= 90
    used = modules_of_borel(finite_envelopes)
    assert not [name for name in used if "envelope_" in name or "certificates_of" in name]


def forged(table, **about):
    """A certificate of no shares and no prices."""
    given = {"lower": 0.0, "upper": math.inf, "quantity": "pml_envelope"}
    given = {key: about.pop(key, value) for key, value in given.items()}
    shares = {"of": 1, "parts": [[0] * len(table[0]) for _ in table]}
    claim = {"type": "finite_envelope", "figure": "epsilon", "delta": [1, 1]}
    claim |= {"prices": [0.0] * len(table), "shares": shares, **about}
    return {
        "format": 10,
        **given,
        "kernel": {"table": [[[v, v] for v in row] for row in table]},
        "prior": {"masses": [[1 / len(table)] * 2 for _ in table]},
        "outcome": {"points": [*range(len(table[0]))]},
        "claim": claim,
    }


@pytest.mark.parametrize("quantity", ["pml_envelope", "pmc_envelope"])
def test_what_is_missing_of_a_law_is_worth_nothing(quantity):
    """2/3 and 1/3 are no floats: their floats, without room, are no law."""
    a, b = 2 / 3, 1 / 3
    assert checked(forged([[a, b], [b, a]], upper=0.0, quantity=quantity)).failures
    short = (1 - 9e-10) / 2, (1 - 9e-10) / 4
    table = [[short[0]] * 2, [3 * short[1], short[1]]]
    small = [8, 10**10]
    assert checked(forged(table, lower=700.0, delta=small, quantity=quantity)).failures
    assert checked(forged([[b, b, b]] * 2, lower=700.0, delta=[1, 10**17])).failures
    mass = {"figure": "delta", "nats": True, "level": [600, 1]}
    assert checked(forged(table, lower=8e-10, upper=1.0, quantity=quantity, **mass)).failures


def test_levels_beyond_the_floats():
    for of, mass in (("pml", 0.0), ("pmc", 7 / 64)):  # the last outcome is impossible for one
        found = bl.envelope(joints()[1], of=of).delta(ratio=10**320)
        assert found.lower <= mass <= found.upper and found.width < 1e-9
        assert found.status == "exact" or not checked(found.certificate).failures


def test_a_level_of_0_nats_is_one_of_either_leakage():
    for quantity in ("pml_envelope", "pmc_envelope"):
        made = forged([[0.5, 0.5], [0.25, 0.75]], upper=1.0, quantity=quantity)
        made["claim"].update(figure="delta", nats=True, level=[0, 1])
        assert not checked(made).failures


@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_masses_below_the_normal_floats_are_left_open(of):
    rows = np.array([[0.375, 0.625], [1.0, 0.0]])
    envelope = bl.envelope(bl.pmf([1.7e-322, 1.0]) * bl.Mechanism.from_matrix(rows), of=of)
    for found in (envelope(0.3), envelope(1), envelope.delta(0.5)):
        assert found.status == "undecided" and "Fractions" in found.reason
