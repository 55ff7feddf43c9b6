"""The Clayton mixture: closed forms against integrals and maxima by mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest

import borel as bl

clayton = bl.mechanisms.clayton
THETAS = [0.25, 0.5, 1.0, 2.5, 8.0]


def holds(bound, truth):
    """Whether a Bound encloses the truth, at zero tolerance."""
    return bound.status == "exact" and mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


def copula(theta, x, y):
    """The density as the literature writes it."""
    total = x**-theta + y**-theta - 1
    return (1 + theta) * (x * y) ** (-theta - 1) * total ** (-2 - 1 / theta)


def largest(f, low, high):
    """Maximise a function with one mode by golden sections; the upper end is a candidate too."""
    end = f(high)
    g = (mp.sqrt(5) - 1) / 2
    a, b = high - g * (high - low), low + g * (high - low)
    fa, fb = f(a), f(b)
    for _ in range(150):
        if fa < fb:
            low, a, fa = a, b, fb
            b = low + g * (high - low)
            fb = f(b)
        else:
            high, b, fb = b, a, fa
            a = high - g * (high - low)
            fa = f(a)
    return max(fa, fb, end)


@pytest.mark.few(2)
@pytest.mark.parametrize("theta", THETAS)
def test_the_copula_has_uniform_marginals_and_falls_to_zero_in_x(theta):
    with mp.workdps(30):
        t = mp.mpf(theta)
        for y in ("0.05", "0.6", "0.95"):
            total = mp.quad(
                lambda s, y=y: copula(t, mp.exp(-s), mp.mpf(y)) * mp.exp(-s),
                [0, 0.01, 0.1, 1, 2, 4, 8, 16, 32, 64, 128, 512],
            )
            assert abs(total - 1) < mp.mpf("1e-15")
            assert copula(t, mp.mpf("1e-500"), mp.mpf(y)) < mp.mpf("1e-100")


@pytest.mark.few(6)
@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("eta", [0.1, 0.9])
def test_at_outcomes_on_both_sides_of_the_edge(theta, eta):
    mech = clayton(eta=eta, theta=theta)
    joint = mech.reference_prior * mech
    with mp.workdps(60):
        t, e = mp.mpf(theta), mp.mpf(eta)
        edge = float(((1 + t) / (1 + 2 * t)) ** (1 / t))
        for y in (1e-12, 0.01, 0.3, edge - 0.01, edge, math.nextafter(edge, 1), edge + 0.01, 1.0):
            top = largest(lambda x, y=y: copula(t, x, mp.mpf(y)), mp.mpf(10) ** -40, mp.mpf(1))
            assert holds(bl.pml(joint)(y), mp.log(e + (1 - e) * top))
            assert holds(bl.pmc(joint)(y), -mp.log(e))


def test_theta_1_as_the_paper_has_it():
    mech = clayton(eta=0.1)
    joint = mech.reference_prior * mech
    with mp.workdps(40):
        e = mp.mpf(0.1)
        for y in (0.001, 0.25, 0.66, 2 / 3, 0.67, 0.99):
            v = mp.mpf(y)
            top = 8 / (27 * v * (1 - v)) if v <= mp.mpf(2) / 3 else 2 * v
            assert holds(bl.pml(joint)(y), mp.log(e + (1 - e) * top))


@pytest.mark.parametrize("theta", THETAS)
def test_suprema(theta):
    mech = clayton(eta=0.25, theta=theta)
    joint = mech.reference_prior * mech
    cost, leak = bl.pmc(joint).sup(), bl.pml(joint).sup()
    with mp.workdps(40):
        assert holds(cost, mp.log(4))
    assert (leak.lower, leak.status, leak.attained) == (math.inf, "exact", False)
    assert bl.pml(joint)(1e-300).lower > 600  # and it does grow


@pytest.mark.parametrize("theta", [0.5, 1.0, 3.0])
def test_against_the_engine(theta):
    mech = clayton(eta=0.1, theta=theta)
    joint = mech.reference_prior * mech
    with bl.options(closed_forms=False):
        engine = {(k, y): getattr(bl, k)(joint)(y) for k in ("pml", "pmc") for y in (0.1, 0.9)}
    for (kind, y), found in engine.items():
        closed = getattr(bl, kind)(joint)(y)
        assert found.status == "certified" and found.width <= 1e-8
        assert found.lower <= closed.upper and closed.lower <= found.upper


def test_the_logarithmic_form_is_stable_down_to_the_ends():
    points = np.array([5e-324, 1e-300, 1e-12, 0.3, 0.9, 1 - 2**-53, 1.0])
    for theta in (1e-6, 0.5, 1.0, 40.0):
        mech = clayton(eta=0.1, theta=theta)
        found = mech.density.logarithm(points[:, None], points[None, :])
        with mp.workdps(80):
            t, e = mp.mpf(theta), mp.mpf(0.1)
            for i, y in enumerate(points):
                for j, x in enumerate(points):
                    truth = mp.log(e + (1 - e) * copula(t, mp.mpf(float(x)), mp.mpf(float(y))))
                    assert abs(found[i, j] - truth) <= 1e-11 * (1 + abs(truth))
    assert not mech.opaque and str(mech.normalisation).startswith("proved:")


def test_only_the_uniform_prior_on_the_whole_interval_matches():
    mech = clayton(eta=0.1)
    for prior in (
        bl.uniform(bl.Interval(0, 0.5)),
        bl.beta(alpha=1, beta=1),
        bl.uniform(bl.Interval(0, 1)).restrict(lambda x: x > 0.25),
    ):
        assert mech.closed_forms.at(prior * mech, "pmc", 0.5) is None
        assert mech.closed_forms.sup(prior * mech, "pml") is None
    joint = mech.reference_prior * mech
    assert mech.closed_forms.at(joint, "pmc", 0.0) is None  # f(0|.) is eta: another version


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eta": 0.0}, "eta > 0"),
        ({"eta": 1.0}, "eta inside"),
        ({"eta": 1.5}, "eta inside"),
        ({"eta": -0.1}, "eta > 0"),
        ({"eta": math.nan}, "eta = a finite"),
        ({"eta": 0.5, "theta": 0.0}, "theta > 0"),
        ({"eta": 0.5, "theta": -1.0}, "theta > 0"),
        ({"eta": 0.5, "theta": math.inf}, "theta = a finite"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(bl.InvalidInput, match="clayton") as error:
        clayton(**arguments)
    assert message in str(error.value)
