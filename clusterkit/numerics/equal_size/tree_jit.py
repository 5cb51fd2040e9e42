"""Cluster sizes by a tree of boxes: how equal clustering counts rows with few attributes.

A box of rows that lies within the region of one centre is counted as a whole. So an iteration costs as much as the
borders between regions (Kanungo, Mount, Netanyahu, Piatko, Silverman, Wu 2002, An efficient k-means clustering
algorithm, IEEE Transactions on Pattern Analysis and Machine Intelligence 24(7)). A centre is only excluded for a box if
rounding errors cannot change the comparison, so the sizes equal those of the plain loop over rows and centres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices

__all__ = ["BoxTree", "TreeRoom", "build", "count", "tree_room"]

LEAF = 16
"""Most rows of a leaf: so few rows are compared one by one, because further boxes cost more than they save.

Not sensitive, and the sizes do not depend on it: leaves of 8 and 32 rows took 1.11 and 0.94 of the time for 100,000
rows in the plane and 20 centres (`tests/benchmarks/constants.py`).
"""
DEPTH = 66
"""Room on the stack. Every split halves the rows, so the depth of the tree is at most 64."""
EPS = float(np.finfo(np.float64).eps)
"""Relative rounding error of double precision."""


class BoxTree(NamedTuple):
    """Rows in a binary tree whose nodes know the box around their rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        The rows in the order of the tree.
    boxes : ndarray of shape (nodes, 2, d)
        Lowest and highest coordinates of each node's rows.
    spans : integer ndarray of shape (nodes, 3)
        First row, end of the rows, and right child of each node. The left child is the next node; a leaf has the right
        child 0.
    """

    rows: Array
    boxes: Array
    spans: Indices


class TreeRoom(NamedTuple):
    """Work space of `count`.

    Parameters
    ----------
    lists : integer ndarray of shape (DEPTH, m)
        Centres that may be nearest to a row of a node, one list for each level of the recursion.
    lengths : integer ndarray of shape (DEPTH,)
        Their numbers.
    stack : integer ndarray of shape (DEPTH, 2)
        Nodes to visit, each with the level of its parent's list.
    """

    lists: Indices
    lengths: Counts
    stack: Indices


def tree_room(m: int) -> TreeRoom:
    """Work space for m centres."""
    return TreeRoom(
        np.zeros((DEPTH, m), dtype=np.int64), np.zeros(DEPTH, dtype=np.int64), np.zeros((DEPTH, 2), dtype=np.int64)
    )


@njit
def build(X):
    """The `BoxTree` over rows X (n, d): nodes are halved along the widest attribute; O(n log n) for each level."""
    n, d = X.shape
    order = np.arange(n)
    most = 2
    while most * LEAF < 4 * n:
        most *= 2
    most *= 2
    boxes = np.empty((most, 2, d))
    spans = np.empty((most, 3), dtype=np.int64)
    todo = np.empty((64, 3), dtype=np.int64)
    todo[0, 0], todo[0, 1], todo[0, 2] = 0, n, -1
    waiting, nodes = 1, 0
    while waiting:
        waiting -= 1
        begin, end, parent = todo[waiting]
        node = nodes
        nodes += 1
        if parent >= 0:
            spans[parent, 2] = node
        spans[node, 0], spans[node, 1], spans[node, 2] = begin, end, 0
        widest = 0
        for f in range(d):
            low, high = np.inf, -np.inf
            for position in range(begin, end):
                x = X[order[position], f]
                low, high = min(low, x), max(high, x)
            boxes[node, 0, f], boxes[node, 1, f] = low, high
            if high - low > boxes[node, 1, widest] - boxes[node, 0, widest]:
                widest = f
        if end - begin <= LEAF or boxes[node, 1, widest] == boxes[node, 0, widest]:
            continue
        part = order[begin:end]
        values = np.empty(end - begin)
        for position in range(end - begin):
            values[position] = X[part[position], widest]
        part = part[np.argsort(values)]
        for position in range(begin, end):
            order[position] = part[position - begin]
        middle = (begin + end) // 2
        todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = middle, end, node
        todo[waiting + 1, 0], todo[waiting + 1, 1], todo[waiting + 1, 2] = begin, middle, -1
        waiting += 2
    return BoxTree(X[order], boxes[:nodes].copy(), spans[:nodes].copy())


@njit(fastmath={"nnan", "nsz"})
def count(tree: BoxTree, C, sizes, room: TreeRoom):
    """Count the rows nearest to each of the centres C (d, m) into sizes (m,); ties go to the lowest number."""
    X, boxes, spans = tree.rows, tree.boxes, tree.spans
    lists, lengths, stack = room.lists, room.lengths, room.stack
    d, m = C.shape
    slack = (d + 16) * EPS
    sizes[:] = 0
    for j in range(m):
        lists[0, j] = j
    lengths[0] = m
    stack[0, 0], stack[0, 1] = 0, 0
    waiting = 1
    while waiting:
        waiting -= 1
        node, above = stack[waiting]
        # the lists below are free: the nodes that still wait are nearer to the root
        level = above + 1
        least, nearest = np.inf, 0
        for position in range(lengths[above]):
            j = lists[above, position]
            square = 0.0
            for f in range(d):
                difference = 0.5 * (boxes[node, 0, f] + boxes[node, 1, f]) - C[f, j]
                square += difference * difference
            if square < least:
                least, nearest = square, j
        length = 0
        for position in range(lengths[above]):
            j = lists[above, position]
            if j != nearest:
                # the corner of the box farthest in the direction of centre j
                far, near = 0.0, 0.0
                for f in range(d):
                    corner = boxes[node, 1, f] if C[f, j] > C[f, nearest] else boxes[node, 0, f]
                    far += (corner - C[f, j]) ** 2
                    near += (corner - C[f, nearest]) ** 2
                if far - near > 4.0 * slack * (far + near):
                    continue
            lists[level, length] = j
            length += 1
        lengths[level] = length
        begin, end, right = spans[node]
        if length == 1:
            sizes[nearest] += end - begin
        elif right:
            stack[waiting, 0], stack[waiting, 1] = right, level
            stack[waiting + 1, 0], stack[waiting + 1, 1] = node + 1, level
            waiting += 2
        else:
            for i in range(begin, end):
                least, nearest = np.inf, 0
                for position in range(length):
                    j = lists[level, position]
                    square = 0.0
                    for f in range(d):
                        square += (X[i, f] - C[f, j]) ** 2
                    if square < least:
                        least, nearest = square, j
                sizes[nearest] += 1
