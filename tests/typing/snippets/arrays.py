"""The names of array types: floats, labels and truth values cannot take each other's place."""

import numpy as np

from clusterkit._typing import AnyArray, Array, Counts, Floats, Indices, Labels, Mask, Sizes


def of_numpy() -> None:
    floats: Array = np.zeros(3, dtype=np.float32)
    labels: Labels = np.zeros(3, dtype=np.int8)
    inside: Mask = floats > 0.5
    not_labels: Labels = np.zeros(3)  # type: ignore[assignment]
    del floats, labels, inside, not_labels


def floats_are_no_labels(floats: Array, labels: Labels, inside: Mask) -> None:
    same: Floats = floats
    rows: Indices = labels
    sizes: Counts = np.bincount(labels)
    labels_of_floats: Labels = floats  # type: ignore[assignment]
    floats_of_labels: Array = labels  # type: ignore[assignment]
    mask_of_floats: Mask = floats  # type: ignore[assignment]
    mask_of_labels: Mask = labels  # type: ignore[assignment]
    labels_of_mask: Labels = inside  # type: ignore[assignment]
    del same, rows, sizes, labels_of_floats, floats_of_labels, mask_of_floats, mask_of_labels, labels_of_mask


def wider_types(floats: Array, labels: Labels, inside: Mask) -> None:
    bounds: tuple[Sizes, Sizes] = (floats, labels)
    anything: tuple[AnyArray, AnyArray, AnyArray] = (floats, labels, inside)
    not_bounds: Sizes = inside  # type: ignore[assignment]
    del bounds, anything, not_bounds
