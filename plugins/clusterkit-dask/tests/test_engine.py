"""Fits to dask collections on Dask's own threads: the bits of the local engine, lazy labels, and clear refusals."""

from __future__ import annotations

import pickle

import clusterkit_dask
import numpy as np
import pytest
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_info

import clusterkit
from clusterkit import recipe
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, InvalidData, InvalidParameter
from clusterkit.samples import sums
from clusterkit.samples.rows import SlicedRows
from clusterkit.samples.transform import block_plan
from clusterkit.testing.compare import same_bits, small_blocks, small_groups

NEEDED = "the engine of clusterkit-dask needs dask, with its arrays and frames"
pd = pytest.importorskip("pandas", reason=NEEDED)
dask = pytest.importorskip("dask", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
dd = pytest.importorskip("dask.dataframe", reason=NEEDED)
engine_module = pytest.importorskip("clusterkit_dask.engine", reason=NEEDED)
rows_module = pytest.importorskip("clusterkit_dask.rows", reason=NEEDED)
DaskEngine, DaskRows, pieces_of = engine_module.DaskEngine, rows_module.DaskRows, engine_module.pieces_of

SMALL = {"featuremap__n_hidden": 40, "max_iter": 4}
SCALED = ["zscore", {"name": "elm", "n_hidden": 40}]
COMPOSITIONS = {
    "k-means": ("kmeans", {"n_init": 2, "max_iter": 5}),
    "k-means of principal components": ("cmeans", {"featuremap": ["minmax", {"name": "pca", "n_components": 3}]}),
    "EMMC": ("emmc-multi", {"balancer": None, **SMALL}),
    "EMMC of z-scores": ("emmc-multi", {"balancer": None, "init": "random", "featuremap": SCALED}),
    "EMMC of two clusters in a band": ("emmc", {"n_clusters": 2, **SMALL, "max_iter": 8}),
    "EMMC of equal clusters": ("emmc-multi", {"balancer": "transport", "init": "random", **SMALL}),
}  # fmt: skip

CHUNKS = {
    "of whole groups": (300, False),
    "that cut groups": (170, False),  # as in the test above
    "all in one": (-1, False),
    "some empty, one of one row": (((0, 1, 700, 0, 2299, 0),), True),
    "that cut columns": ((450, 2), True),
}
"""Chunks, and whether every change tries them."""


@pytest.fixture(autouse=True)
def threads():
    """Groups of 150 rows, blocks of 64, and Dask's threads, whatever clients other tests left."""
    with small_groups(150), small_blocks(), dask.config.set(scheduler="threads", num_workers=2):
        yield


def blobs(dtype=np.float32, n=3000):
    return make_blobs(n, 5, centers=4, cluster_std=2.0, random_state=0)[0].astype(dtype)


def fitted(name, X, **changes):
    recipe_name, parameters = COMPOSITIONS[name]
    return recipe(recipe_name, **{"n_clusters": 4, "random_state": 3, **parameters, **changes}).fit(X)


def same_fit(one, other):
    same_bits(one.history_, other.history_, "objectives")
    assert one.objective_ == other.objective_
    assert np.array_equal(np.asarray(one.labels_), np.asarray(other.labels_))
    for number in ("coefficients", "means"):
        if hasattr(one.predictor_.extend, number):
            same_bits(getattr(one.predictor_.extend, number), getattr(other.predictor_.extend, number), number)


class Counted:
    """An array of Dask that counts how often its chunks are made."""

    def __init__(self, X, chunks):
        self.reads = 0
        self.array = da.from_array(X, chunks=chunks).map_blocks(self._counting, dtype=X.dtype)

    def _counting(self, block):
        self.reads += len(block) > 1  # Dask tries it on an empty block, or on one of a row
        return block


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_the_bits_are_those_of_the_local_engine(name):
    X = blobs()
    here = fitted(name, clusterkit.open(X))
    there = fitted(name, da.from_array(X, chunks=(170, 5)))
    same_fit(here, there)
    assert here.resolved_.keys() == there.resolved_.keys()
    assert np.array_equal(np.asarray(there.predict(da.from_array(X, chunks=(400, 5)))), here.labels_)
    assert np.array_equal(there.predict(X), here.labels_)
    assert isinstance(there.predict(X), np.ndarray)
    assert np.array_equal(pickle.loads(pickle.dumps(there)).predict(X), here.labels_)


@pytest.mark.parametrize(
    ("name", "chunks"),
    [
        pytest.param(
            name, chunks, id=f"{name}-{words}", marks=[] if name == "k-means" and usual else [pytest.mark.deep]
        )
        for name in ("k-means", "EMMC of equal clusters")
        for words, (chunks, usual) in CHUNKS.items()
    ],
)
def test_chunks_change_no_bit(name, chunks):
    X = blobs(np.float64)
    chunks = (*chunks, 5) if isinstance(chunks, tuple) and len(chunks) == 1 else chunks
    same_fit(fitted(name, clusterkit.open(X)), fitted(name, da.from_array(X, chunks=chunks)))


def test_the_fit_in_memory_gives_the_same_bits():
    X = blobs()
    same_fit(fitted("EMMC", X), fitted("EMMC", da.from_array(X, chunks=500)))


def test_thin_groups_are_joined_as_long_as_every_thread_has_units(monkeypatch):
    def unit(n, d, threads):
        monkeypatch.setattr("clusterkit_dask.resources.threads", lambda: threads)
        with small_groups(2**18):
            return len(DaskRows(pieces_of(da.zeros((n, d), chunks=(10**6, d), dtype=np.float32))).units()[0])

    assert unit(10**8, 2, 2) == 16
    assert unit(10**8, 8, 2) == 4
    assert unit(10**8, 100, 2) == 1
    assert unit(10**7, 2, 2) == 4
    assert unit(10**7, 2, 64) == 1


class TestFrames:
    def frame(self, dtype=np.float32):
        return pd.DataFrame(blobs(dtype), columns=["a", "b", "height", "d", "e"])

    def test_the_bits_are_those_of_the_rows(self):
        frame = self.frame()
        model = fitted("EMMC", dd.from_pandas(frame, npartitions=7))
        same_fit(fitted("EMMC", clusterkit.open(frame.to_numpy())), model)
        assert model.feature_names_in_.tolist() == list(frame.columns)

    def test_empty_partitions_are_nothing(self):
        frame = dd.from_pandas(self.frame(), npartitions=6)
        few = frame[frame["a"] > frame["a"].quantile(0.3).compute()]
        few = dd.concat([few.partitions[:2], few[few["b"] > 1e9], few.partitions[2:]], interleave_partitions=True)
        same_fit(fitted("k-means", clusterkit.open(few.compute().to_numpy())), fitted("k-means", few))

    def test_whole_numbers_and_nullable_ones_are_numbers(self):
        frame = pd.DataFrame({"a": np.arange(1000), "b": np.arange(1000) % 7 > 2})
        frame["c"] = pd.array(np.arange(1000) % 5, dtype="Int32")
        model = fitted("k-means", dd.from_pandas(frame, npartitions=3))
        same_fit(fitted("k-means", clusterkit.open(frame.to_numpy(dtype=np.float64))), model)

    def test_a_missing_value_is_named_by_column_and_partition(self):
        frame = self.frame()
        frame.loc[2431, "height"] = np.nan
        with pytest.raises(
            InvalidData, match=r"column 'height' has the value nan in row 2431 \(row 31 of partition 8\)"
        ):
            fitted("k-means", dd.from_pandas(frame, chunksize=300))

    def test_columns_of_texts_are_refused_by_name_before_work(self):
        frame = dd.from_pandas(self.frame().assign(town="x", day=pd.Timestamp(0)), npartitions=3)
        with pytest.raises(InvalidData, match=r"not these columns: 'town' \(.*\), 'day' \(datetime64"):
            fitted("k-means", frame)

    def test_predictions_are_lazy_and_columns_compared(self):
        frame = self.frame()
        model = fitted("k-means", dd.from_pandas(frame, npartitions=4))
        labels = model.predict(dd.from_pandas(frame, npartitions=5))
        assert isinstance(labels, da.Array)
        assert np.isnan(labels.chunks[0][0]), "the rows of a frame are not counted for a prediction"
        assert np.array_equal(labels.compute(), np.asarray(model.labels_))
        with pytest.raises(InvalidData, match="are not those of the fit in their order"):
            model.predict(dd.from_pandas(frame[frame.columns[::-1]], npartitions=5))


class TestFiles:
    @pytest.fixture
    def folder(self, tmp_path):
        pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
        frame = pd.DataFrame(blobs(), columns=list("abcde"))
        for number in range(3):
            frame.iloc[1000 * number : 1000 * (number + 1)].to_parquet(
                tmp_path / f"part-{number}.parquet", row_group_size=330, index=False
            )
        return tmp_path

    def test_a_folder_of_parquet(self, folder):
        rows = clusterkit_dask.open(folder, columns=["c", "a"])
        assert len(rows.units()[0]) == 4, "a unit has the groups of a row group, so that it is decoded once"
        same_fit(fitted("EMMC", clusterkit.open(folder, columns=["c", "a"])), fitted("EMMC", rows))

    def test_it_may_be_read_in_every_pass(self, folder):
        here = fitted("k-means", clusterkit.open(folder))
        with dask.config.set({"clusterkit.persist": False}):
            model = fitted("k-means", clusterkit_dask.open(folder))
        same_fit(here, model)
        assert isinstance(model.labels_, da.Array)
        assert np.array_equal(model.predict(clusterkit_dask.open(folder)).compute(), here.labels_)

    def test_through_a_frame(self, folder):
        same_fit(fitted("EMMC", clusterkit.open(folder)), fitted("EMMC", dd.read_parquet(folder)))

    def test_only_paths(self):
        with pytest.raises(InvalidData, match="workers open files by their path, got ndarray"):
            clusterkit_dask.open(blobs())


class TestLaziness:
    def test_labels_are_computed_when_asked_for_in_the_chunks_of_the_samples(self):
        X = Counted(blobs(), (170, 5))
        model = fitted("k-means", X.array)
        before = X.reads
        assert isinstance(model.labels_, da.Array)
        assert model.labels_.chunks[0] == X.array.chunks[0]
        labels = model.predict(X.array)
        assert isinstance(labels, da.Array)
        assert labels.shape[0] != 0
        assert X.reads == before
        assert model.labels_[:100].compute().shape == (100,)
        assert X.reads == before + 2, "a part of the labels costs the chunks of its units: here of 300 rows"
        assert isinstance(model.history_, np.ndarray)
        assert isinstance(model.cluster_centers_, np.ndarray)
        assert model.n_clusters_ == 4

    def test_rows_of_one_group_are_fitted_in_memory_by_any_recipe(self):
        X = blobs(n=120)
        model = recipe("svc", random_state=0).fit(da.from_array(X, chunks=50))
        assert model.labels_.chunks == ((50, 50, 20),)
        assert np.array_equal(model.labels_.compute(), recipe("svc", random_state=0).fit(X).labels_)
        X[77, 3] = np.inf
        with pytest.raises(InvalidData, match=r"column 4 of 5 has the value inf in row 77 \(row 27 of partition 1\)"):
            recipe("svc", random_state=0).fit(da.from_array(X, chunks=50))

    def test_unknown_chunks_are_counted_and_said(self):
        X = blobs()
        lazy = da.from_array(X, chunks=400)
        lazy = lazy[lazy[:, 0] < np.inf]
        assert np.isnan(lazy.shape[0])
        with pytest.warns(ClusterkitWarning, match="unknown sizes.*compute_chunk_sizes"):
            model = fitted("k-means", lazy)
        same_fit(fitted("k-means", clusterkit.open(X)), model)
        assert np.isnan(lazy.shape[0]), "the array of the user stays as it is"
        assert np.array_equal(model.predict(lazy).compute(), np.asarray(model.labels_))

    def test_few_tasks_and_small_things_are_sent(self, monkeypatch):
        tasks, sent = [], []
        compute, literal = dask.compute, rows_module.literal

        def counting(*things):
            tasks.append(len(dict(things[0].__dask_graph__())) if things else 0)
            return compute(*things)

        def weighing(thing):
            sent.append(len(pickle.dumps(thing)))
            return literal(thing)

        monkeypatch.setattr(dask, "compute", counting)
        monkeypatch.setattr(engine_module, "literal", weighing)
        X = da.from_array(blobs(), chunks=150).persist()
        with dask.config.set({"clusterkit.persist": False}):
            fitted("EMMC", X, featuremap__n_hidden=500)
        assert max(tasks) <= 2.2 * X.npartitions + 20
        assert max(sent) < 2**20, "the factorisation of 500 features alone has 2 MB, and stays here"


class TestPersist:
    @pytest.mark.parametrize("setting", [True, "auto", False])
    def test_rows_are_read_once_or_in_every_pass(self, setting):
        X = Counted(blobs(), (300, 5))
        with dask.config.set({"clusterkit.persist": setting}):
            model = fitted("k-means", X.array)
        assert (X.reads == X.array.npartitions) == (setting is not False)
        same_fit(fitted("k-means", clusterkit.open(blobs())), model)

    def test_auto_reads_again_what_memory_has_no_room_for(self, monkeypatch):
        monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "50K")
        X = Counted(blobs(), (300, 5))
        fitted("k-means", X.array)
        assert X.reads > 2 * X.array.npartitions

    def test_another_word_is_refused(self):
        with (
            dask.config.set({"clusterkit.persist": "often"}),
            pytest.raises(InvalidParameter, match=r"clusterkit\.persist must be True, False or 'auto', got 'often'"),
        ):
            fitted("k-means", da.from_array(blobs(), chunks=300))


class TestRefusals:
    @pytest.mark.parametrize(
        ("recipe_name", "changes", "reason"),
        [
            ("kernel-kmeans", {"n_clusters": 4}, "featuremap: 'rbf' needs all rows at once"),
            ("emmc-multi", {"n_clusters": 4}, "balancer: 'band' repairs 4 clusters"),
            ("kmeans", {"n_clusters": "auto"}, "n_clusters='auto' compares fits"),
        ],
    )
    def test_what_needs_all_rows_is_refused_before_any_is_read(self, recipe_name, changes, reason):
        X = Counted(blobs(), (300, 5))
        with pytest.raises(IncompatibleStages) as refusal:
            recipe(recipe_name, **changes).fit(X.array)
        assert reason in str(refusal.value)
        assert "model.fit(X[:100_000].compute())" in str(refusal.value), "the message names the way by a sample"
        assert X.reads == 0

    def test_estimators_of_several_fits_say_what_takes_lazy_samples(self):
        with pytest.raises(InvalidData, match=r"Dask Array, which would be computed.*recipes that make one fit"):
            clusterkit.recipe("emmc-multistart", n_clusters=2).fit(da.from_array(blobs(), chunks=300))

    @pytest.mark.parametrize(
        ("samples", "reason"),
        [
            (lambda: da.zeros((10, 2, 2)), r"two dimensions \(n, d\), got 3"),
            (lambda: da.from_array(np.array([["a"], ["b"]])), "got a dask array of type <U1"),
            (lambda: da.from_array(np.array([[object()]]), chunks=1), "got a dask array of type object"),
            (lambda: da.from_array(np.ma.masked_less(np.zeros((4, 2)), 1)), "MaskedArray, not numpy arrays"),
            (lambda: dd.from_pandas(pd.Series([1.0, 2.0]), npartitions=1), "a Series of dask.dataframe.* is no table"),
            (lambda: dask.delayed(np.zeros((4, 2))), "a Delayed.* of dask.delayed is no table"),
        ],
    )
    def test_what_is_no_table_of_numbers(self, samples, reason):
        with pytest.raises(InvalidData, match=reason):
            recipe("kmeans", n_clusters=2).fit(samples())

    def test_partitions_that_change_their_rows(self):
        def longer(block):
            return np.concatenate([block, block[:1]])

        X = da.from_array(blobs(), chunks=300).map_blocks(longer, chunks=((300,) * 10, (5,)), dtype=np.float32)
        with pytest.raises(InvalidData, match=r"partition \d has the shape \(301, 5\), but \(300, 5\)"):
            fitted("k-means", X)

    def test_more_clusters_than_rows_and_one_cluster(self):
        X = da.from_array(blobs(n=200), chunks=90)
        with pytest.raises(InvalidData, match="n_samples=200 should be >= n_clusters=201"):
            fitted("k-means", X, n_clusters=201)
        assert not fitted("k-means", X, n_clusters=1).labels_.compute().any()

    @pytest.mark.parametrize("chunks", [((0,), 5), ((0, 0), 5)], ids=str)
    def test_no_rows_at_all(self, chunks):
        with pytest.raises((InvalidData, ValueError), match=r"0 sample\(s\)|n_samples=0"):
            fitted("k-means", da.zeros((0, 5), chunks=chunks))

    def test_rows_that_are_all_equal(self):
        with pytest.warns(ClusterkitWarning, match="all 500 samples are equal"):
            labels = recipe("cmeans", n_clusters=2, random_state=0).fit(da.ones((500, 3), chunks=130)).labels_
        assert labels.compute().shape == (500,)


def test_tasks_use_one_thread_of_blas_each():
    def part(rows, X):
        X @ X.T
        return sums.RowsInOrder(
            (np.array([pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]),)
        )

    limits = DaskEngine().reduce(part, DaskRows(pieces_of(da.from_array(blobs(), chunks=300))), 5).arrays[0]
    assert set(limits.tolist()) == {1}


def test_blocks_and_rows_come_as_they_are():
    X = blobs()
    rows = DaskRows(pieces_of(da.from_array(X, chunks=170)))
    index = np.array([2999, 5, 5, 160, 0])
    assert np.array_equal(rows.gather(index), X[index])
    assert rows.gather(index[:0]).shape == (0, 5)
    assert np.array_equal(rows.read(slice(100, 600)), X[100:600])
    here = list(block_plan(len(X), 5, X.dtype))
    there = list(DaskEngine().blocks(rows, 5))
    assert [block for block, _ in there] == here
    assert np.array_equal(np.concatenate([block for _, block in there]), X)
    with pytest.raises(TypeError, match="runs over its own rows, not SlicedRows"):
        DaskEngine().reduce(None, SlicedRows(X), 5)
