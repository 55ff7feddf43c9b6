"""The interval table against rationals and 400-bit Arb: points inside boxes map inside."""

import math
from fractions import Fraction as F

import flint
import numpy as np
import oracles as o
import pytest

from borel.engine import interval
from borel.engine.trace import Graph, trace
from borel.errors import NotEnclosed

BOXES, POINTS = 450, 6


def graph_of(op, arity):
    inputs = tuple("abc"[:arity])
    nodes = tuple(("input", (name,)) for name in inputs)
    return Graph((*nodes, (op, tuple(range(arity)))), inputs)


# -- random boxes --------------------------------------------------------------------------------


def ends(rng, n, domain):
    """Random lower and upper ends in a domain: wide, thin, points, signs, tiny, huge, integers."""
    low, high = domain
    kind = rng.integers(0, 8, n)
    scale = np.select(
        [kind == 0, kind == 1, kind == 2], [1e-310, 1e-30, 1e3], 10.0 ** rng.uniform(-3, 2, n)
    )
    a, b = (rng.uniform(-1, 1, n) * scale for _ in range(2))
    a = np.where(kind == 3, np.round(a), a)
    b = np.where(kind == 3, a + rng.integers(0, 4, n), b)
    b = np.where(kind == 4, a, b)
    b = np.where(kind == 5, a * (1 + 2.0**-51), b)
    a = np.where(kind == 6, 1 + rng.integers(-4, 5, n) * 2.0**-52, a)
    b = np.where(kind == 6, a + rng.integers(0, 3, n) * 2.0**-52, b)
    a = np.where((kind == 7) & (rng.random(n) < 0.3), 0.0, a)
    a, b = np.clip(a, low, high), np.clip(b, low, high)
    return np.minimum(a, b), np.maximum(a, b)


def inside(rng, low, high):
    """Points of a box: its ends, its middle, whole numbers, and random ones."""
    points = [low, high, low + (high - low) / 2, np.clip(np.round(low), low, high)]
    points += [np.clip(low + (high - low) * rng.random(low.shape), low, high) for _ in range(2)]
    return np.stack(points)


# -- truth at a point ----------------------------------------------------------------------------


def arb_of(name):
    def truth(x):
        return lambda: getattr(o.ball(x), name)()

    return truth


def arb_log(x):
    return None if x < 0 else -math.inf if x == 0 else lambda: o.ball(x).log()


def arb_power(x, y):
    if x > 0:
        return F(1) if x == 1 or y == 0 else lambda: (o.ball(x).log() * o.ball(y)).exp()
    if y != math.floor(y) or (x == 0 and y < 0):
        return F(0) if x == 0 and y > 0 else None
    return F(x) ** int(y)


def truth_of(test):
    return lambda *values: F(int(bool(test(*values))))


def sign(x):
    return F((x > 0) - (x < 0))


ANY, POSITIVE, SMALL = (-np.inf, np.inf), (0.0, np.inf), (-700.0, 700.0)
FRACTIONS = {
    "add": (lambda a, b: F(a) + F(b), ANY, ANY),
    "subtract": (lambda a, b: F(a) - F(b), ANY, ANY),
    "multiply": (lambda a, b: F(a) * F(b), ANY, ANY),
    "divide": (lambda a, b: None if b == 0 else F(a) / F(b), ANY, ANY),
    "negative": (lambda a: -F(a), ANY),
    "positive": (F, ANY),
    "reciprocal": (lambda a: None if a == 0 else 1 / F(a), ANY),
    "square": (lambda a: F(a) ** 2, ANY),
    "absolute": (lambda a: abs(F(a)), ANY),
    "maximum": (lambda a, b: max(F(a), F(b)), ANY, ANY),
    "minimum": (lambda a, b: min(F(a), F(b)), ANY, ANY),
    "floor": (lambda a: F(math.floor(a)), ANY),
    "ceil": (lambda a: F(math.ceil(a)), ANY),
    "sign": (sign, ANY),
    "less": (truth_of(lambda a, b: a < b), ANY, ANY),
    "less_equal": (truth_of(lambda a, b: a <= b), ANY, ANY),
    "greater": (truth_of(lambda a, b: a > b), ANY, ANY),
    "greater_equal": (truth_of(lambda a, b: a >= b), ANY, ANY),
    "equal": (truth_of(lambda a, b: a == b), ANY, ANY),
    "not_equal": (truth_of(lambda a, b: a != b), ANY, ANY),
    "logical_and": (truth_of(lambda a, b: a and b), ANY, ANY),
    "logical_or": (truth_of(lambda a, b: a or b), ANY, ANY),
    "logical_not": (truth_of(lambda a: not a), ANY),
    "where": (lambda c, a, b: F(a) if c else F(b), ANY, ANY, ANY),
}
BALLS = {
    "sqrt": (lambda a: None if a < 0 else F(0) if a == 0 else lambda: o.ball(a).sqrt(), ANY),
    "exp": (arb_of("exp"), (-760.0, 720.0)),
    "log": (arb_log, ANY),
    "expm1": (arb_of("expm1"), SMALL),
    "log1p": (lambda a: None if a <= -1 else F(0) if a == 0 else lambda: o.ball(a).log1p(), ANY),
    "power": (arb_power, POSITIVE, (-8.0, 8.0)),
    "special.gammaln": (arb_of("lgamma"), (1.0, 1e6)),
}
TRUTHS = {**FRACTIONS, **BALLS}
SLOW = {"special.gammaln"}


def is_inside(low, truth, high):
    """Say if a truth lies in a box; None (no value there) lies anywhere."""
    if truth is None:
        return True
    if isinstance(truth, F):
        return o.contains(low, truth, high)
    if isinstance(truth, float):
        return low <= truth <= high
    with o.precision(400):
        ball = truth()
        if not ball.is_finite():
            return True
        if o.ball(low) <= ball and ball <= o.ball(high):
            return True
        if ball < o.ball(low) or o.ball(high) < ball:
            return False
        exact = ball.is_exact()
    if exact:
        return low <= float(ball) <= high
    return o.between(low, truth, high)


def check(op):
    """Map random boxes, and points inside them, through an operation of the table."""
    function, *domains = TRUTHS[op]
    rng = np.random.default_rng(sorted(TRUTHS).index(op))
    n = BOXES // 5 if op in SLOW else BOXES
    boxes = [ends(rng, n, domain) for domain in domains]
    names = "abc"[: len(domains)]
    low, high = interval.evaluate(graph_of(op, len(domains)), dict(zip(names, boxes, strict=True)))
    assert not np.isnan(low).any() and not np.isnan(high).any()
    points = [inside(rng, *box) for box in boxes]
    for i in range(n):
        for k in range(POINTS):
            # the same place in every box, and (for two or more) another place in the second
            values = [float(p[(k + 2 * j * (i % 2)) % POINTS, i]) for j, p in enumerate(points)]
            assert is_inside(float(low[i]), function(*values), float(high[i])), (
                op,
                [tuple(map(float, (b[0][i], b[1][i]))) for b in boxes],
                values,
                (low[i], high[i]),
            )


@pytest.mark.parametrize("op", sorted(TRUTHS))
def test_points_inside_boxes_map_inside(op):
    check(op)


def test_every_operation_of_the_table_is_tested():
    assert set(interval.TABLE) == set(TRUTHS)


@pytest.mark.parametrize("exponent", [-3, -2, -1, 0, 1, 2, 3, 4, 7])
def test_whole_powers_of_any_sign(exponent):
    rng = np.random.default_rng(exponent + 10)
    low, high = ends(rng, 200, (-50.0, 50.0))
    found = interval.evaluate(trace(lambda a: a**exponent, ("a",), ()), {"a": (low, high)})
    points = inside(rng, low, high)
    for i in range(200):
        for k in range(POINTS):
            x = F(float(points[k, i]))
            truth = None if x == 0 and exponent < 0 else x**exponent
            assert is_inside(float(found[0][i]), truth, float(found[1][i])), (low[i], high[i], x)


def test_boxes_with_infinite_ends():
    """Tail boxes: [M, inf) and (-inf, M]; the points are far out, and at the finite end."""
    rng = np.random.default_rng(3)
    far = [1.0, 2.5, 40.0, 1e4, 1e18, 1e300]
    for op in ("add", "subtract", "multiply", "divide", "maximum", "less", "power", "where"):
        function, *domains = TRUTHS[op]
        for _ in range(60):
            boxes, points = [], []
            for domain in domains:
                end = float(np.round(rng.uniform(-5, 50), 1))
                if domain[0] == 0.0:
                    end = abs(end)
                if domain == (-8.0, 8.0) or (domain == ANY and rng.random() < 0.3):
                    boxes.append((np.array(-2.0), np.array(3.0)))
                    points.append([-2.0, 0.0, 0.5, 1.0, 3.0, 3.0])
                elif rng.random() < 0.7 or domain[0] == 0.0:
                    boxes.append((np.array(end), np.array(np.inf)))
                    points.append([end + (f if f > 1 else 0.0) for f in far])
                else:
                    boxes.append((np.array(-np.inf), np.array(end)))
                    points.append([end - (f if f > 1 else 0.0) for f in far])
            inputs = dict(zip("abc", boxes, strict=False))
            low, high = interval.evaluate(graph_of(op, len(domains)), inputs)
            for _ in range(12):
                values = [float(rng.choice(p)) for p in points]
                if op == "power" and (values[0] > 1e40 or values[0] < 0):
                    continue
                assert is_inside(float(low), function(*values), float(high)), (op, boxes, values)


def test_random_expressions_of_rational_operations():
    """Whole graphs: sums, products, quotients, powers and choices of each other, in Fractions."""
    rng = np.random.default_rng(4)
    one = ["negative", "square", "absolute", "floor", "sign", "logical_not"]
    two = [
        "add",
        "subtract",
        "multiply",
        "divide",
        "maximum",
        "minimum",
        "less",
        "equal",
        "logical_and",
        "logical_or",
    ]
    for _ in range(150):
        nodes = [("input", ("a",)), ("input", ("b",)), ("const", (float(rng.integers(-3, 4)),))]
        for _ in range(7):
            pick = [int(v) for v in rng.integers(0, len(nodes), 3)]
            draw = rng.random()
            if draw < 0.25:
                nodes.append((str(rng.choice(one)), (pick[0],)))
            elif draw < 0.9:
                nodes.append((str(rng.choice(two)), tuple(pick[:2])))
            else:
                nodes.append(("where", tuple(pick)))
        boxes = [ends(rng, 10, (-9.0, 9.0)) for _ in range(2)]
        graph = Graph(tuple(nodes), ("a", "b"))
        low, high = interval.evaluate(graph, {"a": boxes[0], "b": boxes[1]})
        points = [inside(rng, *box) for box in boxes]
        for i in range(10):
            for k in range(POINTS):
                values = []
                for op, args in nodes:
                    if op == "input":
                        values.append(F(float(points["ab".index(args[0])][k, i])))
                    elif op == "const":
                        values.append(F(args[0]))
                    else:
                        operands = [values[j] for j in args]
                        missing = any(v is None for v in operands)
                        values.append(None if missing else exactly(op, operands))
                assert is_inside(float(low[i]), values[-1], float(high[i])), (nodes, values)


def exactly(op, operands):
    if op in (
        "less",
        "equal",
        "logical_and",
        "logical_or",
        "logical_not",
        "where",
        "sign",
        "floor",
    ):
        table = {
            "less": lambda a, b: F(int(a < b)),
            "equal": lambda a, b: F(int(a == b)),
            "logical_and": lambda a, b: F(int(bool(a and b))),
            "logical_or": lambda a, b: F(int(bool(a or b))),
            "logical_not": lambda a: F(int(not a)),
            "where": lambda c, a, b: a if c else b,
            "sign": sign,
            "floor": lambda a: F(math.floor(a)),
        }
        return table[op](*operands)
    if op == "divide":
        return None if operands[1] == 0 else operands[0] / operands[1]
    return FRACTIONS[op][0](*operands)


@pytest.mark.parametrize(
    "density",
    [
        lambda y, x: np.where(y - x, 0.25, 0.75),
        lambda y, x: np.where(np.logical_not(y - x), 0.75, 0.25),
        lambda y, x: np.where(np.logical_and(y - x, 1), 0.25, 0.75),
        lambda y, x: np.where(np.logical_or(y - x, 0), 0.25, 0.75),
    ],
    ids=["where", "not", "and", "or"],
)
def test_a_number_used_as_a_truth_value(density):
    """y - x over x in [40, inf) is 0 at x = y = 50: neither branch may be lost."""
    graph = trace(density, ("y", "x"), ())
    low, high = interval.evaluate(
        graph, {"y": (np.array(50.0),) * 2, "x": (np.array(40.0), np.array(np.inf))}
    )
    assert low <= 0.25 and 0.75 <= high


def test_an_operation_outside_the_table_is_named():
    with pytest.raises(NotEnclosed, match="sin"):
        interval.evaluate(trace(lambda a: np.sin(a), ("a",), ()), {"a": (np.zeros(1), np.ones(1))})


# -- broken on purpose ---------------------------------------------------------------------------


def keep(low, high):
    return low, high


def no_step(value, error):
    return value


BROKEN = {
    "exp without widening": ("_widen", keep, "exp"),
    "log without widening": ("_widen", keep, "log"),
    "expm1 without widening": ("_widen", keep, "expm1"),
    "power without widening": ("_widen", keep, "power"),
    "half an ulp for exp": ("ULPS", 0.25, "exp"),
    "sums rounded to nearest": ("_down", no_step, "add"),
    "differences rounded to nearest": ("_up", no_step, "subtract"),
    "products rounded to nearest": ("_up", no_step, "multiply"),
    "squares rounded to nearest": ("_down", no_step, "square"),
    "quotients taken as exact": ("_exact_quotient", lambda a, b, q: True, "divide"),
}
TABLE_BROKEN = {
    "absolute": lambda a: (np.minimum(abs(a[0]), abs(a[1])), np.maximum(abs(a[0]), abs(a[1]))),
    "square": lambda a: (a[0] * a[0], a[1] * a[1]),
    "reciprocal": lambda a: (1 / a[1], 1 / a[0]),
    "floor": lambda a: (np.ceil(a[0]), np.floor(a[1])),
    "sqrt": lambda a: (np.sqrt(np.maximum(a[0], 0)), np.sqrt(np.maximum(a[1], 0))),
    "less": lambda a, b: interval._truth(a[0] >= b[0], a[1] < b[1]),
    "less_equal": lambda a, b: interval._truth(a[0] >= b[1], a[1] <= b[0]),
    "where": lambda c, a, b: a,
    "multiply": lambda a, b: (a[0] * b[0], a[1] * b[1]),
    "special.gammaln": lambda a: (
        interval._through_arb("lgamma", a[0], -1),
        interval._through_arb("lgamma", a[1], 1),
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_version_is_caught(what, monkeypatch):
    name, broken, op = BROKEN[what]
    monkeypatch.setattr(interval, name, broken)
    with pytest.raises(AssertionError):
        check(op)


@pytest.mark.parametrize("op", TABLE_BROKEN)
def test_a_broken_table_is_caught(op, monkeypatch):
    monkeypatch.setitem(interval.TABLE, op, TABLE_BROKEN[op])
    with np.errstate(all="ignore"), pytest.raises(AssertionError):
        check(op)


def test_the_oracle_runs_at_400_bits():
    with o.precision(400):
        assert flint.arb("0.1").exp().rel_accuracy_bits() >= 390
