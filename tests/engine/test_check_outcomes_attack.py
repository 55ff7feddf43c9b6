"""False claims about suprema over continuous outcomes, made by hand: the checker refuses them all.

Where a true claim about the same joint is listed too, it is accepted: the joint is not what is
refused. The truths in the comments are by hand.
"""

import math

import numpy as np
import pytest
from flint import ctx

from borel.engine.certificates.checks.suprema import check_outcomes
from borel.engine.certificates.checks.verifier import check
from borel.numerics.graphs.trace import trace

pytestmark = pytest.mark.attacks

FAR = math.inf
FLAT = {"p": lambda x: 1 + 0 * x, "ends": (0.0, 1.0)}
PAIR = {"atoms": [(0.0, 0.5, 0.5), (1.0, 0.5, 0.5)]}
RARE = {"atoms": [(0.0, 0.9, 0.9), (1.0, 0.1, 0.1)]}
HALF_LINE = {"line": (0.0, FAR), "cover": (0.0, 0.5, FAR), "edges": (0.5,)}
HALVES = {"cover": (0.0, 0.5, 1.0)}
PML, PMC = (0.5, None), (None, 0.5)


def claim(kind, figures, f, *, log=False, p=None, atoms=(), x=(None, None), **more):
    """Return a certificate: p, f and its numbers as they are given."""
    line = more.get("line", (0.0, 1.0))
    lower, upper = more.get("ends", (None, None))
    graph = None if p is None else trace(p, ("x",), ()).to_json()
    data = {
        "format": 3,
        "quantity": kind,
        "lower": figures[0],
        "upper": figures[1],
        "kernel": {"graph": trace(f, ("y", "x"), ()).to_json(), "log": log},
        "prior": {
            "graph": graph,
            "log": False,
            "lower": lower,
            "upper": upper,
            "atoms": [list(atom) for atom in atoms],
        },
        "outcome": {"lower": line[0], "upper": line[1], "points": None},
        "claim": {
            "type": "outcomes",
            "cover": list(more.get("cover", line)),
            "edges": list(more.get("edges", ())),
            "peak": {"y": list(more.get("peak", (0.25, 0.26))), "x": list(x)},
            "marginal": None,
        },
    }
    return _spelled(data)


def _spelled(data):
    if isinstance(data, dict):
        return {name: _spelled(v) for name, v in data.items()}
    if isinstance(data, list):
        return [_spelled(v) for v in data]
    infinite = isinstance(data, float) and math.isinf(data)
    return ("Infinity" if data > 0 else "-Infinity") if infinite else data


def tilted(y, x):
    return 1 + x * (2 * y - 1)


def blind(y, x):  # nothing is told, and there are no outcomes beyond 1/2
    return np.where(y < 0.5, 2.0 + 0 * x, 0.0)


def laplace(y, x):
    return -np.abs(y - x) - np.log(2.0)


def steep(y, x):  # at y = 0: 11 for x = 1, 2 on average
    return 1 + x * (11 * (y - 1) ** 10 - 1)


def decay(rate):
    return lambda y, x: np.log(rate(x)) - rate(x) * y


def clipped(x):  # 7 below 1/2, and 5 above
    return np.clip(np.where(x < 0.5, 10.0, 0.0), 5.0, 7.0)


def lifted(x):  # 2 below 1/2, and 4 above
    return np.power(2.0 + 0 * x, np.where(x < 0.5, 1.0, 2.0))


SLIVER = 1 - 2.0**-50


def dipping(y, x):  # far below all floats there are, on a sliver of outcomes
    return np.where(y < SLIVER, -np.log(SLIVER), -800 - 12 * x * (1 - x))


def leaping(y, x):
    return np.where(y < 0.5, np.log(2.0), -800 + np.where(x > 0.5, 3.0, 0.0))


def arcsine(x):
    return 1 / (np.pi * np.sqrt(x * (1 - x)))


def speck(y, x):  # altered at points: a null set
    return np.where(np.logical_or(x == 0.5, x == y), 9.0, 1.0)


def window(y, x):  # 0 on half of the secrets
    return np.where((x < 0.5) == (y < 0.5), 2.0, 0.0)


def late(x):  # no prior mass below 1/2
    return np.where(x < 0.5, 0.0, 2.0)


def early(y, x):  # 2y below 1/2, flat above
    return np.where(x < 0.5, 2 * y, 1.0)


def wave(y, x):  # with 1 - 1 - y + y = 0 on the way
    return 1 + ((1e8 + y) - 1e8) * (2 * x - 1) - (2 * x - 1) / 2


def edged(y, x):  # jumps at 1/2 and 1/4
    return np.where(x < 0.25, np.where(y < 0.5, 2.0, 0.0), np.where(y < 0.25, 0.0, 4 / 3))


FALSE = {
    # 0: an atom of no mass does not count
    "peak at an atom of no mass": (
        ("pml", (0.1, 2.0), tilted),
        {"atoms": [(0.0, 1.0, 1.0), (1.0, 0.0, 0.0)], "x": (1.0, None), "peak": (0.9, 0.91)},
    ),
    "peak at an atom that may have none": (
        ("ldp", (0.1, 2.0), tilted),
        {"atoms": [(0.0, 0.5, 1.0), (1.0, 0.0, 0.5)], "x": (1.0, 0.0), "peak": (0.9, 0.91)},
    ),
    # 0: there are no outcomes where f_Y is 0
    **{
        f"0 / 0, {kind}": (
            (kind, (5.0, 6.0), blind),
            {**FLAT, **HALVES, "peak": (0.75, 0.76), "x": x},
        )
        for kind, x in (("pml", PML), ("pmc", PMC), ("ldp", (0.5, 0.5)))
    },
    # log (1 + e) / 2 = 0.62: f in units of f(y|x0) is not f
    "units on an unbounded peak": (
        ("pmc", (5.0, 6.0), laplace),
        {
            **PAIR,
            "log": True,
            "line": (-FAR, FAR),
            "cover": (-FAR, 0.0, 1.0, FAR),
            "peak": (10.0, FAR),
            "x": (None, 0.0),
        },
    ),
    # log 5.5 = 1.7
    "a power of a negative number": (("pml", (0.0, 0.2), steep), RARE),
    # log 2 at infinity; infinite; infinite
    "a jump that is clipped": (
        ("pml", (0.0, 0.6), decay(clipped)),
        {**FLAT, **HALF_LINE, "log": True},
    ),
    "a jump that is clipped, cost": (
        ("pmc", (0.0, 1.0), decay(clipped)),
        {**FLAT, **HALF_LINE, "log": True},
    ),
    "a jump that is clipped, ldp": (
        ("ldp", (0.0, 3.0), decay(clipped)),
        {**FLAT, **HALF_LINE, "log": True},
    ),
    "a jump in an exponent": (
        ("pmc", (0.0, 1.0), decay(lifted)),
        {**FLAT, **HALF_LINE, "log": True},
    ),
    "a jump in a minimum": (
        ("pmc", (0.0, 1.0), decay(lambda x: np.minimum(np.where(x < 0.5, 2.0, 1.0), 3.0))),
        {**FLAT, **HALF_LINE, "log": True},
    ),
    # 3
    "below all floats": (
        ("ldp", (0.0, 1.0), dipping),
        {**FLAT, "log": True, "cover": (0.0, SLIVER, 1.0)},
    ),
    # log (1 + e^3) / 2 = 2.36
    "lost cells below all floats": (
        ("pmc", (0.0, 0.5), leaping),
        {**HALVES, "p": arcsine, "ends": (0.0, 1.0), "log": True, "edges": (0.5,)},
    ),
    # no prior, which would make anything true
    "no cells of secrets": (
        ("pml", (0.0, 0.001), tilted),
        {"p": FLAT["p"], "ends": (1.0, 0.0)},
    ),
    "one secret": (("pml", (0.0, 0.001), tilted), {"p": FLAT["p"], "ends": (0.5, 0.5)}),
    # 0 everywhere but on a null set
    "null sets": (("pml", (1.0, 3.0), speck), {**FLAT, "x": PML, "peak": (0.49, 0.51)}),
    "null sets, ldp": (("ldp", (1.0, 3.0), speck), {**FLAT, "x": (0.5, 0.25)}),
    # the prior has no mass at the peak; 0, as f is 1 above 1/2
    "peak at a secret of no density": (
        ("pml", (0.3, 0.8), early),
        {"p": late, "ends": (0.0, 1.0), "x": (0.25, None), "peak": (0.9, 0.91)},
    ),
    "peak beside the prior": (
        ("pml", (0.01, 0.8), tilted),
        {"p": lambda x: 2 + 0 * x, "ends": (0.0, 0.5), "x": (0.75, None), "peak": (0.9, 0.91)},
    ),
    # log 2; infinite
    "zeros of f": (("pml", (0.0, 0.69), window), {**FLAT, **HALVES, "edges": (0.5,)}),
    "zeros of f, cost": (("pmc", (0.0, 50.0), window), {**FLAT, **HALVES, "edges": (0.5,)}),
    # log 1.5, at the corners
    "cancellation": (("pml", (0.0, 0.40546), wave), FLAT),
    "cancellation, cost": (("pmc", (0.0, 0.69), wave), FLAT),
    # pml: log 2 / (1 + e^-1) = 0.380 at infinity
    "only at infinity": (
        ("pml", (0.0, 0.37), laplace),
        {**PAIR, "log": True, "line": (-FAR, FAR), "cover": (-FAR, 0.0, 1.0, FAR)},
    ),
    "jumps at edges": (
        ("pml", (0.0, 1.38), edged),
        {**FLAT, "cover": (0.0, 0.25, 0.5, 1.0), "edges": (0.25,)},
    ),
}
TRUE = {
    "laplace": (
        ("pmc", (0.62, 0.621), laplace),
        {
            **PAIR,
            "log": True,
            "line": (-FAR, FAR),
            "cover": (-FAR, 0.0, 1.0, FAR),
            "peak": (10.0, 10.01),
            "x": (None, 0.0),
        },
    ),
    "window": (
        ("pml", (0.693, 0.6932), window),
        {**FLAT, **HALVES, "edges": (0.5,), "x": (0.25, None)},
    ),
    "wave": (("pml", (0.0, 0.40547), wave), FLAT),
    "jumps at edges": (
        ("pml", (1.386, 1.3863), edged),
        {
            **FLAT,
            "cover": (0.0, 0.25, 0.5, 1.0),
            "edges": (0.25,),
            "x": (0.125, None),
            "peak": (0.125, 0.126),
        },
    ),
    "arcsine": (
        ("pmc", (0.0, 3.1), leaping),
        {**HALVES, "p": arcsine, "ends": (0.0, 1.0), "log": True, "edges": (0.5,)},
    ),
}


@pytest.mark.cases("slow", "below all floats", "lost cells below all floats")
@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_refused(name):
    args, more = FALSE[name]
    assert not check_outcomes(claim(*args, **more)).ok


@pytest.mark.parametrize("name", TRUE)
def test_a_true_claim_of_the_kind_is_accepted(name):
    args, more = TRUE[name]
    report = check_outcomes(claim(*args, **more))
    assert report.ok, report.failures


def good():
    args, more = TRUE["window"]
    return claim(*args, **more)


def put(data, path, value):
    for name in path[:-1]:
        data = data[name]
    data[path[-1]] = value


NAN = math.nan


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], 2),
        (["quantity"], "pmc"),
        (["quantity"], "PML"),
        (["quantity"], None),
        (["upper"], 0.69),
        (["upper"], NAN),
        (["upper"], "NaN"),
        (["upper"], "-Infinity"),
        (["upper"], None),
        (["lower"], 0.7),
        (["lower"], NAN),
        (["lower"], "Infinity"),
        (["lower"], True),
        (["kernel", "log"], "no"),
        (["kernel", "log"], 1),
        (["prior", "log"], "no"),
        (["prior", "log"], True),
        (["prior", "atoms"], [[0.5, -1.0, -1.0]]),
        (["prior", "atoms"], [[0.5, NAN, NAN]]),
        (["prior", "atoms"], [[0.5, 0.1, 0.1], [0.5, 0.2, 0.2]]),
        (["prior", "atoms"], [[0.0, 0.1, 0.1], [-0.0, 0.2, 0.2]]),
        (["prior", "lower"], 1.0),
        (["prior", "lower"], 2.0),
        (["prior", "lower"], NAN),
        (["prior", "upper"], 0.0),
        (["outcome", "points"], [0.25]),
        (["outcome", "upper"], 2.0),
        (["outcome", "lower"], NAN),
        (["claim", "cover"], []),
        (["claim", "cover"], [0.0]),
        (["claim", "cover"], [0.0, 0.5]),
        (["claim", "cover"], [0.5, 1.0]),
        (["claim", "cover"], [0.0, 0.5, 0.5, 1.0]),
        (["claim", "cover"], [0.0, 1.0, 0.5, 1.0]),
        (["claim", "cover"], [0.0, NAN, 1.0]),
        (["claim", "cover"], ["0", "1"]),
        (["claim", "peak", "y"], [0.25, 0.25]),
        (["claim", "peak", "y"], [0.26, 0.25]),
        (["claim", "peak", "y"], [-1.0, -0.5]),
        (["claim", "peak", "y"], [0.75, "Infinity"]),
        (["claim", "peak", "y"], [NAN, NAN]),
        (["claim", "peak", "x"], [0.75, None]),
        (["claim", "peak", "x"], [None, 0.25]),
        (["claim", "peak", "x"], ["y", None]),
        (["claim", "peak", "x"], [NAN, None]),
        (["claim", "peak", "x"], ["Infinity", None]),
    ],
)
def test_altered_data_are_refused(path, value):
    data = good()
    put(data, path, value)
    assert not check_outcomes(data).ok


def test_the_two_checkers_refuse_each_other_s_certificates():
    assert check_outcomes(good()).ok
    assert not check(good()).ok
    assert not check({**good(), "format": 2}).ok


def test_series_that_flint_would_cut_off_are_refused(monkeypatch):
    monkeypatch.setattr(ctx, "cap", 3)
    assert not check_outcomes(good()).ok
