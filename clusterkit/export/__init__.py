"""Fitted models as files for other programs: what labels new rows, in ONNX.

Every part of a fit that can be exported says so by a method ``onnx`` (`clusterkit.samples.row_graph`). `graph` collects
what they say, `columns` does the same for the preparation of a table, and `making` puts the model together.
"""

from clusterkit.export.onnx import need_onnx, to_onnx

__all__ = ["need_onnx", "to_onnx"]
