"""Draws of a prior with atoms beside a density, against mpmath: the atoms have masses per draw."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import xarray as xr
from oracles import F

import borel as bl
from borel.errors import InvalidInput, NotYet
from borel.priors import posteriors

mp = mpmath.mp
UNIT = bl.Interval(0, 1)
HOLE = bl.pmf([1.0], on=bl.Finite([0.0]))
A = np.array([[1.0, 2.0, 3.0]])
W = np.array([[0.25, 0.5, 0.8125]])  # 1 - w is exact
U, V = np.array([[0.25, 0.125, 0.5]]), np.array([[0.25, 0.5, 0.0625]])
B, SIGMA = 0.5, 0.75
KINDS = ("pml", "pmc")
PARTS = [0, 0.25, 0.5, 0.75, 1]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(25):
        yield


def learn(build, **variables):
    data = {name: (("chain", "draw"), v) for name, v in variables.items()}
    return bl.priors.from_posterior(xr.Dataset(data, attrs={"borel_draws": "exact"}), build)


def exact(value):
    return mpmath.mpf(float(value))


def ends(found, d):
    return tuple(found.draws[end].values[0, d] for end in ("lower", "upper"))


def laplace(y, x):
    return mp.exp(-abs(mpmath.mpf(y) - x) / mpmath.mpf(B)) / (2 * mpmath.mpf(B))


def gaussian(y, x):
    return mp.npdf(mpmath.mpf(y) - x, 0, mpmath.mpf(SIGMA))


NOISE = {
    "Laplace": (bl.mechanisms.laplace(b=B, secret=UNIT), laplace),
    "Gaussian": (bl.mechanisms.gaussian(sigma=SIGMA, secret=UNIT), gaussian),
}


def of_mixture(d):
    """A point mass at 0 beside a Beta density."""
    return bl.mixture([HOLE, bl.beta(alpha=d["a"], beta=1.0)], weights=[d["w"], 1 - d["w"]])


def of_formula(d):
    """Atoms at 0 and in the middle, beside the density 2x."""
    return bl.Measure(
        lambda x, u, v: (1 - u - v) * 2 * x,
        on=bl.Mixed(UNIT, atoms=[0.0, 0.5]),
        masses={0.0: d["u"], 0.5: d["v"]},
        params={"u": d["u"], "v": d["v"]},
    )


def law_of(name, d):
    """The atoms and the density of one draw."""
    if name == "mixture":
        a, w = exact(A[0, d]), exact(W[0, d])
        return {0: w}, lambda x: (1 - w) * a * x ** (a - 1)
    u, v = exact(U[0, d]), exact(V[0, d])
    return {0: u, mpmath.mpf(0.5): v}, lambda x: (1 - u - v) * 2 * x


PRIORS = {"mixture": of_mixture, "formula": of_formula}


def learnt(name):
    return learn(PRIORS[name], a=A, w=W, u=U, v=V)


def marginal(f, law, y):
    atoms, density = law
    cuts = sorted({*map(mpmath.mpf, PARTS), *([mpmath.mpf(y)] if 0 < y < 1 else [])})
    part = mp.quad(lambda x: density(x) * f(y, x), cuts)
    return part + mp.fsum(p * f(y, a) for a, p in atoms.items())


def leakage(f, law, y, kind):
    """Additive noise: the largest density is at the nearest secret, the least at the farthest."""
    mass = marginal(f, law, y)
    nearest = min(max(mpmath.mpf(y), 0), 1)
    if kind == "pml":
        return mp.log(f(y, nearest) / mass)
    return mp.log(mass / min(f(y, 0), f(y, 1)))


@pytest.mark.few(1)
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("name", PRIORS)
def test_leakage_at_outcomes(name, noise):
    mech, f = NOISE[noise]
    j = learnt(name) * mech
    for y in (0.25, 0.5, 1.75):
        for kind in KINDS:
            found = getattr(bl, kind)(j)(y)
            assert found.status == "certified"
            for d in range(3):
                low, high = ends(found, d)
                value = leakage(f, law_of(name, d), y, kind)
                assert low <= value <= high and high - low <= 1e-8


@pytest.mark.cases("slow", "mixture-pml", "mixture-pmc")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PRIORS)
def test_suprema(name, kind):
    """Beyond the secrets the leakages of Laplace noise do not vary any more."""
    mech, f = NOISE["Laplace"]
    found = getattr(bl, kind)(learnt(name) * mech).sup()
    assert found.status == "certified"
    with mpmath.workdps(15):
        for d in range(3):
            law = law_of(name, d)
            best = max(leakage(f, law, mpmath.mpf(i) / 16, kind) for i in range(17))
            low, high = ends(found, d)
            assert best - 1e-12 <= high and low <= best + 5e-3 and high - low <= 2e-6


def in_closed_form(d, y):
    """The density of Y of the formula under Laplace noise."""
    u, v, b = exact(U[0, d]), exact(V[0, d]), mpmath.mpf(B)
    m = min(max(y, 0), 1)
    left = mp.exp(-y / b) * (mp.exp(m / b) * (m - b) + b)
    right = mp.exp(y / b) * (mp.exp(-m / b) * (m + b) - mp.exp(-1 / b) * (1 + b))
    return (1 - u - v) * (left + right) + u * laplace(y, 0) + v * laplace(y, mpmath.mpf(0.5))


@pytest.mark.truths
def test_laws_and_information():
    """By quadrature between the outcomes where the leakage passes a level."""
    j = learnt("formula") * NOISE["Laplace"][0]
    ell, t = bl.pml(j).by_draw, 0.75
    tail, mean, information = ell.tail(t), ell.mean(), bl.mutual_information(j)
    for d in range(3):
        f_y = lambda y, d=d: in_closed_form(d, mpmath.mpf(y))  # noqa: E731
        assert abs(f_y(0.75) - marginal(laplace, law_of("formula", d), 0.75)) < 1e-20

        def pml(y, f_y=f_y):
            return mp.log(laplace(y, min(max(y, 0), 1)) / f_y(y))

        cuts = [mpmath.mpf(c) for c in (-30, -4, 0, 0.5, 1, 5, 31)]
        grid = [mpmath.mpf(i) / 64 for i in range(-64, 129)]
        for a, b in pairwise(grid):
            if (pml(a) > t) != (pml(b) > t):
                gap = lambda y, pml=pml: pml(y) - t  # noqa: E731
                cuts.append(mp.findroot(gap, (a, b), solver="anderson", tol=1e-30))
        pieces = list(pairwise(sorted(cuts)))
        tiny = mpmath.mpf(10) ** -20  # what is beyond
        mass = mp.fsum(mp.quad(f_y, p) for p in pieces if pml((p[0] + p[1]) / 2) > t)
        average = mp.fsum(mp.quad(lambda y: f_y(y) * pml(y), p) for p in pieces)  # noqa: B023
        entropy = mp.fsum(mp.quad(lambda y: -f_y(y) * mp.log(f_y(y)), p) for p in pieces)  # noqa: B023
        value = entropy - 1 - mp.log(2 * mpmath.mpf(B))
        for found, truth, width in (
            (tail, mass, 1e-3),
            (mean, average, 1e-3),
            (information, value, 1e-4),
        ):
            low, high = ends(found, d)
            assert low <= truth + tiny and truth <= high + tiny and high - low <= width


def special(on):
    """An atom at 1/2 alone is answered by something else, which may be larger."""
    return bl.Mechanism(
        lambda y, x: np.where(x == 0.5, 2 * y, 1 + (x - 0.5) * (y - 0.5)), secret=on, outcome=UNIT
    )


@pytest.mark.slow
def test_atoms_count_for_the_extremes():
    """1/2 is a null set of the density: without an atom there nothing of it is seen."""
    p = np.array([[0.25, 0.5, 0.0]])
    on = bl.Mixed(UNIT, atoms=[0.5])
    prior = learn(
        lambda d: bl.Measure(
            lambda x, p: (1 - p) + 0 * x, on=on, masses={0.5: d["p"]}, params={"p": d["p"]}
        ),
        p=p,
    )
    y = F(7, 8)
    for kind in KINDS:
        found = getattr(bl, kind)(prior * special(on))(float(y))
        assert found.status == "conditional"  # as for one prior: a kernel checked at some points
        for d in range(3):
            q = F(float(p[0, d]))
            values = [1 + F(1, 2) * (y - F(1, 2)), 1 - F(1, 2) * (y - F(1, 2))]
            values += [2 * y] * (q > 0)
            mass = q * 2 * y + (1 - q)
            ratio = max(values) / mass if kind == "pml" else mass / min(values)
            value = mp.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
            low, high = ends(found, d)
            assert low <= value <= high and high - low <= 1e-9
    over, level = bl.pml(prior * special(on)).sup(), bl.ldp(prior * special(on))
    for d in range(3):
        q = exact(p[0, d])
        # at y = 1 or 0: the largest is 2 or 5/4, or 1 - 1/2 (y - 1/2) = 5/4
        best = max(2 / (1 + q), mpmath.mpf(5) / 4 / (1 - q)) if q else mpmath.mpf(5) / 4
        low, high = ends(over, d)
        assert low <= mp.log(best) <= high and high - low <= 1e-5
        low, high = ends(level, d)
        assert low == high == np.inf if q else low <= mp.log(mpmath.mpf(5) / 3) <= high


def test_one_draw_is_one_prior(monkeypatch):
    """Of a later block, too."""
    monkeypatch.setattr(posteriors, "BLOCK", 2)
    mech = NOISE["Laplace"][0]
    for name in PRIORS:
        prior = learnt(name)
        found = bl.pml(prior * mech)(0.375)
        for d in range(3):
            one = bl.pml(prior.one(d) * mech)(0.375)
            low, high = ends(found, d)
            assert low <= one.upper and one.lower <= high
        mean = prior.mean_prior()
        assert mean.on == prior.on and bl.pml(mean * mech)(0.375).proved


def test_masses_that_are_no_law_are_refused():
    prior = learn(
        lambda d: bl.Measure(
            lambda x: 0.5 + 0 * x, on=bl.Mixed(UNIT, atoms=[0.0]), masses={0.0: d["w"]}
        ),
        w=W,
    )
    with pytest.raises(InvalidInput, match="integrates to 1"):
        bl.pml(prior * NOISE["Laplace"][0])(0.25)
    with pytest.raises(InvalidInput, match=r"masses in \[0, 1\].*1.25"):
        bl.Measure(
            lambda x: 0 * x, on=bl.Mixed(UNIT, atoms=[0.0]), masses={0.0: np.array([0.5, 1.25])}
        )


def test_one_mixture_with_atoms():
    both = bl.mixture(
        [HOLE, bl.pmf([0.5, 0.5], on=bl.Finite([0, 1])), bl.uniform(UNIT)],
        weights=[0.25, 0.25, 0.5],
    )
    assert both.on == bl.Mixed(UNIT, atoms=[0.0, 1.0]) and both.masses == {0.0: 0.375, 1.0: 0.125}
    again = bl.mixture([both, both], weights=[0.5, 0.5])
    assert again.masses == both.masses
    nothing = bl.Measure(lambda x: 0 * x, on=bl.Mixed(UNIT, atoms=[0.0]), masses={0.0: 1.0})
    found = bl.mixture([nothing, bl.uniform(UNIT)], weights=[0.25, 0.75])
    law = {0: mpmath.mpf(1) / 4}, lambda x: mpmath.mpf(3) / 4
    bound = bl.pml(found * NOISE["Laplace"][0])(0.25)
    assert bound.status == "certified"
    assert bound.lower <= leakage(laplace, law, 0.25, "pml") <= bound.upper
    with pytest.raises(InvalidInput, match="beside the atoms"):
        bl.mixture([nothing, HOLE], weights=[0.5, 0.5])
    with pytest.raises(InvalidInput, match="on one alphabet"):
        bl.mixture([bl.pmf([1.0], on=bl.Finite([2.0])), bl.uniform(UNIT)], weights=[0.5, 0.5])


@pytest.mark.parametrize(
    "make",
    [
        lambda: bl.Measure(
            lambda x: 1 + 0 * x,
            on=bl.Mixed(UNIT, atoms=[0.0]),
            masses={0.0: Fraction(1, 10**400)},
        ),
        lambda: bl.mixture(
            [bl.mixture([HOLE, bl.uniform(UNIT)], weights=[1e-200, 1.0]), bl.uniform(UNIT)],
            weights=[1e-200, 1.0],
        ),
        lambda: bl.mixture(
            [bl.mixture([HOLE, bl.uniform(UNIT)], weights=[[1e-200], [1.0]]), bl.uniform(UNIT)],
            weights=[[1e-200], [1.0]],
        ),
    ],
)
def test_no_mass_is_lost(make):
    with pytest.raises(InvalidInput, match="float64 can hold"):
        make()


def test_masses_of_single_precision():
    """They miss 1 by their rounding, which the laws meant do not."""
    two = bl.pmf(np.array([0.3 + 5e-8, 0.7], np.float32), on=bl.Finite([0.0, 1.0]))
    prior = learn(lambda d: bl.mixture([two, bl.uniform(UNIT)], weights=[d["w"], 1 - d["w"]]), w=W)
    found = bl.pml(prior * NOISE["Laplace"][0])(0.5)
    for d in range(3):
        w, p = exact(W[0, d]), mpmath.mpf(3) / 10
        for a in (p, p + 1e-8):  # of the laws that are 1 in sum
            law = {0: w * a, 1: w * (1 - a)}, lambda x, w=w: 1 - w
            low, high = ends(found, d)
            assert low <= leakage(laplace, law, 0.5, "pml") <= high and high - low <= 1e-6


def test_an_atom_too_far_out():
    prior = learn(
        lambda d: bl.mixture(
            [bl.pmf([1.0], on=bl.Finite([1e35])), bl.normal(mu=d["a"])],
            weights=[d["w"], 1 - d["w"]],
        ),
        a=A,
        w=W,
    )
    with bl.options(engine="certified"), pytest.raises(NotYet, match="too far out"):
        bl.pml(prior * bl.mechanisms.laplace(b=B, secret=bl.Reals()))(0.5)


@pytest.mark.truths
def test_infinities_of_gaussian_noise():
    """PMC is infinite far out; PML is not where both ends of the secrets have mass."""
    mech, f = NOISE["Gaussian"]
    prior = learn(
        lambda d: bl.mixture(
            [HOLE, bl.pmf([1.0], on=bl.Finite([1.0])), bl.uniform(UNIT)],
            weights=[d["w"] / 2, d["w"] / 2, 1 - d["w"]],
        ),
        w=W,
    )
    over, far = bl.pmc(prior * mech).sup(), bl.pml(prior * mech).sup()
    assert np.isposinf(over.draws["lower"].values).all() and over.status == "certified"
    assert bl.ldp(prior * mech).lower == np.inf
    with mpmath.workdps(15):
        for d in range(3):
            w = exact(W[0, d])
            law = {0: w / 2, 1: w / 2}, lambda x, w=w: 1 - w
            # it rises on either side to the logarithm of the mass at the nearer end
            best = max(leakage(f, law, y, "pml") for y in (-8, 0, 0.5))
            assert best <= -mp.log(w / 2)
            low, high = ends(far, d)
            assert low <= -mp.log(w / 2) <= high
