"""What a report says of the sensitivity audit."""

from __future__ import annotations

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Section, Table
from auditkit.results.common import Estimate, Range, Skipped
from auditkit.results.sensitivity import (
    BenchmarkSensitivity,
    SensitivityRange,
    SensitivityResult,
    Setting,
)


def sections(result: SensitivityResult) -> tuple[Section, ...]:
    """One section a benchmark."""
    return tuple(_section(item, result.stamp.settings["confidence"]) for item in result.items)


def _section(item: BenchmarkSensitivity, confidence: float) -> Section:
    tables = [_rows(item, confidence)] if item.rows else []
    if item.ranges:
        tables.append(_ranges(item.ranges))
    notes = [
        "Nothing is refitted: the choices are those stored, of selectors that were fitted under the stored setting.",
        f"Advantages are over {item.against}, a flat pipeline."
        if isinstance(item.against, str)
        else f"No advantages: {item.against.reason}.",
    ]
    if any(s.dimension == "family mapping" for s in item.settings):
        notes.append(
            "Family mapping: inner choices are the best predicted utility in each family, and the family is the one "
            "whose best is highest; so the same algorithm runs under every mapping, and only the partition score moves."
        )
    notes += [_counted(s) for s in item.settings if s.dimension in ("as stored", "cutoff")]
    notes += _valid(item)
    notes += [_members(s) for s in item.settings if s.setting.startswith(("coarse", "k-means"))]
    return Section(
        title=f"sensitivity: {item.benchmark}",
        verdict=verdict(item),
        tables=tuple(tables),
        skipped=tuple(_not_recomputed(item)),
        notes=tuple(notes),
    )


def verdict(item: BenchmarkSensitivity) -> str:
    """Which verdicts depend on which choices."""
    if not item.rows:
        return "No decomposed pipeline is stored."
    if not item.ranges:
        return "No setting could be varied."
    return " ".join([_advantages(item), *_gap(item)])


def _advantages(item: BenchmarkSensitivity) -> str:
    """Whether the advantages over the flat pipeline keep their sign and their safety, or why that is not known."""
    if isinstance(item.against, Skipped):
        return f"How the advantages move is not known: {item.against.reason}."
    known = [r for r in item.ranges if isinstance(r.sign_changes, bool)]
    if not known:
        return f"The advantage over {item.against} is known under fewer than two settings of every choice."
    moved = [r for r in known if r.sign_changes]
    opposed = sum(r.intervals_oppose is True for r in moved)
    parts = [
        f"The sign of the deployed advantage over {item.against} changes in {len(moved)} of "
        + counted(len(known), "case")
        + (
            f" (with intervals on both sides of zero in {opposed}): {_listed(moved)}."
            if moved
            else "."
        )
    ]
    flags = [r for r in item.ranges if isinstance(r.safety_changes, bool)]
    if flags:
        unsafe = [r for r in flags if r.safety_changes]
        parts.append(
            f"The safety flag changes in {len(unsafe)} of {len(flags)}"
            + (f": {_listed(unsafe)}." if unsafe else ".")
        )
    return " ".join(parts)


def _gap(item: BenchmarkSensitivity) -> list[str]:
    """What moves the gap most."""
    gaps = [(r.gap.high - r.gap.low, r) for r in item.ranges if isinstance(r.gap, Range)]
    if not gaps:
        return []
    width, widest = max(gaps, key=lambda pair: pair[0])
    assert isinstance(widest.gap, Range)
    return [
        f"The gap moves most with the {widest.dimension} ({widest.subject}): "
        f"{numbers.value(widest.gap.low)} to {numbers.value(widest.gap.high)}, by {numbers.value(width)}."
    ]


def _listed(of: list[SensitivityRange]) -> str:
    named = "; ".join(f"{r.dimension} of {r.subject}" for r in of[:3])
    return named + (f" and {len(of) - 3} more" if len(of) > 3 else "")


def _rows(item: BenchmarkSensitivity, confidence: float) -> Table:
    level = numbers.level(confidence)
    rows = tuple(
        (
            r.setting, r.pipeline, _point(r.gap), _signed(r.partition_advantage), _interval(r.deployed_advantage),
            _yes(r.deployment_safe),
        )
        for r in item.rows
    )  # fmt: skip
    return Table(
        "Every setting", ("setting", "pipeline", "gap", "A part.", f"A deployed [{level}]", "safe"), rows,
        (False, False, True, True, True, False),
        "Gap G = partition - deployed; A: advantages over the flat pipeline; safe: the partition advantage exceeds the "
        "difference of the gaps (– where there is no advantage).",
    )  # fmt: skip


def _ranges(ranges: tuple[SensitivityRange, ...]) -> Table:
    rows = tuple(
        (
            f"{r.dimension}: {r.subject}", str(len(r.settings)), _span(r.gap), _span(r.deployed_advantage),
            _yes(r.sign_changes), _yes(r.safety_changes),
        )
        for r in ranges
    )  # fmt: skip
    return Table(
        "Smallest and largest over the settings of each choice",
        ("choice", "k", "gap", "A deployed", "sign", "safe"), rows, (False, True, True, True, False, False),
        "k settings, the stored one among them (the given one of family mappings); for the inner selector, the "
        "pipelines that share a family selector. Sign, safe: whether the sign of A deployed, or the safety flag, "
        "changes.",
    )  # fmt: skip


def _counted(s: Setting) -> str:
    where = s.setting if s.dimension == "as stored" else f"cutoff {s.setting}"
    if isinstance(s.n_all_timeout, Skipped):
        return f"{where}: {counted(s.n_measured, 'instance')} with a utility."
    return (
        f"{where}: {counted(s.n_measured, 'instance')} with a utility; "
        f"{s.n_all_timeout:,} that no algorithm solves within the cutoff."
    )


def _valid(item: BenchmarkSensitivity) -> list[str]:
    """Where a pipeline is valid on fewer instances than there are."""
    measured = {(s.dimension, s.setting): s.n_measured for s in item.settings}
    return [
        f"{r.setting}, {r.pipeline}: {counted(r.n_valid, 'valid instance')}."
        for r in item.rows
        if r.n_valid != measured[r.dimension, r.setting]
    ]


def _members(s: Setting) -> str:
    if isinstance(s.families, Skipped):
        return f"{s.setting}: {s.families.reason}."
    return (
        f"{s.setting}, {counted(len(s.families), 'family', 'families')}: "
        + "; ".join(", ".join(members) for members in s.families.values())
        + "."
    )


def _not_recomputed(item: BenchmarkSensitivity) -> list[str]:
    """Each reason once, with the pipelines it concerns."""
    found: dict[tuple[str, str], list[str]] = {}
    for x in item.not_recomputed:
        found.setdefault((x.dimension, x.reason), []).append(x.pipeline)
    out = []
    for (dimension, reason), names in found.items():
        of = (
            ""
            if names == ["all"]
            else f" of {', '.join(names[:4])}"
            + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        )
        out.append(f"{dimension}{of}: {reason}")
    return out


def _point(x: Estimate | Skipped) -> str:
    return numbers.MISSING if isinstance(x, Skipped) else numbers.value(x.estimate)


def _signed(x: Estimate | Skipped) -> str:
    return numbers.MISSING if isinstance(x, Skipped) else numbers.signed(x.estimate)


def _interval(x: Estimate | Skipped) -> str:
    return (
        numbers.MISSING
        if isinstance(x, Skipped)
        else f"{numbers.signed(x.estimate)} {numbers.interval(x)}"
    )


def _span(x: Range | Skipped) -> str:
    return (
        numbers.MISSING
        if isinstance(x, Skipped)
        else f"{numbers.value(x.low)} to {numbers.value(x.high)}"
    )


def _yes(x: bool | Skipped) -> str:
    return numbers.MISSING if isinstance(x, Skipped) else ("yes" if x else "no")
