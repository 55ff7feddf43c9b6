"""Labels stay what they are: none becomes another one on its way through an array."""

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import borel as bl
from borel.errors import InvalidInput, OutsideAlphabet
from borel.figures.leakage_curves import leakage_curve
from borel.probability.alphabets import exact_array
from borel.testing import check_mechanism

HALF = F(1, 2)
BIT = bl.pmf([HALF, HALF])
ROWS = [[F(7, 10), F(2, 10), F(1, 10)], [F(2, 10), F(1, 10), F(7, 10)]]
SQUARE = [[F(7, 10), F(3, 10)], [F(2, 10), F(8, 10)], [F(1, 10), F(9, 10)]]
RATIOS = [F(14, 9), F(4, 3), F(7, 4)]  # 7/10 over 9/20, 2/10 over 3/20, 7/10 over 8/20

# each list has labels that NumPy's own array of them takes for others
LABELS = [
    [0.5, 2**53, 2**53 + 1],
    [-1, 2**63, 2**63 + 1],
    [2**53 + 1, 2**53 + 2, 0],
    [2**70, 2**70 + 1, 0],
    [1, "1", 2.5],
    [(0, 1), (0, 2), (1, "1")],
    [(0, 1), (0, 1, 2), "no answer"],
    [frozenset({1}), frozenset({2}), 3],
    ["a", "a\0", "b"],
    [None, "a", b"a"],
]


def logs(ratios):
    return np.array([math.log(r) for r in ratios])


def released(labels):
    return bl.Mechanism.from_matrix(ROWS, outcome=labels)


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_leakage_at_many_labels_is_that_of_each(labels):
    leakage = bl.pml(BIT * released(labels))
    several = np.empty(3, dtype=object)
    several[:] = labels
    frames = [xr.DataArray(several), pd.Series(labels, dtype=object)]
    for asked in (labels, several, *frames):
        found = leakage(asked)
        assert (found["lower"].values <= logs(RATIOS) + 1e-15).all()
        assert (found["upper"].values >= logs(RATIOS) - 1e-15).all()
    for label, ratio in zip(labels, RATIOS, strict=True):
        assert leakage(label).ratio == (ratio, ratio)
    if not any(isinstance(a, tuple) for a in labels):
        assert leakage(labels)["y"].values.tolist() == labels


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_post_processing_takes_the_row_of_each_label(labels):
    post = bl.Mechanism.from_matrix([[1, 0], [1, 0], [0, 1]], secret=labels)
    merged = post @ released(labels)
    assert merged.matrix.tolist() == [[F(9, 10), F(1, 10)], [F(3, 10), F(7, 10)]]
    sup = bl.pml(BIT * merged).sup()
    assert sup.ratio == (F(7, 4), F(7, 4))
    assert (sup <= 0.1).holds is False


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_probabilities_are_those_of_each_label(labels):
    masses = [HALF, F(3, 8), F(1, 8)]
    prior = bl.pmf(masses, on=bl.Finite(labels))
    assert prior.pdf(labels).tolist() == masses
    assert [prior.pdf(a).item() for a in labels] == masses
    wider = bl.Finite([*reversed(labels), "another"])
    assert prior.at(wider).tolist() == [*reversed(masses), 0]
    mech = released(labels)
    assert mech.pdf(labels, [0, 0, 0]).tolist() == ROWS[0]
    assert mech.pdf(labels, [1, 1, 1]).tolist() == ROWS[1]
    backwards = bl.Mechanism.from_matrix(SQUARE, secret=labels)
    found = bl.information_density(prior * backwards)(labels, [0, 1])
    column = sum(m * row[0] for m, row in zip(masses, SQUARE, strict=True))
    truth = logs([row[0] / column for row in SQUARE])
    assert np.allclose(found["lower"].values[:, 0], truth, rtol=1e-12)
    check_mechanism(mech)


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_labels_of_a_product(labels):
    pair = released(labels) & released(labels)
    again = bl.Mechanism.from_matrix(np.eye(9, dtype=int), secret=pair.outcome)
    assert (again @ pair).matrix.tolist() == pair.matrix.tolist()
    leakage = bl.pml(BIT * pair)
    # of (a, b): the larger row product over the mean of both
    truth = []
    for j in range(3):
        first, second = (row[j] * row[2] for row in ROWS)
        truth.append(max(first, second) / ((first + second) / 2))
    found = leakage([(a, labels[2]) for a in labels])
    by_columns = leakage((labels, [labels[2]] * 3))
    for table in (found, by_columns):
        assert np.allclose(table["lower"].values, logs(truth), rtol=1e-12)


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_samples_are_labels(labels):
    drawn = released(labels).sample([0, 1] * 20, rng=0)
    assert {d for d in drawn.tolist()} <= set(labels)
    assert len(set(drawn.tolist())) == 3


@pytest.mark.parametrize("labels", LABELS[:5], ids=repr)
def test_a_curve_names_every_label(labels):
    names = leakage_curve(bl.pml(BIT * released(labels)))["y"].values.tolist()
    assert len(set(names)) == 3


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.longdouble])
def test_arrays_that_hold_the_labels_exactly(kind):
    labels = [2**53 + 1, 2**53 + 2, 2**60]
    found = bl.pml(BIT * released(labels))(np.array(labels, dtype=kind))
    assert np.allclose(found["lower"].values, logs(RATIOS), rtol=1e-12)
    with pytest.raises(OutsideAlphabet):  # their floats are other numbers
        bl.pml(BIT * released(labels))(np.array(labels, dtype=float))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([0.5, 2**53, 2**53 + 1], float), ([0, 2**24, 2**24 + 1], np.float32)],
)
def test_a_float_to_which_two_labels_round_is_none_of_them(labels, kind):
    leakage = bl.pml(BIT * released(labels))
    with pytest.raises(OutsideAlphabet, match="stands for several"):
        leakage(np.array(labels, dtype=kind))
    assert leakage(np.array(labels[:1], dtype=kind))["lower"].size == 1


def test_floats_that_are_labels_are_found():
    leakage = bl.pml(BIT * released([0, 1, 2]))
    for kind in (np.float16, np.float32, float, np.longdouble, np.int8, np.uint8, object):
        found = leakage(np.array([2, 0], dtype=kind))
        assert np.allclose(found["lower"].values, logs([RATIOS[2], RATIOS[0]]), rtol=1e-12)


@pytest.mark.parametrize("labels", [range(3), 3, [0, 1, 2]], ids=repr)
@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64])
def test_integers_of_any_kind_beyond_the_labels_are_none_of_them(labels, kind):
    alphabet, ends = bl.Finite(labels), np.iinfo(kind)
    found = alphabet.positions(np.array([[2, 0], [1, 1]], kind)[:, ::-1])
    assert found.tolist() == [[0, 2], [1, 1]] and found.dtype == int
    for beyond in {3, ends.min, ends.max, max(ends.min, -1)} - {0}:
        for among in ([beyond], [0, beyond], [[1], [beyond]], beyond):
            with pytest.raises(OutsideAlphabet):
                alphabet.positions(np.array(among, kind))


def test_labels_of_a_long_type_are_kept():
    third = np.longdouble(1) / 3
    alphabet = bl.Finite([third, 1 / 3, 1])
    assert alphabet.positions(third) == 0 and alphabet.positions(1 / 3) == 1
    assert alphabet.positions(np.array([1, third, 1 / 3], np.longdouble)).tolist() == [2, 0, 1]


@pytest.mark.parametrize("low", [2**53 - 2, 2**60, 2**70])
def test_large_integers_with_two_ends(low):
    whole = bl.Integers(low, low + 2)
    assert [int(whole.positions(y)) for y in (low, low + 1, low + 2)] == [0, 1, 2]
    assert whole.positions([low + 1, low]).tolist() == [1, 0]
    for y in (low - 1, low + 3, low + 4, [low, low + 3], [low, 0.5], F(2 * low + 1, 2), "1", None):
        with pytest.raises(OutsideAlphabet):
            whole.positions(y)


@pytest.mark.parametrize("point", [F(1, 3), 2**53 + 1, np.longdouble(1) / 3])
def test_no_figure_of_a_neighbour_on_the_line(point):
    noise = bl.Mechanism(
        lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Finite(2), outcome=bl.Reals()
    )
    leakage = bl.pml(BIT * noise)
    known = bl.pml(bl.priors.full_support(bl.Finite(2)) * noise)
    several = np.array([0.5, point], dtype=object)
    for ask in (leakage, known):
        for asked in (point, several, [0.5, point]):
            with pytest.raises(InvalidInput, match="float64 holds exactly"):
                ask(asked)
    line = bl.information_density(bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0))
    if point < 1:
        with pytest.raises(InvalidInput, match="x: expected a number that float64 holds exactly"):
            line(point, 0.5)
    with pytest.raises(InvalidInput, match="y: expected a number that float64 holds exactly"):
        line(0.5, point)


@pytest.mark.parametrize("values", [[1, 2.5], [True, 2], ["a", "b"], [1, "1"], [0.5, 2**53 + 1]])
def test_an_array_holds_what_it_was_given(values):
    assert exact_array(values).tolist() == values


# -- sets have no order -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [set, frozenset])
def test_labels_in_a_set_are_refused_wherever_their_order_matters(kind):
    names = kind({"yes", "no"})
    square = [[0.75, 0.25], [0.25, 0.75]]
    for make in (
        lambda: bl.Finite(names),
        lambda: bl.Mechanism.from_matrix(square, secret=names),
        lambda: bl.Mechanism.from_matrix(square, outcome=names),
        lambda: bl.mechanisms.randomized_response(secret=names, epsilon=1.0),
        lambda: bl.Mechanism.from_matrix(square).push(lambda y: "yes", outcome=names),
    ):
        with pytest.raises(InvalidInput, match="a set has none: list them"):
            make()


@pytest.mark.parametrize("outcomes", [{0, 1}, frozenset({0, 1}), {1}])
def test_a_set_of_outcomes_is_no_outcome(outcomes):
    joint = BIT * bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    for ask in (
        bl.pml(joint),
        bl.pmc(joint),
        joint.posterior,
        joint.prior.pdf,
        bl.pml(bl.priors.full_support(bl.Finite(2)) * joint.mechanism),
    ):
        with pytest.raises(InvalidInput, match="list them in the order"):
            ask(outcomes)


# -- a category that was forgotten ------------------------------------------------------------

THREE = bl.Mechanism.from_matrix(np.eye(3, dtype=int))


def posterior(**on):
    data = bl.models.dirichlet_posterior([30, 70], draws=20, random_seed=1)
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"], **on))


UNLABELLED = {
    "a pmf": lambda **on: bl.pmf([HALF, HALF], **on),
    "a DataArray": lambda **on: bl.pmf(
        xr.DataArray([0.5, 0.5], dims="x", coords={"x": [0, 1]}), **on
    ),
    "a Series": lambda **on: bl.pmf(pd.Series([0.5, 0.5]), **on),
    "conditioned": lambda **on: bl.pmf([HALF, HALF], **on).restrict(lambda x: x == 0),
    "a mixture": lambda **on: bl.mixture([bl.pmf([HALF, HALF], **on)], weights=[1]),
    "a ball": lambda **on: bl.priors.tv_ball(bl.pmf([HALF, HALF], **on), F(1, 10)),
    "a hull": lambda **on: bl.priors.hull([bl.pmf([HALF, HALF], **on)]),
    "a box": lambda **on: bl.priors.box([0.25, 0.25], [0.75, 0.75], **on),
    "counts": lambda **on: bl.priors.from_counts([30, 70], confidence=0.95, **on),
    "draws": posterior,
}


@pytest.mark.parametrize("make", UNLABELLED.values(), ids=UNLABELLED)
def test_probabilities_that_nobody_labelled_are_one_for_each_secret(make):
    with pytest.raises(InvalidInput, match="Nobody gave those of"):
        make() * THREE
    # labels that are given are matched, and 0, 1, ... may be given, too
    assert make(on=bl.Finite(2)) * THREE
    same = bl.Mechanism.from_matrix(np.eye(2, dtype=int))
    assert make() * same
    assert make(on=bl.Finite(2)) * same


def test_what_a_forgotten_category_would_do():
    # two of three secrets revealed: log 2 in place of log 3
    assert bl.pml(bl.pmf([HALF, HALF], on=bl.Finite(2)) * THREE).sup().ratio == (2, 2)
    assert bl.pml(bl.pmf([F(1, 3)] * 3) * THREE).sup().ratio == (3, 3)
    # a label without mass may be missing from the mechanism, as ever
    assert bl.pml(bl.pmf([HALF, HALF, 0, 0]) * THREE).sup().ratio == (2, 2)


def test_other_things_that_nobody_labelled():
    two, three = bl.pmf([HALF, HALF]), bl.pmf([HALF, F(1, 4), F(1, 4)])
    pairs = bl.Mechanism.from_matrix(np.eye(9, dtype=int), secret=bl.Finite(3) ** 2)
    for forget in (
        lambda: (two * two) * pairs,
        lambda: bl.iid(two, 2) * pairs,
        lambda: THREE @ bl.Mechanism.from_matrix([[HALF, HALF]] * 2),
        lambda: bl.renyi(two, three, 2),
        lambda: bl.f_divergence(two, three, "kl"),
        lambda: bl.max_divergence(two, three),
    ):
        with pytest.raises(InvalidInput, match="To mend it"):
            forget()
    # labels that are given are matched: log of the largest ratio, 1/2 over 1/4
    named = [bl.pmf(p.probabilities.tolist(), on=bl.Finite(p.on.size)) for p in (two, three)]
    assert bl.max_divergence(*named).ratio == (2, 2)
    assert bl.max_divergence(three, bl.pmf([HALF, HALF, 0])).lower == math.inf


def test_numbers_are_points_where_there_is_nothing_to_count():
    prior = bl.pmf([HALF, HALF])
    for secret in (bl.Interval(0, 1), bl.Reals()):
        assert prior * bl.mechanisms.laplace(b=1.0, secret=secret)
    counts = bl.Mechanism(
        lambda y, x: np.where(y == x, 1.0, 0.0),
        secret=bl.Integers(0, None),
        outcome=bl.Integers(0, None),
    )
    assert prior * counts
    assert prior * bl.Mechanism.from_matrix(np.eye(2, dtype=int), secret=bl.Integers(0, 1))


DAYS = pd.DatetimeIndex(["2020-01-01", "2020-07-02"])
TIMES = {
    "nanoseconds": DAYS.as_unit("ns"),
    "between microseconds": DAYS.as_unit("ns") + pd.Timedelta(1, "ns"),
    "a zone": DAYS.tz_localize("Europe/Paris"),
    "a zone, nanoseconds": DAYS.as_unit("ns").tz_localize("Europe/Paris"),
    "spans": pd.TimedeltaIndex(np.array([1, 2], dtype="timedelta64[ns]")),
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_times_are_labels_to_the_nanosecond_and_in_their_zone(times):
    # randomised response tells the truth 3 times of 4; 3/4 over 3/8 and 3/4 over 5/8
    on = bl.Finite(times)
    assert on.labels == tuple(times)
    prior = bl.pmf([F(1, 4), F(3, 4)], on=on)
    leakage = bl.pml(prior * bl.mechanisms.randomized_response(secret=on, ratio=F(3)))
    truth = logs([F(2), F(6, 5)])
    for asked in (times, list(times), pd.Series(times), times.to_numpy()):
        found = leakage(asked)
        assert (found["lower"].values <= truth + 1e-15).all()
        assert (found["upper"].values >= truth - 1e-15).all()
    assert leakage(times[0]).ratio == (2, 2)
    named = xr.DataArray([F(1, 4), F(3, 4)], dims="day", coords={"day": times})
    assert bl.pmf(named).on == on
    assert bl.pmf(pd.Series([0.25, 0.75], index=times)).on == on
    table = pd.DataFrame([[0.5, 0.5], [0.25, 0.75]], index=times, columns=times)
    assert bl.Mechanism.from_matrix(table).secret == on


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_draws_over_times_have_them_as_labels(times):
    draws = xr.Dataset(
        {"p": (("chain", "draw", "day"), np.full((1, 3, 2), [0.25, 0.75]))},
        coords={"day": times},
        attrs={"borel_draws": "exact"},
    )
    learnt = bl.priors.from_posterior(draws, lambda draw: bl.pmf(draw["p"]))
    respond = bl.mechanisms.randomized_response(secret=bl.Finite(times), ratio=F(3))
    found = bl.pml(learnt * respond).sup().draws
    assert (found["lower"].values <= math.log(2)).all()
    assert (found["upper"].values >= math.log(2)).all()
    rows = np.full((1, 3, 2, 2), HALF, dtype=float)
    grouped = xr.Dataset({"p": (("chain", "draw", "day", "x"), rows)}, {"day": times}, draws.attrs)
    groups = bl.priors.each_group(grouped, lambda draw: bl.pmf(draw["p"]), dim="day")
    assert list(groups) == list(times)


def test_a_time_that_is_missing_is_no_label():
    for unit in ("D", "us", "ns"):
        with pytest.raises(InvalidInput, match="drop what is missing"):
            bl.Finite(np.array(["2020-01-01", "NaT"], dtype=f"datetime64[{unit}]"))


def test_categories_of_a_model_may_be_nanoseconds():
    days = TIMES["nanoseconds"]
    draws = bl.models.dirichlet_posterior([3, 1], draws=4, categories=days.to_numpy())
    learnt = bl.priors.from_posterior(draws, lambda draw: bl.pmf(draw["p"]))
    respond = bl.mechanisms.randomized_response(secret=bl.Finite(days), ratio=F(3))
    assert bl.pml(learnt * respond).sup().draws["upper"].size == 16
