"""What the selection audit finds of a scoreboard."""

from __future__ import annotations

from dataclasses import dataclass

from auditkit.results.common import Estimate, Range, Result, Skipped

TIE = "tie"
"""The key of a share that no system won."""

FAR_BELOW = 0.1
"""A tie tolerance is far below the noise when it is less than this part of the median bound."""


@dataclass(frozen=True, slots=True)
class WinShares(Result):
    """Who won how many of some datasets.

    Attributes
    ----------
    n
        Datasets.
    missing
        On how many of them each system has no score.
    win_share
        Share of each system and of ``tie``; they add up to 1.
    """

    n: int
    missing: dict[str, int]
    win_share: dict[str, Estimate] | Skipped


@dataclass(frozen=True, slots=True)
class HeadToHead(Result):
    """Two systems on the same datasets.

    Attributes
    ----------
    first, second
        The systems.
    wins, losses, ties
        Datasets on which the first is better, worse, or neither.
    missing
        Datasets among these on which one of the two, or both, have no score.
    sign_test_p, holm_p
        Two-sided sign test of wins against losses; adjusted over all pairs of the scoreboard.
    """

    first: str
    second: str
    wins: int
    losses: int
    ties: int
    missing: int
    sign_test_p: float
    holm_p: float


@dataclass(frozen=True, slots=True)
class MeanScore(Result):
    """Mean scores over the ``n`` datasets of one orientation on which all systems have a score."""

    n: int
    incomplete: int
    mean: dict[str, float] | Skipped


@dataclass(frozen=True, slots=True)
class RelativeError(Result):
    """Errors divided by the best error of the dataset.

    Attributes
    ----------
    n
        Datasets where lower is better, all systems have a score, and the best is positive.
    incomplete, not_positive
        Datasets left out because a score is missing, or because the best is not positive.
    median, geometric_mean
        Of the ratios, by system; 1 is best.
    """

    n: int
    incomplete: int
    not_positive: int
    median: dict[str, float] | Skipped
    geometric_mean: dict[str, float] | Skipped


@dataclass(frozen=True, slots=True)
class Budget(Result):
    """Realised seconds of one system.

    Attributes
    ----------
    n
        Datasets with a time.
    median, mean, p90, max
        Seconds.
    n_budget
        Datasets with a time and a positive budget.
    share_over_budget, share_over_twice
        Shares of those that took longer than the budget, and than twice the budget.
    p90_of_budget
        90th percentile of seconds over budget.
    """

    n: int
    median: float
    mean: float
    p90: float
    max: float
    n_budget: int
    share_over_budget: float | Skipped
    share_over_twice: float | Skipped
    p90_of_budget: float | Skipped


@dataclass(frozen=True, slots=True)
class NominalBudget(Result):
    """The seconds that the systems were given.

    Attributes
    ----------
    n
        Datasets with a positive budget.
    median, min, max
        Seconds over them.
    """

    n: int
    median: float
    min: float
    max: float

    @property
    def same(self) -> bool:
        """Whether it is the same for all of these datasets."""
        return self.min == self.max


@dataclass(frozen=True, slots=True)
class TimeRatio(Result):
    """Median over ``n`` datasets of the first system's seconds over the second's."""

    first: str
    second: str
    n: int
    median: float | Skipped


@dataclass(frozen=True, slots=True)
class Matched(Result):
    """Win shares where the leading system was no slower than another, or than all others.

    Attributes
    ----------
    system, against
        The leading system, and another or ``all``.
    others
        The systems that ``against`` stands for.
    n, missing, win_share
        As in ``WinShares``. A dataset with a missing time is in no slice.
    """

    system: str
    against: str
    others: tuple[str, ...]
    n: int
    missing: dict[str, int]
    win_share: dict[str, Estimate] | Skipped


@dataclass(frozen=True, slots=True)
class Deduplicated(Result):
    """One record per cluster.

    Attributes
    ----------
    n
        Clusters, and so datasets kept.
    repeated
        Clusters that had more than one dataset.
    kept_by
        What decided: ``size``, ``test_size`` or, where neither is stored, ``dataset id``.
    missing, win_share, head_to_head
        As for all datasets.
    """

    n: int
    repeated: int
    kept_by: str
    missing: dict[str, int]
    win_share: dict[str, Estimate] | Skipped
    head_to_head: tuple[HeadToHead, ...]


@dataclass(frozen=True, slots=True)
class Spread(Result):
    """Quartiles of a quantity over ``n`` datasets."""

    n: int
    q25: float
    median: float
    q75: float


@dataclass(frozen=True, slots=True)
class NoiseFloor(Result):
    """What choosing the best of K candidates on the test set can gain from noise alone.

    Attributes
    ----------
    system
        The leading system; its own score is the p of each dataset's bound.
    n, left_out
        Datasets with a bound, and without (no accuracy-like score, test size or K).
    candidates
        Smallest and largest K.
    bound
        Quartiles of sigma sqrt(2 ln K), in score units.
    median_margin
        Median margin of the system over its best competitor with a score, on the datasets it
        wins; in score units.
    margin_below
        Share of the n datasets whose margin (either sign) is below the bound.
    wins_below
        Share of the system's own wins whose margin is below the bound.
    tie_ratio, tie_far_below
        The tie tolerance over the median bound, and whether that is less than ``FAR_BELOW``.
    systems
        The bound with each system's own score and K.
    """

    system: str
    n: int
    left_out: int
    candidates: Range
    bound: Spread
    median_margin: float | Skipped
    margin_below: Estimate | Skipped
    wins_below: Estimate | Skipped
    tie_ratio: float | Skipped
    tie_far_below: bool | Skipped
    systems: dict[str, Spread | Skipped]


@dataclass(frozen=True, slots=True)
class Claim(Result):
    """A released winner that the scores do not give."""

    dataset: str
    run: str
    claimed: str
    recomputed: str


@dataclass(frozen=True, slots=True)
class Claims(Result):
    """Released winners against recomputed ones, over the ``n`` records that name one.

    ``examples`` are the first of the ``disagreeing`` ones.
    """

    n: int
    disagreeing: int
    examples: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Remeasured(Result):
    """One system in a second run, dataset by dataset against the first.

    Attributes
    ----------
    n
        Datasets with a score in both runs.
    identical, better, worse
        Scores that are the same to the bit, and those that moved.
    appeared, vanished
        Datasets with a score only in the second, only in the first run.
    share_identical
        identical / n.
    seconds_before, seconds_after
        Median seconds in the two runs.
    seconds_ratio
        Median over datasets of seconds after / before.
    """

    n: int
    identical: int
    better: int
    worse: int
    appeared: int
    vanished: int
    share_identical: float | Skipped
    seconds_before: float | Skipped
    seconds_after: float | Skipped
    seconds_ratio: float | Skipped


@dataclass(frozen=True, slots=True)
class Rerun(Result):
    """A second run of datasets that were run before.

    Attributes
    ----------
    run, against
        The second run, and the runs that hold the first records.
    n
        Datasets in both.
    systems
        What became of each system.
    remeasured, stable
        Systems most of whose scores moved; systems most of whose scores are identical, or that
        the second run does not hold.
    wins_before, wins_after
        Datasets won on these n, in the first records and after the merge.
    win_share, merged_win_share
        Over all datasets: as they stand, and with the second run's scores put in their place.
    splice
        Whether the merge changes the shares while some system stays as it was and another does
        not: then a choice between the runs is a choice of the winner.
    """

    run: str
    against: tuple[str, ...]
    n: int
    systems: dict[str, Remeasured]
    remeasured: tuple[str, ...]
    stable: tuple[str, ...]
    wins_before: dict[str, int]
    wins_after: dict[str, int]
    win_share: dict[str, float]
    merged_win_share: dict[str, float]
    splice: bool


@dataclass(frozen=True, slots=True)
class ScoreboardAudit(Result):
    """The audit of one scoreboard.

    Shares, ranks, tests and times are over the first record of each dataset; later records are
    re-runs.

    Attributes
    ----------
    scoreboard, systems
        Its name and the systems in it.
    n_records, n_datasets
        Records stored; datasets audited.
    n_unscored, n_dropped
        Datasets left out because no system has a score, and by the missing policy.
    unit, n_units
        What the bootstrap resamples, ``dataset`` or ``cluster``, and how many there are.
    tie_tolerance, missing_policy
        The options.
    missing
        On how many datasets each system has no score.
    leader
        The system with the most wins; on equal wins the one with the better mean rank.
    win_share, groups, head_to_head, mean_rank, mean_score, relative_error
        Who wins, by how much, and where.
    nominal_budget, budget, time_ratio, matched
        What time they were given and took, and who wins where the time is matched.
    deduplicated
        The shares and tests with one record per cluster.
    noise_floor
        What the margins are worth.
    claims
        Whether the released winners follow from the scores.
    reruns
        One entry for every run that repeats datasets.
    """

    scoreboard: str
    systems: tuple[str, ...]
    n_records: int
    n_datasets: int
    n_unscored: int
    n_dropped: int
    unit: str
    n_units: int
    tie_tolerance: float
    missing_policy: str
    missing: dict[str, int]
    leader: str
    win_share: dict[str, Estimate] | Skipped
    groups: dict[str, WinShares] | Skipped
    head_to_head: tuple[HeadToHead, ...]
    mean_rank: dict[str, float]
    mean_score: dict[str, MeanScore]
    relative_error: RelativeError | Skipped
    nominal_budget: NominalBudget | Skipped
    budget: dict[str, Budget | Skipped] | Skipped
    time_ratio: tuple[TimeRatio, ...] | Skipped
    matched: tuple[Matched, ...] | Skipped
    deduplicated: Deduplicated | Skipped
    noise_floor: NoiseFloor | Skipped
    claims: Claims | Skipped
    reruns: tuple[Rerun, ...]
