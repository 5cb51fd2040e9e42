"""Normalised cut: the leading eigenvectors of a weighted graph, and for two clusters the best split along one.

`TunedGraph` is the self-tuned graph of nearest neighbours as normalised cuts need it: its vertices and weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Ending, Outcome, Scores, Status
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.graphs._neighbour_graph import Affinity, affinity
from clusterkit.numerics.eigenvectors import leading_eigenvectors
from clusterkit.numerics.neighbour_graph import (
    centred_rows,
    components,
    indicators,
    join_nearest,
    large_components,
    neighbour_search,
    self_tuned_graph,
    with_degrees,
)
from clusterkit.samples import FeatureSpace, KernelSpace, Space, memory
from clusterkit.samples.coding import Coded, Coding


@final
@attrs.frozen(eq=False)
class TunedGraph:
    """A self-tuned graph.

    Parameters
    ----------
    weights : Affinity
        Weights between the vertices: the distinct rows without outliers.
    vertex : ndarray of shape (n,)
        The vertex of each row; for an outlier the vertex whose label it gets.
    outliers : int
        Number of rows that are no vertex.
    groups : ndarray of shape (v,) or None
        k groups of the connected components, where there are more than k.
    resolved : mapping
        Quantities that were chosen during the fit.
    """

    weights: Affinity
    vertex: Indices
    outliers: int
    groups: Labels | None
    resolved: Mapping[str, object]


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
    from scipy.sparse import csr_array

    _, inverse, points, _, _ = centred_rows(rows)
    u = len(points)
    resolved: dict[str, object] = {"distinct_rows": u} if u < len(rows) else {}
    if u == 1:
        return TunedGraph(Affinity(csr_array((1, 1)), np.zeros(1)), inverse, 0, None, resolved)
    if n_neighbors > u - 1:
        n_neighbors = resolved["n_neighbors"] = u - 1
    scale_neighbor = min(scale_neighbor, u - 1)
    count = max(n_neighbors, scale_neighbor)
    memory.require(8 * 6 * u * (count + 1), f"the {count} neighbours of {u} rows", "Use fewer n_neighbors.")
    W, scales, component = self_tuned_graph(points, n_neighbors, scale_neighbor)
    joined = large_components(component, n_neighbors, k)
    vertex = np.full(u, -1, dtype=np.intp)
    vertex[joined] = np.arange(len(joined))
    outlying = np.flatnonzero(vertex < 0)
    if len(outlying):
        vertex[outlying] = neighbour_search(points[joined])(points[outlying], 1)[1][:, 0]
        W, points, scales = W[joined][:, joined], points[joined], scales[joined]
    W, degrees = with_degrees(W)
    component = components(W)
    groups = join_nearest(points, scales, component, k) if component.max() >= k else None
    outliers = int(np.isin(inverse, outlying).sum())
    return TunedGraph(Affinity(W, degrees), vertex[inverse], outliers, groups, resolved)


NEIGHBOURS = 10
"""Neighbours in a self-tuned graph unless a number is given, as in the featuremap `graph`."""


@final
@attrs.frozen
class Ncut(Solver):
    """Relaxes ``Ncut = Σ_j cut(S_j, rest) / vol(S_j)``: eigenvectors of ``A = D^(-1/2) W D^(-1/2)``, D = diag(W e).

    For clusters of any shape between which weights are few and small. On features W joins nearest neighbours, with
    ``w_ij = exp(-|x_i - x_j|² / (s_i s_j))`` for the local scales s of the featuremap `graph` (a self-tuned graph); on
    a kernel W is the kernel between the samples. For two
    clusters the score is ``z - t``, where z = D^(-1/2) u for the second eigenvector u and t is the threshold of
    smallest Ncut among all n - 1 gaps, so the labeler `threshold` gives that split. For k > 2 the embedding is
    ``D^(-1/2) U``, where U are the first k eigenvectors; the labeler `rows_kmeans` clusters its rows. W is dense,
    O(n² d) once and O(n²) for each of some tens of products, on a kernel; with `n_neighbors` = p, and on features, it
    is sparse, O(n p) per product.
    The embedding is in `_PreparedNcut._embed`, the best split in `Affinity.best_split` of
    _neighbour_graph.py.

    Parameters
    ----------
    n_neighbors : int, optional
        Number of nearest neighbours (of the features, or in the coordinates of the kernel) to which each sample is
        joined; a pair is joined if either is a neighbour of the other. None takes 10 on features, and joins all pairs
        on a kernel, an n x n matrix.
    scale_neighbor : int, default 7
        On features, the rank of the neighbour whose distance is the scale of a sample.
    self_loops : bool, default False
        Keep the kernel of each sample with itself on the diagonal of W; otherwise the diagonal is 0. Not on features.
    normalize : bool, default False
        Scale the rows of the embedding to length 1; for k > 2 only.

    Raises
    ------
    InvalidData
        If a kernel value is negative.

    Notes
    -----
    Disconnected graphs: each of the c connected components contributes the eigenvalue 1, whose eigenvectors are known
    without iteration. If c >= k, the components are merged into k groups of about equal volume, largest first (any
    grouping has Ncut 0); if c < k, the other k - c columns are computed by a Lanczos iteration in the orthogonal
    complement. Samples without a weight to any other sample join the largest cluster. If all samples are equal, or no
    two are joined, all scores are 0. A self-tuned graph has the distinct samples as vertices; where it has too many
    components, small and near ones are joined to others first, and samples of components with no more than
    `n_neighbors` vertices, or less than a tenth of the mean size of a cluster, go with the nearest vertex outside them.

    The rows are scaled so that ``Σ d_i z_i² = Σ d_i``. Of two clusters sample 0 is in the cluster of label 0, unless it
    has no weights. ``status.facts`` contains ``ncut`` (of the split, for two clusters), ``eigenvalues`` (the first k),
    ``bound`` (k minus their sum, a lower bound on the Ncut of every labelling into k clusters), ``components`` and
    ``isolated``.

    References
    ----------
    Shi, Malik (2000), Normalized cuts and image segmentation, IEEE Transactions on Pattern Analysis and Machine
    Intelligence 22(8). Ng, Jordan, Weiss (2002), On spectral clustering, NIPS 14: rows of length 1. Zelnik-Manor,
    Perona (2004), Self-tuning spectral clustering, NIPS 17: local scales.
    """

    name: ClassVar[str] = "ncut"
    synonyms: ClassVar[tuple[str, ...]] = ("normalised_cut", "normalized_cut", "spectral")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.SIGNED})

    n_neighbors: int | None = params.integer(None, at_least=1, optional=True)
    scale_neighbor: int = params.integer(7, at_least=1)
    self_loops: bool = params.flag(False)
    normalize: bool = params.flag(False)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        return {
            KernelSpace: Path(_kernel, Scores, inductive=False, square=self.n_neighbors is None),
            FeatureSpace: Path(_features, Scores, inductive=False),
        }


def _features(spec: Ncut, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The self-tuned graph of the distinct rows."""
    graph = tuned_graph(space.rows(), spec.n_neighbors or NEIGHBOURS, spec.scale_neighbor, task.k)
    every = np.arange(graph.weights.n)
    few = len(every) == 1
    joined = every if not few else every[:0]
    inner = _PreparedNcut(spec, task.k, graph.weights, joined, few, graph.resolved, space.width, graph.groups)
    return _PreparedOnVertices(inner, graph.vertex, graph.outliers)


def _kernel(spec: Ncut, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The weights, and the samples that have a weight to another sample."""
    resolved: dict[str, Any] = {}
    if spec.n_neighbors is not None and spec.n_neighbors > space.n - 1:
        resolved["n_neighbors"] = space.n - 1
    weights = affinity(space, spec.n_neighbors, spec.self_loops)
    # a sample whose only weight is a self-loop counts as isolated
    joined = np.flatnonzero(weights.degrees > weights.diagonal())
    all_equal, width = bool((space.points == space.points[0]).all()), space.points.shape[1]
    return _PreparedNcut(spec, task.k, weights, joined, all_equal, resolved, width)


@final
@attrs.frozen(eq=False)
class _PreparedNcut(Prepared):
    """The normalised cut of a graph.

    Parameters
    ----------
    spec : Ncut
    k : int
    weights : Affinity
        Weights of all samples.
    joined : ndarray of int
        Samples with a weight to another sample.
    all_equal : bool
        True if all samples are equal.
    resolved : mapping
    n_attributes : int
    nearest : ndarray of shape (n,) or None
        Groups of the components by their distances, where there are more than k.
    """

    spec: Ncut
    k: int
    weights: Affinity
    joined: Indices
    all_equal: bool
    resolved: Mapping[str, Any]
    n_attributes: int
    nearest: Labels | None = None

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        n, columns = self.weights.n, 1 if self.k <= 2 else self.k
        facts: dict[str, Any] = {"isolated": n - len(self.joined)}
        if self.k == 1 or self.all_equal or len(self.joined) == 0:
            reason = "all samples are equal" if self.all_equal else "no two samples are joined"
            if self.k == 1:
                reason = "one cluster needs no cut"
            elif not self.all_equal:
                warnings.warn(
                    f"solver 'ncut': no weight between two of the {n} samples differs from 0, so there is nothing to "
                    "cut; use a wider kernel",
                    ClusterkitWarning,
                    stacklevel=2,
                )
            status = Status(1, Ending.CONVERGED, f"{reason}: all scores are 0", facts=facts)
            return Scores(np.zeros((n, columns)), None, status=status)
        graph = self.weights.take(self.joined)
        Z, status = self._embed(graph, rng)
        facts.update(status.facts)
        if self.k <= 2:
            scores, facts["ncut"] = _split(graph, Z[:, 1])
            embedding = scores[:, None]
        else:
            embedding = _unit_rows(Z) if self.spec.normalize else Z
        rows = np.empty((n, columns))
        rows[self.joined] = embedding
        if len(self.joined) < n:
            isolated = np.setdiff1d(np.arange(n), self.joined)
            rows[isolated] = _row_in_largest_cluster(embedding, self.k, rng)
        return Scores(rows, None, status=attrs.evolve(status, facts=facts))

    def _embed(self, graph: Affinity, rng: Rng) -> tuple[Array, Status]:
        """``D^(-1/2) U``, (n, k), and a status with the method; columns that a small graph lacks are 0."""
        k, total = self.k, graph.degrees.sum()
        roots = np.sqrt(graph.degrees)
        component = graph.components()
        n_components = int(component.max()) + 1
        groups = component
        if n_components > k:
            groups = _merge_components(component, graph.degrees, k) if self.nearest is None else self.nearest
        known = indicators(groups, graph.degrees)
        c = known.shape[1]
        basis = leading_eigenvectors(graph.W, roots, known, max(min(k, graph.n) - c, 0), self.n_attributes, rng)
        values, vectors = basis.values[c:], basis.vectors[:, c:]
        if k <= 2 and known.shape[1] == 2:
            # the first eigenvector is that of the whole graph; the second is orthogonal to it
            whole = roots / np.sqrt(total)
            second = known[:, 0] * (known[:, 1] @ whole) - known[:, 1] * (known[:, 0] @ whole)
            known = np.stack([whole, second], axis=1)
        U = np.concatenate([known, vectors], axis=1)
        U = np.concatenate([U, np.zeros((graph.n, k - U.shape[1]))], axis=1)
        values = np.concatenate([np.ones(known.shape[1]), values])
        facts = {
            "eigenvalues": tuple(float(value) for value in values),
            "bound": max(0.0, float(len(values) - values.sum())),
            "components": n_components,
        }
        reason = f"{basis.method}: eigenvalues {', '.join(f'{value:.6g}' for value in values[:6])}"
        status = Status(1, Ending.CONVERGED, reason, facts=facts)
        return U * (np.sqrt(total) / roots)[:, None], status


@final
@attrs.frozen(eq=False)
class _PreparedOnVertices(Prepared):
    """The cut of a graph of which each vertex represents one or more samples.

    Parameters
    ----------
    inner : _PreparedNcut
        The cut of the vertices.
    vertex : ndarray of shape (n,)
        Vertex of each sample.
    outliers : int
        Number of samples that get the scores of a vertex to which they have no weight.
    """

    inner: _PreparedNcut
    vertex: Indices
    outliers: int

    @property
    def resolved(self) -> Mapping[str, Any]:
        return self.inner.resolved

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        scores = self.inner.solve(targets, previous, rng)
        assert scores.status is not None
        facts = {**scores.status.facts, "isolated": self.outliers}
        rows = scores.rows[self.vertex]
        if self.inner.k <= 2 and rows[0, 0] > 0.0:  # the first sample need not be the first vertex
            rows = -rows
        return attrs.evolve(scores, rows=rows, status=attrs.evolve(scores.status, facts=facts))


def _merge_components(component: Labels, degrees: Array, k: int) -> Labels:
    """k groups of components, (n,): in order of falling volume, each component joins the group of smallest volume."""
    volumes = np.bincount(component, weights=degrees)
    sums, group = np.zeros(k), np.empty(len(volumes), dtype=np.intp)
    for number in np.argsort(-volumes, kind="stable"):
        group[number] = np.argmin(sums)
        sums[group[number]] += volumes[number]
    return group[component]


def _split(graph: Affinity, z: Array) -> tuple[Array, float]:
    """Scores whose sign gives the best split, with sample 0 on the side that is not positive, and its Ncut."""
    below = graph.best_split(z)
    if below == 0:
        return np.zeros(len(z)), 0.0
    low, high = np.sort(z)[below - 1 : below + 1]
    if z[0] >= high:
        z, low, high = -z, -high, -low
    middle = 0.5 * (low + high)
    if not low <= middle < high:  # low and high are consecutive floating-point numbers
        middle = low
    scores = z - middle
    return scores, graph.ncut(scores > 0.0)


def _unit_rows(Z: Array) -> Array:
    """Rows scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.divide(Z, lengths, out=np.zeros_like(Z), where=lengths > 0.0)


def _row_in_largest_cluster(embedding: Array, k: int, rng: Rng) -> Array:
    """A row in the largest cluster of an embedding: its centre, or the median score of the larger side."""
    if k <= 2:
        side = embedding[:, 0] > 0.0
        return np.median(embedding[side if 2 * side.sum() > len(side) else ~side], axis=0)
    from clusterkit.numerics.lloyd import kmeans

    clusters = min(k, len(embedding))
    labels, centres, _ = kmeans(embedding, clusters, n_init=10, max_iter=300, seed=int(rng.integers(2**31 - 1)))
    return centres[np.argmax(np.bincount(labels, minlength=clusters))]
