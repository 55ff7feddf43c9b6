"""Plain data: what the notes of a Bound become in a file, and come back from.

JSON knows numbers, strings, lists and dicts with string keys. What else a note may hold (Fractions,
tuples, infinities, arrays, alphabets, measures) is a dict with one key, its tag.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from borel.alphabets import Alphabet, Finite, Integers, Interval, Mixed, Product
from borel.density import Density
from borel.engine.graphs.trace import Graph
from borel.errors import InvalidInput
from borel.measures import Measure


def to_plain(value: Any) -> Any:
    """Return JSON data for a note of a Bound.

    Parameters
    ----------
    value : Any
        None, bools, numbers, Fractions, strings, arrays, and lists, tuples and dicts of such. A
        `Measure` is kept by its alphabet and its probabilities (Fractions as they are) or the graph
        of its density. What a file cannot hold of a measure is left out: its tail, its envelope
        and its family's closed forms. One whose density could not be traced, that is a batch, or
        whose labels are no plain data, becomes its repr, a string.

    Raises
    ------
    InvalidInput
        Anything else.
    """
    if isinstance(value, np.ndarray):
        return {"__array__": [to_plain(v) for v in value.tolist()]}
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"__float__": repr(value)}
    if isinstance(value, Fraction):
        return {"__fraction__": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, tuple):
        return {"__tuple__": [to_plain(v) for v in value]}
    if isinstance(value, list):
        return [to_plain(v) for v in value]
    if isinstance(value, dict):
        return {"__dict__": [[to_plain(k), to_plain(v)] for k, v in value.items()]}
    if isinstance(value, Measure):
        return _measure_to_plain(value)
    raise InvalidInput(
        "saving a Bound",
        expected="notes that are plain data",
        got=f"{type(value).__name__} {value!r:.80}",
    )


def from_plain(data: Any) -> Any:
    """Return what `to_plain` was given."""
    if isinstance(data, list):
        return [from_plain(v) for v in data]
    if not isinstance(data, dict):
        return data
    ((tag, inner),) = data.items()
    if tag == "__float__":
        return float(inner)
    if tag == "__fraction__":
        return Fraction(inner)
    if tag == "__tuple__":
        return tuple(from_plain(v) for v in inner)
    if tag == "__array__":
        return np.array(from_plain(inner))
    if tag == "__measure__":
        return _measure_from_plain(inner)
    return {from_plain(k): from_plain(v) for k, v in inner}


# -- measures -------------------------------------------------------------------------------


def _measure_to_plain(measure: Measure) -> Any:
    notes: dict[str, Any] = {"name": measure.name, "unproved": measure.unproved}
    density = measure.density
    try:
        if measure.batch:
            return repr(measure)
        on = _alphabet_to_plain(measure.on)
        if measure._probabilities is not None:
            values = measure.probabilities.tolist()
            notes["probabilities"] = [to_plain(v) for v in values]
            notes["rounding"] = measure.rounding
        elif density is not None and density.graph is not None:
            notes["graph"], notes["log"] = density.graph.to_json(), density.log
            notes["masses"] = [[to_plain(a), to_plain(m)] for a, m in measure.masses.items()]
            notes["breaks"] = list(measure.breaks)
        else:
            return repr(measure)
    except InvalidInput:  # a label that is no plain data
        return repr(measure)
    return {"__measure__": {"on": on, **notes}}


def _measure_from_plain(data: dict[str, Any]) -> Measure:
    on = _alphabet_from_plain(data["on"])
    about: dict[str, Any] = {"name": data["name"], "unproved": data["unproved"], "_check": False}
    if "graph" not in data:
        values = [from_plain(v) for v in data["probabilities"]]
        rational = any(isinstance(v, Fraction) for v in values)
        table = np.array(values, dtype=object if rational else float)
        return Measure(table, on, rounding=data["rounding"], **about)
    graph = Graph.from_json(data["graph"])
    density = Density(None, {"x": on}, log=data["log"], graph=graph)
    masses = {from_plain(a): from_plain(m) for a, m in data["masses"]}
    found = Measure(density.raw, on, breaks=data["breaks"], masses=masses or None, **about)
    found.density = density  # as it was: tracing it again may order its nodes in another way
    return found


def _alphabet_to_plain(on: Alphabet) -> dict[str, Any]:
    if isinstance(on, Product):
        return {"product": [_alphabet_to_plain(a) for a in on.factors]}
    if isinstance(on, Mixed):
        return {"mixed": _alphabet_to_plain(on.interval), "atoms": list(on.atoms)}
    if isinstance(on, Interval):
        return {"interval": [to_plain(on.lower), to_plain(on.upper)]}
    if isinstance(on, Integers):
        return {"integers": [on.lower, on.upper]}
    if isinstance(on, Finite):
        return {"labels": [to_plain(a) for a in on.labels]}
    raise InvalidInput("saving a measure", expected="an alphabet of borel", got=repr(on))


def _alphabet_from_plain(data: dict[str, Any]) -> Alphabet:
    if "product" in data:
        return Product(tuple(_alphabet_from_plain(a) for a in data["product"]))
    if "mixed" in data:
        interval = _alphabet_from_plain(data["mixed"])
        return Mixed(interval, atoms=tuple(data["atoms"]))  # type: ignore[arg-type]
    if "interval" in data:
        return Interval(*map(from_plain, data["interval"]))
    if "integers" in data:
        return Integers(*data["integers"])
    return Finite([from_plain(a) for a in data["labels"]])
