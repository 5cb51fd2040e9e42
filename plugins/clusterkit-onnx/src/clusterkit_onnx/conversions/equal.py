"""Equal clustering and GeoClust in ONNX."""

from __future__ import annotations

from typing import Any

from clusterkit_onnx.nodes import Node, node_of, saved


@node_of.register(saved("Nearness"))
def _(part: Any, rows: Node) -> Node:
    """Scores of raw rows."""
    return part.offsets - rows.through(part.transform).squared_distances(part.centres)
