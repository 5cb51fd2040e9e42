"""Methods of graphs in ONNX."""

from __future__ import annotations

import numpy as np

from clusterkit.families.graphs.lapgmm import Mixture, Posteriors
from clusterkit.families.graphs.spectral import LEAST_EIGENVALUE, NystromMap
from clusterkit_onnx.nodes import Node, node_of


@node_of.register
def _(part: Mixture, rows: Node) -> Node:
    """`logarithms` of rows."""
    H = rows - part.origin
    logs = []
    for mean, factor, constant in zip(part.means, part.factors, part.constants, strict=True):
        gaps = (H - mean) @ factor if factor.ndim == 2 else (H - mean) * factor
        logs.append(float(constant) - gaps.square().sum() * 0.5)
    return logs[0].joined(*logs[1:])


@node_of.register
def _(part: Posteriors, rows: Node) -> Node:
    """Posteriors of raw rows."""
    logs = rows.through(part.transform).through(part.mixture)
    return logs if part.are_logarithms else logs.op("Softmax", axis=1)


@node_of.register
def _(part: NystromMap, rows: Node) -> Node:
    """Features of raw rows."""
    points = (rows - part.origin) / part.size
    squared, index = points.nearest(part.vertices, max(part.n_neighbors, part.scale_neighbor))
    scale = squared.columns([part.scale_neighbor - 1]).sqrt().maximum(float(part.scales.min()))
    squared, index = (node.columns(range(part.n_neighbors)) for node in (squared, index))
    exponents = squared / (scale * index.entries(part.scales))
    least = exponents.least()
    weights = (least - exponents).exp()
    sums = weights.sum()
    means = (weights.expanded(2) * index.entries(part.features)).sum(axis=1).squeezed(1) / sums
    H = means / np.maximum(part.eigenvalues, LEAST_EIGENVALUE)
    if part.unit:
        lengths = H.square().sum().sqrt()
        return H / (lengths > 0.0).where(lengths, 1.0)
    if part.regularization <= 0.0:
        return H
    degrees = sums * (-least).exp()
    return H * (degrees / (degrees + part.regularization))
