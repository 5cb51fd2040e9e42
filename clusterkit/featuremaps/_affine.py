"""A fitted scaling of each attribute: ``(x - shift) * factor + offset``."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core import shapes
from clusterkit.core.namespaces import BlockFunction, as_type, host_dtype, is_device_array, to_device_of
from clusterkit.core.row_graph import Node
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.survey import extremes

__all__ = ["Affine", "to_range"]


@final
@attrs.frozen(eq=False)
class Affine(BlockFunction):
    """Row map ``(x - shift) * factor + offset``, attribute by attribute.

    Parameters
    ----------
    shift, factor, offset : ndarray of shape (d,)
    """

    columnwise: ClassVar[bool] = True
    """every column of the result depends on the same column of the input alone, so it can have its name"""

    array_api: ClassVar[bool] = True

    shift: Array = attrs.field(validator=shapes.shaped("d"))
    factor: Array = attrs.field(validator=shapes.shaped("d"))
    offset: Array = attrs.field(validator=shapes.shaped("d"))

    @property
    def width(self) -> int:
        """Number of attributes."""
        return len(self.shift)

    def __call__(self, Y: Array) -> Array:
        """Scaled rows, (m, d), computed in float64 and returned in the type of Y, where that lies."""
        if is_device_array(Y):
            scaled = as_type(Y, np.float64) - to_device_of(self.shift, Y, np.float64)
            scaled *= to_device_of(self.factor, Y, np.float64)
            scaled += to_device_of(self.offset, Y, np.float64)
            return as_type(scaled, host_dtype(Y))
        scaled = np.subtract(Y, self.shift, dtype=np.float64)
        scaled *= self.factor
        scaled += self.offset
        return scaled.astype(Y.dtype, copy=False)

    def onnx(self, rows: Node) -> Node:
        """Scaled rows."""
        return (rows - self.shift) * self.factor + self.offset

    def inverse(self, H: Array) -> Array:
        """The rows that are scaled to H, (m, d); a constant attribute has its value again."""
        factor = np.where(self.factor != 0, self.factor, 1.0)
        return np.where(self.factor != 0, (H - self.offset) / factor, 0.0) + self.shift


def to_range(samples: FeatureSpace, low: float, high: float) -> Affine:
    """The scaling of the attributes of some samples to [low, high], in one pass.

    A constant attribute becomes `low` if that is 0 (then it adds nothing to NMF), and the middle of the interval
    otherwise.
    """
    ends = extremes(samples)
    smallest, largest = ends.low.astype(np.float64), ends.high.astype(np.float64)
    spread = largest - smallest
    # a spread so small that its inverse overflows is treated as constant
    constant = spread <= (high - low) / np.finfo(np.float64).max
    factor = np.where(constant, 0.0, (high - low) / np.where(constant, 1.0, spread))
    middle = low if low == 0 else (low + high) / 2
    return Affine(smallest, factor, np.where(constant, middle, low))
