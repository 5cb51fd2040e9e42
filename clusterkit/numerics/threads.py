"""Rows divided among threads, for compiled functions that release the interpreter lock; blocks of rows on all cores.

These are plain threads, not numba's parallel loops: numba needs a threading layer that either must not be entered from
two threads at once or does not survive a fork. Products of thin matrices get one thread (`suited`): a second one costs
more than it gives, and on a busy machine far more.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar, final

import attrs

Value = TypeVar("Value")
Key = TypeVar("Key")
Data = TypeVar("Data")

CHUNK = 4_000_000
"""Kernel values of one call: about 10 ms, so that Ctrl-C takes effect between calls."""
SMALLEST = 1_000_000
"""With fewer kernel values in all, about 3 ms, starting threads costs more time than they save."""

SHARES = 8
"""Ranges of a pass for each thread of a pool, so that none of them waits long for the last one."""
LEAST_ROWS = 4096
"""Rows of a range below which handing it out would cost as much as the rows."""

_of_this_thread = threading.local()
"""Whether `over_rows` leaves the work of a thread to it."""


@contextmanager
def undivided() -> Iterator[None]:
    """Context in which `over_rows` starts no threads for this thread, which shares the cores with others already.

    Each thread that starts takes memory for its stack and its allocations.
    """
    before = is_undivided()
    _of_this_thread.undivided = True
    try:
        yield
    finally:
        _of_this_thread.undivided = before


def is_undivided() -> bool:
    """Whether this thread is inside `undivided`."""
    return bool(getattr(_of_this_thread, "undivided", False))


_ignored: ContextVar[tuple[type[Warning], ...]] = ContextVar("ignored", default=())
"""Categories of warnings that nobody hears of here; a copy of the context takes them along."""


class _Here(type):
    """The class of `_IgnoredHere`, whose subclasses are what the calling context ignores."""

    def __subclasscheck__(cls, other: type) -> bool:
        return cls is other or issubclass(other, _ignored.get())


class _IgnoredHere(Warning, metaclass=_Here):
    """Category of a filter of warnings that holds inside `ignoring` alone."""


def _filter_here() -> None:
    """Put the filter before all others; it stays, and matches nothing outside `ignoring`."""
    if not warnings.filters or warnings.filters[0][2] is not _IgnoredHere:
        warnings.simplefilter("ignore", _IgnoredHere)


@contextmanager
def ignoring(category: type[Warning]) -> Iterator[None]:
    """Context in which this thread, and the tasks that it runs by `side_by_side`, ignore warnings of a category.

    The block ``warnings.catch_warnings()`` restores the filters of the process, so that one thread would undo, or
    leave behind, what another one has set meanwhile.
    """
    token = _ignored.set((*_ignored.get(), category))
    _filter_here()
    try:
        yield
    finally:
        _ignored.reset(token)


def available() -> int:
    """Number of cores this process may use; at most the value of the variable OMP_NUM_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


def over_rows(function: Callable[[int, int], object], n: int, work: int, threads: int | None = None) -> None:
    """Call ``function(start, stop)`` on ranges that cover the rows 0..n-1 once.

    Parameters
    ----------
    function : callable
        Writes its rows in place; the values it writes must not depend on the ranges.
    n : int
        Number of rows.
    work : int
        Cost of a row in kernel values, or in other steps of about a nanosecond.
    threads : int, optional
        Most threads to use; None: `available()`.
    """
    with thread_pool(1 if n * work < SMALLEST else threads) as over:
        over(function, 0, n, work)


ParallelFor: TypeAlias = Callable[[Callable[[int, int], object], int, int, int], None]
"""Called with ``function, start, stop, work``: calls ``function`` on ranges that cover the rows from `start` to `stop`;
`work` is the cost of a row in nanoseconds, as in `over_rows`."""


def serial_for(function: Callable[[int, int], object], begin: int, end: int, work: int) -> None:
    """A pass by the calling thread alone, in one range: a `ParallelFor` of one."""
    function(begin, end)


@contextmanager
def thread_pool(threads: int | None = None) -> Iterator[ParallelFor]:
    """Threads for many short passes over rows: started once, and the thread that asks for a pass is one of them.

    The values that a function writes must not depend on the ranges. Yields the function that makes a pass; `threads` is
    the largest number of them, `available()` if None.
    """
    threads = available() if threads is None else threads
    threads = 1 if is_undivided() else threads
    pool = ThreadPoolExecutor(threads - 1, "clusterkit-rows") if threads > 1 else None

    def over(function: Callable[[int, int], object], begin: int, end: int, work: int) -> None:
        most = max(1, CHUNK // max(1, work))
        n, shares = end - begin, SHARES * threads if threads > 1 else 1
        # few rows that cost much are worth all threads
        least = min(LEAST_ROWS, -(-n // threads)) if n * work >= SMALLEST else LEAST_ROWS
        rows = min(most, max(least, -(-n // shares)))
        starts = list(range(begin, end, rows))[::-1]

        def take() -> object:
            while True:
                try:
                    start = starts.pop()  # one thread at a time gets each
                except IndexError:
                    return None
                function(start, min(end, start + rows))

        jobs: list[Future[object]] = []
        if pool is not None:
            jobs += [pool.submit(take) for _ in range(min(threads, len(starts)) - 1)]
        try:
            take()
        finally:
            starts.clear()  # after an error or Ctrl-C nobody begins another range
            wait_for(jobs)

    try:
        yield over
    finally:
        if pool is not None:
            pool.shutdown()


def wait_for(jobs: Sequence[Future[object]]) -> None:
    """Wait for all jobs; an exception of one, or Ctrl-C, cancels those that have not begun."""
    try:
        for job in jobs:
            job.result()
    except BaseException:
        for job in jobs:
            job.cancel()
        raise


THIN = 6_000_000
"""Elements of the feature or kernel matrix below which one thread is faster; measured by
`tests/benchmarks/cores.py --thin` on two cores."""


FEATURES = 1000
"""Largest number of features of a row that count in an estimate: the default of the feature map `elm`."""


def estimated_elements(n: int) -> int:
    """Elements of the matrix of features of a fit of n rows, at most `FEATURES` of each.

    Examples
    --------
    >>> estimated_elements(200), estimated_elements(20_000)
    (40000, 20000000)
    """
    return n * min(n, FEATURES)


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _take_over() -> None:
    """Let the calling thread set the limit, whichever thread set one before.

    Newer versions of threadpoolctl let only one thread set the threads of OpenBLAS, and ignore the requests of others
    without a warning. The limit of a fit in one thread would then stay when a fit in another thread ends last.
    """
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


# the limit is one for the whole process: number of fits inside it, and the object that removes it
_lock = threading.Lock()
_inside = 0
_limit: Any = None


@contextmanager
def limited_threads(elements: int) -> Iterator[None]:
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
                _take_over()  # no thread owns the limit afterwards, so that a caller's limit can end


AHEAD = 2
"""Blocks that wait for each thread, so that no thread waits for the sum."""

FEW_ROWS = 2**15
"""Number of rows that take a millisecond or two, so that threads would cost more than they save."""
FEW_NUMBERS = 1_500_000
"""Numbers in fewer wide rows that take as long: 12 MB, read and multiplied with some ten columns."""


def each_block(
    function: Callable[[Key, Data], Value], blocks: Iterable[tuple[Key, Data]], n: int, width: int
) -> Iterator[tuple[Key, Value]]:
    """The function of every block of n rows with `width` features in memory, in the order of the blocks.

    Threads call it where the rows are many or wide enough, as they do in the passes of an engine. Products of matrices
    have one thread of BLAS in any case, so that their bits do not depend on the number of threads.
    """
    return (in_threads if n > FEW_ROWS or n * width > FEW_NUMBERS else _in_turn)(function, blocks)


def in_threads(
    function: Callable[[Key, Data], Value], blocks: Iterable[tuple[Key, Data]], most: int | None = None
) -> Iterator[tuple[Key, Value]]:
    """The function of every block, in the order of the blocks.

    Several blocks at once use the cores better than several threads for one thin product. And the products do not
    depend on the number of threads: BLAS divides a matrix among its threads, and sums of other parts round differently.

    Parameters
    ----------
    function : callable
        Function of the key of a block, such as its row slice, and its data; several threads call it, each time in an
        empty context.
    blocks : iterable
        Keys with their data. The calling thread asks for the next ones, and works with the others when enough of them
        wait.
    most : int, optional
        Most threads to use; None: `available()`.
    """
    if is_undivided():  # one of the threads of a pass already
        yield from _in_turn(function, blocks)
        return
    workers = available() if most is None else max(1, min(most, available()))
    todo: SimpleQueue[_Job[Key, Data, Value] | None] = SimpleQueue()
    awaited: deque[_Job[Key, Data, Value]] = deque()
    # an error that a notebook keeps also keeps the pass that it ended: its threads must not hold up the end of Python
    work = partial(threading.Thread, target=_work, args=(todo,), name="clusterkit-block", daemon=True)
    threads = [work() for _ in range(workers - 1)]
    _filter_here()  # so that all filters that these threads may restore begin with it
    with limited_threads(0):
        try:
            for thread in threads:
                thread.start()
            for key, X in blocks:
                awaited.append(_Job(function, key, X))
                todo.put(awaited[-1])
                while awaited and (not awaited[0].done.locked() or len(awaited) > AHEAD * workers):
                    yield _result(awaited.popleft(), todo)  # sums of many features need room: none waits longer
            while awaited:
                yield _result(awaited.popleft(), todo)
        finally:
            _end(threads, todo)


def _in_turn(function: Callable[[Key, Data], Value], blocks: Iterable[tuple[Key, Data]]) -> Iterator[tuple[Key, Value]]:
    with limited_threads(0):
        for block, X in blocks:
            yield block, function(block, X)


@final
@attrs.define(eq=False)
class _Job(Generic[Key, Data, Value]):
    """A block to compute, with a lock that opens when it is done: a future costs more than the work on a thin block."""

    function: Callable[[Key, Data], Value]
    key: Key
    X: Data | None
    done: threading.Lock = attrs.field(factory=threading.Lock, init=False)
    value: Value = attrs.field(init=False)
    error: BaseException | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.done.acquire()

    def run(self) -> None:
        """Compute the value in an empty context, so that it does not depend on the thread."""
        X, self.X = self.X, None
        try:
            assert X is not None, "a job is run once"
            self.value = Context().run(self.function, self.key, X)
        except BaseException as error:
            self.error = error
        finally:
            self.done.release()


def _work(todo: SimpleQueue[_Job[Key, Data, Value] | None]) -> None:
    """Work loop of a thread: one job after the other, until the queue gives None."""
    # OpenMP has a number of threads for each thread, BLAS one for the process
    with undivided(), _controller().limit(limits=1, user_api="openmp"):
        while (job := todo.get()) is not None:
            job.run()


def _result(job: _Job[Key, Data, Value], todo: SimpleQueue[_Job[Key, Data, Value] | None]) -> tuple[Key, Value]:
    """The key and the value of a job; until it is done, the calling thread computes other jobs."""
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
    return job.key, job.value


def _end(threads: list[threading.Thread], todo: SimpleQueue[_Job[Key, Data, Value] | None]) -> None:
    """Begin no further job, and wait for those that are running."""
    while not todo.empty():
        with suppress(Empty):
            todo.get_nowait()
    for _ in threads:
        todo.put(None)
    for thread in threads:
        if thread.ident is not None:  # it was started
            thread.join()
