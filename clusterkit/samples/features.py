"""The samples as a solver sees them: the abstract `Space`, and explicit features as an operator.

A `FeatureSpace` yields its matrix H (n, L) block by block and derives every product from that one primitive. So a
streamed space, which computes the features anew in each pass, a sparse one, and one on another machine serve every
solver unchanged and give the same labels bit for bit. `Differences` and `Gram` are the parts of a block of features in
the mean and in the Gram matrix of all rows, wherever the block lies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.selection import without_rounding
from clusterkit.numerics.shapes import DERIVED, array, scalar
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.threads import each_block
from clusterkit.samples import memory, sums
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    move_to,
    row_chunks,
    row_squares,
    to_device_of,
    to_host,
)
from clusterkit.samples.coding import Coded
from clusterkit.samples.sums import Addable, Sums, SymmetricSum, products_of_rows, target_sums
from clusterkit.samples.transform import IdentityMap, RowMap, Transform, block_plan, multiply, scaling_of


@attrs.frozen(eq=False)
class Space(ABC):
    """The samples as a solver sees them.

    Parameters
    ----------
    points : ndarray or SparseRows of shape (n, d)
        Coordinates before the last map, in which domains are described and segments are drawn.
    before : tuple of RowMap
        Maps from the raw data to these coordinates.
    resolved : mapping
        Values of parameters that the fit of the map chose, for `resolved_`.
    """

    same_products: ClassVar[bool] = True
    """True if predicting the training rows repeats the products of the fit bit for bit."""

    in_memory: ClassVar[bool] = True
    """False for samples that an engine reads: their points are not here."""

    has_gaps: ClassVar[bool] = False
    """True if NaN in the points is a gap and no error."""

    points: Array = attrs.field(validator=array("n d"))
    before: tuple[RowMap, ...] = attrs.field(default=(), kw_only=True)
    resolved: Mapping[str, object] = attrs.field(factory=dict, kw_only=True)

    @cached_property
    def n(self) -> int:
        """Number of samples."""
        return len(self.points)

    @cached_property
    def dtype(self) -> np.dtype:
        """float32 or float64."""
        return self.points.dtype

    @property
    @abstractmethod
    def sparse(self) -> bool:
        """True if what a solver works on (the points of a kernel, or the features) is `SparseRows`."""

    @property
    def by_blocks(self) -> bool:
        """Whether a start labels by blocks: for dense features above one group, or outside memory."""
        return False

    @property
    def coordinates(self) -> Transform:
        """The map from raw rows to the coordinates of `points`."""
        return Transform(self.before, self.dtype)

    def scaled_points(self) -> Array:
        """The points for the distances of starts, (n, d), scaled if the last map first scales the attributes."""
        return self.points

    @abstractmethod
    def take(self, index: Indices) -> Space:
        """The space of some of the samples."""

    @abstractmethod
    def without_samples(self) -> Space:
        """The space without the n x n matrices that are kept for speed; a finished fit holds this one."""


@final
@attrs.frozen(eq=False)
class Differences(BlockFunction):
    """Contribution to a mean: the sum of the differences from one row, so that equal rows have an exact mean."""

    array_api: ClassVar[bool] = True

    first: Array
    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> Sums:
        """The differences of a block, added up, (L,)."""
        if is_device_array(H):
            return self._on_device(rows, H)
        differences = H - self.first
        return Sums.of(differences.sum(axis=0) if self.weights is None else self.weights[rows] @ differences)

    def _on_device(self, rows: slice, H: Any) -> Sums:
        xp = array_namespace(H)
        differences = H - to_device_of(self.first, H)  # the first row has the type of H
        if self.weights is None:
            return Sums.of(xp.sum(differences, axis=0, dtype=xp.float64))
        weights = move_to(self.weights[rows], H)
        return Sums.of(products_of_rows(differences, weights[:, None])[:, 0])


@final
@attrs.frozen(eq=False)
class Gram(BlockFunction):
    """Contribution to the Gram matrix, in float64."""

    array_api: ClassVar[bool] = True

    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> SymmetricSum:
        """The products of a block, (L, L)."""
        if is_device_array(H):
            return self._on_device(rows, H)
        block = H.astype(np.float64, copy=False)
        return SymmetricSum.of(block.T @ (block if self.weights is None else block * self.weights[rows, None]))

    def _on_device(self, rows: slice, H: Any) -> SymmetricSum:
        xp = array_namespace(H)
        total = xp.zeros((H.shape[1], H.shape[1]), dtype=xp.float64, device=H.device)
        weights = None if self.weights is None else move_to(self.weights[rows], H, np.float64)
        for part, chunk in row_chunks(H):
            block = xp.astype(chunk, xp.float64, copy=False)
            total += xp.matmul(block.T, block if weights is None else block * weights[part, None])
        return SymmetricSum.of(total)


def squared_distances_to(H: Array, point: Array) -> Array:
    """Squared distances of the rows of H (m, L) to one point (L,), from differences, (m,) float64 on their device."""
    if is_device_array(H):
        return row_squares(as_type(H, np.float64) - to_device_of(point, H, np.float64))
    difference = H - point.astype(np.float64, copy=False)
    return np.asarray(np.einsum("ij,ij->i", difference, difference))


MARGIN = 16.0
"""Bound on the rounding error of a squared distance, in units of eps times the magnitudes it is computed from.

A distance is the sum of three terms with a few roundings each. Measured against extended precision: at most 5.9 units,
for 1 to 500 features and means up to 1,000 times the spread; the rest is a reserve.
"""


def distance_noise(radius: Array, norm: float, feature_error: float) -> Array:
    """Squared distances of rows to centres that are indistinguishable from 0, in float64 arithmetic.

    A centre on which a row lies is as far from the origin as the row, so that rows far away say nothing about others.

    Parameters
    ----------
    radius : array of shape (b,)
        Distances of the rows from the origin about which the distances are computed.
    norm : float
        Distance of this origin from 0.
    feature_error : float
        `Transform.feature_error`: features that are off by a share of their length are off by its square in a distance.
    """
    eps = float(np.finfo(np.float64).eps)
    length = radius + norm
    return length * (radius * (MARGIN * eps) + length * (MARGIN * max(feature_error, eps)) ** 2)


def kernel_noise(diagonal: Array, dtype: np.dtype) -> Array:
    """Squared distances of samples that are indistinguishable from 0, from their kernel values with themselves.

    Measured for equal samples: 0 for the Gaussian kernel, and for the linear kernel at most 1.8 units of eps times
    these values with 100 attributes and 13 with 600, so that half the margin would take them for different ones there.
    """
    return diagonal * (MARGIN * float(np.finfo(dtype).eps))


Part = TypeVar("Part", bound=Addable)
Value = TypeVar("Value")


@attrs.frozen(eq=False)
class FeatureSpace(Space):
    """Explicit features H (n, L), seen as an operator.

    Parameters
    ----------
    mapping : RowMap
        The last map, coordinates to features.
    """

    in_memory: ClassVar[bool] = True
    """False if an engine reads the samples. Solvers then bind themselves by passes (`Path.passes`)."""

    mapping: RowMap

    def without_samples(self) -> FeatureSpace:
        """The space itself: it keeps no n x n matrices."""
        return self

    @property
    def sparse(self) -> bool:
        """True if the features are `SparseRows`."""
        return isinstance(self, SparseSpace)

    @property
    def by_blocks(self) -> bool:
        """True outside memory, and for dense features of more rows than one group (`clusterkit.samples.sums.GROUP`)."""
        return not self.in_memory or (self.n > sums.GROUP and not self.sparse)

    def scaled_points(self) -> Array:
        """The points after the scaling inside the last map, or its features if it does nothing but scale, (n, d)."""
        scaling = scaling_of(self.mapping)
        return self.points if scaling is None else scaling(self.points)

    @cached_property
    def width(self) -> int:
        """Number of features, L."""
        return self.mapping.width

    @property
    def transform(self) -> Transform:
        """The map from raw rows to features."""
        return Transform((*self.before, self.mapping), self.dtype)

    @cached_property
    def plan(self) -> tuple[slice, ...]:
        """The block plan of samples in memory, made once: iterations ask for it again and again."""
        return block_plan(self.n, self.width, self.dtype)

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Row slices of the block plan with their rows of H; all other operations derive from these."""

    def passed(self, function: Callable[[slice, Array], Value]) -> Iterator[tuple[slice, Value]]:
        """``function(rows, H_b)`` of all blocks, in their order.

        Where the rows are many or wide several threads call it, as they do in the passes of an engine: the two agree
        bit for bit, whatever the number of threads.
        """
        return each_block(function, self.blocks(), self.n, 0 if self.sparse else self.width)

    def pieces(self) -> Iterator[tuple[slice, Array]]:
        """Row slices with their rows of H, as large as memory allows: for passes that add nothing up."""
        return self.blocks()

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass: the sum of ``part(rows, H_b)`` over all blocks, in the one order of `clusterkit.samples.sums`.

        A solver that reads the features by this method alone runs in memory or elsewhere; `part` must then be a
        frozen callable that pickles. Several threads may call `part` at once, so it may write only to the rows of its
        own block.
        """
        return sums.total(self.passed(part))

    def table(self, function: Callable[[Array], Array], columns: int, what: str) -> Array:
        """One pass: a function of the rows of H, (b, L) to (b, columns), of all rows on the host, (n, columns).

        Raises
        ------
        NeedsMemory
            If the samples are not in memory and the memory cap does not allow the table, which `what` names.
        """
        values = np.empty((self.n, columns), dtype=self.dtype)
        for rows, part in self.passed(lambda _, H: function(H)):
            values[rows] = part
        return values

    def mapped(self, fitted: FittedMap) -> FeatureSpace:
        """The features that a fitted map makes of the features of this space."""
        samples = self.as_samples()
        return build_space(
            samples.points, fitted.mapping, storage=fitted.storage, before=samples.before, resolved=fitted.resolved
        )

    def as_samples(self) -> FeatureSpace:
        """The features as samples of a further map."""
        return self if isinstance(self.mapping, IdentityMap) else identity_space(self.rows(), self.transform.steps)

    @property
    def _are_directions(self) -> bool:
        return getattr(self.mapping, "directions", False)

    def require_table(self, columns: int, what: str) -> None:
        """Refuse a table (n, columns) that the memory cap does not allow, where samples are not in memory."""

    def at(self, Y: Array) -> Array:
        """Features of new raw rows, (m, L); sparse rows are accepted if the map accepts them."""
        rows: Any = SparseRows.of(Y) if hasattr(Y, "tocsr") else Y
        return self.transform(rows)

    def apply(self, B: Array, dtype: np.dtype | type | None = None) -> Array:
        """H B, (n, q), computed in a type; default: that of H."""
        B = B.astype(dtype or self.dtype, copy=False)
        F = np.empty((self.n, B.shape[1]), dtype=B.dtype)
        for _ in self.passed(lambda rows, H: multiply(H.astype(B.dtype, copy=False), B, F[rows])):
            pass
        return F

    def adjoint(self, T: Array | Counts | Coded) -> Array:
        """H'T, (L, q), in float64 whatever the type of H; coded labels are not expanded to n x R q targets."""

        def part(rows: slice, H: Array) -> Sums:
            if isinstance(T, Coded):
                return Sums.of(target_sums(H, T.of(rows), np.float64))
            return Sums.of(H.T @ T[rows].astype(np.float64, copy=False))

        return self.reduce(part).arrays[0]

    def gram(self, weights: Array | None = None) -> Array:
        """H'H, or H'WH for weights (n,) of the rows; (L, L), always in float64, because it is factorised."""
        return self.reduce(Gram(weights)).matrix

    def outer(self) -> Array:
        """HH', (n, n), float64, if the memory cap allows it."""
        memory.require(
            8 * self.n * self.n,
            f"the {self.n} x {self.n} matrix of inner products",
            "Use fewer rows, or a solver path that works on features.",
        )
        H = self.rows().astype(np.float64, copy=False)
        return H @ H.T

    def rows(self, index: Indices | None = None) -> Array:
        """Rows of H by index, or all rows if the memory cap allows it; `SparseRows` if H is sparse.

        Among all rows, directions that are equal up to rounding are one, which would be several clusters else.
        """
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
        return without_rounding(H) if self._are_directions else H

    def squared_norms(self) -> Array:
        """``|h(x_i)|²``, (n,), float64."""
        norms = np.empty(self.n)
        for rows, H in self.blocks():
            norms[rows] = H.squares() if isinstance(H, SparseRows) else np.einsum("ij,ij->i", H, H, dtype=np.float64)
        return norms

    def mean(self, weights: Array | None = None) -> Array:
        """Mean of the rows of H, (L,), float64, in one pass; equal samples have a mean that equals them exactly.

        Differences from the first row are summed for this. Sparse rows are summed as they are: their cost is that of
        the stored entries only.
        """
        count = self.n if weights is None else weights.sum()
        if self.sparse:
            return self.adjoint(np.ones((self.n, 1)) if weights is None else weights[:, None])[:, 0] / count
        first = to_host(next(iter(self.blocks()))[1][0, :]).astype(np.float64)
        return np.asarray(first + self.reduce(Differences(first, weights)).arrays[0] / count)

    def squared_distances_to(self, point: Array) -> Array:
        """``|h(x_i) - point|²`` for a point (L,) of the feature space: (n,), in one pass over dense features."""
        distances = np.empty(self.n)
        for rows, part in self.passed(lambda rows, H: squared_distances_to(H, point)):
            distances[rows] = part
        return distances

    def minimum(self) -> float:
        """Smallest entry of H."""
        return float(min(H.min() for _, H in self.blocks()))


@final
@attrs.frozen(eq=False)
class FittedMap:
    """A fitted map of rows, without the rows.

    Parameters
    ----------
    mapping : RowMap
    resolved : mapping
        Values of parameters that the fit chose, for `resolved_`.
    storage : {"dense", "auto", "streamed"}, default "dense"
        Storage of the features of samples in memory, as in `build_space`.
    """

    mapping: RowMap
    resolved: Mapping[str, object] = attrs.field(factory=dict)
    storage: str = "dense"


@final
@attrs.frozen(eq=False)
class DenseSpace(FeatureSpace):
    """Features kept in memory."""

    # None until the first use in a space that was loaded from a file: the features follow from the points
    _H: Array | None = attrs.field(default=None, validator=array("n L"), metadata=DERIVED)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Slices of the stored matrix."""
        H = self._matrix()
        for rows in self.plan:
            yield rows, H[rows]

    def pieces(self) -> Iterator[tuple[slice, Array]]:
        """The stored matrix."""
        yield slice(0, self.n), self._matrix()

    def _matrix(self) -> Array:
        if self._H is None:
            object.__setattr__(self, "_H", _mapped(self.points, self.mapping))
        return cast("Array", self._H)

    def as_samples(self) -> FeatureSpace:
        """The stored matrix as samples of a further map, without a copy; of directions the `rows`."""
        if isinstance(self.mapping, IdentityMap):
            return self
        H = self.rows() if self._are_directions else self._matrix()
        return identity_space(H, self.transform.steps)

    def take(self, index: Indices) -> DenseSpace:
        """The space of some samples; features are computed again, so that they equal streamed features exactly."""
        return build_space(  # type: ignore[return-value]
            self.points[index], self.mapping, storage="dense", before=self.before, resolved=self.resolved
        )

    def __reduce__(self) -> tuple[object, ...]:
        # The features follow from the points, so a pickle contains the points only.
        return _rebuild, (self.points, self.mapping, self.before, dict(self.resolved))


@final
@attrs.frozen(eq=False)
class StreamedSpace(FeatureSpace):
    """Features computed again in each pass, with the memory of one block."""

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Blocks of rows, mapped when they are needed."""
        for rows in self.plan:
            yield rows, self.mapping(self.points[rows])

    def passed(self, function: Callable[[slice, Array], Value]) -> Iterator[tuple[slice, Value]]:
        """The function of all blocks, which are mapped by the threads that call it."""
        blocks = ((rows, self.points[rows]) for rows in self.plan)
        return each_block(lambda rows, Y: function(rows, self.mapping(Y)), blocks, self.n, self.width)

    def take(self, index: Indices) -> StreamedSpace:
        """The space of some samples."""
        return attrs.evolve(self, points=self.points[index])


@final
@attrs.frozen(eq=False)
class EmbeddedSpace(FeatureSpace):
    """Features that were found for the samples together; the map of new rows only approximates them.

    For spectral embeddings and layouts of graphs: mapping the samples as new rows gives other features than they have
    here, so the feature map has ``exact_on_training = False``.

    Parameters
    ----------
    graph : NeighbourGraph or None
        The graph of nearest neighbours from which the features were found, for stages that read it.
    """

    _H: Array = attrs.field(validator=array("n L"))
    graph: NeighbourGraph | None = attrs.field(default=None, kw_only=True)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Slices of the stored matrix."""
        for rows in self.plan:
            yield rows, self._H[rows]

    def pieces(self) -> Iterator[tuple[slice, Array]]:
        """The stored matrix."""
        yield slice(0, self.n), self._H

    def rows(self, index: Indices | None = None) -> Array:
        """Rows of H by index, or all rows."""
        return self._H.copy() if index is None else self._H[index]

    def take(self, index: Indices) -> EmbeddedSpace:
        """The space of some samples, with the features that they have here."""
        return attrs.evolve(self, points=self.points[index], H=self._H[index])


@final
@attrs.frozen(eq=False)
class SparseSpace(FeatureSpace):
    """Features that are mostly 0: the blocks and the result of `rows` are `SparseRows`.

    Only for solvers whose path has `sparse`: they use products with H only.
    """

    # None until the first use in a space that was loaded from a file
    _H: SparseRows | None = attrs.field(default=None, validator=array("n L"), metadata=DERIVED)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Row slices with about as many stored entries as a dense block has entries."""
        H = self._features()
        mean = max(1, H.csr.nnz // max(1, self.n))
        for rows in block_plan(self.n, mean, self.dtype):
            yield rows, cast("Array", H[rows])

    def take(self, index: Indices) -> SparseSpace:
        """The space of some samples."""
        return attrs.evolve(self, points=self.points[index], H=self._features()[index])

    def _features(self) -> SparseRows:
        if self._H is None:
            object.__setattr__(self, "_H", self.mapping(self.points))
        return cast("SparseRows", self._H)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.points, self.mapping, self.before, dict(self.resolved))


def identity_space(X: Array, before: tuple[RowMap, ...] = ()) -> FeatureSpace:
    """The space of samples X (n, d) in memory, an array or sparse rows, unchanged; `before` are the maps to X."""
    return build_space(X, IdentityMap(X.shape[1]), storage="dense", before=before)


def build_space(
    points: Array,
    mapping: RowMap,
    *,
    storage: str = "auto",
    before: tuple[RowMap, ...] = (),
    resolved: Mapping[str, object] | None = None,
) -> DenseSpace | SparseSpace | StreamedSpace:
    """The space of mapped points.

    Parameters
    ----------
    points : ndarray or SparseRows of shape (n, d)
    mapping : RowMap
        The last map, coordinates to features.
    storage : {"auto", "dense", "streamed"}, default "auto"
        "auto" keeps the features in memory up to half the memory cap, and computes them in each pass above. The
        features of sparse rows are always kept, sparse or dense as the map returns them.
    before : tuple of RowMap
        Maps from the raw data to the points.
    resolved : mapping, optional
        Values of parameters that the fit of the map chose.
    """
    facts = dict(resolved or {})
    if isinstance(points, SparseRows):
        H = mapping(points)
        if isinstance(H, SparseRows):
            return SparseSpace(points, mapping, H, before=before, resolved=facts)
        return DenseSpace(points, mapping, H, before=before, resolved=facts)
    n_bytes = len(points) * mapping.width * points.dtype.itemsize
    identity = isinstance(mapping, IdentityMap)
    if storage == "auto":
        # half the cap: a solver needs memory beside the features
        storage = "dense" if identity or n_bytes <= memory.cap() // 2 else "streamed"
        if storage == "streamed":
            facts["storage"] = storage
    if storage == "streamed":
        return StreamedSpace(points, mapping, before=before, resolved=facts)
    return DenseSpace(points, mapping, _mapped(points, mapping), before=before, resolved=facts)


def _mapped(points: Array, mapping: RowMap) -> Array:
    """The features of points, in memory, if the cap allows it."""
    if isinstance(mapping, IdentityMap):
        return points
    if isinstance(points, SparseRows):
        return mapping(points)
    n_bytes = len(points) * mapping.width * points.dtype.itemsize
    memory.require(n_bytes, f"the {len(points)} x {mapping.width} feature matrix", "Use storage='streamed' on the map.")
    H = np.empty((len(points), mapping.width), dtype=points.dtype)

    def fill(rows: slice, Y: Array) -> None:
        H[rows] = mapping(Y)

    blocks = ((rows, points[rows]) for rows in block_plan(len(points), mapping.width, points.dtype))
    for _ in each_block(fill, blocks, len(points), mapping.width):
        pass
    return H


def _rebuild(points: Array, mapping: RowMap, before: tuple[RowMap, ...], resolved: dict[str, Any]) -> Space:
    return build_space(points, mapping, storage="dense", before=before, resolved=resolved)


@attrs.frozen(eq=False)
class NeighbourGraph:
    """Rows joined to their nearest others, with weights of shared neighbours.

    Parameters
    ----------
    rows : ndarray of int, shape (u,)
        The vertices: distinct rows of the samples, in the order of `search.canonical_order`. Where most samples are in
        groups of equal ones, each group is several vertices.
    place : ndarray of int, shape (n,)
        The vertex of every sample, of several the first.
    index : ndarray of int32, shape (u, k)
        Neighbours of the vertices, nearest first.
    starts, tails, weights : ndarray of shape (u + 1,), (e,), (e,)
        Edges of each vertex in a compressed form: symmetric, each in both directions, sorted.
    method : str
        How neighbours were searched: "exact", "sketch" or "cells".
    recall : float
        Share of the true neighbours that were found, estimated on some rows.
    sketch : int or None
        Axes of the sketch.
    components : int
        Parts of the graph that no edge joins.
    """

    rows: Indices = attrs.field(validator=array("u", below="n", distinct=True))
    place: Indices = attrs.field(validator=array("n", below="u"))
    index: Indices = attrs.field(validator=array("u k", below="u"))
    starts: Indices = attrs.field(validator=array("u+1", divides="e"))
    tails: Indices = attrs.field(validator=array("e", below="u"))
    weights: Array = attrs.field(validator=array("e", least=0))
    method: str
    recall: float = attrs.field(validator=scalar(least=0, most=1))
    sketch: int | None = attrs.field(validator=scalar(least=1))
    components: int = attrs.field(validator=scalar(least=1, most="u"))

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.rows)

    @property
    def facts(self) -> dict[str, object]:
        """The search in short, for `resolved_`."""
        facts: dict[str, object] = {"neighbours": self.method}
        if self.method != "exact":
            facts["recall"] = round(self.recall, 3)
        if self.sketch is not None:
            facts["sketch"] = self.sketch
        distinct = len(np.unique(self.place))
        if distinct < len(self.place):
            facts["distinct_rows"] = distinct
        if self.components > 1:
            facts["components"] = self.components
        return facts
