"""Moment matrices, the relaxations of w w' in both methods, and how they become one score a sample."""

from __future__ import annotations

import numpy as np

__all__ = ["complement", "leading", "oriented", "spectral", "symmetric"]

ALMOST = 1.0 - 1e-6
"""Ratio from which two moduli count as equal: the entries come from a conic solver of about that accuracy."""


def leading(W: np.ndarray) -> tuple[np.ndarray, float]:
    """The best vector w with ``w w' ≈ W`` (n, n), and its share of the trace: 1 where W has rank one. O(n³)."""
    values, vectors = np.linalg.eigh(W)
    largest, total = max(float(values[-1]), 0.0), float(np.trace(W))
    return oriented(np.sqrt(largest) * vectors[:, -1]), largest / total if total > 0 else 1.0


def spectral(M: np.ndarray, k: int) -> tuple[np.ndarray, float]:
    """The k leading eigenvectors of M times the roots of their eigenvalues, (n, k), and their share of the trace."""
    values, vectors = np.linalg.eigh(M)
    largest = np.maximum(values[::-1][:k], 0.0)
    return vectors[:, ::-1][:, :k] * np.sqrt(largest), min(1.0, float(largest.sum() / np.trace(M)))


def oriented(v: np.ndarray) -> np.ndarray:
    """v or -v, so that the entry of largest modulus is positive; the first one if several are equal up to rounding."""
    size = np.abs(v)
    first = int(np.argmax(size >= ALMOST * size.max()))
    return -v if v[first] < 0 else v


def complement(n: int) -> np.ndarray:
    """Orthonormal basis of the vectors whose entries sum to 0, (n, n - 1), after Helmert."""
    Q = np.zeros((n, n - 1))
    for j in range(1, n):
        Q[:j, j - 1] = 1.0
        Q[j, j - 1] = -j
    return Q / np.linalg.norm(Q, axis=0)


def symmetric(A: np.ndarray) -> np.ndarray:
    """The symmetric part."""
    return 0.5 * (A + A.T)
