"""Figures of Matplotlib as SVG that stands inside an HTML page, in its colours and its font."""

from __future__ import annotations

import math
import re
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from borel.colours import BLUE, GREEN, GREY, ORANGE, PURPLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

Point = tuple[float, float, str]
"""A place of a plot, x and y in units of its axes, and what is said there."""

COLOURS = {
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#ebebeb": "var(--line)",
    BLUE.lower(): "var(--blue)",
    ORANGE.lower(): "var(--orange)",
    GREY.lower(): "var(--soft)",
    GREEN.lower(): "var(--green)",
    PURPLE.lower(): "var(--purple)",
}
"""What the page is asked for in place of a colour, so that plots follow its light or dark mode."""

_RIGHT, _TOP = 0.96, 0.93
"""Where the arrow of what is infinite is, as a share of the axis."""

_UNKNOWN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML does not have; a label may."""


def inline(ax: Axes, alt: str, prefix: str, points: Iterable[Point] = ()) -> str:
    """Return the figure of some axes as an ``<svg>`` element for an HTML page.

    Parameters
    ----------
    ax : Axes
        What was drawn.
    alt : str
        Its alternative text.
    prefix : str
        What the ids of the element start with: two figures of a page have two.
    points : iterable of (x, y, text)
        What a browser says where the pointer rests: each is a ``<title>``, for which no script is
        needed. An infinite y is at the top, where its arrow is.

    Returns
    -------
    str
        The element. Text is text, in the font of the page; colours are `COLOURS`, custom
        properties of the page; it holds no style sheet, and refers to nothing outside itself.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    figure: Any = ax.get_figure(root=True)
    for artist in (figure, *figure.axes):
        artist.patch.set(facecolor="none", edgecolor="none")  # the paper is the page's
    out = StringIO()
    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "borel"}
    with mpl.rc_context(settings):  # `savefig` would draw it once more, before, for its layout
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    source = _UNKNOWN.sub("\ufffd", out.getvalue())
    root = ElementTree.fromstring(source)
    used = set(re.findall(r"(?:url\(|href=\")#([^\")]+)", source))
    for parent in root.iter():
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {
            _local(name): _inside(name, value, prefix)
            for name, value in element.attrib.items()
            if name != "id" or value in used
        }
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"class": "plot", "role": "img", "aria-label": alt}
    root.extend(_titled(ax, points))
    return ElementTree.tostring(root, encoding="unicode").strip()


def _titled(ax: Axes, points: Iterable[Point]) -> list[ElementTree.Element]:
    """Return circles that cannot be seen, each with its title; none outside the axes."""
    figure: Any = ax.get_figure(root=True)
    scale, height = 72 / figure.dpi, 72 * figure.get_figheight()
    right, top = _RIGHT * max(ax.get_xlim()), _TOP * max(ax.get_ylim())
    found = []
    for x, y, text in points:
        place = (x if math.isfinite(x) else right, y if math.isfinite(y) else top)
        across, up = ax.transData.transform(place)
        if not ax.bbox.contains(across, up):
            continue
        at = {"cx": f"{across * scale:.1f}", "cy": f"{height - up * scale:.1f}", "r": "5"}
        circle = ElementTree.Element("circle", {"class": "point", **at})
        ElementTree.SubElement(circle, "title").text = _UNKNOWN.sub("\ufffd", text)
        found.append(circle)
    return found


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _inside(name: str, value: str, prefix: str) -> str:
    """Return the value of an attribute with ids and colours of the page."""
    if name == "id":
        return f"{prefix}-{value}"
    if _local(name) == "href":
        return f"#{prefix}-{value[1:]}"
    if name == "style":  # the font is the page's
        value = re.sub(r"font-family: [^;]*;? ?", "", value)
    value = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", value)
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: COLOURS.get(found[0], found[0]), value)
