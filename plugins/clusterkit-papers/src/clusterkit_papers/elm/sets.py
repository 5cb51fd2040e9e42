"""The data sets of the paper on clustering in ELM feature space, prepared as it says, and its parameters."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.stages import Task
from clusterkit_papers.scalings import to_range

__all__ = ["SETTINGS", "Samples", "Setting"]

DRAW = 0
"""Seed of the documents drawn from the large categories: one draw for all runs, as there is one data set in print."""


@attrs.frozen(eq=False)
class Samples:
    """The first categories of a data set, prepared.

    Parameters
    ----------
    dense : ndarray of shape (n, d)
        What k-means, kernel and ELM methods see.
    additive : ndarray or SparseRows of shape (n, p)
        What plain NMF sees, nonnegative.
    y : ndarray of shape (n,)
    """

    dense: Array
    additive: Any
    y: np.ndarray


@attrs.frozen
class Setting:
    """A data set as the tables use it.

    Parameters
    ----------
    name : str
        As printed.
    dataset : str
        As `clusterkit.datasets.load` knows it.
    ks : tuple of int
        Numbers of categories.
    swept : int
        The number of categories of the parameter study.
    nodes : int
        Of both ELM methods.
    kmeans_sigma, nmf_sigma : float
        Widths of the kernel methods.
    scale : {"minmax", None}
        What the ELM map does first: attributes to [-1, 1], or nothing.
    runs : int
        The paper has 20 throughout.
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
        """The first k categories; everything is fitted on these samples alone."""
        from clusterkit.datasets import load

        found = load(self.dataset)
        kept = _first(found.target, k)
        X, y = found.data[kept], found.target[kept]
        if self.dataset == "tdt2":
            dense, weighted = _documents(X)
            return Samples(dense, weighted, y)
        X = np.ascontiguousarray(X)
        dense = X if self.scale is None else to_range(X)
        return Samples(dense, dense, y)


def _first(y: np.ndarray, k: int, most: int = 100) -> Array:
    """Indices of the first k categories in the order of the file, at most 100 random samples of each."""
    names, where = np.unique(y, return_index=True)
    rng = np.random.default_rng(DRAW)
    kept = []
    for name in names[np.argsort(where)][:k]:
        rows = np.flatnonzero(y == name)
        kept.append(rows if len(rows) <= most else rng.choice(rows, most, replace=False))
    return np.sort(np.concatenate(kept))


def _documents(counts: Any) -> tuple[Array, Any]:
    """200 principal components of the weighted terms, of unit length again; and the weighted terms, sparse."""
    from clusterkit.featuremaps.log_tfidf import LogTfIdf
    from clusterkit.featuremaps.pca import Pca
    from clusterkit.numerics.sparse_rows import SparseRows

    rng = np.random.default_rng(DRAW)
    rows: Any = SparseRows(counts)
    weighted = LogTfIdf().fit(rows, Task(len(rows), None), rng).rows()
    Z = Pca(n_components=200).fit(weighted, Task(len(weighted), None), rng).rows()
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(lengths > 0, lengths, 1.0), weighted


SETTINGS = {
    "control": Setting(
        "Synthetic Control", "synthetic-control", (2, 3, 4, 5, 6), 6, 1000, 0.5, 1.0, "minmax",
        remark="attributes in [0, 1], in [-1, 1] before ELM",
    ),
    "libras": Setting(
        "Libras Movement", "libras", (3, 5, 7, 9, 11, 13, 15), 15, 1000, 8.0, 0.25, remark="data as provided"
    ),
    "tdt2": Setting(
        "TDT2", "tdt2", (10, 15, 20, 22, 24, 26, 28, 30), 10, 2000, 4.0, 1.0,
        remark="at most 100 documents of a category; log-tf-idf, 200 principal components of unit length (plain NMF: "
        "log-tf-idf)",
    ),
}  # fmt: skip
"""Table 1 of the paper, and the categories of tables 2 to 7."""
