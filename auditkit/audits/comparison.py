"""Pairs of pipelines: does the advantage on partition scores carry over to deployment? (docs/fidelity.md)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auditkit.audits.estimates import estimates
from auditkit.results.common import Estimate, Range, Skipped
from auditkit.results.fidelity import Comparison, CorrectedAdvantage
from auditkit.statistics.bootstrap import Resampling

if TYPE_CHECKING:
    from auditkit.audits.fidelity import Scored

Floats = NDArray[np.float64]

UNSTABLE = 0.005
"""A partition advantage smaller than this gives no stable absorption ratio."""

_PAIRS_AT_ONCE = 64


def compare(
    pairs: Sequence[tuple[Scored, Scored]],
    used: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None,
    plan: Resampling,
) -> tuple[Comparison, ...]:
    """Compare pairs of pipelines of one benchmark.

    Parameters
    ----------
    pairs
        Scored pipelines.
    used
        [n]; the instances that are resampled.
    clusters
        Their clusters, [used.sum()], if there are any.
    plan
        How intervals are made; a few pairs at a time, all with the same resamples.
    """
    out: list[Comparison] = []
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        some = [_Pair.of(one, two) for one, two in pairs[start : start + _PAIRS_AT_ONCE]]
        found = _estimates(some, used, clusters, plan)
        out += [
            _comparison(pair, *quantities) for pair, quantities in zip(some, found, strict=True)
        ]
    return tuple(out)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two pipelines with their per-instance differences, NaN outside the common valid set."""

    first: Scored
    second: Scored
    common: NDArray[np.bool_]
    partition: Floats
    deployed: Floats
    gap: Floats

    @classmethod
    def of(cls, first: Scored, second: Scored) -> _Pair:
        common = first.valid & second.valid
        difference = np.where(
            common[:, np.newaxis], first.columns[:, :3] - second.columns[:, :3], np.nan
        )
        partition, deployed, gap = difference.T
        if first.within_regret is not None and second.within_regret is not None:
            # the route that does not pass through the scores it is checked against
            gap = np.where(common, first.within_regret - second.within_regret, np.nan)
        return cls(first, second, common, partition, deployed, gap)


def _estimates(
    pairs: list[_Pair],
    used: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None,
    plan: Resampling,
) -> list[tuple[list[Estimate | Skipped], Estimate | Skipped]]:
    counts = [int(pair.common.sum()) for pair in pairs]
    if not used.any():
        nothing = Skipped("no instance is valid for both pipelines")
        return [([nothing] * 3, nothing) for _ in pairs]
    columns = np.column_stack([c[used] for p in pairs for c in (p.partition, p.deployed, p.gap)])
    means = estimates(
        plan.intervals(columns, clusters=clusters, missing="omit"),
        [n for n in counts for _ in range(3)],
    )
    columns = np.column_stack([c[used] for p in pairs for c in (p.gap, p.partition)])
    ratios = estimates(
        plan.intervals(columns, statistic="ratio", clusters=clusters, missing="omit"), counts
    )
    return [(means[3 * j : 3 * j + 3], ratios[j]) for j in range(len(pairs))]


def _comparison(
    pair: _Pair, means: list[Estimate | Skipped], ratio: Estimate | Skipped
) -> Comparison:
    partition, deployed, gap = means
    if isinstance(partition, Skipped) or isinstance(deployed, Skipped) or isinstance(gap, Skipped):
        return _nothing(pair)
    advantage, delivered, lost = partition.estimate, deployed.estimate, gap.estimate
    unstable = Skipped(
        f"unstable: the partition advantage {advantage:.4f} is below {UNSTABLE} in size"
    )
    residual, largest = _lemma2(pair)
    bounds = _identification(pair, advantage)
    return Comparison(
        first=pair.first.name,
        second=pair.second.name,
        n_common=int(pair.common.sum()),
        partition_advantage=partition,
        deployed_advantage=deployed,
        gap_difference=gap,
        lemma2_residual=residual,
        lemma2_largest=largest,
        absorption_ratio=unstable if abs(advantage) < UNSTABLE else ratio,
        deployment_safe=advantage > lost
        if advantage > 0
        else Skipped("no positive partition advantage"),
        identification_interval=bounds,
        crosses_zero=bounds if isinstance(bounds, Skipped) else bounds.low < 0 < bounds.high,
        transfer=unstable
        if abs(advantage) < UNSTABLE
        else transfer_label(advantage, delivered, lost),
        corrected_advantage=_corrected(pair),
    )


def _nothing(pair: _Pair) -> Comparison:
    nothing = Skipped("no instance is valid for both pipelines")
    quantities: dict[str, Any] = {
        f.name: nothing for f in fields(Comparison) if f.name not in {"first", "second", "n_common"}
    }
    return Comparison(first=pair.first.name, second=pair.second.name, n_common=0, **quantities)


def transfer_label(partition: float, deployed: float, gap_difference: float) -> str:
    """What becomes of a partition advantage in deployment (docs/fidelity.md).

    Parameters
    ----------
    partition, deployed, gap_difference
        A_part, A_e2e and dG of first over second; ``partition`` is not zero.

    Returns
    -------
    str
        The label; where the second leads on partition scores, the label of the swapped pair, said to be swapped.

    Examples
    --------
    >>> transfer_label(0.20, -0.24, 0.44)
    'reversal'
    >>> transfer_label(-0.20, -0.19, -0.01)
    'transfer (swapped)'
    """
    if partition < 0:
        if deployed > 0:
            return "opposite reversal"
        return f"{transfer_label(-partition, -deployed, -gap_difference)} (swapped)"
    ratio = gap_difference / partition
    if ratio > 1:
        return "reversal"
    if ratio >= 0.9:
        return "extreme absorption"
    if ratio > 0.1:
        return "partial absorption"
    return "transfer" if ratio >= -0.1 else "amplification"


def _lemma2(pair: _Pair) -> tuple[float | Skipped, float | Skipped]:
    if pair.first.within_regret is None or pair.second.within_regret is None:
        skipped = Skipped(
            "only released scores are stored: a gap derived from them cannot check them"
        )
        return skipped, skipped
    scores = np.abs(np.stack([s.columns[pair.common, :2] for s in (pair.first, pair.second)]))
    each = np.abs(pair.partition - pair.deployed - pair.gap)[pair.common]
    means = [column[pair.common].mean() for column in (pair.partition, pair.deployed, pair.gap)]
    scale = max(1.0, float(scores.max()))
    return float(abs(means[0] - means[1] - means[2]) / scale), float(each.max() / scale)


def _identification(pair: _Pair, advantage: float) -> Range | Skipped:
    if pair.first.cells is None or pair.second.cells is None:
        return Skipped(
            "only released scores are stored: the range inside the families is not known"
        )
    first, second = (float(s.columns[pair.common, 3].mean()) for s in (pair.first, pair.second))
    return Range(advantage - first, advantage + second)


def _corrected(pair: _Pair) -> CorrectedAdvantage | Skipped:
    """Per outer fold: the advantage on the test fold minus the difference of the gaps on its validation set."""
    first, second = pair.first.pipeline, pair.second.pipeline
    if first.validation_partition is None and second.validation_partition is None:
        return Skipped("no validation scores stored")
    for s in (pair.first, pair.second):
        if s.pipeline.validation_partition is None and s.pipeline.kind != "flat":
            return Skipped(f"no validation scores stored for {s.name}")
    if first.fold is None or second.fold is None or not np.array_equal(first.fold, second.fold):
        return Skipped("the two pipelines were not tested on the same folds")
    gaps = [_validation_gap(s.pipeline) for s in (pair.first, pair.second)]
    n_folds = max(gap.shape[1] for gap in gaps if gap is not None)
    raw, corrected, deployed = [], [], []
    for r in range(len(first.fold)):
        for f in range(n_folds):
            tested = pair.common & (first.fold[r] == f)
            shift = [0.0 if gap is None else gap[r, f] for gap in gaps]
            if not tested.any() or not np.isfinite(shift).all():
                continue
            of = [
                (s.partition_cells[r, tested].mean(), s.deployed_cells[r, tested].mean())
                for s in (pair.first, pair.second)
            ]
            raw.append(of[0][0] - of[1][0])
            deployed.append(of[0][1] - of[1][1])
            corrected.append(raw[-1] - (shift[0] - shift[1]))
    if not raw:
        return Skipped("no fold has both test and validation scores")
    a, b, c = np.array(raw), np.array(corrected), np.array(deployed)
    error, raw_error = float(np.abs(b - c).mean()), float(np.abs(a - c).mean())
    return CorrectedAdvantage(
        mean=float(b.mean()),
        raw_mean=float(a.mean()),
        deployed_mean=float(c.mean()),
        sign_agreement=float((np.sign(b) == np.sign(c)).mean()),
        raw_sign_agreement=float((np.sign(a) == np.sign(c)).mean()),
        error=error,
        raw_error=raw_error,
        error_reduction=raw_error - error,
        n_folds=len(raw),
    )


def _validation_gap(pipeline: object) -> Floats | None:
    """G on every validation set, [R, F]; None for a flat pipeline without one, whose gap is zero by definition."""
    partition = getattr(pipeline, "validation_partition", None)
    deployed = getattr(pipeline, "validation_deployed", None)
    if partition is None or deployed is None:
        return None
    gap = partition - deployed
    count = np.isfinite(gap).sum(axis=2)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.nansum(gap, axis=2) / count
    return mean
