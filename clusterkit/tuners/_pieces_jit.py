"""Labels of rows outside all clusters: those of the nearest row inside one."""

from __future__ import annotations

import math
from typing import Any

from clusterkit._jit import njit

__all__ = ["fill"]


@njit
def fill(labels: Any, D: Any) -> Any:
    """Labels (m,) with every -1 replaced by the label of the nearest row that has one; `D` (m, m) has the distances.

    O(m) for each row labelled -1; ties go to the lowest index.
    """
    m = len(labels)
    filled = labels.copy()
    for i in range(m):
        if labels[i] < 0:
            least = math.inf
            for j in range(m):
                if labels[j] >= 0 and D[i, j] < least:
                    least = D[i, j]
                    filled[i] = labels[j]
    return filled
