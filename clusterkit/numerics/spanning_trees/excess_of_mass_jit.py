"""The condensed hierarchy of HDBSCAN and its most stable clusters, in linear sweeps over the nodes.

With ``λ = 1 / height``, the rows of a cluster leave it one after the other as λ grows, in groups of fewer than
`min_cluster_size`; where two or more larger groups separate, the cluster ends and each of them is a new one. The
stability of a cluster is ``Σ (λ at which a row leaves - λ at which the cluster began)`` over its rows. Clusters are
chosen so that the sum of their stabilities is largest, none within another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clusterkit._jit import inner, njit
from clusterkit._typing import Array, Counts, Indices, Labels, Mask
from clusterkit.numerics.spanning_trees.hierarchy_jit import Hierarchy

__all__ = ["Extracted", "excess_of_mass"]


class Extracted(NamedTuple):
    """The chosen cluster of each row or -1, (n,), its degree of membership in it and its outlier score.

    `birth` is the λ at which each cluster of the condensed hierarchy begins.
    """

    owner: Labels
    probability: Array
    outlier_score: Array
    birth: Array


@inner
def _excess(leaving: float, birth: float) -> float:
    """``leaving - birth``, 0 where both are infinite: equal rows that are all there is."""
    return 0.0 if birth == np.inf else leaving - birth


def excess_of_mass(tree: Hierarchy, n: int, min_cluster_size: int, single: bool) -> Extracted:
    """The clusters of largest excess of mass; the root counts as one only if `single`.

    Rows that leave the root before it ends are noise, as in McInnes and Healy: every row is in the root, and that says
    nothing. It begins where they have left it, then. A root of fewer than `min_cluster_size` rows is no cluster.
    """
    nodes = len(tree.parent)
    large = np.zeros(nodes, np.int32)  # children that can be clusters
    cluster, fall, fallen = np.empty(nodes, np.int32), np.zeros(nodes), np.zeros(nodes, np.bool_)
    most = 2 * (n // min_cluster_size) + 1  # each division of a cluster makes one more that is not divided later
    birth, above, stability, death = np.zeros(most), np.full(most, -1), np.zeros(most), np.zeros(most)
    count = _condense(*tree[:3], min_cluster_size, large, cluster, fall, fallen, birth, above, stability, death)
    birth, above, stability, death = birth[:count], above[:count], stability[:count], death[:count]
    within, deep = np.full(count, -1), death.copy()
    _choose(stability, above, single, np.zeros(count, np.bool_), stability.copy(), np.zeros(count), within, deep)
    owner, probability, score = np.empty(n, np.int64), np.zeros(n), np.zeros(n)
    _of_rows(cluster, fall, within, death, deep, owner, probability, score)
    birth = birth.copy()
    if within[0] == 0:
        early = (cluster[:n] == 0) & (fall[:n] < death[0]) if n >= min_cluster_size else np.ones(n, np.bool_)
        owner[early], probability[early] = -1, 0.0
        birth[0] = death[0]
    return Extracted(owner, probability, score, birth)


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
) -> int:
    """The clusters of the condensed hierarchy, and their number.

    Nodes get the `cluster` that they are in and, where they have left it, the λ of that (`fallen`, `fall`).
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
            cluster[v], birth[count], above[count] = count, level, c
            count += 1
    return count


@njit
def _choose(
    stability: Array, above: Labels, single: bool, chosen: Mask, best: Array, below: Array, within: Labels, deep: Array
) -> None:
    """The chosen cluster that each cluster is or is in (`within`), or -1, and the largest death in or below each."""
    count = len(stability)
    for c in range(count - 1, -1, -1):
        chosen[c] = below[c] <= stability[c] and (c > 0 or single)
        if not chosen[c]:
            best[c] = below[c]
        if c > 0:
            below[above[c]] += best[c]
            deep[above[c]] = max(deep[above[c]], deep[c])
    for c in range(count):
        if above[c] >= 0 and within[above[c]] >= 0:
            within[c] = within[above[c]]
        elif chosen[c]:
            within[c] = c


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
    """What the rows get from the clusters that they are in."""
    for i in range(len(owner)):
        c = cluster[i]
        owner[i] = within[c]
        # a cluster that no row ever leaves does not exist; infinite λ belong to equal rows
        if owner[i] >= 0:
            last = death[owner[i]]
            probability[i] = 1.0 if fall[i] >= last else fall[i] / last
        if fall[i] < deep[c]:
            score[i] = 1.0 if deep[c] == np.inf else (deep[c] - fall[i]) / deep[c]
