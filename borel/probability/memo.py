"""What objects keep of what they computed: one class, with explicit keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class Memo:
    """Values that one object computed, so that none of them is computed twice.

    A key names what was asked. What else a value depends on says which method keeps it:

    ===========  ================================================================================
    `fact`       nothing but the object and the key: kept for good
    `apart`      the same, of something that takes long: it is not kept if the clock cut it short
    `in_figure`  also how much work may be done, such as how far a search came: kept for the figure
                 that is computed, and computed anew in another one
    `figure`     the options too: a whole figure; it is not kept if the clock cut it short
    ===========  ================================================================================

    So no figure depends on which were asked for before. The object has its Memo as an attribute. A
    pickle or a copy of one is empty.

    Parameters
    ----------
    most : int, optional
        How many values are kept: all are forgotten before there are more.

    Examples
    --------
    >>> memo = Memo()
    >>> memo.fact("answer", lambda: 42), memo.fact("answer", lambda: 43)
    (42, 42)
    """

    __slots__ = ("_most", "_values")

    def __init__(self, most: int | None = None):
        self._most = most
        self._values: dict[Hashable, tuple[Any, Any]] = {}  # with the figure that each is of

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Return an empty one, for pickle and copy."""
        return Memo, (self._most,)

    def __contains__(self, key: Hashable) -> bool:
        """Return whether a fact is there."""
        return key in self._values

    def fact(self, key: Hashable, compute: Callable[[], Any], *, cut_short: Any = None) -> Any:
        """Return what depends on the object and the key alone.

        Parameters
        ----------
        key : hashable
            What it is.
        compute : callable
            Computes it.
        cut_short : callable, optional
            Says, once it is computed, whether it was cut short: it is not kept then.
        """
        if (found := self._values.get(key)) is None:  # another thread may forget it meanwhile
            value = self._computed(key, compute)
            if cut_short is not None and cut_short():
                return value
            found = self._values[key] = None, value
        return found[1]

    def apart(self, key: Hashable, compute: Callable[[], Any], name: str = "computing") -> Any:
        """Return a fact that has a budget of its own, whichever figure needs it first.

        Where none does, a bar shows its name if it takes long.
        """
        if (found := self._values.get(key)) is None:  # another thread may forget it meanwhile
            own = settings.apart() if settings.within_figure() else settings.one_figure(name)
            with own:
                value, stopped = self._computed(key, compute), settings.stopped()
            if stopped:
                return value
            found = self._values[key] = None, value
        return found[1]

    def in_figure(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return what is computed once in a figure, or once for all where no figure is computed.

        What another figure left is not taken: how far it came depends on what that one asked for.
        """
        of = settings.meter_of_figure()
        if (found := self._values.get(key)) is None or found[0] is not of:
            found = self._values[key] = of, self._computed(key, compute)
        return found[1]

    def figure(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return a figure that is computed once with the same options."""
        # one that is asked for within another one has less time than by itself
        whole = (key, settings.current(), settings.within_figure())
        found = self.in_figure(whole, compute)
        if settings.STOPPED in getattr(found, "reason", ""):  # another time it may get further
            del self._values[whole]
        return found

    def _computed(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        if self._most is not None and len(self._values) >= self._most and key not in self._values:
            self._values.clear()
        return compute()


__all__ = ["Memo"]
