"""SciPy's distributions as expression graphs, by name: a table, not a reading of SciPy's code.

A frozen distribution only holds its arguments, so that its parameters may be traced values: the
family of a mechanism is called once, with a traced x. What SciPy checks of the parameters becomes
``where(condition, value, nan)``: float64 gives NaN where it fails, and interval arithmetic gives
the whole line unless it holds for certain.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.errors import NotTraceable
from borel.numerics.graphs.concrete_tracer import Carrier, plain
from borel.numerics.graphs.constant_folding import folded
from borel.numerics.graphs.foreign_density import is_integral
from borel.numerics.graphs.scipy_densities import CONTINUOUS, DISCRETE, Law, number
from borel.numerics.graphs.trace import Tracer, lifted, trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.numerics.graphs.foreign_density import Names
    from borel.numerics.graphs.graph import Graph


def graph_of(distribution: Any, names: Names, whole: tuple[str, ...] = ()) -> Graph:
    """Return the graph of the log-density of a frozen SciPy distribution.

    Parameters
    ----------
    distribution : frozen distribution, or callable
        ``scipy.stats.beta(2, 5)``, or a function of x (a tuple, if its name is one) that returns
        one.
    names : tuple of str
        The name of the value; for a function, then that of x.
    whole : tuple of str
        The names that stand for integers only.

    Raises
    ------
    NotTraceable
        A distribution that is not in the table, or parameters that do more with x than
        arithmetic.

    Examples
    --------
    >>> from scipy import stats
    >>> graph = graph_of(lambda x: stats.laplace(x, 2.0), ("y", "x"))
    >>> sorted(graph.operations)
    ['absolute', 'divide', 'log', 'negative', 'subtract']
    """
    if isinstance(names[0], tuple):
        raise NotTraceable("a SciPy distribution on a product")
    if hasattr(distribution, "logpdf") or hasattr(distribution, "logpmf"):
        return folded(trace(lambda y: _log_density(distribution, y, whole), names, ()))
    try:
        return folded(trace(lambda y, x: _log_density(_made(distribution, x), y, whole), names, ()))
    except _NeedsNumbers:
        return _with_numbers(distribution, names, whole)


def least_value(family: Callable, names: Names) -> float | None:
    """Return the least value of a family of laws of integers, from there on to infinity.

    None where it may depend on x, or for another kind of law.

    Examples
    --------
    >>> from scipy import stats
    >>> least_value(lambda x: stats.geom(1 / (2 + x)), ("y", "x"))
    1.0
    """
    found: list[float] = []

    def look(y: Any, x: Any) -> Any:
        name, arguments = _arguments(_made(family, x))
        law, loc = DISCRETE.get(name), arguments.get("loc", 0.0)
        if law is not None and not callable(law.low) and not isinstance(loc, Tracer) and loc == 0:
            found.append(float(law.low))
        return y

    try:
        trace(look, names, ())
    except NotTraceable:
        return None
    return found[0] if found else None


class _NeedsNumbers(NotTraceable):
    """The family wants numbers for x: SciPy's new infrastructure looks at the parameters."""


def _made(family: Callable, x: Any) -> Any:
    try:
        return family(x)
    except NotTraceable as error:
        raise _NeedsNumbers(str(error)) from error


def _with_numbers(family: Callable, names: Names, whole: tuple[str, ...]) -> Graph:
    """Trace a family that looks at numbers: twice, so that a number it kept shows."""
    found = []
    for values in (np.array([0.25, 0.5, 0.75]), np.array([0.375, 0.625, 0.875])):

        def density(y: Any, x: Any, values: np.ndarray = values) -> Any:
            parts = x if isinstance(x, tuple) else (x,)
            carried = tuple(Carrier(p, values) for p in parts)
            with np.errstate(all="ignore"):
                distribution = family(carried if isinstance(x, tuple) else carried[0])
            return _log_density(distribution, y, whole)

        found.append(folded(trace(density, names, ())))
    if found[0].to_json() != found[1].to_json():
        raise NotTraceable("a parameter that keeps a number of x")
    return found[0]


def law_of(distribution: Any) -> tuple[str, dict[str, Fraction]] | None:
    """Return the family that a distribution is exactly, and its numbers.

    The family is one of `borel.probability.families`.

    None if it is another distribution, or if a parameter is not one number.
    """
    try:
        name, arguments = _arguments(distribution)
        given = {k: Fraction(_one(v)) for k, v in arguments.items()}
    except (NotTraceable, TypeError, ValueError, OverflowError):
        return None
    loc, scale = given.pop("loc", Fraction(0)), given.pop("scale", Fraction(1))
    if scale <= 0 or name not in _LAWS:
        return None
    family, of = _LAWS[name]
    parameters = of(loc, scale, *given.values())
    return None if parameters is None else (family, parameters)


def _at_0(of: Callable[..., dict[str, Fraction] | None]) -> Callable[..., Any]:
    return lambda loc, scale, *shapes: None if loc else of(scale, *shapes)


_LAWS: dict[str, tuple[str, Callable[..., dict[str, Fraction] | None]]] = {
    "norm": ("normal", lambda loc, scale: {"mu": loc, "sigma": scale}),
    "laplace": ("laplace", lambda loc, scale: {"mu": loc, "b": scale}),
    "cauchy": ("cauchy", lambda loc, scale: {"alpha": loc, "beta": scale}),
    "uniform": ("uniform", lambda loc, scale: {"lower": loc, "upper": loc + scale}),
    "Uniform": ("uniform", lambda loc, scale, a, b: {"lower": a, "upper": b}),
    "beta": ("beta", _at_0(lambda s, a, b: {"alpha": a, "beta": b} if s == 1 else None)),
    "gamma": ("gamma", _at_0(lambda scale, a: {"alpha": a, "beta": 1 / scale})),
    "expon": ("exponential", _at_0(lambda scale: {"lam": 1 / scale})),
    "poisson": ("poisson", _at_0(lambda scale, mu: {"mu": mu})),
    "geom": ("geometric", _at_0(lambda scale, p: {"p": p})),
}
"""For a name: our family, and its parameters from loc, scale and the shapes, if it is one."""


# -- reading a frozen distribution ---------------------------------------------------------------


def _arguments(distribution: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of a distribution, and its arguments: the shapes in order, loc, scale."""
    from scipy import stats

    generator = getattr(distribution, "dist", None)
    if generator is None or not hasattr(distribution, "kwds"):
        return _new_arguments(distribution)
    name = str(generator.name)
    known: Any = getattr(stats, name, None)
    if (
        name not in _TABLE
        or name[0].isupper()
        or type(generator) is not type(known)  # another one of that name
        or (generator.a, generator.b) != (known.a, known.b)
    ):
        raise NotTraceable(f"SciPy's {name} has no graph in this version")
    shapes = [s.strip() for s in (generator.shapes or "").split(",") if s.strip()]
    order = [*shapes, "loc", *(["scale"] if name in CONTINUOUS else [])]
    given = {"loc": 0.0, "scale": 1.0}
    given |= dict(zip(order, distribution.args, strict=False)) | distribution.kwds
    return name, {key: given[key] for key in order}


def _new_arguments(distribution: Any) -> tuple[str, dict[str, Any]]:
    """Return the same of a distribution of SciPy's new infrastructure."""
    name = type(distribution).__name__
    given = getattr(distribution, "_original_parameters", None)
    module = type(distribution).__module__
    if module != "scipy.stats._new_distributions" or name not in _NEW or given is None:
        raise NotTraceable(f"SciPy's {name} has no graph in this version")
    return _NEW[name](given)


_NEW: dict[str, Callable[[dict], tuple[str, dict[str, Any]]]] = {
    "StandardNormal": lambda given: ("norm", {"loc": 0.0, "scale": 1.0}),
    "Normal": lambda given: ("norm", {"loc": given["mu"], "scale": given["sigma"]}),
    "Logistic": lambda given: ("logistic", {"loc": 0.0, "scale": 1.0}),
    "Uniform": lambda given: ("Uniform", {"a": given["a"], "b": given["b"]}),
    "Binomial": lambda given: ("Binomial", {"n": given["n"], "p": given["p"], "loc": 0.0}),
}
"""The new infrastructure by class: a name of the table and the arguments."""

_TABLE: dict[str, Law] = {
    **CONTINUOUS,
    **DISCRETE,
    "Uniform": Law(
        lambda z, scale, a, b: -np.log(b - a),
        lambda a, b: a,
        lambda a, b: b,
        lambda a, b: (a < b,),
    ),
    "Binomial": replace(DISCRETE["binom"], valid=lambda n, p: (n > 0, p > 0, p < 1)),
}


def _one(value: Any) -> float:
    """Return a parameter as a float, or raise if it is not one number that float64 holds."""
    found = float(np.asarray(value))
    if found != value and not math.isnan(found):
        raise NotTraceable(f"a parameter that float64 does not hold: {value!r}")
    return found


# -- recording -----------------------------------------------------------------------------------


def _log_density(distribution: Any, y: Tracer, whole: tuple[str, ...]) -> Any:
    """Record the log-density of a distribution at y."""
    name, arguments = _arguments(distribution)
    law, nodes = _TABLE[name], y._graph.nodes
    given = {key: _lifted(value, y, name) for key, value in arguments.items()}
    loc, scale = given.pop("loc", None), given.pop("scale", None)
    shapes = list(given.values())
    low, high = (end(*shapes) if callable(end) else end for end in (law.low, law.high))
    conditions = list(law.valid(*shapes))
    if name in DISCRETE or name == "Binomial":
        place = y if loc is None else y - loc
        value = law.log(place, *shapes)
        inside = [] if is_integral(nodes, place._index, whole) else [np.floor(place) == place]
        checked = [shapes[i] for i in law.integers]
        conditions += [np.floor(a) == a for a in checked if not is_integral(nodes, a._index, whole)]
    elif scale is not None:
        place, inside = y, []
        value = law.log((y - loc) / scale, scale, *shapes)
        conditions.insert(0, scale > 0)
        # y against the ends, moved: dividing by the scale would round at the very end
        low, high = (_moved(end, loc, scale) for end in (low, high))
    else:
        place, inside, value = y, [], law.log(y, None, *shapes)
    if _is_finite(low):
        inside.append(place > low if law.open else place >= low)
    if _is_finite(high):
        inside.append(place <= high)
    if inside:
        value = np.where(_all(inside), value, -math.inf)
    return np.where(_all(conditions), value, math.nan) if conditions else value


def _lifted(value: Any, y: Tracer, name: str) -> Tracer:
    if not isinstance(value, Tracer) and np.ndim(value) == 0:
        value = _one(value)
    return lifted(y._graph, plain(value), f"a parameter of SciPy's {name}")


def _moved(end: Any, loc: Any, scale: Any) -> Any:
    if not _is_finite(end):
        return end
    return loc if isinstance(end, (int, float)) and end == 0 else loc + end * scale


def _is_finite(end: Any) -> bool:
    known = number(end) if isinstance(end, Tracer) else end
    return known is None or math.isfinite(known)


def _all(conditions: list) -> Any:
    return functools.reduce(np.logical_and, conditions)
