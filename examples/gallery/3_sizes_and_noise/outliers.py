"""
Outliers and noise
==================

Label -1 is noise. HDBSCAN leaves rows out that lie in no dense region; support vector clustering leaves out what lies
outside its contour. Both give every row an outlier score.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from clusterkit import plots, recipe

moons, _ = make_moons(300, noise=0.05, random_state=0)
X = np.vstack([moons, np.random.default_rng(0).uniform((-2, -1.5), (3, 2), size=(40, 2))])
hdbscan = recipe("hdbscan", labeler__min_cluster_size=20).fit(X)
svc = recipe("svc", featuremap__gamma=15.0, solver__nu=0.15, labeler__outliers="noise").fit(X)

figure, axes = plt.subplots(2, 2, figsize=(12, 7), layout="constrained")
for row, (name, model) in zip(axes, {"hdbscan": hdbscan, "svc": svc}.items(), strict=True):
    plots.clusters(model, X, ax=row[0], legend=False)
    row[0].set_title(f"{name}: {np.sum(model.labels_ < 0)} rows of noise", loc="left")
    points = row[1].scatter(*X.T, c=model.outlier_scores_, s=12, cmap="cividis")
    figure.colorbar(points, ax=row[1], label="outlier score")
plt.show()
