"""The leakage far out, where f(y|x) and f_Y(y) go to 0 together: priors with atoms."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import borel as bl
from borel.engine import certified_engine
from borel.engine.kernels import leakage_far_out


def laplace(secrets, b=1.0):
    return bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x) / b) / (2 * b), secret=secrets, outcome=bl.Reals()
    )


def sides(values, weights, b):
    """Return PML and PMC towards both ends, where they do not change any more."""
    out = []
    for sign in (1, -1):
        heights = [sign * x / b for x in values]
        mean = math.fsum(w * math.exp(h) for w, h in zip(weights, heights, strict=True))
        out.append((max(heights) - math.log(mean), math.log(mean) - min(heights)))
    return out


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.integers(-16, 16), min_size=2, max_size=5, unique=True),
    st.lists(st.integers(1, 9), min_size=5, max_size=5),
    st.sampled_from([0.5, 1.0, 4.0]),
)
def test_laplace_noise_on_finitely_many_secrets(places, counts, b):
    """The suprema are approached at both ends: within the secrets the leakage is smaller."""
    values, counts = sorted(x / 8 for x in places), counts[: len(places)]
    weights = [k / sum(counts) for k in counts]
    secrets = bl.Finite(values)
    joint = bl.pmf(weights, on=secrets) * laplace(secrets, b)
    pml, pmc = (max(side[k] for side in sides(values, weights, b)) for k in (0, 1))
    spread = (values[-1] - values[0]) / b
    for found, truth in (
        (bl.pml(joint).sup(), pml),
        (bl.pmc(joint).sup(), pmc),
        (bl.ldp(joint), spread),
    ):
        assert found.proved and found.width <= 1e-8
        assert found.lower <= truth + 1e-14 and truth - 1e-14 <= found.upper


def test_an_atom_beside_a_density():
    on = bl.Mixed(bl.Interval(0, 1), atoms=[0.5])
    prior = bl.Measure(lambda x: 0.75 + 0 * x, on=on, masses={0.5: 0.25})
    joint = prior * laplace(prior.on)
    mean = 0.75 * (math.e - 1) + 0.25 * math.exp(0.5)
    with bl.options(budget=8):
        found = bl.pml(joint).sup()
    assert found.proved and found.width <= 0.01  # that the density is positive is not known
    assert found.lower <= 1 - math.log(mean) <= found.upper


def jump_between(y, x):
    return np.exp(-abs(y)) * np.where(x < 0.5, 0.5, np.where(y > 0, 0.875, 0.125))


def jump_at_an_atom(y, x):
    return np.exp(-abs(y)) * np.where(x == 1, np.where(y > 0, 0.875, 0.125), 0.5)


def jump_after_an_atom(y, x):
    return np.exp(-abs(y)) * np.where(x <= 0, 0.5, np.where(y > 0, 0.875, 0.125))


@pytest.mark.parametrize("f", [jump_between, jump_at_an_atom, jump_after_an_atom])
def test_jumps_are_not_bridged(f):
    """From 0 to 1 the kernel changes by 4 or 7/4, all at once: the slope says nothing of that."""
    secrets = bl.Finite([0.0, 1.0])
    joint = bl.pmf([0.5, 0.5], on=secrets) * bl.Mechanism(f, secret=secrets, outcome=bl.Reals())
    with bl.options(budget=2):
        pml, pmc, ldp = bl.pml(joint).sup(), bl.pmc(joint).sup(), bl.ldp(joint)
    assert pml.lower <= math.log(1.6) <= pml.upper
    assert pmc.lower <= math.log(2.5) <= pmc.upper
    assert ldp.lower <= math.log(4) <= ldp.upper


@pytest.mark.parametrize("kind", ["pml", "pmc"])
def test_the_law_far_out(kind):
    secrets = bl.Finite([0.0, 1.0, 2.0])
    joint = bl.pmf([0.25, 0.5, 0.25], on=secrets) * laplace(secrets)
    found = getattr(bl, kind)(joint)
    top = found.sup()
    # beyond the secrets the leakage is the supremum: each side has mass at least 1/10
    assert found.quantile(0.95).upper >= top.lower - 1e-8
    assert found.mean().width <= 1e-7


# -- tails that fall like a power: the slope of log(1 + w^2) must not be lost ----------------------


def student(nu, scale, secret):
    """Student's t noise; nu = 1 is Cauchy's."""
    constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2)
    constant -= 0.5 * math.log(nu * math.pi) + math.log(scale)
    return bl.Mechanism(
        lambda y, x: constant - (nu + 1) / 2 * np.log1p(((y - x) / scale) ** 2 / nu),
        secret=secret,
        outcome=bl.Reals(),
        log=True,
    )


def cauchy(scale, secret):
    return bl.Mechanism(
        lambda y, x: scale / (np.pi * (scale**2 + (y - x) ** 2)),
        secret=secret,
        outcome=bl.Reals(),
    )


@pytest.mark.cases("slow", "cauchy-0.3")
@pytest.mark.slow
@pytest.mark.cases("truths", "<lambda>-0.3", "<lambda>-1.0")
@pytest.mark.parametrize("scale", [0.3, 1.0])
@pytest.mark.parametrize("make", [cauchy, lambda s, on: student(1.0, s, on)])
def test_cauchy_noise_on_a_bounded_secret(scale, make):
    """f_Y is a difference of two arctangents; the suprema are at a finite outcome."""
    on = bl.Interval(0, 1)
    joint = bl.uniform(on) * make(scale, on)
    with mpmath.workdps(30):
        s = mpmath.mpf(scale)

        def f(w):
            return s / (mpmath.pi * (s**2 + w**2))

        def marginal(y):
            return (mpmath.atan((1 - y) / s) + mpmath.atan(y / s)) / mpmath.pi

        def pml(y):  # by symmetry for y >= 1/2
            return mpmath.log(f(max(y - 1, 0)) / marginal(y))

        def pmc(y):
            return mpmath.log(marginal(y) / f(y))

        def largest(g, grid):
            best = max(grid, key=g)
            peak = mpmath.findroot(lambda y: mpmath.diff(g, y), best) if best != 0.5 else best
            return g(peak)

        top = largest(pml, [1 + mpmath.mpf(k) / 64 for k in range(1, 400)])
        cost = max(
            pmc(mpmath.mpf(1) / 2), largest(pmc, [mpmath.mpf(k) / 64 for k in range(33, 99)])
        )
        level = 2 * mpmath.asinh(1 / (2 * s))
    for found, truth in (
        (bl.pml(joint).sup(), top),
        (bl.pmc(joint).sup(), cost),
        (bl.ldp(joint), level),
    ):
        assert found.proved and found.width <= 1.1e-8
        assert found.lower <= truth <= found.upper


@pytest.mark.parametrize("nu", [2.5, 3.0])
def test_students_noise_on_finitely_many_secrets(nu):
    secrets, weights, scale = bl.Finite([0.0, 1.0, 2.0]), [0.2, 0.3, 0.5], 0.5
    joint = bl.pmf(weights, on=secrets) * student(nu, scale, secrets)
    w = 1.0 / (scale * math.sqrt(nu))  # half the distance of the outermost secrets, in units
    # log (1 + (c + d)^2) / (1 + (c - d)^2) is largest where c^2 = 1 + d^2
    level = (nu + 1) / 2 * math.log((1 + (math.sqrt(1 + w**2) + w) ** 2) /
                                    (1 + (math.sqrt(1 + w**2) - w) ** 2))  # fmt: skip
    found = bl.ldp(joint)
    assert found.proved and found.width <= 1.1e-8
    assert found.lower <= level <= found.upper
    pml, pmc = bl.pml(joint).sup(), bl.pmc(joint).sup()
    assert pml.proved and pmc.proved and max(pml.width, pmc.width) <= 1.1e-8
    y = np.linspace(-9, 11, 4001)
    f = (1 + ((y[:, None] - [0.0, 1.0, 2.0]) / scale) ** 2 / nu) ** (-(nu + 1) / 2)
    ratio = f / (f @ weights)[:, None]
    assert 0 <= pml.upper - np.log(ratio.max()) <= 1e-4
    assert 0 <= pmc.upper + np.log(ratio.min()) <= 1e-4


def test_a_tail_of_the_fourth_power():
    on = bl.Interval(0, 1)
    noise = bl.Mechanism(
        lambda y, x: np.sqrt(2) / np.pi / (1 + (y - x) ** 4), secret=on, outcome=bl.Reals()
    )
    found = bl.ldp(bl.uniform(on) * noise)
    y = np.linspace(0.5, 4, 100_001)
    seen = np.log((1 + y**4) / (1 + (y - 1) ** 4)).max()
    assert found.proved and found.width <= 1.1e-8
    assert seen - 1e-12 <= found.upper <= seen + 1e-7


@pytest.mark.cases("slow", "-60.0", "-20.0", "60.0", "37.5", "1.0")
@pytest.mark.cases("truths", "-45.0", "20.0", "39.0", "45.0")
@pytest.mark.parametrize("y", [-60.0, -45.0, -20.0, 1.0, 20.0, 37.5, 39.0, 45.0, 60.0])
def test_mixtures_whose_weights_are_the_secret_do_not_underflow(y):
    on = bl.Interval(0, 1)

    def f(y, x):
        return (
            x * np.exp(-(y**2) / 2) + (1 - x) * np.exp(-((y - 3) ** 2) / 2)
        ) / 2.5066282746310002

    joint = bl.uniform(on) * bl.Mechanism(f, secret=on, outcome=bl.Reals())
    with mpmath.workdps(60):
        a, b = mpmath.exp(-(mpmath.mpf(y) ** 2) / 2), mpmath.exp(-((mpmath.mpf(y) - 3) ** 2) / 2)
        top, cost = mpmath.log(2 * max(a, b) / (a + b)), mpmath.log((a + b) / 2 / min(a, b))
    pml, pmc = bl.pml(joint)(y), bl.pmc(joint)(y)
    assert pml.lower <= top <= pml.upper and pml.width <= 1e-8
    # the infimum over the secret is reached within e^-gap of an end, closer than floats lie
    assert pmc.lower <= cost <= pmc.upper < cost + 1e-8
    assert pmc.width <= 1e-8 or cost > 100
    assert pml.status == pmc.status == "certified"


# where a query of a secret jumps and has a slope beside: its values, and its pieces
JUMPING = {
    "above a third": (
        lambda x: x / 2 + 2 * (x > 1 / 3),
        [(0, 1 / 3, lambda x: x / 2), (1 / 3, 1, lambda x: x / 2 + 2)],
    ),
    "chosen": (
        lambda x: np.where(x < 0.25, x * x, np.where(x < 0.75, 1 - x, 2.0)),
        [(0, 0.25, lambda x: x * x), (0.25, 0.75, lambda x: 1 - x), (0.75, 1, lambda x: x * 0 + 2)],
    ),
    "down": (
        lambda x: np.where(x < 0.5, 2 * x, x - 3.0),
        [(0, 0.5, lambda x: 2 * x), (0.5, 1, lambda x: x - 3)],
    ),
}


@pytest.mark.cases("slow", "down", "chosen")
@pytest.mark.parametrize("name", JUMPING)
def test_noise_about_a_query_with_jumps_and_slopes(name):
    """Far out PML and PMC are those of the exponentials of the query, on both sides."""
    query, pieces = JUMPING[name]
    secrets = bl.Interval(0, 1)
    joint = bl.uniform(secrets) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - query(x))) / 2, secret=secrets, outcome=bl.Reals()
    )
    surface = certified_engine(joint).surface
    with mpmath.workdps(30):
        ends = [f(mpmath.mpf(x)) for a, b, f in pieces for x in (a, b)]
        truths = {"ldp": [max(ends) - min(ends)] * 2, "pml": [], "pmc": []}
        for sign in (1, -1):
            mean = mpmath.fsum(
                mpmath.quad(
                    lambda x, f=f, s=sign: mpmath.exp(s * f(x)), [mpmath.mpf(a), mpmath.mpf(b)]
                )
                for a, b, f in pieces
            )
            heights = [sign * h for h in ends]
            truths["pml"].append(max(heights) - mpmath.log(mean))
            truths["pmc"].append(mpmath.log(mean) - min(heights))
    for kind, known in truths.items():
        for truth, box in zip(known, ((5.0, math.inf), (-math.inf, -5.0)), strict=True):
            low, high = leakage_far_out.leakage(surface, kind, *box)
            assert low <= truth <= high <= low + 1e-9
        figure = bl.ldp if kind == "ldp" else lambda j, of=kind: getattr(bl, of)(j).sup()
        found = figure(joint)
        assert found.status == "certified"
        assert found.lower <= max(known) <= found.upper <= found.lower + 2e-8


@pytest.mark.slow
def test_a_jump_is_the_limit_from_both_sides():
    """What the kernel is at the single secret where it jumps, or at another one, is not seen."""
    secrets = bl.Interval(0, 1)

    def query(x):
        return np.where(x == 0.5, 50.0, x / 2 + 2 * (x > 0.5)) + np.where(x == 0.75, 9.0, 0.0)

    joint = bl.uniform(secrets) * bl.Mechanism(
        lambda y, x: np.exp(-abs(y - query(x))) / 2, secret=secrets, outcome=bl.Reals()
    )
    found = bl.ldp(joint)
    assert found.lower <= 2.5 <= found.upper < 2.5 + 2e-8
