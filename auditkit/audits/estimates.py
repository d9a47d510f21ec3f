"""From bootstrap intervals to the estimates of a result; every audit goes through here."""

from __future__ import annotations

import numpy as np

from auditkit.results.common import Estimate, Skipped
from auditkit.statistics.bootstrap import BootstrapResult


def estimates(
    result: BootstrapResult, n: list[int] | int | None = None
) -> list[Estimate | Skipped]:
    """One estimate a statistic.

    Parameters
    ----------
    result
        Of ``bootstrap``.
    n
        Units each estimate rests on; by default the units resampled.

    Returns
    -------
    list
        Skipped where there is no estimate; an estimate whose ends are skipped, with the reason, where there is no
        interval.
    """
    values, lows, highs = (np.atleast_1d(x) for x in (result.estimate, result.low, result.high))
    reasons = (result.reason,) if isinstance(result.reason, str) else result.reason
    counts = [result.n if n is None else n] * len(values) if not isinstance(n, list) else n
    return [
        _estimate(float(value), float(low), float(high), reason, count)
        for value, low, high, reason, count in zip(
            values, lows, highs, reasons, counts, strict=True
        )
    ]


def _estimate(value: float, low: float, high: float, reason: str, n: int) -> Estimate | Skipped:
    if not np.isfinite(value):
        return Skipped(reason or "no observation")
    if not (np.isfinite(low) and np.isfinite(high)):
        refused = Skipped(reason or "the interval is unbounded")
        return Estimate(value, refused, refused, n)
    return Estimate(value, low, high, n)
