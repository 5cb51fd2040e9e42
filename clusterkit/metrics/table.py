"""The contingency table of two labellings, from which every metric of two labellings is computed.

Label vectors and their noise are checked first, each with one clear error.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from clusterkit._typing import AnyArray, Mask
from clusterkit.contracts.labelings import NOISE

Noise = Literal["exclude", "singletons", "cluster"]
"""How a metric treats samples that the clustering labels as noise (-1): see the package docstring."""


def check_labels(labels: ArrayLike, name: str) -> AnyArray:
    """Labels as a 1-D array of ints, floats, bools or strings.

    Parameters
    ----------
    labels : array-like of shape (n,)
        One label per sample.
    name : str
        Name of the argument in errors.

    Returns
    -------
    ndarray of shape (n,)
        The labels, values unchanged.

    Raises
    ------
    ValueError
        If the labels are not 1-D, are empty, or contain a missing value or a value that is no label.
    """
    if isinstance(labels, np.ma.MaskedArray) and np.ma.is_masked(labels):
        raise ValueError(f"{name} has masked values; drop those samples from both label vectors")
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"{name} must be one-dimensional: {error}") from error
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} is empty; at least one sample is needed")
    if array.dtype.kind in "US" and not hasattr(labels, "dtype"):
        # numpy turned a list such as ["a", nan] into ["a", "nan"]: look at the original values
        array = np.asarray(labels, dtype=object)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        position = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name}[{position}] is {array[position]}; a label must be a finite value")
    if array.dtype.kind == "O":
        _check_objects(array, name)
    elif array.dtype.kind not in "biufUS":
        raise ValueError(f"{name} has values of type {array.dtype}; labels are ints, strings or bools")
    return array


def check_pair(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[AnyArray, AnyArray]:
    """Both label vectors, checked to have the same length.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        The classes and the clusters.

    Returns
    -------
    tuple of ndarray
        Both vectors.

    Raises
    ------
    ValueError
        If one of them is no label vector or their lengths differ.
    """
    true = check_labels(labels_true, "labels_true")
    pred = check_labels(labels_pred, "labels_pred")
    if true.size != pred.size:
        raise ValueError(f"labels_true has {true.size} labels but labels_pred has {pred.size}")
    return true, pred


def check_noise(noise: str) -> Noise:
    """The noise mode, checked.

    Parameters
    ----------
    noise : str
        The argument of the caller.

    Returns
    -------
    {"exclude", "singletons", "cluster"}
        The same value.

    Raises
    ------
    ValueError
        If it is none of the three.
    """
    for mode in get_args(Noise):
        if noise == mode:
            return mode
    raise ValueError(f"noise={noise!r} is not one of {', '.join(get_args(Noise))}")


def is_noise(labels: AnyArray) -> Mask:
    """Which samples have the label -1, as an int or a float; strings and bools are never noise.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels checked by `check_labels`.

    Returns
    -------
    ndarray of shape (n,), bool
        True for noise.
    """
    if labels.dtype.kind in "if":
        return np.asarray(labels == NOISE)
    if labels.dtype.kind == "O":
        flags = (not isinstance(label, (str, bytes)) and bool(label == NOISE) for label in labels)
        return np.fromiter(flags, dtype=bool, count=labels.size)
    return np.zeros(labels.size, dtype=bool)


def number_clusters(labels: AnyArray, noise: Noise) -> tuple[AnyArray, NDArray[np.int64], Mask | None]:
    """Names of the clusters, the cluster number of each sample, and which samples remain.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels checked by `check_labels`.
    noise : {"exclude", "singletons", "cluster"}
        How samples labelled -1 are treated.

    Returns
    -------
    names : ndarray of shape (J,)
        Sorted names; for "singletons" preceded by one -1 for each noise sample.
    numbers : ndarray of shape (m,), int64
        Cluster numbers of the remaining samples, in their order.
    remaining : ndarray of shape (n,), bool, or None
        Which samples remain; None if all do.
    """
    lost = None if noise == "cluster" else is_noise(labels)
    if lost is None or not lost.any():
        names, numbers = np.unique(labels, return_inverse=True)
        return names, numbers.astype(np.int64, copy=False), None
    names, rest = np.unique(labels[~lost], return_inverse=True)
    if noise == "exclude":
        return names, rest.astype(np.int64, copy=False), ~lost
    alone = int(np.count_nonzero(lost))
    numbers = np.empty(labels.size, dtype=np.int64)
    numbers[lost] = np.arange(alone)
    numbers[~lost] = rest + alone
    return np.concatenate([labels[lost], names]), numbers, None


def _check_objects(array: AnyArray, name: str) -> None:
    for position, value in enumerate(array):
        if _is_missing(value):
            raise ValueError(f"{name}[{position}] is {value!r}; a label must not be missing")
        if isinstance(value, str) != isinstance(array[0], str):
            raise ValueError(f"{name} mixes strings with other values: {array[0]!r} and {value!r} (at {position})")
        if not isinstance(value, (str, bytes, bool, int, float, np.generic)):
            raise ValueError(f"{name}[{position}] is {value!r}; labels are ints, strings or bools")


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value) or value in (float("inf"), float("-inf"))
    except (TypeError, ValueError):  # pandas.NA has no truth value; an array has many
        return not isinstance(value, (np.ndarray, list, tuple))


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
