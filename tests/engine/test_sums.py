"""Noise on a weighted sum of uniform secrets: the sum's law, figures of it, and certificates.

The truth is computed from distribution functions of sums, found by integrating those of fewer
numbers, and from closed forms: E e^(t X) is a product.
"""

import copy
import json
import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from flint import fmpq_poly
from mpmath import mpf

import borel as bl
from borel.engine import engine_for
from borel.engine.continuous import check_sums
from borel.engine.continuous.certified import CertifiedEngine
from borel.engine.continuous.sums import on_a_line
from borel.engine.graphs.affine import through_a_sum
from borel.engine.graphs.normal_law import normal_law
from borel.engine.graphs.reduced import reduced
from borel.engine.graphs.sum_law import MOST, Piece, sum_law
from borel.engine.graphs.trace import trace
from borel.verification import verified

UNIT, LINE, INF = bl.Interval(0, 1), bl.Reals(), math.inf
DIGITS = 30


def laplace(y, v):
    return np.exp(-np.abs(y - v)) / 2


def gauss(y, v):
    return np.exp(-((y - v) ** 2) / 2) / np.sqrt(2 * np.pi)


def joint(noise, weights, box=None, outcome=LINE, prior=None):
    secret = bl.alphabets.Product(tuple(box)) if box else UNIT ** len(weights)

    def kernel(y, x):
        return noise(y, sum(w * v for w, v in zip(weights, x, strict=True)))

    prior = bl.uniform(secret) if prior is None else prior
    return prior * bl.Mechanism(kernel, secret=secret, outcome=outcome)


# -- the truth ------------------------------------------------------------------------------


class Sum:
    """The law of a sum of uniform numbers on (0, w), by integrals of that of fewer of them."""

    def __init__(self, widths, start=0):
        self.start, self.widths = mpf(start), [mpf(w) for w in widths]
        self.total = mpmath.fsum(self.widths)

    def cdf(self, v, count=None, power=1):
        """Return the integral of (v - s)_+^(power - 1) / (power - 1)! under the law of s."""
        count = len(self.widths) if count is None else count
        if v <= 0:
            return mpf(0)
        if count == 0:
            return v ** (power - 1) / mpmath.factorial(power - 1)
        w = self.widths[count - 1]
        return (self.cdf(v, count - 1, power + 1) - self.cdf(v - w, count - 1, power + 1)) / w

    def pdf(self, v):
        w = self.widths[-1]
        v = v - self.start
        return (self.cdf(v, len(self.widths) - 1) - self.cdf(v - w, len(self.widths) - 1)) / w

    @property
    def corners(self):
        found = {mpf(0)}
        for w in self.widths:
            found |= {c + w for c in found}
        return [self.start + c for c in sorted(found)]

    def mean_of(self, what, *cuts):
        ends = sorted({*self.corners, *(c for c in cuts if 0 < c - self.start < self.total)})
        return mpmath.quad(lambda v: self.pdf(v) * what(v), ends)


class Noise:
    """Figures of noise that falls with |y - v|, on a sum whose law is symmetric."""

    def __init__(self, law, density, distribution):
        self.law, self.density, self.distribution = law, density, distribution
        self.low, self.high = law.start, law.start + law.total
        self.middle = (self.low + self.high) / 2

    def f_y(self, y):
        return self.law.mean_of(lambda v: self.density(y - v), y)

    def pml(self, y):
        nearest = min(max(y, self.low), self.high)
        return mpmath.log(self.density(y - nearest) / self.f_y(y))

    def pmc(self, y):
        farthest = self.low if y > self.middle else self.high
        return mpmath.log(self.f_y(y) / self.density(y - farthest))

    def beyond(self, y):
        """Return P{|Y - middle| > y - middle}."""
        return 2 * self.law.mean_of(lambda v: self.distribution(v - y), y)

    def mean(self, leakage, *far):
        cuts = sorted({self.middle, *(c for c in self.law.corners if c > self.middle), *far})
        return 2 * mpmath.quad(lambda y: self.f_y(y) * leakage(y), cuts)


def laplace_on(law):
    below = lambda z: mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2  # noqa: E731
    return Noise(law, lambda u: mpmath.exp(-abs(u)) / 2, below)


def gauss_on(law):
    return Noise(law, mpmath.npdf, mpmath.ncdf)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(DIGITS):
        yield


def holds(bound, truth, width=1e-8):
    assert bound.status == "certified", bound
    assert mpf(bound.lower) <= truth <= mpf(bound.upper), (bound, truth)
    assert bound.upper - bound.lower <= width, bound


# -- the law of a sum -------------------------------------------------------------------------


def exactly(graph, x):
    """Evaluate a graph of polynomials and of choices among them in Fractions."""
    rules = {
        "add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
        "less_equal": lambda a, b: a <= b,
        "where": lambda c, a, b: a if c else b,
    }
    values = []
    for op, args in graph.nodes:
        plain = {"input": lambda name: x, "const": F}
        values.append(plain[op](*args) if op in plain else rules[op](*(values[a] for a in args)))
    return values[-1]


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
    size = found.upper - found.lower
    for v in rng.uniform(found.lower, found.upper, 3):
        got = exactly(found.density, F(float(v)))
        want = density_of(parts, mpf(float(v)))
        assert abs(mpf(got.numerator) / got.denominator - want) < 1e-9 * (1 + want), (v, size)


def density_of(parts, v):
    """Return the density of a weighted sum of independent secrets, by integration."""
    (law, weight), *rest = parts
    w = mpf(weight.numerator) / weight.denominator

    def of_first(u):
        x = u / w
        inside = law.on.lower < x < law.on.upper
        return plain_density(law, x) / abs(w) if inside else mpf(0)

    if not rest:
        return of_first(v)
    low, high = sorted(w * end for end in (law.on.lower, law.on.upper))
    cuts = sorted({low, high, *(c for c in corners(rest, v) if low < c < high)})
    with mpmath.workdps(15):
        return mpmath.quad(lambda u: of_first(u) * density_of(rest, v - u), cuts)


def corners(parts, v):
    found = {mpf(0)}
    for law, weight in parts:
        w = mpf(weight.numerator) / weight.denominator
        found = {c + w * end for c in found for end in (law.on.lower, law.on.upper)}
    return {v - c for c in found}


def plain_density(law, x):
    name, values = law.family
    if name == "uniform":
        return 1 / mpf(law.on.upper - law.on.lower)
    a, b = values["alpha"], values["beta"]
    return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)


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
        assert verified("pml/one outcome", bound).outcome == "verified"
    tail = bl.pml(case).tail(0.25)
    assert tail.status == "certified" and tail.width <= 1e-8 and tail.certificate


# -- which kernels depend on a sum ------------------------------------------------------------

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
    from borel.engine.graphs import fp

    found = fp.evaluate(line.graphs[0], {"y": y, "x": v})
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


def test_a_density_of_the_user_is_as_good_as_its_normalisation():
    prior = bl.Measure(lambda x: 1.0 + 0 * x[0] * x[1], on=UNIT**2)
    bound = bl.pml(joint(laplace, [0.5, 0.5], prior=prior))(0.25)
    assert bound.status == "conditional" and "prior normalised" in str(bound.assumptions)


# -- figures against the truth ----------------------------------------------------------------


@pytest.mark.parametrize("weights", [[0.5, 0.5], [0.25, 0.5, 0.25], [2.0, -1.0]], ids=str)
@pytest.mark.parametrize("noise, on", [(laplace, laplace_on), (gauss, gauss_on)])
def test_leakages_at_outcomes(noise, on, weights):
    start = sum(min(w, 0) for w in weights)
    truth, case = on(Sum([abs(w) for w in weights], start)), joint(noise, weights)
    for y in (-2.0, float(truth.low), 0.125, 0.7, 3.0):
        holds(bl.pml(case)(y), truth.pml(mpf(y)))
        holds(bl.pmc(case)(y), truth.pmc(mpf(y)))


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
    for kind, bound in (("pml", pml), ("pmc", pmc)):
        assert verified(kind, bound).outcome == "verified"


@pytest.mark.parametrize("kind", ["pml", "pmc"])
@pytest.mark.parametrize(
    "noise, on, t",
    [(laplace, laplace_on, 0.25), (gauss, gauss_on, 0.375)],
    ids=["laplace", "gauss"],
)
def test_laws(noise, on, t, kind, outcome):
    truth, case = on(Sum([mpf(1) / 2] * 2)), joint(noise, [0.5, 0.5])
    if (noise, kind) == (laplace, "pmc"):
        t = 0.5  # it is between log (f_Y(1/2) / e^-1/2) and 0.52 everywhere
    leakage, figures = getattr(truth, kind), getattr(bl, kind)(case)
    y = mpmath.findroot(lambda y: leakage(y) - t, (mpf("0.6"), mpf(1)), solver="anderson")
    tail = figures.tail(t)
    holds(tail, truth.beyond(y))
    holds(figures.quantile(1 - F(float(truth.beyond(y)))), mpf(t), 1e-7)
    assert outcome(tail.certificate) == "verified"


def test_means():
    law = Sum([mpf(1) / 2] * 2)
    for noise, on, far in ((laplace, laplace_on, (4, 16, 80)), (gauss, gauss_on, (2, 4, 8, 14))):
        truth, case = on(law), joint(noise, [0.5, 0.5])
        with mpmath.workdps(18):
            for kind in ("pml", "pmc"):
                want = truth.mean(getattr(truth, kind), *far)
                bound = getattr(bl, kind)(case).mean()
                assert bound.lower - 1e-13 <= want <= bound.upper + 1e-13  # what is beyond
                assert bound.upper - bound.lower <= 1e-7 and bound.certificate


def test_infinities_have_rays():
    case = joint(gauss, [0.5, 0.25, 0.25])
    for kind in ("pml", "pmc"):
        bound = getattr(bl, kind)(case).sup()
        assert bound.lower == INF and bound.status == "certified"
        assert verified(kind, bound).outcome == "verified"


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
    whole = CertifiedEngine(case, summed=False)
    line = CertifiedEngine(case)
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
    assert verified("pml", bound).outcome == "verified"


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


# -- normal secrets ---------------------------------------------------------------------------


def correlated(x):
    """Variances 1 and 4, covariance 1, means 1 and -1."""
    u, v = x[0] - 1, x[1] + 1
    return -(4 * u**2 - 2 * u * v + v**2) / 6 - np.log(2 * np.pi * np.sqrt(3.0))


NORMALS = {
    "one by one": (bl.normal(mu=1.0) * bl.normal(mu=-1.0, sigma=2.0), F(1, 4) + F(4, 16)),
    "together": (bl.Measure(correlated, on=LINE**2, log=True), F(1, 4) + F(4, 16) + F(1, 4)),
    "no logarithm": (
        bl.Measure(lambda x: 2 / np.pi * np.exp(-2 * (x[0] - 1) ** 2 - 2 * (x[1] + 1) ** 2) / 1.0,
                   on=LINE**2),
        F(1, 4) * (F(1, 4) + F(1, 16)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("prior, variance", NORMALS.values(), ids=NORMALS)
def test_the_law_of_a_sum_of_normals(prior, variance):
    density = prior.density
    form = {"x0": F(1, 2), "x1": F(1, 4), "": F(3)}
    law = normal_law(density.graph, form, ("x0", "x1"), log=density.log)
    assert (law.mean, law.variance) == (F(1, 2) - F(1, 4) + 3, variance)
    from borel.engine.intervals import interval

    low, high = interval.evaluate(law.graph, {"x": (np.array(0.75), np.array(0.75))})
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


def of_normals(prior, noise=gauss):
    mech = bl.Mechanism(
        lambda y, x: noise(y, x[0] / 2 + x[1] / 4), secret=prior.on, outcome=LINE
    )  # fmt: skip
    return prior * mech


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
        assert verified(kind, bound).outcome == "verified"
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
    assert bound.width <= 1e-8 and verified("pml/one outcome", bound).outcome == "verified"


def test_laplace_noise_on_normal_secrets():
    prior, variance = NORMALS["one by one"]
    case, m = of_normals(prior, laplace), mpf(1) / 4
    s = mpmath.sqrt(mpf(variance.numerator) / variance.denominator)
    for y in (0.25, 2.0):
        f_y = mpmath.quad(
            lambda u, y=y: mpmath.npdf(u, m, s) * mpmath.exp(-abs(y - u)) / 2, [-12, m, y, 14]
        )
        holds(bl.pml(case)(y), mpmath.log(mpf(1) / 2 / f_y))


# -- certificates -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate():
    bound = bl.pml(joint(laplace, [0.5, 0.5])).sup()
    assert bound.certificate["sum"] is True
    return bound.certificate


def test_a_certificate_is_about_the_joint_that_was_given(certificate):
    assert certificate["kernel"]["graph"]["inputs"] == ["y", "x0", "x1"]
    assert certificate["prior"]["lower"] == [0.0, 0.0]
    line = check_sums.on_a_line(certificate)
    assert line["kernel"]["graph"]["inputs"] == ["y", "x"]
    assert (line["prior"]["lower"], line["prior"]["upper"]) == (0.0, 1.0)


def _const(graph, old, new):
    """Return a graph with a number replaced by another one."""
    graph = copy.deepcopy(graph)
    hits = [n for n in graph["nodes"] if n[0] == "const" and n[1] == [float(old).hex()]]
    assert hits
    hits[0][1] = [float(new).hex()]
    return graph


def _with_input(graph):
    graph = copy.deepcopy(graph)
    last = len(graph["nodes"]) - 1
    graph["nodes"] += [["input", ["x0"]], ["multiply", [last, last + 1]]]
    return graph


ALTERED = {
    "not about a sum": lambda c: c.pop("sum"),
    "sum: 1": lambda c: c.update(sum=1),
    "another weight": lambda c: c["kernel"].update(graph=_const(c["kernel"]["graph"], 0.5, 0.375)),
    "a wider box": lambda c: c["prior"].update(upper=[1.0, 1.5]),
    "an endless box": lambda c: c["prior"].update(upper=[1.0, "Infinity"]),
    "a box less": lambda c: c["prior"].update(upper=[1.0], lower=[0.0]),
    "an empty box": lambda c: c["prior"].update(upper=[1.0, 0.0]),
    "a prior that varies": lambda c: c["prior"].update(graph=_with_input(c["prior"]["graph"])),
    "an atom": lambda c: c["prior"].update(atoms=[[0.5, 0.25, 0.25]]),
    "a supremum more": lambda c: c.update(lower=c["upper"] + 1e-6, upper=c["upper"] + 1e-5),
}


@pytest.mark.parametrize("alter", ALTERED.values(), ids=ALTERED)
def test_an_altered_certificate_is_refused(certificate, alter, outcome):
    assert outcome(certificate) == "verified"
    altered = json.loads(json.dumps(certificate))
    alter(altered)
    assert outcome(altered) == "refused"


# -- mutations --------------------------------------------------------------------------------

MUTATIONS = {
    "a start forgotten": ("sum_law._line", lambda value: fmpq_poly([0, 1])),
    "one convolution": ("sum_law._convolved", lambda pieces, other: pieces),
    "no scale": ("sum_law._integral", lambda piece: 1),
    "a term forgotten": (
        "sum_law._polynomial",
        lambda made, base, terms: made.number(F(int(terms[0].p), int(terms[0].q))),
    ),
    "weights without their size": ("affine._times", lambda form, number: form),
}


@pytest.mark.parametrize("where, wrong", MUTATIONS.values(), ids=MUTATIONS)
def test_a_broken_reduction_is_caught(where, wrong, monkeypatch):
    monkeypatch.setattr(f"borel.engine.graphs.{where}", wrong)
    truth, case = laplace_on(Sum([mpf(1) / 2] * 3)), joint(laplace, [0.5, 0.5, 0.5])
    with pytest.raises((AssertionError, ValueError, TypeError, bl.errors.BorelError)):
        holds(bl.pml(case)(0.25), truth.pml(mpf(1) / 4))
        holds(bl.pmc(case)(2.0), truth.pmc(mpf(2)))


# -- what a review found ------------------------------------------------------------------------


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


def _kernel(f, *names):
    return {"graph": trace(f, names, ()).to_json(), "log": False}


def _absolute(y, x0, x1):
    return np.exp(-abs(y - x0 / 2 - x1 / 2)) / 2


NAMES = {
    "x for the sum": lambda y, x0, x1, x: np.exp(-abs(y - x)) / 2 + 0 * abs(x0 / 2 + x1 / 2),
    "x beside it": lambda y, x0, x1, x: (
        _absolute(y, x0, x1) + 5 * abs(abs(x) - abs(x0 / 2 + x1 / 2))
    ),
    "z": lambda y, x0, x1, z: _absolute(y, x0, x1) + 5 * abs(x0 + z - x0),
    "z in a sum": lambda y, x0, x1, z: _absolute(y, x0, x1) + 0 * abs(x0 + x1 + z),
}


@pytest.mark.parametrize("kernel", NAMES.values(), ids=NAMES)
def test_other_inputs_are_refused(certificate, kernel, outcome):
    names = kernel.__code__.co_varnames[: kernel.__code__.co_argcount]
    altered = {**certificate, "kernel": _kernel(kernel, *names)}
    assert outcome(altered) == "refused"


@pytest.fixture(scope="module")
def of_two_normals():
    bound = bl.pml(of_normals(bl.normal() * bl.normal()))(1.0)
    assert verified("pml/one outcome", bound).outcome == "verified"
    return bound.certificate


def _zero(graph):
    """Add log(0 x0), so that there is no density anywhere."""
    graph = copy.deepcopy(graph)
    last = len(graph["nodes"]) - 1
    graph["nodes"] += [
        ["input", ["x0"]],
        ["const", [(0.0).hex()]],
        ["multiply", [last + 1, last + 2]],
        ["log", [last + 3]],
        ["add", [last, last + 4]],
    ]
    return graph


def _more(graph):
    graph = copy.deepcopy(graph)
    last = len(graph["nodes"]) - 1
    graph["nodes"] += [["const", [(3.0).hex()]], ["add", [last, last + 1]]]
    return graph


PRIORS = {
    "no density": lambda p: p.update(graph=_zero(p["graph"])),
    "e^3 of it": lambda p: p.update(graph=_more(p["graph"])),
    "log: a string": lambda p: p.update(log="false"),
    "log: 1": lambda p: p.update(log=1),
    "atoms: null": lambda p: p.update(atoms=None),
}


@pytest.mark.parametrize("alter", PRIORS.values(), ids=PRIORS)
def test_a_normal_prior_that_is_not_normalised_is_refused(of_two_normals, alter, outcome):
    altered = json.loads(json.dumps(of_two_normals))
    alter(altered["prior"])
    assert outcome(altered) == "refused"


def test_corners_that_are_no_floats_are_verified():
    secret = UNIT**2
    mech = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x[1] / 3)) / 2, secret=secret, outcome=LINE
    )  # fmt: skip
    bound = bl.pml(bl.uniform(secret) * mech)(0.7)
    assert bound.status == "certified" and bound.width <= 1e-8
    if bound.certificate:
        assert verified("pml/one outcome", bound).outcome == "verified"
