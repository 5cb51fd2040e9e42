"""The hierarchy of a spanning tree, in which merges of equal height are one node, and clusters cut off from it.

**HDBSCAN** (`excess_of_mass`): the condensed hierarchy and its most stable clusters, in linear sweeps over the nodes.
With ``λ = 1 / height``, the rows of a cluster leave it one after the other as λ grows, in groups of fewer than
`min_cluster_size`; where two or more larger groups separate, the cluster ends and each of them is a new one. The
stability of a cluster is ``Σ (λ at which a row leaves - λ at which the cluster began)`` over its rows. Clusters are
chosen so that the sum of their stabilities is largest, none within another.

**Genie's rule** (`genie`): single linkage that goes on with the smallest cluster where sizes become uneven.

**The mass cut** (`persistence`, `components`): how long the clusters of a spanning tree last, and the parts of the tree
without some of its edges.

**Links** (`linked_forest`): what belongs together is joined first, merges of what is apart are refused.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Counts, Indices, Labels, Mask
from clusterkit.numerics.structures_jit import find, join, roots


class Hierarchy(NamedTuple):
    """Nodes 0..n-1 are the rows, and node n + i a merge at ``height[n + i]``; the last node is the root.

    A parent has a higher number than its children and is higher than they are; rows have height 0. `size` counts rows,
    and `first` is the lowest row below a node. The parent of the root is -1. Whole numbers have 32 bits, which halves
    the memory that the sweeps over the nodes read in no order.
    """

    parent: Indices
    height: Array
    size: Counts
    first: Indices


def hierarchy(merges: Indices, heights: Array) -> Hierarchy:
    """The hierarchy of merges (n - 1, 2) in ascending height; merges of one height that touch become one node.

    The result is the same for every minimum spanning tree of the rows.
    """
    (parent, height, size, first), ties = _binary(merges, heights)
    nodes = len(parent)
    if ties:
        room = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
        nodes = _without_ties(len(merges) + 1, parent, height, size, first, *room)
    return Hierarchy(parent[:nodes], height[:nodes], size[:nodes], first[:nodes])


def binary_hierarchy(merges: Indices, heights: Array) -> Hierarchy:
    """The hierarchy in which each merge (n - 1, 2) is a node of two children, in the order of the merges."""
    return _binary(merges, heights)[0]


def _binary(merges: Indices, heights: Array) -> tuple[Hierarchy, bool]:
    """The merges as nodes, and whether any has a child of its height."""
    n = len(merges) + 1
    nodes = 2 * n - 1
    parent, height = np.full(nodes, -1, np.int32), np.zeros(nodes)
    size, first = np.ones(nodes, np.int32), np.arange(nodes, dtype=np.int32)
    # disjoint sets: the lowest row of a set has -1 - (the node of the set), every other row a lower row of the set
    link = np.arange(-1, -n - 1, -1, dtype=np.int32)
    ties = _merge(merges, heights, parent, height, size, first, link)
    return Hierarchy(parent, height, size, first), ties


@njit
def _merge(
    merges: Indices, heights: Array, parent: Indices, height: Array, size: Counts, first: Indices, link: Indices
) -> bool:
    """Write the nodes of the merges, and return whether any has a child of its height."""
    n = len(merges) + 1
    ties, begin = False, 0
    for i in range(n - 1):
        if heights[i] > heights[begin]:
            begin = i
        a, b = _lowest(link, merges[i, 0]), _lowest(link, merges[i, 1])
        low, high = min(a, b), max(a, b)
        u, v, node = -1 - link[low], -1 - link[high], n + i
        parent[u], parent[v] = node, node
        height[node], size[node], first[node] = heights[i], size[u] + size[v], low
        ties |= max(u, v) >= n + begin
        link[high] = low
        link[low] = -1 - node
    return ties


@inner
def _lowest(link: Indices, i: int) -> int:
    """The lowest row of the set of row i. The path is halved on the way."""
    while link[i] >= 0:
        up = link[i]
        if link[up] >= 0:
            link[i] = link[up]
        i = up
    return i


@njit
def _without_ties(
    n: int, parent: Indices, height: Array, size: Counts, first: Indices, same: Indices, number: Indices
) -> int:
    """Join each merge at the height of its parent with the parent; returns the number of nodes left, at the front."""
    for v in range(len(parent) - 1, -1, -1):
        p = parent[v]
        same[v] = same[p] if v >= n and p >= 0 and height[p] == height[v] else v
    count = 0
    for v in range(len(parent)):
        if same[v] == v:
            number[v] = count
            count += 1
    for v in range(len(parent)):
        if same[v] == v:  # number[v] is at most v: only values already read are overwritten
            u, p = number[v], parent[v]
            height[u], size[u], first[u] = height[v], size[v], first[v]
            parent[u] = number[same[p]] if p >= 0 else -1
    return count


@njit
def trunks(tree: Hierarchy) -> Indices:
    """The trunk of each node, the child from which the others are cut off: the largest; on ties with the lowest row."""
    trunk = np.full(len(tree.parent), -1)
    for v in range(len(tree.parent) - 1):
        p = tree.parent[v]
        u = trunk[p]
        if u < 0 or tree.size[v] > tree.size[u] or (tree.size[v] == tree.size[u] and tree.first[v] < tree.first[u]):
            trunk[p] = v
    return trunk


@njit
def cut_off(tree: Hierarchy, cuts: Mask, n: int) -> Labels:
    """The lowest cluster that contains each row and is cut off, or the row itself, (n,); else the root."""
    root = len(tree.parent) - 1
    owner = np.empty(root + 1, np.int64)
    owner[root] = root
    for v in range(root - 1, -1, -1):
        owner[v] = v if cuts[v] else owner[tree.parent[v]]
    return owner[:n]


class Extracted(NamedTuple):
    """The chosen cluster of each row or -1, (n,), its degree of membership in it and its outlier score.

    `birth` and `death` are the λ at which each cluster of the condensed hierarchy begins, and loses its last rows.
    """

    owner: Labels
    probability: Array
    outlier_score: Array
    birth: Array
    death: Array


@inner
def _excess(leaving: float, birth: float) -> float:
    """``leaving - birth``, 0 where both are infinite, as for equal rows without any others."""
    return 0.0 if birth == np.inf else leaving - birth


class Condensed(NamedTuple):
    """The clusters of at least a size in a hierarchy; cluster 0 is the root.

    `cluster` is the cluster of each node, and `fall` the λ at which a node that has left it did so. For each cluster
    there are the λ at which it begins (`birth`), the cluster above or -1, the stability, the λ at which its last rows
    leave it or it divides (`death`), and the rows with which it begins (`size`).
    """

    cluster: Labels
    fall: Array
    birth: Array
    above: Labels
    stability: Array
    death: Array
    size: Counts


def condense(tree: Hierarchy, n: int, min_cluster_size: int) -> Condensed:
    """The clusters of at least `min_cluster_size` rows; O(n)."""
    nodes = len(tree.parent)
    large = np.zeros(nodes, np.int32)  # children that can be clusters
    cluster, fall, fallen = np.empty(nodes, np.int32), np.zeros(nodes), np.zeros(nodes, np.bool_)
    most = 2 * (n // min_cluster_size) + 1  # each division of a cluster makes one more that is not divided later
    birth, above, stability, death = np.zeros(most), np.full(most, -1), np.zeros(most), np.zeros(most)
    size = np.full(most, n)
    count = _condense(*tree[:3], min_cluster_size, large, cluster, fall, fallen, birth, above, stability, death, size)
    return Condensed(cluster, fall, birth[:count], above[:count], stability[:count], death[:count], size[:count])


def excess_of_mass(
    tree: Hierarchy,
    n: int,
    min_cluster_size: int,
    single: bool,
    *,
    leaves: bool = False,
    epsilon: float = 0.0,
    max_cluster_size: int | None = None,
) -> Extracted:
    """The clusters of largest excess of mass; the root counts as one only if `single`.

    Rows that leave the root before it ends are noise, as in McInnes and Healy, because every row is in the root. The
    root begins where they have left it. A root of fewer than `min_cluster_size` rows is no cluster.

    Parameters
    ----------
    leaves : bool
        Take the clusters that are not divided instead.
    epsilon : float
        Height below which no cluster may begin: the nearest one above it that begins higher takes its place.
    max_cluster_size : int or None
        Clusters that begin with more rows are not taken; the root has those of the clusters that it divides into.
    """
    condensed = condense(tree, n, min_cluster_size)
    cluster, fall, birth, above, stability, death, size = condensed
    count = len(birth)
    size = size.copy()
    size[0] = size[above == 0].sum()
    within, deep, chosen = np.full(count, -1), death.copy(), np.zeros(count, np.bool_)
    least = n + 1 if max_cluster_size is None else max_cluster_size
    best, below = stability.copy(), np.zeros(count)
    _choose(stability, above, size, least, single, leaves, chosen, best, below, within, deep)
    if epsilon > 0.0 and count > 1 and not (chosen[0] and within[0] == 0):
        _raise_to(birth, above, epsilon, single, chosen, within)
    owner, probability, score = np.empty(n, np.int64), np.zeros(n), np.zeros(n)
    _of_rows(cluster, fall, within, death, deep, owner, probability, score)
    birth = birth.copy()
    if within[0] == 0:
        # the root ends where it divides, with epsilon at that height
        end = death[0] if epsilon == 0.0 else 1.0 / epsilon
        early = fall[:n] < end if n >= min_cluster_size else np.ones(n, np.bool_)
        owner[early], probability[early] = -1, 0.0
        birth[0] = end
    return Extracted(owner, probability, score, birth, death)


@njit
def _condense(
    parent: Indices,
    height: Array,
    size: Counts,
    min_cluster_size: int,
    large: Counts,
    cluster: Labels,
    fall: Array,
    fallen: Mask,
    birth: Array,
    above: Labels,
    stability: Array,
    death: Array,
    begins: Counts,
) -> int:
    """The clusters of the condensed hierarchy, and their number.

    Nodes get the `cluster` that they are in and, once they have left it, the λ at which they left (`fallen`, `fall`).
    """
    root = len(parent) - 1
    for v in range(root):
        large[parent[v]] += size[v] >= min_cluster_size
    cluster[root], count = 0, 1
    for v in range(root - 1, -1, -1):
        p = parent[v]
        c = cluster[p]
        if fallen[p]:
            cluster[v], fall[v], fallen[v] = c, fall[p], True
            continue
        level = np.inf if height[p] == 0 else 1.0 / height[p]
        if size[v] >= min_cluster_size and large[p] == 1:
            cluster[v] = c
            continue
        stability[c] += _excess(level, birth[c]) * size[v]
        death[c] = max(death[c], level)
        if size[v] < min_cluster_size:
            cluster[v], fall[v], fallen[v] = c, level, True
        else:
            cluster[v], birth[count], above[count], begins[count] = count, level, c, size[v]
            count += 1
    return count


@njit
def _choose(
    stability: Array,
    above: Labels,
    size: Counts,
    largest: int,
    single: bool,
    leaves: bool,
    chosen: Mask,
    best: Array,
    below: Array,
    within: Labels,
    deep: Array,
) -> None:
    """The chosen cluster that contains each cluster (`within`), or -1, and the largest death in or below each.

    Chosen are those of the largest sum of stabilities, none with more rows than `largest`; or all that are not divided.
    """
    count = len(stability)
    divided = np.zeros(count, np.bool_)
    for c in range(count - 1, -1, -1):
        chosen[c] = not divided[c] if leaves else below[c] <= stability[c] and size[c] <= largest
        chosen[c] = chosen[c] and (c > 0 or (single and not leaves))
        if not chosen[c]:
            best[c] = below[c]
        if c > 0:
            divided[above[c]] = True
            below[above[c]] += best[c]
            deep[above[c]] = max(deep[above[c]], deep[c])
    highest(above, chosen, within)


@njit
def highest(above: Labels, chosen: Mask, within: Labels) -> None:
    """The highest chosen cluster that contains each cluster, or -1."""
    for c in range(len(above)):
        if above[c] >= 0 and within[above[c]] >= 0:
            within[c] = within[above[c]]
        else:
            within[c] = c if chosen[c] else -1


@njit
def _raise_to(birth: Array, above: Labels, epsilon: float, single: bool, chosen: Mask, within: Labels) -> None:
    """Replace chosen clusters that begin below the height epsilon by the nearest ones above them that begin higher.

    The root takes the place of a cluster only if `single`. Malzer, Baum (2020).
    """
    count = len(birth)
    raised = np.zeros(count, np.bool_)
    for c in range(count):
        if within[c] != c:
            continue
        v = c
        if 1.0 / birth[c] < epsilon:
            while True:
                up = above[v]
                if up == 0:
                    if single:
                        v = 0
                    break
                v = up
                if 1.0 / birth[v] > epsilon:
                    break
        raised[v] = True
    for c in range(count):
        chosen[c] = raised[c]
        within[c] = -1
    highest(above, chosen, within)


@njit
def _of_rows(
    cluster: Labels,
    fall: Array,
    within: Labels,
    death: Array,
    deep: Array,
    owner: Labels,
    probability: Array,
    score: Array,
) -> None:
    """Write the chosen cluster of each row (`owner`), its degree of membership and its outlier score, each (n,)."""
    for i in range(len(owner)):
        c = cluster[i]
        owner[i] = within[c]
        # a cluster that no row ever leaves does not exist; infinite λ belong to equal rows
        if owner[i] >= 0:
            last = death[owner[i]]
            probability[i] = 1.0 if fall[i] >= last else fall[i] / last
        if fall[i] < deep[c]:
            score[i] = 1.0 if deep[c] == np.inf else (deep[c] - fall[i]) / deep[c]


@inner
def _add(sums: Counts, size: int, clusters: int) -> None:
    """Add clusters of a size to a Fenwick tree (n + 1, 2) of clusters and their rows: O(log n), as its sums are."""
    place, rows = size, clusters * size
    while place < len(sums):
        sums[place, 0] += clusters
        sums[place, 1] += rows
        place += place & -place


@inner
def _apart(sums: Counts, size: int, clusters: int, rows: int) -> int:
    """Sum of ``|c - size|`` over the sizes c of all clusters."""
    few, below, place = 0, 0, size
    while place > 0:
        few += sums[place, 0]
        below += sums[place, 1]
        place -= place & -place
    return size * few - below + (rows - below) - size * (clusters - few)


def genie(merges: Indices, first_equal: Indices, k: int, gini: float, parts: int = 1) -> Labels:
    """Labels of k clusters, as any numbers, from the edges of a spanning tree in ascending order.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 2)
    first_equal : ndarray of shape (n,)
        The first row equal to each row. Equal rows are one cluster from the start, as edges of length 0 would make it.
    k : int
    gini : float
        Largest Gini index ``Σ_{i<j} |c_i - c_j| / ((m - 1) n)`` of the sizes c of m clusters at which the shortest edge
        is taken. Above, it is the shortest edge with an end in a cluster of the smallest size.
    parts : int
        Number of trees that stay apart: the last ``parts - 1`` edges are between them, and are never taken.

    Notes
    -----
    The sum is kept as a whole number, with the sizes in a Fenwick tree: O(n log n).
    """
    n = len(merges) + 1
    parent, sums = np.arange(n), np.zeros((n + 1, 2), np.int64)
    after, before = np.arange(1, n + 1), np.arange(-1, n - 1)  # of the edges left; n - 1 is the end
    size, of_size = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)
    _merge_even(merges, n - parts, first_equal, max(k, parts), gini, parent, sums, after, before, size, of_size)
    return parent


@njit
def _merge_even(
    merges: Indices,
    usable: int,
    first_equal: Indices,
    k: int,
    gini: float,
    parent: Labels,
    sums: Counts,
    after: Indices,
    before: Indices,
    size: Counts,
    of_size: Counts,
) -> None:
    n = len(merges) + 1
    for i in range(n):
        parent[i] = first_equal[i]
        size[first_equal[i]] += 1
    spread, clusters, rows = 0, 0, 0
    for i in range(n):
        if size[i] > 0:
            spread += _apart(sums, size[i], clusters, rows)
            _add(sums, size[i], 1)
            of_size[size[i]] += 1
            clusters, rows = clusters + 1, rows + size[i]
    smallest, pointer, pointed, head = 1, 0, 0, 0
    while clusters > k:
        edge = head
        if spread > gini * (clusters - 1) * n:
            while of_size[smallest] == 0:
                smallest += 1
            if pointed != smallest:
                pointer, pointed = head, smallest
            # an edge that is passed over gets no end of this size any more
            while (
                pointer < usable
                and size[find(parent, merges[pointer, 0])] != smallest
                and size[find(parent, merges[pointer, 1])] != smallest
            ):
                pointer = after[pointer]
            if pointer < usable:
                edge = pointer
            else:  # all clusters of the smallest size are whole trees: the next size
                smallest, pointed = smallest + 1, 0
                continue
        if edge == pointer:
            pointer = after[edge]
        if before[edge] >= 0:
            after[before[edge]] = after[edge]
        else:
            head = after[edge]
        if after[edge] < n - 1:
            before[after[edge]] = before[edge]
        a, b = find(parent, merges[edge, 0]), find(parent, merges[edge, 1])
        if a == b:  # between equal rows
            continue
        s, t = size[a], size[b]
        join(parent, a, b)
        size[find(parent, a)] = s + t
        rows = n
        for old in (s, t):
            spread -= _apart(sums, old, clusters, rows)
            _add(sums, old, -1)
            of_size[old] -= 1
            clusters, rows = clusters - 1, rows - old
        spread += _apart(sums, s + t, clusters, rows)
        _add(sums, s + t, 1)
        of_size[s + t] += 1
        clusters += 1
    for i in range(n):
        parent[i] = find(parent, i)


@njit
def components(merges: Indices, dropped: Mask) -> Labels:
    """The lowest row of the component of each row in the tree without the dropped edges."""
    parent = np.arange(len(merges) + 1)
    for e in range(len(merges)):
        if not dropped[e]:
            join(parent, merges[e, 0], merges[e, 1])
    return roots(parent)


@njit
def linked_forest(
    merges: Indices,
    heights: Array,
    together: Indices,
    height: float,
    of_row: Labels,
    starts: Indices,
    near: Indices,
) -> tuple[Indices, Array, int]:
    """Edges (n - 1, 2) of a tree and their lengths, of which the first that are returned as a number are accepted.

    Edges between rows that belong together come first, then those of the tree in their order, without those that would
    close a circle or join components with groups that are apart. The last edges join the components that are left to
    the first one.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 2)
    heights : ndarray of shape (n - 1,)
        Ascending.
    together : ndarray of shape (t, 2)
        Pairs of rows that belong together.
    height : float
        Length of the edges between them, at most that of all others.
    of_row : ndarray of shape (n,)
        Group of each row, or -1.
    starts, near : ndarray
        Groups that are apart from each group (`neighbours_of`).
    """
    n, m = len(merges) + 1, len(starts) - 1
    parent = np.arange(n)
    home, following = np.full(m, -1), np.full(m, -1)  # a row of each group; the next group of its component
    first, last, count = np.full(n, -1), np.full(n, -1), np.zeros(n, np.int64)
    edges, lengths, used = np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0
    for e in range(len(together)):
        if join(parent, together[e, 0], together[e, 1]):
            edges[used, 0], edges[used, 1] = min(together[e, 0], together[e, 1]), max(together[e, 0], together[e, 1])
            lengths[used] = height
            used += 1
    for i in range(n):
        g = of_row[i]
        if g >= 0 and home[g] < 0:
            home[g] = i
            root = find(parent, i)
            first[root], last[root], count[root] = g, g, 1
    for e in range(n - 1):
        a, b = find(parent, merges[e, 0]), find(parent, merges[e, 1])
        if a == b:
            continue
        few, many = (a, b) if count[a] <= count[b] else (b, a)
        apart, g = False, first[few]
        while g >= 0 and not apart:
            for at in range(starts[g], starts[g + 1]):
                if find(parent, home[near[at]]) == many:
                    apart = True
                    break
            g = following[g]
        if apart:
            continue
        edges[used, 0], edges[used, 1], lengths[used] = merges[e, 0], merges[e, 1], heights[e]
        used += 1
        join(parent, a, b)
        root = find(parent, a)
        other = b if root == a else a
        if count[other] > 0:
            if count[root] > 0:
                following[last[root]] = first[other]
                last[root] = last[other]
            else:
                first[root], last[root] = first[other], last[other]
            count[root] += count[other]
    accepted = used
    top = np.nextafter(max(heights[-1], 1e-300), np.inf) if n > 1 else 0.0
    begin = find(parent, 0)
    for i in range(n):
        if find(parent, i) == i and i != begin:
            edges[used, 0], edges[used, 1], lengths[used] = begin, i, top
            used += 1
    return edges, lengths, accepted
