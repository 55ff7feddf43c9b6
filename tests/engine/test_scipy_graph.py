"""SciPy's distributions by name: the graph is SciPy's log-density; unknown names stay opaque."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel.errors import InvalidInput, NotTraceable
from borel.numerics.graphs import float64
from borel.numerics.graphs.from_scipy import graph_of, law_of
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.scipy_densities import CONTINUOUS as CONTINUOUS_LAWS
from borel.numerics.graphs.scipy_densities import DISCRETE as DISCRETE_LAWS
from borel.numerics.intervals import interpreter

UNIT, LINE, COUNTS = bl.Interval(0, 1), bl.Reals(), bl.Integers(0, None)
YS = np.array([-29.0, -3.0, -1.0, -0.5, 0.0, 0.1, 0.5, 0.9, 1.0, 1.5, 2.0, 3.0, 5.0, 6.0, 10.0])
XS = np.array([-1.0, 0.0, 0.05, 0.3, 0.5, 1.0, 2.0, 5.0])

CONTINUOUS = {
    "norm": lambda x: stats.norm(x, 2),
    "norm, its scale": lambda x: stats.norm(0.3, scale=x),
    "norm, by keywords": lambda x: stats.norm(scale=2, loc=np.sqrt(abs(x))),
    "laplace": lambda x: stats.laplace(x, 0.5),
    "laplace, its scale": lambda x: stats.laplace(scale=x),
    "cauchy": lambda x: stats.cauchy(x, x),
    "beta": lambda x: stats.beta(x, 5),
    "beta of 1": lambda x: stats.beta(1, x),
    "beta, moved": lambda x: stats.beta(x, b=x, loc=-1, scale=3),
    "gamma": lambda x: stats.gamma(x, scale=0.5),
    "expon": lambda x: stats.expon(scale=x),
    "t": lambda x: stats.t(x, 1, 2),
    "uniform": lambda x: stats.uniform(-1, x),
    "lognorm": lambda x: stats.lognorm(x, scale=2),
    "halfnorm": lambda x: stats.halfnorm(x, 2),
    "logistic": lambda x: stats.logistic(x, 2),
    "chi2": lambda x: stats.chi2(x, scale=2),
    "halfcauchy": lambda x: stats.halfcauchy(x),
    "gumbel_r": lambda x: stats.gumbel_r(x),
    "gumbel_l": lambda x: stats.gumbel_l(x),
    "weibull_min": lambda x: stats.weibull_min(x),
    "rayleigh": lambda x: stats.rayleigh(scale=x),
    "pareto": lambda x: stats.pareto(x, scale=0.5),
    "invgamma": lambda x: stats.invgamma(x),
    "truncnorm": lambda x: stats.truncnorm(-1 - x, 2 - x, loc=x),
    "truncnorm, its ends": lambda x: stats.truncnorm(x, x + 1),
    "truncnorm, far out": lambda x: stats.truncnorm(-x - 30, -x - 28),
    "truncnorm above": lambda x: stats.truncnorm(x, np.inf, 1, 2),
    "truncnorm below": lambda x: stats.truncnorm(-np.inf, x),
    "truncnorm, whole": lambda x: stats.truncnorm(-np.inf, np.inf, x),
    "Normal": lambda x: stats.Normal(mu=2 * x + 1, sigma=2.0),
    "Normal, its sigma": lambda x: stats.Normal(mu=0.0, sigma=np.where(x > 0, x, 1.0)),
    "Uniform": lambda x: stats.Uniform(a=-1.0, b=abs(x)),
    "Logistic": lambda x: stats.Logistic(),
}
DISCRETE = {
    "binom": lambda x: stats.binom(5, x),
    "binom, its n": lambda x: stats.binom(x, 0.25),
    "poisson": lambda x: stats.poisson(x),
    "poisson, moved": lambda x: stats.poisson(2.5, loc=x),
    "geom": lambda x: stats.geom(x),
    "nbinom": lambda x: stats.nbinom(x, 0.25),
    "nbinom, its p": lambda x: stats.nbinom(2.5, x),
    "bernoulli": lambda x: stats.bernoulli(x),
    "randint": lambda x: stats.randint(0, x),
    "dlaplace": lambda x: stats.dlaplace(x, loc=1),
    "planck": lambda x: stats.planck(x),
}
if hasattr(stats, "Binomial"):
    DISCRETE["Binomial"] = lambda x: stats.Binomial(n=5, p=x)
ALL = CONTINUOUS | DISCRETE


def values_of(graph, y=YS[:, None], x=XS):
    return float64.evaluate(graph, {"y": y, "x": x})


def assert_same(found, truth):
    np.testing.assert_array_equal(np.isnan(found), np.isnan(truth))
    special = ~np.isfinite(truth) & ~np.isnan(truth)
    np.testing.assert_array_equal(found[special], truth[special])
    finite = np.isfinite(truth)
    np.testing.assert_allclose(found[finite], truth[finite], rtol=1e-12, atol=1e-12)


def scipys(distribution, y, log):
    with np.errstate(all="ignore"):
        return np.asarray(getattr(distribution, log)(y), float)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_graph_is_scipys_log_density(name):
    truth = scipys(CONTINUOUS[name](XS), YS[:, None], "logpdf")
    truth = np.broadcast_to(truth, (len(YS), len(XS)))
    assert_same(values_of(graph_of(CONTINUOUS[name], ("y", "x"))), truth)


@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("whole", [(), ("y",)])
def test_the_graph_is_scipys_log_mass(name, whole):
    ys = np.unique(np.floor(YS)) if whole else YS  # without that: -inf between the integers
    truth = scipys(DISCRETE[name](XS), ys[:, None], "logpmf")
    assert_same(values_of(graph_of(DISCRETE[name], ("y", "x"), whole), ys[:, None]), truth)


def test_every_law_of_the_tables_is_tested():
    tested = {name.split(",")[0].split(" ")[0] for name in ALL}
    assert set(CONTINUOUS_LAWS) | set(DISCRETE_LAWS) <= tested


@pytest.mark.parametrize("name", ALL)
def test_graphs_survive_json(name):
    graph = graph_of(ALL[name], ("y", "x"))
    again = Graph.from_json(json.loads(json.dumps(graph.to_json(), allow_nan=False)))
    np.testing.assert_array_equal(values_of(again), values_of(graph))


@pytest.mark.parametrize("name", ALL)
def test_intervals_enclose(name):
    graph = graph_of(ALL[name], ("y", "x"))
    ys, xs = np.array([[0.0], [0.5], [1.0], [3.0]]), np.array([0.3, 0.5, 1.0, 2.0])
    low, high = interpreter.evaluate(graph, {"y": (ys, ys), "x": (xs - 0.01, xs + 0.01)})
    values = values_of(graph, ys, xs)
    assert (np.isnan(values) | (low - 1e-12 <= values) & (values <= high + 1e-12)).all()


# -- obligations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("norm, its scale", "laplace, its scale", "cauchy", "beta", "gamma", "expon", "t"),
        *("uniform", "lognorm", "chi2", "weibull_min", "pareto", "invgamma", "binom", "poisson"),
        *("geom", "nbinom, its p", "bernoulli", "randint", "dlaplace", "planck"),
    ],
)
def test_a_parameter_that_may_be_negative_is_an_obligation(name):
    graph = graph_of(ALL[name], ("y", "x"), ("y",))
    assert np.isnan(values_of(graph, YS, np.array(-1.0))).all()
    for low, high in ((-2.0, -1.0), (-1.0, 0.5)):
        box = (np.array(low), np.array(high))
        found = interpreter.evaluate(graph, {"y": (np.array(1.0), np.array(1.0)), "x": box})
        assert tuple(map(float, found)) == (-np.inf, np.inf)


def test_a_check_of_constants_is_settled():
    assert "where" not in graph_of(CONTINUOUS["norm"], ("y", "x")).operations
    assert graph_of(stats.expon(scale=0.25), ("x",)).operations == {
        *("greater_equal", "where", "subtract", "negative", "log", "divide"),
    }
    with pytest.raises(InvalidInput, match="got nan"):
        bl.Mechanism.from_scipy(lambda x: stats.norm(0, x - 0.5), secret=UNIT, outcome=LINE)


def test_integers_that_are_known_are_not_checked():
    moved = graph_of(DISCRETE["poisson, moved"], ("y", "x"), ("y", "x"))
    assert "floor" not in moved.operations
    assert "floor" in graph_of(DISCRETE["poisson, moved"], ("y", "x"), ("y",)).operations
    known = graph_of(lambda x: stats.randint(-2 * x, abs(x) + 1), ("y", "x"), ("y", "x"))
    assert "floor" not in known.operations
    assert "floor" in graph_of(lambda x: stats.binom(x, 0.5), ("y", "x"), ("y",)).operations


def test_what_cancels_in_the_ends_of_a_truncated_law_is_left_out():
    graph = graph_of(
        lambda x: stats.truncnorm((0 - x) / 0.3, (1 - x) / 0.3, loc=x, scale=0.3), ("y", "x")
    )
    ends = [args for op, args in graph.nodes if op in ("greater_equal", "less_equal")]
    assert [[graph.nodes[a] for a in pair] for pair in ends] == [
        [("input", ("y",)), ("const", (0.0,))],
        [("input", ("y",)), ("const", (1.0,))],
    ]
    assert not any(c != c for c in graph.constants), "a < b holds for every x"


# -- what is refused -----------------------------------------------------------------------------


class _Impostor(stats.rv_continuous):
    """A distribution of the same name as the normal."""

    def _pdf(self, x):
        return np.exp(-x)


REFUSED = {
    "SciPy's exponnorm has no graph in this version": lambda x: stats.exponnorm(1.5, x),
    "SciPy's norm has no graph in this version": lambda x: _Impostor(a=0, name="norm")(loc=x),
    "SciPy's ShiftedScaledDistribution has no graph": lambda x: 2 * stats.Logistic() + 1,
    "SciPy's int has no graph": lambda x: 3,
    "a parameter of SciPy's norm: a captured array": lambda x: stats.norm([0.0, 1.0], 1),
    "a number of x": lambda x: stats.Normal(mu=np.asarray(x).mean(), sigma=1.0),
    "captured array of shape": lambda x: stats.Normal(mu=np.asarray(x), sigma=1.0),
    "does not hold": lambda x: stats.norm(x, 2**53 + 1),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_not_known_is_named(reason):
    with pytest.raises(NotTraceable, match=reason):
        graph_of(REFUSED[reason], ("y", "x"))


def test_an_unknown_name_leaves_the_density_opaque():
    mech = bl.Mechanism.from_scipy(lambda x: stats.exponnorm(1.5, x), secret=UNIT, outcome=LINE)
    assert mech.density.graph is None
    assert mech.opaque == "SciPy's exponnorm has no graph in this version"
    assert float(mech.logpdf(0.5, 0.25)) == stats.exponnorm(1.5, 0.25).logpdf(0.5)
    measure = bl.from_scipy(stats.triang(0.5))
    assert measure.density.opaque == "SciPy's triang has no graph in this version"
    assert measure.family is None


# -- mechanisms and measures ---------------------------------------------------------------------


def test_mechanisms_have_the_graph():
    for family in (CONTINUOUS["norm"], CONTINUOUS["Normal"]):
        mech = bl.Mechanism.from_scipy(family, secret=UNIT, outcome=LINE)
        assert mech.opaque == "" and mech.density.graph.inputs == ("y", "x")
    pairs = bl.Mechanism.from_scipy(
        lambda x: stats.norm(x[0] + x[1], 1), secret=UNIT * UNIT, outcome=LINE
    )
    assert pairs.density.graph.inputs == ("y", "x0", "x1")
    new = bl.Mechanism.from_scipy(
        lambda x: stats.Normal(mu=x[0] - x[1], sigma=1.0), secret=UNIT * UNIT, outcome=LINE
    )
    assert float(new.logpdf(0.5, (0.25, 0.75))) == pytest.approx(stats.norm(-0.5).logpdf(0.5))


def test_counts_are_enclosed():
    noise = bl.Mechanism.from_scipy(
        lambda x: stats.dlaplace(0.5, loc=x), secret=bl.Finite(3), outcome=bl.Integers()
    )
    assert noise.density.graph.operations.isdisjoint({"where", "floor"})
    table = bl.Mechanism.from_scipy(
        lambda x: stats.binom(3, x), secret=bl.Finite([0.25, 0.5]), outcome=bl.Finite(4)
    )
    assert table.unproved == "" and table.rounding < 1e-12


LAWS = {
    "norm": (stats.norm(0.3, 2), ("normal", {"mu": 0.3, "sigma": 2.0})),
    "Normal": (stats.Normal(mu=0.3, sigma=2.0), ("normal", {"mu": 0.3, "sigma": 2.0})),
    "StandardNormal": (stats.Normal(), ("normal", {"mu": 0.0, "sigma": 1.0})),
    "laplace": (stats.laplace(scale=2), ("laplace", {"mu": 0.0, "b": 2.0})),
    "cauchy": (stats.cauchy(1, 2), ("cauchy", {"alpha": 1.0, "beta": 2.0})),
    "beta": (stats.beta(2, b=5), ("beta", {"alpha": 2.0, "beta": 5.0})),
    "gamma": (stats.gamma(2, scale=0.25), ("gamma", {"alpha": 2.0, "beta": 4.0})),
    "expon": (stats.expon(scale=0.5), ("exponential", {"lam": 2.0})),
    "poisson": (stats.poisson(3.5), ("poisson", {"mu": 3.5})),
    "geom": (stats.geom(0.25), ("geometric", {"p": 0.25})),
    "uniform": (stats.uniform(-1, 4), ("uniform", {})),
    "Uniform": (stats.Uniform(a=-1.0, b=3.0), ("uniform", {})),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_named_law_is_recognised(name):
    distribution, family = LAWS[name]
    measure = bl.from_scipy(distribution)
    assert measure.family == family and measure.density.opaque == ""
    named = getattr(bl, family[0])
    twin = named(**family[1]) if family[1] else named(measure.on)
    points = np.array([1.0, 2.0]) if measure.on.kind == "countable" else np.array([0.25, 0.75])
    np.testing.assert_allclose(measure.logpdf(points), twin.logpdf(points), rtol=1e-13)
    assert (measure.tail is None) == (twin.tail is None)


@pytest.mark.parametrize(
    "distribution",
    [
        stats.gamma(2, scale=0.3),  # 1 / 0.3 is no float
        stats.gamma(2, loc=1),
        stats.beta(2, 5, scale=2),
        stats.expon(1, 2),
        stats.poisson(2, loc=1),
        stats.uniform(0.1, 0.2),  # 0.1 + 0.2 is no float
        stats.t(3),
        stats.triang(0.5),
    ],
)
def test_only_exactly_the_same_law_is_recognised(distribution):
    assert bl.from_scipy(distribution).family is None


def test_a_law_on_a_larger_alphabet_is_not_recognised():
    assert bl.from_scipy(stats.uniform(0, 1), on=bl.Interval(-1, 1)).family is None
    assert law_of(stats.norm([0.0, 1.0], 1)) is None
    assert law_of(stats.norm(0, -1)) is None


def test_closed_forms_recognise_it():
    mech = bl.mechanisms.gaussian(sigma=1.0)
    mine = bl.pml(bl.from_scipy(stats.norm(0, 2)) * mech)(0.5)
    ours = bl.pml(bl.normal(mu=0, sigma=2) * mech)(0.5)
    assert (mine.value, mine.status, mine.lower, mine.upper) == (
        *(ours.value, ours.status, ours.lower, ours.upper),
    )


def test_nothing_heavy_is_imported(tmp_path):
    code = (
        "import sys, borel, borel.probability.mechanism, borel.probability.families\n"
        "heavy = ('pymc', 'pytensor', 'scipy.stats', 'scipy.special')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
