"""Each check of the selection audit passes on a sound scoreboard, and fails on one mutation of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from auditkit.audits.selection import audit_selection
from auditkit.checks.common import Check
from auditkit.checks.selection import check_selection
from auditkit.results.selection import SelectionResult
from auditkit.schema import AuditData, Scoreboard, Search

N = 20


def sound() -> dict[str, Any]:
    """Arrays of a scoreboard with which nothing is wrong."""
    score = np.full((2 * N, 2), 0.5)
    score[:, 0] += 0.2
    score[N:] = score[:N] - 0.01  # the second run moves both systems and no winner
    return {
        "score": score,
        "higher_is_better": np.ones(2 * N, dtype=bool),
        "datasets": tuple(f"d{i % N}" for i in range(2 * N)),
        "systems": ("a", "b"),
        "seconds": np.full((2 * N, 2), 50.0),
        "budget_seconds": np.full(2 * N, 60.0),
        "clusters": tuple(f"c{i % N}" for i in range(2 * N)),
        "test_size": np.full(2 * N, 100),
        "run": ("one",) * N + ("two",) * N,
        "claimed_winner": ("a",) * 2 * N,
    }


def checks(arrays: dict[str, Any], **options: Any) -> list[Check]:
    data = AuditData(scoreboards={"s": Scoreboard(**arrays)})
    return check_selection(audit_selection(data, replicates=10, tie=0.05, candidates=10), **options)


def failed(found: list[Check]) -> dict[str, tuple[str, str]]:
    return {c.id: (c.subject, c.severity) for c in found if c.status == "failed"}


def test_a_sound_scoreboard_passes_every_check() -> None:
    found = checks(sound())
    assert {c.status for c in found} == {"passed"}
    assert {c.id.removeprefix("selection.") for c in found} == {
        "claimed_winner", "ranks", "budget_overrun", "realised_time", "tie_tolerance", "margin",
        "duplicates", "splice",
    }  # fmt: skip


def claim(arrays: dict[str, Any]) -> None:
    arrays["claimed_winner"] = ("b", *arrays["claimed_winner"][1:])


def overrun(arrays: dict[str, Any]) -> None:
    arrays["seconds"][:3] = 121.0  # of 20: the 90th percentile lies among them


def more_time(arrays: dict[str, Any]) -> None:
    arrays["seconds"][:, 0] = 63.0


def coarse_tests(arrays: dict[str, Any]) -> None:
    arrays["test_size"][:] = 1


def close(arrays: dict[str, Any]) -> None:
    arrays["score"][:, 0] = arrays["score"][:, 1] + 0.06


def repeat(arrays: dict[str, Any]) -> None:
    arrays["clusters"] = ("c1", *arrays["clusters"][1:])


def splice(arrays: dict[str, Any]) -> None:
    arrays["score"][N:] = arrays["score"][:N]
    arrays["score"][N:, 1] += np.where(np.arange(N) < 11, 0.3, 0.0)


@pytest.mark.parametrize(
    ("mutate", "expected"),
    [
        (claim, {"selection.claimed_winner": ("s", "error")}),
        (overrun, {"selection.budget_overrun": ("s: b", "warning")}),
        (more_time, {"selection.realised_time": ("s: a / b", "warning")}),
        (coarse_tests, {"selection.tie_tolerance": ("s", "warning"),
                        "selection.margin": ("s", "warning")}),
        (close, {"selection.margin": ("s", "warning")}),
        (repeat, {"selection.duplicates": ("s", "warning")}),
    ],
)  # fmt: skip
def test_each_check_can_fail(mutate: Any, expected: dict[str, tuple[str, str]]) -> None:
    arrays = sound()
    mutate(arrays)
    assert failed(checks(arrays)) == expected


def test_a_splice_fails() -> None:
    arrays = sound()
    splice(arrays)
    found = failed(checks(arrays))
    assert found["selection.splice"] == ("s: two", "warning")


def test_the_loser_may_have_more_time() -> None:
    arrays = sound()
    arrays["seconds"][:, 1] = 100.0
    assert failed(checks(arrays)) == {}
    # and the winner is found whichever of the pair it is
    arrays["systems"] = ("b", "a")
    arrays["claimed_winner"] = ("b",) * 2 * N
    arrays["seconds"] = arrays["seconds"][:, ::-1]
    assert "selection.realised_time" in failed(checks(arrays))


def test_ranks_that_do_not_follow_from_the_pairs() -> None:
    data = AuditData(scoreboards={"s": Scoreboard(**sound())})
    result = audit_selection(data, replicates=10)
    (item,) = result.items
    wrong = replace(item, mean_rank={"a": 1.0, "b": 2.0 + 1e-9})
    found = check_selection(SelectionResult(result.stamp, (wrong,)))
    assert failed(found) == {"selection.ranks": ("s", "error")}
    assert failed(check_selection(SelectionResult(result.stamp, (wrong,)), tolerance=1e-8)) == {}


@pytest.mark.parametrize(
    ("option", "check"),
    [
        ({"overrun": 0.5}, "budget_overrun"),
        ({"time_ratio": 0.9}, "realised_time"),
        ({"far_below": 1.0}, "tie_tolerance"),
        ({"most_below": -0.1}, "margin"),
    ],
)
def test_thresholds_can_be_stated(option: dict[str, float], check: str) -> None:
    assert failed(checks(sound(), **option)).keys() == {f"selection.{check}"}


def test_what_is_not_stored_is_skipped() -> None:
    arrays = sound()
    bare = {k: arrays[k][:N] for k in ("score", "higher_is_better", "datasets")}
    data = AuditData(scoreboards={"s": Scoreboard(**bare, systems=("a", "b"))})
    found = {c.id: c for c in check_selection(audit_selection(data, replicates=10))}
    assert {i.removeprefix("selection.") for i, c in found.items() if c.status == "skipped"} == {
        "claimed_winner", "budget_overrun", "realised_time", "tie_tolerance", "margin",
        "duplicates", "splice",
    }  # fmt: skip
    assert found["selection.margin"].reason == "no test sizes are stored"


def search(reported: list[float] | None) -> SelectionResult:
    member = Search(
        validation_score=np.array([[0.9, 0.1], [0.9, 0.1]]),
        test_score=np.array([[0.5, 0.6], [0.5, 0.6]]),
        higher_is_better=np.array([True, True]),
        datasets=("x", "y"),
        reported_score=None if reported is None else np.array(reported),
    )
    return audit_selection(AuditData(searches={"s": member}), replicates=10)


@pytest.mark.parametrize(
    ("reported", "status"), [([0.5, 0.5], "passed"), ([0.5, 0.6], "failed"), (None, "skipped")]
)
def test_peeking(reported: list[float] | None, status: str) -> None:
    (check,) = check_selection(search(reported))
    assert (check.id, check.subject, check.severity) == ("selection.peeking", "s", "warning")
    assert check.status == status
