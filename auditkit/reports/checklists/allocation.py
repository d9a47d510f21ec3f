"""Five points for best-of-k budgets, after *Sampling Luck Masquerades as Allocation Gain* (arXiv:2608.13087)."""

from __future__ import annotations

from dataclasses import replace

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Point
from auditkit.results.allocation import AllocationResult, SamplesAllocation
from auditkit.results.common import Estimate, Skipped


def checklists(result: AllocationResult) -> tuple[tuple[Point, ...], ...]:
    """A checklist for every item of the result."""
    return tuple(checklist(item) for item in result.items)


def checklist(item: SamplesAllocation) -> tuple[Point, ...]:
    """The five points for one set of samples."""
    return _said_once((_split(item), _floor(item), _depth(item), _label(item), _probe(item)))


def _said_once(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The points, a reason that several share given by the first of them only."""
    found: list[Point] = []
    for point in points:
        told = point.status == "missing" and point.answer in (p.answer for p in found)
        found.append(replace(point, answer="Not known, for the reason above.") if told else point)
    return tuple(found)


def _split(item: SamplesAllocation) -> Point:
    question = "Is the gain scored on samples that did not decide the allocation?"
    if isinstance(item.d_split, Skipped):
        return _unknown(question, item.d_split.reason)
    inside = (
        f"; in sample it would be {_percent(item.d_in)}" if isinstance(item.d_in, Estimate) else ""
    )
    return Point(
        question,
        "answered",
        f"d_split = {_percent(item.d_split)} over {counted(item.n_instances, 'instance')}{inside}.",
    )


def _floor(item: SamplesAllocation) -> Point:
    question = "Does the gain exceed what luck alone shows where there is nothing to gain?"
    if isinstance(item.floor, Skipped) or isinstance(item.d_in, Skipped):
        reason = item.floor.reason if isinstance(item.floor, Skipped) else item.d_in.reason  # type: ignore[union-attr]
        return _unknown(question, reason)
    told = f"d_in = {_percent(item.d_in)}, floor: median {item.floor.median:.2f} %, p90 {item.floor.p90:.2f} %"
    beyond = item.d_in.estimate > item.floor.p90
    return Point(question, "answered" if beyond else "violated", f"{told}.")


def _depth(item: SamplesAllocation) -> Point:
    question = "Are the stored samples deep enough for the budget (four times)?"
    if isinstance(item.depth, Skipped):
        return _unknown(question, item.depth.reason)
    told = f"{counted(item.depth, 'sample')} for a budget of {item.per_instance:,} per instance"
    return Point(
        question, "violated" if item.depth < 4 * item.per_instance else "answered", f"{told}."
    )


def _label(item: SamplesAllocation) -> Point:
    question = "Does the allocation gain more than one that knows only the label of an instance?"
    if isinstance(item.label, Skipped) and item.skipped is not None:
        return _unknown(question, item.skipped)
    if isinstance(item.label, Skipped):
        return Point(question, "missing", f"Add label to the samples ({item.label.reason}).")
    x = item.label.residual
    told = f"residual over the label budget {numbers.estimate(x, 2)} percentage points (n = {x.n})"
    return Point(
        question, "answered" if x.excludes_zero and x.estimate > 0 else "violated", f"{told}."
    )


def _probe(item: SamplesAllocation) -> Point:
    question = "Can the gain be had when the samples that decide are paid from the budget?"
    if isinstance(item.probe, Skipped):
        return _unknown(question, item.probe.reason)
    x = item.probe.d_probe
    told = f"a probe of {item.probe.probe:,} samples, charged, gains {_percent(x)}"
    return Point(
        question, "answered" if x.excludes_zero and x.estimate > 0 else "violated", f"{told}."
    )


def _unknown(question: str, reason: str) -> Point:
    return Point(question, "missing", f"Not known: {reason}.")


def _percent(x: Estimate) -> str:
    return f"{numbers.value(x.estimate, 2)} % {numbers.interval(x, 2)}"
