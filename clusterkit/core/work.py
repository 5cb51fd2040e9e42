"""A limit of work, in kernel evaluations, for a computation that counts what it does: the same on any machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import attrs

__all__ = ["Meter", "metered", "spend"]


@attrs.define(eq=False)
class Meter:
    """What the block of a `metered` has spent, and whether its limit ended it. Read it after the block.

    Parameters
    ----------
    limit : int or None
        Most kernel evaluations; None sets no limit.
    spent : int
        Kernel evaluations of the block so far.
    passed : bool
        Whether the block was ended early.
    """

    limit: int | None
    spent: int = 0
    passed: bool = False


class _OutOfWork(BaseException):
    """Leaves the block of one meter. Derived from BaseException so that no ``except Exception`` stops it."""


_meters: ContextVar[tuple[tuple[Meter, _OutOfWork], ...]] = ContextVar("meters", default=())
"""The meters of the running computation, the outermost first, for each thread its own."""


@contextmanager
def metered(limit: int | None) -> Iterator[Meter]:
    """Count what the block spends, and leave it where that exceeds a limit.

    Nested meters count the same work, and each ends its own block only. State that the block has changed in place stays
    as it was; nothing is raised outside the block, so check `Meter.passed` afterwards. The counts are numbers of kernel
    evaluations, which depend on the data alone, so that a limit cuts at the same place whatever the clock says.

    Parameters
    ----------
    limit : int or None
        Most kernel evaluations; the block is left at the first `spend` that exceeds them. None: no limit.

    Yields
    ------
    Meter

    Examples
    --------
    >>> from clusterkit.core.work import metered, spend
    >>> with metered(100) as meter:
    ...     spend(80)
    ...     spend(80)
    ...     print("not reached")
    >>> meter.passed, meter.spent
    (True, 160)
    """
    meter, signal = Meter(limit), _OutOfWork()
    token = _meters.set((*_meters.get(), (meter, signal)))
    try:
        yield meter
    except _OutOfWork as caught:
        if caught is not signal:
            raise
        meter.passed = True
    finally:
        _meters.reset(token)


def spend(evaluations: int) -> None:
    """Count kernel evaluations, or other steps of about their cost, with every meter around this call."""
    meters = _meters.get()
    for meter, _ in meters:
        meter.spent += evaluations
    for meter, signal in meters:
        if meter.limit is not None and meter.spent > meter.limit:
            raise signal
