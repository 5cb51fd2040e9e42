"""Co-association of label columns: the number of labelings that put both into one cluster."""

from __future__ import annotations

from typing import Any

from clusterkit._jit import njit

__all__ = ["agreements", "disagreements"]


@njit
def agreements(columns: Any, counts: Any) -> None:
    """Write the number of members that label two columns (u, M) alike to `counts` (u, u).

    The diagonal counts the known labels. O(u² M).
    """
    u, M = columns.shape
    for a in range(u):
        for b in range(a, u):
            count = 0
            for m in range(M):
                if columns[a, m] >= 0 and columns[a, m] == columns[b, m]:
                    count += 1
            counts[a, b] = count
            counts[b, a] = count


@njit
def disagreements(columns: Any, distances: Any) -> None:
    """Write the fraction of the members that separate two columns to the condensed `distances` (u (u-1) / 2,).

    Only members that know both columns count; without any the distance is 1. O(u² M).
    """
    u, M = columns.shape
    place = 0
    for a in range(u):
        for b in range(a + 1, u):
            both = 0
            apart = 0
            for m in range(M):
                if columns[a, m] >= 0 and columns[b, m] >= 0:
                    both += 1
                    if columns[a, m] != columns[b, m]:
                        apart += 1
            distances[place] = apart / both if both > 0 else 1.0
            place += 1
