"""Attacks on certificates over sets of priors that single conditions of the checkers refuse."""

import copy
import math

import numpy as np
import pytest

import borel as bl
from borel.engine.certificates.checks.composition import checked

pytestmark = pytest.mark.usefixtures("with_certificates")

BIT, UNIT = bl.Finite([0.0, 1.0]), bl.Interval(0, 1)


def of_table(table, corner, **about):
    """A certificate of a table of numbers over the hull of one prior."""
    data = {
        "format": 8,
        "kernel": {"table": [[[v, v] for v in row] for row in table]},
        "prior": {
            "set": {"kind": "hull", "corners": [[[p, p] for p in corner]]},
            "secrets": [float(k) for k in range(len(table))],
        },
        "outcome": {"lower": -math.inf, "upper": math.inf, "points": [0.0, 1.0]},
    }
    return {**data, **about}


@pytest.mark.parametrize(
    ("quantity", "x", "member"),
    [("pml", [2], [[1, 1]]), ("pmc", [2], [[1, 1]]), ("ldp", [2, 0], [[1, 1]])],
)
def test_a_peak_at_a_secret_that_no_member_charges_is_refused(quantity, x, member):
    """(a) The third secret tells much, but has no mass: there is no leakage at all."""
    table = [[0.5, 0.5], [0.5, 0.5], [0.875, 0.125] if quantity != "pmc" else [0.125, 0.875]]
    claim = {"type": "set", "cover": [0.0, 1.0], "peak": {"y": [0.0, 0.0], "x": x, "prior": member}}
    about = {"quantity": quantity, "lower": 0.0, "upper": 2.0, "claim": claim}
    made = of_table(table, [0.5, 0.5, 0.0], **about)
    assert not checked(made).failures
    assert checked({**made, "lower": 0.5}).failures  # log 7/4 = 0.559, log 4 for PMC


def test_the_secret_that_tells_most_in_the_middle_of_a_box_is_not_all():
    """(b) At 1/2 f is 1 and 3/4, at 1 it is 1 and 3: PML there is log 3 / (15/16 + 3/16)."""
    kernel = bl.Mechanism(
        lambda y, x: np.where(x < 0.5, 1.0 + 0 * y, 3 * y**2), secret=BIT, outcome=UNIT
    )
    corner = [[15 / 16, 15 / 16], [1 / 16, 1 / 16]]
    made = {
        "format": 8,
        "kernel": {"graph": kernel.density.graph.to_json(), "log": False},
        "prior": {"set": {"kind": "hull", "corners": [corner]}, "secrets": [0.0, 1.0]},
        "outcome": {"lower": 0.0, "upper": 1.0, "points": None},
        "quantity": "pml",
        "lower": 0.0,
        "upper": 1.0,
        "claim": {"type": "set", "cover": [0.0, 1.0], "peak": {}},
    }
    assert not checked(made).failures
    assert checked({**made, "upper": 0.1}).failures  # log 16/15 is what the first secret tells


def test_a_law_of_outcomes_that_sums_to_more_than_1_bounds_no_information():
    """(c) D(K_x || 2 Q) is less than D(K_x || Q) by log 2: it would bound I by 0."""
    law = {"type": "set", "law": [[1, 2], [1, 2]], "peak": {"prior": [[1, 1]]}}
    about = {"quantity": "mutual_information", "lower": 0.0, "upper": 0.2, "claim": law}
    made = of_table([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], **about)
    assert not checked(made).failures  # it is log 2 - H(1/4) = 0.1308
    forged = {**law, "law": [[1, 1], [1, 1]]}
    assert checked({**made, "claim": forged, "upper": 0.1}).failures


def test_suprema_of_pml_and_pmc_do_not_add_up_to_the_ldp_ratio():
    """(d) They are at different outcomes: log 9 is less than their sum, 3.65."""
    kernel = bl.Mechanism(
        lambda y, x: np.where(y < 0.5, 0.1 + 0.8 * x**8, 0.9 - 0.8 * x**8),
        secret=UNIT,
        outcome=BIT,
    )
    joint = bl.uniform(UNIT) * kernel
    suprema = [bl.pml(joint).sup(), bl.pmc(joint).sup()]
    assert sum(one.lower for one in suprema) > 3.6 > bl.ldp(joint).upper + 1
    of = [copy.deepcopy(one.certificate) for one in suprema]
    assert not any(checked(one).failures for one in of)
    made = {"format": 9, "over": {"kind": "full_support"}, "of": of}
    for quantity in ("pml", "pmc", "ldp"):
        assert checked({**made, "quantity": quantity, "lower": 3.6, "upper": 3.7}).failures
