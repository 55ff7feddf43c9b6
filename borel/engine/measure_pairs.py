"""Which code computes a divergence of two measures: sums, closed forms, Arb, or quadrature."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.engine.divergences.finite import finite_laws
from borel.errors import BudgetSpent, NotEnclosed, NotYet
from borel.probability import generators
from borel.probability.alphabets import Interval
from borel.probability.bound import Bound, weakest

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.generators import Generator
    from borel.probability.measure import Measure


def renyi_bound(p: Measure, q: Measure, order: Any) -> Bound:
    """Compute a Renyi divergence; the order is a Fraction >= 0, or inf."""
    laws = finite_laws(p, q)
    if laws is not None:
        return laws.renyi(order)
    if order == 0:
        return _order_zero(p, q)
    parts = _parts(p, q)
    if parts is not None:
        return _sum([renyi_bound(a, b, order) for a, b in parts])
    if settings.current().closed_forms:
        from borel.engine.divergences.renyi_closed_forms import closed_form

        found = closed_form(p, q, order)
        if found is not None:
            return Bound.exact(*found[0], assumptions=(found[1],))
    return _general(p, q, lambda engine: engine.renyi(order))


def f_divergence_bound(p: Measure, q: Measure, f: Generator) -> Bound:
    """Compute an f-divergence."""
    laws = finite_laws(p, q)
    if laws is not None:
        return laws.f_divergence(f)
    if not f.named:
        raise NotYet(
            "bl.f_divergence",
            missing=f"a function f on {p.on!r}",
            instead=f"a name: {', '.join(generators.NAMED)}; or finite measures.",
        )
    if f.name == "kl":
        return renyi_bound(p, q, Fraction(1))
    if f.name != "total_variation" and settings.current().closed_forms:
        found = _by_renyi(p, q, f)
        if found is not None:
            return found
    return _general(p, q, lambda engine: engine.f_divergence(f.name, f.units))


def max_divergence_bound(p: Measure, q: Measure, delta: Fraction) -> Bound:
    """Compute an approximate max-divergence."""
    laws = finite_laws(p, q)
    if laws is not None:
        return laws.max_divergence(delta)
    if delta == 0:
        return renyi_bound(p, q, math.inf)
    raise NotYet(
        "bl.max_divergence",
        missing=f"delta > 0 on {p.on!r}",
        instead="finite measures, or delta = 0.",
    )


# -- measures with densities ----------------------------------------------------------------------


def _parts(p: Measure, q: Measure) -> list[tuple[Measure, Measure]] | None:
    """Return factors of two product measures: Renyi divergences add up over them."""
    if not p.parts or len(p.parts) != len(q.parts):
        return None
    pairs = list(zip(p.parts, q.parts, strict=True))
    return pairs if all(a.on.dim == b.on.dim for a, b in pairs) else None


def _sum(bounds: list[Bound]) -> Bound:
    """Return the sum of independent figures, as weak as the weakest."""
    status = weakest(b.status for b in bounds)
    low = math.nextafter(math.fsum(b.lower for b in bounds), -math.inf)
    high = math.nextafter(math.fsum(b.upper for b in bounds), math.inf)
    about: dict[str, Any] = {
        "assumptions": tuple(dict.fromkeys(a for b in bounds for a in b.assumptions)),
    }
    reason = " ".join(dict.fromkeys(b.reason for b in bounds if b.reason))
    if any(b.proved and b.lower == math.inf for b in bounds):
        low = high = math.inf
        status = weakest(b.status for b in bounds if b.proved)
    low = max(low, 0.0)
    return Bound.of(status, low, high, reason=reason, **about)


def _by_renyi(p: Measure, q: Measure, f: Generator) -> Bound | None:
    """Chi-square and squared Hellinger from closed forms of orders 2 and 1/2."""
    from borel.engine.divergences.renyi_closed_forms import closed_form
    from borel.numerics.balls.arithmetic import ball, enclose

    order = Fraction(2) if f.name == "chi_square" else Fraction(1, 2)
    found = closed_form(p, q, order)
    if found is None:
        return None
    if order == 2:
        ends = [
            math.inf if math.isinf(d) else enclose(lambda d=d: ball(d).expm1())[k]
            for k, d in enumerate(found[0])
        ]
    else:
        ends = [
            1.0 if math.isinf(d) else enclose(lambda d=d: -(ball(-d) / 2).expm1())[k]
            for k, d in enumerate(found[0])
        ]
    return Bound.exact(ends[0], ends[1], units=f.units, assumptions=(found[1],))


def _order_zero(p: Measure, q: Measure) -> Bound:
    """Return 0 for measures whose density is positive on one alphabet."""
    from borel.engine.problem.prior_normalisation import FAMILIES
    from borel.engine.problem.secret_and_kernel import POSITIVE_COUNTS

    if p.on == q.on and (p.family or ("",))[0] in FAMILIES | POSITIVE_COUNTS:
        return Bound.exact(0.0, 0.0)
    raise NotYet(
        "bl.renyi of order 0",
        missing=f"where the density of {p!r} is positive",
        instead="an order above 0, or finite measures.",
    )


def _general(p: Measure, q: Measure, figure: Callable[[Any], Bound]) -> Bound:
    """Ask the engines for measures with densities, the certified one first."""
    if any(m.batch for m in (p, q)):
        raise NotYet("a divergence", missing="measures with draw axes", instead="one at a time.")
    if any(m.masses for m in (p, q)):
        raise NotYet("a divergence", missing="measures with atoms and a density")
    if p.on.kind == "countable" and p.on.dim == 1:
        from borel.engine.divergences.countable import Heads

        return figure(Heads(p, q))
    why, found = "", None
    wanted = settings.current().engine
    if wanted != "estimate":
        try:
            if not (isinstance(p.on, Interval) and isinstance(q.on, Interval)):
                raise NotEnclosed(f"a divergence on {p.on!r} is not certified in this version")
            from borel.engine.divergences.continuous import LinePair

            found = figure(LinePair(p, q))
            if found.status != "undecided" or wanted == "certified":
                return found
            why = found.reason
        except NotEnclosed as error:
            why = str(error)
    if wanted == "certified":
        raise NotYet(
            'options(engine="certified")',
            missing=f"a proof: {why}",
            instead='engine="auto" gives an estimate, marked so.',
        )
    if wanted == "exact":
        raise NotYet(
            'options(engine="exact")',
            missing=f"a closed form for {p!r} and {q!r}",
            instead='engine="auto" certifies what it can, and estimates the rest.',
        )
    from borel.engine.estimates.divergences import Quadrature

    try:
        return figure(Quadrature(p, q, why))
    except BudgetSpent:
        if found is None:
            raise
        return found
