"""The signed-rank test against SciPy, brute force and broken ties."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from auditkit.errors import StatisticsError
from auditkit.statistics.tests import wilcoxon_signed_rank


@pytest.mark.parametrize("n", [6, 30, 200])
def test_equals_scipy_without_ties(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.2, 1, n)
    assert wilcoxon_signed_rank(differences) == pytest.approx(
        stats.wilcoxon(differences).pvalue, rel=1e-12
    )


def test_equals_all_sign_patterns() -> None:
    differences = np.array([0.5, -1.0, 2.0, 3.5, -0.25, 4.0])
    ranks = stats.rankdata(np.abs(differences))
    observed = ranks[differences > 0].sum()
    sums = np.array([np.dot(signs, ranks) for signs in product([0, 1], repeat=6)])
    tail = min(np.mean(sums >= observed), np.mean(sums <= observed))
    assert wilcoxon_signed_rank(differences) == pytest.approx(min(1, 2 * tail), rel=1e-12)


def test_noise_in_the_last_digit_breaks_no_tie() -> None:
    differences = np.array([0.3, 0.1 + 0.2, 0.2, -0.2, 0.1, 0.4, 0.5, -0.1, 0.6, 1e-17, -1e-17])
    clean = np.array([3, 3, 2, -2, 1, 4, 5, -1, 6, 0, 0])
    assert wilcoxon_signed_rank(differences) == pytest.approx(
        wilcoxon_signed_rank(clean), rel=1e-12
    )
    # without the care, the noise would count as two more observations and part the ties
    assert stats.wilcoxon(differences).pvalue != pytest.approx(stats.wilcoxon(clean).pvalue)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_scale_changes_nothing(scale: float) -> None:
    differences = np.random.default_rng(3).normal(0.2, 1, 40)
    assert wilcoxon_signed_rank(scale * differences) == pytest.approx(
        wilcoxon_signed_rank(differences), rel=1e-9
    )


@pytest.mark.parametrize("bad", [[], [0.0, 0.0], [1.0, np.nan], [[1.0]]])
def test_what_cannot_be_tested_is_refused(bad: list[float]) -> None:
    with pytest.raises(StatisticsError):
        wilcoxon_signed_rank(bad)
