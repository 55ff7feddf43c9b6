"""Certificates of joints with a kernel: kept ones are verified, altered and false ones refused."""

import copy
import json
import math
import subprocess
import sys
from fractions import Fraction as F
from functools import cache
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from borel.checker import Refused, verify
from borel.checker.reading import parse
from borel.numerics.graphs.trace import trace

KEPT = Path(__file__).parent.parent / "data" / "checker"
NAMES = sorted(path.stem for path in KEPT.glob("*.json"))


@cache
def text(name):
    return (KEPT / f"{name}.json").read_text(encoding="utf-8")


def kept(name):
    return parse(text(name))


@pytest.mark.few(2)
@pytest.mark.cases("slow", "laplace-pml-tail")
@pytest.mark.parametrize("name", NAMES)
def test_kept_certificates_are_verified(name):
    found = verify(kept(name))
    assert found.figure == kept(name)["figure"]
    assert any("total mass 1 for every secret" in words for words in found.trust)


def test_the_checker_loads_flint_and_the_standard_library_alone():
    code = (
        "import runpy, sys\n"
        "sys.argv = ['borel.checker', *sys.argv[1:]]\n"
        "try:\n    runpy.run_module('borel.checker', run_name='__main__', alter_sys=False)\n"
        "except SystemExit as error:\n    assert error.code == 0, error.code\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "known = {'borel', 'flint', '__main__', 'lazy_loader'}\n"
        "others = roots - set(sys.stdlib_module_names) - known\n"
        "others = {name for name in others if not name.startswith(('_', 'site', 'cython_'))}\n"
        "own = {name for name in sys.modules if name.startswith('borel.')}\n"
        "own = {name for name in own if name.split('.')[1] != 'checker'}\n"
        "print(sorted(others | own))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(KEPT / "laplace-pml-at.json")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "verified: pml.at is within" in done.stdout
    # lazy_loader is how the bare package finds its names
    assert done.stdout.splitlines()[-1] == "[]"


# -- truths that borel did not compute --------------------------------------------------------


def laplace(y, b=0.5):
    """PML and PMC at y of a uniform secret and Laplace noise, by the integral of its density."""
    with mp.workdps(40):
        y = mp.mpf(y)
        f_y = mp.quad(lambda x: mp.e ** (-abs(y - x) / b) / (2 * b), [0, min(max(y, 0), 1), 1])
        top = mp.mpf(1) if 0 <= y <= 1 else mp.e ** (-min(abs(y), abs(1 - y)) / b)
        bottom = mp.e ** (-max(abs(y), abs(1 - y)) / b)
        return mp.log(top / (2 * b) / f_y), mp.log(f_y / bottom * 2 * b)


TRUTHS = {
    "laplace-pml-at": lambda: laplace(0.3)[0],
    "laplace-pmc-at": lambda: laplace(0.3)[1],
    "laplace-pml-sup": lambda: laplace(2)[0],
    "laplace-pmc-sup": lambda: laplace(2)[1],
    "clayton-pml-at": lambda: mp.log(
        mp.mpf("0.1") + mp.mpf("0.9") * 8 / (27 * mp.mpf(0.3) * (1 - mp.mpf(0.3)))
    ),
    "points-pml-at": lambda: (
        -mp.log(
            mp.mpf(1) / 4
            + mp.e ** (-mp.mpf(7) / 10 + mp.mpf(3) / 10) / 4
            + mp.e ** (-mp.mpf(17) / 10 + mp.mpf(3) / 10) / 2
        )
    ),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_what_is_verified_is_true(name):
    data = kept(name)
    with mp.workdps(40):
        truth = TRUTHS[name]()
        assert float.fromhex(data["lower"]) <= truth <= float.fromhex(data["upper"])


def claiming(data, lower, upper):
    return {**data, "lower": float(lower).hex(), "upper": float(upper).hex()}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [n for n in TRUTHS if n != "points-pml-at"])
@pytest.mark.parametrize("off", [1e-8, 1e-3, -1e-8, -1e-3])
def test_a_false_claim_is_refused(name, off):
    """The claim is moved beside the truth, however wide it is on the other side."""
    truth = float(TRUTHS[name]())
    ends = (truth + off, truth + 9) if off > 0 else (0.0, truth + off)
    data = kept(name)
    witness = data["proof"]["witness"] if off > 0 else None
    data["proof"]["witness"] = witness
    with pytest.raises(Refused):
        verify(claiming(data, *ends))


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith(("normal-p", "clayton"))])
@pytest.mark.attacks
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_claim_that_is_narrowed_is_refused(name, side):
    data = kept(name)
    ends = [float.fromhex(data[end]) for end in ("lower", "upper")]
    width = ends[1] - ends[0]
    moved = (ends[0] + 1.5 * width, ends[1] + 2 * width)
    if side == "upper":
        moved = (ends[0] - 2 * width, ends[1] - 1.5 * width)
    with pytest.raises(Refused):
        verify(claiming(data, *moved))


# -- what was altered --------------------------------------------------------------------------


def altered(name, *path, to):
    data = kept(name)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to(place[path[-1]]) if callable(to) else to
    return data


def h(value):
    return float(value).hex()


NODES = ("joint", "kernel", "graph", "nodes")
DENSITY = ("joint", "prior", "density")
ALTERED = {
    "another format": ("laplace-pml-at", ["format"], 19),
    "a truth value for a number": ("laplace-pml-at", ["format"], True),
    "another figure": ("laplace-pml-at", ["figure"], "pmc.at"),
    "a figure that is none": ("laplace-pml-at", ["figure"], "pml.mean"),
    "no figure": ("laplace-pml-at", ["figure"], None),
    "another outcome": ("laplace-pml-at", ["arguments", "y"], h(0.31)),
    "an outcome that is none": ("clayton-pml-at", ["arguments", "y"], h(1.5)),
    "an argument more": ("laplace-pml-sup", ["arguments", "y"], h(0.5)),
    "no arguments": ("laplace-pml-at", ["arguments"], {}),
    "NaN": ("laplace-pml-at", ["upper"], "nan"),
    "no number": ("laplace-pml-at", ["upper"], None),
    "a number of JSON": ("laplace-pml-at", ["upper"], 1),
    "decimals": ("laplace-pml-at", ["upper"], "0.75"),
    "hexadecimals of another spelling": ("laplace-pml-at", ["upper"], "0x1p0"),
    "a fraction that is not in lowest terms": ("laplace-pml-at", ["upper"], "6/8"),
    "0 in a denominator": ("laplace-pml-at", ["upper"], "1/0"),
    "ends in no order": ("laplace-pml-at", ["upper"], h(0.1)),
    "a negative leakage": ("laplace-pml-at", ["upper"], h(-0.1)),
    "another kind of joint": ("laplace-pml-at", ["joint", "matrix"], []),
    "no prior": ("laplace-pml-at", ["joint", "prior"], {}),
    "no secrets": ("points-pml-at", ["joint", "prior", "atoms"], []),
    "the kernel": ("laplace-pml-at", [*NODES, 5, 1, 0], h(0.25)),
    "the kernel of a supremum": ("laplace-pml-sup", [*NODES, 5, 1, 0], h(0.25)),
    "an operation that is none": ("laplace-pml-at", [*NODES, 2, 0], "system"),
    "a node that comes later": ("laplace-pml-at", [*NODES, 2, 1, 0], 7),
    "a node before the first": ("laplace-pml-at", [*NODES, 2, 1, 0], -1),
    "a truth value for a node": ("laplace-pml-at", [*NODES, 2, 1, 0], True),
    "an input that is none": ("laplace-pml-at", ["joint", "kernel", "graph", "inputs"], ["z"]),
    "no nodes": ("laplace-pml-at", [*NODES], []),
    "log is no truth value": ("laplace-pml-at", ["joint", "kernel", "log"], 0),
    "log for no log": ("laplace-pml-at", ["joint", "kernel", "log"], True),
    "a wider alphabet": ("laplace-pml-at", [*DENSITY, "upper"], h(2)),
    "a narrower one": ("laplace-pml-at", [*DENSITY, "upper"], h(0.5)),
    "an alphabet without an end": ("laplace-pml-at", [*DENSITY, "upper"], "inf"),
    "an alphabet the wrong way round": ("laplace-pml-at", [*DENSITY, "lower"], h(2)),
    "a prior of another mass": ("laplace-pml-at", [*DENSITY, "formula", "graph", "nodes", 1, 1, 0],
                                h(2)),
    "an atom more": ("laplace-pml-at", ["joint", "prior", "atoms"], [[h(0.5), h(0.5), h(0.5)]]),
    "a heavier atom": ("points-pml-at", ["joint", "prior", "atoms", 0, 2], h(0.75)),
    "atoms of less than 1": ("points-pml-at", ["joint", "prior", "atoms"],
                             [[h(0), h(0.25), h(0.25)]]),
    "a negative atom": ("points-pml-at", ["joint", "prior", "atoms", 0, 1], h(-0.25)),
    "an atom twice": ("points-pml-at", ["joint", "prior", "atoms"], lambda a: [a[0], *a]),
    "atoms in no order": ("points-pml-at", ["joint", "prior", "atoms"], lambda a: a[::-1]),
    "other outcomes": ("laplace-pml-sup", ["joint", "outcome", "line", "upper"], h(100)),
    "no outcomes": ("laplace-pml-sup", ["joint", "outcome", "line"], None),
    "outcomes for a figure without them": ("clayton-pml-sup", ["proof", "outcomes"], None),
    "few bits": ("laplace-pml-at", ["proof", "bits"], 8),
    "many bits": ("laplace-pml-at", ["proof", "bits"], 10**6),
    "no degree": ("laplace-pml-at", ["proof", "degree"], 0),
    "too high a degree": ("laplace-pml-at", ["proof", "degree"], 63),
    "another rule": ("laplace-pml-at", ["proof", "rule"], "diverge"),
    "a rule that is none": ("laplace-pml-at", ["proof", "rule"], "trust"),
    "a key more": ("laplace-pml-at", ["proof", "note"], "hello"),
    "no proof": ("laplace-pml-at", ["proof"], {}),
    "no cover": ("laplace-pml-at", ["proof", "cover"], None),
    "no witness": ("laplace-pml-at", ["proof", "witness"], None),
    "a witness without an extent": ("laplace-pml-at", ["proof", "witness"],
                                    {"box": [h(0.3), h(0.3)]}),
    "a witness the wrong way round": ("laplace-pml-at", ["proof", "witness"],
                                      {"box": [h(0.31), h(0.3)]}),
    "a witness elsewhere": ("laplace-pml-at", ["proof", "witness"], {"box": [h(0.7), h(0.8)]}),
    "a witness outside": ("laplace-pml-at", ["proof", "witness"], {"box": [h(-1), h(-0.5)]}),
    "a witness that is no atom": ("laplace-pml-at", ["proof", "witness"], {"atom": 0}),
    "another atom": ("points-pml-at", ["proof", "witness"], {"atom": 2}),
    "the last atom but one": ("points-pml-at", ["proof", "witness"], {"atom": -3}),
    "edges that do not begin": ("laplace-pml-at", ["proof", "cover", "edges", 0], h(0.1)),
    "edges that do not end": ("laplace-pml-at", ["proof", "cover", "edges", -1], h(0.9)),
    "edges in no order": ("laplace-pml-at", ["proof", "cover", "edges", 1], h(1.5)),
    "a part is missing": ("laplace-pml-at", ["proof", "cover", "parts"], lambda p: p[:-1]),
    "a part more": ("laplace-pml-at", ["proof", "cover", "parts"], lambda p: [*p, "0"]),
    "a tree without leaves": ("laplace-pml-at", ["proof", "cover", "parts", 0], ""),
    "a tree without an end": ("laplace-pml-at", ["proof", "cover", "parts", 0], "10"),
    "a tree beyond its end": ("laplace-pml-at", ["proof", "cover", "parts", 0], "00"),
    "a tree of other letters": ("laplace-pml-at", ["proof", "cover", "parts", 0], "2"),
    "a germ of another power": ("normal-pml-at", ["proof", "cover", "parts", 0, "power"], "9/5"),
    "a germ of no power": ("normal-pml-at", ["proof", "cover", "parts", 0, "power"], "0/1"),
    "a germ at the other end": ("normal-pml-at", ["proof", "cover", "parts", 0, "germ"], "upper"),
    "a germ across 0": ("normal-pml-at", ["proof", "cover", "edges", 1], h(1)),
    "the prior's cells": ("normal-pml-at", ["proof", "prior"], None),
    "a leaf is missing": ("laplace-pml-sup", ["proof", "outcomes", "parts", 1, "leaves"],
                          lambda v: v[:-1]),
    "a leaf of no cover": ("laplace-pml-sup", ["proof", "outcomes", "parts", 1, "leaves", 0], 99),
    "a leaf before the first": ("laplace-pml-sup",
                                ["proof", "outcomes", "parts", 1, "leaves", 0], -1),
    "outcomes that do not begin": ("laplace-pml-sup", ["proof", "outcomes", "edges", 0], h(-9)),
    "outcomes twice": ("laplace-pml-sup", ["proof", "outcomes", "edges", 1], h(9)),
    "no ratios": ("laplace-pml-sup", ["proof", "outcomes", "parts", 0, "ratio"], False),
    "outcomes of the witness": ("laplace-pml-sup", ["proof", "witness", "y"], [h(0.4), h(0.6)]),
    "outcomes of no extent": ("laplace-pml-sup", ["proof", "witness", "y"], [h(2), h(2)]),
    "outcomes without an end": ("laplace-pml-sup", ["proof", "witness", "y"], [h(2), "inf"]),
    "the level": ("laplace-pml-tail", ["arguments", "t"], h(0.69)),
    "the level is closed": ("laplace-pml-tail", ["arguments", "closed"], None),
    "all is above": ("points-pml-cdf", ["proof", "labels", "outcomes", "parts", 1, "leaves"],
                     lambda leaves: [["above", leaf[1], {"atom": 0}] for leaf in leaves]),
    "all is below": ("points-pml-cdf", ["proof", "labels", "outcomes", "parts", 1, "leaves"],
                     lambda leaves: [["below", leaf[1]] for leaf in leaves]),
    "all is open": ("points-pml-cdf", ["proof", "labels", "outcomes", "parts", 1, "leaves"],
                    lambda leaves: [["open", leaf[1]] for leaf in leaves]),
    "a label that is none": ("points-pml-cdf",
                             ["proof", "labels", "outcomes", "parts", 1, "leaves", 0], ["so"]),
    "another level of a quantile": ("points-pml-quantile", ["arguments", "s"], h(0.3)),
    "a side that is none": ("points-pml-quantile", ["arguments", "side"], "middle"),
    "no quantile": ("points-pml-quantile", ["arguments", "s"], h(0)),
    "nor at 2": ("points-pml-quantile", ["arguments", "s"], h(2)),
    "an infinity of less": ("clayton-pml-sup", ["lower"], h(3)),
    "still secrets": ("clayton-pml-sup", ["proof", "x"], {"from": h(0.25), "to": h(0.5)}),
    "secrets of no extent": ("clayton-pml-sup", ["proof", "x", "to"], h(0.125)),
    "secrets that move slowly": ("clayton-pml-sup", ["proof", "x", "power"], "1/2"),
    "secrets outside": ("clayton-pml-sup", ["proof", "x", "base"], h(-1)),
    "the other end": ("clayton-pml-sup", ["proof", "y"],
                      {"edges": [h(0.5), h(1)], "germ": "upper", "power": "1/1"}),
    "outcomes outside": ("clayton-pml-sup", ["proof", "y", "edges", 0], h(-1)),
    "not by the mean": ("clayton-pml-sup", ["proof", "by"], "secrets"),
    "of PMC": ("clayton-pml-sup", ["figure"], "pmc.sup"),
    "secrets of a point": ("normal-pmc-at", ["proof", "x", "edges"], [h(1), h(2)]),
}  # fmt: skip


@pytest.mark.few(19)
@pytest.mark.parametrize("name", ALTERED)
def test_what_is_altered_is_refused(name):
    of, path, to = ALTERED[name]
    with pytest.raises(Refused):
        verify(altered(of, *path, to=to))


@pytest.mark.parametrize("name", NAMES)
def test_no_key_is_missing_or_not_known(name):
    """Each record of a certificate is read as what it is: without a key, or with one more."""
    data = kept(name)
    places = [(), ("joint",), ("joint", "kernel"), ("joint", "prior"), ("joint", "outcome"),
              ("arguments",), ("proof",), ("joint", "kernel", "graph")]  # fmt: skip
    for path in places:
        record = data
        for key in path:
            record = record[key]
        for key in list(record):
            changed = copy.deepcopy(data)
            inner = changed
            for step in path:
                inner = inner[step]
            del inner[key]
            with pytest.raises(Refused):
                verify(changed)
            inner[key] = record[key]
            inner["more"] = None
            with pytest.raises(Refused):
                verify(changed)


WRONG = [None, True, 0, -1, 1.5, math.nan, "", "0x0.0p+0", "inf", "-inf", [], {}, [[]], F(1, 2)]


@pytest.mark.attacks
@pytest.mark.parametrize("name", ["laplace-pml-at", "points-pmc-sup", "clayton-pml-sup"])
def test_wrong_types_are_refused_and_never_crash(name):
    def places(data, path=()):
        inner = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in inner:
            yield (*path, key), value
            if isinstance(value, (dict, list)):
                yield from places(value, (*path, key))

    for path, known in list(places(kept(name)))[::3]:
        for value in WRONG:
            try:
                verify(altered(name, *path, to=value))
            except Refused:
                continue
            assert type(value) is type(known), (path, value)


@pytest.mark.parametrize("nonsense", [None, 7, "x", [], {}, {"format": 20}, {1: 2}, F(1), b""])
def test_nonsense_is_refused(nonsense):
    with pytest.raises(Refused):
        verify(nonsense)


@pytest.mark.parametrize(
    "source",
    ["", "[", "NaN", '{"a": NaN}', '{"a": 1.5}', '{"a": Infinity}', '{"a": 1, "a": 1}', "[" * 9999],
)
def test_json_of_another_kind_is_refused(source):
    with pytest.raises(Refused):
        parse(source)


def test_a_key_twice_is_refused():
    with pytest.raises(Refused, match="twice"):
        parse(text("laplace-pml-at").replace('"format": 20', '"format": 20, "format": 20'))


def test_data_that_hold_themselves_are_refused():
    data = kept("laplace-pml-at")
    data["proof"]["cover"]["edges"][1] = data
    with pytest.raises(Refused):
        verify(data)


# -- false claims by hand ------------------------------------------------------------------------


def graph(f, *names):
    return {"graph": trace(f, names, ()).to_json(), "log": False}


def flat(x):
    return 1.0 + 0 * x


FLAT = {"density": {"formula": graph(flat, "x"), "lower": h(0), "upper": h(1)}, "atoms": []}
WHOLE = {"edges": [h(0), h(1)], "parts": ["0"]}
FINE = {"edges": [h(0), h(1)], "parts": ["1" * 6 + "0" + "10" * 6]}


def halves(depth):
    return "0" if depth == 0 else "1" + 2 * halves(depth - 1)


def claim(figure, ends, f, *, prior=FLAT, line=(0.0, 1.0), arguments=None, cover=None, **proof):
    """Return a certificate by hand of a kernel on the unit square."""
    outcomes = {"edges": [h(line[0]), h(line[1])], "parts": [{"tree": "0", "leaves": [0]}]}
    if figure.endswith(".at"):
        own = {"cover": cover or WHOLE, "witness": None}
    else:
        own = {"covers": [cover or WHOLE], "outcomes": outcomes, "atoms": [], "witness": None}
    density = None if prior["density"] is None else WHOLE
    return {
        "format": 20,
        "figure": figure,
        "arguments": arguments or {},
        "lower": h(ends[0]),
        "upper": h(ends[1]),
        "joint": {
            "kernel": graph(f, "y", "x") if callable(f) else f,
            "prior": prior,
            "outcome": {"line": {"lower": h(line[0]), "upper": h(line[1])}, "atoms": []},
        },
        "proof": {"rule": "bounds", "bits": 128, "degree": 8, "prior": density, **own, **proof},
    }


def tilted(y, x):
    return 1 + (2 * y - 1) * (x - 0.5)


def test_a_true_claim_by_hand_is_verified():
    """PML is log (1 + |2 y - 1| / 2), at most log 3/2."""
    top = math.log(1.5)
    verify(claim("pml.sup", (0.0, top + 1e-9), tilted))
    verify(claim("pml.at", (0.0, top / 2 + 1e-9), tilted, arguments={"y": h(0.5)}))
    witness = {"y": [h(1 - 2.0**-40), h(1)], "cover": 0, "x": {"box": [h(1 - 2.0**-40), h(1)]}}
    verify(claim("pml.sup", (top - 1e-9, top + 1e-9), tilted, witness=witness))
    for ends in ((top + 1e-9, top + 1), (0.0, top - 1e-9)):
        used = witness if ends[0] else None
        with pytest.raises(Refused):
            verify(claim("pml.sup", ends, tilted, witness=used))


def test_a_prior_of_another_mass_is_refused():
    """With p = 1/2 the f_Y of the formula is 1/2, and PMC would be at most log 2 - log 2."""
    half = {**FLAT, "density": {**FLAT["density"], "formula": graph(lambda x: 0.5 + 0 * x, "x")}}
    for prior in (half, {**FLAT, "atoms": [[h(0.5), h(0.25), h(0.25)]]}):
        with pytest.raises(Refused, match="its mass is"):
            verify(claim("pmc.sup", (0.0, 1.0), tilted, prior=prior))


@pytest.mark.parametrize("edge", [h(1.5), h(-0.5), ["y", h(0.5)], ["y", h(-1)]])
def test_edges_are_in_order_for_all_outcomes(edge):
    cover = {"edges": [h(0), edge, h(1)], "parts": ["0", "0"]}
    with pytest.raises(Refused, match="not in order"):
        verify(claim("pml.sup", (0.0, 2.0), tilted, cover=cover))


def speck(y, x):  # altered at points: a null set
    return np.where(np.logical_or(x == 0.5, x == y), 9.0, 1.0)


def test_null_sets_change_nothing():
    """PML is 0 but on a null set, where the kernel is 9."""
    verify(claim("pml.sup", (0.0, 1e-9), speck))
    for ends in ((0.5, 3.0), (1e-6, 0.5)):
        for place in ([h(0.5), h(0.5 + 2.0**-40)], [["y", h(0)], ["y", h(2.0**-40)]]):
            witness = {"y": [h(0.25), h(0.3)], "cover": 0, "x": {"box": place}}
            with pytest.raises(Refused):
                verify(claim("pml.sup", ends, speck, witness=witness))


POINT = {"density": None, "atoms": [[h(0.25), h(0.5), h(0.5)], [h(0.5), h(0.5), h(0.5)]]}


def test_an_atom_is_no_null_set():
    """At the atom 1/2 the kernel is 9: PML is log (9 / 5) everywhere."""
    top = math.log(9 / 5)

    def f(y, x):
        return np.where(x == 0.5, 9.0, 1.0) + 0 * y

    # the one number that a cover of atoms has is none
    data = claim("pml.sup", (0.0, top + 1e-9), f, prior=POINT, covers=[None])
    verify(data)
    with pytest.raises(Refused):
        verify(claiming(data, 0.0, top - 1e-9))
    mixed = {**FLAT, "atoms": [[h(0.5), h(0.0), h(0.0)]]}
    verify(claim("pml.sup", (0.0, 3.0), f, prior=mixed))
    witness = {"y": [h(0.25), h(0.3)], "cover": 0, "x": {"atom": 0}}
    with pytest.raises(Refused, match="no mass"):
        verify(claim("pml.sup", (2.0, 3.0), f, prior=mixed, witness=witness))


def late(x):
    """A density of secrets that has no mass below 1/2."""
    return np.where(x < 0.5, 0.0, 2.0)


def early(y, x):
    """PML is log (2 y) or so by secrets below 1/2 only."""
    return np.where(x < 0.5, 2 * y, 1.0)


HALVED = {"edges": [h(0), h(0.5), h(1)], "parts": ["0", "0"]}


def test_a_witness_has_prior_mass():
    prior = {**FLAT, "density": {**FLAT["density"], "formula": graph(late, "x")}}
    about = {"prior": prior, "cover": HALVED}
    witness = {"y": [h(0.9), h(0.91)], "cover": 0, "x": {"box": [h(0.2), h(0.3)]}}
    data = claim("pml.sup", (0.3, 3.0), early, **about, witness=witness)
    data["proof"]["prior"] = HALVED
    with pytest.raises(Refused, match="may not charge"):
        verify(data)
    for box in ([h(0.25), h(0.75)], [h(0.5 - 2.0**-50), h(0.5 + 2.0**-50)]):
        data["proof"]["witness"]["x"] = {"box": box}
        with pytest.raises(Refused, match="may not charge"):
            verify(data)


def window(y, x):
    """PML is log 2, PMC is infinite: the kernel is 0 on half of the secrets."""
    return np.where((x < 0.5) == (y < 0.5), 2.0, 0.0)


def test_zeros_of_the_kernel():
    outcomes = {"edges": [h(0), h(0.5), h(1)], "parts": [{"tree": "0", "leaves": [0]}] * 2}
    verify(claim("pml.sup", (0.0, 0.6932), window, cover=HALVED, outcomes=outcomes))
    for figure, top in (("pml.sup", 0.69), ("pmc.sup", 50.0)):
        with pytest.raises(Refused):
            verify(claim(figure, (0.0, top), window, cover=HALVED, outcomes=outcomes))


def blind(y, x):
    """There are no outcomes beyond 1/2; nothing is told."""
    return np.where(y < 0.5, 2.0 + 0 * x, 0.0)


def test_outcomes_of_no_mass_show_nothing():
    outcomes = {"edges": [h(0), h(0.5), h(1)], "parts": [{"tree": "0", "leaves": [0]}] * 2}
    verify(claim("pml.sup", (0.0, 1e-9), blind, outcomes=outcomes))
    witness = {"y": [h(0.75), h(0.76)], "cover": 0, "x": {"box": [h(0.25), h(0.75)]}}
    for kind in ("pml", "pmc"):
        with pytest.raises(Refused, match="no mass"):
            verify(claim(f"{kind}.sup", (5.0, 6.0), blind, outcomes=outcomes, witness=witness))
        used = {"box": [h(0.25), h(0.75)]}
        with pytest.raises(Refused):
            verify(claim(f"{kind}.at", (5.0, 6.0), blind, arguments={"y": h(0.75)}, witness=used))


NOT_NUMBERS = {
    "zero times log": lambda x: 0 * np.log(x - 2),
    "0 / 0": lambda x: 0 / (x - x),
    "zero times infinity": lambda x: 0 * (np.inf + x),
    "infinity less itself": lambda x: (np.inf + x) - (np.inf + x),
    "sin of infinity": lambda x: np.sin(np.inf + x) + 2,
    "log": lambda x: -np.log(x - 2),
    "log of 0": lambda x: 0 * np.log(0 * x),
    "sqrt": lambda x: np.sqrt(x - 2) + 1,
    "maximum": lambda x: np.maximum(np.log(x - 2), 1.0),
    "absolute": lambda x: np.abs(np.log(x - 2)),
    "power": lambda x: (x - 2) ** 0.5 + 1,
    "whole power": lambda x: np.log(x - 2) ** 2.0,
    "tanh": lambda x: np.tanh(np.log(x - 2)) + 2,
    "logaddexp": lambda x: np.logaddexp(np.log(x - 2), 1.0),
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_a_branch_by_what_is_no_number_is_refused(name):
    """NumPy says that NaN >= 0 is False: the kernel is the one that leaks more."""

    def kernel(y, x):
        return np.where(NOT_NUMBERS[name](x) >= 0, 1.0 + 0 * y, tilted(y, x))

    verify(claim("pml.sup", (0.0, 0.01), lambda y, x: 1.0 + 0 * y * x))
    with np.errstate(all="ignore"), pytest.raises(Refused):
        verify(claim("pml.sup", (0.0, 0.01), kernel))


def test_a_jump_inside_a_cell_is_not_smooth():
    """PML is log (3 / 2) on a sliver of secrets: cells that straddle it know the range alone."""

    def f(y, x):
        return np.where(x < 2.0**-8, 1.5, 1 - 2.0**-9 / (1 - 2.0**-8)) + 0 * y

    with pytest.raises(Refused):
        verify(claim("pml.sup", (0.0, 0.3), f))
    with pytest.raises(Refused):
        verify(claim("pml.sup", (0.0, 0.3), f, cover=FINE))
    cut = {"edges": [h(0), h(2.0**-8), h(1)], "parts": ["0", "0"]}
    verify(claim("pml.sup", (0.0, math.log(1.5) + 1e-6), f, cover=cut))


def test_outcomes_only_at_infinity():
    """Laplace noise on two secrets: PML tends to log 2 / (1 + e^-1) = 0.380 far out alone."""
    pair = {"density": None, "atoms": [[h(0), h(0.5), h(0.5)], [h(1), h(0.5), h(0.5)]]}

    def f(y, x):
        return np.exp(-np.abs(y - x)) / 2

    edges = [h(-math.inf), h(-1), h(0), h(1), h(2), h(math.inf)]
    far = {"power": "1/1", "ratio": True, "leaf": 0}
    near = [{"tree": "0", "leaves": [0]}] * 3
    parts = [{"germ": "lower", **far}, *near, {"germ": "upper", **far}]
    about = {"prior": pair, "covers": [None], "line": (-math.inf, math.inf)}
    outcomes = {"edges": edges, "parts": parts}
    verify(claim("pml.sup", (0.0, 0.3799), f, **about, outcomes=outcomes))
    with pytest.raises(Refused, match="part 0"):
        verify(claim("pml.sup", (0.0, 0.3798), f, **about, outcomes=outcomes))


def test_an_atom_far_out_is_what_it_is_at_its_place():
    """At the secret 1 the noise is skewed, beside it it is not: models at every point know it."""
    pair = {"density": None, "atoms": [[h(0), h(0.5), h(0.5)], [h(1), h(0.5), h(0.5)]]}

    def f(y, x):
        return np.exp(-np.abs(y - x)) / 2 * np.where(x == 1, np.where(y > x, 1.5, 0.5), 1.0)

    edges, far = [h(2), h(math.inf)], {"power": "1/1", "ratio": True, "leaf": 0}
    outcomes = {"edges": edges, "parts": [{"germ": "upper", **far}]}
    about = {"prior": pair, "covers": [None], "line": (2.0, math.inf), "outcomes": outcomes}
    for top in (0.3799, 0.47):  # log 3 e / (1 + 3 e / 2) = 0.4742
        with pytest.raises(Refused):
            verify(claim("pml.sup", (0.0, top), f, **about))
    verify(claim("pml.sup", (0.0, 5.0), f, **about))  # true: of the jump the range is known
    verify(claim("pml.sup", (0.0, 0.3799), lambda y, x: np.exp(-np.abs(y - x)) / 2, **about))


def clipped(x):
    return np.clip(np.where(x < 0.5, 10.0, 0.0), 5.0, 7.0)


def lifted(x):
    return np.power(2.0 + 0 * x, np.where(x < 0.5, 1.0, 2.0))


@pytest.mark.parametrize("rate", [clipped, lifted, lambda x: np.where(x < 0.5, 2.0, 1.0)])
def test_a_jump_among_secrets_has_no_common_unit_far_out(rate):
    """Exponential noise of two rates: PMC is infinite, PML log 2 or more."""

    def f(y, x):
        return rate(x) * np.exp(-rate(x) * y)

    edges, far = [h(0), h(0.5), h(math.inf)], {"power": "1/1", "ratio": True, "leaf": 0}
    parts = [{"tree": halves(4), "leaves": [0] * 16}, {"germ": "upper", **far}]
    about = {"line": (0.0, math.inf), "outcomes": {"edges": edges, "parts": parts}}
    for figure, top in (("pml.sup", 0.6), ("pmc.sup", 3.0)):
        for cover in (HALVED, FINE):
            with pytest.raises(Refused):
                verify(claim(figure, (0.0, top), f, cover=cover, **about))


INFINITE = {"rule": "diverge", "bits": 128, "degree": 8, "prior": WHOLE}
FAR = {"edges": [h(1), h(math.inf)], "germ": "upper", "power": "1/1"}
BESIDE_0 = {"edges": [h(0), h(0.5)], "germ": "lower", "power": "1/1"}


def endless(figure, f, line=(0.0, 1.0), arguments=None, **proof):
    data = claim(figure, (math.inf, math.inf), f, line=line, arguments=arguments)
    return {**data, "proof": {**INFINITE, **proof}}


STILL = {"from": h(0.25), "to": h(0.5)}
FALSE_INFINITIES = {
    # bounded noise
    "the mean of what falls": ("pml.sup", lambda y, x: np.exp(-np.abs(y - x)) / 2,
                               (-math.inf, math.inf), {"by": "mean", "y": FAR, "x": STILL}),
    "the mean of what falls like t^2": ("pml.sup", lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)),
                                        (-math.inf, math.inf),
                                        {"by": "mean", "y": FAR, "x": STILL}),
    # f and f_Y are of the same order
    "the same order": ("pml.sup", lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)),
                       (-math.inf, math.inf),
                       {"by": "outcomes", "y": FAR, "x": STILL, "cover": WHOLE}),
    "the same order, cost": ("pmc.sup", lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)),
                             (-math.inf, math.inf),
                             {"by": "outcomes", "y": FAR, "x": STILL, "cover": WHOLE}),
    # 2 y^-1/2 or so has a finite integral
    "a pole with an integral": ("pml.sup", lambda y, x: 0.5 / np.sqrt(y) + 0 * x, (0.0, 1.0),
                                {"by": "mean", "y": BESIDE_0, "x": STILL}),
    # f vanishes with all secrets, and so does f_Y
    "0 / 0": ("pmc.sup", lambda y, x: 2 * y * (1 + 0 * x), (0.0, 1.0),
              {"by": "outcomes", "y": BESIDE_0, "x": STILL, "cover": WHOLE}),
    # secrets that do not vanish
    "secrets at an end": ("pmc.sup", tilted, (0.0, 1.0),
                          {"by": "secrets", "y": [h(0.25), h(0.5)], "x": BESIDE_0, "cover": WHOLE}),
    "secrets at an end, PML": ("pml.sup", tilted, (0.0, 1.0),
                               {"by": "secrets", "y": [h(0.25), h(0.5)], "x": BESIDE_0,
                                "cover": WHOLE}),
    "a mean of PMC": ("pmc.sup", tilted, (0.0, 1.0), {"by": "mean", "y": BESIDE_0, "x": STILL}),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE_INFINITIES)
def test_a_false_infinity_is_refused(name):
    figure, f, line, proof = FALSE_INFINITIES[name]
    with pytest.raises(Refused):
        verify(endless(figure, f, line, **proof))


def test_true_infinities_by_hand_are_verified():
    """1 / (y - y^2) at x < y: E e^PML is infinite; a kernel 2 x has PMC infinite at each y."""
    verify(endless("pml.sup", lambda y, x: 1 / (y + 0 * x), by="mean", y=BESIDE_0, x=STILL))
    about = {"by": "secrets", "x": BESIDE_0, "cover": WHOLE}
    verify(endless("pmc.sup", lambda y, x: 2 * x + 0 * y, y=[h(0.25), h(0.5)], **about))
    verify(endless("pmc.at", lambda y, x: 2 * x + 0 * y, y=None, arguments={"y": h(0.5)}, **about))
    with pytest.raises(Refused):
        verify(
            endless("pmc.at", lambda y, x: 2 * x + 0 * y, y=None, arguments={"y": h(2)}, **about)
        )


def test_too_many_powers_of_t_are_refused_soon():
    """x^e for a small e, squared again and again, would have 2^30 terms."""

    def f(y, x):
        out = 1 + x**1e-6 + x**1.3e-6
        for _ in range(30):
            out = out * out
        return out + 0 * y

    cover = {"edges": [h(0), h(1)], "parts": [{"germ": "lower", "power": "1/1"}]}
    with pytest.raises(Refused):
        verify(claim("pml.sup", (0.0, 9.0), f, cover=cover))


def test_masses_of_all_outcomes_sum_to_1():
    """A kernel of mass 2 has no law; here PML is 0, and the tail at -1 would be 2."""
    leaf = [["above", 0, {"box": [h(0.25), h(0.5)]}]]
    labels = {
        "covers": [WHOLE],
        "outcomes": {"edges": [h(0), h(1)], "parts": [{"tree": "0", "leaves": leaf}]},
        "atoms": [],
    }
    proof = {"rule": "labels", "bits": 128, "degree": 8, "prior": WHOLE, "labels": labels}
    arguments = {"t": h(-1), "closed": False}
    data = claim("pml.tail", (1.0, 1.0), lambda y, x: 1 + 0 * y * x, arguments=arguments)
    verify({**data, "proof": proof})
    for factor in (0.5, 2.0):
        data["joint"]["kernel"] = graph(lambda y, x, c=factor: c + 0 * y * x, "y", "x")
        with pytest.raises(Refused):
            verify({**data, "proof": proof})


def test_json_is_what_is_read():
    data = json.loads(text("laplace-pml-at"))
    assert verify(data) == verify(parse(text("laplace-pml-at")))
