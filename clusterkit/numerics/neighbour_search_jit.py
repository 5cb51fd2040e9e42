"""Compiled search of nearest rows: lists of the nearest, filled from blocks of products, and candidates ranked anew.

A list of a row holds its nearest others in falling order of similarity, equally similar ones by their number. What is
in a list therefore does not depend on the order in which candidates come, and so not on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Indices

CHUNK = 16
"""Similarities of which the largest is found at once: below the least of a list nothing is looked at any more."""


@inner
def _insert(similar: Any, index: Any, value: Any, number: Any) -> None:
    """Put a candidate into a full list in the place of its last entry, which comes after it in the order."""
    p = len(similar) - 1
    while p > 0 and (similar[p - 1] < value or (similar[p - 1] == value and index[p - 1] > number)):
        similar[p], index[p] = similar[p - 1], index[p - 1]
        p -= 1
    similar[p], index[p] = value, number


@njit(fastmath={"nnan", "nsz", "reassoc"})
def insert_block(G: Array, i0: int, j0: int, similar: Array, index: Indices) -> None:
    """Add the similarities G (b, c) of rows i0... and j0... to the lists of both; of one block those of i < j."""
    b, c = G.shape
    last = similar.shape[1] - 1
    least = np.empty(c, dtype=np.float32)
    for q in range(c):
        least[q] = similar[j0 + q, last]
    for a in range(b):
        i = i0 + a
        begin = a + 1 if i0 == j0 else 0
        bound = similar[i, last]
        start = begin
        while start < c:
            stop = min(start + CHUNK, c)
            if stop - start == CHUNK:
                high, more = G[a, start], 0
                for q in range(start, start + CHUNK):
                    high = max(high, G[a, q])
                    more += G[a, q] >= least[q]
                if high < bound and more == 0:
                    start = stop
                    continue
            for q in range(start, stop):
                value, j = G[a, q], j0 + q
                if value > bound or (value == bound and j < index[i, last]):
                    _insert(similar[i], index[i], value, j)
                    bound = similar[i, last]
                if value > least[q] or (value == least[q] and i < index[j, last]):
                    _insert(similar[j], index[j], value, i)
                    least[q] = similar[j, last]
            start = stop


@njit(fastmath={"nnan", "nsz", "reassoc"})
def insert_rows(G: Array, rows: Indices, candidates: Indices, similar: Array, index: Indices) -> None:
    """Add the similarities G (b, c) of some rows and their candidates to the lists of the rows."""
    b, c = G.shape
    last = similar.shape[1] - 1
    for a in range(b):
        i = rows[a]
        bound = similar[i, last]
        start = 0
        while start < c:
            stop = min(start + CHUNK, c)
            if stop - start == CHUNK:
                high = G[a, start]
                for q in range(start, start + CHUNK):
                    high = max(high, G[a, q])
                if high < bound:
                    start = stop
                    continue
            for q in range(start, stop):
                value, j = G[a, q], candidates[q]
                if j != i and (value > bound or (value == bound and j < index[i, last])):
                    _insert(similar[i], index[i], value, j)
                    bound = similar[i, last]
            start = stop


@njit(fastmath={"reassoc", "contract"})
def rank_again(
    X: Array, order: Indices, visit: Indices, candidates: Indices, similar: Array, index: Indices, begin: int, end: int
) -> None:
    """Fill the lists of the rows ``visit[begin:end]`` with the nearest of their candidates, by all coordinates.

    Row i is ``X[order[i]]``; a candidate of -1 is none. The similarity is the negative squared distance.
    """
    d, last = X.shape[1], similar.shape[1] - 1
    for at in range(begin, end):
        i = visit[at]
        x = X[order[i]]
        for c in range(candidates.shape[1]):
            j = candidates[i, c]
            if j < 0:
                continue
            y = X[order[j]]
            total = np.float32(0.0)
            for q in range(d):
                gap = x[q] - y[q]
                total += gap * gap
            if -total > similar[i, last] or (-total == similar[i, last] and j < index[i, last]):
                _insert(similar[i], index[i], -total, j)


@njit
def shared_weights(index: Indices, weights: Array, begin: int, end: int) -> None:
    """``|N(i) and N(j)| / |N(i) or N(j)|`` of the rows from `begin` to `end` and their neighbours j, (n, k).

    N(i) are the neighbours of i and i itself.
    """
    n, k = index.shape
    mark = np.full(n, -1, dtype=np.int32)
    for i in range(begin, end):
        mark[i] = i
        for c in range(k):
            mark[index[i, c]] = i
        for c in range(k):
            j = index[i, c]
            shared = 0
            if mark[j] == i:
                shared += 1
            for q in range(k):
                if mark[index[j, q]] == i:
                    shared += 1
            weights[i, c] = shared / (2.0 * (k + 1) - shared)


@njit
def symmetric(index: Indices, weights: Array) -> tuple[Indices, Indices, Array]:
    """``(W + W') / 2`` of the directed weights (n, k) to the vertices `index`, in a compressed form, sorted."""
    n, k = index.shape
    begins = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        for c in range(k):
            begins[index[i, c] + 1] += 1
    for i in range(n):
        begins[i + 1] += begins[i]
    sources = np.empty(n * k, dtype=np.int32)
    back = np.empty(n * k, dtype=np.float32)
    place = begins.copy()
    for i in range(n):
        for c in range(k):
            p = place[index[i, c]]
            sources[p], back[p] = i, weights[i, c]
            place[index[i, c]] += 1
    total = np.zeros(n)
    touched = np.empty(n, dtype=np.int32)
    starts = np.zeros(n + 1, dtype=np.int32)
    tails = np.empty(0, dtype=np.int32)
    halves = np.empty(0, dtype=np.float32)
    for filling in range(2):
        for i in range(n):
            count = 0
            for c in range(k + begins[i + 1] - begins[i]):
                p = begins[i] + c - k
                j = index[i, c] if c < k else sources[p]
                if total[j] == 0.0:
                    touched[count] = j
                    count += 1
                total[j] += weights[i, c] if c < k else back[p]
            for t in range(count):  # into the lists of the others: as the sums are symmetric, these are then sorted
                j = touched[t]
                if filling:
                    tails[place[j]], halves[place[j]] = i, 0.5 * total[j]
                    place[j] += 1
                else:
                    starts[j + 1] += 1
                total[j] = 0.0
        if not filling:
            for i in range(n):
                starts[i + 1] += starts[i]
            for i in range(n):
                place[i] = starts[i]
            tails = np.empty(starts[n], dtype=np.int32)
            halves = np.empty(starts[n], dtype=np.float32)
    return starts, tails, halves
