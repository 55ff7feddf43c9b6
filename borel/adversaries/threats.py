r"""What an adversary wants: gains to be large, costs to be small.

A gain (or cost) is read through one function of an unnormalised law w over the secrets,

.. math:: V(w) = \sup_a \sum_x w(x) g(x, a), \qquad C(w) = \inf_a \sum_x w(x) c(x, a).

Both grow with every w(x) and are homogeneous of degree 1: lower and upper weights enclose them,
and the posterior needs no division until the end, since p(x|y) is p(x) f(y|x) up to a factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from borel.adversaries.beliefs import Secrets, Weights, product
from borel.constants import exactly, real
from borel.errors import InvalidInput, NotYet
from borel.probability.arrays import is_labelled, labels_of, oriented, shown

BINARY64 = "gains and costs given as floats mean their binary64 values"

MOST_ACTIONS = 256
"""How many actions are compared one by one, where the best is otherwise built piece by piece."""

Number = Fraction | float  # a float only if it is infinite


class Value(NamedTuple):
    """The best expected gain or cost of one law, enclosed, and an action that has it."""

    lower: Number
    upper: Number
    action: Any


class Threat:
    """A gain or a cost: base class of `Gain` and `Cost`, which differ in `word` and `best` only."""

    word: str
    best: ClassVar[Callable[..., Any]]  # of two expected values the one that is wanted
    name = ""
    assumptions: tuple[str, ...] = ()
    reason = ""  # why its values are known in float64 only, if they are

    def values(self, secrets: Secrets, weights: np.ndarray) -> list[Value]:
        """Return V (or C) of rational laws (m, n), not necessarily of mass 1."""
        raise NotImplementedError

    def enclosed(self, secrets: Secrets, weights: Weights) -> list[Value]:
        """Return V (or C) of enclosed laws; the action is a best one for the law given."""
        low = self.values(secrets, weights.lower)
        if weights.exact:
            return low
        high = self.values(secrets, weights.upper)
        return [Value(a.lower, b.upper, a.action) for a, b in zip(low, high, strict=True)]

    def notes(self, secrets: Secrets) -> tuple[str, ...]:
        """Return what figures about it rest on."""
        return self.assumptions

    def actions(self, secrets: Secrets) -> Sequence[Any] | None:
        """Return actions of which one is always best, where they are few; else None."""
        return None

    def listed(self, secrets: Secrets) -> ActionTable | None:
        """Return the values at every charged secret and those actions; None if they are many."""
        actions = self.actions(secrets)
        if actions is None:
            return None
        columns = [self.at(secrets, a) for a in actions]
        return table_of(list(zip(*columns, strict=True)), tuple(actions))

    def of_density(self, density: Any) -> Value:
        """Return V (or C) of an unnormalised density of a real secret."""
        raise NotYet(
            repr(self),
            missing=f"this {self.word} of a real secret",
            instead=f"bl.adversaries.{self.word}.table(g, actions=[...]), g a NumPy function.",
        )

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return g(x, action), or c(x, action), at the charged secrets, where it is rational."""
        raise NotYet(
            repr(self),
            missing=f"rational values of this {self.word} at an action",
            instead=f"bl.adversaries.{self.word}.table(matrix) has them.",
        )

    @classmethod
    def check(cls, threat: Any, what: str) -> None:
        """Raise `InvalidInput` for anything but a threat of this kind."""
        if not isinstance(threat, cls):
            raise InvalidInput(
                what,
                expected=f"a {cls.word} from bl.adversaries.{cls.word}",
                got=repr(threat),
                mend=f"bl.adversaries.{cls.word}.table(g) makes one of a matrix or a function.",
            )

    def __repr__(self) -> str:
        """Show the name."""
        return f"{self.word.capitalize()}({self.name})"


class Gain(Threat):
    """What an opportunistic adversary maximises: g(x, w) >= 0. Made by `bl.adversaries.gain`."""

    word, best = "gain", max


class Cost(Threat):
    """What a risk-averse adversary minimises: c(x, w) >= 0. Made by `bl.adversaries.cost`."""

    word, best = "cost", min


class ActionTable(NamedTuple):
    """Values at every charged secret and every action.

    Attributes
    ----------
    lower, upper : ndarray of Fractions (n, k)
        Their ends; one object where they are rational.
    infinite : ndarray of bool (n, k)
        Where the value is infinite (a cost); the ends are 0 there.
    actions : tuple (k,)
        The labels of the actions.
    notes : tuple of str
        What figures made of it rest on.
    """

    lower: np.ndarray
    upper: np.ndarray
    infinite: np.ndarray
    actions: tuple
    notes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the values are rational, or infinite."""
        return self.lower is self.upper


class Tabled(Threat):
    """A gain or cost with finitely many actions.

    Parameters
    ----------
    build : callable
        ``secrets -> Table``.
    name : str
        What to call it.
    function, actions : optional
        g(x, w) and its actions, for secrets that cannot be listed.
    """

    def __init__(
        self,
        build: Callable[[Secrets], ActionTable],
        name: str,
        function: Callable[[Any, Any], Any] | None = None,
        actions: Any = None,
    ):
        self._build = build
        self._function, self._actions = function, actions
        self.name = name
        self._known: tuple[Any, ActionTable] | None = None

    def table(self, secrets: Secrets) -> ActionTable:
        """Return the values at the charged secrets; the last table is kept."""
        key = secrets.alphabet, secrets.labels
        if self._known is None or self._known[0] != key:
            self._known = key, self._build(secrets)
        return self._known[1]

    def notes(self, secrets: Secrets) -> tuple[str, ...]:
        """Return what figures about it rest on."""
        return (*self.assumptions, *self.table(secrets).notes)

    def values(self, secrets: Secrets, weights: np.ndarray) -> list[Value]:
        """Return the best of the expectations of all actions."""
        table = self.table(secrets)
        low = product(weights, table.lower)
        high = low if table.exact else product(weights, table.upper)
        charged = np.asarray(weights != 0, bool).astype(int)
        barred = charged @ table.infinite.astype(int) > 0
        out = []
        for j in range(len(weights)):
            open_ = [k for k in range(len(table.actions)) if not barred[j, k]]
            if not open_:
                out.append(Value(math.inf, math.inf, table.actions[0]))
                continue
            k = self.best(open_, key=lambda k: low.numerators[j, k])
            top = k
            if not table.exact:
                top = self.best(open_, key=lambda k: high.numerators[j, k])
            out.append(Value(low.value(j, k), high.value(j, top), table.actions[k]))
        return out

    def of_density(self, density: Any) -> Value:
        """Return the best of the expectations of all actions."""
        if self._function is None or self._actions is None:
            return super().of_density(density)
        actions = distinct(self._actions, f"{self.word}.table")
        return Value(*density.best_of(self._function, actions, self.best))

    def listed(self, secrets: Secrets) -> ActionTable | None:
        """Return the table."""
        return self.table(secrets)

    def at(self, secrets: Secrets, action: Any) -> list[Fraction]:
        """Return a column of the table."""
        table = self.table(secrets)
        k = table.actions.index(action)
        if not table.exact or table.infinite[:, k].any():
            return super().at(secrets, action)
        return list(table.lower[:, k])


class TabledGain(Tabled, Gain):
    """A gain with finitely many actions."""


class TabledCost(Tabled, Cost):
    """A cost with finitely many actions; entries may be infinite."""


# -- reading what users give -----------------------------------------------------------------------


def exact_number(value: Any, what: str, where: str, *, infinite: bool = False) -> Number:
    """Return a non-negative number as a Fraction (or infinity, where that is allowed)."""
    wanted = "a number >= 0" if infinite else "a finite number >= 0"
    number = real(f"{what} at {where}", value, wanted)
    if number < 0 or (number == math.inf and not infinite):
        raise InvalidInput(what, expected=wanted, got=repr(value), where=where)
    return math.inf if number == math.inf else Fraction(number)


def exact_label(label: Any, what: str) -> Fraction:
    """Return a numeric label as the Fraction it is."""
    if isinstance(label, Real) and not isinstance(label, bool) and math.isfinite(label):
        return exactly(label)
    raise InvalidInput(
        what,
        expected="numeric labels",
        got=repr(label),
        mend="give distance=<a function of x and w>.",
    )


def distinct(actions: Any, what: str) -> tuple:
    """Return labels of actions, checked."""
    if isinstance(actions, (str, bytes)) or not isinstance(actions, Iterable):
        raise InvalidInput(what, expected="a sequence of actions", got=shown(actions))
    out = tuple(a.item() if isinstance(a, np.generic) else a for a in actions)
    if not out:
        raise InvalidInput(what, expected="at least one action", got="none")
    return out


def table_of(
    rows: Sequence[Sequence[Number]],
    actions: tuple,
    upper: Sequence[Sequence[Number]] | None = None,
) -> ActionTable:
    """Make a table from rows of numbers; with ``upper``, from their ends."""
    shape = len(rows), len(actions)
    infinite = np.array([[v == math.inf for v in row] for row in rows], bool).reshape(shape)

    def grid(values: Sequence[Sequence[Number]]) -> np.ndarray:
        out = np.empty(shape, dtype=object)
        for i, row in enumerate(values):
            out[i] = [Fraction(0) if v == math.inf else v for v in row]
        return out

    low = grid(rows)
    return ActionTable(low, low if upper is None else grid(upper), infinite, actions)


def given_table(
    values: Any, actions: Any, what: str, *, infinite: bool
) -> Callable[[Secrets], ActionTable]:
    """Read a matrix (row = secret, column = action) or a callable of (x, w), lazily.

    A matrix has one row for each label of the mechanism's secret, in order; a DataArray or a
    DataFrame brings its labels. A callable is asked at charged secrets only.
    """
    if callable(values):
        chosen = None if actions is None else distinct(actions, what)

        def by_calls(secrets: Secrets) -> ActionTable:
            ws = secrets.alphabet.labels if chosen is None else chosen
            raw = [[values(x, w) for w in ws] for x in secrets.labels]
            rows = [
                [
                    exact_number(v, what, f"x = {x!r}, w = {w!r}", infinite=infinite)
                    for w, v in zip(ws, row, strict=True)
                ]
                for x, row in zip(secrets.labels, raw, strict=True)
            ]
            return table_of(rows, tuple(ws))._replace(notes=float_notes(raw))

        return by_calls

    entries, row_labels, column_labels = _matrix(values, what)
    if actions is None:
        actions = range(len(entries[0])) if column_labels is None else column_labels
    names = distinct(actions, what)
    if len(names) != len(entries[0]):
        raise InvalidInput(
            what, expected=f"{len(entries[0])} actions, one a column", got=str(len(names))
        )
    numbers = [
        [
            exact_number(v, what, f"row {i}, column {names[k]!r}", infinite=infinite)
            for k, v in enumerate(row)
        ]
        for i, row in enumerate(entries)
    ]

    notes = float_notes(entries)

    def by_rows(secrets: Secrets) -> ActionTable:
        place = {i: i for i in range(secrets.alphabet.size)}
        labels = secrets.alphabet.labels
        if len(numbers) != secrets.alphabet.size:
            raise InvalidInput(
                what,
                expected=f"{secrets.alphabet.size} rows, one for each of {secrets.alphabet!r}",
                got=str(len(numbers)),
                mend="rows are secrets x, columns are actions w.",
            )
        if row_labels is not None and set(row_labels) == set(labels):
            place = {i: row_labels.index(label) for i, label in enumerate(labels)}
        elif row_labels is not None and row_labels != list(range(len(numbers))):
            raise InvalidInput(
                what,
                expected=f"the labels of {secrets.alphabet!r}",
                got=f"rows labelled {shown(row_labels)}",
                mend="labels are matched, never positions.",
            )
        chosen_rows = [numbers[place[int(i)]] for i in secrets.rows]
        return table_of(chosen_rows, names)._replace(notes=notes)

    return by_rows


def float_notes(entries: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Say that floats are taken as they are, where some are not whole."""
    floats = (v for row in entries for v in row if isinstance(v, (float, np.floating)))
    return (BINARY64,) if any(math.isfinite(v) and v != math.floor(v) for v in floats) else ()


def _matrix(values: Any, what: str) -> tuple[list[list[Any]], list | None, list | None]:
    values = oriented(values, ("secret", "action"), what, named={})
    labels: list[list | None] = [None, None]
    if is_labelled(values):
        if values.ndim == 2:
            labels = [
                own and [v.item() if isinstance(v, np.generic) else v for v in own]
                for own in labels_of(values)
            ]
        values = values.values
    try:
        array = np.asarray(values, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidInput(
            what,
            expected="a matrix, rows x and columns w, or a function of (x, w)",
            got=f"an array of shape {array.shape}" if array.ndim != 1 else shown(values),
        )
    return array.tolist(), labels[0], labels[1]
