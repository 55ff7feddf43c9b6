"""Engines: the only place that knows how a figure is computed. The layers above speak of Bounds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from borel import settings
from borel.errors import NotEnclosed, NotYet

if TYPE_CHECKING:
    from borel.engine.continuous.engine import CertifiedEngine
    from borel.engine.draws.engine import DrawsEngine
    from borel.engine.estimates.engine import EstimateEngine
    from borel.engine.problem.engine import Engine
    from borel.probability.bound import Bound
    from borel.probability.joint import Joint


def engine_for(joint: Joint) -> Engine:
    """Return the engine of a joint: exact where the alphabets allow, else certified, else estimate.

    Raises
    ------
    NotYet
        ``options(engine="exact")`` on alphabets that are neither finite nor countable, or
        ``options(engine="certified")`` where something cannot be enclosed; the message says what.
    """
    wanted = settings.current().engine
    # nothing that the engine of a finite joint keeps depends on a budget
    keep = joint._memo.fact if joint.finite else joint._memo.in_figure
    return keep(("engine", wanted), lambda: _choose(joint, wanted))


def _choose(joint: Joint, wanted: str) -> Engine:
    if joint.finite:
        from borel.engine.finite.engine import FiniteEngine

        return FiniteEngine(joint)
    discrete = {joint.secret.kind, joint.outcome.kind} <= {"finite", "countable"}
    if discrete and joint.mechanism.density is not None and not joint.estimated:
        from borel.engine.countable.engine import CountableEngine

        return CountableEngine(joint, partial(certified_engine, joint))
    if wanted == "exact" and not joint.estimated:
        raise NotYet(
            f'options(engine="{wanted}")',
            missing=f"an exact engine for {joint.secret!r} and {joint.outcome!r}: it is for finite "
            "and countable alphabets",
            instead='engine="auto" certifies what it can, and estimates the rest.',
        )
    why = joint.estimated
    if wanted != "estimate" and not why:
        try:
            return certified_engine(joint)
        except NotEnclosed as error:
            why = str(error)
    if wanted in ("exact", "certified"):
        raise NotYet(
            f'options(engine="{wanted}")',
            missing=f"a proof: {why}",
            instead='engine="auto" gives an estimate, marked so.',
        )
    if wanted == "auto" and joint.outcome.dim > 1 and joint.outcome.kind == "continuous":
        from borel.engine.product_outcomes import ProductOutcomes

        if not joint.estimated:
            return ProductOutcomes(joint, why, engine_for, certified_engine)
    return estimate_engine(joint, why)


def certified_engine(joint: Joint) -> CertifiedEngine:
    """Return the engine that encloses figures of traced densities, by the kind of the outcome.

    Raises
    ------
    NotEnclosed
        A density that could not be traced, or something that intervals do not know.
    """
    if joint.outcome.kind in ("continuous", "mixed"):
        from borel.engine.continuous.outcome_engine import CertifiedOutcomes

        return CertifiedOutcomes(joint, estimates=estimate_engine, information=_information)
    from borel.engine.continuous.engine import CertifiedEngine

    return CertifiedEngine(joint, estimates=estimate_engine, information=_information)


def _information(joint: Joint) -> Bound:
    """Enclose the mutual information of a joint of one prior."""
    from borel.engine.draws.one_prior import mutual_information

    return mutual_information(joint, certified_engine)


def estimate_engine(joint: Joint, why: str = "") -> EstimateEngine:
    """Return the engine that estimates figures, by the kind of the outcome."""
    if joint.outcome.kind in ("continuous", "mixed"):
        from borel.engine.estimates.outcome_engine import ContinuousOutcomes

        return ContinuousOutcomes(joint, why)
    from borel.engine.estimates.engine import EstimateEngine

    return EstimateEngine(joint, why)


def draws_engine(joint: Joint) -> DrawsEngine:
    """Return the engine for a joint with a random prior.

    Raises
    ------
    NotYet
        As `engine_for` does, and for products of alphabets that are not finite.
    """
    if joint.mechanism.finite and joint.prior.on.kind == "finite":
        from borel.engine.draws.blocks import FiniteDraws

        return FiniteDraws(joint)
    if joint.prior.on.dim > 1 or joint.outcome.dim > 1:
        raise NotYet("learnt * mech", missing="products of alphabets that are not finite")
    wanted, why = settings.current().engine, "an exact engine is for finite alphabets"
    if wanted in ("auto", "certified"):
        # what is proved of the kernel depends on the budget
        key = "enclosed draws", settings.current().budget
        found = joint._memo.apart(key, lambda: _enclosed_draws(joint))
        if not isinstance(found, str):
            return found
        why = found
    if wanted in ("exact", "certified"):
        raise NotYet(
            f'options(engine="{wanted}") over a posterior of priors',
            missing=f"a proof for every draw: {why}",
            instead='engine="auto" gives an estimate, marked so.',
        )
    from borel.engine.draws.estimates import EstimateDraws

    return EstimateDraws(joint, engine_for, why if wanted == "auto" else "")


def _enclosed_draws(joint: Joint) -> DrawsEngine | str:
    """Return an engine that encloses figures of draws, or why there is none."""
    from borel.engine.draws.supports import enclosed_draws

    try:
        return enclosed_draws(joint, certified_engine)
    except NotEnclosed as error:
        return str(error)
