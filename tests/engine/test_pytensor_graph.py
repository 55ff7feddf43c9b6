"""PyTensor graphs: PyMC's log-densities as graphs of ours, their checks as obligations."""

import json
from fractions import Fraction as F

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.mode import Mode
from scipy import stats

import borel as bl
from borel import _compat
from borel.errors import InvalidInput, NotTraceable, NotYet
from borel.numerics.graphs import float64
from borel.numerics.graphs.from_pytensor import graph_of, law_of
from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import interpreter

UNIT, LINE, COUNTS = bl.Interval(0, 1), bl.Reals(), bl.Integers(0, None)
YS = np.array([-30.0, -3.0, -1.0, -0.5, 0.0, 0.1, 0.5, 0.9, 1.0, 1.5, 2.0, 3.0, 10.0])
XS = np.array([-1.0, 0.0, 0.05, 0.3, 0.5, 1.0, 2.0, 5.0])

CONTINUOUS = {
    "Normal": lambda x: pm.Normal.dist(x, 2.0),
    "Normal, its sigma": lambda x: pm.Normal.dist(0.3, x),
    "Laplace": lambda x: pm.Laplace.dist(x, 0.5),
    "Beta": lambda x: pm.Beta.dist(x, 5),
    "Beta of 1": lambda x: pm.Beta.dist(1, x),
    "Gamma": lambda x: pm.Gamma.dist(x, 2),
    "Gamma, its rate": lambda x: pm.Gamma.dist(2, x),
    "Exponential": lambda x: pm.Exponential.dist(x),
    "StudentT": lambda x: pm.StudentT.dist(nu=3, mu=x, sigma=2.0),
    "StudentT, its nu": lambda x: pm.StudentT.dist(nu=x, mu=1, sigma=2.0),
    "Truncated": lambda x: pm.Truncated.dist(pm.Normal.dist(x, 1.5), lower=-1, upper=2),
    "Truncated below": lambda x: pm.Truncated.dist(pm.Normal.dist(x, 1.5), lower=0),
    "Truncated Gamma": lambda x: pm.Truncated.dist(pm.Gamma.dist(x, 1), 0.1, 3),
    "TruncatedNormal": lambda x: pm.TruncatedNormal.dist(x, 1.0, lower=-1, upper=2),
    "Mixture": lambda x: pm.Mixture.dist(
        [0.3, 0.7], [pm.Normal.dist(x, 8.0), pm.Laplace.dist(0, 3)]
    ),
    "Mixture of a vector": lambda x: pm.Mixture.dist(
        [0.3, 0.7], pm.Normal.dist(pt.stack([x, x + 1]), 8.0)
    ),
    "Mixture, its weights": lambda x: pm.Mixture.dist(
        pt.stack([x, 1 - x]), [pm.Normal.dist(0, 8), pm.Laplace.dist(0, 3)]
    ),
    "NormalMixture": lambda x: pm.NormalMixture.dist([0.3, 0.7], [0, x], [8.0, 9.0]),
    "Uniform": lambda x: pm.Uniform.dist(0, x),
    "HalfNormal": lambda x: pm.HalfNormal.dist(x),
    "Cauchy": lambda x: pm.Cauchy.dist(x, 2),
    "LogNormal": lambda x: pm.LogNormal.dist(x, 2),
    "Logistic": lambda x: pm.Logistic.dist(x, 2),
    "Weibull": lambda x: pm.Weibull.dist(x, 2),
    "Censored": lambda x: pm.Censored.dist(pm.Normal.dist(x, 1.0), -1, 1),
    "a function of one": lambda x: pt.exp(pm.Normal.dist(x, 1) * 2 + 1),
}
DISCRETE = {
    "Binomial": lambda x: pm.Binomial.dist(5, x),
    "Poisson": lambda x: pm.Poisson.dist(x),
    "Bernoulli": lambda x: pm.Bernoulli.dist(x),
    "Bernoulli, its logit": lambda x: pm.Bernoulli.dist(logit_p=x),
    "Geometric": lambda x: pm.Geometric.dist(x),
    "NegativeBinomial": lambda x: pm.NegativeBinomial.dist(x, 3),
    "NegativeBinomial, its p": lambda x: pm.NegativeBinomial.dist(p=x, n=3),
    "DiscreteUniform": lambda x: pm.DiscreteUniform.dist(0, pt.cast(x * 4, "int64")),
    "Mixture of counts": lambda x: pm.Mixture.dist(
        [0.5, 0.5], [pm.Poisson.dist(x), pm.Poisson.dist(3)]
    ),
    "ZeroInflatedPoisson": lambda x: pm.ZeroInflatedPoisson.dist(0.3, x),
}


def values_of(graph, y=YS[:, None], x=XS):
    return float64.evaluate(graph, {"y": y, "x": x})


def pymcs_values(family, ys, integer):
    """pm.logp, its constants in float64, by PyTensor in Python; NaN where a check fails."""
    y, x = pt.scalar("y", dtype="int64" if integer else "float64"), pt.dscalar("x")
    log = _compat._in_float64(pm.logp(family(x), y))
    mode = Mode(linker="py", optimizer=None)
    compiled = pytensor.function([y, x], log, mode=mode, on_unused_input="ignore")

    def at(a, b):
        try:
            with np.errstate(all="ignore"):
                return float(compiled(int(a) if integer else a, b))
        except pm.logprob.utils.ParameterValueError:
            return np.nan

    return np.array([[at(a, b) for b in XS] for a in ys])


def assert_same(found, truth):
    """Equal to 1e-12 of the value or of 1; the same infinities, NaN where the other is."""
    np.testing.assert_array_equal(np.isnan(found), np.isnan(truth))
    finite = np.isfinite(truth)
    np.testing.assert_array_equal(
        found[~finite & ~np.isnan(truth)], truth[~finite & ~np.isnan(truth)]
    )
    np.testing.assert_allclose(found[finite], truth[finite], rtol=1e-12, atol=1e-12)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_graph_is_pymcs_log_density(name):
    family = CONTINUOUS[name]
    assert_same(values_of(graph_of(family, ("y", "x"))), pymcs_values(family, YS, False))


@pytest.mark.few(7)
@pytest.mark.parametrize("name", DISCRETE)
def test_the_graph_is_pymcs_log_mass(name):
    family, ys = DISCRETE[name], np.unique(np.floor(YS))
    graph = graph_of(family, ("y", "x"), ("y",))
    assert_same(values_of(graph, ys[:, None]), pymcs_values(family, ys, True))
    unsure = graph_of(family, ("y", "x"))
    np.testing.assert_array_equal(values_of(unsure, ys[:, None]), values_of(graph, ys[:, None]))
    between = values_of(unsure, np.array([[0.5], [1.25]]))
    valid = ~np.isnan(values_of(graph, np.array([[1.0], [1.0]])))
    assert (between[valid] == -np.inf).all(), "no mass between the integers"


@pytest.mark.parametrize("name", CONTINUOUS | DISCRETE)
def test_graphs_survive_json(name):
    graph = graph_of((CONTINUOUS | DISCRETE)[name], ("y", "x"))
    again = Graph.from_json(json.loads(json.dumps(graph.to_json(), allow_nan=False)))
    np.testing.assert_array_equal(values_of(again), values_of(graph))
    assert again.to_json() == graph.to_json()


@pytest.mark.few(31)
@pytest.mark.parametrize("name", CONTINUOUS | DISCRETE)
def test_intervals_enclose(name):
    graph = graph_of((CONTINUOUS | DISCRETE)[name], ("y", "x"))
    ys, xs = np.array([[0.0], [0.5], [1.0], [3.0]]), np.array([0.3, 0.5, 1.0, 2.0])
    low, high = interpreter.evaluate(graph, {"y": (ys, ys), "x": (xs - 0.01, xs + 0.01)})
    values = values_of(graph, ys, xs)
    good = np.isnan(values) | (low - 1e-12 <= values) & (values <= high + 1e-12)
    assert good.all()


# -- laws with atoms, and laws of another kind than the alphabet ----------------------------------

LAW = pm.Normal.dist(0, 1)
ATOMS = {
    "censored": (lambda x: pm.Censored.dist(pm.Normal.dist(x, 1), lower=-1, upper=1.5), "-1, 1.5"),
    "censored below": (
        lambda x: pm.Censored.dist(pm.Normal.dist(x, 1), lower=-1, upper=None),
        "-1",
    ),
    "censored at x": (
        lambda x: pm.Censored.dist(LAW, lower=x, upper=None),
        "points that are computed",
    ),
    "a hurdle": (lambda x: pm.HurdleGamma.dist(psi=0.5, alpha=1 + x, beta=1), "0"),
    "inflated at 2": (
        lambda x: pm.Mixture.dist(
            w=[0.5, 0.5], comp_dists=[pm.DiracDelta.dist(2.0), pm.Normal.dist(x, 1)]
        ),
        "2",
    ),
    "a point": (lambda x: pm.DiracDelta.dist(x), "points that are computed"),
    "clipped": (lambda x: pm.math.clip(pm.Normal.dist(x, 1), 0, 3), "0, 3"),
    "twice a clipped one": (lambda x: 2 * pm.math.clip(pm.Normal.dist(x, 1), 0, 3), "0, 3"),
    "rounded": (lambda x: pm.math.round(pm.Normal.dist(x, 1)), "whole numbers"),
    "floor": (lambda x: pm.math.floor(pm.Normal.dist(x, 1)), "whole numbers"),
}


@pytest.mark.parametrize("name", ATOMS)
def test_a_law_with_atoms_is_refused_as_such(name):
    make, points = ATOMS[name]
    expected = rf"\(a law with atoms, at {points}\)\. Today: .*bl\.{{}}.*bl\.Mixed.*masses="
    for outcome in (LINE, bl.Interval(-1, 1), bl.Mixed(UNIT, atoms=[0.25]), COUNTS):
        with pytest.raises(NotYet, match=expected.format("Mechanism")):
            bl.Mechanism.from_pymc(make, secret=UNIT, outcome=outcome)
    for on in (None, LINE):
        with pytest.raises(NotYet, match=expected.format("Measure")):
            bl.from_pymc(make(pt.dscalar()), on=on)


def test_a_censored_law_on_its_atoms_is_the_clipped_one():
    ends = bl.Mixed(bl.Interval(-1, 1), atoms=[-1, 1])
    made = bl.Mechanism.from_pymc(
        lambda x: pm.Censored.dist(pm.Laplace.dist(x, 0.5), lower=-1, upper=1),
        secret=UNIT,
        outcome=ends,
    )
    clipped = bl.mechanisms.laplace(b=0.5, secret=UNIT).clip(-1, 1)
    for y in (-1.0, 0.5, 1.0):
        for measure in (bl.pml, bl.pmc):
            found = measure(bl.uniform(UNIT) * made)(y)
            truth = measure(bl.uniform(UNIT) * clipped)(y)
            assert found.lower <= truth.upper and truth.lower <= found.upper
            assert found.width < 1e-8
    np.testing.assert_allclose(
        made.pdf(0.5, np.array([0.2, 0.7])), stats.laplace(np.array([0.2, 0.7]), 0.5).pdf(0.5)
    )
    hurdle = bl.Mechanism.from_pymc(
        lambda x: pm.HurdleGamma.dist(psi=x / 2, alpha=2, beta=1),
        secret=UNIT,
        outcome=bl.Mixed(bl.Interval(0, None), atoms=[0]),
    )
    # a positive outcome is as likely as x, zero as likely as 1 - x / 2
    found = bl.pml(bl.uniform(UNIT) * hurdle)
    assert found(3.0).lower <= np.log(2) <= found(3.0).upper
    assert found(0.0).lower <= np.log(4 / 3) <= found(0.0).upper


def test_priors_with_atoms():
    law = pm.HurdleGamma.dist(psi=0.75, alpha=2, beta=1)
    prior = bl.from_pymc(law, on=bl.Mixed(bl.Interval(0, None), atoms=[0]))
    assert prior.masses == {0.0: 0.25}
    np.testing.assert_allclose(prior.pdf(1.5), 0.75 * stats.gamma(2).pdf(1.5))
    zero = bl.Mechanism(
        lambda y, x: np.where(x > 0, np.where(y == 1, 0.5, 0.5), np.where(y == 1, 1.0, 0.0)),
        secret=prior.on,
        outcome=bl.Finite([0, 1]),
    )
    found = bl.pml(prior * zero)(1)
    assert found.lower <= np.log(1 / 0.625) <= found.upper and found.width < 1e-8
    for wrong in ([1], [0, 1], [1e-9]):
        with pytest.raises(NotYet, match="a law with atoms, at 0"):
            bl.from_pymc(law, on=bl.Mixed(bl.Interval(0, None), atoms=wrong))
    near = pm.Censored.dist(pm.Normal.dist(0, 1), lower=0.12345678, upper=None)
    with pytest.raises(NotYet, match=r"atoms at \[0\.12345678"):
        bl.from_pymc(near, on=bl.Mixed(bl.Interval(0.1, None), atoms=[0.123457]))
    with pytest.raises(NotYet, match="parameters of a law with atoms"):
        bl.from_pymc(
            lambda psi: pm.HurdleGamma.dist(psi=psi, alpha=2, beta=1),
            on=bl.Mixed(bl.Interval(0, None), atoms=[0]),
            psi=np.array([0.5, 0.75]),
        )


def test_numbers_that_are_clipped_on_the_way_are_no_atoms():
    mech = bl.Mechanism.from_pymc(
        lambda x: pm.Normal.dist(pm.math.clip(pm.math.round(x), 0, 1), 1), secret=UNIT, outcome=LINE
    )
    assert mech.pdf(1.0, 0.9) == pytest.approx(stats.norm(1, 1).pdf(1.0))


def test_the_kind_of_a_law_is_the_outcomes():
    for make, outcome, word in (
        (lambda x: pm.Poisson.dist(1 + x), LINE, "probabilities"),
        (lambda x: pm.Poisson.dist(1 + x), UNIT, "probabilities"),
        (lambda x: pm.Normal.dist(x, 1), COUNTS, "a density"),
        (lambda x: pm.Normal.dist(x, 1), bl.Finite(3), "a density"),
    ):
        with pytest.raises(InvalidInput, match=rf"Mechanism\.from_pymc: .*got one with {word}"):
            bl.Mechanism.from_pymc(make, secret=UNIT, outcome=outcome)
    for wrong in (LAW, lambda x: 2 * 1.0):
        with pytest.raises(InvalidInput, match=r"a function of x that returns a PyMC distribution"):
            bl.Mechanism.from_pymc(wrong, secret=UNIT, outcome=LINE)


# -- obligations ---------------------------------------------------------------------------------

CHECKED = {
    "Normal, its sigma",
    "Gamma, its rate",
    "Exponential",
    "Uniform",
    "HalfNormal",
    "StudentT, its nu",
    "Poisson",
    "Bernoulli",
    "Geometric",
    "Binomial",
    "Mixture, its weights",
    "Truncated Gamma",
}


@pytest.mark.parametrize("name", sorted(CHECKED))
def test_a_parameter_that_may_be_negative_is_an_obligation(name):
    graph = graph_of((CONTINUOUS | DISCRETE)[name], ("y", "x"))
    assert np.isnan(values_of(graph, YS, np.array(-1.0))).all(), "also outside the support"
    for low, high in ((-2.0, -1.0), (-1.0, 0.5)):
        box = (np.array(low), np.array(high))
        found = interpreter.evaluate(graph, {"y": (np.array(1.0), np.array(1.0)), "x": box})
        assert tuple(map(float, found)) == (-np.inf, np.inf)


def test_a_check_of_constants_is_settled():
    graph = graph_of(CONTINUOUS["Normal"], ("y", "x"))
    assert "where" not in graph.operations
    assert graph_of(CONTINUOUS["Mixture"], ("y", "x")).operations <= {
        *("absolute", "add", "divide", "log", "logaddexp", "multiply", "negative", "sqrt"),
        *("square", "subtract"),
    }
    with pytest.raises(InvalidInput, match="got nan"):
        bl.from_pymc(pm.Normal.dist(0, -1))
    with pytest.raises(InvalidInput, match="got nan"):
        bl.Mechanism.from_pymc(lambda x: pm.Normal.dist(0, x - 0.5), secret=UNIT, outcome=LINE)


# -- numbers -------------------------------------------------------------------------------------


def test_constants_are_the_numbers_that_pytensor_holds():
    tenth = float(np.float32(0.1))
    graph = graph_of(lambda x: pm.Normal.dist(x, np.float32(0.1)), ("y", "x"))
    assert tenth in graph.constants and 0.1 not in graph.constants
    assert 0.1 in graph_of(lambda x: pm.Normal.dist(x, 0.1), ("y", "x")).constants


def test_types_of_pytensor_round_nothing():
    eleven = graph_of(pm.DiscreteUniform.dist(0, 10), ("x",), ("x",))
    assert float(float64.evaluate(eleven, {"x": np.array(3.0)})) == -np.log(11.0)  # float32 there
    wide = graph_of(lambda x: pm.Laplace.dist(0, 100), ("y", "x"))
    assert float(values_of(wide, 0.0, 0.0)) == -np.log(200.0)  # int8 there, which overflows


def test_far_tails_do_not_underflow():
    graph = graph_of(CONTINUOUS["Mixture"], ("y", "x"))
    truth = np.log(0.7) - 1e6 / 3 - np.log(6)
    assert float(values_of(graph, 1e6, 0.0)) == pytest.approx(truth, rel=1e-14)
    logit = graph_of(DISCRETE["Bernoulli, its logit"], ("y", "x"), ("y",))
    assert float(values_of(logit, 1.0, -800.0)) == -800.0


def test_scipys_truncated_normal():
    graph = graph_of(CONTINUOUS["Truncated"], ("y", "x"))
    x, y = np.array([-40.0, -3.0, 0.3, 4.0, 60.0]), np.array([[-0.9], [0.5], [1.9]])
    truth = stats.truncnorm((-1 - x) / 1.5, (2 - x) / 1.5, x, 1.5).logpdf(y)
    np.testing.assert_allclose(values_of(graph, y, x), truth, rtol=1e-10)


def test_integers_that_are_known_are_not_rounded():
    def family(x):
        return pm.DiscreteUniform.dist(0, pt.cast(x, "int64") + 1)

    counts = graph_of(family, ("y", "x"), ("y", "x"))
    assert counts.operations.isdisjoint({"trunc", "floor"})
    assert "trunc" in graph_of(family, ("y", "x"), ("y",)).operations
    ns, ys = np.arange(5.0), np.arange(5.0)[:, None]
    assert_same(values_of(counts, ys, ns), stats.randint(0, ns + 2).logpmf(ys))


def test_a_count_that_cancels_leaves_the_graph():
    counts = graph_of(DISCRETE["NegativeBinomial"], ("y", "x"), ("y",))
    box = (np.array(5.0), np.array(50.0))
    low, high = interpreter.evaluate(counts, {"y": box, "x": (np.array(2.0), np.array(2.0))})
    assert np.isfinite([low, high]).all(), "gammaln(y + n - y) would be the whole line"


def test_a_shared_variable_is_frozen():
    sigma = pytensor.shared(2.5)
    graph = graph_of(lambda x: pm.Normal.dist(x, sigma), ("y", "x"))
    sigma.set_value(9.0)
    assert float(values_of(graph, 1.0, 0.0)) == pytest.approx(stats.norm(0, 2.5).logpdf(1))


def test_tensors_of_a_static_shape():
    def log(value, m):
        both = pt.stack([m, value])
        joined = pt.concatenate([both, pt.as_tensor([1.0, 2.0])])[1:]
        clipped = pt.clip(both, -1, 1)
        return joined.sum() + pt.max(clipped) * both.prod() + both.reshape((2, 1))[0, 0]

    graph = graph_of(lambda x: pm.CustomDist.dist(x, logp=log), ("y", "x"))
    y, x = YS[:, None], XS
    truth = y + 3 + np.maximum(np.clip(x, -1, 1), np.clip(y, -1, 1)) * x * y + x
    np.testing.assert_allclose(values_of(graph), truth, rtol=1e-12, atol=1e-12)


# -- what is refused -----------------------------------------------------------------------------

REFUSED = {
    "Dot": lambda x: pm.CustomDist.dist(
        x, logp=lambda value, m: pt.dot(pt.stack([m, value]), pt.as_tensor([1.0, 2.0]))
    ),
    "NormalRV": lambda x: pm.Normal.dist(pm.Normal.dist(x, 1), 1),
    r"Cast\{float32\}": lambda x: pm.Normal.dist(pt.cast(x, "float32"), 1),
    "AND": lambda x: pm.Normal.dist(pt.cast(x, "int64") & 3, 1),
    "not a scalar": lambda x: pm.Normal.dist([x, 1.0], 1),
    "neither y nor x": lambda x: pm.Normal.dist(x, pt.dscalar("sigma")),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_not_known_is_named(reason):
    with pytest.raises(NotTraceable, match=reason):
        graph_of(REFUSED[reason], ("y", "x"))


@pytest.mark.truths
def test_an_unknown_operation_leaves_the_density_opaque():
    mech = bl.Mechanism.from_pymc(
        lambda x: pm.Normal.dist(pt.dot(pt.stack([x, x]), pt.as_tensor([0.5, 0.5])), 1),
        secret=UNIT,
        outcome=LINE,
    )
    assert mech.density.graph is None and "PyTensor's Dot" in mech.opaque
    np.testing.assert_allclose(mech.logpdf(0.5, 0.25), stats.norm(0.25).logpdf(0.5), rtol=1e-9)


# -- mechanisms and measures ---------------------------------------------------------------------


def test_a_mechanism_has_the_graph():
    mech = bl.Mechanism.from_pymc(lambda x: pm.Laplace.dist(x, 0.5), secret=UNIT, outcome=LINE)
    assert mech.opaque == "" and mech.density.graph.inputs == ("y", "x")
    both = mech & mech
    assert both.opaque == ""
    np.testing.assert_allclose(both.logpdf((0.5, 1.0), 0.25), 2 * -np.log(1) - 0.5 - 1.5)


def test_a_secret_of_two_parts():
    mech = bl.Mechanism.from_pymc(
        lambda x: pm.Normal.dist(x[0] - x[1], 1), secret=UNIT * UNIT, outcome=LINE
    )
    assert mech.density.graph.inputs == ("y", "x0", "x1")
    found = mech.logpdf(0.5, (0.25, 0.75))
    assert float(found) == pytest.approx(stats.norm(-0.5).logpdf(0.5))


def test_a_finite_mechanism_is_proved():
    mech = bl.Mechanism.from_pymc(
        lambda x: pm.Binomial.dist(3, x), secret=bl.Finite([0.25, 0.5]), outcome=bl.Finite(4)
    )
    assert mech.unproved == "" and mech.rounding < 1e-12
    np.testing.assert_allclose(mech.matrix[1], [1 / 8, 3 / 8, 3 / 8, 1 / 8])


LAWS = {
    "Normal": (lambda: pm.Normal.dist(0.3, 2), ("normal", {"mu": 0.3, "sigma": 2.0})),
    "Laplace": (lambda: pm.Laplace.dist(0.3, 2), ("laplace", {"mu": 0.3, "b": 2.0})),
    "Cauchy": (lambda: pm.Cauchy.dist(1, 2), ("cauchy", {"alpha": 1.0, "beta": 2.0})),
    "Beta": (lambda: pm.Beta.dist(2, 5), ("beta", {"alpha": 2.0, "beta": 5.0})),
    "Gamma": (lambda: pm.Gamma.dist(2, 3), ("gamma", {"alpha": 2.0, "beta": 3.0})),
    "Exponential": (lambda: pm.Exponential.dist(3), ("exponential", {"lam": 3.0})),
    "Poisson": (lambda: pm.Poisson.dist(3.5), ("poisson", {"mu": 3.5})),
    "Geometric": (lambda: pm.Geometric.dist(0.25), ("geometric", {"p": 0.25})),
    "Uniform": (lambda: pm.Uniform.dist(-1, 3), ("uniform", {})),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", LAWS)
def test_a_named_law_is_recognised(name):
    make, family = LAWS[name]
    measure = bl.from_pymc(make())
    assert measure.family == family and measure.density.opaque == ""
    named = getattr(bl, family[0])
    twin = named(**family[1]) if family[1] else named(measure.on)
    points = np.array([1.0, 2.0]) if measure.on.kind == "countable" else np.array([0.25, 0.75])
    np.testing.assert_allclose(measure.logpdf(points), twin.logpdf(points), rtol=1e-13)
    assert (measure.tail is None) == (twin.tail is None)


def test_only_exactly_the_same_law_is_recognised():
    assert law_of(pm.Exponential.dist(scale=0.3)) == ("exponential", {"lam": 1 / F(0.3)})
    assert bl.from_pymc(pm.Exponential.dist(scale=0.3)).family is None, "1 / 0.3 is no float"
    assert law_of(pm.Normal.dist(pm.Normal.dist(0, 1), 1)) is None
    assert law_of(pm.Normal.dist(pt.log(2.0), 1)) is None
    assert law_of(pm.StudentT.dist(nu=3, mu=0, sigma=1)) is None
    assert law_of(pm.Normal.dist([0, 1], 1)) is None
    half = bl.from_pymc(pm.Uniform.dist(0, 1), on=bl.Interval(-1, 1))
    assert half.family is None and half.density.opaque == ""
