"""Leakage and mass on whole boxes of outcomes, for suprema and laws over Y.

For a box of outcomes with centre c, f_Y is a polynomial in y - c plus a small interval
(`marginal_integral`). The supremum over the secret is compared with the kernel along a path x0 + v
(y - c) or x0 + (y - c), which is a function of y alone and again a polynomial; what it exceeds the
path by is bounded over the whole box (`essential_supremum`, ``around``; `tubes`). Differences of
polynomials then enclose the leakage for almost every y of the box, to second order in its width,
and to fourth where the supremum is at a smooth maximum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from borel.engine.kernels.essential_supremum import CentredBoxes, extremes
from borel.engine.kernels.marginal_on_boxes import ORDER, Marginal, full, geometry, poly_range
from borel.engine.kernels.maximiser_tubes import along_lines, chosen_paths, tubes
from borel.engine.kernels.scalar_statistics import summary
from borel.engine.kernels.tail_entropy import largest_mean
from borel.engine.kernels.unbounded_secrets import JUMPS
from borel.engine.problem.secret_and_kernel import boxes, merged
from borel.numerics.intervals import batched
from borel.numerics.jets import arithmetic, elementary

if TYPE_CHECKING:
    from borel.engine.problem.secret_and_kernel import Surface
    from borel.numerics.intervals.batched import Box


class Band(NamedTuple):
    """What is known of the leakage on boxes of outcomes.

    Attributes
    ----------
    low, high : ndarray (n,)
        Ends of the boxes.
    lower, upper : ndarray (n,)
        The leakage, for almost every y of the box.
    mass_low, mass_high : ndarray (n,)
        P{Y in the box}.
    mean_low, mean_high : ndarray (n,)
        The integral of the leakage over the box, under P_Y.
    exp_low, exp_high : ndarray (n,)
        The integral of e^leakage over the box, under P_Y.
    inverse_low, inverse_high : ndarray (n,)
        That of e^-leakage.
    """

    low: np.ndarray
    high: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    mass_low: np.ndarray
    mass_high: np.ndarray
    mean_low: np.ndarray
    mean_high: np.ndarray
    exp_low: np.ndarray
    exp_high: np.ndarray
    inverse_low: np.ndarray
    inverse_high: np.ndarray


class _Side(NamedTuple):
    """The supremum (or infimum) over the secret on boxes of outcomes, as sign * log f."""

    paths: list[tuple[Box, Box]]  # polynomials along paths: coefficients at c, over the box
    sound: list[np.ndarray]  # lanes in which a path proves a lower bound
    flat: np.ndarray  # a number the supremum is not below, for every y of the box
    excess: np.ndarray  # what the supremum exceeds the first path by, at most
    direct: np.ndarray  # a number it does not exceed


def offsets(low, high) -> tuple[Box, Box]:
    """Enclose the distances of the ends of boxes from their centres."""
    centre = batched.point(geometry(low, high)[0])
    return (
        batched.subtract(batched.point(low), centre),
        batched.subtract(batched.point(high), centre),
    )


def _minus(a: tuple[Box, Box], b: tuple[Box, Box]) -> tuple[Box, Box]:
    """Subtract polynomials."""
    return (
        arithmetic.add(a[0], batched.negative(b[0])),
        arithmetic.add(a[1], batched.negative(b[1])),
    )


def log_jet(a: Box, order: int) -> Box:
    """Take the logarithm of a jet."""
    return elementary.logarithm(a, order)


def side(
    surface: Surface,
    low,
    high,
    sign: float,
    tol: float,
    deadline: float,
    cover: Surface | None = None,
) -> _Side:
    """Describe the supremum of sign * log f over the secret, on boxes of outcomes.

    It is bounded from above on another surface, if there is one whose secrets are more.
    """
    n = len(low)
    centre, half = geometry(low, high)
    seen = extremes(surface, (centre, centre), n, sign=sign, tol=tol, deadline=deadline)
    place = np.where(np.isfinite(seen.place), seen.place, 0.0)
    tube, speed, still = None, np.zeros(n), np.ones(n, bool)
    start_at, ridge = place, None
    if surface.secret.continuous and surface.secret.dim == 1 and not len(surface.secret.atoms):
        boxes_ = low, high, centre, half, place[:, 0], sign
        tube, ridge = along_lines(surface, *boxes_, tubes(surface, *boxes_))
        start_at, speed, still = tube.place[:, None], tube.speed, np.isinf(tube.excess)
    lines: list[tuple[np.ndarray, np.ndarray | None]] = [(start_at, speed)]
    lines += [(place, None)] * (surface.diagonal is not None)
    paths, sound, smooth = [], [], []
    flat = np.full(n, -np.inf)
    for origin, pace in lines:
        path, fine, least, even = _path(surface, low, high, centre, half, origin, pace, sign)
        paths.append(path)
        sound.append(fine)
        smooth.append(even)
        flat = np.maximum(flat, least)
    if ridge is not None and ridge.there.any():  # the first path is the one along it
        paths[0] = chosen_paths(ridge.there, ridge.path, paths[0])
        mass = charged(surface, ridge.low[:, None], ridge.high[:, None])
        sound[0], smooth[0] = np.where(ridge.there, mass, sound[0]), smooth[0] & ~ridge.there
    if surface.diagonal is not None and not sound[-1].all() and JUMPS & surface.graph.operations:
        for towards in (-1.0, 1.0):
            path, fine = _beside(surface, low, high, centre, half, place[:, 0], towards, sign)
            paths.append(path)
            sound.append(fine)
    # value and slope of one and the same function of y, the first path
    start, slope = arithmetic.entry(paths[0][0], 0), arithmetic.entry(paths[0][1], 1)
    at_rest = smooth[0] & still
    span = poly_range(paths[0][0], paths[0][1], half)
    low_end = np.where(np.isnan(span[0]), -np.inf, span[0])
    start_low = np.broadcast_to(start[0], n)
    around = CentredBoxes(centre, half, slope, start_low, low_end, start_at, at_rest, tube)
    over, box = cover or surface, (low, high)
    found = extremes(over, box, n, sign=sign, tol=tol, around=around, deadline=deadline, rounds=40)
    with np.errstate(all="ignore"):
        excess = np.maximum(found.upper - start[0], 0.0)
        excess = np.where(np.isnan(excess), np.inf, excess * (1 + 2.0**-51) + 2.0**-1000)
    if surface.secret.continuous and len(surface.secret.atoms):
        # the kernel may be another one at an atom than beside it: then only ranges are compared
        excess = np.full(n, np.inf)
    on_path = np.minimum(np.broadcast_to(span[1], n), found.dominated)
    if tube is not None:  # the secrets beside the path were not looked at one by one
        more = span[1] + tube.excess
        on_path = np.where(still, on_path, more + np.abs(more) * 2.0**-50)
    direct = np.maximum(found.direct, on_path)
    return _Side(paths, sound, flat, excess, direct)


def _path(surface: Surface, low, high, centre, half, place, speed: np.ndarray | None, sign: float):
    """Return the kernel along x0 + speed (y - c), and where it bounds the supremum from below.

    None is speed 1 along the line of a constant y - x.
    """
    n, dim = place.shape
    secret = surface.secret
    if speed is None:  # the ends of the box where the path starts at its centre, else with a margin
        own = place[:, 0] == centre
        span = batched.add(batched.point(place[:, 0]), (-half, half))
        span_low, span_high = np.where(own, low, span[0]), np.where(own, high, span[1])
    else:
        moved = np.abs(speed) * half * (1 + 2.0**-50)
        span_low, span_high = batched.add(batched.point(place[:, 0]), (-moved, moved))
        span_low, span_high = (np.where(speed, v, place[:, 0]) for v in (span_low, span_high))
    within = np.ones(n, bool)
    if secret.continuous and dim == 1:
        within = (span_low >= secret.lower[0]) & (span_high <= secret.upper[0])
    decisions = None
    fine, least, even = np.ones(n, bool), np.full(n, -np.inf), np.ones(n, bool)
    if secret.continuous:
        # the path lies in [span_low, span_high]; a margin makes a box of positive mass of it
        spans = (span_low[:, None], span_high[:, None]) if dim == 1 else (place, place)
        margin = np.maximum(np.abs(place) * 2.0**-40, 2.0**-400)
        box_low = np.maximum(spans[0] - margin, secret.lower)
        box = box_low, np.minimum(spans[1] + margin, secret.upper)
        with np.errstate(all="ignore"):
            around = [
                surface.log.run(surface.inputs(boxes(*box, j, 1), (low[None], high[None])), 1)
                for j in range(dim)
            ]
        slopes = [arithmetic.entry(one.jet, 1) for one in around]
        even = np.all([np.isfinite(s[0]) & np.isfinite(s[1]) for s in slopes], axis=0)
        even = np.broadcast_to(even, n)
        decisions = merged([one.decisions for one in around])
        some = charged(surface, *box)
        ends = [
            arithmetic.entry(one.jet if sign > 0 else batched.negative(one.jet), 0)
            for one in around
        ]
        least = np.where(some, np.broadcast_to(ends[0][0], n), -np.inf)
        # an atom may be the place: then the box around it says nothing of it
        fine = even & some & within & (len(secret.atoms) == 0)

    def along(a: np.ndarray, b: np.ndarray, order: int) -> Box:
        y = arithmetic.variable(a, b, order)
        if speed is None:
            assert surface.diagonal is not None
            program, origin = surface.diagonal
            offset = batched.subtract(batched.point(place[:, 0]), batched.point(centre))
            # continuous operations decide again: their arguments may have changed sign
            steps = {
                new: [k for k in old if surface.graph.nodes[k][0] not in _CONTINUOUS]
                for new, old in origin.items()
            }
            known = {new: _joint(decisions, old) for new, old in steps.items()}
            named = {"y": y, "offset": (offset[0][None], offset[1][None])}
            taken = {k: v for k, v in known.items() if v is not None}
            found = program.run(named, order, decisions=taken)
        else:
            x = [arithmetic.constant(place[:, j], place[:, j]) for j in range(dim)]
            if speed.any():
                ends = (place[:, 0],) * 2 if a is b else (span_low, span_high)
                x = [(np.stack([ends[0], speed]), np.stack([ends[1], speed]))]
            found = surface.log.run(surface.inputs(x, y), order, decisions=decisions)
        made.append(found.decisions)
        return found.jet if sign > 0 else batched.negative(found.jet)

    made: list = []
    outer = along(low, high, ORDER)
    if decisions is None:  # the centre is a point: it takes the branches of the box
        decisions = made[0]
    inner = along(centre, centre, ORDER - 1)
    return (full(inner, ORDER, n), full(outer, ORDER + 1, n)), fine, least, even


_CONTINUOUS = frozenset(("absolute", "maximum", "minimum", "fmax", "fmin"))


def _beside(surface: Surface, low, high, centre, half, place, towards: float, sign: float):
    """Return the kernel along a line x = y + s beside x0 + (y - c), and where it is a bound.

    At x = y the kernel may jump. The secrets y + s, for s in a small interval, have positive mass
    for every y; where log f(y|y + s) has a bounded slope in s, it is a bound at the middle of it.
    """
    assert surface.diagonal is not None
    n, (program, _) = len(low), surface.diagonal
    secret = surface.secret
    unit = half * 2.0**-24 + np.abs(centre) * 2.0**-48
    middle = (place - centre) + towards * 2 * unit
    around = batched.add(batched.point(middle), (-unit, unit))
    x = batched.add((low, high), around)
    fine = (x[0] >= secret.lower[0]) & (x[1] <= secret.upper[0])
    fine = fine & charged(surface, x[0][:, None], x[1][:, None])
    y, offset = arithmetic.constant(low, high), arithmetic.variable(around[0], around[1], 1)
    seen = program.run({"y": y, "offset": offset}, 1)
    slope = arithmetic.entry(seen.jet, 1)
    fine = fine & np.isfinite(slope[0]) & np.isfinite(slope[1]) & (len(secret.atoms) == 0)
    offset = arithmetic.constant(middle, middle)
    # what is decided for all of the interval is: a value altered at its middle is not seen
    named = {"y": arithmetic.variable(low, high, ORDER), "offset": offset}
    outer = program.run(named, ORDER, decisions=seen.decisions)
    named = {"y": arithmetic.variable(centre, centre, ORDER - 1), "offset": offset}
    inner = program.run(named, ORDER - 1, decisions=outer.decisions)
    found = [v.jet if sign > 0 else batched.negative(v.jet) for v in (inner, outer)]
    return (full(found[0], ORDER, n), full(found[1], ORDER + 1, n)), fine


def _joint(decisions, nodes: list[int]):
    """Join what was decided at comparisons that became one."""
    known = [decisions[k] for k in nodes if k in decisions]
    if not known:
        return None
    no, yes = known[0]
    for more in known[1:]:
        no, yes = no | more[0], yes | more[1]
    return no, yes


def charged(surface: Surface, low, high) -> np.ndarray:
    """Return where boxes (n, d) of secrets certainly have positive mass."""
    secret = surface.secret
    charged = (low < high).all(axis=1)
    if not secret.positive:
        x = boxes(low, high, 0, 1)
        named = dict(zip(secret.names, x, strict=True))
        density = arithmetic.entry(secret.program.run(named, 1).jet, 0)  # type: ignore[union-attr]
        charged = charged & (density[0] > -np.inf)
    return charged


class Bands:
    """Evaluate boxes of outcomes of a joint.

    Parameters
    ----------
    marginal : Marginal
        f_Y of the joint, with its kernel and prior.

    Attributes
    ----------
    surface, cover : Surface
        The kernel for the extremes over the secret, from below and from above: perhaps as one of
        a `summary` of the secret.
    summary : Summary or None
        That one.
    """

    def __init__(self, marginal: Marginal):
        self.surface = self.cover = marginal.surface
        self.marginal = marginal
        self.summary = summary(marginal.surface)
        if self.summary is not None:
            self.surface, self.cover = self.summary.inside, self.summary.cover

    def evaluate(self, kind: str, low, high, tol: float, deadline: float) -> Band:
        """Enclose the leakage and the mass of finite boxes of outcomes."""
        with np.errstate(all="ignore"):
            return self._evaluate(kind, low, high, tol, deadline)

    def _evaluate(self, kind, low, high, tol, deadline) -> Band:
        n = len(low)
        half, ends = geometry(low, high)[1], offsets(low, high)
        top = side(self.surface, low, high, 1.0, tol, deadline, self.cover)
        if kind == "ldp":
            bottom = side(self.surface, low, high, -1.0, tol, deadline, self.cover)
            lower, upper = _sum_of_sides(top, bottom, half)
            nothing, whole, all_ = np.zeros(n), np.ones(n), np.full(n, np.inf)
            unknown = nothing, whole, nothing, all_, nothing, all_, nothing, whole
            return Band(low, high, lower, upper, *unknown)
        shift = np.where(np.isfinite(top.direct), top.direct, 0.0)
        scale = batched.exp(batched.point(shift))
        mass, density, logs = self.law(low, high, shift, tol, deadline)
        if kind == "pml":
            chosen, signed = top, logs
        else:
            chosen = side(self.surface, low, high, -1.0, tol, deadline, self.cover)
            signed = batched.negative(logs[0]), batched.negative(logs[1])
        lower, upper, gaps = against(chosen, signed, half)
        mean = self._mean(chosen, gaps, density, ends, scale, mass, lower, upper)
        if kind == "pml":  # where f_Y fades, and no leakage is bounded; elsewhere boxes are cut
            width = batched.subtract(batched.point(high), batched.point(low))
            most = largest_mean(mass[1], top.direct + np.log(width[1]))
            mean = mean[0], np.where(np.isfinite(mean[1]), mean[1], most)
        total = mass[0] * np.exp(lower) * (1 - 1e-14), mass[1] * np.exp(upper) * (1 + 1e-14)
        total = tuple(
            np.where(np.isnan(v), d, v) for v, d in zip(total, (0.0, np.inf), strict=True)
        )
        if kind == "pml":
            logs_of_top = [*top.paths, _constant(top.direct)]
            unit = batched.point(np.ones(n))
            total = self._exp_mean(top, logs_of_top, None, ends, unit, total)
        else:
            total = self._exp_mean(chosen, gaps, density, ends, scale, total)
        inverse = np.zeros(n), mass[1]
        if kind == "pmc":
            inverse = integral_of_infimum(chosen, low, high)
        mass = mass[0], np.minimum(mass[1], 1.0)
        return Band(low, high, lower, upper, *mass, *mean, *total, *inverse)

    def law(
        self, low, high, shift, tol: float, deadline: float
    ) -> tuple[Box, tuple[Box, Box], tuple[Box, Box]]:
        """Enclose P_Y of boxes of outcomes, and f_Y / e^shift and log f_Y as polynomials there."""
        inner, outer, rest = self.marginal.over(low, high, shift, max(tol, 1e-13), deadline)
        density = self._whole(inner, rest), self._whole(outer, rest)
        scale = batched.exp(batched.point(shift))
        width = batched.subtract(batched.point(high), batched.point(low))
        plain = batched.multiply(arithmetic.entry(density[1], 0), width)  # if f_Y has a kink
        mass = batched.settled(integral(*density, offsets(low, high)))
        mass = np.maximum(mass[0], plain[0]), np.minimum(mass[1], plain[1])
        mass = _nonnegative(batched.multiply(mass, scale))
        return mass, density, (self._log(density[0], shift), self._log(density[1], shift))

    def _whole(self, part: Box, rest: Box) -> Box:
        """Add the uncertain rest to the value of a polynomial.

        The sum may be negative at the centre: the rest belongs to another y, where f_Y is not.
        """
        head = batched.add((part[0][:1], part[1][:1]), (rest[0][None], rest[1][None]))
        return arithmetic.joined(head, (part[0][1:], part[1][1:]))

    def _log(self, part: Box, shift: np.ndarray) -> Box:
        found = log_jet(part, len(part[0]) - 1)
        first = batched.add((found[0][:1], found[1][:1]), batched.point(shift[None]))
        return arithmetic.joined(first, (found[0][1:], found[1][1:]))

    def _mean(self, chosen, gaps, density, ends, scale, mass, lower, upper) -> Box:
        """Enclose the integral of the leakage: polynomial times polynomial, or its range."""
        crude = mass[0] * lower * (1 - 1e-15), mass[1] * upper * (1 + 1e-15)
        low, high = [crude[0]], [np.where(np.isnan(crude[1]), np.inf, crude[1])]
        for i, gap in enumerate(gaps):
            inner = arithmetic.multiply(gap[0], density[0], ORDER - 1)
            outer = arithmetic.multiply(gap[1], density[1], ORDER)
            total = batched.settled(batched.multiply(integral(inner, outer, ends), scale))
            if i < len(chosen.paths):
                low.append(np.where(chosen.sound[i], total[0], 0.0))
            if i == 0:
                high.append(total[1] + chosen.excess * mass[1] * (1 + 1e-15))
            if i == len(chosen.paths):  # the direct bound
                high.append(total[1])
        high = np.fmin.reduce([np.where(np.isnan(v), np.inf, v) for v in high])
        return np.maximum.reduce(low), high * (1 + 1e-15)

    def _exp_mean(self, side: _Side, exponents, weight, ends, scale, crude) -> Box:
        """Enclose the integral of e^leakage under P_Y, from its logarithm along each path.

        For PML that is the integral of the kernel's supremum, and the weight 1; for PMC the
        exponents are leakages and the weight is f_Y. The last exponent is the direct bound.
        """
        lows, highs = [crude[0]], [crude[1]]
        for i, exponent in enumerate(exponents):
            inner, outer = (elementary.exponential(exponent[k], ORDER - 1 + k) for k in (0, 1))
            if weight is not None:
                inner = arithmetic.multiply(inner, weight[0], ORDER - 1)
                outer = arithmetic.multiply(outer, weight[1], ORDER)
            total = batched.settled(batched.multiply(integral(inner, outer, ends), scale))
            if i == len(side.paths):
                highs.append(total[1])
                break
            lows.append(np.where(side.sound[i], total[0], 0.0))
            if i == 0:
                more = batched.exp(batched.point(side.excess))
                high = batched.multiply((np.maximum(total[0], 0.0), total[1]), more)[1]
                # a path along which f is 0 says nothing: 0 times an excess that is not bounded
                highs.append(np.where(np.isfinite(side.excess), high, np.inf))
        highs = np.fmin.reduce([np.where(np.isnan(v), np.inf, v) for v in highs])
        return np.maximum.reduce(lows), highs


def integral_of_infimum(bottom: _Side, low: np.ndarray, high: np.ndarray) -> Box:
    """Enclose the integral of ess inf_x f(y|x) over boxes of outcomes, to second order.

    The side is that of -log f: its supremum is known against paths.
    """
    centre, _ = geometry(low, high)
    ends = (
        batched.subtract(batched.point(low), batched.point(centre)),
        batched.subtract(batched.point(high), batched.point(centre)),
    )
    width = batched.subtract(batched.point(high), batched.point(low))
    crude = [
        batched.multiply(batched.exp(batched.point(-v)), width)
        for v in (bottom.direct, bottom.flat)
    ]
    lows, highs = [crude[0][0]], [crude[1][1]]
    for i, path in enumerate(bottom.paths):
        inner = elementary.exponential(batched.negative(path[0]), ORDER - 1)
        outer = elementary.exponential(batched.negative(path[1]), ORDER)
        total = batched.settled(integral(inner, outer, ends))
        highs.append(np.where(bottom.sound[i], total[1], np.inf))
        if i == 0:
            less = batched.exp(batched.point(-bottom.excess))
            lows.append(batched.multiply((np.maximum(total[0], 0.0), total[1]), less)[0])
    lower = np.maximum.reduce([np.where(np.isnan(v), 0.0, v) for v in lows])
    upper = np.fmin.reduce([np.where(np.isnan(v), np.inf, v) for v in highs])
    lower = np.maximum(lower, 0.0)
    return lower, np.maximum(upper, lower)


def _nonnegative(a: Box) -> Box:
    a = batched.settled(a)
    return np.maximum(a[0], 0.0), np.maximum(a[1], 0.0)


def integral(inner: Box, outer: Box, ends: tuple[Box, Box]) -> Box:
    """Enclose the integral of a polynomial between two offsets from the centre."""
    left, right = ends
    total: Box = batched.point(np.zeros_like(left[0]))
    before, after = left, right
    for k in range(ORDER + 1):
        part = arithmetic.entry(inner if k < ORDER else outer, k)
        # on both sides of the centre, as a coefficient may vary with y within its enclosure
        for span in (after, batched.negative(before)):
            mean = batched.divide(span, batched.point(np.array(k + 1.0)))
            total = batched.add(total, batched.multiply(part, mean))
        before, after = batched.multiply(before, left), batched.multiply(after, right)
    return total


def _sum_of_sides(top: _Side, bottom: _Side, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Enclose sup log f - inf log f on the boxes."""
    lowers = [batched.add(batched.point(top.flat), batched.point(bottom.flat))[0]]
    uppers = [batched.add(batched.point(top.direct), batched.point(bottom.direct))[1]]
    for i, path in enumerate(top.paths):
        for j, other in enumerate(bottom.paths):
            spread = poly_range(
                arithmetic.add(path[0], other[0]), arithmetic.add(path[1], other[1]), half
            )
            lowers.append(np.where(top.sound[i] & bottom.sound[j], spread[0], 0.0))
            if i == j == 0:
                uppers.append(spread[1] + (top.excess + bottom.excess) * (1 + 2.0**-50))
    return _ends(lowers, uppers)


def against(chosen: _Side, signed: tuple[Box, Box], half: np.ndarray):
    """Enclose sup (sign log f) - sign log f_Y on the boxes, with the differences themselves."""
    gaps = [_minus(path, signed) for path in (*chosen.paths, _constant(chosen.direct))]
    ranges = [poly_range(*gap, half) for gap in gaps]
    log_range = poly_range(*signed, half)
    lowers = [batched.subtract(batched.point(chosen.flat), log_range)[0]]
    lowers += [np.where(s, r[0], 0.0) for s, r in zip(chosen.sound, ranges, strict=False)]
    uppers = [ranges[0][1] + chosen.excess * (1 + 2.0**-50), ranges[-1][1]]
    return *_ends(lowers, uppers), gaps


def _constant(value: np.ndarray) -> tuple[Box, Box]:
    """Return a number on each box as a polynomial, at the centre and over the box."""
    level = np.concatenate([value[None], np.zeros((ORDER, len(value)))])
    return (level[:ORDER], level[:ORDER]), (level, level)


def _ends(lowers: list, uppers: list) -> tuple[np.ndarray, np.ndarray]:
    upper = np.fmin.reduce([np.where(np.isnan(u), np.inf, u) for u in uppers])
    upper = np.maximum(upper + np.abs(upper) * 2.0**-50, 0.0)
    lower = np.maximum.reduce([np.where(np.isnan(v), 0.0, v) for v in lowers])
    lower = np.maximum(lower, 0.0)
    # bounds that contradict each other are not trusted, beyond what rounding explains
    wrong = lower > upper * (1 + 1e-12) + 1e-12
    return np.where(wrong, 0.0, np.minimum(lower, upper)), np.where(wrong, np.inf, upper)
