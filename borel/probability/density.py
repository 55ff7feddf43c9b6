"""Densities: a user's function, traced to a graph where possible, frozen and checked."""

from __future__ import annotations

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np

from borel import settings
from borel.errors import BorelError, InvalidInput, NotEnclosed, NotTraceable
from borel.numerics.graphs import float64, rewrite
from borel.numerics.graphs.branch_points import between, branch_points
from borel.numerics.graphs.graph import Graph
from borel.numerics.graphs.trace import Tracer, replay, trace
from borel.numerics.intervals import domains
from borel.numerics.intervals.domains import decided, has_values
from borel.numerics.intervals.rounding import NORMAL, U
from borel.probability.alphabets import Alphabet, Finite, Integers, Interval, Mixed, as_number
from borel.probability.pickling import HoldsFunctions

_GOLDEN = 0.6180339887498949
_WHOLE = 1 << 53


def breaks_of(breaks: Any, what: str) -> tuple[float, ...]:
    """Return declared breaks as floats, or say what came instead."""
    if isinstance(breaks, (str, bytes)) or not hasattr(breaks, "__iter__"):
        raise InvalidInput(what, expected="breaks=[numbers]", got=repr(breaks))
    found = tuple(as_number(b, what, "a break") for b in breaks)
    if not np.isfinite(found).all():
        raise InvalidInput(what, expected="finite breaks", got=repr(list(breaks)))
    return found


class Table(NamedTuple):
    """A tabulated density: values, their relative rounding, and why they are not proved."""

    values: np.ndarray
    rounding: float
    unproved: str


A_KDE = (
    "a KDE in one dimension is a mixture of normals: bl.mixture([bl.normal(mu=x, "
    "sigma=kde.covariance[0, 0] ** 0.5) for x in kde.dataset[0]], weights=kde.weights)."
)


class Density(HoldsFunctions):
    """A density f(y|x), or p(x), as every engine sees it.

    Parameters
    ----------
    function : callable
        ``f(y, x)`` or ``p(x)``; elementwise on broadcastable arrays; a point of a product is a
        tuple, one array per factor.
    alphabets : dict
        The alphabets of its arguments by name, in order: ``{"y": ..., "x": ...}``.
    log : bool
        Whether it returns the logarithm of the density.
    parameters : dict
        Numbers passed as keyword arguments.
    graph : Graph, optional
        A graph made elsewhere; then nothing is traced.

    Attributes
    ----------
    graph : Graph or None
        The expression graph; None when the function could not be traced.
    opaque : str
        Why not, naming the operation; empty for a traced density.
    """

    _functions = ("function",)

    def __init__(
        self,
        function: Any,
        alphabets: dict[str, Alphabet],
        *,
        log: bool = False,
        parameters: dict[str, Any] | None = None,
        graph: Graph | None = None,
        opaque: str = "",
    ):
        if graph is None and not callable(function):
            raise InvalidInput(
                "a density",
                expected="a function of " + ", ".join(alphabets),
                got=type(function).__name__,
                mend="probabilities are no density: bl.pmf(p, on=alphabet)."
                if len(alphabets) == 1
                else "",
            )
        if type(function).__name__ == "gaussian_kde":
            raise InvalidInput(
                "a density",
                expected="an elementwise function",
                got="a gaussian_kde, which takes its points as a table",
                mend=A_KDE,
            )
        for name, alphabet in alphabets.items():
            check_labels(name, alphabet)
        self.function = function
        self.alphabets = alphabets
        self.log = log
        self.parameters = dict(parameters or {})
        self.graph = graph
        self.opaque = opaque
        if graph is None and not opaque:
            names = tuple(_names(name, a) for name, a in alphabets.items())
            try:
                traced = trace(function, names, tuple(self.parameters))
                single = {n: v for n, v in self.parameters.items() if np.ndim(v) == 0}
                self.graph = self._without_guards(traced.bind(single))
            except NotTraceable as error:
                self.opaque = str(error)
        self._captured = _captured_arrays(function) if self.graph is None else {}

    def _without_guards(self, graph: Graph) -> Graph:
        """Return the graph without ``where(condition, value, nan)`` where that always holds.

        What a law of another library demands of its parameters is asked once: on a half-line no
        interval tells that 1 / (1 + x) > 0.
        """
        numeric = all(
            getattr(f, "numeric", True) for a in self.alphabets.values() for f in a.factors
        )
        if not (numeric and any(map(math.isnan, graph.constants))):
            return graph
        found = decided(graph, ranges_of(self))
        return graph if any(map(math.isnan, found.constants)) else found

    def __getstate__(self) -> dict:
        """Serialise the graph; only an opaque density needs its function."""
        state = super().__getstate__()
        if self.graph is not None:
            state["function"] = None
        return state

    def same_as(self, other: Density) -> bool:
        """Return whether both are one function: by their graphs, or, untraced, by identity."""
        about = [(d.log, d.alphabets, d._free_parameters()) for d in (self, other)]
        if about[0] != about[1]:
            return False
        if self.graph is None or other.graph is None:
            return self.graph is other.graph and self.function is other.function
        return self.graph.to_json() == other.graph.to_json()

    def _free_parameters(self) -> dict[str, Any]:
        """Return the parameters that are not in the graph, as lists."""
        return {
            name: np.asarray(value).tolist()
            for name, value in self.parameters.items()
            if self.graph is None or np.ndim(value)
        }

    def raw(self, *points: Any) -> np.ndarray:
        """Return what the function returns at broadcastable points, as float64."""
        if self.graph is not None:
            inputs = self.inputs(*points)
            if any(isinstance(v, Tracer) for v in inputs.values()):
                return replay(self.graph, inputs)
            return float64.evaluate(self.graph, inputs | self._batch(points))
        self._check_captured()
        arrays = [_as_arrays(p) for p in points]
        parameters = self.parameters | self._batch(points)
        shape = np.broadcast_shapes(
            *(np.shape(a) for p in arrays for a in (p if isinstance(p, tuple) else (p,))),
            *(np.shape(v) for v in parameters.values()),
        )
        settings.work("opaque", 1, math.prod(shape))
        with np.errstate(all="ignore"):
            result = np.asarray(self._call(arrays, parameters))
        if result.dtype.kind not in "biuf" or result.shape not in (shape, ()):
            raise InvalidInput(
                "a density",
                expected=f"an elementwise function: numbers of shape {shape}",
                got=f"dtype {result.dtype}, shape {result.shape}",
                mend="write it with NumPy functions that work element by element on arrays; "
                "one that takes a flat array: lambda x: f(x.ravel()).reshape(x.shape).",
            )
        return np.broadcast_to(result.astype(float), shape)

    def _call(self, arrays: list, parameters: dict[str, Any]) -> Any:
        """Call the user's function; what it raises is a matter of the density, not of borel."""
        try:
            return self.function(*arrays, **parameters)
        except BorelError:
            raise
        except Exception as error:
            names = ", ".join([*self.alphabets, *parameters])
            mend = "call it yourself on arrays to see where it fails; np.exp, not math.exp."
            if "truth value of an array" in str(error):
                mend = "np.where(condition, first, second) in place of a Python if."
            elif "required positional argument" in str(error):
                mend = "a function of these alone; other numbers are params={...}, or closed over."
            raise InvalidInput(
                "a density",
                expected=f"a function of ({names}) that takes arrays",
                got=f"{type(error).__name__}: {error}",
                mend=mend,
            ) from error

    def inputs(self, *points: Any) -> dict[str, Any]:
        """Return the inputs of the graph by name, for one point per argument."""
        named: dict[str, Any] = {}
        for (name, alphabet), point in zip(self.alphabets.items(), points, strict=True):
            names = _names(name, alphabet)
            if isinstance(names, tuple):
                named.update(zip(names, point, strict=True))
            else:
                named[names] = point
        return named

    def graph_names(self, argument: str) -> tuple[str, ...]:
        """Return the names that the graph has for an argument, one for each factor."""
        names = _names(argument, self.alphabets[argument])
        return names if isinstance(names, tuple) else (names,)

    def _batch(self, points: tuple) -> dict[str, np.ndarray]:
        """Return the array parameters (draws), with axes added for the points behind them."""
        flat = [a for p in points for a in (p if isinstance(p, tuple) else (p,))]
        behind = max(np.ndim(a) for a in flat)
        return {
            name: np.reshape(value, (*np.shape(value), *(1,) * behind))
            for name, value in self.parameters.items()
            if np.ndim(value)
        }

    def linear(self, *points: Any) -> np.ndarray:
        """Return the density itself."""
        values = self.raw(*points)
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(values) if self.log else values

    def at_parameters(self, point: Any, parameters: dict[str, Any]) -> Any:
        """Return what the function returns, with others for its array parameters, also traced."""
        if self.graph is None:
            return self._call([point], self.parameters | parameters)
        inputs = self.inputs(point) | parameters
        if any(isinstance(v, Tracer) for v in inputs.values()):
            return replay(self.graph, inputs)
        return float64.evaluate(self.graph, inputs)

    def logarithm(self, *points: Any, least: float = 0.0) -> np.ndarray:
        """Return the log-density; -inf where the density is 0, or evaluates to less than least."""
        if self.graph is not None and not self.log:
            inputs = self.inputs(*points)
            if not any(isinstance(v, Tracer) for v in inputs.values()):
                return float64.evaluate_log(self.graph, inputs | self._batch(points), least=least)
        values = self.raw(*points)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.log:
                return values
            if least:  # not in a graph that is traced through here: it would be one branch more
                values = np.where(np.abs(values) < least, 0.0, values)
            return np.log(values)

    def resolved(self, *points: Any) -> np.ndarray:
        """Return the log-density; -inf where it is 0, or so small that float64 loses its digits."""
        return self.logarithm(*points, least=NORMAL)

    @property
    def underflows(self) -> bool:
        """Whether all that is known of a small value is what float64 says: it has no logarithm."""
        return self.graph is None and not self.log

    def overflows(self, *points: Any) -> bool:
        """Return whether a function that could not be traced overflows on its way to a value."""
        arrays = [_as_arrays(p) for p in points]
        with np.errstate(all="ignore", over="raise"):
            try:
                self.function(*arrays, **self.parameters)
            except FloatingPointError:
                return True
        return False

    def tabulate(self, points: tuple, what: str, role: str, place: Any) -> Table:
        """Evaluate at all points of finite alphabets; an underflow is an error, not a zero.

        ``place`` says in words where an index of the table lies. What intervals do not enclose
        (an opaque density, an operation they do not know) is a table of estimates, with why.
        """
        values = np.array(self.linear(*points))
        small = values < NORMAL
        rounding, unproved = 0.0, ""
        try:
            low, high = self._enclose(points)
            lost = small & (high > 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                # how far the truth may be from the float, relatively: the float itself may lie
                # outside its enclosure
                gap = np.maximum(high - values, values - low) * (1 + 4 * U) / values
            rounding = float(np.max(np.where(values > 0, gap, 0.0)))
            if not rounding < 1e-9:
                unproved = f"the {role} loses digits in float64 (up to {rounding:.2g} of a value)"
        except NotEnclosed as error:
            unproved = f"the {role} is known in float64 only: {error}"
            lost = small & (self.logarithm(*points) > -np.inf)
        if lost.any():
            raise InvalidInput(
                what,
                expected="densities that float64 can hold (0 or at least 2.2e-308)",
                got="an underflow",
                where=place(*np.argwhere(lost)[0]),
                mend="shrink the alphabets, or give a matrix or a pmf of Fractions.",
            )
        # an error estimate, where nothing is proved: some roundings, or what intervals leave open
        return Table(values, min(max(rounding, 64 * U), 0.1) if unproved else rounding, unproved)

    def _enclose(self, points: tuple) -> tuple[np.ndarray, np.ndarray]:
        """Enclose the density at points; raise `NotEnclosed` if that cannot be done."""
        from borel.numerics.intervals import interpreter

        if self.graph is None:
            raise NotEnclosed(f"it could not be traced ({self.opaque})")
        boxes = {}
        for name, value in self.inputs(*points).items():
            point = np.asarray(value, float)
            boxes[name] = (point, point)
        low, high = interpreter.evaluate(self.graph, boxes)
        return interpreter.exponential((low, high)) if self.log else (low, high)

    def simplified(self) -> Graph:
        """Return the graph without the common dependency traps, on the alphabets."""
        assert self.graph is not None
        return rewrite.simplified(self.graph, self.is_number)

    def is_number(self, graph: Graph) -> bool:
        """Return whether a function of the same inputs is a number all over the alphabets."""
        ranges = ranges_of(self)
        return {*graph.inputs} <= {*ranges} and has_values(
            graph, {name: ranges[name] for name in graph.inputs}
        )

    @property
    def hides_no_nan(self) -> bool:
        """Whether no NaN can hide at one of infinitely many integers, where there are so many."""
        named = [
            (name, factor)
            for argument, alphabet in self.alphabets.items()
            for name, factor in zip(self.graph_names(argument), alphabet.factors, strict=True)
        ]
        if self.graph is None or all(factor.kind != "countable" for _, factor in named):
            return True
        finite = [
            (name, factor.array)
            for name, factor in named
            if factor.kind == "finite" and factor.numeric
        ]
        axes = np.ix_(*(np.asarray(values, float) for _, values in finite))
        points = dict(zip((name for name, _ in finite), axes, strict=True))
        return domains.hides_no_nan(self.graph, ranges_of(self), points)

    def turns(self, argument: str, **known: float) -> tuple[np.ndarray, ...]:
        """Return where the graph takes another branch, for each factor of an argument."""
        names = self.graph_names(argument)
        if self.graph is None:
            return (np.zeros(0),) * len(names)
        return tuple(branch_points(self.graph, name, **known) for name in names)

    def check(self, what: str, *at: Any) -> None:
        """Raise if the density is negative, NaN, infinite or not elementwise at a probe.

        Or at given points of every alphabet, each with each.
        """
        points = list(at)
        if not at:
            points = [probe(a, turns=self.turns(name)) for name, a in self.alphabets.items()]
        grids: list[Any] = []
        for axis, point in enumerate(points):
            parts = point if isinstance(point, tuple) else (point,)
            shape = [1] * len(points)
            shape[axis] = -1
            shaped = tuple(np.reshape(p, shape) for p in parts)
            grids.append(shaped if isinstance(point, tuple) else shaped[0])
        values = self.raw(*grids)
        bad = ~(values < np.inf) if self.log else ~((values >= 0) & (values < np.inf))
        if bad.any():
            where = np.argwhere(bad)[0]
            names = ", ".join(
                f"{name} = {_at(point, i)}"
                for name, point, i in zip(self.alphabets, points, where, strict=True)
            )
            raise InvalidInput(
                what,
                expected="a log-density below inf" if self.log else "a finite density >= 0",
                got=repr(float(values[tuple(where)])),
                where=names,
                mend="correct the function there, or shrink the alphabet.",
            )
        if self.graph is None:
            self._check_elementwise(what, points, values)

    def _check_elementwise(self, what: str, points: list, values: np.ndarray) -> None:
        """Compare one call on a grid with calls point by point (a few of them)."""
        rng = np.random.default_rng(0)
        for _ in range(8):
            place = tuple(int(rng.integers(n)) for n in values.shape)
            single = [
                tuple(np.asarray(p)[i : i + 1] for p in point)
                if isinstance(point, tuple)
                else np.asarray(point)[i : i + 1]
                for point, i in zip(points, place, strict=True)
            ]
            alone = float(self.raw(*single).ravel()[0])
            together = float(values[place])
            if not (alone == together or abs(alone - together) <= 1e-9 * abs(alone)):
                names = ", ".join(
                    f"{name} = {_at(point, i)}"
                    for name, point, i in zip(self.alphabets, points, place, strict=True)
                )
                raise InvalidInput(
                    what,
                    expected="an elementwise function (the value at a point depends on it alone)",
                    got=f"{together!r} within an array but {alone!r} alone",
                    where=names,
                    mend="no sums, sorts or normalisations over the arrays y and x.",
                )

    def _check_captured(self) -> None:
        for name, (array, digest) in self._captured.items():
            if _digest(array) != digest:
                raise InvalidInput(
                    "a density that could not be traced",
                    expected=f"the captured array {name!r} as it was in the constructor",
                    got="other contents",
                    mend="build the mechanism or measure again after changing the array, "
                    "or capture a copy.",
                )


def _names(name: str, alphabet: Alphabet) -> str | tuple[str, ...]:
    return name if alphabet.dim == 1 else tuple(f"{name}{i}" for i in range(alphabet.dim))


def ranges_of(density: Density) -> dict[str, Any]:
    """Return the least and the greatest value of every input of a density."""
    return {
        name: _range(factor)
        for argument, alphabet in density.alphabets.items()
        for name, factor in zip(density.graph_names(argument), alphabet.factors, strict=True)
    }


def _range(alphabet: Any) -> tuple[float, float]:
    """Return the least and the greatest point of an alphabet of numbers."""
    if alphabet.kind == "finite":
        return float(np.min(alphabet.array)), float(np.max(alphabet.array))
    line = getattr(alphabet, "interval", alphabet)  # the atoms lie in it
    low = -np.inf if line.lower is None else line.lower
    return float(low), float(np.inf if line.upper is None else line.upper)


def check_labels(name: str, alphabet: Alphabet) -> None:
    """Raise `InvalidInput` for integers that are no floats: a density would read another label."""
    for factor in alphabet.factors:
        labels: tuple = ()
        if isinstance(factor, Integers):
            ends = factor.lower, factor.upper
            labels = tuple(e for e in ends if e is not None and abs(e) > _WHOLE)
        elif isinstance(factor, Finite) and factor.numeric:
            whole = (a for a in factor.labels if abs(a) > _WHOLE and isinstance(a, int))
            labels = tuple(a for a in whole if a.bit_length() > 1023 or a != float(a))
        if labels:
            raise InvalidInput(
                "a density",
                expected=f"whole numbers {name} that are floats: up to 2**53",
                got=repr(labels[0]),
                mend="count from a smaller number, or give a matrix.",
            )


def _as_arrays(point: Any) -> Any:
    if isinstance(point, tuple):
        return tuple(_as_arrays(p) for p in point)
    return point if isinstance(point, Tracer) else np.asarray(point)


def _at(point: Any, index: int) -> str:
    if isinstance(point, tuple):
        return "(" + ", ".join(f"{np.asarray(p)[index]:.17g}" for p in point) + ")"
    return f"{np.asarray(point)[index]:.17g}"


def probe(alphabet: Alphabet, count: int = 24, turns: tuple[np.ndarray, ...] = ()) -> Any:
    """Return points at which a density is checked: inside, spread, not at special places.

    Between any two of its ``turns``, which are numbers for each factor, there is a point.
    """
    turns = turns or (np.zeros(0),) * alphabet.dim
    if alphabet.dim > 1:
        columns = [probe(a, count, (own,)) for a, own in zip(alphabet.factors, turns, strict=True)]
        length = max(len(c) for c in columns)
        return tuple(np.resize(np.roll(c, i), length) for i, c in enumerate(columns))
    if isinstance(alphabet, Finite):
        return alphabet.array[:count]
    if isinstance(alphabet, Integers):
        low = alphabet.lower if alphabet.lower is not None else (alphabet.upper or 0) - 60
        high = alphabet.upper if alphabet.upper is not None else low + 60
        near = (turns[0].round()[:, None] + np.array([-1.0, 0.0, 1.0])).ravel()
        spread = np.concatenate([np.linspace(low, high, count).round(), near])
        return np.unique(spread[alphabet.contains(spread)])
    if isinstance(alphabet, Mixed):
        return probe(alphabet.interval, count, turns)
    assert isinstance(alphabet, Interval)
    t = (np.arange(1, count + 1) * _GOLDEN) % 1.0
    low, high = alphabet.lower, alphabet.upper
    tail = t / (1 - t)
    if np.isfinite(low) and np.isfinite(high):
        spread = low + (high - low) * t
    elif np.isfinite(low):
        spread = low + tail
    elif np.isfinite(high):
        spread = high - tail
    else:
        spread = np.where(np.arange(count) % 2, tail, -tail)
    return np.sort(np.concatenate([spread, between(turns[0], low, high)]))


def _captured_arrays(function: Any) -> dict[str, tuple[np.ndarray, str]]:
    """Return the arrays that a function can see, with their digests."""
    found: dict[str, Any] = {}
    code = getattr(function, "__code__", None)
    if code is not None:
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:  # an empty cell
                continue
        for name in code.co_names:
            if name in function.__globals__:
                found[name] = function.__globals__[name]
        for i, value in enumerate(function.__defaults__ or ()):
            found[f"default {i}"] = value
        found.update(function.__kwdefaults__ or {})
    return {n: (a, _digest(a)) for n, a in found.items() if isinstance(a, np.ndarray)}


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
