"""The min-max modular classifier on dask collections: the fit in memory, with parts that are cut out once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from sklearn.datasets import make_blobs

from clusterkit.errors import InvalidData, NeedsMemory
from clusterkit.samples.rows import SlicedRows
from clusterkit.testing.compare import same_bits, small_groups

NEEDED = "the engine of clusterkit-dask needs dask, with its arrays and frames"
pd = pytest.importorskip("pandas", reason=NEEDED)
dask = pytest.importorskip("dask", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
dd = pytest.importorskip("dask.dataframe", reason=NEEDED)
engine_module = pytest.importorskip("clusterkit_dask.engine", reason=NEEDED)
rows_module = pytest.importorskip("clusterkit_dask.rows", reason=NEEDED)


@pytest.fixture(autouse=True)
def threads():
    """Groups of 50 rows, and Dask's threads."""
    with small_groups(50), dask.config.set(scheduler="threads", num_workers=2):
        yield


def problem(dtype=np.float32):
    X, y = make_blobs([80, 90, 60], n_features=3, cluster_std=4.0, random_state=2)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order].astype(dtype), np.array(["a", "b", "c"])[y[order]]


def fitted(X, y, partitioner="kmeans", **changes):
    return MinMaxModularSVC(3, partitioner, random_state=0, **changes).fit(X, y)


def same_model(one, other, X):
    same_bits(one.decision_function(X), other.decision_function(X), "values")
    same_bits(one.support_, other.support_, "support vectors")
    assert one.gamma_ == other.gamma_
    assert np.array_equal(one.parts_, other.parts_)


@pytest.mark.parametrize(("chunks", "dtype"), [((37, 3), np.float32), (((0, 1, 200, 0, 29), 3), np.float64)], ids=str)
def test_a_dask_array_gives_the_model_of_its_rows(dtype, chunks):
    X, y = problem(dtype)
    here, there = fitted(X, y), fitted(da.from_array(X, chunks=chunks), y)
    same_model(here, there, X)


def test_another_partition_and_classes_on_dask():
    X, y = problem()
    lazy = da.from_array(X, chunks=(37, 3))
    same_model(fitted(X, y, "random"), fitted(lazy, da.from_array(y, chunks=70), "random"), X)


def test_predictions_are_lazy_and_those_of_the_rows():
    X, y = problem()
    model = fitted(da.from_array(X, chunks=(37, 3)), y)
    new = X[::-1] + np.float32(0.5)
    names = model.predict(da.from_array(new, chunks=(60, 3)))
    assert isinstance(names, da.Array)
    assert names.chunks == ((60, 60, 60, 50),)
    assert names.dtype == y.dtype
    assert model.fit_report_["evaluated_modules"] is None
    assert np.array_equal(names.compute(), fitted(X, y).predict(new))
    assert np.array_equal(names[70:90].compute(), model.predict(new)[70:90])
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(SlicedRows(new)), names.compute())
    assert model.score(da.from_array(X, chunks=(60, 3)), y) == model.score(X, y)


def test_frames_have_names():
    X, y = problem(np.float64)
    frame = pd.DataFrame(X, columns=["a", "b", "height"])
    model = fitted(dd.from_pandas(frame, npartitions=4), y)
    same_model(fitted(frame, y), model, frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "height"]
    lazy = dd.from_pandas(frame, npartitions=3)
    assert np.array_equal(model.predict(lazy).compute(), model.predict(frame))
    with pytest.raises(InvalidData, match="are not those of the fit in their order"):
        model.predict(lazy[["b", "a", "height"]])
    frame.loc[77, "height"] = np.nan
    with pytest.raises(InvalidData, match=r"column 'height' has the value nan in row 77 \(row 17 of partition 1\)"):
        fitted(dd.from_pandas(frame, chunksize=60), y)


def test_what_is_split_here_must_fit_here(monkeypatch):
    X, y = problem()
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "5000")
    with pytest.raises(NeedsMemory, match=r"a copy of all 230 x 3 rows in this process needs 5,520 bytes"):
        fitted(da.from_array(X, chunks=(60, 3)), y)


def test_each_part_is_one_task_and_no_row_is_sent(monkeypatch):
    X, y = problem()
    graphs, sent = [], []
    compute, literal = dask.compute, rows_module.literal

    def seen(*things):
        graphs.append({str(key) for thing in things for key in thing.__dask_graph__()})
        return compute(*things)

    def weighed(thing):
        sent.append(len(pickle.dumps(thing)))
        return literal(thing)

    monkeypatch.setattr(dask, "compute", seen)
    monkeypatch.setattr(engine_module, "literal", weighed)
    monkeypatch.setattr(rows_module, "literal", weighed)
    model = fitted(da.from_array(X, chunks=(50, 3)).persist(), y)
    trained = graphs[-1]
    assert sum(key.startswith("of_pair-") for key in trained) == model.fit_report_["n_modules"] == 27
    assert sum(key.startswith("stacked-") for key in trained) == model.n_parts_.sum() == 9
    assert max(sent) < 500, "the parameters of the machines, and a byte for each row of a unit"
