"""The graph that joins each sample to its nearest neighbours, and its weights.

Edges are pairs of samples with their squared distances. The weights are dense or sparse, and `Affinity` has the
operations of normalised cuts on them: components, cuts, splits.
"""

from __future__ import annotations

from typing import Any, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.errors import InvalidData
from clusterkit.numerics.neighbour_graph import symmetric, unique_pairs
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Kernel, MatrixKernel
from clusterkit.samples.transform import block_plan


def neighbour_pairs(points: Array, p: int) -> tuple[Indices, Indices, Array]:
    """Pairs of samples of which one is among the p nearest neighbours of the other, each pair once.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        n >= 2.
    p : int
        Neighbours of a sample, not counting the sample itself; values above n - 1 act as n - 1.

    Returns
    -------
    i, j : ndarray of int, shape (e,)
        i < j, sorted.
    squared : ndarray of shape (e,), float64
        Squared distances, computed from differences: exactly 0 for equal samples.

    Notes
    -----
    O(n p log n) in few dimensions, O(n² d) in many. Which of several equally near samples counts as a neighbour depends
    on the search of scikit-learn.
    """
    from sklearn.neighbors import NearestNeighbors

    points = points.astype(np.float64)
    points -= points.mean(axis=0)  # large offsets would cost digits of the distances
    n = len(points)
    p = min(p, n - 1)
    neighbours = NearestNeighbors(n_neighbors=p).fit(points).kneighbors(return_distance=False)
    pairs, _ = unique_pairs(np.stack([np.repeat(np.arange(n), p), neighbours.reshape(-1)], axis=1), n)
    i, j = pairs.T
    squared = np.empty(len(pairs))
    for rows in block_plan(len(pairs), points.shape[1], np.float64):
        gaps = points[i[rows]] - points[j[rows]]
        squared[rows] = np.einsum("ij,ij->i", gaps, gaps)
    return i, j, squared


TINY = float(np.finfo(np.float64).tiny)
"""Smallest normal number: products with weights below it are slow and lose digits, so such weights become 0."""
EPS = float(np.finfo(np.float64).eps)
"""Relative rounding error of float64: the unit of all thresholds on differences of cuts and of weights."""


def affinity(space: KernelSpace, n_neighbors: int | None, self_loops: bool) -> Affinity:
    """The weights between the samples of a space.

    Parameters
    ----------
    space : KernelSpace
    n_neighbors : int or None
        None: the kernel between all pairs, a new dense matrix, refused above the memory cap. Otherwise the kernel
        between a sample and its nearest neighbours, a symmetric sparse matrix.
    self_loops : bool
        True keeps the diagonal of the kernel matrix, False sets it to 0.

    Raises
    ------
    InvalidData
        If a weight is negative.
    """
    points = np.ascontiguousarray(space.points, dtype=np.float64)
    # a new space: its matrix is changed below, and the matrix of the caller's space need not exist at the same time
    copy = KernelSpace(points, space.kernel)
    W: Any
    if n_neighbors is None:
        W = copy.gram()
        if not self_loops:
            np.fill_diagonal(W, 0.0)
        smallest = float(W.min())
        for rows in block_plan(len(W), len(W), W.dtype):
            W[rows][W[rows] < TINY] = 0.0
    else:
        from scipy.sparse import diags_array

        if isinstance(space.kernel, MatrixKernel):
            i, j = _most_similar(points, n_neighbors)
            weights: Array = points[i, j]
        else:
            i, j, squared = neighbour_pairs(points, n_neighbors)
            weights = _values(space.kernel, points, i, j, squared)
        smallest = float(weights.min())
        normal = weights >= TINY
        W = symmetric(i[normal], j[normal], weights[normal], len(points))
        if self_loops:
            W = (W + diags_array(copy.diag())).tocsr()
    if smallest < 0.0:
        raise InvalidData(
            f"solver 'ncut' needs weights that are not negative, the smallest kernel value is {smallest:.6g}. "
            "Use featuremap 'rbf'."
        )
    return Affinity(W, np.asarray(W.sum(axis=1)).reshape(-1))


def _most_similar(K: Array, p: int) -> tuple[Indices, Indices]:
    """Pairs of samples of which one has among the p largest kernel values of the other, K (n, n): i < j, sorted."""
    n = len(K)
    p = min(p, n - 1)
    others = np.where(np.eye(n, dtype=bool), -np.inf, K)
    nearest = np.argpartition(-others, p - 1, axis=1)[:, :p]
    i, j = unique_pairs(np.stack([np.repeat(np.arange(n), p), nearest.reshape(-1)], axis=1), n)[0].T
    return i, j


def _values(kernel: Kernel, points: Array, i: Indices, j: Indices, squared: Array) -> Array:
    """Kernel values of pairs, (e,); O(e) for the Gaussian kernel, all rows of the kernel matrix for any other."""
    if isinstance(kernel, Gaussian):
        return np.asarray(np.exp(-kernel.gamma * squared))
    values = np.empty(len(i))
    for rows in block_plan(len(points), len(points), np.float64):
        # i is sorted, so the pairs of a block of rows are contiguous
        pairs = slice(*np.searchsorted(i, [rows.start, rows.stop]))
        values[pairs] = kernel(points[rows], points)[i[pairs] - rows.start, j[pairs]]
    return values


@final
@attrs.frozen(eq=False)
class Affinity:
    """A symmetric matrix of nonnegative weights.

    Parameters
    ----------
    W : ndarray or scipy sparse array, (n, n)
    degrees : ndarray of shape (n,)
        Row sums.
    """

    W: Any
    degrees: Array

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.degrees)

    @property
    def is_dense(self) -> bool:
        """True if W is an ndarray."""
        return isinstance(self.W, np.ndarray)

    def take(self, index: Indices) -> Affinity:
        """The weights between some samples; none of them may have a weight to a sample left out."""
        if len(index) == self.n:
            return self
        W = self.W[np.ix_(index, index)] if self.is_dense else self.W[index][:, index]
        return Affinity(W, self.degrees[index])

    def components(self) -> Labels:
        """Connected component of each sample, (n,), numbered by first appearance.

        Weights with ``W_ij / sqrt(d_i d_j)`` below eps / n do not join two samples: all of them together change no
        eigenvalue by more than eps. All degrees must be positive. O(n²) for a dense W, O(edges) for a sparse one.
        """
        least = EPS / self.n
        roots = np.sqrt(self.degrees)
        if not self.is_dense:
            from scipy.sparse.csgraph import connected_components

            edges = self.W.tocoo()
            joining = edges.data >= least * roots[edges.row] * roots[edges.col]
            graph = symmetric(edges.row[joining], edges.col[joining], np.ones(int(joining.sum())), self.n)
            return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
        component = np.full(self.n, -1, dtype=np.intp)
        for first in range(self.n):
            if component[first] >= 0:
                continue
            number = component.max() + 1
            component[first] = number
            waiting = [first]
            while waiting and (free := np.flatnonzero(component < 0)).size:
                i = waiting.pop()
                reached = free[self.W[i, free] >= least * roots[i] * roots[free]]
                component[reached] = number
                waiting += reached.tolist()
        return component

    def best_split(self, z: Array) -> int:
        """Number of smallest coordinates to separate from the others for the smallest Ncut; 0 if all are equal.

        All n - 1 thresholds between consecutive coordinates are tried, except between equal ones. Of cuts that differ
        by rounding only, the cut in the widest gap wins. When sample v changes sides, the cut grows by
        ``d_v - W_vv - 2 Σ_(u before v) W_uv``: O(n²) or O(edges) for all thresholds, and a sort.
        """
        order = np.argsort(z, kind="stable")
        degrees = self.degrees[order]
        growth = degrees - self.diagonal()[order] - 2.0 * self._before(order)
        volume, rest = np.cumsum(degrees)[:-1], np.cumsum(degrees[::-1])[::-1][1:]
        # summed from the side of smaller volume, so that the rounding errors are small relative to that volume
        cut = np.where(volume <= rest, np.cumsum(growth)[:-1], -np.cumsum(growth[::-1])[::-1][1:])
        gaps = np.diff(z[order])
        if not (gaps > 0.0).any():
            return 0
        values = np.where(gaps > 0.0, np.maximum(cut, 0.0) * (1.0 / volume + 1.0 / rest), np.inf)
        smallest = values <= values.min() + EPS * self.n
        return int(np.argmax(np.where(smallest, gaps, -1.0))) + 1

    def ncut(self, labels: Labels) -> float:
        """``Σ_j cut(S_j, rest) / vol(S_j)`` of a labelling; a class of volume 0 contributes 0."""
        member = (labels[:, None] == np.unique(labels)).astype(np.float64)
        volume = member.T @ self.degrees
        # the weights to other classes are summed directly: the difference vol(S) - W(S, S) would lose digits
        cut = np.einsum("ij,ij->j", member, self.W @ (1.0 - member))
        return float(np.divide(cut, volume, out=np.zeros_like(cut), where=volume > 0.0).sum())

    def diagonal(self) -> Array:
        """W_ii, (n,)."""
        return np.asarray(self.W.diagonal())

    def _before(self, order: Indices) -> Array:
        """Sum of the weights of each sample to the samples before it in the order, (n,)."""
        n = self.n
        if not self.is_dense:
            rank = np.empty(n, dtype=np.intp)
            rank[order] = np.arange(n)
            edges = self.W.tocoo()
            earlier = rank[edges.col] < rank[edges.row]
            return cast("Array", np.bincount(rank[edges.row[earlier]], weights=edges.data[earlier], minlength=n))
        sums = np.empty(n)
        for rows in block_plan(n, n, np.float64):
            block = self.W[order[rows]][:, order]
            block[np.arange(n) >= np.arange(rows.start, rows.stop)[:, None]] = 0.0
            sums[rows] = block.sum(axis=1)
        return sums
