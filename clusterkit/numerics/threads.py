"""Rows divided among threads, for compiled functions that release the interpreter lock.

These are plain threads, not numba's parallel loops: numba needs a threading layer that either must not be entered from
two threads at once or does not survive a fork.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

__all__ = ["available", "over_rows", "undivided", "wait_for"]

CHUNK = 4_000_000
"""Kernel values of one call: about 10 ms, so that Ctrl-C takes effect between calls."""
SMALLEST = 1_000_000
"""With fewer kernel values in all, about 3 ms, starting threads costs more time than they save."""

_of_this_thread = threading.local()
"""Whether `over_rows` leaves the work of a thread to it."""


def undivided() -> None:
    """Have `over_rows` start no threads in this thread: it is one of several that share the cores already.

    Each thread that starts takes memory for its stack and for what it allocates.
    """
    _of_this_thread.undivided = True


def available() -> int:
    """Number of cores this process may use; at most the value of the variable OMP_NUM_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


def over_rows(function: Callable[[int, int], object], n: int, work: int, threads: int | None = None) -> None:
    """Call ``function(start, stop)`` on ranges that cover the rows 0..n-1 once.

    Parameters
    ----------
    function : callable
        Writes its rows in place; the values it writes must not depend on the ranges.
    n : int
        Number of rows.
    work : int
        Cost of a row in kernel values, or in other steps of about a nanosecond.
    threads : int, optional
        Most threads to use; None: `available()`.
    """
    threads = available() if threads is None else threads
    threads = 1 if getattr(_of_this_thread, "undivided", False) else threads
    if threads == 1 or n * work < SMALLEST:
        rows = n if n * work < CHUNK else max(1, CHUNK // max(1, work))
        for start in range(0, n, max(1, rows)):
            function(start, min(n, start + rows))
        return
    rows = max(1, min(-(-n // threads), CHUNK // max(1, work)))
    with ThreadPoolExecutor(threads) as pool:
        wait_for([pool.submit(function, start, min(n, start + rows)) for start in range(0, n, rows)])


def wait_for(jobs: Sequence[Future[object]]) -> None:
    """Wait for all jobs; an exception of one, or Ctrl-C, cancels those that have not begun."""
    try:
        for job in jobs:
            job.result()
    except BaseException:
        for job in jobs:
            job.cancel()
        raise
