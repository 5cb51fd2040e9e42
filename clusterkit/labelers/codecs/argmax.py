"""Clusters by the column with the largest score."""

from __future__ import annotations

from typing import ClassVar, Self, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.coding import Coding
from clusterkit.core.row_graph import Node
from clusterkit.core.stages import Codec, Task

__all__ = ["Argmax"]


@final
@attrs.frozen
class Argmax(Codec):
    """Cluster of the largest of k scores, ties to the lowest number: the nearest one-hot target. O(n k).

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., section 3 (multi-output).
    """

    name: ClassVar[str] = "argmax"
    coding: ClassVar[Coding] = Coding.ONEHOT
    rowwise: ClassVar[bool] = True
    array_api: ClassVar[bool] = True
    largest: ClassVar[bool] = True

    def codebook(self, k: int) -> Array:
        """The k unit vectors, (k, k)."""
        return np.eye(k)

    def costs(self, rows: Array, k: int) -> Array:
        """-f, which is half of ``|f - e_j|²`` up to a constant of the row."""
        return -rows

    def onnx(self, rows: Node, k: int) -> Node:
        """-f."""
        return -rows

    def calibrate(self, rows: Array, task: Task) -> Self:
        """This codec itself: it has nothing to fit."""
        return self
