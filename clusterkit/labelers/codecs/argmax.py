"""The column with the largest score."""

from __future__ import annotations

from typing import ClassVar, Self, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.coding import Coding
from clusterkit.core.stages import Codec, Task

__all__ = ["Argmax"]


@final
@attrs.frozen
class Argmax(Codec):
    """The column with the largest score, ties the lowest: the nearest one-hot target. O(n k).

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., section 3 (multi-output).
    """

    name: ClassVar[str] = "argmax"
    coding: ClassVar[Coding] = Coding.ONEHOT
    largest: ClassVar[bool] = True

    def codebook(self, k: int) -> Array:
        """Unit vectors."""
        return np.eye(k)

    def costs(self, rows: Array, k: int) -> Array:
        """-f: half of |f - e_j|² up to a constant of the row."""
        return -rows

    def calibrate(self, rows: Array, task: Task) -> Self:
        """Nothing to fit."""
        return self
