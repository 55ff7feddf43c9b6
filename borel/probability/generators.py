r"""Convex functions f of f-divergences, as engines use them: enclosed at balls, and at 0.

With c in the subdifferential of f at 1, :math:`\varphi(t) = f(t) - c (t - 1)` is non-negative,
falls up to 1 and rises from there, so that its two values at the ends of an interval enclose it;
and :math:`E_Q f(dP/dQ) = E_Q \varphi(dP/dQ)` for laws P << Q, without the cancellation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import InvalidInput, NotEnclosed, NotTraceable
from borel.numerics.balls.arithmetic import as_fraction, ball, precision
from borel.numerics.graphs.operations import STEPS, TRUTHS
from borel.probability.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.graph import Graph


_T = np.sort(np.concatenate([2.0 ** np.arange(-8, 9), [0.9, 1.1]]))
CONVEX = f"f is convex: checked at {len(_T)} points"
"""What is known of a function that a user gives."""


@dataclass(frozen=True)
class Generator:
    r"""A convex function f with f(1) = 0, by its :math:`\varphi`.

    Attributes
    ----------
    name : str
        What to call it.
    units : str
        Those of the divergence.
    phi : callable
        :math:`\varphi` at an Arb ball of positive numbers.
    at_zero, slope : Fraction or float
        :math:`\varphi(0+)`, and the limit of :math:`\varphi(t) / t` at infinity; perhaps ``inf``.
        None where a user's f gives it itself.
    at : callable
        f on float64 arrays of positive numbers, for estimates.
    rational : callable, optional
        :math:`\varphi` at a Fraction, where it is rational.
    graph : Graph, optional
        f as a function of ``t``, for a user's f.
    reason : str
        Why f cannot be enclosed; then its figures are estimates.
    """

    name: str
    units: str
    phi: Callable[[Any], Any]
    at_zero: Any
    slope: Any
    at: Callable[[np.ndarray], np.ndarray]
    rational: Callable[[Fraction], Fraction] | None = None
    graph: Graph | None = None
    reason: str = ""

    @property
    def named(self) -> bool:
        """Whether it is one of `NAMED`."""
        return NAMED.get(self.name) is self

    def over(self, low: Any, high: Any) -> Any:
        r"""Enclose :math:`\varphi` on [low, high], exact balls with 0 <= low <= high, in a ball."""
        if not low > 0:
            # by convexity phi is largest at an end
            first = ball(self.at_zero) if math.isfinite(self.at_zero) else ball(math.inf)
            ends = [first, self.phi(high)] if high > 0 else [first]
        else:
            ends = [self.phi(low)] if low == high else [self.phi(low), self.phi(high)]
        out = ends[0] if len(ends) == 1 else ends[0].union(ends[1])
        return out.union(ball(0)) if low <= 1 and high >= 1 and len(ends) > 1 else out

    def above(self, t: Fraction) -> Fraction:
        r"""Return a Fraction at or above :math:`\varphi(t)`, at 256 bits, for t > 0."""
        if self.rational is not None:
            return self.rational(t)
        with precision(256):
            return as_fraction(self.phi(ball(t)).upper())

    def limit(self) -> Any:
        """Enclose the value at 0+.

        Raises
        ------
        InvalidInput
            A user's f that gives no number at 0, with no limit declared.
        """
        if self.at_zero is not None:
            return ball(self.at_zero)
        value = self.phi(ball(0))
        if not value.is_finite():
            raise InvalidInput(
                "f",
                expected="a number at t = 0, as some outcome is impossible for some secret",
                got="none",
                mend="give the limit f(0+), perhaps inf: at_zero=...",
            )
        return value

    @property
    def note_at_zero(self) -> str:
        """What a figure rests on that needs f at 0; empty for what the formula of f shows."""
        if self.named or self.graph is None:
            return ""
        if self.at_zero is not None:
            return f"f(0+) = {self.at_zero}, as declared"
        jumps = self.graph.operations & {"where", *TRUTHS, *STEPS}
        return "f(0+) is f(0), although f may jump" if jumps else ""

    def noted(self, found: Bound, at_zero: bool) -> Bound:
        """Return a figure of f, conditional on its value at 0 where that counts."""
        return resting_on(found, *filter(None, [self.note_at_zero])) if at_zero else found


def resting_on(found: Bound, *notes: str) -> Bound:
    """Return a figure that is conditional on more, if it was proved."""
    if not notes or not found.proved:
        return found
    return found.about(assumptions=(*found.assumptions, *notes)).weakened("conditional")


def _square(t: Any) -> Any:
    return t * t  # python-flint's ``arb(0, 1) ** 2`` is NaN


NAMED: dict[str, Generator] = {
    "kl": Generator(
        "kl",
        "nats",
        lambda t: t * t.log() - t + 1,
        Fraction(1),
        math.inf,
        lambda t: t * np.log(t),
    ),
    "total_variation": Generator(
        "total_variation",
        "probability",
        lambda t: abs(t - 1) / 2,
        Fraction(1, 2),
        Fraction(1, 2),
        lambda t: np.abs(t - 1) / 2,
        rational=lambda t: abs(t - 1) / 2,
    ),
    "chi_square": Generator(
        "chi_square",
        "number",
        lambda t: _square(t - 1),
        Fraction(1),
        math.inf,
        lambda t: (t - 1) ** 2,
        rational=lambda t: (t - 1) ** 2,
    ),
    "squared_hellinger": Generator(
        "squared_hellinger",
        "number",
        lambda t: _square(t.sqrt() - 1) / 2,
        Fraction(1, 2),
        Fraction(1, 2),
        lambda t: (np.sqrt(t) - 1) ** 2 / 2,
    ),
}
"""The common generators. Total variation and squared Hellinger lie in [0, 1]."""


def power(order: Any) -> Generator:
    r"""Return :math:`\pm(t^\alpha - \alpha t + \alpha - 1)`, non-negative, for Renyi divergences.

    The sign is + for an order above 1 and - below.
    """
    alpha = Fraction(order)
    sign = 1 if alpha > 1 else -1

    def phi(t: Any) -> Any:
        a = ball(alpha)
        raised = t ** int(alpha) if alpha.denominator == 1 else t**a
        return sign * (raised - a * t + (a - 1))

    return Generator(
        f"power {order}",
        "number",
        phi,
        abs(alpha - 1),
        math.inf if alpha > 1 else alpha,
        lambda t: t ** float(alpha),
    )


def generator(f: Any, at_zero: Any = None) -> Generator:
    """Return a named generator, or make one of a user's convex function.

    Raises
    ------
    InvalidInput
        A name that is not known, f(1) != 0, or a function that is seen not to be convex.
    """
    if isinstance(f, str):
        if f not in NAMED:
            raise InvalidInput(
                "f", expected=f"one of {', '.join(NAMED)}, or a convex function", got=repr(f)
            )
        return NAMED[f]
    if not callable(f):
        raise InvalidInput("f", expected="a name or a convex function of t", got=repr(f))
    _require_convex(f)
    from borel.numerics.graphs.trace import trace

    graph, reason = None, ""
    try:
        graph = trace(f, ("t",), ())
        phi = _by_graph(graph)
    except (NotTraceable, NotEnclosed) as error:
        graph, reason = None, f"f could not be traced ({error})"
        phi = _refuse
    name = getattr(f, "__name__", "f")
    return Generator(
        "f" if name == "<lambda>" else name,
        "number",
        phi,
        _declared(at_zero),
        math.nan,  # a user's f is asked for P << Q only
        lambda t: np.asarray(f(np.asarray(t, float)), float),
        graph=graph,
        reason=reason,
    )


def _require_convex(f: Any) -> None:
    """Refuse what is seen not to be convex with f(1) = 0, at points; that is a check, no proof."""
    t = _T
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(f(t.copy()), float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "f", expected="a function of t, elementwise on arrays", got=str(error)
        ) from None
    if values.shape != t.shape or not np.isfinite(values).all():
        raise InvalidInput(
            "f", expected="finite values of f on (0, inf), elementwise", got=repr(values[:4])
        )
    at_one = float(values[t == 1.0][0])
    if abs(at_one) > 1e-12:
        raise InvalidInput("f", expected="f(1) = 0", got=f"f(1) = {at_one!r}")
    slopes = np.diff(values) / np.diff(t)
    slack = 1e-9 * (1 + np.abs(slopes[:-1]) + np.abs(slopes[1:]))
    bad = np.flatnonzero(slopes[1:] < slopes[:-1] - slack)
    if len(bad):
        raise InvalidInput(
            "f",
            expected="a convex function",
            got="slopes that fall",
            where=f"near t = {t[bad[0] + 1]:g}",
        )


def _by_graph(graph: Graph) -> Callable[[Any], Any]:
    """Return f at balls, through the interpreter of graphs."""
    from borel.numerics.balls.interpreter import Prepared

    if "t" not in graph.inputs:
        raise NotEnclosed("f does not depend on t")
    prepared = Prepared(graph, variable="t")
    slices: dict[int, Any] = {}

    def phi(t: Any) -> Any:
        import flint

        bits = flint.ctx.prec
        if bits not in slices:
            slices.clear()
            slices[bits] = prepared.at({})
        found = slices[bits]
        low, high = found.run(t.lower(), t.upper(), slope=False)[0][found.root]
        return low.union(high)

    return phi


def _refuse(t: Any) -> Any:
    raise NotEnclosed("f could not be traced")


def _declared(at_zero: Any) -> Any:
    """Return f(0+) as the user declared it."""
    if at_zero is None or isinstance(at_zero, (int, Fraction)):
        return at_zero
    value = float(at_zero)
    if math.isnan(value) or value == -math.inf:
        raise InvalidInput("at_zero", expected="f(0+), perhaps inf", got=repr(at_zero))
    return value
