"""A canonical numbering of clusters, for codings that put them on a line."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space

__all__ = ["along_principal_axis"]


def along_principal_axis(space: Space, labels: Labels, k: int) -> Labels:
    """Number clusters by the projection of their means on the first principal axis of these means.

    A single-output coding treats neighbouring numbers as neighbouring clusters, so the numbering is part of its
    input; this one depends on the partition alone. The axis points to where the means are longer, so that
    neither the given numbering nor the order of the samples matters; if they are equally long there, to the larger
    cluster at its end, or the one that appears first.
    """
    coded = Coded(labels[None, :], Coding.ONEHOT, k, np.eye(k))
    sizes = np.maximum(coded.sizes()[0], 1)
    if isinstance(space, FeatureSpace):
        means = (space.adjoint(coded) / sizes).T  # (k, L)
        lengths = np.einsum("ij,ij->i", means, means)
        means = means - means.mean(axis=0)
        products = means @ means.T
    elif isinstance(space, KernelSpace):
        indicator = coded.targets() / sizes
        products = indicator.T @ space.apply(indicator)
        lengths = np.diag(products).copy()
        products = products - products.mean(axis=0) - products.mean(axis=1)[:, None] + products.mean()
    else:  # a space of a plugin that offers neither: keep the numbering it gave
        return labels
    axis: Array = np.linalg.eigh(products)[1][:, -1]
    direction = float(axis @ lengths)
    if abs(direction) <= 1e-9 * lengths.max(initial=0.0):
        ends = np.flatnonzero(np.abs(axis) >= np.abs(axis).max() * (1 - 1e-6))
        appears = np.array([np.argmax(labels == cluster) for cluster in range(k)])
        direction = float(axis[min(ends, key=lambda cluster: (-sizes[cluster], appears[cluster]))])
    axis = axis if direction >= 0 else -axis
    number = np.empty(k, dtype=labels.dtype)
    number[np.argsort(axis, kind="stable")] = np.arange(k)
    return number[labels]
