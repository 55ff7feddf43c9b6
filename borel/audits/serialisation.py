"""Plain data: what the notes of a Bound become in a file, and come back from.

JSON knows numbers, strings, lists and dicts with string keys. What else a note may hold (Fractions,
tuples, infinities, arrays, alphabets, measures) is a dict with one key, its tag.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import sys
import uuid
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from borel.errors import InvalidInput
from borel.numerics.graphs.graph import Graph
from borel.probability.alphabets import Alphabet, Finite, Integers, Interval, Mixed, Product
from borel.probability.density import Density
from borel.probability.measure import Measure


def to_plain(value: Any) -> Any:
    """Return JSON data for a note of a Bound.

    Parameters
    ----------
    value : Any
        None, bools, numbers, Fractions, strings, arrays, and lists, tuples and dicts of such. A
        `Measure` is kept by its alphabet and its probabilities (Fractions as they are) or the graph
        of its density. What a file cannot hold of a measure is left out: its tail, its envelope
        and its family's closed forms. One whose density could not be traced, that is a batch, or
        whose labels are no plain data, becomes its repr, a string. What labels may be beside these,
        bytes, Decimals, complex numbers, dates and times, those of pandas and its Intervals among
        them, frozensets, comes back as it was. Members of an Enum do where the module that defines
        it is imported already, for reading imports nothing; elsewhere they come back as their
        text, and a warning says so. Dataclasses, which only their own program can make again, come
        back as their text.

    Raises
    ------
    InvalidInput
        Anything else.
    """
    if isinstance(value, np.ndarray):
        return {"__array__": [to_plain(v) for v in value.tolist()]}
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, enum.Enum):  # before the numbers and strings that it may be too
        return _member_to_plain(value)
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
    if (found := _label_to_plain(value)) is not None:
        return found
    raise InvalidInput(
        "saving a Bound",
        expected="notes that are plain data",
        got=f"{type(value).__name__} {value!r:.80}",
        mend="take text or numbers as labels, str(label).",
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
    if tag == "__frozenset__":
        return frozenset(from_plain(v) for v in inner)
    if tag == "__enum__":
        return _member_from_plain(*inner)
    if tag == "__text__":
        return inner
    if tag in _LABELS:
        return _LABELS[tag][2](inner)
    if tag.startswith("__pandas"):
        return _pandas_from_plain(tag, inner)
    return {from_plain(k): from_plain(v) for k, v in inner}


# -- labels ---------------------------------------------------------------------------------

_LABELS: dict[str, tuple[type, Any, Any]] = {
    "__bytes__": (bytes, bytes.hex, bytes.fromhex),
    "__decimal__": (Decimal, str, Decimal),
    "__complex__": (complex, repr, complex),
    "__datetime__": (
        datetime.datetime,
        datetime.datetime.isoformat,
        datetime.datetime.fromisoformat,
    ),
    "__date__": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "__time__": (datetime.time, datetime.time.isoformat, datetime.time.fromisoformat),
    "__timedelta__": (
        datetime.timedelta,
        lambda t: [t.days, t.seconds, t.microseconds],
        lambda parts: datetime.timedelta(*parts),
    ),
    "__uuid__": (uuid.UUID, str, uuid.UUID),
}
"""Labels by tag: the type, the way to plain data, and back; a datetime, a date too, comes first."""


def _label_to_plain(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] == "pandas":
        return _pandas_to_plain(value)
    for tag, (kind, to, _) in _LABELS.items():
        if isinstance(value, kind):
            return {tag: to(value)}
    if isinstance(value, frozenset):
        return {"__frozenset__": [to_plain(v) for v in sorted(value, key=repr)]}
    if dataclasses.is_dataclass(value):
        return {"__text__": repr(value)}
    return None


def holds_text(plain: Any) -> bool:
    """Return whether some part of what `to_plain` returned comes back as its text."""
    if isinstance(plain, list):
        return any(holds_text(part) for part in plain)
    return isinstance(plain, dict) and ("__text__" in plain or holds_text(list(plain.values())))


def _member_to_plain(member: enum.Enum) -> dict[str, Any]:
    """Return a member of an Enum by the name of its class and its own; a Flag by its bits."""
    kind = type(member)
    key = member.value if isinstance(member, enum.Flag) else member.name
    return {"__enum__": [kind.__module__, kind.__qualname__, key]}


def _member_from_plain(module: str, qualname: str, key: Any) -> Any:
    """Return a member of an Enum that this program has imported, or else its text."""
    kind: Any = sys.modules.get(module)
    for part in qualname.split("."):
        kind = getattr(kind, "__dict__", {}).get(part)  # getattr may import
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        try:
            return kind(key) if issubclass(kind, enum.Flag) else kind[key]
        except (KeyError, ValueError):  # a member that is there no more
            pass
    warnings.warn(
        f"members of the Enum {module}.{qualname} come back as their text: "
        f"import {module} before the file is read to get them as they were",
        stacklevel=2,
    )
    return f"{module}.{qualname}.{key}"


def _pandas_to_plain(value: Any) -> Any:
    import pandas as pd

    if isinstance(value, pd.Interval):
        ends = [to_plain(value.left), to_plain(value.right)]
        return {"__pandas_interval__": [*ends, value.closed]}
    if isinstance(value, pd.Timestamp):
        zone = getattr(value.tz, "key", None) or getattr(value.tz, "zone", None)
        return {"__pandas_timestamp__": [value.isoformat(), zone]}
    if isinstance(value, pd.Timedelta):
        return {"__pandas_timedelta__": value.isoformat()}
    if isinstance(value, pd.Period):
        return {"__pandas_period__": [str(value), value.freqstr]}
    return None


def _pandas_from_plain(tag: str, inner: Any) -> Any:
    import pandas as pd

    if tag == "__pandas_interval__":
        left, right, closed = inner
        return pd.Interval(from_plain(left), from_plain(right), closed=closed)
    if tag == "__pandas_timestamp__":
        at = pd.Timestamp(inner[0])
        return at if inner[1] is None else at.tz_convert(inner[1])
    if tag == "__pandas_timedelta__":
        return pd.Timedelta(inner)
    return pd.Period(inner[0], freq=inner[1])


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
        labels = [to_plain(a) for a in on.labels]
        if not holds_text(labels):
            return {"labels": labels}
    raise InvalidInput("saving a measure", expected="labels that are plain data", got=repr(on))


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
