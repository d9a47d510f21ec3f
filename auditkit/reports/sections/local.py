"""What a report says of the local audit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from auditkit.errors import counted
from auditkit.reports import numbers
from auditkit.reports.document import Section, Table
from auditkit.reports.figures.local import figures
from auditkit.results.common import Estimate, Skipped
from auditkit.results.local import Declarations, LocalComparison, LocalResult


def sections(result: LocalResult) -> tuple[Section, ...]:
    """One section a pair of losses, with all its alphas."""
    level = numbers.level(result.stamp.settings["confidence"])
    return tuple(
        _section(list(items), level)
        for _, items in groupby(result.items, key=lambda item: item.losses)
    )


def _section(items: list[LocalComparison], level: str) -> Section:
    first, digits = items[0], _digits(items)
    title = f"local: {first.losses}"
    if isinstance(first.aggregate_winner, Skipped):
        reason = first.aggregate_winner.reason
        return Section(
            title, f"Nothing could be audited: {reason}.", skipped=(reason,), notes=_notes(first)
        )
    tables = [
        _aggregate(first, level),
        _table(
            "Certified winners, by conformal rule", items, "rules", level, digits,
            "False: winner declared that does not win, of all test observations; at most alpha for A and alpha for B. "
            "Gain: loss of the other model minus that of the declared one, where one is declared.",
        ),
        _table(
            "Maps without a guarantee, for comparison", items, "maps", level, digits,
            "Winner by the sign of the mean, by the majority, or by the quantile at 1 - alpha, of the scores.",
        ),
    ]  # fmt: skip
    if not isinstance(first.controlled, Skipped):
        tables.append(
            _table(
                "Certified winners, with Benjamini-Hochberg over the whole map", items, "controlled", level, digits,
                "Expected share of wrong winners among those declared: at most alpha for A and alpha for B.",
            )
        )  # fmt: skip
    return Section(
        title,
        verdict(items, digits),
        tuple(tables),
        figures(items),
        skipped=_skipped(items),
        notes=_notes(first),
    )


def verdict(items: Sequence[LocalComparison], digits: int) -> str:
    """What follows at the first alpha, in a few sentences."""
    item = items[0]
    gap = item.mean_gap
    assert isinstance(gap, Estimate)
    decimals = numbers.decimals(gap, digits)
    names = {"A": item.model_a, "B": item.model_b}
    loss = "" if item.loss == "loss" else f"{item.loss}, "
    if item.aggregate_winner == "tie":
        aggregate = f"{item.model_a} and {item.model_b} tie in aggregate"
    else:
        aggregate = f"{names[str(item.aggregate_winner)]} has the smaller mean loss"
        if not gap.excludes_zero:
            aggregate += ", by a difference that its interval does not tell from zero"
    aggregate += (
        f" ({loss}{item.model_a} minus {item.model_b}: {numbers.signed(gap.estimate, decimals)} "
        f"{numbers.interval(gap, decimals)}, n = {numbers.count(gap.n)})."
    )
    assert isinstance(item.prevalence_a, Estimate)
    assert isinstance(item.prevalence_b, Estimate)
    prevalence = (
        f"The local mean favours {item.model_a} at {numbers.share(item.prevalence_a.estimate)} and "
        f"{item.model_b} at {numbers.share(item.prevalence_b.estimate)} of the test observations."
    )
    return f"{aggregate} {prevalence} {_certified(item, digits)}"


def _certified(item: LocalComparison, digits: int) -> str:
    """What the rule that declares most certifies, and how its gain compares with the map that is not certified."""
    rule = max(item.rules, key=lambda r: r.n_declared)
    if rule.n_declared == 0:
        if item.n_calibration < item.smallest_calibration:
            return (
                f"Nothing can be certified at alpha {item.alpha:g}: "
                f"{counted(item.n_calibration, 'calibration observation')}, {item.smallest_calibration} needed."
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
            f"; the gain there is {_value(rule.conditional_gain, digits)}, against "
            f"{_value(plain.conditional_gain, digits)} where the local mean alone declares"
        )
    return text + "."


def _value(x: Estimate, digits: int) -> str:
    return numbers.value(x.estimate, numbers.decimals(x, digits))


def _aggregate(item: LocalComparison, level: str) -> Table:
    rows = (
        ("A", item.model_a, _share(item.prevalence_a), _share(item.win_share_a)),
        ("B", item.model_b, _share(item.prevalence_b), _share(item.win_share_b)),
    )
    note = (
        f"Shares of {counted(item.n_test, 'test observation')}. Favoured: by the local mean of the score. Wins: "
        f"smaller loss. {counted(item.n_ties, 'tie')}."
    )
    return Table(
        "Who is better where", ("", "model", f"favoured [{level}]", f"wins [{level}]"), rows,
        (False, False, True, True), note,
    )  # fmt: skip


def _table(
    title: str, items: Sequence[LocalComparison], field: str, level: str, digits: int, note: str
) -> Table:
    rows = []
    for item in items:
        for entry in getattr(item, field):
            same = field == "maps" and entry.rule != "local_quantile"
            if same and item is not items[0]:
                continue  # the map does not depend on alpha
            rows.append(("" if same else f"{item.alpha:g}", *_row(entry, digits)))
    columns: tuple[str, ...] = ("alpha", "rule", "A", "B", f"false [{level}]", f"gain [{level}]")
    numeric: tuple[bool, ...] = (True, False, True, True, True, True)
    if len(items) == 1:  # the title tells the only alpha
        title = f"{title} (alpha {items[0].alpha:g})"
        rows, columns, numeric = [row[1:] for row in rows], columns[1:], numeric[1:]
    return Table(title, columns, tuple(rows), numeric, note)


def _digits(items: Sequence[LocalComparison]) -> int:
    """Decimals that show three figures of the largest gain."""
    gains = [
        abs(x.estimate)
        for item in items
        for x in (item.mean_gap, *(entry.conditional_gain for entry in (*item.rules, *item.maps)))
        if isinstance(x, Estimate) and x.estimate
    ]
    return max(0, min(6, 2 - math.floor(math.log10(max(gains))))) if gains else 3


def _row(entry: Declarations, digits: int) -> tuple[str, ...]:
    gain = entry.conditional_gain
    if isinstance(gain, Estimate):
        digits = numbers.decimals(gain, digits)
    return (
        entry.rule,
        _point(entry.declared_a),
        _point(entry.declared_b),
        _share(entry.false_winner_rate),
        numbers.estimate(gain, digits),
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
        found += [
            f"interval of the gain of {entry.rule} at alpha {item.alpha:g}: {entry.conditional_gain.low.reason}"
            for entry in (*item.rules, *item.maps)
            if isinstance(entry.conditional_gain, Estimate)
            and isinstance(entry.conditional_gain.low, Skipped)
        ]
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
        f"{item.n_calibration:,} calibration, {counted(item.n_test, 'test observation')}. Every number is taken on "
        "the test split; intervals resample it and take the other two as given.",
        _means(item),
    ]
    if item.n_fit:
        notes.append(f"Ignored: {counted(item.n_fit, 'observation')} of the split fit.")
    if item.n_excluded:
        columns = ", ".join(f"{name} {n:,}" for name, n in item.missing.items())
        left_out = counted(item.n_excluded, "observation")
        notes.append(f"Left out: {left_out}; values missing: {columns}.")
    if item.dropped:
        notes.append(f"Covariates that do not vary, dropped: {', '.join(item.dropped)}.")
    if isinstance(item.n_fallback, int) and item.n_fallback:
        notes.append(
            f"Without a neighbour: {counted(item.n_fallback, 'test observation')}; all estimation "
            "observations stand in."
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
        around = f"the {counted(item.neighbours, 'nearest estimation observation')}"
    else:
        around = "the nearest estimation observations"
    return (
        f"Score: {score}, negative where A is better. Local means over {around} in "
        f"{counted(len(item.covariates), 'covariate')}."
    )
