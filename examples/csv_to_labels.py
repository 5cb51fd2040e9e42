"""From a CSV file to one with labels; the same as `clusterkit fit flowers.csv -r emmc -k 3 --with-data -o out.csv`."""

import csv
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from clusterkit import recipe

folder = Path(tempfile.mkdtemp())
iris = load_iris()
source = folder / "flowers.csv"
np.savetxt(source, iris.data, delimiter=",", header=",".join(iris.feature_names), comments="", fmt="%.1f")

with source.open() as file:
    header, *rows = csv.reader(file)
X = np.array(rows, dtype=float)

model = recipe("emmc", n_clusters=3, random_state=0).fit(X)
print("stopped:", model.stop_reason_, "- sizes:", np.bincount(model.labels_))

target = folder / "out.csv"
with target.open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow([*header, "cluster"])
    writer.writerows([*row, label] for row, label in zip(rows, model.labels_, strict=True))
print(f"{len(rows)} rows, {len(header)} columns and the cluster: {target}")
print("new flower:", model.predict([[5.9, 3.0, 5.1, 1.8]]))
