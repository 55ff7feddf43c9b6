"""Noise on counts: means of PML over countable outcomes, against sums in mpmath.

The truths sum f_Y log(sup f / f_Y) over outcomes and secrets far beyond where they matter, from
formulas of their own.
"""

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy import special

import borel as bl
from borel.engine import engine_for
from borel.engine.kernels.tail_entropy import FarEntropy, first_moment
from borel.engine.problem.secret_and_kernel import log_graph

MP = mpmath.mp.clone()
MP.dps = 40
N, Z = bl.Integers(0), bl.Integers()
INF = math.inf


def poisson(mu):
    return lambda n: MP.exp(-mu) * MP.mpf(mu) ** n / MP.factorial(n)


def geometric(p):  # on 1, 2, ...
    return lambda n: p * (1 - MP.mpf(p)) ** (n - 1) if n >= 1 else MP.mpf(0)


def two_sided(r):
    """Return the two-sided geometric law, as a kernel of floats and as the truth."""
    scale = (1 - r) / (1 + r)
    return (
        lambda y, x: scale * r ** abs(y - x),
        lambda u: MP.mpf(scale) * MP.mpf(r) ** abs(u),
    )


def one_sided(y, x):
    return np.where(y >= x, 0.5 * 0.5 ** (y - x), 0)


def one_sided_poisson(y, x):
    u = np.maximum(y - x, 0)
    return np.where(y >= x, np.exp(-2 + u * np.log(2) - special.gammaln(u + 1)), 0)


def on(secret, outcome, f, prior):
    return prior * bl.Mechanism(f, secret=secret, outcome=outcome)


HALF, NARROW = two_sided(0.5), two_sided(math.exp(-0.1))
# the joint, p(x), h(u), g(x), the outcomes, the secrets
CASES = {
    "two-sided": (lambda: on(N, Z, HALF[0], bl.poisson(mu=3.0)), poisson(3), HALF[1], None, 0),
    "epsilon = 0.1": (
        lambda: on(N, Z, NARROW[0], bl.poisson(mu=3.0)),
        *(poisson(3), NARROW[1], None, 0),
    ),
    "geometric": (
        lambda: on(bl.Integers(1), Z, HALF[0], bl.geometric(p=0.5)),
        *(geometric(0.5), HALF[1], None, 1),
    ),
    "a large count": (
        lambda: on(N, Z, HALF[0], bl.poisson(mu=40.0)),
        *(poisson(40), HALF[1], None, 0),
    ),
    "one-sided": (
        lambda: on(N, N, one_sided, bl.poisson(mu=3.0)),
        *(poisson(3), lambda u: MP.mpf(0.5) ** (u + 1) if u >= 0 else MP.mpf(0), None, 0),
    ),
    "Poisson noise": (
        lambda: on(N, N, one_sided_poisson, bl.poisson(mu=3.0)),
        *(poisson(3), lambda u: poisson(2)(u) if u >= 0 else MP.mpf(0), None, 0),
    ),
    "twice the count": (
        lambda: on(N, Z, lambda y, x: HALF[0](y, 2 * x), bl.poisson(mu=3.0)),
        *(poisson(3), HALF[1], lambda x: 2 * x, 0),
    ),
    "clamped": (
        lambda: on(N, Z, lambda y, x: HALF[0](y, np.minimum(x, 10)), bl.poisson(mu=3.0)),
        *(poisson(3), HALF[1], lambda x: min(x, 10), 0),
    ),
    "the truth or noise": (
        lambda: on(
            N, N, lambda y, x: 0.25 * 0.5**y + 0.5 * np.where(y == x, 1, 0), bl.poisson(mu=3.0)
        ),
        *(poisson(3), None, None, 0),
    ),
}


@cache
def rows(name, last=260, most=140):
    """Return (y, f_Y, sup f, inf f over secrets up to ``most``) of a case."""
    _, p, h, g, first = CASES[name]
    masses = {x: p(x) for x in range(first, most)}
    if h is None:
        f = lambda y, x: MP.mpf(0.25) * MP.mpf(0.5) ** y + (MP.mpf(0.5) if y == x else 0)  # noqa: E731
    else:
        noise = {u: h(u) for u in range(-last - 2 * most, last + most)}
        f = lambda y, x: noise[y - (x if g is None else g(x))]  # noqa: E731
    ys = range(0 if name in ("one-sided", "Poisson noise", "the truth or noise") else -last, last)
    out = []
    for y in ys:
        column = [(f(y, x), w) for x, w in masses.items()]
        values = [v for v, _ in column]
        if y >= most and g is None and h is not None:  # beyond those summed: sup f is h's
            values.append(max(noise.values()))
        out.append((y, MP.fsum(v * w for v, w in column), max(values), min(values)))
    return out


@cache
def joint(name):
    return CASES[name][0]()


@pytest.mark.few(2)
@pytest.mark.cases("truths", "a large count", "epsilon = 0.1")
@pytest.mark.parametrize("name", CASES)
def test_the_mean_of_pml_is_enclosed(name):
    found = bl.pml(joint(name)).mean()
    truth = MP.fsum(f * MP.log(top / f) for _, f, top, _ in rows(name) if f > 0)
    assert found.proved
    # what is beyond the rows weighs less than 1e-10
    assert found.lower <= truth + MP.mpf("1e-9") and truth <= found.upper
    assert found.width <= 2e-8


def test_means_of_a_clamped_count():
    """Every mean is finite: f / f_Y and f_Y / f are bounded."""
    joint_, table = joint("clamped"), rows("clamped")
    truths = {
        ("pml", "exp_mean"): MP.mpf(13) / 3,
        ("pmc", "mean"): MP.fsum(f * MP.log(f / low) for _, f, _, low in table),
        ("pmc", "exp_mean"): MP.fsum(f * f / low for _, f, _, low in table),
    }
    for (kind, figure), truth in truths.items():
        found = getattr(getattr(bl, kind)(joint_), figure)()
        assert found.proved and found.lower <= truth + MP.mpf("1e-14") * truth
        assert truth <= found.upper + 1e-14 * found.upper and found.width <= 1e-8 * found.upper


def test_a_short_head_is_made_up_for():
    """Of 257 outcomes 5e-6 is missing, by which the truth exceeds what they sum to."""
    with bl.options(tol=1e-2):
        engine = engine_for(CASES["epsilon = 0.1"][0]())
        low, high = engine.law_of_mean("pml", "mean").mean()
    ys = engine.head_of_outcomes()[0]
    truth = MP.fsum(f * MP.log(top / f) for _, f, top, _ in rows("epsilon = 0.1"))
    assert len(ys) == 257 and low + 1e-6 < truth <= high < low + 1e-3


@pytest.mark.truths
def test_no_mean_is_claimed_of_noise_without_one():
    """P(U = u) falls like 1/u^2: E |U| is infinite."""
    heavy = bl.Mechanism(
        lambda y, x: np.where(y >= x, 1 / ((y - x + 1) * (y - x + 2)), 0), secret=N, outcome=N
    )
    made = bl.poisson(mu=3.0) * heavy
    far = FarEntropy(engine_for(made).in_logs, counts=True)
    assert far.distance == INF
    assert bl.pml(made).mean().upper == INF


MANY = 10_000


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.where(x == MANY, 0.5, 0.25 * 0.5**x),
        lambda x: 0.25 * 0.5**x + 0.5 * (x == MANY),
        lambda x: np.where(x != MANY, 0.25 * 0.5**x, 0.5),
        lambda x: np.where(np.sign(x - MANY) == 0, 0.5, 0.25 * 0.5**x),
    ],
)
def test_a_mass_far_out_counts_for_the_mean_distance(f):
    """A comparison with one integer is false almost everywhere, and true at that integer."""
    prior = bl.Measure(f, on=N, tail=lambda n: 1.0)
    assert first_moment(log_graph(prior.density), "x", 0.0, INF, points=True) >= MANY / 2
    noise = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=N, outcome=bl.Reals())
    assert engine_for(prior * noise).far_entropy.distance >= MANY / 2


@pytest.mark.parametrize("name", ["one-sided", "Poisson noise"])
@pytest.mark.parametrize("y", [0, 1, 5, 20])
def test_an_impossible_outcome_is_a_proved_infinity(name, y):
    """Noise that is never negative: y excludes all counts above it."""
    found = bl.pmc(joint(name))(y)
    assert found.lower == INF and found.proved


def test_an_unlikely_secret_decides_a_figure():
    """At y = 40 the kernel is 1/2 at x = 40, a count of mass below 1e-28."""
    found = bl.pml(joint("one-sided"))(40)
    truth = next(MP.log(top / f) for y, f, top, _ in rows("one-sided") if y == 40)
    assert found.lower <= truth <= found.upper <= found.lower + 1e-9


def test_a_thinned_count_that_is_none():
    """Each of Poisson(3) is kept with probability 1/2: P(Y = 0) = e^-1.5, and x = 0 keeps none."""
    thinned = bl.Mechanism(
        lambda y, x: np.where(y <= x, special.binom(x, y) * 0.5**x, 0), secret=N, outcome=N
    )
    found = bl.pml(bl.poisson(mu=3.0) * thinned)(0)
    assert found.lower <= 1.5 <= found.upper <= found.lower + 1e-12
