"""
Label new rows, save a model and load it
========================================

A fitted model labels rows that it has not seen. A saved model is data: loading it runs no code, so a file from a
stranger is at worst refused.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import clusterkit

X = load_iris().data
rng = np.random.default_rng(0)
train = rng.random(len(X)) < 0.8
model = clusterkit.recipe("mixture", n_clusters=3, random_state=0).fit(X[train])
print("sizes of the clusters:", np.bincount(model.labels_), " labels of new rows:", model.predict(X[~train])[::3])

model.save(path := Path(tempfile.mkdtemp()) / "iris.clusterkit")
again = clusterkit.load(path)
print("the loaded model gives the same labels:", np.array_equal(again.predict(X[~train]), model.predict(X[~train])))
plt.scatter(*X[train].T[2:], c=model.labels_, s=20)
plt.scatter(*X[~train].T[2:], c=again.predict(X[~train]), s=70, marker="*")
plt.gca().set(xlabel="petal length", ylabel="petal width", title="stars: new rows")
plt.show()
