"""The result of all audits of one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from auditkit.results.common import AuditResult, Result, Stamp


@dataclass(frozen=True, slots=True)
class Audit(Result):
    """What every audit of one file found.

    Attributes
    ----------
    stamp
        The input and the settings of all audits together.
    results
        The audits that ran, by name.
    """

    stamp: Stamp
    results: Mapping[str, AuditResult]

    def to_dict(self) -> dict[str, Any]:
        """The object that ``auditkit audit --format json`` prints."""
        out = self.stamp.to_dict()
        for name, result in self.results.items():
            out[name] = [item.to_dict() for item in result.items]
        return out
