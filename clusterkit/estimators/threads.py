"""One thread where matrices are thin: a second one costs more than it gives, and on a busy machine far more."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

__all__ = ["THIN", "suited"]

THIN = 400_000
"""Elements of the feature or kernel matrix below which one thread is faster (measured, see tests/benchmarks)."""


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def suited(elements: int) -> AbstractContextManager[Any]:
    """Context with as many BLAS and OpenMP threads as matrices of so many elements are worth."""
    if elements >= THIN:
        return nullcontext()
    limit: AbstractContextManager[Any] = _controller().limit(limits=1)
    return limit
