"""Random expressions over every operation, on random boxes, against Arb.

Every point inside a box must map into the enclosure, with no tolerance: at 128 bits where they are
enough to decide, else at 400, else at 2000. Many expressions on few boxes each: the ten seeds of
`-m fuzz` are 200,000 expressions, 10 million points, in about 25 minutes. An oracle can be blind
(one that runs at 53 bits agrees with anything), so that operations broken on purpose must be caught
by the same run.
"""

import collections

import flint
import numpy as np
import pytest
from engine import graph_oracle as oracle
from scipy import special

from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import elementary, interpreter

BOXES, POINTS = 10, 5

R = (-np.inf, np.inf)
# where an argument is clipped to, before it goes into an operation: most of the time for the cheap
# ones, always for those whose oracle is slow or has no enclosure elsewhere
USUAL = {
    "exp": [(-750.0, 720.0)],
    "exp2": [(-1080.0, 1030.0)],
    "expm1": [(-50.0, 720.0)],
    "sinh": [(-715.0, 715.0)],
    "cosh": [(-715.0, 715.0)],
    "tanh": [(-25.0, 25.0)],
    "sin": [(-100.0, 100.0)],
    "cos": [(-1e6, 1e6)],
    "tan": [(-30.0, 30.0)],
    "sqrt": [(0.0, np.inf)],
    "log": [(0.0, np.inf)],
    "log2": [(0.0, np.inf)],
    "log10": [(0.0, np.inf)],
    "log1p": [(-1.0, np.inf)],
    "arcsin": [(-1.0, 1.0)],
    "arccos": [(-1.0, 1.0)],
    "arctanh": [(-1.0, 1.0)],
    "arccosh": [(1.0, np.inf)],
    "power": [(0.0, 1e9), (-12.0, 12.0)],
    "arctan2": [R, (-1.0, np.inf)],
    "logaddexp": [(-800.0, 800.0), (-800.0, 800.0)],
    "logaddexp2": [(-800.0, 800.0), (-800.0, 800.0)],
    "remainder": [(-1e6, 1e6), (0.5, 9.0)],
    "floor_divide": [(-1e6, 1e6), (0.5, 9.0)],
    "special.erf": [(-7.0, 7.0)],
    "special.erfc": [(-7.0, 28.0)],
    "special.erfinv": [(-1.0, 1.0)],
    "special.erfcinv": [(0.0, 2.0)],
    "special.logit": [(0.0, 1.0)],
    "special.ndtri": [(0.0, 1.0)],
    "special.expit": [(-760.0, 40.0)],
    "special.log_expit": [(-800.0, 800.0)],
    "special.entr": [(0.0, 9.0)],
    "special.rel_entr": [(0.0, 9.0), (0.0, 9.0)],
    "special.kl_div": [(0.0, 9.0), (0.0, 9.0)],
    "special.xlogy": [R, (0.0, np.inf)],
    "special.xlog1py": [R, (-1.0, np.inf)],
    "special.exp10": [(-330.0, 320.0)],
}
ALWAYS = {
    "special.beta": [(0.0, 150.0), (0.0, 150.0)],
    "special.betaln": [(0.0, 1e4), (0.0, 1e4)],
    "special.betainc": [(0.0, 30.0), (0.0, 30.0), (0.0, 1.0)],
    "special.betaincc": [(0.0, 30.0), (0.0, 30.0), (0.0, 1.0)],
    "special.binom": [(20.0, 60.0), (0.0, 20.0)],
    "special.digamma": [(-5.0, 1e6)],
    "special.psi": [(-5.0, 1e6)],
    "special.gamma": [(0.0, 175.0)],
    "special.gammaln": [(0.0, 1e6)],
    "special.loggamma": [(-1.0, 1e6)],
    "special.rgamma": [(0.0, 180.0)],
    "special.gammainc": [(0.0, 100.0), (0.0, 150.0)],
    "special.gammaincc": [(0.0, 100.0), (0.0, 150.0)],
    "special.i0": [(-720.0, 720.0)],
    "special.i0e": [(-1e6, 1e6)],
    "special.i1": [(-720.0, 720.0)],
    "special.iv": [(0.0, 50.0), (0.0, 300.0)],
    "special.k0": [(0.0, 300.0)],
    "special.k1": [(0.0, 300.0)],
    "special.kv": [(-50.0, 50.0), (0.0, 300.0)],
    "special.poch": [(0.01, 30.0), (0.0, 30.0)],
    "special.erfcx": [(-27.0, 1e9)],
    "special.ndtr": [(-40.0, 10.0)],
    "special.log_ndtr": [(-1e4, 40.0)],
}
# leading arguments, orders and shapes, at which the oracle is slow unless they are floats
SHAPES = {"special.iv": 1, "special.kv": 1, "special.gammainc": 1, "special.gammaincc": 1}
SHAPES |= {"special.betainc": 2, "special.betaincc": 2}
TWO = """add subtract multiply divide maximum minimum heaviside remainder floor_divide power
    logaddexp logaddexp2 hypot arctan2 less less_equal greater greater_equal equal not_equal
    logical_and logical_or logical_xor fmax fmin""".split()
ARITY = dict.fromkeys(interpreter.TABLE, 1) | dict.fromkeys(TWO, 2) | {"where": 3}
ARITY |= {op: len(domains) for op, domains in ALWAYS.items()}
ARITY |= {op: 2 for op in ("special.xlogy", "special.xlog1py", "special.rel_entr")}
ARITY["special.kl_div"] = 2


# -- random boxes and points ---------------------------------------------------------------------


def boxes(rng, n):
    """Random boxes: points, some ulps, thin, wide, half-lines, lines, at 0, subnormal, huge."""
    kind = rng.integers(0, 13, n)
    scale = 10.0 ** rng.choice([-320, -20, *[-1, 0, 0, 0, 1] * 4, 2, 5, 300], n)
    a, b = (rng.uniform(-1.7, 1.7, n) * scale for _ in range(2))
    low, high = np.minimum(a, b), np.maximum(a, b)
    low, high = np.where(kind == 0, a, low), np.where(kind == 0, a, high)
    low, high = np.where(kind == 1, a, low), np.where(kind == 1, a + abs(a) * 2.0**-50, high)
    low, high = np.where(kind == 2, a, low), np.where(kind == 2, a + abs(a) * 1e-6, high)
    high = np.where(kind == 3, np.inf, high)
    low = np.where(kind == 4, -np.inf, low)
    low, high = np.where(kind == 5, 0.0, low), np.where(kind == 5, abs(b), high)
    low, high = np.where(kind == 6, -abs(a), low), np.where(kind == 6, 0.0, high)
    whole = np.round(np.clip(a, -30, 30))
    low = np.where((kind == 7) | (kind == 8), whole, low)
    high = np.where(kind == 7, whole, np.where(kind == 8, whole + rng.integers(0, 4, n), high))
    near_one = 1 + rng.integers(-4, 5, n) * 2.0**-52
    low, high = np.where(kind == 9, near_one, low), np.where(kind == 9, near_one + 2.0**-51, high)
    line = (kind == 10) & (rng.random(n) < 0.2)
    low, high = np.where(line, -np.inf, low), np.where(line, np.inf, high)
    return low, high


def points(rng, low, high):
    """Return `POINTS` points of every box: the ends, the middle, others."""
    far = 10.0 ** rng.uniform(-3, 300, low.shape)
    start = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - far, -far))
    stop = np.where(np.isfinite(high), high, np.maximum(start, start + far))
    inner = [start / 2 + stop / 2, start + (stop - start) * rng.random(low.shape)]
    inner.append(np.where(rng.random(low.shape) < 0.3, 0.0, np.round(inner[1])))
    return np.clip(np.stack([start, stop, *inner]), low, high)


# -- random graphs -------------------------------------------------------------------------------


class Growing:
    """A graph that grows one operation at a time."""

    def __init__(self, rng):
        self.rng = rng
        self.nodes = [("input", ("a",)), ("input", ("b",))]

    def add(self, *node):
        self.nodes.append(node)
        return len(self.nodes) - 1

    def constant(self):
        numbers = [0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, 10.0, 0.1, -2.5, 1e-3, 1e10, 5e-324]
        return self.add("const", (float(self.rng.choice(numbers)),))

    def clipped(self, index, domain):
        low, high = domain
        if low > -np.inf:
            index = self.add("maximum", (index, self.add("const", (low,))))
        if high < np.inf:
            index = self.add("minimum", (index, self.add("const", (high,))))
        return index

    def operate(self, op, latest):
        """Add an operation on the latest value and on any others."""
        rng, arity = self.rng, ARITY[op]
        if op == "where" and rng.random() < 0.7:
            test = str(rng.choice(["less", "greater_equal", "equal", "isfinite", "isnan"]))
            picks = [self.operate(test, self.pick())] + [self.pick() for _ in range(2)]
            picks[int(rng.integers(1, 3))] = latest
        else:
            picks = [self.pick() for _ in range(arity)]
            picks[int(rng.integers(arity))] = latest
        for k in range(SHAPES.get(op, 0)):
            picks[k] = int(rng.integers(2))
            picks[-1] = latest
        domains = ALWAYS.get(op) or (USUAL.get(op) if rng.random() < 0.75 else None)
        if domains:
            picks = [self.clipped(p, d) for p, d in zip(picks, domains, strict=True)]
        if op == "power" and rng.random() < 0.5:
            picks[1] = self.add("const", (float(rng.integers(-4, 6)),))
        return self.add(op, tuple(picks))

    def pick(self):
        if self.rng.random() < 0.15:
            return self.constant()
        return int(self.rng.choice([0, 1]))


def random_graph(rng, watched, deepest):
    """Return a graph of depth 1 to `deepest` with one operation in it, anywhere; and the depth."""
    growing = Growing(rng)
    depth = int(rng.integers(1, deepest + 1))
    ops = [str(op) for op in rng.choice(sorted(interpreter.TABLE), depth)]
    ops[int(rng.integers(depth))] = watched
    latest = int(rng.integers(2))
    for op in ops:
        latest = growing.operate(op, latest)
    return Graph(tuple(growing.nodes), ("a", "b")), depth


# -- the run -------------------------------------------------------------------------------------


def hold(rng, graph, counts, failures):
    """Hold the enclosures of one graph on random boxes against the truth at points inside."""
    low, high = boxes(rng, 2 * BOXES)
    inside = points(rng, low, high)
    ends = {"a": (low[:BOXES], high[:BOXES]), "b": (low[BOXES:], high[BOXES:])}
    found = interpreter.evaluate(graph, ends)
    assert not np.isnan(found).any()
    assert (found[0] <= found[1]).all()
    turns = (np.arange(POINTS) + rng.integers(POINTS, size=POINTS)) % POINTS
    pairs = zip(inside[:, :BOXES].flat, inside[turns, BOXES:].flat, strict=True)
    asked = [{"a": float(a), "b": float(b)} for a, b in pairs]
    lows, highs = (POINTS * end.tolist() for end in found)
    for i, said in enumerate(oracle.verdicts(lows, graph.nodes, asked, highs)):
        counts[said] += 1
        if said == "outside":
            box = {name: tuple(float(end[i % BOXES]) for end in e) for name, e in ends.items()}
            failures.append((graph.nodes, box, asked[i], lows[i], highs[i]))


def run(seed, total, ops=None, deepest=6, *, first=False):
    """Hold random graphs until some number of points has been seen, or to the first failure."""
    rng = np.random.default_rng(seed)
    ops = sorted(interpreter.TABLE) if ops is None else ops
    counts, failures = collections.Counter(), []
    seen = collections.defaultdict(collections.Counter)
    graphs = 0
    while sum(counts.values()) < total and not (first and failures):
        op = ops[graphs % len(ops)]
        graph, depth = random_graph(rng, op, deepest)
        before = counts.copy()
        hold(rng, graph, counts, failures)
        graphs += 1
        if depth == 1:
            seen[op].update(counts - before)
    return counts, failures, seen


def report(failures):
    return f"{len(failures)} violations, the first: {failures[0]}" if failures else ""


@pytest.mark.truths
def test_random_expressions_hold():
    counts, failures, seen = run(20261121, 100_000)
    assert not failures, report(failures)
    # the oracle has an opinion: few points stay open, none of the operations only those
    assert counts["inside"] > 0.6 * sum(counts.values())
    assert all(found["inside"] for found in seen.values()), seen
    assert set(interpreter.TABLE) == set(oracle.FUNCTIONS)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(10))
def test_many_random_expressions_hold(seed):
    _, failures, _ = run(seed, 1_000_000)
    assert not failures, report(failures)


# -- the oracle is not blind ---------------------------------------------------------------------


def rounded(function):
    """Enclose by NumPy's values at the ends alone."""
    return lambda *boxes: np.sort([function(*(b[k] for b in boxes)) for k in (0, 1)], axis=0)


def ends_only(op):
    """Enclose by the true enclosures at the ends alone."""
    right = interpreter.TABLE[op]

    def broken(a):
        left, last = right((a[0], a[0])), right((a[1], a[1]))
        return np.minimum(left[0], last[0]), np.maximum(left[1], last[1])

    return broken


BROKEN = {
    "exp": rounded(np.exp),
    "log1p": rounded(np.log1p),
    "tanh": rounded(np.tanh),
    "arcsinh": rounded(np.arcsinh),
    "add": rounded(np.add),
    "multiply": rounded(np.multiply),
    "divide": rounded(np.divide),
    "power": rounded(np.power),
    "hypot": rounded(np.hypot),
    "remainder": rounded(np.remainder),
    "sin": ends_only("sin"),
    "cos": ends_only("cos"),
    "tan": ends_only("tan"),
    "cosh": ends_only("cosh"),
    "special.gamma": ends_only("special.gamma"),
    "special.gammaln": ends_only("special.gammaln"),
    "special.rgamma": ends_only("special.rgamma"),
    "special.psi": ends_only("special.psi"),
    "special.entr": ends_only("special.entr"),
    "special.i0": ends_only("special.i0"),
    "special.erf": rounded(special.erf),
    "special.ndtr": rounded(special.ndtr),
    "special.expit": rounded(special.expit),
    "isnan": lambda a: (np.zeros_like(a[0]), np.zeros_like(a[1])),
}


@pytest.mark.parametrize("op", BROKEN)
def test_a_broken_operation_is_caught(op, monkeypatch):
    monkeypatch.setitem(interpreter.TABLE, op, BROKEN[op])
    _, failures, _ = run(1, 30_000, [op], first=True)
    assert failures


@pytest.mark.parametrize("op", ["less", "greater_equal", "isnan", "isfinite"])
def test_a_forgotten_doubt_is_caught(op, monkeypatch):
    """Comparisons of sqrt(a) where a may be negative: random expressions have few of them."""
    monkeypatch.setattr(interpreter, "_doubted", lambda box, doubt: box)
    nodes = [("input", ("a",)), ("input", ("b",)), ("sqrt", (0,)), ("arctan", (2,))]
    nodes += [("const", (2.0 if op == "less" else -2.0,)), (op, (3, 4)[: ARITY[op]])]
    graph, failures = Graph(tuple(nodes), ("a", "b")), []
    hold(np.random.default_rng(4), graph, collections.Counter(), failures)
    assert failures


def test_the_top_of_cos_at_a_wrong_place_is_caught(monkeypatch):
    monkeypatch.setitem(interpreter.TABLE, "cos", elementary._wave(np.cos, 1e-3))
    _, failures, _ = run(2, 10_000, ["cos"], first=True)
    assert failures


@pytest.mark.parametrize("op", sorted(interpreter.TABLE))
def test_every_operation_is_watched(op, monkeypatch):
    """Boxes that lose a quarter of their width on either side are caught, whatever the function."""
    right = interpreter.TABLE[op]

    def shrunk(*boxes):
        low, high = right(*boxes)
        lost = np.where(np.isfinite(high - low), (high - low) / 4, 0.0)
        return low + lost, high - lost

    monkeypatch.setitem(interpreter.TABLE, op, shrunk)
    _, failures, _ = run(3, 5_000, [op], deepest=1, first=True)
    assert failures


def test_the_oracle_runs_at_400_bits():
    with oracle.precision(400):
        assert flint.arb("0.1").exp().rel_accuracy_bits() >= 390
    with pytest.raises(AssertionError, match="precision"), oracle.precision(400):
        flint.ctx.prec = 53
    assert flint.ctx.prec == 53


@pytest.mark.parametrize("order", [0.0, 5e-324, 0.3, 1.0 + 2.0**-51, 2.0, 50.0])
def test_the_oracle_has_bessel_functions_close_to_zero(order):
    v, tiny, deep = flint.arb(order), flint.arb(2.0**-1001), flint.arb(-1e300)
    with oracle.precision(400):
        found = oracle.bessel_i(v, tiny)
        assert found.overlaps(tiny.bessel_i(v)) and found.rel_accuracy_bits() > 380
    with oracle.precision(2000):  # two minutes in Arb alone, at the fourth order
        assert oracle.bessel_i(v, deep.exp()).rel_accuracy_bits() > 900
