"""The minimum spanning tree of distinct points by Borůvka's algorithm on a k-d tree, in rounds of parallel tasks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from clusterkit._typing import AnyArray, Array, Counts, Indices, Mask
from clusterkit.numerics import threads
from clusterkit.numerics.spanning_trees import boruvka_jit as rounds
from clusterkit.numerics.spanning_trees import kd_tree_jit as kd
from clusterkit.numerics.spanning_trees.core_distances_jit import core_task, gathered_task

LEAF, FILTERED_LEAF = 32, 64
"""Largest number of rows of a leaf, in double and in single precision: smaller leaves spend the time on nodes
instead."""

LISTED = 8
"""Neighbours that are found at once: most rows have a denser one among them, which mutual reachability asks for, and of
the Euclidean tree most rows need no others until few components are left. Core distances that reach no farther are
those of the last ones."""

PARALLEL = 4096
"""Rows from which tasks run in threads: with fewer, handing them over costs as much as they do."""

SEARCHED_APART = 1024
"""Rows to search from which a round's tasks run in threads."""

FEWER = 16
"""Rows for each component from which on its best edge is looked for in parts of the rows, each with a table of all."""

SEARCHED = 4
"""Rows over the rows that one round searches where leaves are filtered: components left for a later round may be joined
by the others until then. In fewer columns a search takes less than a further round."""

Value = TypeVar("Value")

_compiled: set[tuple[object, ...]] = set()
"""Kernels, with the types of their arrays, that have run in this process."""


class Tasks:
    """Runs the parts of a kernel, ``kernel(t, *arguments)`` for each task t, in threads where that pays.

    A context manager: the threads end with it. Results do not depend on their number, because the parts do not.
    """

    def __init__(self, n: int) -> None:
        self.helpers = min(kd.TASKS, threads.available()) - 1 if n >= PARALLEL else 0
        self.pool = ThreadPoolExecutor(self.helpers) if self.helpers else None

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, *error: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def beside(self, function: Callable[..., Value], *arguments: object) -> Callable[[], Value]:
        """Call a function in another thread, if there is one; returns a function that waits and returns its value."""
        if self.pool is not None:
            return self.pool.submit(function, *arguments).result
        value = function(*arguments)
        return lambda: value

    def __call__(
        self, kernel: Callable[..., None], *arguments: object, parts: int = kd.TASKS, rows: int = PARALLEL
    ) -> None:
        """Run all parts, in this thread only where they have few rows to search."""
        if self.pool is None or parts == 1 or rows < SEARCHED_APART:
            for t in range(parts):
                kernel(t, *arguments)
            return
        kind = (kernel, *(getattr(getattr(each, "points", each), "dtype", None) for each in arguments))
        first = 0 if kind in _compiled else 1
        if first:  # the others would wait for the compiler, and Ctrl-C reaches it in the main thread only
            kernel(0, *arguments)
            _compiled.add(kind)
        # each thread takes the next part when it is done with one: to hand over every part costs more than some take
        waiting = iter(range(first, parts))

        def work() -> object:
            for t in waiting:
                kernel(t, *arguments)
            return None

        jobs: list[Future[object]] = [self.pool.submit(work) for _ in range(self.helpers)]
        try:
            work()
            threads.wait_for(jobs)
        except BaseException:
            for _ in waiting:  # nothing is left for the others to begin
                pass
            raise


def build_tree(X: Array, tasks: Tasks, filtered: bool) -> kd.KdTree:
    """The k-d tree of the rows of X (n, d), C-contiguous float64; leaves in single precision if `filtered`."""
    n, d = X.shape
    depth = 0
    while -(-n >> depth) > (FILTERED_LEAF if filtered else LEAF):
        depth += 1
    leaves = 1 << depth
    slots = (n + leaves - 1) // leaves
    lanes = 8 if filtered else 4  # numbers of the leaves' type that a processor takes at once: no rest is left over
    slots = (slots + lanes - 1) // lanes * lanes
    index, key = np.arange(n), np.empty(n)
    top = min(depth, kd.TASKS.bit_length() - 1)
    for level in range(top):
        tasks(kd.split_task, X, index, key, level, parts=1 << level)
    if depth > top:
        tasks(kd.subtree_task, X, index, key, top, depth, parts=1 << top)
    shift, scale, slack = np.zeros(d), 1.0, 0.0
    if filtered:
        low, high = X.min(axis=0), X.max(axis=0)
        shift = low / 2 + high / 2
        reach = float((high - low).max())
        scale = 2.0 ** -np.frexp(reach)[1] if reach > 0 else 1.0
        # error of a distance: the rounding of both points' coordinates, each below 1 in size; and a factor for that of
        # the sums
        slack = 4.0 * 2.0**-24 * np.sqrt(d)
    kind = np.float32 if filtered else np.float64
    tree = kd.KdTree(
        np.empty((leaves, d, slots), kind),
        np.empty((leaves * slots, d)),
        np.empty(leaves * slots, np.int64),
        np.empty((2 * leaves - 1, d)),
        np.empty((2 * leaves - 1, d)),
        np.empty((2 * leaves - 1, d)),
        np.zeros(2 * leaves - 1),
        np.empty((leaves, d), kind),
        np.empty((leaves, d), kind),
        n,
        float(scale),
        1.0 + (d + 8) * 2.0**-23,
        float(slack),
        1e30 if filtered else float(np.finfo(np.float64).max),
        filtered,
    )
    tasks(kd.fill_task, X, index, shift, tree.scale, tree.points, tree.rows, tree.row, tree.least, tree.most)
    if d > kd.BALLS:
        tasks(kd.ball_task, tree.rows, tree.row, tree.low, tree.high, tree.centre, tree.radius)
    else:
        # with so few columns leaves are in double precision: their boxes are exact, and no balls are needed
        boxes(tree.least, tree.most, tree.low, tree.high)
    return tree


def boruvka(tree: kd.KdTree, n_neighbors: int, repeats: Counts, tasks: Tasks) -> tuple[Indices, Array, Array]:
    """Edges (n - 1, 2), squared weights (n - 1,) and squared core distances (n,) of the tree of distinct rows.

    Parameters
    ----------
    tree : KdTree
        Tree of n distinct rows, with leaves in single precision from `FILTERED` columns on.
    n_neighbors : int
        As in `minimum_spanning_tree`; 1 for the Euclidean tree.
    repeats : ndarray of shape (n,) or (0,)
        How many equal rows each row stands for; empty if all stand for one.
    tasks : Tasks
    """
    n, places = tree.n, len(tree.row)
    real = tree.row >= 0
    core = np.zeros(places)
    floor = np.zeros(len(tree.radius))
    other, weight, square = np.full(places, -1), np.empty(places), np.empty(places)
    bound, nearest = np.zeros(places), np.zeros(places)
    K = min(LISTED, n - 1) if n_neighbors == 1 else min(LISTED, n_neighbors - 1, n - 1)
    lists, in_slots = np.empty((places, K), np.int32), np.zeros(places if len(repeats) else 0, np.int64)
    if n_neighbors == 1:
        tasks(core_task, tree, K + 1, in_slots[:0], floor, np.empty(places), lists)
    else:
        if len(repeats):
            in_slots[real] = repeats[tree.row[real]]
        if len(repeats) or n_neighbors <= LISTED + 1 or tree.rows.shape[1] != 2:
            tasks(core_task, tree, n_neighbors, in_slots, floor, core, lists)
        else:
            tasks(gathered_task, tree, n_neighbors, floor, core, lists)
        floors(core, real, floor)
        bound[:] = core
    pointer = np.zeros(len(lists), np.int8)
    component = np.full(places, -1)
    component[real] = np.arange(n)
    sizes = np.ones(n, np.int64)
    pure = np.empty(len(tree.radius), np.int64)
    most = n // SEARCHED if tree.filtered else n
    edges, squares, made, count, iteration = np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0, n, 0
    while count > 1:
        best, least, parts = np.empty(count), np.empty(count), kd.TASKS if count <= n // FEWER else 1
        state = other, weight, square, bound, nearest
        tasks(rounds.row_candidates, tree.rows, component, core, n_neighbors == 1, *state, lists, pointer)
        bests, leasts = np.empty((parts, count)), np.empty((parts, count))
        tasks(rounds.candidate_task, component, other, weight, square, bests, leasts, parts=parts)
        rounds.least_of(bests, leasts, best, least)
        del bests, leasts
        needs = np.empty((parts, count), np.int64)
        tasks(rounds.need_task, component, other, bound, nearest, best, least, needs, parts=parts)
        need = needs.sum(axis=0)
        del needs
        searched = np.zeros(count, np.bool_)
        undecided = np.flatnonzero(need)
        by_size = undecided[np.argsort(sizes[undecided], kind="stable")]
        if _choose(sizes[:count], by_size, most if iteration else n, searched):
            pure_nodes(component, pure)
            places_and_bests = tree, component, pure, core, floor, searched, best, least
            del undecided, by_size  # the peak memory of the tree is that of the first round
            tasks(rounds.search_task, *places_and_bests, *state, rows=int(need[searched].sum()))
            del places_and_bests
        ready = searched | (need == 0)
        del best, least, need, searched
        lightest, room = np.empty((parts, count), np.int64), (np.empty(count, np.int64), np.empty(count, np.int64))
        rows_of = component, ready, other, weight, square
        tasks(rounds.lightest_task, tree.row, *rows_of, lightest, parts=parts)
        made, count = rounds.merge(
            tree.row, component, other, weight, square, lightest, sizes, edges, squares, made, *room
        )
        tasks(rounds.renumber_task, component, room[1])
        del lightest, room, rows_of
        iteration += 1
    by_row = np.empty(n)
    by_row[tree.row[real]] = core[real]
    return edges, squares, by_row


def _choose(sizes: Counts, by_size: Indices, most: int, searched: Mask) -> int:
    """Mark the components to search, and return their number; `by_size` has the undecided ones by ascending size.

    The smallest of the undecided ones are taken while their rows are at most `most`, and never the largest component
    of all: the others' edges join it, and it needs none of its mine. Where none is decided one is taken anyway.
    """
    others = by_size[by_size != np.argmax(sizes)]
    count = int(np.searchsorted(np.cumsum(sizes[others]), most, side="right"))
    if len(by_size) == len(sizes):
        count = max(count, 1)
    searched[others[:count]] = True
    return len(others[:count])


def boxes(least: Array, most: Array, low: Array, high: Array) -> None:
    """Write the boxes of all nodes into `low` and `high`, (nodes, d), from those of the leaves, (leaves, d)."""
    low[len(least) - 1 :], high[len(most) - 1 :] = least, most
    _upwards(low, np.minimum)
    _upwards(high, np.maximum)


def floors(core: Array, real: Mask, floor: Array) -> None:
    """Write the least core distance below each node into `floor`, (nodes,).

    Core distances (slots,) are in slot order, and `real` says which slots have a row.
    """
    leaves = (len(floor) + 1) // 2
    core.reshape(leaves, -1).min(axis=1, where=real.reshape(leaves, -1), initial=np.inf, out=floor[leaves - 1 :])
    _upwards(floor, np.minimum)


def pure_nodes(component: Indices, pure: Indices) -> None:
    """Write the component of each node whose rows are all in one into `pure`, (nodes,), and `MIXED` elsewhere.

    Components (slots,) are in slot order; those of slots without a row, which come last in a leaf, are below 0.
    """
    leaves = (len(pure) + 1) // 2
    members = component.reshape(leaves, -1)
    largest = members.max(axis=1)
    smallest = members.view(np.uint64).min(axis=1)  # as unsigned numbers, negative ones are the largest
    pure[leaves - 1 :] = np.where(smallest == largest.view(np.uint64), largest, rounds.MIXED)
    _upwards(pure, lambda left, right: np.where(left == right, left, rounds.MIXED))


def _upwards(values: AnyArray, joined: Callable[[AnyArray, AnyArray], AnyArray]) -> None:
    """Write the values of all nodes above the leaves, from the values of their two children."""
    width = (len(values) + 1) // 4
    while width:
        below = values[2 * width - 1 : 4 * width - 1]
        values[width - 1 : 2 * width - 1] = joined(below[::2], below[1::2])
        width //= 2
