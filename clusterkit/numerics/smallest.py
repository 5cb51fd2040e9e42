"""The smallest of many values, where a sort of all of them would cost too much."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Indices

__all__ = ["smallest"]


def smallest(values: Array, size: int) -> Indices:
    """Indices of the `size` smallest values, ascending; of equal values the first.

    Examples
    --------
    >>> smallest(np.array([3.0, 1.0, 2.0, 1.0]), 2).tolist()
    [1, 3]
    """
    if len(values) <= size:
        return np.arange(len(values))
    among = np.flatnonzero(values <= np.partition(values, size - 1)[size - 1])
    return np.sort(among[np.argsort(values[among], kind="stable")[:size]])
