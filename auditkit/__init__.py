"""auditkit: statistical audits of stored cost arrays.

Papers that compare algorithms release arrays. auditkit takes them as they are and tells, without refitting anything,
whether the conclusion holds. ``import auditkit as ak`` loads nothing heavy; each name below is imported when used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from auditkit.version import __version__

if TYPE_CHECKING:
    from auditkit.audits.fidelity import audit_fidelity
    from auditkit.audits.run import run_audits
    from auditkit.checks.run import CheckReport, check
    from auditkit.demo import demo_data
    from auditkit.errors import AuditkitError
    from auditkit.results.common import Estimate, Skipped
    from auditkit.schema import AuditData, Benchmark, Losses, Pipeline, Samples, Scoreboard, Search
    from auditkit.statistics.bootstrap import BootstrapResult, bootstrap
    from auditkit.store import open, write

_HOMES = {
    "audits.fidelity": ("audit_fidelity",),
    "audits.run": ("run_audits",),
    "checks.run": ("CheckReport", "check"),
    "demo": ("demo_data",),
    "errors": ("AuditkitError",),
    "results.common": ("Estimate", "Skipped"),
    "schema": ("AuditData", "Benchmark", "Losses", "Pipeline", "Samples", "Scoreboard", "Search"),
    "statistics.bootstrap": ("BootstrapResult", "bootstrap"),
    "store": ("open", "write"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AuditData",
    "AuditkitError",
    "Benchmark",
    "BootstrapResult",
    "CheckReport",
    "Estimate",
    "Losses",
    "Pipeline",
    "Samples",
    "Scoreboard",
    "Search",
    "Skipped",
    "__version__",
    "audit_fidelity",
    "bootstrap",
    "check",
    "demo_data",
    "open",
    "run_audits",
    "write",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'auditkit' has no attribute {name!r}")
    return getattr(import_module(f"auditkit.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
