"""What the classes of clusterkit do with rows, in ONNX: importing this registers them."""

from __future__ import annotations

from clusterkit_onnx.conversions import (
    core,
    embeddings,
    equal,
    factors,
    graphs,
    margins,
    means,
    mixtures,
    shared,
    trees,
)

__all__ = ["core", "embeddings", "equal", "factors", "graphs", "margins", "means", "mixtures", "shared", "trees"]
