"""Graphs in Arb: each operation against mpmath, figures against closed forms at 300 bits."""

import math
import zlib
from itertools import pairwise

import flint
import mpmath
import numpy as np
import oracles as o
import pytest
from flint import acb, arb

import borel as bl
from borel.errors import NotEnclosed
from borel.numerics.balls import (
    expansion,
    extremum,
    integrand,
    interpreter,
    ranges,
    second_derivative,
)
from borel.numerics.balls.arithmetic import precision
from borel.numerics.balls.expansion import product
from borel.numerics.balls.extremum import extreme
from borel.numerics.balls.integral import integrate
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.balls.second_derivative import curvature
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.operations import OPERATIONS
from borel.numerics.graphs.trace import trace

INF = math.inf
MP = mpmath.mp.clone()
MP.prec = 200


def density(function, *, log=True):
    """Return a traced f(y, x) with an input for the shift: log f or f, as an integrand."""
    return Prepared(product([(trace(function, ("y", "x"), ()), log)]))


def plain(function):
    return Prepared(trace(function, ("y", "x"), ()))


def encloses(found, truth, width=None):
    """Assert that exact ends enclose a truth (a function that gives a ball), and how narrowly."""
    with o.precision(300):
        value = truth()
        assert not value < found.lower and not value > found.upper, (found.floats, value)
        assert found.lower <= value and value <= found.upper, "not settled"
        if width is not None:
            assert found.upper - found.lower <= width * abs(value), (found.floats, value)


def exact(value):
    """Return an mpmath number as a ball, exactly."""
    return arb(value)


# -- each operation ------------------------------------------------------------------------------

ANY, POSITIVE, UNIT = (-4.0, 4.0), (0.0, 5.0), (-1.0, 1.0)
ONE = {
    "negative": (lambda a: -a, ANY),
    "positive": (lambda a: a, ANY),
    "absolute": (abs, ANY),
    "square": (lambda a: a * a, ANY),
    "sqrt": (MP.sqrt, POSITIVE),
    "cbrt": (lambda a: MP.sign(a) * MP.cbrt(abs(a)), ANY),
    "reciprocal": (lambda a: 1 / a, ANY),
    "exp": (MP.exp, ANY),
    "exp2": (lambda a: MP.mpf(2) ** a, ANY),
    "expm1": (MP.expm1, ANY),
    "log": (MP.log, POSITIVE),
    "log2": (lambda a: MP.log(a, 2), POSITIVE),
    "log10": (MP.log10, POSITIVE),
    "log1p": (MP.log1p, (-1.0, 4.0)),
    "sin": (MP.sin, ANY),
    "cos": (MP.cos, ANY),
    "tan": (MP.tan, ANY),
    "sinh": (MP.sinh, ANY),
    "cosh": (MP.cosh, ANY),
    "tanh": (MP.tanh, ANY),
    "arcsin": (MP.asin, UNIT),
    "arccos": (MP.acos, UNIT),
    "arctan": (MP.atan, ANY),
    "arcsinh": (MP.asinh, ANY),
    "arctanh": (MP.atanh, UNIT),
    "sign": (MP.sign, ANY),
    "floor": (MP.floor, ANY),
    "ceil": (MP.ceil, ANY),
    "trunc": (lambda a: MP.floor(a) if a >= 0 else MP.ceil(a), ANY),
    "special.expit": (lambda a: 1 / (1 + MP.exp(-a)), ANY),
    "special.logit": (lambda a: MP.log(a / (1 - a)), (0.0, 1.0)),
    "special.log_expit": (lambda a: -MP.log1p(MP.exp(-a)), ANY),
    "special.erf": (MP.erf, ANY),
    "special.erfc": (MP.erfc, ANY),
    "special.erfcx": (lambda a: MP.exp(a**2) * MP.erfc(a), ANY),
    "special.ndtr": (MP.ncdf, ANY),
    "special.log_ndtr": (lambda a: MP.log(MP.ncdf(a)), ANY),
    "special.gammaln": (MP.loggamma, POSITIVE),
    "special.loggamma": (MP.loggamma, POSITIVE),
    "special.gamma": (MP.gamma, ANY),
    "special.rgamma": (MP.rgamma, ANY),
    "special.psi": (MP.digamma, POSITIVE),
    "special.digamma": (MP.digamma, POSITIVE),
    "special.entr": (lambda a: -a * MP.log(a), POSITIVE),
    "special.exp10": (lambda a: MP.mpf(10) ** a, ANY),
}
TWO = {
    "add": (lambda a, b: a + b, ANY),
    "subtract": (lambda a, b: a - b, ANY),
    "multiply": (lambda a, b: a * b, ANY),
    "divide": (lambda a, b: a / b, ANY),
    "maximum": (max, ANY),
    "minimum": (min, ANY),
    "fmax": (max, ANY),
    "fmin": (min, ANY),
    "logaddexp": (lambda a, b: MP.log(MP.exp(a) + MP.exp(b)), ANY),
    "logaddexp2": (lambda a, b: MP.log(2**a + 2**b, 2), ANY),
    "hypot": (MP.hypot, ANY),
    "power": (lambda a, b: a**b, (0.01, 4.0)),
    "remainder": (lambda a, b: a - b * MP.floor(a / b), (0.1, 4.0)),
    "floor_divide": (lambda a, b: MP.floor(a / b), (0.1, 4.0)),
    "heaviside": (lambda a, b: MP.mpf(0) if a < 0 else MP.mpf(1) if a > 0 else b, ANY),
    "less": (lambda a, b: MP.mpf(a < b), ANY),
    "less_equal": (lambda a, b: MP.mpf(a <= b), ANY),
    "greater": (lambda a, b: MP.mpf(a > b), ANY),
    "greater_equal": (lambda a, b: MP.mpf(a >= b), ANY),
    "equal": (lambda a, b: MP.mpf(a == b), ANY),
    "not_equal": (lambda a, b: MP.mpf(a != b), ANY),
    "logical_and": (lambda a, b: MP.mpf(a != 0 and b != 0), ANY),
    "logical_or": (lambda a, b: MP.mpf(a != 0 or b != 0), ANY),
    "logical_xor": (lambda a, b: MP.mpf((a != 0) != (b != 0)), ANY),
    "special.betaln": (
        lambda a, b: MP.loggamma(a) + MP.loggamma(b) - MP.loggamma(a + b),
        (0.01, 4.0),
    ),
    "special.beta": (MP.beta, ANY),
    "special.binom": (MP.binomial, ANY),
    "special.poch": (MP.rf, ANY),
    "special.xlogy": (lambda a, b: a * MP.log(b), (0.01, 4.0)),
    "special.xlog1py": (lambda a, b: a * MP.log1p(b), (0.01, 4.0)),
}
INNER = {
    # what the operations are applied to: x, and something curved
    "x": lambda x: x,
    "curved": lambda x: x * x / 4 + x / 3 - MP.mpf(0.25),
}


def graph_of(op, inner, second):
    """Return op(u(x)) or op(u(x), second), where second is "x", "y" or a number."""
    nodes = [("input", ("x",)), ("input", ("y",))]
    if inner == "curved":
        nodes += [("multiply", (0, 0)), ("const", (4.0,)), ("divide", (2, 3))]
        nodes += [("const", (3.0,)), ("divide", (0, 5)), ("add", (4, 6))]
        nodes += [("const", (0.25,)), ("subtract", (7, 8))]
    first = 0 if inner == "x" else len(nodes) - 1
    if op in ONE:
        return Graph((*nodes, (op, (first,))), ("x", "y"))
    if second not in ("x", "y"):
        nodes.append(("const", (second,)))
    other = {"x": 0, "y": 1}.get(second, len(nodes) - 1)
    return Graph((*nodes, (op, (first, other))), ("x", "y"))


def truth_of(op, inner, second, y):
    function = (ONE | TWO)[op][0]

    def value(x):
        first = INNER[inner](x)
        if op in ONE:
            return function(first)
        return function(first, x if second == "x" else MP.mpf(y if second == "y" else second))

    return value


def boxes_of(rng, domain, n):
    """Boxes in a domain: wide, thin, at its ends, at whole numbers."""
    low, high = domain
    for i in range(n):
        width = min([1e-9, 1e-3, 0.1, 1.0, 2.0][i % 5], high - low)
        a = [low, high - width, rng.uniform(low, high - width), np.round(rng.uniform(low, high))]
        a = float(np.clip(a[int(rng.integers(4))], low, high - width))
        yield a, a + width


def number(value):
    """Say if mpmath found a finite real number."""
    return not isinstance(value, MP.mpc) and MP.isfinite(value)


def around(range_, value, slack=0):
    """Say if a range, widened by some slack, may contain a value; NaN contains all."""
    low, high = range_
    if low.is_nan() or high.is_nan():
        return True
    with o.precision(300):
        return not low.lower() > exact(value + slack) and not high.upper() < exact(value - slack)


def check(op, count=12):
    """Compare ranges, slopes, curvatures and balls of one operation with mpmath at points."""
    rng = np.random.default_rng(zlib.crc32(op.encode()))
    domain = (ONE | TWO)[op][1]
    # a constant second argument that is whole; none is a power below 0 of what may be 0
    seconds = ["x", "y", 2.0, -1.0] if op in TWO and domain == ANY else ["x", "y", 2.0]
    checked = 0
    for inner in INNER if domain == ANY else ["x"]:
        for second in seconds if op in TWO else [None]:
            y = float(np.round(rng.uniform(0.1, 3), 2))
            truth, prepared = truth_of(op, inner, second, y), Prepared(graph_of(op, inner, second))
            for a, b in boxes_of(rng, domain, count):
                checked += check_box(prepared, truth, y, a, b, (op, inner, second, y, a, b))
    assert checked > count


def check_box(prepared, truth, y, a, b, where):
    with precision(64):
        f = prepared.at({"y": y})
        v, d = f.run(arb(a), arb(b))
        found, slope = v[f.root], d[f.root] or ranges.ZERO
        curve = curvature(f, v, d)
        branch, _ = f.branch(v)
    checked = 0
    for t in (0.013, 0.31, 0.503, 0.77, 0.991):
        x = MP.mpf(a) + (MP.mpf(b) - MP.mpf(a)) * MP.mpf(t)
        try:
            value, h = truth(x), MP.mpf(10) ** -20
            left, right = truth(x - h), truth(x + h)
        except (ZeroDivisionError, ValueError):
            continue
        if not (number(value) and number(left) and number(right)):
            continue
        assert around(found, value), (*where, t, value, found)
        first, bend = (right - left) / (2 * h), (right - 2 * value + left) / h**2
        if abs(bend) < 1e9:  # no kink or jump between the three points
            assert around(slope, first, MP.mpf(10) ** -12 * (1 + abs(first))), (
                *where,
                t,
                first,
                slope,
            )
            assert around(curve, bend, MP.mpf(10) ** -8 * (1 + abs(bend))), (*where, t, bend, curve)
        check_balls(branch, truth, float(x), b - a, where)
        checked += 1
    return checked


def check_balls(branch, truth, x, width, where):
    """Check the enclosures of a branch at a point, and that it is holomorphic where it says so."""
    value = truth(MP.mpf(x))
    if not number(value):
        return
    with precision(64):
        ball = branch.real(arb(x))
        assert around((ball, ball), value), (*where, x, value, ball)
        for radius in (width, 0.2, 1.5):
            disc = branch(acb(arb(x, radius), arb(0, radius)), True)
            if disc.is_finite():
                assert around((disc.real, disc.real), value), (*where, x, radius, value, disc)
                assert is_mean_of_circle(branch, x, radius / 2, disc), (*where, x, radius)
        assert branch.error is None


def is_mean_of_circle(branch, x, radius, disc):
    """Check the mean-value property of holomorphic functions at 24 points of a circle."""
    points = [acb(x) + arb(radius) * (acb(2 * k) / 24).exp_pi_i() for k in range(24)]
    mean = sum((branch(z, True) for z in points), acb(0)) / 24
    error = (mean - branch(acb(x), True)).abs_upper()
    return bool(error <= 1e-6 * disc.abs_upper() + 1e-12)


@pytest.mark.few(2)
@pytest.mark.parametrize("op", [*ONE, *TWO])
def test_an_operation(op):
    check(op)


def test_second_derivatives_that_no_rule_gives_are_unknown():
    others = {*ranges.RANGES} - {*second_derivative._QUADRATIC, *second_derivative._LINEAR}
    assert others >= {"arcsin", "arccos", "digamma"}
    for op in others:
        name = op if op in OPERATIONS else f"special.{op}"
        nodes = ("input", ("x",)), ("multiply", (0, 0)), (name, (1,))
        f = Prepared(Graph(nodes, ("x",))).at({})
        assert curvature(f, *f.run(arb(0.25), arb(0.5))) is ranges.ENTIRE


def expands(op):
    build = expansion.Builder("x")
    try:
        build.expand(op, *(build("input", f"u{k}") for k in range(OPERATIONS[op].arguments)))
    except NotEnclosed:
        return False
    return True


def test_every_operation_is_tested():
    tested = {op.removeprefix("special.") for op in ONE | TWO} | {"logical_not", "where", "number"}
    known = {*ranges.RANGES, *ranges.TRUTHS, *ranges.LOGIC, "floor"}
    assert known | {op.removeprefix("special.") for op in OPERATIONS if expands(op)} <= tested
    assert set(integrand.BALLS) == set(integrand.COMPLEX) <= tested


@pytest.mark.few(7)
@pytest.mark.parametrize("exponent", [-3.0, -2.0, 0.0, 1.0, 3.0, 4.0, 7.0, 0.5, 1.5, -0.5, -2.5])
def test_powers(exponent):
    rng = np.random.default_rng(int(10 * exponent) + 100)
    prepared = Prepared(trace(lambda x: x**exponent, ("x",), ()))
    domain = ANY if exponent == int(exponent) else POSITIVE
    for a, b in boxes_of(rng, domain, 25):
        check_box(prepared, lambda x: x ** MP.mpf(exponent), 0.0, a, b, (exponent, a, b))


@pytest.mark.parametrize("exponent", [-1, -2, -3, -5])
def test_a_pole_is_not_monotone(exponent):
    """1 / x**3 falls on both sides of 0, but its supremum is not at the left end."""
    prepared = Prepared(trace(lambda x: x**exponent, ("x",), ()))
    assert extreme(prepared, {}, -1.0, 2.0).upper > 1e300
    jump = Prepared(trace(lambda x: np.arctan(x**exponent), ("x",), ()))
    found = extreme(jump, {}, -1.0, 2.0, tol=1e-6)
    assert found.floats[0] <= math.pi / 2 <= found.floats[1] and found.floats[0] > 1.5


def test_an_unknown_operation_is_named():
    with pytest.raises(NotEnclosed, match="arctan2"):
        plain(lambda y, x: np.arctan2(y, x))
    with pytest.raises(NotEnclosed, match="rint"):
        plain(lambda y, x: np.rint(y * x))


# -- random graphs -------------------------------------------------------------------------------


def random_graph(rng):
    nodes = [("input", ("x",)), ("input", ("y",)), ("const", (float(np.round(rng.normal(), 2)),))]
    for _ in range(int(rng.integers(1, 7))):
        pick = [int(rng.choice([0, 0, len(nodes) - 1, rng.integers(len(nodes))])) for _ in "abc"]
        draw = rng.random()
        if draw < 0.1:
            nodes.append(("where", tuple(pick)))
        elif draw < 0.5:
            nodes.append((str(rng.choice(list(ONE))), (pick[0],)))
        else:
            nodes.append((str(rng.choice(sorted(set(TWO) - {"power"}))), tuple(pick[:2])))
    return Graph(tuple(nodes), ("x", "y"))


def evaluate(graph, x, y):
    """Return the value of a random graph, None where it has none."""
    values = []
    for op, args in graph.nodes:
        operands = [values[a] for a in args] if op not in ("input", "const") else []
        try:
            if op == "input":
                value = x if args[0] == "x" else y
            elif op == "const":
                value = MP.mpf(args[0])
            elif op == "where":
                value = operands[1] if operands[0] else operands[2]
                value = None if operands[0] is None else value
            else:
                value = None if None in operands else MP.mpf((ONE | TWO)[op][0](*operands))
        except (ZeroDivisionError, ValueError, TypeError, OverflowError):
            value = None  # TypeError: a complex number
        values.append(value if value is not None and number(value) else None)
    return values[-1]


def check_random(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        graph = random_graph(rng)
        prepared = Prepared(graph)
        y = float(np.round(rng.normal(), 2))
        a = float(rng.choice([0.0, -1.0, 0.5, np.round(rng.normal(), 3)]))
        b = a + float(rng.choice([0.1, 1.0, 4.0]))

        def truth(x, graph=graph, y=y):
            return evaluate(graph, x, MP.mpf(y))

        values = [truth(MP.mpf(a) + (MP.mpf(b) - MP.mpf(a)) * k / 41) for k in range(1, 41)]
        if None in values:
            continue
        where = (graph.nodes, y, a, b)
        highest, lowest = (extreme(prepared, {"y": y}, a, b, sign=s, boxes=300) for s in (1, -1))
        total = integrate(prepared, {"y": y}, a, b, boxes=60, evaluations=2000)
        with o.precision(300):
            assert not highest.upper < exact(max(values)), (where, highest.floats)
            assert not lowest.lower > exact(min(values)), (where, lowest.floats)
            # the integral is between the extremes times the length
            length = arb(b) - arb(a)
            assert not total.lower > highest.upper * length, (where, total.floats)
            assert not total.upper < lowest.lower * length, (where, total.floats)
            for found, sign in ((highest, 1), (lowest, -1)):
                if found.box is not None:
                    low, high = found.box
                    assert a <= low < high <= b
                    inside = [
                        truth(MP.mpf(low) + (MP.mpf(high) - MP.mpf(low)) * t) for t in (0.3, 0.8)
                    ]
                    for value in inside:
                        bound = found.lower if sign > 0 else found.upper
                        assert value is None or not sign * exact(value) < sign * bound, where
                check_leaves(found, a, b, sign)


def check_leaves(found, a, b, sign):
    """Check that the leaves cover the interval and prove the end."""
    leaves = sorted(found.leaves)
    assert leaves[0].low == a and leaves[-1].high == b
    assert all(p.high == q.low for p, q in pairwise(leaves))
    if sign > 0:
        assert all(leaf.bound <= found.upper for leaf in leaves)
    else:
        assert all(leaf.bound >= found.lower for leaf in leaves)


def test_random_graphs():
    check_random(1, 60)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_random_graphs(seed):
    check_random(seed, 400)


# -- integrals against closed forms --------------------------------------------------------------

HALF_LOG = math.log(2 * math.pi) / 2
YS = (0.3, -0.7, 1.0, 2.5, 45.0)


def gauss(y, x):
    return -((y - x) ** 2) / 2 - HALF_LOG


def gauss_mass(y, a, b):
    """The integral of exp(gauss) over [a, b], with the float constant that it has."""
    root = arb(2).sqrt()
    left, right = (arb(y) - b) / root, (arb(y) - a) / root
    return (-arb(HALF_LOG)).exp() * (arb.pi() / 2).sqrt() * (left.erfc() - right.erfc())


@pytest.mark.parametrize("y", YS)
def test_gauss(y):
    prepared = density(gauss)
    top = extreme(plain(gauss), {"y": y}, -1.0, 1.0)
    shift = top.floats[1]
    for rel_tol, bits in ((1e-10, 64), (1e-6, 64), (1e-25, 128)):
        found = integrate(prepared, {"y": y, "shift": shift}, -1, 1, rel_tol=rel_tol, bits=bits)
        encloses(found, lambda: gauss_mass(y, -1, 1) * (-arb(shift)).exp(), rel_tol)
    nearest = min(max(y, -1.0), 1.0)
    encloses(top, lambda: -((arb(y) - nearest) ** 2) / 2 - arb(HALF_LOG), 1e-13)
    far = -1.0 if y > 0 else 1.0
    low = extreme(plain(gauss), {"y": y}, -1.0, 1.0, sign=-1)
    encloses(low, lambda: -((arb(y) - far) ** 2) / 2 - arb(HALF_LOG), 1e-13)


def laplace(y, x):
    return -np.abs(y - x) / 0.5


@pytest.mark.parametrize("y", [0.3, 0.0, 1.0, -2.0, 0.9999999, 30.0])
@pytest.mark.parametrize("known", [True, False])
def test_laplace(y, known):
    breaks = [y] if known else []

    def truth():
        inside, low, high = min(max(y, 0.0), 1.0), arb(y), arb(y) - 1
        # left of y the primitive of exp(-2 (y - x)) is exp(-2 (y - x)) / 2
        left = ((-2 * (low - inside)).exp() - (-2 * low).exp()) / 2 if inside > 0 else arb(0)
        right = ((-2 * (inside - low)).exp() - (2 * high).exp()) / 2 if inside < 1 else arb(0)
        return left + right

    inputs = {"y": y, "shift": 0.0}
    encloses(integrate(density(laplace), inputs, 0, 1, breaks=breaks), truth, 1e-10)
    nearest = min(max(y, 0.0), 1.0)
    top = extreme(plain(laplace), {"y": y}, 0.0, 1.0, breaks=breaks)
    encloses(top, lambda: -2 * abs(arb(y) - nearest))
    assert top.upper - top.lower < 1e-10
    far = 1.0 if y < 0.5 else 0.0
    low = extreme(plain(laplace), {"y": y}, 0.0, 1.0, sign=-1, breaks=breaks)
    encloses(low, lambda: -2 * abs(arb(y) - far))
    assert low.upper - low.lower < 1e-10


def test_a_laplace_spike():
    """Of scale 1e-6; plain quadrature returns 0 +- 0 for such spikes."""
    prepared = density(lambda y, x: -np.abs(y - x) * 2.0**20)
    found = integrate(prepared, {"y": 0.3, "shift": 0.0}, 0, 1)
    encloses(found, lambda: arb(2) ** -19 - ((-arb(0.3) * 2**20).exp() * 2 ** -arb(20)) * 2, 1e-10)


@pytest.mark.parametrize("y", [0.0, 0.3, 5.0])
def test_cauchy(y):
    def cauchy(y, x):
        return -np.log1p((y - x) ** 2)

    prepared = density(cauchy)
    inputs = {"y": y, "shift": 0.0}
    found = integrate(prepared, inputs, -1, 1)
    encloses(found, lambda: (arb(y) + 1).atan() - (arb(y) - 1).atan(), 1e-10)
    encloses(integrate(prepared, inputs, -INF, INF), arb.pi, 1e-9)
    encloses(integrate(prepared, inputs, 2, INF), lambda: arb.pi() / 2 - (2 - arb(y)).atan(), 1e-9)
    top = extreme(plain(cauchy), {"y": y}, -INF, INF)
    assert top.lower <= 0 <= top.upper and top.upper - top.lower < 1e-10


CLAYTON = bl.mechanisms.clayton(eta=0.1).density.graph


@pytest.mark.parametrize("y", [0.3, 0.01, 0.9, 2 / 3])
def test_clayton(y):
    """c(x, y) = 2 (x y)**-2 (1/x + 1/y - 1)**-3; the constants are those of the graph."""
    eta, rest = math.log(0.1), math.log1p(-0.1)

    def weight():
        return (arb(rest) + arb(math.log(2))).exp() / 2

    found = integrate(Prepared(product([(CLAYTON, True)])), {"y": y, "shift": 0.0}, 0, 1)
    encloses(found, lambda: arb(eta).exp() + weight(), 1e-10)
    prepared = Prepared(CLAYTON)
    top = extreme(prepared, {"y": y}, 0.0, 1.0)

    def largest():
        mode = 8 / (27 * arb(y) * (1 - arb(y)))
        return (arb(eta).exp() + weight() * (mode if y < 2 / 3 else 2 * arb(y))).log()

    if y == 2 / 3:
        assert top.upper - top.lower < 1e-10  # the mode is at the end
    else:
        encloses(top, largest)
        assert top.upper - top.lower < 1e-10
    low = extreme(prepared, {"y": y}, 0.0, 1.0, sign=-1)
    encloses(low, lambda: arb(eta) + arb(2) ** -5000)
    assert low.upper - low.lower < 1e-10


@pytest.mark.parametrize(
    ("function", "a", "b", "truth"),
    [
        (lambda y, x: -2.5 * x, 0, INF, lambda: 1 / arb(2.5)),
        (lambda y, x: 0.3 * x, -INF, 1, lambda: arb(0.3).exp() / arb(0.3)),
        (lambda y, x: -x - 0.5 * np.log(x), 0, INF, lambda: arb.pi().sqrt()),
        (lambda y, x: 1.5 * np.log(x) - x, 0, INF, lambda: arb(2.5).gamma()),
        (lambda y, x: -0.75 * np.log(x) - 0.5 * np.log1p(-x), 0, 1, lambda: beta(0.25, 0.5)),
        (lambda y, x: -0.75 * np.log(x) - 0.5 * np.log(1 - x), 0, 1, lambda: beta(0.25, 0.5)),
        (lambda y, x: np.log(x) + 4 * np.log1p(-x), 0, 1, lambda: arb(1) / 30),
        (lambda y, x: 0 * np.log(x) + 0 * np.log1p(-x), 0, 1, lambda: arb(1)),
        (lambda y, x: -0.5 * np.log(3 - x), 2, 3, lambda: arb(2)),
        (lambda y, x: -0.5 * np.log(x - 2), 2, 3, lambda: arb(2)),
        (lambda y, x: -np.sqrt(x), 0, INF, lambda: arb(2)),
        (lambda y, x: np.log(x) - np.sqrt(x), 0, INF, lambda: arb(12)),
        (lambda y, x: -2 * np.log(x), 1, INF, lambda: arb(1)),
        (lambda y, x: -1.0625 * np.log(x), 1, INF, lambda: arb(16)),
        (
            lambda y, x: -3 * np.log1p(x * x + 1),
            0,
            INF,
            lambda: 3 * arb.pi() / (64 * arb(2).sqrt()),
        ),
        (
            lambda y, x: -(x**2) / 2 - (y - x) ** 2 / 2,
            -INF,
            INF,
            lambda: arb.pi().sqrt() * (-arb(9)).exp(),
        ),
        (lambda y, x: x - 2 * np.logaddexp(0, x), -INF, INF, lambda: arb(1)),
    ],
)
def test_infinite_ends_and_singular_ends(function, a, b, truth):
    encloses(integrate(density(function), {"y": 6.0, "shift": 0.0}, a, b), truth, 1e-9)


def beta(a, b):
    return arb(a).gamma() * arb(b).gamma() / (arb(a) + arb(b)).gamma()


@pytest.mark.parametrize("exponent", [-1.0, -1.25])
def test_a_divergent_integral_is_not_finite(exponent):
    prepared = density(lambda y, x: exponent * np.log(x))
    found = integrate(prepared, {"y": 0.0, "shift": 0.0}, 0, 1)
    assert found.upper == arb.pos_inf() and found.lower > 5
    assert integrate(prepared, {"y": 0.0, "shift": 0.0}, 1, INF).upper > 3.99
    far = integrate(density(lambda y, x: -np.log(x)), {"y": 0.0, "shift": 0.0}, 1, INF)
    assert far.upper == arb.pos_inf()


def test_jumps_and_zero_densities():
    """Uniform noise, in logarithms: log 0 = -inf outside."""
    prepared = density(lambda y, x: np.where(abs(y - x) <= 0.25, np.log(2.0), -np.inf))
    for y in (0.3, 0.0, 1.1):
        low, high = max(0.0, y - 0.25), min(1.0, y + 0.25)
        found = integrate(prepared, {"y": y, "shift": 0.0}, 0, 1)
        # the constant log 2 is a float
        encloses(found, lambda low=low, high=high: arb(math.log(2)).exp() * (arb(high) - low), 1e-9)
    empty = integrate(prepared, {"y": 5.0, "shift": 0.0}, 0, 1)
    assert empty == (0, 0)
    log = plain(lambda y, x: np.where(abs(y - x) <= 0.25, np.log(2.0), -np.inf))
    assert extreme(log, {"y": 0.3}, 0.0, 1.0).floats == (math.log(2), math.log(2))
    assert extreme(log, {"y": 0.3}, 0.0, 1.0, sign=-1).floats == (-INF, -INF)


def test_a_sum_of_many_steps():
    prepared = density(lambda y, x: np.floor(10 * x) + 1, log=False)
    encloses(integrate(prepared, {"y": 0, "shift": 0.0}, 0, 1), lambda: arb(11) / 2, 1e-9)


def test_products_of_densities():
    prior = trace(lambda x: np.log(x) + np.log(2.0), ("x",), ())
    kernel = trace(lambda y, x: np.exp(-y * x) * x, ("y", "x"), ())
    prepared = Prepared(product([(prior, True), (kernel, False)]))
    found = integrate(prepared, {"y": 2.0, "shift": -3.0}, 0, 1)
    # 2 x**2 exp(-2 x) over [0, 1] is (1 - 5 exp(-2)) / 2
    encloses(
        found,
        lambda: (1 - 5 * (-arb(2)).exp()) / 4 * arb(math.log(2)).exp() * arb(3).exp(),
        1e-10,
    )


# -- suprema -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "a", "b", "low", "high"),
    [
        (lambda y, x: np.exp(y - x) / (1 + np.exp(y - x)) ** 2, 0, 1, None, lambda: arb(0.25)),
        (lambda y, x: x**3 * (1 - x) ** 7, 0, 1, lambda: arb(0), lambda: arb(27 * 7**7) / 10**10),
        (
            lambda y, x: 3 * np.log(x) + 7 * np.log1p(-x),
            0,
            1,
            None,
            lambda: (arb(27 * 7**7) / 10**10).log(),
        ),
        (lambda y, x: x / (1 + x * x), -INF, INF, lambda: arb(-0.5), lambda: arb(0.5)),
        (lambda y, x: 1 / (1 + x * x), -INF, INF, None, lambda: arb(1)),
        (
            lambda y, x: 1.5 * np.log(x) - x,
            0,
            INF,
            None,
            lambda: arb(1.5) * arb(1.5).log() - arb(1.5),
        ),
        (lambda y, x: -((x - y) ** 4), -INF, INF, None, lambda: arb(0)),
        (lambda y, x: np.sin(30 * x), 0, 1, lambda: arb(-1), lambda: arb(1)),
        (lambda y, x: np.maximum(x - y, 2 * (y - x)), 0, 1, lambda: arb(0), lambda: 1 - arb(0.3)),
        (lambda y, x: np.where(x < y, x, x - 1), 0, 1, lambda: arb(0.3) - 1, lambda: arb(0.3)),
    ],
)
def test_extremes(function, a, b, low, high):
    prepared = plain(function)
    for sign, truth in ((1, high), (-1, low)):
        if truth is not None:
            found = extreme(prepared, {"y": 0.3}, a, b, sign=sign)
            encloses(found, truth)
            assert found.upper - found.lower < 1e-10
            check_leaves(found, a, b, sign)


def test_an_unbounded_logarithm_gives_an_honest_answer():
    found = extreme(plain(lambda y, x: -0.5 * np.log(x)), {"y": 0}, 0.0, 1.0)
    assert found.upper == arb.pos_inf() and found.lower > 10
    low = extreme(plain(gauss), {"y": 0.3}, -INF, INF, sign=-1)
    assert low.lower == arb.neg_inf() and low.upper < -1e6  # B&B proves no infinity


def test_tolerances():
    prepared = plain(lambda y, x: 1e6 * np.exp(-((y - x) ** 2)) * np.cos(x))
    wide = extreme(prepared, {"y": 0.3}, -1.0, 1.0, rel_tol=1e-2)
    narrow = extreme(prepared, {"y": 0.3}, -1.0, 1.0, tol=0.0, rel_tol=1e-12)
    assert narrow.upper - narrow.lower <= 1e-12 * narrow.upper
    assert len(narrow.leaves) >= len(wide.leaves)
    assert wide.lower <= narrow.upper and narrow.lower <= wide.upper


def test_a_budget_gives_a_wide_answer():
    prepared = plain(lambda y, x: np.sin(1 / (x + 1e-9)))
    found = extreme(prepared, {"y": 0}, 0.0, 1.0, boxes=10, tol=0)
    assert found.lower <= 1 <= found.upper
    total = integrate(prepared, {"y": 0}, 0, 1, boxes=5, evaluations=100)
    assert total.lower <= 0.504067 <= total.upper and total.upper - total.lower < 2.1


# -- null sets -----------------------------------------------------------------------------------


def altered(y, x):
    """Alter exp(gauss) at points, among them centres and ends of boxes."""
    out = np.exp(-((y - x) ** 2) / 2)
    for place in (1 / 3, 0.5, 0.25, 0.1875, 0.0, -1.0, y):
        out = np.where(x == place, 1e6, out)
    out = np.where(np.logical_not(x - 0.75), -1000.0, out)
    return np.where(x * x == 1 / 9.0, 1e6, out)


def test_values_altered_at_points_change_nothing():
    def smooth(y, x):
        return np.exp(-((y - x) ** 2) / 2)

    for y in (0.3, 0.0, 2.0):
        for breaks in ([], [1 / 3, 0.5]):
            for sign in (1, -1):
                one = extreme(plain(smooth), {"y": y}, 0.0, 1.0, sign=sign, breaks=breaks)
                two = extreme(plain(altered), {"y": y}, 0.0, 1.0, sign=sign, breaks=breaks)
                assert two.upper - two.lower < 1e-10
                assert one.lower <= two.upper and two.lower <= one.upper
            total = integrate(plain(altered), {"y": y}, 0, 1, breaks=breaks)
            truth = gauss_mass(y, 0, 1) * arb(HALF_LOG).exp()
            assert total.lower <= truth and truth <= total.upper
            assert total.upper - total.lower < 1e-9


@pytest.mark.parametrize("breaks", [[], [1 / 3]])
def test_a_set_of_tiny_measure_is_not_ignored(breaks):
    prepared = plain(lambda y, x: np.where(abs(x - 1 / 3) < 1e-300, 1e6, np.exp(-((y - x) ** 2))))
    found = extreme(prepared, {"y": 0.3}, 0.0, 1.0, breaks=breaks)
    assert found.upper == 1e6
    assert 1 - 1e-9 < float(found.lower) <= 1
    low, high = found.box
    assert high > low and high - low < 1e-3


def test_equality_of_constants_is_exact():
    prepared = plain(lambda y, x: np.where(y == 0.25, 2.0, 3.0) + 0 * x)
    assert extreme(prepared, {"y": 0.25}, 0.0, 1.0).floats == (2, 2)
    assert extreme(prepared, {"y": 0.25 + 2**-54}, 0.0, 1.0).floats == (3, 3)


def test_a_comparison_of_an_expression_with_itself():
    prepared = plain(lambda y, x: np.where(x < x, 1e6, np.where(x * y == x * y, 1.0, 1e6)))
    assert extreme(prepared, {"y": 0.25}, 0.0, 1.0).floats == (1, 1)


# -- broken on purpose ---------------------------------------------------------------------------


def forget(monkeypatch, op, function):
    monkeypatch.setitem(integrand.COMPLEX, op, function)


FLAGS = {
    "absolute": (
        lambda y, x: np.exp(-np.abs(y - x) / 0.5),
        lambda z: z.real_abs(),
    ),
    "sqrt": (
        lambda y, x: np.exp(-np.sqrt((y - x) ** 2) / 0.5),
        lambda z: z.sqrt(),
    ),
    "maximum": (
        lambda y, x: np.exp(-np.maximum(y - x, x - y) / 0.5),
        lambda z, w: z if z.real.mid() > w.real.mid() else w,
    ),
    "where": (
        lambda y, x: np.exp(np.where(x < y, x - y, y - x) / 0.5),
        lambda c, z, w: z if c else w,
    ),
    "minimum": (
        lambda y, x: np.exp(np.minimum(y - x, x - y) / 0.5),
        lambda z, w: z if z.real.mid() < w.real.mid() else w,
    ),
    "less": (
        lambda y, x: np.exp(np.where(x < y, x - y, y - x) / 0.5),
        lambda z, w: bool(z.real.mid() < w.real.mid()),
    ),
    "less_equal": (
        lambda y, x: np.exp(np.where(x >= y, y - x, x - y) / 0.5),
        lambda z, w: bool(z.real.mid() <= w.real.mid()),
    ),
    "floor": (
        lambda y, x: np.exp(-(x - y) * (1 + 2 * np.floor(x - y)) / 0.5),
        lambda z: acb(z.real.mid().floor()),
    ),
}


def laplace_truth():
    """The notes' case: U[0, 1], scale 0.5, y = 0.3; the truth is 0.6022957..."""
    y = arb(0.3)
    return 1 - ((-2 * y).exp() + (2 * y - 2).exp()) / 2


@pytest.mark.parametrize("op", FLAGS)
def test_the_analytic_flags(op, monkeypatch):
    """With boxes=0 nothing is cut, and only the flags stand between Arb and a wrong answer."""
    function, forgetful = FLAGS[op]
    prepared = plain(function)
    inputs = {"y": 0.3}
    encloses(integrate(prepared, inputs, 0, 1, boxes=0), laplace_truth, 1e-6)
    forget(monkeypatch, op, forgetful)
    wrong = integrate(prepared, inputs, 0, 1, boxes=0)
    with pytest.raises(AssertionError):
        encloses(wrong, laplace_truth)
    assert wrong.upper - wrong.lower < 1e-6  # and it would look right


def test_the_truth_of_the_forgotten_flag():
    with o.precision(300):
        assert abs(laplace_truth() - arb("0.6022957")) < 1e-7


def test_cutting_at_kinks_needs_no_flags(monkeypatch):
    forget(monkeypatch, "absolute", FLAGS["absolute"][1])
    found = integrate(plain(FLAGS["absolute"][0]), {"y": 0.3}, 0, 1)
    encloses(found, laplace_truth, 1e-9)


BROKEN = {
    "minimum's slope": (
        "minimum",
        lambda p, q, f, dp, dq: ranges._maximum_slope(q, p, f, dq, dp),
    ),
    "a product without signs": ("multiply", lambda p, q: (p[0] * q[0], p[1] * q[1])),
    "the square of ends": ("square", lambda p: (p[0] * p[0], p[1] * p[1])),
    "cosh of ends": ("cosh", lambda p: (p[0].cosh(), p[1].cosh())),
    "gammaln of ends": ("gammaln", lambda p: (p[0].lgamma(), p[1].lgamma())),
    "log's slope": ("log", lambda p, f, dp: ranges.times(f, dp)),
    "a quotient's slope": ("divide", lambda p, q, f, dp, dq: ranges.ONE),
    "tanh's slope": ("tanh", lambda p, f, dp: dp),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_table_is_caught(what, monkeypatch):
    op, broken = BROKEN[what]
    value, slope = ranges.RANGES[op]
    pair = (value, broken) if "slope" in what else (broken, slope)
    monkeypatch.setitem(ranges.RANGES, op, pair)
    with pytest.raises(AssertionError):
        check({"gammaln": "special.gammaln"}.get(op, op), count=60)


def test_points_instead_of_boxes_are_caught(monkeypatch):
    """Pitfall: a value at one point, with the decision made there, is no bound on a supremum."""
    run = interpreter.Slice.run

    def forgetful(self, low, high, *, slope=True, frozen=None):
        values, slopes = run(self, low, high, slope=slope)
        return values, slopes

    monkeypatch.setattr(interpreter.Slice, "run", forgetful)
    monkeypatch.setattr(extremum, "_inside", lambda p, q, c: (c, c))
    monkeypatch.setattr(ranges, "_apart", lambda dp, dq: False)
    found = extreme(plain(altered), {"y": 2.0}, 0.0, 1.0)
    assert found.lower > 1  # 1e6, "proved" at the point 0.5


# -- precision -----------------------------------------------------------------------------------


def test_the_precision_is_put_back(monkeypatch):
    before = flint.ctx.prec
    flint.ctx.prec = 77
    try:
        prepared = plain(altered)
        integrate(prepared, {"y": 0.3}, 0, 1, bits=90)
        extreme(prepared, {"y": 0.3}, 0, 1, bits=90)
        assert flint.ctx.prec == 77
        with pytest.raises(KeyError):
            integrate(prepared, {}, 0, 1)
        assert flint.ctx.prec == 77

        def fail(z):
            raise RuntimeError("inside acb.integral")

        monkeypatch.setitem(integrand.COMPLEX, "exp", fail)
        with pytest.raises(RuntimeError, match="inside"):
            integrate(plain(lambda y, x: np.exp(-x)), {"y": 0.3}, 0, 1)
        assert flint.ctx.prec == 77
    finally:
        flint.ctx.prec = before


def test_an_interval_without_length_is_refused():
    for figure in (integrate, extreme):
        with pytest.raises(ValueError, match="a < b"):
            figure(plain(gauss), {"y": 0.3}, 1.0, 1.0)


def test_more_bits_give_narrower_balls():
    prepared = density(gauss)
    widths = []
    for bits in (64, 128, 256):
        found = integrate(
            prepared, {"y": 0.3, "shift": 0.0}, -1, 1, bits=bits, rel_tol=2.0 ** -(bits - 10)
        )
        encloses(found, lambda: gauss_mass(0.3, -1, 1))
        widths.append(found.upper - found.lower)
    assert widths[1] < widths[0] * 1e-15 and widths[2] < widths[1] * 1e-30


def test_a_graph_of_several_inputs():
    graph = trace(lambda y, x: -((y - x[0]) ** 2) - x[1] * x[0], ("y", ("x0", "x1")), ())
    found = extreme(Prepared(graph, "x0"), {"y": 1.0, "x1": 2.0}, -1.0, 3.0)
    encloses(found, lambda: arb(-1) + arb(2) ** -5000)
    other = extreme(Prepared(graph, "x1"), {"y": 1.0, "x0": 2.0}, -1.0, 3.0)
    assert other.floats[0] <= 1 <= other.floats[1]
