"""The sizes of clusters before balancing, by a pass over the costs."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.sums import Sums

__all__ = ["CheapestSizes"]


@final
@attrs.frozen(eq=False)
class CheapestSizes:
    """Part of a pass: how many rows have each label as their cheapest.

    Parameters
    ----------
    k : int
    """

    k: int

    def __call__(self, rows: slice, costs: Array) -> Sums:
        """Sizes of a block, (k,)."""
        return Sums.of(np.bincount(np.argmin(costs, axis=1), minlength=self.k))
