"""EMMC on two handwritten digits that k-means confuses: a start from k-means, and many random starts that do worse."""

import matplotlib.pyplot as plt
import numpy as np
from _picture import COLORS, save
from sklearn.datasets import load_digits

from clusterkit import recipe
from clusterkit.metrics import clustering_accuracy

X, truth = load_digits(return_X_y=True)
rows = np.isin(truth, (1, 8))
X, truth = X[rows] / 16, truth[rows]

models = {
    "kmeans": recipe("kmeans", n_clusters=2, random_state=0),
    "emmc": recipe("emmc", n_clusters=2, random_state=0),
    "emmc, 60 starts": recipe("emmc", n_clusters=2, init="random", n_init=60, solver__df=25.0, random_state=0),
}
for name, model in models.items():
    model.fit(X)
    print(f"{name:16} accuracy {100 * clustering_accuracy(truth, model.labels_):5.1f} %   {model.stop_reason_}")

# The absolute score of an image is its distance from the border: draw the images of smallest absolute score.
model = models["emmc, 60 starts"]
score = model.outcome_.rows[:, 0]
nearest = np.argsort(np.abs(score))[:12]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1.1, 1), layout="constrained")
for digit, color in zip(np.unique(truth), COLORS, strict=False):
    left.hist(score[truth == digit], bins=30, range=(-1.5, 1.5), color=color, alpha=0.75, label=f"images of a {digit}")
left.axvline(0, color="black", linewidth=1)
left.set(title="Scores found without labels", xlabel="score", ylabel="images")
left.legend(frameon=False)
tiles = [[np.pad(X[i].reshape(8, 8), 1) for i in row] for row in nearest.reshape(3, 4)]
right.imshow(np.block(tiles), cmap="gray_r")
right.set(title="The twelve images nearest to the margin", xticks=[], yticks=[])
save(figure)
