"""The errors of borel. Each says what was expected, what came, where, and how to mend it."""

from __future__ import annotations

from pickle import PicklingError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class BorelError(Exception):
    """Base class of every error that borel raises on purpose."""


class InvalidInput(BorelError, ValueError):
    """An alphabet, measure, mechanism or argument that is not what it should be.

    Parameters
    ----------
    what : str
        What was being built or asked.
    expected, got : str
        What was expected, and what came.
    where : str, optional
        Where: which row, which x, which y.
    mend : str, optional
        How to mend it.
    """

    def __init__(self, what: str, *, expected: str, got: str, where: str = "", mend: str = ""):
        place = f" at {where}" if where else ""
        advice = f" To mend it: {mend}" if mend else ""
        super().__init__(f"{what}: expected {expected}, got {got}{place}.{advice}")


class WrongCall(InvalidInput, TypeError):
    """Arguments that a function does not take, or one that it needs and did not get."""


class NotPicklable(InvalidInput, PicklingError):
    """Something with a function that no pickle can hold, such as a lambda."""


class OutsideAlphabet(InvalidInput):
    """A point that is not in the alphabet it was looked up in."""


class NotTraceable(BorelError, TypeError):
    """A density used an operation that the expression graph does not know."""


class Undecided(BorelError):
    """A verdict was used as a truth value although the Bound does not settle the question."""


class NotYet(BorelError, NotImplementedError):
    """Something of the design that this version does not have; the message names what is missing.

    Parameters
    ----------
    what : str
        What was asked.
    missing : str
        What is missing.
    instead : str, optional
        What can be done today.
    """

    def __init__(self, what: str, *, missing: str, instead: str = ""):
        advice = f" Today: {instead}" if instead else ""
        self.missing = missing
        super().__init__(f"{what}: not yet in this version ({missing}).{advice}")


class BudgetSpent(BorelError):
    """The budget of a figure is spent, and nothing is known of it by what was under way."""


class NotEnclosed(BorelError):
    """An engine cannot enclose a figure and says why; the caller falls to a weaker one."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question after the names like a misspelt one; empty if there are none.

    Examples
    --------
    >>> did_you_mean("budgt", ["tol", "budget"])
    'did you mean budget?'
    """
    from difflib import get_close_matches

    lower = {n.lower(): n for n in known}
    near = get_close_matches(name.lower(), lower, n=2)
    near = near[:1] if name.lower() in near else near
    return f"did you mean {' or '.join(lower[n] for n in near)}?" if near else ""


def no_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error of a name that a module does not have, with those that are like it.

    Examples
    --------
    >>> print(no_attribute("borel.guarantees", "Pml", ["PML", "PMC"]))
    module 'borel.guarantees' has no attribute 'Pml'; did you mean PML?
    """
    hint = did_you_mean(name, known)
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint and '; ' + hint}")
