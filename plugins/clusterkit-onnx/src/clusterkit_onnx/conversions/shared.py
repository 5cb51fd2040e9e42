"""Maps and labelers that several families compose in ONNX."""

from __future__ import annotations

from typing import Any

from clusterkit.families.shared.codecs import Argmax, BiasThreshold, Interval, Threshold
from clusterkit.families.shared.elm import GaussianNodes, RidgeNodes, SigmoidNodes
from clusterkit.families.shared.scaling import Affine, UnitRows
from clusterkit_onnx.nodes import Node, cost_node, node_of, saved


@cost_node.register
def _(codec: Argmax, rows: Node, k: int) -> Node:
    """-f."""
    return -rows


@cost_node.register
def _(codec: BiasThreshold, rows: Node, k: int) -> Node:
    """(g + b, -g - b)."""
    shifted = rows + (0.0 if codec.bias is None else float(codec.bias))
    return shifted.joined(-shifted).columns(range(k))


@cost_node.register
def _(codec: Interval, rows: Node, k: int) -> Node:
    """Squared distances to the middles, or the scores and their negatives."""
    if codec._by_sign(k):
        return (rows * 2.0).joined(rows * -2.0)
    return (rows - codec._middles(k)).square()


@cost_node.register
def _(codec: Threshold, rows: Node, k: int) -> Node:
    """(f, -f)."""
    return rows.joined(-rows).columns(range(k))


@node_of.register
def _(part: GaussianNodes, rows: Node) -> Node:
    """Features of raw rows."""
    scaled = (rows if part.scaling is None else rows.through(part.scaling)) - part._origin
    linear, squares, constants = part._exponent[:-2], part._exponent[-2:-1], part._exponent[-1:]
    return (scaled @ linear + scaled.square().sum() * squares + constants).minimum(0.0).exp()


def _sums(part: SigmoidNodes | RidgeNodes, rows: Node) -> Node:
    """``a_j · x + b_j``, (m, L)."""
    rows = rows if part.scaling is None else rows.through(part.scaling)
    return rows @ part.weights.T + part.biases


@node_of.register
def _(part: SigmoidNodes, rows: Node) -> Node:
    """Features of raw rows."""
    return ((_sums(part, rows) * 0.5).tanh() + 1.0) * 0.5


@node_of.register
def _(part: RidgeNodes, rows: Node) -> Node:
    """Features of raw rows."""
    return (-_sums(part, rows).square()).exp()


@node_of.register(saved("TfIdfWeights"))
def _(part: Any, rows: Node) -> Node:
    """Weighted rows."""
    counted = rows > 0.0
    damped = (counted.where(rows, 1.0).log() + 1.0).maximum(0.0)
    H = counted.where(damped, 0.0) * part.idf
    lengths = H.square().sum().sqrt()
    return H / (lengths > 0.0).where(lengths, 1.0)


@node_of.register(saved("PcaProjection"))
def _(part: Any, rows: Node) -> Node:
    """Coordinates."""
    return rows @ part.axes - part.origin


@node_of.register
def _(part: Affine, rows: Node) -> Node:
    """Scaled rows."""
    return (rows - part.shift) * part.factor + part.offset


@node_of.register
def _(part: UnitRows, rows: Node) -> Node:
    """Rows of length 1."""
    centred = rows if part.origin is None else rows - part.origin
    largest = centred.maximum(-centred).largest()
    scaled = centred / (largest > 0.0).where(largest, 1.0)
    lengths = scaled.square().sum().sqrt()
    return scaled / (lengths > 0.0).where(lengths, 1.0)
