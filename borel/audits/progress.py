"""A bar on the error stream, for what takes more than a second."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def bar(total: int, wanted: bool | None) -> Iterator[Callable[[int, str], None]]:
    """Show a bar once a second has passed, if wanted, on the error stream."""
    from threading import Timer

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if wanted is False or (wanted is None and not console.is_terminal):
        yield lambda done, name: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task("", total=total)
    timer = Timer(1.0, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, name: progress.update(task, completed=done, description=name)
    finally:
        timer.cancel()
        timer.join()
        progress.stop()
