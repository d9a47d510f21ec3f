"""Result of the bootstrap of one stored array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from auditkit.results.common import Estimate, Result, Skipped, Stamp, flat_row, to_json

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ColumnInterval(Result):
    """The statistic of one column, or of a pair of columns.

    Attributes
    ----------
    name
        The column; for a pair, both with the sign between them.
    n_measured
        Observations that are not missing; of a pair, in both columns.
    value
        The statistic with its interval.
    note
        Why the exact interval was not to be had and another stands in its place; empty otherwise.
    """

    name: str
    n_measured: int
    value: Estimate | Skipped
    note: str


@dataclass(frozen=True, slots=True)
class ArrayBootstrap(Result):
    """Intervals of the columns of one array of an audit file.

    Attributes
    ----------
    stamp
        The input and the settings.
    dataset, clusters
        Where the array and the cluster labels are stored; clusters are None where observations are resampled.
    statistic, method
        What was computed, and by which intervals: ``mixed`` where some columns had no exact one.
    n_observations, n_units
        Rows of the array, and units resampled: rows or clusters.
    columns
        One entry a statistic.
    unused_clusters
        Where cluster labels of the same observations are stored that were not asked for; None otherwise.
    """

    stamp: Stamp
    dataset: str
    clusters: str | None
    statistic: str
    method: str
    n_observations: int
    n_units: int
    columns: tuple[ColumnInterval, ...]
    unused_clusters: str | None

    def to_dict(self) -> dict[str, Any]:
        """The object that ``auditkit bootstrap --format json`` prints."""
        own = {
            "dataset": self.dataset,
            "clusters": self.clusters,
            "statistic": self.statistic,
            "method": self.method,
            "n_observations": self.n_observations,
            "n_units": self.n_units,
            "columns": to_json(self.columns),
        }
        return {**self.stamp.to_dict(), "bootstrap": own}

    def to_frame(self) -> pd.DataFrame:
        """One row a statistic."""
        import pandas as pd

        return pd.DataFrame([flat_row(column) for column in self.columns])
