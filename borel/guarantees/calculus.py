r"""The calculus: from what is known, every guarantee that follows, by the best chain of theorems.

The search is generic: theorems are data (`Theorem`). Facts are derived round by round until
nothing improves. For each kind the strongest guarantees are kept: several where they cannot be
compared (levels against delta, the two sides of ALIP). As every map is monotone, a stronger premise
gives a stronger conclusion, so that dropping what is dominated loses nothing; cycles end because
no cycle improves on what it started from, and only strict improvements are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from borel.errors import InvalidInput
from borel.guarantees.base import Guarantee
from borel.guarantees.facts import Facts, facts_of
from borel.guarantees.informations import FInformation
from borel.guarantees.theorem import Theorem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDS = 60
Kind = Any  # a type of guarantee; with the function, for f-information


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
    from borel.guarantees import theorems_here, theorems_pmc, theorems_pml

    stated = (*theorems_pmc.THEOREMS, *theorems_pml.THEOREMS)
    every = (*stated, *theorems_here.THEOREMS)
    return every if sharpened else tuple(t for t in every if t.origin == "paper")


@dataclass(frozen=True, eq=False)
class Implication:
    """A guarantee that follows, and the derivation.

    Attributes
    ----------
    guarantee : Guarantee
        What follows; its levels are rounded up.
    theorem : Theorem or None
        The last step; None for a premise.
    premises : tuple of Implication
        What the last step used.
    """

    guarantee: Guarantee
    theorem: Theorem | None = None
    premises: tuple[Implication, ...] = ()

    @property
    def chain(self) -> tuple[Theorem, ...]:
        """The theorems used, each once, premises first."""
        used: dict[Theorem, None] = {}
        for premise in self.premises:
            used.update(dict.fromkeys(premise.chain))
        if self.theorem is not None:
            used[self.theorem] = None
        return tuple(used)

    @property
    def uses(self) -> tuple[str, ...]:
        """The names of the theorems used."""
        return tuple(theorem.name for theorem in self.chain)

    @property
    def given(self) -> bool:
        """Whether it is a premise."""
        return self.theorem is None

    def __str__(self) -> str:
        """Show the guarantee and the theorems."""
        return f"{self.guarantee}  by {'; '.join(self.uses) or 'assumption'}"

    __repr__ = __str__


class Implied(Mapping):
    """All that follows from some guarantees: a mapping from kinds to implications.

    ``found[bl.guarantees.PML]`` is a tuple of `Implication`, those of least delta first, which do
    not dominate each other; ``found.best(bl.guarantees.PML)`` is the guarantee without exceptions
    of least epsilon. Kinds of which nothing follows are not in the mapping.

    Attributes
    ----------
    premises : tuple of Guarantee
        What was known.
    facts : Facts
        What was known of the prior.
    """

    def __init__(self, premises: tuple[Guarantee, ...], facts: Facts, fronts: dict[Kind, list]):
        self.premises = premises
        self.facts = facts
        self.link = ""  # how the premises are combined: "then", "post-processed", ...
        self._fronts = {
            kind: tuple(sorted(front, key=lambda i: i.guarantee.parameters[::-1]))
            for kind, front in fronts.items()
            if front
        }

    def __getitem__(self, kind: Kind) -> tuple[Implication, ...]:
        """Return the implications of a kind."""
        if kind is FInformation:
            return tuple(i for i in self.implications if isinstance(i.guarantee, FInformation))
        return self._fronts[kind]

    def __contains__(self, kind: object) -> bool:
        """Return whether anything of a kind follows."""
        return kind in self._fronts or (kind is FInformation and bool(self[FInformation]))

    def __iter__(self) -> Iterator[Kind]:
        """Iterate over the kinds."""
        return iter(self._fronts)

    def __len__(self) -> int:
        """Count the kinds."""
        return len(self._fronts)

    @property
    def implications(self) -> tuple[Implication, ...]:
        """All implications, premises included."""
        return tuple(i for front in self._fronts.values() for i in front)

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """All guarantees that follow, premises included."""
        return tuple(i.guarantee for i in self.implications)

    def best(self, kind: Kind) -> Guarantee | None:
        """Return the strongest guarantee of a kind: the least delta, then the least levels.

        None if nothing of the kind follows.
        """
        return self[kind][0].guarantee if kind in self else None

    def proves(self, guarantee: Guarantee) -> Implication | None:
        """Return an implication at least as strong as a guarantee, or None if none was found.

        None is not a refutation: a theorem that this calculus does not know may imply it.
        """
        if not isinstance(guarantee, Guarantee):
            raise InvalidInput("implied.proves", expected="a guarantee", got=repr(guarantee))
        for implication in self._fronts.get(kind_of(guarantee), ()):
            if implication.guarantee.implies_same_kind(guarantee):
                return implication
        return None

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the graph of what follows (see `plot_implications`)."""
        from borel.guarantees.picture import plot_implications

        return plot_implications(self, ax=ax)

    def __repr__(self) -> str:
        """Show a table: what is known, what follows, by which theorems."""
        link = " then " if self.link == "then" else " and "
        known = link.join(map(str, self.premises)) or "nothing but the prior"
        known += f" {self.link}" if self.link not in ("", "then") else ""
        head = f"{known} ({self.facts}) implies"
        rows = [(str(i.guarantee), "; ".join(i.uses)) for i in self.implications if not i.given]
        if not rows:
            return f"{head} nothing that the theorems know"
        width = max(len(what) for what, _ in rows)
        lines = [f"  {what:<{width}}  {by}" for what, by in rows]
        notes = [f"  assuming that {note}" for note in self.facts.notes]
        return "\n".join([head, *lines, *notes])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"


def kind_of(guarantee: Guarantee) -> Kind:
    """Return the kind under which a guarantee is compared with others."""
    if isinstance(guarantee, FInformation):
        return (FInformation, guarantee.f)
    return type(guarantee)


def implied(
    *guarantees: Guarantee,
    p_min: Any = None,
    alphabet: Any = None,
    prior: Any = None,
    common_maximiser: bool = False,
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
    facts = facts_of(p_min=p_min, alphabet=alphabet, prior=prior, common_maximiser=common_maximiser)
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
