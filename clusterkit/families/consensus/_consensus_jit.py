"""The compiled loops of the consensus stages.

- `agreements`: the co-association of label columns, the number of labellings that put both into one cluster;
- `join_until`: for DICLENS, the partitions obtained by joining base clusters along a spanning tree, with their scores;
- `expand`: growth of clusters from pivots in a similarity graph, with equal vertices stored once (a group of rows);
- `average_linkage`: average linkage of weighted points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit


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


@njit
def average_linkage(D: Any, counts: Any) -> Any:
    """Merges of average linkage by the nearest-neighbour chain, in no particular order; D (u, u) is overwritten.

    Parameters
    ----------
    D : ndarray of shape (u, u), float64
        Distances.
    counts : ndarray of shape (u,)
        Number of samples at each point: the result equals linking all samples, after the merges of equal ones.

    Returns
    -------
    pairs : ndarray of shape (u - 1, 2)
        One point of each of the two clusters that merge.
    heights : ndarray of shape (u - 1,)

    Notes
    -----
    O(u²). Source: Murtagh 1983; the update of distances: Lance, Williams 1967.
    """
    u = len(D)
    size = counts.astype(np.float64)
    pairs = np.empty((u - 1, 2), np.int64)
    heights = np.empty(u - 1)
    chain = np.empty(u, np.int64)
    length = 0
    for step in range(u - 1):
        if length == 0:
            for a in range(u):
                if size[a] > 0:
                    chain[0] = a
                    length = 1
                    break
        while True:
            a = chain[length - 1]
            # ties go to the predecessor in the chain, otherwise the loop might not end
            b = chain[length - 2] if length > 1 else -1
            for c in range(u):
                if c != a and size[c] > 0 and (b < 0 or D[a, c] < D[a, b]):
                    b = c
            if length > 1 and b == chain[length - 2]:
                break
            chain[length] = b
            length += 1
        length -= 2
        a, b = min(a, b), max(a, b)
        pairs[step, 0] = a
        pairs[step, 1] = b
        heights[step] = D[a, b]
        for c in range(u):
            if c != a and c != b and size[c] > 0:
                D[a, c] = (size[a] * D[a, c] + size[b] * D[b, c]) / (size[a] + size[b])
                D[c, a] = D[a, c]
        size[a] += size[b]
        size[b] = 0.0
    return pairs, heights
