"""What a report says of one set of searches."""

from __future__ import annotations

from typing import Any

from auditkit.errors import counted
from auditkit.reports import numbers, style
from auditkit.reports.document import Figure, Section, Table
from auditkit.results.common import Estimate, Skipped
from auditkit.results.search import Bias, Bound, CurvePoint, SearchAudit

RELATIVE = "relative"
MOST_GROUPS = 6
"""Groups whose curves are listed."""


def search_section(item: SearchAudit, level: str) -> Section:
    """The section of one set of searches; ``level`` is the confidence as a text."""
    curves = {RELATIVE: item.relative_curve}
    curves |= {name: g.curve for name, g in list(item.groups.items())[:MOST_GROUPS]}
    tables = [_scores(item, level), _quartiles(item)]
    tables += [
        _curve(name, x, level, mixed=name in _mixed(item))
        for name, x in curves.items()
        if not isinstance(x, Skipped)
    ]
    figures = [
        _figure(item.search, name, x, level)
        for name, x in curves.items()
        if not isinstance(x, Skipped)
    ]
    return Section(
        title=f"selection: search {item.search}",
        verdict=verdict(item),
        tables=tuple(tables),
        figures=tuple(figures),
        skipped=_skipped(item),
        notes=tuple(_notes(item)),
    )


def verdict(item: SearchAudit) -> str:
    """What choosing on the test set adds, against the bound, and whether the report did it."""
    parts = []
    bias = item.relative_bias
    if isinstance(bias, Skipped):
        parts.append(f"No bias of selection: {bias.reason}.")
    else:
        parts.append(
            "Choosing the candidate on the test set instead of on validation adds "
            f"{_mean(bias, 2)} standard deviations of a dataset's test scores, on "
            f"{counted(bias.n, 'dataset')}."
        )
        if not isinstance(item.bias, Skipped):
            digits = _digits(item.bias)
            units = "score units, if all datasets share them" if _mixed(item) else "score units"
            parts.append(f"In {units}: {_mean(item.bias, digits)}.")
        bound = item.relative_bound
        if isinstance(bound, Bound) and isinstance(bound.ratio, float):
            parts.append(f"The bound sigma sqrt(2 ln K) is {bound.ratio:.3g} times as large.")
    if not isinstance(item.peeking, Skipped):
        x = item.peeking
        parts.append(
            f"{x.best_only} of {x.n} reported scores equal the best test score and not that of "
            "the validation choice."
        )
    return " ".join(parts)


def _mean(x: Bias, digits: int) -> str:
    return f"{numbers.value(x.mean, digits)} {_interval(x, digits)}"


def _interval(x: Bias | CurvePoint, digits: int) -> str:
    if isinstance(x.low, Skipped) or isinstance(x.high, Skipped):
        return f"[{numbers.MISSING}]"
    return f"[{numbers.value(x.low, digits)}, {numbers.value(x.high, digits)}]"


def _digits(x: Bias | Skipped) -> int:
    """Decimals that show two digits of the mean and of the median bias, between 2 and 6."""
    return _decimals([] if isinstance(x, Skipped) else [x.mean, x.q50])


def _decimals(values: list[float]) -> int:
    smallest = min((x for x in values if x > 0), default=0.001)
    return next((d for d in range(2, 6) if smallest * 10**d >= 10), 6)


def _mixed(item: SearchAudit) -> list[str]:
    """The groups of several datasets whose score units may differ: nothing but the range of the scores is known."""
    return [name for name, g in item.groups.items() if g.scale != "accuracy-like" and g.n > 1]


def _caution(names: list[str]) -> str:
    """That a mean of figures in score units is one number only where the datasets share the unit."""
    if not names:
        return ""
    return (
        f" Datasets of {', '.join(names)} may differ in their score units, and what is in score units is dominated by "
        f"the largest then: read the {RELATIVE} row."
    )


def _scores(item: SearchAudit, level: str) -> Table:
    rows = []
    for name, g in item.groups.items():
        digits = _digits(g.bias)
        cells = [_point(x, digits) for x in (g.select_on_test, g.select_on_validation, g.refit)]
        bias = numbers.MISSING if isinstance(g.bias, Skipped) else _mean(g.bias, digits)
        rows.append((name, numbers.count(g.n), *cells, bias, _zero(g.bias)))
    x = item.relative_bias
    bias = numbers.MISSING if isinstance(x, Skipped) else _mean(x, 2)
    none = (numbers.MISSING,) * 3
    rows.append((RELATIVE, numbers.count(item.n_used), *none, bias, _zero(x)))
    return Table(
        "Test score of the choice",
        ("datasets", "n", "on test", "on validation", "refit", f"bias [{level}]", "zero"),
        tuple(rows),
        (False, *(True,) * 6),
        "Bias: best test score minus the test score of the validation choice. Relative: in "
        "standard deviations of the dataset's own test scores. Zero: share of datasets without "
        f"bias.{_caution(_mixed(item))}",
    )


def _point(x: Estimate | Skipped, digits: int) -> str:
    return numbers.MISSING if isinstance(x, Skipped) else numbers.value(x.estimate, digits)


def _zero(x: Bias | Skipped) -> str:
    return numbers.MISSING if isinstance(x, Skipped) else numbers.share(x.share_zero)


def _quartiles(item: SearchAudit) -> Table:
    entries: list[tuple[str, Bias | Skipped, Bound | Skipped, Bound | Skipped]] = [
        (name, g.bias, g.bound, g.binomial_bound) for name, g in item.groups.items()
    ]
    entries.append((RELATIVE, item.relative_bias, item.relative_bound, Skipped("")))
    rows = []
    for name, bias, *bounds in entries:
        if isinstance(bias, Skipped):
            continue
        digits = 2 if name == RELATIVE else _digits(bias)
        cells = [numbers.value(x, digits) for x in (bias.q25, bias.q50, bias.q75, bias.max)]
        for bound in bounds:
            cells += (
                [numbers.MISSING] * 2
                if isinstance(bound, Skipped)
                else [numbers.value(bound.mean, digits), numbers.value(bound.ratio, 1)]
            )
        rows.append((name, *cells))
    return Table(
        "Bias over datasets, and the bound on its mean",
        ("datasets", "q25", "median", "q75", "max", "bound", "ratio", "binomial", "ratio "),
        tuple(rows),
        (False, *(True,) * 8),
        "Bound: mean of sigma sqrt(2 ln K), sigma from the spread of the dataset's test scores or, "
        f"binomial, from its test size; ratio: bound over mean bias.{_caution(_mixed(item))}",
    )


def _curve(name: str, points: tuple[CurvePoint, ...], level: str, *, mixed: bool) -> Table:
    wanted = _marks([point.k for point in points])
    digits = 2 if name == RELATIVE else _decimals([max(point.bias for point in points)])
    rows = tuple(
        (
            numbers.count(point.k),
            numbers.count(point.n),
            f"{numbers.value(point.bias, digits)} {_interval(point, digits)}",
            numbers.value(point.bound, digits),
        )
        for point in points
        if point.k in wanted
    )
    return Table(
        f"Selection curve: {name}",
        ("candidates", "n", f"mean bias [{level}]", "bound"),
        rows,
        (True, True, True, True),
        "n: datasets whose trace is that long and has a choice by then."
        + (
            f" In score units, which may differ between them: read the {RELATIVE} curve."
            if mixed
            else ""
        ),
    )


def _marks(ks: list[int]) -> set[int]:
    """1, 2, 5, 10, 20, 50, ... of the prefix lengths, and the last."""
    rounded = {m * 10**e for e in range(len(str(ks[-1]))) for m in (1, 2, 5)}
    return rounded | {ks[-1]}


def _figure(search: str, name: str, points: tuple[CurvePoint, ...], level: str) -> Figure:
    unit = "standard deviations" if name == RELATIVE else "score units"
    first, last = points[0], points[-1]

    def draw(axes: Any) -> None:
        k = [point.k for point in points]
        axes.plot(k, [point.bias for point in points], label="mean bias")
        banded = [p for p in points if isinstance(p.low, float) and isinstance(p.high, float)]
        axes.fill_between(
            [p.k for p in banded], [p.low for p in banded], [p.high for p in banded], alpha=0.25,
            label=f"{level} interval",
        )  # fmt: skip
        bounds = [(p.k, p.bound) for p in points if isinstance(p.bound, float)]
        if bounds:
            axes.plot(*zip(*bounds, strict=True), linestyle="--", label="sigma sqrt(2 ln k)")
        axes.set_xlabel("candidates evaluated")
        axes.set_ylabel(f"best on test - choice on validation\n({unit})")
        axes.set_ylim(bottom=0)
        style.legend_above(axes)

    return Figure(
        f"Selection curve of {search}: {name}",
        f"Mean bias of choosing on the test set, in {unit}: {first.bias:.3g} after "
        f"{counted(first.k, 'candidate')}, {last.bias:.3g} after {last.k}.",
        draw,
    )


def _notes(item: SearchAudit) -> list[str]:
    low, high = item.candidates.low, item.candidates.high
    length = counted(int(high), "candidate")
    if low != high:
        length = f"{low:g} to {length}"
    notes = [
        f"{numbers.count(item.n_used)} of {counted(item.n_datasets, 'dataset')} "
        f"{'has' if item.n_used == 1 else 'have'} a "
        f"validation choice with a test score; traces of {length}, of which "
        f"{numbers.count(item.without_validation)} lack a validation score (never chosen) and "
        f"{numbers.count(item.without_test)} a test score (never best)."
    ]
    x = item.peeking
    if not isinstance(x, Skipped):
        notes.append(
            f"Reported scores: {x.best_only} equal only the best test score, {x.choice_only} only "
            f"that of the validation choice, {x.both} both, {x.neither} neither."
        )
    hidden = len(item.groups) - MOST_GROUPS
    if hidden > 0:
        notes.append(f"In the JSON output only: the curves of {counted(hidden, 'more group')}.")
    return notes


def _skipped(item: SearchAudit) -> tuple[str, ...]:
    found: dict[str, list[str]] = {}
    for name, g in item.groups.items():
        for field in ("select_on_test", "refit", "binomial_bound"):
            value = getattr(g, field)
            if isinstance(value, Skipped):
                found.setdefault(f"{field.replace('_', ' ')}: {value.reason}", []).append(name)
    reasons = [f"{what} ({', '.join(names)})" for what, names in found.items()]
    if isinstance(item.peeking, Skipped):
        reasons.append(f"peeking: {item.peeking.reason}")
    return tuple(reasons)
