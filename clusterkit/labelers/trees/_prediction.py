"""What the labelers of trees share: labels of new rows, each of which follows a training row, and a warning."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core.labelings import NOISE
from clusterkit.core.outcomes import Tree
from clusterkit.core.row_graph import Node
from clusterkit.core.transform import Transform

__all__ = ["NearestRow"]


@final
@attrs.frozen(eq=False)
class NearestRow:
    """Labels raw rows; a frozen callable, so that a fit can be pickled.

    A row equal to a training row gets the label of that row, whatever is near it.

    Parameters
    ----------
    transform : Transform
        Maps raw rows to the coordinates of `rows`.
    rows : ndarray of shape (n, L)
        Training rows.
    core_distances : ndarray of shape (n,)
    n_neighbors : int
    labels : ndarray of shape (n,)
    farthest : ndarray of shape (k,) or None
        For each cluster the mutual reachability distance from which on a row is noise; None if none ever is.
    """

    transform: Transform
    rows: Array
    core_distances: Array
    n_neighbors: int
    labels: Labels
    farthest: Array | None = None

    @classmethod
    def of(cls, tree: Tree, labels: Labels, farthest: Array | None = None) -> NearestRow:
        """The predictor of a labelling of a tree."""
        return cls(tree.transform, tree.rows, tree.core_distances, tree.n_neighbors, labels, farthest)

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (m, d) to (m,); O(log n) for each where the rows have few attributes."""
        from clusterkit.numerics.distinct_rows_jit import find_rows
        from clusterkit.numerics.spanning_trees.reach import nearest_by_reachability

        points = self.transform(Y)
        equal = find_rows(self.rows, points)
        labels = np.where(equal >= 0, self.labels[equal], NOISE)
        new = np.flatnonzero(equal < 0)
        if len(new):
            nearest, weights = nearest_by_reachability(self.rows, self.core_distances, self.n_neighbors, points[new])
            labels[new] = self.labels[nearest]
            if self.farthest is not None:
                inside = new[labels[new] >= 0]
                far = weights[labels[new] >= 0] > self.farthest[labels[inside]]
                labels[inside[far]] = NOISE
        return labels

    def onnx(self, rows: Node) -> Node:
        """Labels of raw rows, from the distances to all training rows."""
        rows = rows.through(self.transform).with_spare_row(self.rows.shape[1])
        squared, equal = rows.nearest(self.rows, 1)
        distances = rows.squared_distances(self.rows).sqrt()
        weights = distances.maximum(self.core_distances[None])
        reach = min(self.n_neighbors - 1, len(self.rows))
        if reach:
            neighbours, _ = distances.lowest(reach)
            weights = weights.maximum(neighbours.columns([reach - 1]))
        least = weights.least()
        labels = weights.equals(least).where(distances, np.array(np.inf)).argmin().entries(self.labels)
        if self.farthest is not None:
            limits = labels.entries(np.append(self.farthest, np.inf))  # the last one is that of noise, -1
            labels = (least.squeezed() > limits).where(np.array(NOISE), labels)
        same = squared.squeezed().equals(0.0)
        return same.where(equal.squeezed().entries(self.labels), labels).without_last_row()
