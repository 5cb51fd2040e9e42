"""The contingency table of two labellings, from which every metric of two labellings is computed."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from clusterkit._typing import AnyArray
from clusterkit.metrics.labels import Noise, check_noise, check_pair, number_clusters

MAX_DENSE_CELLS = 10_000_000
"""Tables with more cells than this (80 MB of int64) are never stored densely."""

Counts = NDArray[np.int64]
"""Numbers of samples: int64, so that sums of squares stay exact for up to 2**31 samples."""


@attrs.frozen(eq=False)
class Contingency:
    """Non-zero cells of the k x J table ``T[i, j] = |class i ∩ cluster j|``.

    There are at most n of them, whatever k and J are, so a table of many small classes against many
    small clusters takes no more memory than the labels.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        Distinct true labels, sorted.
    clusters : ndarray of shape (J,)
        Distinct predicted labels, sorted; with ``noise="singletons"`` one -1 for each noise sample before them.
    rows, columns, counts : ndarray of int64
        Place and value of each non-zero cell, ordered by row, then by column.

    Examples
    --------
    >>> table = contingency(["a", "a", "b"], [0, 1, 1])
    >>> table.classes.tolist(), table.clusters.tolist(), table.n_samples
    (['a', 'b'], [0, 1], 3)
    >>> table.class_sizes.tolist(), table.cluster_sizes.tolist()
    ([2, 1], [1, 2])
    """

    classes: AnyArray
    clusters: AnyArray
    rows: Counts
    columns: Counts
    counts: Counts

    @property
    def shape(self) -> tuple[int, int]:
        """Number of classes and number of clusters."""
        return self.classes.size, self.clusters.size

    @property
    def n_samples(self) -> int:
        """Number of samples, the sum of all cells."""
        return int(self.counts.sum())

    @property
    def class_sizes(self) -> Counts:
        """Row sums."""
        return _sum_by(self.rows, self.counts, self.classes.size)

    @property
    def cluster_sizes(self) -> Counts:
        """Column sums."""
        return _sum_by(self.columns, self.counts, self.clusters.size)

    @property
    def is_empty(self) -> bool:
        """Whether no sample is left because all were noise and noise was excluded."""
        return self.counts.size == 0

    @property
    def is_bijection(self) -> bool:
        """Whether both labellings are the same partition up to the names of the clusters."""
        return self.counts.size == self.classes.size == self.clusters.size

    @property
    def fits_in_memory(self) -> bool:
        """Whether the table is small enough to be stored densely."""
        return self.classes.size * self.clusters.size <= MAX_DENSE_CELLS

    def to_array(self) -> Counts:
        """The dense k x J table.

        Returns
        -------
        ndarray of shape (k, J), int64
            The counts.

        Raises
        ------
        ValueError
            If the table has more than ``MAX_DENSE_CELLS`` cells.
        """
        if not self.fits_in_memory:
            raise ValueError(f"a table of shape {self.shape} has too many cells; use rows, columns and counts")
        table = np.zeros(self.shape, dtype=np.int64)
        table[self.rows, self.columns] = self.counts
        return table


def contingency(labels_true: ArrayLike, labels_pred: ArrayLike, *, noise: Noise = "cluster") -> Contingency:
    """Count how many samples each class shares with each cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Class of each sample: ints, strings or bools. Every value is a class, -1 too.
    labels_pred : array-like of shape (n,)
        Cluster of each sample, of the same types; the number -1 (also -1.0, but no string) is noise.
    noise : {"cluster", "singletons", "exclude"}, default "cluster"
        Noise samples count as one cluster, as a cluster each, or are dropped from both vectors.

    Returns
    -------
    Contingency
        The table; its dense form is ``contingency(...).to_array()``. Without cells if every sample is dropped.

    Raises
    ------
    ValueError
        If a vector is empty or not 1-D, holds a missing value, the lengths differ, or `noise` is none of the
        three.

    Notes
    -----
    O(n log n) time for sorting the labels, O(n + min(kJ, 10⁷)) memory.

    Examples
    --------
    >>> contingency([0, 0, 1, 1], ["x", "y", "y", "y"]).to_array()
    array([[1, 1],
           [0, 2]])
    >>> contingency([0, 0, 1, 1], [5, 5, -1, -1], noise="singletons").to_array()
    array([[0, 0, 2],
           [1, 1, 0]])
    """
    mode = check_noise(noise)
    true, pred = check_pair(labels_true, labels_pred)
    clusters, column, remaining = number_clusters(pred, mode)
    classes, row = np.unique(true if remaining is None else true[remaining], return_inverse=True)
    n_clusters = clusters.size
    cell = row.astype(np.int64) * n_clusters + column
    if classes.size * n_clusters <= MAX_DENSE_CELLS:
        dense = np.bincount(cell, minlength=classes.size * n_clusters)
        occupied = np.flatnonzero(dense)
        counts = dense[occupied]
    else:
        occupied, counts = np.unique(cell, return_counts=True)
    rows, columns = np.divmod(occupied, n_clusters)
    return Contingency(
        classes=classes,
        clusters=clusters,
        rows=rows.astype(np.int64),
        columns=columns.astype(np.int64),
        counts=counts.astype(np.int64),
    )


def _sum_by(index: Counts, values: Counts, size: int) -> Counts:
    # bincount with weights would sum in float64 and round counts above 2**53
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, index, values)
    return sums
