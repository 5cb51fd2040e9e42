"""CSPA and HBGF: spectral partitions of two graphs built from the members, both through a small eigenproblem."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels, Rng
from clusterkit.contracts import Consensus, params
from clusterkit.contracts.labelings import Labelings
from clusterkit.samples import memory

RANK = 1e-10
"""Eigenvalues below this share of the largest are rounding: the matrix has no more rank."""


@attrs.frozen
class _Spectral(Consensus):
    """A consensus by k-means of the rows of eigenvectors."""

    takes_k: ClassVar[bool] = True
    varies: ClassVar[bool] = True

    n_init: int = params.integer(10, at_least=1, at_most=params.MOST_REPEATS)

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Eigenvectors, then k-means."""
        from clusterkit.families.consensus.expansion import indicator

        assert k is not None
        rows, weights = self._rows(indicator(labelings), labelings.counts, k)
        return _grouped(rows, weights, k, self.n_init, rng)[labelings.column_of]

    @abstractmethod
    def _rows(self, H: Any, counts: Counts, k: int) -> tuple[Array, Counts]:
        """Rows of eigenvectors of the samples, and of what else is grouped with them, and their weights."""


@final
@attrs.frozen
class Cspa(_Spectral):
    """Cuts the graph whose edges count how many members put two samples into one cluster.

    The published method hands the graph to METIS, which balances sizes; here the normalised cut is relaxed instead:
    leading eigenvectors, rows of unit length, k-means.

    Parameters
    ----------
    n_init : int, default 10
        Number of starts of k-means.

    Notes
    -----
    The graph is a product of indicators, so its eigenvectors follow from a matrix of base clusters and the n x n graph
    is never formed; equal samples are stored once, with their weight. O(n M + u M² + E³) time and O(E² + u M) memory
    for u distinct label columns and E base clusters. Source: Strehl, Ghosh 2002; the cut: Ng, Jordan, Weiss 2002.
    """

    name: ClassVar[str] = "cspa"

    def _rows(self, H: Any, counts: Counts, k: int) -> tuple[Array, Counts]:
        """Eigenvectors of the normalised co-association."""
        degree = H @ (H.T @ counts)
        scaled = H.multiply(1.0 / np.sqrt(degree)[:, None]).tocsr()
        vectors, values = _leading(scaled, counts, k)
        return scaled @ (vectors / np.sqrt(values)), counts


@final
@attrs.frozen
class Hbgf(_Spectral):
    """Cuts the bipartite graph of samples and base clusters; a sample is linked to the base clusters that contain it.

    Samples and base clusters are partitioned together. The published method names two partitioners, METIS and the
    spectral one used here: leading eigenvectors, rows of unit length, k-means.

    Parameters
    ----------
    n_init : int, default 10
        Number of starts of k-means.

    Notes
    -----
    Equal samples are stored once, with their weight. O(n M + u M² + E³) time and O(E² + u M) memory for u distinct
    label columns and E base clusters. Source: Fern, Brodley 2004; the cut: Ng, Jordan, Weiss 2002.
    """

    name: ClassVar[str] = "hbgf"

    def _rows(self, H: Any, counts: Counts, k: int) -> tuple[Array, Counts]:
        """Singular vectors of the normalised indicators, those of the samples first."""
        known = np.asarray(H.sum(axis=1)).ravel()
        sizes = H.T @ counts
        scaled = H.multiply(1.0 / np.sqrt(known)[:, None]).multiply(1.0 / np.sqrt(sizes)[None, :]).tocsr()
        vectors, values = _leading(scaled, counts, k)
        rows = np.concatenate([scaled @ (vectors / np.sqrt(values)), vectors])
        return rows, np.concatenate([counts, np.ones(len(sizes), dtype=np.int64)])


def _leading(scaled: Any, counts: Counts, k: int) -> tuple[Array, Array]:
    """Leading right singular vectors (E, <= k) and squared singular values of `scaled` with row i `counts[i]` times."""
    E = scaled.shape[1]
    memory.require(3 * 8 * E * E, f"the overlaps of {E} base clusters", "Combine fewer labellings, or coarser ones.")
    gram = (scaled.multiply(counts[:, None]).T @ scaled).toarray()
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    nonzero = values > RANK * values[0]
    return vectors[:, nonzero], values[nonzero]


def _grouped(rows: Array, weights: Counts, k: int, n_init: int, rng: Rng) -> Labels:
    """Labels of weighted rows by k-means on their directions."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    means = KMeans(k, n_init=n_init, random_state=int(rng.integers(2**31 - 1)))
    with warnings.catch_warnings():
        # with fewer distinct directions than clusters the result has fewer clusters
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels: Labels = means.fit(directions, sample_weight=weights).labels_
    return labels
