"""Internal indices and misprints straight from their definitions: every pair, every cluster."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations


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
