"""
k-means in random features
==========================

The map ``elm`` replaces the columns by random hidden nodes, in which curved borders become planes. The recipe
``elm-kmeans`` is k-means there: nearly what kernel k-means does, at a cost that is linear in the number of rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from clusterkit import Pipeline, plots, recipe

X, _ = make_circles(600, factor=0.3, noise=0.08, random_state=0)
X = X[np.linalg.norm(X, axis=1) > 0.1]
narrow = {"name": "elm", "n_hidden": 400, "width": 4.0}
models = {
    "kmeans": recipe("kmeans", n_clusters=2, random_state=0),
    "elm-kmeans": recipe("elm-kmeans", n_clusters=2, random_state=0, featuremap=narrow),
    "kernel-kmeans": Pipeline({"name": "rbf", "gamma": 4.0}, "centroids", n_clusters=2, n_init=5, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plots.clusters(model.fit(X), X, ax=ax, legend=False)
    ax.set_title(name, loc="left")
plt.show()
