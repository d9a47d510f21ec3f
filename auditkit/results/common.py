"""What every result is made of: estimates with intervals, quantities skipped with a reason, dictionaries and frames."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from auditkit.schema import FORMAT_VERSION
from auditkit.version import __version__

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
        return (isinstance(self.low, float) and self.low > 0) or (
            isinstance(self.high, float) and self.high < 0
        )


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
        return {
            f.name: to_json(getattr(self, f.name))
            for f in _fields(self)
            if f.metadata.get("json", True)
        }

    def to_frame(self) -> pd.DataFrame:
        """The main table of the result, one row an item, an estimate as three columns."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Stamp:
    """What pins a result down: input, version and settings.

    Attributes
    ----------
    path, sha256
        The audit file and its SHA-256 (of the contents, for arrays in memory).
    settings
        Everything that the numbers depend on: replicates, confidence, seed, method, resampler, and what an audit adds
        under its own name. Never the number of threads: the results do not depend on it.
    """

    path: str | None
    sha256: str
    settings: Mapping[str, Any]

    @property
    def signature(self) -> str:
        """One line to quote beside a number: version, resampling, a hash of the other settings, hash of the input."""
        keys = ("seed", "replicates", "confidence", "method", "resampler")
        parts = [f"{key}:{self.settings[key]}" for key in keys if key in self.settings]
        others = {key: value for key, value in self.settings.items() if key not in keys}
        if others:
            text = json.dumps(to_json(others), sort_keys=True)
            parts.append(f"settings:{hashlib.sha256(text.encode()).hexdigest()[:12]}")
        return "|".join([f"auditkit:{__version__}", *parts, f"sha256:{self.sha256}"])

    def to_dict(self) -> dict[str, Any]:
        """The head of every JSON output."""
        return {
            "format_version": FORMAT_VERSION,
            "auditkit_version": __version__,
            "signature": self.signature,
            "source": {"path": self.path, "sha256": self.sha256},
            "settings": to_json(dict(self.settings)),
        }


@dataclass(frozen=True, slots=True)
class AuditResult(Result):
    """Base of the four audits' results: a stamp, and one item for every member that was audited."""

    NAME: ClassVar[str]

    stamp: Stamp
    items: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object that ``auditkit audit --only NAME --format json`` prints."""
        return {**self.stamp.to_dict(), self.NAME: [item.to_dict() for item in self.items]}


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
