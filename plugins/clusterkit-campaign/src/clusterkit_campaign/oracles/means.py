"""k-means and fuzzy c-means in plain loops, with explicit distances, on rows or on a kernel matrix."""

from __future__ import annotations

import numpy as np


def relocate(distances_of, current, empty, noise):
    """Columns of distances for the centres of empty classes.

    These centres are the samples farthest from the centres of their classes, no sample twice. On ties, among samples
    that none of the others is farther than by more than the `noise` of both, the lowest index; samples no farther from
    their centres than their noise come last.
    """
    columns, free, noise = {}, list(range(len(current))), np.broadcast_to(noise, len(current))
    for j in empty:
        off = [i for i in free if current[i] > noise[i]] or free
        sure = -1.0 if off is free else max(current[i] - noise[i] for i in off)
        i = next(i for i in off if current[i] + noise[i] >= sure)
        columns[j] = distances_of(i)
        free.remove(i)
    return columns


def distances(X, labels, k, noise=0.0):
    """Squared distances of rows to the class means, empty classes relocated, (n, k)."""
    n = len(X)
    D = np.full((n, k), np.nan)
    for j in range(k):
        if np.any(labels == j):
            D[:, j] = np.sum((X - X[labels == j].mean(axis=0)) ** 2, axis=1)
    empty = [j for j in range(k) if not np.any(labels == j)]
    current = D[np.arange(n), labels]
    for j, column in relocate(lambda i: np.sum((X - X[i]) ** 2, axis=1), current, empty, noise).items():
        D[:, j] = column
    return D


def kernel_distances(K, labels, k, noise=0.0):
    """Squared distances in the space of a kernel, summed pair by pair over the members of a class, (n, k)."""
    n = len(K)
    D = np.full((n, k), np.nan)
    for j in range(k):
        members = np.flatnonzero(labels == j)
        if len(members):
            within = np.mean(K[np.ix_(members, members)])
            D[:, j] = np.diag(K) - 2.0 * K[:, members].mean(axis=1) + within
    empty = [j for j in range(k) if not np.any(labels == j)]
    current = D[np.arange(n), labels]
    for j, column in relocate(lambda i: np.diag(K) - 2.0 * K[:, i] + K[i, i], current, empty, noise).items():
        D[:, j] = column
    return D


def kernel_objective(K, labels):
    """``trace(K) - sum_j (1/N_j) sum_{p,q in j} K_pq``."""
    total = np.trace(K)
    for j in np.unique(labels):
        members = labels == j
        total -= K[np.ix_(members, members)].sum() / members.sum()
    return total


def objective(X, labels):
    """Within-cluster sum of squares."""
    return sum(np.sum((X[labels == j] - X[labels == j].mean(axis=0)) ** 2) for j in np.unique(labels))


def lloyd(X, labels, k, noise=0.0, max_iter=300):
    """Iterate to a fixed point; returns the labels, and the objective of the labels entering each iteration."""
    history = []
    for _ in range(max_iter):
        D = distances(X, labels, k, noise)
        history.append(D[np.arange(len(X)), labels].sum())
        new = np.argmin(D, axis=1)
        if np.array_equal(new, labels):
            break
        labels = new
    return labels, history


def memberships(D, phi):
    """``1 / Σ_l (d_j / d_l)^(1/(φ-1))`` for each sample; equal shares in the centres on which it lies."""
    U = np.zeros(D.shape)
    for i, d in enumerate(D):
        zero = np.flatnonzero(d == 0)
        if len(zero):
            U[i, zero] = 1 / len(zero)
            continue
        for j in range(len(d)):
            U[i, j] = 1 / sum((d[j] / d[m]) ** (1 / (phi - 1)) for m in range(len(d)))
    return U


def fuzzy_distances(X, centres):
    """Squared distances, (n, k)."""
    return np.array([[np.sum((x - v) ** 2) for v in centres] for x in X])


def centres(X, U, phi):
    """Means weighted by ``u^φ``, (k, d)."""
    return np.array([sum(u**phi * x for u, x in zip(column, X, strict=True)) / np.sum(column**phi) for column in U.T])


def fuzzy_objective(X, U, V, phi):
    """``Σ u^φ d``."""
    return float(np.sum(U**phi * fuzzy_distances(X, V)))


def fuzzy_iterate(X, V, phi, n_iter):
    """Memberships and the centres they belong to after some iterations, and the objective of each iteration."""
    history = []
    for _ in range(n_iter):
        U = memberships(fuzzy_distances(X, V), phi)
        history.append(fuzzy_objective(X, U, V, phi))
        current, V = V, centres(X, U, phi)
    return U, current, history
