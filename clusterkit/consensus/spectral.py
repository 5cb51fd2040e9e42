"""CSPA and HBGF: spectral partitions of two graphs that the members make, both through a small eigenproblem."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core import memory, params
from clusterkit.core.labelings import Labelings
from clusterkit.core.stages import Consensus

__all__ = ["Cspa", "Hbgf"]

RANK = 1e-10


@final
@attrs.frozen
class Cspa(Consensus):
    """Cuts the graph whose edges count how many members put two samples together.

    The published method hands the graph to METIS, which balances sizes; here the normalised cut is relaxed instead:
    leading eigenvectors, rows of unit length, k-means.

    Parameters
    ----------
    n_init : int, default 10
        Starts of the k-means.

    Notes
    -----
    The graph is a product of indicators, so its eigenvectors come from a matrix of base clusters and the n x n graph is
    never made; equal samples are kept once, with their weight. O(n M + u M² + E³) time and O(E² + u M) memory for u
    distinct label columns and E base clusters. Source: Strehl, Ghosh 2002; the cut: Ng, Jordan, Weiss 2002.
    """

    name: ClassVar[str] = "cspa"
    takes_k: ClassVar[bool] = True
    varies: ClassVar[bool] = True

    n_init: int = params.integer(10, at_least=1)

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Eigenvectors of the normalised co-association, then k-means."""
        from clusterkit.consensus._base_clusters import indicator

        assert k is not None
        H = indicator(labelings)
        degree = H @ (H.T @ labelings.counts)
        scaled = H.multiply(1.0 / np.sqrt(degree)[:, None]).tocsr()
        vectors, values = _leading(scaled, labelings.counts, k)
        rows = scaled @ (vectors / np.sqrt(values))
        return _grouped(rows, labelings.counts, k, self.n_init, rng)[labelings.column_of]


@final
@attrs.frozen
class Hbgf(Consensus):
    """Cuts the bipartite graph of samples and base clusters; a sample is linked to the clusters it is in.

    Samples and base clusters are partitioned together. The published method names two partitioners, METIS and the
    spectral one used here: leading eigenvectors, rows of unit length, k-means.

    Parameters
    ----------
    n_init : int, default 10
        Starts of the k-means.

    Notes
    -----
    Equal samples are kept once, with their weight. O(n M + u M² + E³) time and O(E² + u M) memory for u distinct label
    columns and E base clusters. Source: Fern, Brodley 2004; the cut: Ng, Jordan, Weiss 2002.
    """

    name: ClassVar[str] = "hbgf"
    takes_k: ClassVar[bool] = True
    varies: ClassVar[bool] = True

    n_init: int = params.integer(10, at_least=1)

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Singular vectors of the normalised indicators, then k-means on both sides."""
        from clusterkit.consensus._base_clusters import indicator

        assert k is not None
        H = indicator(labelings)
        known = np.asarray(H.sum(axis=1)).ravel()
        sizes = H.T @ labelings.counts
        scaled = H.multiply(1.0 / np.sqrt(known)[:, None]).multiply(1.0 / np.sqrt(sizes)[None, :]).tocsr()
        vectors, values = _leading(scaled, labelings.counts, k)
        rows = np.concatenate([scaled @ (vectors / np.sqrt(values)), vectors])
        weights = np.concatenate([labelings.counts, np.ones(len(sizes), dtype=np.int64)])
        u = len(labelings.counts)
        return _grouped(rows, weights, k, self.n_init, rng)[:u][labelings.column_of]


def _leading(scaled: Any, counts: Array, k: int) -> tuple[Array, Array]:
    """Right singular vectors (E, <= k) of the rows of `scaled`, each repeated `counts` times; their squared values."""
    E = scaled.shape[1]
    memory.require(3 * 8 * E * E, f"the overlaps of {E} base clusters", "Combine fewer labelings, or coarser ones.")
    gram = (scaled.multiply(counts[:, None]).T @ scaled).toarray()
    values, vectors = np.linalg.eigh(gram)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    kept = values > RANK * values[0]
    return vectors[:, kept], values[kept]


def _grouped(rows: Array, weights: Array, k: int, n_init: int, rng: Rng) -> Labels:
    """k-means of the directions of weighted rows."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    directions = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    means = KMeans(k, n_init=n_init, random_state=int(rng.integers(2**31 - 1)))
    with warnings.catch_warnings():
        # fewer distinct directions than clusters: then there are fewer clusters
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels: Labels = means.fit(directions, sample_weight=weights).labels_
    return labels
