"""A traced value that shows numbers to code that insists on looking at them."""

from __future__ import annotations

from typing import Any

import numpy as np

from borel.numerics.graphs.trace import Tracer


class Carrier(Tracer):
    """A traced value beside an array of numbers, to which the same is done.

    SciPy's new infrastructure checks parameters as arrays, but keeps what it was given. Code that
    computes with the array instead drops the trace: what it keeps then is an array, which a graph
    refuses, or a number that changes with the numbers shown.

    Parameters
    ----------
    traced : Tracer
        The traced value.
    shown : ndarray
        The numbers.
    """

    __slots__ = ("_shown",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, traced: Tracer, shown: Any):
        super().__init__(traced._graph, traced._index, traced._kind)
        self._shown = shown

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        traced = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        return Carrier(traced, ufunc(*map(_shown, inputs)))

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        numbers = {k: _shown(v) for k, v in kwargs.items()}
        traced = super().__array_function__(func, types, args, kwargs)
        return Carrier(traced, func(*map(_shown, args), **numbers))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._shown, dtype)

    def __abs__(self) -> Any:
        """Record an absolute value."""
        return np.absolute(self)


def _shown(value: Any) -> Any:
    return value._shown if isinstance(value, Carrier) else value


def plain(value: Any) -> Any:
    """Return a carrier as the traced value that it is; anything else as it is."""
    if not isinstance(value, Carrier):
        return value
    return Tracer(value._graph, value._index, value._kind)
