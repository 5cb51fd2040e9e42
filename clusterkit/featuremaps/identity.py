"""The data without any change."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs

from clusterkit._typing import Rng
from clusterkit.core.spaces import FeatureSpace
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
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    sparse: ClassVar[bool] = True
    keeps_sparse: ClassVar[bool] = True

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The identity, without a pass."""
        return FittedMap(IdentityMap(samples.width))
