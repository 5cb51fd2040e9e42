"""The scores by which a search compares labels without classes."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.scripted import HALVES, THIRDS, ScriptedClusterer
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, silhouette_samples, silhouette_score

from clusterkit import Pipeline, metrics, recipe, search
from clusterkit.core.errors import InvalidData, InvalidParameter
from clusterkit.estimators._search_scores import silhouette

K = {"n_clusters": [1, 2, 3, 4, 5, 6]}


@pytest.mark.parametrize("score", ["anmi", "ami", "stability", "silhouette", "dbcv"])
def test_every_score_finds_three_blobs(blobs, score):
    comparison = search("kmeans", K, blobs, score, random_state=0)
    assert comparison.best_params == {"n_clusters": 3}
    assert comparison.best_score == np.nanmax(comparison.scores) == comparison.scores[2]
    assert len(np.unique(comparison.best_labels)) == 3
    assert np.array_equal(comparison.best_estimator.labels_, comparison.best_labels)
    assert [row["status"] for row in comparison.table] == ["excluded"] + ["scored"] * 5
    assert comparison.table[0]["reason"] == "one cluster"
    again = recipe("kmeans", n_clusters=3, random_state=0).fit(blobs)
    assert np.array_equal(again.labels_, comparison.best_labels)


def test_dbcv_finds_a_width_for_moons():
    X, y = make_moons(150, noise=0.05, random_state=0)
    comparison = search("svc", {"featuremap__gamma": [0.5, 12.0, 300.0]}, X, "dbcv", random_state=0)
    assert comparison.best_params == {"featuremap__gamma": 12.0}
    assert adjusted_rand_score(y, comparison.best_labels) == 1.0


def test_scores_are_what_the_documents_say(blobs):
    members = [np.arange(150) % 4, THIRDS, HALVES]
    grid = {"labels": [THIRDS, HALVES]}
    anmi = search(ScriptedClusterer(), grid, blobs, "anmi", ensemble=members).scores
    ami = search(ScriptedClusterer(), grid, blobs, "ami", ensemble=members).scores
    plain = search(ScriptedClusterer(), grid, blobs, "silhouette").scores
    density = search(ScriptedClusterer(), grid, blobs, "dbcv").scores
    for i, labels in enumerate(grid["labels"]):
        assert anmi[i] == pytest.approx(metrics.anmi(labels, members))
        assert ami[i] == pytest.approx(np.mean([adjusted_mutual_info_score(m, labels) for m in members]))
        assert plain[i] == pytest.approx(silhouette_score(blobs, labels))
        assert density[i] == pytest.approx(metrics.dbcv(blobs, labels))


def test_stability_compares_all_pairs_of_refits(blobs):
    from clusterkit.core.seeds import Seeds
    from clusterkit.estimators._search_scores import judge

    arguments = {"ensemble": None, "noise": None, "on": "input", "seeds": Seeds(0)}
    subsamples = judge("stability", blobs, repeats=3, stability="subsample", **arguments)
    assert [len(rows) for rows in subsamples.subsamples] == [120] * 3
    seen = []

    def refit(rows, seed):
        seen.append(seed)
        return (rows + len(seen)) // 20

    labels = [(rows + i + 1) // 20 for i, rows in enumerate(subsamples.subsamples)]
    values = []
    for i, j in [(1, 0), (2, 0), (2, 1)]:
        shared = np.intersect1d(subsamples.subsamples[i], subsamples.subsamples[j])
        at = [labels[m][np.searchsorted(subsamples.subsamples[m], shared)] for m in (i, j)]
        values.append(adjusted_rand_score(*at))
    assert subsamples(None, np.zeros(150), refit) == pytest.approx(np.mean(values))
    assert len(set(seen)) == 3
    whole = judge("stability", blobs, repeats=2, stability="seeds", **arguments)
    assert [len(rows) for rows in whole.subsamples] == [150, 150]


def test_noise_counts_as_it_is_told(blobs):
    labels = np.array(THIRDS)
    labels[:10] = -1
    clustered = labels >= 0
    values = silhouette_samples(blobs[clustered], labels[clustered])
    assert silhouette(blobs, False, labels, "exclude") == pytest.approx(values.mean())
    assert silhouette(blobs, False, labels, "singletons") == pytest.approx(values.sum() / 150)
    assert silhouette(blobs, False, labels, "cluster") == pytest.approx(silhouette_score(blobs, labels))
    alone = np.where(clustered, labels, 3 + np.arange(150))
    for noise, seen, rows in (("exclude", labels[clustered], clustered), ("singletons", alone, slice(None))):
        score = search(ScriptedClusterer(tuple(labels)), {}, blobs, "ami", ensemble=[HALVES], noise=noise).best_score
        assert score == pytest.approx(adjusted_mutual_info_score(np.array(HALVES)[rows], seen))
    scores = [search(ScriptedClusterer(tuple(labels)), {}, blobs, noise=noise, ensemble=[HALVES]).best_score
              for noise in ("cluster", "singletons", "exclude")]  # fmt: skip
    assert len(set(scores)) == 3
    comparison = search(ScriptedClusterer(tuple(labels)), {}, blobs, "silhouette")
    assert comparison.best_score == pytest.approx(values.sum() / 150)
    assert comparison.table[0]["n_noise"] == 10


def test_silhouette_of_the_space(blobs):
    for slot in ("elm", "rbf"):
        base = Pipeline(slot, labeler="argmax", n_clusters=3)
        comparison = search(base, {"solver__df": [6.0]}, blobs, "silhouette", on="space", random_state=0)
        space = comparison.best_estimator.space_
        if slot == "elm":
            expected = silhouette_score(space.rows(), comparison.best_labels)
        else:
            D = np.sqrt(np.maximum(2.0 - 2.0 * space.gram(), 0.0))
            np.fill_diagonal(D, 0.0)
            expected = silhouette_score(D, comparison.best_labels, metric="precomputed")
        assert comparison.best_score == pytest.approx(expected)
    with pytest.raises(InvalidParameter, match="this estimator has no fitted space"):
        search(ScriptedClusterer(THIRDS), {}, blobs, "silhouette", on="space")


def test_ensembles(blobs):
    grid = {"labels": [THIRDS]}
    default = search(ScriptedClusterer(), grid, blobs, "ami", random_state=0)
    assert search(ScriptedClusterer(), grid, blobs, "ami", random_state=0).best_score == default.best_score
    other = search(
        ScriptedClusterer(),
        grid,
        blobs,
        "ami",
        random_state=0,
        ensemble={"n_members": 3, "k_rule": 3, "base": "kmeans"},
    )
    assert other.best_score == 1.0 > default.best_score
    with pytest.raises(InvalidData, match="the ensemble is of 3 samples, X has 150"):
        search(ScriptedClusterer(), grid, blobs, ensemble=[[0, 1, 1]])
    with pytest.raises(InvalidParameter, match="unexpected keyword argument 'members'"):
        search(ScriptedClusterer(), grid, blobs, ensemble={"members": 3})


def test_an_ensemble_that_says_nothing_is_refused():
    X, _ = make_blobs(30, random_state=0)
    with pytest.raises(InvalidData, match="nothing to compare with"):
        search("kmeans", {"n_clusters": [2, 3]}, X, "anmi", ensemble=[[-1] * 30])


def test_objective_only_where_the_problem_stays_the_same(blobs):
    base = recipe("kmeans", n_clusters=3)
    comparison = search(
        base, {"random_state": [0, 1, 2], "init": ["seeds", "random"], "n_init": [1]}, blobs, "objective"
    )
    assert comparison.lower_is_better
    assert comparison.best_score == comparison.scores.min() == comparison.best_estimator.objective_
    search(base, {"n_clusters": [3], "init__weighting": ["uniform"], "max_iter": [5, 100]}, blobs, "objective")
    for grid, wrong in [
        ({"n_clusters": [2, 3], "n_init": [1, 2]}, "n_clusters"),
        ([{"solver": ["centroids"]}, {"featuremap": ["zscore"]}], "featuremap"),
    ]:
        with pytest.raises(InvalidParameter, match=f"score='objective' cannot choose {wrong}: objectives are compar"):
            search(base, grid, blobs, "objective")
    with pytest.raises(InvalidParameter, match="cannot choose featuremap__width, solver__df"):
        search("emmc", {"featuremap__width": [0.5, 1.0], "solver__df": [6, 12]}, blobs, "objective")
    with pytest.raises(InvalidParameter, match="this estimator has no objective"):
        search(DBSCAN(eps=1.0), {}, blobs, "objective")
