"""Names of types for annotations: what a caller may pass for samples, stages, estimators and the number of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from clusterkit._typing import ArrayLike

if TYPE_CHECKING:
    from clusterkit.contracts import Balancer, Consensus, Driver, FeatureMap, Labeler, Partitioner, Solver, Tuner
    from clusterkit.numerics.sparse_rows import SparseMatrix
    from clusterkit.samples.rows import Rows

Parameters: TypeAlias = Mapping[str, object]
"""A stage as a mapping: its ``name``, and the parameters that differ from the defaults."""

# Value of a slot: a name, a mapping with name and parameters, or the stage itself; feature maps may be a sequence.
FeatureMapLike: TypeAlias = "str | Parameters | FeatureMap | Sequence[FeatureMapLike]"
SolverLike: TypeAlias = "str | Parameters | Solver"
LabelerLike: TypeAlias = "str | Parameters | Labeler"
BalancerLike: TypeAlias = "str | Parameters | Balancer"
InitLike: TypeAlias = "str | Parameters | Partitioner"
TunerLike: TypeAlias = "str | Parameters | Tuner"
ConsensusLike: TypeAlias = "str | Parameters | Consensus"
DriverLike: TypeAlias = "str | Parameters | Driver"


NumberLike: TypeAlias = "int | Literal['auto'] | tuple[int, int] | None"
"""Number of clusters as an estimator takes it: a number, "auto" or a pair (least, most) to let it be chosen, or None
where the method finds it."""


SamplesLike: TypeAlias = "ArrayLike | SparseMatrix | Rows"
"""Samples as a user passes them, shape (n, d): whatever numpy makes an array of, a sparse matrix, or, for fits block by
block, what `clusterkit.open` gives."""


class Clusterer(Protocol):
    """An estimator with the interface of scikit-learn, from this library or another one."""

    def fit(self, X: SamplesLike, /) -> object:
        """Cluster the rows of X."""

    def get_params(self, deep: bool = ...) -> dict[str, object]:
        """Parameters by name."""

    def set_params(self, **params: object) -> object:
        """Change parameters."""


ClustererLike: TypeAlias = str | Clusterer
"""The name of a recipe, or an estimator."""

Grid: TypeAlias = "Mapping[str, Iterable[object]] | Sequence[Mapping[str, Iterable[object]]]"
"""Names of parameters with their values, or several such tables."""
