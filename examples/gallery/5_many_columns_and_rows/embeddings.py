"""
Embeddings of documents
=======================

The recipe ``embeddings`` clusters vectors by their direction and finds the number; words say what is in each cluster.
The picture shows one of the layouts in which the clusters were found.
"""

import matplotlib.pyplot as plt
import numpy as np

import clusterkit
from clusterkit import plots, recipe
from clusterkit.metrics import adjusted_rand

rng = np.random.default_rng(0)
words = np.array(["football", "election", "orchestra", "vaccine", "harvest", "galaxy"])
topic = rng.integers(6, size=900)
X = (rng.normal(size=(6, 96))[topic] + 1.3 * rng.normal(size=(900, 96))).astype(np.float32)

model = recipe("embeddings", random_state=0).fit(X)
print(f"{model.n_clusters_} clusters, adjusted Rand index {adjusted_rand(topic, model.labels_):.2f}")
print(clusterkit.profile(model, texts=[f"all about {words[j]}" for j in topic]))
plots.clusters(model.labels_, model.space_.rows()[:, :2])
plt.show()
