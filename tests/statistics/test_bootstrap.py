"""The bootstrap against naive twins that write every resample out, against SciPy, and at its edges."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics import draws as engine
from auditkit.statistics import intervals
from auditkit.statistics.bootstrap import BootstrapResult, Resampling, bootstrap
from auditkit.statistics.draws import Draws, reduce_resamples

SKEWED = np.random.default_rng(7).exponential(size=(60, 4)) + np.arange(4)
CLUSTERS = np.random.default_rng(8).integers(0, 25, 60)
HOLES = np.where(np.random.default_rng(9).random((60, 4)) < 0.2, np.nan, SKEWED)
WEIGHTS = np.random.default_rng(10).random(60)
B = 400


def written_out(units: int, seed: int = 3) -> np.ndarray:
    """The indices [B, units] that ``resampler="numpy"`` promises."""
    return np.random.default_rng(seed).integers(0, units, size=(B, units))


def twin(x: np.ndarray, statistic: str, clusters: Any = None, weights: Any = None) -> np.ndarray:
    """Replicates [B, k] of means and their combinations, each resample written out."""
    x = np.asarray(x)
    unit_of = np.arange(len(x)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    w = np.ones(len(x)) if weights is None else weights
    found = []
    for units in written_out(unit_of.max() + 1):
        rows = np.concatenate([np.flatnonzero(unit_of == u) for u in units])
        if statistic in {"median", "quantile"}:
            level = 0.5 if statistic == "median" else 0.8
            found.append(np.nanquantile(x[rows], level, axis=0))
            continue
        weight = np.where(np.isnan(x[rows]), 0.0, w[rows, None])
        mean = (weight * np.nan_to_num(x[rows])).sum(axis=0) / weight.sum(axis=0)
        if statistic == "difference":
            mean = mean[::2] - mean[1::2]
        elif statistic == "ratio":
            mean = mean[::2] / mean[1::2]
        found.append(mean)
    return np.array(found)


CASES = [
    ("mean", {}),
    ("difference", {}),
    ("ratio", {}),
    ("median", {}),
    ("quantile", {}),
    ("mean", {"clusters": CLUSTERS}),
    ("difference", {"clusters": CLUSTERS}),
    ("ratio", {"clusters": CLUSTERS}),
    ("median", {"clusters": CLUSTERS}),
    ("mean", {"weights": WEIGHTS}),
    ("difference", {"weights": WEIGHTS}),
    ("ratio", {"weights": WEIGHTS}),
    ("mean", {"weights": WEIGHTS, "clusters": CLUSTERS}),
]


@pytest.mark.parametrize("x", [SKEWED, HOLES], ids=["complete", "holes"])
@pytest.mark.parametrize(("statistic", "options"), CASES)
def test_percentile_equals_the_naive_twin(
    x: np.ndarray, statistic: str, options: dict[str, Any]
) -> None:
    result = bootstrap(
        x, statistic=statistic, q=0.8, missing="omit", seed=3, replicates=B,
        resampler="numpy", confidence=0.9, **options,
    )  # fmt: skip
    drawn = twin(x, statistic, **options)
    # data are rounded to 30 bits: some 1e-9 of the largest deviation, well below 1e-8 standard errors
    tolerance = 0.0 if statistic in {"median", "quantile"} else 1e-8 * drawn.std(axis=0).max()
    np.testing.assert_allclose(result.low, np.quantile(drawn, 0.05, axis=0), atol=tolerance)
    np.testing.assert_allclose(result.high, np.quantile(drawn, 0.95, axis=0), atol=tolerance)
    assert set(result.reason) == {""}


@pytest.mark.parametrize("statistic", ["mean", "difference", "ratio"])
@pytest.mark.parametrize(
    "options", [{}, {"clusters": CLUSTERS}, {"weights": WEIGHTS, "clusters": CLUSTERS}]
)
@pytest.mark.parametrize("x", [SKEWED, HOLES], ids=["complete", "holes"])
def test_studentized_equals_the_naive_twin(
    x: np.ndarray, statistic: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_COARSE", 0.0)
    result = bootstrap(
        x, statistic=statistic, method="studentized", missing="omit", seed=3, replicates=B,
        resampler="numpy", **options,
    )  # fmt: skip
    unit_of = np.unique(options.get("clusters", np.arange(60)), return_inverse=True)[1]
    weights = np.where(np.isnan(x), 0.0, options.get("weights", np.ones(60))[:, None])
    above, below = (
        np.stack([np.bincount(unit_of, column) for column in rows.T])
        for rows in (weights * np.nan_to_num(x), weights)
    )

    def value_and_error(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = above[:, units], below[:, units]
        mean = a.sum(axis=1) / b.sum(axis=1)
        influence = (a - mean[:, None] * b) / b.sum(axis=1)[:, None]
        if statistic == "difference":
            mean, influence = mean[::2] - mean[1::2], influence[::2] - influence[1::2]
        elif statistic == "ratio":
            first, second = mean[::2], mean[1::2]
            mean = first / second
            influence = (influence[::2] - mean[:, None] * influence[1::2]) / second[:, None]
        return mean, np.sqrt((influence**2).sum(axis=1))

    count = unit_of.max() + 1
    estimate, error = value_and_error(np.arange(count))
    pairs = [value_and_error(units) for units in written_out(count)]
    t = np.array([(value - estimate) / spread for value, spread in pairs])
    tolerance = 1e-6 * error.max()
    np.testing.assert_allclose(result.estimate, estimate, rtol=1e-12)
    for end, level in ((result.low, 0.975), (result.high, 0.025)):
        expected = estimate - np.quantile(t, level, axis=0) * error
        np.testing.assert_allclose(end, expected, atol=tolerance)


def test_coarse_squares_hardly_move_a_studentized_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    light, heavy = rng.normal(size=(2000, 3)), np.append(rng.uniform(-0.03, 0.03, 1999), 1.0)
    coarse = {name: bootstrap(x, method="studentized") for name, x in (("l", light), ("h", heavy))}
    monkeypatch.setattr(engine, "_COARSE", 0.0)
    fine = {name: bootstrap(x, method="studentized") for name, x in (("l", light), ("h", heavy))}
    for end in ("low", "high"):
        found, expected = (getattr(r["l"], end) - r["l"].estimate for r in (coarse, fine))
        # variances off by 1e-4 or less in one standard deviation, errors by half of it; four of them
        np.testing.assert_allclose(found, expected, rtol=2e-4)
        assert (found != expected).all()
    # half of all squares is one of them: 15 bits are not enough for the others, and no low half is left out
    assert (coarse["h"].low, coarse["h"].high) == (fine["h"].low, fine["h"].high)


@pytest.mark.parametrize("statistic", ["mean", "difference", "ratio", "median"])
@pytest.mark.parametrize("clusters", [None, CLUSTERS], ids=["units", "clusters"])
def test_bca_equals_the_naive_twin(statistic: str, clusters: Any) -> None:
    result = bootstrap(
        SKEWED, statistic=statistic, method="bca", clusters=clusters, seed=3, replicates=B,
        resampler="numpy",
    )  # fmt: skip
    labels = np.arange(60) if clusters is None else clusters
    drawn = twin(SKEWED, statistic, clusters)

    def value(x: np.ndarray) -> np.ndarray:
        if statistic == "median":
            return np.median(x, axis=0)
        mean = x.mean(axis=0)
        if statistic == "difference":
            return mean[::2] - mean[1::2]
        return mean[::2] / mean[1::2] if statistic == "ratio" else mean

    estimate = value(SKEWED)
    jackknife = np.array([value(SKEWED[labels != label]) for label in np.unique(labels)])
    gap = jackknife.mean(axis=0) - jackknife
    a = (gap**3).sum(axis=0) / (6 * (gap**2).sum(axis=0) ** 1.5)
    below = ((drawn < estimate).mean(axis=0) + (drawn <= estimate).mean(axis=0)) / 2
    z0 = stats.norm.ppf(below)
    for ends, tail in ((result.low, 0.025), (result.high, 0.975)):
        z = z0 + stats.norm.ppf(tail)
        levels = stats.norm.cdf(z0 + z / (1 - a * z))
        expected = [np.quantile(drawn[:, j], level) for j, level in enumerate(levels)]
        np.testing.assert_allclose(ends, expected, atol=1e-7 * drawn.std())


# ---------------------------------------------------------------------------- the same bits always


def ends(result: BootstrapResult) -> tuple[Any, Any]:
    return np.asarray(result.low).tolist(), np.asarray(result.high).tolist()


@pytest.mark.parametrize("statistic", ["mean", "ratio", "median"])
@pytest.mark.parametrize("resampler", ["fast", "numpy"])
def test_bits_do_not_depend_on_threads_blocks_or_columns(
    statistic: str, resampler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(0).lognormal(size=(700, 6)) + 1
    options: dict[str, Any] = {"statistic": statistic, "resampler": resampler, "replicates": 301}
    expected = bootstrap(x, threads=1, **options)
    monkeypatch.setattr(engine, "_WORTH_THREADS", 0)
    for block in (2**10, 2**13, 2**16):
        monkeypatch.setattr(engine, "_BLOCK", block)
        for threads in (1, 2, 5):
            assert ends(bootstrap(x, threads=threads, **options)) == ends(expected)
    monkeypatch.undo()
    last = x[:, -2:] if statistic == "ratio" else x[:, -1:]
    assert ends(bootstrap(last, **options))[0] == ends(expected)[0][-1:]


def test_more_replicates_begin_with_the_same_ones() -> None:
    def drawn(replicates: int) -> np.ndarray:
        kept = np.empty((replicates, 90), np.uint8)

        def keep(counts: np.ndarray, start: int, stop: int) -> None:
            kept[start:stop] = counts[: stop - start, :90]

        reduce_resamples(Draws(90, replicates, 5, "fast"), keep)
        return kept

    np.testing.assert_array_equal(drawn(201)[:50], drawn(50))


@pytest.mark.parametrize("n", [2, 3, 1000, 3565])
def test_numpy_draws_in_blocks_are_the_one_stream(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_BLOCK", 7 * n)
    found = np.empty((33, n), np.int64)

    def keep(counts: np.ndarray, start: int, stop: int) -> None:
        found[start:stop] = counts[: stop - start, :n]

    reduce_resamples(Draws(n, 33, 11, "numpy"), keep)
    whole = np.random.default_rng(11).integers(0, n, size=(33, n))
    np.testing.assert_array_equal(found, [np.bincount(row, minlength=n) for row in whole])


def test_bits_do_not_depend_on_the_processor() -> None:
    # compiled for a processor without wide registers, whose loops have another form
    code = (
        "import numpy as np\n"
        "from auditkit.kernels import vectors\n"
        "from auditkit.statistics.bootstrap import bootstrap\n"
        "assert not vectors.WIDE\n"
        "x = np.random.default_rng(1).lognormal(size=(777, 3))\n"
        "for method in ('percentile', 'studentized', 'exact'):\n"
        "    print(repr(bootstrap(x, replicates=200, method=method).high.tolist()))\n"
    )
    machine = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    output = subprocess.run(
        [sys.executable, "-c", code], env=machine, capture_output=True, text=True, check=True
    ).stdout
    x = np.random.default_rng(1).lognormal(size=(777, 3))
    assert output.splitlines() == [
        repr(bootstrap(x, replicates=200, method=method).high.tolist())
        for method in ("percentile", "studentized", "exact")
    ]


@pytest.mark.parametrize(("confidence", "needed"), [(0.5, 4), (0.9, 20), (0.95, 40), (0.999, 2000)])
@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "studentized"])
def test_too_few_replicates_for_the_confidence_make_no_interval(
    confidence: float, needed: int, method: str
) -> None:
    options: dict[str, Any] = {"confidence": confidence, "method": method}
    few = bootstrap(SKEWED[:, 0], replicates=needed - 1, **options)
    assert np.isnan([few.low, few.high]).all()
    assert few.reason == (
        f"{needed - 1:,} replicates are too few at this confidence; it takes {needed:,}"
    )
    enough = bootstrap(SKEWED[:, 0], replicates=needed, **options)
    assert enough.low < enough.estimate < enough.high


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "studentized", "exact"])
def test_the_confidence_next_to_one_is_no_error(method: str) -> None:
    result = bootstrap(SKEWED[:, 0], replicates=50, confidence=1 - 2**-53, method=method)
    assert "too few at this confidence" in result.reason
    # levels of 1e-16 and of 1 less that, from normal quantiles that are 2e-15 apart from their twins
    found = intervals.bca(np.arange(1000.0), 400.0, np.arange(60.0), 1 - 2**-53)
    np.testing.assert_allclose(found, (0.0, 999.0), atol=1e-9)


def test_masked_cells_are_missing_and_complex_numbers_refused() -> None:
    masked = np.ma.masked_array([1.0, 2.0, 3.0, 1000.0], [0, 0, 0, 1])
    with pytest.raises(StatisticsError, match="missing values in a sample, found 1 NaN"):
        bootstrap(masked)
    result = bootstrap(masked, missing="omit")
    assert result.estimate == masked.mean() == 2.0
    assert 1 <= result.low <= result.high <= 3
    with pytest.raises(StatisticsError, match="wrong type of sample"):
        bootstrap([1.0, 2.0 + 1.0j])


def test_numbers_next_to_zero_keep_their_bits() -> None:
    # integers times the smallest number there is: a mean is rounded to a multiple of it
    whole = np.random.default_rng(3).integers(0, 2**40, (50, 2)).astype(float)
    tiny = bootstrap(whole * 2.0**-1074, replicates=200)
    expected = bootstrap(whole, replicates=200)
    for low, wanted in zip((*tiny.low, *tiny.high), (*expected.low, *expected.high), strict=True):
        # the centre, the mean less the centre, and the interpolation are each rounded to one
        assert abs(low * 2.0**1000 * 2.0**74 - wanted) <= 3


def test_published_numbers_of_this_version() -> None:
    # a change of any bit of the draws must be deliberate: it changes every published interval
    result = bootstrap(np.arange(100.0), replicates=1000, seed=1)
    assert (result.low, result.high) == (43.79925, 54.96025)


@given(st.integers(-60, 60), st.integers(0, 2**40))
@settings(max_examples=20)
def test_a_power_of_two_scales_the_interval_exactly(exponent: int, seed: int) -> None:
    x = np.random.default_rng(0).normal(size=50)
    one = bootstrap(x, replicates=100, seed=seed)
    scaled = bootstrap(np.ldexp(x, exponent), replicates=100, seed=seed)
    assert (scaled.low, scaled.high) == (
        float(np.ldexp(one.low, exponent)),
        float(np.ldexp(one.high, exponent)),
    )


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "studentized", "exact"])
def test_shifting_shifts_and_mirroring_mirrors(method: str) -> None:
    x = np.random.default_rng(0).normal(size=50)
    one = bootstrap(x, method=method, replicates=1000)
    shifted = bootstrap(x + 10, method=method, replicates=1000)
    mirrored = bootstrap(-x, method=method, replicates=1000)
    np.testing.assert_allclose(np.subtract(ends(shifted), 10), ends(one), atol=1e-8)
    np.testing.assert_allclose((-mirrored.high, -mirrored.low), ends(one), atol=1e-8)


# ------------------------------------------------------------------------------------- other tools


@pytest.mark.parametrize(
    ("method", "theirs"), [("percentile",) * 2, ("basic",) * 2, ("bca", "BCa")]
)
@pytest.mark.parametrize("statistic", ["mean", "difference", "ratio"])
def test_agrees_with_scipy(statistic: str, method: str, theirs: str) -> None:
    def value(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        if statistic == "mean":
            return a.mean(axis)
        if statistic == "difference":
            return a.mean(axis) - b.mean(axis)
        return a.mean(axis) / b.mean(axis)

    replicates = 20_000
    pair = SKEWED[:, :2]
    found = bootstrap(
        pair[:, 0] if statistic == "mean" else pair, statistic=statistic, method=method,
        replicates=replicates,
    )  # fmt: skip
    other = stats.bootstrap(
        (pair[:, 0], pair[:, 1]), value, paired=True, n_resamples=replicates, batch=1000,
        method=theirs, rng=np.random.default_rng(1),
    )  # fmt: skip
    # the sampling error of a 2.5 % quantile of normal replicates is 2.7 / sqrt(B) of their spread; BCa's
    # correction adds that of the bias, and two intervals differ by the root of two: five of these are allowed
    allowed = 5 * 2**0.5 * (4 if method == "bca" else 2.7) / replicates**0.5 * other.standard_error
    assert abs(np.squeeze(found.low) - other.confidence_interval.low) < allowed
    assert abs(np.squeeze(found.high) - other.confidence_interval.high) < allowed


# --------------------------------------------------------------------------------------- the edges


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "studentized", "exact"])
@pytest.mark.parametrize("value", [0.1, -3.0, 1e100])
def test_a_sample_without_variation_has_a_point_interval(method: str, value: float) -> None:
    result = bootstrap(np.full(7, value), method=method, replicates=50)
    assert (result.estimate, result.low, result.high) == (value, value, value)


def test_flat_differences_and_ratios_are_points() -> None:
    x = np.random.default_rng(0).random(30) + 1
    difference = bootstrap(np.c_[x, x], statistic="difference", replicates=50)
    assert ends(difference) == ([0.0], [0.0])
    ratio = bootstrap(np.c_[3 * x, x], statistic="ratio", replicates=50)
    assert ratio.estimate == pytest.approx([3.0])
    assert ends(ratio) == (list(ratio.estimate), list(ratio.estimate))


def test_clusters_of_equal_means_are_flat() -> None:
    result = bootstrap([1.0, 1.0, 1.0, 1.0], clusters=["a", "a", "a", "b"], replicates=50)
    assert (result.low, result.high, result.n) == (1.0, 1.0, 2)


@pytest.mark.parametrize("method", ["percentile", "bca", "exact"])
def test_one_unit_has_an_estimate_and_no_interval(method: str) -> None:
    result = bootstrap([2.5], method=method)
    assert result.estimate == 2.5
    assert np.isnan(result.low)
    assert np.isnan(result.high)
    assert result.reason == "only one unit to resample"
    clustered = bootstrap([1.0, 2.0], clusters=["a", "a"])
    assert (clustered.estimate, clustered.n, clustered.reason) == (1.5, 1, result.reason)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        ([], {}, "empty sample"),
        (np.empty((3, 0)), {}, "empty sample"),
        ([[[1.0]]], {}, "wrong shape of sample"),
        (["a"], {}, "wrong type of sample"),
        ([1.0, np.nan], {}, "missing values in a sample, found 1 NaN"),
        ([1.0, np.inf], {}, "values too large"),
        ([1.0, -1e200], {}, "values too large"),
        ([1.0, 2.0, 3.0], {"statistic": "difference"}, "takes columns in pairs"),
        ([1.0, 2.0], {"clusters": [1]}, "wrong shape of cluster labels"),
        ([1.0, 2.0], {"clusters": [1.0, np.nan]}, "missing cluster label"),
        ([1.0, 2.0], {"weights": [1.0]}, "wrong shape of weights"),
        ([1.0, 2.0], {"weights": [1.0, -1.0]}, "bad weights"),
        ([1.0, 2.0], {"weights": [1.0, np.nan]}, "bad weights"),
        ([1.0, 2.0], {"weights": [1.0, np.inf]}, "bad weights"),
        ([1.0, 2.0], {"weights": [1.0, 0.5], "statistic": "median"}, "quantiles take no weights"),
    ],
)
def test_refuses_a_sample_that_is_none(x: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(StatisticsError, match=message):
        bootstrap(x, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"statistic": "mode"},
        {"method": "wild"},
        {"resampler": "torch"},
        {"missing": "impute"},
        {"replicates": 0},
        {"replicates": 1.5},
        {"seed": -1},
        {"threads": 0},
        {"confidence": 1.0},
        {"confidence": 0.0},
        {"statistic": "quantile", "q": 1.5},
        {"statistic": "median", "method": "studentized"},
    ],
)
def test_refuses_options_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        bootstrap([1.0, 2.0, 4.0], **options)


def test_a_column_without_observations_says_so() -> None:
    x = np.c_[[1.0, 2.0, 4.0], np.full(3, np.nan)]
    for statistic in ("mean", "median"):
        result = bootstrap(x, statistic=statistic, missing="omit", replicates=200)
        assert np.isnan(result.estimate[1])
        assert result.reason[1] == "no observation"


def test_resamples_without_an_observation_are_left_out_while_they_are_few() -> None:
    rng = np.random.default_rng(0)
    x = np.full((200, 2), np.nan)
    x[:4, 0], x[:8, 1] = rng.normal(size=4), rng.normal(size=8)
    for statistic in ("mean", "median"):
        result = bootstrap(x, statistic=statistic, missing="omit", replicates=4000)
        # (1 - 4/200)**200 = 1.8 % of the resamples miss the first column, 0.03 % the second
        assert "of the resamples have no value" in result.reason[0]
        assert np.isnan(result.low[0])
        assert result.reason[1] == ""
        assert np.nanmin(x[:, 1]) <= result.low[1] < result.high[1] <= np.nanmax(x[:, 1])


def test_a_ratio_over_a_denominator_near_zero_has_no_interval() -> None:
    rng = np.random.default_rng(0)
    above, below = rng.normal(5, 1, 40), rng.normal(0, 1, 40)
    below += 0.05 - below.mean()
    for method in ("percentile", "basic", "bca", "studentized", "exact"):
        result = bootstrap(np.c_[above, below], statistic="ratio", method=method)
        assert result.reason == ("the interval of the denominator holds zero",)
        assert np.isnan(result.low[0])
        assert np.isfinite(result.estimate[0])


def test_a_ratio_over_zero_is_undefined() -> None:
    result = bootstrap(np.c_[[1.0, 2.0], [1.0, -1.0]], statistic="ratio")
    assert result.reason == ("the mean of the denominator is zero",)


def test_tiny_and_huge_values_neither_underflow_nor_overflow() -> None:
    x = np.random.default_rng(0).random((20, 2)) + 0.5
    plain = bootstrap(x, statistic="ratio", replicates=200)
    for scale in (2.0**-1000, 2.0**400):
        scaled = bootstrap(x * scale, statistic="ratio", replicates=200)
        assert ends(scaled) == ends(plain)


def test_equal_weights_are_no_weights() -> None:
    plain = bootstrap(SKEWED, replicates=200)
    weighted = bootstrap(SKEWED, weights=np.full(60, 3.7), replicates=200)
    assert ends(weighted) == ends(plain)


def test_the_input_is_left_alone() -> None:
    x = HOLES.copy()
    bootstrap(x, missing="omit", replicates=20)
    np.testing.assert_array_equal(x, HOLES)


# ------------------------------------------------------------------- settings, progress, interrupt


def test_settings_are_passed_on() -> None:
    told: list[tuple[str, int, int]] = []
    how = Resampling(
        replicates=300, confidence=0.8, seed=4, method="basic", progress=lambda *a: told.append(a)
    )
    result = how.intervals(SKEWED, statistic="difference")
    expected = bootstrap(
        SKEWED, statistic="difference", replicates=300, confidence=0.8, seed=4, method="basic"
    )
    assert ends(result) == ends(expected)
    assert (result.method, result.confidence, result.seed) == ("basic", 0.8, 4)
    assert told[-1] == ("bootstrap", 300, 300)


def test_an_interrupt_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_BLOCK", 1)
    monkeypatch.setattr(engine, "_WORTH_THREADS", 0)
    done: list[int] = []

    def stop(task: str, at: int, total: int) -> None:
        done.append(at)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bootstrap(SKEWED, replicates=20_000, progress=stop, threads=2)
    assert done == [engine._FEWEST_ROWS["fast"]]


def test_a_second_process_compiles_nothing() -> None:
    code = (
        "import numpy as np\n"
        "from auditkit.statistics.bootstrap import bootstrap\n"
        "from auditkit.kernels import characteristic, draws, products\n"
        "x = np.arange(200.0) ** 1.5\n"
        "bootstrap(x, replicates=20)\n"
        "bootstrap(x, method='exact')\n"
        "for kernel in (draws.draw_counts, products.sum_halves, characteristic.quantile,\n"
        "               characteristic.sum_frequencies):\n"
        "    print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))\n"
    )
    for _ in range(2):  # the first may compile what no test has needed yet
        output = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
    assert output.split("\n")[:-1] == ["1 0"] * 4


# ------------------------------------------------- coverage, in brief: tests/statistical has more


@pytest.mark.parametrize("method", ["percentile", "exact"])
def test_intervals_of_a_normal_mean_cover_it(method: str) -> None:
    n, simulations = 40, 400
    held = 0
    for simulation in range(simulations):
        x = np.random.default_rng([5, simulation]).normal(1, 2, n)
        result = bootstrap(x, method=method, replicates=500, seed=simulation)
        held += result.low <= 1 <= result.high
    # mean +- 1.96 s sqrt((n - 1) / n) / sqrt(n), so that the coverage follows from Student's t
    expected = 1 - 2 * stats.t.sf(1.96 * ((n - 1) / n) ** 0.5, n - 1)
    error = (expected * (1 - expected) / simulations) ** 0.5
    assert abs(held / simulations - expected) < 4 * error


@pytest.mark.parametrize("method", ["percentile", "exact"])
def test_the_interval_of_a_mean_lies_among_the_observations(method: str) -> None:
    # all resamples of three flags take in an end of the range, and the ends must be exactly 0 and 1
    found = bootstrap([True, False, True], method=method)
    assert (found.low, found.high) == (0.0, 1.0)
