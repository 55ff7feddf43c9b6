"""Mechanisms designed for a leakage target: how much noise, which mechanism, which merging.

`smallest` and `largest` choose a parameter, `best` a finite mechanism of the greatest utility, and
`watchdog` merges outcomes that say too much. What they return is checked by the engine.
"""

from __future__ import annotations

from borel.design.merged_outcomes import Merged, watchdog
from borel.design.optimal_mechanisms import Optimal, best
from borel.design.parameter_search import Design, largest, smallest

__all__ = ["Design", "Merged", "Optimal", "best", "largest", "smallest", "watchdog"]
