"""
Pictures of a fit
=================

Two answers to "why do these rows share a cluster?": the clusters, and the contour around them. Every function draws on
the axes that you pass.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from clusterkit import plots, recipe

moons, _ = make_moons(200, noise=0.06, random_state=0)
X = np.vstack([moons, np.random.default_rng(0).uniform((-1.5, -1), (2.5, 1.5), size=(10, 2))])
model = recipe("svc", featuremap__gamma=12.0, solver__nu=0.15, labeler__outliers="noise").fit(X)

figure, axes = plt.subplots(1, 2, figsize=(13, 4), layout="constrained")
plots.clusters(model, X, ax=axes[0], legend=False)
plots.contours(model, X, ax=axes[1], legend=False)
plt.show()
