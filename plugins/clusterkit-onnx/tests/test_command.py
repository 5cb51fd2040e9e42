"""``clusterkit export``: a saved model of a table as a file in ONNX."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner, Result

import clusterkit
from clusterkit.cli import app

X = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], 10, axis=0) + np.arange(30)[:, None] / 100


def invoke(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def model(tmp_path):
    table, path = tmp_path / "points.csv", tmp_path / "points.clusterkit"
    table.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in X), encoding="utf-8")
    answer = invoke("fit", table, "-r", "kmeans", "-k", 3, "--save", path, "-o", tmp_path / "labels.csv")
    assert answer.exit_code == 0, answer.output
    return path


def test_labels_of_the_rows(run, model, tmp_path):
    path = tmp_path / "points.onnx"
    answer = invoke("export", model, "-o", path)
    assert answer.exit_code == 0, answer.output
    assert "rows double (rows, 2)" in answer.stdout
    assert "labels, scores" in answer.stdout
    onnx = pytest.importorskip("onnx")
    written = [int(line.rsplit(",", 1)[-1]) for line in (tmp_path / "labels.csv").read_text().split()[1:]]
    np.testing.assert_array_equal(run(onnx.load(path), rows=X)["labels"], written)


@pytest.mark.parametrize("more", [(), ("--without-preparation",)])
def test_facts_as_json(model, tmp_path, more):
    path = tmp_path / "points.onnx"
    facts = json.loads(invoke("export", model, "-o", path, "--dtype", "float32", "--json", *more).stdout)
    assert facts["recipe"] == "kmeans"
    assert facts["inputs"] == ["rows float (rows, 2)"]
    assert facts["outputs"] == ["labels", "scores"]
    assert json.loads(facts["metadata"]["columns"]) == ["a", "b"]
    assert facts["bytes"] == path.stat().st_size


def test_refusals(model, tmp_path):
    def error_of(*words: object) -> str:
        answer = invoke("export", *words)
        assert answer.exit_code == 2, answer.output
        assert "Traceback" not in answer.stderr
        return answer.stderr.partition("error: ")[2]

    before = model.read_bytes()
    assert "-o needs a file of its own, this one is read by this command" in error_of(model, "-o", model)
    assert model.read_bytes() == before
    for name in ("model.txt", "model", "model.csv"):
        assert "a model in ONNX can be .onnx, not" in error_of(model, "-o", tmp_path / name)
        assert not (tmp_path / name).exists()
    assert "-o needs a file" in error_of(model, "-o", "-")
    table, svc, output = tmp_path / "x.csv", tmp_path / "svc.clusterkit", tmp_path / "m.onnx"
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    assert "is no model of `clusterkit fit --save`" in error_of(table, "-o", output)
    assert "Did you mean 'points.clusterkit'?" in error_of(tmp_path / "point.clusterkit", "-o", output)
    clusterkit.recipe("svc", random_state=0).fit(X).save(svc)
    assert "labeler 'complete_graph': DomainPredictor has no ONNX form" in error_of(svc, "-o", output)
    assert not output.exists()
