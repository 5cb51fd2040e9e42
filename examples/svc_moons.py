"""Support vector clustering: the width of the kernel sets the scale, nu bounds the fraction of noise."""

import matplotlib.pyplot as plt
import numpy as np
from _picture import save, scatter
from sklearn.datasets import make_moons

from clusterkit import recipe

moons, _ = make_moons(300, noise=0.05, random_state=0)
X = np.vstack([moons, np.random.default_rng(0).uniform((-1.5, -1), (2.5, 1.5), size=(15, 2))])

settings = [
    ("wide kernel: one cluster", {"featuremap__gamma": 3.0, "solver__nu": 0.1}),
    ("medium kernel: two clusters and noise", {"featuremap__gamma": 15.0, "solver__nu": 0.15}),
    ("no noise allowed: outliers are clusters", {"featuremap__gamma": 15.0}),
    ("narrow kernel: moons are split", {"featuremap__gamma": 400.0, "solver__nu": 0.15}),
]
plane = np.stack(np.meshgrid(np.linspace(-1.7, 2.7, 200), np.linspace(-1.2, 1.7, 150)), axis=-1)
figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
for panel, (title, parameters) in zip(axes.flat, settings, strict=True):
    model = recipe("svc", tuner=None, labeler__outliers="noise", **parameters).fit(X)
    domain = model.outcome_
    clusters, noise = model.labels_.max() + 1, np.sum(model.labels_ < 0)
    print(f"{title:38} {clusters:3} clusters, {noise:2} noise, {len(domain.centres):3} support vectors")
    scatter(panel, X, model.labels_, f"{title}\nclusters: {clusters}, noise: {noise}")
    values = domain.value(plane.reshape(-1, 2)).reshape(plane.shape[:2])
    panel.contour(plane[..., 0], plane[..., 1], values, levels=[domain.level], colors="black", linewidths=1)
save(figure)
