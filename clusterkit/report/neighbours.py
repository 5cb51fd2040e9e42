"""Rows between clusters, and rows far from all others, by their nearest neighbours."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.labelings import NOISE
from clusterkit.numerics.row_samples import sample_rows
from clusterkit.profiles.doubts import FAR, NEIGHBOURS

__all__ = ["FAR", "OddRow", "odd_rows"]

MOST_ROWS = 5000
"""Most rows among which neighbours are looked for, and of which odd ones are listed, a random sample of more."""

AT_LEAST = 3
"""Rows that are listed as the farthest ones even if none is an outlier."""

MIXED = 0.2
"""A row is on a border if at least this share of its neighbours is in other clusters; all neighbours of a row that is a
cluster by itself are, which says nothing."""


@final
@attrs.frozen
class OddRow:
    """A row to look at.

    Parameters
    ----------
    row : int
        From 0.
    label : int
    other : int
        The nearest other cluster, or the one of most of its neighbours; -1 for none.
    value : float
        On a border the share of neighbours in other clusters; of an outlier its distance from its neighbours, in units
        of the usual one of its cluster.
    """

    row: int
    label: int
    other: int
    value: float


def odd_rows(X: Array, labels: Labels, count: int, rng: Rng) -> tuple[list[OddRow], list[OddRow]]:
    """The rows that are most clearly on a border, and the rows that are farthest out, at most `count` each.

    The three farthest rows are there even if they are no outliers.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    labels : ndarray of shape (n,)
    count : int
    rng : Generator

    Returns
    -------
    borders, outliers : list of OddRow
        The most extreme first.

    Notes
    -----
    On at most 5,000 rows: O(m² d).
    """
    from sklearn.neighbors import NearestNeighbors

    chosen = sample_rows(len(X), MOST_ROWS, rng)
    if len(chosen) < 4:
        return [], []
    points, members = X[chosen], labels[chosen]
    size = min(NEIGHBOURS, len(chosen) - 1)
    distances, near = NearestNeighbors(n_neighbors=size).fit(points).kneighbors()
    around = members[near]
    elsewhere = (around != members[:, None]) & (around != NOISE)
    # of a cluster with few rows no more neighbours are asked than it has other rows
    _, place, sizes = np.unique(members, return_inverse=True, return_counts=True)
    of_cluster = np.minimum(sizes[place.ravel()] - 1, size)
    within = np.arange(size) < of_cluster[:, None]
    share = (elsewhere & within).sum(axis=1) / np.maximum(of_cluster, 1)
    share[members == NOISE] = 0.0
    radius = distances[:, -1]
    usual = np.ones(len(chosen))
    for label in np.unique(members):
        inside = members == label
        # noise has no usual distance of its own, nor has a row that is alone
        others = members != NOISE if label == NOISE else ~inside
        alike = others if (label == NOISE or inside.sum() == 1) and others.any() else inside
        usual[inside] = np.median(radius[alike])
    relative = np.divide(radius, usual, out=np.ones(len(chosen)), where=usual > 0)
    borders = [i for i in np.argsort(-share, kind="stable")[:count].tolist() if share[i] >= MIXED]
    farthest = np.argsort(-relative, kind="stable")[:count].tolist()
    outliers = [i for place, i in enumerate(farthest) if relative[i] >= FAR or place < AT_LEAST]

    def odd(i: int, value: float) -> OddRow:
        others = around[i][elsewhere[i]]
        other = int(np.bincount(others).argmax()) if len(others) else NOISE
        return OddRow(int(chosen[i]), int(members[i]), other, value)

    return [odd(i, float(share[i])) for i in borders], [odd(i, float(relative[i])) for i in outliers]
