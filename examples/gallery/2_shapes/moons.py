"""
Moons: trees, graphs and maximum margins
========================================

k-means cuts both moons. A spanning tree and a graph of neighbours follow them, and so does maximum margin clustering
on the eigenvectors of such a graph.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from clusterkit import plots, recipe
from clusterkit.metrics import adjusted_rand

X, truth = make_moons(400, noise=0.08, random_state=0)
figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
for ax, name in zip(axes.flat, ["kmeans", "mass-cut", "spectral", "emmc-graph"], strict=True):
    model = recipe(name, n_clusters=2, random_state=0).fit(X)
    plots.clusters(model, X, ax=ax, legend=False)
    ax.set_title(f"{name}: adjusted Rand index {adjusted_rand(truth, model.labels_):.2f}", loc="left")
plt.show()
