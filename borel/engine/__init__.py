"""Engines: the only place that knows how a figure is computed. The layers above speak of Bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel import settings
from borel.errors import NotYet

if TYPE_CHECKING:
    from borel.joint import Joint


def engine_for(joint: Joint) -> Any:
    """Return the engine of a joint: exact where the alphabets allow, else the estimate.

    Raises
    ------
    NotYet
        ``options(engine="certified")``: the certified engine is not in this version.
    """
    wanted = settings.current().engine
    cache = joint.__dict__.setdefault("_engines", {})
    if wanted not in cache:
        cache[wanted] = _choose(joint, wanted)
    return cache[wanted]


def _choose(joint: Joint, wanted: str) -> Any:
    if joint.finite:
        from borel.engine.exact import FiniteEngine

        return FiniteEngine(joint)
    discrete = {joint.secret.kind, joint.outcome.kind} <= {"finite", "countable"}
    if discrete and joint.mechanism.density is not None:
        from borel.engine.countable import CountableEngine

        return CountableEngine(joint)
    if wanted in ("exact", "certified"):
        raise NotYet(
            f'options(engine="{wanted}")',
            missing=f"an exact or certified engine for {joint.secret!r} and {joint.outcome!r}: the "
            "exact engine is for finite and countable alphabets, the certified engine is to come",
            instead='engine="auto" gives an estimate, marked so.',
        )
    from borel.engine.estimate import EstimateEngine

    return EstimateEngine(joint)
