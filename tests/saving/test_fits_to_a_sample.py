"""What `Auto` leaves behind where it chose on a sample of the rows can be saved, and predicts the same."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from clusterkit import Auto, load


@pytest.mark.filterwarnings("ignore:.*were clustered by a sample")
@pytest.mark.parametrize(
    ("shape", "n_clusters"),
    [
        *((shape, k) for shape in ("moons", "blobs") for k in (2, 4)),
        ("blobs", None),
        pytest.param("moons", None, marks=pytest.mark.deep),
    ],
)
def test_labels_are_repeated(tmp_path, shape, n_clusters):
    if shape == "moons":
        X = make_moons(400, noise=0.08, random_state=0)[0]
    else:
        X = make_blobs(400, 3, centers=4, random_state=0)[0]
    model = Auto(n_clusters, max_rows=150, random_state=0).fit(X)
    model.save(tmp_path / "model.clusterkit")
    again = load(tmp_path / "model.clusterkit")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
