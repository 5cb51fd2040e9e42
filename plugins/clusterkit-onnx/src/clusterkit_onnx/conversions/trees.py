"""Trees in ONNX."""

from __future__ import annotations

import numpy as np

from clusterkit.contracts.labelings import NOISE
from clusterkit.families.trees.cuts import NearestRow
from clusterkit_onnx.nodes import Node, NotExportable, node_of


@node_of.register
def _(part: NearestRow, rows: Node) -> Node:
    """Labels of raw rows, from the distances to all training rows."""
    if part.precomputed:
        raise NotExportable("predictions from precomputed distances have no ONNX form")
    rows = rows.through(part.transform).with_spare_row(part.rows.shape[1])
    squared, equal = rows.nearest(part.rows, 1)
    distances = rows.squared_distances(part.rows).sqrt()
    weights = distances.maximum(part.core_distances[None])
    reach = min(part.n_neighbors - 1, len(part.rows))
    if reach:
        neighbours, _ = distances.lowest(reach)
        weights = weights.maximum(neighbours.columns([reach - 1]))
    least = weights.least()
    labels = weights.equals(least).where(distances, np.array(np.inf)).argmin().entries(part.labels)
    if part.farthest is not None:
        limits = labels.entries(np.append(part.farthest, np.inf))  # the last limit is for noise, label -1
        labels = (least.squeezed() > limits).where(np.array(NOISE), labels)
    same = squared.squeezed().equals(0.0)
    return same.where(equal.squeezed().entries(part.labels), labels).without_last_row()
