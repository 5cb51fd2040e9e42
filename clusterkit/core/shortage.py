"""What is said of a fit that was asked for a number of clusters, and of which fewer have samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clusterkit._typing import Labels

__all__ = ["n_with_samples", "shortage"]


def n_with_samples(labels: Labels) -> int:
    """The number of clusters that samples have; noise (-1) is none."""
    return int(np.count_nonzero(np.bincount(labels + 1)[1:]))


def shortage(
    used: int, k: int, n: int, distinct: Callable[[], int] | None = None, words: str | None = None
) -> str | None:
    """A sentence about the clusters that no sample has; None if there are none.

    Parameters
    ----------
    used : int
        The number of clusters that have samples.
    k : int
        The number of clusters asked for.
    n : int
        The number of samples.
    distinct : callable, optional
        Counts the distinct samples, at least up to k; called only where clusters are missing, since it sorts samples.
    words : str, optional
        What the solver says of empty clusters, in place of the sentences here.

    Examples
    --------
    >>> shortage(3, 3, 100) is None
    True
    >>> shortage(75, 300, 300)
    '75 of the 300 clusters that were asked for have rows'
    >>> shortage(3, 5, 60, lambda: 3)
    '3 of the 5 clusters that were asked for have rows, because only 3 rows are distinct'
    """
    if used >= k:
        return None
    if words is not None or used == 0:  # all samples may be noise
        return words
    values = k if distinct is None else distinct()
    if values == 1:  # of which a fit warns before it begins
        return None
    if values < k:
        have = "has" if used == 1 else "have"
        return f"{used} of the {k} clusters that were asked for {have} rows, because only {values} rows are distinct"
    if used == 1:
        return (
            f"all {n} samples are in one cluster of the {k} asked for, for example because they differ too little for "
            "the distances that the method computes"
        )
    return f"{used} of the {k} clusters that were asked for have rows"
