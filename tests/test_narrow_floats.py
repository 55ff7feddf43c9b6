"""Probabilities in float32 and float16, as samplers and compressed files write them.

They miss a sum of 1 by the rounding of their type. What they mean is every normalised row within
that relative rounding; the truths below are Fractions of such rows, and a Bound must hold them all.
"""

from fractions import Fraction as F
from itertools import permutations

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import borel as bl
from borel.models._checks import stochastic
from borel.numerics.intervals.rounding import compounded

KERNEL = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(5, 8), F(1, 4)], [F(3, 8), F(1, 8), F(1, 2)]]
MECHANISM = bl.Mechanism.from_matrix(KERNEL)
NARROW = (np.float32, np.float16)


def normalised_rows(row):
    """Return the row divided by its sum, and rows with as much as possible moved from j to i."""
    unit = F(float(np.finfo(row.dtype).eps)) / 2
    x = [F(float(v)) for v in row]
    total = sum(x)
    unit = max(unit, abs(1 / total - 1))
    base = [v / total for v in x]
    found = [base]
    for i, j in permutations(range(len(x)), 2):
        moved = list(base)
        most = min(x[i] * (1 + unit) - base[i], base[j] - x[j] * (1 - unit))
        moved[i], moved[j] = base[i] + most, base[j] - most
        found.append(moved)
    for law in found:  # the oracle itself: laws within the rounding, zeros kept
        assert sum(law) == 1
        assert all(abs(a - b) <= unit * b for a, b in zip(law, x, strict=True))
    return found


def leakages(p, kernel):
    """Return e^leakage, the largest over outcomes, of PML and of PMC."""
    rows = [row for row, mass in zip(kernel, p, strict=True) if mass]
    law = [sum(a * row[y] for a, row in zip(p, kernel, strict=True)) for y in range(len(kernel[0]))]
    columns = [[row[y] for row in rows] for y in range(len(law))]
    pml = max(max(c) / q for c, q in zip(columns, law, strict=True))
    pmc = max(q / min(c) for c, q in zip(columns, law, strict=True))
    return pml, pmc


def assert_holds(bound, ratio):
    assert bound.status == "exact"
    assert F(bound.ratio.lower) <= ratio <= F(bound.ratio.upper)
    with mp.workdps(40):
        truth = mp.log(ratio.numerator) - mp.log(ratio.denominator)
        assert mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


ROWS = [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [1 / 3, 1 / 3, 1 / 3], [0.9, 0.1, 0.0]]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("row", ROWS)
def test_a_prior_of_narrow_floats_means_every_law_within_their_rounding(row, dtype):
    row = np.array(row, dtype)
    joint = bl.pmf(row) * MECHANISM
    for p in normalised_rows(row):
        pml, pmc = leakages(p, KERNEL)
        assert_holds(bl.pml(joint).sup(), pml)
        assert_holds(bl.pmc(joint).sup(), pmc)
    width = bl.pml(joint).sup().width
    assert width <= 8 * float(np.finfo(dtype).eps)  # and no more than that


@pytest.mark.parametrize("dtype", NARROW)
def test_a_matrix_of_narrow_floats_means_every_kernel_within_their_rounding(dtype):
    matrix = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], dtype)
    prior = np.array([0.2, 0.3, 0.5], dtype)
    joint = bl.pmf(prior) * bl.Mechanism.from_matrix(matrix)
    several = [normalised_rows(row) for row in matrix]
    for p in normalised_rows(prior):
        for kernel in zip(*several, strict=True):
            pml, pmc = leakages(p, kernel)
            assert_holds(bl.pml(joint).sup(), pml)
            assert_holds(bl.pmc(joint).sup(), pmc)


@pytest.mark.parametrize("kind", ["ndarray", "list", "Series", "Float32", "DataArray", "Measure"])
def test_the_rounding_is_read_from_every_container(kind):
    row = np.array([0.7, 0.2, 0.1], np.float32)  # sums to 1 - 7.5e-9
    given = {
        "ndarray": lambda: row,
        "list": lambda: list(row),
        "Series": lambda: pd.Series(row),
        "Float32": lambda: pd.Series(row, dtype="Float32"),
        "DataArray": lambda: xr.DataArray(row, dims="x"),
        "Measure": lambda: row,
    }[kind]()
    measure = bl.Measure(given, on=bl.Finite(3)) if kind == "Measure" else bl.pmf(given)
    assert measure.rounding == 2.0**-24
    assert measure.probabilities.tolist() == row.astype(float).tolist()  # as they stand


def test_draws_of_a_sampler_in_float32():
    p = np.random.default_rng(3).dirichlet([3, 2, 1], size=(2, 30)).astype(np.float32)
    p[0, 0] = p[0, 0] / np.float32(p[0, 0].sum())
    p[1, 1] = [0.9, 0.1, 0.0]
    data = xr.Dataset({"p": (("chain", "draw", "x"), p)}, attrs={"borel_draws": "exact"})
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    for place, measure in enumerate((bl.pml, bl.pmc)):
        draws = measure(learnt * MECHANISM).sup().draws
        for chain, draw in np.ndindex(2, 30):
            at = {"chain": chain, "draw": draw}
            low, high = (float(draws[end].isel(at)) for end in ("lower", "upper"))
            for law in normalised_rows(p[chain, draw]):
                ratio = leakages(law, KERNEL)[place]
                with mp.workdps(40):
                    truth = mp.log(ratio.numerator) - mp.log(ratio.denominator)
                    assert mp.mpf(low) <= truth <= mp.mpf(high)
            assert high - low < 2e-6


@pytest.mark.parametrize("dtype", NARROW)
def test_what_is_made_of_narrow_floats_carries_their_rounding(dtype):
    row, other = np.array([0.7, 0.2, 0.1], dtype), np.array([0.1, 0.3, 0.6], dtype)
    p, q = bl.pmf(row), bl.pmf(other)

    def inside(law, measure):
        r = F(measure.rounding)
        return all(
            abs(a - F(float(b))) <= r * F(float(b))
            for a, b in zip(law, measure.probabilities, strict=True)
        )

    weights = np.array([0.3, 0.7], dtype)
    for a in normalised_rows(row):
        for b in normalised_rows(other):
            assert inside([u * v for u in a for v in b], p * q)
            for w in normalised_rows(weights):
                mixed = [w[0] * u + w[1] * v for u, v in zip(a, b, strict=True)]
                assert inside(mixed, bl.mixture([p, q], weights=weights))
        law = [sum(u * k[y] for u, k in zip(a, KERNEL, strict=True)) for y in range(3)]
        assert inside(law, MECHANISM @ p)
        assert inside(
            [u * k[0] / law[0] for u, k in zip(a, KERNEL, strict=True)],
            (p * MECHANISM).posterior(0),
        )
        assert inside(
            [a[0] / (a[0] + a[1]), a[1] / (a[0] + a[1]), F(0)], p.restrict(lambda x: x < 2)
        )


def test_fewer_than_all_digits_of_a_type_are_refused_with_the_remedy():
    # below its normal range float32 holds no digits: 1e-44 may be 7 % off
    with pytest.raises(bl.InvalidInput, match=r"float32 holds to some digits.*np.asarray"):
        bl.pmf(np.array([1e-44, 1], np.float32))
    # float64 holds the same numbers; they are then meant as they stand
    assert bl.pmf(np.array([1e-44, 1], np.float32).astype(float)).rounding < 1e-15


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_remedy_of_the_error_mends_it(dtype):
    given = np.array([0.3, 0.3, 0.2], dtype)
    with pytest.raises(bl.InvalidInput) as error:
        bl.pmf(given)
    remedy = str(error.value).split("yourself, ")[1].split("; nothing")[0]
    assignment, value = remedy.split("; ")
    names = {"np": np, "p": given}
    exec(assignment, names)
    found = bl.pmf(eval(value, names)).probabilities
    assert found == pytest.approx([0.375, 0.375, 0.25], rel=1e-3)
    assert bl.pmf(given / given.sum()).probabilities == pytest.approx(found, rel=2e-3)
    with pytest.raises(bl.InvalidInput, match=r"np.asarray"):
        bl.Mechanism.from_matrix([given, given])
    bl.Mechanism.from_matrix(eval(value, {"np": np, "p": np.asarray([given, given], float)}))


def test_a_sum_beyond_float64_is_refused():
    with pytest.raises(bl.InvalidInput, match="sum to 1"):
        bl.pmf([1.7e308, 1.7e308, 0.0])
    with pytest.raises(bl.InvalidInput, match="sum to 1"):
        bl.pmf([[1.7e308, 1.7e308]])
    with pytest.raises(bl.InvalidInput, match="sum to 1"):
        bl.Mechanism.from_matrix([[1.7e308, 1.7e308]])


def test_a_kernel_of_the_shelf_of_models_may_be_float32():
    rows = np.array([[0.7, 0.3], [0.1, 0.9]], np.float32)
    assert (stochastic(rows, "kernel")[0] == rows.astype(float)).all()
    with pytest.raises(ValueError, match="must sum to 1"):
        stochastic(rows.astype(float), "kernel")


def test_relative_errors_compound():
    rng = np.random.default_rng(0)
    for size in 1e-16, 1e-7, 1e-3, 0.1:
        errors = [float(e) for e in rng.uniform(0, size, 4)]
        e = F(compounded(*errors))
        above, below = F(1), F(1)
        for each in map(F, errors):
            above, below = above / (1 - each), below * (1 - each)
        assert above - 1 <= e and 1 - below <= e
        assert e <= sum(map(F, errors)) * (1 + 4 * F(max(size * 4, 1e-15)))
