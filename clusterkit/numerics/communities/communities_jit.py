"""Compiled loops of communities: moves of the Louvain method, merges of Paris, cuts of the merge tree."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels

__all__ = ["adjusted_rand", "cut", "merge_all", "move_all", "spread_labels"]

GAIN = 1e-12
"""Least gain of a move, so that rounding moves nothing to and fro."""

ROUNDS = 30
"""Most rounds over all rows in a pass of moves."""


@njit
def move_all(
    starts: Indices,
    tails: Indices,
    weights: Array,
    degrees: Array,
    labels: Labels,
    totals: Array,
    gamma: float,
    order: Indices,
) -> int:
    """Move each row to the neighbouring community of largest gain of modularity, until no row moves.

    `labels` (n,) and the total degrees of the communities, `totals`, are changed in place; the number of moves is
    returned.
    """
    n = len(labels)
    inside = np.zeros(len(totals))
    touched = np.empty(len(totals), dtype=np.int64)
    waiting = np.ones(n, dtype=np.bool_)
    moves = 0
    scale = gamma / degrees.sum()
    for _ in range(ROUNDS):
        before = moves
        for place in range(n):
            i = order[place]
            if not waiting[i]:
                continue
            waiting[i] = False
            old, count = labels[i], 0
            for e in range(starts[i], starts[i + 1]):
                if tails[e] == i:
                    continue
                c = labels[tails[e]]
                if inside[c] == 0.0:
                    touched[count] = c
                    count += 1
                inside[c] += weights[e]
            totals[old] -= degrees[i]
            best, gain = old, inside[old] - scale * degrees[i] * totals[old]
            for t in range(count):
                c = touched[t]
                other = inside[c] - scale * degrees[i] * totals[c]
                if other > gain + GAIN:
                    best, gain = c, other
            for t in range(count):
                inside[touched[t]] = 0.0
            totals[best] += degrees[i]
            if best != old:
                labels[i] = best
                moves += 1
                for e in range(starts[i], starts[i + 1]):
                    if labels[tails[e]] != best:
                        waiting[tails[e]] = True
        if moves == before:
            break
    return moves


@njit
def merge_all(W: Array, volumes: Array) -> tuple[Indices, Array]:
    """Merges of the communities with weights W (m, m) between them, by nearest-neighbour chains; changes W and volumes.

    Two communities are as similar as ``W_ab / (vol_a vol_b)``. Returns the merged clusters (m - 1, 2), named by their
    order of creation from m on, and the similarities, (m - 1,), of which none is above those inside what it merges.
    """
    m = len(volumes)
    alive = np.ones(m, dtype=np.bool_)
    inside = np.full(m, np.inf)  # the last similarity inside each cluster, which rounding must not let a merge exceed
    name = np.arange(m)
    pairs = np.empty((m - 1, 2), dtype=np.int64)
    similar = np.empty(m - 1)
    chain = np.empty(m + 1, dtype=np.int64)
    length = merged = first = 0
    while merged < m - 1:
        if length == 0:
            while not alive[first]:
                first += 1
            chain[0], length = first, 1
        while True:
            a = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            best, most = -1, -1.0
            for b in range(m):
                if alive[b] and b != a:
                    value = W[a, b] / (volumes[a] * volumes[b])
                    if value > most or (value == most and b == before):
                        best, most = b, value
            if best == before:
                break
            chain[length] = best
            length += 1
        b = chain[length - 2]
        length -= 2
        inside[b] = min(most, inside[a], inside[b])
        pairs[merged, 0], pairs[merged, 1], similar[merged] = name[a], name[b], inside[b]
        for q in range(m):
            if alive[q] and q != a and q != b:
                W[b, q] += W[a, q]
                W[q, b] = W[b, q]
        volumes[b] += volumes[a]
        alive[a] = False
        name[b] = m + merged
        merged += 1
    return pairs, similar


@njit
def cut(pairs: Indices, similar: Array, sizes: Array, least: int, count: int, labels: Labels) -> Array:
    """Labels of the communities, written to `labels` (m,), where the last merges are undone until `count` have split.

    `pairs` are the merges in falling order of similarity, `sizes` (m,) the rows of the communities. A merge is a split
    if both of its sides have `least` rows; a smaller side falls out, label -1, and what has no large side stays whole.
    Returns the similarities of the splits, ascending.
    """
    m = len(sizes)
    total = np.empty(2 * m - 1)
    total[:m] = sizes
    for t in range(m - 1):
        total[m + t] = total[pairs[t, 0]] + total[pairs[t, 1]]
    # clusters of every node, from the root down: a merge has a higher number than what it joins
    cluster = np.full(2 * m - 1, -1, dtype=np.int64)
    is_open = np.zeros(2 * m - 1, dtype=np.bool_)
    splits = np.empty(max(0, m - 1))
    split = 0
    cluster[2 * m - 2], is_open[2 * m - 2] = 0, True
    for v in range(2 * m - 2, m - 1, -1):
        t = v - m
        a, b = pairs[t, 0], pairs[t, 1]
        cluster[a] = cluster[b] = cluster[v]
        if not is_open[v] or split == count:
            continue
        if total[a] >= least and total[b] >= least:
            splits[split] = similar[t]
            split += 1
            is_open[a] = is_open[b] = True
            cluster[b] = split
        elif max(total[a], total[b]) >= least:
            small = a if total[a] < total[b] else b
            cluster[small] = -1
            is_open[a + b - small] = True
    for c in range(m):
        labels[c] = cluster[c]
    return splits[:split]


@njit
def adjusted_rand(labelings: Labels) -> Array:
    """Adjusted Rand index of every two labelings (m, n) of whole numbers from 0, a symmetric matrix (m, m)."""
    m, n = labelings.shape
    indices = np.ones((m, m))
    most = np.empty(m, dtype=np.int64)
    pairs = np.empty(m)
    for a in range(m):
        most[a] = labelings[a].max() + 1
        sizes = np.zeros(most[a])
        for i in range(n):
            sizes[labelings[a, i]] += 1.0
        pairs[a] = (sizes * (sizes - 1.0)).sum()
    for a in range(m):
        for b in range(a):
            table = np.zeros((most[a], most[b]))
            for i in range(n):
                table[labelings[a, i], labelings[b, i]] += 1.0
            together = (table * (table - 1.0)).sum()
            expected = pairs[a] * pairs[b] / max(1.0, n * (n - 1.0))
            mean = (pairs[a] + pairs[b]) / 2.0
            value = 1.0 if mean <= expected else (together - expected) / (mean - expected)
            indices[a, b] = indices[b, a] = value
    return indices


@njit
def spread_labels(starts: Indices, tails: Indices, weights: Array, labels: Labels, k: int) -> None:
    """Give rows of label -1 that of most weight among their neighbours, by the labels of the round before."""
    n = len(labels)
    votes = np.zeros(k)
    unlabelled = np.empty(n, dtype=np.int64)
    count = 0
    for i in range(n):
        if labels[i] < 0:
            unlabelled[count] = i
            count += 1
    answers = np.empty(count, dtype=np.int64)
    while count:
        left = 0
        for place in range(count):
            i = unlabelled[place]
            best, most = -1, 0.0
            for e in range(starts[i], starts[i + 1]):
                c = labels[tails[e]]
                if c >= 0:
                    votes[c] += weights[e]
                    if votes[c] > most or (votes[c] == most and c < best):
                        best, most = c, votes[c]
            for e in range(starts[i], starts[i + 1]):
                if labels[tails[e]] >= 0:
                    votes[labels[tails[e]]] = 0.0
            answers[place] = best
        for place in range(count):
            i, best = unlabelled[place], answers[place]
            if best >= 0:
                labels[i] = best
            else:
                unlabelled[left] = i
                left += 1
        if left == count:
            break
        count = left
