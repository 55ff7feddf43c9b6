"""Secrets that are integers, with finite or countable outcomes: figures, truths, certificates."""

import copy
import json
import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

import borel as bl
from borel.audits.verification import verified, verify
from borel.engine.certificates.checks.counts import check_counts
from borel.engine.certificates.checks.discrete_laws import check_discrete_laws

pytestmark = [pytest.mark.proofs, pytest.mark.usefixtures("with_certificates")]

MP = mpmath.mp.clone()
MP.dps = 40
RATE = 3


def said(y, x):
    """Whether the count is small, said with noise: f(1|n) falls from 3/4 to 1/4."""
    return np.where(y == 1, 0.25 + 0.5 * np.exp(-x), 0.75 - 0.5 * np.exp(-x))


def kept(y, x):
    """The count itself, or one that has nothing to do with it."""
    return 0.25 * 0.5**y + 0.5 * np.where(y == x, 1.0, 0.0)


def noise(y, x):
    return 0.5 ** abs(y - x) / 3


@cache
def joint(name):
    counts = bl.Integers(0)
    kernel, outcome = {
        "said": (said, bl.Finite([0, 1])),
        "kept": (kept, counts),
        "noise": (noise, bl.Integers()),
    }[name]
    return bl.poisson(mu=RATE) * bl.Mechanism(kernel, secret=counts, outcome=outcome)


def prior(n):
    return MP.exp(-RATE) * MP.mpf(RATE) ** n / MP.factorial(n)


@cache
def rows(name):
    """Return f_Y, the supremum and the infimum over the secrets at each outcome."""
    quarter, half = MP.mpf(1) / 4, MP.mpf(1) / 2
    if name == "said":  # one end is that of n = 0, the other one the limit
        yes = quarter + half * MP.exp(RATE * (MP.exp(-1) - 1))
        return {0: (1 - yes, 3 * quarter, quarter), 1: (yes, 3 * quarter, quarter)}
    if name == "kept":
        rest = {y: quarter / 2**y for y in range(120)}
        return {y: (v + half * prior(y), v + half, v) for y, v in rest.items()}
    out = {}
    for y in range(-120, 200):
        mass = MP.fsum(prior(n) * half ** abs(y - n) for n in range(120)) / 3
        out[y] = mass, half ** max(-y, 0) / 3, MP.mpf(0)
    return out


def leakage(name, kind, y):
    mass, top, bottom = rows(name)[y]
    if kind == "pml":
        return MP.log(top / mass)
    return MP.log(mass / bottom) if bottom else MP.inf


def over_outcomes(name, kind):
    pairs = [(row[0], leakage(name, kind, y)) for y, row in rows(name).items()]
    return sorted(pairs, key=lambda pair: pair[1])


def truth(name, kind, figure):
    if figure == "cost":
        return -MP.log(MP.fsum(row[2] for row in rows(name).values()))
    if figure == "ldp":
        return max(MP.log(row[1] / row[2]) for row in rows(name).values())
    if figure == "maximal leakage":
        return MP.log(MP.fsum(row[1] for row in rows(name).values()))
    pairs = over_outcomes(name, kind)
    if figure == "at":
        return leakage(name, kind, 1)
    if figure == "sup":
        return pairs[-1][1]
    if figure == "tail":
        return MP.fsum(p for p, v in pairs if v > MP.mpf(0.5))
    if figure == "quantile":
        total = MP.mpf(0)
        for p, v in pairs:
            total += p
            if total >= MP.mpf(0.625):
                return v
    grown = [MP.exp(v) if figure == "exp_mean" else v for _, v in pairs]
    return MP.fsum(p * v for (p, _), v in zip(pairs, grown, strict=True))


ASK = {
    "at": lambda ell: ell(1),
    "sup": lambda ell: ell.sup(),
    "tail": lambda ell: ell.tail(0.5),
    "quantile": lambda ell: ell.quantile(Fraction(5, 8)),
    "mean": lambda ell: ell.mean(),
    "exp_mean": lambda ell: ell.exp_mean(),
}
MEASURES = {
    "cost": ("maximal_cost_leakage", bl.maximal_cost_leakage),
    "ldp": ("ldp", bl.ldp),
    "maximal leakage": ("maximal_leakage", bl.maximal_leakage),
}
FINITE = [
    *(("said", kind, figure) for kind in ("pml", "pmc") for figure in ASK),
    *(("said", "", figure) for figure in MEASURES),
    *((name, kind, figure) for name, kind in (("kept", "pml"), ("kept", "pmc"), ("noise", "pml"))
      for figure in ("at", "tail", "quantile")),
    ("kept", "", "cost"),
]  # fmt: skip
ENDLESS = [
    ("kept", "pml", "sup"),
    ("noise", "pml", "sup"),
    ("noise", "", "ldp"),
    *(("noise", "pmc", figure) for figure in ("at", "sup", "quantile", "mean", "exp_mean")),
]


@cache
def bound(name, kind, figure):
    if figure in MEASURES:
        return MEASURES[figure][1](joint(name))
    return ASK[figure](getattr(bl, kind)(joint(name)))


def made(*which):
    certificate = bound(*which).certificate
    assert certificate is not None, bound(*which)
    return json.loads(json.dumps(certificate))


def outcome(data, tmp_path):
    path = tmp_path / "figure.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    (one,) = verify(path)
    return one.outcome


@pytest.mark.parametrize("which", FINITE, ids=" ".join)
def test_it_encloses_the_truth_and_is_verified(which, tmp_path):
    found = bound(*which)
    assert found.lower <= truth(*which) <= found.upper
    assert found.width <= 1e-8 * max(1.0, found.lower)
    assert outcome(made(*which), tmp_path) == "verified"


@pytest.mark.parametrize("which", ENDLESS, ids=" ".join)
def test_an_infinity_is_verified(which, tmp_path):
    assert bound(*which).lower == math.inf
    assert outcome(made(*which), tmp_path) == "verified"


@pytest.mark.parametrize("which", [w for w in FINITE if w[2] not in ("at", "sup")], ids=" ".join)
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_an_end_beyond_the_truth_is_refused(which, side, tmp_path):
    data = made(*which)
    step = 1e-9 + data["upper"] - data["lower"]
    if side == "lower":
        data["lower"], data["upper"] = data["upper"] + step, data["upper"] + 2 * step
    else:
        data["lower"], data["upper"] = data["lower"] - 2 * step, data["lower"] - step
    assert outcome(data, tmp_path) == "refused"


def dropped(parts):
    del parts[0]


def twice(parts):
    parts[1] = copy.deepcopy(parts[0])


def moved(parts):
    parts[0]["place"] = parts[1]["place"] = 1.0


def narrow(parts):
    """Nothing is said of the counts beyond 2, which the kernel of those below bounds not."""
    for part in parts:
        part["head"], part["beyond"] = [0.0, 2.0], [math.log(0.5), math.log(0.55)]


def smaller(parts):
    for part in parts:
        part["beyond"] = [v - 1e-3 for v in part["beyond"]]


@pytest.mark.parametrize("change", [dropped, twice, moved, narrow, smaller])
@pytest.mark.parametrize("which", [("said", "pml", "mean"), ("said", "pmc", "tail")], ids=" ".join)
def test_an_altered_law_is_refused(which, change):
    data = made(*which)
    assert check_discrete_laws(data).ok
    change(data["claim"]["parts"])
    assert not check_discrete_laws(data).ok


def test_an_infinite_part_needs_its_proof():
    """PMC is infinite at each outcome of the noise, and its median with it."""
    data = made("noise", "pmc", "quantile")
    parts = data["claim"]["parts"]
    assert data["lower"] == "Infinity" and check_discrete_laws(data).ok
    for k, part in enumerate(parts):
        part["proof"] = copy.deepcopy(parts[(k + 1) % len(parts)]["proof"])
    assert not check_discrete_laws(data).ok
    for part in parts:
        del part["proof"]
    assert not check_discrete_laws(data).ok


def test_a_law_of_counts_is_no_other(tmp_path):
    data = made("said", "pml", "mean")
    for number in (2, 5):
        assert not check_discrete_laws({**data, "format": number}).ok
    part = {**data, "claim": data["claim"]["parts"][0], "lower": 0.0, "upper": 9.0}
    assert check_counts(part).ok
    assert not check_counts(data).ok


def swapped(data):
    data["terms"].reverse()


def one_kind(data):
    data["terms"][1] = data["terms"][0]


def another_order(data):
    data["terms"][1]["parts"].reverse()


def one_outcome(data):
    for term in data["terms"]:
        del term["parts"][1]


def another_joint(data):
    for part in data["terms"][1]["parts"]:
        part["prior"]["masses"] = {"graph": part["kernel"]["graph"], "log": False}


def another_quantity(data):
    data["quantity"] = "pml"


def one_more(data):
    data["terms"].append(data["terms"][0])


@pytest.mark.parametrize(
    "change",
    [swapped, one_kind, another_order, one_outcome, another_joint, another_quantity, one_more],
)
def test_an_altered_sum_is_refused(change, tmp_path):
    data = made("said", "", "ldp")
    change(data)
    assert outcome(data, tmp_path) == "refused"


def test_ldp_is_the_largest_sum_and_not_the_sum_of_the_largest():
    """PML is largest at the outcome that is rare, PMC at the other one."""
    found = bound("said", "", "ldp")
    largest = bound("said", "pml", "sup").lower + bound("said", "pmc", "sup").lower
    assert found.upper < math.log(3) + 1e-8 < largest


@pytest.mark.parametrize(("name", "found"), MEASURES.values(), ids=MEASURES)
def test_a_measure_of_the_joint_is_verified_by_name_only(name, found):
    one = found(joint("said"))
    assert verified(name, one).outcome == "verified"
    for other, _ in MEASURES.values():
        if other != name:
            assert verified(other, one).outcome != "verified"
