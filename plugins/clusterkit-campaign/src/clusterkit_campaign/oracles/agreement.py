"""Agreement of two labellings, straight from the definitions: every pair, every naming."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations, permutations

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
