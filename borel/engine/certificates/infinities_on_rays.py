"""Certificates of infinities: rays of outcomes and secrets along which a leakage has no bound."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from borel.checker.divergence import diverges
from borel.checker.models import constant, coordinate
from borel.checker.polynomials import U
from borel.checker.reading import Refused
from borel.engine.certificates.covers import Cover, Work, layout
from borel.engine.certificates.data import missing, text
from borel.engine.certificates.points import breaks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from borel.checker.joints import Joint as Checked
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint

_REACHES = (1.0, 8.0, 64.0)
_STEPS = 6


def infinite(
    joint: Joint,
    checked: Checked,
    kind: str,
    name: str,
    arguments: dict[str, Any],
    bound: Bound,
    prior: Any,
    work: Work,
) -> dict[str, Any]:
    """Return the proof that a leakage is infinite; see `certificate`."""
    data = {key: text(v) for key, v in arguments.items()}
    for proof in _candidates(joint, checked, kind, name, arguments, bound, work):
        work.count()
        try:
            diverges(checked, kind, name, data, {**proof, "prior": prior})
        except Refused:
            continue
        return proof
    raise missing(f"{kind}.{name}", "this infinity: none along the rays that are tried")


def _candidates(
    joint: Joint,
    checked: Checked,
    kind: str,
    name: str,
    arguments: dict[str, Any],
    bound: Bound,
    work: Work,
) -> Iterable[dict[str, Any]]:
    """Yield proofs that may hold."""
    if checked.density is None:
        return
    if name == "sup" and checked.line is not None:
        rays = [(y, x) for y in _rays(checked.line) for x in _paths(checked, y)]
        for y, x in rays if kind == "pml" else []:
            yield {"by": "mean", "y": y, "x": x}
    rays = list(_rays(checked.ends))
    for y, box in _places(checked, name, arguments, bound):
        for cover, x in product(_covers(joint, checked, y, box, work), rays):
            yield {"by": "secrets", "y": None if name == "at" else y, "x": x, "cover": cover}


def _rays(ends: tuple[float, float]) -> Iterable[dict[str, Any]]:
    """Yield what runs to either end of a line."""
    lower, upper = ends
    for side, end, sign in (("lower", lower, 1.0), ("upper", upper, -1.0)):
        for reach in _REACHES:
            if math.isinf(end):
                other = -sign * reach
            else:
                width = min(upper - lower, 1.0)
                other = end + sign * width / (2 * reach)
            if lower <= other <= upper:
                edges = sorted((end, other))
                yield {"edges": [text(v) for v in edges], "germ": side, "power": "1/1"}


def _paths(checked: Checked, y: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield secrets that move with outcomes along a ray, or stay."""
    lower, upper = checked.ends
    for a, b in ((-1.0, 1.0), (0.0, 0.5), (-0.5, 0.0)):
        yield {"from": ["y", text(a)], "to": ["y", text(b)]}
    for end, sign in ((lower, 1.0), (upper, -1.0)):
        if math.isfinite(end):
            edges = [float.fromhex(e) for e in y["edges"]]
            width = edges[1] - edges[0] if all(map(math.isfinite, edges)) else 0.25
            for a, b in ((0.25, 0.75), (0.75, 1.0)):
                near = sorted((sign * a * width, sign * b * width))
                ends = {"from": text(near[0]), "to": text(near[1])}
                yield {"base": text(end), "power": "1/1", **ends}
    low = lower if math.isfinite(lower) else min(-1.0, upper - 1.0)
    high = upper if math.isfinite(upper) else max(1.0, lower + 1.0)
    quarter = (high - low) / 4
    for a, b in ((low, high), (low, low + quarter), (high - quarter, high)):
        yield {"from": text(a), "to": text(b)}


def _places(
    checked: Checked, name: str, arguments: dict[str, Any], bound: Bound
) -> Iterable[tuple[Any, Any]]:
    """Yield the outcome, or boxes of outcomes as data, with their models."""
    if name == "at":
        yield None, constant(float(arguments["y"]))
        return
    if checked.line is None:
        return
    lower, upper = checked.line
    hint = (bound.witness or {}).get("y")
    middle = max(lower, min(upper, 0.0)) if math.isinf(upper - lower) else (lower + upper) / 2
    for y in (hint, middle):
        if isinstance(y, (int, float)) and math.isfinite(y):
            a, b = max(lower, y - 2.0**-6), min(upper, y + 2.0**-6)
            if a < b:
                yield [text(a), text(b)], coordinate(U, constant(a), constant(b))


def _covers(joint: Joint, checked: Checked, y: Any, box: Any, work: Work) -> Iterable[Any]:
    """Yield covers of the secrets by which the density of the outcome is positive and finite."""
    del y
    kernel = checked.at(float(box.low)) if box.constant() is not None else checked.kernel
    for reach in (8.0, 64.0):
        found = layout(checked, breaks(joint), reach=reach)
        cover = Cover(checked, kernel, box, found, found.start(), work)
        for _ in range(_STEPS):
            f_y = cover.row.marginal
            if f_y.low > 0 and f_y.high.is_finite():
                yield cover.as_data()
                break
            cover = cover.divided(cover.leaves)
