"""Centres that are combinations of samples, and minus the squared distances to them as scores.

Two geometries with the same methods, used by `centroids`; `fuzzy_cmeans` uses that of features. Centres are columns:
coordinates about the mean of all samples (features), or weights of the samples (kernel). Centres, products and scores
are float64 whatever the type of the samples, so that rows of float32 have the labels that their numbers have in
float64. The scores of the training rows are computed by the same block products as the scores of new rows, so that
predicting the training rows repeats their labels. An iteration leaves the scores of new samples behind as
`NearestMeans` or `NearestKernelMeans`.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.lloyd import compiled_pays
from clusterkit.numerics.shapes import array
from clusterkit.numerics.threads import THIN, ParallelFor, limited_threads, serial_for, thread_pool
from clusterkit.samples import FeatureSpace, KernelSpace, distance_noise, kernel_noise, squared_distances_to, sums
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    device_copy,
    device_product,
    host_dtype,
    is_device_array,
    move_to,
    row_chunks,
    row_squares,
    to_device_of,
)
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import Kernel
from clusterkit.samples.transform import Transform, block_plan, block_rows, in_blocks


@final
@attrs.frozen(eq=False)
class NearestMeans(BlockFunction):
    """Minus squared distances of new samples to centres with coordinates about an origin.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    origin : ndarray of shape (L,)
    centres : ndarray of shape (L, k)
    constants : ndarray of shape (k,)
        ``|c|² + 2 origin·c``.
    """

    saved_before: ClassVar[frozenset[str]] = frozenset(
        {"rounding_error"}
    )  # one threshold for the distances of all rows

    transform: Transform
    origin: Array = attrs.field(validator=array("L"))
    centres: Array = attrs.field(validator=array("L k"))
    constants: Array = attrs.field(validator=array("k"))

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, k), in blocks."""
        if is_device_array(Y):
            return in_blocks(lambda rows: self.on(self.transform(rows)), Y, self._widest)
        scores = np.empty((len(Y), self.centres.shape[1]))
        for rows, values in self.transform.passed(lambda _, H: self.on(H), Y):
            scores[rows] = values
        return scores

    def terms(self, Y: Array) -> Array | None:
        """Minus squared differences of rows and centres in each column, (m, d + 1, k); None for other coordinates."""
        H = self.transform(Y)
        if not self.transform.scales or H.shape != Y.shape:
            return None
        differences = np.square(H[:, :, None] - self.means.T)
        return np.concatenate([-differences, np.zeros_like(differences[:, :1])], axis=1)

    @property
    def table_columns(self) -> int:
        """Columns of the temporary array of a block, in the type of the samples: float64 distances to the k centres."""
        return int(self.centres.shape[1]) * 8 // self.transform.dtype.itemsize

    @property
    def means(self) -> Array:
        """The centres as features, (k, L)."""
        return (self.centres + self.origin[:, None]).T

    @property
    def _widest(self) -> int:
        return max(self.transform.width or 1, self.table_columns)

    def on(self, H: Array) -> Array:
        """Scores of a block of features, (b, L) to (b, k), float64, on the device of the block."""
        if is_device_array(H):
            scores, lengths = self._shifted(as_type(H, np.float64))
            return self._with_zeros(scores - lengths[:, None], lengths)
        lengths = squared_distances_to(H, self.origin)
        return minus_distances(H @ self.centres, self.constants, lengths, self.noise(np.sqrt(lengths)))

    def noise(self, radius: Any) -> Any:
        """Squared distances that count as 0, of rows at these distances from the origin."""
        return distance_noise(radius, float(np.linalg.norm(self.origin)), self.transform.feature_error)

    def _shifted(self, H: Any) -> tuple[Any, Any]:
        """Scores of a block of another library plus the squared distances of its rows from the origin, and these.

        Products of differences from the origin cancel less than those of the features. Tables of all scores are what it
        costs: few are written.
        """
        origin, doubled, constants = self._sent(H)
        differences = H - origin
        scores = device_product(differences, doubled)
        scores -= constants
        return scores, row_squares(differences)

    def _with_zeros(self, scores: Any, lengths: Any) -> Any:
        """Scores whose distances are 0 up to rounding become 0, so that equal rows have equal labels."""
        xp = array_namespace(scores)
        return xp.where(scores > -self.noise(xp.sqrt(lengths))[:, None], xp.zeros_like(scores), scores)

    def nearest(self, H: Any) -> tuple[Any, Any]:
        """Labels of a block of another library, (b,), and minus the squared distances for them, (b,), float64.

        Lengths of the rows do not change the label, so that the table does without them, unless centres coincide.
        Distances are formed from differences: the products of float32 numbers leave too few digits.
        """
        xp = array_namespace(H)
        wide = as_type(H, np.float64) if self.crowded else H
        scores, lengths = self._shifted(wide)
        if self.crowded:
            scores = self._with_zeros(scores - lengths[:, None], lengths)
        labels = xp.argmax(scores, axis=1)
        means = to_device_of(self.means, H, np.float64)
        parts = [
            -row_squares(as_type(rows, np.float64) - xp.take(means, labels[part], axis=0))
            for part, rows in row_chunks(H)
        ]
        best = xp.concat(parts)
        if self.crowded:
            best = self._with_zeros(best[:, None], lengths)[:, 0]
        return labels, best

    @cached_property
    def crowded(self) -> bool:
        """Whether two centres are too near each other, as seen from the origin, for products of float32 numbers."""
        C = self.centres.T
        limits = CROWDED * np.einsum("ij,ij->i", C, C)
        near = (squared_distances(C[j : j + 1], C) <= limits[j] for j in range(len(C)))
        return any(np.count_nonzero(others) > 1 for others in near)  # each centre is near itself

    def _sent(self, H: Any) -> tuple[Any, Any, Any]:
        """Rounded origin (L,), twice the centres about it (L, k), their squared lengths (k,), on the device of H."""
        return device_copy(self, H, lambda: self._rounded(H), "centres")

    def _rounded(self, H: Any) -> tuple[Any, Any, Any]:
        dtype = host_dtype(H)
        origin = self.origin.astype(dtype)
        centres = (self.centres + (self.origin - origin)[:, None]).astype(dtype)
        lengths = np.einsum("ij,ij->j", centres, centres, dtype=np.float64)
        return move_to(origin, H), move_to(2.0 * centres, H), move_to(lengths, H)

    def columns(self, index: slice | Indices) -> NearestMeans:
        """The extension with some of the centres."""
        return attrs.evolve(self, centres=self.centres[:, index], constants=self.constants[index])


@final
@attrs.frozen(eq=False)
class NearestKernelMeans:
    """Minus squared distances of new samples to centres that are weighted sums of the training samples.

    Parameters
    ----------
    coordinates : Transform
        Raw rows to the coordinates of `points`.
    points : ndarray of shape (n, d)
    kernel : Kernel
    centres : ndarray of shape (n, k)
    norms : ndarray of shape (k,)
        Squared norms of the centres.
    """

    saved_before: ClassVar[frozenset[str]] = frozenset(
        {"rounding_error"}
    )  # one threshold for the distances of all rows

    coordinates: Transform
    points: Array = attrs.field(validator=array("n d"))
    kernel: Kernel
    centres: Array = attrs.field(validator=array("n k"))
    norms: Array = attrs.field(validator=array("k"))

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, k), in blocks."""
        points = self.coordinates(Y)
        scores = np.empty((len(points), self.centres.shape[1]))
        for rows in block_plan(len(points), len(self.points), np.float64):
            products = self.kernel(points[rows], self.points) @ self.centres
            diagonal = self.kernel.diag(points[rows])
            if np.isnan(diagonal).any():  # distances less the least of them
                diagonal = np.where(np.isnan(diagonal), (2.0 * products - self.norms).max(axis=1), diagonal)
            scores[rows] = minus_distances(products, self.norms, diagonal, self._noise(np.abs(diagonal)))
        return scores

    def _noise(self, diagonal: Any) -> Any:
        return kernel_noise(diagonal, self.kernel.value_type(self.points))

    def columns(self, index: slice | Indices) -> NearestKernelMeans:
        """The extension with some of the centres."""
        return attrs.evolve(self, centres=self.centres[:, index], norms=self.norms[index])


def minus_distances(products: Array, constants: Array, lengths: Array, noise: Array) -> Array:
    """Minus squared distances ``2 h·c - constant - |h|²``, (n, b); distances below the noise (n,) of a row become 0.

    The large terms are added first because they cancel. Without the threshold the rounding errors of distances that
    are 0 would separate duplicates.
    """
    scores = 2.0 * products
    scores -= constants
    scores -= lengths[:, None]
    np.copyto(scores, 0.0, where=scores > -noise[:, None])
    return scores


CROWDED = 1e-3
"""Squared distance of two centres, in units of their squared distances from the origin, up to which labels on a device
come from products in float64. In float32 such a product is off by some 1e-7 of these units."""


@final
@attrs.frozen(eq=False)
class Radii:
    """Summary of the squared distances of some samples from the mean of all: their sum, the largest, their number.

    With weights: the weighted sum, the largest, and the sum of the weights.
    """

    added: float
    largest: float
    count: float

    @classmethod
    def of(cls, radii: Array, weights: Array | None = None) -> Radii:
        """The summary of a block of squared distances, (b,)."""
        if is_device_array(radii):
            return cls._of_device(radii, weights)
        largest = float(radii.max(initial=0.0))
        if weights is None:
            return cls(float(radii.sum()), largest, len(radii))
        return cls(float(weights @ radii), largest, float(weights.sum()))

    @classmethod
    def _of_device(cls, radii: Any, weights: Array | None) -> Radii:
        xp = array_namespace(radii)
        count = int(radii.shape[0])
        largest = float(xp.max(radii)) if count else 0.0
        if weights is None:
            return cls(float(xp.sum(radii, dtype=xp.float64)), largest, count)
        added = xp.sum(move_to(weights, radii, np.float64) * radii, dtype=xp.float64)
        return cls(float(added), largest, float(weights.sum()))

    def __add__(self, following: Radii) -> Radii:
        """The summary of both blocks together."""
        largest = max(self.largest, following.largest)
        return Radii(self.added + following.added, largest, self.count + following.count)


@final
@attrs.frozen(eq=False)
class _RadiiAbout(BlockFunction):
    """Part of `Radii`: the distances of a block from the mean of all samples."""

    array_api: ClassVar[bool] = True

    origin: Array
    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> Radii:
        return Radii.of(squared_distances_to(H, self.origin), _at(self.weights, rows))


def _at(weights: Array | None, rows: slice) -> Array | None:
    return None if weights is None else weights[rows]


@final
@attrs.frozen(eq=False)
class FeatureGeometry:
    """The feature map, the mean and the radii of all samples, which distances to class means need; small for any n.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    origin : ndarray of shape (L,)
        Mean of all samples. Distances do not depend on the origin, but cancellation does.
    radii : Radii
        Summary of the squared distances of the samples from the origin.
    """

    transform: Transform
    origin: Array
    radii: Radii

    @classmethod
    def of(cls, space: FeatureSpace, weights: Array | None = None) -> FeatureGeometry:
        """Two passes over the features, in memory or elsewhere; `weights` (n,) count the samples."""
        origin = space.mean(weights)
        return cls(space.transform, origin, space.reduce(_RadiiAbout(origin, weights)))

    @property
    def all_equal(self) -> bool:
        """True if all samples are equal up to rounding errors of their coordinates."""
        return bool(self.radii.largest <= 0.25 * self.noise(np.zeros(1))[0])

    def noise(self, lengths: Array) -> Array:
        """Squared distances that count as 0, (b,), of rows with these squared distances from the origin."""
        return np.asarray(
            distance_noise(np.sqrt(lengths), float(np.linalg.norm(self.origin)), self.transform.feature_error)
        )

    def overall(self, k: int) -> Array:
        """k centres at the mean of all samples, (L, k)."""
        return np.zeros((len(self.origin), k))

    def centres(self, class_sums: Array, sizes: Array | Counts) -> Array:
        """Class means from the class sums (L, k), same shape."""
        return class_sums / sizes - self.origin[:, None]

    def centred(self, H: Array) -> Array:
        """Centres at samples with the features H (b, L), shape (L, b)."""
        return (H - self.origin).T

    def constants(self, centres: Array) -> Array:
        """``|c|² + 2 origin·c``, (b,); the products are of h, not of h - origin."""
        return np.asarray(np.einsum("ij,ij->j", centres, centres) + 2.0 * (self.origin @ centres))

    def extension(self, centres: Array) -> NearestMeans:
        """Scores of new samples."""
        return NearestMeans(self.transform, self.origin, centres, self.constants(centres))


@final
@attrs.frozen(eq=False)
class FeatureMeans:
    """Class means of explicit features in memory, with the distance of every sample from the mean of all.

    Parameters
    ----------
    space : FeatureSpace
    about : FeatureGeometry
    radii : ndarray of shape (n,)
        Squared distances of the samples from the origin.
    """

    space: FeatureSpace
    about: FeatureGeometry
    radii: Array

    @classmethod
    def of(cls, space: FeatureSpace, weights: Array | None = None) -> FeatureMeans:
        """The mean of all samples and the distances from it: two passes over the features."""
        origin = space.mean(weights)
        radii = space.squared_distances_to(origin)
        spread = sums.total((rows, Radii.of(radii[rows], _at(weights, rows))) for rows in space.plan)
        return cls(space, FeatureGeometry(space.transform, origin, spread), radii)

    @property
    def origin(self) -> Array:
        """Mean of all samples, (L,)."""
        return self.about.origin

    @property
    def all_equal(self) -> bool:
        """True if all samples are equal up to rounding errors of their coordinates."""
        return self.about.all_equal

    @cached_property
    def noise(self) -> Array:
        """Squared distances that count as 0, of each sample, (n,)."""
        return self.about.noise(self.radii)

    def overall(self, k: int) -> Array:
        """k centres at the mean of all samples, (L, k)."""
        return self.about.overall(k)

    def means(self, coded: Coded, sizes: Array | Counts) -> Array:
        """Class means, (L, k)."""
        return self.centres(self.space.adjoint(coded), sizes)

    def centres(self, class_sums: Array, sizes: Array | Counts) -> Array:
        """Class means from the class sums (L, k), same shape."""
        return self.about.centres(class_sums, sizes)

    def samples(self, index: Indices) -> Array:
        """Centres at single samples, (L, b)."""
        return self.about.centred(self.space.rows(index))

    def scores(self, centres: Array) -> tuple[Array, Array]:
        """Minus squared distances of all samples, (n, b), and the constants of the centres, (b,)."""
        constants, space = self.constants(centres), self.space
        scores = np.empty((space.n, centres.shape[1]))
        # With few columns, several blocks at once use the cores better than several threads for one block. Above one
        # group of rows each block has one thread, as in passes, so that the products are equal bit for bit.
        single = compiled_pays(space.n, space.width, centres.shape[1]) or space.n > sums.GROUP
        single = single and not space.sparse
        with limited_threads(0 if single else THIN), thread_pool() if single else nullcontext(serial_for) as over:
            for piece, H in space.pieces():
                self._score(piece, H, centres, constants, over, scores)
        return scores, constants

    def _score(
        self, piece: slice, H: Array, centres: Array, constants: Array, over: ParallelFor, scores: Array
    ) -> None:
        """Write the scores of the rows of a piece, by the products of its blocks."""
        blocks = blocks_of(self.space, piece)

        def part(first: int, last: int) -> None:
            for rows in blocks[first:last]:
                block = H[rows.start - piece.start : rows.stop - piece.start]
                scores[rows] = self.block_scores(block, rows, centres, constants)

        over(part, 0, len(blocks), (blocks[0].stop - blocks[0].start) * centres.size)

    def block_scores(self, H: Array, rows: slice, centres: Array, constants: Array) -> Array:
        """Scores of a block: equal to `NearestMeans.on`, but with the distances from the origin already computed."""
        # here and not after the pass, because the products are in the cache
        return minus_distances(H @ centres, constants, self.radii[rows], self.noise[rows])

    def constants(self, centres: Array) -> Array:
        """``|c|² + 2 origin·c``, (b,), of the rounded centres."""
        return self.about.constants(centres)

    def extension(self, centres: Array, constants: Array) -> NearestMeans:
        """Scores of new samples."""
        return NearestMeans(self.space.transform, self.origin, centres, constants)


def blocks_of(space: FeatureSpace, piece: slice) -> list[slice]:
    """The blocks of the block plan that a piece of the rows consists of."""
    in_group = piece.start // sums.GROUP == (piece.stop - 1) // sums.GROUP
    if in_group and piece.stop - piece.start <= block_rows(space.width, space.dtype):
        return [piece]  # the space has many pieces, each of which is one block
    return [rows for rows in space.plan if piece.start <= rows.start < piece.stop]


@final
@attrs.frozen(eq=False)
class KernelMeans:
    """Class means in the space of a kernel.

    Parameters
    ----------
    space : KernelSpace
    K : ndarray of shape (n, n)
    diagonal : ndarray of shape (n,)
    spread : float
        Largest squared distance of a sample from the mean of all samples.
    """

    space: KernelSpace
    K: Array
    diagonal: Array
    spread: float = 0.0

    @classmethod
    def of(cls, space: KernelSpace) -> KernelMeans:
        """The kernel matrix and the spread of the samples, O(n²) besides the kernel matrix."""
        bare = cls(space, space.gram(), space.diag())
        return attrs.evolve(bare, spread=-float(bare.scores(bare.overall(1))[0].min()))

    @property
    def all_equal(self) -> bool:
        """True if all samples are equal up to rounding errors of kernel values."""
        return self.spread == 0.0

    @cached_property
    def noise(self) -> Array:
        """Squared distances that count as 0, of each sample, (n,)."""
        return np.asarray(kernel_noise(np.abs(self.diagonal), self.space.dtype))

    def overall(self, k: int) -> Array:
        """k centres at the mean of all samples: equal weights, (n, k)."""
        return np.full((self.space.n, k), 1.0 / self.space.n)

    def means(self, coded: Coded, sizes: Array | Counts) -> Array:
        """Class means: equal weights of the samples of a class, (n, k)."""
        return coded.targets() / sizes

    def samples(self, index: Indices) -> Array:
        """Centres at single samples: one weight of 1 each, (n, b)."""
        weights = np.zeros((self.space.n, len(index)))
        weights[index, np.arange(len(index))] = 1.0
        return weights

    def scores(self, centres: Array) -> tuple[Array, Array]:
        """Minus squared distances of all samples, (n, b), and the squared norms of the centres, (b,)."""
        products = np.empty(centres.shape)
        for rows in block_plan(self.space.n, self.space.n, self.space.dtype):
            np.matmul(self.K[rows], centres, out=products[rows])
        norms = np.einsum("ij,ij->j", centres, products)
        return minus_distances(products, norms, self.diagonal, self.noise), norms

    def extension(self, centres: Array, norms: Array) -> NearestKernelMeans:
        """Scores of new samples."""
        space = self.space
        return NearestKernelMeans(space.coordinates, space.points, space.kernel, centres, norms)
