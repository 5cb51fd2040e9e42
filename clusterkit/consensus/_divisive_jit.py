"""DICLENS: the partitions obtained by joining base clusters along a spanning tree, with their scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["join_until", "spanning_tree"]


@njit
def spanning_tree(similarity: Any) -> Any:
    """Edges (E - 1, 2) and similarities of a maximum spanning tree, by Prim's algorithm; ties to the lowest number."""
    E = len(similarity)
    edges = np.empty((E - 1, 2), np.int64)
    values = np.empty(E - 1)
    inside = np.zeros(E, np.bool_)
    best = similarity[0].copy()
    parent = np.zeros(E, np.int64)
    inside[0] = True
    for step in range(E - 1):
        chosen = -1
        for v in range(E):
            if not inside[v] and (chosen < 0 or best[v] > best[chosen]):
                chosen = v
        inside[chosen] = True
        edges[step, 0] = min(parent[chosen], chosen)
        edges[step, 1] = max(parent[chosen], chosen)
        values[step] = best[chosen]
        for v in range(E):
            if not inside[v] and similarity[chosen, v] > best[v]:
                best[v] = similarity[chosen, v]
                parent[v] = chosen
    return edges, values


@njit
def _vote(numbers: Any, root: Any) -> Any:
    """The component that contains most of the base clusters `numbers` of a sample; ties to the lowest."""
    chosen, most = -1, 0
    for m in range(len(numbers)):
        if numbers[m] < 0:
            continue
        component, count = root[numbers[m]], 0
        for other in numbers:
            if other >= 0 and root[other] == component:
                count += 1
        if count > most or (count == most and component < chosen):
            chosen, most = component, count
    return chosen


@njit
def _cohesion(shared: Any, size: Any) -> Any:
    """Mean co-association of two samples of a cluster; 0 for a single sample.

    `shared` (E,) has the number of its samples in each base cluster.
    """
    if size < 2:
        return 0.0
    pairs = 0.0
    for count in shared:
        pairs += count * (count - 1.0) / 2.0
    return pairs / (size * (size - 1.0) / 2.0)


@njit
def _account(shared: Any, size: Any, sign: Any, total: Any) -> Any:
    """Add (sign 1) or subtract (-1) the mean vector of a cluster; its squared length and cohesion with that sign."""
    if size == 0:
        return 0.0, 0.0
    square = 0.0
    for o in range(len(total)):
        value = shared[o] / size
        total[o] += sign * value
        square += value * value
    return sign * square, sign * _cohesion(shared, size)


@njit
def _join(root: Any, edge: Any) -> Any:
    """Join the components of two base clusters; returns the name of the result, the lower one."""
    one, other = root[edge[0]], root[edge[1]]
    one, other = min(one, other), max(one, other)
    for c in range(len(root)):
        if root[c] == other:
            root[c] = one
    return one


@njit
def _coupling(sizes: Any, total: Any, squares: Any) -> Any:
    """The number of clusters, and the mean co-association between pairs of them; 0 for a single cluster.

    `total` is the sum of the mean vectors of all clusters and `squares` that of their squared lengths.
    """
    n_clusters = 0
    for size in sizes:
        if size > 0:
            n_clusters += 1
    if n_clusters < 2:
        return n_clusters, 0.0
    length = 0.0
    for value in total:
        length += value * value
    return n_clusters, (length - squares) / (n_clusters * (n_clusters - 1.0))


@njit
def join_until(numbers: Any, counts: Any, edges: Any, last: Any) -> Any:
    """Join components of base clusters edge by edge, and let the samples vote for a component after each edge.

    Only clusters whose samples changed are scored again. O(E u M² + E² last).

    Parameters
    ----------
    numbers : ndarray of shape (u, M)
        Base cluster of each distinct column in each member; -1 where there is none.
    counts : ndarray of shape (u,)
        Number of samples with that column.
    edges : ndarray of shape (E - 1, 2)
    last : int
        Number of edges to insert.

    Returns
    -------
    label : ndarray of shape (u,)
        Component of each column after the last edge; a component is named by its lowest base cluster.
    cohesion, coupling : ndarray of shape (last + 1,)
        After each number of edges: mean co-association inside clusters, and between pairs of them.
    clusters : ndarray of shape (last + 1,)
    """
    u, M = numbers.shape
    E = len(edges) + 1
    root = np.arange(E)
    label = np.empty(u, np.int64)
    shared = np.zeros((E, E))  # samples that a component has in common with each base cluster
    sizes = np.zeros(E)
    changed = np.zeros(E, np.bool_)
    total = np.zeros(E)
    cohesion, coupling = np.empty(last + 1), np.empty(last + 1)
    clusters = np.empty(last + 1, np.int64)
    squares, inner = 0.0, 0.0
    for t in range(last + 1):
        one = _join(root, edges[t - 1]) if t > 0 else -1
        changed[:] = False
        for a in range(u):
            touched = t == 0
            for m in range(M):
                if numbers[a, m] >= 0 and root[numbers[a, m]] == one:
                    touched = True
            if not touched:
                continue
            now = _vote(numbers[a], root)
            if t > 0 and now == label[a]:
                continue
            for step in range(2):
                c = label[a] if step == 0 else now
                if t == 0 and step == 0:
                    continue
                if not changed[c]:
                    changed[c] = True
                    square, inside = _account(shared[c], sizes[c], -1.0, total)
                    squares += square
                    inner += inside
                weight = -counts[a] if step == 0 else counts[a]
                sizes[c] += weight
                for m in range(M):
                    if numbers[a, m] >= 0:
                        shared[c, numbers[a, m]] += weight
            label[a] = now
        for c in range(E):
            if changed[c]:
                square, inside = _account(shared[c], sizes[c], 1.0, total)
                squares += square
                inner += inside
        clusters[t], coupling[t] = _coupling(sizes, total, squares)
        cohesion[t] = inner / clusters[t]
    return label, cohesion, coupling, clusters
