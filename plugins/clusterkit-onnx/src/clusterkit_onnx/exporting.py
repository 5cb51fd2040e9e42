"""Export of a fitted estimator as a model in ONNX (`to_onnx`)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from sklearn.utils.validation import check_is_fitted

import clusterkit_onnx.conversions  # noqa: F401 # registers what the classes of clusterkit do with rows
from clusterkit import __version__
from clusterkit.errors import InvalidParameter
from clusterkit.files import replacing
from clusterkit_onnx.columns import PreparedColumns
from clusterkit_onnx.graph import Graph
from clusterkit_onnx.nodes import Node, NotExportable

if TYPE_CHECKING:
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["ONNX_ENDING", "PRECISIONS", "to_onnx"]


ONNX_ENDING = ".onnx"
"""Ending of models in ONNX: runtimes and tools tell the format by it."""

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
    model : Pipeline, Auto or another fitted estimator of a recipe
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
    >>> from clusterkit_onnx import to_onnx
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs([20, 20], centers=[[0, 0], [9, 9]], random_state=0)
    >>> model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit(X)
    >>> exported = to_onnx(model)
    >>> [output.name for output in exported.graph.output]
    ['labels', 'scores']
    """
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
            "to_onnx(model[-1]), and takes the rows as the steps before it make them"
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
