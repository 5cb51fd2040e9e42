"""
Stability under subsampling
===========================

A number of clusters that the data support comes back when a part of the rows is left out. The score is the mean
adjusted Rand index between fits to subsamples. Here two halves are as stable as the four groups, which is common: look
for the last peak of the curve, not for the first.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from clusterkit import plots, recipe, search

X, _ = make_blobs(240, centers=[(0, 0), (5, 0), (0, 5), (5, 5)], cluster_std=0.9, random_state=0)
grid = {"n_clusters": [2, 3, 4, 5, 6, 7, 8]}
comparison = search("kmeans", grid, X, score="stability", repeats=6, random_state=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
plots.search_curve(comparison, ax=left)
plots.clusters(recipe("kmeans", n_clusters=4, random_state=0).fit(X), X, ax=right, legend=False)
plt.show()
