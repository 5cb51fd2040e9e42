"""A labeler of one's own, in a session: clusters are separated by a margin, what lies inside it is noise."""

from typing import ClassVar, final

import attrs
import matplotlib.pyplot as plt
import numpy as np
from _picture import save, scatter
from sklearn.datasets import make_blobs

from clusterkit import Pipeline, register
from clusterkit.core import params
from clusterkit.core.outcomes import Embedding
from clusterkit.core.stages import Labeler, Labeling


@register
@final
@attrs.frozen
class Gap(Labeler):
    """Two clusters by the first column of an embedding, noise where it is within `margin` of 0."""

    name: ClassVar[str] = "gap"
    consumes: ClassVar[type] = Embedding
    max_clusters: ClassVar[int] = 2
    inductive: ClassVar[bool] = False
    margin: float = params.real(0.5, at_least=0.0)

    def label(self, outcome, space, task, rng):
        score = outcome.rows[:, 0] - outcome.rows[:, 1]
        labels = np.where(np.abs(score) < self.margin * score.std(), -1, (score > 0).astype(np.intp))
        return Labeling(labels, predict=None)


X, _ = make_blobs([200, 200], centers=[(-2, 0), (2, 0)], cluster_std=1.2, random_state=0)
model = Pipeline("elm", "nmf", {"name": "gap", "margin": 0.4}, n_clusters=2, random_state=0).fit(X)
print(f"{np.sum(model.labels_ < 0)} of {len(X)} samples are within the margin; predicts: {hasattr(model, 'predict')}")
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
scatter(axes, X, model.labels_, "A labeler of one's own: undecided samples are noise")
save(figure)
