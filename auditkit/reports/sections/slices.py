"""Win shares on the slices of a scoreboard: the systems shown, a table and a figure."""

from __future__ import annotations

from typing import Any

from auditkit.reports import numbers, style
from auditkit.reports.document import Figure, Table
from auditkit.results.common import Estimate, Skipped
from auditkit.results.scoreboard import TIE, Matched, ScoreboardAudit

MOST_COLUMNS = 3
"""Systems that a table of slices names; the others are added up."""

MOST_MATCHES = 6
"""With more slices of equal time than this, only those against the shown systems are listed."""

OTHERS = "others"
Shares = dict[str, Estimate] | Skipped


def by_wins(item: ScoreboardAudit) -> list[str]:
    """The systems, the leading one first, then by wins and mean rank."""

    def place(system: str) -> tuple[bool, float, float]:
        shares = item.win_share
        won = 0.0 if isinstance(shares, Skipped) else shares[system].estimate
        return system != item.leader, -won, item.mean_rank[system]

    return sorted(item.systems, key=place)


def shown_systems(item: ScoreboardAudit) -> list[str]:
    """As many of the systems as fit beside each other."""
    return by_wins(item)[:MOST_COLUMNS]


def listed_matches(item: ScoreboardAudit) -> list[Matched]:
    """The slices of equal time; of many, those against the shown systems and against all."""
    if isinstance(item.matched, Skipped):
        return []
    if len(item.matched) <= MOST_MATCHES:
        return list(item.matched)
    named = shown_systems(item)
    return [m for m in item.matched if len(m.others) > 1 or m.against in named]


def slices(item: ScoreboardAudit) -> list[tuple[str, int, int, Shares]]:
    """Name, datasets, missing scores and shares of every slice, the whole first."""
    found = [("all", item.n_datasets, sum(item.missing.values()), item.win_share)]
    if not isinstance(item.groups, Skipped):
        found += [
            (name or "(no group)", g.n, sum(g.missing.values()), g.win_share)
            for name, g in item.groups.items()
        ]
    single = item.deduplicated
    if not isinstance(single, Skipped):
        missing = sum(single.missing.values())
        found.append(("one per cluster", single.n, missing, single.win_share))
    if not isinstance(item.matched, Skipped):
        found += [
            (
                f"no slower than {'all others' if len(m.others) > 1 else m.against}",
                m.n,
                sum(m.missing.values()),
                m.win_share,
            )
            for m in listed_matches(item)
        ]
    return found


def slices_table(item: ScoreboardAudit, level: str) -> Table:
    named = shown_systems(item)
    folded = len(named) < len(item.systems)
    columns = ["datasets", "n", "no score", f"{named[0]} [{level}]", *named[1:]]
    columns += [OTHERS] if folded else []
    rows = []
    for name, n, missing, shares in slices(item):
        cells = [name, numbers.count(n), numbers.count(missing)]
        if isinstance(shares, Skipped):
            rows.append((*cells, *(numbers.MISSING,) * (len(columns) - 2)))
            continue
        cells.append(numbers.share_estimate(shares[named[0]]))
        cells += [numbers.share(shares[system].estimate) for system in named[1:]]
        rest = [shares[s].estimate for s in item.systems if s not in named]
        cells += [numbers.share(sum(rest))] if folded else []
        rows.append((*cells, numbers.share(shares[TIE].estimate)))
    for number, rerun in enumerate(item.reruns, 1):
        merged = rerun.merged_win_share
        rest_merged = sum(merged[s] for s in item.systems if s not in named)
        cells = [f"second run {number} merged in", numbers.count(item.n_datasets), ""]
        cells += [numbers.share(merged[system]) for system in named]
        cells += [numbers.share(rest_merged)] if folded else []
        rows.append((*cells, numbers.share(merged[TIE])))
    note = (
        f"No slower: datasets on which {item.leader} took no more seconds. No score: scores "
        f"missing in the slice ({_policy(item)})."
    )
    if not isinstance(item.matched, Skipped) and len(item.matched) > MOST_MATCHES:
        note += f" Of {len(item.matched)} slices of equal time the others are in the JSON output."
    return Table(
        "Win shares by slice",
        (*columns, TIE),
        tuple(rows),
        (False, *(True,) * len(columns)),
        note,
    )


def _policy(item: ScoreboardAudit) -> str:
    return {
        "loss": "each counts as a loss",
        "drop": "their datasets are dropped",
        "error": "none is allowed",
    }[item.missing_policy]


def shares_figure(item: ScoreboardAudit, level: str) -> Figure:
    """Win shares of the shown systems on every slice, with intervals."""
    named = shown_systems(item)
    rows = [(name, n, s) for name, n, _, s in slices(item) if not isinstance(s, Skipped)]
    words = "; ".join(
        f"{name} (n = {n}): "
        + ", ".join(f"{system} {numbers.share(shares[system].estimate)}" for system in named)
        for name, n, shares in rows
    )

    def draw(axes: Any) -> None:
        gap = 0.6 / len(named)
        for place, system in enumerate(named):
            x = [100 * shares[system].estimate for _, _, shares in rows]
            y = [row + (place - (len(named) - 1) / 2) * gap for row in range(len(rows))]
            ends = [_ends(shares[system]) for _, _, shares in rows]
            errors = [[100 * (e - lo) for e, lo, _ in ends], [100 * (hi - e) for e, _, hi in ends]]
            axes.errorbar(
                x,
                y,
                xerr=errors,
                fmt=style.MARKERS[place],
                markersize=5,
                capsize=2,
                label=style.label(system),
            )
        axes.set_yticks(range(len(rows)), [f"{style.label(name)} (n = {n})" for name, n, _ in rows])
        axes.invert_yaxis()
        axes.set_xlim(left=0)
        axes.set_xlabel(f"datasets won, % ({level} intervals)")
        style.legend_above(axes)

    return Figure(
        f"Win shares of {item.scoreboard}, by slice",
        f"Datasets won: {words}.",
        draw,
        (6.4, max(2.4, 0.55 * len(rows) + 1.2)),
    )


def _ends(x: Estimate) -> tuple[float, float, float]:
    """Estimate and interval; no interval has no length. Resamples never put it outside."""
    low = x.estimate if isinstance(x.low, Skipped) else min(x.low, x.estimate)
    high = x.estimate if isinstance(x.high, Skipped) else max(x.high, x.estimate)
    return x.estimate, low, high
