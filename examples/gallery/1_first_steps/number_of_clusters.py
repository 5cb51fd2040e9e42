"""
The number of clusters is not known
===================================

``Auto`` keeps every distinct clustering that it tried. The picture shows the best score at each number of clusters; the
ring marks the answer.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from clusterkit import Auto, plots

X, _ = make_blobs([120, 80, 100, 60], centers=[(0, 0), (6, 0), (3, 6), (9, 6)], cluster_std=1.1, random_state=1)
model = Auto(random_state=0).fit(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
plots.clusters(model, X, ax=left)
plots.number_curve(model, ax=right)
plt.show()

# %%
# The same as a table. ``similarity`` is the adjusted Rand index between a candidate and the answer.
for row in model.candidates_[:5]:
    print(
        f"{row['recipe']:8} {row['n_clusters']} clusters, score {row['score']:.2f}, similarity {row['similarity']:.2f}"
    )
