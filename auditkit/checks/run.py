"""All checks of one audit, and whether they pass. Pure: nothing is read or recomputed here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from auditkit.checks.claims import check_claims
from auditkit.checks.common import Check
from auditkit.claims.file import Claim
from auditkit.errors import UsageError
from auditkit.results.audit import Audit
from auditkit.results.common import Result, Stamp

NOTHING = "check.decided"
"""The warning that every check was skipped: no evidence is no tick."""


@dataclass(frozen=True, slots=True)
class CheckReport(Result):
    """Every check and the verdict.

    Attributes
    ----------
    stamp
        The input and the settings.
    checks
        One entry a check and subject.
    tolerance
        The largest residual that an identity may have.
    strict
        Whether warnings fail too.
    """

    stamp: Stamp
    checks: tuple[Check, ...]
    tolerance: float
    strict: bool

    @property
    def failures(self) -> tuple[Check, ...]:
        """The failed checks that count: errors, and warnings when strict."""
        return tuple(
            c
            for c in self.checks
            if c.status == "failed" and (self.strict or c.severity == "error")
        )

    @property
    def passed(self) -> bool:
        """Whether nothing that counts has failed."""
        return not self.failures

    @property
    def n_decided(self) -> int:
        """How many checks were decided: not skipped."""
        return sum(c.status != "skipped" and c.id != NOTHING for c in self.checks)

    def counts(self) -> dict[str, int]:
        """How many checks passed, were skipped, failed as errors and as warnings."""
        found = Counter(
            f"failed {c.severity}" if c.status == "failed" else c.status for c in self.checks
        )
        return {
            "passed": found["passed"],
            "skipped": found["skipped"],
            "errors": found["failed error"],
            "warnings": found["failed warning"],
        }

    def to_dict(self) -> dict[str, Any]:
        """The object that ``auditkit check --format json`` prints."""
        return {
            **self.stamp.to_dict(),
            "passed": self.passed,
            "strict": self.strict,
            "tolerance": self.tolerance,
            "decided": self.n_decided,
            "counts": self.counts(),
            "checks": [c.to_dict() for c in self.checks],
        }


def check(
    audit: Audit,
    *,
    tolerance: float = 1e-12,
    strict: bool = False,
    claims: Sequence[Claim] = (),
    claims_file: str | None = None,
) -> CheckReport:
    """Judge every identity and every conclusion of an audit, and what was printed of it.

    Where not a single check or claim could be decided, a warning says so.

    Parameters
    ----------
    audit
        The result of ``run_audits``.
    tolerance
        The largest residual of an identity, relative to the size of the scores where they exceed 1.
    strict
        Whether warnings fail too.
    claims
        Printed figures, of ``read_claims``.
    claims_file
        Their file, for messages.

    Raises
    ------
    UsageError
        A claim names something that is not there.
    """
    if not isinstance(audit, Audit):
        raise UsageError(
            "not an audit", found=type(audit).__name__, expected="the result of run_audits"
        )
    found: list[Check] = []
    for name, result in audit.results.items():
        found += getattr(import_module(f"auditkit.checks.{name}"), f"check_{name}")(
            result, tolerance=tolerance
        )
    if claims:
        found += check_claims(claims, audit.to_dict(), file=claims_file)
    if all(c.status == "skipped" for c in found):
        found.append(Check(NOTHING, "all checks", "warning", "failed", _nothing(len(found))))
    return CheckReport(audit.stamp, tuple(found), tolerance, strict)


def _nothing(skipped: int) -> str:
    return f"nothing could be checked: {f'{skipped:,} skipped' if skipped else 'no check applies'}"
