"""Fitted models as files for other programs: what labels new rows, in ONNX.

Every part of a fit that can be exported says so by a method ``onnx`` (`clusterkit.samples.row_graph`). ``onnx.py``
collects the nodes that these methods ask for (`Graph`), does the same for the preparation of a table
(`PreparedColumns`), and puts the model together (`to_onnx`).
"""

from clusterkit.export.onnx import need_onnx, to_onnx

__all__ = ["need_onnx", "to_onnx"]
