"""A labeler defined in a session: two clusters separated by a margin; samples inside the margin are noise."""

from typing import ClassVar, final

import attrs
import matplotlib.pyplot as plt
import numpy as np
from _picture import save, scatter
from sklearn.datasets import make_blobs

from clusterkit import Pipeline, register
from clusterkit.contracts import Labeler, Labeling
from clusterkit.contracts.outcomes import Embedding


@register
@final
@attrs.frozen
class Gap(Labeler):
    """Two clusters by the sign of the difference of two columns, noise where the difference is near 0. O(n)."""

    name: ClassVar[str] = "gap"
    consumes: ClassVar[type] = Embedding
    inductive: ClassVar[bool] = False
    finds_k: ClassVar[bool] = True
    takes_k: ClassVar[bool] = True

    def label(self, outcome, space, task, rng):
        """Cluster 0 has the first sample outside the margin; samples inside are -1."""
        score = outcome.rows[:, 0] - outcome.rows[:, 1]
        inside = np.abs(score) < 0.4 * score.std()
        return Labeling(np.where(inside, -1, np.sign(score) != np.sign(score[~inside][0])), predict=None)


X, _ = make_blobs([200, 200], centers=[(-2, 0), (2, 0)], cluster_std=1.2, random_state=0)
model = Pipeline("elm", "nmf", "gap", n_clusters=2, random_state=0).fit(X)
print(f"{np.sum(model.labels_ < 0)} of {len(X)} samples are within the margin; predicts: {hasattr(model, 'predict')}")
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
scatter(axes, X, model.labels_, "A labeler defined in a session: undecided samples are noise")
save(figure)
