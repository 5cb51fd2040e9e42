"""
Large samples
=============

Two ways to a clustering of 50,000 rows: a recipe that is linear in the rows, and a fit to a sample that predicts the
rest. ``Auto`` takes a sample by itself where a member of its pool needs one.
"""

import time

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from clusterkit import plots, recipe
from clusterkit.metrics import adjusted_rand

X, truth = make_blobs(50_000, n_features=8, centers=5, cluster_std=2.5, random_state=0)
X = X.astype("float32")  # half the memory; sums are kept in float64
settings = {"featuremap__n_hidden": 100, "init__n_init": 1, "max_iter": 10}  # the last iterations move few rows
everything = recipe("emmc-multi", n_clusters=5, random_state=0, **settings)
part = recipe("mixture", n_clusters=5, random_state=0)

began = time.process_time()
labels = everything.fit_predict(X)
print(f"emmc-multi on all rows {time.process_time() - began:.1f} s, index {adjusted_rand(truth, labels):.3f}")
began = time.process_time()
labels = part.fit(X[:3000]).predict(X)
print(f"mixture on 3,000 rows  {time.process_time() - began:.1f} s, index {adjusted_rand(truth, labels):.3f}")
plots.clusters(labels[:3000], X[:3000, :2])
plt.show()
