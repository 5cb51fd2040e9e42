"""Density-based clustering validation, definition by definition, with lists and loops."""

from __future__ import annotations

import math


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
