"""A clusterer that returns scripted labels, for tests of what surrounds a fit; labels of three blobs of 50 samples."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from clusterkit import ClusterkitWarning

THIRDS = tuple(np.repeat([0, 1, 2], 50).tolist())
HALVES = tuple(np.repeat([0, 1], 75).tolist())
ONE = (0,) * 150
SHATTERED = tuple(range(150))
"""Labels of 150 samples: the three blobs, two equal parts, one cluster, and every sample on its own."""


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
