"""Where the samples live: features as an operator, or a kernel; solvers see nothing else of the data.

A `FeatureSpace` yields its matrix H (n, L) block by block and derives every product from that one primitive, so a
streamed space (or one on another machine) serves every solver unchanged and gives the same labels bit for bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core import memory
from clusterkit.core.coding import Coded
from clusterkit.core.kernel import Gaussian, Kernel
from clusterkit.core.transform import Keep, RowMap, Transform, block_plan, multiply
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["DenseSpace", "FeatureSpace", "KernelSpace", "Space", "SparseSpace", "StreamedSpace", "build_space"]

# Above this many target columns sorting the rows by label beats multiplying by mostly zeros.
GROUPED_COLUMNS = 48

KEPT_DISTANCES = 32 * 2**20
"""Bytes up to which a kernel space keeps its distance matrix for other widths."""


@attrs.frozen(eq=False)
class Space(ABC):
    """The samples as a solver sees them.

    Parameters
    ----------
    points : ndarray or SparseRows of shape (n, d)
        Coordinates before the last map: where domains live and segments are drawn.
    before : tuple of RowMap
        Maps from the raw data to these coordinates.
    resolved : mapping
        Parameters that the fit of the map decided, for `resolved_`.
    """

    same_products: ClassVar[bool] = True
    """whether predicting the training rows repeats the products of the fit bit for bit"""

    points: Array
    before: tuple[RowMap, ...] = attrs.field(default=(), kw_only=True)
    resolved: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.points)

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64."""
        return self.points.dtype

    @property
    def sparse(self) -> bool:
        """Whether what a solver works on, points of a kernel or features, is `SparseRows`."""
        return isinstance(self, SparseSpace) or (isinstance(self, KernelSpace) and isinstance(self.points, SparseRows))

    @property
    def coordinates(self) -> Transform:
        """Raw rows to the coordinates of `points`."""
        return Transform(self.before, self.dtype)

    @abstractmethod
    def take(self, index: Array) -> Space:
        """The space of some of its samples."""

    @abstractmethod
    def lean(self) -> Space:
        """The space without n x n matrices kept for speed: what a fit leaves behind."""


@attrs.frozen(eq=False)
class FeatureSpace(Space):
    """Explicit features H (n, L), seen as an operator.

    Parameters
    ----------
    mapping : RowMap
        The last map, coordinates to features.
    """

    mapping: RowMap

    def lean(self) -> FeatureSpace:
        """Itself: it keeps none."""
        return self

    @property
    def width(self) -> int:
        """Number of features, L."""
        return self.mapping.width

    @property
    def transform(self) -> Transform:
        """Raw rows to features."""
        return Transform((*self.before, self.mapping), self.dtype)

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Row slices of the block plan with their rows of H; the one primitive."""

    def at(self, Y: Array) -> Array:
        """Features of new raw rows, (m, L); of sparse ones too, where the map takes these."""
        rows: Any = SparseRows.of(Y) if hasattr(Y, "tocsr") else Y
        return self.transform(rows)

    def apply(self, B: Array) -> Array:
        """H B, (n, q)."""
        B = B.astype(self.dtype, copy=False)
        F = np.empty((self.n, B.shape[1]), dtype=self.dtype)
        for rows, H in self.blocks():
            multiply(H, B, F[rows])
        return F

    def adjoint(self, T: Array | Coded) -> Array:
        """H'T, (L, q), summed in float64 over the blocks; coded labels never become n x R q targets."""
        columns = T.starts * T.codebook.shape[1] if isinstance(T, Coded) else T.shape[1]
        total = np.zeros((self.width, columns))
        for rows, H in self.blocks():
            if isinstance(T, Coded) and T.k >= GROUPED_COLUMNS and not isinstance(H, SparseRows):
                total += _grouped(H, T, rows)
            else:
                block = T.block(rows, self.dtype) if isinstance(T, Coded) else T[rows]
                total += H.T @ block.astype(self.dtype, copy=False)
        return total

    def gram(self) -> Array:
        """H'H, (L, L), in float64 whatever the type of the data, because it is factorised."""
        total = np.zeros((self.width, self.width))
        for _, H in self.blocks():
            block = H.astype(np.float64, copy=False)
            total += block.T @ block
        return total

    def outer(self) -> Array:
        """HH', (n, n), float64, if the memory cap allows it."""
        memory.require(
            8 * self.n * self.n,
            f"the {self.n} x {self.n} matrix of inner products",
            "Use fewer rows, or a solver path that works on features.",
        )
        H = self.rows().astype(np.float64, copy=False)
        return H @ H.T

    def rows(self, index: Array | None = None) -> Array:
        """Rows of H by index, or all of them if the memory cap allows it; `SparseRows` where H is sparse."""
        if index is not None:
            return self.mapping(self.points[index])
        if self.sparse:
            return SparseRows.joined([H for _, H in self.blocks()])  # type: ignore[misc, return-value]
        memory.require(
            self.n * self.width * self.dtype.itemsize,
            f"the {self.n} x {self.width} feature matrix",
            "Use a stage that streams (init='kmeans' or 'random' instead of 'kmeans_mapped').",
        )
        H = np.empty((self.n, self.width), dtype=self.dtype)
        for rows, block in self.blocks():
            H[rows] = block
        return H

    def squared_norms(self) -> Array:
        """|h(x_i)|², (n,), float64."""
        norms = np.empty(self.n)
        for rows, H in self.blocks():
            norms[rows] = H.squares() if isinstance(H, SparseRows) else np.einsum("ij,ij->i", H, H, dtype=np.float64)
        return norms

    def minimum(self) -> float:
        """Smallest entry of H."""
        return float(min(H.min() for _, H in self.blocks()))

    def sweep(self, B: Array, visit: Callable[[slice, Array], Array]) -> Array:
        """One pass: ``sum over blocks of H_b' T_b`` with ``T_b = visit(rows, H_b B)``; (L, q), float64."""
        B = B.astype(self.dtype, copy=False)
        total = np.zeros((self.width, B.shape[1]))
        for rows, H in self.blocks():
            total += H.T @ visit(rows, H @ B).astype(self.dtype, copy=False)
        return total


def _grouped(H: Array, coded: Coded, rows: slice) -> Array:
    """H_b'T_b by class sums: rows sorted by label, then one addition a row instead of k products."""
    parts = []
    for labels in coded.labels[:, rows]:
        order = np.argsort(labels, kind="stable")
        present, first = np.unique(labels[order], return_index=True)
        sums = np.zeros((coded.k, H.shape[1]))
        sums[present] = np.add.reduceat(H[order], first, axis=0, dtype=np.float64)
        parts.append(sums.T @ coded.codebook)
    return np.concatenate(parts, axis=1)


@final
@attrs.frozen(eq=False)
class DenseSpace(FeatureSpace):
    """Features kept in memory."""

    _H: Array

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Slices of the stored matrix."""
        for rows in block_plan(self.n, self.width, self.dtype):
            yield rows, self._H[rows]

    def take(self, index: Array) -> DenseSpace:
        """The space of some samples; their features are computed again, so that a streamed space has the same bits."""
        return build_space(  # type: ignore[return-value]
            self.points[index], self.mapping, storage="dense", before=self.before, resolved=self.resolved
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Features follow from the points, so a pickle carries only those.
        return _rebuild, (self.points, self.mapping, self.before, dict(self.resolved))


@final
@attrs.frozen(eq=False)
class StreamedSpace(FeatureSpace):
    """Features computed anew in each pass: memory of one block."""

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Blocks mapped on the way."""
        for rows in block_plan(self.n, self.width, self.dtype):
            yield rows, self.mapping(self.points[rows])

    def take(self, index: Array) -> StreamedSpace:
        """The space of some samples."""
        return attrs.evolve(self, points=self.points[index])


@final
@attrs.frozen(eq=False)
class SparseSpace(FeatureSpace):
    """Features that are mostly 0; the blocks are `SparseRows`, and so is what `rows` gives.

    Solvers whose path says `sparse` work on it: they use products with H only.
    """

    _H: SparseRows

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Row slices of about as many stored entries as a dense block has."""
        mean = max(1, self._H.csr.nnz // max(1, self.n))
        for rows in block_plan(self.n, mean, self.dtype):
            yield rows, self._H[rows]

    def take(self, index: Array) -> SparseSpace:
        """The space of some samples."""
        return attrs.evolve(self, points=self.points[index], H=self._H[index])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.points, self.mapping, self.before, dict(self.resolved))


def build_space(
    points: Array,
    mapping: RowMap,
    *,
    storage: str = "auto",
    before: tuple[RowMap, ...] = (),
    resolved: Mapping[str, Any] | None = None,
) -> DenseSpace | SparseSpace | StreamedSpace:
    """The space of mapped points: dense where the memory cap allows it (or `storage` says so), else streamed.

    Features of sparse rows are sparse or dense, as the map gives them.
    """
    facts = dict(resolved or {})
    if isinstance(points, SparseRows):
        H = mapping(points)
        if isinstance(H, SparseRows):
            return SparseSpace(points, mapping, H, before=before, resolved=facts)
        return DenseSpace(points, mapping, H, before=before, resolved=facts)
    n_bytes = len(points) * mapping.width * points.dtype.itemsize
    identity = isinstance(mapping, Keep)
    if storage == "auto":
        # half the cap: a solver needs room beside the features
        storage = "dense" if identity or n_bytes <= memory.cap() // 2 else "streamed"
        if storage == "streamed":
            facts["storage"] = storage
    if storage == "streamed":
        return StreamedSpace(points, mapping, before=before, resolved=facts)
    if identity:
        return DenseSpace(points, mapping, points, before=before, resolved=facts)
    memory.require(n_bytes, f"the {len(points)} x {mapping.width} feature matrix", "Use storage='streamed' on the map.")
    H = np.empty((len(points), mapping.width), dtype=points.dtype)
    for rows in block_plan(len(points), mapping.width, points.dtype):
        H[rows] = mapping(points[rows])
    return DenseSpace(points, mapping, H, before=before, resolved=facts)


def _rebuild(points: Array, mapping: RowMap, before: tuple[RowMap, ...], resolved: dict[str, Any]) -> Space:
    return build_space(points, mapping, storage="dense", before=before, resolved=resolved)


@final
@attrs.frozen(eq=False)
class KernelSpace(Space):
    """Samples known through a kernel; the n x n matrix is formed only on request and under the memory cap.

    Parameters
    ----------
    kernel : Kernel
    """

    same_products: ClassVar[bool] = False
    kernel: Kernel
    _memo: dict[str, Array] = attrs.field(factory=dict, repr=False, kw_only=True)
    # of all widths of these points: the distances, None as long as nobody asked for them
    _shared: dict[str, Array | None] = attrs.field(factory=dict, repr=False, kw_only=True)

    def columns(self, index: Array) -> Array:
        """K[:, index], (n, b)."""
        if "K" in self._memo:
            return self._memo["K"][:, index]
        return self.kernel(self.points, self.points[index])

    def cross(self, Y: Array) -> Array:
        """Kernel between new raw rows and the samples, (m, n)."""
        return self.kernel(self.coordinates(Y), self.points)

    def diag(self) -> Array:
        """K_ii, (n,)."""
        return self.kernel.diag(self.points)

    def apply(self, A: Array | Coded) -> Array:
        """K A, (n, q), by blocks of rows unless the matrix is there already."""
        width = A.starts * A.codebook.shape[1] if isinstance(A, Coded) else A.shape[1]
        dense = A.targets() if isinstance(A, Coded) else A
        if "K" in self._memo:
            return np.asarray(self._memo["K"] @ dense)
        F = np.empty((self.n, width))
        for rows in block_plan(self.n, self.n, self.dtype):
            F[rows] = self.kernel(self.points[rows], self.points) @ dense
        return F

    def gram(self) -> Array:
        """K, (n, n): exactly symmetric, kept for later calls, refused above the memory cap."""
        if "K" not in self._memo:
            memory.require(
                self.n * self.n * self.dtype.itemsize,
                f"the {self.n} x {self.n} kernel matrix",
                "Use fewer rows, or featuremap 'elm', whose cost is linear in the number of rows.",
            )
            D = self._distances()
            if D is not None and isinstance(self.kernel, Gaussian):
                K = np.exp(-self.kernel.gamma * D)
            else:
                K = self._symmetric(self.kernel)
            np.fill_diagonal(K, self.diag())
            self._memo["K"] = K
        return self._memo["K"]

    def rescaled(self, gamma: float) -> KernelSpace:
        """The same points under another width; nothing is computed.

        Where the matrix of all of them is asked for and small, its distances are computed once for all widths.
        """
        self._shared.setdefault("D", None)
        return attrs.evolve(self, kernel=Gaussian(gamma), memo={}, shared=self._shared)

    def _distances(self) -> Array | None:
        """Squared distances, for a space of which there are other widths, if they are small enough to keep."""
        if "D" in self._shared and self._shared["D"] is None:
            if self.n * self.n * self.dtype.itemsize > min(KEPT_DISTANCES, memory.cap()):
                return None
            self._shared["D"] = self._symmetric(_squared)
        return self._shared.get("D")

    def _symmetric(self, function: Callable[[Array, Array], Array]) -> Array:
        K = np.empty((self.n, self.n), dtype=self.dtype)
        for rows in block_plan(self.n, self.n, self.dtype):
            K[rows] = function(self.points[rows], self.points)
        for i in range(0, self.n, 512):  # in tiles: rounding must not make K[i, j] differ from K[j, i]
            tile = slice(i, i + 512)
            K[tile, : i + 512] = (lower := 0.5 * (K[tile, : i + 512] + K[: i + 512, tile].T))
            K[: i + 512, tile] = lower.T
        return K

    def take(self, index: Array) -> KernelSpace:
        """The space of some samples."""
        return attrs.evolve(self, points=self.points[index], memo={}, shared={})

    def lean(self) -> KernelSpace:
        """Without the kernel and distance matrices."""
        return attrs.evolve(self, memo={}, shared={})

    def __reduce__(self) -> tuple[Any, ...]:
        return _kernel_space, (self.points, self.kernel, self.before, dict(self.resolved))


def _squared(A: Array, B: Array) -> Array:
    from clusterkit.numerics.distances import squared_distances

    return squared_distances(A, B)


def _kernel_space(points: Array, kernel: Kernel, before: tuple[RowMap, ...], resolved: dict[str, Any]) -> KernelSpace:
    return KernelSpace(points, kernel, before=before, resolved=resolved)
