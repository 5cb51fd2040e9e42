"""The abstract space: the samples as a solver sees them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core import shapes
from clusterkit.core.transform import RowMap, Transform

__all__ = ["Space", "check_saved_names"]


@attrs.frozen(eq=False)
class Space(ABC):
    """The samples as a solver sees them.

    Parameters
    ----------
    points : ndarray or SparseRows of shape (n, d)
        Coordinates before the last map, in which domains are described and segments are drawn.
    before : tuple of RowMap
        Maps from the raw data to these coordinates.
    resolved : mapping
        Values of parameters that the fit of the map chose, for `resolved_`.
    """

    same_products: ClassVar[bool] = True
    """True if predicting the training rows repeats the products of the fit bit for bit."""

    in_memory: ClassVar[bool] = True
    """False for samples that an engine reads: their points are not here."""

    points: Array = attrs.field(validator=shapes.shaped("n", "d"))
    before: tuple[RowMap, ...] = attrs.field(default=(), kw_only=True)
    resolved: Mapping[str, object] = attrs.field(factory=dict, kw_only=True)

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
    def by_blocks(self) -> bool:
        """Whether first labels are a function of blocks: of dense features above one group, or outside memory."""
        return False

    @property
    def coordinates(self) -> Transform:
        """The map from raw rows to the coordinates of `points`."""
        return Transform(self.before, self.dtype)

    def scaled_points(self) -> Array:
        """The points, scaled if the last map scales attributes before anything else, (n, d): where starts measure."""
        return self.points

    @abstractmethod
    def take(self, index: Indices) -> Space:
        """The space of some of the samples."""

    @abstractmethod
    def lean(self) -> Space:
        """The space without the n x n matrices that are kept for speed; a finished fit holds this one."""


def check_saved_names(cls: type, fields: Mapping[str, object], last: str) -> None:
    """Raise ValueError unless a file has exactly what every space has, and the field of this class."""
    names = {"points", "before", "resolved", last}
    if fields.keys() != names:
        raise ValueError(f"{cls.__name__} needs {', '.join(sorted(names))}, and the file has {', '.join(fields)[:80]}")
