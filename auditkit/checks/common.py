"""What a check says: its id, what it looked at, how severe a failure is, how it ended and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from auditkit.results.common import Result

Severity = Literal["error", "warning"]
Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Check(Result):
    """One check and how it ended.

    Attributes
    ----------
    id
        Its name, such as ``fidelity.lemma2``; the same in every format.
    subject
        What it looked at: ``benchmark: pipeline``.
    severity
        ``error``: an identity is broken. ``warning``: a conclusion the reader should see; fails only when strict.
    status
        How it ended.
    reason
        Why, with the numbers it was decided on.
    """

    id: str
    subject: str
    severity: Severity
    status: Status
    reason: str
