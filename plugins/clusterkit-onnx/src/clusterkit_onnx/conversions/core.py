"""Parts of the core in ONNX."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts.labeler import Decoder
from clusterkit.contracts.outcomes import KernelRows, LinearRows
from clusterkit.drivers.auto_fits import Complete, Votes
from clusterkit.drivers.single import NearestSampleRow
from clusterkit.estimators.samples import RowSpan, SpanPredictor
from clusterkit.fitting.fit import AllZero
from clusterkit.fitting.numbering import Renumbered
from clusterkit.samples.kernels import Gaussian, Linear, MatrixKernel
from clusterkit.samples.mixed_space import CLIPPED, LevelPart, MixedColumns, NumberPart
from clusterkit.samples.rows_space import HostMap
from clusterkit.samples.transform import ChosenColumns, IdentityMap, Transform
from clusterkit_onnx.nodes import Node, NotExportable, cost_node, dense, diagonal_node, kernel_node, node_of


@node_of.register
def _(part: Decoder, rows: Node) -> Node:
    """Labels of raw rows; the scores are an output of their own."""
    scores = rows.through(part.extend, "solver")
    logarithms = getattr(part.extend, "are_logarithms", False)
    scores.graph.report("scores", scores.op("Softmax", axis=1) if logarithms else scores)
    costs = cost_node(part.codec, scores if part.scale is None else scores * part.scale, part.k)
    return (costs if part.offsets is None else costs + part.offsets).argmin()


@node_of.register
def _(part: LinearRows, rows: Node) -> Node:
    """h(Y) B."""
    return rows.through(part.transform) @ part.coefficients


@node_of.register
def _(part: KernelRows, rows: Node) -> Node:
    """k(Y, points) A."""
    return kernel_node(part.kernel, rows.through(part.coordinates), part.points) @ part.coefficients


@node_of.register
def _(part: Votes, rows: Node) -> Node:
    """Labels of raw rows."""
    _, nearest = rows.nearest(part.rows, min(part.voters, len(part.rows)))
    votes = nearest.entries(part.labels)
    same = votes.expanded(2).equals(votes.expanded(1)).as_type(np.float64)
    first = same.sum(axis=2).squeezed(2).argmax().expanded(1)  # the first, hence nearest, maximum
    return votes.op("GatherElements", first, axis=1).squeezed()


@node_of.register
def _(part: Complete, rows: Node) -> Node:
    """Labels of raw rows."""
    labels = rows.through(part.predict)
    return (labels < np.array(0)).where(rows.through(part.nearest), labels)


@node_of.register
def _(part: NearestSampleRow, rows: Node) -> Node:
    """Labels of raw rows."""
    if part.domain is not None:
        raise NotExportable("labels within a domain, which sum kernels over many rows, have no ONNX form")
    _, nearest = rows.through(part.coordinates, "featuremap").nearest(part.rows, 1)
    return nearest.squeezed().entries(part.labels)


@node_of.register
def _(part: RowSpan, rows: Node) -> Node:
    """Coordinates."""
    return (rows - part.mean) @ part.axes


@node_of.register
def _(part: SpanPredictor, rows: Node) -> Node:
    """Labels of raw rows."""
    return rows.through(part.span).through(part.predict)


@node_of.register
def _(part: AllZero, rows: Node) -> Node:
    """Zeros."""
    return rows.columns([0]).argmin()


@node_of.register
def _(part: Renumbered, rows: Node) -> Node:
    """Labels of raw rows."""
    numbers = np.append(part.numbers, -1)  # the last entry, number -1, is for noise
    return rows.through(part.base).entries(numbers)


@kernel_node.register
def _(kernel: Gaussian, rows: Node, points: Array) -> Node:
    """``exp(-gamma |x - y|²)``."""
    return (rows.squared_distances(points) * -float(kernel.gamma)).exp()


@diagonal_node.register
def _(kernel: Gaussian, rows: Node) -> Node | float:
    """1."""
    return 1.0


@kernel_node.register
def _(kernel: Linear, rows: Node, points: Array) -> Node:
    """Inner products."""
    return rows @ dense(points).T


@diagonal_node.register
def _(kernel: Linear, rows: Node) -> Node | float:
    """Squared lengths."""
    return rows.square().sum()


@kernel_node.register
def _(kernel: MatrixKernel, rows: Node, points: Array) -> Node:
    """Columns of the values."""
    return rows.columns(kernel._columns(points))


@node_of.register
def _(part: NumberPart, rows: Node) -> Node:
    """Standardised numbers, NaN in gaps, of raw rows (m, 1)."""
    gaps = rows.op("IsNaN")
    if part.atom is not None:
        gaps = gaps.op("Or", rows.equals(np.array([[part.atom]])))
    y = gaps.where(np.array([[part.centre or 1.0]]), rows)
    if part.form == "log":
        y = y.maximum(np.array([[np.finfo(np.float32).tiny]])).log()
    elif part.form == "asinh":  # runtimes lack it for float64
        z = (y - part.centre) / part.scale
        y = z.op("Sign") * (z.op("Abs") + (z.square() + 1.0).sqrt()).log()
    y = (y - part.mean) / part.deviation
    return gaps.where(np.array([[np.nan]]), y.maximum(np.array([[-CLIPPED]])).minimum(np.array([[CLIPPED]])))


@node_of.register
def _(part: LevelPart, rows: Node) -> Node:
    """Codes, NaN in gaps, of raw rows (m, 1)."""
    gap = np.array([[np.nan]])
    if part.is_atom:
        has = rows.equals(np.array([[part.values[0]]])).as_type(np.float64)
        return rows.op("IsNaN").where(gap, has)
    values = np.array(part.values)
    if part.form == "count":
        rows = rows.op("IsNaN").where(gap, rows.minimum(values[None, -1:]))
    equal = rows.equals(values[None]).as_type(np.float64)
    return (equal.sum() > 0.5).where(equal.argmax().as_type(np.float64).expanded(1), gap)


@node_of.register
def _(part: MixedColumns, rows: Node) -> Node:
    """Numbers and codes of raw rows, NaN in gaps."""
    parts = [rows.columns([each.column]).through(each) for each in part.parts]
    return parts[0].joined(*parts[1:]) if len(parts) > 1 else parts[0]


@node_of.register
def _(part: HostMap, rows: Node) -> Node:
    """Output of the maps in an exported model."""
    return rows.through(part.transform)


@node_of.register
def _(part: IdentityMap, rows: Node) -> Node:
    """The rows themselves."""
    return rows


@node_of.register
def _(part: ChosenColumns, rows: Node) -> Node:
    """These columns."""
    return rows.columns(part.index)


@node_of.register
def _(part: Transform, rows: Node) -> Node:
    """Features of rows, rounded to the type of the training data first."""
    rows = rows.rounded(part.dtype)
    for step in part.steps:
        rows = rows.through(step, "featuremap")
    return rows
