"""Parts of fits that no recipe leaves behind, or only with other data: each does in ONNX what it does in numpy."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import attrs
import numpy as np
import pytest
from clusterkit_onnx import Node, NotExportable, node_of, to_onnx
from clusterkit_onnx.graph import Graph
from scipy.sparse import random_array

from clusterkit import Auto, ConsensusClustering, Pipeline, recipe
from clusterkit.contracts import FeatureMap
from clusterkit.drivers.auto_fits import Complete, Votes
from clusterkit.drivers.single import NearestSampleRow
from clusterkit.errors import InvalidParameter
from clusterkit.fitting.fit import AllZero
from clusterkit.samples import build_space
from clusterkit.samples.transform import Transform

pytestmark = pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")

RNG = np.random.default_rng(1)
X = np.abs(np.concatenate([RNG.normal(centre, 0.6, (25, 6)) for centre in (1.0, 3.0, 6.0)]))
NEW = RNG.uniform(0.0, 7.0, (2000, 6))

COMPOSITIONS = {
    "minmax, pca": Pipeline(["minmax", "pca"], "centroids", "argmax", init="seeds"),
    "zscore, sigmoid": Pipeline(["zscore", {"name": "elm", "activation": "sigmoid"}], "ridge", "argmax"),
    "radbas": Pipeline({"name": "elm", "activation": "radbas", "scale": None, "width": 0.1}, "ridge", "argmax"),
    "log_tfidf": Pipeline("log_tfidf", "centroids", "argmax", init="seeds"),
    "interval, midpoint": Pipeline("elm", "ridge", {"name": "interval", "rule": "midpoint"}),
    "kernel": Pipeline("rbf", "ridge", "argmax"),
    "fuzzifier": Pipeline("identity", {"name": "fuzzy_cmeans", "fuzzifier": 1.4}, "argmax"),
    "multiplicative": Pipeline("identity", {"name": "nmf", "update": "multiplicative"}, "rows_kmeans"),
    "nmf by argmax": Pipeline("identity", "nmf", "argmax"),
    "graph": Pipeline({"name": "graph", "normalize": False}, "centroids", "argmax", init="seeds"),
    "regular graph": Pipeline({"name": "graph", "normalize": False, "regularization": 0.5}, "centroids", init="seeds"),
    "unit, layout": Pipeline(["unit", "layout"], "centroids", "argmax", init="seeds"),
    "merge trees": Pipeline([{"name": "unit", "center": True}, "layout"], "paris", "layers"),
    "balanced": Pipeline("identity", "centroids", "argmax", init="seeds", balancer="transport"),
    "balanced mixture": recipe("mixture", balancer="transport"),
    "tree with reach": Pipeline("identity", {"name": "mst", "n_neighbors": 6}, "mass_cut"),
    "tree in few attributes": Pipeline({"name": "pca", "n_components": 2}, {"name": "mst", "n_neighbors": 4}, "genie"),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_a_composition(name, run):
    model = COMPOSITIONS[name]
    model = model.set_params(n_clusters=3, random_state=0).fit(X)
    outputs = run(to_onnx(model), rows=NEW)
    np.testing.assert_array_equal(outputs["labels"], model.predict(NEW))
    if name == "balanced mixture":
        np.testing.assert_allclose(outputs["scores"], model.decision_function(NEW), atol=1e-9)


def test_one_output_of_two_clusters_by_its_sign(run):
    model = Pipeline("elm", "ridge", {"name": "interval", "rule": "signed"}, n_clusters=2, random_state=0).fit(X)
    np.testing.assert_array_equal(run(to_onnx(model), rows=NEW)["labels"], model.predict(NEW))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("solver", ["ridge", "svm", "svr", "centroids"])
def test_one_cluster_and_two(solver, k, run):
    model = Pipeline("elm", solver, n_clusters=k, random_state=0).fit(X)
    np.testing.assert_array_equal(run(to_onnx(model), rows=NEW)["labels"], model.predict(NEW))


def of_part(part, width, rows, run):
    graph = Graph(np.dtype(np.float64))
    return run(graph.model(graph.input("rows", width).through(part)), rows=rows)["labels"]


LABELS = np.repeat([0, 1, 2], 25)


@pytest.mark.parametrize(
    "part",
    [
        AllZero(),
        Votes(X, LABELS),
        Votes(X[:3], LABELS[::25], 5),
        NearestSampleRow(Transform((), X.dtype), X, LABELS, 1.0),
        Complete(recipe("hdbscan").fit(X).predictor_, Votes(X, LABELS)),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_predictor_of_a_driver(part, run):
    np.testing.assert_array_equal(of_part(part, 6, NEW, run), part(NEW))
    np.testing.assert_array_equal(of_part(part, 6, X, run), part(X))


def test_ties_between_whole_numbers(run):
    """Distances of whole numbers are exact in few attributes, so that ties are found as in numpy."""
    grid = np.array([(i, j) for i in range(12) for j in range(7) if i != 5], dtype=float)
    new = np.array([(i / 2, j / 2) for i in range(26) for j in range(16)])
    for labeler in ("genie", "mass_cut", "single"):
        model = Pipeline("identity", {"name": "mst", "n_neighbors": 3}, labeler, n_clusters=2).fit(grid)
        np.testing.assert_array_equal(run(to_onnx(model), rows=new)["labels"], model.predict(new))
    part = NearestSampleRow(Transform((), grid.dtype), grid, np.arange(len(grid)), 1.0)
    np.testing.assert_array_equal(of_part(part, 2, new, run), part(new))


def test_wide_rows_of_auto(run):
    """Of wide data `Auto` fits the coordinates in which the rows differ."""
    wide = np.concatenate([RNG.normal(0.0, 1.0, (15, 60)), RNG.normal(3.0, 1.0, (15, 60))])
    model = Auto(pool=["kmeans", "genie"], random_state=0).fit(wide)
    assert type(model.predictor_).__name__ == "SpanPredictor"
    new = RNG.normal(1.5, 2.0, (500, 60))
    np.testing.assert_array_equal(run(to_onnx(model), rows=new)["labels"], model.predict(new))


def test_a_model_of_sparse_rows(run):
    counts = random_array((60, 30), density=0.3, rng=np.random.default_rng(0), format="csr")
    counts.data = np.ceil(9 * counts.data)
    model = Pipeline("log_tfidf", "centroids", "argmax", init="seeds", n_clusters=3, random_state=0).fit(counts)
    new = np.round(RNG.uniform(0, 5, (300, 30)) * (RNG.random((300, 30)) < 0.3))
    np.testing.assert_array_equal(run(to_onnx(model), rows=new)["labels"], model.predict(new))
    tree = Pipeline("rbf", "centroids", "argmax", init="random", n_clusters=3, random_state=0).fit(counts)
    if type(tree.space_.points).__name__ == "SparseRows":
        with pytest.raises(NotExportable, match="fitted to sparse rows"):
            to_onnx(tree)


def test_an_export_labels_what_predict_refuses_and_its_documents_say_so(run):
    model = recipe("kmeans", n_clusters=2, random_state=0).fit(X)
    gap = np.where(np.arange(X.size).reshape(X.shape) == 0, np.nan, X)
    with pytest.raises(ValueError, match="X has NaN in 1 of"):
        model.predict(gap)
    assert len(run(to_onnx(model), rows=gap)["labels"]) == len(X)
    page = Path(__file__).parents[3] / "docs" / "how-to" / "export-to-onnx.md"
    for text in (page.read_text(encoding="utf-8"), to_onnx.__doc__):
        assert "checks nothing" in text
        assert "NaN" in text


class TestErrors:
    def test_distances(self):
        D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
        model = recipe("genie", n_clusters=2, metric="precomputed").fit((D + D.T) / 2)
        with pytest.raises(NotExportable, match="predictions from precomputed distances have no ONNX form"):
            to_onnx(model)

    def test_a_search_through_a_domain(self):
        model = recipe("svc", random_state=0).fit(X)
        with pytest.raises(NotExportable, match=r"labeler 'complete_graph': DomainPredictor has no ONNX form\."):
            to_onnx(model)

    def test_another_estimator(self):
        with pytest.raises(NotExportable, match="ConsensusClustering has no ONNX form"):
            to_onnx(ConsensusClustering(n_members=3, random_state=0).fit(X))

    def test_what_is_none_of_ours(self):
        from sklearn.cluster import KMeans
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        other = r"to_onnx takes fitted estimators of clusterkit.* not a KMeans of sklearn.* skl2onnx"
        with pytest.raises(NotExportable, match=other):
            to_onnx(KMeans(2, n_init=1).fit(X))
        with pytest.raises(NotExportable, match=other):
            to_onnx(KMeans(2))
        chain = make_pipeline(StandardScaler(), recipe("kmeans", n_clusters=2, random_state=0)).fit(X)
        with pytest.raises(NotExportable, match=r"Pipeline of sklearn\. Its last step can be exported, .*model\[-1\]"):
            to_onnx(chain)
        assert to_onnx(chain[-1]).graph.output
        with pytest.raises(NotExportable, match=r"takes fitted estimators of clusterkit.* not a str of builtins"):
            to_onnx("model.clusterkit")

    @pytest.mark.parametrize("name", ["model.pb", "model", "model.onnx.gz"])
    def test_another_ending(self, name, tmp_path):
        model = recipe("kmeans", n_clusters=2, random_state=0).fit(X)
        with pytest.raises(InvalidParameter, match=r"the file of a model in ONNX ends in \.onnx"):
            to_onnx(model, tmp_path / name)
        assert not (tmp_path / name).exists()

    def test_before_the_fit(self):
        with pytest.raises(ValueError, match="not fitted"):
            to_onnx(recipe("kmeans", n_clusters=2))

    def test_a_transductive_method(self):
        model = recipe("ncut", n_clusters=2, random_state=0).fit(X)
        with pytest.raises(NotExportable, match="labels no new rows: solver 'ncut'"):
            to_onnx(model)

    def test_another_type(self):
        model = recipe("kmeans", n_clusters=2, random_state=0).fit(X)
        with pytest.raises(InvalidParameter, match="'float64' or 'float32', got 'float16'"):
            to_onnx(model, dtype="float16")

    def test_more_than_a_file_holds(self, monkeypatch):
        monkeypatch.setattr("clusterkit_onnx.graph.MOST_BYTES", 100)
        with pytest.raises(NotExportable, match="more than 100 bytes of constants"):
            to_onnx(recipe("kmeans", n_clusters=2).fit(X))


@attrs.frozen(eq=False)
class Cubes:
    """A row map without an ONNX form."""

    width: int

    def __call__(self, Y):
        return Y**3


@attrs.frozen(eq=False)
class ExportedCubes(Cubes):
    """The same with one."""


@node_of.register
def _(part: ExportedCubes, rows: Node) -> Node:
    return rows.op("Pow", 3.0)


@attrs.frozen
class Cubed(FeatureMap):
    """Of a plugin."""

    name: ClassVar[str] = "cubed"
    mapping: type = Cubes

    def fit(self, samples, task, rng):
        X = samples.points
        return build_space(X, self.mapping(X.shape[1]), storage="dense")


def test_a_stage_of_a_plugin(run):
    model = Pipeline(Cubed(ExportedCubes), "ridge", "argmax", n_clusters=3, random_state=0).fit(X / 7)
    np.testing.assert_array_equal(run(to_onnx(model), rows=NEW / 7)["labels"], model.predict(NEW / 7))
    model = Pipeline(Cubed(), "ridge", "argmax", n_clusters=3, random_state=0).fit(X / 7)
    with pytest.raises(NotExportable, match="featuremap 'cubed': Cubes has no ONNX form"):
        to_onnx(model)


def test_a_file_is_whole_or_not_there(tmp_path, run, monkeypatch):
    model = recipe("kmeans", n_clusters=2, random_state=0).fit(X)
    path = tmp_path / "model.onnx"
    exported = to_onnx(model, path)
    assert path.read_bytes() == exported.SerializeToString() == to_onnx(model).SerializeToString()

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("clusterkit.files.os.fsync", fail)
    before = path.read_bytes()
    with pytest.raises(OSError, match=r"model\.onnx"):
        to_onnx(recipe("emmc", n_clusters=2).fit(X), path)
    with pytest.raises(OSError, match=r"cannot be written: there is no folder '.*no': '.*x\.onnx'"):
        to_onnx(model, tmp_path / "no" / "x.onnx")
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]
    assert path.read_bytes() == before
