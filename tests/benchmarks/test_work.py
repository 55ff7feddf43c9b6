"""What work costs: unit costs measured, beside `borel.settings.WORK`.

Run with ``pytest -m benchmark -s tests/benchmarks/test_work.py``: for each kind of work some
loads, their seconds of the processor and what they are counted as. Loads differ (a sine takes ten
times a sum): the table holds middling numbers. Whole figures are in `test_budgets`.
"""

import time

import numpy as np
import pytest
from scipy import special

import borel as bl
from borel import settings
from borel.engine.prior_sets.capacity import _weighted
from borel.engine.problem.prior_masses import mass_function
from borel.numerics.balls.interpreter import Prepared
from borel.numerics.float64.programmes import linprog
from borel.numerics.germs.interpreter import PowerProgram, ray, slack
from borel.numerics.graphs import float64
from borel.numerics.graphs.trace import trace
from borel.numerics.intervals import interpreter
from borel.numerics.intervals.rounding import sum_outward
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

pytestmark = pytest.mark.benchmark

APART = 8.0
ROWS: list[str] = []


def graph(density):
    return trace(density, ("y", "x"), ())


NORMAL = graph(lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi))
LAPLACE = graph(lambda y, x: np.exp(-abs(y - x) / 0.5))
CLAYTON = graph(lambda y, x: 0.1 + 0.9 * 2 * x * y / (x + y - x * y) ** 3)
GAMMA = graph(lambda y, x: x * np.log(y) - special.gammaln(x) - y)
ONES = np.ones((100, 100))
PLAIN = {"normal": NORMAL, "Laplace": LAPLACE, "Clayton": CLAYTON}


def points(count):
    return np.linspace(0.5, 0.6, count), np.linspace(0.2, 0.4, count)


def jets(g, order, count):
    y, x = points(count)
    inputs = {"y": arithmetic.constant(y, y), "x": arithmetic.variable(x, x + 0.01, order)}
    program = Program(g)
    return lambda: program.run(inputs, order)


def intervals(g, count):
    y, x = points(count)
    return lambda: interpreter.evaluate(g, {"y": (y, y), "x": (x, x + 0.01)})


def balls(g):
    f = Prepared(g).at({"y": 0.5})
    from flint import arb

    return lambda: f.run(arb(0.2), arb(0.3))


def programme(rows, columns):
    rng = np.random.default_rng(1)
    a, b = rng.random((rows, columns)), np.ones(rows)
    return lambda: linprog(-rng.random(columns), A_ub=a, b_ub=b, method="highs")


def corners(count):
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(count), size=count)
    own = (table * np.log(table)).sum(axis=1)
    return lambda: _weighted(np.full(count, 1 / count), table, -own, 1.0, np.inf)


def opaque(function):
    density = bl.Mechanism(function, secret=bl.Interval(0, 1), outcome=bl.Reals()).density
    assert density.opaque
    y, x = points(2000)
    return lambda: density.raw(y, x)


def one_by_one(y, x):
    y, x = np.broadcast_arrays(np.asarray(y, float), np.asarray(x, float))
    values = [float(np.exp(-abs(a - b)) / 2) for a, b in zip(y.ravel(), x.ravel(), strict=True)]
    return np.array(values).reshape(y.shape)


LOADS = {
    **{f"float64, {n}, one": lambda g=g: float64_of(g, 1) for n, g in PLAIN.items()},
    **{f"float64, {n}, many": lambda g=g: float64_of(g, 100_000) for n, g in PLAIN.items()},
    **{f"intervals, {n}, one": lambda g=g: intervals(g, 1) for n, g in PLAIN.items()},
    **{f"intervals, {n}, many": lambda g=g: intervals(g, 10_000) for n, g in PLAIN.items()},
    **{
        f"batched, {n}, order {order}, {count}": lambda g=g, o=order, c=count: jets(g, o, c)
        for n, g in PLAIN.items()
        for order in (0, 2, 18)
        for count in (1, 1000)
    },
    "intervals, sums": lambda: lambda: sum_outward(ONES, ONES),
    "special, jets": lambda: jets(GAMMA, 0, 1000),
    "special, intervals": lambda: intervals(GAMMA, 1000),
    **{f"balls, {n}": lambda g=g: balls(g) for n, g in PLAIN.items()},
    **{f"germs, {n}": lambda g=g: germs(g) for n, g in PLAIN.items()},
    "masses, normal": lambda: mass_of(bl.normal()),
    "masses, narrow": lambda: mass_of(bl.beta(alpha=1e4, beta=1e4)),
    "programmes, small": lambda: programme(3, 10),
    "pivots": lambda: programme(100, 200),
    "dense": lambda: corners(30),
    "opaque, a loop": lambda: opaque(one_by_one),
}


def float64_of(g, count):
    y, x = points(count)
    return lambda: float64.evaluate(g, {"y": y, "x": x})


def germs(g):
    program, inputs = PowerProgram(g), {"y": ray(0.0, 1.0, 1, 1), "x": slack(0.1, 0.2)}
    return lambda: program.run(inputs, 2.0**-10)


def mass_of(prior):
    mass = mass_function(prior)
    assert mass is not None
    return lambda: mass(0.49, 0.51)


@pytest.fixture(scope="module", autouse=True)
def table():
    yield
    print("\n" + "\n".join(ROWS))


@pytest.mark.parametrize("name", LOADS)
def test_work_is_counted_as_about_what_it_takes(name):
    load = LOADS[name]()
    load()
    start, begun, turns = time.process_time(), settings.now(), 0
    while time.process_time() < start + 0.1:
        load()
        turns += 1
    seconds, work = time.process_time() - start, settings.now() - begun
    about = f"{seconds / turns:9.2e} s, counted as {work / turns:9.2e}"
    ROWS.append(f"{name:34} {about}, ratio {work / seconds:5.2f}")
    assert 1 / APART <= work / seconds <= APART
