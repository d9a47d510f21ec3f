"""Scoreboards small enough to audit by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditkit.audits.selection import audit_selection
from auditkit.demo import demo_data
from auditkit.errors import SchemaError, UsageError
from auditkit.results.common import Estimate, Skipped
from auditkit.results.scoreboard import NominalBudget, ScoreboardAudit
from auditkit.schema import AuditData, Scoreboard
from auditkit.statistics.bootstrap import bootstrap

NAN = np.nan


def board(score: Any, **arrays: Any) -> Scoreboard:
    """A scoreboard of systems a, b, ... where higher is better unless said otherwise."""
    score = np.array(score, dtype=float)
    given = {
        "higher_is_better": np.ones(len(score), dtype=bool),
        "datasets": tuple(f"d{i}" for i in range(len(score))),
        "systems": tuple("abcdefgh"[: score.shape[1]]),
        **arrays,
    }
    return Scoreboard(score=score, **given)


def audit(member: Scoreboard, **options: Any) -> ScoreboardAudit:
    options = {"replicates": 50, **options}
    return audit_selection(AuditData(scoreboards={"board": member}), **options).items[0]


def shares(found: dict[str, Estimate] | Skipped) -> dict[str, float]:
    assert not isinstance(found, Skipped)
    return {name: x.estimate for name, x in found.items()}


def test_winners_ties_and_orientation() -> None:
    item = audit(
        board(
            [[0.9, 0.8], [0.1, 0.2], [0.5, 0.5 + 5e-7], [3.0, 2.0]],
            higher_is_better=np.array([True, True, True, False]),
        )
    )
    assert shares(item.win_share) == {"a": 0.25, "b": 0.5, "tie": 0.25}
    assert item.mean_rank == {"a": (1 + 2 + 1.5 + 2) / 4, "b": (2 + 1 + 1.5 + 1) / 4}
    assert item.leader == "b"
    (pair,) = item.head_to_head
    assert (pair.wins, pair.losses, pair.ties, pair.missing) == (1, 2, 1, 0)
    assert pair.sign_test_p == 1.0


def test_the_tolerance_is_one_everywhere() -> None:
    item = audit(board([[0.9, 0.8], [0.5, 0.3]]), tie=0.15)
    assert shares(item.win_share) == {"a": 0.5, "b": 0.0, "tie": 0.5}
    assert item.mean_rank == {"a": 1.25, "b": 1.75}
    assert (item.head_to_head[0].wins, item.head_to_head[0].ties) == (1, 1)


GAPS = [[0.9, NAN, 0.8], [NAN, NAN, NAN], [NAN, 0.3, 0.2], [0.1, 0.2, 0.3], [NAN, 0.5, NAN]]


def test_a_missing_score_loses() -> None:
    item = audit(board(GAPS))
    assert item.missing_policy == "loss"
    assert (item.n_datasets, item.n_unscored, item.n_dropped) == (4, 1, 0)
    assert item.missing == {"a": 2, "b": 1, "c": 1}
    assert shares(item.win_share) == {"a": 0.25, "b": 0.5, "c": 0.25, "tie": 0.0}
    pairs = {(x.first, x.second): x for x in item.head_to_head}
    assert (pairs["a", "b"].wins, pairs["a", "b"].losses, pairs["a", "b"].missing) == (1, 3, 3)
    # on the last dataset both fail: neither beats the other
    assert (pairs["a", "c"].wins, pairs["a", "c"].losses, pairs["a", "c"].ties) == (1, 2, 1)
    assert item.mean_rank["a"] == (1 + 3 + 3 + 2.5) / 4


def test_datasets_with_a_missing_score_are_dropped() -> None:
    item = audit(board(GAPS), missing="drop")
    assert (item.n_datasets, item.n_unscored, item.n_dropped) == (1, 1, 3)
    assert item.missing == {"a": 0, "b": 0, "c": 0}
    assert shares(item.win_share) == {"a": 0.0, "b": 0.0, "c": 1.0, "tie": 0.0}


def test_a_missing_score_is_refused() -> None:
    with pytest.raises(UsageError, match=r"scoreboards/board/score.*'b' on dataset 'd0'"):
        audit(board(GAPS), missing="error")
    complete = [[0.9, 0.8], [0.2, 0.3]]
    assert audit(board(complete), missing="error").n_datasets == 2


def test_missing_counts_stand_beside_every_share() -> None:
    item = audit(
        board(
            GAPS,
            group=("x", "x", "y", "y", "y"),
            clusters=("k", "l", "m", "m", "m"),
            size=np.array([1, 1, 3, 2, 1]),
            seconds=np.ones((5, 3)),
        )
    )
    assert item.groups["x"].missing == {"a": 0, "b": 1, "c": 0}
    assert item.groups["y"].missing == {"a": 2, "b": 0, "c": 1}
    assert item.deduplicated.missing == {"a": 1, "b": 1, "c": 0}
    assert all(x.missing == {"a": 2, "b": 1, "c": 1} for x in item.matched)


def test_nothing_scored_is_an_error() -> None:
    with pytest.raises(UsageError, match="no dataset is left"):
        audit(board([[NAN, NAN]]))
    with pytest.raises(UsageError, match="no dataset is left"):
        audit(board([[0.5, NAN]]), missing="drop")


def test_a_system_may_not_be_called_tie() -> None:
    with pytest.raises(SchemaError, match="stands for a tie"):
        audit(board([[0.5, 0.4]], systems=("tie", "b")))


@pytest.mark.parametrize(
    "options", [{"tie": -1.0}, {"tie": NAN}, {"candidates": 0}, {"missing": "ignore"}]
)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        audit(board([[0.5, 0.4]]), **options)


def test_the_largest_record_of_a_cluster_is_kept() -> None:
    item = audit(
        board(
            [[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.9, 0.1], [0.5, 0.5]],
            datasets=("10", "9", "3", "4", "5"),
            clusters=("p", "p", "q", "q", "r"),
            size=np.array([7, 7, 1, 2, 1]),
        )
    )
    single = item.deduplicated
    # p: equal sizes, and 9 is a smaller number than 10; q: dataset 4 is larger
    assert (single.n, single.repeated, single.kept_by) == (3, 2, "size")
    assert shares(single.win_share) == pytest.approx({"a": 1 / 3, "b": 1 / 3, "tie": 1 / 3})
    assert (item.unit, item.n_units) == ("cluster", 3)
    assert (single.head_to_head[0].wins, single.head_to_head[0].losses) == (1, 1)


@pytest.mark.parametrize(
    ("arrays", "kept_by", "winner"),
    [
        ({"test_size": np.array([1, 2])}, "test_size", "b"),
        ({}, "dataset id", "a"),
        ({"datasets": ("10", "9x")}, "dataset id", "a"),
        ({"datasets": ("10", "9")}, "dataset id", "b"),
        ({"size": np.array([5, 4]), "test_size": np.array([1, 2])}, "size", "a"),
    ],
)
def test_what_decides_which_record_is_kept(
    arrays: dict[str, Any], kept_by: str, winner: str
) -> None:
    item = audit(board([[0.9, 0.1], [0.1, 0.9]], clusters=np.array([4, 4]), **arrays))
    assert item.deduplicated.kept_by == kept_by
    assert shares(item.deduplicated.win_share)[winner] == 1.0


def test_times_by_hand() -> None:
    seconds = np.array([[60.0, 30.0], [61.0, 120.0], [150.0, NAN], [240.0, 0.0]])
    item = audit(
        board(
            [[0.9, 0.1]] * 3 + [[0.1, 0.9]],
            seconds=seconds,
            budget_seconds=np.array([60.0, 60.0, 60.0, NAN]),
        )
    )
    a, b = item.budget["a"], item.budget["b"]
    assert (a.n, a.median, a.mean, a.max) == (4, 105.5, 127.75, 240.0)
    assert a.p90 == pytest.approx(150 + 0.7 * 90)
    assert (a.n_budget, a.share_over_budget, a.share_over_twice) == (3, 2 / 3, 1 / 3)
    assert a.p90_of_budget == pytest.approx((61 + 0.8 * 89) / 60)
    assert (b.n, b.n_budget, b.share_over_twice) == (3, 2, 0.0)
    assert item.nominal_budget == NominalBudget(n=3, median=60.0, min=60.0, max=60.0)
    assert item.nominal_budget.same
    (ratio,) = item.time_ratio
    # the third has no time, the fourth a time of zero
    assert (ratio.n, ratio.median) == (2, (60 / 30 + 61 / 120) / 2)
    (matched,) = item.matched
    assert (matched.system, matched.against, matched.others, matched.n) == ("a", "b", ("b",), 1)
    assert shares(matched.win_share) == {"a": 1.0, "b": 0.0, "tie": 0.0}


def test_the_nominal_budget_is_of_the_datasets_audited() -> None:
    item = audit(
        board(
            [[0.9, 0.1]] * 4 + [[0.5, 0.6], [NAN, NAN], [0.9, 0.1]],
            datasets=("a", "b", "c", "d", "e", "unscored", "a"),
            run=("first",) * 6 + ("again",),
            budget_seconds=np.array([30.0, 0.0, 600.0, 60.0, NAN, 1.0, 9000.0]),
        )
    )
    assert item.nominal_budget == NominalBudget(n=3, median=60.0, min=30.0, max=600.0)
    assert not item.nominal_budget.same
    none = audit(board([[0.9, 0.1]], budget_seconds=np.array([0.0])))
    assert none.nominal_budget == Skipped("no positive budget is stored")


def test_an_empty_slice_is_skipped() -> None:
    item = audit(board([[0.9, 0.1]], seconds=np.array([[9.0, 1.0]])))
    assert item.matched[0].win_share == Skipped("no dataset")
    assert item.matched[0].n == 0


def test_what_is_not_stored_is_skipped_with_a_reason() -> None:
    item = audit(board([[0.9, 0.1], [0.2, 0.3]]))
    for name in (
        "nominal_budget", "budget", "time_ratio", "matched", "deduplicated", "noise_floor", "claims",
    ):  # fmt: skip
        assert isinstance(getattr(item, name), Skipped), name
    assert item.groups == {}
    assert item.reruns == ()
    timed = audit(board([[0.9, 0.1]], seconds=np.array([[1.0, NAN]])))
    assert isinstance(timed.budget["b"], Skipped)
    assert isinstance(timed.budget["a"].share_over_budget, Skipped)
    assert isinstance(timed.time_ratio[0].median, Skipped)


def test_mean_scores_are_not_taken_over_different_scales() -> None:
    item = audit(
        board(
            [[0.5, 0.7], [0.7, 0.9], [NAN, 0.8], [10.0, 20.0], [0.0, 4.0], [1.0, 1.0]],
            higher_is_better=np.array([True, True, True, False, False, False]),
        )
    )
    accuracy, error = item.mean_score["higher is better"], item.mean_score["lower is better"]
    assert (accuracy.n, accuracy.incomplete) == (2, 1)
    assert accuracy.mean == pytest.approx({"a": 0.6, "b": 0.8})
    assert isinstance(error.mean, Skipped)
    relative = item.relative_error
    assert (relative.n, relative.not_positive, relative.incomplete) == (2, 1, 0)
    assert relative.median == pytest.approx({"a": 1.0, "b": 1.5})
    assert relative.geometric_mean == pytest.approx({"a": 1.0, "b": np.sqrt(2)})


def test_claimed_winners_that_the_scores_do_not_give() -> None:
    item = audit(
        board(
            [[0.9, 0.1], [0.9, 0.1], [0.5, 0.5], [0.5, 0.6], [NAN, NAN]],
            claimed_winner=("a", "b", "tie", "", "a"),
        )
    )
    assert (item.claims.n, item.claims.disagreeing) == (3, 1)
    (wrong,) = item.claims.examples
    assert (wrong.dataset, wrong.claimed, wrong.recomputed) == ("d1", "b", "a")


def test_noise_floor_by_hand() -> None:
    item = audit(
        board(
            [[0.8, 0.7], [0.80, 0.79], [0.5, 0.9], [2.0, 1.0], [0.8, 0.7]],
            test_size=np.array([100, 100, 100, 100, 0]),
        ),
        candidates=8,
    )
    floor = item.noise_floor
    assert (floor.system, floor.n, floor.left_out) == ("a", 3, 2)
    factor = np.sqrt(2 * np.log(8))
    assert floor.bound.median == pytest.approx(0.04 * factor)
    assert floor.bound.q75 == pytest.approx((0.04 + 0.05) / 2 * factor)
    # margins 0.1, 0.01 and -0.4 against bounds 0.0816, 0.0816 and 0.102
    assert floor.margin_below.estimate == pytest.approx(1 / 3)
    assert (floor.wins_below.estimate, floor.wins_below.n) == (0.5, 2)
    assert floor.median_margin == pytest.approx(0.055)
    assert floor.tie_ratio == pytest.approx(1e-6 / (0.04 * factor))
    assert floor.systems["b"].median == pytest.approx(np.sqrt(0.79 * 0.21 / 100) * factor)


def test_stored_candidates_give_the_noise_floor_and_unknown_ones_do_not() -> None:
    member = board(
        [[0.8, 0.7], [0.8, 0.7]],
        test_size=np.array([100, 100]),
        candidates=np.array([[20, 0], [0, 5]]),
    )
    floor = audit(member).noise_floor
    assert (floor.n, floor.left_out, floor.candidates.low) == (1, 1, 20.0)
    assert floor.systems["b"].n == 1
    assert audit(member, candidates=7).noise_floor.candidates.high == 7.0


def test_intervals_are_those_of_the_bootstrap_over_clusters() -> None:
    random = np.random.default_rng(0)
    score = random.random((40, 3))
    clusters = tuple(f"k{i % 15}" for i in range(40))
    group = tuple("xy"[i % 2] for i in range(40))
    item = audit(board(score, clusters=clusters, group=group), replicates=500, seed=3)
    won = (score.argmax(axis=1)[:, None] == np.arange(3)).astype(float)
    codes = [i % 15 for i in range(40)]
    everything = bootstrap(won, clusters=codes, replicates=500, seed=3)
    inside = np.where(np.array(group)[:, None] == "y", won, NAN)
    of_group = bootstrap(inside, clusters=codes, replicates=500, seed=3, missing="omit")
    for expected, found in (
        (everything, item.win_share), (of_group, item.groups["y"].win_share),
    ):  # fmt: skip
        for column, system in enumerate("abc"):
            share = found[system]
            assert share.estimate == pytest.approx(expected.estimate[column], rel=1e-12)
            assert share.low == pytest.approx(expected.low[column], abs=6e-9)
            assert share.high == pytest.approx(expected.high[column], abs=6e-9)
    assert everything.n == item.n_units == 15


def test_an_end_at_zero_is_zero() -> None:
    share = audit(demo_data().scoreboards["overtime"], replicates=2000).win_share["steady"]
    assert share.low == 0.0


@given(st.permutations(range(12)), st.sampled_from([1.0, 1000.0]))
@settings(max_examples=20, deadline=None)
def test_order_and_unit_do_not_matter(order: list[int], scale: float) -> None:
    score = np.random.default_rng(1).integers(0, 4, (12, 3)) / 4
    names = np.array([f"d{i}" for i in range(12)])
    first = audit(board(score, datasets=tuple(names)), replicates=1)
    other = audit(
        board(score[order] * scale, datasets=tuple(names[order])), tie=1e-6 * scale, replicates=1
    )
    assert shares(first.win_share) == shares(other.win_share)
    assert first.mean_rank == pytest.approx(other.mean_rank, rel=1e-14)
    assert first.head_to_head == other.head_to_head


def test_too_many_groups_are_no_strata() -> None:
    item = audit(board([[0.5, 0.4]] * 101, group=tuple(map(str, range(101)))), replicates=1)
    assert isinstance(item.groups, Skipped)
    assert "101" in item.groups.reason


def test_several_batches_of_slices_give_the_same_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    data = AuditData(scoreboards=demo_data().scoreboards)
    whole = audit_selection(data, replicates=50).to_frame()
    monkeypatch.setattr("auditkit.audits.selection.shares.MOST_CELLS", 1)
    parts = audit_selection(data, replicates=50).to_frame()
    # sums of other columns stand beside each column, which may round the last bit otherwise
    pd.testing.assert_frame_equal(whole, parts, rtol=1e-12, atol=1e-15)


def test_threads_and_repetition_do_not_change_a_bit() -> None:
    member = demo_data().scoreboards["overtime"]
    assert audit(member, threads=1) == audit(member, threads=3)


def test_keys_of_the_contract() -> None:
    item = audit(demo_data().scoreboards["overtime"], candidates=10).to_dict()
    assert item.keys() >= {
        "scoreboard", "n_datasets", "tie_tolerance", "win_share", "groups", "head_to_head",
        "mean_rank", "nominal_budget", "budget", "time_ratio", "matched", "deduplicated", "noise_floor", "reruns",
    }  # fmt: skip
    assert item["win_share"]["slow"].keys() >= {"estimate", "low", "high"}
    assert item["head_to_head"][0].keys() >= {
        "first", "second", "wins", "losses", "ties", "sign_test_p",
    }  # fmt: skip
    assert item["budget"]["slow"].keys() >= {
        "median", "mean", "p90", "max", "share_over_budget", "share_over_twice",
    }  # fmt: skip
    assert item["nominal_budget"].keys() == {"n", "median", "min", "max"}
    assert item["time_ratio"][0].keys() >= {"first", "second", "median"}
    assert item["matched"][0].keys() >= {"system", "against", "n", "win_share"}
    assert item["deduplicated"].keys() >= {"n", "win_share", "head_to_head"}


def test_settings_and_frame() -> None:
    result = audit_selection(demo_data(), replicates=20, tie=1e-4, missing="drop")
    assert result.stamp.settings["selection"] == {
        "tie": 1e-4, "candidates": None, "missing": "drop",
    }  # fmt: skip
    frame = result.to_frame()
    row = frame[(frame["part"] == "all") & (frame["name"] == "slow")]
    assert row.estimate.item() == result.items[0].win_share["slow"].estimate
    assert set(frame.kind) == {"win share", "bias"}
