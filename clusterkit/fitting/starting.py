"""A canonical numbering of clusters, in memory and outside, for codings that put the clusters on a line."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts import BlockLabels, Task
from clusterkit.fitting.pass_iterations import BlockLabeler
from clusterkit.samples import FeatureSpace, KernelSpace, Space
from clusterkit.samples.array_libraries import BlockFunction, array_namespace, is_device_array, to_device_of, to_host
from clusterkit.samples.coding import Coded, Coding, unit_vectors
from clusterkit.samples.rows_space import RowsSpace
from clusterkit.samples.sums import Sums, class_totals


def along_principal_axis(space: Space, labels: Labels, k: int, weights: Array | None = None) -> Labels:
    """Number clusters by the projection of their means on the first principal axis of these means.

    A single-output coding treats neighbouring numbers as neighbouring clusters, so the numbering is part of its
    input; this one depends on the partition alone. The axis points to where the means are longer, so that
    neither the given numbering nor the order of the samples matters; if they are equally long there, to the larger
    cluster at its end, or the one that appears first. `weights` (n,) count the samples.
    """
    coded = Coded(labels[None, :], Coding.ONEHOT, k, np.eye(k), weights)
    sizes = coded.sizes()[0]
    sizes = np.where(sizes > 0, sizes, 1)
    appears = np.array([np.argmax(labels == cluster) for cluster in range(k)])
    if isinstance(space, FeatureSpace):
        return principal_numbers((space.adjoint(coded) / sizes).T, sizes, appears)[labels]
    if isinstance(space, KernelSpace):
        indicator = coded.targets() / sizes
        products = indicator.T @ space.apply(indicator)
        lengths = np.diag(products).copy()
        products = products - products.mean(axis=0) - products.mean(axis=1)[:, None] + products.mean()
        return _numbers(products, lengths, sizes, appears)[labels]
    return labels  # a plugin's space with neither features nor a kernel: no axis to project on


def principal_numbers(means: Array, sizes: Array, appears: Indices) -> Labels:
    """The new number of each cluster, (k,), from the means (k, L), the sizes, and where each appears first."""
    lengths = np.einsum("ij,ij->i", means, means)
    means = means - means.mean(axis=0)
    return _numbers(means @ means.T, lengths, sizes, appears)


def _numbers(products: Array, lengths: Array, sizes: Array, appears: Indices) -> Labels:
    """New cluster numbers, (k,), from the inner products (k, k) of the centred means and their squared lengths."""
    axis: Array = np.linalg.eigh(products)[1][:, -1]
    direction = float(axis @ lengths)
    if abs(direction) <= 1e-9 * lengths.max(initial=0.0):
        ends = np.flatnonzero(np.abs(axis) >= np.abs(axis).max() * (1 - 1e-6))
        direction = float(axis[min(ends, key=lambda cluster: (-sizes[cluster], appears[cluster]))])
    axis = axis if direction >= 0 else -axis
    number = np.empty(len(axis), dtype=np.intp)
    number[np.argsort(axis, kind="stable")] = np.arange(len(axis))
    return number


def numbered_along_axis(space: RowsSpace, begin: BlockLabeler, task: Task) -> BlockLabeler:
    """The labels of a start, renumbered like those of `along_principal_axis`, for rows outside memory: one pass."""
    # the sum has the type of its parts, which the type of the engine does not say
    classes: _Classes = space.engine.reduce(_ClassesOf(begin, task.k, task.sample_weight), space.source, space.width)
    class_sums, sizes = classes.sums.arrays
    sizes = np.where(sizes > 0, sizes, 1)
    # a cluster without rows appears nowhere; in memory it counts as appearing in the first row
    appears = np.where(classes.appears < task.n, classes.appears, 0)
    assert begin.start is not None
    numbers = principal_numbers((class_sums / sizes).T, sizes, appears)
    return attrs.evolve(begin, start=_Numbered(begin.start, numbers))


@final
@attrs.frozen(eq=False)
class _Numbered(BlockFunction):
    """The labels of a block under other numbers."""

    labels: BlockLabels
    numbers: Labels

    def __call__(self, rows: slice, H: Array) -> Labels:
        labels = self.labels(rows, H)
        if is_device_array(labels):
            return array_namespace(labels).take(to_device_of(self.numbers, labels), labels, axis=0)
        return self.numbers[labels]


@final
@attrs.frozen(eq=False)
class _Classes:
    """Class sums and sizes, and the first row of each class."""

    sums: Sums
    appears: Indices

    def to_host(self) -> _Classes:
        """A copy with the sums on the host."""
        return _Classes(self.sums.to_host(), self.appears)

    def __add__(self, following: _Classes) -> _Classes:
        return _Classes(self.sums + following.sums, np.minimum(self.appears, following.appears))


@final
@attrs.frozen(eq=False)
class _ClassesOf(BlockFunction):
    """The part of a block of raw rows."""

    begin: BlockLabeler
    k: int
    weights: Array | None

    def __call__(self, rows: slice, X: Array) -> _Classes:
        H = self.begin.transform(X)
        labels, _ = self.begin.on(rows, X, H)
        weights = None if self.weights is None else self.weights[rows]
        coded = Coded(labels[None, :], Coding.ONEHOT, self.k, unit_vectors(self.k), weights)
        appears = np.full(self.k, np.iinfo(np.intp).max, dtype=np.intp)
        present, first = np.unique(to_host(labels), return_index=True)
        appears[present] = first + rows.start
        return _Classes(Sums.of(*class_totals(H, coded)), appears)
