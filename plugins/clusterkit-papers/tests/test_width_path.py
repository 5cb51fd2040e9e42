"""The path over widths: its table, its default grid, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from clusterkit_papers.svc import width_path as module
from clusterkit_papers.svc.width_path import COLUMNS, width_grid, width_path
from sklearn.datasets import make_moons

from clusterkit import Pipeline
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, InvalidParameter, UnknownName
from clusterkit.samples.limits import listening

X, _ = make_moons(150, noise=0.05, random_state=0)


@pytest.mark.parametrize("nu", [None, 0.1])
def test_every_step_is_what_a_fit_finds(nu):
    gammas = [0.5, 4.0, 16.0, 60.0]
    path = width_path(X, gammas=gammas[::-1], nu=nu)
    assert path.gamma.tolist() == gammas
    for i, gamma in enumerate(gammas):
        model = Pipeline("rbf", "svdd", "complete_graph").set_params(featuremap__gamma=gamma, solver__nu=nu).fit(X)
        assert path.labels[i].tolist() == model.labels_.tolist()
        counts = model.outcome_.support_counts
        assert path.n_clusters[i] == len(set(model.labels_) - {-1})
        assert path.n_noise[i] == np.sum(model.labels_ == -1)
        assert path.n_sv[i] == pytest.approx(counts.n_support, abs=2)
        assert path.n_bsv[i] == pytest.approx(counts.n_bounded, abs=2)
    assert np.all(path.seconds > 0)
    assert not path.interrupted


def test_the_default_grid_goes_from_one_cluster_to_many():
    path = width_path(X, n_gammas=6, labeler={"name": "complete_graph", "min_cluster_size": 2})
    assert len(path) == 6
    assert path.n_clusters[0] == 1
    assert path.n_clusters.max() > 5
    assert path.labels.shape == (6, 150)


def test_the_table():
    path = width_path(X, gammas=[1.0, 5.0], C=0.5)
    rows = list(path.rows())
    assert [list(row) for row in rows] == [list(COLUMNS)] * 2
    assert [row["gamma"] for row in rows] == [1.0, 5.0]
    frame = path.to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["n_sv"].tolist() == path.n_sv.tolist()


def test_a_pipeline_with_a_chain_of_maps():
    pipeline = Pipeline(["zscore", "rbf"], {"name": "svdd", "nu": 0.05}, "complete_graph")
    path = width_path(1e3 * X, pipeline, gammas=[1.0, 8.0])
    again = width_path(X, pipeline, gammas=[1.0, 8.0])
    assert path.labels.tolist() == again.labels.tolist()
    assert pipeline.featuremap == ["zscore", "rbf"]
    wins = width_path(X, pipeline, gammas=[1.0], C=1.0)
    assert wins.n_bsv.tolist() == [0]


def test_the_grid():
    points = np.array([[0.0], [1.0], [3.0], [3.0]])
    assert width_grid(points, 3)[[0, -1]] == pytest.approx([1.0 / 9.0, 4 * np.log(2) / 1.0])
    assert width_grid(np.zeros((5, 2)), 4).tolist() == [1.0] * 4
    two = width_grid(np.array([[0.0], [2.0]]), 2)
    assert two == pytest.approx([0.25, np.log(2)])


def test_the_grid_of_many_rows_is_that_of_a_sample(monkeypatch):
    points = np.random.default_rng(0).normal(size=(2000, 2))
    whole = width_grid(points, 5)
    monkeypatch.setattr(module, "GRID_ROWS", 300)
    sampled = width_grid(points, 5, np.random.default_rng(1))
    assert sampled[0] == pytest.approx(whole[0], rel=1.0)
    assert sampled[-1] == pytest.approx(whole[-1], rel=0.5)


def test_an_interrupt_keeps_the_steps_done():
    def stop(report):
        if report.stage == "width_path" and report.iteration == 2:
            raise KeyboardInterrupt

    with listening(stop):
        path = width_path(X, n_gammas=5)
    assert path.interrupted
    assert len(path) == 2
    assert path.labels.shape == (2, 150)


def test_equal_rows():
    with pytest.warns(ClusterkitWarning, match="all 4 samples are equal"):
        path = width_path(np.ones((4, 2)), n_gammas=2)
    assert path.n_clusters.tolist() == [1]


@pytest.mark.parametrize("gammas", [[], [0.0], [1.0, np.nan], ["a"]])
def test_widths_have_to_be_positive(gammas):
    with pytest.raises(InvalidParameter, match="gammas must be finite numbers > 0"):
        width_path(X, gammas=gammas)


@pytest.mark.parametrize("n_gammas", [0, 2.5, True])
def test_the_length_has_to_be_positive(n_gammas):
    with pytest.raises(InvalidParameter, match="n_gammas must be an integer >= 1"):
        width_path(X, n_gammas=n_gammas)


def test_stages_of_other_kinds_are_refused():
    with pytest.raises(
        IncompatibleStages, match="'svdd' works on KernelSpace, but the feature map gives a FeatureSpace"
    ):
        width_path(X, Pipeline("zscore", "svdd", "complete_graph"))
    with pytest.raises(IncompatibleStages, match=r"gives a domain .* got solver 'centroids'"):
        width_path(X, Pipeline("rbf", "centroids", "argmax", n_clusters=2))
    with pytest.raises(UnknownName, match="no parameter 'nu'"):
        width_path(X, Pipeline("rbf", "centroids", "argmax", n_clusters=2), nu=0.5)
