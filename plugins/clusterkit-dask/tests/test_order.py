"""The order of the sums of a pass: that of one process, whatever tasks it is made of."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from clusterkit.samples import sums
from clusterkit.samples.transform import block_plan
from clusterkit.testing.compare import small_groups

NEEDED = "the engine of clusterkit-dask needs dask, with its arrays and frames"
dask = pytest.importorskip("dask", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
pytest.importorskip("pandas", reason=NEEDED)
engine_module = pytest.importorskip("clusterkit_dask.engine", reason=NEEDED)
rows_module = pytest.importorskip("clusterkit_dask.rows", reason=NEEDED)
DaskEngine, DaskRows, pieces_of = engine_module.DaskEngine, rows_module.DaskRows, engine_module.pieces_of


@pytest.fixture(autouse=True)
def threads():
    """Dask's threads, whatever clients other tests left."""
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@attrs.frozen
class Nested:
    """A sum that shows in which order it was made."""

    text: str

    def __add__(self, following):
        return Nested(f"({self.text}+{following.text})")


@pytest.mark.parametrize(("joined", "most"), [(1, 2**24), (2, 2**24), (4, 2**24), (16, 2**24), (2, 0), (4, 0)])
def test_units_and_tree_add_in_the_one_order(joined, most, monkeypatch):
    monkeypatch.setattr(engine_module, "MOST_BYTES", most)
    for groups in (1, 2, 16, 17, 33, 257):
        added_in_the_one_order(groups, joined, monkeypatch)


@pytest.mark.parametrize(("joined", "most"), [(1, 2**24), (4, 2**24), (16, 2**24), (4, 0)])
def test_so_do_chains_over_partitions_that_are_made_again(joined, most, monkeypatch):
    monkeypatch.setattr(engine_module, "MOST_BYTES", most)
    with dask.config.set({"clusterkit.persist": False}):
        for groups in (1, 2, 17, 33):
            added_in_the_one_order(groups, joined, monkeypatch)


def added_in_the_one_order(groups, joined, monkeypatch):
    monkeypatch.setattr(DaskRows, "_groups_of_a_unit", lambda self, n_groups: joined)
    X = np.arange(7 * groups - 3, dtype=np.float64)[:, None]

    def part(rows, block):
        assert block[0, 0] == rows.start
        return Nested(str(rows.start))

    with small_groups(7):
        expected = sums.total((rows, part(rows, X[rows])) for rows in block_plan(len(X), 1, X.dtype))
        assert DaskEngine().reduce(part, DaskRows(pieces_of(da.from_array(X, chunks=64))), 1) == expected
