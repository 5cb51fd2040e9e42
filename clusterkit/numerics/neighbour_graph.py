"""Graphs that join each row to its nearest others, weighted by local scales.

The weights are ``w_ij = exp(-|x_i - x_j|² / (s_i s_j))`` with s_i the distance of row i to one of its neighbours
(Zelnik-Manor, Perona 2004; `self_tuned_weights`, `local_scales`). `neighbour_search` finds exact neighbours, ties
decided by the row number, whatever the algorithm and the number of threads. `large_components` says which connected
components are clusters, `join_nearest` which of them to join where there are more than asked for. `unique_pairs` has
each pair of neighbours once. The leading eigenvectors are in `clusterkit.numerics.eigenvectors`.

Ctrl-C ends a search (`nearest_in_tree`) in good order. The threads that SciPy starts for ``workers`` above 1 are not
waited for when Ctrl-C ends the call: they then write into arrays that are gone, and the process may crash.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.numerics.selection import distinct_rows
from clusterkit.numerics.threads import over_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from scipy.spatial import KDTree

TREE_DIMENSIONS = 20
"""Number of attributes up to which a k-d tree is used; in more it looks at nearly all points, and a matrix product of
all pairs is faster."""
SPARE = 4
"""Candidates beyond the neighbours asked for: enough to see where a tie at the last neighbour ends, nearly always."""
TREE_ROUNDING = 1e-9
"""Relative error of the squared distances of a k-d tree that is allowed for."""
PRODUCT_ROUNDING = 1e-12
"""Error of squared distances in their expanded form that is allowed for, relative to the extent of the points."""
BLOCK = 2**24
"""Numbers in a block of distances or differences: 128 MB."""

Candidates = Callable[[Array, int], tuple[Indices, Array]]
"""Candidate rows of each query, (m, c), and a lower bound on the squared distance of all other rows, (m,)."""
Search = Callable[[Array, int], tuple[Array, Indices]]
"""Squared distances and row numbers of the nearest rows of each query, (m, k), ascending."""


def neighbour_search(points: Array) -> Search:
    """The function that finds the exact nearest rows of `points` (u, d), float64.

    Its arguments are queries (m, d) and their number of neighbours k <= u; it gives squared distances, computed from
    differences and therefore exactly 0 for equal rows, and row numbers, both (m, k), ascending. Of equally near rows
    those with the lowest numbers are taken. O((u + m) log u) in few dimensions, O(m u d) in many.

    Examples
    --------
    >>> search = neighbour_search(np.array([[0.0], [1.0], [-1.0], [5.0]]))
    >>> search(np.array([[0.0]]), 2)
    (array([[0., 1.]]), array([[0, 1]]))
    """
    find = _tree(points) if points.shape[1] <= TREE_DIMENSIONS else _products(points)

    def search(queries: Array, k: int) -> tuple[Array, Indices]:
        squared, index = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.intp)
        open_queries, count = np.arange(len(queries)), min(k + SPARE, len(points))
        while len(open_queries):
            unsure = []
            rows = max(1, BLOCK // max(1, count * points.shape[1]))
            for start in range(0, len(open_queries), rows):
                block = open_queries[start : start + rows]
                candidates, bound = find(queries[block], count)
                near, order = _exact(queries[block], points, candidates)
                squared[block], index[block] = near[:, :k], order[:, :k]
                if count < len(points):
                    unsure.append(block[near[:, k - 1] >= bound])
            open_queries = np.concatenate(unsure) if unsure else np.empty(0, dtype=np.intp)
            count = min(4 * count, len(points))
        return squared, index

    return search


def _exact(queries: Array, points: Array, candidates: Indices) -> tuple[Array, Indices]:
    """Candidates sorted by their distance, then by their number."""
    candidates = np.sort(candidates, axis=1)
    gaps = points[candidates] - queries[:, None, :]
    squared = np.einsum("ijk,ijk->ij", gaps, gaps)
    order = np.argsort(squared, axis=1, kind="stable")
    return np.take_along_axis(squared, order, axis=1), np.take_along_axis(candidates, order, axis=1)


def _tree(points: Array) -> Candidates:
    from scipy.spatial import KDTree

    # cells split in the middle: faster to build, and no slower to search in the points of clusters
    tree = KDTree(points, balanced_tree=False, compact_nodes=False)

    def find(queries: Array, count: int) -> tuple[Indices, Array]:
        distances, index = nearest_in_tree(tree, queries, count)
        return index, np.square(distances[:, -1]) * (1.0 - TREE_ROUNDING)

    return find


def _products(points: Array) -> Candidates:
    centre = points.mean(axis=0)
    centred = points - centre
    squares = np.einsum("ij,ij->i", centred, centred)
    rounding = PRODUCT_ROUNDING * float(squares.max(initial=0.0))

    def find(queries: Array, count: int) -> tuple[Indices, Array]:
        index, bound = np.empty((len(queries), count), dtype=np.intp), np.empty(len(queries))
        rows = max(1, min(1024, BLOCK // len(points)))
        for start in range(0, len(queries), rows):
            block = slice(start, min(len(queries), start + rows))
            Q = queries[block] - centre
            D = Q @ (-2.0 * centred.T)
            D += squares
            near = np.argpartition(D, count - 1, axis=1)[:, :count] if count < len(points) else None
            index[block] = np.arange(len(points)) if near is None else near
            own_squares = np.einsum("ij,ij->i", Q, Q)
            largest = np.take_along_axis(D, index[block], axis=1).max(axis=1) + own_squares
            bound[block] = largest - rounding - PRODUCT_ROUNDING * own_squares
        return index, bound

    return find


MOST_COMPONENTS = 1000
"""Largest number of components whose distances to each other are looked at, a second of work at most."""
LEAST_SHARE = 0.1
"""Smallest size of a component that may be a cluster, relative to the mean size. The smallest clusters of the sets of
shapes that decided on it have 0.12 of the mean size."""
QUERIES = 4_000_000
"""Largest number of nearest-row queries between components. Beyond it only some rows of each component are queried,
evenly spaced in their order; the queries take some seconds."""


def components(W: csr_array) -> Labels:
    """Connected component of each row of a sparse symmetric matrix (u, u), numbered by first appearance."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(W, directed=False)[1], dtype=np.intp)


def large_components(component: Labels, n_neighbors: int, k: int | None) -> Indices:
    """Row numbers of the components that may be clusters, ascending; all rows if there is none.

    A row and its neighbours are a component's least size, unless weights vanish: a smaller component consists of rows
    so far from all others, by the scale of these others, that they are outliers. So is one below `LEAST_SHARE` of the
    mean size of k clusters: a dozen rows that happen to be nearest to each other. Beyond the `MOST_COMPONENTS` largest
    components (the first of equal size) all are left out.

    Parameters
    ----------
    component : ndarray of shape (u,)
    n_neighbors : int
    k : int or None
        Number of clusters, if it is known.
    """
    sizes = np.bincount(component)
    large = sizes > max(n_neighbors, 0 if k is None else LEAST_SHARE * len(component) / k)
    large[np.argsort(-sizes, kind="stable")[MOST_COMPONENTS:]] = False
    return np.flatnonzero(large[component]) if large.any() else np.arange(len(component))


def join_nearest(points: Array, scales: Array, component: Labels, count: int) -> Labels:
    """Components joined to `count` groups, (u,); groups are numbered by first appearance.

    The pair is joined first for which ``ln(1 + g) n_a n_b / (n_a + n_b)`` is smallest. g is the squared distance of the
    nearest rows of the two, divided by the product of their scales, so that it compares with the exponent of the
    weights; for equal g the factor of the sizes is the rise of the within-cluster sum of squares of the indicators, as
    in Ward's method, so that small components are joined before large ones are.

    Parameters
    ----------
    points : ndarray of shape (u, d)
    scales : ndarray of shape (u,)
    component : ndarray of shape (u,)
        0..c-1, each with a row.
    count : int
        At most c.

    Notes
    -----
    O(c³) at most, besides the queries for the nearest rows.
    """
    gaps = np.log1p(_gaps(points, scales, component))
    sizes = np.bincount(component).astype(np.float64)
    c = len(sizes)
    group = np.arange(c)
    harmonic = sizes[:, None] * sizes / (sizes[:, None] + sizes)
    for _ in range(c - count):
        costs = gaps * harmonic
        low, high = sorted(divmod(int(np.argmin(costs)), c))
        group[group == high] = low
        gaps[low] = np.minimum(gaps[low], gaps[high])
        gaps[:, low] = gaps[low]
        gaps[low, low] = np.inf
        gaps[high], gaps[:, high] = np.inf, np.inf
        sizes[low] += sizes[high]
        harmonic[low] = sizes[low] * sizes / (sizes[low] + sizes)
        harmonic[:, low] = harmonic[low]
    return np.unique(group, return_inverse=True)[1][component]


def _gaps(points: Array, scales: Array, component: Labels) -> Array:
    """Scaled squared distances between the components, (c, c)."""
    order = np.argsort(component, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(component))[:-1])
    c = len(members)
    by_size = sorted(range(c), key=lambda number: (len(members[number]), number))
    queries = sum(len(members[number]) * (c - 1 - rank) for rank, number in enumerate(by_size))
    share = min(1.0, QUERIES / max(1, queries))
    gaps = np.full((c, c), np.inf)
    queried = [rows[:: max(1, int(1.0 / share))] for rows in members]
    # the rows of the smaller component are looked for in the tree of the larger one
    for rank in range(1, c):
        large = by_size[rank]
        search = neighbour_search(points[members[large]])
        for small in by_size[:rank]:
            squared, index = search(points[queried[small]], 1)
            nearest = int(np.argmin(squared[:, 0]))
            ends = queried[small][nearest], members[large][index[nearest, 0]]
            gaps[small, large] = gaps[large, small] = squared[nearest, 0] / (scales[ends[0]] * scales[ends[1]])
    return gaps


def unique_pairs(pairs: Indices, n: int) -> tuple[Indices, Indices]:
    """Unordered pairs of row numbers, each once.

    Parameters
    ----------
    pairs : ndarray of int, shape (e, 2)
        Row numbers below n, in any order and repeated.
    n : int

    Returns
    -------
    pairs : ndarray of int64, shape (u, 2)
        The lower number of a pair first; sorted by the first number, then by the second.
    first : ndarray of int, shape (u,)
        Position of the first occurrence of each pair among those passed.

    Notes
    -----
    O(n + e) where few pairs have the same lower number, by buckets, on all cores (`ordered_pairs`).

    Examples
    --------
    >>> pairs, first = unique_pairs(np.array([[2, 0], [1, 1], [0, 2]]), 3)
    >>> pairs.tolist(), first.tolist()
    ([[0, 2], [1, 1]], [0, 1])
    """
    from clusterkit.numerics.structures_jit import ordered_pairs

    return ordered_pairs(np.ascontiguousarray(pairs, dtype=np.int64), n)


EPS = float(np.finfo(np.float64).eps)
"""Relative rounding error of float64."""


def local_scales(squared: Array, neighbour: int) -> Array:
    """Distance of each row to its neighbour of that number, from the squared distances of its neighbours, (u, k).

    A distance of 0 (of rows so near to each other that the square of their distance underflows) becomes the smallest
    positive one, or 1 if there is none.
    """
    scales = np.sqrt(squared[:, neighbour - 1])
    positive = scales[scales > 0.0]
    return np.maximum(scales, positive.min() if len(positive) else 1.0)


def self_tuned_weights(squared: Array, index: Indices, scales: Array) -> csr_array:
    """The sparse symmetric matrix ``w_ij = exp(-|x_i - x_j|² / (s_i s_j))`` of neighbours, (u, u).

    Two rows are joined if either is a neighbour of the other, with half of the weight if the other is not one of it in
    iteration. Weights below eps / u relative to the root of the product of both degrees are left out: all of them
    together change no eigenvalue by more than eps.

    Parameters
    ----------
    squared : ndarray of shape (u, k)
        Squared distances of the rows to their neighbours.
    index : ndarray of int, shape (u, k)
        The neighbours. The row itself is not joined to itself.
    scales : ndarray of shape (u,)
    """
    u, k = index.shape
    pairs = np.stack([np.repeat(np.arange(u), k), index.reshape(-1)], axis=1)
    edges, first = unique_pairs(pairs, u)
    lengths = squared.reshape(-1)[first]
    keys = pairs.min(axis=1) * np.int64(u) + pairs.max(axis=1)
    sides = np.bincount(np.searchsorted(edges[:, 0] * np.int64(u) + edges[:, 1], keys), minlength=len(edges))
    proper = edges[:, 0] != edges[:, 1]
    (i, j), lengths, sides = edges[proper].T, lengths[proper], sides[proper]
    weights = 0.5 * np.minimum(sides, 2) * np.exp(-lengths / (scales[i] * scales[j]))
    degrees = np.bincount(i, weights, u) + np.bincount(j, weights, u)
    joining = weights > EPS / u * np.sqrt(degrees[i] * degrees[j])
    return symmetric(i[joining], j[joining], weights[joining], u)


def symmetric(i: Indices, j: Indices, weights: Array, n: int) -> csr_array:
    """Sparse symmetric matrix (n, n) with one weight per pair and an empty diagonal."""
    from scipy.sparse import csr_array

    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    return csr_array((np.concatenate([weights, weights]), (rows, columns)), shape=(n, n))


def self_tuned_graph(points: Array, n_neighbors: int, scale_neighbor: int) -> tuple[csr_array, Array, Labels]:
    """Weights (u, u) of the graph of distinct points, their local scales and their components, (u,) each."""
    squared, index = neighbour_search(points)(points, max(n_neighbors, scale_neighbor) + 1)
    squared, index = squared[:, 1:], index[:, 1:]  # the first is the point itself
    scales = local_scales(squared, scale_neighbor)
    W = self_tuned_weights(squared[:, :n_neighbors], index[:, :n_neighbors], scales)
    return W, scales, components(W)


def with_degrees(W: csr_array) -> tuple[csr_array, Array]:
    """The graph and its degrees, (u,); in a graph of few vertices one without neighbours is joined to itself."""
    from scipy.sparse import diags_array

    degrees = np.asarray(W.sum(axis=1)).reshape(-1)
    if degrees.all():
        return W, degrees
    alone = degrees == 0.0
    return (W + diags_array(alone.astype(np.float64))).tocsr(), np.where(alone, 1.0, degrees)


def indicators(group: Labels, degrees: Array) -> Array:
    """Eigenvectors of eigenvalue 1 of ``D^(-1/2) W D^(-1/2)``, (u, c), one for each group that no edge leaves."""
    member = (group[:, None] == np.arange(group.max() + 1)).astype(np.float64)
    return member * np.sqrt(degrees)[:, None] / np.sqrt(member.T @ degrees)


def centred_rows(X: Array) -> tuple[Indices, Indices, Array, Array, float]:
    """The distinct rows of X, centred and scaled, so that neither offsets nor tiny or huge units cost digits.

    Returns the indices of their first occurrences in X, the number of the distinct row that each row equals, the
    distinct rows, and the origin and the scale that were subtracted and divided by.
    """
    first, inverse = distinct_rows(X)
    rows = X[first].astype(np.float64)
    origin = rows.mean(axis=0)
    rows -= origin
    size = float(np.abs(rows).max(initial=0.0)) or 1.0
    rows /= size
    return first, inverse, rows, origin, size


STEPS = 2000
"""Cost of a search in nanoseconds, for the choice of the ranges of the threads; it is a few microseconds."""


def nearest_in_tree(tree: KDTree, queries: Array, count: int) -> tuple[Array, Indices]:
    """Distances and indices of the nearest points of each query, (q, count) each, in ascending order.

    Parameters
    ----------
    tree : scipy.spatial.KDTree
    queries : ndarray of shape (q, d)
    count : int
        At least 1.

    Examples
    --------
    >>> from scipy.spatial import KDTree
    >>> nearest_in_tree(KDTree([[0.0], [1.0], [3.0]]), np.array([[0.9]]), 2)[1].tolist()
    [[1, 0]]
    """
    distances = np.empty((len(queries), count))
    index = np.empty((len(queries), count), dtype=np.intp)
    ranks = [*range(1, count + 1)]

    def search(start: int, stop: int) -> None:
        distances[start:stop], index[start:stop] = tree.query(queries[start:stop], k=ranks)

    over_rows(search, len(queries), STEPS)
    return distances, index
