"""A figure as inline SVG: text as text, colours that follow the page, title and description for screen readers."""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from auditkit.errors import printable
from auditkit.reports import style
from auditkit.reports.document import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_VARIABLES = {light: f"var(--{name}, {light})" for name, (light, _) in style.PALETTE.items()}
_COLOUR = re.compile("|".join(_VARIABLES), re.IGNORECASE)
_LONGEST = 200


def render_svg(figure: Figure, key: str) -> str:
    """The figure as an ``<svg>`` element.

    Parameters
    ----------
    figure
        What to draw.
    key
        Prefix of every id in the element, so that several fit in one page; letters, digits and dashes.
    """
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    look: Any = {**style.settings(), "svg.hashsalt": key}
    with matplotlib.rc_context(look):
        canvas = Canvas(figsize=figure.size, layout="constrained")
        axes = canvas.add_subplot()
        figure.draw(axes)
        for each in canvas.axes:
            _plain_logarithms(each)
        stream = io.StringIO()
        with (
            warnings.catch_warnings()
        ):  # of missing glyphs (the browser has its own fonts), of names too long
            warnings.simplefilter("ignore", UserWarning)
            canvas.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(stream.getvalue(), figure, key)


def _plain_logarithms(axes: Axes) -> None:
    """Logarithmic axes label with plain numbers: their default labels are mathematics, which is off."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() in ("log", "symlog"):
            axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            axis.set_minor_formatter(NullFormatter())


def _inline(text: str, figure: Figure, key: str) -> str:
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(_visible(text[text.index("<svg") :]))
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        _adapt(element, key)
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    width = round(figure.size[0] * 96)
    root.set("style", f"width: 100%; max-width: {width}px; height: auto")
    root.set("role", "img")
    root.set("aria-labelledby", f"{key}-title {key}-desc")
    root.set("id", key)
    for position, (tag, words) in enumerate((("title", figure.title), ("desc", figure.alt))):
        child = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": f"{key}-{tag}"})
        child.text = printable(words, 4000)
        root.insert(position, child)
    return ElementTree.tostring(root, encoding="unicode")


def _adapt(element: ElementTree.Element, key: str) -> None:
    """Prefix ids and what refers to them, let palette colours follow the page, and cut long texts."""
    attributes = element.attrib
    if "id" in attributes:
        attributes["id"] = f"{key}-{attributes['id']}"
    if _XLINK in attributes:
        attributes[_XLINK] = attributes[_XLINK].replace("#", f"#{key}-", 1)
    for name, value in attributes.items():
        if "url(#" in value:
            attributes[name] = value.replace("url(#", f"url(#{key}-")
    if "style" in attributes:
        attributes["style"] = _COLOUR.sub(
            lambda match: _VARIABLES[match[0].lower()], attributes["style"]
        )
    if element.tag == f"{{{_SVG}}}text" and element.text:
        element.text = printable(element.text, _LONGEST)


def _visible(text: str) -> str:
    """Control and format characters of names, most of which XML forbids, as escapes."""
    return "".join(
        ascii(c)[1:-1]
        if c not in "\n\r\t" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co"}
        else c
        for c in text
    )
