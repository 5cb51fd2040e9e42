"""The tree in which communities of a graph of shared neighbours merge.

Small communities (Blondel et al. 2008) merge by the similarity of Bonald et al. (2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Ending, MergeTree, MergeTrees, Outcome, Status
from clusterkit.families.embeddings.layout import neighbour_graph, weights_of
from clusterkit.numerics.threads import available, over_rows, thread_pool
from clusterkit.samples import EmbeddedSpace, FeatureSpace, Space, memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.features import NeighbourGraph
from clusterkit.samples.limits import Report, notify, reuse

BYTES_A_NEIGHBOUR = 48
"""Bytes that a row takes for each neighbour while its tree is made: lists of the nearest, and edges in both
directions."""


@final
@attrs.frozen
class Paris(Solver):
    """Small communities of the graph and the tree in which they merge, by the similarity of the Paris algorithm.

    Choose it for rows in many attributes, behind the map `layout`: then there is one tree for each layout, read from
    the graph of shared neighbours in the layout. On other features it is the tree of the graph of their own shared
    neighbours. Communities of about a hundred rows or fewer maximise modularity at a high resolution (Louvain); two
    clusters a, b merge in the order of ``W_ab Σ W / (vol_a vol_b)``. O(n k²) time, O(n k) memory. The moves are
    in communities_jit.py (`move_all`), the merges beside them (`merge_all`). The labeler `Layers`
    (layers.py) reads the trees.

    Parameters
    ----------
    n_neighbors : int, default 15
        Neighbours in the graph; behind `layout` those of the map count.

    References
    ----------
    Blondel, Guillaume, Lambiotte, Lefebvre (2008), Fast unfolding of communities in large networks, Journal of
    Statistical Mechanics P10008. Bonald, Charpentier, Galland, Hollocou (2018), Hierarchical graph clustering using
    node pair sampling, MLG workshop, arXiv:1806.01664.
    """

    name: ClassVar[str] = "paris"
    synonyms: ClassVar[tuple[str, ...]] = ("louvain", "communities", "modularity")

    n_neighbors: int = params.integer(15, at_least=2)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The solver works on features."""
        return {FeatureSpace: Path(_prepare, MergeTrees)}


def _prepare(spec: Paris, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Keep the space and its graph, or make the graph of its features."""
    memory.require(
        space.n * spec.n_neighbors * BYTES_A_NEIGHBOUR * available(),
        f"the edges of the trees of {space.n} rows",
        "Fit a sample of the rows.",
    )
    if isinstance(space, EmbeddedSpace) and space.graph is not None:
        return _PreparedParis(spec, space, space.graph, space.points, task.n_clusters)
    seed = int(rng.integers(2**31 - 1))
    rows = space.rows()
    key = ("shared neighbours of features", spec.n_neighbors, seed)
    graph = reuse(space, key, lambda: neighbour_graph(rows, spec.n_neighbors, np.random.default_rng(seed)))
    return _PreparedParis(spec, space, graph, None, task.n_clusters)


@final
@attrs.frozen(eq=False)
class _PreparedParis(Prepared):
    """The merge trees of a graph; `points` are the samples of which it is the graph, None for the features."""

    spec: Paris
    space: FeatureSpace
    graph: NeighbourGraph
    points: Array | None
    n_clusters: int | None

    @property
    def resolved(self) -> Mapping[str, object]:
        return {} if self.points is not None else self.graph.facts

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> MergeTrees:
        """One tree for each layout, made side by side by threads."""
        from clusterkit.families.embeddings.layout_jit import DIMENSIONS

        notify(Report("paris", 1, 1))
        graph, rows = self.graph, self.space.rows() if self.points is None else self.points
        placed: list[Array | None] = [None]
        if self.points is not None:
            H = self.space.rows(graph.rows).astype(np.float32, copy=False)
            placed = [np.ascontiguousarray(H[:, q : q + DIMENSIONS]) for q in range(0, H.shape[1], DIMENSIONS)]
        seeds = rng.integers(2**31 - 1, size=len(placed))
        made: dict[int, MergeTree] = {}

        def make(begin: int, end: int) -> None:
            for number in range(begin, end):
                tree = merge_tree(graph, placed[number], np.random.default_rng(seeds[number]))
                # else all merges without an edge are undone, whatever their order
                is_open = (tree.similarity == 0.0).sum() >= (self.n_clusters or np.inf)
                made[number] = joined_by_distance(tree, rows[graph.rows]) if is_open else tree

        with thread_pool() as over:
            over(make, 0, len(placed), 10**9)
        trees = tuple(made[number] for number in range(len(placed)))
        counts = [int(tree.community.max(initial=0)) + 1 for tree in trees]
        reason = f"merge trees of {' and '.join(map(str, counts))} communities"
        status = Status(1, Ending.CONVERGED, reason)
        if self.points is None:
            return MergeTrees(trees, graph, rows, self.space.transform, status=status)
        return MergeTrees(trees, graph, rows, self.space.coordinates, True, status=status)


SMALLEST_COMMUNITIES, MOST_RESOLUTION = 100, 300.0
"""The communities that are merged have about so many rows: the resolution is n over it, up to the second number."""


DIGITS = np.float32(2**24)
"""Weights of a merge tree are multiples of one over this: the sum of a hundred million of them is exact."""

FEW = 500
"""Rows up to which every row is a community of its own, so that any number of clusters can be cut from the tree."""


def merge_tree(graph: NeighbourGraph, Y: Array | None, rng: Rng) -> MergeTree:
    """The merge tree of the shared neighbours in a layout Y (u, r), or of those of the graph where it is None."""
    from clusterkit.families.embeddings.communities_jit import merge_all, sums_between

    n, index = graph.n, graph.index
    if n < 3:
        return MergeTree(np.arange(n), np.array([[0, 1]])[: n - 1], np.ones(n - 1), np.ones(n))
    starts, tails, weights = weights_of(index if Y is None else _nearest_in(Y, index))
    # rounded to so few digits that their sums are exact, and so the same in any order
    weights = np.rint(weights * DIGITS) / np.float64(DIGITS)
    edges = starts, tails, weights
    community: Labels = np.arange(n)
    if n > FEW:
        community = _small_communities(*edges, min(n / SMALLEST_COMMUNITIES, MOST_RESOLUTION), rng)
    sizes, top = np.ones(n), np.inf
    first = graph.place[graph.rows]
    copies = np.flatnonzero(first != np.arange(n))
    if len(copies):  # the vertices of equal rows never part
        community = np.unique(community[first], return_inverse=True)[1]
        sizes = np.bincount(graph.place, minlength=n).astype(np.float64)
    m = int(community.max()) + 1
    edges = sums_between(*edges, community, m)
    volumes = _degrees(*edges)
    total = volumes.sum()
    if len(copies):
        top = float(total / volumes[community[copies]].max())
    pairs, similar = merge_all(*edges, volumes)
    order = np.argsort(-similar, kind="stable")
    names = np.arange(2 * m - 1)
    names[m + order] = m + np.arange(m - 1)
    return MergeTree(
        community, names[pairs[order]], similar[order] * total, np.bincount(community, sizes).astype(np.float64), top
    )


def joined_by_distance(tree: MergeTree, rows: Array) -> MergeTree:
    """The tree, of which parts without an edge between them merge by the mean distance of their means.

    No edge says in which order they merge, and the clusters depend on that order where they are fewer than the parts.

    Parameters
    ----------
    tree : MergeTree
    rows : ndarray of shape (u, d)
        The rows of the vertices.
    """
    from scipy.cluster.hierarchy import linkage

    m, last = len(tree.sizes), int((tree.similarity > 0.0).sum())
    root = np.arange(m + last)
    for t in range(last - 1, -1, -1):
        root[tree.merges[t]] = root[m + t]
    roots, part = np.unique(root, return_inverse=True)
    if not 2 < len(roots) <= FEW:
        return tree
    of_rows = part[:m][tree.community]
    means = np.stack([rows[of_rows == number].mean(axis=0, dtype=np.float64) for number in range(len(roots))])
    names = np.concatenate([roots, np.arange(m + last, 2 * m - 1)])
    joined = names[linkage(means, "average")[:, :2].astype(np.intp)]
    return attrs.evolve(tree, merges=np.concatenate([tree.merges[:last], joined]))


def _nearest_in(Y: Array, index: Indices) -> Indices:
    """The nearest of each vertex in a layout Y (u, r) among its neighbours and theirs, (u, k)."""
    from clusterkit.families.embeddings.layout_jit import nearest_in_layout

    n, k = index.shape
    nearest = np.full((n, k), -1, dtype=np.int32)
    similar = np.full((n, k), -np.inf, dtype=np.float32)
    over_rows(lambda begin, end: nearest_in_layout(Y, index, similar, nearest, begin, end), n, 4 * k * k)
    return nearest


def _degrees(starts: Indices, tails: Indices, weights: Array) -> Array:
    """Sums of the weights of each vertex, (m,); none is without an edge."""
    return np.add.reduceat(weights, starts[:-1])


def _small_communities(starts: Indices, tails: Indices, weights: Array, gamma: float, rng: Rng) -> Labels:
    """Communities of largest modularity at the resolution gamma, by the Louvain method, (n,)."""
    from clusterkit.families.embeddings.communities_jit import sums_between

    n = len(starts) - 1
    labels: Labels = np.arange(n)
    edges = starts, tails, weights
    while True:
        m = len(edges[0]) - 1
        moved = _moved(*edges, np.arange(m), gamma, rng)
        count = int(moved.max()) + 1
        if count == m:
            break
        labels, edges = moved[labels], sums_between(*edges, moved, count)
    # vertices that a merge of their community left in the wrong one
    return _moved(starts, tails, weights, labels, gamma, rng)


def _moved(starts: Indices, tails: Indices, weights: Array, labels: Labels, gamma: float, rng: Rng) -> Labels:
    """Labels after moves of single vertices, numbered anew from 0."""
    from clusterkit.families.embeddings.communities_jit import move_all

    degrees = _degrees(starts, tails, weights)
    labels, totals = labels.copy(), np.zeros(len(labels))
    totals[: labels.max() + 1] = np.bincount(labels, degrees)
    move_all(starts, tails, weights, degrees, labels, totals, gamma, rng.permutation(len(labels)))
    number = np.cumsum(np.bincount(labels, minlength=len(labels)) > 0) - 1
    return number[labels]
