"""The density of the outcome off finite alphabets: the one thing that a joint asks of an engine.

Data goes one way, and engines stand above joints; so no joint imports one. ``borel/__init__.py``,
which knows every folder, says here where log f_Y is computed, when a public name is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_computed: list[Callable[[Any, Any], Any]] = []


def computed_by(function: Callable[[Any, Any], Any]) -> None:
    """Say which function of a joint and outcomes computes log f_Y."""
    _computed[:] = [function]


def log_marginal(joint: Any, y: Any) -> Any:
    """Return log f_Y at outcomes, in float64."""
    return _computed[0](joint, y)
