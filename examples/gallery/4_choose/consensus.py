"""
One clustering made of several
==============================

Single runs of k-means differ from seed to seed. A consensus keeps together what most members of an ensemble keep
together, and may find the number of clusters. The picture shows how often two rows share a cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from clusterkit import ConsensusClustering, ensemble
from clusterkit.metrics import adjusted_rand

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
members = ensemble(X, n_members=20, random_state=0)
model = ConsensusClustering("diclens", n_members=20, random_state=0).fit(X)
print(f"mean member {np.mean([adjusted_rand(wine.target, labels) for labels in members]):.2f}")
print(f"consensus {adjusted_rand(wine.target, model.labels_):.2f} with {model.n_clusters_} clusters")

order = np.argsort(model.labels_, kind="stable")
together = np.mean([labels[order][:, None] == labels[order] for labels in members], axis=0)
plt.imshow(together, cmap="Blues")
plt.colorbar(label="share of the members")
plt.show()
