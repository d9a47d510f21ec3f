"""The outcome of the checks as GitHub annotations: workflow commands on lines of their own."""

from __future__ import annotations

from auditkit.checks.common import Check
from auditkit.checks.run import CheckReport
from auditkit.errors import printable
from auditkit.reports.checks import verdict


def render_github(report: CheckReport) -> str:
    """Errors first, then warnings, then one line with the counts; what passed or was skipped is only counted.

    GitHub shows ten annotations of each kind a step; the others stay in the log.
    """
    failed = [check for check in report.checks if check.status == "failed"]
    failed.sort(key=lambda check: check not in report.failures)
    lines = [_annotation(check, report) for check in failed]
    told = verdict(report)
    lines.append(f"auditkit check{':' if told.startswith('nothing') else ''} {told}")
    return "\n".join(lines)


def _annotation(check: Check, report: CheckReport) -> str:
    level = "error" if check in report.failures else "warning"
    parts = {"file": report.stamp.path, "title": check.id}
    properties = ",".join(f"{key}={_property(value)}" for key, value in parts.items() if value)
    return f"::{level} {properties}::{_data(f'{check.subject}: {check.reason}')}"


def _data(text: str) -> str:
    return printable(text, 2000).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
