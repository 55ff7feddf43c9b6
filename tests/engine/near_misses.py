"""Near misses: finite suprema that each lack one condition of an argument for an infinity.

Written next to the arguments, as `blind_infinities` was not; the truths are closed forms.
"Mirrored" means f(y|x) = 1 + c(x, y) for y < 1/2 and 1 - c(x, 1 - y) for y > 1/2: it integrates
to 1 whatever c is. "Tilt" is as in `blind_infinities`.
"""

import numpy as np
from engine.blind_infinities import (
    COUNTS,
    HALF_LINE,
    ON_UNIT,
    REALS,
    UNIT,
    Decoy,
    b,
    exactly,
    labels,
    part_of_unit,
)

import borel as bl

NEAR_MISSES: list[Decoy] = []
BITS = labels([0.0, 1.0], [0.25, 0.75])
EVEN = labels([0.0, 1.0], [0.5, 0.5])


def near_miss(name, kind, truth, **rest):
    NEAR_MISSES.append(Decoy(name=name, kind=kind, truth=exactly(truth), **rest))


def both(name, *, pml, pmc, **rest):
    near_miss(f"{name}_pml", "pml", pml, **rest)
    near_miss(f"{name}_pmc", "pmc", pmc, **rest)


def mirrored(c):
    return lambda y, x: np.where(y < 0.5, 1 + c(x, y), 1 - c(x, 1 - y))


# -- slopes in the secret ------------------------------------------------------------------------

both(
    "a_slope_that_grows_at_one_secret",
    density=mirrored(lambda x, y: 0.5 * np.tanh((x - 0.5) / y)),
    prior=ON_UNIT,
    outcome=UNIT,
    breaks=(0.5,),
    near=lambda y: (0.5,),
    ys=np.concatenate([np.geomspace(1e-9, 0.49, 20), 1 - np.geomspace(1e-9, 0.49, 20)]),
    pml=np.log(1.5),
    pmc=np.log(2.0),
    proof="c is odd about x = 1/2, so f_Y = 1; |c| < 1/2, approached as y -> 0. The slope at x ="
    " 1/2 is 1/(2y), of one sign everywhere, and exponentially small elsewhere.",
)
both(
    "a_slope_that_grows_at_an_end",
    density=mirrored(lambda x, y: 0.5 - np.exp(-x / y)),
    prior=ON_UNIT,
    outcome=UNIT,
    breaks=(0.5,),
    near=lambda y: (y,),
    ys=np.concatenate([np.geomspace(1e-9, 0.49, 20), 1 - np.geomspace(1e-9, 0.49, 20)]),
    pml=np.log(3.0),
    pmc=np.log(3.0),
    proof="With m(y) = y (1 - exp(-1/y)), which grows: for y > 1/2 and y' = 1 - y, f = 1/2 +"
    " exp(-x/y') has the supremum 3/2 and the mean 1/2 + m(y') -> 1/2; for y < 1/2 the infimum"
    " 1/2 and the mean 3/2 - m(y) -> 3/2. The other two ratios are below 1.5.",
)
near_miss(
    "pareto_exponents_of_two_labels",
    "pml",
    np.log(4.0),
    density=lambda y, x: x * (1 + y) ** (-x - 1),
    prior=labels([1.0, 2.0], [0.25, 0.75]),
    outcome=HALF_LINE,
    ys=np.geomspace(0.01, 1e12, 40),
    proof="f_Y >= P(x) f(y|x), approached at infinity, where the exponent 1 outlives 2. The slope"
    " in x runs to minus infinity, but the prior has atoms.",
)
near_miss(
    "a_slope_that_stays",
    "pmc",
    np.log(0.5 + 0.25 * (np.e + 1)),
    density=lambda y, x: x * np.exp(-x * y) / (1 - np.exp(-x)),
    prior=labels([1.0, 2.0], [0.5, 0.5]),
    outcome=UNIT,
    ys=np.linspace(0.0, 1.0, 41),
    proof="f(y|1)/f(y|2) = (e + 1) exp(y - 1)/2 grows: the extremes are at y = 0 and y = 1.",
)

# -- pairs of secrets ----------------------------------------------------------------------------

near_miss(
    "laplace_noise_on_a_bit",
    "pmc",
    np.log(0.25 + 0.75 * np.e),
    density=lambda y, x: np.exp(-np.abs(y - x)) / 2,
    prior=BITS,
    outcome=REALS,
    ys=np.linspace(-40.0, 40.0, 41),
    proof="For y >= 1 the infimum is that of x = 0 and f_Y is (1/4 + 3e/4) times it; for y <= 0"
    " 3/4 + e/4. Both logarithms are linear far out, with one slope.",
)
near_miss(
    "cauchy_noise_on_a_bit",
    "pmc",
    np.log(0.25 + 0.75 * (3 + np.sqrt(5.0)) / 2),
    density=lambda y, x: 1 / (np.pi * (1 + (y - x) ** 2)),
    prior=BITS,
    outcome=REALS,
    ys=np.append(np.linspace(-40.0, 40.0, 41), (1 + np.sqrt(5.0)) / 2),
    proof="(1 + y**2)/(1 + (y-1)**2) has the maximum (3 + sqrt 5)/2, at the golden ratio.",
)
near_miss(
    "exponential_noise_cut_off",
    "pmc",
    np.log(0.5 + 0.25 * (np.e + 1)),
    density=lambda y, x: np.where(y < 1, x * np.exp(-x * y) / (1 - np.exp(-x)), 0.0),
    prior=labels([1.0, 2.0], [0.5, 0.5]),
    outcome=HALF_LINE,
    breaks=(1.0,),
    ys=np.linspace(0.0, 0.999999, 41),
    proof="f(y|1)/f(y|2) = K exp(y) up to y = 1; beyond both are 0, and nothing leaks.",
)
both(
    "gaussian_with_a_bounded_tilt",
    density=lambda y, x: np.exp(-y * y / 2) / np.sqrt(2 * np.pi) * (1 + (x - 0.5) * np.tanh(y)),
    prior=EVEN,
    outcome=REALS,
    ys=np.linspace(-30.0, 30.0, 41),
    pml=np.log(1.5),
    pmc=np.log(2.0),
    proof="Tilt with the normal density: tanh is odd, and 1 is approached.",
)
both(
    "laplace_noise_in_disguise",
    density=lambda y, x: (
        np.exp((y - x) ** 2 / 2 - np.abs(y - x) - (y * y - 2 * x * y + x * x) / 2) / 2
    ),
    prior=BITS,
    outcome=REALS,
    ys=np.linspace(-30.0, 30.0, 41),
    pml=np.log(np.e / (0.75 + 0.25 * np.e)),
    pmc=np.log(0.25 + 0.75 * np.e),
    proof="Every square cancels: Laplace noise is left, with the extremes below 0 and beyond 1.",
)

near_miss(
    "mixture_of_laplace_scales",
    "pmc",
    np.log(2.5),
    density=lambda y, x: (1 + x) / 4 * np.exp(-np.abs(y)) + (1 - x) / 8 * np.exp(-np.abs(y) / 2),
    prior=labels([-0.5, 0.5], [0.75, 0.25]),
    outcome=REALS,
    ys=np.linspace(-60.0, 60.0, 61),
    proof="Weights 1/4 and 3/4, or the reverse: beyond, the wider scale alone counts, with the"
    " weights 3/4 and 1/4 and the mean 5/8; at 0 the densities are 5/16 and 7/16.",
)

# The maximum of y (1 - tanh y) is where y (1 + tanh y) = 1.
PEAK = 0.63923227138053
BUMP = PEAK * (1 - np.tanh(PEAK))
both(
    "a_tilt_that_intervals_lose",
    density=lambda y, x: (
        np.exp(-y * y / 2) / np.sqrt(2 * np.pi) * (1 + (x - 0.5) * y * (1 - np.tanh(np.abs(y))))
    ),
    prior=EVEN,
    outcome=REALS,
    ys=np.append(np.linspace(-30.0, 30.0, 41), [PEAK, -PEAK]),
    pml=np.log1p(BUMP / 2),
    pmc=-np.log1p(-BUMP / 2),
    proof="Tilt with the normal density: y (1 - tanh |y|) is odd, and greatest at the peak.",
)

# -- scales of the secret ------------------------------------------------------------------------

near_miss(
    "uniform_noise_on_a_background",
    "pml",
    np.log(3.0),
    density=lambda y, x: 0.25 + np.where(np.abs(y - x) < 0.5, 0.5, 0.0),
    prior=ON_UNIT,
    outcome=bl.Interval(-0.5, 1.5),
    near=lambda y: (y - 0.5, y + 0.5),
    ys=np.concatenate([-0.5 + np.geomspace(1e-12, 0.9, 30), [1.2, 1.49]]),
    proof="f = 3/4 for secrets within 1/2 and f_Y >= 1/4, approached at both edges.",
)
both(
    "a_tilt_that_falls_at_infinity",
    density=lambda y, x: (1 + 0.5 * (2 * x - 1) * (1 - 2 / (1 + y))) / (1 + y) ** 2,
    prior=ON_UNIT,
    outcome=HALF_LINE,
    ys=np.geomspace(1e-6, 1e12, 40),
    pml=np.log(1.5),
    pmc=np.log(2.0),
    proof="Tilt with g = (1 + y)**-2, under which 1/(1 + y) is uniform. All of f falls alike.",
)
near_miss(
    "a_corner_that_f_y_sees_too",
    "pml",
    np.log(3.0),
    density=mirrored(lambda x, y: np.where(x < y, 1.0, -1.0) * 0.5),
    prior=part_of_unit(0.0, 0.5),
    outcome=UNIT,
    breaks=(0.5,),
    near=lambda y: (y, 1 - y),
    ys=np.concatenate([np.geomspace(1e-9, 0.49, 20), 1 - np.geomspace(1e-9, 0.49, 20)]),
    proof="For y < 1/2 f = 3/2 on x < y, of mass 2y, and 1/2 beyond: PML = log(1.5/(0.5 + 2y)) ->"
    " log 3. For y > 1/2 1/2 and 3/2, f_Y = 3/2 - 2(1 - y), at least 1/2.",
)

near_miss(
    "a_corner_of_fixed_mass",
    "pml",
    np.log(16.0),
    density=mirrored(lambda x, y: np.where(x < 0.0625, 0.5, 2 * y - 1)),
    prior=ON_UNIT,
    outcome=UNIT,
    breaks=(0.5,),
    near=lambda y: (0.0625,),
    ys=np.concatenate([np.geomspace(1e-9, 0.49, 20), 1 - np.geomspace(1e-9, 0.49, 20)]),
    proof="For y < 1/2 f = 3/2 on a sixteenth of the secrets and 2y on the others: PML ="
    " log(24/(1.5 + 30y)) falls from log 16. For y > 1/2 f_Y >= 15/16 and f <= 2.",
)

# -- waves ---------------------------------------------------------------------------------------

MEAN = 1 / 0.7 - 0.5 / 1.49


def part_below(y):
    """The integral of y**-0.3 (1 + sin(log y)/2) over (0, y)."""
    level = np.log(y)
    return y**0.7 * (1 / 0.7 + 0.5 * (0.7 * np.sin(level) - np.cos(level)) / 1.49)


both(
    "a_wave_that_is_common",
    density=lambda y, x: (
        y**-0.3
        * (1 + 0.5 * np.sin(np.log(y)))
        / MEAN
        * (1 + 0.5 * (2 * x - 1) * (1 - 2 * part_below(y) / MEAN))
    ),
    prior=ON_UNIT,
    outcome=UNIT,
    ys=np.concatenate(
        [np.exp(-1.5 * np.pi - 2 * np.pi * np.arange(9)), np.geomspace(1e-9, 0.99, 30)]
    ),
    pml=np.log(1.5),
    pmc=np.log(2.0),
    proof="Tilt: 1 - 2 G with G the distribution function of the density g, which blows up where a"
    " wave is high.",
)
SINES = 0.25 * np.sin(1.0) / (1.25 - np.cos(1.0))
both(
    "a_wave_on_integers",
    density=lambda m, x: b(m) * (1 + 0.5 * (2 * x - 1) * (np.sin(1.0 * m) - SINES)),
    prior=ON_UNIT,
    outcome=COUNTS,
    ys=np.append(np.arange(0.0, 60.0), [699.0, 355.0, 333.0]),
    pml=np.log(1 + (1 + SINES) / 2),
    pmc=-np.log(1 - (1 + SINES) / 2),
    proof="Tilt with g = b: the mean of sin m is Im (1/2)/(1 - exp(i)/2); sin m is dense in (-1, 1)"
    " and never reaches its ends.",
)

# -- scales of the outcome -----------------------------------------------------------------------

near_miss(
    "dyadic_intervals_that_fade",
    "pml",
    np.log(6.0),
    density=lambda m, x: (
        (1 - x) * b(m) + x * np.where(x > b(m), np.where(x <= 2 * b(m), 1.0, 0.0), 0.0)
    ),
    prior=ON_UNIT,
    outcome=COUNTS,
    near=lambda m: (b(m), 2 * b(m)),
    ys=np.arange(0.0, 60.0),
    proof="Y = floor(-log2 X) with probability X, else geometric: ess sup f = 3b - 2b**2 at x = 2b,"
    " f_Y = b/2 + 3b**2/2, with b = b(m) -> 0.",
)
near_miss(
    "dyadic_intervals_of_half_the_mass",
    "pml",
    np.log(4.0),
    density=lambda m, x: np.where(
        x < 0.5, np.where(m == 0, 0.0, 2 * b(m)), np.where(m == 0, 1.0, 0.0)
    ),
    prior=labels([0.25, 0.75], [0.75, 0.25]),
    outcome=COUNTS,
    ys=np.arange(0.0, 60.0),
    proof="m = 0 says x = 0.75, of mass 1/4; any other m says x = 0.25.",
)

# -- zeros at single secrets ---------------------------------------------------------------------

near_miss(
    "an_atom_that_stays",
    "pmc",
    np.log(2.25),
    density=lambda y, x: 0.9 - 0.5 * np.abs(x - 0.5) + 0 * y,
    masses={0.0: lambda x: 0.1 + 0.5 * np.abs(x - 0.5)},
    prior=ON_UNIT,
    outcome=bl.Mixed(UNIT, atoms=[0.0]),
    near=lambda y: (0.5,),
    ys=np.array([0.0, 0.5]),
    proof="At the atom the infimum is 1/10 and the mean 0.1 + 0.5/4; beside it log(0.775/0.65).",
)
near_miss(
    "an_atom_that_fades_off_the_support",
    "pmc",
    np.log(3.0),
    density=lambda y, x: 1 - np.abs(x - 0.5) + 0 * y,
    masses={0.0: lambda x: np.abs(x - 0.5)},
    prior=part_of_unit(0.59375, 0.96875),
    outcome=bl.Mixed(UNIT, atoms=[0.0]),
    near=lambda y: (0.5,),
    ys=np.array([0.0, 0.5]),
    proof="The zero at 1/2 is outside (19/32, 31/32): infimum 3/32 and mean 9/32 at the atom.",
)
