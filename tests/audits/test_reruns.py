"""Second runs of the same datasets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auditkit.audits.selection import audit_selection, compare_scoreboards
from auditkit.errors import SchemaError
from auditkit.results.common import Skipped
from auditkit.results.scoreboard import Rerun
from auditkit.schema import AuditData, Scoreboard

NAN = np.nan
FIRST = [[0.6, 0.5, 0.4], [0.5, 0.6, 0.4], [0.5, 0.7, 0.4]]


def board(score: Any, datasets: str, run: tuple[str, ...] | None = None, **more: Any) -> Scoreboard:
    score = np.array(score)
    more = {"higher_is_better": np.ones(len(score), dtype=bool), **more}
    return Scoreboard(
        score=score,
        datasets=tuple(datasets),
        systems=more.pop("systems", ("a", "b", "c")),
        run=run,
        **more,
    )


def rerun(again: Any, datasets: str = "xyz", **more: Any) -> Rerun:
    """The second run of FIRST, both within one scoreboard."""
    runs = ("one",) * 3 + ("two",) * len(datasets)
    member = board(FIRST + again, "xyz" + datasets, runs, **more)
    (found,) = audit_selection(AuditData(scoreboards={"s": member}), replicates=10).items[0].reruns
    return found


def test_a_splice() -> None:
    found = rerun([[0.6, 0.4, 0.4], [0.5, 0.4, 0.3], [0.5, 0.8, 0.4]])
    assert (found.run, found.against, found.n) == ("two", ("one",), 3)
    a, b, c = (found.systems[s] for s in "abc")
    assert (a.n, a.identical, a.better, a.worse, a.share_identical) == (3, 3, 0, 0, 1.0)
    assert (b.identical, b.better, b.worse) == (0, 1, 2)
    assert (c.identical, c.better, c.worse, c.share_identical) == (2, 0, 1, 2 / 3)
    assert found.stable == ("a", "c")
    assert found.remeasured == ("b",)
    assert found.wins_before == {"a": 1, "b": 2, "c": 0, "tie": 0}
    assert found.wins_after == {"a": 2, "b": 1, "c": 0, "tie": 0}
    assert found.win_share == pytest.approx({"a": 1 / 3, "b": 2 / 3, "c": 0, "tie": 0})
    assert found.merged_win_share == pytest.approx({"a": 2 / 3, "b": 1 / 3, "c": 0, "tie": 0})
    assert found.splice


@pytest.mark.parametrize(
    "again",
    [
        FIRST,  # nothing moved
        [[0.6, 0.51, 0.4], [0.5, 0.61, 0.4], [0.5, 0.71, 0.4]],  # moved, and the shares did not
        [[0.1, 0.2, 0.3], [0.2, 0.3, 0.41], [0.3, 0.4, 0.5]],  # everything moved
        [[0.5, 0.6, 0.4], [0.6, 0.5, 0.4], [0.5, 0.7, 0.4]],  # two winners swap places
    ],
)
def test_no_splice(again: Any) -> None:
    assert not rerun(again).splice


def test_what_the_second_run_does_not_hold_stays_as_it_was() -> None:
    found = rerun([[NAN, 0.7, NAN], [NAN, 0.3, NAN]], "xy")
    assert found.systems["a"].vanished == 2
    assert found.systems["a"].share_identical == Skipped("no dataset with a score in both runs")
    assert found.stable == ("a", "c")
    assert found.wins_after == {"a": 1, "b": 1, "c": 0, "tie": 0}
    assert not found.splice
    assert rerun([[NAN, 0.1, NAN], [NAN, 0.3, NAN]], "xy").splice


def test_a_score_that_appears() -> None:
    first = [[0.6, NAN, 0.4], [0.6, NAN, 0.4]]
    member = board([*first, [0.6, 0.7, 0.4], [0.6, 0.5, 0.4]], "xyxy", ("one", "one", "two", "two"))
    (found,) = audit_selection(AuditData(scoreboards={"s": member}), replicates=10).items[0].reruns
    assert (found.systems["b"].n, found.systems["b"].appeared) == (0, 2)
    assert found.remeasured == ("b",)
    assert found.splice


def test_seconds_before_and_after() -> None:
    seconds = np.array([[1.0, 2, 3], [3, 2, 1], [9, 9, 9], [5, NAN, 1], [7, NAN, 1]])
    found = rerun(FIRST[:2], "xy", seconds=seconds)
    assert (found.systems["a"].seconds_before, found.systems["a"].seconds_after) == (2.0, 6.0)
    assert found.systems["a"].seconds_ratio == (5 / 1 + 7 / 3) / 2
    assert isinstance(found.systems["b"].seconds_after, Skipped)
    assert isinstance(found.systems["b"].seconds_ratio, Skipped)


def test_runs_that_share_no_dataset_are_no_reruns() -> None:
    member = board(FIRST, "xyz", ("one", "two", "two"))
    assert audit_selection(AuditData(scoreboards={"s": member})).items[0].reruns == ()


def test_every_repeating_run_is_compared_with_the_first_records() -> None:
    member = board([*FIRST, FIRST[0], FIRST[1], FIRST[0]], "xyzxyx", tuple("112334"))
    found = audit_selection(AuditData(scoreboards={"s": member})).items[0].reruns
    assert [(x.run, x.against, x.n) for x in found] == [("3", ("1",), 2), ("4", ("1",), 1)]


def test_another_orientation_is_refused() -> None:
    higher = np.array([True, True, True, False])
    with pytest.raises(SchemaError, match="another orientation"):
        rerun(FIRST[:1], "x", higher_is_better=higher)


def test_two_scoreboards_compare_as_two_runs_of_one() -> None:
    again = [[0.6, 0.4, 0.4], [0.5, 0.4, 0.3]]
    inside = rerun(again, "xy")
    outside = compare_scoreboards(
        board(FIRST, "xyz"), board(again[::-1], "yx"), names=("one", "two")
    )
    assert outside == inside


def test_systems_are_matched_by_name() -> None:
    second = board([[0.1, 0.9], [0.3, 0.9]], "xz", systems=("b", "new"))
    found = compare_scoreboards(board(FIRST, "xyz"), second)
    assert (found.run, found.against) == ("second", ("first",))
    assert found.systems["b"].worse == 2
    assert found.systems["a"].vanished == 2
    assert found.wins_after == {"a": 2, "b": 0, "c": 0, "tie": 0}


def test_boards_without_a_common_dataset() -> None:
    with pytest.raises(SchemaError, match="without a common dataset"):
        compare_scoreboards(board(FIRST, "xyz"), board(FIRST, "uvw"))
