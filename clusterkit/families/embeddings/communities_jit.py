"""Compiled loops of communities: moves of the Louvain method, merges of Paris, cuts of the merge tree."""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Labels

GAIN = 1e-12
"""Smallest gain of a move, so that rounding moves nothing to and fro."""

ROUNDS = 30
"""Largest number of rounds over all rows in a pass of moves."""


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
    volume = 0.0
    for i in range(n):
        volume += degrees[i]
    scale = gamma / volume
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
def sums_between(
    starts: Indices, tails: Indices, weights: Array, labels: Labels, m: int
) -> tuple[Indices, Indices, Array]:
    """Sums of symmetric weights between the communities 0..m-1, in the compressed form of the weights."""
    n = len(labels)
    begins = np.zeros(m + 1, dtype=np.int64)
    for i in range(n):
        begins[labels[i] + 1] += 1
    for c in range(m):
        begins[c + 1] += begins[c]
    members = np.empty(n, dtype=np.int64)
    place = begins.copy()
    for i in range(n):
        members[place[labels[i]]] = i
        place[labels[i]] += 1
    inside = np.zeros(m)
    touched = np.empty(m, dtype=np.int64)
    ends = np.zeros(m + 1, dtype=np.int32)
    others = np.empty(0, dtype=np.int32)
    sums = np.empty(0)
    for filling in range(2):
        for c in range(m):
            count = 0
            for at in range(begins[c], begins[c + 1]):
                i = members[at]
                for e in range(starts[i], starts[i + 1]):
                    d = labels[tails[e]]
                    if inside[d] == 0.0:
                        touched[count] = d
                        count += 1
                    inside[d] += weights[e]
            for t in range(count):  # into the rows of the others, as the weights are symmetric: these are then sorted
                d = touched[t]
                if filling:
                    others[place[d]], sums[place[d]] = c, inside[d]
                    place[d] += 1
                else:
                    ends[d + 1] += 1
                inside[d] = 0.0
        if not filling:
            for c in range(m):
                ends[c + 1] += ends[c]
            for c in range(m):
                place[c] = ends[c]
            others = np.empty(ends[m], dtype=np.int32)
            sums = np.empty(ends[m])
    return ends, others, sums


@njit
def merge_all(starts: Indices, tails: Indices, weights: Array, volumes: Array) -> tuple[Indices, Array]:
    """Merges of m communities by nearest-neighbour chains; changes all arrays but `starts`.

    Two communities are as similar as ``W_ab / (vol_a vol_b)``. The symmetric weights are in a compressed form, positive
    and such that their sums are exact: else the two ends of a chain may differ on what is most similar. Returns the
    merged clusters (m - 1, 2), named by their order of creation from m on, and the similarities, (m - 1,), of which
    none is above those inside what it merges.
    """
    m = len(volumes)
    # the entries of a cluster are a list; those of two that merge are joined, and put together when they are looked at
    after = np.full(len(tails), -1, dtype=np.int64)
    head = np.full(m, -1, dtype=np.int64)
    last = np.full(m, -1, dtype=np.int64)
    for a in range(m):
        if starts[a] < starts[a + 1]:
            head[a], last[a] = starts[a], starts[a + 1] - 1
        for e in range(starts[a], starts[a + 1] - 1):
            after[e] = e + 1
    home = np.arange(m)  # the cluster that a community is in, or one on the way to it
    seen = np.full(m, -1, dtype=np.int64)
    entry = np.empty(m, dtype=np.int64)
    inside = np.full(m, np.inf)  # the last similarity inside each cluster, which rounding must not let a merge exceed
    name = np.arange(m)
    pairs = np.empty((m - 1, 2), dtype=np.int64)
    similar = np.empty(m - 1)
    chain = np.empty(m + 1, dtype=np.int64)
    length = merged = first = look = 0
    while merged < m - 1:
        if length == 0:
            while home[first] != first:
                first += 1
            chain[0], length = first, 1
        while True:
            a = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            previous, e = -1, head[a]
            while e >= 0:
                b = tails[e]
                while home[b] != b:
                    home[b] = home[home[b]]
                    b = home[b]
                if b == a or seen[b] == look:
                    if b != a:
                        weights[entry[b]] += weights[e]
                    if previous < 0:
                        head[a] = after[e]
                    else:
                        after[previous] = after[e]
                else:
                    seen[b], entry[b], tails[e] = look, e, b
                    previous = e
                e = after[e]
            last[a] = previous
            look += 1
            best, most = before, 0.0  # if nothing is connected with it
            e = head[a]
            while e >= 0:
                b = tails[e]
                value = weights[e] / (volumes[a] * volumes[b])
                if value > most or (value == most and best != before and (b == before or b < best)):
                    best, most = b, value
                e = after[e]
            if best < 0:
                best = first
                while home[best] != best or best == a:
                    best += 1
            if best == before:
                break
            chain[length] = best
            length += 1
        b = chain[length - 2]
        length -= 2
        inside[b] = min(most, inside[a], inside[b])
        pairs[merged, 0], pairs[merged, 1], similar[merged] = name[a], name[b], inside[b]
        if head[a] >= 0:
            if head[b] < 0:
                head[b] = head[a]
            else:
                after[last[b]] = head[a]
            last[b] = last[a]
        volumes[b] += volumes[a]
        home[a] = b
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
    for c in range(m):
        total[c] = sizes[c]
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
def joint_counts(one: Labels, other: Labels, rows: int, columns: int) -> Array:
    """Numbers of vertices with each label of one labeling and each of the other, (rows, columns); -1 is none."""
    table = np.zeros((rows, columns))
    for i in range(len(one)):
        if one[i] >= 0 and other[i] >= 0:
            table[one[i], other[i]] += 1.0
    return table


@njit
def majority(labelings: Labels, names: Indices, reference: int) -> Labels:
    """The name that most labelings (m, n) give a vertex, (n,): of equally many that of the reference, then the lowest.

    Label c of labeling l is named ``names[l, c]``, -1 is none, and the last entry is for label -1. The answer is -1
    where fewer than half of the labelings agree.
    """
    m, n = labelings.shape
    answer = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        favoured, best, most = names[reference, labelings[reference, i]], -1, 0
        for one in range(m):
            name = names[one, labelings[one, i]]
            if name < 0:
                continue
            votes = 0
            for other in range(m):
                votes += names[other, labelings[other, i]] == name
            if votes > most or (votes == most and best != favoured and (name == favoured or name < best)):
                best, most = name, votes
        if 2 * most >= m:
            answer[i] = best
    return answer


@njit
def adjusted_rand(labelings: Labels) -> Array:
    """Adjusted Rand index of every two labelings (m, n) of whole numbers from 0, a symmetric matrix (m, m)."""
    m, n = labelings.shape
    indices = np.ones((m, m))
    most = np.empty(m, dtype=np.int64)
    pairs = np.zeros(m)
    for a in range(m):
        most[a] = 1
        for i in range(n):
            most[a] = max(most[a], labelings[a, i] + 1)
        sizes = np.zeros(most[a])
        for i in range(n):
            sizes[labelings[a, i]] += 1.0
        for p in range(most[a]):
            pairs[a] += sizes[p] * (sizes[p] - 1.0)
    for a in range(m):
        for b in range(a):
            table = joint_counts(labelings[a], labelings[b], most[a], most[b])
            together = 0.0
            for p in range(most[a]):
                for q in range(most[b]):
                    together += table[p, q] * (table[p, q] - 1.0)
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
