"""Priors from PreliZ, by what its distributions show: kind, support, to_pymc."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel.errors import InvalidInput, NotYet


@dataclass
class Elicited:
    """What borel reads of a PreliZ distribution, without PreliZ."""

    name: str
    params_dict: dict
    support: tuple
    kind: str = "continuous"
    is_frozen: bool = True

    def to_pymc(self):
        import pymc as pm

        return getattr(pm, self.name).dist(**self.params_dict)


INF = math.inf
LAWS = {
    "Beta": (Elicited("Beta", {"alpha": 2.0, "beta": 5.0}, (0, 1)), stats.beta(2, 5)),
    "Normal": (Elicited("Normal", {"mu": 1.0, "sigma": 2.0}, (-INF, INF)), stats.norm(1, 2)),
    "Gamma": (
        Elicited("Gamma", {"alpha": 2.0, "beta": 4.0}, (0, INF)),
        stats.gamma(2, scale=0.25),
    ),
    "Pareto": (
        Elicited("Pareto", {"alpha": 3.0, "m": 2.0}, (np.float64(2.0), INF)),
        stats.pareto(3, scale=2),
    ),
    "Poisson": (Elicited("Poisson", {"mu": 3.0}, (0, INF), "discrete"), stats.poisson(3)),
    "Geometric": (Elicited("Geometric", {"p": 0.3}, (1, INF), "discrete"), stats.geom(0.3)),
    "Binomial": (
        Elicited("Binomial", {"n": 5, "p": 0.3}, (0, np.int64(5)), "discrete"),
        stats.binom(5, 0.3),
    ),
    "DiscreteUniform": (
        Elicited("DiscreteUniform", {"lower": 2, "upper": 6}, (2, 6), "discrete"),
        stats.randint(2, 7),
    ),
}
ALPHABETS = {
    "Beta": bl.Interval(0, 1),
    "Normal": bl.Reals(),
    "Gamma": bl.Interval(0, None),
    "Pareto": bl.Interval(2, None),
    "Poisson": bl.Integers(0, None),
    "Geometric": bl.Integers(1, None),
    "Binomial": bl.Finite(6),
    "DiscreteUniform": bl.Integers(2, 6),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_law_is_the_elicited_one(name):
    elicited, law = LAWS[name]
    prior = bl.priors.from_preliz(elicited)
    assert prior.on == ALPHABETS[name]
    discrete = elicited.kind == "discrete"
    points = np.arange(2, 6) if discrete else law.ppf([0.1, 0.4, 0.9])
    np.testing.assert_allclose(prior.pdf(points), (law.pmf if discrete else law.pdf)(points), 1e-6)


def test_it_is_what_from_pymc_makes_of_it():
    import pymc as pm

    prior, other = bl.priors.from_preliz(LAWS["Beta"][0]), bl.from_pymc(pm.Beta.dist(2, 5))
    mech = bl.mechanisms.laplace(b=1.0, secret=bl.Interval(0, 1))
    one, two = (bl.pml(p * mech).sup() for p in (prior, other))
    assert (one.lower, one.upper, one.status) == (two.lower, two.upper, two.status)
    narrow = bl.priors.from_preliz(LAWS["Poisson"][0], on=bl.Integers(0, None))
    assert narrow.family == bl.poisson(mu=3.0).family


def test_what_is_no_law_of_a_number():
    with pytest.raises(InvalidInput, match="a PreliZ distribution of a number"):
        bl.priors.from_preliz(stats.norm(0, 1))
    with pytest.raises(InvalidInput, match=r"continuous_multivariate.*bl\.pmf"):
        bl.priors.from_preliz(Elicited("Dirichlet", {}, (0, 1), "continuous_multivariate"))
    with pytest.raises(InvalidInput, match="whose parameters are set"):
        bl.priors.from_preliz(Elicited("Normal", {}, (-INF, INF), is_frozen=False))
    with pytest.raises(NotYet, match="Elicited, which PyMC does not have"):
        bl.priors.from_preliz(Elicited("BetaScaled", {}, (0, 1)))


@pytest.mark.filterwarnings("ignore")  # PreliZ 0.24 with today's PyTensor
def test_preliz_itself():
    pz = pytest.importorskip("preliz")
    made = {
        "Beta": pz.Beta(2, 5),
        "Normal": pz.Normal(1, 2),
        "Gamma": pz.Gamma(2, 4),
        "Pareto": pz.Pareto(3, 2),
        "Poisson": pz.Poisson(3),
        "Geometric": pz.Geometric(0.3),
        "Binomial": pz.Binomial(5, 0.3),
        "DiscreteUniform": pz.DiscreteUniform(2, 6),
    }
    for name, distribution in made.items():
        ours = LAWS[name][0]
        assert distribution.kind == ours.kind and distribution.is_frozen
        assert tuple(map(float, distribution.support)) == tuple(map(float, ours.support))
        assert distribution.params_dict == ours.params_dict
        prior = bl.priors.from_preliz(distribution)
        points = np.arange(2, 6) if ours.kind == "discrete" else LAWS[name][1].ppf([0.1, 0.9])
        np.testing.assert_allclose(prior.pdf(points), distribution.pdf(points), 1e-6)
    belief = pz.Beta()
    with pytest.raises(InvalidInput, match="whose parameters are set"):
        bl.priors.from_preliz(belief)
    pz.maxent(belief, 0.1, 0.4, 0.9, plot=False)
    law = bl.priors.from_preliz(belief)
    assert law.on == bl.Interval(0, 1)
    np.testing.assert_allclose(law.pdf(0.2), belief.pdf(0.2), 1e-6)
    with pytest.raises(NotYet, match="BetaScaled, which PyMC does not have"):
        bl.priors.from_preliz(pz.BetaScaled(2, 3, -1, 2))
    with pytest.raises(NotYet, match="atoms"):
        bl.priors.from_preliz(pz.Censored(pz.Normal(0, 1), 0, 2))
    with pytest.raises(InvalidInput, match=r"bl\.pmf"):
        bl.priors.from_preliz(pz.Dirichlet([1, 2, 3]))
