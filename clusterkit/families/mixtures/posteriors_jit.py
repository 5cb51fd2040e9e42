"""The compiled loop over the rows of a mixed table, for their posteriors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices


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
