"""The choice among clusterings: what it chooses, what it reports, and what it does on data that leave no choice."""

import math
import pickle
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

import clusterkit
from clusterkit import Auto, ClusterkitWarning, Pipeline, Recipe, recipe
from clusterkit.contracts.registry import registry
from clusterkit.drivers.auto import is_nested, tree_work
from clusterkit.drivers.auto_fits import Complete, Votes, composition_of, pool_of
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter, UnknownName
from clusterkit.estimators.driven import Driven
from clusterkit.metrics import adjusted_rand
from clusterkit.samples.limits import listening

BLOBS, CLASSES = make_blobs([40, 40, 40], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
MOONS, HALVES = make_moons(240, noise=0.05, random_state=0)
QUICK = ("kmeans", "genie", "mass-cut")
"""A pool without the costly members."""


@pytest.fixture(scope="module")
def free():
    return Auto(random_state=0).fit(BLOBS)


def test_finds_the_number_of_clusters(free):
    assert adjusted_rand(CLASSES, free.labels_) == 1.0
    assert free.resolved_["auto"]["n_clusters"] == 3
    assert free.confidence_ > 0.9
    assert free.perhaps_one_cluster_ is False
    assert free.stop_reason_.startswith("the best of")


@pytest.mark.parametrize("k", [None, 2])
def test_finds_shapes(k):
    assert adjusted_rand(HALVES, Auto(k, random_state=0).fit(MOONS).labels_) > 0.95


def test_the_default_pool_has_six_families():
    members = pool_of()
    assert {member.family for member in members} >= {"centroid", "mixture", "graph", "mass", "genie", "density"}
    assert sum(member.finds_number for member in members if member.family == "density") == 2


def test_the_table_lists_distinct_clusterings_best_first(free):
    table = free.candidates_
    scores = [row["score"] for row in table]
    assert scores == sorted(scores, reverse=True)
    assert table[0]["n_clusters"] == 3
    assert table[0]["similarity"] == 1.0
    assert len(table[0]["found_by"]) > 2  # three blobs that everybody finds count once
    assert {"contrast", "agreement", "inside", "confirmed", "least_confirmed", "stability"} <= set(table[0])
    assert len(table) == free.resolved_["auto"]["distinct"] < free.resolved_["auto"]["candidates"]


def test_noise_around_clusters_is_none_of_the_number():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 4))
    y = np.arange(400) % 2
    X[:, 0] += 4.0 * y
    X[:40] = rng.uniform(-6.0, 9.0, (40, 4))
    model = Auto(2, random_state=0).fit(X)
    assert adjusted_rand(y[40:], model.labels_[40:]) > 0.8
    assert "least_confirmed" in model.candidates_[0]
    assert model.second_n_clusters_ is None


def test_predict_follows_the_chosen_model(free):
    assert np.array_equal(free.predict(BLOBS), free.labels_)
    assert free.predict(np.array([[0.0, 0.0], [9.0, 0.0]])).tolist() == [free.labels_[0], free.labels_[CLASSES == 1][0]]
    again = pickle.loads(pickle.dumps(free))
    assert np.array_equal(again.predict(BLOBS), free.labels_)


def test_the_same_seed_gives_the_same_choice():
    one, other = (Auto(random_state=3, pool=QUICK).fit(MOONS) for _ in range(2))
    assert np.array_equal(one.labels_, other.labels_)
    assert one.candidates_ == other.candidates_
    assert one.confidence_ == other.confidence_


def test_nested_structure_offers_the_other_level():
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0], [6, 0], [100, 0], [106, 0]])
    X = np.concatenate([corner + rng.standard_normal((50, 2)) for corner in corners])
    model = Auto(random_state=0, pool=QUICK).fit(X)
    numbers = {int(model.labels_.max()) + 1, model.second_n_clusters_}
    assert numbers & {2, 4}
    assert model.resolved_["auto"]["second_is_nested"] in (True, False)


def test_nested():
    coarse = np.repeat([0, 1], 20)
    assert is_nested(coarse, np.repeat([0, 1, 2, 3], 10))
    assert not is_nested(coarse, np.tile([0, 1, 2, 3], 10))


class TestDegenerateData:
    @pytest.mark.parametrize("X", [np.ones((30, 2)), np.zeros((1, 2)), BLOBS[:3]], ids=["equal", "one", "three"])
    def test_without_two_clusters_there_is_one(self, X):
        warns = pytest.warns(ClusterkitWarning, match=f"all {len(X)} samples are equal")
        with warns if len(X) > 1 and len(np.unique(X, axis=0)) == 1 else nullcontext():  # one row equals no other
            model = Auto(random_state=0).fit(X)
        assert model.stop_reason_.startswith("one cluster")
        assert not model.labels_.any()
        assert np.isnan(model.confidence_)
        assert model.candidates_ == []
        assert not model.predict(X).any()

    @pytest.mark.parametrize(("groups", "each"), [(5, 3), (10, 5)])
    def test_sets_of_equal_rows_that_are_joined_are_warned_of_with_their_number(self, groups, each):
        y = np.repeat(np.arange(groups), each)
        X = np.random.default_rng(0).normal(size=(groups, 2))[y]
        with pytest.warns(ClusterkitWarning, match=f"only {groups} of the {len(y)} rows.*take n_clusters={groups}$"):
            assert Auto(pool=QUICK, random_state=0).fit(X).labels_.max() + 1 < groups
        with warnings.catch_warnings(action="error"):
            labels = Auto(groups, pool=QUICK, random_state=0).fit(X).labels_
        assert len({*zip(y, labels, strict=True)}) == labels.max() + 1 == groups

    @pytest.mark.parametrize("k", [None, 2, 3])
    @pytest.mark.parametrize(
        "X",
        [BLOBS[:15], BLOBS[:, :1], np.repeat(BLOBS[::8], 8, axis=0), np.round(BLOBS), np.c_[BLOBS, np.ones(120)]],
        ids=["few", "one column", "duplicates", "lattice", "constant column"],
    )
    def test_answers_on_all_kinds_of_data(self, X, k):
        model = Auto(k, pool=QUICK, random_state=0).fit(X)
        assert model.labels_.shape == (len(X),)
        assert model.labels_.min() == 0
        assert np.unique(model.labels_).size == model.labels_.max() + 1
        assert k is None or model.labels_.max() + 1 == k

    def test_a_pool_that_finds_one_cluster_says_so(self, tmp_path):
        X = np.random.default_rng(0).normal(size=(60, 2))
        model = Auto(pool=["hdbscan"], random_state=0).fit(X)
        facts = model.resolved_["auto"]
        assert (facts["recipe"], facts["n_clusters"], model.n_clusters_) == (None, 1, 1)
        assert facts["reason"].startswith("one cluster: no method of the pool divides the rows (hdbscan(min_cluster_s")
        assert model.stop_reason_ == facts["reason"]
        model.save(tmp_path / "m.clusterkit")
        assert clusterkit.load(tmp_path / "m.clusterkit").resolved_["auto"] == facts

    @pytest.mark.parametrize("name", ["emmc", "emmc-graph", "emmc-paper", "ncut"])
    def test_stages_that_follow_from_the_number_follow_it_in_a_pool(self, name):
        model = Auto(3, pool=[name], random_state=0).fit(BLOBS)
        assert model.n_clusters_ == 3
        assert adjusted_rand(recipe(name, n_clusters=3, random_state=0).fit(BLOBS).labels_, model.labels_) > 0.95
        two = Auto(2, pool=[name], random_state=0).fit(BLOBS)
        [member] = pool_of([name])
        assert member.at(2) == recipe(name, n_clusters=2).composition()
        assert two.n_clusters_ == 2

    @pytest.mark.parametrize(("k", "shown"), [(3, "3"), ((3, 5), r"\(3, 5\)")])
    def test_a_pool_that_makes_none_of_the_numbers_is_refused(self, k, shown):
        message = rf"n_clusters={shown}: the methods of the pool \(cpmmc, gmmc\) make 2 clusters only"
        with pytest.raises(InvalidParameter, match=message):
            Auto(k, pool=["cpmmc", "gmmc"]).fit(BLOBS)
        assert Auto(k, pool=["cpmmc", "kmeans"], random_state=0).fit(BLOBS).n_clusters_ >= 3

    def test_a_pool_that_finds_another_number_is_refused(self):
        assert Auto(3, pool=["hdbscan"], random_state=0).fit(BLOBS).n_clusters_ == 3
        with pytest.raises(InvalidParameter, match=r"n_clusters=7: .*find the number themselves .*and found 3\."):
            Auto(7, pool=["hdbscan"], random_state=0).fit(BLOBS)
        with pytest.raises(InvalidParameter, match=r"n_clusters=2: .*hdbscan.* and found no clusters, or one"):
            Auto(2, pool=["hdbscan"], random_state=0).fit(np.random.default_rng(0).normal(size=(60, 2)))

    @pytest.mark.parametrize("pool", [(), []])
    def test_an_empty_pool_is_refused(self, pool):
        for k in (None, 3):
            with pytest.raises(InvalidParameter, match="pool has no recipe to choose among"):
                Auto(k, pool=pool).fit(BLOBS)

    def test_a_name_alone_is_no_pool(self):
        with pytest.raises(InvalidParameter, match=r"pool must be a list of recipes, such as \['kmeans'\]"):
            Auto(pool="kmeans").fit(BLOBS)

    def test_one_cluster_is_answered_when_it_is_asked_for(self):
        model = Auto(1).fit(BLOBS)
        assert not model.labels_.any()
        assert model.stop_reason_ == "one cluster: nothing to choose among"

    def test_more_clusters_than_rows_are_refused(self):
        with pytest.raises(InvalidData, match="n_samples=3 should be >= n_clusters=5"):
            Auto(5).fit(BLOBS[:3])


class TestParameters:
    @pytest.mark.parametrize("k", [0, -1, 2.5, "many", True])
    def test_wrong_numbers_are_refused(self, k):
        with pytest.raises(InvalidParameter, match="n_clusters must be"):
            Auto(k).fit(BLOBS)

    def test_an_unknown_recipe_is_refused(self):
        with pytest.raises(UnknownName, match="kmeans"):
            Auto(pool=["kmean"]).fit(BLOBS)

    def test_a_recipe_with_another_driver_is_refused(self):
        with pytest.raises(InvalidParameter, match="'emmc-auto' cannot be in the pool"):
            Auto(pool=["emmc-auto"]).fit(BLOBS)

    def test_auto_is_the_same_as_none(self):
        one, other = (Auto(k, pool=QUICK, random_state=0).fit(BLOBS) for k in ("auto", None))
        assert np.array_equal(one.labels_, other.labels_)


def test_a_recipe_of_a_plugin_joins_the_pool():
    parameters = {"featuremap": "identity", "solver": "fuzzy_cmeans", "labeler": "argmax"}
    clusterkit.register(Recipe("fuzzy-member", "Fuzzy", "nobody", parameters, family="fuzzy", pool=({"n_init": 2},)))
    try:
        members = {member.name: member for member in pool_of()}
        assert members["fuzzy-member"].family == "fuzzy"
        assert members["fuzzy-member"].composition.n_init == 2
        model = Auto(3, pool=("fuzzy-member", "mass-cut"), random_state=0).fit(BLOBS)
        found_by = {name for row in model.candidates_ for name in row["found_by"]}
        assert found_by == {"fuzzy-member", "mass-cut"}
    finally:
        registry.forget()


def test_the_composition_of_a_recipe_is_that_of_its_estimator():
    for name in ("kmeans", "spectral", "mixture", "emmc"):
        chosen = clusterkit.recipes()[name]
        assert composition_of(chosen.parameters, 3) == recipe(name, n_clusters=3).composition()


class TestCtrlC:
    @staticmethod
    def stop(stage: str, iteration: int):
        def listener(report):
            if report.stage == stage and report.iteration >= iteration:
                raise KeyboardInterrupt

        return listener

    def test_keeps_the_best_of_the_candidates_so_far(self):
        with listening(self.stop("candidates", 4)):
            model = Auto(random_state=0, pool=QUICK).fit(BLOBS)
        assert model.interrupted_
        assert model.stop_reason_.startswith("interrupted: the best of the first 4")
        assert not model.converged_
        assert np.isnan(model.confidence_)
        assert model.predict(BLOBS).shape == (120,)

    def test_without_stabilities_all_candidates_are_compared_by_the_rest(self):
        with listening(self.stop("stability", 3)):
            model = Auto(random_state=0, pool=QUICK).fit(BLOBS)
        assert model.interrupted_
        assert adjusted_rand(CLASSES, model.labels_) == 1.0

    def test_before_the_first_candidate_it_is_raised(self, monkeypatch):
        def pressed(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr("clusterkit.drivers.auto_fits.fit", pressed)
        with pytest.raises(KeyboardInterrupt):
            Auto(random_state=0, pool=("kmeans",)).fit(BLOBS)


class TestLargeData:
    X, y = make_blobs([500, 500, 500], centers=[[0, 0], [12, 0], [0, 12]], random_state=1)

    def test_trees_are_fitted_to_all_rows(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = Auto(pool=("genie", "mass-cut"), max_rows=200, random_state=0).fit(self.X)
        assert adjusted_rand(self.y, model.labels_) > 0.99
        assert model.resolved_["auto"]["rows_compared"] == 200
        assert model.resolved_["auto"]["trees_on"] == 1500

    def test_other_methods_are_fitted_to_a_sample_with_a_warning(self):
        with pytest.warns(ClusterkitWarning, match="by a sample of 200"):
            model = Auto(pool=("kmeans",), max_rows=200, random_state=0).fit(self.X)
        assert adjusted_rand(self.y, model.labels_) > 0.99
        assert np.array_equal(model.predict(self.X), model.labels_)

    def test_beyond_the_budget_trees_take_the_sample_too(self):
        with pytest.warns(ClusterkitWarning, match="by a sample"):
            model = Auto(pool=("genie",), max_rows=200, max_work=1, random_state=0).fit(self.X)
        assert model.resolved_["auto"]["trees_on"] == 200
        assert adjusted_rand(self.y, model.labels_) > 0.99

    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    def test_beyond_the_budget_few_principal_axes_are_compared(self, metric):
        X, y = make_blobs(300, 150, centers=3, cluster_std=3.0, random_state=0)
        model = Auto(pool=("kmeans", "embeddings"), max_work=1, metric=metric, random_state=0).fit(X)
        assert adjusted_rand(y, model.labels_) > 0.99
        assert model.resolved_["auto"]["coordinates"] == 100
        assert np.array_equal(model.predict(X), model.labels_)

    def test_the_budget_takes_a_million_rows_in_the_plane(self):
        default = Auto().max_work
        assert tree_work(1_000_000, 2) <= default
        assert tree_work(100_000, 10) <= default
        assert tree_work(100_000, 50) > default


def test_votes():
    votes = Votes(np.array([[0.0], [1.0], [2.0], [10.0], [11.0]]), np.array([0, 0, 1, 2, 2]), 3)
    assert votes(np.array([[0.4], [10.9]])).tolist() == [0, 2]
    complete = Complete(lambda Y: np.where(Y[:, 0] > 5, -1, 7), votes)
    assert complete(np.array([[0.0], [10.0]])).tolist() == [7, 2]


class TestNumberOfAPipeline:
    @pytest.mark.parametrize("name", ["kmeans", "spectral", "emmc", "mass-cut"])
    def test_finds_it(self, name):
        model = recipe(name, n_clusters="auto", random_state=0).fit(BLOBS)
        assert adjusted_rand(CLASSES, model.labels_) > 0.97
        assert model.resolved_["auto"]["n_clusters"] == 3

    def test_is_judged_where_the_feature_map_scales_to(self):
        X = BLOBS * [1.0, 1000.0]
        stages = {"featuremap": ["zscore"], "solver": "centroids", "labeler": "argmax", "init": "seeds", "n_init": 5}
        model = Pipeline(**stages, n_clusters="auto", random_state=0).fit(X)
        assert adjusted_rand(CLASSES, model.labels_) == 1.0

    def test_changes_nothing_where_the_method_finds_it(self):
        one, other = (recipe("hdbscan", n_clusters=k).fit(BLOBS) for k in ("auto", None))
        assert np.array_equal(one.labels_, other.labels_)
        assert "auto" not in one.resolved_

    def test_a_range_limits_it(self):
        model = recipe("kmeans", n_clusters=(4, 6), random_state=0).fit(BLOBS)
        assert [k for k, _ in model.resolved_["auto"]["score_of_number"]] == [4, 5, 6]
        assert model.labels_.max() + 1 == 4
        free = Auto((4, 6), pool=("kmeans", "genie", "hdbscan"), random_state=0).fit(BLOBS)
        assert {row["n_clusters"] for row in free.candidates_} <= {4, 5, 6}

    @pytest.mark.parametrize("pair", [(1, 3), (3, 2), (2,), (2, 2.5), (2, 3, 4), ("2", "3")])
    def test_wrong_ranges_are_refused(self, pair):
        for estimator in (Auto(pair), recipe("kmeans", n_clusters=pair), recipe("emmc-multistart", n_clusters=pair)):
            with pytest.raises(InvalidParameter, match=r"two integers \(least, most\)"):
                estimator.fit(BLOBS)

    def test_a_range_above_the_rows_is_refused(self):
        with pytest.raises(InvalidData, match="n_samples=20 should be >= n_clusters=30"):
            recipe("kmeans", n_clusters=(30, 40)).fit(BLOBS[:20])

    def test_a_method_of_two_clusters_has_nothing_to_choose(self):
        model = recipe("itersvr", n_clusters="auto", random_state=0).fit(BLOBS)
        assert np.array_equal(model.labels_, recipe("itersvr", random_state=0).fit(BLOBS).labels_)
        assert "auto" not in model.resolved_
        with pytest.raises(InvalidParameter, match="makes 2 clusters only"):
            recipe("itersvr", n_clusters=(3, 5)).fit(BLOBS)

    def test_a_missing_number_offers_it(self):
        with pytest.raises(InvalidParameter, match="Give a number, or 'auto' to have it chosen"):
            recipe("kmeans").fit(BLOBS)
        with pytest.raises(InvalidParameter, match="'auto', a range"):
            recipe("kmeans", n_clusters="many").fit(BLOBS)

    def test_a_driver_is_run_at_each_number(self):
        model = recipe("emmc-multistart", n_clusters=(2, 4), n_maps=2, n_init=4, random_state=0).fit(BLOBS)
        assert adjusted_rand(CLASSES, model.labels_) > 0.97
        assert model.agreement_ > 0.9  # of the driver
        assert model.confidence_ > 0.5  # of the choice
        model.set_params(n_clusters=3).fit(BLOBS)
        assert not hasattr(model, "confidence_")

    def test_an_error_at_every_number_is_raised(self):
        with pytest.raises(IncompatibleStages, match="objective"):
            Driven("pooled", Pipeline("identity", "mst", "single"), n_clusters="auto").fit(BLOBS)

    def test_auto_as_a_driver_chooses_too(self):
        driver = {"name": "auto", "pool": ["mass-cut"]}
        model = Driven(driver, Pipeline("identity", "centroids", "argmax", init="seeds"), (2, 4), random_state=0)
        assert adjusted_rand(CLASSES, model.fit(BLOBS).labels_) == 1.0
        assert {name for row in model.candidates_ for name in row["found_by"]} == {"centroids", "mass-cut"}


DEAR = {"mmc-multi"}
"""Recipes that take seconds for each number."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.deep] if name in DEAR else [])
        for name in sorted(name for name, r in clusterkit.recipes().items() if r.clusters == "given")
    ],
)
def test_every_recipe_that_needs_a_number_finds_it(name):
    """On the small data that any method clusters; of drivers the smallest search."""
    small = {"n_maps": 2, "n_init": 2, "n_references": 1, "n_trials": 2, "n_halvings": 1, "degrees": (20.0,)}
    model = recipe(name, n_clusters=(2, 4), random_state=0)
    params = model.get_params()
    if not isinstance(model, Pipeline):
        model.set_params(**{key: value for key, value in small.items() if key in params})
    rows = np.abs(BLOBS[::3] + 5.0) if "nmf" in name or name == "geoclust" else BLOBS[::3]
    model.fit(rows)
    assert [k for k, _ in model.resolved_["auto"]["score_of_number"]] == [2, 3, 4]
    assert model.resolved_["auto"]["n_clusters"] == model.labels_.max() + 1
    assert 0.0 <= model.confidence_ <= 1.0
    assert model.perhaps_one_cluster_ in (True, False)


def test_new_rows_are_never_noise_though_the_chosen_method_has_noise():
    X, _ = make_blobs(120, centers=3, cluster_std=0.5, random_state=1)
    model = Auto(3, pool=["hdbscan"], random_state=0).fit(X)
    assert (model.labels_ >= 0).all()
    assert model.predict([[1e3, 1e3], [-1e3, 0.0]]).min() >= 0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_handful_of_rows_has_no_confidence():
    rng = np.random.default_rng(1)
    assert math.isnan(Auto(2, random_state=0).fit(rng.normal(size=(5, 2))).confidence_)
    assert not math.isnan(Auto(2, pool=["kmeans", "genie"], random_state=0).fit(rng.normal(size=(40, 2))).confidence_)


def directions(n=150):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    return (np.eye(3, 120)[y] + 0.05 * rng.normal(size=(n, 120))) * rng.uniform(0.1, 10.0, size=(n, 1)), y


def test_rows_are_compared_by_the_cosine_where_that_is_asked_for():
    X, y = directions()
    model = Auto(metric="cosine", pool=["kmeans"], n_clusters=3, random_state=0).fit(X)
    assert adjusted_rand(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(3 * X), model.labels_)
    with pytest.raises(InvalidParameter, match=r"metric must be one of .*'cosine'.*, got 'angle'"):
        Auto(metric="angle").fit(X)


@pytest.mark.deep
def test_directions_are_clustered_as_embeddings_too():
    X, y = directions()
    for rows in (X, X[:, :20]):
        model = Auto(metric="cosine", random_state=0).fit(rows)
        assert adjusted_rand(y, model.labels_) == 1.0
        assert any("embeddings" in row["found_by"] for row in model.candidates_)
    assert not any("embeddings" in row["found_by"] for row in Auto(random_state=0).fit(X).candidates_)


@pytest.mark.deep
def test_fragments_that_no_other_method_finds_are_no_clusters_of_directions():
    rng = np.random.default_rng(10)
    centres = rng.normal(size=(4, 100))
    y = rng.choice(4, 400, p=rng.dirichlet(np.full(4, 2.0)))
    X = centres[y] / np.linalg.norm(centres, axis=1)[y, None] + 0.2 * rng.normal(size=(400, 100))
    assert adjusted_rand(y, Auto(metric="cosine", random_state=0).fit(X).labels_) >= 0.95
