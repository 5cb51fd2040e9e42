"""Textbook factorisations, samples as columns, forming W B: plain versions of `clusterkit.families.factors`."""

from __future__ import annotations

import numpy as np


def objective(V, W, B):
    """Half the squared Frobenius distance."""
    return 0.5 * np.sum((V - W @ B) ** 2)


def iterate(V, W, B, n_iter, delta):
    """Lee & Seung's alternating updates, with delta in numerator and denominator; returns factors and history."""
    history = []
    for _ in range(n_iter):
        B = B * (W.T @ V + delta) / (W.T @ (W @ B) + delta)
        W = W * (V @ B.T + delta) / ((W @ B) @ B.T + delta)
        history.append(objective(V, W, B))
    return W, B, history


def start(V, k, rng):
    """The random start of the solver: B' is drawn first, then W."""
    p, n = V.shape
    scale = np.sqrt(V.mean() / k)
    B = ((1.0 - rng.random((n, k))) * scale).T
    W = (1.0 - rng.random((p, k))) * scale
    return W, B


def averaged(A, X):
    """The rows of A, those of equal rows of X replaced by their mean."""
    return np.stack([A[(x == X).all(axis=1)].mean(axis=0) for x in X])


def descend(A, N, G, most, enough):
    """Coordinate descent for the rows a of A: minimise ``a G a' / 2 - a N'`` over a >= 0."""
    A = A.copy()
    for i in range(len(A)):
        first = 0.0
        for sweep in range(most):
            before = A[i].copy()
            for c in range(len(G)):
                if G[c, c] > 1e-32 * np.trace(G):
                    A[i, c] = max(0.0, A[i, c] + (N[i, c] - G[c] @ A[i]) / G[c, c])
            change = np.sum((A[i] - before) ** 2)
            if sweep == 0:
                first = change
            if change <= enough**2 * first:
                break
    return A


def iterate_hals(V, W, B, n_iter, most_rows, most_columns, enough):
    """Hierarchical alternating least squares; returns the factors and F after each iteration."""
    history = []
    for _ in range(n_iter):
        B = descend(B.T, V.T @ W, W.T @ W, most_rows, enough).T
        W = descend(W, V @ B.T, B @ B.T, most_columns, enough)
        history.append(objective(V, W, B))
    return W, B, history


def iterate_convex(K, R, A, n_iter, delta):
    """Ding, Li & Jordan's updates for a nonnegative kernel, and ``tr (I - R A') K (I - A R') / 2`` after each."""
    eye, history = np.eye(len(K)), []
    for _ in range(n_iter):
        R = R * (K @ A + delta) / (R @ A.T @ K @ A + delta)
        A = A * (K @ R + delta) / (K @ A @ R.T @ R + delta)
        history.append(0.5 * np.trace((eye - R @ A.T) @ K @ (eye - A @ R.T)))
    return R, A, history


def start_convex(K, k, rng):
    """The random start of the solver: R is drawn first, then A, which is scaled to the best multiple of the product."""
    R, A = 1.0 - rng.random((len(K), k)), 1.0 - rng.random((len(K), k))
    return R, A * np.trace(R.T @ K @ A) / np.trace(A.T @ K @ A @ R.T @ R)
