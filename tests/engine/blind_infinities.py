"""Suprema that tempt a divergence test: finite ones that look infinite, and infinite ones.

The list was written without sight of any engine. Every joint stands with what is true of it and a
proof, so that a claim of infinity can be held against `DECOYS` (where it would be false) and
against `INFINITIES` (where it is true).

In the proofs f is f(y|x), f_Y its mean under the prior, b(m) = 2**(-m-1). "Tilt" means
f(y|x) = g(y) (1 + a(x) h(y)) with g a density, E_g h = 0 and E a(X) = 0, so that f_Y = g exactly,
PML(y) = log ess sup_x (1 + a(x) h(y)) and PMC(y) = -log ess inf_x (1 + a(x) h(y)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import borel as bl

if TYPE_CHECKING:
    from collections.abc import Callable

UNIT, HALF_LINE, REALS = bl.Interval(0, 1), bl.Interval(0, None), bl.Reals()
COUNTS = bl.Integers(0, None)
INF = float("inf")

# -- what a case is --------------------------------------------------------------------------


@dataclass(frozen=True)
class Prior:
    """A prior, and the same in plain NumPy for a brute force that uses nothing of borel.

    Attributes
    ----------
    measure : callable
        Zero arguments: the borel measure.
    ends : tuple of float
        The support, for a prior with a density.
    pdf : callable or None
        Its density.
    atoms : callable or None
        Zero arguments: labels and probabilities, for a discrete prior (cut where the rest is
        below 1e-300, or where no mass is left).
    """

    measure: Callable[[], Any]
    ends: tuple[float, float] = (0.0, 1.0)
    pdf: Callable | None = None
    atoms: Callable | None = None


@dataclass(frozen=True)
class Case:
    """A joint and what is true of it.

    Attributes
    ----------
    name : str
        What to call it.
    kind : {"pml", "pmc"}
        Which leakage; the figure is its essential supremum over y.
    density : callable
        f(y, x), a proper density in y for every x of the alphabet.
    prior : Prior
        The law of the secret.
    outcome : Alphabet
        Where y lives.
    proof : str
        Why the truth is the truth.
    at : float or None
        The figure is the leakage at this one outcome instead (of the version given).
    ys : array or None
        Outcomes for a brute force; the usual grid of the alphabet if None.
    near : callable
        y -> secrets where f(y|.) has a kink, a jump or a peak: where a brute force must look.
    log_density : callable or None
        log f(y, x) in a form that neither underflows nor cancels.
    masses : dict or None
        The atoms of a Mixed outcome.
    breaks : tuple of float
        Where the density in y is singular inside the alphabet, told to the constructor.
    params : dict or None
        Parameters of the density.
    """

    name: str
    kind: str
    density: Callable
    prior: Prior
    outcome: Any
    proof: str
    at: float | None = None
    ys: Any = None
    near: Callable = lambda y: ()
    log_density: Callable | None = None
    masses: dict | None = None
    breaks: tuple[float, ...] = ()
    params: dict | None = None

    def build(self) -> Any:
        """Return the joint, ``prior * mechanism``."""
        prior = self.prior.measure()
        mechanism = bl.Mechanism(
            self.density,
            secret=prior.on,
            outcome=self.outcome,
            masses=self.masses,
            breaks=self.breaks,
            params=self.params,
        )
        return prior * mechanism


@dataclass(frozen=True, kw_only=True)
class Decoy(Case):
    """A finite figure: ``truth`` is an enclosure (lower, upper) of it."""

    truth: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Infinity(Case):
    """An infinite figure.

    ``floor(y)`` is a proved lower bound of the leakage at y (inf where it is infinite at y
    itself, for which a brute force is asked to exceed ``seen``); it grows without bound along the
    order of ``ys``. ``hard`` ones diverge so slowly or so rarely that an honest engine may say
    undecided; it may never say finite.
    """

    floor: Callable
    seen: float = 0.0
    truth: float = INF
    hard: bool = False


def exactly(value: float) -> tuple[float, float]:
    """Enclose a closed form: floats in the kernel and here miss the real number by rounding."""
    return value * (1 - 1e-12), value * (1 + 1e-12) + 1e-12


DECOYS: list[Decoy] = []
INFINITIES: list[Infinity] = []


def decoy(name: str, kind: str, truth: tuple[float, float], **rest: Any) -> None:
    DECOYS.append(Decoy(name=name, kind=kind, truth=truth, **rest))


def both(name: str, *, pml: tuple[float, float], pmc: tuple[float, float], **rest: Any) -> None:
    decoy(f"{name}_pml", "pml", pml, **rest)
    decoy(f"{name}_pmc", "pmc", pmc, **rest)


def infinity(name: str, kind: str, floor: Callable, **rest: Any) -> None:
    INFINITIES.append(Infinity(name=name, kind=kind, floor=floor, **rest))


# -- priors ----------------------------------------------------------------------------------


def uniform(lower: float, upper: float) -> Prior:
    return Prior(
        lambda: bl.uniform(bl.Interval(lower, upper)),
        (lower, upper),
        lambda x: np.full_like(x, 1 / (upper - lower)),
    )


def labels(values: list[float], probabilities: list[float]) -> Prior:
    return Prior(
        lambda: bl.pmf(probabilities, on=bl.Finite(values)),
        atoms=lambda: (np.array(values), np.array(probabilities)),
    )


def part_of_unit(lower: float, upper: float) -> Prior:
    """Uniform on a part of (0, 1): the rest of the alphabet has no mass."""
    height = 1 / (upper - lower)
    return Prior(
        lambda: bl.Measure(
            lambda x: np.where(x > lower, np.where(x < upper, height, 0.0), 0.0),
            on=UNIT,
            breaks=(lower, upper),
        ),
        (lower, upper),
        lambda x: np.full_like(x, height),
    )


def counted(measure: Callable, pmf: Callable, start: int, stop: int) -> Prior:
    grid = np.arange(start, stop)
    return Prior(measure, atoms=lambda: (grid, pmf(grid)))


ON_UNIT = uniform(0.0, 1.0)
ON_1_2 = uniform(1.0, 2.0)
NORMAL = Prior(bl.normal, (-INF, INF), lambda x: np.exp(-x * x / 2) / np.sqrt(2 * np.pi))
CAUCHY = Prior(bl.cauchy, (-INF, INF), lambda x: 1 / (np.pi * (1 + x * x)))
LAPLACE = Prior(bl.laplace, (-INF, INF), lambda x: np.exp(-np.abs(x)) / 2)
EXPONENTIAL = Prior(bl.exponential, (0.0, INF), lambda x: np.exp(-x))
ARCSINE = Prior(
    lambda: bl.beta(alpha=0.5, beta=0.5), pdf=lambda x: 1 / (np.pi * np.sqrt(x * (1 - x)))
)
GEOMETRIC = counted(lambda: bl.geometric(p=0.5), lambda n: 2.0**-n, 1, 900)


def poisson_pmf(n: np.ndarray) -> np.ndarray:
    return np.exp(n * np.log(3.0) - 3 - np.cumsum(np.log(np.maximum(n, 1))))


POISSON = counted(lambda: bl.poisson(mu=3.0), poisson_pmf, 0, 200)

# -- densities with closed forms -------------------------------------------------------------


def b(m: Any) -> Any:
    """2**-(m+1): geometric masses on 0, 1, 2, ..."""
    return 2.0 ** (-m - 1)


def tilted(y: Any, x: Any) -> Any:
    """A harmless density on the unit square, in [1/2, 3/2]."""
    return 1 + 0.5 * (2 * x - 1) * (1 - 2 * y)


THIRD = 1 / 3  # the float itself: folded at the real number, the two sides would not meet


def third(y: Any) -> Any:
    """Fold (0, 1) at 1/3: uniform y gives uniform values. The fold itself is a null set."""
    right = (y - THIRD) / (1 - THIRD)
    return np.where(y < THIRD, (THIRD - y) / THIRD, np.where(y > THIRD, right, 1.0))


def shrinking(y: Any, x: Any, q: Any) -> Any:
    """Uniform, but with probability x**q uniform on (0, x) instead: blows up as y**(q - 1)."""
    return 1 - x**q + np.where(y < x, x ** (q - 1), 0.0)


def clayton(y: Any, x: Any) -> Any:
    return 0.1 + 0.9 * 2 * x * y / (x + y - x * y) ** 3


def inverse_gamma(y: Any) -> Any:
    """The law of 1 / (1 + E), E exponential: a density on (0, 1), exp(-1/y) small at 0."""
    return np.exp(1 - 1 / y) / y**2


# -- decoys: noise ---------------------------------------------------------------------------

both(
    "laplace_noise",
    density=lambda y, x: np.exp(-np.abs(y - x)) / 2,
    prior=ON_UNIT,
    outcome=REALS,
    near=lambda y: (y,),
    pml=exactly(1 - np.log(np.e - 1)),
    pmc=exactly(np.log(np.e - 1)),
    proof="For y >= 1 every f is exp(x - y)/2: ratios e/(e-1) and e-1. On [0, 1] f_Y is (2 -"
    " exp(-y) - exp(y-1))/2, smallest at the ends; (2 - exp(-y) - exp(y-1)) exp(y) grows on"
    " [1/2, 1], so both suprema are those of y >= 1. Both parts vanish, and underflow, at"
    " infinity.",
)
decoy(
    "logistic_noise",
    "pml",
    exactly(1 - np.log(np.e - 1)),
    density=lambda y, x: np.exp(-np.abs(y - x)) / (1 + np.exp(-np.abs(y - x))) ** 2,
    log_density=lambda y, x: -np.abs(y - x) - 2 * np.log1p(np.exp(-np.abs(y - x))),
    prior=ON_UNIT,
    outcome=REALS,
    near=lambda y: (y,),
    proof="For y >= 1, a = exp(1 - y): the ratio is (1 + a/e)/((1 + a)(1 - 1/e)), which grows to"
    " e/(e-1) as y -> inf, where it is approached only; on [0, 1] it is at most"
    " (1/4)/(sigmoid(1) - 1/2) < 1.09. Symmetric about 1/2.",
)
decoy(
    "cauchy_noise",
    "pml",
    (0.449865, 0.449876),
    density=lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)),
    prior=ON_UNIT,
    outcome=REALS,
    near=lambda y: (y,),
    ys=np.concatenate([np.linspace(-40.03, 40.01, 73), [1.76221]]),
    proof="Both logarithms are 1-Lipschitz in y, so ball arithmetic on cells of 1/2 < y < 30"
    " encloses the supremum (near y = 1.762) of the closed form with atan; for y > 30 the"
    " ratio is at most (1 + y**2)/(1 + (y-1)**2) < 1.08, and tends to 1.",
)
decoy(
    "student_noise",
    "pmc",
    (0.625295, 0.625306),
    density=lambda y, x: 2 / (np.pi * np.sqrt(3.0)) / (1 + (y - x) ** 2 / 3) ** 2,
    prior=ON_UNIT,
    outcome=REALS,
    ys=np.concatenate([np.linspace(-60.03, 60.01, 73), [2.14684]]),
    proof="As for Cauchy noise, with Lipschitz constant 2/sqrt(3) and the closed form of"
    " Student's t with 3 degrees of freedom; beyond |y| = 60 the ratio is below 1.07.",
)
both(
    "unbounded_secret_clipped",
    density=lambda y, x: np.exp(-np.abs(y - np.minimum(np.maximum(x, -1.0), 1.0))) / 2,
    prior=NORMAL,
    outcome=REALS,
    near=lambda y: (-1.0, 1.0, min(max(y, -1.0), 1.0)),
    pml=(0.755887, 0.755895),
    pmc=exactly(1.244112328826186),
    proof="c = clip(X) has atoms at -1 and 1. For y >= 1 the ratios are e/E e^c and e E e^c,"
    " with E e^c = 1.27648770880252. PMC: on [0, 1], -|y-c| + 1 + y <= 1 + c, so no more"
    " than that. PML: log f_Y is 1-Lipschitz, ball arithmetic on [0, 1]. The secret is"
    " unbounded, its image is not.",
)
decoy(
    "cauchy_secret_squashed",
    "pml",
    (0.8042, 0.8044),
    density=lambda y, x: 1 / (np.pi * (1 + (y - x / (1 + np.abs(x))) ** 2)),
    prior=CAUCHY,
    outcome=REALS,
    near=lambda y: (0.0, y / (1 - abs(y)) if abs(y) < 1 else 0.0),
    ys=np.concatenate([np.linspace(-40.03, 40.01, 73), [1.65]]),
    proof="The centre z lies in (-1, 1), with density 1/(pi ((1-|z|)**2 + z**2)). PML is"
    " 2-Lipschitz, a grid of step 1e-4 on [0, 60] has the maximum 0.804211; beyond 60 the"
    " ratio is below 1.07.",
)
both(
    "countable_centres",
    density=lambda y, x: np.exp(-np.abs(y - 2.0**-x)) / 2,
    prior=GEOMETRIC,
    outcome=REALS,
    pml=(0.317171, 0.317202),
    pmc=(0.348796, 0.348823),
    proof="Infinitely many secrets, centres 2**-n in (0, 1/2]. For y <= 0 PML is -log E exp(-c),"
    " c -> 0 not attained; for y >= 1/2 PMC is log E e^c. In between both are 2-Lipschitz"
    " and ball arithmetic finds no more.",
)
both(
    "pareto_scales",
    density=lambda y, x: x / (x + y) ** 2,
    prior=ON_1_2,
    outcome=HALF_LINE,
    near=lambda y: (y,),
    pml=exactly(-np.log(np.log(2.0))),
    pmc=exactly(np.log(1.5)),
    proof="PML: y <= 1: 1/E[X ((1+y)/(X+y))**2] falls from 1/log 2; 1 < y < 2: at most 9/8, for"
    " 4xy/(x+y)**2 >= 8/9; y >= 2: at most 4/3. PMC: for y >= sqrt 2 it is E[X"
    " ((1+y)/(X+y))**2] <= E X = 3/2, the limit at infinity; below, at most 2 log 2. Both"
    " parts fall as y**-2.",
)
decoy(
    "half_normal_two_scales",
    "pml",
    exactly(np.log(1000.0)),
    density=lambda y, x: np.sqrt(2 / np.pi) / x * np.exp(-((y / x) ** 2) / 2),
    log_density=lambda y, x: 0.5 * np.log(2 / np.pi) - np.log(x) - (y / x) ** 2 / 2,
    prior=labels([1.0, 2.0], [0.999, 0.001]),
    outcome=HALF_LINE,
    ys=np.geomspace(0.01, 100.0, 40),
    proof="f_Y >= P(x) f(y|x) for every label, so PML <= log 1/min P; approached as y -> inf,"
    " where scale 2 dominates scale 1 super-exponentially.",
)
decoy(
    "gaussian_noise_on_a_bit",
    "pml",
    exactly(np.log(4.0)),
    density=lambda y, x: np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi),
    log_density=lambda y, x: -((y - x) ** 2) / 2 - 0.5 * np.log(2 * np.pi),
    prior=labels([0.0, 1.0], [0.25, 0.75]),
    outcome=REALS,
    ys=np.linspace(-60.0, 60.0, 61),
    proof="PML <= log 1/min P = log 4, approached as y -> -inf. Gaussian noise leaks without"
    " bound on an interval of secrets, not on finitely many.",
)
decoy(
    "narrow_laplace_underflows",
    "pmc",
    exactly(1000 + np.log(np.log(2.0) / 1000)),
    density=lambda y, x: (
        1000 * np.exp(-1000 * np.abs(y - x)) / (2 - np.exp(-1000 * x) - np.exp(-1000 * (1 - x)))
    ),
    log_density=lambda y, x: (
        np.log(1000)
        - 1000 * np.abs(y - x)
        - np.log(1 - np.expm1(-1000 * x) - np.exp(1000 * x - 1000))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    proof="For y >= 1/2 the infimum is at x -> 0, 1000 exp(-1000 y)/(1 - exp(-1000)), which is 0"
    " in float64; log f_Y - 1000 y falls as 1 - y grows, since log f_Y is 1000-Lipschitz,"
    " so the supremum is at y -> 1, where f_Y = integral of exp(-s)/(2 - exp(-s)) = log 2"
    " up to exp(-500).",
)

# -- decoys: steep ---------------------------------------------------------------------------

for exponent, height in ((6, 1e6), (30, 1e30)):
    decoy(
        f"jump_of_1e{exponent}",
        "pml",
        exactly(np.log((height - 1) / np.log(height))),
        density=lambda y, x, height=height: np.where(y < x, height, 1.0) / (1 + (height - 1) * x),
        prior=ON_UNIT,
        outcome=UNIT,
        ys=np.geomspace(1e-36, 0.99, 60),
        near=lambda y: (y,),
        proof="K the height, t = 1 + (K-1) y: the ratio is K (K-1)/(t (K log(K/t) + log t)); the"
        " denominator is concave in t on [1, K] with equal values K log K at both ends, so"
        " the supremum is (K-1)/log K, approached at both ends of the interval.",
    )
decoy(
    "exponential_tilt_of_1e30",
    "pmc",
    exactly(61.3751771373342),
    density=lambda y, x: (
        (1 + 69 * x) * np.exp(-(1 + 69 * x) * (1 - y)) / (1 - np.exp(-(1 + 69 * x)))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    proof="k = 1 + 69x; log f is concave in k, so the infimum is at k = 70 or k = 1, where PMC"
    " falls or grows in y (its slope is E[k | y] - k): the supremum is at y = 0, (1/69)"
    " times the integral of k/(e^k - 1) over (1, 70), divided by 70/(e^70 - 1); at y = 1 it"
    " is below 4.",
)
decoy(
    "removable_quotient",
    "pml",
    exactly(-np.log(0.777504634112248)),
    density=lambda y, x: x * np.exp(x * y) / (np.exp(x) - 1),
    log_density=lambda y, x: np.log(x) + x * y - np.log(np.expm1(x)),
    prior=ON_UNIT,
    outcome=UNIT,
    proof="0/0 at x -> 0, where f -> 1. log f is concave in x: for y <= 1/2 the supremum is 1 at"
    " x -> 0 and f_Y grows, so PML falls from -log of the Debye integral of x/(e^x - 1);"
    " for y >= 0.582 it is at x -> 1 and PML grows to log(e/(e-1)/1.2775) = 0.2138; between"
    " it is below 0.05.",
)
decoy(
    "prior_mass_of_5e-301",
    "pml",
    (691.46, 691.48),
    density=lambda y, x: np.where(
        x < 0.5, np.where(y < 0.5, 2.0, 0.0), np.where(y < 0.5, 0.0, 2.0)
    ),
    prior=Prior(
        lambda: bl.Measure(lambda x: np.where(x < 0.5, 2.0, 1e-300), on=UNIT, breaks=(0.5,)),
        pdf=lambda x: np.where(x < 0.5, 2.0, 1e-300),
    ),
    near=lambda y: (0.5,),
    outcome=UNIT,
    proof="For y > 1/2 f_Y = 2 P(X > 1/2) = 1e-300 and ess sup f = 2, so PML = log 2e300, within"
    " the rounding of the normalisation; for y < 1/2 it is 0.",
)
decoy(
    "narrow_spike_on_a_background",
    "pml",
    exactly(np.log(3000001.0)),
    density=lambda y, x: 1 / 6 + 0.5 * np.where(np.abs(y - x) < 5e-7, 1e6, 0.0),
    prior=ON_UNIT,
    outcome=bl.Interval(-1, 2),
    near=lambda y: (y - 5e-7, y + 5e-7),
    ys=np.concatenate([np.linspace(-0.99, 1.99, 31), [-4.999e-7, 4e-7, 1 + 4.999e-7]]),
    proof="f <= 1/6 + 5e5 and f_Y >= 1/6; approached as y -> -5e-7, where the spike is seen from"
    " ever fewer secrets and f_Y -> 1/6.",
)
decoy(
    "spike_of_a_slice",
    "pml",
    exactly(np.log(1000 / 1.999)),
    density=lambda y, x: np.where(
        np.abs(x - 0.3005) < 5e-4, np.where(np.abs(y - 0.7005) < 5e-4, 1000.0, 0.0), 1.0
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (0.3, 0.301),
    ys=np.concatenate([np.linspace(0.003, 0.997, 41), [0.7003]]),
    proof="The slice has mass 1e-3, so that f_Y = 0.999 + 1e-3 * 1000 = 1.999 on the spike and"
    " 0.999 elsewhere, where ess sup f = 1.",
)

# -- decoys: oscillation ---------------------------------------------------------------------

# The mean of sin(1/y) over (0, 1) is sin(1) - Ci(1).
SINE_MEAN = 0.5040670619069284
both(
    "sine_of_one_over_y",
    density=lambda y, x: 1 + (x - 0.5) * (np.sin(1 / y) - SINE_MEAN),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=np.concatenate([1 / (np.pi * (1.5 + 2 * np.arange(20))), np.linspace(0.01, 0.99, 30)]),
    pml=exactly(np.log(1 + (1 + SINE_MEAN) / 2)),
    pmc=exactly(-np.log(1 - (1 + SINE_MEAN) / 2)),
    proof="Tilt with a = x - 1/2 and h = sin(1/y) - E sin(1/Y) in [-1 - M, 1 - M], M = 0.50407;"
    " the extremes recur at every y -> 0 and there is no limit.",
)
both(
    "sine_of_log_y",
    density=lambda y, x: 1 + 0.4 * (2 * x - 1) * (np.sin(np.log(y)) + 0.5),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=np.concatenate([np.exp(-1.5 * np.pi - 2 * np.pi * np.arange(9)), np.geomspace(1e-9, 1, 40)]),
    pml=exactly(np.log(1.6)),
    pmc=exactly(np.log(2.5)),
    proof="Tilt: the mean of sin(log y) over (0, 1) is -1/2, so h lies in [-1/2, 3/2], with"
    " period 2 pi in log y: the oscillation looks the same at every scale.",
)
# E exp(i/X) for uniform X is E_2(-i), of modulus 0.511...
PHASE = 0.511085913984972
both(
    "phase_of_one_over_x",
    density=lambda y, x: 1 + 0.5 * np.sin(2 * np.pi * y + 1 / x),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: tuple(1 / (np.pi * np.arange(1, 400))),
    ys=np.linspace(0.0, 1.0, 202)[1:-1],
    pml=exactly(np.log(1.5 / (1 - PHASE / 2))),
    pmc=exactly(np.log((1 + PHASE / 2) / 0.5)),
    proof="1/x takes every phase on sets of positive measure, so ess sup f = 3/2 and ess inf f ="
    " 1/2 at every y; f_Y = 1 + |C|/2 sin(2 pi y + arg C) with C = E exp(i/X) = E_2(-i),"
    " |C| = 0.511086.",
)
both(
    "sine_of_a_product",
    density=lambda y, x: (1 + 0.5 * np.sin(x * y)) / (np.pi * (1 + y * y)),
    prior=NORMAL,
    outcome=REALS,
    ys=np.linspace(-9.1, 9.2, 40),
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    proof="The sine is odd in y, so every f integrates to 1, and odd in x, so f_Y is the Cauchy"
    " density; for y != 0 the unbounded secret makes sin(xy) dense in [-1, 1].",
)

# -- decoys: parts that vanish or blow up together -------------------------------------------

both(
    "common_singularity",
    density=lambda y, x: 0.5 / np.sqrt(y) * (1 + 0.8 * (2 * x - 1) * (1 - 2 * np.sqrt(y))),
    prior=ON_UNIT,
    outcome=UNIT,
    pml=exactly(np.log(1.8)),
    pmc=exactly(np.log(5.0)),
    proof="Tilt with g = y**-0.5 / 2: sqrt(y) is uniform under g, so h = 1 - 2 sqrt(y) has mean"
    " 0 and values in (-1, 1). f_Y -> inf at 0 with f.",
)
decoy(
    "common_singularity_at_a_third",
    "pml",
    exactly(np.log(1.5)),
    density=lambda y, x: (
        0.5 / np.sqrt(third(y)) * (1 + 0.5 * (2 * x - 1) * (1 - 2 * np.sqrt(third(y))))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    breaks=(THIRD,),
    ys=np.concatenate([1 / 3 + np.array([-1, 1])[:, None] * 4.0 ** -np.arange(1, 20)], axis=None),
    proof="The previous one, folded so that the singularity lies inside the alphabet, at 1/3.",
)
decoy(
    "exponent_of_a_hundredth",
    "pml",
    exactly(np.log(1.5)),
    density=lambda y, x: 1 + 0.5 * (2 * x - 1) * (1 - 1.01 * y**0.01),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=np.geomspace(1e-300, 0.999, 60),
    proof="Tilt: the mean of y**0.01 is 1/1.01, h in (-0.01, 1). PML climbs to log 1.5 with"
    " infinite slope and so slowly that it is 1e-3 away at y = 1e-300.",
)
both(
    "logarithm_at_both_ends",
    density=lambda y, x: -np.log(y) * (1 + 0.3 * (2 * x - 1) * (1 - 4 * y)),
    prior=ON_UNIT,
    outcome=UNIT,
    pml=exactly(np.log(1.9)),
    pmc=exactly(np.log(10.0)),
    proof="Tilt with g = -log y, under which the mean of y is 1/4; h in (-3, 1). g is infinite"
    " at 0 and 0 at 1, where the suprema are approached.",
)
both(
    "essential_zero",
    density=lambda y, x: inverse_gamma(y) * (1 + (x - 0.5) * (2 * np.exp(1 - 1 / y) - 1)),
    log_density=lambda y, x: (
        1 - 1 / y - 2 * np.log(y) + np.log(1 + (x - 0.5) * (2 * np.exp(1 - 1 / y) - 1))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=np.geomspace(1e-4, 0.999, 40),
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    proof="Tilt with g the law of y = 1/(1+E), E exponential; h = 2 exp(-E) - 1 has mean 0 and"
    " values in (-1, 1). Everything is exp(-1/y) small at 0, and exactly 0 in float64.",
)
decoy(
    "mixture_with_an_essential_zero",
    "pml",
    exactly(np.log(2.0)),
    density=lambda y, x: x + (1 - x) * inverse_gamma(y),
    prior=ON_UNIT,
    outcome=UNIT,
    proof="f_Y = (1 + g)/2 and f <= max(1, g), so the ratio is at most 2, approached at y -> 0,"
    " where g vanishes. (PMC is infinite there.)",
)
decoy(
    "mixture_of_two_singularities",
    "pml",
    exactly(np.log(2.0)),
    density=lambda y, x: x * 0.5 / np.sqrt(y) + (1 - x) * 0.5 / np.sqrt(1 - y),
    prior=ON_UNIT,
    outcome=UNIT,
    proof="f = x g1 + (1-x) g2 with f_Y = (g1 + g2)/2 >= max(g1, g2)/2; approached at both ends,"
    " where f -> inf for almost every x. (PMC is infinite there.)",
)
decoy(
    "homogeneous_corner",
    "pml",
    exactly(np.log(2.4)),
    density=lambda y, x: (
        3
        * y**2
        * (1 + 1 / (x / y + y / x) - 1.5 * x * (1 - x**2 * (np.log(1 + x**2) - 2 * np.log(x))))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    proof="h = xy/(x**2 + y**2) has no limit at the corner; m(x), its mean under 3y**2, makes f"
    " proper. f/(3y**2) = 1 + h - m <= 3/2 and its mean over x is 1 - 3/8 + E h >= 5/8, for"
    " E m = 3/8; both are approached as y -> 0 along x = y. Everything vanishes at y = 0.",
)
decoy(
    "rational_corner",
    "pml",
    (0.454389, 0.4563),
    density=lambda y, x: y * (1 + y / (x + y)) / (1 - x + x**2 * (np.log(1 + x) - np.log(x))),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    ys=np.geomspace(1e-9, 0.999, 50),
    proof="D(x) is the integral of the numerator, between 0.69 and 1. As y -> 0, f/y -> 2 along"
    " x << y and f_Y/y -> E 1/D = 1.26967: log(2/1.26967). In log y each log f has slope"
    " within 0.1716 of 1, and a grid of step 0.02 from y = exp(-20), with monotone bounds"
    " below, finds no more.",
)
decoy(
    "vanishing_in_the_middle",
    "pmc",
    exactly(np.log(4.0)),
    density=lambda y, x: (
        2 * np.abs(2 * y - 1) * (1 + 0.75 * (2 * x - 1) * (1 - 2 * (2 * y - 1) ** 2))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=np.concatenate([0.5 + 4.0 ** -np.arange(1.0, 25.0), np.linspace(0.001, 0.999, 20)]),
    proof="Tilt with g = 2|2y - 1|, under which (2y - 1)**2 is uniform; h in (-1, 1). 0/0 at y ="
    " 1/2, a point that floats and bisections like to visit.",
)
decoy(
    "two_exponents_by_halves",
    "pml",
    exactly(np.log(2.0)),
    density=lambda y, x: np.where(x < 0.5, 0.5 / np.sqrt(y), 1.0),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (0.5,),
    proof="Each half has probability 1/2, so f_Y >= f/2 for almost every x; approached as y ->"
    " 0, where y**-0.5 outgrows 1. (PMC is infinite there.)",
)
decoy(
    "two_exponents_two_labels",
    "pml",
    exactly(np.log(100.0)),
    density=lambda y, x: x * y ** (x - 1),
    prior=labels([0.1, 1.0], [0.01, 0.99]),
    outcome=UNIT,
    ys=np.geomspace(1e-300, 0.999, 40),
    proof="f_Y >= P(x) f(y|x), so PML <= log 1/0.01, approached as y -> 0. (PMC is infinite.)",
)
decoy(
    "exponential_two_rates",
    "pml",
    exactly(np.log(1000.0)),
    density=lambda y, x: x * np.exp(-x * y),
    log_density=lambda y, x: np.log(x) - x * y,
    prior=labels([1.0, 2.0], [0.001, 0.999]),
    outcome=HALF_LINE,
    ys=np.linspace(0.01, 2000.0, 60),
    proof="PML <= log 1/min P, approached as y -> inf, where the slower rate outlives the other.",
)
decoy(
    "geometric_two_rates",
    "pml",
    exactly(np.log(1000.0)),
    density=lambda m, x: (1 - x) * x**m,
    log_density=lambda m, x: np.log1p(-x) + m * np.log(x),
    prior=labels([0.25, 0.5], [0.999, 0.001]),
    outcome=COUNTS,
    ys=np.arange(0, 3000, 50),
    proof="PML <= log 1/min P, approached as m -> inf.",
)
decoy(
    "geometric_tilt",
    "pml",
    exactly(np.log(1.5)),
    density=lambda m, x: b(m) * (1 + 0.5 * (2 * x - 1) * (1 - 1.5 * 2.0**-m)),
    log_density=lambda m, x: (
        -(m + 1) * np.log(2) + np.log(1 + 0.5 * (2 * x - 1) * (1 - 1.5 * 2.0**-m))
    ),
    prior=ON_UNIT,
    outcome=COUNTS,
    ys=np.arange(0.0, 100.0),
    proof="Tilt with g = b, under which 2**-m has mean 2/3; h = 1 - 1.5 2**-m in [-1/2, 1). All"
    " masses vanish as m -> inf at one rate; the supremum is approached there.",
)
both(
    "jump_in_the_secret",
    density=lambda y, x: np.where(x < 0.5, 0.5 + y, 1.5 - y),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (0.5,),
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    proof="f_Y = 1; f takes the two values 1/2 + y and 3/2 - y, each with probability 1/2.",
)

# -- decoys: bounded below or above by a mixture ---------------------------------------------

decoy(
    "clayton_mixture",
    "pmc",
    exactly(np.log(10.0)),
    density=clayton,
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    proof="A copula density mixed with 1/10 of independence: f_Y = 1, f >= 1/10, and for every y"
    " the copula's part vanishes as x -> 0. f itself is unbounded above, so PML is"
    " infinite.",
)
decoy(
    "clayton_away_from_the_corner",
    "pml",
    (4.02945, 4.02957),
    density=clayton,
    prior=part_of_unit(0.01, 1.0),
    outcome=UNIT,
    near=lambda y: (y / (2 * (1 - y)) if y < 0.6 else 1.0,),
    ys=np.concatenate([np.geomspace(1e-9, 0.99, 40), [np.exp(-6.362255)]]),
    proof="The prior has no mass on x < 1/100, where the blow-up is. sup over x is at x ="
    " y/(2(1-y)) or an end and f_Y has a closed form; PML is 3-Lipschitz in log y: ball"
    " arithmetic on exp(-14) < y < 1, and below that PML <= log 1.15.",
)
decoy(
    "shrinking_away_from_the_corner",
    "pml",
    exactly(-np.log(1 - (4 / 3) * (1 - 0.25**1.7) / 1.7)),
    density=lambda y, x: shrinking(y, x, 0.7),
    prior=part_of_unit(0.25, 1.0),
    outcome=UNIT,
    near=lambda y: (y,),
    ys=np.concatenate([np.linspace(0.001, 0.999, 40), [1 - 1e-7]]),
    proof="No mass on x < 1/4. With N(y) = 1 - y**0.7 + y**-0.3 over f_Y = d + k (1 - y**0.7)"
    " and R their ratio at y = 1, N - R f_Y grows on (1/4, 1) up to 0, so R = 1/(1 - E"
    " X**0.7) is the supremum, approached at y -> 1; for y < 1/4 PML is constant and"
    " smaller.",
)
decoy(
    "uniform_below_the_secret",
    "pml",
    exactly(np.log((1 + 1e6) / (1 + np.log(1e6) / (1 - 1e-6)))),
    density=lambda y, x: 0.5 + np.where(y < x, 0.5 / x, 0.0),
    prior=part_of_unit(1e-6, 1.0),
    outcome=UNIT,
    near=lambda y: (y,),
    ys=np.concatenate([np.geomspace(1e-9, 0.999, 40), [0.9e-6]]),
    proof="At t = max(y, 1e-6) the ratio is (1 + 1/t)/(1 + log(1/t)/(1 - 1e-6)); in L = log 1/t"
    " it falls, then grows, so the supremum is at an end: t = 1e-6, against 2 at t = 1.",
)
both(
    "arcsine_prior",
    density=lambda y, x: 1 + 0.9 * (2 * x - 1) * (2 * y - 1),
    prior=ARCSINE,
    outcome=UNIT,
    pml=exactly(np.log(1.9)),
    pmc=exactly(np.log(10.0)),
    proof="Tilt (E X = 1/2): a = 0.9 (2x - 1) and h = 2y - 1 both fill (-0.9, 0.9) and (-1, 1)."
    " The prior's density is infinite at both ends.",
)
both(
    "skew_beta_prior",
    density=lambda y, x: 1 + (x - 0.0625) * (1 - 2 * y),
    prior=Prior(
        lambda: bl.beta(alpha=0.2, beta=3.0),
        # 1 / Beta(0.2, 3) = 0.2 * 1.2 * 2.2 / 2.
        pdf=lambda x: 0.264 * x**-0.8 * (1 - x) ** 2,
    ),
    outcome=UNIT,
    pml=exactly(np.log(1.9375)),
    pmc=exactly(np.log(16.0)),
    proof="Tilt (E X = 1/16): a in (-1/16, 15/16), h = 1 - 2y in (-1, 1). The prior is infinite"
    " at 0 and vanishes at 1, where the suprema are approached.",
)

# -- decoys: no mass there -------------------------------------------------------------------

both(
    "dead_secrets",
    density=lambda y, x: np.where(
        x < 0.5, np.where(y < 0.5, 2.0, 0.0), 1 + 2 * (x - 0.75) * (1 - 2 * y)
    ),
    prior=part_of_unit(0.5, 1.0),
    outcome=UNIT,
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    proof="f is 0 for x < 1/2, y > 1/2, but those secrets have no mass; for the others a tilt"
    " with a = 2x - 3/2 in (-1/2, 1/2).",
)
both(
    "dead_outcomes",
    density=lambda y, x: np.where(
        x < 0.5,
        np.where(y < 0.5, 2 * (1 + 0.5 * (4 * x - 1) * (1 - 4 * y)), 0.0),
        np.where(y < 0.5, 0.0, 2.0),
    ),
    prior=part_of_unit(0.0, 0.5),
    outcome=UNIT,
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    ys=np.concatenate([np.geomspace(1e-6, 0.01, 5), np.linspace(0.0, 0.5, 42)[1:-1]]),
    proof="f_Y = 0 for y > 1/2: the set has no mass under P_Y, although f = 2 there for secrets"
    " without mass. On y < 1/2 a tilt on half the scale.",
)
decoy(
    "identity_on_dead_secrets",
    "pml",
    exactly(np.log(1.5)),
    density=lambda m, x: np.where(
        x < 0.5,
        b(m) * (1 + 0.5 * (4 * x - 1) * (1 - 1.5 * 2.0**-m)),
        0.5 * b(m) + np.where(x >= 1 - b(m), np.where(x < 1 - b(m) / 2, 0.5, 0.0), 0.0),
    ),
    prior=part_of_unit(0.0, 0.5),
    outcome=COUNTS,
    ys=np.arange(0.0, 45.0),
    proof="For every m a set of x of positive Lebesgue measure has f(m|x) >= 1/2, but only"
    " beyond 1/2, where the prior has no mass; below 1/2 a geometric tilt.",
)

# -- decoys: null sets -----------------------------------------------------------------------

both(
    "one_secret_altered",
    density=lambda y, x: np.where(x == 1 / 3, np.where(y < 1e-300, 1e300, 0.0), tilted(y, x)),
    prior=ON_UNIT,
    outcome=UNIT,
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    proof="Tilt, but at the one secret 1/3 (no mass) Y is uniform on (0, 1e-300): f is 1e300 or 0.",
)
both(
    "one_outcome_altered",
    density=lambda y, x: np.where(y == 0.5, np.where(x < 0.5, 1e300, 0.0), tilted(y, x)),
    prior=ON_UNIT,
    outcome=UNIT,
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    proof="Tilt, but at y = 1/2, a null set, f is 1e300 or 0: the essential supremum over y is"
    " of the rest.",
)
both(
    "diagonal_altered",
    density=lambda y, x: np.where(y == x, 1e300, np.where(y == x * x, 0.0, tilted(y, x))),
    prior=ON_UNIT,
    outcome=UNIT,
    # Away from the corners, where floats x would meet y.
    ys=np.linspace(0.0013, 0.9987, 40),
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    proof="Tilt; for every y one secret has 1e300 and one has 0, both without mass, and for"
    " every x two outcomes, a null set.",
)
both(
    "diagonal_altered_at_one_outcome",
    density=lambda y, x: np.where(y == x, 1e300, np.where(y == x * x, 0.0, tilted(y, x))),
    prior=ON_UNIT,
    outcome=UNIT,
    at=0.75,
    pml=exactly(np.log(1.25)),
    pmc=exactly(np.log(4 / 3)),
    proof="At y = 3/4 f is 1 - (2x - 1)/4 but for two secrets: ess sup 5/4, ess inf 3/4, f_Y = 1.",
)
both(
    "one_secret_for_each_count",
    density=lambda m, x: np.where(x == m, 0.5, 0.0) + b(m) * np.where(x == np.floor(x), 0.5, 1.0),
    prior=EXPONENTIAL,
    outcome=COUNTS,
    pml=exactly(0.0),
    pmc=exactly(0.0),
    proof="For every m the secret x = m has f(m|m) > 1/2, and f_Y(m) = b(m) -> 0; but X is"
    " almost surely no integer, and then Y is independent of it.",
)
both(
    "atom_altered",
    density=lambda y, x: np.where(x == 0.5, 0.0, 0.75 - 0.5 * x) + 0 * y,
    masses={0.0: lambda x: np.where(x == 0.5, 1.0, 0.25 + 0.5 * x)},
    prior=ON_UNIT,
    outcome=bl.Mixed(UNIT, atoms=[0.0]),
    ys=np.array([0.0, 0.25, 0.75]),
    pml=exactly(np.log(1.5)),
    pmc=exactly(np.log(2.0)),
    proof="Atom and Lebesgue part have mass in (1/4, 3/4), mean 1/2, for almost every x; only x"
    " = 1/2 gives the atom for certain.",
)

# -- decoys: countable outcomes --------------------------------------------------------------

decoy(
    "identity_on_a_head",
    "pml",
    exactly(np.log((0.5 + 2.0**-32) / (0.75 * 2.0**-30))),
    density=lambda m, x: (
        0.5 * b(m)
        + np.where(
            m < 30,
            np.where(x > b(m), np.where(x <= 2 * b(m), 0.5, 0.0), 0.0),
            np.where(m == 30, np.where(x <= 2.0**-30, 0.5, 0.0), 0.0),
        )
    ),
    prior=ON_UNIT,
    outcome=COUNTS,
    near=lambda y: tuple(2.0 ** -np.arange(1, 32)),
    ys=np.arange(0.0, 60.0),
    proof="Half the time Y = min(floor(-log2 X), 30). PML(m) = log(2**m + 1/2) for m < 30, the"
    " claim for m = 30, the largest, and 0 beyond, where f = b(m)/2 for every x.",
)
decoy(
    "identity_with_a_prior_that_ends",
    "pml",
    exactly(np.log((3.0**30 + 1) / 2)),
    density=lambda m, n: np.where(
        n == 0,
        np.where(m == 0, 0.75, 3.0**-m / 2),
        np.where(m == 0, 0.25, np.where(m == n, 0.5, 0.0) + 3.0**-m / 2),
    ),
    prior=counted(
        lambda: bl.Measure(
            lambda n: np.where(n == 0, 0.5 + 0.5 * 3.0**-30, np.where(n <= 30, 3.0**-n, 0.0)),
            on=COUNTS,
            tail=lambda n: 3.0 ** -min(n, 600),
        ),
        lambda n: np.where(n == 0, 0.5 + 0.5 * 3.0**-30, 3.0**-n),
        0,
        31,
    ),
    outcome=COUNTS,
    ys=np.arange(0.0, 60.0),
    proof="Example 8 of 'Information Density Bounds for Privacy' with a prior that ends at 30:"
    " f_Y(m) = 3**-m for 1 <= m <= 30, ess sup 1/2 + 3**-m/2; beyond 30 f is the same for"
    " all secrets.",
)
both(
    "discrete_laplace_noise",
    density=lambda m, x: (1 - np.exp(-1.0)) / (1 + np.exp(-1.0)) * np.exp(-np.abs(m - x)),
    prior=labels([0.0, 1.0, 2.0, 3.0], [0.25, 0.25, 0.25, 0.25]),
    outcome=bl.Integers(),
    ys=np.arange(-40.0, 41.0),
    pml=exactly(np.log(4 * np.exp(3) / (1 + np.e + np.exp(2) + np.exp(3)))),
    pmc=exactly(np.log((1 + np.e + np.exp(2) + np.exp(3)) / 4)),
    proof="For m >= 3 f is proportional to exp(x), at one rate in m: the ratios are e^3/E e^X and"
    " E e^X, the same for m <= 0, and smaller at m = 1 and m = 2.",
)
decoy(
    "identity_up_to_ten",
    "pml",
    exactly(6.672649443605202),
    density=lambda m, n: 0.25 * b(m) + np.where(m == np.minimum(n, 10), 0.75, 0.0),
    prior=POISSON,
    outcome=COUNTS,
    ys=np.arange(0.0, 60.0),
    proof="PML(m) = log((3/4 + b/4)/(3/4 P(m) + b/4)) for m < 10, with P(X >= 10) in place of"
    " P(m) at m = 10, where it is"
    " largest; beyond, f is the same for all secrets.",
)

# -- infinities: noise -----------------------------------------------------------------------


def gaussian(y: Any, x: Any) -> Any:
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def log_gaussian(y: Any, x: Any) -> Any:
    return -((y - x) ** 2) / 2 - 0.5 * np.log(2 * np.pi)


FAR = np.geomspace(4.0, 1e6, 12)
TO_ZERO = np.geomspace(0.1, 1e-12, 12)

infinity(
    "gaussian_noise_on_an_interval_pml",
    "pml",
    lambda y: np.log(y - 1),
    density=gaussian,
    log_density=log_gaussian,
    prior=ON_UNIT,
    outcome=REALS,
    ys=np.geomspace(4.0, 3000.0, 12),
    proof="For y > 1 f_Y is the integral over t in (0, 1) of phi(y - 1 + t) <= phi(y-1)"
    " exp(-(y-1)t), at most phi(y-1)/(y-1), and ess sup f = phi(y-1): PML(y) >= log(y - 1).",
)
infinity(
    "gaussian_noise_on_an_interval_pmc",
    "pmc",
    lambda y: y / 2 - 1 / 8 - np.log(2),
    density=gaussian,
    log_density=log_gaussian,
    prior=ON_UNIT,
    outcome=REALS,
    ys=np.geomspace(4.0, 3000.0, 12),
    proof="For y > 1 f_Y >= phi(y - 1/2)/2 and ess inf f = phi(y), so PMC(y) >= y/2 - 1/8 - log 2.",
)
infinity(
    "gaussian_noise_on_a_normal_pml",
    "pml",
    lambda y: y * y / 4 + np.log(2) / 2,
    density=gaussian,
    log_density=log_gaussian,
    prior=NORMAL,
    outcome=REALS,
    near=lambda y: (y,),
    ys=np.linspace(1.0, 30.0, 12),
    proof="ess sup f = phi(0) at every y; f_Y is normal of variance 2: PML(y) = y**2/4 + log(2)/2.",
)
infinity(
    "gaussian_noise_on_a_normal_at_one_outcome",
    "pmc",
    lambda y: INF,
    seen=300.0,
    density=gaussian,
    log_density=log_gaussian,
    prior=NORMAL,
    outcome=REALS,
    at=0.0,
    proof="f(0|x) -> 0 as x -> inf: ess inf over the support is 0, and f_Y(0) > 0.",
)
infinity(
    "laplace_noise_on_a_laplace_secret",
    "pml",
    lambda y: np.log(2) + y - np.log1p(y),
    density=lambda y, x: np.exp(-np.abs(y - x)) / 2,
    log_density=lambda y, x: -np.abs(y - x) - np.log(2),
    prior=LAPLACE,
    outcome=REALS,
    near=lambda y: (0.0, y),
    ys=np.linspace(1.0, 600.0, 12),
    proof="ess sup f = 1/2 and f_Y = (1 + |y|) exp(-|y|)/4: PML(y) = log 2 + |y| - log(1 + |y|).",
)
infinity(
    "cauchy_noise_on_a_cauchy_secret",
    "pml",
    lambda y: np.log((4 + y * y) / 2),
    density=lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)),
    prior=CAUCHY,
    outcome=REALS,
    near=lambda y: (0.0, y),
    ys=np.geomspace(1.0, 1e5, 12),
    proof="ess sup f = 1/pi, f_Y is Cauchy of scale 2: PML(y) = log((4 + y**2)/2). Heavy tails"
    " do not help an unbounded secret.",
)
infinity(
    "uniform_noise_at_the_edge",
    "pml",
    lambda y: -np.log(y + 0.5),
    density=lambda y, x: np.where(np.abs(y - x) < 0.5, 1.0, 0.0),
    prior=ON_UNIT,
    outcome=bl.Interval(-0.5, 1.5),
    near=lambda y: (y - 0.5, y + 0.5),
    ys=-0.5 + TO_ZERO,
    proof="For -1/2 < y < 1/2 f_Y = y + 1/2 and ess sup f = 1: PML(y) = -log(y + 1/2).",
)
infinity(
    "singular_noise",
    "pml",
    lambda y: INF,
    seen=12.0,
    density=lambda y, x: (
        1 / np.sqrt(np.where(y == x, 1.0, np.abs(y - x))) / (2 * (np.sqrt(x) + np.sqrt(1 - x)))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    ys=np.array([0.5, 0.25, 0.75]),
    proof="The noise has density |u|**-0.5: near x = y it exceeds every bound on a set of"
    " positive measure, while f_Y <= 2: PML(y) is infinite at every y.",
)
infinity(
    "singular_noise_at_one_outcome",
    "pml",
    lambda y: INF,
    seen=12.0,
    density=lambda y, x: (
        1 / np.sqrt(np.where(y == x, 1.0, np.abs(y - x))) / (2 * (np.sqrt(x) + np.sqrt(1 - x)))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    at=0.25,
    proof="As the previous one, at y = 1/4.",
)

# -- infinities: rates and exponents that depend on the secret -------------------------------

for kind, growth, why in (
    ("pml", lambda y: np.log(y / 2), "ess sup f >= exp(-y), f_Y <= 2 exp(-y)/y: PML >= log(y/2)"),
    (
        "pmc",
        lambda y: y / 2 - np.log(4),
        "ess inf f = 2 exp(-2y) and f_Y >= exp(-1.5 y)/2: PMC >= y/2 - log 4",
    ),
):
    infinity(
        f"exponential_rates_{kind}",
        kind,
        growth,
        density=lambda y, x: x * np.exp(-x * y),
        log_density=lambda y, x: np.log(x) - x * y,
        prior=ON_1_2,
        outcome=HALF_LINE,
        ys=FAR,
        proof=f"For y >= 1 {why}.",
    )
    infinity(
        f"pareto_exponents_{kind}",
        kind,
        lambda y, growth=growth: growth(np.log1p(y)),
        density=lambda y, x: x * (1 + y) ** (-x - 1),
        prior=ON_1_2,
        outcome=HALF_LINE,
        # PML grows like the logarithm of a logarithm.
        hard=kind == "pml",
        ys=np.expm1(np.geomspace(4.0, 300.0, 12)),
        proof=f"With L = log(1 + y) for y, the law of L is exponential of rate x: for L >= 1 {why}"
        ", read with L for y; the Jacobian cancels.",
    )
infinity(
    "exponential_rates_of_one_over_y",
    "pml",
    lambda y: -np.log(2 * y),
    density=lambda y, x: x * np.exp(-x / y) / y**2,
    log_density=lambda y, x: np.log(x) - x / y - 2 * np.log(y),
    prior=ON_1_2,
    outcome=HALF_LINE,
    ys=1 / FAR,
    proof="1/Y is exponential of rate x: PML(y) >= log(1/(2y)) for y <= 1. All of f is exp(-1/y)"
    " small at the corner, yet the ratio grows as a power.",
)
infinity(
    "powers_on_an_interval_pml",
    "pml",
    lambda y: np.log(np.log(y) ** 2 / (2 * (2 - np.log(y)))),
    density=lambda y, x: (1 + x) / 2 * y ** ((x - 1) / 2),
    prior=ON_UNIT,
    outcome=UNIT,
    hard=True,
    ys=np.exp(-np.geomspace(8.0, 680.0, 12)),
    proof="Exponent s - 1 with s = (1 + x)/2, L = log 1/y: f_Y <= 2 y**-0.5 (1/(2L) + 1/L**2),"
    " while ess sup f >= y**-0.5/2: PML >= log(L**2/(2(L + 2))), a logarithm of a"
    " logarithm.",
)
infinity(
    "powers_on_an_interval_pmc",
    "pmc",
    lambda y: np.log(0.1) - 0.4 * np.log(y),
    density=lambda y, x: (1 + x) / 2 * y ** ((x - 1) / 2),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=TO_ZERO,
    proof="For y <= exp(-2) ess inf f = 1, at s -> 1, and f_Y >= P(s < 0.6) 0.5 y**-0.4 = 0.1"
    " y**-0.4.",
)
infinity(
    "powers_of_two_labels",
    "pmc",
    lambda y: np.log(1e-3) - 0.9 * np.log(y),
    density=lambda y, x: x * y ** (x - 1),
    prior=labels([0.1, 1.0], [0.01, 0.99]),
    outcome=UNIT,
    ys=TO_ZERO**2,
    proof="f_Y >= 0.01 * 0.1 y**-0.9 and ess inf f <= 1, the label 1. (PML is log 100.)",
)
infinity(
    "geometric_rates",
    "pml",
    lambda m: np.log((m + 1) / 2),
    density=lambda m, x: (1 - x) * x**m,
    log_density=lambda m, x: np.log1p(-x) + m * np.log(x),
    prior=uniform(0.0, 0.5),
    outcome=COUNTS,
    ys=np.array([1, 3, 10, 30, 100, 300, 1000, 3000, 10000]),
    proof="For m >= 1 ess sup f = 2**-(m+1), at x -> 1/2, and f_Y <= 2 * 2**-(m+1)/(m+1).",
)
infinity(
    "zeta_like_rates",
    "pml",
    lambda m: np.log(np.log(m) / 4),
    density=lambda m, x: 1.0 * m**-x - (m + 1.0) ** -x,
    log_density=lambda m, x: -x * np.log(m) + np.log(-np.expm1(-x * np.log1p(1 / m))),
    prior=ON_1_2,
    outcome=bl.Integers(1, None),
    hard=True,
    ys=np.geomspace(1e2, 1e15, 12).round(),
    proof="The masses telescope; f is the integral of x t**(-x-1) over (m, m+1). ess sup f >="
    " 1/(m(m+1)) and f_Y <= 2 m**-2/log m, so PML >= log(log(m)/4) for m >= 1.",
)

# -- infinities: blow-ups --------------------------------------------------------------------

infinity(
    "clayton_mixture_pml",
    "pml",
    lambda y: np.log(0.9 / (4 * y)),
    density=clayton,
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    ys=TO_ZERO,
    proof="f_Y = 1 (a copula), and at x = y the copula's density is 2/(y (2 - y)**3) >= 1/(4y);"
    " continuous, so the essential supremum is no smaller.",
)
infinity(
    "clayton_theta_2_at_one",
    "pml",
    lambda y: np.log(0.9 * 0.5 / (1 - y)),
    density=lambda y, x: (
        0.1 + 0.9 * 3 * (x * (1 - y)) ** 2 / (x**2 + (1 - y) ** 2 - (x * (1 - y)) ** 2) ** 2.5
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (1 - y,),
    ys=1 - 4.0 ** -np.arange(2, 24),
    proof="The Clayton copula of theta = 2 reflected in y, so f_Y = 1; at x = v = 1 - y its"
    " density is 3 v**4/(2 v**2 - v**4)**2.5 >= 3/(2**2.5 v) > 0.5/v.",
)
infinity(
    "power_of_three_tenths",
    "pml",
    lambda y: np.log((1 - y**0.7 + y**-0.3) / 1.8404),
    density=lambda y, x: shrinking(y, x, 0.7),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    ys=TO_ZERO,
    proof="ess sup f = 1 - y**0.7 + y**-0.3, as x falls to y; f_Y <= 1 - 1/1.7 + 1/0.7 < 1.8404.",
)
infinity(
    "power_at_a_third_from_a_parameter",
    "pml",
    lambda y: np.log(float(third(y)) ** -0.625 / 3.667),
    density=lambda y, x, q: shrinking(third(y), x, q),
    params={"q": 0.375},
    prior=ON_UNIT,
    outcome=UNIT,
    breaks=(THIRD,),
    near=lambda y: (float(third(y)),),
    ys=1 / 3 - 4.0 ** -np.arange(2, 22),
    proof="Folded at y = 1/3: u = third(y) is uniform where y is. ess sup f >= u**(q-1), f_Y <="
    " 1 + 1/q < 3.667.",
)
infinity(
    "power_at_infinity",
    "pml",
    lambda y: np.log(np.sqrt(1 + y) / 3),
    density=lambda y, x: shrinking(1 / (1 + y), x, 0.5) / (1 + y) ** 2,
    prior=ON_UNIT,
    outcome=HALF_LINE,
    near=lambda y: (1 / (1 + y),),
    ys=np.geomspace(10.0, 1e12, 12),
    proof="u = 1/(1 + y) carries the density to the unit interval, Jacobian u**2: ess sup f >="
    " u**2 u**-0.5 and f_Y <= 3 u**2. f itself vanishes as y -> inf.",
)
infinity(
    "parabola",
    "pml",
    lambda y: np.log(1.8 / (1.9 * y)),
    density=lambda y, x: (
        0.1 + 0.9 * np.where(y < np.sqrt(x), np.where(y > np.sqrt(x) / 2, 2 / np.sqrt(x), 0.0), 0.0)
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y * y, min(4 * y * y, 1.0)),
    ys=TO_ZERO,
    proof="Y is uniform on (sqrt(x)/2, sqrt(x)) with probability 0.9: ess sup f > 1.8/y, as x"
    " falls to y**2, and f_Y = 0.1 + 3.6 (min(2y, 1) - y) <= 1.9. The blow-up lies along a"
    " parabola.",
)
infinity(
    "power_of_a_hundredth",
    "pml",
    lambda y: np.log((1 - y**0.99 + y**-0.01) / 1.508),
    density=lambda y, x: shrinking(y, x, 0.99),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    hard=True,
    ys=np.geomspace(0.1, 1e-50, 12),
    proof="ess sup f = 1 - y**0.99 + y**-0.01, f_Y <= 1 - 1/1.99 + 1/0.99 < 1.508: unbounded,"
    " but only 7.9 at y = 1e-300 within the logarithm.",
)
infinity(
    "power_on_and_off",
    "pml",
    lambda y: np.log(y**-0.3 / 2.5),
    density=lambda y, x: (
        1
        + 0.5
        * (
            np.where(y < x, x**-0.3 * (1 + np.sin(np.log(y))), 0.0)
            - x**0.7 * (1 + (np.sin(np.log(x)) - np.cos(np.log(x))) / 2)
        )
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    hard=True,
    ys=np.exp(-1.5 * np.pi - 2 * np.pi * np.arange(12)),
    proof="At y = exp(-3 pi/2 - 2 pi k) sin(log y) = 1, and near it ess sup f >= 1 + y**-0.3 -"
    " 0.86 >= y**-0.3, while f_Y <= 1 + E X**-0.3 < 2.5. Where sin(log y) = -1 nothing"
    " blows up.",
)
infinity(
    "uniform_below_the_secret_at_one",
    "pml",
    lambda y: -np.log(-y * np.log(y)),
    density=lambda y, x: np.where(y < x, 1 / x, 0.0),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    ys=1 - TO_ZERO,
    proof="ess sup f = 1/y and f_Y = log 1/y: the ratio is infinite at y -> 1, where f is"
    " bounded and f_Y -> 0, as well as at y -> 0, where both are infinite.",
)
infinity(
    "quotient_at_the_corner",
    "pml",
    lambda y: np.log(0.306 / (y * np.log1p(1 / y))),
    density=lambda y, x: y / (x + y) / (1 - x * (np.log(1 + x) - np.log(x))),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (y,),
    ys=TO_ZERO,
    proof="The normaliser lies in (1 - log 2, 1), so f <= 1/0.306 is bounded; ess sup f >= 1 as"
    " x -> 0 and f_Y <= y log(1 + 1/y)/0.306: the denominator vanishes and the numerator"
    " does not.",
)

# -- infinities: zeros (PMC) -----------------------------------------------------------------

infinity(
    "bilinear",
    "pmc",
    lambda y: -np.log(2 * y),
    density=lambda y, x: 1 + (2 * x - 1) * (2 * y - 1),
    prior=ARCSINE,
    outcome=UNIT,
    ys=np.geomspace(0.1, 1e-8, 12),
    proof="Tilt: ess inf f = 1 - |2y - 1| = 2y for y < 1/2. f > 0 everywhere inside.",
)
infinity(
    "zero_on_half_the_secrets",
    "pmc",
    lambda y: INF,
    seen=INF,
    density=lambda y, x: np.where(x < 0.5, np.where(y < 0.5, 2.0, 0.0), 1.0),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (0.5,),
    ys=np.array([0.6, 0.8]),
    proof="For y > 1/2 f = 0 on x < 1/2, which has probability 1/2, and f_Y = 1/2.",
)
infinity(
    "zero_on_a_thin_slice",
    "pmc",
    lambda y: INF,
    seen=INF,
    density=lambda y, x: np.where(
        np.abs(x - 0.3) < 5e-7, np.where(np.abs(y - 0.7) < 0.25, 2.0, 0.0), 1.0
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    near=lambda y: (0.3 - 5e-7, 0.3 + 5e-7),
    ys=np.array([0.2, 0.4]),
    proof="A slice of x of probability 1e-6 never gives y < 0.45, where f_Y = 1 - 1e-6.",
)
infinity(
    "atom_that_fades",
    "pmc",
    lambda y: INF,
    seen=30.0,
    density=lambda y, x: 1 - np.abs(x - 0.5) + 0 * y,
    masses={0.0: lambda x: np.abs(x - 0.5)},
    prior=ON_UNIT,
    outcome=bl.Mixed(UNIT, atoms=[0.0]),
    near=lambda y: (0.5,),
    ys=np.array([0.0]),
    proof="The atom has probability 1/4 and mass |x - 1/2| given x, with essential infimum 0: it"
    " is 0 at the one point 1/2 only, but below every bound on an interval around it.",
)
infinity(
    "mixture_of_two_singularities_pmc",
    "pmc",
    lambda y: np.log(0.5 * np.sqrt((1 - y) / y)),
    density=lambda y, x: x * 0.5 / np.sqrt(y) + (1 - x) * 0.5 / np.sqrt(1 - y),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=TO_ZERO,
    proof="For y < 1/2 ess inf f = 0.5 (1-y)**-0.5, at x -> 0, and f_Y >= 0.25 y**-0.5.",
)
infinity(
    "mixture_with_an_essential_zero_pmc",
    "pmc",
    lambda y: 1 / y - 1 + 2 * np.log(y) - np.log(2),
    density=lambda y, x: x + (1 - x) * inverse_gamma(y),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=np.array([0.2, 0.1, 0.07, 0.05, 0.04, 0.03]),
    proof="f_Y >= 1/2 and ess inf f = exp(1 - 1/y)/y**2 for small y, at x -> 0: faster than a"
    " power.",
)

# -- infinities: countable outcomes ----------------------------------------------------------

infinity(
    "identity_on_dyadic_intervals",
    "pml",
    lambda m: m * np.log(2),
    density=lambda m, x: 0.5 * b(m) + np.where(x > b(m), np.where(x <= 2 * b(m), 0.5, 0.0), 0.0),
    prior=ON_UNIT,
    outcome=COUNTS,
    near=lambda m: (b(m), 2 * b(m)),
    ys=np.arange(0.0, 60.0, 4),
    proof="Half the time Y = floor(-log2 X): f_Y(m) = b(m), ess sup f(m|.) >= 1/2 on an interval"
    " of length b(m) > 0: PML(m) = log(2**m + 1/2).",
)
infinity(
    "identity_on_the_squares",
    "pml",
    lambda m: np.sqrt(m) * np.log(2),
    density=lambda m, x: (
        0.5 * b(m)
        + np.where(
            np.sqrt(m) == np.floor(np.sqrt(m)),
            np.where(x > b(np.sqrt(m)), np.where(x <= 2 * b(np.sqrt(m)), 0.5, 0.0), 0.0),
            0.0,
        )
    ),
    prior=ON_UNIT,
    outcome=COUNTS,
    near=lambda m: (b(np.sqrt(m)), 2 * b(np.sqrt(m))),
    hard=True,
    ys=np.arange(1.0, 60.0, 4) ** 2,
    proof="As the previous one, but the k-th interval gives k**2: at m = k**2 ess sup f > 1/2"
    " and f_Y <= b(k), PML >= k log 2; between the squares PML is 0.",
)
infinity(
    "example_8",
    "pml",
    lambda m: np.log((3.0**m + 1) / 2),
    density=lambda m, n: np.where(
        n == 0,
        np.where(m == 0, 0.75, 3.0**-m / 2),
        np.where(m == 0, 0.25, np.where(m == n, 0.5, 0.0) + 3.0**-m / 2),
    ),
    prior=counted(
        lambda: bl.Measure(
            lambda n: np.where(n == 0, 0.5, 3.0**-n), on=COUNTS, tail=lambda n: 3.0 ** -min(n, 600)
        ),
        lambda n: np.where(n == 0, 0.5, 3.0**-n),
        0,
        600,
    ),
    outcome=COUNTS,
    ys=np.arange(1.0, 60.0, 4),
    proof="Example 8 of 'Information Density Bounds for Privacy': f_Y(m) = 3**-m and ess sup"
    " f(m|.) = 1/2 + 3**-m/2, at the atom n = m.",
)
infinity(
    "geometric_two_rates_pmc",
    "pmc",
    lambda m: m * np.log(2) + np.log(0.001 * 0.5 / 0.75),
    density=lambda m, x: (1 - x) * x**m,
    log_density=lambda m, x: np.log1p(-x) + m * np.log(x),
    prior=labels([0.25, 0.5], [0.999, 0.001]),
    outcome=COUNTS,
    ys=np.arange(20, 2000, 200),
    proof="f_Y >= 0.001 * 0.5 * 2**-m and ess inf f = 0.75 * 4**-m. (PML is log 1000.)",
)
