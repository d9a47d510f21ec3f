"""What a report says of the selection audit."""

from __future__ import annotations

from auditkit.reports import numbers
from auditkit.reports.document import Section
from auditkit.reports.sections.scoreboard import scoreboard_section
from auditkit.reports.sections.search import search_section
from auditkit.results.scoreboard import ScoreboardAudit
from auditkit.results.selection import SelectionResult


def sections(result: SelectionResult) -> tuple[Section, ...]:
    """One section a scoreboard or set of searches."""
    level = numbers.level(result.stamp.settings["confidence"])
    return tuple(
        scoreboard_section(item, level)
        if isinstance(item, ScoreboardAudit)
        else search_section(item, level)
        for item in result.items
    )
