"""Co-association of label columns: how many labelings put two of them into one cluster."""

from __future__ import annotations

from typing import Any

from clusterkit._jit import njit

__all__ = ["agreements", "disagreements"]


@njit
def agreements(columns: Any, found: Any) -> None:
    """Number of members that label columns (u, M) alike, into found (u, u); the diagonal counts known labels."""
    u, M = columns.shape
    for a in range(u):
        for b in range(a, u):
            count = 0
            for m in range(M):
                if columns[a, m] >= 0 and columns[a, m] == columns[b, m]:
                    count += 1
            found[a, b] = count
            found[b, a] = count


@njit
def disagreements(columns: Any, found: Any) -> None:
    """Share of the members knowing both columns that part them, into the condensed found (u (u-1) / 2,)."""
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
            found[place] = apart / both if both > 0 else 1.0
            place += 1
