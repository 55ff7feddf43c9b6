"""Certificates of finite joints: verified if true, and refused if anything in them is not."""

import copy
import json
import math
import subprocess
import sys
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from checker import finite_cases as cases

import borel as bl
from borel.checker import Refused, verify
from borel.checker.reading import extended
from borel.checker.tables import FIGURES
from borel.engine.certificates.finite import certificate
from borel.errors import NotYet
from borel.probability.bound import Bound

K = [[F(1, 2), F(1, 3), F(1, 6), F(0)], [F(1, 4), F(1, 4), F(1, 2), F(0)], [F(1), F(0), F(0), F(0)]]
P = [F(1, 5), F(4, 5), F(0)]
Q = [F(3, 10), F(4, 15), F(13, 30), F(0)]
"""P_Y, by hand: 1/10 + 1/5, 1/15 + 1/5, 1/30 + 2/5; the third secret is impossible."""


def compute(of, figure, arguments):
    """Return a figure by the public functions."""
    name, _, what = figure.partition(".")
    if not what:
        return getattr(bl, name)(of)
    return getattr(getattr(bl, name)(of), what)(**arguments)


def table(k=K, p=P):
    def array(v):
        return np.array(v, dtype=object)

    return bl.pmf(array(p), on=bl.Finite(["a", "b", "c"])) * bl.Mechanism.from_matrix(
        array(k), secret=["a", "b", "c"], outcome=["r", "s", "t", "u"]
    )


def ln(value):
    return mp.log(real(value))


def mutual():
    pairs = [(P[x] * K[x][y], K[x][y] / Q[y]) for x in (0, 1) for y in range(3)]
    return sum(real(w) * ln(t) for w, t in pairs)


def real(value):
    return mp.mpf(value.numerator) / value.denominator


def hellinger():
    pairs = [(P[x] * Q[y], K[x][y] / Q[y]) for x in (0, 1) for y in range(3)]
    return 1 - sum(real(w) * mp.sqrt(real(t)) for w, t in pairs)


def chi_square():
    return real(sum(P[x] * (K[x][y] - Q[y]) ** 2 / Q[y] for x in (0, 1) for y in range(3)))


PML = [F(1, 2) / Q[0], F(1, 3) / Q[1], F(1, 2) / Q[2], F(1)]
PMC = [Q[0] / F(1, 4), Q[1] / F(1, 4), Q[2] / F(1, 6), F(1)]
TRUTHS = [
    (("pml.at", "s"), lambda: ln(PML[1])),
    (("pml.at", "u"), lambda: mp.mpf(0)),
    (("pml.sup",), lambda: ln(F(5, 3))),
    (("pmc.sup",), lambda: ln(F(13, 5))),
    (("pml.tail", {"ratio": "5/4"}, False), lambda: mp.mpf(3) / 10),
    (("pml.tail", {"ratio": "5/4"}, True), lambda: mp.mpf(17) / 30),
    (("pml.tail", {"nats": "0x0.0p+0"}, True), lambda: mp.mpf(1)),
    (("pml.cdf", {"ratio": "5/4"}), lambda: mp.mpf(7) / 10),
    (("pml.quantile", "13/30", "left"), lambda: ln(F(15, 13))),
    (("pml.quantile", "13/30", "right"), lambda: ln(F(5, 4))),
    (("pmc.quantile", "1/1", "left"), lambda: ln(F(13, 5))),
    (("pml.mean",), lambda: ln(F(5, 3)) * 3 / 10 + ln(F(5, 4)) * 4 / 15 + ln(F(15, 13)) * 13 / 30),
    (("pml.exp_mean",), lambda: mp.mpf(4) / 3),
    (("ldp",), lambda: ln(F(3))),
    (("lip",), lambda: ln(F(13, 5))),
    (("maximal_leakage",), lambda: ln(F(4, 3))),
    (("maximal_cost_leakage",), lambda: ln(F(3, 2))),
    (("mutual_information",), mutual),
    (("total_variation",), lambda: mp.mpf(8) / 75),
    (("f_information", "chi_square"), chi_square),
    (("f_information", "squared_hellinger"), hellinger),
    (("information_density", "a", "s"), lambda: ln(F(5, 4))),
]


def claimed(figure, arguments, low, high):
    """Return a certificate of what a test claims."""
    data = certificate(table(), "ldp", {}, bl.ldp(table()))
    names = FIGURES[figure][1]
    written = {n: repr(v) if n in ("x", "y") else v for n, v in zip(names, arguments, strict=True)}
    ends = {"lower": float(low).hex(), "upper": float(high).hex()}
    return {**data, "figure": figure, "arguments": written, **ends}


def below(value):
    found = float(value)
    return found if mp.mpf(found) <= value else math.nextafter(found, -math.inf)


def above(value):
    found = float(value)
    return found if mp.mpf(found) >= value else math.nextafter(found, math.inf)


@pytest.mark.parametrize(("figure", "by_hand"), TRUTHS, ids=[str(figure) for figure, _ in TRUTHS])
def test_the_nearest_floats_around_a_truth_are_verified_and_nothing_narrower_is(figure, by_hand):
    name, *arguments = figure
    truth = by_hand()
    low, high = below(truth), above(truth)
    assert verify(claimed(name, arguments, low, high)).figure == name
    up, down = math.nextafter(high, math.inf), math.nextafter(low, -math.inf)
    for ends in ((up, up), (down, down)) if low == high else ((high, up), (down, low)):
        with pytest.raises(Refused):
            verify(claimed(name, arguments, *ends))


def test_every_figure_has_a_truth_by_hand():
    of_pmc = {name.replace("pml", "pmc") for name in FIGURES}
    assert {name for (name, *_), _ in TRUTHS} >= {n for n in FIGURES if not n.startswith("pmc")}
    assert of_pmc <= {*FIGURES}


def test_infinities_are_claimed_and_verified():
    k = [[F(1), F(0), F(0), F(0)], [F(1, 2), F(1, 2), F(0), F(0)], K[2]]
    of = table(k)
    for name in ("pmc.sup", "ldp", "lip"):
        found = certificate(
            of, name, {}, getattr(bl, name)(of) if "." not in name else bl.pmc(of).sup()
        )
        assert found["lower"] == found["upper"] == "inf"
        verify(found)
        with pytest.raises(Refused):
            verify({**found, "upper": float(700).hex(), "lower": float(1).hex()})
    finite = certificate(table(), "pmc.sup", {}, bl.pmc(table()).sup())
    with pytest.raises(Refused):
        verify({**finite, "lower": "inf", "upper": "inf"})


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(10))
def test_figures_of_random_joints_are_verified(seed):
    of = cases.joint(seed, most=8)
    for figure, arguments, bound in cases.figures(of):
        assert verify(json.loads(json.dumps(cases.certified(of, figure, arguments, bound))))


@pytest.mark.proofs
@pytest.mark.parametrize("seed", range(300))
def test_all_figures_of_many_random_joints_are_verified(seed):
    of = cases.joint(seed)
    for figure, arguments, bound in cases.figures(of):
        verify(cases.certified(of, figure, arguments, bound))


@pytest.mark.parametrize("make", [F, float])
@pytest.mark.parametrize(
    "k",
    [
        [[F(1, 4), F(3, 4)]] * 3,
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, 1], [0, 1], [0, 1]],
        [[1, 0, 0], [F(1, 2), F(1, 2), 0], [F(1, 2), F(1, 4), F(1, 4)]],
    ],
    ids=["independent", "revealed", "constant", "triangular"],
)
def test_figures_of_joints_at_the_edge_are_verified(k, make):
    kernel, prior = (
        np.array([[make(v) for v in row] for row in rows], dtype=object if make is F else float)
        for rows in (k, [[F(1, 2), F(1, 4), F(1, 4)]])
    )
    of = bl.pmf(prior[0]) * bl.Mechanism.from_matrix(kernel)
    for figure, arguments, bound in cases.figures(of):
        if figure == "information_density" and not any(row[0] for row in k):
            continue  # of an outcome that is impossible
        verify(certificate(of, figure, arguments, bound))


def test_floats_mean_every_law_within_their_rounding():
    # of normalised laws within 2^-53 of these floats the largest PML at r is 1.8 (1 + O(2^-53))
    of = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.9, 0.1], [0.1, 0.9]])
    found = certificate(of, "pml.sup", {}, bl.pml(of).sup())
    verify(found)
    truth = mp.log(mp.mpf(9) / 5)
    assert float.fromhex(found["lower"]) < truth < float.fromhex(found["upper"])
    with pytest.raises(Refused):
        verify({**found, "lower": below(truth).hex()})
    engine = copy.deepcopy(found)  # the kernel of 9/10 and 1/10 is one of them
    engine["joint"]["matrix"] = {"entries": [["9/10", "1/10"], ["1/10", "9/10"]]}
    verify(engine)


def test_one_secret_leaks_nothing_though_floats_are_meant_loosely():
    of = bl.pmf([0.0, 1.0]) * bl.Mechanism.from_matrix([[0.9, 0.1], [0.3, 0.7]])
    data = certificate(of, "pml.sup", {}, Bound.exact(0.0, 0.0))
    for figure in ("pml.sup", "pmc.sup", "ldp", "mutual_information", "lip"):
        verify({**data, "figure": figure})


def test_an_exact_zero_stays_one_and_the_smallest_float_does_not():
    least = 5e-324
    rows = [[1.0, 0.0], [1.0, least]]
    of = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix(rows)
    infinite = certificate(of, "pmc.at", {"y": 1}, Bound.exact(math.inf, math.inf))
    verify(infinite)
    infinite["joint"]["matrix"]["entries"][0][1] = least.hex()
    with pytest.raises(Refused):
        verify(infinite)


# -- the figures of the main job --------------------------------------------------------------


ANSWERS = ["none", "some", "many"]


def test_randomised_response_is_stated_by_its_formula():
    mech = bl.mechanisms.randomized_response(secret=ANSWERS, epsilon=1.5)
    for p in ([0.6, 0.3, 0.1], [0.68, 0.21, 0.11], [F(1, 2), F(1, 4), F(1, 4)]):
        of = bl.pmf(p, on=bl.Finite(ANSWERS)) * mech
        for figure, arguments, bound in cases.figures(of):
            data = certificate(of, figure, arguments, bound)
            assert data["joint"]["matrix"] == {"randomized_response": {"nats": (1.5).hex()}}
            verify(data)


def test_its_ldp_level_is_epsilon():
    mech = bl.mechanisms.randomized_response(secret=ANSWERS, ratio=3)
    of = bl.pmf([F(1, 2), F(1, 4), F(1, 4)], on=bl.Finite(ANSWERS)) * mech
    data = certificate(of, "ldp", {}, bl.ldp(of))
    verify(data)
    data["joint"]["matrix"]["randomized_response"]["ratio"] = "4/1"
    with pytest.raises(Refused):
        verify(data)


def test_any_draw_of_a_posterior_is_a_table():
    learnt = bl.models.dirichlet_posterior([20, 8, 5], categories=ANSWERS, random_seed=1)
    posterior = bl.priors.from_posterior(learnt, lambda draw: bl.pmf(draw["p"]))
    mech = bl.mechanisms.randomized_response(secret=ANSWERS, epsilon=1.5)
    of = posterior.one(7) * mech
    for figure, bound in (
        ("pml.sup", bl.pml(of).sup()),
        ("mutual_information", bl.mutual_information(of)),
    ):
        verify(certificate(of, figure, {}, bound))


# -- forgeries --------------------------------------------------------------------------------


def sound():
    return certificate(table(), "pml.sup", {}, bl.pml(table()).sup())


def change(path, value):
    def forge(data):
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    return forge


def drop(*path):
    def forge(data):
        for key in path[:-1]:
            data = data[key]
        del data[path[-1]]

    return forge


ROWS = ("joint", "matrix", "entries")
LAW = ("joint", "prior", "entries")
FORGED = {
    "narrower above": change(["upper"], math.nextafter(math.log(5 / 3), 0).hex()),
    "higher below": change(["lower"], (0.52).hex()),
    "ends exchanged": lambda d: d.update(lower=d["upper"], upper=d["lower"]),
    "mass moved": change([*ROWS, 0], ["2/3", "1/6", "1/6", "0/1"]),
    "a negative probability": change([*ROWS, 0], ["3/2", "-1/2", "0/1", "0/1"]),
    "a row that sums to less": change([*ROWS, 0], ["1/2", "1/3", "1/7", "0/1"]),
    "a prior that sums to more": change([*LAW], ["1/5", "4/5", "1/5"]),
    "another prior": change([*LAW], ["1/10", "9/10", "0/1"]),
    "the impossible secret made possible": change([*LAW], ["1/5", "3/5", "1/5"]),
    "rows in another order": lambda d: d["joint"]["matrix"]["entries"].reverse(),
    "labels in another order": lambda d: (
        d.update(figure="pml.at", arguments={"y": "'r'"}),
        d["joint"]["outcome"].reverse(),
    ),
    "a row missing": lambda d: d["joint"]["matrix"]["entries"].pop(),
    "an entry missing": lambda d: d["joint"]["matrix"]["entries"][0].pop(),
    "an outcome twice": change(["joint", "outcome"], ["'r'", "'s'", "'t'", "'t'"]),
    "a secret twice": change(["joint", "secret"], ["'a'", "'b'", "'b'"]),
    "an outcome more": lambda d: d["joint"]["outcome"].append("'v'"),
    "no outcome": change(["joint", "outcome"], []),
    "a label that is a number": change(["joint", "outcome"], ["'r'", "'s'", "'t'", 3]),
    "floats without rounding": change([*ROWS, 0], [v.hex() for v in (0.5, 0.25, 0.25, 0.0)]),
    "floats beside Fractions": change([*ROWS, 0, 0], (0.5).hex()),
    "a rounding of 0": change(
        ["joint", "prior"],
        {"entries": [v.hex() for v in (0.2, 0.8, 0.0)], "rounding": (0.0).hex()},
    ),
    "a rounding too small": change(
        ["joint", "prior"],
        {"entries": [v.hex() for v in (0.2, 0.8, 0.0)], "rounding": (2.0**-54).hex()},
    ),
    "a rounding too large": change(
        ["joint", "prior"],
        {"entries": [v.hex() for v in (0.2, 0.8, 0.0)], "rounding": (0.01).hex()},
    ),
    "floats that miss 1": change(
        ["joint", "prior"],
        {"entries": [v.hex() for v in (0.2, 0.8 + 1e-12, 0.0)], "rounding": (2.0**-53).hex()},
    ),
    "a JSON number": change([*ROWS, 0, 0], 0.5),
    "an integer": change([*ROWS, 2, 0], 1),
    "a truth value": change([*ROWS, 2, 0], True),
    "null": change([*ROWS, 2, 0], None),
    "NaN": change([*ROWS, 2, 0], "nan"),
    "NaN as a bound": change(["upper"], "nan"),
    "an infinite entry": change([*ROWS, 2, 0], "inf"),
    "a decimal": change([*ROWS, 2, 0], "1.0"),
    "not in lowest terms": change([*ROWS, 2, 0], "2/2"),
    "a denominator of 0": change([*ROWS, 2, 0], "1/0"),
    "a million digits": change([*ROWS, 2, 0], f"{10**4000}{10**4000}/1"),
    "a huge exponent": change(["upper"], "0x1p+999999999"),
    "a string for a list": change([*ROWS], "1/1"),
    "a list for a record": change(["joint", "prior"], ["1/1"]),
    "a key more": change(["joint", "more"], 1),
    "a key more outside": change(["more"], 1),
    "a key more in the matrix": change(["joint", "matrix", "more"], []),
    "an argument more": change(["arguments", "y"], "'r'"),
    "no prior": drop("joint", "prior"),
    "no matrix": drop("joint", "matrix"),
    "no proof": drop("proof"),
    "a proof of something": change(["proof"], {"rows": []}),
    "no figure": drop("figure"),
    "an unknown figure": change(["figure"], "pml.sup.sup"),
    "another figure": change(["figure"], "pmc.sup"),
    "a figure of another type": change(["figure"], ["pml.sup"]),
    "another format": change(["format"], 19),
    "a format that is true": change(["format"], True),
    "both a kernel and a matrix": change(["joint", "kernel"], {}),
    "randomised response of other labels": change(
        ["joint", "matrix"], {"randomized_response": {"ratio": "3/1"}}
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_certificates_are_refused(name):
    data = sound()
    verify(copy.deepcopy(data))
    FORGED[name](data)
    with pytest.raises(Refused):
        verify(data)


@pytest.mark.parametrize(
    ("figure", "arguments"),
    [
        ("pml.at", {"y": "'x'"}),
        ("pml.at", {"y": 0}),
        ("pml.at", {}),
        ("pml.tail", {"t": {"nats": "nan"}, "closed": False}),
        ("pml.tail", {"t": {"nats": (0.1).hex()}, "closed": 0}),
        ("pml.tail", {"t": {"ratio": "0/1"}, "closed": False}),
        ("pml.tail", {"t": {"ratio": "inf"}, "closed": False}),
        ("pml.tail", {"t": {"nats": (0.1).hex(), "ratio": "1/1"}, "closed": False}),
        ("pml.tail", {"t": (0.1).hex(), "closed": False}),
        ("pml.quantile", {"s": "0/1", "side": "left"}),
        ("pml.quantile", {"s": "1/1", "side": "right"}),
        ("pml.quantile", {"s": "1/2", "side": "both"}),
        ("f_information", {"f": "t - 1"}),
        ("information_density", {"x": "'c'", "y": "'r'"}),
    ],
)
def test_arguments_that_are_none_are_refused(figure, arguments):
    data = {**sound(), "figure": figure, "arguments": arguments, "lower": "-inf", "upper": "inf"}
    with pytest.raises(Refused):
        verify(data)


def test_two_numbers_that_8192_bits_do_not_tell_apart_are_refused():
    # p / q is as near to log 5/4 as a fraction of 2000 digits can be: whether PML is above it
    mp.mp.dps = 4500
    level = mp.log(mp.mpf(5) / 4)
    q = 10**2040
    p = int(mp.floor(level * q))
    near = F(p, q)
    data = claimed("pml.tail", ({"nats": f"{near.numerator}/{near.denominator}"}, False), 0.5, 0.6)
    verify(data)  # 6800 bits tell them apart
    with pytest.raises(Refused):
        verify({**data, "upper": (0.5).hex()})


def test_many_long_denominators_are_refused_at_once():
    rows = [[f"1/{10**3000 + 7 * i + 1}" for i in range(4)] for _ in range(30)]
    data = sound()
    data["joint"]["matrix"]["entries"] = rows
    data["joint"]["secret"] = [str(i) for i in range(30)]
    data["joint"]["prior"]["entries"] = [f"1/{10**3000 + i}" for i in range(30)]
    with pytest.raises(Refused, match="digits"):
        verify(data)


def test_data_that_holds_itself_are_refused():
    data = sound()
    data["joint"]["matrix"]["entries"][0] = data["joint"]["matrix"]["entries"]
    with pytest.raises(Refused):
        verify(data)
    data["arguments"]["y"] = data
    with pytest.raises(Refused):
        verify(data)


def test_levels_beyond_all_floats_are_compared():
    for t in ("0x1.0000000000000p+1023", "-0x1.0000000000000p+1023", "inf", "-inf"):
        up = t.startswith("-")
        low = high = 1.0 if up else 0.0
        verify(claimed("pml.tail", ({"nats": t}, False), low, high))


@pytest.mark.attacks
@pytest.mark.parametrize("seed", range(200))
def test_whatever_is_changed_is_refused_or_still_true(seed):
    r = np.random.default_rng(seed)
    of = table()
    figure, arguments, bound = cases.figures(of)[int(r.integers(0, 20))]
    data = certificate(of, figure, arguments, bound)
    sound = copy.deepcopy(data)
    values = [None, True, 0, -1, 1.5, "", "1/2", "-1/2", "0/1", "nan", "inf", [], {}, (0.3).hex()]

    def mutate(part):
        keys = list(part) if isinstance(part, dict) else range(len(part))
        key = list(keys)[int(r.integers(len(keys)))]
        if isinstance(part[key], (dict, list)) and part[key] and r.random() < 0.8:
            mutate(part[key])
        elif r.random() < 0.3:
            del part[key]
        else:
            part[key] = values[int(r.integers(len(values)))]

    mutate(data)
    try:
        verify(data)
    except Refused:
        return
    # what is left is a claim about some other table, or a wider one
    low, high = (extended(data[end], end) for end in ("lower", "upper"))
    assert low <= bound.lower or low >= 0
    if all(data[key] == sound[key] for key in ("figure", "arguments", "joint")):
        assert low <= bound.upper
        assert high >= bound.lower


# -- bugs in the engine ----------------------------------------------------------------------


def test_the_checker_imports_nothing_of_the_engine():
    code = (
        "import sys, borel.checker.tables, borel.checker.duals; "
        "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'scipy', 'xarray') "
        "or m.startswith('borel.') and not m.startswith('borel.checker')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def lowered(name, factor=0.9):
    """Return a bug: all that a method gives is smaller."""

    def bug(monkeypatch):
        from borel.engine.finite.engine import FiniteEngine

        old = getattr(FiniteEngine, name)

        def wrong(self, *args):
            found = old(self, *args)
            return Bound.exact(found.lower * factor, found.upper * factor)

        monkeypatch.setattr(FiniteEngine, name, wrong)

    return bug


def bug_in_top(monkeypatch):
    from borel.engine.finite.engine import FiniteEngine

    second = property(lambda self: np.sort(self._rows, axis=0)[-2])
    monkeypatch.setattr(FiniteEngine, "_top", second)


def bug_in_support(monkeypatch):
    from borel.engine.finite.engine import FiniteEngine

    old = FiniteEngine.__init__

    def wrong(self, of):
        old(self, of)
        self.support = self.support[:-1]

    monkeypatch.setattr(FiniteEngine, "__init__", wrong)


def bug_in_marginal(monkeypatch):
    from borel.engine.finite.engine import FiniteEngine

    monkeypatch.setattr(
        FiniteEngine,
        "_exact_marginal",
        property(lambda self: self.mechanism.matrix.mean(axis=0)),
    )


def bug_in_logarithm(monkeypatch):
    from borel.engine.finite import engine, law_engine, measures

    def wrong(value):
        found = math.log(value) * (1 + 1e-12)
        return found, found

    for module in (engine, measures, law_engine):
        if hasattr(module, "log_fraction"):
            monkeypatch.setattr(module, "log_fraction", wrong)


def bug_in_tail(monkeypatch):
    from borel.probability.countable_law import Values

    old = Values.above

    def wrong(self, t, closed, ratio=None):
        return old(self, t, closed=not closed, ratio=ratio)

    monkeypatch.setattr(Values, "above", wrong)


def bug_in_quantile(monkeypatch):
    from borel.probability.countable_law import Values

    old = Values.quantile

    def wrong(self, s, side="left"):
        return old(self, s, side="right" if side == "left" else "left")

    monkeypatch.setattr(Values, "quantile", wrong)


def bug_in_mean(monkeypatch):
    from borel.probability.countable_law import Values

    monkeypatch.setattr(Values, "mean", lambda self: (max(self.lower), max(self.upper)))


def bug_in_generator(monkeypatch):
    from borel.engine.problem import discretised_pair

    monkeypatch.setattr(discretised_pair, "exact_divergence", lambda cells_, f: F(1, 7))


def bug_in_closed_form(monkeypatch):
    from borel.mechanisms.response import ExactRatio

    monkeypatch.setattr(ExactRatio, "pml", ExactRatio.pmc)


RESPONSE = bl.mechanisms.randomized_response(secret=["a", "b", "c"], ratio=3)


def of_response():
    return bl.pmf([F(1, 2), F(3, 8), F(1, 8)], on=RESPONSE.secret) * RESPONSE


def tied():
    """Return a joint of which half of the outcomes leak nothing."""
    k = [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 2), F(1, 2), F(0)]]
    return bl.pmf([F(1, 2), F(1, 2)]) * bl.Mechanism.from_matrix(np.array(k, dtype=object))


BUGS = {
    "the second largest entry": (bug_in_top, table, "pml.sup", {}),
    "a secret forgotten": (bug_in_support, table, "ldp", {}),
    "the marginal of another prior": (bug_in_marginal, table, "pml.sup", {}),
    "a logarithm that is off": (bug_in_logarithm, table, "pml.sup", {}),
    "open and closed exchanged": (bug_in_tail, tied, "pml.tail", {"t": 0.0, "closed": False}),
    "sides exchanged": (bug_in_quantile, table, "pml.quantile", {"s": F(13, 30), "side": "left"}),
    "the largest for the mean": (bug_in_mean, table, "pml.mean", {}),
    "a wrong divergence": (bug_in_generator, table, "total_variation", {}),
    "PMC for PML in a theorem": (bug_in_closed_form, of_response, "pml.sup", {}),
    "LDP too small": (lowered("ldp"), table, "ldp", {}),
    "LDP too large": (lowered("ldp", 1.1), table, "ldp", {}),
    "maximal leakage too small": (lowered("maximal_leakage"), table, "maximal_leakage", {}),
    "mutual information too small": (
        lowered("mutual_information"),
        table,
        "mutual_information",
        {},
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_no_bug_of_the_engine_makes_a_false_claim_verified(name, monkeypatch):
    seed, make, figure, arguments = BUGS[name]
    verify(certificate(make(), figure, arguments, compute(make(), figure, arguments)))
    seed(monkeypatch)
    wrong = compute(make(), figure, arguments)
    with pytest.raises((Refused, NotYet)):
        verify(certificate(make(), figure, arguments, wrong))


def test_the_words_say_what_is_meant():
    found = verify(sound())
    assert found.words.startswith(
        "pml.sup is between 0.510825623765 and 0.510825623766 of a finite joint"
    )
    assert "every normalised one within the rounding" in found.words
    assert found.trust
