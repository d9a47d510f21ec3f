"""What each audit reads, and the refusal of anything else."""

from __future__ import annotations

from auditkit.errors import UsageError
from auditkit.schema import AuditData

AUDITS: dict[str, tuple[str, ...]] = {
    "fidelity": ("benchmarks",),
    "selection": ("scoreboards", "searches"),
    "allocation": ("samples",),
    "local": ("losses",),
}
"""The audits, and the groups of an audit file that feed each."""


def require(data: AuditData, audit: str, groups: tuple[str, ...] | None = None) -> None:
    """Refuse what is no audit data, or holds nothing for an audit.

    Raises
    ------
    UsageError
        With what was expected.
    """
    if not isinstance(data, AuditData):
        raise UsageError(
            "not audit data",
            found=type(data).__name__,
            expected="AuditData: auditkit.open(path), or AuditData(benchmarks={...}, ...)",
        )
    groups = groups or AUDITS[audit]
    if not any(getattr(data, group) for group in groups):
        raise UsageError(
            f"nothing for the audit {audit}", expected=" or ".join(groups), where=data.path
        )
