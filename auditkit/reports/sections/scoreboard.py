"""What a report says of one scoreboard."""

from __future__ import annotations

from dataclasses import replace

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Section, Table
from auditkit.reports.figures.selection import nominal_budget, ranks, times
from auditkit.reports.sections.slices import by_wins, shares_figure, slices, slices_table
from auditkit.results.common import Estimate, Skipped
from auditkit.results.scoreboard import TIE, HeadToHead, Rerun, ScoreboardAudit

MOST_PAIRS = 15
"""With more pairs than this, only those of the leading system are listed."""

KEPT = {
    "size": "dataset of most rows",
    "test_size": "dataset of most test rows",
    "dataset id": "smallest dataset id",
}


def scoreboard_section(item: ScoreboardAudit, level: str) -> Section:
    """The section of one scoreboard; ``level`` is the confidence as a text."""
    tables = [_systems(item, level), slices_table(item, level)]
    tables += [_pairs(item)] if item.head_to_head else []
    scores = _scores(item)
    tables += [] if scores is None else [scores]
    if not isinstance(item.budget, Skipped):
        tables.append(_times(item))
    tables += [_rerun(number, rerun) for number, rerun in enumerate(item.reruns, 1)]
    shares = shares_figure(item, level) if not isinstance(item.win_share, Skipped) else None
    figures = tuple(figure for figure in (shares, ranks(item), times(item)) if figure is not None)
    return Section(
        title=f"selection: scoreboard {item.scoreboard}",
        verdict=verdict(item),
        tables=tuple(tables),
        figures=figures,
        skipped=_skipped(item),
        notes=tuple(_notes(item)),
    )


def verdict(item: ScoreboardAudit) -> str:
    """Who wins, and what is left of it: with equal time, above the noise, without a splice."""
    leader = item.leader
    if isinstance(item.win_share, Skipped):
        return f"No shares: {item.win_share.reason}."
    parts = [
        f"{leader} wins {numbers.share_estimate(item.win_share[leader])} of "
        f"{counted(item.n_datasets, 'dataset')}."
    ]
    if not isinstance(item.matched, Skipped) and item.matched:
        last = item.matched[-1]
        against = "all others" if len(last.others) > 1 else last.against
        parts.append(
            f"On no dataset was it as quick as {against}."
            if isinstance(last.win_share, Skipped)
            else f"Where it was no slower than {against} ({last.n}), it wins "
            f"{numbers.share_estimate(last.win_share[leader])}."
        )
    floor = item.noise_floor
    if not isinstance(floor, Skipped) and isinstance(floor.wins_below, Estimate):
        parts.append(
            f"{numbers.share(floor.wins_below.estimate)} of its {counted(floor.wins_below.n, 'win')} with a "
            "noise bound lie below it."
        )
    parts += [
        f"Merging in second run {number} would make its share "
        f"{numbers.share(rerun.merged_win_share[leader])}: a splice of two runs."
        for number, rerun in enumerate(item.reruns, 1)
        if rerun.splice
    ]
    return " ".join(parts)


def _systems(item: ScoreboardAudit, level: str) -> Table:
    rows: list[tuple[str, ...]] = []
    for system in (*by_wins(item), TIE):
        share = item.win_share if isinstance(item.win_share, Skipped) else item.win_share[system]
        rest = ("", "")
        if system != TIE:
            rest = (numbers.value(item.mean_rank[system], 2), numbers.count(item.missing[system]))
        rows.append((system, numbers.share_estimate(share), *rest))
    return Table(
        "Who wins",
        ("system", f"wins [{level}]", "mean rank", "no score"),
        tuple(rows),
        (False, True, True, True),
        f"A win beats every other system by more than {item.tie_tolerance:g}; ties share a rank.",
    )


def _scores(item: ScoreboardAudit) -> Table | None:
    """Mean scores and relative errors, those of them that could be computed."""
    found: list[tuple[str, int, dict[str, float]]] = []
    notes = []
    for name, score in item.mean_score.items():
        if isinstance(score.mean, dict):
            found.append((f"mean, {name.removesuffix(' is better')} better", 4, score.mean))
            notes.append(
                f"Mean scores of {counted(score.n, 'dataset')} ({score.incomplete} incomplete)."
            )
    error = item.relative_error
    if not isinstance(error, Skipped):
        for name, values in (("median", error.median), ("geometric", error.geometric_mean)):
            if isinstance(values, dict):
                found.append((f"rel. error: {name}", 2, values))
        notes.append(
            f"Rel. error: over the best of the dataset, on {counted(error.n, 'dataset')} "
            f"({error.not_positive} without a positive best and {error.incomplete} incomplete left "
            "out)."
        )
    if not found:
        return None
    return Table(
        "How good the scores are",
        ("system", *(name for name, _, _ in found)),
        tuple(
            (system, *(numbers.value(values[system], digits) for _, digits, values in found))
            for system in by_wins(item)
        ),
        (False, *(True,) * len(found)),
        " ".join(notes),
    )


def _pairs(item: ScoreboardAudit) -> Table:
    pairs = list(item.head_to_head)
    single: dict[tuple[str, str], HeadToHead] = {}
    if not isinstance(item.deduplicated, Skipped):
        single = {(x.first, x.second): x for x in item.deduplicated.head_to_head}
    every = len(pairs) <= MOST_PAIRS
    if not every:
        pairs = [x for x in pairs if item.leader in (x.first, x.second)]
    columns = ["pair", "win", "loss", "tie", "sign test p", "Holm p"]
    columns += ["one per cluster", "Holm p "] if single else []
    order = by_wins(item)
    rows = []
    for x in map(_winner_first, pairs):
        row = [f"{x.first} / {x.second}", *(numbers.count(k) for k in (x.wins, x.losses, x.ties))]
        row += [numbers.p_value(x.sign_test_p), numbers.p_value(x.holm_p)]
        if single:
            y = single.get((x.first, x.second)) or _turned(single[x.second, x.first])
            row += [f"{y.wins} - {y.losses}", numbers.p_value(y.holm_p)]
        rows.append((order.index(x.first), order.index(x.second), tuple(row)))
    note = "Two-sided sign tests of independent datasets; Holm over all pairs."
    if not every:
        note += f" Only the pairs of {item.leader} are listed, of {len(item.head_to_head)}."
    return Table(
        "Head to head",
        tuple(columns),
        tuple(row for *_, row in sorted(rows)),
        (False, *(True,) * (len(columns) - 1)),
        note,
    )


def _winner_first(x: HeadToHead) -> HeadToHead:
    return x if x.wins >= x.losses else _turned(x)


def _turned(x: HeadToHead) -> HeadToHead:
    return replace(x, first=x.second, second=x.first, wins=x.losses, losses=x.wins)


def _times(item: ScoreboardAudit) -> Table:
    rows: list[tuple[str, ...]] = []
    budgets = {} if isinstance(item.budget, Skipped) else item.budget
    known = [x for x in budgets.values() if not isinstance(x, Skipped)]
    budgeted = any(x.n_budget for x in known)
    digits = 1 if all(x.median >= 1 for x in known) else 3
    over = ["over budget", "over twice"] if budgeted else []
    for system in by_wins(item):
        x = budgets[system]
        if isinstance(x, Skipped):
            rows.append((system, *(numbers.MISSING,) * (5 + len(over))))
            continue
        cells = [numbers.value(v, digits) for v in (x.median, x.mean, x.p90, x.max)]
        shares = (x.share_over_budget, x.share_over_twice) if budgeted else ()
        rows.append((system, *cells, *map(numbers.share, shares), _ratio(item, system)))
    note = f"Last column: median over datasets of {item.leader}'s seconds over the system's."
    return Table(
        "Realised seconds",
        ("system", "median", "mean", "p90", "max", *over, f"{item.leader} /"),
        tuple(rows),
        (False, *(True,) * (5 + len(over))),
        f"{note} {nominal_budget(item.nominal_budget)}",
    )


def _ratio(item: ScoreboardAudit, system: str) -> str:
    for x in () if isinstance(item.time_ratio, Skipped) else item.time_ratio:
        if isinstance(x.median, Skipped):
            continue
        if (x.first, x.second) == (item.leader, system):
            return numbers.value(x.median, 2)
        if (x.second, x.first) == (item.leader, system) and x.median > 0:
            return numbers.value(1 / x.median, 2)
    return numbers.MISSING


def _rerun(number: int, rerun: Rerun) -> Table:
    rows = tuple(
        (
            system,
            numbers.count(x.identical),
            numbers.count(x.better),
            numbers.count(x.worse),
            f"{numbers.value(x.seconds_before, 1)} → {numbers.value(x.seconds_after, 1)}",
            f"{rerun.wins_before[system]} → {rerun.wins_after[system]}",
        )
        for system, x in rerun.systems.items()
    )
    gone = sum(x.vanished for x in rerun.systems.values())
    new = sum(x.appeared for x in rerun.systems.values())
    note = f"{counted(rerun.n, 'dataset')}, against {', '.join(rerun.against)}."
    note += (
        f" Scores only in the first run: {gone}; only in the second: {new}." if gone + new else ""
    )
    return Table(
        f"Second run {number}: {rerun.run}",
        ("system", "identical", "better", "worse", "median seconds", "wins"),
        rows,
        (False, *(True,) * 5),
        note,
    )


def _notes(item: ScoreboardAudit) -> list[str]:
    notes = [
        f"{counted(item.n_datasets, 'dataset')} from {counted(item.n_records, 'record')}; "
        f"the first record of a dataset counts. Intervals resample the {item.unit} "
        f"({numbers.count(item.n_units)} of them)."
    ]
    if item.n_unscored or item.n_dropped:
        notes.append(
            f"Left out: {counted(item.n_unscored, 'dataset')} on which no system has a score, "
            f"{item.n_dropped} for a missing score."
        )
    single = item.deduplicated
    if not isinstance(single, Skipped) and single.repeated:
        notes.append(
            f"{single.repeated} of {counted(single.n, 'cluster')} "
            f"{'holds' if single.repeated == 1 else 'hold'} several datasets; one per cluster "
            f"keeps the {KEPT[single.kept_by]}."
        )
    floor = item.noise_floor
    if not isinstance(floor, Skipped):
        low, high = floor.candidates.low, floor.candidates.high
        k = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        notes.append(
            f"Noise bound sigma sqrt(2 ln K), K = {k}, of {floor.system} on {counted(floor.n, 'dataset')} "
            f"with accuracy-like scores: median {numbers.value(100 * floor.bound.median, 2)} points "
            f"(quartiles {numbers.value(100 * floor.bound.q25, 2)} and "
            f"{numbers.value(100 * floor.bound.q75, 2)}); its median margin where it wins is "
            f"{numbers.value(_points(floor.median_margin), 2)} points."
        )
    claims = item.claims
    if not isinstance(claims, Skipped):
        notes.append(
            f"{claims.n - claims.disagreeing} of {claims.n} claimed winners follow from the scores."
        )
    return notes


def _points(x: float | Skipped) -> float | Skipped:
    return x if isinstance(x, Skipped) else 100 * x


def _skipped(item: ScoreboardAudit) -> tuple[str, ...]:
    fields = (
        "groups", "relative_error", "nominal_budget", "budget", "matched", "deduplicated", "noise_floor", "claims",
    )  # fmt: skip
    found = [
        f"{name.replace('_', ' ')}: {value.reason}"
        for name in fields
        if isinstance(value := getattr(item, name), Skipped)
    ]
    found += [
        f"mean score where {name}: {x.mean.reason}"
        for name, x in item.mean_score.items()
        if isinstance(x.mean, Skipped)
    ]
    without: dict[str, list[str]] = {}
    for name, _, _, shares in slices(item):
        if isinstance(shares, Skipped):
            without.setdefault(f"win shares: {shares.reason}", []).append(name)
        elif isinstance(low := shares[item.leader].low, Skipped):
            without.setdefault(f"intervals of win shares: {low.reason}", []).append(name)
    found += [f"{what} ({', '.join(names)})" for what, names in without.items()]
    return tuple(found)
