"""Suprema against closed forms; spikes, ends, breaks, null sets, divergence."""

import numpy as np
import pytest

from borel.numerics.float64.maximisation import Axis, maximise

UNIT, LINE, HALF = Axis(0, 1), Axis(-np.inf, np.inf), Axis(0, np.inf)


def clayton(i, x, y):
    """Log of the Clayton mixture 0.1 + 0.9 c(x, y) with theta = 1."""
    return np.log(0.1 + 1.8 * (x * y[i]) ** -2.0 * (1 / x + 1 / y[i] - 1) ** -3.0)


def agrees(found, truth, within):
    """Say if the values are close, and the error estimates honest."""
    off = np.abs(found.value - truth)
    return (off <= within).all() and (off <= 10 * found.error + 1e-15).all()


def test_clayton_supremum_is_inside_then_at_the_end():
    y = np.r_[np.geomspace(1e-6, 0.66, 300), np.linspace(0.67, 0.999, 100)]
    found = maximise(lambda i, x: clayton(i, x[0], y), y.size, [UNIT])
    inside = y <= 2 / 3
    truth = np.log(0.1 + np.where(inside, 0.9 * 8 / (27 * y * (1 - y)), 1.8 * y))
    assert agrees(found, truth, 1e-10)
    np.testing.assert_array_equal(found.at_end, ~inside)
    place = np.where(inside, y / (2 * (1 - y)), 1.0)
    np.testing.assert_allclose(found.argument[:, 0], place, rtol=1e-5)
    assert not found.diverges.any() and not found.undefined.any()


@pytest.mark.parametrize("scale", [1e-5, 1e-8])
def test_spikes_are_found(scale):
    c = np.linspace(0.0005, 0.9995, 500)
    tent = maximise(lambda i, x: -np.abs(x[0] - c[i]) / scale, 500, [UNIT])
    assert agrees(tent, 0, 1e-15 / scale)
    bell = maximise(lambda i, x: -(((x[0] - c[i]) / scale) ** 2), 500, [UNIT])
    assert agrees(bell, 0, 1e-8)
    assert not tent.at_end.any() and not bell.at_end.any()


def test_gaussian_noise_far_from_the_secret():
    y = np.linspace(-45, 45, 400)
    top = maximise(lambda i, x: -0.5 * (x[0] - y[i]) ** 2, 400, [Axis(-1, 1)])
    assert agrees(top, -0.5 * np.maximum(np.abs(y) - 1, 0) ** 2, 1e-9)
    np.testing.assert_array_equal(top.at_end, np.abs(y) > 1)
    np.testing.assert_array_equal(top.argument[y > 1, 0], 1.0)
    bottom = maximise(lambda i, x: 0.5 * (x[0] - y[i]) ** 2, 400, [Axis(-1, 1)])
    assert agrees(bottom, 0.5 * (np.abs(y) + 1) ** 2, 1e-9)
    on_line = maximise(lambda i, x: -0.5 * (x[0] - y[i]) ** 2, 400, [LINE])
    assert agrees(on_line, 0, 1e-10) and not on_line.at_end.any()


@pytest.mark.parametrize(
    ("logf", "axis", "limit", "place"),
    [
        (lambda x: np.log1p(-x), UNIT, 0.0, 0.0),
        (lambda x: np.log(x / (1 + x)), HALF, 0.0, np.inf),
        (lambda x: -(x**-0.5), HALF, 0.0, np.inf),
        (lambda x: 1 - np.sqrt(1 - x), UNIT, 1.0, 1.0),
        (lambda x: np.log(x / (x - 1)), Axis(-np.inf, 0), 0.0, -np.inf),
        (lambda x: np.where(x < 0.3, x, -x), Axis(0, 1, (0.3,)), 0.3, 0.3),
        (lambda x: np.where(x > 0.3, -x, -2.0), Axis(0, 1, (0.3,)), -0.3, 0.3),
    ],
)
def test_one_sided_limits(logf, axis, limit, place):
    found = maximise(lambda i, x: logf(x[0]) + 0 * i, 3, [axis])
    assert agrees(found, limit, 1e-9)
    assert found.at_end.all() and not found.diverges.any()
    np.testing.assert_array_equal(found.argument[:, 0], place)


@pytest.mark.parametrize(
    ("logf", "axis"),
    [
        (lambda x: -0.5 * np.log(x), UNIT),
        (lambda x: -0.5 * np.log1p(-x), UNIT),
        (lambda x: np.log(-np.log(x)), UNIT),
        (lambda x: -0.5 * np.log(np.abs(x - 0.3)), Axis(0, 1, (0.3,))),
        (lambda x: np.log(x), HALF),
        (lambda x: 0.5 * x**2, LINE),
    ],
)
def test_divergence_is_flagged(logf, axis):
    found = maximise(lambda i, x: logf(x[0]) + 0 * i, 2, [axis])
    assert found.diverges.all() and found.at_end.all()
    assert np.isposinf(found.value).all() and np.isfinite(found.seen).all()


def test_a_constant_is_attained_inside():
    found = maximise(lambda i, x: np.zeros_like(x[0]) + 2.0, 2, [UNIT])
    assert agrees(found, 2.0, 0) and not found.at_end.any() and not found.diverges.any()


@pytest.mark.parametrize("breaks", [(), (0.5, 1 / 3, 0.25)])
@pytest.mark.parametrize("centre", [1 / 3, 0.5, 0.25, 0.3])
@pytest.mark.parametrize("value", [1e6, np.inf])
def test_null_sets_change_nothing(breaks, centre, value):
    def altered(i, x):
        v = -np.abs(x[0] - centre) / 1e-3 + 0 * i
        for c in (1 / 3, 0.5, 0.25, 0.0, 1.0):
            v = np.where(x[0] == c, value, v)
        return v

    found = maximise(altered, 4, [Axis(0, 1, breaks)])
    np.testing.assert_allclose(found.value, 0, atol=1e-10)
    assert (found.error < 1e-10).all() and not found.diverges.any()


@pytest.mark.parametrize("peak", [0.0, 0.3, 1.0])
def test_ends_and_breaks_are_never_evaluated(peak):
    def logf(i, x):
        assert not np.isin(x[0], [0.0, 0.3, 1.0]).any()
        return -np.abs(x[0] - peak) + 0 * i

    found = maximise(logf, 2, [Axis(0, 1, (0.3,))])
    assert agrees(found, 0, 1e-12) and found.at_end.all()
    np.testing.assert_array_equal(found.argument, [[peak]] * 2)


@pytest.mark.parametrize("height", [0.5, 2.0])
def test_brackets_do_not_cross_breaks(height):
    met = []

    def logf(i, x):
        met.extend(c for c in breaks if (x[0] == c).any())
        near = np.abs(x[0][..., None] - np.array(breaks)).min(axis=-1)
        return -height * near + 0 * i

    breaks = tuple(np.linspace(0.013, 0.987, 41))
    maximise(logf, 1, [Axis(0, 1, breaks)], starts=np.array(breaks).reshape(1, -1, 1))
    assert not met


@pytest.mark.parametrize(
    ("logf", "limit"),
    [
        (lambda x: -1 / np.log(1 / x), 0.0),
        (lambda x: -(x**0.05), 0.0),
        (lambda x: -1 / (1 + np.log(1 / x)) ** 2, 0.0),
    ],
)
def test_slow_limits_are_no_divergence(logf, limit):
    found = maximise(lambda i, x: logf(x[0]) + 0 * i, 1, [Axis(0, 0.5)])
    assert not found.diverges.any()
    assert (np.abs(found.value - limit) <= 10 * found.error).all()


def test_an_empty_batch():
    assert maximise(lambda i, x: x[0], 0, [UNIT]).value.shape == (0,)


def test_infinite_values_need_a_set():
    on_set = maximise(lambda i, x: np.where(x[0] < 0.2, np.inf, 0.0 * i), 2, [UNIT])
    assert np.isposinf(on_set.value).all() and not on_set.diverges.any()
    nowhere = maximise(lambda i, x: np.full(x[0].shape, -np.inf), 2, [UNIT])
    assert np.isneginf(nowhere.value).all() and np.isnan(nowhere.argument).all()


def test_small_supports():
    c = np.linspace(0.1, 0.9, 50)
    found = maximise(lambda i, x: np.where(np.abs(x[0] - c[i]) < 1e-3, -x[0], -np.inf), 50, [UNIT])
    assert agrees(found, 1e-3 - c, 1e-12)
    tiny = Axis(0, 1, (0.4, 0.4 + 1e-9))
    inside = maximise(
        lambda i, x: np.where((x[0] > 0.4) & (x[0] < 0.4 + 1e-9), x[0], -np.inf) + 0 * i, 1, [tiny]
    )
    assert agrees(inside, 0.4 + 1e-9, 1e-12)


def test_starts_lead_to_a_spike_above_a_background():
    c = 0.123456789

    def logf(i, x):
        return np.log(1e-3 + np.exp(-np.abs(x[0] - c) / 1e-9)) + 0 * i

    found = maximise(logf, 1, [UNIT], starts=np.full((1, 1, 1), c))
    assert np.abs(found.value - np.log(1.001)) < 1e-6


def test_nan_is_reported():
    found = maximise(lambda i, x: np.where((x[0] < 0.2) & (i == 1), np.nan, -x[0]), 3, [UNIT])
    np.testing.assert_array_equal(found.undefined, [False, True, False])
    np.testing.assert_allclose(found.value, [0, -0.2, 0], atol=1e-12)


@pytest.mark.cases("slow", "2")
@pytest.mark.cases("truths", "3")
@pytest.mark.parametrize("d", [2, 3])
def test_boxes(d):
    n = 40
    y = np.random.default_rng(d).random((n, d))
    axes = [UNIT] * d
    spike = maximise(lambda i, x: -sum(abs(x[k] - y[i, k]) for k in range(d)) / 1e-4, n, axes)
    assert agrees(spike, 0, 1e-8) and not spike.at_end.any()
    z = 6 * y - 3
    off = (np.clip(z, 0, 1) - z) ** 2
    bell = maximise(lambda i, x: -sum((x[k] - z[i, k]) ** 2 for k in range(d)) / 2, n, axes)
    assert agrees(bell, -off.sum(axis=1) / 2, 1e-8)
    np.testing.assert_array_equal(bell.at_end, (off > 0).any(axis=1))
    ridge = maximise(lambda i, x: -abs(sum(x) - d * y[i, 0]) / 1e-3 + x[0], n, axes)
    assert agrees(ridge, np.minimum(1, d * y[:, 0]), 1e-6)


def test_box_limits_and_corners():
    found = maximise(lambda i, x: np.log(x[0] / (1 + x[0])) + x[1] + 0 * i, 2, [HALF, UNIT])
    assert agrees(found, 1, 1e-6) and found.at_end.all()
    np.testing.assert_array_equal(found.argument, [[np.inf, 1.0]] * 2)
    jump = maximise(
        lambda i, x: np.where(x[0] < 0.3, x[0], -1.0) + x[1] + 0 * i, 2, [Axis(0, 1, (0.3,)), UNIT]
    )
    assert agrees(jump, 1.3, 1e-6)


def test_corner_divergence():
    def joint(i, x):
        return np.log(0.1 + 1.8 * (x[0] * x[1]) ** -2.0 * (1 / x[0] + 1 / x[1] - 1) ** -3.0) + 0 * i

    found = maximise(joint, 1, [UNIT, UNIT])
    assert found.diverges.all()
    np.testing.assert_array_equal(found.argument, [[0.0, 0.0]])


def test_bad_axes_are_refused():
    with pytest.raises(ValueError, match="lower < upper"):
        Axis(1, 1)
    with pytest.raises(ValueError, match="1, 2 or 3 axes"):
        maximise(lambda i, x: x[0], 1, [UNIT] * 4)
