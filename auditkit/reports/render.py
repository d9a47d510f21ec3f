"""From an audit to a text in the format asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.resources import files
from typing import Any

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Document, Section
from auditkit.results.audit import Audit
from auditkit.results.common import AuditResult

CHECKLISTS = ("fidelity", "selection", "allocation")
FORMATS = ("table", "json", "html", "markdown", "latex")


def document(audit: Audit) -> Document:
    """The report of an audit, before any format."""
    settings = audit.stamp.settings
    facts = [
        ("file", audit.stamp.path or "arrays in memory"),
        ("sha256", audit.stamp.sha256),
        ("intervals", f"{numbers.level(settings['confidence'])} {settings['method']} bootstrap, "
                      f"{counted(settings['replicates'], 'replicate')}, seed {settings['seed']}"),
    ]  # fmt: skip
    facts += [(name, _told(settings[name])) for name in audit.results if settings.get(name)]
    sections = tuple(
        section for name, result in audit.results.items() for section in _sections(name, result)
    )
    return Document("Audit", tuple(facts), sections, audit.stamp.signature)


def render(audit: Audit, format_: str, *, width: int = 80) -> str:
    """The audit as a text: ``table``, ``json``, ``html``, ``markdown`` or ``latex``."""
    if format_ == "json":
        return json.dumps(audit.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    if format_ == "table":
        from auditkit.reports.table import render_table

        return render_table(document(audit), width=width)
    renderer = getattr(import_module(f"auditkit.reports.{format_}"), f"render_{format_}")
    return str(renderer(document(audit)))


def json_schema() -> str:
    """The JSON Schema of the ``json`` format."""
    return (files("auditkit.reports") / "audit.schema.json").read_text(encoding="utf-8").rstrip()


def _sections(name: str, result: AuditResult) -> Iterator[Section]:
    """The sections of one audit, each with the checklist of its source, where that has one."""
    found = import_module(f"auditkit.reports.sections.{name}").sections(result)
    if name not in CHECKLISTS:
        yield from found
        return
    lists = import_module(f"auditkit.reports.checklists.{name}").checklists(result)
    for section, points in zip(found, lists, strict=True):
        yield replace(section, checklist=points)


def _told(own: Mapping[str, Any]) -> str:
    """The options of one audit in words; what is off, and what derives from the seed, is left to the JSON."""
    parts = [
        key.replace("_", " ") + ("" if value is True else f" {_plain(value)}")
        for key, value in own.items()
        if value is not None and value is not False and not isinstance(value, Mapping)
    ]
    return ", ".join(parts)


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{key} {_plain(v)}" for key, v in value.items())
    if isinstance(value, list | tuple):
        return " ".join(
            " / ".join(map(str, v)) if isinstance(v, list | tuple) else str(v) for v in value
        )
    return f"{value:g}" if isinstance(value, float) else str(value)
