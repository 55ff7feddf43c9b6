"""The leakage on unbounded or singular boxes of outcomes, from the slope of log f in the secret.

For an outcome far out both f(y|x) and f_Y(y) go to 0, and their quotient is lost to intervals.
But ``log f(y|x) - log f(y|x0)`` is the integral of the slope L_x(y, .), which often stays bounded:
for Laplace noise it is constant. Integrating that difference leaves out the common factor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.engine.kernels import settling_counts, unbounded_secrets
from borel.engine.kernels.jumps_far_out import jumps_far_out
from borel.engine.kernels.leakage_on_boxes import charged
from borel.engine.problem.secret_and_kernel import boxes
from borel.numerics.germs.tail_quotients import TailRatios
from borel.numerics.graphs import rewrite
from borel.numerics.graphs.constant_folding import folded
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic, elementary
from borel.numerics.jets.interpreter import Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from borel.engine.kernels.settling_counts import Settling
    from borel.engine.problem.secret_and_kernel import Secret, Surface
    from borel.numerics.intervals.batched import Box

_ORDER = 6
_PIECES = 48
_KINKS = 4
_LOOSE = 1e-13
_ROWS = 32


def leakage(surface: Surface, kind: str, low: float, high: float) -> tuple[float, float]:
    """Enclose the leakage for almost every y of one box of outcomes, perhaps unbounded.

    Returns ``(0, inf)`` where the slope is not bounded, or the secret is not in an interval. The
    atoms of a prior are points of that interval: the slope of the formula leads from one to the
    next.
    """
    if surface.secret.dim != 1:
        return 0.0, np.inf
    if surface.secret.rest:
        found = settling_counts.settling(surface)
        return (
            (0.0, np.inf) if found is None else of_numbers(found, surface.secret, kind, low, high)
        )
    ends, places = _ends(surface.secret), surface.secret.atoms[:, 0]
    if not ends[0] < ends[1]:
        return 0.0, np.inf
    if ((places < ends[0]) | (places > ends[1])).any():
        return 0.0, np.inf
    if len(places) and unbounded_secrets.JUMPS & surface.graph.operations:
        # an atom may be where f jumps
        return (0.0, np.inf) if surface.secret.continuous else of_rows(surface, kind, low, high)
    with np.errstate(all="ignore"):
        best = 0.0, np.inf
        for log in surface.logs:
            pieces = _pieces(surface, log, low, high)
            if pieces is None:
                continue
            for backwards in (False, True):
                found = _from_end(surface, log, kind, (low, high), pieces, backwards)
                best = max(best[0], found[0]), min(best[1], found[1])
        if best[0] > 0 and not alive(surface, low, high):
            best = 0.0, best[1]
    return best if best[0] <= best[1] else (0.0, np.inf)


def of_rows(surface: Surface, kind: str, low: float, high: float) -> tuple[float, float]:
    """Enclose the leakage of a finite secret by differences of its rows, which cancel exactly.

    It holds for every outcome of the box, one end of which is infinite; none has density 0.
    """
    secret, (name,) = surface.secret, surface.secret.names
    count = len(secret.atoms)
    if count > _ROWS or np.isfinite([low, high]).sum() != 1 or not (secret.weight_low > 0).all():
        return 0.0, np.inf
    rows = [folded(surface.graph.bind({name: x})) for x in secret.atoms[:, 0].tolist()]
    tails = TailRatios(rows)
    with np.errstate(all="ignore"):
        if not tails.finite(low, high):
            return 0.0, np.inf
        ends = np.zeros((2, count, count))  # of log f(y|x_j) - log f(y|x_i)
        for i in range(count):
            for j in range(count):
                ends[:, i, j] = tails.difference(j, i, low, high) if i != j else 0.0
        if kind == "ldp":
            return max(float(ends[0].max()), 0.0), float(ends[1].max())
        logs = [_log(_weighted((ends[0, i], ends[1, i]), secret)) for i in range(count)]
    if kind == "pml":
        logs = [(-high_, -low_) for low_, high_ in logs]
    return tuple(max(0.0, *(v[k] for v in logs)) for k in (0, 1))  # type: ignore[return-value]


def of_numbers(
    found: Settling, secret: Secret, kind: str, low: float, high: float
) -> tuple[float, float]:
    """Enclose the leakage of a countable secret, as one of the numbers that its counts lead to.

    Between the least number and the largest log f rises as its slope tells. The mass beyond the
    head may lie on any of the numbers there.
    """
    line = found.surface
    least, most = float(line.secret.lower[0]), float(line.secret.upper[0])
    marks = [*found.atoms[0], *found.atoms[1], *(v for pair in found.rest for v in pair)]
    cuts = np.unique([*np.linspace(least, most, _PIECES + 1), *marks])
    best = 0.0, np.inf
    with np.errstate(all="ignore"):
        for _, rise_ in rises(line, cuts, low, high):
            atoms = _between_cuts(rise_, cuts, *found.atoms)
            rest = _between_cuts(rise_, cuts, *np.array(found.rest).T)
            most = max(rest[1].max(), atoms[1].max())  # an atom may have a part of that mass
            beyond = batched.exp((rest[0].min(), most))[1] * secret.rest_mass
            parts = [_weighted(atoms, secret), (0.0, float(beyond) * (1 + 2.0**-50))]
            extremes_ = [
                (atoms[0].max(), max(atoms[1].max(), rest[1].max())),
                (min(atoms[0].min(), rest[0].min()), atoms[1].min()),
            ]
            new = _figure(kind, parts, *extremes_)
            best = max(best[0], new[0]), min(best[1], new[1])
        if best[0] > 0 and not alive(line, low, high):
            best = 0.0, best[1]
    return best if best[0] <= best[1] else (0.0, np.inf)


def _between_cuts(rise_: Rise, cuts: np.ndarray, low: np.ndarray, high: np.ndarray) -> Box:
    """Enclose how log f rises up to numbers that are known between two cuts."""
    at = arithmetic.joined(batched.each(rise_.at_left, lambda v: v[:1]), rise_.at_right)
    first, last = np.searchsorted(cuts, low), np.searchsorted(cuts, high)
    out = at[0][first].copy(), at[1][first].copy()
    for k in np.flatnonzero(first < last):
        pieces = slice(first[k], last[k])
        out[0][k], out[1][k] = rise_.bottom[pieces].min(), rise_.top[pieces].max()
    return out


def _log(total: tuple[float, float]) -> tuple[float, float]:
    """Enclose the logarithm of a number > 0."""
    if not total[0] > 0:
        return -np.inf, np.inf
    found = elementary.logarithm((np.array([[total[0]]]), np.array([[total[1]]])), 0)
    return float(found[0][0, 0]), float(found[1][0, 0])


def _ends(secret: Secret) -> tuple[float, float]:
    """Return the interval of the density, or that between the first atom and the last."""
    if secret.continuous:
        return float(secret.lower[0]), float(secret.upper[0])
    return float(secret.atoms.min()), float(secret.atoms.max())


def alive(surface: Surface, low: float, high: float) -> bool:
    """Return whether the kernel is positive on a set of positive measure of the box.

    Differences of log f say nothing where f is 0 for every secret: there the slope is finite as
    well, and the leakage is 0.
    """
    cuts = _cuts(surface.secret)
    a, b = np.array([[cuts[0]]]), np.array([[cuts[-1]]])
    start = low if np.isfinite(low) else high
    end = high if np.isfinite(high) else low
    if np.isfinite(low) and np.isfinite(high):
        start, end = low + (high - low) / 4, high - (high - low) / 4
    elif np.isfinite(low) or np.isfinite(high):
        away = max(1.0, abs(start))
        start, end = (low + away, low + 2 * away) if np.isfinite(low) else (high - away, high)
    else:
        start, end = -1.0, 1.0
    cuts = np.linspace(start, end, 9)
    if not (np.diff(cuts) > 0).all():
        return False
    n = len(cuts) - 1
    x = boxes(np.repeat(a + (b - a) / 4, n, 0), np.repeat(a + (b - a) / 2, n, 0), 0, 0)
    found = surface.log.run(surface.inputs(x, (cuts[None, :-1], cuts[None, 1:])), 0)
    return bool((arithmetic.entry(found.jet, 0)[0] > -np.inf).any())


class SecretPieces(NamedTuple):
    """Pieces of the secrets between cuts, with log f on them and in their middles.

    ``jumps`` is by how much log f jumps from each piece to the next; None if it does not.
    """

    cuts: np.ndarray
    outer: Box
    centre: Box
    jumps: Box | None = None


def _pieces(surface: Surface, log: Program, low: float, high: float) -> SecretPieces | None:
    """Cut the secrets, also where log f has kinks; None where its slope is not bounded."""
    secret = surface.secret
    cuts = _cuts(secret)
    for end, inside in ((_ends(secret)[0], cuts[:2][::-1]), (_ends(secret)[1], cuts[-2:])):
        if np.isinf(end):  # until log f settles down
            cuts = np.union1d(
                cuts, unbounded_secrets.settling(log, inside[0], inside[1], end, (low, high))
            )
    for turn in range(_KINKS):
        over, kinks = _run(surface, log, cuts, low, high)
        if not kinks.size or turn == _KINKS - 1:
            break
        beside = 2.0**-50 * np.abs(kinks)
        cuts = np.union1d(cuts, np.concatenate([kinks - beside, kinks + beside]))
    return _between(surface, log, cuts, over, low, high)


def pieces_between(
    surface: Surface, log: Program, cuts: np.ndarray, low: float, high: float, order: int = _ORDER
) -> SecretPieces | None:
    """Return log f on the pieces of the secrets between cuts; None where its slope is not bounded.

    Parameters
    ----------
    surface, log
        The kernel, and one form of its logarithm.
    cuts : ndarray
        Finite numbers that rise.
    low, high : float
        The box of outcomes, perhaps unbounded.
    order : int
        That of the jets.
    """
    over, _ = _run(surface, log, cuts, low, high, order)
    return _between(surface, log, cuts, over, low, high, order)


def _between(
    surface: Surface,
    log: Program,
    cuts: np.ndarray,
    over: Any,
    low: float,
    high: float,
    order: int = _ORDER,
) -> SecretPieces | None:
    """Return the pieces, given log f over them."""
    a, b = cuts[:-1], cuts[1:]
    at = np.full((1, len(a)), low), np.full((1, len(a)), high)
    middle = a + (b - a) / 2
    inner = log.run(
        surface.inputs(boxes(middle[:, None], middle[:, None], 0, order), at),
        order,
        decisions=over.decisions,
    )
    outer, centre = _filled(over.jet, len(a), order), _filled(inner.jet, len(a), order)
    if not (np.isfinite(outer[0][1]).all() and np.isfinite(outer[1][1]).all()):
        return None
    even, jumps = _continuous(surface, log, middle, low, high), None
    if not even.all() and (jumps := jumps_far_out(surface, cuts, even, low, high)) is None:
        return None
    return SecretPieces(cuts, outer, centre, jumps)


def _run(
    surface: Surface, log: Program, cuts: np.ndarray, low: float, high: float, order: int = _ORDER
) -> tuple[Any, np.ndarray]:
    """Return log f on pieces of the secrets, and where it may have kinks inside them."""
    a, b = cuts[:-1], cuts[1:]
    at = np.full((1, len(a)), low), np.full((1, len(a)), high)
    x = boxes(a[:, None], b[:, None], 0, order)
    over = log.run(surface.inputs(x, at), order, start=a)
    kinks = np.broadcast_to(np.nan if over.kink is None else over.kink, a.shape)
    return over, kinks[(a < kinks) & (kinks < b)]


def kinks(surface: Surface, cuts: np.ndarray, y: float) -> list[float]:
    """Return about where log f(y|x) has kinks in x between cuts; it is not proved."""
    with np.errstate(all="ignore"):
        places = _run(surface, surface.log, cuts, y, y)[1]
    return [float(f"{place:.12g}") for place in places]


class Rise(NamedTuple):
    """log f(y|x) - log f(y|x0) on pieces of the secrets, x0 the first cut or the last.

    ``at_left``, ``at_right`` and ``height`` enclose it at the ends and the middles of the pieces;
    ``top`` and ``bottom`` bound it on all of each.
    """

    at_left: Box
    at_right: Box
    height: Box
    top: np.ndarray
    bottom: np.ndarray


def rises(
    surface: Surface, cuts: np.ndarray, low: float, high: float
) -> Iterator[tuple[SecretPieces, Rise]]:
    """Enclose how log f(y|x) rises with the secret for every y of one box, perhaps unbounded.

    Nothing is given where the slope is not bounded. Each of those given holds; ``x0`` differs.
    """
    if not np.isfinite(cuts).all():
        return
    for log in surface.logs:
        pieces = pieces_between(surface, log, cuts, low, high)
        if pieces is not None:
            yield from ((pieces, rise(pieces, backwards)) for backwards in (False, True))


def _steps(cuts: np.ndarray) -> tuple[np.ndarray, Box, Box]:
    """Return the middles of pieces, and the steps from them to both ends."""
    a, b = cuts[:-1], cuts[1:]
    middle = a + (b - a) / 2
    left = batched.subtract(batched.point(a), batched.point(middle))
    right = batched.subtract(batched.point(b), batched.point(middle))
    return middle, left, right


def rise(pieces: SecretPieces, backwards: bool) -> Rise:
    """Sum the increments of log f from one end of the secrets."""
    cuts, outer, centre = pieces[:3]
    _, left, right = _steps(cuts)
    # increments from the middles to both ends, by Taylor's formula or by the slope alone
    to_right = increment(centre, outer, right)
    to_left = increment(centre, outer, left)
    step = batched.subtract(to_right, to_left)
    whole, nothing = step, np.zeros(1)
    if pieces.jumps is not None:  # that of a cut counts with the piece that comes first
        ends_ = ([nothing, v] if backwards else [v, nothing] for v in pieces.jumps)
        low, high = (np.concatenate(v) for v in ends_)
        whole = batched.add(step, (low, high))
    if backwards:
        ends = _running(batched.each(batched.negative(whole), lambda v: v[::-1]))
        at_right = batched.each(ends, lambda v: v[:-1][::-1])
        at_left = batched.each(ends, lambda v: v[1:][::-1])
        if pieces.jumps is not None:
            at_left = batched.subtract(at_right, step)
        height = batched.subtract(at_right, to_right)
    else:
        ends = _running(whole)
        at_left = batched.each(ends, lambda v: v[:-1])
        at_right = batched.each(ends, lambda v: v[1:])
        if pieces.jumps is not None:
            at_right = batched.add(at_left, step)
        height = batched.subtract(at_left, to_left)
    # a monotone piece has its extremes at its ends; else the middle and the slope bound them
    half = np.maximum(-left[0], right[1])
    reach = np.maximum(np.abs(outer[0][1]), np.abs(outer[1][1])) * half * (1 + 2.0**-50)
    monotone = (outer[0][1] >= 0) | (outer[1][1] <= 0)
    over = np.nextafter(height[0] - reach, -np.inf), np.nextafter(height[1] + reach, np.inf)
    top = np.where(monotone, np.maximum(at_left[1], at_right[1]), over[1])
    bottom = np.where(monotone, np.minimum(at_left[0], at_right[0]), over[0])
    return Rise(at_left, at_right, height, top, bottom)


def _from_end(
    surface: Surface,
    log: Program,
    kind: str,
    y: tuple[float, float],
    pieces: SecretPieces,
    backwards: bool,
) -> tuple[float, float]:
    """Enclose the leakage by increments of log f from one end of the secrets."""
    secret, places = surface.secret, surface.secret.atoms[:, 0]
    cuts, outer, centre = pieces[:3]
    a, b = cuts[:-1], cuts[1:]
    middle, left, right = _steps(cuts)
    at_left, at_right, height, tops, bottoms = rise(pieces, backwards)
    index = np.searchsorted(cuts, places)
    at_cuts = arithmetic.joined(batched.each(at_left, lambda v: v[:1]), at_right)
    at_atoms = batched.each(at_cuts, lambda v: v[index])
    parts = [_weighted(at_atoms, secret)]
    if secret.continuous:
        parts.append(_integral(surface, centre, outer, height, a, b, middle, left, right))
    top, bottom = tops.max(), bottoms.min()
    for height_, mass in _beyond(surface, log, y, cuts, at_left, at_right):
        top, bottom = max(top, height_[1]), min(bottom, height_[0])
        power = batched.exp((np.array(height_[0]), np.array(height_[1])))
        part = batched.multiply(power, (np.array(mass[0]), np.array(mass[1])))
        parts.append((max(float(part[0]), 0.0), float(part[1])))
    top_low, bottom_high = -np.inf, np.inf
    if not secret.continuous:
        top, bottom = at_atoms[1].max(), at_atoms[0].min()
    else:
        some = charged(surface, a[:, None], b[:, None])
        lows, highs = (np.array([at_left[k], at_right[k], height[k]])[:, some] for k in (0, 1))
        top_low, bottom_high = lows.max(initial=-np.inf), highs.min(initial=np.inf)
    sure = secret.weight_low > 0
    top_low = max([top_low, *at_atoms[0][sure]])
    bottom_high = min([bottom_high, *at_atoms[1][sure]])
    return _figure(kind, parts, (top_low, top), (bottom, bottom_high))


def _figure(
    kind: str,
    parts: list[tuple[float, float]],
    most: tuple[float, float],
    least: tuple[float, float],
) -> tuple[float, float]:
    """Enclose a leakage from log f - log f(y|x0): parts of its mean, its supremum and infimum."""
    (top_low, top), (bottom, bottom_high) = most, least
    total = batched.total(
        (np.array([p[0] for p in parts]), np.array([p[1] for p in parts])), axis=0
    )
    total = batched.settled((total[0][None], total[1][None]))
    if not total[0][0] > 0:
        return 0.0, np.inf
    log_low, log_high = _log((float(total[0][0]), float(total[1][0])))
    if kind == "ldp":
        low_, high_ = top_low - bottom_high, top - bottom
    elif kind == "pml":
        low_, high_ = top_low - log_high, top - log_low
    else:
        low_, high_ = log_low - bottom_high, log_high - bottom
    low_ = low_ - 2.0**-50 * (1 + abs(low_)) if np.isfinite(low_) else 0.0
    high_ = high_ + 2.0**-50 * (1 + abs(high_)) if np.isfinite(high_) else np.inf
    return float(max(low_, 0.0)), float(max(high_, 0.0))


def _cuts(secret: Secret) -> np.ndarray:
    """Return where to cut the secrets."""
    ends, places = _ends(secret), secret.atoms[:, 0]
    if not np.isfinite(ends).all():
        return unbounded_secrets.cuts(secret)
    cuts = np.linspace(*ends, _PIECES + 1)
    inner = [c for c in secret.breaks if ends[0] < c < ends[1]]
    # towards the ends, where a prior may be singular, the pieces shrink geometrically
    steps = (cuts[-1] - cuts[0]) / 2 * 1.15 ** -np.arange(1.0, 200.0)
    if not secret.continuous:
        steps = steps[:0]
    return np.unique([*cuts, *inner, *places, *(cuts[0] + steps), *(cuts[-1] - steps)])


def _beyond(surface, log, y, cuts, at_left, at_right):
    """Return, for each half-line beyond the cuts, log f there and the prior's mass."""
    secret, out = surface.secret, []
    sides = ((0, cuts[:2], batched.each(at_left, lambda v: v[0])),
             (1, cuts[-2:][::-1], batched.each(at_right, lambda v: v[-1])))  # fmt: skip
    for end, (cut, inside), at in sides:
        far_end = _ends(secret)[end]
        if np.isfinite(far_end):
            continue
        # from inside the last piece on, so that it is known across the cut as well
        wide = unbounded_secrets.reach(log, cut + (inside - cut) / 2, far_end, y)
        ends = sorted((float(cut), float(far_end)))
        mass = secret.mass(*ends) if secret.mass else (0.0, 1.0 - _mass_between(surface, cuts))
        out.append(((float(at[0]) - wide, float(at[1]) + wide), mass))
    return out


def _mass_between(surface: Surface, cuts: np.ndarray) -> float:
    """Bound from below the prior's mass between the cuts."""
    a, b = cuts[:-1], cuts[1:]
    middle = a + (b - a) / 2
    left, right = (batched.subtract(batched.point(v), batched.point(middle)) for v in (a, b))
    flat: Box = batched.point(np.zeros((_ORDER + 1, len(a))))
    level: Box = batched.point(np.zeros(len(a)))
    low, _ = _integral(surface, flat, flat, level, a, b, middle, left, right)
    return min(low, 1.0)


def _weighted(heights: Box, secret: Secret) -> tuple[float, float]:
    """Enclose the sum of e^height over the atoms, by their masses."""
    if not len(secret.atoms):
        return 0.0, 0.0
    power = elementary.exponential((heights[0][None], heights[1][None]), 0)
    parts = batched.multiply(power, (secret.weight_low[None], secret.weight_high[None]))
    low, high = batched.total(parts, axis=1)
    return max(float(low[0]), 0.0), float(high[0])


def _continuous(
    surface: Surface, log: Program, middle: np.ndarray, low: float, high: float
) -> np.ndarray:
    """Return whether log f is continuous in the secret across each cut between the pieces."""
    a, b = middle[:-1], middle[1:]
    y = np.full((1, len(a)), low), np.full((1, len(a)), high)
    found = log.run(surface.inputs(boxes(a[:, None], b[:, None], 0, 1), y), 1)
    slope = arithmetic.entry(found.jet, 1)
    return np.broadcast_to(np.isfinite(slope[0]) & np.isfinite(slope[1]), a.shape)


def _filled(a: Box, count: int, order: int) -> Box:
    out = np.zeros((2, order + 1, count))
    out[0, : len(a[0])], out[1, : len(a[0])] = a
    return np.where(np.isnan(out[0]), -np.inf, out[0]), np.where(np.isnan(out[1]), np.inf, out[1])


def increment(centre: Box, outer: Box, step: Box) -> Box:
    """Enclose log f at a step from the middles of pieces, less that at the middles."""
    order = len(outer[0]) - 1
    by_slope = batched.multiply((outer[0][1], outer[1][1]), step)
    total: Box = batched.point(np.zeros_like(step[0]))
    power: Box = batched.point(np.ones_like(step[0]))
    for k in range(1, order + 1):
        power = batched.multiply(power, step)
        part = centre if k < order else outer
        total = batched.add(total, batched.multiply((part[0][k], part[1][k]), power))
    return batched.meet(batched.settled(total), batched.settled(by_slope))


def _running(step: Box) -> Box:
    """Enclose running sums, from 0."""
    low, high = (
        np.concatenate([[0.0], np.cumsum(step[0])]),
        np.concatenate([[0.0], np.cumsum(step[1])]),
    )
    size = np.concatenate([[0.0], np.cumsum(np.maximum(np.abs(step[0]), np.abs(step[1])))])
    slack = size * (len(size) * 2.0**-52)
    return low - slack, high + slack


def _range_of(a: Box) -> Box:
    return a[0][None], a[1][None]


def _integral(surface, centre, outer, height, a, b, middle, left, right) -> tuple[float, float]:
    """Enclose the integral of e^(L(y, x) - L(y, x0)) p(x), piece by piece, for every y."""
    secret = surface.secret
    prior = Program(
        rewrite.integrand(secret.log_density, None)  # p(x) e^-shift with shift 0
    )
    zero = np.zeros((1, len(a)))

    made: list = []

    def density(low: np.ndarray, high: np.ndarray) -> Box:
        named = dict(zip(secret.names, boxes(low[:, None], high[:, None], 0, _ORDER), strict=True))
        # the middles take the branches of their pieces, which come first
        taken = made[0] if made else None
        found = prior.run({**named, "shift": (zero, zero)}, _ORDER, decisions=taken)
        made.append(found.decisions)
        return _filled(found.jet, len(a), _ORDER)

    def weighted(part: Box, head: Box, p: Box) -> Box:
        exponent = (
            np.concatenate([head[0][None], part[0][1:]]),
            np.concatenate([head[1][None], part[1][1:]]),
        )
        power = elementary.exponential(exponent, _ORDER)
        return arithmetic.multiply(power, p, _ORDER)

    span = batched.multiply((outer[0][1], outer[1][1]), (left[0], right[1]))
    over = density(a, b)
    inner = weighted(centre, height, density(middle, middle))
    wide = weighted(outer, batched.add(height, span), over)
    total: Box = batched.point(np.zeros(len(a)))
    before, after = left, right
    for k in range(_ORDER + 1):
        part = inner if k < _ORDER else wide
        width = batched.divide(batched.subtract(after, before), batched.point(np.array(k + 1.0)))
        total = batched.add(total, batched.multiply((part[0][k], part[1][k]), width))
        before, after = batched.multiply(before, left), batched.multiply(after, right)
    crude = batched.multiply(
        (np.maximum(wide[0][0], 0.0), wide[1][0]),
        batched.subtract(batched.point(b), batched.point(a)),
    )
    best = batched.meet(batched.settled(total), batched.settled(crude))
    if secret.mass is not None:  # the range of the exponential times the prior's mass
        power = elementary.exponential(_range_of(batched.add(height, span)), 0)
        scale = np.max(np.abs(best[1]), initial=0.0, where=np.isfinite(best[1]))
        loose = np.flatnonzero(~(best[1] - best[0] <= _LOOSE * scale))
        known = [secret.mass_between(float(a[k]), float(b[k])) for k in loose]
        ends = np.array(known).reshape(-1, 2).T
        part = batched.multiply((power[0][0, loose], power[1][0, loose]), (ends[0], ends[1]))
        best[0][loose] = np.fmax(best[0][loose], np.fmax(part[0], 0.0))
        best[1][loose] = np.fmin(best[1][loose], part[1])
    low, high = batched.total((best[0][None], best[1][None]), axis=1)
    return max(float(low[0]), 0.0), float(high[0])
