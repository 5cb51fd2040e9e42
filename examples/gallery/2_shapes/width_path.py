"""
All widths of a kernel
======================

The same data are clustered at many widths of the kernel. A number of clusters that lasts over a long range of widths is
credible: there the structure does not depend on the choice.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from clusterkit import recipe

moons, _ = make_moons(250, noise=0.06, random_state=0)
X = np.vstack([moons, np.random.default_rng(0).uniform((-1.5, -1), (2.5, 1.5), size=(10, 2))])
svc = recipe("svc", solver__nu=0.15, labeler__min_cluster_size=5)
gammas = np.geomspace(0.05, 200, 25)
numbers = [svc.set_params(featuremap__gamma=gamma).fit(X).labels_.max() + 1 for gamma in gammas]
plt.semilogx(gammas, numbers, drawstyle="steps-mid")
plt.xlabel("gamma of the Gaussian kernel")
plt.ylabel("clusters")
plt.show()

# %%
# The same as numbers:
for gamma, k in zip(gammas[::4], numbers[::4], strict=True):
    print(f"gamma {gamma:8.2f}: {k} clusters")
