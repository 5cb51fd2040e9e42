"""Samples that would silently become something else are refused with advice."""

import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from scipy.sparse import csr_matrix

import clusterkit
from clusterkit import recipe
from clusterkit.errors import InvalidData
from clusterkit.estimators import samples
from clusterkit.estimators.driven import Driven

X = np.random.default_rng(0).normal(size=(30, 2))


class Graph(list):
    """Like a Dask array: it converts when it is asked, which it must not be."""

    nbytes = 3 * 2**30

    def __dask_graph__(self):
        raise AssertionError("computed")

    def __array__(self, *args, **options):
        raise AssertionError("computed")


LazyFrame = type("LazyFrame", (), {"__module__": "polars.lazyframe.frame", "collect": lambda self: X})
Tensor = type(
    "Tensor",
    (),
    {"__module__": "torch", "__array_namespace__": lambda self: np, "__array__": lambda self, *a, **k: X},
)

ENTRIES = [
    lambda data: recipe("kmeans", n_clusters=2).fit(data),
    lambda data: recipe("kmeans", n_clusters=2).fit(X).predict(data),
    lambda data: Driven("single", recipe("kmeans"), n_clusters=2).fit(data),
    lambda data: recipe("emmc-multistart", n_clusters=2).fit(data),
    lambda data: clusterkit.search("kmeans", {"n_clusters": [2]}, data, "silhouette"),
    lambda data: clusterkit.ensemble(data, 2),
    lambda data: clusterkit.ConsensusClustering().fit(data),
    lambda data: MinMaxModularSVC().fit(data, np.arange(30) % 2),
]

SEARCH = 4
"""The entry that prepares tables."""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Graph(), r"X is a Dask Graph, which would be computed \(3\.0 GiB\) and kept in memory.* pass X\.compute\(\)"),
        (LazyFrame(), r"X is a LazyFrame of polars, a query that would be run and kept in memory.*X\.collect\(\)"),
        (np.ma.MaskedArray(X, mask=X > 1.5), r"X has \d+ masked values, and a mask says that they are missing\. Fill"),
        (np.arange(30).astype("datetime64[D]")[:, None], r"X has the type datetime64\[D\], whose values"),
    ],
    ids=["dask", "lazy", "masked", "dates"],
)
def test_refused_everywhere(data, message):
    for enter in ENTRIES:
        with pytest.raises(InvalidData, match=message):
            enter(data)


def test_dates_of_other_libraries_do_not_become_counts():
    polars = pytest.importorskip("polars")
    days = polars.date_range(polars.date(2024, 1, 1), polars.date(2024, 1, 30), eager=True)
    with pytest.raises(InvalidData, match=r"column 'day' of X holds dates"):
        recipe("kmeans", n_clusters=2).fit(polars.DataFrame({"a": X[:, 0], "day": days}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"plan": ["basic", "pro"] * 15}, r"column 'plan' of X holds other things than numbers \(row 1 has 'basic'\)"),
        ({"plan": [None, "pro"] * 15}, r"column 'plan' of X holds other things than numbers \(row 2 has 'pro'\)"),
        ({"plan": ["1", "x"] * 15, "town": ["Ulm"] * 30}, r"2 columns of X \('plan', 'town'\) hold other things .*'x'"),
        ({"since": "dates"}, r"column 'since' of X holds dates, times or durations"),
        ({"since": "dates", "a": "dates"}, r"2 columns of X \('a', 'since'\) hold dates"),
        ({"since": "periods"}, r"column 'since' of X holds other things than numbers \(row 1 has '2024-01-01'\)"),
        ({"lists": [[1], [2]] * 15}, r"column 'lists' of X holds other things than numbers"),
        ({"a": np.where(np.arange(30) < 4, np.nan, 1.0)}, r"X has NaN in 4 of 30 rows, in column 'a' \(4\)"),
        (
            {"a": [None, 1] * 15, "c": [np.nan] + 29 * [0.0]},
            r"X has NaN in 15 of 30 rows, in 2 columns: 'a' \(15\), 'c' \(1\)",
        ),
        ({"a": [np.inf] + 29 * [0.0]}, r"X has infinite values in 1 of 30 rows, in column 'a' \(1\)"),
    ],
    ids=["text", "text-gaps", "texts", "date", "dates", "periods", "lists", "nan", "nans", "infinite"],
)
def test_columns_that_are_no_numbers_are_named_everywhere(change, message):
    pandas = pytest.importorskip("pandas")
    days = pandas.date_range("2024-01-01", periods=30)
    made = {"dates": days, "periods": days.to_period("D")}
    columns = {name: made[values] if isinstance(values, str) else values for name, values in change.items()}
    frame = pandas.DataFrame(X, columns=["a", "b"]).assign(**columns)
    for enter in (*ENTRIES[:SEARCH], *ENTRIES[SEARCH + 1 :]):
        with pytest.raises(InvalidData, match=message + ".* taken by Auto.*clusterkit fit FILE.*Preparation"):
            enter(frame)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.where(X > 1.5, np.nan, X), r"X has NaN in \d of 30 rows, in (column|2 columns:) [12] \(\d\)"),
        (csr_matrix(np.where(X > 1.5, np.nan, X)), r"X has NaN in \d of 30 rows, in (column|2 columns:) [12] \(\d\)"),
        ([["x", 1.0], ["y", 2.0], ["x", 3.0]], r"column 1 of X holds other things than numbers \(row 1 has 'x'\)"),
        ({"a": X[:, 0]}, r"X is a dict, no array and no data frame\. Tables with texts"),
    ],
    ids=["array", "sparse", "list", "mapping"],
)
def test_columns_of_arrays_are_counted_from_one(data, message):
    with pytest.raises(InvalidData, match=message):
        recipe("kmeans", n_clusters=2).fit(data)


def test_numbers_as_texts_and_objects_are_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b"])
    labels = recipe("kmeans", n_clusters=2, random_state=0).fit(frame).labels_
    for other in (frame.astype(str), frame.astype(object)):
        assert np.array_equal(recipe("kmeans", n_clusters=2, random_state=0).fit(other).labels_, labels)


def test_a_mask_of_nothing_is_fine():
    plain, masked = (recipe("kmeans", n_clusters=2, random_state=0).fit(data) for data in (X, np.ma.MaskedArray(X)))
    assert np.array_equal(plain.labels_, masked.labels_)


def test_arrays_of_other_libraries_with_dispatch_on(monkeypatch):
    monkeypatch.setattr(samples, "_dispatches", lambda: True)
    with pytest.raises(InvalidData, match=r"X is a Tensor of torch, and scikit-learn's array API dispatch is"):
        recipe("kmeans", n_clusters=2).fit(Tensor())
    monkeypatch.setattr(samples, "_dispatches", lambda: False)
    assert len(recipe("kmeans", n_clusters=2).fit(Tensor()).labels_) == 30


def test_the_masks_of_rows_and_weights_are_not_lost():
    rows = [np.ma.MaskedArray([1.0, 2.0], mask=[False, i == 0]) for i in range(6)]
    with pytest.raises(InvalidData, match="X has 1 masked value"):
        recipe("kmeans", n_clusters=2).fit(rows)
    weights = np.ma.MaskedArray(np.ones(len(X)), mask=np.arange(len(X)) < 5)
    with pytest.raises(InvalidData, match="sample_weight has masked values"):
        recipe("kmeans", n_clusters=2).fit(X, sample_weight=weights)


def test_a_lazy_collection_without_a_size_is_refused_in_words():
    class Frame:
        def __dask_graph__(self):
            return {}

        @property
        def nbytes(self):
            raise NotImplementedError("nbytes is not implemented on DataFrame")

    Frame.__module__ = "elsewhere.frames"
    with pytest.raises(InvalidData, match="Dask"):
        recipe("kmeans", n_clusters=2).fit(Frame())


def test_a_dataset_of_files_is_refused_in_words(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow, of the extra 'tables'")
    datasets = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow, of the extra 'tables'")
    table = pyarrow.table({"a": [1.0, 2.0, 3.0]})
    with pytest.raises(InvalidData, match=r"X is a .*Dataset of pyarrow.* clusterkit\.open"):
        recipe("kmeans", n_clusters=2).fit(datasets.dataset(table))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((30, 4, 3)), r"X has 3 dimensions, \(30, 4, 3\), and a table has two: rows and columns\. Of series"),
        ([[[1, 2], [3, 4]]] * 30, r"X has 3 dimensions, \(30, 2, 2\)"),
        ([[1.0, 2.0]] * 29 + [[1.0, 2.0, 3.0]], r"the rows of X have 2 to 3 values, and all must have the same number"),
        ([np.zeros((3, 2))] * 29 + [np.zeros((4, 2))], r"the rows of X have 3 to 4 values.*resampling or cutting"),
    ],
    ids=["array", "lists", "ragged", "series"],
)
def test_series_are_refused_with_what_to_do(data, message):
    others = [
        lambda data: clusterkit.Auto().fit(data),
        lambda data: clusterkit.compare({"kmeans": "kmeans"}, data),
        lambda data: clusterkit.profile([0, 1] * 15, data),
    ]
    for entry in (*ENTRIES, *others):
        with pytest.raises(InvalidData, match=message + ".*the same features of each series"):
            entry(data)


PILES = np.r_[np.arange(6.0), 100 + np.arange(6.0)]


def _odd_frames():
    """Frames that scikit-learn refuses or warns of: names of several types, integers of 128 bits, sparse columns."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = np.c_[PILES, PILES, PILES]
    wide = polars.DataFrame({"a": PILES.astype(int).tolist(), "b": PILES.tolist()})
    yield pandas.DataFrame(table, columns=["a", 1, 2.5]), ["a", "1", "2.5"]
    yield wide.with_columns(polars.col("a").cast(polars.Int128)), ["a", "b"]
    yield wide.with_columns(polars.col("a").cast(polars.UInt128)), ["a", "b"]
    sparse = pandas.arrays.SparseArray(PILES)  # scikit-learn warns of one such column, and fails if all leave out NaN
    yield pandas.DataFrame({"a": sparse, "b": PILES}), ["a", "b"]
    yield pandas.DataFrame({"a": sparse, "b": sparse}), ["a", "b"]


@pytest.mark.parametrize("name", ["kmeans", "hdbscan", "mixture"])
def test_frames_with_odd_names_and_types_of_columns_are_taken_everywhere(name):
    for frame, names in _odd_frames():
        number = {"labeler__min_cluster_size": 3} if name == "hdbscan" else {"n_clusters": 2, "random_state": 0}
        model = recipe(name).set_params(**number).fit(frame)
        assert len(np.unique(model.labels_)) == 2
        assert model.feature_names_in_.tolist() == names
        assert (model.predict(frame) == model.labels_).all()
        assert len(clusterkit.assign(model, frame)) == len(PILES)
    assert clusterkit.ensemble(frame, 2, random_state=0).shape == (2, len(PILES))


def test_a_sparse_matrix_that_is_a_mapping_is_one_of_rows_everywhere():
    from scipy.sparse import dok_array

    table = dok_array(np.c_[PILES, PILES])
    model = recipe("kmeans", n_clusters=2, random_state=0).fit(table)
    assert clusterkit.profile(model, table) == clusterkit.profile(model, table.toarray())
    assert len(clusterkit.assign(model, table)["cluster"]) == len(PILES)
    assert repr(clusterkit.representatives(model, table)) == repr(clusterkit.representatives(model, table.toarray()))
    with pytest.raises(InvalidData, match="a dok_array is no data frame"):
        clusterkit.tables.Preparation().fit(table)
