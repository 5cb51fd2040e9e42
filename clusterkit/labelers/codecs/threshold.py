"""Two clusters by the sign of a score."""

from __future__ import annotations

from typing import ClassVar, Self, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.coding import Coding
from clusterkit.core.namespaces import array_namespace
from clusterkit.core.row_graph import Node
from clusterkit.core.stages import Codec, Task

__all__ = ["Threshold"]


@final
@attrs.frozen
class Threshold(Codec):
    """Two clusters by the sign of one score: label 1 if it is positive, else 0. O(n).

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., section 3 (two classes).
    """

    name: ClassVar[str] = "threshold"
    coding: ClassVar[Coding] = Coding.SIGNED
    rowwise: ClassVar[bool] = True
    array_api: ClassVar[bool] = True
    max_clusters: ClassVar[int | None] = 2

    def codebook(self, k: int) -> Array:
        """The targets -1 and +1, (k, 1)."""
        return np.array([[-1.0], [1.0]])[:k]

    def costs(self, rows: Array, k: int) -> Array:
        """(f, -f): half the difference of the squared errors, so a score of 0 is a tie and goes to label 0."""
        xp = array_namespace(rows)
        join = np.concatenate if xp is np else xp.concat  # numpy 1.26 has no concat
        return join([rows, -rows], axis=1)[:, :k]

    def onnx(self, rows: Node, k: int) -> Node:
        """(f, -f)."""
        return rows.joined(-rows).columns(range(k))

    def calibrate(self, rows: Array, task: Task) -> Self:
        """This codec itself: it has nothing to fit."""
        return self
