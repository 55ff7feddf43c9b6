"""What objects keep: by explicit keys, and only what does not depend on who asked first."""

import copy
import pickle
from itertools import count

import pytest

import borel as bl
from borel import settings
from borel.probability.bound import Bound
from borel.probability.memo import Memo

MOVES = [copy.copy, copy.deepcopy, lambda memo: pickle.loads(pickle.dumps(memo))]


@pytest.fixture
def memo():
    return Memo()


@pytest.fixture
def wall(monkeypatch):
    """A clock of the processor."""
    now = [0.0]
    monkeypatch.setattr("time.thread_time", lambda: now[0])
    return now


def numbers():
    """Return a function that counts how often it is called."""
    return count(1).__next__


def test_a_fact_is_computed_once_for_all_figures(memo):
    compute = numbers()
    assert "a" not in memo
    for _ in range(2):
        with settings.one_figure():
            assert memo.fact("a", compute) == 1
    assert memo.fact("a", compute) == 1 and memo.fact("b", compute) == 2
    assert "a" in memo


def test_a_fact_may_be_none(memo):
    made = []
    for _ in range(2):
        assert memo.fact("a", lambda: made.append(1)) is None
    assert made == [1]


def test_a_fact_that_was_cut_short_is_not_kept(memo):
    compute, short = numbers(), [True]
    found = [memo.fact("a", compute, cut_short=lambda: short[0])]
    short[0] = False
    found += [memo.fact("a", compute, cut_short=lambda: short[0]) for _ in range(2)]
    assert found == [1, 2, 2]


def test_what_raises_is_not_kept(memo):
    with pytest.raises(ZeroDivisionError):
        memo.fact("a", lambda: 1 / 0)
    assert memo.fact("a", lambda: 7) == 7


def test_what_is_apart_is_not_paid_by_a_figure(memo):
    with settings.one_figure():
        memo.apart("a", lambda: settings.work("programmes", 1000))
        assert settings.now() == 0.0


def test_what_the_clock_cut_short_apart_is_not_kept(memo, wall):
    compute = numbers()

    def slow():
        settings.spent()
        wall[0] += 1e6
        settings.spent()
        return compute()

    assert memo.apart("a", slow) == 1
    assert memo.apart("a", compute) == memo.apart("a", compute) == 2


def test_what_is_of_a_figure_is_computed_anew_in_another(memo):
    compute = numbers()
    assert memo.in_figure("a", compute) == memo.in_figure("a", compute) == 1
    for k in (2, 3):
        with settings.one_figure():
            assert memo.in_figure("a", compute) == memo.in_figure("a", compute) == k


def test_a_figure_is_kept_by_its_options(memo):
    compute = numbers()
    assert memo.figure("a", compute) == 1
    with bl.options(tol=1e-3):
        assert memo.figure("a", compute) == 2
    assert memo.figure("a", compute) == 1
    with settings.one_figure():  # it has less time within another one
        assert memo.figure("a", compute) == 3
    assert memo.figure("a", compute) == 1


def test_a_figure_that_the_clock_stopped_is_computed_again(memo):
    stopped = Bound.undecided(reason=f"wide; {settings.STOPPED}")
    assert memo.figure("a", lambda: stopped) is stopped
    assert memo.figure("a", lambda: 5) == 5


def test_no_more_is_kept_than_some():
    memo, compute = Memo(most=3), numbers()
    assert [memo.fact(key, compute) for key in "abca"] == [1, 2, 3, 1]
    assert memo.fact("d", compute) == 4  # the others are forgotten
    assert memo.fact("a", compute) == 5


@pytest.mark.parametrize("move", MOVES)
def test_a_copy_is_empty(move):
    memo = Memo(most=1)
    memo.fact("a", lambda: 1)
    again = move(memo)
    assert "a" in memo and "a" not in again
    assert [again.fact(key, numbers()) for key in "bc"] == [1, 1]
    assert "b" not in again and "c" in again


@pytest.mark.parametrize("move", MOVES)
def test_what_is_known_of_an_object_is_not_known_of_its_copy(move):
    prior = bl.beta(alpha=2, beta=3)
    joint = prior * bl.mechanisms.laplace(b=1, secret=bl.Interval(0, 1))
    for one in (prior, joint, bl.pml(joint)):
        one._memo.fact("a", lambda: 1)
        again = move(one)
        assert "a" in one._memo and "a" not in again._memo
