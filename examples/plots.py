"""Four pictures of support vector clustering: the domains of two recipes, clusters, all widths of the kernel."""

import matplotlib.pyplot as plt
import numpy as np
from _picture import save
from sklearn.datasets import make_moons

from clusterkit import plots, recipe

moons, _ = make_moons(250, noise=0.06, random_state=0)
X = np.vstack([moons, np.random.default_rng(0).uniform((-1.5, -1), (2.5, 1.5), size=(12, 2))])
svc = recipe("svc", featuremap__gamma=12.0, solver__nu=0.15, labeler__outliers="noise").fit(X)
fsvc = recipe("fsvc", featuremap__gamma=12.0, random_state=0).fit(X)
gammas = np.geomspace(0.05, 200, 30)
small = recipe("svc", solver__nu=0.15, labeler__min_cluster_size=5)
labels = [small.set_params(featuremap__gamma=gamma).fit_predict(X) for gamma in gammas]
numbers = [found.max() + 1 for found in labels]

figure = plt.figure(figsize=(15, 8), layout="constrained")
axes = figure.subplot_mosaic([["domain", "fast"], ["labels", "clusters"]])
plots.contours(svc, X, ax=axes["domain"])
plots.contours(fsvc, X, ax=axes["fast"])
plots.clusters(labels[np.argmax(numbers)], X, ax=axes["labels"])
axes["clusters"].semilogx(gammas, numbers, drawstyle="steps-mid")
for ax in axes.values():
    print(ax.get_title(loc="left").replace("\n", "; ") or "(clusters at each width)")
save(figure)
