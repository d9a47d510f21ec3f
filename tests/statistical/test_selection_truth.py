"""The selection audit on many simulated boards and searches whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from auditkit.audits.selection import audit_selection
from auditkit.schema import AuditData, Scoreboard, Search

pytestmark = pytest.mark.statistical


def expected_maximum(candidates: int, rows: int, p: float) -> float:
    """Exact mean of the largest of independent binomial counts, from their distribution."""
    k = np.arange(rows)
    return float((1 - scipy.stats.binom.cdf(k, rows, p) ** candidates).sum())


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("candidates", [5, 40, 200])
@pytest.mark.parametrize("p", [0.6, 0.9])
def test_bias_of_equally_good_candidates(candidates: int, p: float, shared: float) -> None:
    """On a share of the test rows all candidates err alike: the exact bias is known."""
    random = np.random.default_rng([candidates, int(10 * p), int(10 * shared)])
    n, rows = 4000, 400
    common = int(shared * rows)
    test = random.binomial(common, p, (n, 1)) + random.binomial(rows - common, p, (n, candidates))
    search = Search(
        validation_score=random.random((n, candidates)),
        test_score=test / rows,
        higher_is_better=np.ones(n, dtype=bool),
        datasets=tuple(map(str, range(n))),
        test_size=np.full(n, rows),
    )
    item = audit_selection(AuditData(searches={"s": search}), replicates=100).items[0]
    own = rows - common
    for point in (item.curve[candidates // 2], item.curve[-1]):
        expected = (expected_maximum(point.k, own, p) - own * p) / rows
        # both ends have a standard deviation of at most sqrt(p (1 - p) / rows)
        error = 2 * np.sqrt(p * (1 - p) / rows / n)
        assert abs(point.bias - expected) < 5 * error
    assert item.groups["accuracy-like"].binomial_bound.ratio > 1


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_of_win_shares_cover(clustered: bool) -> None:
    """95 % intervals hold the true share in about 95 % of 1,000 boards of 200 datasets."""
    truth = np.array([0.55, 0.3, 0.15])
    boards, n, size = 1000, 200, 4
    hits = 0
    for seed in range(boards):
        random = np.random.default_rng([seed, clustered])
        alike = size if clustered else 1
        winner = np.repeat(random.choice(3, n // alike, p=truth), alike)
        board = Scoreboard(
            score=np.eye(3)[winner],
            higher_is_better=np.ones(n, dtype=bool),
            datasets=tuple(map(str, range(n))),
            systems=("a", "b", "c"),
            clusters=np.arange(n) // size if clustered else None,
        )
        data = AuditData(scoreboards={"s": board})
        share = audit_selection(data, replicates=500, seed=seed).items[0].win_share["a"]
        hits += share.low <= truth[0] <= share.high
    # percentile intervals of 50 clusters fall some 1.5 % short; 3.3 % is five standard errors
    assert 0.935 - 0.033 < hits / boards < 0.95 + 0.033


def test_sign_tests_reject_true_nulls_at_most_at_their_level() -> None:
    """With Holm, a false alarm on any of three true nulls in at most 5 % of 1,000 boards."""
    alarms = 0
    for seed in range(1000):
        random = np.random.default_rng(seed)
        board = Scoreboard(
            score=random.random((60, 3)),
            higher_is_better=np.ones(60, dtype=bool),
            datasets=tuple(map(str, range(60))),
            systems=("a", "b", "c"),
        )
        data = AuditData(scoreboards={"s": board})
        pairs = audit_selection(data, replicates=2, seed=seed).items[0].head_to_head
        alarms += min(x.holm_p for x in pairs) <= 0.05
    # at most 50 expected; 35 more are five standard errors
    assert alarms <= 85
