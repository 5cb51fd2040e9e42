"""
Rows between two clusters
=========================

A mixture and fuzzy C-means give every row a degree of membership in each cluster. Rows whose largest membership is
small lie between clusters; they are the ones to look at.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from clusterkit import recipe

X, _ = make_blobs([150, 150, 60], centers=[(0, 0), (4, 0), (2, 3.5)], cluster_std=1.1, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
for ax, name in zip(axes, ["mixture", "fuzzy-cmeans"], strict=True):
    model = recipe(name, n_clusters=3, random_state=0).fit(X)
    largest = model.memberships_.max(axis=1)
    points = ax.scatter(*X.T, c=largest, s=14, cmap="cividis", vmin=1 / 3, vmax=1)
    ax.set_title(f"{name}: {np.sum(largest < 0.6)} rows below 0.6", loc="left")
figure.colorbar(points, ax=axes, label="membership in the own cluster")
plt.show()
