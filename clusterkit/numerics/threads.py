"""Rows shared out over threads, for compiled functions that release the interpreter lock.

Plain threads and not numba's parallel loops: those need a threading layer that either may not be entered from two
threads at once or does not survive a fork.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["available", "over_rows"]

# Kernel values in one go: some 10 ms, so that Ctrl-C is heard; below two of them threads cost more than they give.
CHUNK = 4_000_000
SMALLEST = 1_000_000


def available() -> int:
    """Cores this process may use, no more than OMP_NUM_THREADS says."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


def over_rows(function: Callable[[int, int], object], n: int, work: int, threads: int | None = None) -> None:
    """Call ``function(start, stop)`` on chunks that cover rows 0..n-1.

    Parameters
    ----------
    function : callable
        Writes its rows in place; what it writes must not depend on the chunks.
    n : int
    work : int
        Kernel values, or steps of about a nanosecond, that one row costs.
    threads : int, optional
        Most threads; None: `available()`.
    """
    threads = available() if threads is None else threads
    if threads == 1 or n * work < SMALLEST:
        rows = n if n * work < CHUNK else max(1, CHUNK // max(1, work))
        for start in range(0, n, max(1, rows)):
            function(start, min(n, start + rows))
        return
    rows = max(1, min(-(-n // threads), CHUNK // max(1, work)))
    with ThreadPoolExecutor(threads) as pool:
        jobs = [pool.submit(function, start, min(n, start + rows)) for start in range(0, n, rows)]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            for job in jobs:
                job.cancel()
            raise
