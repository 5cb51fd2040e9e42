"""Textbook multiplicative updates, samples as columns, forming W B: the twin of `clusterkit.solvers.nmf`."""

from __future__ import annotations

import numpy as np


def objective(V, W, B):
    """Half the squared Frobenius distance."""
    return 0.5 * np.sum((V - W @ B) ** 2)


def iterate(V, W, B, n_iter, delta):
    """Lee & Seung's alternating updates with delta added above and below; the factors and F after each iteration."""
    history = []
    for _ in range(n_iter):
        B = B * (W.T @ V + delta) / (W.T @ (W @ B) + delta)
        W = W * (V @ B.T + delta) / ((W @ B) @ B.T + delta)
        history.append(objective(V, W, B))
    return W, B, history


def start(V, k, rng):
    """The same draws as the solver's: B' first, then W."""
    p, n = V.shape
    scale = np.sqrt(V.mean() / k)
    B = ((1.0 - rng.random((n, k))) * scale).T
    W = (1.0 - rng.random((p, k))) * scale
    return W, B
