"""
Sparse rows
===========

A table of counts with few entries stays sparse: ``log_tfidf`` weights it, ``pca`` reduces the columns without a dense
copy, and any method follows. ``nmf`` works on the sparse rows themselves.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse

from clusterkit import Pipeline, plots
from clusterkit.metrics import adjusted_rand

rng = np.random.default_rng(0)
topic = rng.integers(3, size=400)
density = np.where(np.arange(900) // 300 == topic[:, None], 0.06, 0.01)
counts = scipy.sparse.csr_matrix((rng.random((400, 900)) < density) * rng.integers(1, 4, (400, 900)))

reduced = ["log_tfidf", {"name": "pca", "n_components": 10}]
by_means = Pipeline(reduced, "centroids", n_clusters=3, n_init=5, random_state=0).fit(counts)
by_parts = Pipeline("log_tfidf", "nmf", n_clusters=3, random_state=0).fit(counts)
for name, model in {"means after pca": by_means, "nmf": by_parts}.items():
    print(f"{name:15} adjusted Rand index {adjusted_rand(topic, model.labels_):.2f}")
plots.clusters(by_means.labels_, by_means.space_.at(counts)[:, :2])
plt.show()
