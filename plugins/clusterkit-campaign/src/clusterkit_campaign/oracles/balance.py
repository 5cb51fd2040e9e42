"""Balancing by enumeration, and the published repairs (specification 2.3, 2.5) as literally as possible."""

from __future__ import annotations

import itertools
import math

import numpy as np


def labellings(n, k):
    """All k^n labellings, one in each row."""
    return np.indices((k,) * n).reshape(n, -1).T


def sizes_of(Y, k):
    """Cluster sizes of each row of labels."""
    return np.stack([np.count_nonzero(np.equal(Y, j), axis=1) for j in range(k)], axis=1)


def optimum(costs, slack):
    """Least sum of costs over all labellings with ``|N_p - N_q| <= slack``."""
    n, k = costs.shape
    Y = labellings(n, k)
    sizes = sizes_of(Y, k)
    allowed = sizes.max(axis=1) - sizes.min(axis=1) <= slack
    return costs[np.arange(n), Y[allowed]].sum(axis=1).min()


def two_class(f, l):  # noqa: E741 (the paper's letter)
    """2.3: flip the smallest positive or the largest negative scores; labels 0 and 1, a score of 0 is label 0."""
    n = len(f)
    labels = (f > 0).astype(int)
    most = math.floor((n + l) / 2 + 1e-9)
    for label, sign in ((1, 1), (0, -1)):
        members = [i for i in range(n) if labels[i] == label]
        members.sort(key=lambda i: (sign * f[i], i))
        for i in members[: max(0, len(members) - most)]:
            labels[i] = 1 - label
    return labels


def pairwise(labels, k, l, key):  # noqa: E741
    """2.5: rows with the smallest ``key(i, p, q)`` move from the largest to the smallest class; labels and rounds."""
    labels = np.array(labels)
    l = l if len(labels) % k == 0 else max(l, 1)  # noqa: E741
    for rounds in range(len(labels) + 1):
        sizes = [int(np.sum(labels == j)) for j in range(k)]
        p, q = sizes.index(max(sizes)), sizes.index(min(sizes))
        gap = sizes[p] - sizes[q]
        if gap <= max(l, 1 if len(labels) % k else 0):
            return labels, rounds
        members = sorted((i for i in range(len(labels)) if labels[i] == p), key=lambda i: (key(i, p, q), i))
        labels[members[: math.ceil((gap - l) / 2)]] = q
    raise AssertionError("no end")


def single_output(f):
    """Key of the single-output case: the smallest f go up in number, the largest go down."""
    return lambda i, p, q: f[i] if p > q else -f[i]


def regret(F):
    """Key of the multi-output case."""
    return lambda i, p, q: F[i, p] - F[i, q]


def confidence(F):
    """Key of the multi-output case as printed."""
    return lambda i, p, q: F[i].max()


def intervals(f, costs, low, high):
    """Least sum of costs if class j is the j-th interval of the sorted f, all sizes in [low, high]."""
    n, k = costs.shape
    order = np.argsort(f, kind="stable")
    best = math.inf
    for cuts in itertools.combinations_with_replacement(range(n + 1), k - 1):
        sizes = np.diff([0, *cuts, n])
        if sizes.min() >= low and sizes.max() <= high:
            best = min(best, costs[order, np.repeat(np.arange(k), sizes)].sum())
    return best
