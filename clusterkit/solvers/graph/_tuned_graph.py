"""The self-tuned graph of nearest neighbours as normalised cuts need it: its vertices, weights and eigenvectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.core import memory
from clusterkit.numerics.neighbour_graph.components import components, join_nearest, large_components
from clusterkit.numerics.neighbour_graph.eigenvectors import leading_eigenvectors
from clusterkit.numerics.neighbour_graph.nearest import neighbour_search
from clusterkit.numerics.neighbour_graph.self_tuned import local_scales, self_tuned_weights
from clusterkit.solvers.graph._affinity import Affinity

__all__ = ["TunedGraph", "tuned_graph"]


@final
@attrs.frozen(eq=False)
class TunedGraph:
    """A self-tuned graph.

    Parameters
    ----------
    weights : Affinity
        Between the vertices: the distinct rows, but for outliers.
    vertex : ndarray of shape (n,)
        Vertex that each row is, or goes with.
    outliers : int
        Rows that are no vertex.
    groups : ndarray of shape (v,) or None
        k groups of the connected components, where there are more than k.
    n_attributes : int
    resolved : mapping
        What was decided on the way.
    """

    weights: Affinity
    vertex: Indices
    outliers: int
    groups: Labels | None
    n_attributes: int
    resolved: Mapping[str, object]

    def leading(self, known: Array, count: int, rng: Rng) -> tuple[Array, Array, int, str]:
        """Eigenvalues, eigenvectors orthogonal to the known ones, 0 and the method, as `leading` gives them."""
        c = known.shape[1]
        basis = leading_eigenvectors(
            self.weights.W, np.sqrt(self.weights.degrees), known, count, self.n_attributes, rng
        )
        return basis.values[c:], basis.vectors[:, c:], 0, basis.method


def tuned_graph(rows: Array, n_neighbors: int, scale_neighbor: int, k: int) -> TunedGraph:
    """The self-tuned graph of the rows (n, d).

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    n_neighbors, scale_neighbor : int
        Lowered to the number of other distinct rows.
    k : int
        Number of clusters.
    """
    from scipy.sparse import csr_array, diags_array

    from clusterkit.numerics.distinct_rows_jit import distinct_rows

    first, inverse = distinct_rows(rows)
    points = rows[first].astype(np.float64)
    points -= points.mean(axis=0)
    points /= np.abs(points).max(initial=0.0) or 1.0
    u = len(points)
    resolved: dict[str, object] = {"distinct_rows": u} if u < len(rows) else {}
    if u == 1:
        return TunedGraph(Affinity(csr_array((1, 1)), np.zeros(1)), inverse, 0, None, rows.shape[1], resolved)
    if n_neighbors > u - 1:
        n_neighbors = resolved["n_neighbors"] = u - 1
    scale_neighbor = min(scale_neighbor, u - 1)
    count = max(n_neighbors, scale_neighbor) + 1
    memory.require(8 * 6 * u * count, f"the {count - 1} neighbours of {u} rows", "Use fewer n_neighbors.")
    squared, index = neighbour_search(points)(points, count)
    scales = local_scales(squared[:, 1:], scale_neighbor)
    W = self_tuned_weights(squared[:, 1 : n_neighbors + 1], index[:, 1 : n_neighbors + 1], scales)
    joined = large_components(components(W), n_neighbors, k)
    vertex = np.full(u, -1, dtype=np.intp)
    vertex[joined] = np.arange(len(joined))
    outlying = np.flatnonzero(vertex < 0)
    if len(outlying):
        vertex[outlying] = neighbour_search(points[joined])(points[outlying], 1)[1][:, 0]
        W, points, scales = W[joined][:, joined], points[joined], scales[joined]
    degrees = np.asarray(W.sum(axis=1)).reshape(-1)
    if not degrees.all():  # in a graph of few vertices: one without neighbours is joined to itself
        W = (W + diags_array((degrees == 0.0).astype(np.float64))).tocsr()
        degrees = np.where(degrees > 0.0, degrees, 1.0)
    component = components(W)
    groups = join_nearest(points, scales, component, k) if component.max() >= k else None
    outliers = int(np.isin(inverse, outlying).sum())
    return TunedGraph(Affinity(W, degrees), vertex[inverse], outliers, groups, rows.shape[1], resolved)
