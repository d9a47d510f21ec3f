"""What every result is made of: estimates with intervals, quantities skipped with a reason, dictionaries and frames."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Skipped:
    """A quantity that could not be computed, and why."""

    reason: str

    def to_dict(self) -> dict[str, str]:
        """``{"skipped": reason}``, the form it has in JSON."""
        return {"skipped": self.reason}


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its confidence interval.

    Attributes
    ----------
    estimate
        The value on the data as stored.
    low, high
        Ends of the interval, or why there is none.
    n
        How many units (instances, datasets, observations) it rests on.
    """

    estimate: float
    low: float | Skipped
    high: float | Skipped
    n: int

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval and zero lies outside it."""
        return (isinstance(self.low, float) and self.low > 0) or (isinstance(self.high, float) and self.high < 0)


@dataclass(frozen=True, slots=True)
class Range:
    """A pair of bounds that is no confidence interval: an identification interval, a range of values."""

    low: float
    high: float


class Result:
    """Base of the results: frozen dataclasses that turn into dictionaries for JSON and into frames."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON holds it: no NaN, tuples as lists, skipped quantities as ``{"skipped": reason}``.

        Fields whose metadata say ``"json": False`` (per-instance arrays) are left out.
        """
        return {f.name: to_json(getattr(self, f.name)) for f in _fields(self) if f.metadata.get("json", True)}

    def to_frame(self) -> pd.DataFrame:
        """The main table of the result, one row an item, an estimate as three columns."""
        raise NotImplementedError


def to_json(value: Any) -> Any:
    """A value in plain JSON types.

    Raises
    ------
    ValueError
        A number is NaN or infinite: whoever computed it should have returned ``Skipped``.
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a result holds {value}; it should say why it is skipped")
    return value


def flat_row(item: Any) -> dict[str, Any]:
    """One row of a frame: an estimate takes three columns (name, name_low, name_high), a skipped value is missing."""
    row: dict[str, Any] = {}
    for f in _fields(item):
        value = getattr(item, f.name)
        if isinstance(value, Estimate):
            row[f.name] = value.estimate
            row[f"{f.name}_low"] = _number(value.low)
            row[f"{f.name}_high"] = _number(value.high)
        elif isinstance(value, Range):
            row[f"{f.name}_low"] = value.low
            row[f"{f.name}_high"] = value.high
        elif isinstance(value, Skipped):
            row[f.name] = math.nan
        elif isinstance(value, str | int | float | bool):
            row[f.name] = value
    return row


def _number(value: float | Skipped) -> float:
    return math.nan if isinstance(value, Skipped) else value


def _fields(item: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(item)
