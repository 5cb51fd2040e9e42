"""
k-means in random features
==========================

The map ``elm`` replaces the columns by random hidden nodes, in which curved borders become planes. The recipe
``elm-kmeans`` is k-means there, at a cost that is linear in the number of rows. The width of the nodes decides what it
can separate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from clusterkit import plots, recipe

X, _ = make_circles(600, factor=0.3, noise=0.08, random_state=0)
X = X[np.linalg.norm(X, axis=1) > 0.1]
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, width in zip(axes, [None, 0.5, 4.0], strict=True):
    map_ = "identity" if width is None else {"name": "elm", "n_hidden": 400, "width": width}
    model = recipe("elm-kmeans", n_clusters=2, featuremap=map_, random_state=0).fit(X)
    plots.clusters(model, X, ax=ax, legend=False)
    ax.set_title("no map: k-means" if width is None else f"random features of width {width}", loc="left")
plt.show()
