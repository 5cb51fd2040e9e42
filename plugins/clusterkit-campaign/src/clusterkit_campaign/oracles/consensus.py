"""Consensus functions as the definitions read: every sample a vertex, sets of samples, exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np


def first_seen(labels) -> list[int]:
    """Labels numbered from 0 by first appearance."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(int(label), len(numbers)) for label in labels]


def base_clusters(members) -> list[frozenset[int]]:
    """Clusters of all members, those of a member in order of appearance; -1 is none."""
    clusters = []
    for member in members:
        names = dict.fromkeys(label for label in member if label >= 0)
        clusters += [frozenset(i for i, label in enumerate(member) if label == name) for name in names]
    return clusters


def coassociation(members) -> list[list[int]]:
    """How many members put two samples together; how many know a sample on the diagonal."""
    n = len(members[0])
    return [[sum(m[i] == m[j] >= 0 for m in members) for j in range(n)] for i in range(n)]


def grow(S, relaxation, max_over) -> list[int]:
    """The expansion of COMUSA in a matrix of similarities."""
    n = len(S)

    def attachment(i):
        row = [S[i][j] for j in range(n) if j != i and S[i][j] > 0]
        return Fraction(sum(map(Fraction, row)), len(row)) if row else Fraction(-1)

    a = [attachment(i) for i in range(n)]
    unvisited, label, cluster = set(range(n)), [-1] * n, 0
    while unvisited:
        pivot = max(unvisited, key=lambda i: (a[i], -i))
        unvisited.remove(pivot)
        label[pivot] = cluster
        queue = [pivot]
        while queue:
            v = queue.pop(0)
            for w in sorted(unvisited):
                if S[v][w] <= 0:
                    continue
                others = range(n) if max_over == "all" else unvisited
                most = max((S[w][u] for u in others if u != w), default=0)
                if most <= S[v][w] * (1 + relaxation):
                    unvisited.remove(w)
                    label[w] = cluster
                    queue.append(w)
        cluster += 1
    return label


def comusa(members, relaxation=0.5, max_over="unvisited") -> list[int]:
    """Labels by COMUSA, from the expansion of co-associations."""
    return first_seen(grow(coassociation(members), relaxation, max_over))


def ecs(c1, c2, base) -> Fraction:
    """Similarity of two clusters by their overlaps with all base clusters."""
    return Fraction(sum(len(c1 & o) * len(c2 & o) for o in base), len(c1) * len(c2))


def ics(c, base) -> Fraction:
    """Similarity within a cluster: shared pairs over all pairs."""
    return Fraction(sum(pairs(len(c & o)) for o in base), pairs(len(c))) if len(c) > 1 else Fraction(0)


def pairs(count: int) -> int:
    """Number of pairs among that many samples."""
    return count * (count - 1) // 2


def vote(n, groups, base) -> list[int]:
    """For each sample the group with most of its base clusters; the first one on ties."""
    counts = [[sum(i in base[c] for c in group) for group in groups] for i in range(n)]
    return [row.index(max(row)) for row in counts]


def comusacl(members, relaxation=0.5, weight="jaccard") -> list[int]:
    """Labels by COMUSA on base clusters, then votes."""
    base = base_clusters(members)
    if weight == "jaccard":
        W = [[Fraction(len(c & o), len(c | o)) for o in base] for c in base]
    else:
        W = [[ecs(c, o, base) for o in base] for c in base]
    label = grow(W, Fraction(relaxation), "unvisited")
    groups = [[c for c in range(len(base)) if label[c] == g] for g in range(max(label) + 1)]
    return first_seen(vote(len(members[0]), groups, base))


def diclens(members) -> list[int]:
    """Labels by DICLENS: join along a spanning tree where the mean similarities say so."""
    base = base_clusters(members)
    E, n = len(base), len(members[0])
    similarity = [[ecs(c, o, base) for o in base] for c in base]
    cost = [[max(map(max, similarity)) + 1 - s for s in row] for row in similarity]
    tree, inside = [], {0}
    best = {v: (cost[0][v], 0) for v in range(1, E)}
    while best:
        v = min(best, key=lambda v: (best[v][0], v))
        price, parent = best.pop(v)
        inside.add(v)
        tree.append((price, min(parent, v), max(parent, v)))
        for w in best:
            if cost[v][w] < best[w][0]:
                best[w] = (cost[v][w], v)
    tree.sort()
    groups = [[c] for c in range(E)]
    partitions, inner, outer = [], [], []
    for t in range(E - 1):
        if t:
            _, a, b = tree[t - 1]
            joined = sorted(c for g in groups if a in g or b in g for c in g)
            groups = sorted([*(g for g in groups if a not in g and b not in g), joined])
        labels = vote(n, groups, base)
        partitions.append(first_seen(labels))
        clusters = [frozenset(np.flatnonzero(np.array(labels) == g).tolist()) for g in set(labels)]
        inner.append(sum(ics(c, base) for c in clusters) / len(clusters))
        between = [ecs(c, o, base) for c, o in combinations(clusters, 2)]
        outer.append(sum(between) / len(between) if between else Fraction(0))
    score = [i - o for i, o in zip(scaled(inner), scaled(outer), strict=True)]
    chosen = min(range(E - 1), key=lambda t: (-score[t], max(partitions[t])))
    return partitions[chosen]


def scaled(values):
    """Values mapped to [0, 1]."""
    low, high = min(values), max(values)
    return [(v - low) / (high - low) if high > low else Fraction(0) for v in values]


def distances(members) -> np.ndarray:
    """Share of the members knowing both samples that part them, (n, n); 1 where there is none."""
    n = len(members[0])
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            both = [m for m in members if m[i] >= 0 and m[j] >= 0]
            D[i, j] = np.mean([m[i] != m[j] for m in both]) if both else float(i != j)
    return D


def spectral_rows(members, k) -> np.ndarray:
    """Leading eigenvectors of the normalised n x n co-association, rows of unit length."""
    S = np.array(coassociation(members), dtype=float)
    d = S.sum(axis=1)
    vectors = np.linalg.eigh(S / np.sqrt(np.outer(d, d)))[1][:, ::-1][:, :k]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
