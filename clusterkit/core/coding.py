"""How labels become regression targets: the codings, and labels in coded form."""

from __future__ import annotations

from enum import Enum

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels

__all__ = ["Coded", "Coding"]


class Coding(Enum):
    """The target of a label."""

    SIGNED = "signed"
    """Label 0 is -1, label 1 is +1: one column."""
    ORDINAL = "ordinal"
    """Label j is the point j + 1 on a line: one column."""
    ONEHOT = "onehot"
    """Label j is the j-th unit vector: k columns."""


@attrs.frozen(eq=False)
class Coded:
    """Labels of R starts with the coding of their targets; the targets themselves are made block by block.

    Parameters
    ----------
    labels : ndarray of shape (R, n)
        One labelling a start, values 0..k-1.
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
        return len(self.labels)

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

    def sizes(self) -> Counts:
        """Cluster sizes, shape (R, k); with weights their sums, float64."""
        return np.stack([np.bincount(labels, self.weights, minlength=self.k) for labels in self.labels])

    def start(self, index: int) -> Coded:
        """The labels of one start, still in coded form."""
        return attrs.evolve(self, labels=self.labels[index : index + 1])
