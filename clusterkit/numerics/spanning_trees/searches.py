"""Values of the nodes of a k-d tree from those of its slots, and SciPy's searches on all cores.

Ctrl-C ends a search (`nearest_in_tree`) in good order. The threads that SciPy starts for
``workers`` above 1 are not waited for when Ctrl-C ends the call: they then write into arrays that are gone, and the
process may crash.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from clusterkit._typing import Array, Indices, Mask
from clusterkit.numerics.threads import over_rows

if TYPE_CHECKING:
    from scipy.spatial import KDTree

__all__ = [
    "MIXED",
    "boxes",
    "floors",
    "nearest_in_tree",
    "pure_nodes",
]


MIXED = -1
"""Component of a node whose rows are in several."""

Values = TypeVar("Values", Array, Indices)


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
    pure[leaves - 1 :] = np.where(smallest == largest.view(np.uint64), largest, MIXED)
    _upwards(pure, lambda left, right: np.where(left == right, left, MIXED))


def _upwards(values: Values, joined: Callable[[Values, Values], Values]) -> None:
    """Write the values of all nodes above the leaves, from the values of their two children."""
    width = (len(values) + 1) // 4
    while width:
        below = values[2 * width - 1 : 4 * width - 1]
        values[width - 1 : 2 * width - 1] = joined(below[::2], below[1::2])
        width //= 2


STEPS = 2000
"""Cost of a search in nanoseconds, for the choice of the ranges of the threads; it is a few microseconds."""


def nearest_in_tree(tree: KDTree, queries: Array, count: int) -> tuple[Array, Indices]:
    """Distances and indices of the nearest points of each query, (q, count) each, in ascending order.

    Parameters
    ----------
    tree : scipy.spatial.KDTree
    queries : ndarray of shape (q, d)
    count : int
        At least 1.

    Examples
    --------
    >>> from scipy.spatial import KDTree
    >>> nearest_in_tree(KDTree([[0.0], [1.0], [3.0]]), np.array([[0.9]]), 2)[1].tolist()
    [[1, 0]]
    """
    distances = np.empty((len(queries), count))
    index = np.empty((len(queries), count), dtype=np.intp)
    ranks = [*range(1, count + 1)]

    def search(start: int, stop: int) -> None:
        distances[start:stop], index[start:stop] = tree.query(queries[start:stop], k=ranks)

    over_rows(search, len(queries), STEPS)
    return distances, index
