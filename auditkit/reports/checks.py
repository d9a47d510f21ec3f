"""The outcome of the checks as text or JSON."""

from __future__ import annotations

import json
import textwrap

from auditkit.checks.common import Check
from auditkit.checks.run import CheckReport
from auditkit.errors import printable


def render_checks(report: CheckReport, format_: str, *, width: int = 100) -> str:
    """The checks as ``text``, or as ``json``.

    In text, what passed or was skipped for one reason takes one line a check; every failure is told in full, last,
    where it is seen.
    """
    if format_ == "json":
        return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    lines = _grouped(report, width)
    failed = [check for check in report.checks if check.status == "failed"]
    for check in sorted(failed, key=lambda c: c.severity == "error"):
        word = "FAIL" if check.severity == "error" else "warn"
        lines += _wrapped(
            f"{word}  {check.id}", f"{printable(check.subject)}: {printable(check.reason)}", width
        )
    counts = report.counts()
    lines.append("")
    lines.append(
        f"{'passed' if report.passed else 'FAILED'}: {counts['passed']} ok, {counts['errors']} broken, "
        f"{counts['warnings']} warnings{' (counted, --strict)' if report.strict else ''}, {counts['skipped']} skipped"
    )
    lines.append(f"signature {printable(report.stamp.signature)}")
    return "\n".join(lines)


def _grouped(report: CheckReport, width: int) -> list[str]:
    passed: dict[str, list[Check]] = {}
    skipped: dict[tuple[str, str], list[Check]] = {}
    for check in report.checks:
        if check.status == "passed":
            passed.setdefault(check.id, []).append(check)
        elif check.status == "skipped":
            skipped.setdefault((check.id, check.reason), []).append(check)
    lines = []
    for name, checks in passed.items():
        detail = (
            checks[0].reason
            if len(checks) == 1
            else f"{len(checks)} subjects, such as: {checks[0].reason}"
        )
        lines += _wrapped(f"ok    {name}", printable(detail), width)
    for (name, reason), checks in skipped.items():
        lines += _wrapped(f"skip  {name}", printable(f"{len(checks)} subjects: {reason}"), width)
    return lines


def _wrapped(head: str, detail: str, width: int) -> list[str]:
    return textwrap.wrap(detail, width, initial_indent=f"{head:<34}  ", subsequent_indent=" " * 36)
