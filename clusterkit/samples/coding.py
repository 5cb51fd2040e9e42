"""Coding of labels as regression targets."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels
from clusterkit.samples.array_libraries import (
    array_namespace,
    class_counts,
    host_dtype,
    move_to,
    row_chunks,
    to_device_of,
)

__all__ = [
    "Coded",
    "Coding",
    "unit_vectors",
]


class Coding(Enum):
    """The target of a label."""

    SIGNED = "signed"
    """Label 0 is -1, label 1 is +1: one column."""
    ORDINAL = "ordinal"
    """Label j is the point j + 1 on a line: one column."""
    ONEHOT = "onehot"
    """Label j is the j-th unit vector: k columns."""


@lru_cache(maxsize=8)
def unit_vectors(k: int) -> Array:
    """The k unit vectors, (k, k); always the same array, so that a device keeps its copy."""
    units = np.eye(k)
    units.flags.writeable = False
    return units


@attrs.frozen(eq=False)
class Coded:
    """Labels of R starts with the coding of their targets; the targets themselves are made block by block.

    Parameters
    ----------
    labels : ndarray of shape (R, n)
        Labellings with values 0..k-1, one for each start. In a block program also an array of the library of the block.
    coding : Coding
    k : int
        Number of clusters.
    codebook : ndarray of shape (k, q)
        Row j is the target of label j.
    weights : ndarray of shape (n,) or None
        How much each sample counts; None: all count 1.
    """

    labels: Labels
    coding: Coding
    k: int
    codebook: Array
    weights: Array | None = None

    @property
    def starts(self) -> int:
        """Number of starts, R."""
        return int(self.labels.shape[0])

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.labels.shape[1])

    @property
    def q(self) -> int:
        """Columns of one start's targets."""
        return int(self.codebook.shape[1])

    def block(self, rows: slice, dtype: np.dtype | type = np.float64) -> Array:
        """Targets of some rows times their weights, (b, R q); start r owns the columns r q … (r + 1) q - 1."""
        labels = self.labels[:, rows].T  # (b, R)
        book = self.codebook.astype(dtype, copy=False)
        targets = book[labels].reshape(len(labels), self.starts * self.q)
        return targets if self.weights is None else targets * self.weights[rows, None].astype(dtype, copy=False)

    def of(self, rows: slice) -> Coded:
        """The labels of some rows, still in coded form."""
        return attrs.evolve(
            self, labels=self.labels[:, rows], weights=None if self.weights is None else self.weights[rows]
        )

    def targets(self) -> Array:
        """All targets times the weights, shape (n, R q)."""
        return self.block(slice(None))

    def device_targets(self, H: Array) -> Array:
        """All targets times the weights, (n, R q), in the type of a block of another library, on its device."""
        xp = array_namespace(H)
        labels = move_to(self.labels, H)
        flat = labels[0, :] if self.starts == 1 else xp.reshape(xp.permute_dims(labels, (1, 0)), (-1,))
        targets: Array
        if self.coding is Coding.ONEHOT:  # comparing writes what reading a table (k, k) would, and reads nothing
            targets = self._hits(flat, host_dtype(H))
        else:
            targets = xp.take(to_device_of(self.codebook, H), flat, axis=0)
        if self.starts > 1:
            targets = xp.reshape(targets, (self.n, self.starts * self.q))
        return targets if self.weights is None else targets * move_to(self.weights, H)[:, None]

    def device_sizes(self, H: Array) -> Counts:
        """Cluster sizes of one start, (k,), or the sums of their weights, where a block of another library lies."""
        labels = move_to(self.labels, H)[0, :]
        if self.weights is None:
            return class_counts(labels, self.k)
        xp = array_namespace(H)
        sums: Counts = xp.zeros(self.k, dtype=xp.float64, device=H.device)
        weights = move_to(self.weights, H, np.float64)
        for part, counted in row_chunks(weights[:, None], self.k):
            sums += xp.matmul(counted[:, 0][None, :], self._hits(labels[part], np.float64))[0, :]
        return sums

    def _hits(self, labels: Labels, dtype: np.dtype | type) -> Array:
        """The unit vector of each label, (b, k), on the device of the labels."""
        xp = array_namespace(labels)
        numbers = xp.arange(self.k, dtype=labels.dtype, device=labels.device)
        hits: Array = xp.astype(labels[:, None] == numbers[None, :], getattr(xp, np.dtype(dtype).name))
        return hits

    def sizes(self) -> Counts:
        """Cluster sizes, shape (R, k); with weights their sums, float64."""
        return np.stack([np.bincount(labels, self.weights, minlength=self.k) for labels in self.labels])

    def start(self, index: int) -> Coded:
        """The labels of one start, still in coded form."""
        return attrs.evolve(self, labels=self.labels[index : index + 1])
