"""Bounds and verdicts: what may be concluded, and what may never be."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel.bound import STATUSES, Bound, Ratio, Verdict, weakest

EXACT = Bound.exact(0.25, 0.5)
CERTIFIED = Bound.certified(0.25, 0.5)
CONDITIONAL = Bound.conditional(0.25, 0.5, assumptions=("a tail",))
STATISTICAL = Bound.statistical(0.25, 0.5, confidence=0.95)
ESTIMATE = Bound.estimate(0.375, 0.125)
UNDECIDED = Bound.undecided(0.25, math.inf, reason="no tail")
PROVED = [EXACT, CERTIFIED, CONDITIONAL]


# -- statuses ------------------------------------------------------------------------------------


def test_the_weakest_status_wins():
    for i, strong in enumerate(STATUSES):
        for weak in STATUSES[i:]:
            assert weakest([strong, weak]) == weakest([weak, strong]) == weak
        assert weakest([strong, "undecided"]) == weakest(["undecided", strong]) == "undecided"
    assert weakest(STATUSES) == "estimate"
    assert weakest(["exact"]) == "exact"


def test_each_constructor_is_its_status():
    for bound, status in zip(
        [EXACT, CERTIFIED, CONDITIONAL, STATISTICAL, ESTIMATE, UNDECIDED],
        [*STATUSES, "undecided"],
        strict=True,
    ):
        assert bound.status == status
        assert bound.proved == (status in STATUSES[:3])


def test_a_status_cannot_be_raised():
    for changes in ({"status": "exact"}, {"lower": 0.3}, {"upper": 0.4}):
        with pytest.raises(bl.InvalidInput):
            ESTIMATE.about(**changes)
    with pytest.raises(AttributeError):
        ESTIMATE.status = "exact"
    assert ESTIMATE.about(reason="because").status == "estimate"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Bound.exact(1.0, 0.5),
        lambda: Bound.exact(math.nan, 1.0),
        lambda: Bound.exact(0.0, math.nan),
        lambda: Bound(0.0, 1.0, "proved"),
        lambda: Bound(0.0, 1.0, "undecided"),
        lambda: Bound(0.0, 1.0, "statistical"),
        lambda: Bound.conditional(0.0, 1.0),
        lambda: Bound.conditional(0.0, 1.0, assumptions=()),
        lambda: Bound.statistical(0.0, 1.0, confidence=1.5),
        lambda: Bound.statistical(0.0, 1.0, confidence=-0.1),
        lambda: Bound.statistical(0.0, 1.0, confidence=math.nan),
    ],
)
def test_what_is_no_bound_is_refused(wrong):
    with pytest.raises(bl.InvalidInput):
        wrong()


@pytest.mark.parametrize(("value", "error"), [(math.nan, 0.1), (0.5, math.nan), (0.5, -1.0)])
def test_an_estimate_that_went_wrong_is_undecided(value, error):
    bound = Bound.estimate(value, error)
    assert bound.status == "undecided" and bound.reason


# -- comparing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", PROVED)
def test_a_proved_bound_decides_outside_its_enclosure(bound):
    assert (bound <= 0.5).holds is True and (bound <= 0.2).holds is False
    assert (bound < 0.6).holds is True and (bound < 0.25).holds is False
    assert (bound >= 0.25).holds is True and (bound >= 0.6).holds is False
    assert (bound > 0.2).holds is True and (bound > 0.5).holds is False
    for verdict in (bound <= 0.3, bound < 0.5, bound >= 0.3, bound > 0.25):
        assert verdict.holds is None and verdict.reason
        with pytest.raises(bl.Undecided):
            bool(verdict)
    assert bool(bound <= 0.5) and not bool(bound <= 0.2)


def test_a_point_decides_ties():
    point = Bound.exact(0.5, 0.5)
    assert (point <= 0.5).holds and (point >= 0.5).holds
    assert (point < 0.5).holds is False and (point > 0.5).holds is False


def test_thresholds_between_floats_are_compared_exactly():
    third = Bound.exact(1 / 3, 1 / 3)  # the float, below 1/3
    assert (third <= F(1, 3)).holds is True
    assert (third >= F(1, 3)).holds is False


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.375, 1.0, 1e9, math.inf])
def test_estimates_never_prove(threshold):
    for verdict in (
        ESTIMATE <= threshold,
        ESTIMATE < threshold,
        ESTIMATE >= threshold,
        ESTIMATE > threshold,
    ):
        assert verdict.holds is None and "estimate" in verdict.reason
        with pytest.raises(bl.Undecided):
            bool(verdict)
        assert verdict.at(confidence=0.5).holds is None
    for wide in (Bound.estimate(math.inf, 0.0), Bound.estimate(0.0, 0.0)):
        assert (wide >= threshold).holds is None and (wide <= threshold).holds is None


def test_a_statistical_bound_answers_at_a_confidence_only():
    for verdict, answer in ((STATISTICAL <= 1.0, True), (STATISTICAL <= 0.1, False)):
        assert verdict.holds is None
        with pytest.raises(bl.Undecided, match="confidence"):
            bool(verdict)
        assert verdict.at(confidence=0.95).holds is answer
        assert verdict.at(confidence=0.5).holds is answer
        assert verdict.at(confidence=0.99).holds is None
    assert (STATISTICAL <= 0.3).at(confidence=0.9).holds is None
    for wrong in (0.0, 1.0, -1.0, 2.0, math.nan):
        with pytest.raises(bl.InvalidInput):
            (STATISTICAL <= 1.0).at(confidence=wrong)
    with pytest.raises(TypeError):
        (STATISTICAL <= 1.0).at(0.9)


def test_an_undecided_bound_still_says_what_is_true():
    assert (UNDECIDED >= 0.25).holds is True and (UNDECIDED <= 0.1).holds is False
    verdict = UNDECIDED <= 10.0
    assert verdict.holds is None and verdict.reason == "no tail"


def test_infinity_proved_and_ignorance():
    infinite = Bound.exact(math.inf, math.inf)
    assert (infinite <= 1e300).holds is False and (infinite >= 1e300).holds is True
    assert infinite.width == 0
    ignorant = Bound.exact(0.0, math.inf)
    assert (ignorant <= 1e300).holds is None and ignorant.width == math.inf


@pytest.mark.parametrize("wrong", [math.nan, "0.5", None, EXACT, [0.5], np.array([0.5, 1.0])])
def test_a_threshold_is_a_number(wrong):
    with pytest.raises((bl.InvalidInput, TypeError)):
        EXACT <= wrong  # noqa: B015


@pytest.mark.parametrize("threshold", [1, 1.0, F(1), np.float64(1), np.float32(1), np.int64(1)])
def test_any_real_number_will_do(threshold):
    assert (EXACT <= threshold).holds is True


def test_a_bound_is_not_a_number():
    for use in (float, math.exp, int, lambda b: b + 1, lambda b: np.asarray(b, float), np.exp):
        with pytest.raises(TypeError):
            use(EXACT)
    with pytest.raises((TypeError, bl.InvalidInput)):
        EXACT < EXACT  # noqa: B015


def test_equality_compares_data():
    assert Bound.exact(0.25, 0.5) == EXACT != CERTIFIED


# -- ratios --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [-700.0, -1.0, -1e-300, 0.0, 1e-17, 0.5, 1.0, 709.0, 800.0, math.inf]
)
def test_the_ratio_of_floats_is_outward(value):
    from oracles import ball, precision

    low, high = Bound.exact(value, value).ratio
    if math.isinf(value):
        assert (low, high) == (math.inf, math.inf)
        return
    with precision(400):
        assert ball(float(low)) <= ball(value).exp()
        assert math.isinf(high) or ball(value).exp() <= ball(float(high))


def test_an_exact_ratio_is_kept():
    assert Bound.exact(0.0, 0.1, exact_ratio=Ratio(F(1), F(1))).ratio == (1, 1)


# -- showing -------------------------------------------------------------------------------------


def test_a_statistical_bound_of_no_confidence_never_answers():
    """A confidence of NaN compares with nothing: it must not pass as any confidence."""
    with pytest.raises((bl.InvalidInput, bl.Undecided)):
        bool((Bound.statistical(0.0, 1.0, confidence=math.nan) <= 2).at(confidence=0.99))


def test_an_estimate_is_shown_with_its_error_and_never_with_an_inequality():
    bound = Bound.estimate(0.41, 1e-6)
    assert str(bound) == "~0.41 +- 1e-06"
    for shown in (str(bound), repr(bound), bound._repr_html_(), repr(bound <= 1)):
        assert "~0.41 +- 1e-06" in shown
        assert "<=" not in shown and "&lt;=" not in shown and "≤" not in shown
    assert str(Bound.estimate(math.inf, 0.0)) == "~inf"
    assert "~" in str(Bound.estimate(0.41, 0.0))


def test_reprs_say_status_reason_confidence_and_units():
    assert repr(Bound.exact(0.25, 0.25)) == "Bound(0.25, exact)"
    assert "statistical" in repr(STATISTICAL) and "0.95" in repr(STATISTICAL)
    assert "no tail" in repr(UNDECIDED) and "undecided" in repr(UNDECIDED)
    assert "probability" in repr(Bound.exact(0.1, 0.1, units="probability"))
    assert "[0.25, 0.5]" in repr(EXACT)
    assert "a tail" in CONDITIONAL._repr_html_()
    assert "<script>" not in Bound.undecided(reason="<script>")._repr_html_()


def test_verdicts_show_their_answer():
    assert repr(EXACT <= 1) == "Verdict(True, [0.25, 0.5], exact)"
    assert "undecided" in repr(EXACT <= 0.3)
    assert isinstance(EXACT <= 1, Verdict)


def test_a_wide_enclosure_never_prints_as_a_point():
    """Ends that differ by little print alike; ends that differ by much must not."""
    assert str(Bound.exact(0.1, 0.1 + 1e-9)).startswith("[")
    assert str(Bound.exact(0.0, 1e-12)).startswith("[")
