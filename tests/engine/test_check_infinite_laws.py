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
from borel.audits.verification import verified
from borel.engine.certificates.checks import infinite_quantiles as checker
from borel.engine.certificates.checks.count_laws import check_count_laws
from borel.engine.certificates.checks.infinite_quantiles import check_infinite_laws

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

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


COUNTS = bl.poisson(mu=3.0)


def on_counts(name):
    """Noise whose tails are exponential, on counts: PMC is infinite at every outcome."""
    if name == "laplace":
        return COUNTS * bl.mechanisms.laplace(b=1.0, secret=COUNTS.on)
    prior = bl.geometric(p=0.25)
    return prior * bl.mechanisms.gaussian(sigma=2.0, secret=prior.on)


@pytest.mark.parametrize("name", ["laplace", "gauss"])
@pytest.mark.parametrize("s", [0.5, Fraction(1, 10)])
def test_infinite_quantiles_of_counts_are_verified(name, s):
    bound = bl.pmc(on_counts(name)).quantile(s)
    assert bound.proved and bound.lower == math.inf
    level = f"{Fraction(s).numerator}/{Fraction(s).denominator}"
    assert verified(f"pmc/law/quantile-{level}", bound).outcome == "verified"
    for other in ("pml/law/quantile-" + level, "pmc/law/quantile-1/100", "pmc", "pmc/law/mean"):
        assert verified(other, bound).outcome == "refused"


@cache
def of_counts():
    """PMC is infinite on (1/2, 1), of probability 3/8."""
    prior = bl.geometric(p=0.25)

    def first(y, n):
        return np.where(n < 2, np.where(y < 0.5, 2.0, 0.0), 1.0)

    joint = prior * bl.Mechanism(first, secret=prior.on, outcome=UNIT)
    return bl.pmc(joint).quantile(0.9).certificate


def test_the_levels_that_a_mass_of_counts_reaches():
    """N is 1 with probability 1/4, and then Y < 1/2: the boxes have 3/4 of their length."""
    good = of_counts()
    assert check_count_laws(good).ok
    proof = good["claim"]["proofs"][0]
    boxes = ([0.5625, 0.75], [0.75, 1.0])
    proofs = [altered(proof, "proof", "y", to={"box": box}) for box in boxes]
    for s, ok in (([6719, 10000], True), ([6718, 10000], False), ([1, 2], False)):
        made_ = altered(altered(good, "claim", "s", to=s), "claim", "proofs", to=proofs)
        assert check_count_laws(made_).ok == ok
    twice = altered(good, "claim", "proofs", to=[proofs[1], proofs[1]])
    assert [line.partition(":")[0] for line in check_count_laws(twice).failures] == ["boxes"]
    for path, to in (
        (("claim", "proofs", 0, "type"), "infinite"),
        (("claim", "proofs", 0, "proof", "y", "box"), [0.25, 0.75]),
        (("claim", "proofs", 0, "proof", "y", "box"), [0.75, 0.75]),
        (("claim", "head"), [2.0, 2.0]),
        (("claim", "head"), [0.0, 40.0]),
        (("claim", "proofs"), []),
        (("quantity",), "pml"),
        (("format",), 3),
        (("upper",), 5.0),
    ):
        assert not check_count_laws(altered(good, *path, to=to)).ok, path


@pytest.mark.parametrize("what", ["mean", "exp_mean"])
@pytest.mark.parametrize("name", ["gauss on normal", "laplace on normal", "laplace", "gauss"])
def test_infinite_means_carry_the_proof_of_some_outcomes(name, what):
    """All outcomes leak infinitely: the proof for a box of them is enough."""
    joint = INFINITE[name][0] if name in INFINITE else on_counts(name)
    bound = getattr(bl.pmc(joint), what)()
    assert bound.proved and bound.lower == math.inf
    assert verified(f"pmc/law/{what}", bound).outcome == "verified"
    low, high = bound.certificate["claim"]["proof"]["y"]["box"]
    assert low < high
    assert verified(f"pml/law/{what}", bound).outcome == "refused"


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

    from borel.numerics.graphs.trace import trace

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
    own = {"verifier", "taylor_models", "suprema", "poles", "rays"}
    assert modules_of_borel(checker) == {f"borel.engine.certificates.checks.{name}" for name in own}


def test_bounded_noise_on_a_finite_secret():
    """Y is impossible for another secret, always: every mean and quantile of PMC is infinite."""

    def window(y, x):
        return np.where((y >= x) & (y <= x + 1.5), 1 / 1.5, 0.0)

    secret = bl.Finite([0.0, 1.0, 3.0])
    joint = bl.pmf([0.25, 0.25, 0.5], on=secret) * bl.Mechanism(
        window, secret=secret, outcome=bl.Reals()
    )
    ell = bl.pmc(joint)
    for name, bound in (
        ("pmc", ell.sup()),
        ("pmc/law/quantile-0.5", ell.quantile(0.5)),
        ("pmc/law/mean", ell.mean()),
        ("pmc/law/exp_mean", ell.exp_mean()),
    ):
        assert bound.proved and bound.lower == math.inf
        assert verified(name, bound).outcome == "verified"


def test_noise_that_reaches_all_secrets_on_some_outcomes():
    """Outcomes in (0, 1), of probability 1/2, are possible for both: there nothing leaks."""

    def window(y, x):
        return np.where((y >= x - 1) & (y <= x + 1), 0.5, 0.0)

    secret = bl.Finite([0.0, 1.0])
    joint = bl.pmf([0.5, 0.5], on=secret) * bl.Mechanism(window, secret=secret, outcome=bl.Reals())
    ell = bl.pmc(joint)
    assert ell.quantile(Fraction(3, 4)).lower == math.inf
    for s in (Fraction(1, 4), Fraction(49, 100)):
        bound = ell.quantile(s)
        assert bound.lower <= 0 <= bound.upper <= 1e-8
    assert not check_infinite_laws(
        altered(ell.quantile(Fraction(3, 4)).certificate, "claim", "s", to=[49, 100])
    ).ok
