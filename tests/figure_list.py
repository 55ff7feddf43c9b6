"""The list of `figures`: joints times figures, both with names, by public names only.

Every figure makes its own joint, so that none depends on what was asked before. Nothing here holds
a result, but truths that borel did not compute stand beside the figures that they belong to.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cache, partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special
import xarray as xr
from engine import certified_cases, truths
from engine.certified_cases import REALS, UNIT, kernel, logs, tilt
from scipy import stats

import borel as bl

ROOT = Path(__file__).resolve().parent.parent
adv, g, noise, sets = bl.adversaries, bl.guarantees, bl.mechanisms, bl.priors
COUNTS, HALF_LINE = bl.Integers(0, None), bl.Interval(0, None)


@dataclass(frozen=True)
class Figure:
    """What a line of a record is made of.

    Attributes
    ----------
    compute : callable
        Returns a Bound, a Verdict, a Dataset of Bounds, a mapping or a sequence of these, or what
        is recorded as text.
    truth : callable or None
        Returns the two floats around the truth; None if it has none for these arguments.
    """

    compute: Callable[[], Any]
    truth: Callable[[], Any] | None = None


FIGURES: dict[str, Figure] = {}
"""All figures by their names."""


def figure(name, compute, truth=None):
    assert name not in FIGURES, name
    FIGURES[name] = Figure(compute, truth)


def each(group, table, *arguments):
    """Add the figures of a table, each a function of what some functions return."""
    for name, function in table.items():
        figure(f"{group}: {name}", partial(_applied, function, arguments))


def _applied(function, arguments):
    return function(*(make() for make in arguments))


# -- the tables of figures ------------------------------------------------------------------------

LEAKAGES = {"pml": bl.pml, "pmc": bl.pmc}

LAW = {
    "sup": (),
    "tail": (0.25,),
    "cdf": (1.0,),
    "quantile": (0.5,),
    "mean": (),
    "exp_mean": (),
}
"""Figures of the law of a leakage, with their arguments."""

MEASURES = {
    "ldp": bl.ldp,
    "lip": bl.lip,
    "alip": bl.alip,
    "maximal leakage": bl.maximal_leakage,
    "maximal cost leakage": bl.maximal_cost_leakage,
    "mutual information": bl.mutual_information,
    "total variation": bl.total_variation,
    "chi-square": lambda j: bl.f_information(j, "chi_square"),
}

FEW_MEASURES = {name: MEASURES[name] for name in ("ldp", "maximal leakage", "mutual information")}

GUARANTEES = {
    "PML": lambda: g.PML(0.5),
    "PML, delta": lambda: g.PML(0.5, delta=0.1),
    "PMC": lambda: g.PMC(0.5),
    "EML": lambda: g.EML(0.5, delta=0.1),
    "average PML": lambda: g.AveragePML(0.5),
    "tail leakage": lambda: g.TailLeakage(0.5, delta=0.1),
    "LDP": lambda: g.LDP(1.0),
    "LIP": lambda: g.LIP(0.75),
    "ALIP": lambda: g.ALIP(0.75, 0.5),
    "LDI": lambda: g.LDI(1.0),
    "mutual information": lambda: g.MutualInformation(0.2),
    "total variation": lambda: g.TotalVariation(0.25),
    "chi-square": lambda: g.FInformation(0.25, "chi_square"),
    "max-information": lambda: g.MaxInformation(0.5, delta=0.1),
    "approximate DP": lambda: g.ApproximateDP(0.5, delta=0.1),
    "probabilistic DP": lambda: g.ProbabilisticDP(0.5, delta=0.1),
    "universal PML": lambda: g.UniversalPML(0.75),
    "universal PMC": lambda: g.UniversalPMC(0.75),
}

ENVELOPES = {
    "envelope": lambda j: bl.envelope(j)(F(1, 10)),
    "envelope, mass": lambda j: bl.envelope(j).delta(0.25),
    "envelope of PMC": lambda j: bl.envelope(j, of="pmc")(F(1, 4)),
    "envelope of PMC, mass": lambda j: bl.envelope(j, of="pmc").delta(0.25),
    "tail leakage": lambda j: bl.tail_leakage(j, F(1, 10)),
    "tail leakage of PMC": lambda j: bl.tail_leakage(j, F(1, 4), of="pmc"),
    "binary envelope": lambda j: bl.binary_envelope(j)(F(1, 10)),
    "psi_1": lambda j: bl.psi_1(j, 0.25),
    "psi_2": lambda j: bl.psi_2(j, 0.25),
    "privacy profile": lambda j: bl.privacy_profile(j.mechanism)(0.5),
    "privacy profile, beyond": lambda j: bl.privacy_profile(j.mechanism).beyond(0.5),
    "privacy profile, epsilon": lambda j: bl.privacy_profile(j.mechanism).epsilon(0.1),
    "event maximal leakage": lambda j: bl.event_maximal_leakage(j, delta=F(3, 4)),
}

OF_TABLES = {
    "guesswork leakage": bl.maximal_guesswork_leakage,
    "min-entropy leakage": bl.min_entropy_leakage,
    "realizable leakage": bl.maximal_realizable_leakage,
    "realizable cost": bl.maximal_realizable_cost,
    "max-information": bl.max_information,
    "max-information, delta": lambda j: bl.max_information(j, F(1, 4)),
    "ldi": bl.ldi,
    "leakage capacity": lambda j: bl.leakage_capacity(j.mechanism),
    "hellinger": lambda j: bl.f_information(j, "squared_hellinger"),
    "f of one's own": lambda j: bl.f_information(j, lambda t: (t - 1) ** 2),
    "quantile of 1": lambda j: bl.pml(j).quantile(1),
    "quantile, right": lambda j: bl.pml(j).quantile(F(1, 2), side="right"),
    "tail, closed": lambda j: bl.pml(j).tail(0.25, closed=True),
    "ratio of the supremum": lambda j: str(bl.pml(j).sup().exact_ratio),
    "envelope, quantiles": lambda j: bl.envelope_bounds.quantiles(j, F(1, 10)),
    "envelope, upper bound": lambda j: bl.envelope_bounds.upper_bound(j, F(1, 10)),
    "envelope, lower bound": lambda j: bl.envelope_bounds.lower_bound(j, F(1, 10)),
    "event": lambda j: bl.event_maximal_leakage(j, [j.outcome.labels[0]]),
    "posterior's remaining": lambda j: bl.dynamic_min_entropy_leakage(j, j.outcome.labels[0]),
    "guesswork at": lambda j: bl.pointwise_maximal_guesswork_leakage(j)(j.outcome.labels[0]),
}


def leakages(name, build, ys=(), law=LAW, truth=None):
    """Add PML and PMC of a joint, at outcomes and in law, with truths where there are some."""
    for kind, leakage in LEAKAGES.items():
        for y in ys:
            known = truth and partial(getattr(truth, kind), y)
            figure(f"{name}: {kind} at {y}", lambda b=build, f=leakage, y=y: f(b())(y), known)
        for what, arguments in law.items():
            known = getattr(truth, f"{kind}_{what}", None)
            shown = "".join(f" {a:g}" for a in arguments)
            figure(
                f"{name}: {kind} {what}{shown}",
                lambda b=build, f=leakage, w=what, a=arguments: getattr(f(b()), w)(*a),
                known and partial(known, *arguments),
            )


# -- joints with truths ---------------------------------------------------------------------------


def _on(truth):
    return bl.Interval(truth.c, truth.d)


def _student(t):
    return lambda y, x: (
        -(t.nu + 1) / 2 * np.log1p(((y - x) / t.scale) ** 2 / t.nu)
        + (
            math.lgamma((t.nu + 1) / 2)
            - math.lgamma(t.nu / 2)
            - math.log(t.nu * math.pi) / 2
            - math.log(t.scale)
        )
    )


def _cauchy(t):
    return lambda y, x: 1 / (np.pi * t.scale * (1 + ((y - x) / t.scale) ** 2))


def _exponential(t):
    return lambda y, x: np.where(y > x, t.rate * np.exp(-t.rate * (y - x)), 0.0)


def _binomial(n):
    return logs(certified_cases.log_binomial(n), outcome=bl.Finite(n + 1))


JOINT_OF = {
    truths.LaplaceUniform: lambda t: bl.uniform(_on(t)) * noise.laplace(b=t.b, secret=_on(t)),
    truths.GaussianUniform: lambda t: (
        bl.uniform(_on(t)) * noise.gaussian(sigma=t.sigma, secret=_on(t))
    ),
    truths.StudentUniform: lambda t: bl.uniform(_on(t)) * logs(_student(t), _on(t)),
    truths.CauchyUniform: lambda t: bl.uniform(_on(t)) * kernel(_cauchy(t), _on(t)),
    truths.GaussianNormal: lambda t: bl.normal(mu=t.m, sigma=t.s) * noise.gaussian(sigma=t.sigma),
    truths.ExponentialUniform: lambda t: (
        bl.uniform(UNIT) * kernel(_exponential(t), outcome=HALF_LINE)
    ),
    truths.BetaBinomial: lambda t: bl.beta(alpha=t.alpha, beta=t.beta) * _binomial(t.n),
    truths.UniformBinomial: lambda t: (
        bl.uniform(bl.Interval(t.lower, t.upper))
        * logs(certified_cases.log_binomial(t.n), bl.Interval(t.lower, t.upper), bl.Finite(t.n + 1))
    ),
    truths.GaussianGamma: lambda t: (
        bl.gamma(alpha=t.shape, beta=t.rate) * logs(certified_cases.log_gauss(t.sigma), HALF_LINE)
    ),
    truths.Countable: lambda _: certified_cases.reference(noise.countable()),
    truths.Clayton: lambda t: certified_cases.reference(noise.clayton(eta=t.eta, theta=t.theta)),
}

TRUE = (
    (truths.LaplaceUniform(0.5, -1, 1), (0.0, -1.0)),
    (truths.LaplaceUniform(0.1, 0.25, 1.1), (0.3, -60.0)),
    (truths.LaplaceUniform(7.0, 0, 1), (0.9,)),
    (truths.GaussianUniform(0.3, -0.7, 0.7), (0.0, -9.0)),
    (truths.GaussianUniform(2.5, 0.1, 3.0), (1.7, 30.0)),
    (truths.StudentUniform(0.7, 0.3, -1, 1), (0.1, 60.0)),
    (truths.StudentUniform(25.5, 0.2, 0, 1), (0.1,)),
    (truths.CauchyUniform(0.1, -1, 1), (0.1, 1.7)),
    (truths.GaussianNormal(1, 0, 1), (0.0, 60.0)),
    (truths.GaussianNormal(0.3, 0.1, 2.0), (0.3,)),
    (truths.ExponentialUniform(0.5), (0.3, 1.5)),
    (truths.BetaBinomial(5, 0.5, 0.5), (0, 3)),
    (truths.BetaBinomial(7, 0.75, 6), (1,)),
    (truths.UniformBinomial(9, 0.1, 0.9), (0, 4)),
    (truths.UniformBinomial(4, 0.3, 0.35), (2,)),
    (truths.GaussianGamma(1.5, 2, 1.0), (-1.0, 4.0)),
    (truths.Countable(), (0, 1, 20)),
    (truths.Clayton(3.5, 0.125), (0.05, 0.97)),
)


def _known(truth):
    """Return the figures of the law of which the truth is known, and the supremum."""
    return {what: a for what, a in LAW.items() if what == "sup" or hasattr(truth, f"pml_{what}")}


for name, case in certified_cases.CASES.items():
    several = name.startswith("mean of")
    leakages(name, case.build, case.ys[1:3], {} if several else _known(case.truth), case.truth)
for truth, ys in TRUE:
    leakages(str(truth), partial(JOINT_OF[type(truth)], truth), ys, _known(truth), truth)


for name, make in {
    "Clayton": lambda: certified_cases.reference(noise.clayton(eta=0.125, theta=2.0)),
    "countable": lambda: certified_cases.reference(noise.countable()),
    "Laplace": lambda: bl.uniform(UNIT) * noise.laplace(b=0.5, secret=UNIT),
    "Gauss": lambda: bl.normal(mu=0.5, sigma=2.0) * noise.gaussian(sigma=1.0),
    "randomised response": lambda: (
        bl.pmf([F(1, 2), F(1, 3), F(1, 6)]) * noise.randomized_response(k=3, ratio=3)
    ),
}.items():
    for kind in LEAKAGES:

        def alone(make=make, leakage=LEAKAGES[kind]):
            with bl.options(closed_forms=False):
                return leakage(make()).sup()

        figure(f"{name}, no closed forms: {kind} sup", alone)


# -- tables ---------------------------------------------------------------------------------------

EXAMPLE_2 = [
    [0, 0, F(1, 2), F(1, 2)],
    [0, 0, F(1, 2), F(1, 2)],
    [0, F(1, 5), F(2, 5), F(2, 5)],
    [F(1, 5), 0, F(2, 5), F(2, 5)],
]


def labelled():
    """Return a joint of DataArrays, whose dimensions say what is whose."""
    rows = [[0.5, 0.25], [0.25, 0.25], [0.25, 0.5]]
    coords = {"shown": ["l", "m", "h"], "held": ["no", "yes"]}
    matrix = xr.DataArray(rows, dims=("shown", "held"), coords=coords)
    prior = xr.DataArray([0.25, 0.75], dims="held", coords={"held": ["no", "yes"]})
    return bl.pmf(prior) * bl.Mechanism.from_matrix(matrix, secret="held", outcome="shown")


def random_table(seed=5):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(6), size=5)
    return bl.pmf(rng.dirichlet(np.ones(5))) * bl.Mechanism.from_matrix(rows)


TABLES = {
    "Fractions": (lambda: bl.pmf([F(1, 4)] * 4) * bl.Mechanism.from_matrix(EXAMPLE_2), (0, 3)),
    "floats": (random_table, (0, 5)),
    "DataArray": (labelled, ("l", "h")),
    "randomised response": (
        lambda: (
            bl.pmf([0.6, 0.3, 0.1], on=bl.Finite(["none", "some", "many"]))
            * noise.randomized_response(secret=["none", "some", "many"], epsilon=1.5)
        ),
        ("many",),
    ),
    "post-processed": (
        lambda: (
            random_table().prior * random_table().mechanism.push(lambda y: y % 2, outcome=[0, 1])
        ),
        (1,),
    ),
    "two releases": (
        lambda: (
            bl.pmf([F(1, 3), F(2, 3)])
            * (noise.randomized_response(k=2, ratio=3) & noise.randomized_response(k=2, ratio=2))
        ),
        ((0, 1),),
    ),
    "extremal": (
        lambda: (
            bl.pmf([F(1, 6), F(1, 3), F(1, 2)])
            * noise.pml_extremal(prior=bl.pmf([F(1, 6), F(1, 3), F(1, 2)]), ratio=F(11, 10))
        ),
        (),
    ),
}
PLAIN = ("Fractions", "floats", "DataArray", "randomised response")

for name, (build, ys) in TABLES.items():
    leakages(name, build, ys)
    each(name, MEASURES, build)
    if name in PLAIN:
        each(name, ENVELOPES | OF_TABLES, build)
    if name in PLAIN[:2]:
        each(
            f"{name}, satisfies",
            {k: lambda j, make=make: j.satisfies(make()) for k, make in GUARANTEES.items()},
            build,
        )


# -- countable, continuous and mixed alphabets, products ------------------------------------------


def counts_of(log_mass, prior):
    return prior * logs(log_mass, secret=prior.on, outcome=COUNTS)


def odd(prior):
    """Return a joint with an atom inside the outcomes: of mass 1/8 + x/2, and f = 7/8 - x/2."""
    return prior * bl.Mechanism(
        lambda y, x: 0.875 - 0.5 * x + 0 * y,
        secret=prior.on,
        outcome=bl.Mixed(UNIT, atoms=[0.25]),
        masses={0.25: lambda x: 0.125 + 0.5 * x},
    )


@dataclass(frozen=True)
class Odd(truths.Case):
    """The truths of `odd` under a prior of mean 1/2 whose secrets reach from 0 to 1."""

    def _at(self, y, atom, density):
        return truths.ball(atom if float(y) == 0.25 else density)

    def _density(self, y):
        return self._at(y, F(3, 8), F(5, 8))

    def _largest(self, y):
        return self._at(y, F(5, 8), F(7, 8))

    def _smallest(self, y):
        return self._at(y, F(1, 8), F(3, 8))

    @truths.enclosed
    def pml_sup(self):
        return truths.ball(F(5, 3)).log()

    @truths.enclosed
    def pmc_sup(self):
        return truths.ball(3).log()

    @truths.enclosed
    def pml_mean(self):
        logs_of = [truths.ball(ratio).log() for ratio in (F(5, 3), F(7, 5))]
        return (3 * logs_of[0] + 5 * logs_of[1]) / 8


def _poisson(y, x):
    return y * np.log(x) - x - scipy.special.gammaln(y + 1)


def of_several(query, width=1.0, log_noise=None):
    secret = UNIT**2
    if log_noise is None:
        log_noise = certified_cases.log_gauss(width)
    return bl.uniform(secret) * logs(lambda y, x: log_noise(y, query(*x)), secret)


def log_laplace(y, v):
    return -np.abs(y - v) - np.log(2.0)


BIT = bl.pmf([0.5, 0.5], on=bl.Finite([0.0, 1.0]))
THREE = bl.pmf([0.25, 0.25, 0.5], on=bl.Finite([0.0, 1.0, 3.0]))

FINITE_SECRETS = {
    "Laplace on a bit": (lambda: BIT * noise.laplace(b=1.0), (0.5, 9.0)),
    "Gauss on three": (lambda: THREE * noise.gaussian(sigma=1.0), (0.5, 9.0)),
    "clipped Gauss on a bit": (
        lambda: BIT * noise.gaussian(sigma=0.5).clip(0, 1),
        (0.0, 0.25),
    ),
    "atom, finite": (lambda: odd(BIT), (0.25, 0.5)),
    "polynomial": (certified_cases.Polynomial(0.5).build, (0.25,)),
    "Cauchy on three": (
        lambda: THREE * kernel(lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)), secret=THREE.on),
        (0.5,),
    ),
    "Poisson counts on three": (
        lambda: counts_of(_poisson, bl.pmf([0.25, 0.25, 0.5], on=bl.Finite([0.5, 1.0, 3.0]))),
        (0, 7),
    ),
}
for name, (build, ys) in FINITE_SECRETS.items():
    leakages(name, build, ys, truth=Odd() if name == "atom, finite" else None)
    each(name, MEASURES, build)
    if name not in ("polynomial", "atom, finite", "Cauchy on three"):
        each(name, ENVELOPES, build)
each(
    "Laplace on a bit",
    {
        "quantile, right": lambda j: bl.pml(j).quantile(0.5, side="right"),
        "tail, closed": lambda j: bl.pml(j).tail(0.25, closed=True),
    },
    FINITE_SECRETS["Laplace on a bit"][0],
)
each(
    "Laplace on a bit, satisfies",
    {k: lambda j, make=make: j.satisfies(make()) for k, make in GUARANTEES.items()},
    FINITE_SECRETS["Laplace on a bit"][0],
)

OTHERS = {
    "atom, continuous": (lambda: odd(bl.uniform(UNIT)), (0.25, 0.5)),
    "clipped Laplace": (lambda: bl.uniform(UNIT) * noise.laplace(b=0.5).clip(0, 1), (0.0, 0.25)),
    "tilt": (lambda: bl.uniform(UNIT) * kernel(tilt, outcome=UNIT), (0.3,)),
    "opaque": (
        lambda: (
            bl.uniform(UNIT)
            * kernel(lambda y, x: np.asarray(stats.norm.pdf(np.asarray(y), np.asarray(x), 1.0)))
        ),
        (0.3,),
    ),
    "logistic of a normal": (
        lambda: (
            bl.normal(mu=0, sigma=1)
            * kernel(lambda y, x: np.exp(-abs(y - np.tanh(x))) / 2, secret=REALS)
        ),
        (0.3,),
    ),
    "bounded noise": (
        lambda: (
            bl.uniform(UNIT)
            * kernel(lambda y, x: np.where(abs(y - x) <= 1, 0.5, 0.0), outcome=bl.Interval(-1, 2))
        ),
        (0.5, 1.75),
    ),
    "mixture prior": (
        lambda: (
            bl.mixture([bl.beta(alpha=2, beta=5), bl.beta(alpha=5, beta=2)], weights=[0.5, 0.5])
            * noise.laplace(b=1.0, secret=UNIT)
        ),
        (0.3,),
    ),
    "prior of -log x": (
        lambda: bl.Measure(lambda x: -np.log(x), on=UNIT) * noise.laplace(b=1.0, secret=UNIT),
        (0.3,),
    ),
    "restricted prior": (
        lambda: (
            bl.beta(alpha=2, beta=5).restrict(lambda x: (x >= 0.125) & (x <= 0.5))
            * noise.laplace(b=1.0, secret=UNIT)
        ),
        (0.3,),
    ),
    "Laplace on Poisson": (
        lambda: bl.poisson(mu=2.0) * noise.laplace(b=1.0, secret=COUNTS),
        (0.5,),
    ),
    "Gauss on geometric": (
        lambda: bl.geometric(p=0.5) * noise.gaussian(sigma=1.0, secret=bl.geometric(p=0.5).on),
        (0.5,),
    ),
    "Poisson of a part": (
        lambda: counts_of(_poisson, bl.uniform(bl.Interval(0.5, 2.0))),
        (0, 7),
    ),
    "geometric noise on counts": (
        lambda: (
            bl.poisson(mu=2.0)
            * bl.Mechanism(
                lambda y, x: 0.5 ** np.abs(y - x) / 3, secret=COUNTS, outcome=bl.Integers()
            )
        ),
        (0, 7),
    ),
    "toss": (
        lambda: (
            bl.uniform(UNIT)
            * kernel(lambda y, x: np.where(y == 0, 1 - x / 2, x / 2), outcome=bl.Finite(2))
        ),
        (0, 1),
    ),
    "sum of two": (lambda: of_several(lambda a, b: a + b), (0.5,)),
    "Laplace on a sum": (lambda: of_several(lambda a, b: a + b, log_noise=log_laplace), (0.5,)),
    "largest of two": (lambda: of_several(np.maximum, log_noise=log_laplace), (0.5,)),
    "product of two": (lambda: of_several(lambda a, b: a * b), (0.5,)),
    "distance of two": (lambda: of_several(lambda a, b: abs(a - b)), (0.5,)),
    "hypotenuse of two": (lambda: of_several(lambda a, b: np.sqrt(a**2 + b**2 + 0.25)), (0.5,)),
    "correlated normals": (
        lambda: (
            bl.Measure(
                lambda x: (
                    -(x[0] ** 2 - x[0] * x[1] + x[1] ** 2) / 1.5 - np.log(2 * np.pi * np.sqrt(0.75))
                ),
                on=REALS**2,
                log=True,
            )
            * logs(lambda y, x: certified_cases.log_gauss(1.0)(y, (x[0] + x[1]) / 2), REALS**2)
        ),
        (0.5,),
    ),
    "two outcomes": (
        lambda: (
            bl.uniform(UNIT)
            * (noise.laplace(b=1.0, secret=UNIT) & noise.laplace(b=1.0, secret=UNIT))
        ),
        ((0.25, 0.5),),
    ),
    "mixed secrets": (
        lambda: (
            bl.Measure(lambda x: 0.75 + 0 * x, on=bl.Mixed(UNIT, atoms=[0.5]), masses={0.5: 0.25})
            * noise.laplace(b=1.0, secret=bl.Mixed(UNIT, atoms=[0.5]))
        ),
        (0.5,),
    ),
}
for name, (build, ys) in OTHERS.items():
    leakages(name, build, ys, truth=Odd() if name == "atom, continuous" else None)
    each(name, FEW_MEASURES, build)

each(
    "continuous secret",
    {name: compute for name, compute in ENVELOPES.items() if "profile" not in name},
    lambda: bl.beta(alpha=2, beta=5) * noise.laplace(b=1.0, secret=UNIT),
)

for name, build in {
    "Clayton": lambda: certified_cases.reference(noise.clayton(eta=0.1, theta=1.0)),
    "tilt": lambda: bl.uniform(UNIT) * kernel(tilt, outcome=UNIT),
    "Fractions": TABLES["Fractions"][0],
    "countable": lambda: certified_cases.reference(noise.countable()),
}.items():
    x, y = {"Fractions": (3, 0), "countable": (2, 2)}.get(name, (0.25, 0.75))
    figure(
        f"{name}: information density",
        lambda build=build, x=x, y=y: bl.information_density(build())(x, y),
    )
for name in ("Fractions", "floats"):
    build = TABLES[name][0]
    figure(
        f"{name}: remaining prior",
        lambda b=build: " ".join(f"{float(v):.8g}" for v in b().posterior(0).probabilities),
    )
    figure(
        f"{name}: given half",
        lambda b=build: [
            ell.sup()
            for ell in (
                bl.pml(b(), given=bl.Mechanism.from_matrix([[F(1, 2)] * 2] * b().secret.size))[z]
                for z in (0, 1)
            )
        ],
    )
figure(
    "family of Laplace",
    lambda: bl.pml(
        bl.uniform(UNIT) * noise.laplace(b=xr.DataArray([0.5, 1.0, 2.0], dims="b"))
    ).sup(),
)
figure(
    "curve of Laplace",
    lambda: bl.pml(bl.beta(alpha=2, beta=5) * noise.laplace(b=1.0))(np.linspace(-1, 2, 7)),
)


# -- sets of priors -------------------------------------------------------------------------------

CENTRE = [F(3, 5), F(3, 10), F(1, 10)]


def centre():
    return bl.pmf(CENTRE)


SETS = {
    "full support": lambda: sets.full_support(bl.Finite(3)),
    "tv ball": lambda: sets.tv_ball(centre(), F(1, 20)),
    "l1 ball": lambda: sets.l1_ball(centre(), F(1, 20)),
    "kl ball, to": lambda: sets.kl_ball(centre(), 0.05, direction="to_centre"),
    "kl ball, from": lambda: sets.kl_ball(centre(), 0.05, direction="from_centre"),
    "chi-square ball, to": lambda: sets.chi_square_ball(centre(), 0.05, direction="to_centre"),
    "chi-square ball, from": lambda: sets.chi_square_ball(centre(), 0.05, direction="from_centre"),
    "contamination": lambda: sets.contamination(centre(), F(1, 10)),
    "interior": lambda: sets.interior(F(1, 10), bl.Finite(3)),
    "box": lambda: sets.box([0.5, 0.25, 0.0], [0.75, 0.5, 0.25]),
    "polytope": lambda: sets.polytope([[-1, 1, 0], [0, -1, 1]], [0, 0], on=bl.Finite(3)),
    "moment": lambda: sets.moment(lambda x: x, lower=0.25, upper=0.5, on=bl.Finite(3)),
    "hull": lambda: sets.hull([centre(), bl.pmf([F(1, 3)] * 3)]),
    "family": lambda: sets.family(
        lambda p: bl.pmf([(1 - p) ** 2, 2 * p * (1 - p), p**2]), bl.Interval(0.25, 0.5)
    ),
    "union": lambda: SETS["tv ball"]() | SETS["hull"](),
    "intersection": lambda: SETS["tv ball"]() & SETS["polytope"](),
    "counts": lambda: sets.from_counts([423, 102, 75], confidence=0.95),
    "counts, box": lambda: sets.from_counts([423, 102, 75], confidence=0.95, method="box"),
}
OVER_SETS = {
    "pml at 1": lambda s: bl.pml(s * _answer())(1),
    "pml sup": lambda s: bl.pml(s * _answer()).sup(),
    "pmc sup": lambda s: bl.pmc(s * _answer()).sup(),
    "lip": lambda s: bl.lip(s * _answer()),
    "mutual information": lambda s: bl.mutual_information(s * _answer()),
    "satisfies": lambda s: (s * _answer()).satisfies(g.PML(1.25)),
    "least mean": lambda s: s.lower([0.0, 1.0, 3.0]),
    "largest mean": lambda s: s.upper([0.0, 1.0, 3.0]),
    "noise, pml at 0.5": lambda s: bl.pml(s * _noisy_answer())(0.5),
    "noise, pml sup": lambda s: bl.pml(s * _noisy_answer()).sup(),
    "noise, pmc sup": lambda s: bl.pmc(s * _noisy_answer()).sup(),
}


def _answer():
    return noise.randomized_response(k=3, epsilon=1.5)


def _noisy_answer():
    return noise.laplace(b=1.0, secret=bl.Finite(3))


for name, make in SETS.items():
    each(f"over {name}", OVER_SETS, make)

DENSITY_SETS = {
    "full support": lambda: sets.full_support(UNIT),
    "tv ball": lambda: sets.tv_ball(bl.beta(alpha=2, beta=5), 0.1),
    "kl ball": lambda: sets.kl_ball(bl.uniform(UNIT), 0.1, direction="to_centre"),
    "chi-square ball": lambda: sets.chi_square_ball(bl.uniform(UNIT), 0.1, direction="to_centre"),
    "contamination": lambda: sets.contamination(bl.beta(alpha=2, beta=5), 0.1),
    "hull": lambda: sets.hull([bl.beta(alpha=2, beta=5), bl.uniform(UNIT)]),
    "band": lambda: sets.box(lambda x: 0.5 + 0 * x, lambda x: 1.5 + 0 * x, on=UNIT),
    "moment": lambda: sets.moment(lambda x: x, lower=0.4, upper=0.5, on=UNIT),
    "family": lambda: sets.family(lambda a: bl.beta(alpha=a, beta=2.0), bl.Interval(1.5, 3.0)),
}
OVER_DENSITIES = {
    "pml at 0.5": lambda s: bl.pml(s * noise.laplace(b=1.0, secret=UNIT))(0.5),
    "pmc at 0.5": lambda s: bl.pmc(s * noise.laplace(b=1.0, secret=UNIT))(0.5),
    "pml sup": lambda s: bl.pml(s * noise.laplace(b=1.0, secret=UNIT)).sup(),
    "pmc sup": lambda s: bl.pmc(s * noise.laplace(b=1.0, secret=UNIT)).sup(),
    "ldp": lambda s: bl.ldp(s * noise.laplace(b=1.0, secret=UNIT)),
    "least mean": lambda s: s.lower(lambda x: x),
}
for name, make in DENSITY_SETS.items():
    each(f"over densities, {name}", OVER_DENSITIES, make)


# -- posteriors over priors -----------------------------------------------------------------------


def learnt(draws=400):
    data = bl.models.dirichlet_posterior(
        [423, 102, 75], categories=["none", "some", "many"], draws=draws, random_seed=7
    )
    return sets.from_posterior(data, lambda draw: bl.pmf(draw["p"]))


def released():
    return noise.randomized_response(secret=["none", "some", "many"], epsilon=1.5)


def few(**variables):
    """Return a small posterior of given draws: two chains of each variable, declared exact."""
    data = {name: (("chain", "draw"), np.reshape(v, (2, -1))) for name, v in variables.items()}
    return xr.DataTree.from_dict({"posterior": xr.Dataset(data, attrs={"borel_draws": "exact"})})


RANDOM = {
    "draws": lambda e: e.draws.isel(chain=0, draw=slice(0, 3)),
    "quantile": lambda e: e.quantile(0.95),
    "cdf": lambda e: e.cdf(1.1),
    "mean": lambda e: e.mean(),
    "smallest": lambda e: e.smallest(0.1),
    "eti": lambda e: e.eti(0.9),
    "hdi": lambda e: e.hdi(0.9),
    "largest draw": lambda e: e.largest_draw(),
}
for kind in LEAKAGES:
    each(f"learnt: {kind} sup", RANDOM, lambda f=LEAKAGES[kind]: f(learnt() * released()).sup())
each(
    "learnt",
    {
        **{
            f"{n}, quantile": lambda j, f=f: f(j).quantile(0.9)
            for n, f in MEASURES.items()
            if n != "alip"
        },
        "at an outcome": lambda j: bl.pml(j)("many").quantile(0.9),
        "law, tail": lambda j: bl.pml(j).tail(1.1),
        "law, quantile": lambda j: bl.pml(j).quantile(0.9),
        "envelope": lambda j: bl.envelope(j)(F(1, 10)).quantile(0.9),
        "satisfies PML": lambda j: j.satisfies(g.PML(1.2)).at(confidence=0.95),
        "satisfies LIP": lambda j: j.satisfies(g.LIP(1.3)).at(confidence=0.95),
    },
    lambda: learnt() * released(),
)
each(
    "learnt",
    {
        **{
            f"region, {kind}": lambda p, kind=kind: bl.pml(
                p.region(kind, prob=0.9) * released()
            ).sup()
            for kind in ("box", "ellipsoid")
        },
        "mean prior": lambda p: bl.pml(p.mean_prior() * released()).sup(),
    },
    learnt,
)
figure(
    "learnt, beta: pml",
    lambda: (
        bl.pml(
            sets.from_posterior(
                bl.models.beta_posterior(30, 100, draws=400, random_seed=7),
                lambda draw: bl.models.proportion_prior(draw),
            )
            * noise.randomized_response(secret=["no", "yes"], epsilon=1.0)
        )
        .sup()
        .quantile(0.9)
    ),
)
for kind, leakage in LEAKAGES.items():
    figure(
        f"learnt, normal: {kind}",
        lambda f=leakage: (
            f(
                sets.from_posterior(
                    few(mu=[0.0, 0.25, 0.5, 0.75], sigma=[1.0, 1.25, 0.75, 1.5]),
                    lambda draw: bl.normal(mu=draw["mu"], sigma=draw["sigma"]),
                )
                * noise.laplace(b=1.0)
            )(0.5).draws
        ),
    )
figure(
    "learnt, Poisson: pml",
    lambda: (
        bl.pml(
            sets.from_posterior(
                few(mu=[1.0, 1.5, 2.0, 2.5]), lambda draw: bl.models.poisson_prior(draw)
            )
            * noise.countable()
        )(1).draws
    ),
)


# -- databases ------------------------------------------------------------------------------------


def about_one(prior, n, **of):
    return bl.entry(bl.iid(prior, n) * noise.counting_query(n=n, **of))


VOTE = bl.pmf([F(3, 5), F(2, 5)])
DATABASES = {
    "votes, one prior": lambda: about_one(VOTE, 944, b=1 / 944, of="fraction"),
    "votes, a set": lambda: about_one(
        sets.bernoulli(F(3, 10), F(7, 10)), 944, b=1 / 944, of="fraction"
    ),
    "five entries": lambda: about_one(bl.pmf([0.8, 0.2]), 5, b=0.25, of="fraction"),
    "a million": lambda: about_one(bl.pmf([0.75, 0.25]), 10**6, b=1.0, of="count"),
    "table of two": lambda: bl.entry(
        bl.iid(VOTE, 2)
        * bl.Mechanism.from_matrix(
            [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], [F(1, 4), F(3, 4)], [F(3, 4), F(1, 4)]],
            secret=bl.Finite(2) ** 2,
        )
    ),
}
for name, build in DATABASES.items():
    whole = name not in (
        "votes, a set",
        "a million",
    )  # of these others are not there, or take minutes
    leakages(name, build, (0,) if "table" in name else (0.25,), LAW if whole else {"sup": ()})
    each(
        name,
        {n: MEASURES[n] for n in ("ldp", "lip", "mutual information")[: 3 if whole else 2]},
        build,
    )
for name, make in {
    "count": lambda: noise.counting_query(n=10, b=2.0, of="count"),
    "parity": lambda: bl.Mechanism.from_matrix(
        [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75], [0.75, 0.25]], secret=bl.Finite(2) ** 2
    ),
}.items():
    each(
        name,
        {
            "differential privacy": bl.differential_privacy,
            "free-lunch privacy": bl.free_lunch_privacy,
        },
        make,
    )


# -- divergences of two measures ------------------------------------------------------------------

PAIRS = {
    "Fractions": lambda: (bl.pmf([F(3, 4), F(1, 4)]), bl.pmf([F(1, 2), F(1, 2)])),
    "floats": lambda: (bl.pmf([0.7, 0.2, 0.1]), bl.pmf([0.2, 0.5, 0.3])),
    "normals": lambda: (bl.normal(mu=1), bl.normal()),
    "normals of two widths": lambda: (bl.normal(sigma=1.0), bl.normal(sigma=1.5)),
    "Laplace": lambda: (bl.laplace(mu=1.0, b=1.0), bl.laplace(mu=0.0, b=1.0)),
    "Betas": lambda: (bl.beta(alpha=2, beta=5), bl.beta(alpha=5, beta=2)),
    "Poisson": lambda: (bl.poisson(mu=2.0), bl.poisson(mu=3.0)),
    "Gamma": lambda: (bl.gamma(alpha=3, beta=2), bl.gamma(alpha=2, beta=1)),
    "formulas": lambda: (
        bl.Measure(lambda x: 2 * x, on=UNIT),
        bl.Measure(lambda x: 6 * x * (1 - x), on=UNIT),
    ),
}
DIVERGENCES = {
    **{f"renyi {o:g}": lambda p, o=o: bl.renyi(*p, o) for o in (0.5, 1, 2, math.inf)},
    "max": lambda p: bl.max_divergence(*p),
    "max, delta": lambda p: bl.max_divergence(*p, F(1, 10)),
    "kl": lambda p: bl.f_divergence(*p, "kl"),
    "total variation": lambda p: bl.f_divergence(*p, "total_variation"),
    "hockey-stick": lambda p: bl.hockey_stick(*p, 0.5),
    "hockey-stick, ratio": lambda p: bl.hockey_stick(*p, ratio=F(3, 2)),
}
for name, make in PAIRS.items():
    each(f"divergence of {name}", DIVERGENCES, make)

PROFILES = {
    "Gauss": lambda: noise.gaussian(sigma=1.0, secret=bl.Finite([0.0, 1.0])),
    "Laplace": lambda: noise.laplace(b=1.0, secret=UNIT),
    "response": lambda: noise.randomized_response(k=4, ratio=3),
}
for name, make in PROFILES.items():
    each(
        f"profile of {name}",
        {
            "delta": lambda m: bl.privacy_profile(m)(0.5),
            "delta at 0": lambda m: bl.privacy_profile(m)(0.0),
            "beyond": lambda m: bl.privacy_profile(m).beyond(0.5),
            "epsilon": lambda m: bl.privacy_profile(m).epsilon(0.01),
            "capacity": bl.leakage_capacity,
        },
        make,
    )


# -- adversaries ----------------------------------------------------------------------------------


def adverse():
    rows = [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], [F(1, 2), F(1, 2)]]
    return bl.pmf([F(1, 2), F(1, 3), F(1, 6)]) * bl.Mechanism.from_matrix(rows)


GAINS = {
    "identity": lambda: adv.gain.identity(),
    "two tries": lambda: adv.gain.k_tries(2),
    "membership": lambda: adv.gain.membership([0, 2]),
    "metric": lambda: adv.gain.metric(),
    "table": lambda: adv.gain.table([[1, 0], [0, 3], [2, 1]]),
    "reciprocal": lambda: adv.gain.reciprocal(adverse().prior),
}
COSTS = {
    "zero-one": lambda: adv.cost.zero_one(),
    "distance": lambda: adv.cost.distance(2),
    "alpha-loss": lambda: adv.cost.alpha_loss(2),
    "table": lambda: adv.cost.table([[1, 0], [0, 3], [2, 1]]),
    "reciprocal": lambda: adv.cost.reciprocal(adverse().prior),
}
for name, make in GAINS.items():
    each(
        f"gain, {name}",
        {
            "prior": lambda t: adv.prior_vulnerability(adverse(), t),
            "posterior": lambda t: adv.posterior_vulnerability(adverse(), t),
            "leakage at 0": lambda t: adv.g_leakage(adverse(), t, 0),
            "leakage": lambda t: adv.g_leakage(adverse(), t),
        },
        make,
    )
for name, make in COSTS.items():
    each(
        f"cost, {name}",
        {
            "prior": lambda t: adv.prior_cost(adverse(), t),
            "posterior": lambda t: adv.posterior_cost(adverse(), t),
            "leakage at 0": lambda t: adv.cost_leakage(adverse(), t, 0),
            "leakage": lambda t: adv.cost_leakage(adverse(), t),
        },
        make,
    )
for kind in LEAKAGES:
    figure(
        f"adversaries: function leakage, {kind}",
        lambda kind=kind: adv.function_leakage(
            adverse(), bl.Mechanism.from_matrix([[1, 0], [0, 1], [0, 1]]), 0, of=kind
        ),
    )
    for name, build, y in (
        ("finite", adverse, 0),
        ("Laplace", lambda: bl.uniform(UNIT) * noise.laplace(b=1.0, secret=UNIT), 0.25),
    ):
        each(
            f"adversaries: witness of {kind}, {name}",
            {
                "leakage": lambda w: w.leakage(),
                "verdict": lambda w: w.verify(),
            },
            lambda build=build, y=y, kind=kind: (
                adv.witness(build(), y, of=kind)
                if build is adverse
                else adv.witness(build(), y, of=kind, epsilon=0.25)
            ),
        )


# -- what follows from guarantees ------------------------------------------------------------------


def followed(found):
    """Return what follows, as text: one kind after another."""
    return {str(i): "; ".join(map(str, front)) for i, front in enumerate(found.values())}


IMPLIED = {
    "LDP": lambda: g.implied(g.LDP(ratio=3), p_min=F(1, 4), alphabet=4),
    "PML": lambda: g.implied(g.PML(0.5), p_min=F(1, 8), alphabet=3),
    "PMC": lambda: g.implied(g.PMC(0.7), alphabet="countable"),
    "LIP": lambda: g.implied(g.LIP(0.5)),
    "composed": lambda: g.compose(g.PML(0.5), g.PML(0.25), second_under="posterior"),
    "composed LDP": lambda: g.compose(g.LDP(0.5), g.LDP(0.25), second_under="prior"),
    "post-processed": lambda: g.post_processed(g.PML(0.5, delta=F(1, 100))),
    "pre-processed": lambda: g.pre_processed(g.PML(0.5, delta=0.1)),
}
for name, make in IMPLIED.items():
    figure(f"guarantees, {name}", lambda make=make: followed(make()))
figure(
    "guarantees, reduced",
    lambda: str(
        g.reduced(
            bl.Mechanism.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.375, 0.375]])
        ).matrix.tolist()
    ),
)
figure("envelope bounds: loss tail", lambda: bl.envelope_bounds.loss_tail_bound(F(1, 100), ratio=2))
figure("theorems", lambda: str(len(g.theorems())))


# -- README, examples and claims ------------------------------------------------------------------


def readme_noise():
    density = bl.Mechanism(lambda y, x: np.exp(-abs(y - x)) / 2, secret=UNIT, outcome=REALS)
    return bl.pml(bl.beta(alpha=2, beta=5) * density)


each(
    "README",
    {
        "at an outcome": lambda ell: ell(0.3),
        "supremum": lambda ell: ell.sup() <= 1.3,
    },
    readme_noise,
)
figure(
    "README: cost leakage", lambda: bl.maximal_cost_leakage(bl.uniform(UNIT) * noise.laplace(b=1.0))
)
figure(
    "README: event",
    lambda: bl.event_maximal_leakage(
        bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]),
        delta=F(3, 4),
    ),
)
figure(
    "README: satisfies",
    lambda: (
        bl.pmf([F(1, 4)] * 4) * noise.randomized_response(secret=bl.Finite(4), epsilon=1)
    ).satisfies(g.PML(0.8)),
)
figure("README: envelope at 1/5", lambda: bl.envelope(TABLES["Fractions"][0]())(F(1, 5)))
figure(
    "README: what not knowing costs",
    lambda: bl.load(
        bl.audit(
            sets.from_counts({"none": 423, "some": 102, "many": 75}, confidence=0.95) * released()
        )
    )["pml/cost"],
)


@cache
def example(name):
    """Return an example as a module, without what it prints."""
    spec = spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def affairs():
    return example("affairs_survey").release_answer


def doctor():
    return example("doctor_visits").study


def party():
    return example("party_1996").study


RATINGS = {"alpha": [4.0, 4.25, 3.75, 4.5], "beta": [1.5, 1.25, 1.75, 1.5]}
SHARES = {"mu": [0.6, 0.625, 0.65, 0.675], "sigma": [0.125, 0.15, 0.125, 0.1]}
"""Small posteriors in place of those that two studies sample."""


def rating():
    study = example("affairs_survey").release_rating
    return sets.from_posterior(few(**RATINGS), study.build) * study.mechanism


def one_rating():
    study = example("affairs_survey").release_rating
    return study.build({name: v[0] for name, v in RATINGS.items()}) * study.mechanism


def shares():
    study = example("food_share").study
    return sets.from_posterior(few(**SHARES), study.build) * study.mechanism


def one_share():
    study = example("food_share").study
    return study.build({name: v[0] for name, v in SHARES.items()}) * study.mechanism


def one_visitor(endless):
    made = example("doctor_visits")
    draws = made.visit_draws(made.SEED)["posterior"]
    one = {name: values.values[0, 0] for name, values in draws.data_vars.items()}
    if endless:
        return bl.models.stick_breaking_prior(one) * made.endless_secret
    return bl.models.top_coded_prior(one) * made.released


STUDY = {
    **{f"{n} sup": lambda j, f=f: f(j).sup() for n, f in LEAKAGES.items()},
    **{n: MEASURES[n] for n in ("ldp", "lip", "mutual information", "maximal leakage")},
}
SETTLED = {"random": lambda e: (e.quantile(0.95), e.quantile(0.5), e.mean())}
for name, study in {"affairs, answer": affairs, "doctor": doctor}.items():
    each(
        f"example, {name}",
        {n: lambda s, f=f: SETTLED["random"](f(s.joint())) for n, f in STUDY.items()}
        | {
            "guarantees": lambda s: [
                s.joint().satisfies(one).at(confidence=0.9) for one in s.guarantees
            ]
        },
        study,
    )
each(
    "example, party",
    {n: lambda s, f=f: f(s.joint()) for n, f in STUDY.items()}
    | {
        "guarantees": lambda s: [
            s.joint().satisfies(one).at(confidence=0.95) for one in s.guarantees
        ]
    },
    party,
)
for name, build in {"affairs, rating": rating, "food": shares}.items():
    each(
        f"example, {name}",
        {n: lambda j, f=f: f(j).sup().draws for n, f in LEAKAGES.items()}
        | {"mutual information": lambda j: bl.mutual_information(j).draws},
        build,
    )
for name, build in {
    "affairs, one rating": one_rating,
    "food, one share": one_share,
    "doctor, one top-coded": partial(one_visitor, False),
    "doctor, one endless": partial(one_visitor, True),
}.items():
    leakages(f"example, {name}", build, (1,) if "doctor" in name else (0.75,))
    each(f"example, {name}", FEW_MEASURES, build)


def _claims(name, function, **arguments):
    """Return the rows of a claim that prints them, both ways."""
    import importlib

    rows = getattr(importlib.import_module(f"borel.claims.{name}"), function)(**arguments)
    return {row.id: {"theorem": row.closed_form, "engine": row.engine} for row in rows}


figure("claims, Example 8", partial(_claims, "counterexamples", "example_8"))
for theta in (0.5, 1.0, 3.0):
    figure(
        f"claims, Example 9 at {theta:g}",
        partial(_claims, "counterexamples", "example_9", eta=0.1, theta=theta),
    )
for part in ("example_2", "theorem_4", "figure_2"):
    figure(f"claims, envelopes, {part}", partial(_claims, "envelopes", part))


def panel(name):
    from borel.claims.envelopes import panels

    return panels()[name]


for name in "abcd":
    each(
        f"example, Figure 2({name})",
        {
            "envelope at 1/2": lambda j: bl.envelope(j)(F(1, 2)),
            "binary envelope": lambda j: bl.binary_envelope(j)(F(1, 2)),
            "bounds": lambda j: bl.envelope_bounds.envelope_table(
                j, [F(1, 10), F(1, 2)], {"exact": bl.envelope(j)}
            ),
        },
        partial(panel, name),
    )
