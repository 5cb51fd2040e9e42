"""Embeddings and the layers of merge trees in ONNX."""

from __future__ import annotations

import numpy as np

from clusterkit.contracts.labelings import NOISE
from clusterkit.families.embeddings.layers import EQUAL, FARTHEST_VOTE, NearestVotes
from clusterkit.families.embeddings.layout import LayoutRows
from clusterkit_onnx.nodes import Node, node_of


@node_of.register
def _(part: NearestVotes, rows: Node) -> Node:
    """Labels of raw rows."""
    rows = rows.through(part.transform)
    squared, index = rows.nearest(part.rows, part.n_neighbors)
    farthest = squared.columns([part.n_neighbors - 1])
    weights = 1.0 - squared / (farthest > 0.0).where(farthest, 1.0) + FARTHEST_VOTE
    limit = farthest * EQUAL
    weights = (squared.least() > limit).where(weights, 1.0 - (squared > limit).as_type(np.float64))
    member = np.eye(int(part.labels.max(initial=NOISE)) + 2)[part.labels + 1]
    return (weights.expanded(2) * index.entries(member)).sum(axis=1).squeezed(1).argmax() - np.array(1)


@node_of.register
def _(part: LayoutRows, rows: Node) -> Node:
    """Positions of rows."""
    squared, index = rows.nearest(part.rows, part.n_neighbors)
    apart = squared.least() > 0.0
    inverse = apart.where(squared.least(), 1.0) / (squared > 0.0).where(squared, 1.0)
    weights = apart.where(inverse, squared.equals(0.0).as_type(np.float64))
    positions = index.entries(part.positions)
    return (weights.expanded(2) * positions).sum(axis=1).squeezed(1) / weights.sum()
