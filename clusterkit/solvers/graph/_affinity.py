"""Weights of a graph, dense or sparse, as normalised cuts use them: products, components, cuts."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.errors import InvalidData
from clusterkit.core.kernel import Gaussian, Kernel
from clusterkit.core.spaces import KernelSpace
from clusterkit.core.transform import block_plan
from clusterkit.solvers.graph._neighbour_graph import neighbour_pairs, symmetric

__all__ = ["Affinity", "affinity"]

TINY = float(np.finfo(np.float64).tiny)
EPS = float(np.finfo(np.float64).eps)


def affinity(space: KernelSpace, neighbors: int | None, self_loops: bool) -> Affinity:
    """The weights between the samples of a space.

    Parameters
    ----------
    space : KernelSpace
    neighbors : int or None
        None: the kernel between all pairs, a dense matrix of its own, refused above the memory cap. Else the kernel
        between a sample and its nearest ones, symmetric, sparse.
    self_loops : bool
        Whether the diagonal is the kernel's or 0.

    Raises
    ------
    InvalidData
        If a weight is negative.
    """
    points = np.ascontiguousarray(space.points, dtype=np.float64)
    # a space of its own: its matrix is changed below, and that of the caller is not kept beside it
    own = KernelSpace(points, space.kernel)
    W: Any
    if neighbors is None:
        W = own.gram()
        if not self_loops:
            np.fill_diagonal(W, 0.0)
        smallest = float(W.min())
        for rows in block_plan(len(W), len(W), W.dtype):
            # below the normal numbers products are slow and lose digits
            W[rows][W[rows] < TINY] = 0.0
    else:
        from scipy.sparse import diags_array

        i, j, squared = neighbour_pairs(points, neighbors)
        weights = _values(space.kernel, points, i, j, squared)
        smallest = float(weights.min())
        kept = weights >= TINY
        W = symmetric(i[kept], j[kept], weights[kept], len(points))
        if self_loops:
            W = (W + diags_array(own.diag())).tocsr()
    if smallest < 0.0:
        raise InvalidData(
            f"solver 'ncut' needs weights that are not negative, the smallest kernel value is {smallest:.6g}. "
            "Use featuremap 'rbf'."
        )
    return Affinity(W, np.asarray(W.sum(axis=1)).reshape(-1))


def _values(kernel: Kernel, points: Array, i: Array, j: Array, squared: Array) -> Array:
    """Kernel of pairs; for a kernel that is not a function of distance row by row, O(n e)."""
    if isinstance(kernel, Gaussian):
        return np.asarray(np.exp(-kernel.gamma * squared))
    values = np.empty(len(i))
    for rows in block_plan(len(points), len(points), np.float64):
        # i is sorted, so the pairs of a block of rows lie together
        taken = slice(*np.searchsorted(i, [rows.start, rows.stop]))
        values[taken] = kernel(points[rows], points)[i[taken] - rows.start, j[taken]]
    return values


@final
@attrs.frozen(eq=False)
class Affinity:
    """A symmetric matrix of weights that are not negative.

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
        """Whether W is an ndarray."""
        return isinstance(self.W, np.ndarray)

    def take(self, index: Array) -> Affinity:
        """The weights between some samples without others that they are joined to."""
        if len(index) == self.n:
            return self
        W = self.W[np.ix_(index, index)] if self.is_dense else self.W[index][:, index]
        return Affinity(W, self.degrees[index])

    def components(self) -> Labels:
        """Connected component of each sample, (n,), numbered by first appearance.

        Weights whose share ``W_ij / sqrt(d_i d_j)`` is below eps / n do not join: all of them together change no
        eigenvalue by more than eps. All degrees must be positive. O(n²) or O(edges).
        """
        least = EPS / self.n
        roots = np.sqrt(self.degrees)
        if not self.is_dense:
            from scipy.sparse.csgraph import connected_components

            edges = self.W.tocoo()
            kept = edges.data >= least * roots[edges.row] * roots[edges.col]
            graph = symmetric(edges.row[kept], edges.col[kept], np.ones(int(kept.sum())), self.n)
            return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
        found = np.full(self.n, -1, dtype=np.intp)
        for first in range(self.n):
            if found[first] >= 0:
                continue
            number = found.max() + 1
            found[first] = number
            waiting = [first]
            while waiting and (free := np.flatnonzero(found < 0)).size:
                i = waiting.pop()
                reached = free[self.W[i, free] >= least * roots[i] * roots[free]]
                found[reached] = number
                waiting += reached.tolist()
        return found

    def best_split(self, z: Array) -> int:
        """How many of the smallest coordinates to cut off for the smallest Ncut.

        All n - 1 gaps are tried; between equal coordinates there is none, and 0 says that there is none at all. Of
        cuts that differ by rounding only the one in the widest gap is taken. The cut grows from gap to gap by
        ``d_v - W_vv - 2 Σ_(u before v) W_uv``, O(n²) or O(edges) for all, and a sort.
        """
        order = np.argsort(z, kind="stable")
        degrees = self.degrees[order]
        grows = degrees - self.diagonal()[order] - 2.0 * self._before(order)
        volume, rest = np.cumsum(degrees)[:-1], np.cumsum(degrees[::-1])[::-1][1:]
        # summed up from the side that weighs less, so that the errors are small beside its volume
        cut = np.where(volume <= rest, np.cumsum(grows)[:-1], -np.cumsum(grows[::-1])[::-1][1:])
        gaps = np.diff(z[order])
        if not (gaps > 0.0).any():
            return 0
        values = np.where(gaps > 0.0, np.maximum(cut, 0.0) * (1.0 / volume + 1.0 / rest), np.inf)
        alike = values <= values.min() + EPS * self.n
        return int(np.argmax(np.where(alike, gaps, -1.0))) + 1

    def ncut(self, labels: Labels) -> float:
        """``Σ_j cut(S_j, rest) / vol(S_j)`` of a labelling; classes without weight count 0."""
        member = (labels[:, None] == np.unique(labels)).astype(np.float64)
        volume = member.T @ self.degrees
        # weights to other classes, summed as such: the difference vol - inside would lose digits
        cut = np.einsum("ij,ij->j", member, self.W @ (1.0 - member))
        return float(np.divide(cut, volume, out=np.zeros_like(cut), where=volume > 0.0).sum())

    def diagonal(self) -> Array:
        """W_ii, (n,)."""
        return np.asarray(self.W.diagonal())

    def _before(self, order: Array) -> Array:
        """Weight of each sample to those before it, in the order, (n,)."""
        n = self.n
        if not self.is_dense:
            rank = np.empty(n, dtype=np.intp)
            rank[order] = np.arange(n)
            edges = self.W.tocoo()
            earlier = rank[edges.col] < rank[edges.row]
            return np.bincount(rank[edges.row[earlier]], weights=edges.data[earlier], minlength=n)
        sums = np.empty(n)
        for rows in block_plan(n, n, np.float64):
            block = self.W[order[rows]][:, order]
            block[np.arange(n) >= np.arange(rows.start, rows.stop)[:, None]] = 0.0
            sums[rows] = block.sum(axis=1)
        return sums
