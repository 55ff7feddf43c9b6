"""What is pickled and copied of an object: what it was made of, never what was computed since."""

from __future__ import annotations

import pickle
import sys
from functools import cached_property
from typing import Any, ClassVar

from borel.errors import NotPicklable
from borel.probability.memo import Memo


class UserFunction:
    """A function that a user gave, on its way through a pickle or a copy."""

    def __init__(self, function: Any, role: str):
        self.function, self.role = function, role

    def __deepcopy__(self, memo: dict) -> UserFunction:
        """Return itself: a copy shares functions, as those of Python do."""
        return self

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the function; raise if no pickle holds it, as pickle does not say which it is."""
        try:
            pickle.dumps(self.function)
        except NotPicklable:
            raise
        except (pickle.PicklingError, AttributeError, TypeError):
            if not _by_value():
                raise NotPicklable(
                    "a pickle",
                    expected=f"{self.role}, a function that is found by its name in a module",
                    got=repr(self.function),
                    mend="write it with def at the top level of a module, not as a lambda and not "
                    "inside of a function.",
                ) from None
        return UserFunction, (self.function, self.role)


def _by_value() -> bool:
    """Return whether a pickler is at work that takes any function (cloudpickle, dill)."""
    frame = sys._getframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if "cloudpickle" in module or module.partition(".")[0] == "dill":
            return True
        frame = frame.f_back
    return False


class HoldsFunctions:
    """Base of objects that hold functions of the user: a pickle names one that it cannot hold.

    What they computed and keep is in their Memo, which neither a pickle nor a copy has.
    """

    _functions: ClassVar[tuple[str, ...]] = ()
    """The attributes that are such functions, or None."""

    @cached_property
    def _memo(self) -> Memo:
        """What was computed of the object."""
        return Memo()

    def _carried(self, name: str, value: Any) -> Any:
        if name not in self._functions or value is None:
            return value
        return UserFunction(value, f"{name} of {type(self).__name__}")

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, for pickle and copy."""
        kept = {name: value for name, value in vars(self).items() if name != "_memo"}
        return {name: self._carried(name, value) for name, value in kept.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes back."""
        vars(self).update({name: _unwrapped(value) for name, value in state.items()})


def _unwrapped(value: Any) -> Any:
    return value.function if isinstance(value, UserFunction) else value


class Remade(HoldsFunctions):
    """Base of objects that remember what they computed: a pickle or a copy starts without it.

    Engines and their caches hold closures and balls that no pickle can hold, and are made again
    when a figure asks for them. So a figure is the same on either side.
    """

    _made_of: ClassVar[tuple[str, ...]]
    """The attributes that the constructor takes, in its order."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the constructor and its arguments, for pickle and copy."""
        return _made, (
            type(self),
            *(self._carried(name, getattr(self, name)) for name in self._made_of),
        )


def _made(kind: type, *arguments: Any) -> Any:
    return kind(*map(_unwrapped, arguments))
