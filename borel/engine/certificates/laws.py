"""Certificates of figures over continuous outcomes: suprema, tails, quantiles and means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from borel.engine.certificates import wanted
from borel.engine.certificates.checks.count_laws import CountLaw, CountMean, CountSupremum
from borel.engine.certificates.checks.taylor_models import FUNCTIONS
from borel.engine.certificates.encoding import header, number, without_infinities
from borel.engine.certificates.trials import (
    CountsSoon,
    Envelopes,
    Informations,
    Masses,
    Means,
    PeakAndAtoms,
    Soon,
    followed,
    tried,
)
from borel.engine.kernels import leakage_far_out, unbounded_secrets

if TYPE_CHECKING:
    from borel.engine.continuous.outcome_engine import CertifiedOutcomes
    from borel.engine.continuous.outcome_partition import Partition
    from borel.engine.problem.proof import Proof

_CELLS = 8
_HINTS = 16
_ATOMS = 16
_LOOSE = 1e300
_LARGE = 1e6
_KNOWN = {"input", "const", *FUNCTIONS}


def outcomes(
    engine: CertifiedOutcomes,
    quantity: str,
    ends: tuple[float, float],
    peak: tuple[float, float],
) -> dict[str, Any] | None:
    """Return the certificate of a supremum over continuous outcomes.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint.
    quantity : {"pml", "pmc", "ldp"}
        Which leakage.
    ends : tuple of float
        The enclosure.
    peak : tuple of float
        Outcomes on which the leakage is at least the lower end; see `peak`.

    Returns
    -------
    dict or None
        None for what the checker does not cover: several secrets of which the kernel reads more
        than one number, operations that it does not know.
    """
    line = _on_a_line(engine)
    if line is None:
        return None
    at = np.array([peak[0]])
    about = _line(line, at)
    among = _among(about["edges"])
    own: list = [None, None]
    close: list = [None, None]
    for k, (kinds, sign) in enumerate(((("pml", "ldp"), 1.0), (("pmc", "ldp"), -1.0))):
        if quantity in kinds:
            own[k] = float(line.extreme(at, sign).place[0, 0])
            close[k] = _better(line, peak[0], own[k], sign, among)
    # nothing is handed out whose peak the checker does not see; the boxes would take too long here.
    # Where the prior fades towards an end the engine's place is short of it; where it is 0, beyond
    for places in (close, own) if close != own else (own,):
        claim = {"type": "outcomes", **about, "peak": {"y": list(peak), "x": places}}
        made = _made(engine, quantity, ends, claim)
        if tried(engine, made, PeakAndAtoms, CountSupremum):
            return made
    return None


def _made(
    engine: CertifiedOutcomes, quantity: str, ends: tuple[float, float], claim: dict[str, Any]
) -> dict[str, Any]:
    """Return a certificate of a claim; of a count also the integers that are looked at singly."""
    secret = engine.secret
    counted = {}
    if secret.rest:
        points, charged = secret.atoms[:, 0], secret.weight_low > 0
        head = points[charged][[0, -1]]
        leakage_far_out = points[(points < head[0]) | (points > head[1])]
        counted = {"head": head.tolist(), "far": leakage_far_out.tolist()}
    about = {"format": 4 if counted else 3, **number(engine), "claim": {**claim, **counted}}
    return without_infinities({**header(engine, quantity, *ends), **about})


def peak(engine: CertifiedOutcomes, part: Partition) -> tuple[float, float]:
    """Return outcomes at which a leakage is largest: part of a band, or an atom."""
    best, atoms = int(np.argmax(part.lower)), part.at_atoms.lower
    if len(atoms) and atoms.max() >= part.lower[best]:
        y = float(engine.atoms[int(np.argmax(atoms))])
        return y, y
    low, high = float(part.low[best]), float(part.high[best])
    if math.isfinite(low) and math.isfinite(high):
        low = low + (high - low) / 2
    step = 2.0**-40 * max(1.0, abs(low if math.isfinite(low) else high))
    if math.isinf(low):
        return high - step, high
    return low, min(low + step, low + (high - low) / 2)


def _on_a_line(engine: CertifiedOutcomes) -> CertifiedOutcomes | None:
    """Return the engine, of several secrets that of the one number that the kernel reads.

    None if no certificate is wanted, or the checkers of suprema and laws do not follow it.
    """
    return _followed_on_a_line(engine) if wanted() else None


def _followed_on_a_line(engine: CertifiedOutcomes) -> CertifiedOutcomes | None:
    line = engine
    if engine.secret.dim > 1:
        line = None if engine.at_atoms else engine.of_one
    if line is None:
        return None
    mechanism = line.joint.mechanism
    masses = (mass.graph for mass in mechanism.masses.values())
    graphs = [mechanism.density.graph, line.secret.log_density, *masses]
    named = {op.removeprefix("special.") for g in graphs if g is not None for op in g.operations}
    return line if named <= _KNOWN else None


def _line(engine: CertifiedOutcomes, at: np.ndarray) -> dict[str, Any]:
    """Return where a checker is to cut the outcomes and the secrets first, and f_Y if known."""
    secret, line, mechanism = engine.secret, engine.line, engine.joint.mechanism
    charged = secret.weight_low > 0 if secret.rest else slice(None)
    inner = {float(a) for a in secret.atoms[charged, 0]} | set(mechanism.breaks)
    edges = []
    if secret.continuous:
        own = float(secret.lower[0]), float(secret.upper[0])
        if math.isfinite(own[1] - own[0]):
            cells = [*np.linspace(*own, _CELLS + 1)]
        else:
            cells = [*unbounded_secrets.cuts(secret)[::_CELLS]]
            inner |= set(unbounded_secrets.limits(engine.surface.graph, secret))
        cells += leakage_far_out.kinks(engine.surface, np.unique(cells), float(at[0]))
        edges = sorted({*own, *secret.breaks, *map(float, cells)})
        inner |= set(own)
    inner = {float(v) for v in inner if line.lower < v < line.upper and math.isfinite(v)}
    whole = {float(line.lower), float(line.upper)}
    if not inner and math.isinf(line.lower) and math.isinf(line.upper):
        inner = {0.0}
    known = engine.log_marginal_graph
    return {
        "cover": sorted(whole | inner),
        "edges": edges,
        "marginal": None if known is None else known.to_json(),
    }


def law(
    engine: CertifiedOutcomes,
    quantity: str,
    ends: tuple[float, float],
    part: Partition,
    level: tuple[float, float],
    **claim: Any,
) -> dict[str, Any] | None:
    """Return the certificate of a figure of the law of a leakage over continuous outcomes.

    Parameters
    ----------
    engine, quantity, ends, part
        As for `outcomes`.
    level : tuple of float
        Leakages between which the threshold is: outcomes of such leakage need most care.
    **claim : object
        What is claimed: ``figure`` is "tail" (with ``t`` and ``closed``) or "quantile" (with
        ``s``, two integers, and ``side``).

    Returns
    -------
    dict or None
        None for what the checker does not cover, as for `outcomes`.
    """
    line = _on_a_line(engine)
    if line is None or not all(map(math.isfinite, ends)):
        return None
    inner = np.flatnonzero(np.isfinite(part.low) & np.isfinite(part.high))
    close = (part.lower[inner] <= level[1]) & (part.upper[inner] >= level[0])
    about = _with_places(line, quantity, part, inner, close)
    if about is None:
        return None
    ends_of_boxes = _ends(part.low[inner][close], part.high[inner][close])
    about["cover"] = sorted({*about["cover"], *ends_of_boxes})
    about = {"type": "law", **about, **claim}
    return tried(engine, _made(engine, quantity, ends, about), Masses, CountLaw)


def infinite_quantile(
    engine: CertifiedOutcomes, quantity: str, proofs: list[Proof], **claim: Any
) -> dict[str, Any] | None:
    """Return the certificate of a quantile that is infinite.

    Parameters
    ----------
    engine, quantity
        As for `outcomes`.
    proofs : list of Proof
        That the leakage is infinite, on boxes of outcomes that do not overlap.
    **claim : object
        ``s``, two integers, and ``side``.

    Returns
    -------
    dict or None
        None for what the checker does not cover.
    """
    parts = [proof.certificate["claim"] for proof in proofs if proof.certificate]
    if not parts or _on_a_line(engine) is not engine or len(engine.atoms):
        return None
    box = parts[0]["proof"]["y"]["box"]
    about = _line(engine, np.array([box[0] / 2 + box[1] / 2]))
    made = {"type": "infinite_quantile", "figure": "quantile", **about, "proofs": parts, **claim}
    whole = _made(engine, quantity, (math.inf, math.inf), made)
    return whole if followed(whole, CountsSoon if engine.secret.rest else Soon) else None


def mean(
    engine: CertifiedOutcomes,
    quantity: str,
    ends: tuple[float, float],
    part: Partition,
    figure: str,
) -> dict[str, Any] | None:
    """Return the certificate of a mean of a leakage over continuous outcomes.

    Parameters
    ----------
    engine, quantity, ends, part
        As for `outcomes`.
    figure : {"mean", "exp_mean", "maximal_cost_leakage"}
        Of the leakage, or of its exponential; or -log E e^-PMC.

    Returns
    -------
    dict or None
        None for what the checker does not cover, as for `outcomes`, and what it does not bound far
        out.
    """
    line = _on_a_line(engine)
    if line is None or not all(map(math.isfinite, ends)):
        return None
    if not engine.secret.rest and len(engine.secret.atoms) > _ATOMS:
        return None
    inner = np.flatnonzero(np.isfinite(part.low) & np.isfinite(part.high))
    about = _with_places(line, quantity, part, inner, np.zeros(len(inner), bool))
    if about is None:
        return None
    claim = {"type": "mean", "figure": figure, **about}
    made = _made(engine, quantity, ends, claim)
    # any finite bound will do here: the one that is claimed would take too long
    least = -_LARGE if figure == "maximal_cost_leakage" else 0.0
    loose = {**made, "lower": least, "upper": _LOOSE}
    return made if tried(engine, loose, Means, CountMean) else None


def information(
    engine: CertifiedOutcomes, figure: str, ends: tuple[float, float]
) -> dict[str, Any] | None:
    """Return the certificate of an f-information of a finite secret over continuous outcomes.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint.
    figure : {"kl", "chi_square", "total_variation", "squared_hellinger"}
        Which.
    ends : tuple of float
        The enclosure.

    Returns
    -------
    dict or None
        None for what the checker does not cover.
    """
    if _on_a_line(engine) is None:
        return None
    about = {**_line(engine, np.zeros(1)), "marginal": None, "places": []}
    claim = {"type": "information", "figure": figure, **about}
    made = _made(engine, "f_information", ends, claim)
    loose = {**made, "lower": -_LARGE, "upper": _LOOSE}
    return made if tried(engine, loose, Informations, Informations) else None


def level_of_envelope(
    engine: CertifiedOutcomes, quantity: str, ends: tuple[float, float], **claim: Any
) -> dict[str, Any] | None:
    """Return the certificate of a level of an envelope, or of a mass at a level.

    Parameters
    ----------
    engine : CertifiedOutcomes
        The joint, of a finite secret.
    quantity : {"pml_envelope", "pmc_envelope"}
        Which.
    ends : tuple of float
        The enclosure.
    **claim : object
        ``figure``, "epsilon" (with ``delta``, two integers) or "delta" (with ``t``); ``cells`` of
        outcomes with shares, and ``prices``.

    Returns
    -------
    dict or None
        None for what the checker does not verify, soon.
    """
    return claimed(engine, quantity, ends, Envelopes, type="envelope", **claim)


def claimed(
    engine: CertifiedOutcomes, quantity: str, ends: tuple[float, float], trial: type, **claim: Any
) -> dict[str, Any] | None:
    """Return the certificate of a claim about a finite secret; None if it is not verified soon.

    It is made of every figure: that the claim is verified is what proves the figure.
    """
    if _followed_on_a_line(engine) is None:
        return None
    about = {**_line(engine, np.zeros(1)), "marginal": None, "places": []}
    made = _made(engine, quantity, ends, {**about, **claim})
    return tried(engine, made, trial, trial)


def logarithm(made: dict[str, Any], ends: tuple[float, float]) -> dict[str, Any]:
    """Return the certificate of maximal leakage, log E e^PML, from that of E e^PML."""
    claim = {**made["claim"], "figure": "maximal_leakage"}
    return {**made, "lower": ends[0], "upper": ends[1], "claim": claim}


def _with_places(
    engine: CertifiedOutcomes, quantity: str, part: Partition, inner: np.ndarray, close: np.ndarray
) -> dict[str, Any] | None:
    """Return what `_line` does, and secrets at which the kernel is extreme, at some outcomes.

    They are among the bounded boxes ``inner``, more of them where ``close``.
    """
    middle = part.low[inner] + (part.high[inner] - part.low[inner]) / 2
    order = np.argsort(middle)
    shares = np.cumsum(part.weight()[inner][order])
    levels = (np.arange(_HINTS) + 0.5) / _HINTS * shares[-1:].sum()
    likely = np.searchsorted(shares, levels[: inner.size])
    spread = order[np.union1d(np.arange(0, inner.size, 1 + inner.size // _HINTS), likely)]
    about = _line(engine, middle[:1])
    marks = np.array([v for v in about["cover"] if math.isfinite(v)])
    between = (marks[:-1] + (marks[1:] - marks[:-1]) * np.array([[0.25], [0.5], [0.75]])).ravel()
    some = middle[close][:: 1 + int(close.sum()) // _HINTS]
    # no hint but its own is at an atom
    ys = np.setdiff1d([*some, *middle[spread], *between[: 4 * _HINTS]], engine.atoms)
    lined, ys = len(ys), np.concatenate([ys, engine.atoms])
    sign = 1.0 if quantity == "pml" else -1.0
    places = engine.extreme(ys, sign).place[:, 0] if ys.size else ys
    among = _among(about["edges"])
    hints = [
        [float(y), _better(engine, float(y), float(x), sign, among)]
        for y, x in zip(ys, places, strict=True)
        if math.isfinite(x)
    ]
    if engine.secret.continuous and not (hints and lined):
        return None
    return {**about, "places": [] if engine.secret.rest else hints}


def _among(edges: list[float]) -> np.ndarray:
    """Return secrets between finite edges, to begin a search with."""
    finite = np.array([v for v in edges if math.isfinite(v)])
    if len(finite) < 2:
        return finite
    shares = np.arange(_HINTS) / _HINTS
    return np.append((finite[:-1, None] + np.diff(finite)[:, None] * shares).ravel(), finite[-1])


def _better(engine: CertifiedOutcomes, y: float, x: float, sign: float, among: np.ndarray) -> float:
    """Return a secret where the kernel is more extreme: to rounding, if it is smooth.

    It is looked for among some secrets and close to the best of them: where the engine ran out of
    time, the place that it knows may be far from the one that is meant.
    """
    if not engine.secret.continuous:
        return x
    ends = float(engine.secret.lower[0]), float(engine.secret.upper[0])
    wide = ends[1] - ends[0]
    mechanism = engine.joint.mechanism
    mass = mechanism.masses.get(y)

    def losses(places: Any) -> np.ndarray:
        with np.errstate(all="ignore"):
            log = mass.logarithm(places) if mass else mechanism.density.logarithm(y, places)
            value = -sign * np.asarray(log, dtype=float) + np.zeros(np.shape(places))
        # the search is not made for infinities
        return np.nan_to_num(value, nan=_LARGE, posinf=_LARGE, neginf=-_LARGE)

    some = np.unique([x, *among])
    best = int(np.argmin(losses(some)))
    least, most = some[max(best - 1, 0)], some[min(best + 1, len(some) - 1)]
    near = 2.0**-7 * (wide if math.isfinite(wide) else max(1.0, abs(some[best])))
    box = max(ends[0], min(least, some[best] - near)), min(ends[1], max(most, some[best] + near))
    found: Any = minimize_scalar(
        lambda place: float(losses(place)),
        bounds=box,
        method="bounded",
        options={"xatol": 2.0**-40 * near},
    )
    # a kink, often at x = y, is to be met exactly
    places = [x, float(some[best]), float(found.x)]
    places += [v for v in (y, *ends) if ends[0] <= v <= ends[1] and math.isfinite(v)]
    return min(places, key=lambda place: float(losses(place)))


def _ends(low: np.ndarray, high: np.ndarray) -> list[float]:
    """Return the ends of what boxes cover together, if it is of few pieces."""
    low, high = np.setdiff1d(low, high), np.setdiff1d(high, low)
    return [*map(float, low), *map(float, high)] if len(low) <= _HINTS else []
