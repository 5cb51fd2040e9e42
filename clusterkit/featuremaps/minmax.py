"""Scaling of each attribute to a range."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs

from clusterkit._typing import Rng
from clusterkit.core import params
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import FeatureMap, FittedMap, Task
from clusterkit.featuremaps._affine import to_range

__all__ = ["MinMax"]


@final
@attrs.frozen
class MinMax(FeatureMap):
    """Scales each attribute linearly to a range; the scaling is fitted on the clustered data.

    For attributes in different units, before any method that measures distances, and with [0, 1] before NMF. New data
    outside the range of the clustered data are not clipped. O(n d).

    Parameters
    ----------
    limits : (float, float), default (0, 1)
        The new minimum and maximum. A constant attribute becomes 0 if the minimum is 0, and the middle otherwise.

    References
    ----------
    He, Jin, Du, Zhuang, Shi (2014), Clustering in extreme learning machine feature space, Neurocomputing, eq. (9).
    """

    name: ClassVar[str] = "minmax"
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    limits: tuple[float, float] = params.interval((0.0, 1.0))

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        """True if the lower limit is nonnegative."""
        return self.limits[0] >= 0

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The scaling, in one pass over the samples."""
        return FittedMap(to_range(samples, *self.limits))
