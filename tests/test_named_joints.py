"""A result names its joint: a certificate about another one is refused, in words."""

import json

import numpy as np
import pytest
import xarray as xr

import borel as bl
from borel.audits import store
from borel.audits.verification import verify

pytestmark = pytest.mark.usefixtures("with_certificates")

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
        return bl.audit(study)


def checked(tree, folder):
    store.write(tree, folder / "result.nc")
    return {row.name: row for row in verify(folder)}


def with_supremum(tree, joint):
    """Put the supremum of another joint in the place of the result's."""
    with bl.options(budget=6, tol=1e-6):
        bound = bl.pml(joint).sup()
    assert bound.certificate
    nodes = {node.path: node.to_dataset(inherit=False) for node in tree.subtree}
    about = {key: v for key, v in nodes["/pml"].attrs.items() if key != "bound"}
    return xr.DataTree.from_dict({**nodes, "/pml": store.pack(bound, **about)})


def test_all_of_a_result_is_verified(result, tmp_path):
    rows = checked(result, tmp_path)
    assert len(rows) == 5 and {row.outcome for row in rows.values()} == {"verified"}


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


def test_results_that_do_not_name_their_joint_are_to_be_about_one(result, tmp_path):
    """Older ones: as long as all certificates are about one joint, they are verified as before."""
    older = result.copy()
    del older.attrs["joint"]
    assert {row.outcome for row in checked(older, tmp_path).values()} == {"verified"}
    mixed = with_supremum(older, noise(8.0))
    rows = checked(mixed, tmp_path)
    assert {row.outcome for row in rows.values()} == {"refused"}
    assert "about 2 joints" in rows["pml"].words


def test_a_set_of_priors_names_its_mechanism_and_the_set():
    joint = bl.priors.tv_ball(PRIOR, 0.125) * noise(1.0).mechanism
    with bl.options(budget=6, tol=1e-6):
        named = json.loads(bl.audit(joint).attrs["joint"])
        narrow = bl.pml(bl.priors.tv_ball(PRIOR, 0.0625) * noise(1.0).mechanism).sup()
        own = bl.pml(joint).sup()
    from borel.audits.named_joints import foreign

    assert foreign(own.certificate, named) == ""
    assert foreign(narrow.certificate, named).endswith("another set of priors")
