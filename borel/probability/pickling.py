"""What is pickled and copied of an object: what it was made of, never what was computed since."""

from __future__ import annotations

from typing import Any, ClassVar


class Remade:
    """Base of objects that remember what they computed: a pickle or a copy starts without it.

    Engines and their caches hold closures and balls that no pickle can hold, and are made again
    when a figure asks for them. So a figure is the same on either side.
    """

    _made_of: ClassVar[tuple[str, ...]]
    """The attributes that the constructor takes, in its order."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the constructor and its arguments, for pickle and copy."""
        return type(self), tuple(getattr(self, name) for name in self._made_of)
