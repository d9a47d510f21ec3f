"""What a report says of the allocation audit."""

from __future__ import annotations

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Section, Table
from auditkit.reports.figures.allocation import DIGITS, figures
from auditkit.results.allocation import (
    AllocationResult,
    EstimatorGain,
    Floor,
    OperatingPoint,
    SamplesAllocation,
)
from auditkit.results.common import Estimate, Range, Skipped


def sections(result: AllocationResult) -> tuple[Section, ...]:
    """One section a set of samples."""
    return tuple(_section(item, result.stamp.settings["confidence"]) for item in result.items)


def _section(item: SamplesAllocation, confidence: float) -> Section:
    title = f"allocation: {item.samples}"
    if isinstance(item.estimators, Skipped):
        return Section(title, "Not audited: " + item.estimators.reason + ".", notes=_notes(item))
    level = numbers.level(confidence)
    tables = [_gains(item.estimators, level), _policies(item, level)]
    if not isinstance(item.operating_characteristics, Skipped):
        tables.append(_floors(item.operating_characteristics, item))
    if not isinstance(item.composition, Skipped):
        tables.append(_compositions(item))
    return Section(
        title,
        verdict(item),
        tuple(tables),
        figures(item, level),
        skipped=_skipped(item),
        notes=_notes(item),
    )


def verdict(item: SamplesAllocation) -> str:
    """What follows from the numbers, in one to three sentences."""
    if isinstance(item.d_in, Skipped) or isinstance(item.d_split, Skipped):
        skipped = next(x for x in (item.d_in, item.d_split) if isinstance(x, Skipped))
        return f"No gain can be stated: {skipped.reason}."
    floor = (
        "no floor"
        if isinstance(item.floor, Skipped)
        else f"the null floor is {_value(item.floor.median)} % (p90 {_value(item.floor.p90)} %)"
    )
    parts = [
        f"{_conclusion(item)}: d_in {_value(item.d_in.estimate)} % on the samples it was decided on, "
        f"d_split {_value(item.d_split.estimate)} % {numbers.interval(item.d_split, DIGITS)} held out; {floor}."
    ]
    replay = _of(item, "replay")
    if item.estimator != "replay" and replay is not None:
        parts.append(
            f"A single-ordering replay of the same samples would show {_value(replay[0])} %, "
            f"and {_value(replay[1])} % held out."
        )
    return " ".join(parts)


def _conclusion(item: SamplesAllocation) -> str:
    assert isinstance(item.d_in, Estimate)
    assert isinstance(item.d_split, Estimate)
    split = item.d_split
    above = isinstance(item.floor, Floor) and item.d_in.estimate > item.floor.p90
    if isinstance(split.low, Skipped):
        return "Undecided, for want of an interval"
    if split.low > 0 and above:
        return "Spending the budget unevenly gains"
    if split.low > 0:
        return "Spending the budget unevenly gains held out, within the null floor in sample"
    if split.excludes_zero:
        return "Spending the budget unevenly loses"
    return "The gain cannot be told from sampling luck"


def _of(item: SamplesAllocation, estimator: str) -> tuple[float, float] | None:
    if isinstance(item.estimators, Skipped):
        return None
    for g in item.estimators:
        if (
            g.estimator == estimator
            and isinstance(g.d_in, Estimate)
            and isinstance(g.d_split, Estimate)
        ):
            return g.d_in.estimate, g.d_split.estimate
    return None


def _value(x: float | Skipped) -> str:
    return numbers.value(x, DIGITS)


def _gains(gains: tuple[EstimatorGain, ...], level: str) -> Table:
    rows = tuple(
        (
            g.estimator, _value(g.uniform_gap), numbers.estimate(g.d_in, DIGITS), numbers.estimate(g.d_split, DIGITS),
            *_floor_cells(g.floor),
        )
        for g in gains
    )  # fmt: skip
    return Table(
        "Gain over the uniform budget, by each estimator of the best-of-k curve [%]",
        ("estimator", "uniform", f"d_in [{level}]", f"d_split [{level}]", "floor", "p90"), rows, (False, *(True,) * 5),
        "d_in: decided and scored on the same samples. d_split: decided on one half, scored on the other. Floor: 95th "
        "percentile of d_in where all instances are alike, median and p90 over source instances. Uniform: mean gap "
        "of the uniform budget. What d_in shows and d_split does not is luck, and differs by estimator.",
    )  # fmt: skip


def _floor_cells(floor: Floor | Skipped) -> tuple[str, str]:
    if isinstance(floor, Skipped):
        return numbers.MISSING, numbers.MISSING
    return _value(floor.median), _value(floor.p90)


def _policies(item: SamplesAllocation, level: str) -> Table:
    rows: list[tuple[str, str]] = [
        ("allocation decided on the other half", numbers.estimate(item.d_split, DIGITS))
    ]
    if not isinstance(item.label, Skipped):
        ratio = ", ".join(
            f"{label} {numbers.value(x)}" for label, x in list(item.label.ratio.items())[:4]
        )
        more = ", ..." if len(item.label.ratio) > 4 else ""
        rows += [
            (f"budget by label ({ratio}{more})", numbers.estimate(item.label.d_label, DIGITS)),
            ("allocation minus budget by label", numbers.estimate(item.label.residual, DIGITS)),
        ]
    if not isinstance(item.probe, Skipped):
        p = item.probe
        rows.append(
            (
                f"probe of {p.probe:,}, charged ({p.smallest:,} to {p.largest:,} samples)",
                numbers.estimate(p.d_probe, DIGITS),
            )
        )
    return Table(
        "What a policy could rest on, held out [%]", ("policy", f"gain [{level}]"), tuple(rows), (False, True),
        "By label: every instance of a label gets the same ratio of the budget. Probe: the rest of the budget follows "
        "the probe's coefficient of variation; the probe is paid for and no reference is used.",
    )  # fmt: skip


def _floors(points: tuple[OperatingPoint, ...], item: SamplesAllocation) -> Table:
    rows = tuple(
        (
            numbers.count(p.depth), numbers.count(p.n_instances), *_floor_cells(p.floor),
            numbers.MISSING if isinstance(p.floor, Skipped) else numbers.share(p.floor.false_alarms_median),
            numbers.MISSING if isinstance(p.floor, Skipped) else numbers.share(p.floor.false_alarms_p90),
        )
        for p in points
    )  # fmt: skip
    known = [p.floor for p in points if isinstance(p.floor, Floor)]
    made = (
        f"{counted(known[0].sources, 'source')} x {counted(known[0].repetitions, 'workload')} a row. "
        if known
        else ""
    )
    return Table(
        f"Null floor of the {item.estimator} curve over depth C and instances n [%]",
        ("C", "n", "floor", "p90", "above floor", "above p90"), rows, (True,) * 6,
        made + "Above: share of workloads without any gain to be had whose d_in exceeds the floor, the p90.",
    )  # fmt: skip


def _compositions(item: SamplesAllocation) -> Table:
    assert not isinstance(item.composition, Skipped)
    rows = tuple(
        (
            c.label, numbers.share(c.share, 0), f"{c.with_label:,} / {c.n_instances:,}",
            _value(c.d_in), _value(c.d_split),
            f"[{_value(c.d_split_range.low)}, {_value(c.d_split_range.high)}]"
            if isinstance(c.d_split_range, Range)
            else numbers.MISSING,
        )
        for c in item.composition
    )  # fmt: skip
    return Table(
        "Gain by the share of a label [%]", ("label", "share", "n", "d_in", "d_split", "range"), rows,
        (False, *(True,) * 5),
        f"Means over {counted(item.composition[0].compositions, 'random workload')}; "
        "range: smallest and largest d_split.",
        brief=10,
    )  # fmt: skip


def _notes(item: SamplesAllocation) -> tuple[str, ...]:
    notes = []
    if not isinstance(item.depth, Skipped):
        assert isinstance(item.deepest, int)
        depth = counted(item.deepest, "sample")
        if item.depth != item.deepest:
            depth = f"{item.depth:,} to {depth}"
        notes.append(
            f"{counted(item.n_instances, 'instance')} of {depth}; "
            f"a budget of {item.per_instance:,} each, {item.budget:,} in all"
            + ("" if isinstance(item.cap, Skipped) else f", at most {item.cap:,} to one instance")
            + (
                f". Decided on all samples, an instance gets {item.smallest:,} to {item.largest:,}."
                if isinstance(item.smallest, int)
                else "."
            )
        )
    if item.quantity == "cost":
        notes.append("No reference is stored: the cost itself takes the place of the gap.")
    if item.shallow:
        notes.append(
            f"The depth guard was overridden: {item.depth:,} samples are fewer than {4 * item.per_instance:,}."
        )
    d = item.dropped
    if d.total:
        notes.append(
            f"Instances dropped: {d.total:,}; {d.no_samples:,} without samples, {d.no_reference:,} without a "
            f"reference, {d.bad_reference:,} with a reference that is not positive."
        )
    if isinstance(item.floor, Floor) and item.floor.solved_sources:
        notes.append(
            "Sources of the floor left out, without a positive gap at the uniform budget: "
            f"{item.floor.solved_sources:,}."
        )
    if not isinstance(item.split_spread, Skipped):
        s = item.split_spread
        notes.append(
            f"d_split over {s.splits:,} random halves: {_value(s.low)} to {_value(s.high)} %, "
            f"standard deviation {_value(s.sd)}."
        )
    if not isinstance(item.estimators, Skipped):
        notes.append("Intervals resample instances with the allocation fixed.")
    return tuple(notes)


def _skipped(item: SamplesAllocation) -> tuple[str, ...]:
    parts = {
        "d_in": item.d_in, "d_split": item.d_split, "floor": item.floor, "best-of-k curves": item.curves,
        "label baseline": item.label, "charged probe": item.probe, "composition sweep": item.composition,
    }  # fmt: skip
    return tuple(f"{name}: {x.reason}" for name, x in parts.items() if isinstance(x, Skipped))
