"""
What is in a cluster?
=====================

``profile`` says what distinguishes each cluster, in the units of the table: a name, effects with intervals, and a rule.
``representatives`` are rows to look at. The wines are scaled for the fit and described as they are.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import clusterkit

wine = load_wine()
model = clusterkit.recipe("mixture", n_clusters=3, featuremap="zscore", random_state=0).fit(wine.data)
profile = clusterkit.profile(model, wine.data, names=wine.feature_names)
print(profile)
clusterkit.plots.profile(profile)
plt.show()

# %%
# The strongest columns of a cluster, in standard deviations of the column, with 95 % intervals:
for feature in profile[0].features[:5]:
    print(f"{feature.text:30} {feature.difference:+.2f}, from {feature.low:+.2f} to {feature.high:+.2f}")

# %%
# Three wines that stand for each cluster:
for label, rows in clusterkit.representatives(model, wine.data, n=3).items():
    print(f"cluster {label}: rows {rows.tolist()}, alcohol {wine.data[rows, 0].tolist()}")
