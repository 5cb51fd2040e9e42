"""The mixture of mixed columns on dask frames: the bits of blocks on this machine, labels of new frames."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from clusterkit import Auto, recipe
from clusterkit.errors import IncompatibleStages
from clusterkit.estimators import mixed_blocks
from clusterkit.testing.compare import same_bits, small_blocks, small_groups

NEEDED = "the engine of clusterkit-dask needs dask, with its arrays and frames"
pd = pytest.importorskip("pandas", reason=NEEDED)
dask = pytest.importorskip("dask", reason=NEEDED)
pytest.importorskip("dask.array", reason=NEEDED)
dd = pytest.importorskip("dask.dataframe", reason=NEEDED)


@pytest.fixture(autouse=True)
def threads():
    """Groups of 150 rows, blocks of 64, and Dask's threads, whatever clients other tests left."""
    with small_groups(150), small_blocks(), dask.config.set(scheduler="threads", num_workers=2):
        yield


def frame(n=500, seed=0):
    """Three clusters in numbers, a category, a count and an ordered column, with gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    columns = pd.DataFrame(
        {
            "length": 6.0 * (y == 1) + rng.standard_normal(n),
            "width": 6.0 * (y == 2) + rng.standard_normal(n),
            "kind": np.where(rng.random(n) < 0.8, np.array(["a", "b", "c"])[y], "a"),
            "sales": rng.poisson(np.array([1.0, 5.0, 12.0])[y]),
        }
    )
    columns["kind"] = columns["kind"].mask(rng.random(n) < 0.1)
    place = np.where(rng.random(n) < 0.8, y, 1)
    grades = pd.Categorical(np.array(["low", "mid", "high"])[place], ["low", "mid", "high"], ordered=True)
    return columns.assign(grade=grades)


def in_parts(table, sizes=(170, 0, 330)):
    """The frame with partitions of so many rows."""
    ends = np.cumsum([0, *sizes])
    return dd.concat([dd.from_pandas(table.iloc[a:b], npartitions=1) for a, b in pairwise(ends)])


@pytest.mark.parametrize("covariance", ["diag", pytest.param("tied", marks=pytest.mark.deep)])
def test_a_dask_frame_has_the_labels_of_blocks_and_of_the_frame(monkeypatch, covariance):
    table = frame()
    model = clusterer(covariance).fit(in_parts(table))
    np.testing.assert_array_equal(np.asarray(model.labels_), clusterer(covariance).fit(table).labels_)
    monkeypatch.setattr(mixed_blocks, "SAMPLE", 240)
    lazily = clusterer(covariance).fit(in_parts(table))
    here = clusterer(covariance)
    mixed_blocks.fit_blocks(here, lambda: [table.iloc[:170], table.iloc[170:]])
    assert len(here.history_) > 1
    same_bits(lazily.history_, here.history_, "log-likelihoods")
    labels = np.asarray(lazily.labels_)
    np.testing.assert_array_equal(labels, here.labels_)
    assert lazily.column_roles_ == here.column_roles_
    assert lazily.n_clusters_ == 3
    np.testing.assert_array_equal(np.asarray(lazily.predict(in_parts(table))), labels)
    np.testing.assert_array_equal(lazily.predict(table), labels)


def clusterer(covariance):
    """A mixture of columns with three clusters."""
    model = recipe("mixture", n_clusters=3, random_state=0)
    return model.set_params(featuremap="columns", solver={"name": "mixed_mixture", "covariance": covariance}, n_init=1)


def test_links_of_a_dask_frame_are_refused():
    with pytest.raises(IncompatibleStages, match="rows of the table in memory; fit a data frame instead of this"):
        clusterer("diag").fit(in_parts(frame(60), (60,)), links=[(0, 1, 1)])


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore::clusterkit.errors.ClusterkitWarning")
def test_auto_gives_dask_frames_and_arrays_the_labels_of_their_rows_in_memory(monkeypatch):
    monkeypatch.setattr("clusterkit.estimators.auto.MOST_ROWS", 400)
    monkeypatch.setattr("clusterkit.estimators.auto.SAMPLE", 250)
    table = frame()
    model, lazily = Auto(3, max_rows=100, random_state=0).fit(table), Auto(3, max_rows=100, random_state=0)
    lazily.fit(in_parts(table))
    np.testing.assert_array_equal(np.asarray(lazily.labels_), model.labels_)
    np.testing.assert_array_equal(np.asarray(lazily.predict(in_parts(table))), model.labels_)
    X = np.concatenate([table[["length", "width"]], np.random.default_rng(0).normal(size=(500, 3))], axis=1)
    labels = lazily.fit(dask.array.from_array(X, chunks=(170, 5))).labels_
    np.testing.assert_array_equal(np.asarray(labels), model.fit(X).labels_)
