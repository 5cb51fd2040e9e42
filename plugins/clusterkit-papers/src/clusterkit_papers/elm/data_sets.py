"""The data sets of the paper on clustering in ELM feature space, prepared as it says, and its parameters (table 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.contracts import Task
from clusterkit_papers.scalings import to_range

if TYPE_CHECKING:
    from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["DATA_SETS", "ElmDataSet", "Samples"]

DRAW = 0
"""Seed of the documents drawn from the large categories: one draw for all runs, since the paper has one data set."""


@attrs.frozen(eq=False)
class Samples:
    """The first categories of a data set, prepared.

    Parameters
    ----------
    dense : ndarray of shape (n, d)
        The samples for k-means and for kernel and ELM methods.
    additive : ndarray or SparseRows of shape (n, p)
        The samples for plain NMF, nonnegative.
    y : ndarray of shape (n,)
        Known classes.
    """

    dense: Array
    additive: Array | SparseRows
    y: np.ndarray


@attrs.frozen
class ElmDataSet:
    """A data set as the tables use it.

    Parameters
    ----------
    name : str
        Printed name.
    dataset : str
        Name for `clusterkit_papers.datasets.load`.
    ks : tuple of int
        Numbers of categories, a row of the table for each.
    swept : int
        Number of categories in the parameter study of figure 2.
    nodes : int
        Number of nodes of both ELM methods.
    kmeans_sigma, nmf_sigma : float
        Width of the kernel for kernel k-means, and for kernel NMF.
    scale : {"minmax", None}
        Scaling inside the ELM map: attributes to [-1, 1], or none.
    runs : int, default 20
        Number of runs per cell, as in the paper.
    remark : str
        A note for all its rows.
    """

    name: str
    dataset: str
    ks: tuple[int, ...]
    swept: int
    nodes: int
    kmeans_sigma: float
    nmf_sigma: float
    scale: str | None = None
    runs: int = 20
    remark: str = ""

    def load(self, k: int) -> Samples:
        """The first k categories. Scaling, idf and principal components are fitted on these samples alone."""
        from clusterkit_papers.datasets import load

        dataset = load(self.dataset)
        rows = _first(dataset.target, k)
        X, y = dataset.data[rows], dataset.target[rows]
        if self.dataset == "tdt2":
            dense, weighted = _documents(X)
            return Samples(dense, weighted, y)
        X = np.ascontiguousarray(X)
        dense = X if self.scale is None else to_range(X)
        return Samples(dense, dense, y)


def _first(y: np.ndarray, k: int, most: int = 100) -> Indices:
    """Row numbers of the first k categories in the order of the file, at most `most` random samples of each."""
    names, where = np.unique(y, return_index=True)
    rng = np.random.default_rng(DRAW)
    samples = []
    for name in names[np.argsort(where)][:k]:
        rows = np.flatnonzero(y == name)
        samples.append(rows if len(rows) <= most else rng.choice(rows, most, replace=False))
    return np.sort(np.concatenate(samples))


def _documents(counts: Any) -> tuple[Array, Any]:
    """200 principal components of the log-tf-idf terms, of unit length again; and the terms themselves, sparse."""
    from clusterkit.families.shared.log_tfidf import LogTfIdf
    from clusterkit.families.shared.pca import Pca
    from clusterkit.numerics.sparse_rows import SparseRows

    rng = np.random.default_rng(DRAW)
    rows: Any = SparseRows(counts)
    weighted = LogTfIdf().space_of(rows, Task(len(rows), None), rng).rows()
    Z = Pca(n_components=200).space_of(weighted, Task(len(weighted), None), rng).rows()
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(lengths > 0, lengths, 1.0), weighted


DATA_SETS = {
    "control": ElmDataSet(
        "Synthetic Control", "synthetic-control", (2, 3, 4, 5, 6), 6, 1000, 0.5, 1.0, "minmax",
        remark="attributes in [0, 1], in [-1, 1] before ELM",
    ),
    "libras": ElmDataSet(
        "Libras Movement", "libras", (3, 5, 7, 9, 11, 13, 15), 15, 1000, 8.0, 0.25, remark="data as provided"
    ),
    "tdt2": ElmDataSet(
        "TDT2", "tdt2", (10, 15, 20, 22, 24, 26, 28, 30), 10, 2000, 4.0, 1.0,
        remark="at most 100 documents of a category; log-tf-idf, 200 principal components of unit length (plain NMF: "
        "log-tf-idf)",
    ),
}  # fmt: skip
"""Table 1 of the paper, and the categories of tables 2 to 7."""
