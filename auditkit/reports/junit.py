"""The outcome of the checks as JUnit XML, which CI servers show as tests."""

from __future__ import annotations

from xml.etree import ElementTree

from auditkit.checks.common import Check
from auditkit.checks.run import CheckReport
from auditkit.errors import printable


def render_junit(report: CheckReport) -> str:
    """One test suite a group of checks (``fidelity``, ``claims``), one test case a check and subject.

    A warning that does not count (without ``--strict``) passes, with the warning as the test's output.
    """
    root = ElementTree.Element("testsuites", {"name": "auditkit check"})
    suites: dict[str, list[Check]] = {}
    for check in report.checks:
        suites.setdefault(check.id.split(".")[0], []).append(check)
    for name, checks in suites.items():
        counted = sum(check in report.failures for check in checks)
        skipped = sum(check.status == "skipped" for check in checks)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            {
                "name": name,
                "tests": str(len(checks)),
                "failures": str(counted),
                "errors": "0",
                "skipped": str(skipped),
            },
        )
        properties = ElementTree.SubElement(suite, "properties")
        for key, value in (("file", report.stamp.path), ("signature", report.stamp.signature)):
            ElementTree.SubElement(
                properties, "property", {"name": key, "value": printable(value, 2000)}
            )
        for check in checks:
            _case(suite, check, counts=report.strict or check.severity == "error")
    root.set("tests", str(len(report.checks)))
    root.set("failures", str(len(report.failures)))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def _case(suite: ElementTree.Element, check: Check, *, counts: bool) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", {"classname": check.id, "name": printable(check.subject)}
    )
    reason = printable(check.reason, 2000)
    if check.status == "skipped":
        ElementTree.SubElement(case, "skipped", {"message": reason})
    elif check.status == "failed" and counts:
        failure = ElementTree.SubElement(
            case, "failure", {"type": check.severity, "message": reason}
        )
        failure.text = f"{printable(check.subject)}: {reason}"
    elif check.status == "failed":
        ElementTree.SubElement(case, "system-out").text = f"warning: {reason}"
