"""Names of types for annotations: arrays, and the values that a user may pass.

The types of what a user may pass are texts, because this is the lowest layer and the stages are above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from clusterkit.contracts import Balancer, Consensus, Driver, FeatureMap, Labeler, Partitioner, Solver, Tuner
    from clusterkit.numerics.sparse_rows import SparseRows
    from clusterkit.samples.rows import Rows as RowsOutside

__all__ = [
    "AnyArray",
    "Array",
    "ArrayLike",
    "BalancerLike",
    "Clusterer",
    "ClustererLike",
    "ConsensusLike",
    "Counts",
    "DriverLike",
    "FeatureMapLike",
    "Floats",
    "Grid",
    "Indices",
    "InitLike",
    "LabelerLike",
    "Labels",
    "Mask",
    "NumberLike",
    "RandomState",
    "Rng",
    "Rows",
    "Samples",
    "Sizes",
    "SolverLike",
    "SparseMatrix",
    "TunerLike",
]

Array: TypeAlias = NDArray[np.floating[Any]]
"""An array of float32 or float64 numbers inside the library; shapes are given where a matrix is born."""

Floats: TypeAlias = Array
"""The same, as a user gets it."""

Labels: TypeAlias = NDArray[np.integer[Any]]
"""Integer labels, shape (n,); -1 is noise."""

Indices: TypeAlias = NDArray[np.integer[Any]]
"""Numbers of rows, of columns, or of other arrays' entries."""

Counts: TypeAlias = NDArray[np.integer[Any]]
"""Whole numbers that count something: sizes of clusters, repetitions of rows, steps."""

Sizes: TypeAlias = NDArray[np.integer[Any] | np.floating[Any]]
"""Bounds of the sizes of clusters: whole numbers, stored as integers or floats."""

Mask: TypeAlias = NDArray[np.bool_]
"""Truth values, one for each sample, column or pair."""

AnyArray: TypeAlias = NDArray[np.generic]
"""An array of any type, where only its entries' equality or its shape matters."""

Rows: TypeAlias = "Array | SparseRows"
"""Samples as the stages get them, shape (n, d)."""

Rng: TypeAlias = np.random.Generator
"""The source of random numbers that a stage gets; a stage draws from nowhere else."""

RandomState: TypeAlias = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None
"""What `clusterkit.contracts.seeds.Seeds.of` takes as the source of all random numbers."""

Parameters: TypeAlias = Mapping[str, object]
"""A stage as a mapping: its ``name``, and the parameters that differ from the defaults."""

# What a slot takes: a name, a mapping with name and parameters, or the stage itself; feature maps may stand in a row.
FeatureMapLike: TypeAlias = "str | Parameters | FeatureMap | Sequence[FeatureMapLike]"
SolverLike: TypeAlias = "str | Parameters | Solver"
LabelerLike: TypeAlias = "str | Parameters | Labeler"
BalancerLike: TypeAlias = "str | Parameters | Balancer"
InitLike: TypeAlias = "str | Parameters | Partitioner"
TunerLike: TypeAlias = "str | Parameters | Tuner"
ConsensusLike: TypeAlias = "str | Parameters | Consensus"
DriverLike: TypeAlias = "str | Parameters | Driver"


NumberLike: TypeAlias = "int | Literal['auto'] | tuple[int, int] | None"
"""What an estimator takes as the number of clusters: a number, "auto" or a pair (least, most) to let it be chosen, or
None where the method finds it."""


class SparseMatrix(Protocol):
    """A sparse matrix or array of scipy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, d)."""

    def toarray(self) -> AnyArray:
        """A dense copy."""


Samples: TypeAlias = "ArrayLike | SparseMatrix | RowsOutside"
"""Samples as a user passes them, shape (n, d): whatever numpy makes an array of, a sparse matrix, or, for fits block by
block, what `clusterkit.open` gives."""


class Clusterer(Protocol):
    """An estimator with the interface of scikit-learn, from this library or another one."""

    def fit(self, X: Samples, /) -> object:
        """Cluster the rows of X."""

    def get_params(self, deep: bool = ...) -> dict[str, object]:
        """Parameters by name."""

    def set_params(self, **params: object) -> object:
        """Change parameters."""


ClustererLike: TypeAlias = str | Clusterer
"""The name of a recipe, or an estimator."""

Grid: TypeAlias = "Mapping[str, Iterable[object]] | Sequence[Mapping[str, Iterable[object]]]"
"""Names of parameters with their values, or several such tables."""
