"""``clusterkit export``: a saved model of a table as a file in ONNX."""

from __future__ import annotations

import json

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the export needs the extra 'onnx'")


@pytest.fixture
def model(run, table, tmp_path):
    path = tmp_path / "points.clusterkit"
    assert run("fit", table, "--recipe", "kmeans", "-k", 3, "--save", path, "-o", tmp_path / "l.csv").exit_code == 0
    return path


def test_labels_of_the_table(run, model, tmp_path, blobs):
    runtime = pytest.importorskip("onnxruntime", reason="what is exported is run by onnxruntime")
    path = tmp_path / "points.onnx"
    answer = run("export", model, "-o", path)
    assert answer.exit_code == 0, answer.output
    assert "inputs" in answer.stdout
    assert "rows double (rows, 2)" in answer.stdout
    assert "labels, scores" in answer.stdout
    labels = runtime.InferenceSession(path.read_bytes()).run(["labels"], {"rows": blobs})[0]
    written = [line.rsplit(",", 1)[-1] for line in (tmp_path / "l.csv").read_text().split()[1:]]
    np.testing.assert_array_equal(labels, np.array(written, dtype=int))


def test_facts_as_json(run, model, tmp_path):
    path = tmp_path / "points.onnx"
    facts = json.loads(run("export", model, "-o", path, "--dtype", "float32", "--json").stdout)
    assert facts["recipe"] == "kmeans"
    assert facts["inputs"] == ["rows float (rows, 2)"]
    assert facts["outputs"] == ["labels", "scores"]
    assert json.loads(facts["metadata"]["columns"]) == ["height", "width"]
    assert facts["bytes"] == path.stat().st_size


def test_without_the_preparation(run, model, tmp_path):
    facts = json.loads(run("export", model, "-o", tmp_path / "p.onnx", "--without-preparation", "--json").stdout)
    assert json.loads(facts["metadata"]["columns"]) == ["height", "width"]


class TestRefusals:
    def test_the_model_itself(self, run, model, tmp_path, error_of):
        before = model.read_bytes()
        assert "-o needs a file of its own, this one is read by this command" in error_of(
            run("export", model, "-o", model)
        )
        assert model.read_bytes() == before

    @pytest.mark.parametrize("name", ["model.txt", "model", "model.csv"])
    def test_another_ending(self, run, model, tmp_path, error_of, name):
        assert "a model in ONNX can be .onnx, not" in error_of(run("export", model, "-o", tmp_path / name))
        assert not (tmp_path / name).exists()

    def test_standard_output(self, run, model, error_of):
        assert "-o needs a file" in error_of(run("export", model, "-o", "-"))

    def test_no_model(self, run, table, tmp_path, error_of):
        assert "is no model of `clusterkit fit --save`" in error_of(run("export", table, "-o", tmp_path / "m.onnx"))

    def test_without_onnx(self, run, model, tmp_path, error_of, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "onnx", None)
        line = error_of(run("export", model, "-o", tmp_path / "m.onnx"))
        assert "needs the package onnx: install it, or clusterkit-toolkit with the extra 'onnx'" in line

    def test_a_method_that_searches_a_domain(self, run, table, tmp_path, error_of):
        saved = tmp_path / "svc.clusterkit"
        run("fit", table, "--recipe", "svc", "--save", saved, "-o", tmp_path / "l.csv")
        line = error_of(run("export", saved, "-o", tmp_path / "m.onnx"))
        assert "labeler 'complete_graph': DomainPredictor has no ONNX form" in line
        assert not (tmp_path / "m.onnx").exists()
