"""NMF of random features, for data with negative entries: the clusters, the factors and the objective."""

import matplotlib.pyplot as plt
import numpy as np
from _picture import COLORS, save, scatter
from sklearn.datasets import make_blobs

from clusterkit import recipe
from clusterkit.metrics import clustering_accuracy

X, truth = make_blobs(300, centers=[(-4, -4), (4, -4), (0, 4)], cluster_std=1.3, random_state=0)

model = recipe("elm-nmf", n_clusters=3, random_state=0, featuremap__n_hidden=200).fit(X)
print(
    f"accuracy {100 * clustering_accuracy(truth, model.labels_):.1f} %, {model.n_iter_} updates: {model.stop_reason_}"
)
print(f"the objective fell from {model.history_[0]:.1f} to {model.history_[-1]:.1f}")

factors = model.outcome_.rows / model.outcome_.rows.max(axis=0)
order = np.argsort(model.labels_, kind="stable")
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
scatter(left, X, model.labels_, "Clusters")
middle.imshow(factors[order].T, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0)
for edge in np.cumsum(np.bincount(model.labels_))[:-1]:
    middle.axvline(edge - 0.5, color="black", linewidth=1)
middle.set(title="Factors of the samples, sorted by cluster", xlabel="sample", ylabel="factor", yticks=range(3))
right.semilogy(model.history_, color=COLORS[0])
right.set(title="The objective never rises", xlabel="update", ylabel=r"$\frac{1}{2}\|H - AW^\top\|^2$")
save(figure)
