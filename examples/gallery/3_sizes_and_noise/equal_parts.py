"""
Equal parts, and a classifier made of them
==========================================

Equal clustering splits each class into compact parts of the same size. The min-max modular support vector machine
trains one small machine for each pair of parts and combines them by minimum and maximum.
"""

import matplotlib.pyplot as plt
import numpy as np
from clusterkit_min_max import MinMaxModularSVC
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from clusterkit import plots, recipe

X, y = make_moons(1200, noise=0.2, random_state=0)
parts = recipe("equal-clustering", n_clusters=5, random_state=0).fit(X[y == 0])
plots.clusters(parts, X[y == 0])
plt.show()

# %%
# Accuracy on new rows, beside one machine trained on everything:
new, truth = make_moons(1000, noise=0.2, random_state=1)
modular = MinMaxModularSVC(n_parts=5, C=10.0, gamma=2.0, random_state=0).fit(X, y)
single = SVC(C=10.0, gamma=2.0).fit(X, y)
print("sizes of the parts of the first class:", np.bincount(parts.labels_))
print(f"25 small machines {modular.score(new, truth):.3f}, one machine {single.score(new, truth):.3f}")
