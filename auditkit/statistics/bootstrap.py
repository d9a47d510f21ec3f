"""Joint bootstrap of means, ratios and quantiles: the public entry, and what every audit calls.

The draw of replicate b depends on (seed, b) alone. All columns of one call, and all calls with the same seed and the
same number of units, see the same resamples, so that differences and ratios are paired.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics import intervals
from auditkit.statistics.draws import Draws
from auditkit.statistics.means import Means, combine
from auditkit.statistics.quantiles import Quantiles
from auditkit.statistics.sample import Floats, read_sample
from auditkit.statistics.threads import run_parts

Statistic = Literal["mean", "difference", "ratio", "median", "quantile"]
Method = Literal["percentile", "basic", "bca", "studentized", "exact"]
Resampler = Literal["fast", "numpy"]
Progress = Callable[[str, int, int], None]
"""Told what is being computed, how many steps are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How the intervals of one audit are made: every call of ``bootstrap`` in it shares these.

    Attributes
    ----------
    replicates, confidence, seed, method, resampler, threads
        As in ``bootstrap``.
    progress
        Called while a long computation runs.
    """

    replicates: int = 10_000
    confidence: float = 0.95
    seed: int = 0
    method: Method = "percentile"
    resampler: Resampler = "fast"
    threads: int | None = None
    progress: Progress | None = None

    def intervals(self, x: ArrayLike, **options: Any) -> BootstrapResult:
        """``bootstrap`` of a sample with these settings; ``options`` are its other arguments."""
        settings = {f.name: getattr(self, f.name) for f in fields(self)}
        return bootstrap(x, **{**settings, **options})


@dataclass(frozen=True, slots=True)
class BootstrapResult:
    """Estimates and intervals of the columns of one sample.

    Attributes
    ----------
    estimate, low, high
        Scalars for a sample of shape [n], else one entry a statistic; low and high are NaN where there is no interval.
    reason
        Why there is no interval, per statistic; empty where there is one.
    n
        Units resampled: observations, or clusters.
    replicates, seed, confidence, method, statistic, resampler
        How the interval was made. ``method`` is the one really used: where ``exact`` had to decline for all statistics
        ``percentile``, and for some ``mixed``.
    note
        Why ``exact`` declined, per statistic; empty where it did not.
    """

    estimate: float | NDArray[np.float64]
    low: float | NDArray[np.float64]
    high: float | NDArray[np.float64]
    reason: str | tuple[str, ...]
    n: int
    replicates: int
    seed: int
    confidence: float
    method: str
    statistic: str
    resampler: str
    note: str | tuple[str, ...] = ""


_WORTH_A_THREAD = 2**18
"""Replicates whose quantiles keep a thread busy for longer than it takes to start it."""

_MOST_LEFT_OUT = 0.01
"""The largest share of resamples without a value that an interval may rest on."""


def bootstrap(
    x: ArrayLike,
    *,
    statistic: Statistic = "mean",
    q: float = 0.5,
    weights: ArrayLike | None = None,
    clusters: Any = None,
    replicates: int = 10_000,
    confidence: float = 0.95,
    method: Method = "percentile",
    seed: int = 0,
    threads: int | None = None,
    resampler: Resampler = "fast",
    missing: Literal["raise", "omit"] = "raise",
    progress: Progress | None = None,
) -> BootstrapResult:
    """Bootstrap intervals of the columns of a sample, which share the draws.

    Parameters
    ----------
    x
        [n] or [n, m] observations.
    statistic
        ``mean``, ``median`` or ``quantile`` of each column; ``difference`` or ``ratio`` of the means of columns (0, 1),
        (2, 3), ...
    q
        Level of ``quantile``.
    weights
        [n] or [n, m], not negative: means become sum(w x) / sum(w).
    clusters
        [n] labels: clusters are resampled whole, and a mean is the resampled sum over the resampled count.
    replicates
        How many resamples; ``exact`` takes none.
    confidence
        Nominal coverage, between 0 and 1.
    method
        ``percentile``, ``basic``, ``bca``, ``studentized`` (means only), or ``exact``: the percentile interval of
        infinitely many resamples, without drawing any. Where it cannot be had, ``percentile`` is used, and said.
    seed
        Any integer from zero. Replicate b depends on it, on b and on n alone, whatever the threads and columns.
    threads
        At most this many; by default one a core.
    resampler
        ``fast``, or ``numpy`` for the draws of ``default_rng(seed).integers(0, n, size=(replicates, n))``.
    missing
        ``raise`` on NaN, or ``omit``: NaN cells do not count (their weight is zero). Resamples in which a column has no
        observation are left out; there is no interval where that is more than 1 % of them.
    progress
        Told ``("bootstrap", done, total)`` while replicates are computed.

    Returns
    -------
    BootstrapResult
        A sample without variation has the interval [x, x], a sample of one unit none. A ratio has none where the
        bootstrap interval of its denominator holds zero. Nor have fewer than 2 / (1 - confidence) replicates.

    Raises
    ------
    StatisticsError
        The sample is empty, infinite, holds NaN that are not to be omitted, or has an odd number of columns where they
        go in pairs.
    UsageError
        An option is out of its range.

    Notes
    -----
    The intervals assume units (observations, or clusters) that are independent and drawn alike. Coverage is
    approximate: percentile and basic intervals err by O(1/sqrt(n)) on each side, BCa and studentized by O(1/n) (Efron
    and Tibshirani 1993, An introduction to the bootstrap, chapters 12 to 14 and 22).

    Examples
    --------
    >>> import auditkit as ak
    >>> result = ak.bootstrap([1.2, 0.4, 2.2, 3.0, 1.7, 0.9, 2.8, 1.1])
    >>> round(result.estimate, 4), round(result.low, 2), round(result.high, 2)
    (1.6625, 1.09, 2.29)
    """
    _check_options(statistic, method, resampler, missing, q, replicates, confidence, seed, threads)
    sample = read_sample(x, clusters, weights, missing)
    m, units, scalar = len(sample.columns), sample.units, sample.scalar
    if statistic in {"difference", "ratio"} and m % 2:
        raise StatisticsError(
            f"a {statistic} takes columns in pairs", found=m, expected="an even number"
        )
    what: Means | Quantiles
    if statistic in {"median", "quantile"}:
        what = Quantiles.of(sample, 0.5 if statistic == "median" else q)
    else:
        what = Means.of(sample, statistic)
    draws = Draws(units, replicates, seed, resampler, threads, progress)
    found = _find_ends(what, draws, confidence, method)
    if statistic == "mean" and method in {"percentile", "exact"}:
        # a mean lies among the observations, but the sums behind it are rounded to 30 bits
        least, most = sample.low, sample.high
        nearly = (most - least) * 2.0**-29
        for ends in (found.low, found.high):
            np.copyto(ends, least, where=ends <= least + nearly)
            np.copyto(ends, most, where=ends >= most - nearly)

    def shaped(values: Floats) -> float | Floats:
        return float(values[0]) if scalar else values

    return BootstrapResult(
        estimate=shaped(what.estimate),
        low=shaped(found.low),
        high=shaped(found.high),
        reason=found.reasons[0] if scalar else tuple(found.reasons),
        n=units,
        replicates=replicates,
        seed=seed,
        confidence=confidence,
        method=found.method,
        statistic=statistic,
        resampler=resampler,
        note=found.notes[0] if scalar else tuple(found.notes),
    )


@dataclass(slots=True)
class _Ends:
    """The ends of k intervals while they are being found: a reason where there is none, a note where exact declined."""

    low: Floats
    high: Floats
    reasons: list[str]
    notes: list[str]
    method: str

    def set(self, j: int, ends: tuple[float, float] | str) -> None:
        if isinstance(ends, str):
            self.reasons[j] = ends
        elif np.isfinite(ends).all():
            self.low[j], self.high[j] = ends
        else:
            self.reasons[j] = "the interval is unbounded"


def _find_ends(what: Means | Quantiles, draws: Draws, confidence: float, method: str) -> _Ends:
    estimate = what.estimate
    k = len(estimate)
    ends = _Ends(np.full(k, np.nan), np.full(k, np.nan), [""] * k, [""] * k, method)
    remaining = []
    for j in range(k):
        if draws.units == 1:
            ends.reasons[j] = "only one unit to resample"
        elif not np.isfinite(estimate[j]):
            ends.reasons[j] = what.why_undefined(j)
        elif what.is_flat(j):
            ends.set(j, (estimate[j], estimate[j]))
        else:
            remaining.append(j)
    if method == "exact" and remaining:
        declined = _set_exact(ends, what, remaining, confidence, draws)
        if declined:
            ends.method = "percentile" if len(declined) == len(remaining) else "mixed"
            method = "percentile"
        remaining = declined
    if remaining:
        _set_resampled(ends, what, remaining, draws, confidence, method)
    return ends


def _set_exact(
    ends: _Ends, what: Means | Quantiles, asked: list[int], confidence: float, draws: Draws
) -> list[int]:
    """Set the exact intervals; returns where there is none to be had."""
    if isinstance(what, Quantiles):
        found: list[tuple[float, float] | str] = ["exact intervals are for means"] * len(asked)
    else:
        from auditkit.statistics.exact import exact_intervals

        found = exact_intervals(what, asked, confidence)
    for j, result in zip(asked, found, strict=True):
        if isinstance(result, str):
            ends.notes[j] = f"{result}; percentile of {draws.replicates} resamples instead"
        else:
            ends.set(j, result)
    return [j for j in asked if ends.notes[j]]


def _set_resampled(
    ends: _Ends,
    what: Means | Quantiles,
    asked: list[int],
    draws: Draws,
    confidence: float,
    method: str,
) -> None:
    estimate = what.estimate
    errors = None
    if isinstance(what, Quantiles):
        if method == "studentized":
            raise UsageError(
                "no studentized intervals for quantiles",
                found=method,
                expected="percentile, basic or bca",
            )
        drawn = what.resampled(draws)
    else:
        if method == "studentized":
            error, means, errors = what.resampled_with_errors(draws)
        else:
            means = what.resampled(draws)
        drawn = combine(what.statistic, means)

    # one replicate beyond each end, less what rounding adds to a whole number
    needed = math.ceil(2 / (1 - confidence) - 1e-9)

    def interval(j: int) -> tuple[float, float] | str:
        if draws.replicates < needed:
            return f"{draws.replicates:,} replicates are too few at this confidence; it takes {needed:,}"
        if isinstance(what, Means) and what.is_unbounded(j, means, confidence):
            return "the interval of the denominator holds zero"
        values = drawn[j]
        usable = np.isfinite(values) if errors is None else np.isfinite(values) & (errors[j] > 0)
        left_out = 1 - usable.mean()
        if left_out > _MOST_LEFT_OUT:
            return f"{left_out:.1%} of the resamples have no value"
        if left_out:
            values = values[usable]
        if method == "basic":
            return intervals.basic(values, estimate[j], confidence)
        if method == "bca":
            return intervals.bca(values, estimate[j], what.jackknife(j), confidence)
        if errors is not None:
            scale = errors[j][usable] if left_out else errors[j]
            return intervals.studentized(values, scale, estimate[j], error[j], confidence)
        return intervals.percentile(values, confidence)

    def work(first: int, last: int) -> None:
        for j in asked[first:last]:
            ends.set(j, interval(j))

    run_parts(work, len(asked), max(1, _WORTH_A_THREAD // draws.replicates), draws.threads)


def _check_options(
    statistic: str,
    method: str,
    resampler: str,
    missing: str,
    q: float,
    replicates: int,
    confidence: float,
    seed: int,
    threads: int | None,
) -> None:
    for name, given, allowed in (
        ("statistic", statistic, get_args(Statistic)),
        ("method", method, get_args(Method)),
        ("resampler", resampler, get_args(Resampler)),
        ("missing", missing, ("raise", "omit")),
    ):
        if given not in allowed:
            raise UsageError(f"unknown {name}", found=repr(given), expected=" or ".join(allowed))
    for name, number, least in (
        ("replicates", replicates, 1),
        ("seed", seed, 0),
        ("threads", 1 if threads is None else threads, 1),
    ):
        if not isinstance(number, int | np.integer) or number < least:
            raise UsageError(
                f"bad number of {name}" if name != "seed" else "bad seed",
                found=number,
                expected=f"an integer from {least}",
            )
    for name, share, closed in (("confidence", confidence, False), ("q", q, True)):
        if not (0 < share < 1 or (closed and share in (0, 1))):
            raise UsageError(f"{name} out of range", found=share, expected="between 0 and 1")
