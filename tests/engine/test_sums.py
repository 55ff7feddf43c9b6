"""Noise on a weighted sum of secrets: figures against the truth."""

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from engine.sum_truths import (
    INF,
    LINE,
    NORMALS,
    UNIT,
    Sum,
    density_of,
    gauss,
    gauss_on,
    holds,
    joint,
    laplace,
    laplace_on,
    of_normals,
)
from flint import fmpq_poly
from mpmath import mpf

import borel as bl
from borel.engine import engine_for
from borel.engine.continuous.outcome_engine import CertifiedOutcomes
from borel.engine.problem.reduced_joint import on_a_line

pytestmark = pytest.mark.usefixtures("digits")


@pytest.mark.truths
def test_laws_under_betas():
    """Gaussian noise on a mean of two Beta(2, 2) secrets: PML at outcomes, and its median."""
    prior = bl.beta(alpha=2, beta=2) * bl.beta(alpha=2, beta=2)
    case = joint(gauss, [0.5, 0.5], prior=prior)
    parts = [(bl.beta(alpha=2, beta=2), F(1, 2))] * 2

    def f_y(y):
        with mpmath.workdps(15):
            return mpmath.quad(
                lambda v: density_of(parts, v) * mpmath.npdf(y - v), [0, mpf(1) / 2, 1], maxdegree=4
            )

    for y in (0.25, 2.0):
        bound = bl.pml(case)(y)
        truth = mpmath.log(mpmath.npdf(max(y - 1, 0)) / f_y(y))
        assert bound.status == "certified" and bound.width <= 1e-8
        assert bound.lower - 1e-9 <= truth <= bound.upper + 1e-9
    tail = bl.pml(case).tail(0.25)
    assert tail.status == "certified" and tail.width <= 1e-8


def test_a_density_of_the_user_is_as_good_as_its_normalisation():
    prior = bl.Measure(lambda x: 1.0 + 0 * x[0] * x[1], on=UNIT**2)
    bound = bl.pml(joint(laplace, [0.5, 0.5], prior=prior))(0.25)
    assert bound.status == "conditional" and "prior normalised" in str(bound.assumptions)


@pytest.mark.few(1)
@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.25, 0.5, 0.25], [2.0, -1.0]], ids=str)
@pytest.mark.parametrize("noise, on", [(laplace, laplace_on), (gauss, gauss_on)])
def test_leakages_at_outcomes(noise, on, weights):
    start = sum(min(w, 0) for w in weights)
    truth, case = on(Sum([abs(w) for w in weights], start)), joint(noise, weights)
    for y in (-2.0, float(truth.low), 0.125, 0.7, 3.0):
        holds(bl.pml(case)(y), truth.pml(mpf(y)))
        holds(bl.pmc(case)(y), truth.pmc(mpf(y)))


@pytest.mark.truths
@pytest.mark.parametrize("count", [2, 3, 5])
def test_suprema_of_laplace_noise(count):
    weights = [1 / 4] * count
    case = joint(laplace, weights)
    each = 4 * (1 - mpmath.exp(-mpf(1) / 4))  # E e^-x of each coordinate
    top = -count * mpmath.log(each)
    pml, pmc = bl.pml(case).sup(), bl.pmc(case).sup()
    holds(pml, top)
    holds(pmc, mpf(count) / 4 - top)
    holds(bl.pml(case).exp_mean(), 1 + mpf(count) / 8)  # the integral of sup_x f(y|x)


@pytest.mark.truths
@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize(
    "noise, on, t",
    [(laplace, laplace_on, 0.25), (gauss, gauss_on, 0.375)],
    ids=["laplace", "gauss"],
)
def test_laws(noise, on, t, kind):
    truth, case = on(Sum([mpf(1) / 2] * 2)), joint(noise, [0.5, 0.5])
    if (noise, kind) == (laplace, "pmc"):
        t = 0.5  # it is between log (f_Y(1/2) / e^-1/2) and 0.52 everywhere
    leakage, figures = getattr(truth, kind), getattr(bl, kind)(case)
    y = mpmath.findroot(lambda y: leakage(y) - t, (mpf("0.6"), mpf(1)), solver="anderson")
    tail = figures.tail(t)
    holds(tail, truth.beyond(y))
    holds(figures.quantile(1 - F(float(truth.beyond(y)))), mpf(t), 1e-7)


@pytest.mark.truths
def test_means():
    law = Sum([mpf(1) / 2] * 2)
    for noise, on, far in ((laplace, laplace_on, (4, 16, 80)), (gauss, gauss_on, (2, 4, 8, 14))):
        truth, case = on(law), joint(noise, [0.5, 0.5])
        with mpmath.workdps(18):
            for kind in ("pml", "pmc"):
                want = truth.mean(getattr(truth, kind), *far)
                bound = getattr(bl, kind)(case).mean()
                assert bound.lower - 1e-13 <= want <= bound.upper + 1e-13  # what is beyond
                assert bound.upper - bound.lower <= 1e-7


def test_infinities_have_rays():
    case = joint(gauss, [0.5, 0.25, 0.25])
    for kind in ("pml", "pmc"):
        bound = getattr(bl, kind)(case).sup()
        assert bound.lower == INF and bound.status == "certified"


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(6))
def test_sums_agree_with_all_coordinates(seed):
    """Compare with the engine that keeps all coordinates, on random sums and boxes."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 4))
    ends = np.sort(rng.uniform(-2, 2, (count, 2)), axis=1)
    weights = rng.uniform(-1, 1, count)
    noise = [gauss, laplace][seed % 2]
    if noise is laplace:  # a kink across a box takes long
        ends = np.round(ends * 4) / 4 + [0, 0.5]
        weights = np.round(weights * 4) / 4 + 0.5
    case = joint(noise, weights.tolist(), [bl.Interval(*e) for e in ends.tolist()])
    assert on_a_line(case) is not None
    whole = CertifiedOutcomes(case, reduced=False)
    line = CertifiedOutcomes(case)
    assert whole.secret.dim == count and line.secret.dim == 1
    reach = np.abs(weights) @ np.abs(ends).max(axis=1)
    ys = np.array([-reach - 1.0, reach + 2.0])  # no kink is there
    if noise is gauss:
        ys = np.append(ys, rng.uniform(-1, 1, 2))
    for kind in ("pml", "pmc"):
        (low, high), _ = whole.enclosed(kind, ys)
        (least, most), _ = line.enclosed(kind, ys)
        assert (least <= high).all() and (low <= most).all()
        assert (most - least).max() <= 1e-8


@pytest.mark.truths
def test_atoms_of_the_outcome_depend_on_the_sum():
    on = bl.Mixed(UNIT, atoms=[0.0, 1.0])

    def mass(x):
        return np.exp(-(x[0] + x[1]) / 2) / 2

    def other(x):
        return np.exp(-1 + (x[0] + x[1]) / 2) / 2

    mech = bl.Mechanism(
        lambda y, x: laplace(y, (x[0] + x[1]) / 2),
        secret=UNIT**2,
        outcome=on,
        masses={0.0: mass, 1.0: other},
    )
    case = bl.uniform(UNIT**2) * mech
    truth = laplace_on(Sum([mpf(1) / 2] * 2))
    assert engine_for(case).secret.dim == 1
    # clipping: what is beyond an end has the leakage that is there
    for y in (0.0, 0.25, 1.0):
        bound = bl.pml(case)(y)
        assert bound.lower <= truth.pml(mpf(y)) <= bound.upper <= bound.lower + 1e-8
    bound = bl.pml(case).sup()
    assert bound.lower <= truth.pml(mpf(0)) <= bound.upper


def test_the_information_density_is_of_all_secrets():
    case = joint(gauss, [0.5, 0.25])
    truth = gauss_on(Sum([mpf(1) / 2, mpf(1) / 4]))
    x, y = (np.array([0.1, 0.9]), np.array([0.3, 0.2])), np.array([0.4, -1.0])
    found = engine_for(case).information_density_at(x, y)
    for k in range(2):
        v = mpf(x[0][k]) / 2 + mpf(x[1][k]) / 4
        want = mpmath.log(mpmath.npdf(mpf(y[k]) - v) / truth.f_y(mpf(y[k])))
        assert found.lower[k] <= want <= found.upper[k]
        assert found.upper[k] - found.lower[k] < 1e-8


def test_the_posterior_is_of_all_secrets():
    posterior = joint(gauss, [0.5, 0.25]).posterior(0.25)
    assert posterior.on == UNIT**2


@pytest.mark.truths
def test_gaussian_noise_on_normal_secrets():
    """PML(y) is log(1 + v) / 2 + (y - m)^2 / 2 (1 + v): its law is that of chi-square."""
    prior, variance = NORMALS["one by one"]
    case, m = of_normals(prior), mpf(1) / 4
    v = 1 + mpf(variance.numerator) / variance.denominator
    for y in (-3.0, 0.25, 1.0):
        holds(bl.pml(case)(y), mpmath.log(v) / 2 + (y - m) ** 2 / (2 * v))
    for kind in ("pml", "pmc"):
        bound = getattr(bl, kind)(case).sup()
        assert bound.lower == INF and bound.status == "certified"
    tail = bl.pml(case).tail(1.0)
    z = mpmath.sqrt(2 * (1 - mpmath.log(v) / 2))
    holds(tail, 2 * mpmath.ncdf(-z))
    half = mpmath.findroot(lambda z: mpmath.ncdf(z) - mpf(3) / 4, 0.7)
    holds(bl.pml(case).quantile(0.5), mpmath.log(v) / 2 + half**2 / 2)
    with bl.options(tol=1e-6):
        holds(bl.pml(case).mean(), mpmath.log(v) / 2 + mpf(1) / 2, 1e-6)


def test_secrets_that_are_normal_together():
    prior, variance = NORMALS["together"]
    v = 1 + mpf(variance.numerator) / variance.denominator
    bound = bl.pml(of_normals(prior))(1.0)
    assert bound.status == "conditional" and "prior normalised" in str(bound.assumptions)
    assert bound.lower <= mpmath.log(v) / 2 + mpf("0.75") ** 2 / (2 * v) <= bound.upper
    assert bound.width <= 1e-8


def test_laplace_noise_on_normal_secrets():
    prior, variance = NORMALS["one by one"]
    case, m = of_normals(prior, laplace), mpf(1) / 4
    s = mpmath.sqrt(mpf(variance.numerator) / variance.denominator)
    for y in (0.25, 2.0):
        f_y = mpmath.quad(
            lambda u, y=y: mpmath.npdf(u, m, s) * mpmath.exp(-abs(y - u)) / 2, [-12, m, y, 14]
        )
        holds(bl.pml(case)(y), mpmath.log(mpf(1) / 2 / f_y))


MUTATIONS = {
    "a start forgotten": ("sum_density._line", lambda value: fmpq_poly([0, 1])),
    "one convolution": ("sum_density._convolved", lambda pieces, other: pieces),
    "a wrong scale": ("sum_density._integral", lambda piece: 2),
    "a term forgotten": (
        "sum_density._polynomial",
        lambda made, base, terms: made.number(F(int(terms[0].p), int(terms[0].q))),
    ),
    "weights without their size": ("linear_forms._times", lambda form, number: form),
}


@pytest.mark.cases("slow", "a start forgotten")
@pytest.mark.parametrize("where, wrong", MUTATIONS.values(), ids=MUTATIONS)
def test_a_broken_reduction_is_caught(where, wrong, monkeypatch):
    monkeypatch.setattr(f"borel.numerics.reduction.{where}", wrong)
    truth, case = laplace_on(Sum([mpf(1) / 2] * 3)), joint(laplace, [0.5, 0.5, 0.5])
    with pytest.raises((AssertionError, ValueError, TypeError, bl.errors.BorelError)):
        holds(bl.pml(case)(0.25), truth.pml(mpf(1) / 4))
        holds(bl.pmc(case)(2.0), truth.pmc(mpf(2)))


@pytest.mark.truths
@pytest.mark.parametrize(
    "box, weight, offset, y",
    [((-1, 1), 1.0, 0.0, 0.5), ((0, 1), 0.1, 0.1, 0.7), ((-1, 1), 2.0, 1.0, 3.0)],
)
def test_a_kernel_of_one_of_two_secrets(box, weight, offset, y):
    line = bl.Interval(*box)
    both, one = line**2, line
    two = bl.uniform(both) * bl.Mechanism(
        lambda y, x: laplace(y, weight * x[1] + offset), secret=both, outcome=LINE
    )
    single = bl.uniform(one) * bl.Mechanism(
        lambda y, x: laplace(y, weight * x + offset), secret=one, outcome=LINE
    )
    for kind in (bl.pml, bl.pmc):
        for figure in (lambda ell: ell(y), lambda ell: ell.sup(), lambda ell: ell.tail(0.3)):
            found, expected = figure(kind(two)), figure(kind(single))
            assert found.lower <= expected.upper and expected.lower <= found.upper
            assert found.width <= 1e-8 and found.status == "certified"


@pytest.mark.slow
def test_more_secrets_than_boxes_are_cut_into():
    """A mean of six: the sum has figures; a region of all secrets is not there."""
    case = joint(gauss, [0.25] * 6)
    truth = gauss_on(Sum([mpf(1) / 4] * 6))
    holds(bl.pml(case)(2.0), truth.pml(mpf(2)))
    assert engine_for(case).of_secrets is None
    x = tuple(np.array([v]) for v in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    v = mpmath.fsum(mpf(float(part[0])) for part in x) / 4
    found = engine_for(case).information_density_at(x, np.array([0.5]))
    want = mpmath.log(mpmath.npdf(mpf("0.5") - v) / truth.f_y(mpf("0.5")))
    assert found.lower[0] <= want <= found.upper[0] <= found.lower[0] + 1e-8
    with pytest.raises(bl.errors.NotYet, match="secrets on"):
        bl.adversaries.witness(case, 2.0)
