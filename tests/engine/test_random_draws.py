"""Random draws of random families under random kernels at random outcomes, against mpmath.

The truth shares nothing with borel: the law of a draw is written out in mpmath, and integrals are
tanh-sinh sums over pieces that end at every outcome, so that no integrand has a kink within one.
"""

import functools
import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from engine import test_draws_of_densities as shared

import borel as bl

mp = mpmath.mp
UNIT, HALF_LINE = bl.Interval(0, 1), bl.Interval(0, None)
ATOM = bl.pmf([1.0], on=bl.Finite([0.0]))
PLACES = (0.0, 1.0, 2.5)
HEAD = 300
"""Integers that count: what is beyond them weighs less than 1e-20 of any mean here."""


@pytest.fixture(autouse=True)
def sixty_digits():
    """Next to a pole of x^-0.6 what is nearer than 1e-60 weighs 1e-24."""
    with mpmath.workdps(60):
        yield


# -- laws: draws, build, and atoms, density and cuts in mpmath ------------------------------------


def beta(v):
    a, b, size = v["alpha"] - 1, v["beta"] - 1, mp.beta(v["alpha"], v["beta"])
    return {}, lambda x: x**a * (1 - x) ** b / size


def gamma(v):
    a, rate, size = v["alpha"] - 1, v["beta"], v["beta"] ** v["alpha"] / mp.gamma(v["alpha"])
    return {}, lambda x: x**a * mp.exp(-rate * x) * size


def with_atom(v):
    return {mpmath.mpf(0): v["w"]}, lambda x: (1 - v["w"]) * v["a"] * x ** (v["a"] - 1)


def on_places(v):
    total = mp.fsum(v["p"])  # the law meant is the normalised one
    return {mpmath.mpf(x): p / total for x, p in zip(PLACES, v["p"], strict=True)}, None


def poisson(v):
    mu = v["mu"]
    return {mpmath.mpf(n): mu**n * mp.exp(-mu) / mp.factorial(n) for n in range(HEAD)}, None


def geometric(v):
    return {mpmath.mpf(n): v["p"] * (1 - v["p"]) ** (n - 1) for n in range(1, HEAD)}, None


def of_density(law):
    """A law of the tests of densities: no atoms."""
    return lambda v: ({}, law(v))


def simplex(draw, n):
    parts = draw(0.1, 1, n)
    return parts / parts.sum(axis=-1, keepdims=True)


WIDE = [-40, -6, -1, 0.5, 2, 6, 40]
LAWS = {
    "beta": (
        UNIT,
        lambda draw: {"alpha": draw(0.4, 5), "beta": draw(0.4, 5)},
        lambda d: bl.beta(alpha=d["alpha"], beta=d["beta"]),
        beta,
        [0, 0.5, 1],
    ),
    "truncated normal": (
        UNIT,
        lambda draw: {"mu": draw(-0.2, 1.2), "sigma": draw(0.1, 0.5)},
        shared.PRIORS["truncated normal"][2],
        of_density(shared.truncated),
        [0, 0.5, 1],
    ),
    "a power": (
        UNIT,
        lambda draw: {"a": draw(0.3, 2)},
        shared.PRIORS["a power"][2],
        of_density(shared.power),
        [0, 0.5, 1],
    ),
    "an atom and a density": (
        UNIT,
        lambda draw: {"a": draw(0.5, 3), "w": np.round(draw(0.1, 0.9) * 64) / 64},  # 1 - w is exact
        lambda d: bl.mixture(
            [ATOM, bl.beta(alpha=d["a"], beta=1.0)], weights=[d["w"], 1 - d["w"]]
        ),
        with_atom,
        [0, 0.5, 1],
    ),
    "gamma": (
        HALF_LINE,
        lambda draw: {"alpha": draw(0.6, 4), "beta": draw(0.5, 2)},
        lambda d: bl.gamma(alpha=d["alpha"], beta=d["beta"]),
        gamma,
        [0, 0.5, 1, 3, 10, 30, 100],
    ),
    "normal": (
        bl.Reals(),
        lambda draw: {"mu": draw(-1, 1), "sigma": draw(0.5, 2)},
        lambda d: bl.normal(mu=d["mu"], sigma=d["sigma"]),
        of_density(shared.normal),
        WIDE,
    ),
    "mixture": (
        bl.Reals(),
        lambda draw: {
            "w": simplex(draw, 2), "mu": np.sort(draw(-1, 2, 2)), "sigma": draw(0.3, 1, 2)
        },
        shared.PRIORS["mixture"][2],
        of_density(shared.mixture),
        WIDE,
    ),
    "three places": (
        bl.Finite(list(PLACES)),
        lambda draw: {"p": simplex(draw, 3)},
        lambda d: bl.pmf(d["p"], on=bl.Finite(list(PLACES))),
        on_places,
        [],
    ),
    "Poisson": (
        bl.Integers(0, None),
        lambda draw: {"mu": draw(0.5, 6)},
        lambda d: bl.poisson(mu=d["mu"]),
        poisson,
        [],
    ),
    "geometric": (
        bl.Integers(1, None),
        lambda draw: {"p": draw(0.3, 0.8)},
        lambda d: bl.geometric(p=d["p"]),
        geometric,
        [],
    ),
}  # fmt: skip

# -- kernels of a random scale: the mechanism, and f(y|x) ------------------------------------------


def laplace(y, x, b):
    return mp.exp(-abs(y - x) / b) / (2 * b)


def gaussian(y, x, sigma):
    return mp.exp(-(((y - x) / sigma) ** 2) / 2) / sigma / mp.sqrt(2 * mp.pi)


def clipped(y, x, b):
    """Laplace noise clipped to [0, 1]: two atoms of the outcome."""
    if y in (0, 1):
        return mp.exp(-abs(y - x) / b) / 2
    return laplace(y, x, b)


def cut_off(y, x, b):
    return mp.exp(-abs(y - x) / b) / (b * (2 - mp.exp(-x / b) - mp.exp(-(1 - x) / b)))


def made_cut_off(on, b):
    def density(y, x):
        return np.exp(-np.abs(y - x) / b) / (b * (2 - np.exp(-x / b) - np.exp(-(1 - x) / b)))

    return bl.Mechanism(density, secret=on, outcome=UNIT)


def answer(y, x, b):
    """Is x > 1/2? answered rightly with probability b / (1 + b)."""
    return (b if (x > 0.5) == (y == 1) else 1) / (1 + b)


def made_answer(on, b):
    return bl.Mechanism(
        lambda y, x: np.where((x > 0.5) == (y == 1), b, 1.0) / (1 + b),
        secret=on, outcome=bl.Finite([0, 1]), breaks=[0.5],
    )  # fmt: skip


KERNELS = {
    "Laplace": (lambda on, b: bl.mechanisms.laplace(b=b, secret=on), laplace),
    "Gaussian": (lambda on, b: bl.mechanisms.gaussian(sigma=b, secret=on), gaussian),
    "clipped Laplace": (
        lambda on, b: bl.mechanisms.laplace(b=b, secret=on).clip(0, 1), clipped
    ),
    "truncated Laplace": (made_cut_off, cut_off),
    "answer": (made_answer, answer),
}  # fmt: skip
BOUNDED = ("clipped Laplace", "truncated Laplace")
PAIRS = [
    (law, kernel)
    for law, (on, *_) in LAWS.items()
    for kernel in KERNELS
    if (on == UNIT or kernel not in BOUNDED) and (law, kernel) != ("geometric", "answer")
]
"""Every secret of the geometric law is above 1/2."""


def outcomes(rng, kernel, n):
    if kernel == "answer":
        return [0, 1][:n]
    inside = rng.uniform(0, 1, n) if kernel in BOUNDED else rng.uniform(-2, 4, n)
    if kernel == "clipped Laplace":
        inside[:2] = [0.0, 1.0][: len(inside)]
    return inside.tolist()


def extremes(f, y, on, scale, kernel):
    """The largest and the least of f(y|.): all of these rise up to y, and fall beyond it."""
    if on.kind == "finite":
        values = [f(y, mpmath.mpf(x), scale) for x in PLACES]
        return max(values), min(values)
    if kernel == "answer":
        return max(scale, 1) / (1 + scale), min(scale, 1) / (1 + scale)
    low, high = (
        mpmath.mpf(e) if e is not None and math.isfinite(e) else None for e in (on.lower, on.upper)
    )
    near = [mp.floor(y), mp.ceil(y)] if on.kind == "countable" else [y]
    near = [x if low is None or x > low else low for x in near]
    near = [x if high is None or x < high else high for x in near]
    least = 0 if low is None or high is None else min(f(y, x, scale) for x in (low, high))
    return max(f(y, x, scale) for x in near), least


@functools.cache
def tanh_sinh(degree):
    """How far nodes are from an end of [-1, 1], and weights; 0 itself counts half from both."""
    step, out = mpmath.mpf(2) ** -degree, []
    for k in range(2**degree * 6):
        u = mp.pi / 2 * mp.sinh(k * step)
        gap = 2 / (1 + mp.exp(2 * u))
        if gap < mp.eps:
            break
        out.append((gap, step * mp.pi / 2 * mp.cosh(k * step) / mp.cosh(u) ** 2 / (1 if k else 2)))
    return out


def pieces(ends, degree):
    """Nodes and weights on pieces of a line."""
    for a, b in pairwise(ends):
        half = (b - a) / 2
        for gap, w in tanh_sinh(degree):
            yield a + half * gap, half * w
            yield b - half * gap, half * w


def means(laws, f, ys, cuts, scale, degree):
    """E f(y|X) under each law (rows) at each outcome (columns)."""
    nodes = []
    if cuts:
        inner = [y for y in ys if cuts[0] < y < cuts[-1]]
        ends = sorted({*map(mpmath.mpf, cuts), *inner})
        nodes = [(x, w) for x, w in pieces(ends, degree) if ends[0] < x < ends[-1]]
    kernel = [[w * f(y, x, scale) for x, w in nodes] for y in ys]
    out = []
    for atoms, density in laws:
        values = [density(x) for x, _ in nodes] if nodes else []
        out.append([
            mp.fdot(zip(row, values, strict=True))
            + mp.fsum(p * f(y, x, scale) for x, p in atoms.items())
            for y, row in zip(ys, kernel, strict=True)
        ])  # fmt: skip
    return out


def compared(law, kernel, shape, count, seed, *, degree=5):
    """Compare PML and PMC at outcomes for every draw: how many, and the widths of finite ones."""
    rng = np.random.default_rng([seed, PAIRS.index((law, kernel))])
    on, draw, build, written, cuts = LAWS[law]
    make, f = KERNELS[kernel]
    draws = draw(lambda low, high, *more: rng.uniform(low, high, (*shape, *more)))
    scale = float(rng.uniform(0.25, 2))
    ys = outcomes(rng, kernel, count)
    joint = bl.priors.from_posterior(shared.posterior(**draws), build) * make(on, scale)
    laws = [written(shared.parameters_of(draws, *at)) for at in np.ndindex(*shape)]
    exact = [mpmath.mpf(y) for y in ys]
    held = means(laws, f, exact, cuts, mpmath.mpf(scale), degree)
    widths = []
    for k, y in enumerate(ys):
        top, least = extremes(f, exact[k], on, mpmath.mpf(scale), kernel)
        ends = []
        for leakage in (bl.pml, bl.pmc):
            found = leakage(joint)(y)
            assert found.status in ("exact", "certified", "conditional"), (found, scale, draws)
            ends.append([found.draws[end].values.ravel() for end in ("lower", "upper")])
        for i, mass in enumerate(row[k] for row in held):
            values = mp.log(top / mass), mp.log(mass / least) if least else mp.inf
            for (low, high), value in zip(ends, values, strict=True):
                assert low[i] <= value <= high[i], (law, kernel, scale, y, draws, i)
                if value != mp.inf:
                    widths.append(high[i] - low[i])
    return len(laws) * len(ys), widths


@pytest.mark.parametrize(("law", "kernel"), PAIRS[::3])
def test_random_draws(law, kernel):
    """More than 200 in all."""
    number, widths = compared(law, kernel, (1, 9), 2, seed=31, degree=4)
    assert number == 18 and max(widths) <= 1e-6


@pytest.mark.truths
@pytest.mark.parametrize(("law", "kernel"), PAIRS)
def test_many_random_draws(law, kernel):
    """More than 20,000 in all."""
    shape, count = ((2, 150), 2) if kernel == "answer" else ((2, 50), 6)
    number, widths = compared(law, kernel, shape, count, seed=32)
    print(f"{law}, {kernel}: {number}, 0 outside; width {np.median(widths):.1e}, {max(widths):.1e}")
    assert number == 600 and np.median(widths) <= 1e-6


def test_the_rule_is_that_of_mpmath():
    """Two degrees of the rule and mpmath's own quadrature agree far beyond any width."""
    law = beta({"alpha": mpmath.mpf("0.4"), "beta": mpmath.mpf("0.7")})
    y, b = mpmath.mpf(0.3), mpmath.mpf(0.5)
    few, many = (means([law], laplace, [y], [0, 0.5, 1], b, n)[0][0] for n in (4, 5))
    quad = mp.quad(lambda x: law[1](x) * laplace(y, x, b), [0, y, 0.5, 1])
    assert abs(few - many) < 1e-14 and abs(many - quad) < 1e-23
