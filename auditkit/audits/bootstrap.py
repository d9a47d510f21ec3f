"""The bootstrap of any one array of an audit file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from auditkit.audits.estimates import estimates
from auditkit.errors import UsageError
from auditkit.results.bootstrap import ArrayBootstrap, ColumnInterval
from auditkit.results.common import Stamp
from auditkit.schema import MEMBERS, AuditData, Floats, Member, array_specs
from auditkit.statistics.bootstrap import Method, Progress, Resampler, Statistic, bootstrap

_NAMES = {
    "A": "algorithms",
    "S": "systems",
    "K": "families",
    "d": "covariate_names",
    "q": "feature_names",
}
"""The array that names the entries of a dimension."""

_SIGNS = {"difference": "-", "ratio": "/"}


def bootstrap_array(
    data: AuditData,
    dataset: str,
    *,
    columns: Sequence[str] = (),
    clusters: str | None = None,
    statistic: Statistic = "mean",
    q: float = 0.5,
    method: Method = "percentile",
    missing: Literal["raise", "omit"] = "raise",
    replicates: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    progress: Progress | None = None,
) -> ArrayBootstrap:
    """Bootstrap the columns of a stored array; its observations (dimension n) are the units, or their clusters.

    Parameters
    ----------
    data
        The audit file, or arrays in memory.
    dataset
        Where the array is stored, such as ``/benchmarks/NAME/utility``.
    columns
        Names of the columns wanted, in this order (their numbers, where they have no names); by default all.
    clusters
        Where the cluster labels of the observations are stored.
    statistic, q, method, missing, replicates, confidence, seed, threads, resampler, progress
        As in ``bootstrap``.

    Raises
    ------
    UsageError
        There is no such array or column, or it is no table of numbers by observation.
    StatisticsError
        As in ``bootstrap``.
    """
    x, names = _table(data, dataset)
    if columns:
        x, names = _chosen(x, names, columns, dataset)
    labels = None if clusters is None else _find(data, clusters)[2]
    found = bootstrap(
        x, statistic=statistic, q=q, clusters=labels, replicates=replicates, confidence=confidence, method=method,
        seed=seed, threads=threads, resampler=resampler, missing=missing, progress=progress,
    )  # fmt: skip
    measured = ~np.isnan(x)
    if statistic in _SIGNS:
        measured = measured[:, ::2] & measured[:, 1::2]
        pairs = zip(names[::2], names[1::2], strict=True)
        names = [f"{first} {_SIGNS[statistic]} {second}" for first, second in pairs]
    settings: dict[str, Any] = {
        "replicates": replicates,
        "confidence": confidence,
        "seed": seed,
        "resampler": resampler,
        "method": found.method,
    }
    own = {"dataset": dataset, "columns": list(columns), "clusters": clusters, "missing": missing}
    settings["bootstrap"] = {
        **own,
        "statistic": statistic,
        **({"q": q} if statistic == "quantile" else {}),
    }
    return ArrayBootstrap(
        stamp=Stamp(data.path, data.sha256, settings),
        dataset=dataset,
        clusters=clusters,
        statistic=f"{statistic} {q:g}" if statistic == "quantile" else statistic,
        method=found.method,
        n_observations=len(x),
        n_units=found.n,
        columns=tuple(
            ColumnInterval(name, int(n), value, note)
            for name, n, value, note in zip(
                names, measured.sum(axis=0), estimates(found), found.note, strict=True
            )
        ),
        unused_clusters=None if clusters else _stored_clusters(data, dataset),
    )


def _find(data: AuditData, path: str) -> tuple[Member, str, Any]:
    """The member that holds an array, the array's field, and its values."""
    parts = path.strip("/").split("/")
    member: Any = None
    if len(parts) > 2 and parts[0] in MEMBERS:
        member, parts = getattr(data, parts[0]).get(parts[1]), parts[2:]
    if member is not None and len(parts) > 2 and parts[0] == "pipelines":
        member, parts = getattr(member, "pipelines", {}).get(parts[1]), parts[2:]
    if member is not None:
        for name, spec in array_specs(type(member)).items():
            if (spec.path or name) == "/".join(parts) and getattr(member, name) is not None:
                return member, name, getattr(member, name)
    raise UsageError(
        "no such array",
        found=path,
        expected="a path such as /benchmarks/NAME/utility",
        where=data.path,
    )


def _table(data: AuditData, path: str) -> tuple[Floats, list[str]]:
    """An array as [n, m] numbers by observation, and the names of its columns."""
    member, field, values = _find(data, path)
    spec = array_specs(type(member))[field]
    dims = spec.dims
    if spec.kind not in {"float", "flag"} or "n" not in dims or len(dims) > 2:
        raise UsageError(
            "not a table of numbers by observation",
            found=f"{spec.kind} [{', '.join(dims)}]",
            expected="float or flag, [n] or [n, m]",
            where=path,
        )
    x = np.asarray(values, dtype=np.float64)
    if len(dims) == 1:
        return x[:, None], [path.rsplit("/", 1)[-1]]
    x = x if dims[0] == "n" else x.T
    other = dims[1] if dims[0] == "n" else dims[0]
    names = getattr(member, _NAMES.get(other, ""), None)
    return x, list(names) if names else [str(j) for j in range(x.shape[1])]


def _chosen(
    x: Floats, names: list[str], columns: Sequence[str], path: str
) -> tuple[Floats, list[str]]:
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise UsageError(
            "no such column", found=unknown[0], expected=" or ".join(names), where=path
        )
    return x[:, [names.index(name) for name in columns]], list(columns)


def _stored_clusters(data: AuditData, path: str) -> str | None:
    """Where the clusters of an array's observations are stored, if they are."""
    group, member, *_ = path.strip("/").split("/")
    holder = getattr(data, group)[member]
    return None if getattr(holder, "clusters", None) is None else f"/{group}/{member}/clusters"
