r"""Certified averages over continuous outcomes: maximal cost leakage, and f-information.

Maximal cost leakage is the integral of the kernel's infimum, band by band. f-information of a
finite secret is one integral over the line, by Arb: with p_x the prior and k_x the kernel at x,
total variation is :math:`1 - \sum_x p_x \int \min(k_x, f_Y)`, squared Hellinger
:math:`1 - \sum_x p_x \int \sqrt{k_x f_Y}`, chi-square :math:`\sum_x p_x \int k_x^2 / f_Y - 1`,
mutual information :math:`\sum_x p_x \int k_x \log(k_x / f_Y)`. Far out the mass m of f_Y bounds
each sum: by m, as :math:`\min(k, f) \le f` and :math:`\sum_x p_x \sqrt{k_x f} \le f`; by
:math:`n m`, as :math:`p_x k_x \le f`; and by :math:`m \log (1/p_{\min})` and
:math:`-m/e`, as :math:`k \log(k/f) \ge -f/e`.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from borel import settings
from borel.engine.balls.arb import ball, enclose
from borel.engine.continuous import certificates_of_laws
from borel.engine.continuous.band_marginals import ORDER, geometry
from borel.engine.continuous.bands import _integral, side
from borel.engine.continuous.surface import log_graph
from borel.engine.discrete.law_measures import inverse_mean
from borel.engine.divergences.line_divergences import cut_off
from borel.engine.graphs.joined_graphs import JoinedGraphs
from borel.engine.graphs.trace import Graph
from borel.engine.intervals import jet_functions, lanes
from borel.errors import NotEnclosed

if TYPE_CHECKING:
    from borel.bound import Bound
    from borel.engine.continuous.certified_laws import CertifiedOutcomes
    from borel.engine.divergences.generators import Generator

_ROUNDS = 40
_MOST_SECRETS = 12
_SPACE = 0.05


# -- maximal cost leakage -------------------------------------------------------------------------


def maximal_cost_leakage(engine: CertifiedOutcomes) -> Bound:
    """Enclose -log of the integral of ess inf_x f(y|x)."""
    tol, deadline = settings.current().tol, engine.deadline()
    part = engine.partition("pmc")
    for _ in range(60):  # beyond the bands the integral is at most the mass there: push them out
        far = ~(np.isfinite(part.low) & np.isfinite(part.high))
        if float(part.weight()[far].sum()) <= tol / 8 or time.monotonic() > deadline:
            break
        # only masses count here: the leakage is undecided nowhere
        if not part.sharpen(np.zeros(len(part.low), bool), tol / 8, deadline):
            break
    far = ~(np.isfinite(part.low) & np.isfinite(part.high))
    beyond = float(part.weight()[far].sum()) * (1 + 1e-13)
    low, high = part.low[~far], part.high[~far]
    seen = _infimum(engine, low, high, deadline)
    # what is not looked at in time has an infimum of at most f_Y
    ends = np.array([np.zeros(len(low)), part.weight()[~far] * (1 + 1e-13)])
    ends[0, : seen.shape[1]] = seen[0]
    ends[1, : seen.shape[1]] = np.minimum(ends[1, : seen.shape[1]], seen[1])
    for _ in range(_ROUNDS):
        gaps = ends[1] - ends[0]
        total = float(ends[0].sum())
        if float(gaps.sum()) <= tol * max(total, tol) / 2 or time.monotonic() > deadline:
            break
        cut = gaps > tol * max(total, tol) / (8 * len(gaps))
        if not cut.any() or len(gaps) > 20_000:
            break
        middle = low[cut] + (high[cut] - low[cut]) / 2
        fresh_low = np.concatenate([low[cut], middle])
        fresh_high = np.concatenate([middle, high[cut]])
        fresh = _infimum(engine, fresh_low, fresh_high, deadline)
        if fresh.shape[1] < len(fresh_low):
            break
        low = np.concatenate([low[~cut], fresh_low])
        high = np.concatenate([high[~cut], fresh_high])
        ends = np.concatenate([ends[:, ~cut], fresh], axis=1)
    least, most = float(ends[0].sum()) * (1 - 1e-13), float(ends[1].sum()) * (1 + 1e-13) + beyond
    if len(engine.atoms):
        atoms = inverse_mean(part.at_atoms)
        least, most = least + atoms[0] * (1 - 1e-14), most + atoms[1] * (1 + 1e-14)
    most = min(most, 1.0)
    over = math.inf if not least > 0 else enclose(lambda: -ball(min(least, 1.0)).log())[1]
    under = math.inf if most == 0 else enclose(lambda: -ball(most).log())[0]
    ends_of_bound = max(under, 0.0), max(over, 0.0)
    if math.isinf(over) or engine.secret.rest:
        return engine.bound(*ends_of_bound)
    wide = max(0.0, under - _SPACE * tol), over + _SPACE * tol
    made = certificates_of_laws.mean(engine, "pmc", wide, part, "maximal_cost_leakage")
    return engine.bound(*(ends_of_bound if made is None else wide), certificate=made)


def _infimum(engine: Any, low: np.ndarray, high: np.ndarray, deadline: float) -> np.ndarray:
    """Enclose the integral of ess inf_x f(y|x) over bands, until the deadline."""
    out = [np.zeros((2, 0))]
    for start in range(0, len(low), 512):
        part = slice(start, start + 512)
        with np.errstate(all="ignore"):
            out.append(_of_bands(engine, low[part], high[part], deadline))
        if time.monotonic() > deadline:
            break
    return np.concatenate(out, axis=1)


def _of_bands(engine: Any, low: np.ndarray, high: np.ndarray, deadline: float) -> np.ndarray:
    """Integrate e^-s, where s = sup_x -log f is known against paths, to second order."""
    centre, _ = geometry(low, high)
    ends = (
        lanes.subtract(lanes.point(low), lanes.point(centre)),
        lanes.subtract(lanes.point(high), lanes.point(centre)),
    )
    tol = min(settings.current().tol / 8, 1e-9)
    bands = engine.bands
    bottom = side(bands.surface, low, high, -1.0, tol, deadline, bands.cover)
    width = lanes.subtract(lanes.point(high), lanes.point(low))
    crude = [
        lanes.multiply(lanes.exp(lanes.point(-v)), width) for v in (bottom.direct, bottom.flat)
    ]
    lows, highs = [crude[0][0]], [crude[1][1]]
    for i, path in enumerate(bottom.paths):
        inner = jet_functions.exponential(lanes.negative(path[0]), ORDER - 1)
        outer = jet_functions.exponential(lanes.negative(path[1]), ORDER)
        total = lanes.settled(_integral(inner, outer, ends))
        highs.append(np.where(bottom.sound[i], total[1], np.inf))
        if i == 0:
            less = lanes.exp(lanes.point(-bottom.excess))
            lows.append(lanes.multiply((np.maximum(total[0], 0.0), total[1]), less)[0])
    lower = np.maximum.reduce([np.where(np.isnan(v), 0.0, v) for v in lows])
    upper = np.fmin.reduce([np.where(np.isnan(v), np.inf, v) for v in highs])
    lower = np.maximum(lower, 0.0)
    return np.array([lower, np.maximum(upper, lower)])


# -- f-information --------------------------------------------------------------------------------


def f_information(engine: CertifiedOutcomes, f: Generator) -> tuple[float, float]:
    """Enclose a named f-information of a finite secret.

    Raises
    ------
    NotEnclosed
        Another secret, atoms, another f, or an integral that Arb does not bound.
    """
    secret = engine.secret
    if not f.named:
        raise NotEnclosed("a function f is not certified on continuous alphabets")
    if secret.continuous or secret.rest or secret.dim > 1:
        raise NotEnclosed("f-information of a continuous secret is not certified in this version")
    if len(engine.atoms) or len(secret.atoms) > _MOST_SECRETS:
        raise NotEnclosed("f-information with atoms, or of many secrets, is not certified")
    graph = log_graph(engine.joint.mechanism.density)
    points = [float(a) for a in secret.atoms[:, 0]]
    kernels = [graph.bind({"x": x}) if "x" in graph.inputs else graph for x in points]
    weights = _weights(secret)
    tol = settings.current().tol / 8
    line = engine.line
    marks = sorted(
        m for m in {*engine.joint.mechanism.breaks, *points} if line.lower < m < line.upper
    )

    def tail(a: float, b: float) -> float:
        """Bound the mass of f_Y beyond a point."""
        masses = (_integral_of([(k, True)], {}, (a, b), [], 0.01)[1] for k in kernels)
        return math.nextafter(max(masses), math.inf)

    over, beyond = cut_off(line.lower, line.upper, marks, tail, tol)
    total: list[Any] = [ball(0), ball(0)]
    for k, weight in enumerate(weights):
        low, high = _one(f, kernels, weights, k, over, marks, tol)
        if not math.isfinite(low) or not math.isfinite(high):
            raise NotEnclosed("Arb does not bound an integral over the line")
        total = [total[0] + (weight * ball(low)), total[1] + (weight * ball(high))]
    rest = _rest(f, weights, beyond)
    total = [total[0] + rest[0], total[1] + rest[1]]
    if f.name in ("total_variation", "squared_hellinger"):
        total = [1 - total[1], 1 - total[0]]
    elif f.name == "chi_square":
        total = [t - 1 for t in total]
    low, high = (enclose(lambda t=t: t)[k] for k, t in enumerate(total))
    return max(low, 0.0), max(high, 0.0)


def _weights(secret: Any) -> list[Any]:
    """Return the prior as balls."""
    pairs = zip(secret.weight_low, secret.weight_high, strict=True)
    return [ball(float(a)).union(ball(float(b))) for a, b in pairs]


def _rest(f: Generator, weights: list[Any], mass: float) -> tuple[Any, Any]:
    """Bound what lies beyond the interval, where f_Y has at most some mass."""
    m = ball(mass)
    if f.name == "chi_square":
        return ball(0), m * len(weights)
    if f.name == "kl":
        least = min((w.lower() for w in weights), key=float)
        return -m / ball(1).exp(), m * (-least.log()).upper()
    return ball(0), m


def _integral_of(
    factors: list[tuple[Graph, bool]],
    inputs: dict[str, Any],
    over: tuple[float, float],
    marks: list[float],
    rel_tol: float,
) -> tuple[float, float]:
    """Enclose the integral over outcomes of a product of densities."""
    from borel.engine.balls.arb_expand import product
    from borel.engine.balls.arb_graph import Prepared
    from borel.engine.balls.arb_integral import integrate

    return integrate(
        Prepared(product(factors), variable="y"),
        {"shift": 0.0, **inputs},
        *over,
        breaks=[m for m in marks if over[0] < m < over[1]],
        rel_tol=rel_tol,
    ).floats


def _one(
    f: Generator,
    kernels: list[Graph],
    weights: list[Any],
    k: int,
    over: tuple[float, float],
    marks: list[float],
    tol: float,
) -> tuple[float, float]:
    """Enclose the integral that belongs to one secret."""
    together = JoinedGraphs(kernels)
    add, logs = together.add, together.roots
    mixed = [add("add", add("input", f"w{i}"), at) for i, at in enumerate(logs)]
    law = mixed[0]
    for more in mixed[1:]:
        law = add("logaddexp", law, more)
    own, plain = logs[k], None
    if f.name == "total_variation":
        root = add("minimum", own, law)
    elif f.name == "squared_hellinger":
        root = add("multiply", add("const", 0.5), add("add", own, law))
    elif f.name == "chi_square":
        root = add("add", own, add("subtract", own, law))
    else:
        root, plain = own, add("subtract", own, law)
    factors = [(together.rooted(root), True)]
    if plain is not None:
        factors.append((together.rooted(plain), False))
    inputs = {f"w{i}": w.log() for i, w in enumerate(weights)}
    return _integral_of(factors, inputs, over, marks, tol)
