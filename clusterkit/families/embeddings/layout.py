"""The graph of shared neighbours, and its layouts in few dimensions, for rows in many.

Two rows are joined by ``|N(i) and N(j)| / |N(i) or N(j)|`` if one is a neighbour of the other (Jarvis, Patrick 1973),
so that dense and sparse parts weigh alike. A layout (McInnes, Healy, Melville 2018, with the kernel ``1 / (1 + r²)``)
starts from the leading eigenvectors; the graph of shared neighbours in the layout has the communities of the first one
more clearly apart.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import FeatureMap, Task, params
from clusterkit.errors import ClusterkitWarning, counted
from clusterkit.numerics.neighbour_graph import components
from clusterkit.numerics.neighbour_search import METHODS, canonical_order, nearest_of, nearest_rows
from clusterkit.numerics.selection import without_rounding
from clusterkit.numerics.shapes import array, scalar
from clusterkit.numerics.threads import limited_threads, over_rows, thread_pool
from clusterkit.samples import EmbeddedSpace, FeatureSpace, memory
from clusterkit.samples.features import NeighbourGraph
from clusterkit.samples.limits import Report, notify, reuse

if TYPE_CHECKING:
    from scipy.sparse import csr_array

EQUAL_LENGTH = 1e-3
"""Difference from 1 up to which a row has length 1, in float32 too."""

BYTES_A_NEIGHBOUR = 80
"""Bytes that a row takes for each neighbour: candidates, their distances, and the edges in both directions."""

FEW_ROWS = 8000
"""Rows up to which there are more layouts."""

PLANE = 2
"""Columns up to which rows of length 1 say too little: blobs of the plane cover each other on the circle."""

LAYOUTS = 6, 4
"""Layouts of few rows and of many. An even number, so that two threads share them. With six instead of three, two seeds
agree at .90 instead of .89 on Semeion and at .87 instead of .84 on Satimage."""


@final
@attrs.frozen
class Layout(FeatureMap):
    """Coordinates in which rows that share neighbours are near, in several layouts beside each other.

    For embeddings of texts, images or cells, and other rows of many attributes whose clusters are curved: behind the
    map `unit`, or alone, by Euclidean distances. Each distinct row is joined to its nearest others, with the weight
    ``|N(i) and N(j)| / |N(i) or N(j)|`` of shared neighbours. Each layout starts from the leading eigenvectors of this
    graph; then edges attract their ends by the kernel ``1 / (1 + r²)``, rows drawn at random repel each other. The
    layouts differ by their random draws: what they have in common is in the data.

    O(n² d) for the graph up to 1.5e10 products, beyond by a sketch of 64 principal axes, ranked again by all
    attributes, from 30,000 rows on within cells of k-means; O(n) for each layout. All in float32, without a table of
    n². The search is in numerics/neighbour_search.py (`nearest_rows`), a layout in layout_jit.py (`spread`). The
    solver `Paris` (paris.py) makes a tree of each layout.

    Parameters
    ----------
    n_neighbors : int, default 15
    n_layouts : int or None, default None
        Layouts, 100 at most, of 8 coordinates each. None: six up to 8,000 rows, where two more take half a second,
        and four beyond; the more, the less the answer depends on the seed.
    epochs : int, default 60
        Rounds over the edges of a layout.
    negatives : int, default 3
        Random rows that repel a row for each edge that attracts it.
    neighbors_method : {"auto", "exact", "sketch"}, default "auto"
        How neighbours are searched: all pairs of rows are compared, or those that a sketch proposes; see
        numerics/neighbour_search.py (`method_for`).

    Raises
    ------
    NeedsMemory
        If the graph exceeds the memory cap.

    Warns
    -----
    ClusterkitWarning
        If rows of one or two columns come with length 1, as `unit` makes them. If the number of clusters is sought
        among groups of fewer than ten equal rows.

    Notes
    -----
    Rows are worked on in an order that depends on their values, not on the order in which they come; equal rows are one
    vertex, and so are rows of length 1 that are equal up to rounding. Where most rows are in groups of ten and more
    equal ones, the distinct rows are too few for a graph, and each such group is a part of it by itself. A layout is
    the work of one thread, so that the features are the same for any number of threads. `resolved_` reports how
    neighbours were searched, and where not all pairs were compared the share of the true neighbours found on 200 rows
    ("recall").

    New rows get the mean of the positions of their nearest rows, nearer ones counting more; that only approximates the
    positions of the rows themselves, so `exact_on_training` is False.

    References
    ----------
    Jarvis, Patrick (1973), Clustering using a similarity measure based on shared near neighbors, IEEE Transactions on
    Computers C-22(11). McInnes, Healy, Melville (2018), UMAP: uniform manifold approximation and projection,
    arXiv:1802.03426. Tang, Liu, Zhang, Mei (2016), Visualizing large-scale and high-dimensional data, WWW: the kernel.
    """

    name: ClassVar[str] = "layout"
    synonyms: ClassVar[tuple[str, ...]] = ("umap", "shared_neighbours", "negative_sampling")
    nonnegative: ClassVar[bool | None] = False
    exact_on_training: ClassVar[bool] = False
    small: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True

    n_neighbors: int = params.integer(15, at_least=2)
    n_layouts: int | None = params.integer(None, at_least=1, at_most=100, optional=True)
    epochs: int = params.integer(60, at_least=1, at_most=10_000)
    negatives: int = params.integer(3, at_least=1, at_most=10_000)
    neighbors_method: str = params.choice("auto", METHODS)

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FeatureSpace:
        """The space of the layouts, which keeps the graph."""
        X = samples.points
        n, d = X.shape
        is_unit = _is_unit(X)
        if d <= PLANE and is_unit:
            warnings.warn(
                f"rows of {counted(d, 'column')} that are scaled to length 1 keep nothing but their angle: clusters "
                "that differ in the length are one. Embeddings have many columns; for measurements take recipe "
                "'hdbscan' or 'kmeans', or clusterkit.Auto",
                ClusterkitWarning,
                stacklevel=2,
            )
        memory.require(
            n * (4 * d + self.n_neighbors * BYTES_A_NEIGHBOUR),
            f"the graph of {self.n_neighbors} neighbours of {n} rows",
            "Use fewer n_neighbors, or fit a sample of the rows.",
        )
        count = self.n_layouts or LAYOUTS[0 if n <= FEW_ROWS else 1]
        seeds = [int(seed) for seed in rng.integers(2**31 - 1, size=count + 2)]
        key = ("shared neighbours", self.n_neighbors, self.neighbors_method, seeds[-1])
        notify(Report("layout: neighbours", 1, 2))
        graph = reuse(
            X, key,
            lambda: neighbour_graph(X, self.n_neighbors, np.random.default_rng(seeds[-1]), self.neighbors_method),
        )  # fmt: skip
        if task.n_clusters is None:
            _warn_of_small_groups(graph, is_unit)
        notify(Report("layout", 2, 2))
        placed = layouts(graph, self.epochs, self.negatives, seeds[:count], np.random.default_rng(seeds[-2]))
        H = np.hstack(placed)[graph.place].astype(X.dtype, copy=False)
        mapping = LayoutRows(X, H, min(self.n_neighbors, n))
        return EmbeddedSpace(X, mapping, H, resolved={**graph.facts, "n_layouts": count}, graph=graph)


@final
@attrs.frozen(eq=False)
class LayoutRows:
    """Row map: the mean of the positions of the nearest rows, weighted by 1 over the squared distance.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    positions : ndarray of shape (n, r)
    n_neighbors : int
    """

    rows: Array = attrs.field(validator=array("n d"))
    positions: Array = attrs.field(validator=array("n r"))
    n_neighbors: int = attrs.field(validator=scalar(least=1))

    @property
    def width(self) -> int:
        """Number of coordinates of all layouts."""
        return int(self.positions.shape[1])

    def __call__(self, Y: Array) -> Array:
        """Positions of rows, (m, d) to (m, r), in the type of Y; that of an equal row where there is one."""
        squared, index = nearest_of(self.rows, Y, self.n_neighbors)
        nearest = squared[:, :1]
        weights = np.where(nearest > 0.0, nearest, 1.0) / np.where(squared > 0.0, squared, 1.0)
        weights = np.where(nearest > 0.0, weights, (squared == 0.0).astype(np.float64))
        weights /= weights.sum(axis=1, keepdims=True)
        return np.einsum("ij,ijl->il", weights, self.positions[index]).astype(Y.dtype, copy=False)


START_SWEEPS, START_DEGREE, START_SPARE, START_POWER = 4, 4, 8, 4
"""Orthonormalisations, products between two of them, and spare columns of the iteration for the leading eigenvectors;
each vector counts by this power of its value, as in a diffusion map. The start needs no more digits."""

EXTENT = 10.0
"""Largest coordinate of a start, as in UMAP: wide enough that clusters of the start stay apart."""

JITTER = 1e-3
"""Deviation of the noise on a start, so that rows with equal coordinates part."""

EQUAL_ROWS, MOST_GROUPS = 10, 200
"""Equal rows are a group that may be a cluster if there are as many as the smallest cluster has, and no fewer than the
rows over the second number. Where most rows are in such groups, the distinct rows are too few to be a graph."""

REPEATED = 3
"""Equal rows from which on they are a group of which a user would ask."""


def neighbour_graph(X: Array, n_neighbors: int, rng: Rng, search: str = "auto") -> NeighbourGraph:
    """The graph of samples X (n, d); O(n² d), less beyond `search.EXACT_WORK`; see `search.method_for`.

    Where most rows are in groups of equal rows, each group is as many vertices as have only each other as neighbours,
    as rows are that are nearly equal.
    """
    exponent = int(np.frexp(np.abs(X).max(initial=0.0))[1])
    if exponent > 60:  # squares that float32 can't hold: by a power of two, the neighbours are the same
        X = np.ldexp(X, -exponent)
    X = np.ascontiguousarray(X, dtype=np.float32)
    if _is_unit(X):
        X = without_rounding(X)
    rows, place = canonical_order(X)
    k = min(n_neighbors, len(rows) - 1)
    counts = np.bincount(place)
    is_group = counts >= _least_group(len(X))
    if k and 2 * counts[is_group].sum() > len(X):
        k = min(n_neighbors, len(X) - 1)
        copies = np.where(is_group, k + 1, 1)
        rows, place = np.repeat(rows, copies), (np.cumsum(copies) - copies)[place]
    if k < 1:
        none = np.empty(0, dtype=np.int32)
        starts, weights = np.zeros(2, dtype=np.int32), np.empty(0, dtype=np.float32)
        return NeighbourGraph(rows, place, none.reshape(1, 0), starts, none, weights, "exact", 1.0, None, 1)
    near = nearest_rows(X, rows, k, rng, search)
    edges = weights_of(near.index)
    graph = NeighbourGraph(rows, place, near.index, *edges, near.method, near.recall, near.sketch, 1)
    return attrs.evolve(graph, components=int(components(matrix_of(graph)).max()) + 1)


def _warn_of_small_groups(graph: NeighbourGraph, is_unit: bool) -> None:
    """Say that groups of equal rows are joined because each has fewer rows than a cluster."""
    counts = np.bincount(graph.place)
    groups = counts[counts >= REPEATED]
    small = groups[groups < _least_group(len(graph.place))]
    if 2 * groups.sum() > len(graph.place) and len(small):
        cosine = "metric='cosine' and " * is_unit
        warnings.warn(
            f"most rows are equal to others, {small.sum()} of {len(graph.place)} in groups of at most {small.max()}: "
            "too few rows for a cluster here, so that groups are joined. Where each is a cluster, take recipe 'kmeans' "
            f"with {cosine}n_clusters={len(groups)}",
            ClusterkitWarning,
            stacklevel=3,
        )


def _least_group(n: int) -> int:
    """Equal rows, of n rows, from which on they may be a cluster."""
    return max(EQUAL_ROWS, n // MOST_GROUPS)


def _is_unit(X: Array) -> bool:
    """Whether all rows have length 1, or 0."""
    lengths = np.linalg.norm(X, axis=1)
    return bool(((np.abs(lengths - 1.0) <= EQUAL_LENGTH) | (lengths == 0.0)).all())


def matrix_of(graph: NeighbourGraph) -> csr_array:
    """The weights as a sparse array of scipy, (u, u), which shares their memory."""
    from scipy.sparse import csr_array

    return csr_array((graph.weights, graph.tails, graph.starts), shape=(graph.n, graph.n))


def weights_of(index: Indices) -> tuple[Indices, Indices, Array]:
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
