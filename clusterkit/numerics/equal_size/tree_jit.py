"""Sizes of nearest-centre cells by a tree of boxes: what equal clustering needs of rows with few attributes.

A box that lies within one cell counts as a whole, so a turn costs what the borders between cells cost (Kanungo, Mount,
Netanyahu, Piatko, Silverman, Wu 2002, An efficient k-means clustering algorithm, IEEE Transactions on Pattern Analysis
and Machine Intelligence 24(7)). Boxes are decided with room for rounding errors, so the sizes are those of the plain
loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["build", "count"]

LEAF = 16
EPS = float(np.finfo(np.float64).eps)


@njit
def build(X: Any) -> Any:
    """A tree over the rows X (n, d): the rows in its order, boxes (nodes, 2, d), begin, end and right child of nodes.

    The left child follows its parent; a leaf has the right child 0. O(n log n) for each attribute that is split.
    """
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
        order[begin:end] = part[np.argsort(values)]
        middle = (begin + end) // 2
        todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = middle, end, node
        todo[waiting + 1, 0], todo[waiting + 1, 1], todo[waiting + 1, 2] = begin, middle, -1
        waiting += 2
    return X[order], boxes[:nodes].copy(), spans[:nodes].copy()


@njit(fastmath={"nnan", "nsz"})
def count(X: Any, boxes: Any, spans: Any, C: Any, sizes: Any, lists: Any, lengths: Any, stack: Any) -> Any:
    """Sizes (m,) of the cells of centres C (d, m), ties to the lowest; X as `build` gives it.

    ``lists`` (66, m), ``lengths`` (66,) and ``stack`` (66, 2) are room for the centres that may own rows of a node.
    """
    d, m = C.shape
    slack = (d + 16) * EPS
    sizes[:] = 0
    for j in range(m):
        lists[0, j] = j
    lengths[0] = m
    stack[0, 0], stack[0, 1] = 0, 0
    height = 1
    while height:
        height -= 1
        node, given = stack[height]
        # the room below is free: what waits there is nearer to the root
        level = given + 1
        nearest, own = np.inf, 0
        for position in range(lengths[given]):
            j = lists[given, position]
            square = 0.0
            for f in range(d):
                difference = 0.5 * (boxes[node, 0, f] + boxes[node, 1, f]) - C[f, j]
                square += difference * difference
            if square < nearest:
                nearest, own = square, j
        kept = 0
        for position in range(lengths[given]):
            j = lists[given, position]
            if j != own:
                # the corner of the box farthest towards j
                far, near = 0.0, 0.0
                for f in range(d):
                    corner = boxes[node, 1, f] if C[f, j] > C[f, own] else boxes[node, 0, f]
                    far += (corner - C[f, j]) ** 2
                    near += (corner - C[f, own]) ** 2
                if far - near > 4.0 * slack * (far + near):
                    continue
            lists[level, kept] = j
            kept += 1
        lengths[level] = kept
        begin, end, right = spans[node]
        if kept == 1:
            sizes[own] += end - begin
        elif right:
            stack[height, 0], stack[height, 1] = right, level
            stack[height + 1, 0], stack[height + 1, 1] = node + 1, level
            height += 2
        else:
            for i in range(begin, end):
                nearest, own = np.inf, 0
                for position in range(kept):
                    j = lists[level, position]
                    square = 0.0
                    for f in range(d):
                        square += (X[i, f] - C[f, j]) ** 2
                    if square < nearest:
                        nearest, own = square, j
                sizes[own] += 1
