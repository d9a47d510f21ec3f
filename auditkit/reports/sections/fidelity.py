"""What a report says of the fidelity audit."""

from __future__ import annotations

import math
from dataclasses import replace

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Section, Table
from auditkit.reports.figures.fidelity import figures
from auditkit.results.common import Estimate, Range, Skipped
from auditkit.results.fidelity import (
    BenchmarkFidelity,
    Comparison,
    CorrectedAdvantage,
    FidelityResult,
    TrainingEffect,
)

_BRIEF = 12  # pairs that a terminal shows of each table


def sections(result: FidelityResult) -> tuple[Section, ...]:
    """One section a benchmark."""
    return tuple(_section(item, result.stamp.settings["confidence"]) for item in result.items)


NO_PIPELINES = (
    "No pipeline is stored, so there is nothing to audit: add the choices of selectors, or fit "
    "some with auditkit build."
)


def _section(item: BenchmarkFidelity, confidence: float) -> Section:
    if not item.pipelines:
        return Section(title=f"fidelity: {item.benchmark}", verdict=NO_PIPELINES)
    pairs = sorted((leader_first(c) for c in item.comparisons), key=_telling)
    level = numbers.level(confidence)
    digits = _digits(item)
    unit = (
        item.unit
        if isinstance(item.n_clusters, Skipped)
        else f"cluster ({item.n_clusters} of them)"
    )
    notes = [
        f"{counted(item.n_instances, 'instance')}, {counted(item.n_algorithms, 'algorithm')}, "
        f"{counted(item.n_families, 'family', 'families')}; "
        f"{_cells(item.n_missing)}. Intervals resample the {unit}; repetitions are averaged first.",
        _residuals(item),
    ]
    notes += [
        f"{p.name}: {p.n_dropped:,} of {counted(item.n_instances, 'instance')} dropped (a score is missing in some "
        "repetition)."
        for p in item.pipelines
        if p.n_dropped
    ]
    notes += [
        f"{p.name}: on {counted(p.n_imputed, 'instance')} the stored penalty stands in for a missing utility (imputed)."
        for p in item.pipelines
        if p.n_imputed
    ]
    tables = [
        _scores(item, level, digits),
        _losses(item, level, digits),
        _families(item, level, digits),
    ]
    if pairs:
        tables += [
            _advantages(pairs, level, digits),
            _transfers(pairs, level),
            _left_open(pairs, digits),
        ]
        corrected = [c for c in pairs if not isinstance(c.corrected_advantage, Skipped)]
        if corrected:
            tables.append(_corrections(corrected, digits))
    if item.training_effects:
        tables.append(_training(item.training_effects, level, digits))
    return Section(
        title=f"fidelity: {item.benchmark}",
        verdict=verdict(item, pairs, digits),
        tables=tuple(tables),
        figures=figures(item.pipelines, pairs, digits),
        skipped=_skipped(item),
        notes=tuple(notes),
    )


def verdict(item: BenchmarkFidelity, pairs: list[Comparison], digits: int) -> str:
    """What follows from the numbers, in one to three sentences."""
    parts = []
    gaps = [
        (p.name, p.gap)
        for p in item.pipelines
        if p.kind == "decomposed" and isinstance(p.gap, Estimate)
    ]
    if gaps:
        name, worst = max(gaps, key=lambda pair: pair[1].estimate)
        lossy = sum(gap.excludes_zero for _, gap in gaps)
        parts.append(
            f"{lossy} of {counted(len(gaps), 'decomposed pipeline loses', 'decomposed pipelines lose')} utility "
            f"once {'its' if len(gaps) == 1 else 'their'} inner selector chooses; "
            f"the largest gap is {numbers.estimate(worst, digits)} ({name}, n = {worst.n})."
        )
    if pairs:
        decomposed = {p.name for p in item.pipelines if p.kind == "decomposed"}
        open_ = [c for c in pairs if {c.first, c.second} & decomposed]
        known = [c for c in open_ if not isinstance(c.crosses_zero, Skipped)]
        certified = [c for c in known if c.crosses_zero is False]
        reversed_ = [c for c in pairs if c.transfer in ("reversal", "opposite reversal")]
        if open_:
            parts.append(
                f"The partition report alone certifies a winner in {len(certified)} of "
                f"{counted(len(known), 'comparison')} with a decomposed pipeline."
                if known
                else "Whether the partition report certifies a winner is not known: no choices are stored."
            )
        named = ", ".join(f"{c.first} over {c.second}" for c in reversed_[:3])
        more = f" and {len(reversed_) - 3} more" if len(reversed_) > 3 else ""
        parts.append(
            f"Deployment reverses the ranking in {len(reversed_)}: {named}{more}."
            if reversed_
            else "No stable partition advantage is reversed in deployment."
        )
    return " ".join(parts) or "No decomposed pipeline and no pair to compare."


def leader_first(c: Comparison) -> Comparison:
    """The same comparison with the pipeline that leads on partition scores first."""
    if isinstance(c.partition_advantage, Skipped) or c.partition_advantage.estimate >= 0:
        return c
    bounds, gap = c.identification_interval, c.gap_difference
    partition = c.partition_advantage.estimate
    return replace(
        c,
        first=c.second,
        second=c.first,
        partition_advantage=_negated(c.partition_advantage),
        deployed_advantage=_negated(c.deployed_advantage),
        gap_difference=_negated(gap),
        identification_interval=Range(-bounds.high, -bounds.low)
        if isinstance(bounds, Range)
        else bounds,
        corrected_advantage=_turned(c.corrected_advantage),
        deployment_safe=-partition > -gap.estimate
        if isinstance(gap, Estimate)
        else c.deployment_safe,
        transfer="reversal"
        if c.transfer == "opposite reversal"
        else c.transfer.removesuffix(" (swapped)")
        if isinstance(c.transfer, str)
        else c.transfer,
    )


def _turned(x: CorrectedAdvantage | Skipped) -> CorrectedAdvantage | Skipped:
    if isinstance(x, Skipped):
        return x
    return replace(x, mean=-x.mean, raw_mean=-x.raw_mean, deployed_mean=-x.deployed_mean)


def _negated(x: Estimate | Skipped) -> Estimate | Skipped:
    if isinstance(x, Skipped):
        return x
    low = -x.high if isinstance(x.high, float) else x.high
    high = -x.low if isinstance(x.low, float) else x.low
    return Estimate(-x.estimate, low, high, x.n)


def _digits(item: BenchmarkFidelity) -> int:
    """Decimals that show about four figures of the scores."""
    sizes = [
        abs(q.estimate)
        for p in item.pipelines
        for q in (p.partition_score, p.deployed_score)
        if isinstance(q, Estimate) and q.estimate
    ]
    if not sizes:
        return 4
    power = math.floor(math.log10(max(sizes)))
    return max(0, min(6, (4 if power >= 0 else 3) - power))


def _cells(n: int) -> str:
    return "no cell missing" if n == 0 else f"{counted(n, 'cell')} missing"


def _scores(item: BenchmarkFidelity, level: str, digits: int) -> Table:
    rows = tuple(
        (
            p.name, p.kind, numbers.count(p.n_valid), str(p.n_repetitions),
            numbers.estimate(p.partition_score, digits), numbers.estimate(p.deployed_score, digits),
        )
        for p in item.pipelines
    )  # fmt: skip
    return Table(
        "Scores: what the partition report shows, and what runs",
        ("pipeline", "kind", "n", "R", f"partition [{level}]", f"deployed [{level}]"), rows,
        (False, False, True, True, True, True), "n valid instances, R repetitions. Higher is better.",
    )  # fmt: skip


def _losses(item: BenchmarkFidelity, level: str, digits: int) -> Table:
    rows = tuple(
        (
            p.name, numbers.count(p.n_valid), numbers.estimate(p.gap, digits),
            numbers.estimate(p.deployment_regret, digits), numbers.p_value(p.holm_p),
        )
        for p in item.pipelines
    )  # fmt: skip
    return Table(
        "Deployment: what the inner selector loses",
        ("pipeline", "n", f"gap G [{level}]", f"regret [{level}]", "Holm p"), rows, (False, *(True,) * 4),
        "G = partition - deployed. Regret: utility lost to the best family's inner choice. Holm p: signed-rank test of "
        "the gaps, adjusted over the decomposed pipelines.",
    )  # fmt: skip


def _families(item: BenchmarkFidelity, level: str, digits: int) -> Table:
    rows = tuple(
        (
            p.name, numbers.count(p.n_valid), numbers.estimate(p.family_range, digits),
            numbers.share_estimate(p.violation_rate),
        )
        for p in item.pipelines
    )  # fmt: skip
    return Table(
        "Inside and across families",
        ("pipeline", "n", f"range W [{level}]", f"violations [{level}]"), rows, (False, *(True,) * 3),
        "W: mean range of utilities inside the chosen family. Violations: instances where another family's inner "
        "choice is better than what runs.",
    )  # fmt: skip


def _advantages(pairs: list[Comparison], level: str, digits: int) -> Table:
    rows = tuple(
        (
            _name(c), numbers.count(c.n_common), _signed(c.partition_advantage, digits),
            _signed(c.deployed_advantage, digits), _signed(c.gap_difference, digits),
        )
        for c in pairs
    )  # fmt: skip
    return Table(
        "Advantages, of the pipeline that leads on partition scores",
        ("pair", "n", f"A partition [{level}]", f"A deployed [{level}]", f"dG [{level}]"), rows,
        (False, *(True,) * 4),
        "dG = A partition - A deployed: the part of the lead that the inner selectors decide.", _BRIEF,
    )  # fmt: skip


def _transfers(pairs: list[Comparison], level: str) -> Table:
    rows = tuple(
        (
            _name(c), numbers.count(c.n_common), numbers.estimate(c.absorption_ratio, 2),
            c.transfer if isinstance(c.transfer, str) else "unstable", _yes(c.deployment_safe),
        )
        for c in pairs
    )  # fmt: skip
    return Table(
        "Does the lead survive?", ("pair", "n", f"rho [{level}]", "transfer", "safe"), rows,
        (False, True, True, False, False),
        "rho = dG / A partition, the share of the lead absorbed. Safe: the lead exceeds dG.", _BRIEF,
    )  # fmt: skip


def _left_open(pairs: list[Comparison], digits: int) -> Table:
    rows = tuple(
        (
            _name(c), numbers.count(c.n_common), _bounds(c.identification_interval, digits),
            _yes(_negation(c.crosses_zero)),
        )
        for c in pairs
    )  # fmt: skip
    return Table(
        "What the partition report alone leaves open", ("pair", "n", "A deployed within", "certified"), rows,
        (False, True, True, False),
        "Within: [A partition - W first, A partition + W second], an identification interval; the report certifies a "
        "winner where it excludes zero.", _BRIEF,
    )  # fmt: skip


def _corrections(pairs: list[Comparison], digits: int) -> Table:
    rows = tuple(
        (
            _name(c), str(x.n_folds), *(numbers.signed(v, digits) for v in (x.raw_mean, x.mean, x.deployed_mean)),
            f"{numbers.share(x.raw_sign_agreement, 0)} → {numbers.share(x.sign_agreement, 0)}",
            f"{numbers.value(x.raw_error, digits)} → {numbers.value(x.error, digits)}",
        )
        for c in pairs
        if not isinstance(x := c.corrected_advantage, Skipped)
    )  # fmt: skip
    return Table(
        "Gap-corrected advantage, from the validation scores",
        ("pair", "folds", "raw", "corrected", "deployed", "right sign", "error"), rows, (False, *(True,) * 6),
        "Means over outer folds. Right sign (share of folds) and error (mean absolute) against the deployed advantage: "
        "raw → corrected.", _BRIEF,
    )  # fmt: skip


def _training(effects: tuple[TrainingEffect, ...], level: str, digits: int) -> Table:
    rows = tuple(
        (
            f"{x.deployment_aware} for {x.oracle_trained}", numbers.count(x.n_common),
            _signed(x.gap_change, digits), _signed(x.partition_change, digits).split(" [")[0],
            _signed(x.deployed_change, digits).split(" [")[0],
        )
        for x in effects
    )  # fmt: skip
    return Table(
        "Training the family selector on what would be deployed",
        ("pipeline for its twin", "n", f"change in G [{level}]", "partition", "deployed"), rows, (False, *(True,) * 4),
        "Deployment-aware minus oracle-trained: changes in the gap, the partition score and the deployed score.",
    )  # fmt: skip


def _residuals(item: BenchmarkFidelity) -> str:
    one = [p.lemma1_residual for p in item.pipelines if isinstance(p.lemma1_residual, float)]
    two = [
        x
        for c in item.comparisons
        for x in (c.lemma2_residual, c.lemma2_largest)
        if isinstance(x, float)
    ]
    if not one:
        return "No identity could be checked: no choices are stored."
    pairs = f", of lemma 2 {numbers.residual(max(two))}" if two else ""
    return (
        f"Largest residual of lemma 1 (the gap by two routes) {numbers.residual(max(one))}{pairs}."
    )


def _telling(c: Comparison) -> tuple[int, float]:
    """Order of the pairs: reversals first, then leads that are not certified, larger leads first."""
    rank = 0 if c.transfer == "reversal" else 1 if c.crosses_zero is True else 2
    a = c.partition_advantage
    return rank, -abs(a.estimate) if isinstance(a, Estimate) else 0.0


def _name(c: Comparison) -> str:
    return f"{c.first} over {c.second}"


def _skipped(item: BenchmarkFidelity) -> tuple[str, ...]:
    """Each reason once, with what it concerns; what is not applicable by definition is left to the tables."""
    found: dict[tuple[str, str], list[str]] = {}
    for p in item.pipelines:
        for name in ("partition_score", "family_range", "wilcoxon_p", "lemma1_residual"):
            value = getattr(p, name)
            if isinstance(value, Skipped) and p.kind == "decomposed":
                found.setdefault((name.replace("_", " "), value.reason), []).append(p.name)
        if isinstance(p.gap, Estimate) and isinstance(p.gap.low, Skipped):
            found.setdefault(("intervals", p.gap.low.reason), []).append(p.name)
    for c in item.comparisons:
        for name in (
            "partition_advantage",
            "absorption_ratio",
            "identification_interval",
            "corrected_advantage",
        ):
            value = getattr(c, name)
            if isinstance(value, Skipped):
                found.setdefault((name.replace("_", " "), value.reason), []).append(
                    f"{c.first} / {c.second}"
                )
    return tuple(f"{what} of {_few(names)}: {reason}" for (what, reason), names in found.items())


def _few(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _signed(x: Estimate | Skipped, digits: int) -> str:
    if isinstance(x, Skipped):
        return numbers.MISSING
    return f"{numbers.signed(x.estimate, digits)} {numbers.interval(x, digits)}"


def _bounds(x: Range | Skipped, digits: int) -> str:
    return (
        numbers.MISSING
        if isinstance(x, Skipped)
        else f"[{numbers.value(x.low, digits)}, {numbers.value(x.high, digits)}]"
    )


def _negation(x: bool | Skipped) -> bool | Skipped:
    return x if isinstance(x, Skipped) else not x


def _yes(x: bool | Skipped) -> str:
    return numbers.MISSING if isinstance(x, Skipped) else ("yes" if x else "no")
