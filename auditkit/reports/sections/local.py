"""What a report says of the local audit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from auditkit.reports import numbers, style
from auditkit.reports.document import Figure, Section, Table
from auditkit.results.common import Estimate, Skipped
from auditkit.results.local import Declarations, LocalComparison, LocalPoints, LocalResult

MOST_DRAWN = 800
"""Observations of one kind that are drawn in a map; of more, one in two, three, .. is."""

_LOOK = {-1: (style.BLUE, "o"), 1: (style.VERMILION, "s"), 0: (style.GREY, ".")}


def sections(result: LocalResult) -> tuple[Section, ...]:
    """One section a pair of losses, with all its alphas."""
    level = f"{result.stamp.settings['confidence']:.0%}"
    return tuple(
        _section(list(items), level)
        for _, items in groupby(result.items, key=lambda item: item.losses)
    )


def _section(items: list[LocalComparison], level: str) -> Section:
    first = items[0]
    title = f"local: {first.losses}"
    if isinstance(first.aggregate_winner, Skipped):
        reason = first.aggregate_winner.reason
        return Section(
            title, f"Nothing could be audited: {reason}.", skipped=(reason,), notes=_notes(first)
        )
    tables = [
        _aggregate(first, level),
        _table(
            "Certified winners: conformal rules", items, "rules", level,
            "False: winner declared that does not win, of all test observations; at most alpha for A and alpha for B. "
            "Gain: loss of the other model minus that of the declared one, where one is declared.",
        ),
        _table(
            "Maps without a guarantee, for comparison", items, "maps", level,
            "Winner by the sign of the mean, by the majority, or by the quantile at 1 - alpha, of the scores.",
        ),
    ]  # fmt: skip
    if not isinstance(first.controlled, Skipped):
        tables.append(
            _table(
                "Certified winners, with Benjamini-Hochberg over the whole map", items, "controlled", level,
                "Expected share of wrong winners among those declared: at most alpha for A and alpha for B.",
            )
        )  # fmt: skip
    figures = [_map(first)]
    if len(items) > 1:
        figures.append(_curve(items))
    return Section(
        title,
        verdict(items),
        tuple(tables),
        tuple(figures),
        skipped=_skipped(items),
        notes=_notes(first),
    )


def verdict(items: Sequence[LocalComparison]) -> str:
    """What follows at the first alpha, in a few sentences."""
    item = items[0]
    gap = item.mean_gap
    assert isinstance(gap, Estimate)
    names = {"A": item.model_a, "B": item.model_b}
    if item.aggregate_winner == "tie":
        aggregate = f"{item.model_a} and {item.model_b} tie in aggregate"
    else:
        aggregate = f"{names[str(item.aggregate_winner)]} has the smaller mean {item.loss}"
        if not gap.excludes_zero:
            aggregate += ", by a difference that its interval does not tell from zero"
    aggregate += (
        f" ({item.model_a} minus {item.model_b}: {numbers.signed(gap.estimate)} "
        f"{numbers.interval(gap)}, n = {numbers.count(gap.n)})."
    )
    assert isinstance(item.prevalence_a, Estimate)
    assert isinstance(item.prevalence_b, Estimate)
    prevalence = (
        f"The local mean favours {item.model_a} at {numbers.share(item.prevalence_a.estimate)} and "
        f"{item.model_b} at {numbers.share(item.prevalence_b.estimate)} of the test observations."
    )
    return f"{aggregate} {prevalence} {_certified(item)}"


def _certified(item: LocalComparison) -> str:
    """What the rule that declares most certifies, and how its gain compares with the map that is not certified."""
    rule = max(item.rules, key=lambda r: r.n_declared)
    if rule.n_declared == 0:
        if item.n_calibration < item.smallest_calibration:
            return (
                f"Nothing can be certified at alpha {item.alpha:g}: {item.n_calibration} calibration observations, "
                f"{item.smallest_calibration} needed."
            )
        return f"At alpha {item.alpha:g} nothing is certified: no rule declares a winner anywhere."
    assert isinstance(rule.declared_a, Estimate)
    assert isinstance(rule.declared_b, Estimate)
    parts = [
        f"{name} at {numbers.share(share.estimate)}" if share.estimate > 0 else f"{name} nowhere"
        for name, share in ((item.model_a, rule.declared_a), (item.model_b, rule.declared_b))
    ]
    text = f"At alpha {item.alpha:g} the rule {rule.rule} certifies {' and '.join(parts)}"
    plain = next(m for m in item.maps if m.rule == "local_mean")
    if isinstance(rule.conditional_gain, Estimate) and isinstance(plain.conditional_gain, Estimate):
        text += (
            f"; the gain there is {numbers.value(rule.conditional_gain.estimate)}, against "
            f"{numbers.value(plain.conditional_gain.estimate)} where the local mean alone declares"
        )
    return text + "."


def _aggregate(item: LocalComparison, level: str) -> Table:
    rows = (
        ("A", item.model_a, _share(item.prevalence_a), _share(item.win_share_a)),
        ("B", item.model_b, _share(item.prevalence_b), _share(item.win_share_b)),
    )
    note = (
        f"Shares of {numbers.count(item.n_test)} test observations. Favoured: by the local mean of the score. Wins: "
        f"smaller loss. {numbers.count(item.n_ties)} ties."
    )
    return Table(
        "Who is better where", ("", "model", f"favoured [{level}]", f"wins [{level}]"), rows,
        (False, False, True, True), note,
    )  # fmt: skip


def _table(
    title: str, items: Sequence[LocalComparison], field: str, level: str, note: str
) -> Table:
    rows = []
    for item in items:
        for entry in getattr(item, field):
            same = field == "maps" and entry.rule != "local_quantile"
            if same and item is not items[0]:
                continue  # the map does not depend on alpha
            rows.append(("" if same else f"{item.alpha:g}", *_row(entry)))
    columns = ("alpha", "rule", "A", "B", f"false [{level}]", f"gain [{level}]")
    return Table(title, columns, tuple(rows), (True, False, True, True, True, True), note)


def _row(entry: Declarations) -> tuple[str, ...]:
    return (
        entry.rule,
        _point(entry.declared_a),
        _point(entry.declared_b),
        _share(entry.false_winner_rate),
        numbers.estimate(entry.conditional_gain),
    )


def _share(x: Estimate | Skipped) -> str:
    return numbers.share_estimate(x)


def _point(x: Estimate | Skipped) -> str:
    return numbers.MISSING if isinstance(x, Skipped) else numbers.share(x.estimate)


def _skipped(items: Sequence[LocalComparison]) -> tuple[str, ...]:
    found = []
    for item in items:
        bounds = {
            rule.upper_threshold.reason
            for rule in item.rules
            if isinstance(rule.upper_threshold, Skipped)
        }
        found += [f"thresholds at alpha {item.alpha:g}: {reason}" for reason in sorted(bounds)]
    return tuple(found)


def _notes(item: LocalComparison) -> tuple[str, ...]:
    drawn = "as stored" if item.split == "stored" else "drawn with the seed, none being stored"
    named = (
        f"A = {item.model_a}, B = {item.model_b}. "
        if (item.model_a, item.model_b) != ("A", "B")
        else ""
    )
    notes = [
        f"{named}Splits {drawn}: {item.n_estimation:,} estimation, "
        f"{item.n_calibration:,} calibration, {item.n_test:,} test observations. Every number is taken on the test "
        "split; intervals resample it and take the other two as given.",
        _means(item),
    ]
    if item.n_fit:
        notes.append(f"{item.n_fit:,} observations of the split fit are ignored.")
    if item.n_excluded:
        columns = ", ".join(f"{name} {n:,}" for name, n in item.missing.items())
        notes.append(f"{item.n_excluded:,} observations are left out; values missing: {columns}.")
    if item.dropped:
        notes.append(f"Covariates that do not vary, dropped: {', '.join(item.dropped)}.")
    if isinstance(item.n_fallback, int) and item.n_fallback:
        notes.append(
            f"{item.n_fallback:,} test observations have no neighbour: all estimation observations stand in."
        )
    return tuple(notes)


def _means(item: LocalComparison) -> str:
    score = {
        "gap": "loss of A minus loss of B",
        "log_ratio": "log of the ratio of the losses",
        "standardized": "difference of the losses over its local scale",
    }[item.score]
    if isinstance(item.radius, float):
        around = f"{item.weights} weights within {item.radius:g}"
    elif isinstance(item.neighbours, int):
        around = f"the {item.neighbours:,} nearest estimation observations"
    else:
        around = "the nearest estimation observations"
    return (
        f"Score: {score}, negative where A is better. Local means over {around} in "
        f"{len(item.covariates)} covariates."
    )


def _map(item: LocalComparison) -> Figure:
    points = item.points
    assert isinstance(points, LocalPoints)
    rule = "local_standardized"
    winners = points.declared[rule]
    rows = {code: np.flatnonzero(winners == code) for code in (-1, 1, 0)}
    counts = {code: len(at) for code, at in rows.items()}
    steps = {code: max(1, -(-n // MOST_DRAWN)) for code, n in counts.items()}
    labels = {
        -1: f"{style.label(item.model_a)} certified ({counts[-1]:,})",
        1: f"{style.label(item.model_b)} certified ({counts[1]:,})",
        0: f"nobody ({counts[0]:,})",
    }
    kinds = {-1: f"where {item.model_a} is", 1: f"where {item.model_b} is", 0: "where nobody is"}
    flat = points.position.shape[1] == 1

    def draw(axes: Any) -> None:
        for code in (0, -1, 1):
            colour, marker = _LOOK[code]
            at = rows[code][:: steps[code]]
            y = points.centre[at] if flat else points.position[at, 1]
            axes.scatter(
                points.position[at, 0],
                y,
                s=6 if code == 0 else 16,
                c=colour,
                marker=marker,
                linewidths=0,
                label=labels[code],
            )
        axes.set_xlabel(style.label(points.axes[0], 48))
        axes.set_ylabel("local mean of the score" if flat else style.label(points.axes[1], 48))
        axes.legend(
            loc="upper left", bbox_to_anchor=(0, 1.16), ncols=3, handletextpad=0.2, borderpad=0
        )

    where = (
        f"by {points.axes[0]} and local mean score"
        if flat
        else f"in the plane of {points.axes[0]} and {points.axes[1]}"
    )
    thinned = [f"one in {steps[c]} of those {of}" for c, of in kinds.items() if steps[c] > 1]
    some = f"; drawn are {' and '.join(thinned)}" if thinned else ""
    alt = (
        f"Test observations {where}: {counts[-1]:,} of {len(winners):,} where {item.model_a} is certified, "
        f"{counts[1]:,} where {item.model_b} is, {counts[0]:,} where nobody is{some}."
    )
    return Figure(
        f"Where a winner is certified: {rule}, alpha {item.alpha:g}",
        alt,
        draw,
        (6.4, 4.2),
    )


def _curve(items: Sequence[LocalComparison]) -> Figure:
    items = sorted(items, key=lambda item: item.alpha)
    alphas = [item.alpha for item in items]
    rates = {
        key: [
            rule.false_winner_rate.estimate
            for item in items
            for rule in item.rules
            if rule.rule == key and isinstance(rule.false_winner_rate, Estimate)
        ]
        for key in (rule.rule for rule in items[0].rules)
    }

    def draw(axes: Any) -> None:
        axes.plot(
            [0, max(alphas)], [0, max(alphas)], color=style.GREY, linestyle="--", label="alpha"
        )
        for (name, values), marker in zip(rates.items(), style.MARKERS, strict=False):
            axes.plot(alphas, values, marker=marker, label=name)
        axes.set_xlabel("alpha")
        axes.set_ylabel("false winner rate")
        axes.legend(loc="upper left")

    alt = "False winner rate on the test split against alpha. " + " ".join(
        f"{name}: {', '.join(f'{v:.3f} at {a:g}' for a, v in zip(alphas, values, strict=True))}."
        for name, values in rates.items()
    )
    return Figure("How often a declared winner does not win, against alpha", alt, draw)
