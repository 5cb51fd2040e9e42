"""The nodes and constants of one exported model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from clusterkit._typing import AnyArray
from clusterkit.contracts import Stage
from clusterkit_onnx.nodes import OPSET, Node, NotExportable, Operand, Update, node_of

__all__ = ["LABEL_OPSET", "MOST_BYTES", "Graph"]

LABEL_OPSET = 2
"""Version of the operators of ``ai.onnx.ml``, which look texts up: the oldest with look-ups from any type to any."""

IR_VERSION = 8
"""Version of the file format: that of the release which brought operators of version 17."""

MOST_BYTES = 2**31 - 2**20
"""Most bytes of the constants of a model: a file of protobuf ends at 2 GiB, and names and nodes need some room."""

Attribute = int | float | str | Sequence[int]


@final
@attrs.define(eq=False)
class Graph:
    """Collects nodes and constants; equal ones once.

    Parameters
    ----------
    precision : numpy dtype
        Type of all floating-point values: float64 or float32.
    stages : dict of str to str
        Names of the model's stages in errors, by kind.
    reports : dict of str to Node
        Outputs in addition to the labels.
    bytes : int
        Size of all constants.
    """

    precision: np.dtype
    stages: dict[str, str] = attrs.field(factory=dict)
    reports: dict[str, Node] = attrs.field(factory=dict)
    bytes: int = 0
    _nodes: list[Any] = attrs.field(factory=list)
    _constants: list[Any] = attrs.field(factory=list)
    _inputs: list[Any] = attrs.field(factory=list)
    _names: dict[object, tuple[str, ...]] = attrs.field(factory=dict)
    _constant_names: dict[object, str] = attrs.field(factory=dict)
    _count: int = 0
    _stage: str = ""

    def input(self, name: str, width: int, dtype: np.dtype | type | None = None) -> Node:
        """An input of shape (rows, width); float where `dtype` is None, `str` for texts."""
        self._inputs.append(helper.make_tensor_value_info(name, self._code(dtype or self.precision), ["rows", width]))
        return Node(self, name)

    def op(self, operator: str, *inputs: Operand, **attributes: Attribute) -> Node:
        """The first output of an ONNX operator."""
        return self.outputs(operator, 1, *inputs, **attributes)[0]

    def outputs(self, operator: str, count: int, *inputs: Operand, **attributes: Attribute) -> tuple[Node, ...]:
        """All outputs of an ONNX operator that has several."""
        return self._add(operator, count, inputs, attributes)

    def repeat(self, most: int, update: Update, *state: Node) -> tuple[Node, ...]:
        """The state after at most so many updates, as the operator Loop; what they read outside is not copied."""
        outer, known = self._nodes, dict(self._names)
        self._nodes, before = [], tuple(Node(self, self._fresh("state")) for _ in state)
        after, more = update(before)
        going_on = self._fresh("going_on")
        source = self._constant(np.array(True)) if more is None else more.name
        self._nodes.append(helper.make_node("Identity", [source], [going_on]))
        ends = [Node(self, self._fresh("updated")) for _ in after]
        for node, end in zip(after, ends, strict=True):
            self._nodes.append(helper.make_node("Identity", [node.name], [end.name]))
        code = self._code(self.precision)
        body = helper.make_graph(
            self._nodes,
            "update",
            [
                helper.make_tensor_value_info(self._fresh("turn"), TensorProto.INT64, []),
                helper.make_tensor_value_info(self._fresh("went_on"), TensorProto.BOOL, []),
                *(helper.make_tensor_value_info(node.name, code, None) for node in before),
            ],
            [
                helper.make_tensor_value_info(going_on, TensorProto.BOOL, []),
                *(helper.make_tensor_value_info(node.name, code, None) for node in ends),
            ],
        )
        # nodes of the body cannot be read outside; constants can, because all are of the whole model
        self._nodes, self._names = outer, known
        return self._add("Loop", len(state), (np.array(most), np.array(True), *state), {"body": body})

    def look_up(self, texts: Node, keys: Sequence[str], values: Sequence[int], other: int) -> Node:
        """Integers (int64) for texts: `values` for the keys, and `other` for all further texts."""
        table = {"keys_strings": list(keys), "values_int64s": list(values), "default_int64": other}
        return self._add("LabelEncoder", 1, (texts,), table, "ai.onnx.ml")[0]

    def cast(self, node: Node, dtype: np.dtype | type) -> Node:
        """The values converted to another type; float64 means the precision of the graph."""
        code = self._code(self.precision if np.dtype(dtype) == np.float64 else dtype)
        return self.op("Cast", node, to=code)

    def follow(self, part: object, rows: Node, stage: str = "") -> Node:
        """The output of a part for given rows."""
        before, self._stage = self._stage, stage or self._stage
        node = node_of(part, rows)
        self._stage = before
        return node

    def report(self, name: str, node: Node) -> None:
        """Make a node a further output of the model, in addition to its labels."""
        self.reports[name] = node

    def model(self, labels: Node) -> onnx.ModelProto:
        """The model with the labels (rows,) and the reported nodes, (rows, any number), as outputs."""
        outputs = [helper.make_tensor_value_info("labels", TensorProto.INT64, ["rows"])]
        self._rename(labels, "labels")
        for name, node in self.reports.items():
            outputs.append(helper.make_tensor_value_info(name, self._code(self.precision), ["rows", None]))
            self._rename(node, name)
        graph = helper.make_graph(self._nodes, "clusterkit", self._inputs, outputs, self._constants)
        opsets = [helper.make_opsetid("", OPSET)]
        if any(node.domain for node in self._nodes):
            opsets.append(helper.make_opsetid("ai.onnx.ml", LABEL_OPSET))
        return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets)

    def _add(
        self, operator: str, count: int, inputs: Sequence[Operand], attributes: Any, domain: str = ""
    ) -> tuple[Node, ...]:
        names = [self._name_of(value) for value in inputs]
        key = (operator, *names, repr(sorted(attributes.items())))
        if key not in self._names:
            self._names[key] = tuple(self._fresh(operator) for _ in range(count))
            node = helper.make_node(operator, names, self._names[key], domain=domain, **attributes)
            self._nodes.append(node)
        return tuple(Node(self, name) for name in self._names[key])

    def _name_of(self, value: Operand) -> str:
        if isinstance(value, Node):
            return value.name
        return self._constant(np.asarray(value))

    def _constant(self, array: AnyArray) -> str:
        types = {"f": self.precision, "i": np.dtype(np.int64), "u": np.dtype(np.int64)}
        array = array.astype(types.get(array.dtype.kind, array.dtype))
        key = (array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).digest())
        if key not in self._constant_names:
            self.bytes += array.nbytes
            if self.bytes > MOST_BYTES:
                raise NotExportable(
                    f"the model has more than {MOST_BYTES:,} bytes of constants, which no ONNX file can hold; fit "
                    "fewer rows or features"
                )
            self._constant_names[key] = self._fresh("constant")
            self._constants.append(numpy_helper.from_array(array, self._constant_names[key]))
        return self._constant_names[key]

    def _fresh(self, word: str) -> str:
        """A name that nothing in the model has."""
        self._count += 1
        return f"{word}_{self._count}"

    def _rename(self, node: Node, name: str) -> None:
        """Give a node the name of an output."""
        self._nodes.append(helper.make_node("Identity", [node.name], [name]))

    def blamed(self, part: object) -> str:
        """A part in words, with the stage that left it behind."""
        if isinstance(part, Stage):
            return f"{part.kind} '{part.name}'"
        words = self.stages.get(self._stage)
        return type(part).__name__ if words is None else f"{words}: {type(part).__name__}"

    @staticmethod
    def _code(dtype: np.dtype | type) -> int:
        return TensorProto.STRING if dtype is str else int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
