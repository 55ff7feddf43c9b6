"""The graph of what follows, as a picture. Matplotlib is imported when it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from borel.colours import BLUE, GREY
from borel.errors import InvalidInput
from borel.guarantees.calculus import Implication, Implied, kind_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    "MutualInformation": (4.1, 2.9),
    "FInformation": (4.1, 1.5),
    "TotalVariation": (4.0, 0.4),
}
"""Where each kind stands: context-free on the left, informations on the right."""


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
    shown = {id(i) for i in found.implications}
    kinds = {kind_of(i.guarantee) for i in found.implications}
    arrows: dict[tuple[str, str, str], None] = {}
    for implication in found.implications:
        for premise in implication.premises:
            inside = id(premise) in shown or kind_of(premise.guarantee) in kinds
            if inside and implication.theorem is not None:
                arrows[_name(premise), _name(implication), implication.theorem.name] = None
    return [a for a in arrows if a[0] != a[1]]
