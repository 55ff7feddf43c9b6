"""The checker of infinite quantiles: it verifies those that hold, and refuses the rest."""

import copy
import dataclasses
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from engine.test_check import _window, altered, lines_of_code, modules_of_borel
from engine.test_check_poles import ABOVE, claim, singular

import borel as bl
from borel.engine.continuous import check_infinite_laws as checker
from borel.engine.continuous.check_infinite_laws import check_infinite_laws
from borel.verification import verified

UNIT = bl.Interval(0, 1)


@pytest.fixture(autouse=True)
def by_the_engine():
    with bl.options(closed_forms=False):
        yield


def half(y, x):
    """PMC is infinite on (1/2, 1), which has probability 1/4."""
    return np.where(x < 0.5, np.where(y < 0.5, 2.0, 0.0), 1.0)


HALF = bl.uniform(UNIT) * bl.Mechanism(half, secret=UNIT, outcome=UNIT)
INFINITE = {
    "zero on half the secrets": (HALF, 0.9),
    "closer to its mass": (HALF, Fraction(19, 25)),
    "a window": (_window(), 0.5),
    "gauss on normal": (bl.normal() * bl.mechanisms.gaussian(sigma=1.0), 0.5),
    "laplace on normal": (bl.normal() * bl.mechanisms.laplace(b=1.0), 0.25),
}


@pytest.mark.parametrize("name", INFINITE)
def test_infinite_quantiles_are_verified(name):
    joint, s = INFINITE[name]
    bound = bl.pmc(joint).quantile(s)
    assert bound.proved and bound.lower == math.inf
    assert bound.certificate["claim"]["type"] == "infinite_quantile"
    level = f"{Fraction(s).numerator}/{Fraction(s).denominator}"
    assert verified(f"pmc/law/quantile-{level}", bound).outcome == "verified"
    for other in ("pml/law/quantile-" + level, "pmc/law/quantile-1/100", "pmc", "lip"):
        assert verified(other, bound).outcome == "refused"
    for other in ("pmc/law/mean", "pmc/law/exp_mean", "pmc/one outcome", "pmc/law/quantile-1"):
        assert verified(other, bound).outcome == "refused"
    finite = dataclasses.replace(bound, lower=1.0, upper=2.0)
    assert verified(f"pmc/law/quantile-{level}", finite).outcome == "refused"


def test_one_from_the_right():
    bound = bl.pmc(HALF).quantile(0.9, side="right")
    assert bound.lower == math.inf and check_infinite_laws(bound.certificate).ok
    assert verified("pmc/law/quantile-0.9", bound).outcome == "refused"  # that is the left one


@cache
def of_half():
    return bl.pmc(HALF).quantile(0.9).certificate


def made(s=(9, 10), side="left", boxes=((0.5625, 0.75), (0.75, 1.0))):
    """Claim an infinite quantile with zeros of the kernel on boxes of outcomes."""
    certificate = copy.deepcopy(of_half())
    proof = certificate["claim"]["proofs"][0]
    proofs = [altered(proof, "proof", "y", to={"box": [*box]}) for box in boxes]
    certificate["claim"] |= {"s": [*s], "side": side, "proofs": proofs}
    return certificate


def test_the_levels_that_a_mass_reaches():
    """The boxes have the mass 7/32: the level is to be more than 25/32."""
    for side in ("left", "right"):
        assert check_infinite_laws(made((26, 32), side)).ok
        assert check_infinite_laws(made((25001, 32000), side)).ok
        for s in ((24999, 32000), (3, 4), (1, 2)):
            report = check_infinite_laws(made(s, side))
            assert [line.partition(":")[0] for line in report.failures] == ["mass"]
    assert not check_infinite_laws(made((25, 32))).ok
    assert check_infinite_laws(made((1, 1))).ok
    for s, side in (((0, 1), "left"), ((1, 1), "right"), ((3, 2), "left"), ((-1, 2), "right")):
        report = check_infinite_laws(made(s, side))
        assert any(line.startswith("level") for line in report.failures)


@pytest.mark.parametrize(
    ("boxes", "leaf"),
    [
        ([(0.75, 1.0), (0.75, 1.0)], "boxes"),
        ([(0.5625, 1.0), (0.75, 0.875)], "boxes"),
        ([(0.5625, 0.875), (0.75, 1.0)], "boxes"),
        ([(0.75, 1.0), (0.5625, 0.875)], "boxes"),
        ([(0.25, 1.0)], "infinite"),
        ([(0.75, 2.0)], "infinite"),
        ([(1.0, 2.0)], "infinite"),
        ([(1.0, 0.75)], "infinite"),
        ([(0.75, 0.75)], "infinite"),
        ([(0.75, math.inf)], "infinite"),
        ([(math.nan, 1.0)], "infinite"),
        ([("0.75", "1")], "infinite"),
        ([(0.75, 0.8125)], "mass"),
        ([], "mass"),
    ],
    ids=str,
)
def test_boxes_that_do_not_do(boxes, leaf):
    report = check_infinite_laws(made(boxes=boxes))
    assert not report.ok
    assert any(line.startswith((leaf, "certificate")) for line in report.failures)
    if leaf in ("boxes", "mass"):
        assert all(line.startswith(leaf) for line in report.failures)


ALTERED = {
    "quantity": (("quantity",), "pml"),
    "another quantity": (("quantity",), "ldp"),
    "format": (("format",), 2),
    "upper": (("upper",), 9.0),
    "type": (("claim", "type"), "law"),
    "figure": (("claim", "figure"), "tail"),
    "side": (("claim", "side"), "both"),
    "no fraction": (("claim", "s"), [0.9, 1]),
    "no level": (("claim", "s"), [9, 0]),
    "a word": (("claim", "s"), "9"),
    "another argument": (("claim", "proofs", 0, "type"), "slope"),
    "a pole": (("claim", "proofs", 0, "type"), "pole"),
    "no argument": (("claim", "proofs", 0, "proof"), {}),
    "moving outcomes": (
        ("claim", "proofs", 0, "proof", "y"),
        {"base": 1.0, "sign": -1, "power": 1.0, "s": [1.0, 1.0]},
    ),
    "secrets where it is not 0": (("claim", "proofs", 0, "proof", "x"), {"box": [0.5, 0.75]}),
    "no proofs": (("claim", "proofs"), []),
    "none": (("claim", "proofs"), None),
    "cover": (("claim", "cover"), [0.0, 0.5]),
    "points": (("outcome", "points"), [0.75]),
    "other outcomes": (("outcome", "upper"), 0.75),
    "a prior of less": (("prior", "upper"), 0.5),
    "all mass in atoms": (("prior", "atoms"), [[0.25, 2.0, 2.0]]),
}


@pytest.mark.parametrize("key", ALTERED)
def test_an_altered_certificate_is_refused(key):
    path, to = ALTERED[key]
    good = made()
    assert check_infinite_laws(good).ok
    assert not check_infinite_laws(altered(good, *path, to=to)).ok


def test_outcomes_of_little_mass_do_not_count():
    """The box is wide, but almost never there."""

    def rare(y, x):
        return np.where(x < 0.5, np.where(y < 0.5, 2.0, 0.0), np.where(y < 0.5, 1.5, 0.5))

    from borel.engine.graphs.trace import trace

    certificate = made((7, 8), boxes=[(0.5625, 1.0)])
    assert check_infinite_laws(certificate).ok
    certificate["kernel"]["graph"] = trace(rare, ("y", "x"), ()).to_json()
    report = check_infinite_laws(certificate)
    assert [line.partition(":")[0] for line in report.failures] == ["mass"]


def with_pole(box, s):
    pole = claim(singular, {"box": box}, ABOVE, -0.5)
    about = {"figure": "quantile", "s": s, "side": "left", "marginal": None}
    about |= {"cover": [0.0, 1.0], "edges": [0.0, 0.25, 0.5, 0.75, 1.0]}
    claimed = {"type": "infinite_quantile", **about, "proofs": [pole["claim"]]}
    return {**pole, "format": 3, "claim": claimed}


def test_only_what_is_sure_of_a_mass_counts(monkeypatch):
    """Nothing is known of f_Y from above."""
    monkeypatch.setattr(checker._InfiniteQuantile, "most_boxes", 4)
    report = check_infinite_laws(with_pole([0.25, 0.3125], [1, 2]))
    assert [line.partition(":")[0] for line in report.failures] == ["mass"]


def test_poles_at_every_outcome():
    whole = with_pole([0.25, 0.75], [7, 8])
    assert check_infinite_laws(whole).ok
    assert not check_infinite_laws(altered(whole, "quantity", to="pmc")).ok
    alone = altered(whole, "claim", "proofs", 0, "proof", "y", to={"box": [0.25, 0.25]})
    assert not check_infinite_laws(alone).ok


def test_it_is_small_and_shares_nothing_with_the_kernels():
    assert lines_of_code(checker) <= 80
    own = {"", "_models", "_outcomes", "_poles", "_rays"}
    assert modules_of_borel(checker) == {f"borel.engine.continuous.check{name}" for name in own}
