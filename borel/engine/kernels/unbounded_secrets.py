"""Secrets on an unbounded line: where to cut it, and how log f varies beyond the last cut.

Log f may depend on a secret through few functions of it that settle down: a clipped value, tanh,
an arctangent. Beyond the last cut each of them is in a short interval, and log f varies at most by
its slope in them times their lengths, whatever the prior does there.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from borel import settings
from borel.errors import NotEnclosed
from borel.numerics.graphs import float64
from borel.numerics.graphs.dependence import through
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.operations import STEPS, TRUTHS
from borel.numerics.intervals import interpreter
from borel.numerics.jets import arithmetic
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Secret

JUMPS = TRUTHS | STEPS | {"where", "remainder", "floor_divide"}
"""Operations that jump: what they lead to is not known by its slopes."""
_CONTINUOUS = frozenset(
    """add subtract multiply divide negative positive square sqrt power reciprocal absolute
    maximum minimum exp expm1 log log1p logaddexp tanh sin cos arctan special.expit""".split()
)
_LEVELS = (1e-13, 1e-10, 1e-7, 1e-5, 1e-3, 0.01, 0.05, 0.15, 0.3, 0.5)
_PIECES = 20
_NEAR_0 = 2.0**-6
_FARTHEST = 45.0  # sinh of that is 1.7e19
_FARTHEST_CUT, _LITTLE = 1e13, 1e-12


def continuous(graph: Graph) -> bool:
    """Return whether a function is seen to be continuous where its slopes are bounded.

    Slopes, known almost everywhere, do not tell of a jump at a single point, as that of 0^x at 0.
    """
    powers = [args[1] for op, args in graph.nodes if op == "power"]
    constant = all(graph.nodes[k][0] == "const" for k in powers)
    return constant and graph.operations <= _CONTINUOUS


def may_jump(graph: Graph, box: dict[str, tuple[float, float]]) -> bool:
    """Return whether a function may jump on a closed box: a condition is not one throughout.

    Parameters
    ----------
    graph : Graph
        The function.
    box : dict
        The least and the largest value of each input, perhaps infinite.

    Examples
    --------
    >>> from borel.numerics.graphs.trace import trace
    >>> graph = trace(lambda y, x: np.where(y > x, y - x, 2 * (x - y)), ("y", "x"), ())
    >>> [may_jump(graph, {"x": (0.0, 1.0), "y": (low, math.inf)}) for low in (0.5, 2.0)]
    [True, False]
    """
    if not JUMPS & graph.operations:
        return False
    if not JUMPS & graph.operations <= TRUTHS | {"where"}:
        return True
    lanes = {name: (np.array([[a]]), np.array([[b]])) for name, (a, b) in box.items()}
    for k, (op, args) in enumerate(graph.nodes):
        if op == "where" and graph.nodes[args[0]][0] not in TRUTHS:
            return True
        if op in TRUTHS:
            program = Program(Graph(graph.nodes[: k + 1], graph.inputs))
            jet = program.run({n: lanes[n] for n in graph.inputs}, 0, everywhere=True).jet
            low, high = arithmetic.entry(jet, 0)
            if not (low == high).all():
                return True
    return False


def cuts(secret: Secret) -> np.ndarray:
    """Return where to cut the line of secrets; beyond the cuts the prior has next to nothing."""
    # once the budget is spent they are rough
    return secret.memo.fact("cuts", lambda: _cuts(secret), cut_short=settings.spent)


def _cuts(secret: Secret) -> np.ndarray:
    low, high = float(secret.lower[0]), float(secret.upper[0])
    marks = {v for v in (low, high, *secret.breaks, *secret.atoms[:, 0]) if math.isfinite(v)}
    if math.isinf(low):
        marks |= {-v for v in _quantiles(secret, -1.0)}
    if math.isinf(high):
        marks |= set(_quantiles(secret, 1.0))
    for sign, end in ((1.0, low), (-1.0, high)):
        if math.isfinite(end) and len(marks) > 1:  # where a prior may be singular
            away = min(abs(v - end) for v in marks if v != end)
            marks |= {end + sign * away * 2.0**-k for k in range(1, 40)}
    # beyond a break or an atom is a piece before the half-line
    least, most = min(marks), max(marks)
    marks |= {least - 1.0} if math.isinf(low) else set()
    marks |= {most + 1.0} if math.isinf(high) else set()
    out: list[float] = []
    for a, b in pairwise(sorted(v for v in marks if low <= v <= high)):
        far_off = a * b > 0 and max(a / b, b / a) > 2
        out += list((np.geomspace if far_off else np.linspace)(a, b, _PIECES + 1))
    return np.unique(out)


def _quantiles(secret: Secret, sign: float) -> list[float]:
    """Return about where sign * X is beyond with small probabilities; it is not proved."""
    if secret.mass is None:
        assert secret.log_density is not None
        t = np.linspace(-_FARTHEST, _FARTHEST, 20_001)
        x = np.sinh(t)
        inside = (x > secret.lower[0]) & (x < secret.upper[0])
        with np.errstate(all="ignore"):
            p = np.exp(float64.evaluate(secret.log_density, {"x": sign * x})) * np.cosh(t)
        p = np.where(np.isfinite(p) & (inside if sign > 0 else inside[::-1]), p, 0.0)
        beyond = np.cumsum(p[::-1])[::-1] / max(p.sum(), 1e-300)
        return [float(x[np.searchsorted(-beyond, -level)]) for level in _LEVELS]
    out = []
    for level in _LEVELS:
        below, above = -_FARTHEST, _FARTHEST
        for _ in range(30):
            if settings.spent():
                break
            t = (below + above) / 2
            place = sign * math.sinh(t)
            beyond = secret.mass(*sorted((place, sign * math.inf)))[1]
            below, above = (t, above) if beyond > level else (below, t)
        out.append(math.sinh(above))
    # what is nearly 0 would have pieces shrink towards it
    return [v if abs(v) > _NEAR_0 * abs(out[-1] - out[-3]) else 0.0 for v in out]


def middle(secret: Secret) -> float:
    """Return a point from which distances count where half-lines of secrets are cut.

    That is about the median of a prior on the whole line, wherever it lies, and else the end.
    """
    if not secret.continuous or secret.dim > 1:
        return 0.0
    low, high = float(secret.lower[0]), float(secret.upper[0])
    if math.isfinite(low) or math.isfinite(high):
        return low if math.isfinite(low) else high
    if secret.mass is None and secret.log_density is None:  # the secrets of many priors
        return 0.0

    def median() -> float:
        *_, upper, _, found = _quantiles(secret, 1.0)
        if not 0 < upper - found < _FARTHEST_CUT or not abs(found) < _FARTHEST_CUT:
            return 0.0
        step = 2.0 ** math.floor(math.log2((upper - found) / 16))  # a round number
        return round(found / step) * step

    return secret.memo.fact("middle", median, cut_short=settings.spent)


def settling(
    log: Program, before: float, last: float, end: float, y: tuple[float, float]
) -> list[float]:
    """Return more cuts beyond the last one, until log f hardly varies beyond."""
    out, least = [], reach(log, before, end, y)
    while least > _LITTLE and abs(last) < _FARTHEST_CUT:
        step = last + math.copysign(max(abs(last), 1.0), end)
        fresh = reach(log, last, end, y)
        if not fresh < math.inf:
            break
        out += list(np.linspace(last, step, _PIECES + 1)[1:])
        before, last, least = last, step, fresh
    return out


def limits(graph: Graph, secret: Secret) -> list[float]:
    """Return ends of the functions of the secret that a kernel depends on; none if it has none."""
    if secret.dim > 1 or not secret.continuous:
        return []
    try:
        pairs = _ranges(through(graph)[1], float(secret.lower[0]), float(secret.upper[0]))
    except NotEnclosed:
        return []
    return [v for pair in pairs for v in pair] if np.isfinite(pairs).all() else []


def _ranges(inner: list[Graph], low: float, high: float) -> list[tuple[float, float]]:
    x = np.array(low), np.array(high)
    ends = (interpreter.evaluate(g, {"x": x}) for g in inner)
    return [(float(a), float(b)) for a, b in ends]


def reach(log: Program, start: float, end: float, y: tuple[float, float]) -> float:
    """Bound ``|L(y, x) - L(y, x')|`` for secrets from ``start`` on, and every y of a box.

    Returns infinity where log f is no continuous function of y and of bounded functions of x.
    """
    outer, inner = through(log.graph)
    if JUMPS & outer.operations:
        return math.inf
    try:
        ranges = _ranges(inner, min(start, end), max(start, end))
        if not np.isfinite(ranges).all():
            return math.inf
        program, total = Program(outer), 0.0
        for k, (a, b) in enumerate(ranges):
            named = {f"w{i}": arithmetic.constant(np.array([u]), np.array([v]))
                     for i, (u, v) in enumerate(ranges)}  # fmt: skip
            named[f"w{k}"] = arithmetic.variable(np.array([a]), np.array([b]), 1)
            named["y"] = arithmetic.constant(np.array([y[0]]), np.array([y[1]]))
            with np.errstate(all="ignore"):
                slope = arithmetic.entry(program.run(named, 1).jet, 1)
            size = float(max(abs(slope[0]).max(), abs(slope[1]).max()))
            width = (b - a) * (1 + 2.0**-50)
            total += size * width * (1 + 2.0**-50) if width > 0 else 0.0
    except NotEnclosed:
        return math.inf
    return total * (1 + 2.0**-50) if total >= 0 else math.inf
