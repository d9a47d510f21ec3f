"""The null floor: threads, sources of different depth, what is left out; the composition sweep."""

from __future__ import annotations

import numpy as np
import pytest

from auditkit.errors import StatisticsError, UsageError
from auditkit.statistics.composition import SHARES, composition_sweep
from auditkit.statistics.null_floor import choose_sources, null_floor, null_gains
from auditkit.statistics.workload import as_workload


def ragged(seed: int = 1, depths: tuple[int, ...] = (40, 61, 52, 40)) -> np.ndarray:
    random = np.random.default_rng(seed)
    out = np.full((len(depths), max(depths)), np.nan)
    for i, depth in enumerate(depths):
        out[i, :depth] = random.lognormal(2, 0.5, depth)
    return out


@pytest.mark.parametrize("estimator", ["exact", "blocks", "replay"])
def test_threads_and_the_choice_of_sources_change_no_bit(estimator: str) -> None:
    workload = as_workload(ragged())
    told: list[tuple[int, int]] = []
    one = null_gains(
        workload, 10, estimator, repetitions=7, seed=3, threads=1,  # type: ignore[arg-type]
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    four = null_gains(workload, 10, estimator, repetitions=7, seed=3, threads=4)  # type: ignore[arg-type]
    few = null_gains(workload, 10, estimator, repetitions=7, seed=3, sources=np.array([3, 1]))  # type: ignore[arg-type]
    assert one.tobytes() == four.tobytes()
    assert few.tobytes() == one[[3, 1]].tobytes()
    assert one.shape == (4, 7)
    assert np.isfinite(one).all()
    assert (one.mean(axis=1) > 0).all()
    assert told[-1] == (28, 28)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_large_workload_is_cut_into_parts_of_a_few_repetitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workload = as_workload(ragged())
    whole = null_gains(workload, 10, repetitions=7, seed=3)
    monkeypatch.setattr(
        "auditkit.statistics.null_floor._ROWS", 12
    )  # three workloads of four instances a part
    assert null_gains(workload, 10, repetitions=7, seed=3).tobytes() == whole.tobytes()


def test_a_table_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = as_workload(ragged())
    whole = null_gains(workload, 10, repetitions=7, seed=3)
    monkeypatch.setattr("auditkit.statistics.null_floor._TABLE", 200)
    assert null_gains(workload, 10, repetitions=7, seed=3).tobytes() == whole.tobytes()


def test_depth_and_size_can_be_others_than_stored() -> None:
    workload = as_workload(ragged())
    gains = null_gains(workload, 10, repetitions=30, n=6, depth=400, seed=3)
    assert np.median(gains) < np.median(null_gains(workload, 10, repetitions=30, n=6, seed=3)) / 2
    with pytest.raises(UsageError):
        null_gains(workload, 10, depth=19)
    with pytest.raises(UsageError):
        null_gains(workload, 21)
    with pytest.raises(UsageError):
        null_gains(workload, 10, "median")  # type: ignore[arg-type]


def test_the_floor_is_read_off_the_sources() -> None:
    gains = np.arange(1.0, 101)[np.newaxis] * np.array([[1.0], [2.0], [4.0]])
    gains = np.concatenate([gains, np.full((1, 100), np.nan)])
    floor = null_floor(gains)
    # 95th percentiles by linear interpolation: 95.05 times 1, 2, 4; p90 of three is 0.2 * 2 + 0.8 * 4
    assert floor.median == pytest.approx(190.1)
    assert floor.p90 == pytest.approx(95.05 * 3.6)
    assert (floor.sources, floor.solved_sources) == (3, 1)
    # above 190.1: none of the first, 5 of the second, 53 of the third
    assert floor.false_alarms_median == pytest.approx(58 / 300)
    assert floor.false_alarms_p90 == pytest.approx((100 - int(95.05 * 3.6 / 4)) / 300)


def test_a_source_that_is_ever_solved_does_not_count() -> None:
    solved = np.zeros((2, 40))
    solved[1] = np.random.default_rng(2).lognormal(0, 1, 40)
    gains = null_gains(as_workload(solved), 10, repetitions=5)
    assert np.isnan(gains[0]).all()
    assert null_floor(gains).solved_sources == 1
    assert null_floor(gains[:1]).sources == 0
    assert np.isnan(null_floor(gains[:1]).median)


def test_sources_are_chosen_by_seed_in_stored_order() -> None:
    workload = as_workload(np.ones((30, 4)))
    assert choose_sources(workload, None, 1).tolist() == list(range(30))
    some = choose_sources(workload, 10, 1)
    assert len(set(some.tolist())) == 10
    assert some.tolist() == sorted(some.tolist())
    assert some.tolist() != choose_sources(workload, 10, 2).tolist()


def test_compositions_hold_the_shares_asked_for() -> None:
    labels = ["wide"] * 6 + ["narrow"] * 9
    random = np.random.default_rng(4)
    rows = np.concatenate([random.exponential(9, (6, 60)), random.exponential(1, (9, 60))])
    found = composition_sweep(
        as_workload(rows), labels, "wide", 10, "exact",
        compositions=8, seed=1, split_seed=2, ordering_seed=3,
    )  # fmt: skip
    assert [c.share for c in found] == list(SHARES)
    assert [c.with_label for c in found] == [0, 2, 3, 4, 6]
    assert {c.n for c in found} == {6}
    # a mixture of wide and narrow is worth spending unevenly on, either alone is not
    means = [c.d_in.mean() for c in found]
    assert min(means[1:4]) > 3 * max(means[0], means[4])
    # all six wide instances are one and the same workload
    assert len(set(found[-1].d_in.tolist())) == 1


def test_compositions_need_two_of_each() -> None:
    with pytest.raises(StatisticsError):
        composition_sweep(
            as_workload(np.ones((4, 40))), ["a", "b", "b", "b"], "a", 5, "exact",
            compositions=1, seed=1, split_seed=2, ordering_seed=3,
        )  # fmt: skip
