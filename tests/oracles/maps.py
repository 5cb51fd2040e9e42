"""Feature maps fitted outside a pipeline."""

import numpy as np

from clusterkit.contracts import Task


def mapped(featuremap, X, seed, k=None):
    """The space of the rows of X under a map, its draws from `seed`."""
    return featuremap.space_of(X, Task(len(X), k), np.random.default_rng(seed))
