"""Reports of a running fit, for a progress bar, a hook of a plugin, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import attrs

__all__ = ["Report", "listening", "tell"]


@attrs.frozen
class Report:
    """Where a fit stands.

    Parameters
    ----------
    stage : str
        What is running: "loop", or the name of a stage or driver with an inner loop.
    turn : int
        Iterations done.
    max_turns : int or None
        The most iterations there can be; None if that is not known.
    objective : float or None
        Best objective of this iteration.
    active : int
        Starts that have not ended.
    """

    stage: str
    turn: int
    max_turns: int | None
    objective: float | None = None
    active: int = 1


Listener = Callable[[Report], None]
"""What is called with each report."""
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())
"""The listeners of the running fit, for each thread its own."""


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send the reports of all fits inside the block to `listener`."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def tell(report: Report) -> None:
    """Send a report to everyone who listens."""
    for listener in _listeners.get():
        listener(report)
