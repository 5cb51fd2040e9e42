"""Normalised cuts and smooth posteriors by their formulas, entry by entry."""

from __future__ import annotations

from itertools import product

import numpy as np


def weights(X, gamma, self_loops=False):
    """Gaussian weights, pair by pair, (n, n)."""
    W = np.array([[np.exp(-gamma * np.sum((x - y) ** 2)) for y in X] for x in X])
    if not self_loops:
        np.fill_diagonal(W, 0.0)
    return W


def neighbour_weights(X, p):
    """1 if one of two samples is among the p nearest neighbours of the other, else 0, (n, n)."""
    n = len(X)
    near = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: np.sum((X[i] - X[j]) ** 2))
        near[i, others[:p]] = True
    return (near | near.T).astype(float)


def ncut(W, labels):
    """``Σ_j cut(S_j, rest) / vol(S_j)``."""
    total = 0.0
    for j in np.unique(labels):
        cut = sum(W[a, b] for a in np.flatnonzero(labels == j) for b in np.flatnonzero(labels != j))
        volume = sum(W[a, b] for a in np.flatnonzero(labels == j) for b in range(len(W)))
        total += cut / volume if volume > 0 else 0.0
    return total


def smallest_ncut(W):
    """Smallest Ncut of all bipartitions with two nonempty sides."""
    n = len(W)
    return min(ncut(W, np.array([0, *rest])) for rest in product((0, 1), repeat=n - 1) if any(rest))


def best_threshold(W, z):
    """The smallest Ncut of all splits of the coordinates z."""
    return min(ncut(W, (z > t).astype(int)) for t in np.unique(z)[:-1])


def second_coordinate(W):
    """All eigenvalues of ``D^(-1/2) W D^(-1/2)``, and ``D^(-1/2) u`` for the second-largest, by a dense solver."""
    degrees = W.sum(axis=1)
    A = W / np.sqrt(degrees[:, None] * degrees)
    values, vectors = np.linalg.eigh(A)
    return values[::-1], vectors[:, -2] / np.sqrt(degrees)


def pieces(W):
    """Connected components by breadth-first search, numbered by first appearance."""
    component = -np.ones(len(W), dtype=int)
    for first in range(len(W)):
        if component[first] >= 0:
            continue
        number, waiting = component.max() + 1, [first]
        while waiting:
            i = waiting.pop()
            if component[i] < 0:
                component[i] = number
                waiting += [j for j in range(len(W)) if W[i, j] > 0 and component[j] < 0]
    return component


def smooth(W, P, F, gamma):
    """``(1-γ) P + γ D^(-1) W F``, sample by sample."""
    smoothed = np.empty(P.shape)
    for i, row in enumerate(W):
        average = row @ F / row.sum() if row.sum() > 0 else P[i]
        smoothed[i] = (1 - gamma) * P[i] + gamma * average
    return smoothed


def roughness(W, F):
    """``1/2 Σ W_il |f_i - f_l|²``."""
    n = len(W)
    return 0.5 * sum(W[i, j] * np.sum((F[i] - F[j]) ** 2) for i in range(n) for j in range(n))


def log_likelihood(X, F, ridge):
    """Log-likelihood and posteriors of the mixture fitted with the weights F, by determinants and inverses."""
    n, d = X.shape
    densities = np.zeros((n, F.shape[1]))
    for j, f in enumerate(F.T):
        share = f.sum()
        mean = f @ X / share
        covariance = sum(w * np.outer(x - mean, x - mean) for w, x in zip(f, X, strict=True)) / share
        covariance += ridge * np.eye(d)
        inverse, size = np.linalg.inv(covariance), np.linalg.det(2 * np.pi * covariance)
        densities[:, j] = [share / n / np.sqrt(size) * np.exp(-0.5 * (x - mean) @ inverse @ (x - mean)) for x in X]
    return float(np.log(densities.sum(axis=1)).sum()), densities / densities.sum(axis=1, keepdims=True)
