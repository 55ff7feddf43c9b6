"""The table of speed: figures of borel beside what people would write, as ratios in one process.

``python -m tests.benchmarks`` prints all of it, ``python -m tests.benchmarks finite curve`` some
groups of rows. Every timing is of inputs made anew, which is not timed itself; times are medians,
and a ratio is to the fastest of the others.
"""

import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy import integrate
from scipy.optimize import elementwise

import borel as bl
from borel import adversaries as adv
from borel.engine.kernels import marginal_integral
from borel.engine.kernels.essential_supremum import extremes
from borel.engine.kernels.quadrature_rules import Outcomes
from borel.engine.problem.secret_and_kernel import Surface, secret_of
from borel.numerics.intervals import batched
from borel.numerics.intervals.rounding import weighted_sum

try:
    import qif
except ImportError:  # it is optional
    qif = None

SECONDS, MOST = 2.0, 101
"""For how long a row is timed, once it was timed thrice, and how often at most."""


class Row(NamedTuple):
    """A figure and what it is compared with.

    ``make`` returns the arguments of both sides, made anew. ``target`` says what is wanted: a
    ratio, or a time. Beyond ``limit`` a ratio is a fault, with much room; ``check`` asserts
    something of what both sides return.
    """

    name: str
    make: Callable[[], tuple[tuple, tuple]]
    ours: Callable[..., Any]
    others: dict[str, Callable[..., Any]]
    target: str = "-"
    limit: float = math.inf
    check: Callable[..., None] = lambda found, *others: None


class Timing(NamedTuple):
    """The medians of a row, in seconds, and which of the others was the fastest."""

    row: Row
    ours: float
    theirs: float
    fastest: str

    @property
    def ratio(self):
        return self.ours / self.theirs

    def __str__(self):
        others = f"{1e3 * self.theirs:11.3f} {self.fastest:9}{self.ratio:9.2f}"
        shown = others if self.fastest else " " * 30
        return f"{self.row.name:46}{1e3 * self.ours:11.3f}{shown}{self.row.target:>14}"


HEAD = f"{'figure':46}{'borel, ms':>11}{'other, ms':>11} {'which':9}{'ratio':>9}{'target':>14}"


def timed(row):
    """Time a row: both sides in turn, a first time apart."""
    sides = {"": row.ours, **row.others}
    taken = {name: [] for name in sides}
    begun, turns = time.perf_counter(), -1
    while turns < 3 or (turns < MOST and time.perf_counter() - begun < SECONDS):
        found, (mine, theirs) = [], row.make()
        for name, function in sides.items():
            start = time.perf_counter()
            found.append(function(*(theirs if name else mine)))
            taken[name].append(time.perf_counter() - start)
        if turns < 0:  # with what is imported and traced once
            row.check(*found)
            taken = {name: [] for name in sides}
        turns += 1
    medians = {name: statistics.median(times) for name, times in taken.items()}
    ours = medians.pop("")
    fastest = min(medians, key=medians.__getitem__, default="")
    return Timing(row, ours, medians.get(fastest, math.nan), fastest)


def proved(width, *statuses):
    """Return a check of the width, and the status, of enclosures."""

    def check(found, *_):
        for one in found if isinstance(found, tuple) else (found,):
            assert float(np.max(one.upper - one.lower)) <= width
            assert not statuses or {*np.ravel(one.status).tolist()} <= {*statuses}

    return check


def laws(shape, seed=0):
    drawn = np.random.default_rng(seed).standard_exponential(shape)
    return drawn / drawn.sum(axis=-1, keepdims=True)


# -- tables: a joint made anew, and the floats it is made of ------------------------------------

SIZES = 10, 100, 1000, 2000, 4000
floats = cache(lambda n: (laws(n), laws((n, n), seed=1)))


def table(n):
    p, k = (values.copy() for values in floats(n))
    return (bl.pmf(p) * bl.Mechanism.from_matrix(k),), (p, k)


def all_of(*leakages):
    return lambda joint: [of(joint)(np.arange(joint.outcome.size)) for of in leakages]


def both(p, k):
    law = p @ k
    return np.log(k.max(axis=0) / law), np.log(law / k.min(axis=0))


# each figure of a joint with what NumPy, and perhaps qif, computes of the floats
FINITE = {
    "all PML": (all_of(bl.pml), lambda p, k: np.log(k.max(axis=0) / (p @ k))),
    "all PMC": (all_of(bl.pmc), lambda p, k: np.log((p @ k) / k.min(axis=0))),
    "all PML and PMC": (all_of(bl.pml, bl.pmc), both),
    "sup PML": (
        lambda joint: bl.pml(joint).sup(),
        lambda p, k: np.log((k.max(axis=0) / (p @ k)).max()),
    ),
    "maximal leakage": (
        bl.maximal_leakage,
        lambda p, k: np.log(k.max(axis=0).sum()),
        lambda p, k: qif.measure.bayes_vuln.mult_capacity(k),
    ),
    "LDP": (bl.ldp, lambda p, k: np.log((k.max(axis=0) / k.min(axis=0)).max())),
    "mutual information": (
        bl.mutual_information,
        lambda p, k: (p[:, None] * k * np.log(k / (p @ k))).sum(),
        lambda p, k: qif.measure.shannon.add_leakage(p, k),
    ),
    "one PML": (
        lambda joint: bl.pml(joint)(3),
        lambda p, k: np.log(k[:, 3].max() / (p @ k[:, 3])),
    ),
    "weighted_sum": (
        lambda joint: weighted_sum(joint.prior.probabilities, joint.mechanism.matrix, 0.0),
        lambda p, k: p @ k,
    ),
    "pmf": (lambda joint: bl.pmf(joint.prior.probabilities.copy()), lambda p, k: p.sum()),
    "from_matrix": (
        lambda joint: bl.Mechanism.from_matrix(joint.mechanism.matrix.copy()),
        lambda p, k: (k.copy() >= 0).all() and abs(k.sum(axis=1) - 1).max() < 1e-9,
    ),
}
WANTED = {10: "0.3 ms", 1000: "2", 2000: "2", 4000: "2"}


def finite_rows():
    for place, (name, (ours, *others)) in enumerate(FINITE.items()):
        theirs = dict(zip(["NumPy", "qif"] if qif else ["NumPy"], others, strict=False))
        for n in SIZES:
            target = WANTED.get(n, "-") if place < 7 or (place, n) == (7, 10) else "-"
            yield Row(f"{name}, {n} x {n}", partial(table, n), ours, theirs, target)


def growth(timings):
    """Say how times grow with n."""
    by_name = {timing.row.name: timing for timing in timings}
    print("time as a power of n, from n = 100 to 4000 (a table has n^2 numbers):")
    for name in FINITE:
        few, many = (by_name[f"{name}, {n} x {n}"] for n in (100, 4000))
        powers = [math.log(many[k] / few[k]) / math.log(40) for k in (1, 2)]
        print(f"  {name:20} borel {powers[0]:.2f}, {many.fastest} {powers[1]:.2f}")


LEVELS = np.linspace(0.005, 0.995, 100)


def binary_envelope(p, k):
    law = p @ k
    order = np.argsort(-k / law, axis=1)
    a, b = np.take_along_axis(k, order, axis=1).cumsum(1), law[order].cumsum(1)
    return np.max([np.interp(LEVELS, q, v) for v, q in zip(a, b, strict=True)], axis=0)


def programme_rows():
    """Figures of tables that take more than a pass."""
    matrix = laws((1000, 30), 15)
    threats = adv.gain.identity(), adv.gain.k_tries(10), adv.gain.membership(lambda x: x % 2)
    prior = np.full(1000, 0.001)
    yield Row(
        "g-leakage of three threats, 1000 x 30",
        lambda: ((bl.pmf(prior) * bl.Mechanism.from_matrix(matrix),), (matrix,)),
        lambda joint: [adv.g_leakage(joint, threat) for threat in threats],
        {"Fractions": lambda k: [sum(map(Fraction, column)) for column in k.T.tolist()]},
        "30",
        300,
    )
    yield Row(
        "binary envelope at 100 levels, 1000 x 1000",
        partial(table, 1000),
        lambda joint: bl.binary_envelope(joint)(LEVELS),
        {"NumPy": binary_envelope},
        "5",
    )
    figures = {"50 levels, 100 x 100": (100, lambda e: e.curve(np.linspace(0.02, 1, 50)), "5 s")}
    for delta in (0.05, 0.4, 0.9, 1.0):
        figures[f"{delta}, 200 x 200"] = 200, lambda e, delta=delta: e(delta), "2 s"
    for of in ("pml", "pmc"):
        for name, (n, figure, target) in figures.items():
            yield Row(
                f"envelope of {of} at {name}",
                partial(table, n),
                lambda joint, of=of, figure=figure: figure(bl.envelope(joint, of=of)),
                {},
                target,
                check=proved(1e-9, "certified"),
            )


# -- draws of a prior ----------------------------------------------------------------------------


def learnt(build, **variables):
    """Return a posterior over priors whose draws (chain, draw, ...) are declared exact."""
    data = {name: (("chain", "draw", "x")[: v.ndim], v) for name, v in variables.items()}
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(data, attrs={"borel_draws": "exact"})})
    return bl.priors.from_posterior(tree, build)


def in_blocks(p, k, size):
    """Return sup PML of each draw: a product for each block, the supremum before its logarithm."""
    out, top = np.empty(len(p)), k.max(axis=0)
    for start in range(0, len(p), size):
        law = p[start : start + size] @ k
        np.divide(top, law, out=law)
        np.log(law.max(axis=1), out=out[start : start + size])
    return out


def around(found, *others):
    low, high = (found.draws[end].values.ravel() for end in ("lower", "upper"))
    for plain in others:
        assert (low - 1e-12 <= plain).all() and (plain <= high + 1e-12).all()


def estimated(figure, *arguments):
    with bl.options(engine="estimate"):
        return figure(*arguments)


def draw_rows():
    for count, x, y in ((1000, 200, 200), (4000, 50, 200), (1_000_000, 50, 200)):
        drawn, matrix = laws((4, count // 4, x), 2), laws((x, y), 3)

        def make(p=drawn, k=matrix):
            prior = learnt(lambda draw: bl.pmf(draw["p"]), p=p)
            return (prior * bl.Mechanism.from_matrix(k),), (p.reshape(-1, len(k)), k)

        loops = {f"by {n}": partial(in_blocks, size=n) for n in (8, 64, 200, 1000, 10_000)}
        name = f"sup PML of {count} draws, {x} x {y}"
        yield Row(name, make, lambda joint: bl.pml(joint).sup(), loops, "2", check=around)
    drawn = {name: 1 + 4 * laws((4, 1000), seed) * 500 for seed, name in enumerate("ab")}
    for of in (bl.pml, bl.pmc):

        def beta_priors():
            prior = learnt(lambda draw: bl.beta(alpha=draw["a"], beta=draw["b"]), **drawn)
            return ((prior * noise(laplace, UNIT).mechanism,),) * 2

        figure = lambda joint, of=of: of(joint).sup().draws  # noqa: E731
        name = f"sup {of.__name__.upper()} of 4000 beta priors"
        yield Row(name, beta_priors, figure, {"estimate": partial(estimated, figure)})


# -- densities -----------------------------------------------------------------------------------

UNIT, SYMMETRIC = bl.Interval(0, 1), bl.Interval(-1, 1)


def clayton(y, x):
    return 0.1 + 0.9 * 2 * x * y / (x + y - x * y) ** 3


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def laplace(y, x):
    return np.exp(-np.abs(y - x) / 0.5)


def tilt(y, x):
    return 1 + (x - 0.5) * (2 * y - 1)


def noise(density=gauss, secret=SYMMETRIC, outcome=None):
    """Make a joint of a uniform prior and a density, which is traced anew."""
    return bl.uniform(secret) * bl.Mechanism(density, secret=secret, outcome=outcome or bl.Reals())


def integral(density, secret, y):
    marks = [y] if secret.lower < y < secret.upper else None  # a user says where a kink may be
    ends, level = (secret.lower, secret.upper), 1 / (secret.upper - secret.lower)
    return integrate.quad(lambda x: density(y, x) * level, *ends, points=marks)[0]


def by_quad(ys):
    """Return PML and PMC as people would: an integral and extremes on a grid for each outcome."""
    grid = np.linspace(-1, 1, 1001)
    values = [(integral(gauss, SYMMETRIC, y), gauss(y, grid)) for y in ys]
    return [(np.log(v.max() / f), np.log(f / v.min())) for f, v in values]


def curve_rows():
    ys = np.linspace(-3, 3, 1000)
    quad, narrow = {"quad": by_quad}, proved(1e-8)
    yield Row(
        "PML and PMC curves at 1000 y, Gaussian",
        lambda: ((noise(),), (ys,)),
        lambda joint: (bl.pml(joint)(ys), bl.pmc(joint)(ys)),
        quad,
        "0.5 s",
        check=narrow,
    )

    def made(*asked):
        leakage = bl.pml(noise())
        for y in asked:
            leakage(y)
        return (leakage,), ([0.31],)

    for name, make in (("first", made), ("another", partial(made, 0.1))):
        name = f"PML at one outcome, {name}, Gaussian"
        yield Row(name, make, lambda leakage: leakage(0.31), quad, "5 ms", check=narrow)


def law_rows():
    figures = {
        "sup": lambda joint: bl.pml(joint).sup(),
        "tail": lambda joint: bl.pml(joint).tail(0.3),
        "quantile": lambda joint: bl.pml(joint).quantile(0.9),
        "mean": lambda joint: bl.pml(joint).mean(),
    }
    for name, figure in figures.items():
        yield Row(
            f"{name} of PML, a smooth density",
            lambda: tuple((noise(tilt, UNIT, UNIT),) for _ in range(2)),
            figure,
            {"estimate": partial(estimated, figure)},
        )


def by_minimum(density, secret, ys):
    grid = np.linspace(secret.lower, secret.upper, 1001)[1:-1]
    k = np.clip(density(ys[:, None], grid).argmax(axis=1), 1, len(grid) - 2)
    bracket = grid[k - 1], grid[k], grid[k + 1]
    return elementwise.find_minimum(lambda x, y: -density(y, x), bracket, args=(ys,)).f_x


def kernel_rows():
    """What curves are made of, extremes over the secrets and f_Y; and several secrets."""
    for name, density, secret, outcome, ys, target in (
        ("Clayton", clayton, UNIT, UNIT, np.linspace(0.05, 0.999, 1000), 4),
        ("Gaussian", gauss, SYMMETRIC, None, np.linspace(-3, 3, 1000), 4),
        ("Laplace", laplace, UNIT, None, np.linspace(-1, 2, 1000), 2),
    ):

        def extreme(surface, ys, _=None, tol=1e-9):
            return extremes(surface, batched.point(ys), len(ys), sign=1.0, tol=tol)

        def make(density=density, secret=secret, outcome=outcome, ys=ys):
            joint = noise(density, secret, outcome)
            surface = Surface(joint.mechanism.density, secret_of(joint.prior, ()))
            at = Outcomes(ys, ys, ys, 0, extreme(surface, ys, tol=1e-3).upper)
            return (surface, ys, at), (density, secret, ys)

        if name != "Laplace":
            row = f"ess sup at 1000 y, {name}"
            yield Row(row, make, extreme, {"SciPy": by_minimum}, "10", 20)
        yield Row(
            f"f_Y at 1000 y, {name}",
            make,
            lambda surface, _, at: marginal_integral.marginal(surface, at, rtol=1e-9)[0].total(),
            {"quad": lambda density, secret, ys: [integral(density, secret, y) for y in ys]},
            str(target),
            3 * target,
        )
    for d, target in ((3, "1 s"), (5, "10 s")):
        for of, power in (("a mean", 1), ("a mean of squares", 2)):

            def density(y, x, d=d, power=power):
                return gauss(y, sum(v**power for v in x) / d)

            yield Row(
                f"PML at one outcome, {of} of {d} secrets",
                lambda d=d, density=density: ((noise(density, SYMMETRIC**d),), ()),
                lambda joint: bl.pml(joint)(0.3),
                {},
                target,
                check=proved(1e-8),
            )


# -- imports -------------------------------------------------------------------------------------


def interpreter(code):
    root = Path(bl.__file__).parent.parent
    return partial(subprocess.run, [sys.executable, "-c", code], cwd=root, check=True)


def import_rows():
    for code, limit in (("import borel", 5), ("import borel; borel.pmf", math.inf)):
        bare = {"Python": interpreter("pass")}
        yield Row(code, lambda: ((), ()), interpreter(code), bare, "50 ms more", limit)


GROUPS = {
    "finite": finite_rows,
    "programmes": programme_rows,
    "draws": draw_rows,
    "curve": curve_rows,
    "law": law_rows,
    "kernel": kernel_rows,
    "import": import_rows,
}


def machine():
    """Name what the times are of: without it they mean little."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = (named or [platform.processor() or platform.machine()])[0]
    return (
        f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python "
        f"{platform.python_version()}, NumPy {np.__version__}, threads of BLAS: "
        f"{os.environ.get('OPENBLAS_NUM_THREADS', 'as it is set up')}"
    )


def printed(group):
    """Print the rows of a group as they are timed, and return their times."""
    timings = []
    for row in GROUPS[group]():
        timings.append(timed(row))
        print(timings[-1], flush=True)
    if group == "finite":
        growth(timings)
    return timings


def main(groups):
    import resource  # which not every system has

    if unknown := set(groups) - set(GROUPS):
        sys.exit(f"no rows called {', '.join(sorted(unknown))}: there are {', '.join(GROUPS)}")
    print(machine(), HEAD, sep="\n")
    for group in groups or GROUPS:
        printed(group)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
