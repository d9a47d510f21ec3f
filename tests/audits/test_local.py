"""The local audit against a naive reference: explicit distances, explicit order statistics, explicit means."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from auditkit.audits.local import audit_local
from auditkit.errors import UsageError
from auditkit.results.common import Estimate, Skipped
from auditkit.schema import AuditData, Losses

PARTS = ("estimation", "calibration", "test")


def pair(n_est, n_cal, n_test, d, seed=0, *, grid=None, **fields):
    """Two models, each better on one side of the first covariate; losses in steps, so that some tie."""
    rng = np.random.default_rng(seed)
    n = n_est + n_cal + n_test
    x = rng.normal(2.0, 3.0, (n, d))
    if grid:
        x = np.round(x / grid) * grid
    loss_a = np.round(rng.exponential(1.0, n), 1)
    loss_b = np.maximum(0, loss_a + np.round(np.sign(x[:, 0] - 2) + rng.normal(0, 0.7, n), 1))
    split = np.repeat(PARTS, (n_est, n_cal, n_test))
    rng.shuffle(split)
    return Losses(
        loss_a=loss_a, loss_b=loss_b, covariates=x, covariate_names=tuple(f"x{j}" for j in range(d)),
        split=tuple(split), **fields,
    )  # fmt: skip


def audit(losses, **options):
    options = {"replicates": 50, **options}
    result = audit_local(AuditData(losses={"pair": losses}), **options)
    json.dumps(result.to_dict(), allow_nan=False)
    return result.items


def naive(losses, alpha, *, neighbours=None, radius=None, kernel="box", score="gap", offset=None):
    """docs/local.md one row at a time: declared winners and p-values of the three rules, and the local moments."""
    split = np.array(losses.split)
    rows = {part: np.flatnonzero(split == part) for part in PARTS}
    est = rows["estimation"]
    x = losses.covariates
    x = (x - x[est].mean(axis=0)) / x[est].std(axis=0)
    gap = losses.loss_a - losses.loss_b
    s = gap.copy()
    if score == "log_ratio":
        s = np.log((losses.loss_a + offset) / (losses.loss_b + offset))

    def moments(row, s):
        distance = np.zeros(len(est))
        for j in range(x.shape[1]):
            distance = distance + (x[est, j] - x[row, j]) ** 2
        if radius is None:
            k = neighbours or math.isqrt(len(est))
            w = np.zeros(len(est))
            w[np.lexsort((np.arange(len(est)), distance))[:k]] = 1
        else:
            w = (distance <= radius**2).astype(float)
            if kernel == "epanechnikov":
                w = np.maximum(0, 1 - distance / radius**2)
        if w.sum() == 0:
            w = np.ones(len(est))
        mean = np.sum(w * s[est]) / w.sum()
        return mean, np.sum(w * (s[est] - mean) ** 2) / w.sum()

    if score == "standardized":
        floor = 1e-6 * gap[est].var()
        s = np.array([g / math.sqrt(floor + moments(i, gap)[1]) for i, g in enumerate(gap)])
    smoothing = 1e-6 * s[est].var()
    found = {}
    for rule in ("global", "local_center", "local_standardized"):

        def place(row, rule=rule):
            if rule == "global":
                return s[est].mean(), 1.0
            mean, variance = moments(row, s)
            return mean, math.sqrt(smoothing + variance) if rule == "local_standardized" else 1.0

        cal = [place(i) for i in rows["calibration"]]
        r = sorted((s[i] - t) / c for i, (t, c) in zip(rows["calibration"], cal, strict=True))
        rank = math.ceil((len(r) + 1) * (1 - Fraction(repr(alpha))))
        upper = r[rank - 1] if rank <= len(r) else math.inf
        lower = r[len(r) - rank] if rank <= len(r) else -math.inf
        winners, p_a, p_b, places = [], [], [], []
        for i in rows["test"]:
            t, c = place(i)
            winners.append(-1 if t + c * upper < 0 else 1 if t + c * lower > 0 else 0)
            # at most and at least: a residual equal to -t / c but for rounding may count or not
            p_a.append(
                [(1 + sum(v >= -t / c + e for v in r)) / (len(r) + 1) for e in (1e-9, -1e-9)]
            )
            p_b.append(
                [(1 + sum(v <= -t / c - e for v in r)) / (len(r) + 1) for e in (1e-9, -1e-9)]
            )
            places.append((t, c))
        found[rule] = (
            np.array(winners),
            np.array(p_a),
            np.array(p_b),
            np.array(places),
            lower,
            upper,
        )
    return found, s[rows["test"]], gap[rows["test"]], rows["test"]


CASES = [
    # n_est, n_cal, n_test, d, sample options, audit options
    (80, 60, 70, 1, {}, {}),
    (80, 60, 70, 2, {}, {}),
    (120, 60, 70, 30, {}, {}),
    (80, 60, 70, 3, {"grid": 2.0}, {"neighbours": 9}),
    (80, 60, 70, 1, {"grid": 2.0}, {"neighbours": 9}),
    (40, 60, 70, 2, {}, {"neighbours": 40}),
    (40, 60, 70, 1, {}, {"neighbours": 40}),
    (80, 60, 70, 2, {}, {"radius": 0.4}),
    (80, 60, 70, 1, {}, {"radius": 0.02}),
    (80, 60, 70, 2, {}, {"radius": 0.8, "kernel": "epanechnikov"}),
    (80, 60, 70, 30, {}, {"radius": 5.0, "kernel": "epanechnikov"}),
    (80, 4, 70, 2, {}, {}),
    (80, 0, 70, 2, {}, {}),
    (80, 60, 70, 2, {}, {"score": "log_ratio", "offset": 0.5}),
    (80, 60, 70, 2, {}, {"score": "standardized"}),
]


@pytest.mark.parametrize(("n_est", "n_cal", "n_test", "d", "sample", "options"), CASES)
@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_equal_to_the_naive_reference(n_est, n_cal, n_test, d, sample, options, alpha):
    losses = pair(n_est, n_cal, n_test, d, **sample)
    (item,) = audit(losses, alpha=alpha, **options)
    wanted, score, gap, rows = naive(losses, alpha, **options)
    points = item.points
    np.testing.assert_array_equal(points.row, rows)
    np.testing.assert_allclose(points.score, score, rtol=0, atol=1e-9)
    np.testing.assert_allclose(points.centre, wanted["local_center"][3][:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(points.scale, wanted["local_standardized"][3][:, 1], atol=1e-9)
    for rule in item.rules:
        winners, p_a, p_b, places, lower, upper = wanted[rule.rule]
        # where the naive bound is zero but for rounding it cannot tell; nowhere else may the two differ
        with np.errstate(invalid="ignore"):
            clear = (
                np.minimum(
                    np.abs(places[:, 0] + places[:, 1] * upper),
                    np.abs(places[:, 0] + places[:, 1] * lower),
                )
                > 1e-9
            )
        np.testing.assert_array_equal(points.declared[rule.rule][clear], winners[clear])
        assert clear.mean() > 0.75
        assert rule.p_value_mismatches == 0
        if math.isinf(upper):
            assert isinstance(rule.upper_threshold, Skipped)
            assert isinstance(rule.lower_threshold, Skipped)
            assert rule.n_declared == 0
        else:
            assert rule.upper_threshold == pytest.approx(upper, rel=0, abs=1e-9)
            assert rule.lower_threshold == pytest.approx(lower, rel=0, abs=1e-9)
        for found, bounds in ((points.p_a[rule.rule], p_a), (points.p_b[rule.rule], p_b)):
            assert (bounds[:, 0] - 1e-12 <= found).all()
            assert (found <= bounds[:, 1] + 1e-12).all()
        assert_rates(rule, points.declared[rule.rule], score, gap)


def assert_rates(found, winners, score, gap):
    n = len(winners)
    assert found.n_declared == (winners != 0).sum()
    assert found.declared_a.estimate == pytest.approx((winners == -1).mean(), abs=1e-12)
    assert found.declared_b.estimate == pytest.approx((winners == 1).mean(), abs=1e-12)
    false_a = sum(w == -1 and not v < 0 for w, v in zip(winners, score, strict=True)) / n
    false_b = sum(w == 1 and not v > 0 for w, v in zip(winners, score, strict=True)) / n
    assert found.false_a.estimate == pytest.approx(false_a, abs=1e-12)
    assert found.false_b.estimate == pytest.approx(false_b, abs=1e-12)
    assert found.false_winner_rate.estimate == pytest.approx(false_a + false_b, abs=1e-12)
    assert found.declared_a.n == n
    if found.n_declared:
        gain = [-g if w == -1 else g for w, g in zip(winners, gap, strict=True) if w]
        assert found.conditional_gain.estimate == pytest.approx(np.mean(gain), abs=1e-12)
        assert found.conditional_gain.n == found.n_declared
        share = (false_a + false_b) * n / found.n_declared
        assert found.false_share.estimate == pytest.approx(share, abs=1e-12)
    else:
        assert found.conditional_gain == Skipped("no winner is declared")


def test_maps_follow_the_local_mean_majority_and_quantiles():
    losses = pair(90, 30, 80, 2, seed=4)
    (item,) = audit(losses, alpha=0.3, neighbours=10)
    split = np.array(losses.split)
    est, test = np.flatnonzero(split == "estimation"), np.flatnonzero(split == "test")
    x = losses.covariates
    x = (x - x[est].mean(0)) / x[est].std(0)
    s = losses.loss_a - losses.loss_b
    wanted = {"local_mean": [], "local_majority": [], "local_quantile": []}
    for row in test:
        near = s[est[np.argsort(((x[est] - x[row]) ** 2).sum(1), kind="stable")[:10]]]
        wanted["local_mean"].append(np.sign(near.mean()))
        wanted["local_majority"].append(np.sign((near > 0).sum() - (near < 0).sum()))
        # the 0.7 quantile of ten scores is below zero when seven of them are
        wanted["local_quantile"].append(-1 if (near < 0).sum() >= 7 else (near > 0).sum() >= 7)
    for entry in item.maps:
        winners = item.points.declared[entry.rule]
        if entry.rule == "global_mean":
            assert set(winners) == {int(np.sign(s[est].mean()))}
        else:
            np.testing.assert_array_equal(winners, wanted[entry.rule])
        assert_rates(entry, winners, item.points.score, item.points.gap)
    assert item.prevalence_a.estimate == pytest.approx(np.mean(np.array(wanted["local_mean"]) < 0))
    assert item.prevalence_b.estimate == pytest.approx(np.mean(np.array(wanted["local_mean"]) > 0))
    assert item.win_share_a.estimate == pytest.approx((s[test] < 0).mean())
    assert item.win_share_b.estimate == pytest.approx((s[test] > 0).mean())
    assert item.n_ties == (s[test] == 0).sum() > 0
    assert item.mean_gap.estimate == pytest.approx(s[test].mean())
    assert item.aggregate_winner == ("A" if s[test].mean() < 0 else "B")


def test_swapping_the_models_mirrors_everything():
    losses = pair(80, 60, 70, 2, seed=1)
    other = replace(losses, loss_a=losses.loss_b, loss_b=losses.loss_a)
    for options in ({}, {"score": "log_ratio"}, {"score": "standardized"}, {"radius": 0.5}):
        (one,), (two,) = audit(losses, alpha=0.2, **options), audit(other, alpha=0.2, **options)
        for name, winners in one.points.declared.items():
            np.testing.assert_array_equal(two.points.declared[name], -winners, err_msg=name)
        for a, b in zip(one.rules, two.rules, strict=True):
            assert a.declared_a.estimate == b.declared_b.estimate
            assert a.false_a.estimate == b.false_b.estimate


def test_unit_of_a_covariate_does_not_matter():
    """A power of two, so that rounding is the same."""
    losses = pair(80, 60, 70, 2)
    scaled = replace(losses, covariates=losses.covariates * [8.0, 0.25])
    (one,), (two,) = audit(losses), audit(scaled)
    np.testing.assert_array_equal(one.points.centre, two.points.centre)
    (raw,), (again,) = audit(losses, standardize=False), audit(scaled, standardize=False)
    assert not np.array_equal(raw.points.centre, again.points.centre)


def test_order_of_the_rows_does_not_matter():
    """Without ties at distance, which go to the earlier row."""
    losses = pair(80, 60, 70, 2, seed=5)
    order = np.random.default_rng(1).permutation(210)
    mixed = replace(
        losses, loss_a=losses.loss_a[order], loss_b=losses.loss_b[order],
        covariates=losses.covariates[order], split=tuple(np.array(losses.split)[order]),
    )  # fmt: skip
    (one,), (two,) = audit(losses, alpha=0.2), audit(mixed, alpha=0.2)
    back = {row: j for j, row in enumerate(order[two.points.row])}
    at = [back[row] for row in one.points.row]
    # the mean and deviation that standardise are summed in another order: the neighbours are the same all the same
    np.testing.assert_array_equal(two.points.centre[at], one.points.centre)
    for name, winners in one.points.declared.items():
        np.testing.assert_array_equal(two.points.declared[name][at], winners, err_msg=name)


@pytest.mark.parametrize("unit", [2.0**-20, 4.0])
def test_unit_of_the_loss_does_not_matter(unit):
    losses = pair(80, 60, 70, 2, seed=6)
    scaled = replace(losses, loss_a=losses.loss_a * unit, loss_b=losses.loss_b * unit)
    for score in ("gap", "log_ratio", "standardized"):
        (one,), (two,) = audit(losses, score=score), audit(scaled, score=score)
        for name, winners in one.points.declared.items():
            np.testing.assert_array_equal(two.points.declared[name], winners, err_msg=name)
        assert two.mean_gap.estimate == pytest.approx(one.mean_gap.estimate * unit, rel=1e-12)


def test_map_control_selects_by_benjamini_hochberg():
    losses = pair(200, 150, 150, 1, seed=2)
    rng = np.random.default_rng(2)
    better = np.sign(losses.covariates[:, 0] - 2)
    losses = replace(losses, loss_b=losses.loss_a + better * rng.exponential(1, 500) + 0.1)
    (item,) = audit(losses, alpha=0.3, map_control=True)
    assert [entry.rule for entry in item.controlled] == [rule.rule for rule in item.rules]
    for entry in item.controlled:
        winners = item.points.declared[f"controlled {entry.rule}"]
        for code, p in ((-1, item.points.p_a[entry.rule]), (1, item.points.p_b[entry.rule])):
            m = len(p)
            passing = [i for i in range(1, m + 1) if (p <= 0.3 * i / m + 1e-12).sum() >= i]
            limit = 0.3 * max(passing) / m if passing else -1
            np.testing.assert_array_equal(winners == code, p <= limit + 1e-12)
        assert_rates(entry, winners, item.points.score, item.points.gap)
    assert any(entry.n_declared for entry in item.controlled)
    assert audit(losses)[0].controlled == Skipped("not asked for")


def test_a_grid_of_alphas_gives_one_item_each():
    losses = pair(80, 60, 70, 2)
    items = audit(losses, alpha=[0.05, 0.2, 0.4])
    assert [item.alpha for item in items] == [0.05, 0.2, 0.4]
    for item in items:
        (alone,) = audit(losses, alpha=item.alpha)
        for name, winners in alone.points.declared.items():
            np.testing.assert_array_equal(item.points.declared[name], winners)
    declared = [item.rules[1].n_declared for item in items]
    assert declared == sorted(declared)


def test_missing_rows_are_counted_and_left_out():
    losses = pair(80, 60, 70, 2)
    a, x = losses.loss_a.copy(), losses.covariates.copy()
    a[[0, 3]] = np.nan
    x[3, 1] = x[9, 1] = np.nan
    broken = replace(losses, loss_a=a, covariates=x)
    (item,) = audit(broken)
    assert item.n_excluded == 3
    assert item.missing == {"loss_a": 2, "covariates/x1": 2}
    assert item.n_estimation + item.n_calibration + item.n_test == 207
    kept = np.delete(np.arange(210), [0, 3, 9])
    (wanted,) = audit(
        replace(
            losses, loss_a=losses.loss_a[kept], loss_b=losses.loss_b[kept],
            covariates=losses.covariates[kept], split=tuple(np.array(losses.split)[kept]),
        )
    )  # fmt: skip
    np.testing.assert_array_equal(item.points.centre, wanted.points.centre)
    np.testing.assert_array_equal(kept[wanted.points.row], item.points.row)


def test_fit_rows_are_ignored():
    losses = pair(80, 60, 70, 2)
    split = np.array(losses.split)
    x, a = losses.covariates.copy(), losses.loss_a.copy()
    fit = np.flatnonzero(split == "estimation")[:20]
    split[fit] = "fit"
    x[fit] = 1e6
    a[fit[0]] = np.nan
    (item,) = audit(replace(losses, split=tuple(split), covariates=x, loss_a=a))
    assert (item.n_fit, item.n_excluded, item.n_estimation) == (20, 0, 60)
    assert item.neighbours == 7


def test_splits_are_drawn_with_the_seed():
    losses = replace(pair(80, 60, 70, 2), split=None)
    (one,), (again,), (other,) = (audit(losses, seed=seed) for seed in (3, 3, 4))
    assert (one.n_estimation, one.n_calibration, one.n_test) == (70, 70, 70)
    assert one.split == "drawn"
    np.testing.assert_array_equal(one.points.row, again.points.row)
    assert not np.array_equal(one.points.row, other.points.row)
    assert one.to_dict() == again.to_dict()


def test_constant_covariates_are_dropped_and_named():
    losses = pair(80, 60, 70, 3)
    x = losses.covariates.copy()
    x[np.array(losses.split) == "estimation", 1] = 4.0
    (item,) = audit(replace(losses, covariates=x))
    assert item.dropped == ("x1",)
    assert item.covariates == ("x0", "x2")
    (wanted,) = audit(replace(losses, covariates=x[:, [0, 2]], covariate_names=("x0", "x2")))
    np.testing.assert_array_equal(item.points.centre, wanted.points.centre)
    (item,) = audit(replace(losses, covariates=np.ones_like(x)))
    assert item.aggregate_winner == Skipped("no covariate varies in the estimation split")
    assert item.rules[0].declared_a == Skipped("no covariate varies in the estimation split")


@pytest.mark.parametrize("part", ["estimation", "test"])
def test_an_empty_part_is_said(part):
    losses = pair(80, 60, 70, 2)
    split = np.array(losses.split)
    split[split == part] = "fit"
    (item,) = audit(replace(losses, split=tuple(split)))
    assert item.mean_gap == Skipped(f"no complete observation in the {part} split")


def test_identical_losses_have_no_winner():
    losses = pair(80, 60, 70, 2)
    (item,) = audit(replace(losses, loss_b=losses.loss_a), alpha=0.4)
    assert item.aggregate_winner == "tie"
    assert item.n_ties == 70
    assert item.smoothing == 1.0
    assert not any(entry.n_declared for entry in (*item.rules, *item.maps))


def test_a_declared_winner_that_ties_is_false():
    """B is worse by 1 on every estimation and calibration row, and equal on every test row."""
    n = 90
    split = np.repeat(PARTS, 30)
    loss_a = np.ones(n)
    loss_b = np.where(split == "test", 1.0, 2.0)
    x = np.random.default_rng(0).normal(size=(n, 1))
    losses = Losses(
        loss_a=loss_a, loss_b=loss_b, covariates=x, covariate_names=("x",), split=tuple(split)
    )
    (item,) = audit(losses)
    for rule in item.rules:
        assert rule.declared_a == Estimate(1.0, 1.0, 1.0, 30)
        assert rule.false_winner_rate.estimate == 1.0
        assert rule.conditional_gain.estimate == 0.0


def test_too_small_a_calibration_split_is_said():
    (item,) = audit(pair(80, 8, 70, 2), alpha=0.1)
    for rule in item.rules:
        assert rule.upper_threshold == Skipped(
            "infinite: 8 calibration observations, and alpha 0.1 takes 9"
        )
        assert rule.declared_a.estimate == rule.declared_b.estimate == 0
    assert item.to_dict()["rules"][0]["upper_threshold"] == {
        "skipped": "infinite: 8 calibration observations, and alpha 0.1 takes 9"
    }


def test_one_declared_winner_has_no_interval():
    losses = pair(80, 60, 70, 2)
    items = audit(losses, alpha=[k / 200 for k in range(4, 100)])
    lone = [rule for item in items for rule in item.rules if rule.n_declared == 1]
    assert lone
    assert all(isinstance(rule.conditional_gain.low, Skipped) for rule in lone)
    assert all(isinstance(rule.false_share.high, Skipped) for rule in lone)


def test_the_result_does_not_depend_on_threads():
    losses = pair(300, 200, 1500, 3)
    dictionaries = [
        audit(losses, threads=threads, alpha=[0.1, 0.3], replicates=200) for threads in (1, 2, 5)
    ]
    first = [item.to_dict() for item in dictionaries[0]]
    for other in dictionaries[1:]:
        assert [item.to_dict() for item in other] == first


def test_json_has_the_fixed_keys():
    losses = pair(80, 60, 70, 2)
    result = audit_local(AuditData(losses={"pair": losses}), alpha=[0.1, 0.2], replicates=20)
    out = result.to_dict()
    assert out["settings"]["local"]["alpha"] == [0.1, 0.2]
    for entry, alpha in zip(out["local"], (0.1, 0.2), strict=True):
        assert entry["losses"] == "pair"
        assert entry["alpha"] == alpha
        assert (entry["n_estimation"], entry["n_calibration"], entry["n_test"]) == (80, 60, 70)
        assert {"aggregate_winner", "prevalence_a", "prevalence_b"} <= entry.keys()
        assert [rule["rule"] for rule in entry["rules"]] == [
            "global", "local_center", "local_standardized"
        ]  # fmt: skip
        for rule in entry["rules"]:
            assert {
                "declared_a",
                "declared_b",
                "false_winner_rate",
                "conditional_gain",
            } <= rule.keys()
            assert rule["declared_a"].keys() >= {"estimate", "low", "high"}
    assert "points" not in out["local"][0]
    frame = result.to_frame()
    assert len(frame) == 2 * 7
    assert set(result.items[0].map_frame()["local_mean"]) <= {"A", "B", "none"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.5}, "alpha out of range"),
        ({"alpha": []}, "no alpha"),
        ({"score": "ratio"}, "unknown score"),
        ({"kernel": "gauss", "radius": 1.0}, "unknown kernel"),
        ({"neighbours": 3, "radius": 1.0}, "neighbours and a radius"),
        ({"kernel": "epanechnikov"}, "needs a radius"),
        ({"neighbours": 0}, "neighbours out of range"),
        ({"neighbours": 81}, "losses/pair: more neighbours than estimation observations, found 81"),
        ({"radius": 0.0}, "radius out of range"),
        ({"offset": -1.0}, "offset out of range"),
        ({"variance_floor": 0.0}, "variance_floor out of range"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(UsageError, match=message):
        audit(pair(80, 60, 70, 2), **options)


def test_log_ratio_needs_losses_above_its_offset():
    losses = pair(80, 60, 70, 2)
    with pytest.raises(UsageError, match="losses/pair: the score log_ratio needs losses above"):
        audit(replace(losses, loss_a=losses.loss_a - 5), score="log_ratio")
    (item,) = audit(losses, score="log_ratio")
    est = np.array(losses.split) == "estimation"
    assert item.offset == pytest.approx(
        (losses.loss_a[est].mean() + losses.loss_b[est].mean()) / 200, rel=1e-12
    )


def test_nothing_to_audit():
    with pytest.raises(UsageError, match="nothing for the audit local"):
        audit_local(AuditData())


def test_differences_too_large_to_square_are_said():
    losses = pair(80, 60, 70, 2)
    (item,) = audit(replace(losses, loss_a=losses.loss_a * 1e200))
    assert "too large to square" in item.mean_gap.reason
