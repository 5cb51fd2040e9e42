"""Projection on the directions of largest variance."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import FeatureMap, FittedMap, Task, params
from clusterkit.numerics.shapes import array
from clusterkit.numerics.sparse_rows import SparseRows, from_mean
from clusterkit.samples import FeatureSpace, memory, sums
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    host_dtype,
    is_device_array,
    row_chunks,
    to_device_of,
)
from clusterkit.samples.sums import SymmetricSum

ITERATIVE_SHARE = 0.25
"""Largest r relative to min(n, d) for the iterative solver; for more components all axes are as fast to compute."""
GRAM_COLUMNS = 2048
"""Largest number of attributes for which more rows than one group are projected by the matrix of inner products, 32
MiB, instead of the iterative solver; rows outside memory always are."""


@final
@attrs.frozen
class Pca(FeatureMap):
    """Coordinates on the leading principal axes, or on the leading singular vectors of the uncentred data.

    Reduces the number of attributes before methods whose cost grows with it, and makes documents dense. Computed by
    scikit-learn's `PCA` and `TruncatedSVD`. O(n d min(n, d)), or O(s r) per iteration for r components of s stored
    entries; sparse samples are centred without a dense copy.

    Parameters
    ----------
    n_components : int, default 50
        Number of coordinates, r; lowered to min(n, d) if that is smaller, which `resolved_` then reports.
    center : bool, default True
        True subtracts the mean first (principal component analysis); False does not (truncated singular value
        decomposition).

    Notes
    -----
    The sign of each axis is fixed: its entry of largest modulus is positive. Axes of equal variance, and axes of
    variance 0, are arbitrary within their span.

    References
    ----------
    Pearson (1901), On lines and planes of closest fit to systems of points in space, Philosophical Magazine 2.
    Eckart, Young (1936), Psychometrika 1: the truncated decomposition.
    """

    name: ClassVar[str] = "pca"
    synonyms: ClassVar[tuple[str, ...]] = ("principal_components",)
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    nonnegative: ClassVar[bool | None] = False
    sparse: ClassVar[bool] = True
    keeps_sparse: ClassVar[bool] = True
    makes_dense: ClassVar[bool] = True

    n_components: int = params.integer(50, at_least=1)
    center: bool = params.flag(True)

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The projection; of more than a group of rows by the matrix of inner products, in two passes."""
        n, d = samples.n, samples.width
        few = n <= sums.GROUP or samples.sparse or d > GRAM_COLUMNS
        if samples.in_memory and few:
            X: Any = samples.points
            mean = X.mean(axis=0).astype(np.float64) if self.center else np.zeros(d)
            axes = _axes(X, min(self.n_components, n, d), mean, self.center, int(rng.integers(2**31 - 1)))
            return self._projection(axes, mean)
        memory.require(8 * d * d, f"the {d} x {d} matrix of inner products", "Fit a sample of the rows.")
        mean = samples.mean() if self.center else np.zeros(d)
        w, V = np.linalg.eigh(samples.reduce(_InnerProducts(mean)).matrix)
        leading = np.argsort(-w, kind="stable")[: min(self.n_components, n, d)]
        return self._projection(_signed(V[:, leading]), mean)

    def _projection(self, axes: Array, mean: Array) -> FittedMap:
        """The row map of axes (d, r)."""
        width = axes.shape[1]
        resolved = {"n_components": width} if width < self.n_components else {}
        return FittedMap(_PcaProjection(axes, mean @ axes), resolved)


@final
@attrs.frozen(eq=False)
class _InnerProducts(BlockFunction):
    """Part of the matrix of inner products of the attributes, about a mean."""

    array_api: ClassVar[bool] = True

    mean: Array

    def __call__(self, rows: slice, H: Array) -> SymmetricSum:
        if is_device_array(H):
            xp, mean = array_namespace(H), to_device_of(self.mean, H, np.float64)
            products = xp.zeros((H.shape[1], H.shape[1]), dtype=xp.float64, device=H.device)
            for _, chunk in row_chunks(H):
                differences = as_type(chunk, np.float64) - mean
                products += xp.matmul(differences.T, differences)
            return SymmetricSum.of(products)
        block = H - self.mean
        return SymmetricSum.of(block.T @ block)


def _axes(X: Any, r: int, mean: Array, center: bool, seed: int) -> Array:
    """Leading axes (d, r), of falling variance."""
    from sklearn.decomposition import PCA, TruncatedSVD

    n, d = X.shape
    if not from_mean(X, mean).any():
        return np.eye(d, r)  # the iterative solver fails on a zero matrix
    if isinstance(X, SparseRows):
        matrix = X.csr
        if r == min(n, d):
            memory.require(8 * n * d, f"a dense copy of the {n} x {d} sparse samples", "Ask for fewer n_components.")
            matrix = X.toarray()
    else:
        matrix = X
    iterative = r <= ITERATIVE_SHARE * min(n, d) or not isinstance(matrix, np.ndarray)
    if center:
        with np.errstate(invalid="ignore"):  # shares of a variance that underflows, which nothing reads
            fitted = PCA(r, svd_solver="arpack" if iterative else "full", random_state=seed).fit(matrix)
    elif iterative:
        fitted = TruncatedSVD(r, algorithm="arpack", random_state=seed).fit(matrix)
    else:
        axes = np.linalg.svd(matrix.astype(np.float64, copy=False), full_matrices=False)[2]
        return _signed(axes[:r].T)
    return _signed(fitted.components_.T.astype(np.float64))


def _signed(axes: Array) -> Array:
    """Axes (d, r) whose entry of largest modulus is positive."""
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)[0]
    return np.ascontiguousarray(axes * np.where(largest < 0, -1.0, 1.0))


@final
@attrs.frozen(eq=False)
class _PcaProjection(BlockFunction):
    """Row map: rows times axes, minus the projected mean.

    Parameters
    ----------
    axes : ndarray of shape (d, r)
    origin : ndarray of shape (r,)
    """

    array_api: ClassVar[bool] = True

    axes: Array = attrs.field(validator=array("d r"))
    origin: Array = attrs.field(validator=array("r"))

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.axes.shape[1])

    def __call__(self, Y: Any) -> Array:
        """Coordinates, (m, d) to (m, r), in the type of Y, on its device."""
        if is_device_array(Y):
            xp, axes = array_namespace(Y), to_device_of(self.axes, Y, np.float64)
            products = xp.concat([xp.matmul(as_type(chunk, np.float64), axes) for _, chunk in row_chunks(Y)], axis=0)
            products -= to_device_of(self.origin, Y, np.float64)
            return as_type(products, host_dtype(Y))
        coordinates = (Y if isinstance(Y, SparseRows) else Y.astype(np.float64, copy=False)) @ self.axes
        return (coordinates - self.origin).astype(Y.dtype, copy=False)
