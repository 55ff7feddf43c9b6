"""What follows from guarantees, each with its derivation, and the picture of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from borel.colours import BLUE, GREY
from borel.errors import InvalidInput
from borel.guarantees.base import Guarantee
from borel.guarantees.facts import Facts
from borel.guarantees.informations import FInformation
from borel.guarantees.theorem import Theorem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

Kind = Any  # a type of guarantee; with the function, for f-information
_PLACES = {
    "UniversalPML": (0.0, 3.2),
    "UniversalPMC": (0.0, 2.2),
    "LDI": (0.0, 0.3),
    "LDP": (1.0, 2.2),
    "LIP": (0.7, 1.0),
    "ALIP": (1.35, 0.1),
    "PML": (2.0, 2.6),
    "PMC": (2.0, 0.8),
    "SlicedEML": (2.6, 3.7),
    "EML": (3.1, 3.4),
    "MaxInformation": (3.2, 1.9),
    "AveragePML": (2.9, 1.1),
    "TailLeakage": (2.6, 2.0),
    "MutualInformation": (4.1, 2.9),
    "FInformation": (4.1, 1.5),
    "TotalVariation": (4.0, 0.4),
}
"""Where each kind stands: context-free on the left, informations on the right."""


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


# -- as a picture -----------------------------------------------------------------------------


def plot_implications(found: Implied, *, ax: Axes | None = None) -> Axes:
    """Draw guarantees as boxes and the last theorem of each chain as arrows.

    Premises have a thick frame. Levels are rounded up. The numbers on the arrows are explained
    under the picture.

    Parameters
    ----------
    found : Implied
        From `borel.guarantees.implied`, `compose` or `post_processed`.
    ax : Axes, optional
        Where to draw; default a new figure.

    Returns
    -------
    Axes
        The axes, without scales.

    Raises
    ------
    InvalidInput
        Something that is not an `Implied`.

    Examples
    --------
    >>> import borel.guarantees as g
    >>> from matplotlib.figure import Figure
    >>> axes = plot_implications(g.implied(g.LDP(1.0), p_min=0.1), ax=Figure().subplots())
    >>> axes.get_title(loc="left")
    'LDP(1) (finite alphabet, p_min = 0.1)'
    """
    if not isinstance(found, Implied):
        raise InvalidInput(
            "plot_implications", expected="bl.guarantees.implied(...)", got=type(found).__name__
        )
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(11, 6.5), layout="constrained")[1]
    assert ax is not None
    boxes = _boxes(found)
    for name, (place, lines, given) in boxes.items():
        ax.text(
            *place,
            "\n".join(lines),
            ha="center",
            va="center",
            fontsize="small",
            gid=name,
            zorder=3,
            bbox={
                "boxstyle": "round",
                "facecolor": "white",
                "edgecolor": BLUE if given else GREY,
                "linewidth": 2.4 if given else 0.9,
            },
        )
    keys: dict[str, int] = {}
    for start, end, theorem in _arrows(found):
        number = keys.setdefault(theorem, len(keys) + 1)
        ax.annotate(
            "",
            boxes[end][0],
            boxes[start][0],
            arrowprops={"arrowstyle": "->", "color": GREY, "shrinkA": 26, "shrinkB": 26},
            zorder=2,
        )
        # nearer to the head, where arrows that leave one box have parted
        (a, b), (c, d) = boxes[start][0], boxes[end][0]
        x, y = 0.4 * a + 0.6 * c, 0.4 * b + 0.6 * d
        ax.text(x, y, str(number), fontsize="x-small", color=BLUE, ha="center", zorder=4)
    ax.set_title(_title(found), loc="left", fontsize="medium")
    explained = "\n".join(f"{n}  {theorem}" for theorem, n in keys.items())
    ax.annotate(
        explained, (0, 0), (0, -4), "axes fraction", "offset points", va="top", fontsize="x-small"
    )
    ax.set_xlim(-0.6, 4.7)
    ax.set_ylim(-0.4, 3.9)
    ax.set_axis_off()
    return ax


def _title(found: Implied) -> str:
    return repr(found).partition("\n")[0].partition(" implies")[0]


def _name(implication: Implication) -> str:
    return type(implication.guarantee).__name__


def _boxes(found: Implied) -> dict[str, tuple[tuple[float, float], list[str], bool]]:
    """Return for each kind its place, its guarantees in words, and whether it is a premise."""
    boxes: dict[str, Any] = {}
    for implication in found.implications:
        name = _name(implication)
        place = _PLACES.get(name, (4, 3.4))
        _, lines, given = boxes.get(name, (place, [], False))
        boxes[name] = (place, [*lines, str(implication.guarantee)], given or implication.given)
    return boxes


def _arrows(found: Implied) -> list[tuple[str, str, str]]:
    """Return the last steps of the chains as (from, to, theorem), each once."""
    kinds = {kind_of(i.guarantee) for i in found.implications}
    arrows: dict[tuple[str, str, str], None] = {}
    for implication in found.implications:
        for premise in implication.premises:
            shown = any(premise is other for other in found.implications)
            inside = shown or kind_of(premise.guarantee) in kinds
            if inside and implication.theorem is not None:
                arrows[_name(premise), _name(implication), implication.theorem.name] = None
    return [a for a in arrows if a[0] != a[1]]
