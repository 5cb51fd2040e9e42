"""Functions of rows as graphs of ONNX operators, written like numpy expressions.

A class that maps, scores or labels new rows is exported by the function that is registered for it with `node_of`. It
takes the part and the rows as a `Node`, and returns the node of what the part makes of them. ``rows.through(part)``
asks another part for its node. Arithmetic, ``(rows - part.origin) @ part.axes``, and methods of a node add ONNX
operators of version `OPSET`; `Node.op` reaches all others. Kernels register with `kernel_node` and `diagonal_node`, and
labelers of scores with `cost_node`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array, Indices
from clusterkit.contracts import Codec
from clusterkit.numerics.distances import EXPLICIT_DIMENSIONS
from clusterkit.numerics.sparse_rows import Rows, SparseRows
from clusterkit.samples.kernels import Kernel
from clusterkit.saving.savable import SAVABLE, class_of

if TYPE_CHECKING:
    from clusterkit_onnx.graph import Graph

__all__ = [
    "OPSET",
    "Node",
    "NotExportable",
    "Operand",
    "Update",
    "cost_node",
    "dense",
    "diagonal_node",
    "kernel_node",
    "node_of",
    "saved",
]

OPSET = 17
"""Version of the ONNX operators: of 2022, so that runtimes of the last years know it, and the last one in which
extremes of rows take their axis as an attribute, as all versions before it do."""

SPARE = 4
"""Candidates beyond the nearest rows asked for, whose distances are computed again from differences: as many as
`clusterkit.numerics.neighbour_graph` looks at, and enough for nearly all ties."""

Update: TypeAlias = "Callable[[tuple[Node, ...]], tuple[tuple[Node, ...], Node | None]]"
"""One update of the state of a loop: its nodes to the new ones, and whether to go on (a truth value, or None: yes)."""

Operand: TypeAlias = "Node | AnyArray | float"
"""A node, or a constant: an array, or a number. Floating-point constants get the precision of the graph."""


class NotExportable(ValueError):
    """A model has no ONNX form, because a part of it has none; names the stage and the part."""


@final
@attrs.frozen(eq=False)
class Node:
    """A value in a graph: rows, (m, d), or what was computed from them.

    Parameters
    ----------
    graph : Graph
    name : str
    """

    # numpy leaves ``array - node`` to the methods below
    __array_ufunc__ = None

    graph: Graph
    name: str

    def op(self, operator: str, *others: Operand, **attributes: int | float | str | Sequence[int]) -> Node:
        """The first output of an ONNX operator whose first input is this node."""
        return self.graph.op(operator, self, *others, **attributes)

    def through(self, part: object, stage: str = "") -> Node:
        """The output of another part, a row map or an extension, for these rows.

        Parameters
        ----------
        part : object
        stage : {"featuremap", "solver", "labeler", ""}
            The kind of stage that left the part behind, for errors; "" if it is that of the calling part.
        """
        return self.graph.follow(part, self, stage)

    def __add__(self, other: Operand) -> Node:
        return self.op("Add", other)

    def __radd__(self, other: Operand) -> Node:
        return self.op("Add", other)

    def __sub__(self, other: Operand) -> Node:
        return self.op("Sub", other)

    def __rsub__(self, other: Operand) -> Node:
        return self.graph.op("Sub", other, self)

    def __mul__(self, other: Operand) -> Node:
        return self.op("Mul", other)

    def __rmul__(self, other: Operand) -> Node:
        return self.op("Mul", other)

    def __truediv__(self, other: Operand) -> Node:
        return self.op("Div", other)

    def __rtruediv__(self, other: Operand) -> Node:
        return self.graph.op("Div", other, self)

    def __matmul__(self, other: Operand) -> Node:
        return self.op("MatMul", other)

    def __neg__(self) -> Node:
        return self.op("Neg")

    def __lt__(self, other: Operand) -> Node:
        return self.op("Less", other)

    def __gt__(self, other: Operand) -> Node:
        return self.op("Greater", other)

    def equals(self, other: Operand) -> Node:
        """Whether values are equal."""
        return self.op("Equal", other)

    def exp(self) -> Node:
        """Exponentials."""
        return self.op("Exp")

    def log(self) -> Node:
        """Natural logarithms."""
        return self.op("Log")

    def sqrt(self) -> Node:
        """Square roots."""
        return self.op("Sqrt")

    def tanh(self) -> Node:
        """Hyperbolic tangents."""
        return self.op("Tanh")

    def square(self) -> Node:
        """Squares."""
        return self.op("Mul", self)

    def minimum(self, other: Operand) -> Node:
        """The smaller of two values."""
        return self.op("Min", other)

    def maximum(self, other: Operand) -> Node:
        """The larger of two values."""
        return self.op("Max", other)

    def sum(self, axis: int = 1) -> Node:
        """Sums along an axis, which is kept with length 1."""
        return self.op("ReduceSum", np.array([axis]), keepdims=1)

    def least(self, axis: int = 1) -> Node:
        """Smallest values along an axis, which is kept with length 1."""
        return self.op("ReduceMin", axes=[axis], keepdims=1)

    def largest(self, axis: int = 1) -> Node:
        """Largest values along an axis, which is kept with length 1."""
        return self.op("ReduceMax", axes=[axis], keepdims=1)

    def argmin(self, axis: int = 1) -> Node:
        """Index of the first smallest value along an axis, which is dropped; int64."""
        return self.op("ArgMin", axis=axis, keepdims=0)

    def argmax(self, axis: int = 1) -> Node:
        """Index of the first largest value along an axis, which is dropped; int64."""
        return self.op("ArgMax", axis=axis, keepdims=0)

    def columns(self, index: Indices | Sequence[int]) -> Node:
        """Some columns of the node, in the order of the index."""
        return self.op("Gather", np.asarray(index, dtype=np.int64), axis=1)

    def entries(self, table: AnyArray) -> Node:
        """The entries, or rows, of a constant table that this node, int64, numbers from 0 or from the end by -1."""
        return self.graph.op("Gather", table, self, axis=0)

    def where(self, chosen: Operand, other: Operand) -> Node:
        """One value where this node is true, the other where it is false."""
        return self.op("Where", chosen, other)

    def expanded(self, axis: int) -> Node:
        """The node with one more axis, of length 1."""
        return self.op("Unsqueeze", np.array([axis]))

    def squeezed(self, axis: int = 1) -> Node:
        """The node without an axis of length 1."""
        return self.op("Squeeze", np.array([axis]))

    def joined(self, *others: Operand) -> Node:
        """The columns of several nodes side by side."""
        return self.op("Concat", *others, axis=1)

    def as_type(self, dtype: np.dtype | type) -> Node:
        """The values converted to another type; float64 means the precision of the graph."""
        return self.graph.cast(self, dtype)

    def rounded(self, dtype: np.dtype) -> Node:
        """Values rounded to the type of the training data, in the precision of the graph again."""
        return self if dtype == np.float64 else self.as_type(dtype).as_type(np.float64)

    def with_spare_row(self, width: int) -> Node:
        """The rows, (m, width), and one of zeros after them, for `lowest`."""
        return self.op("Concat", np.zeros((1, width)), axis=0)

    def without_last_row(self) -> Node:
        """All rows but the last one."""
        return self.op("Slice", np.array([0]), np.array([-1]), np.array([0]))

    def lowest(self, count: int) -> tuple[Node, Node]:
        """The smallest values of each row, (m, count), ascending, and their columns; of equal ones the first.

        Needs at least one row: without rows many versions of onnxruntime divide by 0, which ends the process.
        """
        values, index = self.graph.outputs("TopK", 2, self, np.array([count]), axis=1, largest=0, sorted=1)
        return values, index

    def squared_distances(self, points: Rows) -> Node:
        """Squared distances to constant points (n, d), shape (m, n), never negative."""
        points = dense(points)
        if points.shape[1] <= EXPLICIT_DIMENSIONS:
            terms = [(self.columns([j]) - points[None, :, j]).square() for j in range(points.shape[1])]
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            return total
        # about the mean of the points, so that a common offset costs no digits
        centre = points.mean(axis=0, dtype=np.float64)
        centred, rows = points.astype(np.float64) - centre, self - centre
        products = rows @ (-2.0 * centred.T)
        squares = np.square(centred).sum(axis=1)
        return (products + rows.square().sum() + squares[None]).maximum(0.0)

    def nearest(self, points: Array, count: int) -> tuple[Node, Node]:
        """Squared distances and numbers of the nearest constant points, both (m, count), ascending, ties by number.

        Distances of the nearest few are computed from differences: they are exactly 0 for equal rows.
        """
        candidates = min(len(points), count + SPARE)
        rows = self.with_spare_row(points.shape[1])
        _, near = rows.squared_distances(points).lowest(candidates)
        near, _ = near.lowest(candidates)  # ascending row numbers
        squared = (near.entries(points) - rows.expanded(1)).square().sum(axis=2).squeezed(2)
        values, order = squared.lowest(count)
        return values.without_last_row(), near.op("GatherElements", order, axis=1).without_last_row()


def dense(points: Rows) -> Array:
    """Constant points (n, d) as an array.

    Raises
    ------
    NotExportable
        If they are sparse.
    """
    if isinstance(points, SparseRows):
        raise NotExportable("the model was fitted to sparse rows, and compares new rows with them: ONNX has dense rows")
    return points


def saved(name: str) -> type:
    """The class that files of models know by a name, whatever module it is in."""
    return class_of(SAVABLE, name)


@singledispatch
def node_of(part: object, rows: Node) -> Node:
    """The node of what a part of a fit makes of rows, (m, d): each row of the result depends on its own row alone."""
    raise NotExportable(f"{rows.graph.blamed(part)} has no ONNX form")


@singledispatch
def cost_node(codec: Codec, scores: Node, k: int) -> Node:
    """The node of the costs of a labeler of scores, (m, q) to (m, k)."""
    raise NotExportable(f"labeler '{codec.name}' has no ONNX form")


@singledispatch
def kernel_node(kernel: Kernel, rows: Node, points: Array) -> Node:
    """The node of kernel values between rows (m, d) and constant points (n, d), shape (m, n)."""
    raise NotExportable(f"kernel {type(kernel).__name__} has no ONNX form")


@singledispatch
def diagonal_node(kernel: Kernel, rows: Node) -> Node | float:
    """The kernel of every row with itself, (m, 1) or one number for all."""
    raise NotExportable(f"kernel {type(kernel).__name__} has no ONNX form")
