"""What an audit file holds, and which audits it can feed."""

from __future__ import annotations

import json

import numpy as np

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Document, Section, Table
from auditkit.schema import AuditData, Benchmark, Losses, Member, Samples, Scoreboard, Search

FEEDS = {
    "benchmarks": "fidelity",
    "scoreboards": "selection",
    "searches": "selection",
    "samples": "allocation",
    "losses": "local",
}


def contents(data: AuditData) -> Document:
    """A document with one row a member, the pipelines of each benchmark, and where everything came from."""
    rows = tuple(
        (group, name, _shape(member), numbers.share(_missing(member)), _audit(group, member))
        for group, name, member in data.members()
    )
    members = Table(
        "Members", ("kind", "name", "shape", "missing", "audit"), rows, (False, False, False, True, False),
        "Missing: share of the main array that was not measured."
        + (" Audit: – where there is nothing to audit." if any(_is_bare(m) for _, _, m in data.members()) else ""),
    )  # fmt: skip
    tables = [members, *(_pipelines(name, b) for name, b in data.benchmarks.items() if b.pipelines)]
    notes = [
        note
        for group, name, member in data.members()
        for note in _provenance(f"{group}/{name}", member)
    ]
    fed = sorted({FEEDS[group] for group, _, member in data.members() if not _is_bare(member)})
    verdict = f"It can feed: {', '.join(fed)}." if fed else "It holds nothing that can be audited."
    notes += [
        f"benchmarks/{name} holds no pipeline, so there is nothing to audit: {_way(benchmark)}"
        for name, benchmark in data.benchmarks.items()
        if _is_bare(benchmark)
    ]
    facts = (("file", data.path or "arrays in memory"), ("sha256", data.sha256))
    return Document(
        "contents", facts, (Section("contents", verdict, tuple(tables), notes=tuple(notes)),)
    )


def _audit(group: str, member: Member) -> str:
    return numbers.MISSING if _is_bare(member) else FEEDS[group]


def _way(benchmark: Benchmark) -> str:
    """How the benchmark comes by pipelines; selectors can be fitted to ASlib scenarios only."""
    record = _record(benchmark)
    if record and record.get("import") == "aslib":
        return "auditkit build aslib fits selectors on the scenario and stores what they choose."
    return (
        "store what your selectors choose as pipelines (docs/format.md). Fitting some (auditkit build) is for ASlib "
        "scenarios only."
    )


def _is_bare(member: Member) -> bool:
    return isinstance(member, Benchmark) and not member.pipelines


def _shape(member: Member) -> str:
    if isinstance(member, Benchmark):
        return (
            f"{counted(len(member.instances), 'instance')} x {counted(len(member.algorithms), 'algorithm')}, "
            f"{counted(len(member.families), 'family', 'families')}"
        )
    if isinstance(member, Scoreboard):
        parts = [
            f"{counted(len(member.datasets), 'record')} x {counted(len(member.systems), 'system')}"
        ]
        parts += ["seconds"] if member.seconds is not None else []
        parts += [counted(len(set(member.run)), "run")] if member.run is not None else []
        return ", ".join(parts)
    if isinstance(member, Search):
        n, c = member.test_score.shape
        return f"{counted(n, 'dataset')} x up to {counted(c, 'candidate')}"
    if isinstance(member, Samples):
        n, c = member.cost.shape
        return f"{counted(n, 'instance')} x up to {counted(c, 'sample')}"
    assert isinstance(member, Losses)
    n, d = member.covariates.shape
    return f"{counted(n, 'observation')}, {counted(d, 'covariate')}"


def _missing(member: Member) -> float:
    """Share of the main array that was not measured; for losses, of observations without both."""
    if isinstance(member, Losses):
        return float(np.mean(np.isnan(member.loss_a) | np.isnan(member.loss_b)))
    name = {Benchmark: "utility", Scoreboard: "score", Search: "test_score", Samples: "cost"}[
        type(member)
    ]
    return float(np.isnan(getattr(member, name)).mean())


def _pipelines(name: str, benchmark: Benchmark) -> Table:
    rows = []
    for key, p in benchmark.pipelines.items():
        arrays = (p.algorithm_choice, p.family_choice, p.partition_utility)
        repetitions = next(len(a) for a in arrays if a is not None)
        held = [
            word
            for word, present in (
                ("choices", p.has_choices),
                ("released scores", p.has_scores),
                ("folds", p.fold is not None),
                ("validation", p.validation_partition is not None),
                ("predictions", p.predicted_utility is not None),
                ("own families", p.families is not None),
            )
            if present
        ]
        rows.append((key, p.kind, str(repetitions), ", ".join(held)))
    return Table(
        f"Pipelines of {name}",
        ("name", "kind", "R", "holds"),
        tuple(rows),
        (False, False, True, False),
        "R repetitions.",
    )


def _provenance(place: str, member: Member) -> list[str]:
    text: str | None = getattr(member, "provenance", None)
    if text is None:
        return []
    record = _record(member)
    parts = [text]
    if record is not None:
        parts = [f"{key}: {_short(value)}" for key, value in record.items()]
    return [f"{place} was imported; {'; '.join(parts)}"]


def _record(member: Member) -> dict[str, object] | None:
    """What an importer stored of where a member came from."""
    try:
        record = json.loads(getattr(member, "provenance", None) or "")
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
