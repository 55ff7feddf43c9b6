"""Sums of secrets: their laws, found by integrating those of fewer of them, and what noise leaks.

The truth is computed from distribution functions of sums, found by integrating those of fewer
numbers, and from closed forms: E e^(t X) is a product.
"""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
from mpmath import mpf

import borel as bl
from borel.probability.alphabets import Product

UNIT, LINE, INF = bl.Interval(0, 1), bl.Reals(), math.inf


DIGITS = 30


def laplace(y, v):
    return np.exp(-np.abs(y - v)) / 2


def gauss(y, v):
    return np.exp(-((y - v) ** 2) / 2) / np.sqrt(2 * np.pi)


def joint(noise, weights, box=None, outcome=LINE, prior=None):
    secret = Product(tuple(box)) if box else UNIT ** len(weights)

    def kernel(y, x):
        return noise(y, sum(w * v for w, v in zip(weights, x, strict=True)))

    prior = bl.uniform(secret) if prior is None else prior
    return prior * bl.Mechanism(kernel, secret=secret, outcome=outcome)


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


def holds(bound, truth, width=1e-8):
    assert bound.status == "certified", bound
    assert mpf(bound.lower) <= truth <= mpf(bound.upper), (bound, truth)
    assert bound.upper - bound.lower <= width, bound


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


def of_normals(prior, noise=gauss):
    mech = bl.Mechanism(
        lambda y, x: noise(y, x[0] / 2 + x[1] / 4), secret=prior.on, outcome=LINE
    )  # fmt: skip
    return prior * mech
