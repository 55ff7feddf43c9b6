"""Credible regions: their mass, their suprema, and the smallest level of all regions."""

import numpy as np
import pytest
import xarray as xr
from scipy import optimize, stats

import borel as bl
from borel.errors import InvalidInput, NotYet, Undecided
from borel.priors.ellipsoids import Ellipsoid

KINDS = ("box", "ellipsoid")


def learn(p, exact=True):
    data = xr.Dataset({"p": (("chain", "draw", "x"), p)})
    if exact:
        data.attrs["borel_draws"] = "exact"
    return bl.priors.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def inside(region, p):
    """Whether priors (k, n) are members, with no tolerance."""
    if isinstance(region, Ellipsoid):
        return region.distance(p) <= region.radius
    low, high = region.ends
    return ((p >= low) & (p <= high)).all(axis=1)


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", [*KINDS, "hdi"])
def test_the_mass_of_the_region_is_reached_as_often_as_stated(kind):
    """Fresh draws measure the mass; 60 regions at confidence 0.8."""
    alpha = [3, 8] if kind == "hdi" else [3, 8, 5]
    fresh = np.random.default_rng(99).dirichlet(alpha, size=40_000)
    reached, masses = 0, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        region = learn(rng.dirichlet(alpha, size=(2, 300))).region(kind, prob=0.9, confidence=0.8)
        masses.append(inside(region, fresh).mean())
        reached += masses[-1] >= 0.9
    assert reached >= stats.binom.ppf(0.005, 60, 0.8)
    assert np.median(masses) < 0.96  # it does not buy its confidence with a huge region


@pytest.mark.parametrize("kind", [*KINDS, "hdi"])
def test_a_region_of_narrow_floats_holds_what_they_were_rounded_from(kind):
    """As many laws as its order statistic says: of the half of the draws that gives the size."""
    rank = int(stats.binom.ppf(0.95, 200, 0.8)) + 1
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p = rng.dirichlet([60, 1] if kind == "hdi" else [30, 1, 5], size=(2, 200))
        region = learn(p.astype(np.float32)).region(kind, prob=0.8, confidence=0.95)
        second = p[:, 100:].reshape(200, -1)
        assert inside(region, second).sum() >= rank


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("leakage", [bl.pml, bl.pmc])
def test_the_smallest_level_is_below_the_supremum_over_any_region(kind, leakage):
    """On many simulated posteriors: quantile <= supremum over a region of the same mass."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, m = rng.integers(2, 5), rng.integers(2, 6)
        p = rng.dirichlet(rng.uniform(0.8, 20, n), size=(2, 400))
        learnt = learn(p)
        mech = bl.Mechanism.from_matrix(rng.dirichlet(np.ones(m), size=n))
        prob = rng.uniform(0.5, 0.95)
        region = learnt.region(kind, prob=prob, confidence=0.999)
        found = leakage(region * mech).sup()
        assert found.status == "statistical" and found.confidence == 0.999
        assert any("posterior mass" in note for note in found.assumptions)
        epsilon = leakage(learnt * mech).sup()
        assert epsilon.smallest(1 - prob, confidence=0.999).lower <= found.upper
        # no draw inside does better than the supremum over the region
        members = inside(region, p.reshape(-1, n)).reshape(2, 400)
        assert float(epsilon.draws["lower"].values[members].max()) <= found.upper


@pytest.mark.truths
def test_the_supremum_over_an_ellipsoid_is_that_of_a_convex_program():
    """Lower expectations against SLSQP and against many members, some cut by the simplex."""
    rng = np.random.default_rng(4)
    cut = 0
    for _ in range(25):
        n = int(rng.integers(2, 5))
        centre = rng.dirichlet(np.full(n, 2.0)) * 0.98 + 0.02 / n
        root = rng.normal(size=(n - 1, n - 1)) * 0.1
        shape = np.linalg.cholesky(root @ root.T + 1e-4 * np.eye(n - 1))
        region = Ellipsoid(centre, shape, float(rng.uniform(0.3, 3)), bl.Finite(n))
        v = rng.uniform(0.1, 1.0, size=(n, 3))
        found = region.least(v)
        assert (found.lower <= found.upper).all()
        for j in range(3):

            def prior(z, region=region, centre=centre, shape=shape):
                free = centre[:-1] + region.radius * shape @ z
                return np.append(free, 1 - free.sum())

            best = optimize.minimize(
                lambda z, column=v[:, j], prior=prior: column @ prior(z),
                np.zeros(n - 1),
                method="SLSQP",
                constraints=[
                    {"type": "ineq", "fun": lambda z: 1 - z @ z},
                    {"type": "ineq", "fun": prior},
                ],
                options={"ftol": 1e-14, "maxiter": 500},
            )
            z = rng.normal(size=(4000, n - 1))
            z *= (rng.uniform(size=4000) ** (1 / (n - 1)) / np.linalg.norm(z, axis=1))[:, None]
            free = centre[:-1] + region.radius * z @ shape.T
            p = np.column_stack([free, 1 - free.sum(1)])
            p = p[(p >= 0).all(axis=1)]
            assert (p @ v[:, j]).min() >= found.lower[j] - 1e-15
            member = found.prior[:, j]
            assert member.min() >= 0 and abs(member.sum() - 1) < 1e-14
            assert region.distance(member[None])[0] <= region.radius
            assert found.lower[j] <= v[:, j] @ member <= found.upper[j]
            if best.success:
                assert abs(best.fun - found.lower[j]) < 2e-3
            cut += region._outer(v[:, j])[1].min() < 0
    assert cut > 5


def test_the_interval_of_a_bit_is_a_closed_form():
    rng = np.random.default_rng(0)
    p = rng.beta(30, 70, size=(4, 1000))
    learnt = learn(np.stack([1 - p, p], -1))
    region = learnt.region("hdi", prob=0.9)
    (low0, low), (high0, high) = region.ends
    assert low < stats.beta.ppf(0.06, 30, 70) and high > stats.beta.ppf(0.94, 30, 70)
    assert abs(low0 - (1 - high)) < 1e-8 and abs(high0 - (1 - low)) < 1e-8
    mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    truth = np.log(0.75 / (0.25 + 0.5 * low))  # PML(1) is largest at the lower end
    found = bl.pml(region * mech).sup()
    assert found.lower - 1e-8 <= truth <= found.upper + 1e-8


def test_markov_chains_list_what_is_asymptotic_and_bad_ones_are_refused():
    rng = np.random.default_rng(1)
    learnt = learn(rng.dirichlet([3, 4], size=(4, 1000)), exact=False)
    region = learnt.region("box")
    assert any("effective sample size" in note for note in region.assumptions)
    p = rng.beta([[2], [5], [20], [40]], 10, size=(4, 1000))
    with pytest.raises(Undecided, match="R-hat"):
        learn(np.stack([p, 1 - p], -1), exact=False).region("box")


def test_regions_that_cannot_be_had():
    rng = np.random.default_rng(2)
    learnt = learn(rng.dirichlet([3, 4, 5], size=(2, 20)))
    with pytest.raises(InvalidInput, match="two secrets"):
        learnt.region("hdi", prob=0.5)
    with pytest.raises(InvalidInput, match="at least 598 draws"):
        learnt.region("box", prob=0.99, confidence=0.95)
    with pytest.raises(InvalidInput, match="kind one of"):
        learnt.region("ball")
    with pytest.raises(InvalidInput, match="0 < prob < 1"):
        learnt.region("box", prob=1)
    data = xr.Dataset({"mu": (("chain", "draw"), rng.normal(size=(2, 50)))})
    data.attrs["borel_draws"] = "exact"
    normal = bl.priors.from_posterior(data, lambda d: bl.normal(mu=d["mu"]))
    with pytest.raises(NotYet, match="regions of priors"):
        normal.region("box")


def parametric(seed=0, length=600):
    """A logit: P(X = 1) = 1 / (1 + e^-mu), and a kernel under which PML(1) falls in mu."""
    rng = np.random.default_rng(seed)
    data = xr.Dataset({"mu": (("chain", "draw"), rng.normal(0.3, 0.2, (2, length)))})
    data.attrs["borel_draws"] = "exact"

    def build(draw):
        q = 1 / (1 + np.exp(-draw["mu"]))
        return bl.pmf(np.stack([1 - q, q], -1))

    return bl.priors.from_posterior(data, build)


def test_the_hdi_of_a_parameter_is_maximised_over():
    learnt = parametric()
    mech = bl.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]])
    region = learnt.region(
        "hdi",
        prob=0.9,
        var_names="mu",
        build=lambda mu: bl.pmf([1 / (1 + np.exp(mu)), 1 / (1 + np.exp(-mu))]),
    )
    low, high = region.theta.lower, region.theta.upper
    mass = stats.norm.cdf(high, 0.3, 0.2) - stats.norm.cdf(low, 0.3, 0.2)
    assert 0.9 <= mass < 0.97
    found = bl.pml(region * mech).sup()
    q = 1 / (1 + np.exp(-np.array([low, high])))
    truth = max(np.log(0.75 / (0.25 + 0.5 * q)).max(), np.log(0.75 / (0.75 - 0.5 * q)).max())
    assert found.status == "statistical" and found.lower <= truth + 1e-12
    assert truth <= found.upper + 1e-12 and found.width < 1e-3
    assert any("interval, shaped by its HDI, of mu" in note for note in found.assumptions)
    assert bl.pml(learnt * mech).sup().smallest(0.1).lower <= found.upper
    # the build of the draws does for single numbers too; what cannot be traced is an estimate
    own = bl.pml(learnt.region("hdi", prob=0.9, var_names="mu") * mech).sup()
    assert own.status in ("estimate", "statistical")
    assert abs(own.value - truth) < 1e-3


def test_a_box_of_two_parameters():
    rng = np.random.default_rng(5)
    data = xr.Dataset(
        {name: (("chain", "draw"), rng.beta(20, 30, (2, 400))) for name in ("a", "b")},
        attrs={"borel_draws": "exact"},
    )

    def law(a, b):
        return bl.pmf([a * b, a * (1 - b), 1 - a])

    learnt = bl.priors.from_posterior(
        data,
        lambda d: bl.pmf(np.stack([d["a"] * d["b"], d["a"] * (1 - d["b"]), 1 - d["a"]], -1)),
    )
    mech = bl.mechanisms.randomized_response(k=3, epsilon=1.0)
    region = learnt.region("box", prob=0.8, var_names=["a", "b"], build=law)
    epsilon = bl.pml(learnt * mech).sup()
    found = bl.pml(region * mech).sup()
    assert epsilon.smallest(0.2).lower <= found.upper
    inside = np.ones((2, 400), bool)
    for name, side in zip(("a", "b"), region.theta.factors, strict=True):
        inside &= (data[name].values >= side.lower) & (data[name].values <= side.upper)
    assert 0.75 < inside.mean() < 0.95
    assert float(epsilon.draws["lower"].values[inside].max()) <= found.upper
    with pytest.raises(InvalidInput, match="one parameter"):
        learnt.region("hdi", var_names=["a", "b"])
    with pytest.raises(InvalidInput, match="of numbers"):
        learnt.region("box", var_names=["c"])
    with pytest.raises(InvalidInput, match="every variable that build uses"):
        learnt.region("box", prob=0.8, var_names=["a"])
    with pytest.raises(NotYet, match="ellipsoids of parameters"):
        learnt.region("ellipsoid", var_names=["a"])
