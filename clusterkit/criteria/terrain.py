"""The terrain of a data set: the spanning tree and the core distances by which all candidates are judged.

The scores of a labelling on it (`Separation`, `border_contrast`, `inner_contrast`) read no classes; larger is better
for all of them.
"""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.numerics.spanning_trees.tree import births, edge_masses, least_side, nearest_first

CORE = 5
"""Neighbour whose distance is the core distance of a row. Chosen on the 28 development sets of shapes: 3, 5 and 8 gave
mean ARI .83, .84 and .84 with mass cut, and 5 is best on the eight named shapes."""

LEAST_INNER_SIDE = 5
"""Smallest number of rows on both sides of an edge inside a cluster that has a mass: one core neighbourhood."""

UNIT, ALMOST_ALL = 1e-3, 0.99
"""Largest difference of the length of a direction from 1, and the share of the rows that are directions: a few may be
0."""


def are_directions(X: Array) -> bool:
    """Whether rows of three columns and more have length 1, as embeddings have, or rows compared by the cosine.

    Examples
    --------
    >>> X = np.eye(200)
    >>> are_directions(X), are_directions(2 * X), are_directions(X[:2, :2])
    (True, False, False)
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return bool(X.shape[1] > 2 and (np.abs(lengths - 1.0) <= UNIT).mean() >= ALMOST_ALL)


@final
@attrs.frozen(eq=False)
class Terrain:
    """The tree of mutual reachability of a data set, with the quantities derived from it once for all candidates.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    low, high : ndarray of int, shape (n - 1,)
        Ends of the edges of a minimum spanning tree of ``max(|x_i - x_j|, core_i, core_j)``, shortest first; edges of
        equal weight by the distance of their ends, so that the order of the rows decides nothing unless both tie.
    weights : ndarray of shape (n - 1,)
    core : ndarray of shape (n,)
        Distance of each row to its 5th neighbour, never 0: repeated rows have the least positive value of all rows.
    masses : ndarray of shape (n - 1,)
        Masses of all edges, the largest first; see `of_tree`.
    """

    X: Array
    low: Indices
    high: Indices
    weights: Array
    core: Array
    masses: Array

    @classmethod
    def of(cls, X: Array, neighbor: int = CORE) -> Terrain:
        """The terrain of data X, shape (n, d), by the distances to a neighbour; O(n log n) time in few dimensions."""
        from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree

        tree = minimum_spanning_tree(X, min(neighbor + 1, len(X)))
        return cls.of_tree(X, tree.edges, tree.weights, tree.core_distances)

    @classmethod
    def of_tree(cls, X: Array, edges: Indices, weights: Array, core: Array) -> Terrain:
        """The terrain of data X, shape (n, d), from a tree that is already computed.

        The mass of an edge of length w that joins two components, of births b_1 >= b_2 and s_1, s_2 rows, is
        ``ln(w / b_1) sqrt(min(s_1, s_2))``: how much longer it is than the densest place of the sparser side, and how
        many rows say so. The birth of a component is the least core distance of its rows.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        edges : ndarray of int, shape (n - 1, 2)
            Edges in the order of their weights; edges of equal weight in any order.
        weights : ndarray of shape (n - 1,)
            Mutual reachability distances.
        core : ndarray of shape (n,)
            Core distances, of which some may be 0.
        """
        X = np.ascontiguousarray(X, dtype=np.float64)
        core = births(np.asarray(core, dtype=np.float64), weights)
        edges = edges.reshape(-1, 2)
        edges = np.ascontiguousarray(edges[nearest_first(X, edges, weights)], dtype=np.int64)
        masses, side = edge_masses(edges, weights, core)
        masses[side < least_side(len(X))] = 0.0
        weights = np.maximum(weights, core.min(initial=np.inf))
        low, high = (np.ascontiguousarray(column) for column in edges.T)
        return cls(X, low, high, weights, core, -np.sort(-masses))

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.core)

    def mass(self, place: int) -> float:
        """The mass that is the first, second, ... largest; 0 beyond the last."""
        return float(self.masses[place - 1]) if 1 <= place <= len(self.masses) else 0.0

    def adopted(self, labels: Labels) -> Labels:
        """Labels in which noise (-1) has joined a cluster along the tree, by the shortest edges first, (n,)."""
        from clusterkit.criteria import _criteria_jit

        if not (labels < 0).any():
            return labels
        adopted: Labels = _criteria_jit.adopt(self.low, self.high, np.asarray(labels, dtype=np.int64))
        return adopted


QUANTILE = 0.97
"""Quantile of the inner edges of a cluster that stands for its inner distances: nearly the largest, without the few
outliers that hang on a cluster of a hundred rows. Chosen on the 28 development sets of shapes."""


@final
@attrs.frozen(eq=False)
class Separation:
    """Statistics of a labelling on the tree: edges and masses within its clusters and between them.

    Parameters
    ----------
    n : int
    sizes : ndarray of int, shape (k,)
    gap : ndarray of shape (k,)
        Shortest edge of the tree that leaves each cluster; inf for a single cluster.
    spread : ndarray of shape (k,)
        The .97 quantile of the edges inside each cluster; nan without such an edge.
    outer : ndarray of shape (k,)
        ``ln(gap / least core distance)`` of each cluster.
    inner_mass : ndarray of shape (k,)
        Largest mass of an edge inside each cluster.
    """

    n: int
    sizes: Indices
    gap: Array
    spread: Array
    outer: Array
    inner_mass: Array

    @classmethod
    def of(cls, terrain: Terrain, labels: Labels) -> Separation:
        """The statistics of labels 0..k-1, (n,), each of which occurs; O(n) time."""
        from clusterkit.criteria import _criteria_jit

        t, labels = terrain, np.ascontiguousarray(labels, dtype=np.int64)
        sizes = np.bincount(labels)
        k = len(sizes)
        gap, spread, _ = _criteria_jit.cluster_edges(t.low, t.high, t.weights, labels, k, QUANTILE)
        inner = _criteria_jit.inner_masses(t.low, t.high, t.weights, t.core, labels, k, LEAST_INNER_SIDE)
        births = np.full(k, np.inf)
        np.minimum.at(births, labels, t.core)
        return cls(t.n, sizes, gap, spread, np.log(gap / births), inner)

    @property
    def shares(self) -> Array:
        """Share of the rows in each cluster, (k,)."""
        return self.sizes / self.n

    @property
    def validity(self) -> float:
        """Mean over the rows of ``(gap - spread) / max(gap, spread)`` of their cluster, in [-1, 1].

        A silhouette of the tree: near 1 where the clusters are far apart compared with the edges inside them, in any
        shape. A cluster without inner edges has -1.
        """
        isolated = np.isinf(self.gap)
        larger = np.where(isolated, 1.0, np.fmax(self.gap, self.spread))
        values = np.where(isolated, 1.0, (np.where(isolated, 1.0, self.gap) - self.spread) / larger)
        return float(self.shares @ np.where(np.isnan(self.spread), -1.0, values))

    @property
    def entropy(self) -> float:
        """Entropy of the shares, in nats: 0 for one cluster, ln k for equal ones."""
        return float(-(self.shares * np.log(self.shares)).sum())

    @property
    def outer_mass(self) -> Array:
        """``ln(gap / least core distance) sqrt(size)`` of each cluster, (k,): the mass of its border."""
        return self.outer * np.sqrt(self.sizes)

    @property
    def contrast(self) -> float:
        """``ln((1 + geometric mean of (1 + outer mass)) / (2 + mean inner mass))``.

        Masses of the borders against the largest masses inside the clusters. The contrast falls when a border is
        missing, because the cluster then has a heavy edge inside, and when there is one too many, because that one has
        little mass. inf for a single cluster.
        """
        outer = float(np.exp(np.log1p(self.outer_mass).mean()))
        return math.log((1.0 + outer) / (2.0 + float(self.shares @ self.inner_mass)))


def mass_drop(terrain: Terrain, k: int) -> float:
    """``ln((s_{k-1} + 2) / (s_k + 2))`` of the masses s_1 >= s_2 >= ... of the tree: how sharply they fall after k - 1.

    Parameters
    ----------
    terrain : Terrain
    k : int
        At least 2.
    """
    return math.log((terrain.mass(k - 1) + 2.0) / (terrain.mass(k) + 2.0))


def border_contrast(terrain: Terrain, labels: Labels) -> float:
    """Logarithm of the borders of the clusters over the contrasts that remain inside them; each row has equal weight.

    ``max(0, ln((1 + exp(sum_c p_c ln(1 + o_c √n_c))) / (2 + sum_c p_c i_c)))`` with share p_c, size n_c.
    o_c, at least 0, is how much longer, in logarithms, the shortest edge that leaves c is than the mean of those in it.
    i_c is the largest ``v √m`` of an edge inside it with m rows, at least 5, on its smaller side, where v is how
    much longer the edge is than the mean of either side. `Separation.contrast` measures borders against the densest
    place of a cluster, and gives clusters, not rows, equal weight. The contrast is 0 if no border is longer than the
    edges next to it.

    Parameters
    ----------
    terrain : Terrain
        Terrain by distances to the 2nd neighbour (`clusterkit.criteria.rules.NEAR`): with more, thin clusters of few
        rows have no borders.
    labels : ndarray of shape (n,)
        0..k-1, each of which occurs; k is at least 2.
    """
    sizes = np.bincount(labels)
    outer, _, inner = _log_contrasts(terrain, labels)
    shares = sizes / len(labels)
    borders = math.exp(float(shares @ np.log1p(np.maximum(outer, 0.0) * np.sqrt(sizes))))
    return max(0.0, math.log((1.0 + borders) / (2.0 + float(shares @ inner))))


def inner_contrast(terrain: Terrain, labels: Labels) -> float:
    """Mean over the rows of the inner contrast of their cluster: how much longer one edge is than those on both sides.

    The contrast is the largest difference of logarithms of an edge with at least 5 rows on both sides; it is large
    where a cluster contains two.

    Parameters
    ----------
    terrain : Terrain
    labels : ndarray of shape (n,)
        0..k-1, each of which occurs.
    """
    return float(np.bincount(labels) @ _log_contrasts(terrain, labels)[1]) / len(labels)


def _log_contrasts(t: Terrain, labels: Labels) -> tuple[Array, Array, Array]:
    from clusterkit.criteria import _criteria_jit

    labels = np.ascontiguousarray(labels, dtype=np.int64)
    return _criteria_jit.log_contrasts(t.low, t.high, t.weights, labels, int(labels.max()) + 1, LEAST_INNER_SIDE)
