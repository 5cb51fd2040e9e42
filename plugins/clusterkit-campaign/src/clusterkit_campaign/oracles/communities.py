"""Plain versions of the graph of shared neighbours, of the merge tree, and of its cuts."""

from __future__ import annotations

import numpy as np

__all__ = ["adjusted_rand", "cut", "filled", "merges", "modularity", "nearest", "shared_weights"]


def nearest(X, k):
    """The k nearest others of each row and their squared distances, float64, ties by number."""
    X = X.astype(np.float64)
    D = np.stack([((X - x) ** 2).sum(axis=1) for x in X])
    np.fill_diagonal(D, np.inf)
    index = np.argsort(D, axis=1, kind="stable")[:, :k]
    return index, np.take_along_axis(D, index, axis=1)


def shared_weights(index):
    """The dense symmetric matrix of ``(w_ij + w_ji) / 2``, w from sets of neighbours and the row itself."""
    n = len(index)
    sets = [{i, *map(int, index[i])} for i in range(n)]
    W = np.zeros((n, n))
    for i in range(n):
        for j in map(int, index[i]):
            W[i, j] = len(sets[i] & sets[j]) / len(sets[i] | sets[j])
    return (W + W.T) / 2


def modularity(W, labels, gamma):
    """Modularity at a resolution, for a dense symmetric W."""
    degrees, total = W.sum(axis=1), W.sum()
    same = labels[:, None] == labels[None]
    return float(((W - gamma * np.outer(degrees, degrees) / total) * same).sum() / total)


def merges(B):
    """Pairs of sets of communities in the order of falling similarity ``B_ab ΣB / (vol_a vol_b)``, with it."""
    clusters = [frozenset([i]) for i in range(len(B))]
    total, volumes = B.sum(), B.sum(axis=1)
    between = {(a, b): sum(B[i, j] for i in a for j in b) for a in clusters for b in clusters if min(a) < min(b)}
    volume = {a: sum(volumes[i] for i in a) for a in clusters}
    steps = []
    while len(clusters) > 1:
        (a, b), similar = max(
            (((a, b), w * total / (volume[a] * volume[b])) for (a, b), w in between.items()), key=lambda each: each[1]
        )
        union = a | b
        steps.append(({a, b}, similar))
        clusters = [c for c in clusters if c not in (a, b)]
        for c in clusters:
            weight = sum(w for pair, w in between.items() if set(pair) in ({a, c}, {b, c}))
            between[(union, c)] = weight
        between = {pair: w for pair, w in between.items() if not {a, b} & set(pair)}
        volume[union] = volume[a] + volume[b]
        clusters.append(union)
    return steps


def cut(pairs, similar, sizes, least, count):
    """Labels of communities by undoing the last merge of the clusters over and over, and the similarities of splits."""
    m = len(sizes)
    below = {c: {c} for c in range(m)}
    for t, (a, b) in enumerate(pairs):
        below[m + t] = below[a] | below[b]
    rows = {v: sum(sizes[c] for c in members) for v, members in below.items()}
    labels, splits, clusters = np.full(m, -1), [], {2 * m - 2}
    whole = set()
    while len(splits) < count and (open_clusters := [v for v in clusters - whole if v >= m]):
        v = max(open_clusters)
        a, b = pairs[v - m]
        large = [side for side in (a, b) if rows[side] >= least]
        if not large:
            whole.add(v)
            continue
        if len(large) == 2:
            splits.append(similar[v - m])
        clusters = (clusters - {v}) | set(large)
    for number, v in enumerate(sorted(clusters)):
        labels[sorted(below[v])] = number
    return labels, splits


def adjusted_rand(one, other):
    """Adjusted Rand index, by scikit-learn."""
    from sklearn.metrics import adjusted_rand_score

    return adjusted_rand_score(one, other)


def filled(W, labels):
    """Labels where those of -1 take that of most weight among their neighbours, by the labels of the round before."""
    labels = labels.copy()
    while True:
        before, changed = labels.copy(), False
        for i in np.flatnonzero(before < 0):
            votes = {}
            for j in np.flatnonzero((W[i] > 0) & (before >= 0)):
                votes[before[j]] = votes.get(before[j], 0.0) + W[i, j]
            if votes:
                labels[i] = min(votes, key=lambda c: (-votes[c], c))
                changed = True
        if not changed:
            return labels
