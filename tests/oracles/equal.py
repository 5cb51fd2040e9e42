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
        elif W[i] or W[j]:
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


def cheapest_even(costs):
    """The lowest cost of an assignment with sizes n // k or one more, by trying all of them."""
    n, k = costs.shape
    best = np.inf
    for labels in itertools.product(range(k), repeat=n):
        sizes = np.bincount(labels, minlength=k)
        if sizes.min() >= n // k and sizes.max() <= -(-n // k):
            best = min(best, costs[np.arange(n), labels].sum())
    return best
