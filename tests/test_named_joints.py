"""A result names its joint: a certificate about another one is refused, in words."""

import json

import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.audits import store
from borel.audits.named_joints import as_data, foreign
from borel.audits.verification import verify

BIT = bl.Finite([0.0, 1.0])
PRIOR = bl.pmf([0.5, 0.5], on=BIT)


def noise(scale, prior=PRIOR):
    mechanism = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x) / scale) / (2 * scale), secret=BIT, outcome=bl.Reals()
    )
    return prior * mechanism


@pytest.fixture(scope="module")
def result():
    study = bl.Study(title="A", prior=PRIOR, mechanism=noise(1.0).mechanism, report=["pml"])
    with bl.options(budget=6, tol=1e-6):
        return bl.audit(study, certificates=True)


def checked(tree, folder):
    store.write(tree, folder / "result.nc")
    return {row.name: row for row in verify(folder)}


def with_supremum(tree, joint):
    """Put the supremum of another joint in the place of the result's."""
    with bl.options(budget=6, tol=1e-6):
        bound = bl.pml(joint).sup().certify()
    assert bound.certificate
    nodes = {node.path: node.to_dataset(inherit=False) for node in tree.subtree}
    about = {key: v for key, v in nodes["/pml"].attrs.items() if key != "bound"}
    return xr.DataTree.from_dict({**nodes, "/pml": store.pack(bound, **about)})


@pytest.mark.proofs
def test_all_of_a_result_is_verified(result, tmp_path):
    rows = checked(result, tmp_path)
    assert len(rows) == 5 and {row.outcome for row in rows.values()} == {"verified"}


@pytest.mark.proofs
@pytest.mark.parametrize(
    ("other", "words"),
    [
        (noise(8.0), "another kernel"),
        (noise(1.0, bl.pmf([0.25, 0.75], on=BIT)), "another prior"),
    ],
    ids=["kernel", "prior"],
)
def test_a_certificate_about_another_joint_is_refused(result, tmp_path, other, words):
    """PML of scale 8 is at most log 2 / (1 + e^-1/8) = 0.06, below the median of scale 1, 0.38."""
    rows = checked(with_supremum(result, other), tmp_path)
    assert rows["pml"].outcome == "refused"
    assert f"another joint than this result: {words}" in rows["pml"].words
    assert rows["pml/law/quantile-0.5"].outcome == "verified"


@pytest.mark.proofs
def test_a_result_that_does_not_name_its_joint_is_refused(result, tmp_path):
    """Nothing says that its certificates are about one joint, and about which."""
    older = result.copy()
    del older.attrs["joint"]
    for tree in (older, with_supremum(older, noise(8.0))):
        rows = checked(tree, tmp_path)
        assert {row.outcome for row in rows.values()} == {"refused"}
        assert "does not name the joint" in rows["pml"].words


@pytest.mark.proofs
def test_certificates_of_an_older_version_are_refused(result, tmp_path):
    older = {"format": 9, "quantity": "pml", "lower": 0.0, "upper": 1.0, "claim": {}}
    nodes = {node.path: node.to_dataset(inherit=False) for node in result.subtree}
    bound = store.unpack(nodes["/pml"]).about(certificate=older)
    tree = xr.DataTree.from_dict({**nodes, "/pml": store.pack(bound)})
    alone = tmp_path / "certificate.json"
    alone.write_text(json.dumps({**older, "lower": "0x0.0p+0", "upper": "0x1.0p+0"}))
    for row in (checked(tree, tmp_path)["pml"], *verify(alone)):
        assert row.outcome == "refused"
        assert "of an older version of borel, format 9; this one verifies format 20" in row.words


def test_a_set_of_priors_names_its_mechanism_and_the_set():
    prior = bl.pmf([0.5, 0.5])
    mechanism = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    joint = bl.priors.tv_ball(prior, 0.125) * mechanism
    named = as_data(joint)
    own = bl.pml(joint).sup().certify().certificate["joint"]
    narrow = bl.pml(bl.priors.tv_ball(prior, 0.0625) * mechanism).sup().certify().certificate
    assert foreign(own, named, "set") == ""
    assert foreign(narrow["joint"], named, "set").endswith("another set of priors")
    nominal = bl.pml(prior * mechanism).sup().certify().certificate["joint"]
    assert foreign(nominal, named, "nominal") == ""
    assert "another set of priors" in foreign(nominal, named, "set")
    assert json.loads(json.dumps(named)) == named


@pytest.mark.proofs
def test_one_draw_of_a_posterior_is_verified(tmp_path):
    """The draw nearest to the quantile that is reported; a certificate of another is refused."""
    study = bl.Study(
        title="D",
        mechanism=bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]]),
        prior=lambda random_seed: bl.models.dirichlet_posterior([30, 70], random_seed=random_seed),
        build=lambda draw: bl.pmf(draw["p"]),
        report=["pml", "ldp"],
    )
    tree = bl.audit(study, certificates=True)
    rows, found = checked(tree, tmp_path), bl.load(tree)
    verified = {name for name, row in rows.items() if row.outcome == "verified"}
    assert verified == {"pml/one-draw", "ldp/one-draw"}
    one, quantile = found["pml/one-draw"], found["pml"]
    assert quantile.lower <= one.upper and one.lower <= quantile.upper
    chain, draw = one.witness["chain"], one.witness["draw"]
    assert f"prior is that of chain {chain}, draw {draw}" in rows["pml/one-draw"].words
    assert one.lower == found.random("pml").draws["lower"].values[chain, draw]
    nodes = {node.path: node.to_dataset(inherit=False) for node in tree.subtree}

    def refused(place, bound):
        about = {k: v for k, v in nodes[place].attrs.items() if k != "bound"}
        moved = xr.DataTree.from_dict({**nodes, place: store.pack(bound, **about)})
        row = checked(moved, tmp_path)[place.strip("/")]
        assert row.outcome == "refused"
        return row.words

    assert "a quantile over priors" in refused("/pml", one)
    other = one.about(witness={"chain": chain, "draw": draw + 1})
    assert "not the figure of chain" in refused("/pml/one-draw", other)
    another = bl.pml(bl.pmf([0.3, 0.7]) * bl.Mechanism.from_matrix([[0.7, 0.3], [0.2, 0.8]])).sup()
    words = refused("/pml/one-draw", one.about(certificate=another.certify().certificate))
    assert "another matrix" in words
