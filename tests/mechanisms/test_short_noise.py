"""Uniform and exponential noise: against integrals by mpmath and the engine."""

import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import borel as bl

uniform, exponential = bl.mechanisms.uniform_noise, bl.mechanisms.exponential_noise
CASES = [(0.0, 1.0, 0.5), (0.0, 1.0, 1.0), (-1.0, 2.0, 7.5), (0.25, 0.5, 0.0625)]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(30):
        yield


def holds(bound, truth):
    slack = mp.mpf("1e-24")  # of the quadrature
    return bound.status == "exact" and bound.lower - slack <= truth <= bound.upper + slack


def of_uniform(c, d, w, y):
    """The marginal, the kernel's supremum and its infimum at an outcome, by the definition."""
    inside = max(mp.mpf(0), min(d, y + w / 2) - max(c, y - w / 2))
    worst = 0 if inside < d - c else 1 / w
    return inside / ((d - c) * w), (1 / w if inside > 0 else 0), worst


def of_exponential(c, d, b, y):
    top = min(max(y, c), d)
    mean = mp.quad(lambda x: mp.exp(-(y - x) / b) / b, [c, top]) / (d - c) if y > c else mp.mpf(0)
    return mean, mp.exp(-(y - top) / b) / b, (mp.exp(-(y - c) / b) / b if y > d else 0)


MAKES = {"uniform": (uniform, of_uniform), "exponential": (exponential, of_exponential)}


@pytest.mark.few(2)
@pytest.mark.cases("slow", "exponential--1.0-2.0-7.5", "exponential-0.25-0.5-0.0625")
@pytest.mark.parametrize(("c", "d", "scale"), CASES)
@pytest.mark.parametrize("name", MAKES)
def test_every_figure_is_an_integral(name, c, d, scale):
    make, kernel = MAKES[name]
    joint = bl.uniform(bl.Interval(c, d)) * make(**{"width" if make is uniform else "b": scale})
    c, d, s = map(mp.mpf, (c, d, scale))
    ends = [c - s / 2, c + s / 2, d - s / 2, d + s / 2]
    reach = sorted({*ends, c, d}) if make is uniform else [c, d, d + s, d + 5 * s, d + 80 * s]
    for y in [c + (d - c) * i / 7 + s / 9 for i in range(8)]:
        at = mp.mpf(float(y))
        mean, top, least = kernel(c, d, s, at)
        if mean == 0:
            continue
        assert holds(bl.pml(joint)(float(y)), mp.log(top / mean))
        pmc = bl.pmc(joint)(float(y))
        assert pmc.lower == math.inf if least == 0 else holds(pmc, mp.log(mean / least))
    total = mp.quad(lambda y: kernel(c, d, s, y)[1], reach)
    assert holds(bl.maximal_leakage(joint), mp.log(total))
    assert holds(bl.pml(joint).exp_mean(), total)
    assert bl.pml(joint).sup().lower == bl.pmc(joint).sup().lower == bl.ldp(joint).lower == math.inf
    assert bl.pml(joint).sup().attained is False and bl.pmc(joint).sup().attained is True
    if make is uniform:

        def part(y):
            mean, top, _ = kernel(c, d, s, y)
            return mean * mp.log(top / mean) if mean > 0 else mp.mpf(0)

        with mp.workdps(20):
            truth = mp.quad(part, reach)
        found = bl.mutual_information(joint)
        assert abs(found.lower - truth) < 1e-10 and found.status == "exact"
        assert bl.pml(joint).mean().upper == found.upper


@pytest.mark.few(1)
@pytest.mark.parametrize("name", MAKES)
def test_closed_forms_against_the_engine(name):
    make = MAKES[name][0]
    joint = bl.uniform(bl.Interval(0, 1)) * make(**{"width" if make is uniform else "b": 0.75})
    with bl.options(closed_forms=False, budget=2):
        fresh = bl.uniform(bl.Interval(0, 1)) * joint.mechanism
        engine = [bl.pml(fresh)(0.25), bl.pml(fresh)(1.125), bl.ldp(fresh), bl.pml(fresh).sup()]
        engine.append(bl.maximal_leakage(fresh))
    closed = [bl.pml(joint)(0.25), bl.pml(joint)(1.125), bl.ldp(joint), bl.pml(joint).sup()]
    closed.append(bl.maximal_leakage(joint))
    for a, b in zip(closed, engine, strict=True):
        assert b.status == "certified" and a.status == "exact"
        assert a.lower <= b.upper and b.lower <= a.upper


@pytest.mark.parametrize(
    ("mech", "law"),
    [
        (uniform(width=0.5), stats.uniform(-0.25, 0.5)),
        (exponential(b=0.75), stats.expon(scale=0.75)),
    ],
)
def test_densities_and_samples(mech, law):
    y, x = np.linspace(-3.03, 3.01, 25)[:, None], np.linspace(-2, 2, 5)[None, :]
    np.testing.assert_allclose(mech.pdf(y, x), law.pdf(y - x), rtol=1e-13)
    assert stats.kstest(mech.sample(np.full(4000, 1.5), rng=3) - 1.5, law.cdf).pvalue > 1e-3
    again = pickle.loads(pickle.dumps(mech))
    assert again.closed_forms == mech.closed_forms
    assert (again.sample([0.0], rng=1) == mech.sample([0.0], rng=1)).all()
    assert str(mech.normalisation).startswith("proved:") and not mech.opaque


def test_other_priors_go_to_the_engine_and_so_do_outcomes_out_of_reach():
    for make in (uniform(width=1.0), exponential(b=1.0)):
        forms = make.closed_forms
        for prior in (bl.beta(alpha=2, beta=5), bl.uniform(bl.Finite([0.0, 1.0])), bl.normal()):
            joint = prior * make
            assert forms.ldp(joint) is None and forms.maximal_leakage(joint) is None
            assert forms.at(joint, "pml", 0.5) is None and forms.mean(joint, "pml") is None
        joint = bl.uniform(bl.Interval(0, 1)) * make
        assert forms.at(joint, "pml", -3.0) is None
        assert bl.pml(joint)(-3.0).upper == 0  # by convention


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, "1", None, True])
def test_bad_scales_are_named(value):
    with pytest.raises(bl.InvalidInput, match="uniform_noise: expected width "):
        uniform(width=value)
    with pytest.raises(bl.InvalidInput, match="exponential_noise: expected b "):
        exponential(b=value)
