"""A limit of wall-clock time for a computation that reports its progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from clusterkit.core.progress import Report, listening

__all__ = ["Deadline", "deadline"]


@attrs.define(eq=False)
class Deadline:
    """Whether the block of a `deadline` was ended early.

    Parameters
    ----------
    passed : bool
        True once a progress report came after the time limit. Read it after the block.
    """

    passed: bool = False


class _OutOfTime(BaseException):
    """Leaves the block of one deadline. Derived from BaseException so that no ``except Exception`` stops it."""


@contextmanager
def deadline(seconds: float | None) -> Iterator[Deadline]:
    """Leave the block at its first progress report after a number of seconds.

    Nested deadlines end their own blocks only. State that the block has changed in place stays as it was at the
    report; nothing is raised outside the block, so check `Deadline.passed` afterwards.

    Parameters
    ----------
    seconds : float or None
        Time limit from the start of the block; 0 or less ends it at its first report, None never.

    Yields
    ------
    Deadline
        Its attribute `passed` says whether the block was ended early.

    Examples
    --------
    >>> from clusterkit.core.progress import Report, tell
    >>> with deadline(0.0) as limit:
    ...     tell(Report("search", 1, None))
    ...     print("not reached")
    >>> limit.passed
    True
    """
    limit = Deadline()
    if seconds is None:
        yield limit
        return
    end, signal = time.monotonic() + seconds, _OutOfTime()

    def check(report: Report) -> None:
        if time.monotonic() >= end:
            raise signal

    try:
        with listening(check):
            yield limit
    except _OutOfTime as caught:
        if caught is not signal:
            raise
        limit.passed = True
