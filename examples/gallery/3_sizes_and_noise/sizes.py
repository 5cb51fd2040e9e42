"""
Clusters of prescribed size
===========================

A balancer enforces sizes behind any method with scores. ``transport`` keeps every size between two bounds at the least
cost, ``band`` keeps the sizes within a tolerance of each other.
"""

import matplotlib.pyplot as plt
import numpy as np

from clusterkit import plots, recipe

customers = np.random.default_rng(0).exponential(size=(300, 2))
bounds = {"balancer": "transport", "balancer__size_min": 30, "balancer__size_max": 60}
settings = {"free": {}, "30 to 60 rows each": bounds, "within 3 %": {"balancer": "band", "balancer__slack": 0.03}}

figure, axes = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
for ax, (title, changes) in zip(axes, settings.items(), strict=True):
    model = recipe("kmeans", n_clusters=6, random_state=0, **changes).fit(customers)
    plots.clusters(model, customers, ax=ax, legend=False)
    ax.set_title(f"{title}: {sorted(np.bincount(model.labels_).tolist())}", loc="left")
plt.show()
