"""The outcome of the checks as text and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from auditkit.audits.run import run_audits
from auditkit.checks.common import Check, Severity, Status
from auditkit.checks.run import CheckReport, check
from auditkit.claims.file import Claim
from auditkit.demo import demo_data
from auditkit.reports.checks import render_checks
from auditkit.results.audit import Audit
from auditkit.results.common import Stamp
from auditkit.schema import AuditData
from tests.reports.hostile import crowded_audit, hostile_audit


def report(*checks: Check, strict: bool = False) -> CheckReport:
    return CheckReport(Stamp("a.h5", "0" * 64, {"seed": 0}), checks, 1e-12, strict)


def one(
    status: Status, severity: Severity = "error", name: str = "fidelity.lemma1", subject: str = "s"
) -> Check:
    return Check(name, subject, severity, status, "the reason")


def test_what_passed_takes_one_entry_a_check() -> None:
    lines = render_checks(
        report(one("passed"), one("passed"), one("passed", name="x.y")), "text"
    ).splitlines()
    assert lines[0] == "ok    fidelity.lemma1             2 subjects, such as: the reason"
    assert lines[1] == "ok    x.y                         the reason"
    assert lines[3] == "passed: 3 ok, 0 broken, 0 warnings, 0 skipped"


def test_what_was_skipped_for_one_reason_takes_one_entry() -> None:
    text = render_checks(report(one("skipped"), one("skipped", subject="t")), "text")
    assert "skip  fidelity.lemma1             2 subjects: the reason" in text
    assert "skip  fidelity.lemma1             s: the reason" in render_checks(
        report(one("skipped")), "text"
    )


def test_failures_are_told_last_and_errors_after_warnings() -> None:
    text = render_checks(
        report(one("failed"), one("failed", "warning", "a.b"), one("passed", name="c.d")), "text"
    )
    heads = [line.split()[0] for line in text.splitlines() if line and not line.startswith(" ")]
    assert heads == ["ok", "warn", "FAIL", "FAILED:", "signature"]


def test_warnings_fail_only_when_strict() -> None:
    warning = one("failed", "warning")
    assert "passed: 0 ok, 0 broken, 1 warning, 0 skipped" in render_checks(report(warning), "text")
    assert "FAILED: 0 ok, 0 broken, 1 warning (counted, --strict), 0 skipped" in render_checks(
        report(warning, strict=True), "text"
    )


def test_no_evidence_is_no_tick() -> None:
    told = render_checks(report(one("skipped"), one("skipped")), "text").splitlines()
    assert "nothing could be checked: 2 skipped" in told
    assert not any("passed" in line for line in told)
    told = render_checks(report(one("skipped"), one("passed")), "text").splitlines()
    assert "passed: 1 ok, 0 broken, 0 warnings, 1 skipped" in told


def bare_audit() -> Audit:
    bare = replace(demo_data().benchmarks["toy"], pipelines={})
    return run_audits(AuditData(benchmarks={"toy": bare}), replicates=9)


def test_that_every_check_was_skipped_is_a_warning() -> None:
    lax, strict = check(bare_audit()), check(bare_audit(), strict=True)
    assert (lax.passed, strict.passed) == (True, False)
    (warning,) = strict.failures
    assert (warning.id, warning.severity) == ("check.decided", "warning")
    assert warning.reason == "nothing could be checked: 1 skipped"
    assert lax.to_dict()["decided"] == 0
    assert "FAILED: nothing could be checked (counted, --strict): 1 skipped" in render_checks(
        strict, "text"
    )
    root = ElementTree.fromstring(render_checks(strict, "junit"))
    assert [f.get("message") for f in root.iter("failure")] == [warning.reason]
    root = ElementTree.fromstring(render_checks(lax, "junit"))
    assert [o.text for o in root.iter("system-out")] == [f"warning: {warning.reason}"]


def test_one_claim_that_was_decided_is_evidence() -> None:
    claim = Claim("c", "fidelity[benchmark=toy].n_instances", "100")
    judged = check(bare_audit(), strict=True, claims=[claim])
    assert judged.passed
    assert judged.n_decided == 1
    assert all(c.id != "check.decided" for c in judged.checks)


def test_of_many_warnings_the_first_are_told_and_every_error_is() -> None:
    many = [one("failed", "warning", subject=f"pair {i}") for i in range(435)]
    errors = [one("failed", name="a.b", subject=f"cell {i}") for i in range(20)]
    text = render_checks(report(*many, *errors), "text")
    assert text.count("pair ") == 8
    assert "and 427 more of them; --format json tells all" in text
    assert text.count("cell ") == 20


def test_claims_are_told_one_by_one() -> None:
    claims = [one("passed", name="claims.printed", subject=f"Table {i}") for i in range(30)]
    assert render_checks(report(*claims), "text").count("ok    claims.printed") == 30


@pytest.mark.parametrize("width", [80, 120])
def test_text_fits(width: int) -> None:
    for audit in (hostile_audit(), crowded_audit()):
        text = render_checks(check(audit), "text", width=width)
        assert max(map(len, text.splitlines())) <= width
        assert all(line.isprintable() for line in text.splitlines())
        assert len(text.splitlines()) < 200


def test_json_holds_every_check() -> None:
    found = json.loads(render_checks(report(one("passed"), one("failed")), "json"))
    assert (found["passed"], found["strict"], found["tolerance"]) == (False, False, 1e-12)
    assert found["counts"] == {"passed": 1, "skipped": 0, "errors": 1, "warnings": 0}
    assert found["checks"][1] == {
        "id": "fidelity.lemma1", "subject": "s", "severity": "error", "status": "failed", "reason": "the reason",
    }  # fmt: skip
