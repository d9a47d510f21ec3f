"""The outcome of the checks as text or JSON."""

from __future__ import annotations

import json

from auditkit.checks.run import CheckReport
from auditkit.errors import printable

_WORDS = {"passed": "ok", "skipped": "skip"}


def render_checks(report: CheckReport, format_: str, *, width: int = 100) -> str:
    """The checks as ``text``, failures last where they are seen, or as ``json``."""
    if format_ == "json":
        return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    import textwrap

    order = {"passed": 0, "skipped": 1, "failed": 2}
    lines = []
    for check in sorted(report.checks, key=lambda c: (order[c.status], c.severity == "error")):
        word = _WORDS.get(check.status, "FAIL" if check.severity == "error" else "warn")
        head = f"{word:<4}  {check.id}  {printable(check.subject)}"
        lines.append(head)
        lines += textwrap.wrap(printable(check.reason), width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    counts = report.counts()
    lines.append("")
    lines.append(
        f"{'passed' if report.passed else 'FAILED'}: {counts['passed']} ok, {counts['errors']} broken, "
        f"{counts['warnings']} warnings{' (counted, --strict)' if report.strict else ''}, {counts['skipped']} skipped"
    )
    lines.append(f"signature {report.stamp.signature}")
    return "\n".join(lines)
