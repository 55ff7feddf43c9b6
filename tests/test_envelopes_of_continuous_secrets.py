"""The envelope of a continuous secret: bins from below, the supremum and Theorem 3 from above."""

from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate

import borel as bl
from borel.engine import engine_for
from borel.engine.envelopes.binned import BinnedEnvelope
from borel.engine.envelopes.figures import nats, ratio_of

UNIT = bl.Interval(0, 1)


@pytest.fixture(autouse=True)
def quick():
    with bl.options(budget=5):
        yield


def laplace():
    return bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0, secret=UNIT)


def test_the_masses_of_the_bins_hold_integrals_by_quadrature():
    bins = BinnedEnvelope(engine_for(laplace()), "pml")
    cells = bins._cells([*bins.low.tolist(), float(bins.high[-1])])
    rng = np.random.default_rng(0)
    for _ in range(12):
        i, j = int(rng.integers(len(bins.low))), int(rng.integers(len(cells) - 1))
        a, b = bins.low[i], bins.high[i]
        inside = [c for c in (a, b) if cells[j] < c < cells[j + 1]]

        def of_secret(x, j=j, inside=tuple(inside)):
            spots = [s for s in (x, *inside) if cells[j] < s < cells[j + 1]]
            found = integrate.quad(
                lambda y: np.exp(-abs(y - x)) / 2, cells[j], cells[j + 1], points=spots or None
            )
            return found[0]

        truth = integrate.quad(of_secret, a, b)[0] / (b - a)
        assert bins.kernel[0][i, j] <= truth + 1e-12 and truth - 1e-12 <= bins.kernel[1][i, j]
        assert bins.kernel[1][i, j] - bins.kernel[0][i, j] <= 1e-3


def test_bins_prove_a_lower_end_that_a_finite_envelope_agrees_with():
    """The same bins and cells as a finite joint in floats: its envelope is the lower end."""
    joint = laplace()
    bins = BinnedEnvelope(engine_for(joint), "pml")
    kernel = (bins.kernel[0] + bins.kernel[1]) / 2
    rest = 1 - kernel.sum(axis=1, keepdims=True)
    matrix = np.hstack([kernel, rest])
    matrix /= matrix.sum(axis=1, keepdims=True)
    weights = (bins.prior[0] + bins.prior[1]) / 2
    finite = bl.pmf(weights / weights.sum()) * bl.Mechanism.from_matrix(matrix)
    env = bl.envelope(joint)
    for delta in (F(1, 10), F(1, 2)):
        found, other = env(delta), bl.envelope(finite)(delta)
        assert found.status in ("certified", "conditional")
        by_bins = nats(ratio_of(1, bins._programme().level(delta, 1e-9).lower), 0)
        assert by_bins <= other.upper
        assert by_bins >= other.lower - 5e-3  # what the widths of the masses cost
        assert found.lower >= by_bins  # the law of the leakage may show more
        truth = bl.pml(joint).sup()  # a closed form
        assert truth.upper <= found.upper <= truth.upper + 1e-6


@pytest.mark.truths
def test_the_envelope_falls_and_stays_between_its_bounds():
    env = bl.envelope(laplace())
    found = [env(F(k, 10)) for k in (1, 4, 7, 10)]
    lows = [b.lower for b in found]
    assert lows == sorted(lows, reverse=True)
    assert all(b.upper <= env(0).upper + 1e-6 for b in found)
    assert env.delta(0.2).upper == 1.0 and env.delta(0.5).upper == 0.0


@pytest.mark.truths
def test_where_the_supremum_is_infinite_nothing_bounds_it():
    joint = bl.normal() * bl.mechanisms.gaussian(sigma=1.0)
    found = bl.envelope(joint)(F(1, 10))
    assert found.status == "undecided" and found.lower > 0


@pytest.mark.truths
def test_outcomes_beyond_the_cells_are_not_all_of_them():
    """Most of Y lies far out and tells nothing: the lower end must keep to Theorem 3."""
    near = lambda y, x: np.exp(-8 * (y - x) ** 2) * 2 / np.sqrt(np.pi / 2)  # noqa: E731
    far = lambda y: np.exp(-((y - 60) ** 2) / 2) / np.sqrt(2 * np.pi)  # noqa: E731
    secret = bl.Interval(-1, 1)
    mech = bl.Mechanism(
        lambda y, x: 0.05 * near(y, x) + 0.95 * far(y), secret=secret, outcome=bl.Reals()
    )
    env = bl.envelope(bl.uniform(secret) * mech)
    # sup_x of the near part is its mode on (-1, 1), and falls off beyond: E e^PML by hand
    mean = 0.95 + 0.05 * (2 * 2 / np.sqrt(np.pi / 2) + 1)
    for delta in (F(9, 10), F(99, 100)):
        assert env(delta).lower <= np.log(mean / float(delta))


@pytest.mark.cases("truths", "pml-0.5")
@pytest.mark.parametrize("delta", [F(1, 100), F(1, 5), 0.5, F(63, 100)])
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_a_supremum_that_many_outcomes_have_is_the_envelope(of, delta):
    """Uniform secret, Laplace noise: outcomes beyond the secrets, of mass 1 - 1/e."""
    joint = bl.uniform(bl.Interval(0, 1)) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Interval(0, 1), outcome=bl.Reals()
    )
    truth = -mp.log(1 - mp.exp(-1)) if of == "pml" else mp.log(mp.e - 1)
    found = bl.envelope(joint, of=of)(delta)
    assert found.lower <= truth <= found.upper and found.width < 1e-8
    assert found.status == "certified"
    with pytest.raises(bl.NotYet, match=r"a rule for pm[lc]\.envelope"):
        found.certify()
    mass = bl.envelope(joint, of=of).delta(float(truth) - 1e-6)
    assert mass.lower <= 1 and mass.lower > 1 - mp.exp(-1) - mp.mpf(10) ** -6


@pytest.mark.truths
@pytest.mark.parametrize("of", ["pml", "pmc"])
def test_the_law_of_the_leakage_is_below_the_envelope(of):
    joint = bl.beta(alpha=2, beta=5) * bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
        secret=bl.Interval(0, 1),
        outcome=bl.Reals(),
    )
    envelope, leakage = bl.envelope(joint, of=of), getattr(bl, of)(joint)
    with bl.options(budget=10):
        for delta in (F(1, 20), F(1, 2), F(9, 10)):
            assert envelope(delta).upper >= leakage.quantile(1 - delta).lower
            assert envelope(delta).lower >= leakage.quantile(1 - delta).lower - 1e-7
        for t in (0.25, 0.5):
            assert envelope.delta(t).lower >= leakage.tail(t, closed=True).lower - 1e-7
        whole = envelope(1)  # the least leakage of an outcome is one that all of them have
        assert whole.lower <= whole.upper
