"""The abstract space: the samples as a solver sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.transform import RowMap, Transform

__all__ = ["Space"]


@attrs.frozen(eq=False)
class Space(ABC):
    """The samples as a solver sees them.

    Parameters
    ----------
    points : ndarray or SparseRows of shape (n, d)
        Coordinates before the last map: where domains live and segments are drawn.
    before : tuple of RowMap
        Maps from the raw data to these coordinates.
    resolved : mapping
        Parameters that the fit of the map decided, for `resolved_`.
    """

    same_products: ClassVar[bool] = True
    """whether predicting the training rows repeats the products of the fit bit for bit"""

    points: Array
    before: tuple[RowMap, ...] = attrs.field(default=(), kw_only=True)
    resolved: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.points)

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64."""
        return self.points.dtype

    @property
    @abstractmethod
    def sparse(self) -> bool:
        """True if what a solver works on (the points of a kernel, or the features) is `SparseRows`."""

    @property
    def coordinates(self) -> Transform:
        """Raw rows to the coordinates of `points`."""
        return Transform(self.before, self.dtype)

    @abstractmethod
    def take(self, index: Array) -> Space:
        """The space of some of its samples."""

    @abstractmethod
    def lean(self) -> Space:
        """The space without n x n matrices kept for speed: what a fit leaves behind."""
