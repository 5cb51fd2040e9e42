"""Compiled layout of a graph in few dimensions by attraction along edges and repulsion of random rows."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices

DIMENSIONS = 8
"""Number of coordinates of a layout. It is a constant of the compiled loops, which are unrolled for it; four and
sixteen gave clusters that were no better."""

NEAR = np.float32(1 / 16)
"""Added to the squared distance of a row and a random row, so that no step is longer than 4."""


@njit(fastmath=True)
def spread(Y: Array, heads: Indices, tails: Indices, every: Array, epochs: int, negatives: int, seed: int) -> None:
    """Move the rows of Y (n, `DIMENSIONS`) in place.

    Edge e is used every `every[e]` epochs. Its ends attract each other by the kernel ``1 / (1 + r²)``, and its head is
    repelled by `negatives` rows side by side, of which the first is drawn at random: rows are in the order of a hash,
    and those side by side are in the cache together. Steps shrink linearly to 0. The coordinates are written out: all
    are read before one is written, so that the compiler may compute them together.
    """
    n = len(Y)
    places = np.uint64(max(1, n - negatives + 1))
    due = every.copy()
    state = np.uint64(88172645463325252) + np.uint64(seed)
    one = np.float32(1.0)
    for epoch in range(epochs):
        rate = np.float32(2.0 * (1.0 - epoch / epochs))
        now = np.float32(epoch)
        for e in range(len(heads)):
            if due[e] > now:
                continue
            due[e] += every[e]
            i, j = heads[e], tails[e]
            a0, a1, a2, a3, a4, a5, a6, a7 = Y[i, 0], Y[i, 1], Y[i, 2], Y[i, 3], Y[i, 4], Y[i, 5], Y[i, 6], Y[i, 7]
            b0, b1, b2, b3, b4, b5, b6, b7 = Y[j, 0], Y[j, 1], Y[j, 2], Y[j, 3], Y[j, 4], Y[j, 5], Y[j, 6], Y[j, 7]
            g0, g1, g2, g3, g4, g5, g6, g7 = a0 - b0, a1 - b1, a2 - b2, a3 - b3, a4 - b4, a5 - b5, a6 - b6, a7 - b7
            squared = g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3 + g4 * g4 + g5 * g5 + g6 * g6 + g7 * g7
            pull = rate / (one + squared)
            p0, p1, p2, p3, p4, p5, p6, p7 = (
                -pull * g0,
                -pull * g1,
                -pull * g2,
                -pull * g3,
                -pull * g4,
                -pull * g5,
                -pull * g6,
                -pull * g7,
            )
            Y[j, 0], Y[j, 1], Y[j, 2], Y[j, 3], Y[j, 4], Y[j, 5], Y[j, 6], Y[j, 7] = (
                b0 - p0,
                b1 - p1,
                b2 - p2,
                b3 - p3,
                b4 - p4,
                b5 - p5,
                b6 - p6,
                b7 - p7,
            )
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            first = int(np.int64(((state >> np.uint64(32)) * places) >> np.uint64(32)))
            for j in range(first, min(first + negatives, n)):
                g0, g1, g2, g3, g4, g5, g6, g7 = (
                    a0 - Y[j, 0],
                    a1 - Y[j, 1],
                    a2 - Y[j, 2],
                    a3 - Y[j, 3],
                    a4 - Y[j, 4],
                    a5 - Y[j, 5],
                    a6 - Y[j, 6],
                    a7 - Y[j, 7],
                )
                squared = g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3 + g4 * g4 + g5 * g5 + g6 * g6 + g7 * g7
                push = rate / ((NEAR + squared) * (one + squared))
                p0, p1, p2, p3, p4, p5, p6, p7 = (
                    p0 + push * g0,
                    p1 + push * g1,
                    p2 + push * g2,
                    p3 + push * g3,
                    p4 + push * g4,
                    p5 + push * g5,
                    p6 + push * g6,
                    p7 + push * g7,
                )
            Y[i, 0], Y[i, 1], Y[i, 2], Y[i, 3], Y[i, 4], Y[i, 5], Y[i, 6], Y[i, 7] = (
                a0 + p0,
                a1 + p1,
                a2 + p2,
                a3 + p3,
                a4 + p4,
                a5 + p5,
                a6 + p6,
                a7 + p7,
            )


@njit(fastmath={"reassoc", "contract"})
def nearest_in_layout(Y: Array, index: Indices, similar: Array, nearest: Indices, begin: int, end: int) -> None:
    """Fill the lists of the rows from `begin` to `end` with the nearest in a layout, (n, k).

    Only neighbours in the graph, `index` (n, m), and their neighbours are looked at.
    """
    n, m = index.shape
    k = nearest.shape[1]
    mark = np.full(n, -1, dtype=np.int32)
    for i in range(begin, end):
        mark[i] = i
        for c in range(-1, m):
            a = i if c < 0 else index[i, c]
            for q in range(m):
                j = index[a, q]
                if mark[j] == i:
                    continue
                mark[j] = i
                squared = np.float32(0.0)
                for z in range(DIMENSIONS):
                    gap = Y[i, z] - Y[j, z]
                    squared += gap * gap
                if -squared > similar[i, k - 1]:
                    p = k - 1
                    while p > 0 and similar[i, p - 1] < -squared:
                        similar[i, p], nearest[i, p] = similar[i, p - 1], nearest[i, p - 1]
                        p -= 1
                    similar[i, p], nearest[i, p] = -squared, j
        for c in range(1, k):
            if nearest[i, c] < 0:
                nearest[i, c] = nearest[i, 0]
