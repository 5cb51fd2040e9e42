"""A grid search over whole stages and their parameters, scored without known classes."""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import silhouette_score
from sklearn.model_selection import GridSearchCV

from clusterkit import recipe
from clusterkit.metrics import clustering_accuracy

wine = load_wine()


def silhouette(model, X, y=None):
    """Mean silhouette of the labels in standardised attributes, the same for all candidates."""
    labels = model.predict(X)
    return silhouette_score((X - X.mean(axis=0)) / X.std(axis=0), labels) if len(np.unique(labels)) > 1 else -1.0


grid = [
    {"featuremap": ["elm"], "featuremap__width": [0.25, 0.5, 1.0], "solver__df": [6.0, 12.0]},
    {"featuremap": ["rbf"], "featuremap__sigma_fraction": [0.2, 0.5], "solver__df": [6.0, 12.0]},
    {"featuremap": [["zscore", "rbf"]], "solver__df": [6.0, 12.0]},
]
search = GridSearchCV(
    recipe("emmc-multi", n_clusters=3, random_state=0, balancer__slack=0.15), grid, scoring=silhouette, cv=3
).fit(wine.data)

print("chosen:", search.best_params_, f"silhouette {search.best_score_:.3f}")
labels = search.best_estimator_.labels_
print(f"accuracy by the known classes, which the search did not use: {clustering_accuracy(wine.target, labels):.3f}")
