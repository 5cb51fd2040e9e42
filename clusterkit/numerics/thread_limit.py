"""One thread where matrices are thin: a second one costs more than it gives, and on a busy machine far more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["THIN", "suited"]

THIN = 6_000_000
"""Elements of the feature or kernel matrix below which one thread is faster; measured by tests/benchmarks/threads.py on
two cores."""


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _take_over() -> None:
    """Let the calling thread set the limit, whichever thread set one before.

    Newer versions of threadpoolctl let one thread set the threads of OpenBLAS, and leave undone what others ask for,
    without a word. The limit of a fit in one thread would then stay when a fit in another thread ends last.
    """
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


# the limit is one for the process: how many fits are inside it, and what removes it
_lock = threading.Lock()
_inside = 0
_limit: Any = None


@contextmanager
def suited(elements: int) -> Iterator[None]:
    """Context with as many BLAS and OpenMP threads as matrices of so many elements are worth.

    The limit holds for the whole process. Of fits in several threads the first sets the limit and the last removes it;
    otherwise they would restore each other's limits. A limit that a caller has set holds again afterwards.
    """
    global _inside, _limit
    if elements >= THIN:
        yield
        return
    with _lock:
        if _inside == 0:
            _take_over()
            _limit = _controller().limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _take_over()
                _limit.restore_original_limits()
                _take_over()  # nobody keeps it, so that a caller's limit can end
