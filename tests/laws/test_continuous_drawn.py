"""Two laws of continuous alphabets on drawn cases: a smooth change of variable, null sets."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import borel as bl

pytestmark = pytest.mark.usefixtures("estimates")  # certified: tests/engine

UNIT = bl.Interval(0, 1)
PRIOR = bl.uniform(UNIT)
scales = st.floats(0.1, 3.0)
outcomes = st.floats(-3.0, 4.0)


def agree(first, second):
    """Two estimates of one figure: apart by no more than their error bars, and a rounding."""
    assert first.status == second.status == "estimate"
    slack = (first.upper - first.lower + second.upper - second.lower) / 2
    assert abs(first.value - second.value) <= 2 * slack + 1e-9


@pytest.mark.truths
@given(b=scales, k=st.floats(0.2, 2.0), y=outcomes, kind=st.sampled_from(["pml", "pmc"]))
def test_a_smooth_change_of_the_outcome_changes_nothing(b, k, y, kind):
    """Y' = sinh(k Y) / k has the density f(y|x) / cosh(k y)."""

    def density(y, x):
        return np.exp(-abs(y - x) / b) / (2 * b)

    def changed(z, x):
        return density(np.arcsinh(k * z) / k, x) / np.sqrt(1 + (k * z) ** 2)

    plain = bl.Mechanism(density, secret=UNIT, outcome=bl.Reals())
    bent = bl.Mechanism(changed, secret=UNIT, outcome=bl.Reals())
    leakage = getattr(bl, kind)
    agree(leakage(PRIOR * plain)(y), leakage(PRIOR * bent)(math.sinh(k * y) / k))


@pytest.mark.truths
@given(
    b=scales,
    y=outcomes,
    at=st.one_of(st.sampled_from([0.5, 0.25, 1 / 3, 0.0, 1.0]), st.floats(0.0, 1.0)),
    value=st.sampled_from([0.0, 1e-300, 1.0, 1e6]),
    kind=st.sampled_from(["pml", "pmc"]),
)
@example(b=1.0, y=0.0, at=(math.sqrt(5) - 1) / 2, value=0.0, kind="pml")
def test_a_density_altered_on_a_null_set_of_secrets_changes_nothing(b, y, at, value, kind):
    """At a secret that the constructor looks at it is refused, with the secret."""

    def density(y, x):
        return np.exp(-abs(y - x) / b) / (2 * b)

    def altered(y, x):
        return np.where(x == at, value, density(y, x))

    leakage = getattr(bl, kind)
    figures = []
    for f in (density, altered):
        try:
            mechanism = bl.Mechanism(f, secret=UNIT, outcome=bl.Reals())
        except bl.InvalidInput as error:
            assert f is altered and f"x = {at!r}" in str(error)
            return
        figures.append(leakage(PRIOR * mechanism)(y))
    agree(*figures)
