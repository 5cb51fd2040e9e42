"""What the tuner of support vector clustering measures, in plain words: pairs, trees and steps."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def plain_rand(a, b):
    """The adjusted Rand index by counting pairs."""
    pairs = list(combinations(range(len(a)), 2))
    in_a = [a[i] == a[j] for i, j in pairs]
    in_b = [b[i] == b[j] for i, j in pairs]
    both, one, other = sum(x and y for x, y in zip(in_a, in_b, strict=True)), sum(in_a), sum(in_b)
    expected, most = one * other / len(pairs), (one + other) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def plain_separation(X, labels, rank=5, inner=0.97):
    """Gap against sparseness of every cluster, from a tree grown by Kruskal's rule."""
    n = len(X)
    far = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    core = np.sort(far, axis=1)[:, min(rank, n - 1)]
    edges = sorted((max(far[i, j], core[i], core[j]), far[i, j], i, j) for i, j in combinations(range(n), 2))
    part, tree = list(range(n)), []
    for length, _, i, j in edges:
        if part[i] != part[j]:
            tree.append((length, i, j))
            old, new = part[i], part[j]
            part = [new if each == old else each for each in part]
    total = 0.0
    for c in range(labels.max() + 1):
        inner_edges = [length for length, i, j in tree if labels[i] == c == labels[j]]
        out = [length for length, i, j in tree if (labels[i] == c) != (labels[j] == c)]
        sparse = np.quantile(inner_edges, inner) if inner_edges else 0.0
        if out and max(min(out), sparse) > 0:
            total += np.mean(labels == c) * (min(out) - sparse) / max(min(out), sparse)
    return total


def plain_reach(path, at, same):
    """Steps to the left and to the right of `at` over which a path of labels (None: a gap) agrees with its value."""
    counts = []
    for step in (-1, 1):
        steps, place = 0, at + step
        while 0 <= place < len(path) and path[place] is not None and plain_rand(path[at], path[place]) >= same:
            steps, place = steps + 1, place + step
        counts.append(steps)
    return tuple(counts)
