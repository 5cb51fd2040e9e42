"""Draws the pictures of docs/how-to/plot-a-fit.md into this folder: ``python docs/images/draw.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from sklearn.datasets import load_digits, load_wine, make_blobs, make_moons
from sklearn.manifold import TSNE

from clusterkit import Auto, ConsensusClustering, plots, profile, recipe

FOLDER = Path(__file__).parent


def save(ax, name):
    ax.figure.savefig(FOLDER / f"plot-{name}.png", dpi=90)


moons, _ = make_moons(300, noise=0.06, random_state=0)
X = np.vstack([moons, np.random.default_rng(0).uniform((-1.5, -1), (2.5, 1.5), size=(12, 2))])
model = recipe("svc", featuremap__gamma=12.0, solver__nu=0.15, labeler__outliers="noise").fit(X)
save(plots.contours(model, X), "contours")
digits = load_digits()
rows = digits.data[digits.target < 4][:400]
embedding = TSNE(2, random_state=0).fit_transform(rows)
save(plots.clusters(recipe("emmc", n_clusters=4, random_state=0).fit(rows).labels_, embedding), "embedding")
groups, _ = make_blobs([60, 50, 40, 30], centers=[[0, 0], [4, 0], [0, 9], [9, 5]], cluster_std=0.9, random_state=1)
save(plots.consensus_matrix(ConsensusClustering(n_members=20, random_state=0).fit(groups)), "consensus-matrix")
wine = load_wine(as_frame=True).data
chosen = Auto(n_clusters=(2, 8), pool=["kmeans", "genie"], random_state=0).fit(wine)
save(plots.profile(profile(chosen, wine)), "profile")
save(plots.sizes(chosen), "sizes")
save(plots.silhouette(chosen, chosen.preparation_.transform(wine)), "silhouette")
save(plots.number_curve(chosen), "number-curve")
