"""Ridge regression factored anew for every right-hand side, and EMMC as a naive loop over it (specification 2.6)."""

from __future__ import annotations

import numpy as np


def primal(H, T, C):
    """B of ``(I/C + H'H) B = H'T``."""
    return np.linalg.solve(np.eye(H.shape[1]) / C + H.T @ H, H.T @ T)


def dual(H, T, C):
    """B of ``H' (I/C + HH')^-1 T``."""
    return H.T @ np.linalg.solve(np.eye(len(H)) / C + H @ H.T, T)


def fitted(H, T, C):
    """HB by the thin singular value decomposition: good for every C and every rank."""
    U, s, _ = np.linalg.svd(H, full_matrices=False)
    U, s = U[:, s > 0], s[s > 0]
    return U @ ((1.0 / (1.0 + (1.0 / C) / s**2))[:, None] * (U.T @ T))


def objective(H, B, T, C):
    """``|B|²/2 + (C/2) |H B - T|²``."""
    return 0.5 * np.sum(B**2) + 0.5 * C * np.sum((H @ B - T) ** 2)


def degrees(H, C):
    """Effective degrees of freedom, the trace of the hat matrix."""
    s = np.linalg.svd(H.astype(np.float64), compute_uv=False)
    return np.sum(s**2 / (s**2 + 1.0 / C))


def emmc(H, labels, codebook, decode, repair, C, max_iter=100):
    """EMMC: targets, ridge regression from scratch, labels, repair, until labels no longer change.

    Returns the label vectors entering each iteration followed by the last labels, and the objective of each iteration.
    """
    visited, values = [np.array(labels)], []
    for _ in range(max_iter):
        T = codebook[visited[-1]]
        B = primal(H, T, C)
        values.append(objective(H, B, T, C))
        F = H @ B
        read = repair(F, decode(F))
        seen = any(np.array_equal(read, old) for old in visited)
        visited.append(read)
        if seen:
            break
    return visited, values
