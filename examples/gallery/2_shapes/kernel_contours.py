"""
The contour of a kernel
=======================

Support vector clustering draws a contour around the data; each closed curve is a cluster. A wide kernel gives one
curve, a narrow one gives many. Without the parameters, the recipe ``svc`` finds them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from clusterkit import plots, recipe

X, _ = make_moons(250, noise=0.07, random_state=0)
figure, axes = plt.subplots(2, 2, figsize=(13, 8), layout="constrained")
for ax, gamma in zip(axes.flat, [2.0, 12.0, 60.0, None], strict=True):
    parameters = {} if gamma is None else {"featuremap__gamma": gamma, "solver__nu": 0.1, "tuner": None}
    model = recipe("svc", random_state=0, **parameters).fit(X)
    plots.contours(model, X, ax=ax, legend=False)
    width = "chosen without labels" if gamma is None else f"gamma = {gamma:g}"
    ax.set_title(f"{width}: {model.labels_.max() + 1} clusters", loc="left")
plt.show()
