"""Every function of the interval table at every kind of end: NaN, infinite, signed 0, degenerate.

All boxes over a few special ends are asked at once. Two oracles answer: Arb at the numbers of a
box, which stands for every end that is unknown, and NumPy at boxes of a single float, where
infinities and NaN are values too.
"""

import itertools

import numpy as np
import pytest
from engine import graph_oracle as oracle
from scipy import special

from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import interpreter

INF, NAN = np.inf, np.nan
TWO = """add subtract multiply divide maximum minimum heaviside remainder floor_divide power
    logaddexp logaddexp2 hypot arctan2 less less_equal greater greater_equal equal not_equal
    logical_and logical_or logical_xor fmax fmin special.beta special.betaln special.binom
    special.gammainc special.gammaincc special.iv special.kl_div special.kv special.poch
    special.rel_entr special.xlogy special.xlog1py""".split()
ARITY = dict.fromkeys(interpreter.TABLE, 1) | dict.fromkeys(TWO, 2)
ARITY |= dict.fromkeys(("where", "special.betainc", "special.betaincc"), 3)
NUMBERS = {
    1: [-3.0, -1.5, -1.0, -0.25, -5e-324, -0.0, 0.0, 5e-324, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 40.0],
    2: [-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 5.0],
    3: [-1.0, -0.0, 0.0, 0.5, 2.0],
}
TOLERANCE = 1e-12
"""Relative; NumPy and SciPy are held to be as good as that at ordinary numbers."""


def boxes(numbers):
    """Return all boxes over numbers, infinities and NaN, as lower and upper ends."""
    places = [-INF, *numbers, INF]
    pairs = [(a, b) for a, b in itertools.product(places, places) if a <= b]
    pairs += [(NAN, b) for b in places] + [(a, NAN) for a in places] + [(NAN, NAN)]
    return np.array(pairs).T


def together(arity, columns):
    """Return all combinations of the columns of an array, for each argument."""
    index = np.indices((columns.shape[-1],) * arity).reshape(arity, -1)
    return [columns[..., k] for k in index]


def enclose(op, arguments):
    with np.errstate(all="ignore"):
        found = interpreter.TABLE[op](*((a[0], a[1]) for a in arguments))
    shape = arguments[0][0].shape
    return [np.broadcast_to(end, shape) for end in found]


def truth(op, point):
    """Return floats around the value at a point, NaN where there is none or none is known."""
    with oracle.precision(400):
        found = oracle.at(op, [oracle.arb(v) for v in point])
        if found is None or found is oracle.NOTHING:
            return NAN, NAN
        middle = float(found)
        if oracle.arb(middle) == found:
            return middle, middle
        low, high = float(found.lower()), float(found.upper())
    # a float of an exact ball is its nearest one
    return np.nextafter(low, -INF), np.nextafter(high, INF)


@pytest.mark.few(31)
@pytest.mark.parametrize("op", sorted(interpreter.TABLE))
def test_every_number_of_a_box_maps_inside_whatever_its_ends_are(op):
    """An end that is NaN stands for any number: no bound may exclude the value at one."""
    arity = ARITY[op]
    numbers = NUMBERS[arity]
    arguments = together(arity, boxes(numbers))
    low, high = enclose(op, arguments)
    assert not (low > high).any()
    for point in itertools.product(numbers, repeat=arity):
        below, above = truth(op, point)
        holds = np.ones(low.shape, bool)
        for (start, stop), value in zip(arguments, point, strict=True):
            holds &= ~(value < start) & ~(value > stop)
        # comparisons with NaN are False: an end that is NaN bounds nothing
        wrong = holds & ((low > above) | (high < below))
        assert not wrong.any(), (op, point, [a[:, wrong][:, 0] for a in arguments])


def at_floats(op, points):
    """Return the values that NumPy and SciPy have."""
    owner, name = (special, op[8:]) if op.startswith("special.") else (np, op)
    with np.errstate(all="ignore"), special.errstate(all="ignore"):
        return np.asarray(getattr(owner, name)(*points), float)


@pytest.mark.few(33)
@pytest.mark.parametrize("op", sorted(interpreter.TABLE))
def test_a_box_of_one_float_holds_what_numpy_says_there(op):
    """At infinities, zeros of either sign and NaN too, as the interpreter sees them."""
    arity = ARITY[op]
    places = np.array([-INF, *NUMBERS[arity], INF, NAN])
    if op.startswith("special."):  # SciPy rounds subnormal arguments to 0, or to NaN
        places = places[~(np.abs(places) == 5e-324)]
    points = together(arity, places)
    inputs = {name: (p, p) for name, p in zip("abc", points, strict=False)}
    nodes = (*(("input", (name,)) for name in inputs), (op, tuple(range(arity))))
    low, high = interpreter.evaluate(Graph(nodes, tuple(inputs)), inputs)
    said = at_floats(op, points)
    slack = 0.0 if op in EXACT else TOLERANCE * np.where(np.isinf(said), 0.0, np.abs(said))
    wrong = (said < low - slack) | (said > high + slack)
    assert not wrong.any(), (op, [p[wrong][:5] for p in points], said[wrong][:5])
    # where NumPy has no value the interpreter must not be sure of one
    asked = Graph((*nodes, ("isnan", (arity,))), tuple(inputs))
    sure, _ = interpreter.evaluate(asked, inputs)
    assert not ((sure == 1) & ~np.isnan(said)).any()
    _, possible = interpreter.evaluate(asked, inputs)
    wrong = (possible == 0) & np.isnan(said)
    assert not wrong.any(), (op, [p[wrong][:5] for p in points])


EXACT = {
    op for op in interpreter.TABLE if op.startswith(("less", "great", "equal", "not_", "logical"))
}
EXACT |= {"floor", "ceil", "trunc", "rint", "sign", "isnan", "isinf", "isfinite", "where"}
EXACT |= {"maximum", "minimum", "fmax", "fmin", "negative", "positive", "absolute", "heaviside"}


def test_arguments_are_counted():
    for op, arity in ARITY.items():
        owner, name = (special, op[8:]) if op.startswith("special.") else (np, op)
        function = getattr(owner, name)
        assert getattr(function, "nin", arity) == arity
