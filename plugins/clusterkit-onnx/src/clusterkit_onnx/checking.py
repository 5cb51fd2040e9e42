"""The law of export: a model in ONNX gives the labels of `predict`. Needs the extra ``testing`` (onnxruntime)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnxruntime

from clusterkit._typing import Array
from clusterkit_onnx.exporting import to_onnx

if TYPE_CHECKING:
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline

__all__ = ["check_export"]


def check_export(model: Pipeline | Driven, X: Array) -> None:
    """Export a fitted estimator to ONNX: the file is valid, and run by onnxruntime it labels rows like `predict`.

    Parameters
    ----------
    model : estimator
        Fitted; of a stage of yours, for example.
    X : ndarray of shape (m, d)
        Rows to label, of any kind; the more of them, the better the check. None too are tried.

    Raises
    ------
    AssertionError
        Saying how many labels or scores differ.
    NotExportable
        Naming the part that has no ONNX form.
    """
    exported = to_onnx(model)
    onnx.checker.check_model(exported, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # a loop whose body ends early is no matter of concern
    session = onnxruntime.InferenceSession(exported.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    answers = dict(zip(names, session.run(names, {"rows": X.astype(np.float64)}), strict=True))
    assert answers["labels"].dtype == np.int64
    np.testing.assert_array_equal(answers["labels"], model.predict(X), err_msg="labels of the exported model")
    none = session.run(["labels"], {"rows": np.empty((0, X.shape[1]))})[0]
    assert none.shape == (0,), f"the exported model gives labels of shape {none.shape} for no rows"
