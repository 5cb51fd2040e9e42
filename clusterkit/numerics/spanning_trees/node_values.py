"""Values of the nodes of a k-d tree, from those of its slots."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from clusterkit._typing import Array, Indices, Mask

__all__ = ["MIXED", "boxes", "floors", "pure_nodes"]

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
    smallest = members.view(np.uint64).min(axis=1)  # in which what is below 0 is above all others
    pure[leaves - 1 :] = np.where(smallest == largest.view(np.uint64), largest, MIXED)
    _upwards(pure, lambda left, right: np.where(left == right, left, MIXED))


def _upwards(values: Values, joined: Callable[[Values, Values], Values]) -> None:
    """The values of all nodes above the leaves, from those of their two children."""
    width = (len(values) + 1) // 4
    while width:
        below = values[2 * width - 1 : 4 * width - 1]
        values[width - 1 : 2 * width - 1] = joined(below[::2], below[1::2])
        width //= 2
