"""The data without any change."""

from __future__ import annotations

from typing import ClassVar, final

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.core.spaces import FeatureSpace, build_space
from clusterkit.core.stages import FeatureMap, FittedMap, Task
from clusterkit.core.transform import IdentityMap

__all__ = ["Identity"]


@final
@attrs.frozen
class Identity(FeatureMap):
    """The data without any change, dense or sparse: the map of plain k-means and NMF.

    No computation and no copy.
    """

    name: ClassVar[str] = "identity"
    sparse: ClassVar[bool] = True
    keeps_sparse: ClassVar[bool] = True

    def fit(self, X: Array, task: Task, rng: Rng) -> FeatureSpace:
        """The space of the rows of X (n, d), an array or sparse rows."""
        return build_space(X, IdentityMap(X.shape[1]), storage="dense")

    def row_map(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The identity, without a pass."""
        return FittedMap(IdentityMap(samples.width))
