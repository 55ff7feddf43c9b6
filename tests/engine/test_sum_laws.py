"""The law of a weighted sum of secrets, and which kernels depend on one."""

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from engine.sum_truths import LINE, NORMALS, UNIT, Sum, density_of, exactly, gauss
from flint import fmpq_poly
from mpmath import mpf

import borel as bl
from borel.engine.problem.reduced_joint import on_a_line
from borel.numerics.graphs import float64
from borel.numerics.graphs.trace import trace
from borel.numerics.intervals import interpreter
from borel.numerics.reduction.linear_forms import through_a_sum
from borel.numerics.reduction.normal_sum import normal_law
from borel.numerics.reduction.scalar_statistic import reduced
from borel.numerics.reduction.sum_density import MOST, Piece, sum_law

pytestmark = pytest.mark.usefixtures("digits")


WIDTHS = {
    "one": [F(3)],
    "two of one width": [F(1, 2), F(1, 2)],
    "two": [F(1), F(1, 3)],
    "three thirds": [F(1, 3)] * 3,
    "decimals": [F(0.1), F(0.7), F(3)],
    "corners that meet": [F(1), F(1), F(2)],
    "powers of two": [F(1), F(2), F(4), F(8)],
    "five": [F(1, 5)] * 5,
}


def law_of(start, widths):
    """Return the law of a sum of uniform numbers, the first one from ``start`` on."""
    starts = [start, *[F(0)] * (len(widths) - 1)]
    one = fmpq_poly([1])
    return sum_law([Piece(a, a + w, one) for a, w in zip(starts, widths, strict=True)])


@pytest.mark.parametrize("widths", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("start", [F(0), F(-1, 3)])
def test_the_density_of_a_sum(widths, start, rng):
    law = law_of(start, widths)
    with mpmath.workdps(80):
        truth = Sum([mpf(w.numerator) / w.denominator for w in widths])
        for u in rng.uniform(-0.1, 1.1, 40):
            s = F(float(u)) * sum(widths)
            want = truth.pdf(mpf(s.numerator) / s.denominator)
            got = exactly(law.graph, start + s)
            inside = F(law.lower) <= start + s <= F(law.upper)
            assert not inside or abs(mpf(got.numerator) / got.denominator - want) < mpf(10) ** -60
    assert F(law.lower) <= start and start + sum(widths) <= F(law.upper)
    assert law.whole == (F(law.lower) == start and start + sum(widths) == F(law.upper))
    # no polynomial ends within a piece, but between two floats that are close to each other
    cuts = [law.lower, *law.breaks, law.upper]
    bends = {}
    for some in range(1 << len(widths)):
        corner = start + sum((w for k, w in enumerate(widths) if some >> k & 1), F(0))
        bends[corner] = bends.get(corner, 0) + (-1) ** some.bit_count()
    for corner in (c for c, by in bends.items() if by):
        assert any(abs(F(cut) - corner) <= F(2) ** -46 * (1 + abs(corner)) for cut in cuts)


def test_too_many_pieces():
    assert law_of(F(0), [F(2) ** k for k in range(4)]) is not None
    assert len(law_of(F(0), [F(1, 5)] * 5).breaks) <= MOST * 2
    assert law_of(F(0), [F(3) ** k for k in range(5)]) is None
    assert sum_law([Piece(F(0), F(1), fmpq_poly([0, 1]) ** 20)] * 3) is None
    assert sum_law([Piece(F(0), F(1), fmpq_poly([-1, 1]))]) is None


POLYNOMIALS = {
    "two Betas": [(bl.beta(alpha=2, beta=5), F(1)), (bl.beta(alpha=3, beta=1), F(1, 2))],
    "one turned": [(bl.beta(alpha=2, beta=1), F(-1)), (bl.uniform(bl.Interval(-1, 2)), F(1))],
    "three": [(bl.beta(alpha=2, beta=2), F(1, 4))] * 3,
}


@pytest.mark.cases("truths", "three")
@pytest.mark.parametrize("parts", POLYNOMIALS.values(), ids=POLYNOMIALS)
def test_the_density_of_a_sum_of_polynomials(parts, rng):
    """The distribution function, against integrals of that of one secret over the others."""
    prior = parts[0][0]
    for other, _ in parts[1:]:
        prior = prior * other
    names = tuple(f"x{j}" for j in range(len(parts)))
    ends = [(p.on.lower, p.on.upper) for p, _ in parts]
    lower, upper = (list(map(float, side)) for side in zip(*ends, strict=True))
    weights = [float(w) for _, w in parts]
    kernel = trace(
        lambda y, x: abs(y - sum(w * v for w, v in zip(weights, x, strict=True))), ("y", names), ()
    )
    found = reduced([kernel], prior.density.graph, lower, upper, log=prior.density.log)
    size = found.law.upper - found.law.lower
    for v in rng.uniform(found.law.lower, found.law.upper, 3):
        got = exactly(found.law.graph, F(float(v)))
        want = density_of(parts, mpf(float(v)))
        assert abs(mpf(got.numerator) / got.denominator - want) < 1e-9 * (1 + want), (v, size)


ONE_SUM = {
    "a mean": (lambda y, x: abs(y - (x[0] + x[1]) / 2), {"x0": F(1, 2), "x1": F(1, 2)}),
    "scaled": (lambda y, x: ((y - 3 * x[0] - x[1] - 1) / 2) ** 2, {"x0": 3, "x1": 1, "": 1}),
    "y first": (lambda y, x: abs(4 * y - x[0] + x[1]), {"x0": F(1, 4), "x1": F(-1, 4)}),
    "inside": (lambda y, x: abs(y - np.tanh(x[0] - x[1])) * (x[1] - x[0]), {"x0": 1, "x1": -1}),
    "no y": (lambda y, x: np.exp(-y) * (2 + x[0] - x[1]), {"x0": 1, "x1": -1, "": 2}),
    "cancels": (lambda y, x: abs(y - x[0] + x[0]) * (x[0] + 2 * x[1] - x[0]), {"x1": 2}),
    "one of two": (lambda y, x: abs(y - x[1]) + 0 * x[0], {"x1": 1}),
    "the root": (lambda y, x: y - x[0] / 3 - x[1], {"x0": F(1, 3), "x1": 1}),
}


@pytest.mark.parametrize("kernel, form", ONE_SUM.values(), ids=ONE_SUM)
def test_a_kernel_of_one_sum(kernel, form, rng):
    graph = trace(kernel, ("y", ("x0", "x1")), ())
    line = through_a_sum([graph], ("x0", "x1"))
    assert line.form == form
    assert line.graphs[0].inputs == ("y", "x")
    y, x0, x1 = rng.uniform(-2, 2, (3, 50))
    at = {"x0": x0, "x1": x1}
    v = sum(float(c) * at.get(name, 1.0) for name, c in line.form.items())
    found = float64.evaluate(line.graphs[0], {"y": y, "x": v})
    np.testing.assert_allclose(found, kernel(y, (x0, x1)), rtol=1e-12, atol=1e-13)


OTHERS = {
    "two of them": lambda y, x: abs(y - x[0]) + abs(y - x[1]),
    "a sum and one": lambda y, x: abs(y - x[0] - x[1]) * x[0],
    "a product": lambda y, x: abs(y - x[0] * x[1]),
    "a scale": lambda y, x: abs(y - x[0]) / (1 + x[1]),
    "none": lambda y, x: abs(y) + 0 * x[0] + 0 * x[1],
    "divided by 0": lambda y, x: abs(y - (x[0] + x[1]) / 0.0),
    "an infinity": lambda y, x: abs(y - x[0] - x[1] - np.inf),
}


@pytest.mark.parametrize("kernel", OTHERS.values(), ids=OTHERS)
def test_a_kernel_of_no_sum(kernel):
    graph = trace(kernel, ("y", ("x0", "x1")), ())
    line = through_a_sum([graph], ("x0", "x1"))
    assert line is None or kernel in (OTHERS["divided by 0"], OTHERS["an infinity"])
    if line is not None:  # what is not finite stays where it is
        assert line.form == {"x0": 1, "x1": 1}


@pytest.mark.parametrize(
    "prior",
    [
        bl.beta(alpha=1.5, beta=1) * bl.uniform(UNIT),
        bl.Measure(lambda x: x[0] + x[1], on=UNIT**2),
        bl.normal() * bl.laplace(),
        bl.exponential() * bl.exponential(),
    ],
    ids=["a root", "a density", "normal and Laplace", "exponential"],
)
def test_other_priors_stay_as_they_are(prior):
    mech = bl.Mechanism(
        lambda y, x: gauss(y, x[0] + x[1]), secret=prior.on, outcome=LINE
    )  # fmt: skip
    assert on_a_line(prior * mech) is None


@pytest.mark.parametrize("prior, variance", NORMALS.values(), ids=NORMALS)
def test_the_law_of_a_sum_of_normals(prior, variance):
    density = prior.density
    form = {"x0": F(1, 2), "x1": F(1, 4), "": F(3)}
    law = normal_law(density.graph, form, ("x0", "x1"), log=density.log)
    assert (law.mean, law.variance) == (F(1, 2) - F(1, 4) + 3, variance)
    low, high = interpreter.evaluate(law.graph, {"x": (np.array(0.75), np.array(0.75))})
    s = mpmath.sqrt(mpf(variance.numerator) / variance.denominator)
    want = mpmath.log(mpmath.npdf(mpf("0.75"), mpf("3.25"), s))
    assert low <= want <= high <= low + 1e-13


@pytest.mark.parametrize(
    "log_density",
    [
        lambda x: -(x[0] ** 2) - x[1] ** 4,
        lambda x: -(x[0] ** 2) + x[1] ** 2,
        lambda x: -((x[0] + x[1]) ** 2),
        lambda x: -(x[0] ** 2) - x[1] ** 2 + 3 * x[0] * x[1],
        lambda x: -(x[0] ** 2) - abs(x[1]),
        lambda x: -(x[0] ** 2) - x[1] ** 2 / (1 + x[0] ** 2),
        lambda x: -(x[0] ** 2) - np.where(x[1] > 0, x[1] ** 2, 2 * x[1] ** 2),
        lambda x: -(x[0] ** 2) - x[1] ** 2 * np.log(0 * x[1] + 2),
        lambda x: -(x[0] ** 2) + x[1] / 0.0,
    ],
)
def test_no_normal_law(log_density):
    graph = trace(log_density, (("x0", "x1"),), ())
    assert normal_law(graph, {"x0": F(1), "x1": F(1)}, ("x0", "x1"), log=True) is None


@pytest.mark.parametrize("low", [-1.0, 0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("width", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("count", [1, 2])
def test_the_graph_of_a_law_ends_with_the_density(low, width, count):
    """Numbers that the ends, the pieces and their level share do not take its place."""
    law = law_of(F(low) * count, [F(width)] * count)
    truth = Sum([mpf(width)] * count, mpf(low) * count)
    for share in (0.25, 0.5, 0.75):
        x = F(low) * count + F(width) * count * F(share)
        assert exactly(law.graph, x) == F(float(truth.pdf(mpf(float(x)))))
