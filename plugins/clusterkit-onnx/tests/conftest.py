from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime", reason="what is exported is run by onnxruntime")


@pytest.fixture(scope="session")
def run():
    """Run a model that the checker accepts; its outputs by name."""

    def outputs(model: Any, **inputs: Any) -> dict[str, np.ndarray]:
        onnx.checker.check_model(model, full_check=True)
        options = runtime.SessionOptions()
        options.log_severity_level = 3
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))

    return outputs
