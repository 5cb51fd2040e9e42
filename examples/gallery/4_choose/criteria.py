"""
Which criterion?
================

The same candidates under four scores. The silhouette favours round clusters and cuts the moons; density-based
validation (``dbcv``) does not. No score is right for all data, so look at the curves, not only at their maximum.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from clusterkit import plots, search

X, _ = make_moons(200, noise=0.06, random_state=0)
figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
for ax, score in zip(axes.flat, ["silhouette", "dbcv", "stability", "ami"], strict=True):
    comparison = search("mass-cut", {"n_clusters": [2, 3, 4, 5, 6, 7]}, X, score=score, random_state=0)
    plots.search_curve(comparison, ax=ax)
    print(f"{score:10} chooses {comparison.best_params['n_clusters']} clusters")
plt.show()
