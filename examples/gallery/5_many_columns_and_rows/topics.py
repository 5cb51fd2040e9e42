"""
Topics in counts
================

Nonnegative matrix factorisation writes every text as a sum of few parts. The data are generated: three topics, each
with words of its own, and some texts with two of them. The words of largest weight describe a part.
"""

import matplotlib.pyplot as plt
import numpy as np

from clusterkit import Pipeline

words = "goal team match coach league vote party law court senate cell gene virus protein trial"
rng = np.random.default_rng(0)
mixture = rng.dirichlet([0.25] * 3, size=240)
topics = np.full((3, 15), 0.01) + np.repeat(np.eye(3), 5, axis=1) * rng.uniform(0.1, 0.3, 15)
counts = rng.poisson(40 * mixture @ topics).astype(float)

model = Pipeline("log_tfidf", "nmf", "argmax", n_clusters=3, n_init=5, random_state=0).fit(counts)
for topic in range(3):
    mean = counts[model.labels_ == topic].mean(axis=0)
    print(
        f"topic {topic}, {np.sum(model.labels_ == topic)} texts:",
        ", ".join(np.array(words.split())[np.argsort(-mean)[:5]]),
    )
order = np.argsort(model.labels_, kind="stable")
plt.imshow(model.outcome_.rows[order].T, aspect="auto", interpolation="nearest", cmap="Blues")
plt.gca().set(title="Shares of the topics", xlabel="texts, sorted by topic", yticks=range(3))
plt.show()
