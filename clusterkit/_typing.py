"""Names of types for annotations: arrays of numbers, labels and truth values, and sources of random numbers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AnyArray",
    "Array",
    "ArrayLike",
    "Counts",
    "Floats",
    "Indices",
    "Labels",
    "Mask",
    "RandomState",
    "Rng",
    "Sizes",
]

Array: TypeAlias = NDArray[np.floating[Any]]
"""An array of float32 or float64 numbers inside the library; shapes are given where a matrix is born."""

Floats: TypeAlias = Array
"""An array of float32 or float64 numbers that a user gets."""

Labels: TypeAlias = NDArray[np.integer[Any]]
"""Integer labels, shape (n,); -1 is noise."""

Indices: TypeAlias = NDArray[np.integer[Any]]
"""Positions of rows, of columns, or of entries of other arrays."""

Counts: TypeAlias = NDArray[np.integer[Any]]
"""Whole numbers that count something: sizes of clusters, repetitions of rows, steps."""

Sizes: TypeAlias = NDArray[np.integer[Any] | np.floating[Any]]
"""Bounds of the sizes of clusters: whole numbers, stored as integers or floats."""

Mask: TypeAlias = NDArray[np.bool_]
"""Truth values, one for each sample, column or pair."""

AnyArray: TypeAlias = NDArray[np.generic]
"""An array of any type, where only its entries' equality or its shape matters."""

Rng: TypeAlias = np.random.Generator
"""The source of random numbers that a stage gets; a stage draws from nowhere else."""

RandomState: TypeAlias = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None
"""What `clusterkit.contracts.seeds.Seeds.of` takes as the source of all random numbers."""
