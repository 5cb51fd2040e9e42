"""Means, fuzzy memberships and nearest centres in ONNX."""

from __future__ import annotations

from typing import Any

from clusterkit.families.means.fuzzy_cmeans import Memberships
from clusterkit.families.means.rows_kmeans import NearestCentre
from clusterkit_onnx.nodes import Node, diagonal_node, kernel_node, node_of, saved


@node_of.register(saved("NearestMeans"))
def _(part: Any, rows: Node) -> Node:
    """Scores of raw rows."""
    H = rows.through(part.transform)
    lengths = (H - part.origin).square().sum()
    scores = (H @ part.centres) * 2.0 - part.constants - lengths
    return (scores > -part.noise(lengths.sqrt())).where(0.0, scores)


@node_of.register(saved("NearestKernelMeans"))
def _(part: Any, rows: Node) -> Node:
    """Scores of raw rows."""
    points = rows.through(part.coordinates)
    products = kernel_node(part.kernel, points, part.points) @ part.centres
    diagonal = diagonal_node(part.kernel, points)
    scores = products * 2.0 - part.norms - diagonal
    return (scores > -part._noise(diagonal)).where(0.0, scores)


@node_of.register
def _(part: Memberships, rows: Node) -> Node:
    """Memberships of raw rows."""
    distances = -rows.through(part.nearness)
    on_centre, least = distances.equals(0.0), distances.least()
    if part.fuzzifier == 2.0:
        shares = least / distances
    else:  # a distance of 0 is replaced by 1: no other centre has a share then
        quotients = least.equals(0.0).where(1.0, least) / on_centre.where(1.0, distances)
        shares = least.equals(0.0).where(0.0, (quotients.log() / (part.fuzzifier - 1.0)).exp())
    shares = on_centre.where(1.0, shares)
    return shares / shares.sum()


@node_of.register
def _(part: NearestCentre, rows: Node) -> Node:
    """Labels of raw rows."""
    return rows.through(part.extend, "solver").squared_distances(part.centres).argmin()
