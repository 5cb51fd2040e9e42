"""One clear error for each mistake: it names the value, the reason and what would do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles.recipes import EACH_CLASS, NAMES
from scipy.sparse import coo_array, csr_matrix

import clusterkit
from clusterkit import Pipeline, recipe
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter, NeedsMemory, UnknownName
from clusterkit.estimators.driven import Driven

X = np.random.default_rng(0).normal(size=(20, 3))


def model(name):
    return recipe(name) if clusterkit.recipes()[name].clusters == "found" else recipe(name, n_clusters=2)


UNUSABLE = [
    (np.where(np.eye(20, 3) > 0, np.nan, X), r"X has NaN in 3 of 20 rows, in 3 columns: 1 \(1\), 2 \(1\), 3 \(1\)"),
    (np.where(np.eye(20, 3) > 0, np.inf, X), "X has infinite values in 3 of 20 rows, in 3 columns: 1"),
    (np.empty((0, 3)), "0 sample"),
    (np.empty((5, 0)), "0 feature"),
    (X[:, 0], r"X has one dimension, \(20,\), and a table has two.*X.reshape\(-1, 1\)"),
    (X[None], "3 dimensions"),
    ([["a", "b"], ["c", "d"]], r"2 columns of X \(1, 2\) hold other things than numbers \(row 1 has 'a'\)"),
]


@pytest.mark.parametrize("name", EACH_CLASS)
def test_unusable_data(name):
    for data, message in UNUSABLE:
        with pytest.raises(ValueError, match=message):
            model(name).fit(data)


@pytest.mark.parametrize("name", [name for name in NAMES if clusterkit.recipes()[name].clusters == "given"])
def test_fewer_samples_than_clusters(name):
    with pytest.raises(InvalidData, match="n_samples=4 should be >= n_clusters=5"):
        recipe(name, n_clusters=5).fit(X[:4])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"solver__C": 0}, r"solver 'ridge': C must be > 0 or None, got 0"),
        ({"balancer__slack": -1}, r"balancer 'band': slack must be a fraction of n .*, got -1"),
        ({"n_clusters": 0}, r"n_clusters must be an integer >= 1, 'auto', a range \(least, most\) or None, got 0"),
        ({"n_clusters": 2.5}, r"n_clusters must be an integer >= 1, .*, got 2.5"),
        ({"n_init": 0}, r"n_init must be an integer >= 1, got 0"),
        ({"random_state": "seed"}, r"random_state must be a non-negative integer.*got 'seed'"),
        ({"random_state": -3}, r"random_state must be a non-negative integer.*got -3"),
        ({"solver": "rigde"}, r"no solver named 'rigde'. Did you mean 'ridge'\? Available: .*centroids"),
        ({"init": "kmean"}, r"no partitioner named 'kmean'. Did you mean 'kmeans'.*A recipe can start too: .*emmc"),
        ({"solver__c": 1.0}, r"solver 'ridge' has no parameter 'c'. .*Available: C, df"),
        ({"n_cluster": 2}, r"Pipeline has no parameter 'n_cluster'. Did you mean 'n_clusters'\?"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_values_out_of_range_and_unknown_names_are_clear_errors(change, message):
    with pytest.raises(InvalidParameter if " must be " in message else UnknownName, match=message):
        recipe("emmc", **{"n_clusters": 2, **change}).fit(X)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "X is None, and a table is needed"),
        ("rows.csv", r"X is 'rows.csv'.*read a file first, by pandas.read_csv"),
        (["a", "b", "c"], "one text a row, such as 'a', and texts are compared by numbers that stand for them"),
        ([{"a": 1}, {"a": 2}], r"dicts, such as {'a': 1}; pandas.DataFrame\(X\)"),
        (np.zeros(4, [("a", int), ("b", float)]), r"with the fields a, b; pandas.DataFrame\(X\)"),
        (pd.DataFrame(), "(without a|has no) column"),
        (pd.DataFrame(X[:, :2], columns=["x", "x"]), r"the columns 1, 2 have one name, 'x'.*Rename them"),
        (pd.DataFrame({"c": X[:, 0] * 1j, "x": X[:, 1]}), "complex numbers, which cannot be compared; make two"),
        (pd.Series([1.0, 2.0]), r"one dimension, \(2,\).*X.to_frame\(\)"),
        (coo_array(X[:, 0]), r"X has one dimension, \(20,\)"),
        (csr_matrix(X * 1j), "X has complex numbers, which cannot be compared"),
        (pl.Series([1.0, 2.0]), r"one dimension, \(2,\).*X.to_frame\(\)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_table_is_refused_with_what_makes_one(data, message):
    for name in ("auto", "kmeans", "mixture"):
        with pytest.raises(InvalidData, match=message):
            recipe(name, n_clusters=2).fit(data)


def test_a_model_of_a_table_and_what_looks_at_its_rows_refuse_the_same():
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    table = clusterkit.Auto(2, pool=["kmeans"], random_state=0).fit(frame)
    with pytest.raises(InvalidData, match=r"X is None, .*This model takes tables with the columns a, b$"):
        table.predict(None)
    for look in (clusterkit.assign, clusterkit.representatives, clusterkit.profile):
        with pytest.raises(InvalidData, match=r"X is 'rows.csv', .*read a file first"):
            look(table, "rows.csv")
        with pytest.raises(InvalidData, match=r"X has one dimension, \(20,\)"):
            look(table, coo_array(X[:, 0]))
        for numbers in (X * 1j, (X * 1j).tolist(), csr_matrix(X * 1j)):
            with pytest.raises(InvalidData, match="column 'x0' has complex numbers, which cannot be compared; make"):
                look([0, 1] * 10, numbers)
    with pytest.raises(InvalidParameter, match="names must be a list of 2 names, got the text 'ab'"):
        clusterkit.profile(table, frame, names="ab")
    with pytest.raises(InvalidData, match="compare: X has no row"):
        clusterkit.compare({"kmeans": "kmeans"}, frame[:0], n_clusters=2)
    with pytest.raises(InvalidParameter, match="got a DataFrame; samples are for fit"):
        clusterkit.Auto(frame).fit(frame)


@pytest.mark.parametrize("estimator", [Pipeline, clusterkit.Auto, clusterkit.ConsensusClustering])
def test_unknown_parameters_of_an_estimator_offer_the_nearest(estimator):
    with pytest.raises(UnknownName, match=rf"{estimator.__name__} has no parameter 'nclusters'. Did you mean 'n_clus"):
        estimator(nclusters=3)


def test_unknown_recipe():
    with pytest.raises(UnknownName, match=r"no recipe named 'emmc-mutli'. Did you mean 'emmc-multi'"):
        recipe("emmc-mutli")


@pytest.mark.parametrize(
    ("stages", "messages"),
    [
        (
            {"featuremap": "rbf", "solver": "ridge", "labeler": "complete_graph"},
            [
                "labeler: 'complete_graph' reads Domain, but solver 'ridge' gives Scores",
                "solver: lmsvc, psvdd, subsampled, svdd",
                "threshold",
            ],
        ),
        (
            {"featuremap": "elm", "solver": "gmmc", "labeler": "threshold", "n_clusters": 2},
            ["solver: 'gmmc' works on KernelSpace, but the feature map gives a FeatureSpace", "featuremap: rbf"],
        ),
        (
            {"featuremap": "elm", "solver": "centroids", "labeler": "threshold"},
            ["codes labels as signed, solver 'centroids' takes onehot", "labeler: argmax", "solver: "],
        ),
        (
            {"featuremap": ["rbf", "minmax"], "solver": "ridge", "labeler": "threshold"},
            ["featuremap: 'rbf' gives no features, so it must be the last of the chain"],
        ),
        (
            {"featuremap": "elm", "solver": "nmf", "labeler": "rows_kmeans", "balancer": "band", "n_clusters": 2},
            ["balancer: 'band' needs the costs of a codec", "balancer: None", "labeler: argmax"],
        ),
        (
            {"featuremap": "rbf", "solver": "ridge", "labeler": "threshold", "init": "kmeans_mapped"},
            ["init: 'kmeans_mapped' works on FeatureSpace, not on a KernelSpace", "init: equal, geoclust, kmeans"],
        ),
        ({"labeler": "threshold", "n_clusters": 3}, ["n_clusters: labeler 'threshold' gives at most 2", "argmax"]),
        (
            {"featuremap": "rbf", "solver": "svdd", "labeler": "complete_graph", "n_clusters": 3},
            ["n_clusters: labeler 'complete_graph' finds the number of clusters itself; leave n_clusters=3 out"],
        ),
    ],
    ids=lambda value: "",
)
def test_illegal_compositions_name_slot_reason_and_what_fits(stages, messages):
    with pytest.raises(IncompatibleStages) as error:
        Pipeline(**stages).fit(X)
    for message in messages:
        assert message in str(error.value)


def test_number_of_clusters_missing():
    with pytest.raises(InvalidParameter, match="n_clusters is needed"):
        recipe("emmc").fit(X)
    with pytest.raises(InvalidParameter, match="n_clusters is needed"):
        recipe("kmeans").fit(X)


@pytest.mark.parametrize("slot", ["featuremap", "solver", "labeler", "init"])
@pytest.mark.parametrize("value", [None, 3])
def test_a_slot_without_a_stage(slot, value):
    with pytest.raises(InvalidParameter, match=slot):
        Pipeline(**{"n_clusters": 2, slot: value}).fit(X)


@pytest.mark.parametrize("slot", ["featuremap", "solver", "init"])
def test_only_labeler_and_balancer_have_an_auto(slot):
    with pytest.raises(ValueError, match=slot):
        Pipeline(**{"n_clusters": 2, slot: "auto"}).fit(X)


def test_odd_arguments():
    with pytest.raises(InvalidParameter, match="base must be a Pipeline or None, got 'emmc'"):
        Driven("single", "emmc").fit(X)
    with pytest.raises(UnknownName, match="a recipe is named by a string, got None"):
        recipe(None)
    with pytest.raises(UnknownName, match="no parameter 'featuremap__'"):
        Pipeline().set_params(featuremap__=7)


def test_a_class_instead_of_a_stage():
    from clusterkit.families.margins.ridge import Ridge

    with pytest.raises(InvalidParameter, match=r"solver takes a stage, not its class: write Ridge\(\)"):
        Pipeline(solver=Ridge).fit(X)


def test_negative_data_for_nmf():
    with pytest.raises(InvalidData, match=r"nmf.*nonnegative.*minmax"):
        recipe("nmf", n_clusters=2, featuremap="identity").fit(X)


def test_kernel_matrix_above_the_memory_cap(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1K")
    expected = r"20 x 20 kernel matrix of solver 'centroids' needs 3,200 bytes \(3.1 KiB\).*cap of 1.0 KiB"
    with pytest.raises(NeedsMemory, match=expected):
        recipe("kernel-kmeans", n_clusters=2).fit(X)
    with pytest.raises(MemoryError):
        recipe("kernel-kmeans", n_clusters=2).fit(X)


def test_init_with_labels_out_of_range():
    import attrs

    from clusterkit.contracts import Partitioner

    @attrs.frozen
    class Wild(Partitioner):
        name = "wild"

        def start(self, samples, task, rng):
            return np.full(samples.n, 7)

    with pytest.raises(InvalidParameter, match=r"init 'wild' gave the label 7, outside 0..1"):
        recipe("emmc", n_clusters=2, init=Wild()).fit(X)


@pytest.mark.parametrize("name", EACH_CLASS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_whose_squares_overflow(name, dtype):
    huge = (X * np.sqrt(np.finfo(dtype).max)).astype(dtype)
    with pytest.raises(InvalidData, match=r"X has values up to .* overflow float(32|64); divide the data"):
        model(name).fit(huge)


@pytest.mark.parametrize("name", ["emmc", "kmeans", "svc"])
def test_values_whose_squares_vanish_are_answered_with_a_warning(name):
    with pytest.warns(clusterkit.ClusterkitWarning, match=r"squared distances that small are 0 in float64; multiply"):
        assert model(name).fit(X * 1e-200).labels_.shape == (20,)


@pytest.mark.parametrize("name", ["elm-kmeans", "emmc"])
def test_sparse_samples_where_the_map_takes_none_and_a_dense_copy_is_too_large(name, monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1K")
    with pytest.raises(InvalidData, match=r"must be dense here, got 60 x 4 sparse samples.*'pca'"):
        recipe(name, n_clusters=2).fit(csr_matrix(np.eye(60, 4)))


@pytest.mark.parametrize("name", ["kmeans", "mixture", "spectral", "genie", "emmc", "auto"])
def test_new_rows_whose_squared_distances_overflow_are_refused_as_in_fits(name):
    X = np.random.default_rng(0).normal(size=(60, 2)) + 8.0 * (np.arange(60) % 2)[:, None]
    model = recipe(name, n_clusters=2, random_state=0).fit(X)
    with pytest.raises(InvalidData, match=r"values up to 1e\+160, and squared distances .* overflow float64"):
        model.predict([[1e160, 0.0]])
