"""All audits that a file can feed, in one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from auditkit.audits.inputs import AUDITS, require
from auditkit.errors import UsageError
from auditkit.results.audit import Audit
from auditkit.results.common import Stamp
from auditkit.schema import AuditData
from auditkit.statistics.bootstrap import Progress, Resampler


def run_audits(
    data: AuditData,
    *,
    only: Sequence[str] | None = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Run every audit that the data can feed.

    Parameters
    ----------
    data
        The audit file, or arrays in memory.
    only
        Names of the audits wanted; each must find something to audit.
    replicates, confidence, seed, threads, resampler
        How intervals are made; see ``bootstrap``.
    options
        Further options of each audit, by its name.

    Raises
    ------
    UsageError
        There is nothing to audit, or an audit asked for finds nothing.
    """
    for name in only or ():
        if name not in AUDITS:
            raise UsageError("unknown audit", found=repr(name), expected=" or ".join(AUDITS))
        require(data, name)
    require(data, "of any kind", tuple(group for groups in AUDITS.values() for group in groups))
    fed = [name for name, groups in AUDITS.items() if any(getattr(data, group) for group in groups)]
    wanted = [name for name in fed if only is None or name in only]
    results = {}
    for name in wanted:
        function = getattr(import_module(f"auditkit.audits.{name}"), f"audit_{name}")
        results[name] = function(
            data, replicates=replicates, confidence=confidence, seed=seed, threads=threads, resampler=resampler,
            progress=progress, **(options or {}).get(name, {}),
        )  # fmt: skip
    settings: dict[str, Any] = {}
    for result in results.values():
        settings.update(result.stamp.settings)
    return Audit(stamp=Stamp(data.path, data.sha256, settings), results=results)
