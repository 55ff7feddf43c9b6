r"""What the outcomes beyond a head of integers add to the means of a leakage, at most.

Let S and I be the essential supremum and infimum of f(y|x) over the secrets, y = T + k. If, for all
k >= 0 and all secrets x and x', with exact differences (`forward_difference`),

.. math:: \log f(y+1|x) - \log f(y|x) \le \log q < 0, \qquad
    \log \frac{f(y+1|x)}{f(y|x)} - \log \frac{f(y+1|x')}{f(y|x')} \le g,

then :math:`S \le S_T q^k` and :math:`\log S/I \le \log S_T/I_T + g k`. As :math:`I \le f_Y \le S`,

.. math:: f_Y \log \frac{S}{f_Y} \le \frac{S}{\mathrm{e}}, \quad f_Y \frac{S}{f_Y} = S, \quad
    f_Y \log \frac{f_Y}{I} \le S \log \frac{S}{I}, \quad \frac{f_Y^2}{I} \le \frac{S^2}{I},

and all sums are geometric. For a countable secret S <= 1 and f_Y log 1/f_Y grows with f_Y <= 1/e:
an envelope :math:`h q^k` of f_Y bounds the mean of PML. On outcomes towards -infinity likewise.
Without an envelope the mass beyond the head and the mean distance of Y do (`tail_entropy`).
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from flint import arb

from borel import settings
from borel.engine.kernels.tail_entropy import FarEntropy
from borel.numerics.balls.arithmetic import ball, ends, precision
from borel.numerics.germs.forward_difference import enclosed, unit_step, without_common
from borel.numerics.germs.interpreter import ray
from borel.numerics.germs.values import BITS, UndecidedRule, slack
from borel.numerics.graphs.graph import GraphBuilder
from borel.probability.countable_law import VALUE_FIELDS, Values

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Secret
    from borel.numerics.graphs.graph import Graph

_LEAST = 1e-290
_PIECES = 32
"""The secrets are enclosed in so many boxes, at most."""


class Steps(NamedTuple):
    """Bounds on what a step to the next outcome does.

    Attributes
    ----------
    fall : float
        log f(y + 1|x) - log f(y|x), at most.
    spread : float
        By how much this differs between two secrets, at most.
    """

    fall: float
    spread: float


def with_rest(engine: Any, kind: str, what: str, values: Values) -> Values:
    """Bound what is beyond the head; outcomes of it that floats do not resolve count as beyond.

    Parameters
    ----------
    engine : LawMeasures
        Its outcomes are integers without an upper or a lower end.
    kind : {"pml", "pmc"}
        Which leakage.
    what : {"mean", "exp"}
        Which mean: of the leakage, or of its exponential.
    values : Values
        The law on the engine's head.
    """
    outcome, ys = engine.joint.outcome, np.asarray(engine.head_of_outcomes()[0])
    first, last = _block(_known(values, what), outcome)
    held = math.fsum(np.asarray(values.mass_lower[first:last], float).tolist())
    total = beyond(engine, kind, what, ys[first:last], 1.0 - held + 2.0**-50)
    changed: dict[str, Any] = {"rest": total}
    if last - first < len(ys) and total < math.inf:
        changed |= {name: getattr(values, name)[first:last] for name in VALUE_FIELDS}
        changed["leftover"] = 1.0
    else:
        changed["ceiling"] = min(values.ceiling, engine.beyond_head(kind))
    return Values(**{**values.__dict__, **changed})


def beyond(engine: Any, kind: str, what: str, ys: np.ndarray, mass: float = 1.0) -> float:
    """Bound the mean of a leakage, or of its exponential, over the outcomes that are not in a run.

    Parameters
    ----------
    ys : ndarray
        Consecutive integers; they hold the end of the alphabet, if it has one.
    mass : float
        That of the outcomes that are not in the run, at most.

    Returns
    -------
    float
        Infinite where nothing is proved.
    """
    outcome, total = engine.joint.outcome, 0.0
    if not len(ys):
        return math.inf
    if outcome.upper is None:
        total += _behind(engine, kind, what, float(ys[-1]), 1.0, mass)
    if outcome.lower is None:
        total += _behind(engine, kind, what, float(ys[0]), -1.0, mass)
    return total * (1 + 2.0**-50)


def resolved(values: Values, outcome: Any, ys: np.ndarray) -> np.ndarray:
    """Return the outcomes of a head up to the first one that floats do not resolve."""
    return ys[slice(*_block(_known(values, "mean") & (values.mass_lower > _LEAST), outcome))]


def _known(values: Values, what: str) -> np.ndarray:
    """Return which outcomes floats resolve."""
    upper = values.upper if what == "mean" else values.ratio_upper
    return np.isfinite(upper) & (values.mass_lower > 0) | (values.mass_upper == 0)


def _block(resolved: np.ndarray, outcome: Any) -> tuple[int, int]:
    """Return the ends of the run of resolved outcomes that starts where the alphabet does."""
    n = len(resolved)
    centre = 0 if outcome.lower is not None else n if outcome.upper is not None else n // 2
    bad = np.flatnonzero(~resolved)
    first, last = bad[bad < centre], bad[bad >= centre]
    return int(first[-1]) + 1 if len(first) else 0, int(last[0]) if len(last) else n


def _behind(engine: Any, kind: str, what: str, last: float, side: float, mass: float) -> float:
    """Bound the sum over the outcomes last + side, last + 2 side, ..."""
    if settings.spent():
        return math.inf
    return min(
        _by_kernel(engine, kind, what, last, side),
        _by_mass(engine.in_logs, kind, what, last, side, mass),
    )


def _by_mass(logs: Any, kind: str, what: str, last: float, side: float, mass: float) -> float:
    """Bound the mean of PML by the mean distance of the outcome."""
    if logs is None or (kind, what) != ("pml", "mean"):
        return math.inf
    far = FarEntropy(logs, counts=True)
    low, high = sorted((last, side * math.inf))
    return float(far.mean(np.array([low]), np.array([high]), np.array([mass]))[0])


def _by_kernel(engine: Any, kind: str, what: str, last: float, side: float) -> float:
    """Bound the sum by a geometric series."""
    logs, best = engine.in_logs, math.inf
    if logs is None or logs.secret.rest:
        with suppress(UndecidedRule), precision(BITS):
            best = _by_envelope(engine, kind, what, last + side)
    if logs is not None and not best < math.inf:
        with suppress(UndecidedRule), precision(BITS):
            found = steps(logs.surface.graph, logs.secret, last, side)
            best = _by_steps(logs, kind, what, last, found)
    return best


def _by_steps(logs: Any, kind: str, what: str, last: float, found: Steps) -> float:
    """Sum the geometric series behind an outcome; the next ones may be beyond what floats hold."""
    at = np.array([last])
    top = float(logs.extreme(at, 1.0).upper[0])
    q, g = ball(found.fall).exp(), ball(found.spread)
    if not (found.fall < 0 and q < 1 and top < math.inf):
        return math.inf
    height = ball(top).exp() * q
    if kind == "pml":
        whole = height / (1 - q)
        return ends(whole / ball(1).exp() if what == "mean" else whole)[1]
    gap = ball(top) - ball(float(logs.extreme(at, -1.0).lower[0])) + g
    if not gap.is_finite():
        return math.inf
    if what == "mean":
        return ends(height * _moments(gap, g, q))[1]
    q = q * g.exp()
    return ends(height * gap.exp() / (1 - q))[1] if q < 1 else math.inf


def _moments(start: arb, step: arb, q: arb) -> arb:
    """Return the sum of q^k (start + k step) over k >= 0."""
    return start / (1 - q) + step * q / (1 - q) ** 2


def _by_envelope(engine: Any, kind: str, what: str, start: float) -> float:
    """Bound the mean of PML by the law of the outcome alone."""
    from borel.engine.countable.tail_bounds import envelope

    if (kind, what) != ("pml", "mean"):
        return math.inf
    best = math.inf
    for height, rate in envelope(engine, start):
        if rate > 0 and height * ball(1).exp() < 1:
            best = min(best, ends(height * _moments(-height.log(), rate, (-rate).exp()))[1])
    return best


def steps(graph: Graph, secret: Secret, start: float, side: float) -> Steps:
    """Bound the steps of a log-kernel for all outcomes y >= start, or y <= start for side -1.

    Raises
    ------
    Undecided
        Where nothing is proved.
    """
    if not side * start >= 2:
        raise UndecidedRule("outcomes around 0")
    t0 = math.nextafter(1 / (side * start), 1.0)
    y = ray(0.0, -1.0, side, side)
    boxes = _pieces(secret)
    one = {name: next(filter(math.isfinite, pair[::-1]), 0.0) for name, pair in boxes[0].items()}
    try:  # the step of one secret, with which the others are compared
        named = {name: slack(v, v) for name, v in one.items()}
        reference = unit_step(graph, {**named, "y": y}, t0).bind(one)
    except UndecidedRule:
        reference = None
    fall, low, high = -math.inf, math.inf, -math.inf
    for box in boxes:
        own, named = _positive(graph, box)
        named["y"] = y
        step = unit_step(own, named, t0)
        fall = max(fall, enclosed(step, named, t0)[1])
        if reference is not None:
            least, most = enclosed(without_common(step, reference), named, t0)
            low, high = min(low, least), max(high, most)
    spread = high - low if math.isfinite(low) and math.isfinite(high) else math.inf
    return Steps(fall, math.nextafter(spread, math.inf))


def _pieces(secret: Secret) -> list[dict[str, tuple[float, float]]]:
    """Return boxes that hold every secret."""
    out: list[dict[str, tuple[float, float]]] = []
    if secret.continuous and secret.dim == 1:
        a, b = float(secret.lower[0]), float(secret.upper[0])
        bounded = math.isfinite(a) and math.isfinite(b)
        cuts = np.linspace(a, b, _PIECES + 1) if bounded else np.array([a, b])
        cuts[-1] = b
        out += [{secret.names[0]: (float(u), float(v))} for u, v in pairwise(cuts)]
    elif secret.continuous:
        sides = zip(secret.lower.tolist(), secret.upper.tolist(), strict=True)
        out.append(dict(zip(secret.names, sides, strict=True)))
    if len(secret.atoms):
        atoms = secret.atoms[np.lexsort(secret.atoms.T[::-1])]
        for part in np.array_split(atoms, min(len(atoms), _PIECES)):
            sides = zip(part.min(axis=0).tolist(), part.max(axis=0).tolist(), strict=True)
            out.append(dict(zip(secret.names, sides, strict=True)))
    out += [{secret.names[0]: (float(low), float(high))} for low, high in secret.rest]
    return out


def _positive(graph: Graph, box: dict[str, tuple[float, float]]) -> tuple[Graph, dict[str, Any]]:
    """Write x in (0, b) as e^x with x < log b, so that its logarithm is known to be a number."""
    named, logs = {}, set()
    for name, (low, high) in box.items():
        if low == 0 < high:
            logs.add(name)
            named[name] = slack(-math.inf, ends(ball(high).log())[1])
        else:
            named[name] = slack(low, high)
    if not logs:
        return graph, named
    b = GraphBuilder()
    powers = {name: b.add("exp", b.add("input", name)) for name in sorted(logs)}
    return b.graph(b.append(graph, inputs=powers)[-1]), named
