"""Events that come near PML and PMC on general alphabets, measured by mpmath's quadrature."""

import math

import mpmath
import numpy as np
import pytest

import borel as bl

INF = math.inf
UNIT, LINE = bl.Interval(0, 1), bl.Reals()
UNIFORM = bl.uniform(UNIT)
LAPLACE = bl.mechanisms.laplace(b=1.0)


def laplace(b):
    return lambda y, x: mpmath.exp(-abs(y - x) / b) / (2 * b)


def gaussian(y, x):
    return mpmath.npdf(y, x, 1)


def flat(x):
    return mpmath.mpf(1)


def beta_2_5(x):
    return 30 * x * (1 - x) ** 4


CASES = {
    "uniform, laplace": (UNIFORM * LAPLACE, 0.3, flat, laplace(1), (0, 1)),
    "uniform, laplace outside": (UNIFORM * LAPLACE, -2.0, flat, laplace(1), (0, 1)),
    "beta, laplace": (
        bl.beta(alpha=2, beta=5) * bl.mechanisms.laplace(b=0.5),
        0.75,
        beta_2_5,
        laplace(0.5),
        (0, 1),
    ),
    "uniform, gaussian": (
        UNIFORM * bl.mechanisms.gaussian(sigma=1.0),
        0.5,
        flat,
        gaussian,
        (0, 1),
    ),
    "normal, gaussian": (
        bl.normal() * bl.mechanisms.gaussian(sigma=1.0),
        0.25,
        mpmath.npdf,
        gaussian,
        (-mpmath.inf, mpmath.inf),
    ),
}


def measured(found, prior, kernel, ends):
    """log P(A|y) / P(A) for PML, its negative for PMC, and P(A): by quadrature to 30 digits."""
    with mpmath.workdps(40):
        a, b = mpmath.mpf(found.region.lower[0]), mpmath.mpf(found.region.upper[0])
        y = mpmath.mpf(found.y)
        inner = sorted({v for v in (y, mpmath.mpf(0)) if ends[0] < v < ends[1]})
        cuts = [v for v in inner if a < v < b]
        mass = mpmath.quad(prior, [a, *cuts, b])
        joint = mpmath.quad(lambda x: prior(x) * kernel(y, x), [a, *cuts, b])
        whole = mpmath.quad(lambda x: prior(x) * kernel(y, x), [ends[0], *inner, ends[1]])
        value = mpmath.log(joint / whole / mass)
        return value if found.of == "pml" else -value, mass


@pytest.mark.few(4)
@pytest.mark.parametrize("of", ["pml", "pmc"])
@pytest.mark.parametrize("epsilon", [0.3, 0.01, 1e-5])
@pytest.mark.parametrize("name", CASES)
def test_the_leakage_of_an_event_is_within_epsilon(name, epsilon, of):
    joint, y, prior, kernel, ends = CASES[name]
    found = bl.adversaries.witness(joint, y, of=of, epsilon=epsilon)
    leak, mass = found.leakage(), found.mass()
    truth, p = measured(found, prior, kernel, ends)
    slack = mpmath.mpf(10) ** -25
    assert leak.lower - slack <= truth <= leak.upper + slack
    assert leak.status in ("certified", "conditional") and leak.lower > -INF
    assert mass.lower * (1 - 1e-12) <= p <= mass.upper * (1 + 1e-12)
    assert found.verify().holds is True
    if (name, of) == ("normal, gaussian", "pmc"):
        assert found.level == 10 and truth > 10
    else:
        assert found.level is None
        assert truth <= found.target().upper + 1e-20
        assert truth >= found.target().lower - epsilon


def test_the_event_is_not_smaller_than_it_must_be():
    """f(y|.) = e**-|0.3 - x| / 2 loses epsilon at a distance of epsilon: half of it is found."""
    for epsilon in (0.2, 0.01, 1e-4):
        wide = bl.adversaries.witness(UNIFORM * LAPLACE, 0.3, epsilon=epsilon).mass()
        assert wide.lower > epsilon / 2
        wide = bl.adversaries.witness(UNIFORM * LAPLACE, 0.3, of="pmc", epsilon=epsilon).mass()
        assert wide.lower > epsilon / 4


def test_the_functions_made_of_an_event():
    """P(U|x) integrated by hand: the leakage of U is that of the event."""
    x = (np.arange(4000) + 0.5) / 4000
    for of in ("pml", "pmc"):
        found = bl.adversaries.witness(UNIFORM * LAPLACE, 0.3, of=of, epsilon=0.05)
        u = found.function()
        table = u.pdf(np.arange(u.outcome.size)[:, None], x[None, :])
        assert np.allclose(table.sum(axis=0), 1) and table.min() >= 0
        weight = np.exp(-np.abs(0.3 - x))
        before, after = table.mean(axis=1).max(), (table @ weight / weight.sum()).max()
        ratio = after / before if of == "pml" else (1 - before) / (1 - after)
        leak = found.leakage()
        assert leak.lower - 1e-2 <= math.log(ratio) <= found.target().upper + 1e-2
        assert found.gain(found.region.lower[0]) == 1 == found.cost(found.region.upper[0])
    small = bl.adversaries.witness(UNIFORM * LAPLACE, 0.3, epsilon=1e-5)
    with pytest.raises(bl.InvalidInput, match="letters"):
        small.function()


def test_infinite_pmc():
    """Gaussian noise on a Gaussian secret: infinite, approached; a uniform kernel: attained."""
    joint = bl.normal() * bl.mechanisms.gaussian(sigma=1.0)
    for level in (3.0, 200.0):
        found = bl.adversaries.witness(joint, 0.0, of="pmc", level=level)
        assert level <= found.leakage().lower < INF and found.verify().holds is True
    shifted = bl.Mechanism(
        lambda y, x: np.where((y >= x) & (y <= x + 1), 1.0, 0.0),
        secret=UNIT,
        outcome=bl.Interval(0, 2),
        breaks=(0.0, 1.0),
    )
    found = bl.adversaries.witness(UNIFORM * shifted, 0.5, of="pmc")
    assert found.leakage().lower == INF and found.verify().holds is True
    assert found.region.lower[0] >= 0.5 and found.mass().lower > 0.4


def test_finite_secrets_with_continuous_outcomes():
    prior = bl.pmf([0.2, 0.8])
    joint = prior * bl.mechanisms.laplace(b=0.5)
    marginal = 0.2 * math.exp(-0.6) + 0.8 * math.exp(-1.4)
    for of, x, truth in (("pml", 0.0, math.exp(-0.6)), ("pmc", 1.0, math.exp(-1.4))):
        found = bl.adversaries.witness(joint, 0.3, of=of)
        assert found.region.lower == found.region.upper == (x,)
        assert found.leakage().value == pytest.approx(abs(math.log(truth / marginal)), rel=1e-12)
        assert found.leakage().width < 1e-12 and found.verify().holds is True


def test_a_prior_with_an_atom():
    """Half at 0, half uniform: at y < 0 PML is attained at the atom, PMC at the far end."""
    mixed = bl.Mixed(UNIT, atoms=[0.0])
    prior = bl.Measure(lambda x: 0.5 + 0 * x, on=mixed, masses={0.0: 0.5})
    joint = prior * LAPLACE
    at = bl.adversaries.witness(joint, -0.3)
    assert at.region.lower == at.region.upper == (0.0,)
    assert at.mass().lower <= 0.5 <= at.mass().upper and at.verify().holds is True
    far = bl.adversaries.witness(joint, -0.3, of="pmc")
    assert far.region.upper == (1.0,) and far.verify().holds is True
    width = far.region.upper[0] - far.region.lower[0]
    assert far.mass().lower <= width / 2 * (1 + 1e-12) and far.mass().upper >= width / 2


def test_countable_secrets():
    """f(0|x) = 1 / (2 + x) under a geometric-like law: PML at x = 0; PMC is not bounded."""
    mech = bl.Mechanism(
        lambda y, x: np.where(y == 0, 1 / (2.0 + x), 1 - 1 / (2.0 + x)),
        secret=bl.Integers(0, None),
        outcome=bl.Finite(2),
    )
    joint = bl.poisson(mu=3) * mech
    found = bl.adversaries.witness(joint, 0)
    assert found.region.lower == (0.0,) and found.verify().holds is True
    assert found.mass().lower <= math.exp(-3) <= found.mass().upper
    above = bl.adversaries.witness(joint, 0, of="pmc", level=2.0)
    assert above.leakage().lower >= 2 and above.verify().holds is True
    with pytest.raises(bl.NotYet, match="above 1000"):
        bl.adversaries.witness(joint, 0, of="pmc", level=1000.0)


def test_two_coordinates():
    square = UNIT**2
    mech = bl.Mechanism(
        lambda y, x: np.exp(-((y - x[0] - x[1]) ** 2) / 2) / math.sqrt(2 * math.pi),
        secret=square,
        outcome=LINE,
    )
    joint = bl.uniform(square) * mech
    with bl.options(budget=5):
        found = bl.adversaries.witness(joint, 3.0, epsilon=0.1)
        assert found.region.upper == (1.0, 1.0) and found.leakage().proved
        a, b = np.array(found.region.lower), np.array(found.region.upper)
        volume = float(np.prod(b - a))
        assert found.mass().lower <= volume * (1 + 1e-9) and found.mass().lower > 0
        grid = (np.arange(400) + 0.5) / 400

        def mean(x0, x1):
            return np.exp(-((3.0 - x0[:, None] - x1[None, :]) ** 2) / 2).mean()

        inside = [lo + (hi - lo) * grid for lo, hi in zip(a, b, strict=True)]
        truth = math.log(mean(*inside) / mean(grid, grid))
        assert found.leakage().lower - 1e-5 <= truth <= found.leakage().upper + 1e-5


def test_estimates_prove_nothing():
    with bl.options(engine="estimate"):
        joint = bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0)
        for of in ("pml", "pmc"):
            found = bl.adversaries.witness(joint, 0.3, of=of)
            leak = found.leakage()
            assert leak.status == "estimate" and (leak >= 0).holds is None
            truth, _ = measured(found, flat, laplace(1), (0, 1))
            assert leak.value == pytest.approx(float(truth), abs=1e-4)
            assert found.verify().holds is None and found.mass().status == "estimate"
    opaque = bl.Mechanism(
        lambda y, x: np.vectorize(lambda a, b: math.exp(-abs(a - b)) / 2)(y, x),
        secret=UNIT,
        outcome=LINE,
    )
    found = bl.adversaries.witness(UNIFORM * opaque, 0.3)
    assert found.leakage().status == "estimate" and found.verify().holds is None


def test_an_outcome_of_density_0():
    shifted = bl.Mechanism(
        lambda y, x: np.where((y >= x) & (y <= x + 1), 1.0, 0.0),
        secret=UNIT,
        outcome=bl.Interval(-1, 2),
        breaks=(0.0, 1.0),
    )
    joint = UNIFORM * shifted
    if bl.pml(joint)(-0.5).upper == 0:
        for of in ("pml", "pmc"):
            found = bl.adversaries.witness(joint, -0.5, of=of)
            assert found.leakage().lower == found.leakage().upper == 0
            assert found.verify().holds is True


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: bl.adversaries.witness(UNIFORM * LAPLACE, [0.3]), "one outcome"),
        (lambda: bl.adversaries.witness(UNIFORM * LAPLACE, "a"), "a point of"),
        (lambda: bl.adversaries.witness(UNIFORM * LAPLACE, 0.3, epsilon=0), "epsilon > 0"),
        (lambda: bl.adversaries.witness(UNIFORM * LAPLACE, 0.3, level=-1.0), "level > 0"),
        (lambda: bl.adversaries.witness(UNIFORM * LAPLACE, 0.3, as_="gain"), "no as_"),
        (lambda: bl.adversaries.witness(UNIFORM * LAPLACE, 0.3, pieces=3, of="pmc"), "no pieces"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(bl.InvalidInput, match=message):
        wrong()


def test_reprs():
    found = bl.adversaries.witness(UNIFORM * LAPLACE, 0.3)
    assert "pml at y = 0.3, within 0.01: x in [0.2" in repr(found)
