"""Selection of the r smallest values with a fixed rule for ties."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Indices

__all__ = ["smallest"]


def smallest(values: Array, r: int) -> Indices:
    """Indices of the r smallest values; of equal values those with the lowest indices. O(n), without sorting."""
    if r >= len(values):
        return np.arange(len(values))
    limit = np.partition(values, r - 1)[r - 1]
    below = np.flatnonzero(values < limit)
    level = np.flatnonzero(values == limit)[: r - len(below)]
    return np.concatenate([below, level])
