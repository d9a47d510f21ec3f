"""Nine points for decomposed selection, after *Partition Scores Are Not System Scores* (arXiv:2609.13785)."""

from __future__ import annotations

from collections.abc import Sequence

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Point
from auditkit.results.common import Estimate, Skipped
from auditkit.results.fidelity import (
    BenchmarkFidelity,
    Comparison,
    FidelityResult,
    PipelineFidelity,
)

_TOLERANCE = 1e-12


def checklists(result: FidelityResult) -> tuple[tuple[Point, ...], ...]:
    """A checklist for every item of the result."""
    return tuple(checklist(item) for item in result.items)


def checklist(item: BenchmarkFidelity) -> tuple[Point, ...]:
    """The nine points for one benchmark; none where no pipeline is decomposed."""
    pipelines = [p for p in item.pipelines if p.kind == "decomposed"]
    if not pipelines:
        return ()
    return (
        _stated(pipelines, "family_basis", "What are the families based on?"),
        _stated(pipelines, "family_selector", "What chooses the family?"),
        _stated(pipelines, "within_selector", "What chooses within the family?"),
        _stated(pipelines, "feature_policy", "Which features does each stage see?"),
        _both_scores(pipelines),
        _recomputable(pipelines),
        _protocol(pipelines),
        _coverage(item, pipelines),
        _ranking(item),
    )


def _stated(pipelines: Sequence[PipelineFidelity], trait: str, question: str) -> Point:
    silent = [p.name for p in pipelines if not p.traits.get(trait)]
    if silent:
        return Point(question, "missing", f"Add the attribute {trait} to: {_few(silent)}.")
    told: dict[str, list[str]] = {}
    for p in pipelines:
        told.setdefault(p.traits[trait], []).append(p.name)
    answer = "; ".join(
        text if len(told) == 1 else f"{_few(names)}: {text}" for text, names in told.items()
    )
    return Point(question, "answered", f"{answer}.")


def _both_scores(pipelines: Sequence[PipelineFidelity]) -> Point:
    question = "Is the deployed score given beside the partition score, with an interval?"
    without = [p.name for p in pipelines if not _interval(p.partition_score, p.deployed_score)]
    if without:
        return Point(
            question,
            "missing",
            f"Add choices, or partition_utility and deployed_utility, to: {_few(without)}.",
        )
    digits = 4
    told = "; ".join(
        f"{p.name}: {_value(p.partition_score, digits)} against {_value(p.deployed_score, digits)} (n = {p.n_valid})"
        for p in pipelines[:3]
    )
    more = f"; and {len(pipelines) - 3} more" if len(pipelines) > 3 else ""
    return Point(question, "answered", f"{told}{more}.")


def _recomputable(pipelines: Sequence[PipelineFidelity]) -> Point:
    question = "Can the gap be recomputed from the choices of both stages?"
    without = [p.name for p in pipelines if p.scores_from != "choices"]
    if without:
        return Point(
            question, "missing", f"Add family_choice and within_choice to: {_few(without)}."
        )
    residuals = [p.lemma1_residual for p in pipelines if isinstance(p.lemma1_residual, float)]
    wrong = [
        p.name
        for p in pipelines
        if (isinstance(p.lemma1_residual, float) and p.lemma1_residual > _TOLERANCE)
        or (
            not isinstance(p.released, Skipped)
            and (
                max(p.released.partition_difference, p.released.deployed_difference) > _TOLERANCE
                or p.released.mask_mismatches
            )
        )
    ]
    if wrong:
        return Point(
            question,
            "violated",
            f"Released and recomputed scores differ, or the gap does: {_few(wrong)}.",
        )
    worst = numbers.residual(max(residuals)) if residuals else "not known"
    return Point(question, "answered", f"Two routes to the gap differ by at most {worst}.")


def _protocol(pipelines: Sequence[PipelineFidelity]) -> Point:
    question = "Is every instance tested once a repetition, and never in its own validation set?"
    bad = [p.name for p in pipelines if _positive(p.fold_faults) or _positive(p.validation_leaks)]
    if bad:
        return Point(question, "violated", f"Untested instances or leaks in: {_few(bad)}.")
    without = [p.name for p in pipelines if isinstance(p.fold_faults, Skipped)]
    if without:
        return Point(question, "missing", f"Add fold to: {_few(without)}.")
    silent = [p.name for p in pipelines if isinstance(p.validation_leaks, Skipped)]
    repetitions = sorted({p.n_repetitions for p in pipelines})
    last = counted(repetitions[-1], "repetition")
    told = " or ".join([*map(str, repetitions[:-1]), last])
    rest = f" Validation sets are not stored for: {_few(silent)}." if silent else ""
    return Point(question, "answered", f"Yes, in {told}.{rest}")


def _coverage(item: BenchmarkFidelity, pipelines: Sequence[PipelineFidelity]) -> Point:
    question = "How many instances count, and what became of the others?"
    told = "; ".join(
        f"{p.name}: {p.n_valid} of {item.n_instances}, {p.n_dropped} dropped, {p.n_imputed} imputed"
        for p in pipelines[:3]
    )
    more = f"; and {len(pipelines) - 3} more" if len(pipelines) > 3 else ""
    return Point(
        question,
        "answered",
        f"{told}{more}; {counted(item.n_missing, 'utility', 'utilities')} missing.",
    )


def _ranking(item: BenchmarkFidelity) -> Point:
    question = "Does the ranking by partition scores hold for what is deployed?"
    decomposed = {p.name for p in item.pipelines if p.kind == "decomposed"}
    pairs = [
        c
        for c in item.comparisons
        if {c.first, c.second} & decomposed and not isinstance(c.deployed_advantage, Skipped)
    ]
    if not pairs:
        return Point(question, "missing", "Add a second pipeline, so that there is a ranking.")
    reversed_ = [c for c in pairs if isinstance(c.transfer, str) and "reversal" in c.transfer]
    certified = sum(c.crosses_zero is False for c in pairs)
    if reversed_:
        return Point(
            question,
            "violated",
            f"Reversed in {len(reversed_)} of {counted(len(pairs), 'pair')}, such as {_pair(reversed_[0])}.",
        )
    return Point(
        question,
        "answered",
        f"No stable lead is reversed in {counted(len(pairs), 'pair')} with a decomposed pipeline; the partition report "
        f"alone certifies {certified}.",
    )


def _pair(c: Comparison) -> str:
    return f"{c.first} / {c.second}"


def _interval(*values: Estimate | Skipped) -> bool:
    return all(isinstance(x, Estimate) and isinstance(x.low, float) for x in values)


def _value(x: Estimate | Skipped, digits: int) -> str:
    return numbers.estimate(x, digits)


def _positive(x: int | Skipped) -> bool:
    return isinstance(x, int) and x > 0


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
