"""Numbers that are no Python floats: a threshold is compared as what it is, never rounded first."""

import math
import operator
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest

import borel as bl
from borel import guarantees as g
from borel.constants import exactly, real
from borel.errors import InvalidInput
from borel.guarantees.facts import facts_of

HALF = F(1, 2)
BIT = bl.pmf([HALF, HALF])


def symmetric(p):
    """A joint of a fair bit whose PML is log 2p at both outcomes."""
    return BIT * bl.Mechanism.from_matrix([[p, 1 - p], [1 - p, p]])


# PML lies between the two neighbours of each type: log 2p is irrational, so it is none of them
JOINT = symmetric(F(749, 1000))
SUP = bl.pml(JOINT).sup()
LEVEL = SUP.lower


def around(kind):
    """The nearest numbers of a type that lie below and above the enclosure of the level."""
    below, above = kind(SUP.lower), kind(SUP.upper)
    while F(*below.as_integer_ratio()) >= F(SUP.lower):
        below = np.nextafter(below, kind(0))
    while F(*above.as_integer_ratio()) <= F(SUP.upper):
        above = np.nextafter(above, kind(1))
    return below, above


TYPES = [np.float16, np.float32, np.float64, np.longdouble]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("symbol", ["le", "lt", "ge", "gt"])
def test_a_threshold_of_any_width_is_compared_as_it_is(kind, symbol):
    below, above = around(kind)
    compare = getattr(operator, symbol)
    at_most = symbol in ("le", "lt")
    assert compare(SUP, below).holds is (not at_most)
    assert compare(SUP, above).holds is at_most
    # and from the other side, where NumPy's numbers come first: t >= bound is bound <= t
    mirrored = getattr(operator, {"le": "ge", "lt": "gt", "ge": "le", "gt": "lt"}[symbol])
    assert mirrored(below, SUP).holds is (not at_most)
    assert mirrored(above, SUP).holds is at_most


def test_the_figure_that_was_called_private():
    # log 1.4995 = 0.40513170...; the float16 of it is 0.405029296875, which is less
    bound = bl.pml(symmetric(F(14995, 20000))).sup()
    assert not (bound <= np.float16(bound.lower))
    assert bound > np.float16(bound.lower)


@pytest.mark.parametrize("kind", TYPES)
def test_levels_of_guarantees_are_what_they_are(kind):
    below, above = around(kind)
    for guarantee in (g.PML, g.LIP, lambda t: g.ALIP(5, t)):
        # PML: log 1.498; LIP: PMC is larger, log 1/0.502 = 0.689
        wanted = guarantee is not g.LIP
        assert JOINT.satisfies(guarantee(below)).holds is False
        assert JOINT.satisfies(guarantee(above)).holds is wanted
    assert F(g.PML(below).epsilon) == F(*below.as_integer_ratio())


def test_a_tail_jumps_at_the_level_and_not_at_a_rounded_one():
    leakage = bl.pml(JOINT)
    for kind in TYPES:
        below, above = around(kind)
        assert (leakage.tail(below).lower, leakage.tail(above).upper) == (1, 0)
        assert leakage.cdf(below).upper < 1e-300 and leakage.cdf(above).upper == 1
    assert leakage.tail(Decimal("0.4041308850950277")).lower == 1  # log 1.498 = 0.40413088509502773
    assert leakage.tail(Decimal("0.4041308850950278")).upper == 0


@pytest.mark.parametrize(
    "s", [np.float16(0.5), np.float32(0.5), np.longdouble(0.5), Decimal("0.5"), F(1, 2)]
)
def test_quantiles_at_levels_of_any_type(s):
    # two outcomes of probability 1/2 with ratios 7/8 over 1/2 and 1/4 over 1/8, log 7/4 and log 2
    mech = bl.Mechanism.from_matrix([[F(7, 8), F(1, 8)], [F(1, 8), F(7, 8)]])
    leakage = bl.pml(bl.pmf([HALF, HALF]) * mech)
    assert leakage.quantile(s).ratio.lower <= F(7, 4) <= leakage.quantile(s).ratio.upper
    assert leakage.quantile(s) == leakage.quantile(0.5)


def test_a_level_of_a_quantile_is_not_rounded():
    # P{leakage = 0} is 1/3 exactly: at 1/3 the quantile is 0, at anything above it is not
    mech = bl.Mechanism.from_matrix([[F(1, 3), F(2, 3), 0], [F(1, 3), 0, F(2, 3)]])
    leakage = bl.pml(BIT * mech)
    just_above = np.nextafter(np.longdouble(1) / 3, np.longdouble(1))
    assert F(1, 3) < F(*just_above.as_integer_ratio()) < F(np.nextafter(1 / 3, 1))
    assert leakage.quantile(F(1, 3)).upper == 0
    assert leakage.quantile(just_above).lower > 0.69  # log 2


def test_deltas_are_what_they_are():
    # P{leakage = log 2} = 1/10 of the outcomes, and 1/10 is between its neighbours of every type
    tenth = F(1, 10)
    mech = bl.Mechanism.from_matrix([[tenth, 0, 1 - tenth], [0, tenth, 1 - tenth]])
    joint = BIT * mech  # both rare outcomes have mass 1/20: together 1/10
    for kind in TYPES:
        near = kind(0.1)
        for delta in (np.nextafter(near, kind(0)), near, np.nextafter(near, kind(1))):
            enough = F(*delta.as_integer_ratio()) >= tenth
            assert joint.satisfies(g.PML(0.1, delta=delta)).holds is enough
            kept = g.EML(0.1, delta=delta).delta
            assert F(kept) == F(*delta.as_integer_ratio())
            assert bl.event_maximal_leakage(joint, delta=delta).proved
            assert bl.envelope(joint)(delta).proved
    assert joint.satisfies(g.PML(0.1, delta=Decimal("0.1"))).holds is True


@pytest.mark.parametrize("closed", [True, False])
def test_a_certified_tail_at_a_level_that_is_no_float(closed):
    # the outcome says nothing: the leakage is 0, which is below any positive level
    unit = bl.Interval(0, 1)
    mech = bl.Mechanism(lambda y, x: 1 + 0 * x * y, secret=bl.Finite(2), outcome=unit)
    with bl.options(budget=0.05):
        tail = bl.pml(BIT * mech).tail(F(1, 10**400), closed=closed)
        assert tail.lower <= 0 <= tail.upper
        # and above any negative one
        tail = bl.pml(BIT * mech).tail(F(-1, 10**400), closed=closed)
        assert tail.lower <= 1 <= tail.upper


def test_ratios_of_numpy_integers_do_not_wrap_around():
    level = g.PML(ratio=np.int64(3)).levels[0].ratio
    assert level**50 == 3**50
    assert type(level.numerator) is int


def test_random_figures_take_thresholds_of_any_type():
    data = bl.models.dirichlet_posterior([30, 70], draws=50, random_seed=1)
    learnt = bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))
    epsilon = bl.pml(learnt * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])).sup()
    for t in (np.float16(0.75), np.longdouble(0.75), Decimal("0.75"), F(3, 4)):
        assert epsilon.cdf(t) == epsilon.cdf(0.75)
        assert (epsilon <= t).bound == (epsilon <= 0.75).bound
        assert epsilon.quantile(t) == epsilon.quantile(0.75)
    draw = float(epsilon.draws["upper"].values.max())
    just_below = F(draw) - F(1, 10**30)  # its float is the draw itself
    largest = (epsilon.draws["upper"] < draw).mean().item()
    assert epsilon.cdf(just_below) == epsilon.cdf(np.nextafter(draw, 0))
    assert epsilon.cdf(just_below) != epsilon.cdf(draw) and largest < 1


def test_a_confidence_is_compared_as_it_is():
    bound = bl.Bound.statistical(0.1, 0.2, confidence=0.94999998)
    asked = np.float32(0.95)  # 0.949999988079071: more than the Bound has
    assert F(float(asked)) > F(0.94999998)
    assert (bound <= 0.3).at(confidence=asked).holds is None
    assert (bound <= 0.3).at(confidence=np.float32(0.5)).holds is True


@pytest.mark.parametrize("value", [np.nan, np.float32("nan"), Decimal("NaN"), Decimal("sNaN")])
def test_not_a_number_is_refused(value):
    for ask in (lambda: value >= SUP, lambda: SUP <= value, lambda: bl.pml(JOINT).tail(value)):
        with pytest.raises((InvalidInput, ArithmeticError)):
            ask()


@pytest.mark.parametrize(
    "value", ["0.5", 0.5j, None, np.array(0.5), np.array([0.5]), SUP, np.True_]
)
def test_what_is_no_real_number_is_an_error_that_says_so(value):
    if value is SUP:  # two figures are compared
        assert (SUP <= value).holds is not False
    else:
        with pytest.raises(InvalidInput, match="expected a number"):
            SUP <= value  # noqa: B015
    with pytest.raises(InvalidInput, match="expected a number t"):
        bl.pml(JOINT).tail(value)
    with pytest.raises(InvalidInput, match="expected 0 <= delta"):
        g.PML(0.5, delta=value)


class Odd(float):
    """A number of another type, which rounds when it compares."""

    def __le__(self, other):
        return True


def test_a_number_is_read_before_it_is_compared():
    assert (SUP >= Odd(0.1)).holds is True
    assert type(real("x", Odd(0.1))) is float


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (np.float32(0.1), float(np.float32(0.1))),
        (np.longdouble(2) ** 70 + 2**10, F(2**70 + 2**10)),
        (np.longdouble("inf"), math.inf),
        (Decimal("-Infinity"), -math.inf),
        (Decimal("0.1"), F(1, 10)),
        (Decimal("0.25"), 0.25),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (F(1, 3), F(1, 3)),
    ],
)
def test_reading_keeps_the_value(given, wanted):
    assert real("x", given) == wanted
    assert type(real("x", given)) in (int, float, F)
    if abs(wanted) < math.inf:
        assert exactly(given) == F(wanted)


def test_options_are_plain_floats():
    with bl.options(tol=np.float32(1e-6), budget=Decimal(5)) as chosen:
        assert (type(chosen.tol), chosen.tol) == (float, float(np.float32(1e-6)))
        assert type(chosen.budget) is float


def test_parameters_that_float64_would_round_are_refused():
    with pytest.raises(InvalidInput, match="as a float"):
        bl.mechanisms.laplace(b=np.longdouble(1) / 3)
    with pytest.raises(InvalidInput, match="as a float"):
        bl.mechanisms.laplace(b=Decimal("0.1"))
    assert bl.mechanisms.laplace(b=np.float32(0.5)).closed_forms.b == 0.5


def test_a_radius_is_exact():
    third = np.longdouble(1) / 3
    ball = bl.priors.tv_ball(bl.pmf([HALF, HALF]), third)
    # the largest P{X = 0} over the ball is 1/2 + the radius
    truth = HALF + F(*third.as_integer_ratio())
    assert ball.upper([1, 0]).lower <= truth <= ball.upper([1, 0]).upper


def test_a_smallest_probability_is_below_what_a_number_stands_for():
    # the longdouble before 0.3: the nearest float64 is 0.3 itself, which is above it
    p = np.nextafter(np.longdouble(0.3), np.longdouble(0))
    assert float(p) == 0.3 > F(*p.as_integer_ratio())
    assert facts_of(p_min=p, alphabet="finite").p_min < F(*p.as_integer_ratio())
