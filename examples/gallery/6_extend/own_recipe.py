"""
A recipe is a composition
=========================

A method is a chain of stages: map, solver, labeler, balancer, start. Compose them, look at what fits together, and give
the composition a name.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

import clusterkit
from clusterkit import Pipeline, Recipe, plots

X, _ = make_moons(300, noise=0.06, random_state=0)
parameters = {"featuremap": "graph", "solver": "centroids", "balancer": "transport", "n_init": 5}
clusterkit.register(Recipe("fair-graph", "k-means on a graph, equal sizes", "an example (2026)", parameters))
model = clusterkit.recipe("fair-graph", n_clusters=4, random_state=0).fit(X)
plots.clusters(model, X)
plt.show()

# %%
# Stages that do not fit together are refused before any computation, with the names that would fit:
try:
    Pipeline(featuremap="elm", solver="gmmc", n_clusters=2).fit(X)
except ValueError as error:
    print(error)
