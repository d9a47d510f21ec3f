"""Exact intervals against known distributions, full convolution and long Monte-Carlo runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from auditkit.statistics.bootstrap import bootstrap
from auditkit.statistics.exact import FEWEST_UNITS, _invert, _lattice_step

TAILS = (0.025, 0.975)


@pytest.mark.parametrize(("n", "ones"), [(20, 7), (100, 3), (556, 200), (5000, 1)])
def test_shares_have_the_binomial_interval(n: int, ones: int) -> None:
    x = np.zeros(n)
    x[:ones] = 1
    result = bootstrap(x, method="exact")
    # the resampled sum is binomial(n, ones / n)
    expected = [stats.binom.ppf(tail, n, ones / n) / n for tail in TAILS]
    np.testing.assert_allclose((result.low, result.high), expected, rtol=1e-12)
    assert (result.method, result.note) == ("exact", "")


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
def test_lattice_data_are_convolved_exactly(confidence: float) -> None:
    x = 0.1 * np.random.default_rng(0).geometric(0.2, 40) - 7
    result = bootstrap(x, method="exact", confidence=confidence)
    steps = np.rint((x - x.min()) / 0.1).astype(int)
    sample = np.bincount(steps) / len(x)
    mass = np.array([1.0])
    for _ in range(len(x)):
        mass = np.convolve(mass, sample)
    cumulated = np.cumsum(mass)
    for end, tail in ((result.low, (1 - confidence) / 2), (result.high, (1 + confidence) / 2)):
        expected = x.min() + 0.1 * int(np.argmax(cumulated >= tail)) / len(x)
        assert end == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([0.0, 1.0], 1.0),
        ([0.0, 2.0, 5.0], 1.0),
        ([0.3, 0.5, 1.2], 0.1),
        ([-1.0, 9.0, 20.0], 1.0),
        ([0.0, 1.0, 2.0**0.5], None),
    ],
)
def test_finds_the_step_of_a_lattice(values: list[float], step: float | None) -> None:
    found = _lattice_step(np.array(values), spread=5.0)
    assert found == (None if step is None else pytest.approx(step))


def test_a_lattice_finer_than_matters_is_none() -> None:
    assert _lattice_step(np.arange(10.0), spread=4097.0) is None
    assert _lattice_step(np.arange(10.0), spread=4095.0) == 1.0


def test_inversion_agrees_with_convolution_where_both_apply() -> None:
    # a lattice of 5000 steps a standard error: continuous as far as inversion can tell
    x = np.rint(np.random.default_rng(1).gamma(2, 500, size=60))
    centred = x - x.mean()
    spread = np.sqrt(60) * x.std()
    inversion = _invert(centred, np.full(60, 1 / 60), 60, spread, tied=False)
    mass = np.array([1.0])
    for _ in range(60):
        mass = np.convolve(mass, np.bincount((x - x.min()).astype(int)) / 60)
    cumulated = np.cumsum(mass)
    for level in (1e-4, 0.025, 0.5, 0.975):
        place = int(np.argmax(cumulated >= level)) + 60 * x.min() - x.sum()
        # a step of the lattice, and the error of the inversion, in standard errors
        assert abs(inversion.quantile(level) - place) / spread < 1 / spread + 1e-6


# --------------------------------------------------------------------------- long Monte-Carlo runs

RNG = np.random.default_rng(5)
MONTE_CARLO: dict[str, tuple[Any, dict[str, Any]]] = {
    "normal": (RNG.normal(size=50), {}),
    "skewed": (RNG.lognormal(size=200), {}),
    "few units": (RNG.exponential(size=FEWEST_UNITS), {}),
    "heavy tail": (RNG.standard_t(2, size=500), {}),
    "half zeros": (np.where(RNG.random(100) < 0.5, 0.0, RNG.normal(size=100)), {}),
    "tied with one odd value": (np.append(RNG.integers(0, 3, 99), np.pi), {}),
    "difference": (RNG.exponential(size=(80, 2)), {"statistic": "difference"}),
    "ratio": (RNG.exponential(size=(80, 2)) + 0.2, {"statistic": "ratio"}),
    "negative denominator": (
        (RNG.exponential(size=(80, 2)) + 0.2) * [1, -1],
        {"statistic": "ratio"},
    ),
    "clusters": (RNG.exponential(size=150), {"clusters": RNG.integers(0, 40, 150)}),
    "clusters of counts": (
        RNG.integers(0, 2, 150).astype(float),
        {"clusters": RNG.integers(0, 60, 150)},
    ),
    "ratio of clusters": (
        RNG.exponential(size=(150, 2)) + 1,
        {"statistic": "ratio", "clusters": RNG.integers(0, 40, 150)},
    ),
    "weights": (RNG.normal(size=100), {"weights": RNG.random(100)}),
    "holes": (np.where(RNG.random(100) < 0.3, np.nan, RNG.normal(size=100)), {"missing": "omit"}),
}
REPLICATES = 200_000


@pytest.mark.parametrize("name", MONTE_CARLO)
def test_long_runs_scatter_around_the_exact_interval(name: str) -> None:
    x, options = MONTE_CARLO[name]
    exact = bootstrap(x, method="exact", **options)
    assert (exact.method, set(np.atleast_1d(exact.note))) == ("exact", {""})
    drawn = bootstrap(x, replicates=REPLICATES, seed=1, **options)
    # both ends of intervals whose levels are five Monte-Carlo errors off enclose the exact end
    error = 5 * np.sqrt(0.025 * 0.975 / REPLICATES)
    inner = bootstrap(x, method="exact", confidence=1 - 2 * (0.025 + error), **options)
    outer = bootstrap(x, method="exact", confidence=1 - 2 * (0.025 - error), **options)
    assert np.all(outer.low <= drawn.low)
    assert np.all(drawn.low <= inner.low)
    assert np.all(inner.high <= drawn.high)
    assert np.all(drawn.high <= outer.high)


def test_ratio_of_counts_against_full_convolution() -> None:
    rng = np.random.default_rng(2)
    size = rng.integers(1, 4, 25)
    hits = rng.binomial(size, 0.4)
    joint = np.zeros((4, 4))
    np.add.at(joint, (hits, size), 1 / 25)
    shape = (25 * 3 + 1, 25 * 3 + 1)
    summed = np.fft.irfft2(np.fft.rfft2(joint, shape) ** 25, shape)
    ratio = np.arange(shape[0])[:, None] / np.maximum(np.arange(shape[1]), 1)
    order = np.argsort(ratio, axis=None, kind="stable")
    cumulated = np.cumsum(summed.ravel()[order])
    values = ratio.ravel()[order]
    x = np.concatenate([np.repeat([1.0, 0.0], (h, s - h)) for h, s in zip(hits, size, strict=True)])
    result = bootstrap(x, clusters=np.repeat(np.arange(25), size), method="exact")
    for end, tail in ((result.low, 0.025), (result.high, 0.975)):
        # the truncated series rounds the steps of the distribution: 3e-4 in the level
        low, high = (values[np.argmax(cumulated >= tail + shift)] for shift in (-3e-4, 3e-4))
        assert low - 1e-6 <= end <= high + 1e-6


# ------------------------------------------------------------------------------- where it declines


@pytest.mark.parametrize(
    ("x", "options", "why"),
    [
        (np.random.default_rng(0).normal(size=FEWEST_UNITS - 1), {}, "fewer than 20 units"),
        (np.append(np.random.default_rng(0).normal(size=60), 1e6), {}, "does not decay"),
        (np.resize([0.0, 1.0, 2**0.5], 30), {}, "does not decay"),
        (np.random.default_rng(0).normal(size=60), {"statistic": "median"}, "for means"),
        (
            np.random.default_rng(0).normal(size=60),
            {"confidence": 0.999999, "replicates": 2_000_000},
            "tails below",
        ),
    ],
)
def test_declines_and_falls_back(x: np.ndarray, options: dict[str, Any], why: str) -> None:
    options = {"replicates": 500, **options}
    result = bootstrap(x, method="exact", **options)
    assert result.method == "percentile"
    assert why in result.note
    assert result.note.endswith(f"percentile of {options['replicates']} resamples instead")
    plain = bootstrap(x, **options)
    assert (result.low, result.high) == (plain.low, plain.high)


def test_declines_where_columns_miss_different_observations() -> None:
    x = np.random.default_rng(0).normal(size=(50, 2)) + 5
    x[0, 0] = x[3, 1] = np.nan
    result = bootstrap(x, statistic="difference", missing="omit", method="exact", replicates=100)
    assert result.method == "percentile"
    assert "miss different observations" in result.note[0]


def test_declines_a_denominator_that_may_vanish() -> None:
    x = np.random.default_rng(0).normal(size=(50, 2))
    x += [5, 3 / 50**0.5] - x.mean(axis=0)  # a denominator three standard errors above zero
    result = bootstrap(x, statistic="ratio", method="exact", replicates=2000)
    assert "change its sign" in result.note[0]


def test_one_column_may_decline_alone() -> None:
    x = np.random.default_rng(0).normal(size=(60, 2))
    x[0, 1] = 1e6
    result = bootstrap(x, method="exact", replicates=500)
    assert result.method == "mixed"
    assert result.note[0] == ""
    assert "does not decay" in result.note[1]
    assert result.low[0] == bootstrap(x[:, 0], method="exact").low
    assert result.low[1] == bootstrap(x[:, 1], replicates=500).low


def test_exact_intervals_do_not_depend_on_threads_or_columns() -> None:
    x = np.random.default_rng(0).lognormal(size=(300, 5))
    one, many = bootstrap(x, method="exact", threads=1), bootstrap(x, method="exact", threads=4)
    assert one.low.tolist() == many.low.tolist()
    assert one.high[3] == bootstrap(x[:, 3], method="exact").high
