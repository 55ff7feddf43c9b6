"""Options: defaults, nesting, restoring, what is out of range."""

import math
import threading

import pytest

import borel as bl
from borel.settings import ENGINES, Options, current


def test_the_defaults():
    assert current() == Options(tol=1e-8, budget=60.0, engine="auto", seed=0, closed_forms=True)


def test_figures_without_certificates_are_as_good_as_those_with_them():
    joint = bl.uniform(bl.Interval(0, 1)) * bl.mechanisms.laplace(b=1.0)
    with bl.options(closed_forms=False):
        for figure in (lambda: bl.pml(joint)(0.25), lambda: bl.pml(joint).sup()):
            bare = figure()
            told = bare.certify()
            assert bare.certificate is None and told.certificate is not None
            assert bare.status == told.status == "certified"
            assert told.lower <= bare.lower <= bare.upper <= told.upper and told.width <= 1e-8


def test_options_nest_and_are_restored():
    before = current()
    with bl.options(tol=1e-3, seed=7) as outer:
        assert outer is current() and (outer.tol, outer.seed) == (1e-3, 7)
        with bl.options(engine="estimate") as inner:
            assert (inner.tol, inner.seed, inner.engine) == (1e-3, 7, "estimate")
        assert current() is outer
    assert current() == before


def test_options_are_restored_after_an_error():
    before = current()
    with pytest.raises(ZeroDivisionError), bl.options(tol=1e-3):
        _ = 1 / 0
    with pytest.raises(bl.InvalidInput), bl.options(tol=-1):
        pass
    assert current() == before


def test_options_belong_to_their_thread():
    seen = []
    with bl.options(tol=1e-3):
        thread = threading.Thread(target=lambda: seen.append(current().tol))
        thread.start()
        thread.join()
    assert seen == [1e-8]


def test_options_are_frozen():
    with pytest.raises(AttributeError):
        current().tol = 1.0


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_may_be_asked_for(engine):
    with bl.options(engine=engine) as chosen:
        assert chosen.engine == engine


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"closed_forms": 1}, "expected closed_forms, True or False, got closed_forms=1"),
        ({"tol": 0}, r"expected tol > 0 \(nats\), got tol=0"),
        ({"tol": -1e-9}, "tol > 0"),
        ({"tol": math.nan}, "tol > 0"),
        ({"budget": 0}, r"expected budget > 0 \(seconds\), got budget=0"),
        ({"budget": math.nan}, "budget > 0"),
        ({"engine": "fast"}, "expected engine in .*'certified'.*, got engine='fast'"),
        ({"engine": None}, "engine in"),
        ({"tolerance": 1}, "expected one of .*'tol'.*, got tolerance"),
    ],
)
def test_what_is_out_of_range_is_named(changes, expected):
    with pytest.raises(bl.InvalidInput, match=f"options: .*{expected}"), bl.options(**changes):
        pass


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"budgt": 3}, "did you mean budget"), ({"budget": -3}, "budget > 0"),
     ({"engine": "estimat"}, "engine in")],
)  # fmt: skip
def test_a_call_without_a_block_is_checked_and_says_that_it_does_nothing(changes, said):
    with pytest.raises(bl.InvalidInput, match=said):
        bl.options(**changes)
    before = current()
    chosen = bl.options(tol=1e-3)
    assert current() == before and "`with bl.options(tol=0.001):`" in repr(chosen)
    with chosen, chosen:  # also twice
        assert current().tol == 1e-3
    assert current() == before


def test_options_may_decorate_a_function():
    @bl.options(tol=1e-3)
    def tolerance(again=False):
        return (current().tol, tolerance()) if again else current().tol

    assert tolerance(again=True) == (1e-3, 1e-3) and current().tol != 1e-3
