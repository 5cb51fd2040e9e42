"""Context of running fits: limits of work, values that several fits share, and reports of progress.

`metered` limits the work of a computation, counted in kernel evaluations and thus the same on any machine.
`side_by_side` runs fits on all cores at once. Inside `reusing`, intermediate values that fits to the same samples have
in common are computed once. `listening` sends the reports of running fits to a progress bar or a hook of a plugin.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import TypeVar, cast

import attrs

from clusterkit.numerics.threads import in_threads

__all__ = [
    "Meter",
    "Report",
    "listening",
    "metered",
    "notify",
    "reuse",
    "reusing",
    "side_by_side",
    "spend",
]


@attrs.define(eq=False)
class Meter:
    """Time and work spent in the block of a `metered`, and whether its limit ended it. Read it after the block.

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
    >>> from clusterkit.samples.limits import metered, spend
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


T = TypeVar("T")


@attrs.define(eq=False)
class _Shared:
    """A value that fits share, with the samples that it belongs to: an object that lives on keeps its identity."""

    samples: object
    lock: threading.Lock = attrs.field(factory=threading.Lock)
    value: object = None
    is_known: bool = False


_stores: ContextVar[dict[tuple[int, Hashable], _Shared] | None] = ContextVar("stores", default=None)
"""Values by the identity of the samples and a key, of the innermost block of `reusing`."""


@contextmanager
def reusing() -> Iterator[None]:
    """Let the fits inside the block share what they `reuse`; it is forgotten at the end of the block.

    Examples
    --------
    >>> from clusterkit.samples.limits import reuse, reusing
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
        Function without arguments; must give the same value whenever it is called, and a value that nobody changes.
    """
    store = _stores.get()
    if store is None:
        return compute()
    shared = store.setdefault((id(samples), key), _Shared(samples))
    with shared.lock:  # a fit in another thread may be computing it
        if not shared.is_known:
            shared.value, shared.is_known = compute(), True
    value: T = shared.value  # type: ignore[assignment]
    return value


@attrs.frozen
class Report:
    """Progress of a fit.

    Parameters
    ----------
    stage : str
        Name of the running part: "loop", or the stage or driver with an inner loop.
    iteration : int
        Iterations done.
    max_iter : int or None
        The most iterations there can be; None if that is not known.
    objective : float or None
        Best objective of this iteration.
    active : int
        Starts that have not ended.
    """

    stage: str
    iteration: int
    max_iter: int | None
    objective: float | None = None
    active: int = 1


Listener = Callable[[Report], None]
"""Function that is called with each report."""
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


def notify(report: Report) -> None:
    """Send a report to everyone who listens."""
    for listener in _listeners.get():
        listener(report)


Task = TypeVar("Task")


def side_by_side(function: Callable[[Task], T], tasks: Iterable[Task], most: int | None = None) -> Iterator[T]:
    """The function of every task, such as a fit, in the order of the tasks, on all cores at once.

    Each task has one thread and the context of the caller: fits share what they `reuse`. Reports of fits in other
    threads reach nobody; those in the calling thread, which works too, do. Ctrl-C and errors end the other fits at
    their next report. Where work is `metered`, or a single thread is wanted, the tasks run one after the other, each
    with all threads that it asks for.

    Parameters
    ----------
    function : callable
        Called in several threads. What it returns must not depend on the other tasks.
    tasks : iterable
    most : int, optional
        Most threads to use; None: one for each core.
    """
    if _meters.get() or most == 1:
        yield from map(function, tasks)
        return
    caller, ended, errors = threading.get_ident(), threading.Event(), list[BaseException]()

    def check(report: Report | None = None) -> None:
        if ended.is_set():
            raise KeyboardInterrupt

    def work(context: Context, task: Task) -> T:
        check()
        listeners = context[_listeners] if threading.get_ident() == caller and _listeners in context else ()
        context.run(_listeners.set, (*listeners, check))
        try:
            return context.run(function, task)
        except BaseException as error:
            errors.append(error)
            ended.set()
            raise

    # warning filters belong to the process: what threads have left of each other's filters is undone at the end
    with warnings.catch_warnings():
        passed = in_threads(work, ((copy_context(), task) for task in tasks), most)
        try:
            for _, value in passed:
                yield value
        except KeyboardInterrupt:
            if errors:  # the first one ended the others
                raise errors[0] from None
            raise
        finally:
            ended.set()
            cast("Generator[object]", passed).close()
