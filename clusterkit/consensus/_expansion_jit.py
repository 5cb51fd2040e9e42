"""Growth of clusters from pivots in a similarity graph, with equal vertices stored once (a group of rows)."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["expand"]

SLACK = 1e-12
"""Similarities are quotients; relative differences below this are rounding."""


@njit
def _nearest(S: Any, b: Any, left: Any) -> Any:
    """The group other than b, with free rows, that is most similar to b; -1 if there is none."""
    nearest = -1
    for c in range(len(left)):
        if c != b and left[c] > 0 and (nearest < 0 or S[b, c] > S[b, nearest]):
            nearest = c
    return nearest


@njit
def _passes(S: Any, a: Any, b: Any, left: Any, nearest: Any, factor: Any) -> Any:
    """Whether a row of group a takes a row of group b: no free row is much more similar to b than a is."""
    if S[a, b] <= 0:
        return False
    bound = S[a, b] * factor
    if left[b] > 1:
        return S[b, b] <= bound
    if nearest[b] == -2:
        nearest[b] = _nearest(S, b, left)
    if nearest[b] == -1 or S[b, nearest[b]] <= bound:
        return True  # rows only leave, so the remaining ones are no more similar
    if left[nearest[b]] > 0:
        return False
    nearest[b] = _nearest(S, b, left)
    return nearest[b] == -1 or S[b, nearest[b]] <= bound


@njit
def expand(S: Any, group: Any, counts: Any, order: Any, relaxation: Any, static: Any) -> Any:
    """Labels of rows by breadth-first growth, exactly as if every row were a vertex of its own.

    Parameters
    ----------
    S : ndarray of shape (u, u)
        Similarity of groups of equal rows; the diagonal has the similarity of two rows of one group.
    group : ndarray of shape (n,)
        Group of each row.
    counts : ndarray of shape (u,)
        Number of rows of each group.
    order : ndarray of shape (n,)
        Rows in the order in which they become pivots.
    relaxation : float
    static : bool
        Whether the most similar row is sought among all rows, not only among the free ones.

    Notes
    -----
    Before the rows are scanned for a row of the queue, the groups are: if no group can pass, no row can, and the scan
    is skipped. O(n + u² + scans n) with one scan for each row of the queue that takes others.
    """
    n, u = len(group), len(counts)
    factor = (1.0 + relaxation) * (1.0 + SLACK)
    left = counts.copy()
    everything = counts.copy()
    judged = everything if static else left
    nearest = np.full(u, -2, np.int64)  # -2: not searched yet, -1: there is none
    labels = np.full(n, -1, np.int64)
    following = np.arange(1, n + 1)  # linked list of the free rows, ascending; n is its end
    head = 0
    queue = np.empty(n, np.int64)
    fruitless = np.full(u, -1, np.int64)  # number of rows visited when the group last took nothing
    visited = 0
    cluster = 0
    for pivot in order:
        if labels[pivot] >= 0:
            continue
        labels[pivot] = cluster
        left[group[pivot]] -= 1
        visited += 1
        queue[0] = pivot
        begin, end = 0, 1
        while begin < end:
            a = group[queue[begin]]
            begin += 1
            if fruitless[a] == visited:
                continue
            possible = False
            for b in range(u):
                if left[b] > 0 and _passes(S, a, b, judged, nearest, factor):
                    possible = True
                    break
            if not possible:
                fruitless[a] = visited
                continue
            before, w = -1, head
            while w < n:
                after = following[w]
                gone = labels[w] >= 0
                if not gone and _passes(S, a, group[w], judged, nearest, factor):
                    labels[w] = cluster
                    left[group[w]] -= 1
                    visited += 1
                    queue[end] = w
                    end += 1
                    gone = True
                if not gone:
                    before = w
                elif before < 0:
                    head = after
                else:
                    following[before] = after
                w = after
        cluster += 1
    return labels
