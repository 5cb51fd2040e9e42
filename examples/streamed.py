"""Streamed features: the same labels as with all features in memory, from blocks of 8 MiB."""

import time

import numpy as np
from sklearn.datasets import make_blobs

from clusterkit import recipe

X, _ = make_blobs(30_000, n_features=10, centers=4, cluster_std=3.0, random_state=0)
X = X.astype(np.float32)  # half the memory; sums are kept in float64

labels = {}
for storage in ("dense", "streamed"):
    model = recipe("emmc-multi", n_clusters=4, random_state=0, featuremap__n_hidden=200, featuremap__storage=storage)
    model.set_params(init="random", max_iter=10)
    began = time.perf_counter()
    labels[storage] = model.fit_predict(X)
    size = 4 * X.shape[0] * 200 / 2**20 if storage == "dense" else 8
    print(f"{storage:9} {time.perf_counter() - began:5.2f} s, features {size:4.0f} MiB, {model.n_iter_} iterations")
print("equal labels:", np.array_equal(labels["dense"], labels["streamed"]))
