"""Priors whose density is seen to be positive almost everywhere, and some that are 0 somewhere."""

import mpmath
import numpy as np
import pytest

import borel as bl
from borel.engine.problem.prior_positivity import positive_on
from borel.engine.problem.secret_and_kernel import log_graph, secret_of
from borel.numerics.graphs.trace import trace

UNIT, LINE = bl.Interval(0, 1), bl.Reals()

POSITIVE = {
    "6x(1 - x)": (lambda x: 6 * x * (1 - x), ()),
    "2x": (lambda x: 2 * x, ()),
    "a triangle": (lambda x: 4 * np.where(x <= 0.5, x, 1 - x), (0.5,)),
    "the other way": (lambda x: 4 * np.where(0.5 < x, 1 - x, x), (0.5,)),
    "a least": (lambda x: 4 * np.minimum(x, 1 - x), (0.5,)),
    "3x^2": (lambda x: 3 * x**2, ()),
    "a root": (lambda x: 1.5 * np.sqrt(x), ()),
    "no bound": (lambda x: 0.5 / np.sqrt(x), ()),
    "an exponential": (lambda x: np.exp(-x) / (1 - np.exp(-1.0)), ()),
    "a sum": (lambda x: (1 + x) / 1.5, ()),
    "a logarithm": (lambda x: -np.log(x), ()),
    "its square": (lambda x: np.log(x) ** 2 / 2, ()),
    "of two signs": (lambda x: -4 * x * np.log(x), ()),
    "an absolute value": (lambda x: 4 * abs(x - 0.5), ()),
}
ZERO = {
    "half": (lambda x: np.where(x < 0.5, 2.0, 0.0), (0.5,)),
    "half, by x": (lambda x: np.where(x < 0.5, 0.0, 8 * x - 4), (0.5,)),
    "a positive part": (lambda x: 8 * np.maximum(x - 0.5, 0), (0.5,)),
    "no break": (lambda x: np.where(x < 0.5, 4 * x, 0.0) + np.where(x < 0.5, 1.0, 0.0), ()),
    "an infinite exponent": (
        lambda x: 2 * np.exp(1 - 2.0 ** (-np.log(np.where(x < 0.5, 1.0, 0.0)))),
        (0.5,),
    ),
    "a minimum of 0": (lambda x: 8 * np.minimum(x, np.where(x < 0.5, 1.0, 0.0)), (0.5,)),
}


def seen(density, breaks, upper=1.0):
    measure = bl.Measure(density, on=bl.Interval(0, upper), breaks=breaks)
    ends = np.array([0.0]), np.array([upper])
    return positive_on(log_graph(measure.density), ("x",), *ends, breaks)


@pytest.mark.parametrize("density, breaks", POSITIVE.values(), ids=POSITIVE)
def test_it_is_seen(density, breaks):
    assert seen(density, breaks)


@pytest.mark.parametrize("density, breaks", ZERO.values(), ids=ZERO)
def test_where_it_is_0_it_is_not_said_to_be_positive(density, breaks):
    assert not seen(density, breaks)


@pytest.mark.parametrize(
    "log_density, expected",
    [
        (lambda x: np.log(4 * x[0] * x[1]), True),
        (lambda x: np.log(x[0] + x[1]), True),
        (lambda x: np.log(x[0] - x[1]), False),
        (lambda x: np.log(np.where(x[0] < x[1], 2.0, 0.0)), False),
        (lambda x: -x[0] / (x[1] - 2), True),
        (lambda x: -1 / np.maximum(x[0] - x[1], 0), False),
        (lambda x: np.log1p(-x[0]), True),
        (lambda x: np.log1p(-2 * x[0]), False),
        (lambda x: np.log(x[0] * np.inf), False),
        (lambda x: np.sqrt(x[0] - 0.5), False),
        (lambda x: np.log(-np.log(x[0])), True),
        (lambda x: np.log(-np.log(np.where(x[0] < 0.5, x[1], 1.0))), False),
        (lambda x: np.log(1 - np.exp(-np.maximum(x[0] - x[1], 0))), False),
        (lambda x: np.log(-np.expm1(-x[0])), True),
        (lambda x: np.log(np.maximum(x[0] - 0.5, 0) * (1 + x[1])), False),
        (lambda x: np.log(abs(np.where(x[0] < 0.5, x[1], 0.0))), False),
        (lambda x: np.log(abs(x[0] - x[1]) * x[1]), True),
    ],
)
def test_several_coordinates(log_density, expected):
    graph = trace(log_density, (("x0", "x1"),), ())
    assert positive_on(graph, ("x0", "x1"), np.zeros(2), np.ones(2), ()) == expected


def test_a_half_line():
    graph = trace(lambda x: np.log(x) - x, ("x",), ())
    assert positive_on(graph, ("x",), np.zeros(1), np.array([np.inf]), ())
    assert not positive_on(graph, ("x",), np.array([-np.inf]), np.array([np.inf]), ())


@pytest.mark.truths
def test_means_under_it_are_sharp():
    """E PML of Gaussian noise on a secret with density 2x, of which x = 0 is the least likely."""
    mech = bl.Mechanism(
        lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi), secret=UNIT, outcome=LINE
    )
    prior = bl.Measure(lambda x: 2 * x, on=UNIT)
    assert secret_of(prior, ()).positive
    bound = bl.pml(prior * mech).mean()

    def f_y(y):
        return mpmath.quad(lambda x: 2 * x * mpmath.npdf(y - x), [0, 1])

    def part(y):
        top = mpmath.npdf(max(y - 1, -y, 0))
        return f_y(y) * mpmath.log(top / f_y(y))

    with mpmath.workdps(18):
        truth = mpmath.quad(part, [-8, -3, 0, 0.5, 1, 4, 9])
    assert bound.lower - 1e-13 <= truth <= bound.upper + 1e-13 and bound.width <= 1e-8


def test_a_hidden_half_is_not_revealed():
    """An extreme of the kernel where the prior has no density is none."""
    mech = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=LINE)
    for density, breaks in ZERO.values():
        joint = bl.Measure(density, on=UNIT, breaks=breaks) * mech
        y = -1.0 if density is not ZERO["half, by x"][0] else 2.0
        found = bl.pml(joint)(y)
        shown = bl.pml(joint)(1 - y)
        for bound, at in ((found, y), (shown, 1 - y)):
            x = np.linspace(0, 1, 40001)[1::2]
            with np.errstate(divide="ignore"):
                p = np.broadcast_to(density(x), x.shape)
            f = np.exp(-abs(at - x)) / 2
            truth = np.log(f[p > 0].max() / (f * p).mean())
            assert bound.lower <= truth + 1e-4 and truth - 1e-4 <= bound.upper
