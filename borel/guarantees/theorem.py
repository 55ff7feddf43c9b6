"""A theorem as data: premises, conclusion, the map between them, its conditions and its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from borel.guarantees.base import Guarantee

if TYPE_CHECKING:
    from collections.abc import Callable

    from borel.guarantees.extremal_examples import Counterexample, Example
    from borel.guarantees.facts import Facts

PMC_PAPER = "Information Density Bounds for Privacy"
PML_PAPER = "Pointwise Maximal Leakage"


@dataclass(frozen=True, eq=False, repr=False)
class Theorem:
    """One implication between guarantees.

    Attributes
    ----------
    name : str
        Short, as chains cite it.
    source : str
        Paper and number.
    premises : tuple of types
        Kinds of guarantee that must be known; none for what always holds.
    conclusion : type
        The kind that follows.
    map : callable
        Takes the premises and the facts, and returns the conclusion, its levels rounded up, or
        None where its condition on the levels fails.
    statement : str
        The implication in words and symbols.
    needs : frozenset of str
        Facts that must be known: "finite", "discrete", "p_min", "size", "p_max",
        "common_maximiser", "delta".
    condition : str
        What else must hold.
    origin : {"paper", "sharpened", "here"}
        Stated so in the paper; sharper than stated, by the same proof; or proved here (``proof``).
    proof : str
        The proof, where the paper has none for what is stated here.
    tight : str
        Whether it can be improved; "" where nothing is claimed.
    attained_by : callable or None
        Takes a prior (Fractions) and e^epsilon of the premise, and returns an `Example` whose
        premise is met with equality and whose conclusion is too.
    not_invertible : callable or None
        Returns a `Counterexample` to the converse.
    correction : str
        What is corrected with respect to the paper.
    """

    name: str
    source: str
    premises: tuple[type[Guarantee], ...]
    conclusion: type[Guarantee]
    map: Callable[..., Guarantee | None]
    statement: str
    needs: frozenset[str] = frozenset()
    condition: str = ""
    origin: str = "paper"
    proof: str = ""
    tight: str = ""
    attained_by: Callable[[Any, Any], Example] | None = None
    not_invertible: Callable[[], Counterexample] | None = None
    correction: str = ""

    def apply(self, premises: tuple[Guarantee, ...], facts: Facts) -> Guarantee | None:
        """Return what follows from the premises, or None where the theorem does not apply."""
        return self.map(*premises, facts) if facts.has(self.needs) else None

    def __str__(self) -> str:
        """Show what implies what."""
        given = " and ".join(p.symbol for p in self.premises) or "always"
        return f"{given} => {self.conclusion.symbol or self.conclusion.__name__} [{self.name}]"

    __repr__ = __str__


def needs(*facts: str) -> frozenset[str]:
    """Return the facts a theorem needs."""
    return frozenset(facts)
