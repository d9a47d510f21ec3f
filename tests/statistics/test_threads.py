"""Work in parts: every part once, the same for any number of threads; an error ends it early."""

from __future__ import annotations

import threading

import pytest

from auditkit.statistics.threads import run_parts


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_item_is_done_once_and_reported(threads: int) -> None:
    done = [0] * 23
    told: list[tuple[int, int]] = []

    def work(first: int, last: int) -> None:
        for i in range(first, last):
            done[i] += 1

    run_parts(work, 23, 5, threads, lambda done, total: told.append((done, total)))
    assert done == [1] * 23
    assert told == [(5, 23), (10, 23), (15, 23), (20, 23), (23, 23)]


def test_nothing_to_do() -> None:
    run_parts(lambda first, last: pytest.fail("called"), 0, 5, 2)


def test_an_interrupt_drops_what_has_not_begun() -> None:
    begun = []
    lock = threading.Lock()

    def work(first: int, last: int) -> None:
        with lock:
            begun.append(first)
        if first == 0:
            raise KeyboardInterrupt
        threading.Event().wait(0.01)

    with pytest.raises(KeyboardInterrupt):
        run_parts(work, 1000, 1, 2)
    assert len(begun) < 100
