"""What an error tells somebody who tried what is natural elsewhere."""

import numpy as np
import pytest

import borel as bl

UNIT = bl.Interval(0, 1)
JOINT = bl.pmf([0.5, 0.5]) * bl.mechanisms.randomized_response(k=2, epsilon=1)


def _half(y, x):
    return 1.0 if y < x else 0.5


def _third(y, x, b):
    return np.exp(-abs(y - x) / b)


@pytest.mark.parametrize(
    ("attempt", "hint"),
    [
        (lambda: bl.pmf([60, 30, 10]), "bl.priors.from_counts"),
        (lambda: bl.pml(JOINT).quantile(95), "95 % is s = 0.95"),
        (lambda: bl.Mechanism(_half, secret=UNIT, outcome=UNIT), "np.where"),
        (lambda: bl.Mechanism(_third, secret=UNIT, outcome=bl.Reals()), "params="),
        (lambda: bl.Mechanism(_half, secret=(0, 1), outcome=UNIT), "bl.Interval(0, 1)"),
        (lambda: bl.table({"smokes": [1, 0]}, ["smoke"]), "did you mean smokes?"),
        (lambda: bl.table("survey.csv", ["smoke"]), "pd.read_csv"),
        (lambda: bl.pml(JOINT).sup(base=2), ".bits"),
        (lambda: bl.pml(JOINT, unit="bits"), ".bits"),
        (lambda: bl.beta(a=2, b=5), "did you mean alpha?"),
        (lambda: bl.mechanisms.randomized_response(k=2, eps=1), "did you mean epsilon?"),
        (lambda: JOINT.mechanism.satisfies(bl.guarantees.LDP(1)), "a joint has it"),
    ],
)
def test_the_error_says_how_it_is_written(attempt, hint):
    with pytest.raises((ValueError, TypeError, AttributeError)) as caught:
        attempt()
    assert hint in str(caught.value)


def test_a_verdict_over_a_set_says_what_the_set_has():
    mech = bl.mechanisms.randomized_response(k=2, ratio=8)
    prior = bl.priors.from_counts({0: 9, 1: 1}, confidence=0.95)
    verdict = (prior * mech).satisfies(bl.guarantees.PML(0.1))
    assert verdict.holds is None
    assert (
        "over the set the figure is at least" in verdict.reason and "asked: 0.1" in verdict.reason
    )
