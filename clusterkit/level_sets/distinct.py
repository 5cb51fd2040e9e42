"""The distinct rows of a sample, and the label of the nearest labelled row."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.core.labelings import NOISE
from clusterkit.level_sets.neighbours import nearest_rows
from clusterkit.numerics.sparse_rows import as_rows

__all__ = ["DistinctRows", "nearest_label"]


@final
@attrs.frozen(eq=False)
class DistinctRows:
    """The samples without repetitions, so that equal samples cannot get different labels.

    Parameters
    ----------
    rows : ndarray of shape (u, d), float64, or sparse rows
        The distinct rows in order of first appearance.
    inverse : ndarray of shape (n,)
        Index into `rows` of each sample.
    counts : ndarray of shape (u,)
        Number of samples equal to each distinct row.
    """

    rows: Array
    inverse: Indices
    counts: Counts

    @classmethod
    def of(cls, points: Array) -> DistinctRows:
        """The distinct rows of `points` (n, d); O(n d)."""
        from clusterkit.numerics.distinct_rows_jit import distinct_rows

        points = as_rows(points, np.float64)
        first, inverse = distinct_rows(points)
        return cls(points[first], inverse, np.bincount(inverse, minlength=len(first)))


def nearest_label(Y: Array, rows: Array, labels: Labels) -> Labels:
    """Label of the nearest labelled row, for each row of Y (p, d).

    Parameters
    ----------
    Y : ndarray of shape (p, d)
    rows : ndarray of shape (u, d)
    labels : ndarray of shape (u,)
        Labels of `rows`; rows with label -1 have none and are ignored.

    Returns
    -------
    ndarray of shape (p,)
        Ties go to the row of smallest index. All 0 if no row has a label: then everything is one cluster.
    """
    labelled = np.flatnonzero(labels != NOISE)
    if not len(labelled):
        return np.zeros(len(Y), dtype=np.intp)
    return labels[labelled[nearest_rows(Y, rows[labelled])]]
