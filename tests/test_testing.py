"""The checks for users' own objects: what is sound passes, each broken convention is found."""

import doctest
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel import testing
from borel.testing import check_measure, check_mechanism

AB = bl.Finite(["a", "b"])
UNIT, LINE, COUNTS = bl.Interval(0, 1), bl.Reals(), bl.Integers(0, None)
ATOM = bl.Mixed(UNIT, atoms=[0])

MEASURES = {
    "floats": bl.pmf([0.25, 0.75], on=AB),
    "Fractions": bl.pmf([F(1, 3), F(2, 3)]),
    "a product of pmfs": bl.pmf([0.25, 0.75], on=AB) * bl.pmf([F(1, 3), F(2, 3)]),
    "normal": bl.normal(mu=1, sigma=2),
    "cauchy": bl.cauchy(),
    "gamma with a pole": bl.gamma(alpha=0.5, beta=2),
    "beta": bl.beta(alpha=2, beta=5),
    "poisson": bl.poisson(mu=3),
    "geometric": bl.geometric(p=0.2),
    "integers": bl.Measure(lambda x: 0.5 ** abs(x) / 3, on=bl.Integers()),
    "own": bl.Measure(lambda x: 2 * x, on=UNIT),
    "atoms": bl.Measure(lambda x: 0.5 + 0 * x, on=ATOM, masses={0: 0.5}),
    "product": bl.uniform(UNIT) * bl.normal(),
    "mixture": bl.mixture([bl.normal(), bl.normal(mu=3)], weights=[0.5, 0.5]),
    "restricted": bl.normal().restrict(lambda x: x > 0),
    "opaque": bl.from_scipy(stats.triang(0.5)),
    "SciPy's beta": bl.from_scipy(stats.beta(2, 3)),
    "posterior": (bl.uniform(UNIT) * bl.mechanisms.laplace(b=1.0)).posterior(0.3),
}

LAPLACE = bl.mechanisms.laplace(b=1.0)
MATRIX = bl.Mechanism.from_matrix([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]], secret=AB)
MECHANISMS = {
    "matrix": (MATRIX, bl.pmf([0.1, 0.9], on=AB)),
    "two releases": (MATRIX & MATRIX, bl.pmf([F(1, 10), F(9, 10)], on=AB)),
    "randomised response": (
        bl.mechanisms.randomized_response(k=3, epsilon=1.0),
        bl.uniform(bl.Finite(3)),
    ),
    "counts": (
        bl.Mechanism(lambda y, x: (1 - x) * x**y, secret=bl.Finite([0.25, 0.5]), outcome=COUNTS),
        bl.pmf([0.5, 0.5], on=bl.Finite([0.25, 0.5])),
    ),
    "noise": (LAPLACE, bl.uniform(UNIT)),
    "clipped noise": (LAPLACE.clip(0, 1), None),
    "own": (
        bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=LINE),
        bl.uniform(UNIT),
    ),
    "two dimensions": (LAPLACE & bl.mechanisms.gaussian(sigma=1.0), None),
    "two secrets": (
        bl.Mechanism(
            lambda y, x: np.exp(-abs(y - x[0] - x[1])) / 2, secret=UNIT * UNIT, outcome=LINE
        ),
        None,
    ),
    "opaque": (
        bl.Mechanism.from_scipy(lambda x: stats.exponnorm(1.5, x), secret=UNIT, outcome=LINE),
        None,
    ),
    "SciPy's normal": (
        bl.Mechanism.from_scipy(lambda x: stats.norm(x, 1), secret=UNIT, outcome=LINE),
        None,
    ),
}


@pytest.mark.parametrize("name", MEASURES)
def test_sound_measures_pass(name):
    check_measure(MEASURES[name])


@pytest.mark.cases("slow", "noise", "own")
@pytest.mark.parametrize("name", MECHANISMS)
def test_sound_mechanisms_pass(name):
    check_mechanism(*MECHANISMS[name])


# -- what is broken is found ---------------------------------------------------------------------


def broken(make, **changes):
    """A sound object with something changed behind its constructor's back."""
    out = make()
    for name, value in changes.items():
        setattr(out, name, value)
    return out


def own():
    return bl.Measure(lambda x: 2 * x, on=UNIT)


def other_density(function, **more):
    from borel.probability.density import Density

    return Density(function, {"x": UNIT}, **more)


def captured_later():
    """A traced density that depends on a number changed afterwards."""
    scale = [2.0]
    out = bl.Measure(lambda x: scale[0] * x, on=UNIT)
    scale[0] = 3.0
    return out


def half_probabilities():
    out = bl.pmf([0.5, 0.5])
    out._probabilities = np.array([0.5, 0.25])
    return out


class Unbounded(bl.Measure):
    def pdf(self, x):
        return 2 * np.asarray(x, float)


class TwoMinds(bl.Measure):
    def logpdf(self, x):
        return super().logpdf(x) + 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: 3, "expected a Measure, got int"),
        (lambda: bl.pmf([[0.5, 0.5]]), r"expected one measure, got draws \(1,\)"),
        (lambda: broken(own, density=other_density(lambda x: 3 * x)), "expected a total of 1"),
        (lambda: broken(own, density=other_density(lambda x: 4 * x - 1)), "densities >= 0"),
        (half_probabilities, r"sum to 1.*got a sum of 0.75"),
        (captured_later, "the graph differs from the function"),
        (lambda: Unbounded(lambda x: 2 * x, on=UNIT), "expected OutsideAlphabet"),
        (lambda: TwoMinds(lambda x: 2 * x, on=UNIT), "logpdf is not the logarithm"),
        (
            lambda: bl.Measure(
                lambda x: 0.9 * 0.5 ** (x + 1), on=COUNTS, tail=lambda n: 0.0, _check=False
            ),
            "total",
        ),
    ],
)
def test_a_broken_measure_is_found(make, message):
    with pytest.raises(AssertionError, match=message):
        check_measure(make())


def sometimes_normalised():
    """Normalised at the five secrets that the constructor tries, and hardly anywhere else."""
    from borel.probability.density import probe

    tried = probe(UNIT, 5)

    def density(y, x):
        near = np.minimum.reduce([abs(x - t) for t in tried])
        return np.where(near < 1e-9, 1.0, 1.5) + 0 * y

    return bl.Mechanism(density, secret=UNIT, outcome=bl.Interval(0, 1))


def stray_sampler():
    out = bl.Mechanism(lambda y, x: 1 + 0 * y * x, secret=UNIT, outcome=UNIT)
    out.sampler = lambda x, rng: np.asarray(x) + 5
    return out


def wrong_rows():
    out = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    out._matrix = np.array([[0.5, 0.5], [0.25, 0.5]])
    return out


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bl.pmf([0.5, 0.5]), "expected a Mechanism, got Measure"),
        (sometimes_normalised, "integrates to 1 for every x, got about 1.5"),
        (stray_sampler, "sample gives points outside"),
        (wrong_rows, "rows that sum to 1.*secret 1"),
    ],
)
def test_a_broken_mechanism_is_found(make, message):
    with pytest.raises(AssertionError, match=message):
        check_mechanism(make())


@pytest.mark.parametrize("value", [-1.0, 5.0])
def test_leakage_against_its_laws(value):
    """A closed form that claims a negative PML, or more than -log min p."""
    from borel.probability.bound import Bound

    class Forms:
        def sup(self, kind, joint):
            return Bound.exact(value, value)

        def at(self, kind, joint, y):
            return Bound.exact(min(value, 0.1), min(value, 0.1))

    mech = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    mech.closed_forms = Forms()
    with pytest.raises(AssertionError, match=r"negative|above -log min p|against its supremum"):
        check_mechanism(mech, bl.pmf([0.5, 0.5]))


def test_the_doctests_of_the_module():
    assert doctest.testmod(testing).failed == 0
