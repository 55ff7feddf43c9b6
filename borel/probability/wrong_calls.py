"""Calls with arguments that a function does not take: an error that says how to write them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar, overload

from borel.errors import WrongCall, did_you_mean

F = TypeVar("F", bound=Callable[..., Any])


@overload
def explained(function: F) -> F: ...


@overload
def explained(**hints: str) -> Callable[[F], F]: ...


def explained(function: Any = None, **hints: str) -> Any:
    """Let a function, or a class, say how it is called when it is called wrongly.

    Parameters
    ----------
    function : callable or class
        What to wrap; a class gets a constructor that explains.
    hints : str
        For arguments that users try and that do not exist: what to write instead; ``too_many`` for
        those without a name.

    Examples
    --------
    >>> @explained
    ... def scale(*, factor, offset=0.0):
    ...     return factor
    >>> scale(2.0)
    Traceback (most recent call last):
        ...
    borel.errors.WrongCall: scale: expected scale(*, factor, offset=0.0), got 1 argument without a \
name. To mend it: scale(factor=2.0).
    """
    if function is None:
        return partial(_explain, hints=hints)
    return _explain(function, hints)


def _explain(function: Any, hints: dict[str, str]) -> Any:
    if not isinstance(function, type):
        return _wrapped(function, function.__name__, hints)
    made: Any = function
    made.__init__ = _wrapped(made.__init__, made.__name__, hints)
    return made


def _wrapped(function: Any, name: str, hints: dict[str, str]) -> Any:
    @wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        try:
            return function(*args, **given)
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:  # it was raised further inside
                raise
            raise _wrong(function, name, hints, args, given) from None

    return call


def _meant(name: str, known: list[str]) -> str:
    """Return the question after an argument whose name starts like one, or is like one."""
    starting = [k for k in known if k.startswith(name)]
    return f"did you mean {starting[0]}?" if len(starting) == 1 else did_you_mean(name, known)


def _wrong(function: Any, name: str, hints: dict[str, str], args: tuple, given: dict) -> WrongCall:
    parameters = dict(inspect.signature(function).parameters)
    args = args[1:] if "self" in parameters else args
    parameters = {k: v for k, v in parameters.items() if k != "self" and not k.startswith("_")}
    shown = inspect.Signature(
        [p.replace(annotation=inspect.Parameter.empty) for p in parameters.values()]
    )
    placed = [n for n, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
    named = [n for n in parameters if n not in placed and n not in given]
    extra = args[len(placed) :]
    unknown = [n for n in given if n not in parameters]
    taken = dict(zip(placed, args, strict=False)) | given | dict(zip(named, extra, strict=False))
    needed = [n for n, p in parameters.items() if p.default is p.empty and n not in taken]
    got, mend = [], ""
    if extra:
        count = f"{len(extra)} argument" + "s" * (len(extra) > 1)
        got.append(f"{count} without a name" if len(extra) <= len(named) else f"{count} too many")
    if unknown:
        got.append(", ".join(f"{n}={given[n]!r}" for n in unknown))
    if needed and not unknown:
        got.append(f"no {', '.join(needed)}")
    tried = [*unknown, "too_many"] if len(extra) > len(named) else unknown
    tips = [hints[n] for n in tried if n in hints]
    if unknown and not tips:
        tips = [_meant(n, [k for k in parameters if k not in given]) for n in unknown]
        tips = [*filter(None, tips)]
    if tips:
        mend = "; ".join(dict.fromkeys(tips))
    elif not unknown and len(extra) <= len(named):
        words = [f"{a!r}" for a in args[: len(placed)]]
        words += [f"{n}={v!r}" for n, v in taken.items() if n not in placed[: len(args)]]
        words += [f"{n}=..." for n in needed]
        mend = f"{name}({', '.join(words)})."
    return WrongCall(name, expected=f"{name}{shown}", got="; ".join(got) or "others", mend=mend)
