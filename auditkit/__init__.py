"""auditkit: statistical audits of stored cost arrays.

Papers that compare algorithms release arrays. auditkit takes them as they are and tells, without refitting anything,
whether the conclusion holds. ``import auditkit as ak`` loads nothing heavy; each name below is imported when used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from auditkit.version import __version__

if TYPE_CHECKING:
    from auditkit.audits.allocation import audit_allocation
    from auditkit.audits.fidelity import audit_fidelity
    from auditkit.audits.local import audit_local
    from auditkit.audits.run import run_audits
    from auditkit.audits.selection import audit_selection, compare_scoreboards
    from auditkit.audits.sensitivity import audit_sensitivity
    from auditkit.checks.run import CheckReport, check
    from auditkit.claims.file import read_claims
    from auditkit.demo import demo_data
    from auditkit.errors import AuditkitError
    from auditkit.fit.build import Built, build_pipelines
    from auditkit.fit.protocol import Protocol
    from auditkit.importers.aslib import import_aslib
    from auditkit.importers.benchmark import import_benchmark
    from auditkit.importers.export import export
    from auditkit.importers.imported import Imported
    from auditkit.importers.losses import import_losses
    from auditkit.importers.mapping import read_families, read_mapping, write_mapping
    from auditkit.importers.samples import import_samples
    from auditkit.importers.scoreboard import import_scoreboard
    from auditkit.importers.search import import_search
    from auditkit.importers.verify import Verification, verify
    from auditkit.reports.render import render
    from auditkit.results.common import Estimate, Skipped
    from auditkit.schema import AuditData, Benchmark, Losses, Pipeline, Samples, Scoreboard, Search
    from auditkit.statistics.best_of_k import best_of_k, convex_minorant, greedy_allocation
    from auditkit.statistics.bootstrap import BootstrapResult, bootstrap
    from auditkit.store import open, write

_HOMES = {
    "audits.allocation": ("audit_allocation",),
    "audits.fidelity": ("audit_fidelity",),
    "audits.local": ("audit_local",),
    "audits.run": ("run_audits",),
    "audits.selection": ("audit_selection", "compare_scoreboards"),
    "audits.sensitivity": ("audit_sensitivity",),
    "checks.run": ("CheckReport", "check"),
    "claims.file": ("read_claims",),
    "demo": ("demo_data",),
    "errors": ("AuditkitError",),
    "fit.build": ("Built", "build_pipelines"),
    "fit.protocol": ("Protocol",),
    "importers.aslib": ("import_aslib",),
    "importers.benchmark": ("import_benchmark",),
    "importers.export": ("export",),
    "importers.imported": ("Imported",),
    "importers.losses": ("import_losses",),
    "importers.mapping": ("read_families", "read_mapping", "write_mapping"),
    "importers.samples": ("import_samples",),
    "importers.scoreboard": ("import_scoreboard",),
    "importers.search": ("import_search",),
    "importers.verify": ("Verification", "verify"),
    "reports.render": ("render",),
    "results.common": ("Estimate", "Skipped"),
    "schema": ("AuditData", "Benchmark", "Losses", "Pipeline", "Samples", "Scoreboard", "Search"),
    "statistics.bootstrap": ("BootstrapResult", "bootstrap"),
    "statistics.best_of_k": ("best_of_k", "convex_minorant", "greedy_allocation"),
    "store": ("open", "write"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AuditData",
    "AuditkitError",
    "Benchmark",
    "BootstrapResult",
    "Built",
    "CheckReport",
    "Estimate",
    "Imported",
    "Losses",
    "Pipeline",
    "Protocol",
    "Samples",
    "Scoreboard",
    "Search",
    "Skipped",
    "Verification",
    "__version__",
    "audit_allocation",
    "audit_fidelity",
    "audit_local",
    "audit_selection",
    "audit_sensitivity",
    "best_of_k",
    "bootstrap",
    "build_pipelines",
    "check",
    "compare_scoreboards",
    "convex_minorant",
    "demo_data",
    "export",
    "greedy_allocation",
    "import_aslib",
    "import_benchmark",
    "import_losses",
    "import_samples",
    "import_scoreboard",
    "import_search",
    "open",
    "read_claims",
    "read_families",
    "read_mapping",
    "render",
    "run_audits",
    "verify",
    "write",
    "write_mapping",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'auditkit' has no attribute {name!r}")
    return getattr(import_module(f"auditkit.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
