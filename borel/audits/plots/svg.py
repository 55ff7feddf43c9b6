"""Figures of Matplotlib as SVG that stands inside an HTML page, in its colours and its font."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from borel.colours import BLUE, GREEN, GREY, ORANGE, PURPLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

_UNKNOWN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML does not have; a label may."""


def inline(figure: Figure, alt: str, prefix: str) -> str:
    """Return a figure as an ``<svg>`` element for an HTML page.

    Parameters
    ----------
    figure : Figure
        What was drawn.
    alt : str
        Its alternative text.
    prefix : str
        What the ids of the element start with: two figures of a page have two.

    Returns
    -------
    str
        The element. Text is text, in the font of the page; colours are `COLOURS`, custom
        properties of the page; it holds no style sheet, and refers to nothing outside itself.
    """
    import matplotlib as mpl

    out = StringIO()
    settings: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "borel"}
    with mpl.rc_context(settings):
        figure.savefig(
            out, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
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
    return ElementTree.tostring(root, encoding="unicode").strip()


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
