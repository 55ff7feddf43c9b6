"""Side information: conditional PML and PMC by definition, and where the papers are wrong."""

import math
from fractions import Fraction as F

import numpy as np
import oracles as o
import pytest
from hypothesis import given
from hypothesis import strategies as st

import borel as bl

HALF = F(1, 2)
BUILDS = pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])
NOISY = [[F(9, 10), F(1, 10)], [F(1, 10), F(9, 10)]]
IDENTITY = [[F(1), F(0)], [F(0), F(1)]]


def matrix(K):
    return bl.Mechanism.from_matrix(K)


STYLES = ("plain", "fine", "zeros", "ties", "onehot")  # floats refuse products that underflow


@st.composite
def with_side(draw):
    """A prior, a side channel, and a mechanism for every value of Z."""
    n, k, j = (draw(st.integers(1, 3)) for _ in range(3))

    def kernel(size):
        return [draw(o.laws(size, STYLES)) for _ in range(n)]

    return draw(o.laws(n, STYLES)), kernel(j), [kernel(k) for _ in range(j)]


def given_z(p, side, rows, z):
    """P_{X|Z=z} and P_{Y|X,Z=z} from the joint law of all three."""
    mass = sum((p[x] * side[x][z] for x in range(len(p))), F(0))
    return None if mass == 0 else ([p[x] * side[x][z] / mass for x in range(len(p))], rows[z])


@BUILDS
@given(law=with_side())
def test_a_mechanism_that_sees_the_side_information(build, law):
    p, side, rows = law
    both = matrix(build(side)).then(lambda z: matrix(build(rows[z])))
    made = bl.pmf(build(p)) * both
    for kind in ("pml", "pmc"):
        ell = getattr(bl, kind)(made, given=0)
        for z in range(len(rows)):
            known = given_z(p, side, rows, z)
            if known is None:
                with pytest.raises(bl.InvalidInput, match="positive density"):
                    ell[z]
                continue
            for y in range(len(rows[z][0])):
                assert o.encloses(ell[z](y), o.LEAKAGES[kind](*known, y))
                assert ell(y, z) == ell[z](y)


@BUILDS
@given(law=with_side())
def test_side_information_that_is_independent_of_the_release(build, law):
    p, side, rows = law
    made = bl.pmf(build(p)) * matrix(build(rows[0]))
    channel = matrix(build(side))
    for kind in ("pml", "pmc"):
        ell = getattr(bl, kind)(made, given=channel)
        best = F(1)
        for z in range(len(side[0])):
            known = given_z(p, side, rows[:1] * len(side[0]), z)
            if known is not None:
                ratio = o.sup(kind, *known)
                assert o.encloses(ell[z].sup(), ratio)
                best = max(best, ratio)
        assert o.encloses(ell.sup(), best)


def test_remark_5_of_the_pml_paper():
    """Side information raises and lowers: log 10/9 < log 6/5 < log 5/4."""
    prior = bl.pmf([HALF, HALF])
    side = matrix([[F(2, 5), F(3, 5)], [F(3, 5), F(2, 5)]])
    rows = {
        0: [[HALF, HALF], [F(2, 3), F(1, 3)]],
        1: [[F(1, 3), F(2, 3)], [HALF, HALF]],
    }
    both = side.then(lambda z: matrix(rows[z]))
    ell = bl.pml(prior * both, given=0)
    assert ell(0, 0).ratio == (F(10, 9), F(10, 9))
    assert ell(0, 1).ratio == (F(5, 4), F(5, 4))
    alone = bl.pml(prior * both.push(lambda pair: pair[1]))
    assert alone(0).ratio == (F(6, 5), F(6, 5))


def test_erratum_3_the_maximum_is_over_what_z_allows():
    """PML paper, Lemma 1(5): with Z = X nothing is left to leak; the formula there gives log 9."""
    prior = bl.pmf([HALF, HALF])
    ell = bl.pml(prior * matrix(NOISY), given=matrix(IDENTITY))
    assert all(ell(y, z).ratio == (1, 1) for y in (0, 1) for z in (0, 1))
    # as stated: max over all of supp P_X of i(x; y|z) = log f(y|x) / P(y|z)
    stated = max(NOISY[x][1] for x in (0, 1)) / NOISY[0][1]
    assert stated == 9


def test_erratum_2_the_posterior_is_given_z_too():
    """Information Density Bounds, Corollary 2: Y says nothing, Z is a noisy copy of X."""
    prior = bl.pmf([HALF, HALF])
    lam = bl.pmc(prior * matrix([[HALF, HALF]] * 2), given=matrix(NOISY))
    assert all(lam(y, z).ratio == (1, 1) for y in (0, 1) for z in (0, 1))
    # as stated: D_inf(P_{X|z} || P_{X|y}), which is not 0
    assert max(NOISY[0][x] / HALF for x in (0, 1)) == F(9, 5)


@given(law=with_side())
def test_composition_bounds_by_the_conditional_leakage(law):
    """PML paper, Lemma 1(6), and Information Density Bounds, Lemma 1(vii)."""
    p, side, rows = law
    made = bl.pmf(p) * matrix(side).then(lambda z: matrix(rows[z]))
    first = bl.pmf(p) * matrix(side)
    for kind in ("pml", "pmc"):
        whole, part = getattr(bl, kind)(made), getattr(bl, kind)(first)
        ell = getattr(bl, kind)(made, given=0)
        for z in range(len(rows)):
            if given_z(p, side, rows, z) is None:
                continue
            for y in range(len(rows[z][0])):
                if first.marginal.probabilities[z] * made.marginal.pdf((z, y)) == 0:
                    continue
                o.not_above(whole((z, y)), part(z), ell(y, z))


def test_z_in_another_place_of_the_outcome():
    prior = bl.pmf([HALF, HALF])
    pair = matrix(NOISY) & matrix(NOISY)
    first, last = bl.pml(prior * pair, given=0), bl.pml(prior * pair, given=1)
    assert first(0, 1).ratio == last(0, 1).ratio
    three = bl.pml(prior * (pair & matrix(NOISY)), given=1)
    assert three((0, 1), 0).ratio == bl.pml(prior * pair, given=matrix(NOISY))((0, 1), 0).ratio


def test_labels_are_kept():
    prior = bl.pmf([HALF, HALF], on=bl.Finite(["no", "yes"]))
    mech = bl.Mechanism.from_matrix(NOISY, secret=["no", "yes"], outcome=["-", "+"])
    side = bl.Mechanism.from_matrix(IDENTITY, secret=["no", "yes"], outcome=["N", "Y"])
    ell = bl.pml(prior * mech, given=side)
    assert ell("+", "N").ratio == (1, 1)
    with pytest.raises(bl.OutsideAlphabet):
        ell["maybe"]
    assert "given Z on Finite(['N', 'Y'])" in repr(ell)


def test_continuous_alphabets_give_estimates():
    """X uniform, Z and Y Laplace noise: the prior given z is known to rounding only."""
    import mpmath

    def noise(y, x):
        return np.exp(-np.abs(y - x)) / 2

    secret = bl.Interval(0, 1)
    side = bl.Mechanism(noise, secret=secret, outcome=bl.Reals())
    made = bl.uniform(secret) * bl.mechanisms.laplace(b=1.0)
    ell = bl.pml(made, given=side)
    found = ell[0.0](2.0)
    weight = mpmath.quad(lambda x: mpmath.exp(-x), [0, 1])
    law = mpmath.quad(lambda x: mpmath.exp(-x) * mpmath.exp(x - 2), [0, 1]) / weight
    truth = float(mpmath.log(mpmath.exp(-1) / law))
    assert found.status == "estimate" and "normalised in float64" in found.reason
    assert found.lower <= truth <= found.upper and found.width < 1e-6
    for engine in ("certified", "exact"):
        with bl.options(engine=engine), pytest.raises(bl.NotYet, match="normalised in float64"):
            ell[0.0](2.0)
    with pytest.raises(bl.NotYet, match="supremum over side information"):
        ell.sup()


def test_side_information_on_a_line_about_a_finite_secret():
    """P(x|z) is p(x) f(z|x) / f_Z(z): both ways to ask prove the same of it."""
    import mpmath

    places, p, z = (0, 1, 3), (0.25, 0.5, 0.25), 0.75
    secret = bl.Finite(list(places))
    prior, side = bl.pmf(p, on=secret), bl.mechanisms.gaussian(sigma=1.0, secret=secret)
    mech = bl.mechanisms.laplace(b=1.0, secret=secret)
    with mpmath.workdps(40):
        weights = [w * mpmath.npdf(z, x, 1) for w, x in zip(p, places, strict=True)]
        law = [w / mpmath.fsum(weights) for w in weights]
        posterior = (prior * side).posterior(z)
        assert not posterior.unproved and posterior.rounding < 1e-12
        for found, value in zip(posterior.probabilities, law, strict=True):
            assert abs(found - value) <= posterior.rounding * value
        y = 0.5
        rows = [mpmath.exp(-abs(mpmath.mpf(y) - x)) for x in places]
        mean = mpmath.fsum(q * r for q, r in zip(law, rows, strict=True))
        for leakage, value in ((bl.pml, max(rows) / mean), (bl.pmc, mean / min(rows))):
            for found in (
                leakage(prior * mech, given=side)[z](y),
                leakage(posterior * mech)(y),
            ):
                assert found.status == "certified" and found.width < 1e-11
                assert found.lower <= mpmath.log(value) <= found.upper
    one, other = bl.pmc(prior * mech, given=side)[z].sup(), bl.pmc(posterior * mech).sup()
    assert one.status == other.status == "certified"
    assert (one.lower, one.upper) == (other.lower, other.upper)


def test_side_information_that_rules_a_secret_out():
    """Noise that is not negative, at 1/2: the secret 1 is ruled out, and no secret any more."""
    secret = bl.Finite([0, 1])
    side = bl.Mechanism(
        lambda y, x: np.where(y > x, np.exp(-(y - x)), 0.0), secret=secret, outcome=bl.Reals()
    )
    posterior = (bl.pmf([0.25, 0.75], on=secret) * side).posterior(0.5)
    np.testing.assert_array_equal(posterior.probabilities, [1.0, 0.0])


def test_a_kernel_that_is_not_proved_gives_a_posterior_that_is_not():
    secret = bl.Finite([0, 1])
    side = bl.Mechanism(
        lambda y, x: np.vectorize(lambda u, v: np.exp(-abs(u - v)) / 2)(y, x),
        secret=secret,
        outcome=bl.Reals(),
    )
    posterior = (bl.pmf([0.5, 0.5], on=secret) * side).posterior(0.5)
    assert "known in float64 only" in posterior.unproved
    np.testing.assert_allclose(posterior.probabilities, [0.5, 0.5])


@pytest.mark.slow
def test_finite_side_information_about_a_continuous_secret():
    secret = bl.Interval(0, 1)
    side = bl.Mechanism(
        lambda z, x: np.where(z == 1, x, 1 - x), secret=secret, outcome=bl.Finite([0, 1])
    )
    made = bl.uniform(secret) * bl.mechanisms.laplace(b=1.0)
    found = bl.pmc(made, given=side).sup()
    assert found.status == "estimate" and 0 < found.lower <= found.upper < 1


def test_what_side_information_is():
    prior = bl.pmf([HALF, HALF])
    made = prior * matrix(NOISY)
    with pytest.raises(bl.InvalidInput, match="given=<a mechanism"):
        bl.pml(made, given="side")
    with pytest.raises(bl.InvalidInput, match="the place of Z in a product"):
        bl.pml(made, given=0)
    with pytest.raises(bl.InvalidInput, match="the place of Z in a product"):
        bl.pml(prior * (matrix(NOISY) & matrix(NOISY)), given=2)
    with pytest.raises(bl.InvalidInput, match="a joint"):
        bl.pml(prior, given=matrix(NOISY))
    with pytest.raises(bl.InvalidInput, match="prior"):
        bl.pml(made, given=matrix([[F(1)]]))
    noise = bl.mechanisms.laplace(b=1.0)
    pair = bl.uniform(bl.Interval(0, 1)) * (noise & noise)
    with pytest.raises(bl.NotYet, match="not finite"):
        bl.pml(pair, given=0)
    import xarray as xr

    family = bl.mechanisms.randomized_response(k=2, epsilon=xr.DataArray([1.0], dims="e"))
    with pytest.raises(bl.NotYet, match="families of mechanisms"):
        bl.pml(prior * family, given=matrix(NOISY))


def test_infinite_cost_given_side_information():
    prior = bl.pmf([F(1, 3)] * 3)
    rows = [[F(1), F(0)], [F(0), F(1)], [HALF, HALF]]
    side = matrix([[F(1), F(0)], [F(1), F(0)], [F(0), F(1)]])
    lam = bl.pmc(prior * matrix(rows), given=side)
    assert lam[0].sup().lower == math.inf and lam[1].sup().ratio == (1, 1)
