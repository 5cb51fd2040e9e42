"""
A row of a published table
==========================

Extreme maximum margin clustering was published with an error of 1.84 % over the 45 pairs of handwritten digits, and
k-means with 3.49 %. The digits are in scikit-learn. The plugin ``clusterkit-papers`` runs whole tables:
``clusterkit reproduce emmc-table4``.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from clusterkit_papers import datasets

from clusterkit import metrics, recipe

errors = {"kmeans": [], "emmc": []}
for first, second in combinations(range(10), 2):
    digits = datasets.load(f"digits-{first}-{second}")
    for name in errors:
        labels = recipe(name, n_clusters=2, random_state=0).fit_predict(digits.data)
        errors[name].append(100 * (1 - metrics.clustering_accuracy(digits.target, labels)))
for (name, values), printed in zip(errors.items(), (3.49, 1.84), strict=True):
    print(f"{name:7} printed {printed:.2f} %, here {np.mean(values):.2f} %")

plt.scatter(errors["kmeans"], errors["emmc"])
plt.axline((0, 0), slope=1, color="grey", linewidth=0.8)
plt.gca().set(xlabel="error of k-means (%)", ylabel="error of EMMC (%)", title="45 pairs of digits")
plt.show()
