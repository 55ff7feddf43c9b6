"""The watchdog: outcomes that say too much are merged into one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from borel.design.column_constraints import Column, constraint_of, expectation
from borel.errors import InvalidInput, Undecided
from borel.probability.alphabets import Finite
from borel.probability.mechanism import Mechanism
from borel.probability.wrong_calls import explained

if TYPE_CHECKING:
    from borel.guarantees.base import Guarantee
    from borel.probability.bound import Verdict
    from borel.probability.joint import Joint


@dataclass(frozen=True, repr=False)
class Merged:
    """A mechanism some of whose outcomes were merged, so that it satisfies a guarantee.

    Attributes
    ----------
    joint : Joint
        The prior times the mechanism with merged outcomes.
    guarantee : Guarantee
        The target.
    verdict : Verdict
        What the engine says of it: ``holds`` is True.
    merged : tuple
        The outcomes that are one outcome now; empty if none had to be merged.
    """

    joint: Joint
    guarantee: Guarantee
    verdict: Verdict
    merged: tuple

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with merged outcomes."""
        return self.joint.mechanism

    def __repr__(self) -> str:
        """Show the guarantee and what was merged."""
        return f"Merged({self.guarantee} holds, {self.verdict.bound}; {self.merged})"


@explained
def watchdog(joint: Joint, guarantee: Guarantee, *, label: Any = "merged") -> Merged:
    """Merge the outcomes that break a guarantee, and as few others as it takes one by one.

    Parameters
    ----------
    joint : Joint
        One finite prior times a finite mechanism.
    guarantee : Guarantee
        A guarantee on every outcome: PML, PMC, LIP, ALIP or LDP.
    label : hashable
        The name of the merged outcome.

    Returns
    -------
    Merged
        The mechanism, the engine's verdict on it, and the outcomes that were merged.

    Raises
    ------
    InvalidInput
        Another joint, or a label that is an outcome already.
    NotYet
        A guarantee that is not one on every outcome.

    Notes
    -----
    The outcomes that break the guarantee are merged. Where the merged one breaks it too, the
    outcome is added that brings the merged column nearest to a constant (its largest entry less its
    smallest, over its mean), until it does not; all outcomes merged say nothing. No claim is
    made that fewer would not do.

    References
    ----------
    Hsu, Asoodeh, Calmon, "Information-Theoretic Privacy Watchdogs" (2019).

    Examples
    --------
    >>> import borel as bl
    >>> joint = bl.pmf([0.5, 0.5]) * bl.Mechanism.from_matrix([[0.1, 0, 0.9], [0, 0.2, 0.8]])
    >>> watchdog(joint, bl.guarantees.PML(0.5)).merged
    (0, 1)
    """
    what = "design.watchdog"
    if not getattr(joint, "finite", False):
        raise InvalidInput(
            what, expected="one finite prior times a finite mechanism", got=repr(joint)
        )
    labels = list(joint.outcome.labels)
    if label in labels:
        raise InvalidInput(
            what, expected="a label that is no outcome", got=repr(label), mend="give label=."
        )
    masses = [Fraction(v) for v in joint.probabilities.tolist()]
    some = [i for i, m in enumerate(masses) if m > 0]
    p = [masses[i] / sum(masses) for i in some]
    matrix = joint.mechanism.matrix
    columns = [tuple(Fraction(v) for v in matrix[some, j].tolist()) for j in range(len(labels))]
    allowed = constraint_of(what, guarantee, p, inner=True)
    if allowed.most is not None:
        raise InvalidInput(what, expected="a guarantee on every outcome", got=repr(guarantee))

    together = [j for j, c in enumerate(columns) if not allowed.allows(c)]
    apart = [j for j in range(len(columns)) if j not in together]
    while together and apart and not allowed.allows(_sum(columns, together)):
        nearest = min(apart, key=lambda j: _spread(p, _sum(columns, [*together, j])))
        together.append(nearest)
        apart.remove(nearest)
    together.sort()
    made = joint.mechanism
    if together:
        kept = [matrix[:, j] for j in apart]
        pooled = matrix[:, together].sum(axis=1)
        names = [*(labels[j] for j in apart), label]
        made = Mechanism.from_matrix(
            np.array([*kept, pooled]).T, secret=joint.mechanism.secret, outcome=Finite(names)
        )
    result = joint.prior * made
    verdict = result.satisfies(guarantee)
    if verdict.holds is not True:
        raise Undecided(f"{what}: the engine does not confirm {guarantee}: {verdict!r}")
    return Merged(result, guarantee, verdict, tuple(labels[j] for j in together))


def _sum(columns: list[Column], chosen: list[int]) -> Column:
    return tuple(sum(row, Fraction(0)) for row in zip(*(columns[j] for j in chosen), strict=True))


def _spread(p: list[Fraction], column: Column) -> Fraction:
    """Return how far the column is from a constant, relatively to its mean."""
    mean = expectation(p, column)
    return (max(column) - min(column)) / mean if mean else Fraction(0)
