"""Every published figure of the Orcetra sweep (*Winning by Peeking*), to its printed digit."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from auditkit.audits.selection import audit_selection
from auditkit.checks.selection import check_selection
from auditkit.importers.scoreboard import import_scoreboard
from auditkit.results.scoreboard import HeadToHead, ScoreboardAudit
from auditkit.results.selection import SelectionResult
from auditkit.schema import AuditData
from tests.audits.orcetra import PARTIAL, RERUN, SWEEP, SYSTEMS, orcetra


def run(folder: Path, runs: tuple[str, ...], replicates: int = 200) -> SelectionResult:
    data = AuditData(scoreboards={"sixty_seconds": orcetra(folder, runs)})
    return audit_selection(data, candidates=40, replicates=replicates)


@pytest.fixture(scope="module")
def sweep(shared_data: Path) -> ScoreboardAudit:
    return run(shared_data, SWEEP).items[0]


@pytest.fixture(scope="module")
def with_rerun(shared_data: Path) -> SelectionResult:
    return run(shared_data, (*SWEEP, RERUN))


def percent(shares: dict) -> list[str]:
    values = [shares[name] for name in (*SYSTEMS, "tie")]
    return [f"{100 * getattr(x, 'estimate', x):.1f}" for x in values]


def pair(pairs: tuple[HeadToHead, ...], first: str, second: str) -> HeadToHead:
    return next(x for x in pairs if (x.first, x.second) == (first, second))


ALL = ["57.1", "21.6", "10.9", "10.3"]


def test_all_datasets(sweep: ScoreboardAudit) -> None:
    assert sweep.n_datasets == 513
    assert sweep.n_records == 513
    assert percent(sweep.win_share) == ALL


@pytest.mark.parametrize(
    ("group", "n", "shares"),
    [
        ("classification", 382, ["58.4", "17.5", "11.3", "12.8"]),
        ("regression", 131, ["53.4", "33.6", "9.9", "3.1"]),
    ],
)
def test_groups(sweep: ScoreboardAudit, group: str, n: int, shares: list[str]) -> None:
    assert sweep.groups[group].n == n
    assert percent(sweep.groups[group].win_share) == shares


def test_one_record_per_name(sweep: ScoreboardAudit) -> None:
    single = sweep.deduplicated
    assert single.n == 378
    assert single.kept_by == "size"
    assert percent(single.win_share) == ["57.4", "19.0", "12.2", "11.4"]
    flaml = pair(single.head_to_head, "orcetra", "flaml")
    autogluon = pair(single.head_to_head, "orcetra", "autogluon")
    assert (flaml.wins, flaml.losses, f"{flaml.sign_test_p:.1e}") == (287, 69, "1.0e-32")
    assert (autogluon.wins, autogluon.losses, f"{autogluon.sign_test_p:.1e}") == (
        255,
        90,
        "2.1e-19",
    )


@pytest.mark.parametrize(
    ("against", "n", "shares"),
    [
        ("flaml", 174, ["49.4", "23.0", "16.1", "11.5"]),
        ("autogluon", 65, ["43.1", "29.2", "20.0", "7.7"]),
        ("all", 63, ["44.4", "27.0", "20.6", "7.9"]),
    ],
)
def test_compute_matched(sweep: ScoreboardAudit, against: str, n: int, shares: list[str]) -> None:
    (found,) = [x for x in sweep.matched if x.against == against]
    assert (found.system, found.n) == ("orcetra", n)
    assert percent(found.win_share) == shares


@pytest.mark.parametrize(
    ("first", "second", "counts", "p"),
    [
        ("orcetra", "flaml", (393, 91, 29), "9.5e-46"),
        ("orcetra", "autogluon", (340, 135, 38), "1.9e-21"),
        ("autogluon", "flaml", (338, 147, 28), "2.3e-18"),
    ],
)
def test_head_to_head(
    sweep: ScoreboardAudit, first: str, second: str, counts: tuple[int, int, int], p: str
) -> None:
    found = pair(sweep.head_to_head, first, second)
    assert (found.wins, found.losses, found.ties) == counts
    assert f"{found.sign_test_p:.1e}" == p


def test_ranks_and_scores(sweep: ScoreboardAudit) -> None:
    assert [f"{sweep.mean_rank[s]:.2f}" for s in SYSTEMS] == ["1.51", "2.01", "2.48"]
    accuracy = sweep.mean_score["higher is better"]
    assert [f"{accuracy.mean[s]:.4f}" for s in SYSTEMS] == ["0.7494", "0.7320", "0.7179"]
    error = sweep.relative_error
    assert error.n == 127
    assert [f"{error.median[s]:.2f}" for s in SYSTEMS] == ["1.00", "1.02", "1.20"]
    assert [f"{error.geometric_mean[s]:.2f}" for s in SYSTEMS] == ["1.09", "1.74", "2.20"]


def test_seconds(sweep: ScoreboardAudit) -> None:
    assert [f"{sweep.budget[s].median:.0f}" for s in SYSTEMS] == ["120", "62", "70"]
    mine = sweep.budget["orcetra"]
    assert [f"{x:.0f}" for x in (mine.mean, mine.p90, mine.max)] == ["146", "219", "1351"]
    assert f"{mine.share_over_budget:.0%}" == "78%"
    assert f"{mine.share_over_twice:.0%}" == "50%"
    ratio = {(x.first, x.second): f"{x.median:.2f}" for x in sweep.time_ratio}
    assert ratio["orcetra", "flaml"] == "1.46"
    assert ratio["orcetra", "autogluon"] == "2.24"


def test_noise_bound(sweep: ScoreboardAudit) -> None:
    floor = sweep.noise_floor
    assert floor.system == "orcetra"
    assert floor.n == 382
    points = [f"{100 * x:.2f}" for x in (floor.bound.median, floor.bound.q25, floor.bound.q75)]
    assert points == ["1.30", "0.78", "1.65"]
    assert floor.tie_far_below


def test_rerun(with_rerun: SelectionResult) -> None:
    item = with_rerun.items[0]
    assert (item.n_records, item.n_datasets) == (644, 513)
    assert percent(item.win_share) == ALL
    (rerun,) = item.reruns
    assert (rerun.run, rerun.n) == (RERUN, 131)
    mine = rerun.systems["orcetra"]
    assert (mine.identical, mine.better, mine.worse) == (117, 3, 11)
    assert rerun.systems["autogluon"].worse == 88
    assert rerun.systems["flaml"].worse == 59
    assert [f"{x:.0f}" for x in (mine.seconds_before, mine.seconds_after)] == ["97", "146"]
    assert (rerun.wins_before["orcetra"], rerun.wins_after["orcetra"]) == (70, 91)
    assert (rerun.wins_before["autogluon"], rerun.wins_after["autogluon"]) == (44, 28)
    assert rerun.stable == ("orcetra",)
    assert rerun.remeasured == ("autogluon", "flaml")
    assert percent(rerun.merged_win_share) == ["61.2", "18.5", "9.9", "10.3"]
    assert rerun.splice


def test_warnings(with_rerun: SelectionResult) -> None:
    checks = check_selection(with_rerun)
    failed = {(c.id, c.subject.removeprefix("sixty_seconds").lstrip(": ")) for c in checks
              if c.status == "failed"}  # fmt: skip
    assert failed == {
        ("selection.budget_overrun", "orcetra"),
        ("selection.realised_time", "orcetra / autogluon"),
        ("selection.realised_time", "orcetra / flaml"),
        ("selection.tie_tolerance", ""),
        ("selection.margin", ""),
        ("selection.duplicates", ""),
        ("selection.splice", RERUN),
    }
    assert {c.severity for c in checks if c.status == "failed"} == {"warning"}
    (splice,) = [c for c in checks if c.id == "selection.splice"]
    assert "from 57.1% to 61.2%" in splice.reason
    assert "orcetra is identical on 117 of 131" in splice.reason


def test_a_partial_earlier_run_changes_nothing_when_it_comes_later(shared_data: Path) -> None:
    item = run(shared_data, (*SWEEP, PARTIAL)).items[0]
    assert percent(item.win_share) == ALL
    assert (item.reruns[0].run, item.reruns[0].n) == (PARTIAL, 25)


def test_the_whole_audit_takes_less_than_two_seconds_of_processor_time(shared_data: Path) -> None:
    run(shared_data, (*SWEEP, RERUN), replicates=10)  # compiles what is not cached yet
    start = time.process_time()
    run(shared_data, (*SWEEP, RERUN), replicates=10_000)
    assert time.process_time() - start < 2


def test_the_importer_gives_the_same_audit(shared_data: Path) -> None:
    imported = import_scoreboard(
        [shared_data / "orcetra" / f"{name}.jsonl" for name in (*SWEEP, RERUN)],
        dataset="dataset_id",
        cluster="name",
        group="task_type",
        score="scores.*",
        seconds="times.*",
        budget="budget_sec",
        size="n_samples",
        test_fraction=0.2,
        direction="task_type=classification:max,regression:min",
        claimed_winner="winner",
    )
    item = audit_selection(imported.data, candidates=40, replicates=200).items[0]
    expected = run(shared_data, (*SWEEP, RERUN)).items[0]
    for name in (
        "win_share", "groups", "mean_rank", "mean_score", "relative_error", "budget", "claims",
    ):  # fmt: skip
        assert getattr(item, name) == getattr(expected, name), name
    assert item.deduplicated.win_share == expected.deduplicated.win_share
    assert item.noise_floor.bound == expected.noise_floor.bound
    assert item.reruns[0].merged_win_share == expected.reruns[0].merged_win_share
    assert {x.against: x.win_share for x in item.matched} == {
        x.against: x.win_share for x in expected.matched
    }
