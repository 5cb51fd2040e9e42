"""
Methods side by side
====================

``compare`` fits several methods to the same rows: sizes, indices, stability, and the agreement of each two. Methods
with different assumptions that agree are stronger evidence than any index.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import clusterkit

X = StandardScaler().fit_transform(load_wine().data)
names = ["kmeans", "mixture", "spectral", "genie", "single-linkage"]
table = clusterkit.compare({name: name for name in names}, X, n_clusters=3)
for method in table.methods:
    sizes = sorted(method.sizes.values())
    print(f"{method.name:14} {sizes}, silhouette {method.silhouette:.2f}, stability {method.stability:.2f}")

plt.figure(layout="constrained")
plt.imshow(table.agreement, vmin=0, vmax=1, cmap="Blues")
plt.xticks(range(5), names, rotation=30)
plt.yticks(range(5), names)
plt.colorbar(label="adjusted Rand index")
plt.show()
