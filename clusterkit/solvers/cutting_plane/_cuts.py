"""Cuts of a margin problem without labels: the samples that each cut holds, and its vector in features or a kernel.

A cut holds some samples and gives each of them a rival cluster. With winner z_i and rival c_i it is the constraint
``(1/n) Σ_i (f_z(x_i) - f_c(x_i)) >= (number of samples held)/n - ξ``, so that its vector is
``Z = (1/n) Σ_i x_i (e_z - e_c)'``. Two clusters may share one output ``f = f_1 - f_0``, and then ``e_z - e_c`` is ±1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.core.outcomes import Extension, KernelRows, LinearRows
from clusterkit.core.row_graph import Node
from clusterkit.core.spaces import FeatureSpace, KernelSpace

__all__ = [
    "CutVectors",
    "Cuts",
    "FeatureCutVectors",
    "KernelCutVectors",
    "OffsetExtension",
    "add_offset",
    "margins",
    "rivals",
    "winners",
]

NONE = -1
"""Stands for no rival where a cut does not hold a sample."""

EDGE = 1e-6
"""A margin less than this below 1 counts as 1: the margins of support vectors are 1 up to rounding, and rounding must
not decide whether a cut holds such a sample."""

TIE = 1e-7
"""Outputs that differ by at most this count as equal: the winner then stays, and of several others the lowest index is
taken. It is above the error of outputs whose weights come from an interior point method."""


def winners(F: Array, before: Labels) -> Labels:
    """The cluster with the largest output, (n,); on a tie up to `TIE` the winner `before` stays."""
    rows = np.arange(len(F))
    if F.shape[1] == 1:
        up = F[:, 0] > 0.0
        return np.where(np.abs(F[:, 0]) <= TIE, before, up).astype(before.dtype)
    best = _first_largest(F)
    return np.where(F[rows, best] - F[rows, before] <= TIE, before, best).astype(before.dtype)


def rivals(F: Array, z: Labels) -> Labels:
    """The cluster other than z with the largest output, (n,)."""
    if F.shape[1] == 1:
        return (1 - z).astype(z.dtype)
    others = F.copy()
    others[np.arange(len(F)), z] = -np.inf
    return _first_largest(others).astype(z.dtype)


def _first_largest(F: Array) -> Indices:
    """The lowest index of the outputs within `TIE` of the largest: outputs of empty clusters are often equal."""
    return np.argmax(F.max(axis=1, keepdims=True) - TIE <= F, axis=1)


def margins(F: Array) -> Array:
    """Largest output minus the next, (n,); ``|f|`` for a single output."""
    if F.shape[1] == 1:
        return np.abs(F[:, 0])
    top = np.partition(F, F.shape[1] - 2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def _directions(z: Labels, rival: Labels, q: int) -> Counts:
    """``e_z - e_c`` of each sample and cut, (r, p, q) of int8; zero where the cut does not hold the sample."""
    held = rival != NONE
    if q == 1:
        return np.where(held, (2 * z - 1)[:, None], 0).astype(np.int8)[:, :, None]
    T = np.zeros((*rival.shape, q), dtype=np.int8)
    i, c = np.nonzero(held)
    T[i, c, z[i]] = 1
    T[i, c, rival[i, c]] = -1
    return T


class CutVectors(Protocol):
    """Vectors of cuts, V (m, p, q), and their partners, whose products with V are inner products.

    m is the number of features, or the number of samples for a kernel; p is the number of cuts, q of outputs.
    """

    V: Array

    @property
    def partner(self) -> Array:
        """Partners of the vectors, (m, p, q)."""

    @property
    def mean(self) -> tuple[Array, Array]:
        """The mean sample as a vector and as a partner, (m,) each."""

    def vector(self, T: Counts) -> tuple[Array, Array]:
        """The vector of coefficients ``T / n``, T (n, q), and its partner, (m, q)."""

    def add(self, T: Counts) -> None:
        """Append the vector of coefficients ``T / n``."""

    def update(
        self, W: Array, WP: Array, offset: Array, follow: Callable[[slice, Array], tuple[Indices, Counts]]
    ) -> Array:
        """Outputs (n, q), float64, of weights W with partner WP; the vectors change as `follow` says.

        ``follow(rows, outputs)`` returns which of the rows change coefficients, and the changes, (rows, p, q).
        """

    def rows(self, W: Array) -> tuple[Array, Extension]:
        """Outputs without offset, in the type of the data, and their extension to new samples."""


@attrs.define(eq=False)
class FeatureCutVectors:
    """Cut vectors in explicit features, equal to their partners; everything is a pass over blocks of samples."""

    space: FeatureSpace
    q: int
    V: Array = attrs.field(init=False)
    average: Array = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.V = np.zeros((self.space.width, 0, self.q))
        self.average = self.space.adjoint(np.ones((self.space.n, 1)))[:, 0] / self.space.n

    @property
    def partner(self) -> Array:
        return self.V

    @property
    def mean(self) -> tuple[Array, Array]:
        return self.average, self.average

    def vector(self, T: Counts) -> tuple[Array, Array]:
        V = self.space.adjoint(T) / self.space.n
        return V, V

    def add(self, T: Counts) -> None:
        self.V = np.concatenate([self.V, self.vector(T)[0][:, None]], axis=1)

    def update(
        self, W: Array, WP: Array, offset: Array, follow: Callable[[slice, Array], tuple[Indices, Counts]]
    ) -> Array:
        space, B = self.space, W.astype(self.space.dtype, copy=False)
        F = np.empty((space.n, self.q))
        total = np.zeros((space.width, self.V.shape[1] * self.q))
        for rows, H in space.blocks():
            F[rows] = H @ B
            F[rows] += offset
            moved, change = follow(rows, F[rows])
            if len(moved):
                total += H[moved].T @ change.reshape(len(moved), -1).astype(space.dtype)
        self.V = self.V + total.reshape(self.V.shape) / space.n
        return F

    def rows(self, W: Array) -> tuple[Array, Extension]:
        B = W.astype(self.space.dtype, copy=False)
        return self.space.apply(B), LinearRows(self.space.transform, B)


@attrs.define(eq=False)
class KernelCutVectors:
    """Cut vectors in the space of a kernel: coefficients A of the samples, with the partner K A."""

    space: KernelSpace
    q: int
    K: Array = attrs.field(init=False)
    V: Array = attrs.field(init=False)
    P: Array = attrs.field(init=False)
    average: tuple[Array, Array] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        n = self.space.n
        self.K = self.space.gram()
        self.V = np.zeros((n, 0, self.q))
        self.P = np.zeros((n, 0, self.q))
        equal = np.full(n, 1.0 / n)
        self.average = equal, self.K.sum(axis=1, dtype=np.float64) / n

    @property
    def partner(self) -> Array:
        return self.P

    @property
    def mean(self) -> tuple[Array, Array]:
        return self.average

    def vector(self, T: Counts) -> tuple[Array, Array]:
        A = T / self.space.n
        return A, (self.K @ A.astype(self.K.dtype)).astype(np.float64)

    def add(self, T: Counts) -> None:
        A, P = self.vector(T)
        self.V = np.concatenate([self.V, A[:, None]], axis=1)
        self.P = np.concatenate([self.P, P[:, None]], axis=1)

    def update(
        self, W: Array, WP: Array, offset: Array, follow: Callable[[slice, Array], tuple[Indices, Counts]]
    ) -> Array:
        F = WP + offset
        moved, change = follow(slice(0, self.space.n), F)
        if len(moved):
            A = change / self.space.n
            self.V[moved] += A
            product = self.K[:, moved] @ A.reshape(len(moved), -1).astype(self.K.dtype)
            self.P = self.P + product.reshape(self.P.shape)
        return F

    def rows(self, W: Array) -> tuple[Array, Extension]:
        space = self.space
        return space.apply(W), KernelRows(space.coordinates, space.points, space.kernel, W)


@attrs.define(eq=False)
class Cuts:
    """All cuts at the present winners.

    Parameters
    ----------
    vectors : CutVectors
    z : ndarray of int, shape (n,)
        Winners: the clusters (for two, the signs) at which the margins are linearised.
    rival : ndarray of int, shape (n, p)
        Rival of each sample in each cut, or `NONE`: one byte a sample and cut for up to 127 clusters.
    counts : ndarray of int, shape (p, q)
        Sums of ``e_z - e_c`` over the samples of each cut.
    """

    vectors: CutVectors
    z: Labels
    rival: Labels
    counts: Counts

    @classmethod
    def of(cls, vectors: CutVectors, labels: Labels, k: int) -> Cuts:
        """An empty set of cuts whose winners are the labels."""
        kind = np.int8 if k <= np.iinfo(np.int8).max else np.int32
        none = np.zeros((len(labels), 0), dtype=kind)
        return cls(vectors, labels.astype(kind), none, np.zeros((0, vectors.V.shape[2]), dtype=np.int64))

    @property
    def p(self) -> int:
        """Number of cuts."""
        return int(self.rival.shape[1])

    @property
    def shares(self) -> Array:
        """m_c, the share of the samples that each cut holds, (p,)."""
        return np.count_nonzero(self.rival != NONE, axis=0) / len(self.z)

    @property
    def means(self) -> Array:
        """Amount that a unit of bias of each output adds to the left side of each cut, (p, q)."""
        return self.counts / len(self.z)

    def add(self, rival: Labels) -> None:
        """Append the cut with these rivals, (n,), `NONE` for samples that it does not hold."""
        column = rival.astype(self.rival.dtype)[:, None]
        self.rival = np.concatenate([self.rival, column], axis=1)
        T = _directions(self.z, column, self.vectors.V.shape[2])[:, 0]
        self.counts = np.concatenate([self.counts, T.sum(axis=0, dtype=np.int64)[None]])
        self.vectors.add(T)

    def most_violated(self, F: Array) -> Labels:
        """Rivals of the cut of all samples whose margin is below 1, with their best rivals; none is violated more."""
        return np.where(self.leads(F) < 1.0 - EDGE, rivals(F, self.z), NONE).astype(self.rival.dtype)

    def leads(self, F: Array) -> Array:
        """Output of the present winner minus the largest of the others, (n,)."""
        if F.shape[1] == 1:
            return F[:, 0] * (2.0 * self.z - 1.0)
        rows = np.arange(len(F))
        return np.asarray(F[rows, self.z] - F[rows, rivals(F, self.z)])

    def update(self, W: Array, WP: Array, offset: Array, update_winners: bool = True) -> tuple[Array, int]:
        """Outputs (n, q) of a solution, and how many winners changed.

        With `update_winners` the winners become those of the outputs, and the cuts and their vectors follow.
        """
        changed = 0

        def follow(rows: slice, F: Array) -> tuple[Indices, Counts]:
            nonlocal changed
            old = self.z[rows]
            new = winners(F, old) if update_winners else old
            moved = np.flatnonzero(new != old)
            changed += len(moved)
            if not len(moved):
                return moved, moved
            index = rows.start + moved
            rival = self.rival[index]
            before = _directions(old[moved], rival, F.shape[1])
            # a rival that wins changes places with the winner: the constraint on the sample can only become weaker
            self.rival[index] = rival = np.where(rival == new[moved, None], old[moved, None], rival)
            self.z[index] = new[moved]
            change = _directions(new[moved], rival, F.shape[1]) - before
            self.counts = self.counts + change.sum(axis=0, dtype=np.int64)
            return moved, change

        return self.vectors.update(W, WP, offset, follow), changed


@final
@attrs.frozen(eq=False)
class OffsetExtension:
    """Outputs of new samples with their biases.

    Parameters
    ----------
    inner : Extension
        Outputs without biases.
    offset : ndarray of shape (q,)
        Biases.
    dtype : numpy dtype
        Type of the outputs.
    """

    inner: Extension
    offset: Array
    dtype: np.dtype

    def __call__(self, Y: Array) -> Array:
        """Outputs (m, q) of raw rows (m, d)."""
        return add_offset(self.inner(Y), self.offset, self.dtype)

    def onnx(self, rows: Node) -> Node:
        """Outputs of raw rows."""
        return rows.through(self.inner) + self.offset

    def columns(self, index: slice) -> OffsetExtension:
        """The extension of some outputs."""
        return attrs.evolve(self, inner=self.inner.columns(index), offset=self.offset[index])


def add_offset(rows: Array, offset: Array, dtype: np.dtype) -> Array:
    """The sum of outputs and biases, added in float64 and converted to the type of the data."""
    return (rows.astype(np.float64, copy=False) + offset).astype(dtype, copy=False)
