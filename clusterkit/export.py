"""Export of a fitted estimator as a model in ONNX (`to_onnx`).

`Graph` has the nodes of the model that `clusterkit.samples.row_graph` asks for, as onnx has them. `PreparedColumns` is
the preparation of a table as a part of the graph: numbers and moments in one input, texts in another. `filled` gives
gaps the values of the most similar hot-deck donor rows.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from sklearn.utils.validation import check_is_fitted

from clusterkit._typing import AnyArray, Array
from clusterkit._version import __version__
from clusterkit.contracts import Stage
from clusterkit.errors import InvalidParameter, NotExportable
from clusterkit.files import ONNX_ENDING, replacing
from clusterkit.samples.row_graph import OPSET, Node, Operand, RowFunction, Update
from clusterkit.tables import FittedPreparation
from clusterkit.tables.preparing.places import places
from clusterkit.tables.preparing.plans import (
    CLOCK,
    HOURS,
    ROOT,
    CategoryColumn,
    ColumnPlan,
    DateColumn,
    Donors,
    NumberColumn,
    can_be_gap,
    value_features,
)

if TYPE_CHECKING:
    import onnx

    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline

__all__ = [
    "LABEL_OPSET",
    "MOST_BYTES",
    "PRECISIONS",
    "Graph",
    "PreparedColumns",
    "filled",
    "need_onnx",
    "to_onnx",
]


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
        from onnx import helper

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
        from onnx import TensorProto, helper

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
        if not isinstance(part, RowFunction):
            raise NotExportable(f"{self._blamed(part)} has no ONNX form")
        node = part.onnx(rows)
        self._stage = before
        return node

    def report(self, name: str, node: Node) -> None:
        """Make a node a further output of the model, in addition to its labels."""
        self.reports[name] = node

    def model(self, labels: Node) -> onnx.ModelProto:
        """The model with the labels (rows,) and the reported nodes, (rows, any number), as outputs."""
        from onnx import TensorProto, helper

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
        from onnx import helper

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
        from onnx import numpy_helper

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
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [node.name], [name]))

    def _blamed(self, part: object) -> str:
        """A part in words, with the stage that left it behind."""
        if isinstance(part, Stage):
            return f"{part.kind} '{part.name}'"
        words = self.stages.get(self._stage)
        return type(part).__name__ if words is None else f"{words}: {type(part).__name__}"

    @staticmethod
    def _code(dtype: np.dtype | type) -> int:
        from onnx import TensorProto, helper

        return TensorProto.STRING if dtype is str else int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


MOST_TERMS = 256
"""Features up to which distances are added up feature by feature, as `clusterkit.tables.preparing.plans` does, so that
ties between donors are the same ties; above it they are matrix products, which is a smaller graph."""


def filled(features: Node, gaps: Node, donors: Donors, plans: Sequence[ColumnPlan]) -> Node:
    """The features, with those of the most similar donor where there are gaps; see `Donors.fill`.

    Parameters
    ----------
    features : Node
        (m, features), with what is typical in gaps.
    gaps : Node
        (m, used columns): 1 for a gap, else 0.
    donors : Donors
    plans : sequence of ColumnPlan
        Plans of the used columns.
    """
    of_columns, fillable = value_features(plans), can_be_gap(plans)
    column_of = np.zeros(donors.features.shape[1], dtype=np.int64)
    is_value = np.zeros(donors.features.shape[1])
    for j, its in enumerate(of_columns):
        # the feature of gaps stands behind those of the values
        column_of[its[0] :], is_value[its] = j, 1.0
    missing = gaps.columns(column_of)  # gaps by feature, (m, features)
    points = donors.features.astype(np.float64)
    distances = _distances(features, (1.0 - missing) * is_value, points)
    parts: list[Node] = []
    for j in range(len(plans)):
        width = np.flatnonzero(column_of == j)
        able = np.flatnonzero(donors.has[:, j])
        # a column that no donor has stays as it is
        near = distances.columns(able).argmin().entries(points[np.ix_(able, width)]) if len(able) else None
        parts.append(features.columns(width) if near is None else near)
    lent = parts[0].joined(*parts[1:])
    # and so does a row without any value
    some = gaps.columns(np.flatnonzero(fillable)).sum() < fillable.sum() - 0.5
    return (missing * is_value > 0.5).op("And", some).where(lent, features)


def _distances(features: Node, weights: Node, points: Array) -> Node:
    """Squared distances to the donors, (m, donors), in the features with weight 1."""
    used = range(points.shape[1])
    if len(used) > MOST_TERMS:
        centre = points.mean(axis=0)
        rows, points = features - centre, points - centre
        squares = weights @ np.square(points).T
        return (rows.square() * weights).sum() + squares - (rows * weights) @ (2.0 * points.T)
    terms = [(features.columns([j]) - points[None, :, j]).square() * weights.columns([j]) for j in used]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


GAP = ""
"""The text that means a gap: ONNX has no missing text as numbers have nan."""


@final
@attrs.frozen(eq=False)
class PreparedColumns:
    """The columns of a table that an exported model takes.

    Parameters
    ----------
    numbers : tuple of NumberColumn or DateColumn
        Plans in the order of the input ``rows``.
    levels : tuple of CategoryColumn
        Plans in the order of the input ``levels``.
    fitted : FittedPreparation
    """

    numbers: tuple[NumberColumn | DateColumn, ...]
    levels: tuple[CategoryColumn, ...]
    fitted: FittedPreparation

    @classmethod
    def of(cls, fitted: FittedPreparation) -> PreparedColumns:
        """The columns of a preparation, in the order of its table."""
        numbers = tuple(plan for plan in fitted.plans if isinstance(plan, NumberColumn | DateColumn))
        levels = tuple(plan for plan in fitted.plans if isinstance(plan, CategoryColumn))
        return cls(numbers, levels, fitted)

    @property
    def dates(self) -> tuple[str, ...]:
        """Names of the columns of moments, in seconds since the beginning of 1970."""
        return tuple(plan.name for plan in self.numbers if isinstance(plan, DateColumn))

    @property
    def hours(self) -> tuple[str, ...]:
        """Names of the columns of times of day, since midnight, and of durations, in hours."""
        return tuple(plan.name for plan in self.numbers if isinstance(plan, NumberColumn) and plan.clock)

    def features(self, graph: Graph) -> Node:
        """The features of the rows of the inputs, which are added to the graph.

        Raises
        ------
        NotExportable
            If there are dates, and the graph is of single precision.
        """
        self._refuse_moments(graph)
        parts: list[Node] = []
        names: list[tuple[str, str]] = []  # a level of one column may be called as another column is
        gaps: list[Node] = []  # 1 for a gap: of all numbers, then of each category
        if self.numbers:
            gaps.append(self._numbers(graph, parts, names))
        if self.levels:
            texts = graph.input("levels", len(self.levels), str)
            for j, plan in enumerate(self.levels):
                _level(graph, texts.columns([j]), plan, parts)
                names += _named(plan, *plan.features)
                if self.fitted.donors is not None:
                    gaps.append(_gaps_of_level(graph, texts.columns([j]), plan))
        ordered = [name for plan in self.fitted.plans for name in _named(plan, *plan.features)]
        features = _joined(parts).columns([names.index(name) for name in ordered])
        if self.fitted.narrow:
            features = features.rounded(np.dtype(np.float32))
        if self.fitted.donors is None:
            return features
        used = [plan for plan in self.fitted.plans if plan.used]
        inputs = [plan.name for plan in (*self.numbers, *self.levels)]
        order = [inputs.index(plan.name) for plan in used]
        return filled(features, _joined(gaps).columns(order), self.fitted.donors, used)

    def codes(self, graph: Graph) -> Node:
        """The columns of numbers and codes for methods of mixed columns, NaN in gaps, of the rows of the inputs."""
        self._refuse_moments(graph)
        parts: dict[str, list[Node]] = {}
        gap = np.array([[np.nan]])
        if self.numbers:
            rows = self._in_hours(graph.input("rows", len(self.numbers)))
            missing = (rows - rows).equals(0.0).op("Not")
            for j, plan in enumerate(self.numbers):
                x, gaps = rows.columns([j]), missing.columns([j])
                if isinstance(plan, NumberColumn):
                    turned = [gaps.where(gap, part) for part in _circle(x / CLOCK)]
                    parts[plan.name] = turned if plan.circle else [gaps.where(gap, x)]
                    continue
                of_plan = [(x - plan.centre) / 86400.0]
                for part in plan.parts:
                    of_plan += _circle(x / (3600.0 * HOURS[part]))
                parts[plan.name] = [gaps.where(gap, node) for node in of_plan]
        if self.levels:
            texts = graph.input("levels", len(self.levels), str)
            parts |= {plan.name: [_code(graph, texts.columns([j]), plan)] for j, plan in enumerate(self.levels)}
        return _joined([node for plan in self.fitted.plans for node in parts.get(plan.name, ())])

    def _refuse_moments(self, graph: Graph) -> None:
        if self.dates and graph.precision != np.float64:
            raise NotExportable(
                f"column {self.dates[0]!r} has moments in seconds since 1970, for which float32 has too few digits; "
                "export it with dtype='float64'"
            )

    def _in_hours(self, rows: Node) -> Node:
        """Times of day before the day begins as those of the next one."""
        begins = np.array([getattr(plan, "begin", 0.0) for plan in self.numbers], dtype=np.float64)
        return rows + (rows < begins).as_type(np.float64) * (24.0 * (begins != 0.0)) if begins.any() else rows

    def _numbers(self, graph: Graph, parts: list[Node], names: list[tuple[str, str]]) -> Node:
        """Features of numbers and moments: all columns at once, then their gaps, then the parts of dates.

        Returns the gaps, (m, columns): 1 for a gap, else 0.
        """
        rows = graph.input("rows", len(self.numbers))
        gaps = (rows - rows).equals(0.0).op("Not")  # nan, and infinite numbers, which count as gaps too
        fill, centre, factor = (
            np.array([getattr(plan, name) for plan in self.numbers], dtype=np.float64)
            for name in ("fill", "centre", "factor")
        )
        filled = gaps.where(fill, self._in_hours(rows))
        parts.append((filled - centre) * factor)
        # names that no feature has are left out at the end: times around the clock have sine and cosine instead
        turned = [bool(getattr(plan, "circle", 0.0) or getattr(plan, "sphere", "")) for plan in self.numbers]
        names += [(plan.name, "" if on else plan.features[0]) for plan, on in zip(self.numbers, turned, strict=True)]
        flagged = [j for j, plan in enumerate(self.numbers) if plan.told_by]
        if flagged:
            weights = np.array([self.numbers[j].weight for j in flagged])
            parts.append(gaps.as_type(np.float64).columns(flagged) * weights)
            names += [(self.numbers[j].name, self.numbers[j].features[-1]) for j in flagged]
        at = {plan.name: j for j, plan in enumerate(self.numbers)}
        for latitude, longitude in places(self.numbers):
            halves = [filled.columns([at[plan.name]]) * (math.pi / 180.0) for plan in (latitude, longitude)]
            parts += _on_sphere(halves[0], halves[1], latitude.radius)
            names += [*_named(longitude, *longitude.features[:2]), *_named(latitude, latitude.features[0])]
        for j, plan in enumerate(self.numbers):
            if isinstance(plan, NumberColumn):
                if plan.circle:
                    parts += _on_circle(gaps.columns([j]), filled.columns([j]) / CLOCK, plan.circle)
                    names += _named(plan, *plan.features[:2])
                continue
            for i, part in enumerate(plan.parts):
                turns = filled.columns([j]) / (3600.0 * HOURS[part])
                parts += _on_circle(gaps.columns([j]), turns, plan.weight / ROOT)
                names += _named(plan, *plan.features[1 + 2 * i : 3 + 2 * i])
        known = gaps.as_type(np.float64)
        columns = [known.columns([j]) for j in range(len(self.numbers))]
        for pair in places(self.numbers):  # a place lacks both halves where it lacks one
            j, i = (at[plan.name] for plan in pair)
            columns[j] = columns[i] = columns[j].maximum(columns[i])
        return _joined(columns) if places(self.numbers) else known


def _joined(parts: Sequence[Node]) -> Node:
    return parts[0].joined(*parts[1:]) if len(parts) > 1 else parts[0]


def _on_circle(gaps: Node, turns: Node, radius: float) -> list[Node]:
    """Sine and cosine of turns, 0 for gaps."""
    return [gaps.where(0.0, part * radius) for part in _circle(turns)]


def _circle(turns: Node) -> list[Node]:
    """Sine and cosine of turns."""
    angle = (turns - turns.op("Floor")) * (2 * np.pi)
    # older runtimes have no cosine of float64
    return [(angle + ahead).op("Sin") for ahead in (0.0, np.pi / 2)]


def _code(graph: Graph, texts: Node, plan: CategoryColumn) -> Node:
    """Codes of a category, NaN in gaps, from its texts (rows, 1)."""
    places = list(plan.ranks) or list(range(len(plan.levels)))
    if plan.or_gap:
        return graph.look_up(texts, list(plan.levels), [1 for _ in places], 0).as_type(np.float64)
    gap = [] if GAP in plan.levels else [GAP]
    other = len(plan.levels) if plan.rare and not plan.ranks else -1
    codes = graph.look_up(texts, [*plan.levels, *gap], [*places, *(-1 for _ in gap)], other).as_type(np.float64)
    return (codes < -0.5).where(np.array([[np.nan]]), codes)


def _on_sphere(latitude: Node, longitude: Node, radius: float) -> list[Node]:
    """The coordinates x, y and z of places, from angles."""
    across = (latitude + math.pi / 2).op("Sin") * radius  # older runtimes have no cosine of float64
    return [across * (longitude + math.pi / 2).op("Sin"), across * longitude.op("Sin"), latitude.op("Sin") * radius]


def _named(plan: ColumnPlan, *features: str) -> list[tuple[str, str]]:
    return [(plan.name, feature) for feature in features]


def _level(graph: Graph, texts: Node, plan: CategoryColumn, parts: list[Node]) -> None:
    """Features of a category, from its texts (rows, 1)."""
    gap = [] if GAP in plan.levels else [GAP]
    of_gap = -1 if plan.or_gap else plan.fill
    values = [*range(len(plan.levels)), *(of_gap for _ in gap)]
    other = len(plan.levels) if plan.rare else of_gap
    places = graph.look_up(texts, [*plan.levels, *gap], values, other)
    if plan.or_gap:
        parts.append(places.equals(np.array([[0]])).as_type(np.float64) * plan.weight)
    elif plan.n_groups == 2:
        parts.append(places.equals(np.array([[1]])).as_type(np.float64) * plan.weight)
    else:
        parts.append(places.equals(np.arange(plan.n_groups)[None]).as_type(np.float64) * (plan.weight / ROOT))
    if plan.told_by:
        parts.append(graph.look_up(texts, gap, [1 for _ in gap], 0).as_type(np.float64) * plan.weight)


def _gaps_of_level(graph: Graph, texts: Node, plan: CategoryColumn) -> Node:
    """Indicator (rows, 1) of gaps: 1 for a gap, and for an unknown text if rare levels have no group; else 0."""
    if plan.or_gap:
        return graph.look_up(texts, list(plan.levels), [0 for _ in plan.levels], 0).as_type(np.float64)
    gap = [] if GAP in plan.levels else [GAP]
    values = [*(0 for _ in plan.levels), *(1 for _ in gap)]
    return graph.look_up(texts, [*plan.levels, *gap], values, 0 if plan.rare else 1).as_type(np.float64)


PRECISIONS = ("float64", "float32")
"""Types of the numbers in a model, the default first."""

WHAT_CAN = (
    "ONNX holds functions of single rows: scores, memberships, nearest centres and nearest rows can be exported, "
    "labels that need a search through a domain cannot"
)
"""The last sentence of an error about what cannot be exported."""


def to_onnx(
    model: Pipeline | Driven,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: str = "float64",
    preparation: bool = True,
) -> onnx.ModelProto:
    """Write what labels new rows as a model in ONNX, which runs without Python and clusterkit.

    Parameters
    ----------
    model : Pipeline, Auto, Pooled or another fitted estimator of a recipe
    path : path, optional
        A file to write, whole or not at all; it ends in ``.onnx``.
    dtype : {"float64", "float32"}, default "float64"
        Type of all numbers of the model, its input included. float64 gives the labels of `predict`; with float32 rows
        near a border between two clusters may change sides.
    preparation : bool, default True
        Whether the preparation of a table, where the model has one, is a part of the export. Without it the rows are
        the prepared features.

    Returns
    -------
    onnx.ModelProto
        With these inputs and outputs for any number m of rows:

        - ``rows``, (m, d): the samples; of a prepared table its columns of numbers, where nan is a gap, of times
          of day and durations, in hours, and of dates, in seconds since the beginning of 1970 (UTC).
        - ``levels``, (m, c), texts: the categories of a prepared table, where an empty text is a gap. Only if there are
          any.
        - ``labels``, (m,), int64: -1 is noise.
        - ``scores``, (m, q): what the labels were read from, as in `decision_function`. Only if there are any.

        Its metadata are texts: "recipe", "columns" and "levels" (names of the columns of the inputs in their order, as
        JSON), "dates" and "hours" (those of them that are dates, and times of day or durations).

    Raises
    ------
    NotExportable
        If the labels of a new row follow from a search that ONNX has no operators for, as in support vector clustering;
        names the stage. If the model is none of clusterkit.
    NotFittedError
        Before the fit.
    ImportError
        If the package onnx is missing.
    InvalidParameter
        If `dtype` is another one, or the path has another ending.
    OSError
        If the file cannot be written; names path and reason.

    Notes
    -----
    The exported model checks nothing. `predict` refuses rows with NaN or infinite values, and the exported model gives
    such a row some label: look for them before (``numpy.isfinite(rows).all(axis=1)``). Only in the columns of a
    prepared table NaN is a gap, which is filled as by `predict`.

    Rows are rounded to the type of the training data first, as by `predict`, and all else is computed in `dtype`. Sums
    are added in another order than numpy's, so that a row whose scores differ by rounding errors alone may get another
    label. The time and memory of a model that compares rows with all training rows grow with their number.

    Examples
    --------
    >>> import clusterkit
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs([20, 20], centers=[[0, 0], [9, 9]], random_state=0)
    >>> model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(X)
    >>> exported = clusterkit.to_onnx(model)
    >>> [output.name for output in exported.graph.output]
    ['labels', 'scores']
    """
    need_onnx()
    if dtype not in PRECISIONS:
        raise InvalidParameter(f"dtype must be {' or '.join(map(repr, PRECISIONS))}, got {dtype!r}")
    if path is not None and os.path.splitext(path)[1].lower() != ONNX_ENDING:
        raise InvalidParameter(f"{os.fspath(path)}: the file of a model in ONNX ends in {ONNX_ENDING}")
    fitted: Any = model
    if not hasattr(fitted, "_why_not_inductive"):
        raise NotExportable(_why_not(fitted))
    check_is_fitted(fitted)
    predictor = fitted.predictor_
    if predictor is None:
        raise NotExportable(f"the model labels no new rows: {fitted._why_not_inductive() or 'fit it again'}")
    graph = Graph(np.dtype(dtype), _stages(fitted))
    rows, metadata = _rows(fitted, graph, preparation)
    try:
        labels = rows.through(predictor, "labeler")
    except NotExportable as error:
        raise NotExportable(f"{error}. {WHAT_CAN}") from None
    exported = graph.model(labels)
    exported.producer_name, exported.producer_version = "clusterkit", __version__
    metadata = {"recipe": fitted._recipe or type(model).__name__, **metadata}
    for name, text in metadata.items():
        exported.metadata_props.add(key=name, value=text)
    if path is not None:
        with replacing(os.fspath(path)) as part:
            part.write_bytes(exported.SerializeToString())
    return exported


def need_onnx() -> None:
    """Raise ImportError, with what to install, if onnx is missing."""
    try:
        import onnx  # noqa: F401 # only whether it is there
    except ImportError as error:
        raise ImportError(
            "a model in ONNX needs the package onnx: install it, or clusterkit-toolkit with the extra 'onnx'"
        ) from error


def _why_not(model: Any) -> str:
    """Why something that is no fit of a recipe cannot be exported."""
    kind = type(model)
    package = kind.__module__.partition(".")[0]
    if package == "clusterkit":
        return f"{kind.__name__} has no ONNX form. {WHAT_CAN}"
    takes = "to_onnx takes fitted estimators of clusterkit, such as clusterkit.recipe('kmeans').fit(X)"
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and hasattr(steps[-1][-1], "_why_not_inductive"):
        return (
            f"{takes}, and this is a {kind.__name__} of {package}. Its last step can be exported, "
            "clusterkit.to_onnx(model[-1]), and takes the rows as the steps before it make them"
        )
    other = ". The package skl2onnx exports those of scikit-learn" if package == "sklearn" else ""
    return f"{takes}, not a {kind.__name__} of {package}{other}"


def _rows(model: Any, graph: Graph, preparation: bool) -> tuple[Node, dict[str, str]]:
    """Input of the stages as a node, from the inputs of the graph, and the metadata that describe these inputs."""
    fitted = getattr(model, "preparation_", None)
    if fitted is not None and preparation:
        prepared = PreparedColumns.of(fitted)
        names = {
            "columns": [plan.name for plan in prepared.numbers],
            "levels": [plan.name for plan in prepared.levels],
            "dates": list(prepared.dates),
            "hours": list(prepared.hours),
        }
        rows = prepared.codes(graph) if fitted.coded else prepared.features(graph)
        return rows, {key: json.dumps(value) for key, value in names.items() if value}
    d = int(model.n_features_in_)
    columns = getattr(model, "feature_names_in_", range(1, d + 1)) if fitted is None else fitted.features
    if fitted is not None and fitted.coded:
        columns, d = fitted.names_of_codes, len(fitted.names_of_codes)
    return graph.input("rows", d), {"columns": json.dumps([str(name) for name in columns])}


def _stages(model: Any) -> dict[str, str]:
    """Names in errors of the stages that a model was fitted with, by kind."""
    chosen = model.resolved_.get("auto", {}).get("recipe")
    planned = model._planned()
    if chosen is not None or planned is None:
        words = "what labels new rows" if chosen is None else f"recipe '{chosen}'"
        return dict.fromkeys(("featuremap", "solver", "labeler"), words)
    stages = (planned.featuremap, planned.solver, planned.labeler)
    return {stage.kind: f"{stage.kind} '{stage.name}'" for stage in stages}
