"""The graph of shared neighbours, its layouts in few dimensions, and the tree in which its communities merge.

Two rows are joined by ``|N(i) and N(j)| / |N(i) or N(j)|`` if one is a neighbour of the other (Jarvis, Patrick 1973),
so that dense and sparse parts weigh alike. A layout (McInnes, Healy, Melville 2018, with the kernel ``1 / (1 + r²)``)
starts from the leading eigenvectors; the graph of shared neighbours in the layout has the communities of the first one
more clearly apart. Small communities (Blondel et al. 2008) merge by the similarity of Bonald et al. (2018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.numerics.graph_records import MergeTree, NeighbourGraph
from clusterkit.numerics.neighbour_graph import components
from clusterkit.numerics.neighbour_search import canonical_order, nearest_rows
from clusterkit.numerics.threads import limited_threads, over_rows, thread_pool

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["joined_by_distance", "layouts", "matrix_of", "merge_tree", "neighbour_graph"]

START_SWEEPS, START_DEGREE, START_SPARE, START_POWER = 4, 4, 8, 4
"""Orthonormalisations, products between two of them, and spare columns of the iteration for the leading eigenvectors;
each vector counts by this power of its value, as in a diffusion map. The start needs no more digits."""

EXTENT = 10.0
"""Largest coordinate of a start, as in UMAP: wide enough that clusters of the start stay apart."""

JITTER = 1e-3
"""Deviation of the noise on a start, so that rows with equal coordinates part."""

SMALLEST_COMMUNITIES, MOST_RESOLUTION = 100, 300.0
"""The communities that are merged have about so many rows: the resolution is n over it, up to the second number."""


DIGITS = np.float32(2**24)
"""Weights of a merge tree are multiples of one over this: the sum of a hundred million of them is exact."""

FEW = 500
"""Rows up to which every row is a community of its own, so that any number of clusters can be cut from the tree."""

EQUAL_ROWS, MOST_GROUPS = 10, 200
"""Equal rows are a group that may be a cluster if there are as many as the smallest cluster has, and no fewer than the
rows over the second number. Where most rows are in such groups, the distinct rows are too few to be a graph."""


def neighbour_graph(X: Array, n_neighbors: int, rng: Rng, search: str = "auto") -> NeighbourGraph:
    """The graph of samples X (n, d); O(n² d), less beyond `search.EXACT_WORK`; see `search.method_for`.

    Where most rows are in groups of equal rows, each group is as many vertices as have only each other as neighbours,
    as rows are that are nearly equal.
    """
    X = np.ascontiguousarray(X, dtype=np.float32)
    rows, place = canonical_order(X)
    k = min(n_neighbors, len(rows) - 1)
    counts = np.bincount(place)
    is_group = counts >= max(EQUAL_ROWS, len(X) // MOST_GROUPS)
    if k and 2 * counts[is_group].sum() > len(X):
        k = min(n_neighbors, len(X) - 1)
        copies = np.where(is_group, k + 1, 1)
        rows, place = np.repeat(rows, copies), (np.cumsum(copies) - copies)[place]
    if k < 1:
        none = np.empty(0, dtype=np.int32)
        starts, weights = np.zeros(2, dtype=np.int32), np.empty(0, dtype=np.float32)
        return NeighbourGraph(rows, place, none.reshape(1, 0), starts, none, weights, "exact", 1.0, None, 1)
    near = nearest_rows(X, rows, k, rng, search)
    edges = _weights(near.index)
    graph = NeighbourGraph(rows, place, near.index, *edges, near.method, near.recall, near.sketch, 1)
    return attrs.evolve(graph, components=int(components(matrix_of(graph)).max()) + 1)


def matrix_of(graph: NeighbourGraph) -> csr_array:
    """The weights as a sparse array of scipy, (u, u), which shares their memory."""
    from scipy.sparse import csr_array

    return csr_array((graph.weights, graph.tails, graph.starts), shape=(graph.n, graph.n))


def _weights(index: Indices) -> tuple[Indices, Indices, Array]:
    """Symmetric weights of shared neighbours: starts, tails and weights of the edges of each vertex."""
    from clusterkit.numerics.neighbour_search_jit import shared_weights, symmetric

    n, k = index.shape
    weights = np.empty((n, k), dtype=np.float32)
    over_rows(lambda begin, end: shared_weights(index, weights, begin, end), n, 2 * k * k)
    return symmetric(index, weights)


def layouts(graph: NeighbourGraph, epochs: int, negatives: int, seeds: list[int], rng: Rng) -> list[Array]:
    """Coordinates of the vertices in one layout for each seed, (u, r) float32 each.

    The layouts are made side by side by threads; each is the work of one of them, so that its bits do not depend on
    their number.
    """
    from clusterkit.families.embeddings.layout_jit import DIMENSIONS, spread

    count = len(seeds)
    if graph.n < 3:
        return [np.arange(graph.n, dtype=np.float32)[:, None] * np.ones(DIMENSIONS, np.float32) for _ in range(count)]
    with limited_threads(0):
        begin = _leading_coordinates(graph, DIMENSIONS, rng)
    largest = graph.weights.max()
    every = largest / graph.weights
    used = every < epochs  # edges that would never be used
    heads = np.repeat(np.arange(graph.n, dtype=np.int32), np.diff(graph.starts))[used]
    tails, every = graph.tails[used], every[used].astype(np.float32)
    placed: list[Array] = [begin] * count

    def make(first: int, last: int) -> None:
        for number in range(first, last):
            noise = np.random.default_rng(seeds[number]).standard_normal(begin.shape, dtype=np.float32)
            Y = np.ascontiguousarray(begin + np.float32(JITTER) * noise)
            spread(Y, heads, tails, every, epochs, negatives, seeds[number])
            placed[number] = Y

    with thread_pool() as over:
        over(make, 0, count, 10**9)
    return [Y[graph.place[graph.rows]] for Y in placed]


def _leading_coordinates(graph: NeighbourGraph, count: int, rng: Rng) -> Array:
    """Leading eigenvectors of ``D^(-1/2) W D^(-1/2)`` but the first, as coordinates of a diffusion map, (u, count)."""
    from scipy.sparse import diags_array

    W, n = matrix_of(graph), graph.n
    roots = (1.0 / np.sqrt(np.maximum(np.asarray(W.sum(axis=1)).reshape(-1), 1e-9))).astype(np.float32)
    S = (diags_array(roots) @ W @ diags_array(roots)).tocsr()
    Q = rng.standard_normal((n, min(n, count + 1 + START_SPARE)), dtype=np.float32)
    for _ in range(START_SWEEPS):
        for _ in range(START_DEGREE):
            Q = np.float32(0.5) * (Q + S @ Q)
        Q = np.linalg.qr(Q)[0]
    values, V = np.linalg.eigh(Q.T @ (S @ Q))
    leading = np.argsort(-values, kind="stable")[1 : count + 1]
    F = np.zeros((n, count), dtype=np.float32)
    F[:, : len(leading)] = (Q @ V[:, leading]) * roots[:, None] * np.clip(values[leading], 0.0, 1.0) ** START_POWER
    F -= F.mean(axis=0)
    return np.float32(EXTENT) * F / np.float32(max(float(np.abs(F).max()), 1e-9))


def merge_tree(graph: NeighbourGraph, Y: Array | None, rng: Rng) -> MergeTree:
    """The merge tree of the shared neighbours in a layout Y (u, r), or of those of the graph where it is None."""
    from clusterkit.families.embeddings.communities_jit import merge_all, sums_between

    n, index = graph.n, graph.index
    if n < 3:
        return MergeTree(np.arange(n), np.array([[0, 1]])[: n - 1], np.ones(n - 1), np.ones(n))
    starts, tails, weights = _weights(index if Y is None else _nearest_in(Y, index))
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

    The graph says nothing of the order of these merges, on which clusters depend that are fewer than the parts.

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
