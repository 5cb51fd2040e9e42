"""Cluster sizes within bounds.

Balancing by enumeration and by linear programming; the published repairs as literally as possible (specification 2.3,
2.5); equal clustering and GeoClust as in the paper, with every distance in every iteration.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array as eye
from scipy.sparse import kron, vstack


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


def linear_program(costs, low, high):
    """Optimum of min <C, P>, P >= 0, rows of P add up to 1, columns to low..high; None if there is none."""
    n, k = costs.shape
    rows = kron(eye(n), np.ones((1, k)))
    columns = kron(np.ones((1, n)), eye(k))
    upper = [(0, 1 if np.isfinite(cost) else 0) for cost in costs.ravel()]
    solution = linprog(
        np.where(np.isfinite(costs), costs, 0).ravel(),
        A_ub=vstack([columns, -columns]),
        b_ub=np.concatenate([high, -np.asarray(low)]),
        A_eq=rows,
        b_eq=np.ones(n),
        bounds=upper,
        method="highs",
    )
    return solution.fun if solution.status == 0 else None


def enumerated(costs, low, high):
    """Optimum over all labellings with allowed sizes."""
    n, k = costs.shape
    Y = labellings(n, k)
    sizes = sizes_of(Y, k)
    allowed = ((sizes >= low) & (sizes <= high)).all(axis=1)
    return costs[np.arange(n), Y[allowed]].sum(axis=1).min()


def coefficients(W, max_ratio, original):
    """r_ij, (m, m)."""
    m = len(W)
    r = np.zeros((m, m))
    for i, j in itertools.permutations(range(m), 2):
        if original:
            r[i, j] = W[j] / max(W[i], 1) - 1.0
        elif max_ratio > 1.0 and (W[i] or W[j]):  # with 1 the centres stay
            r[i, j] = max_ratio * W[j] / (W[j] + (max_ratio - 1.0) * W[i]) - 1.0
    return r


def jacobi(X, centres, step, n_iter, max_ratio=3.0, tolerance=-1, original=False):
    """Sizes and centres of every iteration, until the imbalance is below `tolerance`."""
    C = np.array(centres, dtype=float)
    sizes, history = [], []
    for _ in range(n_iter):
        D = ((X[:, None, :] - C[None]) ** 2).sum(axis=2)
        W = np.bincount(np.argmin(D, axis=1), minlength=len(C))
        sizes.append(W)
        history.append(C)
        if np.abs(W - len(X) // len(C)).max() < tolerance:
            break
        r = coefficients(W, max_ratio, original)
        C = C + step * np.array([sum(r[i, j] * (C[j] - C[i]) for j in range(len(C))) for i in range(len(C))])
    return np.array(sizes), np.array(history)


def strict_parts(X, seeds, max_iter=6000):
    """The partition as printed: labels by the centres of the last iteration, and the distance of the nearest tie.

    The step is 0.01, ten times less for every ten parts beyond the first ten; the tolerance is ``n // (50 m)`` even
    where no sizes fall below it; there is one start.
    """
    n, m = len(X), len(seeds)
    step = 0.01
    for parts in range(11, m + 1):
        step = step / 10 if parts % 10 == 1 else step
    _, history = jacobi(X, seeds, step, max_iter, max_ratio=3.0, tolerance=n // (50 * m))
    tie = np.inf
    for C in history:
        D = np.sort(((X[:, None, :] - C[None]) ** 2).sum(axis=2), axis=1)
        tie = min(tie, (D[:, 1] - D[:, 0]).min())
    D = ((X[:, None, :] - history[-1][None]) ** 2).sum(axis=2)
    return np.argmin(D, axis=1), tie


def cheapest_even(costs):
    """The lowest cost of an assignment with sizes n // k or one more, by trying all of them."""
    n, k = costs.shape
    best = np.inf
    for labels in itertools.product(range(k), repeat=n):
        sizes = np.bincount(labels, minlength=k)
        if sizes.min() >= n // k and sizes.max() <= -(-n // k):
            best = min(best, costs[np.arange(n), labels].sum())
    return best


def weighted_cells(X, centres, weights):
    """For each row the two cells with the largest w_j - |x - c_j|², the lower number on ties, and their difference."""
    first, second, gap = [], [], []
    for x in X:
        scores = [w - sum((x - c) ** 2) for c, w in zip(centres, weights, strict=True)]
        order = sorted(range(len(scores)), key=lambda j: -scores[j])
        first.append(order[0])
        second.append(order[1])
        gap.append(scores[order[0]] - scores[order[1]])
    return np.array(first), np.array(second), np.array(gap)
