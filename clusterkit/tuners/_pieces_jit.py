"""What a search over widths asks of a distance matrix: nearest labels, and the tree of smallest edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["fill", "reachability_tree"]


@njit
def fill(labels: Any, D: Any) -> Any:
    """Labels (m,) with every -1 replaced by the label of the nearest row that has one; `D` is (m, m)."""
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


@njit
def reachability_tree(D: Any, core: Any) -> Any:
    """Minimum spanning tree of ``max(D_ij, core_i, core_j)``: ends (m - 1, 2) and weights (m - 1,); Prim, O(m²).

    Many of these are equal, so D_ij decides among them: without that the tree would depend on the order of the rows.
    """
    m = len(core)
    ends = np.zeros((m - 1, 2), dtype=np.int64)
    weights = np.zeros(m - 1)
    least = np.full(m, math.inf)
    direct = np.full(m, math.inf)
    parent = np.zeros(m, dtype=np.int64)
    done = np.zeros(m, dtype=np.bool_)
    last = 0
    done[0] = True
    for edge in range(m - 1):
        following = -1
        for j in range(m):
            if done[j]:
                continue
            weight = max(D[last, j], core[last], core[j])
            if weight < least[j] or (weight == least[j] and D[last, j] < direct[j]):
                least[j], direct[j], parent[j] = weight, D[last, j], last
            if (
                following < 0
                or least[j] < least[following]
                or (least[j] == least[following] and direct[j] < direct[following])
            ):
                following = j
        ends[edge, 0], ends[edge, 1] = parent[following], following
        weights[edge] = least[following]
        done[following] = True
        last = following
    return ends, weights
