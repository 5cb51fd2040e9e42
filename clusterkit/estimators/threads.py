"""One thread where matrices are thin: there a second thread costs more time than it saves."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from clusterkit.core.params import is_count
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import FeatureMap

__all__ = ["THIN", "elements", "is_jobs", "suited"]

THIN = 6_000_000
"""Elements of the feature or kernel matrix below which one thread is faster, measured on two cores by
tests/benchmarks/threads.py."""


def is_jobs(value: Any) -> bool:
    """Whether joblib takes a value as a number of workers: None, or an integer other than 0 (-1 means all cores)."""
    return value is None or (is_count(value, -sys.maxsize) and value != 0)


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def elements(n: int, featuremap: FeatureMap) -> int:
    """Elements of the matrix of a fit of n rows: n times at most 1000 features (their default), or n² kernel values."""
    return n * (min(n, 1000) if issubclass(featuremap.gives, FeatureSpace) else n)


_lock = threading.Lock()
_inside = 0
_limit: Any = None


@contextmanager
def suited(elements: int) -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread inside the context if matrices have fewer than `THIN` elements.

    The limit belongs to the whole process. Of several fits in parallel threads the first sets it and the last removes
    it; otherwise one fit would restore the limit that another one has set.
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
