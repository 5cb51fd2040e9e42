"""A canonical numbering of clusters, for codings that put them on a line."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space

__all__ = ["along_principal_axis", "principal_numbers"]


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
    return labels  # a space of a plugin that offers neither: keep the numbering it gave


def principal_numbers(means: Array, sizes: Array, appears: Indices) -> Labels:
    """The new number of each cluster, (k,), from the means (k, L), the sizes, and where each appears first."""
    lengths = np.einsum("ij,ij->i", means, means)
    means = means - means.mean(axis=0)
    return _numbers(means @ means.T, lengths, sizes, appears)


def _numbers(products: Array, lengths: Array, sizes: Array, appears: Indices) -> Labels:
    """The same from the inner products of the centred means and their squared lengths."""
    axis: Array = np.linalg.eigh(products)[1][:, -1]
    direction = float(axis @ lengths)
    if abs(direction) <= 1e-9 * lengths.max(initial=0.0):
        ends = np.flatnonzero(np.abs(axis) >= np.abs(axis).max() * (1 - 1e-6))
        direction = float(axis[min(ends, key=lambda cluster: (-sizes[cluster], appears[cluster]))])
    axis = axis if direction >= 0 else -axis
    number = np.empty(len(axis), dtype=np.intp)
    number[np.argsort(axis, kind="stable")] = np.arange(len(axis))
    return number
