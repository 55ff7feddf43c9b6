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
    certificate : dict
        What a checker needs; None for what the checker does not cover.
    attained : bool or None
        Whether the leakage is infinite at outcomes of positive mass, or only grows.
    diverges : bool
        Whether the mean of e^leakage was proved to be infinite.
    """

    statement: str
    witness: dict
    certificate: dict | None
    attained: bool | None = None
    diverges: bool = False

    def certified_on(self, low: float, high: float) -> bool:
        """Return whether the certificate is about all of a box of outcomes, not its middle."""
        proof = {} if self.certificate is None else self.certificate["claim"].get("proof", {})
        return [*proof.get("y", {}).get("box", [])] == [low, high]
