"""The result of the selection audit: scoreboards and searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from auditkit.results.common import AuditResult, Estimate, Skipped
from auditkit.results.scoreboard import ScoreboardAudit
from auditkit.results.search import Bias, SearchAudit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ScoreboardAudit", "SearchAudit", "SelectionResult"]


@dataclass(frozen=True, slots=True)
class SelectionResult(AuditResult):
    """The selection audit: ``items`` are the scoreboards, then the searches, as in the file."""

    NAME: ClassVar[str] = "selection"

    items: tuple[ScoreboardAudit | SearchAudit, ...]

    def to_frame(self) -> pd.DataFrame:
        """Win shares and biases: member, kind, part, name, n, estimate, low, high."""
        import pandas as pd

        columns = ["member", "kind", "part", "name", "n", "estimate", "low", "high"]
        rows = [
            row
            for item in self.items
            for row in (
                _share_rows(item) if isinstance(item, ScoreboardAudit) else _bias_rows(item)
            )
        ]
        return pd.DataFrame(rows, columns=columns)


def _share_rows(item: ScoreboardAudit) -> Iterator[tuple[Any, ...]]:
    parts: list[tuple[str, dict[str, Estimate] | Skipped]] = [("all", item.win_share)]
    if not isinstance(item.groups, Skipped):
        parts += [(f"group {name}", group.win_share) for name, group in item.groups.items()]
    if not isinstance(item.matched, Skipped):
        parts += [(f"{m.system} no slower than {m.against}", m.win_share) for m in item.matched]
    if not isinstance(item.deduplicated, Skipped):
        parts.append(("one record per cluster", item.deduplicated.win_share))
    for part, shares in parts:
        if not isinstance(shares, Skipped):
            for name, x in shares.items():
                yield (item.scoreboard, "win share", part, name, x.n, x.estimate, *_ends(x))


def _bias_rows(item: SearchAudit) -> Iterator[tuple[Any, ...]]:
    parts: list[tuple[str, Bias | Skipped]] = [("all, relative", item.relative_bias)]
    parts += [(name, group.bias) for name, group in item.groups.items()]
    for part, bias in parts:
        if not isinstance(bias, Skipped):
            yield (item.search, "bias", part, "bias", bias.n, bias.mean, *_ends(bias))


def _ends(x: Estimate | Bias) -> tuple[float, float]:
    low, high = (float("nan") if isinstance(end, Skipped) else end for end in (x.low, x.high))
    return low, high
