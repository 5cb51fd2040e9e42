"""Intermediate values that several fits to the same samples have in common, computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["reuse", "reusing"]

T = TypeVar("T")

_stores: ContextVar[dict[tuple[int, Hashable], tuple[object, object]] | None] = ContextVar("stores", default=None)
"""Values by the identity of the samples and a key, with the samples, of the innermost block of `reusing`."""


@contextmanager
def reusing() -> Iterator[None]:
    """Let the fits inside the block share what they `reuse`; it is forgotten at the end of the block.

    Examples
    --------
    >>> from clusterkit.core.reuse import reuse, reusing
    >>> points = [3, 1, 2]
    >>> with reusing():
    ...     first = reuse(points, "sorted", lambda: sorted(points))
    ...     second = reuse(points, "sorted", lambda: sorted(points))
    >>> first is second, reuse(points, "sorted", lambda: None) is None
    (True, True)
    """
    token = _stores.set({})
    try:
        yield
    finally:
        _stores.reset(token)


def reuse(samples: object, key: Hashable, compute: Callable[[], T]) -> T:
    """The value of ``compute()``, or what it was for the same samples and key before in this block of `reusing`.

    Parameters
    ----------
    samples : object
        The array that the value is computed from. It is recognised as an object, not by its values, and must not be
        changed inside the block.
    key : hashable
        Names the computation and holds everything else that the value depends on.
    compute : callable
        Without arguments; must give the same value whenever it is called, and a value that nobody changes.
    """
    store = _stores.get()
    if store is None:
        return compute()
    place = (id(samples), key)
    if place not in store:
        store[place] = (samples, compute())  # the samples too: an object that lives on keeps its identity
    value: T = store[place][1]  # type: ignore[assignment]
    return value
