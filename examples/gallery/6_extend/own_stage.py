"""
A stage in 20 lines
===================

This start takes quantiles of the first principal component; registered, it works in every composition and grid.
"""

import attrs
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from clusterkit import plots, recipe, register
from clusterkit.contracts import Partitioner


@register
@attrs.frozen
class PrincipalQuantiles(Partitioner):
    name, sees, varies = "principal_quantiles", "input", False  # it sees the rows before any map

    def start(self, samples, task, rng):
        component = np.linalg.svd(samples.points - samples.points.mean(axis=0), full_matrices=False)[0][:, 0]
        return np.argsort(np.argsort(component)) * task.k // task.n


X, _ = make_blobs(300, centers=4, random_state=3)
model = recipe("emmc", n_clusters=4, init="principal_quantiles", random_state=0).fit(X)
plots.clusters(model, X)
plt.show()
