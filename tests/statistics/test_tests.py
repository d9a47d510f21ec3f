"""Sign test and Holm against SciPy, statsmodels, and arithmetic by hand."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from auditkit.errors import StatisticsError
from auditkit.statistics.tests import holm, sign_test

P_VALUES = st.lists(st.floats(0, 1), max_size=30)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (0, 7), (5, 5), (9, 1), (17, 40)])
def test_sign_test_by_exact_arithmetic(wins: int, losses: int) -> None:
    n, k = wins + losses, min(wins, losses)
    exact = min(Fraction(1), Fraction(2 * sum(comb(n, j) for j in range(k + 1)), 2**n))
    # bdtr goes through the incomplete beta function, good to some tens of rounding errors
    assert sign_test(wins, losses) == pytest.approx(float(exact), rel=1e-13)


@given(st.integers(0, 3000), st.integers(0, 3000))
@settings(deadline=None)
def test_sign_test_equals_scipy_and_does_not_depend_on_the_order(wins: int, losses: int) -> None:
    p = sign_test(wins, losses)
    assert 0 <= p <= 1
    assert p == sign_test(losses, wins)
    if wins + losses:
        assert p == pytest.approx(scipy.stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)


def test_sign_test_reaches_the_published_orders_of_magnitude() -> None:
    assert f"{sign_test(393, 91):.1e}" == "9.5e-46"
    assert f"{sign_test(340, 135):.1e}" == "1.9e-21"


def test_sign_test_refuses_negative_counts() -> None:
    with pytest.raises(StatisticsError, match="negative count"):
        sign_test(-1, 4)


def holm_by_definition(p: list[float]) -> list[float]:
    """Adjusted p of i: the largest (m - rank + 1) p over all that are not larger, at most 1."""
    ranked = sorted(range(len(p)), key=lambda i: (p[i], i))
    place = {i: position for position, i in enumerate(ranked)}
    return [
        min(1.0, max((len(p) - place[j]) * p[j] for j in ranked[: place[i] + 1]))
        for i in range(len(p))
    ]


@given(P_VALUES)
def test_holm_by_definition(p: list[float]) -> None:
    adjusted = holm(p)
    assert adjusted.tolist() == holm_by_definition(p)
    assert (adjusted <= 1).all()
    assert (adjusted >= np.asarray(p, dtype=float)).all()


@given(P_VALUES.filter(bool))
@settings(deadline=None)  # the first import of statsmodels takes its time
def test_holm_equals_statsmodels(p: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(p, method="holm")[1]
    np.testing.assert_allclose(holm(p), expected, rtol=1e-14, atol=0)


def test_holm_never_exceeds_one() -> None:
    assert holm([0.9, 0.8, 0.7, 0.6]).tolist() == [1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("wrong", [[0.1, float("nan")], [-0.1], [1.1], [[0.1, 0.2]]])
def test_holm_refuses_what_is_no_list_of_p_values(wrong: list[float]) -> None:
    with pytest.raises(StatisticsError):
        holm(wrong)
