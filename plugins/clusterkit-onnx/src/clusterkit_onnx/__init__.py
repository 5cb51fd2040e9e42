"""Fitted models of clusterkit as files in ONNX, which label new rows without Python.

===============  ======================================================================================================
exporting        `to_onnx`: the model of a fitted estimator.
nodes            `Node`, with which a conversion computes as with an array; what conversions register with.
graph            `Graph`, which collects the nodes and constants of a model.
conversions      What each class of clusterkit does with rows, in ONNX: a module for each family, and `core`.
columns          `PreparedColumns`: the preparation of a table as a part of the graph.
checking         `check_export`: an exported model gives the labels of `predict`.
command          ``clusterkit export``; `plugin` tells clusterkit about it.
===============  ======================================================================================================
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterkit_onnx.checking import check_export
    from clusterkit_onnx.exporting import to_onnx
    from clusterkit_onnx.nodes import Node, NotExportable, cost_node, diagonal_node, kernel_node, node_of

__all__ = ["Node", "NotExportable", "check_export", "cost_node", "diagonal_node", "kernel_node", "node_of", "to_onnx"]


def __getattr__(name: str) -> object:  # on first use: clusterkit imports this package to read its hooks
    if name in __all__:
        home = {"check_export": "checking", "to_onnx": "exporting"}.get(name, "nodes")
        return getattr(import_module(f"clusterkit_onnx.{home}"), name)
    raise AttributeError(f"module 'clusterkit_onnx' has no attribute {name!r}")
