"""Certificates by hand that would have the checker run on, run out of memory, or say too much."""

import json
import math
import subprocess
import sys
from fractions import Fraction as F

import pytest

from borel.checker import Refused, __main__, verify
from borel.checker.joints import divided
from borel.checker.models import constant, working
from borel.checker.polynomials import S
from borel.checker.reading import shown


def h(value):
    return float(value).hex()


WHOLE = {"edges": [h(0), h(1)], "parts": ["0"]}
TOWARDS_0 = {"edges": [h(0), h(1)], "parts": [{"germ": "lower", "power": "1/1"}]}
ONE = [["const", [h(1)]]]


def graph(nodes, *inputs):
    return {"graph": {"nodes": nodes, "inputs": list(inputs)}, "log": False}


def claim(kernel, *, prior=ONE, cover=WHOLE, ends=(0.0, 9.0), witness=None):
    """Return a certificate of PML at y = 1/2, on the unit square."""
    density = {"formula": graph(prior, "x"), "lower": h(0), "upper": h(1)}
    return {
        "format": 20,
        "figure": "pml.at",
        "arguments": {"y": h(0.5)},
        "lower": h(ends[0]),
        "upper": h(ends[1]),
        "joint": {
            "kernel": graph(kernel, "y", "x"),
            "prior": {"density": density, "atoms": []},
            "outcome": {"line": {"lower": h(0), "upper": h(1)}, "atoms": []},
        },
        "proof": {
            "rule": "bounds",
            "bits": 64,
            "degree": 4,
            "prior": WHOLE,
            "cover": cover,
            "witness": witness,
        },
    }


def again_and_again(nodes, name, times):
    """Apply a function to what came last, twice if it takes two, again and again."""
    nodes = list(nodes)
    for _ in range(times):
        nodes.append([name, [len(nodes) - 1] * (2 if name == "multiply" else 1)])
    return nodes


# -- what would not end ----------------------------------------------------------------------------


def test_a_product_of_products_takes_each_node_once():
    """The 41st node is e^(2^40 x) by 2^40 paths."""
    prior = again_and_again([["input", ["x"]], ["exp", [0]]], "multiply", 40)
    witness = {"box": [h(0.25), h(0.5)]}
    with pytest.raises(Refused):
        verify(claim(ONE, prior=prior, ends=(0.5, 9.0), witness=witness))


def test_powers_of_a_logarithm_are_not_too_high():
    """The integral of (log t)^k is k!, which nobody can write out for k = 2^40."""
    for times in (10, 40):
        squares = again_and_again([["input", ["x"]], ["log", [0]]], "square", times)
        with pytest.raises(Refused, match="powers of log t"):
            verify(claim(squares, cover=TOWARDS_0))


@pytest.mark.parametrize("number", ["0x1.0000000000000p-1022", "0x1.0000000000000p+1022"])
@pytest.mark.parametrize("form", ["power", "exp"])
def test_powers_are_not_too_long_to_be_written_out(number, form):
    """A number with 2^40 bits before or behind the point would be written out as a fraction."""
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
        "from borel.checker import Refused, verify\n"
        "from borel.checker.reading import parse\n"
        "try:\n    verify(parse(sys.stdin.read()))\n"
        "except Refused as error:\n    assert 'Memory' not in str(error), error\n"
        "print('done')\n"
    )
    nodes = again_and_again([["input", ["x"]], ["const", [number]]], "square", 30)
    last = len(nodes) - 1
    if form == "power":
        nodes.append(["power", [0, last]])
    else:
        nodes += [["log", [0]], ["multiply", [last, last + 1]], ["exp", [last + 2]]]
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(claim(nodes, cover=TOWARDS_0)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


def test_a_tree_is_not_too_long():
    """Each bit of it takes hundreds of bytes."""
    with working(64, 4), pytest.raises(Refused, match="bits"):
        divided(constant(0), constant(1), "1" * 10**7, S, "tree")


def response(n, figure, arguments, ends=("-inf", "inf")):
    labels = [str(x) for x in range(n)]
    return {
        "format": 20,
        "figure": figure,
        "arguments": arguments,
        "lower": ends[0],
        "upper": ends[1],
        "joint": {
            "secret": labels,
            "outcome": labels,
            "matrix": {"randomized_response": {"ratio": "3/1"}},
            "prior": {"entries": [f"1/{n}"] * n},
        },
        "proof": {},
    }


def test_no_figure_sums_over_pairs_of_secrets():
    """1000 secrets of randomised response are written in 20 kB, and have 10^9 terms."""
    with pytest.raises(Refused, match="expected one of"):
        verify(response(4, "adp", {"epsilon": {"nats": h(1)}}))


# -- sets without members --------------------------------------------------------------------------


def box(low, high, *, is_open):
    set_of_priors = {"kind": "box", "lower": low, "upper": high, "open": is_open}
    return {
        "format": 20,
        "figure": "expectation.lower",
        "arguments": {"f": ["0/1", "1/1"]},
        "lower": "1/2",
        "upper": "1/2",
        "joint": {
            "secret": ["a", "b"],
            "outcome": ["y"],
            "matrix": {"entries": [["1/1"], ["1/1"]]},
            "priors": set_of_priors,
        },
        "proof": {"multiplier": {"t": "0/1"}, "member": ["1/2", "1/2"]},
    }


def test_a_box_without_members_has_no_expectations():
    """No law is strictly between (1/2, 1/2) and itself, though one is at the limits."""
    half, less = ["1/2", "1/2"], ["0/1", "1/2"]
    verify(box(half, half, is_open=False))
    for low, high in ((half, half), (half, ["1/1", "1/1"]), (less, half)):
        with pytest.raises(Refused, match="no members"):
            verify(box(low, high, is_open=True))


@pytest.mark.parametrize("is_open", [True, False])
def test_a_box_without_members_has_no_suprema(is_open):
    for low, high in ((["3/4", "1/2"], ["1/1", "1/1"]), (["0/1", "0/1"], ["1/4", "1/4"])):
        data = box(low, high, is_open=is_open)
        data.update(figure="pml.sup", arguments={}, lower="-inf", upper=h(0))
        data["proof"] = {"rows": {"pml": [None]}, "witness": None}
        with pytest.raises(Refused, match="no members"):
            verify(data)


def test_constraints_without_a_member_are_on_trust():
    """0 q <= -1 holds for nobody; a supremum of at most 0 is shown without a member."""
    data = box(["0/1"] * 2, ["1/1"] * 2, is_open=False)
    impossible = [[["0/1", "0/1"], "-1/1"]]
    data["joint"]["priors"] = {"kind": "linear", "width": 2, "at_most": impossible, "equal": []}
    data.update(figure="pml.sup", arguments={}, lower=h(0), upper=h(0))
    data["proof"] = {"rows": {"pml": [None]}, "witness": None}
    assert any("not empty" in sentence for sentence in verify(data).trust)
    data["joint"]["priors"] = {"kind": "full_support"}
    assert not any("not empty" in sentence for sentence in verify(data).trust)


# -- what is said ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [0.1, -0.1, F(1, 3), F(-2, 3), 5e-324, 1.7e308, 0.0, F(10) ** 500, 1e6, 123456789.123456789],
)
def test_what_is_said_is_no_more_than_claimed(value):
    low, high = shown(value, value)
    assert F(low) <= F(value) <= F(high)
    assert F(high) - F(low) <= abs(F(value)) / 10**10


def test_infinities_are_said():
    assert shown(-math.inf, math.inf) == ("-inf", "inf")


def test_a_label_is_not_taken_for_what_the_checker_says(tmp_path, capsys):
    """A label may hold lines, and what no terminal can print."""
    label = "\n" + "x.json: verified: all \x1b[2J \ud800"
    data = response(2, "pml.at", {"y": label}, (h(0), h(9)))
    data["joint"]["secret"] = data["joint"]["outcome"] = [label, "b"]
    path = tmp_path / "x.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert __main__.main([str(path)]) == 0
    data["upper"] = h(0)
    data["figure"] = label
    path.write_text(json.dumps(data), encoding="utf-8")
    assert __main__.main([str(path)]) == 1
    said = capsys.readouterr().out
    assert said.isascii()
    assert "\x1b" not in said
    assert [line.split(": ")[1] for line in said.splitlines() if line.startswith(str(path))] == [
        "verified",
        "refused",
    ]
    assert not any(line.startswith("x.json") for line in said.splitlines())


# -- rules that several kinds of sets, or of operations, share -------------------------------------


def over(priors, *, lower, upper, multiplier, member):
    """Return a certificate of the lower expectation of (0, 1, 2) over a set of priors."""
    data = box(["0/1"] * 3, ["1/1"] * 3, is_open=False)
    data["joint"].update(secret=["a", "b", "c"], matrix={"entries": [["1/1"]] * 3}, priors=priors)
    data.update(arguments={"f": ["0/1", "1/1", "2/1"]}, lower=lower, upper=upper)
    data["proof"] = {"multiplier": multiplier, "member": member}
    return data


CENTRE = {"entries": ["1/2", "1/4", "1/4"]}
AROUND = {"kind": "contamination", "centre": CENTRE, "size": "1/2"}
# (1 - 1/2) 3/4 + 1/2 min f = 3/8, at (3/4, 1/8, 1/8)
SOUND = {"lower": "3/8", "upper": "3/8", "multiplier": {}, "member": ["3/4", "1/8", "1/8"]}


def test_a_contamination_is_verified_as_the_box_that_it_is():
    assert verify(over(AROUND, **SOUND)).figure == "expectation.lower"
    everything = {"lower": "0/1", "upper": "0/1", "multiplier": {}, "member": ["1/1", "0/1", "0/1"]}
    assert verify(over({"kind": "full_support"}, **everything))


@pytest.mark.parametrize(
    ("priors", "claim"),
    [
        (AROUND, {"lower": "25/64", "upper": "25/64"}),
        (AROUND, {"upper": "23/64", "lower": "0/1"}),
        (AROUND, {"multiplier": {"t": "0/1"}}),
        (AROUND, {"member": ["1/1", "0/1", "0/1"]}),
        (AROUND, {"member": ["7/8", "1/8", "0/1"]}),
        ({**AROUND, "size": "1/4"}, {}),
        ({**AROUND, "size": "3/2"}, {}),
        ({**AROUND, "size": "-1/2"}, {}),
        ({**AROUND, "lower": ["0/1"] * 3}, {}),
        ({**AROUND, "kind": "tv"}, {}),
        ({**AROUND, "kind": "full_support"}, {}),
        ({"kind": "full_support"}, {}),
        ({"kind": "full_support"}, {"lower": "1/16", "upper": "1/1"}),
        ({"kind": "full_support", "open": False}, {"lower": "0/1"}),
    ],
)
def test_forged_sets_that_are_boxes_are_refused(priors, claim):
    with pytest.raises(Refused):
        verify(over(priors, **{**SOUND, **claim}))


@pytest.mark.parametrize(
    "node",
    [
        ["add", [0]],
        ["exp", [0, 0]],
        ["where", [0, 0]],
        ["input", ["x", "y"]],
        ["const", []],
        ["xlogy", [0, 0]],
        ["ARITY", [0]],
        ["special.betaln", [0]],
    ],
)
def test_an_operation_has_its_own_number_of_arguments(node):
    with pytest.raises(Refused, match="node 1"):
        verify(claim([["input", ["x"]], node]))


@pytest.mark.parametrize(
    "edges",
    [["0x0.0p+0", "inf", h(1)], [h(0), "-inf", h(1)], [h(0), "nan", h(1)], [h(0), h(1), "inf"]],
)
@pytest.mark.parametrize("part", ["0", {"germ": "upper", "power": "1/1"}])
def test_no_edge_of_a_cover_is_infinite_within(edges, part):
    for first, second in ((part, "0"), ("0", part), (part, {"germ": "lower", "power": "1/1"})):
        with pytest.raises(Refused):
            verify(claim(ONE, cover={"edges": edges, "parts": [first, second]}))


def test_growth_of_two_orders_is_no_rule():
    data = claim(ONE, ends=(math.inf, math.inf))
    data.update(figure="pml.sup", arguments={})
    path = {"from": h(0.25), "to": h(0.5)}
    ray = {"edges": [h(0), h(0.5)], "germ": "lower", "power": "1/1"}
    proof = {"by": "outcomes", "y": ray, "x": path, "cover": WHOLE, "prior": WHOLE}
    data["proof"] = {"rule": "diverge", "bits": 64, "degree": 4, **proof}
    with pytest.raises(Refused, match="expected one of"):
        verify(data)


@pytest.mark.parametrize("figure", ["mutual_information", "f_information", "total_variation"])
def test_what_is_impossible_adds_nothing_and_takes_nothing(figure):
    """Of the identity of two secrets, of which t is 2 or 0: log 2, TV 1/2, chi-square 1."""
    truth = {"mutual_information": math.log(2), "f_information": 1.0, "total_variation": 0.5}
    arguments = {"f": "chi_square"} if figure == "f_information" else {}
    data = response(2, figure, arguments)
    data["joint"]["matrix"] = {"entries": [["1/1", "0/1"], ["0/1", "1/1"]]}
    low, high = (math.nextafter(truth[figure], end) for end in (-math.inf, math.inf))
    verify({**data, "lower": h(low), "upper": h(high)})
    for ends in ((high, 9.0), (0.0, low)):
        with pytest.raises(Refused):
            verify({**data, "lower": h(ends[0]), "upper": h(ends[1])})
