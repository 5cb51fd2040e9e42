"""
Search a grid without labels
============================

``search`` fits every point of a grid to all rows and compares the labels by a score that needs no classes. Two
parameters give a map; one gives a curve.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from clusterkit import plots, search

X, _ = make_moons(200, noise=0.06, random_state=0)
grid = {"featuremap__gamma": [4.0, 8.0, 16.0, 64.0, 128.0], "solver__nu": [0.05, 0.2, 0.5]}
comparison = search("svc", grid, X, score="dbcv", random_state=0)
plots.search_curve(comparison)
plt.show()

# %%
# The winner is fitted and ready to predict.
print(comparison.best_params, "->", comparison.best_estimator.labels_.max() + 1, "clusters")
