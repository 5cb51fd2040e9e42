"""NMF of dask collections: what is said of clusters without rows."""

from __future__ import annotations

import numpy as np
import pytest

from clusterkit import recipe
from clusterkit.errors import ClusterkitWarning
from clusterkit.testing.compare import small_blocks, small_groups

NEEDED = "the engine of clusterkit-dask needs dask, with its arrays and frames"
dask = pytest.importorskip("dask", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
pytest.importorskip("clusterkit_dask.engine", reason=NEEDED)


@pytest.fixture(autouse=True)
def threads():
    """Groups of 150 rows, blocks of 64, and Dask's threads."""
    with small_groups(150), small_blocks(), dask.config.set(scheduler="threads", num_workers=2):
        yield


def test_more_clusters_than_distinct_rows_are_reported_though_labels_are_not_computed_yet():
    few = np.repeat([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0]], 200, axis=0)
    for rows in (few, da.from_array(few, chunks=(170, 2))):
        sentence = "^2 of the 5 clusters that were asked for have rows, and only 3 rows are distinct$"
        with pytest.warns(ClusterkitWarning, match=sentence):
            model = recipe("nmf", n_clusters=5, solver__update="anls", labeler="argmax", random_state=0).fit(rows)
        assert np.unique(np.asarray(model.labels_)).tolist() == [0, 1]
    assert isinstance(model.labels_, da.Array)
