"""Work split into fixed parts, run by any number of threads: the parts, not the threads, decide the bits."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def run_parts(work: Callable[[int, int], None], size: int, part: int, threads: int | None = None) -> None:
    """Call ``work(first, last)`` for consecutive parts of ``range(size)``, in threads.

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
    """
    bounds = [(first, min(first + part, size)) for first in range(0, size, part)]
    threads = min(threads or os.cpu_count() or 1, len(bounds))
    if threads <= 1:
        for first, last in bounds:
            work(first, last)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, first, last) for first, last in bounds]:
            done.result()
