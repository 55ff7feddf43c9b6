"""What figures take of their budget, as work and in time: run with ``pytest -m benchmark -s``.

What is asked is more than the budget can give: a figure ends with it, and says so or is as good as
it asked for. Time is the processor's, so that what else the machine does does not count. How the
two compare is the calibration of `borel.settings.WORK`; see also `test_work`.
"""

import math
import time
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

import borel as bl
from borel import adversaries as adv
from borel import settings
from borel.guarantees import PML

pytestmark = pytest.mark.benchmark

BUDGET, MOST, APART = 3.0, 1.2, 3.0
REALS, UNIT, COUNTS = bl.Reals(), bl.Interval(0, 1), bl.Integers(0, None)
SQUARE, THREE = UNIT * UNIT, bl.Finite([0.0, 1.0, 3.0])
SPENT: list[str] = []


def laplace(y, x):
    return np.exp(-abs(y - x)) / 2


def tilted(y, x):
    return 1 + (x[0] * x[1] - 0.25) * (2 * y - 1)


def one_by_one(y, x):
    y, x = np.broadcast_arrays(np.asarray(y, float), np.asarray(x, float))
    return np.array(
        [math.exp(-abs(a - b)) / 2 for a, b in zip(y.ravel(), x.ravel(), strict=True)]
    ).reshape(y.shape)


def narrow():
    return bl.beta(alpha=1e4, beta=1e4) * bl.mechanisms.laplace(b=0.1)


def far_off():
    return bl.from_scipy(stats.truncnorm(-40, -39)) * bl.mechanisms.laplace(b=1.0)


def on_a_line(density, secret=UNIT):
    return bl.uniform(secret) * bl.Mechanism(density, secret=secret, outcome=REALS)


def two_releases():
    noise = [bl.mechanisms.laplace(b=b, secret=UNIT) for b in (1.0, 2.0)]
    return bl.uniform(UNIT) * (noise[0] & noise[1])


def singular_face():
    prior = bl.Measure(lambda x: 6 * x[0] * (1 - x[0]) / np.sqrt(4 * x[1]), on=SQUARE)
    return prior * bl.Mechanism(tilted, secret=SQUARE, outcome=UNIT)


def product():
    return on_a_line(lambda y, x: np.exp(-abs(y - x[0] * x[1])) / 2, SQUARE)


def counted():
    return bl.poisson(mu=3) * bl.Mechanism(laplace, secret=COUNTS, outcome=REALS)


def thinned():
    return bl.poisson(mu=3) * bl.Mechanism.from_scipy(
        lambda x: stats.binom(x, 0.5), secret=COUNTS, outcome=COUNTS
    )


def three():
    return bl.pmf([0.5, 0.3, 0.2], on=THREE) * bl.Mechanism(laplace, secret=THREE, outcome=REALS)


def around(prior_set):
    return prior_set * bl.Mechanism(laplace, secret=prior_set.on, outcome=REALS)


def table(n=200):
    rng = np.random.default_rng(1)
    kernel = bl.Mechanism.from_matrix(rng.dirichlet(np.ones(n), size=n))
    return bl.pmf(rng.dirichlet(np.ones(n))) * kernel


def large_ball():
    joint = table(60)
    centre = bl.uniform(joint.secret)
    return bl.priors.kl_ball(centre, 0.05, direction="to_centre") * joint.mechanism


def mixtures():
    return (
        bl.mixture([bl.normal(mu=0.0), bl.normal(mu=3.0)], weights=[0.5, 0.5]),
        bl.normal(mu=1.0, sigma=2.5),
    )


FIGURES = {
    "information over a large ball": (large_ball, bl.mutual_information),
    "PML of a narrow prior": (narrow, lambda j: bl.pml(j).sup()),
    "E PMC of a narrow prior": (narrow, lambda j: bl.pmc(j).mean()),
    "PML of a prior far off": (far_off, lambda j: bl.pml(j).sup()),
    "PML of two releases": (two_releases, lambda j: bl.pml(j).sup()),
    "a guarantee of two releases": (two_releases, lambda j: j.satisfies(PML(0.5))),
    "PML of a prior singular at a face": (singular_face, lambda j: bl.pml(j).sup()),
    "E PMC of noise on a product": (product, lambda j: bl.pmc(j).mean()),
    "information of noise on a product": (product, bl.mutual_information),
    "a witness for a product": (product, lambda j: adv.witness(j, 0.3, epsilon=0.1)),
    "what a witness for a product leaks": (
        lambda: adv.witness(product(), 0.3, epsilon=0.1),
        lambda found: found.leakage(),
    ),
    "E PML of Clayton's copula": (
        lambda: bl.uniform(UNIT) * bl.mechanisms.clayton(eta=0.1, theta=1),
        lambda j: bl.pml(j).mean(),
    ),
    "PML of a density with a loop": (lambda: on_a_line(one_by_one), lambda j: bl.pml(j).sup()),
    "information of it": (lambda: on_a_line(one_by_one), bl.mutual_information),
    "PMC of noise on counts": (counted, lambda j: bl.pmc(j).sup()),
    "E PML of thinned counts": (thinned, lambda j: bl.pml(j).mean()),
    "information of thinned counts": (thinned, bl.mutual_information),
    "LDP of counts": (thinned, bl.ldp),
    "an envelope on a line": (three, lambda j: bl.envelope(j)(F(1, 5))),
    "a binary envelope on a line": (three, lambda j: bl.binary_envelope(j)(F(1, 5))),
    "total variation on a line": (three, bl.total_variation),
    "an envelope of normal secrets": (
        lambda: bl.normal() * bl.mechanisms.laplace(b=1.0),
        lambda j: bl.envelope(j)(F(1, 5)),
    ),
    "an envelope of a table": (table, lambda j: bl.envelope(j)(F(1, 5))),
    "a divergence of mixtures": (mixtures, lambda pair: bl.renyi(*pair, 2.5)),
    "a hockey stick of mixtures": (mixtures, lambda pair: bl.hockey_stick(*pair, 0.1)),
    "PML over a chi-square ball": (
        lambda: around(bl.priors.chi_square_ball(bl.uniform(UNIT), 0.1, direction="to_centre")),
        lambda j: bl.pml(j).sup(),
    ),
    "PML over a family": (
        lambda: around(
            bl.priors.family(
                lambda t: bl.beta(alpha=t[0], beta=t[1]), bl.Interval(2, 3) * bl.Interval(2, 3)
            )
        ),
        lambda j: bl.pml(j).sup(),
    ),
    "PML over a divergence ball": (
        lambda: around(
            bl.priors.kl_ball(bl.pmf([0.5, 0.3, 0.2], on=THREE), 0.1, direction="to_centre")
        ),
        lambda j: bl.pml(j).sup(),
    ),
}


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Pay for imports and first calls apart."""
    bl.pml(three()).mean()
    bl.pml(thinned())(3)
    yield
    print("\n" + "\n".join(sorted(SPENT, reverse=True)))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_keeps_to_its_budget(name, monkeypatch):
    build, figure = FIGURES[name]
    monkeypatch.setattr(time, "thread_time", lambda: 0.0)  # nothing is stopped
    with bl.options(budget=BUDGET):
        joint = build()
        start, begun = time.process_time(), settings.now()
        found = figure(joint)
        seconds, work = time.process_time() - start, settings.now() - begun
    about = f"{work / BUDGET:5.2f} of the budget, {work / seconds:5.2f} work by second"
    SPENT.append(f"{about}: {name}: {found!r}"[:130])
    assert work <= MOST * BUDGET
    assert seconds < 0.1 or 1 / APART <= work / seconds <= APART
