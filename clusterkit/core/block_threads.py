"""The blocks of a pass on all cores, each the work of one thread, matrix products included."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar

from clusterkit._typing import Array
from clusterkit.core import sums
from clusterkit.numerics.thread_limit import THIN, suited
from clusterkit.numerics.threads import available, is_undivided, undivided

__all__ = ["each_block", "in_threads", "one_above_a_group"]

Value = TypeVar("Value")

AHEAD = 2
"""Blocks that wait for each thread, so that none of them waits for its turn to be added."""


def each_block(
    function: Callable[[slice, Array], Value], blocks: Iterable[tuple[slice, Array]], n: int
) -> Iterator[tuple[slice, Value]]:
    """The function of every block of n rows in memory, in the order of the blocks.

    Above one group (`clusterkit.core.sums.GROUP`) threads call it, as they do in the passes of an engine, so that a fit
    in memory agrees with those bit for bit. Below, one thread does, with all threads of BLAS.
    """
    return in_threads(function, blocks) if n > sums.GROUP else _in_turn(function, blocks)


def one_above_a_group(n: int) -> AbstractContextManager[None]:
    """Context for products of single blocks of n rows in memory, which then have the bits that passes give them.

    Above one group it limits BLAS to one thread, up to there it changes nothing. A plan of other blocks would not do
    instead: on two threads OpenBLAS was seen to round blocks of 64 and of 4,096 rows otherwise than on one, and blocks
    of fewer than 64 rows too.
    """
    return suited(0 if n > sums.GROUP else THIN)


def in_threads(
    function: Callable[[slice, Array], Value], blocks: Iterable[tuple[slice, Array]]
) -> Iterator[tuple[slice, Value]]:
    """The function of every block, in the order of the blocks.

    Several blocks at once use the cores better than several threads for one thin product. And the products do not
    depend on the number of threads: BLAS divides a matrix among its threads, and sums of other parts round differently.

    Parameters
    ----------
    function : callable
        Of the rows of a block and what belongs to them; it is called by several threads.
    blocks : iterable
        Rows, and what belongs to them; the calling thread asks for the next ones while others work.
    """
    if is_undivided():  # one of the threads of a pass already
        yield from _in_turn(function, blocks)
        return
    workers = available()
    waiting: deque[tuple[slice, Future[Value]]] = deque()
    with suited(0), ThreadPoolExecutor(workers, "clusterkit-block", undivided) as pool:
        try:
            for block, X in blocks:
                waiting.append((block, pool.submit(function, block, X)))
                if len(waiting) > AHEAD * workers:
                    first, value = waiting.popleft()
                    yield first, value.result()
            for block, value in waiting:
                yield block, value.result()
        finally:
            for _, value in waiting:
                value.cancel()


def _in_turn(
    function: Callable[[slice, Array], Value], blocks: Iterable[tuple[slice, Array]]
) -> Iterator[tuple[slice, Value]]:
    for block, X in blocks:
        yield block, function(block, X)
