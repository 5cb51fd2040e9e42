"""Candidates fitted to all samples, scored without classes; what is kept of failures, interrupts and files."""

from __future__ import annotations

import json
import math

import attrs
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, silhouette_samples, silhouette_score

import clusterkit
from clusterkit import ClusterkitWarning, Pipeline, metrics, recipe, search
from clusterkit.core.errors import InvalidData, InvalidParameter
from clusterkit.estimators._search_scores import objections, silhouette

K = {"n_clusters": [1, 2, 3, 4, 5, 6]}


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(
        [50, 50, 50], centers=[[0, 0], [9, 0], [4.5, 7.8]], cluster_std=0.8, random_state=0, shuffle=False
    )[0]


class Given(ClusterMixin, BaseEstimator):
    """Gives the labels it is told, or does what else it is told."""

    fits = 0

    def __init__(self, labels=None, stop=None, random_state=None):
        self.labels = labels
        self.stop = stop
        self.random_state = random_state

    def fit(self, X, y=None):
        Given.fits += 1
        if self.stop == "error":
            raise RuntimeError("it broke")
        if self.stop == "interrupt":
            raise KeyboardInterrupt
        if self.stop == "warn":
            import warnings

            warnings.warn("mind the gap", ClusterkitWarning, stacklevel=2)
        if self.stop == "interrupted":
            self.stop_reason_ = "interrupted: the best turn is kept"
        self.labels_ = np.asarray(self.labels)[: len(X)]
        return self


THIRDS = tuple(np.repeat([0, 1, 2], 50).tolist())
HALVES = tuple(np.repeat([0, 1], 75).tolist())
ONE = (0,) * 150
SHATTERED = tuple(range(150))


@pytest.mark.parametrize("score", ["anmi", "ami", "stability", "silhouette", "dbcv"])
def test_every_score_finds_three_blobs(blobs, score):
    found = search("kmeans", K, blobs, score, random_state=0)
    assert found.best_params == {"n_clusters": 3}
    assert found.best_score == np.nanmax(found.scores) == found.scores[2]
    assert len(np.unique(found.best_labels)) == 3
    assert np.array_equal(found.best_estimator.labels_, found.best_labels)
    assert [row["status"] for row in found.table] == ["excluded"] + ["scored"] * 5
    assert found.table[0]["reason"] == "one cluster"
    again = recipe("kmeans", n_clusters=3, random_state=0).fit(blobs)
    assert np.array_equal(again.labels_, found.best_labels)


def test_dbcv_finds_a_width_for_moons():
    X, y = make_moons(150, noise=0.05, random_state=0)
    found = search("svc", {"featuremap__gamma": [0.5, 12.0, 300.0]}, X, "dbcv", random_state=0)
    assert found.best_params == {"featuremap__gamma": 12.0}
    assert adjusted_rand_score(y, found.best_labels) == 1.0


def test_scores_are_what_the_documents_say(blobs):
    members = [np.arange(150) % 4, THIRDS, HALVES]
    grid = {"labels": [THIRDS, HALVES]}
    anmi = search(Given(), grid, blobs, "anmi", ensemble=members).scores
    ami = search(Given(), grid, blobs, "ami", ensemble=members).scores
    plain = search(Given(), grid, blobs, "silhouette").scores
    density = search(Given(), grid, blobs, "dbcv").scores
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
    kept = labels >= 0
    own = silhouette_samples(blobs[kept], labels[kept])
    assert silhouette(blobs, False, labels, "exclude") == pytest.approx(own.mean())
    assert silhouette(blobs, False, labels, "singletons") == pytest.approx(own.sum() / 150)
    assert silhouette(blobs, False, labels, "cluster") == pytest.approx(silhouette_score(blobs, labels))
    alone = np.where(kept, labels, 3 + np.arange(150))
    for noise, seen, rows in (("exclude", labels[kept], kept), ("singletons", alone, slice(None))):
        score = search(Given(tuple(labels)), {}, blobs, "ami", ensemble=[HALVES], noise=noise).best_score
        assert score == pytest.approx(adjusted_mutual_info_score(np.array(HALVES)[rows], seen))
    scores = [search(Given(tuple(labels)), {}, blobs, noise=noise, ensemble=[HALVES]).best_score
              for noise in ("cluster", "singletons", "exclude")]  # fmt: skip
    assert len(set(scores)) == 3
    found = search(Given(tuple(labels)), {}, blobs, "silhouette")
    assert found.best_score == pytest.approx(own.sum() / 150)
    assert found.table[0]["n_noise"] == 10


def test_a_clusterer_of_another_library(blobs):
    found = search(DBSCAN(), {"eps": [1e-6, 1.0, 2.0, 100.0]}, blobs, "dbcv")
    assert found.best_params["eps"] in (1.0, 2.0)
    assert [row["reason"] for row in found.table][::3] == ["no cluster, noise only", "one cluster"]


@pytest.mark.parametrize("score", ["stability", "ami"])
def test_the_number_of_workers_does_not_matter(blobs, score):
    one, two = (search("emmc-multi", {"n_clusters": [2, 3], "featuremap__width": [0.3, 1.0]}, blobs, score,
                       n_jobs=jobs, random_state=5) for jobs in (1, 2))  # fmt: skip
    assert np.array_equal(one.scores, two.scores)
    assert [each.params for each in one.candidates] == [each.params for each in two.candidates]
    for a, b in zip(one.candidates, two.candidates, strict=True):
        assert np.array_equal(a.labels, b.labels)
    assert np.array_equal(one.best_estimator.labels_, two.best_estimator.labels_)


def test_seeds(blobs):
    found = search("kmeans", {"n_clusters": [3]}, blobs, "silhouette", random_state=7)
    assert found.best_estimator.random_state == found.seed == 7
    found = search(KMeans(random_state=3), {"n_clusters": [3]}, blobs, "silhouette")
    assert found.best_estimator.random_state == 3
    found = search("kmeans", {"n_clusters": [3], "random_state": [1, 2]}, blobs, "silhouette", random_state=7)
    assert found.best_estimator.random_state == 1
    rng = np.random.default_rng(0)
    assert search(Given(THIRDS), {}, blobs, "silhouette", random_state=rng).seed < 2**31


def test_objective_only_where_the_problem_stays_the_same(blobs):
    base = recipe("kmeans", n_clusters=3)
    found = search(base, {"random_state": [0, 1, 2], "init": ["seeds", "random"], "n_init": [1]}, blobs, "objective")
    assert found.lower_is_better
    assert found.best_score == found.scores.min() == found.best_estimator.objective_
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
    found = search(Given(), grid, blobs, "stability")
    assert found.best_params == {"labels": THIRDS}
    assert [each.reason for each in found.candidates] == [
        "one cluster",
        "",
        "shattered: 150 clusters of 150 samples, more than 12",
        "no cluster, noise only",
    ]
    found = search(Given(), grid, blobs, "anmi", ensemble=[THIRDS], exclude=False)
    assert [each.status for each in found.candidates] == ["scored"] * 4
    found = search(Given(), grid, blobs, "silhouette", exclude=False)
    assert found.candidates[0].reason == "the score has no value for 1 clusters and 0 noise samples"
    with pytest.raises(InvalidParameter, match=r"every one of 1 candidates was excluded:[^$]*exclude=False keeps"):
        search(Given(ONE), {}, blobs, "silhouette")
    assert objections(np.array([0, 1, -1])) == ""


def test_a_failure_is_a_row(blobs):
    grid = [{"stop": ["error"], "labels": [THIRDS]}, {"labels": [HALVES, THIRDS]}, {"nonsense": [1]}]
    found = search(Given(), grid, blobs, "silhouette")
    assert [each.status for each in found.candidates] == ["failed", "scored", "scored", "failed"]
    assert found.table[0]["reason"] == "RuntimeError: it broke"
    assert found.candidates[0].labels is None
    assert "nonsense" in found.table[3]["reason"]
    assert found.best_index == 2
    frame = found.to_frame()
    assert frame.shape == (4, 9)
    assert frame["stop"].isna().tolist() == [False, True, True, True]


def test_all_fail(blobs):
    with pytest.raises(InvalidParameter, match=r"every one of 2 candidates failed:\n.*it broke"):
        search(Given(stop="error"), {"labels": [HALVES, THIRDS]}, blobs, "silhouette")
    with pytest.raises(InvalidParameter, match=r"every one of 2 candidates failed:\n.*Did you mean 'n_clusters'"):
        search("kmeans", {"n_cluster": [2, 3]}, blobs)


def test_warnings_are_in_the_row(blobs):
    found = search(Given(THIRDS), {"stop": ["warn", None]}, blobs, "silhouette")
    assert [row["reason"] for row in found.table] == ["mind the gap", ""]


@pytest.mark.parametrize("how", ["interrupt", "interrupted"])
def test_an_interrupt_keeps_what_is_done(blobs, how):
    grid = [{"labels": [HALVES, THIRDS]}, {"stop": [how], "labels": [THIRDS]}, {"labels": [ONE]}]
    found = search(Given(), grid, blobs, "silhouette")
    assert found.interrupted
    assert [each.status for each in found.candidates] == ["scored", "scored", "not run", "not run"]
    assert found.best_index == 1
    assert np.array_equal(found.best_estimator.labels_, THIRDS)
    with pytest.raises(KeyboardInterrupt):
        search(Given(stop=how), {"labels": [THIRDS]}, blobs, "silhouette")


def test_an_interrupt_of_workers(blobs):
    grid = [{"labels": [HALVES, THIRDS]}, {"stop": ["interrupt"], "labels": [THIRDS]}]
    import joblib

    with joblib.parallel_config(backend="threading"):
        found = search(Given(), grid, blobs, "silhouette", n_jobs=2)
    assert found.interrupted
    assert found.candidates[2].status == "not run"


def test_resume(blobs, tmp_path):
    path = tmp_path / "done.jsonl"
    stop = [{"labels": [HALVES, THIRDS]}, {"stop": ["interrupt"], "labels": [THIRDS]}]
    first = search(Given(), stop, blobs, "stability", resume=path)
    before = Given.fits
    labels_of = [{"labels": [HALVES, THIRDS, ONE]}, {"stop": ["error"]}]
    second = search(Given(), labels_of, blobs, "stability", resume=path, refit=False)
    assert Given.fits == before + 2  # the one new candidate, excluded at once, and the one that fails
    assert second.seed == first.seed
    assert not hasattr(second.best_estimator, "labels_")
    assert np.array_equal(second.scores[:2], first.scores[:2])
    assert np.array_equal(second.best_labels, first.best_labels)
    assert second.candidates[2].reason == "one cluster"
    third = search(Given(), labels_of, blobs, "stability", resume=path)
    assert Given.fits == before + 4  # the failure again, and the best estimator
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
        search(Given(), {"labels": [object()]}, blobs, "dbcv", resume=tmp_path / "new")


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


def test_ensembles(blobs):
    grid = {"labels": [THIRDS]}
    default = search(Given(), grid, blobs, "ami", random_state=0)
    assert search(Given(), grid, blobs, "ami", random_state=0).best_score == default.best_score
    other = search(
        Given(), grid, blobs, "ami", random_state=0, ensemble={"n_members": 3, "k_rule": 3, "base": "kmeans"}
    )
    assert other.best_score == 1.0 > default.best_score
    with pytest.raises(InvalidData, match="the ensemble is of 3 samples, X has 150"):
        search(Given(), grid, blobs, ensemble=[[0, 1, 1]])
    with pytest.raises(InvalidParameter, match="unexpected keyword argument 'members'"):
        search(Given(), grid, blobs, ensemble={"members": 3})


def test_silhouette_of_the_space(blobs):
    for slot in ("elm", "rbf"):
        base = Pipeline(slot, labeler="argmax", n_clusters=3)
        found = search(base, {"solver__df": [6.0]}, blobs, "silhouette", on="space", random_state=0)
        space = found.best_estimator.space_
        if slot == "elm":
            expected = silhouette_score(space.rows(), found.best_labels)
        else:
            D = np.sqrt(np.maximum(2.0 - 2.0 * space.gram(), 0.0))
            np.fill_diagonal(D, 0.0)
            expected = silhouette_score(D, found.best_labels, metric="precomputed")
        assert found.best_score == pytest.approx(expected)
    with pytest.raises(InvalidParameter, match="this estimator has no fitted space"):
        search(Given(THIRDS), {}, blobs, "silhouette", on="space")


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
    ("changes", "said"),
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
def test_wrong_arguments(blobs, changes, said):
    with pytest.raises(InvalidParameter, match=said):
        search(**{"pipeline": "kmeans", "grid": {"n_clusters": [3]}, "X": blobs, **changes})


def test_progress_and_names(blobs):
    from clusterkit.core.progress import listening

    told = []
    with listening(told.append):
        search(Given(), {"labels": [HALVES, ONE, THIRDS]}, blobs, "silhouette")
    reports = [report for report in told if report.stage == "search"]
    assert [report.turn for report in reports] == [1, 2, 3]
    assert reports[-1].max_turns == 3
    assert reports[0].objective == reports[1].objective < reports[2].objective
    assert clusterkit.search is search
    found = search(Given(THIRDS), {}, blobs, "silhouette")
    assert found.best_params == {}
    assert found.varied == []
    assert len(found) == 1
    assert math.isfinite(found.table[0]["seconds"])


def test_an_ensemble_that_says_nothing_is_refused():
    X, _ = make_blobs(30, random_state=0)
    with pytest.raises(InvalidData, match="nothing to compare with"):
        search("kmeans", {"n_clusters": [2, 3]}, X, "anmi", ensemble=[[-1] * 30])


def test_a_result_shows_its_size_and_not_its_labels():
    X, _ = make_blobs(30, random_state=0)
    assert "candidates=<2, see table>" in repr(search("kmeans", {"n_clusters": [2, 3]}, X, "silhouette"))
