"""
Stability under subsampling
===========================

A number of clusters that the data support comes back when a part of the rows is left out. The score is the mean
adjusted Rand index between fits to subsamples; few large groups are often as stable as the right ones.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from clusterkit import plots, search

X, _ = make_blobs(240, centers=[(0, 0), (5, 0), (0, 5), (5, 5)], cluster_std=0.9, random_state=0)
grid = {"n_clusters": [2, 3, 4, 5, 6, 7, 8]}
comparison = search("kmeans", grid, X, score="stability", repeats=6, random_state=0)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
plots.search_curve(comparison, ax=left)
plots.clusters(comparison.best_estimator, X, ax=right, legend=False)
plt.show()
