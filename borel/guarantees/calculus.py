r"""The calculus: from what is known, every guarantee that follows, by the best chain of theorems.

The search is generic: theorems are data (`Theorem`). Facts are derived round by round until
nothing improves. For each kind the strongest guarantees are kept: several where they cannot be
compared (levels against delta, the two sides of ALIP). As every map is monotone, a stronger premise
gives a stronger conclusion, so that dropping what is dominated loses nothing; cycles end because
no cycle improves on what it started from, and only strict improvements are kept.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from borel.errors import InvalidInput
from borel.guarantees.base import Guarantee
from borel.guarantees.facts import Facts, facts_of
from borel.guarantees.implied_guarantees import Implication, Implied, Kind, kind_of
from borel.guarantees.theorem import Theorem

if TYPE_CHECKING:
    pass

_ROUNDS = 60


@cache
def theorems(*, sharpened: bool = True) -> tuple[Theorem, ...]:
    """Return the registry of implications.

    Parameters
    ----------
    sharpened : bool
        Whether to include what is sharper than the papers state, or proved here.

    Returns
    -------
    tuple of Theorem

    Examples
    --------
    >>> [t.name for t in theorems() if t.name.endswith("Theorem 6(ii)")]
    ['PMC paper, Theorem 6(ii)']
    """
    from borel.guarantees import (
        disclosure_prevention,
        theorems_here,
        theorems_pmc,
        theorems_pml,
        theorems_tail,
    )

    papers = (theorems_pmc, theorems_pml, disclosure_prevention)
    stated = tuple(theorem for paper in papers for theorem in paper.THEOREMS)
    every = (*stated, *theorems_here.THEOREMS, *theorems_tail.THEOREMS)
    return every if sharpened else tuple(t for t in every if t.origin == "paper")


def implied(
    *guarantees: Guarantee,
    p_min: Any = None,
    alphabet: Any = None,
    prior: Any = None,
    common_maximiser: bool = False,
    delta: Any = None,
    sharpened: bool = True,
) -> Implied:
    """Derive every guarantee that follows, each by the chain of theorems with the least level.

    Parameters
    ----------
    *guarantees : Guarantee
        What one mechanism is known to satisfy under one prior. With none, what always holds.
    p_min : float or Fraction, optional
        The smallest probability of a point of the support of the prior, or a number below it. A
        float stands for a number that rounds to it (beside a size n, the float of 1/n means 1/n).
    alphabet : {"finite", "countable", "general"}, Alphabet or int, optional
        What the secrets are; a number, or a finite alphabet, says that the prior charges so many.
        Default "finite" beside p_min, else "general": theorems that hold on every alphabet.
    prior : Measure, optional
        Instead of both: p_min and the support are read from it.
    common_maximiser : bool
        Whether one secret attains the leakage of every outcome above epsilon, which is what
        Proposition 4 of the PML paper asks of the mechanism.
    delta : number in (0, 1], optional
        Where a theorem gives tail leakage at every probability, the one at which it is asked for.
    sharpened : bool
        Whether to use what is sharper than the papers state, or proved here (`Theorem.origin`).

    Returns
    -------
    Implied
        A mapping from kinds to implications with their chains. Levels are rounded up: what is
        returned holds whenever the premises do.

    Raises
    ------
    InvalidInput
        Something that is no guarantee, or facts that contradict each other.

    Notes
    -----
    A guarantee that does not follow here may still hold of the mechanism: ask
    ``joint.satisfies``. Exact in the sense that no level is rounded down; that it cannot be
    improved is claimed only where the last theorem of a chain says so (`Theorem.tight`).

    References
    ----------
    "Information Density Bounds for Privacy", Table II and Section V; "Pointwise Maximal Leakage",
    Table I and Sections III and IV.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> import borel.guarantees as g
    >>> found = g.implied(g.LDP(ratio=3), p_min=F(1, 4), alphabet=4)
    >>> found.best(g.PML), found.best(g.PMC)
    (PML(log 2), PMC(log 5/2))
    >>> found[g.PML][0].uses
    ('PMC paper, Proposition 1 to PML',)
    """
    for guarantee in guarantees:
        if not isinstance(guarantee, Guarantee):
            raise InvalidInput(
                "implied",
                expected="guarantees, such as bl.guarantees.PML(0.5)",
                got=repr(guarantee),
            )
    facts = facts_of(
        p_min=p_min,
        alphabet=alphabet,
        prior=prior,
        common_maximiser=common_maximiser,
        delta=delta,
    )
    return closure(guarantees, facts, theorems(sharpened=sharpened))


def closure(
    guarantees: tuple[Guarantee, ...],
    facts: Facts,
    rules: tuple[Theorem, ...],
    derived: tuple[Implication, ...] = (),
) -> Implied:
    """Apply theorems until nothing improves; ``derived`` are premises that have a derivation."""
    fronts: dict[Kind, list[Implication]] = {}
    for start in (*(Implication(g) for g in guarantees), *derived):
        _keep(fronts, start)
    usable = [t for t in rules if facts.has(t.needs)]
    done: set[tuple] = set()
    for _ in range(_ROUNDS):
        improved = False
        for theorem in usable:
            known = [list(fronts.get(kind, ())) for kind in theorem.premises]
            for premises in product(*known):
                if (theorem, premises) in done:
                    continue
                done.add((theorem, premises))
                conclusion = theorem.apply(tuple(p.guarantee for p in premises), facts)
                if conclusion is not None:
                    improved |= _keep(fronts, Implication(conclusion, theorem, premises))
        if not improved:
            break
    return Implied(tuple(guarantees), facts, fronts)


def _keep(fronts: dict[Kind, list[Implication]], new: Implication) -> bool:
    """Keep an implication unless another is as strong; drop those that it beats."""
    if any(level.nats == float("inf") for level in new.guarantee.levels) and not new.given:
        return False
    front = fronts.setdefault(kind_of(new.guarantee), [])
    mine = (new.guarantee.parameters, len(new.chain))
    for old in front:
        its = (old.guarantee.parameters, len(old.chain))
        if old.guarantee.implies_same_kind(new.guarantee) and (its[0] != mine[0] or its <= mine):
            return False
    front[:] = [o for o in front if not _beats(new.guarantee, o.guarantee)]
    front.append(new)
    return True


def _beats(one: Guarantee, other: Guarantee) -> bool:
    return all(a <= b for a, b in zip(one.parameters, other.parameters, strict=True))
