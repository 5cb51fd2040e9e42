"""The blocks of a pass on all cores, each the work of one thread, matrix products included."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import Context
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar, final

import attrs

from clusterkit._typing import Array
from clusterkit.numerics.threads import available, is_undivided, limited_threads, undivided

__all__ = ["each_block", "in_threads"]

Value = TypeVar("Value")

AHEAD = 2
"""Blocks that wait for each thread, so that no thread waits for the sum."""

FEW_ROWS = 2**15
"""Number of rows that take a millisecond or two, so that threads would cost more than they save."""
FEW_NUMBERS = 1_500_000
"""Numbers in fewer wide rows that take as long: 12 MB, read and multiplied with some ten columns."""


def each_block(
    function: Callable[[slice, Array], Value], blocks: Iterable[tuple[slice, Array]], n: int, width: int
) -> Iterator[tuple[slice, Value]]:
    """The function of every block of n rows with `width` features in memory, in the order of the blocks.

    Threads call it where the rows are many or wide enough, as they do in the passes of an engine. Products of matrices
    have one thread of BLAS in any case, so that their bits do not depend on the number of threads.
    """
    return (in_threads if n > FEW_ROWS or n * width > FEW_NUMBERS else _in_turn)(function, blocks)


def in_threads(
    function: Callable[[slice, Array], Value], blocks: Iterable[tuple[slice, Array]]
) -> Iterator[tuple[slice, Value]]:
    """The function of every block, in the order of the blocks.

    Several blocks at once use the cores better than several threads for one thin product. And the products do not
    depend on the number of threads: BLAS divides a matrix among its threads, and sums of other parts round differently.

    Parameters
    ----------
    function : callable
        Function of the row slice of a block and its data; several threads call it, each time in an empty context.
    blocks : iterable
        Row slices with their data. The calling thread asks for the next ones, and works with the others when enough of
        them wait.
    """
    if is_undivided():  # one of the threads of a pass already
        yield from _in_turn(function, blocks)
        return
    workers = available()
    todo: SimpleQueue[_Job[Value] | None] = SimpleQueue()
    awaited: deque[_Job[Value]] = deque()
    # an error that a notebook keeps also keeps the pass that it ended: its threads must not hold up the end of Python
    threads = [Thread(target=_work, args=(todo,), name="clusterkit-block", daemon=True) for _ in range(workers - 1)]
    with limited_threads(0):
        try:
            for thread in threads:
                thread.start()
            for rows, X in blocks:
                awaited.append(_Job(function, rows, X))
                todo.put(awaited[-1])
                while awaited and (not awaited[0].done.locked() or len(awaited) > AHEAD * workers):
                    yield _result(awaited.popleft(), todo)  # sums of many features need room: none waits longer
            while awaited:
                yield _result(awaited.popleft(), todo)
        finally:
            _end(threads, todo)


def _in_turn(
    function: Callable[[slice, Array], Value], blocks: Iterable[tuple[slice, Array]]
) -> Iterator[tuple[slice, Value]]:
    with limited_threads(0):
        for block, X in blocks:
            yield block, function(block, X)


@final
@attrs.define(eq=False)
class _Job(Generic[Value]):
    """A block to compute, with a lock that opens when it is done: a future costs more than the work on a thin block."""

    function: Callable[[slice, Array], Value]
    rows: slice
    X: Array | None
    done: Lock = attrs.field(factory=Lock, init=False)
    value: Value = attrs.field(init=False)
    error: BaseException | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.done.acquire()

    def run(self) -> None:
        """Compute the value in an empty context, so that it does not depend on the thread."""
        X, self.X = self.X, None
        try:
            assert X is not None, "a job is run once"
            self.value = Context().run(self.function, self.rows, X)
        except BaseException as error:
            self.error = error
        finally:
            self.done.release()


def _work(todo: SimpleQueue[_Job[Value] | None]) -> None:
    """Work loop of a thread: one job after the other, until the queue gives None."""
    with undivided():
        while (job := todo.get()) is not None:
            job.run()


def _result(job: _Job[Value], todo: SimpleQueue[_Job[Value] | None]) -> tuple[slice, Value]:
    """The rows and the value of a job; until it is done, the calling thread computes other jobs."""
    while not job.done.acquire(blocking=False):
        try:
            other = todo.get_nowait()
        except Empty:
            job.done.acquire()
            break
        if other is not None:
            with undivided():
                other.run()
            if isinstance(other.error, KeyboardInterrupt):
                raise other.error
    if job.error is not None:
        raise job.error
    return job.rows, job.value


def _end(threads: list[Thread], todo: SimpleQueue[_Job[Value] | None]) -> None:
    """Begin no further job, and wait for those that are running."""
    while not todo.empty():
        with suppress(Empty):
            todo.get_nowait()
    for _ in threads:
        todo.put(None)
    for thread in threads:
        if thread.ident is not None:  # it was started
            thread.join()
