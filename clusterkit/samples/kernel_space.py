"""Samples known through a kernel: columns and products on request, the n x n matrix only under the memory cap.

`DistanceSpace` has samples that are known through their distances.

`warn_of_degenerate_kernel` warns of a Gaussian kernel that is too narrow or too wide to show any structure.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.errors import ClusterkitWarning
from clusterkit.numerics.shapes import DERIVED
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.features import Space
from clusterkit.samples.kernels import Gaussian, Kernel
from clusterkit.samples.transform import RowMap, Transform, block_plan

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
    _memo: dict[str, Array] = attrs.field(factory=dict, repr=False, kw_only=True, metadata=DERIVED)
    # shared by the spaces of all widths of these points: "D" is the distance matrix, None before its first use
    _shared: dict[str, Array | None] = attrs.field(factory=dict, repr=False, kw_only=True, metadata=DERIVED)

    @property
    def dtype(self) -> np.dtype:
        """Type of the kernel values, whatever that of the points is."""
        return self.kernel.value_type(self.points)

    @property
    def coordinates(self) -> Transform:
        """The map from raw rows to the coordinates of `points`."""
        return Transform(self.before, self.points.dtype)

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
        """A space of the same points with another width of the Gaussian kernel; nothing is computed.

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

    def without_samples(self) -> KernelSpace:
        """The space without the kernel and distance matrices."""
        return attrs.evolve(self, memo={}, shared={})

    def __reduce__(self) -> tuple[object, ...]:
        return _kernel_space, (self.points, self.kernel, self.before, dict(self.resolved))


@final
@attrs.frozen(eq=False)
class DistanceSpace(Space):
    """Samples known through their distances; a new row has its distances to all of them.

    `points` are the matrix (n, n), and after `take` some of its rows.
    """

    same_products: ClassVar[bool] = False

    @property
    def sparse(self) -> bool:
        """False: every distance is stored."""
        return False

    def take(self, index: Indices) -> DistanceSpace:
        """The space of some samples."""
        return attrs.evolve(self, points=self.points[index])

    def without_samples(self) -> DistanceSpace:
        """The space itself: without the matrix nothing is known of the samples."""
        return self


def _squared(A: Array, B: Array) -> Array:
    from clusterkit.numerics.distances import squared_distances

    return squared_distances(A, B)


def _kernel_space(points: Array, kernel: Kernel, before: tuple[RowMap, ...], resolved: dict[str, Any]) -> KernelSpace:
    return KernelSpace(points, kernel, before=before, resolved=resolved)


LOOKED_AT = 64
"""Rows of the kernel matrix in the check of its width: their median tells a usable width from a useless one, and they
cost 64 n kernel values at most."""
FIRST_COLUMNS = 2048
"""Columns that are checked first. Only if these leave a doubt, because a nearer or a farther sample may be among the
others, all columns are checked."""
UNRELATED = 1e-3
"""Kernel values below this are negligible against the value 1 of a sample with itself: less than the tolerance of most
solvers, and far below the ridge that a bounded multiplier or a penalty C of 1 adds to the diagonal."""


def warn_of_degenerate_kernel(space: Space) -> None:
    """Warn if the matrix of a Gaussian kernel is numerically the identity or numerically constant.

    Identity: the median, over some samples, of the kernel value with the nearest other sample is below `UNRELATED`.
    Constant: the smallest of their values is within the square root of the machine precision of 1, so that half of the
    digits of every distance are lost. O(n d), for at most `LOOKED_AT` rows of the matrix; O(1) for usual widths.

    Parameters
    ----------
    space : Space
        Space of samples that are not all equal. Anything but a `KernelSpace` with a Gaussian kernel is passed over.
    """
    if not isinstance(space, KernelSpace) or not isinstance(space.kernel, Gaussian) or space.n < 2:
        return
    n = space.n
    rows = _spread(n, LOOKED_AT)
    largest, smallest = _extremes(space, rows, _spread(n, FIRST_COLUMNS))
    least_range = math.sqrt(float(np.finfo(space.dtype).eps))
    doubtful = largest < UNRELATED or smallest > 1.0 - least_range
    if doubtful and n > FIRST_COLUMNS:
        largest, smallest = _extremes(space, rows, np.arange(n))
    gamma = space.kernel.gamma
    if largest < UNRELATED:
        _warn(
            f"with gamma = {gamma:.3g} the kernel matrix is numerically the identity: half of the samples have a "
            f"kernel value below {largest:.1e} with their nearest sample, so that none resembles another; decrease "
            "gamma (increase sigma or sigma_fraction)"
        )
    elif smallest > 1.0 - least_range:
        _warn(
            f"with gamma = {gamma:.3g} the kernel matrix is numerically constant: its entries differ from 1 by "
            f"{1.0 - smallest:.1e} at most, so that all samples look alike; increase gamma (decrease sigma or "
            "sigma_fraction)"
        )


def _spread(n: int, count: int) -> Indices:
    """At most `count` indices at even distances."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.intp))


def _extremes(space: KernelSpace, rows: Indices, columns: Indices) -> tuple[float, float]:
    """The median over rows of the largest value off the diagonal, and the smallest value of all."""
    smallest, of_nearest = 1.0, np.zeros(len(rows))
    for first in range(0, len(columns), FIRST_COLUMNS):
        part = columns[first : first + FIRST_COLUMNS]
        K = np.asarray(space.kernel(space.points[rows], space.points[part]), dtype=np.float64)
        smallest = min(smallest, float(K.min()))
        K[rows[:, None] == part] = 0.0
        np.maximum(of_nearest, K.max(axis=1), out=of_nearest)
    return float(np.median(of_nearest)), smallest


def _warn(text: str) -> None:
    warnings.warn(text, ClusterkitWarning, stacklevel=4)
