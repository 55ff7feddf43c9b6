"""Proofs that a kernel is a law of Y for every secret, where that can be done.

A kernel that depends on y - x, or on y - g(x), has one integral for all x, and one with finitely
many secrets has finitely many; they are enclosed by Arb. Of other kernels the integral is enclosed
for all secrets at once, as an analytic function of x (`parametric_integral`). Sums over counts
may be series in closed form (`series_totals`).

Floats may miss 1 by their own rounding (1 / sqrt(2 pi) is no float), so an integral within `MISS`
of 1 proves that the kernel meant, the one divided by its integral, is a law. Where it is only known
to be within more than that, figures that cover every such kernel are certified.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from borel import settings
from borel.engine.problem import series_totals
from borel.engine.problem.count_totals import beyond, heads, total_at
from borel.engine.problem.prior_normalisation import MISS, require_one
from borel.engine.problem.prior_positivity import (
    prover,
    require_nonnegative,
    require_numbers,
)
from borel.engine.problem.secret_and_kernel import above_zero, log_graph
from borel.errors import NotEnclosed
from borel.numerics.balls.interpreter import is_number
from borel.numerics.balls.parametric_integral import miss, plans
from borel.numerics.graphs import power_integrals, rewrite
from borel.numerics.graphs.dependence import through
from borel.numerics.graphs.graph import Graph
from borel.numerics.intervals import interpreter
from borel.numerics.intervals.domains import has_values
from borel.numerics.intervals.rounding import fraction_down, fraction_up, sum_outward
from borel.probability.alphabets import Finite, Integers, Interval
from borel.probability.density import ranges_of
from borel.probability.kernel_operations import probes_of
from borel.probability.kernel_totals import plain, summed, totals_of
from borel.probability.normalisation import Normalisation

if TYPE_CHECKING:
    from fractions import Fraction

    from borel.probability.density import Density
    from borel.probability.measure import Measure
    from borel.probability.mechanism import Mechanism

_PROBES = 3
_SHARE = 0.25
"""So much of a budget of their own, beside that of a figure, do the totals of all secrets take."""
_MOST_LABELS, _FEW_LABELS = 512, 64
_HEADS = 64, 256
LOOSE = 1e-6
"""A total that is not known to be within this of 1 proves nothing."""


def statement(mechanism: Mechanism, prior: Measure) -> Normalisation:
    """Return what is known of the normalisation of a kernel, once a proof was looked for.

    Raises
    ------
    InvalidInput
        A kernel proved to be negative somewhere, or not to be normalised at a secret.

    Examples
    --------
    >>> import numpy as np, borel as bl
    >>> mech = bl.Mechanism(
    ...     lambda y, x: np.exp(-abs(y - x)) / 2, secret=bl.Interval(0, 1), outcome=bl.Reals()
    ... )
    >>> statement(mech, bl.uniform(bl.Interval(0, 1))).status
    'proved'
    """
    known = mechanism.normalisation
    if known.status in ("proved", "rounded") or mechanism.density is None:
        return known
    found = _kept(mechanism, prior)
    if found is None and not mechanism.examined:
        with settings.apart():
            _require_law(mechanism)
        mechanism.examined = True
    return known if found is None else found


def _by_one_integral(mechanism: Mechanism, points: bool) -> Normalisation | None:
    """Return what proves that a kernel with one integral for all secrets is normalised, if any.

    With ``points`` a secret may be 0 with a probability.
    """
    line = mechanism.outcome
    if not isinstance(line, Interval) or mechanism.masses:
        return None
    dim = mechanism.secret.dim
    if not points:
        total = power_total(mechanism.density, "y")
        if total is not None:
            ends = fraction_down(total), fraction_up(total)
            require_one(mechanism.density, ends, repr(mechanism), "every x")
            return _known(fraction_up(abs(total - 1)), "integral", "of powers, exactly")
    names = ("x",) if dim == 1 else tuple(f"x{i}" for i in range(dim))
    try:
        graph = log_graph(mechanism.density)
        noise = noise_of(graph, line, names)
        if noise is not None:
            graph, inner = noise
            ranges = ranges_of(mechanism.density)
            if dim == 1 and not is_number(inner, *ranges["x"]):
                return None
            if dim > 1 and not has_values(inner, {name: ranges[name] for name in inner.inputs}):
                return None
            of = "y - x" if inner.nodes == (("input", ("x",)),) else "y - g(x)"
            if _miss_at(mechanism, graph, line, 0.0, "every x") <= MISS:
                return Normalisation.by(
                    f"f(y|x) depends on {of}, and its integral is 1 (within {MISS:.0e})"
                )
    except NotEnclosed:
        pass
    return None


def power_total(density: Density, argument: str) -> Fraction | None:
    """Return the integral over (0, h) of a kernel that is a sum of powers, if it is one number.

    Over y it is the mass of all outcomes, for every secret; over x, f_Y for a prior that is 1.
    """
    if density.graph is None or density.log or set(density.alphabets) != {"y", "x"}:
        return None
    ranges = ranges_of(density)
    line = density.alphabets[argument]
    if not isinstance(line, Interval) or line.lower != 0 or math.isinf(line.upper):
        return None
    if set(ranges) != {"y", "x"} or any(low < 0 for low, _ in ranges.values()):
        return None
    graph = density.simplified()
    total = power_integrals.integral(graph, argument, float(line.upper))
    return total if total is not None and _nonnegative(density, "the kernel") else None


def _kept(mechanism: Mechanism, prior: Measure) -> Normalisation | None:
    """Return what proves that a kernel is normalised, found once for a budget and for secrets."""
    labels: Any = _labels(mechanism, prior)
    counts = isinstance(mechanism.outcome, Integers)
    points = prior.on.kind != "continuous" or bool(prior.masses)

    def prove() -> Normalisation | None:
        densities = (mechanism.density, *mechanism.masses.values())
        for density in densities:
            require_numbers(density, repr(mechanism))
        until = settings.deadline(_SHARE)
        ways = [lambda: _for_all_secrets(mechanism, until, points), lambda: _settling(mechanism)]
        if labels is not None:
            one_by_one = lambda: _at_each(mechanism, labels, until)  # noqa: E731
            ways = [one_by_one] if counts else [one_by_one, *ways]
            if len(labels) > _FEW_LABELS:
                ways.reverse()
        elif counts:
            ways.insert(0, lambda: _by_series(mechanism, points, until))
        for way in (lambda: _by_one_integral(mechanism, points), *ways):
            with suppress(NotEnclosed):
                if (found := way()) is not None:
                    return found if all(d.hides_no_nan for d in densities) else None
        return None

    return mechanism._memo.apart(("totals", settings.current().budget, labels, points), prove)


def _labels(mechanism: Mechanism, prior: Measure) -> tuple[tuple[float, ...], ...] | None:
    """Return the secrets at which the totals over the outcomes say all; None if none do.

    A kernel of y - x on all integers has one sum.
    """
    density, secret, outcome = mechanism.density, mechanism.secret, mechanism.outcome
    line = getattr(outcome, "interval", outcome)
    counts = isinstance(outcome, Integers)
    if not (counts or isinstance(line, Interval)) or density.graph is None:
        return None
    if counts and secret.dim > 1:
        return None
    for alphabet in (prior.on, secret):
        if alphabet.kind == "finite" and alphabet.dim == secret.dim and alphabet.numeric:
            if alphabet.size <= _MOST_LABELS:
                points = (x if isinstance(x, tuple) else (x,) for x in alphabet.labels)
                return tuple(tuple(map(float, x)) for x in points)
    if counts and secret.kind == "countable" and outcome.lower is None and outcome.upper is None:
        found = noise_of(log_graph(density), Interval(None, None))
        if found is not None and found[1].nodes == (("input", ("x",)),):
            return ((0.0,),)
    return None


def _at_each(mechanism: Mechanism, labels: tuple, until: float) -> Normalisation | None:
    """Enclose the totals over the outcomes; raise `InvalidInput` where one is not 1."""
    density, outcome, worst = mechanism.density, mechanism.outcome, 0.0
    counts = isinstance(outcome, Integers)
    if counts and not _nonnegative(density, repr(mechanism)):
        return None
    for x in labels:
        at = dict(zip(density.graph_names("x"), x, strict=True))
        if counts:
            total = total_at(plain(density), outcome, x[0], until)
        else:
            total = _mass_at(mechanism, at, MISS / 10)
        require_one(density, total, repr(mechanism), _place(at))
        worst = max(worst, 1 - total[0], total[1] - 1)
        if not worst <= LOOSE or settings.late(until):
            return None
    return _known(worst, "sum" if counts else "integral", f"at {len(labels)} secrets")


def _by_series(mechanism: Mechanism, points: bool, until: float) -> Normalisation | None:
    """Sum a kernel over infinitely many counts in closed form; raise where that is not 1."""
    density, outcome, secret = mechanism.density, mechanism.outcome, mechanism.secret
    if density.graph is None or not isinstance(outcome, Integers):
        return None
    if outcome.lower is None or outcome.upper is not None:
        return None
    graph, box = density.graph, ranges_of(density)
    del box["y"]
    if len(graph.nodes) > series_totals.LARGEST or not {*graph.inputs} <= {"y", *box}:
        return None
    found = series_totals.total(
        rewrite.linear_of(graph) if density.log else graph,
        lambda: _nonnegative(density, repr(mechanism)),
        box,
        outcome.lower,
        whole=isinstance(secret, Integers),
        above=() if points else above_zero(density),
        until=until,
    )
    if found is None:
        return None
    require_one(density, found, repr(mechanism), "every x")
    worst = max(1 - found[0], found[1] - 1)
    return _known(worst, "sum", "a series in closed form") if worst <= LOOSE else None


def _settling(mechanism: Mechanism) -> Normalisation | None:
    """Enclose the totals of finitely many outcomes for secrets on integers.

    Some secrets are looked at one by one, all beyond at once: a kernel that clips the secret is the
    same for them.
    """
    density, secret, outcome = mechanism.density, mechanism.secret, mechanism.outcome
    if not (isinstance(secret, Integers) and isinstance(outcome, Finite) and outcome.numeric):
        return None
    few = outcome.dim == 1 and outcome.size <= _FEW_LABELS
    if density.graph is None or not few or not _nonnegative(density, repr(mechanism)):
        return None
    total = summed(plain(density), outcome.array)
    for count in _HEADS:
        head = heads(secret, count)
        below, above = bool(secret.lower != head[0]), bool(secret.upper != head[-1])
        low = np.concatenate([[-math.inf][:below], head, [head[-1] + 1][:above]])
        high = np.concatenate([[head[0] - 1][:below], head, [math.inf][:above]])
        ends = interpreter.evaluate(total, {"x": (low, high)})
        found = [np.broadcast_to(end, low.shape) for end in ends]
        off = np.maximum(1 - found[0], found[1] - 1)
        for k in np.flatnonzero((off > LOOSE) & (low == high)):
            mass = float(found[0][k]), float(found[1][k])
            require_one(density, mass, repr(mechanism), f"x = {low[k]:.17g}")
        if off.max() <= LOOSE:
            # 0 times infinity is 0 to ranges
            density.check(repr(mechanism), outcome.array, head)
            labels = outcome.array.min(), outcome.array.max()
            rest = [ends for ends in zip(low, high, strict=True) if ends[0] < ends[1]]
            if not all(has_values(density.graph, {"x": ends, "y": labels}) for ends in rest):
                return None
            return _known(float(off.max()), "sum", f"at {len(head)} secrets and for all beyond")
    return None


def _known(worst: float, what: str, how: str) -> Normalisation:
    """Say that totals are 1 to the rounding of floats, or within so much."""
    if worst > MISS:
        return Normalisation.within(worst)
    return Normalisation.by(f"the {what} over y is 1 (within {MISS:.0e}), {how}", worst)


def _for_all_secrets(mechanism: Mechanism, until: float, points: bool) -> Normalisation | None:
    """Enclose the totals of almost all secrets, or all if points of them may have a mass.

    `InvalidInput` is raised where one of them is not 1.
    """
    kernels = [mechanism.density, *mechanism.masses.values()]
    if any(d.graph is None or not _nonnegative(d, repr(mechanism)) for d in kernels):
        return None
    outcome, rest = mechanism.outcome, 0.0
    if isinstance(outcome, Integers):
        outcome, rest = _head_and_rest(mechanism.density, outcome)
    totals = totals_of(kernels, outcome, mechanism.breaks, almost_all=not points)
    if totals is None:
        return None
    boxes = plans(totals.parts, totals.cuts, until)
    if boxes is None:
        return None
    if (points or not totals.secrets) and any(part.jumps for part in totals.parts):
        return None

    def check(x: float, total: tuple[float, float]) -> None:
        if totals.secrets:
            require_one(mechanism.density, total, repr(mechanism), f"x = {x:.17g}")
        elif abs(total[0] - 1) > LOOSE:
            raise NotEnclosed("a total that is not 1, perhaps at no secret")

    worst = 0.0
    for box in boxes:
        found = miss(box, check, until)
        if found is None or not found <= LOOSE:
            return None
        worst = max(worst, found + rest)
    return _known(worst, totals.what, "as an analytic function of x")


def _head_and_rest(density: Density, outcome: Integers) -> tuple[Finite, float]:
    """Return outcomes with nearly all of the mass for every secret, and bound the mass of others.

    Raises
    ------
    NotEnclosed
        A few outcomes do not have it.
    """
    if density.alphabets["x"].dim == 1:
        low, high = ranges_of(density)["x"]
        for count in _HEADS:
            head = heads(outcome, count)
            rest = beyond(plain(density), outcome, head, (arb(low), arb(high)))[1]
            if rest <= MISS / 10:
                return Finite([int(y) for y in head]), rest
    raise NotEnclosed("outcomes without an end, of too much mass far out")


def _nonnegative(density: Density, what: str) -> bool:
    """Return whether a density is proved not to be negative; raise if it is proved to be."""
    graph = density.graph
    assert graph is not None
    simple = density.simplified()
    proved = density.log or prover(density)(simple)
    return proved or require_nonnegative(density, what)


def _require_law(mechanism: Mechanism) -> None:
    """Raise for a kernel that is proved to be no law of Y, as far as a few secrets show it."""
    density, what = mechanism.density, repr(mechanism)
    if density.graph is None:
        return
    if density.log or not prover(density)(density.graph):
        require_nonnegative(density, what)
    points = probes_of(mechanism, _PROBES)
    columns = [np.asarray(c) for c in (points if isinstance(points, tuple) else (points,))]
    few = np.unique(np.linspace(0, len(columns[0]) - 1, 2 * _PROBES).astype(int))
    for x in zip(*(c[few].tolist() for c in columns), strict=True):
        named = dict(zip(density.graph_names("x"), x, strict=True))
        try:
            low, high = _mass_at(mechanism, named, 1e-12)
        except NotEnclosed:
            return
        require_one(density, (low, high), what, _place(named))


def _place(x: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.17g}" for name, value in x.items())


def _mass_at(mechanism: Mechanism, x: dict[str, float], rel_tol: float) -> tuple[float, float]:
    """Enclose the mass of all outcomes at a secret."""
    density, outcome = mechanism.density, mechanism.outcome
    at = {name: (np.array(v), np.array(v)) for name, v in x.items()}
    low = high = 0.0
    for mass in mechanism.masses.values():
        if mass.graph is None:
            raise NotEnclosed("a mass that could not be traced")
        ends = interpreter.evaluate(mass.graph, {n: at[n] for n in mass.graph.inputs})
        if not float(ends[0]) >= 0:
            raise NotEnclosed("a mass that may be negative")
        low, high = low + float(ends[0]), high + float(ends[1])
    line = getattr(outcome, "interval", outcome)
    if isinstance(line, Interval):
        own = _integral(log_graph(density), line, x, rel_tol)
    elif outcome.kind == "finite" and outcome.dim == 1:
        labels = np.asarray(outcome.array, float)
        own = interpreter.evaluate(density.graph, {"y": (labels, labels), **at})
        own = interpreter.exponential(own) if density.log else own
        own = tuple(float(end) for end in sum_outward(*own))
    else:
        raise NotEnclosed("the mass of such outcomes")
    # the masses are few: their sum is off by less than is allowed
    return low + own[0], high + own[1]


def noise_of(
    graph: Graph, line: Interval, names: tuple[str, ...] = ("x",)
) -> tuple[Graph, Graph] | None:
    """Return a kernel of y - g(x), on the whole line, as one of y - x; and g. None for others."""
    ends = line.lower, line.upper
    if not all(map(math.isinf, ends)) or {*names}.isdisjoint(graph.inputs):
        return None
    outer, inner = through(graph, names)
    if len(inner) != 1:
        return None
    nodes = tuple(("input", ("x",)) if node == ("input", ("w0",)) else node for node in outer.nodes)
    graph = Graph(nodes, ("y", "x"))
    along, _ = rewrite.diagonal(graph)
    if any(op == "input" and args == ("y",) for op, args in along.nodes):
        return None
    return graph, inner[0]


def _miss_at(mechanism: Mechanism, graph: Graph, line: Interval, x: float, place: str) -> float:
    """Return how far the integral of the kernel at one secret is from 1, at most."""
    named = {"x": x} if "x" in graph.inputs else {}
    low, high = _integral(graph, line, named, rel_tol=MISS / 10)
    require_one(mechanism.density, (low, high), repr(mechanism), place)
    return max(1 - low, high - 1, 0.0)


def _integral(
    log_density: Graph, line: Interval, x: dict[str, float], rel_tol: float
) -> tuple[float, float]:
    """Enclose the integral of a kernel over outcomes at one secret."""
    from borel.numerics.balls.expansion import product
    from borel.numerics.balls.integral import integrate
    from borel.numerics.balls.interpreter import Prepared

    prepared = Prepared(product([(log_density, True)]), variable="y")
    marks = [v for v in x.values() or (0.0,) if line.lower < v < line.upper]
    return integrate(
        prepared,
        {"shift": 0.0, **x},
        line.lower,
        line.upper,
        breaks=marks,
        rel_tol=rel_tol,
        bits=80,
    ).floats
