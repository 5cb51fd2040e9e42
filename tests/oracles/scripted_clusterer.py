"""A clusterer whose labels and failures are parameters, and three blobs of 50 rows for it to label."""

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.datasets import make_blobs

from clusterkit import ClusterkitWarning


def three_blobs():
    """Rows of three clusters, cluster after cluster, shape (150, 2)."""
    return make_blobs(
        [50, 50, 50], centers=[[0, 0], [9, 0], [4.5, 7.8]], cluster_std=0.8, random_state=0, shuffle=False
    )[0]


class ScriptedClusterer(ClusterMixin, BaseEstimator):
    """Returns the labels of its parameter, or fails, warns or stops as its parameter says."""

    fits = 0

    def __init__(self, labels=None, stop=None, random_state=None):
        self.labels = labels
        self.stop = stop
        self.random_state = random_state

    def fit(self, X, y=None):
        ScriptedClusterer.fits += 1
        if self.stop == "error":
            raise RuntimeError("it broke")
        if self.stop == "interrupt":
            raise KeyboardInterrupt
        if self.stop == "warn":
            import warnings

            warnings.warn("mind the gap", ClusterkitWarning, stacklevel=2)
        if self.stop == "interrupted":
            self.interrupted_ = True
        self.labels_ = np.asarray(self.labels)[: len(X)]
        return self


THIRDS = tuple(np.repeat([0, 1, 2], 50).tolist())
HALVES = tuple(np.repeat([0, 1], 75).tolist())
ONE = (0,) * 150
SHATTERED = tuple(range(150))
