"""
All widths of a kernel
======================

``width_path`` clusters the same data at many widths; each solution starts from the one before. A number of clusters
that lasts over a long range of widths is credible: there the structure does not depend on the choice.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from clusterkit import width_path

moons, _ = make_moons(250, noise=0.06, random_state=0)
X = np.vstack([moons, np.random.default_rng(0).uniform((-1.5, -1), (2.5, 1.5), size=(10, 2))])
path = width_path(X, nu=0.15, labeler={"name": "complete_graph", "min_cluster_size": 5}, n_gammas=25)
plt.semilogx(path.gamma, path.n_clusters, drawstyle="steps-mid")
plt.xlabel("gamma of the Gaussian kernel")
plt.ylabel("clusters")
plt.show()

# %%
# The same as numbers:
for gamma, k in zip(path.gamma[::4], path.n_clusters[::4], strict=True):
    print(f"gamma {gamma:8.2f}: {k} clusters")
