"""Members as CSV, each with a mapping file that imports it back: the other half of the round trip."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auditkit.errors import UsageError
from auditkit.importers.mapping import mapping_text
from auditkit.importers.sources import StrPath
from auditkit.schema import AuditData, Benchmark, Losses, Member, Samples, Scoreboard, Search
from auditkit.store import atomic

_DIRECTION = "higher_is_better=true:max,false:min"

Row = list[Any]


def export(
    data: AuditData, path: StrPath, *, member: str | None = None
) -> tuple[Path, Path, tuple[str, ...]]:
    """Write a member as CSV and, beside it, the mapping (``.toml``) that imports it back.

    Parameters
    ----------
    data
        An audit file, opened.
    path
        The CSV file; neither it nor the mapping may exist.
    member
        ``group/name``; needed where there is more than one.

    Returns
    -------
    csv, mapping : Path
        The files written.
    left_out : tuple of str
        What a table has no place for: pipelines, features.

    Raises
    ------
    UsageError
        The member is not there, a file to write exists, or a name is empty (in CSV an empty cell is a missing one).
    StoreError
        The folder is not writable.

    Notes
    -----
    Numbers are written so that they read back to the same bits. Cluster labels that are integers come back as texts;
    the free texts ``transform``, ``cutoff`` and ``par_factor`` of a benchmark are not part of a table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> from auditkit.schema import Samples
    >>> data = AuditData(samples={"s": Samples(cost=np.array([[0.1, np.nan]]), instances=["007"])})
    >>> table, mapping, left_out = export(data, folder / "s.csv")
    >>> table.read_text().split()
    ['instance,cost', '007,0.1', '007,']
    """
    members = {f"{group}/{name}": value for group, name, value in data.members()}
    if member is None and len(members) == 1:
        member = next(iter(members))
    if member is None or member not in members:
        raise UsageError(
            "which member?" if member is None else "no such member",
            found=None if member is None else repr(member),
            expected=" or ".join(members) or "a member",
            where=data.path,
        )
    chosen = members[member]
    header, rows, kind, options, left_out = _EXPORTS[type(chosen)](chosen)
    target = Path(path)
    mapping = target.with_suffix(".toml")
    if mapping == target:
        raise UsageError(
            "the table and its mapping would be one file",
            found=str(path),
            expected="a name ending in .csv",
        )
    for output in (target, mapping):
        if output.exists() or output.is_symlink():
            raise UsageError("exists already", expected="a new file", where=str(output))
    with (
        atomic(target) as temporary,
        Path(temporary).open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows([_cell(value) for value in row] for row in rows)
    with atomic(mapping) as temporary:
        Path(temporary).write_text(mapping_text(kind, options), encoding="utf-8")
    return target, mapping, tuple(left_out)


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    return repr(float(value)) if isinstance(value, float) else str(value)


def _named(what: str, names: Sequence[str]) -> Sequence[str]:
    if "" in names:
        raise UsageError(
            f"an empty name among the {what}",
            expected="names: in CSV an empty cell is a missing one",
        )
    return names


Exported = tuple[Row, Iterator[Row], str, dict[str, Any], list[str]]


def _columns(n: int, optional: dict[str, Any]) -> dict[str, Any]:
    """The optional arrays that are there, as lists of n cells."""
    return {
        name: values.tolist() if isinstance(values, np.ndarray) else list(values)
        for name, values in optional.items()
        if values is not None
    }


def _benchmark(b: Benchmark) -> Exported:
    _named("instances", b.instances)
    _named("algorithms", b.algorithms)
    per_instance = _columns(len(b.instances), {"penalty": b.penalty, "cluster": b.clusters})
    if b.clusters is not None:
        _named("clusters", [str(label) for label in b.clusters])
    header = [
        "instance",
        "algorithm",
        "utility",
        *(["cost"] if b.cost is not None else []),
        *per_instance,
    ]

    def rows() -> Iterator[Row]:
        for i, instance in enumerate(b.instances):
            for a, algorithm in enumerate(b.algorithms):
                row = [instance, algorithm, float(b.utility[i, a])]
                if b.cost is not None:
                    row.append(float(b.cost[i, a]))
                yield row + [values[i] for values in per_instance.values()]

    members = {
        family: [b.algorithms[a] for a in np.flatnonzero(b.family_of == k)]
        for k, family in enumerate(b.families)
    }
    options = {
        "instance": "instance", "algorithm": "algorithm", "value": "utility",
        "higher_is_better": True, "transform": "identity",
        "cost": "cost" if b.cost is not None else "", "metric": b.metric, "unit": b.unit,
        **{option: option if option in per_instance else "" for option in ("penalty", "cluster")}, "families": members,
    }  # fmt: skip
    left_out = [f"{len(b.pipelines)} pipelines"] if b.pipelines else []
    left_out += [f"{len(b.feature_names)} features"] if b.feature_names is not None else []
    return header, rows(), "benchmark", options, left_out


def _scoreboard(s: Scoreboard) -> Exported:
    _named("datasets", s.datasets)
    _named("systems", s.systems)
    if s.run is not None:
        _named("runs", s.run)
    per_dataset = _columns(len(s.datasets), {
        "run": s.run, "cluster": s.clusters, "group": s.group, "budget": s.budget_seconds, "size": s.size,
        "test_size": s.test_size, "claimed_winner": s.claimed_winner,
    })  # fmt: skip
    optional = {"score": s.score, "seconds": s.seconds, "candidates": s.candidates}
    per_system: dict[str, Any] = {
        name: values for name, values in optional.items() if values is not None
    }
    header = [
        "dataset",
        "higher_is_better",
        *per_dataset,
        *(f"{option}.{system}" for option in per_system for system in s.systems),
    ]

    def rows() -> Iterator[Row]:
        for i, dataset in enumerate(s.datasets):
            row = [
                dataset,
                bool(s.higher_is_better[i]),
                *(values[i] for values in per_dataset.values()),
            ]
            yield row + [cell for values in per_system.values() for cell in values[i].tolist()]

    options = {
        "dataset": "dataset", "direction": _DIRECTION, "metric": s.metric,
        **{option: f"{option}.*" for option in per_system},
        **{option: option if option in per_dataset else "" for option in
           ("run", "cluster", "group", "budget", "size", "test_size", "claimed_winner")},
    }  # fmt: skip
    return header, rows(), "scoreboard", options, []


def _search(s: Search) -> Exported:
    _named("datasets", s.datasets)
    per_dataset = _columns(len(s.datasets), {
        "reported": s.reported_score, "refit": s.refit_score, "test_size": s.test_size, "group": s.group,
    })  # fmt: skip
    header = ["dataset", "order", "validation", "test", "higher_is_better", *per_dataset]

    def rows() -> Iterator[Row]:
        for i, dataset in enumerate(s.datasets):
            rest = [bool(s.higher_is_better[i]), *(values[i] for values in per_dataset.values())]
            for c, scores in enumerate(
                zip(s.validation_score[i].tolist(), s.test_score[i].tolist(), strict=True)
            ):
                yield [dataset, c + 1, *scores, *rest]

    options = {
        "dataset": "dataset", "order": "order", "validation": "validation", "test": "test", "direction": _DIRECTION,
        "metric": s.metric,
        **{option: option if option in per_dataset else "" for option in ("reported", "refit", "test_size", "group")},
    }  # fmt: skip
    return header, rows(), "search", options, []


def _samples(s: Samples) -> Exported:
    _named("instances", s.instances)
    per_instance = _columns(len(s.instances), {"reference": s.reference, "label": s.label})
    header = ["instance", "cost", *per_instance]

    def rows() -> Iterator[Row]:
        for i, instance in enumerate(s.instances):
            rest = [values[i] for values in per_instance.values()]
            for cost in s.cost[i].tolist():
                yield [instance, cost, *rest]

    options = {
        "instance": "instance", "cost": "cost", **{o: o if o in per_instance else "" for o in ("reference", "label")},
    }  # fmt: skip
    return header, rows(), "samples", options, []


def _losses(s: Losses) -> Exported:
    _named("covariates", s.covariate_names)
    split = [] if s.split is None else ["split"]
    header = ["loss_a", "loss_b", *split, *(f"x.{name}" for name in s.covariate_names)]

    def rows() -> Iterator[Row]:
        for i in range(len(s.loss_a)):
            part = [] if s.split is None else [s.split[i]]
            yield [float(s.loss_a[i]), float(s.loss_b[i]), *part, *s.covariates[i].tolist()]

    options = {
        "loss_a": "loss_a", "loss_b": "loss_b", "split": "split" if split else "", "covariates": "x.*",
        "model_a": s.model_a, "model_b": s.model_b, "loss": s.loss,
    }  # fmt: skip
    return header, rows(), "losses", options, []


_EXPORTS: dict[type[Member], Callable[[Any], Exported]] = {
    Benchmark: _benchmark, Scoreboard: _scoreboard, Search: _search, Samples: _samples, Losses: _losses,
}  # fmt: skip
