"""Alphabets: standard Borel spaces, each with its base measure (counting, Lebesgue, or both)."""

from __future__ import annotations

import copy
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import product as cartesian
from typing import Any

import numpy as np

from borel.constants import real
from borel.errors import InvalidInput, NotYet, OutsideAlphabet
from borel.probability.wrong_calls import explained


class Alphabet:
    """Base class: what a secret or an outcome may be.

    Attributes
    ----------
    kind : str
        ``"finite"``, ``"countable"``, ``"continuous"`` or ``"mixed"``: what the base measure is.
    factors : tuple of Alphabet
        The factors of a product; a single alphabet is its own only factor.
    columns : tuple of str
        The names of the factors, where they are columns of a table: a note, as names are.
    """

    __array_ufunc__ = None
    kind: str = ""
    columns: tuple[str, ...] = ()
    # of finite alphabets only
    labels: tuple
    size: int
    array: np.ndarray

    def positions(self, points: Any, name: str = "y") -> np.ndarray:
        """Return the positions of labels, for a finite alphabet."""
        raise NotYet("positions", missing=f"labels of an alphabet that is not finite: {self!r}")

    @property
    def factors(self) -> tuple[Alphabet, ...]:
        """The factors; a product has several."""
        return (self,)

    @property
    def dim(self) -> int:
        """Number of factors: a point of a product is a tuple of that many."""
        return len(self.factors)

    def named(self, columns: tuple[str, ...]) -> Alphabet:
        """Return the same alphabet with names of its factors."""
        out = copy.copy(self)
        object.__setattr__(out, "columns", columns)
        return out

    @property
    def numeric(self) -> bool:
        """Whether its points are numbers, so that a density can be evaluated on them."""
        return True

    def contains(self, point: Any) -> np.ndarray:
        """Return which of an array of points lie in the alphabet."""
        raise NotImplementedError

    def check(self, point: Any, name: str = "y") -> None:
        """Raise `OutsideAlphabet` unless every point lies in the alphabet."""
        inside = np.asarray(self.contains(point))
        if not inside.all():
            values = np.asarray(point[0] if isinstance(point, tuple) else point, dtype=object)
            shape = np.broadcast_shapes(values.shape, inside.shape)
            bad = np.broadcast_to(values, shape)[~np.broadcast_to(inside, shape)]
            if isinstance(point, tuple):
                bad = [point]
            raise OutsideAlphabet(
                f"{name}", expected=f"a point of {self!r}", got=f"{bad[0]!r}", mend=self._hint()
            )

    def _hint(self) -> str:
        return "pass labels of the alphabet, never positions."

    def __mul__(self, other: Any) -> Alphabet:
        """Return the product alphabet; products flatten."""
        if not isinstance(other, Alphabet):
            return NotImplemented
        return Product((*self.factors, *other.factors))

    def __pow__(self, n: int) -> Alphabet:
        """Return the n-fold product with itself."""
        if not (isinstance(n, (int, np.integer)) and n >= 1):
            raise InvalidInput("A ** n", expected="an integer n >= 1", got=repr(n))
        return self if n == 1 else Product(self.factors * int(n))

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code> <i>({self.kind})</i>"


def as_number(value: Any, what: str, name: str) -> float:
    """Return one real number as a float, or say what came instead."""
    try:
        if np.ndim(value) or isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(what, expected=f"{name}=<a number>", got=repr(value)) from None


def _reals(points: Any) -> np.ndarray | None:
    """Return points as floats; None if they are not real numbers."""
    try:
        array = np.asarray(points)
        if array.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in array.ravel()):
            return None
        return array.astype(float) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        return None


_LISTED = 10**8


def require_listable(count: int, what: str) -> None:
    """Raise for more labels than can be listed one by one."""
    if count > _LISTED:
        raise InvalidInput(
            what,
            expected="at most 10**8 labels",
            got=str(count) if count < 10**15 else f"about 2**{count.bit_length() - 1}",
            mend="join labels, or take bl.Integers(0, None): figures look at a head of it.",
        )


def exact_array(values: Any) -> np.ndarray:
    """Return values as an array that holds each of them: of one NumPy type, or of objects.

    NumPy alone takes 2**53 + 1 beside 0.5 for 2.0**53, and 1 beside "1" for "1".

    Examples
    --------
    >>> exact_array([0.5, 2]), exact_array([0.5, 2**53 + 1])
    (array([0.5, 2. ]), array([0.5, 9007199254740993], dtype=object))
    """
    values = _as_given(values)
    if isinstance(values, (np.ndarray, str, bytes)) or not hasattr(values, "__iter__"):
        return np.asarray(values)
    given = list(values)
    try:
        array = np.asarray(given)
        times = array.dtype.kind in "mM"  # as lists they may be numbers
        same = all(isinstance(v, np.generic) for v in given) if times else array.tolist() == given
        if same:
            return array
    except ValueError:  # of different lengths, or arrays themselves
        pass
    array = np.empty(len(given), dtype=object)
    array[:] = given
    return array


def _as_given(values: Any) -> Any:
    """Return what a DataArray, or a Series or Index of pandas, holds; a Timestamp is one label."""
    many = hasattr(values, "to_numpy") and hasattr(values, "__iter__")
    return values.to_numpy() if many else values


def in_order(what: str, values: Any) -> Any:
    """Return labels as they came; raise if they came in a set, which has no order."""
    if isinstance(values, (set, frozenset)):
        raise InvalidInput(
            what,
            expected="labels in an order",
            got=repr(values),
            mend="a set has none: list them in the order that is meant, "
            f"such as {sorted(values, key=repr)!r}.",
        )
    return values


def _plain(label: Any) -> Any:
    """Return a NumPy scalar as the Python object it stands for; a time, to the nanosecond."""
    if isinstance(label, (np.datetime64, np.timedelta64)):
        if np.isnat(label):  # whose item is None, a label like any other
            return label
        if np.datetime_data(label.dtype)[0] == "ns":  # whose item is a number
            import pandas as pd

            return pd.Timestamp(label) if isinstance(label, np.datetime64) else pd.Timedelta(label)
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, np.generic):  # a longdouble, of which no Python float holds all
        return real("a label", plain, "a number that equals itself")
    return plain


def in_words(value: Any) -> str:
    r"""Return a label as text that a file and a plot can hold: no NUL, no half of a character.

    Examples
    --------
    >>> in_words("a\0b"), in_words(1.5)
    ('a\\x00b', '1.5')
    """
    return re.sub("[\0\ud800-\udfff]", lambda found: ascii(found[0])[1:-1], str(value))


def is_missing(label: Any) -> bool:
    """Return whether a label is NaN, or another mark of what is missing, but for None; or has one.

    These do not equal themselves: False, or, of pandas.NA, neither True nor False.
    """
    if isinstance(label, tuple):  # which finds its parts equal if they are the same object
        return any(is_missing(part) for part in label)
    try:
        return not label == label
    except (TypeError, ValueError):
        return True


@explained(too_many="Finite(['no', 'yes']).")
class Finite(Alphabet):
    """A finite alphabet of labels, with counting measure.

    Parameters
    ----------
    labels : int or sequence
        The labels; an int n means 0, ..., n - 1.

    Raises
    ------
    InvalidInput
        No label, a repeated label, a label that is NaN or unhashable, or a count that is not
        positive.

    Examples
    --------
    >>> Finite(["no", "yes"])
    Finite(['no', 'yes'])
    >>> Finite(3).labels
    (0, 1, 2)
    """

    kind = "finite"
    given = True
    """Whether somebody gave the labels; else a mechanism of more labels is no match for them."""
    _counted = False
    """Whether they are 0, ..., n - 1: each is its own position."""

    @classmethod
    def numbered(cls, count: int) -> Finite:
        """Return 0, ..., n - 1 for n things that nobody labelled."""
        made = cls(count)
        made.given = False
        return made

    def __init__(self, labels: Any):
        labels = _as_given(labels)
        if isinstance(labels, (int, np.integer)) and not isinstance(labels, bool):
            if labels < 1:
                raise InvalidInput("Finite", expected="at least one label", got=repr(labels))
            labels = range(int(labels))
        if isinstance(labels, range):
            require_listable(-((labels.start - labels.stop) // labels.step), "Finite")
            if labels:  # numbers, each another one: nothing to look at one by one
                self.labels, self.numeric = tuple(labels), True
                self._counted = labels == range(len(labels))
                return
        if (
            isinstance(labels, (str, bytes))
            or not hasattr(labels, "__iter__")
            or getattr(labels, "ndim", 1) != 1
        ):
            raise InvalidInput(
                "Finite", expected="a sequence of labels or a count", got=repr(labels)
            )
        given: Any = in_order("Finite", labels)
        self.labels: tuple = tuple(
            tuple(_plain(part) for part in label) if isinstance(label, tuple) else _plain(label)
            for label in given
        )
        if not self.labels:
            raise InvalidInput("Finite", expected="at least one label", got="none")
        for label in self.labels:
            try:
                hash(label)
            except TypeError:
                raise InvalidInput(
                    "Finite",
                    expected="labels that can be looked up (numbers, strings, tuples)",
                    got=repr(label),
                ) from None
            if is_missing(label):
                raise InvalidInput(
                    "Finite",
                    expected="labels that equal themselves",
                    got="NaN" if isinstance(label, float) else repr(label),
                    mend="drop what is missing, or name it: answers.fillna('missing').",
                )
        if len(self._position) < len(self.labels):
            seen = [a for a in self._position if self.labels.count(a) > 1]
            raise InvalidInput("Finite", expected="distinct labels", got=f"{seen[0]!r} twice")

    @property
    def size(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @cached_property
    def _position(self) -> dict:
        return {label: i for i, label in enumerate(self.labels)}

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self.array, kind="stable")

    @cached_property
    def numeric(self) -> bool:  # type: ignore[override]
        """Whether every label is a number."""
        return all(isinstance(a, (int, float)) and not isinstance(a, bool) for a in self.labels)

    @cached_property
    def array(self) -> np.ndarray:
        """The labels as an array; do not write to it.

        Of numbers if they are numeric and one NumPy type holds them all, else of objects.
        """
        if self.numeric:
            return exact_array(self.labels)
        out = np.empty(self.size, dtype=object)
        out[:] = self.labels
        return out

    def positions(self, points: Any, name: str = "y") -> np.ndarray:
        """Return the positions of labels, one label or an array of them."""
        points = _as_given(points)
        many = isinstance(points, np.ndarray)
        if not many and self._has(points):  # one label: a tuple or a frozenset may be one
            return np.array(self._position[_plain(points)])
        in_order(name, points)
        kind = points.dtype.kind if many else ""
        if kind in ("i", "u") and points.size and self._counted:
            found = points.astype(np.int64)
            if found.view(np.uint64).max() < self.size:  # one below 0 would be larger
                return found
        # numbers of one kind compare exactly; NumPy compares 2**53 + 1 with floats as 2.0**53
        if kind in ("i", "u", "f") and self.numeric and kind == self.array.dtype.kind:
            if kind == "f" and points.dtype != self.array.dtype:
                self._refuse_shared(points, name)
            order = self._order
            place = np.searchsorted(self.array, points, sorter=order).clip(0, self.size - 1)
            found = order[place]
            if (self.array[found] == points).all():
                return found
        if kind == "f":
            self._refuse_shared(points, name)
        flat = _labels_of(points)
        try:
            found = [self._position[_plain(label)] for label in flat]
        except (KeyError, TypeError):
            bad = next(a for a in flat if not self._has(a))
            raise OutsideAlphabet(
                name, expected=f"a label of {self!r}", got=repr(_plain(bad)), mend=self._hint()
            ) from None
        return np.array(found, dtype=int).reshape(exact_array(points).shape)

    def _refuse_shared(self, points: np.ndarray, name: str) -> None:
        """Raise for floats to which several labels round, as 2**53 and 2**53 + 1 do."""
        if points.dtype not in self._shared:
            with np.errstate(over="ignore"):
                rounded = [_rounded(label, points.dtype) for label in self.labels]
            seen = Counter(r for r in rounded if r is not None)
            self._shared[points.dtype] = [float(r) for r, times in seen.items() if times > 1]
        if (several := np.isin(points, self._shared[points.dtype])).any():
            raise OutsideAlphabet(
                name,
                expected=f"numbers that tell the labels of {self!r} apart",
                got=f"{points[several][0]!r}, which stands for several of them",
                mend="pass a list of labels, or an array of dtype=object.",
            )

    @cached_property
    def _shared(self) -> dict[np.dtype, list[float]]:
        return {}

    def _has(self, label: Any) -> bool:
        try:
            return _plain(label) in self._position
        except TypeError:
            return False

    def contains(self, point: Any) -> np.ndarray:
        """Return which of some labels belong to the alphabet."""
        if self._has(point):
            return np.array(True)
        return np.array([self._has(a) for a in _labels_of(in_order("contains", point))])

    def check(self, point: Any, name: str = "y") -> None:
        """Raise `OutsideAlphabet` unless every point is a label."""
        self.positions(point, name)

    def __repr__(self) -> str:
        """Show the labels, the first few of many."""
        if self.labels == tuple(range(self.size)) and bool not in map(type, self.labels):
            return f"Finite({self.size})"
        if self.size > 8:
            head = ", ".join(repr(a) for a in self.labels[:4])
            return f"Finite([{head}, ... {self.size} labels])"
        return f"Finite({list(self.labels)!r})"

    def __eq__(self, other: object) -> bool:
        """Compare labels, order included."""
        if not isinstance(other, Finite):
            return False
        if self._counted and other._counted:  # thousands of labels are not compared one by one
            return self.size == other.size
        return self.labels == other.labels

    def __hash__(self) -> int:
        """Hash the labels."""
        return hash(self.labels)


def _rounded(label: Any, dtype: np.dtype) -> Any:
    """Return a number as a float type holds it; None for what is no number, or too large."""
    if isinstance(label, bool) or not isinstance(label, (int, float)):
        return None
    try:
        return dtype.type(label)
    except OverflowError:
        return None


def _labels_of(points: Any) -> list:
    if isinstance(points, (str, bytes, tuple)) or not hasattr(points, "__iter__"):
        return [points]
    if isinstance(points, np.ndarray) and points.ndim == 0:
        return [points[()]]
    return list(points.ravel()) if isinstance(points, np.ndarray) else list(_as_given(points))


@explained
@dataclass(frozen=True)
class Integers(Alphabet):
    """The integers from ``lower`` to ``upper`` (None is unbounded), with counting measure.

    Examples
    --------
    >>> Integers(0, None)
    Integers(0, None)
    """

    lower: int | None = None
    upper: int | None = None

    def __post_init__(self):
        for name in ("lower", "upper"):
            end = getattr(self, name)
            whole = end is None or isinstance(end, (int, np.integer))
            if not whole and not as_number(end, "Integers", name).is_integer():
                raise InvalidInput("Integers", expected=f"an integer {name} or None", got=repr(end))
            object.__setattr__(self, name, None if end is None else int(end))
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise InvalidInput(
                "Integers", expected="lower <= upper", got=f"({self.lower}, {self.upper})"
            )

    @property
    def kind(self) -> str:  # type: ignore[override]
        """``"countable"``, or ``"finite"`` when both ends are given."""
        return "countable" if self.lower is None or self.upper is None else "finite"

    @property
    def size(self) -> int:
        """Number of points, when both ends are given."""
        if self.lower is None or self.upper is None:
            raise InvalidInput("Integers.size", expected="two finite ends", got=repr(self))
        return self.upper - self.lower + 1

    @property
    def labels(self) -> tuple[int, ...]:
        """The points, when both ends are given."""
        require_listable(self.size, "Integers.labels")
        return tuple(range(self.lower, self.lower + self.size))  # type: ignore[operator]

    @property
    def array(self) -> np.ndarray:
        """The points as an array, when both ends are given."""
        require_listable(self.size, "Integers.array")
        return np.arange(self.lower, self.lower + self.size)  # type: ignore[operator]

    def positions(self, points: Any, name: str = "y") -> np.ndarray:
        """Return the positions of points, when both ends are given."""
        self.check(points, name)
        values = exact_array(points)
        if self._beyond_floats:  # int64 may not hold them either
            found = [int(v) - self.lower for v in values.ravel().tolist()]  # type: ignore[operator]
            return np.array(found, int).reshape(values.shape)
        return values.astype(int) - self.lower

    def check(self, point: Any, name: str = "y") -> None:
        """Raise unless every point is an integer within the ends, and one that densities read."""
        super().check(point, name)
        given = exact_array(point)
        if self.kind == "finite" or given.dtype.kind not in "iuO":
            return
        # as a float it would be its neighbour
        large = given[(given > 2**53) | (given < -(2**53))]
        if any(isinstance(v, int) and int(float(v)) != v for v in large.ravel().tolist()):
            raise InvalidInput(
                name, expected="an integer that is a float: up to 2**53", got=repr(point)
            )

    def contains(self, point: Any) -> np.ndarray:
        """Return which of some numbers are integers within the ends."""
        values = exact_array(point)
        if values.dtype.kind not in "biuf" or self._beyond_floats:
            found = [self._holds(v) for v in values.ravel().tolist()]
            return np.array(found, bool).reshape(values.shape)
        inside = np.isfinite(values) & (values == np.floor(values))
        if self.lower is not None:
            inside &= values >= self.lower
        if self.upper is not None:
            inside &= values <= self.upper
        return inside

    @property
    def _beyond_floats(self) -> bool:
        """Whether an end is so large that a float may stand for several integers."""
        return any(end is not None and abs(end) > 2**53 for end in (self.lower, self.upper))

    def _holds(self, value: Any) -> bool:
        """Return whether one value, of any type, is an integer within the ends."""
        try:
            whole = int(value)
            if whole != value:
                return False
        except (TypeError, ValueError, OverflowError):
            return False
        above = self.lower is None or whole >= self.lower
        return above and (self.upper is None or whole <= self.upper)

    def __repr__(self) -> str:
        """Show the ends."""
        return f"Integers({self.lower}, {self.upper})"


@explained
@dataclass(frozen=True)
class Interval(Alphabet):
    """An interval with Lebesgue measure; its endpoints are null sets. None is unbounded.

    Examples
    --------
    >>> Interval(0, 1)
    Interval(0, 1)
    >>> Interval(0, None).upper
    inf
    """

    lower: float = -math.inf
    upper: float = math.inf
    kind = "continuous"

    def __init__(self, lower: float | None, upper: float | None):
        low = -math.inf if lower is None else as_number(lower, "Interval", "lower")
        high = math.inf if upper is None else as_number(upper, "Interval", "upper")
        if not low < high:
            raise InvalidInput("Interval", expected="lower < upper", got=f"({lower}, {upper})")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    def contains(self, point: Any) -> np.ndarray:
        """Return which of some numbers lie in the closed interval (finite ones)."""
        values = _reals(point)
        if values is None:
            return np.array(False)
        return np.isfinite(values) & (values >= self.lower) & (values <= self.upper)

    def _hint(self) -> str:
        return "pass finite numbers within the ends."

    def __repr__(self) -> str:
        """Show the ends."""
        if math.isinf(self.lower) and math.isinf(self.upper):
            return "Reals()"
        return f"Interval({_end(self.lower)}, {_end(self.upper)})"


def _end(value: float) -> str:
    return "None" if math.isinf(value) else f"{value:.17g}"


@explained
def Reals() -> Interval:
    """Return the real line with Lebesgue measure.

    Examples
    --------
    >>> Reals()
    Reals()
    """
    return Interval(None, None)


@explained
@dataclass(frozen=True)
class Mixed(Alphabet):
    """An interval with Lebesgue measure plus atoms (counting measure on them).

    Parameters
    ----------
    interval : Interval
        The Lebesgue part.
    atoms : sequence of float
        Points of positive mass, inside the interval or at its ends.

    Examples
    --------
    >>> Mixed(Interval(0, 1), atoms=[0.0, 1.0])
    Mixed(Interval(0, 1), atoms=[0.0, 1.0])
    """

    interval: Interval
    atoms: tuple[float, ...] = ()
    kind = "mixed"

    def __post_init__(self):
        if not isinstance(self.interval, Interval):
            raise InvalidInput("Mixed", expected="an Interval", got=repr(self.interval))
        if isinstance(self.atoms, (str, bytes)) or not hasattr(self.atoms, "__iter__"):
            raise InvalidInput("Mixed", expected="atoms=[numbers]", got=repr(self.atoms))
        atoms = tuple(as_number(a, "Mixed", "an atom") for a in self.atoms)
        if not atoms or len(set(atoms)) < len(atoms):
            raise InvalidInput("Mixed", expected="distinct atoms, at least one", got=repr(atoms))
        for atom in atoms:
            if not self.interval.contains(atom):
                raise InvalidInput("Mixed", expected=f"atoms in {self.interval}", got=repr(atom))
        object.__setattr__(self, "atoms", tuple(sorted(atoms)))

    def contains(self, point: Any) -> np.ndarray:
        """Return which of some numbers lie in the interval (the atoms do)."""
        return self.interval.contains(point)

    def __repr__(self) -> str:
        """Show the interval and the atoms."""
        return f"Mixed({self.interval!r}, atoms={list(self.atoms)})"


@dataclass(frozen=True)
class Product(Alphabet):
    """A product of alphabets; made by ``A * B`` and ``A ** n``, which flatten."""

    parts: tuple[Alphabet, ...]

    @property
    def factors(self) -> tuple[Alphabet, ...]:
        """The factors, none of which is a product."""
        return self.parts

    @property
    def kind(self) -> str:  # type: ignore[override]
        """The kind all factors share, or ``"mixed"``."""
        kinds = {a.kind for a in self.parts}
        if len(kinds) == 1:
            return kinds.pop()
        return "countable" if kinds == {"finite", "countable"} else "mixed"

    @property
    def numeric(self) -> bool:
        """Whether every factor is numeric."""
        return all(a.numeric for a in self.parts)

    @property
    def size(self) -> int:
        """Number of points of a product of finite alphabets."""
        return math.prod(a.size for a in self.parts)

    @property
    def labels(self) -> tuple[tuple, ...]:
        """The points of a product of finite alphabets: tuples, the last factor fastest."""
        require_listable(self.size, "the labels of a product")
        return tuple(cartesian(*(a.labels for a in self.parts)))

    @property
    def array(self) -> np.ndarray:
        """The points of a product of finite alphabets as an array of tuples."""
        out = np.empty(self.size, dtype=object)
        out[:] = self.labels
        return out

    def positions(self, points: Any, name: str = "y") -> np.ndarray:
        """Return positions of points: a tuple with one label (or array) per factor."""
        if isinstance(points, (list, np.ndarray)):  # labels of the product, as in `labels`
            try:
                points = tuple(exact_array(p) for p in zip(*points, strict=True))
            except (TypeError, ValueError):
                raise OutsideAlphabet(
                    name, expected=f"tuples, labels of {self!r}", got=repr(points)
                ) from None
        points = self.split(points, name)
        place: Any = 0
        for factor, part in zip(self.parts, points, strict=True):
            place = place * factor.size + factor.positions(part, name)
        return np.asarray(place)

    def split(self, point: Any, name: str = "y") -> tuple:
        """Check that a point is a tuple with one entry per factor."""
        if not (isinstance(point, tuple) and len(point) == self.dim):
            raise OutsideAlphabet(
                name,
                expected=f"a tuple of {self.dim}, one entry for each factor of {self!r}",
                got=repr(point),
            )
        return point

    def check(self, point: Any, name: str = "y") -> None:
        """Raise unless a point has an entry for each factor, and each lies in it."""
        if self.kind == "finite" and isinstance(point, (list, np.ndarray)):
            self.positions(point, name)  # a list of labels
            return
        self.split(point, name)
        super().check(point, name)

    def contains(self, point: Any) -> np.ndarray:
        """Return which points lie in every factor."""
        points = self.split(point)
        inside = [f.contains(p) for f, p in zip(self.parts, points, strict=True)]
        try:
            return np.logical_and.reduce(np.broadcast_arrays(*inside))
        except ValueError:
            raise InvalidInput(
                "a point of a product",
                expected="one array per factor, of shapes that broadcast",
                got=", ".join(str(np.shape(p)) for p in points),
            ) from None

    def __repr__(self) -> str:
        """Show the factors."""
        return " * ".join(repr(a) for a in self.parts)


def miscounted(outer: Alphabet, inner: Alphabet) -> bool:
    """Return whether things that nobody labelled are fewer than the labels of an alphabet.

    Two probabilities are no law on three secrets: which one was forgotten?
    """
    unlabelled = isinstance(inner, Finite) and not inner.given
    return unlabelled and outer.dim == 1 and outer.kind == "finite" and outer.size > inner.size


def how_to_label(*alphabets: Alphabet) -> str:
    """Return how to mend labels that do not match, in words."""
    words = "give both the same labels; labels are matched, never positions."
    factors = (factor for alphabet in alphabets for factor in alphabet.factors)
    bare = next((f for f in factors if isinstance(f, Finite) and not f.given), None)
    if bare is None:
        return words
    return (
        f"{words} Nobody gave those of {bare!r}: on=bl.Finite([...]) does (secret= or outcome= of "
        f"a mechanism), on=bl.Finite({bare.size}) if 0, 1, ... are meant."
    )


def is_whole(alphabet: Alphabet) -> bool:
    """Return whether every label is an integer (of a product: in every factor).

    Examples
    --------
    >>> import borel as bl
    >>> is_whole(bl.Integers(0, None)), is_whole(bl.Finite([0.5, 1])), is_whole(bl.Reals())
    (True, False, False)
    """

    def whole(factor: Alphabet) -> bool:
        if isinstance(factor, Finite):
            return factor.numeric and all(float(v).is_integer() for v in factor.labels)
        return isinstance(factor, Integers)

    return all(whole(a) for a in alphabet.factors)


def includes(outer: Alphabet, inner: Alphabet) -> bool:
    """Return whether every point of ``inner`` is (proved to be) a point of ``outer``."""
    if outer == inner:
        return True
    if miscounted(outer, inner):
        return False
    if outer.dim != inner.dim:
        return False
    if outer.dim > 1:
        return all(includes(a, b) for a, b in zip(outer.factors, inner.factors, strict=True))
    if isinstance(outer, Finite) and isinstance(inner, Finite):
        return set(inner.labels) <= set(outer.labels)
    if isinstance(outer, Integers) and isinstance(inner, (Integers, Finite)):
        if isinstance(inner, Finite):
            return inner.numeric and bool(outer.contains(inner.array).all())
        return (
            outer.lower is None or (inner.lower is not None and inner.lower >= outer.lower)
        ) and (outer.upper is None or (inner.upper is not None and inner.upper <= outer.upper))
    if isinstance(outer, Mixed) and isinstance(inner, Mixed):
        return includes(outer.interval, inner.interval) and set(inner.atoms) <= set(outer.atoms)
    if isinstance(outer, Interval):
        # the density of a kernel is a function of x: any point of the interval will do
        if isinstance(inner, Interval):
            return outer.lower <= inner.lower and inner.upper <= outer.upper
        if isinstance(inner, Mixed):
            return includes(outer, inner.interval)
        if isinstance(inner, Finite) and inner.numeric:
            return bool(outer.contains(inner.array).all())
        if isinstance(inner, Integers) and inner.kind == "countable":
            low = -math.inf if inner.lower is None else inner.lower
            high = math.inf if inner.upper is None else inner.upper
            return outer.lower <= low and high <= outer.upper
    return False


def no_match(what: str, secret: Alphabet, prior: Alphabet, *, many: bool = True) -> InvalidInput:
    """Return the error for priors, or one, on points that a mechanism does not know."""
    mend = f"make the mechanism with secret=bl.{prior!r}, or a prior on bl.{secret!r}."
    if secret.kind == prior.kind == "finite":
        mend = how_to_label(prior)
    return InvalidInput(
        what,
        expected=f"{'priors' if many else 'a prior'} within the secrets of the mechanism, "
        f"{secret!r}",
        got=f"{'priors' if many else 'one'} on {prior!r}",
        mend=mend,
    )
