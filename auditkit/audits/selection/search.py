"""The audit of one set of searches: what choosing on the test set adds to the reported score."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

import numpy as np

from auditkit.audits.estimates import estimates
from auditkit.audits.selection.noise import accuracy_like, outside_unit
from auditkit.audits.selection.records import Flags, Floats, Indices, oriented
from auditkit.audits.selection.shares import MOST_CELLS
from auditkit.results.common import Estimate, Range, Skipped
from auditkit.results.search import Bias, Bound, CurvePoint, Peeking, SearchAudit, SearchGroup
from auditkit.schema import Search
from auditkit.statistics.bootstrap import Resampling
from auditkit.statistics.selection import (
    Traces,
    binomial_sigma,
    follow_traces,
    noise_bound,
    tied,
)

NO_CHOICE = Skipped("no dataset with a validation choice whose test score is known")
MANY_SCALES = Skipped("the scores lie on several scales; see groups, and the relative bias")


def audit_search(name: str, search: Search, *, tie: float, resampling: Resampling) -> SearchAudit:
    """Everything the selection audit says of one set of searches; see ``audit_selection``."""
    higher = search.higher_is_better
    traces = follow_traces(
        oriented(search.validation_score, higher), oriented(search.test_score, higher)
    )
    final = traces.best - traces.chosen
    used = np.flatnonzero(~np.isnan(final))
    inside = np.arange(search.test_score.shape[1]) < traces.length[:, None]

    groups = {
        label: _group(search, traces, rows, scale, resampling)
        for label, scale, rows in _scales(search)
    }
    only = next(iter(groups.values())) if len(groups) == 1 else None
    relative_bias: Bias | Skipped = NO_CHOICE
    relative_curve: tuple[CurvePoint, ...] | Skipped = NO_CHOICE
    relative_bound: Bound | Skipped = NO_CHOICE
    if len(used):
        spread = traces.spread[used]
        # without any spread there is nothing to choose between, and the bias is zero
        unit = np.where(spread > 0, spread, 1.0)
        relative_bias = _bias(final[used] / unit, resampling)
        relative_curve = _curve(traces, used, unit, spread / unit, resampling)
        relative_bound = _bound("spread", spread / unit, traces.scored[used], final[used] / unit)
    peeking = _peeking(search, traces, tie)
    return SearchAudit(
        search=name,
        n_datasets=len(search.datasets),
        n_used=len(used),
        candidates=Range(float(traces.length.min()), float(traces.length.max())),
        without_validation=int((inside & np.isnan(search.validation_score)).sum()),
        without_test=int((inside & np.isnan(search.test_score)).sum()),
        select_on_test=only.select_on_test if only else MANY_SCALES,
        select_on_validation=only.select_on_validation if only else MANY_SCALES,
        refit=only.refit if only else MANY_SCALES,
        bias=only.bias if only else MANY_SCALES,
        curve=only.curve if only else MANY_SCALES,
        bound=only.bound if only else MANY_SCALES,
        relative_bias=relative_bias,
        relative_curve=relative_curve,
        relative_bound=relative_bound,
        peeking_share=peeking if isinstance(peeking, Skipped) else peeking.best_only / peeking.n,
        peeking=peeking,
        groups=groups,
    )


def _scales(search: Search) -> Iterator[tuple[str, str, Indices]]:
    """Label, scale and rows of each set of datasets whose scores may be averaged."""
    n = len(search.datasets)
    higher = search.higher_is_better
    accuracy = accuracy_like(search.test_score, higher)
    # a validation score outside [0, 1] tells of another scale just as well
    accuracy &= ~outside_unit(search.validation_score)
    scale = np.where(
        accuracy,
        "accuracy-like",
        np.where(higher, "other, higher is better", "lower is better"),
    ).tolist()
    group = search.group or ("",) * n
    rows: dict[tuple[str, str], list[int]] = {}
    for row in range(n):
        rows.setdefault((group[row], scale[row]), []).append(row)
    split = {stratum for stratum, _ in rows if sum(stratum == g for g, _ in rows) > 1}
    for (stratum, kind), members in rows.items():
        label = f"{stratum}, {kind}" if stratum in split and stratum else stratum or kind
        yield label, kind, np.array(members, dtype=np.int64)


def _group(
    search: Search, traces: Traces, rows: Indices, scale: str, resampling: Resampling
) -> SearchGroup:
    best, chosen = traces.best[rows], traces.chosen[rows]
    has = ~np.isnan(best - chosen)
    if not has.any():
        none = (NO_CHOICE,) * 7
        return SearchGroup(scale, len(rows), *none)
    rows, best, chosen = rows[has], best[has], chosen[has]
    bias, spread, scored = best - chosen, traces.spread[rows], traces.scored[rows]
    turn = np.where(search.higher_is_better[rows], 1.0, -1.0)
    on_test, on_validation, refit = _means(
        [best * turn, chosen * turn, _or_missing(search.refit_score, rows)], resampling
    )
    return SearchGroup(
        scale=scale,
        n=len(rows),
        select_on_test=on_test,
        select_on_validation=on_validation,
        refit=Skipped("no refit scores are stored") if search.refit_score is None else refit,
        bias=_bias(bias, resampling),
        curve=_curve(traces, rows, np.ones(len(rows)), spread, resampling),
        bound=_bound("spread", spread, scored, bias),
        binomial_bound=_binomial_bound(search, rows, scale, chosen, scored, bias),
    )


def _or_missing(values: Floats | None, rows: Indices) -> Floats:
    return np.full(len(rows), np.nan) if values is None else values[rows]


def _means(columns: list[Floats], resampling: Resampling) -> list[Estimate | Skipped]:
    table = np.stack(columns, axis=1)
    counts = (~np.isnan(table)).sum(axis=0).tolist()
    return estimates(resampling.intervals(table, missing="omit"), counts)


def _bias(bias: Floats, resampling: Resampling) -> Bias:
    (mean,) = cast("list[Estimate]", estimates(resampling.intervals(bias)))
    q25, q50, q75, largest = np.quantile(bias, [0.25, 0.5, 0.75, 1.0]).tolist()
    return Bias(
        n=len(bias),
        mean=mean.estimate,
        low=mean.low,
        high=mean.high,
        q25=q25,
        q50=q50,
        q75=q75,
        max=largest,
        share_zero=float((bias == 0).mean()),
    )


def _curve(
    traces: Traces, rows: Indices, unit: Floats, sigma: Floats, resampling: Resampling
) -> tuple[CurvePoint, ...]:
    """Mean bias, divided by ``unit``, of the traces ``rows`` after each prefix.

    Prefixes after which no trace has made a choice are left out.
    """
    length = traces.length[rows]
    long_enough = np.bincount(length)[::-1].cumsum()[::-1]
    width = max(1, MOST_CELLS // len(rows))
    points = []
    for start in range(0, int(length.max()), width):
        bias = traces.bias[rows, start : min(start + width, int(length.max()))] / unit[:, None]
        defined = ~np.isnan(bias)
        n = defined.sum(axis=0)
        columns = np.flatnonzero(n)
        if len(columns) == 0:
            continue
        result = resampling.intervals(bias[:, columns], missing="omit")
        means = cast("list[Estimate]", estimates(result, n[columns].tolist()))
        for column, mean in zip(columns.tolist(), means, strict=True):
            k = start + column + 1
            points.append(
                CurvePoint(
                    k=k,
                    n=mean.n,
                    undefined=int(long_enough[k]) - mean.n,
                    bias=mean.estimate,
                    low=mean.low,
                    high=mean.high,
                    bound=float(sigma[defined[:, column]].mean() * np.sqrt(2 * np.log(k))),
                )
            )
    return tuple(points)


def _bound(sigma_from: str, sigma: Floats, candidates: Indices, bias: Floats) -> Bound:
    bound = noise_bound(sigma, candidates.astype(np.float64))
    low, median, high = np.quantile(bound, [0.25, 0.5, 0.75])
    mean, measured = float(bound.mean()), float(bias.mean())
    return Bound(
        sigma=sigma_from,
        n=len(bound),
        mean=mean,
        q25=float(low),
        q50=float(median),
        q75=float(high),
        measured=measured,
        # a bias below any float's precision is none
        ratio=mean / measured
        if measured > 0 and math.isfinite(mean / measured)
        else Skipped("no bias was measured"),
    )


def _binomial_bound(
    search: Search, rows: Indices, scale: str, chosen: Floats, scored: Indices, bias: Floats
) -> Bound | Skipped:
    if scale != "accuracy-like":
        return Skipped("the scores are not accuracy-like")
    if search.test_size is None:
        return Skipped("no test sizes are stored")
    sigma = binomial_sigma(chosen, search.test_size[rows].astype(np.float64))
    has: Flags = ~np.isnan(sigma)
    if not has.any():
        return Skipped("no dataset has a test size")
    return _bound("binomial", sigma[has], scored[has], bias[has])


def _peeking(search: Search, traces: Traces, tie: float) -> Peeking | Skipped:
    if search.reported_score is None:
        return Skipped("no reported scores are stored")
    turn = np.where(search.higher_is_better, 1.0, -1.0)
    reported = search.reported_score * turn
    judged = ~np.isnan(reported + traces.best + traces.chosen)
    n = int(judged.sum())
    if n == 0:
        return Skipped("no dataset with a reported score and both choices")
    best = tied(reported[judged], traces.best[judged], tie)
    choice = tied(reported[judged], traces.chosen[judged], tie)
    return Peeking(
        n=n,
        best_only=int((best & ~choice).sum()),
        choice_only=int((~best & choice).sum()),
        both=int((best & choice).sum()),
        neither=int((~best & ~choice).sum()),
    )
