"""The outcome of the checks: as text, as JSON, or as a CI server wants it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable

from auditkit.checks.claims import ID as CLAIM
from auditkit.checks.common import Check
from auditkit.checks.run import CheckReport
from auditkit.errors import counted, printable
from auditkit.reports.table import folded

FORMATS = ("text", "json", "junit", "github")
_HEAD, _INDENT = 32, 6
_TOLD = 8  # warnings, or reasons to skip, of one kind that are told one by one


def render_checks(report: CheckReport, format_: str, *, width: int = 80) -> str:
    """The checks as ``text``, ``json``, ``junit`` or ``github``.

    In text, what passed or was skipped for one reason takes one entry a check; what failed is told in full, last,
    where it is seen, errors after warnings. Of many warnings of one kind the first few are told.
    """
    if format_ == "json":
        return json.dumps(report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    if format_ == "junit":
        from auditkit.reports.junit import render_junit

        return render_junit(report)
    if format_ == "github":
        from auditkit.reports.github import render_github

        return render_github(report)
    lines = [*_passed(report, width), *_skipped(report, width), *_failed(report, width)]
    return "\n".join([*lines, "", *summary(report, width)])


def summary(report: CheckReport, width: int) -> list[str]:
    """The verdict with its counts, and the signature."""
    return [verdict(report), folded(f"signature {printable(report.stamp.signature)}", width)]


def verdict(report: CheckReport) -> str:
    """Whether the checks passed, with their counts, on one line."""
    counts = report.counts()
    counted_too = " (counted, --strict)" if report.strict else ""
    if not report.n_decided:
        failed = "" if report.passed else "FAILED: "
        return f"{failed}nothing could be checked{counted_too}: {counts['skipped']:,} skipped"
    return (
        f"{'passed' if report.passed else 'FAILED'}: {counts['passed']:,} ok, {counts['errors']:,} broken, "
        f"{counted(counts['warnings'], 'warning')}{counted_too}, {counts['skipped']:,} skipped"
    )


def _passed(report: CheckReport, width: int) -> list[str]:
    groups = _groups((c for c in report.checks if c.status == "passed"), reasons=False)
    lines = []
    for name, checks in groups.items():
        if name == CLAIM:
            lines += _each("ok", checks, width)
        else:
            many = f"{len(checks)} subjects, such as: " if len(checks) > 1 else ""
            lines += _entry(f"ok    {name}", f"{many}{checks[0].reason}", width)
    return lines


def _skipped(report: CheckReport, width: int) -> list[str]:
    by_name = _groups((c for c in report.checks if c.status == "skipped"), reasons=False)
    lines = []
    for name, skipped in by_name.items():
        groups = list(_groups(skipped, reasons=True).values())
        for checks in groups[:_TOLD]:
            many = len(checks) > 1
            subject = f"{len(checks)} subjects" if many else printable(checks[0].subject, 60)
            lines += _entry(f"skip  {name}", f"{subject}: {checks[0].reason}", width)
        lines += _rest("skip", name, sum(map(len, groups[_TOLD:])), width)
    return lines


def _failed(report: CheckReport, width: int) -> list[str]:
    failed = [c for c in report.checks if c.status == "failed"]
    warnings = [c for c in failed if c.severity == "warning"]
    lines = []
    for name, checks in _groups(warnings, reasons=False).items():
        lines += _each("warn", checks[:_TOLD], width)
        lines += _rest("warn", name, len(checks[_TOLD:]), width)
    return lines + _each("FAIL", [c for c in failed if c.severity == "error"], width)


def _rest(word: str, name: str, count: int, width: int) -> list[str]:
    told = f"and {count:,} more of them; --format json tells all"
    return _entry(f"{word:<4}  {name}", told, width) if count else []


def _groups(checks: Iterable[Check], *, reasons: bool) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = {}
    for check in checks:
        found.setdefault(f"{check.id} {check.reason}" if reasons else check.id, []).append(check)
    return found


def _each(word: str, checks: Iterable[Check], width: int) -> list[str]:
    return [
        line
        for check in checks
        for line in _entry(
            f"{word:<4}  {check.id}", f"{printable(check.subject, 120)}: {check.reason}", width
        )
    ]


def _entry(head: str, detail: str, width: int) -> list[str]:
    """The detail beside the head where both fit a line, else below it."""
    detail = printable(detail, 2000)
    if max(len(head), _HEAD) + 2 + len(detail) <= width:
        return [f"{head:<{_HEAD}}  {detail}"]
    indent = " " * _INDENT
    return [head, *textwrap.wrap(detail, width, initial_indent=indent, subsequent_indent=indent)]
