r"""Processing of outcomes that are not finite: functions with finitely many values, and events.

A function of the outcome that is constant between its jumps has the law
:math:`P\{g(Y) = z | X = x\} = \int_{g = z} f(y|x) dy`. For a finite secret these integrals are
enclosed, one by one; for others the distribution function of the noise gives them as a formula of
the secret. What they are made with, `Mechanism`, is handed to these functions as ``make``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from borel.errors import InvalidInput, NotEnclosed, NotTraceable, NotYet
from borel.numerics.balls.expansion import product
from borel.numerics.graphs.constant_pieces import ConstantPiece, constant_pieces, value_at
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.trace import Tracer, trace
from borel.numerics.intervals.rounding import NORMAL, U
from borel.probability.alphabets import Alphabet, Finite, Interval, Mixed
from borel.probability.density import Density, breaks_of, probe
from borel.probability.normalisation import Normalisation, integral_of

if TYPE_CHECKING:
    from collections.abc import Callable

_COARSE = 1e-6
_MISSED = 2e-11
_PROBES = np.array([0.5, 0.0625, 0.28125, 0.71875, 0.9375])
_LAST_DIGIT = 4 * U
_DECLARED = (
    "that the function is constant between its breaks is declared; it was checked at "
    f"{len(_PROBES)} points of each piece"
)


class OutcomePart(NamedTuple):
    """Outcomes on which a function has one value: an open interval, or an atom.

    Attributes
    ----------
    low, high : Fraction or None
        The ends, None for no end; one number twice for an atom.
    label : object
        The value.
    """

    low: Fraction | None
    high: Fraction | None
    label: Any


# -- functions of the outcome -------------------------------------------------------------------


def parts_of(
    what: str, mechanism: Any, function: Callable, breaks: Any = None
) -> tuple[list[OutcomePart], str]:
    """Return the intervals and atoms of the outcome on which a function has one value.

    Returns
    -------
    list of OutcomePart
        The parts.
    str
        What of them is declared and not proved; empty if the formula of the function shows it.

    Raises
    ------
    InvalidInput
        Values that differ between declared breaks.
    NotYet
        A function whose jumps are not found; an outcome that is no line.
    """
    outcome = mechanism.outcome
    line = getattr(outcome, "interval", outcome)
    if not isinstance(line, Interval):
        raise NotYet(
            what,
            missing=f"a function of an outcome on {outcome!r}",
            instead="outcomes on an interval, with atoms or without.",
        )
    atoms = outcome.atoms if isinstance(outcome, Mixed) else ()
    if breaks is None:
        return _traced(what, function, line, atoms), ""
    found = _declared(what, function, line, breaks)
    found += [OutcomePart(Fraction(a), Fraction(a), _label(what, function, a)) for a in atoms]
    try:
        shown = _shown(what, function, line, atoms)
    except (NotTraceable, NotEnclosed):
        return found, _DECLARED
    known = {e for part in found for e in (part.low, part.high) if e is not None}
    jumps = {e for part in shown for e in (part.low, part.high) if e is not None}
    if missed := sorted(e for e in jumps if Fraction(float(e)) not in known):
        raise InvalidInput(
            what,
            expected="a function that is constant between its breaks",
            got=f"a jump at {float(missed[0]):.17g}",
            mend="declare every jump, or none: the formula of this function shows them.",
        )
    return shown, ""


def _traced(what: str, function: Callable, line: Interval, atoms: Any) -> list[OutcomePart]:
    try:
        return _shown(what, function, line, atoms)
    except (NotTraceable, NotEnclosed) as error:
        raise NotYet(
            what,
            missing=f"the jumps of this function: {error}",
            instead="a function of y with finitely many values, by comparisons, np.floor, np.clip, "
            "np.digitize, np.select; or tell where it jumps: mech.push(g, breaks=[...]).",
        ) from None


def _shown(what: str, function: Callable, line: Interval, atoms: Any) -> list[OutcomePart]:
    """Return the parts that the formula of a function shows."""
    graph = trace(function, ("y",), ())
    pieces = constant_pieces(graph, line.lower, line.upper)
    pieces += [ConstantPiece(Fraction(a), Fraction(a), value_at(graph, Fraction(a))) for a in atoms]
    out = []
    for piece in pieces:
        label: Any = float(piece.value)
        own = _label(what, function, float(piece.inside))  # True for 1.0, 3 for 3.0
        out.append(OutcomePart(piece.low, piece.high, own if own == label else label))
    return out


def _declared(what: str, function: Callable, line: Interval, breaks: Any) -> list[OutcomePart]:
    cuts = sorted({b for b in breaks_of(breaks, what) if line.lower < b < line.upper})
    edges = [line.lower, *cuts, line.upper]
    out = []
    for a, b in pairwise(edges):
        ends = [Fraction(e) if math.isfinite(e) else None for e in (a, b)]
        points = _inner(a, b)
        labels = [_label(what, function, p) for p in points]
        other = next((i for i, label in enumerate(labels) if label != labels[0]), 0)
        if other:
            raise InvalidInput(
                what,
                expected="a function that is constant between its breaks",
                got=f"{labels[0]!r} and {labels[other]!r}",
                where=f"y = {points[0]:.17g} and y = {points[other]:.17g}",
                mend="declare every jump: breaks=[...].",
            )
        out.append(OutcomePart(ends[0], ends[1], labels[0]))
    return out


def _inner(a: float, b: float) -> list[float]:
    """Return floats between two numbers, the first in the middle."""
    if math.isfinite(a) and math.isfinite(b):
        points = a + (b - a) * _PROBES if math.isfinite(b - a) else a / 2 + b / 2 + 0 * _PROBES
    elif math.isfinite(a):
        points = a + max(1.0, abs(a)) * _PROBES / (1 - _PROBES)
    elif math.isfinite(b):
        points = b - max(1.0, abs(b)) * _PROBES / (1 - _PROBES)
    else:
        points = np.tan(math.pi * (_PROBES - 0.5))
    return [float(p) for p in points if a < p < b] or [a]


def _label(what: str, function: Callable, y: float) -> Any:
    """Return the value of a function at one outcome, as a label."""
    try:
        value = function(y)
        value = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
        hash(value)
    except Exception as error:
        raise InvalidInput(
            what,
            expected="a function of one outcome to labels (numbers, strings, tuples)",
            got=f"{type(error).__name__}: {error}",
            where=f"y = {y:.17g}",
        ) from error
    return value


# -- their laws -----------------------------------------------------------------------------------


def push(make: Any, mechanism: Any, function: Callable, outcome: Any, breaks: Any) -> Any:
    """Return the mechanism that releases a function, with finitely many values, of the outcome."""
    if mechanism.outcome.kind == "finite":
        labels = mechanism.outcome.labels
        parts = [OutcomePart(y, y, _label("mech.push", function, y)) for y in labels]
        declared = ""
    else:
        parts, declared = parts_of("mech.push", mechanism, function, breaks)
    if outcome is None and mechanism.secret.kind != "finite":  # a density reads numbers
        parts = [p._replace(label=int(p.label)) if p.label in (0, 1) else p for p in parts]
    if outcome is None:
        outcome = Finite(list(dict.fromkeys(part.label for part in parts)))
    elif not isinstance(outcome, Alphabet):
        outcome = Finite(outcome)
    if outcome.kind != "finite":
        raise InvalidInput(
            "mech.push",
            expected="outcome=<a finite alphabet>: the values of the function",
            got=repr(outcome),
        )
    places = [int(outcome.positions(part.label, "the value of the function")) for part in parts]
    if mechanism.secret.kind == "finite":
        out = _table(make, mechanism, parts, places, outcome)
        out.unproved = "; ".join(filter(None, (out.unproved, declared)))
        return out
    if declared:
        raise NotYet(
            "mech.push",
            missing=f"a proof for secrets that are not finite: {declared}",
            instead="a function by comparisons, np.floor, np.clip, np.digitize, np.select, whose "
            "formula shows its jumps; a finite secret, for estimates.",
        )
    return _formulas(make, mechanism, parts, places, outcome)


def _table(
    make: Any, mechanism: Any, parts: list[OutcomePart], places: list[int], outcome: Alphabet
) -> Any:
    """Return a matrix of enclosed probabilities."""
    secret = mechanism.secret
    low, high = np.zeros((2, secret.size, outcome.size))
    for i, x in enumerate(secret.labels):
        chance = chances("mech.push", mechanism, x)
        for part, j in zip(parts, places, strict=True):
            a, b = chance(part.low, part.high)
            low[i, j] = _down(low[i, j] + a) if a else low[i, j]
            high[i, j] = _up(high[i, j] + b) if b else high[i, j]
    return enclosed_matrix(make, "mech.push", low, high, secret, outcome, mechanism)


def enclosed_matrix(
    make: Any,
    what: str,
    low: np.ndarray,
    high: np.ndarray,
    secret: Alphabet,
    outcome: Alphabet,
    *sources: Any,
) -> Any:
    """Return a mechanism of which every entry is enclosed; an entry is 0 only if it is proved.

    Raises
    ------
    NotYet
        An entry that is not known to some digits.
    """
    values = low / 2 + high / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.where(high > 0, np.maximum(high - values, values - low) / low, 0.0)
    wrong = ~(off <= _COARSE) | ((high > 0) & (low < NORMAL))
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise NotYet(
            what,
            missing=f"digits of P(z|x) = P({outcome.labels[j]!r}|{secret.labels[i]!r}), which is "
            f"between {low[i, j]:.3g} and {high[i, j]:.3g}",
            instead="values of the function that are not so rare.",
        )
    # the law meant is the kernel over its integral, from which constants such as log(2 b) keep it
    sums = np.array([[math.fsum(row) for row in of] for of in (low, high)])
    missed = float(np.abs(sums - 1).max()) + U
    apart = np.maximum(sums[0] - 1, 1 - sums[1]) - U  # proved, of each row
    known = sum(of.normalisation.miss for of in sources)  # of weights that are no better known
    if apart.max() > known + max(map(_allowed, sources)):
        i = int(np.argmax(apart))
        raise InvalidInput(
            what,
            expected="a density that integrates to 1 (to the rounding of floats)",
            got=f"{sums[:, i].mean():.10g}, proved to miss 1 by {apart[i]:.3g}",
            where=f"x = {secret.labels[i]!r}",
            mend="divide it by its integral over y, or let it be divided: "
            "bl.Mechanism(weight, ..., normalise=True).",
        )
    rounding = float(off.max()) * (1 + 16 * U) + _LAST_DIGIT + 2 * missed + known
    out = make._from_matrix(values, secret, outcome, rounding=rounding)
    out.unproved = "; ".join(dict.fromkeys(m.unproved for m in sources if m.unproved))
    return out


def _allowed(mechanism: Any) -> float:
    """Return what integrals may miss 1 by: a float c is known to c U, and e^c to as much."""
    graphs = [of.graph for of in (mechanism.density, *mechanism.masses.values()) if of.graph]
    numbers = [abs(args[0]) for graph in graphs for op, args in graph.nodes if op == "const"]
    largest = max((v for v in numbers if math.isfinite(v)), default=0.0)
    return min(max(_MISSED, 8 * U * largest), 1e-6)


def _rounded_like(out: Any, mechanism: Any) -> Any:
    """Return a kernel made of another, which is known no better than the other's weights are."""
    if mechanism.normalisation.miss and mechanism.normalisation.status != "within":
        miss = out.normalisation.miss + 2 * mechanism.normalisation.miss
        words = "up to the rounding of the weights"
        out.normalisation = Normalisation("rounded", words, miss)
    return out


Chance = Any
"""``(low, high) -> enclosure of P{low < Y < high}``; of one number twice, P{Y = number}."""


def chances(what: str, mechanism: Any, x: Any, post: Any = None, z: Any = None) -> Chance:
    """Return what encloses the probabilities of intervals, and of atoms, under one secret.

    With a post-processing: those that the outcome is there and that it releases z.

    Raises
    ------
    NotYet
        A density that was not traced, or has an operation that Arb does not.
    """
    points: list[tuple[Any, dict]] = [(mechanism, {"x": x})]
    points += [(post, {"y": z})] if post is not None else []
    factors, cuts = [], [*mechanism.breaks, *(post.breaks if post is not None else ())]
    for kernel, known in points:
        density, (name, point) = kernel.density, *known.items()
        if density.graph is None:
            raise NotYet(
                what,
                missing=f"a density that was traced ({density.opaque})",
                instead="write it with NumPy functions.",
            )
        names = density.graph_names(name)
        at = dict(zip(names, map(float, point if len(names) > 1 else (point,)), strict=True))
        bound, other = density.graph.bind(at), "y" if name == "x" else "x"
        nodes = (("input", ("x",)) if n == ("input", (other,)) else n for n in bound.nodes)
        factors.append((Graph(tuple(nodes), ("x",)), density.log))
        cuts += [*density.turns(other, **at)[0].tolist(), *(at.values() if name == "x" else ())]
    line: Any = getattr(mechanism.outcome, "interval", mechanism.outcome)
    own = Density(None, {"x": line}, graph=product(factors).bind({"shift": 0.0}))
    integral = integral_of(own, sorted({c for c in cuts if math.isfinite(c)}), most=1.0)
    if integral is None:
        raise NotYet(what, missing="Arb arithmetic for an operation of this density")

    def chance(low: Fraction | None, high: Fraction | None) -> tuple[float, float]:
        if low is not None and low == high:
            least, most = _mass(what, mechanism, float(low), x)
            share = (1.0, 1.0) if post is None else _enclosed(what, post.density, z, float(low))
            return _down(least * share[0]), min(_up(most * share[1]), 1.0)
        (a, outer_a), (b, outer_b) = _floats(low, -1), _floats(high, 1)
        outer_a, outer_b = max(outer_a, line.lower), min(outer_b, line.upper)
        a, b = max(a, line.lower), min(b, line.upper)
        least, most = integral(a, b)
        if (outer_a, outer_b) != (a, b):
            most = integral(outer_a, outer_b)[1]
        return least, most

    return chance


def _down(value: float) -> float:
    """Return a float below a product that was rounded, 0 for an exact 0."""
    return math.nextafter(value, 0.0) if value else 0.0


def _up(value: float) -> float:
    return math.nextafter(value, math.inf) if value else 0.0


def _mass(what: str, mechanism: Any, atom: float, x: Any) -> tuple[float, float]:
    return _enclosed(what, mechanism.masses[atom], x)


def _enclosed(what: str, density: Density, *point: Any) -> tuple[float, float]:
    """Enclose a probability that is a value of a density."""
    at = [tuple(map(float, p)) if isinstance(p, tuple) else float(p) for p in point]
    try:
        low, high = density._enclose(tuple(at))
    except NotEnclosed as error:
        raise NotYet(what, missing=f"the mass of an atom: {error}") from None
    return max(float(low), 0.0), min(float(high), 1.0)


def _floats(end: Fraction | None, side: int) -> tuple[float, float]:
    """Return the floats beside the end of an interval: inside it, and outside."""
    if end is None:
        return side * math.inf, side * math.inf
    near = float(end)
    if Fraction(near) == end:
        return near, near
    other = math.nextafter(near, math.inf if end > Fraction(near) else -math.inf)
    inside, outside = sorted((near, other), reverse=side < 0)
    return inside, outside


def _formulas(
    make: Any, mechanism: Any, parts: list[OutcomePart], places: list[int], outcome: Alphabet
) -> Any:
    """Return a kernel of finitely many outcomes, by the distribution function of the noise."""
    if not _has_formulas(mechanism):
        raise NotYet(
            "mech.push",
            missing=f"a distribution function of {mechanism!r}, for secrets without number",
            instead="a finite secret: secret=bl.Finite([...]); or laplace and gaussian noise.",
        )
    if not outcome.numeric:
        raise InvalidInput(
            "mech.push",
            expected="values that are numbers, for secrets that are not finite",
            got=repr(outcome),
            mend="release 1.0 * (y > t) for y > t, and numbers for names.",
        )
    both = list(zip(parts, places, strict=True))
    of_each = [[part for part, j in both if j == k] for k in range(outcome.size)]

    def density(y: Any, x: Any) -> Any:
        like = x[0] if isinstance(x, tuple) else x
        values = [
            reduce(lambda a, b: a + b, [_between(mechanism, p, x) for p in own])
            if own
            else 0.0 * like
            for own in of_each
        ]
        out = values[-1]
        for label, value in zip(outcome.labels[-2::-1], values[-2::-1], strict=True):
            out = np.where(y == float(label), value, out)
        return out + 0.0 * y

    out = make(None, secret=mechanism.secret, outcome=outcome, name=f"pushed {mechanism.name}")
    out.density = Density(density, {"y": outcome, "x": mechanism.secret})
    out.density.check(repr(out))
    out.breaks = ()
    if mechanism.normalisation.proved:
        out.normalisation = Normalisation.by("the law of a function of the outcome")
    return out


def _has_formulas(mechanism: Any) -> bool:
    """Return whether the probabilities of parts of the outcome are formulas of the secret."""
    known = mechanism.cdf is not None and mechanism.survival is not None
    return known or mechanism.outcome.kind == "finite"


def _between(mechanism: Any, part: OutcomePart, x: Any) -> Any:
    """Return P{low < Y < high}, or that of a label, as a formula of the secret."""
    like = x[0] if isinstance(x, tuple) else x
    cdf, survival = mechanism.cdf, mechanism.survival
    if cdf is None or survival is None:
        assert mechanism.density is not None
        return mechanism.density.linear(_point(part.low, like), x)

    def at(of: Density, end: Fraction) -> Any:
        top, bottom = map(float, end.as_integer_ratio())
        if (Fraction(top), Fraction(bottom)) != end.as_integer_ratio():
            raise NotYet("mech.push", missing=f"a jump at {end}, which is no quotient of floats")
        exact = Fraction(float(end)) == end
        return of.linear(_constant(end, like) if exact else _constant(top, like) / bottom, x)

    if part.low is None:
        return 1.0 + 0.0 * like if part.high is None else at(cdf, part.high)
    if part.high is None:
        return at(survival, part.low)
    below, above = at(cdf, part.low), at(survival, part.low)
    # two forms of one number: of differences of numbers near 1 no digits are left
    return np.where(below > above, above - at(survival, part.high), at(cdf, part.high) - below)


# -- composition with a kernel ----------------------------------------------------------------


def post_process(make: Any, post: Any, mechanism: Any) -> Any:
    """Return P_{Z|X} = P_{Z|Y} o P_{Y|X}, where Y, or Z, is not finite."""
    if mechanism.finite:
        return _mixed(make, post, mechanism)
    what, line = "post @ mech", getattr(mechanism.outcome, "interval", mechanism.outcome)
    finite = mechanism.secret.kind == post.outcome.kind == "finite" and post.outcome.numeric
    if not (finite and isinstance(line, Interval) and post.density is not None):
        raise NotYet(
            what,
            missing="the integral over an intermediate alphabet that is not finite, unless it is a "
            "line, between a finite secret and a finite outcome",
            instead="mech.push and mech.clip for noise; a finite secret.",
        )
    secret, outcome = mechanism.secret, post.outcome
    atoms = mechanism.outcome.atoms if isinstance(mechanism.outcome, Mixed) else ()
    low, high = np.zeros((2, secret.size, outcome.size))
    for i, x in enumerate(secret.labels):
        for j, z in enumerate(outcome.labels):
            chance = chances(what, mechanism, x, post, z)
            for a, b in [(None, None), *((Fraction(at), Fraction(at)) for at in atoms)]:
                least, most = chance(a, b)
                low[i, j] = _down(low[i, j] + least) if least else low[i, j]
                high[i, j] = _up(high[i, j] + most) if most else high[i, j]
    return enclosed_matrix(make, what, low, high, secret, outcome, mechanism, post)


def _mixed(make: Any, mechanism: Any, pre: Any) -> Any:
    r"""Return the mixture :math:`f(y|z) = \sum_x P(x|z) f(y|x)` of the laws of an outcome."""
    what, inner, secret = "mech @ pre", mechanism.density, pre.secret
    if pre.unproved or inner.graph is None:
        raise NotYet(
            what,
            missing=f"a proof: {pre.unproved or inner.opaque}",
            instead="a matrix of Fractions or floats, and a density that can be traced.",
        )
    if not secret.numeric:
        raise InvalidInput(
            what,
            expected="secrets of pre that are numbers: a density reads them",
            got=repr(secret),
            mend="number them: bl.Mechanism.from_matrix(K, secret=bl.Finite(3), ...).",
        )

    def mixture(of: Density, z: Any, *y: Any) -> Any:
        like = (z[0] if isinstance(z, tuple) else z) * 0.0
        rows = []
        for weights in pre.matrix:
            terms = [
                _number(w, like) * of.linear(*y, _point(x, like))
                for w, x in zip(weights, pre.outcome.labels, strict=True)
                if w
            ]
            rows.append(reduce(lambda a, b: a + b, terms))
        out = rows[-1]
        for label, row in zip(secret.labels[-2::-1], rows[-2::-1], strict=True):
            out = np.where(_is(z, label), row, out)
        return out

    masses = {a: lambda z, m=m: mixture(m, z) for a, m in mechanism.masses.items()}
    out = make(
        lambda y, z: mixture(inner, z, y),
        secret=secret,
        outcome=mechanism.outcome,
        masses=masses or None,
        breaks=mechanism.breaks,
        name=f"{mechanism.name or 'density'} @ {pre.name or 'matrix'}",
    )
    off = 0.0 if pre.rational and _short(pre.matrix) else max(pre.rounding, U)
    known = mechanism.normalisation
    if known.proved:
        out.normalisation = Normalisation.by(f"a mixture of laws, {known}", known.miss + 4 * off)
    elif off > 16 * U or known.miss:  # weights that are known less well than floats are
        miss = known.miss + 4 * off
        out.normalisation = Normalisation("rounded", "up to the rounding of the weights", miss)
    return out


def _short(matrix: np.ndarray) -> bool:
    """Return whether every Fraction is a quotient of two floats."""
    pairs = [n for f in matrix.ravel().tolist() for n in f.as_integer_ratio()]
    return all(abs(n) <= 2**53 for n in pairs)


def _number(weight: Any, like: Any) -> Any:
    """Return a weight in a formula: a Fraction as a quotient, where that is exact."""
    if not isinstance(weight, Fraction):
        return _constant(weight, like)
    top, bottom = weight.as_integer_ratio()
    if max(top, bottom) > 2**53:
        return _constant(weight, like)
    return _constant(top, like) / float(bottom)


def _constant(value: Any, like: Any) -> Any:
    """Return a number in the shape of an argument of a density: a float, also beside integers."""
    traced = isinstance(like, Tracer)
    return np.full_like(like, float(value)) if traced else np.full(np.shape(like), float(value))


def _point(label: Any, like: Any) -> Any:
    if isinstance(label, tuple):
        return tuple(_constant(part, like) for part in label)
    return _constant(label, like)


def _is(z: Any, label: Any) -> Any:
    if not isinstance(label, tuple):
        return z == float(label)
    return reduce(np.logical_and, [a == float(b) for a, b in zip(z, label, strict=True)])


# -- events ---------------------------------------------------------------------------------------


def restrict(make: Any, mechanism: Any, event: Callable | Interval) -> Any:
    """Return the mechanism whose outcome is conditioned on an event."""
    what, outcome, inner = "mech.restrict", mechanism.outcome, mechanism.density
    assert inner is not None
    about: dict[str, Any] = {"secret": mechanism.secret, "breaks": mechanism.breaks}
    about["name"] = f"{mechanism.name or 'density'} given an event"
    if outcome.dim == 1 and outcome.kind in ("finite", "countable"):
        kept = _kept_labels(what, outcome, event)
        return _rounded_like(make(inner.linear, outcome=kept, normalise=True, **about), mechanism)
    indicator = _indicator(event)
    parts = [part for part in parts_of(what, mechanism, indicator)[0] if part.label]
    spans = [part for part in parts if part.low is None or part.low != part.high]
    atoms = [float(part.low) for part in parts if part not in spans]  # type: ignore[arg-type]
    if not spans:
        raise InvalidInput(
            what,
            expected="an event with outcomes on an interval",
            got="atoms alone" if atoms else "none",
            mend="mech.push(g) releases which of the atoms it is."
            if atoms
            else "give an event that some outcome is in.",
        )
    low, high = _floats(spans[0].low, -1)[1], _floats(spans[-1].high, 1)[1]
    apart = bool(atoms) and not low <= min(atoms) <= max(atoms) <= high
    line = Interval(min(low, *atoms), max(high, *atoms)) if atoms else Interval(low, high)
    about["outcome"] = Mixed(line, atoms=tuple(atoms)) if atoms else line
    ends = [e for part in spans for e in (part.low, part.high) if e is not None]
    about["breaks"] = (*mechanism.breaks, *map(float, ends))
    whole = len(spans) == 1 and not apart and all(Fraction(float(e)) == e for e in ends)

    def weight(y: Any, x: Any) -> Any:
        value = inner.linear(y, x)
        return value if whole else np.where(indicator(y), value, 0.0)

    if mechanism.cdf is None or mechanism.survival is None:
        masses = {a: mechanism.masses[a].linear for a in atoms}
        out = make(weight, masses=masses or None, normalise=True, **about)
        return _rounded_like(out, mechanism)

    def total_of(x: Any) -> Any:
        return reduce(lambda a, b: a + b, [_between(mechanism, part, x) for part in spans])

    _require_no_rarer(what, total_of, mechanism.secret)

    def conditioned(y: Any, x: Any) -> Any:
        total = total_of(x)
        if whole:
            return inner.logarithm(y, x) - np.log(total)
        return weight(y, x) / total

    out = make(conditioned, log=whole, **about)
    if mechanism.normalisation.proved:
        out.normalisation = Normalisation.by("a law that is conditioned on an event")
    return out


def _require_no_rarer(what: str, total: Callable, secret: Alphabet) -> None:
    """Raise `NotYet` for an event whose probability no float holds, at some secret of a probe."""
    points = probe(secret)
    with np.errstate(all="ignore"):
        found = np.asarray(total(points), float)
    if not (found >= NORMAL).all():
        place = int(np.argmin(found))
        x = tuple(p[place] for p in points) if isinstance(points, tuple) else points[place]
        raise NotYet(
            what,
            missing=f"the probability of so rare an event, about {found[place]:.3g} at x = {x}",
            instead="an event of probability 2.2e-308 or more under every secret.",
        )


def _indicator(event: Any) -> Callable:
    """Return an event as a function of numbers; an interval as its indicator."""
    if not isinstance(event, Interval):
        return event
    low, high = event.lower, event.upper
    ends = [y for y in (low, high) if math.isfinite(y)]

    def inside(y: Any) -> Any:
        above = [np.less_equal(low, y)] if low in ends else []
        below = [np.less_equal(y, high)] if high in ends else []
        return reduce(np.logical_and, [*above, *below]) if ends else np.less_equal(y * 0.0, 1.0)

    return inside


def _kept_labels(what: str, outcome: Any, event: Any) -> Alphabet:
    """Return the labels of an event, of an outcome that is counted."""
    if isinstance(event, Interval) and outcome.kind == "countable":
        low = math.ceil(event.lower) if math.isfinite(event.lower) else None
        high = math.floor(event.upper) if math.isfinite(event.upper) else None
        lows = [e for e in (low, outcome.lower) if e is not None]
        highs = [e for e in (high, outcome.upper) if e is not None]
        if lows and highs and max(lows) <= min(highs):
            return type(outcome)(max(lows), min(highs))
    if outcome.kind == "countable":
        raise NotYet(
            what,
            missing=f"the probability of this event of {outcome!r}",
            instead="an interval with two ends: mech.restrict(bl.Interval(0, 9)).",
        )
    inside = event.contains if isinstance(event, Interval) else event
    labels = [y for y in outcome.labels if _label(what, inside, y)]
    if not labels:
        raise InvalidInput(what, expected="an event with outcomes", got="none")
    return Finite(labels)
