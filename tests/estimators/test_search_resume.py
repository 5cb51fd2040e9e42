"""A search that is continued from its file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from oracles.scripted_clusterer import HALVES, ONE, THIRDS, ScriptedClusterer, three_blobs

from clusterkit import search
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.estimators._search_results import alone_on


@pytest.fixture(scope="module")
def blobs():
    return three_blobs()


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
    with pytest.raises(InvalidParameter, match="cannot be written: there is no folder"):
        search("kmeans", {"n_clusters": [3]}, blobs, "dbcv", resume=tmp_path / "no" / "where")
    with pytest.raises(InvalidParameter, match="must be a value that can be written"):
        search(ScriptedClusterer(), {"labels": [object()]}, blobs, "dbcv", resume=tmp_path / "new")


def test_one_search_at_a_time_works_on_a_file(blobs, tmp_path):
    path = tmp_path / "done.jsonl"
    common = {"resume": path, "random_state": 0}
    with alone_on(path), pytest.raises(InvalidData, match=r"resume=.*done.jsonl' is in use: another fit or search"):
        search("kmeans", {"n_clusters": [3]}, blobs, "silhouette", **common)
    assert not path.exists()
    search("kmeans", {"n_clusters": [3]}, blobs, "silhouette", **common)
    with pytest.raises(InvalidParameter, match="of another pipeline"):
        search("cmeans", {"n_clusters": [3]}, blobs, "silhouette", **common)
    search("kmeans", {"n_clusters": [3]}, blobs, "silhouette", **common)  # an error gives the file back
    assert [each.name for each in tmp_path.iterdir()] == ["done.jsonl"]
