"""Samples known through a kernel: columns and products on request, the n x n matrix only under the memory cap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core import memory
from clusterkit.core.coding import Coded
from clusterkit.core.kernel import Gaussian, Kernel
from clusterkit.core.spaces.space import Space, check_saved_names
from clusterkit.core.transform import RowMap, block_plan
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["KernelSpace"]

SHARED_DISTANCES = 32 * 2**20
"""Size in bytes up to which a kernel space keeps its distance matrix for other widths."""
TILE = 512
"""Rows and columns of the tiles in which a matrix is made exactly symmetric."""


@final
@attrs.frozen(eq=False)
class KernelSpace(Space):
    """Samples known through a kernel; the n x n matrix is computed on request only, and under the memory cap.

    Parameters
    ----------
    kernel : Kernel
    """

    same_products: ClassVar[bool] = False
    kernel: Kernel
    _memo: dict[str, Array] = attrs.field(factory=dict, repr=False, kw_only=True)
    # shared by the spaces of all widths of these points: "D" is the distance matrix, None before its first use
    _shared: dict[str, Array | None] = attrs.field(factory=dict, repr=False, kw_only=True)

    @property
    def sparse(self) -> bool:
        """True if the points are `SparseRows`."""
        return isinstance(self.points, SparseRows)

    def columns(self, index: Indices) -> Array:
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
        """K A, (n, q), by blocks of rows unless the matrix has been computed already."""
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
        """The same points with another width of the Gaussian kernel; nothing is computed.

        If the matrix is needed later and is small, its distances are computed once and shared by all widths.
        """
        self._shared.setdefault("D", None)
        return attrs.evolve(self, kernel=Gaussian(gamma), memo={}, shared=self._shared)

    def _distances(self) -> Array | None:
        """Squared distances, if the points have several widths and the matrix is small enough to be kept; else None."""
        if "D" in self._shared and self._shared["D"] is None:
            if self.n * self.n * self.dtype.itemsize > min(SHARED_DISTANCES, memory.cap()):
                return None
            self._shared["D"] = self._symmetric(_squared)
        return self._shared.get("D")

    def _symmetric(self, function: Callable[[Array, Array], Array]) -> Array:
        K = np.empty((self.n, self.n), dtype=self.dtype)
        for rows in block_plan(self.n, self.n, self.dtype):
            K[rows] = function(self.points[rows], self.points)
        for i in range(0, self.n, TILE):  # rounding must not make K[i, j] differ from K[j, i]
            tile = slice(i, i + TILE)
            mean = 0.5 * (K[tile, : i + TILE] + K[: i + TILE, tile].T)
            K[tile, : i + TILE] = mean
            K[: i + TILE, tile] = mean.T
        return K

    def take(self, index: Indices) -> KernelSpace:
        """The space of some samples."""
        return attrs.evolve(self, points=self.points[index], memo={}, shared={})

    def lean(self) -> KernelSpace:
        """The space without the kernel and distance matrices."""
        return attrs.evolve(self, memo={}, shared={})

    def saved_fields(self) -> Mapping[str, object]:
        """All but the matrices that are kept for speed."""
        return {"points": self.points, "kernel": self.kernel, "before": self.before, "resolved": dict(self.resolved)}

    @classmethod
    def from_saved_fields(cls, fields: Mapping[str, object]) -> KernelSpace:
        """The space without these matrices."""
        check_saved_names(cls, fields, "kernel")
        arguments: dict[str, Any] = dict(fields)
        return cls(**arguments)

    def __reduce__(self) -> tuple[object, ...]:
        return _kernel_space, (self.points, self.kernel, self.before, dict(self.resolved))


def _squared(A: Array, B: Array) -> Array:
    from clusterkit.numerics.distances import squared_distances

    return squared_distances(A, B)


def _kernel_space(points: Array, kernel: Kernel, before: tuple[RowMap, ...], resolved: dict[str, Any]) -> KernelSpace:
    return KernelSpace(points, kernel, before=before, resolved=resolved)
