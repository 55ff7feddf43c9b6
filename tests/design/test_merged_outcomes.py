"""The watchdog: what it merges satisfies the guarantee, and what is safe stays."""

from fractions import Fraction as F

import pytest

import borel as bl
from borel.errors import InvalidInput

g = bl.guarantees
HALF = [F(1, 2), F(1, 2)]
TELLING = [[F(1, 10), F(0), F(9, 10)], [F(0), F(1, 5), F(4, 5)]]


def test_telling_outcomes_are_merged_and_safe_ones_stay():
    found = bl.design.watchdog(bl.pmf(HALF) * bl.Mechanism.from_matrix(TELLING), g.PML(0.3))
    assert found.merged == (0, 1) and found.verdict.holds
    assert found.mechanism.matrix.tolist() == [[F(9, 10), F(1, 10)], [F(4, 5), F(1, 5)]]
    assert list(found.mechanism.outcome.labels) == [2, "merged"]


def test_more_is_merged_where_the_merged_outcome_tells():
    # alone outcome 0 is telling: a safe one joins it; 0 and 2 together are as likely as not
    table = [[F(3, 10), F(4, 10), F(3, 10)], [F(0), F(5, 10), F(5, 10)]]
    found = bl.design.watchdog(bl.pmf(HALF) * bl.Mechanism.from_matrix(table), g.PML(ratio=F(6, 5)))
    assert 0 in found.merged and len(found.merged) == 2 and found.verdict.holds


@pytest.mark.parametrize(
    "target",
    [g.PML(0.2), g.PMC(0.3), g.LIP(0.1), g.ALIP(0.4, 0.1), g.LDP(0.3), g.PML(0.0)],
    ids=str,
)
def test_random_mechanisms(target):
    import numpy as np

    rng = np.random.default_rng(5)
    for _ in range(5):
        joint = bl.pmf([0.2, 0.3, 0.5]) * bl.Mechanism.from_matrix(rng.dirichlet([1] * 6, size=3))
        try:
            found = bl.design.watchdog(joint, target)
        except bl.Undecided:
            assert target.levels[0].nats == 0.0  # of floats, 0 is a tie
            continue
        assert found.verdict.holds is True
        assert joint.satisfies(target).holds is False and found.merged


def test_nothing_to_merge():
    joint = bl.pmf(HALF) * bl.Mechanism.from_matrix(TELLING)
    found = bl.design.watchdog(joint, g.PML(1.0))
    assert found.merged == () and found.mechanism is joint.mechanism


def test_bad_input():
    joint = bl.pmf(HALF) * bl.Mechanism.from_matrix(TELLING)
    with pytest.raises(InvalidInput, match="no outcome"):
        bl.design.watchdog(joint, g.PML(0.3), label=2)
    with pytest.raises(InvalidInput, match="finite"):
        bl.design.watchdog(bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0), g.PML(1.0))
    with pytest.raises(InvalidInput, match="every outcome"):
        bl.design.watchdog(joint, g.AveragePML(0.1))
    with pytest.raises(InvalidInput, match="every outcome"):
        bl.design.watchdog(joint, g.PML(0.1, delta=0.1))
