"""One thread where matrices are thin: a second one costs more than it gives, and on a busy machine far more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import FeatureMap

__all__ = ["THIN", "elements", "is_jobs", "suited"]

THIN = 6_000_000
"""Elements of the feature or kernel matrix below which one thread is faster; tests/benchmarks/threads.py, two cores."""


def is_jobs(value: Any) -> bool:
    """Whether joblib takes it as a number of workers."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return value is None or (whole and value != 0)


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def elements(n: int, featuremap: FeatureMap) -> int:
    """Size of the matrix a fit works on: features are at most some thousand, a kernel matrix is n x n."""
    return n * (min(n, 1000) if issubclass(featuremap.gives, FeatureSpace) else n)


_lock = threading.Lock()
_inside = 0
_limit: Any = None


@contextmanager
def suited(elements: int) -> Iterator[None]:
    """Context with as many BLAS and OpenMP threads as matrices of so many elements are worth.

    The limit is one of the whole process: of fits in several threads the first sets it and the last takes it back,
    or they would restore each other's.
    """
    global _inside, _limit
    if elements >= THIN:
        yield
        return
    with _lock:
        if _inside == 0:
            _limit = _controller().limit(limits=1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()
