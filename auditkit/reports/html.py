"""A report as one HTML file that opens offline: no script, no external asset, every text escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import PurePath

from jinja2 import BaseLoader, Environment, Template

from auditkit.reports import style
from auditkit.reports.document import Document, Figure
from auditkit.reports.escaped import escaped
from auditkit.reports.svg import render_svg
from auditkit.version import __version__


def render_html(document: Document) -> str:
    """The document as a page: verdicts first, then settings, then each section with its plots and tables."""
    shown = escaped(document)
    sections = [
        {
            "title": section.title,
            "verdict": section.verdict,
            "tables": section.tables,
            "checklist": section.checklist,
            "skipped": section.skipped,
            "notes": section.notes,
            "figures": [
                _figure(figure, f"s{i}f{j}") for j, figure in enumerate(section.figures, start=1)
            ],
        }
        for i, section in enumerate(shown.sections, start=1)
    ]
    return _template("report.html").render(
        document={
            "title": shown.title,
            "facts": shown.facts,
            "notes": shown.notes,
            "signature": shown.signature,
            "sections": sections,
        },
        source=PurePath(shown.facts[0][1]).name if shown.facts else "",
        css=_template("report.css").render(variables=_variables()),
        version=__version__,
    )


def _figure(figure: Figure, key: str) -> dict[str, object]:
    return {"title": figure.title, "alt": figure.alt, "svg": render_svg(figure, key)}


def _variables() -> tuple[str, str]:
    """The palette as CSS variables, for light and for dark paper."""
    light, dark = (
        " ".join(f"--{name}: {colours[i]};" for name, colours in style.PALETTE.items())
        for i in (0, 1)
    )
    return light, dark


@cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=BaseLoader(),
        autoescape=name.endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    source = files("auditkit.reports") / "templates" / name
    return environment.from_string(source.read_text(encoding="utf-8"))
