"""Work split into fixed parts, run by any number of threads: the parts, not the threads, decide the bits."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def run_parts(
    work: Callable[[int, int], None],
    size: int,
    part: int,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Call ``work(first, last)`` for consecutive parts of ``range(size)``, in threads.

    An error or Ctrl-C drops the parts that have not begun and waits for those that have.

    Parameters
    ----------
    work
        Writes its part of the output; must release the GIL to gain from threads.
    size
        Items in all.
    part
        Items a part; must not depend on ``threads``.
    threads
        At most this many at once; by default one a core.
    progress
        Told from the calling thread how many items are done, and of how many.
    """
    bounds = [(first, min(first + part, size)) for first in range(0, size, part)]
    threads = min(threads or os.cpu_count() or 1, len(bounds))
    report = progress or (lambda done, total: None)
    if threads <= 1:
        for first, last in bounds:
            work(first, last)
            report(last, size)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        running = [(pool.submit(work, first, last), last) for first, last in bounds]
        for part_done, last in running:
            part_done.result()
            report(last, size)
    finally:
        pool.shutdown(cancel_futures=True)
