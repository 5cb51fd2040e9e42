"""Equal clustering and GeoClust as in the paper: every distance is computed in every iteration."""

from __future__ import annotations

import itertools

import numpy as np


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


def jacobi(X, centres, step, turns, max_ratio=3.0, tolerance=-1, original=False):
    """Sizes and centres of every iteration, until the imbalance is below `tolerance`."""
    C = np.array(centres, dtype=float)
    sizes, history = [], []
    for _ in range(turns):
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
