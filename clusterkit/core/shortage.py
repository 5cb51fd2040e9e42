"""What is said of a fit that was asked for more clusters than have samples, or than there are distinct samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.numerics.distinct_count import sets_of_equal_rows

__all__ = ["all_noise", "n_with_samples", "parted", "shortage"]


def n_with_samples(labels: Labels) -> int:
    """The number of clusters that samples have; noise (-1) is none."""
    return int(np.count_nonzero(np.bincount(labels + 1)[1:]))


def all_noise(n: int, facts: Mapping[str, object]) -> str:
    """A sentence about samples that are all noise, with the "reason" among the facts of the labeler, if it gives one.

    Examples
    --------
    >>> all_noise(10, {"reason": "there is no gap"})
    'all 10 rows are noise, label -1: there is no gap'
    """
    reason = facts.get("reason", "the method finds no cluster in them")
    return f"{'all ' if n > 1 else ''}{n} row{'s are' if n > 1 else ' is'} noise, label -1: {reason}"


def shortage(
    used: int, k: int, n: int, distinct: Callable[[], int] | None = None, words: str | None = None
) -> str | None:
    """A sentence about the clusters that no sample has, or that only parting equal samples gives any; None otherwise.

    Parameters
    ----------
    used : int
        The number of clusters that have samples.
    k : int
        The number of clusters asked for.
    n : int
        The number of samples.
    distinct : callable, optional
        Counts the distinct samples, at least up to k.
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
    >>> shortage(5, 5, 60, lambda: 3)
    '5 clusters were asked for, and only 3 rows are distinct: some equal rows are in different clusters'
    """
    if used >= k:
        if distinct is None or (values := distinct()) >= k:
            return None
        rows = "row is" if values == 1 else "rows are"
        return (
            f"{k} clusters were asked for, and only {values} {rows} distinct: some equal rows are in different clusters"
        )
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


def parted(X: Array, labels: Labels) -> Mapping[str, object]:
    """Under "points_parted", for `resolved_`, at how many points equal rows of X have different labels; empty for none.

    Only what keeps sizes does that, a balancer or a solver of equal sizes: elsewhere the row alone decides.

    Examples
    --------
    >>> parted(np.array([[1.0], [1.0], [2.0]]), np.array([0, 1, 1]))
    {'points_parted': 1}
    """
    inverse = sets_of_equal_rows(X)
    if inverse is None:
        return {}
    first = np.zeros(int(inverse.max()) + 1, dtype=labels.dtype)
    first[inverse] = labels  # of several labels for one point the last one stays
    points = len(np.unique(inverse[labels != first[inverse]]))
    return {"points_parted": points} if points else {}
