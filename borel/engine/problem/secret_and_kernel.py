"""What the certified kernels read: the prior of a secret, and a kernel as a function of x and y."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.problem.prior_masses import mass_function
from borel.engine.problem.prior_moments import Moments, moments_of
from borel.engine.problem.prior_normalisation import miss, positive
from borel.engine.problem.prior_positivity import positive_on, prover
from borel.engine.problem.truncated_prior import assumed, head_of_prior, trimmed
from borel.errors import NotEnclosed
from borel.numerics.graphs import float64, powers, rewrite
from borel.numerics.graphs.branch_points import branch_points
from borel.numerics.graphs.operations import COMPARISONS, STEPS
from borel.numerics.intervals import interpreter
from borel.numerics.intervals.rounding import Enclosure
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program
from borel.probability.alphabets import Integers, Interval, Mixed
from borel.probability.density import ranges_of
from borel.probability.memo import Memo

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph
    from borel.numerics.intervals.batched import Box
    from borel.probability.density import Density
    from borel.probability.measure import Measure

_LEAST = -690.0
"""A number below this is the logarithm of what is, or nearly is, no normal float."""
POSITIVE_COUNTS = frozenset(("poisson", "geometric", "negative_binomial"))
"""Families on integers with mass at each of them."""
_HEAD, _LARGEST_HEAD = 64, 2048
_LITTLE = 2.0**-44
"""A mass beyond the head that is small enough, as known from the sum of rounded masses."""
_FAR = 2.0 ** np.array([12, 24, 36, 48])
_MANY = 512
_FAR_MANY = np.rint(2.0 ** np.concatenate([np.arange(9, 14, 1 / 32), np.arange(14, 49, 1 / 2)]))
_TRIFLE = 1e-30
"""Points at the ends of a head that weigh less are not looked at one by one."""


@dataclass
class Secret:
    """The prior: a density on a box, atoms, or both.

    Attributes
    ----------
    names : tuple of str
        Inputs of the graphs: ``x``, or ``x0, x1, ...`` for a product.
    lower, upper : ndarray (d,)
        The box; empty for atoms only.
    breaks : tuple of float
        Where the density may jump, for d = 1.
    log_density : Graph or None
        log p(x).
    positive : bool
        Whether p > 0 almost everywhere on the box, by the family or as its formula shows.
    gaps : bool
        Whether p is 0 on a part of the alphabet, as its formula shows, for d = 1.
    mass : callable or None
        ``(a, b) -> enclosure of P{a < X < b}``, for d = 1.
    moments : Moments or None
        Moments beside ends where the density may have no Taylor series, for d = 1.
    atoms, weight_low, weight_high : ndarray
        Points (m, d) of positive mass, and their masses; 0 if `rest_mass` holds them.
    rest : tuple of pairs
        Boxes that hold the other points of a countable prior.
    rest_mass : float
        The mass of all of them, at most.
    light : tuple of pairs
        Boxes of atoms whose masses are part of it as well.
    along_y : bool
        Whether every large integer has positive mass, of a countable prior.
    miss : float
        By what factor, e^-miss to e^miss, the density may be off that of the law meant.
    assumptions : list of str
        What is not proved.
    memo : Memo
        Masses, moments and cuts that were computed.
    """

    names: tuple[str, ...]
    lower: np.ndarray
    upper: np.ndarray
    breaks: tuple[float, ...] = ()
    log_density: Graph | None = None
    positive: bool = True
    gaps: bool = False
    mass: Callable[[float, float], tuple[float, float]] | None = None
    moments: Moments | None = None
    atoms: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    weight_low: np.ndarray = field(default_factory=lambda: np.zeros(0))
    weight_high: np.ndarray = field(default_factory=lambda: np.zeros(0))
    rest: tuple[tuple[float, float], ...] = ()
    rest_mass: float = 0.0
    light: tuple[tuple[float, float], ...] = ()
    along_y: bool = False
    miss: float = 0.0
    assumptions: list[str] = field(default_factory=list)
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)

    @property
    def continuous(self) -> bool:
        """Whether there is a density."""
        return len(self.lower) > 0

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def program(self) -> Program | None:
        """The log-density, ready to run."""
        if (graph := self.log_density) is None:
            return None
        return self.memo.fact("program", lambda: Program(graph))

    def mass_between(self, a: float, b: float) -> tuple[float, float]:
        """Enclose P{a < X < b}, of which nothing new is told when the budget is spent."""
        mass = self.mass
        assert mass is not None
        key = "mass", a, b
        if key not in self.memo and settings.spent():  # one takes milliseconds; there are many
            return 0.0, 1.0
        return self.memo.fact(key, lambda: mass(a, b))


def secret_of(prior: Measure, breaks: tuple[float, ...], many: bool = False) -> Secret:
    """Return the prior as the certified kernels see it.

    Parameters
    ----------
    prior : Measure
        The law of the secret.
    breaks : tuple of float
        Where the kernel may jump.
    many : bool
        Whether to look at hundreds of counts one by one, whatever their masses, if they are counts.

    Raises
    ------
    NotEnclosed
        A prior that cannot be traced, or an alphabet that is not covered.
    """
    on = prior.on
    names = ("x",) if on.dim == 1 else tuple(f"x{i}" for i in range(on.dim))
    if on.kind == "finite" and prior._probabilities is not None:
        return _finite(prior, names)
    if on.kind == "countable" and on.dim == 1:
        return _countable(prior, many)
    factors = [a.interval if isinstance(a, Mixed) else a for a in on.factors]
    if not all(isinstance(a, Interval) for a in factors):
        raise NotEnclosed(f"certified figures for secrets on {on!r} are not in this version")
    lines = [a for a in factors if isinstance(a, Interval)]
    if len(factors) > 5:
        raise NotEnclosed("certified figures for secrets of more than 5 dimensions are not there")
    density = prior.density
    if density is None or density.graph is None:
        why = density.opaque if density is not None else "no density"
        raise NotEnclosed(f"the prior could not be traced ({why})")
    out = Secret(
        names,
        np.array([a.lower for a in lines], float),
        np.array([a.upper for a in lines], float),
        tuple(sorted({*prior.breaks, *breaks})) if on.dim == 1 else (),
        log_graph(density),
        positive(prior),
        mass=mass_function(prior) if on.dim == 1 else None,
        moments=moments_of(prior) if on.dim == 1 else None,
    )
    missed = miss(prior)
    out.miss = missed or 0.0
    if missed is None:
        out.assumptions.append(f"prior normalised: {'checked' if prior.checked else 'declared'}")
    if prior.masses:
        charged = {a: m for a, m in prior.masses.items() if m > 0}
        out.atoms = np.array(list(charged), float)[:, None]
        weights = np.array(list(charged.values()), float)  # a Fraction was rounded to its float
        off = weights * (2 * prior._rounding)
        out.weight_low = np.nextafter(weights - off, 0.0)
        out.weight_high = np.nextafter(weights + off, 2.0)
    Program(out.log_density)  # type: ignore[arg-type]  # an operation it does not know raises here
    if on.dim == 1 and not out.positive:
        _leave_ends(out)
    if on.dim == 1 and COMPARISONS & density.graph.operations:
        inner = branch_points(density.graph, "x").tolist()
        out.breaks = tuple(sorted({*out.breaks, *(c for c in inner if out.lower < c < out.upper)}))
    if not out.positive:
        ends = out.lower, out.upper
        assert out.log_density is not None
        out.positive = positive_on(out.log_density, names, *ends, prior.breaks)
    return out


def jumps_of(mechanism: Any) -> tuple[float, ...]:
    """Return the declared breaks of a kernel, and where its conditions on a secret alone turn."""
    graph, secret = mechanism.density.graph, mechanism.secret
    if secret.dim > 1 or not (STEPS | COMPARISONS) & graph.operations:
        return tuple(mechanism.breaks)
    return tuple(sorted({*mechanism.breaks, *branch_points(graph, "x").tolist()}))


def _leave_ends(secret: Secret) -> None:
    """Leave out what is beside the ends of a line where the density is 0, up to where it turns."""
    assert secret.log_density is not None and secret.program is not None
    ends = float(secret.lower[0]), float(secret.upper[0])
    turns = branch_points(secret.log_density, "x")
    cuts = np.array([ends[0], *turns[(ends[0] < turns) & (turns < ends[1])], ends[1]])
    x = {"x": arithmetic.variable(cuts[:-1], cuts[1:], 1)}
    high = arithmetic.entry(secret.program.run(x, 1).jet, 0)[1]
    alive = np.flatnonzero(np.broadcast_to(high, len(cuts) - 1) > -math.inf)
    secret.gaps = len(alive) < len(cuts) - 1
    if 0 < len(alive) and alive[-1] - alive[0] < len(cuts) - 2:
        secret.lower, secret.upper = cuts[[alive[0]]], cuts[[alive[-1] + 1]]
        secret.moments = None  # they are of the ends that were there


def _finite(prior: Measure, names: tuple[str, ...]) -> Secret:
    if not prior.on.numeric:
        raise NotEnclosed(f"a density needs numeric labels, not {prior.on!r}")
    labels = prior.on.array
    points = (
        np.asarray(labels, float)[:, None]
        if prior.on.dim == 1
        else np.array([list(map(float, a)) for a in labels])
    )
    p = np.asarray(prior.probabilities)
    charged = np.asarray(p != 0, bool)
    weights = p.astype(float)
    # a Fraction is rounded by half an ulp; floats may be off by the rounding they carry
    slack = weights * (prior.rounding + 2.0**-52) * 1.0001
    none = np.zeros(0)
    out = Secret(names, none, none, atoms=points[charged])
    out.weight_low = np.maximum(weights - slack, 0.0)[charged]
    out.weight_high = (weights + slack)[charged]
    if prior.unproved:
        raise NotEnclosed(prior.unproved)
    return out


def _countable(prior: Measure, many: bool) -> Secret:
    """Return a head of points that certainly have mass, and boxes with all that is beyond."""
    if prior.density is None:
        raise NotEnclosed("the prior has no density")
    graph = log_graph(prior.density)

    def evaluate(_: Density, named: dict[str, tuple]) -> Enclosure:
        low, high = interpreter.exponential(interpreter.evaluate(graph, named))
        return Enclosure(np.maximum(low, 0.0), np.maximum(high, 0.0))

    count = _MANY if many else _HEAD
    while True:
        head = head_of_prior(prior, count, evaluate)
        if head.tail <= _LITTLE or count >= _LARGEST_HEAD:
            break
        count *= 2
    whole, head = head, trimmed(head, _TRIFLE)
    sure, none = head.low > 0, np.zeros(0)
    far = far_points(prior, whole.points if many else None)
    far = far[~np.isin(far, head.points)]  # their masses are part of what is beyond
    nothing = np.zeros(len(far))
    out = Secret(("x",), none, none, atoms=np.append(head.points[sure], far)[:, None])
    out.weight_low = np.append(head.low[sure], nothing)
    out.weight_high = np.append(np.minimum(head.high[sure], 1.0), nothing)
    # a point that may have no mass is one of those beyond
    doubtful = [(float(x), float(x)) for x in head.points[~sure & (head.high > 0)]]
    boxes = [*zip(*(v.tolist() for v in head.boxes), strict=True)]
    if many and np.isin(whole.points, [*head.points, *far]).all():
        out.light = tuple(box for box in boxes if math.isfinite(box[1] - box[0]))
        boxes = [*zip(*(v.tolist() for v in whole.boxes), strict=True)]
    out.rest = (*boxes, *doubtful)
    out.rest_mass = head.tail + float(head.high[~sure].sum()) * (1 + 2.0**-40)
    out.along_y = charged_along(prior)
    out.assumptions = assumed(prior)
    return out


def far_points(prior: Measure, near: np.ndarray | None = None) -> np.ndarray:
    """Return points far out that certainly have mass: where a kernel that settles down is known.

    With some points ``near`` by these are among them, and those further out are many.
    """
    assert isinstance(prior.on, Integers)
    low, high = prior.on.lower, prior.on.upper
    away = _FAR if near is None else _FAR_MANY
    places = np.concatenate([-away if low is None else [], away if high is None else []])
    if near is not None:
        places = np.union1d(places, near)
    inside = places >= (-math.inf if low is None else low)
    inside &= places <= (math.inf if high is None else high)
    places = places[inside]
    if (prior.family or ("",))[0] in POSITIVE_COUNTS:
        return places
    # a mass that no float holds has a logarithm
    low, _ = interpreter.evaluate(log_graph(prior.density), {"x": (places, places)})  # type: ignore[arg-type]
    return places[np.broadcast_to(low, places.shape) > -np.inf]


def charged_along(prior: Measure) -> bool:
    """Return whether p(n) > 0 for all large n: log p is a power or a logarithm there."""
    from borel.numerics.germs.interpreter import Log, Power, PowerProgram, ray, weight

    on = prior.on
    if not isinstance(on, Integers) or on.upper is not None or (on.lower or 0) > 512:
        return False
    if (prior.family or ("",))[0] in POSITIVE_COUNTS:
        return True
    program = PowerProgram(log_graph(prior.density))  # type: ignore[arg-type]
    value = program.run({"x": ray(0.0, -1.0, 1.0, 1.0)}, 2.0**-30)
    return isinstance(value, (Log, Power)) and math.isfinite(weight(value)[0])


def log_graph(density: Density) -> Graph:
    """Return the graph of the logarithm of a density."""
    if density.graph is None:
        raise NotEnclosed(f"it could not be traced ({density.opaque})")
    if density.log:
        return density.simplified()
    return rewrite.log_of(density.graph, prover(density), density.is_number)


def above_zero(density: Density) -> set[str]:
    """Return the inputs of a density that are positive but on a null set."""
    ranges = ranges_of(density)
    return {
        name
        for argument, alphabet in density.alphabets.items()
        for name, factor in zip(density.graph_names(argument), alphabet.factors, strict=True)
        if factor.kind == "continuous" and ranges[name][0] >= 0
    }


def _may_clear(density: Density, secret: Secret) -> bool:
    """Return whether powers of secrets may be divided out: no secret of 0 has mass."""
    return not (density.log or (secret.atoms == 0).any() or secret.rest)


class Surface:
    """A kernel f(y|x), or the mass of an atom of Y, on jets.

    Parameters
    ----------
    density : Density
        The kernel; its inputs are ``y`` (unless it is the mass of an atom) and those of x.
    secret : Secret
        The prior.

    Attributes
    ----------
    as_given : Surface
        The kernel at an outcome of 0, where a form of it that is as good elsewhere may be another.
    rises : bool
        Whether what the programs integrate rises with f: not where it is another function of it.

    Raises
    ------
    NotEnclosed
        A kernel that cannot be traced, or an operation that intervals do not know.
    """

    rises = True

    def __init__(self, density: Density, secret: Secret):
        self._density = density
        graph = log_graph(density)
        cleared = self._cleared(secret)
        self._read(cleared or graph, secret)
        self.as_given = self.of(graph, secret) if cleared else self

    def _cleared(self, secret: Secret) -> Graph | None:
        """Return log f without negative powers in sums, if any: the same but at inputs of 0."""
        density = self._density
        if density.graph is None or not _may_clear(density, secret):
            return None
        given = density.simplified()
        graph = powers.cleared(given, above_zero(density))
        return None if graph == given else rewrite.log_of(graph, prover(density))

    def _read(self, graph: Graph, secret: Secret) -> None:
        density = self._density
        self.graph, self.secret = graph, secret
        known = density.alphabets.get("y")
        continuous = known is not None and known.kind in ("continuous", "mixed")
        self.varies = frozenset(("y",) if continuous else ())
        self.log = Program(self.graph, self.varies)
        self.needs_y = "y" in self.graph.inputs
        self.plain = self._programs(far=False)
        self.far: tuple[Program, Program] | None = None

    def _programs(self, *, far: bool) -> tuple[Program, Program]:
        """Return f e^-shift without and with the prior's density."""
        alone = Program(rewrite.integrand(self.graph, None, far=far), self.varies)
        if not self.secret.continuous:
            return alone, alone
        whole = rewrite.integrand(self.graph, self.secret.log_density, far=far)
        return alone, Program(whole, self.varies)

    def programs(self, shift: np.ndarray) -> tuple[Program, Program]:
        """Return f e^-shift without and with the prior's density, fit for the size of the shift."""
        if not np.abs(shift).max(initial=0.0) > 300:
            return self.plain
        if self.far is None:
            self.far = self._programs(far=True)
        return self.far

    @cached_property
    def memo(self) -> Memo:
        """What other arithmetics made of the kernel."""
        return Memo()

    @cached_property
    def spread(self) -> Surface | None:
        """The kernel with sums of exponentials as such, for outcomes far out, if it has another."""
        if self._density is None:
            return None
        graph = rewrite.far_log(self.graph, prover(self._density))
        if graph == self.graph:
            return None
        return self.of(graph, self.secret)

    def of(self, graph: Graph, secret: Secret) -> Surface:
        """Return a kernel of another graph, that of its logarithm, and perhaps another secret."""
        out = object.__new__(Surface)
        out._density = self._density
        out.spread = out.near_zero = None
        out.as_given = out
        out._read(graph, secret)
        return out

    @cached_property
    def near_zero(self) -> tuple[Surface, int] | None:
        """The kernel without a factor of y alone that is singular at 0, for outcomes t^n of a t."""
        if self._density is None or self._density.graph is None:
            return None
        positive = above_zero(self._density)
        if not _may_clear(self._density, self.secret):
            return None
        graph = self._density.simplified()
        found = powers.regular(graph, positive, "y") if "y" in positive else None
        if found is None:
            return None
        return self.of(rewrite.log_of(found[0]), self.secret), found[1]

    @property
    def logs(self) -> list[Program]:
        """Log f(y|x), and again in the form for outcomes far out, if that is another."""
        return [self.log] if self.spread is None else [self.log, self.spread.log]

    def underflows(self, y: np.ndarray) -> np.ndarray:
        """Guess at which outcomes a sum within log f(y|x) leaves the range of floats."""
        if self.spread is None or not self.needs_y:
            return np.zeros(len(y), bool)
        x = dict(zip(self.secret.names, _places(self.secret).T[..., None], strict=True))
        with np.errstate(all="ignore"):
            near, spread = (
                float64.evaluate(g, {**x, "y": y}) for g in (self.graph, self.spread.graph)
            )
            lost = (near < _LEAST) & np.isfinite(spread)
        return np.array(np.broadcast_to(lost, (len(x[self.secret.names[0]]), len(y))).any(axis=0))

    @cached_property
    def diagonal(self) -> tuple[Program, dict[int, list[int]]] | None:
        """Log f(y|y + offset), and the nodes of the log kernel that its nodes stand for."""
        if not (self.secret.continuous and self.secret.dim == 1 and self.needs_y):
            return None
        graph, origin = rewrite.diagonal(self.graph)
        return Program(graph, self.varies), origin

    @cached_property
    def kinked(self) -> bool:
        """Whether the kernel may have a kink on the line x = y, for a secret on it."""
        kinks = {"absolute", "maximum", "minimum", "where", "sign"} & self.graph.operations
        return self.diagonal is not None and bool(kinks) and not self.secret.breaks

    @cached_property
    def turns(self) -> list[float]:
        """Outcomes at which a condition turns for a secret at an end; it is not proved."""
        secret, found = self.secret, set()
        if secret.dim > 1 or not (secret.continuous and COMPARISONS & self.graph.operations):
            return []
        for end in (float(secret.lower[0]), float(secret.upper[0])):
            if math.isfinite(end):
                found |= {*branch_points(self.graph, "y", **{secret.names[0]: end}).tolist()}
        return sorted(found)

    def anew(self, secret: Secret) -> Surface:
        """Return a copy of a kernel that nothing was asked of yet, beside an equal secret.

        They share graphs, which take longer to make than a figure at one outcome, and no results.
        """
        out = copy(self)
        out.secret = secret
        out.as_given = out if self.as_given is self else self.as_given.anew(secret)
        return out

    def piece(self, weighted: Graph) -> Surface:
        """Return an integrand between two secrets that move with y: a coordinate r in (0, 1)."""
        part = object.__new__(Surface)
        part.secret = Secret(("r",), np.zeros(1), np.ones(1))
        part.needs_y = True
        part.varies = self.varies
        part.plain = (self.plain[0], Program(weighted, self.varies))
        part.far = part.plain
        part._density, part.spread, part.as_given = None, None, part
        return part

    def inputs(
        self,
        x: list[Box],
        y: Box | None,
        shift: np.ndarray | None = None,
        numbers: dict[str, np.ndarray] | None = None,
    ) -> dict[str, Box]:
        """Return jets by name: the coordinates of x, y where the kernel has it, other numbers."""
        named = dict(zip(self.secret.names, x, strict=True))
        if self.needs_y:
            assert y is not None
            named["y"] = y
        if shift is not None:
            named["shift"] = (shift[None], shift[None])
        for name, value in (numbers or {}).items():
            named[name] = (value[None], value[None])
        return named


def _places(secret: Secret) -> np.ndarray:
    """Return a few points (n, d) of the secret: the ends and the middle, and some atoms."""
    atoms = secret.atoms[:: max(1, len(secret.atoms) // 8)]
    if not secret.continuous:
        return np.concatenate([atoms, secret.atoms[-1:]])
    low = np.where(np.isfinite(secret.lower), secret.lower, np.minimum(-1.0, secret.upper - 1.0))
    high = np.where(np.isfinite(secret.upper), secret.upper, np.maximum(1.0, secret.lower + 1.0))
    return np.concatenate([[low, low + (high - low) / 2, high], *([atoms] if len(atoms) else [])])


def boxes(a: np.ndarray, b: np.ndarray, direction: int, order: int) -> list[Box]:
    """Return jets of the coordinates over boxes (lanes, d): one is the variable."""
    return [
        arithmetic.variable(a[:, j], b[:, j], order)
        if j == direction
        else arithmetic.constant(a[:, j], b[:, j])
        for j in range(a.shape[1])
    ]


def merged(decisions: list[dict[int, Box]]) -> dict[int, Any]:
    """Join what evaluations of the same boxes in several directions decided."""
    out = dict(decisions[0])
    for more in decisions[1:]:
        for node, (no, yes) in more.items():
            known = out.get(node)
            out[node] = (no, yes) if known is None else (no | known[0], yes | known[1])
    return out


def chosen(decisions: dict[int, Any], keep: np.ndarray) -> dict[int, Any]:
    """Restrict decisions to some lanes."""
    return {
        k: tuple(v[keep] if v.ndim and v.shape[-1] == len(keep) else v for v in pair)
        for k, pair in decisions.items()
    }


def finite(a: Box) -> np.ndarray:
    """Return which lanes of an enclosure are bounded."""
    return np.isfinite(a[0]) & np.isfinite(a[1])


__all__ = ["Secret", "Surface", "boxes", "chosen", "finite", "merged", "secret_of"]
