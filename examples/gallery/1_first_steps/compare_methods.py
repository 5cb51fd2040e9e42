"""
Four methods on three shapes
============================

Every method makes assumptions: k-means that clusters are round, a mixture that they are elliptic, a spanning tree that
there are gaps between them. ``auto`` chooses among them, here with the number of clusters given.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs, make_circles

from clusterkit import plots, recipe

blobs, _ = make_blobs(300, centers=3, random_state=170)
shapes = {
    "rings": (make_circles(300, factor=0.5, noise=0.05, random_state=0)[0], 2),
    "stretched": (blobs @ [[0.6, -0.64], [-0.41, 0.85]], 3),
    "blobs": (blobs, 3),
}
figure, axes = plt.subplots(3, 4, figsize=(12, 8.5), layout="constrained")
for row, (shape, (X, k)) in zip(axes, shapes.items(), strict=True):
    for ax, name in zip(row, ["kmeans", "mixture", "mass-cut", "auto"], strict=True):
        plots.clusters(recipe(name, n_clusters=k, random_state=0).fit(X), X, ax=ax, legend=False)
        ax.set_title(f"{name} on {shape}", loc="left")
plt.show()
