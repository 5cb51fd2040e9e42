"""Centres that are combinations of samples, and minus the squared distances to them.

Two geometries with the same methods, private to `centroids`. Centres are columns: coordinates about the mean of all
samples (features), or weights of the samples (kernel). Both compute the scores of the training rows by the same block
products as those of new rows, so that predicting the training rows repeats their labels.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.coding import Coded
from clusterkit.core.kernel import Kernel
from clusterkit.core.spaces import FeatureSpace, KernelSpace
from clusterkit.core.transform import Transform, block_plan

__all__ = ["FeatureMeans", "KernelMeans"]

# Rounding errors of a squared distance, in units of eps times the magnitudes it is computed from.
MARGIN = 16.0


@final
@attrs.frozen(eq=False)
class FeatureMeans:
    """Class means of explicit features.

    Parameters
    ----------
    space : FeatureSpace
    origin : ndarray of shape (L,)
        Mean of all samples; distances do not depend on it, but cancellation does.
    radii : ndarray of shape (n,)
        Squared distances to it.
    """

    space: FeatureSpace
    origin: Array
    radii: Array

    @classmethod
    def of(cls, space: FeatureSpace) -> FeatureMeans:
        """Two passes over the features."""
        first: Array | None = None
        total = np.zeros(space.width)
        for _, H in space.blocks():
            first = H[0].astype(np.float64) if first is None else first
            # Differences from a sample: equal samples then have a mean that equals them exactly.
            total += (H - first).sum(axis=0)
        assert first is not None
        origin = first + total / space.n
        radii = np.empty(space.n)
        for rows, H in space.blocks():
            radii[rows] = _squared_lengths(H, origin)
        return cls(space, origin, radii)

    @property
    def flat(self) -> bool:
        """Whether all samples are equal up to rounding errors of their coordinates."""
        eps = float(np.finfo(self.space.dtype).eps)
        return bool(self.radii.max() <= (0.5 * MARGIN * eps) ** 2 * (self.origin @ self.origin))

    @property
    def noise(self) -> float:
        """Squared distances below it are rounding errors."""
        eps, radius = float(np.finfo(self.space.dtype).eps), float(np.sqrt(self.radii.max()))
        return MARGIN * eps * radius * (radius + float(np.linalg.norm(self.origin)))

    def overall(self, k: int) -> Array:
        """The mean of all samples, k times, (L, k)."""
        return np.zeros((self.space.width, k), dtype=self.space.dtype)

    def means(self, coded: Coded, sizes: Array) -> Array:
        """Class means, (L, k)."""
        return self.centres(self.space.adjoint(coded), sizes)

    def centres(self, sums: Array, sizes: Array) -> Array:
        """Class means from the class sums (L, k), of the same shape."""
        return (sums / sizes - self.origin[:, None]).astype(self.space.dtype, copy=False)

    def samples(self, index: Array) -> Array:
        """Centres that are single samples, (L, b)."""
        return (self.space.rows(index) - self.origin).T.astype(self.space.dtype, copy=False)

    def scores(self, centres: Array) -> tuple[Array, Array]:
        """Minus squared distances of all samples, (n, b), and the constants of the centres, (b,)."""
        constants = self.constants(centres)
        return _minus_distances(self.space.apply(centres), constants, self.radii, self.noise), constants

    def constants(self, centres: Array) -> Array:
        """``|c|² + 2 origin·c``, (b,): the products are of h, not of h - origin, with the centres as rounded."""
        C = centres.astype(np.float64, copy=False)
        return np.asarray(np.einsum("ij,ij->j", C, C) + 2.0 * (self.origin @ C))

    def extension(self, centres: Array, constants: Array) -> NearestMeans:
        """The same for new samples."""
        return NearestMeans(self.space.transform, self.origin, centres, constants, self.noise)


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
        Largest squared distance from the mean of all.
    """

    space: KernelSpace
    K: Array
    diagonal: Array
    spread: float = 0.0

    @classmethod
    def of(cls, space: KernelSpace) -> KernelMeans:
        """O(n²) beyond the kernel matrix."""
        bare = cls(space, space.gram(), space.diag().astype(np.float64, copy=False))
        return attrs.evolve(bare, spread=-float(bare.scores(bare.overall(1))[0].min()))

    @property
    def flat(self) -> bool:
        """Whether all samples are equal up to rounding errors of kernel values."""
        return self.spread <= self.noise

    @property
    def noise(self) -> float:
        """Squared distances below it are rounding errors."""
        return MARGIN * float(np.finfo(self.space.dtype).eps * np.abs(self.diagonal).max())

    def overall(self, k: int) -> Array:
        """Equal weights of all samples, k times, (n, k)."""
        return np.full((self.space.n, k), 1.0 / self.space.n, dtype=self.space.dtype)

    def means(self, coded: Coded, sizes: Array) -> Array:
        """Equal weights of the samples of a class, (n, k)."""
        return (coded.targets() / sizes).astype(self.space.dtype, copy=False)

    def samples(self, index: Array) -> Array:
        """Weight one on single samples, (n, b)."""
        alone = np.zeros((self.space.n, len(index)), dtype=self.space.dtype)
        alone[index, np.arange(len(index))] = 1.0
        return alone

    def scores(self, centres: Array) -> tuple[Array, Array]:
        """Minus squared distances of all samples, (n, b), and the squared norms of the centres, (b,)."""
        products = np.empty(centres.shape, dtype=self.space.dtype)
        for rows in block_plan(self.space.n, self.space.n, self.space.dtype):
            np.matmul(self.K[rows], centres, out=products[rows])
        norms = np.einsum("ij,ij->j", centres, products, dtype=np.float64)
        return _minus_distances(products, norms, self.diagonal, self.noise), norms

    def extension(self, centres: Array, norms: Array) -> NearestKernelMeans:
        """The same for new samples."""
        space = self.space
        return NearestKernelMeans(space.coordinates, space.points, space.kernel, centres, norms, self.noise)


@final
@attrs.frozen(eq=False)
class NearestMeans:
    """Minus squared distances of new samples to centres given by coordinates about an origin.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    origin : ndarray of shape (L,)
    centres : ndarray of shape (L, k)
    constants : ndarray of shape (k,)
        ``|c|² + 2 origin·c``.
    noise : float
        Squared distances below it count as 0.
    """

    transform: Transform
    origin: Array
    centres: Array
    constants: Array
    noise: float

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, k), in blocks."""
        scores = np.empty((len(Y), self.centres.shape[1]), dtype=self.transform.dtype)
        for rows, H in self.transform.blocks(Y):
            lengths = _squared_lengths(H, self.origin)
            scores[rows] = _minus_distances(H @ self.centres, self.constants, lengths, self.noise)
        return scores

    def columns(self, index: slice) -> NearestMeans:
        """Some of the centres."""
        return attrs.evolve(self, centres=self.centres[:, index], constants=self.constants[index])


@final
@attrs.frozen(eq=False)
class NearestKernelMeans:
    """Minus squared distances of new samples to centres given by weights of the training samples.

    Parameters
    ----------
    coordinates : Transform
        Raw rows to the coordinates of `points`.
    points : ndarray of shape (n, d)
    kernel : Kernel
    centres : ndarray of shape (n, k)
    norms : ndarray of shape (k,)
        Squared norms of the centres.
    noise : float
        Squared distances below it count as 0.
    """

    coordinates: Transform
    points: Array
    kernel: Kernel
    centres: Array
    norms: Array
    noise: float

    def __call__(self, Y: Array) -> Array:
        """Scores of raw rows, (m, d) to (m, k), in blocks."""
        points = self.coordinates(Y)
        scores = np.empty((len(points), self.centres.shape[1]), dtype=self.points.dtype)
        for rows in block_plan(len(points), len(self.points), self.points.dtype):
            products = self.kernel(points[rows], self.points) @ self.centres
            diagonal = self.kernel.diag(points[rows])
            scores[rows] = _minus_distances(products, self.norms, diagonal, self.noise)
        return scores

    def columns(self, index: slice) -> NearestKernelMeans:
        """Some of the centres."""
        return attrs.evolve(self, centres=self.centres[:, index], norms=self.norms[index])


def _minus_distances(products: Array, constants: Array, lengths: Array, noise: float) -> Array:
    """``2 h·c - constant - |h|²``, the large terms first because they cancel; 0 where it is not below the noise.

    Without the cut the rounding errors of distances that are 0 would tear duplicates apart.
    """
    scores = 2.0 * products.astype(np.float64, copy=False)
    scores -= constants
    scores -= lengths[:, None]
    np.copyto(scores, 0.0, where=scores > -noise)
    return scores.astype(products.dtype, copy=False)


def _squared_lengths(H: Array, origin: Array) -> Array:
    difference = H - origin
    return np.einsum("ij,ij->i", difference, difference)
