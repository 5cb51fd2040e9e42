"""Maximum margin methods in ONNX."""

from __future__ import annotations

from typing import Any

from clusterkit.families.margins.gmmc import MarginFunction
from clusterkit_onnx.nodes import Node, node_of, saved


@node_of.register(saved("OffsetExtension"))
def _(part: Any, rows: Node) -> Node:
    """Outputs of raw rows."""
    return rows.through(part.inner) + part.offset


@node_of.register(saved("CentredRows"))
def _(part: Any, rows: Node) -> Node:
    """Scores of raw rows."""
    return (rows.through(part.transform) - part.origin) @ part.coefficients


@node_of.register(saved("CentredKernelRows"))
def _(part: Any, rows: Node) -> Node:
    """Scores of raw rows."""
    return rows.through(part.sums) - part.mean


@node_of.register
def _(part: MarginFunction, rows: Node) -> Node:
    """Scores of raw rows."""
    return rows.through(part.sums) + part.offset
