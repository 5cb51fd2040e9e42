"""Measures of labellings straight from their definitions, with loops: every pair, every naming, every cluster.

Agreement of two labellings, internal indices, density-based validation, and what the tuner of support vector clustering
measures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations, permutations

import numpy as np

Labels = Sequence[Hashable]


def rand_index_by_pairs(true: Labels, pred: Labels) -> float:
    """Look at all n(n-1)/2 pairs of samples."""
    pairs = list(combinations(range(len(true)), 2))
    agree = sum((true[i] == true[j]) == (pred[i] == pred[j]) for i, j in pairs)
    return agree / len(pairs) if pairs else 1.0


def accuracy_by_enumeration(true: Labels, pred: Labels) -> float:
    """Try every one-to-one naming; sides of unequal size are padded with names nobody uses."""
    classes, clusters = sorted(set(true), key=str), sorted(set(pred), key=str)
    size = max(len(classes), len(clusters))
    padded = [*classes, *[None] * (size - len(classes))]
    table = Counter(zip(true, pred, strict=True))
    best = max(
        sum(table[name, cluster] for name, cluster in zip(naming, clusters, strict=False))
        for naming in permutations(padded)
    )
    return best / len(true)


def asymmetric_accuracy_by_enumeration(true: Labels, pred: Labels) -> float:
    """Try every one-to-one naming, with the share of each class that keeps its name."""
    classes, clusters = list(set(true)), list(set(pred))
    k = len(classes)
    if k == 1:
        return float(len(clusters) == 1)
    padded = [*clusters, *[None] * max(0, k - len(clusters))]
    table, sizes = Counter(zip(true, pred, strict=True)), Counter(true)
    best = max(
        sum(table[name, cluster] / sizes[name] for name, cluster in zip(classes, naming, strict=False))
        for naming in permutations(padded)
    )
    return (best / k - 1 / k) / (1 - 1 / k)


def purity_by_clusters(true: Labels, pred: Labels) -> float:
    """Take the members of one cluster after the other."""
    members = [[t for t, p in zip(true, pred, strict=True) if p == cluster] for cluster in set(pred)]
    return sum(max(Counter(group).values()) for group in members) / len(true)


def nmi_by_definition(true: Labels, pred: Labels) -> float:
    """Sum over the joint distribution; arithmetic mean of the entropies."""
    n = len(true)
    joint, classes, clusters = Counter(zip(true, pred, strict=True)), Counter(true), Counter(pred)
    shared = sum(c / n * math.log(c * n / (classes[t] * clusters[p])) for (t, p), c in joint.items())
    entropies = [-sum(c / n * math.log(c / n) for c in side.values()) for side in (classes, clusters)]
    return shared / (sum(entropies) / 2) if any(entropies) else 1.0


def groups(X, labels):
    """Rows of each cluster."""
    clusters = {}
    for row, label in zip(X, labels, strict=True):
        clusters.setdefault(label, []).append([float(value) for value in row])
    return list(clusters.values())


def compactness_by_pairs(X, labels, squared=False):
    """Mean distance over the pairs of each cluster, weighted by its size; no pairs, no contribution."""
    total = 0.0
    for rows in groups(X, labels):
        distances = [math.dist(a, b) ** (2 if squared else 1) for a, b in combinations(rows, 2)]
        if distances:
            total += len(rows) * sum(distances) / len(distances)
    return total / len(labels)


def davies_bouldin_by_clusters(X, labels):
    """The worst partner of each cluster; clusters must not share a centroid."""
    clusters = groups(X, labels)
    centroids = [[math.fsum(column) / len(rows) for column in zip(*rows, strict=True)] for rows in clusters]
    spreads = [sum(math.dist(row, c) for row in rows) / len(rows) for rows, c in zip(clusters, centroids, strict=True)]
    worst = [
        max(
            (spreads[i] + spreads[j]) / math.dist(centroids[i], centroids[j])
            for j in range(len(clusters))
            if j != i and spreads[i] + spreads[j] > 0
        )
        if any(spreads[i] + spreads[j] > 0 for j in range(len(clusters)) if j != i)
        else 0.0
        for i in range(len(clusters))
    ]
    return sum(worst) / len(worst)


def purity_by_class_by_counting(true, pred):
    """Shares of a class that fall into a cluster, the largest for each cluster."""
    sizes, joint = Counter(true), Counter(zip(true, pred, strict=True))
    return sum(
        size / len(pred) * max(count / sizes[t] for (t, p), count in joint.items() if p == cluster)
        for cluster, size in Counter(pred).items()
    )


def dbcv(X, labels, squared=True) -> float:
    """DBCV of Moulavi et al. (2014), noise -1; ties of the tree by plain distance."""
    points = [tuple(map(float, x)) for x in X]

    def dist(a, b):
        return math.dist(a, b) ** (2 if squared else 1)

    d = len(points[0])
    names = [c for c in sorted(set(labels)) if c != -1 and list(labels).count(c) > 1]
    members = {c: [i for i, y in enumerate(labels) if y == c] for c in names}
    core, sparse, inner = {}, {}, {}
    for c in names:
        rows = members[c]
        for i in rows:
            distances = [dist(points[i], points[j]) for j in rows if j != i]
            if min(distances) == 0:
                core[i] = 0.0
            else:
                core[i] = (sum((1 / v) ** d for v in distances) / (len(rows) - 1)) ** (-1 / d)
        tree = kruskal(rows, core, points, dist)
        degree = {i: sum(i in edge for _, edge in tree) for i in rows}
        nodes = [i for i in rows if degree[i] > 1]
        edges = [length for length, (i, j) in tree if degree[i] > 1 and degree[j] > 1]
        sparse[c] = max(edges or [length for length, _ in tree])
        inner[c] = nodes or rows
    total = 0.0
    for c in names:
        apart = min(
            max(core[i], core[j], dist(points[i], points[j]))
            for other in names
            if other != c
            for i in inner[c]
            for j in inner[other]
        )
        top = max(apart, sparse[c])
        total += len(members[c]) / len(points) * ((apart - sparse[c]) / top if top > 0 else 0.0)
    return total


def kruskal(rows, core, points, dist):
    """Edges (length, (i, j)) of the minimum spanning tree."""
    edges = []
    for a, i in enumerate(rows):
        for j in rows[:a]:
            distance = dist(points[i], points[j])
            edges.append((max(core[i], core[j], distance), distance, (j, i)))
    group = {i: i for i in rows}
    tree = []
    for length, _, (i, j) in sorted(edges):
        if group[i] != group[j]:
            old, new = group[i], group[j]
            group = {k: new if v == old else v for k, v in group.items()}
            tree.append((length, (i, j)))
    return tree


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


def disco(X, y, min_points=5) -> float:
    """DISCO of Beer et al. (2026), noise -1: by all paths, and a look at each row."""
    D, k, n = np.linalg.norm(X[:, None] - X[None], axis=2), len(set(y) - {-1}), len(X)
    core = np.sort(D, axis=1)[:, min(min_points, n) - 1]
    W = np.maximum(D, np.maximum.outer(core, core))
    for via in range(n):
        W = np.minimum(W, np.maximum.outer(W[:, via], W[via]))

    def excess(one, other):
        return (one - other) / max(one, other, 1e-300)

    scores = []
    for i in range(n):
        clusters = [y == c for c in set(y) - {-1, y[i]}]
        if y[i] < 0:
            worst = [min(excess(core[i], core[c].max()), excess(W[i, c].min(), core[c].max())) for c in clusters]
            scores.append(min(worst, default=-1.0))
        else:
            fellows = (y == y[i]) & (np.arange(n) != i)
            rest = [W[i, c].mean() for c in clusters] if k > 1 else W[i, y < 0]
            scores.append(excess(min(rest), W[i, fellows].mean()) if fellows.any() and len(rest) else 0.0)
    return float(np.mean(scores))
