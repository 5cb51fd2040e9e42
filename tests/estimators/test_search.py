"""The candidates of a search: failures, exclusions, interruptions, the file of a search, seeds, workers, arguments."""

from __future__ import annotations

import json
import math

import attrs
import numpy as np
import pytest
from oracles.scripted import HALVES, ONE, SHATTERED, THIRDS, ScriptedClusterer
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import Pipeline, search
from clusterkit.core.errors import InvalidData, InvalidParameter
from clusterkit.estimators._search_scores import objections


def test_a_clusterer_of_another_library(blobs):
    comparison = search(DBSCAN(), {"eps": [1e-6, 1.0, 2.0, 100.0]}, blobs, "dbcv")
    assert comparison.best_params["eps"] in (1.0, 2.0)
    assert [row["reason"] for row in comparison.table][::3] == ["no cluster, noise only", "one cluster"]


@pytest.mark.parametrize("score", ["stability", "ami"])
def test_the_number_of_workers_does_not_matter(blobs, score):
    one, two = (search("emmc-multi", {"n_clusters": [2, 3], "featuremap__width": [0.3, 1.0]}, blobs, score,
                       n_jobs=jobs, random_state=5) for jobs in (1, 2))  # fmt: skip
    assert np.array_equal(one.scores, two.scores)
    assert [candidate.params for candidate in one.candidates] == [candidate.params for candidate in two.candidates]
    for a, b in zip(one.candidates, two.candidates, strict=True):
        assert np.array_equal(a.labels, b.labels)
    assert np.array_equal(one.best_estimator.labels_, two.best_estimator.labels_)


def test_seeds(blobs):
    comparison = search("kmeans", {"n_clusters": [3]}, blobs, "silhouette", random_state=7)
    assert comparison.best_estimator.random_state == comparison.seed == 7
    comparison = search(KMeans(random_state=3), {"n_clusters": [3]}, blobs, "silhouette")
    assert comparison.best_estimator.random_state == 3
    comparison = search("kmeans", {"n_clusters": [3], "random_state": [1, 2]}, blobs, "silhouette", random_state=7)
    assert comparison.best_estimator.random_state == 1
    rng = np.random.default_rng(0)
    assert search(ScriptedClusterer(THIRDS), {}, blobs, "silhouette", random_state=rng).seed < 2**31


def test_what_is_no_candidate(blobs):
    grid = {"labels": [ONE, THIRDS, SHATTERED, (-1,) * 150]}
    comparison = search(ScriptedClusterer(), grid, blobs, "stability")
    assert comparison.best_params == {"labels": THIRDS}
    assert [candidate.reason for candidate in comparison.candidates] == [
        "one cluster",
        "",
        "shattered: 150 clusters of 150 samples, more than 12",
        "no cluster, noise only",
    ]
    comparison = search(ScriptedClusterer(), grid, blobs, "anmi", ensemble=[THIRDS], exclude=False)
    assert [candidate.status for candidate in comparison.candidates] == ["scored"] * 4
    comparison = search(ScriptedClusterer(), grid, blobs, "silhouette", exclude=False)
    assert comparison.candidates[0].reason == "the score has no value for 1 clusters and 0 noise samples"
    with pytest.raises(InvalidParameter, match=r"every one of 1 candidates was excluded:[^$]*exclude=False keeps"):
        search(ScriptedClusterer(ONE), {}, blobs, "silhouette")
    assert objections(np.array([0, 1, -1])) == ""


def test_a_failure_is_a_row(blobs):
    grid = [{"stop": ["error"], "labels": [THIRDS]}, {"labels": [HALVES, THIRDS]}, {"nonsense": [1]}]
    comparison = search(ScriptedClusterer(), grid, blobs, "silhouette")
    assert [candidate.status for candidate in comparison.candidates] == ["failed", "scored", "scored", "failed"]
    assert comparison.table[0]["reason"] == "RuntimeError: it broke"
    assert comparison.candidates[0].labels is None
    assert "nonsense" in comparison.table[3]["reason"]
    assert comparison.best_index == 2
    frame = comparison.to_frame()
    assert frame.shape == (4, 9)
    assert frame["stop"].isna().tolist() == [False, True, True, True]


def test_all_fail(blobs):
    with pytest.raises(InvalidParameter, match=r"every one of 2 candidates failed:\n.*it broke"):
        search(ScriptedClusterer(stop="error"), {"labels": [HALVES, THIRDS]}, blobs, "silhouette")
    with pytest.raises(InvalidParameter, match=r"every one of 2 candidates failed:\n.*Did you mean 'n_clusters'"):
        search("kmeans", {"n_cluster": [2, 3]}, blobs)


def test_warnings_are_in_the_row(blobs):
    comparison = search(ScriptedClusterer(THIRDS), {"stop": ["warn", None]}, blobs, "silhouette")
    assert [row["reason"] for row in comparison.table] == ["mind the gap", ""]


@pytest.mark.parametrize("how", ["interrupt", "interrupted"])
def test_an_interrupt_keeps_what_is_done(blobs, how):
    grid = [{"labels": [HALVES, THIRDS]}, {"stop": [how], "labels": [THIRDS]}, {"labels": [ONE]}]
    comparison = search(ScriptedClusterer(), grid, blobs, "silhouette")
    assert comparison.interrupted
    assert [candidate.status for candidate in comparison.candidates] == ["scored", "scored", "not run", "not run"]
    assert comparison.best_index == 1
    assert np.array_equal(comparison.best_estimator.labels_, THIRDS)
    with pytest.raises(KeyboardInterrupt):
        search(ScriptedClusterer(stop=how), {"labels": [THIRDS]}, blobs, "silhouette")


def test_an_interrupt_of_workers(blobs):
    grid = [{"labels": [HALVES, THIRDS]}, {"stop": ["interrupt"], "labels": [THIRDS]}]
    import joblib

    with joblib.parallel_config(backend="threading"):
        comparison = search(ScriptedClusterer(), grid, blobs, "silhouette", n_jobs=2)
    assert comparison.interrupted
    assert comparison.candidates[2].status == "not run"


def test_resume(blobs, tmp_path):
    path = tmp_path / "done.jsonl"
    stop = [{"labels": [HALVES, THIRDS]}, {"stop": ["interrupt"], "labels": [THIRDS]}]
    first = search(ScriptedClusterer(), stop, blobs, "stability", resume=path)
    before = ScriptedClusterer.fits
    labels_of = [{"labels": [HALVES, THIRDS, ONE]}, {"stop": ["error"]}]
    second = search(ScriptedClusterer(), labels_of, blobs, "stability", resume=path, refit=False)
    assert ScriptedClusterer.fits == before + 2  # the one new candidate, excluded at once, and the one that fails
    assert second.seed == first.seed
    assert not hasattr(second.best_estimator, "labels_")
    assert np.array_equal(second.scores[:2], first.scores[:2])
    assert np.array_equal(second.best_labels, first.best_labels)
    assert second.candidates[2].reason == "one cluster"
    third = search(ScriptedClusterer(), labels_of, blobs, "stability", resume=path)
    assert ScriptedClusterer.fits == before + 4  # the failure again, and the best estimator
    assert np.array_equal(third.best_estimator.labels_, third.best_labels)
    assert third.candidates[2].status == "excluded"


def test_a_file_that_was_cut_short(blobs, tmp_path):
    path = tmp_path / "done.jsonl"
    grid = {"n_clusters": [2, 3, 4]}
    whole = search("kmeans", grid, blobs, "ami", resume=path, random_state=0)
    path.write_text(path.read_text()[:-40])
    again = search("kmeans", grid, blobs, "ami", resume=path, random_state=0)
    assert np.array_equal(whole.scores, again.scores)
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 4


def test_a_file_of_another_search(blobs, tmp_path):
    path = tmp_path / "done.jsonl"
    common = {"resume": path, "random_state": 0}
    search("kmeans", {"n_clusters": [3]}, blobs, "silhouette", **common)
    with pytest.raises(InvalidData, match="is of other data; give the same as then, or the name of a new file"):
        search("kmeans", {"n_clusters": [3]}, blobs + 1, "silhouette", **common)
    with pytest.raises(InvalidParameter, match="is of another pipeline"):
        search("cmeans", {"n_clusters": [3]}, blobs, "silhouette", **common)
    with pytest.raises(InvalidParameter, match="is of another random_state"):
        search("kmeans", {"n_clusters": [3]}, blobs, "silhouette", resume=path, random_state=1)
    with pytest.raises(InvalidParameter, match="is of another score or other options"):
        search("kmeans", {"n_clusters": [3]}, blobs, "dbcv", **common)
    (tmp_path / "text").write_text("hello\n")
    with pytest.raises(InvalidParameter, match="is not a file of a search"):
        search("kmeans", {"n_clusters": [3]}, blobs, "dbcv", resume=tmp_path / "text")
    with pytest.raises(InvalidParameter, match="cannot be written: No such file"):
        search("kmeans", {"n_clusters": [3]}, blobs, "dbcv", resume=tmp_path / "no" / "where")
    with pytest.raises(InvalidParameter, match="must be a value that can be written"):
        search(ScriptedClusterer(), {"labels": [object()]}, blobs, "dbcv", resume=tmp_path / "new")


def test_stages_as_values(blobs, tmp_path):
    from clusterkit.core.registry import registry

    elm = registry.get("featuremap", "elm")()
    grid = {"featuremap": [elm, attrs.evolve(elm, width=1.0), ["zscore", "rbf"], {"name": "rbf"}]}
    base = Pipeline(labeler="argmax", n_clusters=3)
    one = search(base, grid, blobs, "ami", random_state=0, resume=tmp_path / "f")
    assert (tmp_path / "f").read_text().count("\n") == 5
    two = search(base, grid, blobs, "ami", random_state=0, resume=tmp_path / "f")
    assert np.array_equal(one.scores, two.scores)
    assert not np.isnan(one.scores).any()
    assert not hasattr(base, "labels_")


def test_other_samples(blobs):
    import pandas
    from scipy.sparse import csr_matrix

    grid = {"n_clusters": [2, 3]}
    frame = pandas.DataFrame(blobs, columns=["a", "b"])
    for score in ("silhouette", "stability"):
        assert search("kmeans", grid, frame, score, random_state=0).best_params == {"n_clusters": 3}
        assert search("kmeans", grid, blobs.astype(np.float32), score, random_state=0).best_params["n_clusters"] == 3
        assert search(KMeans(), grid, csr_matrix(blobs), score, random_state=0).best_params["n_clusters"] == 3
    assert list(search("kmeans", grid, frame, random_state=0).best_estimator.feature_names_in_) == ["a", "b"]
    for score in ("ami", "dbcv"):
        with pytest.raises(InvalidData, match="dense samples"):
            search(KMeans(), grid, csr_matrix(blobs), score)
    with pytest.raises(ValueError, match="NaN"):
        search("kmeans", grid, np.full((5, 2), np.nan))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": "sillhouette"}, "no score 'sillhouette'. Did you mean 'silhouette'"),
        ({"score": "ami", "noise": "drop"}, "noise='drop' is not one of"),
        ({"score": "ami", "on": "space"}, "on='space' is for score='silhouette'"),
        ({"score": "silhouette", "on": "map"}, "on must be 'input' or 'space', got 'map'"),
        ({"score": "silhouette", "ensemble": [[0]]}, "an ensemble is for score='anmi' or 'ami'"),
        ({"score": "stability", "repeats": 1}, "repeats must be an integer >= 2, got 1"),
        ({"score": "stability", "stability": "bootstrap"}, "stability must be 'subsample' or 'seeds'"),
        ({"n_jobs": 0}, "n_jobs must be an integer other than 0"),
        ({"pipeline": Pipeline}, "pipeline must be the name of a recipe or a clusterer"),
        ({"grid": []}, "the grid is an empty list"),
        ({"grid": {"n_clusters": 3}}, "grid must be a dict of lists of values"),
        ({"grid": {"n_clusters": []}}, "grid must be a dict of lists of values"),
        ({"random_state": -1}, "random_state must be a non-negative integer"),
    ],
)
def test_wrong_arguments(blobs, changes, message):
    with pytest.raises(InvalidParameter, match=message):
        search(**{"pipeline": "kmeans", "grid": {"n_clusters": [3]}, "X": blobs, **changes})


def test_progress_and_names(blobs):
    from clusterkit.core.progress import listening

    heard = []
    with listening(heard.append):
        search(ScriptedClusterer(), {"labels": [HALVES, ONE, THIRDS]}, blobs, "silhouette")
    reports = [report for report in heard if report.stage == "search"]
    assert [report.turn for report in reports] == [1, 2, 3]
    assert reports[-1].max_turns == 3
    assert reports[0].objective == reports[1].objective < reports[2].objective
    assert clusterkit.search is search
    comparison = search(ScriptedClusterer(THIRDS), {}, blobs, "silhouette")
    assert comparison.best_params == {}
    assert comparison.varied == []
    assert len(comparison) == 1
    assert math.isfinite(comparison.table[0]["seconds"])


def test_a_result_shows_its_size_and_not_its_labels():
    X, _ = make_blobs(30, random_state=0)
    assert "candidates=<2, see table>" in repr(search("kmeans", {"n_clusters": [2, 3]}, X, "silhouette"))
