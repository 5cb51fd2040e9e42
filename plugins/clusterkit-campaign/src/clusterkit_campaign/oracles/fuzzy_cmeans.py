"""Fuzzy c-means as in the textbook, sample by sample."""

from __future__ import annotations

import numpy as np


def memberships(distances, phi):
    """``1 / Σ_l (d_j / d_l)^(1/(φ-1))`` for each sample; equal shares in the centres on which it lies."""
    U = np.zeros(distances.shape)
    for i, d in enumerate(distances):
        zero = np.flatnonzero(d == 0)
        if len(zero):
            U[i, zero] = 1 / len(zero)
            continue
        for j in range(len(d)):
            U[i, j] = 1 / sum((d[j] / d[m]) ** (1 / (phi - 1)) for m in range(len(d)))
    return U


def distances(X, centres):
    """Squared distances, (n, k)."""
    return np.array([[np.sum((x - v) ** 2) for v in centres] for x in X])


def centres(X, U, phi):
    """Means weighted by ``u^φ``, (k, d)."""
    return np.array([sum(u**phi * x for u, x in zip(column, X, strict=True)) / np.sum(column**phi) for column in U.T])


def objective(X, U, V, phi):
    """``Σ u^φ d``."""
    return float(np.sum(U**phi * distances(X, V)))


def iterate(X, V, phi, turns):
    """Memberships and the centres they belong to after some iterations, and the objective of each iteration."""
    history = []
    for _ in range(turns):
        U = memberships(distances(X, V), phi)
        history.append(objective(X, U, V, phi))
        current, V = V, centres(X, U, phi)
    return U, current, history


def kernel_distances(K, weights):
    """Squared distances in the space of a kernel to weighted means of the samples; weights (n, k) sum to 1."""
    D = np.empty(weights.shape)
    for j, w in enumerate(weights.T):
        D[:, j] = np.diag(K) - 2 * K @ w + w @ K @ w
    return D


def iterate_kernel(K, weights, phi, turns):
    """Memberships after some iterations in the space of a kernel, and the objective of each iteration."""
    history = []
    for _ in range(turns):
        D = kernel_distances(K, weights)
        U = memberships(D, phi)
        history.append(float(np.sum(U**phi * D)))
        weights = U**phi / np.sum(U**phi, axis=0)
    return U, history
