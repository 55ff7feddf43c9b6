"""The public face of leakage: labels, the support, products, refusals, worked examples."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import oracles as o
import pytest

import borel as bl

HALF = F(1, 2)
EXAMPLE_3 = [
    [F(0), F(0), HALF, HALF],
    [F(0), F(0), HALF, HALF],
    [F(0), F(1, 5), F(2, 5), F(2, 5)],
    [F(1, 5), F(0), F(2, 5), F(2, 5)],
]
UNIFORM = [F(1, 4)] * 4


# -- the envelope draft, Example 3 ---------------------------------------------------------------


def test_example_3_with_fractions():
    """At 1 - delta = 9/10 the law jumps: log 10/9 on the left, log 4 on the right."""
    leak = bl.pml(bl.pmf(UNIFORM) * bl.Mechanism.from_matrix(EXAMPLE_3))
    left, right = leak.quantile(F(9, 10)), leak.quantile(F(9, 10), side="right")
    assert o.encloses(left, F(10, 9)) and left.width < 1e-15
    assert o.encloses(right, F(4)) and right.width < 1e-15
    assert left.status == right.status == "exact"
    assert leak.sup().ratio == (4, 4)
    assert leak.sup().witness in ({"x": 3, "y": 0}, {"x": 2, "y": 1})
    found = leak.tail(math.log(2))
    assert found.lower <= 0.1 <= found.upper and found.units == "probability"


@pytest.mark.parametrize("level", [0.9, F(9, 10), 1 - 0.1])
def test_example_3_with_floats_covers_both_sides(level):
    leak = bl.pml(bl.pmf([0.25] * 4) * bl.Mechanism.from_matrix(o.floats(EXAMPLE_3)))
    found = leak.quantile(level)
    for side in (F(10, 9), F(4)):
        assert o.between(found.lower, lambda r=side: o.log(r), found.upper)


@pytest.mark.parametrize("level", [F(9, 10) - F(1, 10**6), F(9, 10) + F(1, 10**6)])
def test_example_3_away_from_the_jump(level):
    for build in (lambda v: v, o.floats):
        joint = bl.pmf(build(UNIFORM)) * bl.Mechanism.from_matrix(build(EXAMPLE_3))
        found = bl.pml(joint).quantile(level)
        assert o.encloses(found, F(10, 9) if level < F(9, 10) else F(4)) and found.width < 1e-13


# -- closed forms --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("ratio", [F(1), F(3), F(10**6)])
def test_randomised_response(k, ratio):
    """Odds r to keep: PML = log k r / (r + k - 1), PMC = log (r + k - 1) / k, LDP = log r."""
    total = ratio + k - 1
    K = [[(ratio if x == y else 1) / total for y in range(k)] for x in range(k)]
    joint = bl.pmf([F(1, k)] * k) * bl.Mechanism.from_matrix(K)
    for y in range(k):
        assert bl.pml(joint)(y).ratio == (k * ratio / total,) * 2
        assert bl.pmc(joint)(y).ratio == (total / k,) * 2
    assert bl.ldp(joint).ratio == (ratio, ratio)


def test_extremes():
    identity = bl.Mechanism.from_matrix([[int(x == y) for y in range(3)] for x in range(3)])
    prior = bl.pmf([F(1, 2), F(1, 3), F(1, 6)])
    joint = prior * identity
    assert bl.pml(joint).sup().ratio == (6, 6)
    assert bl.pmc(joint).sup().lower == bl.ldp(joint).lower == math.inf
    assert bl.maximal_leakage(joint).ratio == (3, 3)
    useless = prior * bl.Mechanism.from_matrix([[1], [1], [1]])
    for figure in (
        bl.pml(useless).sup(),
        bl.pmc(useless).sup(),
        bl.ldp(useless),
        bl.maximal_leakage(useless),
    ):
        assert figure.lower == figure.upper == 0
    certain = bl.pmf([0, 1, 0]) * identity
    assert bl.pml(certain).sup().upper == bl.pmc(certain).sup().upper == bl.ldp(certain).upper == 0


# -- the support ---------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [lambda v: v, o.floats], ids=["fractions", "floats"])
def test_an_outcome_of_density_0(build):
    K = build([[HALF, HALF, F(0)], [F(1), F(0), F(0)], [F(0), F(0), F(1)]])
    joint = bl.pmf(build([HALF, HALF, F(0)])) * bl.Mechanism.from_matrix(K)
    for kind in (bl.pml, bl.pmc):
        bound = kind(joint)(2)
        assert bound.lower == bound.upper == 0 and bound.ratio == (1, 1)
        assert any("outside the support" in a for a in bound.assumptions)
        assert not any("outside the support" in a for a in kind(joint)(0).assumptions)
        assert kind(joint)([0, 2]).lower[1] == 0
    # the secret without mass does not make outcome 0 impossible
    assert o.encloses(bl.pmc(joint)(0), F(3, 2))


def test_outside_the_alphabet_is_an_error():
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
    leak = bl.pml(joint)
    for y in (2, -1, 0.5, "0", None, [0, 5], np.nan):
        with pytest.raises(bl.OutsideAlphabet):
            leak(y)
    with pytest.raises(bl.OutsideAlphabet):
        bl.information_density(joint)(2, 0)
    with pytest.raises(bl.OutsideAlphabet):
        joint.posterior(2)


# -- labels, never positions ---------------------------------------------------------------------


def test_labels_never_positions():
    mech = bl.Mechanism.from_matrix(
        [[F(9, 10), F(1, 10)], [F(2, 10), F(8, 10)]], secret=[1, 0], outcome=[5, 0]
    )
    joint = bl.pmf([F(1, 4), F(3, 4)], on=bl.Finite([0, 1])) * mech  # P(1) = 3/4
    p, K = [F(3, 4), F(1, 4)], [[F(9, 10), F(1, 10)], [F(2, 10), F(8, 10)]]
    assert bl.pml(joint)(5).ratio == (o.pml(p, K, 0),) * 2
    assert bl.pml(joint)(0).ratio == (o.pml(p, K, 1),) * 2
    assert o.encloses(bl.information_density(joint)(1, 5), o.density(p, K, 0, 0))
    assert o.encloses(bl.information_density(joint)(0, 5), o.density(p, K, 1, 0))
    with pytest.raises(bl.OutsideAlphabet):
        bl.pml(joint)(1)
    found = joint.posterior(5)
    assert found.pdf(1) == o.posterior(p, K, 0)[0]


def test_a_dataset_over_y_in_the_order_asked_for():
    labels = ["a", "b", "c"]
    K = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(1, 8), F(3, 4)]]
    joint = bl.pmf([HALF, HALF]) * bl.Mechanism.from_matrix(K, outcome=labels)
    data = bl.pml(joint)(["c", "a", "c"])
    assert set(data.data_vars) == {"lower", "upper", "status"} and data.sizes == {"y": 3}
    assert [str(v) for v in data.y.values] == ["c", "a", "c"]
    for i, y in enumerate("cac"):
        bound = bl.pml(joint)(y)
        assert float(data.lower[i]) == bound.lower and float(data.upper[i]) == bound.upper
    assert set(data.status.values) == {"exact"} and data.attrs["units"] == "nats"
    density = bl.information_density(joint)([0, 1], labels)
    assert density.lower.shape == (2, 3)
    assert float(density.sel(x=1, y="c").lower) == bl.information_density(joint)(1, "c").lower


def test_curves_over_the_same_outcomes_share_nothing_that_can_be_changed():
    joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    asked = np.array([0, 1])
    first = bl.pml(joint)(asked)
    kept = first.copy(deep=True)
    first["lower"][:], first.attrs["units"], first["lower"].attrs["units"] = 7.0, "bits", "bits"
    first["y"].attrs["units"] = "m"
    first["lower"].to_series().index.name = "outcome"
    asked[:] = 1  # the caller's own array is not the coordinate
    for values in (first["y"].values, first.indexes["y"].values):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 9
    again = bl.pml(joint)([0, 1])
    again.indexes["y"].name, again = "outcome", bl.pml(joint)([0, 1])
    assert first.indexes["y"].name == "outcome" and first["y"].to_index().name == "y"
    assert again.identical(kept) and again is not first
    assert again.indexes["y"].name == "y"
    cost = bl.pmc(joint)([0, 1])
    assert cost.attrs == {"quantity": "pointwise maximal cost", "units": "nats"}
    assert list(cost["y"].values) == [0, 1] and float(cost["lower"][0]) > 0.69


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], ["0", "1"], [False, True], [F(0), F(1)]])
def test_outcomes_that_are_equal_keep_their_own_labels(labels):
    kernel = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], outcome=bl.Finite(labels))
    leakage = bl.pml(bl.pmf([0.5, 0.5]) * kernel)
    for asked in (labels, labels[:1]):  # 0 and 0.0 have the same bytes
        found = leakage(asked)["y"].values.tolist()
        assert found == asked and [*map(type, found)] == [*map(type, asked)]


def test_a_prior_on_fewer_labels_and_on_others():
    K = [[HALF, HALF], [F(1, 4), F(3, 4)], [F(0), F(1)]]
    mech = bl.Mechanism.from_matrix(K, secret=["a", "b", "c"])
    joint = bl.pmf([F(1, 3), F(2, 3)], on=bl.Finite(["b", "a"])) * mech
    assert bl.pmc(joint)(0).ratio == (o.pmc([F(2, 3), F(1, 3)], K[:2], 0),) * 2
    with pytest.raises(bl.InvalidInput, match="labels"):
        bl.pmf([0.5, 0.5], on=bl.Finite(["a", "z"])) * mech


def test_product_alphabets():
    one = bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]], outcome=["n", "y"])
    two = bl.Mechanism.from_matrix([[F(1, 2), F(1, 2)], [F(1), F(0)]])
    joint = bl.pmf([HALF, HALF]) * (one & two)
    rows = o.both(*(m.matrix.tolist() for m in (one, two)))
    for j, label in enumerate(joint.mechanism.outcome.labels):
        assert bl.pml(joint)(label).ratio == (o.pml([HALF, HALF], rows, j),) * 2
    assert bl.pml(joint)(("y", 0)).ratio == (o.pml([HALF, HALF], rows, 2),) * 2
    for wrong in ("y", ("y",), ("y", 0, 0), (0, "y"), ("y", 2)):
        with pytest.raises(bl.InvalidInput):
            bl.pml(joint)(wrong)
    data = bl.pml(joint)((["y", "n"], [0, 1]))
    assert data.sizes["y"] == 2 and list(data.y0.values) == ["y", "n"]
    assert float(data.lower[0]) == bl.pml(joint)(("y", 0)).lower
    three = bl.pmf([HALF, HALF]) * (one & two & one)
    assert three.outcome.dim == 3 and bl.pml(three)(("y", 0, "y")).status == "exact"


# -- refusals ------------------------------------------------------------------------------------


MECH = bl.Mechanism.from_matrix([[0.5, 0.5], [0.25, 0.75]])
PRIOR = bl.pmf([0.5, 0.5])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: np.array([0.5, 0.5]) * MECH,
        lambda: np.array([0.5, 0.5]) @ MECH,
        lambda: MECH * np.array([0.5, 0.5]),
        lambda: np.array([0.5, 0.5]) * PRIOR,
        lambda: np.float64(0.5) * MECH,
        lambda: [0.5, 0.5] * MECH,
        lambda: np.exp(bl.pml(PRIOR * MECH)),
        lambda: np.array([1.0]) * bl.pml(PRIOR * MECH).sup(),
    ],
)
def test_arrays_are_not_priors(wrong):
    with pytest.raises(TypeError):
        wrong()


@pytest.mark.parametrize("wrong", [lambda: PRIOR @ MECH, lambda: MECH * PRIOR])
def test_the_wrong_operator_raises_with_the_right_one(wrong):
    with pytest.raises((TypeError, bl.BorelError), match=r"prior \* mech|mech @ prior"):
        wrong()


@pytest.mark.parametrize("wrong", [PRIOR, MECH, 0.5, None, np.eye(2)])
def test_leakage_of_what_is_no_joint(wrong):
    for function in (
        bl.pml,
        bl.pmc,
        bl.ldp,
        bl.lip,
        bl.alip,
        bl.information_density,
        bl.maximal_leakage,
        bl.mutual_information,
    ):
        with pytest.raises(bl.InvalidInput):
            function(wrong)


def test_thresholds_and_levels_are_numbers():
    leak = bl.pml(PRIOR * MECH)
    for wrong in (math.nan, "0.5", None, np.nan, leak.sup()):
        with pytest.raises(bl.InvalidInput):
            leak.tail(wrong)
        with pytest.raises(bl.InvalidInput):
            leak.quantile(wrong)
    for wrong in (0, 1.5, -0.1):
        with pytest.raises(bl.InvalidInput):
            leak.quantile(wrong)
    with pytest.raises(bl.InvalidInput):
        leak.quantile(1, side="right")
    with pytest.raises(bl.InvalidInput):
        leak.quantile(0.5, side="middle")


# -- caches do not mix ---------------------------------------------------------------------------


def test_figures_are_cached_and_kept_apart():
    leak = bl.pml(bl.pmf(UNIFORM) * bl.Mechanism.from_matrix(EXAMPLE_3))
    assert leak.sup() is leak.sup()
    assert leak.tail(0.5) != leak.tail(1.5)
    ties = leak.tail(0, closed=True), leak.tail(0)
    assert ties[0].lower == 1 == ties[1].lower
    assert leak.quantile(F(9, 10)) != leak.quantile(F(9, 10), side="right")


def test_the_matrix_is_not_the_users_array():
    """Changing the arrays afterwards changes nothing."""
    K, p = np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0.5, 0.5])
    joint = bl.pmf(p) * bl.Mechanism.from_matrix(K)
    K[:], p[:] = 0.5, [1.0, 0.0]
    assert o.encloses(bl.pml(joint)(0), F(4, 3))
    given = joint.mechanism.matrix
    try:
        given[0, 0] = 0.9
    except ValueError:
        pass
    assert o.encloses(bl.pml(joint)(0), F(4, 3))
    fresh = bl.pmf([0.5, 0.5]) * joint.mechanism
    assert o.encloses(bl.pml(fresh)(0), F(4, 3))


@pytest.mark.parametrize(("x", "y"), [(0.25, 2.5), (0.75, 0.5), (0.5, -3.0)])
def test_the_information_density_of_a_continuous_joint_is_certified(x, y):
    """Laplace noise on a uniform secret: f_Y has a closed form on each side of an outcome."""
    unit = bl.Interval(0, 1)
    found = bl.information_density(bl.uniform(unit) * bl.mechanisms.laplace(b=1.0, secret=unit))
    with mpmath.workdps(40):
        a, b = mpmath.mpf(max(min(y, 1.0), 0.0)), mpmath.mpf(y)
        # 2 f_Y = integral of e^-(y - x) below y and of e^-(x - y) above it
        below = mpmath.exp(-b) * (mpmath.exp(a) - 1)
        above = mpmath.exp(b) * (mpmath.exp(-a) - mpmath.exp(-1))
        truth = -abs(b - mpmath.mpf(x)) - mpmath.log(below + above)
        bound = found(x, y)
        assert bound.status == "certified"
        assert bound.lower <= truth <= bound.upper
        assert bound.width <= 1e-8


# -- levels that are logarithms of ratios --------------------------------------------------------


def test_the_law_jumps_at_a_ratio_that_no_float_hits():
    """Outcome 1 leaks log 24/23, with probability 23/24; the floats lie on both sides of that."""
    rows = [[F(1, 6), F(5, 6)], [F(0), F(1)], [F(0), F(1)], [F(0), F(1)]]
    joint = bl.pmf([F(1, 4)] * 4) * bl.Mechanism.from_matrix(rows)
    leak = bl.pml(joint)
    level = max(leak(1).ratio.upper, F(1))
    below, above = leak.cdf(math.nextafter(math.log(level), 0)), leak.cdf(ratio=level)
    mass = F(23, 24)
    assert above.lower <= mass <= above.upper and above.width < 1e-15 and above.status == "exact"
    assert below.upper < mass
    assert leak.tail(ratio=level, closed=True).lower == 1
    assert leak.tail(ratio=4).upper < 1 and leak.tail(ratio=4, closed=True).lower > 0


@pytest.mark.parametrize("seed", range(6))
def test_tails_at_ratios_are_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (3, 5)) + np.eye(3, 5, dtype=int)
    rows = [[F(int(v), int(sum(row))) for v in row] for row in counts]
    prior = [F(int(v), 10) for v in (2, 3, 5)]
    masses = [sum(p * row[j] for p, row in zip(prior, rows, strict=True)) for j in range(5)]
    live = [j for j in range(5) if masses[j]]
    of = {
        "pml": {j: max(row[j] for row in rows) / masses[j] for j in live},
        "pmc": {
            j: masses[j] / min(row[j] for row in rows) if min(row[j] for row in rows) else math.inf
            for j in live
        },
    }
    for make, name in ((F, "exact"), (float, "floats")):
        joint = bl.pmf([make(p) for p in prior]) * bl.Mechanism.from_matrix(
            [[make(v) for v in row] for row in rows]
        )
        for kind, leak in (("pml", bl.pml(joint)), ("pmc", bl.pmc(joint))):
            for ratio in {*(r for r in of[kind].values() if r != math.inf), F(1), F(7, 5)}:
                for closed in (False, True):
                    truth = sum(
                        (
                            masses[j]
                            for j in live
                            if of[kind][j] > ratio or (closed and of[kind][j] == ratio)
                        ),
                        F(0),
                    )
                    found = leak.tail(ratio=ratio, closed=closed)
                    assert F(found.lower) <= truth <= F(found.upper)
                    if name == "exact":
                        assert found.width < 1e-15
                    below = leak.cdf(ratio=ratio)
                    if not closed:
                        assert F(below.lower) <= 1 - truth <= F(below.upper)


def test_a_ratio_where_only_floats_are_known():
    """Two floats enclose log 6/5, so that the tail there lies between those of the two."""
    joint = bl.normal() * bl.mechanisms.gaussian(sigma=1.0)
    found = bl.pml(joint).tail(ratio=2)
    with mpmath.workdps(40):
        truth = mpmath.erfc(mpmath.sqrt(mpmath.log(2) - mpmath.log(2) / 2))
        assert found.lower <= truth <= found.upper and found.width < 1e-14


@pytest.mark.parametrize("wrong", [{}, {"t": 1, "ratio": 2}, {"ratio": 1.2}, {"ratio": F(0)}])
def test_a_wrong_level_is_refused(wrong):
    joint = bl.pmf([HALF, HALF]) * bl.Mechanism.from_matrix([[HALF, HALF], [F(1), F(0)]])
    for ask in (bl.pml(joint).tail, bl.pml(joint).cdf):
        with pytest.raises(bl.InvalidInput, match="ratio"):
            ask(**wrong)
