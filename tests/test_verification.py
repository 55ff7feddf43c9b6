"""What `borel check` believes: a certificate is about the figure, the ends, the joint beside it."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.audits import store
from borel.audits.verification import verified, verify
from borel.probability.bound import Ratio

PRIOR = bl.pmf([0.25, 0.75])
TABLE = PRIOR * bl.Mechanism.from_matrix(np.array([[0.7, 0.3], [0.4, 0.6]]))
PML, PMC = bl.pml(TABLE), bl.pmc(TABLE)

NAMED = {
    "pml": PML.sup,
    "pmc": PMC.sup,
    "ldp": lambda: bl.ldp(TABLE),
    "lip": lambda: bl.lip(TABLE),
    "maximal_leakage": lambda: bl.maximal_leakage(TABLE),
    "maximal_cost_leakage": lambda: bl.maximal_cost_leakage(TABLE),
    "mutual_information": lambda: bl.mutual_information(TABLE),
    "total_variation": lambda: bl.total_variation(TABLE),
    "envelope": lambda: bl.envelope(TABLE)(F(1, 100)),
    "pml/law/mean": PML.mean,
    "pml/law/exp_mean": PML.exp_mean,
    "pml/law/quantile-0.9": lambda: PML.quantile(0.9),
    "pmc/law/quantile-0.5": lambda: PMC.quantile(F(1, 2)),
    "pml/one outcome": lambda: PML(1),
    "pml/nominal": PML.sup,
    "guarantees/PML-epsilon-0.25": PML.sup,
    "guarantees/LDP-epsilon-1.5": lambda: bl.ldp(TABLE),
    "guarantees/PML-epsilon-0.25-delta-0.01": lambda: PML.tail(0.25),
    "guarantees/LDP-log-8": lambda: bl.ldp(TABLE),
    "guarantees/PML-log-6-5-delta-1-100": lambda: PML.tail(
        bl.guarantees.PML(ratio=F(6, 5)).epsilon
    ),
    "disclosure/smokes/line": PML.sup,
}
OTHERS = {
    "the other leakage": ("pml", PMC.sup, "it is a supremum of pml, its certificate is about pmc"),
    "one outcome": ("pml", lambda: PML(0), "one outcome only: pml.at, y = 0"),
    "another level": ("pml/law/quantile-0.9", lambda: PML.quantile(0.5), "the quantile at 0.9"),
    "the other side": (
        "pml/law/quantile-0.9",
        lambda: PML.quantile(0.9, side="right"),
        "the quantile at 0.9",
    ),
    "another delta": ("envelope", lambda: bl.envelope(TABLE)(0.01), "the envelope of PML at 1/100"),
    "another threshold": (
        "guarantees/PML-epsilon-0.25-delta-0.01",
        lambda: PML.tail(0.125),
        "the tail at 0.25",
    ),
    "another ratio": (
        "guarantees/PML-log-6-5-delta-1-100",
        lambda: PML.tail(bl.guarantees.PML(ratio=F(7, 5)).epsilon),
        "the tail at 0.18232",
    ),
    "another line": ("disclosure/smokes/line", PMC.sup, "it is a supremum of pml"),
    "a closed tail": (
        "guarantees/PML-epsilon-0.25-delta-0.01",
        lambda: PML.tail(0.25, closed=True),
        "the tail at 0.25",
    ),
    "one of two suprema": ("lip", PML.sup, "it is lip"),
    "another divergence": (
        "total_variation",
        lambda: bl.f_information(TABLE, "chi_square"),
        "it is total variation, its certificate is about f_information, f = chi_square",
    ),
    "another average": (
        "total_variation",
        lambda: bl.mutual_information(TABLE),
        "it is total variation, its certificate is about mutual_information",
    ),
    "its logarithm": ("maximal_leakage", PML.exp_mean, "it is maximal leakage"),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_certificate_of_the_figure_is_verified(name):
    row = verified(name, NAMED[name]().certify())
    assert row.outcome == "verified" and "; on trust: " in row.words


@pytest.mark.parametrize("case", OTHERS)
def test_a_certificate_of_another_figure_is_refused(case):
    name, figure, words = OTHERS[case]
    row = verified(name, figure().certify())
    assert row.outcome == "refused" and words in row.words


def test_the_ends_the_units_and_the_ratio_are_those_of_the_certificate():
    made = PML.sup().certify()
    wider = replace(made, lower=made.lower - 0.01, upper=made.upper + 0.01)
    assert verified("pml", wider).outcome == "verified"  # it says less than the certificate
    for other, words in (
        (replace(made, lower=made.upper), "not about this figure"),
        (replace(made, upper=made.upper + 1, lower=made.upper + 1), "not about this figure"),
        (made.about(units="ratio"), "it is in ratio, its certificate is in nats"),
        (made.about(exact_ratio=Ratio(F(3), F(3))), "which is another figure"),
    ):
        row = verified("pml", other)
        assert row.outcome == "refused" and words in row.words


def test_what_is_no_certificate_is_refused_in_words():
    for certificate in ({}, {"format": 20}, {"format": 20, "figure": "pml.sup"}, {"format": 3}):
        row = verified("pml", PML.sup().about(certificate=certificate))
        assert row.outcome == "refused" and row.words
    for name in ("a new figure", "ldi", "guarantees/EML-epsilon-0.25-delta-0.01", "sup"):
        assert verified(name, PML.sup().certify()).outcome == "none"


def test_one_prior_and_a_set_of_priors_are_told_apart(tmp_path):
    joint = bl.priors.tv_ball(PRIOR, 0.125) * TABLE.mechanism
    tree = bl.audit(
        bl.Study(title="S", prior=joint.prior, mechanism=joint.mechanism, report=["pml"]),
        certificates=True,
    )
    nodes = {node.path: node.to_dataset(inherit=False) for node in tree.subtree}

    def rows(**moved):
        packed = {
            f"/pml{place}": store.pack(
                bound, **{k: v for k, v in nodes[f"/pml{place}"].attrs.items() if k != "bound"}
            )
            for place, bound in moved.items()
        }
        store.write(xr.DataTree.from_dict({**nodes, **packed}), tmp_path / "result.nc")
        return {row.name: row for row in verify(tmp_path)}

    found = bl.load(tree)
    over, nominal = found["pml"], found["pml/nominal"]
    own = rows()
    assert [own[name].outcome for name in ("pml", "pml/nominal")] == ["verified"] * 2
    assert "over the set of priors tv" in own["pml"].words
    wrong = rows(**{"": nominal, "/nominal": over})
    said = "it is over a set of priors, its certificate is about one prior"
    assert (wrong["pml"].outcome, wrong["pml"].words) == ("refused", said)
    said = "it is about one prior, its certificate is over a set of priors"
    assert (wrong["pml/nominal"].outcome, wrong["pml/nominal"].words) == ("refused", said)
    other = bl.pml(bl.priors.tv_ball(PRIOR, 0.0625) * TABLE.mechanism).sup().certify()
    row = rows(**{"": other})["pml"]
    assert row.outcome == "refused" and row.words.endswith("another set of priors")
