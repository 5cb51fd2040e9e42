"""Draws the picture of docs/how-to/tell-it-what-you-know.md into this folder: ``python docs/images/known.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from clusterkit import recipe

X, y = make_moons(200, noise=0.12, random_state=0)
pairs = np.random.default_rng(0).integers(0, 200, (40, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
links = [(i, j, 1 if y[i] == y[j] else -1) for i, j in pairs]
figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for ax, given, title in zip(axes, (None, links), ("hdbscan without links", f"with {len(links)} links"), strict=True):
    labels = recipe("hdbscan").fit(X, links=given).labels_
    for i, j, sign in given or ():
        ax.plot(*X[[i, j]].T, color="0.75", linewidth=0.7, linestyle="-" if sign > 0 else ":", zorder=0)
    ax.scatter(
        *X.T, c=np.where(labels < 0, np.nan, labels % 10), cmap="tab10", vmin=0, vmax=9, s=12, plotnonfinite=True
    )
    ax.scatter(*X[labels < 0].T, color="0.6", s=12)
    ax.set_title(title)
    ax.set_xticks([])
    ax.set_yticks([])
figure.tight_layout()
figure.savefig(Path(__file__).parent / "known-links.png", dpi=90)
