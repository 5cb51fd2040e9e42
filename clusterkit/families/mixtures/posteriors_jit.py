"""Compiled loops over the rows of a mixed table: posteriors, and how far columns are from a Gaussian."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Mask
from clusterkit.numerics.spanning_trees.boruvka_jit import smallest

__all__ = ["gains_of_two", "posteriors"]


@njit
def posteriors(
    logs: Array, codes: NDArray[np.int32], places: Indices, tables: Array, shares: Array, counts: Array
) -> float:
    """Turn logarithms of densities (n, k) into posteriors, in place, and return the log-likelihood.

    Parameters
    ----------
    logs : ndarray of shape (n, k)
        Logarithms of the densities of the numbers; they become the posteriors.
    codes : ndarray of shape (n, q)
        Levels, -1 for a gap.
    places : ndarray of shape (q,)
        Where the levels of a category begin in `tables`; -1 for a category that does not count.
    tables : ndarray of shape (L, k)
        Logarithms of the probabilities of the levels in each cluster.
    shares : ndarray of shape (k,)
        Logarithms of the shares of the clusters.
    counts : ndarray of shape (L, k)
        Gets the sums of the posteriors over the rows of each level.
    """
    n, k = logs.shape
    q = codes.shape[1]
    total = 0.0
    for i in range(n):
        largest = -math.inf
        for c in range(k):
            logs[i, c] += shares[c]
        for j in range(q):
            if places[j] >= 0 and codes[i, j] >= 0:
                at = places[j] + codes[i, j]
                for c in range(k):
                    logs[i, c] += tables[at, c]
        for c in range(k):
            largest = max(largest, logs[i, c])
        mass = 0.0
        for c in range(k):
            logs[i, c] = math.exp(logs[i, c] - largest)
            mass += logs[i, c]
        for c in range(k):
            logs[i, c] /= mass
        total += largest + math.log(mass)
        for j in range(q):
            if places[j] >= 0 and codes[i, j] >= 0:
                at = places[j] + codes[i, j]
                for c in range(k):
                    counts[at, c] += logs[i, c]
    return total


@njit
def gains_of_two(Z: Array, observed: Mask, iterations: int, floor: float) -> Array:
    """How much the log-likelihood of each column (n, p) gains a row by two Gaussians instead of one, (p,).

    EM from cuts at the three quartiles; `floor` is added to the variances. A penalty of ``3/2 ln m`` is subtracted.
    """
    n, p = Z.shape
    gains = np.zeros(p)
    for j in range(p):
        m = 0
        x = np.empty(n)
        for i in range(n):
            if observed[i, j]:
                x[m] = Z[i, j]
                m += 1
        if m < 4:
            continue
        ordered, mean = np.empty(m), 0.0
        for i in range(m):
            ordered[i] = x[i]
            mean += x[i]
        mean /= m
        square = 0.0
        for i in range(m):
            square += (x[i] - mean) ** 2
        alone = -0.5 * m * math.log(2.0 * math.pi * max(square / m, 1e-12)) - 0.5 * m
        best = alone
        for cut in range(1, 4):
            border = smallest(ordered, m, min(m - 1, (m * cut) // 4) + 1)
            w1 = 0.0
            s1 = 0.0
            r1 = 0.0
            s0 = 0.0
            r0 = 0.0
            for i in range(m):
                a = 0.95 if x[i] > border else 0.05
                w1 += a
                s1 += a * x[i]
                r1 += a * x[i] * x[i]
                s0 += (1.0 - a) * x[i]
                r0 += (1.0 - a) * x[i] * x[i]
            total = alone
            for _ in range(iterations):
                w0 = m - w1 + 1e-9
                w1 += 1e-9
                m1 = s1 / w1
                m0 = s0 / w0
                v1 = max(r1 / w1 - m1 * m1, 0.0) + floor
                v0 = max(r0 / w0 - m0 * m0, 0.0) + floor
                c1 = math.log(w1 / m) - 0.5 * math.log(2.0 * math.pi * v1)
                c0 = math.log(w0 / m) - 0.5 * math.log(2.0 * math.pi * v0)
                total = 0.0
                w1 = 0.0
                s1 = 0.0
                r1 = 0.0
                s0 = 0.0
                r0 = 0.0
                for i in range(m):
                    l1 = c1 - 0.5 * (x[i] - m1) ** 2 / v1
                    l0 = c0 - 0.5 * (x[i] - m0) ** 2 / v0
                    high = max(l1, l0)
                    a = math.exp(l1 - high)
                    b = math.exp(l0 - high)
                    total += high + math.log(a + b)
                    a /= a + b
                    w1 += a
                    s1 += a * x[i]
                    r1 += a * x[i] * x[i]
                    s0 += (1.0 - a) * x[i]
                    r0 += (1.0 - a) * x[i] * x[i]
            best = max(best, total)
        gains[j] = (best - alone - 1.5 * math.log(m)) / m
    return gains
