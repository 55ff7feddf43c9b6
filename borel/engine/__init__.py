"""Engines: the only place that knows how a figure is computed. The layers above speak of Bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel import settings
from borel.engine.certificates import kept
from borel.errors import NotEnclosed, NotYet

if TYPE_CHECKING:
    from borel.probability.joint import Joint


def engine_for(joint: Joint) -> Any:
    """Return the engine of a joint: exact where the alphabets allow, else certified, else estimate.

    Raises
    ------
    NotYet
        ``options(engine="exact")`` on alphabets that are neither finite nor countable, or
        ``options(engine="certified")`` where something cannot be enclosed; the message says what.
    """
    wanted, cache = settings.current().engine, kept(joint, "_engines")
    if joint.finite:  # nothing that it keeps depends on a budget
        if wanted not in cache:
            cache[wanted] = _choose(joint, wanted)
        return cache[wanted]
    return settings.once(cache, wanted, lambda: _choose(joint, wanted))


def _choose(joint: Joint, wanted: str) -> Any:
    if joint.finite:
        from borel.engine.finite.engine import FiniteEngine

        return FiniteEngine(joint)
    discrete = {joint.secret.kind, joint.outcome.kind} <= {"finite", "countable"}
    if discrete and joint.mechanism.density is not None and not joint.estimated:
        from borel.engine.countable.engine import CountableEngine

        return CountableEngine(joint)
    if wanted == "exact" and not joint.estimated:
        raise NotYet(
            f'options(engine="{wanted}")',
            missing=f"an exact engine for {joint.secret!r} and {joint.outcome!r}: it is for finite "
            "and countable alphabets",
            instead='engine="auto" certifies what it can, and estimates the rest.',
        )
    why = joint.estimated
    if wanted != "estimate" and not why:
        from borel.engine.continuous.engine import CertifiedEngine

        try:
            return CertifiedEngine(joint)
        except NotEnclosed as error:
            why = str(error)
    if wanted in ("exact", "certified"):
        raise NotYet(
            f'options(engine="{wanted}")',
            missing=f"a proof: {why}",
            instead='engine="auto" gives an estimate, marked so.',
        )
    from borel.engine.estimates.engine import EstimateEngine

    return EstimateEngine(joint, why)
