"""Candidates fitted to all samples, scored without classes; what is kept of failures and interrupts."""

import math

import attrs
import numpy as np
import pytest
from oracles.scripted_clusterer import HALVES, ONE, SHATTERED, THIRDS, ScriptedClusterer, three_blobs
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, silhouette_samples, silhouette_score

import clusterkit
from clusterkit import Pipeline, metrics, recipe, search
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.estimators._search_scores import objections, silhouette

K = {"n_clusters": [1, 2, 3, 4, 5, 6]}


@pytest.fixture(scope="module")
def blobs():
    return three_blobs()


@pytest.mark.parametrize("score", ["auto", "anmi", "ami", "stability", "silhouette", "dbcv", "disco", "evidence"])
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
    from clusterkit.contracts.seeds import Seeds
    from clusterkit.estimators._search_scores import judge

    subsamples = judge("stability", blobs, repeats=3, ensemble=None, noise=None, seeds=Seeds(0))
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


def test_noise_counts_as_it_is_told(blobs):
    labels = np.array(THIRDS)
    labels[:10] = -1
    clustered = labels >= 0
    values = silhouette_samples(blobs[clustered], labels[clustered])
    assert silhouette(blobs, labels, "exclude") == pytest.approx(values.mean())
    assert silhouette(blobs, labels, "singletons") == pytest.approx(values.sum() / 150)
    assert silhouette(blobs, labels, "cluster") == pytest.approx(silhouette_score(blobs, labels))
    alone = np.where(clustered, labels, 3 + np.arange(150))
    for noise, seen, rows in (("exclude", labels[clustered], clustered), ("singletons", alone, slice(None))):
        score = search(ScriptedClusterer(tuple(labels)), {}, blobs, "ami", ensemble=[HALVES], noise=noise).best_score
        assert score == pytest.approx(adjusted_mutual_info_score(np.array(HALVES)[rows], seen))
    scores = [search(ScriptedClusterer(tuple(labels)), {}, blobs, "anmi", noise=noise, ensemble=[HALVES]).best_score
              for noise in ("cluster", "singletons", "exclude")]  # fmt: skip
    assert len(set(scores)) == 3
    comparison = search(ScriptedClusterer(tuple(labels)), {}, blobs, "silhouette")
    assert comparison.best_score == pytest.approx(values.sum() / 150)
    assert comparison.table[0]["n_noise"] == 10


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
    assert objections(np.array([0, 1, -1])) == objections(np.arange(150) % 12) == ""
    assert objections(np.arange(150) % 13) == "shattered: 13 clusters of 150 samples, more than 12"


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


def test_stages_as_values(blobs):
    from clusterkit.contracts.registry import registry

    elm = registry.get("featuremap", "elm")()
    grid = {"featuremap": [elm, attrs.evolve(elm, width=1.0), ["zscore", "rbf"], {"name": "rbf"}]}
    base = Pipeline(labeler="argmax", n_clusters=3)
    one = search(base, grid, blobs, "ami", random_state=0)
    assert not np.isnan(one.scores).any()
    assert not hasattr(base, "labels_")


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
        ensemble={"n_members": 3, "member_clusters": 3, "base": "kmeans"},
    )
    assert other.best_score == 1.0 > default.best_score
    with pytest.raises(InvalidData, match="the ensemble is of 3 samples, X has 150"):
        search(ScriptedClusterer(), grid, blobs, "anmi", ensemble=[[0, 1, 1]])
    with pytest.raises(InvalidParameter, match="unexpected keyword argument 'members'"):
        search(ScriptedClusterer(), grid, blobs, "anmi", ensemble={"members": 3})


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
        ({"score": "silhouette", "ensemble": [[0]]}, "an ensemble is for score='anmi' or 'ami'"),
        ({"score": "stability", "repeats": 1}, "repeats must be an integer >= 2, got 1"),
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
    from clusterkit.samples.limits import listening

    heard = []
    with listening(heard.append):
        search(ScriptedClusterer(), {"labels": [HALVES, ONE, THIRDS]}, blobs, "silhouette")
    reports = [report for report in heard if report.stage == "search"]
    assert [report.iteration for report in reports] == [1, 2, 3]
    assert reports[-1].max_iter == 3
    assert reports[0].objective == reports[1].objective < reports[2].objective
    assert clusterkit.search is search
    comparison = search(ScriptedClusterer(THIRDS), {}, blobs, "silhouette")
    assert comparison.best_params == {}
    assert comparison.varied == []
    assert len(comparison) == 1
    assert math.isfinite(comparison.table[0]["seconds"])


def test_an_ensemble_that_says_nothing_is_refused():
    X, _ = make_blobs(30, random_state=0)
    with pytest.raises(InvalidData, match="nothing to compare with"):
        search("kmeans", {"n_clusters": [2, 3]}, X, "anmi", ensemble=[[-1] * 30])


def test_a_result_shows_its_size_and_not_its_labels():
    X, _ = make_blobs(30, random_state=0)
    assert "candidates=<2, see table>" in repr(search("kmeans", {"n_clusters": [2, 3]}, X, "silhouette"))


def lengths_that_say_nothing(n=60, seed=0):
    """Rows in three directions, with lengths between 1 and 100."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    rows = (np.eye(3, 5)[y] + 0.05 * rng.normal(size=(n, 5))) * rng.uniform(1, 100, size=(n, 1))
    return rows, y


@pytest.mark.parametrize("score", ["auto", "silhouette", "stability"])
def test_candidates_and_scores_compare_rows_by_the_metric(score):
    X, y = lengths_that_say_nothing()
    by_cosine = search("kmeans", {"n_clusters": [2, 3, 4]}, X, score, metric="cosine", repeats=2, random_state=0)
    assert by_cosine.best_params == {"n_clusters": 3}
    assert adjusted_rand_score(y, by_cosine.best_labels) == 1.0
    assert by_cosine.best_estimator.metric == "cosine"
    of_model = search(recipe("kmeans", metric="cosine"), {"n_clusters": [2, 3, 4]}, X, score, repeats=2, random_state=0)
    np.testing.assert_array_equal(of_model.scores, by_cosine.scores)


def test_a_metric_that_is_none_or_given_twice_is_refused():
    X, _ = lengths_that_say_nothing()
    with pytest.raises(InvalidParameter, match=r"metric must be one of .*'cosine'.*, got 'angle'"):
        search("kmeans", {"n_clusters": [2, 3]}, X, metric="angle")
    with pytest.raises(InvalidParameter, match="metric='cosine' is given, and the grid has it too"):
        search("kmeans", {"metric": ["cosine"]}, X, metric="cosine")
    with pytest.raises(InvalidParameter, match="KMeans has no parameter metric"):
        search(KMeans(), {"n_clusters": [2, 3]}, X, metric="cosine")
