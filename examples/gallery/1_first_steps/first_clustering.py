"""
A first clustering
==================

``Auto`` needs neither a method nor a number of clusters. It fits k-means, Gaussian mixtures, spectral clustering and
three methods of spanning trees, compares the results on the data alone, and returns the best one.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from clusterkit import Auto, plots

X, _ = make_moons(400, noise=0.06, random_state=0)
model = Auto(random_state=0).fit(X)
plots.clusters(model, X)
plt.show()

# %%
# What was chosen, and how sure the choice is:
print(f"{model.labels_.max() + 1} clusters by the recipe {model.resolved_['auto']['recipe']}")
print(f"confidence in this structure: {model.confidence_:.0%}; next best number: {model.second_n_clusters_}")
print("the first rows:", model.labels_[:10], " two new rows:", model.predict([[0.0, 1.0], [1.0, -0.5]]))
