"""Links and seeds in a fit: labels of a start, clusters joined or cut after a labelling, numbers of clusters."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.contracts import Labeling, Predict
from clusterkit.contracts.labelings import NOISE, by_appearance
from clusterkit.contracts.links import COLOURING_BUDGET, LinkedGroups
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.shapes import array
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import Space
from clusterkit.samples.array_libraries import BlockFunction
from clusterkit.samples.transform import Transform, block_plan

CUT_ROUNDS = 10
"""Rounds of means and labels of the linked rows of a cluster that is cut: they settle after a few."""


def of_seeds(links: LinkedGroups, labels: Labels, space: Space, k: int) -> Labels:
    """The labels of a start where some rows have seeds.

    If every cluster has seeds, each row gets the cluster whose seeds have the nearest mean; otherwise the clusters are
    numbered so that most seeds have theirs, and rows with seeds get them.
    """
    sown = np.flatnonzero(links.seeds[links.groups] >= 0)
    if not len(sown):
        return labels
    rows, seeds = links.rows[sown], links.seeds[links.groups[sown]]
    points = space.points
    if isinstance(points, np.ndarray) and len(np.unique(seeds)) == k:
        means = np.zeros((k, points.shape[1]))
        np.add.at(means, seeds, points[rows].astype(np.float64))
        labels = _nearest(points, means / np.bincount(seeds, minlength=k)[:, None]).astype(np.intp)
    elif (numbers := links.numbers(labels, k)) is not None:
        labels = numbers[labels]
    labels = labels.copy()
    labels[rows] = seeds
    return labels


def joined_and_cut(labeling: Labeling, links: LinkedGroups, space: Space) -> Labeling:
    """The labelling of a method that knows no links, with clusters joined and cut so that it keeps them.

    Clusters with rows that belong together become one; noise among these rows joins them. A cluster with rows that are
    apart is cut into as few parts as the links allow: its linked rows are labelled at least cost around as many means,
    and each other row goes with the nearest of them. Both are told in the facts of the labelling.
    """
    from clusterkit.numerics.linked.apart_jit import colouring
    from clusterkit.numerics.linked.labels import cheapest_labels

    of_rows, joined = labeling.labels[links.rows], _joined(labeling.labels, links)
    noisy = of_rows < 0
    of_groups = np.full(links.m, NOISE)
    np.maximum.at(of_groups, links.groups, np.where(noisy, NOISE, joined[of_rows]))
    labels = np.where(labeling.labels >= 0, joined[labeling.labels], NOISE)
    labels[links.rows] = of_groups[links.groups]
    ends = of_groups[links.apart]
    broken = np.unique(ends[(ends[:, 0] == ends[:, 1]) & (ends[:, 0] >= 0), 0])
    part = labels.copy()
    next_part, points = int(labels.max(initial=-1)) + 1, space.points
    anchors, cluster_of_anchor, part_of_anchor = [], [], []
    for cluster in broken:
        inside = np.flatnonzero(of_groups == cluster)
        number = np.full(links.m, -1)
        number[inside] = np.arange(len(inside))
        edges = np.sort(number[links.apart[(ends == cluster).all(axis=1)]], axis=1)
        k, state = 1, 0
        while state != 1:
            k += 1
            state, colours = colouring(np.ascontiguousarray(edges), len(inside), k, COLOURING_BUDGET)
        rows = links.rows[np.isin(links.groups, inside)]
        of_row, at = number[links.groups[np.isin(links.groups, inside)]], _dense(points, rows)
        for _ in range(CUT_ROUNDS):
            means = np.stack([at[colours[of_row] == j].mean(axis=0) for j in range(k)])
            distances = squared_distances(at, means)
            costs: Array = np.stack([1.0 * np.bincount(of_row, weights=column) for column in distances.T], axis=1)
            solved = cheapest_labels(costs, edges)
            if not np.isfinite(solved.cost) or len(np.unique(solved.labels)) < k:
                break
            colours = solved.labels
        numbers = np.concatenate([[cluster], next_part + np.arange(k - 1)])
        next_part += k - 1
        anchors.append(at)
        cluster_of_anchor.append(np.full(len(rows), cluster))
        part_of_anchor.append(numbers[colours[of_row]])
        members = np.flatnonzero(labels == cluster)
        part[members] = part_of_anchor[-1][_nearest(_dense(points, members), at)]
        part[rows] = part_of_anchor[-1]
    appearance = np.full(next_part, NOISE)
    final = by_appearance(part)
    appearance[part[part >= 0]] = final[part >= 0]
    facts = {
        **labeling.facts,
        "clusters_joined_by_links": int(labeling.labels.max(initial=-1) + 1 - len(np.unique(joined))),
        "clusters_cut_by_links": len(broken),
        "noise_joined_by_links": int((noisy & (of_groups[links.groups] >= 0)).sum()),
    }
    predict = labeling.predict
    if predict is not None:
        none = np.empty(0, dtype=np.int64)
        cut_at = np.concatenate(anchors) if anchors else np.empty((0, 1))
        clusters, parts = (np.concatenate([none, *each]) for each in (cluster_of_anchor, part_of_anchor))
        predict = LinkedComponents(predict, space.coordinates, joined, appearance, cut_at, clusters, appearance[parts])
    return attrs.evolve(labeling, labels=final, predict=predict, exact=False, facts=facts)


def _joined(labels: Labels, links: LinkedGroups) -> Labels:
    """The cluster that each cluster becomes part of where rows of both belong together, 0..j-1."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    k, of_rows = int(labels.max(initial=-1)) + 1, labels[links.rows]
    inside = of_rows >= 0
    pairs = of_rows[inside], k + links.groups[inside]
    graph = coo_array((np.ones(len(pairs[0])), pairs), shape=(k + links.m, k + links.m))
    return by_appearance(connected_components(graph, directed=False)[1][:k])


def _dense(points: Array | SparseRows, rows: Indices) -> Array:
    """Some of the points as an array of float64."""
    chosen: Any = points[rows]
    dense: Array = chosen.csr.toarray() if isinstance(chosen, SparseRows) else chosen
    return dense.astype(np.float64)


def _nearest(Y: Array, points: Array) -> Indices:
    """The nearest of a few points for each row, the first on ties, in blocks."""
    nearest = np.empty(len(Y), dtype=np.int64)
    for rows in block_plan(len(Y), len(points), np.float64):
        nearest[rows] = np.argmin(squared_distances(Y[rows], points), axis=1)
    return nearest


@final
@attrs.frozen(eq=False)
class LinkedComponents(BlockFunction):
    """Labels raw rows as another predictor does, with clusters joined and cut as the links of the fit have it.

    Parameters
    ----------
    base : callable
    coordinates : Transform
        Maps raw rows to the coordinates of `anchors`.
    joined : ndarray
        The joined cluster of each cluster of `base`.
    numbers : ndarray
        The label of each joined cluster that is not cut.
    anchors : ndarray of shape (a, d)
        Linked rows of clusters that are cut: a row goes with the nearest of its cluster.
    clusters, labels : ndarray of shape (a,)
        Joined cluster and label of each.
    """

    base: Predict
    coordinates: Transform
    joined: Labels = attrs.field(validator=array("k", below="j"))
    numbers: Labels = attrs.field(validator=array("j", least=-1))
    anchors: Array = attrs.field(validator=array("a d"))
    clusters: Labels = attrs.field(validator=array("a", below="j"))
    labels: Labels = attrs.field(validator=array("a", least=-1))

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (m,)."""
        before = self.base(Y)
        if not len(self.joined):
            return before
        if before.max(initial=-1) >= len(self.joined):
            raise ValueError(f"a label is none of {len(self.joined)} clusters")
        clusters = np.where(before >= 0, self.joined[before], NOISE)
        labels = np.where(clusters >= 0, self.numbers[clusters], NOISE)
        for cluster in np.unique(self.clusters):
            rows = np.flatnonzero(clusters == cluster)
            if len(rows):
                here = self.clusters == cluster
                points: Any = self.coordinates(Y[rows])
                labels[rows] = self.labels[here][_nearest(_dense(points, np.arange(len(rows))), self.anchors[here])]
        return labels
