"""Figures of random joints with a kernel, of examples, and over sets: what is made is verified.

Random tables, sets of priors and their envelopes are in `test_tables` and `test_duals`, the figures
of the README in `test_readme`.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest
from checker.asked import certified, figures_of, search_little

import borel as bl

pytestmark = pytest.mark.proofs

UNIT, REALS = bl.Interval(0, 1), bl.Reals()
EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def prior(r, on):
    """Return a random prior on the unit interval, or on points of it."""
    if on != UNIT:
        return bl.pmf(r.dirichlet(np.full(on.size, 2.0)), on=on)
    slope = float(r.integers(-3, 4)) / 4
    alpha, beta = (float(v) for v in r.integers(2, 5, size=2))
    return (
        bl.uniform(UNIT),
        bl.beta(alpha=alpha, beta=beta),
        bl.Measure(lambda x: 1 + slope * (2 * x - 1), on=UNIT),
    )[r.integers(3)]


def noise(log_density):
    """Return a family of kernels: noise of a random scale."""

    def make(r, on):
        scale = float(r.integers(2, 13)) / 8
        return bl.Mechanism(
            lambda y, x: log_density((y - x) / scale) - np.log(scale),
            secret=on,
            outcome=REALS,
            log=True,
        )

    return make


def uniform_noise(r, on):
    reach = float(r.integers(3, 9)) / 8
    return bl.Mechanism(
        lambda y, x: np.where(np.abs(y - x) < reach, 1 / (2 * reach), 0.0),
        secret=on,
        outcome=bl.Interval(-reach, 1 + reach),
    )


def copula(r, on):
    """Farlie, Gumbel and Morgenstern's."""
    theta = float(r.integers(-7, 8)) / 8
    return bl.Mechanism(lambda y, x: 1 + theta * (1 - 2 * x) * (1 - 2 * y), secret=on, outcome=UNIT)


def clayton(r, on):
    """Clayton's of parameter 1, mixed with an independent outcome."""
    share = float(r.integers(1, 8)) / 8
    return bl.Mechanism(
        lambda y, x: share + (1 - share) * 2 * (x * y) / (x + y - x * y) ** 3,
        secret=on,
        outcome=UNIT,
    )


def waves(r, on):
    """A density of one's own."""
    height, rate = float(r.integers(1, 8)) / 8, 2 * np.pi * int(r.integers(1, 4))
    return bl.Mechanism(lambda y, x: 1 + height * x * np.cos(rate * y), secret=on, outcome=UNIT)


KERNELS = {
    "laplace": noise(lambda z: -np.abs(z) - np.log(2)),
    "gaussian": noise(lambda z: -z * z / 2 - np.log(2 * np.pi) / 2),
    "cauchy": noise(lambda z: -np.log(np.pi) - np.log1p(z * z)),
    "uniform": uniform_noise,
    "copula": copula,
    "clayton": clayton,
    "waves": waves,
}


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    search_little(monkeypatch, 250)
    with bl.options(closed_forms=False, tol=1e-5, budget=5):
        yield


def joint(name, seed):
    r = np.random.default_rng([seed, *name.encode()])
    on = UNIT if name == "clayton" or r.random() < 0.6 else bl.Finite([0.0, 0.25, 1.0])
    return prior(r, on) * KERNELS[name](r, on), r


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", KERNELS)
def test_no_certificate_of_a_random_joint_is_refused(name, seed):
    of, r = joint(name, seed)
    y = float(r.integers(1, 16)) / 16
    figures = [leakage(of)(y) for leakage in (bl.pml, bl.pmc)]
    assert any(certified(bound) for bound in figures)
    leakage = (bl.pml, bl.pmc)[seed % 2](of)
    certified((leakage.sup, lambda: leakage.tail(0.125), lambda: leakage.quantile(0.5))[seed % 3]())


def test_an_infinite_quantile_has_no_rule():
    """Of noise of a bounded reach other secrets exclude each outcome: PMC is infinite."""
    r = np.random.default_rng(1)
    found = bl.pmc(bl.uniform(UNIT) * uniform_noise(r, UNIT)).quantile(0.9)
    assert found.lower == np.inf
    with pytest.raises(bl.NotYet, match="a quantile that is infinite"):
        found.certify()


@pytest.mark.parametrize(
    ("name", "every", "least"),
    [
        ("affairs_survey", 1, 3),
        ("doctor_visits", 1, 5),
        ("envelopes", 11, 30),
        ("party_1996", 1, 12),
        ("votes_1996", 1, 0),
    ],
)
def test_certificates_of_the_figures_of_an_example_are_verified(
    name, every, least, monkeypatch, capsys
):
    """Of the example that samples a posterior nothing is asked here."""
    pytest.importorskip("statsmodels")
    program = str(EXAMPLES / f"{name}.py")
    with bl.options():
        asked = figures_of(lambda: runpy.run_path(program, run_name="__main__"), monkeypatch)
    made = [certified(bound) for bound in asked[::every]]
    assert sum(one is not None for one in made) >= least
    capsys.readouterr()
