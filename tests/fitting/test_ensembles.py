"""The k-means ensemble below the estimators is that of `clusterkit.ensemble`."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clusterkit import ensemble, recipe
from clusterkit.fitting.ensembles import kmeans_composition, kmeans_ensemble


def test_the_composition_is_that_of_the_recipe():
    assert kmeans_composition(4) == recipe("cmeans", n_clusters=4).composition()


@pytest.mark.filterwarnings("ignore::clusterkit.ClusterkitWarning")
@pytest.mark.parametrize("member_clusters", ["cbrt", "sqrt", 3, 1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 90])
def test_members_are_those_of_the_recipe(n, dtype, member_clusters):
    X = make_blobs(n, centers=3, n_features=6, random_state=0)[0].astype(dtype)
    members = kmeans_ensemble(X, 7, member_clusters, np.random.default_rng(5))
    assert members.dtype == np.int64
    np.testing.assert_array_equal(
        members, ensemble(X, 7, member_clusters=member_clusters, random_state=np.random.default_rng(5))
    )
