"""Fits to rows that are read block by block: the labels of the fit in memory, and clear refusals."""

import pickle
import warnings

import numpy as np
import pytest
from oracles.rows import Watched
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

import clusterkit
from clusterkit import recipe
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, InvalidData
from clusterkit.fitting import pass_iterations
from clusterkit.fitting.samples import EngineSamples
from clusterkit.numerics.threads import THIN
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.rows import SlicedRows, gather_by_slices
from clusterkit.testing.compare import same_bits, small_blocks, small_groups

COMPOSITIONS = {
    "k-means": ("kmeans", {"n_init": 2}),
    "k-means without a tolerance": ("kmeans", {"n_init": 1, "solver__tol": 0.0}),
    "k-means from random rows": ("cmeans", {}),
    "k-means of principal components": ("cmeans", {"featuremap": ["minmax", {"name": "pca", "n_components": 3}]}),
    "k-means in random features": ("elm-kmeans", {"n_init": 1, "featuremap__n_hidden": 40}),
    "EMMC": ("emmc-multi", {"balancer": None}),
    "EMMC from random labels": ("emmc-multi", {"balancer": None, "init": "random"}),
    "EMMC of few iterations": ("emmc-multi", {"balancer": None, "init": "random", "max_iter": 3}),
    "EMMC of z-scores": ("emmc-multi", {"balancer": None, "init": "kmeans_mapped", "featuremap": ["zscore", "elm"]}),
    "EMMC of two clusters": ("emmc", {"balancer": None, "n_clusters": 2}),
    "EMMC of two clusters in a band": ("emmc", {"n_clusters": 2}),
    "EMMC of equal clusters": ("emmc-multi", {"balancer": "transport"}),
    "k-means of clusters within bounds": ("cmeans", {"balancer": {"name": "transport", "size_min": 0.2}}),
    "EMMC with one output": ("emmc-single", {"balancer": "transport"}),
    "EMMC with one output from random labels": ("emmc-single", {"balancer": None, "init": "random"}),
    "fuzzy c-means": ("fuzzy-cmeans", {"n_init": 2}),
    "fuzzy c-means of few iterations": ("fuzzy-cmeans", {"n_init": 1, "solver__max_iter": 3, "solver__fuzzifier": 1.4}),
    "fuzzy c-means of equal clusters": ("fuzzy-cmeans", {"n_init": 1, "balancer": "transport"}),
    "NMF": ("nmf", {"solver__update": "anls", "labeler": "argmax"}),
    "NMF of few iterations": (
        "elm-nmf",
        {"solver__update": "anls", "labeler": "argmax", "solver__max_iter": 3, "featuremap__n_hidden": 30},
    ),
    "k-means of two equal clusters": ("cmeans", {"n_clusters": 2, "balancer": {"name": "band", "slack": 0}}),
}  # fmt: skip


@pytest.fixture
def small():
    """Groups and blocks so small that a few hundred rows take several of both."""
    with small_groups(150), small_blocks():
        yield


def blobs(dtype=np.float64, n=700):
    return make_blobs(n, 5, centers=4, cluster_std=2.0, random_state=0)[0].astype(dtype)


def settings(name, **changes):
    recipe_name, parameters = COMPOSITIONS[name]
    return recipe_name, {"n_clusters": 4, "random_state": 3, **parameters, **changes}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, np.float32) for name in COMPOSITIONS),
        *((name, np.float64) for name in list(COMPOSITIONS)[::2]),
        *(pytest.param(name, np.float64, marks=pytest.mark.deep) for name in list(COMPOSITIONS)[1::2]),
    ],
)
def test_labels_are_those_of_the_fit_in_memory(small, name, dtype):
    X = blobs(dtype)
    recipe_name, parameters = settings(name)
    memory = recipe(recipe_name, **parameters).fit(X)
    rows = recipe(recipe_name, **parameters).fit(clusterkit.open(X))
    assert np.array_equal(rows.labels_, memory.labels_)
    assert rows.objective_ == pytest.approx(memory.objective_, rel=1e-5 if dtype == np.float32 else 1e-9)
    assert rows.converged_ == memory.converged_
    assert rows.stop_reason_.partition("(")[0] == memory.stop_reason_.partition("(")[0]
    assert rows.exact_on_training_ == memory.exact_on_training_
    assert np.array_equal(rows.predict(X), memory.predict(X))
    assert np.array_equal(rows.predict(clusterkit.open(X)), memory.predict(X))
    if recipe_name.startswith("emmc"):
        same_bits(rows.history_, memory.history_, "the objectives of all iterations")


@pytest.mark.parametrize("work", [1, np.inf], ids=["loops", "products"])
@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(3, 8))])
def test_centres_are_as_near_as_in_memory_where_rounding_decides(small, monkeypatch, seed, work):
    """Far from the origin numbers of 24 bits leave many rows between two centres, and other sums give other labels."""
    monkeypatch.setattr("clusterkit.numerics.lloyd.LEAST_WORK", work)
    X = (np.random.default_rng(seed).normal(size=(3000, 4)) + 3000.0).astype(np.float32)
    parameters = {"n_clusters": 6, "n_init": 1, "random_state": seed, "max_iter": 10}
    memory = recipe("kmeans", **parameters).fit(X)
    rows = recipe("kmeans", **parameters).fit(clusterkit.open(X))
    assert np.array_equal(rows.labels_, memory.labels_)
    assert rows.n_iter_ == memory.n_iter_ > 3
    same_bits(rows.predictor_.extend.centres, memory.outcome_.extend.centres, "the centres")


def test_however_they_are_read_rows_give_the_same_bits(small, tmp_path, monkeypatch):
    X = blobs(np.float32)
    np.save(tmp_path / "x.npy", X)
    fits = [recipe("emmc-multi", **settings("EMMC")[1]).fit(clusterkit.open(tmp_path / "x.npy"))]
    monkeypatch.setattr("clusterkit.samples.engines.READ_BYTES", 1)
    fits.append(recipe("emmc-multi", **settings("EMMC")[1]).fit(Watched(X)))
    one, other = fits
    same_bits(one.outcome_ or one.predictor_.extend.coefficients, other.predictor_.extend.coefficients, "coefficients")
    same_bits(one.history_, other.history_, "objectives")
    assert np.array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize("balancer", [None, "transport"])
def test_products_are_those_of_one_thread_in_memory_too(balancer):
    """Features enough for several threads of BLAS, which divide the rows of a block and so round otherwise than one."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(12_123, 8)) + 3 * rng.integers(0, 4, size=(12_123, 1)) * rng.normal(size=8)).astype("f4")
    assert X.shape[0] * 500 >= THIN
    parameters = {"n_clusters": 5, "featuremap__n_hidden": 500, "balancer": balancer, "init": "random", "max_iter": 2}
    with small_groups(4096):
        memory, rows = (recipe("emmc-multi", random_state=0, **parameters).fit(Y) for Y in (X, clusterkit.open(X)))
    same_bits(rows.history_, memory.history_, "the objectives of all iterations")
    same_bits(rows.predictor_.extend.coefficients, memory.outcome_.extend.coefficients, "coefficients")
    assert np.array_equal(rows.labels_, memory.labels_)


@pytest.mark.parametrize("seed", range(2))
def test_products_of_kmeans_are_those_of_one_thread_in_memory_too(monkeypatch, seed):
    """Far from the origin rounding decides, and several threads of BLAS round otherwise than the one of a pass."""
    monkeypatch.setattr("clusterkit.numerics.lloyd.LEAST_WORK", np.inf)
    X = (np.random.default_rng(seed).normal(size=(12_123, 60)) + 3000.0).astype(np.float32)
    parameters = {"n_clusters": 40, "n_init": 1, "random_state": seed, "max_iter": 10}
    with small_groups(4096):
        memory, rows = (recipe("kmeans", **parameters).fit(Y) for Y in (X, clusterkit.open(X)))
    assert np.array_equal(rows.labels_, memory.labels_)


def test_products_of_fuzzy_cmeans_are_those_of_one_thread_in_memory_too():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(12_123, 500)) + 2.0 * rng.normal(size=500) * rng.integers(0, 3, size=(12_123, 1))).astype(
        "f4"
    )
    parameters = {"n_clusters": 5, "n_init": 1, "random_state": 0, "solver__max_iter": 4}
    with small_groups(4096):
        memory, rows = (recipe("fuzzy-cmeans", **parameters).fit(Y) for Y in (X, clusterkit.open(X)))
        with threadpool_limits(1):
            alone = recipe("fuzzy-cmeans", **parameters).fit(X)
    same_bits(rows.history_, memory.history_, "the objectives of all iterations")
    same_bits(
        rows.predictor_.extend.nearness.centres,
        memory.predictor_.extend.nearness.centres,
        "the centres of all iterations",
    )
    same_bits(alone.memberships_, memory.memberships_, "memberships of one and of several threads")
    assert np.array_equal(rows.labels_, memory.labels_)


def test_no_read_is_larger_than_a_piece(small, monkeypatch):
    monkeypatch.setattr("clusterkit.samples.engines.READ_BYTES", 64 * 5 * 8)
    rows = Watched(blobs(n=1000))
    recipe("kmeans", n_clusters=4, n_init=1, random_state=0).fit(rows)
    assert max(rows.reads) <= 64


def test_few_rows_are_read_at_once_and_any_recipe_fits_them():
    X = blobs(n=120)
    rows = Watched(X)
    model = recipe("svc", random_state=0).fit(rows)
    assert rows.reads == [120]
    assert np.array_equal(model.labels_, recipe("svc", random_state=0).fit(X).labels_)


@pytest.mark.parametrize(
    ("recipe_name", "changes", "reason"),
    [
        ("emmc-multi", {}, "balancer: 'band' repairs 4 clusters with all rows in memory only"),
        ("kernel-kmeans", {}, "featuremap: 'rbf' needs all rows at once"),
        ("nmf", {}, "solver: 'nmf' has no form as sums"),
        ("kmeans", {"n_clusters": "auto"}, "n_clusters='auto' compares fits"),
        ("emmc-multistart", {}, "recipes that make one fit"),
        (
            "kmeans",
            {"init": {"name": "random", "leftover": "last"}},
            "leftover='last' needs all rows at once",
        ),
    ],
)
def test_what_needs_all_rows_is_refused_before_any_of_them_is_read(small, recipe_name, changes, reason):
    rows = Watched(blobs())
    parameters = {key: value for key, value in {"n_clusters": 4, **changes}.items() if value is not None}
    with pytest.raises((IncompatibleStages, InvalidData)) as refusal:
        recipe(recipe_name, **parameters).fit(rows)
    assert reason in str(refusal.value)
    assert "predict" in str(refusal.value), "the message names the way by a sample"
    assert not rows.reads


def test_values_that_are_no_numbers_are_named_by_column_and_row(small):
    X = blobs()
    X[431, 2] = np.nan
    with pytest.raises(InvalidData, match="column 'height' has the value nan in row 431"):
        recipe("kmeans", n_clusters=4).fit(Watched(X, names=("a", "b", "height", "d", "e")))


def test_a_column_without_a_name_counts_from_one_as_in_memory():
    X = blobs()
    X[431, 2] = np.nan
    model = recipe("kmeans", n_clusters=4, n_init=1, random_state=0).fit(blobs())
    with pytest.raises(InvalidData, match="column 3 of 5 has the value nan in row 431"):
        model.predict(Watched(X))
    with pytest.raises(InvalidData, match=r"in column 3 \(1\)"):
        model.predict(X)


@pytest.mark.parametrize("n", [10, 3000])
def test_rows_without_a_column_are_refused(small, n):
    with pytest.raises(InvalidData, match=f"{n} rows and no column"):
        recipe("kmeans", n_clusters=2).fit(Watched(np.zeros((n, 0))))


def test_names_of_columns_are_compared(small):
    X, names = blobs(), ("a", "b", "c", "d", "e")
    model = recipe("kmeans", n_clusters=4, n_init=1, random_state=0).fit(Watched(X, names=names))
    assert model.feature_names_in_.tolist() == list(names)
    with pytest.raises(InvalidData, match="are not those of the fit in their order"):
        model.predict(Watched(X, names=names[::-1]))
    with pytest.raises(InvalidData, match="has 3 columns, and the model was fitted to 5"):
        model.predict(Watched(X[:, :3]))


@pytest.mark.parametrize("weighting", ["uniform", "kmeans++"])
def test_empty_clusters_are_refilled_as_in_memory(small, weighting):
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [5.0, 6.0]]), 100, axis=0)
    X = X[np.random.default_rng(0).permutation(400)]
    parameters = {"n_clusters": 6, "n_init": 1, "random_state": 1, "init__weighting": weighting}
    with pytest.warns(ClusterkitWarning, match="only 4 distinct samples"):
        rows = recipe("kmeans", **parameters).fit(Watched(X))
    with pytest.warns(ClusterkitWarning, match="only 4 distinct samples"):
        memory = recipe("kmeans", **parameters).fit(X)
    assert np.array_equal(rows.labels_, memory.labels_)
    assert rows.objective_ == memory.objective_ == 0.0


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("cmeans", {}, None),  # in words of its solver
        (
            "elm-nmf",
            {"solver__update": "anls", "labeler": "argmax", "solver__max_iter": 20},
            "only 3 rows are distinct",
        ),
        (
            "emmc-multi",
            {"balancer": "transport"},
            "only 3 rows are distinct: some equal rows are in different clusters",
        ),
    ],
)
def test_more_clusters_than_distinct_rows_are_reported_as_in_memory(small, name, settings, message):
    X = np.repeat([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0]], 200, axis=0)
    model = recipe(name, n_clusters=5, random_state=0, **settings)
    messages = []
    for rows in (X, clusterkit.open(X)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(rows)
        messages.append([str(each.message) for each in caught])
    assert messages[0] == messages[1]
    assert len(messages[1]) == 1
    assert message is None or messages[1][0].endswith(message)


@pytest.mark.parametrize("group", [50, 150, 10_000])
def test_distinct_rows_are_counted_by_a_pass_only_where_the_first_are_too_few(monkeypatch, group):
    X = np.repeat(np.arange(40.0)[:, None], 20, axis=0)
    with small_groups(group), small_blocks():
        samples = EngineSamples(clusterkit.open(X), LocalEngine())
        assert [samples.n_distinct(enough) for enough in (39, 40, 41, 500)] == [39, 40, 40, 40]
        assert EngineSamples(clusterkit.open(np.array([[0.0], [-0.0]] * 300)), LocalEngine()).n_distinct(2) == 1
        monkeypatch.setattr(LocalEngine, "reduce", None)
        assert EngineSamples(clusterkit.open(X[::20]), LocalEngine()).n_distinct(20) >= 20


def test_an_interrupted_fit_keeps_the_last_labels(small, monkeypatch):
    X = blobs()
    passes = []
    whole = pass_iterations._passed

    def interrupted(space, iteration):
        passes.append(iteration)
        if len(passes) == 4:
            raise KeyboardInterrupt
        return whole(space, iteration)

    monkeypatch.setattr(pass_iterations, "_passed", interrupted)
    parameters = settings("EMMC from random labels")[1]
    model = recipe("emmc-multi", **parameters).fit(Watched(X))
    assert model.interrupted_
    assert not model.converged_
    assert model.n_iter_ == 3
    assert np.array_equal(model.predict(X), model.labels_)
    passes.clear()
    monkeypatch.setattr(pass_iterations, "_passed", whole)
    assert np.array_equal(model.labels_, recipe("emmc-multi", **{**parameters, "max_iter": 3}).fit(X).labels_)


def test_one_cluster_and_too_many(small):
    rows = Watched(blobs())
    assert not recipe("kmeans", n_clusters=1).fit(rows).labels_.any()
    with pytest.raises(InvalidData, match="n_samples=700 should be >= n_clusters=701"):
        recipe("kmeans", n_clusters=701).fit(rows)


def test_a_model_of_rows_travels_without_them(small, tmp_path):
    X = blobs()
    model = recipe("emmc-multi", **settings("EMMC")[1]).fit(Watched(X))
    assert len(model.space_.points) == 0
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)
    model.save(tmp_path / "model.npz")
    assert np.array_equal(clusterkit.load(tmp_path / "model.npz").predict(X), model.labels_)


def test_labels_too_large_for_an_array_go_to_a_temporary_file(small, monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "40K")
    model = recipe("kmeans", n_clusters=4, n_init=1, random_state=0).fit(Watched(blobs()))
    assert isinstance(model.labels_, np.memmap)
    monkeypatch.delenv("CLUSTERKIT_MEMORY_CAP")
    assert np.array_equal(model.labels_, recipe("kmeans", n_clusters=4, n_init=1, random_state=0).fit(blobs()).labels_)


def test_an_engine_is_found_by_the_package_of_the_samples(small, monkeypatch):
    from clusterkit.contracts.providers import Entry
    from clusterkit.contracts.registry import registry
    from clusterkit.fitting.samples import engine_for
    from clusterkit.samples.engines import LocalEngine

    class Frames(LocalEngine):
        """Takes the collections of a package of its own."""

        def rows(self, X):
            return SlicedRows(X.table)

    Frame = type("Frame", (), {"__module__": "faraway.frames", "table": blobs()})
    assert engine_for(Frame()) is None
    registry._session["engine", "faraway"] = Entry("engine", "faraway", Frames, "a test")
    assert isinstance(engine_for(Frame()), Frames)
    model = recipe("kmeans", n_clusters=4, n_init=1, random_state=0).fit(Frame())
    assert np.array_equal(model.labels_, recipe("kmeans", n_clusters=4, n_init=1, random_state=0).fit(blobs()).labels_)
    assert engine_for(blobs()) is None


def test_rows_gathered_by_slices_come_in_the_order_asked_for():
    X = np.arange(40.0).reshape(20, 2)
    index = np.array([7, 3, 4, 5, 3, 19, 0])
    assert np.array_equal(gather_by_slices(Watched(X), index), X[index])
    assert gather_by_slices(Watched(X), index[:0]).shape == (0, 2)


def test_means_of_clusters_are_those_of_the_fit_in_memory(small):
    X = blobs()
    settings = {"n_clusters": 4, "n_init": 1, "random_state": 0, "solver__tol": 0.0}
    rows = recipe("kmeans", **settings).fit(clusterkit.open(X))
    assert np.allclose(rows.cluster_centers_, recipe("kmeans", **settings).fit(X).cluster_centers_)
    assert rows.cluster_centers_.shape == (4, 5)
