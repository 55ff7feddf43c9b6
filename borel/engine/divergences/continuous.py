r"""Divergences of two densities on the line: integrals and suprema of their graphs, through Arb.

With :math:`S_\alpha = \int p^\alpha q^{1-\alpha}`, the Renyi divergence is
:math:`\log S_\alpha / (\alpha - 1)`, the squared Hellinger distance :math:`1 - S_{1/2}`, chi-square
:math:`S_2 - 1`; total variation is :math:`1 - \int \min(p, q)`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from borel import settings
from borel.engine.problem import secret_and_kernel
from borel.engine.problem.binary_constants import rounded
from borel.engine.problem.prior_normalisation import FAMILIES
from borel.errors import NotEnclosed
from borel.numerics.balls.arithmetic import ball, enclose
from borel.numerics.graphs.graph import Graph, GraphBuilder
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.probability.measure import Measure


class LinePair:
    """Two measures with densities on intervals, ready for Arb.

    Parameters
    ----------
    p, q : Measure
        On intervals.

    Raises
    ------
    NotEnclosed
        A density that could not be traced.
    """

    def __init__(self, p: Measure, q: Measure):
        self.graphs = [secret_and_kernel.log_graph(m.density) for m in (p, q)]
        self.p, self.q = p, q
        self.a, self.b = max(p.on.lower, q.on.lower), min(p.on.upper, q.on.upper)  # type: ignore[attr-defined]
        self.breaks = self._marks()
        self.known = [(m.family or ("",))[0] in FAMILIES for m in (p, q)]
        names = [n for n, known in zip(("p", "q"), self.known, strict=True) if not known]
        self.assumptions = tuple(f"{n} normalised: checked" for n in names)
        self.notes = rounded(p.density, q.density)

    def _marks(self) -> list[float]:
        """Return where the densities have kinks or peaks, as far as that is known."""
        marks = {*self.p.breaks, *self.q.breaks}
        for m in (self.p, self.q):
            for key in ("mu", "alpha"):
                if m.family is not None and key in m.family[1]:
                    marks.add(float(m.family[1][key]))
        return sorted(c for c in marks if self.a < c < self.b)

    @property
    def disjoint(self) -> bool:
        """Whether the intervals have no length in common."""
        return not self.a < self.b

    def singular(self) -> tuple[bool, tuple[str, ...]]:
        """Return whether P is proved not to be dominated by Q, and what P << Q rests on."""
        inside = self.p.on.lower >= self.q.on.lower and self.p.on.upper <= self.q.on.upper  # type: ignore[attr-defined]
        if not inside:
            if self.known[0] or self.disjoint:
                return True, ()
            if self._integral(self.graphs[0], rel_tol=1e-10)[1] < 1 - 1e-9:
                return True, self.assumptions
            return False, ("P << Q",)
        return False, () if self.known[1] else ("P << Q",)

    # -- integrals --------------------------------------------------------------------------------

    def _integral(
        self,
        log: Graph,
        plain: Graph | None = None,
        *,
        rel_tol: float,
        over: tuple[float, float] | None = None,
    ) -> tuple[float, float]:
        """Enclose the integral of exp(log) plain over an interval: the common one, if not given."""
        from borel.numerics.balls.expansion import product
        from borel.numerics.balls.integral import integrate
        from borel.numerics.balls.interpreter import Prepared

        if self.disjoint:
            return 0.0, 0.0
        rel_tol = max(rel_tol, 1e-25)
        graph = product([(log, True), *([(plain, False)] if plain is not None else [])])
        found = integrate(
            Prepared(graph),
            {"shift": 0.0},
            *(over or (self.a, self.b)),
            breaks=self.breaks,
            rel_tol=rel_tol,
            bits=max(64, 40 + math.ceil(-math.log2(rel_tol))),
        )
        return found.floats

    def power(self, order: Fraction, rel_tol: float) -> tuple[float, float]:
        """Enclose the integral of p^order q^(1 - order)."""
        both = joined(self.graphs, lambda add, p, q: _blend(add, p, q, order))
        low, high = self._integral(both, rel_tol=rel_tol)
        return max(low, 0.0), high

    def overlap(self, rel_tol: float) -> tuple[float, float]:
        """Enclose the integral of min(p, q): far out it is at most that of either."""
        if self.disjoint:
            return 0.0, 0.0

        def tail(a: float, b: float) -> float:
            return min(self._integral(g, rel_tol=0.01, over=(a, b))[1] for g in self.graphs)

        (a, b), beyond = cut_off(self.a, self.b, self.breaks, tail, rel_tol)
        both = joined(self.graphs, lambda add, p, q: add("minimum", p, q))
        low, high = self._integral(both, rel_tol=rel_tol, over=(a, b))
        return max(low, 0.0), _up(high + beyond)

    def relative_entropy(self, rel_tol: float) -> tuple[float, float]:
        """Enclose the integral of p log(p / q)."""
        gap = joined(self.graphs, lambda add, p, q: add("subtract", p, q))
        return self._integral(self.graphs[0], gap, rel_tol=rel_tol)

    def largest_ratio(self) -> tuple[float, float]:
        """Enclose ess sup of log(p / q)."""
        from borel.numerics.balls.extremum import extreme
        from borel.numerics.balls.interpreter import Prepared

        gap = joined(self.graphs, lambda add, p, q: add("subtract", p, q))
        tol = settings.current().tol
        bits = max(64, 40 + math.ceil(-math.log2(tol)))
        whole = Prepared(gap)
        if whole.doubtful:
            raise NotEnclosed("a condition on what may be no number")
        found = extreme(whole, {}, self.a, self.b, tol=tol / 4, breaks=self.breaks, bits=bits)
        return found.floats

    # -- figures ----------------------------------------------------------------------------------

    def bound(self, low: float, high: float, more: tuple[str, ...] = (), **about: Any) -> Bound:
        """Make a Bound of a non-negative figure."""
        rests = tuple(dict.fromkeys((*self.assumptions, *more)))
        low, high = max(low, 0.0), max(high, 0.0)
        if math.isinf(high) and not math.isinf(low):
            why = "no bound from above was found: the divergence may be infinite"
            notes = (*rests, *self.notes)
            return Bound.undecided(low, high, reason=why, assumptions=notes, **about)
        make = Bound.conditional if rests else Bound.certified
        return make(low, high, assumptions=(*rests, *self.notes), **about)

    def renyi(self, order: Any) -> Bound:
        """Enclose the Renyi divergence of a positive order."""
        tol = settings.current().tol
        rests: tuple[str, ...] = ()
        if order >= 1:
            alone, rests = self.singular()
            if alone:
                return self.bound(math.inf, math.inf, rests)
        if order == math.inf:
            return self.bound(*self.largest_ratio(), rests)
        if order == 1:
            return self.bound(*self.relative_entropy(tol / 8), rests)
        rel = min(tol, 1e-9) * min(1.0, float(abs(order - 1))) / 8
        low, high = self.power(order, rel)
        # by Hoelder the integral is at most 1 below order 1, and at least 1 above
        low, high = (max(low, 1.0), high) if order > 1 else (low, min(high, 1.0))
        if high == 0:
            return self.bound(math.inf, math.inf)
        ends = [_log_over(low, order), _log_over(max(high, low), order)]
        return self.bound(min(e[0] for e in ends), max(e[1] for e in ends), rests)

    def f_divergence(self, name: str, units: str) -> Bound:
        """Enclose a named f-divergence."""
        tol = settings.current().tol / 8
        if name == "kl":
            return self.renyi(Fraction(1))
        if name == "chi_square":
            alone, rests = self.singular()
            if alone:
                return self.bound(math.inf, math.inf, rests, units=units)
            low, high = self.power(Fraction(2), tol)
            return self.bound(_down(low - 1), _up(high - 1), rests, units=units)
        half = Fraction(1, 2)
        low, high = self.overlap(tol) if name == "total_variation" else self.power(half, tol)
        return self.bound(_down(1 - high), min(_up(1 - low), 1.0), units=units)


def cut_off(
    a: float, b: float, marks: list[float], tail: Callable[[float, float], float], small: float
) -> tuple[tuple[float, float], float]:
    """Replace infinite ends by points beyond which a tail is small; return what is left out.

    A tail that does not get small leaves its end where it is.
    """
    beyond = 0.0
    inner = [m for m in marks if math.isfinite(m)] or [0.0]
    ends = [a, b]
    for k, sign in enumerate((-1.0, 1.0)):
        if math.isfinite(ends[k]):
            continue
        start = inner[-1] if k else inner[0]
        for power in range(0, 60, 2):
            place = start + sign * 2.0**power
            left = tail(*sorted((place, ends[k])))
            if left <= small / 4:
                beyond = _up(beyond + left)
                ends[k] = place
                break
    return (ends[0], ends[1]), beyond


def _down(value: float) -> float:
    return math.nextafter(value, -math.inf)


def _up(value: float) -> float:
    return math.nextafter(value, math.inf)


def _log_over(value: float, order: Fraction) -> tuple[float, float]:
    """Enclose log(value) / (order - 1)."""
    if value == 0 or math.isinf(value):
        return math.inf, math.inf
    return enclose(lambda: ball(value).log() / ball(order - 1))


def joined(graphs: list[Graph], combine: Any) -> Graph:
    """Return the graph of a combination of graphs, with equal nodes shared."""
    together = GraphBuilder(*graphs)
    return together.graph(combine(together.add, *together.roots))


def _blend(add: Any, p: int, q: int, order: Fraction) -> int:
    """Return order p + (1 - order) q, the order as an exact quotient."""

    def times(factor: Fraction, k: int) -> int:
        top, under = float(factor.numerator), float(factor.denominator)
        if (Fraction(top), Fraction(under)) != (factor.numerator, factor.denominator):
            raise NotEnclosed("an order whose numerator float64 does not hold")
        number = add("const", top)
        if under != 1:
            number = add("divide", number, add("const", under))
        return add("multiply", number, k)

    return add("add", times(order, p), times(1 - order, q))
