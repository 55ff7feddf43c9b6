"""What is found when a leakage is proved to be infinite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Proof:
    """A proved infinity.

    Attributes
    ----------
    statement : str
        The argument in a sentence.
    witness : dict
        Where: the ray of outcomes and of secrets.
    attained : bool or None
        Whether the leakage is infinite at outcomes of positive mass, or only grows.
    diverges : bool
        Whether the mean of e^leakage was proved to be infinite.
    """

    statement: str
    witness: dict
    attained: bool | None = None
    diverges: bool = False
