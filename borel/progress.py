"""A bar for what takes more than two seconds: on the error stream of a terminal, or in a notebook.

A bar is for the eye only. It reads how much work was done and changes neither a figure nor what is
counted. There is one at a time: within what has a bar, nothing shows another.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from contextvars import ContextVar
from html import escape
from typing import Any

PATIENCE = 2.0
"""Seconds, by the clock of the wall, after which a bar is shown."""
OFF = "BOREL_PROGRESS"
"""The environment variable that switches bars off where nobody looks at them: ``BOREL_PROGRESS=0``.
"""
_EVERY = 0.1


class Bar:
    """How far something has got, shown in a block that takes more than two seconds.

    Within the block of another bar, none is shown.

    Parameters
    ----------
    total : float or None
        How much there is to do; None if that is not known.
    name : str
        What is done.
    unit : str
        What is counted.
    wanted : bool or None
        Whether to show it; None: in a terminal or a notebook.

    Examples
    --------
    >>> with Bar(3, name="rows") as shown:
    ...     for k in range(3):
    ...         shown.tell(k)
    >>> shown.done
    2
    """

    def __init__(
        self,
        total: float | None,
        *,
        name: str = "",
        unit: str = "steps",
        wanted: bool | None = None,
    ):
        self.total, self.name, self.unit, self.wanted = total, name, unit, wanted
        self.done = 0.0
        self._next = time.monotonic() + PATIENCE
        self._shown: Any = None

    def __enter__(self) -> Bar:
        """Show it from now on."""
        self._outer = _BAR.get()
        if self._outer is None:
            self._token = _BAR.set(self)
        else:
            self.wanted = False
        return self

    def __exit__(self, *error: object) -> None:
        """Take it away."""
        if self._outer is None:
            _BAR.reset(self._token)
            if self._shown is not None:
                with suppress(OSError, ValueError):
                    self._shown.close()

    def tell(self, done: float, name: str | None = None) -> None:
        """Say how much is done, and what comes next."""
        self.done, self.name = done, self.name if name is None else name
        self.look(time.monotonic())

    def look(self, clock: float) -> None:
        """Show how far it has got, if it is time to; ``clock`` is ``time.monotonic()``."""
        if clock < self._next:
            return
        self._next = clock + _EVERY
        with suppress(OSError, ValueError):  # a stream that was closed is no reason to fail
            if self._shown is None:
                self._shown = _shown(self)
            self._shown.update(self)


class _Nowhere:
    """Nothing is shown: a pipe, a file, or a bar that is not wanted."""

    def update(self, bar: Bar) -> None:
        pass

    def close(self) -> None:
        pass


class _Terminal:
    """A bar on the error stream."""

    def __init__(self, bar: Bar, console: Any):
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        text = TextColumn("{task.description}", markup=False)
        columns = text, BarColumn(), TextColumn("{task.fields[count]}"), TimeElapsedColumn()
        self._progress = Progress(*columns, console=console, transient=True)
        self._task = self._progress.add_task("", total=bar.total, count="")
        self._progress.start()

    def update(self, bar: Bar) -> None:
        about = {"completed": bar.done, "description": bar.name, "count": _count(bar)}
        self._progress.update(self._task, total=bar.total, **about)

    def close(self) -> None:
        self._progress.stop()


class _Notebook:
    """A bar in the output of a cell."""

    def __init__(self, bar: Bar):
        from IPython.display import display

        self._handle: Any = display({"text/plain": bar.name}, raw=True, display_id=True)

    def update(self, bar: Bar) -> None:
        value = "" if bar.total is None else f' value="{bar.done:g}" max="{bar.total:g}"'
        text = f"{bar.name} {_count(bar)}"
        page = f"<progress{value}></progress> {escape(text)}"
        self._handle.update({"text/plain": text, "text/html": page}, raw=True)

    def close(self) -> None:
        self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _count(bar: Bar) -> str:
    return f"{bar.done:.0f}{'' if bar.total is None else f' of {bar.total:g}'} {bar.unit}"


def _shown(bar: Bar) -> Any:
    """Return where a bar is shown."""
    if bar.wanted is False or os.environ.get(OFF) == "0":
        return _Nowhere()
    if bar.wanted is None and _in_a_notebook():
        return _Notebook(bar)
    from rich.console import Console

    console = Console(stderr=True, force_jupyter=False)
    seen = bar.wanted or console.is_terminal
    return _Terminal(bar, console) if seen else _Nowhere()


def _in_a_notebook() -> bool:
    """Return whether this runs in a kernel that shows the outputs of cells."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


_BAR: ContextVar[Bar | None] = ContextVar("borel_bar", default=None)


def look(clock: float) -> None:
    """Show how far the work has got that is done here, if it is time to."""
    if (shown := _BAR.get()) is not None:
        shown.look(clock)
