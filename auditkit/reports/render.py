"""From an audit to a text in the format asked for."""

from __future__ import annotations

import json
from importlib import import_module

from auditkit.reports.document import Document
from auditkit.results.audit import Audit


def document(audit: Audit) -> Document:
    """The report of an audit, before any format."""
    settings = audit.stamp.settings
    facts = (
        ("file", audit.stamp.path or "arrays in memory"),
        ("intervals", f"{settings['confidence']:.0%} {settings['method']} bootstrap, "
                      f"{settings['replicates']:,} replicates, seed {settings['seed']}"),
    )  # fmt: skip
    sections = tuple(
        section
        for name, result in audit.results.items()
        for section in import_module(f"auditkit.reports.sections.{name}").sections(result)
    )
    return Document("auditkit audit", facts, sections, audit.stamp.signature)


def render(audit: Audit, format_: str, *, width: int = 100) -> str:
    """The audit as a text: ``table`` or ``json``."""
    if format_ == "json":
        return json.dumps(audit.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    from auditkit.reports.table import render_table

    return render_table(document(audit), width=width)
