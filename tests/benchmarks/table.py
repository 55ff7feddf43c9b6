"""The table of speed: figures of borel beside what people would write, as ratios in one process.

``python -m tests.benchmarks`` prints all of it, ``python -m tests.benchmarks finite curve`` some
groups of rows. Every timing is of inputs made anew, which is not timed itself; times are medians.
A ratio is to the fastest of the others.
"""

import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
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

try:
    import qif
except ImportError:  # it is optional
    qif = None

UNIT, SYMMETRIC, REALS = bl.Interval(0, 1), bl.Interval(-1, 1), bl.Reals()
SECONDS, MOST = 2.0, 101
"""For how long a row is timed, if it was timed thrice, and how often at most."""


class Row(NamedTuple):
    """A figure, what it is compared with, and what is wanted of it.

    Attributes
    ----------
    name : str
        What is timed.
    make : callable
        Makes the arguments of both sides anew.
    ours, others : callable, dict of callables
        What is timed: borel, and each of the others.
    target : str
        What is wanted, in words: a ratio, or milliseconds.
    limit : float
        The ratio that the test of benchmarks takes for a fault, with much room.
    check : callable
        Asserts something of what borel and the others returned.
    """

    name: str
    make: Callable[[], tuple[tuple, tuple]]
    ours: Callable[..., Any]
    others: dict[str, Callable[..., Any]]
    target: str = "-"
    limit: float = math.inf
    check: Callable[..., None] = lambda found, *others: None


class Timing(NamedTuple):
    """The medians of a row, in seconds, and the fastest of the others."""

    row: Row
    ours: float
    theirs: float
    fastest: str

    @property
    def ratio(self):
        return self.ours / self.theirs

    def __str__(self):
        if not self.fastest:
            return f"{self.row.name:<50}{1e3 * self.ours:>11.3f}{'':>33}{self.row.target:>14}"
        return (
            f"{self.row.name:<50}{1e3 * self.ours:>11.3f}{1e3 * self.theirs:>11.3f} "
            f"{self.fastest:<9}{self.ratio:>12.2f}{self.row.target:>14}"
        )


HEAD = f"{'figure':<50}{'borel, ms':>11}{'other, ms':>11} {'which':<9}{'ratio':>12}{'target':>14}"


def seconds_of(function, arguments):
    start = time.perf_counter()
    found = function(*arguments)
    return time.perf_counter() - start, found


def timed(row):
    """Time a row: both sides in turn, a first time apart."""
    sides = {"": row.ours, **row.others}
    taken = {name: [] for name in sides}
    begun, turns = time.perf_counter(), -1
    while turns < 3 or (turns < MOST and time.perf_counter() - begun < SECONDS):
        mine, theirs = row.make()
        found = []
        for name, function in sides.items():
            seconds, value = seconds_of(function, theirs if name else mine)
            found.append(value)
            if turns >= 0:  # not the imports
                taken[name].append(seconds)
        if turns < 0:
            row.check(*found)
        turns += 1
    medians = {name: statistics.median(times) for name, times in taken.items()}
    ours = medians.pop("")
    fastest = min(medians, key=medians.__getitem__, default="")
    return Timing(row, ours, medians.get(fastest, math.nan), fastest)


def proved(width, *statuses):
    """Return a check of the width and the status of one or several enclosures."""

    def check(found, *_):
        for one in found if isinstance(found, tuple) else (found,):
            assert float(np.max(one.upper - one.lower)) <= width
            assert not statuses or {*np.ravel(one.status).tolist()} <= {*statuses}

    return check


# -- finite tables -------------------------------------------------------------------------------

SIZES = 10, 100, 1000, 2000, 4000


def laws(shape, seed=0):
    drawn = np.random.default_rng(seed).standard_exponential(shape)
    return drawn / drawn.sum(axis=-1, keepdims=True)


numbers = cache(lambda n: (laws(n), laws((n, n), seed=1)))


def fresh(n):
    """Make a joint anew, and the floats it is made of."""
    p, k = (v.copy() for v in numbers(n))
    return (bl.pmf(p) * bl.Mechanism.from_matrix(k),), (p, k)


def both(joint):
    ys = np.arange(joint.outcome.size)
    return bl.pml(joint)(ys), bl.pmc(joint)(ys)


def both_by_numpy(p, k):
    law = p @ k
    return np.log(k.max(axis=0) / law), np.log(law / k.min(axis=0))


FINITE: dict[str, tuple[Callable, dict[str, Callable]]] = {
    "all PML": (
        lambda joint: bl.pml(joint)(np.arange(joint.outcome.size)),
        {"NumPy": lambda p, k: np.log(k.max(axis=0) / (p @ k))},
    ),
    "all PML and PMC": (both, {"NumPy": both_by_numpy}),
    "one PML": (
        lambda joint: bl.pml(joint)(3),
        {"NumPy": lambda p, k: np.log(k.max(axis=0) / (p @ k))[3]},
    ),
    "sup PML": (
        lambda joint: bl.pml(joint).sup(),
        {"NumPy": lambda p, k: np.log((k.max(axis=0) / (p @ k)).max())},
    ),
    "maximal leakage": (
        bl.maximal_leakage,
        {
            "NumPy": lambda p, k: np.log(k.max(axis=0).sum()),
            "qif": lambda p, k: qif.measure.bayes_vuln.mult_capacity(k),
        },
    ),
    "LDP": (bl.ldp, {"NumPy": lambda p, k: np.log((k.max(axis=0) / k.min(axis=0)).max())}),
    "mutual information": (
        bl.mutual_information,
        {
            "NumPy": lambda p, k: (p[:, None] * k * np.log(k / (p @ k))).sum(),
            "qif": lambda p, k: qif.measure.shannon.add_leakage(p, k),
        },
    ),
    "prior": (
        lambda joint: bl.pmf(joint.prior.probabilities.copy()),
        {"NumPy": lambda p, k: p.sum()},
    ),
    "mechanism": (
        lambda joint: bl.Mechanism.from_matrix(joint.mechanism.matrix.copy()),
        {"NumPy": lambda p, k: (k.copy() >= 0).all() and np.abs(k.sum(axis=1) - 1).max() < 1e-9},
    ),
}
WANTED = {10: "0.3 ms", 100: "-"}


def finite_rows():
    for name, (ours, others) in FINITE.items():
        there = {k: f for k, f in others.items() if k != "qif" or qif}
        built = name in ("prior", "mechanism")
        for n in SIZES:
            target = "-" if built else WANTED.get(n, "2")
            yield Row(f"{name}, {n} x {n}", partial(fresh, n), ours, there, target)


def growth(timings):
    """Return lines on how times grow with n: exponents between 100 and 4000."""
    by_name = {t.row.name: t for t in timings}
    lines = ["time as a power of n between n = 100 and 4000 (the table has n^2 numbers):"]
    for name in FINITE:
        ends = [by_name[f"{name}, {n} x {n}"] for n in (100, 4000)]
        powers = [math.log(b / a) / math.log(40) for a, b in ([t[k] for t in ends] for k in (1, 2))]
        lines.append(f"  {name:<30} borel {powers[0]:.2f}, {ends[1].fastest} {powers[1]:.2f}")
    return lines


def other_finite_rows():
    """Rows of tables that take more than a pass: threats, binary envelopes, envelopes."""
    matrix = laws((1000, 30), 15)
    threats = adv.gain.identity(), adv.gain.k_tries(10), adv.gain.membership(lambda x: x % 2)

    def make():
        return (bl.pmf(np.full(1000, 0.001)) * bl.Mechanism.from_matrix(matrix),), (matrix,)

    yield Row(
        "g-leakage of three threats, 1000 x 30",
        make,
        lambda joint: [adv.g_leakage(joint, threat) for threat in threats],
        {"Fractions": lambda k: [sum(map(bl.constants.Fraction, c)) for c in k.T.tolist()]},
        "30",
        300,
    )
    levels = np.linspace(0.005, 0.995, 100)

    def sums(p, k):
        law = p @ k
        order = np.argsort(-k / law, axis=1)
        a, b = np.take_along_axis(k, order, axis=1).cumsum(1), law[order].cumsum(1)
        return np.max([np.interp(levels, q, v) for v, q in zip(a, b, strict=True)], axis=0)

    yield Row(
        "binary envelope at 100 levels, 1000 x 1000",
        partial(fresh, 1000),
        lambda joint: bl.binary_envelope(joint)(levels),
        {"NumPy": sums},
        "5",
    )
    fifty = np.linspace(0.02, 1, 50)
    for of in ("pml", "pmc"):
        yield Row(
            f"envelope of {of} at 50 levels, 100 x 100",
            partial(fresh, 100),
            lambda joint, of=of: bl.envelope(joint, of=of).curve(fifty),
            {},
            "5000 ms",
            check=proved(1e-9, "certified"),
        )
        for delta in (0.05, 0.4, 0.9, 1.0):
            yield Row(
                f"envelope of {of} at {delta}, 200 x 200",
                partial(fresh, 200),
                lambda joint, of=of, delta=delta: bl.envelope(joint, of=of)(delta),
                {},
                "2000 ms",
                check=proved(1e-9, "certified"),
            )


# -- draws of a prior ----------------------------------------------------------------------------


def learnt(build, **variables):
    """Return a posterior over priors, of draws (chain, draw, ...) declared exact."""
    data = {
        name: (("chain", "draw", *(f"{name}_{i}" for i in range(v.ndim - 2))), v)
        for name, v in variables.items()
    }
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset(data, attrs={"borel_draws": "exact"})})
    return bl.priors.from_posterior(tree, build)


def blocks(p, k, size):
    """Return sup PML for each draw: a product for each block, the supremum before its logarithm."""
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


def estimated(figure, joint):
    with bl.options(engine="estimate"):
        return figure(joint)


def draw_rows():
    for count, x, y in ((1000, 200, 200), (4000, 50, 200), (1_000_000, 50, 200)):
        p, k = laws((4, count // 4, x), 2), laws((x, y), 3)

        def make(p=p, k=k):
            prior = learnt(lambda draw: bl.pmf(draw["p"]), p=p)
            return (prior * bl.Mechanism.from_matrix(k),), (p.reshape(-1, k.shape[0]), k)

        loops = {f"by {size}": partial(blocks, size=size) for size in (64, 200, 1000)}
        yield Row(
            f"sup PML of {count} draws, {x} x {y}",
            make,
            lambda joint: bl.pml(joint).sup(),
            loops,
            "2",
            check=around,
        )
    rng = np.random.default_rng(4)
    drawn = {name: rng.uniform(1.2, 5, (4, 1000)) for name in ("alpha", "beta")}

    def densities():
        prior = learnt(lambda d: bl.beta(alpha=d["alpha"], beta=d["beta"]), **drawn)
        kernel = bl.Mechanism(lambda y, x: np.exp(-np.abs(y - x)) / 2, secret=UNIT, outcome=REALS)
        return (prior * kernel,), (prior * kernel,)

    for leakage in (bl.pml, bl.pmc):
        figure = lambda joint, of=leakage: of(joint).sup().draws  # noqa: E731
        yield Row(
            f"sup {leakage.__name__.upper()} of 4000 draws of beta priors",
            densities,
            figure,
            {"estimate": partial(estimated, figure)},
        )


# -- one line ------------------------------------------------------------------------------------


def clayton(y, x):
    return 0.1 + 0.9 * 2 * x * y / (x + y - x * y) ** 3


def gauss(y, x):
    return np.exp(-((y - x) ** 2) / 2) / np.sqrt(2 * np.pi)


def tilt(y, x):
    return 1 + (x - 0.5) * (2 * y - 1)


def laplace(y, x):
    return np.exp(-np.abs(y - x) / 0.5)


CASES = {
    "Clayton": (clayton, UNIT, UNIT, np.linspace(0.05, 0.999, 1000)),
    "Laplace": (laplace, UNIT, REALS, np.linspace(-1, 2, 1000)),
    "Gaussian": (gauss, SYMMETRIC, REALS, np.linspace(-3, 3, 1000)),
}


def noise(density=gauss, secret=SYMMETRIC, outcome=REALS):
    """Make a joint of a uniform prior and a density, traced anew."""
    return bl.uniform(secret) * bl.Mechanism(density, secret=secret, outcome=outcome)


def integral(density, secret, y):
    marks = [y] if secret.lower < y < secret.upper else None  # a user says where the kink may be
    ends, level = (secret.lower, secret.upper), 1 / (secret.upper - secret.lower)
    return integrate.quad(lambda x: density(y, x) * level, *ends, points=marks)[0]


def by_quad(ys):
    """Return PML and PMC as people would: an integral and a maximum on a grid for each outcome."""
    grid = np.linspace(-1, 1, 1001)
    law = np.array([integral(gauss, SYMMETRIC, y) for y in ys])
    values = [gauss(y, grid) for y in ys]
    top, bottom = (np.array([f(v) for v in values]) for f in (np.max, np.min))
    return np.log(top / law), np.log(law / bottom)


def curve_rows():
    ys = CASES["Gaussian"][3]
    yield Row(
        "PML and PMC curves of 1000 outcomes, Gaussian",
        lambda: ((noise(),), (ys,)),
        lambda joint: (bl.pml(joint)(ys), bl.pmc(joint)(ys)),
        {"quad": by_quad},
        "500 ms",
        check=proved(1e-8),
    )

    def begun():
        leakage = bl.pml(noise())
        leakage(0.1)
        return (leakage,), ([0.31],)

    first = lambda: ((bl.pml(noise()),), ([0.31],))  # noqa: E731
    for name, make in (("first", first), ("another", begun)):
        yield Row(
            f"PML at one outcome, {name}, Gaussian",
            make,
            lambda leakage: leakage(0.31),
            {"quad": by_quad},
            "5 ms",
            check=proved(1e-8),
        )


def law_rows():
    figures = {
        "sup": lambda joint: bl.pml(joint).sup(),
        "tail": lambda joint: bl.pml(joint).tail(0.3),
        "quantile": lambda joint: bl.pml(joint).quantile(0.9),
        "mean": lambda joint: bl.pml(joint).mean(),
    }
    for name, figure in figures.items():
        yield Row(
            f"{name} of PML, a smooth kernel",
            lambda: ((noise(tilt, UNIT, UNIT),), (noise(tilt, UNIT, UNIT),)),
            figure,
            {"estimate": partial(estimated, figure)},
        )


def surface_of(density, secret, outcome):
    joint = noise(density, secret, outcome)
    return Surface(joint.mechanism.density, secret_of(joint.prior, ()))


def by_minimum(density, secret, ys):
    grid = np.linspace(secret.lower, secret.upper, 1001)[1:-1]
    k = np.clip(density(ys[:, None], grid).argmax(axis=1), 1, len(grid) - 2)
    bracket = grid[k - 1], grid[k], grid[k + 1]
    return elementwise.find_minimum(lambda x, y: -density(y, x), bracket, args=(ys,)).f_x


def kernel_rows():
    """Rows of what curves are made of: extremes over the secrets, and f_Y."""
    for name, target in (("Clayton", 4), ("Gaussian", 4), ("Laplace", 2)):
        density, secret, outcome, ys = CASES[name]

        def make(density=density, secret=secret, outcome=outcome, ys=ys):
            surface = surface_of(density, secret, outcome)
            top = extremes(surface, batched.point(ys), len(ys), sign=1.0, tol=1e-3).upper
            return (surface, ys, top), (density, secret, ys)

        if name != "Laplace":
            yield Row(
                f"ess sup at 1000 y, {name}",
                make,
                lambda s, ys, _: extremes(s, batched.point(ys), len(ys), sign=1.0, tol=1e-9),
                {"SciPy": by_minimum},
                "10",
                20,
            )
        yield Row(
            f"f_Y at 1000 y, {name}",
            make,
            lambda s, ys, top: marginal_integral.marginal(
                s, Outcomes(ys, ys, ys, 0, top), rtol=1e-9
            )[0].total(),
            {"quad": lambda f, secret, ys: [integral(f, secret, y) for y in ys]},
            str(target),
            3 * target,
        )
    for d, target in ((3, "1000 ms"), (5, "10000 ms")):
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
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True)


def import_rows():
    for name, code in (("import borel", "import borel"), ("and a name", "import borel; borel.pmf")):
        yield Row(
            name,
            lambda: ((), ()),
            partial(interpreter, code),
            {"Python": partial(interpreter, "pass")},
            "50 ms more",
            5 if name == "import borel" else math.inf,
        )


GROUPS = {
    "finite": finite_rows,
    "threats": other_finite_rows,
    "draws": draw_rows,
    "curve": curve_rows,
    "law": law_rows,
    "kernel": kernel_rows,
    "import": import_rows,
}


def machine():
    """Name what the times are of: without it they mean nothing."""
    cpu = platform.processor() or platform.machine()
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        names = [line for line in listed.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "default")
    return (
        f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python "
        f"{platform.python_version()}, NumPy {np.__version__}, BLAS threads: {threads}"
    )


def main(names):
    """Print the rows of some groups, or of all."""
    if unknown := set(names) - set(GROUPS):
        sys.exit(f"no rows called {', '.join(sorted(unknown))}: they are {', '.join(GROUPS)}")
    print(machine(), HEAD, sep="\n")
    for name in names or GROUPS:
        timings = []
        for row in GROUPS[name]():
            timings.append(timed(row))
            print(timings[-1], flush=True)
        if name == "finite":
            print(*growth(timings), sep="\n")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
