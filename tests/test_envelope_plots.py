"""Plots of envelopes: what is drawn is what was computed, on its side of the truth."""

from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel.audits.plots.envelope_curves import LEVELS, envelope_curve, spread
from borel.audits.plots.envelope_plots import draw_envelope
from borel.figures.leakage_plots import blank_axes

HALF = F(1, 2)
SEVEN = [
    [F(0), F(0), HALF, HALF],
    [F(0), F(0), HALF, HALF],
    [F(0), F(1, 5), F(2, 5), F(2, 5)],
    [F(1, 5), F(0), F(2, 5), F(2, 5)],
]
EXAMPLE_2 = bl.pmf([F(1, 4)] * 4) * bl.Mechanism.from_matrix(SEVEN)
PANEL_B = bl.pmf([F(1, 10), F(1, 10), F(1, 5), F(3, 10), F(3, 10)]) * (
    bl.mechanisms.randomized_response(k=5, epsilon=1.0)
)
DELTAS = [F(1, 10), F(1, 5), F(2, 5), F(4, 5)]


@pytest.fixture
def ax():
    return blank_axes()


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def test_the_curves_are_the_librarys():
    found = envelope_curve(PANEL_B, DELTAS)
    profile = bl.privacy_profile(PANEL_B.mechanism)
    for d in DELTAS:
        at = found.sel(delta=float(d))
        assert at.lower.sel(curve="envelope") == bl.envelope(PANEL_B)(d).lower
        assert at.upper.sel(curve="envelope") == bl.envelope(PANEL_B)(d).upper
        assert at.lower.sel(curve="binary") == bl.binary_envelope(PANEL_B)(d).lower
        assert at.upper.sel(curve="theorem_3") == bl.envelope_bounds.upper_bound(PANEL_B, d).upper
        low, high = (float(at[e].sel(curve="ldp")) for e in ("lower", "upper"))
        truth = profile.epsilon(d)
        assert low <= truth.lower and truth.upper <= high and high - low < 3e-5
        for weaker in ("quantile", "binary", "theorem_5_lower"):
            assert not at.lower.sel(curve=weaker) > at.upper.sel(curve="envelope")
        for stronger in ("theorem_3", "theorem_5_upper"):
            assert at.upper.sel(curve=stronger) >= at.lower.sel(curve="envelope")
    assert found.attrs["status"] == "certified" and "left_out" not in found.attrs


def test_a_profile_to_a_width_is_no_longer_exact():
    profile = bl.privacy_profile(bl.mechanisms.randomized_response(k=3, ratio=2))
    fine, coarse = profile.epsilon(F(1, 10)), profile.epsilon(F(1, 10), tol=0.01)
    assert fine.status == "exact" and fine.width < 1e-15
    assert coarse.status == "certified"
    assert 1e-3 < coarse.width <= 0.02
    assert coarse.lower <= fine.lower and fine.upper <= coarse.upper


def test_the_line_of_example_2(ax):
    """e^envelope is 4 up to 1/10, then 22/9 and 5/3 (the notes); LDP has no epsilon below."""
    bl.plot_envelope(EXAMPLE_2, [F(1, 10), F(1, 5), F(2, 5)], ax=ax)
    drawn = lines(ax)
    assert ax.get_title(loc="left") == "Envelope of PML (exact)"
    np.testing.assert_allclose(
        drawn["envelope"].get_ydata(), np.log([4, 22 / 9, 5 / 3]), rtol=1e-14
    )
    profile = drawn["(epsilon, delta)-LDP"].get_ydata()
    assert np.isnan(profile[0]) and profile[2] == 0
    assert np.isfinite(ax.get_ylim()).all() and ax.get_ylim()[1] < 2
    assert ax.get_xlabel() == "delta" and ax.get_ylabel() == "epsilon (nats)"


def test_lines_of_bounds_are_at_the_safe_ends(ax):
    curve = envelope_curve(PANEL_B, DELTAS)
    wide = curve.copy(deep=True)
    wide["lower"] -= 0.05
    wide["upper"] += 0.05
    draw_envelope(wide, ax)
    drawn = lines(ax)
    for label, name, end in (
        ("lower bound: one bit (exact)", "binary", "lower"),
        ("lower bound: Theorem 5 (exact)", "theorem_5_lower", "lower"),
        ("upper bound: Theorem 5 (exact)", "theorem_5_upper", "upper"),
        ("(epsilon, delta)-LDP", "ldp", "upper"),  # certified, as the envelope
    ):
        np.testing.assert_array_equal(drawn[label].get_ydata(), wide[end].sel(curve=name))
    assert "upper bound: Theorem 3 (exact)" not in drawn  # the same curve as Theorem 5's
    middle = curve.sel(curve="envelope")
    np.testing.assert_allclose(
        drawn["envelope"].get_ydata(), (middle.lower + middle.upper) / 2, rtol=1e-12
    )
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() >= float(wide.upper.sel(curve="envelope").max())
    assert band[:, 1].min() <= float(wide.lower.sel(curve="envelope").min())


def test_what_is_asked_for_is_what_is_drawn(ax):
    bl.plot_envelope(EXAMPLE_2, DELTAS, bounds=False, ldp_curve=False, ax=ax)
    assert list(lines(ax)) == ["envelope"] and ax.get_legend() is None
    only = envelope_curve(EXAMPLE_2, DELTAS, bounds=False)
    assert only.curve.values.tolist() == ["envelope", "ldp"]


def test_an_infinite_envelope_is_an_arrow(ax):
    bl.plot_envelope(EXAMPLE_2, of="pmc", ldp_curve=False, ax=ax)
    assert ax.get_title(loc="left") == "Envelope of PMC (exact)"
    (arrows,) = [line for line in ax.lines if line.get_marker() == "^"]
    assert arrows.get_xdata().tolist() == [0.02]  # infinite up to 1/10: one arrow for five levels
    assert [t.get_text() for t in ax.texts] == ["inf"]
    assert np.isfinite(ax.get_ylim()).all()


def test_a_theorem_is_drawn_where_it_applies(ax):
    """This prior violates the condition of Theorem 5(iii) for N = 3."""
    joint = bl.pmf([F(1, 100), F(1, 100), F(98, 100)]) * (
        bl.mechanisms.randomized_response(k=3, ratio=20)
    )
    curve = envelope_curve(joint, [F(1, 100), HALF])
    one = curve.sel(curve="theorem_5_lower")
    assert one.status.values.tolist()[0] == "exact" and "none" in one.status.values
    draw_envelope(curve, ax)
    drawn = lines(ax)["lower bound: Theorem 5"].get_ydata()
    assert np.isnan(drawn).tolist() == [False, True]


def test_a_secret_of_probability_0_has_no_theorem_5():
    joint = bl.pmf([HALF, HALF, F(0)]) * bl.mechanisms.randomized_response(k=3, ratio=2)
    names = envelope_curve(joint, [HALF]).curve.values
    assert "theorem_5_lower" not in names and "theorem_3" in names
    table = bl.envelope_bounds.envelope_table(joint, [HALF])
    assert table.bound.values.tolist() == ["quantile", "binary", "theorem_3"]


@pytest.mark.slow
def test_infinite_outcomes_leave_the_slow_bound_out():
    two = bl.Finite([0, 1])
    joint = bl.pmf([0.5, 0.5], on=two) * bl.mechanisms.laplace(b=1.0, secret=two)
    found = envelope_curve(joint, [F(1, 4)], ldp_curve=False)
    assert "binary" not in found.curve.values and "binary" in found.attrs["left_out"]
    envelope = found.sel(curve="envelope", delta=0.25)
    # up to delta = 1/2 both tails leak the most that an outcome does: 2 / (1 + 1/e)
    truth = np.log(2 / (1 + np.exp(-1)))
    assert envelope.lower <= truth + 1e-12 and truth - 1e-12 <= envelope.upper


def test_the_budget_stops_the_default_levels_only():
    with bl.options(budget=1e-6):
        assert envelope_curve(EXAMPLE_2, bounds=False).delta.values.tolist() == [0.02, 0.5, 0.98]
        given = envelope_curve(EXAMPLE_2, LEVELS[:7], bounds=False, ldp_curve=False)
    assert given.sizes["delta"] == 7


def test_levels_are_spread():
    for n in range(1, 60):
        levels = list(range(n))
        assert sorted(spread(levels)) == levels


@pytest.mark.parametrize("delta", [0, 1, -0.1, "x"])
def test_a_delta_that_is_not_one(delta):
    with pytest.raises(bl.InvalidInput, match="delta"):
        bl.plot_envelope(EXAMPLE_2, [delta])


def test_what_cannot_be_plotted():
    with pytest.raises(bl.InvalidInput, match="some deltas"):
        bl.plot_envelope(EXAMPLE_2, [])
    with pytest.raises(bl.InvalidInput, match="of="):
        bl.plot_envelope(EXAMPLE_2, DELTAS, of="ldp")
    with pytest.raises(bl.InvalidInput):
        bl.plot_envelope(EXAMPLE_2.mechanism)
    opaque = bl.Mechanism(
        np.vectorize(lambda y, x: 1.0), secret=bl.Finite([0.0, 1.0]), outcome=bl.Interval(0, 1)
    )
    with pytest.raises(bl.NotYet):
        bl.plot_envelope(bl.pmf([0.5, 0.5], on=opaque.secret) * opaque)
    data = bl.models.dirichlet_posterior([30, 70], draws=100, random_seed=1)
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    with pytest.raises(bl.NotYet, match="posteriors"):
        bl.plot_envelope(learnt * bl.mechanisms.randomized_response(k=2, ratio=2))


@pytest.mark.truths
def test_a_countable_secret_without_a_bound_is_drawn():
    counts = bl.Mechanism(
        lambda y, x: 0.6 * 0.25 ** abs(y - x), secret=bl.Integers(0, None), outcome=bl.Integers()
    )
    with bl.options(budget=1):
        ax = bl.plot_envelope(bl.poisson(mu=2.0) * counts, [0.5], bounds=False)
    assert np.isfinite(ax.get_ylim()).all()
